#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fetches the pinned libgdal that tests and benchmarks compare with, once, into build/oracle, and prints
# its path. It is the one bundled in the rasterio wheel for CPython 3.13; no Python 3.13 is needed,
# because the programs here load the library itself.
set -euo pipefail
cd "$(dirname "$0")/../.."

version=1.5.2
sha256=be2d2a825d545e6c6e8b2aa0d67c963e9ffc44ce3cecbab4ffe95dc87c0fc0de
folder=build/oracle/rasterio-$version

if [ ! -e "$folder/fetched" ]; then
    tools/setup.sh python
    rm -rf "$folder"
    mkdir -p "$folder"
    .venv/bin/python -m pip download --quiet --disable-pip-version-check --dest "$folder" \
        --python-version 313 --platform manylinux_2_28_x86_64 --only-binary=:all: --no-deps \
        "rasterio==$version" >&2
    wheel=$(echo "$folder"/*.whl)
    echo "$sha256  $wheel" | sha256sum --check --quiet >&2
    .venv/bin/python -m zipfile -e "$wheel" "$folder"
    rm "$wheel"
    touch "$folder/fetched"
fi
echo "$PWD/$folder"/rasterio.libs/libgdal-*.so*
