#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes streams.h: one tile of 16 x 16 pixels in every compression, encoded by imagecodecs.

    .venv/bin/python tests/support/codec/make_streams.py

Pixel (row, column) of band b is 20 * (column / 4) + 11 * (row / 2) + 50 * b; of the lossy streams
everything is 100. Streams of other versions of imagecodecs may have other bytes, and the last bits of
LERC are whatever memory held; all are as good. Run tools/make_read_seeds.py after it.
"""
import pathlib

import imagecodecs
import numpy

OUT = pathlib.Path(__file__).resolve().parent / "streams.h"


def picture(bands):
    row, column, band = numpy.ogrid[:16, :16, :bands]
    return (20 * (column // 4) + 11 * (row // 2) + 50 * band).astype("u1")


def streams():
    """name, what the build must have, compression, bands, lossy, bytes"""
    gray = numpy.ascontiguousarray(picture(1)[..., 0])
    rgb = picture(3)
    flat = numpy.full((16, 16), 100, "u1")
    yield "NONE", None, 1, 1, 0, gray.tobytes()
    yield "PACKBITS", None, 32773, 1, 0, imagecodecs.packbits_encode(gray)
    yield "LZW", None, 5, 1, 0, imagecodecs.lzw_encode(gray)
    yield "DEFLATE", "LIBDEFLATE", 8, 1, 0, imagecodecs.zlib_encode(gray, 9)
    yield "ZSTD", "ZSTD", 50000, 1, 0, imagecodecs.zstd_encode(gray, 9)
    yield "LZMA", "LZMA", 34925, 1, 0, imagecodecs.lzma_encode(gray)
    yield "LZ4", "LZ4", 50004, 1, 0, imagecodecs.lz4f_encode(gray)
    yield "JPEG", "JPEG", 7, 1, 1, imagecodecs.jpeg8_encode(flat, 100)
    yield "JPEG_RGB", "JPEG", 7, 3, 1, imagecodecs.jpeg8_encode(
        numpy.full((16, 16, 3), 100, "u1"), 100, subsampling=(1, 1))
    yield "WEBP", "WEBP", 50001, 3, 0, imagecodecs.webp_encode(rgb, lossless=True)
    yield "LERC", "LERC", 34887, 1, 0, imagecodecs.lerc_encode(gray)
    yield "JP2", "OPENJPEG", 34712, 1, 0, imagecodecs.jpeg2k_encode(
        gray, 0, reversible=True, codecformat="j2k")
    yield "JXL", "JXL", 50002, 1, 0, imagecodecs.jpegxl_encode(gray, lossless=True)


def rows_of(data):
    for start in range(0, len(data), 16):
        yield "    " + ", ".join(f"0x{byte:02x}" for byte in data[start:start + 16]) + ","


def main():
    lines = ["/* SPDX-License-Identifier: Apache-2.0",
             " * One tile of 16 x 16 pixels in every compression; written by make_streams.py. */",
             "#ifndef TESTS_SUPPORT_STREAMS_H", "#define TESTS_SUPPORT_STREAMS_H", "",
             "#include <stdint.h>", "", "/* clang-format off */"]
    table = ["static const tile_stream tile_streams[] = {"]
    names = []
    for name, needs, compression, bands, lossy, data in streams():
        low = f"stream_{name.lower()}"
        names.append(name)
        lines += [f"static const uint8_t {low}[{len(data)}] = {{", *rows_of(bytes(data)), "};"]
        table.append(f"    [STREAM_{name}] = {{\"{name.lower()}\", {compression}, {bands}, "
                     f"{'true' if lossy else 'false'}, {low}, sizeof {low}}},")
    lines += ["", "enum {"] + [f"    STREAM_{name}," for name in names]
    lines += ["    STREAM_COUNT", "};", ""] + table + ["};", "/* clang-format on */", "", "#endif", ""]
    OUT.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
