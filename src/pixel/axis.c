/* SPDX-License-Identifier: Apache-2.0 */
#include "pixel/axis.h"

#include <math.h>

/* Weights below this are what rounding leaves at an edge that two pixels share. */
static const double least_weight = 1e-6;

static double reach(const tz_axis_map *map)
{
    return map->scale > 1 ? map->scale : 1;
}

static double nearest(const tz_axis_map *map, uint32_t i)
{
    if (map->overview)
        return floor(map->origin + (double)i * map->scale + 0.5);
    return floor(map->origin + ((double)i + 0.5) * map->scale);
}

/* Samples that new pixel i may look at: a little more than those with weight. */
static void bounds(const tz_axis_map *map, uint32_t i, int64_t *low, int64_t *high)
{
    const double start = map->origin + (double)i * map->scale;
    const double middle = map->origin + ((double)i + 0.5) * map->scale;
    double first = floor(start);
    double end = ceil(map->origin + ((double)i + 1) * map->scale);
    if (map->method == TZ_RESAMPLE_NEAREST) {
        first = nearest(map, i);
        end = first + 1;
    } else if (map->method == TZ_RESAMPLE_BILINEAR) {
        first = floor(middle - reach(map));
        end = ceil(middle + reach(map));
    }
    *low = first < (double)map->low ? map->low : (int64_t)first;
    *high = end > (double)map->high ? map->high : (int64_t)end;
    if (*high < *low)
        *high = *low;
}

static double weight_of(const tz_axis_map *map, uint32_t i, int64_t sample)
{
    const double start = map->origin + (double)i * map->scale;
    const double end = map->origin + ((double)i + 1) * map->scale;
    const double middle = map->origin + ((double)i + 0.5) * map->scale;
    const double at = (double)sample;
    if (map->method == TZ_RESAMPLE_NEAREST)
        return 1;
    if (map->method == TZ_RESAMPLE_AVERAGE)
        return fmin(end, at + 1) - fmax(start, at);
    return fmax(0, 1 - fabs(at + 0.5 - middle) / reach(map));
}

/* Samples that new pixel i looks at, which are none when low is high. */
static void extent(const tz_axis_map *map, uint32_t i, int64_t *low, int64_t *high)
{
    bounds(map, i, low, high);
    while (*low < *high && fabs(weight_of(map, i, *low)) < least_weight)
        ++*low;
    while (*low < *high && fabs(weight_of(map, i, *high - 1)) < least_weight)
        --*high;
}

void tz_axis_range(const tz_axis_map *map, uint32_t first, uint32_t count, int64_t *low,
                   int64_t *high)
{
    int64_t unused;
    extent(map, first, low, &unused);
    extent(map, first + count - 1, &unused, high);
    if (*high < *low)
        *high = *low;
}

static uint64_t most_weights(const tz_axis_map *map)
{
    return map->method == TZ_RESAMPLE_NEAREST ? 1 : (uint64_t)(2 * reach(map)) + 3;
}

uint64_t tz_axis_most(const tz_axis_map *map, uint32_t count)
{
    const uint64_t samples = (uint64_t)(map->scale * count) + most_weights(map) + 1;
    const uint64_t all = (uint64_t)(map->high - map->low);
    return samples < all ? samples : all;
}

uint64_t tz_axis_bytes(const tz_axis_map *map, uint32_t count)
{
    return count * (sizeof(int64_t) + sizeof(uint64_t) + sizeof(size_t) +
                    most_weights(map) * sizeof(double));
}

void tz_axis_make(tz_axis *out, const tz_axis_map *map, uint32_t first, uint32_t count,
                  void *memory)
{
    out->weights = memory;
    out->first = (int64_t *)(out->weights + most_weights(map) * count);
    out->start = (size_t *)(out->first + count);
    out->count = (uint32_t *)(out->start + count);
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t low;
        int64_t high;
        extent(map, first + i, &low, &high);
        out->first[i] = low;
        out->count[i] = (uint32_t)(high - low);
        out->start[i] = used;
        for (int64_t sample = low; sample < high; sample++)
            out->weights[used++] = weight_of(map, first + i, sample);
    }
}
