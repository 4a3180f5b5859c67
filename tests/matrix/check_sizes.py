#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How large our files are beside those that GDAL writes of the same pixels with the same settings.

    check_sizes.py WRITE_CASE

Lossless codecs, on the rasters of bench/data.py. Ours may be larger by 2 %; what is larger still is
listed in LARGER, with the reason. Prints TAP and the sizes; needs .venv.
"""
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parents[1] / "bench"))
from tap import Tap, skip_all  # noqa: E402

try:
    import numpy
    import rasterio
    from data import RASTERS, Landscape
except ImportError as error:
    skip_all("sizes", f"a package of tests/requirements.txt is missing: {error}")

from write_program import WriteProgram  # noqa: E402

SIZE = 1024
TILE = 256
ALLOWED = 1.02
NAMES = ["dem_f32", "dem_i16", "ls_u16", "rgb_u8", "lc_u8"]
# Name with our level, our settings, GDAL's.
CODECS = [
    ("none", {"compression": 1}, {}),
    ("packbits", {"compression": 32773}, {"compress": "packbits"}),
    ("lzw", {"compression": 5}, {"compress": "lzw"}),
    *((f"deflate-{ours}", {"compression": 8, "effort": ours},
       {"compress": "deflate", "zlevel": theirs})
      for ours, theirs in ((1, 1), (6, 6), (7, 6), (9, 9), (10, 9), (12, 12))),
    ("zstd-1", {"compression": 50000, "effort": 1}, {"compress": "zstd", "zstd_level": 1}),
    ("zstd-9", {"compression": 50000, "effort": 9}, {"compress": "zstd", "zstd_level": 9}),
    ("zstd-19", {"compression": 50000, "effort": 19}, {"compress": "zstd", "zstd_level": 19}),
    ("lzma-6", {"compression": 34925, "effort": 6}, {"compress": "lzma", "lzma_preset": 6}),
    ("lerc", {"compression": 34887}, {"compress": "lerc", "max_z_error": 0}),
    ("lerc-deflate", {"compression": 34887, "lerc_compression": 1, "effort": 6},
     {"compress": "lerc_deflate", "max_z_error": 0, "zlevel": 6}),
    ("lerc-zstd", {"compression": 34887, "lerc_compression": 2, "effort": 9},
     {"compress": "lerc_zstd", "max_z_error": 0, "zstd_level": 9}),
    ("webp", {"compression": 50001, "lossless": 1}, {"compress": "webp", "webp_lossless": True}),
]
PREDICTED = ("lzw", "deflate", "zstd", "lzma")
# (raster, codec, predictor): reason
ONE_MORE = "libtiff asks libdeflate for one level more than the user did, from 6 to 9"
LARGER = {
    ("dem_i16", "deflate-9", 2): ONE_MORE, ("ls_u16", "deflate-9", 2): ONE_MORE,
    ("rgb_u8", "deflate-9", 2): ONE_MORE, ("lc_u8", "deflate-6", 1): ONE_MORE,
    ("lc_u8", "deflate-9", 1): ONE_MORE, ("lc_u8", "deflate-9", 2): ONE_MORE,
    ("dem_i16", "zstd-19", 1): "libtiff does not tell zstd that a tile is small, which chooses "
                               "other parameters then; they happen to suit this one",
}


def predictors(codec, array):
    if not codec.startswith(PREDICTED):
        return [1]
    return [1, 2, 3] if array.dtype.kind == "f" else [1, 2]


def possible(codec, array):
    return codec != "webp" or (array.dtype == numpy.uint8 and len(array) in (3, 4))


def write_ours(program, array, settings, predictor, folder):
    raw, path = f"{folder}/pixels", f"{folder}/ours.tif"
    pathlib.Path(raw).write_bytes(array.tobytes())
    program.say("new")
    program.say("image", array.shape[2], array.shape[1], array.shape[0], array.dtype.name)
    program.say("pixels", raw)
    for name, value in {**settings, "predictor": predictor, "tile_width": TILE,
                        "tile_height": TILE, "no_sync": 1}.items():
        program.say("set", name, value)
    result, message = program.ask("write", path)
    if result != "ok":
        raise SystemExit(f"{settings}: {result}: {message}")
    return message


def write_theirs(array, settings, predictor, folder):
    path = pathlib.Path(folder) / "theirs.tif"
    options = {**settings, **({"predictor": predictor} if predictor > 1 else {})}
    with rasterio.open(path, "w", driver="GTiff", width=array.shape[2], height=array.shape[1],
                       count=array.shape[0], dtype=array.dtype, tiled=True, blockxsize=TILE,
                       blockysize=TILE, interleave="pixel", **options) as file:
        file.write(array)
    return path.stat().st_size


def main():
    tap, land = Tap(), Landscape(SIZE)
    program = WriteProgram(sys.argv[1])
    wrong, listed, count = [], set(), 0
    for name in NAMES:
        array = numpy.asarray(RASTERS[name](land))
        array = numpy.ascontiguousarray(array.reshape(SIZE, SIZE, -1).transpose(2, 0, 1))
        for codec, ours, theirs in CODECS:
            if not possible(codec, array):
                continue
            for predictor in predictors(codec, array):
                with tempfile.TemporaryDirectory() as folder:
                    mine = write_ours(program, array, ours, predictor, folder)
                    other = write_theirs(array, theirs, predictor, folder)
                count += 1
                line = (f"{name:8} {codec:12} p{predictor} {mine:9} of {other:9} bytes, "
                        f"{100 * mine / other - 100:+6.2f} %")
                print(f"# {line}", flush=True)
                if mine > ALLOWED * other:
                    listed.add((name, codec, predictor))
                    if (name, codec, predictor) not in LARGER:
                        wrong.append(line)
    tap.check("the program ended well", program.end() == 0)
    tap.check(f"files are at most 2 % larger than GDAL's ({count})", not wrong, "\n".join(wrong))
    tap.check("those that are listed are larger", set(LARGER) <= listed,
              "\n".join(map(str, sorted(set(LARGER) - listed))))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
