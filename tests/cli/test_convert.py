# SPDX-License-Identifier: Apache-2.0
"""terrazzo convert: what is written. The same options are given to GDAL and the results compared."""

import hashlib
import json
import pathlib

import jsonschema
import numpy as np
import pytest
import rasterio
import rasterio.control
import rasterio.rpc
import rasterio.shutil
import tifffile

from conftest import least_memory, without_rare_codec

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMA = json.loads((ROOT / "doc" / "convert.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
PLACE = {"transform": rasterio.Affine(30, 0, 500000, 0, -30, 5200000), "crs": "EPSG:32632"}


def check(text):
    answer = json.loads(text)
    error = jsonschema.exceptions.best_match(VALIDATOR.iter_errors(answer))
    assert error is None, f"{error.json_path}: {error.message}"
    return answer


def pixels_of(dtype, bands, height=70, width=100):
    """Neighbours differ little, as in photographs and terrain."""
    random = np.random.default_rng(1)
    steps = random.integers(-1, 2, (bands, height, width)).cumsum(axis=2)
    return (steps + 100).astype(dtype)


def co(options):
    return [word for option in options for word in ("--co", option)]


@pytest.fixture
def convert(run, tmp_path):
    """Converts and returns the new path; a failure is a failure of the test."""
    def convert_file(path, *arguments, name="out.tif", options=()):
        out = str(tmp_path / name)
        done = run("convert", "--no-sync", *co(options), *arguments, path, out)
        assert (done.returncode, done.stdout, without_rare_codec(done.stderr)) == (0, "", ""), done.stderr
        return out
    return convert_file


@pytest.fixture
def by_gdal(tmp_path):
    def convert_file(path, options=()):
        out = str(tmp_path / "gdal.tif")
        rasterio.shutil.copy(path, out, driver="GTiff", **dict(o.split("=") for o in options))
        return out
    return convert_file


def read(path):
    with rasterio.open(path) as file:
        return file.read()


# Layout as GDAL's -------------------------------------------------------------------------------

TABLES = {"StripOffsets", "StripByteCounts", "TileOffsets", "TileByteCounts", "RowsPerStrip",
          "GDAL_METADATA"}
SAYS_NOTHING = {"Predictor": 1, "PlanarConfiguration": 1, "SampleFormat": 1, "Orientation": 1}


def tags_of(path, without=()):
    """What tifffile sees of the first directory, without what only says the default."""
    with tifffile.TiffFile(path) as file:
        tags = {tag.name: tag.value for tag in file.pages[0].tags.values()}
        frame = {"byteorder": file.byteorder, "bigtiff": file.is_bigtiff}
    for name, value in SAYS_NOTHING.items():
        if np.all(np.ravel(np.asarray(tags.get(name, value))) == value):
            tags.pop(name, None)
    return frame | {name: value for name, value in tags.items() if name not in TABLES.union(without)}


LAYOUTS = [
    ("uint8", 1, []), ("uint8", 3, []), ("uint8", 4, []), ("uint8", 2, []), ("uint16", 1, []),
    ("int16", 3, []), ("float32", 1, []), ("complex64", 2, []), ("int8", 1, []), ("uint16", 4, []),
    ("uint16", 1, ["TILED=YES"]), ("uint16", 1, ["tiled=true", "blockxsize=64", "BLOCKYSIZE=32"]),
    ("uint8", 3, ["INTERLEAVE=BAND"]), ("uint8", 3, ["INTERLEAVE=PIXEL", "TILED=YES"]),
    ("uint8", 1, ["COMPRESS=LZW"]), ("uint16", 3, ["COMPRESS=LZW", "PREDICTOR=2", "TILED=ON"]),
    ("uint16", 1, ["COMPRESS=DEFLATE", "ZLEVEL=9"]), ("float32", 1, ["COMPRESS=DEFLATE", "PREDICTOR=3"]),
    ("float64", 1, ["COMPRESS=ZSTD", "ZSTD_LEVEL=1", "PREDICTOR=3", "TILED=YES"]),
    ("int32", 1, ["COMPRESS=ZSTD", "PREDICTOR=2"]), ("uint8", 3, ["COMPRESS=PACKBITS"]),
    ("uint8", 1, ["COMPRESS=LZMA", "LZMA_PRESET=0"]), ("uint8", 1, ["COMPRESS=LZMA"]),
    ("float32", 1, ["COMPRESS=LERC", "TILED=YES"]), ("float32", 1, ["COMPRESS=LERC_ZSTD", "TILED=YES"]),
    ("int16", 1, ["COMPRESS=LERC_DEFLATE", "ZLEVEL=1"]), ("uint8", 3, ["COMPRESS=WEBP", "WEBP_LOSSLESS=YES"]),
    ("uint8", 3, ["PHOTOMETRIC=MINISBLACK"]), ("uint8", 1, ["PHOTOMETRIC=MINISWHITE"]),
    ("uint16", 3, ["PHOTOMETRIC=RGB"]), ("uint16", 4, ["PHOTOMETRIC=RGB", "ALPHA=YES"]),
    ("uint8", 4, ["PHOTOMETRIC=CMYK"]), ("uint8", 4, ["ALPHA=PREMULTIPLIED"]),
    ("uint8", 4, ["ALPHA=UNSPECIFIED"]), ("uint8", 2, ["ALPHA=YES"]), ("uint8", 3, ["PHOTOMETRIC=CIELAB"]),
    ("uint8", 1, ["NBITS=7"]), ("uint16", 1, ["NBITS=12"]), ("uint32", 1, ["NBITS=20"]),
    ("uint8", 1, ["BIGTIFF=YES"]), ("uint8", 1, ["BIGTIFF=IF_SAFER"]), ("uint16", 1, ["ENDIANNESS=BIG"]),
    ("int16", 1, ["ENDIANNESS=INVERTED"]), ("int16", 1, ["ENDIANNESS=LITTLE"]),
    ("uint8", 1, ["PROFILE=BASELINE"]), ("uint8", 1, ["PROFILE=GeoTIFF"]), ("uint16", 1, ["DISCARD_LSB=3"]),
    ("uint8", 3, ["DISCARD_LSB=1,2,0"]), ("float32", 1, ["DISCARD_LSB=12"])]


@pytest.mark.parametrize("dtype, bands, options", LAYOUTS)
def test_options_mean_what_they_mean_to_gdal(convert, by_gdal, raster, dtype, bands, options):
    path = raster(pixels_of(dtype, bands), **PLACE)
    ours, theirs = convert(path, options=options), by_gdal(path, options)
    assert tags_of(ours) == tags_of(theirs)
    np.testing.assert_array_equal(read(ours), read(theirs))


@pytest.mark.parametrize("options", [
    [], ["JPEG_QUALITY=20"], ["PHOTOMETRIC=YCBCR"], ["JPEGTABLESMODE=0"], ["JPEGTABLESMODE=3"],
    ["INTERLEAVE=BAND"]])
def test_jpeg(convert, by_gdal, raster, options):
    """The same codec with the same quality: tags alike, pixels nearly so."""
    path = raster(pixels_of("uint8", 3, 64, 96), **PLACE)
    options = ["COMPRESS=JPEG", "TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=32", *options]
    ours, theirs = convert(path, options=options), by_gdal(path, options)
    assert tags_of(ours, {"JPEGTables", "ReferenceBlackWhite"}) == tags_of(
        theirs, {"JPEGTables", "ReferenceBlackWhite"})
    assert np.abs(read(ours).astype(int) - read(theirs)).mean() < 1


@pytest.mark.parametrize("options", [["COMPRESS=WEBP", "WEBP_LEVEL=90"],
                                     ["COMPRESS=LERC", "MAX_Z_ERROR=2"]])
def test_loss_is_as_asked_for(convert, by_gdal, raster, options):
    path = raster(pixels_of("uint8", 3), **PLACE)
    ours, theirs = convert(path, options=options), by_gdal(path, options)
    assert tags_of(ours, {"LercParameters"}) == tags_of(theirs, {"LercParameters"})
    error = np.abs(read(ours).astype(int) - read(path))
    assert 0 < error.max() <= (2 if "COMPRESS=LERC" in options else 30)


def test_interleave_is_the_source_s_unless_it_is_compressed(convert, by_gdal, raster):
    path = raster(pixels_of("uint8", 3), interleave="band")
    for options in ([], ["TILED=YES"], ["COMPRESS=NONE"], ["COMPRESS=LZW"], ["INTERLEAVE=PIXEL"]):
        ours, theirs = convert(path, "--overwrite", options=options), by_gdal(path, options)
        assert tags_of(ours) == tags_of(theirs), options


@pytest.mark.parametrize("options, dtype", [(["NBITS=16"], "float32"), (["PIXELTYPE=SIGNEDBYTE"], "uint8")])
def test_types_that_change(convert, info, raster, options, dtype):
    array = pixels_of(dtype, 1) + (100 if dtype == "uint8" else 0.25)
    path = raster(array.astype(dtype))
    out = convert(path, options=options)
    if dtype == "float32":
        assert info(out)["terrazzo"]["levels"][0]["bits_per_sample"] == 16
        np.testing.assert_array_equal(tifffile.imread(out), array[0].astype("float16"))
    else:
        np.testing.assert_array_equal(tifffile.imread(out), array[0].astype("uint8").view("int8"))


@pytest.mark.parametrize("codec, feature", [("LZ4", "lz4"), ("JXL", "jxl"), ("JPEG2000", "openjpeg")])
def test_codecs_that_gdal_may_not_have(run, convert, features, raster, tmp_path, codec, feature):
    path = raster(pixels_of("uint16", 3), **PLACE)
    if features[feature] is None:
        done = run("convert", "--co", f"COMPRESS={codec}", path, str(tmp_path / "b.tif"))
        assert done.returncode == 1 and codec in done.stderr
        return
    out = convert(path, options=[f"COMPRESS={codec}", "TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64"])
    assert f"Compression   {codec}" in run("info", out).stdout
    assert run("diff", "--pixels-only", path, out).returncode == 0


@pytest.mark.parametrize("options, best, worst", [
    (["COMPRESS=JXL", "JXL_LOSSLESS=NO"], "JXL_DISTANCE=0.1", "JXL_DISTANCE=10"),
    (["COMPRESS=JPEG2000", "JPEG2000_LOSSLESS=NO"], "JPEG2000_QUALITY=95", "JPEG2000_QUALITY=5"),
    (["COMPRESS=JPEG"], "JPEG_QUALITY=95", "JPEG_QUALITY=5"),
    (["COMPRESS=WEBP"], "WEBP_LEVEL=95", "WEBP_LEVEL=5")])
def test_quality_costs_bytes(convert, features, raster, options, best, worst):
    if any(features[name] is None for name in ("jxl", "openjpeg", "jpeg", "webp")):
        return  # the test of all codecs says so
    path = raster(pixels_of("uint8", 3, 128, 128))
    sizes = [pathlib.Path(convert(path, "--overwrite", options=[*options, quality])).stat().st_size
             for quality in (best, worst)]
    assert sizes[0] > 1.5 * sizes[1]


@pytest.mark.parametrize("options, least, most", [
    (["COMPRESS=DEFLATE"], "ZLEVEL=1", "ZLEVEL=12"), (["COMPRESS=ZSTD"], "ZSTD_LEVEL=1", "ZSTD_LEVEL=19"),
    (["COMPRESS=DEFLATE"], "ZLEVEL=FAST", "ZLEVEL=6"), (["COMPRESS=LZ4"], "LZ4_LEVEL=1", "LZ4_LEVEL=12"),
    (["COMPRESS=LZMA"], "LZMA_PRESET=0", "LZMA_PRESET=9")])
def test_effort_saves_bytes(convert, raster, options, least, most):
    path = raster(pixels_of("uint8", 1, 300, 300))
    sizes = [pathlib.Path(convert(path, "--overwrite", options=[*options, effort])).stat().st_size
             for effort in (least, most)]
    assert sizes[0] > sizes[1]


@pytest.mark.parametrize("bits, dtype", [(2, "uint8"), (4, "uint8"), (12, "uint16"), (16, "float32")])
def test_odd_widths_of_the_source_stay(convert, by_gdal, raster, bits, dtype):
    path = raster((pixels_of(dtype, 1) % 2 ** min(bits, 8)).astype(dtype), nbits=bits, **PLACE)
    ours, theirs = convert(path, options=["COMPRESS=LZW"]), by_gdal(path, ["COMPRESS=LZW"])
    assert tags_of(ours) == tags_of(theirs)
    np.testing.assert_array_equal(read(ours), read(theirs))


def test_align(convert, info, raster):
    out = convert(raster(pixels_of("uint8", 1)), options=["ALIGN=4096", "TILED=YES", "BLOCKXSIZE=32",
                                                          "BLOCKYSIZE=32"])
    tiles = info("--tiles", out)["terrazzo"]["tiles"]
    assert len(tiles) == 12 and all(tile["offset"] % 4096 == 0 for tile in tiles)


def test_sparse(convert, info, raster):
    array = pixels_of("uint8", 1)
    array[:, :32] = 0
    out = convert(raster(array), options=["SPARSE_OK=YES", "TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=32"])
    tiles = info("--tiles", out)["terrazzo"]["tiles"]
    assert [tile["size"] == 0 for tile in tiles] == [True] * 4 + [False] * 8
    np.testing.assert_array_equal(read(out), array)


# What stays -------------------------------------------------------------------------------------


@pytest.fixture
def rich(tmp_path):
    """Every kind of metadata that GDAL writes to a file of its own."""
    path = str(tmp_path / "rich.tif")
    array = pixels_of("int16", 2)
    array[:, 5:9] = -9999
    with rasterio.open(path, "w", driver="GTiff", dtype="int16", count=2, height=70, width=100,
                       nodata=-9999, compress="lzw", tiled=True, blockxsize=64, blockysize=64,
                       **PLACE) as file:
        file.write(array)
        file.update_tags(AREA_OR_POINT="Point", TITLE="näme", TIFFTAG_SOFTWARE="me",
                         TIFFTAG_DATETIME="2026:11:16 01:02:03", TIFFTAG_XRESOLUTION="300")
        file.update_tags(ns="OTHER", KEY="value")
        file.update_tags(1, COLOUR="blue", STATISTICS_MEAN="1")
        file.descriptions = ("first", "second")
        file.units = ("m", "K")
        file.scales, file.offsets = (0.5, 2), (1, 0)
    return path


def facts(path):
    with rasterio.open(path) as file:
        return {"profile": {key: file.profile[key] for key in ("crs", "transform", "nodata", "dtype")},
                "tags": file.tags(), "other": file.tags(ns="OTHER"),
                "bands": [file.tags(i) for i in file.indexes], "descriptions": file.descriptions,
                "units": file.units, "scales": file.scales, "offsets": file.offsets,
                "interpretation": file.colorinterp, "masks": [str(flags) for flags in file.mask_flag_enums]}


@pytest.mark.parametrize("options", [[], ["COMPRESS=ZSTD", "TILED=YES", "ENDIANNESS=BIG", "BIGTIFF=YES"],
                                     ["INTERLEAVE=BAND", "COMPRESS=DEFLATE", "PREDICTOR=2"]])
def test_everything_said_of_the_image_stays(run, convert, rich, options):
    out = convert(rich, options=options)
    assert facts(out) == facts(rich)
    done = run("diff", "--json", "--pixels-only", "--tags-only", rich, out)
    different = [tag["tag"] for tag in json.loads(done.stdout)["tags"]["differences"]]
    assert set(different) <= {34736}  # GDAL leaves a number there that belongs to no key
    assert json.loads(done.stdout)["pixels"]["equal"]


def test_tags_of_all_kinds_stay(run, convert, tmp_path):
    path = str(tmp_path / "tags.tif")
    tifffile.imwrite(path, pixels_of("uint8", 1)[0], description="words", datetime=True, resolution=(2, 3),
                     metadata=None, iccprofile=bytes(range(200)), extratags=[
                         (700, 1, 5, b"<x/>\n", False), (65000, 12, 3, (1.5, 2.5, -3), False),
                         (65001, 3, 1, 77, False), (33432, 2, None, "nobody", False)])
    for options in ([], ["ENDIANNESS=BIG", "BIGTIFF=YES"]):
        out = convert(path, "--overwrite", options=options)
        done = run("diff", "--tags-only", path, out)
        assert done.returncode == 0, done.stdout


def test_ground_control_points_and_rpc_stay(convert, raster):
    points = [rasterio.control.GroundControlPoint(row, col, 1000 + col, 2000 - row, 5)
              for row, col in ((0, 0), (0, 99), (69, 0), (69, 99))]
    path = raster(pixels_of("uint8", 1), gcps=points, crs="EPSG:32632")
    with rasterio.open(path) as a, rasterio.open(convert(path)) as b:
        place = [(p.row, p.col, p.x, p.y, p.z) for p in b.gcps[0]]
        assert place == [(p.row, p.col, p.x, p.y, p.z) for p in points] and a.gcps[1] == b.gcps[1]
    numbers = [float(i) / 7 for i in range(20)]
    rpc = rasterio.rpc.RPC(100.0, 50.0, 47.0, 1.0, numbers, numbers, 35.0, 30.0, 11.0, 1.0, numbers,
                           numbers, 50.0, 40.0)
    path = raster(pixels_of("uint8", 1), name="rpc.tif", rpcs=rpc)
    with rasterio.open(path) as a, rasterio.open(convert(path, "--overwrite")) as b:
        assert a.rpcs is not None and a.rpcs.to_dict() == b.rpcs.to_dict()


def test_metadata_is_what_gdal_copies(convert, by_gdal, rich):
    ours, theirs = facts(convert(rich)), facts(by_gdal(rich))
    ours.pop("other"), theirs.pop("other")  # GDAL leaves other domains behind
    assert ours == theirs


def test_metadata_by_domain(convert, rich):
    for options, tags, other in ((["COPY_SRC_MDD=NO"], False, False), (["COPY_SRC_MDD=YES"], True, True),
                                 (["SRC_MDD=OTHER"], False, True), (["SRC_MDD=_DEFAULT_"], True, False),
                                 (["SRC_MDD=OTHER", "SRC_MDD="], True, True)):
        found = facts(convert(rich, "--overwrite", options=options))
        assert ("TITLE" in found["tags"], "COLOUR" in found["bands"][0], bool(found["other"])) == (
            tags, tags, other)
        assert found["descriptions"] == ("first", "second") and found["scales"] == (0.5, 2)


def test_profiles(convert, rich):
    found = facts(convert(rich, options=["PROFILE=GeoTIFF"]))
    assert found["profile"]["nodata"] is None and found["descriptions"] == (None, None)
    assert found["profile"]["crs"] == "EPSG:32632" and "TITLE" not in found["tags"]
    assert found["tags"]["TIFFTAG_SOFTWARE"] == "me"
    out = convert(rich, "--overwrite", options=["PROFILE=BASELINE"])
    assert not any(name.startswith(("Geo", "GDAL", "Model")) for name in tags_of(out))
    assert tags_of(out)["Software"] == "me"
    np.testing.assert_array_equal(read(out), read(rich))


def test_statistics(run, convert, rich, tmp_path):
    out = convert(rich, options=["STATISTICS=YES"])
    with rasterio.open(out) as file:
        band = file.read(1, masked=True).astype("float64")
        tags = file.tags(1)
    assert float(tags["STATISTICS_MINIMUM"]) == band.min()
    assert float(tags["STATISTICS_MEAN"]) == pytest.approx(band.mean(), rel=1e-12)
    done = run("convert", "--stats", "--json", rich, str(tmp_path / "c.tif"))
    first = check(done.stdout)["statistics"][0]
    assert (first["minimum"], first["maximum"], first["valid"]) == (band.min(), band.max(), band.count())
    assert first["deviation"] == pytest.approx(band.std(), rel=1e-12)
    page = run("convert", "--stats", "--overwrite", rich, str(tmp_path / "c.tif")).stdout.splitlines()
    assert page[1] == "Statistics" and page[2].split()[:2] == ["Band", "Minimum"]
    assert page[3].split()[:3] == ["1", f"{band.min():.0f}", f"{band.max():.0f}"]


def test_a_mask_stays_and_nodata_makes_none(convert, info, raster):
    array = pixels_of("uint8", 3)
    mask = np.where(array[0] % 3 == 0, 0, 255).astype("uint8")
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        path = raster(array, mask=mask, tiled=True, blockxsize=32, blockysize=32)
    out = convert(path, options=["COMPRESS=DEFLATE"])
    with rasterio.open(out) as file:
        np.testing.assert_array_equal(file.dataset_mask(), mask)
        np.testing.assert_array_equal(file.read(), array)
        assert not pathlib.Path(out + ".msk").exists()
    nodata = convert(raster(array, name="n.tif", nodata=100), "--overwrite")
    assert not info(nodata)["terrazzo"]["levels"][0]["has_mask"]


def test_palette(convert, tmp_path):
    path = str(tmp_path / "palette.tif")
    colors = np.random.default_rng(2).integers(0, 65536, (3, 256)).astype("uint16")
    tifffile.imwrite(path, pixels_of("uint8", 1)[0], photometric="palette", colormap=colors)
    out = convert(path, options=["COMPRESS=LZW"])
    np.testing.assert_array_equal(tags_of(out)["ColorMap"], colors)
    assert tags_of(out)["PhotometricInterpretation"] == 3
    plain = convert(path, "--overwrite", options=["PHOTOMETRIC=MINISBLACK"])
    assert "ColorMap" not in tags_of(plain)


def test_nan_stays_nan(convert, raster):
    array = pixels_of("float32", 1)
    array[0, :10] = np.nan
    out = convert(raster(array, nodata=-1), options=["COMPRESS=DEFLATE"])
    np.testing.assert_array_equal(read(out), array)


def test_nan_becomes_nodata_if_asked_for(run, convert, raster, tmp_path):
    array = pixels_of("float32", 1)
    array[0, :10] = np.nan
    out = convert(raster(array, nodata=-1), "--nan-to-nodata", options=["COMPRESS=DEFLATE"])
    np.testing.assert_array_equal(read(out), np.where(np.isnan(array), np.float32(-1), array))
    done = run("convert", "--nan-to-nodata", raster(array, name="n.tif"), str(tmp_path / "c.tif"))
    assert done.returncode != 0 and "the image has no nodata value" in done.stderr


def test_ycbcr_becomes_rgb_unless_asked_for(run, convert, raster):
    path = raster(pixels_of("uint8", 3, 64, 64), compress="jpeg", photometric="ycbcr")
    out = convert(path, options=["COMPRESS=LZW"])
    assert tags_of(out)["PhotometricInterpretation"] == 2
    assert run("diff", "--pixels-only", path, out).returncode == 0
    out = convert(path, "--overwrite", options=["COMPRESS=JPEG", "PHOTOMETRIC=YCBCR"])
    assert tags_of(out)["PhotometricInterpretation"] == 6


def test_pages_and_sidecars(convert, raster, tmp_path):
    pages = np.arange(2 * 20 * 30, dtype="uint8").reshape(2, 20, 30)
    tifffile.imwrite(tmp_path / "two.tif", pages, photometric="minisblack")
    out = convert(str(tmp_path / "two.tif"), "--quiet", "--page", "1")
    np.testing.assert_array_equal(read(out)[0], pages[1])
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=False):
        path = raster(pages[:1], mask=np.where(pages[0] > 9, 255, 0).astype("uint8"))
    assert pathlib.Path(path + ".msk").exists()
    with rasterio.open(convert(path, "--quiet", "--sidecars", name="masked.tif")) as file:
        np.testing.assert_array_equal(file.dataset_mask(), np.where(pages[0] > 9, 255, 0))


@pytest.mark.parametrize("option, ending", [("TFW=YES", "tfw"), ("WORLDFILE=YES", "wld")])
def test_world_file(run, convert, raster, tmp_path, option, ending):
    path = raster(pixels_of("uint8", 1), **PLACE)
    convert(path, options=[option, "PROFILE=BASELINE"])
    lines = [float(line) for line in (tmp_path / f"out.{ending}").read_text().splitlines()]
    assert lines == [30, 0, 0, -30, 500015, 5199985]
    with rasterio.open(tmp_path / "out.tif") as file:
        assert file.transform == PLACE["transform"]
    (tmp_path / f"new.{ending}").write_text("mine")
    done = run("convert", "--co", option, path, str(tmp_path / "new.tif"))
    assert done.returncode == 1 and f"new.{ending}' exists" in done.stderr
    assert not (tmp_path / "new.tif").exists()


# The bytes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [["COMPRESS=ZSTD", "TILED=YES", "PREDICTOR=2"], [],
                                     ["COMPRESS=DEFLATE", "ZLEVEL=FAST", "PREDICTOR=2"],
                                     ["COMPRESS=LZW", "TILED=YES", "INTERLEAVE=BAND", "STATISTICS=YES"]])
def test_bytes_depend_on_pixels_and_options_alone(convert, raster, tmp_path, options):
    path = raster(pixels_of("uint16", 3, 700, 900), tiled=True, blockxsize=128, blockysize=64)
    co = [word for option in options for word in ("--co", option)]
    least = least_memory("convert", *co, path, str(tmp_path / "b.tif"))
    found = {hashlib.sha256(pathlib.Path(convert(path, "--overwrite", *arguments, options=options))
                            .read_bytes()).hexdigest()
             for arguments in (["-j1"], ["-j2"], ["-j8"], ["--memory", least], ["--memory", "24M", "-j8"],
                               ["--memory", least, "-j8"], ["--verify", "all"], ["--verify", "none"])}
    assert len(found) == 1


# The plan, JSON ---------------------------------------------------------------------------------


def test_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_dry_run(run, raster, tmp_path):
    path = raster(pixels_of("uint16", 3, 700, 900))
    arguments = ["--co", "TILED=YES", "--co", "COMPRESS=ZSTD", path, str(tmp_path / "b.tif")]
    plan = check(run("convert", "--json", "--dry-run", *arguments).stdout)
    assert not (tmp_path / "b.tif").exists()
    done = check(run("convert", "--json", *arguments).stdout)
    size = (tmp_path / "b.tif").stat().st_size
    assert plan["file_size"] >= done["file_size"] == size
    assert plan["dry_run"] and not done["dry_run"] and plan["done"]["seconds"] is None
    for key in ("size", "bands", "dtype", "compression", "interleave", "tiled", "tiles", "bigtiff"):
        assert plan[key] == done[key]
    assert (done["size"], done["bands"], done["tiles"]) == ([900, 700], 3, 12)
    assert plan["plan"] == done["plan"] | {"read_memory": plan["plan"]["read_memory"]}
    page = run("convert", "--dry-run", "--overwrite", *arguments).stdout
    assert "Tiles         12\n" in page and "at most" in page and "classic TIFF" in page
    page = run("convert", "-v", "--overwrite", *arguments).stdout
    assert page.startswith(f"{path} -> ") and "Ratio" in page and "Time" in page


def test_errors_as_json(run, raster, tmp_path):
    done = run("convert", "--json", "missing.tif", str(tmp_path / "b.tif"))
    assert done.returncode == 1 and check(done.stdout)["error"]["cause"] == "IO"
    path = raster(pixels_of("uint8", 1))
    done = run("convert", "--json", "--co", "TILED=YES", "--co", "BLOCKXSIZE=33", path,
               str(tmp_path / "b.tif"))
    assert done.returncode == 1 and check(done.stdout)["error"]["result"] == "arg"
    assert not (tmp_path / "b.tif").exists()


@pytest.mark.parametrize("options, message", [
    (["PIXELTYPE=SIGNEDBYTE"], "PIXELTYPE=SIGNEDBYTE is for uint8, not float32"),
    (["NBITS=12"], "NBITS=12 is not for float32"), (["TFW=YES"], "a world file needs a transform"),
    (["TILED=YES", "BLOCKXSIZE=100"], "16"), (["ALIGN=1000"], "power of two"),
    (["COMPRESS=JPEG"], "JPEG"), (["COMPRESS=ZSTD", "PREDICTOR=2", "NBITS=16"], "")])
def test_what_the_image_does_not_allow(run, raster, tmp_path, options, message):
    path = raster(pixels_of("float32", 1))
    done = run("convert", *co(options), path, str(tmp_path / "b.tif"))
    if message == "":
        assert done.returncode == 0
        return
    assert (done.returncode, done.stdout) == (1, "") and message in done.stderr
    assert not (tmp_path / "b.tif").exists()


def test_geotiff_version(run, convert, raster, tmp_path):
    path = raster(pixels_of("uint8", 1), **PLACE)
    out = convert(path, options=["GEOTIFF_VERSION=1.0"])
    assert tags_of(out)["GeoKeyDirectoryTag"] == tags_of(path)["GeoKeyDirectoryTag"]
    done = run("convert", "--co", "GEOTIFF_VERSION=1.1", path, str(tmp_path / "c.tif"))
    assert done.returncode == 1 and "the keys of the source are of version 1.0" in done.stderr
