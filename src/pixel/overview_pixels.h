/* SPDX-License-Identifier: Apache-2.0
 * One level of a pyramid from the one before. Reads that are resampled and overviews that are
 * written compute their pixels by the same rows: see doc/numerics.md. */
#ifndef TZ_PIXEL_OVERVIEW_PIXELS_H
#define TZ_PIXEL_OVERVIEW_PIXELS_H

#include <stddef.h>
#include <terrazzo/terrazzo.h>

#include "pixel/axis.h"
#include "pixel/row_ops.h"

/* How a level becomes the next smaller one. New pixel i covers i * from / to up to
 * (i + 1) * from / to of the old ones, so that both levels cover the same ground also where sizes
 * are odd. A plain value, shared by all threads. */
typedef struct tz_overview_params {
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
} tz_overview_params;

/* Why overviews of such samples cannot be made so; NULL: they can. */
const char *tz_resampling_unsupported(tz_resampling method, tz_dtype dtype, bool palette);

/* Rows of the larger level that lie one behind the other; pixels.height of them. */
typedef struct tz_row_range {
    uint32_t row; /* of the level: the first one */
    tz_buffer pixels;
    tz_buffer mask; /* data NULL: none */
} tz_row_range;

/* A part of the larger level: the rows of the first part, then those of the second one. */
typedef struct tz_overview_source {
    tz_row_range parts[2]; /* the first one may have no rows */
    uint32_t column;       /* of the level: the buffers' first one */
} tz_overview_source;

/* A range of rows or columns. */
typedef struct tz_interval {
    uint32_t first;
    uint32_t end; /* one behind the last */
} tz_interval;

/* What new rows (columns) are made of. */
tz_interval tz_overview_source_rows(const tz_overview_params *how, tz_interval of);
tz_interval tz_overview_source_columns(const tz_overview_params *how, tz_interval of);

/* ---- what follows from it, for those who make the pixels ---- */

/* How new pixels lie over the old ones. */
tz_axis_map tz_overview_map_across(const tz_overview_params *how);
tz_axis_map tz_overview_map_down(const tz_overview_params *how);

/* New samples, complex ones part by part. */
typedef struct tz_overview_samples {
    tz_dtype dtype; /* of a part */
    uint32_t parts; /* 1 or 2 */
    bool is_float;
    bool clamps; /* integers of less than all bits: from low to high */
    double low;
    double high;
    bool wants_nan;   /* where none was valid, though mask and alpha leave some */
    uint64_t none;    /* the bits of a part where none was valid: nodata, else 0 */
    uint64_t missing; /* the same where some are left: NaN, or none */
} tz_overview_samples;
tz_overview_samples tz_overview_samples_of(const tz_overview_params *how);

/* Bits of a sample in memory, all above them 0. */
uint64_t tz_sample_bits(tz_dtype dtype, const uint8_t *sample);
void tz_sample_put(tz_dtype dtype, uint64_t bits, uint8_t *sample);

/* Whether an average takes two by two pixels with a weight of 1, by tz_overview_average_2x2. */
bool tz_overview_is_average_2x2(const tz_overview_params *how);
tz_average_2x2_params tz_overview_average_2x2(const tz_overview_params *how);

/* ---- pixels ---- */

/* Memory that tz_overview_make needs for windows of at most so many columns. */
size_t tz_overview_scratch_bytes(const tz_overview_params *how, uint32_t width);

/* Pixels of a window of the smaller level, into buffers of its size (mask->data NULL: no mask). The
 * source holds what tz_overview_source_rows and _columns say. A new mask pixel is 255 or 0. */
void tz_overview_make(const tz_overview_params *how, const tz_overview_source *from,
                      const tz_window *window, const tz_buffer *pixels, const tz_buffer *mask,
                      void *scratch);

#endif
