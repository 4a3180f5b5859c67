#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times reading with a library of Python: read_python.py tifffile|rasterio|xarray-spatial.

The requests are those of reader.h: `whole` by all of them, `batch` by rasterio alone. tifffile and rasterio read into
the warm buffer; xarray-spatial always makes an array of its own, on as many threads as it likes.
"""

import concurrent.futures
import itertools
import mmap
import os
import sys
import time

import numpy as np

HUGE = 2 << 20


class Buffer:
    """Warm memory on huge pages that grows."""

    def __init__(self):
        self.bytes = np.empty(0, np.uint8)

    def take(self, size):
        if size > self.bytes.size:
            memory = mmap.mmap(-1, (size // HUGE + 2) * HUGE)
            memory.madvise(mmap.MADV_HUGEPAGE)
            self.bytes = np.frombuffer(memory, np.uint8)
            self.bytes[:] = 0x5a
        return self.bytes[:size]

    def array(self, shape, dtype, first=0):
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        return self.take(first + size)[first:].view(dtype).reshape(shape)


buffer = Buffer()


def checksum(pixels):
    """As in reader.h."""
    words = np.ascontiguousarray(pixels).reshape(-1).view(np.uint8)
    words = words[:words.size // 8 * 8].view(np.uint64)
    total = np.uint64(0)
    with np.errstate(over="ignore"):
        for first in range(0, words.size, 1 << 20):
            part = words[first:first + (1 << 20)]
            weights = 2 * np.arange(first, first + part.size, dtype=np.uint64) + np.uint64(1)
            total += (part * weights).sum(dtype=np.uint64)
    return int(total)


class Tifffile:
    def __init__(self):
        import tifffile
        self.open = tifffile.TiffFile

    def whole(self, path, threads, by_pixel):
        with self.open(path) as file:
            series = file.series[0]
            return series.asarray(out=buffer.array(series.shape, series.dtype), maxworkers=threads)


class Rasterio:
    def __init__(self):
        import rasterio
        from rasterio.windows import Window
        self.open, self.window = rasterio.open, Window

    def whole(self, path, threads, by_pixel):
        with self.open(path, num_threads=threads) as file:
            shape = (file.count, file.height, file.width)
            if by_pixel:
                out = buffer.array((*shape[1:], shape[0]), file.dtypes[0]).transpose(2, 0, 1)
            else:
                out = buffer.array(shape, file.dtypes[0])
            file.read(out=out)
            return out.transpose(1, 2, 0) if by_pixel else out

    def batch(self, pieces, threads):
        """Each thread takes one file after the other. One band."""
        with self.open(pieces[0][4]) as file:
            dtype = file.dtypes[0]
        width, height = pieces[0][2:4]
        out = buffer.array((len(pieces), 1, height, width), dtype)

        def read_file(numbered):
            with self.open(numbered[0][1][4]) as file:
                for number, (column, row, w, h, _) in numbered:
                    file.read(out=out[number], window=self.window(column, row, w, h))

        groups = [list(group) for _, group in
                  itertools.groupby(enumerate(pieces), key=lambda pair: pair[1][4])]
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            list(pool.map(read_file, groups))
        return out


class XarraySpatial:
    def __init__(self):
        from xrspatial.geotiff import open_geotiff
        self.open = open_geotiff

    def whole(self, path, threads, by_pixel):
        pixels = self.open(path, allow_experimental_codecs=True, allow_internal_only_jpeg=True).values
        return pixels if by_pixel else pixels.transpose(2, 0, 1)


def read_list(path):
    with open(path, encoding="utf-8") as file:
        fields = [line.rstrip("\n").split(" ", 4) for line in file]
    return [(*map(int, parts[:4]), parts[4]) for parts in fields]


def answer(library, request):
    mode, threads, repeats, check, layout, path = request.rstrip("\n").split(" ", 5)
    if check == "1":
        buffer.bytes[:] = 0x5a
    pieces = read_list(path) if mode == "batch" else None
    start, start_cpu = time.perf_counter(), time.process_time()
    for _ in range(int(repeats)):
        pixels = library.batch(pieces, int(threads)) if pieces else \
            library.whole(path, int(threads), layout == "pixel")
    seconds = (time.perf_counter() - start) / int(repeats)
    cpu = (time.process_time() - start_cpu) / int(repeats)
    return f"{seconds:.9f} {cpu:.9f} {checksum(pixels) if check == '1' else 0:x} {pixels.nbytes}"


def main():
    library = {"tifffile": Tifffile, "rasterio": Rasterio,
               "xarray-spatial": XarraySpatial}[sys.argv[1]]()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # some libraries print
    for request in sys.stdin:
        try:
            line = answer(library, request)
        except Exception as error:  # whatever a library raises is its answer
            line = "failed " + " ".join(str(error).split())[:300]
        print(line, file=answers, flush=True)


if __name__ == "__main__":
    main()
