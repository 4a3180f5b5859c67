/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cut_check.h"

#include "base/mem.h"
#include "device/device_state.h"
#include "device/launch.h"

static tz_result refuse(const tz_cut_batch *batch, tz_location place, const char *text,
                        tz_error *err)
{
    return tz_call_refuse(batch->slab->device, err, TZ_ERR_ARG, TZ_CAUSE_ARG, place, text);
}

/* ---- all tiles ---- */

static tz_result check_part(const tz_cut_batch *batch, uint64_t offset, uint64_t size,
                            const char *text, tz_error *err)
{
    const uint64_t all = tz_mul_capped(batch->count, size);
    if (offset % 8 == 0 && tz_memory_holds(batch->slab, offset, all))
        return TZ_OK;
    return refuse(batch,
                  tz_expecting(tz_at_offset(offset), batch->slab->size, tz_add_capped(offset, all)),
                  text, err);
}

static tz_result check_shape(const tz_cut_batch *batch, tz_error *err)
{
    const tz_row_format *row = &batch->row;
    if (!tz_device_cuts(batch->slab->device, batch))
        return refuse(batch, tz_no_location(), "the device does not cut such tiles", err);
    if (row->width == 0 || row->samples == 0 || batch->height == 0 ||
        (row->predictor < 1 || row->predictor > 3))
        return refuse(batch, tz_no_location(), "tiles of such a shape do not exist", err);
    const uint64_t parts = tz_mul_capped(row->samples, 2);
    if (tz_mul_capped(row->width, parts) > UINT32_MAX - TZ_GROUP_ITEMS)
        return refuse(batch, tz_no_location(), "rows of tiles are too long for kernels", err);
    return TZ_OK;
}

static tz_result check_parts(const tz_cut_batch *batch, tz_error *err)
{
    TZ_TRY(
        check_part(batch, batch->table, sizeof *batch->tiles, "the table is not in the slab", err));
    TZ_TRY(check_part(batch, batch->seen, sizeof(tz_cut_seen), "what is seen is not in the slab",
                      err));
    if (batch->wants_tallies)
        TZ_TRY(check_part(batch, batch->tallies,
                          tz_mul_capped(batch->row.samples, sizeof(tz_stats)),
                          "the tallies are not in the slab", err));
    if (batch->discard_bits && !tz_memory_holds(batch->slab, batch->discard, batch->discard_count))
        return refuse(batch, tz_at_offset(batch->discard), "discard_bits are not in the slab", err);
    const uint64_t scratch = tz_cut_scratch_bytes(batch);
    if (scratch > 0 && !tz_memory_holds(batch->slab, batch->scratch, scratch))
        return refuse(batch, tz_at_offset(batch->scratch), "the scratch is not in the slab", err);
    return TZ_OK;
}

/* ---- a tile ---- */

static bool is_within_rows(const tz_cut_batch *batch, const tz_cut_tile *tile)
{
    const tz_strided words = {
        .first = tile->from,
        .counts = {batch->row.samples, tile->height, tile->width},
        .strides = {batch->band_stride, batch->row_stride, batch->column_stride},
        .size = tz_dtype_size(batch->row.dtype)};
    return tz_memory_holds_words(batch->rows, &words);
}

static bool is_within_mask(const tz_cut_batch *batch, const tz_cut_tile *tile)
{
    const tz_strided words = {.first = tile->valid,
                              .counts = {1, tile->height, tile->width},
                              .strides = {0, batch->mask_row_stride, batch->mask_column_stride},
                              .size = 1};
    return tz_memory_holds_words(batch->mask, &words);
}

static tz_result check_tile(const tz_cut_batch *batch, const tz_cut_tile *tile, tz_location place,
                            tz_error *err)
{
    if (tile->width == 0 || tile->width > batch->row.width || tile->height == 0 ||
        tile->height > batch->height)
        return refuse(batch, place, "no tile has such a part of the image", err);
    if (!is_within_rows(batch, tile))
        return refuse(batch, place, "the tile is not within the rows", err);
    if (batch->wants_tallies && batch->mask && !is_within_mask(batch, tile))
        return refuse(batch, place, "the tile is not within the mask", err);
    const uint32_t height = batch->cut_height ? tile->height : batch->height;
    const uint64_t size = tz_mul_capped(height, tz_row_bytes(&batch->row));
    if (!tz_memory_holds(batch->slab, tile->to, size))
        return refuse(batch, tz_expecting(place, batch->slab->size, tz_add_capped(tile->to, size)),
                      "the tile is not within the slab", err);
    if (batch->discard_bits &&
        tz_add_capped(tile->plane, batch->row.samples) > batch->discard_count)
        return refuse(batch, place, "there are no discard_bits for the tile", err);
    return TZ_OK;
}

tz_result tz_cut_check(const tz_cut_batch *batch, tz_error *err)
{
    TZ_TRY(check_shape(batch, err));
    TZ_TRY(check_parts(batch, err));
    for (uint64_t i = 0; i < batch->count; i++) {
        tz_location place = tz_at_offset(batch->tiles[i].to);
        place.tile = (int64_t)i;
        TZ_TRY(check_tile(batch, &batch->tiles[i], place, err));
    }
    return TZ_OK;
}
