# SPDX-License-Identifier: Apache-2.0
"""What nvCOMP answers on a machine without a GPU: rules for the lines of nvcomp_answers."""

import re

LIMITS = {("compress", "deflate"): 1 << 31, ("decompress", "deflate"): (1 << 32) - 1,
          ("compress", "zstd"): (1 << 31) - 1, ("decompress", "zstd"): (1 << 31) - 1,
          ("compress", "lz4"): 1 << 24, ("decompress", "lz4"): (1 << 32) - 1}
ALIGNMENTS = {("compress", "deflate"): "1 8 8", ("decompress", "deflate"): "4 1 1",
              ("compress", "zstd"): "4 1 1", ("decompress", "zstd"): "1 1 8",
              ("compress", "lz4"): "1 1 2", ("decompress", "lz4"): "1 1 1"}
# What temporary memory must be aligned to is looked at before the device is.
CHECKED_TEMP = {("compress", "deflate"), ("compress", "lz4"), ("decompress", "zstd")}


def no_device(major):
    return "device 10" if major == 4 else "device 1000"


def output(codec, size):
    if size > LIMITS["compress", codec]:
        return "unsupported 18"
    if codec == "deflate":
        return max(64, 8 * (size * 579 // 2048) + 32)
    if codec == "lz4":
        return (size + size // 255 + 9) & ~7
    header = 6 if size < 256 else 8 if size < 65792 else 10
    return size + header + 3 * max(1, -(-size // 65536))


def deflate_temp(algorithm, count, size):
    small = size <= 65536
    odd = 8 * (count % 2)
    if algorithm == 0:
        return 0
    if algorithm == 1:
        return count * (5 * size + 32800 if small else 9 * size + 65568) + odd
    if algorithm in (2, 3):
        return count * (5 * size + 327712 if small else 9 * size + 655392) + odd
    if count * size > (1 << 31) - 1:
        return "unsupported 11"
    return count * ((17 if small else 33) * size + size * (algorithm == 5) + 72)


def compress_temp(major, codec, algorithm, count, size):
    if codec == "lz4":
        return 32768 * count
    if major == 4 or codec == "zstd":
        return no_device(major)
    return deflate_temp(algorithm, count, size)


def decompress_temp(major, codec, count, size):
    if codec == "zstd":
        total = count * size
        return no_device(major) if major == 4 else 3 * total + 3468 * max(2 * count, total // 65536)
    if major == 4:
        return 16 * count + 3 if codec == "deflate" else 24 * count
    return 0


def temp(major, way, codec, algorithm, count, size):
    if way == "compress":
        return compress_temp(major, codec, algorithm, count, size)
    return decompress_temp(major, codec, count, size)


def result_arrays_checked(major, way, codec, what):
    """Whether a missing array of results is refused."""
    if way == "compress":
        return what == "without-sizes"
    if major == 5 and codec == "lz4":
        return False
    return not (major == 5 and codec == "zstd" and what == "without-statuses")


def call(major, way, codec, what):
    if what == "too-large" and way == "compress":
        return "unsupported 18"
    if what == "odd-temp" and (way, codec) in CHECKED_TEMP:
        return "device 17"
    if what == "without-input" or (what in ("without-sizes", "without-statuses")
                                   and result_arrays_checked(major, way, codec, what)):
        return "device 10"
    return no_device(major)


def expected(question, major):
    """The answer to a question: a text, or a number."""
    words = question.split()
    kind, rest = words[0], words[1:]
    if kind == "limit":
        return LIMITS[rest[0], rest[1]]
    if kind == "call":
        return call(major, *rest)
    algorithm = int(rest[2] if kind != "output" else rest[1])
    if not 0 <= algorithm <= 5:
        return "unsupported 11"
    if kind == "align":
        return ALIGNMENTS[rest[0], rest[1]]
    if kind == "output":
        return output(rest[0], int(rest[2]))
    return temp(major, rest[0], rest[1], algorithm, int(rest[3]), int(rest[4]))


def exact(question):
    """Deflate's formula is a few bytes off, in both directions, for sizes that are not even."""
    words = re.fullmatch(r"output deflate \S+ (\d+)", question)
    return not words or (int(words[1]) % 1024 == 0 and int(words[1]) <= 16 << 20)


def same(question, found, wanted):
    if found == str(wanted):
        return True
    return not exact(question) and found.isdigit() and abs(int(found) - int(wanted)) <= 32
