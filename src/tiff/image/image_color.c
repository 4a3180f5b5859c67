/* SPDX-License-Identifier: Apache-2.0
 * What bands mean: photometric interpretation, extra samples, colour map. */
#include "tiff/image/image_steps.h"
#include "tiff/tags.h"

enum { UNASSOCIATED_ALPHA = 2 }; /* of ExtraSamples: not premultiplied */

/* What an interpretation asks for. */
typedef struct color_rule {
    tz_photometric name;
    uint16_t number;    /* TIFF's */
    uint16_t max_bands; /* 0: any */
} color_rule;

static const color_rule color_rules[] = {
    {TZ_PHOTOMETRIC_MIN_IS_WHITE, 0, 0}, {TZ_PHOTOMETRIC_MIN_IS_BLACK, 1, 0},
    {TZ_PHOTOMETRIC_RGB, 2, 0},          {TZ_PHOTOMETRIC_PALETTE, 3, 0},
    {TZ_PHOTOMETRIC_CMYK, 5, 0},         {TZ_PHOTOMETRIC_YCBCR, 6, 3},
    {TZ_PHOTOMETRIC_CIELAB, 8, 0},       {TZ_PHOTOMETRIC_ICCLAB, 9, 0},
    {TZ_PHOTOMETRIC_ITULAB, 10, 0},
};

static tz_photometric default_photometric(const tz_image_spec *spec)
{
    if (spec->color_map_size > 0)
        return TZ_PHOTOMETRIC_PALETTE;
    if (spec->dtype == TZ_DTYPE_UINT8 && (spec->bands == 3 || spec->bands == 4))
        return TZ_PHOTOMETRIC_RGB;
    return TZ_PHOTOMETRIC_MIN_IS_BLACK;
}

static const color_rule *find_color_rule(tz_photometric name)
{
    for (size_t i = 0; i < sizeof color_rules / sizeof color_rules[0]; i++)
        if (color_rules[i].name == name)
            return &color_rules[i];
    return NULL;
}

static tz_result resolve_photometric(tz_image *image, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    if (spec->photometric == TZ_PHOTOMETRIC_AUTO)
        spec->photometric = default_photometric(spec);
    if (spec->photometric == TZ_PHOTOMETRIC_MASK)
        return TZ_FAIL_ARG(ctx, "an image cannot be a mask; set spec->mask to give it one");
    const color_rule *rule = find_color_rule(spec->photometric);
    if (!rule)
        return TZ_FAIL_ARG(ctx, "spec->photometric is %u, which is not written",
                           (unsigned)spec->photometric);
    const char *name = tz_photometric_name(rule->number);
    const uint32_t channels = tz_photometric_channels(rule->number);
    if (spec->bands < channels)
        return TZ_FAIL_ARG(ctx, "%s needs %u bands, and the image has %u", name, channels,
                           spec->bands);
    if (rule->max_bands > 0 && spec->bands > rule->max_bands)
        return TZ_FAIL_ARG(ctx, "%s takes %u bands, and the image has %u", name, rule->max_bands,
                           spec->bands);
    image->photometric = rule->number;
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * YCbCr
 * ------------------------------------------------------------------------------------------ */

static tz_result resolve_subsampling(tz_image *image, const tz_context *ctx)
{
    for (unsigned i = 0; i < 2; i++) {
        const uint8_t given = image->options.jpeg_subsampling[i];
        if (given > 2)
            return TZ_FAIL_ARG(ctx, "a subsampling of %u x %u; both must be 1 or 2",
                               image->options.jpeg_subsampling[0],
                               image->options.jpeg_subsampling[1]);
        image->subsampling[i] = given ? given : 2;
    }
    return TZ_OK;
}

static tz_result resolve_ycbcr(tz_image *image, const tz_context *ctx)
{
    const tz_image_spec *spec = &image->spec;
    image->subsampling[0] = image->subsampling[1] = 1;
    if (image->photometric != TZ_PHOTOMETRIC_YCBCR)
        return TZ_OK;
    if (image->options.compression != TZ_COMPRESSION_JPEG)
        return TZ_FAIL_ARG(ctx, "YCbCr is written in JPEG only");
    if (spec->dtype != TZ_DTYPE_UINT8 || spec->bits_per_sample != 8 || image->planar != 1)
        return TZ_FAIL_ARG(ctx, "YCbCr takes samples of uint8, interleaved by pixel");
    return resolve_subsampling(image, ctx);
}

/* ---------------------------------------------------------------------------------------------
 * Extra samples and colour map
 * ------------------------------------------------------------------------------------------ */

static tz_result set_default_extra_samples(tz_image *image, uint32_t count, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    uint16_t *list = tz_arena_array(&image->arena, count, sizeof *list);
    if (!list)
        return tz_fail_nomem(ctx, count * sizeof *list);
    if (image->photometric == TZ_PHOTOMETRIC_RGB && count == 1)
        list[0] = UNASSOCIATED_ALPHA;
    spec->extra_samples = list;
    spec->extra_sample_count = count;
    return TZ_OK;
}

static tz_result resolve_extra_samples(tz_image *image, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    const uint32_t count = spec->bands - tz_photometric_channels(image->photometric);
    void *copy;
    if (!spec->extra_samples && spec->extra_sample_count == 0)
        return count > 0 ? set_default_extra_samples(image, count, ctx) : TZ_OK;
    if (spec->extra_sample_count != count)
        return TZ_FAIL_ARG(ctx, "%u extra samples; %s leaves %u of %u bands",
                           spec->extra_sample_count, tz_photometric_name(image->photometric), count,
                           spec->bands);
    TZ_TRY(tz_image_copy_array(image, spec->extra_samples, count, sizeof *spec->extra_samples,
                               "spec->extra_samples", ctx, &copy));
    spec->extra_samples = copy;
    for (uint32_t i = 0; i < count; i++)
        if (spec->extra_samples[i] > UNASSOCIATED_ALPHA)
            return TZ_FAIL_ARG(ctx, "extra sample %u is %u; it must be 0, 1 or 2", i,
                               spec->extra_samples[i]);
    return TZ_OK;
}

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
    if (image->sample_format > 2 || spec->bits_per_sample > 16)
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
