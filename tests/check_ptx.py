#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Old drivers compile the kernels: the oldest ptxas that is to be had as a package, which is what such a driver compiles
with, and that of the build take all PTX. ptxas refuses what is later than the label of a text, so the label is also
checked. Its argument is the folder with the PTX of a build."""

import os
import pathlib
import re
import subprocess
import sys

from tap import Tap

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import ptxas  # noqa: E402

# The GPU of Jetson Orin, whose drivers are old ones.
ARCHITECTURE = "sm_87"


def find_old():
    """The ptxas that $TERRAZZO_OLD_PTXAS names, or that of tests/requirements.txt; None: it is not installed."""
    if given := os.environ.get("TERRAZZO_OLD_PTXAS"):
        return given
    found = sorted((ROOT / ".venv").glob("lib/python3*/site-packages/nvidia/cuda_nvcc/bin/ptxas"))
    return str(found[0]) if found else None


def version(assembler):
    text = subprocess.run([assembler, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(number) for number in re.search(r"V(\d+)\.(\d+)", text).groups())


def assemble(assembler, text):
    """What it says against a text; empty: nothing. Whether a text is understood does not depend on how it is optimised."""
    done = subprocess.run([assembler, "-O0", f"-arch={ARCHITECTURE}", "-", "-o", os.devnull],
                          input=text, capture_output=True, text=True)
    return done.stderr + done.stdout if done.returncode != 0 else ""


def main():
    tap = Tap()
    files = sorted(pathlib.Path(sys.argv[1]).glob("*.ptx"))
    tap.check("there is PTX", len(files) > 0)
    old = find_old()
    if not old:
        tap.skip("old ptxas", "no package with an old ptxas is installed: see tests/requirements.txt")
    elif tap.check(f"{old} is that of an old driver", version(old) <= (12, 4), version(old)):
        text = files[0].read_text()
        tap.check("it refuses what it does not know",
                  "version" in assemble(old, re.sub(r"\.version \S+", ".version 9.0", text)))
    for assembler in filter(None, [old, ptxas.find_ptxas()]):
        name = ".".join(map(str, version(assembler)))
        for file in files:
            wrong = assemble(assembler, file.read_text())
            tap.check(f"ptxas {name} takes {file.stem}", not wrong, wrong)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
