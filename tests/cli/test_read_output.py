# SPDX-License-Identifier: Apache-2.0
"""terrazzo read and plan: the output file and what can go wrong with it, messages, exit codes,
progress and interrupts, JSON."""

import json
import os
import pathlib
import pty
import re
import resource
import signal
import stat
import subprocess
import threading

import jsonschema
import numpy as np
import pytest

from conftest import COMMAND, plain_environment
from test_convert_streams import start_and_wait as write_and_wait
from test_streams import run_on_terminal
from tiffmaker import DOUBLE, SHORT, Image, north_up, tiff

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMA = json.loads((ROOT / "doc" / "read.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
PLACE = {"transform": (30, 0, 500000, 0, -30, 5200000), "crs": "EPSG:32632"}
ROTATED = [(34264, DOUBLE, [7.0, 7.0, 0.0, 0.0, 7.0, -7.0, 0.0, 0.0] + [0.0] * 7 + [1.0])]


def check(text):
    answer = json.loads(text)
    error = jsonschema.exceptions.best_match(VALIDATOR.iter_errors(answer))
    assert error is None, f"{error.json_path}: {error.message}"
    return answer


@pytest.fixture
def gray(save):
    """10 x 8 pixels of 0 to 79, tied to the ground."""
    data = tiff([Image(10, 8, tags=north_up(1000.0, 2000.0, 10.0))])
    return save(data[:-80] + bytes(range(80)))


@pytest.fixture
def huge(save):
    """So large that reading it takes a while; nothing of it is stored."""
    count = (60_000 // 512 + 1) ** 2
    return save([Image(60_000, 60_000, tile=(512, 512), sparse=range(count))], name="huge.tif")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# Files ------------------------------------------------------------------------------------------


def test_an_existing_file_stays(run, gray, tmp_path):
    (tmp_path / "b.npy").write_text("mine")
    done = run("read", gray, str(tmp_path / "b.npy"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "exists; --overwrite replaces it" in done.stderr
    assert (tmp_path / "b.npy").read_text() == "mine"
    assert names(tmp_path) == ["a.tif", "b.npy"]
    assert run("read", "--overwrite", gray, str(tmp_path / "b.npy")).returncode == 0
    assert np.load(tmp_path / "b.npy").shape == (8, 10)
    assert names(tmp_path) == ["a.tif", "b.npy"]


def test_overwriting_makes_a_new_file(run, gray, tmp_path):
    """Whoever has the old one open keeps reading it."""
    (tmp_path / "b.raw").write_text("mine")
    os.link(tmp_path / "b.raw", tmp_path / "kept")
    assert run("read", "--overwrite", gray, str(tmp_path / "b.raw")).returncode == 0
    assert (tmp_path / "kept").read_text() == "mine"
    assert (tmp_path / "b.raw").read_bytes() == bytes(range(80))


def test_a_link_stays_a_link(run, gray, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "real.raw").write_text("mine")
    (tmp_path / "link.raw").symlink_to("sub/real.raw")
    assert run("read", "--overwrite", gray, str(tmp_path / "link.raw")).returncode == 0
    assert (tmp_path / "link.raw").is_symlink()
    assert (tmp_path / "sub" / "real.raw").read_bytes() == bytes(range(80))
    assert names(tmp_path / "sub") == ["real.raw"]


def test_the_input_is_never_the_output(run, gray, tmp_path):
    before = pathlib.Path(gray).read_bytes()
    (tmp_path / "link.raw").symlink_to("a.tif")
    for out in (gray, str(tmp_path / "link.raw")):
        done = run("read", "--overwrite", "--format", "raw", gray, out)
        assert done.returncode == 1 and "is the file that is read" in done.stderr
    assert pathlib.Path(gray).read_bytes() == before


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o000])
def test_permissions_are_those_of_any_new_file(gray, tmp_path, mask):
    subprocess.run([COMMAND, "read", gray, tmp_path / "b.raw"], check=True, umask=mask)
    assert stat.S_IMODE((tmp_path / "b.raw").stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("out, reason", [
    ("missing/b.npy", "No such file or directory"), ("folder.npy", "Is a directory"),
    ("a.tif/b.npy", "Not a directory"), ("x" * 300 + ".npy", "File name too long")])
def test_a_directory_that_cannot_be_written(run, gray, tmp_path, out, reason):
    (tmp_path / "folder.npy").mkdir()
    done = run("read", gray, str(tmp_path / out))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: cannot write '") and done.stderr.endswith(f"{reason}\n")
    assert names(tmp_path) == ["a.tif", "folder.npy"]


def test_escape_sequences_in_names_do_not_reach_the_terminal(run, gray, tmp_path):
    done = run("read", gray, str(tmp_path / "no\x1b[31m\nwhere" / "b.npy"))
    assert done.returncode == 1 and "\x1b" not in done.stderr and done.stderr.count("\n") == 1
    out = str(tmp_path / "b\x1b[31m.npy")
    done = run("read", "-v", gray, out)
    assert done.returncode == 0 and "\x1b" not in done.stdout


def test_a_mask_that_cannot_be_written_leaves_nothing(run, gray, tmp_path):
    (tmp_path / "b.mask.npy").write_text("mine")
    done = run("read", "--masked", gray, str(tmp_path / "b.npy"))
    assert done.returncode == 1 and "b.mask.npy' exists" in done.stderr
    assert names(tmp_path) == ["a.tif", "b.mask.npy"]


@pytest.mark.parametrize("out", ["b.npy", "b.png"])
def test_a_file_that_grows_too_large_leaves_nothing(save, tmp_path, out):
    path = save([Image(3000, 3000)])
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    done = subprocess.run([COMMAND, "read", path, tmp_path / out], preexec_fn=limit,
                          capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == f"error: cannot write '{tmp_path / out}': File too large\n"
    assert names(tmp_path) == ["a.tif"]


def test_devices_and_pipes_stay_what_they_are(run, gray, tmp_path):
    done = run("read", "--format", "raw", gray, "/dev/full")
    assert done.returncode == 1 and "No space left on device" in done.stderr
    assert run("read", "--format", "raw", gray, "/dev/null").returncode == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode) and stat.S_ISCHR(os.stat("/dev/full").st_mode)
    os.mkfifo(tmp_path / "pipe.raw")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe.raw").read_bytes()))
    reader.start()
    assert run("read", gray, str(tmp_path / "pipe.raw")).returncode == 0
    reader.join(60)
    assert found == [bytes(range(80))]


def test_a_damaged_tile_leaves_no_file(run, info, raster, tmp_path):
    array = np.random.default_rng(1).integers(0, 255, (1, 64, 64)).astype("uint8")
    path = raster(array, compress="deflate", tiled=True, blockxsize=32, blockysize=32,
                  **PLACE)
    tile = info("--tiles", path)["terrazzo"]["tiles"][3]
    data = bytearray(pathlib.Path(path).read_bytes())
    data[tile["offset"] + 9:tile["offset"] + 99] = bytes(90)
    (tmp_path / "a.tif").write_bytes(data)
    done = run("read", path, str(tmp_path / "b.npy"))
    assert done.returncode == 1 and "tile 3" in done.stderr
    assert names(tmp_path) == ["a.tif"]


@pytest.mark.parametrize("memory", ["256M", "150K"])
def test_salvage(run, info, raster, tmp_path, memory):
    """What is left of a file with a broken tile and one whose place is past the end."""
    array = np.random.default_rng(1).integers(0, 250, (1, 512, 256)).astype("uint8")
    path = raster(array, compress="lzw", tiled=True, blockxsize=64, blockysize=64, nodata=255, **PLACE)
    tiles = info("--tiles", path)["terrazzo"]["tiles"]
    data = bytearray(pathlib.Path(path).read_bytes())
    data[tiles[3]["offset"]:tiles[3]["offset"] + 200] = b"\xff" * 200
    place = tiles[21]["offset"].to_bytes(4, "little")
    assert data.count(place) == 1
    data[data.index(place):data.index(place) + 4] = b"\xff\xff\xff\x0f"
    (tmp_path / "a.tif").write_bytes(data)
    out = str(tmp_path / "b.npy")
    done = run("read", path, out)
    assert done.returncode == 1 and "b.npy" not in names(tmp_path)
    done = run("read", "--salvage", "--masked", "--json", "--memory", memory, path, out)
    assert done.returncode == 0
    expected = array[0].copy()
    expected[0:64, 192:256] = expected[320:384, 64:128] = 255
    np.testing.assert_array_equal(np.load(out), expected)
    np.testing.assert_array_equal(np.load(tmp_path / "b.mask.npy"), np.where(expected == 255, 0, 255))
    answer = check(done.stdout)
    assert answer["decode"]["tiles_failed"] == 2
    assert [(tile["tile"], tile["cause"]) for tile in answer["damaged"]] == [
        (3, "CODEC"), (21, "TRUNCATED")]
    assert "warning: tile 3 of level 0 could not be read (format, CODEC)\n" in done.stderr
    assert "warning: tile 21 of level 0 could not be read" in done.stderr
    assert run("read", "--salvage", "--fill", "7", "--memory", memory, path, "--overwrite", out).returncode == 0
    expected[0:64, 192:256] = expected[320:384, 64:128] = 7
    np.testing.assert_array_equal(np.load(out), expected)


def test_salvage_of_many_tiles(run, save, tmp_path):
    """More tiles than the first list holds, and more bad ones than are listed one by one."""
    data = tiff([Image(640, 640, tile=(16, 16))])
    path = save(data[:-256 * 100])
    done = run("read", "--salvage", "--json", path, str(tmp_path / "b.raw"))
    assert done.returncode == 0
    answer = check(done.stdout)
    assert answer["decode"]["tiles_failed"] == 100 and len(answer["damaged"]) == 16
    assert "warning: further tiles could not be read (84 times)\n" in done.stderr


# Standard output --------------------------------------------------------------------------------


def test_standard_output_that_is_full_or_closed(gray):
    arguments = [COMMAND, "read", "--format", "npy", gray, "-"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (
        1, "error: cannot write to standard output: No space left on device\n")
    done = subprocess.run(arguments, preexec_fn=lambda: os.close(1), stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (
        1, "error: cannot write to standard output: Bad file descriptor\n")


def test_a_closed_pipe_ends_silently(huge):
    child = subprocess.Popen([COMMAND, "read", "--format", "raw", huge, "-"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    child.stdout.read(100)
    child.stdout.close()
    assert child.stderr.read() == b""
    child.stderr.close()
    assert child.wait(timeout=60) == -signal.SIGPIPE


def test_not_to_a_terminal(gray):
    assert "standard output is a terminal" in run_on_terminal(["read", "--format", "raw", gray, "-"])


def test_png_to_standard_output(gray):
    done = subprocess.run([COMMAND, "read", "--format", "png", gray, "-"], capture_output=True,
                          check=True)
    assert done.stdout.startswith(b"\x89PNG") and done.stdout.endswith(b"IEND\xaeB`\x82")


# Progress and interrupts ------------------------------------------------------------------------


def test_progress_on_a_terminal_only(run, save, tmp_path):
    path = save([Image(2000, 2000, tile=(64, 64))])
    out = str(tmp_path / "b.raw")
    shown = run_on_terminal(["read", "--overwrite", path, out])
    assert "%" in shown and re.search(r"\r +\r$", shown)
    assert run_on_terminal(["read", "--overwrite", "-q", path, out]) == ""
    assert run_on_terminal(["read", "--overwrite", path, out], TERM="dumb") == ""
    assert run("read", "--overwrite", path, out).stderr == ""


def start_and_wait(arguments, folder):
    """Starts read and returns when it has begun to write."""
    return write_and_wait(arguments, folder, 1_000_000, command="read", stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("masked", [[], ["--masked"]])
def test_an_interrupt_leaves_nothing_behind(huge, tmp_path, number, masked):
    child = start_and_wait(["--memory", "16M", *masked, huge, str(tmp_path / "b.npy")], tmp_path)
    child.send_signal(number)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out, err) == (-number, b"", b"error: interrupted\n")
    assert names(tmp_path) == ["huge.tif"]


def test_an_interrupt_keeps_what_was_there(huge, tmp_path):
    (tmp_path / "b.npy").write_text("mine")
    child = start_and_wait(["--memory", "16M", "--overwrite", huge, str(tmp_path / "b.npy")], tmp_path)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    assert (tmp_path / "b.npy").read_text() == "mine"
    assert names(tmp_path) == ["b.npy", "huge.tif"]


@pytest.mark.parametrize("masked", [[], ["--masked"]])
@pytest.mark.parametrize("old", [False, True])
def test_what_a_killed_read_leaves_clean_finds(run, huge, tmp_path, masked, old):
    """Where the file system has files without a name, that is nothing."""
    if old:
        (tmp_path / "b.npy").write_text("mine")
    child = start_and_wait(["--overwrite", "--memory", "16M", *masked, huge, str(tmp_path / "b.npy")], tmp_path)
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=60)
    left = {name for name in names(tmp_path) if name not in ("b.npy", "huge.tif")}
    assert all(re.fullmatch(r"\.b\.(mask\.)?npy\.tz[0-9]{2}\.part", name) for name in left)
    done = run("clean", "--older-than", "0", str(tmp_path))
    assert {pathlib.Path(line).name for line in done.stdout.splitlines()} == left
    assert names(tmp_path) == (["b.npy"] if old else []) + ["huge.tif"]
    assert not old or (tmp_path / "b.npy").read_text() == "mine"


def test_a_replaced_file_keeps_its_permissions(run, gray, tmp_path):
    (tmp_path / "b.raw").write_text("mine")
    (tmp_path / "b.raw").chmod(0o640)
    assert run("read", "--overwrite", gray, str(tmp_path / "b.raw")).returncode == 0
    assert stat.S_IMODE((tmp_path / "b.raw").stat().st_mode) == 0o640


def test_a_link_that_leads_nowhere(run, gray, tmp_path):
    (tmp_path / "b.raw").symlink_to("c.raw")
    done = run("read", gray, str(tmp_path / "b.raw"))
    assert done.returncode == 1 and "exists; --overwrite" in done.stderr
    assert run("read", "--overwrite", gray, str(tmp_path / "b.raw")).returncode == 0
    assert (tmp_path / "b.raw").is_symlink() and (tmp_path / "c.raw").read_bytes() == bytes(range(80))


# Memory -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("out", ["b.npy", "b.png"])
def test_every_allocation_may_fail(gray, tmp_path, out):
    program = COMMAND.parent / "tests" / "terrazzo_nomem"
    if not program.is_file():
        pytest.skip("terrazzo_nomem was not built")
    for count in range(1, 1000):
        done = subprocess.run([program, "read", "--masked", "--threads", "1", gray, tmp_path / out],
                              env=plain_environment(TERRAZZO_FAIL_ALLOCATION=str(count)),
                              capture_output=True, text=True)
        if done.returncode == 0:
            break
        assert done.returncode == 1 and done.stderr.count("error: ") == 1, done.stderr
        assert names(tmp_path) == ["a.tif"]
    assert 5 < count < 999


def test_every_allocation_of_a_large_picture_may_fail(raster, tmp_path):
    """With an overview that the range is measured by, and without."""
    program = COMMAND.parent / "tests" / "terrazzo_nomem"
    if not program.is_file():
        pytest.skip("terrazzo_nomem was not built")
    array = np.zeros((1, 520, 520), "uint16")
    array[:, ::2] = 7
    for overviews in ([4], []):
        path = raster(array, overviews=overviews, **PLACE)
        for count in range(1, 1000):
            done = subprocess.run([program, "read", "--threads", "1", path, tmp_path / "b.png"],
                                  env=plain_environment(TERRAZZO_FAIL_ALLOCATION=str(count)),
                                  capture_output=True, text=True)
            if done.returncode == 0:
                break
            assert done.returncode == 1 and done.stderr.count("error: ") == 1, done.stderr
            assert names(tmp_path) == ["a.tif"]
        assert 5 < count < 999 and ("by overview 1" in done.stderr) == bool(overviews)
        (tmp_path / "b.png").unlink()


# The command line -------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments, message", [
    ([], "no IN given\n"), (["a.tif"], "no OUT given\n"),
    (["a.tif", "b.npy", "c.npy"], "unexpected argument 'c.npy'\n"),
    (["a.tif", "b.tif"], "read writes .npy, .raw, .png, .jpg and .webp, not 'b.tif'; 'terrazzo convert' writes a TIFF\n"),
    (["a.tif", "b.gif"], "cannot tell a format from the name 'b.gif': give --format npy, raw, png, jpeg or webp\n"),
    (["a.tif", "-"], "cannot tell a format"),
    (["-", "b.npy"], "cannot read '-' (standard input)"),
    (["--format", "tif", "a.tif", "b"], "--format is npy, raw, png, jpeg or webp, not 'tif'\n"),
    (["--window", "1,2,3", "a.tif", "b.npy"], "--window needs column, row, width and height"),
    (["--window", "0,0,0,4", "a.tif", "b.npy"], "not '0,0,0,4'\n"),
    (["--window", "0,0,4,4,4", "a.tif", "b.npy"], "not '0,0,4,4,4'\n"),
    (["--window", "0,0,4,99999999999", "a.tif", "b.npy"], "--window needs"),
    (["--bbox", "1,2,3", "a.tif", "b.npy"], "--bbox needs XMIN,YMIN,XMAX,YMAX, not '1,2,3'\n"),
    (["--bbox", "1,2,3,nan", "a.tif", "b.npy"], "--bbox needs"),
    (["--bbox", "3,2,1,4", "a.tif", "b.npy"], "XMIN must be less than XMAX"),
    (["--window", "0,0,1,1", "--bbox", "1,2,3,4", "a.tif", "b.npy"], "do not go together\n"),
    (["--bands", "0", "a.tif", "b.npy"], "--bands needs numbers from 1 on"),
    (["--bands", "1,,2", "a.tif", "b.npy"], "not '1,,2'\n"),
    (["--bands", "3-1", "a.tif", "b.npy"], "not '3-1'\n"),
    (["--bands", "", "a.tif", "b.npy"], "not ''\n"),
    (["--bands", "1-65535,1", "a.tif", "b.npy"], "--bands needs"),
    (["--level", "-1", "a.tif", "b.npy"], "--level needs a number from 0 on, not '-1'\n"),
    (["--size", "10", "a.tif", "b.npy"], "--size needs width and height"),
    (["--size", "0x0", "a.tif", "b.npy"], "not '0x0'\n"),
    (["--resampling", "cube", "a.tif", "b.npy"], "mode, min, max or median, not 'cube'\n"),
    (["--resampling", "average", "a.tif", "b.npy"], "--resampling needs --size\n"),
    (["--dtype", "unit8", "a.tif", "b.npy"], "unknown type 'unit8'; did you mean 'uint8'?\n"),
    (["--dtype", "none", "a.tif", "b.npy"], "unknown type 'none'"),
    (["--fill", "1", "a.tif", "b.npy"], "--fill needs --boundless or --salvage\n"),
    (["--boundless", "--fill", "x", "a.tif", "b.npy"], "--fill needs a number, not 'x'\n"),
    (["--nodata-to-nan", "--dtype", "int16", "a.tif", "b.npy"], "needs a floating-point --dtype\n"),
    (["--threads", "many", "a.tif", "b.npy"], "--threads needs a number"),
    (["--memory", "0", "a.tif", "b.npy"], "--memory needs a number of bytes"),
    (["--memory", "4X", "a.tif", "b.npy"], "not '4X'\n"),
    (["--stretch", "a.tif", "b.npy"], "--stretch is for pictures\n"),
    (["--no-stretch", "a.tif", "b.npy"], "--no-stretch is for pictures\n"),
    (["--stretch", "--no-stretch", "a.tif", "b.png"], "--stretch and --no-stretch do not go together\n"),
    (["--json", "--format", "raw", "a.tif", "-"], "cannot both go to standard output\n"),
    (["--masked", "--format", "raw", "a.tif", "-"], "--masked makes a second file"),
    (["--resampling", "a.tif"], "not 'a.tif'\n"), (["--sizee=1x1"], "did you mean '--size'?")])
def test_wrong_usage(run, arguments, message):
    done = run("read", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ") and message in done.stderr
    assert done.stderr.endswith("Try 'terrazzo read -h'.\n")


@pytest.mark.parametrize("arguments, message", [
    (["--bands", "1,4"], "there is no band 4; the file has 1\n"),
    (["--level", "3"], "there is no level 3; the file has 1 (0 is full resolution)\n"),
    (["--window", "5,5,6,3"], "(columns 5 to 10, rows 5 to 7) reaches beyond the image of 10 x 8 pixels"),
    (["--window", "-1,0,3,3"], "--boundless allows it\n"),
    (["--bbox", "1e300,0,2e300,1"], "does not meet the image"),
    (["--bbox", "1e300,0,2e300,1", "--boundless"], "too far away"),
    (["--memory", "100"], "--memory allows 100"),
    (["--boundless", "--window", "0,0,4294967295,4294967295", "--dtype", "complex128"],
     "the result is larger than a file can be"),
    (["--limit", "max_tile_bytes=10"], "max_tile_bytes")])
def test_what_the_file_cannot_give(run, gray, tmp_path, arguments, message):
    for command in (["read", *arguments, gray, str(tmp_path / "b.npy")], ["plan", *arguments, gray]):
        done = run(*command)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("error: ") and message in done.stderr
        answer = check(run(*command, "--json").stdout)
        assert answer["input"] == gray and message.strip() in answer["error"]["message"]
    assert names(tmp_path) == ["a.tif"]


def test_bbox_needs_sides_along_the_axes(run, save, tmp_path):
    for tags, message in ((ROTATED, "rotated or sheared"), ([], "the file has none")):
        path = save([Image(4, 4, tags=tags)])
        done = run("plan", "--bbox", "0,0,1,1", path)
        assert done.returncode == 1 and message in done.stderr
    path = save([Image(4, 4, tags=north_up(0.0, 4.0, 1.0) + [(274, SHORT, [6])])])
    assert run("plan", "--bbox", "0,0,1,1", path).returncode == 0
    done = run("plan", "--oriented", "--bbox", "0,0,1,1", path)
    assert done.returncode == 1 and "orientation 6" in done.stderr


def test_a_file_that_is_none(run, tmp_path):
    (tmp_path / "a.tif").write_text("no TIFF")
    for command in ("read", "plan"):
        arguments = [str(tmp_path / "a.tif")] + ([str(tmp_path / "b.npy")] if command == "read" else [])
        done = run(command, *arguments)
        assert (done.returncode, done.stdout) == (1, "") and done.stderr.startswith("error: ")
        assert check(run(command, "--json", *arguments).stdout)["error"]["cause"] == "NOT_TIFF"
    assert names(tmp_path) == ["a.tif"]


# JSON and the plan ------------------------------------------------------------------------------


def test_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_read_reports_what_it_did(run, gray, tmp_path):
    out = str(tmp_path / "b.npy")
    done = run("read", "--json", "--masked", "--window", "1,2,4,3", gray, out)
    answer = check(done.stdout)
    assert (answer["input"], answer["output"]) == (gray, out)
    assert answer["mask_output"] == str(tmp_path / "b.mask.npy")
    assert (answer["format"], answer["dtype"], answer["bands"]) == ("npy", "uint8", [1])
    assert (answer["level"], answer["window"], answer["size"]) == (0, [1, 2, 4, 3], [4, 3])
    assert (answer["resampled"], answer["resampling"], answer["level_chosen"]) == (False, None, False)
    assert answer["plan"]["tiles"] == answer["plan"]["blocks"] == 1
    assert answer["plan"]["buffer_memory"] == 24
    page = run("read", "-v", gray, str(tmp_path / "c.npy")).stdout
    assert page.startswith(f"{gray} -> ") and "Tiles\n" in page


def test_plan_says_what_read_does(run, raster, tmp_path):
    array = np.random.default_rng(1).integers(0, 255, (3, 300, 500)).astype("uint16")
    path = raster(array, compress="zstd", tiled=True, blockxsize=64, blockysize=64, overviews=[2, 4],
                  interleave="band", nodata=3, **PLACE)
    for i, arguments in enumerate(([], ["--window", "10,20,100,90", "--bands", "2"], ["--masked"],
                                   ["--size", "60x40", "--resampling", "average"], ["--level", "2"],
                                   ["--memory", "200K"], ["--format", "png"])):
        plan = check(run("plan", "--json", "--threads", "1", path, *arguments).stdout)
        name = f"{i}.png" if "png" in arguments else f"{i}.npy"
        done = check(run("read", "--json", "--threads", "1", path, str(tmp_path / name),
                         *arguments).stdout)
        assert (plan.pop("output"), plan.pop("mask_output")) == (None, None)
        done.pop("output"), done.pop("mask_output")
        assert plan.pop("stretch") is None and (done.pop("stretch") is not None) == ("png" in arguments)
        for way in ("tiles_copied", "tiles_direct", "tiles_decoded"):
            plan["decode"].pop(way), done["decode"].pop(way)
        assert plan == done


def test_plan_page(run, gray):
    done = run("plan", "--window", "0,0,4,4", gray)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split(maxsplit=1) for line in done.stdout.splitlines() if line.startswith("  ")]
    rows = {row[0]: row[1] for row in lines}
    assert rows["Level"] == "0, 10 x 8 pixels"
    assert rows["Window"] == "4 x 4 from column 0, row 0"
    assert rows["Bands"] == "1 of uint8"
    assert rows["Tiles"] == "1, 0 sparse"
    assert rows["Decoder"].startswith("NONE")
    assert rows["Threads"] == "1"


@pytest.mark.parametrize("arguments, message", [
    ([], "no IN given\n"), (["a.tif", "b.tif"], "unexpected argument 'b.tif'\n"),
    (["--overwrite", "a.tif"], "unknown option '--overwrite'"), (["-"], "cannot read '-'")])
def test_wrong_usage_of_plan(run, arguments, message):
    done = run("plan", *arguments)
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr
