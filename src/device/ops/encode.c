/* SPDX-License-Identifier: Apache-2.0 */
#include "device/ops/encode.h"

#include "base/mem.h"
#include "device/device_state.h"
#include "device/launch.h"
#include "device/ops/encode_deflate_kernels.h"
#include "device/ops/encode_internal.h"
#include "device/ops/encode_packbits_kernels.h"
#include "device/ops/vendor_encode.h"

_Static_assert(sizeof(tz_encode_entry) == TZ_ENCODE_ENTRY_BYTES,
               "kernels read the entries as they are");

enum { NONE = 1, DEFLATE = 8, PACKBITS = 32773, OLD_DEFLATE = 32946 };

/* A build without libdeflate could not encode what devices leave. */
static bool is_deflate(uint16_t compression)
{
#ifdef TZ_HAVE_LIBDEFLATE
    return compression == DEFLATE || compression == OLD_DEFLATE;
#else
    (void)compression;
    return false;
#endif
}

static bool has_encoder_kernels(uint16_t compression)
{
    return compression == NONE || compression == PACKBITS || is_deflate(compression);
}

bool tz_device_encodes(const tz_device *device, const tz_tile_format *format,
                       const tz_encode_options *choice)
{
    if (!device->driver || !has_encoder_kernels(format->compression) ||
        tz_tile_bytes(format) > TZ_ENCODE_MAX_TILE_BYTES)
        return false;
    if (device->info.limits.local_memory < sizeof(tz_encode_deflate_group_scratch))
        return false;
    return !is_deflate(format->compression) || choice->level == TZ_LEVEL_FAST;
}

/* What a tile may take. */
static uint64_t bound_of(const tz_encode_batch *batch, uint64_t size)
{
    if (is_deflate(batch->compression))
        return size > 0 ? TZ_ZLIB_FRAME + tz_deflate_raw_bound(size) : 0;
    return tz_packbits_bound(size, batch->row_bytes);
}

/* Of a tile for a library. */
static tz_result check_vendor_tile(const tz_encode_batch *batch, uint64_t number, tz_error *err)
{
    const tz_encode_entry *tile = &batch->tiles[number];
    const tz_vendor_encode_plan *library = batch->library;
    const tz_location location = tz_encode_location(tile->from, number);
    if (tile->size > library->max_tile || tile->from % library->encoder.input_alignment != 0)
        return tz_encode_fail(batch, tz_expecting(location, library->max_tile, tile->size),
                              "the tile is not one that the library takes", err);
    if (tile->to < library->lead || (tile->to - library->lead) % TZ_ENCODE_VIEW_ALIGN != 0 ||
        !tz_memory_holds(batch->slab, tile->to - library->lead, library->view))
        return tz_encode_fail(batch, location, "the view of the tile is not within the slab", err);
    if (tile->capacity < tile->size || tile->capacity > library->view - library->lead)
        return tz_encode_fail(batch, tz_expecting(location, tile->size, tile->capacity),
                              "the room of the tile is not in its view", err);
    return TZ_OK;
}

static tz_result check_encode_tile(const tz_encode_batch *batch, uint64_t number, tz_error *err)
{
    const tz_encode_entry *tile = &batch->tiles[number];
    const tz_location location = tz_encode_location(tile->from, number);
    if (tile->size > TZ_ENCODE_MAX_TILE_BYTES ||
        !tz_memory_holds(batch->slab, tile->from, tile->size))
        return tz_encode_fail(batch, location, "the tile is not within the slab", err);
    if (tile->skip != TZ_NONE && !tz_memory_holds(batch->slab, tile->skip, sizeof(uint32_t)))
        return tz_encode_fail(batch, location, "what skips the tile is not within the slab", err);
    if (batch->compression == NONE)
        return TZ_OK;
    if (batch->library)
        return check_vendor_tile(batch, number, err);
    if (tile->to % 8 != 0 || !tz_memory_holds(batch->slab, tile->to, tile->capacity))
        return tz_encode_fail(batch, location, "the room of the tile is not within the slab", err);
    if (batch->compression == PACKBITS && tile->size % batch->row_bytes != 0)
        return tz_encode_fail(batch, location, "the tile has no whole number of rows", err);
    const uint64_t bound = bound_of(batch, tile->size);
    if (tile->capacity < bound)
        return tz_encode_fail(batch, tz_expecting(location, bound, tile->capacity),
                              "the tile may need more room", err);
    return TZ_OK;
}

tz_result tz_encode_check(const tz_encode_batch *batch, tz_error *err)
{
    const bool is_known = batch->library ? batch->library->compression == batch->compression
                                         : has_encoder_kernels(batch->compression);
    if (!is_known || (batch->compression == PACKBITS && batch->row_bytes == 0))
        return tz_encode_fail(batch, tz_no_location(), "devices do not encode such tiles", err);
    if (batch->table % 8 != 0 ||
        !tz_memory_holds(batch->slab, batch->table,
                         tz_mul_capped(batch->count, sizeof *batch->tiles)))
        return tz_encode_fail(batch, tz_at_offset(batch->table), "the table is not within the slab",
                              err);
    if (batch->sizes % 8 != 0 ||
        !tz_memory_holds(batch->slab, batch->sizes, tz_mul_capped(batch->count, sizeof(uint32_t))))
        return tz_encode_fail(batch, tz_at_offset(batch->sizes),
                              "the sizes are not within the slab", err);
    for (uint64_t i = 0; i < batch->count; i++)
        TZ_TRY(check_encode_tile(batch, i, err));
    return TZ_OK;
}

tz_location tz_encode_location(uint64_t offset, uint64_t number)
{
    tz_location location = tz_at_offset(offset);
    location.tile = (int64_t)number;
    return location;
}

tz_result tz_encode_fail(const tz_encode_batch *batch, tz_location location, const char *text,
                         tz_error *err)
{
    return tz_call_fail(batch->slab->device, err, TZ_ERR_ARG, TZ_CAUSE_ARG, location, text);
}

bool tz_encode_is_plain(const tz_encode_batch *batch)
{
    return batch->compression == NONE;
}

static tz_result launch_none(const tz_encode_batch *batch, uint32_t queue, tz_error *err)
{
    const tz_argument arguments[] = {TZ_MEMORY(batch->slab), TZ_U64(batch->table),
                                     TZ_U64(batch->sizes), TZ_U64(batch->count)};
    const tz_launch launch = TZ_LAUNCH_OF(
        TZ_KERNEL_ENCODE_NONE, tz_ceil_div(batch->count, TZ_WORK_GROUP_ITEMS), arguments);
    return tz_device_launch(batch->slab->device, queue, &launch, err);
}

/* Cores have no use for groups: one item of each does all. */
static uint32_t kernel_for(const tz_device *device, uint32_t item, uint32_t group)
{
    return device->info.type == TZ_DEVICE_CPU ? item : group;
}

static tz_result launch_deflate(const tz_encode_batch *batch, uint32_t queue, tz_error *err)
{
    tz_device *device = batch->slab->device;
    const tz_argument arguments[] = {TZ_MEMORY(batch->slab), TZ_U64(batch->table),
                                     TZ_U64(batch->sizes)};
    const tz_launch launch =
        TZ_LAUNCH_OF(kernel_for(device, TZ_KERNEL_DEFLATE_WORK_ITEM, TZ_KERNEL_DEFLATE_WORK_GROUP),
                     batch->count, arguments);
    return tz_device_launch(device, queue, &launch, err);
}

static tz_result launch_packbits(const tz_encode_batch *batch, uint32_t queue, tz_error *err)
{
    tz_device *device = batch->slab->device;
    const tz_argument arguments[] = {TZ_MEMORY(batch->slab), TZ_U64(batch->table),
                                     TZ_U64(batch->sizes), TZ_U32(batch->row_bytes)};
    const tz_launch launch = TZ_LAUNCH_OF(kernel_for(device, TZ_KERNEL_ENCODE_PACKBITS_WORK_ITEM,
                                                     TZ_KERNEL_ENCODE_PACKBITS_WORK_GROUP),
                                          batch->count, arguments);
    return tz_device_launch(device, queue, &launch, err);
}

tz_result tz_encode_launch(const tz_encode_batch *batch, uint32_t queue, tz_error *err)
{
    TZ_TRY(tz_encode_check(batch, err));
    if (batch->compression == NONE)
        return launch_none(batch, queue, err);
    if (batch->compression == PACKBITS)
        return launch_packbits(batch, queue, err);
    return launch_deflate(batch, queue, err);
}
