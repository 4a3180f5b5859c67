/* SPDX-License-Identifier: Apache-2.0
 * One level of a pyramid from the next larger one. Resampled reads and written overviews compute
 * their pixels by the same rows: see doc/numerics.md. */
#ifndef TZ_PIXEL_OVERVIEW_LEVEL_H
#define TZ_PIXEL_OVERVIEW_LEVEL_H

#include <stddef.h>
#include <terrazzo/terrazzo.h>

#include "pixel/axis.h"
#include "pixel/row_ops.h"

/* The step from a level to the next smaller one. New pixel i covers i * from / to up to
 * (i + 1) * from / to of the old ones, so that both levels cover the same ground also if sizes are
 * odd. A value without pointers, shared by all threads. */
typedef struct tz_overview_params {
    tz_resampling method;
    tz_dtype dtype;
    uint16_t bits; /* of integers; new ones fit too */
    uint32_t bands;
    tz_nodata nodata; /* not valid; also the value of a new sample without a valid old one */
    bool mask;        /* pixels come with a mask, which gets a smaller level as well */
    uint32_t alpha;   /* band that says which pixels are valid for the others, from 1; 0: none */
    uint32_t from_width;
    uint32_t from_height;
    uint32_t to_width;
    uint32_t to_height;
} tz_overview_params;

/* Returns why overviews of such samples cannot be made; NULL if they can. */
const char *tz_resampling_unsupported(tz_resampling method, tz_dtype dtype, bool palette);

/* Consecutive rows of the larger level; pixels.height of them. */
typedef struct tz_row_range {
    uint32_t row; /* number of the first one in the level */
    tz_pixel_buffer pixels;
    tz_pixel_buffer mask; /* data NULL: none */
} tz_row_range;

/* Rows of the larger level: those of the first range, then those of the second one. A writer keeps
 * the first few from the tile row before. */
typedef struct tz_overview_source {
    tz_row_range row_ranges[2]; /* the first one may have no rows */
    uint32_t column;            /* number of the first column of the buffers in the level */
} tz_overview_source;

/* A range of rows or columns. */
typedef struct tz_interval {
    uint32_t first;
    uint32_t end; /* after the last one */
} tz_interval;

/* Return the old rows (columns) that new ones are made of. */
tz_interval tz_overview_source_rows(const tz_overview_params *how, tz_interval of);
tz_interval tz_overview_source_columns(const tz_overview_params *how, tz_interval of);

/* ---- for code that makes the pixels itself, as devices do ---- */

/* Return the positions of new pixels among the old ones. */
tz_axis_map tz_overview_map_across(const tz_overview_params *how);
tz_axis_map tz_overview_map_down(const tz_overview_params *how);

/* The form of new samples. Real and imaginary components of complex ones are made separately. */
typedef struct tz_overview_samples {
    tz_dtype dtype;      /* of a component */
    uint32_t components; /* 1 or 2 */
    bool is_float;
    bool clamps; /* integers of less than all bits: from low to high */
    double low;
    double high;
    bool wants_nan;   /* invalid samples of pixels that mask and alpha leave become NaN */
    uint64_t none;    /* bits of a component without a valid old one: nodata, or 0 */
    uint64_t missing; /* the same in a pixel that mask and alpha leave: NaN, or none */
} tz_overview_samples;
tz_overview_samples tz_overview_samples_of(const tz_overview_params *how);

/* Read and write the bits of a sample in memory; those above its size are 0. */
uint64_t tz_sample_bits(tz_dtype dtype, const uint8_t *sample);
void tz_sample_put(tz_dtype dtype, uint64_t bits, uint8_t *sample);

/* True if an average takes two by two pixels with a weight of 1: by tz_overview_average_2x2. */
bool tz_overview_is_average_2x2(const tz_overview_params *how);
tz_average_2x2_params tz_overview_average_2x2(const tz_overview_params *how);

/* ---- pixels ---- */

/* Bytes that tz_overview_make needs for windows of up to width columns. */
size_t tz_overview_scratch_bytes(const tz_overview_params *how, uint32_t width);

/* Makes the pixels of a window of the smaller level, in buffers of its size (mask->data NULL: no
 * mask). The source holds the rows and columns of tz_overview_source_rows and _columns. A new mask
 * pixel is 255 or 0. */
void tz_overview_make(const tz_overview_params *how, const tz_overview_source *from,
                      const tz_window *window, const tz_pixel_buffer *pixels,
                      const tz_pixel_buffer *mask, void *scratch);

#endif
