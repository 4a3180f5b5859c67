/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "kernels/weighted_mean.h"
#include "pixel/row_ops.h"

void tz_scalar_weighted_sums(const tz_tap_weights *how, const double *samples, double *sums,
                             double *totals)
{
    for (size_t i = 0; i < how->width; i++) {
        double total;
        tz_weighted_sum_row(samples + how->from[i], how->weights + i, how->width, how->taps,
                            &sums[i], totals ? &totals[i] : &total);
    }
}

void tz_scalar_combine_rows(const double *const *rows, const double *weights, uint32_t count,
                            size_t width, double *out)
{
    for (size_t i = 0; i < width; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < count; k++)
            sum += weights[k] * rows[k][i];
        out[i] = sum;
    }
}

bool tz_scalar_divide(const double *sums, const double *totals, size_t width, double *out)
{
    bool any = false;
    for (size_t i = 0; i < width; i++) {
        out[i] = tz_weighted_mean(sums[i], totals[i], (double)NAN);
        any |= out[i] != out[i];
    }
    return any;
}
