# SPDX-License-Identifier: Apache-2.0
"""terrazzo read: the right pixels, as arrays. rasterio says what they are."""

import json
import subprocess

import numpy as np
import pytest
import rasterio
from rasterio.transform import from_origin
from rasterio.windows import Window

from conftest import COMMAND, call
from tiffmaker import LONG, SHORT, Image, tiff

pytestmark = [pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning"),
              pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")]  # rasterio's own

TILED = {"tiled": True, "blockxsize": 32, "blockysize": 16, "compress": "deflate"}


def numbers(bands, height, width, dtype="uint16"):
    return np.random.default_rng(7).integers(0, 60000, (bands, height, width)).astype(dtype)


@pytest.fixture
def read(tmp_path):
    """Runs `terrazzo read`, which must succeed, and returns the array."""
    def run_read(path, *arguments):
        out = tmp_path / "out.npy"
        done = call("read", "--overwrite", path, str(out), *arguments)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return np.load(out)
    return run_read


def same(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)
    return True


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64",
                                   "int64", "float32", "float64", "complex64", "complex128"])
def test_every_type(read, raster, dtype):
    array = (numbers(2, 50, 70) / 300).astype(dtype)
    assert same(read(raster(array, **TILED)), array)


def test_float16(read, raster):
    array = (numbers(1, 40, 40) / 100).astype("float16").astype("float32")
    assert same(read(raster(array, nbits=16)), array[0].astype("float16"))


def test_complex_integers_become_complex_floats(run, read, raster, tmp_path):
    array = numbers(1, 20, 30, "int16") + 1j * numbers(1, 20, 30, "int16")[:, ::-1]
    path = raster(array.astype("complex64"), dtype="complex_int16")
    assert same(read(path), array[0].astype("complex64"))
    done = run("read", "--dtype", "complex_int16", path, str(tmp_path / "b.npy"))
    assert done.returncode == 1 and "NumPy has no complex_int16" in done.stderr
    assert run("read", path, str(tmp_path / "b.raw")).returncode == 0
    pairs = np.fromfile(tmp_path / "b.raw", "int16").reshape(20, 30, 2)
    np.testing.assert_array_equal(pairs[..., 0], array[0].real)
    np.testing.assert_array_equal(pairs[..., 1], array[0].imag)


def test_header_is_the_one_numpy_writes(read, raster, tmp_path):
    for array in (numbers(3, 20, 30), numbers(1, 7, 9, "uint8")):
        read(raster(array))
        np.save(tmp_path / "expected.npy", array if len(array) > 1 else array[0])
        assert (tmp_path / "out.npy").read_bytes() == (tmp_path / "expected.npy").read_bytes()


def test_raw_is_packed_band_after_band(run, raster, tmp_path):
    array = numbers(3, 20, 30)
    assert run("read", raster(array, interleave="pixel"), str(tmp_path / "b.raw")).returncode == 0
    np.testing.assert_array_equal(np.fromfile(tmp_path / "b.raw", "uint16"), array.ravel())


@pytest.mark.parametrize("window", [(0, 0, 70, 50), (3, 5, 1, 1), (31, 15, 34, 18), (69, 49, 1, 1)])
def test_window(read, raster, window):
    array = numbers(2, 50, 70)
    column, row, width, height = window
    found = read(raster(array, **TILED), "--window", ",".join(map(str, window)))
    assert same(found, array[:, row:row + height, column:column + width])


@pytest.mark.parametrize("text, expected", [
    ("2", [2]), ("3,1", [3, 1]), ("2-4", [2, 3, 4]), ("4,1-2,4", [4, 1, 2, 4])])
@pytest.mark.parametrize("interleave", ["pixel", "band"])
def test_bands(read, raster, text, expected, interleave):
    array = numbers(4, 30, 40)
    found = read(raster(array, interleave=interleave), "--bands", text)
    assert same(found, array[[n - 1 for n in expected]].squeeze())


@pytest.mark.parametrize("step", [30.0, 0.1])
@pytest.mark.parametrize("south_up", [False, True])
def test_bbox_grows_to_whole_pixels(read, raster, step, south_up):
    array = numbers(1, 50, 70)
    row_step = step if south_up else -step
    transform = rasterio.Affine(step, 0, 500.0, 0, row_step, 900.0)
    path = raster(array, transform=transform, crs="EPSG:32632", **TILED)

    def box(left, top, right, bottom):
        x = sorted((500 + left * step, 500 + right * step))
        y = sorted((900 + top * row_step, 900 + bottom * row_step))
        return f"{x[0]!r},{y[0]!r},{x[1]!r},{y[1]!r}"
    for edges, expected in (((10, 5, 20, 9), (10, 5, 20, 9)), ((10.5, 5.5, 19.5, 8.5), (10, 5, 20, 9)),
                            ((3.2, 3.2, 3.4, 3.4), (3, 3, 4, 4)), ((0, 0, 70, 50), (0, 0, 70, 50))):
        left, top, right, bottom = expected
        assert same(read(path, "--bbox", box(*edges)), array[0, top:bottom, left:right])


def test_bbox_on_edges_that_binary_numbers_miss(run, raster):
    """Multiples of a tenth are not exact; a box of whole pixels must not grow for that."""
    transform = rasterio.Affine(0.1, 0, 0.3, 0, -0.1, 47.7)
    path = raster(numbers(1, 60, 60), transform=transform, crs="EPSG:4326")
    for i in range(0, 60, 4):
        x, y = 0.3 + 0.1 * i, 47.7 - 0.1 * i
        box = f"{x:.1f},{y - 0.1:.1f},{x + 0.1:.1f},{y:.1f}"
        done = run("plan", "--json", "--bbox", box, path)
        assert json.loads(done.stdout)["window"] == [i, i, 1, 1], box


def test_bbox_of_a_level(read, raster):
    path = raster(numbers(1, 64, 64), transform=from_origin(0, 640, 10, 10), overviews=[2])
    with rasterio.open(path, overview_level=0) as file:
        expected = file.read(1)
    assert same(read(path, "--level", "1", "--bbox", "40,320,200,600"), expected[2:16, 2:10])


def test_levels(read, raster):
    path = raster(numbers(2, 100, 140), overviews=[2, 4], **TILED)
    for level in (1, 2):
        with rasterio.open(path, overview_level=level - 1) as file:
            expected = file.read()
        assert same(read(path, "--level", str(level)), expected)
        height, width = expected.shape[1:]
        assert same(read(path, "--level", str(level), "--window", f"1,2,{width - 3},{height - 2}"),
                    expected[:, 2:, 1:-2])


def test_size_takes_the_overview_that_fits(run, read, raster, tmp_path):
    path = raster(numbers(1, 128, 256), overviews=[2, 4], **TILED)
    with rasterio.open(path, overview_level=1) as file:
        expected = file.read(1)
    assert same(read(path, "--size", "64x32"), expected)
    assert same(read(path, "--size", "64x0"), expected)
    assert same(read(path, "--size", "0x32"), expected)
    plan = json.loads(run("plan", "--json", "--size", "64x32", path).stdout)
    assert (plan["level"], plan["level_chosen"], plan["resampled"]) == (2, True, False)


def test_size_resamples(read, raster):
    array = numbers(2, 60, 80, "float64")
    path = raster(array, **TILED)
    means = array.reshape(2, 20, 3, 20, 4).mean(axis=(2, 4))
    np.testing.assert_allclose(read(path, "--size", "20x20", "--resampling", "average"), means,
                               rtol=1e-6)
    assert same(read(path, "--size", "160x120"), array.repeat(2, 1).repeat(2, 2))
    part = read(path, "--window", "4,6,40,30", "--size", "10x10", "--resampling", "average")
    np.testing.assert_allclose(part, means[:, 2:12, 1:11], rtol=1e-6)


def test_every_method_of_resampling(read, raster):
    array = np.random.default_rng(3).integers(0, 6, (1, 60, 80)).astype("float64")
    path = raster(array, **TILED)
    under = array.reshape(20, 3, 20, 4).transpose(0, 2, 1, 3).reshape(20, 20, 12)
    ordered = np.sort(under, axis=2)
    times = [[np.bincount(pixel.astype(int), minlength=6) for pixel in row] for row in under]
    expected = {"min": ordered[..., 0], "max": ordered[..., -1], "median": ordered[..., 5],
                "rms": np.sqrt((under ** 2).mean(axis=2)), "average": under.mean(axis=2)}
    for method, values in expected.items():
        found = read(path, "--size", "20x20", "--resampling", method)
        np.testing.assert_allclose(found, values, rtol=1e-12)
    mode = read(path, "--size", "20x20", "--resampling", "mode").astype(int)
    most = np.max(times, axis=2)
    assert np.array_equal(np.take_along_axis(np.array(times), mode[..., None], 2)[..., 0], most)
    for method in ("bilinear", "cubic", "lanczos", "gauss"):  # what is the same everywhere stays
        flat = raster(np.full((1, 60, 80), 7.5), "flat.tif", **TILED)
        found = read(flat, "--size", "23x17", "--resampling", method)
        np.testing.assert_allclose(found, 7.5, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex64"])
def test_dtype_casts_as_gdal_does(read, raster, dtype):
    array = (numbers(1, 30, 30, "float64") - 30000) / 7
    path = raster(array)
    with rasterio.open(path) as file:
        expected = file.read(1, out_dtype=dtype)
    assert same(read(path, "--dtype", dtype), expected)


def test_masked_by_nodata(run, raster, tmp_path):
    array = numbers(2, 40, 50)
    array[0, :5] = array[1, :, 3] = 9
    path = raster(array, nodata=9, **TILED)
    done = run("read", "--masked", path, str(tmp_path / "x.y.npy"))
    assert done.returncode == 0, done.stderr
    assert same(np.load(tmp_path / "x.y.npy"), array)
    assert same(np.load(tmp_path / "x.y.mask.npy"), np.where(array == 9, 0, 255).astype("uint8"))


def test_masked_by_a_mask(run, raster, tmp_path):
    mask = np.zeros((40, 50), "uint8")
    mask[4:30, 7:20] = 255
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        path = raster(numbers(2, 40, 50), mask=mask, **TILED)
    done = run("read", "--masked", "--window", "2,3,30,20", path, str(tmp_path / "b.raw"))
    assert done.returncode == 0, done.stderr
    found = np.fromfile(tmp_path / "b.mask.raw", "uint8").reshape(2, 20, 30)
    assert same(found, np.stack([mask[3:23, 2:32]] * 2))


def test_nodata_to_nan(read, raster):
    array = numbers(1, 20, 20)
    array[0, 3:5] = 9
    found = read(raster(array, nodata=9), "--nodata-to-nan")
    assert same(found, np.where(array == 9, np.nan, array).astype("float32")[0])
    wide = array.astype("int32")
    assert read(raster(wide, nodata=9), "--nodata-to-nan").dtype == "float64"


def test_scaled(read, raster):
    path = raster(numbers(2, 20, 20))
    with rasterio.open(path, "r+") as file:
        file.scales, file.offsets = (0.5, 2.0), (-10.0, 0.0)
        array = file.read()
    factors = np.array([0.5, 2.0]).reshape(2, 1, 1)
    expected = array * factors + np.array([-10.0, 0]).reshape(2, 1, 1)
    assert same(read(path, "--scaled"), expected.astype("float32"))
    assert same(read(path, "--scaled", "--dtype", "float64"), expected)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_oriented(read, save, orientation):
    array = numbers(1, 5, 7, "uint8")[0]
    data = tiff([Image(7, 5, tags=[(274, SHORT, [orientation])])])
    path = save(data[:-35] + array.tobytes())
    upright = array.T if orientation >= 5 else array
    if orientation in (3, 4, 7, 8):
        upright = upright[::-1]
    if orientation in (2, 3, 6, 7):
        upright = upright[:, ::-1]
    assert same(read(path), array)
    assert same(read(path, "--oriented"), upright)
    assert same(read(path, "--oriented", "--window", "1,2,4,3"), upright[2:5, 1:5])


def test_boundless(read, raster):
    array = numbers(2, 50, 70)
    path = raster(array, **TILED)
    with rasterio.open(path) as file:
        expected = file.read(window=Window(-8, -3, 100, 20), boundless=True, fill_value=77)
    assert same(read(path, "--window", "-8,-3,100,20", "--boundless", "--fill", "77"), expected)
    assert same(read(path, "--window", "900,900,4,4", "--boundless"), np.zeros((2, 4, 4), "uint16"))


@pytest.mark.parametrize("dtype, nodata", [("uint16", 9), ("int16", -9999), ("float32", -9999), ("float64", "nan"),
                                           ("uint8", 255)])
def test_boundless_is_nodata_outside(read, raster, dtype, nodata):
    array = numbers(2, 50, 70).astype(dtype)
    path = raster(array, **TILED, nodata=float(nodata))
    with rasterio.open(path) as file:
        expected = file.read(window=Window(-8, -3, 100, 20), boundless=True)
    window = ["--window", "-8,-3,100,20", "--boundless"]
    assert same(read(path, *window), expected)
    assert expected[0, 0, 0] == nodata or np.isnan(expected[0, 0, 0])
    assert np.isnan(read(path, *window, "--nodata-to-nan")[:, :3]).all()
    assert same(read(path, *window, "--fill", "0"), np.where(outside(expected.shape, -8, -3, 70, 50), 0,
                                                             expected).astype(dtype))
    far = read(path, "--window", "900,900,8,8", "--boundless", "--size", "4x4", "--resampling", "average")
    assert same(far, np.full((2, 4, 4), float(nodata), dtype))


def outside(shape, column, row, width, height):
    y, x = np.mgrid[:shape[-2], :shape[-1]]
    return (x + column < 0) | (x + column >= width) | (y + row < 0) | (y + row >= height)


@pytest.mark.parametrize("layout", [
    TILED, TILED | {"interleave": "band"}, TILED | {"interleave": "pixel"}, {"blockysize": 7}, {}])
@pytest.mark.parametrize("arguments", [[], ["--window", "5,9,300,150"], ["--masked"],
                                       ["--window", "-40,-9,400,300", "--boundless"]])
def test_little_memory_makes_no_difference(run, raster, tmp_path, layout, arguments):
    """Blocks of whatever shape put together what one read gives."""
    path = raster(numbers(3, 200, 330), nodata=3, **layout)
    outputs = []
    for memory in ("256M", "300K", "100K"):
        out = tmp_path / f"{memory}.npy"
        done = run("read", "--memory", memory, "--threads", "1", "--json", path, str(out), *arguments)
        if done.returncode == 1:  # a strip of the whole image is more than that
            assert "--memory allows" in done.stderr
            continue
        blocks = json.loads(done.stdout)["plan"]["blocks"]
        assert blocks == 1 if memory == "256M" else blocks > 1
        outputs.append(np.load(out))
        if "--masked" in arguments:
            outputs[-1] = np.stack([outputs[-1], np.load(tmp_path / f"{memory}.mask.npy")])
    assert len(outputs) > (0 if layout == {} else 1)
    for other in outputs[1:]:
        assert same(other, outputs[0])


@pytest.mark.parametrize("interleave", ["pixel", "band"])
@pytest.mark.parametrize("arguments", [[], ["--window", "33,9,2900,150"]])
def test_blocks_may_be_narrower_than_the_image(run, raster, tmp_path, interleave, arguments):
    """Where not even one row of tiles fits in memory, and no tile is read twice for it."""
    path = raster(numbers(3, 170, 3000), nodata=3, tiled=True, blockxsize=64, blockysize=64,
                  compress="lzw", interleave=interleave)
    answers = []
    for memory in ("256M", "600K"):
        done = run("read", "--masked", "--memory", memory, "--threads", "1", "--json", path,
                   str(tmp_path / f"{memory}.npy"), *arguments)
        assert done.returncode == 0, done.stderr
        answers.append(json.loads(done.stdout)["plan"])
    assert answers[1]["blocks"] > 3 * answers[0]["blocks"]
    assert answers[1]["tiles"] == answers[0]["tiles"]
    assert same(np.load(tmp_path / "600K.npy"), np.load(tmp_path / "256M.npy"))
    assert same(np.load(tmp_path / "600K.mask.npy"), np.load(tmp_path / "256M.mask.npy"))


def turned(array, orientation, tile):
    """A TIFF of uncompressed tiles whose image is to be turned."""
    height, width = array.shape
    data = tiff([Image(width, height, tile=tile, tags=[(274, SHORT, [orientation])])])
    padded = np.pad(array, ((0, -height % tile[1]), (0, -width % tile[0])))
    rows, columns = padded.shape[0] // tile[1], padded.shape[1] // tile[0]
    tiles = padded.reshape(rows, tile[1], columns, tile[0]).swapaxes(1, 2).tobytes()
    return data[:-len(tiles)] + tiles


@pytest.mark.parametrize("orientation", range(1, 9))
def test_little_memory_and_a_turned_image(run, save, tmp_path, orientation):
    path = save(turned(numbers(1, 291, 403, "uint8")[0], orientation, (32, 16)))
    tiles = []
    for memory, name in (("256M", "one.npy"), ("100K", "many.npy")):
        done = run("read", "--json", "--oriented", "--memory", memory, "--threads", "1", path,
                   str(tmp_path / name))
        assert done.returncode == 0, done.stderr
        tiles.append(json.loads(done.stdout)["plan"]["tiles"])
    assert same(np.load(tmp_path / "many.npy"), np.load(tmp_path / "one.npy"))
    assert tiles[0] == tiles[1]  # blocks follow tiles from whatever side


def test_blocks_follow_tiles(run, raster):
    """No tile is read twice where a row of tiles fits in memory, or one tile."""
    path = raster(numbers(1, 512, 512, "uint8"), tiled=True, blockxsize=64, blockysize=64,
                  compress="deflate")
    for arguments in (["--memory", "200K"], ["--memory", "120K"],
                      ["--memory", "200K", "--window", "3,5,505,500"]):
        plan = json.loads(run("plan", "--json", "--threads", "1", path, *arguments).stdout)["plan"]
        assert plan["blocks"] > 1
        assert plan["tiles"] == 64


def test_to_standard_output(raster):
    array = numbers(3, 200, 330)
    path = raster(array, interleave="pixel", **TILED)
    for arguments in ([], ["--memory", "200K"]):
        done = subprocess.run([COMMAND, "read", "--format", "raw", *arguments, path, "-"],
                              capture_output=True, check=True)
        np.testing.assert_array_equal(np.frombuffer(done.stdout, "uint16"), array.ravel())
        assert done.stderr == b""


def test_pages_and_sidecars(read, raster, tmp_path):
    with rasterio.Env(TIFF_USE_OVR=True):
        path = raster(numbers(1, 64, 64), overviews=[2])
    with rasterio.open(path + ".ovr") as file:
        expected = file.read(1)
    assert same(read(path, "--quiet", "--sidecars", "--level", "1"), expected)
    two = tiff([Image(4, 3), Image(2, 2, tags=[(254, LONG, [0])])])
    (tmp_path / "two.tif").write_bytes(two)
    assert read(str(tmp_path / "two.tif"), "--page", "1").shape == (2, 2)
