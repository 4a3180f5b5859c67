/* SPDX-License-Identifier: Apache-2.0
 * The report of a write that a vendor's library encoded. */
#ifndef TESTS_SUPPORT_DEVICE_LIBRARY_REPORT_H
#define TESTS_SUPPORT_DEVICE_LIBRARY_REPORT_H

#include "support/check.h"

/* Warnings, but for the one that other readers do not have the codec. */
static inline uint32_t warnings_of(const tz_write_report *report)
{
    enum { COMPRESSION = 259 };
    uint32_t count = 0;
    for (uint32_t i = 0; i < report->warning_count; i++)
        count += tz_write_report_get_warning(report, i)->tag != COMPRESSION;
    return count;
}

/* All of it, and without a warning. */
static inline void check_use(const tz_write_report *report, const char *library)
{
    const tz_device_use *use = report->device;
    if (use->id[0] == '\0')
        fail_msg("the CPU wrote it: %s", use->reason);
    assert_string_equal(use->library, library);
    assert_string_equal(use->library_reason, "");
    assert_int_equal(use->library_calls, use->waves);
    assert_int_equal(use->tiles_redone, 0);
    assert_int_equal(use->tiles + use->tiles_on_cpu, report->tiles);
    assert_int_equal(warnings_of(report), 0);
}

#endif
