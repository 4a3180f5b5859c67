#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the fuzz target read: a small file for each codec, layout and type.

    tools/make_read_seeds.py            writes fuzz/seeds/read
    tools/make_read_seeds.py --check    says whether the files there are what this script writes

Tiles come from tests/support/codec/streams.h. The last ten bytes of a seed choose what is read: see
fuzz/fuzz_read.c.
"""

import pathlib
import re
import struct
import sys

from make_seeds import ASCII, LONG, SHORT, by_tag, image, tiff

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEEDS = ROOT / "fuzz" / "seeds" / "read"
STREAMS = ROOT / "tests" / "support" / "streams.h"

BOUNDLESS, SCALED, NAN, TWO, MASKED, LIST = 1, 2, 4, 8, 16, 32
NATIVE = 32  # of the type: the file's own


def streams():
    """{name: (compression, bands, bytes)}"""
    text = STREAMS.read_text()
    data = {name: bytes(int(byte, 16) for byte in re.findall(r"0x(..)", body))
            for name, body in re.findall(r"uint8_t stream_(\w+)\[\d+\] = \{(.*?)\};", text, re.S)}
    return {name: (int(compression), int(bands), data[name]) for name, compression, bands in
            re.findall(r'= \{"(\w+)", (\d+), (\d+),', text)}


def tail(column=0, row=0, width=31, height=15, level=0, flags=0, kind=NATIVE, bands=0, x=1, y=0):
    return bytes([column, row, width, height, level, flags, kind, bands, x, y])


def tiled(compression, bands, data, *more, order="<", big=False, end=tail(), **options):
    """Two tiles of 16 x 16 with the same data."""
    at = 16 if big else 8
    photometric = {1: 1, 3: 6 if compression == 7 else 2}[bands]
    tags = [(325, LONG, [len(data)] * 2)]
    if photometric == 6:
        tags.append((530, SHORT, [1, 1]))
    if compression == 34887:
        tags.append((50674, LONG, [4, 0]))
    return tiff(image(*tags, *more, width=32, height=16, samples=bands, photometric=photometric,
                      compression=compression, tiled=True, big=big, at=at, **options),
                order=order, big=big, ghost=data, tail=end)


def strips(data, *more, order="<", end=tail(), height=4, **options):
    return tiff(image((279, LONG, [len(data)] * (options.get("samples", 1)
                                                 if options.get("planar") == 2 else 1)), *more,
                      height=height, **options), order=order, ghost=data, tail=end)


def packed(data):
    """PackBits, of literals."""
    parts = [data[i:i + 128] for i in range(0, len(data), 128)]
    return b"".join(bytes([len(part) - 1]) + part for part in parts)


def old_jpeg_tables(stream, at):
    """Tags of old-style JPEG for a grey stream that is at this offset: tables and data apart."""
    found, position = {}, 2
    while stream[position + 1] != 0xDA:
        marker, size, number = struct.unpack_from(">xBHB", stream, position)
        found[(marker, number)] = at + position + 5
        position += 2 + size
    data = position + 2 + struct.unpack_from(">xxH", stream, position)[0]
    return [(512, SHORT, [1]), (519, LONG, [found[0xDB, 0]]), (520, LONG, [found[0xC4, 0]]),
            (521, LONG, [found[0xC4, 16]]), (273, LONG, [at + data]), (279, LONG, [len(stream) - data - 2])]


def lzw_codes(*codes):
    """Codes of nine bits, the highest first."""
    bits = "".join(format(code, "09b") for code in codes)
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


def seeds():
    known = streams()
    for name, stream in known.items():
        yield name, tiled(*stream)
    plain, lzw = known["none"], known["lzw"]
    yield "big_endian", tiled(*lzw, order=">")
    yield "bigtiff", tiled(*lzw, big=True, end=tail(flags=TWO))
    yield "boundless", tiled(*plain, end=tail(0, 0, 63, 63, flags=BOUNDLESS | MASKED, kind=9))
    yield "window", tiled(*lzw, end=tail(100, 100, 9, 5, kind=9, bands=1))
    yield "list", tiled(*lzw[:2], lzw[2][:40], end=tail(flags=LIST | MASKED))
    yield "nearest", tiled(*lzw, end=tail(kind=0x40 | NATIVE, x=8, y=5))
    yield "average", tiled(*lzw, end=tail(kind=0x80 | NATIVE, x=8, y=5))
    yield "bilinear", tiled(*plain, end=tail(kind=0xc0 | NATIVE, x=50, y=40))
    yield "sparse", tiled(*plain, (324, LONG, [0, 8]), (325, LONG, [0, 256]),
                          (42113, ASCII, "7"), end=tail(flags=NAN | MASKED, kind=9))
    yield "predictor_2", tiled(*lzw, (317, SHORT, [2]))
    yield "predictor_3", strips(packed(bytes(range(64))), (317, SHORT, [3]), bits=32, format=3,
                                compression=32773)
    yield "predictor_2_wide", strips(packed(bytes(range(96))), (317, SHORT, [2]), order=">",
                                     bits=16, samples=3, photometric=2, compression=32773)
    yield "planar", strips(bytes(range(32)), bits=16, samples=3, planar=2, photometric=2,
                           end=tail(bands=14, x=2))
    yield "bits_1", strips(b"\x55\xaa\x0f\xf0", width=8, bits=1)
    yield "bits_12", strips(bytes(range(24)), bits=12)
    yield "float_24", strips(bytes(range(48)), (42113, ASCII, "nan"), bits=24, format=3)
    yield "float_16", strips(bytes(range(32)), bits=16, format=3, end=tail(kind=10))
    yield "int_64", strips(bytes(range(128)), bits=64, format=2, end=tail(kind=1))
    yield "complex", strips(bytes(range(128)), bits=64, format=6, end=tail(kind=9))
    yield "complex_int", strips(bytes(range(64)), bits=32, format=5, end=tail(kind=15))
    yield "fill_order", strips(bytes(range(16)), (266, SHORT, [2]))
    yield "fax_4", strips(bytes.fromhex("26a0d5b5001001"), width=8, bits=1, photometric=0,
                          compression=4)
    yield "fax_3", strips(bytes.fromhex("00126a0012a00121"), (292, LONG, [1]), width=8, bits=1,
                          photometric=0, compression=3)
    yield "fax_3_short", strips(bytes.fromhex("0013b00100126a00100101"), width=8, bits=1,
                                photometric=0, compression=3)
    yield "fax_4_missing", strips(bytes.fromhex("26a0001001"), width=8, bits=1, photometric=0,
                                  compression=4)
    yield "lzw_past_end", strips(lzw_codes(256, 100, 258, 259, 260, 261, 262, 257), compression=5)
    yield "size_0", strips(packed(bytes(range(16))), (279, LONG, [0]), compression=32773)
    yield "size_none", strips(packed(bytes(range(16))), (279, LONG, None), compression=32773)
    yield "size_too_large", strips(bytes(range(16)), (279, LONG, [2**32 - 1]))
    yield "duplicates", tiff(by_tag(image() + [(256, SHORT, [9]), (273, LONG, [0])]), tail=tail())
    yield "alpha", strips(bytes(range(64)), (338, SHORT, [2]), samples=4, photometric=2,
                          end=tail(flags=MASKED, bands=3))
    jpeg = known["jpeg"][2]
    interchange = [(513, LONG, [8]), (514, LONG, [len(jpeg)])]
    yield "old_jpeg", tiled(6, 1, jpeg, *interchange)
    yield "old_jpeg_stream", strips(jpeg, *interchange, width=16, height=16, compression=6)
    yield "old_jpeg_tables", strips(jpeg, *old_jpeg_tables(jpeg, 8), width=16, height=16, compression=6)
    mask = image((325, LONG, [32] * 2), tiled=True, sub=4, bits=1, photometric=4, width=32,
                 height=16)
    half = image((325, LONG, [256]), tiled=True, sub=1, width=16, height=8)
    levels = [image((325, LONG, [256] * 2), tiled=True, width=32, height=16), mask, half]
    yield "mask", tiff(*levels, ghost=plain[2], tail=tail(flags=MASKED))
    yield "mask_itself", tiff(*levels, ghost=plain[2], tail=tail(level=0x40))
    yield "overview", tiff(*levels, ghost=plain[2], tail=tail(level=1))
    yield "ycbcr", strips(struct.pack("24B", *range(24)), (530, SHORT, [2, 2]), samples=3,
                          photometric=6)


def main():
    files = {f"{name}.tif": data for name, data in seeds()}
    large = [name for name, data in files.items() if len(data) > 2048]
    if large:
        sys.exit(f"make_read_seeds: too large: {large}")
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
