# SPDX-License-Identifier: Apache-2.0
"""The vendor's libraries and headers, as PyPI has them: fetched once into a folder of the build."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LINE = re.compile(r"([a-z0-9-]+)==([0-9.]+) --hash=sha256:([0-9a-f]{64})")


def listed():
    """The lines of wheels.txt by package and version."""
    return {(match[1], match[2]): match for match in
            map(LINE.fullmatch, (HERE / "wheels.txt").read_text().splitlines()) if match}


def python_with_pip():
    for python in (str(ROOT / ".venv/bin/python"), sys.executable):
        if shutil.which(python) and not subprocess.run([python, "-m", "pip", "--version"],
                                                       capture_output=True).returncode:
            return python
    raise SystemExit("no Python with pip")


def find_wheel(folder, match):
    """The file of a package that is there with the right hash."""
    for path in folder.glob(f"{match[1].replace('-', '_')}-{match[2]}-*.whl"):
        if hashlib.sha256(path.read_bytes()).hexdigest() == match[3]:
            return path
    return None


def fetch(folder, matches):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as wanted:
        wanted.write("".join(match[0] + "\n" for match in matches))
        wanted.flush()
        done = subprocess.run([python_with_pip(), "-m", "pip", "download", "--quiet",
                               "--disable-pip-version-check", "--no-deps", "--require-hashes",
                               "--only-binary", ":all:", "--dest", str(folder),
                               "--requirement", wanted.name], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"pip cannot fetch the packages:\n{done.stderr}")


def unpack(folder, packages):
    """The unpacked packages: folders that hold nvidia/."""
    lines = listed()
    folder.mkdir(parents=True, exist_ok=True)
    missing = [lines[package] for package in packages if not find_wheel(folder, lines[package])]
    while missing:  # pip takes one version of each at a time
        now = list({match[1]: match for match in missing}.values())
        fetch(folder, now)
        missing = [match for match in missing if match not in now]
    places = {}
    for package in packages:
        wheel = find_wheel(folder, lines[package])
        place = folder / wheel.stem
        if not place.is_dir():
            unpacked = tempfile.mkdtemp(dir=folder)
            zipfile.ZipFile(wheel).extractall(unpacked)
            os.rename(unpacked, place)
        places[package] = place
    return places
