/* SPDX-License-Identifier: Apache-2.0 */
#include "device/ops/decode.h"

#include "base/mem.h"
#include "device/device_state.h"
#include "device/device_text.h"
#include "device/launch.h"
#include "device/ops/decode_kernels.h"
#include "device/ops/vendor_decode.h"
#include "kernels/zstd.h"

_Static_assert(sizeof(tz_decode_entry) == TZ_DECODE_ENTRY_BYTES &&
                   offsetof(tz_decode_entry, to) == TZ_DECODE_TO &&
                   offsetof(tz_decode_entry, from_size) == TZ_DECODE_FROM_SIZE &&
                   offsetof(tz_decode_entry, to_size) == TZ_DECODE_TO_SIZE,
               "kernels read the entries as they are");

/* ---- decoders ---- */

typedef struct decoder_kernels {
    uint16_t compression;
    uint32_t by_group; /* kernels */
    uint32_t by_item;
    uint64_t scratch; /* bytes for each tile */
} decoder_kernels;

static const decoder_kernels decoders[] = {
    {5, TZ_KERNEL_LZW_WORK_GROUP, TZ_KERNEL_LZW_WORK_ITEM, 0},
    {8, TZ_KERNEL_INFLATE_WORK_GROUP, TZ_KERNEL_INFLATE_WORK_ITEM, 0},
    {32773, TZ_KERNEL_PACKBITS_WORK_GROUP, TZ_KERNEL_PACKBITS_WORK_ITEM, 0},
    {32946, TZ_KERNEL_INFLATE_WORK_GROUP, TZ_KERNEL_INFLATE_WORK_ITEM, 0},
    {50000, TZ_KERNEL_ZSTD_WORK_GROUP, TZ_KERNEL_ZSTD_WORK_ITEM, TZ_ZSTD_SCRATCH_BYTES},
    {50004, TZ_KERNEL_LZ4_WORK_GROUP, TZ_KERNEL_LZ4_WORK_ITEM, 0},
};

static const decoder_kernels *find_decoder_kernels(uint16_t compression)
{
    for (size_t i = 0; i < sizeof decoders / sizeof decoders[0]; i++) {
        if (decoders[i].compression == compression)
            return &decoders[i];
    }
    return NULL;
}

bool tz_device_decodes(const tz_device *device, uint16_t compression)
{
    return device->driver && find_decoder_kernels(compression);
}

uint64_t tz_decode_scratch_bytes(const tz_device *device, uint16_t compression,
                                 const tz_decode_need *need)
{
    tz_vendor_decoder library;
    const decoder_kernels *own = find_decoder_kernels(compression);
    const uint64_t bytes = own ? tz_mul_capped(own->scratch, need->count) : 0;
    if (need->count == 0 || !tz_vendor_decode_find(device, compression, &library))
        return bytes;
    return tz_vendor_decode_scratch(&library, need, bytes);
}

uint32_t tz_decode_launches(const tz_device *device, uint16_t compression)
{
    tz_vendor_decoder library;
    return 1 + (tz_vendor_decode_find(device, compression, &library)
                    ? tz_vendor_decode_launches(&library)
                    : 0);
}

/* ---- what a kernel would have to trust ---- */

typedef struct slab_range {
    uint64_t start, end;
} slab_range;

static slab_range range_of(uint64_t start, uint64_t size)
{
    return (slab_range){start, tz_add_capped(start, size)};
}

static void widen(slab_range *all, slab_range one)
{
    if (one.start == one.end)
        return;
    if (one.start < all->start)
        all->start = one.start;
    if (one.end > all->end)
        all->end = one.end;
}

static bool ranges_overlap(slab_range a, slab_range b)
{
    return a.start < b.end && b.start < a.end;
}

static tz_result fail_decode(const tz_decode_batch *batch, tz_location location, const char *text,
                             tz_error *err)
{
    return tz_call_fail(batch->slab->device, err, TZ_ERR_ARG, TZ_CAUSE_ARG, location, text);
}

static tz_result check_stored_tile(const tz_decode_batch *batch, uint64_t index, tz_error *err)
{
    const tz_decode_entry *tile = &batch->tiles[index];
    tz_location location = tz_at_offset(tile->from);
    location.tile = (int64_t)index;
    const uint32_t larger = tile->from_size > tile->to_size ? tile->from_size : tile->to_size;
    if (larger > TZ_DECODE_MAX_BYTES)
        return fail_decode(batch, tz_expecting(location, TZ_DECODE_MAX_BYTES, larger),
                           "the tile is too large for kernels", err);
    if (!tz_memory_holds(batch->slab, tile->from, tile->from_size))
        return fail_decode(
            batch,
            tz_expecting(location, batch->slab->size, tz_add_capped(tile->from, tile->from_size)),
            "the stored bytes are not within the slab", err);
    location.offset = tile->to;
    if (!tz_memory_holds(batch->slab, tile->to, tile->to_size))
        return fail_decode(
            batch,
            tz_expecting(location, batch->slab->size, tz_add_capped(tile->to, tile->to_size)),
            "the tile is not within the slab", err);
    return TZ_OK;
}

enum { STORED, TABLE, DECODED, STATUSES, SCRATCH, RANGES };

/* The first two are read, the others written. */
static void find_ranges(const tz_decode_batch *batch, const tz_decode_need *need,
                        slab_range ranges[RANGES])
{
    const uint64_t scratch = tz_decode_scratch_bytes(batch->slab->device, batch->compression, need);
    ranges[STORED] = ranges[DECODED] = (slab_range){UINT64_MAX, 0};
    for (uint64_t i = 0; i < batch->count; i++) {
        const tz_decode_entry *tile = &batch->tiles[i];
        widen(&ranges[STORED], range_of(tile->from, tile->from_size));
        widen(&ranges[DECODED], range_of(tile->to, tile->to_size));
    }
    ranges[TABLE] = range_of(batch->table, tz_mul_capped(batch->count, sizeof *batch->tiles));
    ranges[STATUSES] = range_of(batch->statuses, tz_mul_capped(batch->count, 4));
    ranges[SCRATCH] = range_of(scratch ? batch->scratch : 0, scratch);
}

static tz_result check_ranges(const tz_decode_batch *batch, const tz_decode_need *need,
                              tz_error *err)
{
    static const uint64_t multiples[RANGES] = {1, 8, 1, 4, 64};
    slab_range ranges[RANGES];
    find_ranges(batch, need, ranges);
    for (size_t i = TABLE; i < RANGES; i++) {
        const tz_location location = tz_at_offset(ranges[i].start);
        if (i != DECODED &&
            (ranges[i].start % multiples[i] != 0 || ranges[i].end > batch->slab->size))
            return fail_decode(batch, tz_expecting(location, batch->slab->size, ranges[i].end),
                               "the table, the statuses or the scratch are not within the slab",
                               err);
        for (size_t j = 0; j < i && i >= DECODED; j++) {
            if (ranges_overlap(ranges[i], ranges[j]))
                return fail_decode(batch, location, "what is read and what is written share bytes",
                                   err);
        }
    }
    return TZ_OK;
}

static tz_result check_decode_batch(const tz_decode_batch *batch, tz_decode_need *need,
                                    tz_error *err)
{
    for (uint64_t i = 0; i < batch->count; i++) {
        TZ_TRY(check_stored_tile(batch, i, err));
        tz_decode_need_add(need, batch->tiles[i].from_size, batch->tiles[i].to_size);
    }
    return check_ranges(batch, need, err);
}

/* ---- launching ---- */

static tz_result launch_kernels(const tz_decode_batch *batch, const decoder_kernels *how,
                                uint32_t queue, tz_error *err)
{
    tz_device *device = batch->slab->device;
    const bool alone = device->info.type == TZ_DEVICE_CPU;
    const tz_argument arguments[] = {TZ_MEMORY(batch->slab), TZ_U64(batch->table),
                                     TZ_U64(batch->statuses), TZ_U64(batch->scratch)};
    const tz_launch launch =
        TZ_LAUNCH_OF(alone ? how->by_item : how->by_group, batch->count, arguments);
    return tz_device_launch(device, queue, &launch, err);
}

/* A library, if there is one; *left becomes what is left to the own kernels. */
static tz_result launch_vendor_library(tz_decode_batch *left, const tz_decode_need *need,
                                       uint32_t queue, tz_decode_report *done, tz_error *err)
{
    tz_vendor_decoder library = {.name = ""};
    tz_error why;
    if (left->count == 0)
        return TZ_OK;
    if (!tz_vendor_decode_find(left->slab->device, left->compression, &library)) {
        tz_device_text(done->reason, sizeof done->reason, library.reason);
        return TZ_OK;
    }
    if (!tz_vendor_decode_accepts(&library, left)) {
        tz_device_textf(done->reason, sizeof done->reason,
                        "%s does not decode frames that do not say how much they make",
                        library.name);
        return TZ_OK;
    }
    done->launches += tz_vendor_decode_launches(&library);
    const tz_result result =
        tz_vendor_decode_launch(&library, left, need, queue, &left->table, &left->scratch, &why);
    if (result == TZ_OK) {
        tz_device_text(done->library, sizeof done->library, library.name);
        return TZ_OK;
    }
    if (result == TZ_ERR_UNSUPPORTED) {
        done->launches--; /* nothing to check */
        tz_device_text(done->reason, sizeof done->reason, why.message);
        return TZ_OK;
    }
    if (err)
        *err = why;
    return result;
}

tz_result tz_decode_launch(const tz_decode_batch *batch, uint32_t queue, tz_decode_report *done,
                           tz_error *err)
{
    const decoder_kernels *how = find_decoder_kernels(batch->compression);
    tz_decode_need need = {0};
    tz_decode_batch left = *batch;
    *done = (tz_decode_report){.launches = batch->count > 0};
    if (!how)
        return fail_decode(batch, tz_expecting(tz_no_location(), TZ_NONE, batch->compression),
                           "devices do not decode this compression", err);
    TZ_TRY(check_decode_batch(batch, &need, err));
    TZ_TRY(launch_vendor_library(&left, &need, queue, done, err));
    return launch_kernels(&left, how, queue, err);
}
