#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what src/device declares of NVIDIA's libraries with their own headers, and what is expected of them with what
the libraries themselves answer; and what terrazzo writes with what the parsers of nvTIFF and nvJPEG2000 see in it. They
come from PyPI (tests/nvidia/wheels.txt); no GPU is needed.

The argument is the folder of the programs that ask, the command beside it; TERRAZZO_LONG=1 asks all releases, not only
one, and of many more files."""

import ctypes
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

from nvidia import nvcomp_rules, nvtiff, wheels, written
from tap import Tap

ROOT = pathlib.Path(__file__).resolve().parent.parent
CUDA = [("nvidia-cuda-runtime", "13.0.96"), ("nvidia-cuda-crt", "13.0.88")]
# release: package, its folder, the library in it, version as it reports it
NVCOMP = {
    "6.0": (("nvidia-libnvcomp-cu13", "6.0.0.12"), "nvidia/libnvcomp", "lib64/libnvcomp.so.6", 6000),
    "5.3": (("nvidia-libnvcomp-cu13", "5.3.0.16"), "nvidia/libnvcomp", "lib64/libnvcomp.so.5", 5300),
    "4.2": (("nvidia-nvcomp-cu12", "4.2.0.14"), "nvidia/nvcomp", "libnvcomp.so.4", 4200),
}

# library: package, its header's folder, the library, and all that it answers
LIBRARIES = {
    "cuFile": ("cufile", ("nvidia-cufile", "1.19.1.55"), "nvidia/cu13/include", "nvidia/cu13/lib/libcufile.so.0", {
        "version": "1.19.0",
        "properties": "0 nvfs 0.0 poll 4 direct 16384 status 0 control 2 cache 131072 buffer 0 batch 128 5",
        "read of no file": "-1 EINVAL",
        "close": "5001",
    }),
    "nvJPEG2000": ("nvjpeg2k", ("nvidia-nvjpeg2k-cu13", "0.11.0.51"), "nvidia/nvjpeg2k/include",
                   "nvidia/nvjpeg2k/lib/libnvjpeg2k.so.0", {
        "version": "0.11.0",
        "create": "0",
        "parse whole": "SUCCESS 16x16 tile 16x16 tiles 1x1 components 1 16x16 precision 8 signed 0 resolutions 2 8x8 16x16 2",
        "parse cut": "BAD_JPEG",
        "parse other": "BAD_JPEG",
        "parse empty comment": "BAD_JPEG",
        "decode state": "6",
        "decode params": "0",
        "decode format": "0",
        "decode colours": "0",
        "quality before lossless": "2",
        "config lossless": "0",
        "quality of lossless": "2",
        "format of lossless": "0",
        "quality before lossy": "2",
        "config lossy": "0",
        "quality of lossy": "0",
        "format of lossy": "0",
        "quality before five": "2",
        "config five": "4",
        "quality of five": "2",
        "format of five": "0",
    }),
    "nvJPEG": ("nvjpeg", ("nvidia-nvjpeg", "13.2.3.58"), "nvidia/cu13/include", "nvidia/cu13/lib/libnvjpeg.so.13", {
        "version": "13.2.3",
        "create 0": "EXECUTION_FAILED",
        "create 2": "EXECUTION_FAILED",
    }),
}

NVTIFF = ("nvidia-nvtiff-cu13", "0.8.0.82")


def run(command, **more):
    return subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True, **more)


class Check:
    def __init__(self, tap, programs, folder, releases):
        self.tap, self.programs, self.folder = tap, programs, folder
        packages = CUDA + [NVTIFF] + [NVCOMP[release][0] for release in releases] + [about[1] for about in LIBRARIES.values()]
        self.places = wheels.unpack(folder, packages)
        self.cuda = [self.places[package] / "nvidia/cu13/include" for package in CUDA]

    def compile(self, source, includes, definitions, text=None):
        """A source of tests/nvidia, or a text."""
        return run(["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-D_GNU_SOURCE",
                    "-Isrc", "-Itests",
                    *(f"-D{definition}" for definition in definitions),
                    *(word for path in [*includes, *self.cuda] for word in ("-isystem", path)),
                    *(["-xc", "-"] if text else [f"tests/nvidia/{source}"])], input=text)

    def headers(self, name, source, includes, definitions=()):
        done = self.compile(source, includes, definitions)
        self.tap.check(f"{name}: declared as the vendor does", done.returncode == 0, done.stderr)


def add_missing_headers(include):
    """The packages of 4.x have left two headers out that the others include."""
    for name, text in (("nvcomp/version.h", ""), ("nvcomp_export.h", "#define NVCOMP_EXPORT\n")):
        path = include / name
        if not path.exists():
            path.write_text(text)


def parse_answers(text):
    return dict(line.split(": ", 1) for line in text.splitlines())


def check_nvcomp_answers(check, name, library, version):
    """What it answers; as a dictionary, too."""
    done = run([check.programs / "nvcomp_answers", library])
    answers = parse_answers(done.stdout) if done.returncode == 0 else {}
    check.tap.check(f"{name}: loads, with all functions", answers.pop("path", "") == str(library),
                    done.stdout + done.stderr)
    check.tap.check(f"{name}: version", answers.pop("version", "") == str(version), answers)
    for kind in ("align", "output", "temp", "limit", "call"):
        asked = {question: answer for question, answer in answers.items() if question.startswith(kind + " ")}
        wrong = [f"{question}: {answer}, expected {nvcomp_rules.expected(question, version // 1000)}"
                 for question, answer in asked.items()
                 if not nvcomp_rules.same(question, answer, nvcomp_rules.expected(question, version // 1000))]
        check.tap.check(f"{name}: answers about {kind}", asked and not wrong, "\n".join(wrong) or "none")
    return answers


def check_nvcomp_fake(check, name, version, answers):
    """The fake of the tests answers as the library itself does."""
    done = run([check.programs / "nvcomp_answers", check.programs / f"libnvcomp_fake_{version // 1000}.so"])
    found = parse_answers(done.stdout)
    wrong = [f"{question}: {found.get(question)}, the library: {answer}" for question, answer in answers.items()
             if not nvcomp_rules.same(question, found.get(question, ""), answer)]
    check.tap.check(f"{name}: the fake answers the same", answers and not wrong, "\n".join(wrong))


def check_nvcomp(check, release):
    package, below, library, version = NVCOMP[release]
    place = check.places[package] / below
    include = place / "include"
    add_missing_headers(include)
    name = f"nvCOMP {release}"
    check.headers(name, "nvcomp_headers.c", [include], [f"NVCOMP_MAJOR={version // 1000}"])
    other = check.compile("nvcomp_headers.c", [include], [f"NVCOMP_MAJOR={version // 1000 % 3 + 4}"])
    check.tap.check(f"{name}: has not the functions of another release", other.returncode != 0)
    answers = check_nvcomp_answers(check, name, place / library, version)
    check_nvcomp_fake(check, name, version, answers)


def check_library(check, name):
    word, package, include, library, expected = LIBRARIES[name]
    place = check.places[package]
    check.headers(name, f"{word}_headers.c", [place / include])
    # cuFile keeps a log in the working directory unless an option says where
    env = {**os.environ, "CUFILE_LOGFILE_PATH": str(check.folder / "cufile.log")}
    for who, path in (("", place / library), ("the fake ", check.programs / f"lib{word}_fake.so")):
        done = run([check.programs / "nvidia_answers", word, path], env=env)
        answers = parse_answers(done.stdout)
        check.tap.check(f"{name}: {who}loads, with all functions", answers.pop("path", "") == str(path),
                        done.stdout + done.stderr)
        wrong = [f"{question}: {answers.get(question)}, expected {expected.get(question)}"
                 for question in {**expected, **answers} if answers.get(question) != expected.get(question)]
        check.tap.check(f"{name}: {who}reports its version and answers", not wrong, "\n".join(wrong))


def is_installed(name):
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def check_search(check):
    """The library is found in a Python environment by its folder there."""
    if any(is_installed(f"libnvcomp.so{end}") for end in (".6", ".5", ".4", "")):
        check.tap.skip("nvCOMP is found", "the loader has one of its own here")
        return
    package, below, library, version = NVCOMP["6.0"]
    place = check.places[package] / below / library
    with tempfile.TemporaryDirectory() as folder:
        link = pathlib.Path(folder) / "lib/python3.11/site-packages" / below / library
        link.parent.mkdir(parents=True)
        link.symlink_to(place)
        for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
            env = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
            done = run([check.programs / "nvcomp_answers", ""], env={**env, variable: folder})
            found = parse_answers(done.stdout)
            check.tap.check(f"nvCOMP is found by {variable}",
                            (found.get("path"), found.get("version")) == (str(link), str(version)), done.stdout)
        done = run([check.programs / "nvcomp_answers", ""], env=env)
        check.tap.check("nvCOMP is not found elsewhere", done.stdout == "refused: it is not installed\n", done.stdout)


def check_written(check, cases):
    """Our files, as the vendor's parsers see them."""
    place = check.places[NVTIFF] / "nvidia/nvtiff"
    done = check.compile(None, [place / "include"], ["nvtiffTagDataType=nvtiffTagDataType_t"], nvtiff.declarations())
    check.tap.check("nvTIFF: declared as the vendor does", done.returncode == 0, done.stderr)
    _, package, _, library, _ = LIBRARIES["nvJPEG2000"]

    def asks(path):
        return lambda words: parse_answers(run([check.programs / "nvidia_answers", "nvjpeg2k", path, *words]).stdout)

    parsers = {"nvJPEG2000": asks(check.places[package] / library),
               "the fake of nvJPEG2000": asks(check.programs / "libnvjpeg2k_fake.so")}
    with tempfile.TemporaryDirectory() as folder:
        written.check_all(check.tap, check.programs.parent / "terrazzo", place / "lib/libnvtiff.so.0", parsers,
                          pathlib.Path(folder), cases)


def main():
    tap = Tap()
    if platform.machine() != "x86_64":
        tap.skip("all", f"the packages of wheels.txt are not for {platform.machine()}")
        return tap.finish()
    build = pathlib.Path(os.environ.get("TERRAZZO_BUILD_ROOT", ROOT / "build"))
    releases = NVCOMP if os.environ.get("TERRAZZO_LONG") else ["6.0"]
    check = Check(tap, pathlib.Path(sys.argv[1]).resolve(), build / "nvidia", releases)
    for release in releases:
        check_nvcomp(check, release)
    check_search(check)
    for name in LIBRARIES:
        check_library(check, name)
    check_written(check, written.whole() if os.environ.get("TERRAZZO_LONG") else written.sample())
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
