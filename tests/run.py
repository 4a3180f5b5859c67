#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The test driver of `make test`, `make test-quick` and `make test-long`.

Tests are ctest's, with their labels, environment and time limits: `ctest --preset unit` runs those of one
preset as this does. What ctest cannot do is here: a suite is built while programs of the one before it
run, results are counted case by case, as TAP (cmocka programs and the check_*.py scripts) or JUnit XML (pytest),
skips must be expected, and processor time is added up.

To add a test program, add its row to tests/programs.txt; to add a pytest file, put it into tests/cli; to add
a suite, add a line to suites() below.

A suite is built, and what it runs waits in one queue for all suites: its programs run while the next
suite is built.
"""

import argparse
import concurrent.futures
import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback

from results import Case, count, how_ended, judge_skips, parse_junit, parse_tap, read_expected_skips

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXPECTED_SKIPS = ROOT / "tests" / "expected-skips.txt"
JOBS = os.cpu_count() or 1
PROGRAMS_AT_ONCE = min(2, JOBS)
HANG_SECONDS = 900  # a script that runs longer hangs; this is not a speed limit
LONG_HANG_SECONDS = 6 * 3600
PYTEST_JOBS = 4  # of a suite
SHOWN_LINES = 200  # of a failure's output, the last ones
SHOWN_COLUMNS = 400


# A suite is a name, a function and that function's arguments. The function builds what is needed and
# returns jobs: names with functions that return cases. Tests of a preset are chosen by their ctest label:
# see tests/programs.txt. whole: all of the preset is built, not just what the suite runs. when: "long" is for
# make test-long, "quick" for make test-quick alone.
@dataclasses.dataclass
class Suite:
    name: str
    jobs: object
    arguments: dict
    when: str = ""


QUICK = ["driver", "layers", "layers-prose", "symbols", "abi", "header", "unit-quick", "cli-quick"]  # of make test-quick


NVIDIA = {"script": "tests/check_nvidia.py", "preset": "unit",
          "programs": ["nvcomp_answers", "nvidia_answers", "terrazzo"]}
GPU = {"script": "tests/check_gpu.py", "preset": "unit",
       "programs": ["gpu_player", "terrazzo", "test_device_faults", "test_device_memory_limit", "test_device_io",
                    "test_device_stress", "test_gpu_card", "test_gpu_memory"]}


def labelled(name, preset, label=None, whole=True, without=None, when=""):
    return Suite(name, ctest_jobs, {"preset": preset, "label": label or name, "whole": whole, "without": without}, when)


def suites():
    return [
        Suite("driver", script_jobs, {"script": "tests/check_driver.py"}),
        Suite("layers", script_jobs, {"script": "tests/check_layers.py"}),
        Suite("layers-prose", script_jobs, {"script": "tests/check_prose.py"}),
        Suite("symbols", script_jobs, {"script": "tests/check_symbols.py", "preset": "unit", "programs": ["terrazzo"]}),
        Suite("abi", script_jobs, {"script": "tests/check_abi.py", "preset": "unit", "programs": ["terrazzo_shared"]}),
        Suite("lto", script_jobs, {"script": "tests/check_lto.py", "preset": "lto", "programs": ["terrazzo"]}),
        Suite("header", script_jobs, {"script": "tests/check_headers.py"}),
        Suite("kernels", script_jobs, {"script": "tests/check_kernels.py"}),
        Suite("nvidia", script_jobs, NVIDIA),
        labelled("unit", "unit"),
        labelled("asan", "asan", "unit", without="optimised"),
        labelled("tsan", "tsan", "threads", whole=False),
        labelled("minimal", "minimal", whole=False),
        labelled("bundled", "bundled-unit", whole=False),
        labelled("device", "unit"),
        labelled("device-asan", "asan"),
        labelled("device-matrix", "unit"),
        labelled("cuda", "unit"),
        labelled("cuda-matrix", "unit"),
        Suite("gpu", script_jobs, GPU),
        labelled("fuzz-replay", "asan", "fuzz"),
        labelled("corpus", "asan"),
        labelled("mutation", "asan"),
        labelled("matrix", "unit"),
        labelled("written", "unit"),
        labelled("large", "unit"),
        labelled("cogs", "unit"),
        labelled("validate", "asan"),
        labelled("translate", "unit"),
        labelled("ptxas", "unit"),
        labelled("instructions", "unit"),
        Suite("cli", pytest_jobs, {"preset": "unit"}),
        Suite("cli-asan", pytest_jobs, {"preset": "asan"}),
        Suite("install", script_jobs, {"script": "tests/check_install.py"}),
        labelled("matrix-long", "unit", "matrix", when="long"),
        labelled("written-long", "unit", "written", when="long"),
        labelled("device-long", "unit", "device-matrix", when="long"),
        labelled("cuda-long", "unit", "cuda", when="long"),
        labelled("cuda-more-long", "unit", "cuda_more", when="long"),
        labelled("cuda-matrix-long", "unit", "cuda-matrix", when="long"),
        labelled("large-long", "unit", "large", when="long"),
        labelled("cogs-long", "unit", "cogs", when="long"),
        labelled("translate-long", "unit", "translate", when="long"),
        labelled("sizes-long", "bundled-unit", "sizes", when="long"),
        Suite("nvidia-long", script_jobs, NVIDIA, when="long"),
        labelled("mutation-long", "asan", "mutation", when="long"),
        labelled("unit-quick", "unit", "unit", without="slow", when="quick"),
        Suite("cli-quick", pytest_jobs, {"preset": "unit", "cases": "first"}, "quick"),
    ]


@dataclasses.dataclass
class Context:
    build_root: pathlib.Path
    env: dict
    hang_seconds: int  # 0: what ctest says
    built: dict = dataclasses.field(default_factory=dict)


# Building ---------------------------------------------------------------------------------------


class BuildError(Exception):
    pass


def call(command, env, timeout=None, cwd=ROOT):
    """Runs a command; returns (exit code or text that says how it ended, stdout, stderr)."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        late = threading.Event()
        timer = threading.Timer(timeout or 0, lambda: (late.set(), process.kill()))
        if timeout:
            timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        timer.cancel()
        used.cpu += usage.ru_utime + usage.ru_stime
        return (f"stopped: still running after {timeout} s" if late.is_set() else process.returncode,
                *map(read_text, (out, err)))


class Used(threading.local):
    cpu = 0  # seconds of processor time that the commands of this thread took


used = Used()


def read_text(file):
    file.seek(0)
    return file.read().decode(errors="replace")


def run_once(context, what, command):
    """Runs a command that builds something, once per run."""
    if what not in context.built:
        context.built[what] = None
        code, out, err = call(command, context.env)
        if code != 0:
            context.built[what] = f"{what} failed, see above"
            raise BuildError(f"{' '.join(command)}\n{err or out}")
    if context.built[what] is not None:
        raise BuildError(context.built[what])


def configure(context, preset):
    folder = context.build_root / preset
    run_once(context, f"configuring {preset}", ["cmake", "--preset", preset, "-B", str(folder),
                                                *generator(folder)])
    return folder


def generator(folder):
    """Ninja, which has less to do for hundreds of small programs, where it is installed; a folder
    keeps the one that it was made with."""
    cache = folder / "CMakeCache.txt"
    made = re.search(r"^CMAKE_GENERATOR:INTERNAL=(.*)$", cache.read_text(), re.MULTILINE) \
        if cache.exists() else None
    if made:
        return ["-G", made[1]]
    return ["-G", "Ninja"] if shutil.which("ninja") else []


def build(context, preset, targets=()):
    """Configures a preset and builds it, or some of its targets; returns its folder."""
    folder = configure(context, preset)
    run_once(context, f"the build of {' '.join([preset, *targets])}",
             ["cmake", "--build", str(folder), "-j", str(JOBS),
              *(["--target", *targets] if targets else [])])
    return folder


# Kinds of suites --------------------------------------------------------------------------------


def ctest_jobs(context, preset, label, whole, without):
    """The tests of a preset that carry a label, and not another one. How they are run is ctest's: command,
    environment, folder and the time after which they hang."""
    folder = configure(context, preset)
    build(context, preset, [] if whole else [test["name"] for test in tests_of(context, folder, label)])
    return {test["name"]: functools.partial(run_test, context, test, label)
            for test in tests_of(context, folder, label, without)}


def tests_of(context, folder, label, without=None):
    """What ctest knows of them; how they are called only once they are built."""
    code, out, err = call(["ctest", "--test-dir", str(folder), "--show-only=json-v1"], context.env)
    if code != 0:
        raise BuildError(out + err)
    tests = json.loads(out)["tests"]
    for test in tests:
        test["properties"] = {about["name"]: about["value"] for about in test["properties"]}
    labels = [test["properties"].get("LABELS", []) for test in tests]
    return [test for test, having in zip(tests, labels) if label in having and without not in having]


def run_test(context, test, label):
    code, out, err = call_test(context, test, test["command"])
    if label == "fuzz":
        return [Case(test["name"], "passed" if code == 0 else "failed", how_ended(code, out, err))]
    return parse_tap(test["name"], code, out, err)


def call_test(context, test, command):
    about = test["properties"]
    env = dict(context.env, **dict(word.split("=", 1) for word in about.get("ENVIRONMENT", [])))
    return call(command, env, context.hang_seconds or about["TIMEOUT"], about.get("WORKING_DIRECTORY", ROOT))


def script_jobs(context, script, preset=None, programs=()):
    """A script that prints TAP; its argument is the folder of programs that it needs of a preset."""
    command = [sys.executable, script]
    if preset:
        command.append(str(build(context, preset, programs) / "tests"))
    env = dict(context.env, TERRAZZO_BUILD_ROOT=str(context.build_root))
    return {script: functools.partial(run_script, context, command, env)}


def run_script(context, command, env):
    code, out, err = call(command, env, context.hang_seconds or HANG_SECONDS)
    return parse_tap(pathlib.Path(command[1]).stem, code, out, err)


def pytest_jobs(context, preset, cases=None):
    """The ctest named cli, which is pytest on all files of a folder: some of the files in each job, since what
    they import takes a second. cases: others than ctest's, the first of each test."""
    folder = build(context, preset)
    test, = tests_of(context, folder, "cli")
    if cases:
        test["properties"]["ENVIRONMENT"].append(f"TERRAZZO_CASES={cases}")
    *command, files = test["command"]
    paths = sorted(map(str, pathlib.Path(files).glob("test_*.py")))
    return {f"pytest {part + 1} of {PYTEST_JOBS}":
            functools.partial(run_pytest, context, test, command, paths[part::PYTEST_JOBS])
            for part in range(PYTEST_JOBS)}


def run_pytest(context, test, command, paths):
    with tempfile.TemporaryDirectory() as temporary:
        report = pathlib.Path(temporary) / "report.xml"
        code, out, err = call_test(context, test, [*command, f"--junitxml={report}", *paths])
        cases = parse_junit(report.read_text()) if report.exists() else []
    if code != 0 and not any(case.status == "failed" for case in cases):
        cases.append(Case("pytest", "failed", how_ended(code, out, err)))
    return cases


# The run ----------------------------------------------------------------------------------------


# What something took: of the clock, and of all processors.
@dataclasses.dataclass
class Seconds:
    wall: float = 0
    cpu: float = 0

    def __add__(self, other):
        return Seconds(self.wall + other.wall, self.cpu + other.cpu)

    def __str__(self):
        return f"{self.wall:8.1f} s {self.cpu:8.1f} cpu s"


# A suite whose jobs wait or run; seconds are those of its building, and then of its jobs too.
@dataclasses.dataclass
class Running:
    suite: Suite
    jobs: dict  # of futures
    cases: list
    seconds: Seconds

    def is_done(self):
        return all(future.done() for future in self.jobs.values())


def start_suite(suite, context, pool):
    (jobs, cases), seconds = timed(lambda: make_jobs(suite, context))
    return Running(suite, {name: pool.submit(timed, functools.partial(run_job, job))
                           for name, job in jobs.items()}, cases, seconds)


def make_jobs(suite, context):
    """The jobs of a suite, and cases when there are none."""
    try:
        jobs = suite.jobs(context, **suite.arguments)
        return jobs, [] if jobs else [Case("jobs", "failed", "the suite has nothing to run")]
    except BuildError as error:
        return {}, [Case("build", "failed", str(error))]


def run_job(job):
    try:
        return job()
    except Exception:  # such as a program that is not there
        return [Case("job", "failed", traceback.format_exc())]


def timed(function):
    """What it returns, and the seconds that it took."""
    start, used.cpu = time.monotonic(), 0
    value = function()
    return value, Seconds(time.monotonic() - start, used.cpu)


def finish_suite(running):
    """Waits for a suite; returns the seconds of its jobs by name."""
    times = {}
    for name, future in running.jobs.items():
        cases, seconds = future.result()
        running.cases += cases or [Case(name, "failed", "no results")]
        times[f"{running.suite.name}/{name}"] = seconds
    running.seconds = sum(times.values(), running.seconds)
    return times


def run_suites(chosen, context, report):
    """Builds suites one after the other and runs their jobs a few at a time; reports each suite in
    its turn, as soon as it has finished. Returns the seconds of all jobs."""
    times = {}
    waiting = []

    def report_done(wait):
        while waiting and (wait or waiting[0].is_done()):
            running = waiting.pop(0)
            times.update(finish_suite(running))
            report(running.suite.name, running.cases, running.seconds)

    pool = concurrent.futures.ThreadPoolExecutor(PROGRAMS_AT_ONCE)
    try:
        for suite in chosen:
            here = context
            if suite.when == "long":
                here = dataclasses.replace(context, env=dict(context.env, TERRAZZO_LONG="1"),
                                           hang_seconds=LONG_HANG_SECONDS)
            waiting.append(start_suite(suite, here, pool))
            report_done(wait=False)
        report_done(wait=True)
    finally:
        pool.shutdown(cancel_futures=True)
    return times


def print_suite(name, cases, seconds):
    print(f"{name:14} {count(cases, 'passed'):6} passed {count(cases, 'failed'):4} failed "
          f"{count(cases, 'skipped'):4} skipped {seconds}")
    for case in cases:
        if case.status == "failed":
            print(f"  FAILED {name}/{case.name}")
            lines = case.detail.rstrip().splitlines()
            if len(lines) > SHOWN_LINES:
                print(f"    ... {len(lines) - SHOWN_LINES} lines left out")
            for line in lines[-SHOWN_LINES:]:
                cut = " ..." if len(line) > SHOWN_COLUMNS else ""
                print(f"    {line[:SHOWN_COLUMNS]}{cut}")
        elif case.status == "skipped":
            print(f"  skipped {name}/{case.name}: {case.detail}")
    sys.stdout.flush()


def make_context(arguments):
    env = dict(os.environ)
    env.pop("TERRAZZO_LONG", None)
    env.pop("MAKEFLAGS", None)  # this run chooses its own number of jobs
    env.pop("MAKELEVEL", None)
    return Context(pathlib.Path(arguments.build_root).resolve(), env, 0)


def parse_arguments():
    parser = argparse.ArgumentParser(description="Builds and runs the tests.")
    parser.add_argument("--suite", action="append", metavar="NAME", help="only this suite")
    parser.add_argument("--long", action="store_true", help="the long suites too")
    parser.add_argument("--quick", action="store_true", help="only what one runs before a commit")
    parser.add_argument("--strict-skips", action="store_true",
                        help="a skip that tests/expected-skips.txt does not list is a failure")
    parser.add_argument("--slowest", type=int, default=0, metavar="N",
                        help="name the N programs that take most processor time")
    parser.add_argument("--build-root", default=str(ROOT / "build"), metavar="FOLDER")
    parser.add_argument("--list", action="store_true", help="print the names of the suites")
    return parser.parse_args()


def choose_suites(arguments):
    every = suites()
    unknown = set(arguments.suite or []) - {suite.name for suite in every}
    if unknown:
        raise SystemExit(f"no suite {', '.join(sorted(unknown))}; see --list")
    if arguments.suite:
        return [suite for suite in every if suite.name in arguments.suite]
    if arguments.quick:
        return [suite for suite in every if suite.name in QUICK]
    return [suite for suite in every if not suite.when or (arguments.long and suite.when == "long")]


def main():
    arguments = parse_arguments()
    chosen = choose_suites(arguments)
    if arguments.list:
        for suite in chosen:
            print(suite.name + (f" ({suite.when})" if suite.when else ""))
        return 0
    expected = read_expected_skips(EXPECTED_SKIPS)
    context = make_context(arguments)
    results, spent = {}, {}

    def report(name, cases, seconds):
        results[name], spent[name] = cases, seconds
        judge_skips({name: cases}, expected, arguments.strict_skips)
        print_suite(name, cases, seconds)

    times = run_suites(chosen, context, report)
    total = sum(spent.values(), Seconds())
    running = sum(times.values(), Seconds())
    for key in judge_skips(results, expected, False):
        print(f"expected skip that did not happen: {key}")
    for name in sorted(times, key=lambda name: times[name].cpu, reverse=True)[:arguments.slowest]:
        print(f"{times[name]} {name}")
    print(f"{total.cpu / 60:.1f} processor minutes, {(total.cpu - running.cpu) / 60:.1f} of them building")
    cases = [case for cases in results.values() for case in cases]
    print(f"{count(cases, 'passed')} passed, {count(cases, 'failed')} failed, "
          f"{count(cases, 'skipped')} skipped")
    return 1 if count(cases, "failed") else 0


if __name__ == "__main__":
    sys.exit(main())
