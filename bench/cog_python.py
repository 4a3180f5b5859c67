#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times a TIFF file becoming one with overviews, with a library of Python: cog_python.py libvips|rio-cogeo|tifffile.

The jobs are those of writer.h that have an input. Overviews are means. libvips makes a pyramid, and tifffile pages
that follow each other, of overviews that NumPy makes: neither is laid out as a COG. libvips uses as many threads as
VIPS_CONCURRENCY says.
"""

import os
import sys
import time


class Libvips:
    NAMES = {1: "none", 2: "horizontal", 3: "float"}

    def __init__(self):
        import pyvips
        self.pyvips = pyvips

    def copy(self, job):
        settings = {}
        if int(job["level"]):
            settings["level"] = max(int(job["level"]), 1)
        if job["codec"] == "jpeg":
            settings["Q"] = 75
        image = self.pyvips.Image.new_from_file(job["input"], access="sequential")
        image.tiffsave(job["out"], compression=job["codec"], predictor=self.NAMES[int(job["predictor"])],
                       tile=True, tile_width=int(job["tile"]), tile_height=int(job["tile"]), pyramid=True,
                       subifd=False, depth="onetile", region_shrink="mean", **settings)


class RioCogeo:
    LEVELS = {"deflate": "zlevel", "zstd": "zstd_level"}

    def __init__(self):
        from rio_cogeo.cogeo import cog_translate
        self.translate = cog_translate

    def copy(self, job):
        codec, tile = job["codec"], int(job["tile"])
        profile = {"driver": "GTiff", "interleave": "pixel", "tiled": True, "blockxsize": tile,
                   "blockysize": tile, "compress": codec}
        if int(job["level"]):
            profile[self.LEVELS[codec]] = max(int(job["level"]), 1)
        if int(job["predictor"]) > 1:
            profile["predictor"] = int(job["predictor"])
        if codec == "jpeg":
            profile["photometric"] = "ycbcr"
        self.translate(job["input"], job["out"], profile, overview_resampling="average", quiet=True,
                       add_mask=False, config={"GDAL_NUM_THREADS": job["threads"]})


class Tifffile:
    def __init__(self):
        import numpy
        import tifffile
        self.numpy, self.tifffile = numpy, tifffile

    def half(self, pixels):
        """Means of four; a last odd row or column stands for two."""
        np = self.numpy
        room = [(0, side % 2) for side in pixels.shape[:2]] + [(0, 0)] * (pixels.ndim - 2)
        wide = np.pad(pixels, room, "edge").astype(np.float32)
        mean = (wide[::2, ::2] + wide[1::2, ::2] + wide[::2, 1::2] + wide[1::2, 1::2]) / 4
        return mean if pixels.dtype.kind == "f" else np.rint(mean).astype(pixels.dtype)

    def copy(self, job):
        codec, level, tile = job["codec"], int(job["level"]), int(job["tile"])
        settings = {"level": 75} if codec == "jpeg" else {"level": max(level, 1)} if level else {}
        threads = int(job["threads"])
        pixels = self.tifffile.imread(job["input"], maxworkers=threads)
        colour = pixels.ndim == 3 and pixels.dtype == self.numpy.uint8
        more = {"subsampling": (2, 2)} if codec == "jpeg" else {}
        with self.tifffile.TiffWriter(job["out"]) as file:
            reduced = False
            while True:
                file.write(pixels, tile=(tile, tile), compression=codec, compressionargs=settings,
                           predictor=int(job["predictor"]), planarconfig="contig",
                           photometric="rgb" if colour else "minisblack", metadata=None, maxworkers=threads,
                           subfiletype=int(reduced), **more)
                if max(pixels.shape[:2]) <= tile:
                    return
                pixels, reduced = self.half(pixels), True


LIBRARIES = {"libvips": Libvips, "rio-cogeo": RioCogeo, "tifffile": Tifffile}


def memory_line(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(name))


def answer_memory(library, job):
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    rss, anon = memory_line("VmRSS:"), memory_line("RssAnon:")
    library.copy(job)
    return f"{memory_line('VmHWM:') - rss} {max(memory_line('RssAnon:') - anon, 0)}"


def answer_time(library, job):
    wall = cpu = 0
    for _ in range(int(job["repeats"])):
        if os.path.exists(job["out"]):
            os.remove(job["out"])
        start, start_cpu = time.perf_counter(), time.process_time()
        library.copy(job)
        wall += time.perf_counter() - start
        cpu += time.process_time() - start_cpu
    repeats = int(job["repeats"])
    return f"{wall / repeats:.9f} {cpu / repeats:.9f} 0 {os.path.getsize(job['out'])}"


def main():
    library = LIBRARIES[sys.argv[1]]()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # some libraries print
    for line in sys.stdin:
        job = dict(word.split("=", 1) for word in line.rstrip("\n").split("\t"))
        try:
            text = (answer_memory if job["memory"] == "1" else answer_time)(library, job)
        except Exception as error:  # whatever a library raises is its answer
            text = "failed " + " ".join(str(error).split())[:300]
        print(text, file=answers, flush=True)


if __name__ == "__main__":
    main()
