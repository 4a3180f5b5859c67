# SPDX-License-Identifier: Apache-2.0
"""The matrix of files that we write: its dimensions, what the library has to refuse, a choice of
cases, and their pixels."""
import collections
import itertools
import random
import zlib

import numpy

from product import SAMPLES as READ_SAMPLES
from product import Sample, few_cases
from writers import floats, integers

# As in product.py, by the names that types have there; the bits of narrow ones are in their names.
SAMPLES = {name: sample for name, sample in READ_SAMPLES.items() if name != "float24"}
SAMPLES |= {"complex_float16": Sample("f2", 32, 6, True), "signed12": Sample("i2", 12, 2)}
NARROW = {"bits1": "uint8", "bits2": "uint8", "bits4": "uint8", "bits7": "uint8",
          "bits12": "uint16", "bits20": "uint32", "signed12": "int16"}
LIBRARY_NAMES = {"complex64": "complex_float32", "complex128": "complex_float64"} | NARROW

# TIFF's number, and members of tz_write_options.
CODECS = {
    "none": (1, {}), "packbits": (32773, {}), "lzw": (5, {}),
    "deflate": (8, {}), "deflate_fast": (8, {"effort": -1}), "deflate_12": (8, {"effort": 12}),
    "zstd": (50000, {}), "zstd_1": (50000, {"effort": 1}),
    "lzma": (34925, {}), "lzma_fast": (34925, {"effort": -1}),
    "lz4": (50004, {}),
    "jpeg": (7, {"quality": 95}), "jpeg_both": (7, {"quality": 95, "jpeg_tables": 3}),
    "jpeg_none": (7, {"quality": 95, "jpeg_tables": 4}),
    "jpeg_ycbcr": (7, {"quality": 95, "photometric": 6}),
    "jpeg_ycbcr_11": (7, {"quality": 95, "photometric": 6, "jpeg_subsampling[0]": 1,
                          "jpeg_subsampling[1]": 1}),
    "webp": (50001, {"lossless": 1}), "webp_lossy": (50001, {"quality": 95}),
    "lerc": (34887, {}), "lerc_deflate": (34887, {"lerc_compression": 1}),
    "lerc_zstd": (34887, {"lerc_compression": 2}), "lerc_lossy": (34887, {"max_error": 0.5}),
    "jpeg2000": (34712, {}), "jpeg2000_lossy": (34712, {"lossless": 2, "quality": 95}),
    "jxl": (50002, {}), "jxl_lossy": (50002, {"lossless": 2, "distance": 0.5}),
}
# How far pixels may be from what was written: the largest difference, and the mean one.
LOSSY = {"jpeg": (20, 3), "jpeg_both": (20, 3), "jpeg_none": (20, 3), "jpeg_ycbcr": (70, 5),
         "jpeg_ycbcr_11": (40, 5), "webp_lossy": (60, 5), "lerc_lossy": (0.5, 0.5),
         "jpeg2000_lossy": (80, 16),
         "jxl_lossy": (70, 6)}
# And how far the pixels of two decoders of the same bytes.
DECODERS_DIFFER = {"jpeg": 1, "jpeg_both": 1, "jpeg_none": 1, "jpeg_ycbcr": 16, "jpeg_ycbcr_11": 2,
                   "webp_lossy": 2,
                   "jpeg2000_lossy": 1, "jxl_lossy": 1}
PREDICTED = {"lzw", "deflate", "deflate_fast", "deflate_12", "zstd", "zstd_1", "lzma", "lzma_fast"}

# Width and height of tiles, or None and the rows of strips; 0 is the library's own choice.
LAYOUTS = {"tiles16": (16, 16), "tiles64": (64, 64), "tiles256": (256, 256), "tiles": (0, 0),
           "tiles48x16": (48, 16), "strips": (None, 0), "strips1": (None, 1), "strips5": (None, 5),
           "strips16": (None, 16), "strip": (None, 1 << 20)}

DIMENSIONS = {
    "dtype": list(SAMPLES),
    "codec": list(CODECS),
    "predictor": [0, 1, 2, 3],  # 0: the library's choice
    "interleave": ["pixel", "band", "tile"],
    "bands": [1, 2, 3, 4, 5],
    "order": ["little", "big"],
    "layout": list(LAYOUTS),
    "size": [(1, 1), (15, 17), (33, 49), (130, 67), (257, 65), (300, 200)],  # width, height
    "bigtiff": ["if_needed", "yes", "no", "if_safer"],
    "mask": [False, True],
    "nodata": ["none", "value", "keep", "nan"],  # keep: NaN is kept beside nodata
    "sparse": [False, True],
    "alignment": [0, 16, 512],
    "dress": ["bare", "north", "turned", "point", "gcps", "keys", "items", "tags", "palette",
              "statistics", "heights", "rpc", "rgba"],
}
Case = collections.namedtuple("Case", DIMENSIONS)
PLAIN = Case("uint8", "none", 0, "pixel", 1, "little", "tiles16", (15, 17), "if_needed", False,
             "none", False, 0, "bare")
BASE = ["dtype", "codec", "predictor", "interleave", "bands", "order"]  # what codecs look at


def name_of(case):
    words = [case.dtype, case.codec, f"p{case.predictor}", case.interleave, f"{case.bands}b",
             case.order, case.layout, f"{case.size[0]}x{case.size[1]}", case.bigtiff,
             f"nodata_{case.nodata}", f"a{case.alignment}", case.dress]
    words += ["mask"] * case.mask + ["sparse"] * case.sparse
    return "-".join(words)


# Rules -------------------------------------------------------------------------------------------


def bits_of(case):
    return SAMPLES[case.dtype].bits


def is_lerc(case):
    return case.codec.startswith("lerc")


def is_float(case):
    return SAMPLES[case.dtype].format == 3


def tile_samples(case):
    return case.bands if case.interleave == "pixel" else 1


LERC_TYPES = {"uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64"}
JPEG2000_TYPES = {"uint8", "int8", "uint16", "int16"}
JXL_TYPES = {"jxl": {"uint8", "uint16", "float32"}, "jxl_lossy": {"uint8", "uint16"}}

# What the library must refuse: (reason, whether it strikes).
REFUSED = [
    ("JPEG has 8 bits", lambda c: c.codec.startswith("jpeg_") or c.codec == "jpeg",
     lambda c: c.dtype != "uint8"),
    ("JPEG has up to 4 bands together", lambda c: c.codec in ("jpeg", "jpeg_both", "jpeg_none"),
     lambda c: tile_samples(c) > 4),
    ("YCbCr is made of 3 bands together", lambda c: c.codec.startswith("jpeg_ycbcr"),
     lambda c: tile_samples(c) != 3),
    ("WebP has 3 or 4 bands of 8 bits together", lambda c: c.codec.startswith("webp"),
     lambda c: c.dtype != "uint8" or tile_samples(c) not in (3, 4)),
    ("LERC has no such type", is_lerc, lambda c: c.dtype not in LERC_TYPES),
    ("LERC in big-endian files is read in two ways", is_lerc,
     lambda c: c.order == "big" and bits_of(c) > 8),
    ("JPEG 2000 has no such type", lambda c: c.codec.startswith("jpeg2000"),
     lambda c: c.dtype not in JPEG2000_TYPES),
    ("JPEG XL has no such type", lambda c: c.codec in JXL_TYPES,
     lambda c: c.dtype not in JXL_TYPES[c.codec]),
    ("a predictor needs a codec of bytes", lambda c: c.codec not in PREDICTED,
     lambda c: c.predictor > 1),
    ("predictor 2 needs samples of 8, 16, 32 or 64 bits", lambda c: c.predictor == 2,
     lambda c: bits_of(c) not in (8, 16, 32, 64)),
    ("predictor 3 needs floats", lambda c: c.predictor == 3, lambda c: not is_float(c)),
]

# Combinations that are not a case.
NONE = [
    ("NaN is of floats", lambda c: c.nodata in ("keep", "nan") and not is_float(c)),
    ("a palette is of one band of up to 8 bits, and lossless",
     lambda c: c.dress == "palette"
     and (c.bands > 1 or c.codec in LOSSY or c.dtype not in ("uint8", "bits1", "bits2", "bits4"))),
    ("libjxl 0.7 cannot give back low images of floats, which are refused then",
     lambda c: c.codec == "jxl" and is_float(c) and LAYOUTS[c.layout][0] is None),
    ("red, green, blue and alpha are of 8 or 16 bits; what is transparent may lose its colours",
     lambda c: c.dress == "rgba" and (c.bands != 4 or c.dtype not in ("uint8", "uint16")
                                      or (c.sparse and c.codec in LOSSY))),
    ("WebP takes a fourth band for alpha; what is transparent may lose its colours",
     lambda c: c.codec == "webp_lossy" and c.bands == 4 and c.sparse),
    ("JPEG strips have whole blocks",
     lambda c: c.codec.startswith("jpeg") and not c.codec.startswith("jpeg2000")
     and c.layout in ("strips1", "strips5")),
]


def refusal(case):
    """Why the library must refuse it, or None."""
    return next((reason for reason, about, strikes in REFUSED if about(case) and strikes(case)),
                None)


def is_none(case):
    return any(strikes(case) for _, strikes in NONE)


def base_cases():
    """All combinations of what codecs look at, with plain values for the rest."""
    for values in itertools.product(*(DIMENSIONS[name] for name in BASE)):
        yield PLAIN._replace(**dict(zip(BASE, values)))


def pool(each, codecs):
    """Cases that can be written with these codecs: for each combination of what codecs look at, that
    many choices of the rest, and more for codecs that take few of them. Always the same ones."""
    generator = random.Random(2)
    rest = [name for name in DIMENSIONS if name not in BASE]
    bases = [base for base in base_cases() if base.codec in codecs and not refusal(base)]
    taken = collections.Counter(base.codec for base in bases)
    cases = []
    for base in bases:
        for _ in range(max(each, 500 // taken[base.codec])):
            case = base._replace(**{name: generator.choice(DIMENSIONS[name]) for name in rest})
            if not is_none(case):
                cases.append(case)
    return cases


def chosen_cases(together, codecs):
    """Few cases in which every two or three values occur together."""
    return few_cases(pool(together, codecs), together, DIMENSIONS)


# Pixels ------------------------------------------------------------------------------------------


def nodata_of(case):
    """The nodata value, or None."""
    sample = SAMPLES[case.dtype]
    if case.nodata == "none":
        return None
    if case.nodata == "nan":
        return float("nan")
    if sample.format in (3, 6):
        return -100.5
    if sample.format == 5:
        return -7
    if sample.format == 2:
        return {64: -(2**62) - 3}.get(sample.bits, -5)
    return {1: 1, 2: 2, 64: 2**63 + 9}.get(sample.bits, 7)


def smooth(case):
    """A picture that lossy codecs like."""
    width, height = case.size
    band, row, column = numpy.ogrid[:case.bands, :height, :width]
    values = 20 * band + 60 + 50 * numpy.sin(column / 9) * numpy.cos(row / 7)
    if case.dress == "rgba":
        values[3] = 255
    return values


def scale_of(case):
    """What a picture of 8 bits is multiplied by where a codec looks at the whole range."""
    return 128 if case.codec in ("jxl_lossy", "jpeg2000_lossy") and bits_of(case) == 16 else 1


def raw_pixels(case, generator):
    sample = SAMPLES[case.dtype]
    array = numpy.dtype(sample.array)
    shape = (case.bands, case.size[1], case.size[0])
    if case.codec in LOSSY:
        return (smooth(case) * scale_of(case)).astype(array)
    if case.codec == "jxl" and array.kind == "f":
        return (smooth(case) / 256).astype(array)
    if array.kind == "f":
        return floats(generator, shape + (2,) * sample.pair, array, is_lerc(case))
    if array.kind == "c":
        part = numpy.dtype(f"f{array.itemsize // 2}")
        return numpy.ascontiguousarray(floats(generator, shape + (2,), part, False)).view(
            array)[..., 0]
    if sample.pair:
        return integers(generator, shape + (2,), array, array.itemsize * 8)
    values = integers(generator, shape, array, sample.bits)
    return values >> (array.itemsize * 8 - sample.bits) if array.kind == "i" else values


def empty_part(case):
    """Where sparse files have nothing."""
    width, height = case.size
    return numpy.s_[..., :height * 3 // 4, :width * 3 // 4]


def pixels_of(case):
    """An array [band, row, column], with a last axis of 2 for pairs; the same at every run."""
    generator = numpy.random.default_rng(zlib.crc32(name_of(case).encode()))
    pixels = raw_pixels(case, generator)
    nodata = nodata_of(case)
    planes = numpy.moveaxis(pixels, -1, 0) if SAMPLES[case.dtype].pair else pixels
    if nodata is not None and case.codec not in LOSSY:
        pixels[generator.random(pixels.shape[:3]) < 0.1] = nodata
    if case.sparse:
        planes[empty_part(case)] = 0 if nodata is None else nodata
    return pixels


def mask_of(case):
    """An array [row, column] of 0 and other values."""
    width, height = case.size
    generator = numpy.random.default_rng(width * height)
    mask = generator.choice(numpy.array([0, 1, 255], "u1"), (height, width))
    mask[height // 3:, width // 2:] = 255
    if case.sparse:
        mask[empty_part(case)] = 0
    return mask


def stored_pixels(case, pixels):
    """What the file must hold: NaN becomes nodata, where that is another value."""
    if case.nodata != "value" or not is_float(case):
        return pixels
    nan = numpy.isnan(pixels)
    return numpy.where(nan, numpy.array(nodata_of(case), pixels.dtype), pixels)
