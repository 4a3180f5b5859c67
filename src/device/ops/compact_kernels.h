/* SPDX-License-Identifier: Apache-2.0
 * Encoded tiles, moved together, so that one download copies no unused bytes. First one work-group
 * adds up the sizes, which gives every tile its offset. Then a work-group moves each
 * TZ_COMPACT_BLOCK bytes of a tile. Tiles without compression have their sizes set here, and their
 * samples are moved; so are the samples of tiles that are left to the CPU. */
#ifndef TZ_DEVICE_OPS_COMPACT_KERNELS_H
#define TZ_DEVICE_OPS_COMPACT_KERNELS_H

#include "device/ops/encode_table_kernels.h"
#include "kernels/copy_share.h"
#include "kernels/kernel_entry.h"
#include "kernels/work_items.h"

#define TZ_COMPACT_BLOCK 16384u

/* Sets the size of a tile without compression. */
TZ_FN void tz_encode_none_work_item(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 sizes,
                                    tz_u64 number)
{
    tz_encode_set_size(slab, sizes, number, tz_encode_tile_of(slab, table, number).size);
}

/* Bytes of a tile that are moved. */
TZ_FN tz_u32 tz_compact_size(const TZ_GLOBAL tz_u8 *slab, tz_u64 sizes, tz_u64 number)
{
    return tz_load_u32(slab + sizes + 4u * number) & ~TZ_ENCODE_LEFT_TO_CPU;
}

/* Writes the offset of each tile, and after them the sum of all. before, after: bytes around each
 * tile that is not empty, for the leader and the trailer of a COG. The work-group takes as many
 * tiles at a time as it has work-items. sums: TZ_SCAN_WORDS. */
TZ_FN void tz_compact_scan_work_group(TZ_GLOBAL tz_u8 *slab, tz_u64 sizes, tz_u64 offsets,
                                      tz_u64 count, tz_u32 before, tz_u32 after,
                                      TZ_LOCAL tz_u64 *sums)
{
    tz_u64 start = 0u;
    for (tz_u64 first = 0u; first < count; first += TZ_WORK_GROUP_SIZE) {
        for (TZ_EACH_WORK_ITEM(work_item)) {
            const tz_u32 size =
                first + work_item < count ? tz_compact_size(slab, sizes, first + work_item) : 0u;
            sums[work_item] = size > 0u ? (tz_u64)size + before + after : 0u;
        }
        TZ_SYNC;
        tz_scan_work_group(sums);
        for (TZ_EACH_WORK_ITEM(work_item)) {
            const tz_u64 offset = tz_scan_before(sums, work_item);
            if (first + work_item < count)
                tz_store_u64(slab + offsets + 8u * (first + work_item),
                             start + offset + (sums[work_item] > offset ? before : 0u));
        }
        start += sums[TZ_WORK_GROUP_SIZE - 1u];
        TZ_SYNC;
    }
    for (TZ_EACH_WORK_ITEM(work_item)) {
        if (work_item == 0u)
            tz_store_u64(slab + offsets + 8u * count, start);
    }
}

/* Moves the share of a work-item in one block of a tile. unencoded: the samples are moved. */
TZ_FN void tz_compact_move(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 sizes, tz_u64 offsets,
                           tz_u64 to, tz_u32 unencoded, tz_u64 number, tz_u32 block,
                           tz_u32 work_item, tz_u32 work_items)
{
    const tz_u32 size = tz_compact_size(slab, sizes, number);
    const tz_u64 begin = (tz_u64)block * TZ_COMPACT_BLOCK;
    if (begin < size && work_item < work_items) {
        const tz_encode_tile tile = tz_encode_tile_of(slab, table, number);
        const tz_u32 is_left = tz_load_u32(slab + sizes + 4u * number) != size;
        const tz_u64 from = unencoded || is_left ? tile.from : tile.to;
        const tz_u64 offset = tz_load_u64(slab + offsets + 8u * number);
        const tz_u32 rest = size - (tz_u32)begin;
        tz_copy_share(slab + to + offset + begin, slab + from + begin,
                      tz_kernel_min(rest, TZ_COMPACT_BLOCK), work_item, work_items);
    }
}

#ifdef TZ_KERNEL
/* A work-item for each tile. */
TZ_KERNEL(tz_kernel_encode_none)
(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 sizes, tz_u64 count)
{
    const tz_u64 number = TZ_WORK_GROUP * 64u + TZ_WORK_ITEM;
    if (number < count)
        tz_encode_none_work_item(slab, table, sizes, number);
}

TZ_KERNEL(tz_kernel_compact_scan)
(TZ_GLOBAL tz_u8 *slab, tz_u64 sizes, tz_u64 offsets, tz_u64 count, tz_u32 before, tz_u32 after)
{
    TZ_SHARED tz_u64 sums[TZ_SCAN_WORDS];
    tz_compact_scan_work_group(slab, sizes, offsets, count, before, after, sums);
}

/* Every tile has `blocks` work-groups. The first `work_items` work-items of a work-group share a
 * block. */
TZ_KERNEL(tz_kernel_compact_move)
(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 sizes, tz_u64 offsets, tz_u64 to, tz_u32 blocks,
 tz_u32 unencoded, tz_u32 work_items)
{
    tz_compact_move(slab, table, sizes, offsets, to, unencoded, TZ_WORK_GROUP / blocks,
                    (tz_u32)(TZ_WORK_GROUP % blocks), TZ_WORK_ITEM, work_items);
}
#endif

#endif
