# SPDX-License-Identifier: Apache-2.0
"""Files that terrazzo writes, seen by the parsers of nvTIFF and nvJPEG2000: what they see is what was asked for, and
terrazzo's own report about the file."""

import dataclasses
import itertools
import json
import subprocess

from nvidia import nvtiff

HEIGHT, WIDTH = 300, 410
CODES = {"NONE": 1, "LZW": 5, "JPEG": 7, "DEFLATE": 8, "PACKBITS": 32773, "JPEG2000": 34712, "ZSTD": 50000,
         "LZ4": 50004}
FORMATS = {"u": 1, "i": 2, "f": 3}
TILE = {"TILED": "YES", "BLOCKXSIZE": "64", "BLOCKYSIZE": "48"}
STRIPS = {"BLOCKYSIZE": "16"}
BLOCK = 128  # of COGs
SCALE, TIEPOINT = (30.0, 30.0, 0.0), (0.0, 0.0, 0.0, 500000.0, 5200000.0, 0.0)
KEYS = {1024: [1], 1025: [1], 3072: [32632]}


@dataclasses.dataclass
class Case:
    command: str
    dtype: str
    bands: int
    options: dict
    nodata: str = ""

    def name(self):
        words = [f"{key}={value}" for key, value in self.options.items()]
        return " ".join([self.command, self.dtype, f"x{self.bands}", *words])

    def bits(self):
        return int(self.dtype.lstrip("uintfloa"))

    def codec(self):
        return self.options.get("COMPRESS", "NONE")


def cog(dtype, bands, **options):
    return Case("cog", dtype, bands, {"COMPRESS": "DEFLATE", "BLOCKSIZE": str(BLOCK), **options})


def sample():
    return [Case("convert", "uint8", 3, {"COMPRESS": "LZW", **STRIPS}),
            Case("convert", "int16", 1, {"COMPRESS": "DEFLATE", "PREDICTOR": "2", "BIGTIFF": "YES", "ENDIANNESS": "BIG",
                                         **TILE}, nodata="-7"),
            cog("uint16", 1, BIGTIFF="YES"),
            cog("uint8", 4, COMPRESS="JPEG"),
            Case("convert", "uint8", 3, {"COMPRESS": "JPEG2000", **TILE}),
            Case("convert", "int16", 1, {"COMPRESS": "JPEG2000", "ENDIANNESS": "BIG", **TILE})]


def whole():
    """Every codec, in both layouts, byte orders and variants, of several types."""
    layouts = [{**TILE}, {**STRIPS}, {**TILE, "INTERLEAVE": "BAND"}]
    types = [("uint8", 3), ("uint8", 1), ("int8", 1), ("uint16", 4), ("int16", 2), ("uint32", 1), ("float32", 1),
             ("float64", 3)]
    for codec, layout, order, big, (dtype, bands) in itertools.product(
            CODES, layouts, ("LITTLE", "BIG"), ("NO", "YES"), types):
        if codec == "JPEG" and dtype != "uint8" or codec == "JPEG2000" and dtype[-2:] not in ("t8", "16"):
            continue
        yield Case("convert", dtype, bands, {"COMPRESS": codec, "ENDIANNESS": order, "BIGTIFF": big, **layout},
                   nodata="3" if bands == 1 else "")
    for codec, big, (dtype, bands) in itertools.product(
            ("NONE", "LZW", "DEFLATE", "ZSTD"), ("NO", "YES"), types):
        yield cog(dtype, bands, COMPRESS=codec, BIGTIFF=big)


# ---- writing ---------------------------------------------------------------------------------


def pixels(case):
    """Values that every type has, and that are not far from each other."""
    return bytes(i % 61 for i in range(HEIGHT * WIDTH * case.bands * case.bits() // 8))


def write(terrazzo, case, path):
    def call(command, options, *words, **more):
        creation = [word for key, value in options.items() for word in ("--co", f"{key}={value}")]
        done = subprocess.run([terrazzo, command, "--overwrite", "--no-sync", "--verify", "none", *creation,
                               *map(str, words)], capture_output=True, **more)
        if done.returncode != 0:
            raise RuntimeError(f"{case.name()}: {done.stderr.decode()}")

    about = ["--shape", f"{HEIGHT}x{WIDTH}x{case.bands}", "--dtype", case.dtype, "--epsg", 32632, "--transform",
             "500000,30,0,5200000,0,-30", *(["--nodata", case.nodata] if case.nodata else [])]
    call(case.command, case.options, *about, "-", path, input=pixels(case))


def told(terrazzo, path):
    done = subprocess.run([terrazzo, "info", "--json", "--tiles", path], capture_output=True, check=True)
    return json.loads(done.stdout)["terrazzo"]


# ---- nvTIFF ----------------------------------------------------------------------------------


def level_sizes(case):
    sizes = [[WIDTH, HEIGHT]]
    while case.command == "cog" and max(sizes[-1]) > BLOCK:
        sizes.append([-(-length // 2) for length in sizes[-1]])
    return sizes


def expected_image(case, level):
    """What was asked for, with the defaults of GDAL's drivers."""
    has_mask = case.codec() == "JPEG" and case.bands == 4
    bands = 3 if has_mask else case.bands
    size = level_sizes(case)[level]
    tile = [BLOCK, BLOCK] if case.command == "cog" else [64, 48] if "TILED" in case.options else [WIDTH, 16]
    by_band = case.options.get("INTERLEAVE") == "BAND"
    count = -(-size[0] // tile[0]) * -(-size[1] // tile[1])
    colours = 6 if case.codec() == "JPEG" and case.command == "cog" else 2
    return {"size": size, "compression": CODES[case.codec()], "planar": 2 if by_band and bands > 1 else 1,
            "photometric": colours if bands >= 3 and case.dtype == "uint8" else 1,
            "bits": [case.bits()] * bands, "formats": [FORMATS[case.dtype[0]]] * bands, "kind": min(level, 1),
            "tiled": tile[0] != WIDTH, "tile": tile, "tiles": count * (bands if by_band else 1)}


def differences(where, found, expected):
    return [f"{where} {name}: {found.get(name)}, expected {value}" for name, value in expected.items()
            if found.get(name) != value]


def check_image(case, found, ours, tiles):
    """Checks one level against the request, and against the directory and the tiles that terrazzo reports."""
    where = f"level {ours['level']}"
    wrong = differences(where, found, expected_image(case, ours["level"]))
    wrong += differences(where, found, {"at": ours["ifd_offset"]})
    if len(found["tags"]) != ours["tag_count"]:
        wrong.append(f"{where}: {len(found['tags'])} tags, expected {ours['tag_count']}")
    offsets, sizes = (324, 325) if found["tiled"] else (273, 279)
    wanted = {offsets: tuple(tile["offset"] for tile in tiles), sizes: tuple(tile["size"] for tile in tiles)}
    if ours["level"] == 0:
        wanted |= {33550: SCALE, 33922: TIEPOINT}
        if case.nodata:
            wanted[42113] = case.nodata.encode() + b"\0"
    return wrong + differences(f"{where} tag", found["tags"], wanted)


def check_file(case, found, ours):
    """What is wrong."""
    wrong = differences("the file's", found, {"variant": 43 if case.options.get("BIGTIFF") == "YES" else 42})
    wrong += differences("GeoKey", found["keys"], KEYS)
    wrong += differences("GeoKey", found["keys"], {key["id"]: key["value"] for key in ours["geo"]["keys"]})
    images = {image["at"]: image for image in found["images"]}
    chain = [level["ifd_offset"] for level in ours["levels"] + ours["masks"]]
    if sorted(images) != sorted(chain):
        wrong.append(f"directories at {sorted(images)}, expected {sorted(chain)}")
    if [level["size"] for level in ours["levels"]] != level_sizes(case):
        wrong.append(f"levels of {[level['size'] for level in ours['levels']]}")
    for level in ours["levels"]:
        tiles = [tile for tile in ours["tiles"] if tile["level"] == level["level"] and not tile["mask"]]
        wrong += check_image(case, images.get(level["ifd_offset"], {"tags": {}, "tiled": True}), level, tiles)
    for mask in ours["masks"]:
        wrong += differences("mask", images.get(mask["ifd_offset"], {}),
                             {"bits": [1], "photometric": 4, "kind": 4 + (mask["level"] > 0)})
    return wrong


# ---- nvJPEG2000 ------------------------------------------------------------------------------


def resolutions(path, place, size):
    """How many the stream of a tile says to have, with their sizes from the lowest on; and that there are no more."""
    with open(path, "rb") as file:
        file.seek(place["offset"])
        stream = file.read(place["size"])
    count = stream[stream.index(b"\xff\x52") + 9] + 1
    sides = ["x".join(str(-(-side // (1 << i))) for side in size) for i in reversed(range(count))]
    return " ".join(["", "resolutions", str(count), *sides, "2"])


def check_streams(case, path, ours, ask):
    """Of the first and the last tile: size, components, precision, sign and lower resolutions. ask(words) has the answer
    for each."""
    tiles = [ours["tiles"][0], ours["tiles"][-1]]
    answers = ask([path, *(word for tile in tiles for word in (tile["offset"], tile["size"]))])
    components = 1 if case.options.get("INTERLEAVE") == "BAND" else case.bands
    tile = expected_image(case, 0)["tile"]
    wrong = []
    for place in tiles:
        size = [tile[0], tile[1] if "TILED" in case.options else min(tile[1], HEIGHT - tile[1] * place["row"])]
        depth = f" {size[0]}x{size[1]} precision {case.bits()} signed {int(case.dtype[0] == 'i')}"
        expected = (f"SUCCESS {size[0]}x{size[1]} tile {size[0]}x{size[1]} tiles 1x1 components {components}"
                    + depth * components + resolutions(path, place, size))
        found = answers.get(f"parse {place['offset']}")
        if found != expected:
            wrong.append(f"tile {place['tile']}: {found}, expected {expected}")
    return wrong


def check_all(tap, terrazzo, library, asked, folder, cases):
    """asked: the names of what parses streams, each with its function."""
    path = folder / "written.tif"
    for case in cases:
        write(terrazzo, case, path)
        ours = told(terrazzo, path)
        wrong = check_file(case, nvtiff.parse(library, path), ours)
        tap.check(f"nvTIFF sees what was written: {case.name()}", not wrong, "\n".join(wrong))
        for who, ask in asked.items() if case.codec() == "JPEG2000" else ():
            wrong = check_streams(case, path, ours, ask)
            tap.check(f"{who} sees what was written: {case.name()}", not wrong, "\n".join(wrong))
