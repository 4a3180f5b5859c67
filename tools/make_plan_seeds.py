#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of fuzz_plan: tools/make_plan_seeds.py [COMMAND], from the root of the tree."""

import pathlib
import subprocess
import sys
import tempfile

PLACE = ["--epsg", "32632", "--transform", "500000,10,0,5000000,0,-10"]
SEEDS = {
    "plain": ["--shape", "40x50", "--dtype", "uint8", "--co", "BLOCKSIZE=16"],
    "float": ["--shape", "33x17", "--dtype", "float32", "--nodata", "-9999", "--co", "BLOCKSIZE=16",
              "--co", "RESAMPLING=CUBIC", "--co", "STATISTICS=YES", "--block-tiles", "2", *PLACE],
    "bands": ["--shape", "20x30x3", "--dtype", "int16", "--co", "BLOCKSIZE=16", "--co", "INTERLEAVE=BAND",
              "--co", "COMPRESS=LZW", "--co", "BIGTIFF=YES", "--stats"],
    "jpeg": ["--shape", "40x40x4", "--dtype", "uint8", "--co", "BLOCKSIZE=32", "--co", "COMPRESS=JPEG"],
    "huge": ["--shape", "4000000000x70000", "--dtype", "uint16", "--co", "BLOCKSIZE=4096"],
}


def main(command="build/release/terrazzo"):
    folder = pathlib.Path("fuzz/seeds/plan")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for name, options in SEEDS.items():
            plan = pathlib.Path(scratch) / name
            subprocess.run([command, "plan-cog", "-q", *options, "-", plan], check=True, stdout=subprocess.DEVNULL)
            sizes = b"\x10\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\x7f"
            (folder / name).write_bytes(bytes([len(sizes)]) + plan.read_bytes() + sizes)


if __name__ == "__main__":
    main(*sys.argv[1:])
