# SPDX-License-Identifier: Apache-2.0
"""terrazzo read --reduced-tiles: what comes out is the low-pass band of the tiles' wavelets. Tiles are written by tifffile,
and transformed here, by the rules of the standard (ITU-T T.800, annexes F and G)."""

import json

import numpy as np
import pytest
import tifffile
from imagecodecs import jpeg2k_decode

from conftest import call

pytestmark = pytest.mark.usefixtures("jpeg2000")


@pytest.fixture
def jpeg2000(features):
    if features["openjpeg"] is None:
        pytest.skip("built without OpenJPEG")


def picture(bands, height, width, dtype):
    """Waves and noise, with steps that low-pass filters overshoot at."""
    random = np.random.default_rng(bands * height + width)
    y, x = np.mgrid[:height, :width]
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    planes = [np.where((x // 37 + y // 29) % 2, most, least) * .6 + (most * .35) * np.sin(x / (9 + band)) * np.cos(y / 13)
              + random.normal(0, most / 40, (height, width)) for band in range(bands)]
    return np.clip(planes, least, most).astype(dtype)


def low_band(samples, axis):
    """5/3, of integers, along an axis."""
    x = np.moveaxis(samples, axis, 0)
    if len(x) == 1:
        return samples
    even, odd = x[0::2], x[1::2]
    following = np.concatenate([even[1:], even[-1:]])[:len(odd)]
    high = odd - (even[:len(odd)] + following) // 2
    before = np.concatenate([high[:1], high])[:len(even)]
    behind = np.concatenate([high, high[-1:]])[:len(even)]
    return np.moveaxis(even + (before + behind + 2) // 4, 0, axis)


def component_transform(stream):
    """Whether colours are decorrelated: from the coding style."""
    return stream[stream.index(b"\xff\x52") + 8] == 1


def reduced(stream, times):
    """A tile at a lower resolution, as pixels by bands."""
    pixels = jpeg2k_decode(stream)
    limits = np.iinfo(pixels.dtype)
    shift = (int(limits.max) + 1) // 2 if limits.min == 0 else 0
    planes = list(np.moveaxis(np.atleast_3d(pixels).astype(np.int64) - shift, 2, 0))
    if component_transform(stream):
        red, green, blue = planes[:3]
        planes[:3] = [(red + 2 * green + blue) >> 2, blue - green, red - green]
    for _ in range(times):
        planes = [low_band(low_band(plane, 0), 1) for plane in planes]
    if component_transform(stream):
        luma, u, v = planes[:3]
        green = luma - ((u + v) >> 2)
        planes[:3] = [v + green, green, u + green]
    return np.clip(np.stack(planes) + shift, limits.min, limits.max).astype(pixels.dtype)


def averaged(planes, times):
    """Means of squares, halves away from zero."""
    side = 1 << times
    height, width = (-(-length // side) for length in planes.shape[1:])
    out = np.empty((len(planes), height, width), planes.dtype)
    for row in range(height):
        for column in range(width):
            mean = planes[:, row * side:(row + 1) * side, column * side:(column + 1) * side].mean((1, 2))
            out[:, row, column] = np.sign(mean) * np.floor(np.abs(mean) + .5)
    return out


def write(path, planes, tile, photometric="minisblack", tags=(), **how):
    colours = 3 if photometric == "rgb" else 1
    more = {"extrasamples": ["unspecified"] * (len(planes) - colours)} if len(planes) > colours else {}
    if len(planes) > 1:
        more["planarconfig"] = "contig"
    tifffile.imwrite(path, np.moveaxis(planes, 0, 2) if len(planes) > 1 else planes[0], tile=(tile, tile),
                     photometric=photometric, compression="jpeg2000", metadata=None, extratags=tags,
                     compressionargs={"reversible": True, "level": 0} | how, **more)


def tiles_of(path):
    with tifffile.TiffFile(path) as file:
        page, data = file.pages[0], open(path, "rb").read()
        return page, [data[at:at + size] for at, size in zip(page.dataoffsets, page.databytecounts)]


def mosaic(path, make):
    """What make makes of each tile, put together and cut to the image."""
    page, streams = tiles_of(path)
    planes = [make(stream) for stream in streams]
    across = -(-page.imagewidth // page.tilewidth)
    rows = [np.concatenate(planes[i:i + across], 2) for i in range(0, len(planes), across)]
    return np.concatenate(rows, 1)


def read(tmp_path, path, *arguments):
    out = tmp_path / "out.npy"
    done = call("read", "--overwrite", "--json", path, str(out), *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return np.load(out), json.loads(done.stdout)


def layered(array):
    return array.reshape((-1, *array.shape[-2:]))


def smaller(size, times):
    """Of height and width."""
    return tuple(-(-length // (1 << times)) for length in size)


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("dtype, bands, tile, size, photometric", [
    ("uint8", 1, 64, (201, 167), "minisblack"),
    ("uint16", 3, 64, (130, 200), "rgb"),
    ("int16", 4, 128, (250, 300), "minisblack"),
    ("uint8", 4, 256, (300, 270), "rgb"),
    ("int16", 1, 512, (600, 530), "minisblack"),
    ("uint16", 1, 128, (128, 384), "minisblack"),
    ("uint8", 3, 512, (520, 100), "rgb"),
])
def test_pixels_are_the_low_band(tmp_path, dtype, bands, tile, size, photometric, times):
    path = str(tmp_path / "a.tif")
    write(path, picture(bands, *size, dtype), tile, photometric)
    height, width = smaller(size, times)
    found, report = read(tmp_path, path, "--size", f"{width}x{height}", "--reduced-tiles")
    expected = mosaic(path, lambda stream: reduced(stream, times))[:, :height, :width]
    np.testing.assert_array_equal(layered(found), expected)
    assert report["reduction"] == times and not report["resampled"]
    assert report["decode"]["tiles_reduced"] == report["plan"]["tiles"] > 0


@pytest.mark.parametrize("window, size, times", [
    ((64, 64, 64, 128), (32, 64), 1),        # whole tiles
    ((8, 24, 72, 96), (18, 24), 2),          # parts of some
    ((144, 0, 23, 201), (12, 101), 1),       # up to the edges, which are odd
    ((160, 192, 7, 9), (1, 2), 3),
])
def test_windows(tmp_path, window, size, times):
    path = str(tmp_path / "a.tif")
    write(path, picture(1, 201, 167, "uint8"), 64)
    column, row = (place >> times for place in window[:2])
    found, report = read(tmp_path, path, "--window", ",".join(map(str, window)), "--size", f"{size[0]}x{size[1]}",
                         "--reduced-tiles")
    whole = mosaic(path, lambda stream: reduced(stream, times))
    np.testing.assert_array_equal(layered(found), whole[:, row:row + size[1], column:column + size[0]])
    assert report["reduction"] == times and not report["resampled"]


@pytest.mark.parametrize("method", ["average", "bilinear", "nearest"])
def test_what_is_left_is_resampled(tmp_path, method):
    """As it would be of a file that has the smaller pixels."""
    path, other = str(tmp_path / "a.tif"), str(tmp_path / "b.tif")
    write(path, picture(3, 256, 384, "uint16"), 128, "rgb")
    tifffile.imwrite(other, np.moveaxis(mosaic(path, lambda stream: reduced(stream, 2)), 0, 2), photometric="rgb", metadata=None)
    found, report = read(tmp_path, path, "--size", "70x50", "--resampling", method, "--reduced-tiles")
    expected, _ = read(tmp_path, other, "--size", "70x50", "--resampling", method)
    np.testing.assert_array_equal(found, expected)
    assert report["reduction"] == 2 and report["resampled"]


@pytest.mark.parametrize("resolutions, times", [(1, 1), (1, 3), (2, 1), (2, 2), (3, 3), (2, 5)])
@pytest.mark.parametrize("dtype", ["uint8", "int16"])
def test_too_few_resolutions(tmp_path, dtype, resolutions, times):
    """As far as they go, and means of squares from there."""
    path = str(tmp_path / "a.tif")
    write(path, picture(1, 150, 130, dtype), 64, resolutions=resolutions)
    height, width = smaller((150, 130), times)
    own = min(times, resolutions - 1)
    found, report = read(tmp_path, path, "--size", f"{width}x{height}", "--reduced-tiles")
    expected = mosaic(path, lambda stream: averaged(reduced(stream, own), times - own))
    np.testing.assert_array_equal(layered(found), expected[:, :height, :width])
    assert report["reduction"] == times


def low_band_97(samples, axis):
    """9/7, by lifting, along an axis of even length."""
    x = np.moveaxis(samples, axis, 0)
    even, odd = x[0::2].copy(), x[1::2].copy()
    for for_odd, factor in ((True, -1.586134342059924), (False, -0.052980118572961), (True, 0.882911075530934),
                            (False, 0.443506852043971)):
        if for_odd:
            odd += factor * (even + np.concatenate([even[1:], even[-1:]]))
        else:
            even += factor * (odd + np.concatenate([odd[:1], odd[:-1]]))
    return np.moveaxis(even / 1.230174104914001, 0, axis)


def test_irreversible_wavelets(tmp_path):
    path = str(tmp_path / "a.tif")
    write(path, picture(1, 256, 256, "uint8"), 128, reversible=False, level=70)

    def low(stream):
        samples = jpeg2k_decode(stream)[None].astype(float)
        for _ in range(2):
            samples = low_band_97(low_band_97(samples, 1), 2)
        return samples.clip(0, 255)

    found, report = read(tmp_path, path, "--size", "64x64", "--reduced-tiles")
    assert report["reduction"] == 2
    difference = np.abs(layered(found) - mosaic(path, low))
    assert difference.mean() < .5 and difference.max() < 5


@pytest.mark.parametrize("kind", ["not asked for", "nodata", "palette", "mapped", "too large", "median", "deflate"])
def test_what_is_not_reduced(tmp_path, kind):
    path = str(tmp_path / "a.tif")
    planes = picture(1, 200, 160, "uint8")
    tags = [(42113, "s", 2, "0", True)] if kind == "nodata" else []
    if kind == "palette":
        write(path, planes, 64, "palette", tags=[(320, "H", 768, list(range(768)), True)])
    elif kind == "mapped":
        write(path, planes, 64, tags=[(320, "H", 768, list(range(768)), True)])
    elif kind == "deflate":
        tifffile.imwrite(path, planes[0], tile=(64, 64), compression="zlib", metadata=None)
    else:
        write(path, planes, 64, tags=tags)
    size = "81x101" if kind == "too large" else "40x50"
    method = {"median": "median", "palette": "nearest", "mapped": "nearest"}.get(kind, "average")
    how = ["--quiet", "--size", size, "--resampling", method]
    expected, plain = read(tmp_path, path, *how)
    found, report = read(tmp_path, path, *how, *([] if kind == "not asked for" else ["--reduced-tiles"]))
    np.testing.assert_array_equal(found, expected)
    assert (report["reduction"], report["decode"]["tiles_reduced"]) == (0, 0)
    assert report["plan"] == plain["plan"] and report["decode"] == plain["decode"]


def test_a_plan_reports_it(tmp_path):
    path = str(tmp_path / "a.tif")
    write(path, picture(1, 512, 512, "uint8"), 256)
    done = call("plan", "--json", "--size", "64x64", "--reduced-tiles", path)
    report = json.loads(done.stdout)
    assert report["reduction"] == 3 and report["decode"]["tiles_reduced"] == 4
    assert report["plan"]["largest_tile"] == 32 * 32
    assert "by the codec to 1/8 of the level" in call("plan", "--size", "64x64", "--reduced-tiles", path).stdout
    done = call("plan", "--reduced-tiles", path)
    assert done.returncode == 2 and "--reduced-tiles needs --size\n" in done.stderr
