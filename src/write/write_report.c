/* SPDX-License-Identifier: Apache-2.0
 * The report of a write. The struct of the public header is the first member of an allocation that
 * also holds what the report points to, so that the public struct can grow. */
#include "write/write_report.h"

#include "base/mem.h"

typedef struct report_owner {
    tz_write_report report; /* first: the two share their address */
    tz_device_use device;
    tz_warnings warnings;
    tz_statistics *statistics; /* by band; NULL: none */
    uint32_t bands;
} report_owner;

tz_write_report *tz_write_report_make(const tz_context *ctx)
{
    report_owner *owner = tz_alloc_zeroed(1, sizeof *owner);
    if (!owner) {
        (void)tz_fail_nomem(ctx, sizeof *owner);
        return NULL;
    }
    owner->report.device = &owner->device;
    return &owner->report;
}

tz_device_use *tz_write_report_device(tz_write_report *report)
{
    return &((report_owner *)report)->device;
}

tz_statistics *tz_write_report_statistics(tz_write_report *report)
{
    return ((report_owner *)report)->statistics;
}

tz_result tz_write_report_add_statistics(tz_write_report *report, uint32_t bands,
                                         const tz_context *ctx)
{
    report_owner *owner = (report_owner *)report;
    owner->statistics = tz_alloc_zeroed(bands, sizeof *owner->statistics);
    if (!owner->statistics)
        return tz_fail_nomem(ctx, bands * sizeof *owner->statistics);
    owner->bands = bands;
    return TZ_OK;
}

void tz_write_report_take_warnings(tz_write_report *report, tz_warnings *warnings)
{
    report_owner *owner = (report_owner *)report;
    owner->warnings = *warnings;
    *warnings = (tz_warnings){0};
    report->warning_count = owner->warnings.count;
    report->warnings_dropped = owner->warnings.dropped;
}

/* ---- public calls ---- */

const tz_error *tz_write_report_get_warning(const tz_write_report *report, uint32_t index)
{
    const tz_warnings *warnings = &((const report_owner *)report)->warnings;
    return index < warnings->count ? &warnings->list[index] : NULL;
}

const tz_statistics *tz_write_report_get_statistics(const tz_write_report *report, uint32_t band)
{
    const report_owner *owner = (const report_owner *)report;
    return band < owner->bands ? &owner->statistics[band] : NULL;
}

void tz_write_report_free(tz_write_report *report)
{
    report_owner *owner = (report_owner *)report;
    if (!owner)
        return;
    tz_warnings_deinit(&owner->warnings);
    tz_free(owner->statistics);
    tz_free(owner);
}
