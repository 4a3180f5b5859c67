#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs terrazzo as clang compiles it, static and shared, and builds examples/consumer against each. All other
suites have gcc's library: so both compilers are seen to take every source without a warning."""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from check_abi import check_library, exported_symbols
from run import generator
from tap import Tap

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD_ROOT = pathlib.Path(os.environ.get("TERRAZZO_BUILD_ROOT", ROOT / "build"))
VERSION = (ROOT / "VERSION").read_text().strip()
CONSUMER = ROOT / "examples" / "consumer"
HEADERS = sorted((ROOT / "include").rglob("*.h"))
JOBS = str(os.cpu_count() or 1)


class Stop(Exception):
    """A step failed, and the steps after it make no sense."""


def run(tap, name, *commands, env=None):
    """One result for a chain of commands; returns the last one's stdout."""
    out = ""
    for command in commands:
        done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True,
                              text=True, env={**os.environ, **(env or {})})
        out = done.stdout
        if done.returncode != 0:
            words = " ".join(str(word) for word in command)
            tap.check(name, False, f"{words}\n{done.stderr or done.stdout}")
            raise Stop
    tap.check(name, True)
    return out


def check_files(tap, kind, prefix, libdir):
    library = libdir / ("libterrazzo.so" if kind == "shared" else "libterrazzo.a")
    headers = [prefix / path.relative_to(ROOT) for path in HEADERS]
    expected = [library, *headers, prefix / "bin/terrazzo",
                prefix / "share/man/man1/terrazzo.1", libdir / "pkgconfig/terrazzo.pc",
                libdir / "cmake/terrazzo/terrazzoConfig.cmake"]
    missing = [str(path) for path in expected if not path.exists()]
    tap.check(f"{kind}: all files are installed", not missing, "\n".join(missing))
    return library


def check_exports(tap, library):
    """The shared library exports what the headers declare, all of it and nothing else."""
    header = "".join(path.read_text() for path in HEADERS)
    header = re.sub(r"/\*.*?\*/|^#.*?$", "", header, flags=re.DOTALL | re.MULTILINE)
    declared = set(re.findall(r"TZ_API\b[^;]*?\b(tz_\w+)\(", header))
    exported = exported_symbols(library)
    tap.check("shared: exports are the functions of the headers", exported == declared,
              f"exported, not declared: {sorted(exported - declared)}\n"
              f"declared, not exported: {sorted(declared - exported)}")


def check_version(tap, kind, out):
    tap.check(f"{kind}: the version is that of the VERSION file",
              out.strip() == f"terrazzo {VERSION}", out)


def check_kind(tap, kind, temporary):
    build = BUILD_ROOT / "install"  # one for both, which have the same objects
    prefix = temporary / kind
    shared = "ON" if kind == "shared" else "OFF"
    run(tap, f"{kind}: builds and installs",
        ["cmake", "--preset", "clang", "-B", build, *generator(build), f"-DBUILD_SHARED_LIBS={shared}",
         f"-DCMAKE_INSTALL_PREFIX={prefix}", "-DTERRAZZO_TESTS=OFF"],
        ["cmake", "--build", build, "-j", JOBS], ["cmake", "--install", build])
    libdir = next(prefix.glob("lib*/**/pkgconfig")).parent
    library = check_files(tap, kind, prefix, libdir)
    if kind == "shared":
        check_exports(tap, library)
        check_library(tap, library)
    out = run(tap, f"{kind}: the installed command runs", [prefix / "bin/terrazzo", "--version"])
    check_version(tap, f"{kind}, command", out.splitlines()[0])

    consumer = temporary / f"consumer-{kind}"
    out = run(tap, f"{kind}: a consumer by find_package",
              ["cmake", "-S", CONSUMER, "-B", consumer, f"-DCMAKE_PREFIX_PATH={prefix}"],
              ["cmake", "--build", consumer], [consumer / "consumer"])
    check_version(tap, f"{kind}, find_package", out)

    env = {"PKG_CONFIG_PATH": str(libdir / "pkgconfig"), "LD_LIBRARY_PATH": str(libdir)}
    flags = run(tap, f"{kind}: pkg-config knows terrazzo",
                ["pkg-config", "--cflags", "--libs", "terrazzo"], env=env)
    program = temporary / f"consumer-pc-{kind}"
    out = run(tap, f"{kind}: a consumer by pkg-config",
              ["cc", CONSUMER / "main.c", "-o", program, *shlex.split(flags)], [program], env=env)
    check_version(tap, f"{kind}, pkg-config", out)


def main():
    tap = Tap()
    for kind in ("static", "shared"):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check_kind(tap, kind, pathlib.Path(folder))
            except Stop:
                pass
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
