# SPDX-License-Identifier: Apache-2.0
"""terrazzo cog: files that are in the way, interrupts, disks that are full, memory."""

import json
import os
import pathlib
import pty
import resource
import signal
import subprocess

import pytest
import rasterio

from conftest import COMMAND, plain_environment
from test_convert import co, pixels_of, read
from test_convert_streams import huge, names, peak, start_and_wait  # noqa: F401
from tiffmaker import Image

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")


# Files ------------------------------------------------------------------------------------------


def test_an_existing_file_stays_and_nothing_is_read(run, plain, tmp_path):
    (tmp_path / "b.tif").write_text("mine")
    for source in (plain, "missing.tif"):
        done = run("cog", source, str(tmp_path / "b.tif"))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"error: '{tmp_path / 'b.tif'}' exists; --overwrite replaces it\n"
    assert (tmp_path / "b.tif").read_text() == "mine" and names(tmp_path) == ["a.tif", "b.tif"]
    assert run("cog", "--overwrite", plain, str(tmp_path / "b.tif")).returncode == 0
    assert run("diff", "--pixels-only", plain, str(tmp_path / "b.tif")).returncode == 0
    assert names(tmp_path) == ["a.tif", "b.tif"]


def test_a_file_may_replace_itself(run, raster, tmp_path):
    array = pixels_of("uint16", 2, 300, 400)
    path = raster(array)
    assert run("cog", "--overwrite", "--co", "BLOCKSIZE=64", "--memory", "100K", path, path).returncode == 0
    assert (read(path) == array).all() and names(tmp_path) == ["a.tif"]
    with rasterio.open(path) as file:
        assert file.overviews(1) == [2, 4, 8]


@pytest.mark.parametrize("out", ["missing/b.tif", "a.tif/b.tif", "x" * 300 + ".tif", "folder"])
def test_a_place_that_cannot_be_written(run, plain, tmp_path, out):
    (tmp_path / "folder").mkdir()
    done = run("cog", "--overwrite", plain, str(tmp_path / out))
    assert (done.returncode, done.stdout) == (1, "") and done.stderr.startswith("error: ")
    assert names(tmp_path) == ["a.tif", "folder"]


def test_a_spool_that_cannot_be_written(run, raster, tmp_path):
    path = raster(pixels_of("uint8", 1, 200, 200))
    done = run("cog", "--co", "BLOCKSIZE=64", "--spool", str(tmp_path / "missing"), path, str(tmp_path / "b.tif"))
    assert (done.returncode, done.stdout) == (1, "") and "missing" in done.stderr
    assert names(tmp_path) == ["a.tif"]


def test_a_file_that_grows_too_large_leaves_nothing(save, tmp_path):
    path = save([Image(3000, 3000)])
    (tmp_path / "b.tif").write_text("mine")
    done = subprocess.run([COMMAND, "cog", "--overwrite", "-p", "raw", path, tmp_path / "b.tif"],
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000)),
                          capture_output=True, text=True)
    assert done.returncode == 1 and "File too large" in done.stderr
    assert names(tmp_path) == ["a.tif", "b.tif"] and (tmp_path / "b.tif").read_text() == "mine"


def test_a_damaged_tile_leaves_no_file(run, save, tmp_path):
    path = save([Image(64, 64, tile=(16, 16))])
    pathlib.Path(path).write_bytes(pathlib.Path(path).read_bytes()[:-100])
    done = run("cog", "--co", "BLOCKSIZE=16", path, str(tmp_path / "b.tif"))
    assert done.returncode == 1 and "tile 15" in done.stderr
    assert names(tmp_path) == ["a.tif"]


# Progress and interrupts ------------------------------------------------------------------------


@pytest.mark.parametrize("number, least, options", [
    (signal.SIGINT, 0, []), (signal.SIGTERM, 100_000, ["-j1"]),
    (signal.SIGHUP, 50_000_000, ["-p", "raw", "--memory", "64M"])])
@pytest.mark.parametrize("old", [False, True])
def test_an_interrupt_leaves_nothing_behind(huge, tmp_path, number, least, options, old):  # noqa: F811
    (tmp_path / "spool").mkdir()
    if old:
        (tmp_path / "b.tif").write_text("mine")
    child = start_and_wait(["--overwrite", "--spool", str(tmp_path / "spool"), *options, huge,
                            str(tmp_path / "b.tif")], tmp_path, least, command="cog", stdin=subprocess.DEVNULL)
    child.send_signal(number)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out, err) == (-number, b"", b"error: interrupted\n")
    assert names(tmp_path) == (["b.tif"] if old else []) + ["huge.tif", "spool"]
    assert names(tmp_path / "spool") == []
    assert not old or (tmp_path / "b.tif").read_text() == "mine"


def test_progress_tells_rate_and_time_left(huge, tmp_path):  # noqa: F811
    master, slave = pty.openpty()
    child = subprocess.Popen([COMMAND, "cog", "--no-sync", "-j1", huge, tmp_path / "b.tif"], stdout=slave,
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


def test_memory_is_bounded_for_a_large_image(save, tmp_path):
    """Of 64 MB, with all its overviews, in a fraction of that."""
    path = save([Image(8000, 8000, tile=(256, 256), sparse=range(32 * 32))])
    small = save([Image(16, 16)], name="small.tif")
    options = ["--overwrite", "--no-sync", *co(["BLOCKSIZE=128", "COMPRESS=LZW"])]
    base = peak([*options, small, str(tmp_path / "b.tif")], "cog")
    used = peak([*options, "--memory", "16M", path, str(tmp_path / "b.tif")], "cog")
    assert used - base < (16 << 20) + (4 << 20)


def test_memory_that_does_not_suffice_is_told(run, save, tmp_path):
    path = save([Image(3000, 3000)])
    done = run("cog", "--json", "--memory", "1000", path, str(tmp_path / "b.tif"))
    answer = json.loads(done.stdout)
    assert answer["plan"]["memory"] > 1000
    page = run("cog", "--dry-run", "--overwrite", "--memory", "1000", path, str(tmp_path / "b.tif")).stdout
    assert "more than --memory allows" in page


def test_every_allocation_may_fail(raster, tmp_path):
    program = COMMAND.parent / "tests" / "terrazzo_nomem"
    if not program.is_file():
        pytest.skip("terrazzo_nomem was not built")
    path = raster(pixels_of("uint8", 4, 40, 50), alpha="yes")
    successes = 0
    for count in range(1, 2000):
        done = subprocess.run([program, "cog", "--no-sync", "-j1", *co(["COMPRESS=JPEG", "BLOCKSIZE=16"]),
                               "--stats", path, tmp_path / "b.tif"],
                              env=plain_environment(TERRAZZO_FAIL_ALLOCATION=str(count)),
                              capture_output=True, text=True)
        if done.returncode == 0:  # some only save time
            assert names(tmp_path) == ["a.tif", "b.tif"]
            (tmp_path / "b.tif").unlink()
            successes += 1
            if successes > 5:
                break
        else:
            successes = 0
            assert done.returncode == 1 and done.stderr.count("error: ") == 1, done.stderr
            assert names(tmp_path) == ["a.tif"]
    assert 20 < count < 1999
