# SPDX-License-Identifier: Apache-2.0
"""COGs with one defect each. A good one is taken apart just far enough to change what is wanted:
entries of its directories, tables, keys, the ghost area, or the bytes around a tile."""

import struct

SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 12: 8}
FORMATS = {3: "H", 4: "I"}
NEXT = 4  # bytes of the pointer to the next directory
ENTRY = 12

# tags
SUBFILE, WIDTH, PHOTOMETRIC, COMPRESSION, TILE_OFFSETS, TILE_COUNTS = 254, 256, 262, 259, 324, 325
SCALE, TIEPOINTS, MATRIX, KEYS, DOUBLES, ASCII, NODATA = 33550, 33922, 34264, 34735, 34736, 34737, 42113
# directories, in the order that GDAL writes
IMAGE, MASK, HALF, QUARTER, EIGHTH, SIXTEENTH, LAST = range(7)


class Entry:
    def __init__(self, cog, at):
        self.cog, self.at = cog, at
        self.tag, self.type, self.count = struct.unpack_from("<HHI", cog.data, at)
        self.size = SIZES.get(self.type, 1) * self.count
        inline = self.size <= 4
        self.offset = at + 8 if inline else struct.unpack_from("<I", cog.data, at + 8)[0]

    def values(self):
        return list(struct.unpack_from(f"<{self.count}{FORMATS[self.type]}", self.cog.data,
                                       self.offset))


class Cog:
    """A classic little-endian TIFF as bytes that can be changed."""

    def __init__(self, data):
        self.data = bytearray(data)

    def put(self, at, form, *values):
        struct.pack_into("<" + form, self.data, at, *values)
        return at

    def get(self, at, form):
        return struct.unpack_from("<" + form, self.data, at)[0]

    def append(self, data, odd=False):
        self.data += bytes(len(self.data) % 2) if not odd else bytes(1 - len(self.data) % 2)
        at = len(self.data)
        self.data += data
        return at

    # directories

    def ifds(self):
        found, at = [], self.get(4, "I")
        while at:
            found.append(at)
            at = self.get(self.next_at(at), "I")
        return found

    def next_at(self, ifd):
        return ifd + 2 + ENTRY * self.get(ifd, "H")

    def entries(self, ifd):
        return [Entry(self, at) for at in range(ifd + 2, self.next_at(ifd), ENTRY)]

    def entry(self, number, tag):
        return next(entry for entry in self.entries(self.ifds()[number]) if entry.tag == tag)

    def pointer_to(self, number):
        """Where the offset of a directory stands."""
        return 4 if number == 0 else self.next_at(self.ifds()[number - 1])

    def move_ifd(self, number, odd=False, more=b""):
        """To the end of the file, with a further entry."""
        ifd, pointer = self.ifds()[number], self.pointer_to(number)
        end = self.next_at(ifd)
        count = self.get(ifd, "H") + len(more) // ENTRY
        entries = [bytes(self.data[at:at + ENTRY]) for at in range(ifd + 2, end, ENTRY)]
        entries += [more] if more else []
        entries.sort(key=lambda entry: struct.unpack_from("<H", entry))
        whole = struct.pack("<H", count) + b"".join(entries) + bytes(self.data[end:end + NEXT])
        return self.put(pointer, "I", self.append(whole, odd))

    # entries

    def rename(self, number, tag, new):
        return self.put(self.entry(number, tag).at, "H", new)

    def retype(self, number, tag, new):
        at = self.entry(number, tag).at
        self.put(at + 2, "H", new)
        return at

    def recount(self, number, tag, new):
        at = self.entry(number, tag).at
        self.put(at + 4, "I", new)
        return at

    def set_value(self, number, tag, value):
        entry = self.entry(number, tag)
        self.put(entry.offset, FORMATS[entry.type], value)
        return entry.at

    def set_text(self, number, tag, text):
        entry = self.entry(number, tag)
        assert len(text) == entry.size
        self.data[entry.offset:entry.offset + entry.size] = text
        return entry.offset

    def swap_entries(self, number, first, second):
        a, b = self.entry(number, first).at, self.entry(number, second).at
        self.swap(a, b, ENTRY)

    def swap(self, a, b, size):
        one, two = self.data[a:a + size], self.data[b:b + size]
        self.data[a:a + size], self.data[b:b + size] = two, one

    def move_value(self, number, tag, odd=False):
        entry = self.entry(number, tag)
        at = self.append(self.data[entry.offset:entry.offset + entry.size], odd)
        self.put(entry.at + 8, "I", at)
        return at

    # tiles

    def tile(self, number, tile):
        """(offset, size)"""
        return tuple(self.entry(number, tag).values()[tile] for tag in (TILE_OFFSETS, TILE_COUNTS))

    def set_tile(self, number, tile, offset=None, size=None):
        for tag, value in ((TILE_OFFSETS, offset), (TILE_COUNTS, size)):
            entry = self.entry(number, tag)
            if value is not None:
                self.put(entry.offset + SIZES[entry.type] * tile, FORMATS[entry.type], value)
        return offset

    def swap_tiles(self, number, a, b):
        one, two = self.tile(number, a), self.tile(number, b)
        self.set_tile(number, a, *two)
        return self.set_tile(number, b, *one)

    # keys

    def key_at(self, key):
        keys = self.entry(IMAGE, KEYS)
        values = keys.values()
        index = next(i for i in range(4, len(values), 4) if values[i] == key)
        return keys.offset + 2 * index

    def set_key(self, key, **new):
        at = self.key_at(key)
        for name, value in new.items():
            self.put(at + 2 * ("id", "location", "count", "value").index(name), "H", value)
        return at

    def set_key_header(self, index, value):
        return self.put(self.entry(IMAGE, KEYS).offset + 2 * index, "H", value)

    # the ghost area

    def replace(self, old, new):
        at = self.data.index(old)
        assert len(old) == len(new)
        self.data[at:at + len(old)] = new
        return at


# Defects: each changes a Cog and returns the byte that the finding is about, or None ------------


def ghost_size_is_no_number(cog):
    return cog.replace(b"SIZE=0001", b"SIZE=0x01") + 5


def ghost_size_is_wrong(cog):
    size = int(cog.data[38:44])
    cog.replace(b"SIZE=%06d" % size, b"SIZE=%06d" % (size - 20))
    return cog.get(4, "I")


def edited(cog):
    cog.replace(b"EDITION=NO\n ", b"EDITION=YES\n")
    return 8


def leader_off_by_one(cog):
    offset, size = cog.tile(IMAGE, 3)
    return cog.put(offset - 4, "I", size + 1)


def leader_of_an_overview(cog):
    offset, size = cog.tile(HALF, 0)
    return cog.put(offset - 4, "I", 0)


def leader_of_a_mask(cog):
    offset, size = cog.tile(MASK, 2)
    return cog.put(offset - 4, "I", size - 1)


def trailer(cog):
    offset, size = cog.tile(IMAGE, 5)
    cog.data[offset + size + 3] ^= 1
    return offset + size


def short_tile(cog, trailer):
    """A tile of two bytes, with this after it."""
    offset, _ = cog.tile(IMAGE, 0)
    cog.set_tile(IMAGE, 0, size=2)
    cog.put(offset - 4, "I", 2)
    cog.data[offset + 2:offset + 6] = trailer(cog.data[offset:offset + 2])
    return offset + 2


def short_tile_is_fine(cog):
    short_tile(cog, lambda two: two + b"\0\0")


def short_tile_with_other_trailer(cog):
    return short_tile(cog, lambda two: two + two)


def tiles_swapped(cog):
    return cog.swap_tiles(IMAGE, 0, 1)


def mask_tiles_swapped(cog):
    cog.swap_tiles(MASK, 0, 1)
    return cog.tile(MASK, 0)[0]


def image_directory_at_the_end(cog):
    cog.move_ifd(IMAGE)
    return cog.ifds()[IMAGE]


def overview_directory_at_the_end(cog):
    cog.move_ifd(HALF)
    return cog.ifds()[QUARTER]


def mask_directory_at_the_end(cog):
    cog.move_ifd(MASK)
    return cog.ifds()[HALF]


def directory_at_an_odd_offset(cog):
    cog.move_ifd(LAST, odd=True)
    return cog.ifds()[LAST]


def table_behind_the_data(cog):
    return cog.move_value(IMAGE, TILE_OFFSETS)


def tag_data_at_an_odd_offset(cog):
    return cog.move_value(IMAGE, SCALE, odd=True)


def overview_larger_than_the_image(cog):
    cog.set_value(HALF, WIDTH, 5000)
    return cog.ifds()[HALF]


def overview_with_keys(cog):
    last = cog.entries(cog.ifds()[HALF])[-1]
    return cog.put(last.at, "H", KEYS)


def no_keys(cog):
    cog.rename(IMAGE, KEYS, KEYS - 1)
    return cog.ifds()[IMAGE]


def no_tiepoint(cog):
    cog.rename(IMAGE, TIEPOINTS, TIEPOINTS - 1)
    return cog.ifds()[IMAGE]


def keys_swapped(cog):
    a, b = cog.key_at(1024), cog.key_at(1025)
    cog.swap(a, b, 8)
    return b


def tags_swapped(cog):
    cog.swap_entries(IMAGE, WIDTH, COMPRESSION)
    return cog.entry(IMAGE, COMPRESSION).at + ENTRY


def one_level_is_missing(cog):
    """From the image to a sixteenth."""
    ifds = cog.ifds()
    cog.put(cog.next_at(ifds[MASK]), "I", ifds[SIXTEENTH])
    cog.put(cog.next_at(ifds[SIXTEENTH]), "I", 0)
    return ifds[SIXTEENTH]


def last_levels_are_missing(cog):
    ifds = cog.ifds()
    cog.put(cog.next_at(ifds[HALF]), "I", 0)
    return ifds[HALF]


def tile_beyond_the_end(cog):
    return cog.set_tile(IMAGE, 7, offset=len(cog.data) + 1000)


def tile_size_without_offset(cog):
    return cog.set_tile(IMAGE, 7, offset=0)


def table_too_short(cog):
    cog.recount(IMAGE, TILE_OFFSETS, cog.entry(IMAGE, TILE_OFFSETS).count - 1)
    return cog.ifds()[IMAGE]


def sizes_too_few(cog):
    cog.recount(IMAGE, TILE_COUNTS, cog.entry(IMAGE, TILE_COUNTS).count - 1)
    return cog.ifds()[IMAGE]


def tiles_overlap(cog):
    offset, _ = cog.tile(IMAGE, 10)
    return cog.set_tile(IMAGE, 11, offset=offset + 1)


def tag_twice(cog):
    return cog.rename(IMAGE, DOUBLES, KEYS) if has(cog, DOUBLES) else cog.rename(IMAGE, ASCII, KEYS)


def has(cog, tag):
    return any(entry.tag == tag for entry in cog.entries(cog.ifds()[IMAGE]))


def structural_tag_twice(cog):
    return cog.rename(IMAGE, PHOTOMETRIC, COMPRESSION)


def wrong_type(cog):
    return cog.retype(IMAGE, TIEPOINTS, 4)


def table_of_a_wrong_type(cog):
    return cog.retype(IMAGE, TILE_OFFSETS, 12)


def nodata_is_no_number(cog):
    cog.set_text(IMAGE, NODATA, b"x55\0")
    return None


def text_without_nul(cog):
    return cog.set_text(IMAGE, NODATA, b"2550")


def raster_type_reserved(cog):
    return cog.set_key(1025, value=9)


def crs_code_reserved(cog):
    return cog.set_key(3072, value=500)


def text_without_bar(cog):
    entry = cog.entry(IMAGE, ASCII)
    at = cog.data.index(b"|", entry.offset)
    cog.data[at] = ord(".")
    return cog.key_at(1026)


def text_outside_its_tag(cog):
    return cog.set_key(1026, value=5000)


def double_outside_its_tag(cog):
    return cog.set_key(3076, location=DOUBLES, value=99)


def no_model_type(cog):
    cog.set_key(1024, id=1023)
    return cog.entry(IMAGE, KEYS).offset + 6


def projected_without_crs(cog):
    cog.set_key(3072, id=3071)
    return cog.key_at(1024)


def user_crs_without_its_keys(cog):
    return cog.set_key(3072, value=32767)


def keys_too_many(cog):
    return cog.set_key_header(3, 200)


def keys_of_another_version(cog):
    return cog.set_key_header(0, 2)


def vertical_in_revision_0(cog):
    cog.set_key(3076, id=4096, value=5773)
    return cog.entry(IMAGE, KEYS).offset + 4


def location_is_no_tag(cog):
    return cog.set_key(3076, location=WIDTH)


def tiepoint_of_five(cog):
    cog.recount(IMAGE, TIEPOINTS, 5)


def scale_of_two(cog):
    cog.recount(IMAGE, SCALE, 2)


def scale_and_matrix(cog):
    values = cog.append(struct.pack("<16d", 1, 0, 0, 5, 0, -1, 0, 6, *[0] * 7, 1))
    cog.move_ifd(IMAGE, more=struct.pack("<HHII", MATRIX, 12, 16, values))


def loop(cog):
    ifds = cog.ifds()
    cog.put(cog.next_at(ifds[LAST]), "I", ifds[HALF])
    return ifds[HALF]


def next_beyond_the_end(cog):
    ifds = cog.ifds()
    cog.put(cog.next_at(ifds[LAST]), "I", len(cog.data) + 100)
    return len(cog.data) + 100


def first_beyond_the_end(cog):
    cog.put(4, "I", len(cog.data) + 100)
    return len(cog.data) + 100


def not_a_tiff(cog):
    return cog.put(0, "H", 0x4A4A)


def photometric_missing(cog):
    cog.rename(IMAGE, PHOTOMETRIC, PHOTOMETRIC + 1)
    return cog.ifds()[IMAGE]


def mask_is_no_mask(cog):
    cog.set_value(MASK, PHOTOMETRIC, 1)
    return cog.ifds()[MASK]


def unknown_compression(cog):
    cog.set_value(IMAGE, COMPRESSION, 40000)
    return cog.ifds()[IMAGE]


def tile_damaged(cog):
    offset, size = cog.tile(QUARTER, 4)
    cog.data[offset + size // 2] ^= 0x55
    return offset


def mask_tile_damaged(cog):
    offset, size = cog.tile(MASK, 4)
    cog.data[offset + 2] ^= 0xFF
    return offset


def trailing_bytes(cog):
    at = len(cog.data)
    cog.data += b"garbage of some bytes"
    return at + at % 2
