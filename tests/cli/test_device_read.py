# SPDX-License-Identifier: Apache-2.0
"""terrazzo read and plan on a device: the bytes of the CPU, and the report."""

import json
import pathlib

import jsonschema
import numpy as np
import pytest

from conftest import COMMAND, call, plain_environment

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMA = json.loads((ROOT / "doc" / "read.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
HEIGHT, WIDTH = 300, 410
FAKES = COMMAND.parent / "tests"
TILE = ["TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64"]


def pixels_of(dtype, bands):
    """Neighbours differ little, as in photographs and terrain."""
    steps = np.random.default_rng(1).integers(-1, 2, (HEIGHT, WIDTH, bands)).cumsum(axis=1)
    return (steps + 100).astype(dtype)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A file of given type and creation options, made once."""
    folder = tmp_path_factory.mktemp("made")

    def make(dtype="uint16", bands=1, options=("COMPRESS=DEFLATE", "PREDICTOR=2")):
        path = folder / f"{dtype}-{bands}-{'-'.join(options)}.tif"
        if not path.exists():
            raw = folder / "raw"
            pixels_of(dtype, bands).tofile(raw)
            words = [word for option in [*TILE, *options] for word in ("--co", option)]
            with open(raw, "rb") as rows:
                done = call("convert", "--no-sync", "--shape", f"{HEIGHT}x{WIDTH}x{bands}", "--dtype", dtype,
                            "--nodata", "101", *words, "-", str(path), stdin=rows)
            assert done.returncode == 0, done.stderr
        return str(path)
    return make


@pytest.fixture
def read(run, on_device, pocl, tmp_path):
    """Reads on the device and by the CPU, which must give the same bytes; returns the report of the first."""
    def read_twice(path, *options, more=()):
        answers = []
        for number, device in enumerate(([], ["--device", pocl, *more])):
            out = str(tmp_path / f"{number}.raw")
            done = run("read", "--json", "--overwrite", *device, *options, path, out, env=on_device())
            assert (done.returncode, done.stderr) == (0, ""), done.stderr
            answers.append(json.loads(done.stdout))
            VALIDATOR.validate(answers[-1])
        assert (tmp_path / "0.raw").read_bytes() == (tmp_path / "1.raw").read_bytes()
        assert answers[0]["device"] is None
        return answers[1]
    return read_twice


ON_THE_DEVICE = [("uint16", 1, ("COMPRESS=DEFLATE", "PREDICTOR=2")),
                 ("uint8", 3, ("COMPRESS=LZW", "PREDICTOR=2")),
                 ("float32", 1, ("COMPRESS=DEFLATE", "PREDICTOR=3")),
                 ("int32", 2, ("COMPRESS=DEFLATE", "INTERLEAVE=BAND")),
                 ("uint8", 1, ("COMPRESS=PACKBITS",)), ("int16", 1, ("COMPRESS=LZ4", "PREDICTOR=1")),
                 ("uint16", 1, ("COMPRESS=ZSTD", "PREDICTOR=2"))]


@pytest.mark.parametrize("dtype, bands, options", ON_THE_DEVICE)
def test_same_bytes(read, made, pocl, dtype, bands, options):
    use = read(made(dtype, bands, options))["device"]
    tiles = 5 * 7 * (bands if "INTERLEAVE=BAND" in options else 1)
    assert use["id"] == pocl and use["reason"] is None
    assert (use["tiles"], use["tiles_on_cpu"], use["tiles_redone"]) == (tiles, 0, 0)
    assert use["uploads"] == use["waves"] >= 1 and use["downloads"] >= 1 and use["launches"] > 0
    assert 0 < use["peak"] <= use["memory"]


@pytest.mark.parametrize("words", [
    ["--window", "13,27,200,150"], ["--bands", "3,1"], ["--dtype", "float32", "--scaled"],
    ["--dtype", "float64", "--nodata-to-nan"], ["--boundless", "--window", "-5,-7,100,100", "--fill", "9"],
    ["--boundless", "--window", "-5,-7,100,100"],
    ["--boundless", "--window", "-5,-7,100,100", "--dtype", "float32", "--nodata-to-nan"],
    ["--size", "100x0", "--resampling", "average"], ["--masked", "--format", "npy"]])
def test_options_of_read(read, made, words):
    read(made("uint8", 3, ("COMPRESS=LZW", "PREDICTOR=2")), *words)


def test_uncompressed_tiles_are_converted(read, made, pocl):
    use = read(made("uint16", 1, ()))["device"]
    assert use["id"] == pocl and use["tiles"] == 0 and use["launches"] > 0


def test_a_codec_that_no_device_has(read, made, run, on_device, pocl, tmp_path):
    """The CPU decodes, and is named; with --strict-device that is an error."""
    path = made("uint8", 3, ("COMPRESS=JPEG",))
    use = read(path)["device"]
    assert use["id"] is None and use["reason"] != "" and use["launches"] == 0
    done = run("read", "--json", "--device", pocl, "--strict-device", path, str(tmp_path / "strict.raw"),
               env=on_device())
    answer = json.loads(done.stdout)
    VALIDATOR.validate(answer)
    assert done.returncode == 1 and answer["error"]["result"] == "unsupported" and "JPEG" in done.stderr
    assert not (tmp_path / "strict.raw").exists()


def test_strict_where_it_can(read, made):
    assert read(made(), "--masked", "--format", "npy", more=["--strict-device"])["device"]["id"] is not None


def test_little_device_memory_is_more_waves(read, made, run, on_device, pocl):
    path = made()
    all_at_once = read(path)["device"]
    some = read(path, more=["--device-memory", "200K"])["device"]
    assert some["memory"] <= 200 << 10 < all_at_once["memory"] and some["waves"] > all_at_once["waves"]
    done = run("read", "--device", pocl, "--device-memory", "1K", path, "x.raw", env=on_device())
    assert done.returncode == 1 and "--device-memory allows less" in done.stderr


def test_a_plan_keeps_its_word(read, made, run, on_device, pocl):
    path = made()
    done = run("plan", "--json", "--device", pocl, path, env=on_device())
    plan = json.loads(done.stdout)
    VALIDATOR.validate(plan)
    planned, did = plan["device"], read(path)["device"]
    assert planned["peak"] is None and planned["memory"] == did["memory"]
    for key in ("id", "waves", "tiles", "uploads", "downloads", "launches", "syncs"):
        assert planned[key] <= did[key] if key != "id" else planned[key] == did[key]


def test_page(run, made, on_device, pocl, tmp_path):
    done = run("read", "--report", "--device", pocl, made(), str(tmp_path / "v.npy"), env=on_device())
    assert done.returncode == 0 and all(line.startswith("note: ") for line in done.stderr.splitlines())
    page = done.stdout[done.stdout.index("\nDevice\n"):]
    assert f"  Device        {pocl}\n" in page and "  Tiles         35 decoded there\n" in page
    for label in ("Waves", "Uploads", "Downloads", "Launches", "Memory"):
        assert f"\n  {label}" in page


def test_nvcomp_of_an_environment(run, made, tmp_path):
    """It is found where Python's packages put it, decodes, and is reported; without it, nothing else is different."""
    folder = tmp_path / "lib/python3.11/site-packages/nvidia/libnvcomp/lib64"
    folder.mkdir(parents=True)
    (folder / "libnvcomp.so.6").symlink_to(FAKES / "libnvcomp_fake_6.so")
    answers, pages = [], []
    for number, prefix in enumerate((tmp_path / "other", tmp_path)):
        env = plain_environment(VIRTUAL_ENV=str(prefix), CONDA_PREFIX=str(prefix))
        words = ["read", "--overwrite", "--window", "0,0,100,70", "--device", "cuda:0", "--cuda-library",
                 str(FAKES / "libcuda_fake.so"), made(), str(tmp_path / f"{number}.raw")]
        done = run(*words, "--json", env=env)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        answers.append(json.loads(done.stdout)["device"])
        VALIDATOR.validate(json.loads(done.stdout))
        pages.append(run(*words, "--report", env=env).stdout)
    assert (tmp_path / "0.raw").read_bytes() == (tmp_path / "1.raw").read_bytes()
    assert [answer["tiles"] for answer in answers] == [4, 4]
    assert [answer["library"] for answer in answers] == [None, "nvCOMP 6.0.0"]
    assert [answer["library_calls"] for answer in answers] == [0, 1]
    assert "  Library       nvCOMP 6.0.0, 1 batch\n" in pages[1] and "  Library" not in pages[0]


@pytest.mark.parametrize("option, variable, expected", [
    ("6", "", "nvCOMP 6.0.0"), (None, "5", "nvCOMP 5.3.0"), ("", "5", None), (None, "", None)])
def test_nvcomp_by_its_path(run, made, tmp_path, option, variable, expected):
    """The option first, then the environment; empty: not used."""
    def path(release):
        return str(FAKES / f"libnvcomp_fake_{release}.so") if release else ""

    named = [] if option is None else ["--nvcomp-library", path(option)]
    done = run("read", "--json", "--window", "0,0,60,60", "--device", "cuda:0", "--cuda-library",
               str(FAKES / "libcuda_fake.so"), *named, made(), str(tmp_path / "a.raw"),
               env=plain_environment(TERRAZZO_NVCOMP_LIBRARY=path(variable)))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert json.loads(done.stdout)["device"]["library"] == expected
