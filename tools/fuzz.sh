#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzz target for a number of seconds. New inputs are collected in build/fuzz/corpus and
# crashes in build/fuzz/crashes; the seeds of fuzz/seeds are not changed.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1

cmake --preset fuzz
cmake --build build/fuzz -j "$(nproc)"
failed=0
found=0
for source in fuzz/fuzz_*.c; do
    [ -e "$source" ] || continue
    found=1
    name=$(basename "$source" .c)
    name=${name#fuzz_}
    corpus=build/fuzz/corpus/$name
    crashes=build/fuzz/crashes/$name
    mkdir -p "$corpus" "$crashes" "fuzz/seeds/$name"
    echo "== $name for $seconds s"
    "build/fuzz/tests/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -print_final_stats=1 -dict=fuzz/tiff.dict -artifact_prefix="$crashes/" "$corpus" "fuzz/seeds/$name" || failed=1
done
if [ $found -eq 0 ]; then
    echo "fuzz: there are no targets" >&2
    exit 1
fi
exit $failed
