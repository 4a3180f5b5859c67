# SPDX-License-Identifier: Apache-2.0
"""Opening, side by side with GDAL; see bench/README.md."""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import make_files
from common import gdal, median_ratio, show, spread

SMALL_FILES = 10_000
BLOCK = 200       # opens that are timed together: short, so that a busy machine seldom interrupts
ROUNDS = 5        # times that each block is measured with every reader
COG_BLOCK = 200
COG_ROUNDS = 251
COUNTED_OPENS = 100


class Reader:
    """A process that opens files on request; see opener.h."""

    def __init__(self, name, command, list_path, env):
        self.name = name
        self.command = [*command[:1], str(list_path), *command[1:]]
        self.env = env
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, env=env,
                                        stdout=subprocess.PIPE, text=True)

    def run(self, first, count):
        """(wall ns, CPU ns, sums) of count opens"""
        self.process.stdin.write(f"{first} {count}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline().split()
        if len(line) != 3:
            sys.exit(f"{self.name} failed")
        return int(line[0]), int(line[1]), line[2]

    def instructions(self, count):
        """Instructions of one open by callgrind: the difference of two runs, without start-up."""
        totals = []
        for opens in (count, 2 * count):
            done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                                   *self.command], input=f"0 {opens}\n", env=self.env, text=True,
                                  capture_output=True)
            found = re.search(r"Collected : (\d+)", done.stderr)
            if found is None:
                return None
            totals.append(int(found[1]))
        return (totals[1] - totals[0]) / count

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def readers(arguments, list_path):
    """terrazzo first, then the drivers of GDAL."""
    env = dict(os.environ)
    found = [Reader("terrazzo", [str(pathlib.Path(arguments.build) / "open_terrazzo")], list_path, env)]
    if arguments.no_gdal:
        return found
    library, env = gdal()
    for driver in ("GTiff", "LIBERTIFF"):
        found.append(Reader(f"GDAL {driver}", [str(pathlib.Path(arguments.build) / "open_gdal"), library, driver],
                            list_path, env))
    return found


def write_list(folder, name, paths):
    path = folder / f"{name}.txt"
    path.write_text("".join(f"{p}\n" for p in paths))
    return path


def measure_small_files(arguments, folder):
    """Each block of files is opened by every reader in turn, again and again."""
    (folder / "small").mkdir()
    paths = make_files.write_small_files(folder / "small", SMALL_FILES)
    team = readers(arguments, write_list(folder, "small", paths))
    wall = {reader.name: [] for reader in team}
    cpu = {reader.name: [] for reader in team}
    for reader in team:
        reader.run(0, SMALL_FILES)  # page cache, branch predictors, the readers' own caches
    for turn in range(arguments.open_rounds):
        for first in range(0, SMALL_FILES, BLOCK):
            order = team[turn % len(team):] + team[:turn % len(team)]
            sums = set()
            for reader in order:
                wall_ns, cpu_ns, sum_text = reader.run(first, BLOCK)
                wall[reader.name].append(wall_ns)
                cpu[reader.name].append(cpu_ns)
                sums.add(sum_text)
            if len(sums) != 1:
                sys.exit(f"the readers do not see the same: {sums}")
    ratios = show_small_files(team, wall, cpu)
    if shutil.which("valgrind") and not arguments.no_count:
        show_instructions(team)
    for reader in team:
        reader.close()
    return ratios


def show_small_files(team, wall, cpu):
    show()
    show(f"{SMALL_FILES:,} small GeoTIFFs, {len(wall['terrazzo'])} blocks of {BLOCK:,}, medians:")
    show()
    show("| reader | us per open | time / terrazzo's | middle half | CPU us | CPU / terrazzo's |")
    show("|---|---|---|---|---|---|")
    ratios = {}
    for reader in team:
        ratios[reader.name] = median_ratio(wall["terrazzo"], wall[reader.name])
        each = [b / a for a, b in zip(wall["terrazzo"], wall[reader.name])]
        show(f"| {reader.name} | {statistics.median(wall[reader.name]) / BLOCK / 1000:.2f} "
             f"| {ratios[reader.name]:.2f} | {spread(each)} "
             f"| {statistics.median(cpu[reader.name]) / BLOCK / 1000:.2f} "
             f"| {median_ratio(cpu['terrazzo'], cpu[reader.name]):.2f} |")
    return ratios


def show_instructions(team):
    show()
    show("| reader | instructions per open |")
    show("|---|---|")
    for reader in team:
        number = reader.instructions(COUNTED_OPENS)
        show(f"| {reader.name} | {'-' if number is None else f'{number:,.0f}'} |")


def measure_cogs(arguments, folder):
    """A COG of a million tiles beside one of a hundred, opened by turns."""
    shapes = {"100 tiles": (10, None), "1,000,000 tiles": (1000, None),
              "1,000,000 tiles, as many levels as the small one": (1000, 5)}
    paths = []
    for number, (tiles, levels) in enumerate(shapes.values()):
        paths.append(str(folder / f"cog{number}.tif"))
        make_files.write_cog(paths[-1], tiles, levels)
    show()
    show(f"COGs, {arguments.cog_rounds} blocks of {COG_BLOCK:,} opens, medians:")
    show()
    show("| file | directories | reads | bytes read | us per open | time / first | middle half |")
    show("|---|---|---|---|---|---|---|")
    team = [readers(argparse.Namespace(no_gdal=True, build=arguments.build), write_list(folder, f"cog{i}", [path]))[0]
            for i, path in enumerate(paths)]
    times = [[] for _ in team]
    for reader in team:
        reader.run(0, COG_BLOCK)
    for _ in range(arguments.cog_rounds):
        for reader, found in zip(team, times):
            found.append(reader.run(0, COG_BLOCK)[0])
    ratios, costs = [], []
    for name, reader, found in zip(shapes, team, times):
        cost = subprocess.run([*reader.command, "--cost"], capture_output=True, text=True,
                              check=True).stdout.split()
        costs.append(cost)
        ratios.append(median_ratio(times[0], found))
        each = [b / a for a, b in zip(times[0], found)]
        show(f"| {name} | {cost[2]} | {cost[0]} | {int(cost[1]):,} "
             f"| {statistics.median(found) / COG_BLOCK / 1000:.2f} | {ratios[-1]:.2f} "
             f"| {spread(each)} |")
        reader.close()
    if not arguments.no_gdal:
        show_gdal_on_cogs(arguments, folder, shapes)
    return ratios[1], int(costs[1][1])


def show_gdal_on_cogs(arguments, folder, shapes):
    show()
    show("| file | " + " | ".join(f"{n}, us per open" for n in
                                    ("terrazzo", "GDAL GTiff", "GDAL LIBERTIFF")) + " |")
    show("|---|---|---|---|")
    for number, name in enumerate(shapes):
        team = readers(arguments, folder / f"cog{number}.txt")
        times = [[] for _ in team]
        for _ in range(5):
            for reader, found in zip(team, times):
                found.append(reader.run(0, 100)[0] / 100 / 1000)
        show(f"| {name} | " + " | ".join(f"{statistics.median(t):.1f}" for t in times) + " |")
        for reader in team:
            reader.close()


def measure_open(arguments):
    """What missed its target."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})  # all readers on the same core
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = pathlib.Path(name)
        ratios = measure_small_files(arguments, folder)
        growth, bytes_read = measure_cogs(arguments, folder)
    os.sched_setaffinity(0, cores)
    missed = []
    if ratios.get("GDAL GTiff", 5) < 5:
        missed.append(f"GDAL's open takes {ratios['GDAL GTiff']:.2f} times ours; 5 wanted")
    if growth > 2:
        missed.append(f"a million tiles take {growth:.2f} times a hundred; at most 2 wanted")
    if bytes_read >= 65536:
        missed.append(f"opening a million tiles reads {bytes_read} bytes; under 64 KiB wanted")
    return missed
