# SPDX-License-Identifier: Apache-2.0
"""Old-style JPEG (compression 6): GDAL's pixels, by the CPU and on a device; what is made of such files."""

import os
import pathlib
import struct

import imagecodecs
import numpy as np
import pytest
import rasterio

from conftest import ROOT
from tiffmaker import LONG, SHORT, Image, tiff

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")

HEIGHT, WIDTH, ROWS = 40, 56, 16
CORPUS = pathlib.Path(os.environ.get("TERRAZZO_CORPUS", ROOT.parent / "shared" / "corpus"))


def picture(bands):
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    planes = [4 * x + y, 3 * y + x, 255 - 2 * x - 2 * y]
    return np.stack(planes[:bands], axis=-1).clip(0, 255).astype("uint8")


def encode(pixels):
    """The segments of a stream as {marker: [segment]}, and its data."""
    rows = pixels if pixels.shape[2] == 3 else pixels[:, :, 0]
    stream = imagecodecs.jpeg8_encode(np.ascontiguousarray(rows), level=90, subsampling="444")
    found, at = {}, 2
    while True:
        size = 2 + struct.unpack_from(">H", stream, at + 2)[0]
        found.setdefault(stream[at + 1], []).append(stream[at:at + size])
        at += size
        if stream[at - size + 1] == 0xDA:
            return found, stream[at:-2], stream


def file_of(bands, blocks, tags):
    """A file whose pixel data are these blocks; tags get the offsets of the blocks."""
    image = Image(WIDTH, HEIGHT, bands=bands, tile_bytes=sum(map(len, blocks)))
    base = [(259, SHORT, [6]), (262, SHORT, [6 if bands == 3 else 1]), (512, SHORT, [1]), (530, SHORT, [1, 1])]
    image.tags = base + tags([0] * len(blocks))
    start = len(tiff([image])) - sum(image.sizes())
    image.tags = base + tags([start + sum(map(len, blocks[:i])) for i in range(len(blocks))])
    data = tiff([image])
    return data[:len(data) - sum(image.sizes())] + b"".join(blocks)


def with_table_tags(pixels):
    """Bare tables, then strips."""
    bands = pixels.shape[2]
    strips = [encode(pixels[y:y + ROWS]) for y in range(0, HEIGHT, ROWS)]
    segments = strips[0][0]
    tables = [table[5:] for table in segments[0xDB]]
    codes = {table[4]: table[5:] for table in segments[0xC4]}
    numbers = [0, 1, 1][:bands]
    blocks = tables + [codes[number] for number in sorted(codes)] + [data for _, data, _ in strips]
    kinds = sorted(codes)

    def tags(offsets):
        def of(number):
            return offsets[len(tables) + kinds.index(number)]
        return [(519, LONG, [offsets[n] for n in numbers]), (520, LONG, [of(n) for n in numbers]),
                (521, LONG, [of(16 + n) for n in numbers]), (273, LONG, offsets[-len(strips):]),
                (278, LONG, [ROWS]), (279, LONG, [len(data) for _, data, _ in strips])]
    return file_of(bands, blocks, tags)


def with_one_stream(pixels):
    _, data, stream = encode(pixels)
    return file_of(pixels.shape[2], [stream], lambda offsets: [
        (513, LONG, offsets), (514, LONG, [len(stream)]), (273, LONG, [offsets[0] + stream.index(data)]),
        (278, LONG, [HEIGHT]), (279, LONG, [len(data)])])


FORMS = {"tables": with_table_tags, "stream": with_one_stream}


@pytest.fixture
def read(run, tmp_path):
    def read_file(path, *options, env=None):
        out = tmp_path / "out.npy"
        done = run("read", "--overwrite", *options, path, str(out), env=env)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        found = np.load(out)
        return found.reshape(-1, *found.shape[-2:])
    return read_file


@pytest.mark.parametrize("form", FORMS)
def test_pixels_are_those_of_gdal(read, save, form):
    path = save(FORMS[form](picture(3)))
    found = read(path).astype(int)
    with rasterio.open(path) as dataset:
        expected = dataset.read().astype(int)
    assert found.shape == expected.shape == (3, HEIGHT, WIDTH)
    assert np.abs(found - expected).max() <= 2  # libtiff's colours are rounded otherwise than libjpeg's


@pytest.mark.parametrize("form", FORMS)
def test_grey_is_that_of_imagecodecs(read, save, form):
    """GDAL reads colours only."""
    pixels = picture(1)
    parts = [pixels[y:y + ROWS] for y in range(0, HEIGHT, ROWS)] if form == "tables" else [pixels]
    expected = np.concatenate([imagecodecs.jpeg8_decode(encode(part)[2]) for part in parts])
    np.testing.assert_array_equal(read(save(FORMS[form](pixels)))[0], expected)


def test_a_device_gets_what_the_cpu_decodes(read, save, on_device, pocl):
    path = save(with_table_tags(picture(3)))
    found = read(path, "--device", pocl, "--lossy-on-device", env=on_device())
    np.testing.assert_array_equal(found, read(path))


def test_info_says_what_is_delivered(info, save):
    answer = info(save(with_table_tags(picture(3))))
    assert [band["colorInterpretation"] for band in answer["bands"]] == ["Red", "Green", "Blue"]
    assert answer["metadata"]["IMAGE_STRUCTURE"]["COMPRESSION"] == "OJPEG"


def test_it_is_converted(run, read, save, tmp_path):
    path, copy = save(with_table_tags(picture(3))), str(tmp_path / "copy.tif")
    done = run("convert", "--no-sync", "--co", "COMPRESS=DEFLATE", path, copy)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(read(copy), read(path))
    with rasterio.open(copy) as dataset:
        np.testing.assert_array_equal(dataset.read(), read(path))


def test_its_tiles_are_validated(run, save):
    data = with_table_tags(picture(3))
    assert run("validate", "--full", save(data)).returncode == 0
    done = run("validate", "--full", save(data[:-300] + bytes([0xFF, 0xD9] * 150), name="b.tif"))
    assert done.returncode == 3 and "tile 2" in done.stdout


@pytest.mark.parametrize("name, most", [("libtiff/ojpeg_chewey_subsamp21_multi_strip.tiff", 2),
                                        ("image-tiff/smallliz.tif", 3)])
def test_files_of_the_corpus(run, tmp_path, name, most):
    path = CORPUS / name
    if not path.exists():
        pytest.skip("no corpus: set TERRAZZO_CORPUS")
    out = tmp_path / "out.npy"
    assert run("read", str(path), str(out)).returncode == 0
    with rasterio.open(path) as dataset:
        difference = np.abs(np.load(out).astype(int) - dataset.read())
    assert difference.mean() < most  # of colours, which libtiff does not smooth
