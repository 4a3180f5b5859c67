# SPDX-License-Identifier: Apache-2.0
"""The matrix of Cloud Optimized GeoTIFFs that we write: its dimensions, a choice of cases, and
their pixels. A case has all that one of written_cases.py has, whose rules hold here too, and the
overviews."""
import collections
import random
import zlib

import numpy

import written_cases
from product import few_cases
from written_cases import (CODECS, LOSSY, SAMPLES, empty_part, is_float, is_none, nodata_of,
                           refusal, scale_of, smooth)

# tz_resampling; 0 is the library's choice.
METHODS = ["default", "nearest", "average", "bilinear", "cubic", "lanczos", "gauss", "rms", "mode",
           "min", "max", "median"]
# Codecs that GDAL cannot open are not here: nobody else could say whether the file is right.
CODEC_NAMES = ["none", "lzw", "deflate", "deflate_fast", "zstd_1", "lzma_fast", "packbits", "jpeg",
               "jpeg_ycbcr", "webp", "webp_lossy", "lerc", "lerc_deflate", "lerc_zstd",
               "lerc_lossy"]
TILE_SIZES = {"tiles16": 16, "tiles64": 64, "tiles256": 256, "tiles": 512}

DIMENSIONS = {
    "dtype": ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16",
              "float32", "float64", "bits1", "bits4", "bits12", "complex64"],
    "codec": CODEC_NAMES,
    "predictor": [0, 1, 2, 3],
    "interleave": ["pixel", "band", "tile"],
    "bands": [1, 2, 3, 4],
    "order": ["little", "big"],
    "layout": list(TILE_SIZES),
    "size": [(1, 1), (15, 17), (64, 64), (1, 300), (130, 67), (257, 65), (300, 201), (777, 530)],
    "bigtiff": ["if_needed", "yes", "no", "if_safer"],
    "mask": [False, True],
    "nodata": ["none", "value", "keep", "nan"],
    "sparse": [False, True],
    "alignment": [0],
    "dress": ["bare", "north", "gcps", "items", "palette", "statistics", "rgba"],
    "method": METHODS,
    "overviews": [0, 1, 2, -1],  # 0: as many as it takes; -1: none
    "other_codec": [False, True],  # overviews have a codec of their own
}
CogCase = collections.namedtuple("CogCase", DIMENSIONS)
OTHER_CODEC = "lzw"

# Combinations that are not a case, beside those of written_cases.py.
NONE = [
    ("a palette has no colours between its colours",
     lambda c: c.dress == "palette" and c.method not in ("default", "nearest", "mode")),
    ("complex numbers have no order",
     lambda c: c.dtype == "complex64" and c.method not in ("default", "nearest", "average")),
    ("without overviews a large file is not what the validators want",
     lambda c: c.overviews < 0 and max(c.size) > 512),
    ("an alpha band says which pixels are valid, alone",
     lambda c: c.dress == "rgba" and (c.mask or c.nodata != "none")),
    ("tiles of 16 pixels make this large",
     lambda c: c.layout == "tiles16" and c.size[0] * c.size[1] > 100000),
]


def name_of(case):
    words = [case.dtype, case.codec, f"p{case.predictor}", case.interleave, f"{case.bands}b",
             case.order, case.layout, f"{case.size[0]}x{case.size[1]}", case.bigtiff,
             f"nodata_{case.nodata}", case.dress, case.method, f"overviews{case.overviews}"]
    words += ["mask"] * case.mask + ["sparse"] * case.sparse + ["other_codec"] * case.other_codec
    return "-".join(words)


def chosen_cases(codecs, count):
    """That many: of those in which every two values occur together, or these and more. Always the
    same ones."""
    generator = random.Random(3)
    pool = []
    while len(pool) < 30000:
        case = CogCase(*(generator.choice(values) for values in DIMENSIONS.values()))
        if case.codec in codecs and not refusal(case) and not is_none(case) \
                and not any(strikes(case) for _, strikes in NONE):
            pool.append(case)
    cases = few_cases(pool, 2, DIMENSIONS)
    while len(cases) < count:
        cases.append(generator.choice(pool))
    return [cases[number * len(cases) // count] for number in range(count)]


def level_sizes(case):
    """(width, height) of the image and its overviews: half the size, rounded up."""
    sizes, tile = [case.size], TILE_SIZES[case.layout]
    wanted = case.overviews if case.overviews != 0 else 32
    while len(sizes) <= wanted and max(sizes[-1]) > (tile if case.overviews == 0 else 1):
        sizes.append(tuple(-(-side // 2) for side in sizes[-1]))
    return sizes


# Pixels ------------------------------------------------------------------------------------------


def raw_pixels(case, generator):
    """Something with slopes and noise, so that overviews have something to do, and finite."""
    sample = SAMPLES[case.dtype]
    if case.codec in LOSSY:
        return (smooth(case) * scale_of(case)).astype(sample.array)
    values = smooth(case) + generator.integers(-20, 20, (case.bands, case.size[1], case.size[0]))
    if case.dtype == "int8":
        values = values - 100
    elif sample.format == 2:
        values = values * 100 - 10000
    elif sample.bits < 8:
        values = values.astype("i8") % (1 << sample.bits)
    elif is_float(case):
        values = values / 8
    elif sample.bits > 8:
        values = values * 10
    if case.dtype == "complex64":
        return (values + 1j * values[::-1] / 3).astype("c8")
    low, high = (0, (1 << min(sample.bits, 32)) - 1) if sample.format == 1 else (-1e6, 1e6)
    if case.dtype == "int8":
        low, high = -128, 127
    return numpy.clip(values, low, high).astype(sample.array)


def pixels_of(case):
    """An array [band, row, column]; the same at every run."""
    generator = numpy.random.default_rng(zlib.crc32(name_of(case).encode()))
    pixels = raw_pixels(case, generator)
    nodata = nodata_of(case)
    if case.dress == "rgba":
        pixels[3] = numpy.iinfo(pixels.dtype).max
        pixels[3, :case.size[1] // 3, :case.size[0] // 2] = 0
    if nodata is not None and case.codec not in LOSSY:
        pixels[generator.random(pixels.shape) < 0.1] = nodata
        pixels[:, case.size[1] // 2:, case.size[0] // 2:] = nodata
    if case.sparse:
        pixels[empty_part(case)] = 0 if nodata is None else nodata
    return pixels


def built_codecs(found):
    """Those of the matrix that a build has."""
    return [codec for codec in CODEC_NAMES if codec in found and codec in CODECS]


mask_of = written_cases.mask_of
stored_pixels = written_cases.stored_pixels
