# SPDX-License-Identifier: Apache-2.0
"""What the measurements share: where things are, the report, ratios."""

import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "bench"
PYTHON = ROOT / "build" / "bench-python"


class Report:
    """Lines that are printed, and kept for the README by section."""

    def __init__(self):
        self.sections = {}
        self.current = None

    def start(self, section):
        self.current = self.sections.setdefault(section, [])

    def show(self, line=""):
        print(line, flush=True)
        self.current.append(line + "\n")

    def table(self, heads, rows):
        self.show("| " + " | ".join(heads) + " |")
        self.show("|" + "---|" * len(heads))
        for row in rows:
            self.show("| " + " | ".join(str(cell) for cell in row) + " |")
        self.show()


report = Report()
show = report.show


def median_ratio(ours, theirs):
    return statistics.median(a / b for a, b in zip(theirs, ours))


def spread(values):
    quarters = statistics.quantiles(values, n=4)
    return f"{quarters[0]:.2f} to {quarters[2]:.2f}"


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(v) for v in values))


def build(folder):
    for command in (["cmake", "--preset", "bundled", "-B", str(folder), "-DTERRAZZO_BENCH=ON"],
                    ["cmake", "--build", str(folder), "-j", str(os.cpu_count())]):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)


def gdal():
    """(libgdal, environment that it wants)"""
    library = subprocess.run([str(ROOT / "tools/oracle/fetch_gdal.sh")], text=True, check=True,
                             stdout=subprocess.PIPE).stdout.strip()
    package = pathlib.Path(library).parent.parent / "rasterio"
    return library, dict(os.environ, PROJ_DATA=str(package / "proj_data"),
                         GDAL_DATA=str(package / "gdal_data"))


def newest_python():
    """The newest peers want Python 3.13."""
    places = [shutil.which("python3.13"), *pathlib.Path.home().glob(
        ".pyenv/versions/3.13*/bin/python3.13"), sys.executable]
    for place in filter(None, places):
        if subprocess.run([place, "--version"], capture_output=True).returncode == 0:
            return str(place)


def peers_python():
    """A Python with the packages of requirements.txt, made once."""
    stamp, wanted = PYTHON / "requirements.txt", ROOT / "bench" / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != wanted.read_text():
        print(f"Installing the packages of {wanted} into {PYTHON}", file=sys.stderr)
        subprocess.run([newest_python(), "-m", "venv", str(PYTHON)], check=True)
        subprocess.run([str(PYTHON / "bin/python"), "-m", "pip", "install", "--quiet",
                        "--disable-pip-version-check", "-r", str(wanted)], check=True)
        stamp.write_text(wanted.read_text())
    return str(PYTHON / "bin/python")
