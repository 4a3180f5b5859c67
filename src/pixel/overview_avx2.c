/* SPDX-License-Identifier: Apache-2.0
 * Overviews with AVX2: the mean of two by two pixels, and weighted sums of samples.
 *
 * Means go block by block over two rows. A block in which all samples count, or none, needs no
 * branches; any other block goes to the scalar form, since masks have long edges but few pixels on
 * them. Weighted sums work on four new pixels at a time.
 *
 * The sums of doubles keep the order of the scalar form, and products are rounded before they are
 * added: the target is avx2 without fma, so that results have the same bits. */
#include "pixel/row_ops.h"

#if defined(__x86_64__)
#include <math.h>

#include "kernels/weighted_mean.h"
#include "pixel/avx2.h"

/* ---- means of two by two pixels ---- */

/* The rows of a call, from the next new pixel on. */
typedef struct row_cursor {
    const uint8_t *above;
    const uint8_t *below;
    uint8_t *out;
    size_t count; /* new pixels left */
} row_cursor;

static void advance_cursor(row_cursor *p, size_t pixels, size_t pixel_bytes)
{
    p->above += 2 * pixels * pixel_bytes;
    p->below += 2 * pixels * pixel_bytes;
    p->out += pixels * pixel_bytes;
    p->count -= pixels;
}

/* ---- integers ---- */

/* A lane holds whole pairs of pixels. A shuffle moves each sample next to the one it is added to,
 * for instructions that add neighbours. */
typedef struct pairing {
    __m256i order;
    uint32_t used;     /* bits of a byte mask that belong to these pixels */
    size_t lane_bytes; /* bytes of the pixels in a lane; half as many in the result */
} pairing;

TZ_AVX2_INLINE pairing find_pairing(uint32_t samples, size_t size)
{
    const size_t pixel = samples * size;
    const size_t pairs = LANE / (2 * pixel);
    uint8_t order[LANE];
    for (size_t i = 0; i < LANE; i++) {
        const size_t word = i / size / 2; /* of the result */
        const size_t from = (word / samples * 2 * samples + word % samples) * size;
        const size_t second = i / size % 2 * pixel;
        order[i] = (uint8_t)(word < pairs * samples ? from + second + i % size : 0x80);
    }
    const uint32_t lane = (uint32_t)((UINT32_C(1) << 2 * pixel * pairs) - 1);
    return (pairing){load_twice(order), lane | lane << LANE, 2 * pixel * pairs};
}

/* Each returns means of four samples, in the low 8 bytes of each lane. Sums are in words of twice
 * the size, so that they cannot overflow; + 2 rounds the half up. */
TZ_AVX2_INLINE __m256i mean_u8(__m256i above, __m256i below)
{
    const __m256i one = _mm256_set1_epi8(1);
    const __m256i sum =
        _mm256_add_epi16(_mm256_maddubs_epi16(above, one), _mm256_maddubs_epi16(below, one));
    const __m256i mean = _mm256_srli_epi16(_mm256_add_epi16(sum, _mm256_set1_epi16(2)), 2);
    return _mm256_packus_epi16(mean, mean);
}

/* madd takes signed words: the sign bit is flipped, and 4 * 32768 added to the sum for it. */
TZ_AVX2_INLINE __m256i mean_u16(__m256i above, __m256i below)
{
    const __m256i one = _mm256_set1_epi16(1);
    const __m256i sign = _mm256_set1_epi16(INT16_MIN);
    const __m256i sum = _mm256_add_epi32(_mm256_madd_epi16(_mm256_xor_si256(above, sign), one),
                                         _mm256_madd_epi16(_mm256_xor_si256(below, sign), one));
    const __m256i mean =
        _mm256_srli_epi32(_mm256_add_epi32(sum, _mm256_set1_epi32(4 * 32768 + 2)), 2);
    return _mm256_packus_epi32(mean, mean);
}

/* Rounds halves away from zero: negative sums get one less. */
TZ_AVX2_INLINE __m256i mean_i16(__m256i above, __m256i below)
{
    const __m256i one = _mm256_set1_epi16(1);
    const __m256i sum =
        _mm256_add_epi32(_mm256_madd_epi16(above, one), _mm256_madd_epi16(below, one));
    const __m256i less = _mm256_srai_epi32(sum, 31);
    const __m256i mean =
        _mm256_srai_epi32(_mm256_add_epi32(_mm256_add_epi32(sum, less), _mm256_set1_epi32(2)), 2);
    return _mm256_packs_epi32(mean, mean);
}

TZ_AVX2_INLINE __m256i equal_words(__m256i a, __m256i b, size_t size)
{
    return size == 1 ? _mm256_cmpeq_epi8(a, b) : _mm256_cmpeq_epi16(a, b);
}

TZ_AVX2_INLINE __m256i broadcast_word(int32_t value, size_t size)
{
    return size == 1 ? _mm256_set1_epi8((char)value) : _mm256_set1_epi16((int16_t)value);
}

/* Stores 8 bytes of each lane, of which `half` count; the next store overwrites the others. */
TZ_AVX2_INLINE void store_means(uint8_t *out, __m256i means, size_t half)
{
    _mm_storel_epi64((__m128i *)(void *)out, _mm256_castsi256_si128(means));
    _mm_storel_epi64((__m128i *)(void *)(out + half), _mm256_extracti128_si256(means, 1));
}

/* Averages blocks of two lanes until the row has less than one left. A block in which some samples
 * are nodata and some are not is made by the scalar form. */
TZ_AVX2_INLINE void average_integers(const tz_average_2x2_params *how, row_cursor *p,
                                     __m256i (*mean)(__m256i, __m256i), size_t size)
{
    const size_t pixel = how->samples * size;
    const pairing m = find_pairing(how->samples, size);
    const size_t pixels = m.lane_bytes / pixel; /* new ones of a block */
    const __m256i nodata = broadcast_word(how->nodata, size);
    const __m256i neighbour = broadcast_word(how->neighbour, size);
    /* A block reads a whole second lane, and writes 8 bytes for it. */
    while (p->count * pixel >= m.lane_bytes / 2 + 8) {
        const __m256i above = load_lanes(p->above, p->above + m.lane_bytes);
        const __m256i below = load_lanes(p->below, p->below + m.lane_bytes);
        __m256i means =
            mean(_mm256_shuffle_epi8(above, m.order), _mm256_shuffle_epi8(below, m.order));
        if (how->has_nodata) {
            const uint32_t invalid[2] = {
                (uint32_t)_mm256_movemask_epi8(equal_words(above, nodata, size)) & m.used,
                (uint32_t)_mm256_movemask_epi8(equal_words(below, nodata, size)) & m.used};
            means = _mm256_blendv_epi8(means, neighbour, equal_words(means, nodata, size));
            if (invalid[0] == m.used && invalid[1] == m.used) {
                means = nodata;
            } else if (invalid[0] | invalid[1]) {
                tz_scalar_average_2x2(how, p->above, p->below, p->out, pixels);
                advance_cursor(p, pixels, pixel);
                continue;
            }
        }
        store_means(p->out, means, m.lane_bytes / 2);
        advance_cursor(p, pixels, pixel);
    }
}

/* ---- floats: sums are doubles, in the order of the scalar form ---- */

/* Returns a mask of the samples that do not count: NaN and nodata. */
TZ_AVX2_INLINE __m128 find_invalid(const tz_average_2x2_params *how, __m128 x)
{
    const __m128 invalid = _mm_cmpunord_ps(x, x);
    if (!how->has_nodata)
        return invalid;
    return _mm_or_ps(invalid, _mm_cmpeq_ps(x, _mm_set1_ps(how->nodata_real)));
}

/* Adding 0 makes a negative zero positive, as in the scalar form. */
TZ_AVX2_INLINE __m128 finish_means(const tz_average_2x2_params *how, __m256d sum)
{
    const __m256d mean =
        _mm256_mul_pd(_mm256_add_pd(sum, _mm256_setzero_pd()), _mm256_set1_pd(0.25));
    const __m128 narrow = _mm256_cvtpd_ps(mean);
    if (!how->has_nodata)
        return narrow;
    return _mm_blendv_ps(narrow, _mm_set1_ps(how->neighbour_real),
                         _mm_cmpeq_ps(narrow, _mm_set1_ps(how->nodata_real)));
}

/* Averages four samples: x[0] and x[1] are of the upper pixels, x[2] and x[3] of the lower ones.
 * Returns false if not all of them count, or if a mean is NaN. */
TZ_AVX2_INLINE bool average_four(const tz_average_2x2_params *how, const __m128 x[4], __m128 *out)
{
    const __m128 invalid = _mm_or_ps(_mm_or_ps(find_invalid(how, x[0]), find_invalid(how, x[1])),
                                     _mm_or_ps(find_invalid(how, x[2]), find_invalid(how, x[3])));
    const __m256d above = _mm256_add_pd(_mm256_cvtps_pd(x[0]), _mm256_cvtps_pd(x[1]));
    const __m256d below = _mm256_add_pd(_mm256_cvtps_pd(x[2]), _mm256_cvtps_pd(x[3]));
    *out = finish_means(how, _mm256_add_pd(above, below));
    return _mm_movemask_ps(_mm_or_ps(invalid, _mm_cmpunord_ps(*out, *out))) == 0;
}

TZ_AVX2_INLINE __m128 load_four(const uint8_t *p)
{
    return _mm_castsi128_ps(load_half(p));
}

/* For one sample a pixel: the even and the odd samples of eight are the left and the right pixels.
 */
TZ_AVX2 static void average_one_sample(const tz_average_2x2_params *how, row_cursor *p)
{
    const __m128 none = _mm_set1_ps(how->none_real);
    while (p->count >= 4) {
        const __m128 a[4] = {load_four(p->above), load_four(p->above + LANE), load_four(p->below),
                             load_four(p->below + LANE)};
        const __m128 x[4] = {_mm_shuffle_ps(a[0], a[1], 0x88), _mm_shuffle_ps(a[0], a[1], 0xdd),
                             _mm_shuffle_ps(a[2], a[3], 0x88), _mm_shuffle_ps(a[2], a[3], 0xdd)};
        __m128 means;
        if (average_four(how, x, &means)) {
            store_half(p->out, _mm_castps_si128(means));
        } else if (_mm_movemask_ps(_mm_and_ps(
                       _mm_and_ps(find_invalid(how, x[0]), find_invalid(how, x[1])),
                       _mm_and_ps(find_invalid(how, x[2]), find_invalid(how, x[3])))) == 15) {
            store_half(p->out, _mm_castps_si128(none));
        } else {
            tz_scalar_average_2x2(how, p->above, p->below, p->out, 4);
        }
        advance_cursor(p, 4, sizeof(float));
    }
}

/* For several samples a pixel, four at a time. The last four may reach into the next pixel, whose
 * samples are then written again with it; the last pixel of a row is left to the scalar form. */
TZ_AVX2 static void average_samples(const tz_average_2x2_params *how, row_cursor *p)
{
    const size_t pixel = how->samples * sizeof(float);
    while (p->count > 1 || (p->count == 1 && how->samples % 4 == 0)) {
        bool all = true;
        for (size_t at = 0; all && at < pixel; at += LANE) {
            const __m128 x[4] = {load_four(p->above + at), load_four(p->above + at + pixel),
                                 load_four(p->below + at), load_four(p->below + at + pixel)};
            __m128 means;
            all = average_four(how, x, &means);
            store_half(p->out + at, _mm_castps_si128(means));
        }
        if (!all)
            tz_scalar_average_2x2(how, p->above, p->below, p->out, 1);
        advance_cursor(p, 1, pixel);
    }
}

/* A lane must hold a pair of pixels; larger ones, and the end of a row, take the scalar form. */
TZ_AVX2 void tz_avx2_average_2x2(const tz_average_2x2_params *how, const uint8_t *above,
                                 const uint8_t *below, uint8_t *out, size_t count)
{
    row_cursor p = {above, below, out, count};
    if (how->dtype == TZ_DTYPE_FLOAT32)
        (how->samples == 1 ? average_one_sample : average_samples)(how, &p);
    else if (how->dtype == TZ_DTYPE_UINT8 && how->samples <= 8)
        average_integers(how, &p, mean_u8, 1);
    else if (how->dtype == TZ_DTYPE_UINT16 && how->samples <= 4)
        average_integers(how, &p, mean_u16, 2);
    else if (how->dtype == TZ_DTYPE_INT16 && how->samples <= 4)
        average_integers(how, &p, mean_i16, 2);
    tz_scalar_average_2x2(how, p.above, p.below, p.out, p.count);
}

/* ---- weighted sums ---- */

/* Sums for four new pixels. */
typedef struct weighted_fours {
    __m256d sum;
    __m256d total;
} weighted_fours;

/* Adds a tap. A sample counts if it is not NaN and has a weight; all: every sample counts, and
 * totals are not needed. */
TZ_AVX2_INLINE void add_tap(weighted_fours *s, __m256d x, __m256d weight, bool all)
{
    if (all) {
        s->sum = _mm256_add_pd(s->sum, _mm256_mul_pd(weight, x));
        return;
    }
    const __m256d counts = _mm256_and_pd(_mm256_cmp_pd(x, x, _CMP_ORD_Q),
                                         _mm256_cmp_pd(weight, _mm256_setzero_pd(), _CMP_NEQ_OQ));
    s->sum = _mm256_add_pd(s->sum, _mm256_and_pd(_mm256_mul_pd(weight, x), counts));
    s->total = _mm256_add_pd(s->total, _mm256_and_pd(weight, counts));
}

/* Loads two taps of four new pixels that are two samples apart, from eight samples. */
TZ_AVX2_INLINE void load_two_taps(const double *samples, __m256d out[2])
{
    const __m256d low = _mm256_loadu_pd(samples);
    const __m256d high = _mm256_loadu_pd(samples + 4);
    out[0] = _mm256_permute4x64_pd(_mm256_unpacklo_pd(low, high), 0xd8);
    out[1] = _mm256_permute4x64_pd(_mm256_unpackhi_pd(low, high), 0xd8);
}

/* Overviews of half the size have new pixels two samples apart: no gathers are needed. */
TZ_AVX2_INLINE weighted_fours sum_taps_by_two(const tz_tap_weights *how, const double *samples,
                                              size_t i, bool all)
{
    weighted_fours s = {_mm256_setzero_pd(), _mm256_setzero_pd()};
    const double *weights = how->weights + i;
    uint32_t k = 0;
    for (; k + 2 <= how->taps; k += 2, weights += 2 * how->width) {
        __m256d x[2];
        load_two_taps(samples + how->from[i] + k, x);
        add_tap(&s, x[0], _mm256_loadu_pd(weights), all);
        add_tap(&s, x[1], _mm256_loadu_pd(weights + how->width), all);
    }
    if (k < how->taps) { /* eight samples could reach past the row */
        const double *at = samples + how->from[i] + k;
        add_tap(&s, _mm256_setr_pd(at[0], at[2], at[4], at[6]), _mm256_loadu_pd(weights), all);
    }
    return s;
}

TZ_AVX2_INLINE weighted_fours sum_taps_gathered(const tz_tap_weights *how, const double *samples,
                                                size_t i, bool all)
{
    weighted_fours s = {_mm256_setzero_pd(), _mm256_setzero_pd()};
    const int32_t *from = how->from + i;
    for (uint32_t k = 0; k < how->taps; k++) {
        const double *at = samples + k;
        add_tap(&s, _mm256_setr_pd(at[from[0]], at[from[1]], at[from[2]], at[from[3]]),
                _mm256_loadu_pd(how->weights + k * how->width + i), all);
    }
    return s;
}

TZ_AVX2_INLINE bool is_by_two(const int32_t *from)
{
    return from[1] - from[0] == 2 && from[2] - from[0] == 4 && from[3] - from[0] == 6;
}

TZ_AVX2_INLINE size_t sum_taps_of_fours(const tz_tap_weights *how, const double *samples,
                                        double *out, double *totals, bool all)
{
    size_t i = 0;
    for (; i + 4 <= how->width; i += 4) {
        const weighted_fours s = is_by_two(how->from + i) ? sum_taps_by_two(how, samples, i, all)
                                                          : sum_taps_gathered(how, samples, i, all);
        _mm256_storeu_pd(out + i, s.sum);
        if (!all)
            _mm256_storeu_pd(totals + i, s.total);
    }
    return i;
}

/* Two copies of the loop, with and without tests. */
TZ_AVX2 void tz_avx2_weighted_sums(const tz_tap_weights *how, const double *samples, double *out,
                                   double *totals)
{
    double total;
    size_t i = totals ? sum_taps_of_fours(how, samples, out, totals, false)
                      : sum_taps_of_fours(how, samples, out, totals, true);
    for (; i < how->width; i++)
        tz_weighted_sum_row(samples + how->from[i], how->weights + i, how->width, how->taps,
                            &out[i], totals ? &totals[i] : &total);
}

/* Two registers at a time, so that one addition need not wait for the other. */
TZ_AVX2 void tz_avx2_combine_rows(const double *const *rows, const double *weights, uint32_t count,
                                  size_t width, double *out)
{
    size_t i = 0;
    for (; i + 8 <= width; i += 8) {
        __m256d low = _mm256_setzero_pd();
        __m256d high = _mm256_setzero_pd();
        for (uint32_t k = 0; k < count; k++) {
            const __m256d weight = _mm256_broadcast_sd(&weights[k]);
            low = _mm256_add_pd(low, _mm256_mul_pd(weight, _mm256_loadu_pd(rows[k] + i)));
            high = _mm256_add_pd(high, _mm256_mul_pd(weight, _mm256_loadu_pd(rows[k] + i + 4)));
        }
        _mm256_storeu_pd(out + i, low);
        _mm256_storeu_pd(out + i + 4, high);
    }
    for (; i < width; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < count; k++)
            sum += weights[k] * rows[k][i];
        out[i] = sum;
    }
}

TZ_AVX2 bool tz_avx2_divide(const double *sums, const double *totals, size_t width, double *out)
{
    const __m256d nan = _mm256_set1_pd((double)NAN);
    __m256d gaps = _mm256_setzero_pd();
    size_t i = 0;
    for (; i + 4 <= width; i += 4) {
        const __m256d total = _mm256_loadu_pd(totals + i);
        const __m256d mean =
            _mm256_blendv_pd(nan, _mm256_div_pd(_mm256_loadu_pd(sums + i), total),
                             _mm256_cmp_pd(total, _mm256_setzero_pd(), _CMP_GT_OQ));
        _mm256_storeu_pd(out + i, mean);
        gaps = _mm256_or_pd(gaps, _mm256_cmp_pd(mean, mean, _CMP_UNORD_Q));
    }
    const bool rest = tz_scalar_divide(sums + i, totals + i, width - i, out + i);
    return rest || _mm256_movemask_pd(gaps) != 0;
}
#endif
