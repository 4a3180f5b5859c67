# SPDX-License-Identifier: Apache-2.0
"""--device and what goes with it, as typed: of read, plan, convert and cog."""

import json
import pathlib

import jsonschema
import pytest

from conftest import COMMAND

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FAKE = str(COMMAND.parent / "tests" / "libopencl_fake.so")
COMMANDS = ("read", "plan", "convert", "cog")


@pytest.fixture
def words(plain, tmp_path):
    """The arguments of a command that works on a small file."""
    def arguments(command, *options):
        outputs = {"read": ["out.npy"], "plan": [], "convert": ["out.tif"], "cog": ["cog.tif"]}[command]
        return [command, *options, plain, *(str(tmp_path / name) for name in outputs)]
    return arguments


@pytest.fixture(params=COMMANDS)
def command(request):
    return request.param


@pytest.mark.parametrize("options, message", [
    (["--device", "gpu"], "--device is cpu, auto, cuda:N or opencl:N (see terrazzo devices), not 'gpu'"),
    (["--device", "opencl:"], "not 'opencl:'"),
    (["--device", "opencl:x"], "not 'opencl:x'"),
    (["--device", "cuda"], "not 'cuda'"),
    (["--device", "cuda:-1"], "not 'cuda:-1'"),
    (["--device", "opencl:0:1"], "not 'opencl:0:1'"),
    (["--device", ""], "not ''"),
    (["--strict-device"], "--strict-device needs --device"),
    (["--lossy-on-device"], "--lossy-on-device needs --device"),
    (["--device-memory", "1M"], "--device-memory needs --device"),
    (["--opencl-library", "x"], "--opencl-library needs --device"),
    (["--cuda-library", "x"], "--cuda-library needs --device"),
    (["--nvcomp-library", "x"], "--nvcomp-library needs --device"),
    (["--cufile-library", "x"], "--cufile-library needs --device"),
    (["--nvjpeg2k-library", ""], "--nvjpeg2k-library needs --device"),
    (["--nvjpeg-library", "x"], "--nvjpeg-library needs --device"),
    (["--device", "cpu", "--device-memory", "0"], "--device-memory needs a number of bytes"),
    (["--device", "cpu", "--device-memory", "1Q"], "--device-memory needs a number of bytes"),
    (["--devise", "cpu"], "did you mean '--device'?"),
])
def test_wrong_usage(run, words, command, options, message):
    done = run(*words(command, *options))
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def schema_of(command):
    name = "read" if command in ("read", "plan") else "convert"
    return jsonschema.Draft202012Validator(json.loads((ROOT / "doc" / f"{name}.schema.json").read_text()))


def test_schemas_are_valid():
    for command in ("read", "convert"):
        jsonschema.Draft202012Validator.check_schema(schema_of(command).schema)


def test_a_device_that_is_not_there(run, words, command, on_device, tmp_path):
    """An error as any other: exit code 1, a message, JSON of it, and no output file."""
    done = run(*words(command, "--json", "--device", "opencl:99"), env=on_device())
    assert done.returncode == 1 and "no such device" in done.stderr
    answer = json.loads(done.stdout)
    schema_of(command).validate(answer)
    assert answer["error"]["result"] == "device"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tif"]


@pytest.mark.parametrize("driver, name", [("cuda", "CUDA"), ("opencl", "OpenCL")])
def test_no_library(run, words, command, tmp_path, driver, name):
    done = run(*words(command, "--device", f"{driver}:0", f"--{driver}-library", str(tmp_path / "none.so")))
    assert done.returncode == 1 and f"{name} is not there" in done.stderr and "none.so" in done.stderr


def uses(answer):
    return [answer[key] for key in ("device", "read_device", "write_device") if key in answer]


def test_no_device_asked_for(run, words, command):
    done = run(*words(command, "--json"))
    answer = json.loads(done.stdout)
    schema_of(command).validate(answer)
    assert done.returncode == 0 and uses(answer) == [None] * len(uses(answer)) != []


def test_the_cpu_by_name(run, words, command):
    """They are the same as no device, also with what only a device heeds."""
    done = run(*words(command, "--json", "--device", "cpu", "--strict-device", "--device-memory", "1"))
    answer = json.loads(done.stdout)
    schema_of(command).validate(answer)
    assert done.returncode == 0 and done.stderr == ""
    for use in uses(answer):
        assert use["id"] is None and use["reason"] is None and use["launches"] == 0


def test_auto_without_a_gpu(run, words, command, tmp_path):
    """The CPU works, and the report says why."""
    missing = str(tmp_path / "none.so")
    done = run(*words(command, "--json", "--device", "auto", "--cuda-library", missing, "--opencl-library", missing))
    answer = json.loads(done.stdout)
    schema_of(command).validate(answer)
    assert done.returncode == 0
    for use in uses(answer):
        assert use["id"] is None and f"cuda: {missing}" in use["reason"]


def test_auto_leaves_little_work_to_the_cpu(run, words, command):
    """The fake has a GPU: on paper it costs more than a small file takes; and Deflate at the usual level it cannot
    encode."""
    done = run(*words(command, "--json", "--device", "auto", "--cuda-library", "libno-cuda.so.1",
                      "--opencl-library", FAKE))
    answer = json.loads(done.stdout)
    schema_of(command).validate(answer)
    assert done.returncode == 0, done.stderr
    for use in uses(answer):
        assert use["id"] is None
        assert "the CPU is expected to take" in use["reason"] or "does not encode deflate" in use["reason"]


def test_page(run, words, command):
    done = run(*words(command, "-v", "--device", "cpu"))
    assert done.returncode == 0 and all(line.startswith("note: ") for line in done.stderr.splitlines())
    assert "  Device        the CPU\n" in done.stdout
