# SPDX-License-Identifier: Apache-2.0
"""The command under test is TERRAZZO_COMMAND, or TERRAZZO, or build/release/terrazzo."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from tiffmaker import Image, geo_keys, north_up, tiff  # noqa: E402


def find_command():
    named = os.environ.get("TERRAZZO_COMMAND") or os.environ.get("TERRAZZO")
    return pathlib.Path(named or ROOT / "build" / "release" / "terrazzo").resolve()


COMMAND = find_command()

# Real files, where they are beside the repository.
CORPUS = ROOT.parent / "shared" / "corpus"
if CORPUS.is_dir():
    os.environ.setdefault("TERRAZZO_CORPUS", str(CORPUS))

# --memory of tests is for pixels alone: sanitizers make the program larger. test_memory.py measures.
os.environ["TERRAZZO_MEMORY_BASE"] = "0"


def pytest_configure(config):
    if not COMMAND.is_file():
        raise pytest.UsageError(f"no command {COMMAND}: build it, or set TERRAZZO_COMMAND")


def pytest_collection_modifyitems(config, items):
    """TERRAZZO_CASES is "first": of each test the first case only, or "others": those that are left out then."""
    chosen = os.environ.get("TERRAZZO_CASES")
    if not chosen:
        return
    seen, first, others = set(), [], []
    for item in items:
        name = item.nodeid.split("[")[0]
        (others if name in seen else first).append(item)
        seen.add(name)
    items[:], left_out = (first, others) if chosen == "first" else (others, first)
    config.hook.pytest_deselected(items=left_out)


def plain_environment(**extra):
    """This process's environment without anything that changes what the command prints."""
    env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
    return env | {"TERM": "xterm"} | extra


def call(*arguments, env=None, **options):
    """Runs the command; its output as text, with bytes that are not UTF-8 kept."""
    options.setdefault("capture_output", "stdout" not in options)
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([COMMAND, *arguments], env=env or plain_environment(), timeout=120,
                          encoding="utf-8", errors="surrogateescape", **options)


def without_rare_codec(stderr):
    """The messages, without the warning that GDAL does not have the codec."""
    return "".join(line for line in stderr.splitlines(keepends=True) if "GDAL" not in line or "read it" not in line)


def least_memory(command, *arguments, **options):
    """What a command asks for when it gets one byte: the --memory that suffices, such as "583K"."""
    done = call(command, "--dry-run", "--overwrite", "--memory", "1", *arguments, **options)
    assert done.returncode == 1, done.stderr
    return re.search(r"(\d+[KM]) is the least", done.stderr)[1]


@pytest.fixture
def run():
    return call


@pytest.fixture
def info():
    """Runs `terrazzo info --json`, which must succeed, and returns its report."""
    def run_info(*arguments):
        done = call("info", "--json", *arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    return run_info


@pytest.fixture
def save(tmp_path):
    """Writes bytes, or the TIFF of some images, and returns the path."""
    def save_file(content, name="a.tif", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else tiff(content, **options))
        return str(path)
    return save_file


@pytest.fixture
def plain(save):
    """A small georeferenced file without any defect."""
    return save([Image(20, 10, tags=north_up(440720.0, 3751320.0, 60.0)
                       + geo_keys((1024, 1), (1025, 1), (3072, 26711)))])


@pytest.fixture(scope="session")
def on_device(tmp_path_factory):
    """An environment for commands that use OpenCL: what PoCL compiles is kept in the build tree, and leaks of its
    compiler are not the command's."""
    silent = tmp_path_factory.mktemp("device") / "suppressions"
    silent.write_text("leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libhwloc\nleak:libOpenCL.so\n")
    cache = pathlib.Path(os.environ.get("POCL_CACHE_DIR", COMMAND.parent / "pocl"))
    cache.mkdir(exist_ok=True)

    def environment(**variables):
        return plain_environment(LSAN_OPTIONS=f"suppressions={silent}:print_suppressions=0",
                                 POCL_CACHE_DIR=str(cache), **variables)
    return environment


@pytest.fixture(scope="session")
def pocl(on_device):
    """The name of PoCL's device: tests that need it fail where it is not installed."""
    answer = json.loads(call("devices", "--json", env=on_device()).stdout)
    return next(device["id"] for device in answer["devices"]
                if device["platform"] == "Portable Computing Language")


@pytest.fixture(scope="session")
def features():
    """What the command was built with: {"expat": "2.5.0", "proj": None}."""
    lines = call("--version").stdout.splitlines()[1:]
    pairs = [line.split(maxsplit=1) for line in lines]
    return {name: None if version == "left out" else version for name, version in pairs}


@pytest.fixture
def raster(tmp_path):
    """Writes an array of (bands, rows, columns) with rasterio, and returns the path."""
    import rasterio

    def write(array, name="a.tif", tags=None, colormap=None, overviews=None, mask=None, **profile):
        path = str(tmp_path / name)
        bands, height, width = array.shape
        profile = {"driver": "GTiff", "dtype": array.dtype.name} | profile
        with rasterio.open(path, "w", count=bands, height=height, width=width, **profile) as file:
            file.write(array)
            file.update_tags(**(tags or {}))
            if colormap:
                file.write_colormap(1, colormap)
            if mask is not None:
                file.write_mask(mask)
        if overviews:
            with rasterio.open(path, "r+") as file:
                file.build_overviews(overviews, rasterio.enums.Resampling.average)
        return path
    return write
