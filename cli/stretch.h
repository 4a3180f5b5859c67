/* SPDX-License-Identifier: Apache-2.0
 * The range of values that a picture shows. */
#ifndef CLI_STRETCH_H
#define CLI_STRETCH_H

#include <stdbool.h>
#include <terrazzo/terrazzo.h>

typedef struct stretch {
    double low, high;
} stretch;

/* From the value that 2 % of the valid pixels do not exceed to the one that 98 % do not: exactly,
 * by rank. Where both are the same, the least and the greatest. mask is 0 where a pixel is not
 * valid; infinities and NaN do not count. */
stretch stretch_measure(tz_dtype dtype, const void *samples, const unsigned char *mask,
                        size_t count);

/* 0 to 255. */
unsigned char stretch_apply(const stretch *s, double value);

#endif
