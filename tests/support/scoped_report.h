/* SPDX-License-Identifier: Apache-2.0
 * Reports of writes that are freed where their scope ends. */
#ifndef SCOPED_REPORT_H
#define SCOPED_REPORT_H

#include <terrazzo/terrazzo.h>

static inline void free_write_report(tz_write_report **report)
{
    tz_write_report_free(*report);
}

/* Frees the report of an earlier write; report may be NULL. */
static inline void clear_write_report(tz_write_report **report)
{
    if (report) {
        tz_write_report_free(*report);
        *report = NULL;
    }
}

/* Declares a pointer to a report; it must be initialised. */
#define SCOPED_WRITE_REPORT __attribute__((cleanup(free_write_report))) tz_write_report *

#endif
