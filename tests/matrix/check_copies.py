#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of the corpus, copied: specification and pixels of each go into a new file.

    check_copies.py WRITE_CASE           some files, each in one of several ways
    check_copies.py WRITE_CASE --whole   every file, in every way

A copy must have the same pixels, and `terrazzo info --json` and GDAL must report the same about it, but
for what depends on how a file is stored. What differs is listed in copies_differences.tsv, with the
reason. The command lies beside the folder of WRITE_CASE. Prints TAP; needs .venv.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = pathlib.Path(os.environ.get("TERRAZZO_CORPUS", HERE.parents[2] / "shared" / "corpus"))
sys.path.insert(0, str(HERE.parent))
from tap import Tap, matrix_options, skip_all  # noqa: E402

try:
    import rasterio
except ImportError as error:
    skip_all("copies", f"a package of tests/requirements.txt is missing: {error}")

from compare import Listed, attempt  # noqa: E402
from write_program import WriteProgram  # noqa: E402

SHOWN = 30
SAMPLE = 12  # one of so many files, without --whole
WAYS = {
    "tiles": {"compression": 8},
    "strips": {"compression": 5, "strips": 1, "big_endian": 1, "bigtiff": 1, "interleave": 1},
    "aligned": {"compression": 50000, "tile_width": 64, "tile_height": 32, "interleave": 2,
                "alignment": 512, "predictor": 1, "sparse": 1},
    "plain": {"compression": 1, "strips": 1, "tile_height": 7, "big_endian": 1},
}

# What a copy need not have, by its name in the JSON.
OF_THE_FILE = {"description", "files", "file_size", "bigtiff", "big_endian", "bytes_read", "reads",
               "directory_end", "ifd_count", "chain_complete", "page", "pages", "page_count",
               "levels", "masks", "ghost", "cog", "warnings", "warnings_dropped", "exif_ifd",
               "gps_ifd", "fill_order", "planar", "ycbcr_subsampling", "block", "overviews",
               "IMAGE_STRUCTURE", "offset", "format", "ifd", "ifd_offset"}


# The same in files of YCbCr, whose pixels are delivered as RGB, or without JPEG as plain bands.
OF_YCBCR = {"photometric", "photometric_name", "colorInterpretation", "extra_samples", "colours"}
YCBCR = 6
# What lies in directories of its own, to which a copy has no pointers, and what is not the image's.
NOT_COPIED = {"EXIF", "IMAGE_STRUCTURE", "DERIVED_SUBDATASETS", "SUBDATASETS"}


def without(value, names):
    """JSON without the members of these names."""
    if isinstance(value, dict):
        return {name: without(part, names) for name, part in value.items() if name not in names}
    if isinstance(value, list):
        return [without(part, names) for part in value]
    return value


def flat(value, name=""):
    """{path: plain value}"""
    if isinstance(value, dict) and value:
        return {key: leaf for part, inner in value.items()
                for key, leaf in flat(inner, f"{name}.{part}").items()}
    if isinstance(value, list) and any(isinstance(part, (dict, list)) for part in value):
        return {key: leaf for number, inner in enumerate(value)
                for key, leaf in flat(inner, f"{name}[{number}]").items()}
    return {name: value}


def differing(old, new):
    """A few lines about what is not the same."""
    old, new = flat(old), flat(new)
    names = [name for name in {**old, **new} if repr(old.get(name)) != repr(new.get(name))]
    lines = [f"{name[1:]}: {str(old.get(name))[:60]!r} became {str(new.get(name))[:60]!r}"
             for name in names[:4]]
    return "; ".join(lines) + (f"; {len(names)} in all" if len(names) > 4 else "") or None


# Readers -----------------------------------------------------------------------------------------


class PixelDump:
    """Our reader: one process for all files."""

    def __init__(self, path):
        self.process = subprocess.Popen([path, "native"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def read(self, path):
        """(what they are, their bytes), or the error as text."""
        self.process.stdin.write(os.fsencode(path) + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline().decode(errors="replace").rstrip("\n")
        word, _, rest = line.partition(" ")
        if word != "ok":
            return rest or "the program ended"
        return rest, self.process.stdout.read(int(rest.split()[0]))

    def end(self):
        self.process.stdin.close()
        return self.process.wait()


def info_of(command, path):
    done = subprocess.run([command, "info", "--json", "--quiet", "--no-crs", path],
                          capture_output=True)
    if not done.stdout:
        return {"error": done.stderr.decode(errors="replace")}
    return without(json.loads(done.stdout), OF_THE_FILE)


def gdal_of(path):
    """GDAL's report apart from pixels."""
    with rasterio.open(path) as file:
        points, crs = file.gcps
        domains = [domain for domain in file.tag_namespaces() if domain not in NOT_COPIED]
        return {
            "transform": list(file.transform), "crs": file.crs.to_wkt() if file.crs else None,
            "nodata": list(file.nodatavals), "dtypes": list(file.dtypes),
            "descriptions": list(file.descriptions), "scales": list(file.scales),
            "offsets": list(file.offsets), "units": list(file.units),
            "colours": [color.name for color in file.colorinterp],
            "tags": file.tags(), "domains": {name: file.tags(ns=name) for name in domains},
            "band tags": [file.tags(band) for band in file.indexes],
            "gcps": [[p.col, p.row, p.x, p.y, p.z] for p in points],
            "crs of gcps": crs.to_wkt() if crs else None,
            "masks": [[flag.name for flag in flags] for flags in file.mask_flag_enums],
            "palette": attempt(file.colormap, 1),
        }


# Copying -----------------------------------------------------------------------------------------


def problems_of(old, new):
    """[(reader, problem)], by what was seen of a file and of its copy."""
    (old_pixels, old_info, old_gdal), (new_pixels, new_info, new_gdal) = old, new
    ignored = OF_YCBCR if old_info["terrazzo"]["photometric"] == YCBCR else set()
    pixels = None
    if old_pixels != new_pixels:
        same = old_pixels[0] == new_pixels[0]
        pixels = "other pixels" if same else f"{old_pixels[0]} became {new_pixels[0]}"
    info = differing(without(old_info, ignored), without(new_info, ignored))
    gdal = None
    if not isinstance(old_gdal, str):
        gdal = new_gdal if isinstance(new_gdal, str) else \
            differing(without(old_gdal, ignored), without(new_gdal, ignored))
    return [(name, problem) for name, problem in
            (("pixels", pixels), ("info", info), ("gdal", gdal)) if problem]


class Copier:
    def __init__(self, program):
        folder = pathlib.Path(program).resolve().parent
        self.command = str(folder.parent / "terrazzo")
        self.program = WriteProgram(program)
        self.dump = PixelDump(str(folder / "pixel_dump"))
        self.unreadable = collections.Counter()

    def begin(self, path):
        """Whether the file can be copied; the program knows it then."""
        self.program.say("new")
        result, _ = self.program.ask("like", path)
        if result != "ok":
            self.unreadable[result] += 1
            return False
        self.old = self.look_at(path)
        return True

    def look_at(self, path):
        """What our reader, our command and GDAL say of a file."""
        return self.dump.read(path), info_of(self.command, path), attempt(gdal_of, path)

    def copy(self, path, way, folder):
        """[(reader, problem)] of one copy."""
        made = f"{folder}/copy.tif"
        self.program.say("new")
        self.program.ask("like", path)
        for name, value in {**WAYS[way], "no_sync": 1, "verify": 1}.items():
            self.program.say("set", name, value)
        result, message = self.program.ask("write", made)
        if result != "ok":
            return [("writer", f"{result}: {message}")]
        return problems_of(self.old, self.look_at(made))

    def end(self):
        return self.program.end(), self.dump.end()


def run(copier, names, whole, listed):
    """({reader: [lines of what is wrong and not listed]}, number of copies)"""
    wrong, count = collections.defaultdict(list), 0
    for number, name in enumerate(names):
        path = str(CORPUS / name)
        if not copier.begin(path):
            continue
        for way in WAYS if whole else [list(WAYS)[number % len(WAYS)]]:
            count += 1
            case = f"{name}:{way}"
            listed.meet(case)
            with tempfile.TemporaryDirectory() as folder:
                problems = copier.copy(path, way, folder)
            wrong_here = [(reader, problem) for reader, problem in problems
                          if not listed.covers(case, reader)]
            for reader, problem in wrong_here:
                wrong[reader].append(f"{case}: {problem}")
    return wrong, count


def main():
    tap = Tap()
    if not CORPUS.is_dir():
        tap.skip("copies", "no corpus at TERRAZZO_CORPUS or ../shared/corpus, so that none of its "
                           "files is copied")
        return tap.finish()
    whole = matrix_options() == ["--whole"]
    lines = (CORPUS / "MANIFEST.tsv").read_text().splitlines()[1:]
    names = sorted(line.split("\t")[0] for line in lines)[::1 if whole else SAMPLE]
    listed = Listed(HERE / "copies_differences.tsv")
    copier = Copier(sys.argv[1])
    with rasterio.Env(GDAL_PAM_ENABLED="NO", GDAL_NUM_THREADS="1",
                      GDAL_DISABLE_READDIR_ON_OPEN="EMPTY_DIR"):
        wrong, count = run(copier, names, whole, listed)
    for result, times in sorted(copier.unreadable.items()):
        print(f"# {times} of {len(names)} files are not copied: {result}")
    for (pattern, who), times in sorted(listed.needed.items()):
        print(f"# {times} known differences: {who} on {pattern}")
    tap.check("the programs ended well", copier.end() == (0, 0))
    for reader, claim in (("writer", f"every file can be copied ({count} copies)"),
                          ("pixels", "copies have the same pixels"),
                          ("info", "terrazzo info reports the same about them"),
                          ("gdal", "GDAL reports the same about them")):
        problems = wrong[reader]
        tap.check(claim, not problems,
                  "\n".join(problems[:SHOWN] + [f"{len(problems)} in all"]))
    tap.check("every listed difference is still one", not (whole and listed.unneeded()),
              "\n".join(listed.unneeded()))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
