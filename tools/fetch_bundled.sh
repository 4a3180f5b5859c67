#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fetches the source packages of cmake/bundled.txt into build/bundled-src, or into the folder that is
# given, unpacks them there and applies cmake/bundled.patch. What is there already with the right hash is not fetched again.
set -euo pipefail
cd "$(dirname "$0")/.."
list=$PWD/cmake/bundled.txt
folder=${1:-build/bundled-src}

# The list as lines of sha256sum: hash, file.
hashes() {
    sed -n 's/^\([a-z]*\)==\([0-9.]*\) --hash=sha256:\([0-9a-f]*\)$/\3  \1-\2.tar.gz/p' "$list"
}

find_python() {
    for python in "$PWD/.venv/bin/python" python3; do
        if "$python" -m pip --version >/dev/null 2>&1; then
            echo "$python"
            return
        fi
    done
    echo "fetch_bundled.sh: no Python with pip" >&2
    exit 1
}

# pip compares the hashes before it looks into a package. Wheels are fine for what it needs to read the
# packages' metadata.
fetch() {
    local python
    python=$(find_python)
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
        --no-binary deflate,zstandard,isal --dest "$folder" --requirement "$list" >&2
}

mkdir -p "$folder"
if ! (cd "$folder" && hashes | sha256sum --check --status 2>/dev/null); then
    fetch
    (cd "$folder" && hashes | sha256sum --check --quiet)
fi
hashes | while read -r _ package; do
    rm -rf "${folder:?}/${package%.tar.gz}"
    tar -xzf "$folder/$package" -C "$folder"
done
patch --quiet --strip=1 --directory="$folder" <cmake/bundled.patch
