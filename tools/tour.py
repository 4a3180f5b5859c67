#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints doc/tour.md: the files that three commands pass through, in the order in which they enter them.

    tools/tour.py > doc/tour.md

The tree is built with -finstrument-functions into build/tour, and each command runs once, with one thread,
on an image that the script makes. tools/tour/trace.c records each function when it is entered first. A row
of the page is a file, the function by which it was entered, the file that called it, and the first
sentence of the file's own header comment. `make tour` writes the page; tests/check_layers.py checks that
the files and functions it names exist.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "tour"

WALKS = [
    ("A window on the CPU", "read --window 100,100,300,300 in.tif out.npy",
     "One window of a tiled Deflate file with predictor, into a .npy file."),
    ("The same on a GPU", "read --device opencl:0 --window 100,100,300,300 in.tif out.npy",
     "Opening, planning and the output are those of the first walk; in between, tiles are decoded by kernels. The "
     "device here is PoCL, which runs OpenCL on the CPU."),
    ("A COG on the CPU", "cog in.tif out.tif",
     "Reading as in the first walk, and writing: overviews, encoding, layout, a sample read back."),
]

INTRO = """\
# A tour of the code

Three commands, and the files they pass through in the order in which they enter them first. Headers whose
inline functions are used are counted, and left out of the tables. The page is printed by `make tour`, which
runs the commands; a file's sentence is the beginning of its own header comment. The layers and the reasons
are in [design.md](design.md).
"""


def build():
    """Builds the instrumented command and the recorder."""
    quiet = {"stdout": subprocess.DEVNULL, "check": True}
    subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, "-DCMAKE_BUILD_TYPE=Debug", "-DTERRAZZO_WITH_CUDA=OFF",
                    "-DCMAKE_C_FLAGS=-O0 -g -finstrument-functions"], **quiet)
    subprocess.run(["cmake", "--build", BUILD, "-j", str(os.cpu_count()), "--target", "terrazzo_cli"], **quiet)
    recorder = BUILD / "trace.so"
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-fPIC", "-shared", "-o", recorder, ROOT / "tools/tour/trace.c"], check=True)
    return BUILD / "terrazzo", recorder


def make_image(command, folder):
    """Writes in.tif: 1,000 x 1,000 pixels, tiled, Deflate with predictor."""
    rows = bytes((x * 7 + y * 3) % 251 for y in range(1000) for x in range(1000))
    subprocess.run([command, "convert", "--shape", "1000x1000", "--dtype", "uint8", "--co", "TILED=YES", "--co",
                    "COMPRESS=DEFLATE", "--co", "PREDICTOR=2", "-", "in.tif"], input=rows, cwd=folder, check=True,
                   stderr=subprocess.DEVNULL)


def trace(command, recorder, words, folder):
    """Returns [(function, file, caller's file)] in the order of first entry."""
    out = pathlib.Path(folder, "trace")
    env = dict(os.environ, LD_PRELOAD=str(recorder), TERRAZZO_TOUR=str(out))
    subprocess.run([command, words[0], "--threads", "1", *words[1:]], cwd=folder, env=env, check=True)
    pairs = [line.split() for line in out.read_text().splitlines()]
    symbols = subprocess.run(["addr2line", "-f", "-e", command], input="\n".join(sum(pairs, [])), capture_output=True,
                             text=True, check=True).stdout.splitlines()
    named = [(symbols[i], file_of(symbols[i + 1])) for i in range(0, len(symbols), 2)]
    return [(*named[i], named[i + 1][1]) for i in range(0, len(named), 2) if named[i][1]]


def file_of(location):
    """The path below the project of one location that addr2line printed, or None."""
    match = re.search(r"(?:^|/)((?:src|cli)/[^:]*)", location)
    return match.group(1) if match and (ROOT / match.group(1)).is_file() else None


def first_sentence(path):
    text = (ROOT / path).read_text()
    comment = re.match(r"/\*(.*?)\*/", text, re.S)
    words = " ".join(re.sub(r"^\s*\*", "", comment.group(1), flags=re.M).split()) if comment else ""
    words = re.sub(r"^SPDX-License-Identifier: \S+\s*", "", words)
    sentence = re.match(r"(.*?[.:])(?:\s|$)", words)
    return sentence.group(1).rstrip(".:") if sentence else words


def print_walk(title, words, about, steps):
    files = {}
    for function, path, caller in steps:
        files.setdefault(path, (function, caller))
    edges = {(caller, path) for _, path, caller in steps if caller and caller != path}
    shown = [path for path in files if path.endswith(".c")]
    print(f"\n## {title}\n\n`terrazzo {words}`\n\n{about}\n")
    print(f"{len(files)} files ({len(shown)} of them .c), {len({step[:2] for step in steps})} functions, "
          f"{len(edges)} calls from file to file.\n")
    print("| | file | entered by | from | |\n|---|---|---|---|---|")
    for number, path in enumerate(shown, 1):
        function, caller = files[path]
        short = pathlib.Path(caller).name if caller else ""
        print(f"| {number} | `{path}` | `{function}` | {short} | {first_sentence(path)} |")


def main():
    command, recorder = build()
    print(INTRO, end="")
    for title, words, about in WALKS:
        with tempfile.TemporaryDirectory() as folder:
            make_image(command, folder)
            print_walk(title, words, about, trace(command, recorder, words.split(), folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
