#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GDAL's own script validate_cloud_optimized_geotiff, with the full check, as a program.

    cog_gdal_script.py LIBGDAL FOLDER

FOLDER has the package osgeo_utils (tools/oracle/fetch_cog_check.sh). The script wants the package
osgeo: what it uses of it is made here of LIBGDAL (tools/oracle/fetch_gdal.sh). Reads paths from
stdin, one a line, and prints for each a line of JSON: [errors, warnings].
"""
import ctypes
import json
import sys
import types

FUNCTIONS = {  # name: (result, parameters); p: pointer, s: text, i: int, z: size
    "GDALAllRegister": ("v", ""), "CPLSetConfigOption": ("v", "ss"),
    "CPLPushErrorHandler": ("v", "p"),
    "CPLGetLastErrorMsg": ("s", ""), "GDALOpen": ("p", "si"), "GDALClose": ("i", "p"),
    "GDALGetDescription": ("s", "p"), "GDALGetDatasetDriver": ("p", "p"),
    "GDALGetDriverShortName": ("s", "p"), "GDALGetFileList": ("p", "p"), "CSLDestroy": ("v", "p"),
    "GDALGetMetadataItem": ("s", "pss"), "GDALGetRasterBand": ("p", "pi"),
    "GDALGetRasterCount": ("i", "p"), "GDALGetRasterXSize": ("i", "p"),
    "GDALGetRasterYSize": ("i", "p"), "GDALGetBlockSize": ("v", "ppp"),
    "GDALGetMaskBand": ("p", "p"), "GDALGetMaskFlags": ("i", "p"),
    "GDALGetOverviewCount": ("i", "p"), "GDALGetOverview": ("p", "pi"),
    "GDALGetRasterBandXSize": ("i", "p"), "GDALGetRasterBandYSize": ("i", "p"),
    "GDALGetBandNumber": ("i", "p"), "GDALGetBandDataset": ("p", "p"),
    "VSIFOpenL": ("p", "ss"), "VSIFCloseL": ("i", "p"), "VSIFSeekL": ("i", "pzi"),
    "VSIFReadL": ("z", "pzzp"),
}
TYPES = {"v": None, "p": ctypes.c_void_p, "s": ctypes.c_char_p, "i": ctypes.c_int,
         "z": ctypes.c_size_t}


class Library:
    """The functions; text is str on this side."""

    def __init__(self, path):
        library = ctypes.CDLL(path)
        for name, (result, parameters) in FUNCTIONS.items():
            function = getattr(library, name)
            function.restype = TYPES[result]
            function.argtypes = [TYPES[letter] for letter in parameters]
            setattr(self, name, with_text(function))
        self.CPLSetConfigOption("GDAL_PAM_ENABLED", "NO")
        self.CPLSetConfigOption("GDAL_DISABLE_READDIR_ON_OPEN", "EMPTY_DIR")
        self.GDALAllRegister()
        self.quiet = ctypes.cast(library.CPLQuietErrorHandler, ctypes.c_void_p)


def with_text(function):
    def call(*arguments):
        answer = function(*(a.encode() if isinstance(a, str) else a for a in arguments))
        return answer.decode(errors="replace") if isinstance(answer, bytes) else answer
    return call


class Band:
    def __init__(self, gdal, handle):
        self.gdal, self.handle = gdal, handle
        self.XSize = gdal.GDALGetRasterBandXSize(handle)
        self.YSize = gdal.GDALGetRasterBandYSize(handle)

    def GetBlockSize(self):
        size = (ctypes.c_int * 2)()
        at = ctypes.addressof(size)
        self.gdal.GDALGetBlockSize(self.handle, at, at + ctypes.sizeof(ctypes.c_int))
        return list(size)

    def GetMaskBand(self):
        return Band(self.gdal, self.gdal.GDALGetMaskBand(self.handle))

    def GetMaskFlags(self):
        return self.gdal.GDALGetMaskFlags(self.handle)

    def GetMetadataItem(self, name, domain=""):
        return self.gdal.GDALGetMetadataItem(self.handle, name, domain)

    def GetOverviewCount(self):
        return self.gdal.GDALGetOverviewCount(self.handle)

    def GetOverview(self, index):
        return Band(self.gdal, self.gdal.GDALGetOverview(self.handle, index))

    def GetBand(self):
        return self.gdal.GDALGetBandNumber(self.handle)

    def GetDataset(self):
        return Dataset(self.gdal, self.gdal.GDALGetBandDataset(self.handle))


class Dataset:
    def __init__(self, gdal, handle):
        self.gdal, self.handle = gdal, handle
        self.RasterCount = gdal.GDALGetRasterCount(handle)
        self.RasterXSize = gdal.GDALGetRasterXSize(handle)
        self.RasterYSize = gdal.GDALGetRasterYSize(handle)

    def GetDescription(self):
        return self.gdal.GDALGetDescription(self.handle)

    def GetDriver(self):
        driver = self.gdal.GDALGetDatasetDriver(self.handle)
        return types.SimpleNamespace(ShortName=self.gdal.GDALGetDriverShortName(driver))

    def GetFileList(self):
        found, index = self.gdal.GDALGetFileList(self.handle), 0
        names, texts = [], ctypes.cast(found, ctypes.POINTER(ctypes.c_char_p))
        while found and texts[index] is not None:
            names.append(texts[index].decode())
            index += 1
        self.gdal.CSLDestroy(found)
        return names

    def GetMetadataItem(self, name, domain=""):
        return self.gdal.GDALGetMetadataItem(self.handle, name, domain)

    def GetRasterBand(self, number):
        return Band(self.gdal, self.gdal.GDALGetRasterBand(self.handle, number))


def package(gdal):
    """What the script imports as osgeo.gdal."""
    def read(size, count, file):
        room = ctypes.create_string_buffer(size * count)
        whole = gdal.VSIFReadL(ctypes.addressof(room), size, count, file)
        return room.raw[:whole * size]

    made = types.ModuleType("osgeo.gdal")
    made.__dict__.update(VSIFOpenL=gdal.VSIFOpenL, VSIFCloseL=gdal.VSIFCloseL,
                         VSIFSeekL=gdal.VSIFSeekL, VSIFReadL=read, GMF_PER_DATASET=2)
    return made


def validate(gdal, script, path):
    """(errors, warnings)"""
    gdal.CPLPushErrorHandler(gdal.quiet)
    handle = gdal.GDALOpen(path, 0)
    if not handle:
        return [gdal.CPLGetLastErrorMsg()], []
    try:
        warnings, errors, _ = script.validate(Dataset(gdal, handle), full_check=True)
    except Exception as error:  # whatever it raises is its answer
        warnings, errors = [], [f"{type(error).__name__}: {error}"]
    gdal.GDALClose(handle)
    return errors, warnings


def main():
    gdal = Library(sys.argv[1])
    sys.path.insert(0, sys.argv[2])
    osgeo = types.ModuleType("osgeo")
    osgeo.gdal = package(gdal)
    sys.modules.update({"osgeo": osgeo, "osgeo.gdal": osgeo.gdal})
    from osgeo_utils.samples import validate_cloud_optimized_geotiff as script
    for line in sys.stdin:
        print(json.dumps(validate(gdal, script, line.rstrip("\n"))), flush=True)


if __name__ == "__main__":
    main()
