/* SPDX-License-Identifier: Apache-2.0
 * The report of a device's work, done or planned: for people, and as JSON (doc/read.schema.json,
 * doc/convert.schema.json). */
#ifndef CLI_DEVICE_REPORT_H
#define CLI_DEVICE_REPORT_H

#include <terrazzo/terrazzo.h>

#include "json.h"

/* For a device that was asked for; it may be the CPU that "auto" chose. */
typedef struct device_summary {
    const tz_device *device; /* NULL: none was asked for */
    const tz_device_use *use;
    const char *verb; /* "decoded", "encoded" */
    bool planned;     /* by a plan; false: it was done */
} device_summary;

/* Both print nothing, or null, if no device was asked for. */
void device_report_print(const char *heading, const device_summary *summary);
void device_report_write(json *j, const char *key, const device_summary *summary);

#endif
