# SPDX-License-Identifier: Apache-2.0
"""Libraries side by side: processes that take turns, their times, and tables of these."""

import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import sys

from common import (ROOT, geometric_mean, gdal, median_ratio, peers_python, report, show)

TIE = 0.05            # ratios this close to 1 are ties
SHORTEST = 0.02       # seconds: what is faster is repeated within one timing
DATA = ROOT / "build" / "bench-data"


# ---- players ---------------------------------------------------------------------------------

class Failed(Exception):
    pass


class Player:
    """A process that carries out requests, line by line; see reader.h and writer.h."""

    def __init__(self, name, command, env=None, one_count=False):
        self.name = name
        self.one_count = one_count  # it does not heed the number of threads
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=env)

    def tell(self, request):
        """The words of its answer."""
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line.strip():
            sys.exit(f"{self.name} ended at {request}")
        if line.startswith("failed "):
            raise Failed(line[7:].strip())
        return line.split()

    def ask(self, request):
        """(seconds, seconds of all cores, checksum, bytes)"""
        wall, cpu, checksum, size = self.tell(request)
        return float(wall), float(cpu), checksum, int(size)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def python_player(script, name, one_count=False):
    quiet = dict(os.environ, PYTHONWARNINGS="ignore")
    return Player(name, [peers_python(), ROOT / "bench" / script, name], quiet, one_count)


def find_libtiff():
    """That of the wheel that has GDAL."""
    [libtiff] = pathlib.Path(gdal()[0]).parent.glob("libtiff*")
    return libtiff


def show_versions(more=()):
    library, _ = gdal()
    wanted = ["GDAL " + ".".join(library.split(".")[-3:])]
    names = ("rasterio", "tifffile", "imagecodecs", "xarray-spatial", "numpy", *more)
    script = ("import sys, importlib.metadata as m; print('Python', sys.version.split()[0]);"
              f"[print(n, m.version(n)) for n in {names}]")
    lines = subprocess.run([peers_python(), "-c", script], capture_output=True, text=True).stdout
    version = ctypes.CDLL(str(find_libtiff())).TIFFGetVersion
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

def warm_up(team, thread_counts, ask):
    """Everybody once: ({entrant: what ask(player, threads) gave}, {entrant: repeats}); without who cannot."""
    answers, repeats = {}, {}
    for player in team:
        for threads in thread_counts[:1] if player.one_count else thread_counts:
            try:
                answers[player, threads] = ask(player, threads)
            except Failed as error:
                print(f"  {player.name}: {error}", file=sys.stderr)
                break
            repeats[player, threads] = max(1, round(SHORTEST / answers[player, threads][0]))
    return answers, repeats


def take_turns(entrants, rounds, run):
    """{entrant: [(seconds, of all cores) of each round]}; a different one starts each round."""
    times = {entrant: [] for entrant in entrants}
    for turn in range(rounds):
        first = turn % len(entrants)
        for entrant in entrants[first:] + entrants[:first]:
            times[entrant].append(run(entrant))
    return times


# ---- times -----------------------------------------------------------------------------------

class Cell:
    """Times of one file, by name of player and number of threads."""

    def __init__(self, group, name, size, times):
        self.group, self.name, self.size = group, name, size
        self.times, self.cpu = ({(player.name, threads): [pair[which] for pair in found]
                                 for (player, threads), found in times.items()} for which in (0, 1))
        self.most = max(threads for _, threads in self.times)
        rivals = [name for name, threads in self.times if threads == self.most and
                  not name.startswith("terrazzo")]
        self.best = min(rivals, key=self.median, default=None)

    def median(self, player, threads=None):
        return statistics.median(self.times[player, threads or self.most])

    def speed(self, player):
        """MB/s, on all threads."""
        if (player, self.most) not in self.times:
            return "-"
        return f"{self.size / self.median(player) / 1e6:.0f}"

    def against(self, peer):
        return median_ratio(self.times["terrazzo", self.most], self.times[peer, self.most])

    def cpu_against(self, peer):
        return median_ratio(self.cpu["terrazzo", self.most], self.cpu[peer, self.most])

    def each(self, peer):
        pairs = zip(self.times[peer, self.most], self.times["terrazzo", self.most])
        return [theirs / ours for theirs, ours in pairs]


def keep_times(arguments, found, file_name):
    """Every single time, for whoever wants to look closer."""
    raw = {cell.name: {f"{name} {threads}": {"wall": wall, "cpu": cell.cpu[name, threads]}
                       for (name, threads), wall in cell.times.items()} for cell in found}
    (folder_of(arguments) / file_name).write_text(json.dumps(raw, indent=1))


def note_progress(cell):
    print(f"  {cell.name}: {cell.speed('terrazzo')} MB/s, {cell.against(cell.best):.2f} of {cell.best}, "
          f"{cell.against('GTiff'):.2f} of GTiff", file=sys.stderr, flush=True)


def slower_cells(found):
    """What is slower than the best peer, in words."""
    return [f"{cell.name}: {cell.against(cell.best):.2f} of {cell.best}; at least 1 wanted"
            for cell in found if cell.against(cell.best) < 1 - TIE]


# ---- tables ----------------------------------------------------------------------------------

def show_groups(found, targets, apart=None, more=()):
    """apart: a group that is left out of all; more: (head, function of the cells of a group)."""
    rows, groups, total = [], {}, f"all but {apart}" if apart else "all"
    for cell in found:
        groups.setdefault(cell.group, []).append(cell)
    groups[total] = [cell for cell in found if cell.group != apart]
    for group, mine in groups.items():
        if not mine:
            continue
        target = targets.get(group, ("-", "-"))
        cpu = geometric_mean(cell.cpu_against(cell.best) for cell in mine)
        peer = geometric_mean(cell.against(cell.best) for cell in mine)
        gtiff = geometric_mean(cell.against("GTiff") for cell in mine)
        rows.append([group, len(mine), f"{peer:.2f}", target[0], f"{cpu:.2f}", f"{gtiff:.2f}",
                     target[1], *(value(mine) for _, value in more)])
    show("Geometric means by group:")
    show()
    report.table(["group", "files", "x best peer", "target", "by CPU", "x GTiff", "target",
                  *(head for head, _ in more)], rows)


def show_losses(found):
    lost = sorted((cell for cell in found if cell.against(cell.best) < 1 - TIE),
                  key=lambda cell: cell.against(cell.best))
    ties = [cell for cell in found if abs(cell.against(cell.best) - 1) <= TIE]
    show(f"Won: {len(found) - len(lost) - len(ties)}; ties within {TIE:.0%}: {len(ties)}; "
         f"lost: {len(lost)}." + (" Worst first:" if lost else ""))
    show()
    for cell in lost:
        show(f"- {cell.name}: {cell.against(cell.best):.2f} of {cell.best}")
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
    report.table(["library", "gain", "worst"],
                 [[name, f"{geometric_mean(g):.2f}", f"{min(g):.2f}"] for name, g in gains.items()])
