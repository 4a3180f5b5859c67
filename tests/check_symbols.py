#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the include test cannot see: that no object file links to a higher layer, and that one
name stands for one thing in the whole tree.

    check_symbols.py BUILD/tests

Links are read by nm from the objects of the library in BUILD. Names are read from the sources:
functions that start with tz_ (non-static ones, and inline ones of headers), and types. What breaks a
rule on purpose stands in tests/symbols-allowed.txt. A line there that is no longer needed fails, too:
the list only shrinks.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

from check_layers import LEVELS
from tap import Tap

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALLOWED = ROOT / "tests" / "symbols-allowed.txt"

DEFINED = set("TDBRCGSVW")  # types of global symbols in nm's output
FUNCTION = re.compile(r"^(?!static(?! inline)|typedef|extern|#)[A-Za-z_][\w \t*]*?[ *](tz_\w+)\([^;{}]*\)\s*\{", re.M)
TYPE = re.compile(r"^(?:typedef )?(?:struct|enum|union) (tz_\w+) \{|^\} (tz_\w+);", re.M)


def read_objects(build):
    """Returns {folder of src: (defined, undefined)} with {symbol: object} each."""
    folders = {}
    for path in sorted(build.rglob("terrazzo_objects.dir/**/*.o")):
        parts = path.parts[path.parts.index("terrazzo_objects.dir") + 1:]
        source = pathlib.Path(*parts[parts.index("src") + 1 if "src" in parts else 0:]).with_suffix("")
        folder = source.parts[0]
        if folder not in LEVELS or not (ROOT / "src" / source).is_file():  # made by the build, or of a file that is gone
            continue
        defined, undefined = folders.setdefault(folder, ({}, {}))
        for line in subprocess.run(["nm", "-P", "-g", str(path)], capture_output=True, text=True,
                                   check=True).stdout.splitlines():
            name, kind = line.split()[:2]
            (defined if kind in DEFINED else undefined)[name] = path.name
    return folders


def find_upward_links(folders):
    """Returns a line for each symbol that a folder takes from a higher layer or from a sibling."""
    home = {name: folder for folder, (defined, _) in folders.items() for name in defined}
    return {f"link {folder} {home[name]} {name}" for folder, (_, undefined) in folders.items()
            for name in undefined if name in home and home[name] != folder
            and LEVELS[home[name]] >= LEVELS[folder]}


def find_repeated_names(sources):
    """Returns a line for each function or type that more than one of {path: text} defines."""
    places = collections.defaultdict(set)
    for path, text in sources.items():
        for match in FUNCTION.finditer(text):
            places[f"function {match.group(1)}"].add(path)
        for match in TYPE.finditer(text):
            places[f"type {match.group(1) or match.group(2)}"].add(path)
    return {name: paths for name, paths in places.items() if len(paths) > 1}


def read_sources(root):
    return {str(path.relative_to(root)): path.read_text(errors="replace") for folder in ("src", "cli", "include")
            for path in sorted((root / folder).rglob("*.[ch]"))}


def self_test(tap):
    folders = {"base": ({"tz_a": "a.o"}, {"tz_read": "a.o"}), "codec": ({"tz_c": "c.o"}, {"tz_a": "c.o", "tz_i": "c.o"}),
               "io": ({"tz_i": "i.o"}, {"malloc": "i.o"}), "read": ({"tz_read": "r.o"}, {"tz_c": "r.o"})}
    found = find_upward_links(folders)
    tap.check("self-test: finds links upward and to siblings",
              found == {"link base read tz_read", "link codec io tz_i"}, found)
    repeated = find_repeated_names({
        "a.c": "int tz_a(void)\n{\n}\nstatic int tz_b(void)\n{\n}\ntypedef struct tz_t {\n    int x;\n} tz_t;\n",
        "b.h": "static inline int tz_a(\n    int x)\n{\n}\nint tz_c(void);\n} tz_u;\n",
        "c.c": "int tz_c(void)\n{\n}\nint tz_b(void)\n{\n    return tz_a();\n}\nenum tz_t {\n",
    })
    tap.check("self-test: finds names that are defined twice", set(repeated) == {"function tz_a", "type tz_t"}, repeated)
    with tempfile.TemporaryDirectory() as folder:
        tap.check("self-test: a build without objects is noticed", not read_objects(pathlib.Path(folder)))


def main(words):
    tap = Tap()
    self_test(tap)
    build = pathlib.Path(words[0]).parent
    folders = read_objects(build)
    wanted = {folder for folder in LEVELS if list((ROOT / "src" / folder).rglob("*.c"))}
    tap.check("the build has objects of every layer", folders.keys() == wanted, sorted(folders))
    repeated = find_repeated_names(read_sources(ROOT))
    found = find_upward_links(folders) | set(repeated)
    allowed = {line.split("#")[0].strip() for line in ALLOWED.read_text().splitlines()} - {""}
    tap.check("links go down the layers, and names are unique", not found - allowed,
              "\n".join(f"{line} {sorted(repeated.get(line, ''))}" for line in sorted(found - allowed)))
    tap.check("tests/symbols-allowed.txt has no line that is not needed any more", not allowed - found,
              "\n".join(sorted(allowed - found)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
