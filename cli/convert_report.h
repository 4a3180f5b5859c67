/* SPDX-License-Identifier: Apache-2.0
 * What a conversion did, or would do: for people, and as JSON (doc/convert.schema.json). */
#ifndef CLI_CONVERT_REPORT_H
#define CLI_CONVERT_REPORT_H

#include "convert_work.h"

void convert_report_print(const conversion *c, const convert_result *result);
void convert_report_write(const conversion *c, const convert_result *result);
/* What could not be honoured and what was wrong with the source, on standard error. */
void convert_report_warn(const conversion *c, const convert_result *result);

#endif
