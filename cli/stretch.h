/* SPDX-License-Identifier: Apache-2.0
 * The range of values that a picture shows. */
#ifndef CLI_STRETCH_H
#define CLI_STRETCH_H

#include <stdbool.h>
#include <terrazzo/terrazzo.h>

/* AUTO stretches types other than uint8, and one band of uint8 that uses little of its
 * range. */
typedef enum stretch_mode { STRETCH_AUTO, STRETCH_ON, STRETCH_OFF } stretch_mode;

typedef struct stretch {
    double low, high;
} stretch;

/* Returns the least and the greatest of the valid pixels; 0 and 0 if there are none. */
stretch stretch_extent(tz_dtype dtype, const void *samples, const unsigned char *mask,
                       size_t count);

/* Returns the values at 2 % and 98 % of the valid pixels, exactly, by rank. If both are the same,
 * returns the extent. mask is 0 where a pixel is not valid; infinities
 * and NaN do not count. */
stretch stretch_measure(tz_dtype dtype, const void *samples, const unsigned char *mask,
                        size_t count);

/* Returns 0 to 255. */
unsigned char stretch_apply(const stretch *s, double value);

#endif
