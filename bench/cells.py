# SPDX-License-Identifier: Apache-2.0
"""Which files are read whole and which are written, by groups, and what is wanted of each group. Names are those of
data.py; those of files to write have the level of the codec too."""

# group: data-codec-predictor, and the sizes of tiles
CELLS = {
    "none": [("dem_f32-none-p1", (256, 512)), ("dem_i16-none-p1", (256, 512)),
             ("ls_u16-none-p1", (256, 512)), ("rgb_u8-none-p1", (256, 512)),
             ("lc_u8-none-p1", (256, 512))],
    "deflate": [("dem_f32-deflate-p1", (256, 512)), ("dem_f32-deflate-p2", (256,)),
                ("dem_f32-deflate-p3", (256, 512)), ("dem_f32q-deflate-p3", (256,)),
                ("dem_i16-deflate-p1", (256,)), ("dem_i16-deflate-p2", (256, 512)),
                ("ls_u16-deflate-p2", (256, 512)), ("rgb_u8-deflate-p1", (256,)),
                ("rgb_u8-deflate-p2", (256, 512)), ("lc_u8-deflate-p1", (256, 512)),
                ("ls_u16-deflate-p2", ("256-planar",))],
    "zstd": [("dem_f32-zstd-p1", (256,)), ("dem_f32-zstd-p3", (256, 512)),
             ("dem_i16-zstd-p2", (256, 512)), ("ls_u16-zstd-p2", (256, 512)),
             ("rgb_u8-zstd-p2", (256, 512)), ("lc_u8-zstd-p1", (256, 512))],
    "lzw": [("dem_f32-lzw-p1", (256,)), ("dem_f32-lzw-p3", (256, 512)), ("dem_i16-lzw-p1", (256,)),
            ("dem_i16-lzw-p2", (256, 512)), ("ls_u16-lzw-p2", (256, 512)),
            ("rgb_u8-lzw-p2", (256, 512)), ("lc_u8-lzw-p1", (256, 512))],
    "packbits": [("dem_i16-packbits-p1", (256,)), ("rgb_u8-packbits-p1", (256,)),
                 ("lc_u8-packbits-p1", (256, 512))],
    "lerc": [("dem_f32-lerc-p1", (256, 512)), ("dem_i16-lerc-p1", (256,)),
             ("ls_u16-lerc-p1", (256,)), ("dem_f32-lerc_zstd-p1", (256,)),
             ("dem_f32-lerc_deflate-p1", (256,))],
    "lzma": [("dem_f32-lzma-p3", ("256-half",)), ("lc_u8-lzma-p1", ("256-half",))],
    "jpeg": [("rgb_u8-jpeg-p1", (256, 512))],
    "webp": [("rgb_u8-webp-p1", ("256-half",)), ("rgb_u8-webpll-p1", ("256-half",))],
    "strips": [("dem_i16-none-p1", ("strips",)), ("dem_i16-deflate-p2", ("strips",)),
               ("rgb_u8-deflate-p2", ("strips",))],
}

# The same data in ever smaller tiles.
SHRINKING = [f"dem_i16-{codec}" for codec in ("none-p1", "deflate-p2", "lzw-p2", "zstd-p2")]
SMALL_TILES = (64, 128)

# group: times the best peer, times GDAL's GTiff on all threads
TARGETS = {"none": (1.35, 2.1), "deflate": (1.10, 1.35), "zstd": (1.20, 1.70), "lzw": (2.2, 2.6),
           "packbits": (1.65, 2.85), "lerc": (1.05, 1.25), "lzma": (1.04, 1.12),
           "jpeg": (1.25, 1.40), "webp": (1.06, 1.12)}

QUICK = {"dem_i16-none-p1-t256", "rgb_u8-none-p1-t256", "dem_f32-deflate-p3-t256",
         "dem_i16-deflate-p2-t256", "ls_u16-deflate-p2-t256", "rgb_u8-deflate-p2-t256",
         "lc_u8-deflate-p1-t256", "dem_f32-zstd-p3-t256", "dem_i16-zstd-p2-t256",
         "rgb_u8-zstd-p2-t256", "dem_f32-lzw-p3-t256", "dem_i16-lzw-p2-t256",
         "rgb_u8-lzw-p2-t256", "dem_i16-packbits-p1-t256", "lc_u8-packbits-p1-t256",
         "dem_f32-lerc-p1-t256", "dem_i16-lerc-p1-t256", "lc_u8-lzma-p1-t256-half",
         "rgb_u8-jpeg-p1-t256", "rgb_u8-webp-p1-t256-half", "dem_i16-deflate-p2-strips",
         *(f"{name}-t64" for name in SHRINKING)}

LOSSY = ("-jpeg-", "-webp-")


def all_cells(quick):
    """(group, name) of every file that is read whole."""
    found = [(group, f"{name}-{'' if tile == 'strips' else 't'}{tile}")
             for group, kinds in CELLS.items() for name, tiles in kinds for tile in tiles]
    found += [("small tiles", f"{name}-t{tile}") for name in SHRINKING for tile in SMALL_TILES]
    return [cell for cell in found if not quick or cell[1] in QUICK]


# ---- writing ---------------------------------------------------------------------------------

RASTERS = {  # data: type of pixels, bands
    "dem_f32": ("float32", 1), "dem_i16": ("int16", 1), "ls_u16": ("uint16", 4),
    "rgb_u8": ("uint8", 3), "lc_u8": ("uint8", 1)}
PREDICTORS = {"dem_f32": 3, "dem_i16": 2, "ls_u16": 2, "rgb_u8": 2, "lc_u8": 1}
PREDICTED = ("deflate", "zstd", "lzw", "lzma")

# group: codec, what is written with tiles of 256 pixels, and what with tiles of 512 too
WRITE_CELLS = {
    "none": ("none", RASTERS, RASTERS),
    "deflate 6": ("deflate6", RASTERS, ("dem_f32", "rgb_u8")),
    "deflate 1": ("deflate1", RASTERS, ("dem_f32", "rgb_u8")),
    "deflate fast": ("deflatefast", RASTERS, RASTERS),
    "zstd 9": ("zstd9", RASTERS, ("dem_f32", "rgb_u8")),
    "zstd 1": ("zstd1", RASTERS, RASTERS),
    "lzw": ("lzw", RASTERS, ("dem_i16", "rgb_u8")),
    "packbits": ("packbits", ("dem_i16", "rgb_u8", "lc_u8"), ("lc_u8",)),
    "lerc": ("lerc", ("dem_f32", "dem_i16", "ls_u16"), ("dem_f32",)),
    "jpeg": ("jpeg", ("rgb_u8",), ("rgb_u8",)),
    "webp": ("webp", ("rgb_u8",), ()),
    "webp lossless": ("webpll", ("rgb_u8",), ()),
    "lzma": ("lzma", ("dem_f32", "lc_u8"), ()),
}
SLOW = ("deflate6", "zstd9", "webp", "webpll", "lzma")  # a quarter of the pixels will do

# group: times the best peer, times GDAL's GTiff on all threads. Deflate's fast class stands against level 1.
WRITE_TARGETS = {"none": (1.16, 1.27), "deflate 6": (1.2, 1.3), "deflate 1": (1.25, "-"),
                 "deflate fast": ("-", 5.7), "zstd 9": ("-", 1.3), "zstd 1": ("-", 1.6),
                 "lzw": (1.65, 1.7), "packbits": (1.7, 2), "lerc": (1.17, "-"),
                 "jpeg": (1.55, 2.9), "webp": (1.04, "-")}

QUICK_WRITE = {"dem_f32-none-p1-t256", "ls_u16-none-p1-t256", "dem_f32-deflate6-p3-t256-half",
               "dem_i16-deflate1-p2-t256", "dem_f32-deflatefast-p3-t256",
               "rgb_u8-deflatefast-p2-t256", "dem_f32-zstd1-p3-t256", "dem_i16-zstd9-p2-t256-half",
               "dem_i16-lzw-p2-t256", "lc_u8-packbits-p1-t256", "dem_f32-lerc-p1-t256",
               "rgb_u8-jpeg-p1-t256", "rgb_u8-webp-p1-t256-half", "lc_u8-lzma-p1-t256-half"}


def write_name(data, codec, tile):
    predictor = PREDICTORS[data] if codec.startswith(PREDICTED) else 1
    return f"{data}-{codec}-p{predictor}-t{tile}" + ("-half" if codec in SLOW else "")


def write_cells(quick):
    """(group, name) of every file that is written."""
    found = [(group, write_name(data, codec, tile))
             for group, (codec, *by_tile) in WRITE_CELLS.items()
             for tile, which in zip((256, 512), by_tile) for data in which]
    return [cell for cell in found if not quick or cell[1] in QUICK_WRITE]


# ---- Cloud Optimized GeoTIFFs ----------------------------------------------------------------

# group: codec, of which data. The fast class of Deflate stands against level 1.
COG_CELLS = {
    "none": ("none", RASTERS),
    "deflate 6": ("deflate6", RASTERS),
    "deflate fast": ("deflatefast", RASTERS),
    "zstd 1": ("zstd1", RASTERS),
    "jpeg": ("jpeg", ("rgb_u8",)),
}
COG_TILE = 512
# (group, data): times GDAL's driver COG
COG_TARGETS = {("none", "dem_f32"): 8.1, ("none", "rgb_u8"): 10.7, ("deflate 6", "dem_f32"): 1.6,
               ("deflate 6", "rgb_u8"): 1.9, ("deflate fast", "dem_f32"): 9.2,
               ("deflate fast", "rgb_u8"): 11.1, ("zstd 1", "dem_f32"): 4.5,
               ("zstd 1", "rgb_u8"): 7.6, ("jpeg", "rgb_u8"): 10}
QUICK_COG = {"dem_f32-none-p1-t512", "dem_f32-deflatefast-p3-t512", "dem_f32-zstd1-p3-t512",
             "rgb_u8-deflate6-p2-t512", "rgb_u8-jpeg-p1-t512"}


def cog_cells(quick):
    """(group, name) of every COG that is made."""
    found = [(group, write_name(data, codec, COG_TILE).removesuffix("-half"))
             for group, (codec, which) in COG_CELLS.items() for data in which]
    return [cell for cell in found if not quick or cell[1] in QUICK_COG]
