# SPDX-License-Identifier: Apache-2.0
"""Things that people type, and the answers: codes of EPSG, folders instead of files, plans of files that exist."""

import json

import numpy as np
import pytest
import rasterio

from test_convert_streams import convert_bytes, names

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")

RAW = ["--shape", "10x10", "--dtype", "uint8"]


# Codes of EPSG ----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["32633", "EPSG:32633", "epsg:32633", "Epsg:32633"])
@pytest.mark.parametrize("command", ["convert", "cog"])
def test_epsg_with_and_without_its_name(tmp_path, command, text):
    done = convert_bytes(bytes(100), *RAW, "--epsg", text, "-", tmp_path / "b.tif", command=command)
    assert (done.returncode, done.stderr) == (0, b"")
    with rasterio.open(tmp_path / "b.tif") as file:
        assert file.crs.to_epsg() == 32633


@pytest.mark.parametrize("text", ["25832+5783", "EPSG:25832+5783", "epsg:25832+EPSG:5783"])
def test_epsg_of_a_compound_crs(tmp_path, info, text):
    done = convert_bytes(bytes(100), *RAW, "--epsg", text, "-", tmp_path / "b.tif")
    assert (done.returncode, done.stderr) == (0, b"")
    geo = info(str(tmp_path / "b.tif"))["terrazzo"]["geo"]
    assert (geo["epsg"], geo["epsg_vertical"]) == (25832, 5783)
    with rasterio.open(tmp_path / "b.tif") as file:
        assert file.crs == rasterio.crs.CRS.from_string("EPSG:25832+5783")


@pytest.mark.parametrize("code, parts", [("5555", (25832, 5783)), ("EPSG:7415", (28992, 5709))])
@pytest.mark.parametrize("command", ["convert", "cog"])
def test_epsg_of_a_compound_crs_by_its_own_code(tmp_path, info, features, command, code, parts):
    if features["proj"] is None:
        pytest.skip("this build is without PROJ")
    done = convert_bytes(bytes(100), *RAW, "--epsg", code, "-", tmp_path / "b.tif", command=command)
    assert (done.returncode, done.stderr) == (0, b"")
    geo = info(str(tmp_path / "b.tif"))["terrazzo"]["geo"]
    assert (geo["epsg"], geo["epsg_vertical"]) == parts


@pytest.mark.parametrize("option", ["--crs", "--epsg"])
def test_crs_and_epsg_are_one_option(tmp_path, option):
    """A number alone is a code of EPSG in both; the last one counts."""
    words = ["--epsg", "3857", "--crs", "4326", option, "32633"]
    assert convert_bytes(bytes(100), *RAW, *words, "-", tmp_path / "b.tif").returncode == 0
    assert convert_bytes(bytes(100), *RAW, "--crs", "EPSG:32633", "-", tmp_path / "c.tif").returncode == 0
    assert (tmp_path / "b.tif").read_bytes() == (tmp_path / "c.tif").read_bytes()


@pytest.mark.parametrize("code, words", [
    ("5773", ["GeoTIFF cannot express EGM96 height", "a vertical CRS without a horizontal one"]),
    ("1025", ["PROJ", "'EPSG:1025'"]), ("4326+32633", ["PROJ", "'EPSG:4326+32633'"]),
    ("4326+1025", ["PROJ", "'EPSG:4326+1025'"]), ("4326+", ["PROJ", "'EPSG:4326+'"]), ("0", ["PROJ", "'EPSG:0'"]),
    ("32767", ["PROJ", "'EPSG:32767'"]), ("99999999999999999999999", ["PROJ", "99999999999999999999999"])])
@pytest.mark.parametrize("command", ["convert", "cog"])
def test_epsg_that_proj_does_not_know(tmp_path, features, command, code, words):
    if features["proj"] is None:
        pytest.skip("this build is without PROJ")
    done = convert_bytes(bytes(100), *RAW, "--epsg", code, "-", tmp_path / "b.tif", command=command)
    text = done.stderr.decode()
    assert done.returncode == 1 and all(word in text for word in words)
    assert text.startswith("error: ") and "model_type" not in text and text.count("\n") == 1
    assert names(tmp_path) == []


@pytest.mark.parametrize("text", ["-5", "wgs84", "", "EPSG:", "4326x", "+", "+4326"])
def test_epsg_that_is_not_a_crs(tmp_path, text):
    done = convert_bytes(bytes(100), *RAW, "--epsg", text, "-", tmp_path / "b.tif")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode() == (f"error: '{text}' is neither a code such as EPSG:32633 nor WKT, PROJJSON or a PROJ "
                                    "string\n")
    assert names(tmp_path) == []


# What view can do about it ----------------------------------------------------------------------


def test_view_of_complex_numbers_names_an_option_of_its_own(run, raster):
    path = raster((np.arange(64).reshape(1, 8, 8) * (1 + 1j)).astype("complex64"))
    done = run("view", path)
    assert done.returncode == 1 and "--dtype float32" in done.stderr
    done = run("view", "-q", "--dtype", "float32", "--color", "always", path)
    assert (done.returncode, done.stderr) == (0, "") and "\x1b" in done.stdout


def test_view_of_a_window_that_is_outside_names_no_option_of_others(run, plain):
    done = run("view", "--window", "15,5,20,20", plain)
    assert done.returncode == 1 and "beyond the image" in done.stderr and "--boundless" not in done.stderr


# OUT that is a folder ---------------------------------------------------------------------------


@pytest.mark.parametrize("out", ["folder", "folder/", "missing/"])
@pytest.mark.parametrize("command", [
    ["read"], ["read", "--overwrite", "--json"], ["convert"], ["convert", "--dry-run"], ["cog", "--overwrite"],
    ["cog", "--epsg", "4326"], ["plan-cog"], ["assemble", "--overwrite"], ["encode-block"]])
def test_a_folder_as_out_is_the_first_thing_reported(run, tmp_path, command, out):
    (tmp_path / "folder").mkdir()
    before = {"encode-block": ["no plan", "0", "0", "no file"]}.get(command[0], ["no file"])
    after = ["no blob"] if command[0] == "assemble" else []
    done = run(*command, *before, f"{tmp_path}/{out}", *after)
    assert done.returncode == 1
    assert done.stderr == f"error: cannot write '{tmp_path}/{out}': Is a directory\n"
    assert ("--json" in command) == (done.stdout != "")
    assert names(tmp_path) == ["folder"] and names(tmp_path / "folder") == []


# Plans ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["convert", "cog"])
def test_a_dry_run_does_not_mind_that_out_exists(run, plain, tmp_path, command):
    (tmp_path / "b.tif").write_text("mine")
    done = run(command, "--dry-run", "--json", plain, str(tmp_path / "b.tif"))
    assert (done.returncode, done.stderr) == (0, "") and json.loads(done.stdout)["size"] == [20, 10]
    assert run(command, "--dry-run", plain, plain).returncode == 0
    assert run(command, "--dry-run", "--co", "TILED=YES", plain, str(tmp_path / "b.tif")).returncode == 0
    assert (tmp_path / "b.tif").read_text() == "mine"
