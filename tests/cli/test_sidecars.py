# SPDX-License-Identifier: Apache-2.0
"""Files beside an image: what --sidecars makes of them, beside GDAL, and that the command names those it leaves."""

import json
import os
import pathlib

import numpy
import pytest
import rasterio
from rasterio.control import GroundControlPoint
from rasterio.transform import from_origin

from tiffmaker import Image

UTM34 = rasterio.crs.CRS.from_epsg(32634).to_wkt()
OWN = rasterio.crs.CRS.from_string("+proj=laea +lat_0=10.5 +lon_0=11.25 +datum=WGS84 +units=m").to_wkt()
WORLD = "10\n0\n0\n-10\n1005\n1995\n"
TRANSFORM = "<GeoTransform> 100, 2, 0, 200, 0, -2</GeoTransform>"
GCPS = ('<GCPList Projection="EPSG:4326"><GCP Id="1" Info="" Pixel="0" Line="0" X="1" Y="2"/>'
        '<GCP Id="2" Pixel="8" Line="0" X="2" Y="2" Z="9"/><GCP Id="3" Pixel="0" Line="8" X="1" Y="1"/></GCPList>')
BAND = ("<PAMRasterBand band='1'><Description>from aux</Description><NoDataValue>-7</NoDataValue><UnitType>ft</UnitType>"
        "<Offset>5</Offset><Scale>6</Scale><ColorInterp>Red</ColorInterp><Metadata>"
        "<MDI key='STATISTICS_MAXIMUM'>42</MDI><MDI key='STATISTICS_MINIMUM'>1</MDI><MDI key='B'>aux &lt;b&gt;</MDI>"
        "</Metadata></PAMRasterBand>")
ITEMS = '<Metadata><MDI key="A">aux</MDI><MDI key="C">c</MDI></Metadata><Metadata domain="D"><MDI key="A">d</MDI></Metadata>'
RICH = dict(crs="EPSG:32633", transform=from_origin(5e5, 5e6, 30, 30), nodata=-1)


def quote(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def aux(*parts):
    return "<PAMDataset>" + "".join(parts) + "</PAMDataset>"


@pytest.fixture
def image(tmp_path):
    """Writes a file with rasterio, rich or bare, and the files beside it: {".aux.xml": text, "a.tfw": text}."""
    def write(rich=False, bands=1, gcps=None, name="a.tif", beside=None, **profile):
        path = tmp_path / name
        if rich:
            profile = RICH | profile
        with rasterio.open(path, "w", driver="GTiff", width=8, height=8, count=bands, dtype="int16",
                           **profile) as file:
            file.write(numpy.ones((bands, 8, 8), "int16"))
            if rich:
                file.update_tags(A="tif", X="x")
                file.update_tags(1, B="tif", Y="y")
                file.set_band_description(1, "tif")
                file.units = ("m",)
                file.scales, file.offsets = (2,), (3,)
            if gcps:
                file.gcps = gcps, "EPSG:4326"
        for ending, text in (beside or {}).items():
            target = tmp_path / (name + ending if ending.startswith(".") else ending)
            target.write_text(text)
        return str(path)
    return write


def facts_of_gdal(path):
    """With sidecars, whatever other tests of this process have set in the same GDAL."""
    with rasterio.Env(GDAL_PAM_ENABLED="YES", GDAL_DISABLE_READDIR_ON_OPEN="FALSE"), rasterio.open(path) as file:
        points, _ = file.gcps
        return {"epsg": file.crs.to_epsg() if file.crs else file.gcps[1] and file.gcps[1].to_epsg(),
                "transform": None if file.transform.is_identity else list(file.transform.to_gdal()),
                "gcps": [(p.col, p.row, p.x, p.y, p.z or 0) for p in points],
                "nodata": file.nodatavals[0], "tags": file.tags(), "d": file.tags(ns="D"),
                "band": file.tags(1), "description": file.descriptions[0], "unit": file.units[0],
                "scale": file.scales[0], "offset": file.offsets[0], "color": file.colorinterp[0].name}


def facts_of(answer):
    band = answer["bands"][0]
    own = answer["terrazzo"]["geo"]
    metadata = dict(answer["metadata"].get("", {}))
    points = answer.get("gcps", {}).get("gcpList", [])
    band_tags = dict(band.get("metadata", {}).get("", {}))
    return {"epsg": own["epsg"], "transform": answer.get("geoTransform"),
            "gcps": [(p["pixel"], p["line"], p["x"], p["y"], p["z"]) for p in points],
            "nodata": band.get("noDataValue"), "tags": metadata, "d": answer["metadata"].get("D", {}),
            "band": band_tags, "description": band.get("description"), "unit": band.get("unit"),
            "scale": band.get("scale", 1.0), "offset": band.get("offset", 0.0),
            "color": band["colorInterpretation"].lower()}


@pytest.mark.parametrize("rich", [True, False], ids=["rich", "bare"])
@pytest.mark.parametrize("beside", [
    {".aux.xml": aux(f"<SRS>{quote(UTM34)}</SRS>", TRANSFORM, ITEMS, BAND)},
    {".aux.xml": aux(BAND)},
    {".aux.xml": aux(TRANSFORM)},
    {".aux.xml": aux("<SRS>EPSG:32634</SRS>")},
    {".aux.xml": aux(f"<SRS>{quote(UTM34.replace('PROJCS[', 'Projcs [', 1))}</SRS>")},
    {"a.tfw": WORLD},
    {"a.tfw": WORLD, ".aux.xml": aux(TRANSFORM)},
], ids=["all", "band", "transform", "srs", "spelled", "world", "world-and-aux"])
def test_values_are_those_of_gdal(info, image, features, rich, beside):
    if features["expat"] is None or features["proj"] is None:
        pytest.skip("built without expat or PROJ")
    path = image(rich, beside=beside)
    expected = facts_of_gdal(path)
    found = facts_of(info("--sidecars", path))
    for key in expected:
        if key == "epsg" and not expected[key]:
            assert not found[key]
        elif key == "tags":
            assert {k: v for k, v in found[key].items() if k != "AREA_OR_POINT"} == \
                   {k: v for k, v in expected[key].items() if k != "AREA_OR_POINT"}
        else:
            assert found[key] == expected[key] or (not found[key] and not expected[key]), key


@pytest.mark.parametrize("ending", ["a.tfw", "a.TFW", "a.tifw", "a.TIFW", "a.wld", "a.WLD"])
def test_world_files_are_found_where_gdal_finds_them(info, image, ending):
    path = image(beside={ending: WORLD})
    assert info("--sidecars", path)["geoTransform"] == facts_of_gdal(path)["transform"] == [1000, 10, 0, 2000, 0, -10]
    assert info(path)["terrazzo"]["sidecars"] == {"used": [], "unused": [str(pathlib.Path(path).parent / ending)]}


def test_control_points(info, image):
    points = [GroundControlPoint(0, 0, 10, 20), GroundControlPoint(0, 8, 11, 20), GroundControlPoint(8, 0, 10, 19)]
    for case in ({"gcps": points}, {}):
        path = image(beside={".aux.xml": aux(GCPS)}, **case)
        expected = facts_of_gdal(path)
        found = facts_of(info("--sidecars", path))
        assert found["gcps"] == expected["gcps"] and len(found["gcps"]) == 3
        assert found["epsg"] == expected["epsg"] == 4326
    path = image(gcps=points, beside={".aux.xml": aux(), "a.tfw": WORLD})
    assert facts_of(info("--sidecars", path))["transform"] == facts_of_gdal(path)["transform"]


def test_a_crs_without_a_code_is_written_too(run, image, tmp_path, features):
    if features["expat"] is None or features["proj"] is None:
        pytest.skip("built without expat or PROJ")
    path = image(beside={".aux.xml": aux(f"<SRS>{quote(OWN)}</SRS>", TRANSFORM)})
    out = str(tmp_path / "out.tif")
    done = run("cog", "--sidecars", path, out)
    assert done.returncode == 0, done.stderr
    with rasterio.Env(GDAL_PAM_ENABLED="YES", GDAL_DISABLE_READDIR_ON_OPEN="FALSE"), \
            rasterio.open(out) as file, rasterio.open(path) as source:
        assert file.transform == source.transform
        assert "Azimuthal" in file.crs.to_wkt() and "11.25" in file.crs.to_wkt()


def test_values_are_written_by_cog(run, image, tmp_path, features):
    if features["expat"] is None or features["proj"] is None:
        pytest.skip("built without expat or PROJ")
    path = image(True, beside={".aux.xml": aux(f"<SRS>{quote(UTM34)}</SRS>", TRANSFORM, ITEMS, BAND)})
    expected = facts_of_gdal(path)
    out = str(tmp_path / "out.tif")
    assert run("cog", "--sidecars", path, out).returncode == 0
    found = facts_of_gdal(out)
    for key in ("epsg", "transform", "nodata", "band", "description", "unit", "scale", "offset", "d"):
        assert found[key] == expected[key], key
    assert found["tags"]["A"] == "aux" and found["tags"]["X"] == "x"


def test_a_crs_that_is_not_understood_is_a_warning(run, image):
    path = image(True, beside={".aux.xml": aux("<SRS>LOCAL_CS[\"mine\",UNIT[\"metre\",1]]</SRS>")})
    done = run("info", "--json", "--sidecars", path)
    assert done.returncode == 0 and "warning: " in done.stderr and "a.tif.aux.xml" in done.stderr
    assert json.loads(done.stdout)["terrazzo"]["geo"]["epsg"] == 32633
    assert run("info", "--strict", "--sidecars", path).returncode == 1


def test_files_that_are_not_used_are_named_once(run, image, save, tmp_path):
    path = image(beside={".aux.xml": aux(TRANSFORM), "a.wld": WORLD, ".OVR": "x", ".msk": "x"})
    out = str(tmp_path / "out.tif")
    for command in (["info", path], ["info", "--json", path], ["plan", path], ["cog", path, out],
                    ["convert", path, str(tmp_path / "c.tif")], ["read", path, str(tmp_path / "a.npy")],
                    ["plan-cog", path, str(tmp_path / "plan")]):
        done = run(*command)
        assert done.returncode == 0, done.stderr
        notes = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
        assert len(notes) == 1, done.stderr
        for name in ("a.tif.OVR", "a.tif.msk", "a.tif.aux.xml", "a.wld"):
            assert name in notes[0], command
        assert run(command[0], "--quiet", *(["--overwrite"] if command[0] in ("cog", "convert", "read", "plan-cog") else []),
                   *command[1:]).stderr == ""
    done = run("diff", path, out)
    assert len([line for line in done.stderr.splitlines() if "not used" in line]) == 1
    done = run("validate", path)
    assert "a.wld" in done.stderr and "a.tif.OVR" not in done.stderr


def test_what_comes_from_where_is_said(run, info, image):
    path = image(beside={".aux.xml": aux(BAND), "a.tfw": WORLD})
    done = run("info", "--sidecars", path)
    notes = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
    assert len(notes) == 2
    assert "nodata, metadata, bands from" in notes[0] and notes[0].endswith("a.tif.aux.xml")
    assert "transform from" in notes[1] and notes[1].endswith("a.tfw")
    answer = info("--sidecars", path)
    assert answer["files"] == [path, path + ".aux.xml", path[:-3] + "tfw"]
    assert [use["values"] for use in answer["terrazzo"]["sidecars"]["used"]] == [
        ["nodata", "metadata", "bands"], ["transform"]]
    assert answer["terrazzo"]["sidecars"]["unused"] == []


BOMB = '<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;&b;">]><PAMDataset><SRS>&c;</SRS></PAMDataset>'


@pytest.mark.parametrize("text", [
    "", "<PAMDataset>", "<Other/>", BOMB, "\xff\xfe", "<PAMDataset>" + "<a>" * 100,
    aux('<PAMRasterBand band="2"><NoDataValue>1</NoDataValue></PAMRasterBand>'),
    aux("<GeoTransform>1, 2, 3</GeoTransform>"), aux("<GeoTransform>1,0,0,2,0,0</GeoTransform>"),
    aux('<GCPList><GCP Pixel="1"/></GCPList>'), aux("<PAMRasterBand band='1'><Scale>x</Scale></PAMRasterBand>"),
    aux("<PAMRasterBand band='1'><NoDataValue>x</NoDataValue></PAMRasterBand>"),
], ids=["empty", "open", "root", "entities", "utf-16", "depth", "band", "transform", "singular", "gcp", "scale",
        "nodata"])
def test_a_broken_aux_is_a_warning(run, image, text, features):
    if features["expat"] is None:
        pytest.skip("built without expat")
    path = image(beside={".aux.xml": ""})
    pathlib.Path(path + ".aux.xml").write_bytes(text.encode("latin-1"))
    done = run("info", "--sidecars", path)
    assert done.returncode == 0, done.stderr
    assert "warning: " in done.stderr and "a.tif.aux.xml: " in done.stderr
    assert run("info", "--sidecars", "--strict", path).returncode == 1


def test_limits_of_metadata_hold_for_aux(run, image, features):
    if features["expat"] is None:
        pytest.skip("built without expat")
    items = "".join(f'<MDI key="k{i}">v</MDI>' for i in range(100))
    path = image(beside={".aux.xml": aux(f"<Metadata>{items}</Metadata>")})
    for limit in ("max_xml_bytes=1000", "max_xml_depth=2", "max_metadata_items=99"):
        done = run("info", "--json", "--sidecars", "--limit", limit, path)
        assert done.returncode == 0 and limit.split("=")[0] in done.stderr
        assert json.loads(done.stdout)["metadata"].get("", {}) == {}
    assert len(json.loads(run("info", "--json", "--sidecars", path).stdout)["metadata"][""]) == 100


@pytest.mark.parametrize("text", ["", "1\n2\n3\n", "a\nb\nc\nd\ne\nf\n", "0\n0\n0\n0\n1\n2\n", "1e999\n0\n0\n1\n1\n1\n"])
def test_a_broken_world_file_is_a_warning(run, image, text):
    path = image(beside={"a.tfw": text})
    done = run("info", "--sidecars", path)
    assert done.returncode == 0 and "warning: " in done.stderr and "a.tfw" in done.stderr
    assert run("info", "--sidecars", "--strict", path).returncode == 1


def test_a_link_is_refused(run, image, tmp_path):
    path = image()
    (tmp_path / "secret").write_text(aux(TRANSFORM))
    os.symlink(tmp_path / "secret", path + ".aux.xml")
    assert run("info", path).returncode == 0
    assert run("info", "--sidecars", path).returncode == 1


def test_bands_with_different_nodata(run, image, features):
    if features["expat"] is None:
        pytest.skip("built without expat")
    path = image(bands=2, beside={".aux.xml": aux(BAND)})
    done = run("info", "--sidecars", path)
    assert done.returncode == 0 and "different nodata" in done.stderr


def test_require_crs_takes_that_of_aux(run, image, features):
    if features["expat"] is None or features["proj"] is None:
        pytest.skip("built without expat or PROJ")
    path = image(beside={".aux.xml": aux("<SRS>EPSG:32634</SRS>")})
    assert run("info", "--require-crs", path).returncode == 1
    assert run("info", "--require-crs", "--sidecars", path).returncode == 0


def test_further_pages_are_named(run, save, tmp_path):
    path = save([Image(64, 64), Image(32, 16), Image(16, 16)])
    for command in ("cog", "convert"):
        done = run(command, path, str(tmp_path / f"{command}.tif"))
        assert done.returncode == 0
        assert "note: " in done.stderr and "2 further pages are left out: 1 (32 x 16), 2 (16 x 16)" in done.stderr
        done = run(command, "--page", "1", "--overwrite", path, str(tmp_path / f"{command}.tif"))
        assert "0 (64 x 64), 2 (16 x 16)" in done.stderr
    one = save([Image(64, 64)], name="one.tif")
    assert run("cog", one, str(tmp_path / "o.tif")).stderr == ""
