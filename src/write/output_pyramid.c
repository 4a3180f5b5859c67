/* SPDX-License-Identifier: Apache-2.0
 * The levels of a file, from the specification of the image.
 *
 * Each level is a specification and options of its own, made from those of the level before and
 * checked by tz_image_init, so that nothing of an overview can fail after the file exists.
 * Overviews differ from the image in their size and perhaps their codec. They have no
 * georeferencing and no metadata, which readers take from the image.
 *
 * Members of the image's codec do not apply to another codec of the overviews; if both have the
 * same compression, they are the defaults of the overviews. */
#include "write/output_pyramid.h"

#include <string.h>

#include "base/mem.h"
#include "codec/codec.h"
#include "tiff/image/image_steps.h"
#include "tiff/tags.h"

/* Returns whether a smaller level follows the last one. */
static bool needs_another_level(const tz_output_pyramid *pyramid)
{
    const tz_image *first = &pyramid->levels[0].image;
    const tz_image *last = &pyramid->levels[pyramid->count - 1].image;
    const int32_t wanted = first->options.overview_count;
    const bool is_point = last->spec.width == 1 && last->spec.height == 1;
    if (!first->options.cog || wanted < 0 || is_point || pyramid->count == TZ_MAX_OUTPUT_LEVELS)
        return false;
    if (wanted > 0)
        return pyramid->count <= (uint32_t)wanted;
    return last->spec.width > last->tile_width || last->spec.height > last->tile_height;
}

/* ---- specification and options ---- */

/* Sets a member of overviews to that of the image if it is not set. */
#define INHERIT(member)                                                                            \
    do {                                                                                           \
        if (own.member == 0)                                                                       \
            own.member = image->member;                                                            \
    } while (0)

/* Returns the codec of overviews, with what it takes from the codec of the image. */
static tz_codec_options overview_codec(const tz_write_options *options)
{
    const tz_codec_options *image = &options->codec;
    tz_codec_options own = options->overview_codec;
    INHERIT(compression);
    if (own.compression == image->compression) {
        INHERIT(effort);
        INHERIT(predictor);
        INHERIT(lerc_compression);
        INHERIT(jpeg_tables);
        INHERIT(max_error);
        if (own.jpeg_subsampling[0] == 0 && own.jpeg_subsampling[1] == 0)
            memcpy(own.jpeg_subsampling, image->jpeg_subsampling, sizeof own.jpeg_subsampling);
        if (own.lossless != TZ_CHOICE_YES) {
            INHERIT(distance);
            INHERIT(alpha_distance);
        }
        if (own.lossless == TZ_CHOICE_AUTO) {
            INHERIT(quality);
            INHERIT(lossless);
        }
    }
    if (own.max_error < 0)
        own.max_error = 0;
    return own;
}

/* Half the size of the level before, rounded up, without anything that describes the image. */
static tz_result make_overview(tz_image *out, const tz_image *before, const tz_context *ctx)
{
    tz_image_spec spec = before->spec;
    tz_write_options options = before->options;
    spec.width = (uint32_t)tz_ceil_div(spec.width, 2);
    spec.height = (uint32_t)tz_ceil_div(spec.height, 2);
    spec.geo = NULL;
    spec.metadata = NULL;
    spec.metadata_count = 0;
    spec.tags = NULL;
    spec.tag_count = 0;
    options.statistics = false;
    options.statistics_items = false;
    options.limits = &before->limits;
    options.codec = overview_codec(&before->options);
    /* RGB whose overviews alone are JPEG becomes YCbCr, as in GDAL: that is a third of the size. */
    const bool to_ycbcr = options.codec.compression == TZ_COMPRESSION_JPEG &&
                          before->options.codec.compression != TZ_COMPRESSION_JPEG &&
                          before->photometric == TZ_PHOTOMETRIC_RGB && before->spec.bands == 3 &&
                          before->spec.dtype == TZ_DTYPE_UINT8 &&
                          options.interleave == TZ_INTERLEAVE_PIXEL;
    if (options.codec.compression != TZ_COMPRESSION_JPEG &&
        spec.photometric == TZ_PHOTOMETRIC_YCBCR)
        spec.photometric = TZ_PHOTOMETRIC_RGB;
    else if (to_ycbcr)
        spec.photometric = TZ_PHOTOMETRIC_YCBCR;
    return tz_image_init(out, &spec, &options, ctx);
}

/* ---- resampling ---- */

static tz_overview_params describe_overview(const tz_image *from, const tz_image *to)
{
    const tz_image_spec *spec = &to->spec;
    /* Colours of a palette cannot be averaged. */
    tz_resampling method = spec->color_map ? TZ_RESAMPLING_NEAREST : TZ_RESAMPLING_AVERAGE;
    if (to->options.overview_resampling != TZ_RESAMPLING_NONE)
        method = to->options.overview_resampling;
    uint32_t extra = spec->extra_sample_count; /* until it is the last alpha band; 0: none */
    while (extra > 0 && spec->extra_samples[extra - 1] != TZ_EXTRA_SAMPLE_PREMULTIPLIED &&
           spec->extra_samples[extra - 1] != TZ_EXTRA_SAMPLE_ALPHA)
        extra--;
    return (tz_overview_params){.method = method,
                                .dtype = spec->dtype,
                                .bits = spec->bits_per_sample,
                                .bands = spec->bands,
                                .nodata = spec->nodata,
                                .mask = spec->mask,
                                .alpha =
                                    extra > 0 ? spec->bands - spec->extra_sample_count + extra : 0,
                                .from_width = from->spec.width,
                                .from_height = from->spec.height,
                                .to_width = spec->width,
                                .to_height = spec->height};
}

/* ---- warnings ---- */

/* Warns of codecs that few readers know: once for each codec, whatever the number of levels. */
static tz_result warn_of_codecs(const tz_output_pyramid *pyramid, const tz_context *ctx)
{
    uint16_t last = 0;
    for (uint32_t i = 0; i < pyramid->count; i++) {
        const uint16_t codec = pyramid->levels[i].image.format.compression;
        const char *readers = codec != last ? tz_compression_readers(codec) : NULL;
        last = codec;
        if (readers) {
            tz_location location = tz_at_tag(TZ_TAG_COMPRESSION, TZ_NO_VALUE);
            location.found = codec;
            TZ_TRY(tz_warn(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, location, "%s: %s",
                           tz_compression_name(codec), readers));
        }
    }
    return TZ_OK;
}

/* Warns once if pixels near nodata become nodata, or the reverse. LERC keeps nodata also if it is
 * lossy. */
static tz_result warn_of_nodata(const tz_output_pyramid *pyramid, const tz_context *ctx)
{
    for (uint32_t i = 0; i < pyramid->count; i++) {
        const tz_image *image = &pyramid->levels[i].image;
        const tz_encoder *encoder = image->encoder;
        if (image->spec.nodata.kind != TZ_NODATA_KIND_NONE && encoder->lossy &&
            encoder->lossy(&image->format, &image->choice) &&
            image->format.compression != TZ_COMPRESSION_LERC)
            return tz_warn(ctx, TZ_ERR_ARG, TZ_CAUSE_META,
                           tz_at_tag(TZ_TAG_GDAL_NODATA, TZ_NO_VALUE),
                           "nodata pixels (%s) are read back with other values: %s is lossy",
                           image->spec.nodata_text, tz_compression_name(image->format.compression));
    }
    return TZ_OK;
}

/* count is raised before a level is made, so that deinit releases also a level that failed. */
tz_result tz_output_pyramid_make(tz_output_pyramid *out, const tz_image_spec *spec,
                                 const tz_write_options *options, const tz_context *ctx)
{
    tz_write_options own = TZ_WRITE_OPTIONS_INIT;
    out->count = 1;
    TZ_TRY(tz_copy_struct(&own, sizeof own, options, "options", "TZ_WRITE_OPTIONS_INIT", ctx));
    /* Writing on the device `cpu` is writing without a device. */
    if (own.device && strcmp(tz_device_get_info(own.device)->driver, "cpu") == 0)
        own.device = NULL;
    TZ_TRY(tz_image_init(&out->levels[0].image, spec, &own, ctx));
    while (needs_another_level(out)) {
        const tz_image *before = &out->levels[out->count - 1].image;
        tz_output_level *level = &out->levels[out->count++];
        TZ_TRY(make_overview(&level->image, before, ctx));
        level->overview = describe_overview(before, &level->image);
        const tz_resampling method = level->overview.method;
        const char *wrong = tz_resampling_unsupported(method, level->image.spec.dtype,
                                                      level->image.spec.color_map != NULL);
        if (wrong)
            return TZ_FAIL_ARG(ctx, "overviews cannot be made by %s: %s",
                               tz_resampling_name(method), wrong);
    }
    TZ_TRY(warn_of_codecs(out, ctx));
    return warn_of_nodata(out, ctx);
}

void tz_output_pyramid_deinit(tz_output_pyramid *pyramid)
{
    for (uint32_t i = 0; i < pyramid->count; i++)
        tz_image_deinit(&pyramid->levels[i].image);
    pyramid->count = 0;
}
