# SPDX-License-Identifier: Apache-2.0
"""Pixels for a case of the matrix, and files with them, by GDAL (rasterio) and by tifffile."""
import zlib

import imagecodecs
import numpy
import rasterio
import tifffile

from product import LERC_CODECS, LOSSY, SAMPLES, name_of

GDAL_CODECS = {
    "none": {}, "packbits": {"compress": "packbits"}, "lzw": {"compress": "lzw"},
    "deflate": {"compress": "deflate"}, "zstd": {"compress": "zstd", "zstd_level": 1},
    "lzma": {"compress": "lzma", "lzma_preset": 1}, "jpeg": {"compress": "jpeg", "jpeg_quality": 95},
    "webp": {"compress": "webp", "webp_lossless": "yes"},
    "webp_lossy": {"compress": "webp", "webp_level": 95},
    "lerc": {"compress": "lerc"}, "lerc_deflate": {"compress": "lerc_deflate"},
    "lerc_zstd": {"compress": "lerc_zstd"}, "lerc_lossy": {"compress": "lerc", "max_z_error": 0.5},
    "ccitt_rle": {"compress": "ccittrle"}, "ccitt_3": {"compress": "ccittfax3"},
    "ccitt_4": {"compress": "ccittfax4"},
}
GDAL_TYPES = {"float16": "float32", "float24": "float32", "complex_int16": "complex_int16",
              "complex64": "complex64", "complex128": "complex128"}
TIFFFILE_CODECS = {
    "none": {}, "packbits": {"compression": "packbits"}, "lzw": {"compression": "lzw"},
    "deflate": {"compression": 8}, "deflate_old": {"compression": 32946},
    "zstd": {"compression": "zstd", "compressionargs": {"level": 1}},
    "lzma": {"compression": "lzma"},
    "jpeg": {"compression": "jpeg", "compressionargs": {"level": 95}},
    "webp": {"compression": "webp", "compressionargs": {"lossless": True}},
    "webp_lossy": {"compression": "webp", "compressionargs": {"level": 95}},
    "lerc": {"compression": "lerc"},
    "lerc_deflate": {"compression": "lerc", "compressionargs": {"compression": "deflate"}},
    "lerc_zstd": {"compression": "lerc", "compressionargs": {"compression": "zstd"}},
    "jpeg2000": {"compression": "jpeg2000", "compressionargs": {"reversible": True, "level": 0}},
    "jxl": {"compression": "jpegxl", "compressionargs": {"lossless": True}},
}
LZ4 = 50004
tifffile.TIFF.DECOMPRESSORS._codecs[LZ4] = imagecodecs.lz4f_decode  # which it lacks


def tile_of(case):
    """(width, height) of a tile."""
    return (32, 16) if case.size == (130, 67) else (16, 16)


def rows_per_strip(case):
    return min(case.size[1], 16 if case.codec == "jpeg" else 5)  # JPEG has blocks of 16


# Pixels ------------------------------------------------------------------------------------------


def smooth(case):
    """A picture that lossy codecs like."""
    width, height = case.size
    band, row, column = numpy.ogrid[:case.bands, :height, :width]
    return 40 * band + 60 + 50 * numpy.sin(column / 9) * numpy.cos(row / 7)


def integers(generator, shape, array, bits):
    info = numpy.iinfo(array)
    low, high = (0, 2**bits - 1) if info.min == 0 else (info.min, info.max)
    values = generator.integers(low, high, shape, array, endpoint=True)
    slope = numpy.indices(shape).sum(0)
    values[generator.random(shape) < 0.5] = 0  # runs for the codecs, slopes for the predictors
    where = generator.random(shape) < 0.3
    values[where] = (slope[where] % min(high // 2 + 1, 1000)).astype(array)
    flat = values.reshape(-1)
    flat[0] = high
    flat[-1] = low
    return values


def floats(generator, shape, array, finite):
    values = (generator.standard_normal(shape) * 1000).astype(array)
    values[generator.random(shape) < 0.3] = 0
    flat = values.reshape(-1)
    special = [numpy.finfo(array).max, numpy.finfo(array).smallest_normal, -1.5]
    special += [] if finite else [numpy.inf, -numpy.inf, numpy.nan, -0.0,
                                  numpy.finfo(array).smallest_subnormal]
    count = min(len(flat), len(special))
    flat[generator.permutation(len(flat))[:count]] = numpy.array(special[:count], array)
    return values


def pixels_of(case):
    """An array [band, row, column], with a last axis of 2 for pairs; the same at every run."""
    sample = SAMPLES[case.dtype]
    generator = numpy.random.default_rng(zlib.crc32(name_of(case).encode()))
    shape = (case.bands, case.size[1], case.size[0])
    array = numpy.dtype(sample.array)
    if case.codec in LOSSY:
        return smooth(case).astype(array)
    if case.codec == "jxl" and array.kind == "f":
        return (smooth(case) / 256).astype(array)
    if case.codec in LERC_CODECS and array.kind == "f":
        values = floats(generator, shape, array, True)
        # libtiff turns the bytes before it encodes, and NaN would be lost
        turned = values.byteswap() if case.order == "big" else values
        values[~numpy.isfinite(turned)] = 1.5
        return values
    if case.dtype == "float24":  # 16 bits of mantissa, so that nothing is rounded
        values = floats(generator, shape, array, True)
        values[numpy.abs(values) > 1e9] = 1e9
        values[numpy.abs(values) < 1e-9] = 0
        return (values.view("u4") & 0xffffff80).view(array)
    if array.kind == "f":
        return floats(generator, shape, array, False)
    if array.kind == "c":
        part = numpy.dtype(f"f{array.itemsize // 2}")
        return numpy.ascontiguousarray(floats(generator, shape + (2,), part, False)).view(
            array)[..., 0]
    if sample.pair:
        return integers(generator, shape + (2,), array, array.itemsize * 8)
    return integers(generator, shape, array, sample.bits)


# GDAL --------------------------------------------------------------------------------------------


def write_gdal(case, pixels, path):
    width, height = case.size
    sample = SAMPLES[case.dtype]
    options = {**GDAL_CODECS[case.codec], "predictor": case.predictor,
               "endianness": case.order, "bigtiff": "yes" if case.bigtiff else "no",
               "interleave": "pixel" if case.planar == 1 else "band"}
    if case.codec in ("none", "packbits", "jpeg", "webp", "webp_lossy") or case.predictor == 1:
        del options["predictor"]
    if case.layout == "tiles":
        options |= dict(zip(("blockxsize", "blockysize"), tile_of(case)), tiled=True)
    else:
        options["blockysize"] = rows_per_strip(case)
    if case.codec == "jpeg" and case.bands == 3 and case.planar == 1:
        options["photometric"] = "ycbcr"
    if case.codec in LERC_CODECS and case.bands == 4:
        options["alpha"] = "no"  # as a mask it would take the other bands with it
    if sample.bits not in (8, 16, 32, 64, 128) or case.dtype == "float16":
        options["nbits"] = sample.bits
    if sample.pair:
        pixels = pixels[..., 0] + 1j * pixels[..., 1]
    with rasterio.open(path, "w", driver="GTiff", width=width, height=height, count=case.bands,
                       dtype=GDAL_TYPES.get(case.dtype, pixels.dtype.name), **options) as file:
        file.write(pixels.astype("f4") if case.dtype == "float16" else pixels)


def read_gdal(path, case):
    """The same array as pixels_of gave."""
    sample = SAMPLES[case.dtype]
    with rasterio.open(path) as file:
        pixels = file.read()
    if sample.pair:
        return numpy.stack([pixels.real, pixels.imag], -1).astype(sample.array)
    return pixels.astype(sample.array)


# tifffile ----------------------------------------------------------------------------------------


def as_stored(case, pixels):
    """Pairs as one integer of twice the bits, so that tifffile writes both parts."""
    if not SAMPLES[case.dtype].pair:
        return pixels
    whole = numpy.dtype(f"i{pixels.dtype.itemsize * 2}")
    if case.order == "big":
        return numpy.ascontiguousarray(pixels.astype(pixels.dtype.newbyteorder(">"))).view(
            whole.newbyteorder(">"))[..., 0].astype(whole)
    return numpy.ascontiguousarray(pixels).view(whole)[..., 0]


def tifffile_options(case):
    options = {"metadata": None, "photometric": "minisblack", "software": False,
               "maxworkers": 1, **TIFFFILE_CODECS.get(case.codec, {})}
    if case.bands > 1:
        options["planarconfig"] = "contig" if case.planar == 1 else "separate"
        options["extrasamples"] = ["unspecified"] * (case.bands - 1)
    if case.bands > 2 and (case.codec.startswith("webp") or case.codec == "jpeg"):
        options["photometric"] = "rgb"
        options["extrasamples"] = ["unspecified"] * (case.bands - 3)
    if case.layout == "tiles":
        options["tile"] = tile_of(case)[::-1]
    else:
        options["rowsperstrip"] = rows_per_strip(case)
    if case.predictor > 1:
        options["predictor"] = case.predictor
    if case.fill == 2:
        options["extratags"] = [(265, 3, 1, 2, True)]  # becomes 266, which tifffile does not write
    if case.dtype.startswith("bits"):
        options["bitspersample"] = SAMPLES[case.dtype].bits
    return options


def write_with(case, path, data, options):
    with tifffile.TiffWriter(path, bigtiff=case.bigtiff,
                             byteorder="<" if case.order == "little" else ">") as file:
        file.write(data, **options)


def patch_tag(path, tag, value):
    with tifffile.TiffFile(path, mode="r+") as file:
        file.pages[0].tags[tag].overwrite(value)


def turn_bits(path, order):
    """The bits of every byte of every tile the other way round."""
    with tifffile.TiffFile(path) as file:
        places = list(zip(file.pages[0].dataoffsets, file.pages[0].databytecounts))
        entry = file.pages[0].tags[265].offset
    with open(path, "r+b") as raw:
        raw.seek(entry)
        raw.write((266).to_bytes(2, order))
        for offset, size in places:
            raw.seek(offset)
            data = numpy.frombuffer(raw.read(size), "u1")
            raw.seek(offset)
            raw.write(numpy.packbits(numpy.unpackbits(data, bitorder="little")).tobytes())


def write_lz4(case, path, data, options):
    """tifffile has no LZ4: its uncompressed tiles, compressed here."""
    plain = {name: value for name, value in options.items() if name != "extratags"}
    predictor = plain.pop("predictor", 1)
    if predictor > 1:
        plain |= {"compression": 8, "predictor": predictor}
    write_with(case, path, data, plain)
    with tifffile.TiffFile(path) as file:
        page = file.pages[0]
        bytes_of = imagecodecs.zlib_decode if predictor > 1 else bytes
        with open(path, "rb") as raw:
            tiles = []
            for offset, size in zip(page.dataoffsets, page.databytecounts):
                raw.seek(offset)
                tiles.append(imagecodecs.lz4f_encode(bytes(bytes_of(raw.read(size)))))
    write_with(case, path, iter(tiles), options | {"shape": data.shape, "dtype": data.dtype,
                                                   "compression": "zstd"})
    patch_tag(path, 259, LZ4)


def write_tifffile(case, pixels, path):
    data = as_stored(case, pixels)
    if case.bands == 1:
        data = data[0]
    elif case.planar == 1:
        data = numpy.ascontiguousarray(numpy.moveaxis(data, 0, -1))
    options = tifffile_options(case)
    if case.codec == "lz4":
        write_lz4(case, path, data, options)
    else:
        write_with(case, path, data, options)
    if case.fill == 2:
        turn_bits(path, case.order)
    if SAMPLES[case.dtype].pair:
        patch_tag(path, 339, (5,) * case.bands if case.bands > 1 else 5)


def read_tifffile(path, case):
    with tifffile.TiffFile(path) as file:
        page = file.pages[0]
        pixels = page.asarray()
    if case.bands == 1:
        return pixels.reshape((1,) + pixels.shape[-2:])
    if page.planarconfig == 1:
        pixels = numpy.moveaxis(pixels, -1, 0)
    return pixels


WRITERS = {"gdal": write_gdal, "tifffile": write_tifffile}
