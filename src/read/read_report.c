/* SPDX-License-Identifier: Apache-2.0
 * A report is one allocation, with the public struct in front, and the arena that the outcomes of
 * its items and the statuses of their tiles were made in. */
#include "read/read_report.h"

#include <string.h>

#include "base/mem.h"

typedef struct owned_report {
    tz_read_report shown; /* first: it is what callers point to */
    tz_device_use device;
    tz_arena memory; /* of outcomes */
    const tz_outcome *outcomes;
    bool is_sum;
    tz_error warnings[]; /* a sum has room for TZ_REPORT_KINDS */
} owned_report;

static const owned_report *owner_of(const tz_read_report *report)
{
    return (const owned_report *)report;
}

/* ---- sums ---- */

static void add_numbers(tz_read_report *sum, const tz_read_report *more)
{
    sum->tiles += more->tiles;
    sum->tiles_sparse += more->tiles_sparse;
    sum->tiles_shared += more->tiles_shared;
    sum->largest_tile = tz_max(sum->largest_tile, more->largest_tile);
    sum->peak_host_bytes = tz_max(sum->peak_host_bytes, more->peak_host_bytes);
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
}

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

/* Adds warnings to a list of TZ_REPORT_KINDS. The formats of messages are not known any more: equal
 * messages are one. Returns how many found no room. */
static uint64_t add_warnings(tz_error *list, uint32_t *count, const tz_error *more,
                             uint32_t more_count)
{
    uint64_t dropped = 0;
    for (uint32_t i = 0; i < more_count; i++) {
        uint32_t k = 0;
        while (k < *count && strcmp(list[k].message, more[i].message) != 0)
            k++;
        if (k < *count)
            list[k].count += more[i].count;
        else if (k < TZ_REPORT_KINDS)
            list[(*count)++] = more[i];
        else
            dropped++;
    }
    return dropped;
}

void tz_read_summary_add(tz_read_summary *sum, const tz_read_summary *more)
{
    add_numbers(&sum->numbers, &more->numbers);
    tz_device_use_add(&sum->device, &more->device);
    sum->warnings.dropped +=
        more->warnings.dropped + add_warnings(sum->warnings.list, &sum->warnings.count,
                                              more->warnings.list, more->warnings.count);
}

/* The kind is the format of the message, compared by address. */
void tz_report_warnings_merge(tz_report_warnings *to, const tz_warnings *warnings)
{
    to->dropped += warnings->dropped;
    for (uint32_t i = 0; i < warnings->count; i++) {
        const tz_error *warning = &warnings->list[i];
        uint32_t k = 0;
        while (k < to->count &&
               (to->formats[k] != warnings->formats[i] || to->list[k].cause != warning->cause))
            k++;
        if (k < to->count) {
            tz_error *known = &to->list[k];
            const uint64_t count = known->count + warning->count;
            if (tz_warning_is_before(warning, known))
                *known = *warning;
            known->count = count;
        } else if (k < TZ_REPORT_KINDS) {
            to->formats[k] = warnings->formats[i];
            to->list[to->count++] = *warning;
        } else {
            to->dropped++;
        }
    }
}

/* ---- reports ---- */

/* Adds a report to a sum. */
static void add_report(owned_report *sum, const tz_read_report *more)
{
    const owned_report *owner = owner_of(more);
    add_numbers(&sum->shown, more);
    tz_device_use_add(&sum->device, &owner->device);
    sum->shown.warnings_dropped +=
        more->warnings_dropped + add_warnings(sum->warnings, &sum->shown.warning_count,
                                              owner->warnings, more->warning_count);
}

static tz_result alloc_report(owned_report **out, uint32_t warnings, const tz_context *ctx)
{
    const size_t size = sizeof **out + warnings * sizeof(tz_error);
    owned_report *made = tz_alloc_zeroed(1, size);
    if (!made)
        return tz_fail_nomem(ctx, size);
    made->shown.device = &made->device;
    *out = made;
    return TZ_OK;
}

tz_result tz_read_report_make(tz_read_report **out, const tz_read_summary *summary,
                              const tz_outcome *outcomes, size_t count, tz_arena *memory,
                              const tz_context *ctx)
{
    owned_report *made = NULL;
    TZ_TRY(alloc_report(&made, summary->warnings.count, ctx));
    made->shown = summary->numbers;
    made->shown.device = &made->device;
    made->shown.item_count = count;
    made->shown.warning_count = summary->warnings.count;
    made->shown.warnings_dropped = summary->warnings.dropped;
    made->device = summary->device;
    made->outcomes = outcomes;
    made->memory = *memory;
    if (summary->warnings.count > 0)
        memcpy(made->warnings, summary->warnings.list,
               summary->warnings.count * sizeof *made->warnings);
    *memory = (tz_arena){0};
    *out = &made->shown;
    return TZ_OK;
}

void tz_read_report_free(tz_read_report *report)
{
    owned_report *owner = (owned_report *)report;
    if (!owner)
        return;
    tz_arena_deinit(&owner->memory);
    tz_free(owner);
}

const tz_error *tz_read_report_get_warning(const tz_read_report *report, uint32_t index)
{
    return index < report->warning_count ? &owner_of(report)->warnings[index] : NULL;
}

const tz_item_report *tz_read_report_get_item(const tz_read_report *report, uint64_t index)
{
    return index < report->item_count ? &owner_of(report)->outcomes[index].report : NULL;
}

const tz_tile_status *tz_read_report_get_tile(const tz_read_report *report, uint64_t item,
                                              uint64_t index)
{
    if (item >= report->item_count)
        return NULL;
    const tz_outcome *outcome = &owner_of(report)->outcomes[item];
    return outcome->tiles && index < outcome->report.tile_count ? &outcome->tiles[index] : NULL;
}

/* A sum has room for all warnings from the start, so that only its first addition can fail. A
 * report of a read that is added to becomes a sum. */
tz_result tz_read_report_add(tz_read_report **sum, const tz_read_report *more, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    if (!sum || !more)
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "sum or more is NULL");
    owned_report *before = (owned_report *)*sum;
    owned_report *owner = before;
    if (!before || !before->is_sum) {
        TZ_TRY(alloc_report(&owner, TZ_REPORT_KINDS, &ctx));
        owner->is_sum = true;
    }
    if (before && before != owner)
        add_report(owner, &before->shown);
    add_report(owner, more);
    if (before != owner)
        tz_read_report_free(*sum);
    *sum = &owner->shown;
    return TZ_OK;
}
