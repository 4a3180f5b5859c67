/* SPDX-License-Identifier: Apache-2.0
 * Weighted sums of valid samples: the rules of doc/numerics.md. Weights are tables made on the
 * host, so that every device multiplies by the same numbers; sums run by column within a row, then
 * by row. */
#ifndef TZ_KERNELS_WEIGH_H
#define TZ_KERNELS_WEIGH_H

#include "kernels/kernel.h"

/* One row's share of one new pixel: sum and weight of its valid samples. What is not valid is NaN.
 */
TZ_FN void tz_weigh_row(const TZ_GLOBAL tz_f64 *samples, const TZ_GLOBAL tz_f64 *weights,
                        tz_u32 count, tz_f64 *sum, tz_f64 *weight)
{
    tz_f64 s = 0.0;
    tz_f64 w = 0.0;
    for (tz_u32 i = 0; i < count; i++) {
        const tz_f64 x = samples[i];
        if (x != x)
            continue;
        s += weights[i] * x;
        w += weights[i];
    }
    *sum = s;
    *weight = w;
}

#endif
