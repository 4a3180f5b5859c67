/* SPDX-License-Identifier: Apache-2.0
 * Rows of a TIFF for a writer that asks for them. */
#ifndef CLI_FILE_ROWS_H
#define CLI_FILE_ROWS_H

#include "conversion.h"

typedef struct file_rows {
    const conversion *c;
    tz_read_options how;     /* max_host_bytes grows if a tile needs more */
    uint64_t max_host_bytes; /* that it may grow to; 0: any number */
    tz_read_report *report;  /* of all windows together, for the caller to free; NULL: none */
} file_rows;

void file_rows_start(file_rows *f, const conversion *c, uint64_t memory);
tz_row_source file_rows_source(file_rows *f); /* f must not move */
/* Plans the read of this many rows, into report, without reading them. */
tz_result file_rows_plan(file_rows *f, uint32_t rows, tz_error *err);

#endif
