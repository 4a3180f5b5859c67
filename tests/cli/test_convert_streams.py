# SPDX-License-Identifier: Apache-2.0
"""terrazzo convert: standard input, files that are in the way, interrupts, memory."""

import os
import pathlib
import pty
import resource
import signal
import subprocess
import time

import numpy as np
import pytest
import rasterio

from conftest import COMMAND, least_memory, plain_environment
from test_convert import PLACE, pixels_of, read, tags_of
from tiffmaker import Image, north_up

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")


WRITERS = ["convert", "cog"]  # what both do alike is tested here


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# Standard input ---------------------------------------------------------------------------------


def convert_bytes(data, *arguments, command="convert", **options):
    """Converts what comes through a pipe."""
    return subprocess.run([COMMAND, command, "--no-sync", *arguments], input=data,
                          capture_output=True, env=plain_environment(), timeout=60, **options)


ORDERS = {"pixel": (1, 2, 0), "row": (1, 0, 2), "band": (0, 1, 2)}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("options", [[], ["--co", "COMPRESS=ZSTD", "--co", "TILED=YES", "--memory", "24M"]])
def test_rows_make_the_same_file_as_a_tiff(run, raster, tmp_path, order, options):
    array = pixels_of("int16", 3, 700, 300)
    raw = tmp_path / "rows.raw"
    raw.write_bytes(np.ascontiguousarray(array.transpose(ORDERS[order])).tobytes())
    with open(raw, "rb") as rows:
        done = subprocess.run([COMMAND, "convert", *options, "--shape", "700x300x3", "--dtype", "int16",
                               "--order", order, "-", tmp_path / "b.tif"], stdin=rows)
    assert done.returncode == 0
    assert run("convert", *options, raster(array), str(tmp_path / "c.tif")).returncode == 0
    assert (tmp_path / "b.tif").read_bytes() == (tmp_path / "c.tif").read_bytes()


def test_what_read_writes_convert_reads(run, raster, tmp_path):
    path = raster(pixels_of("float32", 2))
    assert run("read", path, str(tmp_path / "a.raw")).returncode == 0
    with open(tmp_path / "a.raw", "rb") as rows:
        subprocess.run([COMMAND, "convert", "--shape", "70x100x2", "--dtype", "float32", "--order",
                        "band", "-", tmp_path / "b.tif"], stdin=rows, check=True)
    assert run("diff", "--pixels-only", path, str(tmp_path / "b.tif")).returncode == 0


def test_one_byte_at_a_time(tmp_path):
    array = pixels_of("uint16", 1, 20, 30)
    child = subprocess.Popen([COMMAND, "convert", "--shape", "20x30", "--dtype", "uint16", "-",
                              tmp_path / "b.tif"], stdin=subprocess.PIPE, bufsize=0)
    for byte in array.tobytes():
        child.stdin.write(bytes([byte]))
    assert not (tmp_path / "b.tif").exists()
    child.stdin.close()
    assert child.wait(60) == 0
    np.testing.assert_array_equal(read(tmp_path / "b.tif"), array)


def test_rows_with_georeference(tmp_path):
    done = convert_bytes(bytes(100), "--shape", "10x10", "--dtype", "uint8", "--epsg", "32632",
                         "--transform", "500000,30,0,5200000,0,-30", "--nodata", "255", "-",
                         tmp_path / "b.tif")
    assert (done.returncode, done.stderr) == (0, b"")
    with rasterio.open(tmp_path / "b.tif") as file:
        assert (file.crs.to_epsg(), file.transform, file.nodata) == (32632, PLACE["transform"], 255)
    done = convert_bytes(bytes(800), "--shape", "10x10", "--dtype", "int64", "--epsg", "4326", "--nodata",
                         "-9223372036854775807", "-", tmp_path / "c.tif")
    with rasterio.open(tmp_path / "c.tif") as file:
        assert file.crs.to_epsg() == 4326
    assert tags_of(tmp_path / "c.tif")["GDAL_NODATA"] == "-9223372036854775807"
    done = convert_bytes(bytes(100), "--shape", "10x10", "--dtype", "uint8", "--epsg", "32632", "--co",
                         "GEOTIFF_VERSION=1.1", "-", tmp_path / "d.tif")
    assert done.returncode == 1 and b"GEOTIFF_VERSION=1.1" in done.stderr


@pytest.mark.parametrize("size, message", [
    (0, b"error: standard input has 0 bytes, and 10 x 7 x 3 of uint16 are 420\n"),
    (419, b"error: standard input has 419 bytes, and 10 x 7 x 3 of uint16 are 420\n"),
    (421, b"error: standard input has more than 420 bytes, and 10 x 7 x 3 of uint16 are 420\n")])
@pytest.mark.parametrize("old", [False, True])
def test_too_few_and_too_many_bytes(tmp_path, size, message, old):
    if old:
        (tmp_path / "b.tif").write_text("mine")
    done = convert_bytes(bytes(size), "--overwrite", "--shape", "10x7x3", "--dtype", "uint16", "-",
                         tmp_path / "b.tif")
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", message)
    assert names(tmp_path) == (["b.tif"] if old else [])
    assert not old or (tmp_path / "b.tif").read_text() == "mine"


def test_a_file_band_after_band_has_the_right_size(tmp_path):
    arguments = ["--shape", "10x7x3", "--dtype", "uint8", "--order", "band", "-", tmp_path / "b.tif"]
    (tmp_path / "a.raw").write_bytes(bytes(211))
    with open(tmp_path / "a.raw", "rb") as rows:
        done = subprocess.run([COMMAND, "convert", *arguments], stdin=rows, capture_output=True)
    assert done.returncode == 1 and b"standard input has 211 bytes" in done.stderr
    assert names(tmp_path) == ["a.raw"]


def test_standard_input_that_cannot_be_read(tmp_path):
    arguments = [COMMAND, "convert", "--shape", "10x7", "--dtype", "uint8", "-", tmp_path / "b.tif"]
    done = subprocess.run(arguments, preexec_fn=lambda: os.close(0), capture_output=True)
    assert done.returncode == 1 and b"cannot read standard input" in done.stderr
    master, slave = pty.openpty()
    done = subprocess.run(arguments, stdin=slave, capture_output=True)
    os.close(master), os.close(slave)
    assert done.returncode == 1 and b"standard input is a terminal" in done.stderr
    assert names(tmp_path) == []


def test_sizes_that_no_file_has(tmp_path):
    done = convert_bytes(b"", "--shape", "4294967295x4294967295x65535", "--dtype", "complex128", "-",
                         tmp_path / "b.tif")
    assert done.returncode == 1 and b"larger than a file can be" in done.stderr
    assert names(tmp_path) == []


# Files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", WRITERS)
def test_an_existing_file_stays_and_nothing_is_read(run, plain, tmp_path, command):
    (tmp_path / "b.tif").write_text("mine")
    for source in (plain, "missing.tif"):
        done = run(command, source, str(tmp_path / "b.tif"))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"error: '{tmp_path / 'b.tif'}' exists; --overwrite replaces it\n"
    assert (tmp_path / "b.tif").read_text() == "mine" and names(tmp_path) == ["a.tif", "b.tif"]
    assert run(command, "--overwrite", plain, str(tmp_path / "b.tif")).returncode == 0
    assert run("diff", "--pixels-only", plain, str(tmp_path / "b.tif")).returncode == 0
    assert names(tmp_path) == ["a.tif", "b.tif"]


def test_a_file_may_replace_itself(run, raster, tmp_path):
    array = pixels_of("uint16", 2, 300, 400)
    path = raster(array, **PLACE)
    assert run("convert", path, path).returncode == 1
    least = least_memory("convert", "--co", "COMPRESS=LZW", path, path)
    assert run("convert", "--overwrite", "--co", "COMPRESS=LZW", "--memory", least, path,
               path).returncode == 0
    np.testing.assert_array_equal(read(path), array)
    assert names(tmp_path) == ["a.tif"]


def test_names_that_start_with_a_dash(run, plain, tmp_path):
    done = run("convert", "--", pathlib.Path(plain).name, "-b.tif", cwd=tmp_path)
    assert done.returncode == 0 and names(tmp_path) == ["-b.tif", "a.tif"]
    assert run("convert", "./-b.tif", "c.tif", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("command", WRITERS)
@pytest.mark.parametrize("out", ["missing/b.tif", "a.tif/b.tif", "x" * 300 + ".tif", "folder"])
def test_a_directory_that_cannot_be_written(run, plain, tmp_path, command, out):
    (tmp_path / "folder").mkdir()
    done = run(command, "--overwrite", plain, str(tmp_path / out))
    assert (done.returncode, done.stdout) == (1, "") and done.stderr.startswith("error: ")
    assert names(tmp_path) == ["a.tif", "folder"]


@pytest.mark.parametrize("command", WRITERS)
def test_a_file_that_grows_too_large_leaves_nothing(save, tmp_path, command):
    path = save([Image(3000, 3000)])
    (tmp_path / "b.tif").write_text("mine")
    done = subprocess.run([COMMAND, command, "--overwrite", "--co", "COMPRESS=NONE", path, tmp_path / "b.tif"],
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000)),
                          capture_output=True, text=True)
    assert done.returncode == 1 and "File too large" in done.stderr
    assert names(tmp_path) == ["a.tif", "b.tif"] and (tmp_path / "b.tif").read_text() == "mine"


@pytest.mark.parametrize("command", WRITERS)
def test_a_damaged_tile_leaves_no_file(run, save, tmp_path, command):
    path = save([Image(64, 64, tile=(16, 16))])
    pathlib.Path(path).write_bytes(pathlib.Path(path).read_bytes()[:-100])
    done = run(command, path, str(tmp_path / "b.tif"))
    assert done.returncode == 1 and "tile 15" in done.stderr
    assert names(tmp_path) == ["a.tif"]


def test_nobody_who_listens(plain, tmp_path):
    """Standard output is closed, or a pipe without a reader: the file is written all the same."""
    done = subprocess.run([COMMAND, "convert", plain, tmp_path / "b.tif"],
                          preexec_fn=lambda: os.close(1), stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    into, out = os.pipe()
    os.close(into)
    done = subprocess.run([COMMAND, "convert", "--json", plain, tmp_path / "c.tif"], stdout=out,
                          stderr=subprocess.PIPE, text=True)
    os.close(out)
    assert done.returncode == 1 and "Broken pipe" in done.stderr
    assert read(tmp_path / "c.tif").shape == (1, 10, 20)


# Progress and interrupts ------------------------------------------------------------------------


@pytest.fixture
def huge(save):
    """So large that writing it takes a while; nothing of it is stored."""
    count = (40_000 // 512 + 1) ** 2
    return save([Image(40_000, 40_000, tile=(512, 512), sparse=range(count),
                       tags=north_up(1000.0, 2000.0, 10.0))], name="huge.tif")


def written(child, folder):
    """Bytes in the file that the command is writing; -1: there is none yet."""
    sizes = [-1]
    for fd in pathlib.Path(f"/proc/{child.pid}/fd").iterdir():
        try:
            where = os.readlink(fd)
            if where.startswith(f"{folder}/") and ("/b." in where or "/.b." in where or "#" in where):
                sizes.append(os.stat(fd).st_size)
        except OSError:
            pass  # closed meanwhile
    return max(sizes)


def start_and_wait(arguments, folder, least, command="convert", **options):
    """Starts the command and returns when it has written so much."""
    child = subprocess.Popen([COMMAND, command, *["--no-sync"][:command != "read"], *arguments], stderr=subprocess.PIPE,
                             stdout=subprocess.PIPE, env=plain_environment(), **options)
    end = time.monotonic() + 60
    while written(child, folder) < least:
        assert child.poll() is None, child.stderr.read()
        assert time.monotonic() < end
    return child


@pytest.mark.parametrize("number, least, options", [
    (signal.SIGINT, 0, []), (signal.SIGTERM, 1, ["-j1"]), (signal.SIGHUP, 5_000_000, ["--memory", "4M"]),
    (signal.SIGINT, 50_000_000, ["--co", "TILED=YES"]),
    (signal.SIGTERM, 100_000, ["--co", "COMPRESS=DEFLATE", "--co", "TFW=YES"])])
@pytest.mark.parametrize("old", [False, True])
def test_an_interrupt_leaves_nothing_behind(huge, tmp_path, number, least, options, old):
    if old:
        (tmp_path / "b.tif").write_text("mine")
    child = start_and_wait(["--overwrite", *options, huge, str(tmp_path / "b.tif")], tmp_path, least,
                           stdin=subprocess.DEVNULL)
    child.send_signal(number)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out, err) == (-number, b"", b"error: interrupted\n")
    assert names(tmp_path) == (["b.tif"] if old else []) + ["huge.tif"]
    assert not old or (tmp_path / "b.tif").read_text() == "mine"


def test_an_interrupt_while_waiting_for_input(tmp_path):
    child = start_and_wait(["--shape", "99x99", "--dtype", "uint8", "-", str(tmp_path / "b.tif")],
                           tmp_path, 0, stdin=subprocess.PIPE)
    child.send_signal(signal.SIGINT)
    assert child.wait(60) == -signal.SIGINT
    child.stdin.close(), child.stdout.close(), child.stderr.close()
    assert names(tmp_path) == []


@pytest.mark.parametrize("command", WRITERS)
def test_progress_shows_rate_and_time_left(huge, tmp_path, command):
    master, slave = pty.openpty()
    child = subprocess.Popen([COMMAND, command, "--no-sync", "-j1", huge, tmp_path / "b.tif"], stdout=slave,
                             stderr=slave, env=plain_environment())
    os.close(slave)
    shown = b""
    while b" left" not in shown:
        shown += os.read(master, 4096)
    child.send_signal(signal.SIGINT)
    child.wait(60)
    os.close(master)
    assert b" %, " in shown and b"iB/s, " in shown
    assert names(tmp_path) == ["huge.tif"]


# Memory -----------------------------------------------------------------------------------------


def peak(arguments, command="convert", code=0):
    """The most memory that the command had, in bytes."""
    child = subprocess.Popen([COMMAND, command, *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == code
    return usage.ru_maxrss * 1024


@pytest.mark.parametrize("options", [["--co", "TILED=YES", "--co", "COMPRESS=LZW"], []])
def test_memory_is_bounded_for_a_wide_image(save, tmp_path, options):
    """One row of tiles alone has 77 MB."""
    path = save([Image(300_000, 512, tile=(256, 256), sparse=range(2 * 1172))])
    small = save([Image(16, 16)], name="small.tif")
    base = peak(["--overwrite", *options, small, str(tmp_path / "b.tif")])
    used = peak(["--overwrite", "--memory", "8M", *options, path, str(tmp_path / "b.tif")])
    assert used - base < (8 << 20) + (4 << 20)


def check_allocations(arguments, folder, made):
    """Makes each allocation of the command fail in turn: an error and no file, or all that is made."""
    program = COMMAND.parent / "tests" / "terrazzo_nomem"
    if not program.is_file():
        pytest.skip("terrazzo_nomem was not built")
    before = names(folder)
    successes = 0
    for count in range(1, 2000):
        done = subprocess.run([program, *arguments], env=plain_environment(TERRAZZO_FAIL_ALLOCATION=str(count)),
                              capture_output=True, text=True)
        if done.returncode == 0:  # some only save time
            assert names(folder) == sorted(before + made)
            for name in made:
                (folder / name).unlink()
            successes += 1
            if successes > 5:
                break
        else:
            successes = 0
            assert done.returncode == 1 and done.stderr.count("error: ") == 1, done.stderr
            assert names(folder) == before
    assert 20 < count < 1999


def test_every_allocation_may_fail(plain, tmp_path):
    check_allocations(["convert", "--no-sync", "-j1", "--co", "COMPRESS=LZW", "--co", "TFW=YES", "--stats", plain,
                       tmp_path / "b.tif"], tmp_path, ["b.tfw", "b.tif"])
