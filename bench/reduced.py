#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What --reduced-tiles saves a smaller picture of JPEG 2000: instructions by callgrind, and CPU time of interleaved runs.

    bench/reduced.py COMMAND [--size 1024] [--rounds 9]

Prints the table of bench/README.md. Needs numpy, rasterio and valgrind."""

import argparse
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA, CODEC = "rgb_u8-none-p1-t256", ["--co", "COMPRESS=JPEG2000", "--co", "TILED=YES"]


def cpu_time(words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def instructions(words):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *words], check=True,
                          capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def measure(command, source, out, side, rounds):
    words = [command, "read", "--overwrite", "-j", "1", "--size", f"{side}x{side}", "--resampling", "average", source, out]
    ways = (words, [*words, "--reduced-tiles"])
    counts = [instructions(way) for way in ways]
    times = [[cpu_time(way) for way in ways] for _ in range(rounds)]
    plain, reduced = (statistics.median(column) * 1000 for column in zip(*times))
    ratio = statistics.median(a / b for a, b in times)
    return counts, plain, reduced, ratio


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    print("| picture | million instructions | with --reduced-tiles | ratio | CPU ms | with --reduced-tiles | ratio |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        source, out = f"{folder}/a.tif", f"{folder}/b.npy"
        subprocess.run([sys.executable, HERE / "data.py", folder, str(arguments.size), DATA], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run([arguments.command, "convert", *CODEC, f"{folder}/{DATA}.tif", source], check=True)
        for times in (1, 2, 3):
            counts, plain, reduced, ratio = measure(arguments.command, source, out, arguments.size >> times,
                                                    arguments.rounds)
            print(f"| 1/{1 << times} | {counts[0] / 1e6:.0f} | {counts[1] / 1e6:.0f} | **{counts[0] / counts[1]:.1f}** "
                  f"| {plain:.0f} | {reduced:.0f} | **{ratio:.1f}** |")


if __name__ == "__main__":
    main()
