/* SPDX-License-Identifier: Apache-2.0
 * The version, and names of the numbers in the public header and in files: results, causes, data
 * types, colours, photometric interpretations, resampling methods and the choices of a writer. They
 * are here, below all layers, because every layer needs them for its messages; names of
 * compressions are in the table of codecs.
 *
 * Results, causes and data types index their table. The others are lists that are searched, by the
 * number or by the name: the first name of a number is the one that is printed, the others are
 * further spellings that are understood. */
#include "base/names.h"

#include <terrazzo/terrazzo.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *tz_version(void)
{
    return TZ_VERSION_STRING;
}

/* ---- results and causes ---- */

/* clang-format off */
static const char *const result_names[] = {
    "ok", "arg", "nomem", "io", "format", "unsupported", "limit", "device", "changed", "cancelled",
    "internal",
};

static const char *const cause_names[] = {
    "NONE", "ARG", "NOT_TIFF", "HEADER", "IFD", "TAG", "LIMIT", "LAYOUT", "TRUNCATED", "CODEC",
    "UNSUPPORTED", "GEO", "META", "IO", "REMOTE", "UNSAFE", "CHANGED", "NOMEM", "DEVICE", "BUSY",
    "CANCELLED", "INTERNAL",
};
/* clang-format on */

_Static_assert(COUNT(result_names) == TZ_ERR_INTERNAL + 1, "every result has a name");
_Static_assert(COUNT(cause_names) == TZ_CAUSE_INTERNAL + 1, "every cause has a name");

const char *tz_result_name(tz_result result)
{
    return (unsigned)result < COUNT(result_names) ? result_names[result] : "unknown";
}

const char *tz_cause_name(tz_cause cause)
{
    return (unsigned)cause < COUNT(cause_names) ? cause_names[cause] : "UNKNOWN";
}

const char *tz_log_level_name(tz_log_level level)
{
    static const char *const names[] = {"debug", "info", "warning"};
    return (unsigned)level < COUNT(names) ? names[level] : "unknown";
}

/* ---- lists of names ---- */

static char to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool tz_names_are_equal(const char *a, const char *b)
{
    if (!a || !b)
        return false;
    while (*a != '\0' && to_lower(*a) == to_lower(*b))
        a++, b++;
    return *a == *b;
}

typedef struct number_name {
    uint32_t number;
    const char *name; /* NULL ends a list */
} number_name;

static const char *find_name(const number_name *list, uint32_t number, const char *otherwise)
{
    while (list->name && list->number != number)
        list++;
    return list->name ? list->name : otherwise;
}

/* Sets *number, or leaves it alone and returns false. */
static bool find_number(uint32_t *number, const number_name *list, const char *name)
{
    while (list->name && !tz_names_are_equal(list->name, name))
        list++;
    if (list->name)
        *number = list->number;
    return list->name != NULL;
}

/* ---- data types ---- */

typedef struct dtype_row {
    const char *name;
    const char *gdal_name;
    const char *numpy_name; /* if it is not name; NULL otherwise */
    uint8_t size;           /* bytes */
} dtype_row;

static const dtype_row dtypes[] = {
    [TZ_DTYPE_NONE] = {"none", "Unknown", NULL, 0},
    [TZ_DTYPE_UINT8] = {"uint8", "Byte", NULL, 1},
    [TZ_DTYPE_INT8] = {"int8", "Int8", NULL, 1},
    [TZ_DTYPE_UINT16] = {"uint16", "UInt16", NULL, 2},
    [TZ_DTYPE_INT16] = {"int16", "Int16", NULL, 2},
    [TZ_DTYPE_UINT32] = {"uint32", "UInt32", NULL, 4},
    [TZ_DTYPE_INT32] = {"int32", "Int32", NULL, 4},
    [TZ_DTYPE_UINT64] = {"uint64", "UInt64", NULL, 8},
    [TZ_DTYPE_INT64] = {"int64", "Int64", NULL, 8},
    [TZ_DTYPE_FLOAT16] = {"float16", "Float16", NULL, 2},
    [TZ_DTYPE_FLOAT32] = {"float32", "Float32", NULL, 4},
    [TZ_DTYPE_FLOAT64] = {"float64", "Float64", NULL, 8},
    [TZ_DTYPE_COMPLEX_INT16] = {"complex_int16", "CInt16", NULL, 4},
    [TZ_DTYPE_COMPLEX_INT32] = {"complex_int32", "CInt32", NULL, 8},
    [TZ_DTYPE_COMPLEX_FLOAT16] = {"complex_float16", "CFloat16", NULL, 4},
    [TZ_DTYPE_COMPLEX_FLOAT32] = {"complex_float32", "CFloat32", "complex64", 8},
    [TZ_DTYPE_COMPLEX_FLOAT64] = {"complex_float64", "CFloat64", "complex128", 16},
};

static const dtype_row *dtype_of(tz_dtype dtype)
{
    return &dtypes[(size_t)dtype < COUNT(dtypes) ? (size_t)dtype : TZ_DTYPE_NONE];
}

const char *tz_dtype_name(tz_dtype dtype)
{
    return dtype_of(dtype)->name;
}

const char *tz_dtype_gdal_name(tz_dtype dtype)
{
    return dtype_of(dtype)->gdal_name;
}

size_t tz_dtype_size(tz_dtype dtype)
{
    return dtype_of(dtype)->size;
}

bool tz_dtype_from_name(tz_dtype *out, const char *name)
{
    for (size_t i = TZ_DTYPE_UINT8; i < COUNT(dtypes); i++) {
        if (tz_names_are_equal(dtypes[i].name, name) ||
            tz_names_are_equal(dtypes[i].gdal_name, name) ||
            tz_names_are_equal(dtypes[i].numpy_name, name)) {
            *out = (tz_dtype)i;
            return true;
        }
    }
    return false;
}

/* ---- enumerations ---- */

/* Defines the name and the parser of an enumeration by its list. */
#define NAMES_OF(type, list, otherwise)                                                            \
    const char *type##_name(type value)                                                            \
    {                                                                                              \
        return find_name(list, (uint32_t)value, otherwise);                                        \
    }                                                                                              \
    bool type##_from_name(type *out, const char *name)                                             \
    {                                                                                              \
        uint32_t number;                                                                           \
        const bool found = find_number(&number, list, name);                                       \
        if (found)                                                                                 \
            *out = (type)number;                                                                   \
        return found;                                                                              \
    }

/* clang-format off */
static const number_name colors[] = {
    {TZ_COLOR_UNDEFINED, "Undefined"}, {TZ_COLOR_GRAY, "Gray"}, {TZ_COLOR_GRAY, "Grey"},
    {TZ_COLOR_PALETTE, "Palette"}, {TZ_COLOR_RED, "Red"}, {TZ_COLOR_GREEN, "Green"},
    {TZ_COLOR_BLUE, "Blue"}, {TZ_COLOR_ALPHA, "Alpha"}, {TZ_COLOR_CYAN, "Cyan"},
    {TZ_COLOR_MAGENTA, "Magenta"}, {TZ_COLOR_YELLOW, "Yellow"}, {TZ_COLOR_BLACK, "Black"},
    {TZ_COLOR_Y, "YCbCr_Y"}, {TZ_COLOR_CB, "YCbCr_Cb"}, {TZ_COLOR_CR, "YCbCr_Cr"}, {0, NULL},
};

static const number_name resamplings[] = {
    {TZ_RESAMPLING_NONE, "none"}, {TZ_RESAMPLING_NEAREST, "nearest"}, {TZ_RESAMPLING_NEAREST, "near"},
    {TZ_RESAMPLING_AVERAGE, "average"}, {TZ_RESAMPLING_BILINEAR, "bilinear"},
    {TZ_RESAMPLING_CUBIC, "cubic"}, {TZ_RESAMPLING_LANCZOS, "lanczos"},
    {TZ_RESAMPLING_GAUSS, "gauss"}, {TZ_RESAMPLING_RMS, "rms"}, {TZ_RESAMPLING_MODE, "mode"},
    {TZ_RESAMPLING_MIN, "min"}, {TZ_RESAMPLING_MAX, "max"}, {TZ_RESAMPLING_MEDIAN, "median"},
    {0, NULL},
};

static const number_name interleaves[] = {
    {TZ_INTERLEAVE_PIXEL, "pixel"}, {TZ_INTERLEAVE_BAND, "band"}, {TZ_INTERLEAVE_TILE, "tile"},
    {0, NULL},
};

static const number_name bigtiffs[] = {
    {TZ_BIGTIFF_IF_NEEDED, "if_needed"}, {TZ_BIGTIFF_YES, "yes"}, {TZ_BIGTIFF_YES, "true"},
    {TZ_BIGTIFF_NO, "no"}, {TZ_BIGTIFF_NO, "false"}, {TZ_BIGTIFF_IF_SAFER, "if_safer"}, {0, NULL},
};

static const number_name choices[] = {
    {TZ_CHOICE_AUTO, "auto"}, {TZ_CHOICE_YES, "yes"}, {TZ_CHOICE_YES, "true"},
    {TZ_CHOICE_YES, "on"}, {TZ_CHOICE_NO, "no"}, {TZ_CHOICE_NO, "false"}, {TZ_CHOICE_NO, "off"},
    {0, NULL},
};

static const number_name jpeg_tables[] = {
    {TZ_JPEG_TABLES_DEFAULT, "default"}, {TZ_JPEG_TABLES_QUANT, "quant"},
    {TZ_JPEG_TABLES_HUFFMAN, "huffman"}, {TZ_JPEG_TABLES_BOTH, "both"},
    {TZ_JPEG_TABLES_NONE, "none"}, {0, NULL},
};

static const number_name verifications[] = {
    {TZ_VERIFY_SAMPLE, "sample"}, {TZ_VERIFY_ALL, "all"}, {TZ_VERIFY_NONE, "none"}, {0, NULL},
};

static const number_name image_formats[] = {
    {TZ_IMAGE_FORMAT_PNG, "png"}, {TZ_IMAGE_FORMAT_JPEG, "jpeg"}, {TZ_IMAGE_FORMAT_JPEG, "jpg"}, {TZ_IMAGE_FORMAT_WEBP, "webp"},
    {0, NULL},
};

static const number_name image_models[] = {
    {TZ_IMAGE_MODEL_AUTO, "auto"}, {TZ_IMAGE_MODEL_GREY, "grey"}, {TZ_IMAGE_MODEL_GREY, "gray"},
    {TZ_IMAGE_MODEL_INVERTED, "inverted"}, {TZ_IMAGE_MODEL_RGB, "rgb"},
    {TZ_IMAGE_MODEL_YCBCR, "ycbcr"}, {TZ_IMAGE_MODEL_CMYK, "cmyk"}, {0, NULL},
};

static const number_name raster_types[] = {
    {TZ_RASTER_TYPE_UNDEFINED, "undefined"}, {TZ_RASTER_TYPE_AREA, "area"},
    {TZ_RASTER_TYPE_POINT, "point"}, {0, NULL},
};

static const number_name nodata_kinds[] = {
    {TZ_NODATA_KIND_NONE, "none"}, {TZ_NODATA_KIND_INT, "int"}, {TZ_NODATA_KIND_UINT, "uint"},
    {TZ_NODATA_KIND_FLOAT, "float"}, {0, NULL},
};

static const number_name memory_kinds[] = {
    {TZ_MEMORY_KIND_HOST, "host"}, {TZ_MEMORY_KIND_CUDA, "cuda"},
    {TZ_MEMORY_KIND_OPENCL, "opencl"}, {TZ_MEMORY_KIND_DEVICE, "device"}, {0, NULL},
};

/* Further names are those of gdalsrsinfo. */
static const number_name crs_formats[] = {
    {TZ_CRS_FORMAT_WKT2, "wkt2"}, {TZ_CRS_FORMAT_WKT2, "wkt2_2019"},
    {TZ_CRS_FORMAT_WKT1_GDAL, "wkt1_gdal"}, {TZ_CRS_FORMAT_WKT1_GDAL, "wkt1"},
    {TZ_CRS_FORMAT_WKT1_ESRI, "wkt1_esri"}, {TZ_CRS_FORMAT_WKT1_ESRI, "wkt_esri"},
    {TZ_CRS_FORMAT_PROJJSON, "projjson"}, {TZ_CRS_FORMAT_PROJ_STRING, "proj_string"},
    {TZ_CRS_FORMAT_PROJ_STRING, "proj4"}, {0, NULL},
};

static const number_name sidecars[] = {
    {TZ_SIDECAR_OVR, "ovr"}, {TZ_SIDECAR_MSK, "msk"}, {TZ_SIDECAR_AUX, "aux"},
    {TZ_SIDECAR_WORLD, "world"}, {0, NULL},
};

/* By TIFF's numbers, but for 0, which tz_photometric uses otherwise. */
static const number_name photometrics[] = {
    {TZ_PHOTOMETRIC_MIN_IS_WHITE, "MinIsWhite"}, {TZ_PHOTOMETRIC_MIN_IS_BLACK, "MinIsBlack"},
    {TZ_PHOTOMETRIC_RGB, "RGB"}, {TZ_PHOTOMETRIC_PALETTE, "Palette"},
    {TZ_PHOTOMETRIC_MASK, "TransparencyMask"}, {TZ_PHOTOMETRIC_CMYK, "CMYK"},
    {TZ_PHOTOMETRIC_YCBCR, "YCbCr"}, {TZ_PHOTOMETRIC_CIELAB, "CIELab"},
    {TZ_PHOTOMETRIC_ICCLAB, "ICCLab"}, {TZ_PHOTOMETRIC_ITULAB, "ITULab"}, {32803, "CFA"},
    {32844, "LogL"}, {32845, "LogLuv"}, {34892, "LinearRaw"}, {51177, "DepthMap"},
    {52527, "PhotometricMask"}, {TZ_PHOTOMETRIC_AUTO, "auto"}, {0, NULL},
};
/* clang-format on */

NAMES_OF(tz_color, colors, "Undefined")
NAMES_OF(tz_resampling, resamplings, "unknown")
NAMES_OF(tz_interleave, interleaves, "unknown")
NAMES_OF(tz_bigtiff, bigtiffs, "unknown")
NAMES_OF(tz_choice, choices, "unknown")
NAMES_OF(tz_jpeg_tables, jpeg_tables, "unknown")
NAMES_OF(tz_verify, verifications, "unknown")
NAMES_OF(tz_image_format, image_formats, "unknown")
NAMES_OF(tz_image_model, image_models, "unknown")
NAMES_OF(tz_raster_type, raster_types, "unknown")
NAMES_OF(tz_nodata_kind, nodata_kinds, "unknown")
NAMES_OF(tz_memory_kind, memory_kinds, "unknown")
NAMES_OF(tz_crs_format, crs_formats, "unknown")

const char *tz_sidecar_name(uint32_t sidecar)
{
    return find_name(sidecars, sidecar, "unknown");
}

bool tz_sidecar_from_name(uint32_t *out, const char *name)
{
    return find_number(out, sidecars, name);
}

const char *tz_photometric_name(uint16_t photometric)
{
    return find_name(photometrics, photometric != 0 ? photometric : TZ_PHOTOMETRIC_MIN_IS_WHITE,
                     NULL);
}

bool tz_photometric_from_name(tz_photometric *out, const char *name)
{
    uint32_t number;
    const bool found = find_number(&number, photometrics, name);
    if (found)
        *out = (tz_photometric)number;
    return found;
}
