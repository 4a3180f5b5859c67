/* SPDX-License-Identifier: Apache-2.0
 * What choices mean for JPEG 2000, whoever encodes it. */
#ifndef TZ_CODEC_JP2_OPTIONS_H
#define TZ_CODEC_JP2_OPTIONS_H

#include <stdint.h>

/* Peak signal to noise in decibels: 25 for the lowest quality, 44 for the usual 75, 50 for the
 * highest. */
static inline float tz_jp2_psnr(uint32_t quality)
{
    return 25.0f + (float)quality / 4;
}

/* Of the wavelets: halves of the picture, as long as they have a pixel. */
static inline uint32_t tz_jp2_resolution_count(uint32_t width, uint32_t height)
{
    enum { MAX_RESOLUTIONS = 6 };
    const uint32_t shorter = width < height ? width : height;
    uint32_t count = 1;
    while (count < MAX_RESOLUTIONS && shorter >> count != 0)
        count++;
    return count;
}

#endif
