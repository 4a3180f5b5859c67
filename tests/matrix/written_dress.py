# SPDX-License-Identifier: Apache-2.0
"""Metadata for written files: the input of the program, and GDAL's report about it. A dress is a
pair of functions: tell(program, case) and wrong(file, case, pixels), a list of what is wrong in an
opened rasterio dataset."""
import base64
import struct

import numpy
import rasterio
from rasterio.enums import ColorInterp
from rasterio.transform import Affine

from written_cases import SAMPLES, is_float, mask_of, nodata_of

NORTH = (500000.5, 30, 0, 4100000.25, 0, -30)
TURNED = (-71.5, 0.25, 0.125, 42.75, 0.0625, -0.5)
DEGREES = (-10.25, 0.5, 0, 50.75, 0, -0.25)
GCPS = [(0, 0, 0, 10, 50, 0), (12.5, 1.25, 0, 11, 50.5, 100), (3, 15, 0, 10.25, 49, -3),
        (14, 16.5, 0, 11.5, 48.75, 0.5)]
ITEMS = [
    (-1, "", "AREA_CODE", "", "north & south <b> \"quoted\" 'too'"),
    (-1, "", "GREETING", "", "Grüße, 世界\nsecond line"),
    (-1, "SENSOR", "NAME", "", "MSI"),
    (0, "", "WAVELENGTH", "", "492.4"),
    (0, "", "DESCRIPTION", "description", "blue reflectance"),
    (0, "", "SCALE", "scale", "0.0001"),
    (0, "", "OFFSET", "offset", "-0.1"),
    (0, "", "UNITTYPE", "unittype", "W/(m²·sr)"),
]
DATE = "2024:02:29 12:34:56"
XMP = b"<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'/>"
ICC = bytes(range(256)) * 3


def told(wanted, found, what):
    return [] if wanted == found else [f"{what} {found!r}, not {wanted!r}"]


def wrong_transform(file, wanted):
    return told(Affine.from_gdal(*wanted), file.transform, "transform")


def wrong_epsg(file, wanted):
    return told(wanted, file.crs.to_epsg() if file.crs else None, "epsg")


def wrong_point(file, wanted):
    return told(wanted, file.tags().get("AREA_OR_POINT"), "AREA_OR_POINT")


# Dresses -----------------------------------------------------------------------------------------


def tell_bare(_program, _case):
    pass


def wrong_bare(file, _case, _pixels):
    return told(Affine.identity(), file.transform, "transform") + told(None, file.crs, "crs")


def tell_north(program, _case):
    program.say("transform", *NORTH)
    program.say("set", "epsg", 32633)
    program.say("set", "raster_type", 1)


def wrong_north(file, _case, _pixels):
    return (wrong_transform(file, NORTH) + wrong_epsg(file, 32633) + wrong_point(file, "Area"))


def tell_turned(program, _case):
    program.say("transform", *TURNED)
    program.say("set", "epsg", 4326)


def wrong_turned(file, _case, _pixels):
    return wrong_transform(file, TURNED) + wrong_epsg(file, 4326)


def tell_point(program, _case):
    program.say("transform", *DEGREES)
    program.say("set", "epsg", 4326)
    program.say("set", "raster_type", 2)


def wrong_points(file, _case, _pixels):
    return wrong_transform(file, DEGREES) + wrong_epsg(file, 4326) + wrong_point(file, "Point")


def tell_gcps(program, _case):
    for point in GCPS:
        program.say("gcp", *point)
    program.say("set", "epsg", 4326)


def wrong_gcps(file, _case, _pixels):
    points, crs = file.gcps
    found = [(p.col, p.row, 0, p.x, p.y, p.z) for p in points]
    return told(GCPS, found, "gcps") + told(4326, crs.to_epsg() if crs else None, "epsg of gcps")


def tell_keys(program, _case):
    """A projection of the user's own."""
    program.say("transform", *NORTH)
    for key in ((1024, 3, 1), (1025, 3, 1), (1026, 2, "a plane of our own"), (2048, 3, 4326),
                (3072, 3, 32767), (3073, 2, "Lambert & Söhne"), (3074, 3, 32767), (3075, 3, 8),
                (3076, 3, 9001), (3078, 12, 30.5), (3079, 12, 60.25), (3084, 12, 10), (3085, 12, 45),
                (3086, 12, 1000), (3087, 12, 2000)):
        program.say("key", *key)


def wrong_keys(file, _case, _pixels):
    parameters = file.crs.to_dict() if file.crs else {}
    found = [parameters.get(name) for name in ("proj", "lat_1", "lat_2", "lon_0", "x_0", "y_0")]
    return wrong_transform(file, NORTH) + told(["lcc", 30.5, 60.25, 10, 1000, 2000], found, "crs")


def tell_items(program, _case):
    for item in ITEMS:
        program.say("item", *item)


def wrong_items(file, _case, _pixels):
    general, band = file.tags(), file.tags(1)
    problems = [problem for _, domain, name, _, value in ITEMS[:3]
                for problem in told(value, file.tags(ns=domain).get(name) if domain
                                    else general.get(name), name)]
    problems += told("492.4", band.get("WAVELENGTH"), "WAVELENGTH")
    problems += told("blue reflectance", file.descriptions[0], "description")
    problems += told((0.0001, -0.1), (file.scales[0], file.offsets[0]), "scale and offset")
    problems += told("W/(m²·sr)", file.units[0], "unit")
    return problems + told([None] * (file.count - 1), list(file.descriptions[1:]), "descriptions")


def ascii_tag(program, number, text):
    data = text.encode() + b"\0"
    program.say("tag", number, 2, len(data), data.hex())


def tell_tags(program, _case):
    ascii_tag(program, 270, "An image & its description")
    ascii_tag(program, 305, "terrazzo's tests")
    ascii_tag(program, 306, DATE)
    program.say("tag", 282, 5, 1, struct.pack("=II", 300, 1).hex())
    program.say("tag", 283, 5, 1, struct.pack("=II", 600, 2).hex())
    program.say("tag", 296, 3, 1, struct.pack("=H", 2).hex())
    program.say("tag", 700, 1, len(XMP), XMP.hex())
    program.say("tag", 34675, 7, len(ICC), ICC.hex())


def wrong_tags(file, _case, _pixels):
    tags = file.tags()
    wanted = {"TIFFTAG_IMAGEDESCRIPTION": "An image & its description",
              "TIFFTAG_SOFTWARE": "terrazzo's tests", "TIFFTAG_DATETIME": DATE,
              "TIFFTAG_XRESOLUTION": "300", "TIFFTAG_YRESOLUTION": "300",
              "TIFFTAG_RESOLUTIONUNIT": "2 (pixels/inch)"}
    found = {name: tags.get(name) for name in wanted}
    icc = file.tags(ns="COLOR_PROFILE").get("SOURCE_ICC_PROFILE", "")
    return (told(wanted, found, "tags")
            + told(XMP.decode(), file.tags(ns="xml:XMP").get("xml:XMP"), "XMP")
            + told(ICC, base64.b64decode(icc), "ICC profile"))


def palette_of(case):
    """(reds, greens, blues) of each value, of 16 bits."""
    index = numpy.arange(2 ** SAMPLES[case.dtype].bits)
    top = max(len(index) - 1, 1)
    return [(index * 255 // top * 257), ((top - index) * 255 // top * 257),
            (index * 37 % 256 * 257)]


def tell_palette(program, case):
    program.say("color_map", *numpy.concatenate(palette_of(case)).tolist())


def wrong_palette(file, case, _pixels):
    entries = [tuple(int(value) // 257 for value in entry) for entry in zip(*palette_of(case))]
    found = file.colormap(1)
    nodata = nodata_of(case)
    wanted = {index: (*entry, 0 if index == nodata else 255) for index, entry in enumerate(entries)}
    return (told(wanted, {index: found.get(index) for index in wanted}, "colour map")
            + told(ColorInterp.palette, file.colorinterp[0], "colour interpretation"))


def tell_statistics(program, _case):
    program.say("set", "statistics_items", 1)


def statistics_of(case, pixels):
    """(minimum, maximum, mean, deviation) of the first band, or None where nothing is valid."""
    plane = pixels[0]
    valid = mask_of(case) != 0 if case.mask else numpy.ones(plane.shape, bool)
    nodata = nodata_of(case)
    if nodata is not None:
        valid &= plane != nodata
    if is_float(case):
        valid &= ~numpy.isnan(plane)
    values = plane[valid].astype("f8")
    if values.size == 0:
        return None
    return values.min(), values.max(), values.mean(), values.std()


def wrong_statistics(file, case, pixels):
    """Of real numbers; infinite ones have neither a mean nor a deviation."""
    if SAMPLES[case.dtype].format > 3:
        return []
    with numpy.errstate(all="ignore"):
        wanted = statistics_of(case, pixels)
    tags = file.tags(1)
    names = [f"STATISTICS_{name}" for name in ("MINIMUM", "MAXIMUM", "MEAN", "STDDEV")]
    found = [tags.get(name) for name in names]
    if wanted is None:
        return told([None] * 4, found, "statistics")
    if not all(numpy.isfinite(wanted)):
        return []
    if None in found:
        return [f"statistics {found}"]
    close = numpy.allclose(numpy.array(found, float), wanted, rtol=1e-9, atol=1e-9)
    return [] if close else [f"statistics {found}, not {wanted}"]


def tell_heights(program, _case):
    program.say("transform", *NORTH)
    program.say("set", "epsg", 32633)
    program.say("set", "epsg_vertical", 5773)


def wrong_heights(file, _case, _pixels):
    wkt = file.crs.to_wkt() if file.crs else ""
    parts = [name in wkt for name in ("COMPD_CS", '"WGS 84 / UTM zone 33N"', '"EGM96 height"')]
    return wrong_transform(file, NORTH) + told([True] * 3, parts, "parts of the crs")


RPC_NAMES = ["ERR_BIAS", "ERR_RAND", "LINE_OFF", "SAMP_OFF", "LAT_OFF", "LONG_OFF", "HEIGHT_OFF",
             "LINE_SCALE", "SAMP_SCALE", "LAT_SCALE", "LONG_SCALE", "HEIGHT_SCALE"]
RPC_LISTS = ["LINE_NUM_COEFF", "LINE_DEN_COEFF", "SAMP_NUM_COEFF", "SAMP_DEN_COEFF"]
RPC = [1.5 + number / 8 for number in range(92)]


def tell_rpc(program, _case):
    program.say("rpc", *RPC)


def wrong_rpc(file, _case, _pixels):
    tags = file.tags(ns="RPC")
    found = [float(tags.get(name, "nan")) for name in RPC_NAMES]
    for name in RPC_LISTS:
        found += [float(value) for value in tags.get(name, "").split()]
    return told(RPC, found, "rpc")


def tell_rgba(program, _case):
    program.say("set", "photometric", 2)
    program.say("extra_samples", 2)


def wrong_rgba(file, _case, _pixels):
    return told(["red", "green", "blue", "alpha"], [color.name for color in file.colorinterp],
                "colour interpretation")


DRESSES = {
    "bare": (tell_bare, wrong_bare), "north": (tell_north, wrong_north),
    "turned": (tell_turned, wrong_turned), "point": (tell_point, wrong_points),
    "gcps": (tell_gcps, wrong_gcps), "keys": (tell_keys, wrong_keys),
    "items": (tell_items, wrong_items), "tags": (tell_tags, wrong_tags),
    "palette": (tell_palette, wrong_palette), "statistics": (tell_statistics, wrong_statistics),
    "heights": (tell_heights, wrong_heights), "rpc": (tell_rpc, wrong_rpc),
    "rgba": (tell_rgba, wrong_rgba),
}


def wrong_nodata(file, case):
    nodata, found = nodata_of(case), file.nodata
    if nodata is None or found is None:
        return told(nodata, found, "nodata")
    same = found == float(nodata) or (numpy.isnan(nodata) and numpy.isnan(found))
    return [] if same else [f"nodata {found!r}, not {nodata!r}"]


def wrong_mask(file, case):
    if not case.mask:
        return []
    wanted = numpy.where(mask_of(case) != 0, 255, 0)
    found = file.dataset_mask()
    count = int((found != wanted).sum())
    return [f"{count} of the mask differ"] if count else []


def wrong_metadata(path, case, pixels):
    """All differences in GDAL's report."""
    with rasterio.open(path) as file:
        problems = DRESSES[case.dress][1](file, case, pixels)
        return "; ".join(problems + wrong_nodata(file, case) + wrong_mask(file, case)) or None
