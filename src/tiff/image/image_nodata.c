/* SPDX-License-Identifier: Apache-2.0
 * The nodata value of an image to be written: made to fit its type, and spelled so that readers get
 * the same value back. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "tiff/gdal/nodata.h"
#include "tiff/image/image_steps.h"
#include "tiff/tags.h"

enum {
    NODATA_TEXT_SIZE = 64,
    MAX_TEXT_LENGTH = 254
}; /* readers take 255 bytes, the closing NUL among them */

static bool is_equal_nodata(const tz_nodata *a, const tz_nodata *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind != TZ_NODATA_FLOAT)
        return a->value.u == b->value.u;
    return a->value.f == b->value.f || (isnan(a->value.f) && isnan(b->value.f));
}

/* Whole numbers are spelled as such: text with an exponent may lose the last bits of 64. */
static void format_nodata(const tz_nodata *nodata, char text[NODATA_TEXT_SIZE])
{
    const double value = nodata->value.f;
    if (nodata->kind == TZ_NODATA_INT)
        snprintf(text, NODATA_TEXT_SIZE, "%" PRId64, nodata->value.i);
    else if (nodata->kind == TZ_NODATA_UINT)
        snprintf(text, NODATA_TEXT_SIZE, "%" PRIu64, nodata->value.u);
    else if (fabs(value) < 0x1p64 && value == floor(value))
        snprintf(text, NODATA_TEXT_SIZE, "%.0f", value);
    else
        tz_format_double(value, text, NODATA_TEXT_SIZE);
}

/* An integer that became a double is the same number. */
static bool is_exact_integer(const tz_nodata *given, const tz_nodata *fitted)
{
    const double value = fitted->value.f;
    if (fitted->kind != TZ_NODATA_FLOAT)
        return true;
    if (given->kind == TZ_NODATA_INT)
        return value >= -0x1p63 && value < 0x1p63 && (int64_t)value == given->value.i;
    if (given->kind == TZ_NODATA_UINT)
        return value >= 0 && value < 0x1p64 && (uint64_t)value == given->value.u;
    return true;
}

/* Samples may be narrower than their type. */
static bool fits_bits(const tz_nodata *nodata, uint16_t bits)
{
    if (bits >= 64 || nodata->kind == TZ_NODATA_FLOAT)
        return true;
    if (nodata->kind == TZ_NODATA_UINT)
        return nodata->value.u >> bits == 0;
    const int64_t half = INT64_C(1) << (bits - 1);
    return nodata->value.i >= -half && nodata->value.i < half;
}

static bool is_printable_text(const char *text)
{
    size_t size = 0;
    for (; text[size] != '\0'; size++)
        if (text[size] < ' ' || text[size] > '~' || size == MAX_TEXT_LENGTH)
            return false;
    return size > 0;
}

bool tz_nodata_parse_exact(const char *text, tz_dtype dtype, uint16_t bits, tz_nodata *out)
{
    const tz_context strict = {.strict = true, .ifd = -1};
    return is_printable_text(text) && tz_nodata_parse(text, dtype, &strict, out) == TZ_OK &&
           out->kind != TZ_NODATA_NONE && fits_bits(out, bits);
}

bool tz_nodata_fit_type(const tz_nodata *given, tz_dtype dtype, uint16_t bits, tz_nodata *out)
{
    char text[NODATA_TEXT_SIZE];
    format_nodata(given, text);
    return tz_nodata_parse_exact(text, dtype, bits, out) && is_exact_integer(given, out);
}

static tz_result fit_nodata_value(tz_image *image, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    tz_nodata fitted;
    char text[NODATA_TEXT_SIZE];
    if ((unsigned)spec->nodata.kind > TZ_NODATA_FLOAT)
        return TZ_FAIL_ARG(ctx, "spec->nodata.kind is %u, which is none of its values",
                           (unsigned)spec->nodata.kind);
    if (!tz_nodata_fit_type(&spec->nodata, spec->dtype, spec->bits_per_sample, &fitted)) {
        format_nodata(&spec->nodata, text);
        return TZ_FAIL_ARG(ctx, "nodata %s is not a value of type %s with %u bits", text,
                           tz_dtype_name(spec->dtype), spec->bits_per_sample);
    }
    spec->nodata = fitted;
    return TZ_OK;
}

/* Text alone is the value as well. */
static tz_result resolve_nodata_text(tz_image *image, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    tz_nodata parsed;
    if (!is_printable_text(spec->nodata_text))
        return TZ_FAIL_ARG(ctx, "the text of nodata must be 1 to %d printable characters",
                           MAX_TEXT_LENGTH);
    if (!tz_nodata_parse_exact(spec->nodata_text, spec->dtype, spec->bits_per_sample, &parsed))
        return TZ_FAIL_ARG(ctx, "nodata '%s' is not a value of type %s with %u bits",
                           spec->nodata_text, tz_dtype_name(spec->dtype), spec->bits_per_sample);
    if (spec->nodata.kind != TZ_NODATA_NONE && !is_equal_nodata(&parsed, &spec->nodata))
        return TZ_FAIL_ARG(ctx, "the text of nodata, '%s', is another value than nodata itself",
                           spec->nodata_text);
    spec->nodata = parsed;
    return TZ_OK;
}

static bool replaces_nan(const tz_image *image)
{
    const tz_nodata *nodata = &image->spec.nodata;
    return nodata->kind == TZ_NODATA_FLOAT && !isnan(nodata->value.f) &&
           image->sample_format == 3 && image->options.nan_to_nodata;
}

tz_result tz_image_resolve_nodata(tz_image *image, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    char text[NODATA_TEXT_SIZE];
    const char *shown = spec->nodata_text;
    if (spec->nodata.kind != TZ_NODATA_NONE)
        TZ_TRY(fit_nodata_value(image, ctx));
    if (spec->nodata_text)
        TZ_TRY(resolve_nodata_text(image, ctx));
    if (spec->nodata.kind == TZ_NODATA_NONE)
        return TZ_OK;
    image->nan_to_nodata = replaces_nan(image);
    image->choice.nodata = spec->nodata;
    if (!shown) {
        format_nodata(&spec->nodata, text);
        shown = text;
    }
    spec->nodata_text = tz_arena_text(&image->arena, shown, strlen(shown));
    return spec->nodata_text ? TZ_OK : tz_fail_nomem(ctx, strlen(shown) + 1);
}
