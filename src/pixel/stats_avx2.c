/* SPDX-License-Identifier: Apache-2.0
 * Statistics of a block of samples with AVX2.
 *
 * The eight accumulators of kernels/stats.h are two registers of doubles, and every addition has
 * the order of that file, so that sums have the same bits. Of samples of 8 and 16 bits all sums are
 * whole numbers that both a double and an integer hold exactly: they are made in integers, which is
 * several times faster, about a bias, and moved to the pivot at the end. */
#include "pixel/row_ops.h"

#if defined(__x86_64__)
#include <math.h>
#include <string.h>

#include "pixel/cast_avx2.h"

/* The last samples of a row in a register of their own, in which the others do not count. */
typedef struct row_tail {
    uint8_t samples[64];
    uint8_t flags[16];
} row_tail;

static row_tail row_tail_of(const uint8_t *row, const uint8_t *flags, size_t count, size_t size)
{
    row_tail end = {{0}, {0}};
    memcpy(end.samples, row, count * size);
    if (flags)
        memcpy(end.flags, flags, count);
    else
        memset(end.flags, 1, count);
    return end;
}

/* ---- integers of 8 and 16 bits ---- */

typedef struct integer_sums {
    __m256i sum;     /* words of 32 bits */
    __m256i squares; /* words of 64 bits */
    __m256i minimum; /* signed words of 16 bits, and so is maximum */
    __m256i maximum;
    __m256i valid; /* words of 16 bits, counted down: the masks are -1 */
} integer_sums;

/* Returns the number that is subtracted from samples to make them signed words. */
TZ_AVX2_INLINE int32_t bias_of(tz_dtype dtype)
{
    return dtype == TZ_DTYPE_UINT16 ? 32768 : 0;
}

TZ_AVX2_INLINE __m256i load_words(tz_dtype dtype, const uint8_t *p)
{
    return dtype == TZ_DTYPE_UINT8    ? _mm256_cvtepu8_epi16(load_half(p))
           : dtype == TZ_DTYPE_INT8   ? _mm256_cvtepi8_epi16(load_half(p))
           : dtype == TZ_DTYPE_UINT16 ? _mm256_xor_si256(load_full(p), _mm256_set1_epi16(INT16_MIN))
                                      : load_full(p);
}

/* Adds 16 samples. valid is -1 for samples that count; all: every sample counts. */
TZ_AVX2_INLINE void add_words_to(integer_sums *s, __m256i v, __m256i valid, bool all)
{
    const __m256i low = _mm256_set1_epi64x(0xffffffff);
    const __m256i counted = all ? v : _mm256_and_si256(v, valid);
    const __m256i squares = _mm256_madd_epi16(counted, counted); /* as unsigned: at most 2^31 */
    s->sum = _mm256_add_epi32(s->sum, _mm256_madd_epi16(counted, _mm256_set1_epi16(1)));
    s->squares = _mm256_add_epi64(s->squares, _mm256_and_si256(squares, low));
    s->squares = _mm256_add_epi64(s->squares, _mm256_srli_epi64(squares, 32));
    if (all) {
        s->minimum = _mm256_min_epi16(s->minimum, v);
        s->maximum = _mm256_max_epi16(s->maximum, v);
    } else {
        s->minimum = _mm256_blendv_epi8(s->minimum, _mm256_min_epi16(s->minimum, v), valid);
        s->maximum = _mm256_blendv_epi8(s->maximum, _mm256_max_epi16(s->maximum, v), valid);
        s->valid = _mm256_add_epi16(s->valid, valid);
    }
}

TZ_AVX2_INLINE __m256i valid_words(const uint8_t *flags)
{
    const __m128i zero = _mm_cmpeq_epi8(load_half(flags), _mm_setzero_si128());
    return _mm256_xor_si256(_mm256_cvtepi8_epi16(zero), _mm256_set1_epi8(-1));
}

TZ_AVX2_INLINE int64_t horizontal_sum_i32(__m256i v)
{
    const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    const __m128i two = _mm_add_epi32(four, _mm_srli_si128(four, 8));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_srli_si128(two, 4)));
}

TZ_AVX2_INLINE int64_t horizontal_sum_i64(__m256i v)
{
    const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    return _mm_cvtsi128_si64(_mm_add_epi64(two, _mm_srli_si128(two, 8)));
}

/* Returns the minimum or the maximum of signed words. The instruction finds the minimum of unsigned
 * ones: flipping the sign bit keeps the order of signed words, flipping all other bits reverses it.
 */
TZ_AVX2_INLINE int32_t extreme_word(__m128i words, int turned)
{
    const __m128i turn = _mm_set1_epi16((int16_t)turned);
    return (int16_t)(_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_xor_si128(words, turn))) ^ turned);
}

/* Moves the sums from the bias to the pivot: with whole numbers, all of this is exact. */
TZ_AVX2_INLINE void finish_integer(const integer_sums *s, int32_t bias, size_t all, double pivot,
                                   tz_block_stats *out)
{
    const int64_t shift = (int64_t)pivot - bias;
    const int64_t sum = horizontal_sum_i32(s->sum);
    const int64_t valid =
        (int64_t)all - horizontal_sum_i32(_mm256_madd_epi16(s->valid, _mm256_set1_epi16(1)));
    const int32_t minimum = extreme_word(
        _mm_min_epi16(_mm256_castsi256_si128(s->minimum), _mm256_extracti128_si256(s->minimum, 1)),
        INT16_MIN);
    const int32_t maximum = extreme_word(
        _mm_max_epi16(_mm256_castsi256_si128(s->maximum), _mm256_extracti128_si256(s->maximum, 1)),
        INT16_MAX);
    out->valid = (uint64_t)valid;
    out->minimum = valid ? minimum + bias : (double)INFINITY;
    out->maximum = valid ? maximum + bias : (double)-INFINITY;
    out->sum = (double)(sum - valid * shift);
    out->squares =
        (double)(horizontal_sum_i64(s->squares) - 2 * shift * sum + valid * shift * shift);
}

TZ_AVX2_INLINE void stats_integers(tz_dtype dtype, size_t size, const uint8_t *row,
                                   const uint8_t *flags, size_t count, double pivot,
                                   tz_block_stats *out)
{
    integer_sums s = {.minimum = _mm256_set1_epi16(INT16_MAX),
                      .maximum = _mm256_set1_epi16(INT16_MIN),
                      .sum = _mm256_setzero_si256(),
                      .squares = _mm256_setzero_si256(),
                      .valid = _mm256_setzero_si256()};
    size_t all = 0;
    size_t at = 0;
    if (flags) {
        for (; at + 16 <= count; at += 16)
            add_words_to(&s, load_words(dtype, row + at * size), valid_words(flags + at), false);
    } else {
        for (; at + 16 <= count; at += 16)
            add_words_to(&s, load_words(dtype, row + at * size), _mm256_setzero_si256(), true);
        all = at;
    }
    if (at < count) {
        const row_tail end =
            row_tail_of(row + at * size, flags ? flags + at : NULL, count - at, size);
        add_words_to(&s, load_words(dtype, end.samples), valid_words(end.flags), false);
    }
    finish_integer(&s, bias_of(dtype), all, pivot, out);
}

/* ---- doubles, and types that become one exactly ---- */

typedef struct four_sums {
    __m256d sum, squares, minimum, maximum;
    __m256i valid; /* counted down */
} four_sums;

/* Adds four samples. valid is all ones for those that count. Without flags all count but NaN, over
 * which minimum and maximum pass: they return the second operand if the first one is NaN. */
TZ_AVX2_INLINE void add_four(four_sums *s, __m256d v, __m256d valid, __m256d pivot, bool has_flags,
                             bool is_float)
{
    const __m256d lowest = _mm256_set1_pd((double)-INFINITY);
    const __m256d highest = _mm256_set1_pd((double)INFINITY);
    __m256d d = _mm256_sub_pd(v, pivot);
    if (has_flags || is_float) {
        d = _mm256_and_pd(d, valid);
        s->valid = _mm256_add_epi64(s->valid, _mm256_castpd_si256(valid));
    }
    s->sum = _mm256_add_pd(s->sum, d);
    s->squares = _mm256_add_pd(s->squares, _mm256_mul_pd(d, d));
    s->minimum = _mm256_min_pd(has_flags ? _mm256_blendv_pd(highest, v, valid) : v, s->minimum);
    s->maximum = _mm256_max_pd(has_flags ? _mm256_blendv_pd(lowest, v, valid) : v, s->maximum);
}

/* Widens four flags, which are 0 or not, to masks. */
TZ_AVX2_INLINE __m256d valid_four(const uint8_t *flags)
{
    int32_t four;
    memcpy(&four, flags, sizeof four);
    const __m128i zero = _mm_cmpeq_epi8(_mm_cvtsi32_si128(four), _mm_setzero_si128());
    return _mm256_castsi256_pd(_mm256_xor_si256(_mm256_cvtepi8_epi64(zero), _mm256_set1_epi8(-1)));
}

TZ_AVX2_INLINE void add_eight(four_sums *s, tz_dtype dtype, const uint8_t *p, const uint8_t *flags,
                              __m256d pivot)
{
    const bool is_float = dtype == TZ_DTYPE_FLOAT32 || dtype == TZ_DTYPE_FLOAT64;
    const eight x = load_eight(dtype, p);
    const __m256d v[2] = {x.low, x.high};
    for (int i = 0; i < 2; i++) {
        __m256d valid = is_float ? _mm256_cmp_pd(v[i], v[i], _CMP_ORD_Q) : _mm256_setzero_pd();
        if (flags)
            valid = is_float ? _mm256_and_pd(valid, valid_four(flags + 4 * i))
                             : valid_four(flags + 4 * i);
        add_four(&s[i], v[i], valid, pivot, flags != NULL, is_float);
    }
}

/* Adds the eight accumulators, 0 to 3 and 4 to 7, in the order of tz_accumulators_sum. */
TZ_AVX2_INLINE double add_accumulators(__m256d first, __m256d second)
{
    const __m256d four = _mm256_add_pd(first, second);
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

TZ_AVX2_INLINE void finish_four(const four_sums *s, size_t all, tz_block_stats *out)
{
    double extremes[2][4];
    int64_t valid[4];
    *out = (tz_block_stats){.valid = all,
                            .minimum = (double)INFINITY,
                            .maximum = (double)-INFINITY,
                            .sum = add_accumulators(s[0].sum, s[1].sum),
                            .squares = add_accumulators(s[0].squares, s[1].squares)};
    _mm256_storeu_pd(extremes[0], _mm256_min_pd(s[0].minimum, s[1].minimum));
    _mm256_storeu_pd(extremes[1], _mm256_max_pd(s[0].maximum, s[1].maximum));
    store_full((uint8_t *)valid, _mm256_add_epi64(s[0].valid, s[1].valid));
    for (int i = 0; i < 4; i++) {
        out->minimum = extremes[0][i] < out->minimum ? extremes[0][i] : out->minimum;
        out->maximum = extremes[1][i] > out->maximum ? extremes[1][i] : out->maximum;
        out->valid -= (uint64_t)valid[i];
    }
}

TZ_AVX2_INLINE void stats_doubles(tz_dtype dtype, size_t size, const uint8_t *row,
                                  const uint8_t *flags, size_t count, double pivot,
                                  tz_block_stats *out)
{
    const bool counts_all = !flags && dtype != TZ_DTYPE_FLOAT32 && dtype != TZ_DTYPE_FLOAT64;
    const __m256d about = _mm256_set1_pd(pivot);
    const four_sums empty = {.minimum = _mm256_set1_pd((double)INFINITY),
                             .maximum = _mm256_set1_pd((double)-INFINITY),
                             .sum = _mm256_setzero_pd(),
                             .squares = _mm256_setzero_pd(),
                             .valid = _mm256_setzero_si256()};
    four_sums s[2] = {empty, empty};
    size_t at = 0;
    if (flags) {
        for (; at + 8 <= count; at += 8)
            add_eight(s, dtype, row + at * size, flags + at, about);
    } else {
        for (; at + 8 <= count; at += 8)
            add_eight(s, dtype, row + at * size, NULL, about);
    }
    const size_t all = counts_all ? at : 0;
    if (at < count) {
        const row_tail end =
            row_tail_of(row + at * size, flags ? flags + at : NULL, count - at, size);
        add_eight(s, dtype, end.samples, end.flags, about);
    }
    finish_four(s, all, out);
}

/* ---- types ---- */

#define TZ_AVX2_STATS(name, kind, dtype, size)                                                     \
    TZ_AVX2 static void stats_##name(const uint8_t *row, const uint8_t *flags, size_t count,       \
                                     double pivot, tz_block_stats *out)                            \
    {                                                                                              \
        stats_##kind(dtype, size, row, flags, count, pivot, out);                                  \
    }
TZ_AVX2_STATS(u8, integers, TZ_DTYPE_UINT8, 1)
TZ_AVX2_STATS(i8, integers, TZ_DTYPE_INT8, 1)
TZ_AVX2_STATS(u16, integers, TZ_DTYPE_UINT16, 2)
TZ_AVX2_STATS(i16, integers, TZ_DTYPE_INT16, 2)
TZ_AVX2_STATS(u32, doubles, TZ_DTYPE_UINT32, 4)
TZ_AVX2_STATS(i32, doubles, TZ_DTYPE_INT32, 4)
TZ_AVX2_STATS(f32, doubles, TZ_DTYPE_FLOAT32, 4)
TZ_AVX2_STATS(f64, doubles, TZ_DTYPE_FLOAT64, 8)

void tz_avx2_block_stats(tz_dtype dtype, const uint8_t *row, const uint8_t *flags, size_t count,
                         double pivot, tz_block_stats *out)
{
    static void (*const functions[])(const uint8_t *, const uint8_t *, size_t, double,
                                     tz_block_stats *) = {
        [TZ_DTYPE_UINT8] = stats_u8,    [TZ_DTYPE_INT8] = stats_i8,
        [TZ_DTYPE_UINT16] = stats_u16,  [TZ_DTYPE_INT16] = stats_i16,
        [TZ_DTYPE_UINT32] = stats_u32,  [TZ_DTYPE_INT32] = stats_i32,
        [TZ_DTYPE_FLOAT32] = stats_f32, [TZ_DTYPE_FLOAT64] = stats_f64,
    };
    if (functions[dtype])
        functions[dtype](row, flags, count, pivot, out);
    else
        tz_scalar_block_stats(dtype, row, flags, count, pivot, out);
}

#endif
