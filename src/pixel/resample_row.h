/* SPDX-License-Identifier: Apache-2.0
 * One new row of one band, from rows of a level: what reads and overviews share. */
#ifndef TZ_PIXEL_RESAMPLE_ROW_H
#define TZ_PIXEL_RESAMPLE_ROW_H

#include "pixel/axis.h"

/* A row of one band of the level, from the source's first column on. */
typedef struct tz_input_row {
    const uint8_t *samples;
    ptrdiff_t step;       /* bytes from one sample to the next */
    const uint8_t *valid; /* 0 or not 0, by column; NULL: all are. NaN never is */
} tz_input_row;

/* How new rows are made. Shared by threads. */
typedef struct tz_resampler {
    tz_resampling method;
    tz_dtype dtype; /* not complex, but for nearest */
    tz_axis across;
    uint32_t width;     /* new pixels */
    int64_t column;     /* of the level: the source's first one */
    uint32_t old_width; /* columns of the source */
    /* Good until the next call. */
    tz_input_row (*old_row)(const void *user, int64_t row);
    const void *user;
} tz_resampler;

/* How large things get. */
typedef struct tz_resample_needs {
    uint32_t width;
    uint32_t old_width;
    uint32_t across; /* samples of one new pixel, along each axis */
    uint32_t down;
} tz_resample_needs;

/* One thread's memory. */
typedef struct tz_resample_memory {
    double *values;  /* by new pixel: what tz_resample_values makes */
    double *weights; /* the same */
    double *sums;    /* of one row */
    double *totals;
    double *samples; /* a row of the level, NaN where not valid; all of a new row's, where one of
                        them is chosen */
    double *chosen;  /* of one new pixel */
    uint32_t *orders;
    void *filters;    /* by new pixel */
    double *filtered; /* rows of the level, filtered across */
    int64_t *rows;    /* which ones, by place; -1: none */
    bool *gaps;       /* whether they have NaN */
    uint32_t slots;
} tz_resample_memory;

/* The largest of each. */
void tz_resample_needs_merge(tz_resample_needs *needs, const tz_resample_needs *more);

/* UINT64_MAX: more than can be. */
uint64_t tz_resample_memory_bytes(tz_resampling method, const tz_resample_needs *needs);
void tz_resample_memory_make(tz_resample_memory *out, tz_resampling method,
                             const tz_resample_needs *needs, void *memory);

/* By nearest: samples of one row of the level, and whether they are valid (0 or 255). Where the
 * table says that a pixel lies outside the sample is 0 and not valid. */
void tz_resample_pick(const tz_resampler *r, int64_t row, uint8_t *samples, uint8_t *valid);

/* By all other methods: before the first row of a band. What was filtered of its rows stays for
 * those that follow. */
void tz_resample_begin(tz_resample_memory *m);

/* New row i of the table down as doubles, in m->values, and whether it is valid (0 or 255); where
 * it is not the value is NaN. */
void tz_resample_values(const tz_resampler *r, const tz_axis *down, uint32_t i,
                        tz_resample_memory *m, uint8_t *valid);

#endif
