# SPDX-License-Identifier: Apache-2.0
"""A conversion by both programs: the arguments of `terrazzo convert`, those of gdal_translate that mean the same, and
a change of what GDAL gives where it has no such option. pixel_cases.py and tag_cases.py register functions that make
one for a file."""

import copy
import dataclasses

import gdal as binding
import numpy

MASK_OF_DATASET, NO_MASK, OF_ALPHA = 2, 1, 4  # GMF_PER_DATASET, GMF_ALL_VALID, GMF_ALPHA


@dataclasses.dataclass
class Source:
    name: str
    path: object
    about: object  # Described
    pages: list  # names of subdatasets

    def has_grid(self):
        """A transform without rotation."""
        return self.about.transform is not None and not self.about.transform[2] and not self.about.transform[4]

    def count(self):
        return len(self.about.dtypes)


@dataclasses.dataclass
class Case:
    option: str
    ours: list
    theirs: list
    change: object = None  # of Described, in place
    page: int = None  # that GDAL opens; -1: all, each into a file
    damage: tuple = None  # offset and size of bytes that are overwritten in a copy, before terrazzo reads it
    near: float = 0  # how far pixels of integers may be off; of floats in parts of the largest


CASES = {}  # option: functions that give Case or None


def case(option):
    def register(function):
        CASES.setdefault(option, []).append(function)
        return function
    return register


def words(*values):
    return [f"{value:.17g}" if isinstance(value, float) else str(value) for value in values]


def joined(*values):
    return ",".join(words(*values))


def gdal_type(dtype):
    return binding.NAMES[dtype]


def is_value(pixels, value):
    """Where pixels are a declared nodata."""
    if value is None or not fits(value, pixels.dtype):
        return numpy.zeros(pixels.shape, bool)
    if isinstance(value, float) and numpy.isnan(value):
        return numpy.isnan(pixels)
    return pixels == numpy.array(value).astype(pixels.dtype)


def fits(value, dtype):
    if value is None or value != value or numpy.dtype(dtype).kind not in "iu":
        return value is not None and (numpy.dtype(dtype).kind == "f" or value == value)
    limits = numpy.iinfo(dtype)
    return limits.min <= value <= limits.max and value == int(value)


def set_mask(about, valid):
    for mask in about.masks:
        mask.flags, mask.pixels = MASK_OF_DATASET, valid.astype("uint8") * 255


def cases_of(source, index, whole):
    """{name: Case}: without whole, of a third of the options one each, so that another file has the others."""
    found = {}
    for position, (option, functions) in enumerate(CASES.items()):
        if whole or index % 10 == 0:
            chosen = functions
        elif (position + index) % 2 == 0:
            continue
        else:
            turned = functions[index // 2 % len(functions):] + functions[:index // 2 % len(functions)]
            chosen = [function for function in turned if function(source) is not None][:1]
        for function in chosen:
            made = function(source)
            if made is not None:
                found[f"{option}.{function.__name__}"] = made
    return found


def changed(about, change):
    """A copy of Described with the change."""
    if change is None:
        return about
    about = copy.deepcopy(about)
    change(about)
    return about
