/* SPDX-License-Identifier: Apache-2.0
 * What the belt carries: batches of pieces, in the order in which they were added. */
#include "base/mem.h"
#include "write/writer.h"

/* A piece is looked for while it is not delivered, so its batch, and those after it, are there and
 * stay. */
static const tz_task_batch *find_task_batch(const tz_writer *w, uint64_t number)
{
    unsigned long long i = atomic_load(&w->batch_count) - 1;
    while (w->batches[i % TZ_MAX_TASK_BATCHES].first > number)
        i--;
    return &w->batches[i % TZ_MAX_TASK_BATCHES];
}

/* The oldest batch makes room for a new one: all its pieces, which end where the second oldest's
 * begin, must have been delivered. */
static tz_result free_oldest_batch(tz_writer *w, unsigned long long batch_count)
{
    if (batch_count < TZ_MAX_TASK_BATCHES)
        return TZ_OK;
    return tz_pipeline_wait(w->pipeline, w->batches[(batch_count + 1) % TZ_MAX_TASK_BATCHES].first,
                            w->ctx.err);
}

tz_result tz_writer_add_tasks(tz_writer *w, const tz_task_batch *batch, uint64_t task_count)
{
    if (w->device && batch->kind != TZ_TASK_COLLECT)
        return tz_gpu_writer_run_tasks(w, batch, task_count);
    const unsigned long long batch_count = atomic_load(&w->batch_count);
    TZ_TRY(free_oldest_batch(w, batch_count));
    tz_task_batch *entry = &w->batches[batch_count % TZ_MAX_TASK_BATCHES];
    *entry = *batch;
    entry->first = w->tasks_added;
    w->tasks_added += task_count;
    atomic_store(&w->batch_count, batch_count + 1);
    tz_pipeline_add(w->pipeline, task_count);
    return TZ_OK;
}

static tz_result run_writer_task(void *opaque, uint64_t number, unsigned worker, tz_error *err)
{
    tz_writer *w = opaque;
    const tz_task_batch *batch = find_task_batch(w, number);
    const uint64_t index = number - batch->first;
    tz_tile_slot *slot = &w->slots[number % w->budget.slots];
    slot->tile = batch->kind == TZ_TASK_ENCODE || batch->kind == TZ_TASK_COLLECT;
    switch (batch->kind) {
    case TZ_TASK_ENCODE:
        return tz_tile_make(w, batch, index, worker, slot, err);
    case TZ_TASK_COLLECT:
        return tz_gpu_collect_tile(w, batch, index, worker, slot, err);
    case TZ_TASK_OVERVIEW:
        tz_run_overview_task(w, batch, index, worker);
        return TZ_OK;
    default:
        tz_run_halo_task(batch);
        return TZ_OK;
    }
}

static uint64_t task_waits_for(void *opaque, uint64_t number)
{
    return find_task_batch(opaque, number)->after;
}

const tz_pipeline_ops tz_writer_pipeline_ops = {
    .run = run_writer_task, .deliver = tz_tiles_deliver, .needs = task_waits_for};
