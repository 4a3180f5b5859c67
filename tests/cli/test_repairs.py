# SPDX-License-Identifier: Apache-2.0
"""Files with defects that GDAL and tifffile read alike: terrazzo reads the same pixels, with a warning; strictly it is
an error, and validate warns of each."""

import io
import json
import struct

import imagecodecs
import numpy as np
import pytest
import rasterio
import rasterio.errors
import tifffile

from conftest import call
from tiffmaker import LONG, SHORT

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
ENCODE = {1: bytes, 5: imagecodecs.lzw_encode, 8: imagecodecs.zlib_encode, 32773: imagecodecs.packbits_encode}
PIXELS = np.arange(16 * 12, dtype=np.uint8).reshape(12, 16)


def file_of(stored, width, height, rows, compression, sizes=None, bits=8, photometric=1, more=(), before=()):
    """Strips with the bytes `stored`. Their sizes are as given; an empty list: without the tag. Tags of `before` stand
    in front of the others, those of `more` after them."""
    sizes = [len(data) for data in stored] if sizes is None else sizes
    tags = [*before, (256, SHORT, [width]), (257, SHORT, [height]), (258, SHORT, [bits]), (259, SHORT, [compression]),
            (262, SHORT, [photometric]), (273, LONG, [0] * len(stored)), (277, SHORT, [1]), (278, SHORT, [rows]),
            (279, LONG, sizes), *more]
    tags = sorted((tag for tag in tags if tag[2]), key=lambda tag: tag[0])
    at = 8 + 2 + 12 * len(tags) + 4
    tables = {}
    for i, (_, kind, values) in enumerate(tags):
        if kind == LONG and len(values) > 1:
            tables[i] = at
            at += 4 * len(values)
    offsets = [at + sum(map(len, stored[:i])) for i in range(len(stored))]
    entries, data = b"", b""
    for i, (tag, kind, values) in enumerate(tags):
        values = offsets if values == [0] * len(stored) and tag == 273 else values
        entries += struct.pack("<HHII", tag, kind, len(values), tables.get(i, values[0]))
        if i in tables:
            data += struct.pack(f"<{len(values)}I", *values)
    return struct.pack("<2sHIH", b"II", 42, 8, len(tags)) + entries + bytes(4) + data + b"".join(stored)


def strips_of(compression, rows, sizes):
    stored = [ENCODE[compression](PIXELS[y:y + rows].tobytes()) for y in range(0, 12, rows)]
    return file_of(stored, 16, 12, rows, compression, sizes(stored))


def by_gdal(data):
    with rasterio.io.MemoryFile(data) as memory, memory.open() as file:
        return file.read(1)


def by_tifffile(data):
    return tifffile.imread(io.BytesIO(data))


def check(tmp_path, data, expected, found_by):
    """terrazzo reads these pixels, warns, refuses them when strict, and validates the file with a warning."""
    path, out = tmp_path / "a.tif", tmp_path / "a.npy"
    path.write_bytes(data)
    done = call("read", path, out)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("warning: ")
    np.testing.assert_array_equal(np.load(out).reshape(expected.shape), expected)
    assert call("read", "--strict", "--overwrite", path, out).returncode == 1
    answer = json.loads(call("validate", "--full", "--json", path).stdout)
    outcomes = {found["id"]: found["outcome"] for found in answer["checks"] if found["id"].startswith("tiff.")}
    assert outcomes[found_by] == "warning"
    assert "fail" not in outcomes.values()


@pytest.mark.parametrize("size", [479, 478, 470, 401, 7])
def test_lzw_past_the_end(tmp_path, size):
    pixels = np.frombuffer(b"abcabcabcabc" * 40, np.uint8)
    data = file_of([imagecodecs.lzw_encode(pixels)], size, 1, 1, 5)
    expected = by_gdal(data)
    np.testing.assert_array_equal(by_tifffile(data).reshape(1, size), expected)
    np.testing.assert_array_equal(expected[0], pixels[:size])
    check(tmp_path, data, expected, "tiff.pixels")


SIZES = {
    "missing": (lambda stored: [], "tiff.tile-tables"),
    "zero": (lambda stored: [0] * len(stored), "tiff.tile-spans"),
    "last_zero": (lambda stored: [len(data) for data in stored[:-1]] + [0], "tiff.tile-spans"),
    "too_few": (lambda stored: [len(data) for data in stored[:-1]], "tiff.tile-tables"),
    "too_large": (lambda stored: [0xfffffff0] * len(stored), "tiff.tile-spans"),
    "too_small": (lambda stored: [len(stored[0]) - 1], "tiff.tile-spans"),
}


@pytest.mark.parametrize("name", ["missing", "zero", "too_large", "too_small"])
def test_sizes_of_one_plain_strip(tmp_path, name):
    sizes, found_by = SIZES[name]
    data = strips_of(1, 12, sizes)
    np.testing.assert_array_equal(by_gdal(data), PIXELS)
    np.testing.assert_array_equal(by_tifffile(data), PIXELS)
    check(tmp_path, data, PIXELS, found_by)


@pytest.mark.parametrize("name", ["missing", "zero"])
@pytest.mark.parametrize("compression", [5, 8, 32773])
def test_sizes_of_one_compressed_strip(tmp_path, compression, name):
    sizes, found_by = SIZES[name]
    data = strips_of(compression, 12, sizes)
    np.testing.assert_array_equal(by_gdal(data), PIXELS)  # tifffile takes it for a sparse one, or refuses it
    check(tmp_path, data, PIXELS, found_by)


# The others refuse these, or leave strips blank.
@pytest.mark.parametrize("name", ["missing", "zero", "last_zero", "too_few"])
@pytest.mark.parametrize("compression", [1, 5, 8, 32773])
def test_sizes_of_strips(tmp_path, compression, name):
    sizes, found_by = SIZES[name]
    check(tmp_path, strips_of(compression, 4, sizes), PIXELS, found_by)


@pytest.mark.parametrize("tag, kind, other", [
    (256, SHORT, 8), (257, SHORT, 2), (258, SHORT, 16), (259, SHORT, 5), (273, LONG, 8), (277, SHORT, 3),
    (278, SHORT, 1), (279, LONG, 4)])
def test_tags_twice(tmp_path, tag, kind, other):
    data = file_of([PIXELS.tobytes()], 16, 12, 12, 1, more=[(tag, kind, [other])])
    np.testing.assert_array_equal(by_gdal(data), PIXELS)
    np.testing.assert_array_equal(by_tifffile(data), PIXELS)
    check(tmp_path, data, PIXELS, "tiff.tag-duplicate")


@pytest.mark.parametrize("tag, other", [(256, 8), (257, 6), (258, 4)])
def test_the_first_of_two_tags_counts(tmp_path, tag, other):
    data = file_of([PIXELS.tobytes()], 16, 12, 12, 1, before=[(tag, SHORT, [other])])
    expected = by_gdal(data)
    np.testing.assert_array_equal(by_tifffile(data), expected)
    assert tag == 258 or expected.shape != PIXELS.shape
    check(tmp_path, data, expected, "tiff.tag-duplicate")


# Fax codes: of T.4's tables 2 and 3 what these rows of eight pixels need.
EOL = "000000000001"
WHITE = {0: "00110101", 1: "000111", 2: "0111", 3: "1000", 4: "1011", 8: "10011"}
BLACK = {1: "010", 2: "11", 3: "10", 4: "011"}
ROWS = [WHITE[2] + BLACK[3] + WHITE[3], WHITE[4] + BLACK[4], WHITE[0] + BLACK[1] + WHITE[4] + BLACK[3]]
SHORT_ROW = WHITE[1] + BLACK[2]
RTC = EOL * 6


def aligned(rows):
    bits = ""
    for row in rows:
        bits += "0" * ((4 - len(bits)) % 8) + EOL + row
    return bits


FAX = {
    "short": ("".join(EOL + row for row in [ROWS[0], SHORT_ROW, ROWS[1], ROWS[2]]), 0),
    "empty": ("".join(EOL + row for row in [ROWS[0], "", ROWS[1], ROWS[2]]), 0),
    "short_filled": (aligned([ROWS[0], SHORT_ROW, ROWS[1], ROWS[2]]), 4),
    "short_last": ("".join(EOL + row for row in ROWS + [SHORT_ROW]), 0),
    "missing": ("".join(EOL + row for row in ROWS), 0),
    "missing_rtc": ("".join(EOL + row for row in ROWS[:2]) + RTC, 0),
    "missing_filled": (aligned(ROWS[:2]), 4),
    "missing_no_eol": ("".join(ROWS[:2]), 0),
    "short_tagged": (EOL + "1" + ROWS[0] + EOL + "1" + SHORT_ROW + EOL + "1" + ROWS[1] + EOL + "1" + ROWS[2], 1),
    "missing_group_4": ("1" + "001" + WHITE[2] + BLACK[3] + "1" + EOL * 2, None),
}


@pytest.mark.parametrize("name", FAX)
def test_fax_rows(tmp_path, name):
    bits, options = FAX[name]
    bits += "0" * (-len(bits) % 8)
    stored = int(bits, 2).to_bytes(len(bits) // 8, "big")
    if options is None:
        other = imagecodecs.ccittfax4_decode(stored, height=4, width=8)
    else:
        other = imagecodecs.ccittfax3_decode(stored, height=4, width=8, t4options=options)
    more = [] if options is None else [(292, LONG, [options])]
    data = file_of([stored], 8, 4, 4, 4 if options is None else 3, bits=1, photometric=0, more=more)
    expected = by_gdal(data)
    np.testing.assert_array_equal(other, expected)
    check(tmp_path, data, expected, "tiff.pixels")
