/* SPDX-License-Identifier: Apache-2.0
 * The threads of a write, and below them the batches of tasks that they run.
 *
 * One lock guards the counters added >= next >= delivered. A thread takes the task number next,
 * runs it without the lock and marks its slot as finished; a thread that finds the slot of
 * delivered finished delivers a run of such slots, also without the lock. Delivery goes first
 * because it frees slots. Nobody is woken for a finished task: the thread that ran the task which
 * is due delivers it, or another thread is delivering and finds it afterwards.
 *
 * With deliver_in_wait, delivery is left to the calling thread (worker 0), and the thread that ran
 * the task which is due wakes it.
 *
 * The decision that is not obvious: once all slots are full, no task is started until half of them
 * are free. Waking a thread for every slot would cost more than it gains. */
#include "write/pipeline.h"

#include <pthread.h>

#include "base/mem.h"
#include "base/pool.h"
#include "write/writer.h"

typedef struct pipeline_worker {
    tz_pipeline *pipeline;
    unsigned worker;
    pthread_t thread;
} pipeline_worker;

struct tz_pipeline {
    tz_pipeline_ops ops;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a waiting thread may find something to do, or the end of its wait */
    uint64_t added;
    uint64_t next;       /* task to run */
    uint64_t delivered;  /* all tasks below */
    uint64_t awaited;    /* by tz_pipeline_wait; 0: no thread waits */
    bool full;           /* all slots were taken, and fewer than half of them are free again */
    uint64_t held_until; /* the next task waits until all below this are delivered */
    unsigned busy;       /* threads in run or deliver */
    bool delivering;
    bool closing;
    tz_result failed;
    uint64_t failed_number;
    tz_error error;
    size_t max_delivery;
    uint32_t slots;
    bool *finished; /* by slot */
    unsigned thread_count;
    unsigned started;
    pipeline_worker workers[]; /* threads other than the caller's */
};

/* The failure with the lowest number wins, so that the reported error does not depend on
 * threads. */
static void record_failure(tz_pipeline *pipeline, uint64_t number, tz_result result,
                           const tz_error *err)
{
    if (pipeline->failed != TZ_OK && pipeline->failed_number <= number)
        return;
    pipeline->failed = result;
    pipeline->failed_number = number;
    pipeline->error = *err;
}

/* ---- one step: the lock is held before and after ---- */

/* Delivers all finished tasks that are due, up to max_delivery. Threads are woken only if the
 * delivery changed something that they wait for. */
static void deliver_finished_tasks(tz_pipeline *pipeline)
{
    const uint64_t first = pipeline->delivered;
    size_t count = 0;
    tz_error err = {0};
    while (first + count < pipeline->next && count < pipeline->max_delivery &&
           count < pipeline->slots && pipeline->finished[(first + count) % pipeline->slots])
        count++;
    pipeline->delivering = true;
    pipeline->busy++;
    pthread_mutex_unlock(&pipeline->lock);
    const tz_result result = pipeline->ops.deliver(pipeline->ops.user, first, count, &err);
    pthread_mutex_lock(&pipeline->lock);
    pipeline->busy--;
    pipeline->delivering = false;
    const bool was_full = pipeline->full;
    const bool was_held = pipeline->held_until > pipeline->delivered;
    if (result == TZ_OK) {
        for (size_t i = 0; i < count; i++)
            pipeline->finished[(first + i) % pipeline->slots] = false;
        pipeline->delivered = first + count;
        if (pipeline->next - pipeline->delivered <= pipeline->slots / 2)
            pipeline->full = false;
    } else {
        record_failure(pipeline, first, result, &err);
    }
    const bool arrived = pipeline->awaited > 0 && pipeline->delivered >= pipeline->awaited;
    const bool released = was_held && pipeline->held_until <= pipeline->delivered;
    if (arrived || was_full != pipeline->full || released || pipeline->failed != TZ_OK)
        pthread_cond_broadcast(&pipeline->changed);
}

/* The number is taken under the lock, so that tasks start in order. */
static void run_next_task(tz_pipeline *pipeline, unsigned worker)
{
    const uint64_t number = pipeline->next++;
    tz_error err = {0};
    pipeline->busy++;
    pipeline->full = pipeline->next - pipeline->delivered >= pipeline->slots;
    pthread_mutex_unlock(&pipeline->lock);
    const tz_result result = pipeline->ops.run(pipeline->ops.user, number, worker, &err);
    pthread_mutex_lock(&pipeline->lock);
    pipeline->busy--;
    if (result == TZ_OK)
        pipeline->finished[number % pipeline->slots] = true;
    else
        record_failure(pipeline, number, result, &err);
    const bool is_due = pipeline->ops.deliver_in_wait && number == pipeline->delivered;
    if (pipeline->failed != TZ_OK || (is_due && worker > 0))
        pthread_cond_broadcast(&pipeline->changed);
}

/* Returns false if there is nothing to do at present. Notes the tasks that the next one waits for,
 * so that their delivery wakes the threads. */
static bool run_or_deliver(tz_pipeline *pipeline, unsigned worker)
{
    const tz_pipeline_ops *ops = &pipeline->ops;
    if (pipeline->failed != TZ_OK)
        return false;
    if (!pipeline->delivering && (worker == 0 || !ops->deliver_in_wait) &&
        pipeline->delivered < pipeline->next &&
        pipeline->finished[pipeline->delivered % pipeline->slots]) {
        deliver_finished_tasks(pipeline);
        return true;
    }
    if (pipeline->closing || pipeline->next == pipeline->added || pipeline->full)
        return false;
    pipeline->held_until = ops->needs ? ops->needs(ops->user, pipeline->next) : 0;
    if (pipeline->held_until > pipeline->delivered)
        return false;
    run_next_task(pipeline, worker);
    return true;
}

/* ---- threads ---- */

/* Waits without a timeout: every change that gives work broadcasts. */
static void *pipeline_worker_main(void *argument)
{
    pipeline_worker *self = argument;
    tz_pipeline *pipeline = self->pipeline;
    pthread_mutex_lock(&pipeline->lock);
    while (!pipeline->closing) {
        if (!run_or_deliver(pipeline, self->worker))
            pthread_cond_wait(&pipeline->changed, &pipeline->lock);
    }
    pthread_mutex_unlock(&pipeline->lock);
    return NULL;
}

uint64_t tz_pipeline_bytes(unsigned threads, uint32_t slots)
{
    return sizeof(tz_pipeline) + (uint64_t)threads * sizeof(pipeline_worker) + slots * sizeof(bool);
}

tz_result tz_pipeline_open(tz_pipeline **out, unsigned threads, uint32_t slots, size_t max_delivery,
                           const tz_pipeline_ops *ops, const tz_context *ctx)
{
    tz_pipeline *pipeline =
        tz_alloc_zeroed(1, sizeof *pipeline + threads * sizeof pipeline->workers[0]);
    bool *finished = tz_alloc_zeroed(slots, sizeof *finished);
    if (!pipeline || !finished) {
        tz_free(pipeline);
        tz_free(finished);
        return tz_fail_nomem(ctx, tz_pipeline_bytes(threads, slots));
    }
    pipeline->ops = *ops;
    pipeline->thread_count = threads;
    pipeline->slots = slots;
    pipeline->finished = finished;
    pipeline->max_delivery = max_delivery;
    pthread_mutex_init(&pipeline->lock, NULL);
    pthread_cond_init(&pipeline->changed, NULL);
    *out = pipeline;
    return TZ_OK;
}

void tz_pipeline_add(tz_pipeline *pipeline, uint64_t count)
{
    pthread_mutex_lock(&pipeline->lock);
    pipeline->added += count;
    /* A single task needs no other thread. */
    while (pipeline->added - pipeline->delivered > 1 &&
           pipeline->started + 1 < pipeline->thread_count) {
        pipeline_worker *self = &pipeline->workers[pipeline->started];
        *self = (pipeline_worker){.pipeline = pipeline, .worker = pipeline->started + 1};
        if (tz_start_thread(&self->thread, pipeline_worker_main, self) != 0)
            break;
        pipeline->started++;
    }
    pthread_cond_broadcast(&pipeline->changed);
    pthread_mutex_unlock(&pipeline->lock);
}

/* Returns the number of delivered tasks that tick was called with. Other threads may have delivered
 * more since then. */
static uint64_t report_delivered(tz_pipeline *pipeline)
{
    const uint64_t delivered = pipeline->delivered;
    tz_error err = {0};
    if (!pipeline->ops.tick || pipeline->failed != TZ_OK)
        return delivered;
    pthread_mutex_unlock(&pipeline->lock);
    const tz_result result = pipeline->ops.tick(pipeline->ops.user, delivered, &err);
    pthread_mutex_lock(&pipeline->lock);
    if (result != TZ_OK)
        record_failure(pipeline, delivered, result, &err);
    return delivered;
}

/* tick runs between tasks without the lock, so tasks may be delivered in the meantime: the
 * wait ends only when tick has been called with number or more. */
tz_result tz_pipeline_wait(tz_pipeline *pipeline, uint64_t number, tz_error *err)
{
    pthread_mutex_lock(&pipeline->lock);
    pipeline->awaited = number;
    uint64_t reported = report_delivered(pipeline);
    while (pipeline->failed == TZ_OK && reported < number) {
        if (pipeline->delivered < number && !run_or_deliver(pipeline, 0))
            pthread_cond_wait(&pipeline->changed, &pipeline->lock);
        reported = report_delivered(pipeline);
    }
    while (pipeline->failed != TZ_OK && pipeline->busy > 0)
        pthread_cond_wait(&pipeline->changed, &pipeline->lock);
    pipeline->awaited = 0;
    pthread_cond_broadcast(&pipeline->changed); /* others may take the next task */
    const tz_result result = pipeline->failed;
    if (result != TZ_OK && err)
        *err = pipeline->error;
    pthread_mutex_unlock(&pipeline->lock);
    return result;
}

/* Tasks that were added but not started are dropped. */
void tz_pipeline_close(tz_pipeline *pipeline)
{
    if (!pipeline)
        return;
    pthread_mutex_lock(&pipeline->lock);
    pipeline->closing = true;
    pthread_cond_broadcast(&pipeline->changed);
    pthread_mutex_unlock(&pipeline->lock);
    for (unsigned i = 0; i < pipeline->started; i++)
        pthread_join(pipeline->workers[i].thread, NULL);
    pthread_cond_destroy(&pipeline->changed);
    pthread_mutex_destroy(&pipeline->lock);
    tz_free(pipeline->finished);
    tz_free(pipeline);
}

/* ---- batches of a write ---- */

/* Called only for tasks that are not delivered yet: their batch, and those after it, are in the
 * ring. */
static const tz_task_batch *find_task_batch(const tz_writer *w, uint64_t number)
{
    unsigned long long i = atomic_load(&w->batch_count) - 1;
    while (w->batches[i % TZ_MAX_TASK_BATCHES].first > number)
        i--;
    return &w->batches[i % TZ_MAX_TASK_BATCHES];
}

tz_result tz_writer_add_tasks(tz_writer *w, tz_task_run *run, const tz_task_batch *batch,
                              uint64_t task_count)
{
    const unsigned long long batch_count = atomic_load(&w->batch_count);
    /* The oldest batch is replaced. All its tasks, which end before the first task of the second
     * oldest, must be delivered. */
    if (batch_count >= TZ_MAX_TASK_BATCHES)
        TZ_TRY(tz_pipeline_wait(
            w->pipeline, w->batches[(batch_count + 1) % TZ_MAX_TASK_BATCHES].first, w->ctx.err));
    tz_task_batch *entry = &w->batches[batch_count % TZ_MAX_TASK_BATCHES];
    *entry = *batch;
    entry->run = run;
    entry->first = w->tasks_added;
    w->tasks_added += task_count;
    atomic_store(&w->batch_count, batch_count + 1);
    tz_pipeline_add(w->pipeline, task_count);
    return TZ_OK;
}

tz_result tz_writer_run_task(void *opaque, uint64_t number, unsigned worker, tz_error *err)
{
    tz_writer *w = opaque;
    const tz_task_batch *batch = find_task_batch(w, number);
    return batch->run(w, batch, number - batch->first, worker,
                      &w->encoder.slots[number % w->budget.slots], err);
}

uint64_t tz_writer_task_needs(void *opaque, uint64_t number)
{
    return find_task_batch(opaque, number)->after;
}
