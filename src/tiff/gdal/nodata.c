/* SPDX-License-Identifier: Apache-2.0
 * Tag GDAL_NODATA. GDAL reads it with a lenient atof, so this does too, but says when it had to be
 * lenient. 64-bit integers never pass through a double. */
#include "tiff/gdal/nodata.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "tiff/tags.h"

/* Longer numbers than this are read only when there is nothing behind them. */
enum { MAX_PREFIX_LENGTH = 128 };

typedef struct type_range {
    tz_nodata_kind kind; /* TZ_NODATA_INT and TZ_NODATA_UINT: exact */
    int64_t min;
    uint64_t max;
} type_range;

static const type_range type_ranges[] = {
    [TZ_DTYPE_NONE] = {TZ_NODATA_FLOAT, 0, 0},
    [TZ_DTYPE_UINT8] = {TZ_NODATA_UINT, 0, UINT8_MAX},
    [TZ_DTYPE_INT8] = {TZ_NODATA_INT, INT8_MIN, INT8_MAX},
    [TZ_DTYPE_UINT16] = {TZ_NODATA_UINT, 0, UINT16_MAX},
    [TZ_DTYPE_INT16] = {TZ_NODATA_INT, INT16_MIN, INT16_MAX},
    [TZ_DTYPE_UINT32] = {TZ_NODATA_UINT, 0, UINT32_MAX},
    [TZ_DTYPE_INT32] = {TZ_NODATA_INT, INT32_MIN, INT32_MAX},
    [TZ_DTYPE_UINT64] = {TZ_NODATA_UINT, 0, UINT64_MAX},
    [TZ_DTYPE_INT64] = {TZ_NODATA_INT, INT64_MIN, INT64_MAX},
    [TZ_DTYPE_FLOAT16] = {TZ_NODATA_FLOAT, 0, 0},
    [TZ_DTYPE_FLOAT32] = {TZ_NODATA_FLOAT, 0, 0},
    [TZ_DTYPE_FLOAT64] = {TZ_NODATA_FLOAT, 0, 0},
    [TZ_DTYPE_COMPLEX_INT16] = {TZ_NODATA_INT, INT16_MIN, INT16_MAX},
    [TZ_DTYPE_COMPLEX_INT32] = {TZ_NODATA_INT, INT32_MIN, INT32_MAX},
    [TZ_DTYPE_COMPLEX_FLOAT16] = {TZ_NODATA_FLOAT, 0, 0},
    [TZ_DTYPE_COMPLEX_FLOAT32] = {TZ_NODATA_FLOAT, 0, 0},
    [TZ_DTYPE_COMPLEX_FLOAT64] = {TZ_NODATA_FLOAT, 0, 0},
};

static tz_location at_nodata(void)
{
    return tz_at_tag(TZ_TAG_GDAL_NODATA, TZ_NONE);
}

/* ---------------------------------------------------------------------------------------------
 * Text to number
 * ------------------------------------------------------------------------------------------ */

/* The longest start of text that is a number, a comma for its point allowed, as with CPLAtofM of
 * GDAL. Such texts are short; what does not fit in the buffer is no number to guess at. */
static bool parse_number_prefix(const char *text, double *out, bool *out_of_range)
{
    char prefix[MAX_PREFIX_LENGTH];
    size_t size = 0;
    while (size < sizeof prefix - 1 && text[size] != '\0' && text[size] != ' ') {
        prefix[size] = text[size] == ',' ? '.' : text[size];
        size++;
    }
    for (; size > 0; size--) {
        prefix[size] = '\0';
        if (tz_parse_double(prefix, out, out_of_range))
            return true;
    }
    return false;
}

/* How Microsoft's C library wrote them; some files have it. */
static bool parse_microsoft(const char *text, double *out)
{
    bool negative = *text == '-';
    text += negative;
    if (strncmp(text, "1.#", 3) != 0)
        return false;
    *out = copysign(strncmp(text + 3, "INF", 3) == 0 ? INFINITY : NAN, negative ? -1 : 1);
    return true;
}

/* *known is false when the text is no number. */
static tz_result parse_nodata_number(const char *text, const tz_context *ctx, double *out,
                                     bool *known)
{
    bool out_of_range = false;
    *known = tz_parse_double(text, out, &out_of_range) || parse_microsoft(text, out);
    if (!*known) {
        *known = parse_number_prefix(text, out, &out_of_range);
        if (!*known)
            return tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, at_nodata(),
                           "'%.64s' is not a number; the image has no nodata value", text);
        TZ_TRY(tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, at_nodata(),
                       "'%.64s' is a number only at its start, read as %g", text, *out));
    }
    if (out_of_range)
        return tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, at_nodata(),
                       "'%.64s' is too large for a number and read as infinity", text);
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Number to type
 * ------------------------------------------------------------------------------------------ */

static bool parse_signed_nodata(const char *text, const type_range *range, tz_nodata *out)
{
    int64_t value;
    if (!tz_parse_int64(text, &value) || value < range->min || value > (int64_t)range->max)
        return false;
    *out = (tz_nodata){.kind = TZ_NODATA_INT, .value.i = value};
    return true;
}

static bool parse_unsigned_nodata(const char *text, const type_range *range, tz_nodata *out)
{
    uint64_t value;
    if (!tz_parse_uint64(text, &value) || value > range->max)
        return false;
    *out = (tz_nodata){.kind = TZ_NODATA_UINT, .value.u = value};
    return true;
}

/* "-9999.0" and "1e3" are integers as well; below 2^53 the double has them exactly. */
static bool keep_whole_double(double value, const type_range *range, tz_nodata *out)
{
    const double exact = 9007199254740992.0;
    if (!(fabs(value) <= exact) || value != floor(value))
        return false;
    if (range->kind == TZ_NODATA_UINT) {
        if (value < 0 || (uint64_t)value > range->max)
            return false;
        *out = (tz_nodata){.kind = TZ_NODATA_UINT, .value.u = (uint64_t)value};
        return true;
    }
    if ((int64_t)value < range->min || (int64_t)value > (int64_t)range->max)
        return false;
    *out = (tz_nodata){.kind = TZ_NODATA_INT, .value.i = (int64_t)value};
    return true;
}

static tz_result parse_integer_nodata(const char *text, tz_dtype dtype, const tz_context *ctx,
                                      tz_nodata *out)
{
    const type_range *range = &type_ranges[dtype];
    if (range->kind == TZ_NODATA_INT ? parse_signed_nodata(text, range, out)
                                     : parse_unsigned_nodata(text, range, out))
        return TZ_OK;
    double value;
    bool known;
    TZ_TRY(parse_nodata_number(text, ctx, &value, &known));
    if (!known || keep_whole_double(value, range, out))
        return TZ_OK;
    *out = (tz_nodata){.kind = TZ_NODATA_FLOAT, .value.f = value};
    return tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, at_nodata(),
                   "'%.64s' is not a value of type %s, so that no pixel has it", text,
                   tz_dtype_name(dtype));
}

/* The nearest float16, halves to even; infinity above its range. */
static double round_to_half(double value)
{
    if (value == 0 || !isfinite(value))
        return value;
    int exponent;
    (void)frexp(value, &exponent);
    /* 11 bits of precision; numbers below 2^-14 have a fixed step of 2^-24. */
    int step = exponent - 11 > -24 ? exponent - 11 : -24;
    double rounded = ldexp(nearbyint(ldexp(value, -step)), step);
    return fabs(rounded) > 65504.0 ? copysign(INFINITY, value) : rounded;
}

/* Text such as 3.4028235e+38 for the largest float is a little too large for it. What is nearer to
 * it than half a step is meant to be it; GDAL's tolerance lies within that. */
static double round_to_float(double value)
{
    const double half_step = 0x1p103;
    if (!isfinite(value) || fabs(value) <= FLT_MAX)
        return (double)(float)value;
    return copysign(fabs(value) < FLT_MAX + half_step ? FLT_MAX : INFINITY, value);
}

static double round_to_type(double value, tz_dtype dtype)
{
    if (dtype == TZ_DTYPE_FLOAT16 || dtype == TZ_DTYPE_COMPLEX_FLOAT16)
        return round_to_half(value);
    if (dtype == TZ_DTYPE_FLOAT32 || dtype == TZ_DTYPE_COMPLEX_FLOAT32)
        return round_to_float(value);
    return value;
}

static tz_result parse_float_nodata(const char *text, tz_dtype dtype, const tz_context *ctx,
                                    tz_nodata *out)
{
    double value;
    bool known;
    TZ_TRY(parse_nodata_number(text, ctx, &value, &known));
    if (!known)
        return TZ_OK;
    double rounded = round_to_type(value, dtype);
    bool lost = isinf(rounded) && isfinite(value);
    *out = (tz_nodata){.kind = TZ_NODATA_FLOAT, .value.f = lost ? value : rounded};
    if (!lost)
        return TZ_OK;
    return tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, at_nodata(),
                   "'%.64s' is not a value of type %s, so that no pixel has it", text,
                   tz_dtype_name(dtype));
}

tz_result tz_nodata_parse(const char *text, tz_dtype dtype, const tz_context *ctx, tz_nodata *out)
{
    tz_nodata nodata = {.kind = TZ_NODATA_NONE};
    if ((unsigned)dtype >= sizeof type_ranges / sizeof type_ranges[0])
        dtype = TZ_DTYPE_NONE;
    if (text[strspn(text, " \t\r\n")] != '\0') {
        bool exact = type_ranges[dtype].kind != TZ_NODATA_FLOAT;
        TZ_TRY(exact ? parse_integer_nodata(text, dtype, ctx, &nodata)
                     : parse_float_nodata(text, dtype, ctx, &nodata));
    }
    *out = nodata;
    return TZ_OK;
}
