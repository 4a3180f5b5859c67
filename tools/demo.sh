#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What terrazzo does today, on a terrain model made on the spot. Called by `make demo`.
set -euo pipefail
cd "$(dirname "$0")/.."
command=$(realpath "$1")
mkdir -p build/demo
python3 tools/make_demo_raster.py build/demo/terrain.tif
head -c 300 build/demo/terrain.tif >build/demo/damaged.tif
cd build/demo

show() {
    printf '\n$ terrazzo %s\n' "$*"
}

show info terrain.tif
"$command" info terrain.tif

show info --json terrain.tif '| cut -c 1-100 | head -n 24'
"$command" info --json terrain.tif >terrain.json
python3 -m json.tool terrain.json >/dev/null
cut -c 1-100 terrain.json | head -n 24

show plan --size 512x0 terrain.tif '    # which tiles a picture takes'
"$command" plan --size 512x0 terrain.tif

show read --size 512x0 --resampling average terrain.tif terrain.png
"$command" read --overwrite --size 512x0 --resampling average terrain.tif terrain.png
ls -l terrain.png | awk '{ print "(" $5 " bytes)" }'

show convert --co TILED=YES --co COMPRESS=DEFLATE --co PREDICTOR=3 --co ZLEVEL=FAST terrain.tif smaller.tif
"$command" convert --overwrite --verbose --co TILED=YES --co COMPRESS=DEFLATE --co PREDICTOR=3 \
    --co ZLEVEL=FAST terrain.tif smaller.tif
ls -l terrain.tif smaller.tif | awk '{ print "(" $NF ": " $5 " bytes)" }'

show diff terrain.tif smaller.tif '    # the same pixels in another layout'
status=0
"$command" diff terrain.tif smaller.tif || status=$?
if [ $status -ne 0 ] && [ $status -ne 3 ]; then
    exit $status
fi

show info damaged.tif '    # the first 300 bytes of the same file'
status=0
"$command" info damaged.tif 2>&1 || status=$?
if [ $status -ne 1 ]; then
    echo "demo: expected exit code 1, got $status" >&2
    exit 1
fi
printf '(exit code 1)\n\nThe files are in build/demo.\n'
