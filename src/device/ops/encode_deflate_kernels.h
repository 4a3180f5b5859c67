/* SPDX-License-Identifier: Apache-2.0
 * Tiles to zlib streams, a work-group for each: see encode.h. An estimate decides first if matches
 * are worth it; such a tile is left to the CPU. */
#ifndef TZ_DEVICE_OPS_ENCODE_DEFLATE_KERNELS_H
#define TZ_DEVICE_OPS_ENCODE_DEFLATE_KERNELS_H

#include "device/ops/encode_table_kernels.h"
#include "kernels/deflate_encode.h"
#include "kernels/deflate_encode_work_group.h"
#include "kernels/deflate_estimate.h"
#include "kernels/kernel_entry.h"

typedef union tz_encode_deflate_scratch {
    tz_estimate_scratch choice;
    tz_deflate_scratch deflate;
} tz_encode_deflate_scratch;

/* One work-item estimates and encodes. */
TZ_FN void tz_encode_deflate_work_item(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 sizes,
                                       tz_u64 number, TZ_LOCAL tz_encode_deflate_scratch *scratch)
{
    const tz_encode_tile tile = tz_encode_tile_of(slab, table, number);
    const TZ_GLOBAL tz_u8 *in = slab + tile.from;
    tz_u32 size = tile.size;
    if (size > 0u) {
        if (tz_estimate_prefers_matches(tz_estimate_tile(in, size, &scratch->choice)))
            size |= TZ_ENCODE_LEFT_TO_CPU;
        else
            size = tz_deflate_tile(in, size, slab + tile.to, &scratch->deflate);
    }
    tz_encode_set_size(slab, sizes, number, size);
}

typedef struct tz_encode_deflate_group_scratch {
    union {
        tz_estimate_scratch choice;
        tz_deflate_shared deflate;
    } one; /* the estimate is done before the encoder begins */
    tz_u32 answer[2];
} tz_encode_deflate_group_scratch;

/* All work-items of a work-group share the tile. They all reach the encoder, which has barriers:
 * for a tile that is left its input is empty. */
TZ_FN void tz_encode_deflate_work_group(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 sizes,
                                        tz_u64 number,
                                        TZ_LOCAL tz_encode_deflate_group_scratch *scratch)
{
    const tz_encode_tile tile = tz_encode_tile_of(slab, table, number);
    const TZ_GLOBAL tz_u8 *in = slab + tile.from;
    const tz_u32 is_left = tz_estimate_prefers_matches_work_group(
        in, tile.size, &scratch->one.choice, scratch->answer);
    tz_u32 size = is_left ? 0u : tile.size;
    size = tz_deflate_tile_work_group(in, size, slab + tile.to, &scratch->one.deflate);
    if (is_left)
        size = tile.size | TZ_ENCODE_LEFT_TO_CPU;
    for (TZ_EACH_WORK_ITEM(work_item)) {
        if (work_item == 0u)
            tz_encode_set_size(slab, sizes, number, size);
    }
}

#ifdef TZ_KERNEL
#ifdef TZ_HAS_SINGLE_ITEM_KERNELS
TZ_KERNEL(tz_kernel_deflate_work_item)(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 sizes)
{
    TZ_SHARED tz_encode_deflate_scratch scratch;
    if (TZ_WORK_ITEM == 0u)
        tz_encode_deflate_work_item(slab, table, sizes, TZ_WORK_GROUP, &scratch);
}
#endif

TZ_KERNEL(tz_kernel_deflate_work_group)(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 sizes)
{
    TZ_SHARED tz_encode_deflate_group_scratch scratch;
    tz_encode_deflate_work_group(slab, table, sizes, TZ_WORK_GROUP, &scratch);
}
#endif

#endif
