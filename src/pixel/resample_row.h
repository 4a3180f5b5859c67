/* SPDX-License-Identifier: Apache-2.0
 * One new row of one band, from rows of a level; shared by resampled reads and overviews. */
#ifndef TZ_PIXEL_RESAMPLE_ROW_H
#define TZ_PIXEL_RESAMPLE_ROW_H

#include "pixel/axis.h"

/* A row of one band of the level, from the first column of the source on. */
typedef struct tz_input_row {
    const uint8_t *samples;
    ptrdiff_t step;       /* bytes from one sample to the next */
    const uint8_t *valid; /* 0 or not 0, by column; NULL: all are. NaN never is */
} tz_input_row;

/* The description of new rows. Shared by threads. */
typedef struct tz_resampler {
    tz_resampling method;
    tz_dtype dtype; /* not complex, but for nearest */
    tz_axis across;
    uint32_t width;     /* new pixels */
    int64_t column;     /* number of the source's first column in the level */
    uint32_t old_width; /* columns of the source */
    /* Returns a row of the level; good until the next call. */
    tz_input_row (*old_row)(const void *user, int64_t row);
    const void *user;
} tz_resampler;

/* The sizes that determine the memory of a thread. */
typedef struct tz_resample_needs {
    uint32_t width;
    uint32_t old_width;
    uint32_t across; /* samples of one new pixel along the row, and down */
    uint32_t down;
} tz_resample_needs;

/* One thread's memory. */
typedef struct tz_resample_memory {
    double *values;  /* by new pixel: the result of tz_resample_values */
    double *weights; /* by new pixel: their sums */
    double *sums;    /* of one row */
    double *totals;  /* weights of those */
    /* A row of the level, NaN if not valid; for mode and median all rows of a new one. */
    double *samples;
    double *chosen; /* samples of one new pixel */
    uint32_t *orders;
    void *filters;    /* tz_filter_state by new pixel */
    double *filtered; /* by slot: a row of the level, filtered or summed across */
    int64_t *rows;    /* by slot: number of that row; -1: none */
    bool *gaps;       /* by slot: the row has NaN */
    uint32_t slots;
} tz_resample_memory;

/* Sets each size to the larger of both. */
void tz_resample_needs_merge(tz_resample_needs *needs, const tz_resample_needs *more);

/* Return the bytes of that memory (UINT64_MAX: too many), and divide it. */
uint64_t tz_resample_memory_bytes(tz_resampling method, const tz_resample_needs *needs);
void tz_resample_memory_make(tz_resample_memory *out, tz_resampling method,
                             const tz_resample_needs *needs, void *memory);

/* For nearest: copies samples of one row of the level, and sets valid to 0 or 255. The sample of a
 * new pixel that lies outside is 0 and not valid. */
void tz_resample_pick(const tz_resampler *r, int64_t row, uint8_t *samples, uint8_t *valid);

/* For all other methods: call it before the first row of a band. Sums of old rows stay in memory
 * for the new rows that follow. */
void tz_resample_begin(tz_resample_memory *m);

/* Makes new row i of the table down as doubles, in m->values, and sets valid to 0 or 255; the value
 * of a pixel that is not valid is NaN. */
void tz_resample_values(const tz_resampler *r, const tz_axis *down, uint32_t i,
                        tz_resample_memory *m, uint8_t *valid);

#endif
