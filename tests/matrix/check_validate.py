#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The verdicts of `terrazzo validate` on every file of the corpus, beside those of GDAL's validation
(its rules are in gdal_cog.py) and of rio-cogeo, plain and strict.

    check_validate.py COMMAND          COMMAND is terrazzo, built with the address sanitizer
    check_validate.py COMMAND --list   print the differences that are not listed

A difference is listed in validate_differences.tsv, with the reason; a line of that list that is not
needed fails. Strict verdicts are compared as far as they are about the same things: the checks of
GDAL's layout. Prints TAP; needs .venv.
"""
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = pathlib.Path(os.environ.get("TERRAZZO_CORPUS", HERE.parents[2] / "shared" / "corpus"))
sys.path.insert(0, str(HERE.parent))
from tap import Tap, skip_all  # noqa: E402

try:
    from rio_cogeo.cogeo import cog_validate

    import gdal_cog
except ImportError as error:
    skip_all("validate", f"a package of tests/requirements.txt is missing: {error}")

from compare import Listed, attempt  # noqa: E402

SECONDS = 300
# Checks of GDAL's class that neither of the others makes.
OUR_OWN = {"gdal.nodata", "gdal.metadata", "gdal.ghost", "gdal.header-size"}


def ask(command, name):
    """(what is wrong with how it ended, its answer)"""
    done = subprocess.run([command, "validate", "--json", "--full", CORPUS / name], text=True,
                          capture_output=True, timeout=SECONDS)
    if done.returncode not in (0, 3) or done.stderr:
        return f"{name}: exit code {done.returncode}\n{done.stderr[:2000]}", None
    answer = json.loads(done.stdout)
    if answer["valid"] != (done.returncode == 0):
        return f"{name}: valid is {answer['valid']}, exit code {done.returncode}", None
    return None, answer


def our_verdicts(answer):
    """(valid, strictly so by the rules of GDAL, the checks that fail or warn)"""
    found = {check["id"]: check["outcome"] for check in answer["checks"]
             if check["outcome"] in ("fail", "warning")}
    warned = [name for name in found if name.startswith("gdal.") and name not in OUR_OWN]
    return answer["valid"], answer["valid"] and not warned, found


def their_verdicts(gdal, path):
    """{who: (valid, strictly)}; without those who do not open the file."""
    verdicts = {}
    errors_warnings = attempt(gdal_cog.validate, gdal, path)
    if not isinstance(errors_warnings, tuple):
        return verdicts
    errors, warnings = errors_warnings
    verdicts["gdal"] = (not errors, not errors and not warnings)
    valid = attempt(lambda: cog_validate(path, quiet=True))
    if isinstance(valid, tuple):
        verdicts["rio-cogeo"] = (valid[0], valid[0] and not valid[2])
    return verdicts


def differences(ours, theirs):
    valid, strict, _ = ours
    for who, (their_valid, their_strict) in theirs.items():
        if valid != their_valid:
            yield who, f"we say {valid}, {who} says {their_valid}"
        elif strict != their_strict:
            yield who, f"strictly, we say {strict}, {who} says {their_strict}"


def names_of_corpus():
    with open(CORPUS / "MANIFEST.tsv", newline="") as manifest:
        return [row["file"] for row in csv.DictReader(manifest, delimiter="\t")]


def main():
    tap = Tap()
    if not (CORPUS / "MANIFEST.tsv").is_file():
        tap.skip("validate", "no corpus; set TERRAZZO_CORPUS")
        return tap.finish()
    command = pathlib.Path(sys.argv[1]).resolve()
    listed = Listed(HERE / "validate_differences.tsv")
    names = names_of_corpus()
    gdal = gdal_cog.load()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        asked = dict(zip(names, pool.map(lambda name: ask(command, name), names)))
    unlisted, compared = [], 0
    for name in names:
        if asked[name][1] is None:
            continue
        ours = our_verdicts(asked[name][1])
        theirs = their_verdicts(gdal, str(CORPUS / name))
        compared += bool(theirs)
        listed.meet(name)
        for who, what in differences(ours, theirs):
            if not listed.covers(name, who):
                failed = ", ".join(check for check, outcome in ours[2].items()
                                   if check.startswith(("tiff", "gdal")))
                unlisted.append(f"{name}\t{who}\t{what}: {failed or 'nothing is found'}")
    if "--list" in sys.argv:
        print(*unlisted, sep="\n")
        return 0
    ended = [wrong for wrong, _ in asked.values() if wrong]
    tap.check(f"{len(names)} files are judged", not ended, "\n".join(ended[:5]))
    tap.check(f"{compared} files are judged by others, too", compared > len(names) // 2)
    tap.check("verdicts agree, or the difference is listed", not unlisted, "\n".join(unlisted))
    tap.check("every listed difference is one", not listed.unneeded(), "\n".join(listed.unneeded()))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
