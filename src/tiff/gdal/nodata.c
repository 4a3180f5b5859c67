/* SPDX-License-Identifier: Apache-2.0
 * Tag GDAL_NODATA, in both directions: text to a value of the image's type, and a value to text
 * that readers turn into the same value.
 *
 * GDAL reads the tag with a lenient atof, so this does too, but warns if it had to be lenient.
 * Integer types first try an exact integer: 64-bit integers never pass through a double. Floating
 * point values are rounded to the type, because pixels are compared with them. For writing, a value
 * fits if its text, parsed in strict mode, gives the value again. */
#include "tiff/gdal/nodata.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "tiff/tags.h"

enum { MAX_PREFIX_LENGTH = 128 }; /* longer numbers are read only if nothing follows them */

typedef struct type_range {
    tz_nodata_kind kind; /* TZ_NODATA_KIND_INT and TZ_NODATA_KIND_UINT: exact */
    int64_t min;
    uint64_t max;
} type_range;

static const type_range type_ranges[] = {
    [TZ_DTYPE_NONE] = {TZ_NODATA_KIND_FLOAT, 0, 0},
    [TZ_DTYPE_UINT8] = {TZ_NODATA_KIND_UINT, 0, UINT8_MAX},
    [TZ_DTYPE_INT8] = {TZ_NODATA_KIND_INT, INT8_MIN, INT8_MAX},
    [TZ_DTYPE_UINT16] = {TZ_NODATA_KIND_UINT, 0, UINT16_MAX},
    [TZ_DTYPE_INT16] = {TZ_NODATA_KIND_INT, INT16_MIN, INT16_MAX},
    [TZ_DTYPE_UINT32] = {TZ_NODATA_KIND_UINT, 0, UINT32_MAX},
    [TZ_DTYPE_INT32] = {TZ_NODATA_KIND_INT, INT32_MIN, INT32_MAX},
    [TZ_DTYPE_UINT64] = {TZ_NODATA_KIND_UINT, 0, UINT64_MAX},
    [TZ_DTYPE_INT64] = {TZ_NODATA_KIND_INT, INT64_MIN, INT64_MAX},
    [TZ_DTYPE_FLOAT16] = {TZ_NODATA_KIND_FLOAT, 0, 0},
    [TZ_DTYPE_FLOAT32] = {TZ_NODATA_KIND_FLOAT, 0, 0},
    [TZ_DTYPE_FLOAT64] = {TZ_NODATA_KIND_FLOAT, 0, 0},
    [TZ_DTYPE_COMPLEX_INT16] = {TZ_NODATA_KIND_INT, INT16_MIN, INT16_MAX},
    [TZ_DTYPE_COMPLEX_INT32] = {TZ_NODATA_KIND_INT, INT32_MIN, INT32_MAX},
    [TZ_DTYPE_COMPLEX_FLOAT16] = {TZ_NODATA_KIND_FLOAT, 0, 0},
    [TZ_DTYPE_COMPLEX_FLOAT32] = {TZ_NODATA_KIND_FLOAT, 0, 0},
    [TZ_DTYPE_COMPLEX_FLOAT64] = {TZ_NODATA_KIND_FLOAT, 0, 0},
};

static tz_location at_nodata(void)
{
    return tz_at_tag(TZ_TAG_GDAL_NODATA, TZ_NO_VALUE);
}

/* ---- text to number ---- */

/* Parses the longest start of text that is a number, with a comma for a point allowed, as CPLAtofM
 * of GDAL does. Such numbers are short; the rest of a longer text is ignored. */
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

/* Parses infinities and NaNs in the form of Microsoft's C library, which some files have. */
static bool parse_microsoft(const char *text, double *out)
{
    bool negative = *text == '-';
    text += negative;
    if (strncmp(text, "1.#", 3) != 0)
        return false;
    *out = copysign(strncmp(text + 3, "INF", 3) == 0 ? INFINITY : NAN, negative ? -1 : 1);
    return true;
}

/* *known is false if the text is not a number. */
static tz_result parse_nodata_number(const char *text, const tz_context *ctx, double *out,
                                     bool *known)
{
    bool out_of_range = false;
    *known = tz_parse_double(text, out, &out_of_range) || parse_microsoft(text, out);
    if (!*known) {
        *known = parse_number_prefix(text, out, &out_of_range);
        if (!*known)
            return TZ_WARN_META(ctx, at_nodata(),
                                "'%.64s' is not a number; the image has no nodata value", text);
        TZ_TRY(TZ_WARN_META(ctx, at_nodata(), "'%.64s' is a number only at its start, read as %g",
                            text, *out));
    }
    if (out_of_range)
        return TZ_WARN_META(ctx, at_nodata(),
                            "'%.64s' is too large for a number and read as infinity", text);
    return TZ_OK;
}

/* ---- number to type ---- */

/* "-9999.0" and "1e3" are integers as well; up to 2^53 a double has them exactly. False if the
 * value is not whole or out of the range of the type. */
static bool keep_whole_double(double value, const type_range *range, tz_nodata *out)
{
    const double exact = 9007199254740992.0;
    if (!(fabs(value) <= exact) || value != floor(value))
        return false;
    if (range->kind == TZ_NODATA_KIND_UINT) {
        if (value < 0 || (uint64_t)value > range->max)
            return false;
        *out = (tz_nodata){.kind = TZ_NODATA_KIND_UINT, .value.u = (uint64_t)value};
        return true;
    }
    if ((int64_t)value < range->min || (int64_t)value > (int64_t)range->max)
        return false;
    *out = (tz_nodata){.kind = TZ_NODATA_KIND_INT, .value.i = (int64_t)value};
    return true;
}

/* Returns the nearest float16, halves to even; infinity above its range. */
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

/* Text such as 3.4028235e+38 for the largest float is slightly above it. A value within half a step
 * is read as the largest float; GDAL's tolerance lies within that. */
static double round_to_float(double value)
{
    const double half_step = 0x1p103;
    if (!isfinite(value) || fabs(value) <= FLT_MAX)
        return (double)(float)value;
    return copysign(fabs(value) < FLT_MAX + half_step ? FLT_MAX : INFINITY, value);
}

/* Integers are tried first, exactly. A number that the type cannot have is kept as a double:
 * callers see the file's value, and no pixel is equal to it. */
tz_result tz_nodata_parse(const char *text, tz_dtype dtype, const tz_context *ctx, tz_nodata *out)
{
    if ((unsigned)dtype >= sizeof type_ranges / sizeof type_ranges[0])
        dtype = TZ_DTYPE_NONE;
    const type_range *range = &type_ranges[dtype];
    const bool blank = text[strspn(text, " \t\r\n")] == '\0';
    tz_nodata nodata = {.kind = TZ_NODATA_KIND_NONE};
    double value = 0;
    bool known = false;
    bool fits = true;
    int64_t i;
    uint64_t u;
    if (range->kind == TZ_NODATA_KIND_INT && tz_parse_int64(text, &i) && i >= range->min &&
        i <= (int64_t)range->max)
        nodata = (tz_nodata){.kind = TZ_NODATA_KIND_INT, .value.i = i};
    else if (range->kind == TZ_NODATA_KIND_UINT && tz_parse_uint64(text, &u) && u <= range->max)
        nodata = (tz_nodata){.kind = TZ_NODATA_KIND_UINT, .value.u = u};
    else if (!blank)
        TZ_TRY(parse_nodata_number(text, ctx, &value, &known));
    if (known && range->kind == TZ_NODATA_KIND_FLOAT) {
        double rounded = value;
        if (dtype == TZ_DTYPE_FLOAT16 || dtype == TZ_DTYPE_COMPLEX_FLOAT16)
            rounded = round_to_half(value);
        else if (dtype == TZ_DTYPE_FLOAT32 || dtype == TZ_DTYPE_COMPLEX_FLOAT32)
            rounded = round_to_float(value);
        fits = !(isinf(rounded) && isfinite(value));
        nodata = (tz_nodata){.kind = TZ_NODATA_KIND_FLOAT, .value.f = fits ? rounded : value};
    } else if (known) {
        fits = keep_whole_double(value, range, &nodata);
        if (!fits)
            nodata = (tz_nodata){.kind = TZ_NODATA_KIND_FLOAT, .value.f = value};
    }
    if (!fits)
        TZ_TRY(TZ_WARN_META(ctx, at_nodata(),
                            "'%.64s' is not a value of type %s, so that no pixel has it", text,
                            tz_dtype_name(dtype)));
    *out = nodata;
    return TZ_OK;
}

/* ---- value to text ---- */

/* Whole numbers are written without an exponent, with which the last of 64 bits may be lost. */
void tz_nodata_format(const tz_nodata *nodata, char text[TZ_NODATA_TEXT_SIZE])
{
    const double value = nodata->value.f;
    if (nodata->kind == TZ_NODATA_KIND_INT)
        snprintf(text, TZ_NODATA_TEXT_SIZE, "%" PRId64, nodata->value.i);
    else if (nodata->kind == TZ_NODATA_KIND_UINT)
        snprintf(text, TZ_NODATA_TEXT_SIZE, "%" PRIu64, nodata->value.u);
    else if (fabs(value) < 0x1p64 && value == floor(value))
        snprintf(text, TZ_NODATA_TEXT_SIZE, "%.0f", value);
    else
        tz_format_double(value, text, TZ_NODATA_TEXT_SIZE);
}

bool tz_nodata_is_printable(const char *text)
{
    size_t size = 0;
    for (; text[size] != '\0'; size++)
        if (text[size] < ' ' || text[size] > '~' || size == TZ_MAX_NODATA_TEXT)
            return false;
    return size > 0;
}

bool tz_nodata_parse_exact(const char *text, tz_dtype dtype, uint16_t bits, tz_nodata *out)
{
    const tz_context strict = {.strict = true, .ifd = -1};
    if (!tz_nodata_is_printable(text) || tz_nodata_parse(text, dtype, &strict, out) != TZ_OK ||
        out->kind == TZ_NODATA_KIND_NONE)
        return false;
    /* Samples may be narrower than their type. */
    if (bits >= 64 || out->kind == TZ_NODATA_KIND_FLOAT)
        return true;
    if (out->kind == TZ_NODATA_KIND_UINT)
        return out->value.u >> bits == 0;
    const int64_t half = INT64_C(1) << (bits - 1);
    return out->value.i >= -half && out->value.i < half;
}

/* Takes the way of a reader: format the value, parse the text, and compare. */
bool tz_nodata_fit_type(const tz_nodata *given, tz_dtype dtype, uint16_t bits, tz_nodata *out)
{
    char text[TZ_NODATA_TEXT_SIZE];
    tz_nodata_format(given, text);
    if (!tz_nodata_parse_exact(text, dtype, bits, out))
        return false;
    const double value = out->value.f;
    /* An integer must not become another number as a double. */
    if (out->kind == TZ_NODATA_KIND_FLOAT && given->kind == TZ_NODATA_KIND_INT)
        return value >= -0x1p63 && value < 0x1p63 && (int64_t)value == given->value.i;
    if (out->kind == TZ_NODATA_KIND_FLOAT && given->kind == TZ_NODATA_KIND_UINT)
        return value >= 0 && value < 0x1p64 && (uint64_t)value == given->value.u;
    return true;
}
