/* SPDX-License-Identifier: Apache-2.0
 * The nodata value of an image to be written: made to fit its type, and spelled so that readers get
 * the same value back. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "tiff/image_parts.h"
#include "tiff/nodata.h"
#include "tiff/tags.h"

enum { SPELLED = 64, LONGEST = 254 }; /* readers take 255 bytes, the closing NUL among them */

static bool equal(const tz_nodata *a, const tz_nodata *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind != TZ_NODATA_FLOAT)
        return a->value.u == b->value.u;
    return a->value.f == b->value.f || (isnan(a->value.f) && isnan(b->value.f));
}

/* Whole numbers are spelled as such: text with an exponent may lose the last bits of 64. */
static void spell(const tz_nodata *nodata, char text[SPELLED])
{
    const double value = nodata->value.f;
    if (nodata->kind == TZ_NODATA_INT)
        snprintf(text, SPELLED, "%" PRId64, nodata->value.i);
    else if (nodata->kind == TZ_NODATA_UINT)
        snprintf(text, SPELLED, "%" PRIu64, nodata->value.u);
    else if (fabs(value) < 0x1p64 && value == floor(value))
        snprintf(text, SPELLED, "%.0f", value);
    else
        tz_format_double(value, text, SPELLED);
}

/* An integer that became a double is the same number. */
static bool kept_integer(const tz_nodata *given, const tz_nodata *fitted)
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

static bool is_plain_text(const char *text)
{
    size_t size = 0;
    for (; text[size] != '\0'; size++)
        if (text[size] < ' ' || text[size] > '~' || size == LONGEST)
            return false;
    return size > 0;
}

bool tz_nodata_reads(const char *text, tz_dtype dtype, uint16_t bits, tz_nodata *out)
{
    const tz_context strict = {.strict = true, .ifd = -1};
    return is_plain_text(text) && tz_nodata_parse(text, dtype, &strict, out) == TZ_OK &&
           out->kind != TZ_NODATA_NONE && fits_bits(out, bits);
}

bool tz_nodata_fit(const tz_nodata *given, tz_dtype dtype, uint16_t bits, tz_nodata *out)
{
    char text[SPELLED];
    spell(given, text);
    return tz_nodata_reads(text, dtype, bits, out) && kept_integer(given, out);
}

static tz_result fit(tz_image *image, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    tz_nodata fitted;
    char text[SPELLED];
    if ((unsigned)spec->nodata.kind > TZ_NODATA_FLOAT)
        return TZ_REFUSE(ctx, "spec->nodata.kind is %u, which is none of its values",
                         (unsigned)spec->nodata.kind);
    if (!tz_nodata_fit(&spec->nodata, spec->dtype, spec->bits_per_sample, &fitted)) {
        spell(&spec->nodata, text);
        return TZ_REFUSE(ctx, "nodata %s is not a value of type %s with %u bits", text,
                         tz_dtype_name(spec->dtype), spec->bits_per_sample);
    }
    spec->nodata = fitted;
    return TZ_OK;
}

/* Text alone is the value as well. */
static tz_result take_text(tz_image *image, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    tz_nodata told;
    if (!is_plain_text(spec->nodata_text))
        return TZ_REFUSE(ctx, "the text of nodata must be 1 to %d printable characters", LONGEST);
    if (!tz_nodata_reads(spec->nodata_text, spec->dtype, spec->bits_per_sample, &told))
        return TZ_REFUSE(ctx, "nodata '%s' is not a value of type %s with %u bits",
                         spec->nodata_text, tz_dtype_name(spec->dtype), spec->bits_per_sample);
    if (spec->nodata.kind != TZ_NODATA_NONE && !equal(&told, &spec->nodata))
        return TZ_REFUSE(ctx, "the text of nodata, '%s', is another value than nodata itself",
                         spec->nodata_text);
    spec->nodata = told;
    return TZ_OK;
}

static bool is_replacing_nan(const tz_image *image)
{
    const tz_nodata *nodata = &image->spec.nodata;
    return nodata->kind == TZ_NODATA_FLOAT && !isnan(nodata->value.f) &&
           image->sample_format == 3 && image->options.nan_to_nodata;
}

tz_result tz_image_take_nodata(tz_image *image, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    char text[SPELLED];
    const char *shown = spec->nodata_text;
    if (spec->nodata.kind != TZ_NODATA_NONE)
        TZ_TRY(fit(image, ctx));
    if (spec->nodata_text)
        TZ_TRY(take_text(image, ctx));
    if (spec->nodata.kind == TZ_NODATA_NONE)
        return TZ_OK;
    image->nan_to_nodata = is_replacing_nan(image);
    image->choice.nodata = spec->nodata;
    if (!shown) {
        spell(&spec->nodata, text);
        shown = text;
    }
    spec->nodata_text = tz_arena_text(&image->arena, shown, strlen(shown));
    return spec->nodata_text ? TZ_OK : tz_fail_nomem(ctx, strlen(shown) + 1);
}
