/* SPDX-License-Identifier: Apache-2.0
 * The tally of one sample of all pixels of a tile: by one item, or by a group, whose items take as
 * many pieces at once as there are eights of them. Sums are the same: a piece depends on no other
 * but by the pivot, and pieces are added in their order. */
#ifndef TZ_KERNELS_TALLY_TILE_H
#define TZ_KERNELS_TALLY_TILE_H

#include "kernels/items.h"
#include "kernels/tally.h"
#include "kernels/wide.h"

#ifdef TZ_HAS_F64

#define TZ_TALLY_PIECES (TZ_GROUP_SIZE / TZ_TALLY_LANES)

/* Samples of a tile, and what says whether they count. */
typedef struct tz_tally_source {
    tz_u64 row_bytes;
    tz_u32 step; /* from one pixel to the next */
    tz_u32 part; /* TZ_PART_... */
    tz_u32 width;
    tz_u32 rows;
    tz_u32 has_mask;
    tz_u32 has_nodata;
    tz_u32 nodata_kind; /* TZ_WIDE_... */
    tz_u64 nodata;
    tz_i64 mask_row;
    tz_i64 mask_column;
} tz_tally_source;

/* The first pixel of a mask's row, and the sample of pixel x. */
TZ_FN int tz_tally_counts(const tz_tally_source *from, const TZ_GLOBAL tz_u8 *mask, tz_u32 x,
                          tz_u64 value)
{
    if (from->has_mask && mask[(tz_i64)x * from->mask_column] == 0u)
        return 0;
    return !from->has_nodata ||
           !tz_wide_equals(value, tz_part_kind(from->part), from->nodata, from->nodata_kind);
}

/* Pieces are numbered row by row. */
TZ_FN tz_u32 tz_pieces_across(const tz_tally_source *from)
{
    return (from->width + TZ_TALLY_PIECE - 1u) / TZ_TALLY_PIECE;
}

/* Sample first of a piece, and every step-th behind it: to their lanes, or all to lane 0 where an
 * item has a lane to itself. */
TZ_FN void tz_tally_samples(const tz_tally_source *from, const TZ_GLOBAL tz_u8 *tile,
                            const TZ_GLOBAL tz_u8 *mask, tz_u64 piece, tz_u32 first, tz_u32 step,
                            tz_f64 pivot, tz_lanes *lanes)
{
    const tz_u64 y = piece / tz_pieces_across(from);
    const tz_u32 begin = (tz_u32)(piece % tz_pieces_across(from)) * TZ_TALLY_PIECE;
    const tz_u32 left = from->width - begin;
    const tz_u32 count = left < TZ_TALLY_PIECE ? left : TZ_TALLY_PIECE;
    const TZ_GLOBAL tz_u8 *row = tile + y * from->row_bytes + (tz_u64)begin * from->step;
    const TZ_GLOBAL tz_u8 *flags = mask + (tz_i64)y * from->mask_row;
    for (tz_u32 i = first; i < count; i += step) {
        const TZ_GLOBAL tz_u8 *p = row + (tz_u64)i * from->step;
        const tz_u64 value = tz_wide_of_raw(tz_load_raw(p, tz_part_bytes(from->part)), from->part);
        tz_lane_add(lanes, step == 1u ? i % TZ_TALLY_LANES : 0u,
                    tz_wide_f64(value, tz_part_kind(from->part)),
                    tz_tally_counts(from, flags, begin + i, value), pivot);
    }
}

TZ_FN void tz_tally_clear(tz_tally *tally)
{
    tally->valid = 0;
    tally->minimum = tally->maximum = tally->pivot = tally->sum = tally->squares = 0.0;
}

/* ---- by one item ---- */

TZ_FN tz_tally_part tz_tally_piece_of(const tz_tally_source *from, const TZ_GLOBAL tz_u8 *tile,
                                      const TZ_GLOBAL tz_u8 *mask, tz_u64 piece, tz_f64 pivot)
{
    tz_lanes lanes;
    for (tz_u32 i = 0; i < TZ_TALLY_LANES; i++)
        tz_lane_begin(&lanes, i);
    tz_tally_samples(from, tile, mask, piece, 0u, 1u, pivot, &lanes);
    return tz_join_lanes(&lanes);
}

TZ_FN tz_tally tz_tally_tile(const tz_tally_source *from, const TZ_GLOBAL tz_u8 *tile,
                             const TZ_GLOBAL tz_u8 *mask)
{
    const tz_u64 pieces = (tz_u64)from->rows * tz_pieces_across(from);
    tz_tally tally;
    tz_tally_clear(&tally);
    for (tz_u64 piece = 0; piece < pieces; piece++) {
        tz_tally_part part = tz_tally_piece_of(from, tile, mask, piece, tally.pivot);
        if (part.valid > 0u && tally.valid == 0u) {
            tz_tally_begin(&tally, &part, from->part < TZ_PART_F16);
            part = tz_tally_piece_of(from, tile, mask, piece, tally.pivot);
        }
        if (part.valid > 0u)
            tz_tally_add(&tally, &part);
    }
    return tally;
}

/* ---- by a group ---- */

/* Shared memory of a group: what its lanes have seen; and where it goes on, from which pivot. */
#define TZ_TALLY_SHARED (4u * TZ_GROUP_SIZE + 1u)
#define TZ_TALLY_COUNTS (TZ_GROUP_SIZE + 1u)

TZ_FN tz_tally_part tz_tally_join(const TZ_LOCAL tz_f64 *shared, const TZ_LOCAL tz_u64 *counts,
                                  tz_u32 first)
{
    tz_lanes lanes;
    for (tz_u32 i = 0; i < TZ_TALLY_LANES; i++) {
        lanes.sums[i] = shared[first + i];
        lanes.squares[i] = shared[TZ_GROUP_SIZE + first + i];
        lanes.lowest[i] = shared[2u * TZ_GROUP_SIZE + first + i];
        lanes.highest[i] = shared[3u * TZ_GROUP_SIZE + first + i];
        lanes.valid[i] = counts[first + i];
    }
    return tz_join_lanes(&lanes);
}

/* Adds the next pieces, as far as they are seen from the right pivot, and says how many; up to the
 * first in which anything counts where there was no pivot. */
TZ_FN tz_u32 tz_tally_take(tz_tally *tally, tz_u32 *has_pivot, const TZ_LOCAL tz_f64 *shared,
                           const TZ_LOCAL tz_u64 *counts, int is_integer)
{
    tz_u32 taken = 0;
    for (; taken < TZ_TALLY_PIECES; taken++) {
        const tz_tally_part part = tz_tally_join(shared, counts, taken * TZ_TALLY_LANES);
        if (part.valid > 0u && !*has_pivot) {
            tz_tally_begin(tally, &part, is_integer);
            *has_pivot = 1u;
            break;
        }
        if (part.valid > 0u)
            tz_tally_add(tally, &part);
    }
    return taken;
}

/* What item sees of the pieces from next on. */
TZ_FN void tz_tally_item(const tz_tally_source *from, const TZ_GLOBAL tz_u8 *tile,
                         const TZ_GLOBAL tz_u8 *mask, tz_u64 next, tz_u64 pieces, tz_u32 item,
                         TZ_LOCAL tz_f64 *shared, TZ_LOCAL tz_u64 *counts)
{
    const tz_u64 piece = next + item / TZ_TALLY_LANES;
    tz_lanes own;
    tz_lane_begin(&own, 0u);
    if (piece < pieces)
        tz_tally_samples(from, tile, mask, piece, item % TZ_TALLY_LANES, TZ_TALLY_LANES,
                         shared[TZ_TALLY_SHARED - 1u], &own);
    shared[item] = own.sums[0];
    shared[TZ_GROUP_SIZE + item] = own.squares[0];
    shared[2u * TZ_GROUP_SIZE + item] = own.lowest[0];
    shared[3u * TZ_GROUP_SIZE + item] = own.highest[0];
    counts[item] = own.valid[0];
}

/* The answer is item 0's. */
TZ_FN tz_tally tz_tally_group(const tz_tally_source *from, const TZ_GLOBAL tz_u8 *tile,
                              const TZ_GLOBAL tz_u8 *mask, TZ_LOCAL tz_f64 *shared,
                              TZ_LOCAL tz_u64 *counts)
{
    const tz_u64 pieces = (tz_u64)from->rows * tz_pieces_across(from);
    tz_tally tally;
    tz_u32 has_pivot = 0u;
    tz_u64 next = 0u;
    tz_tally_clear(&tally);
    for (TZ_ITEMS(item)) {
        if (item == 0u)
            shared[TZ_TALLY_SHARED - 1u] = 0.0;
    }
    TZ_SYNC;
    while (next < pieces) {
        for (TZ_ITEMS(item))
            tz_tally_item(from, tile, mask, next, pieces, item, shared, counts);
        TZ_SYNC;
        for (TZ_ITEMS(item)) {
            if (item == 0u) {
                counts[TZ_TALLY_COUNTS - 1u] =
                    next +
                    tz_tally_take(&tally, &has_pivot, shared, counts, from->part < TZ_PART_F16);
                shared[TZ_TALLY_SHARED - 1u] = tally.pivot;
            }
        }
        TZ_SYNC;
        next = counts[TZ_TALLY_COUNTS - 1u];
    }
    return tally;
}

#endif

#endif
