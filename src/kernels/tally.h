/* SPDX-License-Identifier: Apache-2.0
 * Sums of a piece of a row: the order of doc/numerics.md. */
#ifndef TZ_KERNELS_TALLY_H
#define TZ_KERNELS_TALLY_H

#include "kernels/kernel.h"

#define TZ_TALLY_LANES 8

/* Lanes are added in pairs half of them apart. */
TZ_FN tz_f64 tz_add_lanes(const tz_f64 *lanes)
{
    const tz_f64 even = (lanes[0] + lanes[4]) + (lanes[2] + lanes[6]);
    const tz_f64 odd = (lanes[1] + lanes[5]) + (lanes[3] + lanes[7]);
    return even + odd;
}

/* What eight lanes have seen. */
typedef struct tz_lanes {
    tz_f64 sums[TZ_TALLY_LANES];
    tz_f64 squares[TZ_TALLY_LANES];
    tz_f64 lowest[TZ_TALLY_LANES];
    tz_f64 highest[TZ_TALLY_LANES];
    tz_u64 valid[TZ_TALLY_LANES];
} tz_lanes;

/* One sample to each of the first lanes: its difference to the pivot, and the square of that. It
 * counts if it is not NaN and its flag (has_flags: else all) is not 0; else 0 is added. */
TZ_FN void tz_tally_lanes(tz_lanes *l, const TZ_GLOBAL tz_f64 *samples,
                          const TZ_GLOBAL tz_u8 *flags, int has_flags, tz_u32 count, tz_f64 pivot)
{
    for (tz_u32 i = 0; i < count; i++) {
        const tz_f64 x = samples[i];
        const int counts = (!has_flags || flags[i] != 0) & (x == x);
        const tz_f64 difference = counts ? x - pivot : 0.0;
        l->sums[i] += difference;
        l->squares[i] += difference * difference;
        l->lowest[i] = counts && x < l->lowest[i] ? x : l->lowest[i];
        l->highest[i] = counts && x > l->highest[i] ? x : l->highest[i];
        l->valid[i] += (tz_u64)counts;
    }
}

/* count samples, one after the other to lanes 0 to 7 and again from 0. The extremes so far become
 * theirs too. Returns how many count. */
TZ_FN tz_u64 tz_tally_piece(const TZ_GLOBAL tz_f64 *samples, const TZ_GLOBAL tz_u8 *flags,
                            int has_flags, tz_u32 count, tz_f64 pivot, tz_f64 *sum, tz_f64 *squares,
                            tz_f64 *minimum, tz_f64 *maximum)
{
    const tz_u32 whole = count - count % TZ_TALLY_LANES;
    tz_u64 valid = 0;
    tz_lanes lanes;
    for (tz_u32 i = 0; i < TZ_TALLY_LANES; i++) {
        lanes.sums[i] = lanes.squares[i] = 0.0;
        lanes.lowest[i] = *minimum;
        lanes.highest[i] = *maximum;
        lanes.valid[i] = 0;
    }
    for (tz_u32 i = 0; i < whole; i += TZ_TALLY_LANES)
        tz_tally_lanes(&lanes, samples + i, has_flags ? flags + i : flags, has_flags,
                       TZ_TALLY_LANES, pivot);
    tz_tally_lanes(&lanes, samples + whole, has_flags ? flags + whole : flags, has_flags,
                   count - whole, pivot);
    for (tz_u32 i = 0; i < TZ_TALLY_LANES; i++) {
        *minimum = lanes.lowest[i] < *minimum ? lanes.lowest[i] : *minimum;
        *maximum = lanes.highest[i] > *maximum ? lanes.highest[i] : *maximum;
        valid += lanes.valid[i];
    }
    *sum = tz_add_lanes(lanes.sums);
    *squares = tz_add_lanes(lanes.squares);
    return valid;
}

#endif
