# SPDX-License-Identifier: Apache-2.0
"""Arrays of NumPy, and pixels without a header, as input of convert and cog: the file is the one that the same pixels
make as a TIFF of rasterio's."""

import io
import itertools
import pathlib
import subprocess

import numpy as np
import pytest
import rasterio

from conftest import COMMAND, least_memory, plain_environment
from test_convert import pixels_of, read
from test_convert_streams import check_allocations, convert_bytes, names, peak

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")

AXES = {"band": (0, 1, 2), "pixel": (1, 2, 0), "row": (1, 0, 2)}
DTYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64",
          "complex64", "complex128"]


def save_npy(path, array, version=None):
    with open(path, "wb") as file:
        np.lib.format.write_array(file, array, version=version)
    return str(path)


def same_pixels(path, array):
    np.testing.assert_array_equal(read(path), array)
    return True


def header(text, version=(1, 0), length=None):
    text = text.encode() if isinstance(text, str) else text
    size = len(text) if length is None else length
    return b"\x93NUMPY" + bytes(version) + size.to_bytes(2 if version[0] == 1 else 4, "little") + text


def usual(descr="'|u1'", order="False", shape="(4, 5)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"


# Arrays that are images -------------------------------------------------------------------------


@pytest.mark.parametrize("endian", ["<", ">"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_and_byte_order(run, tmp_path, dtype, endian):
    array = (pixels_of("uint16", 2, 20, 30) / 300).astype(dtype)
    path = save_npy(tmp_path / "a.npy", array.astype(array.dtype.newbyteorder(endian)))
    done = run("convert", "--no-sync", path, str(tmp_path / "b.tif"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert same_pixels(tmp_path / "b.tif", array.astype("float32") if dtype == "float16" else array)


def test_booleans_are_bytes(run, tmp_path):
    array = pixels_of("uint8", 1, 20, 30) > 100
    assert run("convert", save_npy(tmp_path / "a.npy", array[0]), str(tmp_path / "b.tif")).returncode == 0
    assert same_pixels(tmp_path / "b.tif", array.astype("uint8"))


@pytest.mark.parametrize("command", ["convert", "cog"])
@pytest.mark.parametrize("memory", ["256M", "little"])
@pytest.mark.parametrize("order, fortran, endian, version", [
    (order, fortran, endian, version) for (order, fortran), (endian, version) in
    zip(itertools.product(AXES, [False, True]), itertools.cycle([("<", (1, 0)), (">", (2, 0)), ("<", (3, 0))]))])
def test_the_file_is_that_of_a_tiff(run, raster, tmp_path, command, memory, order, fortran, endian, version):
    """From a file, from standard input that is a file, and through a pipe."""
    array = pixels_of("int16", 3, 150, 170)
    turned = array.transpose(AXES[order]).astype(endian + "i2")
    path = save_npy(tmp_path / "a.npy", np.asarray(turned, order="F" if fortran else "C"), version)
    assert np.load(path).flags.f_contiguous == fortran
    lzw = ["--co", "COMPRESS=LZW"]
    least = least_memory(command, *lzw, path, tmp_path / "x.tif")
    little = f"{2 * int(least[:-1])}{least[-1]}"  # a pipe, and a TIFF, may take more than the array
    options = ["--no-sync", "--memory", little if memory == "little" else memory, *lzw]
    assert run(command, *options, raster(array), str(tmp_path / "c.tif")).returncode == 0
    expected = (tmp_path / "c.tif").read_bytes()
    given = ["--order", order] if order == "row" else []  # the others are guessed
    done = run(command, *options, *given, path, str(tmp_path / "b.tif"))
    assert (done.returncode, done.stderr) == (0, "") and (tmp_path / "b.tif").read_bytes() == expected
    with open(path, "rb") as file:
        done = run(command, *options, *given, "-", str(tmp_path / "d.tif"), stdin=file)
    assert (done.returncode, done.stderr) == (0, "") and (tmp_path / "d.tif").read_bytes() == expected
    done = convert_bytes(pathlib.Path(path).read_bytes(), *options, *given, "-", tmp_path / "e.tif", command=command)
    assert (done.returncode, done.stderr) == (0, b"") and (tmp_path / "e.tif").read_bytes() == expected
    assert names(tmp_path) == ["a.npy", "a.tif", "b.tif", "c.tif", "d.tif", "e.tif"]


@pytest.mark.parametrize("shape, order, size", [
    ((20, 30), None, (1, 20, 30)), ((3, 20, 30), None, (3, 20, 30)), ((20, 30, 3), None, (3, 20, 30)),
    ((20, 30, 4), None, (4, 20, 30)), ((20, 30, 5), None, (20, 30, 5)), ((4, 30, 3), None, (4, 30, 3)),
    ((7, 20, 30), None, (7, 20, 30)), ((20, 30, 1), None, (1, 20, 30)), ((1, 20, 30), None, (1, 20, 30)),
    ((20, 30, 5), "pixel", (5, 20, 30)), ((20, 30, 3), "band", (20, 30, 3)), ((20, 3, 30), "row", (3, 20, 30)),
    ((20, 30), "pixel", (1, 20, 30)), ((20, 30), "band", (1, 20, 30))])
def test_which_axis_is_the_bands(run, tmp_path, shape, order, size):
    array = np.arange(np.prod(shape), dtype="uint16").reshape(shape)
    given = ["--order", order] if order else []
    assert run("convert", *given, save_npy(tmp_path / "a.npy", array), str(tmp_path / "b.tif")).returncode == 0
    with rasterio.open(tmp_path / "b.tif") as file:
        assert (file.count, file.height, file.width) == size
        found = file.read()
    expected = array.reshape(size) if array.ndim == 2 or size == shape else \
        np.moveaxis(array, {"row": 1}.get(order, 2), 0)
    np.testing.assert_array_equal(found, expected)


def test_what_the_header_does_not_say(run, tmp_path):
    array = pixels_of("float32", 1, 20, 30)[0]
    path = save_npy(tmp_path / "a.npy", array)
    done = run("cog", "--epsg", "EPSG:32633", "--transform", "500000,30,0,5200000,0,-30", "--nodata", "-9999", path,
               str(tmp_path / "b.tif"))
    assert (done.returncode, done.stderr) == (0, "")
    with rasterio.open(tmp_path / "b.tif") as file:
        assert (file.crs.to_epsg(), file.nodata) == (32633, -9999)
        assert tuple(file.transform)[:6] == (30, 0, 500000, 0, -30, 5200000)


def test_what_read_writes_cog_reads(run, raster, tmp_path):
    for bands in (1, 3, 5):
        path = raster(pixels_of("uint16", bands, 100, 90))
        assert run("read", "--overwrite", path, str(tmp_path / "b.npy")).returncode == 0
        assert run("cog", "--overwrite", str(tmp_path / "b.npy"), str(tmp_path / "c.tif")).returncode == 0
        assert run("diff", "--pixels-only", path, str(tmp_path / "c.tif")).returncode == 0


def test_a_name_does_not_matter_and_a_plan_reads_the_header(run, tmp_path):
    path = save_npy(tmp_path / "array", pixels_of("uint8", 1, 20, 30)[0])
    done = run("cog", "--dry-run", path, str(tmp_path / "b.tif"))
    assert done.returncode == 0 and "30 x 20" in done.stdout and names(tmp_path) == ["array"]


def test_headers_as_others_write_them(run, tmp_path):
    pixels = bytes(range(20))
    for number, text in enumerate([
            usual(), usual().replace("'", '"'), usual().replace(" ", ""), usual(shape="(4L, 5L)"), usual(shape="(4,5,)"),
            "{'shape': (4, 5), 'fortran_order': False, 'descr': '|u1'}", "{ 'shape' :(4 , 5),'descr':'<u1',"
            "\t'fortran_order':False}   \n", usual() + " " * 9000 + "\n", usual(descr="'=u1'"), usual(descr="'u1'")]):
        path = tmp_path / f"{number}.npy"
        path.write_bytes(header(text) + pixels)
        done = run("convert", "--no-sync", str(path), str(tmp_path / f"{number}.tif"))
        assert (done.returncode, done.stderr) == (0, ""), text
        assert read(tmp_path / f"{number}.tif").tobytes() == pixels


# Headers that lie -------------------------------------------------------------------------------

HOSTILE = {
    "empty": (b"", "needs --shape"), "magic alone": (b"\x93NUMPY", "ends"), "no length": (b"\x93NUMPY\x01\x00\x10", "ends"),
    "version 4": (header(usual(), (4, 0)), "version 4.0"), "version 0": (header(usual(), (0, 0)), "version 0.0"),
    "version 1.1": (header(usual(), (1, 1)), "version 1.1"),
    "header cut": (header(usual(), length=1000), "ends"),
    "header of 4 GB": (header(usual(), (2, 0), 0xFFFFFFFF), "header of 4,294,967,295 bytes"),
    "header of 1 MB": (header(usual() + " " * 1_000_000, (2, 0)), "header of"),
    "no dictionary": (header("[1, 2]"), "header"), "empty text": (header(""), "header"),
    "text after it": (header(usual()[:-1] + "x"), "header"), "two of them": (header(usual() + usual()), "header"),
    "not closed": (header(usual().replace("}", "")), "header"), "zeros": (header(bytes(80)), "header"),
    "no shape": (header("{'descr': '|u1', 'fortran_order': False}"), "'shape'"),
    "no descr": (header("{'shape': (4, 5), 'fortran_order': False}"), "'descr'"),
    "no order": (header("{'shape': (4, 5), 'descr': '|u1'}"), "'fortran_order'"),
    "twice": (header("{'shape': (4, 5), 'shape': (5, 4), 'descr': '|u1', 'fortran_order': False}"), "'shape'"),
    "another key": (header(usual().replace("'shape'", "'size'")), "header"),
    "quote open": (header("{'descr"), "header"), "quotes mixed": (header(usual().replace("'|u1'", "'|u1\"")), "type"),
    "code": (header(usual(shape="(__import__('os'), 5)")), "shape"), "nested": (header("{" * 60000), "header"),
    "nested shape": (header(usual(shape="(" * 5000 + "4" + ")" * 5000)), "shape"),
    "shape of text": (header(usual(shape="('4', '5')")), "shape"), "shape a number": (header(usual(shape="20")), "shape"),
    "shape not closed": (header(usual(shape="(4, 5")), "shape"), "shape of reals": (header(usual(shape="(4.0, 5)")), "shape"),
    "negative": (header(usual(shape="(-4, 5)")), "shape"), "nothing": (header(usual(shape="()")), "dimensions"),
    "one axis": (header(usual(shape="(20,)")), "1 dimension"), "four axes": (header(usual(shape="(1, 1, 4, 5)")), "4 dimensions"),
    "many axes": (header(usual(shape="(" + "1," * 20000 + ")")), "dimensions"),
    "no rows": (header(usual(shape="(0, 5)")), "empty"), "no bands": (header(usual(shape="(0, 4, 5)")), "empty"),
    "rows of 2**32": (header(usual(shape="(4294967296, 5)")), "4294967296"),
    "rows of 2**64": (header(usual(shape="(18446744073709551616, 5)")), "shape"),
    "rows without end": (header(usual(shape="(" + "9" * 5000 + ", 5)")), "shape"),
    "bands of 65536": (header(usual(shape="(65536, 4, 5)")), "65536"),
    "all bytes there are": (header(usual("'<c16'", shape="(65535, 4294967295, 4294967295)")), "larger than a file"),
    "a terabyte": (header(usual(shape="(1000000, 1000000)")), "1000000 x 1000000"),
    "a terabyte of columns": (header(usual(order="True", shape="(1000000, 1000000)")), "1000000 x 1000000"),
    "one wide row": (header(usual(shape="(1, 4294967295)")), "4294967295"),
    "order a number": (header(usual(order="0")), "fortran_order"), "order a text": (header(usual(order="'no'")), "fortran_order"),
    "order cut": (header("{'shape': (4, 5), 'descr': '|u1', 'fortran_order': Fal"), "header"),
    "objects": (header(usual("'|O'")), "'|O'"), "text": (header(usual("'<U5'")), "'<U5'"), "records": (
        header(usual("[('a', '<f4'), ('b', '<i2')]")), "record"), "long double": (header(usual("'<f16'")), "'<f16'"),
    "dates": (header(usual("'<M8[ns]'")), "'<M8[ns]'"), "no type": (header(usual("''")), "''"),
    "escapes": (header(usual("'\x1b[31m'")), "type"), "long type": (header(usual("'" + "u" * 3000 + "'")), "type"),
    "pixels cut": (header(usual()) + bytes(19), "19 bytes"), "pixels too many": (header(usual()) + bytes(21), "21 bytes"),
    "no pixels": (header(usual()), "0 bytes")}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_header_that_lies(run, tmp_path, case):
    data, words = HOSTILE[case]
    (tmp_path / "a.npy").write_bytes(data)
    done = run("cog", str(tmp_path / "a.npy"), str(tmp_path / "b.tif"))
    if case != "empty":  # which is no TIFF either
        assert words in done.stderr, done.stderr
        assert "a.npy'" in done.stderr or "larger than a file" in done.stderr
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "\x1b" not in done.stderr
    done = convert_bytes(data, "-", tmp_path / "b.tif")
    assert done.returncode == (2 if case == "empty" else 1), done.stderr
    if case not in ("pixels too many", "a terabyte", "a terabyte of columns"):  # which are found out otherwise
        assert words in done.stderr.decode(), done.stderr
    assert names(tmp_path) == ["a.npy"]


def test_a_lie_takes_no_memory(tmp_path):
    small = save_npy(tmp_path / "small.npy", np.zeros((16, 16), "uint8"))
    base = peak(["--no-sync", "--overwrite", small, str(tmp_path / "b.tif")], "cog")
    for text in (usual(shape="(4, 4294967295)"), usual(order="True", shape="(1000000, 1000000)"), usual(shape="(1000000, 1000000)")):
        (tmp_path / "a.npy").write_bytes(header(text))
        used = peak(["--no-sync", "--overwrite", str(tmp_path / "a.npy"), str(tmp_path / "b.tif")], "cog", code=1)
        assert used - base < 8 << 20


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_is_bounded(tmp_path, order):
    """Of 64 MB, in a fraction of that."""
    path = save_npy(tmp_path / "a.npy", np.zeros((8000, 8000), "uint8", order=order))
    small = save_npy(tmp_path / "small.npy", np.zeros((16, 16), "uint8"))
    options = ["--overwrite", "--no-sync", "--co", "COMPRESS=LZW"]
    base = peak([*options, small, str(tmp_path / "b.tif")], "cog")
    used = peak([*options, "--memory", "16M", path, str(tmp_path / "b.tif")], "cog")
    assert used - base < (16 << 20) + (4 << 20)


@pytest.mark.parametrize("order", ["C", "F"])
def test_every_allocation_may_fail(tmp_path, order):
    array = np.asarray(pixels_of("uint16", 3, 40, 50), order=order)
    path = save_npy(tmp_path / "a.npy", array)
    check_allocations(["convert", "--no-sync", "-j1", path, tmp_path / "b.tif"], tmp_path, ["b.tif"])


# What goes with it ------------------------------------------------------------------------------


@pytest.mark.parametrize("options, message", [
    (["--shape", "4x5"], "--shape and --dtype are in the header of a .npy"), (["--dtype", "uint8"], "in the header of a .npy")])
def test_what_the_header_says_is_not_given(run, tmp_path, options, message):
    path = save_npy(tmp_path / "a.npy", np.zeros((4, 5), "uint8"))
    done = run("convert", *options, path, str(tmp_path / "b.tif"))
    assert done.returncode == 2 and message in done.stderr


def test_row_order_needs_three_axes(run, tmp_path):
    path = save_npy(tmp_path / "a.npy", np.zeros((4, 5), "uint8"))
    assert run("convert", "--order", "row", path, str(tmp_path / "b.tif")).returncode == 0


@pytest.mark.parametrize("data", [b"", b"\x93NUM", b"hello, world", b"II*\0" + bytes(100)])
def test_standard_input_that_is_no_array(tmp_path, data):
    done = convert_bytes(data, "-", tmp_path / "b.tif")
    assert done.returncode == 2
    assert b"standard input needs --shape and --dtype, unless it is a .npy array\n" in done.stderr


# Pixels without a header ------------------------------------------------------------------------


@pytest.mark.parametrize("bands", [1, 2, 3, 7])
@pytest.mark.parametrize("order", ["pixel", "row", "band"])
@pytest.mark.parametrize("command", ["cog", "convert"])
def test_read_into_cog_through_a_pipe(raster, run, tmp_path, bands, order, command):
    array = pixels_of("int16", bands, 120, 110)
    path = raster(array)
    reader = subprocess.Popen([COMMAND, "read", "--format", "raw", "--order", order, path, "-"], stdout=subprocess.PIPE)
    done = run(command, "--shape", f"120x110x{bands}", "--dtype", "int16", "--order", order, "-",
               str(tmp_path / "b.tif"), stdin=reader.stdout)
    reader.stdout.close()
    assert (reader.wait(60), done.returncode, done.stderr) == (0, 0, "")
    assert same_pixels(tmp_path / "b.tif", array) and names(tmp_path) == ["a.tif", "b.tif"]


@pytest.mark.parametrize("order", ["pixel", "band"])
def test_npy_into_cog_through_a_pipe(raster, run, tmp_path, order):
    array = pixels_of("float32", 3, 120, 110)
    reader = subprocess.Popen([COMMAND, "read", "--format", "npy", "--order", order, raster(array), "-"],
                              stdout=subprocess.PIPE)
    done = run("cog", "-", str(tmp_path / "b.tif"), stdin=reader.stdout)
    reader.stdout.close()
    assert (reader.wait(60), done.returncode, done.stderr) == (0, 0, "")
    assert same_pixels(tmp_path / "b.tif", array)


@pytest.mark.parametrize("memory", ["256M", "60K"])
@pytest.mark.parametrize("order", AXES)
@pytest.mark.parametrize("name", ["b.raw", "b.npy"])
def test_the_order_that_read_writes(run, raster, tmp_path, memory, order, name):
    array = pixels_of("uint16", 3, 200, 110)
    path = raster(array, tiled=True, blockxsize=64, blockysize=64)
    if (order, name) == ("row", "b.npy"):
        done = run("read", "--order", order, path, str(tmp_path / name))
        assert done.returncode == 2 and "--order row is for raw pixels" in done.stderr
        return
    done = run("read", "--masked", "--memory", memory, "--order", order, path, str(tmp_path / name))
    assert (done.returncode, done.stderr) == (0, "")
    expected = array.transpose(AXES[order])
    for file, pixels in ((name, expected), (name.replace(".", ".mask."), np.full_like(expected, 255, "uint8"))):
        if name == "b.npy":
            found = np.load(tmp_path / file)
            assert found.shape == pixels.shape
            np.testing.assert_array_equal(found, pixels)
        else:
            assert (tmp_path / file).read_bytes() == pixels.tobytes()


def test_order_is_not_for_pictures(run, plain, tmp_path):
    done = run("read", "--order", "pixel", plain, str(tmp_path / "b.png"))
    assert done.returncode == 2 and "--order is for raw and npy" in done.stderr


@pytest.mark.parametrize("difference", [-1, 1])
def test_a_pipe_band_by_band_has_all_its_bytes(tmp_path, difference):
    data = bytes(2 * 10 * 10 + difference)
    done = convert_bytes(data, "--shape", "10x10x2", "--dtype", "uint8", "--order", "band", "-", tmp_path / "b.tif")
    assert done.returncode == 1 and b"standard input has" in done.stderr and names(tmp_path) == []


def test_where_a_pipe_band_by_band_waits(tmp_path):
    """Beside OUT, or where --spool says; memory stays bounded."""
    shape = ["--shape", "2000x2000x8", "--dtype", "uint8", "--order", "band"]
    done = convert_bytes(bytes(100), *shape, "--spool", tmp_path / "missing", "-", tmp_path / "b.tif", command="cog")
    assert done.returncode == 1 and b"missing" in done.stderr
    done = convert_bytes(bytes(32_000_000), *shape, "--memory", "32M", "-", tmp_path / "b.tif", command="cog")
    assert (done.returncode, done.stderr) == (0, b"") and names(tmp_path) == ["b.tif"]
