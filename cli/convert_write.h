/* SPDX-License-Identifier: Apache-2.0
 * Carries out a conversion, or reports its cost. */
#ifndef CLI_CONVERT_WRITE_H
#define CLI_CONVERT_WRITE_H

#include "convert_plan.h"
#include "damaged.h"

typedef struct convert_result {
    tz_write_report *writing; /* NULL before the first plan */
    tz_read_report *reading;  /* of a TIFF, else NULL; a plan has its first rows only */
    damaged_tiles damaged;    /* of a TIFF, with --salvage */
    uint64_t input_memory;    /* bytes for reading, beside those for writing */
    double seconds;
} convert_result;

/* *out is zeroed first; released by convert_result_free, also after a failure. */
tz_result convert_plan(conversion *c, convert_result *out, tz_error *err);
tz_result convert_carry_out(conversion *c, convert_result *out, tz_error *err);
void convert_result_free(convert_result *result); /* zeroed state is fine */

#endif
