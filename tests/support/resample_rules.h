/* SPDX-License-Identifier: Apache-2.0
 * The rules of doc/numerics.md for resampling again, in the plainest words: one new pixel from
 * a whole level in doubles. */
#ifndef TESTS_SUPPORT_RESAMPLE_RULES_H
#define TESTS_SUPPORT_RESAMPLE_RULES_H

#include <stdbool.h>
#include <stdint.h>
#include <terrazzo/terrazzo.h>

typedef struct plane {
    uint32_t width, height;
    double *values; /* NaN: not valid */
} plane;

/* New pixels along an axis: number i covers origin + i * scale to origin + (i + 1) * scale.
 */
typedef struct ruler {
    double origin, scale;
} ruler;

/* New pixel (column, row); NaN: nothing is valid. overview: nearest takes the first sample, not the
 * one in the middle. */
double rule_pixel(const plane *p, tz_resampling method, bool overview, ruler across, ruler down,
                  uint32_t column, uint32_t row);

#endif
