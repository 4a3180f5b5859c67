/* SPDX-License-Identifier: Apache-2.0
 * Weighted means of valid samples: the rules of doc/numerics.md. Weights are tables made on the
 * host, so that every device multiplies by the same numbers. What is not valid is NaN. */
#ifndef TZ_KERNELS_WEIGHTED_MEAN_H
#define TZ_KERNELS_WEIGHTED_MEAN_H

#include "kernels/kernel.h"

#ifdef TZ_HAS_F64

/* One sample of a row's share: it counts if it is valid and weighs something. */
TZ_FN void tz_weighted_add(tz_f64 x, tz_f64 sample_weight, tz_f64 *sum, tz_f64 *weight)
{
    if (x != x || sample_weight == 0.0)
        return;
    *sum += sample_weight * x;
    *weight += sample_weight;
}

/* One row's share of one new pixel: sum and weight of its valid samples, left to right. Weights
 * are stride apart. */
TZ_FN void tz_weighted_sum_row(const TZ_GLOBAL tz_f64 *samples, const TZ_GLOBAL tz_f64 *weights,
                               tz_u64 stride, tz_u32 count, tz_f64 *sum, tz_f64 *weight)
{
    tz_f64 s = 0.0;
    tz_f64 w = 0.0;
    for (tz_u32 i = 0; i < count; i++)
        tz_weighted_add(samples[i], weights[i * stride], &s, &w);
    *sum = s;
    *weight = w;
}

/* nan: where nothing is valid. */
TZ_FN tz_f64 tz_weighted_mean(tz_f64 sum, tz_f64 weight, tz_f64 nan)
{
    return weight > 0.0 ? sum / weight : nan;
}

/* The state of a filter: a mean along one axis, taken sample by sample. */
typedef struct tz_filter_state {
    tz_f64 sum;
    tz_f64 weight;
    tz_u32 run;     /* valid samples so far since the last one that is not */
    tz_u32 max_run; /* such run */
} tz_filter_state;

TZ_FN void tz_filter_add(tz_filter_state *f, tz_f64 weight, tz_f64 x)
{
    if (x != x) {
        f->run = 0u;
        return;
    }
    f->sum += weight * x;
    f->weight += weight;
    f->run += 1u;
    f->max_run = f->run > f->max_run ? f->run : f->max_run;
}

/* Of count samples. Where weights may be negative, few valid samples would weigh nearly nothing
 * together and their mean would be anywhere: half of all must lie together. nan: where it is not
 * valid. */
TZ_FN tz_f64 tz_filter_end(const tz_filter_state *f, tz_u32 count, int negative, tz_f64 nan)
{
    if (negative && f->max_run < count / 2u)
        return nan;
    return tz_weighted_mean(f->sum, f->weight, nan);
}

#endif

#endif
