/* SPDX-License-Identifier: Apache-2.0
 * The report of a write, with the memory of what it points to. */
#ifndef TZ_WRITE_WRITE_REPORT_H
#define TZ_WRITE_WRITE_REPORT_H

#include "base/error.h"

/* Allocates an empty report; NULL: memory ran out, and ctx has the error. Released by
 * tz_write_report_free. */
tz_write_report *tz_write_report_make(const tz_context *ctx);

/* The members that a report owns, to be filled. */
tz_device_use *tz_write_report_device(tz_write_report *report);
tz_statistics *tz_write_report_statistics(tz_write_report *report); /* NULL: none are gathered */

/* Makes space for the statistics of bands. */
tz_result tz_write_report_add_statistics(tz_write_report *report, uint32_t bands,
                                         const tz_context *ctx);

/* Moves the warnings to the report. */
void tz_write_report_take_warnings(tz_write_report *report, tz_warnings *warnings);

#endif
