/* SPDX-License-Identifier: Apache-2.0
 * Rasters to be written, in any layout of memory, and ways to write them. */
#ifndef TESTS_SUPPORT_RASTER_H
#define TESTS_SUPPORT_RASTER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four before it */
#include <cmocka.h>

#include <terrazzo/terrazzo.h>

#include "support/scoped_report.h"

typedef struct raster {
    tz_image_spec spec;
    tz_buffer pixels; /* packed, band after band */
    tz_buffer mask;   /* data NULL: none */
} raster;

/* Pixels that compress somewhat, and say where they are; of floating-point types with some NaN when
 * nodata is set. */
raster raster_make(tz_dtype dtype, uint32_t bands, uint32_t width, uint32_t height, bool mask);
void raster_free(raster *r);

/* The same pixels, interleaved by pixel, and with gaps between columns and rows, bottom row first
 * in memory; to be released by free(memory). */
tz_buffer raster_interleaved(const raster *r, void **memory);
tz_buffer raster_scattered(const raster *r, void **memory);

/* A way to give rows to the writer. */
typedef struct raster_variant {
    uint32_t batch;   /* rows of a call; 0: all at once */
    bool ragged;      /* now one row, now many, now none */
    tz_buffer pixels; /* data NULL: those of the raster */
    bool pull;        /* by tz_write_from */
    bool columns;     /* pull: parts of rows are fine */
    uint32_t chunk_rows;
} raster_variant;

/* Write to memory. raster_write fails the test on any error. */
tz_result raster_try(const raster *r, const tz_write_options *options, const raster_variant *way,
                     tz_memory *out, tz_write_report **report, tz_error *err);
tz_memory raster_write(const raster *r, const tz_write_options *options, const raster_variant *way,
                       tz_write_report **report);

/* Give all rows to a writer that is there already. */
tz_result raster_give(tz_writer *writer, const raster *r, const raster_variant *way, tz_error *err);

/* The file's pixels and mask are those of the raster. nan: what NaN has become (NaN: itself). */
void raster_check(const raster *r, const tz_memory *file, double nan);

#endif
