# SPDX-License-Identifier: Apache-2.0
"""Readers of written files: ours, GDAL, tifffile, and libtiff's tools."""
import re
import subprocess

import imagecodecs
import numpy
import rasterio
import tifffile

from written_cases import CODECS, LAYOUTS, SAMPLES, is_float, tile_samples


class LevelDump:
    """Our reader: one process for all files."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def read(self, path, case):
        """(pixels, mask) of the first level, or the error as text."""
        self.process.stdin.write(path.encode() + b"\n")
        self.process.stdin.flush()
        sample, image = SAMPLES[case.dtype], None
        while True:
            line = self.process.stdout.readline().decode(errors="replace").split()
            if not line or line[0] == "error":
                return " ".join(line) or "the program ended"
            if line[0] == "end":
                return image
            shape = tuple(map(int, line[2:5]))
            count = int(numpy.prod(shape))
            array = numpy.dtype(sample.array)
            pixels = numpy.frombuffer(
                self.process.stdout.read(count * array.itemsize * (2 if sample.pair else 1)), array)
            mask = numpy.frombuffer(self.process.stdout.read(count), "u1").reshape(shape)
            image = (pixels.reshape(shape + (2,) * sample.pair), mask)

    def end(self):
        self.process.stdin.close()
        return self.process.wait()


def read_gdal(path, case):
    sample = SAMPLES[case.dtype]
    with rasterio.open(path) as file:
        pixels = file.read()
    if sample.pair:
        return numpy.stack([pixels.real, pixels.imag], -1).astype(sample.array)
    return pixels.astype(sample.array)


def read_tifffile(path, case):
    with tifffile.TiffFile(path) as file:
        page = file.pages[0]
        if case.codec.startswith("jxl") and tile_samples(case) > 1:
            return read_jxl(file, page, case)
        pixels = page.asarray()
    if case.bands == 1:
        pixels = pixels.reshape((1,) + pixels.shape[-2:])
    elif page.planarconfig == 1:
        pixels = numpy.moveaxis(pixels.reshape(case.size[::-1] + (case.bands,)), -1, 0)
    return pixels.reshape((case.bands,) + case.size[::-1])


def read_jxl(file, page, case):
    """Tile by tile, because imagecodecs gives bands that are not colours as planes, which tifffile
    takes for rows."""
    across = page.chunked[-1 if page.planarconfig == 2 or case.bands == 1 else -2]
    height, width = page.chunks[:2]
    pixels = numpy.full((case.bands, *case.size[::-1]), page.nodata, page.dtype)
    for number, (offset, size) in enumerate(zip(page.dataoffsets, page.databytecounts)):
        if size == 0:
            continue
        file.filehandle.seek(offset)
        tile = imagecodecs.jpegxl_decode(file.filehandle.read(size))
        if tile.shape[0] != case.bands or tile.shape[-1] == case.bands:
            tile = numpy.moveaxis(tile, -1, 0)
        row, column = number // across * height, number % across * width
        room = pixels[:, row:row + height, column:column + width]
        room[:] = tile[:, :room.shape[1], :room.shape[2]]
    return pixels


# What the file is made of ------------------------------------------------------------------------


def predictor_of(case):
    """The one that must be in the file."""
    if case.predictor > 0:
        return case.predictor
    if not any(case.codec.startswith(name) for name in ("lzw", "deflate", "zstd", "lzma")):
        return 1
    if is_float(case):
        return 3
    whole = SAMPLES[case.dtype].bits in (8, 16, 32, 64)
    return 2 if SAMPLES[case.dtype].format <= 2 and whole and case.dress != "palette" else 1


def wanted_structure(case):
    sample = SAMPLES[case.dtype]
    wanted = {"bigtiff": case.bigtiff == "yes", "order": "<" if case.order == "little" else ">",
              "width": case.size[0], "height": case.size[1], "bands": case.bands,
              "compression": CODECS[case.codec][0], "predictor": predictor_of(case),
              "planar": 2 if tile_samples(case) < case.bands else 1,
              "bits": {sample.bits}, "format": {sample.format}, "aligned": True, "order_kept": True}
    width, height = LAYOUTS[case.layout]
    if width is None:
        wanted["tiled"] = False
        if height > 0:
            wanted["rows"] = min(height, case.size[1])
    else:
        wanted["tiled"] = True
        wanted["tile"] = (width or 256, height or 256)
    return wanted


def as_set(value):
    return set(value) if isinstance(value, tuple) else {int(value)}


def is_in_order(case, page, offsets):
    """Whether tiles lie in the file as the interleaving says."""
    if page.planarconfig != 2:
        order = range(len(offsets))
    else:
        plane = len(offsets) // case.bands
        across = 1
        if page.is_tiled:
            across = -(-case.size[0] // page.tilewidth)
        numbers = numpy.arange(len(offsets)).reshape(case.bands, plane // across, across)
        axes = (1, 0, 2) if case.interleave == "band" else (1, 2, 0)
        order = numpy.transpose(numbers, axes).reshape(-1)
    places = [offsets[number] for number in order if offsets[number] > 0]
    return places == sorted(places)


def found_structure(path, case):
    with tifffile.TiffFile(path) as file:
        page = file.pages[0]
        tags = page.tags
        offsets = [offset for offset, size in zip(page.dataoffsets, page.databytecounts)]
        found = {"bigtiff": file.is_bigtiff, "order": file.byteorder, "width": page.imagewidth,
                 "height": page.imagelength, "bands": page.samplesperpixel,
                 "compression": int(page.compression), "predictor": int(page.predictor),
                 "planar": int(page.planarconfig) if case.bands > 1 else 1,
                 "bits": as_set(tags[258].value if 258 in tags else 1),
                 "format": as_set(tags[339].value if 339 in tags else 1),
                 "aligned": all(offset % max(case.alignment, 1) == 0 for offset in offsets),
                 "order_kept": is_in_order(case, page, offsets), "tiled": page.is_tiled}
        if page.is_tiled:
            found["tile"] = (page.tilewidth, page.tilelength)
        elif "rows" in wanted_structure(case):
            found["rows"] = page.rowsperstrip
        return found


def wrong_structure(path, case):
    wanted, found = wanted_structure(case), found_structure(path, case)
    problems = [f"{name} is {found.get(name)}, not {value}" for name, value in wanted.items()
                if found.get(name) != value]
    return "; ".join(problems) or None


# libtiff's tools ---------------------------------------------------------------------------------

PRIVATE_TAGS = {33550, 33922, 34264, 34735, 34736, 34737, 42112, 42113, 50844, 50674}
UNKNOWN = re.compile(r"TIFFReadDirectory: Warning, Unknown field with tag (\d+) \(0x[0-9a-f]+\) "
                     r"encountered\.")


def is_expected(line):
    """libtiff alone does not know GeoTIFF's and GDAL's tags."""
    match = UNKNOWN.fullmatch(line)
    return bool(match) and int(match[1]) in PRIVATE_TAGS


def wrong_by(command, path):
    """What one of libtiff's tools complains about, or None."""
    done = subprocess.run([*command, path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, errors="replace")
    lines = [line for line in done.stderr.splitlines() if line and not is_expected(line)]
    if done.returncode != 0:
        lines.append(f"exit code {done.returncode}")
    return f"{command[0]}: {'; '.join(lines)}" if lines else None
