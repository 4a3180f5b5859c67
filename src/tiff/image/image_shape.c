/* SPDX-License-Identifier: Apache-2.0
 * The size of an image, the type of its samples, and the grid of its tiles. */
#include <stddef.h>

#include "base/mem.h"
#include "tiff/image/image_steps.h"
#include "tiff/layer.h"
#include "tiff/tags.h"

enum { DEFAULT_TILE = 256, COG_TILE = 512, TILE_SIZE_MULTIPLE = 16, DCT_ROWS = 8 };
#define DEFAULT_STRIP_BYTES 65536u

/* ---------------------------------------------------------------------------------------------
 * Type
 * ------------------------------------------------------------------------------------------ */

static uint16_t natural_bits(tz_dtype dtype)
{
    return (uint16_t)(tz_dtype_size(dtype) * 8);
}

/* The SampleFormat of a type; 0 when there is no such type. */
static uint16_t sample_format_of(tz_dtype dtype)
{
    const uint16_t formats[] = {1, 2, 3, 5, 6};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (dtype != TZ_DTYPE_NONE && tz_dtype_of(formats[i], natural_bits(dtype)) == dtype)
            return formats[i];
    return 0;
}

static tz_result check_image_size(const tz_image_spec *spec, const tz_context *ctx)
{
    if (spec->width == 0 || spec->height == 0)
        return TZ_FAIL_ARG(ctx, "an image of %u x %u pixels has none", spec->width, spec->height);
    if (spec->bands == 0 || spec->bands > UINT16_MAX)
        return TZ_FAIL_ARG(ctx, "an image of %u bands; there may be 1 to 65535", spec->bands);
    return TZ_OK;
}

static tz_result resolve_bits_per_sample(tz_image *image, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    const uint16_t natural = natural_bits(spec->dtype);
    const bool integer = image->sample_format <= 2;
    if (spec->bits_per_sample == 0)
        spec->bits_per_sample = natural;
    if (spec->bits_per_sample == natural)
        return TZ_OK;
    if (integer && tz_dtype_of(image->sample_format, spec->bits_per_sample) == spec->dtype)
        return TZ_OK;
    return TZ_FAIL_ARG(ctx, "samples of type %s cannot have %u bits", tz_dtype_name(spec->dtype),
                       spec->bits_per_sample);
}

tz_result tz_image_resolve_type(tz_image *image, const tz_context *ctx)
{
    const tz_image_spec *spec = &image->spec;
    TZ_TRY(check_image_size(spec, ctx));
    image->sample_format = sample_format_of(spec->dtype);
    if (image->sample_format == 0)
        return TZ_FAIL_ARG(ctx, "spec->dtype is %d, which is no type of pixels", (int)spec->dtype);
    const bool separate = image->options.interleave != TZ_INTERLEAVE_PIXEL && spec->bands > 1;
    image->planar = separate ? 2 : 1;
    image->planes = separate ? spec->bands : 1;
    return resolve_bits_per_sample(image, ctx);
}

/* ---------------------------------------------------------------------------------------------
 * Tiles
 * ------------------------------------------------------------------------------------------ */

uint64_t tz_image_rows_bytes(const tz_image *image, uint64_t rows)
{
    const uint64_t samples = image->planar == 2 ? 1 : image->spec.bands;
    const uint64_t bits = (uint64_t)image->tile_width * image->spec.bits_per_sample * samples;
    uint64_t bytes;
    return tz_mul(tz_ceil_div(bits, 8), rows, &bytes) ? bytes : TZ_NONE;
}

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

/* JPEG strips but the last consist of whole blocks. */
static uint32_t strip_row_multiple(const tz_image *image)
{
    if (image->options.compression != TZ_COMPRESSION_JPEG)
        return 1;
    return DCT_ROWS * (image->photometric == TZ_PHOTOMETRIC_YCBCR ? image->subsampling[1] : 1u);
}

static uint32_t default_strip_rows(const tz_image *image)
{
    const uint32_t step = strip_row_multiple(image);
    const uint64_t rows = DEFAULT_STRIP_BYTES / tz_image_rows_bytes(image, 1);
    return rows <= step ? step : (uint32_t)(rows / step) * step;
}

/* A strip that holds all rows; JPEG wants whole blocks here too, and gets fewer rows to encode. */
static uint32_t whole_image_strip_rows(const tz_image *image)
{
    const uint64_t rows = tz_ceil_div(image->spec.height, strip_row_multiple(image)) *
                          (uint64_t)strip_row_multiple(image);
    return rows <= UINT32_MAX ? (uint32_t)rows : image->spec.height;
}

static tz_result resolve_strip_size(tz_image *image, const tz_context *ctx)
{
    const tz_image_spec *spec = &image->spec;
    const tz_write_options *options = &image->options;
    image->tile_width = spec->width;
    if (options->tile_width != 0 && options->tile_width != spec->width)
        return TZ_FAIL_ARG(ctx, "a tile width of %u for strips, which are as wide as the image",
                           options->tile_width);
    image->tile_height = options->tile_height ? options->tile_height : default_strip_rows(image);
    if (image->tile_height >= spec->height)
        image->tile_height = whole_image_strip_rows(image);
    if (image->tile_height % strip_row_multiple(image) == 0)
        return TZ_OK;
    return TZ_FAIL_ARG(ctx, "JPEG strips of %u rows; here they must be a multiple of %u",
                       image->tile_height, strip_row_multiple(image));
}

/* Sizes in tile tables have 32 bits. */
static tz_result check_written_tile_bytes(const tz_image *image, const tz_context *ctx)
{
    const uint64_t bytes = tz_image_rows_bytes(image, image->tile_height);
    TZ_TRY(tz_check_limit(ctx, offsetof(tz_limits, max_tile_bytes), tz_no_location(), bytes,
                          "bytes in one tile"));
    if (bytes <= UINT32_MAX)
        return TZ_OK;
    return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                   tz_expecting(tz_no_location(), UINT32_MAX, bytes),
                   "tiles of 4 GiB and more are not written");
}

static tz_result set_tile_grid(tz_image *image, const tz_context *ctx)
{
    image->tiles_across = (uint32_t)tz_ceil_div(image->spec.width, image->tile_width);
    image->tiles_down = (uint32_t)tz_ceil_div(image->spec.height, image->tile_height);
    const uint64_t tiles_per_plane = (uint64_t)image->tiles_across * image->tiles_down;
    if (tz_mul(tiles_per_plane, image->planes, &image->tile_count) &&
        image->tile_count <= UINT32_MAX)
        return TZ_OK;
    return tz_fail(ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT, tz_no_location(),
                   "%u x %u tiles in %u planes are more than 4294967295; make them larger",
                   image->tiles_across, image->tiles_down, image->planes);
}

tz_result tz_image_resolve_tiles(tz_image *image, const tz_context *ctx)
{
    TZ_TRY(image->options.strips ? resolve_strip_size(image, ctx) : resolve_tile_size(image, ctx));
    TZ_TRY(check_written_tile_bytes(image, ctx));
    TZ_TRY(set_tile_grid(image, ctx));
    image->options.tile_width = image->tile_width;
    image->options.tile_height = image->tile_height;
    return TZ_OK;
}
