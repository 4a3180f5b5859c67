# SPDX-License-Identifier: Apache-2.0
"""terrazzo info --json: valid, exact, and as doc/info.schema.json says."""

import json
import math
import pathlib

import jsonschema
import pytest

from test_info import RICH_GHOST, needs, rich_images
from tiffmaker import ASCII, BYTE, DOUBLE, FLOAT, LONG, LONG8, SHORT, SLONG8, Image, gdal_metadata, geo_keys
from tiffmaker import north_up

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMA = json.loads((ROOT / "doc" / "info.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def check(answer):
    error = jsonschema.exceptions.best_match(VALIDATOR.iter_errors(answer))
    assert error is None, f"{error.json_path}: {error.message}"
    return answer


def refuse_duplicates(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key twice: {keys}"
    return dict(pairs)


@pytest.fixture
def rich(save):
    return save(rich_images(), ghost=RICH_GHOST)


def test_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_everything_follows_the_schema(run, info, rich, plain):
    check(info(rich))
    check(info("--tags", "--tiles", "--limits", rich))
    check(info("--no-crs", plain))
    check(info(rich, plain))
    check(info("--limits"))
    check(json.loads(run("info", "--json", "/nowhere").stdout))
    check(json.loads(run("info", "--json", "/nowhere", plain, "/nowhere").stdout))


def test_rich_file(info, rich, features):
    needs(features, "expat", "proj")
    answer = info("--tiles", rich)
    assert answer["driverShortName"] == "GTiff"
    assert answer["files"] == [rich]
    assert answer["size"] == [600, 400]
    assert answer["coordinateSystem"]["wkt"].startswith('PROJCRS["WGS 84 / UTM zone 32N"')
    assert answer["coordinateSystem"]["dataAxisToSRSAxisMapping"] == [1, 2]
    assert answer["cornerCoordinates"] == {
        "upperLeft": [500000, 5200000], "lowerLeft": [500000, 5188000],
        "lowerRight": [518000, 5188000], "upperRight": [518000, 5200000], "center": [509000, 5194000]}
    ring = answer["wgs84Extent"]["coordinates"][0]
    assert ring[0] == ring[4] and ring[0] == pytest.approx([9, 46.95], abs=0.01)
    assert answer["metadata"] == {
        "": {"AREA_OR_POINT": "Area", "LINEAGE": "two\nlines", "TIFFTAG_SOFTWARE": "tiffmaker",
             "TITLE": "A <rich> file"},
        "IMAGE_STRUCTURE": {"INTERLEAVE": "BAND", "LAYOUT": "COG"},
        "PROVIDER": {"CLOUDS": "12 %"}}
    first, second, third = answer["bands"]
    statistics = {"STATISTICS_MAXIMUM": "9", "STATISTICS_MEAN": "5", "STATISTICS_MINIMUM": "1",
                  "STATISTICS_STDDEV": "2.5"}
    assert first == {
        "band": 1, "block": [256, 256], "type": "Int16", "colorInterpretation": "Gray",
        "description": "elevation", "min": 1, "max": 9, "minimum": 1, "maximum": 9, "mean": 5,
        "stdDev": 2.5, "noDataValue": -32768, "unit": "m", "offset": -100, "scale": 0.1,
        "overviews": [{"size": [300, 200]}],
        "mask": {"flags": ["PER_DATASET"], "overviews": [{"size": [300, 200]}]},
        "metadata": {"": statistics}}
    assert (second["description"], second["metadata"], "unit" in second) == ("slope", {}, False)
    assert third["band"] == 3


def test_our_own_part(info, rich, features):
    own = info("--tiles", "--limits", rich)["terrazzo"]
    assert own["dtype"] == "int16"
    assert own["nodata"] == {"kind": "int", "value": -32768, "text": "-32768"}
    assert [level["size"] for level in own["levels"]] == [[600, 400], [300, 200]]
    assert [level["size"] for level in own["masks"]] == [[600, 400], [300, 200]]
    level = own["levels"][0]
    assert (level["tiles"], level["tile_count"], level["sparse_tiles"]) == ([3, 2], 18, 1)
    assert level["stored_size"] == 17 * 256 * 256 * 2
    assert own["embedded"]["icc_profile"] == 300
    assert own["ghost"]["ifds_before_data"] is True
    assert own["geo"]["epsg"] == 32632
    assert {"id": 3072, "name": "ProjectedCRSGeoKey", "type": "SHORT", "value": [32632]} in \
        own["geo"]["keys"]
    assert own["cog"]["is_cog"] == (own["cog"]["problems"] == [])
    assert len(own["tiles"]) == 18 + 6 + 6 + 1 * 2
    assert own["tiles"][4] == {"level": 0, "mask": False, "tile": 4, "row": 1, "column": 1,
                               "band": 0, "offset": 0, "size": 0, "sparse": True}
    assert own["limits"]["max_levels"] == 64
    assert own["warnings"] == [] or features["expat"] is None


def test_not_a_cog_and_why(info, save):
    cog = info(save([Image(2000, 10)]))["terrazzo"]["cog"]
    assert cog["is_cog"] is False
    assert {"not_tiled", "no_overviews"} <= {problem["name"] for problem in cog["problems"]}
    assert all(problem["text"] for problem in cog["problems"])


@pytest.mark.parametrize("bits, sample_format, text, value", [
    (64, 2, "-9223372036854775808", -2 ** 63), (64, 1, "18446744073709551615", 2 ** 64 - 1),
    (64, 2, "9007199254740993", 2 ** 53 + 1), (8, 1, "0", 0), (64, 3, "0.1", 0.1),
    (64, 3, "1e300", 1e300), (64, 3, "nan", "NaN"), (64, 3, "-inf", "-Infinity"),
    (64, 3, "inf", "Infinity"), (64, 3, "-9999", -9999)])
def test_nodata_is_exact(info, save, bits, sample_format, text, value):
    path = save([Image(2, 2, bits=bits, tags=[(339, SHORT, [sample_format]), (42113, ASCII, text)])])
    answer = check(info(path))
    assert answer["bands"][0]["noDataValue"] == value
    assert answer["terrazzo"]["nodata"]["value"] == value


def test_numbers_read_back_the_same(info, save):
    doubles = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0, 123456789.12345678, math.nan, math.inf]
    integers = [0, 2 ** 64 - 1, 2 ** 53 + 1]
    path = save([Image(2, 2, tags=[(65000, DOUBLE, doubles), (65001, LONG8, integers),
                                   (65002, SLONG8, [-2 ** 63]), (65003, FLOAT, [0.5])])], big=True)
    tags = {tag["tag"]: tag.get("values") for tag in info("--tags", path)["terrazzo"]["levels"][0]["tags"]}
    assert tags[65000] == doubles[:6] + ["NaN", "Infinity"]
    assert math.copysign(1, tags[65000][4]) == -1
    assert tags[65001] == integers and tags[65002] == [-2 ** 63] and tags[65003] == [0.5]


@pytest.mark.parametrize("raw, text", [
    (b"plain\0", "plain"), ("\u00e4\u20ac\U0001f600".encode() + b"\0", "\u00e4\u20ac\U0001f600"),
    (b'quote " back \\ slash\0', 'quote " back \\ slash'), (b"a\tb\nc\r\x01\x1f\x7f\0", "a\tb\nc\r\x01\x1f\x7f"),
    (b"bad \xff \xc3( \xe2\x82 \xed\xa0\x80 \xf5\x80\x80\x80\0",
     "bad \ufffd \ufffd( \ufffd\ufffd \ufffd\ufffd\ufffd \ufffd\ufffd\ufffd\ufffd"),
    (b"\xc0\xaf \xe0\x80\xaf\0", "\ufffd\ufffd \ufffd\ufffd\ufffd"), (b"end \xe2\x82\0", "end \ufffd\ufffd"),
    ("\u0085 \u2028 \u202e".encode() + b"\0", "\u0085 \u2028 \u202e")])
def test_text_of_any_kind(info, save, raw, text):
    path = save([Image(2, 2, tags=[(270, ASCII, raw)])])
    assert info(path)["metadata"][""]["TIFFTAG_IMAGEDESCRIPTION"] == text


def test_long_text_is_whole(info, save):
    """Characters of three bytes across every place where reading could be cut."""
    text = "x" + "\u20ac" * 20_000
    path = save([Image(2, 2, tags=[(270, ASCII, text)])])
    assert info(path)["metadata"][""]["TIFFTAG_IMAGEDESCRIPTION"] == text


def test_no_key_comes_twice(run, save, features):
    needs(features, "expat")
    items = [('name="A"', "1"), ('name="A"', "2"), ('name="AREA_OR_POINT"', "Point"),
             ('name="TIFFTAG_SOFTWARE"', "xml"), ('name="B" domain="D"', "3"), ('name="C"', "4"),
             ('name="B" domain="D"', "5"), ('name="E" domain="D"', "6"),
             ('name="COMPRESSION" domain="IMAGE_STRUCTURE"', "LZW"),
             ('name="NBITS" domain="IMAGE_STRUCTURE" sample="0"', "8"), ('name="A" sample="0"', "7")]
    path = save([Image(2, 2, bits=4, tags=[gdal_metadata(*items), (305, ASCII, "tag")]
                       + north_up(0.0, 0.0, 1.0) + geo_keys((1024, 1), (3072, 32632)))])
    answer = json.loads(run("info", "--json", path).stdout, object_pairs_hook=refuse_duplicates)
    assert answer["metadata"][""] == {"A": "2", "AREA_OR_POINT": "Area", "C": "4",
                                      "TIFFTAG_SOFTWARE": "tag"}
    assert answer["metadata"]["D"] == {"B": "5", "E": "6"}
    assert answer["bands"][0]["metadata"] == {"": {"A": "7"}, "IMAGE_STRUCTURE": {"NBITS": "4"}}


def test_many_domains_and_many_bands(run, save, features):
    """Grouping is not quadratic: 60,000 domains, then 60,000 bands."""
    needs(features, "expat")
    items = [(f'name="A" domain="D{i}"', i) for i in range(60_000)]
    answer = json.loads(run("info", "--json", save([Image(1, 1, tags=[gdal_metadata(*items)])])).stdout)
    assert len(answer["metadata"]) == 60_002
    path = save([Image(1, 1, bands=60_000, tags=[(338, SHORT, [0] * 59_999), (262, SHORT, [1])])])
    assert len(json.loads(run("info", "--json", path).stdout)["bands"]) == 60_000


def test_colour_table(info, save):
    ramp = [i * 257 for i in range(256)]
    path = save([Image(2, 2, tags=[(262, SHORT, [3]), (320, SHORT, ramp + ramp[::-1] + [0] * 256),
                                   (42113, ASCII, "7")])])
    table = info(path)["bands"][0]["colorTable"]
    assert (table["palette"], table["count"]) == ("RGB", 256)
    assert table["entries"][3] == [3, 252, 0, 255]
    assert table["entries"][7] == [7, 248, 0, 0]


def test_rpc(info, save):
    path = save([Image(2, 2, tags=[(50844, DOUBLE, [float(i) for i in range(92)])])])
    rpc = info(path)["metadata"]["RPC"]
    assert (rpc["ERR_BIAS"], rpc["LINE_OFF"], rpc["HEIGHT_SCALE"]) == ("0", "2", "11")
    assert rpc["LINE_NUM_COEFF"] == " ".join(str(i) for i in range(12, 32))
    assert rpc["SAMP_DEN_COEFF"] == " ".join(str(i) for i in range(72, 92))


def test_user_defined_keys(info, save):
    keys = geo_keys((1024, 1), (1026, "mine"), (3072, 32767), (3080, 9.0), (4096, 5773))
    geo = info("--no-crs", save([Image(2, 2, tags=keys)]))["terrazzo"]["geo"]
    by_id = {key["id"]: key["value"] for key in geo["keys"]}
    assert by_id == {1024: [1], 1026: "mine", 3072: [32767], 3080: [9], 4096: [5773]}
    assert (geo["epsg"], geo["epsg_vertical"]) == (32767, 5773)


@pytest.mark.parametrize("bits, sample_format, name, dtype", [
    (8, 1, "Byte", "uint8"), (8, 2, "Int8", "int8"), (16, 1, "UInt16", "uint16"),
    (16, 2, "Int16", "int16"), (32, 1, "UInt32", "uint32"), (32, 2, "Int32", "int32"),
    (64, 1, "UInt64", "uint64"), (64, 2, "Int64", "int64"), (16, 3, "Float16", "float16"),
    (32, 3, "Float32", "float32"), (64, 3, "Float64", "float64"),
    (32, 5, "CInt16", "complex_int16"), (64, 5, "CInt32", "complex_int32"),
    (64, 6, "CFloat32", "complex_float32"), (128, 6, "CFloat64", "complex_float64")])
def test_types(info, save, bits, sample_format, name, dtype):
    answer = check(info(save([Image(2, 2, bits=bits, tags=[(339, SHORT, [sample_format])])])))
    assert (answer["bands"][0]["type"], answer["terrazzo"]["dtype"]) == (name, dtype)


def test_alpha_is_a_mask_of_the_other_bands(info, save):
    bands = info(save([Image(2, 2, bands=4)]))["bands"]
    assert [band.get("mask", {}).get("flags") for band in bands] == [["PER_DATASET", "ALPHA"]] * 3 + [None]
    assert [band["colorInterpretation"] for band in bands] == ["Red", "Green", "Blue", "Alpha"]


def test_bytes_of_a_tag_are_not_text(info, save):
    path = save([Image(2, 2, tags=[(65000, BYTE, bytes(range(20))), (65001, LONG, list(range(100)))])])
    tags = {tag["tag"]: tag for tag in info("--tags", path)["terrazzo"]["levels"][0]["tags"]}
    assert tags[65000]["values"] == list(range(16)) and tags[65000]["count"] == 20
    assert tags[65001]["values"] == list(range(16)) and tags[65001]["size"] == 400
