/* SPDX-License-Identifier: Apache-2.0
 * Resampling along one axis: the samples of each new pixel, and their weights. */
#ifndef TZ_PIXEL_AXIS_H
#define TZ_PIXEL_AXIS_H

#include <stddef.h>
#include <terrazzo/terrazzo.h>

/* New pixel i is made of samples first[i] to first[i] + count[i] - 1 with weights[start[i]] and on,
 * whose sum is totals[i]; count 0: it lies outside. */
typedef struct tz_axis {
    int64_t *first;
    uint32_t *count;
    size_t *start;
    double *weights;
    double *totals;
    bool zeros; /* some weights are too small to be seen in the total */
    /* The same for loops over new pixels: tap k of pixel i is sample first[0] + from[i] + k, with
     * weight by_tap[k * width + i], or 0 if the pixel has fewer. taps 0: there is no such table,
     * because it would be too large. */
    uint32_t taps;
    int32_t *from;
    double *by_tap;
} tz_axis;

/* Largest number of taps of a table by tap. */
enum { TZ_MAX_TAPS = 24 };

/* The positions of new pixels among the old ones: new pixel i covers origin + i * scale to
 * origin + (i + 1) * scale, of samples low to high - 1. */
typedef struct tz_axis_map {
    tz_resampling method;
    double origin;
    double scale;
    int64_t low;
    int64_t high;
    bool overview; /* nearest is the sample at the start of the new pixel, not at its centre */
} tz_axis_map;

/* Returns the number of samples beyond either edge of a new pixel that a method may use. */
double tz_axis_reach(tz_resampling method, double scale);

/* Finds the old samples that new pixels first to first + count - 1 use, from low to high
 * (excluded); equal if there are none. */
void tz_axis_range(const tz_axis_map *map, uint32_t first, uint32_t count, int64_t *low,
                   int64_t *high);

/* Returns an upper bound of the samples that count adjacent new pixels use. */
uint64_t tz_axis_max_samples(const tz_axis_map *map, uint32_t count);

/* Return the bytes of a table for count new pixels, and make the table in that memory. */
uint64_t tz_axis_bytes(const tz_axis_map *map, uint32_t count);
void tz_axis_make(tz_axis *out, const tz_axis_map *map, uint32_t first, uint32_t count,
                  void *memory);

#endif
