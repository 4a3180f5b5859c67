#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what a build of the command makes of many files, and compares two such records.

    fingerprint.py record COMMAND FOLDER OUT.json
    fingerprint.py compare BEFORE.json AFTER.json

A change that only moves or renames must leave every line of the record as it was. For each TIFF file
below FOLDER and each run of RUNS the record has the exit code, the sha256 of what was written (or of
standard output), and the messages. `compare` fails if an exit code or a sha256 differs, and counts
messages that differ: those may change on purpose, so it only shows some of them.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# "OUT.x": a file that the run writes, and that is hashed.
RUNS = {
    "convert": ["convert", "--no-sync", "IN", "OUT.tif"],
    "convert lzw": ["convert", "--no-sync", "--co", "TILED=YES", "--co", "COMPRESS=LZW", "--co", "PREDICTOR=2",
                    "--co", "BLOCKXSIZE=128", "--co", "BLOCKYSIZE=128", "IN", "OUT.tif"],
    "convert zstd": ["convert", "--no-sync", "--co", "COMPRESS=ZSTD", "--co", "INTERLEAVE=BAND", "--co", "BIGTIFF=YES",
                     "IN", "OUT.tif"],
    "cog": ["cog", "--no-sync", "IN", "OUT.tif"],
    "cog lzw": ["cog", "--no-sync", "--co", "COMPRESS=LZW", "--co", "BLOCKSIZE=128", "--co", "OVERVIEW_RESAMPLING=BILINEAR",
                "IN", "OUT.tif"],
    "cog lerc": ["cog", "--no-sync", "--co", "COMPRESS=LERC_ZSTD", "--co", "MAX_Z_ERROR=0", "--co", "BLOCKSIZE=256",
                 "IN", "OUT.tif"],
    "read": ["read", "IN", "OUT.npy"],
    "read half": ["read", "--size", "50x0", "--resampling", "average", "IN", "OUT.npy"],
    "info": ["info", "--json", "IN"],
    "validate": ["validate", "--json", "IN"],
}
NOT_IMAGES = (".md", ".tsv", ".gz")
THREADS = 2
TIMEOUT_SECONDS = 60  # of a run; large images that take longer are not compared


def run_one(command, path, arguments, folder):
    """Returns [exit code, sha256, messages] of one run; the exit code is None if it took too long."""
    outs = [word for word in arguments if word.startswith("OUT.")]
    words = [str(path) if word == "IN" else os.path.join(folder, word) if word in outs else word for word in arguments]
    try:
        done = subprocess.run([command, *words], capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        done = subprocess.CompletedProcess(words, None, b"", b"")
    data = done.stdout
    for word in outs:
        out = pathlib.Path(folder, word)
        data = b"" if done.returncode is None else out.read_bytes() if out.is_file() else b""
    for left in pathlib.Path(folder).iterdir():
        left.unlink()
    messages = done.stderr.decode(errors="replace").replace(folder, "").replace(str(path), "IN")
    return [done.returncode, hashlib.sha256(data).hexdigest(), messages]


def record(command, folder, out):
    root = pathlib.Path(folder)
    paths = sorted(path for path in root.rglob("*") if path.is_file() and path.suffix not in NOT_IMAGES)

    def one_file(path):
        with tempfile.TemporaryDirectory() as scratch:
            return {name: run_one(command, path, arguments, scratch) for name, arguments in RUNS.items()}

    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        rows = dict(zip((str(path.relative_to(root)) for path in paths), pool.map(one_file, paths)))
    pathlib.Path(out).write_text(json.dumps(rows, indent=0, sort_keys=True))
    good = sum(row[0] == 0 for runs in rows.values() for row in runs.values())
    print(f"{len(rows)} files, {len(rows) * len(RUNS)} runs, {good} of them with exit code 0")


def compare(before, after):
    old, new = (json.loads(pathlib.Path(path).read_text()) for path in (before, after))
    differences = [f"{path}: only in one record" for path in old.keys() ^ new.keys()]
    messages, untimely = [], []
    runs = 0
    for path in sorted(old.keys() & new.keys()):
        for name in sorted(old[path].keys() | new[path].keys()):
            runs += 1
            a, b = (rows[path].get(name, [None, None, None]) for rows in (old, new))
            if a[0] is None or b[0] is None:
                untimely.append(f"{path}: {name}: not compared, it took too long")
                continue
            if a[0] != b[0]:
                differences.append(f"{path}: {name}: exit code {a[0]} before, {b[0]} after")
            elif a[1] != b[1]:
                differences.append(f"{path}: {name}: other bytes")
            if a[2] != b[2]:
                messages.append(f"{path}: {name}:\n  - {a[2].strip()}\n  + {b[2].strip()}")
    print("\n".join(differences + untimely))
    print(f"{runs} runs of {len(old)} files: {len(differences)} differ, {len(untimely)} were not compared, "
          f"{len(messages)} have other messages")
    print("\n".join(messages[:20]))
    return 1 if differences else 0


def main(words):
    if len(words) == 4 and words[0] == "record":
        record(*words[1:])
        return 0
    if len(words) == 3 and words[0] == "compare":
        return compare(*words[1:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
