# SPDX-License-Identifier: Apache-2.0
"""Finds an NVIDIA GPU, and terrazzo's report about it and about NVIDIA's libraries."""

import ctypes
import json
import os
import subprocess


def driver():
    """libcuda, or what the environment names in its place."""
    return os.environ.get("TERRAZZO_GPU_LIBRARY", "libcuda.so.1")


def why_none():
    """Why there is no GPU to test on; empty: there is one. Nothing needs to be built for it."""
    try:
        library = ctypes.CDLL(driver())
    except OSError as error:
        return f"there is no NVIDIA driver: {error}"
    count = ctypes.c_int()
    for name, arguments in (("cuInit", (0,)), ("cuDeviceGetCount", (ctypes.byref(count),))):
        code = getattr(library, name)(*arguments)
        if code != 0:
            return f"the NVIDIA driver does not work: {name} returned {code}"
    return "" if count.value > 0 else "the NVIDIA driver has no GPU"


def ask(terrazzo):
    """(the first CUDA device that can be used or why there is none, the libraries)"""
    done = subprocess.run([terrazzo, "devices", "--json", "--cuda-library", driver()], capture_output=True, text=True)
    if done.returncode != 0:
        return f"terrazzo devices: {done.stderr.strip()}", []
    answer = json.loads(done.stdout)
    found = [device for device in answer["devices"] if device["driver"] == "cuda"]
    for device in found:
        if device["usable"]:
            return device, answer["libraries"]
    reasons = [device["reason"] for device in found] or [answer["drivers"][0]["reason"] or "CUDA has no device"]
    return f"the GPU cannot be used: {reasons[0]}", []
