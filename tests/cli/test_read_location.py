# SPDX-License-Identifier: Apache-2.0
"""Where the pixels are that read gives: transform and CRS in its reports, as rasterio computes them."""

import re

import numpy as np
import pytest
import rasterio
from rasterio.transform import Affine
from rasterio.windows import Window

from test_convert_streams import convert_bytes
from test_read_output import check
from tiffmaker import SHORT, Image, north_up

pytestmark = [pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning"),
              pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")]  # rasterio's own

TRANSFORMS = [Affine(30, 0, 500000, 0, -30, 5200000), Affine(0.1, 0, 8.3, 0, 0.1, 47.7), Affine(7, 2, 500, 1, -9, 900)]


def place(run, *arguments):
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return check(done.stdout)["geo"]


def close(found, transform, pixel=1e-9):
    """GDAL's order against rasterio's."""
    expected = transform.to_gdal()
    return all(abs(a - b) <= pixel * max(abs(b), 1) for a, b in zip(found, expected))


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("options, window, size", [
    ([], (0, 0, 100, 60), (100, 60)), (["--window", "7,9,20,10"], (7, 9, 20, 10), (20, 10)),
    (["--size", "25x0"], (0, 0, 100, 60), (25, 15)), (["--window", "10,20,40,30", "--size", "10x15"],
                                                      (10, 20, 40, 30), (10, 15)),
    (["--level", "1"], (0, 0, 100, 60), (50, 30)), (["--level", "1", "--window", "5,6,20,10"], (10, 12, 40, 20), (20, 10)),
    (["--boundless", "--window", "-4,-5,20,20"], (-4, -5, 20, 20), (20, 20))])
def test_the_transform_of_what_was_read(run, raster, tmp_path, transform, options, window, size):
    path = raster(np.zeros((1, 60, 100), "uint8"), transform=transform, crs="EPSG:32632", overviews=[2])
    geo = place(run, "read", "--json", *options, path, str(tmp_path / "b.npy"))
    column, row, width, height = window
    with rasterio.open(path) as file:
        expected = file.window_transform(Window(column, row, width, height))
    assert close(geo["transform"], expected @ Affine.scale(width / size[0], height / size[1]))
    assert geo == place(run, "plan", "--json", *options, path)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("options", [[], ["--window", "1,2,5,4"]])
def test_the_transform_of_an_image_that_was_turned(run, save, tmp_path, orientation, options):
    """A pixel is where it was: each has its own number."""
    data = bytes(range(12 * 9))
    path = save([Image(12, 9, tags=north_up(1000.0, 2000.0, 10.0) + [(274, SHORT, [orientation])])])
    whole = bytearray(open(path, "rb").read())
    whole[-len(data):] = data
    open(path, "wb").write(whole)
    out = str(tmp_path / "b.npy")
    geo = place(run, "read", "--json", "--oriented", *options, path, out)
    transform = Affine.from_gdal(*geo["transform"])
    for (row, column), value in np.ndenumerate(np.load(out)):
        x, y = transform @ (column + 0.5, row + 0.5)
        assert ((x - 1000) / 10, (2000 - y) / 10) == pytest.approx((value % 12 + 0.5, value // 12 + 0.5))


def test_the_crs(run, raster, tmp_path, features):
    if features["proj"] is None:
        pytest.skip("this build is without PROJ")
    path = raster(np.zeros((1, 6, 10), "uint8"), transform=TRANSFORMS[0], crs="EPSG:32632")
    geo = place(run, "plan", "--json", path)
    assert (geo["epsg"], geo["epsg_vertical"]) == (32632, None)
    assert rasterio.crs.CRS.from_wkt(geo["wkt"]).to_epsg() == 32632
    own = "+proj=laea +lat_0=40 +lon_0=9 +x_0=12345 +datum=WGS84 +units=m"
    path = raster(np.zeros((1, 6, 10), "uint8"), name="own.tif", transform=TRANSFORMS[0], crs=own)
    geo = place(run, "plan", "--json", path)
    assert geo["epsg"] is None and rasterio.crs.CRS.from_wkt(geo["wkt"]) == rasterio.crs.CRS.from_string(own)
    path = str(tmp_path / "compound.tif")
    done = convert_bytes(bytes(36), "--shape", "6x6", "--dtype", "uint8", "--epsg", "25832+5783", "--co",
                         "GEOTIFF_VERSION=1.1", "-", path)
    assert (done.returncode, done.stderr) == (0, b"")
    geo = place(run, "plan", "--json", path)
    assert (geo["epsg"], geo["epsg_vertical"]) == (25832, 5783)


def test_an_image_without_georeference(run, save):
    assert place(run, "plan", "--json", save([Image(6, 6)])) == {
        "transform": None, "epsg": None, "epsg_vertical": None, "wkt": None}


def test_the_page_for_people(run, plain, save, tmp_path):
    done = run("read", "-v", "--window", "2,3,4,5", plain, str(tmp_path / "b.npy"))
    assert done.returncode == 0
    assert re.search(r"^  Transform     440840, 60, 0, 3751140, 0, -60$", done.stdout, re.MULTILINE)
    assert re.search(r"^  CRS           EPSG:26711", done.stdout, re.MULTILINE)
    done = run("read", "-v", save([Image(6, 6)], name="c.tif"), str(tmp_path / "c.npy"))
    assert "Transform" not in done.stdout and "CRS" not in done.stdout


def test_what_read_says_convert_takes(run, raster, tmp_path):
    """The report has what cog needs for the same place."""
    path = raster(np.arange(6000, dtype="uint16").reshape(1, 60, 100), transform=TRANSFORMS[0], crs="EPSG:32632")
    geo = place(run, "read", "--json", "--window", "10,20,30,15", path, str(tmp_path / "b.npy"))
    transform = ",".join(map(repr, geo["transform"]))
    assert run("cog", "--epsg", str(geo["epsg"]), "--transform", transform, str(tmp_path / "b.npy"),
               str(tmp_path / "c.tif")).returncode == 0
    with rasterio.open(path) as one, rasterio.open(tmp_path / "c.tif") as two:
        window = Window(10, 20, 30, 15)
        assert two.transform == one.window_transform(window) and two.crs == one.crs
        np.testing.assert_array_equal(two.read(), one.read(window=window))


@pytest.mark.parametrize("out", ["b.tif", "b.TIFF", "b.tiff"])
def test_a_tiff_as_out_points_to_convert(run, plain, tmp_path, out):
    done = run("read", plain, out, cwd=tmp_path)
    assert done.returncode == 2 and f"not '{out}'; 'terrazzo convert' writes a TIFF" in done.stderr
