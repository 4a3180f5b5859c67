# SPDX-License-Identifier: Apache-2.0
"""The files that check_translate.py converts: 60 that are made here, and 40 of the corpus, by name.

A generated file is a row of GENERATED: a name, and the words of Spec that differ from a plain grey uint8 image
in UTM. libgdal writes them, but for pages and tags that it does not write, which tifffile writes.
"""

import dataclasses
import logging
import zlib

import gdal as binding
import numpy
import tifffile

UTM = (500000.0, 30.0, 0.0, 4600020.0, 0.0, -30.0)
DEGREES = (5.25, 0.125, 0.0, 52.5, 0.0, -0.125)
ROTATED = (500000.0, 28.0, 7.0, 4600000.0, 6.0, -29.0)
SOUTH_UP = (500000.0, 30.0, 0.0, 4590000.0, 0.0, 30.0)
OWN_CONIC = ("+proj=lcc +lat_0=41.5 +lon_0=12.25 +lat_1=40 +lat_2=43.5 +x_0=123456 +y_0=654321 +ellps=intl "
             "+units=m +no_defs")
OWN_MERCATOR = "+proj=tmerc +lat_0=10 +lon_0=-33.5 +k=0.9998 +x_0=200000 +y_0=0 +datum=WGS84 +units=m +no_defs"
POINTS = [(0.0, 0.0, 4.0, 52.0, 0.0), (60.0, 0.5, 6.0, 52.0, 12.5), (0.0, 40.0, 4.0, 50.0, 0.0),
          (60.5, 40.0, 6.25, 50.0, -3.0), (30.0, 20.0, 5.0, 51.0, 0.0)]
RPC = {
    "ERR_BIAS": "1.5", "ERR_RAND": "0.25", "LINE_OFF": "20", "SAMP_OFF": "30.5", "LAT_OFF": "51", "LONG_OFF": "5",
    "HEIGHT_OFF": "100", "LINE_SCALE": "21", "SAMP_SCALE": "31", "LAT_SCALE": "0.5", "LONG_SCALE": "0.75",
    "HEIGHT_SCALE": "500", "LINE_NUM_COEFF": "0.001 0 -1 0.01" + " 0" * 16, "LINE_DEN_COEFF": "1" + " 0" * 19,
    "SAMP_NUM_COEFF": "0.002 1 0 0.02" + " 0" * 16, "SAMP_DEN_COEFF": "1" + " 0.0001" * 19}
STATISTICS = {"STATISTICS_MINIMUM": "0", "STATISTICS_MAXIMUM": "250", "STATISTICS_MEAN": "99.5",
              "STATISTICS_STDDEV": "60.25", "STATISTICS_VALID_PERCENT": "100"}


@dataclasses.dataclass
class Spec:
    dtype: str = "uint8"
    bands: int = 1
    size: tuple = (61, 43)
    options: tuple = ()
    transform: tuple = UTM
    crs: str = "EPSG:32631"
    nodata: object = None
    mask: bool = False
    points: list = ()
    rpc: dict = dataclasses.field(default_factory=dict)
    items: dict = dataclasses.field(default_factory=dict)
    band_items: dict = dataclasses.field(default_factory=dict)  # the same for each band
    descriptions: list = ()
    units: list = ()
    scales: list = ()
    offsets: list = ()
    palette: bool = False
    colours: list = ()
    overviews: list = ()
    halves: bool = False  # multiples of 0.5: all roundings
    written_nodata: str = ""  # text of the tag, such as GDAL would not write
    empty: bool = False  # one half is never written: sparse


GENERATED = {
    "uint8": Spec(),
    "int8": Spec("int8", 2),
    "uint16": Spec("uint16", 3),
    "int16": Spec("int16", 1, options=("COMPRESS=LZW", "PREDICTOR=2")),
    "uint32": Spec("uint32", 2, options=("INTERLEAVE=BAND",)),
    "int32": Spec("int32", 1, options=("COMPRESS=ZSTD",)),
    "uint64": Spec("uint64", 1),
    "int64": Spec("int64", 2, options=("TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=32")),
    "float16": Spec("float16", 1),
    "float32": Spec("float32", 2, halves=True, options=("COMPRESS=DEFLATE", "PREDICTOR=3")),
    "float64": Spec("float64", 1, options=("TILED=YES",)),
    "complex64": Spec("complex64", 1),
    "complex128": Spec("complex128", 2),
    "halves": Spec("float64", 1, halves=True),
    "one_pixel": Spec(size=(1, 1)),
    "row": Spec("uint16", size=(97, 1)),
    "column": Spec("float32", size=(1, 77)),
    "wide": Spec("int16", 2, (200, 19), options=("BLOCKYSIZE=3", "COMPRESS=PACKBITS")),
    "rgb_tiles": Spec(bands=3, size=(150, 101), options=("TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=48",
                                                        "COMPRESS=DEFLATE", "PHOTOMETRIC=RGB")),
    "rgb_bands": Spec(bands=3, options=("INTERLEAVE=BAND", "PHOTOMETRIC=RGB", "COMPRESS=LZW")),
    "rgba": Spec(bands=4, options=("PHOTOMETRIC=RGB", "ALPHA=YES")),
    "rgba_uint16": Spec("uint16", 4, options=("PHOTOMETRIC=RGB", "ALPHA=YES", "INTERLEAVE=BAND")),
    "rgba_premultiplied": Spec(bands=4, options=("PHOTOMETRIC=RGB", "ALPHA=PREMULTIPLIED")),
    "grey_alpha": Spec(bands=2, options=("ALPHA=YES",)),
    "grey_alpha_float": Spec("float32", 2, options=("ALPHA=YES",)),
    "five_bands": Spec("uint16", 5, options=("PHOTOMETRIC=RGB",)),
    "four_greys": Spec(bands=4, options=("PHOTOMETRIC=MINISBLACK", "ALPHA=NO")),
    "white": Spec(options=("PHOTOMETRIC=MINISWHITE",)),
    "palette": Spec(palette=True),
    "palette_uint16": Spec("uint16", palette=True),
    "palette_nodata": Spec(palette=True, nodata=17, options=("COMPRESS=PACKBITS",)),
    "one_bit": Spec(options=("NBITS=1",), size=(75, 33)),
    "twelve_bits": Spec("uint16", options=("NBITS=12",)),
    "colours": Spec(bands=4, colours=[5, 4, 3, 1], options=("ALPHA=NO",)),
    "nodata_uint8": Spec(bands=3, nodata=0, options=("PHOTOMETRIC=RGB",)),
    "nodata_255": Spec(nodata=255),
    "nodata_int16": Spec("int16", 2, nodata=-9999),
    "nodata_float32": Spec("float32", 2, nodata=-9999.0, halves=True),
    "nodata_nan": Spec("float32", 3, nodata=float("nan")),
    "nodata_lowest": Spec("float64", 1, nodata=-1.7976931348623157e308),
    "nodata_int64": Spec("int64", 1, nodata=-9007199254740993),
    "nodata_uint64": Spec("uint64", 1, nodata=18446744073709551615),
    "nodata_out_of_range": Spec(written_nodata="-9999"),
    "nodata_fraction": Spec("int16", written_nodata="0.5"),
    "mask": Spec(bands=3, mask=True, options=("PHOTOMETRIC=RGB", "TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16")),
    "mask_nodata": Spec("float32", 2, mask=True, nodata=-1.0),
    "mask_overviews": Spec("uint16", 1, (130, 90), mask=True, overviews=[2, 4], options=("COMPRESS=DEFLATE",)),
    "overviews": Spec("int16", 2, (190, 140), overviews=[2, 4],
                      options=("TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64")),
    "sparse": Spec("uint16", 2, (130, 100), nodata=0, empty=True,
                   options=("TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=32", "SPARSE_OK=YES", "COMPRESS=DEFLATE")),
    "bare": Spec("uint16", transform=None, crs=""),
    "transform_alone": Spec("float32", crs="", transform=DEGREES),
    "geographic_point": Spec("float32", 1, transform=DEGREES, crs="EPSG:4326", items={"AREA_OR_POINT": "Point"}),
    "rotated": Spec("uint16", 2, transform=ROTATED),
    "south_up": Spec("int16", transform=SOUTH_UP),
    "points": Spec(bands=2, transform=None, crs="EPSG:4326", points=POINTS),
    "rpc": Spec("uint16", transform=None, crs="", rpc=RPC),
    "own_conic": Spec("int32", crs=OWN_CONIC),
    "compound": Spec("float32", crs="EPSG:7405", transform=(400000.0, 25.0, 0.0, 300000.0, 0.0, -25.0)),
    "dressed": Spec("int16", 3, nodata=-1, descriptions=["red", "near infrared", "température"],
                    units=["m", "K", "W/m²"], scales=[0.5, 0.1, 1.0], offsets=[-1.0, 0.0, 273.15],
                    band_items={"SENSOR": "a <b> & \"c\"", "wavelength": "0.5", **STATISTICS},
                    items={"AUTHOR": "someone", "note": "two\nlines", "TIFFTAG_SOFTWARE": "maker 1.0",
                           "TIFFTAG_DATETIME": "2024:02:29 12:00:00", "TIFFTAG_IMAGEDESCRIPTION": "an image",
                           "TIFFTAG_XRESOLUTION": "300", "TIFFTAG_YRESOLUTION": "150",
                           "TIFFTAG_RESOLUTIONUNIT": "2 (pixels/inch)"}),
    "pages": None,  # make_pages
}

CORPUS = [
    "gdal/byte.tif", "gdal/byte_5_bands_LZW_predictor_2.tif", "gdal/byte_gcp_pixelispoint.tif",
    "gdal/byte_nodata_0.tif", "gdal/byte_pct.tif", "gdal/byte_point.tif", "gdal/byte_user_defined_geokeys.tif",
    "gdal/byte_with_ovr.tif", "gdal/byte_with_xmp.tif", "gdal/cfloat32.tif", "gdal/compdcrs_no_citation.tif",
    "gdal/contour_in.tif", "gdal/epsg_27563_allgeokeys.tif", "gdal/float16.tif",
    "gdal/float32_LZW_predictor_3.tif", "gdal/float64.tif", "gdal/geomatrix.tif", "gdal/int16_big_endian.tif",
    "gdal/int64.tif", "gdal/int8.tif", "gdal/n43.tif", "gdal/nan32_nodata.tif", "gdal/offscale_byte.tif",
    "gdal/rgba.tif", "gdal/rgbsmall_ZSTD_tiled_separate.tif", "gdal/rgbsmall_uint16_LZW_predictor_2.tif",
    "gdal/sparse_tiled_contig.tif", "gdal/stefan_full_greyalpha_uint16_LZW_predictor_2.tif",
    "gdal/stefan_full_rgba.tif", "gdal/test3_with_1mask_1bit.tif", "gdal/test_with_mask_1bit_and_ovr.tif",
    "gdal/trmm.tif", "gdal/uint32_LZW_predictor_2.tif", "gdal/uint64.tif", "gdal/unknown_colorinterp.tif",
    "gdal/utmsmall-int16-neg.tiff", "proj/test_hgrid_with_subgrid_no_grid_name.tif",
    "proj/us_noaa_nadcon5_nad83_2007_nad83_2011_conus_extract.tif", "rio-cogeo/cog_band_tags.tif",
    "rio-cogeo/image_rioCOG_gdal3.1.tif"]


# Pixels -------------------------------------------------------------------------------------------


def band_pixels(spec, band, random):
    """Waves with noise, over much of the type's range."""
    width, height = spec.size
    y, x = numpy.mgrid[:height, :width]
    wave = 0.5 + 0.25 * numpy.sin(x / 7.0 + band) + 0.2 * numpy.cos(y / 5.0 - band) \
        + 0.05 * (random.random((height, width)) - 0.5)
    kind = numpy.dtype(spec.dtype)
    if spec.halves:
        return (numpy.round((wave - 0.3) * 1200) / 2).astype(kind)
    if kind.kind == "c":
        return ((wave - 0.5) * 1000 + 1j * (wave * 70 - x)).astype(kind)
    if kind.kind == "f":
        return ((wave - 0.25) * 2000).astype(kind)
    most = 1 if "NBITS=1" in spec.options else 4095 if "NBITS=12" in spec.options else numpy.iinfo(kind).max
    if kind.itemsize == 8:
        most = 2 ** 40
    low = -most if kind.kind == "i" else 0
    return numpy.clip(numpy.round(low + (most - low) * wave), low, most).astype(kind)


def with_nodata(planes, nodata, random):
    """Some pixels of nodata, in all bands or in one; in part of the image, where it is large enough."""
    height, width = planes[0].shape
    everywhere = random.random((height, width)) < 0.15
    for plane in planes:
        plane[plane == nodata] += 1 if nodata in (0, -1, -9999) else 0
        plane[everywhere | (random.random((height, width)) < 0.05)] = nodata
    return planes


# Files --------------------------------------------------------------------------------------------


def make_generated(gdal, folder):
    """Writes all of GENERATED; returns {name: path}."""
    paths = {}
    for name, spec in GENERATED.items():
        paths[name] = folder / f"{name}.tif"
        if spec is None:
            make_pages(paths[name])
        else:
            make_file(gdal, paths[name], name, spec)
    return paths


def make_file(gdal, path, name, spec):
    random = numpy.random.default_rng(zlib.crc32(name.encode()))
    planes = [band_pixels(spec, band, random) for band in range(spec.bands)]
    if spec.nodata is not None and not spec.empty:
        with_nodata(planes, spec.nodata, random)
    with gdal.create(path, spec.size, spec.bands, spec.dtype, spec.options) as dataset:
        bands = [gdal.GDALGetRasterBand(dataset, number + 1) for number in range(spec.bands)]
        georeference(gdal, dataset, spec)
        for item, value in spec.items.items():
            gdal.GDALSetMetadataItem(dataset, item.encode(), value.encode(), None)
        for item, value in spec.rpc.items():
            gdal.GDALSetMetadataItem(dataset, item.encode(), value.encode(), b"RPC")
        for number, band in enumerate(bands):
            dress_band(gdal, band, spec, number)
        if spec.mask:
            gdal.GDALCreateDatasetMaskBand(dataset, binding.OF_DATASET)
        for band, plane in zip(bands, planes):
            gdal.write_band(band, plane[:32] if spec.empty else plane)
        if spec.mask:
            valid = (random.random(planes[0].shape) > 0.2).astype("uint8") * 255
            gdal.write_band(gdal.GDALGetMaskBand(bands[0]), valid)
    if spec.overviews:
        with gdal.open(path, update=True) as dataset:
            factors = (binding.INT * len(spec.overviews))(*spec.overviews)
            gdal.GDALBuildOverviews(dataset, b"AVERAGE", len(factors), factors, 0, None, None, None)
    if spec.written_nodata:
        logging.getLogger("tifffile").setLevel(logging.CRITICAL)  # it warns of such values
        with tifffile.TiffFile(path, mode="r+b") as tiff:
            tiff.pages[0].tags["GDAL_NODATA"].overwrite(spec.written_nodata)


def georeference(gdal, dataset, spec):
    wkt = gdal.export_wkt(gdal.make_crs(spec.crs)).encode() if spec.crs else b""
    if spec.points:
        points = (binding.Gcp * len(spec.points))(*[
            binding.Gcp(str(number + 1).encode(), b"", *point) for number, point in enumerate(spec.points)])
        gdal.GDALSetGCPs(dataset, len(points), points, wkt)
        return
    if wkt:
        gdal.GDALSetProjection(dataset, wkt)
    if spec.transform:
        gdal.GDALSetGeoTransform(dataset, (binding.DOUBLE * 6)(*spec.transform))


def dress_band(gdal, band, spec, number):
    if spec.written_nodata:
        gdal.GDALSetRasterNoDataValue(band, 12345678)  # at least as many characters
    elif spec.nodata is not None:
        set_nodata = {"int64": gdal.GDALSetRasterNoDataValueAsInt64,
                      "uint64": gdal.GDALSetRasterNoDataValueAsUInt64}.get(spec.dtype, gdal.GDALSetRasterNoDataValue)
        set_nodata(band, spec.nodata)
    for item, value in spec.band_items.items():
        gdal.GDALSetMetadataItem(band, item.encode(), value.encode(), None)
    if spec.descriptions:
        gdal.GDALSetDescription(band, spec.descriptions[number].encode())
        gdal.GDALSetRasterUnitType(band, spec.units[number].encode())
        gdal.GDALSetRasterScale(band, spec.scales[number])
        gdal.GDALSetRasterOffset(band, spec.offsets[number])
    if spec.colours:
        gdal.GDALSetRasterColorInterpretation(band, spec.colours[number])
    if spec.palette:
        table = gdal.GDALCreateColorTable(1)
        for index in range(256 if spec.dtype == "uint8" else 65536):
            entry = binding.ColourEntry((index % 256, 255 - index % 256, index * 37 % 256, 255))
            gdal.GDALSetColorEntry(table, index, entry)
        gdal.GDALSetRasterColorTable(band, table)
        gdal.GDALDestroyColorTable(table)


def make_pages(path):
    """Three pages of other sizes and types, the second with an overview in a SubIFD, and georeferenced each."""
    random = numpy.random.default_rng(7)

    def place(x):
        return [(33550, 12, 3, (30.0, 30.0, 0.0), True), (33922, 12, 6, (0.0, 0.0, 0.0, x, 4600020.0, 0.0), True),
                (34735, 3, 16, (1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32631), True)]

    with tifffile.TiffWriter(path) as writer:
        options = {"metadata": None, "software": False}
        writer.write(random.integers(0, 255, (40, 50), "uint8"), extratags=place(500000.0), **options)
        writer.write(random.integers(0, 60000, (31, 45), "uint16"), extratags=place(600000.0), subifds=1,
                     compression="deflate", tile=(16, 16), **options)
        writer.write(random.integers(0, 60000, (16, 23), "uint16"), subfiletype=1, **options)
        writer.write(random.random((22, 33, 3)).astype("float32"), photometric="minisblack",
                     extratags=place(700000.0), **options)
