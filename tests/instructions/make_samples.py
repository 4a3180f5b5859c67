# SPDX-License-Identifier: Apache-2.0
"""Images that look like what people keep in GeoTIFF, written by GDAL with LZW.

    make_samples.py FOLDER

Makes f32.tif (a terrain model, predictor 3), i16.tif (the same in metres, with noise), ls.tif (four
bands of a satellite), rgb.tif (an orthophoto, all three with predictor 2) and lc.tif (land cover):
4 tiles of 512 x 512 pixels each, from all over an image of 2048 x 2048.
"""
import pathlib
import sys
import warnings

import numpy as np
import rasterio

SIZE = 2048
TILE = 512


class Noise:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.frequency = np.hypot(np.fft.fftfreq(SIZE)[:, None], np.fft.rfftfreq(SIZE)[None, :])
        self.frequency[0, 0] = 1
        self.frequency = self.frequency.astype(np.float32)

    def white(self):
        return self.random.standard_normal((SIZE, SIZE), np.float32)

    def fractal(self, slope):
        """Noise whose power falls with frequency to the slope; mean 0, standard deviation 1."""
        spectrum = np.fft.rfft2(self.white()) * self.frequency ** (-slope / 2)
        spectrum[0, 0] = 0
        image = np.fft.irfft2(spectrum, (SIZE, SIZE))
        return image / image.std()

    def blurred(self, image, sigma):
        kernel = np.exp(-2 * (np.pi * sigma * self.frequency) ** 2)
        kernel[0, 0] = 1
        return np.fft.irfft2(np.fft.rfft2(image) * kernel, (SIZE, SIZE))


def terrain(noise):
    z, h = noise.fractal(3), noise.fractal(2.6)
    height = 900 + 420 * z + (z > 0) * 250 * z**2
    sea, voids = height < 250, h > 2.3
    metres = np.rint(height + 3 * noise.blurred(noise.white(), 0.8))
    metres = np.where(voids, -32768, np.where(sea, 0, metres)).astype("i2")
    return np.where(sea | voids, -9999, height).astype("f4"), metres, sea, h


def patches(noise):
    """Fields and woods: a random number for each patch."""
    patch = 31 * np.floor(4 * noise.fractal(2.8)) + 17 * np.floor(4 * noise.fractal(2.8))
    return noise.random.standard_normal(4096)[patch.astype(int) % 4096]


def satellite(noise, h):
    land, fine = patches(noise), noise.fractal(2.2)
    x = np.linspace(-1, 1, SIZE, dtype=np.float32)[None, :]
    y = x.T
    turned = np.maximum(abs(x * np.cos(0.12) - y * np.sin(0.12)),
                        abs(x * np.sin(0.12) + y * np.cos(0.12)))
    bands = []
    for base, gain, sd in ((8200, 350, 35), (9000, 480, 40), (9400, 700, 55), (15000, 2300, 90)):
        band = noise.blurred(base + gain * (0.8 * land + 0.35 * h + 0.25 * fine), 0.7)
        rough = noise.blurred(noise.white(), 0.6)
        band += sd * rough / rough.std()
        bands.append(np.where(turned < 0.9, np.clip(band, 1, 65535), 0))
    return np.stack(bands, axis=-1).astype("u2")


def photo(noise, h):
    scene = 0.6 * patches(noise) + 0.5 * h + 0.35 * noise.fractal(1.9)
    for _ in range(26000 * SIZE**2 // 8192**2):
        y, x = noise.random.integers(0, SIZE, 2)
        down, across = noise.random.integers(6, 49, 2)
        scene[y:y + down, x:x + across] += noise.random.standard_normal()
    bands = []
    for base, gain in ((105, 26), (112, 22), (88, 20)):
        band = noise.blurred(base + gain * scene, 0.75)
        band += 3.2 * noise.blurred(noise.white(), 0.5)
        bands.append(np.clip(np.rint(band), 0, 255))
    return np.stack(bands, axis=-1).astype("u1")


def median3(a, b, c):
    return np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))


def land_cover(noise, sea):
    a, b, q = noise.fractal(2.4), noise.fractal(2.4), noise.fractal(2.8)
    classes = (1 + np.digitize(a, [-1, -0.3, 0.3, 1]) * 2 + (b > 0)).astype("u1")
    classes[q > 0.15] = 0
    for axis in (0, 1):  # nearly the median of 3 x 3
        classes = median3(np.roll(classes, 1, axis), classes, np.roll(classes, -1, axis))
    classes[sea] = 0
    salt = noise.random.random((SIZE, SIZE), np.float32) < 0.002
    classes[salt] = noise.random.integers(0, 11, np.count_nonzero(salt))
    return classes


def every_second_tile(image):
    rows = np.concatenate([image[y:y + TILE] for y in range(0, SIZE, 2 * TILE)])
    return np.concatenate([rows[:, x:x + TILE] for x in range(0, SIZE, 2 * TILE)], axis=1)


def write(path, image, predictor):
    image = every_second_tile(image)
    bands = np.moveaxis(image, -1, 0) if image.ndim == 3 else image[None]
    with rasterio.open(path, "w", driver="GTiff", width=image.shape[1], height=image.shape[0],
                       count=len(bands), dtype=bands.dtype.name, tiled=True, blockxsize=TILE,
                       blockysize=TILE, interleave="pixel", compress="lzw",
                       predictor=predictor) as file:
        file.write(bands)


def main():
    warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
    folder = pathlib.Path(sys.argv[1])
    noise = Noise(20260101)
    f32, i16, sea, h = terrain(noise)
    write(folder / "f32.tif", f32, 3)
    write(folder / "i16.tif", i16, 2)
    write(folder / "ls.tif", satellite(noise, h), 2)
    write(folder / "rgb.tif", photo(noise, h), 2)
    write(folder / "lc.tif", land_cover(noise, sea), 1)


if __name__ == "__main__":
    main()
