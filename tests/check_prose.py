#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the two rules of prose in CONTRIBUTING.md that a program can check.

    check_prose.py [FOLDER OR FILE...]     shows every place there, and exits

Rule 1: a comment does not start with What, Where, Whether, Of or How: it starts with a verb or with a
noun phrase. Rule 3: some words have a plainer form. Comments and strings of C sources are read, and
whole documents. Folders with old places are listed in tests/prose-allowed.txt with their number, which
only goes down.
"""
import pathlib
import re
import sys

from tap import Tap

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALLOWED = ROOT / "tests" / "prose-allowed.txt"
CODE = ["src", "cli"]
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "doc", "bench", "fuzz"]

OPENING = re.compile(r"(?:/\*+|//)\s*(?:SPDX-License-Identifier: \S+\s*\*?\s*)?(What|Where|Whether|Of|How)\b")
WORDS = [
    (re.compile(r"(?<!left )(?<!nothing )\bbehind\b"), "after"),
    (re.compile(r"(?<!cannot )\b(?:tells?|told)\b"), "says, reports"),
    (re.compile(r"\bthe cores\b"), "the CPU"),
    (re.compile(r"\bof the device's(?! [a-z])"), "device memory"),
    (re.compile(r"\b(?:once more|anew)\b"), "again"),
    (re.compile(r"\bcannot be had\b"), "cannot be read"),
    (re.compile(r"\bso many bytes\b"), "N bytes"),
    (re.compile(r"(?<![Tt]here )\b(?:is|are) no (?!longer\b|more\b)"), "is not a"),
]
COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)


def find_places(text, is_code):
    """Yields (line, problem) for each place that breaks a rule."""
    pieces = [(match.start(), match.group(0)) for match in COMMENT_OR_STRING.finditer(text)] if is_code else [(0, text)]
    for start, piece in pieces:
        opening = OPENING.match(piece)
        if is_code and opening:
            yield text.count("\n", 0, start) + 1, f"starts with {opening.group(1)}"
        for pattern, better in WORDS:
            for match in pattern.finditer(piece):
                yield (text.count("\n", 0, start + match.start()) + 1,
                       f"{' '.join(match.group(0).split())}: better {better}")


def read_texts(root, names):
    """Yields (path, text, is_code) for the files below names."""
    for name in names:
        top = root / name
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.suffix in (".c", ".h"):
                yield path, path.read_text(), True
            elif path.suffix in (".md", ".1", ".in") and name not in CODE:
                yield path, path.read_text(), False


def count_places(root):
    """Returns {folder of sources, or document: number of places}."""
    counts = {}
    for path, text, is_code in read_texts(root, CODE + DOCUMENTS):
        if is_code and path.relative_to(root).parts[0] not in CODE:
            continue
        key = str((path.parent if is_code else path).relative_to(root))
        counts[key] = counts.get(key, 0) + sum(1 for _ in find_places(text, is_code))
    return counts


def read_allowed(path):
    rows = (line.split("#")[0].split() for line in path.read_text().splitlines())
    return {row[0]: int(row[1]) for row in rows if row}


def self_test(tap):
    bad = ('/* What it does. */\n/* SPDX-License-Identifier: Apache-2.0\n * How. */\nint x; // Of no use, behind it\n'
           'f("the cores are told");\n/* memory that is no tile */\n')
    good = ('/* Returns what it found. */\n/* Whatever comes. */\nint behind; /* is no longer used */\n'
            'f("told" "x");\n'.replace("told", "said"))
    tap.check("self-test: finds every bad place", len(list(find_places(bad, True))) == 7, list(find_places(bad, True)))
    tap.check("self-test: finds nothing in good prose", not list(find_places(good, True)), list(find_places(good, True)))
    tap.check("self-test: reads documents as one text", [line for line, _ in find_places("a\nthe cores\n", False)] == [2])


def main(words):
    if words:
        for path, text, is_code in read_texts(ROOT, words):
            for line, problem in find_places(text, is_code):
                print(f"{path.relative_to(ROOT)}:{line}: {problem}")
        return 0
    tap = Tap()
    self_test(tap)
    counts = {key: count for key, count in count_places(ROOT).items() if count}
    allowed = read_allowed(ALLOWED)
    worse = [f"{key}: {count}, and {allowed.get(key, 0)} are allowed: see check_prose.py {key}"
             for key, count in sorted(counts.items()) if count > allowed.get(key, 0)]
    tap.check("comments, messages and documents follow the rules of prose", not worse, "\n".join(worse))
    better = [f"{key} {counts.get(key, 0)}" for key, count in sorted(allowed.items()) if counts.get(key, 0) < count]
    tap.check("tests/prose-allowed.txt allows no more than there is", not better, "lower these:\n" + "\n".join(better))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
