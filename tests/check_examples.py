#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of examples/, and compiles that of README.md.

    check_examples.py BUILD           all but cuda, which prints that there is no CUDA
    check_examples.py BUILD LIBCUDA   cuda alone, with a stand-in for libcuda
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from check_abi import make_tiff
from tap import Tap

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_LINES = 80
SHORT = ["batch", "cuda", "window", "write"]  # programs that have fewer lines than that


def check_run(tap, name, command, pattern, code=0):
    """One result: the program ends with the code and prints one line that fits the pattern."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    printed = done.stdout if code == 0 else done.stderr
    tap.check(name, done.returncode == code and re.search(pattern, printed), f"{done}")


def check_cpu(tap, build, folder):
    hill, blocks = folder / "hill.tif", folder / "blocks.tif"
    check_run(tap, "write: streams rows to a COG", [build / "example_write", hill], r"hill\.tif: \d+ bytes, 3 levels")
    check_run(tap, "info: prints the levels", [build / "example_info", hill], r"level 2: 500 x 375 in tiles of 512")
    check_run(tap, "window: reads the top of the hill", [build / "example_window", hill, 990, 740, 20, 20],
              r"400 pixels from 79\d\S* to 800$")
    check_run(tap, "window: a window outside is an error", [build / "example_window", hill, 1990, 0, 20, 20],
              r"hill\.tif: ", code=1)
    files = [shutil.copy(hill, folder / f"{number}.tif") for number in range(10)]
    check_run(tap, "batch: reads 100 windows of 10 files", [build / "example_batch", *files],
              r"100 windows of 10 files: \d+ tiles, \d+ reads; the last pixel is \d")
    check_run(tap, "batch: a file that does not exist is an error", [build / "example_batch", folder / "none.tif"],
              r"none\.tif: ", code=1)
    check_run(tap, "blocks: makes a COG", [build / "example_blocks", blocks], r"blocks\.tif: \d+ bytes, 5 levels")
    check_run(tap, "device: an unknown device is an error", [build / "example_device", hill, "none:0"], r"none", code=1)
    check_run(tap, "cuda: says that there is no CUDA", [build / "example_cuda", hill, folder / "none.so"],
              r"There is no CUDA device here\.")


def check_sources(tap, folder):
    for name in SHORT:
        lines = (ROOT / "examples" / f"{name}.c").read_text().count("\n")
        tap.check(f"{name} has fewer than {MAX_LINES} lines", lines < MAX_LINES, lines)
    program = folder / "readme.c"
    readme = (ROOT / "README.md").read_text()
    program.write_text("".join(re.findall(r"^```c\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)))
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{ROOT / 'include'}"]
    done = subprocess.run(["cc", *flags, program], capture_output=True, text=True)
    tap.check("the program of README.md compiles", done.returncode == 0, done.stderr)


def main(words):
    tap = Tap()
    build = pathlib.Path(words[0])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if len(words) > 1:
            (folder / "small.tif").write_bytes(make_tiff())
            check_run(tap, "cuda: reads into a pointer of its own",
                      [build / "example_cuda", folder / "small.tif", words[1]], r"the last of 16 samples is 15$")
        else:
            check_cpu(tap, build, folder)
            check_sources(tap, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
