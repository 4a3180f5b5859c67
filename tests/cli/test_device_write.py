# SPDX-License-Identifier: Apache-2.0
"""terrazzo cog and convert on a device: the file that the CPU writes, and the report."""

import json
import pathlib

import jsonschema
import numpy as np
import pytest

from conftest import call

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMA = json.loads((ROOT / "doc" / "convert.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
HEIGHT, WIDTH = 300, 410


def pixels_of(dtype, bands):
    """Neighbours differ little, as in photographs and terrain."""
    steps = np.random.default_rng(2).integers(-1, 2, (HEIGHT, WIDTH, bands)).cumsum(axis=1)
    return (steps + 100).astype(dtype)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A file of given type in tiles of Deflate, made once."""
    folder = tmp_path_factory.mktemp("source")

    def make(dtype="uint16", bands=1):
        path = folder / f"{dtype}-{bands}.tif"
        if not path.exists():
            raw = folder / "raw"
            pixels_of(dtype, bands).tofile(raw)
            with open(raw, "rb") as rows:
                done = call("convert", "--no-sync", "--shape", f"{HEIGHT}x{WIDTH}x{bands}", "--dtype", dtype,
                            "--nodata", "101", "--co", "TILED=YES", "--co", "BLOCKXSIZE=64", "--co", "BLOCKYSIZE=64",
                            "--co", "COMPRESS=DEFLATE", "-", str(path), stdin=rows)
            assert done.returncode == 0, done.stderr
        return str(path)
    return make


def co(options):
    return [word for option in options for word in ("--co", option)]


@pytest.fixture
def write(run, on_device, pocl, tmp_path):
    """Writes with the device and by the CPU, which must give the same bytes; returns the report of the first."""
    def write_twice(command, path, options, more=()):
        answers = []
        for number, device in enumerate(([], ["--device", pocl, *more])):
            out = str(tmp_path / f"{number}.tif")
            done = run(command, "--json", "--no-sync", "--overwrite", *co(options), *device, path, out,
                       env=on_device())
            assert (done.returncode, done.stderr) == (0, ""), done.stderr
            answers.append(json.loads(done.stdout))
            VALIDATOR.validate(answers[-1])
        assert (tmp_path / "0.tif").read_bytes() == (tmp_path / "1.tif").read_bytes()
        assert answers[0]["read_device"] is None and answers[0]["write_device"] is None
        return answers[1]
    return write_twice


TILED = ["TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64"]


@pytest.mark.parametrize("command, dtype, bands, options", [
    ("convert", "uint16", 1, [*TILED, "COMPRESS=DEFLATE", "ZLEVEL=FAST", "PREDICTOR=2"]),
    ("convert", "uint8", 3, [*TILED, "COMPRESS=PACKBITS"]),
    ("convert", "float32", 1, [*TILED, "COMPRESS=DEFLATE", "ZLEVEL=FAST", "PREDICTOR=3"]),
    ("convert", "int32", 2, [*TILED, "INTERLEAVE=BAND"]),
    ("convert", "uint16", 1, ["COMPRESS=DEFLATE", "ZLEVEL=FAST", "BLOCKYSIZE=17"]),
    ("cog", "uint16", 1, ["BLOCKSIZE=64", "COMPRESS=DEFLATE", "LEVEL=FAST"]),
    ("cog", "uint8", 3, ["BLOCKSIZE=64", "COMPRESS=NONE", "RESAMPLING=BILINEAR"]),
])
def test_same_file(write, source, pocl, command, dtype, bands, options):
    answer = write(command, source(dtype, bands), options)
    reading, writing = answer["read_device"], answer["write_device"]
    assert reading["id"] == pocl and reading["reason"] is None and reading["tiles"] >= 35
    assert writing["id"] == pocl and writing["reason"] is None
    assert writing["tiles"] + writing["tiles_redone"] + answer["done"]["tiles_sparse"] == answer["tiles"]
    assert writing["launches"] > 0 and writing["downloads"] > 0
    pixels = HEIGHT * WIDTH * bands * np.dtype(dtype).itemsize
    assert reading["download_bytes"] < 4096 and writing["upload_bytes"] < pixels  # rows stay where they are
    assert 0 < writing["peak"] <= writing["memory"]


@pytest.mark.parametrize("command, level", [("convert", "ZLEVEL"), ("cog", "LEVEL")])
def test_the_usual_level_of_a_device(run, source, on_device, pocl, tmp_path, command, level):
    """Deflate is what devices have of it, unless a level is given; the CPU by name is the CPU."""
    def make(name, *words):
        done = run(command, "--no-sync", "--co", "COMPRESS=DEFLATE", *words, source(), str(tmp_path / name),
                   env=on_device())
        assert (done.returncode, done.stderr) == (0, "")
        return (tmp_path / name).read_bytes()
    usual, fast = make("usual"), make("fast", "--co", f"{level}=FAST")
    assert usual != fast == make("device", "--device", pocl, "--strict-device")
    assert usual == make("cpu", "--device", "cpu") == make("six", "--device", pocl, "--co", f"{level}=6")


def test_an_encoder_that_no_device_has(write, source, pocl, run, on_device, tmp_path):
    """The CPU encodes, and the report says why; the source is decoded by the device all the same."""
    options = [*TILED, "COMPRESS=ZSTD"]
    answer = write("convert", source(), options)
    assert answer["write_device"]["id"] is None and "zstd" in answer["write_device"]["reason"].lower()
    assert answer["read_device"]["id"] == pocl
    done = run("convert", "--json", "--device", pocl, "--strict-device", *co(options), source(),
               str(tmp_path / "strict.tif"), env=on_device())
    answer = json.loads(done.stdout)
    VALIDATOR.validate(answer)
    assert done.returncode == 1 and answer["error"]["result"] == "unsupported"
    assert not (tmp_path / "strict.tif").exists()


def test_device_memory(write, source, run, on_device, pocl, tmp_path):
    options = ["BLOCKSIZE=64", "COMPRESS=DEFLATE", "LEVEL=FAST"]
    answer = write("cog", source(), options, more=["--device-memory", "4M"])
    assert answer["write_device"]["memory"] <= 3 << 20 and answer["read_device"]["memory"] <= 1 << 20
    done = run("cog", "--device", pocl, "--device-memory", "1K", *co(options), source(), str(tmp_path / "n.tif"),
               env=on_device())
    assert done.returncode == 1 and "--device-memory allows less" in done.stderr
    assert not (tmp_path / "n.tif").exists()


def test_a_plan_keeps_its_word(write, source, run, on_device, pocl, tmp_path):
    options = ["BLOCKSIZE=64", "COMPRESS=DEFLATE", "LEVEL=FAST"]
    did = write("cog", source(), options)["write_device"]
    done = run("cog", "--dry-run", "--json", "--device", pocl, *co(options), source(), str(tmp_path / "dry.tif"),
               env=on_device())
    plan = json.loads(done.stdout)
    VALIDATOR.validate(plan)
    planned = plan["write_device"]
    assert planned["id"] == pocl and planned["peak"] is None and planned["memory"] == did["memory"]
    for key in ("waves", "uploads", "downloads", "launches", "syncs"):
        assert planned[key] <= did[key]
    assert planned["waves"] > 0 and planned["uploads"] > 0 and planned["downloads"] > 0
    assert planned["tiles"] == did["tiles"] + did["tiles_redone"]  # which tiles are not for it shows when they come
    assert not (tmp_path / "dry.tif").exists()


def test_rows_of_standard_input(run, on_device, pocl, tmp_path):
    raw = tmp_path / "raw"
    pixels_of("uint16", 1).tofile(raw)
    for number, device in enumerate(([], ["--device", pocl])):
        with open(raw, "rb") as rows:
            done = run("cog", "--json", "--no-sync", "--shape", f"{HEIGHT}x{WIDTH}", "--dtype", "uint16",
                       *co(["BLOCKSIZE=64", "LEVEL=FAST"]), *device, "-", str(tmp_path / f"{number}.tif"),
                       env=on_device(), stdin=rows)
        assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    VALIDATOR.validate(answer)
    assert answer["read_device"] is None and answer["write_device"]["id"] == pocl
    assert (tmp_path / "0.tif").read_bytes() == (tmp_path / "1.tif").read_bytes()


def test_page(run, source, on_device, pocl, tmp_path):
    done = run("cog", "-v", "--no-sync", "--device", pocl, *co(["BLOCKSIZE=64", "LEVEL=FAST"]), source(),
               str(tmp_path / "v.tif"), env=on_device())
    assert done.returncode == 0 and all(line.startswith("note: ") for line in done.stderr.splitlines())
    assert f"\nReading\n  Device        {pocl}\n" in done.stdout
    assert f"\nWriting\n  Device        {pocl}\n" in done.stdout and "encoded there" in done.stdout
