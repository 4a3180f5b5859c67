# SPDX-License-Identifier: Apache-2.0
"""terrazzo info: the page for people, and what happens with files that are not right."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile

import pytest

from conftest import COMMAND, plain_environment
from tiffmaker import (ASCII, BYTE, DOUBLE, LONG, MASK, OVERVIEW, SHORT, Image, gdal_metadata, geo_keys,
                       ghost_area, north_up, tiff)

HERE = pathlib.Path(__file__).parent
UTM32 = geo_keys((1024, 1), (1025, 1), (1026, "WGS 84 / UTM zone 32N"), (3072, 32632))


def rich_images():
    """A small COG with everything the page has a place for."""
    metadata = gdal_metadata(
        ('name="TITLE"', "A &lt;rich&gt; file"), ('name="LINEAGE"', "two\nlines"),
        ('name="CLOUDS" domain="PROVIDER"', "12 %"),
        ('name="STATISTICS_MINIMUM" sample="0"', "1"), ('name="STATISTICS_MAXIMUM" sample="0"', "9"),
        ('name="STATISTICS_MEAN" sample="0"', "5"), ('name="STATISTICS_STDDEV" sample="0"', "2.5"),
        ('name="DESCRIPTION" sample="0" role="description"', "elevation"),
        ('name="UNITTYPE" sample="0" role="unittype"', "m"),
        ('name="SCALE" sample="0" role="scale"', "0.1"),
        ('name="OFFSET" sample="0" role="offset"', "-100"),
        ('name="DESCRIPTION" sample="1" role="description"', "slope"))
    geo = north_up(500000.0, 5200000.0, 30.0) + UTM32
    extra = (338, SHORT, [0, 0])
    nodata = (42113, ASCII, "-32768")
    common = [(339, SHORT, [2, 2, 2]), (262, SHORT, [1]), extra, nodata]
    full = Image(600, 400, bands=3, bits=16, tile=(256, 256), by_band=True, sparse=(4,), tags=common
                 + geo + [metadata, (305, ASCII, "tiffmaker"), (34675, BYTE, bytes(300))])
    half = Image(300, 200, bands=3, bits=16, tile=(256, 256), by_band=True, kind=OVERVIEW, tags=common)
    mask = [(262, SHORT, [4])]
    return [full, Image(600, 400, bits=1, tile=(256, 256), kind=MASK, tags=mask), half,
            Image(300, 200, bits=1, tile=(256, 256), kind=MASK | OVERVIEW, tags=mask)]


RICH_GHOST = ghost_area("LAYOUT=IFDS_BEFORE_DATA", "BLOCK_ORDER=ROW_MAJOR",
                        "KNOWN_INCOMPATIBLE_EDITION=NO")


def rasterio_transform():
    import rasterio
    return rasterio.transform.from_origin(500000.0, 5200000.0, 30.0, 30.0)


@pytest.fixture
def rich(save):
    return save(rich_images(), ghost=RICH_GHOST)


def needs(features, *names):
    missing = [name for name in names if features[name] is None]
    if missing:
        pytest.skip(f"built without {', '.join(missing)}")


# The page ---------------------------------------------------------------------------------------


def test_page_is_as_expected(run, rich, features):
    needs(features, "expat", "proj")
    done = run("info", "rich.tif", cwd=str(shutil.copy(rich, pathlib.Path(rich).parent / "rich.tif"))
               .rsplit("/", 1)[0])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (HERE / "rich.page.txt").read_text()


def test_page_fits_80_columns(run, rich):
    lines = run("info", "--tags", "--tiles", "--limits", rich).stdout.splitlines()[1:]
    assert max(map(len, lines)) <= 80
    assert not any(line.endswith(" ") for line in lines)


def test_verbose_shortens_nothing(run, save, features):
    needs(features, "expat")
    items = [(f'name="ITEM{i:03}"', "x" * 100) for i in range(50)]
    path = save([Image(4, 4, tags=[gdal_metadata(*items)])])
    short, full = run("info", path).stdout, run("info", "-v", path).stdout
    assert short.count("ITEM") == 12 and "... and 38 more items: -v shows all" in short
    assert full.count("x" * 100) == 50 and "more items" not in full


def test_verbose_notes_how_the_file_was_opened(run, save):
    path = save([Image(4, 4)])
    assert run("info", path).stderr == run("info", "-v", "-q", path).stderr == ""
    notes = run("info", "-v", path).stderr.splitlines()
    assert len(notes) == 1 and notes[0].startswith(f"note: {path}: 1 directories in 1 reads of ")


def test_bands_alike_are_listed_once(run, save, features):
    needs(features, "expat")
    items = [(f'name="UNITTYPE" sample="{i}" role="unittype"', "K") for i in range(1, 39)]
    path = save([Image(4, 4, bands=40, tags=[(262, SHORT, [1]), (338, SHORT, [0] * 39),
                                             gdal_metadata(*items)])])
    page = run("info", path).stdout
    rows = page[page.index("Bands\n"):].splitlines()[2:5]
    assert [row.split() for row in rows] == [["1", "Gray"], ["2-39", "Undefined", "K"],
                                             ["40", "Undefined"]]


def test_without_proj_there_are_codes(run, plain):
    page = run("info", "--no-crs", plain).stdout
    assert "CRS           EPSG:26711" in page
    assert "longitude" not in page


def test_no_georeferencing(run, save):
    page = run("info", save([Image(4, 4)])).stdout
    assert "\nGeoreferencing\n  none\n" in page


def test_control_points(run, save):
    points = [float(i) for i in range(24)]
    page = run("info", save([Image(4, 4, tags=[(33922, DOUBLE, points)])])).stdout
    assert "4 ground control points" in page


def test_pages(run, save, info):
    path = save([Image(20, 10), Image(7, 5), Image(3, 3)])
    assert "3 pages, this is page 0" in run("info", path).stdout
    assert info("--page", "1", path)["size"] == [7, 5]
    done = run("info", "--page=3", path)
    assert done.returncode == 1


def test_tiles(run, save):
    path = save([Image(40, 20, bands=2, tile=(16, 16), by_band=True, sparse=(1,),
                       tags=[(262, SHORT, [1]), (338, SHORT, [0])])])
    page = run("info", "--tiles", path).stdout
    rows = [line.split() for line in page[page.index("Tiles\n"):].splitlines()[2:]]
    assert len(rows) == 12
    assert rows[1] == ["0", "1", "0", "1", "1", "sparse", "0"]
    assert rows[-1][:5] == ["0", "11", "1", "2", "2"]
    assert all(row[6] == "256" for i, row in enumerate(rows) if i != 1)


def test_tags(run, save):
    path = save([Image(20, 10, tags=[(305, ASCII, "me"), (65000, DOUBLE, [0.1, 1e300])])])
    page = run("info", "--tags", path).stdout
    rows = [line.split(maxsplit=3) for line in page[page.index("Tags of level 0"):].splitlines()]
    assert ["256", "ImageWidth", "LONG", "1  20"] in rows
    assert ["305", "Software", "ASCII", "3  me"] in rows
    assert ["65000", "DOUBLE", "2", "0.1 1e+300"] in rows


@pytest.mark.parametrize("byte_order", ["<", ">"])
@pytest.mark.parametrize("big", [False, True])
def test_all_containers_say_the_same(info, save, byte_order, big):
    path = save(rich_images(), byte_order=byte_order, big=big)
    answer = info("--tags", path)
    assert answer["size"] == [600, 400]
    assert answer["geoTransform"] == [500000, 30, 0, 5200000, 0, -30]
    own = answer["terrazzo"]
    assert own["format"]["bigtiff"] is big
    assert own["format"]["byte_order"] == {"<": "little", ">": "big"}[byte_order]
    values = {tag["tag"]: tag.get("values") for tag in own["levels"][0]["tags"]}
    assert values[258] == [16, 16, 16] and values[33550] == [30, 30, 0]


# Several files, and files that are not right --------------------------------------------------------


def test_several_files(run, plain, save):
    other = save([Image(3, 3)], name="b.tif")
    done = run("info", plain, other, plain)
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines() if line.startswith("/")] == [plain, other, plain]
    answers = json.loads(run("info", "--json", plain, other).stdout)
    assert [answer["description"] for answer in answers] == [plain, other]


def test_one_bad_file_among_good_ones(run, plain):
    done = run("info", "--json", plain, "/nowhere/a.tif", plain)
    assert done.returncode == 1
    answers = json.loads(done.stdout)
    assert [sorted(answer)[:3] for answer in answers][1] == ["description", "error"]
    assert "size" in answers[0] and "size" in answers[2]


def test_missing_file(run):
    done = run("info", "--json", "/nowhere/a.tif")
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert (error["result"], error["cause"]) == ("io", "IO")
    assert error["system_error"] == 2
    assert done.stderr == f"error: {error['message']}\n"
    assert "/nowhere/a.tif" in error["message"] and "No such file" in error["message"]


def make_fifo(path):
    os.mkfifo(path)


def make_directory(path):
    path.mkdir()


def make_loop(path):
    path.symlink_to(path.name)


@pytest.mark.parametrize("make, causes", [(make_fifo, {"UNSAFE"}), (make_directory, {"UNSAFE"}),
                                          (make_loop, {"IO", "UNSAFE"})])
def test_what_is_not_a_regular_file(run, tmp_path, make, causes):
    make(tmp_path / "odd")
    done = run("info", "--json", str(tmp_path / "odd"))
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["cause"] in causes


def test_devices_are_refused(run):
    for path in ("/dev/zero", "/dev/null"):
        assert run("info", path).returncode == 1


def test_unreadable_file(plain):
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o755)
        path = shutil.copy(plain, folder / "secret.tif")
        os.chmod(path, 0)
        command = shutil.copy(COMMAND, folder / "terrazzo")
        options = {"user": 65534} if os.getuid() == 0 else {}
        done = subprocess.run([command, "info", path], capture_output=True, text=True, **options)
    finally:
        shutil.rmtree(folder)
    assert done.returncode == 1
    assert "Permission denied" in done.stderr


@pytest.mark.parametrize("content, cause", [
    (b"", "NOT_TIFF TRUNCATED"), (b"II*", "NOT_TIFF TRUNCATED"), (b"hello, world", "NOT_TIFF"),
    (b"II*\0\x08\0\0\0", "TRUNCATED IFD"), (b"\x89PNG\r\n\x1a\n" + bytes(100), "NOT_TIFF")])
def test_what_is_no_tiff(run, save, content, cause):
    path = save(content)
    done = run("info", "--json", path)
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert error["result"] == "format" and error["cause"] in cause.split()
    assert done.stderr == f"error: {error['message']}\n"
    assert run("info", path).stdout == ""


def test_truncated_file_names_the_offset(run, save):
    data = tiff([Image(20, 10)])
    done = run("info", "--json", save(data[:60]))
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert error["cause"] in ("TRUNCATED", "IFD")
    assert error["offset"] is not None


def broken(save):
    """A file with a defect that leaves the image readable: a nodata value that is not a number."""
    return save([Image(20, 10, tags=[(42113, ASCII, "many")])], name="broken.tif")


def test_a_cog_that_was_cut_off_is_no_cog(run, raster):
    import numpy

    noise = numpy.random.default_rng(1).integers(0, 255, (1, 1024, 1024), dtype="uint8")
    path = raster(noise, driver="COG", crs="EPSG:32633", transform=rasterio_transform(), blocksize=256)
    assert json.loads(run("info", "--json", path).stdout)["terrazzo"]["cog"]["is_cog"] is True
    size = os.path.getsize(path)
    os.truncate(path, size // 10)
    tenth = pathlib.Path(path).read_bytes()
    done = run("info", path)
    assert done.returncode == 0 and "Cloud Optimized" not in done.stdout
    line = next(line for line in done.stderr.splitlines() if line.startswith("warning: "))
    for part in ("level 0: ", "tile ", " at byte ", f"found {size // 10}"):
        assert part in line
    answer = json.loads(run("info", "--json", path).stdout)["terrazzo"]
    assert answer["cog"]["is_cog"] is False
    assert [p["name"] for p in answer["cog"]["problems"]] == ["truncated"]
    first = answer["warnings"][0]
    assert first["cause"] == "TRUNCATED" and first["level"] == 0 and first["found"] == size // 10
    for cut in (500, 800, 1000):  # within directories and tables
        os.truncate(path, cut)
        answer = json.loads(run("info", "--json", path).stdout)["terrazzo"]["cog"]
        assert answer["is_cog"] is False, cut
        assert "truncated" in [p["name"] for p in answer["problems"]]
    pathlib.Path(path).write_bytes(tenth)
    strict = run("info", "--strict", path)
    assert strict.returncode == 1 and "error: " in strict.stderr
    done = run("validate", "--json", path)
    check = next(c for c in json.loads(done.stdout)["checks"] if c["id"] == "tiff.file-end")
    assert done.returncode == 3 and check["outcome"] == "fail"
    assert check["findings"][0]["level"] == 0 and check["findings"][0]["found"] == size // 10


def test_warnings_go_to_standard_error(run, save):
    path = broken(save)
    done = run("info", path)
    assert done.returncode == 0
    assert done.stderr.startswith(f"warning: {path}: ") and done.stderr.count("\n") == 1
    assert "many" in done.stdout
    assert run("info", "-q", path).stderr == run("info", "--quiet", path).stderr == ""


def test_warnings_are_in_json(run, save):
    done = run("info", "--json", broken(save))
    warnings = json.loads(done.stdout)["terrazzo"]["warnings"]
    assert [warning["cause"] for warning in warnings] == ["META"]
    assert done.stderr == f"warning: {warnings[0]['message']}\n"


def test_strict_makes_warnings_errors(run, save, plain):
    done = run("info", "--strict", "-q", broken(save))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert run("info", "--strict", plain).returncode == 0


def test_require_crs(run, save):
    path = save([Image(20, 10)])
    assert run("info", path).returncode == 0
    done = run("info", "--require-crs", path)
    assert done.returncode == 1 and done.stderr.startswith("error: ")


def test_a_limit_is_named_and_can_be_raised(run, save):
    path = save([Image(20, 10, tags=[(65000 + i, SHORT, [1]) for i in range(20)])])
    done = run("info", "--json", "--limit", "max_ifd_entries=10", path)
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert (error["result"], error["limit"]) == ("limit", "max_ifd_entries")
    assert "max_ifd_entries" in error["message"]
    assert run("info", "--limit=max_ifd_entries=0", path).returncode == 0


def test_unreadable_tile_table_is_a_warning_and_with_tiles_an_error(run, save):
    """The table claims to be outside the file: sizes are not known, the rest is."""
    data = bytearray(tiff([Image(64, 64, tile=(16, 16))]))
    entry = data.index(struct.pack("<HHI", 324, LONG, 16))
    data[entry + 8:entry + 12] = struct.pack("<I", len(data) - 4)
    path = save(bytes(data))
    done = run("info", path)
    assert "64 x 64 pixels" in done.stdout and "warning: " in done.stderr
    assert done.returncode == 0
    done = run("info", "--json", "--tiles", path)
    assert json.loads(done.stdout)["size"] == [64, 64]


def test_sidecars(info, save):
    path = save([Image(64, 64)])
    save([Image(32, 32, kind=OVERVIEW)], name="a.tif.ovr")
    save([Image(64, 64, bits=1, kind=MASK, tags=[(262, SHORT, [4])])], name="a.tif.msk")
    assert "overviews" not in info(path)["bands"][0]
    answer = info("--sidecars", path)
    assert answer["files"] == [path, path + ".ovr", path + ".msk"]
    assert answer["bands"][0]["overviews"] == [{"size": [32, 32]}]
    assert answer["bands"][0]["mask"]["flags"] == ["PER_DATASET"]


# Memory -----------------------------------------------------------------------------------------------


def test_every_allocation_may_fail(rich):
    """The program terrazzo_nomem is the command with a malloc that fails once, at the n-th call."""
    program = COMMAND.parent / "tests" / "terrazzo_nomem"
    if not program.is_file():
        pytest.skip("terrazzo_nomem was not built")
    for options in (["--json", "--tags"], ["--tags"]):
        failures = 0
        for count in range(1, 10_000):
            env = plain_environment(TERRAZZO_FAIL_ALLOCATION=str(count))
            done = subprocess.run([program, "info", "--tiles", *options, rich], env=env,
                                  capture_output=True, text=True)
            assert done.returncode in (0, 1), done.stderr
            assert "Sanitizer" not in done.stderr
            if done.returncode == 0:
                break
            failures += 1
            assert "memory" in done.stderr
            if "--json" in options:
                json.loads(done.stdout)
        assert 5 < failures < 9_000
