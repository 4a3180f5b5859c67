/* SPDX-License-Identifier: Apache-2.0
 * The report of a read or of its plan: for people, and as JSON (doc/read.schema.json). */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "json.h"
#include "picture.h"
#include "transfer.h"

typedef struct report {
    const char *input;
    const char *output; /* NULL: a plan */
    const char *mask_output;
    const request *r;
    const transfer_result *result;
    const picture_stretch *stretched; /* NULL: a plan */
} report;

void report_print(const report *p);
void report_write(const report *p);
/* Prints the defects of tiles, on standard error. */
void report_warn(const transfer_result *result);
/* Writes {"input": ..., "error": ...}. */
void report_write_error(const char *input, const tz_error *err);

#endif
