#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GeoKeys that tz_crs_to_geo makes, beside those of GDAL 3.12.

    check_crs.py CRS_DUMP

Each CRS is written into a file by terrazzo and by GDAL. GDAL must read the same CRS from ours, and keys of
the projection must have the same values. GDAL is the library of tools/oracle/fetch_gdal.sh. Prints TAP; needs
.venv.
"""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from tap import Tap, skip_all  # noqa: E402

try:
    import tifffile
except ImportError as error:
    skip_all("crs", f"a package of tests/requirements.txt is missing: {error}")

# Projections of every method, units, meridians, orders of axes, and both ways of south.
EPSG = """
    2000 2053 2056 2062 2100 2154 2169 2180 2193 2225 2264 2326 2393 2443 3003 3006 3031 3034 3035
    3067 3078 3083 3112 3347 3395 3413 3577 3832 3857 3994 4087 5070 5479 5513 5514 5530 5880 6372 6677 6931 6933
    7850 8441 21781 22275 23700 24200 24547 25832 26717 26729 26916 27200 27561 27700 28191 28355 28992 29873 31287
    31370 31468 32161 32633 32661 32733
    4150 4258 4267 4269 4283 4314 4322 4326 4490 4617 4674 4807 4901 6668 7844 9000 4979 4937 4978 4936
    7415 5498 9518 6349
""".split()
COMPOUND = ["EPSG:25832+5783", "EPSG:4326+5773", "EPSG:32633+3855", "EPSG:2225+6360"]
AUTHORITIES = ["OGC:CRS84", "ESRI:102001", "ESRI:54030", "ESRI:54009", "ESRI:102003", "ESRI:53008", "IAU_2015:49900"]
WGS84 = "+datum=WGS84 +no_defs"
PROJ = [
    f"+proj=utm +zone=33 {WGS84}",
    f"+proj=utm +zone=33 +units=km {WGS84}",
    f"+proj=tmerc +lat_0=1 +lon_0=9 +k=0.9996 +x_0=500000 +y_0=10 {WGS84}",
    f"+proj=lcc +lat_1=30 +lat_2=60 +lat_0=40 +lon_0=10 +x_0=1 +y_0=2 {WGS84}",
    f"+proj=lcc +lat_1=49 +lat_0=49 +lon_0=3 +k_0=0.999 {WGS84}",
    f"+proj=aea +lat_1=30 +lat_2=60 +lat_0=40 +lon_0=10 +x_0=1 +y_0=2 +units=us-ft {WGS84}",
    "+proj=laea +lat_0=40 +lon_0=10 +x_0=1 +y_0=2 +ellps=GRS80",
    "+proj=laea +lat_0=40 +lon_0=10 +x_0=1 +y_0=2 +R=6371000",
    f"+proj=stere +lat_0=90 +lat_ts=70 +lon_0=-45 {WGS84}",
    f"+proj=stere +lat_0=-90 +k=0.994 +lon_0=10 {WGS84}",
    f"+proj=stere +lat_0=30 +lon_0=10 +k=0.9 {WGS84}",
    f"+proj=sterea +lat_0=52 +k=0.9999 +lon_0=5 +x_0=155000 {WGS84}",
    f"+proj=omerc +lat_0=4 +lonc=115 +alpha=53 +gamma=52 +k=0.99984 +x_0=1 +y_0=2 {WGS84}",
    f"+proj=omerc +no_uoff +lat_0=4 +lonc=115 +alpha=53 +gamma=52 +k=0.99984 +x_0=1 +y_0=2 {WGS84}",
    "+proj=somerc +lat_0=47 +lon_0=7 +ellps=bessel",
    f"+proj=eqc +lat_ts=20 +lon_0=10 {WGS84}",
    f"+proj=eqc +lat_ts=20 +lat_0=5 +lon_0=10 {WGS84}",
    f"+proj=merc +lat_ts=20 +lon_0=10 {WGS84}",
    f"+proj=merc +k=0.9 +lon_0=10 {WGS84}",
    f"+proj=cea +lat_ts=20 {WGS84}",
    f"+proj=aeqd +lat_0=10 +lon_0=20 {WGS84}",
    f"+proj=eqdc +lat_1=20 +lat_2=60 +lon_0=3 {WGS84}",
    f"+proj=cass +lat_0=31 +lon_0=35 {WGS84}",
    "+proj=gnom +lat_0=30 +lon_0=10 +R=6371000",
    f"+proj=mill +lon_0=10 {WGS84}",
    f"+proj=ortho +lat_0=30 +lon_0=10 {WGS84}",
    f"+proj=poly +lat_0=3 +lon_0=-54 {WGS84}",
    f"+proj=robin +lon_0=10 {WGS84}",
    f"+proj=sinu +lon_0=10 {WGS84}",
    "+proj=sinu +R=6371007.181",
    "+proj=vandg +lon_0=10 +R=6371000",
    f"+proj=moll +lon_0=10 {WGS84}",
    "+proj=krovak +ellps=bessel",
    f"+proj=eck4 +lon_0=10 {WGS84}",
    "+proj=tmerc +lat_0=1 +lon_0=10 +pm=paris +ellps=bessel",
    "+proj=tmerc +lon_0=9 +x_0=3500000 +ellps=bessel +towgs84=598.1,73.7,418.2,0.202,0.045,-2.455,6.7",
    "+proj=lcc +lat_1=49.5 +lat_0=49.5 +lon_0=0 +k_0=0.999 +ellps=clrk80ign +pm=paris",
    "+proj=longlat +a=6377397 +rf=299 +pm=3",
    "+proj=longlat +R=1737400",
    "+proj=longlat +ellps=bessel",
    "+proj=longlat +datum=NAD27",
    "+proj=longlat +ellps=bessel +towgs84=598.1,73.7,418.2,0.202,0.045,-2.455,6.7",
    "+proj=geocent +a=6377397 +rf=299",
]
PARIS = '''PROJCRS["own, of Paris",BASEGEOGCRS["NTF (Paris)",DATUM["Nouvelle Triangulation Francaise (Paris)",
ELLIPSOID["Clarke 1880 (IGN)",6378249.2,293.466021293627]],PRIMEM["Paris",2.5969213,
ANGLEUNIT["grad",0.015707963267949]],ID["EPSG",4807]],CONVERSION["x",METHOD["Lambert Conic Conformal (1SP)",
ID["EPSG",9801]],PARAMETER["Latitude of natural origin",54,ANGLEUNIT["grad",0.015707963267949]],
PARAMETER["Longitude of natural origin",1,ANGLEUNIT["grad",0.015707963267949]],
PARAMETER["Scale factor at natural origin",0.99,SCALEUNIT["unity",1]],PARAMETER["False easting",600000,
LENGTHUNIT["metre",1]],PARAMETER["False northing",200000,LENGTHUNIT["metre",1]]],CS[Cartesian,2],
AXIS["easting (X)",east],AXIS["northing (Y)",north],LENGTHUNIT["metre",1]]'''
GEOGRAPHIC_ESRI = '''GEOGCS["GCS_Own",DATUM["D_Own",SPHEROID["Own_Sphere",6370000.0,0.0]],
PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'''
PROJECTED_GDAL = '''PROJCS["own",GEOGCS["DHDN",DATUM["Deutsches_Hauptdreiecksnetz",SPHEROID["Bessel 1841",6377397.155,
299.1528128,AUTHORITY["EPSG","7004"]],AUTHORITY["EPSG","6314"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],
UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AUTHORITY["EPSG","4314"]],PROJECTION["Transverse_Mercator"],
PARAMETER["latitude_of_origin",0],PARAMETER["central_meridian",13],PARAMETER["scale_factor",1],
PARAMETER["false_easting",5500000],PARAMETER["false_northing",0],UNIT["metre",1,AUTHORITY["EPSG","9001"]]]'''
WKT = [" ".join(text.split("\n")) for text in (PARIS, GEOGRAPHIC_ESRI, PROJECTED_GDAL)]

DIRECTORY, DOUBLES, TEXT = 34735, 34736, 34737
METHOD, FIRST_PARAMETER, LAST_PARAMETER = 3075, 3078, 3096


def keys_of(path):
    """{id: number, text or tuple}"""
    with tifffile.TiffFile(path) as file:
        tags = file.pages[0].tags
        directory = tags[DIRECTORY].value
        doubles = tags[DOUBLES].value if DOUBLES in tags else ()
        text = tags[TEXT].value if TEXT in tags else ""
    found = {}
    for i in range(4, 4 + 4 * directory[3], 4):
        key, place, count, value = directory[i:i + 4]
        found[key] = (value if place == 0 else text[value:value + count].rstrip("|") if place == TEXT else
                      doubles[value] if count == 1 else tuple(doubles[value:value + count]))
    return found


FUNCTIONS = {  # name: (result, parameters); p: pointer, s: text, i: int
    "GDALAllRegister": ("v", ""), "CPLPushErrorHandler": ("v", "p"), "CPLSetConfigOption": ("v", "ss"),
    "OSRNewSpatialReference": ("p", "s"), "OSRSetFromUserInput": ("i", "ps"),
    "OSRSetAxisMappingStrategy": ("v", "pi"), "OSRClone": ("p", "p"), "OSRRelease": ("v", "p"),
    "OSRIsSame": ("i", "pp"), "OSRExportToWkt": ("i", "pp"), "VSIFree": ("v", "p"),
    "GDALGetDriverByName": ("p", "s"), "GDALCreate": ("p", "psiiiip"), "GDALOpen": ("p", "si"),
    "GDALClose": ("i", "p"), "GDALSetSpatialRef": ("i", "pp"), "GDALGetSpatialRef": ("p", "p"),
    "GDALSetGeoTransform": ("i", "pp"), "GDALVersionInfo": ("s", "s"),
}
TYPES = {"v": None, "p": ctypes.c_void_p, "s": ctypes.c_char_p, "i": ctypes.c_int}
EAST_FIRST, BYTE = 0, 1  # OAMS_TRADITIONAL_GIS_ORDER, GDT_Byte


class Gdal:
    """CRSs, and files of one pixel that have one."""

    def __init__(self):
        path = subprocess.run([str(HERE.parents[1] / "tools/oracle/fetch_gdal.sh")], text=True, check=True,
                              stdout=subprocess.PIPE).stdout.strip()
        data = pathlib.Path(path).parents[1] / "rasterio"
        os.environ["PROJ_DATA"] = str(data / "proj_data")  # libgeotiff has a context of PROJ of its own
        os.environ["GDAL_DATA"] = str(data / "gdal_data")
        library = ctypes.CDLL(path)
        for name, (result, parameters) in FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = TYPES[result], [TYPES[letter] for letter in parameters]
            setattr(self, name, function)
        self.CPLPushErrorHandler(ctypes.cast(library.CPLQuietErrorHandler, ctypes.c_void_p))
        self.CPLSetConfigOption(b"GDAL_PAM_ENABLED", b"NO")
        self.GDALAllRegister()

    def release(self):
        return self.GDALVersionInfo(b"RELEASE_NAME").decode()

    def crs(self, definition):
        crs = self.OSRNewSpatialReference(None)
        assert self.OSRSetFromUserInput(crs, definition.encode()) == 0, f"GDAL does not know {definition}"
        self.OSRSetAxisMappingStrategy(crs, EAST_FIRST)
        return crs

    def wkt(self, crs):
        text = ctypes.c_void_p()
        self.OSRExportToWkt(crs, ctypes.byref(text))
        answer = ctypes.string_at(text).decode() if text else None
        self.VSIFree(text)
        return answer

    def write(self, path, crs):
        file = self.GDALCreate(self.GDALGetDriverByName(b"GTiff"), path.encode(), 1, 1, 1, BYTE, None)
        assert file, path
        self.GDALSetGeoTransform(file, (ctypes.c_double * 6)(100, 10, 0, 200, 0, -10))
        self.GDALSetSpatialRef(file, crs)
        assert self.GDALClose(file) == 0, path

    def read(self, path):
        """The CRS of a file, to be released; None."""
        file = self.GDALOpen(path.encode(), 0)
        crs = file and self.GDALGetSpatialRef(file)
        copy = self.OSRClone(crs) if crs else None
        if copy:
            self.OSRSetAxisMappingStrategy(copy, EAST_FIRST)
        if file:
            self.GDALClose(file)
        return copy


def projection_of(keys):
    return {key: value for key, value in keys.items()
            if key == METHOD or FIRST_PARAMETER <= key <= LAST_PARAMETER}


def same_projection(ours, theirs):
    """Keys of the method and its parameters; a scale of 1 and a latitude of 0 may be left out."""
    ours, theirs = projection_of(ours), projection_of(theirs)
    defaults = {3092: 1, 3081: 0, 3089: 0}
    for key in ours.keys() | theirs.keys():
        a, b = ours.get(key, defaults.get(key)), theirs.get(key, defaults.get(key))
        if a is None or b is None or abs(a - b) > 1e-9 * max(1, abs(b)):
            return f"key {key}: {a}, of GDAL {b}"
    return None


def wrong_crs(gdal, definition, ours, theirs):
    """The CRS that GDAL reads from our file, unless it is what was asked for, or what GDAL reads from its own."""
    crs = gdal.crs(definition)
    gdal.write(theirs, crs)
    read, by_gdal = gdal.read(ours), gdal.read(theirs)
    same = read and any(other and gdal.OSRIsSame(read, other) for other in (crs, by_gdal))
    problem = None if same else f"read as {gdal.wkt(read) if read else None}"
    for each in (crs, read, by_gdal):
        gdal.OSRRelease(each)
    return problem


def complaint(program, gdal, definition, folder):
    """What is wrong with the CRS of the file that terrazzo writes, or None."""
    ours, theirs = str(folder / "a.tif"), str(folder / "b.tif")
    pathlib.Path(ours).unlink(missing_ok=True)
    program.stdin.write(f"{ours}\t{definition}\n")
    program.stdin.flush()
    answer = program.stdout.readline().strip()
    if answer != "ok":
        return answer
    problem = wrong_crs(gdal, definition, ours, theirs)
    if problem:
        return problem
    keys, gdal_keys = keys_of(ours), keys_of(theirs)
    if 1026 not in keys:
        return "no citation"
    codes = {str(keys.get(key)) for key in (2048, 3072)}
    if definition.startswith("EPSG:") and 4096 not in keys and definition[5:] not in codes:
        return f"codes {codes}"
    return same_projection(keys, gdal_keys) if METHOD in gdal_keys and METHOD in keys else None


def main():
    own = dict(os.environ)  # the program has another PROJ
    tap, gdal = Tap(), Gdal()
    tap.check(f"GDAL is {gdal.release()}", gdal.release().startswith("3.12."), None)
    definitions = [f"EPSG:{code}" for code in EPSG] + COMPOUND + AUTHORITIES + PROJ + WKT
    with tempfile.TemporaryDirectory() as folder, \
            subprocess.Popen([sys.argv[1]], env=own, text=True, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE) as program:
        for definition in definitions:
            problem = complaint(program, gdal, definition, pathlib.Path(folder))
            tap.check(definition[:60], problem is None, problem)
        program.stdin.close()
    sys.exit(tap.finish())


if __name__ == "__main__":
    main()
