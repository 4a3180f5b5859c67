# SPDX-License-Identifier: Apache-2.0
"""Reading, side by side: whole images, single tiles, many windows of many files."""

import ctypes
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys

import cells
import make_files
from common import (ROOT, geometric_mean, gdal, median_ratio, peers_python, report, show, spread)

TIE = 0.05            # ratios this close to 1 are ties
SHORTEST = 0.02       # seconds: faster reads are repeated within one timing
DATA = ROOT / "build" / "bench-data"
GDAL_PEERS = ("GTiff", "LIBERTIFF")


class Failed(Exception):
    pass


class Reader:
    """A process that reads what it is told to; see reader.h."""

    def __init__(self, name, command, env):
        self.name = name
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=env)

    def ask(self, mode, path, threads, layout="pixel", repeats=1, check=False):
        """(seconds, seconds of all cores, checksum, bytes)"""
        self.process.stdin.write(f"{mode} {threads} {repeats} {int(check)} {layout} {path}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        fields = line.split()
        if not fields:
            sys.exit(f"{self.name} ended at {path}")
        if fields[0] == "failed":
            raise Failed(line[7:].strip())
        return float(fields[0]), float(fields[1]), fields[2], int(fields[3])

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def start_readers(arguments, python_peers):
    library, env = gdal()
    [libtiff] = pathlib.Path(library).parent.glob("libtiff*")
    folder = pathlib.Path(arguments.build)
    team = [Reader("terrazzo", [folder / "read_terrazzo"], os.environ)]
    team += [Reader(driver, [folder / "read_gdal", library, driver], env) for driver in GDAL_PEERS]
    team.append(Reader("libtiff", [folder / "read_libtiff", libtiff], os.environ))
    quiet = dict(os.environ, PYTHONWARNINGS="ignore")
    team += [Reader(name, [peers_python(), ROOT / "bench/read_python.py", name], quiet)
             for name in python_peers]
    return team


def show_versions():
    library, _ = gdal()
    wanted = ["GDAL " + ".".join(library.split(".")[-3:])]
    names = ("rasterio", "tifffile", "imagecodecs", "xarray-spatial", "numpy")
    script = ("import sys, importlib.metadata as m; print('Python', sys.version.split()[0]);"
              f"[print(n, m.version(n)) for n in {names}]")
    lines = subprocess.run([peers_python(), "-c", script], capture_output=True, text=True).stdout
    [libtiff] = pathlib.Path(library).parent.glob("libtiff*")
    version = ctypes.CDLL(str(libtiff)).TIFFGetVersion
    version.restype = ctypes.c_char_p
    words = version().decode().splitlines()[0].replace("LIBTIFF, Version", "libtiff")
    wanted += [words, *lines.splitlines()]
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT,
                            capture_output=True, text=True).stdout.strip()
    show(f"terrazzo {commit}; " + ", ".join(wanted) + f"; {os.cpu_count()} cores.")
    show()


def make_data(arguments, names):
    subprocess.run([peers_python(), str(ROOT / "bench/data.py"), str(folder_of(arguments)),
                    str(arguments.size), *names], check=True)


def folder_of(arguments):
    return DATA / str(arguments.size)


# ---- turns -----------------------------------------------------------------------------------

def take_turns(entrants, rounds, run):
    """{entrant: [(seconds, of all cores) of each round]}; a different one starts each round."""
    times = {entrant: [] for entrant in entrants}
    for turn in range(rounds):
        first = turn % len(entrants)
        for entrant in entrants[first:] + entrants[:first]:
            times[entrant].append(run(entrant))
    return times


def warm_up(team, mode, path, layout, thread_counts, problems, lossless=True):
    """Everybody reads once with a check: ([entrant], {entrant: repeats}, bytes)."""
    entrants, repeats, sums, size = [], {}, {}, 0
    for reader in team:
        for threads in thread_counts[:1] if reader.name == "xarray-spatial" else thread_counts:
            try:
                seconds, _, sum_text, size = reader.ask(mode, path, threads, layout, check=True)
            except Failed as error:
                print(f"  {reader.name}: {error}", file=sys.stderr)
                break
            entrants.append((reader, threads))
            repeats[reader, threads] = max(1, round(SHORTEST / seconds))
            sums.setdefault(sum_text, []).append(f"{reader.name} ({threads})")
    if lossless and len(sums) > 1:
        problems.append(f"{path.name}: the readers do not see the same pixels: " +
                        "; ".join(map(", ".join, sums.values())))
    return entrants, repeats, size


# ---- whole images ----------------------------------------------------------------------------

class Cell:
    """Times of one file, by reader and number of threads."""

    def __init__(self, group, name, size, times):
        self.group, self.name, self.size = group, name, size
        self.times, self.cpu = ({(reader.name, threads): [pair[which] for pair in found]
                                 for (reader, threads), found in times.items()} for which in (0, 1))
        self.most = max(threads for _, threads in self.times)
        rivals = [name for name, threads in self.times if threads == self.most and name != "terrazzo"]
        self.best = min(rivals, key=self.median, default=None)

    def median(self, reader, threads=None):
        return statistics.median(self.times[reader, threads or self.most])

    def speed(self, reader):
        """MB/s, on all threads."""
        if (reader, self.most) not in self.times:
            return "-"
        return f"{self.size / self.median(reader) / 1e6:.0f}"

    def against(self, peer):
        return median_ratio(self.times["terrazzo", self.most], self.times[peer, self.most])

    def cpu_against(self, peer):
        return median_ratio(self.cpu["terrazzo", self.most], self.cpu[peer, self.most])

    def each(self, peer):
        pairs = zip(self.times[peer, self.most], self.times["terrazzo", self.most])
        return [theirs / ours for theirs, ours in pairs]


def measure_cell(arguments, team, group, name, problems):
    path = folder_of(arguments) / f"{name}.tif"
    layout = "band" if name.endswith("-planar") else "pixel"
    counts = [os.cpu_count()]
    if not arguments.quick and "-t256" in name:
        counts.append(1)
    else:
        team = [reader for reader in team if reader.name != "xarray-spatial"]
    lossless = not any(word in name for word in cells.LOSSY)
    entrants, repeats, size = warm_up(team, "whole", path, layout, counts, problems, lossless)
    times = take_turns(entrants, arguments.rounds, lambda entrant: entrant[0].ask(
        "whole", path, entrant[1], layout, repeats[entrant])[:2])
    return Cell(group, name, size, times)


def measure_whole(arguments, wanted):
    """What is wrong, and what missed its target."""
    make_data(arguments, [name for _, name in wanted])
    peers = ["tifffile"] if arguments.quick else ["tifffile", "xarray-spatial"]
    team = start_readers(arguments, peers)
    found, problems = [], []
    for group, name in wanted:
        cell = measure_cell(arguments, team, group, name, problems)
        found.append(cell)
        print(f"  {name}: {cell.speed('terrazzo')} MB/s, {cell.against(cell.best):.2f} of "
              f"{cell.best}, {cell.against('GTiff'):.2f} of GTiff", file=sys.stderr, flush=True)
    for reader in team:
        reader.close()
    keep_times(arguments, found)
    show_whole(arguments, found, [reader.name for reader in team[1:]])
    missed = [f"{cell.name}: {cell.against(cell.best):.2f} of {cell.best}; at least 1 wanted"
              for cell in found if cell.against(cell.best) < 1 - TIE]
    return problems, missed


def keep_times(arguments, found):
    """Every single time, for whoever wants to look closer."""
    raw = {cell.name: {f"{name} {threads}": {"wall": wall, "cpu": cell.cpu[name, threads]}
                       for (name, threads), wall in cell.times.items()} for cell in found}
    (folder_of(arguments) / "times.json").write_text(json.dumps(raw, indent=1))


def show_whole(arguments, found, peers):
    show(f"Whole images of {arguments.size} x {arguments.size} pixels (half: {arguments.size // 2}), MB of pixels "
         f"per second on all threads, {arguments.rounds} rounds:")
    show()
    rows = []
    for cell in found:
        rows.append([cell.name, cell.speed("terrazzo"), *map(cell.speed, peers), cell.best,
                     f"**{cell.against(cell.best):.2f}**", spread(cell.each(cell.best)),
                     f"{cell.cpu_against(cell.best):.2f}", f"{cell.against('GTiff'):.2f}"])
    report.table(["file", "terrazzo", *peers, "best peer", "x best peer", "middle half", "by CPU",
                  "x GTiff"], rows)
    show_groups(found)
    show_losses(found)
    show_second_thread(found)
    show_small_tiles(found, peers)


def show_groups(found):
    rows, groups = [], {}
    for cell in found:
        groups.setdefault(cell.group, []).append(cell)
        if cell.group != "small tiles":
            groups.setdefault("all but small tiles", []).append(cell)
    for group, mine in sorted(groups.items(), key=lambda pair: pair[0] == "all but small tiles"):
        target = cells.TARGETS.get(group, ("-", "-"))
        cpu = geometric_mean(cell.cpu_against(cell.best) for cell in mine)
        peer = geometric_mean(cell.against(cell.best) for cell in mine)
        gtiff = geometric_mean(cell.against("GTiff") for cell in mine)
        rows.append([group, len(mine), f"{peer:.2f}", target[0], f"{cpu:.2f}", f"{gtiff:.2f}",
                     target[1]])
    show("Geometric means by group:")
    show()
    report.table(["group", "files", "x best peer", "target", "by CPU", "x GTiff", "target"], rows)


def show_losses(found):
    lost = sorted((cell.against(cell.best), cell) for cell in found
                  if cell.against(cell.best) < 1 - TIE)
    ties = [cell for cell in found if abs(cell.against(cell.best) - 1) <= TIE]
    show(f"Won: {len(found) - len(lost) - len(ties)}; ties within {TIE:.0%}: {len(ties)}; "
         f"lost: {len(lost)}." + (" Worst first:" if lost else ""))
    show()
    for ratio, cell in lost:
        show(f"- {cell.name}: {ratio:.2f} of {cell.best}")
    if lost:
        show()


def show_second_thread(found):
    gains = {}
    for cell in found:
        for name, threads in cell.times:
            if threads != cell.most and threads == 1:
                gains.setdefault(name, []).append(cell.median(name, 1) / cell.median(name))
    if not gains:
        return
    show("All threads against one, geometric mean and worst:")
    show()
    report.table(["reader", "gain", "worst"],
                 [[name, f"{geometric_mean(g):.2f}", f"{min(g):.2f}"] for name, g in gains.items()])


def show_small_tiles(found, peers):
    by_name = {cell.name: cell for cell in found}
    rows = []
    for name in cells.SHRINKING:
        large = by_name.get(f"{name}-t256")
        for tile in cells.SMALL_TILES:
            small = by_name.get(f"{name}-t{tile}")
            if not small or not large:
                continue
            kept = [f"{large.median(r) / small.median(r):.0%}" if (r, small.most) in small.times and
                    (r, large.most) in large.times else "-" for r in ("terrazzo", *peers)]
            rows.append([name, tile, *kept, f"{small.against(small.best):.2f}",
                         f"{small.against('GTiff'):.2f}"])
    if rows:
        show("Speed in small tiles, as a part of the reader's own with tiles of 256 pixels:")
        show()
        report.table(["data", "tile", "terrazzo", *peers, "x best peer", "x GTiff"], rows)


# ---- single tiles ----------------------------------------------------------------------------

def tile_list(folder, path, across, tile, count):
    """Different tiles in random order, so that no cache has them."""
    chosen = random.Random(1).sample(range(across * across), min(count, across * across))
    listing = folder / f"tiles-{path.stem}-{count}.txt"
    listing.write_text("".join(f"{tile * (n % across)} {tile * (n // across)} {tile} {tile} {path}\n"
                               for n in chosen))
    return listing, len(chosen)


def latency_files(arguments):
    """(label, path, tiles across, tile size)"""
    folder, size = folder_of(arguments), arguments.size
    names = ["dem_i16-deflate-p2-t64-mirrored"]
    names += [f"dem_i16-{codec}-t256" for codec in ("none-p1", "deflate-p2", "lzw-p2", "zstd-p2")]
    make_data(arguments, names)
    files = []
    for across in (128, 1000):
        path = folder / f"cog-none-{across}.tif"
        if not path.exists():
            make_files.write_cog(path, across, tile=64, tile_bytes=64 * 64, compression=1)
        files.append((f"COG uint8 none, 64 px, {across * across:,} tiles", path, across, 64))
    across = 2 * size // 64
    files.append((f"int16 deflate p2, 64 px, {across * across:,} tiles", folder / f"{names[0]}.tif",
                  across, 64))
    files += [(f"int16 {name.split('-')[1]}, 256 px", folder / f"{name}.tif", size // 256, 256)
              for name in names[1:]]
    return files


def measure_latency(arguments):
    """What is wrong."""
    files = latency_files(arguments)
    team = start_readers(arguments, [])
    count = 64 if arguments.quick else 256
    show(f"One random tile, microseconds, one thread, {arguments.rounds} rounds of up to {count} tiles:")
    show()
    rows, problems = [], []
    for label, path, across, tile in files:
        listing, tiles = tile_list(folder_of(arguments), path, across, tile, count)
        for mode, words in (("each", "open, read, close"), ("kept", "kept open")):
            entrants, repeats, _ = warm_up(team, mode, listing, "pixel", [1], problems)
            if mode == "kept":  # a second time a cache would answer
                repeats = dict.fromkeys(repeats, 1)
            times = take_turns(entrants, arguments.rounds, lambda entrant: entrant[0].ask(
                mode, listing, 1, "pixel", repeats[entrant])[:2])
            cell = Cell("latency", label, 0, times)
            rows.append([label, words, *(f"{cell.median(reader.name) / tiles * 1e6:.1f}"
                                         for reader in team), cell.best,
                         f"**{cell.against(cell.best):.2f}**", f"{cell.against('GTiff'):.2f}"])
    report.table(["file", "what", *(reader.name for reader in team), "best peer", "x best peer",
                  "x GTiff"], rows)
    for reader in team:
        reader.close()
    return problems


# ---- batches ---------------------------------------------------------------------------------

def measure_batch(arguments):
    """What is wrong."""
    file_count, window_count = (20, 200) if arguments.quick else (100, 1000)
    names = [f"dem_i16-deflate-p2-t256-crop{number:03d}" for number in range(file_count)]
    make_data(arguments, names)
    folder, pick = folder_of(arguments), random.Random(2)
    windows = sorted((pick.randrange(len(names)), pick.randrange(1024 - 256),
                      pick.randrange(1024 - 256)) for _ in range(window_count))
    listing = folder / f"windows-{window_count}.txt"
    listing.write_text("".join(f"{column} {row} 256 256 {folder / names[number]}.tif\n"
                               for number, column, row in windows))
    team = start_readers(arguments, ["rasterio"])
    problems = []
    entrants, repeats, _ = warm_up(team, "batch", listing, "pixel", [os.cpu_count()], problems)
    times = take_turns(entrants, arguments.rounds, lambda entrant: entrant[0].ask(
        "batch", listing, entrant[1], "pixel", repeats[entrant])[:2])
    cell = Cell("batch", "windows", 0, times)
    show(f"{window_count:,} random windows of 256 x 256 pixels from {file_count} files of 1024 x 1024 (int16, deflate "
         "p2, tiles of 256), opened and closed each time; peers: a thread for each core, each takes one file after the "
         "other:")
    show()
    report.table(["reader", "milliseconds", "time / terrazzo's", "middle half"],
                 [[reader.name, f"{cell.median(reader.name) * 1e3:.1f}",
                   f"{cell.against(reader.name):.2f}", spread(cell.each(reader.name))]
                  for reader in team])
    for reader in team:
        reader.close()
    return problems
