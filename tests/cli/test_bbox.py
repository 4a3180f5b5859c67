# SPDX-License-Identifier: Apache-2.0
"""--bbox: takes the bounds that info prints, is clipped to the image, and says where the image is."""

import json
import re

import numpy as np
import pytest
import rasterio
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
