/* SPDX-License-Identifier: Apache-2.0 */
#include "pixel/resample_row.h"

#include <math.h>
#include <string.h>

#include "kernels/mode_median.h"
#include "kernels/weighted_mean.h"
#include "pixel/row_ops.h"

/* Sums of rows are kept for the new rows that follow when they are no more than this. */
enum { MAX_CACHED_ROWS = 32 };

static bool is_filter(tz_resampling method)
{
    return method == TZ_RESAMPLE_BILINEAR || method == TZ_RESAMPLE_CUBIC ||
           method == TZ_RESAMPLE_LANCZOS;
}

/* Methods that need all samples of a new pixel at once. */
static bool is_choice(tz_resampling method)
{
    return method == TZ_RESAMPLE_MODE || method == TZ_RESAMPLE_MEDIAN;
}

/* ---- memory ---- */

void tz_resample_needs_merge(tz_resample_needs *needs, const tz_resample_needs *more)
{
    needs->width = more->width > needs->width ? more->width : needs->width;
    needs->old_width = more->old_width > needs->old_width ? more->old_width : needs->old_width;
    needs->across = more->across > needs->across ? more->across : needs->across;
    needs->down = more->down > needs->down ? more->down : needs->down;
}

static bool is_mean(tz_resampling method)
{
    return method == TZ_RESAMPLE_AVERAGE || method == TZ_RESAMPLE_RMS ||
           method == TZ_RESAMPLE_GAUSS;
}

static uint32_t cached_rows_of(tz_resampling method, const tz_resample_needs *needs)
{
    if (!is_filter(method) && !is_mean(method))
        return 0;
    return needs->down <= MAX_CACHED_ROWS ? needs->down : 1;
}

/* Sizes of all parts of the memory, in the order of its members. */
enum { ALLOCATIONS = 11 };

static void allocation_sizes(tz_resampling method, const tz_resample_needs *needs,
                             uint64_t sizes[ALLOCATIONS])
{
    const uint64_t rows = is_choice(method) ? needs->down : 1;
    const uint64_t chosen = is_choice(method) ? (uint64_t)needs->across * needs->down : 0;
    const uint64_t slots = cached_rows_of(method, needs);
    sizes[0] = needs->width * sizeof(double);
    sizes[1] = sizes[0];
    sizes[2] = sizes[0];
    sizes[3] = sizes[0];
    sizes[4] = (rows * needs->old_width + TZ_MAX_TAPS) * sizeof(double);
    sizes[5] = chosen * sizeof(double);
    sizes[6] = chosen * sizeof(uint32_t);
    sizes[7] = is_filter(method) ? needs->width * sizeof(tz_filter_state) : 0;
    sizes[8] = slots * needs->width * sizeof(double);
    sizes[9] = slots * sizeof(int64_t);
    sizes[10] = slots * sizeof(bool);
}

static uint64_t align_64(uint64_t size)
{
    return (size + 63) / 64 * 64;
}

uint64_t tz_resample_memory_bytes(tz_resampling method, const tz_resample_needs *needs)
{
    uint64_t sizes[ALLOCATIONS];
    uint64_t sum = 0;
    if (is_choice(method) && (uint64_t)needs->across * needs->down > UINT32_MAX)
        return UINT64_MAX; /* they are counted in 32 bits */
    allocation_sizes(method, needs, sizes);
    for (int i = 0; i < ALLOCATIONS; i++)
        sum += align_64(sizes[i]);
    return sum;
}

void tz_resample_memory_make(tz_resample_memory *out, tz_resampling method,
                             const tz_resample_needs *needs, void *memory)
{
    uint64_t sizes[ALLOCATIONS];
    uint8_t *allocations[ALLOCATIONS];
    uint8_t *at = memory;
    allocation_sizes(method, needs, sizes);
    for (int i = 0; i < ALLOCATIONS; i++) {
        allocations[i] = at;
        at += align_64(sizes[i]);
    }
    *out = (tz_resample_memory){.values = (double *)allocations[0],
                                .weights = (double *)allocations[1],
                                .sums = (double *)allocations[2],
                                .totals = (double *)allocations[3],
                                .samples = (double *)allocations[4],
                                .chosen = (double *)allocations[5],
                                .orders = (uint32_t *)allocations[6],
                                .filters = allocations[7],
                                .filtered = (double *)allocations[8],
                                .rows = (int64_t *)allocations[9],
                                .gaps = (bool *)allocations[10],
                                .slots = cached_rows_of(method, needs)};
}

void tz_resample_begin(tz_resample_memory *m)
{
    for (uint32_t i = 0; i < m->slots; i++)
        m->rows[i] = -1;
}

/* ---- nearest ---- */

/* How many samples lie from one new pixel to the next; 0: not always as many, or some are outside.
 * Samples are where a straight line is, rounded down: when the ends fit, so does the rest. */
static int64_t even_step(const tz_resampler *r)
{
    const uint32_t last = r->width - 1;
    if (last == 0 || r->across.count[0] == 0 || r->across.count[last] == 0)
        return 0;
    const int64_t length = r->across.first[last] - r->across.first[0];
    return length % last == 0 ? length / last : 0;
}

static void pick_even(const tz_resampler *r, const tz_input_row *old, int64_t step,
                      uint8_t *samples, uint8_t *valid)
{
    const tz_conversion as_is = {.from = r->dtype, .to = r->dtype};
    const tz_conversion flags = {.from = TZ_DTYPE_UINT8, .to = TZ_DTYPE_UINT8};
    const int64_t at = r->across.first[0] - r->column;
    tz_row_convert(&as_is, old->samples + at * old->step, (ptrdiff_t)step * old->step, samples,
                   (ptrdiff_t)tz_dtype_size(r->dtype), r->width, NULL, 0);
    if (old->valid)
        tz_row_convert(&flags, old->valid + at, (ptrdiff_t)step, valid, 1, r->width, NULL, 0);
    else
        memset(valid, 255, r->width);
}

void tz_resample_pick(const tz_resampler *r, int64_t row, uint8_t *samples, uint8_t *valid)
{
    const size_t size = tz_dtype_size(r->dtype);
    const tz_input_row old = r->old_row(r->user, row);
    const int64_t step = even_step(r);
    if (step > 0) {
        pick_even(r, &old, step, samples, valid);
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

/* Sums of 0 for each that is, of NaN for others; two of them need not wait for each other. */
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

/* What is not valid becomes NaN, so that all that follows knows one way to say so. True: there is
 * none, nor infinity. */
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

/* The first of the samples that new pixel i looks at. */
static const double *samples_of(const tz_resampler *r, const double *row, uint32_t i)
{
    return r->across.count[i] > 0 ? row + (r->across.first[i] - r->column) : row;
}

/* Sums of weight * sample, by new pixel, over the row in m->samples. What they weigh together is
 * returned. */
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
        m->samples[r->old_width + i] = 0; /* pixels with fewer taps look at them, in vain */
    tz_row_ops_get()->weighted_sums(&how, m->samples + (across->first[0] - r->column), sums,
                                    finite ? NULL : m->totals);
    return finite ? across->totals : m->totals;
}

/* All of a new row's rows, put together. */
static void combine_down(const tz_axis *down, uint32_t i, const double *const *rows, uint32_t width,
                         double *out)
{
    tz_row_ops_get()->combine_rows(rows, down->weights + down->start[i], down->count[i], width,
                                   out);
}

/* ---- means by area and gauss: of all samples at once ---- */

/* True: no NaN, nor infinity. */
static bool load_powers(const tz_resampler *r, int64_t row, double *out)
{
    const bool finite = load_row(r, row, out);
    if (r->method != TZ_RESAMPLE_RMS)
        return finite;
    for (uint32_t x = 0; x < r->old_width; x++)
        out[x] *= out[x];
    return finite && is_integer(r->dtype);
}

/* Sums of one row; from memory if they are there. NULL: not all samples count. */
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

/* False, and nothing is done: not all samples count, or there are too many. */
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

static void sum_down_valid(const tz_resampler *r, const tz_axis *down, uint32_t i,
                           const tz_resample_memory *m)
{
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

static bool make_means(const tz_resampler *r, const tz_axis *down, uint32_t i,
                       tz_resample_memory *m)
{
    if (!sum_down_without_gaps(r, down, i, m))
        sum_down_valid(r, down, i, m);
    const bool gaps = tz_row_ops_get()->divide(m->values, m->weights, r->width, m->values);
    for (uint32_t x = 0; r->method == TZ_RESAMPLE_RMS && x < r->width; x++)
        m->values[x] = sqrt(m->values[x]);
    return gaps;
}

/* ---- filters: along the row, then down ---- */

static bool is_negative(const tz_resampler *r)
{
    return r->method != TZ_RESAMPLE_BILINEAR;
}

/* Where not all samples are valid. */
static double filter_across(const tz_resampler *r, const double *row, uint32_t i)
{
    const double *samples = samples_of(r, row, i);
    const double *weights = r->across.weights + r->across.start[i];
    const uint32_t count = r->across.count[i];
    tz_filter_state f = {0};
    for (uint32_t k = 0; k < count; k++)
        tz_filter_add(&f, weights[k], samples[k]);
    return tz_filter_end(&f, count, is_negative(r), (double)NAN);
}

/* True: there are gaps. */
static bool filter_row(const tz_resampler *r, const tz_resample_memory *m, bool finite, double *out)
{
    /* that all weights are there tells that all samples are, unless some weigh nothing */
    const bool tells = finite || !r->across.zeros;
    const double *totals = sum_across(r, m, finite, m->sums);
    bool gaps = tz_row_ops_get()->divide(m->sums, totals, r->width, out);
    for (uint32_t i = 0; !finite && i < r->width; i++) {
        if (!tells || totals[i] != r->across.totals[i])
            out[i] = filter_across(r, m->samples, i);
        gaps |= out[i] != out[i];
    }
    return gaps;
}

/* A row of the level, filtered; from memory if it is there. */
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

/* False, and nothing is done: there are gaps, or too many rows. */
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
    const bool is_min = r->method == TZ_RESAMPLE_MIN;
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

static double choose_value(const tz_resampler *r, uint32_t rows, uint32_t x,
                           const tz_resample_memory *m)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < rows; k++) {
        const double *samples = samples_of(r, m->samples + (size_t)k * r->old_width, x);
        for (uint32_t n = 0; n < r->across.count[x]; n++) {
            m->chosen[count] = samples[n];
            count += samples[n] == samples[n];
        }
    }
    if (count == 0)
        return (double)NAN;
    return r->method == TZ_RESAMPLE_MODE ? tz_mode_of(m->chosen, m->orders, count)
                                         : tz_median_of(m->chosen, m->orders, count);
}

static void make_choices(const tz_resampler *r, const tz_axis *down, uint32_t i,
                         const tz_resample_memory *m)
{
    for (uint32_t k = 0; k < down->count[i]; k++)
        (void)load_row(r, down->first[i] + k, m->samples + (size_t)k * r->old_width);
    for (uint32_t x = 0; x < r->width; x++)
        m->values[x] = choose_value(r, down->count[i], x, m);
}

/* ---- all of them ---- */

/* False: all new values are valid, for sure. */
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
        return !is_integer(r->dtype); /* others may have become infinite on the way */
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
