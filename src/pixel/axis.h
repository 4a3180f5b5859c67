/* SPDX-License-Identifier: Apache-2.0
 * Which samples make a new pixel, and with which weights, along one axis. */
#ifndef TZ_PIXEL_AXIS_H
#define TZ_PIXEL_AXIS_H

#include <stddef.h>
#include <terrazzo/terrazzo.h>

/* New pixel i takes samples first[i] to first[i] + count[i] - 1 with weights[start[i]] and on,
 * which are totals[i] together; count 0: it lies outside. */
typedef struct tz_axis {
    int64_t *first;
    uint32_t *count;
    size_t *start;
    double *weights;
    double *totals;
    /* The same for loops over new pixels: tap k of pixel i is sample first[0] + from[i] + k, with
     * weight by_tap[k * width + i], 0 where it has fewer. taps 0: they are too many. */
    bool zeros; /* some weights are too small to be seen in the total */
    uint32_t taps;
    int32_t *from;
    double *by_tap;
} tz_axis;

/* Taps of a pixel are no more than this. */
enum { TZ_MAX_TAPS = 24 };

/* How new pixels lie over the old ones: new pixel i covers origin + i * scale to
 * origin + (i + 1) * scale, of samples low to high - 1. */
typedef struct tz_axis_map {
    tz_resampling method;
    double origin;
    double scale;
    int64_t low;
    int64_t high;
    bool overview; /* nearest takes the sample at the start of the new pixel, not in its middle */
} tz_axis_map;

/* How many samples outside of a new pixel a method may look at, on either side. */
double tz_axis_reach(tz_resampling method, double scale);

/* Old samples that new pixels first to first + count - 1 look at, as low and high (excluded); equal
 * when there are none. */
void tz_axis_range(const tz_axis_map *map, uint32_t first, uint32_t count, int64_t *low,
                   int64_t *high);

/* No more samples than this are looked at by so many new pixels that lie together. */
uint64_t tz_axis_max_samples(const tz_axis_map *map, uint32_t count);

/* Bytes of a table for so many new pixels, and the table in that memory. */
uint64_t tz_axis_bytes(const tz_axis_map *map, uint32_t count);
void tz_axis_make(tz_axis *out, const tz_axis_map *map, uint32_t first, uint32_t count,
                  void *memory);

#endif
