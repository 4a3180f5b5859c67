/* SPDX-License-Identifier: Apache-2.0
 * Waves go to lanes in turn, so that the bytes of the next are read and sent up while the device
 * works on the one before: begin A, begin B, finish A, begin A, finish B, ... */
#include "read/device_read.h"

#include <string.h>

#include "base/mem.h"
#include "read/cores.h"
#include "read/device_lane.h"
#include "read/report.h"
#include "read/tile.h"

/* Where the read is, for progress: positions of the plan's units. */
typedef struct position {
    uint64_t at0, at1; /* of the wave at hand */
    uint64_t units;    /* of it that are done */
} position;

static tz_result report_progress(const tz_device_run *run, const position *at)
{
    const tz_plan *plan = run->plan;
    const double part =
        plan->wave.unit_count > 0 ? (double)at->units / (double)plan->wave.unit_count : 1;
    return tz_check_progress(&plan->ctx, &plan->options.progress,
                             at->at0 + (uint64_t)(part * (double)(at->at1 - at->at0)),
                             plan->unit_count);
}

/* The CPU decodes what the device could not, and the device stores it. */
static tz_result run_again(tz_device_run *run, tz_lane *lane)
{
    const tz_rooms rooms = {run->dp->lane.device, lane->again_first};
    tz_work work = {.fetches = lane->again,
                    .fetch_count = lane->again_count,
                    .by_cores = true,
                    .at = lane->again_at};
    tz_cut cut;
    while (tz_cut_next(run->plan, &work, &rooms, &cut)) {
        TZ_TRY(tz_lane_begin(run, lane, &work, &cut));
        TZ_TRY(tz_lane_finish(run, lane));
    }
    return TZ_OK;
}

static tz_result finish(tz_device_run *run, tz_lane *lane, position *at)
{
    if (!lane->is_taken)
        return TZ_OK;
    lane->is_taken = false;
    at->units += lane->unit_count;
    TZ_TRY(tz_lane_finish(run, lane));
    if (lane->again_count > 0)
        TZ_TRY(run_again(run, lane));
    return report_progress(run, at);
}

/* The lists of the plan's wave are used until its last part is done. */
static tz_result run_wave(tz_device_run *run, position *at)
{
    tz_work work = tz_work_of(run->plan);
    tz_cut cut;
    unsigned next = 0;
    at->units = 0;
    for (; tz_cut_next(run->plan, &work, &run->dp->rooms, &cut);
         next = (next + 1) % run->dp->lanes) {
        tz_lane *lane = &run->lanes[next];
        TZ_TRY(finish(run, lane, at));
        lane->is_taken = true;
        TZ_TRY(tz_lane_begin(run, lane, &work, &cut));
    }
    for (unsigned i = 0; i < run->dp->lanes; i++)
        TZ_TRY(finish(run, &run->lanes[(next + i) % run->dp->lanes], at));
    return TZ_OK;
}

static tz_result run_waves(tz_device_run *run)
{
    tz_plan *plan = run->plan;
    position at = {0};
    if (plan->one_wave) {
        at.at1 = plan->unit_count;
        return run_wave(run, &at);
    }
    for (; at.at1 < plan->unit_count; at.at0 = at.at1) {
        TZ_TRY(tz_wave_next(plan, &at.at1));
        TZ_TRY(run_wave(run, &at));
    }
    return TZ_OK;
}

/* ---- beginning and end ---- */

static tz_result make_workers(tz_device_run *run)
{
    tz_plan *plan = run->plan;
    run->workers = tz_alloc_zeroed(plan->threads, sizeof *run->workers);
    if (!run->workers)
        return tz_fail_nomem(&plan->ctx, plan->threads * sizeof *run->workers);
    run->worker_count = plan->threads;
    for (unsigned i = 0; i < plan->threads; i++)
        TZ_TRY(tz_worker_init(&run->workers[i], plan));
    return TZ_OK;
}

static void finish_report(tz_device_run *run)
{
    tz_report *report = &run->plan->report;
    const tz_device_use planned = report->device;
    tz_report_finish(run->plan, run->workers, run->worker_count, run->use.tiles);
    report->device = run->use;
    memcpy(report->device.id, planned.id, sizeof planned.id);
    memcpy(report->device.reason, planned.reason, sizeof planned.reason);
    report->device.memory = planned.memory;
    report->device.tiles_by_cores = planned.tiles_by_cores + run->left;
    report->device.tiles_redone = run->redone;
    tz_direct_reason(&report->device, planned.direct_reason);
}

static tz_result read_all(tz_device_run *run)
{
    tz_plan *plan = run->plan;
    TZ_TRY(make_workers(run));
    if (run->dp->on_device)
        TZ_TRY(tz_device_wait_for_stream(run->dp->device, plan->ctx.err));
    for (uint32_t i = 0; i < run->dp->lanes; i++)
        TZ_TRY(tz_lane_init(run, &run->lanes[i], i));
    run->has_memory = true;
    for (size_t i = 0; plan->options.boundless && i < plan->target_count; i++)
        tz_target_fill_outside(&plan->targets[i], &plan->options);
    TZ_TRY(run_waves(run));
    TZ_TRY(tz_device_fill(run));
    TZ_TRY(tz_plan_check_unchanged(plan));
    finish_report(run);
    return TZ_OK;
}

/* Nothing of what the device did counts. */
static tz_result read_by_cores(tz_plan *plan)
{
    plan->report.tiles_failed = 0;
    for (size_t i = 0; i < plan->target_count; i++) {
        if (plan->targets[i].outcome)
            plan->targets[i].outcome->tiles_failed = 0;
    }
    TZ_TRY(tz_plan_outcomes(plan));
    TZ_TRY(tz_plan_check_memory(plan));
    return tz_cores_read(plan);
}

static tz_result read_once(tz_plan *plan, bool *has_memory)
{
    tz_device_run run = {.plan = plan, .dp = plan->device, .lock = PTHREAD_MUTEX_INITIALIZER};
    const tz_result result = read_all(&run);
    for (uint32_t i = 0; i < TZ_QUEUES; i++)
        tz_lane_deinit(&run, &run.lanes[i]);
    for (unsigned i = 0; i < run.worker_count; i++)
        tz_worker_deinit(&run.workers[i]);
    tz_free(run.workers);
    *has_memory = run.has_memory;
    return result;
}

/* Smaller batches where the planned ones find no memory after all: others use the device, too.
 * *is_full: even the smallest find none. */
static tz_result read_with_less(tz_plan *plan, bool *is_full)
{
    tz_error *err = plan->ctx.err;
    for (;;) {
        tz_error ignored;
        bool has_memory;
        const tz_result result = read_once(plan, &has_memory);
        *is_full = tz_device_is_full(result, err) || (!has_memory && result == TZ_ERR_LIMIT);
        if (has_memory || !*is_full)
            return result;
        plan->ctx.err = &ignored;
        const bool is_less = tz_device_plan_shrink(plan) && tz_plan_check_memory(plan) == TZ_OK;
        plan->ctx.err = err;
        if (!is_less)
            return result;
    }
}

tz_result tz_device_read(tz_plan *plan)
{
    const bool on_device = plan->device->on_device;
    tz_error failed = {.result = TZ_OK}, *err = plan->ctx.err;
    bool is_full;
    plan->ctx.err = &failed;
    const tz_result result = read_with_less(plan, &is_full);
    plan->ctx.err = err;
    const bool is_lost = result == TZ_ERR_DEVICE && !on_device;
    if ((is_full || is_lost) && !plan->options.strict_device) {
        plan->off_device = on_device;
        tz_device_plan_leave(plan, failed.message);
        return on_device ? TZ_OK : read_by_cores(plan);
    }
    if (result != TZ_OK && err)
        *err = failed;
    return result;
}
