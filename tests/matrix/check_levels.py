#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every level and every mask of files that GDAL writes now, beside what GDAL reads of them.

    check_levels.py LEVEL_DUMP

Plain GeoTIFF and COG, of several types and codecs, with overviews; validity by nodata, by a mask of
the file's own, by an alpha band, or all valid; some tiles left out. Pixels and masks must be
GDAL's, lossy ones within a bound. Prints TAP; needs .venv.
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
    import rasterio.shutil
except ImportError as error:
    skip_all("levels", f"a package of tests/requirements.txt is missing: {error}")

WIDTH, HEIGHT = 301, 203
TYPES = {"uint8": "7", "int16": "-5", "uint16": "0", "float32": "nan", "float64": "-9999.5",
         "int32": "1000000", "int8": "-1", "uint32": "4294967295", "int64": "-4", "uint64": "9"}
CODECS = ["none", "lzw", "deflate", "zstd", "lerc", "jpeg", "webp"]
KINDS = ["plain", "nodata", "mask", "alpha", "sparse"]
DRIVERS = ["GTiff", "COG"]
LOSSY = {"jpeg": 3, "webp": 3}


def possible(dtype, codec, kind, _driver):
    if codec in ("jpeg", "webp") and dtype != "uint8":
        return False
    if codec == "lerc" and dtype in ("int64", "uint64"):
        return False
    if codec == "lerc" and kind == "alpha":
        return False  # the alpha band becomes the blob's mask, and what it hides is lost
    if codec in ("jpeg", "webp") and kind in ("nodata", "sparse", "alpha"):
        return False
    if dtype in ("int64", "uint64") and kind in ("nodata", "sparse"):
        return False  # rasterio 1.4 does not come back from writing it
    return kind != "alpha" or dtype in ("uint8", "uint16")


def pixels_of(dtype, bands, lossy):
    row, column = numpy.ogrid[:HEIGHT, :WIDTH]
    smooth = 100 + 60 * numpy.sin(column / 31) * numpy.cos(row / 23)
    pixels = numpy.stack([smooth + 10 * band for band in range(bands)]).astype(dtype)
    if not lossy:
        generator = numpy.random.default_rng(7)
        pixels[generator.random(pixels.shape) < 0.2] = 3
    return pixels


def write(path, dtype, codec, kind, driver):
    bands = 4 if kind == "alpha" else 3
    pixels = pixels_of(dtype, bands, codec in LOSSY)
    options = {"driver": "GTiff", "width": WIDTH, "height": HEIGHT, "count": bands, "dtype": dtype,
               "tiled": True, "blockxsize": 64, "blockysize": 64}
    if codec != "none" and driver == "GTiff":
        options["compress"] = codec
    if driver == "GTiff" and codec == "jpeg":
        options["photometric"] = "ycbcr"
    if kind in ("nodata", "sparse"):
        options["nodata"] = float(TYPES[dtype]) if dtype[:3] == "flo" else int(TYPES[dtype])
        if kind == "nodata":
            pixels[:, 20:90, 30:200] = options["nodata"]
        else:
            options["sparse_ok"] = True
            pixels[:, 64:192, 64:192] = options["nodata"]
    if kind == "alpha":
        options["photometric"] = "rgb"
        options["alpha"] = "yes"
        pixels[3] = numpy.iinfo(dtype).max
        pixels[3, 50:150, 40:90] = 0
    first = path if driver == "GTiff" else path + ".first.tif"
    with rasterio.open(first, "w", **options) as file:
        file.write(pixels)
        if kind == "mask":
            mask = numpy.full((HEIGHT, WIDTH), 255, "u1")
            mask[10:100, 60:250] = 0
            file.write_mask(mask)
    with rasterio.open(first, "r+") as file:
        file.build_overviews([2, 4], rasterio.enums.Resampling.nearest)
    if driver == "COG":
        more = {"sparse_ok": True} if kind == "sparse" else {}
        rasterio.shutil.copy(first, path, driver="COG", blocksize=64,
                             compress=codec if codec != "none" else "NONE",
                             overviews="AUTO", **more)
        pathlib.Path(first).unlink()


def read_level(file):
    masks = file.read_masks()
    if file.colorinterp[-1] == rasterio.enums.ColorInterp.alpha:
        masks[-1] = masks[0]  # to GDAL the alpha band itself is valid everywhere
    return file.read(), masks


def read_gdal(path):
    """[(pixels, masks)] of each level."""
    with rasterio.open(path) as file:
        overviews = file.overviews(1)
        levels = [read_level(file)]
    for index in range(len(overviews)):
        with rasterio.open(path, OVERVIEW_LEVEL=index) as file:
            levels.append(read_level(file))
    return levels


def read_ours(process, path):
    """The same, or the error as text."""
    process.stdin.write(path.encode() + b"\n")
    process.stdin.flush()
    levels = []
    while True:
        line = process.stdout.readline().decode(errors="replace").split()
        if not line or line[0] == "error":
            return " ".join(line) or "the program ended"
        if line[0] == "end":
            return levels
        dtype = numpy.dtype(line[1])
        shape = tuple(map(int, line[2:5]))
        count = int(numpy.prod(shape))
        pixels = numpy.frombuffer(process.stdout.read(count * dtype.itemsize), dtype)
        mask = numpy.frombuffer(process.stdout.read(count), "u1")
        levels.append((pixels.reshape(shape), mask.reshape(shape)))


def compare(ours, theirs, bound):
    """What is wrong, or None."""
    if isinstance(ours, str):
        return ours
    if len(ours) != len(theirs):
        return f"{len(ours)} levels, not {len(theirs)}"
    for index, (mine, other) in enumerate(zip(ours, theirs)):
        if mine[0].shape != other[0].shape or mine[0].dtype != other[0].dtype:
            return f"level {index}: {mine[0].shape} of {mine[0].dtype}, not {other[0].shape}"
        if bound:
            gap = numpy.abs(mine[0].astype("f8") - other[0].astype("f8")).max()
            if gap > bound:
                return f"level {index}: differs by {gap}"
        elif not numpy.array_equal(mine[0], other[0], equal_nan=mine[0].dtype.kind == "f"):
            return f"level {index}: {int((mine[0] != other[0]).sum())} pixels differ"
        valid = numpy.where(other[1] != 0, 255, 0)
        if not numpy.array_equal(mine[1], valid):
            return f"level {index}: {int((mine[1] != valid).sum())} of the mask differ"
    return None


def main():
    warnings.simplefilter("ignore")
    process = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    wrong, levels, masked, count = [], 0, 0, 0
    env = rasterio.Env(GDAL_TIFF_INTERNAL_MASK="YES", GDAL_PAM_ENABLED="NO", GDAL_NUM_THREADS="1")
    with env, tempfile.TemporaryDirectory() as folder:
        for case in itertools.product(TYPES, CODECS, KINDS, DRIVERS):
            if not possible(*case):
                continue
            path = f"{folder}/{'-'.join(case)}.tif"
            write(path, *case)
            theirs = read_gdal(path)
            problem = compare(read_ours(process, path), theirs, LOSSY.get(case[1], 0))
            if problem:
                wrong.append(f"{'-'.join(case)}: {problem}")
            levels += len(theirs)
            masked += any((mask == 0).any() for _, mask in theirs)
            count += 1
            pathlib.Path(path).unlink()
    process.stdin.close()
    tap = Tap()
    tap.check("the program read every file and ended well", process.wait() == 0)
    tap.check(f"levels and masks are those that GDAL reads ({count} files, {levels} levels)",
              not wrong, "\n".join(wrong[:20] + [f"{len(wrong)} in all"]))
    tap.check("some pixels were invalid", masked > count // 4)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
