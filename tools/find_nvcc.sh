#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Prints where nvcc is, for the build, the tests and setup.sh alike. The first that is there of: $NVCC, PATH, CUDA_HOME,
# CUDA_PATH, /usr/local/cuda, and .venv, where setup.sh puts the packages of tools/nvcc.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -n "${NVCC:-}" ]; then
    command -v "$NVCC"
    exit
fi
for nvcc in "$(command -v nvcc || true)" "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" "${CUDA_PATH:+$CUDA_PATH/bin/nvcc}" \
    /usr/local/cuda/bin/nvcc "$PWD"/.venv/lib/python3*/site-packages/nvidia/cu*/bin/nvcc; do
    if [ -x "$nvcc" ]; then
        echo "$nvcc"
        exit 0
    fi
done
exit 1
