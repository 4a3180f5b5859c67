# SPDX-License-Identifier: Apache-2.0
"""Comparing what readers say of a file with what was written, and the lists of known differences."""
import collections
import fnmatch
import warnings

import numpy


def difference(found, wanted, largest, mean):
    """What is wrong, or None."""
    if isinstance(found, str):
        return found
    if found.shape != wanted.shape:
        return f"shape {found.shape}, not {wanted.shape}"
    if largest == 0:
        same = numpy.ascontiguousarray(found).astype(wanted.dtype, copy=False)
        a, b = same.tobytes(), numpy.ascontiguousarray(wanted).tobytes()
        if a == b or (wanted.dtype.kind in "fc" and equal_but_nan_bits(same, wanted)):
            return None
        return f"{int((same != wanted).sum())} of {wanted.size} values differ"
    gap = numpy.abs(found.astype("f8") - wanted.astype("f8"))
    if gap.max() > largest or gap.mean() > mean:
        return f"differs by {gap.max():g}, {gap.mean():.2f} in the mean"
    return None


def equal_but_nan_bits(found, wanted):
    """NaN may lose its payload where a reader goes through another type."""
    parts = f"f{wanted.dtype.itemsize // (2 if wanted.dtype.kind == 'c' else 1)}"
    a, b = numpy.ascontiguousarray(found).view(parts), numpy.ascontiguousarray(wanted).view(parts)
    nan = numpy.isnan(b)
    return bool((numpy.isnan(a) == nan).all()) and a[~nan].tobytes() == b[~nan].tobytes()


def attempt(read, *arguments):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read(*arguments)
    except Exception as error:  # whatever a reader raises is its answer
        return f"{type(error).__name__}: {error}".splitlines()[0]


class Listed:
    """A list of known differences, tab-separated: pattern of names, reader, reason."""

    def __init__(self, path):
        self.rows = []
        for line in path.read_text().splitlines():
            if line and not line.startswith("#"):
                self.rows.append(line.split("\t"))
        self.met = collections.Counter()
        self.needed = collections.Counter()

    def covers(self, name, reader):
        """Counts differences; returns whether one is known."""
        for pattern, who, _ in self.rows:
            if who == reader and fnmatch.fnmatchcase(name, pattern):
                self.needed[pattern, who] += 1
                return True
        return False

    def meet(self, name):
        for pattern, who, _ in self.rows:
            self.met[pattern, who] += fnmatch.fnmatchcase(name, pattern)

    def unneeded(self):
        return [f"{pattern} ({who})" for pattern, who, _ in self.rows
                if self.met[pattern, who] and not self.needed[pattern, who]]
