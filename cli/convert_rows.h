/* SPDX-License-Identifier: Apache-2.0
 * Rows of a TIFF for a writer that asks for them. */
#ifndef CLI_CONVERT_ROWS_H
#define CLI_CONVERT_ROWS_H

#include "convert_plan.h"
#include "damaged.h"

typedef struct convert_rows {
    const conversion *c;
    tz_read_options how;     /* max_host_bytes grows if a tile needs more */
    uint64_t max_host_bytes; /* that it may grow to; 0: any number */
    uint64_t memory;         /* for how.max_host_bytes, and the rest for masks of bands */
    tz_buffer band_masks;    /* of the rows that are read, if nodata is that of the source */
    tz_read_report *report;  /* of all windows together, for the caller to free; NULL: none */
    damaged_tiles damaged;   /* the same */
    /* Rows of the image that were read with the last tiles, and are asked for next. */
    tz_buffer kept_pixels; /* data NULL: none are kept */
    tz_buffer kept_mask;
    int64_t kept_row; /* the first of them */
} convert_rows;

/* Decides if rows are kept, and takes their memory from c->memory.work; or gives it back. */
void convert_rows_reserve(conversion *c);
void convert_rows_release(conversion *c);

void convert_rows_start(convert_rows *f, const conversion *c, uint64_t memory);
/* Makes this the most that reading may take. */
void convert_rows_bound(convert_rows *f, uint64_t memory);
/* Returns the bytes that reading takes now, as they may have grown. */
uint64_t convert_rows_memory(const convert_rows *f);
/* Allocates the memory that convert_rows_reserve has taken; convert_rows_end frees it. */
tz_result convert_rows_allocate(convert_rows *f, tz_error *err);
void convert_rows_end(convert_rows *f);
tz_row_source convert_rows_source(convert_rows *f); /* f must not move */
/* Plans the read of this many rows, into report, without reading them. */
tz_result convert_rows_plan(convert_rows *f, uint32_t rows, tz_error *err);

/* Returns true if rows are changed after they were read, which only the CPU can. */
bool convert_rows_are_changed(const conversion *c);

#endif
