/* SPDX-License-Identifier: Apache-2.0
 * Rows of a raw_source for a writer. */
#ifndef CLI_RAW_ROWS_H
#define CLI_RAW_ROWS_H

#include "convert_plan.h"

/* Returns the bytes of the row buffer: enough for large reads, and at least one row. */
uint64_t raw_rows_memory(const conversion *c);

/* Returns the divisor of the memory for the share of rows, which is larger if each row is many
 * reads. */
uint64_t raw_rows_part(const conversion *c);

/* Fails if a file has fewer or more bytes than the shape needs, before any memory is allocated for
 * the shape. A stream is checked when it is read. */
tz_result raw_rows_check(const conversion *c, tz_error *err);
/* Gives all rows to the writer. */
tz_result raw_rows_write(const conversion *c, tz_writer *writer, tz_error *err);

#endif
