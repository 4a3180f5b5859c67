/* SPDX-License-Identifier: Apache-2.0
 * See encode.h. */
#include "base/mem.h"
#include "device/device_state.h"
#include "device/launch.h"
#include "device/ops/compact_kernels.h"
#include "device/ops/encode_internal.h"

/* The most that is moved of a tile: also its samples, which the room of a view always holds. */
static uint32_t max_moved_bytes(const tz_encode_batch *tiles, uint64_t number)
{
    return tz_encode_is_plain(tiles) ? tiles->tiles[number].size : tiles->tiles[number].capacity;
}

uint64_t tz_compact_capacity(const tz_compact_batch *batch)
{
    uint64_t capacity = 0;
    for (uint64_t i = 0; i < batch->tiles->count; i++)
        capacity = tz_add_capped(capacity, (uint64_t)max_moved_bytes(batch->tiles, i) +
                                               batch->before + batch->after);
    return capacity;
}

static tz_result check_compact_batch(const tz_compact_batch *batch, tz_error *err)
{
    const tz_encode_batch *tiles = batch->tiles;
    TZ_TRY(tz_encode_check(tiles, err));
    if (batch->offsets % 8 != 0 ||
        !tz_memory_holds(tiles->slab, batch->offsets,
                         tz_mul_capped(tz_add_capped(tiles->count, 1), sizeof(uint64_t))))
        return tz_encode_fail(tiles, tz_at_offset(batch->offsets),
                              "the places are not within the slab", err);
    if (!tz_memory_holds(tiles->slab, batch->to, batch->capacity))
        return tz_encode_fail(tiles, tz_at_offset(batch->to),
                              "the room for all tiles is not within the slab", err);
    const uint64_t capacity = tz_compact_capacity(batch);
    if (batch->capacity < capacity)
        return tz_encode_fail(tiles,
                              tz_expecting(tz_at_offset(batch->to), capacity, batch->capacity),
                              "the tiles may need more room", err);
    return TZ_OK;
}

static tz_result launch_scan(const tz_compact_batch *batch, uint32_t queue, tz_error *err)
{
    const tz_encode_batch *tiles = batch->tiles;
    const tz_argument arguments[] = {TZ_MEMORY(tiles->slab), TZ_U64(tiles->sizes),
                                     TZ_U64(batch->offsets), TZ_U64(tiles->count),
                                     TZ_U32(batch->before),  TZ_U32(batch->after)};
    const tz_launch launch = TZ_LAUNCH_OF(TZ_KERNEL_COMPACT_SCAN, 1, arguments);
    return tz_device_launch(tiles->slab->device, queue, &launch, err);
}

static uint32_t blocks_per_tile(const tz_encode_batch *tiles)
{
    uint32_t max_bytes = 1;
    for (uint64_t i = 0; i < tiles->count; i++)
        max_bytes = max_moved_bytes(tiles, i) > max_bytes ? max_moved_bytes(tiles, i) : max_bytes;
    return (uint32_t)tz_ceil_div(max_bytes, TZ_COMPACT_BLOCK);
}

static tz_result launch_move(const tz_compact_batch *batch, uint32_t queue, tz_error *err)
{
    const tz_encode_batch *tiles = batch->tiles;
    tz_device *device = tiles->slab->device;
    const uint32_t blocks = blocks_per_tile(tiles);
    const tz_argument arguments[] = {
        TZ_MEMORY(tiles->slab),
        TZ_U64(tiles->table),
        TZ_U64(tiles->sizes),
        TZ_U64(batch->offsets),
        TZ_U64(batch->to),
        TZ_U32(blocks),
        TZ_U32(tz_encode_is_plain(tiles)),
        TZ_U32(device->info.type == TZ_DEVICE_CPU ? 1 : TZ_WORK_GROUP_ITEMS)};
    const tz_launch launch =
        TZ_LAUNCH_OF(TZ_KERNEL_COMPACT_MOVE, tz_mul_capped(tiles->count, blocks), arguments);
    return tz_device_launch(device, queue, &launch, err);
}

tz_result tz_compact_launch(const tz_compact_batch *batch, uint32_t queue, tz_error *err)
{
    TZ_TRY(check_compact_batch(batch, err));
    TZ_TRY(launch_scan(batch, queue, err));
    return launch_move(batch, queue, err);
}
