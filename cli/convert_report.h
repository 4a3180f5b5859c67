/* SPDX-License-Identifier: Apache-2.0
 * The report of a conversion that was done or planned: for people, and as JSON
 * (doc/convert.schema.json). */
#ifndef CLI_CONVERT_REPORT_H
#define CLI_CONVERT_REPORT_H

#include "convert_write.h"

void convert_report_print(const conversion *c, const convert_result *result);
void convert_report_write(const conversion *c, const convert_result *result);
/* Prints options that could not be honoured, and defects of the source, on standard error. */
void convert_report_warn(const conversion *c, const convert_result *result);

#endif
