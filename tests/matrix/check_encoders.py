#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tiles of the lossless encoders, beside those of GDAL and in the hands of other decoders.

    check_encoders.py ENCODE_DUMP [--table]

Landscapes of several types, with and without predictor, are encoded at several levels. GDAL, zlib,
liblzma and the command lz4 must read them, and they must not be larger than what GDAL writes with
the same settings, but for a few bytes in a hundred. Prints TAP, before it with --table all ratios;
needs .venv.
"""
import lzma
import pathlib
import shutil
import struct
import subprocess
import sys
import warnings
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "bench")]
from tap import Tap, skip_all  # noqa: E402

try:
    import numpy
    import rasterio
    import rasterio.io
    import tifffile

    import data
except ImportError as error:
    skip_all("encoders", f"a package of tests/requirements.txt is missing: {error}")

SIZE, TILE = 512, 256
FAST = -1
CLOSE = 1.02        # of GDAL's sizes
FAST_CLOSE = 1.10   # of those of level 1
NEXT_CLOSE = 1.03   # of those of the next level
# libtiff adds 1 to Deflate's levels 6 to 9 before it asks libdeflate: what GDAL calls our levels.
DEFLATE_LEVELS = {FAST: 1, 7: 6, 8: 7, 9: 8, 10: 9}
RASTERS = {"dem_f32": (1, 3), "dem_i16": (1, 2), "ls_u16": (2,), "rgb_u8": (1, 2), "lc_u8": (1,)}


def lz4_decode(encoded):
    return subprocess.run(["lz4", "-dc"], input=encoded, capture_output=True, check=False).stdout


# name: number, decoder beside GDAL, GDAL's word for levels, levels
CODECS = {
    "packbits": (32773, None, None, [0]),
    "lzw": (5, None, None, [0]),
    "deflate": (8, zlib.decompress, "zlevel", [FAST, 1, 6, 7, 10, 12]),
    "zstd": (50000, None, "zstd_level", [1, 3, 9, 15]),
    "lzma": (34925, lzma.decompress, "lzma_preset", [1, 6]),
    "lz4": (50004, lz4_decode, None, [1, 2, 9]),
}


def predict(tile, predictor):
    """The bytes of a tile's rows with the predictor applied."""
    if predictor == 1:
        return tile.tobytes()
    if predictor == 3:
        height, width = tile.shape
        planes = tile.astype(">f4").view("u1").reshape(height, width, 4).transpose(0, 2, 1)
        tile = numpy.ascontiguousarray(planes).reshape(height, 4 * width)
    rows = tile.copy()
    rows[:, 1:] = tile[:, 1:] - tile[:, :-1]
    return rows.tobytes()


def tiles_of(raster):
    return [numpy.ascontiguousarray(raster[y:y + TILE, x:x + TILE])
            for y in range(0, SIZE, TILE) for x in range(0, SIZE, TILE)]


def encode(process, number, level, tile, rows):
    """The bytes, or the error as text."""
    samples = 1 if tile.ndim == 2 else tile.shape[2]
    head = f"{number} {level} {TILE} {TILE} {samples} {8 * tile.dtype.itemsize}\n"
    process.stdin.write(head.encode() + rows)
    process.stdin.flush()
    line = process.stdout.readline().decode(errors="replace").strip()
    return process.stdout.read(int(line)) if line.isdigit() else line or "the program ended"


def tiff_of(number, predictor, tile, encoded):
    """A TIFF of one tile."""
    samples = 1 if tile.ndim == 2 else tile.shape[2]
    bits, kind = 8 * tile.dtype.itemsize, {"u": 1, "i": 2, "f": 3}[tile.dtype.kind]
    tags = {256: [TILE], 257: [TILE], 258: [bits] * samples, 259: [number],
            262: [2 if samples == 3 else 1], 277: [samples], 284: [1], 317: [predictor],
            322: [TILE], 323: [TILE], 324: [0], 325: [len(encoded)], 339: [kind] * samples}
    if samples == 4:
        tags[338] = [0] * 3
    entries, more, place = [], b"", 8 + 2 + 12 * len(tags) + 4
    tags[324] = [place + 4 * sum(len(v) for v in tags.values() if len(v) > 1)]
    for tag, values in sorted(tags.items()):
        raw = struct.pack(f"<{len(values)}I", *values)
        if len(values) > 1:
            raw, more = struct.pack("<I", place + len(more)), more + raw
        entries.append(struct.pack("<HHI", tag, 4, len(values)) + raw)
    return (struct.pack("<2sHIH", b"II", 42, 8, len(tags)) + b"".join(entries) + bytes(4) + more
            + encoded)


def read_by_gdal(number, predictor, tile, encoded):
    with rasterio.io.MemoryFile(tiff_of(number, predictor, tile, encoded)) as memory:
        with memory.open() as file:
            pixels = file.read()
    return pixels[0] if tile.ndim == 2 else pixels.transpose(1, 2, 0)


def sizes_of_gdal(raster, codec, predictor, level):
    """Bytes of all tiles together."""
    bands = 1 if raster.ndim == 2 else raster.shape[2]
    word = CODECS[codec][2]
    options = {"compress": codec, "tiled": True, "blockxsize": TILE, "blockysize": TILE,
               "interleave": "pixel", "predictor": predictor}
    if word:
        options[word] = DEFLATE_LEVELS.get(level, level) if codec == "deflate" else level
    with rasterio.io.MemoryFile() as memory:
        with memory.open(driver="GTiff", width=SIZE, height=SIZE, count=bands, dtype=raster.dtype,
                         **options) as file:
            file.write(raster.reshape(SIZE, SIZE, bands).transpose(2, 0, 1))
        with tifffile.TiffFile(memory) as file:
            return sum(file.pages[0].databytecounts)


class Check:
    """What was wrong, and all sizes."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.unread, self.large, self.sizes = [], [], []

    def one(self, name, raster, codec, predictor, level):
        number, decode, _, _ = CODECS[codec]
        what = f"{name} p{predictor} {codec} {level}"
        total = 0
        for tile in tiles_of(raster):
            rows = predict(tile, predictor)
            encoded = encode(self.process, number, level, tile, rows)
            if isinstance(encoded, str):
                self.unread.append(f"{what}: {encoded}")
                return
            total += len(encoded)
            if decode and decode(encoded) != rows:
                self.unread.append(f"{what}: its library reads other bytes")
            if codec != "lz4" and not numpy.array_equal(
                    read_by_gdal(number, predictor, tile, encoded), tile):
                self.unread.append(f"{what}: GDAL reads other pixels")
        if codec == "lz4":
            return
        theirs = sizes_of_gdal(raster, codec, predictor, level)
        self.sizes.append((what, raster.nbytes, total, theirs))
        loose = {("deflate", FAST): FAST_CLOSE, ("deflate", 6): NEXT_CLOSE}
        if total > theirs * loose.get((codec, level), CLOSE):
            self.large.append(f"{what}: {total} bytes, GDAL {theirs}")


def main():
    warnings.simplefilter("ignore")
    check = Check(sys.argv[1])
    land = data.Landscape(SIZE)
    for name, predictors in RASTERS.items():
        raster = data.RASTERS[name](land)
        for predictor in predictors:
            for codec, (_, _, _, levels) in CODECS.items():
                if codec == "packbits" and predictor != 1:
                    continue  # TIFF has none with it
                if codec == "lz4" and not shutil.which("lz4"):
                    continue
                for level in levels:
                    check.one(name, raster, codec, predictor, level)
    check.process.stdin.close()
    if "--table" in sys.argv:
        for what, raw, ours, theirs in check.sizes:
            print(f"{what:28} {raw / ours:8.3f} {raw / theirs:8.3f} {ours / theirs:7.3f}")
    tap = Tap()
    tap.check("the program encoded every tile and ended well", check.process.wait() == 0)
    tap.check("others read every tile", not check.unread, "\n".join(check.unread[:20]))
    tap.check(f"tiles are not larger than GDAL's ({len(check.sizes)} settings)",
              not check.large and check.sizes, "\n".join(check.large[:20]))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
