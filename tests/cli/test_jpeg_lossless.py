# SPDX-License-Identifier: Apache-2.0
"""Lossless JPEG (SOF3) in compression 7: the samples of imagecodecs' encoders, by the CPU and on a device."""

import struct

import imagecodecs
import numpy as np
import pytest

from tiffmaker import LONG, SHORT, UNDEFINED, Image, tiff

TILE = 32


def pixels_of(height, width, bands, bits, seed=0):
    """Slopes with noise, and now and then any number of so many bits."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    values = (3 * x + 5 * y)[:, :, None] + 40 * np.arange(bands) + random.integers(0, 5, (height, width, bands))
    wild = random.integers(0, 1 << bits, values.shape)
    values = np.where(random.random(values.shape) < 0.02, wild, values) % (1 << bits)
    return values.astype("uint8" if bits <= 8 else "uint16")


def jpeg(pixels, bits, predictor):
    rows = pixels[:, :, 0] if pixels.shape[2] == 1 else pixels
    stream = imagecodecs.jpeg8_encode(np.ascontiguousarray(rows), bitspersample=bits, lossless=True,
                                      predictor=predictor)
    np.testing.assert_array_equal(imagecodecs.jpeg8_decode(stream), rows)
    return stream


def file_of(image, tiles, byte_order="<"):
    """An image whose tiles are these streams."""
    start = len(tiff([image], byte_order)) - sum(image.sizes())
    offsets = [start + sum(map(len, tiles[:i])) for i in range(len(tiles))]
    tags = (324, 325) if image.tile else (273, 279)
    image.tags += [(tags[0], LONG, offsets), (tags[1], LONG, [len(tile) for tile in tiles])]
    data = tiff([image], byte_order)
    return data[:len(data) - sum(image.sizes())] + b"".join(tiles)


def tiled(pixels, bits, byte_order="<"):
    """Tiles with the seven predictors in turn."""
    height, width, bands = pixels.shape
    padded = np.pad(pixels, ((0, -height % TILE), (0, -width % TILE), (0, 0)), mode="edge")
    tiles = []
    for y in range(0, height, TILE):
        for x in range(0, width, TILE):
            tiles.append(jpeg(padded[y:y + TILE, x:x + TILE], bits, 1 + len(tiles) % 7))
    image = Image(width, height, bands=bands, bits=bits, tile=(TILE, TILE), tags=[(259, SHORT, [7])])
    return file_of(image, tiles, byte_order)


class Bits:
    """Codes to bytes, with the zero that follows each FF."""

    def __init__(self):
        self.value, self.count = 0, 0

    def put(self, value, count):
        self.value, self.count = self.value << count | value, self.count + count

    def take(self):
        pad = -self.count % 8
        data = (self.value << pad | (1 << pad) - 1).to_bytes((self.count + pad) // 8, "big")
        self.__init__()
        return data.replace(b"\xff", b"\xff\0")


def predict(rows, y, x, first, predictor, start):
    if x == 0:
        return start if first else rows[y - 1][0]
    a = rows[y][x - 1]
    if first:
        return a
    b, c = rows[y - 1][x], rows[y - 1][x - 1]
    return [a, b, c, a + b - c, a + (b - c >> 1), b + (a - c >> 1), a + b >> 1][predictor - 1]


def segment(marker, data):
    return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data


def encode_slowly(pixels, bits, predictor, shift, restart_rows, scans_apart):
    """What no encoder at hand writes: point transforms, restart intervals, a scan for each component."""
    height, width, bands = pixels.shape
    stream = b"\xff\xd8" + segment(0xC4, bytes([0, *[0] * 4, 17, *[0] * 11, *range(17)]))
    stream += segment(0xC3, struct.pack(">BHHB", bits, height, width, bands)
                      + b"".join(bytes([i + 1, 0x11, 0]) for i in range(bands)))
    stream += segment(0xDD, struct.pack(">H", restart_rows * width))
    planes = [(pixels[:, :, i] >> shift).tolist() for i in range(bands)]
    for group in [[i] for i in range(bands)] if scans_apart else [list(range(bands))]:
        stream += segment(0xDA, bytes([len(group), *[n for i in group for n in (i + 1, 0)], predictor, 0, shift]))
        out, restarts = Bits(), 0
        for y in range(height):
            first = y == 0 or restart_rows and y % restart_rows == 0
            if first and y > 0:
                stream += out.take() + bytes([0xFF, 0xD0 + restarts % 8])
                restarts += 1
            for x in range(width):
                for i in group:
                    near = predict(planes[i], y, x, first, predictor, 1 << bits - shift - 1)
                    difference = (planes[i][y][x] - near + 32767) % 65536 - 32767
                    size = abs(difference).bit_length()
                    out.put(size, 5)
                    if size < 16:
                        out.put(difference + (difference < 0) * ((1 << size) - 1), size)
        stream += out.take()
    return stream + b"\xff\xd9"


@pytest.fixture
def read(run, tmp_path):
    def read_file(path, *options, env=None):
        out = tmp_path / "out.npy"
        done = run("read", "--overwrite", *options, path, str(out), env=env)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        found = np.load(out)
        return found.reshape(-1, *found.shape[-2:])
    return read_file


@pytest.mark.parametrize("bits", [16, *range(2, 16)])
def test_every_predictor_of_a_precision(read, save, bits):
    for bands in (1, 3):
        pixels = pixels_of(35, 4 * TILE - 5, bands, bits, bits)
        found = read(save(tiled(pixels, bits, byte_order="<>"[bits % 2])))
        np.testing.assert_array_equal(found, pixels.transpose(2, 0, 1))


@pytest.mark.parametrize("bits", [8, 12, 16])
def test_another_encoder(read, save, bits):
    pixels = pixels_of(33, 21, 1, bits)
    stream = imagecodecs.ljpeg_encode(pixels[:, :, 0], bitspersample=bits)
    image = Image(21, 33, bits=bits, tags=[(259, SHORT, [7])])
    np.testing.assert_array_equal(read(save(file_of(image, [stream])))[0], pixels[:, :, 0])


@pytest.mark.parametrize("bands", [3, 1])
@pytest.mark.parametrize("bits", [16, 12, 8])
def test_forms_that_libjpeg_decodes(read, save, bits, bands):
    tiles, expected = [], []
    for number in range(14):
        form = {"shift": (0, 2)[number % 3 == 2], "restart_rows": (0, 1, 5)[number % 3],
                "scans_apart": number >= 7}
        pixels = pixels_of(16, 16, bands, bits, number) >> form["shift"] << form["shift"]
        tiles.append(encode_slowly(pixels, bits, 1 + number % 7, **form))
        expected.append(pixels)
        np.testing.assert_array_equal(imagecodecs.jpeg8_decode(tiles[-1]).reshape(pixels.shape), pixels)
    image = Image(16 * len(tiles), 16, bands=bands, bits=bits, tile=(16, 16), tags=[(259, SHORT, [7])])
    np.testing.assert_array_equal(read(save(file_of(image, tiles))),
                                  np.concatenate(expected, axis=1).transpose(2, 0, 1))


def test_pairs_of_neighbours_as_components(read, save):
    """As cameras write DNG: a frame of half the width with two components."""
    pixels = pixels_of(TILE, 2 * TILE, 1, 12)
    tiles = [imagecodecs.ljpeg_encode(pixels[:, x:x + TILE, 0].reshape(TILE // 2, TILE * 2), bitspersample=12)
             for x in (0, TILE)]
    image = Image(2 * TILE, TILE, bits=12, tile=(TILE, TILE), tags=[(259, SHORT, [7])])
    np.testing.assert_array_equal(read(save(file_of(image, tiles)))[0], pixels[:, :, 0])
    stream = jpeg(pixels[:, :TILE // 2 * 3].reshape(TILE, TILE // 2, 3), 12, 1)
    image = Image(TILE // 2 * 3, TILE, bits=12, tags=[(259, SHORT, [7])])
    np.testing.assert_array_equal(read(save(file_of(image, [stream])))[0], pixels[:, :TILE // 2 * 3, 0])


def test_tables_apart(read, save):
    pixels = pixels_of(20, 30, 1, 12)
    stream = jpeg(pixels, 12, 1)
    start = stream.index(b"\xff\xc4")
    end = start + 2 + struct.unpack_from(">H", stream, start + 2)[0]
    tables = b"\xff\xd8" + stream[start:end] + b"\xff\xd9"
    image = Image(30, 20, bits=12, tags=[(259, SHORT, [7]), (347, UNDEFINED, tables)])
    data = file_of(image, [stream[:start] + stream[end:]])
    np.testing.assert_array_equal(read(save(data))[0], pixels[:, :, 0])


@pytest.mark.parametrize("bits, bands", [(8, 3), (16, 1)])
def test_a_device_gets_what_the_cpu_decodes(read, save, on_device, pocl, bits, bands):
    pixels = pixels_of(70, 90, bands, bits)
    path = save(tiled(pixels, bits))
    found = read(path, "--device", pocl, "--lossy-on-device", env=on_device())
    np.testing.assert_array_equal(found, pixels.transpose(2, 0, 1))


def test_damage_names_the_tile(run, save, tmp_path):
    pixels = pixels_of(64, 64, 1, 8)
    data = bytearray(tiled(pixels, 8))
    last = data.rindex(b"\xff\xda")
    data[last + 12:] = bytes([0xFF, 0xD9]) + bytes(len(data) - last - 14)
    done = run("read", save(bytes(data)), str(tmp_path / "out.npy"))
    assert done.returncode == 1 and "tile 3" in done.stderr and "row 0" in done.stderr
