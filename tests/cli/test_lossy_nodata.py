# SPDX-License-Identifier: Apache-2.0
"""Nodata and lossy codecs: a mask takes the place of nodata, and its pixels are those that were nodata. rasterio and
rio-cogeo say the same; LERC keeps the value itself."""

import hashlib
import json
import pathlib

import numpy as np
import pytest
import rasterio
from rasterio.enums import MaskFlags
from rio_cogeo import cog_profiles, cog_translate, cog_validate

from conftest import call, least_memory
from test_convert import check, co, pixels_of

pytestmark = pytest.mark.filterwarnings("ignore")
NODATA = 100
SMALL = ["--co", "BLOCKSIZE=64"]
LOSSY = {"jpeg": ["-p", "jpeg"], "webp": ["-p", "webp"],
         "jxl": co(["COMPRESS=JXL", "JXL_LOSSLESS=NO"]), "jpeg2000": co(["COMPRESS=JPEG2000", "QUALITY=40"]),
         "overviews": co(["OVERVIEW_COMPRESS=JPEG"])}


def holes(bands=3, height=200, width=170):
    """Nodata in a corner, here and there in all bands, and here and there in one."""
    random = np.random.default_rng(3)
    array = pixels_of("uint8", bands, height, width)
    array[:, :90, :70] = NODATA
    array[:, random.random((height, width)) < 0.1] = NODATA
    array[0, random.random((height, width)) < 0.1] = NODATA
    return array


def valid_of(array):
    return np.where((array == NODATA).all(axis=0), 0, 255).astype("uint8")


def halved(valid):
    """Valid where any of the pixels under the new one is, of even sizes."""
    return np.maximum.reduce([valid[y::2, x::2] for y in (0, 1) for x in (0, 1)])


@pytest.fixture
def lossy(features, raster, tmp_path):
    """Runs cog, or convert, and returns the path and the messages."""
    def make(path, *arguments, command="cog", name="out.tif", **options):
        out = str(tmp_path / name)
        done = call(command, "--json", "--no-sync", "--overwrite", *arguments, path, out, **options)
        assert done.returncode == 0, done.stderr
        answer = check(done.stdout)
        for warning in answer["warnings"]:
            assert warning["message"] in done.stderr
        return out, answer
    if any(features[name] is None for name in ("jpeg", "webp", "jxl", "openjpeg")):
        pytest.skip("a codec is missing")
    return make


def mask_by_us(path, tmp_path, *arguments):
    assert call("read", "--masked", "--overwrite", *arguments, path, str(tmp_path / "m.npy")).returncode == 0
    return np.load(tmp_path / "m.mask.npy")


def mask_tags(answer):
    return [warning for warning in answer["warnings"] if warning["tag"] == 42113]


@pytest.mark.parametrize("codec", LOSSY)
@pytest.mark.parametrize("bands", [3, 1])
def test_a_mask_replaces_nodata(lossy, raster, tmp_path, codec, bands):
    if codec == "webp" and bands == 1:
        return  # WebP is of three or four bands
    array = holes(bands)
    out, answer = lossy(raster(array, nodata=NODATA), *LOSSY[codec], *SMALL)
    note, = mask_tags(answer)
    assert answer["mask"] and note["cause"] == "META" and str(NODATA) in note["message"]
    valid = valid_of(array)
    found = mask_by_us(out, tmp_path)
    assert all(np.array_equal(band, valid) for band in found.reshape(-1, *valid.shape))
    found = mask_by_us(out, tmp_path, "--level", "1")
    assert all(np.array_equal(band, halved(valid)) for band in found.reshape(-1, *halved(valid).shape))
    if codec not in ("jpeg", "webp", "overviews"):
        return  # not in every GDAL
    with rasterio.open(out) as file:
        assert file.nodata is None and file.mask_flag_enums == ([MaskFlags.per_dataset],) * bands
        np.testing.assert_array_equal(file.dataset_mask(), valid)
    with rasterio.open(out, overview_level=0) as file:
        np.testing.assert_array_equal(file.dataset_mask(), halved(valid))


def test_the_mask_is_that_of_rio_cogeo(lossy, raster, tmp_path):
    path = raster(holes(), nodata=NODATA)
    cog_translate(path, str(tmp_path / "rio.tif"), cog_profiles.get("jpeg"), quiet=True)
    out, _ = lossy(path, "-p", "jpeg")
    assert cog_validate(out, strict=True, quiet=True)[0]
    with rasterio.open(out) as ours, rasterio.open(tmp_path / "rio.tif") as theirs:
        assert ours.nodata is theirs.nodata is None
        np.testing.assert_array_equal(ours.dataset_mask(), theirs.dataset_mask())


def test_convert_does_so_too(lossy, raster):
    array = holes()
    out, answer = lossy(raster(array, nodata=NODATA), *co(["COMPRESS=JPEG", "TILED=YES"]), command="convert")
    with rasterio.open(out) as file:
        assert file.nodata is None
        np.testing.assert_array_equal(file.dataset_mask(), valid_of(array))


@pytest.mark.parametrize("codec", ["jpeg", "webp"])
def test_nodata_is_kept_if_asked_for(lossy, raster, codec):
    out, answer = lossy(raster(holes(), nodata=NODATA), *LOSSY[codec], "--keep-nodata")
    with rasterio.open(out) as file:
        assert file.nodata == NODATA and file.mask_flag_enums == ([MaskFlags.nodata],) * 3
    assert not answer["mask"] and len(mask_tags(answer)) == 1  # that it comes back as other values


@pytest.mark.parametrize("options", [[], co(["COMPRESS=JXL"]), co(["COMPRESS=JPEG2000"]), co(["COMPRESS=WEBP", "QUALITY=100"]),
                                     ["-p", "lerc", "--co", "MAX_Z_ERROR=3"]])
def test_codecs_that_keep_it_get_no_mask(lossy, raster, options):
    _, answer = lossy(raster(holes(), nodata=NODATA), *options)
    assert not answer["mask"] and mask_tags(answer) == []


def test_a_mask_of_the_source_stays(lossy, raster):
    array = holes()
    mask = np.where(array[1] % 3 == 0, 0, 255).astype("uint8")
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        path = raster(array, mask=mask, nodata=NODATA)
    out, answer = lossy(path, "-p", "jpeg")
    with rasterio.open(out) as file:
        assert file.nodata is None and len(mask_tags(answer)) == 1
        np.testing.assert_array_equal(file.dataset_mask(), mask)


@pytest.mark.parametrize("profile, valid_by_alpha", [("jpeg", True), ("webp", False)])
def test_alpha_is_not_data(lossy, raster, tmp_path, profile, valid_by_alpha):
    """Alpha that JPEG makes a mask of, and nodata: valid by both. Alpha that stays is not a band with data."""
    array = holes(4)
    array[3] = 255
    array[3, ::7] = 0
    out, _ = lossy(raster(array, nodata=NODATA, photometric="rgb", alpha="yes"), "-p", profile)
    valid = valid_of(array[:3])
    if valid_by_alpha:
        valid[::7] = 0
    np.testing.assert_array_equal(mask_by_us(out, tmp_path)[0], valid)


@pytest.mark.parametrize("order", ["pixel", "row"])
def test_standard_input(lossy, raster, tmp_path, order):
    array = holes()
    rows = np.moveaxis(array, 0, -1 if order == "pixel" else 1)
    (tmp_path / "raw").write_bytes(np.ascontiguousarray(rows).tobytes())
    from_file, _ = lossy(raster(array, nodata=NODATA, photometric="rgb"), "-p", "jpeg", *SMALL)
    with open(tmp_path / "raw", "rb") as source:
        out, answer = lossy("-", "-p", "jpeg", *SMALL, "--shape", "200x170x3", "--dtype", "uint8", "--nodata",
                            str(NODATA), "--order", order, name="raw.tif", stdin=source)
    assert len(mask_tags(answer)) == 1
    assert pathlib.Path(out).read_bytes() == pathlib.Path(from_file).read_bytes()
    with open(tmp_path / "raw", "rb") as source:
        done = call("cog", "-p", "jpeg", "--shape", "200x170x3", "--dtype", "uint8", "--nodata", "-1", "-",
                    str(tmp_path / "no.tif"), stdin=source)
    assert done.returncode == 1 and "nodata" in done.stderr


def test_bytes_do_not_depend_on_how_it_is_made(lossy, raster):
    path = raster(holes(3, 700, 600), nodata=NODATA, tiled=True, blockxsize=64, blockysize=64)
    least = least_memory("cog", "-p", "jpeg", *SMALL, path, "x.tif")
    found = {hashlib.sha256(pathlib.Path(lossy(path, "-p", "jpeg", *SMALL, *words)[0]).read_bytes()).hexdigest()
             for words in (["-j", "1"], ["-j", "3"], ["--memory", least], ["-j", "2", "--memory", "8M"])}
    assert len(found) == 1


# LERC --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int16", "uint8", "float32", "float64"])
@pytest.mark.parametrize("nodata", [100, 0, 255, 103])
@pytest.mark.parametrize("codec", ["lerc", "lerc_deflate"])
def test_lerc_keeps_nodata_exactly(lossy, raster, dtype, nodata, codec):
    """Also where other values are closer to it than the largest error, and between them."""
    random = np.random.default_rng(5)
    array = (pixels_of("int16", 2, 200, 170) % 256).astype(dtype)
    if dtype.startswith("float"):
        array += random.random(array.shape).astype(dtype)
        array[array == nodata] += 1
    array[:, :90, :70] = nodata
    array[random.random(array.shape) < 0.1] = nodata
    out, _ = lossy(raster(array, nodata=nodata), "-p", codec, "--co", "MAX_Z_ERROR=2.5", *SMALL)
    with rasterio.open(out) as file:
        found = file.read()
        assert file.nodata == nodata
        np.testing.assert_array_equal(found == nodata, array == nodata)
        assert np.abs(found.astype("f8") - array).max() <= 2.5
    with rasterio.open(out, overview_level=0) as file:
        blocks = np.stack([array[:, y::2, x::2] == nodata for y in (0, 1) for x in (0, 1)])
        np.testing.assert_array_equal(file.read() == nodata, blocks.all(axis=0))


def test_json_of_a_plan(raster, tmp_path):
    done = call("plan-cog", "--json", "-p", "jpeg", raster(holes(), nodata=NODATA), str(tmp_path / "plan"))
    assert done.returncode == 0 and json.loads(done.stdout)["mask"] and "nodata" in done.stderr
