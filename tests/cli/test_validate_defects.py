# SPDX-License-Identifier: Apache-2.0
"""Deliberate defects: terrazzo validate finds each by its name and place, and nothing that follows
from nothing. The good file passes all checks, strictly."""

import json
import pathlib
import sys

import jsonschema
import numpy as np
import pytest
import rasterio
import rasterio.shutil

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "matrix"))
import cog_defects as defects
import gdal_cog
from cog_defects import Cog
from conftest import ROOT, call

SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "doc" / "validate.schema.json").read_text()))
PLACE = {"transform": rasterio.Affine(30, 0, 500000, 0, -30, 5200000), "crs": "EPSG:32632"}
COG = {"driver": "COG", "BLOCKSIZE": 64, "COMPRESS": "DEFLATE", "RESAMPLING": "NEAREST"}
# Name of the defect: checks that find it, the first of them at its place. "!" is a failure, "?" a
# warning.
MOVED = "?cog.ifd-order ?cog.tables !gdal.data-after-ifds ?gdal.header-size"
FOUND = {
    "not_a_tiff": "!tiff.header",
    "first_beyond_the_end": "!tiff.opens",
    "structural_tag_twice": "?tiff.tag-duplicate ?tiff.required-tags",
    "loop": "!tiff.chain",
    "next_beyond_the_end": "!tiff.chain",
    "tags_swapped": "?tiff.tag-order",
    "tag_twice": "?tiff.tag-duplicate !geotiff.ascii",
    "wrong_type": "?tiff.tag-types !geotiff.tags !geotiff.scale !cog.geotiff",
    "table_of_a_wrong_type": "!tiff.tag-types ?tiff.overlap",
    "photometric_missing": "?tiff.required-tags",
    "text_without_nul": "?tiff.text ?gdal.nodata",
    "directory_at_an_odd_offset": "?tiff.even-offsets " + MOVED,
    "tag_data_at_an_odd_offset": "?tiff.even-offsets ?gdal.header-size",
    "table_too_short": "!tiff.tile-tables",
    "sizes_too_few": "?tiff.tile-tables",
    "tile_beyond_the_end": "!tiff.tile-spans !gdal.block-order !gdal.mask-adjacent",
    "tile_size_without_offset": "!tiff.tile-spans",
    "tiles_overlap": "?tiff.overlap !tiff.pixels !gdal.leader !gdal.trailer !gdal.mask-adjacent",
    "trailing_bytes": "?tiff.unused-bytes",
    "mask_is_no_mask": "?tiff.subfiles",
    "unknown_compression": "?tiff.supported",
    "tile_damaged": "!tiff.pixels",
    "mask_tile_damaged": "!tiff.pixels",
    "no_keys": "!geotiff.core !cog.basic-metadata",
    "no_tiepoint": "!geotiff.core !geotiff.scale !cog.georeference !cog.geotiff",
    "keys_of_another_version": "!geotiff.directory",
    "keys_swapped": "!geotiff.directory",
    "keys_too_many": "!geotiff.directory",
    "location_is_no_tag": "!geotiff.directory",
    "double_outside_its_tag": "!geotiff.double !geotiff.units",
    "text_outside_its_tag": "!geotiff.ascii",
    "text_without_bar": "!geotiff.ascii",
    "tiepoint_of_five": "!geotiff.tiepoints !geotiff.scale !cog.geotiff",
    "scale_of_two": "!geotiff.scale",
    "scale_and_matrix": f"!geotiff.matrix {MOVED} !gdal.ifd-first !gdal.ifd-order",
    "raster_type_reserved": "!geotiff.raster-type",
    "no_model_type": "!geotiff.model-type",
    "projected_without_crs": "!geotiff.model-type",
    "crs_code_reserved": "!geotiff.crs",
    "user_crs_without_its_keys": "!geotiff.crs",
    "vertical_in_revision_0": "!geotiff.vertical",
    "overview_with_keys": "!cog.point-of-origin ?tiff.tag-types",
    "one_level_is_missing": "!cog.reduction",
    "last_levels_are_missing": "!cog.last-level",
    "mask_directory_at_the_end": MOVED,
    "table_behind_the_data": "?cog.tables",
    "overview_larger_than_the_image": "!gdal.overview-sizes !cog.overview-sizes !tiff.tile-tables "
                                      "?tiff.subfiles ?cog.reduction",
    "image_directory_at_the_end": f"!gdal.ifd-first {MOVED} !gdal.ifd-order",
    "overview_directory_at_the_end": f"!gdal.ifd-order {MOVED}",
    "edited": "!gdal.edited",
    "ghost_size_is_no_number": "!gdal.ghost !gdal.ifd-first ?tiff.unused-bytes",
    "ghost_size_is_wrong": "!gdal.ifd-first",
    "leader_off_by_one": "!gdal.leader",
    "leader_of_an_overview": "!gdal.leader",
    "leader_of_a_mask": "!gdal.leader",
    "trailer": "!gdal.trailer",
    "short_tile_with_other_trailer": "!gdal.trailer !tiff.pixels !gdal.mask-adjacent",
    "tiles_swapped": "!gdal.block-order !gdal.mask-adjacent",
    "mask_tiles_swapped": "!gdal.mask-adjacent !gdal.block-order",
    "nodata_is_no_number": "?gdal.nodata",
}
OUTCOMES = {"!": "fail", "?": "warning"}


def expected(words):
    return {word[1:]: OUTCOMES[word[0]] for word in words.split()}


def validate(path, *options):
    done = call("validate", "--json", *options, str(path))
    answer = json.loads(done.stdout)
    error = jsonschema.exceptions.best_match(SCHEMA.iter_errors(answer))
    assert error is None, f"{error.json_path}: {error.message}"
    assert done.stderr == ""
    assert done.returncode == (0 if answer["valid"] else 3)
    return answer


def not_passed(answer):
    return {check["id"]: check["outcome"] for check in answer["checks"]
            if check["outcome"] in ("fail", "warning")}


def pixels():
    """Of some size when compressed, so that tiles differ in length."""
    rows, columns = np.mgrid[0:900, 0:1100]
    noise = np.random.default_rng(3).integers(0, 1 + columns // 40, (900, 1100))
    return (rows // 7 + noise).astype("uint8") % 250


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cogs")


@pytest.fixture(scope="module")
def source(folder):
    path = str(folder / "source.tif")
    mask = np.full((900, 1100), 255, "uint8")
    mask[100:300, 200:900] = 0
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), \
            rasterio.open(path, "w", driver="GTiff", dtype="uint8", count=1, height=900, width=1100,
                          nodata=255, **PLACE) as file:
        file.write(pixels(), 1)
        file.write_mask(mask)
    return path


@pytest.fixture(scope="module")
def good(folder, source):
    path = folder / "good.tif"
    rasterio.shutil.copy(source, str(path), **COG)
    return path.read_bytes()


def test_good(folder, good):
    for options in ([], ["--full"], ["--strict"], ["--full", "--strict"]):
        answer = validate(folder / "good.tif", *options)
        assert not_passed(answer) == {}
        assert answer["valid"]
        assert answer["tiles"]["decoded"] == (answer["tiles"]["all"] if "--full" in options else 0)


@pytest.mark.parametrize("name", FOUND)
def test_defect(tmp_path, good, name):
    cog = Cog(good)
    place = getattr(defects, name)(cog)
    path = tmp_path / "bad.tif"
    path.write_bytes(cog.data)
    answer = validate(path, "--full")
    wanted = expected(FOUND[name])
    assert not_passed(answer) == wanted
    first = next(check for check in answer["checks"] if check["id"] == next(iter(wanted)))
    assert place is None or place in [found["offset"] for found in first["findings"]]
    bad = [name for name, outcome in wanted.items()
           if outcome == "fail" and name.split(".")[0] in ("tiff", "gdal")]
    assert answer["valid"] == (not bad)
    assert not validate(path, "--full", "--strict")["valid"]


def test_every_defect_is_listed():
    made = {name for name, thing in vars(defects).items()
            if callable(thing) and not isinstance(thing, type)}
    assert made - set(FOUND) == {"short_tile", "short_tile_is_fine", "has"}
    assert len(FOUND) > 40


def test_a_damaged_tile_needs_full(tmp_path, good):
    cog = Cog(good)
    defects.tile_damaged(cog)
    (tmp_path / "a.tif").write_bytes(cog.data)
    assert not_passed(validate(tmp_path / "a.tif")) == {}


def test_trailer_of_a_short_tile_is_filled_with_zeros(tmp_path, good):
    cog = Cog(good)
    defects.short_tile_is_fine(cog)
    (tmp_path / "a.tif").write_bytes(cog.data)
    assert not_passed(validate(tmp_path / "a.tif")) == expected("!gdal.mask-adjacent")


# Files that are made otherwise -------------------------------------------------------------------


def copy(source, path, **options):
    rasterio.shutil.copy(source, str(path), **options)
    return path


@pytest.mark.parametrize("options, words", [
    ({"OVERVIEWS": "NONE"}, "?gdal.overviews !cog.last-level"),
    ({"BIGTIFF": "YES"}, "?cog.bigtiff"),
    ({"BLOCKSIZE": 48}, "?cog.tile-size"),
    ({"BLOCKSIZE": 2048}, "!cog.tile-size ?gdal.overviews"),
    ({"OVERVIEW_COUNT": 1}, "!cog.last-level"),
])
def test_options_of_the_cog_driver(tmp_path, source, options, words):
    path = copy(source, tmp_path / "a.tif", **COG | options)
    assert not_passed(validate(path, "--full")) == expected(words)


def test_strips_and_external_overviews(tmp_path, source):
    path = copy(source, tmp_path / "a.tif", driver="GTiff", BLOCKYSIZE=16)
    found = not_passed(validate(path))
    assert found["gdal.tiled"] == found["cog.tiled"] == "fail"
    assert found["gdal.overviews"] == "warning"
    with rasterio.Env(TIFF_USE_OVR=True), rasterio.open(path, "r+") as file:
        file.build_overviews([2, 4, 8, 16], rasterio.enums.Resampling.nearest)
    assert (tmp_path / "a.tif.ovr").exists()
    found = not_passed(validate(path))
    assert found["gdal.external-overviews"] == found["cog.overview-chain"] == "fail"
    assert "gdal.overviews" not in found


def test_tiles_that_are_not_square_and_overviews_at_the_end(tmp_path, source):
    path = copy(source, tmp_path / "a.tif", driver="GTiff", TILED=True, BLOCKXSIZE=64,
                BLOCKYSIZE=128)
    with rasterio.open(path, "r+") as file:
        file.build_overviews([2, 4, 8, 16], rasterio.enums.Resampling.nearest)
    answer = validate(path, "--full")
    found = not_passed(answer)
    for check in ("cog.tile-size", "gdal.data-after-ifds", "gdal.data-order"):
        assert found[check] == "fail"
    assert found["cog.data-order"] == "warning"
    assert all(check["note"] == "the file has no ghost area" for check in answer["checks"]
               if check["id"] in ("gdal.leader", "gdal.trailer", "gdal.ghost", "gdal.edited"))


def test_a_classic_file_beyond_4_gib(tmp_path, good):
    path = tmp_path / "a.tif"
    path.write_bytes(good)
    with path.open("r+b") as file:
        file.truncate(5 << 30)  # a hole takes no room
    found = not_passed(validate(path, "--full"))
    assert found == expected("!cog.bigtiff ?tiff.file-size ?tiff.unused-bytes")


def test_only_the_first_and_last_tiles_are_looked_at(tmp_path, good):
    cog = Cog(good)
    tiles = cog.entry(defects.IMAGE, defects.TILE_OFFSETS).count
    assert tiles > 2 * 64 + 10
    for tile in (70, tiles - 3):
        offset, size = cog.tile(defects.IMAGE, tile)
        cog.put(offset - 4, "I", size + 1)
    path = tmp_path / "a.tif"
    path.write_bytes(cog.data)
    tiles_found = {}
    for options in ([], ["--full"]):
        answer = validate(path, *options)
        leader = next(check for check in answer["checks"] if check["id"] == "gdal.leader")
        tiles_found[len(options)] = [found["tile"] for found in leader["findings"]]
        assert leader["note"] == (None if options else "of the first and last 64 tiles of each level")
        looked, all_tiles = answer["tiles"]["looked_at"], answer["tiles"]["all"]
        assert looked == all_tiles if options else looked < all_tiles
    assert tiles_found == {0: [tiles - 3], 1: [70, tiles - 3]}


@pytest.mark.parametrize("interleave", ["band", "pixel"])
def test_bands_and_float(tmp_path, interleave):
    array = np.random.default_rng(1).random((3, 300, 300)).astype("float32")
    source = tmp_path / "s.tif"
    with rasterio.open(source, "w", driver="GTiff", dtype="float32", count=3, height=300, width=300,
                       interleave=interleave, **PLACE) as file:
        file.write(array)
    path = copy(source, tmp_path / "a.tif", **COG)
    assert not_passed(validate(path, "--full")) == {}


# The same files by the rules of GDAL's own validation ----------------------------------------------


@pytest.fixture(scope="module")
def gdal():
    return gdal_cog.load()


# GDAL's rules ask where the directories of images are, not those of masks.
NOT_GDALS = {"mask_directory_at_the_end"}


@pytest.mark.parametrize("name", FOUND)
def test_gdal_agrees(tmp_path, good, gdal, name):
    cog = Cog(good)
    getattr(defects, name)(cog)
    path = tmp_path / "bad.tif"
    path.write_bytes(cog.data)
    theirs = gdal_cog.validate(gdal, str(path))
    failed = any(word.startswith("!gdal.") for word in FOUND[name].split())
    if theirs is None:
        assert expected(FOUND[name])  # GDAL does not open it at all
    else:
        assert bool(theirs[0]) == (failed and name not in NOT_GDALS), theirs
