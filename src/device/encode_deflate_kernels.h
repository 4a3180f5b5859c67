/* SPDX-License-Identifier: Apache-2.0
 * Tiles to zlib streams, a group for each: see encode.h. */
#ifndef TZ_DEVICE_ENCODE_DEFLATE_KERNELS_H
#define TZ_DEVICE_ENCODE_DEFLATE_KERNELS_H

#include "device/encode_table_kernels.h"
#include "kernels/deflate_encode.h"
#include "kernels/deflate_encode_group.h"
#include "kernels/deflate_estimate.h"
#include "kernels/shell.h"

typedef union tz_encode_deflate_work {
    tz_choice_work choice;
    tz_deflate_work deflate;
} tz_encode_deflate_work;

/* By one item alone. */
TZ_FN void tz_encode_deflate_item(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 sizes, tz_u64 number,
                                  TZ_LOCAL tz_encode_deflate_work *work)
{
    const tz_encode_tile tile = tz_encode_tile_of(slab, table, number);
    const TZ_GLOBAL tz_u8 *in = slab + tile.from;
    tz_u32 size = tile.size;
    if (size > 0u) {
        if (tz_choice_is_matches(tz_choice_estimate_tile(in, size, &work->choice)))
            size |= TZ_ENCODE_LEFT;
        else
            size = tz_deflate_tile(in, size, slab + tile.to, &work->deflate);
    }
    tz_encode_set_size(slab, sizes, number, size);
}

typedef struct tz_encode_deflate_group_work {
    union {
        tz_choice_work choice;
        tz_deflate_group deflate;
    } one; /* after the other */
    tz_u32 answer[2];
} tz_encode_deflate_group_work;

/* By a group. */
TZ_FN void tz_encode_deflate_group(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 sizes, tz_u64 number,
                                   TZ_LOCAL tz_encode_deflate_group_work *work)
{
    const tz_encode_tile tile = tz_encode_tile_of(slab, table, number);
    const TZ_GLOBAL tz_u8 *in = slab + tile.from;
    const tz_u32 is_left =
        tz_choice_is_matches_group(in, tile.size, &work->one.choice, work->answer);
    tz_u32 size = is_left ? 0u : tile.size;
    size = tz_deflate_tile_group(in, size, slab + tile.to, &work->one.deflate);
    if (is_left)
        size = tile.size | TZ_ENCODE_LEFT;
    for (TZ_ITEMS(item)) {
        if (item == 0u)
            tz_encode_set_size(slab, sizes, number, size);
    }
}

#ifdef TZ_SHELL
#ifdef TZ_SHELL_ALONE
TZ_SHELL(tz_kernel_deflate_item)(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 sizes)
{
    TZ_SHARED tz_encode_deflate_work work;
    if (TZ_ITEM == 0u)
        tz_encode_deflate_item(slab, table, sizes, TZ_GROUP, &work);
}
#endif

TZ_SHELL(tz_kernel_deflate_group)(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 sizes)
{
    TZ_SHARED tz_encode_deflate_group_work work;
    tz_encode_deflate_group(slab, table, sizes, TZ_GROUP, &work);
}
#endif

#endif
