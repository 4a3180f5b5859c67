/* SPDX-License-Identifier: Apache-2.0
 * The range of values that a picture shows from black to white. */
#ifndef TZ_IMAGE_STRETCH_H
#define TZ_IMAGE_STRETCH_H

#include <float.h>

#include "base/error.h"

/* One band of pixels, and which of them are valid. Infinities and NaN never count. */
typedef struct tz_stretch_band {
    tz_dtype dtype;
    uint32_t height;
    uint32_t width;
    const uint8_t *samples;
    int64_t row_stride;
    int64_t column_stride;
    const uint8_t *mask; /* NULL: all are valid */
    int64_t mask_row_stride;
    int64_t mask_column_stride;
} tz_stretch_band;

/* Returns the least and the greatest value that is valid; 0 and 0 if there are none. Like the next
 * function it looks at every n-th pixel if there are more than 512 x 512. */
tz_image_range tz_stretch_extent(const tz_stretch_band *band);

/* Finds the values at 2 % and 98 % of the valid pixels, exactly, by rank. If both are the same, the
 * result is the extent. */
tz_result tz_stretch_measure(tz_image_range *out, const tz_stretch_band *band,
                             const tz_context *ctx);

/* Returns the most bytes that tz_stretch_measure allocates. */
size_t tz_stretch_max_bytes(void);

/* Returns 0 to 255. Both ends of the range are finite. */
static inline uint8_t tz_stretch_apply(tz_image_range range, double value)
{
    if (!(value > range.low))
        return 0;
    if (value >= range.high)
        return 255;
    double part = (value - range.low) / (range.high - range.low);
    if (range.high - range.low > DBL_MAX)
        part = (value / 2 - range.low / 2) / (range.high / 2 - range.low / 2);
    const double scaled = part * 255;
    const uint8_t whole = (uint8_t)scaled;
    return (uint8_t)(whole + (scaled - whole >= 0.5)); /* as lround does, which is a call */
}

#endif
