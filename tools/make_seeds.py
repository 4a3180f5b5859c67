#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the fuzz target open, one small file for each feature of a directory.

    tools/make_seeds.py            writes fuzz/seeds/open
    tools/make_seeds.py --check    says whether the files there are what this script writes

The last byte of a seed chooses the options of opening: see fuzz/fuzz_open.c.
"""

import pathlib
import struct
import sys

SEEDS = pathlib.Path(__file__).resolve().parent.parent / "fuzz" / "seeds" / "open"

BYTE, ASCII, SHORT, LONG, RATIONAL, SBYTE, UNDEFINED, DOUBLE = 1, 2, 3, 4, 5, 6, 7, 12
IFD, LONG8, IFD8 = 13, 16, 18
CODES = {BYTE: "B", ASCII: "B", SHORT: "H", LONG: "I", RATIONAL: "I", SBYTE: "b", UNDEFINED: "B",
         DOUBLE: "d", IFD: "I", LONG8: "Q", IFD8: "Q"}


class Ref:
    """Stands for the place of a directory that is written too."""

    def __init__(self, index):
        self.index = index


def pack(order, kind, values):
    if isinstance(values, str):
        values = values.encode() + b"\0"
    return struct.pack(f"{order}{len(values)}{CODES[kind]}", *values)


def tiff(*directories, order="<", big=False, ghost=b"", chain=None, tail=b"\0"):
    """A file of directories, each a list of (tag, type, values), in the order they are given.
    `chain` gives the index that follows each one (None: 0), by default the next one. Pixel data is
    16 bytes at the end of the header, where DATA points."""
    word, entry = (8, 20) if big else (4, 12)
    letter = "Q" if big else "I"
    start = (16 if big else 8) + len(ghost) + 16
    count = len(directories)
    if chain is None:
        chain = [i + 1 if i + 1 < count else None for i in range(count)]

    # Where each directory starts: its entries, the next offset, then its data.
    places, at = [], start
    for tags in directories:
        places.append(at)
        at += (8 if big else 2) + entry * len(tags) + word
        for _, kind, values in tags:
            size = len(pack(order, kind, [0 if isinstance(v, Ref) else v for v in values]
                            if not isinstance(values, (str, bytes)) else values))
            at += size + size % 2 if size > word else 0

    body = b""
    for tags, following in zip(directories, chain):
        data_at = start + len(body) + (8 if big else 2) + entry * len(tags) + word
        entries, data = b"", b""
        for tag, kind, values in tags:
            if not isinstance(values, (str, bytes)):
                values = [places[v.index] if isinstance(v, Ref) else v for v in values]
            raw = pack(order, kind, values)
            number = len(raw) // struct.calcsize(CODES[kind]) // (2 if kind == RATIONAL else 1)
            entries += struct.pack(f"{order}HH{letter}", tag, kind, number)
            if len(raw) <= word:
                entries += raw.ljust(word, b"\0")
            else:
                entries += struct.pack(order + letter, data_at + len(data))
                data += raw + b"\0" * (len(raw) % 2)
        body += struct.pack(order + ("Q" if big else "H"), len(tags)) + entries
        body += struct.pack(order + letter, 0 if following is None else places[following]) + data

    head = b"II" if order == "<" else b"MM"
    head += struct.pack(order + "HHHQ", 43, 8, 0, start) if big else struct.pack(order + "HI", 42,
                                                                                 start)
    return head + ghost + bytes(range(16)) + body + tail


DATA = 8


def image(*more, width=4, height=4, bits=8, samples=1, planar=1, format=1, photometric=1,
          compression=1, tiled=False, big=False, sub=None, at=DATA):
    """The tags of one image, ascending; `more` replaces or adds."""
    offsets = LONG8 if big else LONG
    tags = {256: (SHORT, [width]), 257: (SHORT, [height]), 258: (SHORT, [bits] * samples),
            259: (SHORT, [compression]), 262: (SHORT, [photometric]), 277: (SHORT, [samples]),
            284: (SHORT, [planar]), 339: (SHORT, [format] * samples)}
    pieces = samples if planar == 2 else 1
    if sub is not None:
        tags[254] = (LONG, [sub])
    if tiled:
        pieces *= -(-width // 16) * -(-height // 16)
        tags.update({322: (SHORT, [16]), 323: (SHORT, [16]), 324: (offsets, [at] * pieces),
                     325: (LONG, [16] * pieces)})
    else:
        tags.update({273: (offsets, [at] * pieces), 278: (SHORT, [height]),
                     279: (LONG, [16] * pieces)})
    for tag, kind, values in more:
        tags[tag] = (kind, values)
    return [(tag, kind, values) for tag, (kind, values) in sorted(tags.items())
            if values is not None]


def by_tag(tags):
    """In ascending order; of equal ones the first stays the first."""
    return sorted(tags, key=lambda tag: tag[0])


def keys(*entries, minor=0):
    """GeoKeyDirectory with values of its own."""
    flat = [1, 1, minor, len(entries)]
    for entry in entries:
        flat += entry
    return (34735, SHORT, flat)


SCALE = (33550, DOUBLE, [10.0, 10.0, 0.0])
TIE = (33922, DOUBLE, [0.0, 0.0, 0.0, 440720.0, 3751320.0, 0.0])
UTM = keys((1024, 0, 1, 1), (1025, 0, 1, 1), (3072, 0, 1, 32633), (3076, 0, 1, 9001))
GHOST_TEXT = ("LAYOUT=IFDS_BEFORE_DATA\nBLOCK_ORDER=ROW_MAJOR\nBLOCK_LEADER=SIZE_AS_UINT4\n"
              "BLOCK_TRAILER=LAST_4_BYTES_REPEATED\nKNOWN_INCOMPATIBLE_EDITION=NO\n ")
GHOST = (f"GDAL_STRUCTURAL_METADATA_SIZE={len(GHOST_TEXT):06d} bytes\n" + GHOST_TEXT).encode()
XML = ('<GDALMetadata><Item name="A">1</Item><Item name="D" sample="0" role="description">x</Item>'
       '<Item name="S" sample="0" role="scale">0.5</Item><Item name="K" domain="M">&lt;v</Item>'
       "</GDALMetadata>")


def seeds():
    yield "strip", tiff(image())
    yield "strip_big_endian", tiff(image(), order=">")
    yield "bigtiff_tiled", tiff(image(tiled=True, big=True, width=40, height=20), big=True)
    yield "bigtiff_big_endian", tiff(image(big=True), big=True, order=">")
    yield "utm", tiff(image(SCALE, TIE, UTM, (42112, ASCII, XML), (42113, ASCII, "-9999"),
                            bits=16, format=2))
    yield "utm_strict", tiff(image(SCALE, TIE, UTM), tail=b"\1")
    yield "utm_require_crs", tiff(image(SCALE, TIE, UTM), tail=b"\2")
    yield "low_limits", tiff(image(SCALE, TIE, UTM, (42112, ASCII, XML)), image(sub=1, width=2),
                             tail=b"\3")
    yield "user_source", tiff(image(SCALE, TIE, UTM), order=">", tail=b"\x20")
    yield "pages", tiff(image(), image(bits=16), image(samples=3, photometric=2), tail=b"\x08")
    yield "cog", tiff(image(SCALE, TIE, UTM, tiled=True, width=64, height=64),
                      image(tiled=True, sub=4, bits=1, photometric=4, width=64, height=64),
                      image(tiled=True, sub=1, width=32, height=32),
                      image(tiled=True, sub=5, bits=1, photometric=4, width=32, height=32),
                      ghost=GHOST)
    yield "bigtiff_cog", tiff(image(tiled=True, big=True, width=64, height=64),
                              image(tiled=True, big=True, sub=1, width=32, height=32),
                              big=True, ghost=GHOST.replace(b"EDITION=NO\n ", b"EDITION=YES\n"))
    yield "sub_ifds", tiff(image((330, IFD, [Ref(1), Ref(2)]), width=16, height=16),
                           image(sub=1, width=8, height=8), image(sub=1),
                           chain=[None, None, None])
    yield "nested_sub_ifds", tiff(image((330, LONG, [Ref(1)])), image((330, LONG, [Ref(2)]), sub=1),
                                  image((330, LONG, [Ref(0)])), chain=[None, None, None])
    yield "bigtiff_sub_ifds", tiff(image((330, IFD8, [Ref(1)]), big=True), image(big=True, sub=1),
                                   big=True, chain=[None, None])
    yield "loop", tiff(image(), image(sub=1, width=2, height=2), chain=[1, 0])
    yield "exif_gps", tiff(image((34665, LONG, [Ref(1)]), (34853, LONG, [Ref(2)])),
                           [(33434, RATIONAL, [1, 100]), (37121, UNDEFINED, [1, 2, 3, 0])],
                           [(0, BYTE, [2, 3, 0, 0]), (2, RATIONAL, [1, 1, 2, 1, 3, 1])],
                           chain=[None, None, None])
    yield "planar", tiff(image(samples=3, planar=2, photometric=2, tiled=True))
    yield "alpha", tiff(image((338, SHORT, [2]), samples=4, photometric=2))
    yield "palette", tiff(image((320, SHORT, [i * 4096 for i in range(16)] * 3), bits=4,
                                photometric=3))
    yield "cmyk", tiff(image((332, SHORT, [1]), (333, ASCII, "C\0M\0Y\0K"), (334, SHORT, [4]),
                             samples=4, photometric=5))
    yield "ycbcr_jpeg", tiff(image((530, SHORT, [2, 2]), (347, UNDEFINED, list(b"\xff\xd8\xff\xd9")),
                                   (532, RATIONAL, [0, 1, 255, 1, 128, 1, 255, 1, 128, 1, 255, 1]),
                                   samples=3, photometric=6, compression=7))
    yield "lerc", tiff(image((50674, LONG, [4, 2]), bits=32, format=3, compression=34887))
    yield "predictor_3", tiff(image((317, SHORT, [3]), bits=64, format=3, compression=8))
    yield "complex", tiff(image(bits=64, format=6))
    yield "complex_int", tiff(image(bits=32, format=5))
    yield "bits_12", tiff(image((266, SHORT, [2]), bits=12))
    yield "float_24", tiff(image((42113, ASCII, "nan"), bits=24, format=3))
    yield "nodata_u64", tiff(image((42113, ASCII, "18446744073709551615"), bits=64))
    yield "nodata_i64", tiff(image((42113, ASCII, "-9223372036854775808"), bits=64, format=2))
    yield "no_sizes", tiff(image((279, LONG, None)))
    four = [(278, SHORT, [1]), (273, LONG, [8, 12, 16, 20])]
    yield "zero_sizes", tiff(image(*four, (279, LONG, [0] * 4), compression=32773))
    yield "few_sizes", tiff(image(*four, (279, LONG, [4] * 2), compression=5))
    again = [(256, SHORT, [9]), (259, SHORT, [5]), (273, LONG, [0]), (279, RATIONAL, [1, 0])]
    yield "duplicates", tiff(by_tag(image() + again))
    yield "duplicates_first", tiff(by_tag(again + image()))
    yield "strips_and_tiles", tiff(image((322, SHORT, [16]), (323, SHORT, [16]),
                                         (324, LONG, [DATA]), (325, LONG, [16])))
    yield "orientation", tiff(image((274, SHORT, [6]), (282, RATIONAL, [72, 1]), (296, SHORT, [2])))
    yield "matrix", tiff(image((34264, DOUBLE, [1.0, 0.5, 0, 10, 0.5, -1.0, 0, 20] + [0] * 7 + [1]),
                               keys((1024, 0, 1, 2), (1025, 0, 1, 2), (2048, 0, 1, 4326))))
    yield "gcps", tiff(image((33922, DOUBLE, [float(i) for i in range(24)]),
                             keys((1024, 0, 1, 2), (2048, 0, 1, 4326))))
    yield "rpc", tiff(image((50844, DOUBLE, [i / 8 for i in range(92)])))
    yield "user_crs", tiff(image(SCALE, TIE, (34736, DOUBLE, [6378137.0, 298.25, 0.0, 15.0, 0.9996]),
                                 (34737, ASCII, "unnamed|GCS Name|Ellipsoid|"),
                                 keys((1024, 0, 1, 1), (1025, 0, 1, 1), (1026, 34737, 8, 0),
                                      (2048, 0, 1, 32767), (2049, 34737, 9, 8), (2054, 0, 1, 9102),
                                      (2057, 34736, 1, 0), (2059, 34736, 1, 1),
                                      (3072, 0, 1, 32767), (3074, 0, 1, 32767), (3075, 0, 1, 1),
                                      (3080, 34736, 1, 3), (3081, 34736, 1, 2),
                                      (3092, 34736, 1, 4))))
    yield "vertical", tiff(image(SCALE, TIE, keys((1024, 0, 1, 1), (3072, 0, 1, 26711),
                                                  (4096, 0, 1, 3855), (4099, 0, 1, 9001),
                                                  (5120, 34736, 1, 0), minor=1),
                                 (34736, DOUBLE, [2020.5])))
    yield "header_only", b"II*\0\0\0\0\0"
    yield "empty", b""


def main():
    files = {f"{name}.tif": data for name, data in seeds()}
    large = [name for name, data in files.items() if len(data) > 2048]
    if large or sum(map(len, files.values())) > 65536:
        sys.exit(f"make_seeds: too large: {large}")
    if "--check" in sys.argv[1:]:
        there = {path.name: path.read_bytes() for path in SEEDS.iterdir()} if SEEDS.is_dir() else {}
        return 0 if there == files else 1
    SEEDS.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (SEEDS / name).write_bytes(data)
    print(f"{len(files)} seeds, {sum(map(len, files.values()))} bytes, in {SEEDS.name}/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
