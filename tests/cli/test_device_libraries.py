# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's libraries in read, convert and cog, as fakes on the fake of libcuda: what they are asked to do by
options, and the report about it."""

import json
import os
import pathlib

import jsonschema
import numpy as np
import pytest
import tifffile

from conftest import COMMAND, call, without_rare_codec

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FAKES = COMMAND.parent / "tests"
CUDA = ["--device", "cuda:0", "--cuda-library", str(FAKES / "libcuda_fake.so")]
SIDE = 128
PICTURES = ["--nvjpeg-library", str(FAKES / "libnvjpeg_fake.so"),
            "--nvjpeg2k-library", str(FAKES / "libnvjpeg2k_fake.so")]
NVCOMP = ["--nvcomp-library", str(FAKES / "libnvcomp_fake_6.so")]
CUFILE = ["--cufile-library", str(FAKES / "libcufile_fake.so")]


def validated(schema, text):
    answer = json.loads(text)
    jsonschema.Draft202012Validator(json.loads((ROOT / "doc" / f"{schema}.schema.json").read_text())).validate(answer)
    return answer


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A picture in RGB, in tiles of 64 with these options."""
    folder = tmp_path_factory.mktemp("made")

    def make(*options):
        path = folder / f"{'-'.join(options)}.tif"
        if not path.exists():
            y, x = np.mgrid[:SIDE, :SIDE]
            raw = folder / "raw"
            np.stack([x, y, x ^ y], axis=-1).astype("uint8").tofile(raw)
            words = [word for option in ("TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64", *options)
                     for word in ("--co", option)]
            with open(raw, "rb") as rows:
                done = call("convert", "--no-sync", "--shape", f"{SIDE}x{SIDE}x3", "--dtype", "uint8", *words, "-",
                            str(path), stdin=rows)
            assert done.returncode == 0, done.stderr
        return str(path)
    return make


@pytest.fixture
def read(run, tmp_path):
    """Returns the report of a read on the device; its pixels are those of the CPU."""
    def read_twice(path, *options):
        answers = []
        for number, words in enumerate(([], [*CUDA, *options])):
            done = run("read", "--json", "--overwrite", *words, path, str(tmp_path / f"{number}.raw"))
            assert (done.returncode, done.stderr) == (0, ""), done.stderr
            answers.append(validated("read", done.stdout))
        assert (tmp_path / "0.raw").read_bytes() == (tmp_path / "1.raw").read_bytes()
        return answers[1]["device"]
    return read_twice


@pytest.mark.parametrize("options, library", [
    (("COMPRESS=JPEG",), "nvJPEG "), (("COMPRESS=JPEG", "PHOTOMETRIC=YCBCR"), "nvJPEG "),
    (("COMPRESS=JPEG2000", "JPEG2000_LOSSLESS=NO"), "nvJPEG2000 ")])
def test_lossy_codestreams_are_to_be_asked_for(read, made, run, tmp_path, options, library):
    """Decoders differ by rounding: without the option the CPU decodes."""
    path = made(*options)
    without = read(path, *PICTURES)
    assert without["library_calls"] == 0
    use = read(path, *PICTURES, "--lossy-on-device")
    assert use["library"].startswith(library) and use["library_calls"] == 1 and use["tiles"] == 4
    done = run("read", *CUDA, *PICTURES, "--strict-device", path, str(tmp_path / "strict.raw"))
    assert done.returncode == 1 and not (tmp_path / "strict.raw").exists()


def test_codestreams_without_loss(read, made):
    use = read(made("COMPRESS=JPEG2000"), *PICTURES, "--strict-device")
    assert use["library"].startswith("nvJPEG2000 ") and (use["library_calls"], use["tiles"]) == (1, 4)


def test_files_that_do_not_go_straight_to_the_device(read, made):
    """Why not: the fake has no file system that is read directly, and some systems have no list of modules."""
    use = read(made(), *CUFILE)
    reason = "no file system is read directly" if os.access("/proc/modules", os.R_OK) else "where /proc/modules cannot be read"
    assert reason in use["direct_reason"]
    assert (use["direct_reads"], use["direct_bytes"], use["bounced_bytes"]) == (0, 0, 0)


@pytest.mark.parametrize("command, extra", [("convert", ["--co", "TILED=YES", "--co", "BLOCKXSIZE=64", "--co",
                                                         "BLOCKYSIZE=64"]),
                                            ("cog", ["--co", "BLOCKSIZE=64"])])
@pytest.mark.parametrize("options, library", [
    (("COMPRESS=DEFLATE",), "nvCOMP "), (("COMPRESS=ZSTD",), "nvCOMP "), (("COMPRESS=LZ4",), "nvCOMP "),
    (("COMPRESS=JPEG2000",), "nvJPEG2000 ")])
def test_library_encoders(run, made, tmp_path, command, extra, options, library):
    """The vendor's libraries encode, and the pixels are the same; so they are to a reader that knows the codec."""
    out = str(tmp_path / "out.tif")
    words = [word for option in options for word in ("--co", option)]
    done = run(command, "--json", "--no-sync", *CUDA, *NVCOMP, *PICTURES, "--library-encoders", *extra, *words,
               made(), out)
    assert (done.returncode, without_rare_codec(done.stderr)) == (0, ""), done.stderr
    use = validated("convert", done.stdout)["write_device"]
    assert use["library"].startswith(library) and use["library_calls"] > 0 and use["tiles_redone"] == 0
    assert run("diff", "--pixels-only", made(), out).returncode == 0
    if "COMPRESS=LZ4" not in options:
        assert np.array_equal(tifffile.imread(out, key=0), tifffile.imread(made()))


def test_library_encoders_need_a_device(run, made, tmp_path):
    done = run("convert", "--library-encoders", made(), str(tmp_path / "out.tif"))
    assert done.returncode == 2 and "--library-encoders needs --device" in done.stderr
