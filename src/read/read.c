/* SPDX-License-Identifier: Apache-2.0
 * The public calls: plan, then carry it out. */
#include "read/cores.h"

static tz_result plan_and_run(const tz_item *items, size_t count, const tz_read_options *how,
                              bool dry, tz_report *report, tz_error *err)
{
    tz_plan plan;
    tz_result result = tz_plan_make(&plan, items, count, how, err);
    if (result == TZ_OK && !dry)
        result = tz_cores_read(&plan);
    if (result == TZ_OK && report)
        *report = plan.report;
    tz_plan_deinit(&plan);
    return result;
}

tz_result tz_read_batch(const tz_item *items, size_t count, const tz_read_options *how,
                        tz_report *report, tz_error *err)
{
    return plan_and_run(items, count, how, false, report, err);
}

tz_result tz_read(const tz_item *item, const tz_read_options *how, tz_report *report, tz_error *err)
{
    return plan_and_run(item, 1, how, false, report, err);
}

tz_result tz_plan_read(const tz_item *items, size_t count, const tz_read_options *how,
                       tz_report *report, tz_error *err)
{
    return plan_and_run(items, count, how, true, report, err);
}
