# SPDX-License-Identifier: Apache-2.0
"""Throughputs: terrazzo on the GPU, on the CPU, and other software, in turns within each round."""

import os
import pathlib
import statistics
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
# codec: what it is measured with; the checksum of pixels is that of what was written
KINDS = {"none": "grey16", "lzw": "grey16", "deflate": "grey16", "zstd": "grey16", "lz4": "grey16",
         "packbits": "grey16", "jpeg": "rgb8", "j2k": "rgb8"}
CACHES = ("cold", "warm")
MEMORIES = ("device", "host")
LIBRARIES = ("NVCOMP", "CUFILE", "NVJPEG2K", "NVJPEG")
PEERS = ("nvTIFF", "nvImageCodec", "xarray-spatial", "GDAL")
USE = ("batches", "tiles", "by the CPU", "uploads", "downloads", "launches", "syncs", "library calls", "direct bytes")


class Failed(Exception):
    pass


class Player:
    """A process that carries out requests, line by line; see gpu_player.c and peers.py."""

    def __init__(self, name, command, **variables):
        self.name, self.version, self.problem = name, "", ""
        env = {**os.environ, "PYTHONWARNINGS": "ignore", **variables}
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env=env)
        try:
            self.version = self.answer().removeprefix("ready ")
        except Failed as failed:
            self.problem = str(failed)

    def answer(self):
        line = self.process.stdout.readline().strip()
        if not line:
            self.problem = self.problem or "it ended"
        if not line or line.startswith("failed "):
            raise Failed(line.removeprefix("failed ") or self.problem)
        return line

    def tell(self, *words):
        """The words of its answer; the first is how many seconds it took."""
        if self.problem:
            raise Failed(self.problem)
        try:
            self.process.stdin.write(" ".join(map(str, words)) + "\n")
            self.process.stdin.flush()
        except OSError:
            self.problem = "it ended"
            raise Failed(self.problem) from None
        return self.answer().split(" ", 12)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def players(programs, python, variables):
    """terrazzo as it is, without NVIDIA's libraries, on the CPU; and others."""
    own = programs / "gpu_player"
    without = {f"TERRAZZO_{name}_LIBRARY": "" for name in LIBRARIES}
    made = [Player("terrazzo", [own, "cuda:0", 1]), Player("own kernels", [own, "cuda:0", 0], **without),
            Player("cpu", [own, "cpu", 0])]
    return made + [Player(name, [python, HERE / "peers.py", name], **variables) for name in PEERS]


# ---- the page cache --------------------------------------------------------------------------


def forget_all():
    """Root may have the kernel forget all files."""
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w") as file:
        file.write("3\n")


def forget(path):
    """Of a file that is written, the system is asked to forget the pages."""
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(handle)


def way_to_forget(only_files):
    """(its name, the function)"""
    if not only_files:
        try:
            forget_all()
            return "/proc/sys/vm/drop_caches", lambda path: forget_all()
        except OSError:
            pass
    return "posix_fadvise", forget


# ---- rounds ----------------------------------------------------------------------------------


class Cell:
    """One row of a table: seconds of each player, or why there are none."""

    def __init__(self, *words):
        self.words, self.size, self.use = words, 0, None
        self.seconds, self.problems = {}, {}

    def add(self, name, seconds):
        self.seconds.setdefault(name, []).append(seconds)

    def speed(self, name):
        """MB of pixels per second."""
        return self.size / 1e6 / statistics.median(self.seconds[name])

    def ratio(self, name):
        """How many times as long as terrazzo it takes: the median of rounds."""
        return statistics.median(theirs / ours for theirs, ours in zip(self.seconds[name], self.seconds["terrazzo"]))


def play(cell, all_players, rounds, prepare, words_of, check=None):
    """Each player once in every round; who fails once is left out of this row."""
    for _ in range(rounds):
        for player in all_players:
            if player.name in cell.problems:
                continue
            prepare()
            try:
                answer = player.tell(*words_of(player))
            except Failed as failed:
                cell.problems[player.name] = str(failed)
                continue
            if check and answer[2] != check:
                cell.problems[player.name] = "other pixels"
                continue
            cell.add(player.name, float(answer[0]))
            if player.name == "terrazzo":
                cell.size, cell.use = int(answer[1]), answer[3:]
    for name in cell.problems:
        cell.seconds.pop(name, None)
    return cell


class Measurement:
    def __init__(self, all_players, folder, size, rounds, only_files):
        self.players, self.folder, self.size, self.rounds = all_players, folder, size, rounds
        self.cpu = next(player for player in all_players if player.name == "cpu")
        self.how_cold, self.forget = way_to_forget(only_files)
        self.reads, self.writes, self.wrong = [], [], []

    def paint(self, kind):
        """The same image for all; its checksum."""
        source = self.folder / f"{kind}.tif"
        sums = [player.tell("paint", kind, self.size)[2] for player in self.players[:3] if not player.problem]
        self.cpu.tell("write", "host", "none", source)
        for player in self.players[3:]:
            try:
                player.tell("image", source)
            except Failed:
                pass  # it says so when it is to write
        return sums[0]

    def codec(self, codec, kind, checksum):
        path = self.folder / f"{codec}.tif"
        self.cpu.tell("write", "host", codec, path)
        check = checksum if kind == "grey16" else None
        if self.rounds > 1:  # what is compiled or loaded at first use
            for memory in MEMORIES:
                for words in (("read", memory, path), ("write", memory, codec, self.folder / "out.tif")):
                    play(Cell(), self.players, 1, lambda: None, lambda player, words=words: words)
        for cache in CACHES:
            prepare = (lambda: self.forget(path)) if cache == "cold" else path.read_bytes
            for memory in MEMORIES:
                self.reads.append(play(Cell(codec, cache, memory), self.players, self.rounds, prepare,
                                       lambda player, memory=memory: ("read", memory, path), check))
        for memory in MEMORIES:
            self.writes.append(play(Cell(codec, memory), self.players, self.rounds, lambda: None,
                                    lambda player, memory=memory: ("write", memory, codec, self.folder / "out.tif")))

    def run(self):
        for kind in dict.fromkeys(KINDS.values()):
            checksum = self.paint(kind)
            for codec in [codec for codec, is_kind in KINDS.items() if is_kind == kind]:
                self.codec(codec, kind, checksum)
        for cell in self.reads + self.writes:
            for name in ("terrazzo", "own kernels"):
                if name in cell.problems:
                    self.wrong.append(f"{' '.join(cell.words)}: {name}: {cell.problems[name]}")
        return self
