/* SPDX-License-Identifier: Apache-2.0
 * Sums of a piece of a row, and of the pieces of a tile: the order of doc/numerics.md. There is
 * nothing of it without double precision. */
#ifndef TZ_KERNELS_TALLY_H
#define TZ_KERNELS_TALLY_H

#include "kernels/kernel.h"

#ifdef TZ_HAS_F64

#define TZ_TALLY_LANES 8u
/* Samples that are tallied at once: few enough that sums of differences and of their squares are
 * exact in a double for samples of up to 16 bits and a whole pivot. */
#define TZ_TALLY_PIECE 1024u

/* What was seen in one piece. */
typedef struct tz_tally_part {
    tz_u64 valid;
    tz_f64 minimum; /* of nothing infinite, and so is maximum */
    tz_f64 maximum;
    tz_f64 sum;
    tz_f64 squares;
} tz_tally_part;

/* And in all pieces so far. Zeroed state is empty. */
typedef struct tz_tally {
    tz_u64 valid;
    tz_f64 minimum;
    tz_f64 maximum;
    tz_f64 pivot; /* sums are of differences to it, which keeps their bits */
    tz_f64 sum;
    tz_f64 squares;
} tz_tally;

/* ---- a piece ---- */

/* What eight lanes have seen. */
typedef struct tz_lanes {
    tz_f64 sums[TZ_TALLY_LANES];
    tz_f64 squares[TZ_TALLY_LANES];
    tz_f64 lowest[TZ_TALLY_LANES];
    tz_f64 highest[TZ_TALLY_LANES];
    tz_u64 valid[TZ_TALLY_LANES];
} tz_lanes;

TZ_FN void tz_lane_begin(tz_lanes *l, tz_u32 lane)
{
    l->sums[lane] = l->squares[lane] = 0.0;
    l->lowest[lane] = tz_f64_of_bits(0x7ff0000000000000ULL); /* infinity */
    l->highest[lane] = tz_f64_of_bits(0xfff0000000000000ULL);
    l->valid[lane] = 0;
}

/* A sample: its difference to the pivot, and the square of that. 0 is added where it does not
 * count, as NaN never does. */
TZ_FN void tz_lane_add(tz_lanes *l, tz_u32 lane, tz_f64 x, int is_valid, tz_f64 pivot)
{
    const int counts = (is_valid != 0) & (x == x);
    const tz_f64 difference = counts ? x - pivot : 0.0;
    l->sums[lane] += difference;
    l->squares[lane] += difference * difference;
    l->lowest[lane] = counts && x < l->lowest[lane] ? x : l->lowest[lane];
    l->highest[lane] = counts && x > l->highest[lane] ? x : l->highest[lane];
    l->valid[lane] += (tz_u64)counts;
}

/* Lanes are added in pairs half of them apart. */
TZ_FN tz_f64 tz_add_lanes(const tz_f64 *lanes)
{
    const tz_f64 even = (lanes[0] + lanes[4]) + (lanes[2] + lanes[6]);
    const tz_f64 odd = (lanes[1] + lanes[5]) + (lanes[3] + lanes[7]);
    return even + odd;
}

TZ_FN tz_tally_part tz_join_lanes(const tz_lanes *l)
{
    tz_tally_part part;
    part.valid = l->valid[0];
    part.minimum = l->lowest[0];
    part.maximum = l->highest[0];
    for (tz_u32 i = 1; i < TZ_TALLY_LANES; i++) {
        part.minimum = l->lowest[i] < part.minimum ? l->lowest[i] : part.minimum;
        part.maximum = l->highest[i] > part.maximum ? l->highest[i] : part.maximum;
        part.valid += l->valid[i];
    }
    part.sum = tz_add_lanes(l->sums);
    part.squares = tz_add_lanes(l->squares);
    return part;
}

/* One sample to each of the first lanes. Flags (has_flags: else all count) are 0 or not. */
TZ_FN void tz_tally_lanes(tz_lanes *l, const TZ_GLOBAL tz_f64 *samples,
                          const TZ_GLOBAL tz_u8 *flags, int has_flags, tz_u32 count, tz_f64 pivot)
{
    for (tz_u32 i = 0; i < count; i++)
        tz_lane_add(l, i, samples[i], !has_flags || flags[i] != 0, pivot);
}

/* count samples, one after the other to lanes 0 to 7 and again from 0. */
TZ_FN tz_tally_part tz_tally_piece(const TZ_GLOBAL tz_f64 *samples, const TZ_GLOBAL tz_u8 *flags,
                                   int has_flags, tz_u32 count, tz_f64 pivot)
{
    const tz_u32 whole = count - count % TZ_TALLY_LANES;
    tz_lanes lanes;
    for (tz_u32 i = 0; i < TZ_TALLY_LANES; i++)
        tz_lane_begin(&lanes, i);
    for (tz_u32 i = 0; i < whole; i += TZ_TALLY_LANES)
        tz_tally_lanes(&lanes, samples + i, has_flags ? flags + i : flags, has_flags,
                       TZ_TALLY_LANES, pivot);
    tz_tally_lanes(&lanes, samples + whole, has_flags ? flags + whole : flags, has_flags,
                   count - whole, pivot);
    return tz_join_lanes(&lanes);
}

/* ---- pieces ---- */

/* The largest whole number that is not above x; what is as large as that has no fraction. */
TZ_FN tz_f64 tz_floor(tz_f64 x)
{
    if (!(x > -4503599627370496.0 && x < 4503599627370496.0))
        return x;
    const tz_f64 whole = (tz_f64)(tz_i64)x;
    return whole > x ? whole - 1.0 : whole;
}

/* An empty tally begins with the first piece in which anything counts, seen from a pivot of 0: the
 * pivot is about the middle of its samples, and whole for integers. The piece is then added, seen
 * from there. */
TZ_FN void tz_tally_begin(tz_tally *tally, const tz_tally_part *from_zero, int is_integer)
{
    const tz_f64 mean = from_zero->sum / (tz_f64)from_zero->valid;
    const tz_f64 pivot = is_integer ? tz_floor(mean + 0.5) : mean;
    tally->valid = 0;
    tally->minimum = from_zero->minimum;
    tally->maximum = from_zero->maximum;
    tally->pivot = pivot - pivot == 0.0 ? pivot : 0.0; /* 0 unless finite */
    tally->sum = tally->squares = 0.0;
}

TZ_FN void tz_tally_add(tz_tally *tally, const tz_tally_part *part)
{
    tally->valid += part->valid;
    tally->minimum = part->minimum < tally->minimum ? part->minimum : tally->minimum;
    tally->maximum = part->maximum > tally->maximum ? part->maximum : tally->maximum;
    tally->sum += part->sum;
    tally->squares += part->squares;
}

#endif

#endif
