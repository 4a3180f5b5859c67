/* SPDX-License-Identifier: Apache-2.0
 * One new row of one band, from rows of a level: what reads and overviews share. */
#ifndef TZ_PIXEL_RESAMPLE_ROW_H
#define TZ_PIXEL_RESAMPLE_ROW_H

#include "pixel/axis.h"

/* A row of one band of the level, from the source's first column on. */
typedef struct tz_old_row {
    const uint8_t *samples;
    ptrdiff_t step;       /* bytes from one sample to the next */
    const uint8_t *valid; /* 0 or not 0, by column; NULL: all are. NaN never is */
} tz_old_row;

/* How new rows are made. Shared by threads. */
typedef struct tz_resampler {
    tz_resampling method;
    tz_dtype dtype; /* not complex, but for nearest */
    tz_axis across;
    uint32_t width;     /* new pixels */
    int64_t column;     /* of the level: the source's first one */
    uint32_t old_width; /* columns of the source */
    /* Good until the next call. */
    tz_old_row (*old_row)(const void *user, int64_t row);
    const void *user;
} tz_resampler;

/* One thread's memory. */
typedef struct tz_resample_memory {
    double *samples; /* one row of the level; NaN where not valid */
    double *sums;    /* by new pixel */
    double *weights;
} tz_resample_memory;

size_t tz_resample_memory_bytes(uint32_t width, uint32_t old_width);
void tz_resample_memory_make(tz_resample_memory *out, uint32_t width, uint32_t old_width,
                             void *memory);

/* By nearest: samples of one row of the level, and whether they are valid (0 or 255). Where the
 * table says that a pixel lies outside the sample is 0 and not valid. */
void tz_resample_pick(const tz_resampler *r, int64_t row, uint8_t *samples, uint8_t *valid);

/* By all other methods: new row i of the table down as doubles, and whether anything was valid;
 * else the value is NaN. They are in m->sums. */
void tz_resample_values(const tz_resampler *r, const tz_axis *down, uint32_t i,
                        const tz_resample_memory *m, uint8_t *valid);

#endif
