/* SPDX-License-Identifier: Apache-2.0
 * Undoing TIFF's predictors, one row at a time. */
#ifndef TZ_KERNELS_PREDICTOR_H
#define TZ_KERNELS_PREDICTOR_H

#include "kernels/kernel.h"

/* Predictor 2: every sample is the difference to the one of the pixel before, modulo its width.
 * count is in samples, stride the samples of a pixel. */
#define TZ_PREDICTOR2(name, type)                                                                  \
    TZ_FN void tz_undo_predictor2_##name(TZ_GLOBAL type *row, tz_u32 count, tz_u32 stride)         \
    {                                                                                              \
        for (tz_u32 i = stride; i < count; i++)                                                    \
            row[i] = (type)(row[i] + row[i - stride]);                                             \
    }
TZ_PREDICTOR2(u8, tz_u8)
TZ_PREDICTOR2(u16, tz_u16)
TZ_PREDICTOR2(u32, tz_u32)
TZ_PREDICTOR2(u64, tz_u64)

/* Predictor 3: the bytes of a row are sorted by significance, highest first, and differenced as
 * bytes. row holds count samples of width bytes and is used up; out gets them in little-endian
 * order. */
TZ_FN void tz_undo_predictor3(TZ_GLOBAL tz_u8 *row, TZ_GLOBAL tz_u8 *out, tz_u32 count,
                              tz_u32 width, tz_u32 stride)
{
    const tz_u64 bytes = (tz_u64)count * width;
    for (tz_u64 i = stride; i < bytes; i++)
        row[i] = (tz_u8)(row[i] + row[i - stride]);
    for (tz_u32 i = 0; i < count; i++) {
        for (tz_u32 byte = 0; byte < width; byte++)
            out[(tz_u64)i * width + byte] = row[(tz_u64)(width - 1 - byte) * count + i];
    }
}

#endif
