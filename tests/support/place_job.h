/* SPDX-License-Identifier: Apache-2.0
 * Random work for place.h: rows of tiles of all formats, rectangles of them, what should happen to
 * their samples, and what tz_row_prepare and tz_row_place make of them. */
#ifndef TESTS_SUPPORT_PLACE_JOB_H
#define TESTS_SUPPORT_PLACE_JOB_H

#include "device/place.h"

enum { PLACE_TYPES = TZ_DTYPE_COMPLEX_FLOAT64 };

/* Rows of a tile, and a rectangle of their samples. */
typedef struct place_piece {
    tz_row_format row;
    tz_placement how;
    bool is_copy;  /* of all samples of a pixel, whatever they are */
    uint32_t rows; /* of the tile */
    uint32_t top, failed, flags;
    tz_place_entry entry;
    uint8_t *prepared; /* the tile's rows as samples, one behind the other */
} place_piece;

typedef struct place_job {
    place_piece *pieces;
    uint32_t count;
    const tz_device *device; /* pieces that it cannot place write nothing; NULL: it can place all */
    tz_place_entry *entries;
    tz_undo_entry *undo;
    tz_place_format *formats;
    uint64_t undo_count;
    uint64_t formats_at, table_at, undo_at, statuses_at, slab_size;
    uint64_t raster_size, mask_size;
    uint8_t *slab, *raster, *mask; /* raster and mask as expected */
} place_job;

uint32_t place_below(uint32_t count);

/* Formats of rows, else random. */
tz_row_format place_row_of(uint16_t sample_format, uint16_t bits, uint16_t predictor);
tz_row_format place_whole_row(tz_dtype dtype);
tz_row_format place_any_row(void);

/* Room for pieces. Of each, the caller sets row, rows and how.from and how.to. */
place_job place_job_new(uint32_t count);
/* The rest: values and places; with choose the further steps and flags, too. */
void place_job_finish(place_job *job, bool choose);
void place_job_free(place_job *job);

/* What runs a job: raster and mask are as before. */
typedef void place_runner(const place_job *job, uint8_t *raster, uint8_t *mask);
/* All that it writes is what is expected. */
void place_job_compare(const place_job *job, place_runner *run);

#endif
