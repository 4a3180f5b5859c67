# SPDX-License-Identifier: Apache-2.0
"""terrazzo devices: what is there, and why something is not."""

import json
import pathlib
import subprocess

import jsonschema
import pytest

from conftest import COMMAND, plain_environment

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMA = json.loads((ROOT / "doc" / "devices.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
POCL = "Portable Computing Language"
FAKES = COMMAND.parent / "tests"
NO_CUDA = ("--cuda-library", "libno-cuda.so.1")


@pytest.fixture
def devices(run, on_device):
    """Runs `terrazzo devices --json`, which must succeed, and returns its report."""
    def run_devices(*arguments, **variables):
        done = run("devices", "--json", *NO_CUDA, *arguments, env=on_device(**variables))
        assert (done.returncode, done.stderr) == (0, "")
        answer = json.loads(done.stdout)
        VALIDATOR.validate(answer)
        assert answer["devices"][0]["id"] == "cpu" and answer["devices"][0]["usable"]
        return answer
    return run_devices


def test_pocl_is_found(devices):
    answer = devices()
    driver = answer["drivers"][1]
    assert driver["loaded"] and driver["library"] == "libOpenCL.so.1" and answer["error"] is None
    assert driver["devices"] == len(answer["devices"]) - 1
    pocl = next(device for device in answer["devices"] if device["platform"] == POCL)
    assert pocl["type"] == "cpu" and pocl["usable"] and pocl["reason"] is None
    assert pocl["work"] == ["store-pixels", "predictor2", "predictor3", "convert", "decode-deflate", "decode-lzw",
                            "decode-lz4", "decode-packbits", "decode-zstd", "extract", "encode-deflate",
                            "encode-packbits", "overview"]
    assert pocl["api_version"].startswith("OpenCL ")
    assert pocl["limits"]["max_allocation"] <= pocl["limits"]["memory"]


def test_devices_are_numbered(devices):
    answer = devices(POCL_DEVICES="basic pthread")
    ids = [device["id"] for device in answer["devices"]]
    assert ids == ["cpu"] + [f"opencl:{i}" for i in range(len(ids) - 1)]
    assert sum(device["platform"] == POCL for device in answer["devices"]) == 2


def test_no_vendor(devices, tmp_path):
    empty = tmp_path / "vendors"
    empty.mkdir()
    answer = devices(OCL_ICD_VENDORS=str(empty))
    assert len(answer["devices"]) == 1
    driver = answer["drivers"][1]
    assert driver["loaded"] and driver["devices"] == 0 and "no platform" in driver["reason"]


@pytest.mark.parametrize("name, number", [("cuda", 0), ("opencl", 1)])
def test_no_library(devices, run, tmp_path, name, number):
    missing = str(tmp_path / "none.so.1")
    answer = devices("--opencl-library", missing, f"--{name}-library", missing)
    assert len(answer["devices"]) == 1 and len(answer["drivers"]) == 2
    driver = answer["drivers"][number]
    assert driver["name"] == name and not driver["loaded"] and driver["devices"] == 0
    assert driver["library"] == missing and "No such file" in driver["reason"]
    page = run("devices", f"--{name}-library={missing}").stdout
    assert f"{missing} is not there" in page and "\ncpu\n" in page


def test_usual_libraries(run, on_device):
    """Whether or not they are there."""
    answer = json.loads(run("devices", "--json", env=on_device()).stdout)
    VALIDATOR.validate(answer)
    assert [driver["library"] for driver in answer["drivers"]] == ["libcuda.so.1", "libOpenCL.so.1"]


def test_a_file_that_is_no_library(devices, tmp_path):
    wrong = tmp_path / "wrong.so"
    wrong.write_text("not a library")
    answer = devices("--opencl-library", str(wrong), "--cuda-library", str(wrong))
    assert [driver["loaded"] for driver in answer["drivers"]] == [False, False]


def test_a_device_of_cuda(devices):
    """That of the fake of libcuda."""
    answer = devices("--cuda-library", str(FAKES / "libcuda_fake.so"))
    assert answer["drivers"][0]["loaded"] and answer["drivers"][0]["devices"] == 1
    cuda = answer["devices"][1]
    assert (cuda["id"], cuda["driver"], cuda["type"], cuda["usable"]) == ("cuda:0", "cuda", "gpu", True)
    assert cuda["api_version"] == "CUDA 13.0, compute capability 7.5" and cuda["driver_version"] == "13000"
    assert cuda["platform"] is None and cuda["limits"]["memory"] == 4 << 30 and "overview" in cuda["work"]


def test_a_driver_older_than_the_compiler(devices):
    """As R550, whose compiler knows PTX up to 8.4."""
    cuda = devices("--cuda-library", str(FAKES / "libcuda_fake.so"), TERRAZZO_TEST_CUDA_VERSION="12040")["devices"][1]
    assert cuda["usable"] and cuda["driver_version"] == "12040" and cuda["work"]


def test_a_driver_that_does_not_know_the_kernels(devices):
    cuda = devices("--cuda-library", str(FAKES / "libcuda_fake.so"), TERRAZZO_TEST_CUDA_VERSION="10020")["devices"][1]
    assert not cuda["usable"] and "CUDA 10.2" in cuda["reason"] and "11.0 or later" in cuda["reason"]


def test_a_driver_that_is_too_old(devices):
    driver = devices("--cuda-library", str(FAKES / "libcuda_fake_broken.so"))["drivers"][0]
    assert not driver["loaded"] and "cuLaunchKernel" in driver["reason"]


def test_a_loader_that_is_too_old(devices):
    driver = devices("--opencl-library", str(FAKES / "libopencl_fake_old.so"))["drivers"][1]
    assert not driver["loaded"] and "clEnqueueMarkerWithWaitList" in driver["reason"]


def test_page(run, tmp_path):
    short = run("devices", *NO_CUDA, "--opencl-library", str(tmp_path / "none.so"))
    long = run("devices", "-v", *NO_CUDA, "--opencl-library", str(tmp_path / "none.so"))
    assert (short.returncode, short.stderr, long.returncode) == (0, "", 0)
    assert short.stdout.startswith("Devices\n\ncpu\n") and "\nDrivers\n" in short.stdout
    assert "  units         " in short.stdout
    assert "fp64" in long.stdout and "fp64" not in short.stdout


def test_every_allocation_may_fail():
    """The program terrazzo_nomem is the command with a malloc that fails once, at the n-th call."""
    failures = 0
    for count in range(1, 20):
        env = plain_environment(TERRAZZO_FAIL_ALLOCATION=str(count))
        done = subprocess.run([FAKES / "terrazzo_nomem", "devices", "--json", *NO_CUDA, "--opencl-library",
                               "none.so"], env=env, capture_output=True, text=True)
        answer = json.loads(done.stdout)
        VALIDATOR.validate(answer)
        if done.returncode == 0:
            assert answer["devices"][0]["id"] == "cpu" and answer["error"] is None
            continue
        failures += 1
        assert done.returncode == 1 and "memory" in done.stderr and "Sanitizer" not in done.stderr
        assert answer["error"]["cause"] == "NOMEM" and answer["devices"] == []
    assert failures == 5  # the names of libraries, twice; the list, its array, and the CPU in it


def test_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_wrong_usage(run):
    for arguments, message in ((["x"], "unexpected argument 'x'\n"),
                               (["--opencl-librari", "x"], "did you mean '--opencl-library'?"),
                               (["--cuda-librari", "x"], "did you mean '--cuda-library'?")):
        done = run("devices", *arguments)
        assert (done.returncode, done.stdout) == (2, "") and message in done.stderr


# Where packages of Python have NVIDIA's libraries, and the fakes that are put there.
LIBRARIES = {"nvCOMP": ("nvidia/libnvcomp/lib64/libnvcomp.so.6", "nvcomp_fake_6", "6.0.0"),
             "cuFile": ("nvidia/cu13/lib/libcufile.so.0", "cufile_fake", "1.19.0"),
             "nvJPEG2000": ("nvidia/nvjpeg2k/lib/libnvjpeg2k.so.0", "nvjpeg2k_fake", "0.11.0"),
             "nvJPEG": ("nvidia/cu13/lib/libnvjpeg.so.13", "nvjpeg_fake", "13.2.3")}
WORDS = {"nvCOMP": "nvcomp", "cuFile": "cufile", "nvJPEG2000": "nvjpeg2k", "nvJPEG": "nvjpeg"}
CUDA = ("--cuda-library", str(FAKES / "libcuda_fake.so"))


def double_of(name):
    return str(FAKES / f"lib{LIBRARIES[name][1]}.so")


def places_of(found):
    return {library["name"]: library["library"] if library["loaded"] else library["reason"] for library in found}


def test_libraries_in_an_environment(devices, run, tmp_path):
    places = {}
    for name, (path, fake, _) in LIBRARIES.items():
        places[name] = tmp_path / "lib/python3.12/site-packages" / path
        places[name].parent.mkdir(parents=True, exist_ok=True)
        places[name].symlink_to(FAKES / f"lib{fake}.so")
    found = devices(*CUDA, VIRTUAL_ENV=str(tmp_path))["libraries"]
    assert [(library["name"], library["library"], library["version"]) for library in found] == [
        (name, str(places[name]), version) for name, (_, _, version) in LIBRARIES.items()]
    assert all(library["loaded"] and library["reason"] is None for library in found)
    assert found[0]["codecs"].startswith("decodes and encodes Deflate")
    page = run("devices", *CUDA, env=plain_environment(VIRTUAL_ENV=str(tmp_path))).stdout
    assert "Libraries" in page and f"{places['nvCOMP']}, 6.0.0: {found[0]['codecs']}\n" in page


def test_libraries_by_options(devices, run):
    """Each by its path; the environment is not asked then."""
    options = [word for name in LIBRARIES for word in (f"--{WORDS[name]}-library", double_of(name))]
    variables = {f"TERRAZZO_{WORDS[name].upper()}_LIBRARY": "" for name in LIBRARIES}
    assert places_of(devices(*CUDA, *options, **variables)["libraries"]) == {
        name: double_of(name) for name in LIBRARIES}
    page = run("devices", *CUDA, "--cufile-library", "").stdout
    assert "libcufile.so.0 is not used: it is not to be used\n" in page


@pytest.mark.parametrize("name", LIBRARIES)
def test_libraries_by_the_environment(devices, name, tmp_path):
    variable, option = f"TERRAZZO_{WORDS[name].upper()}_LIBRARY", f"--{WORDS[name]}-library"
    missing = str(tmp_path / "none.so")

    def found(*options, **variables):
        return next(library for library in devices(*CUDA, *options, **variables)["libraries"] if library["name"] == name)

    assert found(**{variable: double_of(name)})["library"] == double_of(name)
    unwanted = found(**{variable: ""})
    assert not unwanted["loaded"] and unwanted["reason"] == f"it is not to be used: {variable} is empty"
    assert unwanted["codecs"] is None and unwanted["version"] is None
    assert "No such file" in found(**{variable: missing})["reason"]
    assert found(option, double_of(name), **{variable: missing})["loaded"]
    assert found(option, "", **{variable: double_of(name)})["reason"] == "it is not to be used"


def test_libraries_that_are_missing(devices, tmp_path):
    found = devices(*CUDA, VIRTUAL_ENV=str(tmp_path), CONDA_PREFIX=str(tmp_path))["libraries"]
    assert [library["name"] for library in found] == list(LIBRARIES)
    # a machine may have them where its loader looks
    assert all(library["loaded"] or library["reason"] == "it is not installed" for library in found)


def test_no_libraries_without_cuda(devices, tmp_path):
    assert devices("--cuda-library", str(tmp_path / "libcuda.so.1"))["libraries"] == []
