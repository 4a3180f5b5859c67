# SPDX-License-Identifier: Apache-2.0
"""build/gpu/report.md."""

from gpu import measure
from results import count

OTHERS = ("own kernels", "cpu", *measure.PEERS)


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows] + [""]


def skipped(reason):
    return ["# terrazzo on a GPU", "", f"**Skipped: {reason}.**", "",
            "Nothing was tested or measured. `make test-gpu` wants a host with an NVIDIA GPU, its driver and nvcc.", ""]


def card(told):
    """What only a card, its driver and libraries can show."""
    lines = ["# terrazzo on a GPU", ""]
    return lines + ["## First", "", *(f"- {line}" for line in told), ""] if told else lines


def about(device, libraries, peers):
    lines = ["## The device", ""]
    lines += table(["", ""], [["device", device["name"]], ["driver", device["driver_version"]],
                              ["version", device["api_version"]],
                              ["memory", f"{(device['limits']['memory'] or 0) / 1e9:.1f} GB"]])
    lines += ["## Libraries", ""]
    lines += table(["library", "version", "where", "what is given to it"], [
        [library["name"], library["version"] or "-",
         library["library"] if library["loaded"] else f"not used: {library['reason']}", library["codecs"] or "-"]
        for library in libraries])
    return lines + table(["other software", ""], [[peer.name, peer.version or f"left out: {peer.problem}"]
                                                  for peer in peers])


def tests(results, left_out):
    """results: cases by suite; left_out: tests by why they were."""
    lines = ["## Tests", ""]
    lines += table(["suite", "passed", "failed", "skipped"],
                   [[name, *(count(cases, status) for status in ("passed", "failed", "skipped"))]
                    for name, cases in results.items()])
    for cases in results.values():
        lines += [f"- failed: {case.name}" for case in cases if case.status == "failed"]
        lines += [f"- skipped: {case.name}: {case.detail}" for case in cases if case.status == "skipped"]
    total = sum(map(len, left_out.values()))
    lines += ["", f"Left out: {total} programs that make no sense on a GPU:", ""]
    return lines + [f"- {reason}: {', '.join(names)}" for reason, names in left_out.items()] + [""]


def cell_of(cell, name):
    if name in cell.problems or name not in cell.seconds:
        return "-"
    return f"{cell.ratio(name):.2f}" if "terrazzo" in cell.seconds else f"{cell.speed(name):.0f} MB/s"


def throughput_rows(cells):
    return [[*cell.words, "-" if "terrazzo" not in cell.seconds else f"{cell.speed('terrazzo'):.0f}",
             *(cell_of(cell, name) for name in OTHERS)] for cell in cells]


def reasons(cells):
    """Why a number is missing, each once, with where."""
    found = {}
    for cell in cells:
        for name, problem in cell.problems.items():
            found.setdefault((name, problem), []).append(" ".join(cell.words))
    return [f"- {name}, {len(places)} rows ({places[0]} ...): {problem}" for (name, problem), places in found.items()]


def calls(m):
    rows = [[kind, cell.words[0], *cell.use] for kind, cells in (("read", m.reads), ("write", m.writes))
            for cell in cells if cell.use and cell.words[-1] == "device" and "cold" not in cell.words]
    return ["### Calls of one read to the device, and of one write from it", ""] + table(
        ["", "codec", *measure.USE, "library"], rows)


def throughput(m):
    lines = ["## Throughput", "",
             f"Images of {m.size} x {m.size} pixels (uint16; of JPEG and JPEG 2000 RGB), tiles of 256, {m.rounds} rounds in "
             "which all take turns, medians. `terrazzo` is in MB of pixels per second; the others are how many times as long "
             "they take (above 1: terrazzo is faster). `own kernels`: terrazzo without NVIDIA's libraries; `cpu`: terrazzo "
             f"without a device. Cold: the page cache forgets the file ({m.how_cold}). `-`: see below.", "",
             "### Reading", ""]
    lines += table(["codec", "page cache", "to", "terrazzo, MB/s", *OTHERS], throughput_rows(m.reads))
    lines += ["### Writing", ""]
    lines += table(["codec", "from", "terrazzo, MB/s", *OTHERS], throughput_rows(m.writes))
    lines += calls(m)
    return lines + ["### Numbers that are missing", "", *reasons(m.reads + m.writes), ""]
