#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the kernels take of a GPU, as ptxas reports it.

    tools/ptxas.py BUILD FILE    of all architectures that a build was made for, as a table
"""

import concurrent.futures
import dataclasses
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

HEAD = """# Registers, stack and spills

Written by `make fatbin`, of what ptxas {version} says. A cell is registers, bytes of stack, and bytes that are
stored and loaded because registers ran out, of one thread; shared memory is that of a group of threads. Kernels that
decode and place must not spill (`tests/check_spills.py`).

"""


# Bytes but for the registers. Functions that a kernel calls are counted with it.
@dataclasses.dataclass
class Use:
    registers: int = 0
    stack: int = 0
    spilled: int = 0
    shared: int = 0


def find_ptxas():
    nvcc = subprocess.run([ROOT / "tools/find_nvcc.sh"], capture_output=True, text=True, check=True).stdout.strip()
    return str(pathlib.Path(nvcc).resolve().parent / "ptxas")


def uses(ptx, architecture):
    """{kernel: Use} of a file of PTX."""
    done = subprocess.run([find_ptxas(), "-v", f"-arch={architecture}", str(ptx), "-o", os.devnull],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{ptx} for {architecture}: {done.stderr}")
    kernels = {}
    use = None
    for line in done.stderr.splitlines() + done.stdout.splitlines():
        if entry := re.search(r"Compiling entry function '(\w+)'", line):
            use = kernels[entry[1]] = Use()
        elif spills := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            use.spilled += int(spills[2]) + int(spills[3])
        elif registers := re.search(r"Used (\d+) registers", line):
            use.registers = int(registers[1])
            use.stack = number_before(r" bytes cumulative stack size", line)
            use.shared = number_before(r" bytes smem", line)
    return kernels


def number_before(words, line):
    found = re.search(r"(\d+)" + words, line)
    return int(found[1]) if found else 0


def version():
    text = subprocess.run([find_ptxas(), "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"V([\d.]+)", text)[1]


def architectures(build):
    cache = (build / "CMakeCache.txt").read_text()
    return re.findall(r"sm_\d+", re.search(r"^TERRAZZO_CUDA_ARCHITECTURES:\w+=(.*)$", cache, re.MULTILINE)[1])


def table(build):
    names = architectures(build)
    files = sorted((build / "kernels").glob("*.ptx"))
    jobs = [(file, name) for file in files for name in names]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = dict(zip(jobs, pool.map(lambda job: uses(*job), jobs)))
    lines = ["| kernel | shared | " + " | ".join(names) + " |", "|---|---|" + "---|" * len(names)]
    for file in files:
        for kernel in sorted(results[file, names[0]]):
            of = [results[file, name][kernel] for name in names]
            shared = "/".join(str(size) for size in sorted({use.shared for use in of}))
            cells = [f"{use.registers}, {use.stack}, {use.spilled}" for use in of]
            lines.append(f"| {kernel} | {shared} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_text(HEAD.format(version=version()) + table(pathlib.Path(sys.argv[1])))
