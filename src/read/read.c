/* SPDX-License-Identifier: Apache-2.0
 * The public calls. Items become requests; those of the level's own pixels are planned and run
 * together, those that are resampled after them:
 *
 *   items -tz_read_request_make-> requests -tz_plan_make-> plan -> tz_cpu_read | tz_gpu_read
 *                                    |
 *                                    +-> tz_resampled_read (resampled: plans of its own)
 *
 * The decision that is not obvious: if a device cannot do a read whose buffers are in its memory,
 * the CPU reads into host memory and the result is uploaded ("bounced"). The caller gets its
 * pixels either way, and the report says why. */
#include <string.h>

#include "base/mem.h"
#include "read/gpu/gpu_plan.h"

#define DEFAULT_MEMORY ((uint64_t)1 << 30)

/* One public call. */
typedef struct read_call {
    tz_context ctx;
    tz_read_options how;
    tz_read_request *requests; /* those that are resampled stand last */
    size_t plain_count;
    size_t count;
    bool dry;                /* plan only */
    tz_wrapped_list wrapped; /* memory of the caller's buffers */
    tz_outcome *outcomes;    /* by item; NULL: nobody asks for them */
    tz_arena arena;          /* of these and their lists; in the end the report's */
    tz_read_summary report;
} read_call;

/* The window is in pixels of the level as it is stored, also if its tiles are decoded at a lower
 * resolution. */
static void set_outcome(tz_outcome *outcome, const tz_read_request *request)
{
    tz_item_report *report = &outcome->report;
    tz_window *window = &report->window;
    report->level = tz_level_index(request->level);
    report->mask = request->layer.is_mask;
    report->resampled = request->resampled;
    report->reduction = request->decode_reduction;
    (void)tz_window_clip(&request->window, &request->layer.shape, window);
    if (request->decode_reduction > 0) {
        const tz_level *level = &request->file->levels[request->level];
        const int64_t size = (int64_t)1 << request->decode_reduction;
        const int64_t x = window->column * size;
        const int64_t y = window->row * size;
        const uint64_t right = tz_min((uint64_t)(x + window->width * size), level->width);
        const uint64_t bottom = tz_min((uint64_t)(y + window->height * size), level->height);
        *window =
            (tz_window){x, y, (uint32_t)(right - (uint64_t)x), (uint32_t)(bottom - (uint64_t)y)};
    }
}

/* Requests that are resampled fill the list from its end. */
static tz_result make_requests(read_call *r, const tz_item *items, size_t count)
{
    size_t last = count;
    for (size_t i = 0; i < count; i++) {
        tz_item item = TZ_ITEM_INIT;
        tz_read_request request;
        tz_context ctx = r->ctx;
        TZ_TRY(tz_copy_element(&item, sizeof item, items, i, "items", "TZ_ITEM_INIT", &r->ctx));
        if (!item.file)
            return tz_fail(&r->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                           "item %zu has no file", i);
        ctx.name = item.file->info.name;
        TZ_TRY(tz_read_request_make(&request, &item, &r->how, &r->wrapped, &ctx));
        if (r->outcomes) {
            request.outcome = &r->outcomes[i];
            set_outcome(request.outcome, &request);
        }
        r->requests[request.resampled ? --last : r->plain_count++] = request;
    }
    r->count = count;
    return TZ_OK;
}

/* Plans and runs the requests that are not resampled. *runner is TZ_RUN_BOUNCED if nothing was read
 * because the CPU has to fill buffers in device memory. */
static tz_result read_plain(read_call *r, const tz_read_options *how, tz_runner *runner)
{
    tz_plan plan = {0};
    tz_result result = tz_plan_make(&plan, r->requests, r->plain_count, how, r->ctx.err);
    if (result == TZ_OK && plan.runner != TZ_RUN_BOUNCED && !r->dry)
        result = tz_plan_alloc_outcomes(&plan, &r->arena);
    if (result == TZ_OK && plan.runner != TZ_RUN_BOUNCED) {
        tz_plan_reset_outcomes(&plan);
        if (r->dry)
            result = tz_plan_check_unchanged(&plan);
        else
            result = plan.runner == TZ_RUN_GPU ? tz_gpu_read(&plan) : tz_cpu_read(&plan);
    }
    *runner = plan.runner;
    r->report = plan.report;
    tz_plan_deinit(&plan);
    return result;
}

/* Reads requests on the CPU, those that are resampled or the others, with host memory in place of
 * buffers in device memory, and uploads these at the end. */
static tz_result read_bounced(read_call *r, bool resampled)
{
    tz_read_request *requests = r->requests + (resampled ? r->plain_count : 0);
    const size_t count = resampled ? r->count - r->plain_count : r->plain_count;
    tz_bounce bounce = {0};
    tz_read_options how = r->how;
    how.device = NULL;
    tz_result result = tz_bounce_begin(&bounce, requests, count, &how, r->dry, &r->ctx);
    if (result == TZ_OK && resampled) {
        result =
            tz_resampled_read(requests, count, &how, r->dry, &r->report, &r->arena, r->ctx.err);
    } else if (result == TZ_OK) {
        const tz_device_use use = r->report.device; /* why the device cannot do it */
        tz_runner runner;
        result = read_plain(r, &how, &runner);
        if (result == TZ_OK)
            r->report.device = use;
    }
    if (result == TZ_OK && !r->dry)
        result = tz_bounce_upload(&bounce, &r->ctx);
    r->report.numbers.peak_host_bytes += bounce.bytes;
    tz_device_use_add(&r->report.device, &bounce.use);
    tz_bounce_deinit(&bounce);
    return result;
}

/* Plain requests first: the report of those that are resampled is added to theirs. */
static tz_result read_requests(read_call *r, const tz_item *items, size_t count)
{
    const bool has_gpu = tz_device_is_gpu(r->how.device);
    const char *reason = NULL; /* why the CPU does the work of a named device */
    if (r->how.has_stream && !has_gpu)
        return tz_fail(&r->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "a stream needs options->device, and not the CPU");
    TZ_TRY(make_requests(r, items, count));
    if (r->how.has_stream && !r->dry)
        TZ_TRY(tz_device_wait_for_stream(r->how.device, r->how.stream, r->ctx.err));
    const bool resamples = r->plain_count < count;
    if (has_gpu && resamples && r->how.strict_device)
        return tz_fail(&r->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "the device %s does not resample the pixels it reads",
                       tz_device_get_info(r->how.device)->id);
    if (r->plain_count > 0 || count == 0) {
        tz_runner runner;
        TZ_TRY(read_plain(r, &r->how, &runner));
        if (runner == TZ_RUN_BOUNCED)
            TZ_TRY(read_bounced(r, false));
    }
    if (resamples)
        TZ_TRY(read_bounced(r, true));
    if (has_gpu && resamples)
        reason = "the CPU resamples the pixels that are read";
    else if (r->how.device && !has_gpu)
        reason = tz_device_get_info(r->how.device)->reason;
    if (reason)
        tz_note_reason(r->report.device.reason, reason);
    return TZ_OK;
}

/* Sends the warnings of all threads to the log. */
static void log_warnings(const read_call *r)
{
    for (uint32_t i = 0; i < r->report.warnings.count; i++)
        tz_log_line(&r->how.log, TZ_LOG_LEVEL_WARNING, "%s", r->report.warnings.list[i].message);
}

/* Sends the facts of a read or a plan, and what the CPU had to do, to the log. */
static void log_report(const read_call *r)
{
    const tz_log *log = &r->how.log;
    const tz_read_report *report = &r->report.numbers;
    const tz_device_use *use = &r->report.device;
    const char *const reasons[] = {use->reason, use->library_reason, use->direct_reason};
    if (!log->call)
        return;
    tz_log_line(
        log, TZ_LOG_LEVEL_DEBUG,
        "%s %llu tiles in %llu reads of %llu bytes by %u threads, with %llu bytes of memory",
        r->dry ? "planned" : "read", (unsigned long long)report->tiles,
        (unsigned long long)report->requests, (unsigned long long)report->bytes_read,
        report->threads, (unsigned long long)report->peak_host_bytes);
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (reasons[i][0])
            tz_log_line(log, TZ_LOG_LEVEL_INFO, "%s", reasons[i]);
    }
}

/* Outcomes are made if the report needs them, or the statuses of tiles that may fail. */
static tz_result run_call(read_call *r, const tz_item *items, size_t count, tz_read_report **report)
{
    r->requests = tz_alloc_array(count, sizeof *r->requests);
    if (!r->requests)
        return tz_fail_nomem(&r->ctx, count * sizeof *r->requests);
    if ((report || r->how.salvage) && count > 0) {
        r->outcomes = tz_arena_array(&r->arena, count, sizeof *r->outcomes);
        if (!r->outcomes)
            return tz_fail_nomem(&r->ctx, count * sizeof *r->outcomes);
    }
    TZ_TRY(read_requests(r, items, count));
    return report ? tz_read_report_make(report, &r->report, r->outcomes, count, &r->arena, &r->ctx)
                  : TZ_OK;
}

/* All public calls. The caller's options may be of an older version: its fields are copied, and the
 * others keep their defaults. The report is written only on success. */
static tz_result read_items(const tz_item *items, size_t count, const tz_read_options *how,
                            bool dry, tz_read_report **report, tz_error *err)
{
    read_call r = {.ctx = {.err = err, .ifd = -1}, .how = TZ_READ_OPTIONS_INIT, .dry = dry};
    TZ_TRY(tz_copy_struct(&r.how, sizeof r.how, how, "options", "TZ_READ_OPTIONS_INIT", &r.ctx));
    if (r.how.max_host_bytes == 0)
        r.how.max_host_bytes = DEFAULT_MEMORY;
    if (!items && count > 0)
        return tz_fail(&r.ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "items is NULL");
    if (count > UINT32_MAX / 4)
        return tz_fail(&r.ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), UINT32_MAX / 4, count), "too many items");
    const tz_result result = run_call(&r, items, count, report);
    tz_wrapped_list_deinit(&r.wrapped);
    tz_arena_deinit(&r.arena);
    tz_free(r.requests);
    if (result == TZ_OK)
        log_report(&r);
    log_warnings(&r);
    return result;
}

tz_result tz_read_batch(const tz_item *items, size_t count, const tz_read_options *how,
                        tz_read_report **report, tz_error *err)
{
    return read_items(items, count, how, false, report, err);
}

tz_result tz_read(const tz_item *item, const tz_read_options *how, tz_read_report **report,
                  tz_error *err)
{
    return read_items(item, 1, how, false, report, err);
}

tz_result tz_plan_read(tz_read_report **report, const tz_item *items, size_t count,
                       const tz_read_options *how, tz_error *err)
{
    return read_items(items, count, how, true, report, err);
}
