/* SPDX-License-Identifier: Apache-2.0
 * Weighted means of valid samples: the rules of doc/numerics.md. Weights are tables made on the
 * host, so that every device multiplies by the same numbers. What is not valid is NaN. */
#ifndef TZ_KERNELS_WEIGH_H
#define TZ_KERNELS_WEIGH_H

#include "kernels/kernel.h"

#ifdef TZ_HAS_F64

/* One sample of a row's share: it counts if it is valid and weighs something. */
TZ_FN void tz_weigh_add(tz_f64 x, tz_f64 by, tz_f64 *sum, tz_f64 *weight)
{
    if (x != x || by == 0.0)
        return;
    *sum += by * x;
    *weight += by;
}

/* One row's share of one new pixel: sum and weight of its valid samples, left to right. Weights
 * are stride apart. */
TZ_FN void tz_weigh_row(const TZ_GLOBAL tz_f64 *samples, const TZ_GLOBAL tz_f64 *weights,
                        tz_u64 stride, tz_u32 count, tz_f64 *sum, tz_f64 *weight)
{
    tz_f64 s = 0.0;
    tz_f64 w = 0.0;
    for (tz_u32 i = 0; i < count; i++)
        tz_weigh_add(samples[i], weights[i * stride], &s, &w);
    *sum = s;
    *weight = w;
}

/* nan: where nothing is valid. */
TZ_FN tz_f64 tz_weighed(tz_f64 sum, tz_f64 weight, tz_f64 nan)
{
    return weight > 0.0 ? sum / weight : nan;
}

/* The state of a filter: a mean along one axis, taken sample by sample. */
typedef struct tz_filter {
    tz_f64 sum;
    tz_f64 weight;
    tz_u32 run;     /* valid samples so far since the last one that is not */
    tz_u32 longest; /* such run */
} tz_filter;

TZ_FN void tz_filter_add(tz_filter *f, tz_f64 weight, tz_f64 x)
{
    if (x != x) {
        f->run = 0u;
        return;
    }
    f->sum += weight * x;
    f->weight += weight;
    f->run += 1u;
    f->longest = f->run > f->longest ? f->run : f->longest;
}

/* Of count samples. Where weights may be negative, few valid samples would weigh nearly nothing
 * together and their mean would be anywhere: half of all must lie together. nan: where it is not
 * valid. */
TZ_FN tz_f64 tz_filter_end(const tz_filter *f, tz_u32 count, int negative, tz_f64 nan)
{
    if (negative && f->longest < count / 2u)
        return nan;
    return tz_weighed(f->sum, f->weight, nan);
}

#endif

#endif
