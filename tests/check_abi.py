#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the binary interface against what is recorded in tests/abi.

    check_abi.py BUILD/tests

The shared library there exports the functions of symbols.txt and has the SONAME of its version. Structs,
enumerations and macros of the headers are laid out as layout.txt says; members may be appended. Structs that
begin with their size have all that comes with that. `tools/freeze_abi.py` writes the records.
"""

import pathlib
import re
import struct
import subprocess
import sys
import tempfile

from tap import Tap

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import freeze_abi  # noqa: E402

EXAMPLE = freeze_abi.ABI / "ctypes_example.py"
LARGER = freeze_abi.ABI / "test_larger.c"
MAX_EXAMPLE_LINES = 80

# Enumerations whose values have another prefix than the name of the type.
OTHER_PREFIXES = {"tz_result": ("TZ_OK", "TZ_ERR_")}


def exported_symbols(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def soname(library):
    out = subprocess.run(["readelf", "-d", str(library)], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\(SONAME\).*\[(.*)\]", out)
    return found[1] if found else None


def check_library(tap, library):
    """Also called by check_install.py, for the library that is installed."""
    recorded = set(freeze_abi.SYMBOLS.read_text().split())
    exported = exported_symbols(library)
    tap.check("the library exports the functions of tests/abi/symbols.txt", exported == recorded,
              f"new: {sorted(exported - recorded)}\ngone: {sorted(recorded - exported)}\n"
              "tools/freeze_abi.py --symbols records them; a function that is gone needs another SONAME")
    tap.check(f"the SONAME is {freeze_abi.SONAME}", soname(library) == freeze_abi.SONAME, soname(library))


def check_layout(tap, interface):
    problems = freeze_abi.compare_layouts(freeze_abi.LAYOUT.read_text(), freeze_abi.make_layout(interface))
    tap.check("programs that were compiled before find structs and values as they were", not problems,
              "\n".join([*problems, "before a release with another SONAME, tools/freeze_abi.py records the headers"]))


def find_incomplete(interface, larger):
    """Returns what sized structs lack: a macro, a function that takes the caller's size, a row in test_larger.c."""
    problems = []
    for name in [each.name for each in interface.structs if each.kind == "sized"]:
        if interface.inits.get(f"{name.upper()}_INIT") != name:
            problems.append(f"{name} has no {name.upper()}_INIT")
        parameters = interface.functions.get(f"{name}_init", "")
        if not re.fullmatch(rf"{name} \*\w+, size_t size", parameters):
            problems.append(f"there is no {name}_init({name} *, size_t size), but ({parameters}): without the caller's "
                            "size, a newer library writes past the struct of an older program")
        if not re.search(rf"\b(?:ROW|OPTIONAL|ARRAY|OUT|OUT_ARRAY)\({name},", larger):
            problems.append(f"{name} has no row in tests/abi/test_larger.c")
    return problems


def find_wrong_prefixes(interface):
    """Returns values of enumerations that do not begin with the name of their type."""
    return [f"{value} of {enum}" for enum, values in interface.enums.items() for value in values
            if not value.startswith(OTHER_PREFIXES.get(enum, (f"{enum.upper()}_",)))]


def make_tiff():
    """A TIFF of 4 x 4 pixels, from 0 to 15."""
    tags = [(256, 4), (257, 4), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, 4), (279, 16)]
    entries = b"".join(struct.pack("<HHII", tag, 3, 1, value) for tag, value in tags)
    return b"II*\0" + struct.pack("<I", 24) + bytes(range(16)) + struct.pack("<H", len(tags)) + entries + bytes(4)


def check_example(tap, library):
    lines = EXAMPLE.read_text().count("\n")
    tap.check(f"ctypes_example.py has fewer than {MAX_EXAMPLE_LINES} lines", lines < MAX_EXAMPLE_LINES, lines)
    with tempfile.TemporaryDirectory() as folder:
        good, bad, cog, none = (pathlib.Path(folder) / name for name in ("good.tif", "bad.tif", "cog.tif", "no/x.tif"))
        good.write_bytes(make_tiff())
        bad.write_bytes(b"not a TIFF")

        def run(*paths):
            done = subprocess.run([sys.executable, EXAMPLE, library, *paths], capture_output=True, text=True)
            return done.returncode, done.stdout, done.stderr

        done = run(good, cog)
        tap.check("a binding by ctypes reads a window", done == (0, "2 x 2 of uint8: 0506090a\n", ""), done)
        tap.check("a binding by ctypes writes a COG", cog.exists() and b"LAYOUT=IFDS_BEFORE_DATA" in cog.read_bytes())
        done = run(cog, none)
        tap.check("a binding by ctypes reads its COG, and raises errors of writing", done[0] == 1
                  and done[1] == "1 x 1 of uint8: 05\n" and re.search(r"cog\.tif: IO: .", done[2]), done)
        done = run(bad, none)
        tap.check("a binding by ctypes raises errors of opening", done[:2] == (1, "")
                  and re.search(r"bad\.tif: NOT_TIFF: .", done[2]), done)


def self_test(tap):
    was = ("struct tz_a sized 16\n    struct_size 0 8\n    x 8 4\nstruct tz_b fixed 8\n    y 0 8\n"
           "struct tz_c other 8\n    p 0 4\nenum tz_e 4\n    TZ_E_A 0\nmacro TZ_M 1\n")
    compare = freeze_abi.compare_layouts

    def count(*changes):
        now = was
        for old, new in changes:
            assert old in now
            now = now.replace(old, new)
        return len(compare(was, now))

    tap.check("self-test: members, values and structs may be appended", [
        count(("sized 16", "sized 24"), ("x 8 4\n", "x 8 4\n    z 16 8\n")),
        count(("TZ_E_A 0\n", "TZ_E_A 0\n    TZ_E_B 1\n")),
        count(("macro", "struct tz_d other 4\n    q 0 4\nmacro")), count(("p 0 4\n", "p 0 4\n    q 4 4\n"))] == [0] * 4)
    tap.check("self-test: finds members that moved, are gone, grew or lie in padding", [
        count(("x 8 4", "x 12 4")), count(("    x 8 4\n", "")), count(("x 8 4", "x 8 8")),
        count(("x 8 4\n", "x 8 4\n    z 12 4\n"))] == [1] * 4)
    tap.check("self-test: finds fixed structs that grew, values that changed and what is gone", [
        count(("fixed 8", "fixed 16")), count(("fixed", "other")), count(("TZ_E_A 0", "TZ_E_A 1")),
        count(("macro TZ_M 1\n", "")), count(("TZ_M 1", "TZ_M 2"))] == [1] * 5)
    header = ("/* Fixed layout. */\ntypedef struct tz_f {\n    double a, b[2];\n    union {\n        int i;\n    } u;\n"
              "    void (*call)(void *user, int x);\n} tz_f;\ntypedef struct tz_s {\n    size_t struct_size;\n} tz_s;\n"
              "typedef struct tz_g { /* fixed\n * layout */\n    int g;\n} tz_g;\n"
              "#define TZ_S_INIT TZ_INIT(tz_s)\nTZ_API void tz_s_init(tz_s *s);\n"
              "typedef enum tz_e { TZ_E_A = 0, TZ_F = 1 } tz_e;\n#define TZ_M \\\n    (-1) /* x */\n")
    found = freeze_abi.parse(header)
    tap.check("self-test: reads structs, enumerations, macros and functions", [
        (each.name, each.kind, each.members) for each in found.structs] == [
        ("tz_f", "fixed", ["a", "b", "u", "call"]), ("tz_s", "sized", ["struct_size"]), ("tz_g", "fixed", ["g"])]
        and found.enums == {"tz_e": ["TZ_E_A", "TZ_F"]} and found.macros == ["TZ_M"]
        and found.functions == {"tz_s_init": "tz_s *s"} and found.inits == {"TZ_S_INIT": "tz_s"}, found)
    tap.check("self-test: finds values without prefix and structs that lack something",
              find_wrong_prefixes(found) == ["TZ_F of tz_e"] and len(find_incomplete(found, "")) == 2,
              find_incomplete(found, ""))


def main(words):
    tap = Tap()
    self_test(tap)
    interface = freeze_abi.parse(freeze_abi.read_headers())
    library = pathlib.Path(words[0]) / "abi" / "libterrazzo.so"
    check_library(tap, library)
    check_layout(tap, interface)
    problems = find_incomplete(interface, LARGER.read_text())
    tap.check("every sized struct has its macro, its function and its row in test_larger.c", not problems,
              "\n".join(problems))
    wrong = find_wrong_prefixes(interface)
    tap.check("values of enumerations have the name of their type as a prefix", not wrong, "\n".join(wrong))
    check_example(tap, library)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
