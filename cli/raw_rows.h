/* SPDX-License-Identifier: Apache-2.0
 * Rows of standard input for a writer. */
#ifndef CLI_RAW_ROWS_H
#define CLI_RAW_ROWS_H

#include "conversion.h"

/* Memory for rows that are on their way: as much as makes large writes, and at least one row. */
uint64_t raw_rows_memory(const conversion *c);

/* Give all rows to the writer. It is an error when there are fewer or more bytes than the shape
 * takes. */
tz_result raw_rows_write(const conversion *c, tz_writer *writer, tz_error *err);

#endif
