/* SPDX-License-Identifier: Apache-2.0
 * From a specification and options to an image that can be written: the order of the checks, and
 * those of single options. */
#include "tiff/image/image.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "tiff/image/image_steps.h"

enum { MAX_ALIGNMENT = 65536 };

static bool is_known_struct_size(size_t given, size_t known)
{
    return given >= sizeof given && given <= known;
}

static tz_result copy_spec(tz_image_spec *out, const tz_image_spec *given, const tz_context *ctx)
{
    *out = (tz_image_spec)TZ_IMAGE_SPEC_INIT;
    if (!given)
        return TZ_FAIL_ARG(ctx, "there is no specification of the image");
    if (!is_known_struct_size(given->struct_size, sizeof *given))
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), sizeof *given, given->struct_size),
                       "spec->struct_size is wrong; use TZ_IMAGE_SPEC_INIT");
    memcpy(out, given, given->struct_size);
    return TZ_OK;
}

static tz_result copy_write_options(tz_write_options *out, const tz_write_options *given,
                                    const tz_context *ctx)
{
    *out = (tz_write_options)TZ_WRITE_OPTIONS_INIT;
    if (given) {
        if (!is_known_struct_size(given->struct_size, sizeof *given))
            return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                           tz_expecting(tz_no_location(), sizeof *given, given->struct_size),
                           "options->struct_size is wrong; use TZ_WRITE_OPTIONS_INIT");
        memcpy(out, given, given->struct_size);
    }
    if (out->compression == TZ_COMPRESSION_DEFAULT)
        out->compression = TZ_COMPRESSION_DEFLATE;
    if (out->device && strcmp(tz_device_get_info(out->device)->driver, "cores") == 0)
        out->device = NULL;
    const tz_limits limits = out->limits;
    tz_limits_resolve(&out->limits, &limits);
    return TZ_OK;
}

tz_result tz_copy_array(tz_arena *arena, const void *data, uint64_t count, size_t size,
                        const tz_context *ctx, void **out)
{
    uint64_t bytes;
    size_t memory;
    void *copy = NULL;
    *out = NULL;
    if (count == 0)
        return TZ_OK;
    if (!tz_mul(count, size, &bytes))
        bytes = TZ_NONE;
    if (bytes != TZ_NONE && tz_to_size(bytes, &memory))
        copy = tz_arena_alloc(arena, memory);
    if (!copy)
        return tz_fail_nomem(ctx, bytes);
    *out = memcpy(copy, data, memory);
    return TZ_OK;
}

tz_result tz_image_copy_array(tz_image *image, const void *data, uint64_t count, size_t size,
                              const char *what, const tz_context *ctx, void **out)
{
    if (count > 0 && !data)
        return TZ_FAIL_ARG(ctx, "%s is NULL, although its count is %llu", what,
                           (unsigned long long)count);
    return tz_copy_array(&image->arena, data, count, size, ctx, out);
}

/* A number that must be one of a C enumeration, whose type may hold any. */
typedef struct enum_check {
    unsigned value;
    unsigned last;
    const char *name;
} enum_check;

static tz_result check_enum_options(const tz_write_options *options, const tz_context *ctx)
{
    const enum_check checks[] = {
        {(unsigned)options->interleave, TZ_INTERLEAVE_TILE, "interleave"},
        {(unsigned)options->bigtiff, TZ_BIGTIFF_IF_SAFER, "bigtiff"},
        {(unsigned)options->lossless, TZ_NO, "lossless"},
        {(unsigned)options->overview_lossless, TZ_NO, "overview_lossless"},
        {(unsigned)options->jpeg_tables, TZ_JPEG_TABLES_NONE, "jpeg_tables"},
        {(unsigned)options->verify, TZ_VERIFY_NONE, "verify"},
        {(unsigned)options->overview_resampling, TZ_RESAMPLE_MEDIAN, "overview_resampling"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (checks[i].value > checks[i].last)
            return TZ_FAIL_ARG(ctx, "options->%s is %u, which is none of its values",
                               checks[i].name, checks[i].value);
    return TZ_OK;
}

static tz_result check_tile_alignment(const tz_write_options *options, const tz_context *ctx)
{
    const uint32_t alignment = options->alignment;
    if (alignment <= MAX_ALIGNMENT && (alignment & (alignment - 1)) == 0) /* 0 passes as well */
        return TZ_OK;
    return TZ_FAIL_ARG(ctx, "the alignment is %u; it must be a power of two up to %d", alignment,
                       MAX_ALIGNMENT);
}

static tz_result check_cog_options(const tz_write_options *options, const tz_context *ctx)
{
    if (options->cog && options->strips)
        return TZ_FAIL_ARG(ctx, "a Cloud Optimized GeoTIFF has tiles, not strips");
    if (options->cog && options->alignment > 1)
        return TZ_FAIL_ARG(ctx,
                           "tiles of a Cloud Optimized GeoTIFF follow each other; they cannot "
                           "be aligned to %u bytes",
                           options->alignment);
    return TZ_OK;
}

static tz_result copy_spool_directory(tz_image *image, const tz_context *ctx)
{
    const char *given = image->options.spool_directory;
    void *copy = NULL;
    TZ_TRY(tz_image_copy_array(image, given, given ? strlen(given) + 1 : 0, 1, "spool_directory",
                               ctx, &copy));
    image->options.spool_directory = copy;
    return TZ_OK;
}

static tz_result resolve_orientation(tz_image *image, const tz_context *ctx)
{
    uint16_t *orientation = &image->spec.orientation;
    if (*orientation == 0)
        *orientation = 1;
    if (*orientation > 8)
        return TZ_FAIL_ARG(ctx, "the orientation is %u; it must be 1 to 8", *orientation);
    return TZ_OK;
}

tz_result tz_image_init(tz_image *out, const tz_image_spec *spec, const tz_write_options *options,
                        const tz_context *ctx)
{
    static tz_result (*const steps[])(tz_image *, const tz_context *) = {
        copy_spool_directory,      resolve_orientation,         tz_image_resolve_type,
        tz_image_resolve_colors,   tz_image_resolve_codec,      tz_image_resolve_tiles,
        tz_image_resolve_encoding, tz_image_resolve_nodata,     tz_image_resolve_geo,
        tz_image_resolve_metadata, tz_image_resolve_extra_tags,
    };
    *out = (tz_image){0};
    TZ_TRY(copy_spec(&out->spec, spec, ctx));
    TZ_TRY(copy_write_options(&out->options, options, ctx));
    TZ_TRY(check_enum_options(&out->options, ctx));
    TZ_TRY(check_tile_alignment(&out->options, ctx));
    TZ_TRY(check_cog_options(&out->options, ctx));
    tz_context within = *ctx;
    within.limits = &out->options.limits;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        TZ_TRY(steps[i](out, &within));
    return TZ_OK;
}

void tz_image_deinit(tz_image *image)
{
    tz_arena_deinit(&image->arena);
    *image = (tz_image){0};
}
