# SPDX-License-Identifier: Apache-2.0
"""Writing, side by side: whole images, and the memory of one that comes in parts."""

import dataclasses
import os
import pathlib
import re
import tempfile

import cells
from common import gdal, geometric_mean, report, show, spread
from contest import (Cell, Failed, Player, find_libtiff, folder_of, keep_times, make_data,
                     note_progress, python_player, show_groups, show_losses, show_second_thread,
                     slower_cells, take_turns, warm_up)

NAME = re.compile(r"(?P<data>\w+)-(?P<codec>[a-z]+?)(?P<level>\d+|fast)?-p(?P<predictor>\d)"
                  r"-t(?P<tile>\d+)(-(?P<word>half))?")
PART_ROWS = 64
CELL_SECONDS = 20  # what a cell may take, but for its first rounds
FIRST_ROUNDS = 3
IN_PARTS = f"terrazzo, {PART_ROWS} rows at a time"


@dataclasses.dataclass
class Job:
    """What to write; see writer.h."""
    raster: pathlib.Path
    out: pathlib.Path
    dtype: str
    width: int
    height: int
    bands: int
    codec: str
    level: int
    predictor: int
    tile: int
    threads: int
    rows: int = 0
    buffer: int = 0
    repeats: int = 1
    memory: int = 0

    def line(self, **changed):
        fields = dataclasses.asdict(dataclasses.replace(self, **changed))
        return "\t".join(f"{key}={value}" for key, value in fields.items())

    def pixel_bytes(self):
        bits = int(re.search(r"\d+", self.dtype)[0])
        return self.width * self.height * self.bands * bits // 8


def raster_of(name):
    """What data.py calls the pixels of a file to write."""
    kind = NAME.fullmatch(name)
    return f"{kind['data']}-half" if kind["word"] else kind["data"]


def job_of(arguments, name, out):
    kind = NAME.fullmatch(name)
    dtype, bands = cells.RASTERS[kind["data"]]
    size = arguments.size // 2 if kind["word"] else arguments.size
    level = -1 if kind["level"] == "fast" else int(kind["level"] or 0)
    return Job(folder_of(arguments) / f"{raster_of(name)}.npy", out, dtype, size, size, bands,
               kind["codec"], level, int(kind["predictor"]), int(kind["tile"]), os.cpu_count())


def start_writers(arguments):
    library, env = gdal()
    folder = pathlib.Path(arguments.build)
    team = [Player("terrazzo", [folder / "write_terrazzo"]),
            Player(IN_PARTS, [folder / "write_terrazzo"], one_count=True),
            Player("GTiff", [folder / "write_gdal", library], env),
            Player("libtiff", [folder / "write_libtiff", find_libtiff()], one_count=True),
            python_player("write_python.py", "tifffile")]
    if not arguments.quick:
        team.append(python_player("write_python.py", "xarray-spatial", one_count=True))
    return team


# ---- whole images ----------------------------------------------------------------------------

class WrittenCell(Cell):
    """With the sizes of the files, and the errors of lossy ones: root mean squares."""

    def __init__(self, group, name, size, times, sizes, errors):
        super().__init__(group, name, size, times)
        self.sizes, self.errors = sizes, errors

    def size_against(self, peer):
        return self.sizes["terrazzo"] / self.sizes[peer]

    def megabytes(self, player):
        return f"{self.sizes[player] / 1e6:.2f}" if player in self.sizes else "-"


class Checker:
    """Reads back what was written, with GDAL; of lossy files the error, with tifffile."""

    def __init__(self, arguments):
        library, env = gdal()
        self.reader = Player("check", [pathlib.Path(arguments.build) / "read_gdal", library,
                                       "GTiff"], env)
        self.errors = python_player("write_python.py", "compare")

    def sum_of(self, path):
        return self.reader.ask(f"whole 1 1 1 pixel {path}")[2]

    def error_of(self, job):
        return float(self.errors.tell(job.line())[0])

    def close(self):
        self.reader.close()
        self.errors.close()


def check_all(team, checker, job, name, counts, problems):
    """Everybody writes once: ({entrant: repeats}, seconds of a round, {name: bytes}, {name: error})."""
    sizes, errors, lossless = {}, {}, not any(word in name for word in cells.LOSSY)

    def write_and_check(player, threads):
        rows = PART_ROWS if player.name == IN_PARTS else 0
        answer = player.ask(job.line(threads=threads, rows=rows))
        if not lossless:
            errors[player.name] = checker.error_of(job)
        elif checker.sum_of(job.out) != answer[2]:
            problems.append(f"{name}: GDAL does not see the pixels that {player.name} wrote")
        if sizes.setdefault(player.name, answer[3]) != answer[3] and "terrazzo" in player.name:
            problems.append(f"{name}: the file depends on the number of threads")
        return answer

    answers, repeats = warm_up(team, counts, write_and_check)
    seconds = sum(answer[0] * repeats[entrant] for entrant, answer in answers.items())
    if sizes.get(IN_PARTS, 0) != sizes.get("terrazzo", 0):
        problems.append(f"{name}: the file depends on how many rows come at a time")
    return repeats, seconds, sizes, errors


def measure_cell(arguments, team, checker, group, name, problems):
    with tempfile.TemporaryDirectory(dir=arguments.output, prefix="terrazzo-") as folder:
        job = job_of(arguments, name, pathlib.Path(folder) / "written.tif")
        counts = [os.cpu_count()]
        if not arguments.quick and name.endswith("-t256"):
            counts.append(1)
        if "-t256" not in name:
            team = [player for player in team if player.name != "xarray-spatial"]
        repeats, seconds, sizes, errors = check_all(team, checker, job, name, counts, problems)
        rounds = min(arguments.rounds, max(FIRST_ROUNDS, int(CELL_SECONDS / seconds)))

        def run(entrant):
            player, threads = entrant
            rows = PART_ROWS if player.name == IN_PARTS else 0
            return player.ask(job.line(threads=threads, rows=rows, repeats=repeats[entrant]))[:2]

        times = take_turns(list(repeats), rounds, run)
    return WrittenCell(group, name, job.pixel_bytes(), times, sizes, errors)


def measure_write(arguments, wanted):
    """What is wrong, and what missed its target."""
    make_data(arguments, sorted({raster_of(name) for _, name in wanted}))
    team, checker = start_writers(arguments), Checker(arguments)
    found, problems = [], []
    for group, name in wanted:
        cell = measure_cell(arguments, team, checker, group, name, problems)
        if ("terrazzo", cell.most) in cell.times:
            found.append(cell)
            note_progress(cell)
        else:
            problems.append(f"{name}: not written")
    for player in (*team, checker):
        player.close()
    if found:
        keep_times(arguments, found, "times-write.json")
        show_whole(arguments, found, [player.name for player in team[2:]])
    return problems, slower_cells(found)


def show_whole(arguments, found, peers):
    show(f"Whole images of {arguments.size} x {arguments.size} pixels (half: {arguments.size // 2}), MB of pixels "
         f"per second on all threads, {arguments.rounds} rounds, fewer where that takes long, but at least {FIRST_ROUNDS}:")
    show()
    rows = []
    for cell in found:
        rows.append([cell.name, cell.speed("terrazzo"), cell.speed(IN_PARTS),
                     *map(cell.speed, peers), cell.best, f"**{cell.against(cell.best):.2f}**",
                     spread(cell.each(cell.best)), f"{cell.cpu_against(cell.best):.2f}",
                     f"{cell.against('GTiff'):.2f}", f"{cell.size_against('GTiff'):.3f}"])
    report.table(["file", "terrazzo", "in parts", *peers, "best peer", "x best peer", "middle half",
                  "by CPU", "x GTiff", "size / GTiff's"], rows)
    size = ("size / GTiff's", lambda mine: f"{geometric_mean(c.size_against('GTiff') for c in mine):.3f}")
    show_groups(found, cells.WRITE_TARGETS, more=[size])
    show_losses(found)
    show_second_thread(found)
    show_sizes(found, peers)


def show_sizes(found, peers):
    show("Sizes in MB; of lossy files also the error, the root of the mean square:")
    show()
    rows = []
    for cell in found:
        texts = [cell.megabytes(player) + (f" ({cell.errors[player]:.2f})" if player in cell.errors
                                           else "") for player in ("terrazzo", *peers)]
        rows.append([cell.name, *texts])
    report.table(["file", "terrazzo", *peers], rows)


# ---- memory ----------------------------------------------------------------------------------

def memory_players(arguments):
    """(label, function that starts it, buffer)"""
    library, env = gdal()
    folder = pathlib.Path(arguments.build)

    def ours():
        return Player("terrazzo", [folder / "write_terrazzo"])

    def theirs(**more):
        return lambda: Player("GTiff", [folder / "write_gdal", library], dict(env, **more))

    return [("terrazzo, max_host_bytes of 32 MiB", ours, 32 << 20), ("terrazzo", ours, 0),
            ("GTiff, GDAL_CACHEMAX=32", theirs(GDAL_CACHEMAX="32"), 0), ("GTiff", theirs(), 0)]


def measure_memory(arguments):
    """What is wrong."""
    make_data(arguments, ["dem_f32"])
    problems, rows, folds = [], [], 4
    width = folds * arguments.size
    height = (512 << 20) // (4 * width)
    for codec in ("none-p1", "deflate1-p3"):
        for label, start, room in memory_players(arguments):
            with tempfile.TemporaryDirectory(dir=arguments.output, prefix="terrazzo-") as folder:
                job = job_of(arguments, f"dem_f32-{codec}-t256", pathlib.Path(folder) / "written.tif")
                player = start()
                try:
                    rss, anon = map(int, player.tell(job.line(
                        width=width, height=height, rows=PART_ROWS, buffer=room, memory=1)))
                    rows.append([codec, label, f"{rss / 1e6:.0f}", f"{anon / 1e6:.0f}"])
                except Failed as error:
                    problems.append(f"memory, {codec}, {label}: {error}")
                player.close()
    show(f"float32 pixels, {width} x {height} (512 MiB), tiles of 256, {PART_ROWS} rows at a time, {os.cpu_count()} "
         "threads; what a new process has more than before, MB: at most ever, and of anonymous memory after any part:")
    show()
    report.table(["codec", "writer", "peak", "anonymous"], rows)
    return problems
