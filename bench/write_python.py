#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times writing with a library of Python: write_python.py tifffile|xarray-spatial|compare.

The jobs are those of writer.h; all rows at once, no measurement of memory. xarray-spatial uses as many threads as it
likes. `compare` writes nothing: it answers with the root of the mean square of the difference between the raster and
the file that is there.
"""

import os
import sys
import time

import numpy as np

from read_python import buffer, checksum


def load(path):
    """The pixels, in the warm buffer; the last ones stay."""
    if load.path != path:
        stored = np.load(path, mmap_mode="r")
        load.pixels = buffer.array(stored.shape, stored.dtype)
        load.pixels[:] = stored
        load.path, load.sum = path, checksum(load.pixels)
    return load.pixels


load.path = None


class Tifffile:
    QUALITY = {"jpeg": {"level": 75}, "webp": {"level": 75, "lossless": False}, "webpll": {"lossless": True},
               "lerc": {"level": 0}}

    def __init__(self):
        import tifffile
        self.write_file = tifffile.imwrite

    def write(self, path, pixels, job):
        codec, level, tile = job["codec"], int(job["level"]), int(job["tile"])
        settings = dict(self.QUALITY.get(codec, {}))
        if level:
            settings["level"] = max(level, 1)
        colour = pixels.ndim == 3 and pixels.dtype == np.uint8
        more = {"subsampling": (2, 2)} if codec == "jpeg" else {}
        self.write_file(
            path, pixels, tile=(tile, tile), compression={"webpll": "webp"}.get(codec, codec),
            compressionargs=settings, predictor=int(job["predictor"]), planarconfig="contig",
            photometric="rgb" if colour else "minisblack", metadata=None,
            maxworkers=int(job["threads"]), **more)


class XarraySpatial:
    def __init__(self):
        from xrspatial.geotiff import to_geotiff
        self.write_file = to_geotiff

    def write(self, path, pixels, job):
        level = int(job["level"])
        self.write_file(pixels, path, compression=job["codec"], tile_size=int(job["tile"]),
                        compression_level=max(level, 1) if level else None,
                        predictor=int(job["predictor"]), gpu=False, allow_experimental_codecs=True)


def answer(library, job):
    pixels, path = load(job["raster"]), job["out"]
    wall = cpu = 0
    for _ in range(int(job["repeats"])):
        if os.path.exists(path):
            os.remove(path)
        start, start_cpu = time.perf_counter(), time.process_time()
        library.write(path, pixels, job)
        wall += time.perf_counter() - start
        cpu += time.process_time() - start_cpu
    repeats = int(job["repeats"])
    return f"{wall / repeats:.9f} {cpu / repeats:.9f} {load.sum:x} {os.path.getsize(path)}"


def compare(job):
    import tifffile
    found = tifffile.imread(job["out"]).astype(np.float64)
    return f"{np.sqrt(np.mean((found - np.load(job['raster'])) ** 2)):.6f}"


def main():
    name = sys.argv[1]
    library = {"tifffile": Tifffile, "xarray-spatial": XarraySpatial}.get(name, lambda: None)()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # some libraries print
    for line in sys.stdin:
        job = dict(word.split("=", 1) for word in line.rstrip("\n").split("\t"))
        try:
            text = compare(job) if name == "compare" else answer(library, job)
        except Exception as error:  # whatever a library raises is its answer
            text = "failed " + " ".join(str(error).split())[:300]
        print(text, file=answers, flush=True)


if __name__ == "__main__":
    main()
