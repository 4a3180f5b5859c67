# SPDX-License-Identifier: Apache-2.0
"""The pinned libgdal by ctypes: gdal_translate, and all that GDAL says of a file.

The library is the one that tools/oracle/fetch_gdal.sh fetches, loaded into this process; rasterio, which brings
along another GDAL, must not be imported beside it.
"""

import contextlib
import ctypes
import dataclasses
import os
import pathlib
import subprocess

import numpy

POINTER, TEXT, INT, DOUBLE = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_double
LIST = ctypes.POINTER(ctypes.c_char_p)
RASTER, UPDATE, VERBOSE = 0x02, 0x01, 0x40
READ, WRITE = 0, 1
TRADITIONAL = 0  # longitude or easting first
OF_DATASET = 2  # GMF_PER_DATASET

TYPES = {  # GDAL's number: numpy's name
    1: "uint8", 2: "uint16", 3: "int16", 4: "uint32", 5: "int32", 6: "float32", 7: "float64",
    10: "complex64", 11: "complex128", 12: "uint64", 13: "int64", 14: "int8", 15: "float16"}
COMPLEX_INT = {8: ("complex_int16", "int16"), 9: ("complex_int32", "int32")}
NAMES = {"uint8": "Byte", "uint16": "UInt16", "int16": "Int16", "uint32": "UInt32", "int32": "Int32",
         "float32": "Float32", "float64": "Float64", "complex64": "CFloat32", "complex128": "CFloat64",
         "uint64": "UInt64", "int64": "Int64", "int8": "Int8", "float16": "Float16"}
COLOURS = ["undefined", "gray", "palette", "red", "green", "blue", "alpha"]


class Gcp(ctypes.Structure):
    _fields_ = [("id", TEXT), ("info", TEXT), ("column", DOUBLE), ("row", DOUBLE), ("x", DOUBLE), ("y", DOUBLE),
                ("z", DOUBLE)]


class ColourEntry(ctypes.Structure):
    _fields_ = [("c", ctypes.c_short * 4)]


HANDLER = ctypes.CFUNCTYPE(None, INT, INT, TEXT)
FUNCTIONS = {  # name: (result, arguments)
    "GDALAllRegister": (None, []),
    "GDALVersionInfo": (TEXT, [TEXT]),
    "CPLSetConfigOption": (None, [TEXT, TEXT]),
    "CPLPushErrorHandler": (None, [HANDLER]),
    "CSLDestroy": (None, [LIST]),
    "VSIFree": (None, [POINTER]),
    "GDALGetDriverByName": (POINTER, [TEXT]),
    "GDALCreate": (POINTER, [POINTER, TEXT, INT, INT, INT, INT, LIST]),
    "GDALOpenEx": (POINTER, [TEXT, ctypes.c_uint, POINTER, LIST, POINTER]),
    "GDALClose": (INT, [POINTER]),
    "GDALFlushCache": (INT, [POINTER]),
    "GDALTranslateOptionsNew": (POINTER, [LIST, POINTER]),
    "GDALTranslateOptionsFree": (None, [POINTER]),
    "GDALTranslate": (POINTER, [TEXT, POINTER, POINTER, ctypes.POINTER(INT)]),
    "GDALGetRasterXSize": (INT, [POINTER]),
    "GDALGetRasterYSize": (INT, [POINTER]),
    "GDALGetRasterCount": (INT, [POINTER]),
    "GDALGetRasterBand": (POINTER, [POINTER, INT]),
    "GDALGetRasterDataType": (INT, [POINTER]),
    "GDALGetGeoTransform": (INT, [POINTER, ctypes.POINTER(DOUBLE)]),
    "GDALSetGeoTransform": (INT, [POINTER, ctypes.POINTER(DOUBLE)]),
    "GDALGetGCPCount": (INT, [POINTER]),
    "GDALGetGCPs": (ctypes.POINTER(Gcp), [POINTER]),
    "GDALSetGCPs": (INT, [POINTER, INT, ctypes.POINTER(Gcp), TEXT]),
    "GDALGetSpatialRef": (POINTER, [POINTER]),
    "GDALGetGCPSpatialRef": (POINTER, [POINTER]),
    "GDALSetProjection": (INT, [POINTER, TEXT]),
    "GDALGetRasterNoDataValue": (DOUBLE, [POINTER, ctypes.POINTER(INT)]),
    "GDALGetRasterNoDataValueAsInt64": (ctypes.c_int64, [POINTER, ctypes.POINTER(INT)]),
    "GDALGetRasterNoDataValueAsUInt64": (ctypes.c_uint64, [POINTER, ctypes.POINTER(INT)]),
    "GDALSetRasterNoDataValue": (INT, [POINTER, DOUBLE]),
    "GDALSetRasterNoDataValueAsInt64": (INT, [POINTER, ctypes.c_int64]),
    "GDALSetRasterNoDataValueAsUInt64": (INT, [POINTER, ctypes.c_uint64]),
    "GDALGetMaskFlags": (INT, [POINTER]),
    "GDALGetMaskBand": (POINTER, [POINTER]),
    "GDALCreateDatasetMaskBand": (INT, [POINTER, INT]),
    "GDALGetDescription": (TEXT, [POINTER]),
    "GDALSetDescription": (None, [POINTER, TEXT]),
    "GDALGetRasterUnitType": (TEXT, [POINTER]),
    "GDALSetRasterUnitType": (INT, [POINTER, TEXT]),
    "GDALGetRasterScale": (DOUBLE, [POINTER, ctypes.POINTER(INT)]),
    "GDALSetRasterScale": (INT, [POINTER, DOUBLE]),
    "GDALGetRasterOffset": (DOUBLE, [POINTER, ctypes.POINTER(INT)]),
    "GDALSetRasterOffset": (INT, [POINTER, DOUBLE]),
    "GDALGetRasterColorInterpretation": (INT, [POINTER]),
    "GDALSetRasterColorInterpretation": (INT, [POINTER, INT]),
    "GDALGetRasterColorTable": (POINTER, [POINTER]),
    "GDALSetRasterColorTable": (INT, [POINTER, POINTER]),
    "GDALCreateColorTable": (POINTER, [INT]),
    "GDALDestroyColorTable": (None, [POINTER]),
    "GDALSetColorEntry": (None, [POINTER, INT, ctypes.POINTER(ColourEntry)]),
    "GDALGetColorEntryCount": (INT, [POINTER]),
    "GDALGetColorEntry": (ctypes.POINTER(ColourEntry), [POINTER, INT]),
    "GDALGetMetadata": (LIST, [POINTER, TEXT]),
    "GDALGetMetadataItem": (TEXT, [POINTER, TEXT, TEXT]),
    "GDALSetMetadataItem": (INT, [POINTER, TEXT, TEXT, TEXT]),
    "GDALGetOverviewCount": (INT, [POINTER]),
    "GDALBuildOverviews": (INT, [POINTER, TEXT, INT, ctypes.POINTER(INT), INT, POINTER, POINTER, POINTER]),
    "GDALComputeRasterStatistics": (INT, [POINTER, INT] + [ctypes.POINTER(DOUBLE)] * 4 + [POINTER, POINTER]),
    "GDALRasterIO": (INT, [POINTER, INT, INT, INT, INT, INT, POINTER, INT, INT, INT, INT, INT]),
    "OSRNewSpatialReference": (POINTER, [TEXT]),
    "OSRDestroySpatialReference": (None, [POINTER]),
    "OSRSetFromUserInput": (INT, [POINTER, TEXT]),
    "OSRSetAxisMappingStrategy": (None, [POINTER, INT]),
    "OSRIsSame": (INT, [POINTER, POINTER]),
    "OSRExportToWktEx": (INT, [POINTER, ctypes.POINTER(POINTER), LIST]),
    "OSRGetAuthorityCode": (TEXT, [POINTER, TEXT]),
    "OSRSetPROJSearchPaths": (None, [LIST]),
}


class GdalError(Exception):
    pass


def fetch_library():
    """The path of the pinned library, or None where it cannot be fetched."""
    root = pathlib.Path(__file__).resolve().parents[2]
    done = subprocess.run([root / "tools/oracle/fetch_gdal.sh"], text=True, stdout=subprocess.PIPE)
    return pathlib.Path(done.stdout.strip()) if done.returncode == 0 else None


def texts(words):
    """A list of strings as C has it, ended by NULL."""
    encoded = [os.fsencode(str(word)) for word in words]
    return (ctypes.c_char_p * (len(encoded) + 1))(*encoded, None)


def pairs(found):
    """The NAME=VALUE strings of a list of GDAL."""
    items, index = {}, 0
    while found and found[index] is not None:
        name, _, value = found[index].decode("utf-8", "replace").partition("=")
        items[name] = value
        index += 1
    return items


@dataclasses.dataclass
class Mask:
    flags: int
    pixels: numpy.ndarray


@dataclasses.dataclass
class Described:
    """All that GDAL says of a dataset. Lists have one entry a band."""
    size: tuple
    dtypes: list
    pixels: list
    transform: tuple  # or None
    gcps: list
    wkt: str
    nodata: list
    masks: list
    descriptions: list
    units: list
    scales: list
    offsets: list
    colours: list
    palettes: list
    metadata: dict
    band_metadata: list
    rpc: dict
    overviews: int


class Gdal:
    def __init__(self, path):
        data = path.parents[1] / "rasterio"
        self.library = ctypes.CDLL(str(path))
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(self.library, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        self.errors = []
        self.handler = HANDLER(lambda level, number, message: self.errors.append(
            (level, message.decode("utf-8", "replace"))))
        self.set_option("GDAL_DATA", str(data / "gdal_data"))
        self.set_option("GDAL_TIFF_INTERNAL_MASK", "YES")
        self.set_option("GDAL_PAM_ENABLED", "NO")
        self.set_option("GDAL_DISABLE_READDIR_ON_OPEN", "EMPTY_DIR")
        self.OSRSetPROJSearchPaths(texts([data / "proj_data"]))
        self.GDALAllRegister()
        self.CPLPushErrorHandler(self.handler)

    def set_option(self, name, value):
        self.CPLSetConfigOption(name.encode(), value.encode())

    def message(self):
        return "; ".join(text for _, text in self.errors) or "no message"

    @contextlib.contextmanager
    def open(self, path, update=False, options=()):
        self.errors.clear()
        handle = self.GDALOpenEx(os.fsencode(str(path)), RASTER | (UPDATE if update else 0), None,
                                 texts(options), None)
        if not handle:
            raise GdalError(f"{path}: {self.message()}")
        try:
            yield handle
        finally:
            self.GDALClose(handle)

    @contextlib.contextmanager
    def create(self, path, size, bands, dtype, options=()):
        """A new GeoTIFF; dtype is numpy's name."""
        self.errors.clear()
        number = next(number for number, name in TYPES.items() if name == dtype)
        handle = self.GDALCreate(self.GDALGetDriverByName(b"GTiff"), os.fsencode(str(path)), *size, bands, number,
                                 texts(options))
        if not handle:
            raise GdalError(f"{path}: {self.message()}")
        try:
            yield handle
        finally:
            self.GDALClose(handle)

    def translate(self, source, target, arguments, open_options=()):
        """What `gdal_translate ARGUMENTS SOURCE TARGET` does. Returns the warnings."""
        with self.open(source, options=open_options) as dataset:
            options = self.GDALTranslateOptionsNew(texts(arguments), None)
            if not options:
                raise GdalError(f"usage: {self.message()}")
            wrong = INT()
            result = self.GDALTranslate(os.fsencode(str(target)), dataset, options, wrong)
            self.GDALTranslateOptionsFree(options)
            if not result or wrong.value:
                raise GdalError(self.message())
            self.GDALClose(result)
            if any(level >= 3 for level, _ in self.errors):
                raise GdalError(self.message())
            return [text for _, text in self.errors]

    # Reading -------------------------------------------------------------------------------------

    def read_band(self, band, size):
        """The pixels of a band. Complex integers have a last dimension of two."""
        number = self.GDALGetRasterDataType(band)
        if number in COMPLEX_INT:
            pixels = numpy.empty((size[1], size[0], 2), COMPLEX_INT[number][1])
        else:
            pixels = numpy.empty((size[1], size[0]), TYPES[number])
        if self.GDALRasterIO(band, READ, 0, 0, *size, pixels.ctypes.data, *size, number, 0, 0) != 0:
            raise GdalError(self.message())
        return pixels

    def write_band(self, band, pixels):
        pixels = numpy.ascontiguousarray(pixels)
        number = next(number for number, name in TYPES.items() if name == pixels.dtype.name)
        size = pixels.shape[1], pixels.shape[0]
        if self.GDALRasterIO(band, WRITE, 0, 0, *size, pixels.ctypes.data, *size, number, 0, 0) != 0:
            raise GdalError(self.message())

    def band_nodata(self, band):
        """The value, as a number that is equal to what the band declares, or None."""
        has = INT()
        name = TYPES.get(self.GDALGetRasterDataType(band))
        read = {"int64": self.GDALGetRasterNoDataValueAsInt64,
                "uint64": self.GDALGetRasterNoDataValueAsUInt64}.get(name, self.GDALGetRasterNoDataValue)
        value = read(band, has)
        return value if has.value else None

    def palette(self, band):
        table = self.GDALGetRasterColorTable(band)
        if not table:
            return None
        return [tuple(self.GDALGetColorEntry(table, index).contents.c)
                for index in range(self.GDALGetColorEntryCount(table))]

    def gcps(self, dataset):
        found = self.GDALGetGCPs(dataset)
        return [(point.column, point.row, point.x, point.y, point.z)
                for point in found[:self.GDALGetGCPCount(dataset)]] if self.GDALGetGCPCount(dataset) else []

    def export_wkt(self, crs):
        if not crs:
            return ""
        text = POINTER()
        self.OSRExportToWktEx(crs, text, texts(["FORMAT=WKT2_2019"]))
        wkt = ctypes.string_at(text).decode() if text else ""
        self.VSIFree(text)
        return wkt

    def make_crs(self, text):
        """A CRS from EPSG:n, WKT, PROJ strings; never freed."""
        crs = self.OSRNewSpatialReference(None)
        if self.OSRSetFromUserInput(crs, text.encode()) != 0:
            raise GdalError(f"{text}: {self.message()}")
        self.OSRSetAxisMappingStrategy(crs, TRADITIONAL)
        return crs

    def same_crs(self, one, other):
        """Compares the WKT of two datasets."""
        if one == other or not one or not other:
            return one == other
        crs = [self.make_crs(wkt) for wkt in (one, other)]
        same = bool(self.OSRIsSame(*crs))
        for each in crs:
            self.OSRDestroySpatialReference(each)
        return same

    def describe(self, path, options=()):
        """Described. Overviews and masks are those in the file."""
        with self.open(path, options=options) as dataset:
            return self.describe_dataset(dataset)

    def describe_dataset(self, dataset):
        size = self.GDALGetRasterXSize(dataset), self.GDALGetRasterYSize(dataset)
        bands = [self.GDALGetRasterBand(dataset, index + 1) for index in range(self.GDALGetRasterCount(dataset))]
        numbers = [self.GDALGetRasterDataType(band) for band in bands]
        transform = (DOUBLE * 6)()
        has_transform = self.GDALGetGeoTransform(dataset, transform) == 0
        gcps = self.gcps(dataset)
        crs = self.GDALGetGCPSpatialRef(dataset) if gcps else self.GDALGetSpatialRef(dataset)
        masks, read = [], {}
        for band in bands:
            flags, handle = self.GDALGetMaskFlags(band), self.GDALGetMaskBand(band)
            if handle not in read:
                read[handle] = self.read_band(handle, size) if not flags & 1 else None
            masks.append(Mask(flags, read[handle]))
        colours = [self.GDALGetRasterColorInterpretation(band) for band in bands]
        return Described(
            size=size,
            dtypes=[TYPES.get(number) or COMPLEX_INT[number][0] for number in numbers],
            pixels=[self.read_band(band, size) for band in bands],
            transform=tuple(transform) if has_transform else None,
            gcps=gcps,
            wkt=self.export_wkt(crs),
            nodata=[self.band_nodata(band) for band in bands],
            masks=masks,
            descriptions=[(self.GDALGetDescription(band) or b"").decode("utf-8", "replace") for band in bands],
            units=[(self.GDALGetRasterUnitType(band) or b"").decode("utf-8", "replace") for band in bands],
            scales=[self.GDALGetRasterScale(band, None) for band in bands],
            offsets=[self.GDALGetRasterOffset(band, None) for band in bands],
            colours=[COLOURS[colour] if colour < len(COLOURS) else str(colour) for colour in colours],
            palettes=[self.palette(band) for band in bands],
            metadata=pairs(self.GDALGetMetadata(dataset, None)),
            band_metadata=[pairs(self.GDALGetMetadata(band, None)) for band in bands],
            rpc=pairs(self.GDALGetMetadata(dataset, b"RPC")),
            overviews=self.GDALGetOverviewCount(bands[0]) if bands else 0)
