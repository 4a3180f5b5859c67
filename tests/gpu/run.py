#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make test-gpu: what `make test` does on fakes, on a real GPU with NVIDIA's driver and libraries as they are found
there; then throughputs beside other software. The report is build/gpu/report.md. Where there is no NVIDIA driver, it
says so, and nothing has failed.

    tests/gpu/run.py [--size 8192] [--rounds 5] [--stress 200] [--programs REGEX] [--no-tests | --no-measure]

TERRAZZO_GPU_LIBRARY names another libcuda, TERRAZZO_NVCOMP_LIBRARY and so on other libraries: the test of this script
gives it fakes. TERRAZZO_GPU_PYTHON is a Python with other software (CuPy, xarray-spatial, nvidia-nvimgcodec,
rasterio) to measure beside; .venv by default."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from gpu import find, measure, report
from nvidia import wheels
from results import Case, count, parse_tap

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HANG_SECONDS = 1800
NVTIFF = [("nvidia-nvtiff-cu13", "0.8.0.82"), ("nvidia-libnvcomp-cu13", "5.3.0.16"),
          ("nvidia-nvjpeg2k-cu13", "0.11.0.51"), ("nvidia-nvjpeg", "13.2.3.58")]
ON_FAKE = "TERRAZZO_TEST_DEVICE=cuda"  # in the environment of a test
OF_FAKES = "they look into the fakes' own timelines"
# Programs that a GPU cannot run as they are meant, by why. What they show, they show on the fake.
LEFT_OUT = {
    "they need a driver that fails on demand": r"test_(device|read_device|write_device)_faults",
    OF_FAKES: r"test_cuda_timeline",
}
# Programs that nvCOMP affects: run again with it.
WITH_NVCOMP = r"test_(device_decode|device_stress|read_device_(buffers|hostile|timeline)|read(_threads)?_device)"
# What compares pixels alone, not who made them: with all of NVIDIA's libraries.
WITH_ALL = r"test_(device_stress|read.*_device|hostile_read.*_device|write_.*_device)|pixel_dump_device"
VARIABLES = {"nvCOMP": "NVCOMP", "cuFile": "CUFILE", "nvJPEG2000": "NVJPEG2K", "nvJPEG": "NVJPEG"}
COUNTED = r"test_.*(timeline|calls|contract)"  # that count what is asked of the device
FIRST = r"test_(gpu_.*|device_io)"  # facts that only a card can show: run, and reported, before all else
STRESS = r"test_(device_stress|read_threads_device|write_device_large)"


def parse_arguments():
    parser = argparse.ArgumentParser(description="Tests and measures terrazzo on an NVIDIA GPU.")
    parser.add_argument("--build", type=pathlib.Path, help="a folder that is built (default: build/unit, which is made)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "gpu", help="where the report goes")
    parser.add_argument("--size", type=int, default=8192, help="of the images, in pixels")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--stress", type=int, default=200, help="what each thread of the stress test does")
    parser.add_argument("--programs", default="", help="only test programs whose names this expression finds")
    parser.add_argument("--no-tests", action="store_true")
    parser.add_argument("--no-measure", action="store_true")
    parser.add_argument("--fadvise", action="store_true", help="of a cold page cache: forget the file, not all files")
    parser.add_argument("--no-fetch", action="store_true", help="do not get nvTIFF from PyPI")
    return parser.parse_args()


# ---- building --------------------------------------------------------------------------------


def build():
    folder = ROOT / "build" / "unit"
    for command in (["tools/setup.sh", "build", "test", "python", "cuda"],
                    ["cmake", "--preset", "unit", "-B", folder],
                    ["cmake", "--build", folder, "-j", str(os.cpu_count())]):
        subprocess.run([str(word) for word in command], cwd=ROOT, check=True)
    return folder


# ---- tests -----------------------------------------------------------------------------------


def device_programs(folder):
    """Commands of the programs that have a test on the fake of libcuda, by name; and the names of those that are
    for fakes alone."""
    done = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1"], capture_output=True, text=True,
                          check=True)
    tests = [(test["name"], test["command"], {about["name"]: about["value"] for about in test["properties"]})
             for test in json.loads(done.stdout)["tests"] if "command" in test]
    commands = {name.removesuffix("_cuda"): command for name, command, about in tests
                if name.startswith(("test_", "pixel_dump")) and name.endswith("_cuda")
                and ON_FAKE in about.get("ENVIRONMENT", [])}
    alone = [name for name, _, about in tests if {"cuda", "cuda_more"} & set(about.get("LABELS", []))
             and not re.search(r"_cuda$|_nvcomp\d$", name)]
    return commands, alone


def run_program(name, command, variables, told):
    """Returns its cases. Its report lines are added to `told`, and printed."""
    env = {**os.environ, "CMOCKA_MESSAGE_OUTPUT": "TAP", "TERRAZZO_TEST_DEVICE": "gpu", **variables}
    try:
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, timeout=HANG_SECONDS)
    except subprocess.TimeoutExpired:
        return [Case(f"{name}.hangs", "failed", f"still running after {HANG_SECONDS} s")]
    lines = [line.removeprefix("report: ") for line in done.stdout.splitlines() if line.startswith("report: ")]
    for line in lines:
        print(line, flush=True)
    told += lines
    return parse_tap(name, done.returncode, done.stdout, done.stderr)


def suites_of(programs, libraries, stress):
    """(suite, names, environment): what is counted and stressed apart from what is compared."""
    first = [name for name in programs if re.fullmatch(FIRST, name)]
    counted = [name for name in programs if re.fullmatch(COUNTED, name)]
    stressed = [name for name in programs if re.fullmatch(STRESS, name)]
    compared = [name for name in programs if name not in first + counted + stressed]
    much = {"TERRAZZO_STRESS": str(stress)}
    variables = {f"TERRAZZO_TEST_{VARIABLES[name]}": path for name, path in libraries.items()}
    suites = [("the card", first, variables), ("parity", compared, {}), ("calls and timeline", counted, {}),
              ("stress", stressed, much)]
    nvcomp = {name: path for name, path in variables.items() if name == "TERRAZZO_TEST_NVCOMP"}
    for suite, which, some in (("again with nvCOMP", WITH_NVCOMP, nvcomp),
                               ("again with all libraries", WITH_ALL, variables)):
        again = [name for name in programs if re.fullmatch(which, name)]
        if some:
            suites.append((suite, again, {**much, **some}))
    return suites


def run_tests(folder, libraries, arguments):
    """(cases by suite, programs that were left out by reason, report lines)"""
    programs, alone = device_programs(folder)
    names = [name for name in [*programs, *alone] if re.search(arguments.programs, name)]
    left_out = {why: [name for name in names if re.fullmatch(which, name)] for why, which in LEFT_OUT.items()}
    left_out[OF_FAKES] += [name for name in alone if name in names]
    programs = {name: programs[name] for name in names if name not in sum(left_out.values(), [])}
    found = {library["name"]: library["library"] for library in libraries if library["loaded"]}
    results, told = {}, []
    for suite, names, variables in suites_of(programs, found, arguments.stress):
        results[suite] = []
        for name in names:
            results[suite] += run_program(name, programs[name], variables, told)
        print(f"{suite}: {count(results[suite], 'passed')} passed, {count(results[suite], 'failed')} failed, "
              f"{count(results[suite], 'skipped')} skipped", flush=True)
        for case in results[suite]:
            if case.status == "failed":
                print(f"  failed: {case.name}\n{case.detail}", flush=True)
    print(f"{sum(map(len, left_out.values()))} programs left out that need the fakes", flush=True)
    return results, left_out, told


# ---- measuring -------------------------------------------------------------------------------


def nvtiff_variables(fetch):
    """The environment in which nvTIFF is found, with the libraries that it loads by name."""
    if not fetch or "TERRAZZO_NVTIFF_LIBRARY" in os.environ:
        return {}
    try:
        places = wheels.unpack(ROOT / "build" / "nvidia", NVTIFF)
    except (SystemExit, OSError) as error:
        print(f"nvTIFF is not there: {error}", flush=True)
        return {}
    nvtiff, nvcomp, nvjpeg2k, nvjpeg = (places[package] / "nvidia" for package in NVTIFF)
    folders = [nvcomp / "libnvcomp/lib64", nvjpeg2k / "nvjpeg2k/lib", nvjpeg / "cu13/lib"]
    path = ":".join([*map(str, folders), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
    return {"TERRAZZO_NVTIFF_LIBRARY": str(nvtiff / "nvtiff/lib/libnvtiff.so.0"), "LD_LIBRARY_PATH": path}


def run_measurement(folder, arguments):
    """(the measurement, those who took part or wanted to)"""
    python = os.environ.get("TERRAZZO_GPU_PYTHON", str(ROOT / ".venv/bin/python"))
    players = measure.players(folder / "tests", python, nvtiff_variables(not arguments.no_fetch))
    with tempfile.TemporaryDirectory(dir=arguments.out) as files:
        m = measure.Measurement(players, pathlib.Path(files), arguments.size, arguments.rounds,
                                arguments.fadvise).run()
    for player in players:
        player.close()
    return m, players


# ---- all -------------------------------------------------------------------------------------


def write_report(arguments, lines):
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "report.md"
    path.write_text("\n".join(lines))
    print(f"report: {path}", flush=True)


def skip(arguments, reason):
    print(f"skipped: {reason}", flush=True)
    write_report(arguments, report.skipped(reason))
    return 0


def main():
    arguments = parse_arguments()
    reason = find.why_none()
    if reason:
        return skip(arguments, reason)
    folder = (arguments.build or build()).resolve()
    device, libraries = find.ask(folder / "terrazzo")
    if isinstance(device, str):
        return skip(arguments, device)
    print(f"{device['id']}: {device['name']}", flush=True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    results, left_out, told = ({}, {}, []) if arguments.no_tests else run_tests(folder, libraries, arguments)
    m, players = (None, []) if arguments.no_measure else run_measurement(folder, arguments)
    lines = report.card(told) + report.about(device, libraries, players[3:])
    lines += report.tests(results, left_out) if results else []
    lines += report.throughput(m) if m else []
    write_report(arguments, lines)
    for wrong in m.wrong if m else []:
        print(f"failed: {wrong}", flush=True)
    return 1 if m and m.wrong or any(count(cases, "failed") for cases in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
