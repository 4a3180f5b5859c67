# SPDX-License-Identifier: Apache-2.0
"""terrazzo diff: what it calls equal and different, where and by how much, and its exit codes."""

import json
import pathlib
import subprocess

import jsonschema
import numpy as np
import pytest
import rasterio
import rasterio.shutil

from conftest import COMMAND, call, plain_environment
from tiffmaker import ASCII, LONG, SHORT, Image, geo_keys, north_up, tiff

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMA = json.loads((ROOT / "doc" / "diff.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
pytestmark = [pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")]
PLACE = {"transform": rasterio.Affine(30, 0, 500000, 0, -30, 5200000), "crs": "EPSG:32632"}
TILED = PLACE | {"tiled": True, "blockxsize": 64, "blockysize": 32, "compress": "deflate"}
STRIPS = PLACE | {"blockysize": 7, "compress": "lzw"}


def numbers(bands, height, width, dtype="uint16"):
    return np.random.default_rng(7).integers(0, 60000, (bands, height, width)).astype(dtype)


def check(answer):
    error = jsonschema.exceptions.best_match(VALIDATOR.iter_errors(answer))
    assert error is None, f"{error.json_path}: {error.message}"
    return answer


def diff(*arguments):
    """Returns the report of `terrazzo diff --json`; the exit code and the page must agree with it."""
    done = call("diff", "--json", *arguments)
    answer = check(json.loads(done.stdout))
    assert (done.returncode, done.stderr) == (0 if answer["equal"] else 3, "")
    page = call("diff", *arguments)
    assert page.returncode == done.returncode
    assert page.stdout.splitlines()[-1].startswith("equal" if answer["equal"] else "different in ")
    return answer


def facts(part):
    return {(fact["level"], fact["what"]): (fact["a"], fact["b"]) for fact in part["differences"]}


def tags(answer):
    return {(tag["level"], tag["tag"]): (tag["a"], tag["b"]) for tag in answer["tags"]["differences"]}


def test_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_file_equals_itself(raster):
    path = raster(numbers(3, 100, 150), nodata=3, overviews=[2, 4], **TILED)
    answer = diff(path, path)
    assert answer["pixels"]["equal"] and answer["tags"]["equal"] and answer["layout"]["equal"]
    assert answer["pixels"]["levels"] == [{
        "level": 0, "mask": {"different": 0, "first": None},
        "bands": [{"band": i, "different": 0, "largest": 0, "first": None} for i in (1, 2, 3)]}]
    assert len(diff("--all-levels", path, path)["pixels"]["levels"]) == 3


def test_pixels_that_differ(raster):
    array = numbers(3, 200, 300, "int16")
    other = array.copy()
    other[0, 150, 20] += 5
    other[0, 20, 250] -= 700
    other[2, 199, 299] ^= 1
    a, b = raster(array, "a.tif", **TILED), raster(other, "b.tif", **STRIPS)
    bands = diff("--pixels-only", a, b)["pixels"]["levels"][0]["bands"]
    assert bands[0] == {"band": 1, "different": 2, "largest": 700, "first": [250, 20]}
    assert bands[1]["different"] == 0
    assert bands[2] == {"band": 3, "different": 1, "largest": 1, "first": [299, 199]}
    for memory in ("400K", "250K"):
        small = diff("--pixels-only", "--threads", "1", "--memory", memory, a, b)
        assert small["pixels"]["levels"][0]["bands"] == bands


def test_counts_are_those_of_numpy(raster):
    rng = np.random.default_rng(4)
    array = rng.normal(0, 10, (2, 120, 130))
    other = array + np.where(rng.random(array.shape) < 0.3, rng.normal(0, 1, array.shape), 0)
    a, b = raster(array, "a.tif", **TILED), raster(other, "b.tif", **PLACE)
    for tolerance in (0, 0.5, 2):
        found = diff("--pixels-only", "--tolerance", str(tolerance), a, b)["pixels"]["levels"][0]["bands"]
        for band in range(2):
            by = np.abs(array[band] - other[band])
            rows, columns = np.nonzero(by > tolerance)
            assert found[band]["different"] == len(rows)
            assert found[band]["largest"] == by[by > tolerance].max()
            assert found[band]["first"] == [columns[0], rows[0]]
    assert diff("--pixels-only", "--tolerance", "100", a, b)["equal"]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64",
                                   "int64", "float32", "float64", "complex64", "complex128"])
def test_every_type(raster, dtype):
    array = (numbers(1, 40, 50) % 100).astype(dtype)
    other = array.copy()
    other[0, 30, 7] += 3
    a, b = raster(array, "a.tif"), raster(other, "b.tif")
    band, = diff("--pixels-only", a, b)["pixels"]["levels"][0]["bands"]
    assert band == {"band": 1, "different": 1, "largest": 3, "first": [7, 30]}


def test_large_integers_are_exact(raster):
    array = np.full((1, 4, 4), (1 << 63) + 5, "uint64")
    other = array.copy()
    other[0, 1, 2] += np.uint64(1)
    a, b = raster(array, "a.tif"), raster(other, "b.tif")
    band, = diff("--pixels-only", a, b)["pixels"]["levels"][0]["bands"]
    assert (band["different"], band["largest"], band["first"]) == (1, 1, [2, 1])
    low = np.full((1, 4, 4), -(1 << 63), "int64")
    high = np.full((1, 4, 4), (1 << 63) - 1, "int64")
    a, b = raster(low, "a.tif"), raster(high, "b.tif")
    assert diff("--pixels-only", a, b)["pixels"]["levels"][0]["bands"][0]["largest"] == 2.0 ** 64


def test_imaginary_parts_count(raster):
    array = numbers(1, 10, 10).astype("complex64")
    a, b = raster(array, "a.tif"), raster(array + 2j, "b.tif")
    band, = diff("--pixels-only", a, b)["pixels"]["levels"][0]["bands"]
    assert (band["different"], band["largest"]) == (100, 2)


def test_nan_equals_nan_and_nothing_else(raster):
    array = np.zeros((1, 8, 8), "float32")
    array[0, 2] = np.nan
    array[0, 3] = np.inf
    array[0, 4] = -0.0
    other = array.copy()
    other[0, 4] = 0.0
    other.view("uint32")[0, 2] ^= 0x80000001  # another NaN
    a, b = raster(array, "a.tif"), raster(other, "b.tif")
    assert diff("--pixels-only", a, b)["equal"]
    other[0, 2, 5], other[0, 3, 3] = 7, -np.inf
    b = raster(other, "b.tif")
    for tolerance in ("0", "1e300"):
        band, = diff("--pixels-only", "--tolerance", tolerance, a, b)["pixels"]["levels"][0]["bands"]
        assert band == {"band": 1, "different": 2, "largest": "Infinity", "first": [5, 2]}


def test_masks(raster):
    array = numbers(2, 40, 50)
    mask = np.full((40, 50), 255, "uint8")
    mask[3:7, 8:9] = 0
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        a = raster(array, "a.tif", mask=mask, **TILED)
        mask[20, 30] = 0
        b = raster(array, "b.tif", mask=mask, **TILED)
    plain = raster(array, "c.tif", **TILED)
    level, = diff("--pixels-only", a, b)["pixels"]["levels"]
    assert level["mask"] == {"different": 2, "first": [30, 20]}  # once for each band
    assert [band["different"] for band in level["bands"]] == [0, 0]
    answer = diff("--pixels-only", a, plain)["pixels"]
    assert facts(answer) == {(0, "mask"): ("yes", "no")}
    assert answer["levels"][0]["mask"] == {"different": 8, "first": [8, 3]}


def test_nodata_is_a_mask(raster):
    array = numbers(1, 20, 20)
    array[0, 5, 6] = 9
    a, b = raster(array, "a.tif", nodata=9, **TILED), raster(array, "b.tif", **TILED)
    answer = diff(a, b)
    assert answer["pixels"]["levels"][0]["mask"] == {"different": 1, "first": [6, 5]}
    assert tags(answer) == {(0, 42113): ({"type": 2, "count": 2, "text": "9"}, None)}


def test_layout_alone(raster):
    array = numbers(3, 100, 150)
    a = raster(array, "a.tif", interleave="band", **TILED)
    b = raster(array, "b.tif", interleave="pixel", bigtiff="yes", endianness="big", predictor=2, **STRIPS)
    answer = diff(a, b)
    assert answer["pixels"]["equal"] and not answer["layout"]["equal"]
    assert facts(answer["layout"]) == {
        (None, "format"): ("classic TIFF", "BigTIFF"),
        (None, "byte order"): ("little-endian", "big-endian"),
        (None, "bands stored"): ("by band", "by pixel"),
        (0, "tiles"): ("64 x 32", "strips of 7 rows"),
        (0, "compression"): ("DEFLATE", "LZW"), (0, "predictor"): ("1", "2")}
    assert diff("--pixels-only", a, b)["equal"]
    assert diff("--pixels-only", "--tags-only", a, b)["layout"] is None


def test_overviews(raster):
    array = numbers(1, 128, 128)
    a = raster(array, "a.tif", overviews=[2, 4], **TILED)
    b = raster(array, "b.tif", overviews=[2], **TILED)
    c = raster(array, "c.tif", overviews=[2, 8], **TILED)
    assert facts(diff("--all-levels", a, b)["pixels"]) == {(None, "levels"): ("3", "2")}
    assert facts(diff("--all-levels", a, c)["pixels"]) == {(2, "size"): ("32 x 32", "16 x 16")}
    assert facts(diff(a, b)["layout"]) == {(None, "levels"): ("3", "2")}
    assert facts(diff(a, c)["layout"]) == {(2, "size"): ("32 x 32", "16 x 16")}
    assert facts(diff("--layout-only", "--all-levels", a, b)["layout"]) == {(None, "levels"): ("3", "2")}
    assert diff("--pixels-only", a, b)["equal"] and diff("--pixels-only", a, c)["equal"]
    with rasterio.open(b, "r+") as file:
        file.build_overviews([2], rasterio.enums.Resampling.nearest)
    d = raster(array, "d.tif", overviews=[2], **TILED)
    assert diff("--pixels-only", b, d)["equal"]
    level = diff("--pixels-only", "--all-levels", b, d)["pixels"]["levels"][1]
    assert level["level"] == 1 and level["bands"][0]["different"] > 1000


def notes(part):
    return {(fact["level"], fact["what"]): fact["note"] for fact in part["differences"]}


@pytest.mark.parametrize("size, levels", [((200, 155), False), ((129, 257), True)])
def test_overviews_of_odd_sizes_are_explained(raster, tmp_path, size, levels):
    """GDAL's COG driver rounds them down; here, and by gdaladdo, they are rounded up."""
    array = numbers(1, *size)
    path = raster(array, **TILED)
    ours, theirs = str(tmp_path / "ours.tif"), str(tmp_path / "theirs.tif")
    assert call("cog", "--no-sync", "--co", "BLOCKSIZE=128", path, ours).returncode == 0
    rasterio.shutil.copy(path, theirs, driver="COG", blocksize=128, overview_resampling="average")
    half = [(side + up) // 2 for up in (1, 0) for side in size[::-1]]
    for a, b, up, down in ((ours, theirs, "A", "B"), (theirs, ours, "B", "A")):
        answer = diff("--all-levels", a, b)["pixels"]
        found = facts(answer)
        pair = (f"{half[0]} x {half[1]}", f"{half[2]} x {half[3]}")
        assert found[1, "size"] == (pair if up == "A" else pair[::-1])
        assert ((None, "levels") in found) == levels
        assert all(f"up in {up}" in note and f"down in {down}" in note for note in notes(answer).values())
        assert [level["level"] for level in answer["levels"]] == [0]
        page = call("diff", "--all-levels", a, b).stdout
        assert page.count(f"sizes of overviews are rounded up in {up}") == 1
        assert "up in " in next(iter(notes(diff(a, b)["layout"]).values()))


def test_other_sizes_of_overviews_are_not_explained(raster):
    array = numbers(1, 129, 200)
    answer = diff("--all-levels", raster(array, "a.tif", overviews=[2], **TILED),
                  raster(array, "b.tif", overviews=[3], **TILED))
    assert notes(answer["pixels"]) == {(1, "size"): None}
    assert "rounded" not in call("diff", "--all-levels", "--pixels-only",
                                 *(answer[side] for side in "ab")).stdout


def test_other_sizes_and_types(raster, tmp_path):
    array = numbers(2, 30, 40, "uint8")
    a = raster(array, "a.tif")
    answer = diff("--pixels-only", a, raster(array[:, :, 1:], "b.tif"))["pixels"]
    assert facts(answer) == {(0, "size"): ("40 x 30", "39 x 30")}
    assert answer["not_compared"] == "not the same size" and answer["levels"] == []
    answer = diff("--pixels-only", a, raster(array[:1], "b.tif"))["pixels"]
    assert facts(answer) == {(None, "bands"): ("2", "1")} and answer["not_compared"]
    other = array.astype("float32")
    other[0, 0, 1] += 0.5
    answer = diff("--pixels-only", a, raster(other, "b.tif"))["pixels"]
    assert facts(answer) == {(None, "type"): ("uint8", "float32")}
    assert answer["levels"][0]["bands"][0] == {"band": 1, "different": 1, "largest": 0.5, "first": [1, 0]}
    wide = raster(array.astype("int64"), "b.tif")
    assert diff("--pixels-only", a, wide)["pixels"]["levels"][0]["bands"][0]["different"] == 0
    answer = diff("--pixels-only", wide, raster(other, "c.tif"))["pixels"]
    assert answer["not_compared"] == "no type holds the values of both"


def test_tags(save):
    a = save([Image(4, 4, tags=[(270, ASCII, "one"), (305, ASCII, "me"), (65000, LONG, [1, 2, 3]),
                                (274, SHORT, [1])] + north_up(0.0, 0.0, 1.0))], name="a.tif")
    b = save([Image(4, 4, tags=[(270, ASCII, "two"), (315, ASCII, "you"), (65000, SHORT, [1, 2, 3]),
                                (274, SHORT, [1])] + north_up(0.0, 0.0, 1.0)
                     + geo_keys((1024, 2), (2048, 4326)))], name="b.tif")
    found = tags(diff("--tags-only", a, b))
    assert found == {
        (0, 270): ({"type": 2, "count": 4, "text": "one"}, {"type": 2, "count": 4, "text": "two"}),
        (0, 305): ({"type": 2, "count": 3, "text": "me"}, None),
        (0, 315): (None, {"type": 2, "count": 4, "text": "you"}),
        (0, 34735): (None, {"type": 3, "count": 12, "values": [1, 1, 0, 2, 1024, 0, 1, 2, 2048, 0, 1, 4326]}),
        (0, 65000): ({"type": 4, "count": 3, "values": [1, 2, 3]}, {"type": 3, "count": 3, "values": [1, 2, 3]})}
    page = call("diff", "--tags-only", a, b).stdout
    assert "  level 0, tag 270 ImageDescription\n    A  one\n    B  two\n" in page
    assert "  level 0, tag 65000\n    A  3 LONG: 1 2 3\n    B  3 SHORT: 1 2 3\n" in page
    assert "  level 0, tag 315 Artist\n    A  none\n    B  you\n" in page
    assert "Pixels" not in page and "Layout" not in page


def test_byte_order_does_not_make_tags_differ(save):
    image = Image(4, 4, bits=16, tags=north_up(5.0, 7.0, 1.5) + [(65000, LONG, list(range(3000)))])
    a, b = save([image], name="a.tif"), save([image], name="b.tif", byte_order=">", big=True)
    answer = diff(a, b)
    assert answer["tags"]["equal"] and answer["pixels"]["equal"]
    assert len(facts(answer["layout"])) == 2
    late = Image(4, 4, bits=16, tags=north_up(5.0, 7.0, 1.5) + [(65000, LONG, list(range(2999)) + [1])])
    assert list(tags(diff(a, save([late], name="c.tif")))) == [(0, 65000)]


def test_page(raster):
    array = numbers(20, 10, 10)
    a, b = raster(array, "a.tif", **TILED), raster(array + 1, "b.tif", **TILED)
    page = call("diff", "--pixels-only", a, b).stdout
    assert page.startswith(f"A  {a}\nB  {b}\n\nPixels\n")
    rows = [line.split() for line in page.splitlines() if line.startswith("      0")]
    assert rows[0] == ["0", "1", "100", "1", "column", "0,", "row", "0"] and len(rows) == 16
    assert "further bands, up to 20; -v shows all" in page
    assert len([line for line in call("diff", "-v", "--pixels-only", a, b).stdout.splitlines()
                if line.startswith("      0")]) == 20


def test_sections_that_are_equal_say_so(raster):
    array = numbers(1, 10, 10)
    page = call("diff", raster(array, "a.tif", **TILED), raster(array, "b.tif", **PLACE)).stdout
    assert "Pixels\n  equal\n" in page and "Tags\n  equal\n" in page
    assert page.endswith("\ndifferent in layout\n")


@pytest.mark.parametrize("arguments, message", [
    ([], "two files are needed\n"), (["a.tif"], "two files are needed\n"),
    (["a.tif", "b.tif", "c.tif"], "unexpected argument 'c.tif'\n"),
    (["--tolerance", "-1", "a.tif", "b.tif"], "--tolerance needs a number from 0 on, not '-1'\n"),
    (["--tolerance", "nan", "a.tif", "b.tif"], "not 'nan'\n"),
    (["--memory", "x", "a.tif", "b.tif"], "--memory needs"),
    (["--threads", "x", "a.tif", "b.tif"], "--threads needs"),
    (["a.tif", "-"], "cannot read '-'"), (["--pixel-only"], "did you mean '--pixels-only'?")])
def test_wrong_usage(run, arguments, message):
    done = run("diff", *arguments)
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr
    assert done.stderr.endswith("Try 'terrazzo diff -h'.\n")


def test_failures_are_not_differences(run, raster, tmp_path):
    good = raster(numbers(1, 40, 40), **TILED)
    (tmp_path / "bad.tif").write_text("no TIFF")
    for arguments in ([good, str(tmp_path / "bad.tif")], [str(tmp_path / "missing.tif"), good],
                      ["--memory", "1K", good, good]):
        done = run("diff", *arguments)
        assert (done.returncode, done.stdout) == (1, "") and done.stderr.startswith("error: ")
        answer = check(json.loads(run("diff", "--json", *arguments).stdout))
        assert answer["error"]["message"] in done.stderr


def test_a_damaged_tile_is_a_failure(run, info, raster, tmp_path):
    good = raster(numbers(1, 64, 64), "good.tif", **TILED)
    tile = info("--tiles", good)["terrazzo"]["tiles"][1]
    data = bytearray(pathlib.Path(good).read_bytes())
    data[tile["offset"] + 9:tile["offset"] + 99] = bytes(90)
    (tmp_path / "bad.tif").write_bytes(data)
    done = run("diff", good, str(tmp_path / "bad.tif"))
    assert done.returncode == 1 and "tile 1" in done.stderr
    assert run("diff", "--tags-only", "--layout-only", good, str(tmp_path / "bad.tif")).returncode == 0


def test_every_allocation_may_fail(raster):
    program = COMMAND.parent / "tests" / "terrazzo_nomem"
    if not program.is_file():
        pytest.skip("terrazzo_nomem was not built")
    array = numbers(2, 20, 20)
    a, b = raster(array, "a.tif", nodata=3, **TILED), raster(array + 1, "b.tif", **PLACE)
    for count in range(1, 1000):
        done = subprocess.run([program, "diff", "--threads", "1", a, b], capture_output=True, text=True,
                              env=plain_environment(TERRAZZO_FAIL_ALLOCATION=str(count)))
        if done.returncode == 3:
            break
        assert done.returncode == 1 and done.stderr.count("error: ") == 1, done.stderr
    assert 5 < count < 999


def test_warnings_go_to_standard_error(run, save):
    path = save(tiff([Image(4, 4, tags=[(42113, ASCII, "what")])]))
    done = run("diff", path, path)
    assert done.returncode == 0 and done.stderr.startswith("warning: ")
    assert run("diff", "-q", path, path).stderr == ""
    assert run("diff", "--strict", path, path).returncode == 1
