# SPDX-License-Identifier: Apache-2.0
"""The pixels that an overview must hold, computed again with NumPy from the level before, by doc/numerics.md:
exactly for some methods, within bounds for the others."""
import math

import numpy

TINY = 1e-6  # weights below are what rounding makes of a common edge


def overlaps(old, new):
    """[new, old]: how much of an old pixel lies under a new one."""
    scale = old / new
    edges = numpy.arange(new + 1) * scale
    at = numpy.arange(old)
    low = numpy.maximum(edges[:-1, None], at)
    high = numpy.minimum(edges[1:, None], at + 1)
    weights = numpy.maximum(high - low, 0)
    weights[weights < TINY] = 0
    return weights


def filtered(method, old, new):
    """The same of filters: weights by the distance from the middle of the new pixel."""
    scale = old / new
    middles = (numpy.arange(new)[:, None] + 0.5) * scale
    x = numpy.abs(middles - numpy.arange(old) - 0.5) / max(scale, 1)
    if method == "bilinear":
        weights = numpy.maximum(1 - x, 0)
        weights[weights < TINY] = 0
    elif method == "cubic":
        weights = numpy.where(x <= 1, 1.5 * x**3 - 2.5 * x**2 + 1,
                              numpy.where(x < 2, -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2, 0))
    else:
        weights = numpy.where(x < 3, numpy.sinc(x) * numpy.sinc(x / 3), 0)
    return weights


def bells(old, new):
    """Gauss: 1 2 1 around the middle; levels are never more than two times smaller."""
    scale, weights = old / new, numpy.zeros((new, old + 4))
    for i in range(new):
        first, end = math.floor(i * scale + 0.5), math.floor((i + 1) * scale + 0.5) + 1
        start = first + (end - first) // 2 - 1
        weights[i, start + 2:start + 5] = 1, 2, 1
    return weights[:, 2:-2]


def nearest(old, new):
    """Overviews take the sample at the start, not in the middle."""
    return numpy.floor(numpy.arange(new) * (old / new) + 0.5).astype(int)


def is_valid(values, mask, nodata):
    """What counts: neither nodata nor NaN, where the mask says so."""
    valid = mask != 0
    if values.dtype.kind == "f":
        valid &= ~numpy.isnan(values)
    if nodata is not None and nodata == nodata:
        valid &= values != numpy.array(nodata).astype(values.dtype)
    return valid


def both(weights, values):
    down, across = weights
    return down @ values @ across.T


def mean(weights, values, valid):
    """The mean of what is valid; NaN where nothing is."""
    filled = numpy.where(valid, values, 0).astype("f8")
    with numpy.errstate(invalid="ignore", divide="ignore"):
        return both(weights, filled) / both(weights, valid.astype("f8"))


def mean_of_means(weights, values, valid):
    """First along rows, then down those that have a mean."""
    down, across = weights
    filled, flags = numpy.where(valid, values, 0).astype("f8"), valid.astype("f8")
    with numpy.errstate(invalid="ignore", divide="ignore"):
        rows = filled @ across.T / (flags @ across.T)
        there = (flags @ (across != 0).T) > 0
        return down @ numpy.where(there, rows, 0) / (down @ there)


def all_valid(weights, valid):
    """Whether every sample that has a weight is valid."""
    used = tuple((part != 0).astype("f8") for part in weights)
    return both(used, (~valid).astype("f8")) == 0


def extreme(weights, values, valid, pick):
    """The least or the largest of what is valid under each new pixel; NaN where nothing is."""
    empty = numpy.inf if pick is numpy.minimum else -numpy.inf
    found = numpy.where(valid, values.astype("f8"), empty)
    for axis, used in ((0, weights[0]), (1, weights[1])):
        parts = [pick.reduce(numpy.compress(row > 0, found, axis=axis), axis=axis) for row in used]
        found = numpy.stack(parts, axis=axis)
    return numpy.where(numpy.isinf(found), numpy.nan, found)


def expected(method, values, valid, size):
    """(least, largest) value of each new pixel of one band; size is (height, width). NaN: it is not
    known, or nothing is valid there."""
    covered = tuple(overlaps(old, new) for old, new in zip(values.shape, size))
    if method == "nearest":
        rows, columns = (nearest(old, new) for old, new in zip(values.shape, size))
        picked = values[numpy.ix_(rows, columns)].astype("f8")
        found = numpy.where(valid[numpy.ix_(rows, columns)], picked, numpy.nan)
        return found, found
    if method == "average":
        found = mean(covered, values, valid)
        return found, found
    if method == "rms":
        found = numpy.sqrt(mean(covered, values.astype("f8") ** 2, valid))
        return found, found
    if method == "gauss":
        found = mean(tuple(bells(old, new) for old, new in zip(values.shape, size)), values, valid)
        return found, found
    if method in ("bilinear", "cubic", "lanczos"):
        weights = tuple(filtered(method, old, new) for old, new in zip(values.shape, size))
        found = mean_of_means(weights, values, valid)
        if method != "bilinear":  # what these make of parts is left to others
            found = numpy.where(all_valid(weights, valid), found, numpy.nan)
        return found, found
    least, most = (extreme(covered, values, valid, pick) for pick in (numpy.minimum, numpy.maximum))
    return {"min": (least, least), "max": (most, most), "mode": (least, most),
            "median": (least, most)}[method]


def limits(dtype, bits):
    """Of samples of so many bits."""
    if dtype.kind == "f":
        return -numpy.inf, numpy.inf
    return (-(2**(bits - 1)), 2**(bits - 1) - 1) if dtype.kind == "i" else (0, 2**bits - 1)


def wrong_band(method, old, new, mask, nodata, bits):
    """What is wrong with one band of an overview, or None; mask is that of the old level."""
    valid = is_valid(old, mask, nodata)
    least, most = (numpy.clip(side, *limits(new.dtype, bits))
                   for side in expected(method, old, valid, new.shape))
    there = ~numpy.isnan(least)
    found = new.astype("f8")
    bound = 0.5 if new.dtype.kind in "iu" and method not in ("min", "max", "nearest") else 0
    largest = numpy.abs(old[valid].astype("f8")).max() if valid.any() else 0
    eps = numpy.finfo(new.dtype).eps if new.dtype.kind == "f" else 1e-9
    bound += 4 * eps * largest
    off = there & ~((found >= least - bound) & (found <= most + bound))
    # A mean that happens to be nodata may be moved aside.
    if nodata is not None and off.any():
        off &= ~(numpy.abs(least - nodata) <= 1)
    if off.any():
        row, column = numpy.argwhere(off)[0]
        return (f"{int(off.sum())} pixels are not the {method}: at row {row}, column {column} "
                f"{found[row, column]}, not {least[row, column]} to {most[row, column]}")
    return None


def wrong_mask(method, old, new):
    """What is wrong with the mask of an overview, or None."""
    old, new = old != 0, new != 0
    covered = tuple(overlaps(size, to) for size, to in zip(old.shape, new.shape))
    if method == "nearest":
        rows, columns = (nearest(size, to) for size, to in zip(old.shape, new.shape))
        wanted = old[numpy.ix_(rows, columns)]
    elif method in ("average", "rms", "min", "max", "median", "mode"):
        wanted = both(covered, old.astype("f8")) > 0
    else:
        return None
    count = int((wanted != new).sum())
    return f"{count} of the mask are not what lies below them" if count else None
