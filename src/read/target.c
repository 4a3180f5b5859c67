/* SPDX-License-Identifier: Apache-2.0
 * One item of a request: checked, clipped, and bound to a grid of tiles and a codec. */
#include "read/target.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/source.h"
#include "tiff/compression.h"
#include "tiff/tags.h"

static tz_result fail_arg(const tz_context *ctx, const char *text, uint64_t expected,
                          uint64_t found)
{
    return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_expecting(tz_at_nowhere(), expected, found),
                   "%s", text);
}

/* ---- where pixels go ---- */

static bool is_float(tz_dtype dtype)
{
    return dtype == TZ_DTYPE_FLOAT16 || dtype == TZ_DTYPE_FLOAT32 || dtype == TZ_DTYPE_FLOAT64;
}

/* Strides of a packed buffer where the caller gave none. */
static tz_result resolve_buffer(tz_buffer *buffer, const tz_context *ctx)
{
    const size_t size = tz_dtype_size(buffer->dtype);
    if (size == 0)
        return fail_arg(ctx, "the buffer has no dtype", TZ_NONE, (uint64_t)buffer->dtype);
    if (buffer->band_stride || buffer->row_stride || buffer->column_stride)
        return TZ_OK;
    uint64_t row = 0;
    uint64_t band = 0;
    if (!tz_mul(buffer->width, size, &row) || !tz_mul(row, buffer->height, &band) ||
        band > INT64_MAX)
        return fail_arg(ctx, "the buffer is larger than memory", INT64_MAX, TZ_NONE);
    buffer->column_stride = (int64_t)size;
    buffer->row_stride = (int64_t)row;
    buffer->band_stride = (int64_t)band;
    return TZ_OK;
}

static tz_result check_shape(const tz_buffer *buffer, uint32_t bands, uint32_t height,
                             uint32_t width, const tz_context *ctx)
{
    if (!buffer->data)
        return fail_arg(ctx, "the buffer has no memory", TZ_NONE, TZ_NONE);
    if (buffer->bands != bands)
        return fail_arg(ctx, "the buffer has another number of bands than are read", bands,
                        buffer->bands);
    if (buffer->height != height)
        return fail_arg(ctx, "the buffer has another height than the window", height,
                        buffer->height);
    if (buffer->width != width)
        return fail_arg(ctx, "the buffer has another width than the window", width, buffer->width);
    return TZ_OK;
}

static tz_result set_buffers(tz_target *target, const tz_item *item, const tz_window *window,
                             const tz_context *ctx)
{
    target->into = item->into;
    target->mask = item->mask;
    TZ_TRY(check_shape(&target->into, target->band_count, window->height, window->width, ctx));
    TZ_TRY(resolve_buffer(&target->into, ctx));
    if (!target->mask.data)
        return TZ_OK;
    TZ_TRY(check_shape(&target->mask, target->band_count, window->height, window->width, ctx));
    if (target->mask.dtype != TZ_DTYPE_UINT8)
        return fail_arg(ctx, "the mask's buffer is not of type uint8", TZ_DTYPE_UINT8,
                        (uint64_t)target->mask.dtype);
    return resolve_buffer(&target->mask, ctx);
}

/* ---- which pixels ---- */

static tz_result set_window(tz_target *target, const tz_window *window, bool boundless,
                            const tz_context *ctx)
{
    const tz_level *level = &target->layer.shape;
    if (window->column < -(int64_t)UINT32_MAX || window->column > (int64_t)UINT32_MAX ||
        window->row < -(int64_t)UINT32_MAX || window->row > (int64_t)UINT32_MAX)
        return fail_arg(ctx, "the window is too far away", TZ_NONE, TZ_NONE);
    const int64_t right = window->column + window->width;
    const int64_t bottom = window->row + window->height;
    if (window->width == 0 || window->height == 0)
        return fail_arg(ctx, "the window is empty", TZ_NONE, 0);
    if (!boundless &&
        (window->column < 0 || window->row < 0 || right > level->width || bottom > level->height))
        return fail_arg(ctx, "the window reaches beyond the level; boundless reads may",
                        right > level->width ? level->width : level->height,
                        (uint64_t)(right > level->width ? right : bottom));
    target->column_shift = window->column;
    target->row_shift = window->row;
    const int64_t x0 = window->column < 0 ? 0 : window->column;
    const int64_t y0 = window->row < 0 ? 0 : window->row;
    const int64_t x1 = right < level->width ? right : level->width;
    const int64_t y1 = bottom < level->height ? bottom : level->height;
    if (x0 >= x1 || y0 >= y1)
        return TZ_OK; /* nothing of it is inside: no tiles */
    target->x0 = (uint32_t)x0;
    target->y0 = (uint32_t)y0;
    target->x1 = (uint32_t)x1;
    target->y1 = (uint32_t)y1;
    target->tile_x0 = target->x0 / level->tile_width;
    target->tile_y0 = target->y0 / level->tile_height;
    target->tile_x1 = (target->x1 - 1) / level->tile_width + 1;
    target->tile_y1 = (target->y1 - 1) / level->tile_height + 1;
    return TZ_OK;
}

static tz_result set_bands(tz_target *target, const tz_item *item, const tz_context *ctx)
{
    const uint32_t bands = target->file->info.bands;
    target->bands = item->bands;
    target->band_count = item->bands ? item->band_count : bands;
    if (target->band_count == 0)
        return fail_arg(ctx, "no bands are asked for", TZ_NONE, 0);
    for (uint32_t i = 0; item->bands && i < item->band_count; i++) {
        if (item->bands[i] >= bands)
            return fail_arg(ctx, "there is no such band; bands are counted from 0", bands,
                            item->bands[i]);
    }
    return TZ_OK;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The different planes that the bands are in. */
static tz_result set_planes(tz_plan *plan, tz_target *target, const tz_context *ctx)
{
    target->plane_count = 1;
    if (target->layer.tables.planar != 2 || target->to_mask)
        return TZ_OK;
    uint32_t *planes = tz_arena_array(&plan->arena, target->band_count, sizeof *planes);
    if (!planes)
        return tz_fail_nomem(ctx, (uint64_t)target->band_count * sizeof *planes);
    for (uint32_t i = 0; i < target->band_count; i++)
        planes[i] = target->bands ? target->bands[i] : i;
    qsort(planes, target->band_count, sizeof *planes, by_number);
    uint32_t count = 1;
    for (uint32_t i = 1; i < target->band_count; i++) {
        if (planes[i] != planes[count - 1])
            planes[count++] = planes[i];
    }
    target->planes = planes;
    target->plane_count = count;
    return TZ_OK;
}

/* ---- how tiles become pixels ---- */

static bool host_is_big_endian(void)
{
    const uint16_t probe = 1;
    uint8_t first;
    memcpy(&first, &probe, 1);
    return first == 0;
}

static tz_result load_tables(tz_plan *plan, tz_target *target, const tz_context *ctx)
{
    const tz_value *value = &target->layer.tables.jpeg_tables;
    const tz_container *container = &target->file->containers[target->layer.tables.container];
    if (value->count == 0)
        return TZ_OK;
    TZ_TRY(tz_check_limit(ctx, offsetof(tz_limits, max_codec_bytes),
                          tz_at_tag(TZ_TAG_JPEG_TABLES, value->offset), value->count,
                          "bytes of JPEG tables"));
    target->tables = tz_arena_alloc(&plan->arena, (size_t)value->count + TZ_CODEC_SLACK);
    if (!target->tables)
        return tz_fail_nomem(ctx, value->count);
    TZ_TRY(tz_source_read(container->source, value->offset, (size_t)value->count, target->tables,
                          ctx));
    target->tile.tables = target->tables;
    target->tile.tables_size = (size_t)value->count;
    return TZ_OK;
}

static bool ends_with_alpha(const tz_info *info)
{
    return info->extra_sample_count > 0 && info->extra_samples[info->extra_sample_count - 1] == 2;
}

static tz_result set_format(tz_target *target, const tz_context *ctx)
{
    const tz_level *level = &target->layer.shape;
    const tz_tables *tables = &target->layer.tables;
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
                                    .alpha = tables->planar != 2 && !target->to_mask &&
                                             ends_with_alpha(&target->file->info)};
    target->row = (tz_row_format){.dtype = tables->dtype,
                                  .bits = level->bits_per_sample,
                                  .sample_format = tables->sample_format,
                                  .samples = samples,
                                  .predictor = level->predictor,
                                  .width = level->tile_width};
    target->row.swap = container->big_endian != host_is_big_endian();
    if (target->codec->flags & TZ_CODEC_NATIVE)
        target->row.swap = false;
    if (target->codec->flags & TZ_CODEC_NO_PREDICTOR)
        target->row.predictor = 1;
    const char *unsupported = tz_row_unsupported(&target->row);
    if (unsupported)
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                       tz_at_tag(TZ_TAG_PREDICTOR, level->ifd_offset), "cannot read %s",
                       unsupported);
    return TZ_OK;
}

static tz_result set_placement(tz_plan *plan, tz_target *target, const tz_context *ctx)
{
    const tz_info *info = &target->file->info;
    target->how = (tz_placement){.from = target->row.dtype,
                                 .to = target->into.dtype,
                                 .nodata = info->nodata,
                                 .nodata_to_nan = plan->options.nodata_to_nan &&
                                                  is_float(target->into.dtype) &&
                                                  info->nodata.kind != TZ_NODATA_NONE};
    if (!plan->options.scaled)
        return TZ_OK;
    double *scales = tz_arena_array(&plan->arena, target->band_count, 2 * sizeof *scales);
    bool any = false;
    if (!scales)
        return tz_fail_nomem(ctx, (uint64_t)target->band_count * 2 * sizeof *scales);
    for (uint32_t i = 0; i < target->band_count; i++) {
        tz_band band;
        TZ_TRY(tz_band_info(target->file, target->bands ? target->bands[i] : i, &band, ctx->err));
        scales[2 * (size_t)i] = band.scale;
        scales[2 * (size_t)i + 1] = band.offset;
        any = any || band.has_scale || band.has_offset;
    }
    target->scales = any ? scales : NULL;
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

tz_result tz_target_make(tz_plan *plan, const tz_item *item, uint32_t level, tz_target *out,
                         const tz_context *ctx)
{
    tz_context at_level = *ctx;
    const tz_file *file = item->file;
    *out = (tz_target){.file = file, .level = level};
    out->to_mask = level != item->level;
    TZ_TRY(tz_file_layer(file, level, ctx, &out->layer));
    at_level.ifd = out->layer.shape.ifd;
    TZ_TRY(check_readable(out, &at_level));
    TZ_TRY(tz_codec_find(out->layer.shape.compression, &at_level, &out->codec));
    tz_window window = item->window;
    if (window.width == 0 && window.height == 0)
        window = (tz_window){0, 0, out->layer.shape.width, out->layer.shape.height};
    TZ_TRY(set_window(out, &window, plan->options.boundless, &at_level));
    TZ_TRY(set_bands(out, item, &at_level));
    TZ_TRY(set_buffers(out, item, &window, &at_level));
    TZ_TRY(set_planes(plan, out, &at_level));
    TZ_TRY(set_format(out, &at_level));
    TZ_TRY(load_tables(plan, out, &at_level));
    TZ_TRY(set_placement(plan, out, &at_level));
    if (out->to_mask)
        out->into = out->mask;
    else if (file->info.levels[level].has_mask)
        out->mask.data = NULL; /* the file's own mask fills it */
    out->tile_count =
        (uint64_t)(out->tile_x1 - out->tile_x0) * (out->tile_y1 - out->tile_y0) * out->plane_count;
    return TZ_OK;
}

bool tz_target_is_raw(const tz_target *target)
{
    return target->layer.shape.compression == TZ_COMPRESSION_NONE;
}
