#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what terrazzo says of every file of the corpus with the frozen answers of GDAL.

    check_corpus.py PROGRAM          PROGRAM is corpus_dump, built with the address sanitizer
    check_corpus.py PROGRAM --list   print the disagreements as lines for disagreements.tsv

Prints TAP. The corpus is the folder TERRAZZO_CORPUS, or ../shared/corpus beside the project; it is
read in place. A disagreement is allowed when a rule below computes it from the file's own tags, or
when disagreements.tsv lists it with the reason; a line of that list that is not needed fails.
"""

import collections
import csv
import gzip
import json
import os
import pathlib
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402

CORPUS = pathlib.Path(os.environ.get("TERRAZZO_CORPUS", ROOT.parent / "shared" / "corpus"))
LISTED = HERE / "disagreements.tsv"
SECONDS = 1.0
ULPS = 0  # how far a number of the geotransform may be from GDAL's

FIELDS = ["open", "width", "height", "bands", "dtype", "block", "nodata", "geotransform", "gcps",
          "point", "epsg", "epsg_vertical", "overviews", "mask", "descriptions", "scales",
          "offsets"]


# What GDAL says -----------------------------------------------------------------------------------


def gdal_fields(gdal):
    """The oracle's answer in the form of FIELDS."""
    fields = {"open": gdal["open"]}
    if not gdal["open"]:
        return fields
    bands = gdal["bands"]
    fields.update((name, gdal[name]) for name in
                  ("width", "height", "bands", "dtype", "block", "nodata", "geotransform", "epsg",
                   "overviews"))
    fields["gcps"] = gdal.get("gcps", 0)
    fields["point"] = bool(gdal.get("point", False))
    fields["epsg_vertical"] = gdal.get("epsg_vertical")
    # 2 alone is a mask of the whole dataset; with 4 it is an alpha band, with 8 NODATA_VALUES.
    fields["mask"] = any(flags == [2] for flags in gdal["mask_flags"])
    fields["descriptions"] = gdal.get("descriptions", [None] * bands)
    fields["scales"] = gdal.get("scales", [1.0] * bands)
    fields["offsets"] = gdal.get("offsets", [0.0] * bands)
    return fields


# What terrazzo says -------------------------------------------------------------------------------

DTYPES = {"complex_float32": "complex64", "complex_float64": "complex128"}


def our_fields(line):
    fields = {"open": line["opened"]}
    if not line["opened"]:
        return fields
    fields.update((name, line[name]) for name in
                  ("width", "height", "bands", "block", "nodata", "geotransform", "gcps", "point",
                   "overviews", "mask"))
    fields["dtype"] = DTYPES.get(line["dtype"], line["dtype"])
    code = line["epsg"]
    if code in (0, 32767):
        code = line.get("epsg_by_proj", 0)
    fields["epsg"] = code or None
    vertical = line["epsg_vertical"]
    fields["epsg_vertical"] = vertical if vertical not in (0, 32767) else None
    fields["descriptions"] = [band["description"] for band in line["band_info"]]
    fields["scales"] = [band["scale"] for band in line["band_info"]]
    fields["offsets"] = [band["offset"] for band in line["band_info"]]
    return fields


# Comparing ----------------------------------------------------------------------------------------


def ordered(value):
    """A double as an integer, such that neighbours differ by 1."""
    bits = struct.unpack("<q", struct.pack("<d", float(value)))[0]
    return bits if bits >= 0 else -(bits & 0x7FFFFFFFFFFFFFFF)


def equal(field, ours, theirs):
    if field == "geotransform" and ours is not None and theirs is not None:
        return all(abs(ordered(a) - ordered(b)) <= ULPS for a, b in zip(ours, theirs))
    return ours == theirs


def compare(line, gdal):
    """{field: (ours, theirs)} where the two differ."""
    ours, theirs = our_fields(line), gdal_fields(gdal)
    if not theirs["open"]:
        return {}
    if not ours["open"]:
        return {"open": (False, True)}
    for name in ("descriptions", "scales", "offsets"):  # the number of bands is a field of its own
        shown = min(len(ours[name]), len(theirs[name]))
        ours[name], theirs[name] = ours[name][:shown], theirs[name][:shown]
    return {field: (ours[field], theirs[field]) for field in FIELDS
            if not equal(field, ours[field], theirs[field])}


# Rules: differences of convention, each computed from what the file says ---------------------------

RULES = []


def rule(function):
    """Registers a function (field, ours, theirs, line, gdal) -> bool: the difference is by design.
    Its documentation is the reason."""
    RULES.append(function)
    return function


@rule
def libtiff_cuts_single_strips(field, ours, theirs, line, gdal):
    """libtiff shows an uncompressed image of one strip as strips of about 8 KiB, and strips of more
    than 2 GiB as strips of 512 MiB, so that its callers need less memory. The file has what we say."""
    if field != "block" or line["tiled"] or line["planar"] != 1 or line["compression"] != 1:
        return False
    row = (line["width"] * line["bands"] * line["bits"] + 7) // 8
    cuts = [max(1, 8192 // row)] if ours[1] == line["height"] else []
    if row * ours[1] > 2**31 - 1:
        cuts.append(2**29 // row)
    return theirs[0] == ours[0] and theirs[1] in cuts


@rule
def gdal_splits_single_strips(field, ours, theirs, line, gdal):
    """GDAL shows a compressed image of one strip and more than 2000 rows as blocks of one row."""
    return (field == "block" and not line["tiled"] and ours[1] == line["height"] > 2000
            and theirs == [ours[0], 1])


@rule
def rasterio_has_no_complex_int32(field, ours, theirs, line, gdal):
    """GDAL says CInt32, which is what the file has; the oracle asked through rasterio, which shows
    CInt32 as complex64."""
    return field == "dtype" and (ours, theirs) == ("complex_int32", "complex64")


@rule
def rasterio_hides_the_identity(field, ours, theirs, line, gdal):
    """The file has the identity as its matrix and GDAL gives it; the oracle asked through rasterio,
    which takes the identity for none."""
    return field == "geotransform" and ours == [0, 1, 0, 0, 0, 1] and theirs is None


@rule
def crs_of_gcps_is_apart(field, ours, theirs, line, gdal):
    """GDAL keeps the CRS of ground control points apart from that of the raster, which has none."""
    return field == "epsg" and line["gcps"] > 0 and theirs is None


@rule
def code_of_the_whole_crs(field, ours, theirs, line, gdal):
    """tz_geo.epsg is what the key of the horizontal CRS says. GDAL gives the code of the CRS as a
    whole, with its vertical part and with the units that other keys set, and that is what
    tz_crs_get_epsg gives too."""
    return (field == "epsg" and line["epsg"] not in (0, 32767) and gdal["has_crs"]
            and line.get("epsg_by_proj", -1) == (theirs or 0))


@rule
def height_of_a_3d_crs(field, ours, theirs, line, gdal):
    """The key of the vertical CRS holds the code of a three-dimensional CRS: the heights are those
    above its ellipsoid. GDAL gives that code as the code of the whole, and no vertical one."""
    return field == "epsg_vertical" and theirs is None and gdal["epsg"] == ours


INTEGERS = {"uint8": (0, 2**8 - 1), "uint16": (0, 2**16 - 1), "uint32": (0, 2**32 - 1),
            "uint64": (0, 2**64 - 1), "int8": (-2**7, 2**7 - 1), "int16": (-2**15, 2**15 - 1),
            "int32": (-2**31, 2**31 - 1), "int64": (-2**63, 2**63 - 1)}


@rule
def nodata_that_no_pixel_has(field, ours, theirs, line, gdal):
    """The file says that a value is nodata which its type cannot hold. We give it, with a warning;
    GDAL leaves it out."""
    if field != "nodata" or theirs is not None or line["dtype"] not in INTEGERS:
        return False
    low, high = INTEGERS[line["dtype"]]
    return not low <= ours <= high


def rule_for(field, ours, theirs, line, gdal):
    return next((r for r in RULES if r(field, ours, theirs, line, gdal)), None)


# The list -----------------------------------------------------------------------------------------


def read_list():
    """{(file, field): (ours, theirs, reason)}"""
    listed = {}
    with open(LISTED, newline="") as file:
        rows = csv.reader((line for line in file if not line.startswith("#")), delimiter="\t",
                          quoting=csv.QUOTE_NONE)
        next(rows)  # the heading
        for name, field, ours, theirs, reason in rows:
            listed[name, field] = (json.loads(ours), json.loads(theirs), reason)
    return listed


# The run ------------------------------------------------------------------------------------------


def read_corpus():
    """(names of the manifest, {name: oracle entry})"""
    lines = (CORPUS / "MANIFEST.tsv").read_text().splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    with gzip.open(CORPUS / "ORACLE.json.gz") as file:
        by_hash = json.load(file)["files"]
    return [row[0] for row in rows], {row[0]: by_hash[row[5]] for row in rows}


def run_program(program, names, *arguments):
    """({name: line}, features, exit code, stderr)"""
    paths = "".join(f"{CORPUS / name}\n" for name in names)
    done = subprocess.run([program, *arguments], input=paths, capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    features = lines.pop() if lines and "path" not in lines[-1] else {}
    by_name = {os.path.relpath(line["path"], CORPUS): line for line in lines}
    return by_name, features, done.returncode, done.stderr


def ask_proj(program, lines, oracle):
    """Adds what PROJ says of the CRS, where the keys alone do not say what GDAL says."""
    unsure = [name for name, line in lines.items() if line["opened"] and line["has_crs"]
              and line["epsg"] != oracle[name]["gdal"].get("epsg")]
    answers, _, code, err = run_program(program, unsure, "--crs")
    if code == 0:
        lines.update(answers)
    return code, err


def judge(lines, oracle):
    """Every difference, sorted into rules, listed and the rest."""
    differences = {}
    for name, line in lines.items():
        gdal = oracle[name]["gdal"]
        for field, (ours, theirs) in compare(line, gdal).items():
            differences[name, field] = (ours, theirs, rule_for(field, ours, theirs, line, gdal))
    return differences


def show(name, field, ours, theirs):
    return f"{name}: {field}: {json.dumps(ours)} here, {json.dumps(theirs)} with GDAL"


def check_opening(tap, lines, names, code, err):
    tap.check(f"all {len(names)} files are opened or refused, none crashes or leaks",
              code == 0 and len(lines) == len(names),
              f"exit code {code} after {len(lines)} files\n{err}")
    unclear = [f"{name}: {line['error']}" for name, line in lines.items()
               if not line["opened"] and not is_clear(line["error"])]
    unclear += [f"{name}: {warning}" for name, line in lines.items()
                for warning in line.get("warnings", []) if not is_clear(warning)]
    tap.check("errors and warnings are clear", not unclear, "\n".join(unclear))
    slow = [f"{name}: {line['seconds']} s" for name, line in lines.items()
            if line["seconds"] > SECONDS]
    tap.check("no file takes over one second", not slow, "\n".join(slow))
    left = [f"{name}: {line['left']} bytes" for name, line in lines.items() if line["left"] != 0]
    tap.check("closing gives all memory back", not left, "\n".join(left))


def is_clear(error):
    return (error["result"] not in ("ok", "internal") and error["cause"] not in
            ("NONE", "INTERNAL") and len(error["message"]) >= 10
            and error["message"].isprintable())


def check_memory(tap, lines, oracle):
    greedy = []
    for name, line in lines.items():
        bound = oracle[name]["size"] + 65536 + 64 * line.get("ifds", 0)
        if line["peak"] > bound:
            greedy.append(f"{name}: {line['peak']} bytes, at most {bound} expected")
    tap.check("memory stays under file size + 64 KiB + 64 bytes a directory", not greedy,
              "\n".join(greedy))


def check_agreement(tap, lines, oracle, listed):
    differences = judge(lines, oracle)
    for field in FIELDS:
        wrong = [show(name, field, ours, theirs)
                 for (name, at), (ours, theirs, by_rule) in differences.items()
                 if at == field and by_rule is None and
                 listed.get((name, field), (None, None))[:2] != (ours, theirs)]
        compared = sum(oracle[name]["gdal"]["open"] for name in lines)
        tap.check(f"{field} as GDAL has it, {compared} files", not wrong, "\n".join(wrong))
    needless = [f"{name}: {field}" for name, field in listed
                if (name, field) not in differences or differences[name, field][2] is not None
                or listed[name, field][:2] != differences[name, field][:2]]
    tap.check("every listed disagreement is needed", not needless, "\n".join(needless))
    return differences


def print_counts(lines, oracle, differences):
    counts = collections.Counter()
    for name, line in lines.items():
        theirs = "GDAL opens" if oracle[name]["gdal"]["open"] else "GDAL refuses"
        kind = "opened" if line["opened"] else "refused"
        if line.get("warnings"):
            kind += " with warnings"
        counts[f"{theirs}: {kind}"] += 1
        if oracle[name]["expect"] == "refuse":
            level = "pixels readable by the directory" if line.get("readable") else "not readable"
            counts["pixels refused by all: " + (f"opened, {level}" if line["opened"]
                                                else "refused")] += 1
    for text, number in sorted(counts.items()):
        print(f"{text}: {number}")
    by_rule = collections.Counter((field, found.__name__) for (_, field), (_, _, found) in
                                  differences.items() if found)
    for (field, name), number in sorted(by_rule.items()):
        print(f"differs by rule {name}, {field}: {number}")
    listed = collections.Counter(field for (_, field), (_, _, found) in differences.items()
                                 if not found)
    for field, number in sorted(listed.items()):
        print(f"differs otherwise, {field}: {number}")


def print_list(differences, listed):
    for (name, field), (ours, theirs, found) in sorted(differences.items()):
        if found is None:
            reason = listed.get((name, field), (None, None, "?"))[2]
            print(name, field, json.dumps(ours), json.dumps(theirs), reason, sep="\t")


def main():
    tap = Tap()
    if not (CORPUS / "MANIFEST.tsv").exists():
        for name in ["opening", "agreement"]:
            tap.skip(name, f"the 1,115 files of the corpus are not at {CORPUS}; "
                           "set TERRAZZO_CORPUS")
        return tap.finish()
    names, oracle = read_corpus()
    lines, features, code, err = run_program(sys.argv[1], names)
    if code == 0:
        code, err = ask_proj(sys.argv[1], lines, oracle)
    listed = read_list()
    if "--list" in sys.argv[2:]:
        print_list(judge(lines, oracle), listed)
        return 0
    check_opening(tap, lines, names, code, err)
    check_memory(tap, lines, oracle)
    if features.get("proj") is None or features.get("expat") is None:
        tap.skip("agreement", "built without PROJ or expat")
        return tap.finish()
    differences = check_agreement(tap, lines, oracle, listed)
    print_counts(lines, oracle, differences)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
