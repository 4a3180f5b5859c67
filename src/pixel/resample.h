/* SPDX-License-Identifier: Apache-2.0
 * One level of a pyramid from the one before. Reads that are resampled and overviews that are
 * written compute their pixels by the same rows: see doc/numerics.md. */
#ifndef TZ_PIXEL_RESAMPLE_H
#define TZ_PIXEL_RESAMPLE_H

#include <stddef.h>
#include <terrazzo/terrazzo.h>

#include "pixel/axis.h"
#include "pixel/row_ops.h"

/* How a level becomes the next smaller one. New pixel i covers i * from / to up to
 * (i + 1) * from / to of the old ones, so that both levels cover the same ground also where sizes
 * are odd. A plain value, shared by all threads. */
typedef struct tz_reduction {
    tz_resampling method;
    tz_dtype dtype;
    uint16_t bits; /* integers stay within so many */
    uint32_t bands;
    tz_nodata nodata; /* samples that are not valid; also what a new one becomes where none is */
    bool mask;        /* pixels come with a mask, which is reduced as well */
    uint32_t alpha;   /* number of the band that says which pixels are valid for the others, counted
                         from 1; 0: none */
    uint32_t from_width;
    uint32_t from_height;
    uint32_t to_width;
    uint32_t to_height;
} tz_reduction;

/* Why overviews of such samples cannot be made so; NULL: they can. */
const char *tz_resampling_refusal(tz_resampling method, tz_dtype dtype, bool palette);

/* Rows of the larger level that lie one behind the other; pixels.height of them. */
typedef struct tz_row_part {
    uint32_t row; /* of the level: the first one */
    tz_buffer pixels;
    tz_buffer mask; /* data NULL: none */
} tz_row_part;

/* A part of the larger level: the rows of the first part, then those of the second one. */
typedef struct tz_reduce_source {
    tz_row_part parts[2]; /* the first one may have no rows */
    uint32_t column;      /* of the level: the buffers' first one */
} tz_reduce_source;

/* A range of rows or columns. */
typedef struct tz_extent {
    uint32_t first;
    uint32_t end; /* one behind the last */
} tz_extent;

/* What new rows (columns) are made of. */
tz_extent tz_reduction_rows(const tz_reduction *how, tz_extent of);
tz_extent tz_reduction_columns(const tz_reduction *how, tz_extent of);

/* ---- what follows from it, for those who make the pixels ---- */

/* How new pixels lie over the old ones. */
tz_axis_map tz_reduction_across(const tz_reduction *how);
tz_axis_map tz_reduction_down(const tz_reduction *how);

/* New samples, complex ones part by part. */
typedef struct tz_reduced {
    tz_dtype dtype; /* of a part */
    uint32_t parts; /* 1 or 2 */
    bool is_float;
    bool clamps; /* integers of less than all bits: from low to high */
    double low;
    double high;
    bool wants_nan;   /* where none was valid, though mask and alpha leave some */
    uint64_t none;    /* the bits of a part where none was valid: nodata, else 0 */
    uint64_t missing; /* the same where some are left: NaN, or none */
} tz_reduced;
tz_reduced tz_reduced_of(const tz_reduction *how);

/* Bits of a sample in memory, all above them 0. */
uint64_t tz_sample_bits(tz_dtype dtype, const uint8_t *sample);
void tz_sample_put(tz_dtype dtype, uint64_t bits, uint8_t *sample);

/* Whether an average takes two by two pixels with a weight of 1, by tz_halving_of. */
bool tz_reduction_is_half(const tz_reduction *how);
tz_halving tz_halving_of(const tz_reduction *how);

/* ---- pixels ---- */

/* Memory that tz_reduce needs for windows of at most so many columns. */
size_t tz_reduce_scratch_bytes(const tz_reduction *how, uint32_t width);

/* Pixels of a window of the smaller level, into buffers of its size (mask->data NULL: no mask). The
 * source holds what tz_reduction_rows and _columns say. A new mask pixel is 255 or 0. */
void tz_reduce(const tz_reduction *how, const tz_reduce_source *from, const tz_window *window,
               const tz_buffer *pixels, const tz_buffer *mask, void *scratch);

#endif
