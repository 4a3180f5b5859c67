# SPDX-License-Identifier: Apache-2.0
"""Options as GDAL and rio-cogeo spell them: they work, or are answered with what to write here."""

import json

import pytest

from test_command import COMMANDS


def refused(done, command, word, words):
    assert (done.returncode, done.stdout) == (2, "")
    first, hint = done.stderr.splitlines()
    assert first.startswith(f"error: unknown option '{word}'") and words in first
    assert hint == f"Try 'terrazzo {command} -h'."


# Those that work --------------------------------------------------------------------------------


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
    ("read", ["-ot", "Byte"], "write '--dtype TYPE'"), ("read", ["-b", "1"], "write '--bands LIST'"),
    ("read", ["-srcwin", "0", "0", "5", "5"], "write '--window X,Y,W,H'"),
    ("plan", ["-srcwin", "0", "0", "5", "5"], "write '--window X,Y,W,H'"),
    ("view", ["-srcwin", "0", "0", "5", "5"], "write '--window X,Y,W,H'"),
    ("read", ["-projwin", "0", "5", "5", "0"], "write '--bbox XMIN,YMIN,XMAX,YMAX'"),
    ("read", ["-projwin_srs", "EPSG:4326"], "write '--bbox-crs CRS'"),
    ("read", ["-outsize", "50%", "0"], "write '--size WxH'"), ("read", ["-r", "cubic"], "write '--resampling HOW'"),
    ("view", ["-b", "1"], "write '--bands LIST'"), ("view", ["-ot", "Float32"], "write '--dtype TYPE'"),
    ("cog", ["-r", "mode"], "write '--co RESAMPLING=MODE'"), ("cog", ["-r"], "write '--co RESAMPLING=VALUE'"),
    ("convert", ["-of", "GTiff"], "convert always writes GeoTIFF"),
    ("convert", ["-of", "COG"], "'terrazzo cog'"), ("cog", ["-of", "COG"], "cog always writes a COG"),
    ("info", ["-stats"], "'terrazzo convert --stats'"), ("info", ["-mdd", "all"], "'--verbose'")])
def test_one_dash_is_answered_with_the_spelling_here(run, command, words, answer):
    refused(run(command, *words, "a.tif"), command, words[0], answer)


@pytest.mark.parametrize("command", ["convert", "cog"])
@pytest.mark.parametrize("words, cannot", [
    (["-ot", "Byte"], "change the type"), (["-b", "1"], "pick bands"), (["-srcwin", "0", "0", "5", "5"], "cut"),
    (["-projwin", "0", "5", "5", "0"], "cut"), (["-outsize", "5", "5"], "resample"), (["-tr", "5", "5"], "resample"),
    (["-a_nodata", "0"], "change nodata"), (["-a_srs", "EPSG:4326"], "change georeferencing"),
    (["-a_ullr", "0", "1", "1", "0"], "change georeferencing"), (["-mo", "A=B"], "change metadata"),
    (["-scale"], "scale values")])
def test_what_cannot_be_done_yet_is_said_so(run, command, words, cannot):
    refused(run(command, *words, "a.tif", "b.tif"), command, words[0], f"{command} cannot {cannot} yet")


def test_convert_cannot_resample_yet(run):
    refused(run("convert", "-r", "mode", "a.tif", "b.tif"), "convert", "-r", "convert cannot resample yet")


@pytest.mark.parametrize("command, words, answer", [
    ("cog", ["--compress", "zstd"], "write '--co COMPRESS=ZSTD'"), ("cog", ["--compress=zstd"], "--co COMPRESS=ZSTD'"),
    ("cog", ["--resampling", "mode"], "write '--co RESAMPLING=MODE'"),
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
                 "-stats", "-q", "-quiet", "-hist", "-mdd", "-nogcp", "-te", "-t_srs", "-wo", "-multi"):
        done = run(command, word)
        assert done.returncode in (0, 2) and "--threads" not in done.stderr.replace("'--threads'", "")


def test_answers_name_only_options_that_the_command_has(run):
    for command in COMMANDS:
        text = run(command, "-h").stdout
        for word in ("-co", "-of", "-ot", "-b", "-srcwin", "-projwin", "-outsize", "-r", "-stats", "-json"):
            answer = run(command, word).stderr
            if "write '--" in answer:
                name = answer.split("write '")[1].split()[0].rstrip("'")
                assert f"{name} " in text or f"{name}\n" in text, (command, word, answer)
