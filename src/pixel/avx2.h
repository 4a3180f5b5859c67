/* SPDX-License-Identifier: Apache-2.0
 * What the files of AVX2 loops share. A 256-bit register is two lanes of 16 bytes. */
#ifndef TZ_PIXEL_AVX2_H
#define TZ_PIXEL_AVX2_H

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#include "pixel/row_ops.h"

#define TZ_AVX2        __attribute__((target("avx2")))
#define TZ_AVX2_INLINE static inline __attribute__((always_inline, target("avx2")))

enum { VECTOR = 32, LANE = 16 };

/* Bytes of a lane in the other order, by size of word. */
static const uint8_t swap_orders[9][LANE] = {
    [1] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    [2] = {1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14},
    [4] = {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12},
    [8] = {7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8},
};

TZ_AVX2_INLINE __m128i load_half(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

TZ_AVX2_INLINE void store_half(uint8_t *p, __m128i v)
{
    _mm_storeu_si128((__m128i *)(void *)p, v);
}

TZ_AVX2_INLINE __m256i load_full(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

TZ_AVX2_INLINE void store_full(uint8_t *p, __m256i v)
{
    _mm256_storeu_si256((__m256i *)(void *)p, v);
}

/* Two lanes from two places. */
TZ_AVX2_INLINE __m256i load_lanes(const uint8_t *low, const uint8_t *high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_half(low)), load_half(high), 1);
}

/* The same 16 bytes in both lanes. */
TZ_AVX2_INLINE __m256i load_twice(const uint8_t *p)
{
    return _mm256_broadcastsi128_si256(load_half(p));
}

void tz_avx2_unpredict2_u8(const uint8_t *row, uint8_t *out, size_t count, uint32_t stride,
                           bool swap);
void tz_avx2_unpredict2_u16(const uint8_t *row, uint8_t *out, size_t count, uint32_t stride,
                            bool swap);
void tz_avx2_unpredict2_u32(const uint8_t *row, uint8_t *out, size_t count, uint32_t stride,
                            bool swap);
void tz_avx2_unpredict2_u64(const uint8_t *row, uint8_t *out, size_t count, uint32_t stride,
                            bool swap);
void tz_avx2_unpredict3(uint8_t *row, uint8_t *out, size_t count, size_t wanted, unsigned width,
                        uint32_t stride);
void tz_avx2_swap_u16(const uint8_t *row, uint8_t *out, size_t count);
void tz_avx2_swap_u32(const uint8_t *row, uint8_t *out, size_t count);
void tz_avx2_swap_u64(const uint8_t *row, uint8_t *out, size_t count);
void tz_avx2_unpack(const uint8_t *row, uint8_t *out, size_t count, unsigned bits, size_t size,
                    bool sign);
void tz_avx2_copy(size_t size, const uint8_t *src, ptrdiff_t src_step, uint8_t *dst,
                  ptrdiff_t dst_step, size_t count);
void tz_avx2_convert(const tz_conversion *how, const uint8_t *src, ptrdiff_t src_step, uint8_t *dst,
                     ptrdiff_t dst_step, size_t count, uint8_t *mask, ptrdiff_t mask_step);

void tz_avx2_predict2_u8(const uint8_t *row, uint8_t *out, size_t count, uint32_t stride,
                         bool swap);
void tz_avx2_predict2_u16(const uint8_t *row, uint8_t *out, size_t count, uint32_t stride,
                          bool swap);
void tz_avx2_predict2_u32(const uint8_t *row, uint8_t *out, size_t count, uint32_t stride,
                          bool swap);
void tz_avx2_predict2_u64(const uint8_t *row, uint8_t *out, size_t count, uint32_t stride,
                          bool swap);
void tz_avx2_predict3(const uint8_t *row, uint8_t *out, size_t count, unsigned width,
                      uint32_t stride);
void tz_avx2_pack(const uint8_t *row, uint8_t *out, size_t count, unsigned bits, size_t size);
void tz_avx2_replace_nan_u16(uint8_t *row, size_t count, const uint8_t *value);
void tz_avx2_replace_nan_u32(uint8_t *row, size_t count, const uint8_t *value);
void tz_avx2_replace_nan_u64(uint8_t *row, size_t count, const uint8_t *value);
void tz_avx2_block_stats(tz_dtype dtype, const uint8_t *row, const uint8_t *flags, size_t count,
                         double pivot, tz_block_stats *out);
void tz_avx2_average_2x2(const tz_average_2x2_params *how, const uint8_t *above,
                         const uint8_t *below, uint8_t *out, size_t count);
void tz_avx2_weighted_sums(const tz_tap_weights *how, const double *samples, double *sums,
                           double *totals);
void tz_avx2_combine_rows(const double *const *rows, const double *weights, uint32_t count,
                          size_t width, double *out);
bool tz_avx2_divide(const double *sums, const double *totals, size_t width, double *out);
#endif

#endif
