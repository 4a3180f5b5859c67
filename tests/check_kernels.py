#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles each kernel alone as every language that it is written in, the coders of tiles to code for devices, and all
families of device kernels, also for devices without double precision."""

import os
import pathlib
import subprocess
import sys
import tempfile

from tap import Tap

ROOT = pathlib.Path(__file__).resolve().parent.parent
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wno-unused-function", "-Werror"]
# An OpenCL compiler defines its version; clang by itself leaves that to the driver around it.
OPENCL = ["clang", "-x", "cl", "-cl-std=CL1.2", "-D__OPENCL_VERSION__=120", "-Xclang",
          "-finclude-default-header", "-target", "spir64"]
LANGUAGES = [("C11", ["gcc", "-std=c11", "-x", "c"]), ("OpenCL C 1.2", OPENCL)]

# All decoders and encoders in one kernel, so that a compiler has to make code of them.
CODERS = """
#include "kernels/deflate_encode.h"
#include "kernels/deflate_encode_work_group.h"
#include "kernels/deflate_estimate.h"
#include "kernels/inflate.h"
#include "kernels/lz4.h"
#include "kernels/lzw.h"
#include "kernels/packbits.h"
#include "kernels/packbits_encode.h"
#include "kernels/zstd.h"
KERNEL void encode(const TZ_GLOBAL tz_u8 *in, tz_u32 size, TZ_GLOBAL tz_u8 *out,
                   TZ_GLOBAL tz_u32 *sizes)
{
    SHARED tz_u64 sums[TZ_SCAN_WORDS];
    SHARED tz_estimate_scratch choice;
    SHARED tz_deflate_scratch work;
    SHARED tz_deflate_shared group;
    SHARED tz_u32 answer[2];
    sizes[0] = tz_estimate_prefers_matches(tz_estimate_tile(in, size, &choice));
    sizes[1] = tz_deflate_tile(in, size, out, &work);
    sizes[2] = tz_packbits_encode_tile(in, size, size, out);
    sizes[3] = tz_packbits_encode_tile_work_group(in, size, size, out, sums);
    sizes[4] = tz_estimate_prefers_matches_work_group(in, size, &choice, answer);
    sizes[5] = tz_deflate_tile_work_group(in, size, out, &group);
}
KERNEL void decode(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out, tz_u32 size,
                   TZ_GLOBAL tz_u16 *work, TZ_GLOBAL tz_u32 *places, TZ_GLOBAL tz_u32 *status)
{
    SHARED tz_u32 queue[TZ_ZSTD_LOCAL_WORDS];
    status[0] = tz_inflate_tile(in, in_size, out, size, work);
    status[1] = tz_lzw_tile(in, in_size, out, size, places);
    status[2] = tz_lz4_tile(in, in_size, out, size);
    status[3] = tz_packbits_tile(in, in_size, out, size);
    status[4] = tz_inflate_tile_work_group(in, in_size, out, size, work, queue);
    status[5] = tz_lzw_tile_work_group(in, in_size, out, size, places, queue);
    status[6] = tz_lz4_tile_work_group(in, in_size, out, size, queue);
    status[7] = tz_packbits_tile_work_group(in, in_size, out, size, queue);
    status[8] = tz_zstd_tile(in, in_size, out, size, places);
    status[9] = tz_zstd_tile_work_group(in, in_size, out, size, places, queue);
}
"""


def run(command, text):
    done = subprocess.run(command, input=text, cwd=ROOT, capture_output=True, text=True)
    return done.returncode == 0, done.stderr


def check_header(tap, header):
    name = header.relative_to(ROOT / "src")
    text = f'#include "{name}"\n#include "{name}"\n'
    for language, command in LANGUAGES:
        passed, output = run(command + STRICT + ["-Isrc", "-fsyntax-only", "-"], text)
        tap.check(f"{name} alone as {language}", passed, output)


def check_opencl(tap):
    text = "#define KERNEL __kernel\n#define SHARED __local\n" + CODERS
    passed, output = run(OPENCL + ["-O1", "-Isrc", "-S", "-emit-llvm", "-o", os.devnull, "-"], text)
    tap.check("the decoders and encoders to SPIR", passed, output)


# Families that are all about doubles: devices without are not asked to compile them.
DOUBLES = ["overview_f64_kernels.h", "stats_kernels.h"]


def check_family(tap, header):
    name = header.relative_to(ROOT / "src")
    for kind, options in (("", []), (" without doubles", ["-Xclang", "-cl-ext=-cl_khr_fp64"])):
        if options and header.name in DOUBLES:
            continue
        passed, output = run(OPENCL + options + STRICT + ["-Wno-unused-parameter", "-O1", "-Isrc", "-S", "-emit-llvm",
                                                          "-o", "-", "-"], f'#include "{name}"\n')
        tap.check(f"{name} to SPIR{kind}", passed, output)


def find_nvcc():
    return subprocess.run([ROOT / "tools/find_nvcc.sh"], capture_output=True, text=True).stdout.strip()


def check_cuda(tap, headers):
    """That nvcc takes all of them; of those in families the build makes code."""
    nvcc = find_nvcc()
    if not nvcc:
        tap.check("nvcc is there", False, "tools/setup.sh cuda installs it")
        return
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "kernels.cu"
        source.write_text("".join(f'#include "{header.relative_to(ROOT / "src")}"\n' for header in headers))
        passed, output = run([nvcc, "-ptx", "--fmad=false", "-Isrc", "-o", f"{folder}/kernels.ptx", str(source)], "")
        tap.check("all kernels as CUDA, to PTX", passed, output)


def main():
    tap = Tap()
    headers = sorted((ROOT / "src/kernels").glob("*.h"))
    tap.check("there are kernels", len(headers) > 0)
    for header in headers:
        check_header(tap, header)
    check_opencl(tap)
    families = sorted((ROOT / "src/device/ops").glob("*_kernels.h"))
    for family in families:
        check_family(tap, family)
    check_cuda(tap, headers)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
