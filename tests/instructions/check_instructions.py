#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions per byte of the loops that most bytes pass, counted by callgrind.

    check_instructions.py INSTRUCTION_LOAD

A count does not depend on the machine's load, so it may fail a test. It says little about speed:
fewer is not always faster, but more than before is a reason to look. Prints TAP.
"""
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from tap import Tap  # noqa: E402

TOLERANCE = 1.05

# Counted with gcc 12, -O3, on the files of make_samples.py. Whoever lowers one writes it here.
LIMITS = {
    ("predictor", "f32"): 0.66, ("predictor", "i16"): 0.61, ("predictor", "ls"): 0.40,
    ("predictor", "rgb"): 0.75,
    ("store", "f32"): 0.64, ("store", "i16"): 0.33, ("store", "ls"): 0.21, ("store", "rgb"): 0.27,
    ("tally", "f32"): 0.98, ("tally", "i16"): 0.77, ("tally", "ls"): 1.50, ("tally", "rgb"): 2.20,
    ("lzw", "f32"): 18.6, ("lzw", "i16"): 13.4, ("lzw", "ls"): 15.7, ("lzw", "rgb"): 13.6,
    ("lzw", "lc"): 2.62,
    ("encode_lzw", "f32"): 48.3, ("encode_lzw", "i16"): 40.3, ("encode_lzw", "ls"): 43.8,
    ("encode_lzw", "rgb"): 40.6, ("encode_lzw", "lc"): 22.6,
    ("encode_packbits", "f32"): 2.25, ("encode_packbits", "i16"): 2.76,
    ("encode_packbits", "ls"): 2.05, ("encode_packbits", "rgb"): 3.17,
    ("encode_packbits", "lc"): 4.14,
    ("deflate_fast", "f32"): 13.7, ("deflate_fast", "i16"): 16.8, ("deflate_fast", "ls"): 14.3,
    ("deflate_fast", "rgb"): 17.3, ("deflate_fast", "lc"): 11.7,
}


def count(program, folder, what, image):
    """Instructions per byte, or a text that says why there is no count."""
    out = folder / f"{what}-{image}.callgrind"
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--toggle-collect=measured_{what}*",
         f"--callgrind-out-file={out}",
         program, what, str(folder / f"{image}.tif")], capture_output=True, text=True)
    if done.returncode != 0:
        return done.stdout + done.stderr
    if done.stdout.strip() == "plain":
        return "plain"
    total = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
    return int(total[1]) / int(done.stdout) if total else "callgrind wrote no total"


def check(tap, what, image, found):
    limit = LIMITS[what, image] * TOLERANCE
    name = f"{what} {image}"
    if found == "plain":
        tap.skip(name, "this machine runs the plain loops, which are not counted")
    elif isinstance(found, str):
        tap.check(name, False, found)
    else:
        tap.check(f"{name}: {found:.2f} instructions per byte", 0 < found <= limit,
                  f"{found:.3f} instructions per byte, more than {limit:.3f}")


def main():
    tap = Tap()
    if not shutil.which("valgrind"):
        tap.skip("instructions", "no valgrind")
        return tap.finish()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([ROOT / ".venv/bin/python", ROOT / "tests/instructions/make_samples.py",
                        folder], check=True)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = [(case, pool.submit(count, sys.argv[1], folder, *case)) for case in LIMITS]
            for case, run in runs:
                check(tap, *case, run.result())
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
