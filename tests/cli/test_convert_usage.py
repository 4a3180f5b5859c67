# SPDX-License-Identifier: Apache-2.0
"""terrazzo convert: what may be typed. Creation options that are unknown, wrong or refused, and the
manual page that lists them."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

RAW = ["--shape", "4x5", "--dtype", "uint8"]

REFUSED = {
    "COPY_SRC_OVERVIEWS=YES": "overviews are not written",
    "MAX_Z_ERROR_OVERVIEW=1": "overviews are not written",
    "STREAMABLE_OUTPUT=YES": "the directory is written last",
    "APPEND_SUBDATASET=YES": "files are replaced, never changed",
    "RPB=YES": "RPC is written to its tag",
    "RPCTXT=YES": "RPC is written to its tag",
    "GEOTIFF_KEYS_FLAVOR=ESRI_PE": "the keys of the source are written as they are",
    "COLOR_TABLE_MULTIPLIER=256": "colour maps have 16 bits",
    "JPEG_DIRECT_COPY=YES": "tiles are always decoded and encoded",
    "COMPRESS=CCITTRLE": "CCITT codes are read, not written",
    "COMPRESS=CCITTFAX3": "CCITT codes are read, not written",
    "COMPRESS=ccittfax4": "CCITT codes are read, not written",
} | {f"{name}=x": "copied from the source as they are" for name in (
    "SOURCE_ICC_PROFILE", "SOURCE_PRIMARIES_RED", "SOURCE_PRIMARIES_GREEN", "SOURCE_PRIMARIES_BLUE",
    "SOURCE_WHITEPOINT", "TIFFTAG_TRANSFERFUNCTION_RED", "TIFFTAG_TRANSFERFUNCTION_GREEN",
    "TIFFTAG_TRANSFERFUNCTION_BLUE", "TIFFTAG_TRANSFERRANGE_BLACK", "TIFFTAG_TRANSFERRANGE_WHITE")}


@pytest.mark.parametrize("option", REFUSED)
def test_what_gdal_can_and_convert_cannot_is_refused_by_name(run, plain, tmp_path, option):
    done = run("convert", "--co", option, plain, str(tmp_path / "b.tif"))
    name, value = option.split("=")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {name} cannot be '{value}': ")
    assert REFUSED[option] in done.stderr
    assert not (tmp_path / "b.tif").exists()


def test_refused_options_may_have_their_defaults(run, plain, tmp_path):
    options = ["COPY_SRC_OVERVIEWS=NO", "STREAMABLE_OUTPUT=FALSE", "APPEND_SUBDATASET=no", "RPB=OFF",
               "RPCTXT=0", "GEOTIFF_KEYS_FLAVOR=STANDARD", "COLOR_TABLE_MULTIPLIER=257",
               "JPEG_DIRECT_COPY=NO"]
    arguments = [word for option in options for word in ("--co", option)]
    done = run("convert", "--dry-run", *arguments, plain, str(tmp_path / "b.tif"))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("option, message", [
    ("COMPRES=LZW", "unknown creation option 'COMPRES'; did you mean 'COMPRESS'?\n"),
    ("compres=LZW", "unknown creation option 'compres'; did you mean 'COMPRESS'?\n"),
    ("BLOCKSIZE=512", "did you mean 'BLOCKXSIZE'?\n"),
    ("LEVEL=3", "unknown creation option 'LEVEL'"),
    ("COMPRESS=DEFLAT", "COMPRESS cannot be 'DEFLAT'; did you mean 'DEFLATE'?\n"),
    ("compress=ztsd", "COMPRESS cannot be 'ztsd'; did you mean 'ZSTD'?\n"),
    ("COMPRESS=magic", "COMPRESS cannot be 'magic': NONE, LZW, DEFLATE, ZSTD"),
    ("TILED=MAYBE", "TILED cannot be 'MAYBE': YES, NO\n"),
    ("ZLEVEL=13", "ZLEVEL cannot be '13': 1 to 12, FAST\n"),
    ("ZLEVEL=0", "ZLEVEL cannot be '0'"), ("ZLEVEL=6.5", "ZLEVEL cannot be '6.5'"),
    ("ZLEVEL=FSAT", "did you mean 'FAST'?\n"), ("ZLEVEL=", "ZLEVEL cannot be ''"),
    ("ZSTD_LEVEL=23", "1 to 22\n"), ("LZMA_PRESET=10", "0 to 9\n"), ("JPEG_QUALITY=0", "1 to 100\n"),
    ("JPEGTABLESMODE=4", "0 to 3\n"), ("WEBP_LEVEL=101", "1 to 100\n"), ("JXL_EFFORT=0", "1 to 9\n"),
    ("JXL_DISTANCE=26", "0.01 to 25\n"), ("JXL_ALPHA_DISTANCE=-2", "-1 to 25\n"),
    ("MAX_Z_ERROR=-1", "from 0 on\n"), ("MAX_Z_ERROR=nan", "from 0 on\n"), ("NBITS=33", "1 to 32\n"),
    ("PREDICTOR=4", "1 to 3\n"), ("BLOCKXSIZE=-16", "from 1 on\n"), ("BLOCKYSIZE=x", "from 1 on\n"),
    ("DISCARD_LSB=1,,2", "DISCARD_LSB cannot be '1,,2': a number of bits"),
    ("DISCARD_LSB=64", "a number of bits"), ("PIXELTYPE=BYTE", "PIXELTYPE cannot be 'BYTE'"),
    ("INTERLEAVE=LINE", "INTERLEAVE cannot be 'LINE'"), ("PHOTOMETRIC=RBG", "did you mean 'RGB'?\n"),
    ("ALPHA=MAYBE", "ALPHA cannot be 'MAYBE'"), ("BIGTIFF=IF_NEEDD", "did you mean 'IF_NEEDED'?\n"),
    ("NUM_THREADS=0", "1 to 65536, ALL_CPUS\n"), ("NUM_THREADS=ALL", "did you mean 'ALL_CPUS'?\n"),
    ("PROFILE=GDAL", "did you mean 'GDALGeoTIFF'?\n"), ("ENDIANNESS=MIDDLE", "ENDIANNESS cannot be"),
    ("GEOTIFF_VERSION=x", "AUTO, 1.0, 1.1\n"), ("ALIGN=65537", "1 to 65536\n"),
    ("TILED", "--co needs KEY=VALUE, not 'TILED'\n"), ("=YES", "unknown creation option '=YES'\n"),
    ("X" * 100 + "=1", "unknown creation option")])
def test_wrong_creation_options(run, option, message):
    done = run("convert", "--co", option, "a.tif", "b.tif")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ") and message in done.stderr
    assert done.stderr.endswith("Try 'terrazzo convert -h'.\n")


@pytest.mark.parametrize("options, message", [
    (["TILED=YES", "tiled=YES"], "TILED is given twice\n"),
    (["BLOCKXSIZE=256"], "BLOCKXSIZE needs TILED=YES"),
    (["COMPRESS=JXL", "JXL_DISTANCE=2"], "need JXL_LOSSLESS=NO\n"),
    (["COMPRESS=WEBP", "WEBP_LEVEL=2", "WEBP_LOSSLESS=YES"], "WEBP_LEVEL needs WEBP_LOSSLESS=NO\n"),
    (["COMPRESS=JPEG2000", "JPEG2000_QUALITY=2"], "JPEG2000_QUALITY needs JPEG2000_LOSSLESS=NO\n"),
    (["STATISTICS=YES", "PROFILE=GeoTIFF"], "STATISTICS=YES needs PROFILE=GDALGeoTIFF"),
    (["TFW=YES", "WORLDFILE=YES"], "one world file is enough\n"),
    (["SRC_MDD=a", "COPY_SRC_MDD=NO"], "do not go together\n")])
def test_creation_options_that_do_not_go_together(run, options, message):
    arguments = [word for option in options for word in ("--co", option)]
    done = run("convert", *arguments, "a.tif", "b.tif")
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr


@pytest.mark.parametrize("arguments, message", [
    ([], "no IN given\n"), (["a.tif"], "no OUT given\n"),
    (["a.tif", "b.tif", "c.tif"], "unexpected argument 'c.tif'\n"),
    (["a.tif", "-"], "OUT cannot be standard output"),
    (["-", "b.tif"], "standard input needs --shape and --dtype, unless it is a .npy array\n"),
    (["--shape", "4x5", "-", "b.tif"], "standard input needs --shape and --dtype\n"),
    ([*RAW, "a.tif", "b.tif"], "are for standard input"),
    (["--order", "band", "a.tif", "b.tif"], "are for standard input"),
    (["--shape", "4", "-", "b.tif"], "--shape needs rows, columns and bands"),
    (["--shape", "4x0", "-", "b.tif"], "not '4x0'\n"), (["--shape", "4x5x", "-", "b.tif"], "not '4x5x'\n"),
    (["--shape", "4x5x6x7", "-", "b.tif"], "not '4x5x6x7'\n"),
    (["--shape", "4x5x99999", "-", "b.tif"], "not '4x5x99999'\n"),
    (["--dtype", "unit8", "-", "b.tif"], "unknown type 'unit8'; did you mean 'uint8'?\n"),
    (["--order", "bsq", "-", "b.tif"], "--order is pixel, row or band, not 'bsq'\n"),
    (["--nodata", "nothing", "-", "b.tif"], "--nodata needs a number, or none; not 'nothing'\n"),
    (["--transform", "1,2,3", "-", "b.tif"], "--transform needs six numbers"),
    (["--transform", "1,2,3,4,5,inf", "-", "b.tif"], "--transform needs six numbers"),
    (["--verify", "some", "a.tif", "b.tif"], "--verify is sample, all or none, not 'some'\n"),
    (["--memory", "lots", "a.tif", "b.tif"], "--memory needs a number of bytes"),
    (["-j", "x", "a.tif", "b.tif"], "--threads needs a number up to 65536, not 'x'\n"),
    (["-j8x", "a.tif", "b.tif"], "not '8x'\n"), (["a.tif", "b.tif", "-j"], "option '-j' needs a value\n"),
    (["--overwite", "a.tif", "b.tif"], "did you mean '--overwrite'?")])
def test_wrong_usage(run, arguments, message):
    done = run("convert", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ") and message in done.stderr
    assert done.stderr.endswith("Try 'terrazzo convert -h'.\n")


@pytest.mark.parametrize("options, warning", [
    (["ZLEVEL=9"], "ZLEVEL has no effect with COMPRESS=NONE"),
    (["COMPRESS=ZSTD", "ZLEVEL=9"], "ZLEVEL has no effect with COMPRESS=ZSTD"),
    (["COMPRESS=PACKBITS", "PREDICTOR=2"], "PREDICTOR has no effect with COMPRESS=PACKBITS"),
    (["COMPRESS=LERC", "ZSTD_LEVEL=3"], "ZSTD_LEVEL has no effect with COMPRESS=LERC")])
def test_options_of_another_codec_are_ignored_with_a_warning(run, plain, tmp_path, options, warning):
    arguments = [word for option in options for word in ("--co", option)]
    done = run("convert", "--dry-run", *arguments, plain, str(tmp_path / "b.tif"))
    assert (done.returncode, done.stderr) == (0, f"warning: {warning}\n")
    assert run("convert", "--dry-run", "-q", *arguments, plain, str(tmp_path / "b.tif")).stderr == ""


def test_defaults_of_another_codec_need_no_warning(run, plain, tmp_path):
    done = run("convert", "--dry-run", "--co", "PREDICTOR=1", "--co", "JPEG_QUALITY=75", plain,
               str(tmp_path / "b.tif"))
    assert (done.returncode, done.stderr) == (0, "")


def check_creation_options(run, command, until, least, refused):
    """The manual page has the creation options that help has, and lists those that are refused."""
    text = run(command, "-h").stdout
    in_help = re.findall(r"^  ([A-Z][A-Z_]+) ", text[text.index("Creation options"):], re.MULTILINE)
    page = (ROOT / "doc" / "terrazzo.1").read_text()
    page = page[page.index(f".SH CREATION OPTIONS OF {command.upper()}"):page.index(until)]
    in_page = re.findall(r"^\.(?:BI|BR) ([A-Z_]+) ?=", page, re.MULTILINE)
    assert len(in_help) > least and sorted(in_help) == sorted(in_page)
    told = page[page.index(".SS Refused"):]
    assert all(option.split("=")[0] in told for option in refused)


def test_man_page_and_help_have_the_same_creation_options(run):
    check_creation_options(run, "convert", ".SH FILES", 30, REFUSED)
