# SPDX-License-Identifier: Apache-2.0
"""Makes TIFF files, whole or broken, with the standard library only.

    data = tiff([Image(20, 10, tags=[(305, ASCII, "me")])], byte_order=">", big=True)

An Image has the tags of a plain gray image of one strip; `tags` adds to them or replaces them, and a
tag with the value None takes one away. Directories and tag values come first, pixels last.
"""

import dataclasses
import struct

BYTE, ASCII, SHORT, LONG, RATIONAL, SBYTE, UNDEFINED, SSHORT, SLONG = range(1, 10)
SRATIONAL, FLOAT, DOUBLE, IFD = range(10, 14)
LONG8, SLONG8, IFD8 = range(16, 19)
FORMATS = {BYTE: "B", SHORT: "H", LONG: "I", RATIONAL: "I", SBYTE: "b", UNDEFINED: "B",
           SSHORT: "h", SLONG: "i", SRATIONAL: "i", FLOAT: "f", DOUBLE: "d", IFD: "I",
           LONG8: "Q", SLONG8: "q", IFD8: "Q"}

OVERVIEW, MASK = 1, 4  # bits of tag 254


@dataclasses.dataclass
class Image:
    width: int
    height: int
    bands: int = 1
    bits: int = 8
    tile: tuple = None        # (width, height); None: one strip
    kind: int = None          # tag 254
    tags: list = dataclasses.field(default_factory=list)
    by_band: bool = False
    sparse: tuple = ()        # numbers of tiles that are not stored
    tile_bytes: int = None    # of each tile; None: as many as its pixels take

    def tile_count(self):
        if self.tile is None:
            return self.bands if self.by_band else 1
        across = -(-self.width // self.tile[0])
        down = -(-self.height // self.tile[1])
        return across * down * (self.bands if self.by_band else 1)

    def sizes(self):
        width, height = self.tile or (self.width, self.height)
        samples = 1 if self.by_band else self.bands
        each = self.tile_bytes or -(-width * samples * self.bits // 8) * height
        return [0 if i in self.sparse else each for i in range(self.tile_count())]

    def all_tags(self, offsets):
        tags = {256: (LONG, [self.width]), 257: (LONG, [self.height]),
                258: (SHORT, [self.bits] * self.bands), 259: (SHORT, [1]),
                262: (SHORT, [2 if self.bands in (3, 4) else 1]), 277: (SHORT, [self.bands]),
                284: (SHORT, [2 if self.by_band else 1])}
        if self.bands == 4:
            tags[338] = (SHORT, [2])
        if self.kind is not None:
            tags[254] = (LONG, [self.kind])
        if self.tile:
            tags |= {322: (LONG, [self.tile[0]]), 323: (LONG, [self.tile[1]]),
                     324: (LONG8 if max(offsets) > 0xFFFFFFFF else LONG, offsets),
                     325: (LONG, self.sizes())}
        else:
            tags |= {273: (LONG, offsets), 278: (LONG, [self.height]), 279: (LONG, self.sizes())}
        for tag, kind, value in self.tags:
            tags[tag] = (kind, value)
        return [(tag, *entry) for tag, entry in sorted(tags.items()) if entry[1] is not None]


def encode(kind, value, order):
    """The bytes of a tag's data, and its count. Text and bytes are taken as they are."""
    if isinstance(value, str):
        value = value.encode() + b"\0"
    if isinstance(value, bytes):
        return value, len(value)
    data = struct.pack(f"{order}{len(value)}{FORMATS[kind]}", *value)
    return data, len(value) // (2 if kind in (RATIONAL, SRATIONAL) else 1)


def directory(tags, start, order, big, is_last):
    """The bytes of one directory at byte `start`, with its tag values after it."""
    inline, entry_size, head = (8, 20, 8) if big else (4, 12, 2)
    entries, data = b"", b""
    data_start = start + head + entry_size * len(tags) + inline
    for tag, kind, value in tags:
        payload, count = encode(kind, value, order)
        if len(payload) <= inline:
            field = payload.ljust(inline, b"\0")
        else:
            field = struct.pack(order + "IQ"[big], data_start + len(data))
            data += payload + b"\0" * (len(payload) % 2)
        entries += struct.pack(order + ("HHQ" if big else "HHI"), tag, kind, count) + field
    following = 0 if is_last else data_start + len(data)
    return (struct.pack(order + ("Q" if big else "H"), len(tags)) + entries
            + struct.pack(order + "IQ"[big], following) + data)


def directories(images, offsets, start, order, big):
    result = b""
    for i, image in enumerate(images):
        result += directory(image.all_tags(offsets[i]), start + len(result), order, big,
                            i + 1 == len(images))
    return result


def place(images, start):
    """Offsets of all tiles: the last image's come first, as in a COG."""
    offsets = []
    for image in reversed(images):
        line = []
        for size in image.sizes():
            line.append(start if size else 0)
            start += size
        offsets.insert(0, line)
    return offsets, start


def tiff(images, byte_order="<", big=False, ghost=b""):
    mark = b"II" if byte_order == "<" else b"MM"
    start = (16 if big else 8) + len(ghost)
    if big:
        header = mark + struct.pack(byte_order + "HHHQ", 43, 8, 0, start)
    else:
        header = mark + struct.pack(byte_order + "HI", 42, start)
    zeros = [[0] * image.tile_count() for image in images]
    data_start = start + len(directories(images, zeros, start, byte_order, big))
    offsets, end = place(images, data_start)
    return (header + ghost + directories(images, offsets, start, byte_order, big)
            + bytes(end - data_start))


def ghost_area(*lines):
    text = "".join(line + "\n" for line in lines) + " "
    area = f"GDAL_STRUCTURAL_METADATA_SIZE={len(text):06} bytes\n{text}".encode()
    return area + b"\0" * (len(area) % 2)


def geo_keys(*keys, minor=0):
    """Tags 34735 to 34737 of (id, value): a number for SHORT, text for ASCII, a float for DOUBLE."""
    entries, doubles, text = [], [], ""
    for key, value in sorted(keys):
        if isinstance(value, str):
            entries += [key, 34737, len(value) + 1, len(text)]
            text += value + "|"
        elif isinstance(value, float):
            entries += [key, 34736, 1, len(doubles)]
            doubles.append(value)
        else:
            entries += [key, 0, 1, value]
    tags = [(34735, SHORT, [1, 1, minor, len(entries) // 4] + entries)]
    if doubles:
        tags.append((34736, DOUBLE, doubles))
    if text:
        tags.append((34737, ASCII, text))
    return tags


def north_up(x, y, step):
    """Tags 33550 and 33922 of a square grid whose upper left corner is at x, y."""
    return [(33550, DOUBLE, [step, step, 0.0]), (33922, DOUBLE, [0.0, 0.0, 0.0, x, y, 0.0])]


def gdal_metadata(*items):
    """Tag 42112 of (attributes, value)."""
    lines = "".join(f"<Item {attributes}>{value}</Item>\n" for attributes, value in items)
    return (42112, ASCII, f"<GDALMetadata>\n{lines}</GDALMetadata>\n")
