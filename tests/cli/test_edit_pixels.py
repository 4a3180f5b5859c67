# SPDX-License-Identifier: Apache-2.0
"""Options of terrazzo convert and cog that change pixels. NumPy and rasterio say what the result must be; where pixels
are resampled, terrazzo read of the whole result does."""

import itertools
import json
import pathlib

import numpy as np
import pytest
import rasterio
import rasterio.warp
import tifffile
from rasterio.enums import ColorInterp, MaskFlags

from conftest import call, least_memory
from test_convert import PLACE, check, co, read
from test_memory import MIB, measure

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
TILES = {"tiled": True, "blockxsize": 48, "blockysize": 32}
LAYOUTS = {"strips": {}, "tiles": TILES | {"interleave": "pixel", "compress": "deflate"},
           "planes": TILES | {"interleave": "band", "compress": "lzw"}}
SMALL = ["--co", "BLOCKSIZE=64"]
HEIGHT, WIDTH = 150, 170


def noise(dtype="uint16", bands=3, height=HEIGHT, width=WIDTH, least=0, most=250, seed=4):
    """Every pixel is another one."""
    return np.random.default_rng(seed).integers(least, most, (bands, height, width), endpoint=True).astype(dtype)


@pytest.fixture
def edit(tmp_path):
    """Runs convert, or cog; returns the path of the result and the report, which says what standard error says."""
    def run_edit(path, *arguments, command="convert", name="out.tif", quiet=True, **options):
        out = str(tmp_path / name)
        done = call(command, "--json", "--no-sync", "--overwrite", *arguments, path, out, **options)
        assert done.returncode == 0, done.stderr
        assert not quiet or done.stderr == "", done.stderr
        answer = check(done.stdout)
        for warning in answer["warnings"]:
            assert warning["message"] in done.stderr
        answer["told"] = done.stderr
        return out, answer
    return run_edit


@pytest.fixture
def refuse(tmp_path):
    """Runs convert, or cog, which must fail without a file; returns the message."""
    def run_refused(path, *arguments, command="convert"):
        out = tmp_path / "refused.tif"
        done = call(command, *arguments, path, str(out))
        assert (done.returncode, done.stdout) == (1, "") and done.stderr.startswith("error: "), done.stderr
        assert not out.exists()
        return done.stderr[len("error: "):]
    return run_refused


def read_by_us(path, tmp_path, *arguments):
    """The pixels that terrazzo read gives, as (bands, rows, columns)."""
    done = call("read", "--overwrite", *arguments, path, str(tmp_path / "read.npy"))
    assert done.returncode == 0, done.stderr
    array = np.load(tmp_path / "read.npy")
    return array.reshape(-1, *array.shape[-2:])


def mask_of(path):
    with rasterio.open(path) as file:
        return file.dataset_mask()


def nodata_text(path):
    with tifffile.TiffFile(path) as file:
        tag = file.pages[0].tags.get("GDAL_NODATA")
        return tag.value.strip() if tag else None


# Windows and bands ------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("window", [(0, 0, WIDTH, HEIGHT), (0, 0, 1, 1), (WIDTH - 1, HEIGHT - 1, 1, 1),
                                    (47, 31, 50, 34),
                                    (48, 32, 48, 32), (3, 5, 160, 140), (0, 149, 170, 1)])
def test_a_window_is_a_slice(edit, raster, layout, window):
    array = noise()
    x, y, width, height = window
    out, answer = edit(raster(array, **LAYOUTS[layout], **PLACE), "--window", ",".join(map(str, window)))
    np.testing.assert_array_equal(read(out), array[:, y:y + height, x:x + width])
    assert answer["size"] == [width, height]
    with rasterio.open(out) as file:
        assert file.transform == PLACE["transform"] @ rasterio.Affine.translation(x, y)


@pytest.mark.parametrize("window", ["-1,0,5,5", "0,-1,5,5", "166,0,5,5", "0,146,5,5", "170,0,1,1", "0,0,171,150",
                                    "4294967295,0,4294967295,1"])
def test_a_window_outside(raster, refuse, window):
    assert "reaches beyond the image of 170 x 150" in refuse(raster(noise()), "--window", window)


def test_a_bounding_box_goes_outward_to_whole_pixels(edit, raster):
    array = noise()
    path = raster(array, **PLACE)  # pixels of 30 m from 500000, 5200000
    out, answer = edit(path, "--bbox", "500301,5198999,500899,5199701")
    assert not answer["clipped"]
    np.testing.assert_array_equal(read(out), array[:, 9:34, 10:30])
    with rasterio.open(out) as file:
        assert file.bounds == (500300, 5198980, 500900, 5199730)
    out, answer = edit(path, "--bbox", "0,0,500300,9999999", quiet=False)
    np.testing.assert_array_equal(read(out), array[:, :, :10])
    assert answer["clipped"] and "warning: " in answer["told"] and "clipped" in answer["told"]


def test_a_bounding_box_in_another_crs(edit, raster, features):
    if features["proj"] is None:
        pytest.skip("built without PROJ")
    array = noise()
    box = rasterio.warp.transform_bounds("EPSG:32632", "EPSG:4326", 500600, 5199000, 501500, 5199700, densify_pts=21)
    out, _ = edit(raster(array, **PLACE), "--bbox", ",".join(map(repr, box)), "--bbox-crs", "EPSG:4326")
    with rasterio.open(out) as file:
        left, bottom, right, top = file.bounds
        window = file.window(*file.bounds)
        x, y = round((left - 500000) / 30), round((5200000 - top) / 30)
        assert left <= 500600 < left + 90 and right - 90 < 501500 <= right
        assert bottom <= 5199000 < bottom + 90 and top - 90 < 5199700 <= top
    np.testing.assert_array_equal(read(out), array[:, y:y + round(window.height), x:x + round(window.width)])


def test_bounding_boxes_that_are_refused(raster, refuse, features):
    path = raster(noise(), **PLACE)
    assert "--bbox" in refuse(path, "--bbox", "0,0,1,1")
    assert "--strict" in refuse(path, "--strict", "--bbox", "0,0,500300,9999999")
    assert "use --window" in refuse(raster(noise(), name="no.tif"), "--bbox", "0,0,1,1")
    turned = rasterio.Affine(30, 5, 500000, -5, -30, 5200000)
    assert "use --window" in refuse(raster(noise(), name="t.tif", transform=turned), "--bbox",
                                    "500300,5198990,500900,5199700")
    assert "nonsense" in refuse(path, "--bbox", "500300,5198990,500900,5199700", "--bbox-crs", "nonsense")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("options, bands", [
    (["4,3,2"], [3, 2, 1]), (["2"], [1]), (["1-3"], [0, 1, 2]), (["5-5,1-2"], [4, 0, 1]), (["1,1,1"], [0, 0, 0]),
    (["red,nir"], [0, 3]), (["nir,2", "red", "1-2"], [3, 1, 0, 0, 1]), (["1-5"], [0, 1, 2, 3, 4]),
    (["1-5,1-5,1-5"], [0, 1, 2, 3, 4] * 3)])
def test_bands_are_picked_in_their_order(edit, raster, layout, options, bands):
    array = noise(bands=5)
    path = raster(array, photometric="minisblack", **LAYOUTS[layout])
    names = ["red", "green", "blue", "nir", "5"]
    with rasterio.open(path, "r+") as file:
        for band, name in enumerate(names, 1):
            file.set_band_description(band, name)
            file.update_tags(band, wavelength=str(band * 100))
            file.set_band_unit(band, f"unit {band}")
        file.scales, file.offsets = [1, 2, 3, 4, 5], [9, 8, 7, 6, 5]
    out, answer = edit(path, *itertools.chain(*(("--bands", text) for text in options)))
    assert answer["bands"] == len(bands)
    with rasterio.open(out) as file:
        np.testing.assert_array_equal(file.read(), array[bands])
        assert list(file.descriptions) == [names[band] for band in bands]
        assert list(file.units) == [f"unit {band + 1}" for band in bands]
        assert list(file.scales) == [band + 1 for band in bands] and list(file.offsets) == [9 - band for band in bands]
        for number, band in enumerate(bands, 1):
            assert file.tags(number)["wavelength"] == str((band + 1) * 100)


def test_bands_that_there_are_not(raster, refuse):
    path = raster(noise())
    assert "there is no band 4; the file has 3" in refuse(path, "--bands", "1,4")
    assert "there is no band 4; the file has 3" in refuse(path, "--bands", "2-5")
    assert "no band has the description 'nir'" in refuse(path, "--bands", "1", "--bands", "nir")


@pytest.mark.parametrize("bands, colors", [
    ("3,2,1", ["blue", "green", "red"]), ("1,2,3", ["red", "green", "blue"]), ("1,4", ["red", "alpha"]),
    ("4", ["alpha"]), ("3,2,1,4", ["blue", "green", "red", "alpha"]), ("1,1", ["red", "red"]),
    ("1-4", ["red", "green", "blue", "alpha"])])
def test_colours_follow_their_bands(edit, raster, bands, colors):
    path = raster(noise("uint8", 4), photometric="rgb", alpha="yes")
    out, _ = edit(path, "--bands", bands)
    with rasterio.open(out) as file:
        assert [color.name for color in file.colorinterp] == colors


# Sizes ------------------------------------------------------------------------------------------


def nearest(array, width, height):
    rows = ((np.arange(height) + 0.5) * array.shape[1] / height).astype(int)
    columns = ((np.arange(width) + 0.5) * array.shape[2] / width).astype(int)
    return array[:, rows][:, :, columns]


@pytest.mark.parametrize("text, size", [("85x75", (85, 75)), ("33x0", (33, 29)), ("0x50", (57, 50)),
                                        ("340x300", (340, 300)),
                                        ("1x1", (1, 1)), ("171x149", (171, 149)), ("170x150", (170, 150))])
def test_nearest_takes_the_pixel_under_the_centre(edit, raster, text, size):
    array = noise()
    out, answer = edit(raster(array, **TILES, **PLACE), "--size", text)
    assert tuple(answer["size"]) == size
    np.testing.assert_array_equal(read(out), nearest(array, *size))
    with rasterio.open(out) as file:
        assert file.transform.almost_equals(PLACE["transform"] @ rasterio.Affine.scale(170 / size[0], 150 / size[1]))


METHODS = ["average", "nearest", "bilinear", "cubic", "lanczos", "gauss", "rms", "mode", "min", "max", "median"]


@pytest.mark.parametrize("overviews", [None, [2, 4]])
@pytest.mark.parametrize("method", METHODS)
def test_resampled_pixels_are_those_of_read(edit, raster, tmp_path, method, overviews):
    array = noise(least=90, most=110)
    path = raster(array, nodata=100, overviews=overviews, **TILES, **PLACE)
    for window, size in (("3,5,160,140", "61x47"), ("0,0,170,150", "40x35"), ("10,20,30,40", "77x99")):
        arguments = ["--window", window, "--size", size, "--resampling", method, "--bands", "3,1"]
        out, _ = edit(path, *arguments)
        least = least_memory("convert", *arguments, path, out)
        np.testing.assert_array_equal(read(out), read_by_us(path, tmp_path, *arguments))
        small, _ = edit(path, "--memory", least, *arguments, name="small.tif")
        assert pathlib.Path(small).read_bytes() == pathlib.Path(out).read_bytes()


@pytest.mark.parametrize("text, size, pixel", [("60", (85, 75), (60, 60)), ("75,100", (68, 45), (75, 100)),
                                               ("40", (128, 113), (40, 40)), ("30", (170, 150), (30, 30)),
                                               ("99999", (1, 1), (99999, 99999)), ("7.5", (680, 600), (7.5, 7.5))])
def test_resolution_is_kept_and_the_size_rounded(edit, raster, text, size, pixel):
    array = noise()
    out, answer = edit(raster(array, **TILES, **PLACE), "--res", text)
    assert tuple(answer["size"]) == size
    np.testing.assert_array_equal(read(out), nearest(array, *size))
    with rasterio.open(out) as file:
        assert file.transform == rasterio.Affine(pixel[0], 0, 500000, 0, -pixel[1], 5200000)


def test_a_resolution_of_an_image_that_is_south_up(edit, raster):
    south_up = rasterio.Affine(30, 0, 500000, 0, 30, 5200000)
    out, _ = edit(raster(noise(), transform=south_up, crs="EPSG:32632"), "--res", "60")
    with rasterio.open(out) as file:
        assert file.transform == rasterio.Affine(60, 0, 500000, 0, 60, 5200000)


def test_resolutions_that_are_refused(raster, refuse):
    turned = rasterio.Affine(30, 5, 500000, -5, -30, 5200000)
    assert "--res: the image has no transform; use --size" in refuse(raster(noise()), "--res", "10")
    assert "rotated" in refuse(raster(noise(), transform=turned), "--res", "10")
    assert "4294967295" in refuse(raster(noise(), **PLACE), "--res", "1e-9")
    assert "larger than a file can be" in refuse(raster(noise(), **PLACE), "--res", "2e-6")


def test_a_mask_is_resampled_with_the_pixels(edit, raster, tmp_path):
    array, mask = noise(), np.where(noise(bands=1)[0] > 60, 255, 0).astype("uint8")
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        path = raster(array, mask=mask, **TILES)
    for size in ("85x75", "61x47", "300x299"):
        out, answer = edit(path, "--size", size)
        width, height = map(int, size.split("x"))
        assert answer["mask"]
        np.testing.assert_array_equal(mask_of(out), nearest(mask[None], width, height)[0])
        np.testing.assert_array_equal(read(out), nearest(array, width, height))


# Types and scales -------------------------------------------------------------------------------


def cast(values, dtype):
    """Rounds to nearest, ties away from zero, saturates; NaN becomes 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.dtype(dtype).kind == "f":
            return values.astype(dtype)
        values, info = values.astype("f8"), np.iinfo(dtype)
        values = np.trunc(values + np.copysign(0.5, values))
        return np.nan_to_num(np.clip(values, info.min, info.max), nan=0).astype(dtype)


NUMBERS = [0, 0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 128, 254.5, 255.5, 256, -128.5, -129, 32767.5, 65535.5, 70000, -70000,
           1e9,
           -1e9, np.nan, np.inf, -np.inf, 3e38, 0.1, 99.4999]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64"])
@pytest.mark.parametrize("source", ["float64", "float32"])
def test_casts_of_floats_saturate_and_round(edit, raster, source, dtype):
    array = np.resize(np.array(NUMBERS, source), (1, 20, 30))
    out, answer = edit(raster(array), "--dtype", dtype)
    assert answer["dtype"] == dtype
    np.testing.assert_array_equal(read(out), cast(array, dtype))


@pytest.mark.parametrize("source, dtype", [("int16", "uint8"), ("uint16", "int16"), ("int32", "uint16"),
                                           ("uint8", "float32"),
                                           ("uint32", "int32"), ("int16", "float64"), ("uint8", "uint16")])
def test_casts_of_integers_saturate(edit, raster, source, dtype):
    info = np.iinfo(source)
    array = noise("int64", 2, least=info.min, most=info.max).astype(source)
    out, _ = edit(raster(array), "--dtype", dtype, "--window", "1,2,100,90")
    np.testing.assert_array_equal(read(out), cast(array[:, 2:92, 1:101].astype("f8"), dtype))


@pytest.mark.parametrize("dtype", ["uint64", "int64"])
def test_large_integers_stay_exact(edit, raster, dtype):
    array = (np.arange(600, dtype=dtype) + np.array(2**62 + 1, dtype)).reshape(1, 20, 30)
    out, _ = edit(raster(array), "--window", "1,0,29,20", "--bands", "1,1")
    np.testing.assert_array_equal(read(out), array[[0, 0], :, 1:])
    out, _ = edit(raster(array), "--size", "15x10")
    np.testing.assert_array_equal(read(out), nearest(array, 15, 10))


def test_complex_becomes_its_real_part(edit, raster):
    array = (noise("float32", 1) + 1j * noise("float32", 1, seed=8)).astype("complex64")
    out, _ = edit(raster(array), "--dtype", "int16")
    np.testing.assert_array_equal(read(out), array.real.astype("int16"))


RANGES = [("0,250,0,100", "uint16", (0, 250, 0, 100)), ("0,250", "uint8", (0, 250, 0, 255)),
          ("0,250", "uint16", (0, 250, 0, 65535)), ("0,250", "int16", (0, 250, -32768, 32767)),
          ("0,250", "float32", (0, 250, 0, 1)), ("50,200", "uint8", (50, 200, 0, 255)),
          ("0,250,255,0", "uint8", (0, 250, 255, 0)), ("250,0,0,255", "uint8", (250, 0, 0, 255)),
          ("100,120,10,20", "uint8", (100, 120, 10, 20)), ("0,1,0,0.0001", "float64", (0, 1, 0, 0.0001)),
          ("-1e3,1e3,5,5", "uint8", (-1e3, 1e3, 5, 5))]


@pytest.mark.parametrize("text, dtype, ranges", RANGES)
def test_scales_are_linear_and_only_the_type_clamps(edit, raster, text, dtype, ranges):
    array = noise()
    smin, smax, dmin, dmax = ranges
    out, _ = edit(raster(array, **TILES), "--dtype", dtype, f"--scale={text}", "--bands", "2,1")
    scale = (dmax - dmin) / (smax - smin)
    wanted = array[[1, 0]] * scale + (dmin - smin * scale)
    if np.dtype(dtype).kind == "f":
        np.testing.assert_allclose(read(out), wanted, rtol=1e-6)
    else:
        found = read(out)
        clear = np.abs(wanted - np.floor(wanted) - 0.5) > 1e-6  # a tie may fall to either side
        np.testing.assert_array_equal(found[clear], cast(wanted, dtype)[clear])
        assert np.abs(found.astype("f8") - cast(wanted, dtype)).max() <= 1


def test_scale_auto_is_of_each_band_and_of_the_window(edit, raster):
    array = noise("int16", 3, least=-500, most=500)
    array[1] //= 4
    array[2] = 7  # one value becomes the least one
    array[:, 0, 0] = 30000  # outside the window
    for memory in ([], ["--memory", "4M"]):
        out, _ = edit(raster(array, **TILES), "--scale", "auto", "--dtype", "uint8", "--window", "0,1,170,149", *memory)
        found = read(out)
        for band, values in zip(found, array[:, 1:].astype("f8")):
            low, high = values.min(), values.max()
            wanted = (values - low) * (255 / (high - low) if high > low else 0)
            assert np.abs(band - wanted).max() <= 0.5 + 1e-6
        assert found[:2].min() == 0 and found[:2].max() == 255 and not found[2].any()


def test_scale_auto_leaves_out_what_is_not_valid(edit, raster):
    """Masked pixels, and those that are infinite."""
    array = noise("float32", 2, least=10, most=90)
    array[:, :20], array[0, 50, 50], array[1, 60] = 1000, np.inf, np.nan
    mask = np.where(array[0] == 1000, 0, 255).astype("uint8")
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        path = raster(array, mask=mask, **TILES)
    out, _ = edit(path, "--scale", "auto", "--dtype", "uint8")
    wanted = np.nan_to_num(np.clip((array - 10) * 255 / 80, 0, 255), nan=0)
    assert np.abs(read(out) - wanted).max() <= 0.5 + 1e-4
    np.testing.assert_array_equal(mask_of(out), mask)


def test_scale_auto_of_a_tile_that_needs_most_of_the_memory(edit, raster, tmp_path):
    array = noise("uint8", 1, 3000, 1000, least=10, most=90)
    path = raster(array, compress="deflate", zlevel=1, blockysize=3000)
    arguments = ["--scale", "auto", "--co", "COMPRESS=DEFLATE"]
    out, _ = edit(path, *arguments)
    assert np.abs(read(out) - (array - 10.0) * 255 / 80).max() <= 0.5 + 1e-4
    small, _ = edit(path, *arguments, "--memory", least_memory("convert", *arguments, path, out), name="small.tif")
    assert pathlib.Path(small).read_bytes() == pathlib.Path(out).read_bytes()


@pytest.mark.parametrize("scale", ["auto", "0,250", "0,250,10,20"])
def test_scales_keep_nodata(edit, raster, scale):
    array = noise("int16", 2)
    array[:, :30] = -32768
    out, _ = edit(raster(array, nodata=-32768, **TILES), "--scale", scale)
    found = read(out)
    assert (found[array == -32768] == -32768).all()
    assert nodata_text(out) == "-32768"
    if scale == "0,250,10,20":
        valid = array != -32768
        np.testing.assert_allclose(found[valid], 10 + array[valid] / 25, atol=0.501)


def test_scale_auto_of_nothing_but_nodata(edit, raster):
    array = np.full((1, 20, 30), np.nan, "float32")
    out, _ = edit(raster(array, nodata=np.nan), "--scale", "auto")
    assert np.isnan(read(out)).all()
    out, _ = edit(raster(array), "--scale", "auto", "--dtype", "uint8")
    assert not read(out).any()


def test_a_scale_with_another_nodata(edit, raster):
    """Pixels that were nodata become the new value, as gdal_translate has it."""
    array = noise("int16", 1, least=1)
    array[:, :30] = -1
    out, _ = edit(raster(array, nodata=-1, **TILES), "--scale", "0,250", "--dtype", "uint8", "--nodata", "0")
    found = read(out)
    assert not found[:, :30].any() and found[:, 30:].all() and nodata_text(out) == "0"


# Nodata -----------------------------------------------------------------------------------------


BIG = 2**53 + 1
VALUES = [("uint8", 7, 9), ("int16", -32768, 0), ("float32", -9999, 0.5), ("uint64", 2**64 - 1, BIG),
          ("int64", -2**63 + 1, -BIG),
          ("uint64", BIG, 2**64 - 2), ("float64", 1e300, -1e-300), ("float32", np.nan, 5), ("float32", 5, np.nan),
          ("int8", -128, 127)]


def spelled(value):
    return "nan" if value != value else repr(value)


def is_value(array, value):
    return np.isnan(array) if value != value else array == np.array(value, array.dtype)


@pytest.mark.parametrize("value, code", [(2**53, 0), (BIG, 1)])
def test_lost_tiles_are_filled_exactly_or_not_at_all(run, raster, tmp_path, value, code):
    path = raster(noise("uint64", 1, most=4), nodata=None, **TILES)
    done = run("convert", "--salvage", "--nodata", str(value), path, str(tmp_path / "b.tif"))
    assert done.returncode == code and ("beyond 2^53" in done.stderr) == bool(code)


@pytest.mark.parametrize("dtype, old, new", VALUES)
def test_nodata_is_declared_or_replaced(edit, raster, dtype, old, new):
    array = noise(dtype, 2, most=4)
    array[:, 40:90, 20:70] = old
    path = raster(array, nodata=None, **TILES)
    with tifffile.TiffFile(path) as file:
        assert "GDAL_NODATA" not in file.pages[0].tags
    declared, _ = edit(path, f"--nodata={spelled(old)}", name="declared.tif")
    np.testing.assert_array_equal(read(declared), array)
    assert nodata_text(declared) == spelled(old)
    other, _ = edit(declared, f"--nodata={spelled(new)}")
    np.testing.assert_array_equal(read(other), array)
    assert nodata_text(other) == spelled(new)
    replaced, _ = edit(declared, f"--nodata={spelled(new)}", "--replace-nodata", "--bands", "2,1", "--window",
                       "1,2,99,99")
    assert nodata_text(replaced) == spelled(new)
    wanted = array.copy()
    wanted[is_value(array, old)] = new
    np.testing.assert_array_equal(read(replaced), wanted[::-1, 2:101, 1:100])
    none, _ = edit(declared, "--nodata", "none")
    np.testing.assert_array_equal(read(none), array)
    assert nodata_text(none) is None


def test_nodata_is_replaced_after_a_cast(edit, raster):
    array = noise("float32", 2)
    array[:, 40:90, 20:70] = -9999
    out, _ = edit(raster(array, nodata=-9999, **TILES), "--nodata", "255", "--replace-nodata", "--dtype", "uint8")
    np.testing.assert_array_equal(read(out), np.where(array == -9999, 255, array).astype("uint8"))
    out, answer = edit(raster(array, nodata=-9999, **TILES), "--dtype", "uint8", quiet=False)
    np.testing.assert_array_equal(read(out), np.where(array == -9999, 0, array).astype("uint8"))
    assert nodata_text(out) is None and "nodata -9999 is not a value of uint8" in answer["warnings"][0]["message"]


@pytest.mark.parametrize("value", ["256", "-1", "0.5", "nan", "inf"])
def test_nodata_that_the_type_does_not_have(raster, refuse, value):
    refuse(raster(noise("uint8")), f"--nodata={value}")


def test_nodata_that_is_not_there_to_be_replaced(raster, refuse):
    assert "the file declares no nodata" in refuse(raster(noise()), "--nodata", "1", "--replace-nodata")


def test_resampling_leaves_nodata_out_and_replaces_it(edit, raster):
    array = noise("float32", 1)
    array[0, :64, :64] = -9999
    array[0, 100, 100] = -9999
    out, _ = edit(raster(array, nodata=-9999), "--size", "85x75", "--resampling", "average", "--nodata", "-1",
                  "--replace-nodata")
    blocks = array.reshape(75, 2, 85, 2).transpose(0, 2, 1, 3).reshape(75, 85, 4).astype("f8")
    blocks[blocks == -9999] = np.nan
    with pytest.warns(RuntimeWarning):
        wanted = np.nan_to_num(np.nanmean(blocks, axis=2), nan=-1)
    np.testing.assert_allclose(read(out)[0], wanted, rtol=1e-6)


# Masks and alpha --------------------------------------------------------------------------------


@pytest.fixture
def masked(raster):
    """A file with a mask of its own, and its pixels and mask."""
    def make(dtype="uint8", bands=3, name="masked.tif", **profile):
        array = noise(dtype, bands)
        mask = np.where(noise("uint8", 1, seed=9)[0] > 60, 255, 0).astype("uint8")
        with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
            return raster(array, name=name, mask=mask, **TILES, **profile), array, mask
    return make


def flags(path):
    with rasterio.open(path) as file:
        return file.mask_flag_enums[0]


def test_a_mask_is_cut_with_the_pixels(edit, masked):
    path, array, mask = masked()
    out, answer = edit(path, "--window", "3,5,160,140", "--bands", "3")
    assert answer["mask"] and flags(out) == [MaskFlags.per_dataset]
    np.testing.assert_array_equal(mask_of(out), mask[5:145, 3:163])
    np.testing.assert_array_equal(read(out), array[2:, 5:145, 3:163])


def test_a_mask_is_left_out(edit, masked):
    path, array, _ = masked()
    out, answer = edit(path, "--mask-from", "none")
    assert not answer["mask"] and flags(out) == [MaskFlags.all_valid]
    np.testing.assert_array_equal(read(out), array)


@pytest.mark.parametrize("dtype, nodata", [("uint8", 3), ("int16", -5), ("float32", np.nan), ("uint64", BIG),
                                           ("float64", 0.5)])
def test_a_mask_of_nodata(edit, raster, dtype, nodata):
    """0 where all bands are nodata."""
    array = noise(dtype, 2, least=10)
    array[:, 10:60, 20:90] = nodata
    array[0, 100:] = nodata
    declared, _ = edit(raster(array, **TILES), f"--nodata={spelled(nodata)}", name="declared.tif")
    out, answer = edit(declared, "--mask-from", "nodata", "--window", "5,5,150,140")
    assert answer["mask"] and nodata_text(out) is None
    valid = ~is_value(array, nodata).all(axis=0)[5:145, 5:155]
    np.testing.assert_array_equal(mask_of(out) != 0, valid)
    np.testing.assert_array_equal(read(out), array[:, 5:145, 5:155])


def test_a_mask_of_nodata_that_is_declared_now(edit, raster):
    array = noise("uint8", 1, most=3)
    out, _ = edit(raster(array), "--nodata", "2", "--mask-from", "nodata")
    np.testing.assert_array_equal(mask_of(out), np.where(array[0] == 2, 0, 255))
    assert nodata_text(out) is None


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("bands", [2, 4])
def test_alpha_becomes_the_mask(edit, raster, dtype, bands):
    array = noise(dtype, bands)
    array[-1] = np.where(array[-1] > 100, np.iinfo(dtype).max, np.where(array[-1] > 50, 1, 0))
    path = raster(array, alpha="yes", photometric="rgb" if bands == 4 else "minisblack", **TILES)
    out, answer = edit(path, "--mask-from", "alpha", "--window", "1,1,160,140")
    assert answer["mask"] and answer["bands"] == bands - 1
    np.testing.assert_array_equal(read(out), array[:-1, 1:141, 1:161])
    np.testing.assert_array_equal(mask_of(out) != 0, array[-1, 1:141, 1:161] != 0)
    with rasterio.open(out) as file:
        assert ColorInterp.alpha not in file.colorinterp and file.mask_flag_enums[0] == [MaskFlags.per_dataset]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32"])
def test_a_band_becomes_the_mask(edit, raster, layout, dtype):
    """Of its number in IN, whatever the bands of OUT; values are cast to uint8."""
    array = noise(dtype, 3, least=0 if dtype.startswith("u") else -3, most=3)
    array[1, :9] = 300 if dtype != "uint8" else 255
    if dtype == "float32":
        array[1, 20:30] = 0.3
        array[1, 30:40] = np.nan
    path = raster(array, **LAYOUTS[layout])
    for bands, picked in (["--bands", "3"], [2]), ([], [0, 1, 2]), (["--bands", "2,1"], [1, 0]):
        out, _ = edit(path, "--mask-from", "2", *bands)
        np.testing.assert_array_equal(read(out), array[picked])
        np.testing.assert_array_equal(mask_of(out), np.where(cast(array[1].astype("f8"), "uint8") != 0, 255, 0))


def test_masks_that_cannot_be_made(raster, refuse):
    path = raster(noise())
    assert "the image has no alpha band" in refuse(path, "--mask-from", "alpha")
    assert "the image has no nodata value" in refuse(path, "--mask-from", "nodata")
    assert "there is no band 4; the file has 3" in refuse(path, "--mask-from", "4")
    rgba = raster(noise("uint8", 4), name="rgba.tif", alpha="yes", photometric="rgb")
    assert "no other band is left" in refuse(rgba, "--mask-from", "alpha", "--bands", "4")
    number = raster(noise("complex64", 1), name="c.tif", nodata=3)
    assert "complex" in refuse(number, "--mask-from", "nodata")


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("bands", [3, 1])
@pytest.mark.parametrize("of", ["mask", "nodata", "nothing"])
@pytest.mark.parametrize("interleave", ["PIXEL", "BAND"])
def test_alpha_is_added(edit, raster, masked, dtype, bands, of, interleave):
    if of == "mask":
        path, array, mask = masked(dtype, bands)
    else:
        array = noise(dtype, bands)
        array[:, 10:60, 20:90] = 251
        array[0, 100:] = 251
        mask = np.where((array == 251).all(axis=0), 0, 255) if of == "nodata" else np.full((HEIGHT, WIDTH), 255)
        path = raster(array, nodata=251 if of == "nodata" else None, **TILES)
    out, answer = edit(path, "--add-alpha", "--window", "3,5,160,140", "--co", f"INTERLEAVE={interleave}")
    assert answer["bands"] == bands + 1 and not answer["mask"]
    with rasterio.open(out) as file:
        found = file.read()
        assert file.colorinterp[-1] == ColorInterp.alpha
    np.testing.assert_array_equal(found[:-1], array[:, 5:145, 3:163])
    np.testing.assert_array_equal(found[-1], np.where(mask[5:145, 3:163], np.iinfo(dtype).max, 0))


def test_alpha_that_cannot_be_added(raster, refuse):
    assert "band 4 is alpha already" in refuse(raster(noise("uint8", 4), alpha="yes", photometric="rgb"), "--add-alpha")
    for dtype in "int16", "float32", "complex64":
        assert "is for uint8 and uint16, not for " in refuse(raster(noise(dtype)), "--add-alpha")


@pytest.mark.parametrize("scale, nodata", [("0,250", -9999), ("100,200", 0), ("0,250,0,100", 50)])
@pytest.mark.parametrize("option", [["--add-alpha"], ["--mask-from", "nodata"]])
def test_valid_pixels_are_those_of_the_source(edit, raster, scale, nodata, option):
    """Also where nodata is not a value of the new type, and where valid pixels become the nodata value."""
    array = noise("float32", 2, least=1)
    array[array == nodata] += 1
    array[:, 10:60, 20:90] = nodata
    out, _ = edit(raster(array, nodata=nodata, **TILES), "--scale", scale, "--dtype", "uint8", *option, quiet=False)
    valid = mask_of(out) if option[0] == "--mask-from" else read(out)[-1]
    np.testing.assert_array_equal(valid != 0, (array != nodata).any(axis=0))


# Lossy codecs and COGs --------------------------------------------------------------------------


def smooth(bands=3, height=260, width=300):
    y, x = np.mgrid[:height, :width]
    waves = [128 + 60 * np.sin(x / 40 + band) + 60 * np.cos(y / 30 - band) for band in range(bands)]
    return np.stack(waves).astype("uint8")


def test_jpeg_of_rgba_and_a_scale(edit, raster):
    """Alpha becomes the mask of a JPEG COG. A scale is of all bands that are left."""
    array = smooth(4)
    array[3] = np.where(noise("uint8", 1, 260, 300)[0] > 60, 255, 0)
    path = raster(array, alpha="yes", photometric="rgb", **TILES)
    for window in ["0,0,300,260"], ["3,5,290,250"]:
        x, y, width, height = map(int, window[0].split(","))
        out, answer = edit(path, "-p", "jpeg", "--co", "QUALITY=95", *SMALL, "--scale", "0,250,100,150", "--window",
                           *window,
                           command="cog")
        assert answer["bands"] == 3 and answer["mask"]
        wanted = 100 + array[:, y:y + height, x:x + width] / 5
        assert np.abs(read(out) - wanted[:3]).mean() < 2
        np.testing.assert_array_equal(mask_of(out), array[3, y:y + height, x:x + width])


def test_a_lossy_cog_masks_nodata_of_the_source(edit, raster):
    """Not the pixels that a scale makes nodata."""
    array = noise("uint16", 3, 260, 300, most=2000)
    array[:, 20:100, 30:90] = 0
    array[:, 150:200] = 1  # becomes 0
    path = raster(array, nodata=0, photometric="rgb", **TILES)
    out, answer = edit(path, "-p", "jpeg", *SMALL, "--scale", "0,2000", "--dtype", "uint8", command="cog", quiet=False)
    assert answer["mask"] and nodata_text(out) is None and "would not last in JPEG" in answer["told"]
    np.testing.assert_array_equal(mask_of(out), np.where(array.any(axis=0), 255, 0))


@pytest.mark.parametrize("of", ["mask", "nodata", "nothing"])
@pytest.mark.parametrize("profile", ["jpeg", "webp"])
def test_alpha_is_added_to_a_lossy_cog(edit, raster, of, profile):
    array = smooth()
    mask = np.where(noise("uint8", 1, 260, 300)[0] > 60, 255, 0).astype("uint8")
    array[:, mask == 0] = 1
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        path = raster(array, mask=mask if of == "mask" else None, nodata=1 if of == "nodata" else None, **TILES)
    out, answer = edit(path, "-p", profile, *SMALL, "--add-alpha", command="cog", quiet=False)
    assert (answer["bands"], answer["mask"]) == ((3, True) if profile == "jpeg" else (4, False))
    assert answer["levels"] > 1 and nodata_text(out) is None
    np.testing.assert_array_equal(mask_of(out), mask if of != "nothing" else np.full_like(mask, 255))


def test_a_cog_of_everything(edit, raster, tmp_path):
    """Window, bands, size, scale, type, nodata, mask and description together."""
    array = noise("int16", 5, 400, 500, least=10, most=1000)
    array[:, 50:200, 60:260] = -1
    path = raster(array, nodata=-1, photometric="minisblack", **TILES, **PLACE)
    where = ["--window", "31,17,450,370", "--bands", "5,1-2", "--size", "225x185", "--resampling", "average"]
    out, answer = edit(path, *where, "--scale", "0,1000", "--dtype", "uint8", "--nodata", "0", "--mask-from", "nodata",
                       "--crs", "EPSG:25832", "--bounds", "0,0,2250,1850", "--tag", "MADE=here", "--description",
                       "1=first",
                       *SMALL, command="cog")
    assert (answer["size"], answer["bands"], answer["dtype"], answer["levels"]) == ([225, 185], 3, "uint8", 3)
    pixels = read_by_us(path, tmp_path, *where, "--dtype", "float64")
    wanted = np.where(pixels == -1, 0, np.clip(pixels * 0.255, 0, 255))
    with rasterio.open(out) as file:
        assert np.abs(file.read() - wanted).max() <= 0.5 + 1e-9
        np.testing.assert_array_equal(file.dataset_mask() != 0, (pixels != -1).any(axis=0))
        assert file.crs.to_epsg() == 25832 and file.bounds == (0, 0, 2250, 1850)
        assert file.tags()["MADE"] == "here" and file.descriptions[0] == "first"
    assert call("validate", out).returncode == 0


# Damaged tiles ----------------------------------------------------------------------------------


def damage(path, tiles, page=0):
    """Overwrites tiles of a file; returns their numbers."""
    with tifffile.TiffFile(path) as file:
        places = [(file.pages[page].dataoffsets[tile], file.pages[page].databytecounts[tile]) for tile in tiles]
    with open(path, "r+b") as file:
        for offset, size in places:
            file.seek(offset)
            file.write(b"\xff" * size)


def under(tiles, across, planes=1, height=HEIGHT, width=WIDTH):
    """Pixels of these tiles, for each plane."""
    found = np.zeros((planes, height, width), bool)
    for tile in tiles:
        plane, rest = divmod(tile, across * -(-height // 32))
        y, x = rest // across * 32, rest % across * 48
        found[plane, y:y + 32, x:x + 48] = True
    return found


DAMAGED = [1, 6, 7, 18]  # of 4 x 5


@pytest.fixture
def broken(raster):
    def make(dtype="uint8", tiles=DAMAGED, name="broken.tif", layout="tiles", bands=2, **profile):
        array = noise(dtype, bands, least=1, most=250)
        path = raster(array, name=name, **LAYOUTS[layout], **profile)
        damage(path, tiles)
        return path, array
    return make


@pytest.mark.parametrize("nodata", [None, 255])
@pytest.mark.parametrize("options", [
    [], ["--window", "5,7,150,140"], ["--window", "5,7,150,140", "--memory", "LEAST", "-j4"]])
@pytest.mark.parametrize("valid", [[], ["--add-alpha"]])
def test_salvage(edit, refuse, broken, tmp_path, nodata, options, valid):
    path, array = broken(nodata=nodata)
    assert "tile 1" in refuse(path, *(word for word in options if word not in ("--memory", "LEAST")))
    if "LEAST" in options:
        least = least_memory("convert", *options[:2], *valid, "--salvage", path, str(tmp_path / "b.tif"))
        options = [word if word != "LEAST" else least for word in options]
    out, answer = edit(path, "--salvage", *options, *valid, quiet=False)
    lost = under(DAMAGED, 4)[0]
    wanted = np.where(lost, nodata or 0, array).astype("uint8")
    if valid:
        wanted = np.concatenate([wanted, np.where(lost, 0, 255)[None]])
    if options:
        wanted = wanted[:, 7:147, 5:155]
    np.testing.assert_array_equal(read(out), wanted)
    assert answer["done"]["tiles_failed"] == len(DAMAGED)
    assert sorted(tile["tile"] for tile in answer["damaged"]) == DAMAGED
    assert answer["told"].count("warning: tile ") == 4 and "tile 18 of level 0 could not be read" in answer["told"]


def test_salvage_of_a_plane(edit, broken):
    """A pixel of which one band is lost is not valid."""
    tiles = [1, 26]  # 6 of the second plane
    path, array = broken(layout="planes", tiles=tiles)
    out, answer = edit(path, "--salvage", "--add-alpha", quiet=False)
    lost = under(tiles, 4, planes=2)
    np.testing.assert_array_equal(read(out), np.concatenate([np.where(lost, 0, array),
                                                             np.where(lost.any(axis=0), 0, 255)[None]]))
    assert answer["done"]["tiles_failed"] == 2


@pytest.mark.parametrize("nodata", [None, 255, 7])
@pytest.mark.parametrize("option", ["2", "alpha"])
def test_salvage_of_a_plane_that_is_the_mask(edit, raster, nodata, option):
    array = np.stack([noise("uint8", 1)[0], np.full((HEIGHT, WIDTH), 255, "uint8")])
    path = raster(array, nodata=nodata, alpha="yes", **LAYOUTS["planes"])
    damage(path, [20 + 5])
    out, answer = edit(path, "--salvage", "--mask-from", option, "--bands", "1", quiet=False)
    np.testing.assert_array_equal(mask_of(out), np.where(under([5], 4)[0], 0, 255))
    np.testing.assert_array_equal(read(out)[0], array[0])
    assert answer["done"]["tiles_failed"] == 1


@pytest.mark.parametrize("nodata", [None, 255, 7])
def test_salvage_of_the_mask_itself(edit, masked, nodata):
    path, array, mask = masked(compress="deflate", nodata=nodata)
    damage(path, [0], page=1)
    with tifffile.TiffFile(path) as file:
        height = file.pages[1].tags["TileLength"].value if file.pages[1].is_tiled else file.pages[1].rowsperstrip
        width = file.pages[1].tags["TileWidth"].value if file.pages[1].is_tiled else WIDTH
    out, answer = edit(path, "--salvage", quiet=False)
    mask[:height, :width] = 0
    with rasterio.open(out) as file:
        np.testing.assert_array_equal(read(out), array)
        np.testing.assert_array_equal(file.dataset_mask() if nodata is None else read_mask(out), mask)
    assert answer["done"]["tiles_failed"] == 1 and answer["damaged"][0]["of_mask"]


def read_mask(path):
    """The mask's own samples, as 0 and 255."""
    with tifffile.TiffFile(path) as file:
        mask = next(page for page in file.pages if page.subfiletype & 4).asarray()
    return np.where(mask, 255, 0)


@pytest.mark.parametrize("dtype, nodata", [("uint64", BIG), ("int64", -2**63 + 1), ("uint64", 2**64 - 1)])
@pytest.mark.parametrize("other", [None, 7, BIG + 2])
def test_salvage_with_large_nodata(edit, raster, dtype, nodata, other):
    array = noise(dtype, 1)
    path, _ = edit(raster(array), f"--nodata={nodata}", *co(["COMPRESS=DEFLATE", "TILED=YES", "BLOCKXSIZE=48",
                                                             "BLOCKYSIZE=32"]), name="large.tif")
    damage(path, [5])
    out, _ = edit(path, "--salvage", *([f"--nodata={other}", "--replace-nodata"] if other else []), quiet=False)
    np.testing.assert_array_equal(read(out), np.where(under([5], 4), np.array(other or nodata, dtype), array))


@pytest.mark.parametrize("method", ["nearest", "average"])
def test_salvage_of_a_resampled_image(edit, broken, method):
    path, array = broken(nodata=255)
    out, answer = edit(path, "--salvage", "--size", "85x75", "--resampling", method, "--add-alpha", quiet=False)
    assert answer["done"]["tiles_failed"] == len(DAMAGED)
    lost = under(DAMAGED, 4)[0].reshape(75, 2, 85, 2).any(axis=(1, 3))
    np.testing.assert_array_equal(read(out)[-1], np.where(lost, 0, 255))
    assert (read(out)[:2, lost] == 255).all()


def test_salvage_and_a_scale_by_what_is_left(edit, raster):
    array = noise("int16", 1, least=1000, most=2000)
    path = raster(array, **LAYOUTS["tiles"])
    damage(path, DAMAGED)
    out, _ = edit(path, "--salvage", "--scale", "auto", "--dtype", "uint8", quiet=False)
    found, lost = read(out)[0], under(DAMAGED, 4)[0]
    assert found[~lost].min() == 0 and found[~lost].max() == 255
    assert not found[lost].any()


@pytest.mark.parametrize("option", [["--add-alpha"], ["--mask-from", "nodata"]])
def test_salvage_with_a_scale(edit, broken, option):
    """Lost pixels are nodata, which is not scaled, and not valid."""
    path, array = broken(nodata=255)
    out, _ = edit(path, "--salvage", "--scale", "0,250,0,125", *option, quiet=False)
    lost = under(DAMAGED, 4)[0]
    valid = mask_of(out) if option[0] == "--mask-from" else read(out)[-1]
    np.testing.assert_array_equal(valid, np.where(lost, 0, 255))
    assert (read(out)[:2, lost] == 255).all() and np.abs(read(out)[:2, ~lost] - array[:, ~lost] / 2).max() <= 0.5


def test_salvage_of_a_masked_and_resampled_image(edit, masked):
    path, array, mask = masked(compress="deflate")
    damage(path, [5])
    out, answer = edit(path, "--salvage", "--size", "85x75", quiet=False)
    lost = under([5], 4)[0].reshape(75, 2, 85, 2).any(axis=(1, 3))
    wanted = nearest(mask[None], 85, 75)[0]
    wanted[lost] = 0
    np.testing.assert_array_equal(mask_of(out), wanted)
    np.testing.assert_array_equal(read(out)[:, ~lost], nearest(array, 85, 75)[:, ~lost])
    assert answer["done"]["tiles_failed"] == 1


def test_further_damaged_tiles_are_counted(edit, broken):
    path, _ = broken(tiles=range(20))
    out, answer = edit(path, "--salvage", quiet=False)
    assert answer["done"]["tiles_failed"] == 20 and len(answer["damaged"]) == 16
    assert "further tiles could not be read" in answer["told"] and not read(out).any()


def test_salvage_of_a_cog_masks_its_overviews(edit, broken):
    path, array = broken()
    out, answer = edit(path, "--salvage", "--nodata", "0", "--mask-from", "nodata", *SMALL, command="cog", quiet=False)
    lost = under(DAMAGED, 4)[0]
    assert answer["done"]["tiles_failed"] == len(DAMAGED)
    np.testing.assert_array_equal(mask_of(out), np.where(lost, 0, 255))
    with rasterio.open(out, overview_level=0) as file:
        half = lost.reshape(75, 2, 85, 2).all(axis=(1, 3))
        np.testing.assert_array_equal(file.dataset_mask(), np.where(half, 0, 255))


# The same whatever the memory and threads -------------------------------------------------------


STREAMED = {
    "cut": ["--window", "101,57,650,900", "--bands", "3,1"],
    "resampled": ["--window", "101,57,650,900", "--bands", "3,1,2", "--size", "333x0", "--resampling", "cubic"],
    "enlarged": ["--window", "101,57,250,200", "--size", "901x703", "--resampling", "bilinear"],
    "scaled": ["--scale", "auto", "--dtype", "uint8", "--size", "500x500", "--resampling", "average"],
    "mask": ["--mask-from", "nodata", "--window", "5,5,900,1000", "--size", "411x400"],
    "band": ["--mask-from", "2", "--bands", "1,3", "--scale", "0,250", "--dtype", "float32"],
    "alpha": ["--add-alpha", "--window", "5,5,900,1000", "--scale", "0,300,5,60000"],
    "replaced": ["--nodata", "9", "--replace-nodata", "--window", "5,5,900,1000", "--bands", "2"],
    "masked": ["--mask-from", "nodata", "--window", "5,5,900,1000", "--scale", "0,300", "--dtype", "uint8"]}


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A file of 7 MiB, of small tiles in Deflate."""
    path = str(tmp_path_factory.mktemp("large") / "large.tif")
    array = noise(height=1100, width=1000)
    array[:, 200:300, 400:900] = 251
    array[:, 205, 500] = 3
    with rasterio.open(path, "w", driver="GTiff", dtype="uint16", count=3, height=1100, width=1000, nodata=251,
                       compress="deflate", zlevel=1, tiled=True, blockxsize=128, blockysize=112, **PLACE) as file:
        file.write(array)
    return path


@pytest.mark.parametrize("command", ["convert", "cog"])
@pytest.mark.parametrize("name", STREAMED)
def test_memory_and_threads_change_nothing(edit, large, tmp_path, command, name):
    arguments = [*STREAMED[name],
                 *co(["COMPRESS=ZSTD", *(["TILED=YES"] if command == "convert" else ["BLOCKSIZE=128"])])]
    least = least_memory(command, "-j1", *arguments, large, str(tmp_path / "x.tif"))
    found = []
    for more in (["-j1"], ["-j4"], ["-j1", "--memory", least], ["-j2", "--memory", "24M"]):
        out, answer = edit(large, *arguments, *more, command=command)
        found.append(pathlib.Path(out).read_bytes())
    assert len(set(found)) == 1, name


BOUNDED = {"cut": ["--window", "1003,997,4500,4321", "--bands", "1,1"],
           "resampled": ["--size", "2500x2600", "--resampling", "average"],
           "enlarged": ["--window", "1003,997,900,800", "--size", "6000x6000", "--resampling", "lanczos"],
           "scaled": ["--scale", "auto", "--dtype", "uint8", "--add-alpha"]}


@pytest.mark.parametrize("name", BOUNDED)
@pytest.mark.parametrize("command", ["convert", "cog"])
def test_memory_is_bounded(tmp_path, command, name):
    """An image of 72 MB, which is nearly all nodata, in 64 MB."""
    path = str(tmp_path / "a.tif")
    with rasterio.open(path, "w", driver="GTiff", dtype="uint16", count=1, height=6000, width=6000, nodata=5,
                       tiled=True,
                       compress="deflate", blockxsize=512, blockysize=512, sparse_ok=True, **PLACE) as file:
        file.write(noise(bands=1, height=900, width=700), window=((500, 1400), (900, 1600)))
    code, used, told = measure(command, "--no-sync", "--memory", "64M", *BOUNDED[name], path, str(tmp_path / "b.tif"))
    assert (code, told) == (0, "")
    assert used <= 64 * MIB


# Devices ----------------------------------------------------------------------------------------


ON_DEVICE = {
    "cut": ["--window", "101,57,250,300", "--bands", "3,1"],
    "resampled": ["--size", "333x300", "--resampling", "average"],
    "nearest": ["--size", "333x300"], "scaled": ["--scale", "0,250,7,9000"],
    "cast": ["--dtype", "float32", "--bands", "2"],
    "nodata": ["--mask-from", "nodata"], "band": ["--mask-from", "2", "--window", "5,5,200,300"],
    "alpha": ["--add-alpha", "--window", "5,5,200,300"], "replaced": ["--nodata", "9", "--replace-nodata"],
    "auto": ["--scale", "auto", "--dtype", "uint8"], "plain": ["--scale", "0,9"]}
BY_CPU = {"resampled": "resamples", "nearest": "resamples", "scaled": "nodata", "replaced": "nodata"}
WITHOUT_NODATA = ["auto", "plain"]


@pytest.mark.parametrize("command", ["convert", "cog"])
@pytest.mark.parametrize("name", ON_DEVICE)
def test_a_device_writes_the_same_file(edit, raster, on_device, pocl, tmp_path, command, name):
    array = noise(height=400, width=390)
    array[:, 90:190, 100:300] = 251
    path = raster(array, nodata=None if name in WITHOUT_NODATA else 251, compress="deflate", **TILES)
    layout = ["BLOCKSIZE=128", "LEVEL=FAST"] if command == "cog" else ["TILED=YES", "COMPRESS=DEFLATE", "ZLEVEL=FAST"]
    arguments = [*ON_DEVICE[name], *co(layout)]
    by_cpu, _ = edit(path, *arguments, command=command)
    by_device, answer = edit(path, *arguments, "--device", pocl, command=command, name="device.tif", env=on_device())
    reading = answer["read_device"]
    assert reading["tiles"] > 0 if name not in BY_CPU else BY_CPU[name] in reading["reason"]
    assert pathlib.Path(by_cpu).read_bytes() == pathlib.Path(by_device).read_bytes()
