# SPDX-License-Identifier: Apache-2.0
"""The rules by which GDAL's own validation judges a COG, asked of GDAL through its C library.

These are the rules of validate_cloud_optimized_geotiff.py with its full check, written down again:
this module asks the GDAL that rasterio brings along, so that it sees a file as GDAL does and shares
nothing with terrazzo, and it bounds what damaged files may ask for. The script itself judges the files
of check_cogs.py.
"""

import ctypes
import pathlib
import struct

LARGE = 512
WIDE = 1024
PREFIX = b"GDAL_STRUCTURAL_METADATA_SIZE="
HEAD = len(PREFIX) + len("000000 bytes\n")
MOST_BLOCKS = 100_000  # more would take minutes to ask for, one by one
MOST_PIXELS = 2_000_000_000  # the same for rio-cogeo, which asks for blocks that are not there
OF_DATASET = 2  # GMF_PER_DATASET
POINTER = ctypes.c_void_p
FUNCTIONS = {  # name: (result, arguments)
    "GDALOpenEx": (POINTER, [ctypes.c_char_p, ctypes.c_uint, POINTER, POINTER, POINTER]),
    "GDALClose": (None, [POINTER]),
    "GDALGetRasterBand": (POINTER, [POINTER, ctypes.c_int]),
    "GDALGetRasterCount": (ctypes.c_int, [POINTER]),
    "GDALGetFileList": (ctypes.POINTER(ctypes.c_char_p), [POINTER]),
    "CSLDestroy": (None, [ctypes.POINTER(ctypes.c_char_p)]),
    "GDALGetOverviewCount": (ctypes.c_int, [POINTER]),
    "GDALGetOverview": (POINTER, [POINTER, ctypes.c_int]),
    "GDALGetMaskBand": (POINTER, [POINTER]),
    "GDALGetMaskFlags": (ctypes.c_int, [POINTER]),
    "GDALGetRasterBandXSize": (ctypes.c_int, [POINTER]),
    "GDALGetRasterBandYSize": (ctypes.c_int, [POINTER]),
    "GDALGetBlockSize": (None, [POINTER, ctypes.POINTER(ctypes.c_int),
                                ctypes.POINTER(ctypes.c_int)]),
    "GDALGetMetadataItem": (ctypes.c_char_p, [POINTER, ctypes.c_char_p, ctypes.c_char_p]),
    "CPLPushErrorHandler": (None, [POINTER]),
    "GDALAllRegister": (None, []),
}


def load():
    import rasterio
    folder = pathlib.Path(rasterio.__file__).parent.parent / "rasterio.libs"
    library = ctypes.CDLL(str(next(folder.glob("libgdal*"))))
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    library.GDALAllRegister()
    library.CPLPushErrorHandler(ctypes.cast(library.CPLQuietErrorHandler, POINTER))
    return library


class Band:
    def __init__(self, gdal, handle):
        self.gdal, self.handle = gdal, handle
        width, height = ctypes.c_int(), ctypes.c_int()
        gdal.GDALGetBlockSize(handle, width, height)
        self.block = width.value, height.value
        self.size = gdal.GDALGetRasterBandXSize(handle), gdal.GDALGetRasterBandYSize(handle)
        self.blocks = [-(-size // block) for size, block in zip(self.size, self.block)]

    def item(self, name):
        return int(self.gdal.GDALGetMetadataItem(self.handle, name.encode(), b"TIFF") or 0)

    def ifd(self):
        return self.item("IFD_OFFSET")

    def places(self):
        return ((x, y) for y in range(self.blocks[1]) for x in range(self.blocks[0]))

    def offset(self, x, y):
        return self.item(f"BLOCK_OFFSET_{x}_{y}")

    def count(self, x, y):
        return self.item(f"BLOCK_SIZE_{x}_{y}")

    def first_offset(self):
        return next((offset for x, y in self.places() if (offset := self.offset(x, y))), 0)

    def overviews(self):
        return [Band(self.gdal, self.gdal.GDALGetOverview(self.handle, i))
                for i in range(self.gdal.GDALGetOverviewCount(self.handle))]

    def mask(self):
        return Band(self.gdal, self.gdal.GDALGetMaskBand(self.handle))

    def has_mask(self):
        return self.gdal.GDALGetMaskFlags(self.handle) == OF_DATASET


def read_ghost(content):
    """(where the first directory should be, the lines of the ghost area)"""
    front = 16 if content[:4] in (b"II+\0", b"MM\0+") else 8
    head = content[front:front + HEAD]
    if len(head) < HEAD or not head.startswith(PREFIX):
        return front, ""
    digits = head[len(PREFIX):len(PREFIX) + 6]
    if not digits.isdigit():
        return front, ""
    size = int(digits)
    text = content[front + HEAD:front + HEAD + size].decode("latin-1")
    end = front + HEAD + size
    return end + end % 2, text


def check_blocks(errors, name, band, content, ghost, with_mask):
    """What the ghost area promises of the blocks of one band."""
    leader = "BLOCK_LEADER=SIZE_AS_UINT4" in ghost
    trailer = "BLOCK_TRAILER=LAST_4_BYTES_REPEATED" in ghost
    ordered = "BLOCK_ORDER=ROW_MAJOR" in ghost
    mask = band.mask() if with_mask and "MASK_INTERLEAVED_WITH_IMAGERY=YES" in ghost else None
    if mask and mask.block != band.block:
        errors.append(f"{name}: other blocks than the mask")
        mask = None
    last = 0
    for x, y in band.places():
        offset, count = band.offset(x, y), band.count(x, y)
        if offset:
            if ordered and offset < last:
                errors.append(f"{name}: block {x} {y} before the previous one")
            if leader and content[offset - 4:offset] != struct.pack("<I", count):
                errors.append(f"{name}: leader of block {x} {y}")
            end = offset + count
            if trailer and count >= 4 and content[end - 4:end] != content[end:end + 4]:
                errors.append(f"{name}: trailer of block {x} {y}")
        if mask and (other := mask.offset(x, y)):
            if offset and other != offset + count + 4 * leader + 4 * trailer:
                errors.append(f"{name}: mask of block {x} {y} is elsewhere")
            if not offset:
                if ordered and other < last:
                    errors.append(f"{name}: mask of block {x} {y} before the previous block")
                offset = other
        last = offset


def check_data(errors, bands):
    """The smallest level first, each after the one before, and all after the last directory."""
    offsets = [band.first_offset() for band in bands]
    if offsets[-1] and offsets[-1] < bands[-1].ifd():
        errors.append("data of the smallest level before its directory")
    for i in range(len(bands) - 1):
        if offsets[i] and offsets[i] < offsets[i + 1]:
            errors.append(f"data of level {i} before that of level {i + 1}")


def validate(gdal, path):
    """(errors, warnings), or None when GDAL does not open it as a GeoTIFF or it has too many blocks to
    ask for."""
    drivers = (ctypes.c_char_p * 2)(b"GTiff", None)
    dataset = gdal.GDALOpenEx(str(path).encode(), 2, ctypes.cast(drivers, POINTER), None, None)
    if not dataset:
        return None
    try:
        if gdal.GDALGetRasterCount(dataset) == 0:
            return None
        return judge(gdal, dataset, path)
    finally:
        gdal.GDALClose(dataset)


def files_of(gdal, dataset):
    found = gdal.GDALGetFileList(dataset)
    names, i = [], 0
    while found and found[i]:
        names.append(found[i].decode(errors="replace"))
        i += 1
    gdal.CSLDestroy(found)
    return names


def judge(gdal, dataset, path):
    errors, warnings = [], []
    content = pathlib.Path(path).read_bytes()
    main = Band(gdal, gdal.GDALGetRasterBand(dataset, 1))
    bands = [main, *main.overviews()]
    if (max(band.blocks[0] * band.blocks[1] for band in bands) > MOST_BLOCKS
            or main.size[0] * main.size[1] > MOST_PIXELS):
        return None
    if f"{path}.ovr" in files_of(gdal, dataset):
        errors.append("external overviews")
    if max(main.size) > LARGE and len(bands) == 1:
        warnings.append("no overviews")
    for i, band in enumerate(bands):
        if (i or max(band.size) > LARGE) and band.block[0] == band.size[0] > WIDE:
            errors.append(f"level {i} is not tiled")
        if i and (band.size[0] > bands[i - 1].size[0] or band.size[1] > bands[i - 1].size[1]):
            errors.append(f"level {i} is larger than the one before")
        if i and band.ifd() < bands[i - 1].ifd():
            errors.append(f"directory of level {i} before that of the larger level")
    expected, ghost = 8, ""
    if main.ifd() not in (8, 16):
        expected, ghost = read_ghost(content)
        if "KNOWN_INCOMPATIBLE_EDITION=YES" in ghost:
            errors.append("edited")
        if main.ifd() != expected:
            errors.append("the first directory is not at the front")
    check_data(errors, bands)
    for i, band in enumerate(bands if ghost else []):
        check_blocks(errors, f"level {i}", band, content, ghost, True)
        if band.has_mask() and not pathlib.Path(f"{path}.msk").exists():
            check_blocks(errors, f"mask {i}", band.mask(), content, ghost, False)
    return errors, warnings
