# SPDX-License-Identifier: Apache-2.0
"""terrazzo plan-cog, encode-block and assemble: a file by many processes is the file by one."""

import hashlib
import json
import pathlib
import random
import subprocess

import jsonschema
import numpy as np
import pytest
import rasterio

from conftest import COMMAND, ROOT, plain_environment

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
SCHEMA = json.loads((ROOT / "doc" / "blocks.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
SMALL = ["--co", "BLOCKSIZE=64"]


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def told(done):
    """Returns the JSON report of a command, which its schema must accept."""
    answer = json.loads(done.stdout)
    error = jsonschema.exceptions.best_match(VALIDATOR.iter_errors(answer))
    assert error is None, error
    return answer


@pytest.fixture
def image(tmp_path):
    """A raster of odd size, with nodata in one corner and here and there, or a mask."""
    def make(dtype="float32", size=(333, 277), bands=2, nodata=None, mask=False, name="in.tif"):
        height, width = size
        generator = np.random.default_rng(7)
        rows, columns = np.mgrid[:height, :width]
        pixels = np.stack([(rows * 3 + columns * 5 + 40 * band) % 1000 / 4 for band in range(bands)])
        pixels = (pixels + generator.integers(0, 4, pixels.shape)).astype(dtype)
        if nodata is not None:
            pixels[:, :100, :70] = nodata
            pixels[generator.random(pixels.shape) < 0.1] = nodata
        path = str(tmp_path / name)
        with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), \
                rasterio.open(path, "w", driver="GTiff", width=width, height=height, count=bands, dtype=dtype,
                              nodata=nodata, crs="EPSG:32632",
                              transform=rasterio.transform.from_origin(5e5, 5e6, 10, 10)) as file:
            file.write(pixels)
            if mask:
                file.write_mask(generator.random((height, width)) < 0.7)
        return path
    return make


@pytest.fixture
def by_one(run, tmp_path):
    def make(path, *options):
        out = str(tmp_path / "one.tif")
        done = run("cog", "--no-sync", "--overwrite", *options, path, out)
        assert done.returncode == 0, done.stderr
        return out
    return make


@pytest.fixture
def plan(run, tmp_path):
    """Makes a plan; its path, and its blocks as level and number."""
    def make(path, *options):
        out = str(tmp_path / "plan")
        done = run("plan-cog", "--overwrite", *options, path, out)
        lines = done.stderr.splitlines()
        assert done.returncode == 0 and all(line.startswith("warning: ") and "nodata" in line for line in lines), lines
        return out, [tuple(line.split()) for line in done.stdout.splitlines()]
    return make


@pytest.fixture
def encode(tmp_path):
    """Makes blocks, each by a process of its own, three at a time; the paths of their blobs."""
    def make(plan_path, blocks, path, *options):
        folder = tmp_path / "blobs"
        folder.mkdir(exist_ok=True)
        blobs = [str(folder / f"{level}-{block}") for level, block in blocks]
        waiting = [[COMMAND, "encode-block", "--overwrite", *options, plan_path, level, block, path, blob]
                   for (level, block), blob in zip(blocks, blobs)]
        while waiting:
            some, waiting = waiting[:3], waiting[3:]
            running = [subprocess.Popen(words, env=plain_environment(), stderr=subprocess.PIPE) for words in some]
            for process in running:
                assert process.communicate(timeout=120)[1] == b""
                assert process.returncode == 0
        return blobs
    return make


@pytest.fixture
def by_many(run, tmp_path, plan, encode):
    """The same file as by_one, in blocks of some tiles, made and given in a random order."""
    def make(path, *options, tiles=2):
        plan_path, blocks = plan(path, "--block-tiles", str(tiles), *options)
        order = random.Random(3)
        order.shuffle(blocks)
        blobs = encode(plan_path, blocks, path)
        order.shuffle(blobs)
        out = str(tmp_path / "many.tif")
        done = run("assemble", "--no-sync", "--overwrite", "--verify", "all", plan_path, out, *blobs)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return out
    return make


def test_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("resampling", ["AVERAGE", "CUBIC"])
@pytest.mark.parametrize("about", [{}, {"nodata": -9999.0}, {"mask": True}, {"dtype": "uint8", "nodata": 0},
                                   {"dtype": "int16", "mask": True, "size": (257, 129)}],
                         ids=["plain", "nodata", "mask", "bytes", "odd"])
def test_one_sha256(image, by_one, by_many, resampling, about):
    path = image(**about)
    options = [*SMALL, "--co", f"RESAMPLING={resampling}", "--co", "STATISTICS=YES"]
    assert sha256(by_many(path, *options)) == sha256(by_one(path, *options))


@pytest.mark.parametrize("options", [
    ["--co", "INTERLEAVE=BAND"], ["--co", "INTERLEAVE=TILE"], ["--co", "BIGTIFF=YES"], ["--co", "SPARSE_OK=TRUE"],
    ["--co", "COMPRESS=LZW", "--co", "PREDICTOR=NO"], ["--co", "OVERVIEWS=NONE"]], ids=lambda words: words[-1])
def test_one_sha256_of_other_layouts(image, by_one, by_many, options):
    path = image("uint16", nodata=0, mask=False, bands=3)
    assert sha256(by_many(path, *SMALL, *options, tiles=3)) == sha256(by_one(path, *SMALL, *options))


def test_alpha_that_becomes_the_mask(image, by_one, by_many, features):
    if not features["jpeg"]:
        pytest.skip("built without libjpeg")
    path = image("uint8", bands=4)
    with rasterio.open(path, "r+") as file:
        file.colorinterp = [rasterio.enums.ColorInterp[name] for name in ("red", "green", "blue", "alpha")]
    options = [*SMALL, "--co", "COMPRESS=JPEG"]
    assert sha256(by_many(path, *options)) == sha256(by_one(path, *options))


@pytest.mark.parametrize("alpha, keep", [(False, []), (True, []), (True, ["--keep-nodata"]), (False, ["--keep-nodata"])])
def test_nodata_that_becomes_the_mask(image, by_one, by_many, features, alpha, keep):
    if not features["jpeg"]:
        pytest.skip("built without libjpeg")
    path = image("uint8", bands=4 if alpha else 3, nodata=9)
    with rasterio.open(path, "r+") as file:
        names = ("red", "green", "blue", "alpha")[:file.count]
        file.colorinterp = [rasterio.enums.ColorInterp[name] for name in names]
    options = [*SMALL, "--co", "COMPRESS=JPEG", *keep]
    assert sha256(by_many(path, *options)) == sha256(by_one(path, *options))


def test_little_memory_makes_the_same_blob(run, image, plan, tmp_path):
    path = image(size=(900, 800), bands=1)
    plan_path, blocks = plan(path, *SMALL, "--co", "RESAMPLING=CUBIC")
    level, block = blocks[-1]
    for memory in ("1K", "1G"):
        done = run("encode-block", "--memory", memory, plan_path, level, block, path, str(tmp_path / memory))
        assert done.returncode == 0, done.stderr
    assert int(level) > 2
    assert sha256(tmp_path / "1K") == sha256(tmp_path / "1G")


# Raw pixels --------------------------------------------------------------------------------------


def write_window(path, window, order, to, mask=None):
    """The pixels of a window of the image, as raw samples."""
    column, row, width, height = window
    with rasterio.open(path) as file:
        place = rasterio.windows.Window(column, row, width, height)
        pixels = file.read(window=place)
        axes = {"pixel": (1, 2, 0), "row": (1, 0, 2), "band": (0, 1, 2)}[order]
        pathlib.Path(to).write_bytes(pixels.transpose(axes).tobytes())
        if mask:
            pathlib.Path(mask).write_bytes((file.read_masks(1, window=place) > 0).astype("u1").tobytes())


@pytest.mark.parametrize("order", ["pixel", "row", "band"])
@pytest.mark.parametrize("mask", [False, True], ids=["plain", "masked"])
def test_raw_pixels_are_as_good(run, image, tmp_path, order, mask):
    path = image("int16", mask=mask)
    plan_path, raw, raw_mask = (str(tmp_path / name) for name in ("plan", "raw", "raw.mask"))
    answer = told(run("plan-cog", "--json", *SMALL, "--block-tiles", "2", path, plan_path))
    block = [entry for entry in answer["blocks"] if entry["level"] == 0][-1]
    write_window(path, block["window"], order, raw, raw_mask if mask else None)
    from_raw, from_image = str(tmp_path / "a"), str(tmp_path / "b")
    masked = ["--mask", raw_mask] if mask else []
    done = run("encode-block", "--raw", "--order", order, *masked, plan_path, "0", str(block["block"]), raw, from_raw)
    assert (done.returncode, done.stderr) == (0, "")
    assert run("encode-block", plan_path, "0", str(block["block"]), path, from_image).returncode == 0
    assert sha256(from_raw) == sha256(from_image)


def test_a_plan_without_a_file(run, image, by_one, tmp_path):
    """Pixels from elsewhere, through standard input, in a single block of a single level."""
    path = image("uint8", size=(60, 50), bands=1)
    raw, plan_path, out, blob = (str(tmp_path / name) for name in ("raw", "plan", "out.tif", "blob"))
    write_window(path, (0, 0, 50, 60), "pixel", raw)
    done = run("plan-cog", *SMALL, "--shape", "60x50", "--dtype", "uint8", "--epsg", "32632",
               "--transform", "500000,10,0,5000000,0,-10", "-", plan_path)
    assert (done.returncode, done.stdout) == (0, "0 0\n"), done.stderr
    with open(raw, "rb") as pixels:
        done = subprocess.run([COMMAND, "encode-block", "--raw", plan_path, "0", "0", "-", blob], stdin=pixels,
                              env=plain_environment(), capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
    assert run("assemble", plan_path, out, blob).returncode == 0
    with rasterio.open(path) as wanted, rasterio.open(out) as file:
        assert (file.read() == wanted.read()).all()
        assert file.crs == wanted.crs and file.transform == wanted.transform


@pytest.mark.parametrize("size, message", [(-1, "fewer pixels"), (1, "more pixels")])
def test_raw_pixels_of_another_number(run, image, plan, tmp_path, size, message):
    plan_path, _ = plan(image("uint8", size=(60, 50), bands=1), *SMALL)
    (tmp_path / "raw").write_bytes(bytes(60 * 50 + size))
    done = run("encode-block", "--raw", plan_path, "0", "0", str(tmp_path / "raw"), str(tmp_path / "blob"))
    assert done.returncode == 1 and message in done.stderr
    assert not (tmp_path / "blob").exists()


# Reports -----------------------------------------------------------------------------------------


def test_json_says_where_everything_is(run, image, tmp_path, by_one):
    path = image(nodata=-9999.0)
    plan_path, front = str(tmp_path / "plan"), str(tmp_path / "front")
    answer = told(run("plan-cog", "--json", *SMALL, "--stats", "--block-tiles", "3", path, plan_path))
    assert answer["levels"][0] == {"size": [277, 333], "tile": [64, 64], "blocks": [2, 2]}
    assert len(answer["blocks"]) == sum(level["blocks"][0] * level["blocks"][1] for level in answer["levels"])
    blobs = []
    for entry in answer["blocks"]:
        blobs.append(str(tmp_path / f"{entry['level']}-{entry['block']}"))
        made = told(run("encode-block", "--json", plan_path, str(entry["level"]), str(entry["block"]), path, blobs[-1]))
        assert made["window"] == entry["window"] and len(made["tile_sizes"]) == entry["tiles"]
        assert made["size"] == pathlib.Path(blobs[-1]).stat().st_size
        assert made["size"] == made["head_size"] + sum(size + 8 for size in made["tile_sizes"])
    layout = told(run("assemble", "--layout", "--json", plan_path, front, *blobs))
    file = bytearray(layout["file_size"])
    file[:pathlib.Path(front).stat().st_size] = pathlib.Path(front).read_bytes()
    for part in layout["runs"]:
        bytes_there = pathlib.Path(part["blob"]).read_bytes()[part["from"]:part["from"] + part["size"]]
        assert not any(file[part["offset"]:part["offset"] + part["size"]])
        file[part["offset"]:part["offset"] + part["size"]] = bytes_there
    assert bytes(file) == pathlib.Path(by_one(path, *SMALL)).read_bytes()
    with rasterio.open(path) as source:
        values = source.read(1, masked=True)
    assert layout["statistics"][0]["valid"] == values.count()
    assert layout["statistics"][0]["minimum"] == values.min()
    whole = told(run("assemble", "--json", plan_path, str(tmp_path / "out.tif"), *blobs))
    assert whole["statistics"] == layout["statistics"] and whole["tiles_verified"] > 0


def test_names_from_a_list(run, image, plan, encode, by_one, tmp_path):
    path = image()
    plan_path, blocks = plan(path, *SMALL)
    blobs = encode(plan_path, blocks, path)
    (tmp_path / "list").write_text("\n".join(blobs[1:]) + "\n\n")
    out = str(tmp_path / "out.tif")
    done = run("assemble", "--files-from", str(tmp_path / "list"), plan_path, out, blobs[0])
    assert (done.returncode, done.stderr) == (0, "")
    assert sha256(out) == sha256(by_one(path, *SMALL))


# What is wrong -----------------------------------------------------------------------------------


@pytest.fixture
def job(image, plan, encode):
    path = image("uint8", bands=1)
    plan_path, blocks = plan(path, *SMALL, "--block-tiles", "2")
    return path, plan_path, encode(plan_path, blocks, path)


def check_refused(run, tmp_path, arguments, message):
    out = tmp_path / "out.tif"
    out.write_bytes(b"what was there")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = run("assemble", "--overwrite", "--json", *arguments)
    assert done.returncode == 1 and message in done.stderr
    assert message in told(done)["error"]["message"]
    assert out.read_bytes() == b"what was there"
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_missing_doubled_and_foreign_blobs(run, job, image, plan, encode, tmp_path):
    path, plan_path, blobs = job
    out = str(tmp_path / "out.tif")
    check_refused(run, tmp_path, [plan_path, out, *blobs[1:]], "block 0 of level 0 is missing")
    check_refused(run, tmp_path, [plan_path, out, *blobs, blobs[2]], "block 2 of level 0 is given twice")
    check_refused(run, tmp_path, [plan_path, out, *blobs[:-1], path], "not a block of terrazzo")
    check_refused(run, tmp_path, [plan_path, out, *blobs[:-1], "nowhere"], "nowhere")
    other = str(tmp_path / "other")
    assert run("plan-cog", *SMALL, "--co", "LEVEL=1", path, other).returncode == 0
    foreign = encode(other, [("0", "0")], path)
    check_refused(run, tmp_path, [plan_path, out, *foreign, *blobs[1:]], "another plan")


def test_blobs_that_were_cut_off(run, job, tmp_path):
    _, plan_path, blobs = job
    whole = pathlib.Path(blobs[0]).read_bytes()
    for size in (0, 10, 70, len(whole) - 1):
        pathlib.Path(blobs[0]).write_bytes(whole[:size])
        check_refused(run, tmp_path, [plan_path, str(tmp_path / "out.tif"), *blobs], "ends too early")


def test_damaged_plans(run, job, tmp_path):
    path, plan_path, blobs = job
    whole = pathlib.Path(plan_path).read_bytes()
    for damaged, message in ((whole[:-1], "cut off"), (b"", "not a plan"), (whole[:40] + b"\xff" + whole[41:], "checksum"),
                             (whole[:8] + b"\x09" + whole[9:], "another version")):
        pathlib.Path(plan_path).write_bytes(damaged)
        check_refused(run, tmp_path, [plan_path, str(tmp_path / "out.tif"), *blobs], message)
        done = run("encode-block", plan_path, "0", "0", path, str(tmp_path / "blob"))
        assert done.returncode == 1 and message in done.stderr


@pytest.mark.parametrize("about, message", [
    ({"size": (333, 278)}, "another size"), ({"bands": 2}, "another number of bands"),
    ({"dtype": "int16"}, "another type"), ({}, None)])
def test_another_image(run, job, image, tmp_path, about, message):
    _, plan_path, _ = job
    other = image(**{"dtype": "uint8", "bands": 1, "name": "other.tif"} | about)
    done = run("encode-block", plan_path, "0", "0", other, str(tmp_path / "blob"))
    assert done.returncode == (1 if message else 0)
    assert (message or "") in done.stderr


@pytest.mark.parametrize("arguments, message", [
    (["encode-block", "PLAN", "9", "0", "IN", "B"], "no such level"),
    (["encode-block", "PLAN", "0", "999", "IN", "B"], "no such block"),
    (["encode-block", "nowhere", "0", "0", "IN", "B"], "nowhere"),
    (["encode-block", "PLAN", "0", "0", "nowhere", "B"], "nowhere"),
    (["encode-block", "PLAN", "0", "0", "IN", "PLAN"], "exists"),
    (["encode-block", "--raw", "--mask", "IN", "PLAN", "0", "0", "IN", "B"], "has no mask"),
    (["assemble", "PLAN", "IN", "B"], "exists"),
    (["plan-cog", "IN", "PLAN"], "exists"),
    (["plan-cog", "nowhere", "B"], "nowhere")])
def test_failures(run, job, tmp_path, arguments, message):
    path, plan_path, _ = job
    words = {"PLAN": plan_path, "IN": path, "B": str(tmp_path / "B")}
    done = run(*(words.get(word, word) for word in arguments))
    assert done.returncode == 1 and message in done.stderr
    assert not (tmp_path / "B").exists()


@pytest.mark.parametrize("arguments, message", [
    (["plan-cog"], "no IN given"), (["plan-cog", "a"], "no PLAN given"), (["plan-cog", "a", "b", "c"], "unexpected argument 'c'"),
    (["plan-cog", "--block-tiles", "0", "a", "b"], "not '0'"), (["plan-cog", "--co", "BLOCKSIZ=64", "a", "b"], "BLOCKSIZE"),
    (["plan-cog", "-", "b"], "--shape"),
    (["encode-block", "a", "0", "0", "b"], "no BLOB given"), (["encode-block", "a", "x", "0", "b", "c"], "not 'x'"),
    (["encode-block", "a", "0", "-1", "b", "c"], "-1"), (["encode-block", "a", "0", "0", "-", "c"], "--raw"),
    (["encode-block", "--mask", "m", "a", "0", "0", "b", "c"], "--raw"),
    (["encode-block", "--json", "a", "0", "0", "b", "-"], "--json"),
    (["assemble", "a", "b"], "no BLOB given"), (["assemble", "--layout", "a", "b", "c"], "--json"),
    (["assemble", "--verify", "some", "a", "b", "c"], "not 'some'")])
def test_wrong_usage(run, arguments, message):
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_every_allocation_may_fail(image, plan, encode, tmp_path):
    program = COMMAND.parent / "tests" / "terrazzo_nomem"
    if not program.is_file():
        pytest.skip("terrazzo_nomem was not built")
    path = image("uint8", bands=1, size=(150, 130), mask=True)
    plan_path, blocks = plan(path, *SMALL)
    blobs = encode(plan_path, blocks, path)
    out = tmp_path / "out"
    level, block = blocks[-1]
    for words in (["plan-cog", "--json", *SMALL, path, out], ["assemble", "--no-sync", plan_path, out, *blobs],
                  ["encode-block", plan_path, level, block, path, out],
                  ["assemble", "--layout", "--json", plan_path, out, *blobs]):
        successes = 0
        for count in range(1, 2000):
            done = subprocess.run([program, *words], env=plain_environment(TERRAZZO_FAIL_ALLOCATION=str(count)),
                                  capture_output=True, text=True)
            assert out.exists() == (done.returncode == 0)
            assert done.returncode == 0 or (done.returncode == 1 and done.stderr.count("error: ") == 1), done.stderr
            out.unlink(missing_ok=True)
            successes = successes + 1 if done.returncode == 0 else 0  # some only save time
            if successes > 5:
                break
        assert 10 < count < 1999
