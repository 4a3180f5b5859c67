#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file of the corpus, read whole, beside what GDAL and tifffile read of it.

    check_pixels.py PIXEL_DUMP [--every N]

With --every, each N-th file only, unless TERRAZZO_LONG is set.

The corpus' oracle has, for each file, a digest of the pixels and a verdict: both decoders read the
same pixels, or both refuse the file. Ours must be the same, but for the files of
pixel_differences.tsv, each of which must still differ. Prints TAP.
"""
import gzip
import hashlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from tap import skip_all  # noqa: E402

CORPUS = Path(os.environ.get("TERRAZZO_CORPUS", HERE.parents[2] / "shared" / "corpus"))


def dump_all(program, names):
    """{name: digest, or the error}"""
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def feed():
        with process.stdin as stdin:
            for name in names:
                stdin.write(os.fsencode(CORPUS / name) + b"\n")

    threading.Thread(target=feed, daemon=True).start()
    found = {}
    for name in names:
        line = process.stdout.readline().decode(errors="replace").rstrip("\n")
        word, _, rest = line.partition(" ")
        if word == "ok":
            pixels = process.stdout.read(int(rest.split()[0]))
            found[name] = hashlib.sha256(pixels).hexdigest()
        else:
            found[name] = f"error: {rest}" if word == "error" else "the program ended"
    status = process.wait()
    return found, status


def read_differences():
    rows = {}
    for line in (HERE / "pixel_differences.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            name, reason = line.split("\t")
            rows[name] = reason
    return rows


def main():
    if not CORPUS.is_dir():
        skip_all("corpus", "no corpus at TERRAZZO_CORPUS or ../shared/corpus")
    files = json.load(gzip.open(CORPUS / "ORACLE.json.gz"))["files"].values()
    step = int(sys.argv[3]) if sys.argv[2:3] == ["--every"] and "TERRAZZO_LONG" not in os.environ else 1
    files = {entry["name"]: entry for entry in sorted(files, key=lambda entry: entry["name"])[::step]}
    found, status = dump_all(sys.argv[1], sorted(files))
    listed = read_differences()
    wrong, right, unneeded, given = [], 0, [], []
    for name, entry in sorted(files.items()):
        if entry["expect"] == "read":
            same = found[name] == entry["gdal"]["pixels"]["digest"]
            right += same
            if same and name in listed:
                unneeded.append(name)
            if not same and name not in listed:
                wrong.append(f"{name}: {found[name]}")
        elif entry["expect"] == "refuse" and not found[name].startswith("error: "):
            given.append(f"{name}: {found[name]}")
    results = [
        ("the program read every file and ended well", [f"status {status}"] if status else []),
        (f"pixels equal those of GDAL and tifffile ({right} files)", wrong),
        ("files that both refuse are refused", given),
        ("every listed difference is still one", unneeded),
    ]
    print(f"1..{len(results)}")
    for number, (claim, problems) in enumerate(results, 1):
        for problem in problems:
            print(f"# {problem}")
        print(f"{'not ok' if problems else 'ok'} {number} - {claim}")
    return int(any(problems for _, problems in results))


if __name__ == "__main__":
    sys.exit(main())
