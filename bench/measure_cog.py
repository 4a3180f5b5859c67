# SPDX-License-Identifier: Apache-2.0
"""Making Cloud Optimized GeoTIFFs, side by side: the time of a whole file, and the memory."""

import dataclasses
import os
import pathlib
import tempfile

import cells
from common import gdal, geometric_mean, report, show, spread
from contest import (TIE, Cell, Failed, Player, folder_of, keep_times, make_data, python_player, take_turns,
                     warm_up)
from measure_write import NAME, Checker, Job, job_of

CELL_SECONDS = 30  # what a cell may take, but for its first rounds
FIRST_ROUNDS = 3
GDAL, VIPS = "GDAL COG", "libvips"
QUARTER = 4  # GDAL's memory by ours, at least
MEMORY_CODECS = ("none-p1", "deflate1-p3", "zstd1-p3")
MEMORY_BUFFER = 64 << 20


@dataclasses.dataclass
class CogJob(Job):
    """What to make of which file; see writer.h."""
    input: pathlib.Path = pathlib.Path()


def input_of(name, word=""):
    """What data.py calls the uncompressed file that a COG is made of."""
    return f"{NAME.fullmatch(name)['data']}-none-p1-t{cells.COG_TILE}{word}"


def cog_job(arguments, name, out, word=""):
    job = dataclasses.asdict(job_of(arguments, name, out))
    job["raster"] = ""
    return CogJob(**job, input=folder_of(arguments) / f"{input_of(name, word)}.tif")


def starters(arguments):
    """{name: function that starts it}"""
    library, env = gdal()
    folder = pathlib.Path(arguments.build)
    found = {"terrazzo": lambda: Player("terrazzo", [folder / "cog_terrazzo"]),
             GDAL: lambda: Player(GDAL, [folder / "cog_gdal", library], env)}
    for name in (VIPS, "rio-cogeo", "tifffile"):
        found[name] = lambda name=name: python_player("cog_python.py", name)
    return found


# ---- time ------------------------------------------------------------------------------------

class CogCell(Cell):
    def __init__(self, group, name, size, times, sizes):
        super().__init__(group, name, size, times)
        self.sizes, self.data = sizes, NAME.fullmatch(name)["data"]

    def ratio(self, peer):
        return f"{self.against(peer):.2f}" if (peer, self.most) in self.times else "-"

    def target(self):
        return cells.COG_TARGETS.get((self.group, self.data))


def check_all(team, checker, job, name, problems):
    """Everybody makes it once: ({entrant: repeats}, seconds of a round, {name: bytes})."""
    sizes, lossless = {}, not any(word in name for word in cells.LOSSY)
    wanted = checker.sum_of(job.input) if lossless else None

    def make_and_check(player, threads):
        answer = player.ask(job.line(threads=threads))
        if lossless and checker.sum_of(job.out) != wanted:
            problems.append(f"cog, {name}: GDAL does not see the pixels that {player.name} was given")
        sizes[player.name] = answer[3]
        return answer

    answers, repeats = warm_up(team, [os.cpu_count()], make_and_check)
    return repeats, sum(answer[0] * repeats[entrant] for entrant, answer in answers.items()), sizes


def measure_cell(arguments, team, checker, group, name, problems):
    with tempfile.TemporaryDirectory(dir=arguments.output, prefix="terrazzo-") as folder:
        job = cog_job(arguments, name, pathlib.Path(folder) / "made.tif")
        repeats, seconds, sizes = check_all(team, checker, job, name, problems)
        rounds = min(arguments.rounds, max(FIRST_ROUNDS, int(CELL_SECONDS / seconds)))

        def run(entrant):
            player, threads = entrant
            return player.ask(job.line(threads=threads, repeats=repeats[entrant]))[:2]

        times = take_turns(list(repeats), rounds, run)
    return CogCell(group, name, job.pixel_bytes(), times, sizes)


def measure_cog(arguments, wanted):
    """What is wrong, and what missed its target."""
    make_data(arguments, sorted({input_of(name) for _, name in wanted}))
    team, checker = [start() for start in starters(arguments).values()], Checker(arguments)
    found, problems = [], []
    for group, name in wanted:
        cell = measure_cell(arguments, team, checker, group, name, problems)
        if ("terrazzo", cell.most) in cell.times and (GDAL, cell.most) in cell.times:
            found.append(cell)
        else:
            problems.append(f"cog, {name}: not made")
    for player in (*team, checker):
        player.close()
    if found:
        keep_times(arguments, found, "times-cog.json")
        show_times(arguments, found, [player.name for player in team[1:]])
    wrong, large = ([], []) if arguments.quick or arguments.cells else measure_memory(arguments)
    return problems + wrong, missed(found) + large


def missed(found):
    """In words."""
    lines = [f"cog, {cell.name}: {cell.against(cell.best):.2f} of {cell.best}; at least 1 wanted"
             for cell in found if cell.against(cell.best) < 1 - TIE]
    return lines + [f"cog, {cell.name}: {cell.against(GDAL):.2f} of {GDAL}; {cell.target()} wanted"
                    for cell in found if cell.target() and cell.against(GDAL) < cell.target() * (1 - TIE)]


def show_times(arguments, found, peers):
    show(f"From uncompressed files of {arguments.size} x {arguments.size} pixels, MB of pixels per second on all "
         f"threads, {arguments.rounds} rounds, fewer where that takes long, but at least {FIRST_ROUNDS}:")
    show()
    rows = []
    for cell in found:
        rows.append([cell.name, cell.speed("terrazzo"), *map(cell.speed, peers), cell.best,
                     f"**{cell.against(cell.best):.2f}**", spread(cell.each(cell.best)), cell.ratio(GDAL),
                     cell.target() or "-", cell.ratio(VIPS), f"{cell.cpu_against(GDAL):.2f}",
                     f"{cell.sizes['terrazzo'] / cell.sizes[GDAL]:.3f}"])
    report.table(["file", "terrazzo", *peers, "best peer", "x best peer", "middle half", "x GDAL", "target",
                  "x libvips", "x GDAL by CPU", "size / GDAL's"], rows)
    show_means(found)


def show_means(found):
    show("Geometric means by group:")
    show()
    rows = []
    for group in dict.fromkeys(cell.group for cell in found):
        mine = [cell for cell in found if cell.group == group]
        both = [cell for cell in mine if (VIPS, cell.most) in cell.times]
        rows.append([group, len(mine), f"{geometric_mean(c.against(c.best) for c in mine):.2f}",
                     f"{geometric_mean(c.against(GDAL) for c in mine):.2f}",
                     f"{geometric_mean(c.against(VIPS) for c in both):.2f}" if both else "-",
                     f"{geometric_mean(c.sizes['terrazzo'] / c.sizes[GDAL] for c in mine):.3f}"])
    report.table(["group", "files", "x best peer", "x GDAL", "x libvips", "size / GDAL's"], rows)


# ---- memory ----------------------------------------------------------------------------------

def memory_of(start, job, room):
    """Bytes that a new process has more than before, at most."""
    player = start()
    try:
        return int(player.tell(job.line(buffer=room, memory=1))[0])
    finally:
        player.close()


def measure_memory(arguments):
    """What is wrong, and what missed its target."""
    make_data(arguments, [input_of("dem_f32-none-p1-t512", "-mirrored")])
    players = starters(arguments)
    entries = [("terrazzo", "terrazzo", 0),
               (f"terrazzo, max_host_bytes of {MEMORY_BUFFER >> 20} MiB", "terrazzo", MEMORY_BUFFER),
               *((name, name, 0) for name in players if name != "terrazzo")]
    problems, large, rows = [], [], []
    for codec in MEMORY_CODECS:
        peaks = {}
        for label, name, room in entries:
            with tempfile.TemporaryDirectory(dir=arguments.output, prefix="terrazzo-") as folder:
                job = cog_job(arguments, f"dem_f32-{codec}-t512", pathlib.Path(folder) / "made.tif", "-mirrored")
                job = dataclasses.replace(job, width=2 * job.width, height=2 * job.height)
                try:
                    peaks[label] = memory_of(players[name], job, room)
                except Failed as error:  # the wheel of libvips has no ZSTD
                    if name != VIPS:
                        problems.append(f"memory of cog, {codec}, {label}: {error}")
        if {"terrazzo", GDAL} <= set(peaks) and QUARTER * peaks["terrazzo"] > peaks[GDAL]:
            large.append(f"memory of cog, {codec}: {peaks['terrazzo'] / peaks[GDAL]:.2f} of GDAL's; a quarter wanted")
        rows += [[codec, label, f"{peak / 1e6:.0f}", f"{peak / peaks[GDAL]:.2f}" if GDAL in peaks else "-"]
                 for label, peak in peaks.items()]
    side = 2 * arguments.size
    show(f"Memory, of a float32 file of {side} x {side} pixels ({4 * side * side >> 20} MiB): what a new process has "
         "more than before, at most, MB:")
    show()
    report.table(["codec", "library", "peak", "of GDAL's"], rows)
    return problems, large
