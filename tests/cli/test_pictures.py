# SPDX-License-Identifier: Apache-2.0
"""terrazzo read to JPEG and WebP, and what all pictures have in common: decoded by GDAL and by imagecodecs, which bring
libraries of their own."""

import json
import pathlib

import imagecodecs
import jsonschema
import numpy as np
import pytest
import rasterio

from conftest import ROOT, call

pytestmark = [pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")]

SCHEMA = json.loads((ROOT / "doc" / "read.schema.json").read_text())
FEATURES = {"png": None, "jpg": "jpeg", "jpeg": "jpeg", "webp": "webp"}
DECODERS = {"png": imagecodecs.png_decode, "jpg": imagecodecs.jpeg8_decode, "jpeg": imagecodecs.jpeg8_decode,
            "webp": imagecodecs.webp_decode}
DTYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float32", "float64"]


@pytest.fixture
def need(features):
    def check(ending):
        if FEATURES[ending] and features[FEATURES[ending]] is None:
            pytest.skip(f"built without {FEATURES[ending]}")
    return check


@pytest.fixture
def picture(tmp_path, need):
    """Runs `terrazzo read` and returns (channels, rows, columns), on which two decoders agree."""
    def run_read(path, ending, *arguments):
        need(ending)
        out = tmp_path / f"out.{ending}"
        done = call("read", "--quiet", "--overwrite", path, str(out), *arguments)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        found = DECODERS[ending](out.read_bytes())
        found = found[None] if found.ndim == 2 else found.transpose(2, 0, 1)
        with rasterio.open(out) as file:
            apart = np.abs(file.read().astype(int) - found)
        assert apart.mean() < 4 if ending.startswith("jp") else apart.max() == 0  # decoders of JPEG differ
        return found
    return run_read


def smooth(bands, height, width):
    """Waves, which lossy codecs keep well."""
    y, x = np.mgrid[0:height, 0:width]
    return np.stack([127 + 100 * np.sin(x / (17 + 5 * band)) * np.cos(y / (23 + band)) for band in range(bands)])


def flat(array, background):
    """RGBA over a background."""
    alpha = array[-1].astype(int)
    under = np.array(background)[:, None, None]
    colors = np.broadcast_to(array[:-1].astype(int), (3, *alpha.shape))
    return (colors * alpha + under * (255 - alpha) + 127) // 255


@pytest.mark.parametrize("ending", ["jpg", "jpeg", "webp"])
@pytest.mark.parametrize("shape", [(1, 1), (7, 5), (16, 16), (131, 257), (1, 3000), (3000, 1)])
def test_grey_and_rgb_of_all_sizes(picture, raster, ending, shape):
    array = smooth(3, *shape).astype("uint8")
    found = picture(raster(array, photometric="RGB"), ending, "--quality", "95")
    assert found.shape == array.shape
    assert np.abs(found.astype(int) - array).mean() < 4
    found = picture(raster(array[:1]), ending, "--quality", "95", "--no-stretch")
    assert found.shape == (1 if ending != "webp" else 3, *shape)
    assert np.abs(found.astype(int) - array[:1]).mean() < 4


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (100, 33)])
@pytest.mark.parametrize("bands", [1, 2, 3, 4])
def test_lossless_webp_keeps_every_pixel(picture, raster, bands, shape):
    array = np.random.default_rng(2).integers(1, 256, (bands, *shape)).astype("uint8")
    array[-1].flat[0] = 254 if bands % 2 == 0 else 1  # libwebp drops alpha that is opaque everywhere
    profile = {"photometric": "RGB"} if bands >= 3 else {}
    path = raster(array, alpha="yes" if bands % 2 == 0 else "no", **profile)
    found = picture(path, "webp", "--lossless", "--no-stretch")
    colors = array[:3] if bands >= 3 else np.repeat(array[:1], 3, 0)
    np.testing.assert_array_equal(found, np.concatenate([colors, array[-1:]]) if bands % 2 == 0 else colors)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_is_the_same_in_every_format(picture, raster, dtype):
    array = smooth(1, 60, 70)
    array = (array - 127 if dtype == "int8" else array * (1 if dtype == "uint8" else 3)).astype(dtype)
    path = raster(array)
    png = picture(path, "png")
    assert png.shape[0] == 1 and (dtype == "uint8" or (png.min() == 0 and png.max() == 255))
    np.testing.assert_array_equal(picture(path, "webp", "--lossless"), np.repeat(png, 3, 0))
    assert np.abs(picture(path, "jpg", "--quality", "100").astype(int) - png).max() <= 3


def test_quality_changes_the_size(picture, raster, tmp_path):
    array = smooth(3, 64, 64) * 0.8 + np.random.default_rng(1).integers(0, 30, (3, 64, 64))
    path = raster(array.astype("uint8"), photometric="RGB")
    for ending in ("jpg", "webp"):
        sizes = []
        for quality in ("10", "75", "95"):
            picture(path, ending, "--quality", quality)
            sizes.append((tmp_path / f"out.{ending}").stat().st_size)
        assert sizes == sorted(sizes) and sizes[0] < sizes[2] / 2
        picture(path, ending)
        assert (tmp_path / f"out.{ending}").stat().st_size == sizes[1]


def test_jpeg_has_no_alpha(picture, run, raster, tmp_path, need):
    need("jpg")
    array = smooth(1, 40, 50).astype("float32")
    path = raster(array, nodata=-1)
    assert picture(path, "jpg").shape == (1, 40, 50)
    array[0, :20] = -1
    path = raster(array, nodata=-1)
    done = run("read", path, str(tmp_path / "x.jpg"))
    assert done.returncode == 1 and "no alpha channel" in done.stderr and not (tmp_path / "x.jpg").exists()
    for background in ((255, 255, 255), (200, 10, 30)):
        text = ",".join(map(str, background))
        expected = flat(picture(path, "png"), background)
        np.testing.assert_array_equal(np.broadcast_to(picture(path, "png", "--background", text), (3, 40, 50)), expected)
        found = picture(path, "jpg", "--background", text, "--quality", "100")
        assert found.shape[0] == (1 if len(set(background)) == 1 else 3)
        assert np.abs(np.broadcast_to(found, (3, 40, 50)).astype(int) - expected)[:, 8:].mean() < 5


def test_an_opaque_band_of_alpha_is_no_obstacle_to_jpeg(picture, raster):
    array = smooth(4, 40, 48).astype("uint8")
    array[3] = 255
    path = raster(array, photometric="RGB", alpha="yes")
    assert picture(path, "jpg").shape == (3, 40, 48)
    assert picture(path, "png").shape == (4, 40, 48)


def test_palettes_with_transparency(picture, raster):
    array = np.random.default_rng(3).integers(0, 5, (1, 30, 41)).astype("uint8")
    colors = {0: (0, 0, 0, 255), 1: (255, 0, 0, 255), 2: (0, 255, 0, 255), 3: (1, 2, 3, 255), 4: (250, 128, 7, 255)}
    table = np.array([colors[i][:3] for i in range(5)], "uint8")
    path = raster(array, photometric="palette", colormap=colors, nodata=3)
    valid = array[0] != 3
    for ending, arguments in (("png", []), ("webp", ["--lossless"])):
        found = picture(path, ending, *arguments)
        np.testing.assert_array_equal(found[3], np.where(valid, 255, 0))
        np.testing.assert_array_equal(found[:3, valid], table[array[0]].transpose(2, 0, 1)[:, valid])
    found = picture(path, "png", "--background", "9,8,7")
    np.testing.assert_array_equal(found[:, ~valid], np.array([[9], [8], [7]]).repeat((~valid).sum(), 1))
    np.testing.assert_array_equal(found[:, valid], table[array[0]].transpose(2, 0, 1)[:, valid])


def test_the_format_is_in_the_name_or_given(run, raster, tmp_path, need):
    need("jpg")
    need("webp")
    path = raster(smooth(3, 20, 30).astype("uint8"), photometric="RGB")
    for name, arguments, start in (("a.JPG", [], b"\xff\xd8\xff"), ("a.jpeg", [], b"\xff\xd8\xff"),
                                   ("a.WebP", [], b"RIFF"), ("b", ["--format", "jpeg"], b"\xff\xd8\xff"),
                                   ("c", ["--format", "jpg"], b"\xff\xd8\xff"), ("d.png", ["--format", "webp"], b"RIFF")):
        assert run("read", *arguments, path, str(tmp_path / name)).returncode == 0
        assert (tmp_path / name).read_bytes().startswith(start)
    with open(tmp_path / "piped", "wb") as out:
        assert run("read", "--format", "jpeg", path, "-", stdout=out).returncode == 0
    assert (tmp_path / "piped").read_bytes() == (tmp_path / "b").read_bytes()
    answer = json.loads(run("read", "--json", "--overwrite", path, str(tmp_path / "a.jpeg")).stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(answer)
    assert answer["format"] == "jpeg"


@pytest.mark.parametrize("arguments, message", [
    (["--quality", "50", "a.tif", "b.png"], "--quality is for JPEG and WebP\n"),
    (["--quality", "0", "a.tif", "b.jpg"], "--quality needs a number from 1 to 100, not '0'\n"),
    (["--quality", "101", "a.tif", "b.jpg"], "--quality needs a number from 1 to 100, not '101'\n"),
    (["--lossless", "a.tif", "b.jpg"], "--lossless is for WebP\n"),
    (["--lossless", "--quality", "9", "a.tif", "b.webp"], "--quality and --lossless do not go together\n"),
    (["--background", "1,2", "a.tif", "b.jpg"], "--background needs red, green and blue from 0 to 255, not '1,2'\n"),
    (["--background", "1,2,256", "a.tif", "b.jpg"], "not '1,2,256'\n"),
    (["--background", "1,2,3,4", "a.tif", "b.jpg"], "not '1,2,3,4'\n"),
    (["--background", "1,2,3", "a.tif", "b.npy"], "--background is for pictures\n"),
    (["--order", "pixel", "a.tif", "b.jpg"], "--order is for raw and npy\n")])
def test_wrong_usage(run, arguments, message):
    done = run("read", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ") and message in done.stderr


def test_a_picture_that_is_too_large_is_refused_before_the_read(run, raster, tmp_path, need):
    need("webp")
    path = raster(np.zeros((1, 2, 16384), "uint8"))
    done = run("read", path, str(tmp_path / "x.webp"))
    assert done.returncode == 1 and "at most 16383 columns and rows" in done.stderr
    assert not (tmp_path / "x.webp").exists()


def test_the_memory_of_webp_counts(run, raster, tmp_path, need):
    """libwebp holds the whole picture, PNG some rows of it."""
    need("webp")
    path = raster(smooth(3, 600, 700).astype("uint8"), photometric="RGB")
    out = {ending: str(tmp_path / f"x.{ending}") for ending in ("png", "webp")}
    assert run("read", "--memory", "6M", path, out["png"]).returncode == 0
    done = run("read", "--memory", "6M", path, out["webp"])
    assert done.returncode == 1 and "--memory allows 6 MiB" in done.stderr
    assert not pathlib.Path(out["webp"]).exists()
    assert run("plan", "--format", "webp", "--memory", "6M", path).returncode == 1
    assert run("read", "--memory", "64M", path, out["webp"]).returncode == 0
