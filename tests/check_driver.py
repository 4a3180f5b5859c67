#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that tests/run.py sees failures for what they are: a driver that is blind passes all."""

import json
import pathlib
import shutil
import sys
import tempfile

import results
import run
from tap import Tap

PASS = "1..2\nok 1 - a\nok 2 - b\n"

# name, exit code, stdout, expected (passed, failed, skipped)
OUTPUTS = [
    ("all passed", 0, PASS, (2, 0, 0)),
    ("two groups", 0, PASS + "# ok - one\n" + PASS, (4, 0, 0)),
    ("a failure", 1, "1..2\nok 1 - a\nnot ok 2 - b\n# 0x3 != 0x4\n", (1, 1, 0)),
    ("a failing set-up", 1, "1..1\nnot ok 1 - a Could not run test: Test setup failed\n",
     (0, 1, 0)),
    ("a failing group set-up", 1, "1..1\nnot ok 0 - two [  FAILED  ] GROUP SETUP\n", (0, 1, 0)),
    ("a skip as cmocka prints it", 0, "1..2\nok 1 - a\nskip: no file\nnot ok 2 # SKIP b\n",
     (1, 0, 1)),
    ("a skip, and the exit code for it", 77, "1..2\nok 1 - a\nskip: no file\nnot ok 2 # SKIP b\n",
     (1, 0, 1)),
    ("that exit code without a skip", 77, PASS, (2, 1, 0)),
    ("a crash after the last result", -11, PASS, (2, 1, 0)),
    ("a leak found at exit", 23, PASS, (2, 1, 0)),
    ("fewer results than planned", 0, "1..3\nok 1 - a\nok 2 - b\n", (2, 1, 0)),
    ("a crash in the middle", -6, "1..3\nok 1 - a\n", (1, 1, 0)),
    ("no output", 0, "", (0, 1, 0)),
    ("results without a plan", 0, "ok 1 - a\n", (1, 1, 0)),
    ("a hang", "stopped: still running after 9 s", PASS, (2, 1, 0)),
]

JUNIT = """<testsuites><testsuite>
<testcase classname="tests.cli.test_a" name="passes"/>
<testcase classname="tests.cli.test_a" name="fails"><failure message="m">text</failure></testcase>
<testcase classname="tests.cli.test_a" name="breaks"><error message="m">text</error></testcase>
<testcase classname="tests.cli.test_a" name="skips"><skipped message="no tool"/></testcase>
</testsuite></testsuites>"""

SKIPS = "# comment\n\nunit/p.listed  two spaces\nunit/q.*\ttab\nunit/p.absent  gone\nother/x  y\n"


def counts(cases):
    return tuple(results.count(cases, status) for status in ("passed", "failed", "skipped"))


def check_tap(tap):
    for name, code, out, expected in OUTPUTS:
        found = counts(results.parse_tap("p", code, out, "err\n"))
        tap.check(f"TAP: {name}", found == expected, f"expected {expected}, found {found}")
    cases = results.parse_tap("p", 1, "1..2\nskip: no file\nnot ok 1 # SKIP s\nnot ok 2 - f\n# why\n", "")
    tap.check("TAP: names and reasons", [(c.name, c.detail) for c in cases]
              == [("p.s", "no file"), ("p.f", "# why\n")], cases)


def check_junit(tap):
    cases = results.parse_junit(JUNIT)
    tap.check("JUnit: counts", counts(cases) == (1, 2, 1), cases)
    tap.check("JUnit: names and reasons",
              (cases[3].name, cases[3].detail) == ("test_a.skips", "no tool"), cases[3])


def check_skips(tap):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "skips.txt"
        path.write_text(SKIPS)
        expected = results.read_expected_skips(path)
    for strict, failed in ((False, 0), (True, 1)):
        cases = [results.Case(name, "skipped", "r") for name in ("p.listed", "q.any", "p.unlisted")]
        unseen = results.judge_skips({"unit": cases}, expected, strict)
        word = "strict" if strict else "not strict"
        tap.check(f"skips, {word}: unlisted ones", counts(cases) == (0, failed, 3 - failed), cases)
        tap.check(f"skips, {word}: unseen ones of the suites that ran",
                  unseen == ["unit/p.absent"], unseen)


def no_build(context):
    raise run.BuildError("no compiler")


def no_program(context):
    return {"there": lambda: [results.Case("a", "passed")], "missing": lambda: open("/nowhere")}


# name, what makes the jobs, expected (passed, failed, skipped)
JOBS = [
    ("two jobs", lambda context: {name: lambda: [results.Case("a", "passed")] for name in "ab"},
     (2, 0, 0)),
    ("a build that fails", no_build, (0, 1, 0)),
    ("nothing to run", lambda context: {}, (0, 1, 0)),
    ("a job without results", lambda context: {"a": lambda: []}, (0, 1, 0)),
    ("a job that cannot run", no_program, (1, 1, 0)),
    ("the last one", lambda context: {"a": lambda: [results.Case("a", "skipped")]}, (0, 0, 1)),
]


def check_suites(tap):
    reported = []
    run.run_suites([run.Suite(name, jobs, {}) for name, jobs, _ in JOBS], None,
                   lambda name, cases, seconds: reported.append((name, counts(cases))))
    tap.check("suites: reported in their order, failures for what they are",
              reported == [(name, expected) for name, _, expected in JOBS], reported)


# name, program, seconds until it hangs, expected (code, stdout, stderr)
COMMANDS = [
    ("texts and an exit code", "echo out; echo err >&2; exit 3", 900, (3, "out\n", "err\n")),
    ("a signal", "kill -9 $$", 900, (-9, "", "")),
    ("a hang", "exec tail -f /dev/null", 0.1, ("stopped: still running after 0.1 s", "", "")),
]


def check_commands(tap):
    for name, text, timeout, expected in COMMANDS:
        found = run.call(["sh", "-c", text], None, timeout)
        tap.check(f"commands: {name}", found == expected, found)
    _, seconds = run.timed(lambda: run.call([sys.executable, "-c", "sum(range(1000000))"], None))
    tap.check("commands: processor time", seconds.cpu > 0, seconds)


def check_generator(tap):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "CMakeCache.txt").write_text("A:STRING=b\nCMAKE_GENERATOR:INTERNAL=Unix Makefiles\n")
        found = run.generator(path)
    tap.check("a build folder keeps its generator", found == ["-G", "Unix Makefiles"], found)


def check_presets(tap):
    """`ctest --preset NAME` runs what the suites of that preset run."""
    wanted = {}
    for suite in run.suites():
        if "preset" in suite.arguments and suite.jobs is not run.script_jobs and not suite.when:
            labels, without = wanted.setdefault(suite.arguments["preset"], (set(), set()))
            labels.add(suite.arguments.get("label", "cli"))
            without |= {suite.arguments.get("without")} - {None}
    presets = json.loads((run.ROOT / "CMakePresets.json").read_text())["testPresets"]
    found = {preset["name"]: tuple(labels_of(preset["filter"].get(which)) for which in ("include", "exclude"))
             for preset in presets if not preset.get("hidden")}
    tap.check("test presets run what suites run", found == wanted, f"expected {wanted}, found {found}")


def labels_of(chosen):
    return set(chosen["label"].strip("^()$").split("|")) if chosen else set()


# A commit message, and a word of what is wrong with it.
MESSAGES = [
    ("read: merge fetches across files\n", ""),
    ("read, write: speed up the planner\n\nWhy, and what was measured.\n# a comment of git's\n", ""),
    ("tests/cli: pass what was asked for\n", ""),
    ("Revert \"read: merge fetches\"\n", ""),
    ("read: " + "a" * 67 + "\n", "73 characters"),
    ("Merged fetches\n", "area"),
    ("read: merged fetches\n", "imperative"),
    ("read: merges fetches\n", "imperative"),
    ("read: merging fetches\n", "imperative"),
    ("read: merge fetches.\n", "full stop"),
    ("read: merge fetches\nacross files\n", "blank line"),
    ("read: WIP merge fetches\n", "progress"),
]


def check_messages(tap):
    for text, word in MESSAGES:
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(text)
            file.flush()
            code, _, err = run.call([str(run.ROOT / ".githooks/commit-msg"), file.name], None)
        subject = text.splitlines()[0]
        tap.check(f"commit messages: {subject}", (code == 0) == (not word) and word in err, (code, err))


def check_setup(tap):
    """`make` on a machine without compiler and libraries: a list, the command that installs it, nothing installed."""
    with tempfile.TemporaryDirectory() as folder:
        for tool in ("bash", "dirname", "sort", "tr", "sed", "test", "env"):
            (pathlib.Path(folder) / tool).symlink_to(shutil.which(tool))
        code, out, err = run.call([shutil.which("bash"), "tools/setup.sh", "--check", "build"], {"PATH": folder})
    tap.check("what is missing is listed", code == 1 and "    libzstd-dev\n" in err and out == "", (code, err))
    tap.check("with the command that installs it",
              "apt-get install -y --no-install-recommends cmake " in err and "make setup" in err, err)


def check_fingerprint(tap):
    """tools/fingerprint.py compares two records: it must see another exit code and other bytes, and let messages be."""
    row = {"a.tif": {"read": [0, "aa", "old"], "info": [0, "bb", ""]}}
    for name, run_name, now, code in [("the same", "info", [0, "bb", ""], 0), ("other bytes", "info", [0, "bc", ""], 1),
                                      ("another exit code", "info", [1, "bb", ""], 1),
                                      ("another message", "read", [0, "aa", "new"], 0),
                                      ("a run that took too long", "read", [None, "", ""], 0)]:
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder, side) for side in ("before", "after")]
            for path, rows in zip(paths, (row, {"a.tif": dict(row["a.tif"], **{run_name: now})})):
                path.write_text(json.dumps(rows))
            found, out, err = run.call([sys.executable, str(run.ROOT / "tools/fingerprint.py"), "compare", *map(str, paths)],
                                       None)
        tap.check(f"fingerprint: {name}", found == code, (found, out, err))


def main():
    tap = Tap()
    check_tap(tap)
    check_junit(tap)
    check_skips(tap)
    check_suites(tap)
    check_commands(tap)
    check_generator(tap)
    check_presets(tap)
    check_messages(tap)
    check_setup(tap)
    check_fingerprint(tap)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
