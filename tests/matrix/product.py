# SPDX-License-Identifier: Apache-2.0
"""The matrix of files: its dimensions, the rules for what no writer can make, and a choice of few
cases in which every possible combination of three values occurs."""
import collections
import itertools
import random

import numpy

# A sample: its NumPy type as delivered, bits in the file, TIFF's sample format. Pairs of integers
# are complex; NumPy has no type for them, so they have a last axis of 2.
Sample = collections.namedtuple("Sample", "array bits format pair", defaults=(False,))
SAMPLES = {
    "uint8": Sample("u1", 8, 1), "int8": Sample("i1", 8, 2),
    "uint16": Sample("u2", 16, 1), "int16": Sample("i2", 16, 2),
    "uint32": Sample("u4", 32, 1), "int32": Sample("i4", 32, 2),
    "uint64": Sample("u8", 64, 1), "int64": Sample("i8", 64, 2),
    "float16": Sample("f2", 16, 3), "float24": Sample("f4", 24, 3),
    "float32": Sample("f4", 32, 3), "float64": Sample("f8", 64, 3),
    "complex_int16": Sample("i2", 32, 5, True), "complex_int32": Sample("i4", 64, 5, True),
    "complex64": Sample("c8", 64, 6), "complex128": Sample("c16", 128, 6),
    "bits1": Sample("u1", 1, 1), "bits2": Sample("u1", 2, 1), "bits4": Sample("u1", 4, 1),
    "bits7": Sample("u1", 7, 1), "bits12": Sample("u2", 12, 1), "bits20": Sample("u4", 20, 1),
}

# How far pixels may be from the source: the largest difference, and the mean one.
LOSSY = {"jpeg": (60, 5), "webp_lossy": (60, 5), "lerc_lossy": (0.5, 0.5)}
# And how far from another decoder of the same bytes.
DECODERS_DIFFER = {"jpeg": 2, "webp_lossy": 2}

# TIFF's numbers of those that NVIDIA's libraries have.
LIBRARY_CODECS = {"deflate": 8, "deflate_old": 32946, "zstd": 50000, "lz4": 50004, "jpeg": 7,
                  "jpeg2000": 34712}

BYTE_CODECS = ["none", "packbits", "lzw", "deflate", "deflate_old", "zstd", "lzma", "lz4"]
LERC_CODECS = ["lerc", "lerc_deflate", "lerc_zstd", "lerc_lossy"]
FAX_CODECS = ["ccitt_rle", "ccitt_3", "ccitt_4"]

DIMENSIONS = {
    "writer": ["gdal", "tifffile"],
    "dtype": list(SAMPLES),
    "codec": BYTE_CODECS + ["jpeg", "webp", "webp_lossy"] + LERC_CODECS + ["jpeg2000", "jxl"]
    + FAX_CODECS,
    "predictor": [1, 2, 3],
    "order": ["little", "big"],
    "planar": [1, 2],
    "layout": ["strips", "tiles"],
    "size": [(1, 1), (15, 17), (33, 49), (130, 67)],  # width, height
    "bands": [1, 3, 4],
    "bigtiff": [False, True],
    "fill": [1, 2],  # FillOrder: 2 has the lowest bit of every byte first
}
Case = collections.namedtuple("Case", DIMENSIONS)


def name_of(case):
    width, height = case.size
    return "-".join([case.writer, case.dtype, case.codec, f"p{case.predictor}", case.order,
                     "pixel" if case.planar == 1 else "band", case.layout, f"{width}x{height}",
                     f"{case.bands}b", "bigtiff" if case.bigtiff else "classic"]
                    + (["turned"] if case.fill == 2 else []))


# Rules: (reason, whether it strikes). Those of the format first, then those of one writer. The
# first that strikes is counted.

def whole_bytes(case):
    return SAMPLES[case.dtype].bits in (8, 16, 32, 64)


def is_complex(case):
    return SAMPLES[case.dtype].format in (5, 6)


def is_float(case):
    return SAMPLES[case.dtype].format == 3


IS_INT = {name for name, s in SAMPLES.items() if s.format in (1, 2)}
LERC_TYPES = {"uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64"}

RULES = [
    ("one band is stored in one way", lambda c: c.bands == 1 and c.planar == 2),
    ("bits are turned here, in files of tifffile with a codec of bytes",
     lambda c: c.fill == 2 and (c.writer != "tifffile" or c.codec not in BYTE_CODECS)),
    ("a fax has one bit and one band",
     lambda c: c.codec in FAX_CODECS and (c.dtype != "bits1" or c.bands != 1)),
    ("JPEG has 8 bits", lambda c: c.codec == "jpeg" and c.dtype != "uint8"),
    ("WebP has 8 bits in 3 or 4 bands together",
     lambda c: c.codec.startswith("webp")
     and (c.dtype != "uint8" or c.bands == 1 or c.planar == 2)),
    ("LERC has no such type", lambda c: c.codec in LERC_CODECS and c.dtype not in LERC_TYPES),
    ("JPEG 2000 is written for 8 and 16 bits",
     lambda c: c.codec == "jpeg2000" and c.dtype not in ("uint8", "int8", "uint16", "int16")),
    ("JPEG XL is written for 8 and 16 bits and floats",
     lambda c: c.codec == "jxl" and c.dtype not in ("uint8", "uint16", "float16", "float32")),
    ("a predictor needs a codec of bytes",
     lambda c: c.predictor > 1 and c.codec not in ("lzw", "deflate", "deflate_old", "zstd", "lzma",
                                                   "lz4")),
    ("predictor 2 needs whole bytes, and no complex samples",
     lambda c: c.predictor == 2 and (not whole_bytes(c) or is_complex(c))),
    ("predictor 3 needs floats", lambda c: c.predictor == 3 and not is_float(c)),
    ("GDAL writes no such codec",
     lambda c: c.writer == "gdal" and c.codec in ("deflate_old", "lz4", "jpeg2000", "jxl")),
    ("GDAL writes no pairs of 32-bit integers here",
     lambda c: c.writer == "gdal" and c.dtype == "complex_int32"),
    ("GDAL turns bytes before it rounds values, which leaves nothing to compare",
     lambda c: c.codec == "lerc_lossy" and c.order == "big" and SAMPLES[c.dtype].bits > 8),
    ("tifffile writes no such codec",
     lambda c: c.writer == "tifffile" and c.codec in FAX_CODECS + ["lerc_lossy"]),
    ("tifffile writes no such sample",
     lambda c: c.writer == "tifffile"
     and (c.dtype == "float24" or c.dtype.startswith("bits"))),
    ("tifffile's JPEG 2000, JPEG XL and LERC are little-endian",
     lambda c: c.writer == "tifffile" and c.order == "big" and SAMPLES[c.dtype].bits > 8
     and c.codec in ["jpeg2000", "jxl"] + LERC_CODECS),
    ("tifffile's JPEG has three bands together",
     lambda c: c.writer == "tifffile" and c.codec == "jpeg" and (c.planar == 2 or c.bands != 3)),
    ("tifffile's predictor 2 is for integers",
     lambda c: c.writer == "tifffile" and c.predictor == 2 and c.dtype not in IS_INT),
]


def struck_by(case):
    for reason, strikes in RULES:
        if strikes(case):
            return reason
    return None


def possible_cases():
    """All cases that can be written, in order, and {reason: number of those that cannot}."""
    possible, skipped = [], collections.Counter()
    for values in itertools.product(*DIMENSIONS.values()):
        case = Case(*values)
        reason = struck_by(case)
        if reason:
            skipped[reason] += 1
        else:
            possible.append(case)
    return possible, skipped


def some_of_each(cases, codecs, count):
    """That many cases of each codec. Always the same ones."""
    generator = random.Random(3)
    chosen = []
    for codec in codecs:
        those = [case for case in cases if case.codec == codec]
        chosen += generator.sample(those, min(count, len(those)))
    return chosen


def few_cases(possible, together, dimensions=DIMENSIONS, tries=12):
    """Few cases with every combination of that many values that any possible case has. Always the
    same ones."""
    generator = random.Random(1)
    indexes = [{value: i for i, value in enumerate(values)} for values in dimensions.values()]
    table = numpy.array([[index[value] for index, value in zip(indexes, case)]
                         for case in possible], numpy.int64)
    groups = list(itertools.combinations(range(len(dimensions)), together))
    # Each combination is a number: the group's in the upper bits, its values' below.
    codes = numpy.stack([sum(table[:, column] << 6 * i for i, column in enumerate(group))
                         + (k << 6 * together) for k, group in enumerate(groups)], 1)
    numbers, places, counts = numpy.unique(codes, return_inverse=True, return_counts=True)
    places = places.reshape(codes.shape)
    is_open = numpy.ones(len(numbers), bool)
    order = numpy.argsort(places, axis=None, kind="stable") // len(groups)  # cases by combination
    starts = numpy.concatenate([[0], numpy.cumsum(counts)])
    chosen = []
    for rare in numpy.argsort(counts, kind="stable"):
        if not is_open[rare]:
            continue
        candidates = order[starts[rare]:starts[rare + 1]]
        rows = [int(candidates[generator.randrange(len(candidates))]) for _ in range(tries)]
        best = max(rows, key=lambda row: int(is_open[places[row]].sum()))
        chosen.append(possible[best])
        is_open[places[best]] = False
    return chosen
