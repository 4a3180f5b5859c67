# SPDX-License-Identifier: Apache-2.0
"""terrazzo cog: files that are in the way, interrupts, disks that are full, memory; what it does as convert does is
tested there."""

import signal
import subprocess

import pytest
import rasterio

from conftest import COMMAND, least_memory
from test_convert import co, pixels_of, read
from test_convert_streams import check_allocations, huge, names, peak, start_and_wait  # noqa: F401
from tiffmaker import Image

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")


# Files ------------------------------------------------------------------------------------------


def test_a_file_may_replace_itself(run, raster, tmp_path):
    array = pixels_of("uint16", 2, 300, 400)
    path = raster(array)
    least = least_memory("cog", "--co", "BLOCKSIZE=64", path, path)
    assert run("cog", "--overwrite", "--co", "BLOCKSIZE=64", "--memory", least, path, path).returncode == 0
    assert (read(path) == array).all() and names(tmp_path) == ["a.tif"]
    with rasterio.open(path) as file:
        assert file.overviews(1) == [2, 4, 8]


def test_a_spool_that_cannot_be_written(run, raster, tmp_path):
    path = raster(pixels_of("uint8", 1, 200, 200))
    done = run("cog", "--co", "BLOCKSIZE=64", "--spool", str(tmp_path / "missing"), path, str(tmp_path / "b.tif"))
    assert (done.returncode, done.stdout) == (1, "") and "missing" in done.stderr
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


# Memory -----------------------------------------------------------------------------------------


def test_memory_is_bounded_for_a_large_image(save, tmp_path):
    """Of 64 MB, with all its overviews, in a fraction of that."""
    path = save([Image(8000, 8000, tile=(256, 256), sparse=range(32 * 32))])
    small = save([Image(16, 16)], name="small.tif")
    options = ["--overwrite", "--no-sync", *co(["BLOCKSIZE=128", "COMPRESS=LZW"])]
    base = peak([*options, small, str(tmp_path / "b.tif")], "cog")
    used = peak([*options, "--memory", "16M", path, str(tmp_path / "b.tif")], "cog")
    assert used - base < (16 << 20) + (4 << 20)


def test_every_allocation_may_fail(raster, tmp_path):
    path = raster(pixels_of("uint8", 4, 40, 50), alpha="yes")
    check_allocations(["cog", "--no-sync", "-j1", *co(["COMPRESS=JPEG", "BLOCKSIZE=16"]), "--stats", path,
                       tmp_path / "b.tif"], tmp_path, ["b.tif"])
