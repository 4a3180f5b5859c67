/* SPDX-License-Identifier: Apache-2.0 */
#include "read/read_report.h"

#include <string.h>

#include "base/mem.h"

/* ---- one read ---- */

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

void tz_report_finish(tz_plan *plan, const tz_workers *workers, uint64_t by_device)
{
    tz_report *report = &plan->report;
    const char *formats[TZ_REPORT_WARNINGS];
    report->tiles_direct = 0; /* so far planned; from here on counted */
    report->tiles_decoded = by_device;
    merge_warnings(report, &plan->warnings, formats);
    merge_warnings(report, &plan->table_warnings, formats);
    for (unsigned i = 0; i < workers->count; i++) {
        const tz_worker *w = &workers->list[i];
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

/* ---- sums ---- */

void tz_device_use_add(tz_device_use *sum, const tz_device_use *more)
{
    if (!sum->id[0])
        memcpy(sum->id, more->id, sizeof sum->id);
    if (!sum->reason[0])
        memcpy(sum->reason, more->reason, sizeof sum->reason);
    sum->memory = tz_max(sum->memory, more->memory);
    sum->peak = tz_max(sum->peak, more->peak);
    sum->waves += more->waves;
    sum->tiles += more->tiles;
    sum->tiles_on_cpu += more->tiles_on_cpu;
    sum->tiles_redone += more->tiles_redone;
    sum->uploads += more->uploads;
    sum->upload_bytes += more->upload_bytes;
    sum->downloads += more->downloads;
    sum->download_bytes += more->download_bytes;
    sum->launches += more->launches;
    sum->syncs += more->syncs;
    sum->library_calls += more->library_calls;
    if (!sum->library[0])
        memcpy(sum->library, more->library, sizeof sum->library);
    if (!sum->library_reason[0])
        memcpy(sum->library_reason, more->library_reason, sizeof sum->library_reason);
    sum->direct_reads += more->direct_reads;
    sum->direct_bytes += more->direct_bytes;
    sum->bounced_bytes += more->bounced_bytes;
    if (!sum->direct_reason[0])
        memcpy(sum->direct_reason, more->direct_reason, sizeof sum->direct_reason);
}

static void add_warning(tz_report *sum, const tz_error *warning)
{
    for (uint32_t i = 0; i < sum->warning_count; i++) {
        if (strcmp(sum->warnings[i].message, warning->message) == 0) {
            sum->warnings[i].count += warning->count;
            return;
        }
    }
    if (sum->warning_count < TZ_REPORT_WARNINGS)
        sum->warnings[sum->warning_count++] = *warning;
    else
        sum->warnings_dropped++;
}

void tz_report_add(tz_report *sum, const tz_report *more)
{
    sum->tiles += more->tiles;
    sum->tiles_sparse += more->tiles_sparse;
    sum->tiles_shared += more->tiles_shared;
    sum->largest_tile = tz_max(sum->largest_tile, more->largest_tile);
    sum->peak_memory = tz_max(sum->peak_memory, more->peak_memory);
    sum->threads = tz_max_u32(sum->threads, more->threads);
    sum->waves += more->waves;
    sum->requests += more->requests;
    sum->bytes_read += more->bytes_read;
    sum->bytes_compressed += more->bytes_compressed;
    sum->tiles_copied += more->tiles_copied;
    sum->tiles_direct += more->tiles_direct;
    sum->tiles_decoded += more->tiles_decoded;
    sum->tiles_failed += more->tiles_failed;
    sum->tiles_reduced += more->tiles_reduced;
    sum->bytes_decoded += more->bytes_decoded;
    tz_device_use_add(&sum->device, &more->device);
    sum->warnings_dropped += more->warnings_dropped;
    for (uint32_t i = 0; i < more->warning_count; i++)
        add_warning(sum, &more->warnings[i]);
}
