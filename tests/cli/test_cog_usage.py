# SPDX-License-Identifier: Apache-2.0
"""terrazzo cog: what may be typed. Creation options and profiles that are unknown, wrong or refused,
and the manual page that lists them."""

import pytest

from test_convert_usage import check_creation_options

GRID = "the image keeps its own grid; nothing is reprojected"
REFUSED = {
    "TILING_SCHEME=GoogleMapsCompatible": GRID, "ZOOM_LEVEL=4": GRID, "ZOOM_LEVEL_STRATEGY=LOWER": GRID,
    "ALIGNED_LEVELS=2": GRID, "TARGET_SRS=EPSG:3857": GRID, "RES=10": GRID, "EXTENT=0,0,1,1": GRID,
    "WARP_RESAMPLING=CUBIC": GRID, "ADD_ALPHA=YES": GRID,
    "OVERVIEWS=FORCE_USE_EXISTING": "overviews are made of the image, not copied",
    "COPY_SRC_OVERVIEWS=YES": "overviews are made of the image, not copied",
    "COMPRESS=CCITTFAX4": "CCITT codes are read, not written",
    "OVERVIEW_COMPRESS=CCITTRLE": "CCITT codes are read, not written",
    "RESAMPLING=CUBICSPLINE": "there is CUBIC", "TILED=NO": "a COG is tiled",
    "BLOCKXSIZE=256": "BLOCKSIZE", "BLOCKYSIZE=256": "BLOCKSIZE", "ZLEVEL=9": "there is LEVEL",
    "ZSTD_LEVEL=9": "there is LEVEL", "LZMA_PRESET=9": "there is LEVEL", "LZ4_LEVEL=2": "there is LEVEL",
    "JPEG_QUALITY=90": "there is QUALITY", "WEBP_LEVEL=90": "there is QUALITY",
    "WEBP_LOSSLESS=YES": "there is QUALITY, and 100", "PHOTOMETRIC=YCBCR": "JPEG of three bands is YCbCr"}


def co(options):
    return [word for option in options for word in ("--co", option)]


@pytest.mark.parametrize("option", REFUSED)
def test_what_cog_cannot_is_refused_by_name(run, plain, tmp_path, option):
    done = run("cog", "--co", option, plain, str(tmp_path / "b.tif"))
    name, value = option.split("=")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {name} cannot be '{value}': ")
    assert REFUSED[option] in done.stderr
    assert done.stderr.endswith("Try 'terrazzo cog -h'.\n")
    assert not (tmp_path / "b.tif").exists()


def test_refused_options_may_have_what_is_done_anyway(run, plain, tmp_path):
    options = ["TILING_SCHEME=custom", "ADD_ALPHA=NO", "TILED=YES", "COPY_SRC_OVERVIEWS=NO",
               "OVERVIEWS=IGNORE_EXISTING"]
    done = run("cog", "--dry-run", *co(options), plain, str(tmp_path / "b.tif"))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("option, message", [
    ("COMPRES=LZW", "unknown creation option 'COMPRES'; did you mean 'COMPRESS'?\n"),
    ("overview_compres=LZW", "did you mean 'OVERVIEW_COMPRESS'?\n"),
    ("BLOCKSIZ=512", "did you mean 'BLOCKSIZE'?\n"), ("QUALTY=5", "did you mean 'QUALITY'?\n"),
    ("OVERVIEW_RESAMPLNG=MODE", "did you mean 'OVERVIEW_RESAMPLING'?\n"),
    ("ENDIANNESS=BIG", "unknown creation option 'ENDIANNESS'\n"), ("NOTHING=1", "unknown creation option"),
    ("RESAMPLING=AVERAG", "RESAMPLING cannot be 'AVERAG'; did you mean 'AVERAGE'?\n"),
    ("RESAMPLING=magic", "RESAMPLING cannot be 'magic': NEAREST, AVERAGE, BILINEAR, CUBIC, LANCZOS"),
    ("PREDICTOR=MAYBE", "PREDICTOR cannot be 'MAYBE': YES, NO, STANDARD, FLOATING_POINT\n"),
    ("PREDICTOR=STANDART", "did you mean 'STANDARD'?\n"), ("LEVEL=23", "0 to 22, FAST\n"),
    ("QUALITY=0", "1 to 100\n"), ("QUALITY=101", "1 to 100\n"), ("OVERVIEW_QUALITY=x", "1 to 100\n"),
    ("OVERVIEW_COUNT=-1", "0 to 31\n"), ("OVERVIEW_COUNT=40", "0 to 31\n"),
    ("MAX_Z_ERROR_OVERVIEW=-1", "from 0 on\n"), ("BLOCKSIZE=8", "from 16 on\n"),
    ("STATISTICS=PERHAPS", "AUTO, YES, NO\n"), ("OVERVIEWS=ANY", "AUTO, IGNORE_EXISTING, NONE\n"),
    ("OVERVIEW_COMPRESS=magic", "AUTO, NONE, LZW"), ("COMPRESS=AUTO", "COMPRESS cannot be 'AUTO'"),
    ("COMPRESS", "--co needs KEY=VALUE, not 'COMPRESS'\n")])
def test_wrong_creation_options(run, option, message):
    done = run("cog", "--co", option, "a.tif", "b.tif")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ") and message in done.stderr
    assert done.stderr.endswith("Try 'terrazzo cog -h'.\n")


@pytest.mark.parametrize("options, message", [
    (["COMPRESS=ZSTD", "compress=LZW"], "COMPRESS is given twice\n"),
    (["LEVEL=13"], "LEVEL is 1 to 12 or FAST with COMPRESS=DEFLATE\n"),
    (["COMPRESS=LERC_DEFLATE", "LEVEL=0"], "LEVEL is 1 to 12 or FAST with COMPRESS=LERC_DEFLATE\n"),
    (["COMPRESS=LZMA", "LEVEL=10"], "LEVEL is 0 to 9 with COMPRESS=LZMA\n"),
    (["COMPRESS=ZSTD", "LEVEL=FAST"], "LEVEL is 1 to 22 with COMPRESS=ZSTD\n"),
    (["COMPRESS=LZ4", "LEVEL=20"], "LEVEL is 1 to 12 with COMPRESS=LZ4\n"),
    (["COMPRESS=JXL", "JXL_DISTANCE=2"], "need JXL_LOSSLESS=NO\n"),
    (["OVERVIEWS=NONE", "OVERVIEW_COUNT=2"], "OVERVIEWS=NONE and OVERVIEW_COUNT do not go together\n"),
    (["COMPRESS=LERC", "OVERVIEW_COMPRESS=LERC_ZSTD"], "what is within is the same\n"),
    (["SRC_MDD=a", "COPY_SRC_MDD=NO"], "do not go together\n")])
def test_creation_options_that_do_not_go_together(run, options, message):
    done = run("cog", *co(options), "a.tif", "b.tif")
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr


@pytest.mark.parametrize("arguments, message", [
    ([], "no IN given\n"), (["a.tif"], "no OUT given\n"),
    (["a.tif", "b.tif", "c.tif"], "unexpected argument 'c.tif'\n"),
    (["a.tif", "-"], "OUT cannot be standard output"),
    (["-", "b.tif"], "standard input needs --shape and --dtype, unless it is a .npy array\n"),
    (["-p", "jpg", "a.tif", "b.tif"], "--profile cannot be 'jpg'; did you mean 'jpeg'?\n"),
    (["--profile=magic", "a.tif", "b.tif"], "--profile cannot be 'magic': jpeg, webp, zstd, lzw, deflate"),
    (["--profil", "zstd", "a.tif", "b.tif"], "did you mean '--profile'?"),
    (["--memory", "lots", "a.tif", "b.tif"], "--memory needs a number of bytes")])
def test_wrong_usage(run, arguments, message):
    done = run("cog", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ") and message in done.stderr
    assert done.stderr.endswith("Try 'terrazzo cog -h'.\n")


@pytest.mark.parametrize("options, warning", [
    (["COMPRESS=LZW", "LEVEL=9"], "LEVEL has no effect with COMPRESS=LZW"),
    (["QUALITY=50"], "QUALITY has no effect with COMPRESS=DEFLATE"),
    (["COMPRESS=LERC", "PREDICTOR=STANDARD"], "PREDICTOR has no effect with COMPRESS=LERC"),
    (["OVERVIEW_QUALITY=50"], "OVERVIEW_QUALITY has no effect with COMPRESS=DEFLATE"),
    (["COMPRESS=JPEG", "OVERVIEW_COMPRESS=LZW", "OVERVIEW_QUALITY=50"],
     "OVERVIEW_QUALITY has no effect with OVERVIEW_COMPRESS=LZW"),
    (["MAX_Z_ERROR_OVERVIEW=1"], "MAX_Z_ERROR_OVERVIEW has no effect with COMPRESS=DEFLATE")])
def test_options_of_another_codec_are_ignored_with_a_warning(run, plain, tmp_path, options, warning):
    done = run("cog", "--dry-run", *co(options), plain, str(tmp_path / "b.tif"))
    assert (done.returncode, done.stderr) == (0, f"warning: {warning}\n")


def test_options_of_the_codec_of_overviews_have_an_effect(run, plain, tmp_path):
    done = run("cog", "--dry-run", *co(["OVERVIEW_COMPRESS=JPEG", "OVERVIEW_QUALITY=50"]), plain,
               str(tmp_path / "b.tif"))
    assert (done.returncode, done.stderr) == (0, "")


def test_man_page_and_help_have_the_same_creation_options(run):
    check_creation_options(run, "cog", ".SH CREATION OPTIONS OF CONVERT", 20,
                           [option for option, reason in REFUSED.items() if reason == GRID])
