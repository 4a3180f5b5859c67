#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of every type, codec, predictor, byte order, layout and size, written now by us, read by us,
by GDAL, by tifffile and by libtiff's tools.

    check_written.py WRITE_CASE               cases in which every two values occur together
    check_written.py WRITE_CASE --whole       every three values
    check_written.py WRITE_CASE --every N     one of N of these
    check_written.py WRITE_CASE --libraries N N cases of each codec that NVIDIA's libraries have, or
                                              --libraries whole, and they must have encoded it

Each file is written in several ways (threads, memory, batches, sinks) that must give the same bytes.
Lossless files must give the pixels that were written, bit for bit, in all readers; lossy ones within
the bounds of written_cases.py. Files must be made as they were asked for: what cannot be is refused.
What differs is listed in written_differences.tsv, with the reason. LEVEL_DUMP, which reads for us,
lies beside WRITE_CASE. Prints TAP; needs .venv.
"""
import collections
import hashlib
import itertools
import pathlib
import shutil
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from tap import Tap, matrix_options, skip_all  # noqa: E402

try:
    import numpy
    import rasterio
    import imagecodecs  # noqa: F401
    import tifffile  # noqa: F401
except ImportError as error:
    skip_all("written", f"a package of tests/requirements.txt is missing: {error}")

import written_cases  # noqa: E402
import written_readers as readers  # noqa: E402
from compare import Listed, attempt, difference  # noqa: E402
from product import LIBRARY_CODECS, some_of_each  # noqa: E402
from write_program import WriteProgram  # noqa: E402
from written_cases import (CODECS, DECODERS_DIFFER, LAYOUTS, LIBRARY_NAMES, LOSSY,  # noqa: E402
                           SAMPLES, chosen_cases, mask_of, name_of, nodata_of, pixels_of,
                           scale_of, stored_pixels)
from written_dress import DRESSES, wrong_metadata  # noqa: E402

SHOWN = 20
FIRST_WAY = ("pushed", 0, "packed", "path", 0, 0)
OTHER_WAYS = [  # giving, rows, lying, sink, threads, bytes of memory
    ("pushed", 1, "band", "memory", 1, 0), ("pushed", 24, "pixel", "callback", 2, 0),
    ("ragged", 0, "flipped", "path", 3, 1), ("ragged", 0, "packed", "memory", 2, 1 << 20),
    ("pulled", 0, "packed", "callback", 2, 1), ("pulled", 24, "packed", "memory", 1, 0),
    ("columns", 0, "packed", "blind", 3, 1), ("columns", 7, "packed", "path", 2, 100000),
    ("pushed", 16, "band", "blind", 4, 1),
]


# Writing -----------------------------------------------------------------------------------------


def tell_case(program, case):
    """All that the program must know, but for the pixels."""
    width, height = LAYOUTS[case.layout]
    number, options = CODECS[case.codec]
    settings = {"compression": number, "predictor": case.predictor,
                "interleave": ["pixel", "band", "tile"].index(case.interleave),
                "big_endian": case.order == "big", "sparse": case.sparse,
                "alignment": case.alignment, "strips": width is None, "tile_width": width or 0,
                "tile_height": height, "nan_to_nodata": case.nodata != "keep", "no_sync": True,
                "bigtiff": ["if_needed", "yes", "no", "if_safer"].index(case.bigtiff), **options}
    if case.dtype in written_cases.NARROW:
        settings["bits_per_sample"] = SAMPLES[case.dtype].bits
    program.say("new")
    program.say("image", *case.size, case.bands, LIBRARY_NAMES.get(case.dtype, case.dtype))
    for name, value in settings.items():
        program.say("set", name, value)
    if case.bands == 4 and case.dress != "rgba":
        program.say("set", "photometric", settings.get("photometric", 1))
        program.say("extra_samples", 0, 0, 0)  # a fourth band of uint8 would be alpha
    nodata = nodata_of(case)
    if nodata is not None:
        whole = {1: "uint", 2: "int", 5: "int"}.get(SAMPLES[case.dtype].format, "float")
        program.say("nodata", whole, nodata)
    DRESSES[case.dress][0](program, case)


def other_ways(case, count):
    """One or two of them, by chance, but always the same."""
    number = zlib.crc32(name_of(case).encode())
    first = number % len(OTHER_WAYS)
    second = (first + 1 + number // len(OTHER_WAYS) % (len(OTHER_WAYS) - 1)) % len(OTHER_WAYS)
    return [OTHER_WAYS[first], OTHER_WAYS[second]][:count]


def write_in(program, way, path):
    giving, rows, lying, sink, threads, memory = way
    program.say("way", giving, rows, lying, sink)
    program.say("set", "threads", threads)
    program.say("set", "max_host_bytes", memory)
    return program.ask("write", path)


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def write_case(program, case, others, folder):
    """(path, None) or (None, what is wrong). Others: in how many further ways it is written."""
    raw, raw_mask = f"{folder}/pixels", f"{folder}/mask"
    pathlib.Path(raw).write_bytes(pixels_of(case).tobytes())
    tell_case(program, case)
    program.say("pixels", raw)
    if case.mask:
        pathlib.Path(raw_mask).write_bytes(mask_of(case).tobytes())
        program.say("mask", raw_mask)
    paths = [f"{folder}/{number}.tif" for number in range(3)]
    for way, path in zip((FIRST_WAY, *other_ways(case, others)), paths):
        result, message = write_in(program, way, path)
        if result != "ok":
            return None, f"{result}: {message} ({way})"
        if pathlib.Path(path).stat().st_size != message:
            return None, f"reported {message} bytes ({way})"
        if digest(path) != digest(paths[0]):
            return None, f"other bytes by {way}"
    return paths[0], None


# Checking ----------------------------------------------------------------------------------------


def our_difference(ours, case, wanted):
    if isinstance(ours, str):
        return ours
    pixels, mask = ours
    if case.mask:
        valid = numpy.where(mask_of(case) != 0, 255, 0)
        if not (mask == valid).all():
            return "the mask differs"
    if case.codec in LOSSY and case.size == (1, 1):  # one pixel in a tile may lose its colour
        return None
    return difference(pixels, wanted, *(scale_of(case) * bound
                                        for bound in LOSSY.get(case.codec, (0, 0))))


def other_difference(theirs, ours, case, wanted):
    if isinstance(theirs, str) or case.codec not in LOSSY:
        return difference(theirs, wanted, 0, 0)
    if isinstance(ours, str):
        return None  # our own problem, which is reported
    limit = DECODERS_DIFFER.get(case.codec, 0) * scale_of(case)
    return difference(theirs.astype(ours[0].dtype), ours[0], limit, limit)


def check_file(path, case, dump):
    """[(reader, problem)] of one file."""
    wanted = stored_pixels(case, pixels_of(case))
    ours = dump.read(path, case)
    problems = [("terrazzo", our_difference(ours, case, wanted))]
    for name, read in (("gdal", readers.read_gdal), ("tifffile", readers.read_tifffile)):
        theirs = attempt(read, path, case)
        problems.append((name, other_difference(theirs, ours, case, wanted)))
    problems += [
        ("structure", attempt(readers.wrong_structure, path, case)),
        ("metadata", attempt(wrong_metadata, path, case, wanted)),
        ("libtiff", readers.wrong_by(["tiffinfo"] + ["-D"] * (not case.sparse), path)),
        ("libtiff", readers.wrong_by(["tiffdump"], path)),
    ]
    return [(name, problem) for name, problem in problems if problem]


def run(cases, others, program, dump, listed):
    """{reader: [lines of what is wrong and not listed]}"""
    wrong = collections.defaultdict(list)
    for case in cases:
        name = name_of(case)
        listed.meet(name)
        with tempfile.TemporaryDirectory() as folder:
            path, problem = write_case(program, case, others, folder)
            problems = check_file(path, case, dump) if path else [("writer", problem)]
            left = {entry.name for entry in pathlib.Path(folder).iterdir()}
        if left - {"pixels", "mask", "0.tif", "1.tif", "2.tif"}:
            problems.append(("writer", f"left {sorted(left)}"))
        for reader, problem in problems:
            if not listed.covers(name, reader):
                wrong[reader].append(f"{name}: {problem}")
    return wrong


def built_codecs(program):
    """Those that this build can write."""
    found = []
    for codec in CODECS:
        tell_case(program, written_cases.PLAIN._replace(codec=codec, bands=3))
        if program.ask("plan")[0] != "unsupported":
            found.append(codec)
    return found


def check_refusals(program, codecs, every):
    """(combinations asked for, what was taken or refused wrongly)"""
    count, wrong = 0, []
    for case in itertools.islice(written_cases.base_cases(), 0, None, every):
        if case.codec not in codecs:
            continue
        tell_case(program, case)
        result, message = program.ask("plan")
        reason = written_cases.refusal(case)
        count += 1
        if result == "ended":
            return count, wrong + [message]
        if reason and result not in ("arg", "unsupported"):
            wrong.append(f"{name_of(case)}: {result}, although {reason}")
        elif not reason and result != "ok":
            wrong.append(f"{name_of(case)}: {result}: {message}")
    return count, wrong


def of_libraries(codecs):
    return [name for name in codecs if CODECS[name][0] in LIBRARY_CODECS.values()]


def needed_of(codecs):
    """What the program fails without, as an environment: see tests/support/device/on_device.h."""
    numbers = sorted({CODECS[name][0] for name in of_libraries(codecs)})
    return {"TERRAZZO_TEST_NEEDED": " ".join(map(str, numbers))}


def choose(codecs, option=None, number=None):
    if option == "--libraries" and number != "whole":
        theirs = of_libraries(codecs)
        return some_of_each(chosen_cases(2, theirs), theirs, int(number))
    cases = chosen_cases(3 if option else 2, codecs)
    return cases[::int(number)] if option == "--every" else cases


def shown(lines):
    return "\n".join(lines[:SHOWN] + [f"{len(lines)} in all"])


def main():
    option = matrix_options()
    whole = option[-1:] in (["--whole"], ["whole"])
    listed = Listed(HERE / "written_differences.tsv")
    program = WriteProgram(sys.argv[1], needed_of(CODECS) if "--libraries" in option else {})
    codecs = built_codecs(program)
    print(f"# codecs of this build: {' '.join(codecs)}")
    cases = choose(codecs, *option)
    dump = readers.LevelDump(str(pathlib.Path(sys.argv[1]).parent / "level_dump"))
    tap = Tap()
    every = 1001 if "--libraries" in option else 1 if option else 7  # no library refuses anything
    count, wrong = check_refusals(program, codecs, every)
    tap.check(f"what cannot be written is refused, and nothing else ({count} combinations)",
              not wrong, shown(wrong))
    with rasterio.Env(GDAL_PAM_ENABLED="NO", GDAL_NUM_THREADS="1"):
        wrong = run(cases, 2 if option else 1, program, dump, listed)
    for (pattern, who), times in sorted(listed.needed.items()):
        print(f"# {times} known differences: {who} on {pattern}")
    tap.check("the programs ended well", (program.end(), dump.end()) == (0, 0))
    for reader, claim in (
            ("writer", f"every file is written, in every way with the same bytes ({len(cases)})"),
            ("structure", "files are made as they were asked for"),
            ("terrazzo", "our pixels are those that were written"),
            ("gdal", "and those that GDAL reads"), ("tifffile", "and those that tifffile reads"),
            ("metadata", "GDAL sees the metadata that was given"),
            ("libtiff", "libtiff's tools have no complaint")):
        tap.check(claim, not wrong[reader], shown(wrong[reader]))
    tap.check("every listed difference is still one", not (whole and listed.unneeded()),
              "\n".join(listed.unneeded()))
    return tap.finish()


if __name__ == "__main__":
    if not shutil.which("tiffinfo") or not shutil.which("tiffdump"):
        skip_all("written", "libtiff-tools is not installed")
    sys.exit(main())
