# SPDX-License-Identifier: Apache-2.0
"""terrazzo clean: removes files that interrupted writes left, and nothing else."""

import fcntl
import json
import os
import pathlib
import signal
import subprocess
import time

import jsonschema
import pytest

from test_convert_streams import names, start_and_wait

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMA = json.loads((ROOT / "doc" / "clean.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@pytest.fixture(params=[".b.tif.tz00.part", ".terrazzo.tz00.part"])
def left_behind(request, tmp_path):
    """The folder, and the name of what a killed write left there: a file, or a spool that belongs to none."""
    (tmp_path / "mine.part").write_text("mine")
    (tmp_path / request.param).write_bytes(bytes(1000))
    return tmp_path, request.param


def age(path, seconds):
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_a_killed_write_is_removed_after_a_day(run, left_behind):
    folder, name = left_behind
    done = run("clean", str(folder))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    age(folder / name, 23 * 3600)
    assert run("clean", str(folder)).stdout == ""
    age(folder / name, 25 * 3600)
    assert run("clean", "--dry-run", str(folder)).stdout == f"{folder}/{name}\n"
    assert name in names(folder)
    assert run("clean", str(folder)).stdout == f"{folder}/{name}\n"
    assert names(folder) == ["mine.part"]


@pytest.mark.parametrize("text, seconds", [("90", 90), ("90s", 90), ("2m", 120), ("3h", 10800), ("2d", 172800)])
def test_age(run, left_behind, text, seconds):
    folder, name = left_behind
    age(folder / name, seconds - 30)
    assert run("clean", "--older-than", text, str(folder)).stdout == ""
    age(folder / name, seconds + 30)
    assert name in run("clean", f"--older-than={text}", str(folder)).stdout


def test_a_write_under_way_is_left_alone(run, left_behind):
    folder, name = left_behind
    age(folder / name, 10 ** 6)
    with open(folder / name) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = run("clean", "--older-than", "0", str(folder))
        assert (done.returncode, done.stdout) == (0, "") and name in names(folder)
    assert run("clean", "--older-than", "0", str(folder)).stdout == f"{folder}/{name}\n"


def test_a_write_that_is_killed_can_be_cleaned_at_once(run, tmp_path):
    child = start_and_wait(["--shape", "99x99", "--dtype", "uint8", "-", str(tmp_path / "b.tif")],
                           tmp_path, 0, stdin=subprocess.PIPE)
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=60)
    assert run("clean", "--older-than", "0", str(tmp_path)).returncode == 0
    assert names(tmp_path) == []


def test_json(run, left_behind):
    folder, name = left_behind
    age(folder / name, 10 ** 6)
    for arguments, removed in ((["--dry-run"], 0), ([], 1)):
        answer = json.loads(run("clean", "--json", *arguments, str(folder)).stdout)
        VALIDATOR.validate(answer)
        assert answer == {"directory": str(folder), "found": [f"{folder}/{name}"], "removed": removed,
                          "error": None}
    done = run("clean", "--json", str(folder / "missing"))
    answer = json.loads(done.stdout)
    VALIDATOR.validate(answer)
    assert done.returncode == 1 and answer["error"]["cause"] == "IO" and answer["found"] == []


def test_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("arguments, message", [
    ([], "no DIR given\n"), ([".", "x"], "unexpected argument 'x'\n"), (["-"], "cannot read '-'"),
    (["--older-than", "x", "."], "--older-than needs a time such as 90m, 12h or 7d, not 'x'\n"),
    (["--older-than", "1w", "."], "not '1w'\n"), (["--older-than", "1dd", "."], "not '1dd'\n"),
    (["--older-than", "-1d", "."], "not '-1d'\n"), (["--older-then", "1d", "."], "did you mean '--older-than'?")])
def test_wrong_usage(run, arguments, message):
    done = run("clean", *arguments)
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr


@pytest.mark.parametrize("place", ["missing", "file"])
def test_a_path_that_is_not_a_folder(run, tmp_path, place):
    (tmp_path / "file").write_text("mine")
    done = run("clean", str(tmp_path / place))
    assert done.returncode == 1 and done.stderr.startswith("error: ")
