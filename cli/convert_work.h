/* SPDX-License-Identifier: Apache-2.0
 * Carries out a conversion, or reports its cost. */
#ifndef CLI_CONVERT_WORK_H
#define CLI_CONVERT_WORK_H

#include "conversion.h"

typedef struct convert_result {
    tz_write_report writing;
    tz_read_report reading; /* of a TIFF; a plan has its first rows only */
    uint64_t input_memory;  /* bytes for reading, beside those for writing */
    double seconds;
} convert_result;

tz_result convert_plan(conversion *c, convert_result *out, tz_error *err);
tz_result convert_carry_out(conversion *c, convert_result *out, tz_error *err);

#endif
