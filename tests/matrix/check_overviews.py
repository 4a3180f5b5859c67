#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Overviews beside those that GDAL builds.

    check_overviews.py OVERVIEW_DUMP

Every method that both have, of several types and of even and odd sizes, where all pixels are valid
and where nodata, a mask or an alpha band says which are. What must be the same and how far the rest
may differ is in BOUNDS and DIFFERENCES; doc/numerics.md says why. Prints TAP; needs .venv.
"""
import itertools
import pathlib
import subprocess
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from tap import Tap, skip_all  # noqa: E402

try:
    import numpy
    import rasterio
except ImportError as error:
    skip_all("overviews", f"a package of tests/requirements.txt is missing: {error}")

METHODS = ["nearest", "average", "bilinear", "cubic", "lanczos", "gauss", "rms", "mode"]
TYPES = {"uint8": 1, "uint16": 3, "int16": 4, "uint32": 5, "int32": 6, "float32": 10, "float64": 11}
SIZES = [(128, 96), (131, 67), (5, 5), (1, 7)]
KINDS = ["plain", "nodata", "mask", "alpha"]
# Integers: at most so many of a thousand samples may differ, by 1: GDAL computes filters, and means of
# signed integers, in single precision, and rms in such a way that its square is the nearest. Floating
# point: relative to the largest sample.
ROUNDED = {"average": 1, "bilinear": 4, "cubic": 4, "lanczos": 4, "rms": 4}
FLOAT_BOUNDS = {"float32": 3e-7, "float64": 1e-11}
# Where GDAL has another rule: it counts masked pixels of bytes in a mode, and takes the mode of the
# mask; it resamples an alpha band where it is not 0 only, and alpha is a weight of its filters (here
# it is 0 or always the same, so that only alpha itself differs).
NOT_COMPARED = [("mask", "mode"), ("alpha", "mode")]


def samples_of(dtype, method, shape, generator):
    if method == "mode":
        return generator.integers(0, 5, shape).astype(dtype)
    if dtype[0] == "f":
        return generator.normal(100, 50, shape).astype(dtype)
    info = numpy.iinfo(dtype)
    return generator.integers(max(info.min, -30000), min(info.max, 60000), shape).astype(dtype)


def make_raster(dtype, method, kind, width, height):
    """(pixels, mask or None, nodata or None)"""
    generator = numpy.random.default_rng(11)
    pixels = samples_of(dtype, method, (4 if kind == "alpha" else 1, height, width), generator)
    valid = generator.random((height, width)) >= 0.1
    valid[height // 4:height // 2, width // 4:width // 2] = False
    if kind == "nodata":
        pixels[:, ~valid] = 7
    if kind == "alpha":
        pixels[3] = numpy.where(valid, 200, 0)
    return pixels, valid if kind == "mask" else None, 7 if kind == "nodata" else None


def ask_gdal(path, method, pixels, mask, nodata):
    """(pixels, mask) of the first overview."""
    bands, height, width = pixels.shape
    options = {"driver": "GTiff", "width": width, "height": height, "count": bands,
               "dtype": pixels.dtype, "nodata": nodata}
    if bands == 4:
        options.update(photometric="rgb", alpha="yes")
    with rasterio.open(path, "w", **options) as file:
        file.write(pixels)
        if mask is not None:
            file.write_mask(mask)
    with rasterio.open(path, "r+") as file:
        file.build_overviews([2], rasterio.enums.Resampling[method])
    with rasterio.open(path, OVERVIEW_LEVEL=0) as file:
        return file.read(), file.read_masks(1) != 0


def ask_us(process, method, pixels, mask, nodata):
    bands, height, width = pixels.shape
    bits = 8 * pixels.dtype.itemsize
    line = (f"{method} {TYPES[pixels.dtype.name]} {bits} {bands} "
            f"{'none' if nodata is None else nodata} {int(mask is not None)} "
            f"{4 if bands == 4 else 0} {width} {height}\n")
    process.stdin.write(line.encode() + pixels.tobytes())
    if mask is not None:
        process.stdin.write(numpy.where(mask, 255, 0).astype("u1").tobytes())
    process.stdin.flush()
    shape = (bands, (height + 1) // 2, (width + 1) // 2)
    count = int(numpy.prod(shape))
    found = numpy.frombuffer(process.stdout.read(count * pixels.dtype.itemsize), pixels.dtype)
    flags = numpy.frombuffer(process.stdout.read(count // bands), "u1")
    return found.reshape(shape), flags.reshape(shape[1:]) != 0


def validity(found, flags, nodata):
    return flags if nodata is None else flags & (found[0] != nodata)


def compare(case, ours, theirs, nodata):
    """(what is wrong or None, how many samples of integers differ)"""
    dtype, method, kind = case
    valid = validity(*ours, nodata)
    mine, other = ours[0], theirs[0]
    if kind == "alpha" and method != "nearest":
        mine, other = mine[:3], other[:3]
    elif not numpy.array_equal(valid, theirs[1]):
        return f"{int((valid != theirs[1]).sum())} pixels are valid in one only", 0
    elif not numpy.array_equal(mine[:, ~valid], other[:, ~valid]):
        return "what is not valid has other values", 0
    gap = numpy.abs(mine[:, valid].astype("f8") - other[:, valid].astype("f8"))
    worst = float(gap.max(initial=0))
    if dtype in FLOAT_BOUNDS:
        bound = FLOAT_BOUNDS[dtype] * float(numpy.abs(other).max())
        return (f"differs by {worst}" if worst > bound else None), 0
    rounded = int((gap > 0).sum())
    share = 0 if method == "average" and dtype[0] == "u" else ROUNDED.get(method, 0)
    if worst > 1 or rounded > share * (1 + gap.size / 1000):
        return f"{rounded} of {gap.size} samples differ, by up to {worst}", rounded
    return None, rounded


def check_method(tap, process, folder, method):
    wrong, count, samples, rounded = [], 0, 0, 0
    for dtype, kind, size in itertools.product(TYPES, KINDS, SIZES):
        if (kind, method) in NOT_COMPARED or (kind == "alpha" and dtype not in ("uint8", "uint16")):
            continue
        pixels, mask, nodata = make_raster(dtype, method, kind, *size)
        theirs = ask_gdal(f"{folder}/{dtype}-{method}-{kind}-{size[0]}.tif", method, pixels, mask,
                          nodata)
        ours = ask_us(process, method, pixels, mask, nodata)
        problem, more = compare((dtype, method, kind), ours, theirs, nodata)
        if problem:
            wrong.append(f"{dtype} {kind} {size[0]}x{size[1]}: {problem}")
        count += 1
        samples += ours[0].size
        rounded += more
    tap.check(f"{method}: {count} overviews are GDAL's, {rounded} of {samples} samples rounded "
              "otherwise", not wrong, "\n".join(wrong))


def main():
    warnings.simplefilter("ignore")
    tap = Tap()
    process = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    env = rasterio.Env(GDAL_TIFF_INTERNAL_MASK="YES", GDAL_PAM_ENABLED="NO", GDAL_NUM_THREADS="1")
    with env, tempfile.TemporaryDirectory() as folder:
        for method in METHODS:
            check_method(tap, process, folder, method)
    process.stdin.close()
    tap.check("the program ends well", process.wait() == 0)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
