# SPDX-License-Identifier: Apache-2.0
"""Results of tests as tests/run.py reads them: TAP, JUnit XML, and the skips that are expected."""

import dataclasses
import re
import xml.etree.ElementTree as ElementTree

from tap import SKIPPED


# One result. `detail` is the output of a failure or the reason of a skip.
@dataclasses.dataclass
class Case:
    name: str
    status: str  # passed, failed, skipped
    detail: str = ""


def count(cases, status):
    return sum(case.status == status for case in cases)


# Reading results --------------------------------------------------------------------------------


def parse_tap(program, code, out, err):
    """Cases of one program. cmocka 1.1.5 prints a plan per group, `ok 1 - name`, `not ok 2 - name`
    and, for a skip, `not ok 3 # SKIP name`. A program gives the reason of a skip by printing
    `skip: reason` before it. The exit code of a program that skipped is 77."""
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
    if code == SKIPPED and count(cases, "skipped"):
        code = 0
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
