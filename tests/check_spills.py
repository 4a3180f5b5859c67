#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels that decode and place have registers enough: ptxas, for the oldest GPUs, puts nothing that belongs there into
memory. Its argument is the folder with the PTX of a build."""

import pathlib
import sys

from tap import Tap

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import ptxas  # noqa: E402

# And how many kernels there are.
FAMILIES = {"inflate": 1, "lz4": 1, "lzw": 1, "packbits": 1, "zstd": 1, "convert": 2}
ARCHITECTURE = "sm_75"


def main():
    tap = Tap()
    for family, count in FAMILIES.items():
        kernels = ptxas.uses(pathlib.Path(sys.argv[1]) / f"{family}.ptx", ARCHITECTURE)
        tap.check(f"{family} has all kernels, and none for CPUs", len(kernels) == count, kernels)
        for kernel, use in kernels.items():
            tap.check(f"{kernel} has registers", use.registers > 0, use)
            tap.check(f"{kernel} does not spill", use.spilled == 0, use)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
