#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a file says of its image, copied to another file, beside what GDAL reads of both.

    check_spec.py SPEC_COPY_DUMP

Files that GDAL writes now: types, transforms, coordinate reference systems, control points, nodata,
metadata, colours. GDAL's report about the copy must be that about the original, to
the last bit of a number; and tifffile must find the copy's directory in order. Prints TAP; needs
.venv.
"""
import logging
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from tap import Tap, skip_all  # noqa: E402

try:
    import rasterio
    import tifffile
    from rasterio.control import GroundControlPoint
except ImportError as error:
    skip_all("spec", f"a package of tests/requirements.txt is missing: {error}")

TYPES = {"uint8": [0, 255, None], "int8": [-128, None], "uint16": [65535, None],
         "int16": [-32768, None], "uint32": [4294967295, None], "int32": [-2147483648, None],
         "float32": [math.nan, -math.inf, -3.4028234663852886e38, 0.1, -9999, None],
         "float64": [math.nan, 1.7976931348623157e308, 0.1, None], "complex64": [None, -9999],
         "int64": [None], "uint64": [None]}
SYSTEMS = [None, "EPSG:32633", "EPSG:4326", "EPSG:3857", "EPSG:2056", "EPSG:32633+5773",
           "+proj=laea +lat_0=12.3 +lon_0=45.6 +x_0=1 +y_0=2 +ellps=bessel +units=m"]
TEXTS = ["plain", "a<b>&\"c\" 'd' ]]>", "\u00e4\u00f6 \U0001f5fa", "two\nlines\tand a tab",
         "&amp; &#65;", "x" * 3000]
HIDDEN = {"DERIVED_SUBDATASETS", "IMAGE_STRUCTURE", "SUBDATASETS", "FILE_STRUCTURE"}


def transform(generator):
    def number(size):
        return (generator.random() - 0.5) * size
    kind = generator.randrange(4)
    if kind == 0:
        return rasterio.Affine(abs(number(10)) + 1e-9, 0, number(1e7), 0, -abs(number(10)) - 1e-9,
                               number(1e7))
    if kind == 1:
        return rasterio.Affine(number(10), number(5), number(1e7), number(5), number(9) - 20,
                               number(1e7))
    if kind == 2:
        return rasterio.Affine(1 / 3600, 0, number(360), 0, -1 / 3600, number(180))
    return None


def write(path, dtype, nodata, generator):
    bands = generator.choice([1, 2, 3, 4, 7])
    profile = {"driver": "GTiff", "width": generator.randint(1, 90), "count": bands,
               "height": generator.randint(1, 90), "dtype": dtype, "nodata": nodata,
               "crs": generator.choice(SYSTEMS), "transform": transform(generator),
               "BIGTIFF": generator.choice(["YES", "NO"]),
               "ENDIANNESS": generator.choice(["LITTLE", "BIG"])}
    if profile["transform"] is None:
        del profile["transform"]
    elif generator.randrange(3) == 0:
        profile["AREA_OR_POINT"] = "Point"
    if dtype == "uint8" and bands == 1 and generator.randrange(2):
        profile["photometric"] = generator.choice(["MINISWHITE", "MINISBLACK"])
    point = profile.pop("AREA_OR_POINT", None)
    with rasterio.open(path, "w", **profile) as file:
        if point:
            file.update_tags(AREA_OR_POINT=point)
        for index in range(generator.randrange(4)):
            file.update_tags(**{f"k{index}": generator.choice(TEXTS)})
            file.update_tags(ns="own", **{f"<{index}&>": generator.choice(TEXTS)})
            file.update_tags(generator.randint(1, bands), **{f"b{index}": generator.choice(TEXTS)})
        # Heights of a single band are scaled by the third numbers of GeoTIFF's tags.
        if generator.randrange(2) and not (bands == 1 and "+" in str(profile["crs"])):
            file.scales = [generator.random() + 0.1 for _ in range(bands)]
            file.offsets = [generator.random() * 1e9 for _ in range(bands)]
            file.units = ["m & s"] * bands
            file.descriptions = [generator.choice(TEXTS[:3]) for _ in range(bands)]
        if generator.randrange(3) == 0:
            file.update_tags(TIFFTAG_SOFTWARE="GDAL", TIFFTAG_XRESOLUTION="72.5",
                             TIFFTAG_IMAGEDESCRIPTION="of something")
        if generator.randrange(3) == 0 and "transform" not in profile:
            points = [GroundControlPoint(generator.random() * 90, generator.random() * 90,
                                         generator.random(), generator.random(), 3)
                      for _ in range(5)]
            file.gcps = points, rasterio.crs.CRS.from_epsg(4326)


def told(path):
    """All that GDAL says of a file but its pixels and their layout."""
    with rasterio.open(path) as file:
        spaces = sorted(set(file.tag_namespaces()) - HIDDEN)
        bands = range(1, file.count + 1)
        points, points_crs = file.gcps
        return {"shape": (file.width, file.height, file.dtypes),
                "transform": [number.hex() for number in file.get_transform()],
                "crs": file.crs.to_wkt() if file.crs else None,
                "gcps": [(p.row, p.col, p.x, p.y, p.z) for p in points],
                "gcps_crs": points_crs.to_wkt() if points_crs else None,
                "nodata": repr(file.nodata), "tags": file.tags(),
                "spaces": [file.tags(ns=space) for space in spaces],
                "band_tags": [file.tags(band) for band in bands],
                "descriptions": file.descriptions, "units": file.units,
                "scales": file.scales, "offsets": file.offsets, "colors": file.colorinterp}


def order_of(path):
    """What tifffile finds wrong with a directory, or None."""
    with tifffile.TiffFile(path) as file:
        codes = [tag.code for tag in file.pages[0].tags]
        return None if codes == sorted(set(codes)) else f"tags {codes}"


def check(process, folder, dtype, nodata, seed):
    """What is wrong with one copy, or None."""
    generator = random.Random(seed)
    first, second = f"{folder}/first.tif", f"{folder}/second.tif"
    write(first, dtype, nodata, generator)
    process.stdin.write(f"{seed % 4} {first} {second}\n")
    process.stdin.flush()
    answer = process.stdout.readline().strip()
    if answer != "ok":
        return answer or "the program ended"
    before, after = told(first), told(second)
    for key, value in before.items():
        if after[key] != value:
            return f"{key}: {value!r:.200} became {after[key]!r:.200}"
    return order_of(second)


def main():
    warnings.simplefilter("ignore")
    logging.getLogger("tifffile").setLevel(logging.CRITICAL)
    process = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    wrong, seed = [], 0
    env = rasterio.Env(GDAL_PAM_ENABLED="NO", GDAL_NUM_THREADS="1")
    with env, tempfile.TemporaryDirectory() as folder:
        for dtype, values in TYPES.items():
            for nodata in values:
                for _ in range(12):
                    problem = check(process, folder, dtype, nodata, seed)
                    if problem:
                        wrong.append(f"{dtype}, nodata {nodata}, seed {seed}: {problem}")
                    seed += 1
    process.stdin.close()
    tap = Tap()
    tap.check("the program copied every file and ended well", process.wait() == 0)
    tap.check(f"GDAL says the same of {seed} files and of their copies", not wrong,
              "\n".join(wrong[:20] + [f"{len(wrong)} in all"]))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
