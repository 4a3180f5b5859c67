# SPDX-License-Identifier: Apache-2.0
"""Writes the files that are opened in the benchmarks, with nothing but struct."""

import os
import struct

ASCII, SHORT, LONG, DOUBLE, LONG8 = 2, 3, 4, 12, 16
CODES = {ASCII: "s", SHORT: "H", LONG: "I", DOUBLE: "d", LONG8: "Q"}

GHOST_TEXT = ("LAYOUT=IFDS_BEFORE_DATA\nBLOCK_ORDER=ROW_MAJOR\nBLOCK_LEADER=SIZE_AS_UINT4\n"
              "BLOCK_TRAILER=LAST_4_BYTES_REPEATED\nKNOWN_INCOMPATIBLE_EDITION=NO\n ")
GHOST = (f"GDAL_STRUCTURAL_METADATA_SIZE={len(GHOST_TEXT):06d} bytes\n" + GHOST_TEXT).encode()

CITATION = "WGS 84 / UTM zone 33N|WGS 84|\0"
KEYS = [1, 1, 0, 7, 1024, 0, 1, 1, 1025, 0, 1, 1, 1026, 34737, 22, 0, 2049, 34737, 7, 22,
        2054, 0, 1, 9102, 3072, 0, 1, 32633, 3076, 0, 1, 9001]
METADATA = """<GDALMetadata>
  <Item name="ACQUIRED">2024-05-17T10:20:31Z</Item>
  <Item name="STATISTICS_MAXIMUM" sample="0">2113</Item>
  <Item name="STATISTICS_MEAN" sample="0">874.25</Item>
  <Item name="STATISTICS_MINIMUM" sample="0">-12</Item>
  <Item name="STATISTICS_STDDEV" sample="0">211.5</Item>
  <Item name="DESCRIPTION" sample="0" role="description">elevation</Item>
  <Item name="UNITTYPE" sample="0" role="unittype">m</Item>
</GDALMetadata>
\0"""


def pack(kind, values):
    if kind == ASCII:
        return values.encode()
    return struct.pack(f"<{len(values)}{CODES[kind]}", *values)


def directory(tags, at, big, following):
    """The bytes of a directory at offset `at`, its data right after it. A tag with a number in
    place of values has its data there already: (tag, type, count, offset)."""
    head, word, entry = ("<Q", 8, 20) if big else ("<H", 4, 12)
    letter = "Q" if big else "I"
    data_at = at + struct.calcsize(head) + entry * len(tags) + word
    entries, data = b"", b""
    for tag in sorted(tags):
        number, kind, count, place = tag if len(tag) == 4 else (*tag[:2], len(tag[2]), None)
        entries += struct.pack(f"<HH{letter}", number, kind, count)
        if place is not None:
            entries += struct.pack("<" + letter, place)
            continue
        raw = pack(kind, tag[2])
        if len(raw) <= word:
            entries += raw.ljust(word, b"\0")
        else:
            data += b"\0" * (-(data_at + len(data)) % 8)
            entries += struct.pack("<" + letter, data_at + len(data))
            data += raw
    body = struct.pack(head, len(tags)) + entries
    end = data_at + len(data)
    end += -end % 8
    body += struct.pack("<" + letter, end if following else 0) + data
    return body.ljust(end - at, b"\0"), end


def geo_tags(pixel, x, y):
    return [(33550, DOUBLE, [pixel, pixel, 0.0]), (33922, DOUBLE, [0.0, 0.0, 0.0, x, y, 0.0]),
            (34735, SHORT, KEYS), (34737, ASCII, CITATION)]


def small_file(index):
    """A classic GeoTIFF of 64 x 64 int16 pixels in UTM, one strip, as GDAL writes them: header,
    directory, pixels."""
    x, y = 300000.0 + 640.0 * (index % 100), 5600000.0 - 640.0 * (index // 100)
    tags = [(256, SHORT, [64]), (257, SHORT, [64]), (258, SHORT, [16]), (259, SHORT, [1]),
            (262, SHORT, [1]), (273, LONG, [0]), (277, SHORT, [1]), (278, SHORT, [64]),
            (279, LONG, [8192]), (284, SHORT, [1]), (339, SHORT, [2]), *geo_tags(10.0, x, y),
            (42112, ASCII, METADATA), (42113, ASCII, "-32768\0")]
    _, end = directory(tags, 8, False, False)
    tags[5] = (273, LONG, [end])
    body, end = directory(tags, 8, False, False)
    return struct.pack("<2sHI", b"II", 42, 8) + body + bytes(8192)


def write_small_files(folder, count):
    paths = []
    for index in range(count):
        path = os.path.join(folder, f"{index:05d}.tif")
        with open(path, "wb") as file:
            file.write(small_file(index))
        paths.append(path)
    return paths


def write_cog(path, tiles, level_count=None, tile=256, tile_bytes=1000, compression=8):
    """A BigTIFF COG of tiles x tiles tiles of uint8, as GDAL lays one out: ghost area, all
    directories, all tables, then the tiles from the smallest level to the largest. The tiles
    themselves are a hole in the file: to be read they must be uncompressed, and tile_bytes their
    size."""
    sizes = [tiles * tile]
    while sizes[-1] > tile if level_count is None else len(sizes) < level_count:
        sizes.append(max(1, (sizes[-1] + 1) // 2))
    counts = [(-(-size // tile)) ** 2 for size in sizes]

    def level_tags(index, tables):
        offsets_at, sizes_at = tables[index]
        more = geo_tags(10.0, 300000.0, 5600000.0) + [(42113, ASCII, "255\0")] if index == 0 else \
            [(254, LONG, [1])]
        place = [(324, LONG8, counts[index], offsets_at), (325, LONG, counts[index], sizes_at)]
        return [(256, LONG, [sizes[index]]), (257, LONG, [sizes[index]]), (258, SHORT, [8]),
                (259, SHORT, [compression]), (262, SHORT, [1]), (277, SHORT, [1]), (284, SHORT, [1]),
                (322, SHORT, [tile]), (323, SHORT, [tile]), (339, SHORT, [1]), *place, *more]

    def directories(tables):
        at, body = 16 + len(GHOST), b""
        at += -at % 8
        first = at
        for index in range(len(sizes)):
            part, at = directory(level_tags(index, tables), at, True, index + 1 < len(sizes))
            body += part
        return first, body, at

    first, _, at = directories([(0, 0)] * len(sizes))
    tables = []
    for count in counts:
        tables.append((at, at + 8 * count))
        at += 12 * count + -(12 * count) % 8
    data_at = {}
    for index in reversed(range(len(sizes))):
        data_at[index] = at
        at += counts[index] * (tile_bytes + 8)
    # A table of one value is in the entry itself.
    inline = [(data_at[i] + 4, tile_bytes) if counts[i] == 1 else tables[i]
              for i in range(len(sizes))]
    _, body, _ = directories(inline)
    with open(path, "wb") as file:
        file.write(struct.pack("<2sHHHQ", b"II", 43, 8, 0, first) + GHOST)
        file.seek(first)
        file.write(body)
        for index, count in enumerate(counts):
            file.seek(tables[index][0])
            begin = data_at[index] + 4
            step = tile_bytes + 8
            file.write(struct.pack(f"<{count}Q", *range(begin, begin + count * step, step)))
            file.write(struct.pack("<I", tile_bytes) * count)
        file.truncate(at)
    return len(sizes)
