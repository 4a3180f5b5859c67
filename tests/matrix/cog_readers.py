# SPDX-License-Identifier: Apache-2.0
"""Readers of all levels and masks of Cloud Optimized GeoTIFFs: ours, GDAL and tifffile. Each gives
a list with (pixels [band, row, column], mask) of each level; the mask of ours and of GDAL's is 0 or
255 for each sample, that of tifffile for each pixel, or None. And GDAL's own script."""
import json
import pathlib
import subprocess
import sys

import numpy
import rasterio
import tifffile

from written_cases import SAMPLES
from written_readers import LevelDump

ROOT = pathlib.Path(__file__).resolve().parents[2]


class CogDump(LevelDump):
    """Our reader: one process for all files."""

    def read(self, path, case):
        """All levels, or the error as text."""
        self.process.stdin.write(path.encode() + b"\n")
        self.process.stdin.flush()
        array, levels = numpy.dtype(SAMPLES[case.dtype].array), []
        while True:
            line = self.process.stdout.readline().decode(errors="replace").split()
            if not line or line[0] == "error":
                return " ".join(line) or "the program ended"
            if line[0] == "end":
                return levels
            shape = tuple(map(int, line[2:5]))
            count = int(numpy.prod(shape))
            pixels = numpy.frombuffer(self.process.stdout.read(count * array.itemsize), array)
            mask = numpy.frombuffer(self.process.stdout.read(count), "u1")
            levels.append((pixels.reshape(shape), mask.reshape(shape)))


def read_gdal(path, case):
    def level(file):
        masks = file.read_masks()
        if case.dress == "rgba":
            masks[-1] = masks[0]  # to GDAL the alpha band itself is valid everywhere
        return file.read().astype(SAMPLES[case.dtype].array), masks

    with rasterio.open(path) as file:
        count, levels = len(file.overviews(1)), [level(file)]
    for index in range(count):
        with rasterio.open(path, OVERVIEW_LEVEL=index) as file:
            levels.append(level(file))
    return levels


def read_tifffile(path, case):
    with tifffile.TiffFile(path) as file:
        pages = [(page.tags[254].value if 254 in page.tags else 0, page) for page in file.pages]
        masks = [page.asarray() != 0 for kind, page in pages if kind & 4]
        images = [bands_first(page, case) for kind, page in pages if not kind & 4]
    return list(zip(images, masks or [None] * len(images)))


def bands_first(page, case):
    shape = (page.imagelength, page.imagewidth)
    pixels = page.asarray()
    if case.bands > 1 and page.planarconfig == 1:
        return numpy.moveaxis(pixels.reshape(shape + (case.bands,)), -1, 0)
    return pixels.reshape((case.bands,) + shape)


class GdalScript:
    """GDAL's own script, in a process with GDAL 3.12."""

    def __init__(self):
        library, scripts = (subprocess.run([str(ROOT / f"tools/oracle/{name}.sh")], text=True,
                                           check=True, stdout=subprocess.PIPE).stdout.strip()
                            for name in ("fetch_gdal", "fetch_cog_check"))
        program = pathlib.Path(__file__).resolve().parent / "cog_gdal_script.py"
        self.process = subprocess.Popen([sys.executable, str(program), library, scripts], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def check(self, path):
        """What it complains about, or None."""
        self.process.stdin.write(path + "\n")
        self.process.stdin.flush()
        errors, warnings = json.loads(self.process.stdout.readline() or '[["it ended"], []]')
        return "; ".join(errors + warnings) or None

    def end(self):
        self.process.stdin.close()
        return self.process.wait()
