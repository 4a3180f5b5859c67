/* SPDX-License-Identifier: Apache-2.0
 * Waves go to lanes in turn, so that the bytes of the next are read and sent up while the device
 * works on the one before: begin A, begin B, finish A, begin A, finish B, ... */
#include "read/plan.h"

#include <string.h>

#include "base/mem.h"
#include "read/gpu/gpu_slot.h"
#include "read/read_report.h"
#include "read/tile.h"

/* Reports progress in positions of the plan; done: tile reads of the wave. */
static tz_result report_gpu_progress(const tz_gpu_run *run, uint64_t done)
{
    const tz_plan *plan = run->plan;
    const tz_wave *wave = &plan->wave;
    const double fraction =
        wave->tile_read_count > 0 ? (double)done / (double)wave->tile_read_count : 1;
    return tz_check_progress(&plan->ctx, &plan->options.progress,
                             wave->begin + (uint64_t)(fraction * (double)(wave->end - wave->begin)),
                             wave->total);
}

/* The CPU decodes what the device could not, and the device stores it. */
static tz_result redo_failed(tz_gpu_run *run, tz_gpu_slot *slot)
{
    const tz_gpu_sizes budget = {run->gpu->slot_size.device, slot->redo_first};
    tz_gpu_cursor cursor = {.fetches = slot->redo,
                            .fetch_count = slot->redo_count,
                            .by_cpu = true,
                            .at = slot->redo_offsets};
    tz_gpu_batch batch;
    while (tz_gpu_batch_next(run->plan, &cursor, &budget, &batch)) {
        TZ_TRY(tz_gpu_batch_begin(run, slot, &cursor, &batch));
        TZ_TRY(tz_gpu_batch_finish(run, slot));
    }
    return TZ_OK;
}

static tz_result finish_slot(tz_gpu_run *run, tz_gpu_slot *slot, uint64_t *done)
{
    if (!slot->is_taken)
        return TZ_OK;
    slot->is_taken = false;
    *done += slot->tile_read_count;
    TZ_TRY(tz_gpu_batch_finish(run, slot));
    if (slot->redo_count > 0)
        TZ_TRY(redo_failed(run, slot));
    return report_gpu_progress(run, *done);
}

/* The lists of the plan's wave are used until its last part is done. */
static tz_result run_gpu_wave(tz_gpu_run *run)
{
    tz_gpu_cursor cursor = tz_gpu_cursor_of_wave(run->plan);
    tz_gpu_batch batch;
    unsigned next = 0;
    uint64_t done = 0;
    for (; tz_gpu_batch_next(run->plan, &cursor, &run->gpu->batch_budget, &batch);
         next = (next + 1) % run->gpu->slots) {
        tz_gpu_slot *slot = &run->slots[next];
        TZ_TRY(finish_slot(run, slot, &done));
        slot->is_taken = true;
        TZ_TRY(tz_gpu_batch_begin(run, slot, &cursor, &batch));
    }
    for (unsigned i = 0; i < run->gpu->slots; i++)
        TZ_TRY(finish_slot(run, &run->slots[(next + i) % run->gpu->slots], &done));
    return TZ_OK;
}

static void finish_gpu_report(tz_gpu_run *run)
{
    tz_report *report = &run->plan->report;
    const tz_device_use planned = report->device;
    tz_report_finish(run->plan, &run->workers, run->use.tiles);
    report->device = run->use;
    memcpy(report->device.id, planned.id, sizeof planned.id);
    memcpy(report->device.reason, planned.reason, sizeof planned.reason);
    report->device.memory = planned.memory;
    report->device.tiles_by_cores = planned.tiles_by_cores + run->fallback_count;
    report->device.tiles_redone = run->redone;
    tz_direct_note_reason(&report->device, planned.direct_reason);
}

static tz_result read_all_on_gpu(tz_gpu_run *run)
{
    tz_plan *plan = run->plan;
    TZ_TRY(tz_workers_init(&run->workers, plan));
    if (run->gpu->on_device)
        TZ_TRY(tz_device_wait_for_stream(run->gpu->device, plan->ctx.err));
    for (uint32_t i = 0; i < run->gpu->slots; i++)
        TZ_TRY(tz_gpu_slot_init(run, &run->slots[i], i));
    run->has_memory = true;
    for (size_t i = 0; plan->options.boundless && i < plan->request_count; i++)
        tz_planned_request_fill_outside(&plan->requests[i], &plan->options);
    for (uint64_t at = 0; at < plan->wave.total; at = plan->wave.end) {
        TZ_TRY(tz_plan_list_wave(plan, at));
        TZ_TRY(run_gpu_wave(run));
    }
    TZ_TRY(tz_gpu_fill_untiled(run));
    TZ_TRY(tz_plan_check_unchanged(plan));
    finish_gpu_report(run);
    return TZ_OK;
}

/* Nothing of what the device did counts. */
static tz_result read_on_cpu(tz_plan *plan)
{
    plan->report.tiles_failed = 0;
    for (size_t i = 0; i < plan->request_count; i++) {
        if (plan->requests[i].outcome)
            plan->requests[i].outcome->tiles_failed = 0;
    }
    TZ_TRY(tz_plan_reset_outcomes(plan));
    TZ_TRY(tz_plan_check_memory(plan));
    return tz_cpu_read(plan);
}

static tz_result read_once_on_gpu(tz_plan *plan, bool *has_memory)
{
    tz_gpu_run run = {.plan = plan, .gpu = plan->gpu, .lock = PTHREAD_MUTEX_INITIALIZER};
    const tz_result result = read_all_on_gpu(&run);
    for (uint32_t i = 0; i < TZ_QUEUES; i++)
        tz_gpu_slot_deinit(&run, &run.slots[i]);
    tz_workers_deinit(&run.workers);
    *has_memory = run.has_memory;
    return result;
}

/* Smaller batches where the planned ones find no memory after all: others use the device, too.
 * *is_full: even the smallest find none. */
static tz_result read_in_smaller_batches(tz_plan *plan, bool *is_full)
{
    tz_error *err = plan->ctx.err;
    for (;;) {
        tz_error ignored;
        bool has_memory;
        const tz_result result = read_once_on_gpu(plan, &has_memory);
        *is_full = tz_device_is_full(result, err) || (!has_memory && result == TZ_ERR_LIMIT);
        if (has_memory || !*is_full)
            return result;
        plan->ctx.err = &ignored;
        const uint64_t held = plan->gpu->slots * plan->gpu->slot_size.device;
        tz_gpu_plan_halve(plan);
        const bool is_less = tz_plan_measure(plan) == TZ_OK && plan->gpu &&
                             plan->gpu->slots * plan->gpu->slot_size.device < held &&
                             tz_plan_check_memory(plan) == TZ_OK;
        plan->ctx.err = err;
        if (!is_less)
            return result;
    }
}

tz_result tz_gpu_read(tz_plan *plan)
{
    const bool on_device = plan->gpu->on_device;
    tz_error failed = {.result = TZ_OK}, *err = plan->ctx.err;
    bool is_full;
    plan->ctx.err = &failed;
    const tz_result result = read_in_smaller_batches(plan, &is_full);
    plan->ctx.err = err;
    const bool is_lost = result == TZ_ERR_DEVICE && !on_device;
    if ((is_full || is_lost) && !plan->options.strict_device) {
        tz_gpu_plan_drop(plan, failed.message);
        plan->runner = on_device ? TZ_RUN_BOUNCED : TZ_RUN_CPU;
        return on_device ? TZ_OK : read_on_cpu(plan);
    }
    if (result != TZ_OK && err)
        *err = failed;
    return result;
}
