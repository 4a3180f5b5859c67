/* SPDX-License-Identifier: Apache-2.0 */
#include "support/resample_rules.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

static double kernel(tz_resampling method, double x)
{
    x = fabs(x);
    if (method == TZ_RESAMPLING_BILINEAR)
        return x < 1 ? 1 - x : 0;
    if (method == TZ_RESAMPLING_CUBIC) /* Keys with a = -0.5 */
        return x < 1   ? 1.5 * x * x * x - 2.5 * x * x + 1
               : x < 2 ? -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2
                       : 0;
    if (x == 0)
        return 1;
    return x < 3 ? sin(pi * x) / (pi * x) * sin(pi * x / 3) / (pi * x / 3) : 0;
}

static double half_width(tz_resampling method)
{
    return method == TZ_RESAMPLING_BILINEAR ? 1 : method == TZ_RESAMPLING_CUBIC ? 2 : 3;
}

static bool is_filter(tz_resampling method)
{
    return method == TZ_RESAMPLING_BILINEAR || method == TZ_RESAMPLING_CUBIC ||
           method == TZ_RESAMPLING_LANCZOS;
}

static double start_of(ruler r, uint32_t i)
{
    return r.origin + i * r.scale;
}

static double gauss(ruler r, uint32_t i, int64_t at)
{
    static const double rows[3][7] = {
        {1, 2, 1, 0, 0, 0, 0}, {1, 4, 6, 4, 1, 0, 0}, {1, 6, 15, 20, 15, 6, 1}};
    const int which = r.scale < 2.5 ? 0 : r.scale < 4.5 ? 1 : 2;
    const int64_t s = (int64_t)floor(start_of(r, i) + 0.5);
    const int64_t e = (int64_t)floor(start_of(r, i + 1) + 0.5) + 1;
    const int64_t k = at - (s + (e - s) / 2 - (which + 1));
    return k >= 0 && k < 3 + 2 * which ? rows[which][k] : 0;
}

/* The weight of a sample, and whether it is looked at. */
static bool weight_of(tz_resampling method, bool overview, ruler r, uint32_t i, int64_t at,
                      double *w)
{
    const double middle = r.origin + (i + 0.5) * r.scale;
    const double unit = r.scale > 1 ? r.scale : 1;
    if (method == TZ_RESAMPLING_NEAREST) {
        *w = 1;
        return at == (int64_t)floor(overview ? start_of(r, i) + 0.5 : middle);
    }
    if (method == TZ_RESAMPLING_GAUSS) {
        *w = gauss(r, i, at);
        return *w > 0;
    }
    if (is_filter(method)) {
        const double reach = half_width(method) * unit;
        *w = kernel(method, ((double)at + 0.5 - middle) / unit);
        return at >= (int64_t)floor(middle - reach + 0.5) &&
               at < (int64_t)floor(middle + reach + 0.5) &&
               (method != TZ_RESAMPLING_BILINEAR || *w >= 1e-6);
    }
    *w = fmin(start_of(r, i + 1), (double)at + 1) - fmax(start_of(r, i), (double)at);
    return *w >= 1e-6;
}

/* The mean of count values with weights; few valid ones are none where weights are negative. */
static double filtered(tz_resampling method, const double *values, const double *weights,
                       uint32_t count)
{
    double sum = 0;
    double total = 0;
    uint32_t longest = 0;
    for (uint32_t i = 0, run = 0; i < count; i++) {
        run = isnan(values[i]) ? 0 : run + 1;
        longest = run > longest ? run : longest;
        sum += isnan(values[i]) ? 0 : weights[i] * values[i];
        total += isnan(values[i]) ? 0 : weights[i];
    }
    if (method != TZ_RESAMPLING_BILINEAR && longest < count / 2)
        return (double)NAN;
    return total > 0 ? sum / total : (double)NAN;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double chosen(tz_resampling method, double *values, uint32_t count)
{
    double best = (double)NAN;
    uint32_t most = 0;
    if (count == 0)
        return best;
    for (uint32_t i = 0; method == TZ_RESAMPLING_MODE && i < count; i++) {
        uint32_t times = 0;
        for (uint32_t k = 0; k <= i; k++)
            times += values[k] == values[i];
        if (times > most) {
            most = times;
            best = values[i];
        }
    }
    if (method == TZ_RESAMPLING_MODE)
        return best;
    qsort(values, count, sizeof *values, compare);
    return values[method == TZ_RESAMPLING_MIN   ? 0
                  : method == TZ_RESAMPLING_MAX ? count - 1
                                                : (count - 1) / 2];
}

/* The samples of a row or column that are looked at, in their order. */
typedef struct looks {
    uint32_t *at;
    double *weights;
    uint32_t count;
} looks;

static looks look(tz_resampling method, bool overview, ruler r, uint32_t pixel, uint32_t size)
{
    looks out = {malloc(size * sizeof *out.at), malloc(size * sizeof *out.weights), 0};
    for (uint32_t i = 0; i < size; i++) {
        double w;
        if (weight_of(method, overview, r, pixel, i, &w)) {
            out.at[out.count] = i;
            out.weights[out.count++] = w;
        }
    }
    return out;
}

static double mean_of(const plane *p, tz_resampling method, const looks *x, const looks *y)
{
    double sum = 0;
    double total = 0;
    for (uint32_t j = 0; j < y->count; j++) {
        double row_sum = 0;
        double row_total = 0;
        for (uint32_t i = 0; i < x->count; i++) {
            const double value = p->values[(size_t)y->at[j] * p->width + x->at[i]];
            if (isnan(value))
                continue;
            row_sum += x->weights[i] * (method == TZ_RESAMPLING_RMS ? value * value : value);
            row_total += x->weights[i];
        }
        sum += y->weights[j] * row_sum;
        total += y->weights[j] * row_total;
    }
    const double mean = total > 0 ? sum / total : (double)NAN;
    return method == TZ_RESAMPLING_RMS ? sqrt(mean) : mean;
}

static double filter_of(const plane *p, tz_resampling method, const looks *x, const looks *y)
{
    double *rows = malloc((y->count + 1) * sizeof *rows);
    double *row = malloc((x->count + 1) * sizeof *row);
    for (uint32_t j = 0; j < y->count; j++) {
        for (uint32_t i = 0; i < x->count; i++)
            row[i] = p->values[(size_t)y->at[j] * p->width + x->at[i]];
        rows[j] = filtered(method, row, x->weights, x->count);
    }
    const double out = filtered(method, rows, y->weights, y->count);
    free(rows);
    free(row);
    return out;
}

static double choice_of(const plane *p, tz_resampling method, const looks *x, const looks *y)
{
    double *values = malloc(((size_t)x->count * y->count + 1) * sizeof *values);
    uint32_t count = 0;
    for (uint32_t j = 0; j < y->count; j++) {
        for (uint32_t i = 0; i < x->count; i++) {
            values[count] = p->values[(size_t)y->at[j] * p->width + x->at[i]];
            count += isnan(values[count]) ? 0 : 1;
        }
    }
    const double out = chosen(method, values, count);
    free(values);
    return out;
}

double rule_pixel(const plane *p, tz_resampling method, bool overview, ruler across, ruler down,
                  uint32_t column, uint32_t row)
{
    looks x = look(method, overview, across, column, p->width);
    looks y = look(method, overview, down, row, p->height);
    double out;
    if (is_filter(method))
        out = filter_of(p, method, &x, &y);
    else if (method >= TZ_RESAMPLING_MODE)
        out = choice_of(p, method, &x, &y);
    else
        out = mean_of(p, method, &x, &y);
    free(x.at);
    free(x.weights);
    free(y.at);
    free(y.weights);
    return out;
}
