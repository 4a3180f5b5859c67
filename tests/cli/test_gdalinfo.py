# SPDX-License-Identifier: Apache-2.0
"""The same keys and the same values as gdalinfo -json, asked of the GDAL in the rasterio wheel."""

import ctypes
import json
import math
import os
import pathlib

import pytest

from test_info import rich_images
from tiffmaker import ASCII, DOUBLE, MASK, OVERVIEW, SHORT, Image, gdal_metadata, geo_keys, north_up, tiff

rasterio = pytest.importorskip("rasterio", reason="rasterio is not installed")

UTM = geo_keys((1024, 1), (1025, 1), (3072, 26711))
WGS84 = geo_keys((1024, 2), (1025, 1), (2048, 4326))


@pytest.fixture(scope="module")
def gdalinfo():
    folder = pathlib.Path(rasterio.__file__).parent
    libraries = list((folder.parent / "rasterio.libs").glob("libgdal-*"))
    if not libraries:
        pytest.skip("this rasterio does not bring its own GDAL")
    gdal = ctypes.CDLL(str(libraries[0]))
    gdal.GDALOpenEx.restype = gdal.GDALInfoOptionsNew.restype = ctypes.c_void_p
    gdal.GDALOpenEx.argtypes = [ctypes.c_char_p, ctypes.c_uint] + [ctypes.c_void_p] * 3
    gdal.GDALInfo.restype = ctypes.c_char_p
    gdal.GDALInfo.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    gdal.GDALClose.argtypes = [ctypes.c_void_p]
    gdal.CPLSetConfigOption.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    for name, value in ((b"GDAL_PAM_ENABLED", b"NO"),
                        (b"GDAL_DISABLE_READDIR_ON_OPEN", b"EMPTY_DIR"),
                        (b"PROJ_DATA", os.fsencode(folder / "proj_data"))):
        gdal.CPLSetConfigOption(name, value)
    gdal.OSRSetPROJSearchPaths.argtypes = [ctypes.POINTER(ctypes.c_char_p)]
    gdal.OSRSetPROJSearchPaths((ctypes.c_char_p * 2)(os.fsencode(folder / "proj_data"), None))
    gdal.GDALAllRegister()
    arguments = (ctypes.c_char_p * 4)(b"-json", b"-mdd", b"all", None)
    options = gdal.GDALInfoOptionsNew(arguments, None)

    def ask(path):
        dataset = gdal.GDALOpenEx(path.encode(), 0x42, None, None, None)
        assert dataset, f"GDAL does not open {path}"
        answer = json.loads(gdal.GDALInfo(dataset, options).decode())
        gdal.GDALClose(dataset)
        return answer
    return ask


METADATA = gdal_metadata(('name="TITLE"', "text"), ('name="A" domain="OTHER"', "1"),
                         ('name="STATISTICS_MINIMUM" sample="0"', "1"),
                         ('name="STATISTICS_MAXIMUM" sample="0"', "9"),
                         ('name="DESCRIPTION" sample="0" role="description"', "what"),
                         ('name="UNITTYPE" sample="0" role="unittype"', "m"),
                         ('name="SCALE" sample="0" role="scale"', "0.5"),
                         ('name="OFFSET" sample="0" role="offset"', "3"))
RAMP = [i * 257 for i in range(256)]
FILES = {
    "plain": [Image(20, 10, tags=north_up(440720.0, 3751320.0, 60.0) + UTM)],
    "geographic": [Image(36, 18, tags=north_up(-180.0, 90.0, 10.0) + WGS84)],
    "point": [Image(20, 10, tags=north_up(500000.0, 4000000.0, 60.0)
                    + geo_keys((1024, 1), (1025, 2), (3072, 32611)))],
    "none": [Image(20, 10)],
    "rgba": [Image(20, 10, bands=4)],
    "rotated": [Image(20, 10, tags=UTM + [(34264, DOUBLE, [
        6.0, 2.0, 0.0, 440000.0, 2.0, -6.0, 0.0, 3750000.0] + [0.0] * 7 + [1.0])])],
    "gcps": [Image(20, 10, tags=WGS84 + [(33922, DOUBLE, [
        0.0, 0.0, 0.0, 10.0, 50.0, 0.0, 20.0, 0.0, 0.0, 11.0, 50.0, 0.0,
        0.0, 10.0, 0.0, 10.0, 49.0, 5.0])])],
    "nodata": [Image(20, 10, bits=16, tags=[(339, SHORT, [2]), (42113, ASCII, "-32768")])],
    "nodata64": [Image(20, 10, bits=64, tags=[(339, SHORT, [2]), (42113, ASCII, str(-2 ** 63))])],
    "nan": [Image(20, 10, bits=32, tags=[(339, SHORT, [3]), (42113, ASCII, "nan")])],
    "infinite": [Image(20, 10, bits=32, tags=[(339, SHORT, [3]), (42113, ASCII, "-inf")])],
    "bits": [Image(20, 10, bits=12)],
    "palette": [Image(20, 10, tags=[(262, SHORT, [3]), (42113, ASCII, "7"),
                                    (320, SHORT, RAMP + RAMP[::-1] + [0] * 256)])],
    "grey_palette": [Image(20, 10, tags=[(42113, ASCII, "7"), (320, SHORT, RAMP + RAMP[::-1] + [0] * 256)])],
    "white_palette": [Image(20, 10, tags=[(262, SHORT, [0]), (320, SHORT, RAMP + RAMP[::-1] + [0] * 256)])],
    "palette_of_three": [Image(20, 10, bands=3, tags=[(262, SHORT, [1]), (338, SHORT, [0, 0]),
                                                      (320, SHORT, RAMP + RAMP[::-1] + [0] * 256)])],
    "signed_palette": [Image(20, 10, tags=[(339, SHORT, [2]), (320, SHORT, RAMP * 3)])],
    "palette_by_256": [Image(20, 10, tags=[(262, SHORT, [3]), (320, SHORT, [i * 256 for i in range(256)] * 3)])],
    "palette_of_any": [Image(20, 10, tags=[(262, SHORT, [3]), (320, SHORT, [i * i for i in range(256)] * 3)])],
    "short_map": [Image(20, 10, tags=[(320, SHORT, RAMP)])],
    "palette8": [Image(20, 10, tags=[(262, SHORT, [3]), (320, SHORT, list(range(256)) * 3)])],
    "tags": [Image(20, 10, tags=[(270, ASCII, "d\u00e9j\u00e0 \"vu\""), (305, ASCII, "me"),
                                 (306, ASCII, "2024:01:02 03:04:05"), (282, 5, [72, 1]),
                                 (283, 5, [1, 3]), (296, SHORT, [2]), (50908, ASCII, "id")])],
    "metadata": [Image(20, 10, tags=[METADATA])],
    "rpc": [Image(20, 10, tags=[(50844, DOUBLE, [i / 4 for i in range(92)])])],
    "overviews": [Image(64, 64, tile=(16, 16)), Image(32, 32, tile=(16, 16), kind=OVERVIEW),
                  Image(16, 16, tile=(16, 16), kind=OVERVIEW)],
    "mask": [Image(64, 64, tile=(16, 16)),
             Image(64, 64, tile=(16, 16), bits=1, kind=MASK, tags=[(262, SHORT, [4])])],
    "by_band": [Image(20, 10, bands=3, by_band=True)],
    "predictor": [Image(20, 10, tags=[(259, SHORT, [8]), (317, SHORT, [2])])],
    "compound": [Image(20, 10, tags=north_up(440720.0, 3751320.0, 60.0)
                       + geo_keys((1024, 1), (1025, 1), (3072, 26711), (4096, 5773), minor=1))],
    "rich": rich_images(),
}


def alike(ours, theirs):
    """Equal, up to the digits that gdalinfo prints."""
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(alike(ours[key], theirs[key]) for key in ours)
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(theirs, float) and not isinstance(ours, str):
        return math.isclose(ours, theirs, rel_tol=1e-8, abs_tol=1e-3 if abs(theirs) > 1000 else 2e-7)
    return ours == theirs


def without(answer, *keys):
    return {key: value for key, value in answer.items() if key not in keys}


def domains(metadata):
    """Domains that have items, without those that only GDAL has."""
    only_gdal = ("DERIVED_SUBDATASETS", "COLOR_PROFILE")
    return {name: items for name, items in metadata.items() if items and name not in only_gdal}


def comparable(answer):
    """Members that gdalinfo and terrazzo both have. WKT depends on the version of PROJ's database."""
    answer = without(answer, "stac", "terrazzo", "extent")
    for holder in (answer, answer.get("gcps", {})):
        if "coordinateSystem" in holder:
            holder["coordinateSystem"] = without(holder["coordinateSystem"], "wkt")
    answer["metadata"] = domains(answer["metadata"])
    for band in answer["bands"]:
        band["metadata"] = domains(band["metadata"])
    return answer


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("big", [False, True], ids=["classic", "big"])
def test_like_gdalinfo(gdalinfo, info, save, features, name, big):
    if features["proj"] is None or features["expat"] is None:
        pytest.skip("built without proj or expat")
    path = save(tiff(FILES[name], byte_order=">" if big else "<", big=big))
    ours, theirs = comparable(info(path)), comparable(gdalinfo(path))
    assert ours.keys() == theirs.keys()
    for key in theirs:
        assert alike(ours[key], theirs[key]), f"{key}\nours   {ours[key]}\ntheirs {theirs[key]}"


@pytest.mark.parametrize("kind", [514, DOUBLE])
def test_a_text_tag_of_another_type_is_not_text(run, save, kind):
    """Its values are not bytes of text: those of an unknown type are not even read."""
    path = save([Image(4, 4, tags=[(269, kind, b"secretly" * 8)])])
    done = run("info", "--json", path)
    assert done.returncode == 0 and "TIFFTAG_DOCUMENTNAME" not in done.stdout
