/* SPDX-License-Identifier: Apache-2.0
 * Weighted sums of samples with AVX2: four new pixels at a time, each in the order of the plain
 * form. */
#include "pixel/row_ops.h"

#if defined(__x86_64__)
#include <math.h>

#include "kernels/weighted_mean.h"
#include "pixel/avx2.h"

typedef struct weighted_fours {
    __m256d sum;
    __m256d total;
} weighted_fours;

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

/* Two taps of four pixels that are two samples apart, from eight samples. */
TZ_AVX2_INLINE void load_two_taps(const double *samples, __m256d out[2])
{
    const __m256d low = _mm256_loadu_pd(samples);
    const __m256d high = _mm256_loadu_pd(samples + 4);
    out[0] = _mm256_permute4x64_pd(_mm256_unpacklo_pd(low, high), 0xd8);
    out[1] = _mm256_permute4x64_pd(_mm256_unpackhi_pd(low, high), 0xd8);
}

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
    if (k < how->taps) { /* not beyond the last sample */
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
