# SPDX-License-Identifier: Apache-2.0
"""The layout of Cloud Optimized GeoTIFFs, read with nothing but struct: what the file says of
itself in front of its directories, and whether every byte lies where that promises.

A Layout holds the directories of a file; problems(layout) says what is wrong with them.
"""
import collections
import struct

SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8,
         17: 8, 18: 8}
NUMBERS = {1: "B", 3: "H", 4: "I", 13: "I", 16: "Q", 18: "Q"}
SUBFILE, WIDTH, HEIGHT, BITS, SAMPLES, PLANAR, ITEMS = 254, 256, 257, 258, 277, 284, 42112
TILE_WIDTH, TILE_HEIGHT, OFFSETS, COUNTS = 322, 323, 324, 325
ALL_OF_ONE = {WIDTH: 1, HEIGHT: 1, SUBFILE: 0, SAMPLES: 1, PLANAR: 1}  # what is not there
GEOREFERENCE = {33550, 33922, 34264, 34735, 34736, 34737, 50844}
MASK, REDUCED = 4, 1
SIZE_LINE = 43  # bytes of the first line in front
FIRST_ITEMS = [("LAYOUT", "IFDS_BEFORE_DATA"), ("BLOCK_ORDER", "ROW_MAJOR"),
               ("BLOCK_LEADER", "SIZE_AS_UINT4"), ("BLOCK_TRAILER", "LAST_4_BYTES_REPEATED")]
BY_TILE, BY_BAND = ("INTERLEAVE", "TILE"), ("INTERLEAVE", "BAND")
TILE_ITEM = b'<Item name="INTERLEAVE" domain="IMAGE_STRUCTURE">TILE</Item>'  # what GDAL goes by
MASK_BESIDE = ("MASK_INTERLEAVED_WITH_IMAGERY", "YES")
FRONT_ROOM = 4096  # bytes that may lie unused before the largest level

Entry = collections.namedtuple("Entry", "type count place values")  # values None: not looked at
Block = collections.namedtuple("Block", "offset size")


class Directory:
    def __init__(self, offset, end, entries):
        self.offset, self.end, self.entries = offset, end, entries

    def number(self, tag):
        return self.entries[tag].values[0] if tag in self.entries else ALL_OF_ONE[tag]

    @property
    def size(self):
        return self.number(WIDTH), self.number(HEIGHT)

    @property
    def tile(self):
        return self.number(TILE_WIDTH), self.number(TILE_HEIGHT)

    @property
    def is_mask(self):
        return bool(self.number(SUBFILE) & MASK)

    @property
    def planes(self):
        return self.number(SAMPLES) if self.number(PLANAR) == 2 else 1

    @property
    def tiles(self):
        """Of one plane."""
        across, down = (-(-side // part) for side, part in zip(self.size, self.tile))
        return across * down

    def blocks(self):
        return [Block(*pair) for pair in zip(self.entries[OFFSETS].values,
                                             self.entries[COUNTS].values)]


class Layout:
    """The bytes of a file, the items in front of its directories, and these."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.order = {b"II": "<", b"MM": ">"}[self.data[:2]]
        self.big = self.take("H", 2) == 43
        self.front = 16 if self.big else 8  # where the items are
        self.items, self.items_end, self.raw = read_items(self.data, self.front)
        self.directories = []
        at = self.take("Q", 8) if self.big else self.take("I", 4)
        while at:
            directory, at = self.directory(at)
            self.directories.append(directory)
        self.images = [d for d in self.directories if not d.is_mask]
        self.masks = [d for d in self.directories if d.is_mask]
        items = self.images[0].entries.get(ITEMS)
        self.by_tile = bool(items) and TILE_ITEM in self.data[items.place:items.place + items.count]

    def take(self, letter, at):
        return struct.unpack_from(self.order + letter, self.data, at)[0]

    def directory(self, at):
        """It, and where the next one is."""
        head, each, word = ("Q", 20, 8) if self.big else ("H", 12, 4)
        letter = "Q" if self.big else "I"
        count, first = self.take(head, at), at + struct.calcsize(head)
        entries = {}
        for place in range(first, first + each * count, each):
            tag, kind = self.take("H", place), self.take("H", place + 2)
            number = self.take(letter, place + 4)
            value_at = place + 4 + word
            if SIZES[kind] * number > word:
                value_at = self.take(letter, value_at)
            values = None
            if kind in NUMBERS:
                form = f"{self.order}{number}{NUMBERS[kind]}"
                values = struct.unpack_from(form, self.data, value_at)
            entries[tag] = Entry(kind, number, value_at, values)
        end = first + each * count + word
        return Directory(at, end, entries), self.take(letter, end - word)

    def mask_of(self, image):
        return next((mask for mask in self.masks if mask.size == image.size), None)


def read_items(data, at):
    """[(name, value)] that stand in front, where they end, and their text; [] and None when there
    are none."""
    line = data[at:at + SIZE_LINE]
    if not line.startswith(b"GDAL_STRUCTURAL_METADATA_SIZE=") or not line.endswith(b" bytes\n"):
        return [], at, None
    size = int(line[30:36])
    text = data[at + SIZE_LINE:at + SIZE_LINE + size].decode("latin-1")
    items = [tuple(item.strip().split("=", 1)) for item in text.split("\n") if item.strip()]
    return items, at + SIZE_LINE + size, text


# What is wrong -----------------------------------------------------------------------------------


def wrong_items(layout):
    if layout.raw is None:
        yield "nothing stands in front of the directories"
        return
    items, planes = list(layout.items), layout.images[0].planes
    wanted = list(FIRST_ITEMS)
    if planes > 1:
        wanted.append(BY_TILE if BY_TILE in items and layout.by_tile else BY_BAND)
    wanted.append(("KNOWN_INCOMPATIBLE_EDITION", "NO"))
    if layout.masks and (planes == 1 or (layout.by_tile and MASK_BESIDE in items)):
        wanted.append(MASK_BESIDE)
    if items != wanted:
        yield f"in front stands {items}, not {wanted}"
    if "KNOWN_INCOMPATIBLE_EDITION=NO\n " not in layout.raw:
        yield "there is no room to turn NO into YES"
    first = layout.items_end + layout.items_end % 2
    if layout.directories[0].offset != first:
        yield f"the first directory is at {layout.directories[0].offset}, not {first}"


def wrong_directories(layout):
    """Their order, and what they say of levels."""
    places = [directory.offset for directory in layout.directories]
    if places != sorted(places):
        yield f"directories lie at {places}"
    if layout.directories[0] is not layout.images[0]:
        yield "the first directory is a mask"
    for image, smaller in zip(layout.images, layout.images[1:]):
        if not all(new in (max(old // 2, 1), -(-old // 2))
                   for old, new in zip(image.size, smaller.size)):
            yield f"{image.size} is followed by {smaller.size}, not by half of it"
    if layout.masks and [mask.size for mask in layout.masks] != [i.size for i in layout.images]:
        yield f"masks of {[mask.size for mask in layout.masks]}"
    for index, directory in enumerate(layout.directories):
        yield from (f"directory {index}: {text}" for text in wrong_directory(layout, directory))


def wrong_directory(layout, directory):
    main = layout.images[0]
    if OFFSETS not in directory.entries or TILE_WIDTH not in directory.entries:
        yield "has no tiles"
        return
    if directory.tile[0] != directory.tile[1] or directory.tile[0] % 16:
        yield f"tiles of {directory.tile}"
    if directory.tile != main.tile:
        yield f"tiles of {directory.tile}, not {main.tile} as the image"
    wanted = MASK * directory.is_mask + REDUCED * (directory.size != main.size)
    if directory is not main and directory.number(SUBFILE) != wanted:
        yield f"subfile type {directory.number(SUBFILE)}, not {wanted}"
    if directory is not main and GEOREFERENCE & set(directory.entries):
        yield "has a georeference"
    if directory.is_mask and directory.number(BITS) != 1:
        yield f"a mask of {directory.number(BITS)} bits"
    count = directory.tiles * directory.planes
    for tag in (OFFSETS, COUNTS):
        if directory.entries[tag].count != count:
            yield f"tag {tag} has {directory.entries[tag].count} values, not {count}"
    if list(directory.entries) != sorted(directory.entries):
        yield "tags are not in order"


def first_data(layout):
    """Where the first leader is."""
    places = [block.offset for d in layout.directories for block in d.blocks() if block.offset]
    return min(places, default=len(layout.data) + 4) - 4


def wrong_places(layout):
    """All directories, then all tables of tiles, then all tiles."""
    word, start = (8 if layout.big else 4), first_data(layout)
    others, tables = [], []
    for directory in layout.directories:
        others.append(directory.end)
        for tag, entry in directory.entries.items():
            size = SIZES[entry.type] * entry.count
            if size > word:
                (tables if tag in (OFFSETS, COUNTS) else others).append((entry.place, size))
    end = max(place if isinstance(place, int) else sum(place) for place in others)
    first = min((place for place, _ in tables), default=end)
    if first < end:
        yield f"a table of tiles at {first}, before the end of directories at {end}"
    end = max([end] + [sum(table) for table in tables])
    if end > start:
        yield f"directories and tables end at {end}, after the first tile at {start}"


def file_order(layout, image):
    """Blocks of a level in the order of the file, and those of its mask when it is apart:
    [(text, Block)] each."""
    mask, blocks = layout.mask_of(image), image.blocks()
    names = [f"{image.size} tile {number}" for number in range(len(blocks))]
    pairs = list(zip(names, blocks))
    masks = [(f"{image.size} mask {number}", block)
             for number, block in enumerate(mask.blocks())] if mask else []
    beside, apart = (masks, []) if layout.by_tile or image.planes == 1 else ([], masks)
    if beside or layout.by_tile:
        groups = [pairs[number::image.tiles] + beside[number:number + 1]
                  for number in range(image.tiles)]
        pairs = [pair for group in groups for pair in group]
    return pairs, apart


def wrong_blocks(layout):
    """Leaders, trailers and the order of all tiles; nothing lies between them."""
    end = None
    for image in reversed(layout.images):
        together, apart = file_order(layout, image)
        for name, block in together + apart:
            if block.offset == 0 or block.size == 0:
                if block != (0, 0):
                    yield f"{name}: {block}"
                continue
            yield from (f"{name}: {text}" for text in wrong_block(layout, block))
            if end is not None and block.offset - 4 != end:
                yield from (f"{name}: {text}"
                            for text in wrong_gap(layout, end, block.offset - 4, image))
            end = block.offset + block.size + 4
    if end is not None and end != len(layout.data):
        yield f"{len(layout.data) - end} bytes after the last tile"


def wrong_block(layout, block):
    end = block.offset + block.size
    leader = struct.unpack_from("<I", layout.data, block.offset - 4)[0]
    if leader != block.size:
        yield f"{leader} in front of {block.size} bytes"
    payload = layout.data[block.offset:end]
    wanted = (payload[-4:] if len(payload) >= 4 else payload).ljust(4, b"\0")
    if layout.data[end:end + 4] != wanted:
        yield f"{layout.data[end:end + 4].hex()} after {wanted.hex()}"


def wrong_gap(layout, end, start, image):
    """Room is only before the largest level, and empty."""
    if start < end:
        yield f"starts at {start}, before the end of another one at {end}"
    elif image is not layout.images[0] or start - end >= FRONT_ROOM:
        yield f"{start - end} bytes before it"
    elif layout.data[end:start].strip(b"\0"):
        yield "what lies before it is not 0"


def problems(layout):
    return [text for check in (wrong_items, wrong_directories, wrong_places, wrong_blocks)
            for text in check(layout)]
