/* SPDX-License-Identifier: Apache-2.0
 * Weighted means of valid samples: the rules of doc/numerics.md. The host makes the tables of
 * weights, so that every device multiplies by the same numbers. NaN stands for a sample that is not
 * valid. */
#ifndef TZ_KERNELS_WEIGHTED_MEAN_H
#define TZ_KERNELS_WEIGHTED_MEAN_H

#include "kernels/kernel.h"

#ifdef TZ_HAS_F64

/* Adds one sample to sum and weight, if it is valid and its weight is not 0. */
TZ_FN void tz_weighted_add(tz_f64 x, tz_f64 sample_weight, tz_f64 *sum, tz_f64 *weight)
{
    if (x != x || sample_weight == 0.0)
        return;
    *sum += sample_weight * x;
    *weight += sample_weight;
}

/* Sum and weight of the valid samples of one row for one new pixel, from left to right. Weights are
 * stride apart. */
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

/* Returns nan if nothing was valid. */
TZ_FN tz_f64 tz_weighted_mean(tz_f64 sum, tz_f64 weight, tz_f64 nan)
{
    return weight > 0.0 ? sum / weight : nan;
}

/* A filter along one axis: a weighted mean, to which samples are added one by one. */
typedef struct tz_filter_state {
    tz_f64 sum;
    tz_f64 weight;
    tz_u32 run;     /* valid samples since the last one that is not */
    tz_u32 max_run; /* the longest run so far */
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

/* The mean of count samples, or nan. negative: some weights are negative. A few valid samples might
 * then weigh nearly 0 together, and their mean could be any number: a run of half of all samples
 * must be valid. */
TZ_FN tz_f64 tz_filter_end(const tz_filter_state *f, tz_u32 count, int negative, tz_f64 nan)
{
    if (negative && f->max_run < count / 2u)
        return nan;
    return tz_weighted_mean(f->sum, f->weight, nan);
}

#endif

#endif
