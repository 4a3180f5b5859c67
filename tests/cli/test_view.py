# SPDX-License-Identifier: Apache-2.0
"""terrazzo view: a terminal of a few lines here reads what is printed and paints it."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import numpy as np
import pytest
import rasterio

from conftest import COMMAND, plain_environment
from test_png import range_of, ranges_of, stretched
from tiffmaker import Image

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
TOKEN = re.compile(r"\x1b\[([\d;]*)m|(.)", re.DOTALL)


def color_of(numbers):
    """Of the parameters of one escape: what it sets, and to which colour (None: the terminal's own)."""
    if numbers in ([39], [49]):
        return numbers[0] - 1, None
    role, kind, *rest = numbers
    if kind == 2:
        return role, tuple(rest)
    index = rest[0]
    if index >= 232:
        return role, (8 + 10 * (index - 232),) * 3
    steps = [0, 95, 135, 175, 215, 255]
    return role, tuple(steps[(index - 16) // part % 6] for part in (36, 6, 1))


def paint(text):
    """The pixels of lines of half blocks: rows of colours, None where nothing is seen."""
    rows = []
    for line in text.splitlines():
        upper, lower, colors = [], [], {38: None, 48: None}
        for escape, letter in TOKEN.findall(line):
            if escape == "0" or (not letter and not escape):
                colors = {38: None, 48: None}
            elif not letter:
                role, color = color_of([int(n) for n in escape.split(";")])
                colors[role] = color
            else:
                top, bottom = {" ": (48, 48), "\u2580": (38, 48), "\u2584": (48, 38)}[letter]
                upper.append(colors[top]), lower.append(colors[bottom])
        rows += [upper, lower]
    return rows


def view(run, *arguments, depth="truecolor"):
    done = run("view", "--color", "always", *arguments, env=plain_environment(COLORTERM=depth))
    assert done.returncode == 0, done.stderr
    ranges_of(done.stderr)  # nothing else is said
    lines = done.stdout.splitlines()
    return paint("\n".join(lines[:-1])), lines[-1]


def test_pixels_of_a_small_picture_are_shown_as_they_are(run, raster):
    array = np.random.default_rng(3).integers(0, 256, (3, 6, 9)).astype("uint8")
    rows, told = view(run, raster(array, photometric="rgb"))
    np.testing.assert_array_equal(np.array(rows), array.transpose(1, 2, 0))
    assert "level 0, 9 x 6: 1 tile, 162 bytes in 1 request" in told


def test_an_odd_row_has_nothing_below(run, raster):
    array = np.full((3, 3, 4), 200, "uint8")
    rows, _ = view(run, raster(array, photometric="rgb"))
    assert rows[2] == [(200, 200, 200)] * 4 and rows[3] == [None] * 4


def test_what_is_not_valid_is_not_seen(run, raster):
    array = np.full((1, 6, 4), 7, "uint8")
    array[0, 1, 1] = array[0, 2, 2] = array[0, 4:, 3] = 255
    rows, _ = view(run, raster(array, nodata=255))
    assert [[color is None for color in row] for row in rows] == (array[0] == 255).tolist()


def test_256_colors(run, raster):
    array = np.stack([np.full((4, 8), value, "uint8") for value in (250, 100, 3)])
    rows, _ = view(run, raster(array, photometric="rgb"), depth="")
    assert rows == [[(255, 95, 0)] * 8] * 4
    grey, _ = view(run, raster(np.arange(256, dtype="uint8").reshape(1, 2, 128), name="grey.tif"), "--columns",
                   "128", depth="")
    error = np.abs(np.array(grey)[:, :, 0].ravel().astype(int) - np.arange(256))
    assert error.max() <= 9


def test_palette(run, tmp_path):
    import tifffile
    colors = np.random.default_rng(2).integers(0, 65536, (3, 256)).astype("uint16")
    array = np.arange(64, dtype="uint8").reshape(8, 8)
    tifffile.imwrite(tmp_path / "p.tif", array, photometric="palette", colormap=colors)
    rows, _ = view(run, str(tmp_path / "p.tif"))
    np.testing.assert_array_equal(np.array(rows), (colors // 257).T[array])


def test_classes_without_a_palette_are_seen(run, raster):
    array = np.random.default_rng(3).integers(0, 11, (1, 8, 12)).astype("uint8")
    path = raster(array)
    rows, _ = view(run, path)
    np.testing.assert_array_equal(np.array(rows)[:, :, 0], stretched(array[0]))
    done = run("view", path)
    assert ranges_of(done.stderr) == {1: (0, 10)}
    rows, _ = view(run, "--no-stretch", path)
    np.testing.assert_array_equal(np.array(rows)[:, :, 0], array[0])


def test_other_integers_are_seen_from_the_overview(run, raster, tmp_path):
    array = np.random.default_rng(3).integers(-3000, 4000, (1, 512, 512)).astype("int16")
    cog = str(tmp_path / "cog.tif")
    assert run("cog", "--co", "BLOCKSIZE=64", "--co", "RESAMPLING=NEAREST", raster(array), cog).returncode == 0
    rows, told = view(run, "--columns", "64", cog)
    assert "level 3, 64 x 64: 1 tile" in told
    with rasterio.open(cog, overview_level=2) as file:
        shown = file.read(1)
    np.testing.assert_array_equal(np.array(rows)[:, :, 0], stretched(shown))
    assert ranges_of(run("view", "--columns", "64", cog).stderr) == {1: range_of(shown)}


def test_the_smallest_overview_that_suffices_is_read(run, raster, tmp_path):
    array = np.random.default_rng(3).integers(0, 256, (1, 1024, 1024)).astype("uint8")
    cog = str(tmp_path / "cog.tif")
    assert run("cog", "--co", "BLOCKSIZE=64", raster(array), cog).returncode == 0
    for columns, level in ((60, 4), (64, 4), (65, 3), (128, 3), (200, 2)):
        rows, told = view(run, "--columns", str(columns), cog)
        assert told.startswith(f"\x1b[2mlevel {level}, ")
        assert (len(rows[0]), len(rows)) == (columns, 2 * ((columns + 1) // 2))
    with rasterio.open(cog, overview_level=3) as file:
        np.testing.assert_array_equal(np.array(view(run, "--no-stretch", "--columns", "64", cog)[0])[:, :, 0],
                                      file.read(1))


def test_letters_where_there_is_no_color(run, raster):
    array = np.zeros((1, 4, 10), "uint8")
    array[0, :2] = np.linspace(0, 255, 10)
    done = run("view", raster(array))
    lines = done.stdout.splitlines()
    assert (done.returncode, lines[:2]) == (0, [" .:-=+*#%@", " " * 10])
    assert lines[2].startswith("level 0, 10 x 4: ")


def test_a_part_of_other_bands(run, raster):
    array = np.random.default_rng(3).integers(0, 256, (4, 40, 50)).astype("uint8")
    rows, _ = view(run, "--bands", "4,3,1", "--window", "10,20,6,4", raster(array, photometric="minisblack"))
    np.testing.assert_array_equal(np.array(rows), array[[3, 2, 0], 20:24, 10:16].transpose(1, 2, 0))


def test_it_fits_the_terminal(raster):
    path = raster(np.zeros((1, 500, 300), "uint8"))
    for columns, rows, width, height in ((40, 100, 40, 33), (200, 23, 24, 20)):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        done = subprocess.Popen([COMMAND, "view", path], stdout=slave, env=plain_environment())
        os.close(slave)
        shown = b""
        while chunk := read_some(master):
            shown += chunk
        assert done.wait(60) == 0
        os.close(master)
        picture = paint("\n".join(shown.decode().replace("\r\n", "\n").splitlines()[:-1]))
        assert (len(picture[0]), len(picture) // 2) == (width, height)


def read_some(master):
    try:
        return os.read(master, 65536)
    except OSError:  # the other end is closed
        return b""


@pytest.mark.parametrize("arguments, message", [
    ([], "no IN given\n"), (["a.tif", "b.tif"], "unexpected argument 'b.tif'\n"),
    (["--columns", "1001", "a.tif"], "--columns needs a number up to 1000, not '1001'\n"),
    (["--size", "9x9", "a.tif"], "unknown option '--size'"),
    (["--stretch", "--no-stretch", "a.tif"], "--stretch and --no-stretch do not go together\n"),
    (["--window", "0,0,9,9", "--bbox", "0,0,1,1", "a.tif"], "do not go together\n")])
def test_wrong_usage(run, arguments, message):
    done = run("view", *arguments)
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr


def test_errors(run, save):
    done = run("view", "missing.tif")
    assert (done.returncode, done.stdout) == (1, "") and "missing.tif" in done.stderr
    path = save([Image(64, 64, tile=(16, 16))])
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) - 100)
    done = run("view", path)
    assert done.returncode == 1 and "tile 15" in done.stderr
    assert run("view", "--salvage", path).returncode == 0
