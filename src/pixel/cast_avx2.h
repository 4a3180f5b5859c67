/* SPDX-License-Identifier: Apache-2.0
 * Eight samples of a type in and out of doubles, with AVX2. A double holds every sample of up to 32
 * bits exactly, so that this is the wide form of all of them. */
#ifndef TZ_PIXEL_CAST_AVX2_H
#define TZ_PIXEL_CAST_AVX2_H

#include "pixel/avx2.h"

#if defined(__x86_64__)

typedef struct eight {
    __m256d low, high;
} eight;

TZ_AVX2_INLINE __m128i load_quarter(const uint8_t *p)
{
    return _mm_loadl_epi64((const __m128i *)(const void *)p);
}

TZ_AVX2_INLINE eight eight_of_i32(__m256i v)
{
    return (eight){_mm256_cvtepi32_pd(_mm256_castsi256_si128(v)),
                   _mm256_cvtepi32_pd(_mm256_extracti128_si256(v, 1))};
}

/* There is no conversion from u32: it is that of i32 with the sign bit flipped, plus 2^31. */
TZ_AVX2_INLINE eight eight_of_u32(__m256i v)
{
    const __m256d half = _mm256_set1_pd(2147483648.0);
    const eight x = eight_of_i32(_mm256_xor_si256(v, _mm256_set1_epi32(INT32_MIN)));
    return (eight){_mm256_add_pd(x.low, half), _mm256_add_pd(x.high, half)};
}

TZ_AVX2_INLINE eight eight_of_f32(__m256 v)
{
    return (eight){_mm256_cvtps_pd(_mm256_castps256_ps128(v)),
                   _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1))};
}

/* Loads integers of 8 and 16 bits as i32. */
TZ_AVX2_INLINE __m256i load_small(tz_dtype from, const uint8_t *p)
{
    return from == TZ_DTYPE_UINT8    ? _mm256_cvtepu8_epi32(load_quarter(p))
           : from == TZ_DTYPE_INT8   ? _mm256_cvtepi8_epi32(load_quarter(p))
           : from == TZ_DTYPE_UINT16 ? _mm256_cvtepu16_epi32(load_half(p))
                                     : _mm256_cvtepi16_epi32(load_half(p));
}

TZ_AVX2_INLINE __m256 load_floats(const uint8_t *p)
{
    return _mm256_castsi256_ps(load_full(p));
}

TZ_AVX2_INLINE eight load_eight(tz_dtype from, const uint8_t *p)
{
    switch (from) {
    case TZ_DTYPE_INT32:
        return eight_of_i32(load_full(p));
    case TZ_DTYPE_UINT32:
        return eight_of_u32(load_full(p));
    case TZ_DTYPE_FLOAT32:
        return eight_of_f32(load_floats(p));
    case TZ_DTYPE_FLOAT64:
        return (eight){_mm256_castsi256_pd(load_full(p)), _mm256_castsi256_pd(load_full(p + 32))};
    default:
        return eight_of_i32(load_small(from, p));
    }
}

/* ---- from doubles ---- */

/* Returns a number that truncates to v rounded to nearest, ties away from zero, within bounds; NaN
 * becomes 0. The largest double below 0.5 is added, with the sign of v: a tie still comes to the
 * next whole number, by rounding, and less than a tie does not. With a lowest of 0, max alone
 * handles NaN, for which it returns its second operand, and negative numbers. */
TZ_AVX2_INLINE __m256d round_away(__m256d v, double lowest, double highest)
{
    __m256d nearly_half = _mm256_set1_pd(0.49999999999999994);
    if (lowest < 0) {
        v = _mm256_and_pd(v, _mm256_cmp_pd(v, v, _CMP_ORD_Q));
        nearly_half = _mm256_or_pd(nearly_half, _mm256_and_pd(v, _mm256_set1_pd(-0.0)));
    }
    v = _mm256_min_pd(_mm256_max_pd(v, _mm256_set1_pd(lowest)), _mm256_set1_pd(highest));
    return _mm256_add_pd(v, nearly_half);
}

TZ_AVX2_INLINE __m256i i32_of(eight x, double lowest, double highest)
{
    const __m128i low = _mm256_cvttpd_epi32(round_away(x.low, lowest, highest));
    const __m128i high = _mm256_cvttpd_epi32(round_away(x.high, lowest, highest));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

TZ_AVX2_INLINE __m128i u32_of_four(__m256d v)
{
    const __m256d whole =
        _mm256_round_pd(round_away(v, 0.0, 4294967295.0), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    return _mm_xor_si128(_mm256_cvttpd_epi32(_mm256_sub_pd(whole, _mm256_set1_pd(2147483648.0))),
                         _mm_set1_epi32(INT32_MIN));
}

TZ_AVX2_INLINE __m256i u32_of(eight x)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(u32_of_four(x.low)), u32_of_four(x.high),
                                   1);
}

/* Packs words of 32 bits that fit into 16. */
TZ_AVX2_INLINE __m128i pack_words(__m256i v, bool sign)
{
    const __m128i low = _mm256_castsi256_si128(v);
    const __m128i high = _mm256_extracti128_si256(v, 1);
    return sign ? _mm_packs_epi32(low, high) : _mm_packus_epi32(low, high);
}

TZ_AVX2_INLINE void store_bytes(uint8_t *p, __m128i words, bool sign)
{
    _mm_storel_epi64((__m128i *)(void *)p,
                     sign ? _mm_packs_epi16(words, words) : _mm_packus_epi16(words, words));
}

TZ_AVX2_INLINE void store_floats(uint8_t *p, __m256 v)
{
    store_full(p, _mm256_castps_si256(v));
}

TZ_AVX2_INLINE void store_eight(tz_dtype to, uint8_t *p, eight x)
{
    switch (to) {
    case TZ_DTYPE_UINT8:
        store_bytes(p, pack_words(i32_of(x, 0, 255), true), false);
        break;
    case TZ_DTYPE_INT8:
        store_bytes(p, pack_words(i32_of(x, -128, 127), true), true);
        break;
    case TZ_DTYPE_UINT16:
        store_half(p, pack_words(i32_of(x, 0, 65535), false));
        break;
    case TZ_DTYPE_INT16:
        store_half(p, pack_words(i32_of(x, -32768, 32767), true));
        break;
    case TZ_DTYPE_INT32:
        store_full(p, i32_of(x, -2147483648.0, 2147483647.0));
        break;
    case TZ_DTYPE_UINT32:
        store_full(p, u32_of(x));
        break;
    case TZ_DTYPE_FLOAT32:
        store_half(p, _mm_castps_si128(_mm256_cvtpd_ps(x.low)));
        store_half(p + 16, _mm_castps_si128(_mm256_cvtpd_ps(x.high)));
        break;
    default:
        store_full(p, _mm256_castpd_si256(x.low));
        store_full(p + 32, _mm256_castpd_si256(x.high));
        break;
    }
}

#endif

#endif
