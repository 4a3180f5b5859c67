/* SPDX-License-Identifier: Apache-2.0
 * Statistics of one band of a tile, by one work-item or by a work-group. In a group, each work-item
 * is one of the eight accumulators of a block, so that the group sums several blocks at once. The
 * sums are the same: blocks depend on each other only by the pivot, and are added in their
 * order. */
#ifndef TZ_KERNELS_STATS_TILE_H
#define TZ_KERNELS_STATS_TILE_H

#include "kernels/stats.h"
#include "kernels/wide.h"
#include "kernels/work_items.h"

#ifdef TZ_HAS_F64

#define TZ_STATS_BLOCKS_AT_ONCE (TZ_WORK_GROUP_SIZE / TZ_STATS_ACCUMULATORS)

/* The samples of a tile, and the conditions under which they are valid. */
typedef struct tz_stats_source {
    tz_u64 row_bytes;
    tz_u32 step;      /* bytes from one pixel to the next */
    tz_u32 component; /* TZ_COMPONENT_* */
    tz_u32 width;
    tz_u32 rows;
    tz_u32 has_mask;
    tz_u32 has_nodata;
    tz_u32 nodata_kind; /* TZ_WIDE_* */
    tz_u64 nodata;
    tz_i64 mask_row;
    tz_i64 mask_column;
} tz_stats_source;

/* True if the sample of pixel x is valid. mask: the first pixel of its row. */
TZ_FN int tz_stats_is_counted(const tz_stats_source *from, const TZ_GLOBAL tz_u8 *mask, tz_u32 x,
                              tz_u64 value)
{
    if (from->has_mask && mask[(tz_i64)x * from->mask_column] == 0u)
        return 0;
    return !from->has_nodata || !tz_wide_equals(value, tz_component_kind(from->component),
                                                from->nodata, from->nodata_kind);
}

/* Blocks in a row. Blocks are numbered row by row. */
TZ_FN tz_u32 tz_stats_blocks_across(const tz_stats_source *from)
{
    return (from->width + TZ_STATS_BLOCK - 1u) / TZ_STATS_BLOCK;
}

/* Adds sample `first` of a block and every step-th after it. With a step of 1 they go to the
 * accumulators in turn; otherwise all go to accumulator 0, which is the only one of a work-item. */
TZ_FN void tz_stats_add_samples(const tz_stats_source *from, const TZ_GLOBAL tz_u8 *tile,
                                const TZ_GLOBAL tz_u8 *mask, tz_u64 block, tz_u32 first,
                                tz_u32 step, tz_f64 pivot, tz_accumulators *accumulators)
{
    const tz_u64 y = block / tz_stats_blocks_across(from);
    const tz_u32 begin = (tz_u32)(block % tz_stats_blocks_across(from)) * TZ_STATS_BLOCK;
    const tz_u32 count = tz_kernel_min(from->width - begin, TZ_STATS_BLOCK);
    const TZ_GLOBAL tz_u8 *row = tile + y * from->row_bytes + (tz_u64)begin * from->step;
    const TZ_GLOBAL tz_u8 *flags = mask + (tz_i64)y * from->mask_row;
    for (tz_u32 i = first; i < count; i += step) {
        const TZ_GLOBAL tz_u8 *p = row + (tz_u64)i * from->step;
        const tz_u64 value =
            tz_wide_of_raw(tz_load_raw(p, tz_component_bytes(from->component)), from->component);
        tz_accumulator_add(accumulators, step == 1u ? i % TZ_STATS_ACCUMULATORS : 0u,
                           tz_wide_f64(value, tz_component_kind(from->component)),
                           tz_stats_is_counted(from, flags, begin + i, value), pivot);
    }
}

TZ_FN void tz_stats_clear(tz_stats *stats)
{
    stats->valid = 0;
    stats->minimum = stats->maximum = stats->pivot = stats->sum = stats->squares = 0.0;
}

/* ---- by one work-item ---- */

TZ_FN tz_block_stats tz_stats_tile_block(const tz_stats_source *from, const TZ_GLOBAL tz_u8 *tile,
                                         const TZ_GLOBAL tz_u8 *mask, tz_u64 block, tz_f64 pivot)
{
    tz_accumulators accumulators;
    for (tz_u32 i = 0; i < TZ_STATS_ACCUMULATORS; i++)
        tz_accumulator_begin(&accumulators, i);
    tz_stats_add_samples(from, tile, mask, block, 0u, 1u, pivot, &accumulators);
    return tz_accumulators_merge(&accumulators);
}

TZ_FN tz_stats tz_stats_tile(const tz_stats_source *from, const TZ_GLOBAL tz_u8 *tile,
                             const TZ_GLOBAL tz_u8 *mask)
{
    const tz_u64 blocks = (tz_u64)from->rows * tz_stats_blocks_across(from);
    tz_stats stats;
    tz_stats_clear(&stats);
    for (tz_u64 block = 0; block < blocks; block++) {
        tz_block_stats found = tz_stats_tile_block(from, tile, mask, block, stats.pivot);
        if (found.valid > 0u && stats.valid == 0u) {
            tz_stats_begin(&stats, &found, from->component < TZ_COMPONENT_F16);
            found = tz_stats_tile_block(from, tile, mask, block, stats.pivot);
        }
        if (found.valid > 0u)
            tz_stats_add_block(&stats, &found);
    }
    return stats;
}

/* ---- by a work-group ---- */

/* Shared memory: sums, squares, lowest and highest of all accumulators, and last the pivot; their
 * counts, and last the number of the next block. */
#define TZ_STATS_SHARED_F64 (4u * TZ_WORK_GROUP_SIZE + 1u)
#define TZ_STATS_SHARED_U64 (TZ_WORK_GROUP_SIZE + 1u)

TZ_FN tz_block_stats tz_stats_load_block(const TZ_LOCAL tz_f64 *shared,
                                         const TZ_LOCAL tz_u64 *counts, tz_u32 first)
{
    tz_accumulators accumulators;
    for (tz_u32 i = 0; i < TZ_STATS_ACCUMULATORS; i++) {
        accumulators.sums[i] = shared[first + i];
        accumulators.squares[i] = shared[TZ_WORK_GROUP_SIZE + first + i];
        accumulators.lowest[i] = shared[2u * TZ_WORK_GROUP_SIZE + first + i];
        accumulators.highest[i] = shared[3u * TZ_WORK_GROUP_SIZE + first + i];
        accumulators.valid[i] = counts[first + i];
    }
    return tz_accumulators_merge(&accumulators);
}

/* Adds the blocks that were summed with the right pivot, and returns their number. Without a pivot
 * these are the blocks before the first that has valid samples; that one sets the pivot, and the
 * group sums it again. */
TZ_FN tz_u32 tz_stats_add_blocks(tz_stats *stats, tz_u32 *has_pivot, const TZ_LOCAL tz_f64 *shared,
                                 const TZ_LOCAL tz_u64 *counts, int is_integer)
{
    tz_u32 added = 0;
    for (; added < TZ_STATS_BLOCKS_AT_ONCE; added++) {
        const tz_block_stats found =
            tz_stats_load_block(shared, counts, added * TZ_STATS_ACCUMULATORS);
        if (found.valid > 0u && !*has_pivot) {
            tz_stats_begin(stats, &found, is_integer);
            *has_pivot = 1u;
            break;
        }
        if (found.valid > 0u)
            tz_stats_add_block(stats, &found);
    }
    return added;
}

/* Sums the samples of a work-item in its block; `next` is the first block of the group. */
TZ_FN void tz_stats_tile_work_item(const tz_stats_source *from, const TZ_GLOBAL tz_u8 *tile,
                                   const TZ_GLOBAL tz_u8 *mask, tz_u64 next, tz_u64 blocks,
                                   tz_u32 work_item, TZ_LOCAL tz_f64 *shared,
                                   TZ_LOCAL tz_u64 *counts)
{
    const tz_u64 block = next + work_item / TZ_STATS_ACCUMULATORS;
    tz_accumulators own;
    tz_accumulator_begin(&own, 0u);
    if (block < blocks)
        tz_stats_add_samples(from, tile, mask, block, work_item % TZ_STATS_ACCUMULATORS,
                             TZ_STATS_ACCUMULATORS, shared[TZ_STATS_SHARED_F64 - 1u], &own);
    shared[work_item] = own.sums[0];
    shared[TZ_WORK_GROUP_SIZE + work_item] = own.squares[0];
    shared[2u * TZ_WORK_GROUP_SIZE + work_item] = own.lowest[0];
    shared[3u * TZ_WORK_GROUP_SIZE + work_item] = own.highest[0];
    counts[work_item] = own.valid[0];
}

/* Only work-item 0 gets the statistics. */
TZ_FN tz_stats tz_stats_tile_work_group(const tz_stats_source *from, const TZ_GLOBAL tz_u8 *tile,
                                        const TZ_GLOBAL tz_u8 *mask, TZ_LOCAL tz_f64 *shared,
                                        TZ_LOCAL tz_u64 *counts)
{
    const tz_u64 blocks = (tz_u64)from->rows * tz_stats_blocks_across(from);
    tz_stats stats;
    tz_u32 has_pivot = 0u;
    tz_u64 next = 0u;
    tz_stats_clear(&stats);
    for (TZ_EACH_WORK_ITEM(work_item)) {
        if (work_item == 0u)
            shared[TZ_STATS_SHARED_F64 - 1u] = 0.0;
    }
    TZ_SYNC;
    while (next < blocks) {
        for (TZ_EACH_WORK_ITEM(work_item))
            tz_stats_tile_work_item(from, tile, mask, next, blocks, work_item, shared, counts);
        TZ_SYNC;
        for (TZ_EACH_WORK_ITEM(work_item)) {
            if (work_item == 0u) {
                counts[TZ_STATS_SHARED_U64 - 1u] =
                    next + tz_stats_add_blocks(&stats, &has_pivot, shared, counts,
                                               from->component < TZ_COMPONENT_F16);
                shared[TZ_STATS_SHARED_F64 - 1u] = stats.pivot;
            }
        }
        TZ_SYNC;
        next = counts[TZ_STATS_SHARED_U64 - 1u];
    }
    return stats;
}

#endif

#endif
