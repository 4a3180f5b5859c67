/* SPDX-License-Identifier: Apache-2.0
 * Random work for convert_tiles.h: rows of tiles of all formats, rectangles of them, what should
 * happen to their samples, and what tz_row_prepare and tz_row_convert make of them. */
#ifndef TESTS_SUPPORT_DEVICE_CONVERT_JOB_H
#define TESTS_SUPPORT_DEVICE_CONVERT_JOB_H

#include "device/ops/convert_tiles.h"

enum { PLACE_TYPES = TZ_DTYPE_COMPLEX_FLOAT64 };

/* Rows of a tile, and a rectangle of their samples. */
typedef struct convert_region {
    tz_row_format row;
    tz_conversion how;
    bool is_copy;  /* of all samples of a pixel, whatever they are */
    uint32_t rows; /* of the tile */
    uint32_t top, failed, flags;
    tz_convert_entry entry;
    uint8_t *prepared; /* the tile's rows as samples, one after the other */
} convert_region;

typedef struct convert_job {
    convert_region *pieces;
    uint32_t count;
    const tz_device
        *device; /* row ranges that it cannot convert write nothing; NULL: it can convert all */
    tz_convert_entry *entries;
    tz_unpredict_entry *undo;
    tz_convert_format *formats;
    uint64_t undo_count;
    uint64_t formats_at, table_at, undo_at, statuses_at, slab_size;
    uint64_t raster_size, mask_size;
    uint8_t *slab, *raster, *mask; /* raster and mask as expected */
} convert_job;

uint32_t convert_below(uint32_t count);

/* Formats of rows, else random. */
tz_row_format convert_row_of(uint16_t sample_format, uint16_t bits, uint16_t predictor);
tz_row_format convert_whole_row(tz_dtype dtype);
tz_row_format convert_any_row(void);

/* Memory for row ranges. Of each, the caller sets row, rows and how.from and how.to. */
convert_job convert_job_new(uint32_t count);
/* The rest: values and offsets; with choose the further steps and flags, too. */
void convert_job_finish(convert_job *job, bool choose);
void convert_job_free(convert_job *job);

/* Runs a job on raster and mask. */
typedef void convert_runner(const convert_job *job, uint8_t *raster, uint8_t *mask);
/* All that it writes is what is expected. */
void convert_job_compare(const convert_job *job, convert_runner *run);

#endif
