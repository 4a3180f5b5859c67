# SPDX-License-Identifier: Apache-2.0
"""terrazzo cog: what is written. The same options are given to GDAL's COG driver and the results
compared; pixels of overviews are computed here."""

import hashlib
import json
import pathlib
import subprocess

import numpy as np
import pytest
import rasterio
import rasterio.shutil
import tifffile
from rasterio.enums import ColorInterp, MaskFlags

from conftest import COMMAND, least_memory, without_rare_codec
from test_convert import PLACE, check, co, facts, pixels_of, read, rich, tags_of  # noqa: F401

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
SMALL = ["BLOCKSIZE=64"]  # so that small images have overviews


@pytest.fixture
def cog(run, tmp_path):
    """Makes a COG and returns its path; a failure is a failure of the test."""
    def make(path, *arguments, name="out.tif", options=()):
        out = str(tmp_path / name)
        done = run("cog", "--no-sync", *co(options), *arguments, path, out)
        assert (done.returncode, done.stdout, without_rare_codec(done.stderr)) == (0, "", ""), done.stderr
        return out
    return make


@pytest.fixture
def by_gdal(tmp_path):
    def make(path, options=()):
        out = str(tmp_path / "gdal.tif")
        rasterio.shutil.copy(path, out, driver="COG", **dict(o.split("=") for o in options))
        return out
    return make


def pages(path):
    """Of all directories: kind, size, and how they are stored."""
    names = ("ImageWidth", "ImageLength", "TileWidth", "Compression", "Predictor", "PlanarConfiguration",
             "PhotometricInterpretation", "BitsPerSample", "NewSubfileType", "ExtraSamples", "SampleFormat")
    normal = {"Predictor": 1, "PlanarConfiguration": 1, "NewSubfileType": 0, "SampleFormat": 1}
    with tifffile.TiffFile(path) as file:
        found = [{tag.name: tag.value for tag in page.tags.values()} for page in file.pages]
    return [{name: np.ravel(page.get(name, normal.get(name, []))).astype(int).tolist() for name in names}
            for page in found]


def overview(path, level):
    with rasterio.open(path, overview_level=level) as file:
        return file.read()


def blocks(array):
    """The four pixels under each one of an overview, of even sizes."""
    return np.stack([array[:, y::2, x::2] for y in (0, 1) for x in (0, 1)]).astype("float64")


def structure(path):
    with rasterio.open(path) as file:
        return file.tags(ns="IMAGE_STRUCTURE")


# Layout -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype, bands, predictor", [("uint8", 3, "2"), ("int16", 1, "2"), ("float32", 1, "3"),
                                                     ("float64", 2, "3"), ("uint32", 1, "2")])
def test_defaults(cog, info, raster, dtype, bands, predictor):
    array = pixels_of(dtype, bands, 1100, 1300)
    out = cog(raster(array, **PLACE))
    with rasterio.open(out) as file:
        assert (file.overviews(1), file.block_shapes[0]) == ([2, 4], (512, 512))
        assert (file.compression.name, file.crs, file.transform) == ("deflate", PLACE["crs"],
                                                                     PLACE["transform"])
        np.testing.assert_array_equal(file.read(), array)
    assert structure(out)["PREDICTOR"] == predictor and structure(out)["LAYOUT"] == "COG"
    told = info(out)["terrazzo"]
    assert told["cog"]["is_cog"] and all(level["compression_name"] == "DEFLATE" for level in told["levels"])


LAYOUTS = [
    ("uint8", 1, ["COMPRESS=LZW"]), ("uint8", 3, ["COMPRESS=DEFLATE", "LEVEL=9"]),
    ("uint16", 1, ["COMPRESS=LZW", "PREDICTOR=YES", "OVERVIEW_PREDICTOR=YES"]),
    ("float32", 1, ["COMPRESS=ZSTD", "LEVEL=1", "PREDICTOR=YES", "OVERVIEW_PREDICTOR=YES"]),
    ("float32", 1, ["COMPRESS=ZSTD", "PREDICTOR=STANDARD", "OVERVIEW_PREDICTOR=YES"]),
    ("float64", 1, ["COMPRESS=DEFLATE", "PREDICTOR=FLOATING_POINT", "OVERVIEW_PREDICTOR=FLOATING_POINT"]),
    ("uint16", 1, ["COMPRESS=LZW", "PREDICTOR=NO", "OVERVIEW_PREDICTOR=YES"]),
    ("int16", 3, ["COMPRESS=LZW", "PREDICTOR=2", "OVERVIEW_PREDICTOR=2"]), ("uint8", 1, ["COMPRESS=LZMA", "LEVEL=1"]),
    ("float32", 1, ["COMPRESS=LERC", "MAX_Z_ERROR=0"]), ("float32", 1, ["COMPRESS=LERC_ZSTD"]),
    ("int16", 1, ["COMPRESS=LERC_DEFLATE", "LEVEL=1"]), ("uint8", 3, ["COMPRESS=WEBP", "QUALITY=100"]),
    ("uint8", 4, ["COMPRESS=WEBP", "QUALITY=100"]), ("uint8", 4, ["COMPRESS=LZW"]),
    ("complex64", 1, ["COMPRESS=LZW", "RESAMPLING=AVERAGE"]),
    ("uint8", 1, ["COMPRESS=NONE", "OVERVIEWS=NONE"]), ("uint8", 1, ["COMPRESS=NONE", "OVERVIEW_COUNT=1"]),
    ("uint8", 1, ["COMPRESS=NONE", "OVERVIEW_COUNT=4"]), ("uint8", 1, ["COMPRESS=NONE", "BLOCKSIZE=128"]),
    ("uint8", 1, ["COMPRESS=LZW", "OVERVIEW_COMPRESS=DEFLATE"]), ("uint8", 1, ["COMPRESS=LZW", "BIGTIFF=YES"]),
    ("uint16", 1, ["COMPRESS=LZW", "NBITS=12"]),
    ("uint8", 3, ["COMPRESS=JPEG"]), ("uint8", 1, ["COMPRESS=JPEG", "QUALITY=50"]),
    ("uint8", 4, ["COMPRESS=JPEG", "QUALITY=95"]),
    ("uint8", 2, ["COMPRESS=JPEG"]), ("uint8", 3, ["COMPRESS=JPEG", "OVERVIEW_COMPRESS=LZW"]),
    ("uint8", 3, ["COMPRESS=LZW", "OVERVIEW_COMPRESS=JPEG"]), ("uint8", 1, ["COMPRESS=LZW", "OVERVIEW_COMPRESS=JPEG"])]


@pytest.mark.parametrize("dtype, bands, options", LAYOUTS)
def test_options_mean_what_they_mean_to_gdal(cog, by_gdal, raster, dtype, bands, options):
    """Sizes that halve evenly, where GDAL and terrazzo agree on them."""
    alpha = {"alpha": "yes"} if bands in (2, 4) else {}
    array = pixels_of(dtype, bands, 192, 256)
    path = raster(array, **PLACE, **alpha)
    normal = {"BLOCKSIZE": "64", "PREDICTOR": "NO", "OVERVIEW_PREDICTOR": "NO"}
    options = list({option.split("=")[0]: option for option in [
        *(f"{key}={value}" for key, value in normal.items()), *options]}.values())
    ours, theirs = cog(path, "-q", options=options), by_gdal(path, options)
    assert pages(ours) == pages(theirs)
    a, b = structure(ours), structure(theirs)
    assert {key: a.get(key) for key in ("LAYOUT", "COMPRESSION", "INTERLEAVE", "PREDICTOR", "NBITS")} == {
        key: b.get(key) for key in ("LAYOUT", "COMPRESSION", "INTERLEAVE", "PREDICTOR", "NBITS")}
    if "COMPRESS=JPEG" in options:
        error, usual = (np.abs(read(file).astype(int) - array[:len(read(file))]).mean() for file in (ours, theirs))
        assert 0 < error < 1.1 * usual
    else:
        np.testing.assert_array_equal(read(ours), read(theirs))
    with rasterio.open(ours) as x, rasterio.open(theirs) as y:
        assert (x.overviews(1), x.mask_flag_enums) == (y.overviews(1), y.mask_flag_enums)
        np.testing.assert_array_equal(x.dataset_mask(), y.dataset_mask())


def test_no_predictor_of_overviews_alone(cog, raster):
    """GDAL takes NO for not given."""
    out = cog(raster(pixels_of("float32", 1, 192, 256)), options=[*SMALL, "OVERVIEW_PREDICTOR=NO"])
    assert [page["Predictor"] for page in pages(out)] == [[3], [1], [1]]


@pytest.mark.parametrize("dtype, bands, options", [
    ("uint8", 3, []), ("float32", 1, ["COMPRESS=LERC_ZSTD", "MAX_Z_ERROR=0.1"]), ("uint8", 4, ["COMPRESS=JPEG"]),
    ("uint16", 3, ["INTERLEAVE=BAND"]), ("uint8", 4, ["COMPRESS=WEBP"]), ("int16", 1, ["SPARSE_OK=YES"]),
    ("uint8", 3, ["OVERVIEW_COMPRESS=JPEG"]), ("uint8", 1, ["COMPRESS=NONE", "STATISTICS=YES"]),
    ("uint16", 2, ["INTERLEAVE=TILE", "COMPRESS=ZSTD"]), ("uint8", 1, ["OVERVIEW_COUNT=6"])])
def test_what_is_written_is_valid(run, cog, raster, dtype, bands, options):
    alpha = {"alpha": "yes"} if bands == 4 else {}
    array = pixels_of(dtype, bands, 333, 517)
    array[:, :70] = 0
    out = cog(raster(array, **PLACE, **alpha), options=[*SMALL, *options])
    done = run("validate", "--strict", "--full", out)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("profile, compression", [
    ("jpeg", "JPEG"), ("webp", "WEBP"), ("zstd", "ZSTD"), ("lzw", "LZW"), ("deflate", "DEFLATE"),
    ("packbits", "PACKBITS"), ("lzma", "LZMA"), ("lerc", "LERC"), ("lerc_deflate", "LERC_DEFLATE"),
    ("lerc_zstd", "LERC_ZSTD"), ("raw", None), ("JPEG", "JPEG")])
def test_profiles(cog, raster, profile, compression):
    found = structure(cog(raster(pixels_of("uint8", 3)), "-p", profile))
    if profile.lower() == "jpeg":
        compression = "YCbCr JPEG"
    assert found.get("COMPRESSION") == compression and found["LAYOUT"] == "COG"


@pytest.mark.parametrize("order", [["-p", "jpeg", "--co", "COMPRESS=LZW"], ["--co", "COMPRESS=LZW", "-p", "jpeg"]])
def test_compress_wins_over_a_profile(cog, raster, order):
    assert structure(cog(raster(pixels_of("uint8", 3)), *order))["COMPRESSION"] == "LZW"


@pytest.mark.parametrize("options, least, most", [
    ([], "LEVEL=1", "LEVEL=12"), (["PREDICTOR=NO"], "LEVEL=FAST", "LEVEL=6"),
    (["COMPRESS=ZSTD"], "LEVEL=1", "LEVEL=19"),
    (["COMPRESS=LZMA"], "LEVEL=0", "LEVEL=9"), (["COMPRESS=LZ4"], "LEVEL=1", "LEVEL=12"),
    (["COMPRESS=JPEG"], "QUALITY=90", "QUALITY=10"), (["COMPRESS=WEBP"], "QUALITY=100", "QUALITY=50"),
    (["COMPRESS=JPEG2000"], "QUALITY=100", "QUALITY=20"),
    (["COMPRESS=JPEG"], "OVERVIEW_QUALITY=90", "OVERVIEW_QUALITY=10"),
    (["OVERVIEW_COMPRESS=WEBP"], "OVERVIEW_QUALITY=100", "OVERVIEW_QUALITY=50"),
    (["COMPRESS=WEBP", "QUALITY=100"], "OVERVIEW_QUALITY=100", "OVERVIEW_QUALITY=50"),
    (["COMPRESS=WEBP", "QUALITY=50"], "OVERVIEW_QUALITY=100", "OVERVIEW_QUALITY=50")])
def test_effort_and_loss_save_bytes(cog, raster, options, least, most):
    path = raster(pixels_of("uint8", 3, 300, 300))
    sizes = [pathlib.Path(cog(path, "--overwrite", options=[*SMALL, *options, option])).stat().st_size
             for option in (least, most)]
    assert sizes[0] > sizes[1]


@pytest.mark.parametrize("codec, feature, number, readers", [("LZ4", "lz4", 50004, ""),
                                                             ("JPEG2000", "openjpeg", 34712, "tifffile")])
@pytest.mark.parametrize("command", ["cog", "convert"])
def test_codecs_that_few_can_read(run, features, raster, tmp_path, command, codec, feature, number, readers):
    if features[feature] is None:
        return  # the test of all codecs says so
    array = pixels_of("uint8", 1, 200, 200)
    out = str(tmp_path / "out.tif")
    done = run(command, "--no-sync", "--json", "--co", f"COMPRESS={codec}", raster(array, **PLACE), out)
    told, = check(done.stdout)["warnings"]
    assert (done.returncode, told["tag"], told["found"], told["count"]) == (0, 259, number, 1)
    assert told["message"] in done.stderr and codec in told["message"]
    with pytest.raises(rasterio.errors.RasterioIOError):
        rasterio.open(out)
    try:
        reads = np.array_equal(tifffile.imread(out, key=0), array[0])
    except ValueError:
        reads = False
    assert reads == (readers == "tifffile") == ("and tifffile can" in told["message"].split(";")[1])
    done = run("validate", "--json", out)
    found = next(check for check in json.loads(done.stdout)["checks"] if check["id"] == "gdal.codec")
    assert (found["outcome"], found["findings"][0]["tag"], found["findings"][0]["found"]) == ("warning", 259, number)
    assert codec in found["findings"][0]["message"]
    if command == "cog":
        assert (done.returncode, run("validate", "--strict", out).returncode) == (0, 3)


@pytest.mark.parametrize("options, least, most", [
    ([], "MAX_Z_ERROR=0.01", "MAX_Z_ERROR=3"),
    (["MAX_Z_ERROR=3"], "MAX_Z_ERROR_OVERVIEW=0.01", "MAX_Z_ERROR_OVERVIEW=3")])
def test_lerc_saves_bytes_by_loss(cog, raster, options, least, most):
    path = raster(pixels_of("float32", 1, 300, 300) * np.float32(1.234))
    options = [*SMALL, "COMPRESS=LERC", *options]
    sizes = [pathlib.Path(cog(path, "--overwrite", options=[*options, option])).stat().st_size
             for option in (least, most)]
    assert sizes[0] > sizes[1]


@pytest.mark.parametrize("options, image, first", [
    (["COMPRESS=WEBP", "QUALITY=100", "OVERVIEW_QUALITY=20"], 0, 60),
    (["COMPRESS=WEBP", "QUALITY=20", "OVERVIEW_QUALITY=100"], 60, 0),
    (["COMPRESS=LERC", "MAX_Z_ERROR=2"], 2, 2), (["COMPRESS=LERC", "MAX_Z_ERROR_OVERVIEW=2"], 0, 2),
    (["COMPRESS=LERC", "MAX_Z_ERROR=2", "MAX_Z_ERROR_OVERVIEW=0"], 2, 0),
    (["OVERVIEW_COMPRESS=LERC_ZSTD", "MAX_Z_ERROR_OVERVIEW=2"], 0, 2)])
def test_loss_is_where_it_was_asked_for(cog, raster, options, image, first):
    array = pixels_of("uint8", 3, 200, 200)
    out = cog(raster(array), options=[*SMALL, "RESAMPLING=NEAREST", *options])
    exact = cog(raster(array), options=[*SMALL, "RESAMPLING=NEAREST"], name="exact.tif")
    for found, right, most in ((read(out), array, image), (overview(out, 0), overview(exact, 0), first)):
        error = np.abs(found.astype(int) - right).max()
        assert (0 < error <= most) if most > 0 else error == 0


@pytest.mark.parametrize("options", [["COMPRESS=NONE"], ["COMPRESS=ZSTD"], ["COMPRESS=JPEG"]])
def test_interleave_by_band(cog, raster, options):
    array = pixels_of("uint8", 3, 200, 200)
    out = cog(raster(array), options=[*SMALL, "INTERLEAVE=BAND", *options])
    assert structure(out)["INTERLEAVE"] == "BAND"
    assert all(page["PlanarConfiguration"] == [2] and page["PhotometricInterpretation"] == [2]
               for page in pages(out))
    assert np.abs(read(out).astype(int) - array).mean() < (3 if "COMPRESS=JPEG" in options else 1e-9)


def test_interleave_by_tile(cog, info, raster):
    array = pixels_of("uint8", 3, 200, 200)
    out = cog(raster(array), options=[*SMALL, "INTERLEAVE=TILE"])
    tiles = info("--tiles", out)["terrazzo"]["tiles"]
    first = [tile["offset"] for tile in tiles if tile["level"] == 0]
    count = len(first) // 3  # band by band in the table, tile by tile in the file
    assert first[0] < first[count] < first[2 * count] < first[1]
    np.testing.assert_array_equal(read(out), array)


def test_sparse(cog, info, raster):
    array = pixels_of("uint8", 1, 256, 256)
    array[:, :128] = 0
    sparse = cog(raster(array), options=[*SMALL, "SPARSE_OK=YES"])
    tiles = info("--tiles", sparse)["terrazzo"]["tiles"]
    assert [tile["size"] == 0 for tile in tiles if tile["level"] == 0] == [True] * 8 + [False] * 8
    np.testing.assert_array_equal(read(sparse), array)


# Overviews --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
def test_overviews_by_average(cog, raster, dtype):
    array = pixels_of(dtype, 2, 128, 256)
    out = cog(raster(array), options=SMALL)
    mean = blocks(array).mean(axis=0)
    assert np.abs(overview(out, 0) - mean).max() <= (0.5 if dtype != "float32" else 1e-4)
    assert overview(out, 1).shape == (2, 32, 64)


def test_overviews_by_nearest(cog, raster):
    array = pixels_of("int16", 1, 128, 256)
    for key in ("RESAMPLING", "OVERVIEW_RESAMPLING"):
        out = cog(raster(array), "--overwrite", options=[*SMALL, f"{key}=NEAREST"])
        assert (overview(out, 0) == blocks(array)).any(axis=0).all()
    out = cog(raster(array), "--overwrite", options=[*SMALL, "RESAMPLING=NEAREST", "OVERVIEW_RESAMPLING=AVERAGE"])
    assert np.abs(overview(out, 0) - blocks(array).mean(axis=0)).max() <= 0.5


@pytest.mark.parametrize("method, right", [
    ("MIN", np.min), ("MAX", np.max), ("RMS", lambda a, axis: np.sqrt((a ** 2).mean(axis=axis)))])
def test_overviews_by_other_methods(cog, raster, method, right):
    array = pixels_of("float32", 1, 128, 128)
    out = cog(raster(array), options=[*SMALL, f"RESAMPLING={method}"])
    np.testing.assert_allclose(overview(out, 0), right(blocks(array), axis=0), rtol=1e-6)


@pytest.mark.parametrize("method", ["BILINEAR", "CUBIC", "LANCZOS", "GAUSS", "MODE", "MEDIAN"])
def test_every_method_makes_overviews(cog, raster, method):
    array = np.full((1, 128, 192), 77, "uint8")
    out = cog(raster(array), options=[*SMALL, f"RESAMPLING={method}"])
    assert (overview(out, 0) == 77).all() and overview(out, 0).shape == (1, 64, 96)


def test_nodata_stays_out_of_overviews(cog, raster):
    array = pixels_of("int16", 1, 128, 128)
    array[0, ::2, ::2] = -9999
    array[0, :64, :64] = -9999
    out = cog(raster(array, nodata=-9999), options=SMALL)
    found = overview(out, 0)[0]
    assert (found[:32, :32] == -9999).all() and (found[32:] > 0).all() and (found[:, 32:] > 0).all()


def test_overviews_of_the_source_are_not_copied(cog, raster):
    array = pixels_of("uint8", 1, 256, 256)
    path = raster(array, overviews=[2, 4, 8])
    with rasterio.open(path, "r+", overview_level=0) as file:
        wrong = np.zeros((1, 128, 128), "uint8")
    plain = cog(raster(array, name="plain.tif"), options=SMALL, name="b.tif")
    out = cog(path, options=SMALL)
    assert (overview(out, 0) != wrong).any()
    np.testing.assert_array_equal(overview(out, 0), overview(plain, 0))
    assert len(pages(out)) == 3


def test_palette(run, cog, tmp_path):
    array = pixels_of("uint8", 1, 128, 128)
    path = str(tmp_path / "palette.tif")
    colors = np.random.default_rng(2).integers(0, 65536, (3, 256)).astype("uint16")
    tifffile.imwrite(path, array[0], photometric="palette", colormap=colors)
    out = cog(path, options=SMALL)
    np.testing.assert_array_equal(tags_of(out)["ColorMap"], colors)
    with rasterio.open(out, overview_level=0) as file:
        assert file.colorinterp == (ColorInterp.palette,)
    assert (overview(out, 0) == blocks(array)).any(axis=0).all()
    done = run("cog", *co([*SMALL, "RESAMPLING=CUBIC"]), path, str(tmp_path / "c.tif"))
    assert done.returncode == 1 and "colour map" in done.stderr and not (tmp_path / "c.tif").exists()


# What rides along -------------------------------------------------------------------------------


def test_everything_said_of_the_image_stays(cog, rich):  # noqa: F811
    out = cog(rich, options=["BLOCKSIZE=32"])
    assert facts(out) == facts(rich)
    np.testing.assert_array_equal(read(out), read(rich))


def test_a_mask_rides_along(cog, raster):
    array = pixels_of("uint8", 3, 130, 200)
    mask = np.zeros((130, 200), "uint8")
    mask[20:100, 30:170] = 255
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        path = raster(array, mask=mask)
    out = cog(path, options=SMALL)
    with rasterio.open(out) as file:
        np.testing.assert_array_equal(file.dataset_mask(), mask)
        assert file.mask_flag_enums[0] == [MaskFlags.per_dataset]
    with rasterio.open(out, overview_level=0) as file:
        np.testing.assert_array_equal(file.dataset_mask(), mask[::2, ::2])


@pytest.mark.parametrize("bands", [2, 4])
def test_alpha_becomes_a_mask_in_jpeg(cog, raster, info, bands):
    array = pixels_of("uint8", bands, 128, 192)
    array[-1] = 0
    array[-1, 10:90, 20:150] = 1
    array[-1, 30:70, 40:90] = 255
    path = raster(array, alpha="yes", **PLACE)
    out = cog(path, options=[*SMALL, "COMPRESS=JPEG", "QUALITY=95"])
    with rasterio.open(out) as file:
        assert file.count == bands - 1 and ColorInterp.alpha not in file.colorinterp
        np.testing.assert_array_equal(file.dataset_mask() > 0, array[-1] > 0)
        assert np.abs(file.read().astype(int) - array[:-1]).mean() < 6
    assert info(out)["terrazzo"]["levels"][1]["has_mask"]
    kept = cog(path, "--overwrite", options=[*SMALL, "COMPRESS=LZW"])
    with rasterio.open(kept) as file:
        assert file.colorinterp[-1] == ColorInterp.alpha
        np.testing.assert_array_equal(file.read(), array)


def test_a_fourth_band_that_is_no_alpha_stays_in_jpeg(cog, raster):
    array = pixels_of("uint8", 4, 64, 64)
    out = cog(raster(array, photometric="minisblack"), options=["COMPRESS=JPEG"])
    with rasterio.open(out) as file:
        assert file.count == 4 and file.mask_flag_enums[0] == [MaskFlags.all_valid]


def test_statistics(cog, raster, tmp_path):
    array = pixels_of("int16", 1)
    path = raster(array)
    with rasterio.open(path, "r+") as file:
        file.update_tags(1, STATISTICS_MEAN="12", OTHER="x")

    def tags(option):
        with rasterio.open(cog(path, "--overwrite", options=option)) as file:
            return file.tags(1)
    assert tags([])["STATISTICS_MEAN"] == "12" and "STATISTICS_MINIMUM" not in tags([])
    new = tags(["STATISTICS=YES"])
    assert float(new["STATISTICS_MEAN"]) == pytest.approx(array.mean(), rel=1e-12) and new["OTHER"] == "x"
    assert float(new["STATISTICS_MAXIMUM"]) == array.max()
    assert tags(["STATISTICS=NO"]) == {"OTHER": "x"}


def test_statistics_are_computed_again_when_bands_change(cog, raster):
    array = pixels_of("uint8", 4, 64, 64)
    array[-1] = 255
    path = raster(array, alpha="yes", **PLACE)
    with rasterio.open(path, "r+") as file:
        for band in file.indexes:
            file.update_tags(band, STATISTICS_MINIMUM="1", STATISTICS_MAXIMUM="2", STATISTICS_MEAN="12",
                             STATISTICS_STDDEV="3")
    with rasterio.open(cog(path, options=["COMPRESS=JPEG"])) as file:
        for band in file.indexes:
            found = file.tags(band)
            assert float(found["STATISTICS_MINIMUM"]) == array[band - 1].min()
            assert float(found["STATISTICS_MEAN"]) == pytest.approx(array[band - 1].mean(), rel=1e-12)
    with rasterio.open(cog(path, "--overwrite", options=["COMPRESS=JPEG", "STATISTICS=NO"])) as file:
        assert not any(key.startswith("STATISTICS") for key in file.tags(1))


def test_rows_of_standard_input(run, raster, tmp_path):
    array = pixels_of("uint8", 4, 200, 150)
    array[-1, :50] = 0
    for order, axes in (("pixel", (1, 2, 0)), ("row", (1, 0, 2))):
        rows = np.ascontiguousarray(array.transpose(axes)).tobytes()
        for options in ([], ["COMPRESS=JPEG"]):
            out = tmp_path / f"{order}{len(options)}.tif"
            subprocess.run([COMMAND, "cog", "--no-sync", *co([*SMALL, *options]), "--shape", "200x150x4",
                            "--dtype", "uint8", "--order", order, "-", out], input=rows, check=True)
            with rasterio.open(out) as file:
                assert file.overviews(1) == [2, 4] and file.count == (3 if options else 4)
                np.testing.assert_array_equal(file.dataset_mask() > 0, array[-1] > 0)
    assert (tmp_path / "pixel1.tif").read_bytes() == (tmp_path / "row1.tif").read_bytes()


# The bytes, the plan, JSON ----------------------------------------------------------------------


@pytest.mark.parametrize("options", [["COMPRESS=ZSTD"], ["COMPRESS=LZW", "INTERLEAVE=BAND", "STATISTICS=YES"],
                                     ["RESAMPLING=CUBIC"], ["RESAMPLING=NEAREST", "INTERLEAVE=TILE"]])
def test_bytes_depend_on_pixels_and_options_alone(cog, raster, tmp_path, options):
    path = raster(pixels_of("uint16", 3, 700, 900), tiled=True, blockxsize=128, blockysize=64)
    (tmp_path / "spool").mkdir()
    least = least_memory("cog", *co([*SMALL, *options]), path, str(tmp_path / "b.tif"))
    found = {hashlib.sha256(pathlib.Path(cog(path, "--overwrite", *arguments, options=[*SMALL, *options]))
                            .read_bytes()).hexdigest()
             for arguments in (["-j1"], ["-j2"], ["-j8"], ["--memory", least], ["--memory", "24M", "-j8"],
                               ["--memory", least, "-j8"], ["--verify", "all"], ["--spool", str(tmp_path / "spool")])}
    assert len(found) == 1 and list((tmp_path / "spool").iterdir()) == []


def test_dry_run(run, raster, tmp_path):
    path = raster(pixels_of("uint16", 3, 1100, 1300))
    arguments = [*co(["COMPRESS=ZSTD"]), path, str(tmp_path / "b.tif")]
    plan = check(run("cog", "--json", "--dry-run", *arguments).stdout)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.tif"]
    done = check(run("cog", "--json", *arguments).stdout)
    size = (tmp_path / "b.tif").stat().st_size
    assert plan["file_size"] >= done["file_size"] == size
    assert plan["plan"]["spool_bytes"] >= done["plan"]["spool_bytes"] > 0
    for key in ("size", "bands", "dtype", "compression", "interleave", "tiled", "tiles", "cog", "levels"):
        assert plan[key] == done[key]
    assert (done["cog"], done["levels"], done["tiled"], done["tiles"]) == (True, 3, True, 9 + 4 + 1)
    page = run("cog", "--dry-run", "--overwrite", *arguments).stdout
    assert "Overviews     2, in tiles of 512 x 512\n" in page and "File          at most " in page


def test_errors_as_json(run, raster, tmp_path):
    done = run("cog", "--json", "missing.tif", str(tmp_path / "b.tif"))
    assert done.returncode == 1 and check(done.stdout)["error"]["cause"] == "IO"
    done = run("cog", "--json", "--co", "BLOCKSIZE=100", raster(pixels_of("uint8", 1)), str(tmp_path / "b.tif"))
    assert done.returncode == 1 and check(done.stdout)["error"]["result"] == "arg"
    assert not (tmp_path / "b.tif").exists()


@pytest.mark.parametrize("options, message", [
    (["NBITS=12"], "NBITS=12 is not for float32"), (["COMPRESS=JPEG"], "JPEG"),
    (["COMPRESS=WEBP"], "WEBP"), (["BLOCKSIZE=20"], "16")])
def test_what_the_image_does_not_allow(run, raster, tmp_path, options, message):
    done = run("cog", *co(options), raster(pixels_of("float32", 1)), str(tmp_path / "b.tif"))
    assert (done.returncode, done.stdout) == (1, "") and message.lower() in done.stderr.lower()
    assert not (tmp_path / "b.tif").exists()


def test_statistics_of_the_report(run, raster, tmp_path):
    array = pixels_of("int16", 1)
    done = run("cog", "--stats", "--json", raster(array), str(tmp_path / "b.tif"))
    first = check(done.stdout)["statistics"][0]
    assert (first["minimum"], first["maximum"], first["valid"]) == (array.min(), array.max(), array.size)
    assert json.loads(done.stdout)["done"]["tiles_verified"] > 0
