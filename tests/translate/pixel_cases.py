# SPDX-License-Identifier: Apache-2.0
"""Conversions that change pixels and masks, and several options together."""

import numpy
import tifffile
from tag_cases import bounds_given, crs_case, tag_case
from translate_case import (MASK_OF_DATASET, NO_MASK, OF_ALPHA, Case, case, fits, gdal_type, is_value, joined, set_mask,
                            words)

COMPRESSED = {5, 8, 50000, 32946}  # LZW, DEFLATE, ZSTD: bytes of 255 are none of them
RESAMPLINGS = ["average", "bilinear", "cubic", "lanczos", "gauss", "rms", "mode"]  # min, max, median: not in GDAL
TYPES = ["uint8", "int16", "float32", "uint16", "float64", "int32", "int8", "uint32", "int64", "uint64"]


# Parts of the image -------------------------------------------------------------------------------


def middle(source):
    """A window with odd offsets, where the image is large enough."""
    width, height = source.about.size
    x, y = min(width // 4 | 1, width - 1), min(height // 3 | 1, height - 1)
    return x, y, max((width - x) // 2, 1), max((height - y) * 2 // 3, 1)


def window_case(window):
    return Case("window", ["--window", joined(*window)], ["-srcwin", *words(*window)])


@case("window")
def window_in_the_middle(source):
    return window_case(middle(source))


@case("window")
def window_of_the_last_pixel(source):
    width, height = source.about.size
    return window_case((width - 1, height - 1, 1, 1))


@case("window")
def window_of_all(source):
    return window_case((0, 0, *source.about.size))


@case("window")
def window_of_the_last_rows(source):
    width, height = source.about.size
    return window_case((0, height // 2, width, height - height // 2))


def edges(source, window, shrink=0.0):
    """West, the edge of the first row, east, the edge of the last row; moved inwards by parts of a pixel."""
    x, y, width, height = window
    left, pixel, _, top, _, line = source.about.transform
    return (left + (x + shrink) * pixel, top + (y + shrink) * line, left + (x + width - shrink) * pixel,
            top + (y + height - shrink) * line)


def box_case(source, shrink):
    if not source.has_grid() or (shrink >= 0.5 and min(middle(source)[2:]) < 2):
        return None
    west, first, east, last = edges(source, middle(source), shrink)
    return Case("bbox", ["--bbox", joined(west, min(first, last), east, max(first, last))],
                ["-projwin", *words(west, first, east, last)])


@case("bbox")
def box_of_whole_pixels(source):
    return box_case(source, 0.0)


@case("bbox")
def box_within_pixels(source):
    return box_case(source, 0.3)


@case("bbox")
def box_within_half_pixels(source):
    return box_case(source, 0.5)


@case("bbox-crs")
def box_in_its_own_crs(source):
    if not source.has_grid() or "32631" not in source.about.wkt:
        return None
    found = box_case(source, 0.25)
    return Case("bbox-crs", [*found.ours, "--bbox-crs", "EPSG:32631"], [*found.theirs, "-projwin_srs", "EPSG:32631"])


@case("bbox-crs")
def box_in_degrees(source):
    if not source.has_grid() or "32631" not in source.about.wkt or source.about.size[0] < 40 \
            or source.about.transform[5] > 0 or source.about.size[1] < 40:
        return None  # the files in UTM here begin at 3 degrees east, and 41.55 north
    box = 3.0042, 41.5451, 3.0138, 41.5489
    return Case("bbox-crs", ["--bbox", joined(*box), "--bbox-crs", "EPSG:4326"],
                ["-projwin", *words(box[0], box[3], box[2], box[1]), "-projwin_srs", "EPSG:4326"])


# Bands --------------------------------------------------------------------------------------------


def bands_case(numbers, text=None):
    return Case("bands", ["--bands", text or ",".join(map(str, numbers))],
                [word for number in numbers for word in ("-b", str(number))])


@case("bands")
def bands_reversed(source):
    return bands_case(range(source.count(), 0, -1))


@case("bands")
def bands_repeated(source):
    return bands_case([source.count(), source.count()])


@case("bands")
def bands_of_a_range(source):
    last = max(source.count() - 1, 1)
    return bands_case(range(1, last + 1), f"1-{last}")


@case("bands")
def band_at_the_end(source):
    return bands_case([source.count()])


@case("bands")
def bands_in_another_order(source):
    if source.count() < 3:
        return None
    numbers = [2, 1, *range(source.count(), 2, -1)]
    return Case("bands", ["--bands", "2", "--bands", "1", "--bands", ",".join(map(str, numbers[2:]))],
                bands_case(numbers).theirs)


@case("bands")
def bands_by_description(source):
    names = source.about.descriptions
    if "" in names or len(set(names)) < len(names) or any("," in name for name in names):
        return None
    return bands_case(range(source.count(), 0, -1), ",".join(reversed(names)))


# Size ---------------------------------------------------------------------------------------------


def size_case(source, width, height, how, near=0):
    return Case("size", ["--size", f"{width}x{height}", *(["--resampling", how] if how else [])],
                ["-outsize", str(width), str(height), *(["-r", how] if how else [])], near=near)


@case("size")
def size_of_a_half(source):
    width, height = source.about.size
    return size_case(source, (width + 1) // 2, (height + 1) // 2, None)


@case("size")
def size_larger(source):
    width, height = source.about.size
    return size_case(source, width * 2 + 1, height * 3 - 1, "nearest")


@case("size")
def size_in_proportion(source):
    width, height = source.about.size
    return size_case(source, max(width * 3 // 4, 1), 0, None) if height > 1 else None


@case("size")
def height_in_proportion(source):
    width, height = source.about.size
    return size_case(source, 0, max(height * 2 // 3, 1), None) if width > 1 else None


def resampling_case(how, numerator, denominator):
    def resampled(source):
        width, height = (max(length * numerator // denominator, 1) for length in source.about.size)
        found = size_case(source, width, height, how, 1)
        found.option = "resampling"
        return found
    resampled.__name__ = f"{how}_{numerator}_{denominator}"
    return resampled


for name in RESAMPLINGS:
    case("resampling")(resampling_case(name, 1, 2))
    case("resampling")(resampling_case(name, 2, 5))
    if name in ("bilinear", "cubic", "lanczos"):
        case("resampling")(resampling_case(name, 7, 4))


def resolution_case(source, x, y):
    if not source.has_grid():
        return None
    steps = [abs(source.about.transform[1]) * x, abs(source.about.transform[5]) * y]
    if any(length / factor < 1 for length, factor in zip(source.about.size, (x, y))):
        return None
    ours = joined(*steps) if x != y or abs(steps[0] - steps[1]) > 0 else words(steps[0])[0]
    return Case("res", ["--res", ours], ["-tr", *words(*steps)])


@case("res")
def resolution_lower(source):
    return resolution_case(source, 1.5, 1.5)


@case("res")
def resolution_higher(source):
    return resolution_case(source, 0.7, 0.85)  # no size ends in a half


@case("res")
def resolution_of_a_half(source):
    return resolution_case(source, 2.0, 2.0)


# Values -------------------------------------------------------------------------------------------


def dtype_case(dtype):
    def cast(source):
        return Case("dtype", ["--dtype", dtype], ["-ot", gdal_type(dtype)])
    cast.__name__ = f"to_{dtype}"
    return cast


for name in TYPES:
    case("dtype")(dtype_case(name))


def value_range(source):
    """Two numbers within the values of the first band."""
    values = source.about.pixels[0]
    values = values.real if values.dtype.kind == "c" else values
    values = values[numpy.isfinite(values)].astype("float64") if values.dtype.kind == "f" else values.astype("float64")
    if source.about.nodata[0] is not None:
        values = values[values != source.about.nodata[0]]
    if values.size == 0 or values.min() == values.max():
        return 0.0, 100.0
    low, high = float(numpy.percentile(values, 10)), float(numpy.percentile(values, 90))
    return (round(low), round(high)) if high - low > 8 else (low, high if high > low else low + 1)


def scale_case(numbers, dtype):
    ours, theirs = ["--scale", joined(*numbers) if numbers else "auto"], ["-scale", *words(*numbers)]
    if dtype:
        ours, theirs = [*ours, "--dtype", dtype], [*theirs, "-ot", gdal_type(dtype)]
    return Case("scale", ours, theirs, near=1)  # values between two of the type go either way


def auto_case(source, dtype):
    """GDAL gets the range of each band: of its own accord it takes that of some of the blocks."""
    found, theirs = scale_case((), dtype), []
    for number, (pixels, nodata) in enumerate(zip(source.about.pixels, source.about.nodata)):
        mask = source.about.masks[number]
        values = pixels[mask.pixels != 0] if mask.flags == MASK_OF_DATASET else pixels
        values = values[~is_value(values, nodata)].real.astype("float64")
        values = values[~numpy.isnan(values)]
        if values.size == 0 or values.min() == values.max():
            return None
        theirs += [f"-scale_{number + 1}", *words(float(values.min()), float(values.max()))]
    found.theirs[:1] = theirs
    return found


@case("scale")
def scale_to_bytes(source):
    return scale_case(value_range(source), "uint8")


@case("scale")
def scale_by_four_numbers(source):
    return scale_case((*value_range(source), 10, 200), "uint8")


@case("scale")
def scale_auto_to_bytes(source):
    return auto_case(source, "uint8")


@case("scale")
def scale_auto(source):
    return auto_case(source, None)


@case("scale")
def scale_to_floats(source):
    return scale_case((*value_range(source), -1, 2.5), "float32")


@case("scale")
def scale_backwards(source):
    return scale_case((*value_range(source), 60000, 100), "uint16")


@case("scale")
def scale_to_int16(source):
    return scale_case(value_range(source), "int16")


# Nodata -------------------------------------------------------------------------------------------


def nodata_case(text):
    return Case("nodata", ["--nodata", text], ["-a_nodata", text])


@case("nodata")
def nodata_of_a_pixel(source):
    value = source.about.pixels[0].ravel()[-1]
    if source.about.pixels[0].dtype.kind == "c":
        return None
    return nodata_case(f"{float(value):.17g}" if source.about.pixels[0].dtype.kind == "f" else str(int(value)))


@case("nodata")
def nodata_none(source):
    return nodata_case("none")


@case("nodata")
def nodata_seven(source):
    return nodata_case("7")


@case("nodata")
def nodata_not_a_number(source):
    return nodata_case("nan") if source.about.dtypes[0] in ("float16", "float32", "float64") else None


@case("nodata")
def nodata_negative(source):
    return nodata_case("-9999") if source.about.dtypes[0] in ("int16", "int32", "int64", "float32", "float64") else None


@case("replace-nodata")
def nodata_replaced(source):
    if not fits(source.about.nodata[0], source.about.pixels[0].dtype):
        return None
    old = list(source.about.nodata)

    def change(about):
        for pixels, value in zip(about.pixels, old):
            pixels[is_value(pixels, value)] = 99
        if about.masks[0].flags & 8:
            for mask, pixels in zip(about.masks, about.pixels):
                mask.pixels = numpy.where(pixels == 99, 0, 255).astype("uint8")
    return Case("replace-nodata", ["--nodata", "99", "--replace-nodata"], ["-a_nodata", "99"], change)


# Masks --------------------------------------------------------------------------------------------


@case("mask-from")
def mask_dropped(source):
    return Case("mask-from", ["--mask-from", "none"], ["-mask", "none"])


@case("mask-from")
def mask_of_a_band(source):
    if source.about.pixels[0].dtype.kind == "c":
        return None
    return Case("mask-from", ["--mask-from", str(source.count())], ["-mask", str(source.count())])


@case("mask-from")
def mask_of_nodata(source):
    old = list(source.about.nodata)
    if not fits(old[0], source.about.pixels[0].dtype):
        return None

    def change(about):
        """The rule of rasterio's dataset_mask: a pixel is masked where all bands are nodata."""
        masked = numpy.all([is_value(pixels, value) for pixels, value in zip(about.pixels, old)], axis=0)
        set_mask(about, ~masked)
    return Case("mask-from", ["--mask-from", "nodata"], ["-a_nodata", "none", "-mask", "none"], change)


@case("mask-from")
def mask_of_alpha(source):
    if source.about.colours[-1] != "alpha" or source.count() < 2:
        return None
    alpha = numpy.nan_to_num(source.about.pixels[-1]) >= 0.5  # cast to uint8, it is not 0
    numbers = range(1, source.count())
    return Case("mask-from", ["--mask-from", "alpha"],
                [word for number in numbers for word in ("-b", str(number))], lambda about: set_mask(about, alpha))


@case("add-alpha")
def alpha_added(source):
    """GDAL has -b mask, of the first band and 255 in every type; here it is of all bands, and of the type's range."""
    about = source.about
    if "alpha" in about.colours or "palette" in about.colours or about.pixels[0].dtype.kind == "c":
        return None
    valid = about.masks[0].pixels != 0 if about.masks[0].flags == MASK_OF_DATASET else \
        ~numpy.all([is_value(pixels, nodata) for pixels, nodata in zip(about.pixels, about.nodata)], axis=0)
    if about.dtypes[0] not in ("uint8", "uint16"):
        return None
    last = source.count() + 1

    def change(made):
        made.pixels[-1] = (valid * (65535 if made.dtypes[-1] == "uint16" else 255)).astype(made.pixels[-1].dtype)
        for mask in made.masks[:-1]:
            if mask.flags & OF_ALPHA:
                mask.pixels = valid.astype("uint8") * 255
        if made.masks[-1].pixels is not None:
            made.masks[-1].pixels = (~is_value(made.pixels[-1], made.nodata[-1])).astype("uint8") * 255
    numbers = [word for number in range(1, last) for word in ("-b", str(number))]
    return Case("add-alpha", ["--add-alpha"],
                [*numbers, "-b", "mask", "-mask", "none", f"-colorinterp_{last}", "alpha"], change)


@case("add-alpha")
def alpha_of_other_types(source):
    """It is refused: GDAL writes it, and does not take it for a mask."""
    if source.about.dtypes[0] in ("uint8", "uint16") or "alpha" in source.about.colours:
        return None
    return Case("add-alpha", ["--add-alpha"], ["-b", "1", "-b", "mask"])


# Pages, and several options together --------------------------------------------------------------


@case("plain")
def no_option(source):
    return Case("plain", [], [])


@case("page")
def page_first(source):
    return Case("page", ["--page", "0"], [])


@case("page")
def page_second(source):
    return Case("page", ["--page", "1"], [], page=1) if len(source.pages) > 1 else None


@case("page")
def page_all(source):
    return Case("page", ["--page", "all"], [], page=-1) if len(source.pages) > 1 else None


@case("salvage")
def nothing_salvaged(source):
    return Case("salvage", ["--salvage"], [])


@case("salvage")
def tile_salvaged(source):
    """A tile that cannot be read is nodata, or 0, and masked."""
    with tifffile.TiffFile(source.path) as tiff:
        page = tiff.pages[0]
        if page.compression not in COMPRESSED or page.planarconfig != 1:
            return None
        width, height = (page.tilewidth, page.tilelength) if page.is_tiled else (page.imagewidth, page.rowsperstrip)
        across = -(-page.imagewidth // width)
        stored = [number for number, size in enumerate(page.databytecounts) if size]
        number = stored[len(stored) // 2]
        damage = page.dataoffsets[number], page.databytecounts[number]
    rows = slice(number // across * height, (number // across + 1) * height)
    columns = slice(number % across * width, (number % across + 1) * width)

    def change(about):
        for pixels, nodata in zip(about.pixels, about.nodata):
            pixels[rows, columns] = 0 if nodata is None else nodata
        if about.masks[0].flags & NO_MASK:
            set_mask(about, numpy.ones(about.pixels[0].shape, bool))
        for mask in about.masks:
            if mask.pixels is not None:  # of alpha it is
                mask.pixels[rows, columns] = 0
        about.band_metadata = [{key: value for key, value in items.items() if not key.startswith("STATISTICS_")}
                               for items in about.band_metadata]
    return Case("salvage", ["--salvage"], [], change, damage=damage)


def together(option, *cases):
    if None in cases:
        return None
    return Case(option, [word for each in cases for word in each.ours],
                [word for each in cases for word in each.theirs])


@case("together")
def window_bands_type(source):
    return together("together", window_in_the_middle(source), bands_reversed(source), dtype_case("uint16")(source))


@case("together")
def window_size_tag(source):
    x, y, width, height = middle(source)
    return together("together", window_case((x, y, width, height)),
                    size_case(source, max(width // 2, 1), max(height // 2, 1), None), tag_case("A=B"))


@case("together")
def box_band_scale(source):
    return together("together", box_within_pixels(source), band_at_the_end(source),
                    scale_case((0, 100, 1, 201), "uint8"), nodata_case("none"))


@case("together")
def window_bounds_crs(source):
    return together("together", window_in_the_middle(source), bounds_given(source), crs_case("EPSG:3857"))


@case("together")
def page_window(source):
    if len(source.pages) < 2:
        return None
    found = window_case((1, 1, 3, 3))
    return Case("together", [*found.ours, "--page", "1"], found.theirs, page=1)
