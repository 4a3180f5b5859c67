#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of every type, codec, predictor, byte order, layout and size, written now by GDAL and by
tifffile, read by us, by GDAL and by tifffile.

    check_matrix.py PIXEL_DUMP               cases in which every three values occur together
    check_matrix.py PIXEL_DUMP --whole       every case that can be written
    check_matrix.py PIXEL_DUMP --every N     one of N of these
    check_matrix.py PIXEL_DUMP --libraries N N of these of each codec that NVIDIA's libraries have, or
                                             --libraries whole, and they must have decoded it

Lossless files must give the pixels that were written, bit for bit, in all three readers; lossy ones
within the bounds of product.py. What differs is listed in differences.tsv, with the reason. PIXEL_DUMP
reads each file in several ways that must agree. Prints TAP; needs .venv.
"""
import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from tap import Tap, matrix_options, skip_all  # noqa: E402

try:
    import numpy
    import rasterio
    import imagecodecs  # noqa: F401
    import tifffile  # noqa: F401
except ImportError as error:
    skip_all("matrix", f"a package of tests/requirements.txt is missing: {error}")

import writers  # noqa: E402
from compare import Listed, attempt, difference  # noqa: E402
from product import (DECODERS_DIFFER, LIBRARY_CODECS, LOSSY, SAMPLES, few_cases,  # noqa: E402
                     name_of, possible_cases, some_of_each)

BATCH = 400  # files on disk at once
SHOWN = 20
# What the program fails without: see tests/support/device/on_device.h.
NEEDED = " ".join(map(str, ["cufile", *LIBRARY_CODECS.values()]))


class Dump:
    """Our reader: one process for all files."""

    def __init__(self, program, variables):
        self.process = subprocess.Popen([program, "native"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=dict(os.environ, **variables))

    def read(self, path, case):
        """The pixels as an array, or the error as text."""
        try:
            self.process.stdin.write(str(path).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return "the program ended"
        line = self.process.stdout.readline().decode(errors="replace").rstrip("\n")
        word, _, rest = line.partition(" ")
        if word != "ok":
            return rest if word == "error" else "the program ended"
        size, dtype, bands, height, width = rest.split()
        data = self.process.stdout.read(int(size))
        sample = SAMPLES[case.dtype]
        shape = (int(bands), int(height), int(width)) + ((2,) if sample.pair else ())
        if len(data) != int(size) or numpy.prod(shape) * numpy.dtype(sample.array).itemsize != int(size):
            return f"{size} bytes of {dtype}, {shape}"
        return numpy.frombuffer(data, sample.array).reshape(shape)

    def end(self):
        self.process.stdin.close()
        return self.process.wait()


def check_case(case, path, dump):
    """[(reader, problem)] of one file."""
    pixels = writers.pixels_of(case)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            writers.WRITERS[case.writer](case, pixels, path)
    except Exception as error:
        return [("writer", f"{type(error).__name__}: {error}".splitlines()[0])]
    ours = dump.read(path, case)
    bounds = LOSSY.get(case.codec, (0, 0))
    problems = [("terrazzo", difference(ours, pixels, *bounds))]
    if bounds != (0, 0) and case.size == (1, 1):  # one pixel in a tile of zeros loses its colour
        problems = [("terrazzo", ours if isinstance(ours, str) else None)]
    for name, read in (("gdal", writers.read_gdal), ("tifffile", writers.read_tifffile)):
        theirs = attempt(read, path, case)
        if bounds == (0, 0):
            problems.append((name, difference(theirs, pixels, 0, 0)))
        elif isinstance(ours, str) or isinstance(theirs, str):
            problems.append((name, theirs if isinstance(theirs, str) else None))
        else:
            limit = DECODERS_DIFFER.get(case.codec, 0)
            problems.append((name, difference(ours, theirs.astype(ours.dtype), limit, limit)))
    return [(name, problem) for name, problem in problems if problem]


def run(cases, dump, listed):
    """{reader: [lines of what is wrong and not listed]}"""
    wrong = collections.defaultdict(list)
    for start in range(0, len(cases), BATCH):
        with tempfile.TemporaryDirectory() as folder:
            for number, case in enumerate(cases[start:start + BATCH]):
                name = name_of(case)
                listed.meet(name)
                path = f"{folder}/{number}.tif"
                for reader, problem in check_case(case, path, dump):
                    if not listed.covers(name, reader):
                        wrong[reader].append(f"{name}: {problem}")
    return wrong


def choose(possible, option=None, number=None):
    if option == "--whole" or number == "whole":
        return possible
    if option == "--every":
        return possible[::int(number)]
    if option == "--libraries":
        return some_of_each(possible, LIBRARY_CODECS, int(number))
    return few_cases(possible, 3)


def main():
    possible, skipped = possible_cases()
    options = matrix_options()
    cases = choose(possible, *options)
    listed = Listed(HERE / "differences.tsv")
    dump = Dump(sys.argv[1], {"TERRAZZO_TEST_NEEDED": NEEDED} if "--libraries" in options else {})
    print(f"# {len(cases)} files of {len(possible)} possible ones")
    for reason, count in skipped.items():
        print(f"# {count} combinations are none: {reason}")
    with rasterio.Env(GDAL_PAM_ENABLED="NO", GDAL_NUM_THREADS="1"):
        wrong = run(cases, dump, listed)
    for (pattern, who), count in sorted(listed.needed.items()):
        print(f"# {count} known differences: {who} on {pattern}")
    tap = Tap()
    tap.check("the program read every file and ended well", dump.end() == 0)
    for reader, claim in (
            ("writer", f"every file could be written ({len(cases)})"),
            ("terrazzo", "our pixels are those that were written, however they are asked for"),
            ("gdal", "and those that GDAL reads"), ("tifffile", "and those that tifffile reads")):
        lines = wrong[reader]
        tap.check(claim, not lines, "\n".join(lines[:SHOWN] + [f"{len(lines)} in all"]))
    is_sample = "--libraries" in options and cases is not possible
    tap.check("every listed difference is still one", is_sample or not listed.unneeded(),
              "\n".join(listed.unneeded()))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
