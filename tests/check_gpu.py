#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The script of make test-gpu: with fakes in place of NVIDIA's driver and libraries it runs and its report has all
rows; without a driver, or with one that does not work, it says why it did nothing, and that is not a failure.

The argument is the folder of the test programs, the command beside it."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from gpu import measure
from tap import Tap

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAKES = {"GPU": "cuda_fake", "NVCOMP": "nvcomp_fake_6", "CUFILE": "cufile_fake", "NVJPEG2K": "nvjpeg2k_fake",
         "NVJPEG": "nvjpeg_fake"}


def run(out, programs, *words, **libraries):
    """(exit code, what it printed, the report)"""
    env = {**os.environ, "TERRAZZO_GPU_SAMPLE": "1",
           **{f"TERRAZZO_{name}_LIBRARY": str(path) for name, path in libraries.items()}}
    done = subprocess.run([sys.executable, ROOT / "tests/gpu/run.py", "--build", programs.parent, "--out", out,
                           "--no-fetch", "--fadvise", *words], env=env, capture_output=True, text=True)
    path = out / "report.md"
    return done.returncode, done.stdout + done.stderr, path.read_text() if path.exists() else ""


def rows_of(report, heading):
    """The cells of the table after a heading, without its head."""
    part = report.split(f"### {heading}\n", 1)[-1].split("\n#", 1)[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def check_skips(tap, out, programs):
    for what, library, why in (("without a driver", "/nowhere/libcuda.so.1", "there is no NVIDIA driver"),
                               ("with a driver that lacks a function", programs / "libcuda_fake_broken.so",
                                "cuLaunchKernel")):
        code, printed, report = run(out, programs, GPU=library)
        tap.check(f"{what} it is skipped, and says so", code == 0 and printed.startswith("skipped: ") and why in printed,
                  printed)
        tap.check(f"{what} the report says so", "**Skipped: " in report and why in report, report)


def is_number(text):
    return re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) is not None


def check_rows(tap, report):
    reads, writes = rows_of(report, "Reading"), rows_of(report, "Writing")
    wanted = [[codec, cache, memory] for codec in measure.KINDS for cache in measure.CACHES for memory in measure.MEMORIES]
    tap.check("reads of all codecs, cold and warm, to both memories", [row[:3] for row in reads] == wanted, reads)
    wanted = [[codec, memory] for codec in measure.KINDS for memory in measure.MEMORIES]
    tap.check("writes of all codecs, from both memories", [row[:2] for row in writes] == wanted, writes)
    numbers = [row[3:5] for row in reads] + [row[2:4] for row in writes]
    tap.check("terrazzo has a number in each", all(map(is_number, sum(numbers, []))), numbers)
    host = [row[5] for row in reads if row[2] == "host"] + [row[4] for row in writes if row[1] == "host"]
    tap.check("so has the CPU where pixels are the host's", all(map(is_number, host)), host)
    gdal = [row[-1] for row in reads if row[0] not in ("lz4", "j2k")]
    tap.check("and GDAL, but of codecs that it lacks", all(map(is_number, gdal)), gdal)
    calls = {(row[0], row[1]): row for row in rows_of(report, "Calls of one read to the device, and of one write from it")}
    told = [calls.get(("read", codec), [""] * 12) for codec in ("deflate", "lzw")]
    tap.check("calls are reported", told[0][-1] == "nvCOMP 6.0.0" and told[1][7] not in ("", "0"), calls)


def check_fakes(tap, out, programs):
    fakes = {name: programs / f"lib{fake}.so" for name, fake in FAKES.items()}
    code, printed, report = run(out, programs, "--size", "48", "--rounds", "1", "--stress", "4", "--programs",
                                "test_(device_(io|stress|memory_limit|faults)|gpu_(card|memory))$", **fakes)
    tap.check("on fakes all goes well", code == 0, printed)
    tap.check("the device is reported", "| Fake of CUDA 0 |" in report and "CUDA 13.0, compute capability 7.5" in report)
    for name in list(FAKES)[1:]:
        tap.check(f"{fakes[name].name} is reported", f"| {fakes[name]} |" in report, report)
    first = report.split("## First", 1)[-1].split("##", 1)[0]
    tap.check("what only a card can show comes first", report.index("## First") < report.index("## The device")
              and "| the card | 14 | 0 | 0 |" in report and "takes the PTX of all" in first and "auto: cuda:0" in first
              and "ZSTD: nvCOMP 6.0.0 is right, also of frames without" in first
              and "nvJPEG 13.2.3 is right, and interpolates" in first and "nvJPEG2000 0.11.0 is right" in first
              and "at most 0 from libjpeg" in first and printed.index("kernels: ") < printed.index("parity: "), report)
    tap.check("behaviour with little memory is reported there", "a strip of 9 MiB: decoded by the CPU" in first
              and "a card without memory: " in first and "max_device_bytes of 1000: " in first
              and "bytes of the card are free" in first and "4 GiB of Deflate are expected" in first, report)
    tap.check("transfers of bytes to the device are reported there, too", "reads of a file: 32 by the host in 4 rounds" in first
              and "cuFile: " in first and "pieces of pinned memory: 1 in all reads, 0 in the last" in first, report)
    tap.check("tests are reported", "| parity | 2 | 0 | 1 |" in report and "| stress | 1 | 0 | 0 |" in report
              and "| again with nvCOMP | 1 | 0 | 0 |" in report
              and "| again with all libraries | 1 | 0 | 0 |" in report, report)
    tap.check("programs that are left out are reported", "Left out: 1 programs" in report and "test_device_faults" in report, report)
    check_rows(tap, report)
    os.environ["TERRAZZO_TEST_CUDA_VERSION"] = "12040"
    code, printed, report = run(out, programs, "--programs", "test_gpu_card$", "--no-measure", **fakes)
    del os.environ["TERRAZZO_TEST_CUDA_VERSION"]
    tap.check("R550 takes the kernels", code == 0 and "- kernels: CUDA 12.4, compute capability 7.5 takes the PTX" in report,
              printed)
    code, printed, report = run(out, programs, "--stress", "0", "--programs", "test_device_stress$", "--no-measure", **fakes)
    tap.check("a test that fails is reported", code == 1 and "| stress | 0 | 1 | 0 |" in report
              and "- failed: test_device_stress." in report, printed)


def main():
    tap = Tap()
    programs = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        check_skips(tap, pathlib.Path(folder), programs)
        check_fakes(tap, pathlib.Path(folder), programs)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
