/* SPDX-License-Identifier: Apache-2.0
 * Shared by the files with AVX2 loops. A 256-bit register (VECTOR) is two lanes of 16 bytes: most
 * instructions work on each lane alone, and moving bytes across costs more. Functions have the
 * target as an attribute, so that the rest of the library runs on any x86-64. Helpers are always
 * inlined: constants in their calls make a loop for each format. */
#ifndef TZ_PIXEL_AVX2_H
#define TZ_PIXEL_AVX2_H

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#include "pixel/row_ops.h"

#define TZ_AVX2        __attribute__((target("avx2")))
#define TZ_AVX2_INLINE static inline __attribute__((always_inline, target("avx2")))

enum { VECTOR = 32, LANE = 16 };

/* Shuffles that change the byte order of the words in a lane, by size of word; 1 moves nothing. */
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

/* Loads the two lanes from two addresses. */
TZ_AVX2_INLINE __m256i load_lanes(const uint8_t *low, const uint8_t *high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_half(low)), load_half(high), 1);
}

/* Loads the same 16 bytes into both lanes. */
TZ_AVX2_INLINE __m256i load_twice(const uint8_t *p)
{
    return _mm256_broadcastsi128_si256(load_half(p));
}

/* The table; see row_ops.h for what each does. */
tz_unpredict2_fn tz_avx2_unpredict2_u8, tz_avx2_unpredict2_u16, tz_avx2_unpredict2_u32,
    tz_avx2_unpredict2_u64;
tz_unpredict3_fn tz_avx2_unpredict3;
tz_swap_fn tz_avx2_swap_u16, tz_avx2_swap_u32, tz_avx2_swap_u64;
tz_unpack_fn tz_avx2_unpack;
tz_copy_fn tz_avx2_copy;
tz_convert_fn tz_avx2_convert;
tz_predict2_fn tz_avx2_predict2_u8, tz_avx2_predict2_u16, tz_avx2_predict2_u32,
    tz_avx2_predict2_u64;
tz_predict3_fn tz_avx2_predict3;
tz_pack_fn tz_avx2_pack;
tz_replace_nan_fn tz_avx2_replace_nan_u16, tz_avx2_replace_nan_u32, tz_avx2_replace_nan_u64;
tz_block_stats_fn tz_avx2_block_stats;
tz_average_2x2_fn tz_avx2_average_2x2;
tz_weighted_sums_fn tz_avx2_weighted_sums;
tz_combine_rows_fn tz_avx2_combine_rows;
tz_divide_fn tz_avx2_divide;
#endif

#endif
