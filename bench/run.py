#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures opening, reading, writing and making COGs, side by side with other libraries, and devices beside the CPU;
see bench/README.md.

    bench/run.py                    everything, most of an hour
    bench/run.py --quick            reading and writing: small images, few of them, two minutes
    bench/run.py --only read --cells lzw     files whose name has "lzw" in it
    bench/run.py --build DIR        the programs of another build, made with -DTERRAZZO_BENCH=ON
    bench/run.py --check            exit 1 when a target of the README is missed
    bench/run.py --write            put the tables into bench/README.md
"""

import argparse
import os
import re
import sys

import cells
import contest
import measure_cog
import measure_device
import measure_open
import measure_read
import measure_write
from common import BUILD, ROOT, build, report

README = ROOT / "bench" / "README.md"
SECTIONS = ("open", "read", "latency", "batch", "write", "memory", "cog", "device")
QUICK_SECTIONS = ("read", "latency", "batch", "write", "cog")
TMPFS = "/dev/shm"


def write_readme():
    """Each section that was measured replaces what is between its marks."""
    text = README.read_text()
    command = " ".join(["bench/run.py", *sys.argv[1:]])
    for section, lines in report.sections.items():
        start, end = f"<!-- results: {section} -->\n", f"<!-- end: {section} -->\n"
        before, rest = text.split(start)
        _, after = rest.split(end)
        body = f"`{command}`:\n\n" + "".join(lines).strip("\n")
        text = before + start + "\n" + body + "\n\n" + end + after
    README.write_text(text)


def parse():
    parser = argparse.ArgumentParser(description="Measures opening, reading and writing, side by side.")
    parser.add_argument("--quick", action="store_true", help="a part of it, small images")
    parser.add_argument("--only", action="append", choices=SECTIONS, help="a part; may repeat")
    parser.add_argument("--cells", default="", help="only files whose names this expression finds")
    parser.add_argument("--build", help="a folder with the programs (default: build/bench, made)")
    parser.add_argument("--size", type=int, help="of the images (default 4096; quick 2048)")
    parser.add_argument("--rounds", type=int, help="of reading and writing (default 9; quick 5)")
    parser.add_argument("--no-gdal", action="store_true", help="opening: terrazzo alone")
    parser.add_argument("--no-count", action="store_true", help="opening: count no instructions")
    parser.add_argument("--open-rounds", type=int, default=measure_open.ROUNDS)
    parser.add_argument("--cog-rounds", type=int, default=measure_open.COG_ROUNDS)
    parser.add_argument("--folder", help="where the files to open are made (default: the system's)")
    parser.add_argument("--output", help=f"where files are written (default: {TMPFS}, where there is one)")
    parser.add_argument("--check", action="store_true", help="fail when a target is missed")
    parser.add_argument("--write", action="store_true", help="put the tables into the README")
    arguments = parser.parse_args()
    if arguments.write and (arguments.quick or arguments.cells):
        parser.error("the README wants the whole measurement")
    arguments.only = arguments.only or (QUICK_SECTIONS if arguments.quick else SECTIONS)
    arguments.size = arguments.size or (2048 if arguments.quick else 4096)
    arguments.rounds = arguments.rounds or (5 if arguments.quick else 9)
    if arguments.output is None and os.path.isdir(TMPFS):
        arguments.output = TMPFS
    return arguments


def chosen(arguments, listed):
    return [cell for cell in listed if re.search(arguments.cells, cell[1])]


def measure(section, arguments):
    """(what is wrong, what missed its target)"""
    if section == "open":
        return [], measure_open.measure_open(arguments)
    if section == "read":
        contest.show_versions()
        return measure_read.measure_whole(arguments, chosen(arguments, cells.all_cells(arguments.quick)))
    if section == "write":
        contest.show_versions()
        return measure_write.measure_write(arguments, chosen(arguments, cells.write_cells(arguments.quick)))
    if section == "cog":
        contest.show_versions(("rio-cogeo", "pyvips-binary"))
        return measure_cog.measure_cog(arguments, chosen(arguments, cells.cog_cells(arguments.quick)))
    alone = {"latency": measure_read.measure_latency, "batch": measure_read.measure_batch,
             "memory": measure_write.measure_memory, "device": measure_device.measure_device}
    return alone[section](arguments), []


def main():
    arguments = parse()
    if arguments.build is None:
        arguments.build = BUILD
        build(BUILD)
    problems, missed = [], []
    for section in arguments.only:
        report.start(section)
        wrong, slow = measure(section, arguments)
        problems, missed = problems + wrong, missed + slow
    if arguments.write:
        write_readme()
    for text in problems + missed if arguments.check else problems:
        print(text, file=sys.stderr)
    return 1 if problems or (missed and arguments.check) else 0


if __name__ == "__main__":
    sys.exit(main())
