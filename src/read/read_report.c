/* SPDX-License-Identifier: Apache-2.0 */
#include "read/read_report.h"

static void merge_warning(tz_report *report, const tz_error *warning, const char *format,
                          const char **formats)
{
    for (uint32_t i = 0; i < report->warning_count; i++) {
        tz_error *known = &report->warnings[i];
        if (formats[i] != format || known->cause != warning->cause)
            continue;
        const uint64_t count = known->count + warning->count;
        if (warning->level < known->level ||
            (warning->level == known->level && warning->tile < known->tile))
            *known = *warning; /* the same whichever thread was first */
        known->count = count;
        return;
    }
    if (report->warning_count == TZ_REPORT_WARNINGS) {
        report->warnings_dropped++;
        return;
    }
    formats[report->warning_count] = format;
    report->warnings[report->warning_count++] = *warning;
}

static void merge_warnings(tz_report *report, const tz_warnings *warnings, const char **formats)
{
    report->warnings_dropped += warnings->dropped;
    for (uint32_t i = 0; i < warnings->count; i++)
        merge_warning(report, &warnings->list[i], warnings->formats[i], formats);
}

void tz_report_finish(tz_plan *plan, const tz_worker *workers, unsigned count, uint64_t decoded)
{
    tz_report *report = &plan->report;
    const char *formats[TZ_REPORT_WARNINGS];
    report->tiles_direct = 0; /* planned; now what happened */
    report->tiles_decoded = decoded;
    merge_warnings(report, &plan->warnings, formats);
    merge_warnings(report, &plan->table_warnings, formats);
    for (unsigned i = 0; i < count; i++) {
        const tz_worker *w = &workers[i];
        report->tiles_direct += w->tiles_direct;
        report->tiles_decoded += w->tiles_decoded;
        merge_warnings(report, &w->warnings, formats);
    }
    report->tiles_copied = report->tiles - report->tiles_sparse - report->tiles_direct -
                           report->tiles_decoded - report->tiles_failed;
}

void tz_plan_visit_failed_tiles(const tz_plan *plan, tz_failed_tile_fn visit, void *user)
{
    for (size_t i = 0; i + 1 < plan->request_count; i++) {
        const tz_planned_request *request = &plan->requests[i];
        const tz_outcome *outcome = request->outcome;
        if (request->to_mask || !plan->requests[i + 1].to_mask || !outcome || !outcome->tiles)
            continue;
        const uint64_t count =
            outcome->tiles_failed > 0 ? tz_planned_request_status_count(request) : 0;
        for (uint64_t k = 0; k < count; k++) {
            const tz_tile_status *status = &outcome->tiles[request->status_first + k];
            if (status->result != TZ_OK)
                visit(user, request, &plan->requests[i + 1], status->tile);
        }
    }
}
