/* SPDX-License-Identifier: Apache-2.0
 * The version, and names of the numbers in the public header and in files: results, causes, data
 * types, colours, photometric interpretations and resampling methods. They are here, below all
 * layers, because every layer needs them for its messages; names of compressions are in the table
 * of codecs. Enumerations that start at 0 index their table; numbers of TIFF are searched for, and
 * have no name if the table lacks them. */
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

/* ---- data types, colours and resampling methods ---- */

typedef struct dtype_row {
    const char *name;
    uint8_t size; /* bytes */
} dtype_row;

static const dtype_row dtypes[] = {
    [TZ_DTYPE_NONE] = {"none", 0},
    [TZ_DTYPE_UINT8] = {"uint8", 1},
    [TZ_DTYPE_INT8] = {"int8", 1},
    [TZ_DTYPE_UINT16] = {"uint16", 2},
    [TZ_DTYPE_INT16] = {"int16", 2},
    [TZ_DTYPE_UINT32] = {"uint32", 4},
    [TZ_DTYPE_INT32] = {"int32", 4},
    [TZ_DTYPE_UINT64] = {"uint64", 8},
    [TZ_DTYPE_INT64] = {"int64", 8},
    [TZ_DTYPE_FLOAT16] = {"float16", 2},
    [TZ_DTYPE_FLOAT32] = {"float32", 4},
    [TZ_DTYPE_FLOAT64] = {"float64", 8},
    [TZ_DTYPE_COMPLEX_INT16] = {"complex_int16", 4},
    [TZ_DTYPE_COMPLEX_INT32] = {"complex_int32", 8},
    [TZ_DTYPE_COMPLEX_FLOAT16] = {"complex_float16", 4},
    [TZ_DTYPE_COMPLEX_FLOAT32] = {"complex_float32", 8},
    [TZ_DTYPE_COMPLEX_FLOAT64] = {"complex_float64", 16},
};

static const char *const color_names[] = {
    [TZ_COLOR_UNDEFINED] = "Undefined", [TZ_COLOR_GRAY] = "Gray",
    [TZ_COLOR_PALETTE] = "Palette",     [TZ_COLOR_RED] = "Red",
    [TZ_COLOR_GREEN] = "Green",         [TZ_COLOR_BLUE] = "Blue",
    [TZ_COLOR_ALPHA] = "Alpha",         [TZ_COLOR_CYAN] = "Cyan",
    [TZ_COLOR_MAGENTA] = "Magenta",     [TZ_COLOR_YELLOW] = "Yellow",
    [TZ_COLOR_BLACK] = "Black",         [TZ_COLOR_Y] = "YCbCr_Y",
    [TZ_COLOR_CB] = "YCbCr_Cb",         [TZ_COLOR_CR] = "YCbCr_Cr",
};

static const char *const resampling_names[] = {
    [TZ_RESAMPLING_NONE] = "none",       [TZ_RESAMPLING_NEAREST] = "nearest",
    [TZ_RESAMPLING_AVERAGE] = "average", [TZ_RESAMPLING_BILINEAR] = "bilinear",
    [TZ_RESAMPLING_CUBIC] = "cubic",     [TZ_RESAMPLING_LANCZOS] = "lanczos",
    [TZ_RESAMPLING_GAUSS] = "gauss",     [TZ_RESAMPLING_RMS] = "rms",
    [TZ_RESAMPLING_MODE] = "mode",       [TZ_RESAMPLING_MIN] = "min",
    [TZ_RESAMPLING_MAX] = "max",         [TZ_RESAMPLING_MEDIAN] = "median",
};

const char *tz_dtype_name(tz_dtype dtype)
{
    return dtypes[(size_t)dtype < COUNT(dtypes) ? (size_t)dtype : TZ_DTYPE_NONE].name;
}

size_t tz_dtype_size(tz_dtype dtype)
{
    return (size_t)dtype < COUNT(dtypes) ? dtypes[dtype].size : 0;
}

const char *tz_color_name(tz_color color)
{
    return color_names[(size_t)color < COUNT(color_names) ? (size_t)color : TZ_COLOR_UNDEFINED];
}

const char *tz_resampling_name(tz_resampling method)
{
    return (size_t)method < COUNT(resampling_names) ? resampling_names[method] : "unknown";
}

/* ---- numbers of TIFF ---- */

typedef struct number_name {
    uint16_t number;
    const char *name;
} number_name;

/* clang-format off */
static const number_name photometric_names[] = {
    {0, "MinIsWhite"}, {TZ_PHOTOMETRIC_MIN_IS_BLACK, "MinIsBlack"}, {TZ_PHOTOMETRIC_RGB, "RGB"},
    {TZ_PHOTOMETRIC_PALETTE, "Palette"}, {TZ_PHOTOMETRIC_MASK, "TransparencyMask"},
    {TZ_PHOTOMETRIC_CMYK, "CMYK"}, {TZ_PHOTOMETRIC_YCBCR, "YCbCr"},
    {TZ_PHOTOMETRIC_CIELAB, "CIELab"}, {TZ_PHOTOMETRIC_ICCLAB, "ICCLab"},
    {TZ_PHOTOMETRIC_ITULAB, "ITULab"}, {32803, "CFA"}, {32844, "LogL"}, {32845, "LogLuv"},
    {34892, "LinearRaw"}, {51177, "DepthMap"}, {52527, "PhotometricMask"},
};
/* clang-format on */

const char *tz_photometric_name(uint16_t photometric)
{
    for (size_t i = 0; i < COUNT(photometric_names); i++) {
        if (photometric_names[i].number == photometric)
            return photometric_names[i].name;
    }
    return NULL;
}
