# SPDX-License-Identifier: Apache-2.0
"""Reading and writing with a device beside the CPU: how often it is called, and where the time goes."""

import collections
import os
import pathlib
import statistics
import subprocess

from common import ROOT, report, show, spread
from contest import DATA, make_data

IMAGE = "dem_i16-none-p1-t256"
USE = ("waves", "tiles", "by the CPU", "uploads", "bytes up", "downloads", "bytes down", "launches", "syncs",
       "planned", "peak")


def run(arguments):
    make_data(arguments, [IMAGE])
    image = DATA / str(arguments.size) / f"{IMAGE}.tif"
    cache = ROOT / "build" / "pocl"
    cache.mkdir(exist_ok=True)
    return subprocess.run([pathlib.Path(arguments.build) / "device_terrazzo", "opencl:0", image, str(arguments.rounds)],
                          env=dict(os.environ, POCL_CACHE_DIR=str(cache)), text=True, check=True,
                          stdout=subprocess.PIPE).stdout


class Job:
    def __init__(self, kind, name, pixels, stored):
        self.kind, self.name, self.pixels, self.stored = kind, name, int(pixels), int(stored)
        self.times, self.stages, self.whole, self.use = [], collections.OrderedDict(), 0.0, {}

    def speed(self, way):
        return f"{self.pixels / 1e6 / statistics.median(times[way] for times in self.times):.0f}"

    def against_cpu(self, way):
        return [times[0] / times[way] for times in self.times]


def parse(text):
    device, jobs = "", []
    for line in text.splitlines():
        key, *words = line.split()
        if key == "device":
            device = " ".join(words)
        elif key == "job":
            jobs.append(Job(*words))
        elif key == "times":
            jobs[-1].times.append([float(word) for word in words])
        elif key == "whole":
            jobs[-1].whole = float(words[0])
        elif key == "stage":
            jobs[-1].stages[words[0]] = float(words[1])
        elif key == "use":
            jobs[-1].use = dict(zip(USE, map(int, words)))
    return device, jobs


def show_times(jobs):
    rows = []
    for job in jobs:
        reads = job.kind == "read"
        ratios = job.against_cpu(1)
        rows.append([job.kind, job.name, job.speed(0), job.speed(1), job.speed(2) if reads else "-",
                     f"{statistics.median(ratios):.2f}", spread(ratios)])
    report.table(["", "codec", "CPU", "device", "device, pixels stay", "device / CPU", "middle half"], rows)


def show_calls(jobs):
    rows = [[job.kind, job.name, *(job.use[name] for name in USE[:4]), f"{job.use['bytes up'] / 1e6:.1f}",
             job.use["downloads"], f"{job.use['bytes down'] / 1e6:.1f}", job.use["launches"], job.use["syncs"],
             f"{job.use['planned'] / 1e6:.1f}", f"{job.use['peak'] / 1e6:.1f}"] for job in jobs]
    report.table(["", "codec", *USE[:4], "MB up", "downloads", "MB down", "launches", "syncs", "planned, MB",
                  "peak, MB"], rows)


def show_stages(jobs):
    rows = []
    for job in jobs:
        stages = [f"{name.lower()} {1000 * seconds:.1f}" for name, seconds in job.stages.items()]
        host = job.whole - sum(job.stages.values())
        rows.append([job.kind, job.name, f"{1000 * job.whole:.1f}", ", ".join(stages), f"{1000 * host:.1f}"])
    report.table(["", "codec", "whole", "on the device", "on the host"], rows)


def measure_device(arguments):
    """What is wrong."""
    device, jobs = parse(run(arguments))
    show(f"OpenCL on the CPU ({device}), {arguments.size} x {arguments.size} pixels of int16, tiles of 256, in memory, "
         f"{os.cpu_count()} cores. MB of pixels per second, {arguments.rounds} rounds in turns:")
    show()
    show_times(jobs)
    show("What one of these asks of the device (tiles of all levels; `by the CPU`: what it could not do):")
    show()
    show_calls(jobs)
    show("Milliseconds of each stage, when every call is waited for, once:")
    show()
    show_stages(jobs)
    return []
