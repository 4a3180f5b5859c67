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

/* Of count samples, those that are not NaN and whose flag (has_flags: else all) is not 0: how many,
 * and their differences to the pivot and the squares of these, summed. The extremes so far become
 * theirs too. */
TZ_FN tz_u64 tz_tally_piece(const TZ_GLOBAL tz_f64 *samples, const TZ_GLOBAL tz_u8 *flags,
                            int has_flags, tz_u32 count, tz_f64 pivot, tz_f64 *sum, tz_f64 *squares,
                            tz_f64 *minimum, tz_f64 *maximum)
{
    tz_f64 sums[TZ_TALLY_LANES] = {0.0};
    tz_f64 square_sums[TZ_TALLY_LANES] = {0.0};
    tz_u64 valid = 0;
    for (tz_u32 i = 0; i < count; i++) {
        const tz_f64 x = samples[i];
        if ((has_flags && !flags[i]) || x != x)
            continue;
        const tz_f64 difference = x - pivot;
        sums[i % TZ_TALLY_LANES] += difference;
        square_sums[i % TZ_TALLY_LANES] += difference * difference;
        *minimum = x < *minimum ? x : *minimum;
        *maximum = x > *maximum ? x : *maximum;
        valid++;
    }
    *sum = tz_add_lanes(sums);
    *squares = tz_add_lanes(square_sums);
    return valid;
}

#endif
