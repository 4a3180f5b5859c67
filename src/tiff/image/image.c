/* SPDX-License-Identifier: Apache-2.0
 * From a specification and options to an image that can be written: the order of the checks, those
 * of single options, the type of samples, and the grid of tiles.
 *
 * tz_image_init copies the caller's structs, which may be older and shorter, and runs the steps of
 * image_steps.h. Each step checks one subject, fills in its defaults and replaces pointers by
 * copies in the image's arena, so that the caller may free everything after the call. The order
 * matters: the grid of strips depends on the codec, and nodata on the type. Nothing is created
 * before all steps have passed. */
#include "tiff/image/image.h"

#include <stddef.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "tiff/image/image_steps.h"
#include "tiff/layer.h"
#include "tiff/tags.h"

enum {
    MAX_ALIGNMENT = 65536,
    DEFAULT_TILE = 256,
    COG_TILE = 512,
    TILE_SIZE_MULTIPLE = 16,
    DCT_ROWS = 8
};
/* Bytes of decoded pixels in a strip: as many whole rows as fit, at least one. */
#define DEFAULT_STRIP_BYTES 65536u

/* ---- options ---- */

/* It is embedded in tz_write_options, so it must never change its size. */
_Static_assert(sizeof(tz_codec_options) == 128, "tz_codec_options");

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
        bytes = TZ_NO_VALUE;
    if (bytes != TZ_NO_VALUE && tz_to_size(bytes, &memory))
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

tz_result tz_copy_elements(void *out, size_t size, const void *array, uint32_t count,
                           const char *argument, const char *init, const tz_context *ctx)
{
    if (count > 0 && !array)
        return TZ_FAIL_ARG(ctx, "%s is NULL, although its count is %u", argument, count);
    for (uint32_t i = 0; i < count; i++) {
        char *element = (char *)out + i * size;
        memset(element, 0, size); /* the caller's may be shorter */
        TZ_TRY(tz_copy_element(element, size, array, i, argument, init, ctx));
    }
    return TZ_OK;
}

tz_result tz_copy_geo(tz_arena *arena, const tz_geo *given, const tz_context *ctx, tz_geo **out)
{
    tz_geo *geo = tz_arena_array(arena, 1, sizeof *geo);
    if (!geo)
        return tz_fail_nomem(ctx, sizeof *geo);
    *geo = (tz_geo)TZ_GEO_INIT;
    *out = geo;
    return tz_copy_struct(geo, sizeof *geo, given, "spec->geo", "TZ_GEO_INIT", ctx);
}

/* A number that must be one of a C enumeration; its type may hold any number. */
typedef struct enum_check {
    unsigned value;
    unsigned last;
    const char *name;
} enum_check;

/* Checks the members of one codec that hold for every compression. */
static tz_result check_codec_options(const tz_codec_options *codec, const char *name,
                                     const tz_context *ctx)
{
    if ((unsigned)codec->lossless > TZ_CHOICE_NO)
        return TZ_FAIL_ARG(ctx, "options->%s.lossless is %u, which is none of its values", name,
                           (unsigned)codec->lossless);
    if ((unsigned)codec->jpeg_tables > TZ_JPEG_TABLES_NONE)
        return TZ_FAIL_ARG(ctx, "options->%s.jpeg_tables is %u, which is none of its values", name,
                           (unsigned)codec->jpeg_tables);
    for (size_t i = 0; i < sizeof codec->reserved; i++)
        if (codec->reserved[i] != 0)
            return TZ_FAIL_ARG(ctx,
                               "options->%s sets a member that this version of the library does "
                               "not have, at byte %zu",
                               name, offsetof(tz_codec_options, reserved) + i);
    return TZ_OK;
}

/* Checks options by themselves, before any of them is used. */
static tz_result check_options(const tz_write_options *options, const tz_context *ctx)
{
    const enum_check checks[] = {
        {(unsigned)options->interleave, TZ_INTERLEAVE_TILE, "interleave"},
        {(unsigned)options->bigtiff, TZ_BIGTIFF_IF_SAFER, "bigtiff"},
        {(unsigned)options->verify, TZ_VERIFY_NONE, "verify"},
        {(unsigned)options->overview_resampling, TZ_RESAMPLING_MEDIAN, "overview_resampling"},
    };
    const uint32_t alignment = options->alignment;
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (checks[i].value > checks[i].last)
            return TZ_FAIL_ARG(ctx, "options->%s is %u, which is none of its values",
                               checks[i].name, checks[i].value);
    TZ_TRY(check_codec_options(&options->codec, "codec", ctx));
    TZ_TRY(check_codec_options(&options->overview_codec, "overview_codec", ctx));
    TZ_TRY(check_codec_options(&options->mask_codec, "mask_codec", ctx));
    if (alignment > MAX_ALIGNMENT || (alignment & (alignment - 1)) != 0) /* 0 passes */
        return TZ_FAIL_ARG(ctx, "the alignment is %u; it must be a power of two up to %d",
                           alignment, MAX_ALIGNMENT);
    if (options->cog && options->strips)
        return TZ_FAIL_ARG(ctx, "a Cloud Optimized GeoTIFF has tiles, not strips");
    if (options->cog && alignment > 1)
        return TZ_FAIL_ARG(ctx,
                           "tiles of a Cloud Optimized GeoTIFF follow each other; they cannot "
                           "be aligned to %u bytes",
                           alignment);
    return TZ_OK;
}

/* ---- type ---- */

static uint16_t natural_bits(tz_dtype dtype)
{
    return (uint16_t)(tz_dtype_size(dtype) * 8);
}

/* Returns the SampleFormat of a type; 0 if there is no such type. The table of reading (layer.c) is
 * asked for each format, so that there is no second table to keep. */
static uint16_t sample_format_of(tz_dtype dtype)
{
    static const uint16_t formats[] = {TZ_SAMPLE_FORMAT_UINT, TZ_SAMPLE_FORMAT_INT,
                                       TZ_SAMPLE_FORMAT_FLOAT, TZ_SAMPLE_FORMAT_COMPLEX_INT,
                                       TZ_SAMPLE_FORMAT_COMPLEX_FLOAT};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (dtype != TZ_DTYPE_NONE && tz_dtype_of(formats[i], natural_bits(dtype)) == dtype)
            return formats[i];
    return 0;
}

/* Checks size, bands and type, and decides how bands are stored. Integers may have fewer bits than
 * their type; other samples have all of them. */
tz_result tz_image_resolve_type(tz_image *image, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    if (spec->width == 0 || spec->height == 0)
        return TZ_FAIL_ARG(ctx, "an image of %u x %u pixels has none", spec->width, spec->height);
    if (spec->bands == 0 || spec->bands > UINT16_MAX)
        return TZ_FAIL_ARG(ctx, "an image of %u bands; there may be 1 to 65535", spec->bands);
    image->sample_format = sample_format_of(spec->dtype);
    if (image->sample_format == 0)
        return TZ_FAIL_ARG(ctx, "spec->dtype is %d, which is not a type of pixels",
                           (int)spec->dtype);
    const bool separate = image->options.interleave != TZ_INTERLEAVE_PIXEL && spec->bands > 1;
    image->planar = separate ? TZ_PLANAR_SEPARATE : TZ_PLANAR_CONTIG;
    image->planes = separate ? spec->bands : 1;
    const uint16_t natural = natural_bits(spec->dtype);
    if (spec->bits_per_sample == 0)
        spec->bits_per_sample = natural;
    if (spec->bits_per_sample == natural ||
        (image->sample_format <= TZ_SAMPLE_FORMAT_INT &&
         tz_dtype_of(image->sample_format, spec->bits_per_sample) == spec->dtype))
        return TZ_OK;
    return TZ_FAIL_ARG(ctx, "samples of type %s cannot have %u bits", tz_dtype_name(spec->dtype),
                       spec->bits_per_sample);
}

/* ---- tiles ---- */

uint64_t tz_image_rows_bytes(const tz_image *image, uint64_t rows)
{
    const uint64_t samples = image->planar == TZ_PLANAR_SEPARATE ? 1 : image->spec.bands;
    const uint64_t bits = (uint64_t)image->tile_width * image->spec.bits_per_sample * samples;
    uint64_t bytes;
    return tz_mul(tz_ceil_div(bits, 8), rows, &bytes) ? bytes : TZ_NO_VALUE;
}

/* The standard asks for multiples of 16. Square tiles are GDAL's rule for a COG. */
static tz_result resolve_tile_size(tz_image *image, const tz_context *ctx)
{
    const tz_write_options *options = &image->options;
    const uint32_t usual = options->cog ? COG_TILE : DEFAULT_TILE;
    image->tile_width = options->tile_width ? options->tile_width : usual;
    image->tile_height = options->tile_height ? options->tile_height : usual;
    if (options->cog && image->tile_width != image->tile_height)
        return TZ_FAIL_ARG(ctx, "tiles of %u x %u; those of a Cloud Optimized GeoTIFF are square",
                           image->tile_width, image->tile_height);
    if (image->tile_width % TILE_SIZE_MULTIPLE == 0 && image->tile_height % TILE_SIZE_MULTIPLE == 0)
        return TZ_OK;
    return TZ_FAIL_ARG(ctx, "tiles of %u x %u; both must be multiples of %d", image->tile_width,
                       image->tile_height, TILE_SIZE_MULTIPLE);
}

/* All JPEG strips except the last consist of whole blocks, of 8 rows or, subsampled, of 16. A strip
 * that holds all rows has whole blocks too, and gets fewer rows to encode. */
static tz_result resolve_strip_size(tz_image *image, const tz_context *ctx)
{
    const tz_image_spec *spec = &image->spec;
    const tz_write_options *options = &image->options;
    const bool subsampled = image->photometric == TZ_PHOTOMETRIC_YCBCR;
    const uint32_t step = options->codec.compression != TZ_COMPRESSION_JPEG ? 1
                          : subsampled ? DCT_ROWS * (uint32_t)image->subsampling[1]
                                       : DCT_ROWS;
    image->tile_width = spec->width;
    if (options->tile_width != 0 && options->tile_width != spec->width)
        return TZ_FAIL_ARG(ctx, "a tile width of %u for strips, which are as wide as the image",
                           options->tile_width);
    image->tile_height = options->tile_height;
    if (image->tile_height == 0) {
        const uint64_t rows = DEFAULT_STRIP_BYTES / tz_image_rows_bytes(image, 1);
        image->tile_height = rows <= step ? step : (uint32_t)(rows / step) * step;
    }
    if (image->tile_height >= spec->height) {
        const uint64_t rows = tz_ceil_div(spec->height, step) * (uint64_t)step;
        image->tile_height = rows <= UINT32_MAX ? (uint32_t)rows : spec->height;
    }
    if (image->tile_height % step == 0)
        return TZ_OK;
    return TZ_FAIL_ARG(ctx, "JPEG strips of %u rows; here they must be a multiple of %u",
                       image->tile_height, step);
}

/* Sizes in tile tables have 32 bits, and so has the number of tiles. */
tz_result tz_image_resolve_tiles(tz_image *image, const tz_context *ctx)
{
    TZ_TRY(image->options.strips ? resolve_strip_size(image, ctx) : resolve_tile_size(image, ctx));
    const uint64_t bytes = tz_image_rows_bytes(image, image->tile_height);
    TZ_TRY(tz_check_limit(ctx, offsetof(tz_limits, max_tile_bytes), tz_no_location(), bytes,
                          "bytes in one tile"));
    if (bytes > UINT32_MAX)
        return TZ_FAIL_UNSUPPORTED(ctx, tz_expecting(tz_no_location(), UINT32_MAX, bytes),
                                   "tiles of 4 GiB and more are not written");
    image->tiles_across = (uint32_t)tz_ceil_div(image->spec.width, image->tile_width);
    image->tiles_down = (uint32_t)tz_ceil_div(image->spec.height, image->tile_height);
    const uint64_t tiles_per_plane = (uint64_t)image->tiles_across * image->tiles_down;
    if (!tz_mul(tiles_per_plane, image->planes, &image->tile_count) ||
        image->tile_count > UINT32_MAX)
        return tz_fail(ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT, tz_no_location(),
                       "%u x %u tiles in %u planes are more than 4294967295; make them larger",
                       image->tiles_across, image->tiles_down, image->planes);
    image->options.tile_width = image->tile_width;
    image->options.tile_height = image->tile_height;
    return TZ_OK;
}

/* ---- all steps ---- */

tz_result tz_image_init(tz_image *out, const tz_image_spec *spec, const tz_write_options *options,
                        const tz_context *ctx)
{
    static tz_result (*const steps[])(tz_image *, const tz_context *) = {
        tz_image_resolve_type,  tz_image_resolve_colors,   tz_image_resolve_codec,
        tz_image_resolve_tiles, tz_image_resolve_encoding, tz_image_resolve_nodata,
        tz_image_resolve_geo,   tz_image_resolve_metadata, tz_image_resolve_extra_tags,
    };
    void *copy = NULL;
    *out = (tz_image){.spec = TZ_IMAGE_SPEC_INIT, .options = TZ_WRITE_OPTIONS_INIT};
    if (!spec)
        return TZ_FAIL_ARG(ctx, "there is no specification of the image");
    TZ_TRY(tz_copy_struct(&out->spec, sizeof out->spec, spec, "spec", "TZ_IMAGE_SPEC_INIT", ctx));
    TZ_TRY(tz_copy_struct(&out->options, sizeof out->options, options, "options",
                          "TZ_WRITE_OPTIONS_INIT", ctx));
    if (out->options.codec.compression == TZ_COMPRESSION_DEFAULT)
        out->options.codec.compression = TZ_COMPRESSION_DEFLATE;
    TZ_TRY(tz_limits_copy(&out->limits, out->options.limits, "options->limits", ctx));
    out->options.limits = NULL;
    TZ_TRY(check_options(&out->options, ctx));
    tz_context within = *ctx;
    within.limits = &out->limits;
    const char *spool = out->options.spool_directory;
    TZ_TRY(tz_image_copy_array(out, spool, spool ? strlen(spool) + 1 : 0, 1, "spool_directory",
                               &within, &copy));
    out->options.spool_directory = copy;
    if (out->spec.orientation == 0)
        out->spec.orientation = 1;
    if (out->spec.orientation > 8)
        return TZ_FAIL_ARG(&within, "the orientation is %u; it must be 1 to 8",
                           out->spec.orientation);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        TZ_TRY(steps[i](out, &within));
    return TZ_OK;
}

void tz_image_deinit(tz_image *image)
{
    tz_arena_deinit(&image->arena);
    *image = (tz_image){0};
}
