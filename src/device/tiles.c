/* SPDX-License-Identifier: Apache-2.0 */
#include "device/tiles.h"

#include "base/mem.h"
#include "device/device_state.h"
#include "device/launch.h"
#include "device/tile_kernels.h"

_Static_assert(sizeof(tz_tile_entry) == TZ_TILE_ENTRY, "kernels read the entries as they are");

static uint64_t tile_bytes(const tz_tile_batch *batch)
{
    const uint64_t pixel = tz_mul_capped(batch->samples, batch->sample_bytes);
    return tz_mul_capped(tz_mul_capped(batch->width, batch->height), pixel);
}

/* A tile's first pixel is at most one tile before the raster, and in it: sums of kernels hold. */
static bool origin_fits(const tz_tile_entry *tile)
{
    return tile->x > -(INT64_C(1) << 33) && tile->x < INT64_C(1) << 33 &&
           tile->y > -(INT64_C(1) << 33) && tile->y < INT64_C(1) << 33;
}

static tz_result refuse(const tz_tile_batch *batch, tz_place place, const char *text, tz_error *err)
{
    return tz_call_refuse(batch->slab->device, err, TZ_ERR_ARG, TZ_CAUSE_ARG, place, text);
}

static tz_result check_shape(const tz_tile_batch *batch, tz_error *err)
{
    const uint32_t bytes = batch->sample_bytes;
    if (batch->width == 0 || batch->height == 0 || batch->samples == 0 ||
        (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
        return refuse(batch, tz_at_nowhere(), "tiles of such a shape do not exist", err);
    if (tz_mul_capped(batch->width, (uint64_t)batch->samples) > UINT32_MAX ||
        tz_mul_capped(batch->samples, (uint64_t)bytes) > UINT32_MAX)
        return refuse(batch, tz_at_nowhere(), "rows of tiles are too long for kernels", err);
    if (!tz_memory_holds(batch->slab, batch->table,
                         tz_mul_capped(batch->count, sizeof *batch->tiles)))
        return refuse(batch, tz_at_offset(batch->table), "the table is not within the slab", err);
    return TZ_OK;
}

tz_result tz_tiles_check(const tz_tile_batch *batch, tz_error *err)
{
    TZ_TRY(check_shape(batch, err));
    const uint64_t size = tile_bytes(batch);
    for (uint64_t i = 0; i < batch->count; i++) {
        const tz_tile_entry *tile = &batch->tiles[i];
        tz_place place = tz_at_offset(tile->offset);
        place.tile = (int64_t)i;
        if (!tz_memory_holds(batch->slab, tile->offset, size))
            return refuse(batch,
                          tz_expecting(place, batch->slab->size, tz_add_capped(tile->offset, size)),
                          "the tile is not within the slab", err);
        if (!origin_fits(tile))
            return refuse(batch, place, "the tile is too far from the raster", err);
    }
    return TZ_OK;
}

static uint32_t undo2_kernel(uint32_t sample_bytes)
{
    switch (sample_bytes) {
    case 1:
        return TZ_KERNEL_UNDO2_U8;
    case 2:
        return TZ_KERNEL_UNDO2_U16;
    case 4:
        return TZ_KERNEL_UNDO2_U32;
    default:
        return TZ_KERNEL_UNDO2_U64;
    }
}

tz_result tz_tiles_undo_predictor2(const tz_tile_batch *batch, bool swap, uint32_t queue,
                                   tz_error *err)
{
    TZ_TRY(tz_tiles_check(batch, err));
    const uint64_t rows = tz_mul_capped(batch->count, batch->height);
    const tz_argument arguments[] = {TZ_MEMORY(batch->slab), TZ_U64(batch->table),
                                     TZ_U64(rows),           TZ_U32(batch->width * batch->samples),
                                     TZ_U32(batch->height),  TZ_U32(batch->samples),
                                     TZ_U32(swap ? 1 : 0)};
    const tz_launch launch = {.kernel = undo2_kernel(batch->sample_bytes),
                              .groups = tz_ceil_div(rows, TZ_GROUP_ITEMS),
                              .arguments = arguments,
                              .argument_count = sizeof arguments / sizeof arguments[0]};
    return tz_device_launch(batch->slab->device, queue, &launch, err);
}

static tz_result check_raster(const tz_tile_batch *batch, const tz_device_raster *raster,
                              tz_error *err)
{
    const uint64_t pixel = (uint64_t)batch->samples * batch->sample_bytes;
    const uint64_t row = tz_mul_capped(raster->width, pixel);
    if (raster->width == 0 || raster->height == 0 || row > raster->row_bytes)
        return refuse(batch, tz_expecting(tz_at_nowhere(), row, raster->row_bytes),
                      "a row of the raster is shorter than its pixels", err);
    const uint64_t size = tz_add_capped(tz_mul_capped(raster->height - 1, raster->row_bytes), row);
    if (!tz_memory_holds(raster->memory, raster->offset, size))
        return refuse(batch,
                      tz_expecting(tz_at_offset(raster->offset), raster->memory->size,
                                   tz_add_capped(raster->offset, size)),
                      "the raster is not within its memory", err);
    return TZ_OK;
}

tz_result tz_tiles_place(const tz_tile_batch *batch, const tz_device_raster *raster, uint32_t queue,
                         tz_error *err)
{
    TZ_TRY(tz_tiles_check(batch, err));
    TZ_TRY(check_raster(batch, raster, err));
    const tz_argument arguments[] = {
        TZ_MEMORY(batch->slab),    TZ_MEMORY(raster->memory),
        TZ_U64(batch->table),      TZ_U64(raster->offset),
        TZ_U64(raster->row_bytes), TZ_U32(batch->width),
        TZ_U32(batch->height),     TZ_U32(batch->samples * batch->sample_bytes),
        TZ_U32(raster->width),     TZ_U32(raster->height)};
    const tz_launch launch = {.kernel = TZ_KERNEL_PLACE_ROWS,
                              .groups = tz_mul_capped(batch->count, batch->height),
                              .arguments = arguments,
                              .argument_count = sizeof arguments / sizeof arguments[0]};
    return tz_device_launch(batch->slab->device, queue, &launch, err);
}
