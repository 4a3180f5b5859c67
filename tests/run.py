#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The test driver behind `make test` and `make test-long`.

To add a test program, add its line to tests/CMakeLists.txt; to add a pytest file, put it into
tests/cli; to add a suite, add a line to SUITES below. Results are read as TAP (cmocka programs and
the check_*.py scripts) or JUnit XML (pytest).
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXPECTED_SKIPS = ROOT / "tests" / "expected-skips.txt"
JOBS = os.cpu_count() or 1
PROGRAMS_AT_ONCE = min(2, JOBS)
HANG_SECONDS = 900  # a program that runs longer hangs; this is not a speed limit
LONG_HANG_SECONDS = 6 * 3600
SHOWN_LINES = 200  # of a failure's output, the last ones
SHOWN_COLUMNS = 400

SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


# A suite is a name, a function that runs it and that function's arguments. Programs are chosen by
# their ctest label: see terrazzo_test() in tests/CMakeLists.txt.
@dataclasses.dataclass
class Suite:
    name: str
    run: object
    arguments: dict
    long: bool = False


NVIDIA = {"script": "tests/check_nvidia.py", "preset": "unit",
          "programs": ["nvcomp_answers", "nvidia_answers"]}


def suites():
    return [
        Suite("driver", run_script, {"script": "tests/check_driver.py"}),
        Suite("layers", run_script, {"script": "tests/check_layers.py"}),
        Suite("header", run_script, {"script": "tests/check_headers.py"}),
        Suite("kernels", run_script, {"script": "tests/check_kernels.py"}),
        Suite("nvidia", run_script, NVIDIA),
        Suite("unit", run_programs, {"preset": "unit", "label": "unit"}),
        Suite("asan", run_programs, {"preset": "asan", "label": "unit"}),
        Suite("tsan", run_programs, {"preset": "tsan", "label": "threads", "only": ".*"}),
        Suite("minimal", run_programs, {"preset": "minimal", "label": "unit",
                                        "only": "test_(codec|encode|read|write|hostile|tiff|open|spec)"}),
        Suite("bundled", run_programs, {"preset": "bundled-unit", "label": "unit",
                                        "only": "test_(codec|encode|kernel|read|write_(same|cog|prop)"
                                                "|hostile_read)(?!.*device)"}),
        Suite("clang", run_build, {"preset": "clang", "targets": ["terrazzo", "terrazzo_cli"]}),
        Suite("device", run_programs, {"preset": "asan", "label": "device"}),
        Suite("device-matrix", run_matrix, {"preset": "unit",
                                            "runs": [("check_matrix", "pixel_dump_device"),
                                                     ("check_written", "write_case_device")]}),
        Suite("fuzz-replay", run_programs, {"preset": "asan", "label": "fuzz"}),
        Suite("corpus", run_programs, {"preset": "asan", "label": "corpus"}),
        Suite("mutation", run_programs, {"preset": "asan", "label": "mutation"}),
        Suite("matrix", run_matrix, {"preset": "unit", "runs": [("check_matrix", "pixel_dump"),
                                                                ("check_levels", "level_dump"),
                                                                ("check_overviews", "overview_dump"),
                                                                ("check_encoders", "encode_dump")]}),
        Suite("written", run_matrix, {"preset": "unit", "runs": [("check_written", "write_case"),
                                                                 ("check_copies", "write_case"),
                                                                 ("check_spec",
                                                                  "spec_copy_dump")]}),
        Suite("large", run_programs, {"preset": "unit", "label": "large"}),
        Suite("cogs", run_matrix, {"preset": "unit", "runs": [("check_cogs", "write_case")]}),
        Suite("validate", run_matrix, {"preset": "asan", "runs": [("check_validate",
                                                                  "../terrazzo")]}),
        Suite("instructions", run_programs, {"preset": "unit", "label": "instructions"}),
        Suite("ptxas", run_programs, {"preset": "unit", "label": "ptxas"}),
        Suite("cli", run_pytest, {"preset": "asan", "folder": "tests/cli"}),
        Suite("install", run_script, {"script": "tests/check_install.py"}),
        Suite("matrix-long", run_matrix,
              {"preset": "unit", "runs": [("check_matrix", "pixel_dump", "--whole")]}, long=True),
        Suite("written-long", run_matrix,
              {"preset": "unit", "runs": [("check_written", "write_case", "--whole"),
                                          ("check_copies", "write_case", "--whole")]},
              long=True),
        Suite("device-long", run_matrix,
              {"preset": "unit", "runs": [("check_matrix", "pixel_dump_device", "--whole"),
                                          ("check_written", "write_case_device", "--whole")]},
              long=True),
        Suite("large-long", run_programs, {"preset": "unit", "label": "large"}, long=True),
        Suite("cogs-long", run_matrix,
              {"preset": "unit", "runs": [("check_cogs", "write_case", "--whole")]}, long=True),
        Suite("sizes-long", run_matrix,
              {"preset": "bundled-unit", "runs": [("check_sizes", "write_case")]}, long=True),
        Suite("nvidia-long", run_script, NVIDIA, long=True),
        Suite("mutation-long", run_programs, {"preset": "asan", "label": "mutation"}, long=True),
    ]


# One result. `detail` is the output of a failure or the reason of a skip.
@dataclasses.dataclass
class Case:
    name: str
    status: str  # passed, failed, skipped
    detail: str = ""


@dataclasses.dataclass
class Context:
    build_root: pathlib.Path
    env: dict
    hang_seconds: int
    built: dict = dataclasses.field(default_factory=dict)


# Building ---------------------------------------------------------------------------------------


class BuildError(Exception):
    pass


def call(command, env, timeout=None, cwd=ROOT):
    """Runs a command; returns (exit code or text that says how it ended, stdout, stderr)."""
    try:
        done = subprocess.run(command, cwd=cwd, env=env, timeout=timeout, capture_output=True,
                              text=True, errors="replace", stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        texts = [text.decode(errors="replace") if text else "" for text in
                 (error.stdout, error.stderr)]
        return f"stopped: still running after {timeout} s", *texts


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
    run_once(context, f"configuring {preset}", ["cmake", "--preset", preset, "-B", str(folder)])
    return folder


def build(context, preset, targets=()):
    """Configures a preset and builds it, or some of its targets; returns its folder."""
    folder = configure(context, preset)
    run_once(context, f"the build of {' '.join([preset, *targets])}",
             ["cmake", "--build", str(folder), "-j", str(JOBS),
              *(["--target", *targets] if targets else [])])
    return folder


# Kinds of suites --------------------------------------------------------------------------------


def run_build(context, preset, targets):
    build(context, preset, targets)
    return [Case("build", "passed")]


def run_programs(context, preset, label, only=None):
    """Runs the ctest programs that carry a label, a few at a time. only: those whose names it
    matches, and nothing else is built of the preset: where it can make no difference for others."""
    folder = configure(context, preset)
    build(context, preset, [test["name"] for test in programs_of(context, folder, label, only)]
          if only else [])
    programs = programs_of(context, folder, label, only or "")
    if not programs:
        return [Case("programs", "failed", f"no program has the label '{label}'")]
    wrapper = fixed_addresses(context) if preset == "tsan" else []
    with concurrent.futures.ThreadPoolExecutor(PROGRAMS_AT_ONCE) as pool:
        results = pool.map(lambda test: run_program(context, test, label, wrapper), programs)
        return [case for cases in results for case in cases]


def programs_of(context, folder, label, only):
    """What ctest knows of them; how they are called only once they are built."""
    code, out, err = call(["ctest", "--test-dir", str(folder), "--show-only=json-v1"], context.env)
    if code != 0:
        raise BuildError(out + err)
    return [test for test in json.loads(out)["tests"]
            if label in labels_of(test) and re.match(only, test["name"])]


def fixed_addresses(context):
    """The thread sanitizer does not start where the kernel randomises too many address bits."""
    wrapper = ["setarch", "-R"]
    try:
        return wrapper if call(wrapper + ["true"], context.env)[0] == 0 else []
    except OSError:
        return []


def labels_of(test):
    return next((p["value"] for p in test["properties"] if p["name"] == "LABELS"), [])


def run_program(context, test, label, wrapper):
    env = dict(context.env, CMOCKA_MESSAGE_OUTPUT="TAP")
    code, out, err = call(wrapper + test["command"], env, context.hang_seconds)
    if label == "fuzz":
        return [Case(test["name"], "passed" if code == 0 else "failed", how_ended(code, out, err))]
    return parse_tap(test["name"], code, out, err)


def run_script(context, script, preset=None, programs=()):
    """A script that prints TAP; its argument is the folder of programs that it needs of a preset."""
    command = [sys.executable, script]
    if preset:
        command.append(str(build(context, preset, programs) / "tests"))
    env = dict(context.env, TERRAZZO_BUILD_ROOT=str(context.build_root))
    code, out, err = call(command, env, context.hang_seconds)
    return parse_tap(pathlib.Path(script).stem, code, out, err)


def run_matrix(context, preset, runs):
    """Files written now by other software or by us, read by us and by it; a run is a script of
    tests/matrix, a program of tests/ and further arguments."""
    folder = build(context, preset)
    cases = []
    for script, program, *arguments in runs:
        code, out, err = call([str(ROOT / ".venv/bin/python"), f"tests/matrix/{script}.py",
                               str(folder / "tests" / program), *arguments], context.env,
                              context.hang_seconds)
        cases += parse_tap(script, code, out, err)
    return cases


def run_pytest(context, preset, folder):
    """Runs a folder of pytest files against the command of a build."""
    command = build(context, preset) / "terrazzo"
    # Looking for leaks at the end of thousands of short processes takes longer than all they do.
    env = dict(context.env, TERRAZZO_COMMAND=str(command),
               ASAN_OPTIONS=context.env["ASAN_OPTIONS"].replace("detect_leaks=1", "detect_leaks=0"))
    with tempfile.TemporaryDirectory() as temporary:
        report = pathlib.Path(temporary) / "report.xml"
        code, out, err = call([str(ROOT / ".venv/bin/python"), "-m", "pytest", "-q",
                               "-p", "no:cacheprovider", "-n", str(os.cpu_count() or 1),
                               "--dist", "loadfile", f"--junitxml={report}", folder],
                              env, context.hang_seconds)
        cases = parse_junit(report.read_text()) if report.exists() else []
    if code != 0 and not any(case.status == "failed" for case in cases):
        cases.append(Case("pytest", "failed", how_ended(code, out, err)))
    return cases


# Reading results --------------------------------------------------------------------------------


def parse_tap(program, code, out, err):
    """Cases of one program. cmocka 1.1.5 prints a plan per group, `ok 1 - name`, `not ok 2 - name`
    and, for a skip, `not ok 3 # SKIP name`. A program gives the reason of a skip by printing
    `skip: reason` before it."""
    cases = []
    planned = None
    pending = []
    for line in out.splitlines():
        plan = re.fullmatch(r"1\.\.(\d+)", line)
        result = re.fullmatch(r"(not )?ok \d+ *(-|# SKIP)? *(.*)", line)
        if plan:
            planned = (planned or 0) + int(plan[1])
        elif result:
            cases.append(tap_case(program, result, pending))
            pending = []
        elif line.startswith("#") and cases and cases[-1].status == "failed":
            cases[-1].detail += line + "\n"
        else:
            pending.append(line)
    if code != 0 and not any(case.status == "failed" for case in cases):
        cases.append(Case(f"{program}.exit", "failed", how_ended(code, out, err)))
    elif len(cases) < (planned or 0) or planned is None:
        cases.append(Case(f"{program}.plan", "failed",
                          f"{len(cases)} results of {planned} planned\n"
                          + how_ended(code, out, err)))
    elif err and any(case.status == "failed" for case in cases):
        next(case for case in cases if case.status == "failed").detail += "stderr:\n" + err
    return cases


def tap_case(program, result, pending):
    name = f"{program}.{result[3]}"
    if result[2] == "# SKIP":
        reasons = [line[5:].strip() for line in pending if line.startswith("skip:")]
        return Case(name, "skipped", reasons[-1] if reasons else "no reason given")
    if result[1]:
        return Case(name, "failed", "".join(line + "\n" for line in pending))
    return Case(name, "passed")


def parse_junit(text):
    cases = []
    for test in ElementTree.fromstring(text).iter("testcase"):
        module = test.get("classname", "").split(".")[-1]
        name = f"{module}.{test.get('name')}" if module else test.get("name")
        case = Case(name, "passed")
        for child in test:
            if child.tag in ("failure", "error"):
                case.status = "failed"
                case.detail += (child.text or child.get("message", "")) + "\n"
            elif child.tag == "skipped" and case.status == "passed":
                case.status, case.detail = "skipped", child.get("message", "no reason given")
        cases.append(case)
    return cases


def how_ended(code, out, err):
    ending = f"exit code {code}" if isinstance(code, int) else code
    if isinstance(code, int) and code < 0:
        ending = f"killed by signal {-code}"
    return f"{ending}\n{out}{err}"


# Expected skips ---------------------------------------------------------------------------------


def read_expected_skips(path):
    """Lines of `suite/test-name<TAB or two spaces>reason`; a * in the name stands for any text."""
    expected = {}
    lines = path.read_text().splitlines() if path.exists() else []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = re.split(r"\t|  +", line.strip(), maxsplit=1)
        if len(parts) != 2:
            raise SystemExit(f"{path}:{number}: no reason given")
        expected[parts[0]] = parts[1]
    return expected


def skip_pattern(text):
    return re.compile(".*".join(re.escape(part) for part in text.split("*")))


def judge_skips(results, expected, strict):
    """Turns unlisted skips into failures when strict; returns the listed ones that did not happen."""
    unseen = dict(expected)
    for suite, cases in results.items():
        for case in cases:
            if case.status != "skipped":
                continue
            full_name = f"{suite}/{case.name}"
            matches = [key for key in expected if skip_pattern(key).fullmatch(full_name)]
            for key in matches:
                unseen.pop(key, None)
            if strict and not matches:
                case.status = "failed"
                case.detail = ("skipped, and not listed in tests/expected-skips.txt: "
                               + case.detail)
    return [key for key in unseen if key.split("/")[0] in results]


# The run ----------------------------------------------------------------------------------------


def run_suite(suite, context):
    try:
        cases = suite.run(context, **suite.arguments)
    except BuildError as error:
        return [Case("build", "failed", str(error))]
    return cases or [Case("results", "failed", "the suite has no results")]


def count(cases, status):
    return sum(case.status == status for case in cases)


def print_suite(name, cases, seconds):
    print(f"{name:14} {count(cases, 'passed'):6} passed {count(cases, 'failed'):4} failed "
          f"{count(cases, 'skipped'):4} skipped {seconds:8.1f} s")
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
    for name, options in SANITIZER_OPTIONS.items():
        env.setdefault(name, options)
    corpus = ROOT.parent / "shared" / "corpus"
    if corpus.is_dir():
        env.setdefault("TERRAZZO_CORPUS", str(corpus))
    env.pop("TERRAZZO_LONG", None)
    env.pop("MAKEFLAGS", None)  # this run chooses its own number of jobs
    env.pop("MAKELEVEL", None)
    build_root = pathlib.Path(arguments.build_root).resolve()
    cache = build_root / "pocl"  # one for all builds: their kernels are the same
    cache.mkdir(parents=True, exist_ok=True)
    env.setdefault("POCL_CACHE_DIR", str(cache))
    return Context(build_root, env, HANG_SECONDS)


def parse_arguments():
    parser = argparse.ArgumentParser(description="Builds and runs the tests.")
    parser.add_argument("--suite", action="append", metavar="NAME", help="only this suite")
    parser.add_argument("--long", action="store_true", help="the long suites too")
    parser.add_argument("--strict-skips", action="store_true",
                        help="a skip that tests/expected-skips.txt does not list is a failure")
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
    return [suite for suite in every if arguments.long or not suite.long]


def main():
    arguments = parse_arguments()
    chosen = choose_suites(arguments)
    if arguments.list:
        for suite in chosen:
            print(suite.name + (" (long)" if suite.long else ""))
        return 0
    expected = read_expected_skips(EXPECTED_SKIPS)
    context = make_context(arguments)
    results = {}
    for suite in chosen:
        start = time.monotonic()
        here = context
        if suite.long:
            here = dataclasses.replace(context, env=dict(context.env, TERRAZZO_LONG="1"),
                                       hang_seconds=LONG_HANG_SECONDS)
        results[suite.name] = run_suite(suite, here)
        judge_skips({suite.name: results[suite.name]}, expected, arguments.strict_skips)
        print_suite(suite.name, results[suite.name], time.monotonic() - start)
    for key in judge_skips(results, expected, False):
        print(f"expected skip that did not happen: {key}")
    cases = [case for cases in results.values() for case in cases]
    print(f"{count(cases, 'passed')} passed, {count(cases, 'failed')} failed, "
          f"{count(cases, 'skipped')} skipped")
    return 1 if count(cases, "failed") else 0


if __name__ == "__main__":
    sys.exit(main())
