/* SPDX-License-Identifier: Apache-2.0
 * What is told of a write that a library of the device's made. */
#ifndef TESTS_SUPPORT_LIBRARY_USE_H
#define TESTS_SUPPORT_LIBRARY_USE_H

#include "support/check.h"

/* All of it, and without a warning. */
static inline void check_use(const tz_write_report *report, const char *library)
{
    const tz_device_use *use = &report->device;
    if (use->id[0] == '\0')
        fail_msg("the cores wrote it: %s", use->reason);
    assert_string_equal(use->library, library);
    assert_string_equal(use->library_reason, "");
    assert_int_equal(use->library_calls, use->waves);
    assert_int_equal(use->tiles_redone, 0);
    assert_int_equal(use->tiles + use->tiles_by_cores, report->tiles);
    assert_int_equal(report->warning_count, 0);
}

#endif
