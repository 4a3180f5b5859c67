/* SPDX-License-Identifier: Apache-2.0
 * The public calls: items to views, plan, then carry it out. */
#include <string.h>

#include "base/mem.h"
#include "device/device_text.h"
#include "read/cpu_read.h"
#include "read/gpu/gpu_bounce.h"
#include "read/gpu/gpu_plan.h"
#include "read/gpu/gpu_run.h"
#include "read/resampled_read.h"

#define DEFAULT_MEMORY ((uint64_t)1 << 30)

typedef struct read_call {
    tz_context ctx;
    tz_read_options how;
    tz_read_request *requests; /* those that are resampled stand last */
    size_t plain_count;
    size_t count;
    tz_report report;
} read_call;

static tz_result copy_options(tz_read_options *out, const tz_read_options *given,
                              const tz_context *ctx)
{
    *out = (tz_read_options)TZ_READ_OPTIONS_INIT;
    if (given) {
        if (given->struct_size < sizeof given->struct_size || given->struct_size > sizeof *given)
            return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                           tz_expecting(tz_no_location(), sizeof *given, given->struct_size),
                           "options->struct_size is wrong; use TZ_READ_OPTIONS_INIT");
        memcpy(out, given, given->struct_size);
    }
    if (out->max_memory == 0)
        out->max_memory = DEFAULT_MEMORY;
    return TZ_OK;
}

/* Pixels of a reduced level as those of the level. */
static tz_window stored_window(const tz_read_request *request, const tz_window *window)
{
    const tz_level *level = &request->file->info.levels[request->level];
    const int64_t size = (int64_t)1 << request->reduction;
    const int64_t x = window->column * size;
    const int64_t y = window->row * size;
    const int64_t right = x + window->width * size;
    const int64_t bottom = y + window->height * size;
    return (tz_window){x, y, (uint32_t)((right < level->width ? right : level->width) - x),
                       (uint32_t)((bottom < level->height ? bottom : level->height) - y)};
}

static void set_outcome(const tz_read_request *request)
{
    tz_outcome *outcome = request->outcome;
    if (!outcome)
        return;
    outcome->level = request->level;
    outcome->resampled = request->resampled;
    outcome->reduction = request->reduction;
    outcome->tile_count = 0;
    outcome->tiles_failed = 0;
    (void)tz_window_clip(&request->window, &request->layer.shape, &outcome->window);
    if (request->reduction > 0)
        outcome->window = stored_window(request, &outcome->window);
}

static tz_result make_requests(read_call *r, const tz_item *items, size_t count)
{
    size_t last = count;
    for (size_t i = 0; i < count; i++) {
        tz_read_request request;
        tz_context ctx = r->ctx;
        if (!items[i].file)
            return tz_fail(&r->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                           "item %zu has no file", i);
        ctx.name = items[i].file->info.name;
        TZ_TRY(tz_read_request_make(&request, &items[i], &r->how, &ctx));
        set_outcome(&request);
        r->requests[request.resampled ? --last : r->plain_count++] = request;
    }
    r->count = count;
    return TZ_OK;
}

static void take_larger(uint64_t *sum, uint64_t more)
{
    if (more > *sum)
        *sum = more;
}

static void add_device_use(tz_device_use *sum, const tz_device_use *more)
{
    if (!sum->id[0])
        memcpy(sum->id, more->id, sizeof sum->id);
    if (!sum->reason[0])
        memcpy(sum->reason, more->reason, sizeof sum->reason);
    take_larger(&sum->memory, more->memory);
    take_larger(&sum->peak, more->peak);
    sum->waves += more->waves;
    sum->tiles += more->tiles;
    sum->tiles_by_cores += more->tiles_by_cores;
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

static tz_result run_plan(tz_plan *plan, bool dry)
{
    TZ_TRY(tz_plan_reset_outcomes(plan));
    if (dry)
        return tz_plan_check_unchanged(plan);
    return plan->device ? tz_gpu_read(plan) : tz_cpu_read(plan);
}

/* *needs_bounce: the device cannot do this read; the CPU has to, for buffers in device memory. */
static tz_result read_planned(read_call *r, const tz_read_options *how, bool dry,
                              bool *needs_bounce)
{
    tz_plan plan = {0};
    tz_result result = tz_plan_make(&plan, r->requests, r->plain_count, how, r->ctx.err);
    if (result == TZ_OK && !plan.needs_bounce)
        result = run_plan(&plan, dry);
    *needs_bounce = result == TZ_OK && plan.needs_bounce;
    r->report = plan.report;
    tz_plan_deinit(&plan);
    return result;
}

/* ---- what the cores do for a device ---- */

typedef tz_result (*read_fn)(read_call *r, const tz_read_options *how, bool dry);

static tz_result read_plain_bounced(read_call *r, const tz_read_options *how, bool dry)
{
    bool needs_bounce;
    const tz_device_use use = r->report.device; /* why it came to this */
    TZ_TRY(read_planned(r, how, dry, &needs_bounce));
    r->report.device = use;
    return TZ_OK;
}

static tz_result read_resampled_bounced(read_call *r, const tz_read_options *how, bool dry)
{
    return tz_resampled_read(r->requests + r->plain_count, r->count - r->plain_count, how, dry,
                             &r->report, r->ctx.err);
}

static tz_result read_bounced(read_call *r, tz_read_request *requests, size_t count, read_fn read,
                              bool dry)
{
    tz_bounce bounce = {0};
    tz_read_options how = r->how;
    how.device = NULL;
    tz_result result = tz_bounce_begin(&bounce, requests, count, &how, dry, &r->ctx);
    if (result == TZ_OK)
        result = read(r, &how, dry);
    if (result == TZ_OK && !dry)
        result = tz_bounce_upload(&bounce, &r->ctx);
    r->report.peak_memory += bounce.bytes;
    add_device_use(&r->report.device, &bounce.use);
    tz_bounce_deinit(&bounce);
    return result;
}

static tz_result read_plain(read_call *r, bool dry)
{
    bool needs_bounce;
    if (r->plain_count == 0 && r->count > 0)
        return TZ_OK;
    TZ_TRY(read_planned(r, &r->how, dry, &needs_bounce));
    return needs_bounce ? read_bounced(r, r->requests, r->plain_count, read_plain_bounced, dry)
                        : TZ_OK;
}

static tz_result refuse_resampling(const read_call *r)
{
    if (!r->how.strict_device)
        return TZ_OK;
    return tz_fail(&r->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                   "the device %s does not resample what it reads",
                   tz_device_get_info(r->how.device)->id);
}

/* Why the cores do what a device was named for, where the plan has not said so. */
static void note_device_reason(read_call *r, const char *reason)
{
    tz_device_use *use = &r->report.device;
    if (!use->reason[0])
        tz_device_text(use->reason, sizeof use->reason, reason);
}

static tz_result read_requests(read_call *r, const tz_item *items, size_t count, bool dry)
{
    const bool has_device = tz_device_is_gpu(r->how.device);
    TZ_TRY(make_requests(r, items, count));
    if (has_device && r->plain_count < count)
        TZ_TRY(refuse_resampling(r));
    TZ_TRY(read_plain(r, dry));
    if (r->plain_count < count)
        TZ_TRY(read_bounced(r, r->requests + r->plain_count, count - r->plain_count,
                            read_resampled_bounced, dry));
    if (has_device && r->plain_count < count)
        note_device_reason(r, "the cores resample what is read");
    else if (r->how.device && !has_device)
        note_device_reason(r, tz_device_get_info(r->how.device)->reason);
    return TZ_OK;
}

static tz_result read_items(const tz_item *items, size_t count, const tz_read_options *how,
                            bool dry, tz_report *report, tz_error *err)
{
    read_call r = {.ctx = {.err = err, .ifd = -1}};
    TZ_TRY(copy_options(&r.how, how, &r.ctx));
    if (!items && count > 0)
        return tz_fail(&r.ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "items is NULL");
    if (count > UINT32_MAX / 4)
        return tz_fail(&r.ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), UINT32_MAX / 4, count), "too many items");
    r.requests = tz_alloc_array(count, sizeof *r.requests);
    if (!r.requests)
        return tz_fail_nomem(&r.ctx, count * sizeof *r.requests);
    const tz_result result = read_requests(&r, items, count, dry);
    tz_free(r.requests);
    if (result == TZ_OK && report)
        *report = r.report;
    return result;
}

tz_result tz_read_batch(const tz_item *items, size_t count, const tz_read_options *how,
                        tz_report *report, tz_error *err)
{
    return read_items(items, count, how, false, report, err);
}

tz_result tz_read(const tz_item *item, const tz_read_options *how, tz_report *report, tz_error *err)
{
    return read_items(item, 1, how, false, report, err);
}

tz_result tz_plan_read(const tz_item *items, size_t count, const tz_read_options *how,
                       tz_report *report, tz_error *err)
{
    return read_items(items, count, how, true, report, err);
}

/* ---- reports ---- */

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
    take_larger(&sum->largest_tile, more->largest_tile);
    take_larger(&sum->peak_memory, more->peak_memory);
    sum->threads = more->threads > sum->threads ? more->threads : sum->threads;
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
    add_device_use(&sum->device, &more->device);
    sum->warnings_dropped += more->warnings_dropped;
    for (uint32_t i = 0; i < more->warning_count; i++)
        add_warning(sum, &more->warnings[i]);
}
