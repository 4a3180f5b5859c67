# SPDX-License-Identifier: Apache-2.0
"""terrazzo read to PNG: valid files with the right colours, by two independent decoders: libpng in
GDAL, and one of a few lines here that insists on every rule."""

import json
import re
import struct
import zlib

import jsonschema
import numpy as np
import pytest
import rasterio
import tifffile

from conftest import ROOT, call
from tiffmaker import SHORT, Image, tiff

pytestmark = [pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")]

SCHEMA = json.loads((ROOT / "doc" / "read.schema.json").read_text())
CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}


def chunks(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at = 8
    while at < len(data):
        size, = struct.unpack_from(">I", data, at)
        body = data[at + 4:at + 8 + size]
        crc, = struct.unpack_from(">I", data, at + 8 + size)
        assert zlib.crc32(body) == crc
        yield body[:4], body[4:]
        at += 12 + size
    assert at == len(data)


def unfilter(kind, row, above, channels):
    out = bytearray(row)
    for i, value in enumerate(row):
        left = out[i - channels] if i >= channels else 0
        corner = above[i - channels] if i >= channels else 0
        up = above[i]
        nearest = min((abs(up - corner), 0, left), (abs(left - corner), 1, up),
                      (abs(left + up - 2 * corner), 2, corner))[2]
        out[i] = (value + (0, left, up, (left + up) // 2, nearest)[kind]) & 255
    return bytes(out)


def decode(path):
    """(channels, rows, columns) of a PNG."""
    parts = list(chunks(open(path, "rb").read()))
    kinds = [kind for kind, _ in parts]
    assert kinds[0] == b"IHDR" and kinds[-1] == b"IEND" and set(kinds[1:-1]) == {b"IDAT"}
    width, height, depth, color, compression, filters, interlace = struct.unpack(">IIBBBBB", parts[0][1])
    assert (depth, compression, filters, interlace) == (8, 0, 0, 0)
    channels = CHANNELS[color]
    stream = zlib.decompressobj()
    data = stream.decompress(b"".join(body for kind, body in parts if kind == b"IDAT"))
    assert stream.eof and stream.unused_data == b""
    size = 1 + width * channels
    assert len(data) == height * size
    rows, above = [], bytes(size - 1)
    for y in range(height):
        above = unfilter(data[y * size], data[y * size + 1:(y + 1) * size], above, channels)
        rows.append(np.frombuffer(above, "uint8").reshape(width, channels))
    return np.stack(rows).transpose(2, 0, 1)


def ranges_of(text):
    """{band: (low, high)} of the note about a stretch; no text, no bands."""
    if text == "":
        return {}
    note = re.fullmatch(r"(\x1b\[[\d;]*m)?note:(\x1b\[0m)? stretched(, by overview \d+)?: (.*)\n", text)
    assert note, text
    bands = [re.fullmatch(r"band (\d+) from (\S+) to (\S+)", part) for part in note[4].split(", ")]
    return {int(band[1]): (float(band[2]), float(band[3])) for band in bands}


@pytest.fixture
def png(tmp_path):
    """Runs `terrazzo read` to a PNG and returns its (channels, rows, columns). What is said must be the ranges of a
    stretch; they are in png.ranges, by band."""
    def run_read(path, *arguments):
        out = str(tmp_path / "out.png")
        done = call("read", "--overwrite", path, out, *arguments)
        assert (done.returncode, done.stdout) == (0, "")
        run_read.ranges = ranges_of(done.stderr)
        found = decode(out)
        with rasterio.open(out) as file:
            np.testing.assert_array_equal(file.read(), found)
        return found
    return run_read


def noise(bands, height, width, dtype="uint8", most=256):
    return np.random.default_rng(3).integers(0, most, (bands, height, width)).astype(dtype)


def range_of(band, valid=None):
    """From the value that 2 % do not exceed to the one that 98 % do not."""
    ordered = np.sort(band[valid if valid is not None else np.isfinite(band)].astype("float64"))
    last = len(ordered) - 1
    low, high = ordered[int(np.floor(last * 0.02))], ordered[int(np.ceil(last * 0.98))]
    return (low, high) if low < high else (ordered[0], ordered[-1])


def stretched(band, valid=None):
    """What a band becomes that is stretched."""
    low, high = range_of(band, valid)
    scaled = (np.nan_to_num(band.astype("float64"), nan=low) - low) / ((high - low) or 1)
    return np.floor(np.clip(scaled, 0, 1) * 255 + 0.5).astype("uint8")


@pytest.mark.parametrize("shape", [(1, 1), (1, 70000), (70000, 1), (257, 255), (40, 3000)])
def test_sizes(png, raster, shape):
    array = noise(1, *shape)
    np.testing.assert_array_equal(png(raster(array)), array)


@pytest.mark.parametrize("kind", ["constant", "gradient", "repeating", "sparse", "noise", "skewed"])
def test_what_compression_meets(png, raster, kind):
    y, x = np.mgrid[0:400, 0:700]
    rng = np.random.default_rng(5)
    array = {"constant": 0 * x + 9, "gradient": (x // 3 + y) % 256, "repeating": noise(1, 40, 70)[0][y % 40, x % 70],
             "sparse": np.where(rng.random(x.shape) < 0.001, 200, 0), "noise": noise(1, 400, 700)[0],
             "skewed": np.minimum(rng.geometric(0.5, x.shape) ** 2, 255)}[kind].astype("uint8")[None]
    np.testing.assert_array_equal(png(raster(array)), array)


def test_rgb_stays_as_it_is(png, raster):
    array = noise(3, 60, 80)
    np.testing.assert_array_equal(png(raster(array, photometric="RGB")), array)


def test_alpha_stays_as_it_is(png, raster):
    array = noise(4, 60, 80)
    found = png(raster(array, photometric="RGB", alpha="yes"))
    seen = array[3] > 0
    np.testing.assert_array_equal(found[3], array[3])
    np.testing.assert_array_equal(found[:3, seen], array[:3, seen])


def test_gray_and_alpha(png, raster):
    array = noise(2, 60, 80)
    array[1, 0] = 0
    found = png(raster(array, alpha="yes"))
    np.testing.assert_array_equal(found[1], array[1])
    np.testing.assert_array_equal(found[0, array[1] > 0], array[0, array[1] > 0])


def test_premultiplied_alpha_is_undone(png, raster):
    rgb = noise(3, 30, 40).astype(int)
    alpha = noise(1, 30, 40).astype(int)
    stored = np.concatenate([rgb * alpha // 255, alpha]).astype("uint8")
    found = png(raster(stored, photometric="RGB", alpha="premultiplied"))
    strong = alpha[0] > 100
    assert np.abs(found[:3, strong].astype(int) - rgb[:, strong]).max() <= 3


def test_one_band_of_bytes_is_not_stretched_unless_asked(png, raster):
    array = (noise(1, 50, 60) // 4 + 50).astype("uint8")
    array[0, 0, :2] = 50, 114
    path = raster(array)
    np.testing.assert_array_equal(png(path), array)
    assert png.ranges == {}
    np.testing.assert_array_equal(png(path, "--stretch")[0], stretched(array[0]))
    assert list(png.ranges) == [1]


@pytest.mark.parametrize("values", [(0, 1), (0, 10), (1, 44), (50, 113), (200, 255)])
def test_a_band_of_bytes_that_uses_less_than_a_quarter_of_the_range_is_stretched(png, raster, values):
    low, high = values
    array = (noise(1, 50, 60) % (high - low + 1) + low).astype("uint8")
    path = raster(array)
    np.testing.assert_array_equal(png(path)[0], stretched(array[0]))
    assert png.ranges == {1: range_of(array[0])}
    np.testing.assert_array_equal(png(path, "--no-stretch"), array)
    assert png.ranges == {}
    np.testing.assert_array_equal(png(path, "--dtype", "uint8"), array)


def test_classes_beside_nodata_and_alpha(png, raster):
    array = noise(2, 50, 60, most=9)
    array[1] = 255
    array[1, :5] = 0
    found = png(raster(array, alpha="yes"))
    np.testing.assert_array_equal(found[0, 5:], stretched(array[0, 5:]))
    array[0, 9] = 255
    found = png(raster(array[:1], nodata=255))
    valid = array[0] != 255
    np.testing.assert_array_equal(found[0][valid], stretched(array[0], valid)[valid])


def test_colours_of_bytes_are_never_stretched_unasked(png, raster):
    array = noise(3, 50, 60, most=9)
    np.testing.assert_array_equal(png(raster(array, photometric="rgb")), array)
    np.testing.assert_array_equal(png(raster(array, photometric="minisblack"), "--bands", "3,2,1"), array[::-1])
    assert png.ranges == {}


@pytest.mark.parametrize("bits", [2, 4])
def test_few_bits_are_a_range_of_their_own(png, raster, bits):
    array = noise(1, 30, 40, most=1 << bits)
    path = raster(array, nbits=bits)
    png(path)
    assert png.ranges == {}
    if bits == 4:
        png(raster(array // 6, nbits=bits))
        assert png.ranges == {1: (0, 2)}


def test_without_a_stretch_values_are_cut_off(png, raster):
    array = noise(1, 30, 40, "int16", 600) - 100
    np.testing.assert_array_equal(png(raster(array), "--no-stretch"), np.clip(array, 0, 255))
    assert png.ranges == {}
    array = noise(2, 30, 40, "uint16", 65536)
    found = png(raster(array, alpha="yes"), "--no-stretch")
    np.testing.assert_array_equal(found[1], np.floor(array[1] / 257 + 0.5))


def test_a_large_picture_is_stretched_by_an_overview(run, raster, tmp_path):
    """Overviews that have another range than the image: each is 1000 more than the one before."""
    array = noise(3, 900, 1300, "uint16", 500)
    path, out = raster(array, tiled=True, blockxsize=256, blockysize=256), str(tmp_path / "out.png")
    with rasterio.open(path, "r+") as file:
        file.build_overviews([2, 4, 8], rasterio.enums.Resampling.nearest)
    for level in range(3):
        with rasterio.open(path, "r+", overview_level=level) as file:
            file.write(file.read() + np.uint16(1000 * (level + 1)))

    def measured(*arguments):
        done = run("read", "--overwrite", "--json", "--bands", "3,1,2", path, out, *arguments)
        ranges = ranges_of(done.stderr)
        assert list(ranges) == [3, 1, 2] and all(400 < high - low < 500 for low, high in ranges.values())
        level, = {int(low // 1000) for low, _ in ranges.values()}
        assert json.loads(done.stdout)["stretch"]["overview"] == (level or None)
        return level

    assert measured() == 2
    with rasterio.open(out) as file:
        assert (file.read() == 0).all()
    assert measured("--window", "0,0,512,512") == 0  # few enough to be measured themselves
    assert measured("--window", "0,0,600,600") == 1
    assert measured("--level", "0", "--window", "0,0,600,600") == 0


def test_a_large_picture_without_overviews_is_stretched_by_every_nth_pixel(png, raster):
    """900,000 pixels: 4 would do for 512 x 512, but 7 is the first number that has no divisor in common with 1000."""
    array = noise(1, 900, 1000, "uint16", 500)
    array.ravel()[::7] += 1000
    found = png(raster(array))
    low, high = range_of(array.ravel()[::7])
    assert png.ranges == {1: (low, high)} and low >= 1000
    expected = np.floor(np.clip((array[0] - low) / (high - low), 0, 1) * 255 + 0.5)
    np.testing.assert_array_equal(found[0], expected)


def test_an_overview_that_cannot_be_read_costs_no_picture(png, raster):
    array = noise(1, 520, 520, "uint16", 500)
    path = raster(array, tiled=True, blockxsize=256, blockysize=256, compress="deflate")
    with rasterio.open(path, "r+") as file:
        file.build_overviews([2, 4], rasterio.enums.Resampling.nearest)
    with tifffile.TiffFile(path) as file:
        places = [at for page in file.pages[1:] for at in page.dataoffsets]
    with open(path, "r+b") as file:
        for at in places:
            file.seek(at)
            file.write(b"\xff" * 8)
    png(path)
    assert all(low < 20 and 480 <= high < 500 for low, high in png.ranges.values())


def test_the_report_has_the_ranges(run, raster, tmp_path):
    path = raster(noise(1, 50, 60, most=11))
    done = run("read", "--json", path, str(tmp_path / "a.png"))
    answer = json.loads(done.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(answer)
    assert answer["stretch"] == {"overview": None, "bands": [{"band": 1, "low": 0, "high": 10}]}
    assert ranges_of(done.stderr) == {1: (0, 10)}
    assert run("read", "--quiet", "--overwrite", path, str(tmp_path / "a.png")).stderr == ""
    for arguments in (["--no-stretch", path, str(tmp_path / "b.png")], [path, str(tmp_path / "b.npy")]):
        answer = json.loads(run("read", "--json", *arguments).stdout)
        jsonschema.Draft202012Validator(SCHEMA).validate(answer)
        assert answer["stretch"] is None


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int16", "uint32", "int32", "int64", "float32",
                                   "float64"])
def test_other_types_are_stretched(png, raster, dtype):
    array = (noise(1, 70, 90, "float64", 60000) ** 1.1 / 200 - 100)
    array = np.clip(array, -120, 120).astype(dtype) if dtype == "int8" else np.abs(array).astype(dtype)
    np.testing.assert_array_equal(png(raster(array))[0], stretched(array[0]))


def test_bands_are_stretched_each_on_its_own(png, raster):
    array = noise(3, 50, 60, "uint16", 1000)
    array[1] += 20000
    found = png(raster(array), "--bands", "3,2,1")
    np.testing.assert_array_equal(found, [stretched(array[i]) for i in (2, 1, 0)])


def test_a_constant_band_is_black_and_rare_values_are_seen(png, raster):
    array = np.full((1, 30, 40), 700, "uint16")
    assert (png(raster(array)) == 0).all()
    array[0, 3, 3] = 900
    assert png(raster(array))[0, 3, 3] == 255


def test_nodata_is_transparent_and_not_in_the_stretch(png, raster):
    array = noise(1, 50, 60, "float32", 1000)
    array[0, :10] = -9999
    found = png(raster(array, nodata=-9999))
    valid = array[0] != -9999
    np.testing.assert_array_equal(found[1], np.where(valid, 255, 0))
    np.testing.assert_array_equal(found[0][valid], stretched(array[0], valid)[valid])


def test_nan_is_transparent(png, raster):
    array = noise(1, 50, 60, "float32", 1000)
    array[0, 5, 7], array[0, 6, 6], array[0, 7, 7] = np.nan, np.inf, -np.inf
    found = png(raster(array))
    assert found[1, 5, 7] == 0 and (found[1] == 0).sum() == 1
    assert (found[0, 6, 6], found[0, 7, 7]) == (255, 0)


def test_no_alpha_where_nothing_is_transparent(png, raster):
    assert png(raster(noise(1, 20, 20) | 1, nodata=0)).shape == (1, 20, 20)


def test_mask_is_transparency(png, raster):
    mask = np.zeros((60, 80), "uint8")
    mask[10:20, 30:60] = 255
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        path = raster(noise(3, 60, 80), photometric="RGB", mask=mask)
    np.testing.assert_array_equal(png(path)[3], mask)


def test_color_map(png, raster):
    array = noise(1, 30, 40, most=5)
    colors = {0: (0, 0, 0, 255), 1: (255, 0, 0, 255), 2: (0, 255, 0, 255), 3: (1, 2, 3, 255),
              4: (250, 128, 7, 255)}
    found = png(raster(array, photometric="palette", colormap=colors))
    table = np.array([colors[i][:3] for i in range(5)], "uint8")
    np.testing.assert_array_equal(found, table[array[0]].transpose(2, 0, 1))
    plain = png(raster(array, photometric="palette", colormap=colors, nodata=3))
    np.testing.assert_array_equal(plain[3], np.where(array[0] == 3, 0, 255))


def test_color_maps_are_not_averaged(run, png, raster, tmp_path):
    array = noise(1, 30, 40, most=3)
    colors = {0: (0, 0, 0, 255), 1: (255, 0, 0, 255), 2: (0, 255, 0, 255)}
    path = raster(array, photometric="palette", colormap=colors)
    for how in ("average", "bilinear", "median"):
        done = run("read", "--size", "20x15", "--resampling", how, path, str(tmp_path / "x.png"))
        assert done.returncode == 1 and "use --resampling nearest" in done.stderr
    table = np.array([colors[i][:3] for i in range(3)], "uint8")
    found = png(path, "--size", "20x15", "--resampling", "mode")
    assert {tuple(color) for color in found.reshape(3, -1).T} <= {tuple(row) for row in table}
    found = png(path, "--size", "80x60")
    np.testing.assert_array_equal(found, table[array[0].repeat(2, 0).repeat(2, 1)].transpose(2, 0, 1))


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_few_bits_fill_the_range(png, raster, bits):
    array = noise(1, 30, 40, most=1 << bits)
    np.testing.assert_array_equal(png(raster(array, nbits=bits)), array * (255 // ((1 << bits) - 1)))


def test_min_is_white(png, save):
    array = noise(1, 6, 8)
    data = tiff([Image(8, 6, tags=[(262, SHORT, [0])])])
    np.testing.assert_array_equal(png(save(data[:-48] + array.tobytes())), 255 - array)


def interleaved(save, array, *tags):
    bands, height, width = array.shape
    data = tiff([Image(width, height, bands=bands, tags=list(tags))])
    return save(data[:-array.size] + array.transpose(1, 2, 0).tobytes())


def test_cmyk(png, save):
    array = noise(4, 30, 40)
    path = interleaved(save, array, (262, SHORT, [5]), (338, SHORT, None))
    ink, black = 255 - array[:3].astype(int), 255 - array[3].astype(int)
    np.testing.assert_array_equal(png(path), (ink * black + 127) // 255)


def test_ycbcr(png, save):
    array = noise(3, 30, 40)
    path = interleaved(save, array, (262, SHORT, [6]), (530, SHORT, [1, 1]))
    with rasterio.open(path) as file:
        expected = file.read().astype(int)  # libtiff converts
    assert np.abs(png(path).astype(int) - expected).max() <= 1


def test_many_bands_show_the_first(png, raster):
    array = noise(7, 30, 40)
    np.testing.assert_array_equal(png(raster(array, photometric="minisblack")), array[:1])


def test_dtype_casts_instead_of_stretching(png, raster):
    array = noise(1, 30, 40, "uint16", 400)
    np.testing.assert_array_equal(png(raster(array), "--dtype", "uint8"), np.minimum(array, 255))


def test_size(png, raster):
    array = noise(3, 60, 80)
    found = png(raster(array, photometric="RGB"), "--size", "40x0", "--resampling", "average")
    assert found.shape == (3, 30, 40)


@pytest.mark.parametrize("bands", ["1,2", "1-4"])
def test_bands_that_make_no_picture(run, raster, tmp_path, bands):
    path = raster(noise(5, 20, 20), photometric="minisblack")
    done = run("read", "--bands", bands, path, str(tmp_path / "x.png"))
    assert done.returncode == 1 and "one band or three" in done.stderr


def test_complex_numbers_make_no_picture(run, raster, tmp_path):
    path = raster(noise(1, 20, 20).astype("complex64"))
    done = run("read", path, str(tmp_path / "x.png"))
    assert done.returncode == 1 and "--dtype float32 takes the real part" in done.stderr
    assert run("read", "--dtype", "float32", path, str(tmp_path / "x.png")).returncode == 0


def test_a_picture_that_does_not_fit_says_how(run, raster, tmp_path):
    path = raster(noise(3, 300, 400), photometric="RGB")
    done = run("read", "--memory", "100K", path, str(tmp_path / "x.png"))
    assert done.returncode == 1
    assert "smaller --size" in done.stderr and "--memory allows 100 KiB" in done.stderr
    assert list(tmp_path.iterdir()) == [tmp_path / "a.tif"]
