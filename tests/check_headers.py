#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles each public header alone, and each source with a bare compiler line."""

import pathlib
import subprocess
import sys

from tap import Tap

ROOT = pathlib.Path(__file__).resolve().parent.parent
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
LANGUAGES = [("C11", ["gcc", "-std=c11", "-x", "c"]), ("C11, clang", ["clang", "-std=c11", "-x", "c"]),
             ("C++17", ["g++", "-std=c++17", "-x", "c++"])]


def compile_text(command, text):
    done = subprocess.run(command + ["-fsyntax-only", "-Iinclude", "-"], input=text, cwd=ROOT,
                          capture_output=True, text=True)
    return done.returncode == 0, done.stderr


def check_header(tap, header):
    name = header.relative_to(ROOT / "include")
    for language, command in LANGUAGES:
        text = f"#include <{name}>\n#include <{name}>\nint main(void);\n"
        passed, output = compile_text(command + STRICT, text)
        tap.check(f"{name} alone as {language}", passed, output)


# Sources for libraries that only a bundled build has.
BUNDLED_ONLY = {"inflate_isal.c"}


def check_bare(tap):
    sources = [str(path) for path in sorted((ROOT / "src").rglob("*.c")) if path.name not in BUNDLED_ONLY]
    done = subprocess.run(["cc", "-Iinclude", "-Isrc", '-DTZ_VERSION_STRING="0"',
                           '-DTZ_KERNEL_IMAGE_ABOUT=""', "-DTZ_KERNEL_IMAGE_CUDA=0", "-fsyntax-only", *sources],
                          cwd=ROOT, capture_output=True, text=True)
    tap.check("every source compiles with a bare compiler line", done.returncode == 0, done.stderr)


def main():
    tap = Tap()
    headers = sorted((ROOT / "include").rglob("*.h"))
    tap.check("there are public headers", len(headers) > 0)
    for header in headers:
        check_header(tap, header)
    check_bare(tap)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
