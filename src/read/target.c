/* SPDX-License-Identifier: Apache-2.0 */
#include "read/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/source.h"
#include "tiff/compression.h"
#include "tiff/old_jpeg.h"
#include "tiff/tags.h"

/* Uncompressed tiles are read in parts of about this size: it stays in the second cache until it
 * has been placed, and gives several threads something to do in one large strip. */
#define RAW_PART ((size_t)1 << 18)

/* A window this much narrower than the rows of a strip is read row by row. */
enum { NARROW_ROW = 16384, NARROW_FACTOR = 4 };

/* All tables that JPEG knows, 8 to 64 KiB each by the length of their segments. */
#define MAX_JPEG_TABLES ((uint64_t)1 << 20)

/* Buffers from this size on are written past the cache. */
#define STREAM_FROM ((uint64_t)1 << 23)

bool tz_dtype_is_float(tz_dtype dtype)
{
    return dtype == TZ_DTYPE_FLOAT16 || dtype == TZ_DTYPE_FLOAT32 || dtype == TZ_DTYPE_FLOAT64;
}

/* ---- which tiles ---- */

static void set_window(tz_target *target, const tz_window *window)
{
    const tz_level *level = &target->layer.shape;
    tz_window clipped;
    target->column_shift = window->column;
    target->row_shift = window->row;
    if (!tz_window_clip(window, level, &clipped))
        return; /* nothing of it is inside: no tiles */
    target->x0 = (uint32_t)clipped.column;
    target->y0 = (uint32_t)clipped.row;
    target->x1 = target->x0 + clipped.width;
    target->y1 = target->y0 + clipped.height;
    target->tile_x0 = target->x0 / level->tile_width;
    target->tile_y0 = target->y0 / level->tile_height;
    target->tile_x1 = (target->x1 - 1) / level->tile_width + 1;
    target->tile_y1 = (target->y1 - 1) / level->tile_height + 1;
}

/* The outcome's list goes by the tiles of the whole item. */
static void set_status_grid(tz_target *target, const tz_view *view)
{
    const tz_level *level = &target->layer.shape;
    tz_window whole;
    target->outcome = view->outcome;
    if (!tz_window_clip(&view->whole, level, &whole))
        return;
    const int64_t x1 = (whole.column + whole.width - 1) / level->tile_width + 1;
    const int64_t y1 = (whole.row + whole.height - 1) / level->tile_height + 1;
    target->status_x0 = (uint32_t)(whole.column / level->tile_width);
    target->status_y0 = (uint32_t)(whole.row / level->tile_height);
    target->status_across = (uint32_t)(x1 - target->status_x0);
    target->status_down = (uint32_t)(y1 - target->status_y0);
}

uint64_t tz_target_status_count(const tz_target *target)
{
    return (uint64_t)target->status_across * target->status_down * target->plane_count;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The different planes that the wanted samples are in. */
static tz_result set_planes(tz_target *target, tz_arena *arena, const tz_context *ctx)
{
    const uint32_t wanted = target->to_mask ? 1 : target->band_count;
    target->plane_count = 1;
    if (target->layer.tables.planar != 2)
        return TZ_OK;
    uint32_t *planes = tz_arena_array(arena, wanted, sizeof *planes);
    if (!planes)
        return tz_fail_nomem(ctx, (uint64_t)wanted * sizeof *planes);
    for (uint32_t i = 0; i < wanted; i++)
        planes[i] = target->to_mask ? target->mask_sample : target->bands ? target->bands[i] : i;
    qsort(planes, wanted, sizeof *planes, by_number);
    uint32_t count = 1;
    for (uint32_t i = 1; i < wanted; i++) {
        if (planes[i] != planes[count - 1])
            planes[count++] = planes[i];
    }
    target->planes = planes;
    target->plane_count = count;
    return TZ_OK;
}

/* Who shares tiles must cut them alike. */
static void set_parts(tz_target *target, const tz_target *shared)
{
    const uint32_t rows = target->tile.height;
    const size_t row_bytes = tz_row_bytes(&target->row);
    target->part_rows = shared ? shared->part_rows : rows;
    if (!shared && tz_target_is_raw(target) && row_bytes > 0) {
        const uint64_t wanted = (uint64_t)(target->x1 - target->x0) * NARROW_FACTOR;
        const bool narrow = row_bytes >= NARROW_ROW && wanted < target->tile.width;
        const size_t fit = row_bytes < RAW_PART ? RAW_PART / row_bytes : 1;
        target->part_rows = narrow ? 1 : fit < rows ? (uint32_t)fit : rows;
    }
    target->parts = (rows - 1) / target->part_rows + 1;
}

/* ---- how tiles become pixels ---- */

static bool host_is_big_endian(void)
{
    const uint16_t probe = 1;
    uint8_t first;
    memcpy(&first, &probe, 1);
    return first == 0;
}

static void set_codec_tables(tz_target *target, const uint8_t *bytes, size_t size)
{
    target->tile.tables = bytes;
    target->tile.tables_size = size;
    target->stored.tables = bytes;
    target->stored.tables_size = size;
}

static tz_result load_old_jpeg(tz_target *target, tz_arena *arena, const tz_context *ctx)
{
    const uint8_t *bytes = NULL;
    size_t size = 0;
    TZ_TRY(tz_old_jpeg_headers(target->file, target->level, &target->layer, TZ_CODEC_SLACK, arena,
                               ctx, &bytes, &size));
    set_codec_tables(target, bytes, size);
    return TZ_OK;
}

static tz_result load_tables(tz_target *target, tz_arena *arena, const tz_context *ctx)
{
    if (target->layer.shape.compression == TZ_COMPRESSION_OLD_JPEG)
        return load_old_jpeg(target, arena, ctx);
    const tz_tag_ref *value = &target->layer.tables.jpeg_tables;
    const tz_container *container = &target->file->containers[target->layer.tables.container];
    if (value->count == 0)
        return TZ_OK;
    if (value->count > MAX_JPEG_TABLES)
        return tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC,
                       tz_expecting(tz_at_tag(TZ_TAG_JPEG_TABLES, value->offset), MAX_JPEG_TABLES,
                                    value->count),
                       "more bytes than JPEG tables can have");
    uint8_t *bytes = tz_arena_alloc(arena, (size_t)value->count + TZ_CODEC_SLACK);
    if (!bytes)
        return tz_fail_nomem(ctx, value->count);
    TZ_TRY(tz_source_read(container->source, value->offset, (size_t)value->count, bytes, ctx));
    set_codec_tables(target, bytes, (size_t)value->count);
    return TZ_OK;
}

static bool ends_with_alpha(const tz_info *info)
{
    return info->extra_sample_count > 0 && info->extra_samples[info->extra_sample_count - 1] == 2;
}

static bool is_subsampled(const tz_target *target)
{
    const uint16_t *step = target->layer.tables.subsampling;
    return target->layer.shape.photometric == 6 && target->layer.tables.planar != 2 &&
           !(target->codec->flags & TZ_DECODER_TO_RGB) && (step[0] > 1 || step[1] > 1);
}

/* The tile is stored as clumps of luminance with one pair of colours each: rows of bytes, as far as
 * the codec is concerned. NULL, or what is wrong with it. */
static const char *set_subsampled(tz_target *target)
{
    const uint16_t *step = target->tile.subsampling;
    if (target->row.bits != 8 || target->row.samples != 3 || target->row.predictor != 1)
        return "subsampled YCbCr other than three samples of 8 bits without predictor";
    const uint64_t clumps = tz_ceil_div(target->tile.width, step[0]);
    const uint64_t width = clumps * (step[0] * step[1] + 2u);
    if (width > UINT32_MAX)
        return "subsampled YCbCr of this width";
    target->subsampled = true;
    target->stored.width = (uint32_t)width;
    target->stored.samples = 1;
    target->stored.height = (uint32_t)tz_ceil_div(target->tile.height, step[1]);
    return NULL;
}

/* The codec is told of the tile that the file has. */
static void set_reduced(tz_target *target)
{
    const tz_level *whole = tz_target_stored_level(target);
    target->stored.width = whole->tile_width;
    target->stored.height = whole->tile_height;
    target->stored.reduction = target->reduction;
}

static tz_result set_format(tz_target *target, const tz_context *ctx)
{
    const tz_level *level = &target->layer.shape;
    const tz_level_tables *tables = &target->layer.tables;
    const tz_container *container = &target->file->containers[tables->container];
    const uint16_t samples = tables->planar == 2 ? 1 : level->samples;
    target->tile = (tz_tile_format){.width = level->tile_width,
                                    .height = level->tile_height,
                                    .samples = samples,
                                    .bits = level->bits_per_sample,
                                    .sample_format = tables->sample_format,
                                    .compression = level->compression,
                                    .photometric = level->photometric,
                                    .subsampling = {tables->subsampling[0], tables->subsampling[1]},
                                    .fill_order = tables->fill_order,
                                    .lerc_compression = level->lerc_compression,
                                    .fax_options = tables->fax_options,
                                    .big_endian = container->big_endian,
                                    .alpha = tables->planar != 2 && !target->layer.is_mask &&
                                             ends_with_alpha(&target->file->info)};
    target->stored = target->tile;
    target->row = (tz_row_format){.dtype = tables->dtype,
                                  .bits = level->bits_per_sample,
                                  .sample_format = tables->sample_format,
                                  .samples = samples,
                                  .predictor = level->predictor,
                                  .width = level->tile_width};
    if (target->reduction > 0)
        set_reduced(target);
    target->row.swap = container->big_endian != host_is_big_endian();
    if (target->codec->flags & TZ_DECODER_NATIVE_ENDIAN)
        target->row.swap = false;
    if (target->codec->flags & TZ_DECODER_NO_PREDICTOR && level->predictor != 1) {
        target->row.predictor = 1;
        TZ_TRY(tz_warn(
            ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG,
            tz_expecting(tz_at_tag(TZ_TAG_PREDICTOR, level->ifd_offset), 1, level->predictor),
            "a predictor that does not go with the compression is ignored"));
    }
    const char *unsupported = is_subsampled(target) ? set_subsampled(target) : NULL;
    if (!unsupported)
        unsupported = tz_row_unsupported(&target->row);
    if (unsupported)
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                       tz_at_tag(TZ_TAG_PREDICTOR, level->ifd_offset), "cannot read %s",
                       unsupported);
    return TZ_OK;
}

static tz_result check_readable(const tz_target *target, const tz_context *ctx)
{
    const tz_level *level = &target->layer.shape;
    if (level->readable)
        return TZ_OK;
    /* The warning that says why is among the file's; find it, to return the very same. */
    const tz_info *info = &target->file->info;
    for (uint32_t i = 0; i < info->warning_count; i++) {
        const tz_error *warning = &info->warnings[i];
        const bool about_pixels =
            warning->cause == TZ_CAUSE_UNSUPPORTED || warning->cause == TZ_CAUSE_LAYOUT ||
            warning->cause == TZ_CAUSE_LIMIT || warning->cause == TZ_CAUSE_TRUNCATED ||
            warning->cause == TZ_CAUSE_TAG;
        if (about_pixels && warning->ifd == level->ifd) {
            if (ctx->err)
                *ctx->err = *warning;
            return warning->result;
        }
    }
    return tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_LAYOUT, tz_at_offset(level->ifd_offset),
                   "this level cannot be read; the file's warnings say why");
}

/* ---- where pixels go ---- */

static tz_result set_scales(double **out, const tz_view *view, tz_arena *arena,
                            const tz_context *ctx)
{
    double *scales = tz_arena_array(arena, view->band_count, 2 * sizeof *scales);
    bool any = false;
    if (!scales)
        return tz_fail_nomem(ctx, (uint64_t)view->band_count * 2 * sizeof *scales);
    for (uint32_t i = 0; i < view->band_count; i++) {
        tz_band band;
        TZ_TRY(tz_band_info(view->file, view->bands ? view->bands[i] : i, &band, ctx->err));
        scales[2 * (size_t)i] = band.scale;
        scales[2 * (size_t)i + 1] = band.offset;
        any = any || band.has_scale || band.has_offset;
    }
    *out = any ? scales : NULL;
    return TZ_OK;
}

tz_result tz_view_placement(const tz_view *view, const tz_read_options *how, tz_conversion *out,
                            double **scales, tz_arena *arena, const tz_context *ctx)
{
    const tz_nodata *nodata = &view->file->info.nodata;
    *scales = NULL;
    *out = (tz_conversion){.from = view->layer.tables.dtype, .to = view->into.dtype};
    if (view->layer.is_mask)
        return TZ_OK;
    out->nodata = *nodata;
    out->nodata_to_nan =
        how->nodata_to_nan && tz_dtype_is_float(view->into.dtype) && nodata->kind != TZ_NODATA_NONE;
    return how->scaled ? set_scales(scales, view, arena, ctx) : TZ_OK;
}

tz_conversion tz_placement_of_band(const tz_conversion *how, const double *scales, uint32_t band)
{
    tz_conversion out = *how;
    if (scales) {
        out.scaled = true;
        out.scale = scales[2 * (size_t)band];
        out.offset = scales[2 * (size_t)band + 1];
    }
    return out;
}

/* Nodata that the samples' type does not have matches no sample, so NaN is not left to placing. */
void tz_outside_sample(const tz_conversion *how, const tz_read_options *options, uint8_t *sample)
{
    const bool has_nan = !options->has_fill && how->nodata_to_nan;
    const tz_nodata given = {.kind = TZ_NODATA_FLOAT,
                             .value = {.f = has_nan ? (double)NAN : options->fill}};
    uint8_t stored[16] = {0};
    memset(sample, 0, 16);
    if (options->has_fill || has_nan) {
        tz_row_fill(how->to, &given, sample, 0, 1);
    } else if (how->nodata.kind != TZ_NODATA_NONE) {
        tz_row_fill(how->from, &how->nodata, stored, 0, 1);
        tz_row_convert(how, stored, 0, sample, 0, 1, NULL, 0);
    }
}

static bool is_every_band_in_order(const tz_target *target)
{
    if (target->band_count != target->row.samples)
        return false;
    for (uint32_t i = 0; target->bands && i < target->band_count; i++) {
        if (target->bands[i] != i)
            return false;
    }
    return true;
}

/* Whether a row of the tile is a row of the buffer, sample for sample. */
static bool has_same_rows(const tz_target *target)
{
    const tz_conversion *how = &target->how;
    const int64_t size = (int64_t)tz_dtype_size(how->to);
    if (target->to_mask || tz_buffer_exists(&target->mask) || how->from != how->to ||
        how->nodata_to_nan || target->scales)
        return false;
    if (target->row.samples == 1)
        return target->into.column_stride == size && (target->planes || target->band_count == 1);
    return is_every_band_in_order(target) && target->into.band_stride == size &&
           target->into.column_stride == size * target->row.samples;
}

static void set_ways(tz_target *target)
{
    uint64_t bytes = 0;
    if (!tz_mul((uint64_t)target->into.width * target->into.height,
                target->band_count * tz_dtype_size(target->into.dtype), &bytes))
        bytes = UINT64_MAX;
    target->stream = bytes >= STREAM_FROM;
    target->same_rows = has_same_rows(target);
    target->straight = target->same_rows && tz_row_is_plain(&target->row);
}

static tz_result set_placement(tz_target *target, const tz_view *view, const tz_read_options *how,
                               tz_arena *arena, const tz_context *ctx)
{
    target->bands = view->bands;
    target->band_count = view->band_count;
    target->into = view->into;
    target->mask = view->mask;
    if (target->to_mask) {
        target->how = (tz_conversion){.from = target->row.dtype, .to = target->row.dtype};
        target->how.nodata.kind = TZ_NODATA_UINT; /* 0 */
        return TZ_OK;
    }
    if (tz_mask_source(view) != TZ_TARGET_PIXELS)
        target->mask = (tz_buffer){0}; /* another target fills it */
    return tz_view_placement(view, how, &target->how, &target->scales, arena, ctx);
}

/* ---- masks ---- */

/* The first extra sample that is alpha; TZ_NO_BAND: none. */
#define TZ_NO_BAND UINT32_MAX
static uint32_t alpha_band(const tz_info *info)
{
    for (uint32_t i = 0; i < info->extra_sample_count && i < info->bands; i++) {
        if (info->extra_samples[i] == 1 || info->extra_samples[i] == 2)
            return info->bands - info->extra_sample_count + i;
    }
    return TZ_NO_BAND;
}

tz_target_kind tz_mask_source(const tz_view *view)
{
    const tz_info *info = &view->file->info;
    if (view->layer.is_mask)
        return TZ_TARGET_PIXELS;
    if (info->levels[view->level].has_mask)
        return TZ_TARGET_MASK;
    return info->nodata.kind == TZ_NODATA_NONE && alpha_band(info) < info->bands ? TZ_TARGET_ALPHA
                                                                                 : TZ_TARGET_PIXELS;
}

static void share_format(tz_target *target, const tz_target *from)
{
    target->codec = from->codec;
    target->tile = from->tile;
    target->stored = from->stored;
    target->subsampled = from->subsampled;
    target->row = from->row;
}

/* ---- outcomes ---- */

tz_result tz_target_set_outcome(const tz_target *target, const tz_context *ctx)
{
    tz_outcome *outcome = target->outcome;
    const tz_level *level = &target->layer.shape;
    const uint64_t count = tz_target_status_count(target);
    outcome->tile_count = target->status_first + count;
    if (!outcome->tiles)
        return TZ_OK;
    if (outcome->tile_room < outcome->tile_count)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), outcome->tile_count, outcome->tile_room),
                       "the outcome's list has too little room for the item's tiles");
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t plane =
            target->planes ? target->planes[i / target->status_across / target->status_down] : 0;
        const uint64_t y = target->status_y0 + i / target->status_across % target->status_down;
        const uint64_t x = target->status_x0 + i % target->status_across;
        outcome->tiles[target->status_first + i] =
            (tz_tile_status){.tile = (plane * level->tiles_down + y) * level->tiles_across + x,
                             .level = target->level};
    }
    return TZ_OK;
}

tz_result tz_target_make(tz_target *out, const tz_view *view, tz_target_kind kind,
                         const tz_target *shared, const tz_read_options *how, tz_arena *arena,
                         const tz_context *ctx)
{
    tz_context at_level = *ctx;
    const uint32_t level = kind == TZ_TARGET_MASK ? TZ_MASK_OF(view->level) : view->level;
    *out = (tz_target){
        .file = view->file, .level = level, .reduction = view->reduction, .layer = view->layer};
    out->to_mask = kind != TZ_TARGET_PIXELS;
    if (kind == TZ_TARGET_MASK)
        TZ_TRY(tz_file_layer(view->file, level, ctx, &out->layer));
    if (kind == TZ_TARGET_ALPHA)
        out->mask_sample = alpha_band(&view->file->info);
    at_level.ifd = out->layer.shape.ifd;
    if (shared) {
        share_format(out, shared);
    } else {
        TZ_TRY(check_readable(out, &at_level));
        TZ_TRY(tz_decoder_find(out->layer.shape.compression, &at_level, &out->codec));
        TZ_TRY(set_format(out, &at_level));
        TZ_TRY(load_tables(out, arena, &at_level));
    }
    set_window(out, &view->window);
    TZ_TRY(set_placement(out, view, how, arena, &at_level));
    TZ_TRY(set_planes(out, arena, &at_level));
    set_ways(out);
    set_parts(out, shared);
    set_status_grid(out, view);
    out->unit_count = (uint64_t)(out->tile_x1 - out->tile_x0) * (out->tile_y1 - out->tile_y0) *
                      out->plane_count * out->parts;
    return TZ_OK;
}

const tz_level *tz_target_stored_level(const tz_target *target)
{
    return target->reduction > 0 ? &target->file->info.levels[target->level] : &target->layer.shape;
}

bool tz_target_is_raw(const tz_target *target)
{
    return target->layer.shape.compression == TZ_COMPRESSION_NONE && !target->subsampled;
}
