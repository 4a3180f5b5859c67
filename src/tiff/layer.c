/* SPDX-License-Identifier: Apache-2.0
 * From a directory to a layer: one grid of tiles, with the type of its samples and its tile tables.
 *
 * tz_layer_from_ifd sets the shape and runs the checks one after the other. A defect that costs the
 * pixels is a warning, and `readable` becomes false: the file still opens, and a read of the layer
 * fails with a reason. Sizes come from the file, so that all products are checked: a tile may have
 * more bytes than fit 64 bits. Old-style JPEG in one tile may be a single stream that no table
 * points to; its position then comes from JPEGInterchangeFormat. */
#include "tiff/layer.h"

#include <stddef.h>

#include "base/mem.h"
#include "base/minmax.h"
#include "codec/codec.h"
#include "tiff/tags.h"

/* ---- types ---- */

typedef struct dtype_row {
    uint16_t format;
    uint16_t min_bits;
    uint16_t max_bits;
    tz_dtype dtype;
} dtype_row;

/* Samples are delivered in the narrowest type that holds them. Depths without a row, such as
 * integers of 33 to 63 bits, are not read; a float of 24 bits is widened. */
static const dtype_row dtype_rows[] = {
    {TZ_SAMPLE_FORMAT_UINT, 1, 8, TZ_DTYPE_UINT8},
    {TZ_SAMPLE_FORMAT_UINT, 9, 16, TZ_DTYPE_UINT16},
    {TZ_SAMPLE_FORMAT_UINT, 17, 32, TZ_DTYPE_UINT32},
    {TZ_SAMPLE_FORMAT_UINT, 64, 64, TZ_DTYPE_UINT64},
    {TZ_SAMPLE_FORMAT_INT, 2, 8, TZ_DTYPE_INT8},
    {TZ_SAMPLE_FORMAT_INT, 9, 16, TZ_DTYPE_INT16},
    {TZ_SAMPLE_FORMAT_INT, 17, 32, TZ_DTYPE_INT32},
    {TZ_SAMPLE_FORMAT_INT, 64, 64, TZ_DTYPE_INT64},
    {TZ_SAMPLE_FORMAT_FLOAT, 16, 16, TZ_DTYPE_FLOAT16},
    {TZ_SAMPLE_FORMAT_FLOAT, 24, 24, TZ_DTYPE_FLOAT32},
    {TZ_SAMPLE_FORMAT_FLOAT, 32, 32, TZ_DTYPE_FLOAT32},
    {TZ_SAMPLE_FORMAT_FLOAT, 64, 64, TZ_DTYPE_FLOAT64},
    {TZ_SAMPLE_FORMAT_COMPLEX_INT, 32, 32, TZ_DTYPE_COMPLEX_INT16},
    {TZ_SAMPLE_FORMAT_COMPLEX_INT, 64, 64, TZ_DTYPE_COMPLEX_INT32},
    {TZ_SAMPLE_FORMAT_COMPLEX_FLOAT, 32, 32, TZ_DTYPE_COMPLEX_FLOAT16},
    {TZ_SAMPLE_FORMAT_COMPLEX_FLOAT, 64, 64, TZ_DTYPE_COMPLEX_FLOAT32},
    {TZ_SAMPLE_FORMAT_COMPLEX_FLOAT, 128, 128, TZ_DTYPE_COMPLEX_FLOAT64},
};

tz_dtype tz_dtype_of(uint16_t sample_format, uint16_t bits)
{
    const uint16_t format =
        sample_format == TZ_SAMPLE_FORMAT_VOID ? TZ_SAMPLE_FORMAT_UINT : sample_format;
    for (size_t i = 0; i < sizeof dtype_rows / sizeof dtype_rows[0]; i++) {
        const dtype_row *row = &dtype_rows[i];
        if (row->format == format && row->min_bits <= bits && bits <= row->max_bits)
            return row->dtype;
    }
    return TZ_DTYPE_NONE;
}

uint32_t tz_ifd_subfile_type(const tz_ifd *ifd)
{
    /* SubfileType is 1 for a full image, 2 for a reduced one, 3 for a page. */
    static const uint32_t from_old[] = {0, 0, TZ_SUBFILE_REDUCED, TZ_SUBFILE_PAGE};
    if (tz_ifd_has(ifd, TZ_TAG_NEW_SUBFILE_TYPE) || ifd->subfile_type > 3)
        return ifd->new_subfile_type;
    return from_old[ifd->subfile_type];
}

/* ---- sizes ---- */

/* Returns the bytes of rows in one plane of a tile, each padded to a whole byte; TZ_NO_VALUE if
 * they do not fit 64 bits. */
static uint64_t layer_row_bytes(const tz_layer *layer, uint64_t rows)
{
    const tz_level *shape = &layer->shape;
    const uint64_t samples = layer->tables.planar == TZ_PLANAR_SEPARATE ? 1 : shape->samples;
    uint64_t bits = 0;
    uint64_t bytes = 0;
    /* width times depth always fits: 2^32 * 2^16 */
    if (!tz_mul((uint64_t)shape->tile_width * shape->bits_per_sample, samples, &bits) ||
        !tz_mul(tz_ceil_div(bits, 8), rows, &bytes))
        return TZ_NO_VALUE;
    return bytes;
}

uint64_t tz_layer_tile_bytes(const tz_layer *layer, uint64_t tile)
{
    const tz_level *shape = &layer->shape;
    const uint64_t row = tile / shape->tiles_across % shape->tiles_down;
    const uint64_t left = shape->height - row * shape->tile_height;
    const bool truncated = !shape->tiled && left < shape->tile_height;
    return layer_row_bytes(layer, truncated ? left : shape->tile_height);
}

/* ---- checks: each is TZ_OK or a warning ---- */

/* Evaluates to a warning that costs the pixels. */
#define MARK_UNREADABLE(layer, warning) ((layer)->shape.readable = false, (warning))

/* Finds the type of the samples. Samples that differ in depth or format are not read. */
static tz_result check_sample_type(tz_layer *layer, const tz_ifd *ifd, const tz_context *ctx)
{
    const tz_location at_bits = tz_at_tag(TZ_TAG_BITS_PER_SAMPLE, ifd->offset);
    layer->tables.dtype =
        ifd->mixed_samples ? TZ_DTYPE_NONE : tz_dtype_of(ifd->sample_format, ifd->bits);
    if (ifd->mixed_samples)
        return MARK_UNREADABLE(
            layer,
            TZ_WARN_UNSUPPORTED(ctx, at_bits, "samples of different depth or format in one image"));
    if (ifd->sample_format < TZ_SAMPLE_FORMAT_UINT ||
        ifd->sample_format > TZ_SAMPLE_FORMAT_COMPLEX_FLOAT)
        return MARK_UNREADABLE(
            layer, TZ_WARN_UNSUPPORTED(ctx,
                                       tz_expecting(tz_at_tag(TZ_TAG_SAMPLE_FORMAT, ifd->offset),
                                                    TZ_NO_VALUE, ifd->sample_format),
                                       "unsupported sample format %u", ifd->sample_format));
    if (layer->tables.dtype == TZ_DTYPE_NONE)
        return MARK_UNREADABLE(
            layer, TZ_WARN_UNSUPPORTED(ctx, tz_expecting(at_bits, TZ_NO_VALUE, ifd->bits),
                                       "unsupported depth: %u bits of sample format %u", ifd->bits,
                                       ifd->sample_format));
    return TZ_OK;
}

/* Checks codec, predictor and colours. A codec may be known and not built in; the message names it.
 * An unknown photometric interpretation does not cost the pixels: samples are delivered as they
 * are. */
static tz_result check_layer_codec(tz_layer *layer, const tz_ifd *ifd, const tz_context *ctx)
{
    const char *name = tz_compression_name(ifd->compression);
    if (!tz_codec_find(ifd->compression))
        TZ_TRY(MARK_UNREADABLE(
            layer, TZ_WARN_UNSUPPORTED(ctx,
                                       tz_expecting(tz_at_tag(TZ_TAG_COMPRESSION, ifd->offset),
                                                    TZ_NO_VALUE, ifd->compression),
                                       "unsupported compression %u (%s)", ifd->compression,
                                       name ? name : "unknown")));
    if (ifd->predictor < TZ_PREDICTOR_NONE || ifd->predictor > TZ_PREDICTOR_FLOAT)
        TZ_TRY(MARK_UNREADABLE(
            layer, TZ_WARN_UNSUPPORTED(ctx,
                                       tz_expecting(tz_at_tag(TZ_TAG_PREDICTOR, ifd->offset),
                                                    TZ_NO_VALUE, ifd->predictor),
                                       "unsupported predictor %u", ifd->predictor)));
    if (tz_photometric_name(ifd->photometric))
        return TZ_OK;
    return TZ_WARN_UNSUPPORTED(
        ctx,
        tz_expecting(tz_at_tag(TZ_TAG_PHOTOMETRIC, ifd->offset), TZ_NO_VALUE, ifd->photometric),
        "unknown photometric interpretation %u", ifd->photometric);
}

/* Reads the factors of YCbCr; without the tag they are 2 and 2. */
static tz_result check_subsampling(tz_layer *layer, const tz_ifd *ifd, tz_reader *reader,
                                   const tz_context *ctx)
{
    const tz_location location = tz_at_tag(TZ_TAG_YCBCR_SUBSAMPLING, ifd->subsampling.offset);
    if (ifd->photometric != TZ_PHOTOMETRIC_YCBCR || ifd->subsampling.count != 2)
        return TZ_OK;
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t factor = 0;
        TZ_TRY(tz_tag_ref_integer(reader, &ifd->subsampling, TZ_TAG_YCBCR_SUBSAMPLING, i, ctx,
                                  &factor));
        if (factor != 1 && factor != 2 && factor != 4)
            return MARK_UNREADABLE(layer,
                                   TZ_WARN_TAG(ctx, tz_expecting(location, TZ_NO_VALUE, factor),
                                               "subsampling must be 1, 2 or 4"));
        layer->tables.subsampling[i] = (uint16_t)factor;
    }
    return TZ_OK;
}

/* The format asks for multiples of 16 for tiles, and for at least one row for strips. */
static tz_result check_tile_shape(const tz_layer *layer, const tz_ifd *ifd, const tz_context *ctx)
{
    const tz_level *shape = &layer->shape;
    if (!shape->tiled) {
        if (ifd->rows_per_strip > 0)
            return TZ_OK;
        return TZ_WARN_TAG(
            ctx, tz_expecting(tz_at_tag(TZ_TAG_ROWS_PER_STRIP, ifd->offset), shape->height, 0),
            "0 rows per strip; taken as the whole height");
    }
    const bool bad_width = shape->tile_width % 16 != 0;
    if (!bad_width && shape->tile_height % 16 == 0)
        return TZ_OK;
    return TZ_WARN_TAG(
        ctx,
        tz_expecting(tz_at_tag(bad_width ? TZ_TAG_TILE_WIDTH : TZ_TAG_TILE_LENGTH, ifd->offset),
                     TZ_NO_VALUE, bad_width ? shape->tile_width : shape->tile_height),
        "tile sizes must be multiples of 16");
}

/* A tile is the unit of memory when pixels are read, so that its size is checked here, once. */
static tz_result check_tile_byte_limit(tz_layer *layer, const tz_ifd *ifd, const tz_context *ctx)
{
    const uint16_t tag = layer->shape.tiled ? TZ_TAG_TILE_WIDTH : TZ_TAG_ROWS_PER_STRIP;
    const uint64_t bytes = layer_row_bytes(layer, layer->shape.tile_height);
    const tz_location location = tz_at_tag(tag, ifd->offset);
    if (bytes == TZ_NO_VALUE && ctx->limits->max_tile_bytes == TZ_UNLIMITED)
        return MARK_UNREADABLE(layer, tz_warn(ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT, location,
                                              "the bytes of one tile do not fit 64 bits"));
    return tz_check_soft_limit(ctx, offsetof(tz_limits, max_tile_bytes), location, bytes,
                               "bytes in one tile", "tile size", &layer->shape.readable);
}

/* ---- tile tables ---- */

/* Compares the length of a table with the number of tiles. Pixels need all offsets; sizes that are
 * missing follow from the layout (tile_table.c). */
static tz_result check_tile_table(tz_layer *layer, const tz_ifd *ifd, const tz_tag_ref *table,
                                  uint16_t tag, const tz_context *ctx)
{
    const uint64_t tiles = layer->shape.tile_count;
    if (table->count == tiles)
        return TZ_OK;
    const tz_location at_tag = tz_at_tag(tag, ifd->offset);
    const tz_location location = tz_expecting(at_tag, tiles, table->count);
    if (table->count > tiles)
        return TZ_WARN_LAYOUT(ctx, location,
                              "more values than the image has tiles; the rest is ignored");
    if (table == &layer->tables.sizes)
        return table->count == 0
                   ? TZ_WARN_LAYOUT(ctx, at_tag, "tile sizes are missing; taken from the layout")
                   : TZ_WARN_LAYOUT(
                         ctx, location,
                         "fewer tile sizes than tiles; the others are taken from the layout");
    layer->shape.readable = false;
    return table->count == 0
               ? TZ_WARN_LAYOUT(ctx, at_tag, "tile offsets are missing")
               : TZ_WARN_LAYOUT(ctx, location, "fewer values than the image has tiles");
}

bool tz_layer_has_tables(const tz_layer *layer)
{
    return layer->tables.offsets.count >= layer->shape.tile_count;
}

/* Old-style JPEG in one tile may be one stream: the tile begins inside of it, or no table points to
 * it. The tile is then this stream. An unusable offset is reported when the tile is read. */
static tz_result use_jpeg_interchange(tz_layer *layer, const tz_ifd *ifd, tz_reader *reader,
                                      const tz_context *ctx)
{
    const tz_old_jpeg *old = &ifd->old_jpeg;
    const bool is_missing = layer->tables.offsets.count == 0;
    tz_tile_span stream;
    bool has_size = false;
    bool is_inside = false;
    if (ifd->compression != TZ_COMPRESSION_OLD_JPEG)
        return TZ_OK;
    TZ_TRY(tz_old_jpeg_extent(old, reader, ctx, &stream, &has_size));
    if (layer->shape.tile_count != 1 || stream.size == 0)
        return TZ_OK;
    if (!is_missing && has_size) {
        uint64_t offset = 0;
        tz_error failed;
        const tz_context quiet = tz_quiet_context(ctx, &failed);
        const tz_result result = tz_tag_ref_integer(reader, &layer->tables.offsets,
                                                    TZ_TAG_STRIP_OFFSETS, 0, &quiet, &offset);
        if (result != TZ_OK && result != TZ_ERR_FORMAT)
            TZ_TRY(tz_warn_from_error(ctx, &failed, "tile offsets"));
        is_inside =
            result == TZ_OK && offset >= stream.offset && offset - stream.offset < stream.size;
    }
    if (!is_missing && !is_inside)
        return TZ_OK;
    layer->tables.offsets = old->interchange;
    layer->tables.sizes = has_size ? old->interchange_size : (tz_tag_ref){0};
    if (!is_missing)
        return TZ_OK;
    return TZ_WARN_LAYOUT(ctx, tz_at_tag(TZ_TAG_STRIP_OFFSETS, ifd->offset),
                          "tile offsets are missing; JPEGInterchangeFormat counts");
}

/* Chooses the tables of offsets and sizes, and checks their lengths. Their values are not read
 * before a tile is (tile_table.c). */
static tz_result set_layer_tables(tz_layer *layer, const tz_ifd *ifd, tz_reader *reader,
                                  const tz_context *ctx)
{
    const bool tiled = layer->shape.tiled;
    const bool strip_tags = ifd->strip_offsets.count > 0 || ifd->strip_sizes.count > 0;
    const uint16_t offsets_tag = tiled ? TZ_TAG_TILE_OFFSETS : TZ_TAG_STRIP_OFFSETS;
    const uint16_t sizes_tag = tiled ? TZ_TAG_TILE_BYTE_COUNTS : TZ_TAG_STRIP_BYTE_COUNTS;
    /* Some writers store the tables of tiles in the strip tags. */
    layer->tables.offsets =
        tiled && tz_ifd_has(ifd, TZ_TAG_TILE_OFFSETS) ? ifd->tile_offsets : ifd->strip_offsets;
    layer->tables.sizes =
        tiled && tz_ifd_has(ifd, TZ_TAG_TILE_BYTE_COUNTS) ? ifd->tile_sizes : ifd->strip_sizes;
    if (tiled && strip_tags)
        TZ_TRY(TZ_WARN_LAYOUT(ctx, tz_at_tag(TZ_TAG_STRIP_OFFSETS, ifd->offset),
                              "strip and tile tags together; the tile tags count"));
    if (ifd->tables_damaged)
        return MARK_UNREADABLE(layer, TZ_OK); /* there was a warning when the tag was read */
    TZ_TRY(use_jpeg_interchange(layer, ifd, reader, ctx));
    TZ_TRY(check_tile_table(layer, ifd, &layer->tables.offsets, offsets_tag, ctx));
    return layer->tables.offsets.count > 0
               ? check_tile_table(layer, ifd, &layer->tables.sizes, sizes_tag, ctx)
               : TZ_OK;
}

tz_result tz_layer_from_ifd(tz_layer *out, const tz_ifd *ifd, tz_reader *reader,
                            const tz_context *ctx)
{
    const bool tiled = tz_ifd_is_tiled(ifd);
    const uint32_t strip_rows = tz_min_u32(ifd->rows_per_strip, ifd->height);
    const uint64_t planes = ifd->planar == TZ_PLANAR_SEPARATE ? ifd->samples : 1;
    *out = (tz_layer){.shape = {.width = ifd->width,
                                .height = ifd->height,
                                .ifd_offset = ifd->offset,
                                .ifd = ctx->ifd,
                                .tag_count = (int32_t)ifd->entry_count,
                                .compression = ifd->compression,
                                .predictor = ifd->predictor,
                                .bits_per_sample = ifd->bits,
                                .samples = ifd->samples,
                                .photometric = ifd->photometric,
                                .jpeg_tables_size = ifd->jpeg_tables.count,
                                .readable = true,
                                .tiled = tiled,
                                .tile_width = tiled ? ifd->tile_width : ifd->width,
                                /* 0 rows are a defect, and taken as the whole height */
                                .tile_height = tiled            ? ifd->tile_height
                                               : strip_rows > 0 ? strip_rows
                                                                : ifd->height},
                      .tables = {.planar = ifd->planar,
                                 .sample_format = ifd->sample_format,
                                 .fill_order = ifd->fill_order,
                                 .subsampling = {2, 2},
                                 .jpeg_tables = ifd->jpeg_tables,
                                 .old_jpeg = ifd->old_jpeg,
                                 .fax_options = ifd->compression == TZ_COMPRESSION_FAX4
                                                    ? ifd->t6_options
                                                    : ifd->t4_options},
                      .is_mask = (tz_ifd_subfile_type(ifd) & TZ_SUBFILE_MASK) != 0 ||
                                 ifd->photometric == TZ_PHOTOMETRIC_MASK};
    tz_level *shape = &out->shape;
    TZ_TRY(check_sample_type(out, ifd, ctx));
    TZ_TRY(check_layer_codec(out, ifd, ctx));
    TZ_TRY(check_subsampling(out, ifd, reader, ctx));
    TZ_TRY(check_tile_shape(out, ifd, ctx));
    TZ_TRY(check_tile_byte_limit(out, ifd, ctx));
    shape->tiles_across = (uint32_t)tz_ceil_div(shape->width, shape->tile_width);
    shape->tiles_down = (uint32_t)tz_ceil_div(shape->height, shape->tile_height);
    if (!tz_mul((uint64_t)shape->tiles_across * shape->tiles_down, planes, &shape->tile_count)) {
        const uint16_t tag = tiled ? TZ_TAG_TILE_WIDTH : TZ_TAG_ROWS_PER_STRIP;
        shape->tile_count = TZ_NO_VALUE;
        TZ_TRY(MARK_UNREADABLE(out, tz_warn(ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                                            tz_at_tag(tag, ifd->offset),
                                            "the number of tiles does not fit 64 bits")));
    }
    TZ_TRY(set_layer_tables(out, ifd, reader, ctx));
    for (uint64_t i = 0; ifd->lerc.count >= 2 && i < 2; i++) {
        uint64_t number = 0;
        TZ_TRY(tz_tag_ref_integer(reader, &ifd->lerc, TZ_TAG_LERC_PARAMETERS, i, ctx, &number));
        *(i == 0 ? &shape->lerc_version : &shape->lerc_compression) =
            (uint16_t)tz_min(number, UINT16_MAX);
    }
    return TZ_OK;
}
