# SPDX-License-Identifier: Apache-2.0
"""terrazzo validate: the page, the JSON, exit codes and several files; test_validate_defects.py has
what the checks find."""

import json
import pathlib
import re

import jsonschema
import numpy as np
import pytest

from conftest import ROOT, call
from tiffmaker import Image, geo_keys, north_up, tiff

SCHEMA = json.loads((ROOT / "doc" / "validate.schema.json").read_text())
pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
CLASSES = ["tiff", "geotiff", "cog", "gdal"]


def answer_of(*arguments, code):
    done = call("validate", "--json", *arguments)
    answer = json.loads(done.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(answer)
    assert done.returncode == code, done.stderr
    return answer


def check(answer, name):
    return next(check for check in answer["checks"] if check["id"] == name)


@pytest.fixture
def strips(save):
    """Valid by the rules of GDAL, being small, but not by those of OGC."""
    return save([Image(20, 10, tags=north_up(440720.0, 3751320.0, 60.0)
                       + geo_keys((1024, 1), (1025, 1), (3072, 26711)))])


def test_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_answer(strips):
    answer = answer_of(strips, code=0)
    assert answer["file"] == strips
    assert (answer["valid"], answer["strict"], answer["full"], answer["opened"]) == \
        (True, False, False, True)
    assert answer["classes"] == {"tiff": "pass", "geotiff": "pass", "cog": "fail", "gdal": "pass"}
    ids = [check["id"] for check in answer["checks"]]
    assert len(ids) == len(set(ids))
    assert [check["class"] for check in answer["checks"]] == \
        sorted((name.split(".")[0] for name in ids), key=CLASSES.index)
    tiled = check(answer, "cog.tiled")
    assert (tiled["group"], tiled["outcome"], tiled["count"]) == ("format", "fail", 1)
    finding = tiled["findings"][0]
    assert (finding["ifd"], finding["level"], finding["tile"]) == (0, 0, None)
    assert check(answer, "cog.http-range")["outcome"] == "not_applicable"
    assert check(answer, "tiff.pixels")["note"] == "asked for with full only"
    assert {check["group"] for check in answer["checks"] if check["class"] == "cog"} == \
        {"format", "keys", "overviews", "optimized", "http-range"}


def test_strict_counts_all_classes(strips):
    assert answer_of("--strict", strips, code=3)["valid"] is False


def test_page(strips):
    done = call("validate", strips)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == strips
    assert lines[-1] == "valid"
    assert "OGC COG: fail" in done.stdout
    assert any(line.startswith("  fail ") and "cog.tiled" in line for line in lines)
    assert any("IFD 0: level 0: stored in strips at byte" in line for line in lines)
    assert "tiff.header" not in done.stdout
    assert "tiff.header" in call("validate", "-v", strips).stdout
    strictly = call("validate", "--strict", strips)
    assert strictly.returncode == 3
    assert strictly.stdout.splitlines()[-1] == "not valid, strictly"


def test_full_decodes_every_tile(strips):
    answer = answer_of("--full", strips, code=0)
    assert answer["tiles"]["decoded"] == answer["tiles"]["all"] > 0
    assert check(answer, "tiff.pixels")["outcome"] == "pass"


@pytest.mark.parametrize("content, name", [
    (b"", "tiff.header"), (b"II*\0", "tiff.header"), (b"hello, world", "tiff.header"),
    (b"II*\0\0\0\0\0", "tiff.opens"), (b"II*\0\xff\0\0\0", "tiff.opens"),
    (b"II+\0\x04\0\0\0" + bytes(8), "tiff.header"),
])
def test_files_that_do_not_open(save, content, name):
    answer = answer_of(save(content), code=3)
    assert (answer["valid"], answer["opened"]) == (False, False)
    failed = [check["id"] for check in answer["checks"] if check["outcome"] == "fail"]
    assert failed == [name]
    assert check(answer, name)["findings"][0]["message"]
    assert answer["classes"]["tiff"] == "fail"
    assert answer["classes"]["gdal"] == "not_applicable"


def test_what_cannot_be_read_at_all(tmp_path):
    for path in (tmp_path / "missing.tif", tmp_path):
        answer = answer_of(str(path), code=1)
        assert answer["error"]["message"]
        done = call("validate", str(path))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("error: ")


def test_something_else_where_overviews_would_be(strips):
    beside = pathlib.Path(strips + ".ovr")
    beside.symlink_to(strips)
    assert check(answer_of(strips, code=3), "gdal.external-overviews")["outcome"] == "fail"
    beside.unlink()
    beside.mkdir()
    finding = check(answer_of(strips, code=3), "gdal.external-overviews")["findings"][0]
    assert "is a directory" in finding["message"]
    beside.rmdir()
    beside.write_bytes(b"junk")
    assert check(answer_of(strips, code=3), "gdal.external-overviews")["outcome"] == "fail"


def test_several_files(strips, save, tmp_path):
    bad = save(b"no", "bad.tif")
    answers = answer_of(strips, bad, code=3)
    assert [answer["valid"] for answer in answers] == [True, False]
    answers = answer_of(strips, bad, str(tmp_path / "missing.tif"), strips, code=1)
    assert [answer.get("valid") for answer in answers] == [True, False, None, True]
    page = call("validate", bad, strips).stdout
    assert page.index(bad) < page.index(strips)


@pytest.mark.parametrize("arguments", [[], ["--nonsense", "a.tif"], ["--threads", "x", "a.tif"],
                                       ["--page"], ["--limit", "max_ifds", "a.tif"]])
def test_wrong_usage(arguments):
    done = call("validate", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "terrazzo validate -h" in done.stderr


def test_pages_and_limits(save):
    path = save([Image(20, 10), Image(600, 30)])
    assert check(answer_of(path, code=0), "gdal.tiled")["outcome"] == "pass"
    assert check(answer_of("--page", "1", path, code=3), "gdal.tiled")["outcome"] == "fail"
    assert answer_of("--page", "2", path, code=1)["error"]
    answer = answer_of("--limit", "max_ifds=1", path, code=3)
    assert check(answer, "tiff.opens")["findings"][0]["limit"] == "max_ifds"


def test_info_agrees(strips, save, raster):
    """The quick look of `info` and the validation are one and the same."""
    paths = [strips, save([Image(2000, 10)], "b.tif"),
             raster(np.zeros((1, 700, 700), "uint8"), "c.tif", tiled=True, blockxsize=256,
                    blockysize=256),
             raster(np.zeros((1, 700, 700), "uint8"), "d.tif", tiled=True, blockxsize=256,
                    blockysize=256, overviews=[2, 4])]
    for path in paths:
        cog = json.loads(call("info", "--json", path).stdout)["terrazzo"]["cog"]
        answer = json.loads(call("validate", "--json", path).stdout)
        assert cog["is_cog"] == (answer["classes"]["gdal"] != "fail")
        names = {problem["name"] for problem in cog["problems"]}
        for problem, name in (("not_tiled", "gdal.tiled"), ("no_overviews", "gdal.overviews"),
                              ("ifd_not_first", "gdal.ifd-first"), ("ifd_order", "gdal.ifd-order"),
                              ("data_before_ifds", "gdal.data-after-ifds"),
                              ("data_order", "gdal.data-order"),
                              ("not_georeferenced", "cog.geotiff")):
            assert (problem in names) == (check(answer, name)["count"] > 0)


def test_hostile_name_and_text(save, tmp_path):
    path = tmp_path / "a\x1b[31m\n.tif"
    path.write_bytes(tiff([Image(20, 10)]))
    page = call("validate", str(path)).stdout
    assert "\x1b" not in page
    assert answer_of(str(path), code=0)["file"] == str(path)


def test_warnings_of_opening_belong_to_checks(strips):
    """Every check that the table of src/validate/open_warnings.c names is one."""
    table = (ROOT / "src" / "validate" / "open_warnings.c").read_text()
    named = set(re.findall(r'"((?:tiff|geotiff|cog|gdal)\.[a-z-]+)"', table))
    assert len(named) > 15
    assert named <= {check["id"] for check in answer_of(strips, code=0)["checks"]}


def test_the_document_has_every_check(strips):
    page = (ROOT / "doc" / "validation.md").read_text()
    rows = re.findall(r"^\| `([a-z.-]+)` \|(?: [a-z-]+ \|)? ([^|]+) \|", page, re.MULTILINE)
    assert rows == [(check["id"], check["text"]) for check in answer_of(strips, code=0)["checks"]]
