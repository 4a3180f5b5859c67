# SPDX-License-Identifier: Apache-2.0
"""Options as GDAL and rio-cogeo spell them: they do what the options here do, or are answered with what to write."""

import json
import re

import numpy as np
import pytest
from rasterio.transform import from_origin

from test_command import COMMANDS


def refused(done, command, word, words):
    assert (done.returncode, done.stdout) == (2, "")
    first, hint = done.stderr.splitlines()
    assert first.startswith(f"error: unknown option '{word}'") and words in first
    assert hint == f"Try 'terrazzo {command} -h'."


# Those that work --------------------------------------------------------------------------------


@pytest.fixture
def scene(raster):
    """Three bands of other values each, georeferenced, so that every option below changes something."""
    values = np.arange(3 * 20 * 30, dtype="int16").reshape(3, 20, 30)
    return raster(values, "scene.tif", crs="EPSG:32633", transform=from_origin(500000, 5000000, 10, 10), nodata=-1)


def convert(run, command, words, path, out):
    """The bytes of the file, or plan, that a command writes."""
    done = run(command, *words, path, str(out))
    assert (done.returncode, done.stderr) == (0, ""), words
    return out.read_bytes()


DESCRIBED = [
    (["-a_nodata", "-9999"], ["--nodata", "-9999"]), (["-a_nodata", "none"], ["--nodata", "none"]),
    (["-a_srs", "EPSG:3857"], ["--crs", "EPSG:3857"]), (["-a_srs", "none"], ["--crs", "none"]),
    (["-a_ullr", "1", "8", "7", "-2"], ["--bounds", "1,-2,7,8"]),
    (["-a_gt", "1", "2", "0", "-3", "0", "-4"], ["--transform", "1,2,0,-3,0,-4"]),
    (["-mo", "A=B", "-mo", "C=D"], ["--tag", "A=B", "--tag", "C=D"])]


@pytest.mark.parametrize("command", ["convert", "cog"])
@pytest.mark.parametrize("theirs, ours", DESCRIBED + [
    (["-ot", "Int32"], ["--dtype", "int32"]), (["-ot=Float32"], ["--dtype", "float32"]),
    (["-b", "3", "-b", "1"], ["--bands", "3,1"]),
    (["-srcwin", "1", "2", "3", "4"], ["--window", "1,2,3,4"]), (["-srcwin=1,2,3,4"], ["--window", "1,2,3,4"]),
    (["-projwin", "500010", "4999980", "500050", "4999940"], ["--bbox", "500010,4999940,500050,4999980"]),
    (["-te", "500010", "4999940", "500050", "4999980"], ["--bbox", "500010,4999940,500050,4999980"]),
    (["-projwin", "15.0002", "45.1532", "15.0006", "45.1528", "-projwin_srs", "EPSG:4326"],
     ["--bbox", "15.0002,45.1528,15.0006,45.1532", "--bbox-crs", "EPSG:4326"]),
    (["-te", "15.0002", "45.1528", "15.0006", "45.1532", "-te_srs", "EPSG:4326"],
     ["--bbox", "15.0002,45.1528,15.0006,45.1532", "--bbox-crs", "EPSG:4326"]),
    (["-outsize", "10", "0"], ["--size", "10x0"]), (["-tr", "20", "40"], ["--res", "20,40"]),
    (["-outsize", "10", "5", "-r", "average"], ["--size", "10x5", "--resampling", "average"]),
    (["-mask", "2"], ["--mask-from", "2"])])
def test_one_dash_does_what_two_do(run, scene, tmp_path, command, theirs, ours):
    made = convert(run, command, theirs, scene, tmp_path / "theirs.tif")
    assert made == convert(run, command, ours, scene, tmp_path / "ours.tif")
    assert made != convert(run, command, [], scene, tmp_path / "neither.tif")


@pytest.mark.parametrize("theirs, ours", DESCRIBED)
def test_one_dash_describes_a_plan(run, scene, tmp_path, theirs, ours):
    made = convert(run, "plan-cog", theirs, scene, tmp_path / "theirs")
    assert made == convert(run, "plan-cog", ours, scene, tmp_path / "ours")
    assert made != convert(run, "plan-cog", [], scene, tmp_path / "neither")


def test_the_mask_of_gdal_may_be_none(run, raster, tmp_path):
    path = raster(np.ones((1, 20, 30), "uint8"), mask=np.eye(20, 30, dtype=bool))
    made = convert(run, "convert", ["-mask", "none"], path, tmp_path / "theirs.tif")
    assert made == convert(run, "convert", ["--mask-from", "none"], path, tmp_path / "ours.tif")
    assert made != convert(run, "convert", [], path, tmp_path / "neither.tif")


@pytest.mark.parametrize("command", ["read", "plan", "view"])
@pytest.mark.parametrize("theirs, ours", [
    (["-b", "3"], ["--bands", "3"]), (["-srcwin", "1", "2", "20", "10"], ["--window", "1,2,20,10"]),
    (["-projwin", "500010", "4999980", "500200", "4999840"], ["--bbox", "500010,4999840,500200,4999980"]),
    (["-te", "500010", "4999840", "500200", "4999980"], ["--bbox", "500010,4999840,500200,4999980"])])
def test_one_dash_of_those_that_read(run, scene, tmp_path, command, theirs, ours):
    def shown(words):
        out = [str(tmp_path / "a.npy"), "--overwrite"] if command == "read" else []
        done = run(command, "-q", *(["--no-stretch"] if command == "view" else []), *words, scene, *out)
        assert (done.returncode, done.stderr) == (0, "")
        return (tmp_path / "a.npy").read_bytes() if command == "read" else re.sub(r"[\d.]+ ms", "", done.stdout)
    assert shown(theirs) == shown(ours) != shown([])


@pytest.mark.parametrize("theirs, ours", [
    (["-ot", "Float32"], ["--dtype", "float32"]), (["-outsize", "10", "0"], ["--size", "10x0"]),
    (["-outsize", "10", "5", "-r", "cubic"], ["--size", "10x5", "--resampling", "cubic"])])
def test_one_dash_of_read(run, scene, tmp_path, theirs, ours):
    made = convert(run, "read", theirs, scene, tmp_path / "theirs.npy")
    assert made == convert(run, "read", ours, scene, tmp_path / "ours.npy")
    assert made != convert(run, "read", [], scene, tmp_path / "neither.npy")


@pytest.mark.parametrize("words, message", [
    (["-srcwin", "1", "2", "3"], "option '-srcwin' needs 4 values"), (["-tr", "1"], "option '-tr' needs 2 values"),
    (["-a_gt", "1", "2", "3", "4", "5"], "option '-a_gt' needs 6 values"), (["-b"], "option '-b' needs a value"),
    (["-srcwin", "1", "2", "a.tif", "b.tif"], "--window needs column, row, width and height"),
    (["-outsize", "50%", "50%"], "--size needs width and height"),
    (["-a_ullr", "1" * 9000, "1", "1", "1"], "option '-a_ullr' has too long a value"),
    (["-r", "mode", "a.tif", "b.tif"], "--resampling needs --size or --res")])
@pytest.mark.parametrize("command", ["convert", "cog"])
def test_values_that_are_missing_or_wrong(run, command, words, message):
    done = run(command, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {message}") and done.stderr.endswith(f"Try 'terrazzo {command} -h'.\n")


@pytest.mark.parametrize("command, words", [
    ("convert", ["-co", "COMPRESS=ZSTD", "-co", "TILED=YES"]), ("cog", ["-co", "COMPRESS=ZSTD"]),
    ("cog", ["-co=COMPRESS=ZSTD"])])
def test_creation_options_with_one_dash(run, plain, tmp_path, command, words):
    done = run(command, "--json", *words, plain, str(tmp_path / "b.tif"))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["compression"] == "ZSTD"


def test_json_and_stats_with_one_dash(run, plain, tmp_path):
    assert run("info", "-json", plain).stdout == run("info", "--json", plain).stdout != ""
    done = run("convert", "-json", "-stats", plain, str(tmp_path / "b.tif"))
    assert done.returncode == 0 and json.loads(done.stdout)["statistics"] is not None


@pytest.mark.parametrize("words", [["-of", "PNG"], ["-of", "png"], ["-of=png"]])
def test_the_format_of_read_with_one_dash(run, plain, tmp_path, words):
    done = run("read", *words, plain, str(tmp_path / "picture"))
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "picture").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("words", [["-j4"], ["-j", "4"], ["--threads=4"], ["-v"], ["-qv"], ["-v", "-j1"],
                                   ["-co", "BLOCKSIZE=16"], ["-j", "1", "-q"]])
def test_letters_still_work(run, plain, tmp_path, words):
    assert run("cog", *words, plain, str(tmp_path / "b.tif")).returncode == 0


def test_negative_numbers_are_values(run, tmp_path):
    out = str(tmp_path / "b.tif")
    done = run("convert", "--shape", "1x1", "--dtype", "int16", "--nodata", "-9999", "--transform", "-5,1,0,-6,0,-1",
               "-", out, input="ab", stdin=None)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(run("info", "--json", out).stdout)
    assert found["bands"][0]["noDataValue"] == -9999 and found["geoTransform"][0] == -5
    done = run("plan", "--boundless", "--window", "-1,-1,3,3", "--fill", "-1", out)
    assert (done.returncode, done.stderr) == (0, "")


# Those that are answered ------------------------------------------------------------------------


@pytest.mark.parametrize("command, words, answer", [
    ("read", ["-tr", "5", "5"], "write '--size WxH'"), ("read", ["-unscale"], "write '--scaled'"),
    ("plan", ["-unscale"], "write '--scaled'"), ("plan-cog", ["-gcp"], "write '--gcp COLUMN,ROW,X,Y'"),
    ("convert", ["-scale"], "write '--scale SMIN,SMAX,DMIN,DMAX' or '--scale auto'"),
    ("cog", ["-scale", "0", "9"], "write '--scale SMIN,SMAX,DMIN,DMAX' or '--scale auto'"),
    ("convert", ["-gcp", "1", "2", "3", "4"], "write '--gcp COLUMN,ROW,X,Y'"),
    ("convert", ["-sds"], "write '--page all'"), ("cog", ["-sds"], "write '--page all'"),
    ("plan-cog", ["-r", "mode"], "write '--co RESAMPLING=MODE'"), ("plan-cog", ["-r"], "write '--co RESAMPLING=VALUE'"),
    ("convert", ["-t_srs", "EPSG:4326"], "nothing is reprojected"),
    ("convert", ["-of", "GTiff"], "convert always writes GeoTIFF"),
    ("convert", ["-of", "COG"], "'terrazzo cog'"), ("cog", ["-of", "COG"], "cog always writes a COG"),
    ("info", ["-stats"], "'terrazzo convert --stats'"), ("info", ["-mdd", "all"], "'--verbose'")])
def test_one_dash_is_answered_with_the_spelling_here(run, command, words, answer):
    refused(run(command, *words), command, words[0], answer)


@pytest.mark.parametrize("command, words, cannot", [
    ("plan-cog", ["-b", "1"], "pick bands"), ("plan-cog", ["-srcwin", "0", "0", "5", "5"], "cut"),
    ("plan-cog", ["-projwin", "0", "5", "5", "0"], "cut"), ("plan-cog", ["-te", "0", "0", "5", "5"], "cut"),
    ("plan-cog", ["-projwin_srs", "EPSG:4326"], "cut"), ("plan-cog", ["-te_srs", "EPSG:4326"], "cut"),
    ("plan-cog", ["-outsize", "5", "5"], "resample"), ("plan-cog", ["-tr", "5", "5"], "resample"),
    ("plan-cog", ["-scale"], "scale values"),
    ("convert", ["-unscale"], "apply scales and offsets"), ("cog", ["-unscale"], "apply scales and offsets"),
    ("convert", ["-expand", "rgb"], "expand palettes"), ("cog", ["-expand", "rgb"], "expand palettes"),
    ("convert", ["-colorinterp", "red,green,blue"], "change colours"), ("cog", ["-colorinterp", "red"], "change colours")])
def test_what_cannot_be_done_yet_is_said_so(run, command, words, cannot):
    refused(run(command, *words, "a.tif", "b.tif"), command, words[0], f"{command} cannot {cannot} yet")


def test_a_plan_has_the_type_of_its_image(run, plain, tmp_path):
    done = run("plan-cog", "-ot", "Float32", plain, str(tmp_path / "plan"))
    assert (done.returncode, done.stdout) == (2, "") and "--dtype is for standard input" in done.stderr
    assert not (tmp_path / "plan").exists()


@pytest.mark.parametrize("command, words, answer", [
    ("cog", ["--compress", "zstd"], "write '--co COMPRESS=ZSTD'"), ("cog", ["--compress=zstd"], "--co COMPRESS=ZSTD'"),
    ("plan-cog", ["--resampling", "mode"], "write '--co RESAMPLING=MODE'"),
    ("cog", ["--blocksize", "256"], "write '--co BLOCKSIZE=256'"), ("cog", ["--quality=90"], "'--co QUALITY=90'"),
    ("cog", ["--overview-resampling", "cubic"], "'--co OVERVIEW_RESAMPLING=CUBIC'"),
    ("cog", ["--overview-level", "3"], "'--co OVERVIEW_COUNT=3'"), ("cog", ["--cog-profile", "zstd"], "'--profile NAME'"),
    ("cog", ["--web-optimized"], "nothing is reprojected"), ("cog", ["--compress"], "'--co COMPRESS=VALUE'"),
    ("plan-cog", ["--compress", "zstd"], "'--co COMPRESS=ZSTD'"),
    ("convert", ["--compress", "zstd"], "write '--co COMPRESS=ZSTD'"), ("convert", ["--tiled"], "'--co TILED=YES'"),
    ("convert", ["--blocksize", "256"], "'--co TILED=YES --co BLOCKXSIZE=256 --co BLOCKYSIZE=256'"),
    ("cog", ["--compress", "a\x1b'b"], "'--co COMPRESS=VALUE'"), ("cog", ["--compress", "--json"], "COMPRESS=VALUE'")])
def test_creation_options_as_options(run, command, words, answer):
    refused(run(command, *words, "a.tif", "b.tif"), command, words[0], answer)


# One dash, several letters ----------------------------------------------------------------------


@pytest.mark.parametrize("word, answer", [
    ("-threads", "write '--threads'"), ("-overwrite", "write '--overwrite'"), ("-overwite", "did you mean '--overwrite'?"),
    ("-dry-run", "write '--dry-run'"), ("-vj4", "a letter that takes a value stands alone"),
    ("-qpzstd", "stands alone"), ("-pzstd", "write '-p NAME'"), ("-json4", "did you mean '--json'?"), ("-jx", "write '-j N'"),
    ("-q4", ""), ("-xyz", ""), ("-é", ""), ("-5", "")])
def test_one_dash_never_hides_a_value(run, word, answer):
    refused(run("cog", word, "a.tif", "b.tif"), "cog", word, answer)


@pytest.mark.parametrize("command", COMMANDS)
def test_words_of_gdal_are_never_clusters_of_letters(run, command):
    """Whatever a command makes of them: it is not a complaint about a value that nobody typed."""
    for word in ("-co", "-of", "-ot", "-b", "-srcwin", "-projwin", "-outsize", "-a_nodata", "-a_srs", "-r", "-json",
                 "-stats", "-scale", "-gcp", "-sds", "-tr", "-a_gt", "-mo", "-mask", "-q", "-quiet", "-hist", "-mdd", "-nogcp", "-te", "-t_srs", "-wo", "-multi"):
        done = run(command, word)
        assert done.returncode in (0, 2) and "--threads" not in done.stderr.replace("'--threads'", "")


def test_answers_name_only_options_that_the_command_has(run):
    for command in COMMANDS:
        text = run(command, "-h").stdout
        for word in ("-co", "-of", "-ot", "-b", "-srcwin", "-projwin", "-outsize", "-r", "-stats", "-json", "-tr", "-scale",
                     "-unscale", "-gcp", "-sds"):
            answer = run(command, word).stderr
            if "write '--" in answer:
                name = answer.split("write '")[1].split()[0].rstrip("'")
                assert f"{name} " in text or f"{name}\n" in text, (command, word, answer)
