# SPDX-License-Identifier: Apache-2.0
"""Conversions that change georeferencing and metadata."""

import json

from translate_case import Case, case, joined, words

OWN_WKT = ('PROJCRS["own grid",BASEGEOGCRS["own",DATUM["own",ELLIPSOID["own",6378000,298.25,LENGTHUNIT["metre",1]]],'
           'PRIMEM["Greenwich",0,ANGLEUNIT["degree",0.0174532925199433]]],CONVERSION["own",'
           'METHOD["Transverse Mercator",ID["EPSG",9807]],'
           'PARAMETER["Latitude of natural origin",1,ANGLEUNIT["degree",0.0174532925199433]],'
           'PARAMETER["Longitude of natural origin",2,ANGLEUNIT["degree",0.0174532925199433]],'
           'PARAMETER["Scale factor at natural origin",0.999,SCALEUNIT["unity",1]],'
           'PARAMETER["False easting",1000,LENGTHUNIT["metre",1]],'
           'PARAMETER["False northing",2000,LENGTHUNIT["metre",1]]],CS[Cartesian,2],AXIS["(E)",east,ORDER[1],'
           'LENGTHUNIT["metre",1]],AXIS["(N)",north,ORDER[2],LENGTHUNIT["metre",1]]]')
OWN_PROJ = "+proj=laea +lat_0=45 +lon_0=10 +x_0=1000 +y_0=2000 +ellps=GRS80 +units=m +no_defs"
PROJJSON = json.dumps({
    "$schema": "https://proj.org/schemas/v0.7/projjson.schema.json", "type": "GeographicCRS", "name": "ETRS89",
    "datum": {"type": "GeodeticReferenceFrame", "name": "European Terrestrial Reference System 1989",
              "ellipsoid": {"name": "GRS 1980", "semi_major_axis": 6378137, "inverse_flattening": 298.257222101}},
    "coordinate_system": {"subtype": "ellipsoidal", "axis": [
        {"name": "Geodetic latitude", "abbreviation": "Lat", "direction": "north", "unit": "degree"},
        {"name": "Geodetic longitude", "abbreviation": "Lon", "direction": "east", "unit": "degree"}]},
    "id": {"authority": "EPSG", "code": 4258}})


# Georeferencing -----------------------------------------------------------------------------------


def crs_case(text, option="--crs", theirs=None):
    return Case("crs", [option, text], ["-a_srs", theirs or text])


@case("crs")
def crs_by_code(source):
    return crs_case("EPSG:3035")


@case("crs")
def crs_by_number(source):
    return crs_case("25832", "--epsg", "EPSG:25832")


@case("crs")
def crs_compound(source):
    return crs_case("EPSG:4326+5773")


@case("crs")
def crs_by_wkt(source):
    return crs_case(OWN_WKT)


@case("crs")
def crs_by_proj_string(source):
    return crs_case(OWN_PROJ)


@case("crs")
def crs_by_projjson(source):
    return crs_case(PROJJSON)


@case("crs")
def crs_none(source):
    return crs_case("none")


@case("transform")
def transform_given(source):
    return Case("transform", ["--transform", "1000.5,2.5,0,2000.25,0,-2.25"],
                ["-a_gt", "1000.5", "2.5", "0", "2000.25", "0", "-2.25"])


@case("transform")
def transform_rotated(source):
    return Case("transform", ["--transform", "1000.5,2.5,0.25,2000.25,0.5,-2.25"],
                ["-a_gt", "1000.5", "2.5", "0.25", "2000.25", "0.5", "-2.25"])


@case("bounds")
def bounds_given(source):
    return Case("bounds", ["--bounds", "100,200,350.5,900"], ["-a_ullr", "100", "900", "350.5", "200"])


@case("gcp")
def points_with_crs(source):
    points = [(0, 0, 10, 20), (30.5, 0, 11, 20, 5), (0, 25.25, 10, 19), (30.5, 25.25, 11, 19.5, -1.5)]
    return Case("gcp", ["--crs", "EPSG:4258", *[word for point in points for word in ("--gcp", joined(*point))]],
                ["-a_srs", "EPSG:4258", *[word for point in points for word in ("-gcp", *words(*point))]])


@case("gcp")
def points_alone(source):
    points = [(0, 0, 10, 20), (30.5, 0, 11, 20), (0, 25.25, 10, 19)]
    return Case("gcp", [word for point in points for word in ("--gcp", joined(*point))],
                [word for point in points for word in ("-gcp", *words(*point))])


# Metadata -----------------------------------------------------------------------------------------


def tag_case(*items):
    return Case("tag", [word for item in items for word in ("--tag", item)],
                [word for item in items for word in ("-mo", item)])


@case("tag")
def tags_of_the_default_domain(source):
    return tag_case("AUTHOR=another", "new item=a=b <c> & \"d\"", "Zürich=ü")


@case("tag")
def tags_of_tiff(source):
    return tag_case("TIFFTAG_SOFTWARE=writer 2", "TIFFTAG_ARTIST=an artist", "TIFFTAG_DATETIME=2025:01:02 03:04:05",
                    "TIFFTAG_COPYRIGHT=nobody", "TIFFTAG_DOCUMENTNAME=a name", "TIFFTAG_IMAGEDESCRIPTION=a picture",
                    "TIFFTAG_HOSTCOMPUTER=one")


@case("tag")
def tags_of_resolution(source):
    return tag_case("TIFFTAG_XRESOLUTION=118.5", "TIFFTAG_YRESOLUTION=59.25", "TIFFTAG_RESOLUTIONUNIT=3")


@case("tag")
def tag_of_points(source):
    return tag_case("AREA_OR_POINT=Point")


@case("tag")
def tag_of_areas(source):
    return tag_case("AREA_OR_POINT=Area")


@case("unset")
def tag_removed(source):
    names = [name for name in source.about.metadata
             if name != "AREA_OR_POINT" and not name.startswith("TIFFTAG")] or ["absent"]
    return Case("unset", ["--unset", names[0]], ["-mo", f"{names[0]}="])


@case("unset")
def tag_of_tiff_removed(source):
    names = [name for name in source.about.metadata if name.startswith("TIFFTAG") and "RESOLUTION" not in name]
    if not names:
        return None
    return Case("unset", ["--unset", names[0]], [], lambda about: about.metadata.pop(names[0]))


@case("band-tag")
def tags_of_bands(source):
    last = source.count()

    def change(about):
        about.band_metadata[last - 1]["KEY"] = "a value"
        about.band_metadata[0]["other"] = "1=2"
    return Case("band-tag", ["--band-tag", f"{last}:KEY=a value", "--band-tag", "1:other=1=2"], [], change)


@case("description")
def descriptions_of_bands(source):
    last = source.count()

    def change(about):
        about.descriptions[0] = "first"
        about.descriptions[last - 1] = "the last, länger"
    return Case("description", ["--description", "1=first", "--description", f"{last}=the last, länger"], [], change)


@case("unit")
def units_of_bands(source):
    last = source.count()

    def change(about):
        about.units[0] = "m"
        about.units[last - 1] = "µg/m³"
    return Case("unit", ["--unit", "1=m", "--unit", f"{last}=µg/m³"], [], change)
