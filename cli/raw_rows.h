/* SPDX-License-Identifier: Apache-2.0
 * Rows of a raw_source for a writer. */
#ifndef CLI_RAW_ROWS_H
#define CLI_RAW_ROWS_H

#include "conversion.h"

/* Memory for rows that are on their way: as much as makes large reads, and at least one row. */
uint64_t raw_rows_memory(const conversion *c);

/* The part of the memory that rows may take, as its divisor: more where each row is many reads. */
uint64_t raw_rows_part(const conversion *c);

/* It is an error when there are fewer or more bytes than the shape takes. This finds it out of a
 * file, before any memory is taken for the shape. */
tz_result raw_rows_check(const conversion *c, tz_error *err);
/* Gives all rows to the writer. */
tz_result raw_rows_write(const conversion *c, tz_writer *writer, tz_error *err);

#endif
