/* SPDX-License-Identifier: Apache-2.0
 * Tiles encoded by kernels, and moved together afterwards.
 *
 * Each tile of a batch has a view in the slab: room for the most that its encoder can make. One
 * launch encodes all tiles into their views and writes their sizes. Compaction then takes two more
 * launches: one group adds up the sizes, which gives each tile its offset, and a move copies every
 * tile there, so that one download takes all of them and no unused bytes of the views.
 *
 * Two kinds of tiles are moved as samples: those of a file without compression, which are never
 * copied to a view, and those that Deflate leaves to the CPU (see encode.h). A view therefore
 * always has room for the samples of its tile. */
#include "device/ops/encode.h"

#include "codec/codec.h"
#include "device/device_state.h"
#include "device/launch.h"
#include "device/ops/compact_kernels.h"
#include "device/ops/encode_deflate_kernels.h"
#include "device/ops/encode_packbits_kernels.h"
#include "device/ops/vendor_encode.h"

_Static_assert(sizeof(tz_encode_entry) == TZ_ENCODE_ENTRY_BYTES &&
                   offsetof(tz_encode_entry, capacity) == 20,
               "kernels read the entries as they are");

/* A build without libdeflate could not encode the tiles that a device leaves to the CPU. */
static bool is_deflate(uint16_t compression)
{
#ifdef TZ_HAVE_LIBDEFLATE
    return compression == TZ_COMPRESSION_DEFLATE || compression == TZ_COMPRESSION_OLD_DEFLATE;
#else
    (void)compression;
    return false;
#endif
}

static bool has_encoder_kernels(uint16_t compression)
{
    return compression == TZ_COMPRESSION_NONE || compression == TZ_COMPRESSION_PACKBITS ||
           is_deflate(compression);
}

/* A work-group of Deflate keeps its tables in local memory. A device without room for them encodes
 * nothing, so that its capabilities are all there or none. */
bool tz_device_encodes(const tz_device *device, const tz_tile_format *format,
                       const tz_encode_options *choice)
{
    if (!device->driver || !has_encoder_kernels(format->compression) ||
        tz_tile_bytes(format) > TZ_ENCODE_MAX_TILE_BYTES)
        return false;
    if (device->info.local_memory_bytes < sizeof(tz_encode_deflate_group_scratch))
        return false;
    return !is_deflate(format->compression) || choice->level == TZ_EFFORT_FAST;
}

/* ---- checks ---- */

/* The encoded tile begins `lead` bytes into its view (see vendor_encode.c), so that the view begins
 * before tile->to. */
static tz_result check_vendor_tile(const tz_encode_batch *batch, const tz_encode_entry *tile,
                                   tz_location location, tz_error *err)
{
    const tz_vendor_encode_plan *library = batch->library;
    if (tile->size > library->max_tile || tile->from % library->encoder.input_alignment != 0)
        return tz_refuse(batch->slab, tz_expecting(location, library->max_tile, tile->size),
                         "the tile is not one that the library takes", err);
    if (tile->to < library->lead || (tile->to - library->lead) % TZ_ENCODE_VIEW_ALIGN != 0 ||
        !tz_memory_holds(batch->slab, tile->to - library->lead, library->view))
        return tz_refuse(batch->slab, location, "the view of the tile is not within the slab", err);
    if (tile->capacity < tile->size || tile->capacity > library->view - library->lead)
        return tz_refuse(batch->slab, tz_expecting(location, tile->size, tile->capacity),
                         "the room of the tile is not in its view", err);
    return TZ_OK;
}

static tz_result check_encode_tile(const tz_encode_batch *batch, uint64_t number, tz_error *err)
{
    const tz_encode_entry *tile = &batch->tiles[number];
    const tz_location location = tz_location_of_tile(tile->from, number);
    if (tile->size > TZ_ENCODE_MAX_TILE_BYTES)
        return tz_refuse(batch->slab, tz_expecting(location, TZ_ENCODE_MAX_TILE_BYTES, tile->size),
                         "the tile is too large for kernels", err);
    TZ_TRY(tz_check_range(batch->slab, location, tile->from, tile->size,
                          "the tile is not within the slab", err));
    if (tile->skip != TZ_NO_VALUE)
        TZ_TRY(tz_check_range(batch->slab, location, tile->skip, sizeof(uint32_t),
                              "the flag to skip the tile is not within the slab", err));
    if (batch->compression == TZ_COMPRESSION_NONE)
        return TZ_OK;
    if (batch->library)
        return check_vendor_tile(batch, tile, location, err);
    if (tile->to % 8 != 0 || !tz_memory_holds(batch->slab, tile->to, tile->capacity))
        return tz_refuse(batch->slab, location, "the room of the tile is not within the slab", err);
    uint64_t bound; /* bytes of the encoded tile in the worst case */
    if (batch->compression == TZ_COMPRESSION_PACKBITS) {
        if (tile->size % batch->row_bytes != 0)
            return tz_refuse(batch->slab, location, "the tile has no whole number of rows", err);
        bound = tz_packbits_bound(tile->size, batch->row_bytes);
    } else {
        bound = tile->size > 0 ? TZ_ZLIB_FRAME_BYTES + tz_deflate_raw_bound(tile->size) : 0;
    }
    if (tile->capacity < bound)
        return tz_refuse(batch->slab, tz_expecting(location, bound, tile->capacity),
                         "the tile may need more room", err);
    return TZ_OK;
}

tz_result tz_encode_check(const tz_encode_batch *batch, tz_error *err)
{
    const bool is_known = batch->library ? batch->library->compression == batch->compression
                                         : has_encoder_kernels(batch->compression);
    if (!is_known || (batch->compression == TZ_COMPRESSION_PACKBITS && batch->row_bytes == 0))
        return tz_refuse(batch->slab, tz_no_location(), "devices do not encode such tiles", err);
    TZ_TRY(tz_check_array(batch->slab, batch->table, batch->count, sizeof *batch->tiles, 8,
                          "the table is not within the slab", err));
    TZ_TRY(tz_check_array(batch->slab, batch->sizes, batch->count, sizeof(uint32_t), 8,
                          "the sizes are not within the slab", err));
    for (uint64_t i = 0; i < batch->count; i++)
        TZ_TRY(check_encode_tile(batch, i, err));
    return TZ_OK;
}

/* ---- encoding ---- */

tz_result tz_encode_launch(const tz_encode_batch *batch, uint32_t queue, tz_error *err)
{
    tz_device *device = batch->slab->device;
    TZ_TRY(tz_encode_check(batch, err));
    if (batch->compression == TZ_COMPRESSION_NONE) /* only sizes: one work-item for each tile */
        return TZ_LAUNCH(device, queue, TZ_KERNEL_ENCODE_NONE,
                         tz_ceil_div(batch->count, TZ_WORK_GROUP_ITEMS), err,
                         TZ_MEMORY(batch->slab), TZ_U64(batch->table), TZ_U64(batch->sizes),
                         TZ_U64(batch->count));
    if (batch->compression == TZ_COMPRESSION_PACKBITS)
        return TZ_LAUNCH(device, queue,
                         tz_kernel_for(device, TZ_KERNEL_ENCODE_PACKBITS_WORK_ITEM,
                                       TZ_KERNEL_ENCODE_PACKBITS_WORK_GROUP),
                         batch->count, err, TZ_MEMORY(batch->slab), TZ_U64(batch->table),
                         TZ_U64(batch->sizes), TZ_U32(batch->row_bytes));
    return TZ_LAUNCH(
        device, queue,
        tz_kernel_for(device, TZ_KERNEL_DEFLATE_WORK_ITEM, TZ_KERNEL_DEFLATE_WORK_GROUP),
        batch->count, err, TZ_MEMORY(batch->slab), TZ_U64(batch->table), TZ_U64(batch->sizes));
}

/* ---- compaction ---- */

/* Bytes of a tile that may be moved, at most. */
static uint32_t max_moved_bytes(const tz_encode_batch *tiles, uint64_t number)
{
    return tiles->compression == TZ_COMPRESSION_NONE ? tiles->tiles[number].size
                                                     : tiles->tiles[number].capacity;
}

uint64_t tz_compact_capacity(const tz_compact_batch *batch)
{
    uint64_t capacity = 0;
    for (uint64_t i = 0; i < batch->tiles->count; i++)
        capacity = tz_add_capped(capacity, (uint64_t)max_moved_bytes(batch->tiles, i) +
                                               batch->before + batch->after);
    return capacity;
}

tz_result tz_compact_launch(const tz_compact_batch *batch, uint32_t queue, tz_error *err)
{
    const tz_encode_batch *tiles = batch->tiles;
    tz_device *device = tiles->slab->device;
    TZ_TRY(tz_encode_check(tiles, err));
    TZ_TRY(tz_check_array(tiles->slab, batch->offsets, tz_add_capped(tiles->count, 1),
                          sizeof(uint64_t), 8, "the offsets are not within the slab", err));
    TZ_TRY(tz_check_range(tiles->slab, tz_at_offset(batch->to), batch->to, batch->capacity,
                          "the room for all tiles is not within the slab", err));
    const uint64_t capacity = tz_compact_capacity(batch);
    if (batch->capacity < capacity)
        return tz_refuse(tiles->slab,
                         tz_expecting(tz_at_offset(batch->to), capacity, batch->capacity),
                         "the tiles may need more room", err);
    TZ_TRY(TZ_LAUNCH(device, queue, TZ_KERNEL_COMPACT_SCAN, 1, err, TZ_MEMORY(tiles->slab),
                     TZ_U64(tiles->sizes), TZ_U64(batch->offsets), TZ_U64(tiles->count),
                     TZ_U32(batch->before), TZ_U32(batch->after)));

    /* The host does not know the sizes yet: every tile has as many groups as the largest may need.
     */
    uint64_t max_bytes = 1;
    for (uint64_t i = 0; i < tiles->count; i++)
        max_bytes = tz_max(max_bytes, max_moved_bytes(tiles, i));
    const uint32_t blocks = (uint32_t)tz_ceil_div(max_bytes, TZ_COMPACT_BLOCK);
    return TZ_LAUNCH(device, queue, TZ_KERNEL_COMPACT_MOVE, tz_mul_capped(tiles->count, blocks),
                     err, TZ_MEMORY(tiles->slab), TZ_U64(tiles->table), TZ_U64(tiles->sizes),
                     TZ_U64(batch->offsets), TZ_U64(batch->to), TZ_U32(blocks),
                     TZ_U32(tiles->compression == TZ_COMPRESSION_NONE),
                     TZ_U32(tz_row_items_for(device)));
}
