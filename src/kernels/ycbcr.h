/* SPDX-License-Identifier: Apache-2.0
 * YCbCr with fewer colours than pixels: what TIFF stores without JPEG. */
#ifndef TZ_KERNELS_YCBCR_H
#define TZ_KERNELS_YCBCR_H

#include "kernels/kernel.h"

/* A clump is across x down samples of luminance, row by row, then Cb and Cr of all of them. out
 * gets Y, Cb, Cr of count pixels of row number row of the clumps. */
TZ_FN void tz_ycbcr_row(const TZ_GLOBAL tz_u8 *clumps, TZ_GLOBAL tz_u8 *out, tz_u32 count,
                        tz_u32 across, tz_u32 down, tz_u32 row)
{
    const tz_u32 colours = across * down;
    for (tz_u32 i = 0; i < count; i++) {
        const TZ_GLOBAL tz_u8 *clump = clumps + (tz_u64)(i / across) * (colours + 2);
        out[(tz_u64)i * 3] = clump[row * across + i % across];
        out[(tz_u64)i * 3 + 1] = clump[colours];
        out[(tz_u64)i * 3 + 2] = clump[colours + 1];
    }
}

#endif
