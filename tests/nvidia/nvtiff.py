# SPDX-License-Identifier: Apache-2.0
"""What nvTIFF's parser, which needs no GPU, sees in a file."""

import ctypes
import struct

SAMPLES = 16
NO_IMAGE = ctypes.c_size_t(-1).value
LETTERS = {1: "B", 2: "s", 3: "H", 4: "I", 12: "d", 16: "Q"}  # values of tags by their types


class Header(ctypes.Structure):
    _fields_ = [("variant", ctypes.c_int), ("first_ifd_offset", ctypes.c_size_t)]


class Info(ctypes.Structure):
    _fields_ = [("image_type", ctypes.c_uint32), ("image_width", ctypes.c_uint32), ("image_height", ctypes.c_uint32),
                ("compression", ctypes.c_int), ("photometric_int", ctypes.c_int), ("planar_config", ctypes.c_int),
                ("samples_per_pixel", ctypes.c_uint16), ("bits_per_pixel", ctypes.c_uint16),
                ("bits_per_sample", ctypes.c_uint16 * SAMPLES), ("sample_format", ctypes.c_int * SAMPLES)]


class Geometry(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("image_depth", ctypes.c_uint32), ("strile_width", ctypes.c_uint32),
                ("strile_height", ctypes.c_uint32), ("strile_depth", ctypes.c_uint32),
                ("num_striles_per_plane", ctypes.c_uint32), ("num_striles", ctypes.c_uint32)]


def declarations():
    """C that compiles where the vendor's header declares the same."""
    lines = ['#include <stddef.h>', '#include <nvtiff.h>']
    for ours, theirs in ((Header, "nvtiffStreamHeader_t"), (Info, "nvtiffImageInfo_t"),
                         (Geometry, "nvtiffImageGeometry_t")):
        lines.append(f'_Static_assert(sizeof({theirs}) == {ctypes.sizeof(ours)}, "{theirs}");')
        lines += [f'_Static_assert(offsetof({theirs}, {name}) == {getattr(ours, name).offset}, "{name}");'
                  for name, _ in ours._fields_]
    return "\n".join(lines) + "\n"


class Stream:
    """A file, opened."""

    def __init__(self, library, path):
        self.library, self.handle = library, ctypes.c_void_p()
        self.call("OpenFromFile", str(path).encode(), ctypes.byref(self.handle), stream=False)

    def call(self, name, *arguments, stream=True):
        status = getattr(self.library, f"nvtiffStream{name}")(*([self.handle] if stream else []), *arguments)
        if status != 0:
            raise RuntimeError(f"nvtiffStream{name}: {status}")

    def close(self):
        self.call("Close")

    def ask(self, kind, name, *arguments):
        answer = kind()
        self.call(name, *arguments, ctypes.byref(answer))
        return answer

    def listed(self, kind, name, *arguments):
        """For the functions that first report how many there are."""
        count = ctypes.c_uint32()
        self.call(name, *arguments, None, ctypes.byref(count))
        answer = (kind * count.value)()
        self.call(name, *arguments, answer, ctypes.byref(count))
        return list(answer)

    def tag(self, at, number):
        kind, size, count = ctypes.c_int(), ctypes.c_uint32(), ctypes.c_uint32()
        self.call("GetTagInfo", at, ctypes.c_uint16(number), *map(ctypes.byref, (kind, size, count)))
        room = ctypes.create_string_buffer(size.value * count.value)
        self.call("GetTagValue", at, ctypes.c_uint16(number), room, count)
        letter = LETTERS.get(kind.value)
        return room.raw if letter in ("s", None) else struct.unpack(f"={count.value}{letter}", room.raw)

    def geo_key(self, number):
        size, count, kind = ctypes.c_uint32(), ctypes.c_uint32(), ctypes.c_int()
        self.call("GetGeoKeyInfo", number, *map(ctypes.byref, (size, count, kind)))
        room = ctypes.create_string_buffer(size.value * count.value + 1)
        if kind.value == 2:
            self.call("GetGeoKeyASCII", number, room, len(room))
            return room.value.decode()
        self.call("GetGeoKey", number, room, count)
        return list(struct.unpack_from(f"={count.value}{'H' if kind.value == 1 else 'd'}", room.raw))

    def image(self, at):
        info = self.ask(Info, "GetImageInfo", at)
        geometry = self.ask(Geometry, "GetImageGeometry", at)
        samples = info.samples_per_pixel
        return {"at": at.value, "kind": info.image_type, "size": [info.image_width, info.image_height],
                "compression": info.compression, "photometric": info.photometric_int, "planar": info.planar_config,
                "bits": list(info.bits_per_sample[:samples]), "formats": list(info.sample_format[:samples]),
                "tiled": bool(geometry.type), "tile": [geometry.strile_width, geometry.strile_height],
                "tiles": geometry.num_striles,
                "tags": {tag: self.tag(at, tag) for tag in self.listed(ctypes.c_uint16, "GetNumberOfTags", at)}}


def parse(library, path):
    """All that it sees: variant, images in the order of their chain, GeoKeys."""
    stream = Stream(ctypes.CDLL(str(library)), path)
    header = stream.ask(Header, "GetHeader")
    images, at = [], header.first_ifd_offset
    while at != NO_IMAGE:
        images.append(stream.image(ctypes.c_size_t(at)))
        at = stream.ask(ctypes.c_size_t, "GetNextIFDOffset", ctypes.c_size_t(at)).value
    keys = {key: stream.geo_key(key) for key in stream.listed(ctypes.c_int, "GetNumberOfGeoKeys")}
    stream.close()
    return {"variant": header.variant, "images": images, "keys": keys}
