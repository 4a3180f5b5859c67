#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fetches GDAL's own check of Cloud Optimized GeoTIFFs, once, into build/oracle, and prints the folder
# that has the package osgeo_utils. The wheel is pure Python, and wants a package osgeo: see
# tests/matrix/cog_gdal_script.py.
set -euo pipefail
cd "$(dirname "$0")/../.."

version=3.12.4.0
sha256=5ef093f02aca86e41fec149f5dc1cf9bf2a8a3cee76cf3fd5e32de06fa2e1bcc
folder=build/oracle/gdal-utils-$version

if [ ! -e "$folder/fetched" ]; then
    tools/setup.sh python
    rm -rf "$folder"
    mkdir -p "$folder"
    .venv/bin/python -m pip download --quiet --disable-pip-version-check --dest "$folder" \
        --only-binary=:all: --no-deps "gdal-utils==$version" >&2
    wheel=$(echo "$folder"/*.whl)
    echo "$sha256  $wheel" | sha256sum --check --quiet >&2
    .venv/bin/python -m zipfile -e "$wheel" "$folder"
    rm "$wheel"
    touch "$folder/fetched"
fi
echo "$PWD/$folder"
