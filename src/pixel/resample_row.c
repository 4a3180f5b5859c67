/* SPDX-License-Identifier: Apache-2.0
 * One new row of one band from rows of a level, by any method.
 *
 * Rows of the level are loaded as doubles, with NaN for samples that are not valid, so that every
 * later step knows one mark for them. Means and filters first combine samples along the row, then
 * the results of several rows: a sum for each old row stays in memory for the new rows that follow,
 * as neighbouring new rows share old ones. Minimum and maximum go row by row; mode and median need
 * all samples of a new pixel at once.
 *
 * The decision that is not obvious: a row or window without gaps (all samples valid and finite) has
 * the same sum of weights everywhere. Such rows take loops without tests for NaN, and give the same
 * bits as the general loops. Only rows with gaps pay for them. */
#include "pixel/resample_row.h"

#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "kernels/mode_median.h"
#include "kernels/weighted_mean.h"
#include "pixel/row_ops.h"

/* Largest number of old rows for a new one whose sums stay in memory. */
enum { MAX_CACHED_ROWS = 32 };

static bool is_filter(tz_resampling method)
{
    return method == TZ_RESAMPLING_BILINEAR || method == TZ_RESAMPLING_CUBIC ||
           method == TZ_RESAMPLING_LANCZOS;
}

/* True for methods that need all samples of a new pixel at once. */
static bool is_choice(tz_resampling method)
{
    return method == TZ_RESAMPLING_MODE || method == TZ_RESAMPLING_MEDIAN;
}

/* ---- memory ---- */

void tz_resample_needs_merge(tz_resample_needs *needs, const tz_resample_needs *more)
{
    needs->width = tz_max_u32(needs->width, more->width);
    needs->old_width = tz_max_u32(needs->old_width, more->old_width);
    needs->across = tz_max_u32(needs->across, more->across);
    needs->down = tz_max_u32(needs->down, more->down);
}

static bool is_mean(tz_resampling method)
{
    return method == TZ_RESAMPLING_AVERAGE || method == TZ_RESAMPLING_RMS ||
           method == TZ_RESAMPLING_GAUSS;
}

/* Returns the next size bytes of the memory, from a cache line on; NULL if memory is NULL, which
 * only counts. */
static void *memory_alloc(uint8_t *memory, uint64_t *used, uint64_t size)
{
    void *start = memory ? memory + *used : NULL;
    *used += (size + 63) / 64 * 64;
    return start;
}

/* Divides the memory, and returns the bytes that it needs. The samples have TZ_MAX_TAPS more for
 * pixels with fewer taps than others, which read past the row. */
static uint64_t divide_memory(tz_resample_memory *out, tz_resampling method,
                              const tz_resample_needs *needs, uint8_t *memory)
{
    const bool sums = is_filter(method) || is_mean(method);
    const uint32_t slots = !sums ? 0 : needs->down <= MAX_CACHED_ROWS ? needs->down : 1;
    const uint64_t rows = is_choice(method) ? needs->down : 1;
    const uint64_t chosen = is_choice(method) ? (uint64_t)needs->across * needs->down : 0;
    const uint64_t filters = is_filter(method) ? needs->width : 0;
    const uint64_t row_bytes = needs->width * sizeof(double);
    uint64_t used = 0;
    out->values = memory_alloc(memory, &used, row_bytes);
    out->weights = memory_alloc(memory, &used, row_bytes);
    out->sums = memory_alloc(memory, &used, row_bytes);
    out->totals = memory_alloc(memory, &used, row_bytes);
    out->samples =
        memory_alloc(memory, &used, (rows * needs->old_width + TZ_MAX_TAPS) * sizeof(double));
    out->chosen = memory_alloc(memory, &used, chosen * sizeof(double));
    out->orders = memory_alloc(memory, &used, chosen * sizeof(uint32_t));
    out->filters = memory_alloc(memory, &used, filters * sizeof(tz_filter_state));
    out->filtered = memory_alloc(memory, &used, slots * row_bytes);
    out->rows = memory_alloc(memory, &used, slots * sizeof(int64_t));
    out->gaps = memory_alloc(memory, &used, slots * sizeof(bool));
    out->slots = slots;
    return used;
}

/* Mode and median count the samples of a new pixel in 32 bits. */
uint64_t tz_resample_memory_bytes(tz_resampling method, const tz_resample_needs *needs)
{
    tz_resample_memory unused;
    if (is_choice(method) && (uint64_t)needs->across * needs->down > UINT32_MAX)
        return UINT64_MAX;
    return divide_memory(&unused, method, needs, NULL);
}

void tz_resample_memory_make(tz_resample_memory *out, tz_resampling method,
                             const tz_resample_needs *needs, void *memory)
{
    (void)divide_memory(out, method, needs, memory);
}

void tz_resample_begin(tz_resample_memory *m)
{
    for (uint32_t i = 0; i < m->slots; i++)
        m->rows[i] = -1;
}

/* ---- nearest ---- */

/* Returns the number of samples from one new pixel to the next; 0 if it varies, or if pixels lie
 * outside. Samples are on a straight line, rounded down: if the ends fit, so does the rest. */
static int64_t even_step(const tz_resampler *r)
{
    const uint32_t last = r->width - 1;
    if (last == 0 || r->across.count[0] == 0 || r->across.count[last] == 0)
        return 0;
    const int64_t length = r->across.first[last] - r->across.first[0];
    return length % last == 0 ? length / last : 0;
}

void tz_resample_pick(const tz_resampler *r, int64_t row, uint8_t *samples, uint8_t *valid)
{
    const size_t size = tz_dtype_size(r->dtype);
    const tz_input_row old = r->old_row(r->user, row);
    const ptrdiff_t step = (ptrdiff_t)even_step(r);
    if (step > 0) { /* the loops that copy a band do it */
        const tz_conversion as_is = {.from = r->dtype, .to = r->dtype};
        const tz_conversion flags = {.from = TZ_DTYPE_UINT8, .to = TZ_DTYPE_UINT8};
        const int64_t at = r->across.first[0] - r->column;
        tz_row_convert(&as_is, old.samples + at * old.step, step * old.step, samples,
                       (ptrdiff_t)size, r->width, NULL, 0);
        if (old.valid)
            tz_row_convert(&flags, old.valid + at, step, valid, 1, r->width, NULL, 0);
        else
            memset(valid, 255, r->width);
        return;
    }
    for (uint32_t i = 0; i < r->width; i++) {
        if (r->across.count[i] == 0) {
            memset(samples + i * size, 0, size);
            valid[i] = 0;
            continue;
        }
        const int64_t at = r->across.first[i] - r->column;
        memcpy(samples + i * size, old.samples + at * old.step, size);
        valid[i] = old.valid ? old.valid[at] : 255;
    }
}

/* ---- rows of the level ---- */

static bool is_integer(tz_dtype dtype)
{
    return dtype < TZ_DTYPE_FLOAT16;
}

/* x - x is 0 for finite numbers and NaN for others. Two sums need not wait for each other. */
static bool is_all_finite(const double *values, uint32_t count)
{
    double even = 0;
    double odd = 0;
    uint32_t i = 0;
    for (; i + 1 < count; i += 2) {
        even += values[i] - values[i];
        odd += values[i + 1] - values[i + 1];
    }
    if (i < count)
        even += values[i] - values[i];
    return even + odd == 0;
}

/* Loads a row as doubles, with NaN for samples that are not valid. Returns true if the row has
 * neither NaN nor infinity. */
static bool load_row(const tz_resampler *r, int64_t row, double *out)
{
    const tz_conversion to_double = {.from = r->dtype, .to = TZ_DTYPE_FLOAT64};
    const tz_input_row old = r->old_row(r->user, row);
    const bool whole = !old.valid || !memchr(old.valid, 0, r->old_width);
    tz_row_convert(&to_double, old.samples, old.step, (uint8_t *)out, sizeof *out, r->old_width,
                   NULL, 0);
    for (uint32_t i = 0; !whole && i < r->old_width; i++)
        out[i] = old.valid[i] ? out[i] : (double)NAN;
    return whole && (is_integer(r->dtype) || is_all_finite(out, r->old_width));
}

/* Returns the first sample of new pixel i. */
static const double *samples_of(const tz_resampler *r, const double *row, uint32_t i)
{
    return r->across.count[i] > 0 ? row + (r->across.first[i] - r->column) : row;
}

/* Sums weight * sample, by new pixel, over the row in m->samples. Returns the sums of weights:
 * those of the table if all samples are finite. */
static const double *sum_across(const tz_resampler *r, const tz_resample_memory *m, bool finite,
                                double *sums)
{
    const tz_axis *across = &r->across;
    const tz_tap_weights how = {across->from, across->by_tap, r->width, across->taps};
    if (across->taps == 0) {
        for (uint32_t i = 0; i < r->width; i++)
            tz_weighted_sum_row(samples_of(r, m->samples, i), across->weights + across->start[i], 1,
                                across->count[i], &sums[i], &m->totals[i]);
        return m->totals;
    }
    for (uint32_t i = 0; i < across->taps; i++)
        m->samples[r->old_width + i] = 0; /* pixels with fewer taps read them with a weight of 0 */
    tz_row_ops_get()->weighted_sums(&how, m->samples + (across->first[0] - r->column), sums,
                                    finite ? NULL : m->totals);
    return finite ? across->totals : m->totals;
}

/* Adds up the rows of a new row with their weights. */
static void combine_down(const tz_axis *down, uint32_t i, const double *const *rows, uint32_t width,
                         double *out)
{
    tz_row_ops_get()->combine_rows(rows, down->weights + down->start[i], down->count[i], width,
                                   out);
}

/* ---- means by area and gauss: of all samples at once ---- */

/* Loads a row, squared for the root of the mean square: squares of finite numbers may overflow, but
 * not those of integers. */
static bool load_powers(const tz_resampler *r, int64_t row, double *out)
{
    const bool finite = load_row(r, row, out);
    if (r->method != TZ_RESAMPLING_RMS)
        return finite;
    for (uint32_t x = 0; x < r->old_width; x++)
        out[x] *= out[x];
    return finite && is_integer(r->dtype);
}

/* Returns the sums of one row, from memory if they are there; NULL if not all samples count. */
static const double *summed_row(const tz_resampler *r, int64_t row, tz_resample_memory *m)
{
    const uint32_t slot = (uint32_t)(row % m->slots);
    double *out = m->filtered + (size_t)slot * r->width;
    if (m->rows[slot] != row) {
        const bool finite = load_powers(r, row, m->samples);
        m->rows[slot] = row;
        m->gaps[slot] = !finite;
        if (finite)
            sum_across(r, m, true, out);
    }
    return m->gaps[slot] ? NULL : out;
}

/* Returns false, with nothing done, if not all samples count or there are too many rows. */
static bool sum_down_without_gaps(const tz_resampler *r, const tz_axis *down, uint32_t i,
                                  tz_resample_memory *m)
{
    const double *rows[MAX_CACHED_ROWS];
    if (r->across.taps == 0 || down->count[i] > m->slots)
        return false;
    for (uint32_t k = 0; k < down->count[i]; k++) {
        rows[k] = summed_row(r, down->first[i] + k, m);
        if (!rows[k])
            return false;
    }
    combine_down(down, i, rows, r->width, m->values);
    for (uint32_t k = 0; k < down->count[i]; k++)
        rows[k] = r->across.totals;
    combine_down(down, i, rows, r->width, m->weights);
    return true;
}

/* Divides the sums of valid samples by the sums of their weights. Returns true if there are gaps.
 */
static bool make_means(const tz_resampler *r, const tz_axis *down, uint32_t i,
                       tz_resample_memory *m)
{
    if (!sum_down_without_gaps(r, down, i, m)) {
        memset(m->values, 0, r->width * sizeof *m->values);
        memset(m->weights, 0, r->width * sizeof *m->weights);
        for (uint32_t k = 0; k < down->count[i]; k++) {
            const double weight = down->weights[down->start[i] + k];
            const bool finite = load_powers(r, down->first[i] + k, m->samples);
            const double *totals = sum_across(r, m, finite, m->sums);
            for (uint32_t x = 0; x < r->width; x++) {
                m->values[x] += weight * m->sums[x];
                m->weights[x] += weight * totals[x];
            }
        }
    }
    const bool gaps = tz_row_ops_get()->divide(m->values, m->weights, r->width, m->values);
    for (uint32_t x = 0; r->method == TZ_RESAMPLING_RMS && x < r->width; x++)
        m->values[x] = sqrt(m->values[x]);
    return gaps;
}

/* ---- filters: along the row, then down ---- */

/* A filter with negative weights needs half of its samples: a few of them may weigh nearly nothing
 * together, and their mean could be anything. */
static bool is_negative(const tz_resampler *r)
{
    return r->method != TZ_RESAMPLING_BILINEAR;
}

/* Filters a row along it. Returns true if the result has gaps. */
static bool filter_row(const tz_resampler *r, const tz_resample_memory *m, bool finite, double *out)
{
    const double *totals = sum_across(r, m, finite, m->sums);
    bool gaps = tz_row_ops_get()->divide(m->sums, totals, r->width, out);
    for (uint32_t i = 0; !finite && i < r->width; i++) {
        /* The full total of weights means that all samples are valid, unless some weigh nothing. */
        if (r->across.zeros || totals[i] != r->across.totals[i]) {
            const double *samples = samples_of(r, m->samples, i);
            const double *weights = r->across.weights + r->across.start[i];
            tz_filter_state f = {0};
            for (uint32_t k = 0; k < r->across.count[i]; k++)
                tz_filter_add(&f, weights[k], samples[k]);
            out[i] = tz_filter_end(&f, r->across.count[i], is_negative(r), (double)NAN);
        }
        gaps |= out[i] != out[i];
    }
    return gaps;
}

/* Returns a filtered row of the level, from memory if it is there. */
static const double *filtered_row(const tz_resampler *r, int64_t row, tz_resample_memory *m,
                                  bool *gaps)
{
    const uint32_t slot = (uint32_t)(row % m->slots);
    double *out = m->filtered + (size_t)slot * r->width;
    if (m->rows[slot] != row) {
        const bool finite = load_row(r, row, m->samples);
        m->gaps[slot] = filter_row(r, m, finite, out);
        m->rows[slot] = row;
    }
    *gaps |= m->gaps[slot];
    return out;
}

/* Returns false, with nothing done, if there are gaps or too many rows. */
static bool filter_down_without_gaps(const tz_resampler *r, const tz_axis *down, uint32_t i,
                                     tz_resample_memory *m)
{
    const double *rows[MAX_CACHED_ROWS];
    bool gaps = !(down->totals[i] > 0) || down->count[i] > m->slots;
    for (uint32_t k = 0; !gaps && k < down->count[i]; k++)
        rows[k] = filtered_row(r, down->first[i] + k, m, &gaps);
    if (gaps)
        return false;
    combine_down(down, i, rows, r->width, m->values);
    for (uint32_t x = 0; x < r->width; x++)
        m->values[x] /= down->totals[i];
    return true;
}

static void filter_down(const tz_resampler *r, const tz_axis *down, uint32_t i,
                        tz_resample_memory *m)
{
    tz_filter_state *filters = m->filters;
    bool gaps = false;
    memset(filters, 0, r->width * sizeof *filters);
    for (uint32_t k = 0; k < down->count[i]; k++) {
        const double *row = filtered_row(r, down->first[i] + k, m, &gaps);
        const double weight = down->weights[down->start[i] + k];
        for (uint32_t x = 0; x < r->width; x++)
            tz_filter_add(&filters[x], weight, row[x]);
    }
    for (uint32_t x = 0; x < r->width; x++)
        m->values[x] = tz_filter_end(&filters[x], down->count[i], is_negative(r), (double)NAN);
}

/* ---- choices ---- */

static void make_extremes(const tz_resampler *r, const tz_axis *down, uint32_t i,
                          const tz_resample_memory *m)
{
    const bool is_min = r->method == TZ_RESAMPLING_MIN;
    for (uint32_t x = 0; x < r->width; x++)
        m->values[x] = (double)NAN;
    for (uint32_t k = 0; k < down->count[i]; k++) {
        (void)load_row(r, down->first[i] + k, m->samples);
        for (uint32_t x = 0; x < r->width; x++) {
            const double *samples = samples_of(r, m->samples, x);
            for (uint32_t n = 0; n < r->across.count[x]; n++)
                m->values[x] = is_min ? tz_min_f64(m->values[x], samples[n])
                                      : tz_max_f64(m->values[x], samples[n]);
        }
    }
}

static void make_choices(const tz_resampler *r, const tz_axis *down, uint32_t i,
                         const tz_resample_memory *m)
{
    for (uint32_t k = 0; k < down->count[i]; k++)
        (void)load_row(r, down->first[i] + k, m->samples + (size_t)k * r->old_width);
    for (uint32_t x = 0; x < r->width; x++) {
        uint32_t count = 0;
        for (uint32_t k = 0; k < down->count[i]; k++) {
            const double *samples = samples_of(r, m->samples + (size_t)k * r->old_width, x);
            for (uint32_t n = 0; n < r->across.count[x]; n++) {
                m->chosen[count] = samples[n]; /* overwritten by the next one if it is NaN */
                count += samples[n] == samples[n];
            }
        }
        m->values[x] = count == 0 ? (double)NAN
                       : r->method == TZ_RESAMPLING_MODE
                           ? tz_mode_of(m->chosen, m->orders, count)
                           : tz_median_of(m->chosen, m->orders, count);
    }
}

/* ---- all of them ---- */

/* Returns false if all new values are certainly valid. Sums of finite floats may overflow. */
static bool make_values(const tz_resampler *r, const tz_axis *down, uint32_t i,
                        tz_resample_memory *m)
{
    if (is_mean(r->method))
        return make_means(r, down, i, m);
    if (is_choice(r->method))
        make_choices(r, down, i, m);
    else if (!is_filter(r->method))
        make_extremes(r, down, i, m);
    else if (filter_down_without_gaps(r, down, i, m))
        return !is_integer(r->dtype);
    else
        filter_down(r, down, i, m);
    return true;
}

void tz_resample_values(const tz_resampler *r, const tz_axis *down, uint32_t i,
                        tz_resample_memory *m, uint8_t *valid)
{
    const bool gaps = make_values(r, down, i, m);
    memset(valid, 255, r->width);
    for (uint32_t x = 0; gaps && x < r->width; x++)
        valid[x] = m->values[x] == m->values[x] ? 255 : 0;
}
