/* SPDX-License-Identifier: Apache-2.0
 * The meaning of samples in an image to be written: photometric interpretation, extra samples,
 * colour map and nodata. Each step checks the specification, fills in defaults, and replaces
 * pointers by copies in the image's arena.
 *
 * The first bands are the channels of the interpretation, and all others are extra samples: their
 * number must be right, because readers find alpha and unspecified bands by counting from the
 * end. */
#include <math.h>
#include <string.h>

#include "tiff/gdal/nodata.h"
#include "tiff/image/image_steps.h"
#include "tiff/tags.h"

/* ---- photometric interpretation ---- */

tz_photometric tz_spec_photometric(const tz_image_spec *spec)
{
    const bool is_rgb = spec->dtype == TZ_DTYPE_UINT8 && (spec->bands == 3 || spec->bands == 4);
    if (spec->photometric != TZ_PHOTOMETRIC_AUTO)
        return spec->photometric;
    return spec->color_map_size > 0 ? TZ_PHOTOMETRIC_PALETTE
           : is_rgb                 ? TZ_PHOTOMETRIC_RGB
                                    : TZ_PHOTOMETRIC_MIN_IS_BLACK;
}

/* Interpretations up to ITULab that have a name are written. YCbCr takes no extra samples. */
static tz_result resolve_photometric(tz_image *image, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    spec->photometric = tz_spec_photometric(spec);
    if (spec->photometric == TZ_PHOTOMETRIC_MASK)
        return TZ_FAIL_ARG(ctx, "an image cannot be a mask; set spec->mask to give it one");
    const uint32_t number = tz_photometric_number(spec->photometric);
    const char *name =
        number <= TZ_PHOTOMETRIC_ITULAB ? tz_photometric_name((uint16_t)number) : NULL;
    if (!name)
        return TZ_FAIL_ARG(ctx, "spec->photometric is %u, which is not written",
                           (unsigned)spec->photometric);
    const uint32_t channels = tz_photometric_channels((uint16_t)number);
    if (spec->bands < channels)
        return TZ_FAIL_ARG(ctx, "%s needs %u bands, and the image has %u", name, channels,
                           spec->bands);
    if (number == TZ_PHOTOMETRIC_YCBCR && spec->bands > channels)
        return TZ_FAIL_ARG(ctx, "%s takes %u bands, and the image has %u", name, channels,
                           spec->bands);
    image->photometric = (uint16_t)number;
    return TZ_OK;
}

/* Rows come as RGB, and the JPEG codec converts them. Factors that are not given are 2. */
static tz_result resolve_ycbcr(tz_image *image, const tz_context *ctx)
{
    const tz_image_spec *spec = &image->spec;
    image->subsampling[0] = image->subsampling[1] = 1;
    if (image->photometric != TZ_PHOTOMETRIC_YCBCR)
        return TZ_OK;
    if (image->options.codec.compression != TZ_COMPRESSION_JPEG)
        return TZ_FAIL_ARG(ctx, "YCbCr is written in JPEG only");
    if (spec->dtype != TZ_DTYPE_UINT8 || spec->bits_per_sample != 8 ||
        image->planar != TZ_PLANAR_CONTIG)
        return TZ_FAIL_ARG(ctx, "YCbCr takes samples of uint8, interleaved by pixel");
    for (unsigned i = 0; i < 2; i++) {
        const uint8_t given = image->options.codec.jpeg_subsampling[i];
        if (given > 2)
            return TZ_FAIL_ARG(ctx, "a subsampling of %u x %u; both must be 1 or 2",
                               image->options.codec.jpeg_subsampling[0],
                               image->options.codec.jpeg_subsampling[1]);
        image->subsampling[i] = given ? given : 2;
    }
    return TZ_OK;
}

/* ---- extra samples and colour map ---- */

/* Without a list, the one band after RGB is alpha, and any others are unspecified. */
static tz_result resolve_extra_samples(tz_image *image, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    const uint32_t count = spec->bands - tz_photometric_channels(image->photometric);
    void *copy;
    if (!spec->extra_samples && spec->extra_sample_count == 0 && count > 0) {
        uint16_t *list = tz_arena_array(&image->arena, count, sizeof *list);
        if (!list)
            return tz_fail_nomem(ctx, count * sizeof *list);
        if (image->photometric == TZ_PHOTOMETRIC_RGB && count == 1)
            list[0] = TZ_EXTRA_SAMPLE_ALPHA;
        spec->extra_samples = list;
        spec->extra_sample_count = count;
        return TZ_OK;
    }
    if (spec->extra_sample_count != count)
        return TZ_FAIL_ARG(ctx, "%u extra samples; %s leaves %u of %u bands",
                           spec->extra_sample_count, tz_photometric_name(image->photometric), count,
                           spec->bands);
    TZ_TRY(tz_image_copy_array(image, spec->extra_samples, count, sizeof *spec->extra_samples,
                               "spec->extra_samples", ctx, &copy));
    spec->extra_samples = copy;
    for (uint32_t i = 0; i < count; i++)
        if (spec->extra_samples[i] > TZ_EXTRA_SAMPLE_ALPHA)
            return TZ_FAIL_ARG(ctx, "extra sample %u is %u; it must be 0, 1 or 2", i,
                               spec->extra_samples[i]);
    return TZ_OK;
}

/* The map has an entry for every value that samples of this depth can have: all reds, then all
 * greens, then all blues. */
static tz_result resolve_color_map(tz_image *image, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    const bool palette = image->photometric == TZ_PHOTOMETRIC_PALETTE;
    void *copy;
    if (!palette && spec->color_map_size > 0)
        return TZ_FAIL_ARG(ctx, "a colour map is for palettes, and the image is %s",
                           tz_photometric_name(image->photometric));
    if (!palette) {
        spec->color_map = NULL;
        return TZ_OK;
    }
    if (image->sample_format > TZ_SAMPLE_FORMAT_INT || spec->bits_per_sample > 16)
        return TZ_FAIL_ARG(ctx, "a palette takes integers of up to 16 bits");
    const uint32_t wanted = UINT32_C(1) << spec->bits_per_sample;
    if (spec->color_map_size != wanted)
        return TZ_FAIL_ARG(ctx, "a colour map of %u entries; samples of %u bits need %u",
                           spec->color_map_size, spec->bits_per_sample, wanted);
    TZ_TRY(tz_image_copy_array(image, spec->color_map, 3 * (uint64_t)wanted,
                               sizeof *spec->color_map, "spec->color_map", ctx, &copy));
    spec->color_map = copy;
    return TZ_OK;
}

tz_result tz_image_resolve_colors(tz_image *image, const tz_context *ctx)
{
    TZ_TRY(resolve_photometric(image, ctx));
    TZ_TRY(resolve_ycbcr(image, ctx));
    TZ_TRY(resolve_extra_samples(image, ctx));
    return resolve_color_map(image, ctx);
}

/* ---- nodata ---- */

/* NaN is equal to NaN here. Signed and unsigned integers differ in kind. */
static bool is_equal_nodata(const tz_nodata *a, const tz_nodata *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind != TZ_NODATA_KIND_FLOAT)
        return a->value.u == b->value.u;
    return a->value.f == b->value.f || (isnan(a->value.f) && isnan(b->value.f));
}

/* Value and text must agree, and either gives the other. The value must be one that samples of this
 * type and depth can have. */
tz_result tz_image_resolve_nodata(tz_image *image, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    const uint16_t bits = spec->bits_per_sample;
    const char *shown = spec->nodata_text;
    char text[TZ_NODATA_TEXT_SIZE];
    tz_nodata value;
    if (spec->nodata.kind != TZ_NODATA_KIND_NONE) {
        if ((unsigned)spec->nodata.kind > TZ_NODATA_KIND_FLOAT)
            return TZ_FAIL_ARG(ctx, "spec->nodata.kind is %u, which is none of its values",
                               (unsigned)spec->nodata.kind);
        tz_nodata_format(&spec->nodata, text);
        if (!tz_nodata_fit_type(&spec->nodata, spec->dtype, bits, &value))
            return TZ_FAIL_ARG(ctx, "nodata %s is not a value of type %s with %u bits", text,
                               tz_dtype_name(spec->dtype), bits);
        spec->nodata = value;
    }
    if (shown) {
        if (!tz_nodata_is_printable(shown))
            return TZ_FAIL_ARG(ctx, "the text of nodata must be 1 to %d printable characters",
                               TZ_MAX_NODATA_TEXT);
        if (!tz_nodata_parse_exact(shown, spec->dtype, bits, &value))
            return TZ_FAIL_ARG(ctx, "nodata '%s' is not a value of type %s with %u bits", shown,
                               tz_dtype_name(spec->dtype), bits);
        if (spec->nodata.kind != TZ_NODATA_KIND_NONE && !is_equal_nodata(&value, &spec->nodata))
            return TZ_FAIL_ARG(ctx, "the text of nodata, '%s', is another value than nodata itself",
                               shown);
        spec->nodata = value;
    }
    if (spec->nodata.kind == TZ_NODATA_KIND_NONE)
        return TZ_OK;
    image->nan_to_nodata =
        spec->nodata.kind == TZ_NODATA_KIND_FLOAT && !isnan(spec->nodata.value.f) &&
        image->sample_format == TZ_SAMPLE_FORMAT_FLOAT && image->options.nan_to_nodata;
    image->choice.nodata = spec->nodata;
    if (!shown) {
        tz_nodata_format(&spec->nodata, text);
        shown = text;
    }
    spec->nodata_text = tz_arena_text(&image->arena, shown, strlen(shown));
    return spec->nodata_text ? TZ_OK : tz_fail_nomem(ctx, strlen(shown) + 1);
}
