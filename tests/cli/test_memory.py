# SPDX-License-Identifier: Apache-2.0
"""--memory bounds the resident size of the process; where it does not suffice, the command says what does."""

import json
import re
import subprocess
import sys

import pytest

from conftest import COMMAND, plain_environment
from tiffmaker import SHORT, Image

SANITIZED = b"__asan_init" in COMMAND.read_bytes()
MIB = 1 << 20
# The largest size of a child is at least that of its parent when it was started: this one is small.
LAUNCHER = """import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def measure(*arguments, stdin=subprocess.DEVNULL):
    """Exit code, the most memory in bytes, standard error. Programs with sanitizers are not measured."""
    env = plain_environment()
    if not SANITIZED:
        del env["TERRAZZO_MEMORY_BASE"]
    done = subprocess.run([sys.executable, "-I", "-S", "-c", LAUNCHER, COMMAND, *arguments], stdin=stdin, timeout=120,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env, encoding="utf-8")
    *told, most = done.stderr.splitlines()
    return done.returncode, 0 if SANITIZED else int(most) * 1024, "\n".join(told)


def least_of(message):
    number, unit = re.search(r"(\d+)([KM]) is the least", message).groups()
    return number + unit, int(number) * (MIB if unit == "M" else 1024)


def check(command, files, stdin=lambda: subprocess.DEVNULL):
    """The named least suffices, and that bound and a larger one hold."""
    code, _, told = measure(*command, "--memory", "1K", *files, stdin=stdin())
    assert code == 1
    text, least = least_of(told)
    for memory, bound in ((text, least), (f"{least // MIB + 9}M", (least // MIB + 9) * MIB)):
        code, used, told = measure(*command, "--memory", memory, *files, stdin=stdin())
        assert code == 0, told
        assert used <= bound


@pytest.fixture
def wide(save):
    """Of 32 MiB: a row of tiles has 8."""
    return save([Image(8192, 1024, bits=32, tile=(256, 256), sparse=range(32 * 4), tags=[(339, SHORT, [3])])])


CASES = {
    "cog-deflate": ["cog", "--co", "COMPRESS=DEFLATE"], "cog-zstd": ["cog", "--co", "COMPRESS=ZSTD"],
    "cog-predictor": ["cog", "--co", "COMPRESS=DEFLATE", "--co", "PREDICTOR=YES"],
    "convert": ["convert", "--co", "TILED=YES", "--co", "COMPRESS=LZW"], "read": ["read", "--format", "raw"],
    "read-size": ["read", "--format", "raw", "--size", "1000x200", "--resampling", "cubic"],
    "device-cpu": ["cog", "--device", "cpu"]}


@pytest.mark.parametrize("threads", ["1", "2", "8"])
@pytest.mark.parametrize("name", CASES)
def test_the_least_is_named_and_the_bound_holds(wide, tmp_path, name, threads):
    check([*CASES[name], "--overwrite", "-j", threads], [wide, tmp_path / "out"])


def test_diff(wide):
    check(["diff"], [wide, wide])


def test_raw_pixels(tmp_path):
    """Rows of standard input are held beside those of the writer."""
    pixels = tmp_path / "pixels"
    pixels.write_bytes(bytes(8192 * 1024 * 4))
    check(["cog", "--overwrite", "--shape", "1024x8192", "--dtype", "float32"], ["-", tmp_path / "out.tif"],
          stdin=lambda: open(pixels, "rb"))


def test_the_refusal_comes_before_the_first_pixel(run, wide, tmp_path):
    done = run("cog", "--json", "--memory", "1K", wide, str(tmp_path / "out.tif"))
    assert done.returncode == 1 and list(tmp_path.iterdir()) == [tmp_path / "a.tif"]
    error = json.loads(done.stdout)["error"]
    assert error["result"] == "limit" and error["expected"] == 1024 < error["found"]
    assert run("cog", "--dry-run", "--memory", "1K", wide, str(tmp_path / "out.tif")).returncode == 1
