#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes go down the layers of doc/design.md only, that file names are unique, and
that no source or test is forgotten by the build."""

import collections
import pathlib
import re
import sys
import tempfile

from tap import Tap

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Low to high. A folder includes its own headers and those of the layers below its own; the
# folders of one layer do not know each other.
LAYERS = [["base"], ["kernels"], ["pixel", "codec", "io"], ["device", "tiff", "image"], ["read", "write"],
          ["validate"]]
LEVELS = {folder: level for level, folders in enumerate(LAYERS) for folder in folders}
PUBLIC = ["terrazzo/terrazzo.h", "terrazzo/dlpack.h"]
USERS = ["cli", "python"]  # these see the public headers and their own headers

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)
SUFFIXES = {".c", ".h", ".cl", ".cu", ".inc"}


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)


def includes(path):
    return INCLUDE.findall(path.read_text(errors="replace"))


def check_src_include(path, src, quote, name):
    """What is wrong with one include of a file of src/, or None."""
    folder = path.relative_to(src).parts[0]
    first = name.split("/")[0]
    if name in PUBLIC:
        return None
    if ".." in name.split("/"):
        return "includes are written from src/, without .."
    if "/" in name and first in LEVELS:
        if first != folder and LEVELS[first] >= LEVELS[folder]:
            return f"{folder} may not include {first}"
        return None if (src / name).is_file() else "no such file"
    if quote == "<":
        return None
    if (path.parent / name).is_file():
        return None
    return "is neither in this folder nor written as folder/name.h"


def check_user_include(path, root, quote, name):
    """What is wrong with one include of a file of cli/ or python/, or None."""
    if name in PUBLIC:
        return None
    if quote == '"' and (path.parent / name).is_file() and ".." not in name:
        return None
    if quote == "<" and not (root / "src" / name).is_file():
        return None
    return f"only <{PUBLIC[0]}>, <{PUBLIC[1]}> and headers of its own folder"


def check_src(root):
    src = root / "src"
    problems = []
    for path in sources(src):
        parts = path.relative_to(src).parts
        if len(parts) < 2 or parts[0] not in LEVELS:
            problems.append(f"{path.relative_to(root)}: is in no layer")
            continue
        for quote, name in includes(path):
            problem = check_src_include(path, src, quote, name)
            if problem:
                problems.append(f"{path.relative_to(root)}: {name}: {problem}")
    return problems


def check_users(root):
    problems = []
    for path in (path for user in USERS for path in sources(root / user)):
        for quote, name in includes(path):
            problem = check_user_include(path, root, quote, name)
            if problem:
                problems.append(f"{path.relative_to(root)}: {name}: {problem}")
    return problems


def check_unique(root):
    places = collections.defaultdict(list)
    for path in sources(root / "src"):
        places[path.name].append(str(path.relative_to(root)))
    return [f"{name}: {', '.join(paths)}" for name, paths in places.items() if len(paths) > 1]


def check_listed(root):
    """Sources that neither the CMakeLists.txt of their folder nor terrazzo_codecs names, tests and fuzz targets that
    are not rows of tests/programs.txt, and rows that are not in order."""
    rows = [line.split("|")[0].strip() for line in (root / "tests/programs.txt").read_text().splitlines()
            if line.strip() and not line.startswith("#")]
    wanted = [(path, f"{path.parent.relative_to(root / 'tests')}/{path.stem[5:]}")
              for path in (root / "tests").glob("*/**/test_*.c") if path.stem != "test_device"]
    wanted += [(path, f"fuzz/{path.stem[5:]}") for path in (root / "fuzz").glob("fuzz_*.c")]
    problems = [str(path.relative_to(root)) for path, row in wanted if row not in rows]
    top = root / "CMakeLists.txt"
    groups = re.findall(r"^    \w+=\w+=([\w,]+)", top.read_text() if top.is_file() else "", re.MULTILINE)
    codecs = {f"codec/{name}.c" for group in groups for name in group.split(",")}
    for folder in ("src", "cli"):
        listed = re.findall(r"^[^#\n]*", (root / folder / "CMakeLists.txt").read_text(), re.MULTILINE)
        listed = {name for line in listed for name in re.findall(r"[\w/]+\.c\b", line)} | codecs
        problems += [str(path.relative_to(root)) for path in (root / folder).rglob("*.c")
                     if str(path.relative_to(root / folder)) not in listed]
    programs = [row for row in rows if not row.startswith("fuzz/")]
    problems += ["tests/programs.txt is not in order"] * (programs != sorted(programs))
    return problems


def check_tour(root):
    """Rows of doc/tour.md whose file does not exist or does not have the function: make tour prints it again."""
    path = root / "doc" / "tour.md"
    rows = re.findall(r"^\| \d+ \| `([^`]+)` \| `([^`]+)` \|", path.read_text(), re.MULTILINE) if path.is_file() else []
    problems = []
    for file, function in rows:
        text = (root / file).read_text(errors="replace") if (root / file).is_file() else ""
        pasted = [word for word in re.findall(r"\b(\w+)##", text) if function.startswith(word)]  # made by a macro
        pasted += [word for word in re.findall(r"##(\w+)", text) if function.endswith(word)
                   and re.search(rf"\b{function.removesuffix(word)}\b", text)]
        if not re.search(rf"\b{function}\b", text) and not pasted:
            problems.append(f"doc/tour.md: {file}: {function}")
    return problems


# The check checks itself: each tree below breaks one rule, or none.
GOOD = {
    "src/base/mem.h": "#include <stddef.h>\n",
    "src/base/mem.c": '#include "mem.h"\n#include "base/mem.h"\n#include <stdio.h>\n',
    "src/io/source.h": '#include "base/mem.h"\n',
    "src/codec/lzw.h": '#include "base/mem.h"\n',
    "src/tiff/ifd.h": '#include "io/source.h"\n',
    "src/read/plan.h": '#include "tiff/ifd.h"\n#include "terrazzo/terrazzo.h"\n',
    "src/write/tile_row.h": '#include "tiff/ifd.h"\n',
    "cli/main.c": '#include <terrazzo/terrazzo.h>\n#include "options.h"\n#include <stdio.h>\n',
    "cli/options.h": "\n",
    "tests/unit/base/test_a.c": "\n",
    "src/CMakeLists.txt": "target_sources(a PRIVATE\n    base/mem.c)\n",
    "cli/CMakeLists.txt": "target_sources(b PRIVATE\n    main.c)\n",
    "tests/programs.txt": "# program | needs\nunit/base/a  |\nunit/base/ab |\n",
}
BAD = [
    ("a higher layer", check_src, {"src/base/bad.c": '#include "io/source.h"\n'}),
    ("a higher layer, odd spaces", check_src, {"src/io/bad.c": ' # include\t"tiff/ifd.h"\n'}),
    ("a sibling", check_src, {"src/io/bad.c": '#include "codec/lzw.h"\n'}),
    ("read from write", check_src, {"src/write/bad.c": '#include "read/plan.h"\n'}),
    ("a path with ..", check_src, {"src/base/bad.c": '#include "../io/source.h"\n'}),
    ("a bare name of another folder", check_src, {"src/io/bad.c": '#include "ifd.h"\n'}),
    ("a bracketed higher layer", check_src, {"src/base/bad.c": "#include <io/source.h>\n"}),
    ("a folder without a layer", check_src, {"src/misc/bad.c": "\n"}),
    ("cli and an internal header", check_users, {"cli/bad.c": '#include "base/mem.h"\n'}),
    ("cli around the corner", check_users, {"cli/bad.c": '#include "../src/base/mem.h"\n'}),
    ("the same file name twice", check_unique, {"src/io/mem.c": "\n"}),
    ("a source that is not built", check_listed, {"src/io/spans.c": "\n"}),
    ("a test that is not run", check_listed, {"tests/unit/base/test_b.c": "\n"}),
    ("a tour of a function that is gone", check_tour, {"doc/tour.md": "| 1 | `src/base/mem.c` | `tz_gone` | |\n"}),
    ("a tour of a function that no macro makes", check_tour,
     {"doc/tour.md": "| 1 | `src/base/mem.c` | `tz_gone_init` | |\n", "src/base/mem.c": "type##_init(\nOF(tz_here)\n"}),
    ("a fuzz target that is not built", check_listed, {"fuzz/fuzz_a.c": "\n"}),
    ("tests that are not in order", check_listed, {"tests/programs.txt": "unit/base/ab |\nunit/base/a |\n"}),
]


def write_tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def self_test(tap):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        write_tree(root, GOOD)
        problems = [problem for check in (check_src, check_users, check_unique, check_listed)
                    for problem in check(root)]
        tap.check("self-test: a good tree has no problems", not problems, "\n".join(problems))
    for name, check, files in BAD:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            write_tree(root, GOOD | files)
            problems = check(root)
            tap.check(f"self-test: finds {name}", len(problems) == 1, f"found: {problems}")


def main():
    tap = Tap()
    self_test(tap)
    for name, check in (("src/ includes only lower layers", check_src),
                        ("cli/ and python/ include only the public header", check_users),
                        ("file names are unique in src/", check_unique),
                        ("every source and test is built", check_listed),
                        ("doc/tour.md names files and functions that exist", check_tour)):
        problems = check(ROOT)
        tap.check(name, not problems, "\n".join(problems))
    tap.check("src/ has sources", len(sources(ROOT / "src")) > 0, "nothing was checked")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
