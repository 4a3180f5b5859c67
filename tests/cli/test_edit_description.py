# SPDX-License-Identifier: Apache-2.0
"""Options of terrazzo convert and cog that change what a file says of its pixels; pages; and what may be typed.
rasterio says what the result must be."""

import json
import pathlib

import numpy as np
import pytest
import rasterio
import rasterio.rpc

from conftest import call
from test_convert import PLACE, check, read, tags_of
from test_convert_streams import check_allocations, names
from test_edit_pixels import TILES, damage, edit, noise, refuse  # noqa: F401
from tiffmaker import Image, north_up

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")


# Georeferencing ---------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--crs", "--epsg"])
@pytest.mark.parametrize("text", ["25832", "EPSG:25832", "epsg:25832", "wkt",
                                  "+proj=utm +zone=32 +ellps=GRS80 +units=m +type=crs"])
def test_a_crs(edit, raster, features, option, text):
    if features["proj"] is None:
        pytest.skip("built without PROJ")
    given = rasterio.CRS.from_epsg(25832).to_wkt() if text == "wkt" else text
    array = noise()
    out, _ = edit(raster(array, **PLACE), option, given)
    with rasterio.open(out) as file:
        assert file.transform == PLACE["transform"]
        if text[0] != "+":
            assert file.crs.to_epsg() == 25832
        else:
            assert file.crs.to_dict()["proj"] == "utm" and file.crs.to_dict()["zone"] == 32
        np.testing.assert_array_equal(file.read(), array)


def test_a_compound_crs(edit, raster, features):
    if features["proj"] is None:
        pytest.skip("built without PROJ")
    for text in "EPSG:25832+5783", "25832+5783":
        out, _ = edit(raster(noise(), **PLACE), "--crs", text)
        keys = tags_of(out)["GeoKeyDirectoryTag"]
        entries = {keys[i]: keys[i + 3] for i in range(4, len(keys), 4)}
        assert (entries[3072], entries[4096]) == (25832, 5783)


def test_a_crs_is_left_out(edit, raster):
    out, _ = edit(raster(noise(), **PLACE), "--crs", "none")
    with rasterio.open(out) as file:
        assert file.crs is None and file.transform == PLACE["transform"]


@pytest.mark.parametrize("text", ["nonsense", "EPSG:1", "0", "", "EPSG:", "25832+", "999999999999999999999999"])
def test_a_crs_that_there_is_not(raster, refuse, text):
    refuse(raster(noise()), "--crs", text)


def test_a_transform(edit, raster):
    path = raster(noise(), **PLACE)
    for text in "10,2,0.5,20,0.25,-3", "0,1,0,0,0,1", "1e6,0.1,0,-5,0,-0.1":
        out, _ = edit(path, f"--transform={text}", "--window", "3,4,50,60")  # of the result, as it is typed
        with rasterio.open(out) as file:
            assert file.transform.to_gdal() == tuple(map(float, text.split(",")))
            assert file.crs.to_epsg() == 32632


def test_bounds_are_those_of_the_result(edit, raster):
    path = raster(noise(), **PLACE)
    for options, size in ([], (170, 150)), (["--window", "3,4,50,60"], (50, 60)), (["--size", "85x50"], (85, 50)):
        out, _ = edit(path, "--bounds=-10,20,90,80", *options)
        with rasterio.open(out) as file:
            assert (file.width, file.height) == size
            np.testing.assert_allclose(file.bounds, (-10, 20, 90, 80), atol=1e-9)


def points_of(path):
    with rasterio.open(path) as file:
        points, crs = file.gcps
        return [(point.col, point.row, point.x, point.y, point.z) for point in points], crs


def test_control_points(edit, raster):
    path = raster(noise(), **PLACE)
    out, _ = edit(path, "--gcp", "1,2,500000,5200000", "--gcp", "30.5,2,500010,5200001.25,7", "--gcp=1,40,-5e5,5200100",
                  "--crs", "EPSG:32633")
    points, crs = points_of(out)
    assert points == [(1, 2, 500000, 5200000, 0), (30.5, 2, 500010, 5200001.25, 7), (1, 40, -5e5, 5200100, 0)]
    assert crs.to_epsg() == 32633
    replaced, _ = edit(out, "--gcp", "0,0,1,2", name="replaced.tif")
    assert points_of(replaced)[0] == [(0, 0, 1, 2, 0)]
    placed, _ = edit(out, "--transform", "1,2,0,3,0,-4", name="placed.tif")
    with rasterio.open(placed) as file:
        assert file.gcps[0] == [] and file.transform.to_gdal() == (1, 2, 0, 3, 0, -4)


def test_control_points_follow_the_window_and_the_size(edit, raster):
    path, _ = edit(raster(noise()), "--gcp", "50,60,1,2", "--gcp", "150,70,3,4", "--gcp", "90,120,5,6",
                   name="points.tif")
    out, _ = edit(path, "--window", "10,20,100,120", "--size", "200x60")
    assert [point[:2] for point in points_of(out)[0]] == [(80, 20), (280, 25), (160, 50)]
    given, _ = edit(path, "--window", "10,20,100,120", "--gcp", "1,2,3,4", name="given.tif")  # those of OUT
    assert points_of(given)[0] == [(1, 2, 3, 4, 0)]


def test_rpc_follows_the_window(edit, raster, tmp_path):
    path = str(tmp_path / "rpc.tif")
    rpc = rasterio.rpc.RPC(height_off=1, height_scale=2, lat_off=3, lat_scale=4, line_den_coeff=[1] + [0] * 19,
                           line_num_coeff=[0, 1] + [0] * 18, line_off=70.5, line_scale=60, long_off=5, long_scale=6,
                           samp_den_coeff=[1] + [0] * 19, samp_num_coeff=[0, 1] + [0] * 18, samp_off=80.5,
                           samp_scale=90)
    with rasterio.open(path, "w", driver="GTiff", dtype="uint8", count=1, width=170, height=150, rpcs=rpc) as file:
        file.write(noise("uint8", 1))
    out, _ = edit(path, "--window", "10,20,100,120")
    with rasterio.open(out) as file:
        assert (file.rpcs.samp_off, file.rpcs.line_off) == (70.5, 50.5)
        assert (file.rpcs.samp_scale, file.rpcs.line_scale, file.rpcs.lat_off) == (90, 60, 3)
    out, _ = edit(path, "--size", "340x75")
    with rasterio.open(out) as file:
        assert (file.rpcs.samp_off, file.rpcs.samp_scale) == ((80.5 + 0.5) * 2 - 0.5, 180)
        assert (file.rpcs.line_off, file.rpcs.line_scale) == ((70.5 + 0.5) / 2 - 0.5, 30)


# Metadata ---------------------------------------------------------------------------------------


def test_tags(edit, raster):
    path = raster(noise(), tags={"KEEP": "1", "OLD": "2", "CHANGE": "3"}, **PLACE)
    out, _ = edit(path, "--tag", "CHANGE=a=b, <c> & \"d\"", "--tag", "NEW=ä€", "--unset", "OLD", "--unset",
                  "MISSING",
                  "--tag", "NEW2=1", "--unset", "NEW2", "--tag", "TIFFTAG_SOFTWARE=me", "--tag",
                  "TIFFTAG_DATETIME=2024:01:02 03:04:05",
                  "--tag", "AREA_OR_POINT=Point")
    with rasterio.open(out) as file:
        tags = file.tags()
        assert file.transform == PLACE["transform"]
    assert {key: tags.get(key) for key in ("KEEP", "OLD", "CHANGE", "NEW", "NEW2", "AREA_OR_POINT",
                                           "TIFFTAG_SOFTWARE")} == {
        "KEEP": "1", "OLD": None, "CHANGE": "a=b, <c> & \"d\"", "NEW": "ä€", "NEW2": None, "AREA_OR_POINT": "Point",
        "TIFFTAG_SOFTWARE": "me"}
    assert tags_of(out)["Software"] == "me" and tags_of(out)["DateTime"] == "2024:01:02 03:04:05"
    again, _ = edit(out, "--unset", "TIFFTAG_SOFTWARE", name="again.tif")
    assert "Software" not in tags_of(again)


def test_texts_of_bands(edit, raster):
    """Bands are those of OUT."""
    path = raster(noise(bands=4), photometric="minisblack")
    with rasterio.open(path, "r+") as file:
        file.descriptions = ["a", "b", "c", "d"]
        file.units = ["m", "km", "ft", "s"]
        file.update_tags(3, K="old", L="kept")
    out, _ = edit(path, "--bands", "3,1", "--band-tag", "1:K=new=1", "--band-tag", "2:M=x:y", "--description",
                  "2=second, <one>",
                  "--description", "1=", "--unit", "1=°C", "--unit", "2=")
    with rasterio.open(out) as file:
        assert file.descriptions == (None, "second, <one>") and file.units[0] == "°C" and not file.units[1]
        assert {key: file.tags(1)[key] for key in "KL"} == {"K": "new=1", "L": "kept"} and file.tags(2)["M"] == "x:y"


def test_texts_of_an_alpha_band(edit, raster):
    out, _ = edit(raster(noise("uint8")), "--add-alpha", "--description", "4=valid", "--band-tag", "4:K=V")
    with rasterio.open(out) as file:
        assert file.descriptions == (None, None, None, "valid") and file.tags(4)["K"] == "V"


@pytest.mark.parametrize("option, text", [("--band-tag", "3:K=V"), ("--description", "3=x"), ("--unit", "3=x")])
def test_bands_that_out_does_not_have(raster, refuse, option, text):
    path = raster(noise())
    assert f"{option}: there is no band 3; OUT has 2" in refuse(path, "--bands", "3,2", option, text)


STATISTICS = {"STATISTICS_MINIMUM": "1", "STATISTICS_MAXIMUM": "2", "STATISTICS_MEAN": "1.5", "STATISTICS_STDDEV": "1"}
PIXELS_CHANGE = [["--window", "0,0,169,150"], ["--size", "85x75"], ["--scale", "0,9,0,8"],
                 ["--nodata", "1", "--replace-nodata"],
                 ["--salvage"]]
PIXELS_STAY = [[], ["--window", "0,0,170,150"], ["--size", "170x150"], ["--bands", "2,1"], ["--tag", "K=V"],
               ["--crs", "EPSG:4326"],
               ["--description", "1=x"], ["--unit", "1=m"], ["--transform", "0,1,0,0,0,1"], ["--mask-from", "none"]]


@pytest.fixture
def measured(raster):
    """A file with statistics, units and scales."""
    path = raster(noise(bands=2), nodata=3, compress="deflate", **TILES)
    with rasterio.open(path, "r+") as file:
        for band in 1, 2:
            file.update_tags(band, **STATISTICS)
        file.units, file.scales, file.offsets = ["m", "km"], [2, 3], [4, 5]
    return path


def statistics_of(path):
    with rasterio.open(path) as file:
        return [sorted(key for key in file.tags(band) if key.startswith("STATISTICS")) for band in file.indexes]


@pytest.mark.parametrize("options", PIXELS_STAY, ids="".join)
def test_statistics_stay_with_the_pixels(edit, measured, options):
    out, _ = edit(measured, *options)
    assert statistics_of(out) == [sorted(STATISTICS)] * 2


@pytest.mark.parametrize("options", PIXELS_CHANGE, ids="".join)
def test_statistics_go_with_the_pixels(edit, measured, options):
    if options == ["--salvage"]:
        damage(measured, [1])
    out, _ = edit(measured, *options, quiet=options != ["--salvage"])
    assert statistics_of(out) == [[], []]


def test_units_go_with_a_scale(edit, measured):
    out, _ = edit(measured, "--scale", "0,250", "--unit", "2=new")
    with rasterio.open(out) as file:
        assert not file.units[0] and file.units[1] == "new"
    out, _ = edit(measured, "--dtype", "float32", "--bands", "2")
    with rasterio.open(out) as file:
        assert file.units == ("km",) and file.scales == (3,) and file.offsets == (5,)


# Pages ------------------------------------------------------------------------------------------


@pytest.fixture
def pages(save):
    """Pages of three sizes."""
    return save([Image(20 + i, 10 + i, tags=north_up(1000.0 * i, 2000.0, 10.0)) for i in range(3)], name="pages.tif")


@pytest.mark.parametrize("command", ["convert", "cog"])
def test_a_page(pages, tmp_path, command):
    for page in range(3):
        out = str(tmp_path / f"{page}.tif")
        done = call(command, "--no-sync", "--page", str(page), "--window", "1,2,15,5", pages, out)
        assert done.returncode == 0, done.stderr
        with rasterio.open(out) as file:
            assert (file.width, file.height, file.transform.c) == (15, 5, 1000 * page + 10)
    done = call(command, "--page", "3", pages, str(tmp_path / "3.tif"))
    assert done.returncode == 1 and not (tmp_path / "3.tif").exists()


@pytest.mark.parametrize("out, made", [("b.tif", ["b_0.tif", "b_1.tif", "b_2.tif"]),
                                       ("b.c.tiff", ["b.c_0.tiff", "b.c_1.tiff", "b.c_2.tiff"]),
                                       ("plain", ["plain_0", "plain_1", "plain_2"]),
                                       ("./b.d/x", ["x_0", "x_1", "x_2"])])
def test_all_pages(pages, tmp_path, out, made):
    folder = tmp_path / "made" / pathlib.Path(out).parent
    folder.mkdir(parents=True)
    done = call("convert", "--json", "--no-sync", "--page", "all", "--tag", "K=V", pages,
                str(folder / pathlib.Path(out).name))
    assert (done.returncode, done.stderr) == (0, "") and names(folder) == sorted(made)
    reports = list(documents(done.stdout))
    assert [report["output"] for report in reports] == [str(folder / name) for name in made]
    for i, (name, report) in enumerate(zip(made, reports)):
        check(json.dumps(report))
        with rasterio.open(folder / name) as file:
            assert [file.width, file.height] == [20 + i, 10 + i] == report["size"]
            assert file.transform.c == 1000 * i and file.tags()["K"] == "V"


def documents(text):
    """JSON documents one after the other."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        document, at = decoder.raw_decode(text, at)
        at += len(text[at:]) - len(text[at:].lstrip())
        yield document


def test_all_pages_and_files_that_exist(pages, tmp_path):
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "b_1.tif").write_text("mine")
    done = call("convert", "--page", "all", pages, str(folder / "b.tif"))
    assert done.returncode == 1 and "b_1.tif' exists" in done.stderr
    assert (folder / "b_1.tif").read_text() == "mine" and "b_2.tif" not in names(folder)
    done = call("convert", "--page", "all", "--overwrite", pages, str(folder / "b.tif"))
    assert done.returncode == 0 and names(folder) == ["b_0.tif", "b_1.tif", "b_2.tif"]
    assert read(folder / "b_1.tif").shape == (1, 11, 21)


def test_a_plan_of_all_pages(pages, tmp_path):
    done = call("convert", "--dry-run", "--json", "--page", "all", pages, str(tmp_path / "b.tif"))
    assert done.returncode == 0 and [report["dry_run"] for report in documents(done.stdout)] == [True] * 3
    assert names(tmp_path) == ["pages.tif"]


# Pixels without a TIFF --------------------------------------------------------------------------


def test_metadata_of_an_array(edit, tmp_path):
    array = noise("uint16", 2)
    np.save(tmp_path / "a.npy", array)
    for source in "file", "pipe":
        options = ["--crs", "EPSG:32633", "--bounds", "0,0,170,150", "--tag", "K=V", "--unset", "X", "--band-tag",
                   "2:A=B",
                   "--description", "1=first", "--unit", "2=m", "--nodata", "none", "--nodata", "7"]
        if source == "file":
            out, _ = edit(str(tmp_path / "a.npy"), *options)
        else:
            with open(tmp_path / "a.npy", "rb") as rows:
                out, _ = edit("-", *options, stdin=rows)
        with rasterio.open(out) as file:
            np.testing.assert_array_equal(file.read(), array)
            assert file.crs.to_epsg() == 32633 and file.bounds == (0, 0, 170, 150) and file.nodata == 7
            assert file.tags()["K"] == "V" and file.tags(2)["A"] == "B"
            assert file.descriptions == ("first", None) and file.units[1] == "m"
    out, _ = edit(str(tmp_path / "a.npy"), "--gcp", "1,2,3,4", "--nodata", "none", name="points.tif")
    assert points_of(out)[0] == [(1, 2, 3, 4, 0)]


PIXEL_OPTIONS = [["--window", "0,0,1,1"], ["--bbox", "0,0,1,1"], ["--bbox", "0,0,1,1", "--bbox-crs", "EPSG:4326"],
                 ["--bands", "1"],
                 ["--size", "5x5"], ["--res", "5"], ["--size", "5x5", "--resampling", "average"], ["--scale", "auto"],
                 ["--nodata", "1", "--replace-nodata"], ["--mask-from", "none"], ["--add-alpha"], ["--salvage"],
                 ["--page", "all"]]


@pytest.mark.parametrize("source", ["npy", "raw"])
@pytest.mark.parametrize("options", PIXEL_OPTIONS, ids=" ".join)
def test_pixels_of_an_array_are_not_changed(tmp_path, source, options):
    np.save(tmp_path / "a.npy", noise())
    words = ["--shape", "2x2", "--dtype", "uint8"] if source == "raw" else []
    done = call("convert", *options, *words, str(tmp_path / "a.npy") if source == "npy" else "-",
                str(tmp_path / "b.tif"))
    assert (done.returncode, done.stdout) == (2, "") and "only the pixels of a TIFF can be changed" in done.stderr
    assert any(f"'{word}'" in done.stderr or f"'{word} all'" in done.stderr for word in options)
    assert not (tmp_path / "b.tif").exists()


# What may be typed ------------------------------------------------------------------------------


USAGE = [
    (["--bands", "0"], "--bands needs numbers from 1 on"), (["--bands", "1,"], "--bands needs"),
    (["--bands", ""], "--bands needs"),
    (["--bands", "3-1"], "--bands needs"), (["--bands", "1--2"], "--bands needs"),
    (["--bands", "1", "--bands", ",2"], "--bands needs"),
    (["--bands", "70000"], "--bands needs"), (["--bands=-1"], "--bands needs"),
    (["--window", "1,2,3"], "--window needs"), (["--window", "0,0,0,5"], "--window needs"),
    (["--window", "0,0,5,5,5"], "--window needs"),
    (["--window", "0.5,0,5,5"], "--window needs"), (["--bbox", "0,0,1"], "--bbox needs"),
    (["--bbox", "1,0,0,1"], "XMIN must be less"),
    (["--bbox", "0,nan,1,1"], "--bbox needs"), (["--bbox-crs", "EPSG:4326"], "--bbox-crs needs --bbox"),
    (["--bbox", "0,0,1,1", "--window", "0,0,1,1"], "--window and --bbox do not go together"),
    (["--size", "10"], "--size needs"), (["--size", "0x0"], "--size needs"), (["--size", "-1x5"], "--size needs"),
    (["--size", "5x5", "--res", "5"], "--size and --res do not go together"),
    (["--res", "0"], "--res needs"), (["--res=-5"], "--res needs"), (["--res", "1,2,3"], "--res needs"),
    (["--res", "x"], "--res needs"),
    (["--res", "5,0"], "--res needs"), (["--res", "inf"], "--res needs"),
    (["--resampling", "average"], "--resampling needs --size or --res"),
    (["--size", "5x5", "--resampling", "none"], "--resampling is"),
    (["--size", "5x5", "--resampling", "linear"], "--resampling is"), (["--dtype", "uint7"], "unknown type 'uint7'"),
    (["--scale", "1"], "--scale needs"), (["--scale", "1,2,3"], "--scale needs"),
    (["--scale", "1,2,3,4,5"], "--scale needs"),
    (["--scale", "AUTO"], "--scale needs"), (["--scale", "1,1"], "SMIN and SMAX must differ"),
    (["--scale", "0,nan"], "--scale needs"),
    (["--nodata", "x"], "--nodata needs"), (["--nodata", "1x"], "--nodata needs"), (["--nodata", ""], "--nodata needs"),
    (["--nodata", "None"], "--nodata needs"), (["--replace-nodata"], "--replace-nodata needs a value of --nodata"),
    (["--replace-nodata", "--nodata", "none"], "--replace-nodata needs a value of --nodata"),
    (["--mask-from", "0"], "--mask-from is"), (["--mask-from", "mask"], "--mask-from is"),
    (["--mask-from", "1,2"], "--mask-from is"),
    (["--add-alpha", "--mask-from", "none"], "--add-alpha and --mask-from do not go together"),
    (["--transform", "1,2,3,4,5"], "--transform needs six numbers"),
    (["--transform", "1,2,3,4,5,x"], "--transform needs"),
    (["--bounds", "1,2,3"], "--bounds needs"),
    (["--bounds", "0,0,0,5"], "the edges must differ"), (["--bounds", "0,5,1,5"], "the edges must differ"),
    (["--bounds", "0,0,1,1", "--transform", "0,1,0,0,0,1"], "--transform and --bounds do not go together"),
    (["--gcp", "1,2,3"], "--gcp needs"), (["--gcp", "1,2,3,4,5,6"], "--gcp needs"),
    (["--gcp", "1,2,3,nan"], "--gcp needs"),
    (["--gcp", "1,2,3,4", "--bounds", "0,0,1,1"], "--gcp does not go together"),
    (["--gcp", "1,2,3,4", "--transform", "0,1,0,0,0,1"], "--gcp does not go together"),
    (["--tag", "K"], "--tag needs KEY=VALUE"), (["--tag", "=V"], "--tag needs"), (["--unset", ""], "--unset needs"),
    (["--band-tag", "K=V"], "--band-tag needs"), (["--band-tag", "0:K=V"], "--band-tag needs"),
    (["--band-tag", "1:K"], "--band-tag needs"),
    (["--band-tag", "1:=V"], "--band-tag needs"), (["--description", "x"], "--description needs"),
    (["--description", "0=x"], "--description needs"),
    (["--unit", "m"], "--unit needs"), (["--unit", "1:m"], "--unit needs"), (["--page", "every"], "--page"),
    (["--page=-1"], "--page")]


@pytest.mark.parametrize("options, message", USAGE, ids=[" ".join(options) for options, _ in USAGE])
def test_wrong_options(tmp_path, options, message):
    """The message comes before any file is looked at."""
    for command in "convert", "cog":
        done = call(command, *options, "missing.tif", str(tmp_path / "b.tif"))
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("error: ") and message in done.stderr
        assert names(tmp_path) == []


def test_an_option_may_be_given_again(edit, raster):
    """The last one counts, of those that are not lists."""
    array = noise()
    out, _ = edit(raster(array), "--window", "0,0,1,1", "--window", "1,2,30,40", "--scale", "0,9", "--scale", "0,1,0,2",
                  "--nodata", "none", "--nodata", "9", "--mask-from", "none", "--mask-from", "1", "--size", "5x5",
                  "--size", "30x40")
    np.testing.assert_array_equal(read(out), array[:, 2:42, 1:31] * 2)


# Memory -----------------------------------------------------------------------------------------


def test_every_allocation_may_fail(raster, tmp_path):
    path = raster(noise("int16", 3, 20, 30), nodata=3, tags={"A": "B"}, **PLACE)
    check_allocations(["convert", "--no-sync", "-j1", "--window", "1,2,20,10", "--bands", "3,1", "--bands", "2",
                       "--size", "10x5",
                       "--resampling", "average", "--scale", "auto", "--dtype", "uint8", "--nodata", "0",
                       "--add-alpha", "--salvage",
                       "--bounds", "0,0,10,5", "--tag", "K=V", "--unset", "A", "--band-tag", "1:C=D", "--description",
                       "2=d",
                       "--unit", "3=m", path, str(tmp_path / "b.tif")], tmp_path, ["b.tif"])


def test_every_allocation_of_pages_and_points_may_fail(save, tmp_path):
    path = save([Image(20, 10, tags=north_up(1000.0, 2000.0, 10.0))])
    check_allocations(["convert", "--no-sync", "-j1", "--page", "all", "--gcp", "1,2,3,4", "--crs", "none",
                       "--mask-from", "1",
                       "--overwrite", path, str(tmp_path / "b.tif")], tmp_path, ["b_0.tif"])
