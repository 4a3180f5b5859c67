#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the rasters of the benchmarks, and the files of them that are read.

    data.py FOLDER SIZE NAME...     writes FOLDER/NAME.tif where it is missing

A NAME says what is in the file: DATA-CODEC-pPREDICTOR-tTILE, for example dem_i16-deflate-p2-t256, or -strips in
place of the tile. A word may follow: -planar, -half (a quarter of the pixels), -mirrored (four times as many) or -cropN
(1024 x 1024 of them from somewhere). The rasters are synthetic landscapes from fixed seeds, SIZE x SIZE pixels,
kept beside the files as .npy; a NAME that is DATA alone, or DATA-half, wants that. Needs numpy and rasterio.
"""

import pathlib
import re
import sys

import numpy as np
import rasterio
from rasterio.transform import Affine

SEA, VOID = 250, 2.3

# ---- rasters ---------------------------------------------------------------------------------


class Landscape:
    """The fields that the rasters share, each made once."""

    def __init__(self, size):
        self.size = size
        self.fields = {}

    def noise(self, seed):
        return np.random.default_rng(seed).standard_normal((self.size, self.size), np.float32)

    def fractal(self, exponent, seed):
        """White noise with a power spectrum of k^-exponent, mean 0, deviation 1."""
        if (exponent, seed) not in self.fields:
            spectrum = np.fft.rfft2(self.noise(seed)).astype(np.complex64)
            k = np.hypot(np.fft.fftfreq(self.size)[:, None], np.fft.rfftfreq(self.size)[None, :])
            k[0, 0] = np.inf
            field = np.fft.irfft2(spectrum * (k ** (-exponent / 2)).astype(np.float32))
            self.fields[exponent, seed] = ((field - field.mean()) / field.std()).astype(np.float32)
        return self.fields[exponent, seed]

    def patches(self):
        """Fields of farmland: a number for each, between 0 and 511."""
        return (31 * np.floor(4 * self.fractal(2.8, 3)) +
                17 * np.floor(4 * self.fractal(2.8, 4))).astype(np.int64) % 512


def blur(image, sigma):
    """Gaussian, along both axes; the edges wrap around."""
    radius = int(np.ceil(3 * sigma))
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    weights = (weights / weights.sum()).astype(np.float32)
    for axis in (0, 1):
        image = sum(w * np.roll(image, shift, axis)
                    for w, shift in zip(weights, range(-radius, radius + 1)))
    return image


def median3(image):
    """Of 3 x 3 pixels, in bands of rows to save memory."""
    padded = np.pad(image, 1, mode="edge")
    out = np.empty_like(image)
    height, width = image.shape
    for row in range(0, height, 256):
        end = min(row + 256, height)
        stack = np.stack([padded[row + y:end + y, x:x + width] for y in range(3) for x in range(3)])
        out[row:end] = np.partition(stack, 4, axis=0)[4]
    return out


def elevation(land):
    """(metres, sea, voids)"""
    z = land.fractal(3, 1)
    metres = 900 + 420 * z + np.where(z > 0, 250 * z * z, 0)
    return metres, metres < SEA, land.fractal(2.6, 2) > VOID


def dem_f32(land):
    metres, sea, voids = elevation(land)
    return np.where(sea | voids, np.float32(-9999), metres).astype(np.float32)


def dem_f32q(land):
    return (np.rint(dem_f32(land).astype(np.float64) * 100) / 100).astype(np.float32)


def dem_i16(land):
    metres, sea, voids = elevation(land)
    metres = np.rint(metres + 3 * blur(land.noise(11), 0.8))
    metres[sea] = 0
    metres[voids] = -32768
    return metres.astype(np.int16)


def ls_u16(land):
    """A satellite scene of 4 bands with a turned footprint."""
    size, patches = land.size, land.patches()
    shared = 0.35 * land.fractal(2.6, 2) + 0.25 * land.fractal(2.2, 5)
    y, x = np.mgrid[0:size, 0:size].astype(np.float32) / size - 0.5
    c, s = np.cos(0.12), np.sin(0.12)
    inside = (np.abs(c * x - s * y) < 0.44) & (np.abs(s * x + c * y) < 0.44)
    bands = []
    settings = zip((8200, 9000, 9400, 15000), (350, 480, 700, 2300), (35, 40, 55, 90))
    for band, (base, gain, grain) in enumerate(settings):
        table = np.random.default_rng(20 + band).standard_normal(512).astype(np.float32)
        image = blur(base + gain * (0.8 * table[patches] + shared), 0.7)
        image += grain * blur(land.noise(30 + band), 0.6)
        bands.append(np.where(inside, np.clip(np.rint(image), 1, 65535), 0).astype(np.uint16))
    return np.stack(bands, axis=-1)


def streets(land):
    """Roofs and roads: what an aerial image has beside fields."""
    size, rng = land.size, np.random.default_rng(40)
    image = np.zeros((size, size), np.float32)
    for _ in range(26000 * size * size // 8192 ** 2):
        (y, x), (h, w) = rng.integers(0, size, 2), rng.integers(6, 49, 2)
        image[y:y + h, x:x + w] = 2.5 * rng.standard_normal()
    rows = np.arange(size)
    for _ in range(260 * size // 8192):
        middle = (rng.integers(0, size) + rng.normal() * rows).astype(np.int64) % size
        for offset in range(-2, 3):
            image[rows, (middle + offset) % size] = 1.5
    return image


def rgb_u8(land):
    patches, things = land.patches(), streets(land)
    shared = 0.5 * land.fractal(2.6, 2) + 0.35 * land.fractal(1.9, 6) + things
    bands = []
    for band, (base, gain) in enumerate(zip((105, 112, 88), (26, 22, 20))):
        table = np.random.default_rng(50 + band).standard_normal(512).astype(np.float32)
        image = blur(base + gain * (0.6 * table[patches] + shared), 0.75)
        image += 3.2 * blur(land.noise(60 + band), 0.5)
        bands.append(np.clip(np.rint(image), 0, 255).astype(np.uint8))
    return np.stack(bands, axis=-1)


def lc_u8(land):
    """Land cover: classes 1 to 10, much of it 0."""
    a, b = land.fractal(2.4, 7), land.fractal(2.4, 8)
    classes = 1 + 2 * np.digitize(a, (-0.8, -0.25, 0.25, 0.8)) + (b > 0)
    classes[land.fractal(2.8, 3) > 0.15] = 0
    classes = median3(classes.astype(np.uint8))
    classes[elevation(land)[1]] = 0
    salt = np.random.default_rng(70).random(classes.shape, np.float32) < 0.002
    classes[salt] = 1 + np.random.default_rng(71).integers(0, 10, int(salt.sum()))
    return classes


RASTERS = {f.__name__: f for f in (dem_f32, dem_f32q, dem_i16, ls_u16, rgb_u8, lc_u8)}

# ---- files -----------------------------------------------------------------------------------

CODECS = {  # name: options of GDAL's driver GTiff
    "none": {}, "deflate": {"compress": "deflate"}, "zstd": {"compress": "zstd"},
    "lzw": {"compress": "lzw"}, "packbits": {"compress": "packbits"},
    "lzma": {"compress": "lzma"}, "lerc": {"compress": "lerc", "max_z_error": 0},
    "lerc_zstd": {"compress": "lerc_zstd", "max_z_error": 0},
    "lerc_deflate": {"compress": "lerc_deflate", "max_z_error": 0},
    "jpeg": {"compress": "jpeg", "photometric": "ycbcr"},
    "webp": {"compress": "webp"}, "webpll": {"compress": "webp", "webp_lossless": True},
}
NAME = re.compile(r"(?P<data>\w+)-(?P<codec>\w+)-p(?P<predictor>\d)"
                  r"(-t(?P<tile>\d+)|-strips)(-(?P<word>planar|half|mirrored|crop\d+))?")
RASTER = re.compile(r"(?P<data>[a-z0-9_]+)(-(?P<word>half))?")
CROP = 1024


def cut(array, word):
    """What the last word of a name wants."""
    size = array.shape[0]
    if word == "half":
        return array[:size // 2, :size // 2]
    if word == "mirrored":
        return np.concatenate([np.concatenate([array, array[:, ::-1]], 1),
                               np.concatenate([array[::-1], array[::-1, ::-1]], 1)])
    if word and word.startswith("crop"):
        y, x = np.random.default_rng(int(word[4:])).integers(0, size - CROP + 1, 2)
        return array[y:y + CROP, x:x + CROP]
    return array


def write_tiff(path, array, codec, predictor=1, tile=None, planar=False):
    """By GDAL, with its default levels. Written beside the place and moved there when whole."""
    bands = 1 if array.ndim == 2 else array.shape[2]
    options = dict(CODECS[codec], num_threads="ALL_CPUS")
    if predictor > 1:
        options["predictor"] = predictor
    if tile:
        options.update(tiled=True, blockxsize=tile, blockysize=tile)
    options["interleave"] = "band" if planar else "pixel"
    part = path.with_suffix(".part")
    with rasterio.open(part, "w", driver="GTiff", height=array.shape[0], width=array.shape[1],
                       count=bands, dtype=array.dtype, crs="EPSG:32633",
                       transform=Affine(10, 0, 300000, 0, -10, 5600000), **options) as file:
        file.write(array.reshape(*array.shape[:2], bands).transpose(2, 0, 1))
    part.rename(path)


def load(folder, size, name):
    """The raster of that name, made or from the cache."""
    path = folder / f"{name}.npy"
    if not path.exists():
        land = load.landscapes.setdefault(size, Landscape(size))
        np.save(path, RASTERS[name](land))
    return np.load(path, mmap_mode="r")


load.landscapes = {}


def keep_raster(folder, size, name, word):
    """A raster as .npy, without a TIFF of it."""
    path = folder / (f"{name}-{word}.npy" if word else f"{name}.npy")
    whole = load(folder, size, name)
    if not path.exists():
        np.save(path, np.ascontiguousarray(cut(whole, word)))


def main():
    folder, size = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[3:]:
        raster = RASTER.fullmatch(name)
        if raster:
            keep_raster(folder, size, raster["data"], raster["word"])
            continue
        path = folder / f"{name}.tif"
        if path.exists():
            continue
        kind = NAME.fullmatch(name)
        if not re.search(r"crop\d*[1-9]$", name):  # one in ten of these
            print(f"making {path.name}", file=sys.stderr)
        write_tiff(path, cut(np.asarray(load(folder, size, kind["data"])), kind["word"]),
                   kind["codec"], int(kind["predictor"]), kind["tile"] and int(kind["tile"]),
                   kind["word"] == "planar")


if __name__ == "__main__":
    main()
