/* SPDX-License-Identifier: Apache-2.0
 * TIFF's predictors, one row at a time, and how they are reverted.
 *
 * Predictor 2 stores the difference of each sample to the same sample of the pixel before, modulo
 * the width of samples. Predictor 3 (Adobe's technical note 3) sorts the bytes of a row of floats
 * by significance, the highest first, into planes of one byte for each sample, and stores
 * differences of bytes. */
#ifndef TZ_KERNELS_PREDICTOR_H
#define TZ_KERNELS_PREDICTOR_H

#include "kernels/kernel.h"

/* Reverts predictor 2. count: samples of the row. stride: samples of a pixel. swap: row is in the
 * other byte order. The outer loop is over the samples of a pixel, so that the sum stays in a
 * register. */
#define TZ_UNPREDICT2(name, type)                                                                  \
    TZ_FN void tz_unpredict2_##name(const TZ_GLOBAL tz_u8 *row, TZ_GLOBAL tz_u8 *out,              \
                                    tz_u64 count, tz_u32 stride, tz_u32 swap)                      \
    {                                                                                              \
        for (tz_u32 sample = 0; sample < stride; sample++) {                                       \
            type sum = 0;                                                                          \
            for (tz_u64 i = sample; i < count; i += stride) {                                      \
                const type x = tz_load_##name(row + i * sizeof(type));                             \
                sum = (type)(sum + (swap ? tz_swap_##name(x) : x));                                \
                tz_store_##name(out + i * sizeof(type), sum);                                      \
            }                                                                                      \
        }                                                                                          \
    }
TZ_UNPREDICT2(u8, tz_u8)
TZ_UNPREDICT2(u16, tz_u16)
TZ_UNPREDICT2(u32, tz_u32)
TZ_UNPREDICT2(u64, tz_u64)

/* Reverts the differences of predictor 3 in the first size bytes of a row, in place. */
TZ_FN void tz_sum_bytes(TZ_GLOBAL tz_u8 *row, tz_u64 size, tz_u32 stride)
{
    tz_unpredict2_u8(row, row, size, stride, 0);
}

/* Reverts the sorting of predictor 3, for the first `wanted` of count samples of width bytes. */
TZ_FN void tz_join_planes(const TZ_GLOBAL tz_u8 *row, TZ_GLOBAL tz_u8 *out, tz_u64 count,
                          tz_u64 wanted, tz_u32 width, tz_u32 little_endian)
{
    for (tz_u64 i = 0; i < wanted; i++) {
        for (tz_u32 byte = 0; byte < width; byte++) {
            const tz_u32 plane = little_endian ? width - 1 - byte : byte;
            out[i * width + byte] = row[plane * count + i];
        }
    }
}

/* ---- applying them ---- */

/* Predictor 2, from the last sample to the first, so that out may be row. The first pixel does not
 * change. swap: out is in the other byte order. */
#define TZ_PREDICT2(name, type)                                                                    \
    TZ_FN void tz_predict2_##name(const TZ_GLOBAL tz_u8 *row, TZ_GLOBAL tz_u8 *out, tz_u64 count,  \
                                  tz_u32 stride, tz_u32 swap)                                      \
    {                                                                                              \
        for (tz_u64 left = count; left > 0; left--) {                                              \
            const tz_u64 at = (left - 1) * sizeof(type);                                           \
            const type before =                                                                    \
                left > stride ? tz_load_##name(row + at - stride * sizeof(type)) : (type)0;        \
            const type x = (type)(tz_load_##name(row + at) - before);                              \
            tz_store_##name(out + at, swap ? tz_swap_##name(x) : x);                               \
        }                                                                                          \
    }
TZ_PREDICT2(u8, tz_u8)
TZ_PREDICT2(u16, tz_u16)
TZ_PREDICT2(u32, tz_u32)
TZ_PREDICT2(u64, tz_u64)

/* Predictor 3 of count samples of width bytes each; row and out do not overlap. Differences go
 * across planes: the first pixel of a plane is stored as the difference to the last of the plane
 * before. */
TZ_FN void tz_predict3(const TZ_GLOBAL tz_u8 *row, TZ_GLOBAL tz_u8 *out, tz_u64 count, tz_u32 width,
                       tz_u32 stride, tz_u32 little_endian)
{
    for (tz_u64 i = 0; i < count; i++) {
        for (tz_u32 byte = 0; byte < width; byte++) {
            const tz_u32 plane = little_endian ? width - 1 - byte : byte;
            out[plane * count + i] = row[i * width + byte];
        }
    }
    tz_predict2_u8(out, out, count * width, stride, 0);
}

#endif
