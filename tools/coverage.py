#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Line coverage of src/ from the gcov data of a build folder."""

import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def gcov_reports(folder):
    for data in sorted(folder.rglob("*.gcda")):
        done = subprocess.run(["gcov", "--json-format", "--stdout", str(data)], cwd=folder,
                              capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            yield json.loads(line)


def collect(folder):
    """{file of src/: {line: times it ran}}"""
    lines = collections.defaultdict(lambda: collections.defaultdict(int))
    for report in gcov_reports(folder):
        for entry in report["files"]:
            path = pathlib.Path(report["current_working_directory"], entry["file"]).resolve()
            if path.is_relative_to(ROOT / "src"):
                for line in entry["lines"]:
                    lines[path.relative_to(ROOT)][line["line_number"]] += line["count"]
    return lines


def print_row(name, counts):
    ran = sum(count > 0 for count in counts)
    print(f"{str(name):40} {ran:6} of {len(counts):6} lines {100 * ran / len(counts):6.1f} %")


def main():
    lines = collect(pathlib.Path(sys.argv[1]).resolve())
    if not lines:
        sys.exit("coverage: no data; was it built with the coverage preset, and run?")
    for name in sorted(lines):
        print_row(name, list(lines[name].values()))
    print_row("all", [count for file in lines.values() for count in file.values()])


if __name__ == "__main__":
    main()
