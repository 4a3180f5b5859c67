#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the command links and runs with link-time optimisation.

    check_lto.py BUILD/tests

The build itself is the check: its preset makes a type that two files declare differently an error.
"""
import pathlib
import subprocess
import sys

from tap import Tap


def main(words):
    tap = Tap()
    command = pathlib.Path(words[0]).parent / "terrazzo"
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    tap.check("the command runs", done.returncode == 0 and done.stdout.startswith("terrazzo"), done)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
