# SPDX-License-Identifier: Apache-2.0
"""Colour maps beside a grey photometric interpretation, as rasterio's write and write_colormap make them: palettes
for GDAL, and so for every command. Colours are compared with what rasterio reads from the same file."""

import json

import jsonschema
import numpy as np
import pytest
import rasterio
import tifffile

from conftest import ROOT, call
from test_cog import overview
from test_convert import tags_of
from test_png import decode
from test_view import view
from tiffmaker import SHORT, Image

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")

CLASSES = (0, 10, 90)
COLORS = {0: (10, 20, 30, 255), 10: (200, 100, 50, 255), 90: (1, 250, 128, 255)}
WARNING = "tag 262 (PhotometricInterpretation)"


def classes(height=256, width=256, seed=1):
    return np.random.default_rng(seed).choice(CLASSES, (1, height, width)).astype("uint8")


@pytest.fixture(params=["minisblack", "miniswhite"])
def mapped(request, raster):
    """Class codes of one band, written as the documentation of rasterio shows it."""
    path = raster(classes(), colormap=COLORS, photometric=request.param)
    assert tags_of(path)["PhotometricInterpretation"] == (request.param == "minisblack")
    assert len(tags_of(path)["ColorMap"]) == 3
    return path


def colors_of(path, values):
    """The colours of some values, as rasterio reads the file's map."""
    with rasterio.open(path) as file:
        table = file.colormap(1)
    return np.array([table[i][:3] for i in range(len(table))], "uint8")[values]


def warns(done, code=0):
    assert done.returncode == code, done.stderr
    assert "IFD 0" in done.stderr and "ColorMap" in done.stderr and WARNING in done.stderr
    return done


def test_info(run, mapped):
    done = warns(run("info", mapped))
    assert "Palette, 256 colours\n" in done.stdout and "MinIs" not in done.stdout
    lines = [line.split() for line in done.stdout.splitlines()]
    start = lines.index(["value", "red", "green", "blue"])
    assert lines[start + 1:start + 4] == [["0", "10", "20", "30"], ["10", "200", "100", "50"], ["90", "1", "250", "128"]]
    assert "  ... and 253 more colours: -v shows all\n" in done.stdout
    full = [line.split() for line in run("info", "-v", mapped).stdout.splitlines()]
    start = full.index(["value", "red", "green", "blue"])
    expected = [[i, *COLORS.get(i, (0, 0, 0))[:3]] for i in range(256)]
    assert [list(map(int, line)) for line in full[start + 1:start + 257]] == expected


def test_info_json(info, mapped):
    answer = info(mapped)
    schema = json.loads((ROOT / "doc" / "info.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(answer)
    ours = answer["terrazzo"]
    assert (ours["photometric"], ours["photometric_name"], ours["color_map_size"]) == (3, "Palette", 256)
    assert ours["levels"][0]["photometric"] == tags_of(mapped)["PhotometricInterpretation"]
    band = answer["bands"][0]
    assert band["colorInterpretation"] == "Palette"
    entries = np.array(band["colorTable"]["entries"])
    np.testing.assert_array_equal(entries[:, :3], colors_of(mapped, np.arange(256)))
    warning, = ours["warnings"]
    assert (warning["ifd"], warning["tag"], warning["expected"]) == (0, 262, 3)


def test_png_has_the_colours(run, mapped, tmp_path):
    out = str(tmp_path / "out.png")
    warns(run("read", mapped, out))
    with rasterio.open(mapped) as file:
        np.testing.assert_array_equal(decode(out), colors_of(mapped, file.read(1)).transpose(2, 0, 1))
    done = run("read", "--overwrite", "--size", "64x0", "--resampling", "average", mapped, out)
    assert done.returncode == 1 and "use --resampling nearest" in done.stderr


def test_view_has_the_colours(run, raster):
    array = classes(8, 12)
    path = raster(array, colormap=COLORS)
    rows, _ = view(run, "--quiet", path)
    np.testing.assert_array_equal(np.array(rows), colors_of(path, array[0]))
    rows, _ = view(run, "--quiet", "--columns", "6", path)
    assert {tuple(color) for row in rows for color in row} <= {color[:3] for color in COLORS.values()}


def same_palette(path, out):
    assert tags_of(out)["PhotometricInterpretation"] == 3
    with rasterio.open(path) as before, rasterio.open(out) as after:
        assert after.colorinterp[0] == rasterio.enums.ColorInterp.palette
        assert after.colormap(1) == before.colormap(1)
        np.testing.assert_array_equal(after.read(), before.read())
    assert call("info", "--strict", out).returncode == 0


def test_convert_keeps_the_palette(run, mapped, tmp_path):
    out = str(tmp_path / "out.tif")
    warns(run("convert", mapped, out))
    same_palette(mapped, out)


def test_overviews_of_a_cog_have_only_classes(run, mapped, tmp_path):
    out = str(tmp_path / "out.tif")
    warns(run("cog", "--co", "BLOCKSIZE=64", mapped, out))
    same_palette(mapped, out)
    for level in range(2):
        found = overview(out, level)
        assert set(np.unique(found)) == set(CLASSES)
        np.testing.assert_array_equal(np.array([page.photometric for page in tifffile.TiffFile(out).pages]), 3)
    done = run("cog", "--co", "RESAMPLING=AVERAGE", "--co", "BLOCKSIZE=64", "--overwrite", mapped, out)
    assert done.returncode == 1 and "colour map" in done.stderr
    done = run("cog", "--co", "COMPRESS=JPEG", "--overwrite", mapped, out)
    assert done.returncode == 1 and "palette" in done.stderr


@pytest.mark.parametrize("command", ["info", "read", "convert", "cog", "view"])
def test_strict_refuses(run, mapped, tmp_path, command):
    out = [] if command in ("info", "view") else [str(tmp_path / "out.png")]
    warns(run(command, "--strict", mapped, *out), code=1)
    assert not (tmp_path / "out.png").exists()


def test_validate_names_it(run, mapped):
    answer = json.loads(run("validate", "--json", mapped).stdout)
    check = next(check for check in answer["checks"] if check["id"] == "tiff.tag-values")
    assert check["outcome"] == "warning"
    finding, = check["findings"]
    assert (finding["ifd"], finding["tag"], finding["expected"]) == (0, 262, 3)
    assert finding["found"] == tags_of(mapped)["PhotometricInterpretation"]
    assert run("validate", "--strict", mapped).returncode == 3


def test_diff_names_the_interpretation_and_no_pixel(run, mapped, tmp_path):
    out = str(tmp_path / "out.tif")
    assert run("convert", mapped, out).returncode == 0
    answer = json.loads(run("diff", "--json", mapped, out).stdout)
    numbers = [tag["tag"] for tag in answer["tags"]["differences"]]
    assert 262 in numbers and 320 not in numbers
    assert answer["pixels"]["equal"]


def test_alpha_beside_a_palette(run, raster, tmp_path):
    array = np.concatenate([classes(64, 64), np.full((1, 64, 64), 255, "uint8")])
    array[1, :32] = 0
    path = raster(array, colormap=COLORS, alpha="YES")
    out, png = str(tmp_path / "out.tif"), str(tmp_path / "out.png")
    warns(run("convert", path, out))
    same_palette(path, out)
    with rasterio.open(out) as file:
        assert file.colorinterp[1] == rasterio.enums.ColorInterp.alpha
    warns(run("read", path, png))
    found = decode(png)
    np.testing.assert_array_equal(found[3], array[1])
    np.testing.assert_array_equal(found[:3, 32:], colors_of(path, array[0, 32:]).transpose(2, 0, 1))


@pytest.mark.parametrize("bits, dtype", [(1, "uint8"), (4, "uint8"), (16, "uint16")])
def test_other_depths(run, raster, tmp_path, bits, dtype):
    array = np.random.default_rng(4).integers(0, min(1 << bits, 300), (1, 20, 30)).astype(dtype)
    colors = {i: (i % 251, 3 * i % 256, 255 - i % 256, 255) for i in range(min(1 << bits, 300))}
    path = raster(array, colormap=colors, **({"nbits": bits} if bits < 8 else {}))
    out, png = str(tmp_path / "out.tif"), str(tmp_path / "out.png")
    done = run("convert", path, out)
    assert done.returncode == 0
    same_palette(path, out)
    assert run("read", path, png).returncode == 0
    np.testing.assert_array_equal(decode(png), colors_of(path, array[0]).transpose(2, 0, 1))


def test_overviews_and_masks_of_the_file_itself(run, info, raster, tmp_path):
    """Of the mask, too, GDAL stores a colour map; it means nothing there."""
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        mask = np.full((256, 256), 255, "uint8")
        mask[:128] = 0
        path = raster(classes(), colormap=COLORS, mask=mask)
    with rasterio.open(path, "r+") as file:
        file.build_overviews([2, 4], rasterio.enums.Resampling.nearest)
    answer = info(path)
    assert len(answer["terrazzo"]["levels"]) == 3 and len(answer["terrazzo"]["warnings"]) == 1
    out = str(tmp_path / "out.png")
    assert run("read", "--level", "1", path, out).returncode == 0
    found = decode(out)
    np.testing.assert_array_equal(found[:3, 64:], colors_of(path, overview(path, 0)[0, 64:]).transpose(2, 0, 1))
    assert (found[3, :64] == 0).all() and (found[3, 64:] == 255).all()


def test_pages_have_palettes_of_their_own(info, save):
    ramp = [i * 257 for i in range(256)]
    path = save([Image(20, 10, tags=[(320, SHORT, ramp * 3)]), Image(20, 10),
                 Image(20, 10, tags=[(262, SHORT, [0]), (320, SHORT, ramp[::-1] * 3)])])
    found = [info("--page", str(page), path) for page in range(3)]
    assert [answer["terrazzo"]["photometric"] for answer in found] == [3, 1, 3]
    assert [answer["bands"][0].get("colorTable", {"entries": [None]})["entries"][0] for answer in found] == \
        [[0, 0, 0, 255], None, [255, 255, 255, 255]]


def test_fax_without_a_colour_map_is_not_a_palette(info, run, save, tmp_path):
    path = save([Image(16, 16, bits=1, tags=[(262, SHORT, [0])])])
    answer = info(path)["terrazzo"]
    assert (answer["photometric"], answer["color_map_size"], answer["warnings"]) == (0, 0, [])
    out = str(tmp_path / "out.tif")
    assert run("convert", "--strict", path, out).returncode == 0
    assert tags_of(out)["PhotometricInterpretation"] == 0


@pytest.mark.parametrize("how", ["wrong length", "floats", "deep", "rgb"])
def test_a_map_that_cannot_be_one_is_ignored_with_a_warning(info, run, save, tmp_path, how):
    image = {"wrong length": Image(20, 10, tags=[(320, SHORT, [7] * 767)]),
             "floats": Image(20, 10, bits=16, tags=[(339, SHORT, [3]), (320, SHORT, [7] * 3 * 65536)]),
             "deep": Image(20, 10, bits=32, tags=[(320, SHORT, [7] * 768)]),
             "rgb": Image(20, 10, bands=3, tags=[(320, SHORT, [7] * 768)])}[how]
    path = save([image])
    answer = info(path)["terrazzo"]
    assert (answer["photometric"], answer["color_map_size"]) == (2 if how == "rgb" else 1, 0)
    warning, = answer["warnings"]
    assert warning["ifd"] == 0 and warning["tag"] == (262 if how == "rgb" else 320)
    out = str(tmp_path / "out.tif")
    assert run("convert", path, out).returncode == 0
    assert "ColorMap" not in tags_of(out)
    assert run("info", "--strict", path).returncode == 1
