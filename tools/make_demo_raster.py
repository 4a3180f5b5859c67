#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a small terrain model as a Cloud Optimized GeoTIFF, with the standard library only.

Float32 heights on a 10 m grid of UTM zone 32N, Deflate with the floating point predictor, two
overviews, nodata, statistics and a ghost area. The pixels are the same on every machine.
"""

import random
import struct
import sys
import zlib

WIDTH, HEIGHT, TILE = 768, 640, 256
NODATA = -9999.0
ORIGIN_X, ORIGIN_Y, STEP = 620000.0, 5280000.0, 10.0
SHORT, LONG, ASCII, DOUBLE = 3, 4, 2, 12
FORMATS = {SHORT: "H", LONG: "I", DOUBLE: "d"}


def add_octave(rows, cells, height, generator):
    """Adds smoothly interpolated random values on a lattice of cells x cells."""
    lattice = [[generator.random() * height for _ in range(cells + 1)] for _ in range(cells + 1)]
    columns = []
    for x in range(WIDTH):
        cell, part = divmod(x * cells, WIDTH)
        part /= WIDTH
        columns.append((cell, part * part * (3 - 2 * part)))
    for y, row in enumerate(rows):
        cell, part = divmod(y * cells, HEIGHT)
        part /= HEIGHT
        part *= part * (3 - 2 * part)
        line = [a + (b - a) * part for a, b in zip(lattice[cell], lattice[cell + 1])]
        rows[y] = [value + line[i] + (line[i + 1] - line[i]) * p
                   for value, (i, p) in zip(row, columns)]


def make_terrain():
    generator = random.Random(32632)
    rows = [[350.0] * WIDTH for _ in range(HEIGHT)]
    for cells, height in ((3, 1600.0), (7, 700.0), (19, 250.0), (61, 60.0)):
        add_octave(rows, cells, height, generator)
    for y in range(HEIGHT):  # outside the survey area, a slanted edge in the west, is nodata
        outside = max(0, 90 - y // 4)
        rows[y][:outside] = [NODATA] * outside
    return rows


def halve(rows):
    """The mean of the valid pixels of each 2 x 2 block."""
    result = []
    for top, bottom in zip(rows[0::2], rows[1::2]):
        line = []
        for block in zip(top[0::2], top[1::2], bottom[0::2], bottom[1::2]):
            valid = [value for value in block if value != NODATA]
            line.append(sum(valid) / len(valid) if valid else NODATA)
        result.append(line)
    return result


def encode_row(values):
    """Predictor 3: bytes sorted by significance, then the difference of neighbours."""
    data = struct.pack(f">{len(values)}f", *values)
    data = data[0::4] + data[1::4] + data[2::4] + data[3::4]
    return data[:1] + bytes((b - a) & 255 for a, b in zip(data, data[1:]))


def encode_tiles(rows):
    width, height = len(rows[0]), len(rows)
    tiles = []
    for top in range(0, height, TILE):
        for left in range(0, width, TILE):
            encoded = []
            for y in range(top, top + TILE):
                line = rows[y][left:left + TILE] if y < height else []
                encoded.append(encode_row(line + [NODATA] * (TILE - len(line))))
            tiles.append(zlib.compress(b"".join(encoded), 6))
    return tiles


def metadata_xml(rows):
    values = [value for row in rows for value in row if value != NODATA]
    mean = sum(values) / len(values)
    deviation = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
    share = 100.0 * len(values) / (WIDTH * HEIGHT)
    items = [("STATISTICS_MINIMUM", "", f"{min(values):.3f}"),
             ("STATISTICS_MAXIMUM", "", f"{max(values):.3f}"),
             ("STATISTICS_MEAN", "", f"{mean:.3f}"), ("STATISTICS_STDDEV", "", f"{deviation:.3f}"),
             ("STATISTICS_VALID_PERCENT", "", f"{share:.2f}"),
             ("DESCRIPTION", ' role="description"', "height above sea level"),
             ("UNITTYPE", ' role="unittype"', "metre")]
    lines = [f'  <Item name="{name}" sample="0"{role}>{text}</Item>' for name, role, text in items]
    lines.append('  <Item name="TITLE">Terrain made for the terrazzo demo</Item>')
    return "<GDALMetadata>\n" + "\n".join(lines) + "\n</GDALMetadata>\n"


def level_tags(rows, tiles, offsets, is_overview):
    return [(254, LONG, [1 if is_overview else 0]), (256, LONG, [len(rows[0])]),
            (257, LONG, [len(rows)]), (258, SHORT, [32]), (259, SHORT, [8]), (262, SHORT, [1]),
            (277, SHORT, [1]), (284, SHORT, [1]), (317, SHORT, [3]), (322, SHORT, [TILE]),
            (323, SHORT, [TILE]), (324, LONG, offsets), (325, LONG, [len(t) for t in tiles]),
            (339, SHORT, [3])]


def geo_tags(rows):
    citation = "WGS 84 / UTM zone 32N|"
    keys = [1, 1, 0, 4, 1024, 0, 1, 1, 1025, 0, 1, 1, 1026, 34737, len(citation), 0,
            3072, 0, 1, 32632]
    return [(33550, DOUBLE, [STEP, STEP, 0.0]),
            (33922, DOUBLE, [0.0, 0.0, 0.0, ORIGIN_X, ORIGIN_Y, 0.0]), (34735, SHORT, keys),
            (34737, ASCII, citation), (42112, ASCII, metadata_xml(rows))]


def write_ifd(tags, offset, is_last):
    """The bytes of one directory at this offset, the data of its tags right behind it."""
    entries, data = b"", b""
    data_offset = offset + 2 + 12 * len(tags) + 4
    for tag, kind, values in sorted(tags):
        if kind == ASCII:
            payload, count = values.encode() + b"\0", len(values) + 1
        else:
            payload, count = struct.pack(f"<{len(values)}{FORMATS[kind]}", *values), len(values)
        if len(payload) <= 4:
            field = payload.ljust(4, b"\0")
        else:
            field = struct.pack("<I", data_offset + len(data))
            data += payload + b"\0" * (len(payload) % 2)
        entries += struct.pack("<HHI", tag, kind, count) + field
    following = 0 if is_last else data_offset + len(data)
    return struct.pack("<H", len(tags)) + entries + struct.pack("<I", following) + data


def write_ifds(levels, encoded, offsets, start):
    result = b""
    for i, (rows, tiles) in enumerate(zip(levels, encoded)):
        tags = level_tags(rows, tiles, offsets[i], i > 0) + [(42113, ASCII, "-9999")]
        if i == 0:
            tags += geo_tags(rows)
        result += write_ifd(tags, start + len(result), i + 1 == len(levels))
    return result


def ghost_area():
    text = ("LAYOUT=IFDS_BEFORE_DATA\nBLOCK_ORDER=ROW_MAJOR\nBLOCK_LEADER=SIZE_AS_UINT4\n"
            "BLOCK_TRAILER=LAST_4_BYTES_REPEATED\nKNOWN_INCOMPATIBLE_EDITION=NO\n ")
    area = f"GDAL_STRUCTURAL_METADATA_SIZE={len(text):06} bytes\n{text}".encode()
    return area + b"\0" * (len(area) % 2)


def place_tiles(encoded, position):
    """Offsets of all tiles, smallest level first; a tile has its size in front and its last four
    bytes again behind it."""
    offsets = []
    for tiles in reversed(encoded):
        line = []
        for tile in tiles:
            line.append(position + 4)
            position += 4 + len(tile) + 4
        offsets.insert(0, line)
    return offsets


def make_file():
    levels = [make_terrain()]
    levels.append(halve(levels[-1]))
    levels.append(halve(levels[-1]))
    encoded = [encode_tiles(rows) for rows in levels]
    ghost = ghost_area()
    start = 8 + len(ghost)
    zeros = [[0] * len(tiles) for tiles in encoded]
    data_start = start + len(write_ifds(levels, encoded, zeros, start))
    offsets = place_tiles(encoded, data_start)
    parts = [struct.pack("<2sHI", b"II", 42, start), ghost,
             write_ifds(levels, encoded, offsets, start)]
    for tiles in reversed(encoded):
        parts += [struct.pack("<I", len(tile)) + tile + tile[-4:] for tile in tiles]
    return b"".join(parts)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make_demo_raster.py FILE")
    with open(sys.argv[1], "wb") as file:
        file.write(make_file())


if __name__ == "__main__":
    main()
