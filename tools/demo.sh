#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What terrazzo does today, on a landscape made on the spot. Called by `make demo`.
set -euo pipefail
cd "$(dirname "$0")/.."
command=$(realpath "$1")
tools=$PWD/tools/demo
mkdir -p build/demo
cc -std=c11 -O2 -ffp-contract=off -o build/demo/terrain "$tools/terrain.c" -lm
cd build/demo

# run WORD...: shows the command line and carries it out. What stands in quiet is not shown.
quiet=()
run() {
    printf '\n$ terrazzo %s\n' "$*"
    "$command" "$1" "${quiet[@]}" "${@:2}"
}

size=4096
place=(--epsg 32632 --transform 600000,10,0,5280000,0,-10)
printf 'Making a landscape of %s x %s pixels: heights (float32) and a picture (RGB) of it\n' $size $size
quiet=(--overwrite --no-sync)
./terrain heights $size | run convert --shape ${size}x$size --dtype float32 --nodata -9999 "${place[@]}" - heights.tif
./terrain picture $size | run convert --shape ${size}x${size}x3 --dtype uint8 "${place[@]}" - picture.tif

printf '\n--- Cloud Optimized GeoTIFFs, with overviews, in one pass\n'
run cog --dry-run heights.tif heights-cog.tif
run cog -v --co STATISTICS=YES heights.tif heights-cog.tif
run cog -p jpeg --co QUALITY=85 picture.tif picture-cog.tif
ls -l heights.tif heights-cog.tif picture.tif picture-cog.tif | awk '{ print "(" $NF ": " $5 " bytes)" }'
quiet=()
run validate --full heights-cog.tif picture-cog.tif
run diff --pixels-only heights.tif heights-cog.tif
run info heights-cog.tif

printf '\n--- Pixels, from the level and the tiles that it takes\n'
run plan --size 1024x0 heights-cog.tif
quiet=(--overwrite)
run read --window 2048,1024,512,512 --masked heights-cog.tif window.npy
run read --size 1024x0 --resampling average picture-cog.tif picture.png
run read --size 1024x0 --resampling average heights-cog.tif heights.png
ls -l window.npy picture.png heights.png | awk '{ print "(" $NF ": " $5 " bytes)" }'
quiet=()
run view picture-cog.tif

printf '\n--- A damaged file is told, not guessed at\n'
head -c 300 heights-cog.tif >damaged.tif
status=0
run info damaged.tif 2>&1 || status=$?
if [ $status -ne 1 ]; then
    echo "demo: expected exit code 1, got $status" >&2
    exit 1
fi
printf '(exit code 1)\n'

printf '\n--- How long it takes\n\n'
python3 "$tools/speed.py" "$command" .

printf '\nThe files are in build/demo; picture.png and heights.png are the pictures.\n'
