#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles each public header alone, with all its initialisers, and each source with a bare compiler line."""

import pathlib
import re
import subprocess
import sys

from tap import Tap

ROOT = pathlib.Path(__file__).resolve().parent.parent
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
LANGUAGES = [("C11", ["gcc", "-std=c11", "-x", "c"]), ("C11, clang", ["clang", "-std=c11", "-x", "c"]),
             ("C++17", ["g++", "-std=c++17", "-x", "c++"]), ("C++17, clang", ["clang++", "-std=c++17", "-x", "c++"])]


def compile_text(command, text):
    done = subprocess.run(command + ["-fsyntax-only", "-Iinclude", "-"], input=text, cwd=ROOT,
                          capture_output=True, text=True)
    return done.returncode == 0, done.stderr


def use_initialisers(header):
    """Returns functions that initialise each struct by its macro, as a variable and as a constant."""
    macros = re.findall(r"^#define (TZ_\w+_INIT)\s+TZ_INIT\((\w+)\)", header.read_text(), re.MULTILINE)
    return len(macros), "".join(f"""size_t use_{kind}(void);
size_t use_{kind}(void)
{{
    {kind} first = {macro};
    const {kind} second = {macro};
    {kind}_init(&first, sizeof first);
    return first.struct_size - second.struct_size;
}}
""" for macro, kind in macros)


def check_header(tap, header):
    name = header.relative_to(ROOT / "include")
    count, uses = use_initialisers(header)
    tap.check(f"{name} has initialisers", count > 0)
    for language, command in LANGUAGES:
        text = f"#include <{name}>\n#include <{name}>\nint main(void);\n{uses}"
        passed, output = compile_text(command + STRICT, text)
        tap.check(f"{name} alone as {language}, with {count} initialisers", passed, output)


def read_optional_sources():
    """Returns {library: (pkg-config's name, its sources)} of terrazzo_codecs."""
    rows = re.findall(r"^    ([A-Z0-9]+)=(\w+)=([\w,]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    return {library: (package, [f"codec/{name}.c" for name in names.split(",")]) for library, package, names in rows}


def check_syntax(tap, name, sources, flags):
    done = subprocess.run(["cc", "-Iinclude", "-Isrc", '-DTZ_VERSION_STRING="0"', '-DTZ_KERNEL_IMAGE_ABOUT=""',
                           "-DTZ_KERNEL_IMAGE_CUDA=0", *flags, "-fsyntax-only", *sources],
                          cwd=ROOT, capture_output=True, text=True)
    tap.check(name, done.returncode == 0, done.stderr)


def check_bare(tap):
    optional = read_optional_sources()
    apart = {source for _, sources in optional.values() for source in sources}
    sources = [str(path) for path in sorted((ROOT / "src").rglob("*.c"))
               if str(path.relative_to(ROOT / "src")) not in apart]
    tap.check("the build names sources that need a library", len(apart) >= 10, apart)
    check_syntax(tap, "every source compiles with a bare compiler line", sources, [])
    for library, (package, sources) in sorted(optional.items()):
        flags = subprocess.run(["pkg-config", "--cflags", package or ""], capture_output=True, text=True)
        if flags.returncode == 0:  # ISA-L is there in bundled builds only
            check_syntax(tap, f"sources of {library} compile with its flags alone",
                         [f"src/{source}" for source in sources], [f"-DTZ_HAVE_{library}", *flags.stdout.split()])


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
