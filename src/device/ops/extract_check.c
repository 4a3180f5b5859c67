/* SPDX-License-Identifier: Apache-2.0 */
#include "device/ops/extract_check.h"

#include "base/mem.h"
#include "device/device_state.h"
#include "device/launch.h"

static tz_result fail_extract(const tz_extract_batch *batch, tz_location location, const char *text,
                              tz_error *err)
{
    return tz_call_fail(batch->slab->device, err, TZ_ERR_ARG, TZ_CAUSE_ARG, location, text);
}

/* ---- all tiles ---- */

static tz_result check_array(const tz_extract_batch *batch, uint64_t offset, uint64_t size,
                             const char *text, tz_error *err)
{
    const uint64_t all = tz_mul_capped(batch->count, size);
    if (offset % 8 == 0 && tz_memory_holds(batch->slab, offset, all))
        return TZ_OK;
    return fail_extract(
        batch, tz_expecting(tz_at_offset(offset), batch->slab->size, tz_add_capped(offset, all)),
        text, err);
}

static tz_result check_extract_shape(const tz_extract_batch *batch, tz_error *err)
{
    const tz_row_format *row = &batch->row;
    if (!tz_device_extracts(batch->slab->device, batch))
        return fail_extract(batch, tz_no_location(), "the device does not cut such tiles", err);
    if (row->width == 0 || row->samples == 0 || batch->height == 0 ||
        (row->predictor < 1 || row->predictor > 3))
        return fail_extract(batch, tz_no_location(), "tiles of such a shape do not exist", err);
    const uint64_t parts = tz_mul_capped(row->samples, 2);
    if (tz_mul_capped(row->width, parts) > UINT32_MAX - TZ_WORK_GROUP_ITEMS)
        return fail_extract(batch, tz_no_location(), "rows of tiles are too long for kernels", err);
    return TZ_OK;
}

static tz_result check_arrays(const tz_extract_batch *batch, tz_error *err)
{
    TZ_TRY(check_array(batch, batch->table, sizeof *batch->tiles, "the table is not in the slab",
                       err));
    TZ_TRY(check_array(batch, batch->results, sizeof(tz_extract_result),
                       "what is seen is not in the slab", err));
    if (batch->wants_stats)
        TZ_TRY(check_array(batch, batch->stats, tz_mul_capped(batch->row.samples, sizeof(tz_stats)),
                           "the tallies are not in the slab", err));
    if (batch->discard_bits && !tz_memory_holds(batch->slab, batch->discard, batch->discard_count))
        return fail_extract(batch, tz_at_offset(batch->discard), "discard_bits are not in the slab",
                            err);
    const uint64_t scratch = tz_extract_scratch_bytes(batch);
    if (scratch > 0 && !tz_memory_holds(batch->slab, batch->scratch, scratch))
        return fail_extract(batch, tz_at_offset(batch->scratch), "the scratch is not in the slab",
                            err);
    return TZ_OK;
}

/* ---- a tile ---- */

static bool is_within_rows(const tz_extract_batch *batch, const tz_extract_tile *tile)
{
    const tz_strided words = {
        .first = tile->from,
        .counts = {batch->row.samples, tile->height, tile->width},
        .strides = {batch->band_stride, batch->row_stride, batch->column_stride},
        .size = tz_dtype_size(batch->row.dtype)};
    return tz_memory_holds_words(batch->rows, &words);
}

static bool is_within_mask(const tz_extract_batch *batch, const tz_extract_tile *tile)
{
    const tz_strided words = {.first = tile->valid,
                              .counts = {1, tile->height, tile->width},
                              .strides = {0, batch->mask_row_stride, batch->mask_column_stride},
                              .size = 1};
    return tz_memory_holds_words(batch->mask, &words);
}

static tz_result check_extract_tile(const tz_extract_batch *batch, const tz_extract_tile *tile,
                                    tz_location location, tz_error *err)
{
    if (tile->width == 0 || tile->width > batch->row.width || tile->height == 0 ||
        tile->height > batch->height)
        return fail_extract(batch, location, "no tile has such a part of the image", err);
    if (!is_within_rows(batch, tile))
        return fail_extract(batch, location, "the tile is not within the rows", err);
    if (batch->wants_stats && batch->mask && !is_within_mask(batch, tile))
        return fail_extract(batch, location, "the tile is not within the mask", err);
    const uint32_t height = batch->crop_height ? tile->height : batch->height;
    const uint64_t size = tz_mul_capped(height, tz_row_bytes(&batch->row));
    if (!tz_memory_holds(batch->slab, tile->to, size))
        return fail_extract(
            batch, tz_expecting(location, batch->slab->size, tz_add_capped(tile->to, size)),
            "the tile is not within the slab", err);
    if (batch->discard_bits &&
        tz_add_capped(tile->plane, batch->row.samples) > batch->discard_count)
        return fail_extract(batch, location, "there are no discard_bits for the tile", err);
    return TZ_OK;
}

tz_result tz_extract_check(const tz_extract_batch *batch, tz_error *err)
{
    TZ_TRY(check_extract_shape(batch, err));
    TZ_TRY(check_arrays(batch, err));
    for (uint64_t i = 0; i < batch->count; i++) {
        tz_location location = tz_at_offset(batch->tiles[i].to);
        location.tile = (int64_t)i;
        TZ_TRY(check_extract_tile(batch, &batch->tiles[i], location, err));
    }
    return TZ_OK;
}
