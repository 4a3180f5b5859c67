#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the command on the files of the demo, and GDAL beside it where there is one.

    speed.py TERRAZZO FOLDER

GDAL is that of rasterio, in .venv or in this Python, else gdal_translate; it is never required. Both get
the same options and all cores. Each figure is the better of two runs."""

import json
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RUNS = 2
COGS = {"heights to COG, Deflate": ("heights.tif", {"COMPRESS": "DEFLATE", "PREDICTOR": "YES",
                                                    "OVERVIEW_PREDICTOR": "YES"}),
        "the same in a hurry": ("heights.tif", {"COMPRESS": "DEFLATE", "PREDICTOR": "YES",
                                                "OVERVIEW_PREDICTOR": "YES", "LEVEL": "FAST"}),
        "picture to COG, JPEG": ("picture.tif", {"COMPRESS": "JPEG", "QUALITY": "85"})}
READ = "reading all heights of it"
GDAL_FASTEST = "1"
COMMON = {"BLOCKSIZE": "512", "RESAMPLING": "AVERAGE"}

# Runs in the Python that has rasterio; start-up and import are not measured.
BY_RASTERIO = """
import json, pathlib, sys, time
import rasterio, rasterio.shutil
work = json.load(sys.stdin)
found = {"gdal": rasterio.__gdal_version__, "seconds": []}
def do(job):
    if job["out"]:
        rasterio.shutil.copy(job["path"], job["out"], driver="COG", NUM_THREADS="ALL_CPUS", **job["options"])
    else:
        with rasterio.open(job["path"], NUM_THREADS="ALL_CPUS") as file:
            file.read(1)
for job in work:
    times = []
    for _ in range(job["runs"]):
        if job["out"]:
            pathlib.Path(job["out"]).unlink(missing_ok=True)
        start = time.perf_counter()
        do(job)
        times.append(time.perf_counter() - start)
    found["seconds"].append(min(times))
print(json.dumps(found))
"""


def measure(command):
    """The better time of the command, from its start to its end."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return min(times)


def jobs(folder):
    """What is measured: name, source, result of GDAL, options."""
    made = [{"name": name, "path": str(folder / source), "out": str(folder / f"gdal-{i}.tif"),
             "options": COMMON | options, "runs": RUNS}
            for i, (name, (source, options)) in enumerate(COGS.items())]
    return made + [{"name": READ, "path": str(folder / "heights-cog.tif"), "out": None, "options": {},
                    "runs": RUNS}]


def for_gdal(work):
    """The same, with the least effort that GDAL has where ours is less."""
    return [job | {"options": {key: GDAL_FASTEST if value == "FAST" else value
                               for key, value in job["options"].items()}} for job in work]


def by_terrazzo(terrazzo, job, folder):
    if not job["out"]:
        return measure([terrazzo, "read", "-q", "--format", "raw", job["path"], "-"])
    options = [word for key, value in job["options"].items() if not key.startswith("OVERVIEW_")
               for word in ("--co", f"{key}={value}")]
    out = folder / "speed.tif"
    seconds = measure([terrazzo, "cog", "-q", "--no-sync", "--overwrite", *options, job["path"], out])
    job["size"] = out.stat().st_size
    out.unlink()
    return seconds


def by_rasterio(python, work):
    """Version and seconds, or None where there is no rasterio."""
    done = subprocess.run([python, "-W", "ignore", "-c", BY_RASTERIO], input=json.dumps(work), text=True,
                          capture_output=True)
    if done.returncode != 0:
        return None
    found = json.loads(done.stdout)
    return f"GDAL {found['gdal']}", found["seconds"]


def by_program(work):
    """The same with gdal_translate, which writes only."""
    program = shutil.which("gdal_translate")
    if program is None:
        return None
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    seconds = []
    for job in work:
        options = [word for key, value in job["options"].items() for word in ("-co", f"{key}={value}")]
        seconds.append(measure([program, "-q", "-of", "COG", "-co", "NUM_THREADS=ALL_CPUS", *options,
                                job["path"], job["out"]]) if job["out"] else None)
    return version.split(",")[0], seconds


def find_gdal(work):
    for python in (ROOT / ".venv" / "bin" / "python", sys.executable):
        if pathlib.Path(python).exists():
            found = by_rasterio(str(python), work)
            if found is not None:
                return found
    return by_program(work)


def cell(seconds, size):
    if seconds is None:
        return ""
    time_text = f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.1f} ms"
    return f"{time_text}, {size / 1e6:.1f} MB" if size else time_text


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: speed.py TERRAZZO FOLDER")
    folder = pathlib.Path(sys.argv[2])
    work = jobs(folder)
    ours = [by_terrazzo(sys.argv[1], job, folder) for job in work]
    gdal = find_gdal(for_gdal(work))
    print(f"  {'':26}{'terrazzo':24}{gdal[0] if gdal else ''}".rstrip())
    for i, job in enumerate(work):
        out = pathlib.Path(job["out"] or "")
        theirs = cell(gdal[1][i], out.stat().st_size if job["out"] else 0) if gdal else ""
        print(f"  {job['name']:26}{cell(ours[i], job.get('size', 0)):24}{theirs}".rstrip())
        if job["out"] and gdal:
            out.unlink()
    if not gdal:
        print("  (there is no GDAL here to compare with)")


if __name__ == "__main__":
    main()
