# SPDX-License-Identifier: Apache-2.0
"""--bbox: takes the bounds that info prints, is clipped to the image, and says where the image is."""

import json
import math
import re

import numpy as np
import pytest
import rasterio
import rasterio.warp
from rasterio.transform import from_origin

from test_read_output import check

pytestmark = [pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning"),
              pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")]  # rasterio's own

GEOGRAPHIC, UTM = 4326, 32633


def transforms():
    """(EPSG, x, y, width and height of a pixel): sizes that binary numbers miss, from metres to a billionth of a
    degree, at random places."""
    rng = np.random.default_rng(16)
    for pixel in (30, 10 / 3, 0.1, 0.07, 1e-3):
        yield UTM, rng.uniform(166000, 834000), rng.uniform(0, 9300000), pixel, pixel * rng.choice([1, 1.5, -1])
    for pixel in (1 / 3, 1 / 1200, 0.00027777777777778, 1 / 3600 / 3, 8.983152841195215e-05, 1e-7, 1e-9):
        yield GEOGRAPHIC, rng.uniform(-180, 170), rng.uniform(-80, 90), pixel, pixel * rng.choice([1, 0.7, -1])


def printed_bounds(run, path):
    """What the page of info says, as numbers and as --bbox takes them."""
    number = r"(-?[0-9.]+(?:e[-+][0-9]+)?)"
    page = run("info", path).stdout
    found = re.search(rf"Bounds +x  {number} to {number}\n +y  {number} to {number}\n", page).groups()
    return [float(text) for text in found], ",".join((found[0], found[2], found[1], found[3]))


@pytest.mark.parametrize("epsg, x, y, width, height", transforms())
def test_bounds_that_info_prints_are_a_bounding_box(run, raster, epsg, x, y, width, height):
    transform = rasterio.Affine(width, 0, x, 0, -height, y)
    path = raster(np.zeros((1, 61, 83), "uint8"), transform=transform, crs=f"EPSG:{epsg}", overviews=[2])
    with rasterio.open(path) as file:
        left, bottom, right, top = file.bounds
    found, text = printed_bounds(run, path)
    expected = [left, right, min(bottom, top), max(bottom, top)]
    for value, true, pixel in zip(found, expected, (width, width, height, height)):
        assert abs(value - true) <= abs(pixel) / 1000
    for options, window in ([], [0, 0, 83, 61]), (["--level", "1"], [0, 0, 42, 31]), (["--size", "9x9"], [0, 0, 83, 61]):
        done = run("plan", "--json", "--strict", *options, "--bbox", text, path)
        assert (done.returncode, done.stderr) == (0, "")
        answer = check(done.stdout)
        assert answer["window"] == window and answer["clipped"] is False


@pytest.fixture
def utm(raster):
    array = np.arange(50 * 70, dtype="uint16").reshape(1, 50, 70)
    return raster(array, transform=from_origin(500000, 5200000, 30, 30), crs="EPSG:32632"), array


def box(left, top, right, bottom):
    return f"{500000 + 30 * left},{5200000 - 30 * bottom},{500000 + 30 * right},{5200000 - 30 * top}"


@pytest.mark.parametrize("edges, window", [
    ((-5, -5, 10, 10), [0, 0, 10, 10]), ((60, 40, 80, 80), [60, 40, 10, 10]), ((-1, -1, 71, 51), [0, 0, 70, 50]),
    ((-9e9, 3, 9e9, 5), [0, 3, 70, 2]), ((69.5, 0, 90, 1), [69, 0, 1, 1]), ((-0.5, 0, 70, 50), [0, 0, 70, 50])])
def test_a_box_that_is_partly_outside_is_clipped(run, utm, tmp_path, edges, window):
    path, array = utm
    left, top, width, height = window
    out = str(tmp_path / "b.npy")
    done = run("read", "--json", "--bbox", box(*edges), path, out)
    assert done.returncode == 0
    assert done.stderr == "warning: --bbox reaches beyond the image, and is clipped to it\n"
    answer = check(done.stdout)
    assert answer["window"] == window and answer["clipped"] is True
    np.testing.assert_array_equal(np.load(out), array[0, top:top + height, left:left + width])
    assert run("read", "-q", "--overwrite", "--bbox", box(*edges), path, out).stderr == ""
    done = run("plan", "--bbox", box(*edges), path)
    assert done.returncode == 0 and "reaches beyond" in done.stderr
    done = run("read", "--strict", "--overwrite", "--bbox", box(*edges), path, out)
    assert done.returncode == 1 and "reaches beyond" in done.stderr


def test_a_boundless_box_is_not_clipped(run, utm):
    done = run("plan", "--json", "--boundless", "--bbox", box(-5, -5, 10, 10), utm[0])
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert answer["window"] == [-5, -5, 15, 15] and answer["clipped"] is False


def test_a_window_of_pixels_is_not_clipped(run, utm):
    done = run("plan", "--window", "60,40,20,20", utm[0])
    assert done.returncode == 1 and "--boundless" in done.stderr


@pytest.mark.parametrize("edges", [(-20, 0, -10, 10), (80, 0, 90, 10), (0, -20, 10, -10), (0, 60, 10, 70),
                                   (-20, 0, 0, 10), (70, 0, 71, 10), (1e300, 0, 2e300, 1)])
def test_a_box_elsewhere_shows_both_bounds(run, utm, edges):
    text = box(*edges)
    done = run("plan", "--bbox", text, utm[0])
    assert (done.returncode, done.stdout) == (1, "")
    shown = [[float(n) for n in group.split(",")] for group in re.findall(r"[-+.e0-9]+(?:,[-+.e0-9]+){3}", done.stderr)]
    assert shown == [[float(n) for n in text.split(",")], [500000, 5198500, 502100, 5200000]]
    assert "degrees" not in done.stderr


def test_degrees_for_a_projected_image(run, utm):
    done = run("plan", "--bbox", "8.5,46.9,9.5,47.5", utm[0])
    assert done.returncode == 1 and "looks like degrees, and the image is projected" in done.stderr


def test_metres_for_an_image_in_degrees(run, raster):
    path = raster(np.zeros((1, 5, 5), "uint8"), transform=from_origin(8, 47, 0.1, 0.1), crs="EPSG:4326")
    done = run("plan", "--bbox", "500000,5198500,502100,5200000", path)
    assert done.returncode == 1 and "the image is in degrees" in done.stderr


# Boxes in another CRS ---------------------------------------------------------------------------

DEGREES = "EPSG:4326"


def rasterio_window(path, box, crs):
    """The columns and rows that rasterio finds for the box, with edges that are as dense as ours."""
    with rasterio.open(path) as file:
        left, bottom, right, top = rasterio.warp.transform_bounds(crs, file.crs, *box, densify_pts=21)
        to_pixels = ~file.transform
        columns, rows = zip(to_pixels * (left, top), to_pixels * (right, bottom))
        left, right = max(0, math.floor(columns[0])), min(file.width, math.ceil(columns[1]))
        top, bottom = max(0, math.floor(rows[0])), min(file.height, math.ceil(rows[1]))
        return [left, top, right - left, bottom - top]


@pytest.mark.parametrize("crs", [DEGREES, "epsg:4326", "OGC:CRS84", "+proj=longlat +datum=WGS84", "EPSG:4326+5773"])
@pytest.mark.parametrize("box", [(9.003, 46.942, 9.02, 46.951), (8.99, 46.9, 9.01, 47), (9.001, 46.9421, 9.0011, 46.9422)])
def test_a_box_in_degrees_of_an_image_in_metres(run, utm, crs, box):
    path = utm[0]
    done = run("plan", "--json", "--bbox", ",".join(map(str, box)), "--bbox-crs", crs, path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["window"] == rasterio_window(path, box, DEGREES)


def test_the_crs_of_the_file_itself_changes_nothing(run, utm):
    text = box(3, 4, 20, 30)
    for crs in "EPSG:32632", "+proj=utm +zone=32 +datum=WGS84", rasterio.crs.CRS.from_epsg(32632).to_wkt():
        done = run("plan", "--json", "--bbox", text, "--bbox-crs", crs, utm[0])
        assert json.loads(done.stdout)["window"] == [3, 4, 17, 26], crs


@pytest.mark.parametrize("epsg, x, y, pixel, asked", [
    (4326, -180, 90, 0.5, (100000, 4000000, 300000, 4100000)),   # UTM 60 lies beside the antimeridian
    (3031, -3000000, 3000000, 10000, (-60, -80, 60, -70)), (3413, -3000000, 3000000, 10000, (-180, 60, 180, 90))])
def test_boxes_at_the_edges_of_the_world(run, raster, epsg, x, y, pixel, asked):
    crs = "EPSG:32660" if epsg == 4326 else DEGREES
    size = (360, 720) if epsg == 4326 else (600, 600)
    path = raster(np.zeros((1, *size), "uint8"), transform=from_origin(x, y, pixel, pixel), crs=f"EPSG:{epsg}")
    done = run("plan", "--json", "--bbox", ",".join(map(str, asked)), "--bbox-crs", crs, path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["window"] == rasterio_window(path, asked, crs)


def test_a_box_across_the_antimeridian(run, raster):
    asked = "700000,4000000,1000000,4100000"  # UTM 60, from 179 to -178 degrees
    half = raster(np.zeros((1, 180, 360), "uint8"), transform=from_origin(-180, 90, 1, 1), crs=DEGREES)
    done = run("plan", "--bbox", asked, "--bbox-crs", "EPSG:32660", half)
    assert done.returncode == 1 and "across the antimeridian" in done.stderr
    whole = raster(np.zeros((1, 180, 360), "uint8"), name="b.tif", transform=from_origin(0, 90, 1, 1), crs=DEGREES)
    done = run("plan", "--json", "--bbox", asked, "--bbox-crs", "EPSG:32660", whole)
    left, top, width, height = json.loads(done.stdout)["window"]
    assert left == 179 and width == 4 and (top, height) == (52, 2)


@pytest.mark.parametrize("crs, words", [
    ("EPSG:99999", "PROJ does not understand 'EPSG:99999'"), ("4326", "write EPSG:4326"), ("WGS 84", "is neither a code"),
    ("+proj=utm +zone=99", "zone"), ("PROJCS[", "PROJ does not understand")])
def test_a_crs_that_is_not_understood(run, utm, crs, words):
    done = run("plan", "--bbox", "8,46,9,47", "--bbox-crs", crs, utm[0])
    assert (done.returncode, done.stdout) == (1, "") and words in done.stderr


def test_a_box_elsewhere_in_another_crs(run, utm):
    done = run("plan", "--bbox", "20,46,21,47", "--bbox-crs", DEGREES, utm[0])
    assert done.returncode == 1 and "in the CRS of the file does not meet the image" in done.stderr
    assert "looks like" not in done.stderr


def test_a_crs_needs_a_box(run, utm):
    done = run("plan", "--bbox-crs", DEGREES, utm[0])
    assert done.returncode == 2 and "--bbox-crs needs --bbox" in done.stderr


def test_an_image_without_a_crs(run, raster):
    path = raster(np.zeros((1, 5, 5), "uint8"), transform=from_origin(8, 47, 0.1, 0.1))
    done = run("plan", "--bbox", "8,46,9,47", "--bbox-crs", DEGREES, path)
    assert done.returncode == 1 and "has no coordinate reference system" in done.stderr
