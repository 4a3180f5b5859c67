#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `terrazzo convert` with gdal_translate of GDAL 3.12, option by option: 60 generated files, 40 of the corpus.

    check_translate.py COMMAND           some options of each file, all of every tenth
    check_translate.py COMMAND --whole   all options of all files
    check_translate.py COMMAND --list    print the differences as lines for translate_differences.tsv

For options that gdal_translate does not have, its result is changed as the option says (pixel_cases.py,
tag_cases.py). Both files are read by libgdal: what it says of them must be the same, and their pixels. A difference is
listed in translate_differences.tsv, with the reason; with --whole, a line of that list that is not needed fails.
Prints TAP; needs .venv.
"""

import collections
import concurrent.futures
import math
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CORPUS = pathlib.Path(os.environ.get("TERRAZZO_CORPUS", ROOT.parent / "shared" / "corpus"))
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "matrix")]
from tap import Tap, matrix_options, skip_all  # noqa: E402

try:
    import numpy

    import files
except ImportError as error:
    skip_all("translate", f"a package of tests/requirements.txt is missing: {error}")

import gdal as binding  # noqa: E402
import pixel_cases  # noqa: E402, F401: it registers cases, and so does tag_cases
from compare import Listed, equal_but_nan_bits  # noqa: E402
from translate_case import CASES, NO_MASK, OF_ALPHA, Source, cases_of, changed, fits  # noqa: E402

SECONDS = 120
SHOWN = 40
COGS = 8  # one of so many conversions
NEAR = 1e-12  # of transforms and coordinates, in parts of the value


# Comparing ----------------------------------------------------------------------------------------


def near(one, other):
    return all(math.isclose(a, b, rel_tol=NEAR, abs_tol=NEAR) for a, b in zip(one, other))


def same_number(one, other):
    return one == other or (one is not None and other is not None and one != one and other != other)


def pixel_difference(ours, theirs, allowed):
    """What is wrong with a band, or None."""
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return f"{ours.dtype} {ours.shape}, not {theirs.dtype} {theirs.shape}"
    if ours.tobytes() == theirs.tobytes() or (ours.dtype.kind in "fc" and equal_but_nan_bits(ours, theirs)):
        return None
    different = (ours != theirs) & ~((ours != ours) & (theirs != theirs))
    places = numpy.argwhere(different)
    if len(places) == 0:
        return None
    place = tuple(places[0])
    with numpy.errstate(all="ignore"):
        gap = numpy.abs(ours.astype("c16" if ours.dtype.kind == "c" else "f8") - theirs)[different].max()
    if allowed and gap <= (allowed if ours.dtype.kind in "iu" else allowed * 1e-6 * max(1.0, float(abs(theirs).max()))):
        return None
    return (f"{len(places)} of {theirs.size} differ, by {gap:g} at most: "
            f"{ours[place]}, not {theirs[place]} at {tuple(map(int, place[::-1]))}")


def compare(gdal, ours, theirs, case):
    """{field: what is wrong}"""
    wrong = {}
    if ours.size != theirs.size:
        wrong["size"] = f"{ours.size}, not {theirs.size}"
    if ours.dtypes != theirs.dtypes:
        wrong["dtype"] = f"{ours.dtypes}, not {theirs.dtypes}"
    if wrong:
        return wrong | compare_fields(gdal, ours, theirs)
    for field, planes in {"pixels": ((*pair, case.near) for pair in zip(ours.pixels, theirs.pixels)),
                          "mask": ((a.pixels, b.pixels, case.near if a.flags & OF_ALPHA else 0)
                                   for a, b in zip(ours.masks, theirs.masks)
                                   if a.flags == b.flags and a.pixels is not None)}.items():
        for band, (one, other, allowed) in enumerate(planes):
            text = pixel_difference(one, other, allowed)
            if text:
                wrong[field] = f"band {band + 1}: {text}"
                break
    return wrong | compare_fields(gdal, ours, theirs)


def compare_fields(gdal, ours, theirs):
    """The same for all that is not a pixel."""
    wrong = {}
    if [mask.flags for mask in ours.masks] != [mask.flags for mask in theirs.masks]:
        wrong["mask flags"] = f"{[mask.flags for mask in ours.masks]}, not {[mask.flags for mask in theirs.masks]}"
    if (ours.transform is None) != (theirs.transform is None) \
            or (ours.transform is not None and not near(ours.transform, theirs.transform)):
        wrong["transform"] = f"{ours.transform}, not {theirs.transform}"
    if len(ours.gcps) != len(theirs.gcps) or not all(map(near, ours.gcps, theirs.gcps)):
        wrong["gcps"] = f"{ours.gcps}, not {theirs.gcps}"
    if not gdal.same_crs(ours.wkt, theirs.wkt):
        wrong["crs"] = f"{ours.wkt[:3000] or None}, not {theirs.wkt[:3000] or None}"
    if len(ours.nodata) != len(theirs.nodata) or not all(map(same_number, ours.nodata, theirs.nodata)):
        wrong["nodata"] = f"{ours.nodata}, not {theirs.nodata}"
    if not near_rpc(ours.rpc, theirs.rpc):
        wrong["rpc"] = f"{ours.rpc}, not {theirs.rpc}"
    for field in ("descriptions", "units", "scales", "offsets", "colours", "palettes"):
        if getattr(ours, field) != getattr(theirs, field):
            wrong[field] = f"{getattr(ours, field)}, not {getattr(theirs, field)}"[:600]
    for field, one, other in [("metadata", ours.metadata, theirs.metadata),
                              *(("band metadata", *pair) for pair in zip(ours.band_metadata, theirs.band_metadata))]:
        if one != other:
            keys = sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
            wrong[field] = ", ".join(f"{key}: {one.get(key)!r}, not {other.get(key)!r}" for key in keys)
    return wrong


def nodata_left_out(ours, theirs, field):
    """A rule: nodata that is not a value of the type is left out, while GDAL declares it. Then it has no mask of it."""
    declared = zip(ours.nodata, theirs.nodata, theirs.pixels)
    if field not in ("nodata", "mask flags") or not all(
            one is None and other is not None and not fits(other, pixels.dtype) for one, other, pixels in declared):
        return False
    return field == "nodata" or {mask.flags for mask in ours.masks} == {NO_MASK}


def near_rpc(ours, theirs):
    if ours.keys() != theirs.keys():
        return False
    return all(near(map(float, ours[key].split()), map(float, theirs[key].split())) for key in ours)


# Both programs ------------------------------------------------------------------------------------


class Check:
    def __init__(self, gdal, command, folder):
        self.gdal, self.command, self.folder = gdal, command, folder
        self.by_rule = 0

    def sources(self, tap):
        """Generated files, and those of the corpus where it is."""
        paths = files.make_generated(self.gdal, self.folder)
        if (CORPUS / "MANIFEST.tsv").is_file():
            paths |= {name: CORPUS / name for name in files.CORPUS}
        else:
            tap.skip("corpus", f"no corpus, {len(files.CORPUS)} of {len(paths) + len(files.CORPUS)} files; "
                               "set TERRAZZO_CORPUS")
        for name, path in paths.items():
            with self.gdal.open(path) as dataset:
                about = self.gdal.describe_dataset(dataset)
                listed = binding.pairs(self.gdal.GDALGetMetadata(dataset, b"SUBDATASETS"))
            pages = [value for key, value in listed.items() if key.endswith("_NAME")]
            yield Source(name, path, about, pages)

    def convert(self, source, name, case):
        """Runs the command; returns (OUT, what it said when it failed)."""
        out = self.folder / "ours" / f"{source.name.replace('/', '-')}.{name}.tif"
        path = self.damaged(source, case, out) if case.damage else source.path
        command = [self.command, command_of(source, name), "--threads", "1", "--no-sync", *case.ours, path, out]
        done = subprocess.run(list(map(str, command)), text=True, capture_output=True, timeout=SECONDS)
        return out, f"exit code {done.returncode}: {done.stderr.strip()}" if done.returncode else None

    @staticmethod
    def damaged(source, case, out):
        """A copy in which some bytes are others."""
        offset, size = case.damage
        content = source.path.read_bytes()
        copy = out.with_suffix(".damaged.tif")
        copy.write_bytes(content[:offset] + b"\xff" * size + content[offset + size:])
        return copy

    def translate(self, path, case):
        """Described, of what gdal_translate writes, or a text when it fails."""
        target = self.folder / "theirs.tif"
        try:
            self.gdal.translate(path, target, ["-of", "GTiff", *case.theirs])
            return changed(self.gdal.describe(target), case.change)
        except binding.GdalError as error:
            return str(error)
        finally:
            target.unlink(missing_ok=True)

    def judge(self, source, case, out, failed):
        """{field: what is wrong}"""
        if case.page == -1:
            wrong = {}
            for number, page in enumerate(source.pages):
                wrong |= self.judge_file(page, case, out.with_stem(f"{out.stem}_{number}"), failed)
            return wrong
        path = source.path if case.page is None else source.pages[case.page]
        return self.judge_file(path, case, out, failed)

    def judge_file(self, path, case, out, failed):
        theirs = self.translate(path, case)
        if failed or isinstance(theirs, str):
            if failed and isinstance(theirs, str):
                return {}
            return {"refused": failed} if failed else {"refused by GDAL": theirs}
        try:
            ours = self.gdal.describe(out)
        except binding.GdalError as error:
            return {"unreadable": str(error)}
        finally:
            out.unlink(missing_ok=True)
        wrong = compare(self.gdal, ours, theirs, case)
        by_rule = [field for field in wrong if nodata_left_out(ours, theirs, field)]
        self.by_rule += len(by_rule)
        return {field: what for field, what in wrong.items() if field not in by_rule}


def command_of(source, name):
    """The subcommand: cog has the same options, and writes the same image."""
    return "cog" if zlib.crc32(f"{source.name}:{name}".encode()) % COGS == 0 else "convert"


class Differences(Listed):
    """The list, in which a reason that begins with "open: " is one that nobody decided for."""

    def is_open(self, pattern, who):
        return any(row[:2] == [pattern, who] and row[2].startswith("open: ") for row in self.rows)


def chosen_cases(sources, whole, only):
    """(source, name of the case, Case)"""
    for index, source in enumerate(sources):
        for name, case in cases_of(source, index, whole).items():
            if only in f"{source.name}:{name}":
                yield source, name, case


def main():
    library = binding.fetch_library()
    if library is None:
        skip_all("translate", "libgdal of tools/oracle/fetch_gdal.sh cannot be fetched")
    options = matrix_options()
    only = options[options.index("--only") + 1] if "--only" in options else ""
    tap, listed = Tap(), Differences(HERE / "translate_differences.tsv")
    compared, unlisted = collections.Counter(), collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        check = Check(binding.Gdal(library), pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder))
        (check.folder / "ours").mkdir()
        sources = list(check.sources(tap))
        cases = list(chosen_cases(sources, "--whole" in options, only))
        answers = pool.map(lambda row: check.convert(*row), cases)
        for (source, name, case), (out, failed) in zip(cases, answers):
            full = f"{source.name}:{name}"
            listed.meet(full)
            compared[case.option] += 1
            for field, what in check.judge(source, case, out, failed).items():
                if not listed.covers(full, field):
                    unlisted[case.option].append((full, field, what, command_of(source, name), case))
    if "--list" in options:
        for rows in unlisted.values():
            for full, field, what, *_ in rows:
                print(full, field, what, sep="\t")
        return 0
    for option in CASES:
        lines = [f"{full}: {field}: {what}\n  terrazzo {command} {shlex.join(case.ours)}\n"
                 f"  gdal_translate {shlex.join(case.theirs)}" for full, field, what, command, case in unlisted[option]]
        made = compared[option]
        tap.check(f"{option}: {made} conversions give what GDAL gives", not lines and (made or only),
                  "\n".join(lines[:SHOWN]) or "none was made")
    unneeded = listed.unneeded() if "--whole" in options and not only else []
    open_ones = sum(count for (pattern, who), count in listed.needed.items() if listed.is_open(pattern, who))
    print(f"# {sum(listed.needed.values())} differences are listed, {open_ones} of them as open; "
          f"{check.by_rule} are nodata that is left out")
    tap.check(f"{sum(compared.values())} conversions of {len(sources)} files, and every listed difference is one",
              not unneeded, "\n".join(unneeded))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
