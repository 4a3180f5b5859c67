/* SPDX-License-Identifier: Apache-2.0
 * Tiles to PackBits, a work-group for each: see encode.h. */
#ifndef TZ_DEVICE_OPS_ENCODE_PACKBITS_KERNELS_H
#define TZ_DEVICE_OPS_ENCODE_PACKBITS_KERNELS_H

#include "device/ops/encode_table_kernels.h"
#include "kernels/kernel_entry.h"
#include "kernels/packbits_encode.h"

/* One work-item encodes the tile. */
TZ_FN void tz_encode_packbits_work_item(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 sizes,
                                        tz_u32 row_bytes, tz_u64 number)
{
    const tz_encode_tile tile = tz_encode_tile_of(slab, table, number);
    tz_encode_set_size(
        slab, sizes, number,
        tz_packbits_encode_tile(slab + tile.from, tile.size, row_bytes, slab + tile.to));
}

/* All work-items of a work-group share the tile. sums: TZ_SCAN_WORDS. */
TZ_FN void tz_encode_packbits_work_group(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 sizes,
                                         tz_u32 row_bytes, tz_u64 number, TZ_LOCAL tz_u64 *sums)
{
    const tz_encode_tile tile = tz_encode_tile_of(slab, table, number);
    const tz_u32 made = tz_packbits_encode_tile_work_group(slab + tile.from, tile.size, row_bytes,
                                                           slab + tile.to, sums);
    for (TZ_EACH_WORK_ITEM(work_item)) {
        if (work_item == 0u)
            tz_encode_set_size(slab, sizes, number, made);
    }
}

#ifdef TZ_KERNEL
#ifdef TZ_HAS_SINGLE_ITEM_KERNELS
TZ_KERNEL(tz_kernel_encode_packbits_work_item)
(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 sizes, tz_u32 row_bytes)
{
    if (TZ_WORK_ITEM == 0u)
        tz_encode_packbits_work_item(slab, table, sizes, row_bytes, TZ_WORK_GROUP);
}
#endif

TZ_KERNEL(tz_kernel_encode_packbits_work_group)
(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 sizes, tz_u32 row_bytes)
{
    TZ_SHARED tz_u64 sums[TZ_SCAN_WORDS];
    tz_encode_packbits_work_group(slab, table, sizes, row_bytes, TZ_WORK_GROUP, sums);
}
#endif

#endif
