#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes seeds of the fuzz targets codec_jpeg, codec_jpeg_lossless, codec_jpeg_old, codec_webp, codec_lerc
and codec_jp2: small tiles as GDAL and imagecodecs write them, each followed by the four bytes that choose its
format (see fuzz/codec_lossy.h).

    .venv/bin/python tools/make_codec_seeds.py
"""

import pathlib
import struct
import tempfile
import warnings

import imagecodecs
import numpy
import rasterio

SEEDS = pathlib.Path(__file__).resolve().parent.parent / "fuzz" / "seeds"
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 7: 1}  # of TIFF types, as far as they matter here
JPEG_TABLES, OFFSETS, SIZES_OF_TILES = 347, 324, 325


def picture(dtype, bands, height, width):
    """Slopes with some noise."""
    y, x = numpy.mgrid[:height, :width]
    noise = numpy.random.default_rng(1).integers(0, 6, (bands, height, width))
    return ((x * 2 + y * 3) % 120 + noise + 10 * numpy.arange(bands)[:, None, None]).astype(dtype)


def read_tag(data, wanted):
    """The bytes and the numbers of a tag of the first directory, little-endian."""
    at = struct.unpack_from("<I", data, 4)[0]
    for i in range(struct.unpack_from("<H", data, at)[0]):
        tag, kind, count, value = struct.unpack_from("<HHII", data, at + 2 + 12 * i)
        if tag == wanted:
            size = SIZES[kind] * count
            start = value if size > 4 else at + 2 + 12 * i + 8
            raw = data[start:start + size]
            code = {1: "B", 2: "H", 4: "I"}[SIZES[kind]]
            return raw, struct.unpack(f"<{count}{code}", raw)
    return b"", ()


def first_tile(pixels, **options):
    """The first tile of a TIFF, and its JPEGTables."""
    bands, height, width = pixels.shape
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "seed.tif"
        with rasterio.open(path, "w", driver="GTiff", width=width, height=height, count=bands,
                           dtype=pixels.dtype, tiled=True, blockxsize=width, blockysize=height,
                           interleave="pixel", **options) as file:
            file.write(pixels)
        data = path.read_bytes()
    offset, size = read_tag(data, OFFSETS)[1][0], read_tag(data, SIZES_OF_TILES)[1][0]
    return data[offset:offset + size], read_tag(data, JPEG_TABLES)[0]


def write(target, name, stream, pixels, kind, split=0):
    _, height, width = pixels.shape
    folder = SEEDS / target
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(stream + bytes([width - 1, height - 1, kind, split]))


def padded(tables):
    """With a comment that makes their size a multiple of 8."""
    extra = -len(tables) % 8
    extra += 8 if extra < 4 else 0
    comment = b"\xff\xfe" + struct.pack(">H", extra - 2) + bytes(extra - 4)
    return tables[:-2] + comment + tables[-2:]


def write_jpeg():
    for name, bands, kind, options in (
            ("grey", 1, 0, {}),
            ("rgb", 3, 2, {"photometric": "RGB"}),
            ("ycbcr", 3, 2 | 4, {"photometric": "YCBCR"}),
            ("four", 4, 3, {"photometric": "CMYK"})):
        pixels = picture("uint8", bands, 16, 32)
        stream, tables = first_tile(pixels, compress="jpeg", jpeg_quality=50, **options)
        tables = padded(tables)
        write("codec_jpeg", name, tables + stream, pixels, kind, len(tables) // 8)
        stream, _ = first_tile(pixels, compress="jpeg", JPEGTABLESMODE=0, **options)
        write("codec_jpeg", f"{name}_whole", stream, pixels, kind)


def write_jpeg_lossless():
    for precision, bands, predictor in ((8, 1, 1), (8, 3, 4), (12, 1, 7), (12, 3, 6), (16, 1, 5)):
        pixels = picture("uint8" if precision == 8 else "uint16", bands, 8, 16)
        rows = numpy.ascontiguousarray(pixels.transpose(1, 2, 0)).squeeze()
        stream = imagecodecs.jpeg8_encode(rows, bitspersample=precision, lossless=True, predictor=predictor)
        kind = (bands - 1) | (precision - 1) << 3
        name = f"{precision}_{bands}"
        write("codec_jpeg_lossless", name, stream, pixels, kind)
        start = stream.index(b"\xff\xc4")
        end = start + 2 + int.from_bytes(stream[start + 2:start + 4], "big")
        tables = b"\xff\xd8" + stream[start:end] + b"\xff\xd9"
        write("codec_jpeg_lossless", f"{name}_tables", tables + stream[:start] + stream[end:], pixels, kind,
              len(tables))


def write_jpeg_old():
    """Headers apart, then data that begins in various ways."""
    for name, bands, kind, options in (("grey", 1, 0, {}), ("ycbcr", 3, 2 | 4, {"photometric": "YCBCR"})):
        pixels = picture("uint8", bands, 16, 32)
        stream, _ = first_tile(pixels, compress="jpeg", JPEGTABLESMODE=0, jpeg_quality=50, **options)
        scan = stream.index(b"\xff\xda")
        data = scan + 2 + int.from_bytes(stream[scan + 2:scan + 4], "big")
        comment = -data % 8 + 8
        headers = stream[:2] + b"\xff\xfe" + struct.pack(">H", comment - 2) + bytes(comment - 4) + stream[2:data]
        for form, rest in (("data", stream[data:]), ("scan", stream[scan:]), ("whole", stream),
                           ("restart", b"\xff\xd3" + stream[data:])):
            write("codec_jpeg_old", f"{name}_{form}", headers + rest, pixels, kind, len(headers) // 8)


def write_webp():
    for bands in (3, 4):
        for lossless in (False, True):
            pixels = picture("uint8", bands, 16, 32)
            stream, _ = first_tile(pixels, compress="webp", webp_lossless=lossless)
            write("codec_webp", f"{bands}{'_lossless' if lossless else ''}", stream, pixels, bands - 3)


def write_lerc():
    types = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64")
    for kind, dtype in enumerate(types):
        for bands in (1, 3) if kind < 7 else (1,):
            for error in (0, 1.5):
                pixels = picture(dtype, bands, 16, 32)
                stream, _ = first_tile(pixels, compress="lerc", max_z_error=error)
                write("codec_lerc", f"{dtype}_{bands}_{error}", stream, pixels, kind, bands - 1)
    pixels = picture("int16", 1, 16, 32)
    for code, inner in ((1, "deflate"), (2, "zstd")):
        stream, _ = first_tile(pixels, compress=f"lerc_{inner}", max_z_error=0)
        write("codec_lerc", inner, stream, pixels, 2 | code << 4)
    pixels = picture("float32", 1, 16, 32)
    pixels[:, 5:9, 7:20] = numpy.nan
    stream, _ = first_tile(pixels, compress="lerc", max_z_error=0.01)
    write("codec_lerc", "mask", stream, pixels, 6)


def write_jp2():
    for name, dtype, bands, kind, options in (
            ("grey", "uint8", 1, 0, {}), ("rgb", "uint8", 3, 2, {"YCC": "NO"}),
            ("lossy", "uint8", 3, 2, {"QUALITY": 20, "REVERSIBLE": "NO"}),
            ("deep", "uint16", 1, 8, {}), ("signed", "int16", 1, 8 | 16, {}),
            ("halved", "uint8", 3, 2 | 1 << 6, {"YCC": "NO", "RESOLUTIONS": 3}),
            ("eighth", "uint16", 1, 8 | 3 << 6, {"RESOLUTIONS": 3})):
        pixels = picture(dtype, bands, 16, 32)
        options = {"QUALITY": 100, "REVERSIBLE": "YES", **options}
        for suffix in ("j2k", "jp2"):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / f"seed.{suffix}"
                with rasterio.open(path, "w", driver="JP2OpenJPEG", width=32, height=16, count=bands,
                                   dtype=dtype, codec=suffix.upper(), **options) as file:
                    file.write(pixels)
                stream = path.read_bytes()
            write("codec_jp2", f"{name}_{suffix}", stream, pixels, kind)


def main():
    warnings.simplefilter("ignore")
    write_jpeg()
    write_jpeg_lossless()
    write_jpeg_old()
    write_webp()
    write_lerc()
    write_jp2()


if __name__ == "__main__":
    main()
