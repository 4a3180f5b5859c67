# SPDX-License-Identifier: Apache-2.0
"""Prints the results of a check written in Python as TAP, which tests/run.py reads."""

import os
import sys

SKIPPED = 77  # the exit code of a test that skipped something, and found nothing wrong: ctest knows it


def skip_all(name, reason):
    """Ends a check that cannot run at all."""
    tap = Tap()
    tap.skip(name, reason)
    sys.exit(tap.finish())


def matrix_options():
    """The arguments after the program. With TERRAZZO_LONG they are for everything there is."""
    words = sys.argv[2:]
    if not os.environ.get("TERRAZZO_LONG"):
        return words
    return ["--libraries", "whole"] if "--libraries" in words else ["--whole"]


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = 0
        self.skipped = 0

    def check(self, name, passed, detail=""):
        """One result. `detail` is shown when it failed."""
        self.count += 1
        self.failed += not passed
        print(f"{'ok' if passed else 'not ok'} {self.count} - {name}", flush=True)
        if not passed:
            for line in str(detail).rstrip().splitlines():
                print(f"# {line}", flush=True)
        return passed

    def skip(self, name, reason):
        self.count += 1
        self.skipped += 1
        print(f"skip: {reason}\nok {self.count} # SKIP {name}", flush=True)

    def finish(self):
        """Prints the plan and returns the exit code."""
        print(f"1..{self.count}", flush=True)
        return 1 if self.failed else SKIPPED if self.skipped else 0
