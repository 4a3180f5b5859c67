/* SPDX-License-Identifier: Apache-2.0
 * The creation options of GDAL's GTiff and COG drivers, one table each, by tz_creation_id.
 *
 * Options of GDAL that are not implemented stand here, too: their default is accepted, since it
 * changes nothing, and any other value is refused with a reason. So a script written for GDAL works
 * or gets an answer. Rows without a help text are of this kind, and -h does not show them. */
#include "write/creation/creation_table.h"

#define MAX_PIXELS  2147483647
#define FOR_LEVEL   (FOR_DEFLATE | FOR_LERC_DEFLATE | FOR_ZSTD | FOR_LERC_ZSTD | FOR_LZMA | FOR_LZ4)
#define FOR_QUALITY (FOR_JPEG | FOR_WEBP | FOR_JPEG2000)

/* Words. The second word of a value is another name for it, which help leaves out. */

static const tz_creation_word yes_no[] = {{"YES", 1, NULL},   {"NO", 0, NULL}, {"TRUE", 1, NULL},
                                          {"FALSE", 0, NULL}, {"ON", 1, NULL}, {"OFF", 0, NULL},
                                          {"1", 1, NULL},     {"0", 0, NULL},  {NULL, 0, NULL}};

static const char no_ccitt[] = "CCITT codes are read, not written";

static const tz_creation_word compressions_or_auto[] = {
    {"AUTO", TZ_COMPRESSION_DEFAULT, NULL},
    {"NONE", TZ_COMPRESSION_NONE, NULL},
    {"LZW", TZ_COMPRESSION_LZW, NULL},
    {"DEFLATE", TZ_COMPRESSION_DEFLATE, NULL},
    {"ZSTD", TZ_COMPRESSION_ZSTD, NULL},
    {"LZMA", TZ_COMPRESSION_LZMA, NULL},
    {"PACKBITS", TZ_COMPRESSION_PACKBITS, NULL},
    {"JPEG", TZ_COMPRESSION_JPEG, NULL},
    {"WEBP", TZ_COMPRESSION_WEBP, NULL},
    {"JXL", TZ_COMPRESSION_JXL, NULL},
    {"LERC", TZ_COMPRESSION_LERC, NULL},
    {"LERC_DEFLATE", CREATION_LERC_DEFLATE, NULL},
    {"LERC_ZSTD", CREATION_LERC_ZSTD, NULL},
    {"JPEG2000", TZ_COMPRESSION_JPEG2000, NULL},
    {"LZ4", TZ_COMPRESSION_LZ4, NULL},
    {"CCITTRLE", 0, no_ccitt},
    {"CCITTFAX3", 0, no_ccitt},
    {"CCITTFAX4", 0, no_ccitt},
    {NULL, 0, NULL}};

#define compressions (compressions_or_auto + 1)

static const tz_creation_word fast[] = {{"FAST", CREATION_FAST, NULL}, {NULL, 0, NULL}};
static const tz_creation_word all_cpus[] = {{"ALL_CPUS", 0, NULL}, {NULL, 0, NULL}};
static const tz_creation_word pixel_types[] = {
    {"DEFAULT", 0, NULL}, {"SIGNEDBYTE", 1, NULL}, {NULL, 0, NULL}};
static const tz_creation_word interleaves[] = {{"PIXEL", TZ_INTERLEAVE_PIXEL, NULL},
                                               {"BAND", TZ_INTERLEAVE_BAND, NULL},
                                               {"TILE", TZ_INTERLEAVE_TILE, NULL},
                                               {NULL, 0, NULL}};
static const tz_creation_word photometrics[] = {{"MINISBLACK", TZ_PHOTOMETRIC_MIN_IS_BLACK, NULL},
                                                {"MINISWHITE", TZ_PHOTOMETRIC_MIN_IS_WHITE, NULL},
                                                {"RGB", TZ_PHOTOMETRIC_RGB, NULL},
                                                {"PALETTE", TZ_PHOTOMETRIC_PALETTE, NULL},
                                                {"CMYK", TZ_PHOTOMETRIC_CMYK, NULL},
                                                {"YCBCR", TZ_PHOTOMETRIC_YCBCR, NULL},
                                                {"CIELAB", TZ_PHOTOMETRIC_CIELAB, NULL},
                                                {"ICCLAB", TZ_PHOTOMETRIC_ICCLAB, NULL},
                                                {"ITULAB", TZ_PHOTOMETRIC_ITULAB, NULL},
                                                {NULL, 0, NULL}};
/* ExtraSamples' numbers */
static const tz_creation_word alphas[] = {
    {"NON-PREMULTIPLIED", 2, NULL}, {"YES", 2, NULL}, {"PREMULTIPLIED", 1, NULL},
    {"UNSPECIFIED", 0, NULL},       {"NO", 0, NULL},  {NULL, 0, NULL}};
static const tz_creation_word bigtiffs[] = {{"IF_NEEDED", TZ_BIGTIFF_IF_NEEDED, NULL},
                                            {"IF_SAFER", TZ_BIGTIFF_IF_SAFER, NULL},
                                            {"YES", TZ_BIGTIFF_YES, NULL},
                                            {"NO", TZ_BIGTIFF_NO, NULL},
                                            {"TRUE", TZ_BIGTIFF_YES, NULL},
                                            {"FALSE", TZ_BIGTIFF_NO, NULL},
                                            {NULL, 0, NULL}};
static const tz_creation_word profiles[] = {{"GDALGeoTIFF", PROFILE_GDAL, NULL},
                                            {"GeoTIFF", PROFILE_GEOTIFF, NULL},
                                            {"BASELINE", PROFILE_BASELINE, NULL},
                                            {NULL, 0, NULL}};
static const tz_creation_word byte_orders[] = {{"NATIVE", ENDIAN_NATIVE, NULL},
                                               {"INVERTED", ENDIAN_INVERTED, NULL},
                                               {"LITTLE", ENDIAN_LITTLE, NULL},
                                               {"BIG", ENDIAN_BIG, NULL},
                                               {NULL, 0, NULL}};
static const tz_creation_word copies[] = {
    {"AUTO", 1, NULL}, {"YES", 1, NULL}, {"NO", 0, NULL}, {NULL, 0, NULL}};
static const tz_creation_word versions[] = {
    {"AUTO", -1, NULL}, {"1.0", 0, NULL}, {"1.1", 1, NULL}, {NULL, 0, NULL}};
static const tz_creation_word flavors[] = {
    {"STANDARD", 0, NULL},
    {"ESRI_PE", 1, "the keys of the source are written as they are"},
    {NULL, 0, NULL}};

/* 0: by the type */
static const tz_creation_word predictors[] = {
    {"YES", 0, NULL},  {"NO", 1, NULL}, {"STANDARD", 2, NULL}, {"FLOATING_POINT", 3, NULL},
    {"TRUE", 0, NULL}, {"ON", 0, NULL}, {"FALSE", 1, NULL},    {"OFF", 1, NULL},
    {"1", 1, NULL},    {"2", 2, NULL},  {"3", 3, NULL},        {NULL, 0, NULL}};
static const tz_creation_word resamplings[] = {{"NEAREST", TZ_RESAMPLING_NEAREST, NULL},
                                               {"AVERAGE", TZ_RESAMPLING_AVERAGE, NULL},
                                               {"BILINEAR", TZ_RESAMPLING_BILINEAR, NULL},
                                               {"CUBIC", TZ_RESAMPLING_CUBIC, NULL},
                                               {"CUBICSPLINE", 0, "of cubic ones there is CUBIC"},
                                               {"LANCZOS", TZ_RESAMPLING_LANCZOS, NULL},
                                               {"GAUSS", TZ_RESAMPLING_GAUSS, NULL},
                                               {"RMS", TZ_RESAMPLING_RMS, NULL},
                                               {"MODE", TZ_RESAMPLING_MODE, NULL},
                                               {"MIN", TZ_RESAMPLING_MIN, NULL},
                                               {"MAX", TZ_RESAMPLING_MAX, NULL},
                                               {"MEDIAN", TZ_RESAMPLING_MEDIAN, NULL},
                                               {NULL, 0, NULL}};
static const char not_copied[] = "overviews are made of the image, not copied";
static const tz_creation_word overviews[] = {{"AUTO", OVERVIEWS_AUTO, NULL},
                                             {"IGNORE_EXISTING", OVERVIEWS_NEW, NULL},
                                             {"NONE", OVERVIEWS_NONE, NULL},
                                             {"FORCE_USE_EXISTING", 0, not_copied},
                                             {NULL, 0, NULL}};
static const tz_creation_word statistics[] = {
    {"AUTO", STATISTICS_AUTO, NULL}, {"YES", STATISTICS_YES, NULL},
    {"NO", STATISTICS_NO, NULL},     {"TRUE", STATISTICS_YES, NULL},
    {"FALSE", STATISTICS_NO, NULL},  {"ON", STATISTICS_YES, NULL},
    {"OFF", STATISTICS_NO, NULL},    {NULL, 0, NULL}};
static const tz_creation_word own_grid[] = {{"CUSTOM", 0, NULL}, {NULL, 0, NULL}};

/* Reasons. */

static const char no_overviews[] = "overviews are not written; terrazzo cog makes them";
static const char no_warp[] = "the image keeps its own grid; nothing is reprojected";
static const char is_blocksize[] = "tiles are square, of BLOCKSIZE pixels";
static const char is_level[] = "for effort there is LEVEL";
static const char is_quality[] = "for loss there is QUALITY, and 100 is none in WEBP";
static const char no_colour[] =
    "an ICC profile and its like are copied from the source as they are";

/* clang-format off */
#define ROW(name, words, kind, min, max, normal, codecs, help, refused)                           \
    {{name, normal, help}, words, kind, min, max, codecs, refused}

/* Options of both drivers. */
#define SHARED_OPTIONS                                                                            \
    [CO_JXL_LOSSLESS] = ROW("JXL_LOSSLESS", yes_no, CREATION_WORD, 0, 0, "YES", FOR_JXL,             \
                         "JXL without loss", NULL),                                               \
    [CO_JXL_EFFORT] = ROW("JXL_EFFORT", NULL, CREATION_NUMBER, 1, 9, "5", FOR_JXL, "effort of JXL",  \
                       NULL),                                                                     \
    [CO_JXL_DISTANCE] = ROW("JXL_DISTANCE", NULL, CREATION_REAL, 0.01, 25, "1", FOR_JXL,             \
                         "loss of JXL; with JXL_LOSSLESS=NO", NULL),                              \
    [CO_JXL_ALPHA_DISTANCE] = ROW("JXL_ALPHA_DISTANCE", NULL, CREATION_REAL, -1, 25, "-1", FOR_JXL,  \
                               "the same for alpha: -1 as the others, 0 no loss", NULL),          \
    [CO_MAX_Z_ERROR] = ROW("MAX_Z_ERROR", NULL, CREATION_REAL, 0, 1e300, "0", FOR_ANY_LERC,          \
                        "how far LERC may be off", NULL),                                         \
    [CO_NBITS] = ROW("NBITS", NULL, CREATION_NUMBER, 1, 32, "", 0,                                   \
                  "bits of a sample; 16 of floating point: half floats", NULL),                   \
    [CO_BIGTIFF] = ROW("BIGTIFF", bigtiffs, CREATION_WORD, 0, 0, "IF_NEEDED", 0,                     \
                    "64-bit offsets; beyond 4 GiB, IF_SAFER beyond 2 GiB", NULL),                 \
    [CO_SPARSE_OK] = ROW("SPARSE_OK", yes_no, CREATION_WORD, 0, 0, "NO", 0,                          \
                      "leave out tiles of nothing but nodata (or 0)", NULL),                      \
    [CO_NUM_THREADS] = ROW("NUM_THREADS", all_cpus, CREATION_NUMBER, 1, 65536, "ALL_CPUS", 0,        \
                        "as --threads, which wins", NULL),                                        \
    [CO_COPY_SRC_MDD] = ROW("COPY_SRC_MDD", copies, CREATION_WORD, 0, 0, "AUTO", 0,                  \
                         "copy metadata, of all domains", NULL),                                  \
    [CO_SRC_MDD] = ROW("SRC_MDD", NULL, CREATION_TEXT, 0, 0, "", 0,                                  \
                    "copy metadata of this domain; several times for several; "                   \
                    "_DEFAULT_ is the one without a name", NULL),                                 \
    [CO_GEOTIFF_VERSION] = ROW("GEOTIFF_VERSION", versions, CREATION_WORD, 0, 0, "AUTO", 0,          \
                            "another than the source's is an error", NULL)

static const tz_creation_row gtiff_rows[CO_COUNT] = {
    SHARED_OPTIONS,
    [CO_TILED] = ROW("TILED", yes_no, CREATION_WORD, 0, 0, "NO", 0, "tiles instead of strips", NULL),
    [CO_BLOCKXSIZE] = ROW("BLOCKXSIZE", NULL, CREATION_NUMBER, 1, MAX_PIXELS, "256", 0,
                       "width of tiles, a multiple of 16; with TILED=YES", NULL),
    [CO_BLOCKYSIZE] = ROW("BLOCKYSIZE", NULL, CREATION_NUMBER, 1, MAX_PIXELS, "256", 0,
                       "height of tiles, a multiple of 16; or rows of a strip, "
                       "by default as many as make 64 KiB", NULL),
    [CO_COMPRESS] = ROW("COMPRESS", compressions, CREATION_WORD, 0, 0, "NONE", 0, "codec", NULL),
    [CO_PREDICTOR] = ROW("PREDICTOR", NULL, CREATION_NUMBER, 1, 3, "1", FOR_PREDICTED,
                      "none, differences, or for floating point; with LZW, DEFLATE, "
                      "ZSTD or LZMA", NULL),
    [CO_ZLEVEL] = ROW("ZLEVEL", fast, CREATION_NUMBER, 1, 12, "6", FOR_DEFLATE | FOR_LERC_DEFLATE,
                   "effort of DEFLATE; FAST: far below 1, for continuous "
                   "data with a predictor", NULL),
    [CO_ZSTD_LEVEL] = ROW("ZSTD_LEVEL", NULL, CREATION_NUMBER, 1, 22, "9", FOR_ZSTD | FOR_LERC_ZSTD,
                       "effort of ZSTD", NULL),
    [CO_LZMA_PRESET] = ROW("LZMA_PRESET", NULL, CREATION_NUMBER, 0, 9, "6", FOR_LZMA,
                        "effort of LZMA", NULL),
    [CO_LZ4_LEVEL] = ROW("LZ4_LEVEL", NULL, CREATION_NUMBER, 1, 12, "1", FOR_LZ4, "effort of LZ4",
                      NULL),
    [CO_JPEG_QUALITY] = ROW("JPEG_QUALITY", NULL, CREATION_NUMBER, 1, 100, "75", FOR_JPEG,
                         "quality of JPEG", NULL),
    [CO_JPEGTABLESMODE] = ROW("JPEGTABLESMODE", NULL, CREATION_NUMBER, 0, 3, "1", FOR_JPEG,
                           "tables that all tiles share: 0 none, 1 quantization, "
                           "2 Huffman, 3 both", NULL),
    [CO_WEBP_LEVEL] = ROW("WEBP_LEVEL", NULL, CREATION_NUMBER, 1, 100, "75", FOR_WEBP,
                       "quality of WEBP", NULL),
    [CO_WEBP_LOSSLESS] = ROW("WEBP_LOSSLESS", yes_no, CREATION_WORD, 0, 0, "NO", FOR_WEBP,
                          "WEBP without loss", NULL),
    [CO_JPEG2000_LOSSLESS] = ROW("JPEG2000_LOSSLESS", yes_no, CREATION_WORD, 0, 0, "YES", FOR_JPEG2000,
                              "JPEG2000 without loss", NULL),
    [CO_JPEG2000_QUALITY] = ROW("JPEG2000_QUALITY", NULL, CREATION_NUMBER, 1, 100, "75", FOR_JPEG2000,
                             "quality of JPEG2000; with JPEG2000_LOSSLESS=NO", NULL),
    [CO_DISCARD_LSB] = ROW("DISCARD_LSB", NULL, CREATION_BITS, 0, 63, "", 0,
                        "low bits to round away: a number, or one for each band", NULL),
    [CO_PIXELTYPE] = ROW("PIXELTYPE", pixel_types, CREATION_WORD, 0, 0, "DEFAULT", 0,
                      "bytes are int8", NULL),
    [CO_INTERLEAVE] = ROW("INTERLEAVE", interleaves, CREATION_WORD, 0, 0, "", 0,
                       "which samples lie together; PIXEL by default, but "
                       "without compression as in the source", NULL),
    [CO_PHOTOMETRIC] = ROW("PHOTOMETRIC", photometrics, CREATION_WORD, 0, 0, "", 0,
                        "what bands mean; by default as in the source", NULL),
    [CO_ALPHA] = ROW("ALPHA", alphas, CREATION_WORD, 0, 0, "", 0, "what the first extra band is", NULL),
    [CO_PROFILE] = ROW("PROFILE", profiles, CREATION_WORD, 0, 0, "GDALGeoTIFF", 0,
                    "GeoTIFF leaves out nodata, metadata and RPC; BASELINE "
                    "also georeferencing and all tags beyond baseline TIFF", NULL),
    [CO_TFW] = ROW("TFW", yes_no, CREATION_WORD, 0, 0, "NO", 0, "also write a world file, NAME.tfw",
                NULL),
    [CO_WORLDFILE] = ROW("WORLDFILE", yes_no, CREATION_WORD, 0, 0, "NO", 0,
                      "also write a world file, NAME.wld", NULL),
    [CO_ENDIANNESS] = ROW("ENDIANNESS", byte_orders, CREATION_WORD, 0, 0, "NATIVE", 0,
                       "byte order of the file", NULL),
    [CO_ALIGN] = ROW("ALIGN", NULL, CREATION_NUMBER, 1, 65536, "1", 0,
                  "tiles begin at multiples of this power of two", NULL),
    [CO_STATISTICS] = ROW("STATISTICS", yes_no, CREATION_WORD, 0, 0, "NO", 0,
                       "write each band's statistics to the metadata", NULL),
    [CO_COPY_SRC_OVERVIEWS] = ROW("COPY_SRC_OVERVIEWS", yes_no, CREATION_WORD, 0, 0, "NO", 0, NULL, no_overviews),
    [CO_STREAMABLE_OUTPUT] = ROW("STREAMABLE_OUTPUT", yes_no, CREATION_WORD, 0, 0, "NO", 0, NULL,
                              "the directory is written last, when all is known"),
    [CO_APPEND_SUBDATASET] = ROW("APPEND_SUBDATASET", yes_no, CREATION_WORD, 0, 0, "NO", 0, NULL,
                              "files are replaced, never changed"),
    [CO_RPB] = ROW("RPB", yes_no, CREATION_WORD, 0, 0, "NO", 0, NULL,
                "RPC is written to its tag, not beside the file"),
    [CO_RPCTXT] = ROW("RPCTXT", yes_no, CREATION_WORD, 0, 0, "NO", 0, NULL,
                   "RPC is written to its tag, not beside the file"),
    [CO_GEOTIFF_KEYS_FLAVOR] = ROW("GEOTIFF_KEYS_FLAVOR", flavors, CREATION_WORD, 0, 0, "STANDARD", 0,
                                NULL, NULL),
    [CO_COLOR_TABLE_MULTIPLIER] = ROW("COLOR_TABLE_MULTIPLIER", NULL, CREATION_NUMBER, 1, 257, "257",
                                   0, NULL, "colour maps have 16 bits and are copied as they are"),
    [CO_JPEG_DIRECT_COPY] = ROW("JPEG_DIRECT_COPY", yes_no, CREATION_WORD, 0, 0, "NO", 0, NULL,
                             "tiles are always decoded and encoded"),
    [CO_MAX_Z_ERROR_OVERVIEW] = ROW("MAX_Z_ERROR_OVERVIEW", NULL, CREATION_TEXT, 0, 0, "", 0, NULL,
                                 no_overviews),
    [CO_SOURCE_ICC_PROFILE] = ROW("SOURCE_ICC_PROFILE", NULL, CREATION_TEXT, 0, 0, "", 0, NULL,
                               no_colour),
    [CO_SOURCE_PRIMARIES_RED] = ROW("SOURCE_PRIMARIES_RED", NULL, CREATION_TEXT, 0, 0, "", 0, NULL,
                                 no_colour),
    [CO_SOURCE_PRIMARIES_GREEN] = ROW("SOURCE_PRIMARIES_GREEN", NULL, CREATION_TEXT, 0, 0, "", 0, NULL,
                                   no_colour),
    [CO_SOURCE_PRIMARIES_BLUE] = ROW("SOURCE_PRIMARIES_BLUE", NULL, CREATION_TEXT, 0, 0, "", 0, NULL,
                                  no_colour),
    [CO_SOURCE_WHITEPOINT] = ROW("SOURCE_WHITEPOINT", NULL, CREATION_TEXT, 0, 0, "", 0, NULL,
                              no_colour),
    [CO_TRANSFERFUNCTION_RED] = ROW("TIFFTAG_TRANSFERFUNCTION_RED", NULL, CREATION_TEXT, 0, 0, "", 0,
                                 NULL, no_colour),
    [CO_TRANSFERFUNCTION_GREEN] = ROW("TIFFTAG_TRANSFERFUNCTION_GREEN", NULL, CREATION_TEXT, 0, 0, "",
                                   0, NULL, no_colour),
    [CO_TRANSFERFUNCTION_BLUE] = ROW("TIFFTAG_TRANSFERFUNCTION_BLUE", NULL, CREATION_TEXT, 0, 0, "", 0,
                                  NULL, no_colour),
    [CO_TRANSFERRANGE_BLACK] = ROW("TIFFTAG_TRANSFERRANGE_BLACK", NULL, CREATION_TEXT, 0, 0, "", 0,
                                NULL, no_colour),
    [CO_TRANSFERRANGE_WHITE] = ROW("TIFFTAG_TRANSFERRANGE_WHITE", NULL, CREATION_TEXT, 0, 0, "", 0,
                                NULL, no_colour),
};

static const tz_creation_row cog_rows[CO_COUNT] = {
    SHARED_OPTIONS,
    [CO_BLOCKSIZE] = ROW("BLOCKSIZE", NULL, CREATION_NUMBER, 16, MAX_PIXELS, "512", 0,
                      "width and height of tiles, a multiple of 16", NULL),
    [CO_COMPRESS] = ROW("COMPRESS", compressions, CREATION_WORD, 0, 0, "DEFLATE", 0, "codec", NULL),
    [CO_LEVEL] = ROW("LEVEL", fast, CREATION_NUMBER, 0, 22, "", FOR_LEVEL,
                  "effort of DEFLATE (1 to 12, 6 by default), ZSTD (1 to 22, 9), LZMA "
                  "(0 to 9, 6) and LZ4 (1 to 12, 1); FAST: DEFLATE far below 1", NULL),
    [CO_QUALITY] = ROW("QUALITY", NULL, CREATION_NUMBER, 1, 100, "", FOR_QUALITY,
                    "of JPEG and WEBP, 75 by default; 100 is lossless in WEBP, and the "
                    "default of JPEG2000", NULL),
    [CO_PREDICTOR] = ROW("PREDICTOR", predictors, CREATION_WORD, 0, 0, "YES", FOR_PREDICTED,
                      "differences of neighbours, in the way that suits the type; "
                      "with LZW, DEFLATE, ZSTD or LZMA", NULL),
    [CO_INTERLEAVE] = ROW("INTERLEAVE", interleaves, CREATION_WORD, 0, 0, "PIXEL", 0,
                       "which samples lie together", NULL),
    [CO_MAX_Z_ERROR_OVERVIEW] = ROW("MAX_Z_ERROR_OVERVIEW", NULL, CREATION_REAL, 0, 1e300, "",
                                 FOR_ANY_LERC | FOR_OVERVIEWS,
                                 "how far it may be off in overviews; MAX_Z_ERROR by default", NULL),
    [CO_OVERVIEWS] = ROW("OVERVIEWS", overviews, CREATION_WORD, 0, 0, "AUTO", 0,
                      "whether there are any; they are always computed", NULL),
    [CO_OVERVIEW_COUNT] = ROW("OVERVIEW_COUNT", NULL, CREATION_NUMBER, 0, 31, "", 0,
                           "each half as wide and high as the one before; by default "
                           "until one fits a tile", NULL),
    [CO_OVERVIEW_RESAMPLING] = ROW("OVERVIEW_RESAMPLING", resamplings, CREATION_WORD, 0, 0, "", 0,
                                "how pixels become those of overviews; AVERAGE by "
                                "default, of palettes NEAREST", NULL),
    [CO_RESAMPLING] = ROW("RESAMPLING", resamplings, CREATION_WORD, 0, 0, "", 0,
                       "the same, where OVERVIEW_RESAMPLING is not given", NULL),
    [CO_OVERVIEW_COMPRESS] = ROW("OVERVIEW_COMPRESS", compressions_or_auto, CREATION_WORD, 0, 0, "AUTO",
                              0, "codec of overviews; AUTO: that of the image", NULL),
    [CO_OVERVIEW_QUALITY] = ROW("OVERVIEW_QUALITY", NULL, CREATION_NUMBER, 1, 100, "",
                             FOR_QUALITY | FOR_OVERVIEWS,
                             "of overviews; QUALITY by default, if the codec is the same", NULL),
    [CO_OVERVIEW_PREDICTOR] = ROW("OVERVIEW_PREDICTOR", predictors, CREATION_WORD, 0, 0, "",
                               FOR_PREDICTED | FOR_OVERVIEWS,
                               "of overviews; PREDICTOR by default, if the codec is the same",
                               NULL),
    [CO_STATISTICS] = ROW("STATISTICS", statistics, CREATION_WORD, 0, 0, "AUTO", 0,
                       "each band's statistics in the metadata; AUTO: as in the source", NULL),
    [CO_TILED] = ROW("TILED", yes_no, CREATION_WORD, 0, 0, "YES", 0, NULL, "a COG is tiled"),
    [CO_BLOCKXSIZE] = ROW("BLOCKXSIZE", NULL, CREATION_TEXT, 0, 0, "", 0, NULL, is_blocksize),
    [CO_BLOCKYSIZE] = ROW("BLOCKYSIZE", NULL, CREATION_TEXT, 0, 0, "", 0, NULL, is_blocksize),
    [CO_ZLEVEL] = ROW("ZLEVEL", NULL, CREATION_TEXT, 0, 0, "", 0, NULL, is_level),
    [CO_ZSTD_LEVEL] = ROW("ZSTD_LEVEL", NULL, CREATION_TEXT, 0, 0, "", 0, NULL, is_level),
    [CO_LZMA_PRESET] = ROW("LZMA_PRESET", NULL, CREATION_TEXT, 0, 0, "", 0, NULL, is_level),
    [CO_LZ4_LEVEL] = ROW("LZ4_LEVEL", NULL, CREATION_TEXT, 0, 0, "", 0, NULL, is_level),
    [CO_JPEG_QUALITY] = ROW("JPEG_QUALITY", NULL, CREATION_TEXT, 0, 0, "", 0, NULL, is_quality),
    [CO_WEBP_LEVEL] = ROW("WEBP_LEVEL", NULL, CREATION_TEXT, 0, 0, "", 0, NULL, is_quality),
    [CO_WEBP_LOSSLESS] = ROW("WEBP_LOSSLESS", NULL, CREATION_TEXT, 0, 0, "", 0, NULL, is_quality),
    [CO_PHOTOMETRIC] = ROW("PHOTOMETRIC", NULL, CREATION_TEXT, 0, 0, "", 0, NULL,
                        "JPEG of three bands is YCbCr, and all else as in the source"),
    [CO_COPY_SRC_OVERVIEWS] = ROW("COPY_SRC_OVERVIEWS", yes_no, CREATION_WORD, 0, 0, "NO", 0, NULL,
                               not_copied),
    [CO_TILING_SCHEME] = ROW("TILING_SCHEME", own_grid, CREATION_TEXT, 0, 0, "CUSTOM", 0, NULL,
                          no_warp),
    [CO_ZOOM_LEVEL] = ROW("ZOOM_LEVEL", NULL, CREATION_TEXT, 0, 0, "", 0, NULL, no_warp),
    [CO_ZOOM_LEVEL_STRATEGY] = ROW("ZOOM_LEVEL_STRATEGY", NULL, CREATION_TEXT, 0, 0, "", 0, NULL,
                                no_warp),
    [CO_ALIGNED_LEVELS] = ROW("ALIGNED_LEVELS", NULL, CREATION_TEXT, 0, 0, "", 0, NULL, no_warp),
    [CO_TARGET_SRS] = ROW("TARGET_SRS", NULL, CREATION_TEXT, 0, 0, "", 0, NULL, no_warp),
    [CO_RES] = ROW("RES", NULL, CREATION_TEXT, 0, 0, "", 0, NULL, no_warp),
    [CO_EXTENT] = ROW("EXTENT", NULL, CREATION_TEXT, 0, 0, "", 0, NULL, no_warp),
    [CO_WARP_RESAMPLING] = ROW("WARP_RESAMPLING", NULL, CREATION_TEXT, 0, 0, "", 0, NULL, no_warp),
    [CO_ADD_ALPHA] = ROW("ADD_ALPHA", yes_no, CREATION_WORD, 0, 0, "NO", 0, NULL, no_warp),
};
/* clang-format on */

const tz_creation_driver tz_creation_gtiff = {"GTiff", gtiff_rows};
const tz_creation_driver tz_creation_cog = {"COG", cog_rows};

/* Profiles. They choose the compression, and are not written in capitals. */

static const tz_creation_word cogeo_profiles[] = {{"jpeg", TZ_COMPRESSION_JPEG, NULL},
                                                  {"webp", TZ_COMPRESSION_WEBP, NULL},
                                                  {"zstd", TZ_COMPRESSION_ZSTD, NULL},
                                                  {"lzw", TZ_COMPRESSION_LZW, NULL},
                                                  {"deflate", TZ_COMPRESSION_DEFLATE, NULL},
                                                  {"packbits", TZ_COMPRESSION_PACKBITS, NULL},
                                                  {"lzma", TZ_COMPRESSION_LZMA, NULL},
                                                  {"lerc", TZ_COMPRESSION_LERC, NULL},
                                                  {"lerc_deflate", CREATION_LERC_DEFLATE, NULL},
                                                  {"lerc_zstd", CREATION_LERC_ZSTD, NULL},
                                                  {"raw", TZ_COMPRESSION_NONE, NULL},
                                                  {NULL, 0, NULL}};
const tz_creation_row tz_creation_profiles = {.shown = {.name = "profile", .default_value = ""},
                                              .words = cogeo_profiles};
