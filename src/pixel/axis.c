/* SPDX-License-Identifier: Apache-2.0
 * The weights of resampling along one axis.
 *
 * tz_axis_make walks over new pixels. For each it finds the range of old samples from the method:
 * the nearest one, the samples below the new pixel, those under a filter around its centre, or
 * gauss's 3, 5 or 7. Then it computes their weights, which are the same for all rows (or columns),
 * so that the loops over pixels only multiply and add. The rules are GDAL's: see doc/numerics.md.
 *
 * A new pixel that lies outside of the level has no samples at all, even if a filter around it
 * would reach inside: pixels at a border are made of the level, not those beyond it. */
#include "pixel/axis.h"

#include <math.h>

#include "base/minmax.h"

/* Samples that overlap a new pixel by less than this only share an edge with it: the rest is a
 * rounding error of origin + i * scale. */
static const double min_weight = 1e-6;

/* ---- filters: as wide as the larger of an old pixel and a new one ---- */

/* Returns the pixels on either side of the centre; 0: not a filter. */
static double filter_radius(tz_resampling method)
{
    return method == TZ_RESAMPLING_BILINEAR  ? 1
           : method == TZ_RESAMPLING_CUBIC   ? 2
           : method == TZ_RESAMPLING_LANCZOS ? 3
                                             : 0;
}

/* An enlargement uses the filter at its own width: a narrower one would miss all samples. */
static double filter_scale(double scale)
{
    return scale > 1 ? scale : 1;
}

/* Returns the weight at distance x >= 0 from the centre. The cubic is Catmull and Rom's. */
static double filter_weight(tz_resampling method, double x)
{
    const double pi = 3.14159265358979323846;
    if (method == TZ_RESAMPLING_CUBIC)
        return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
    if (method == TZ_RESAMPLING_LANCZOS)
        return x == 0 ? 1 : x < 3 ? 3 * sin(pi * x) * sin(pi * x / 3) / (pi * x * pi * x) : 0;
    return x < 1 ? 1 - x : 0;
}

/* ---- gauss: the binomial coefficients of 3, 5 or 7 samples ---- */

static unsigned gauss_size(double scale)
{
    const double factor = floor(scale + 0.5);
    return factor <= 2 ? 3 : factor <= 4 ? 5 : 7;
}

static double gauss_start(const tz_axis_map *map, uint32_t i)
{
    const double start = floor(map->origin + (double)i * map->scale + 0.5);
    const double end = floor(map->origin + ((double)i + 1) * map->scale + 0.5) + 1;
    return start + floor((end - start) / 2) - gauss_size(map->scale) / 2;
}

/* ---- one new pixel ---- */

/* Returns the length that new pixel i has in common with samples from low to high. */
static double pixel_overlap(const tz_axis_map *map, uint32_t i, double low, double high)
{
    const double start = map->origin + (double)i * map->scale;
    const double end = map->origin + ((double)i + 1) * map->scale;
    return fmin(end, high) - fmax(start, low);
}

static double weight_of(const tz_axis_map *map, uint32_t i, int64_t sample)
{
    static const double gauss[][7] = {{1, 2, 1}, {1, 4, 6, 4, 1}, {1, 6, 15, 20, 15, 6, 1}};
    const double at = (double)sample;
    if (map->method == TZ_RESAMPLING_NEAREST)
        return 1;
    if (map->method == TZ_RESAMPLING_GAUSS)
        return gauss[gauss_size(map->scale) / 2 - 1][(unsigned)(at - gauss_start(map, i))];
    if (filter_radius(map->method) > 0) {
        const double middle = map->origin + ((double)i + 0.5) * map->scale;
        return filter_weight(map->method, fabs(at + 0.5 - middle) / filter_scale(map->scale));
    }
    return pixel_overlap(map, i, at, at + 1);
}

/* Finds the samples of new pixel i, none if low is high. Samples without weight are left out at
 * both ends, but not of cubic and lanczos: a new pixel of those needs a certain number of valid
 * samples, and these count. */
static void sample_range(const tz_axis_map *map, uint32_t i, int64_t *low, int64_t *high)
{
    const double middle = map->origin + ((double)i + 0.5) * map->scale;
    const double reach = filter_radius(map->method) * filter_scale(map->scale);
    double first = floor(map->origin + (double)i * map->scale);
    double end = ceil(map->origin + ((double)i + 1) * map->scale);
    if (map->method == TZ_RESAMPLING_NEAREST) {
        first = map->overview ? floor(map->origin + (double)i * map->scale + 0.5) : floor(middle);
        end = first + 1;
    } else if (pixel_overlap(map, i, (double)map->low, (double)map->high) < min_weight) {
        end = first; /* outside, though a filter may reach the level */
    } else if (map->method == TZ_RESAMPLING_GAUSS) {
        first = gauss_start(map, i);
        end = first + gauss_size(map->scale);
    } else if (reach > 0) {
        first = floor(middle - reach + 0.5);
        end = floor(middle + reach + 0.5);
    }
    *low = first < (double)map->low ? map->low : (int64_t)first;
    *high = end > (double)map->high ? map->high : (int64_t)end;
    if (*high < *low)
        *high = *low;
    if (filter_radius(map->method) > 1)
        return;
    while (*low < *high && weight_of(map, i, *low) < min_weight)
        ++*low;
    while (*low < *high && weight_of(map, i, *high - 1) < min_weight)
        --*high;
}

/* ---- tables ---- */

/* Gauss uses 7 samples at most, around the middle of the new pixel; one more is for rounding. */
double tz_axis_reach(tz_resampling method, double scale)
{
    return method == TZ_RESAMPLING_GAUSS ? 4 : filter_radius(method) * filter_scale(scale);
}

void tz_axis_range(const tz_axis_map *map, uint32_t first, uint32_t count, int64_t *low,
                   int64_t *high)
{
    int64_t unused;
    sample_range(map, first, low, &unused);
    sample_range(map, first + count - 1, &unused, high);
    if (*high < *low)
        *high = *low;
}

/* Returns an upper bound of the weights of one new pixel; both ends may be cut by rounding. */
static uint64_t max_weights(const tz_axis_map *map)
{
    if (map->method == TZ_RESAMPLING_NEAREST)
        return 1;
    if (map->method == TZ_RESAMPLING_GAUSS)
        return 7;
    const double reach = 2 * filter_radius(map->method) * filter_scale(map->scale);
    return (uint64_t)(reach > 0 ? reach : filter_scale(map->scale)) + 3;
}

uint64_t tz_axis_max_samples(const tz_axis_map *map, uint32_t count)
{
    const uint64_t samples = (uint64_t)(map->scale * (count - 1)) + max_weights(map) + 1;
    return tz_min(samples, (uint64_t)(map->high - map->low));
}

/* True if the number of taps is small enough for a table by tap: with more, most of it is zeros. */
static bool has_taps(const tz_axis_map *map)
{
    return max_weights(map) <= TZ_MAX_TAPS;
}

uint64_t tz_axis_bytes(const tz_axis_map *map, uint32_t count)
{
    const uint64_t weights = max_weights(map);
    const uint64_t by_tap = has_taps(map) ? weights * sizeof(double) + sizeof(uint64_t) : 0;
    return count * (sizeof(int64_t) + sizeof(uint64_t) + sizeof(size_t) +
                    (weights + 1) * sizeof(double) + by_tap);
}

/* The memory holds doubles first, then numbers of 64 and of 32 bits, so that each is aligned. */
void tz_axis_make(tz_axis *out, const tz_axis_map *map, uint32_t first, uint32_t count,
                  void *memory)
{
    const size_t weights = (size_t)max_weights(map) * count;
    size_t used = 0;
    out->zeros = false;
    out->weights = memory;
    out->totals = out->weights + weights;
    out->by_tap = out->totals + count;
    out->first = (int64_t *)(out->by_tap + (has_taps(map) ? weights : 0));
    out->start = (size_t *)(out->first + count);
    out->count = (uint32_t *)(out->start + count);
    out->from = (int32_t *)(out->count + count);
    for (uint32_t i = 0; i < count; i++) {
        int64_t low;
        int64_t high;
        sample_range(map, first + i, &low, &high);
        out->first[i] = low;
        out->count[i] = (uint32_t)(high - low);
        out->start[i] = used;
        out->totals[i] = 0;
        for (int64_t sample = low; sample < high; sample++) {
            out->weights[used] = weight_of(map, first + i, sample);
            out->zeros = out->zeros || fabs(out->weights[used]) < 1e-9;
            out->totals[i] += out->weights[used++];
        }
    }
    out->taps = 0;
    if (!has_taps(map) || out->first[count - 1] - out->first[0] >= INT32_MAX)
        return;
    for (uint32_t i = 0; i < count; i++)
        out->taps = tz_max_u32(out->taps, out->count[i]);
    for (uint32_t i = 0; i < count; i++) {
        out->from[i] = (int32_t)(out->first[i] - out->first[0]);
        for (uint32_t k = 0; k < out->taps; k++)
            out->by_tap[(size_t)k * count + i] =
                k < out->count[i] ? out->weights[out->start[i] + k] : 0;
    }
}
