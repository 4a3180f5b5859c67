#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cloud Optimized GeoTIFFs of every type, codec, method of overviews, layout and size, written now
by us.

    check_cogs.py WRITE_CASE           some 60 files
    check_cogs.py WRITE_CASE --whole   some 400

Each file is written in two ways (threads, memory, batches, sinks) that must give the same bytes,
and must please GDAL's own script with the full check, rio-cogeo's strict validation, cog_layout.py,
and the command of this build. All levels and masks must be the same to us, to GDAL and to tifffile;
the first level of lossless files is what was written, and overviews are what cog_reference.py makes
of it. That the checks can fail is shown with copies that were spoiled, and
that they are not ours alone with files of GDAL's. What differs is listed in cogs_differences.tsv,
with the reason. LEVEL_DUMP lies beside WRITE_CASE, the command above. Prints TAP; needs .venv.
"""
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from tap import Tap, matrix_options, skip_all  # noqa: E402

try:
    import numpy
    import rasterio
    import rasterio.shutil
    import imagecodecs  # noqa: F401
    from rio_cogeo.cogeo import cog_validate
except ImportError as error:
    skip_all("cogs", f"a package of tests/requirements.txt is missing: {error}")

import check_written  # noqa: E402
import cog_cases  # noqa: E402
import cog_layout  # noqa: E402
import cog_readers as readers  # noqa: E402
import cog_reference as reference  # noqa: E402
from cog_cases import (METHODS, OTHER_CODEC, level_sizes, mask_of, name_of, pixels_of,  # noqa: E402
                       stored_pixels)
from compare import Listed, attempt, difference  # noqa: E402
from write_program import WriteProgram  # noqa: E402
from written_cases import (CODECS, DECODERS_DIFFER, LOSSY, PLAIN, SAMPLES,  # noqa: E402
                           nodata_of, scale_of)
from written_dress import wrong_metadata  # noqa: E402

FEW, MANY = 60, 400
COMPLEX = 6  # TIFF's sample format
INVALID = 3  # exit code of terrazzo validate
FIRST_WAY = ("pushed", 0, "packed", "path", 0, 0)
OTHER_WAYS = [  # giving, rows, lying, sink, threads, bytes of memory
    ("pushed", 1, "band", "memory", 1, 0), ("pushed", 24, "pixel", "inserting", 2, 0),
    ("ragged", 0, "flipped", "callback", 3, 1), ("ragged", 0, "packed", "memory", 2, 1 << 20),
    ("pulled", 0, "packed", "blind", 2, 1), ("pulled", 24, "packed", "inserting", 1, 0),
    ("pushed", 16, "band", "path", 4, 1), ("columns", 7, "packed", "memory", 8, 100000),
]


# Writing -----------------------------------------------------------------------------------------


def tell_case(program, case):
    """All that the program must know, but for the pixels."""
    check_written.tell_case(program, case)
    program.say("set", "cog", 1)
    program.say("set", "overview_count", case.overviews)
    program.say("set", "overview_resampling", METHODS.index(case.method))
    if case.other_codec:
        program.say("set", "overview_compression", CODECS[OTHER_CODEC][0])


def write_case(program, case, folder):
    """(path, None) or (None, what is wrong)"""
    raw, raw_mask = f"{folder}/pixels", f"{folder}/mask"
    pathlib.Path(raw).write_bytes(pixels_of(case).tobytes())
    tell_case(program, case)
    program.say("pixels", raw)
    if case.mask:
        pathlib.Path(raw_mask).write_bytes(mask_of(case).tobytes())
        program.say("mask", raw_mask)
    other = OTHER_WAYS[zlib.crc32(name_of(case).encode()) % len(OTHER_WAYS)]
    paths = [f"{folder}/{number}.tif" for number in range(2)]
    for way, path in zip((FIRST_WAY, other), paths):
        result, message = check_written.write_in(program, way, path)
        if result != "ok":
            return None, f"{result}: {message} ({way})"
        if pathlib.Path(path).stat().st_size != message:
            return None, f"reported {message} bytes ({way})"
        if check_written.digest(path) != check_written.digest(paths[0]):
            return None, f"other bytes by {way}"
    left = {entry.name for entry in pathlib.Path(folder).iterdir()}
    if left - {"pixels", "mask", "0.tif", "1.tif"}:
        return None, f"left {sorted(left)}"
    return paths[0], None


def built_codecs(program):
    """Those that this build can write."""
    found = []
    for codec in cog_cases.CODEC_NAMES:
        check_written.tell_case(program, PLAIN._replace(codec=codec, bands=3))
        if program.ask("plan")[0] != "unsupported":
            found.append(codec)
    return found


# Validating --------------------------------------------------------------------------------------


def wrong_layout(path, case):
    layout = cog_layout.Layout(path)
    found = cog_layout.problems(layout)
    sizes = [image.size for image in layout.images]
    if sizes != level_sizes(case):
        found.append(f"levels of {sizes}, not {level_sizes(case)}")
    wanted = {"big": case.bigtiff == "yes", "order": "<" if case.order == "little" else ">",
              "masks": len(sizes) if case.mask else 0,
              "tile": cog_cases.TILE_SIZES[case.layout]}
    seen = {"big": layout.big, "order": layout.order, "masks": len(layout.masks),
            "tile": layout.images[0].tile[0]}
    found += [f"{name} is {seen[name]}, not {value}" for name, value in wanted.items()
              if seen[name] != value]
    compression = [image.entries[259].values[0] for image in layout.images]
    other = CODECS[OTHER_CODEC if case.other_codec else case.codec][0]
    if compression != [CODECS[case.codec][0]] + [other] * (len(sizes) - 1):
        found.append(f"codecs {compression}")
    return "; ".join(found) or None


def wrong_by_rio_cogeo(path):
    valid, errors, less = cog_validate(path, strict=True, quiet=True)
    return None if valid else "; ".join(errors + less)


class Command:
    """`terrazzo validate` of this build, where it has that."""

    def __init__(self, path):
        self.path = path
        about = self.run("validate", "--help") if path.exists() else None
        self.can = about is not None and about.returncode == 0 and "--strict" in about.stdout

    def run(self, *words):
        return subprocess.run([str(self.path), *words], capture_output=True, text=True,
                              errors="replace")

    def wrong(self, path, case):
        """What does not pass, but for the rules of OGC that a case breaks on purpose."""
        if not self.can:
            return None
        done = self.run("validate", "--full", "--strict", "--json", path)
        if done.returncode not in (0, INVALID):
            return f"exit code {done.returncode}: {' '.join(done.stderr.split())[:300]}"
        found = {check["id"] for check in json.loads(done.stdout)["checks"]
                 if check["outcome"] in ("fail", "warning")}
        if (done.returncode == INVALID) != bool(found):
            return f"exit code {done.returncode} with {sorted(found)}"
        odd = found ^ broken_rules(case)
        return f"{sorted(found)}, not {sorted(broken_rules(case))}" if odd else None


def broken_rules(case):
    """A COG of OGC has a georeference, is BigTIFF only when it must, and has all overviews."""
    broken = {"cog.bigtiff"} if case.bigtiff == "yes" else set()
    if case.dress != "north":
        broken.add("cog.georeference")
    if case.dress not in ("north", "gcps"):
        broken |= {"cog.basic-metadata", "cog.geotiff"}
    if min(level_sizes(case)[-1]) > cog_cases.TILE_SIZES[case.layout]:
        broken.add("cog.last-level")
    return broken


class Validators:
    """All of them."""

    def __init__(self, command):
        self.script, self.command = readers.GdalScript(), Command(command)

    def problems(self, path, case):
        """[(who, what)]"""
        found = [("script", self.script.check(path)),
                 ("rio-cogeo", attempt(wrong_by_rio_cogeo, path)),
                 ("layout", attempt(wrong_layout, path, case)),
                 ("command", self.command.wrong(path, case))]
        return [(who, what) for who, what in found if what]

    def problems_of_others(self, path):
        """The same of a file that is not ours."""
        found = [self.script.check(path), attempt(wrong_by_rio_cogeo, path),
                 *cog_layout.problems(cog_layout.Layout(path))]
        return [what for what in found if what]


# Pixels ------------------------------------------------------------------------------------------


def bound_of(case, index):
    """(largest, mean) difference of a level from what went in."""
    if index > 0 and case.other_codec:
        return 0, 0
    return tuple(scale_of(case) * bound for bound in LOSSY.get(case.codec, (0, 0)))


def wrong_levels(theirs, ours, case, masks_of):
    """Where another reader's levels are not ours. masks_of(mask, level): what ours must be."""
    if isinstance(theirs, str) or isinstance(ours, str):
        return theirs if isinstance(theirs, str) else None  # our own problem is reported
    if len(theirs) != len(ours):
        return f"{len(theirs)} levels, not {len(ours)}"
    for index, (mine, other) in enumerate(zip(ours, theirs)):
        lossy = LOSSY.get(case.codec) and not (index > 0 and case.other_codec)
        limit = DECODERS_DIFFER.get(case.codec, 0) * scale_of(case) if lossy else 0
        problem = difference(other[0].astype(mine[0].dtype), mine[0], limit, limit)
        if problem:
            return f"level {index}: {problem}"
        wanted = masks_of(other[1], mine[1])
        by_value = case.nodata != "none" and not case.mask
        if wanted is None or (lossy and by_value):
            continue
        if not numpy.array_equal(mine[1], wanted):
            return f"level {index}: {int((mine[1] != wanted).sum())} of the mask differ"
    return None


def wrong_image(ours, case, wanted):
    """Level 0 against what was written."""
    if isinstance(ours, str):
        return ours
    if case.mask and not (ours[0][1] == numpy.where(mask_of(case) != 0, 255, 0)).all():
        return "the mask differs"
    if case.codec in LOSSY and case.size == (1, 1):  # one pixel in a tile may lose its colour
        return None
    return difference(ours[0][0], wanted, *bound_of(case, 0))


def method_of(case):
    if case.method != "default":
        return case.method
    return "nearest" if case.dress == "palette" else "average"


def wrong_overviews(ours, case):
    """Each level of a lossless file against the one before."""
    if isinstance(ours, str) or case.codec in LOSSY or SAMPLES[case.dtype].format == COMPLEX:
        return None
    nodata = nodata_of(case)
    for index, (old, new) in enumerate(zip(ours, ours[1:])):
        for band in range(case.bands):
            if case.dress == "rgba" and band == 3:
                continue
            problem = reference.wrong_band(method_of(case), old[0][band], new[0][band],
                                           old[1][band], nodata, SAMPLES[case.dtype].bits)
            if not problem and case.mask:
                problem = reference.wrong_mask(method_of(case), old[1][band], new[1][band])
            if problem:
                return f"level {index + 1}, band {band}: {problem}"
    return None


def gdal_mask(theirs, _ours):
    return numpy.where(theirs != 0, 255, 0)


def tifffile_mask(theirs, ours):
    return None if theirs is None else numpy.broadcast_to(numpy.where(theirs, 255, 0), ours.shape)


def check_file(path, case, dump, validators):
    """[(who, what)] of one file."""
    wanted = stored_pixels(case, pixels_of(case))
    ours = dump.read(path, case)
    problems = validators.problems(path, case)
    found = [("terrazzo", wrong_image(ours, case, wanted)),
             ("overviews", wrong_overviews(ours, case)),
             ("gdal", wrong_levels(attempt(readers.read_gdal, path, case), ours, case, gdal_mask)),
             ("tifffile", wrong_levels(attempt(readers.read_tifffile, path, case), ours, case,
                                       tifffile_mask)),
             ("metadata", attempt(wrong_metadata, path, case, wanted))]
    return problems + [(who, what) for who, what in found if what]


def run(cases, program, dump, validators, listed, spoil):
    """{who: [lines of what is wrong and not listed]}; spoil gets every file that is right."""
    wrong = collections.defaultdict(list)
    for case in cases:
        name = name_of(case)
        listed.meet(name)
        with tempfile.TemporaryDirectory() as folder:
            path, problem = write_case(program, case, folder)
            problems = check_file(path, case, dump, validators) if path else [("writer", problem)]
            if not problems:
                spoil(path, case)
        for who, what in problems:
            if not listed.covers(name, who):
                wrong[who].append(f"{name}: {what}")
    return wrong


# The checks themselves ---------------------------------------------------------------------------


def spoiled_copies(data, layout):
    """(what was done, bytes): what a full check has to find."""
    image = layout.images[0]
    offset, size = image.blocks()[-1]
    end = offset + size

    def changed(at, new):
        return data[:at] + new + data[at + len(new):]

    yield "a leader", changed(offset - 4, (size + 1).to_bytes(4, "little"))
    yield "a trailer", changed(end, bytes(byte ^ 255 for byte in data[end:end + 4]))
    table = image.entries[cog_layout.OFFSETS]
    if table.count > 1 and image.planes == 1:
        each = cog_layout.SIZES[table.type]
        first, second, end = (table.place + each * number for number in range(3))
        yield "the order of two tiles", changed(first, data[second:end] + data[first:second])
    at = data.index(b"KNOWN_INCOMPATIBLE_EDITION=NO\n ")
    yield "the word NO", changed(at, b"KNOWN_INCOMPATIBLE_EDITION=YES\n")


class Spoiler:
    """Spoils the first files that have several tiles, and asks who noticed."""

    MOST = 8

    def __init__(self, validators):
        self.validators, self.files, self.missed = validators, 0, []

    def __call__(self, path, case):
        layout = cog_layout.Layout(path)
        blocks = layout.images[0].blocks()
        if self.files == self.MOST or len(blocks) < 2 or blocks[-1].size < 8 or 0 in blocks[0]:
            return
        self.files += 1
        copy = pathlib.Path(path).with_name("spoiled.tif")
        for what, data in spoiled_copies(layout.data, layout):
            copy.write_bytes(data)
            noticed = {who for who, _ in self.validators.problems(str(copy), case)}
            for who in ("script", "layout", "command"):
                if who not in noticed and (who != "command" or self.validators.command.can):
                    self.missed.append(f"{name_of(case)}: {who} did not notice {what}")


def check_gdals(validators, folder):
    """What the checks say of files that GDAL made."""
    row, column = numpy.ogrid[:523, :700]
    pixels = numpy.stack([(row + column * band) % 251 for band in (1, 2, 3)]).astype("u1")
    wrong, count = [], 0
    for codec in ("none", "deflate", "jpeg"):
        for masked in (False, True):
            first, path = f"{folder}/first.tif", f"{folder}/{codec}-{masked}.tif"
            with rasterio.open(first, "w", driver="GTiff", width=700, height=523, count=3,
                               dtype="uint8") as file:
                file.write(pixels)
                if masked:
                    file.write_mask(numpy.where((row + 0 * column) % 90 > 30, 255, 0).astype("u1"))
            rasterio.shutil.copy(first, path, driver="COG", blocksize=128, compress=codec)
            wrong += [f"{codec}, {masked}: {what}" for what in validators.problems_of_others(path)]
            count += 1
    return count, wrong


def main():
    warnings.simplefilter("ignore")  # files without a georeference
    whole = matrix_options() == ["--whole"]
    listed = Listed(HERE / "cogs_differences.tsv")
    program = WriteProgram(sys.argv[1])
    codecs = built_codecs(program)
    print(f"# codecs of this build: {' '.join(codecs)}")
    folder = pathlib.Path(sys.argv[1]).parent
    cases = cog_cases.chosen_cases(codecs, MANY if whole else FEW)
    dump = readers.CogDump(str(folder / "level_dump"))
    validators = Validators(folder.parent / "terrazzo")
    spoiler = Spoiler(validators)
    tap = Tap()
    env = rasterio.Env(GDAL_PAM_ENABLED="NO", GDAL_NUM_THREADS="1", GDAL_TIFF_INTERNAL_MASK="YES")
    with env, tempfile.TemporaryDirectory() as place:
        count, wrong = check_gdals(validators, place)
        tap.check(f"the checks accept what GDAL writes ({count})", not wrong,
                  check_written.shown(wrong))
        wrong = run(cases, program, dump, validators, listed, spoiler)
    for (pattern, who), times in sorted(listed.needed.items()):
        print(f"# {times} known differences: {who} on {pattern}")
    tap.check("the programs ended well", (program.end(), dump.end(), validators.script.end())
              == (0, 0, 0))
    for who, claim in (
            ("writer", f"every file is written, in two ways with the same bytes ({len(cases)})"),
            ("script", "GDAL's own script has no complaint, with the full check"),
            ("rio-cogeo", "nor has rio-cogeo, which is strict"),
            ("layout", "every byte lies where it should"),
            ("command", "terrazzo validate has no complaint" if validators.command.can else
             "terrazzo validate is not in this build"),
            ("terrazzo", "our pixels are those that were written"),
            ("overviews", "overviews are what the method makes of the level before"),
            ("gdal", "GDAL reads the same levels and masks"),
            ("tifffile", "so does tifffile"),
            ("metadata", "GDAL sees the metadata that was given")):
        tap.check(claim, not wrong[who], check_written.shown(wrong[who]))
    tap.check(f"what was spoiled is noticed ({spoiler.files} files)",
              spoiler.files > 0 and not spoiler.missed, check_written.shown(spoiler.missed))
    tap.check("every listed difference is still one", not (whole and listed.unneeded()),
              "\n".join(listed.unneeded()))
    return tap.finish()


if __name__ == "__main__":
    if not shutil.which("tiffinfo"):
        skip_all("cogs", "libtiff-tools is not installed")
    sys.exit(main())
