#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the binary interface of the public headers, for tests/check_abi.py and the programs of tests/abi.

    tools/freeze_abi.py [--symbols] [--layout] [--frozen]

Without an option it writes all three files:

    tests/abi/symbols.txt     the functions that the shared library exports
    tests/abi/layout.txt      sizes and members of all structs, values of enumerations and macros
    tests/abi/frozen_X_Y.h    the headers of this release in one file, without comments: what a program was
                              compiled with that meets later libraries

A new function needs --symbols. Members that are appended need nothing. --layout and --frozen start from the
headers as they are: they are for a release with another SONAME. What breaks older programs is printed.
"""

import argparse
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = [ROOT / "include/terrazzo/terrazzo.h", ROOT / "include/terrazzo/dlpack.h"]  # in the order of inclusion
MAJOR, MINOR = (ROOT / "VERSION").read_text().strip().split(".")[:2]
ABI = ROOT / "tests" / "abi"
SYMBOLS = ABI / "symbols.txt"
LAYOUT = ABI / "layout.txt"
FROZEN = ABI / f"frozen_{MAJOR}_{MINOR}.h"
SONAME = f"libterrazzo.so.{MAJOR}.{MINOR}"

NOT_VALUES = re.compile(r"TZ_(VERSION_\w+|API|NODISCARD|INIT|\w+_INIT)$")  # macros that are not numbers


# A struct of the headers. kind: "sized" begins with struct_size; "fixed" says so in its comment and never
# changes; of all others, programs see pointers, or the headers have not said yet.
@dataclasses.dataclass
class Struct:
    name: str
    kind: str
    members: list


@dataclasses.dataclass
class Interface:
    structs: list = dataclasses.field(default_factory=list)
    enums: dict = dataclasses.field(default_factory=dict)  # names of values by that of the type
    macros: list = dataclasses.field(default_factory=list)
    functions: dict = dataclasses.field(default_factory=dict)  # parameters by name
    inits: dict = dataclasses.field(default_factory=dict)  # struct by its TZ_X_INIT


# Reading headers ----------------------------------------------------------------------------------


def strip_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)


def read_headers():
    return "".join(path.read_text() for path in HEADERS)


def parse_members(body):
    """Returns the names of the members of a struct, without those of structs and unions within it."""
    while "{" in body:
        body = re.sub(r"\{[^{}]*\}", "", body)
    names = []
    for declaration in body.split(";"):
        pointer = re.search(r"\(\*(\w+)\)\s*\(", declaration)  # to a function
        if pointer:
            names.append(pointer[1])
        elif declaration.strip():
            names += [re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", one)[1] for one in declaration.split(",")]
    return names


def parse(text):
    """Returns the Interface that a header declares."""
    interface = Interface()
    comments = [match[::-1] for match in re.findall(r"/\*((?:(?!\*/).)*)\*/\s*typedef struct (\w+)\b", text, re.DOTALL)]
    comments += re.findall(r"typedef struct (\w+) \{ */\*(.*?)\*/", text, re.DOTALL)
    fixed = {name for name, comment in comments
             if re.search(r"\bfixed layout\b", " ".join(comment.replace("*", " ").split()), re.IGNORECASE)}
    code = strip_comments(text)
    for match in re.finditer(r"^(?:typedef )?struct (\w+) \{(.*?)^\}", code, re.DOTALL | re.MULTILINE):
        members = parse_members(match[2])
        kind = "sized" if members[0] == "struct_size" else "fixed" if match[1] in fixed else "other"
        interface.structs.append(Struct(match[1], kind, members))
    for match in re.finditer(r"typedef enum (\w+) \{(.*?)\}", code, re.DOTALL):
        interface.enums[match[1]] = re.findall(r"\b(TZ_\w+)\s*(?:=|,|$)", match[2].strip(), re.MULTILINE)
    for match in re.finditer(r"^#define (TZ_\w+)[ \t]+(?:\\\n)?[ \t]*(\S.*)$", code, re.MULTILINE):
        if not NOT_VALUES.match(match[1]) and not re.search(r'["{]', match[2]):
            interface.macros.append(match[1])
        init = re.match(r"TZ_INIT\((\w+)\)", match[2])
        if init:
            interface.inits[match[1]] = init[1]
    without_macros = re.sub(r"^#.*?[^\\]$", "", code, flags=re.DOTALL | re.MULTILINE)
    for match in re.finditer(r"\bTZ_API\b[^;(]*?\b(tz_\w+)\(([^;]*)\);", without_macros):
        interface.functions[match[1]] = " ".join(match[2].split())
    return interface


# Making the files ---------------------------------------------------------------------------------


def make_symbols(interface):
    return "".join(f"{name}\n" for name in sorted(interface.functions))


def make_frozen(text):
    """The headers as one, without comments and guards."""
    text = re.sub(r"^#include <terrazzo/.*\n", "", strip_comments(text), flags=re.MULTILINE)
    text = re.sub(r"^#ifndef TERRAZZO_\w*H\n#define TERRAZZO_\w*H\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^#ifdef __cplusplus\n\}\n#endif\n+#endif\n", "#ifdef __cplusplus\n}\n#endif\n", text,
                  flags=re.MULTILINE)
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\n{2,}", "\n", text).strip()
    return ("/* SPDX-License-Identifier: Apache-2.0\n"
            f" * The public headers of terrazzo {MAJOR}.{MINOR}, made by tools/freeze_abi.py: not to be edited. */\n"
            "/* clang-format off */\n"
            f"#ifndef TESTS_ABI_FROZEN_{MAJOR}_{MINOR}_H\n#define TESTS_ABI_FROZEN_{MAJOR}_{MINOR}_H\n"
            f"{text}\n#endif\n")


def make_layout(interface):
    """Compiles and runs a program that prints the layout."""
    lines = []
    for struct in interface.structs:
        lines.append(f'    printf("struct {struct.name} {struct.kind} %zu\\n", sizeof(struct {struct.name}));')
        for member in struct.members:
            lines.append(f'    printf("    {member} %zu %zu\\n", offsetof(struct {struct.name}, {member}), '
                         f'sizeof(((struct {struct.name} *)0)->{member}));')
    for enum, values in interface.enums.items():
        lines.append(f'    printf("enum {enum} %zu\\n", sizeof({enum}));')
        lines += [f'    printf("    {value} %lld\\n", (long long){value});' for value in values]
    lines += [f'    printf("macro {name} %lld\\n", (long long)({name}));' for name in interface.macros]
    includes = "".join(f"#include <{path.relative_to(ROOT / 'include')}>\n" for path in HEADERS)
    program = f"#include <stdio.h>\n{includes}int main(void)\n{{\n" + "\n".join(lines) + "\n    return 0;\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "layout"
        subprocess.run(["cc", f"-I{ROOT / 'include'}", "-x", "c", "-", "-o", path], input=program, text=True,
                       check=True)
        return subprocess.run([path], capture_output=True, text=True, check=True).stdout


# Comparing layouts --------------------------------------------------------------------------------


def parse_layout(text):
    """Returns {"struct NAME": (words, {member: words})}, and the same of enumerations and macros."""
    found, members = {}, None
    for line in text.splitlines():
        words = line.split()
        if line.startswith(" "):
            members[words[0]] = words[1:]
        else:
            members = {}
            found[" ".join(words[:2])] = (words[2:], members)
    return found


def compare_struct(name, was, now):
    (kind, size), members = was
    (kind_now, size_now), members_now = now
    problems = [f"{name}.{member} was at byte {' with size '.join(words)}, and is "
                + (f"at {' with size '.join(members_now[member])}" if member in members_now else "gone")
                for member, words in members.items() if members_now.get(member) != words]
    if kind != "other" and kind != kind_now:
        problems.append(f"{name} was {kind}, and is {kind_now}")
    if kind == "fixed" and size != size_now:
        problems.append(f"{name} is fixed, and its size was {size} and is {size_now}")
    end = int(size) if kind == "sized" else max((int(at) for at, _ in members.values()), default=0)
    problems += [f"{name}.{member} is new, and lies within the {size} bytes that older programs have"
                 for member, (at, _) in members_now.items() if member not in members and int(at) < end]
    return problems


def compare_layouts(was, now):
    """Returns what would break a program that was compiled with `was`. Appended members, values and structs
    do not, unless a member lies in what was padding: an older program may have anything there."""
    was, now = parse_layout(was), parse_layout(now)
    problems = []
    for name, old in was.items():
        if name not in now:
            problems.append(f"{name} is gone")
        elif name.startswith("struct"):
            problems += compare_struct(name.split()[1], old, now[name])
        else:
            new = now[name]
            values = {**{name: old[0]}, **old[1]}
            values_now = {**{name: new[0]}, **new[1]}
            problems += [f"{value} was {words[0]}, and is {values_now.get(value, ['gone'])[0]}"
                         for value, words in values.items() if values_now.get(value) != words]
    return problems


def main():
    parser = argparse.ArgumentParser(description="Records the binary interface of the public headers.")
    for name in ("symbols", "layout", "frozen"):
        parser.add_argument(f"--{name}", action="store_true")
    arguments = vars(parser.parse_args())
    text = read_headers()
    interface = parse(text)
    files = {"symbols": (SYMBOLS, make_symbols(interface)), "layout": (LAYOUT, make_layout(interface)),
             "frozen": (FROZEN, make_frozen(text))}
    if LAYOUT.exists():
        for problem in compare_layouts(LAYOUT.read_text(), files["layout"][1]):
            print(f"breaks older programs: {problem}")
    for name, (path, content) in files.items():
        if arguments[name] or not any(arguments.values()):
            path.write_text(content)
            print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
