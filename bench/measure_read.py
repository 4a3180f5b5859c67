# SPDX-License-Identifier: Apache-2.0
"""Reading, side by side: whole images, single tiles, many windows of many files."""

import os
import pathlib
import random

import cells
import make_files
from common import gdal, report, show, spread
from contest import (Cell, Player, find_libtiff, folder_of, keep_times, make_data, note_progress,
                     python_player, show_groups, show_losses, show_second_thread, slower_cells,
                     take_turns, warm_up)

GDAL_PEERS = ("GTiff", "LIBERTIFF")


def start_readers(arguments, python_peers):
    library, env = gdal()
    folder = pathlib.Path(arguments.build)
    team = [Player("terrazzo", [folder / "read_terrazzo"])]
    team += [Player(driver, [folder / "read_gdal", library, driver], env) for driver in GDAL_PEERS]
    team.append(Player("libtiff", [folder / "read_libtiff", find_libtiff()]))
    team += [python_player("read_python.py", name, one_count=name == "xarray-spatial")
             for name in python_peers]
    return team


def request(mode, path, threads, layout="pixel", repeats=1, check=False):
    return f"{mode} {threads} {repeats} {int(check)} {layout} {path}"


def check_all(team, mode, path, layout, thread_counts, problems, lossless=True):
    """Everybody reads once, with a check: ([entrant], {entrant: repeats}, bytes)."""
    answers, repeats = warm_up(team, thread_counts, lambda player, threads: player.ask(
        request(mode, path, threads, layout, check=True)))
    sums = {}
    for (player, threads), answer in answers.items():
        sums.setdefault(answer[2], []).append(f"{player.name} ({threads})")
    if lossless and len(sums) > 1:
        problems.append(f"{path.name}: the readers do not see the same pixels: " +
                        "; ".join(map(", ".join, sums.values())))
    return list(answers), repeats, next(iter(answers.values()))[3]


def race(entrants, repeats, rounds, mode, path, layout="pixel"):
    return take_turns(entrants, rounds, lambda entrant: entrant[0].ask(
        request(mode, path, entrant[1], layout, repeats[entrant]))[:2])


# ---- whole images ----------------------------------------------------------------------------

def measure_cell(arguments, team, group, name, problems):
    path = folder_of(arguments) / f"{name}.tif"
    layout = "band" if name.endswith("-planar") else "pixel"
    counts = [os.cpu_count()]
    if not arguments.quick and "-t256" in name:
        counts.append(1)
    else:
        team = [reader for reader in team if reader.name != "xarray-spatial"]
    lossless = not any(word in name for word in cells.LOSSY)
    entrants, repeats, size = check_all(team, "whole", path, layout, counts, problems, lossless)
    return Cell(group, name, size, race(entrants, repeats, arguments.rounds, "whole", path, layout))


def measure_whole(arguments, wanted):
    """What is wrong, and what missed its target."""
    make_data(arguments, [name for _, name in wanted])
    peers = ["tifffile"] if arguments.quick else ["tifffile", "xarray-spatial"]
    team = start_readers(arguments, peers)
    found, problems = [], []
    for group, name in wanted:
        found.append(measure_cell(arguments, team, group, name, problems))
        note_progress(found[-1])
    for reader in team:
        reader.close()
    keep_times(arguments, found, "times.json")
    show_whole(arguments, found, [reader.name for reader in team[1:]])
    return problems, slower_cells(found)


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
    show_groups(found, cells.TARGETS, apart="small tiles")
    show_losses(found)
    show_second_thread(found)
    show_small_tiles(found, peers)


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
            entrants, repeats, _ = check_all(team, mode, listing, "pixel", [1], problems)
            if mode == "kept":  # a second time a cache would answer
                repeats = dict.fromkeys(repeats, 1)
            cell = Cell("latency", label, 0,
                        race(entrants, repeats, arguments.rounds, mode, listing))
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
    entrants, repeats, _ = check_all(team, "batch", listing, "pixel", [os.cpu_count()], problems)
    cell = Cell("batch", "windows", 0, race(entrants, repeats, arguments.rounds, "batch", listing))
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
