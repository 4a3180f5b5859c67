#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs what a target of the Makefile needs and is not there yet; with --check as the first argument it
# installs nothing, and lists what is missing with the command that installs it. Each argument is a group:
#   build   compiler, cmake, the optional libraries      test    cmocka, clang, g++, valgrind, PoCL
#   python  the project's own Python environment, .venv  fuzz    clang with libFuzzer
#   format  clang-format                                 bundled nasm, patch, pip: a bundled build
#   cuda    nvcc, into .venv where there is none
# Prints nothing when nothing is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()

# need PACKAGE COMMAND...: PACKAGE is missing when COMMAND fails.
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

# need_library PACKAGE MODULE: PACKAGE is missing when pkg-config does not know MODULE.
need_library() {
    need "$1" pkg-config --exists "$2"
}

has_library() {
    python3 -c "import ctypes, sys; ctypes.CDLL(sys.argv[1])" "$1"
}

links_libfuzzer() {
    echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return !d && n; }' |
        clang -fsanitize=fuzzer,address,undefined -x c - -o /dev/null
}

need_build() {
    need gcc gcc --version
    need libc6-dev test -e /usr/include/stdlib.h
    need make make --version
    need cmake cmake --version
    need pkg-config pkg-config --version
    need python3 python3 --version
    need_library libexpat1-dev expat
    need_library libproj-dev proj
    need_library libdeflate-dev libdeflate
    need_library libzstd-dev libzstd
    need_library liblzma-dev liblzma
    need_library liblz4-dev liblz4
    need_library libjpeg62-turbo-dev libjpeg
    need_library libwebp-dev libwebp
    need_library liblerc-dev Lerc
    need_library libopenjp2-7-dev libopenjp2
    need_library libjxl-dev libjxl
}

need_test() {
    need g++ g++ --version
    need clang clang --version
    need ninja-build ninja --version
    need lld ld.lld --version
    need_library libcmocka-dev cmocka
    need libtiff-tools command -v tiffdump
    need valgrind valgrind --version
    need pocl-opencl-icd test -e /etc/OpenCL/vendors/pocl.icd  # OpenCL on the CPU
    need ocl-icd-libopencl1 has_library libOpenCL.so.1
    need opencl-c-headers test -e /usr/include/CL/cl.h
    need locales test -e /usr/share/i18n/locales/de_DE  # a test makes a locale of its own
}

need_fuzz() {
    need clang clang --version
    need libclang-rt-14-dev links_libfuzzer
}

need_format() {
    need clang-format-14 clang-format-14 --version
}

need_bundled() {
    need nasm nasm --version
    need patch patch --version
    need python3-pip python3 -m pip --version
}

need_python() {
    need python3 python3 --version
    need python3-venv python3 -c 'import ensurepip, venv'
}

need_cuda() {
    need g++ g++ --version
    tools/find_nvcc.sh >/dev/null || need_python
}

packages_missing() {
    printf '%s\n' "${missing[@]}" | sort -u | tr '\n' ' '
}

# Without a library terrazzo is built without what needs it; without a tool it is not built.
report_missing() {
    [ ${#missing[@]} -eq 0 ] && return 0
    {
        echo "Missing packages:"
        printf '%s\n' "${missing[@]}" | sort -u | sed 's/^/    /'
        echo "\`make setup\` installs them, as does this, as root:"
        echo "    apt-get update && apt-get install -y --no-install-recommends $(packages_missing)"
    } >&2
    for tool in "${missing[@]}"; do
        case $tool in
        gcc | libc6-dev | make | cmake)
            echo "Without $tool nothing can be built." >&2
            exit 1
            ;;
        esac
    done
    echo "Codecs and features that need a missing library are left out of this build." >&2
}

install_missing() {
    [ ${#missing[@]} -eq 0 ] && return 0
    local packages
    packages=$(packages_missing)
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        as_root=(sudo -n)
    fi
    if ! command -v apt-get >/dev/null ||
        { [ ${#as_root[@]} -gt 0 ] && ! "${as_root[@]}" true 2>/dev/null; }; then
        {
            echo "These packages are missing, and this user may not install them: $packages"
            echo "Run this once as root, then try again:"
            echo "    apt-get update && apt-get install -y --no-install-recommends $packages"
        } >&2
        exit 1
    fi
    echo "Installing: $packages" >&2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q >&2
    # shellcheck disable=SC2086
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends $packages >&2
}

make_venv() {
    .venv/bin/python -m pip --version >/dev/null 2>&1 && return 0
    echo "Making .venv" >&2
    rm -rf .venv
    python3 -m venv .venv >&2
}

# fill_venv LIST: .venv holds the packages of LIST; the stamp is a copy of that file.
fill_venv() {
    local stamp=.venv/${1##*/}
    make_venv
    cmp -s "$1" "$stamp" && return 0
    echo "Installing the packages of $1 into .venv" >&2
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -r "$1" >&2
    cp "$1" "$stamp"
}

fill_nvcc() {
    case $(tools/find_nvcc.sh) in
    "" | "$PWD"/.venv/*) fill_venv tools/nvcc.txt ;;
    esac
}

only_check=false
if [ "${1:-}" = --check ]; then
    only_check=true
    shift
fi
fill=()
for group in "$@"; do
    case $group in
    build | test | fuzz | format | bundled) "need_$group" ;;
    python)
        need_python
        fill+=("fill_venv tests/requirements.txt")
        ;;
    cuda)
        need_cuda
        fill+=(fill_nvcc)
        ;;
    *)
        echo "setup.sh: no group '$group'" >&2
        exit 2
        ;;
    esac
done
if $only_check; then
    report_missing
    exit 0
fi
install_missing
for step in "${fill[@]}"; do
    $step
done
