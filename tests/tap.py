# SPDX-License-Identifier: Apache-2.0
"""Prints the results of a check written in Python as TAP, which tests/run.py reads."""


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = 0

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
        print(f"skip: {reason}\nok {self.count} # SKIP {name}", flush=True)

    def finish(self):
        """Prints the plan and returns the exit code."""
        print(f"1..{self.count}", flush=True)
        return 1 if self.failed else 0
