/* SPDX-License-Identifier: Apache-2.0
 * Runs a plan on the CPU. Workers take the fetches of a wave one after the other: a worker reads
 * the bytes of some neighbouring tiles, decodes and stores each, and takes the next fetch. Tiles
 * without data are further tasks of the same wave. All memory is allocated before the first tile.
 *
 * If a source wants to be called on the calling thread only, that thread fetches, some fetches
 * ahead of the workers, and these decode: see "fetches by the calling thread".
 *
 * The decision that is not obvious: nothing is read ahead until a fetch was slower than memory is.
 * A file in the page cache needs no hints, and each of them is a system call. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/mem.h"
#include "base/pool.h"
#include "io/source.h"
#include "read/tile.h"

/* Tiles without data are quickly done: this many are one task. */
enum { EMPTY_TILES_PER_TASK = 64 };

/* Fetches that are asked for ahead if the disk is slower than the CPU. */
enum { READ_AHEAD = 16 };

/* A task of a wave that the calling thread prepares for the workers. */
typedef struct ahead_task {
    uint8_t *input; /* a buffer for its bytes; a worker that takes the task swaps it for its own */
    tz_source *source; /* that was asked for them; NULL: the worker does all of the task */
    tz_range range;
    tz_request request;
    bool has_failed; /* submit has */
    bool is_stored;  /* nothing is left to do */
} ahead_task;

/* The tasks of a wave, if the calling thread fetches. They are submitted, become ready and are
 * taken in order: taken <= ready <= submitted <= taken + capacity. Task n is at n % capacity. */
typedef struct ahead_queue {
    uint8_t *memory; /* of all buffers */
    ahead_task *tasks;
    uint64_t capacity;
    pthread_mutex_t lock;    /* of the next members */
    pthread_cond_t is_ready; /* a task is ready, or none will be */
    uint64_t count;          /* tasks to run; less after a failure or a cancellation */
    uint64_t ready;
    uint64_t taken;
    uint64_t done;
    tz_result result; /* of task number count, if that failed */
    tz_error error;
    /* of the calling thread */
    uint64_t submitted;
    uint64_t total; /* tasks of the wave */
    tz_progress progress;
    tz_result cancelled;
} ahead_queue;

typedef struct cpu_run {
    tz_plan *plan;
    tz_workers workers;
    pthread_mutex_t lock;      /* of the outcomes */
    _Atomic uint64_t expected; /* fetches below this one have been asked for ahead */
    ahead_queue ahead;         /* capacity 0: workers fetch */
} cpu_run;

/* Ends a tile with its result. One that failed is an error of the read, unless tiles may fail; its
 * pixels are nodata then. */
static tz_result end_tile(cpu_run *r, tz_worker *w, const tz_tile_read *tile_read, tz_result result,
                          const tz_error *err)
{
    if (result == TZ_OK)
        return TZ_OK;
    TZ_TRY(tz_tile_read_record_failure(r->plan, &r->lock, tile_read, result, err));
    tz_tile_store_failed(r->plan, w, tile_read);
    return TZ_OK;
}

/* 0 if there is no clock: then no fetch is slow, and nothing is read ahead. */
static uint64_t now_nanoseconds(void)
{
    struct timespec time;
    if (clock_gettime(CLOCK_MONOTONIC, &time) != 0)
        return 0;
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static tz_source *fetch_source(const tz_wave *wave, const tz_span *fetch)
{
    const tz_tile_read *tile_read = tz_fetch_tile_read(wave, fetch, 0);
    return tz_planned_request_source(tz_tile_read_request(wave, tile_read, 0));
}

/* Asks for the fetches after this one, each once over all workers. */
static void read_ahead(cpu_run *r, uint64_t index)
{
    const tz_wave *wave = &r->plan->wave;
    const uint64_t end = tz_min(index + READ_AHEAD, wave->fetch_count);
    uint64_t known = atomic_load_explicit(&r->expected, memory_order_relaxed);
    /* Only upwards: a slower worker must not make the others ask again. */
    while (known < end &&
           !atomic_compare_exchange_weak_explicit(&r->expected, &known, end, memory_order_relaxed,
                                                  memory_order_relaxed))
        continue;
    tz_range ranges[READ_AHEAD];
    size_t count = 0; /* of one source */
    tz_source *source = NULL;
    for (uint64_t i = tz_max(known, index + 1); i < end; i++) {
        const tz_span *fetch = &wave->fetches[i];
        tz_source *next = fetch_source(wave, fetch);
        if (r->ahead.capacity > 0 && !next->caller_thread)
            continue;
        if (count > 0 && next != source) {
            tz_source_prefetch(source, ranges, count);
            count = 0;
        }
        source = next;
        ranges[count++] = (tz_range){fetch->offset, (size_t)fetch->size, NULL};
    }
    if (count > 0)
        tz_source_prefetch(source, ranges, count);
}

/* Reads each tile of a fetch that failed on its own, so that only those fail that must. */
static tz_result read_tiles_alone(cpu_run *r, tz_worker *w, const tz_span *fetch, tz_error *err)
{
    const tz_wave *wave = &r->plan->wave;
    const tz_indexed_range *ranges = &wave->ranges[fetch->first];
    for (size_t i = 0; i < fetch->count; i++) {
        const tz_tile_read *tile_read = tz_fetch_tile_read(wave, fetch, i);
        tz_result result = tz_tile_read_from_file(wave, tile_read, ranges[i].offset, ranges[i].size,
                                                  w->input, err);
        if (result == TZ_OK)
            result = tz_tile_store(r->plan, w, tile_read, w->input, err);
        TZ_TRY(end_tile(r, w, tile_read, result, err));
    }
    return TZ_OK;
}

/* Stores the tiles of a fetch whose bytes are the worker's input: tile by tile, or several
 * uncompressed ones together. */
static tz_result store_input(cpu_run *r, tz_worker *w, const tz_span *fetch, tz_error *err)
{
    const tz_wave *wave = &r->plan->wave;
    const tz_indexed_range *ranges = &wave->ranges[fetch->first];
    for (size_t i = 0; i < fetch->count;) {
        const tz_tile_read *tile_read = tz_fetch_tile_read(wave, fetch, i);
        uint8_t *bytes = w->input + (ranges[i].offset - fetch->offset);
        const size_t joined =
            tz_tile_store_joined(r->plan, w, ranges + i, fetch->count - i, fetch, err);
        if (joined == 0) {
            const tz_result result = tz_tile_store(r->plan, w, tile_read, bytes, err);
            TZ_TRY(end_tile(r, w, tile_read, result, err));
        }
        i += joined ? joined : 1;
    }
    return TZ_OK;
}

/* Runs one fetch. Its bytes go to the buffer if they are its pixels, else to the worker's input,
 * and from there to the buffer. */
static tz_result read_and_store(cpu_run *r, tz_worker *w, uint64_t index, tz_error *err)
{
    const tz_wave *wave = &r->plan->wave;
    const tz_span *fetch = &wave->fetches[index];
    uint8_t *destination = tz_fetch_destination(r->plan, w, fetch);
    const uint64_t start = now_nanoseconds();
    const tz_result result =
        tz_tile_read_from_file(wave, tz_fetch_tile_read(wave, fetch, 0), fetch->offset, fetch->size,
                               destination ? destination : w->input, err);
    /* slower than memory: these bytes came from the disk, and so will the next */
    if (now_nanoseconds() - start > 50000 + fetch->size && r->ahead.capacity == 0)
        read_ahead(r, index);
    if (result != TZ_OK)
        return wave->salvage ? read_tiles_alone(r, w, fetch, err) : result;
    return destination ? TZ_OK : store_input(r, w, fetch, err);
}

/* One task of a wave: a fetch or, after all fetches, some tiles without data. */
static tz_result run_task(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    cpu_run *r = user;
    const tz_wave *wave = &r->plan->wave;
    tz_worker *w = &r->workers.list[worker];
    if (index < wave->fetch_count)
        return read_and_store(r, w, index, err);
    const size_t first = (size_t)(index - wave->fetch_count) * EMPTY_TILES_PER_TASK;
    const size_t end = tz_min_size(first + EMPTY_TILES_PER_TASK, wave->empty_count);
    for (size_t i = first; i < end; i++) {
        const tz_tile_read *tile_read = &wave->tile_reads[wave->empty[i]];
        const tz_result result = tz_tile_store_empty(r->plan, w, tile_read, err);
        TZ_TRY(end_tile(r, w, tile_read, result, err));
    }
    return TZ_OK;
}

/* Progress is counted in positions of the whole plan, not in the tasks of a wave. */
static bool report_cpu_progress(void *user, uint64_t done, uint64_t total)
{
    const cpu_run *r = user;
    const tz_wave *wave = &r->plan->wave;
    const double fraction = total > 0 ? (double)done / (double)total : 1;
    const tz_progress *progress = &r->plan->options.progress;
    return progress->call(progress->user,
                          wave->begin + (uint64_t)(fraction * (double)(wave->end - wave->begin)),
                          wave->total);
}

/* ---- fetches by the calling thread ----
 *
 * The calling thread is worker 0 of a run of the pool, in which it never waits for another thread:
 *
 *   submit   the next fetches, as long as there are free buffers
 *   ready    waits for the oldest of them and hands it to the workers
 *   run      takes a task itself if all buffers are full of bytes that wait to be decoded
 *
 * Other workers wait for tasks that are ready. So the read ends even if no other thread can be
 * started. A buffer is free as soon as its task is taken, because the worker swaps it for its own.
 * Tasks that need no such fetch, of other sources or without data, pass through the same queue and
 * are done by the worker that takes them. */

static tz_result open_ahead(cpu_run *r)
{
    ahead_queue *q = &r->ahead;
    const size_t stride = (tz_plan_input_bytes(r->plan) + TZ_CODEC_SLACK + 63) / 64 * 64;
    const size_t capacity = tz_plan_fetches_ahead(r->plan, r->workers.count);
    if (capacity == 0)
        return TZ_OK;
    q->memory = tz_alloc_array(capacity + 1, stride);
    q->tasks = tz_alloc_zeroed(capacity, sizeof *q->tasks);
    if (!q->memory || !q->tasks)
        return tz_fail_nomem(&r->plan->ctx, tz_mul_capped(capacity + 1, stride));
    for (size_t i = 0; i < capacity; i++)
        q->tasks[i].input = q->memory + (64 - (uintptr_t)q->memory % 64) % 64 + i * stride;
    q->capacity = capacity;
    return TZ_OK;
}

static void close_ahead(ahead_queue *q)
{
    tz_free(q->memory);
    tz_free(q->tasks);
}

/* Records that a task failed. No task after it is taken; those before it run to their end, and the
 * first of all that fail is the error of the read, whichever thread was first. */
static void fail_task(ahead_queue *q, uint64_t number, tz_result result, const tz_error *err)
{
    pthread_mutex_lock(&q->lock);
    if (number < q->count) {
        q->count = number;
        q->result = result;
        q->error = *err;
    }
    pthread_cond_broadcast(&q->is_ready);
    pthread_mutex_unlock(&q->lock);
}

/* After a cancellation: no further task is taken, and none has failed. */
static void drop_tasks(ahead_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->count = tz_min(q->count, q->taken);
    pthread_cond_broadcast(&q->is_ready);
    pthread_mutex_unlock(&q->lock);
}

/* Submits the fetch of a task, if the calling thread has to. False: the read has failed. */
static bool submit_task(cpu_run *r, uint64_t number)
{
    const tz_wave *wave = &r->plan->wave;
    ahead_task *task = &r->ahead.tasks[number % r->ahead.capacity];
    task->source = NULL;
    task->has_failed = false;
    task->is_stored = false;
    if (number >= wave->fetch_count)
        return true;
    const tz_span *fetch = &wave->fetches[number];
    if (!fetch_source(wave, fetch)->caller_thread)
        return true;
    tz_error err = {.result = TZ_OK};
    const tz_context ctx = tz_tile_read_context(wave, tz_fetch_tile_read(wave, fetch, 0), &err);
    uint8_t *destination = tz_fetch_destination(r->plan, &r->workers.list[0], fetch);
    task->source = fetch_source(wave, fetch);
    task->is_stored = destination != NULL;
    task->range =
        (tz_range){fetch->offset, (size_t)fetch->size, destination ? destination : task->input};
    task->request = (tz_request){&task->range, 1, NULL};
    const tz_result result = tz_source_submit(task->source, &task->request, &ctx);
    task->has_failed = result != TZ_OK;
    if (result == TZ_OK || wave->salvage)
        return true;
    fail_task(&r->ahead, number, result, &err);
    return false;
}

/* Waits for the oldest fetch under way and makes its task ready. The tiles of a fetch that failed
 * are read here, one by one. */
static void make_oldest_ready(cpu_run *r)
{
    ahead_queue *q = &r->ahead;
    const tz_wave *wave = &r->plan->wave;
    const uint64_t number = q->ready; /* only this thread changes it */
    ahead_task *task = &q->tasks[number % q->capacity];
    pthread_mutex_lock(&q->lock);
    const bool is_wanted = number < q->count;
    pthread_mutex_unlock(&q->lock);
    if (task->source) {
        const tz_span *fetch = &wave->fetches[number];
        tz_error err = {.result = TZ_OK};
        const tz_context ctx = tz_tile_read_context(wave, tz_fetch_tile_read(wave, fetch, 0), &err);
        tz_result result = TZ_OK;
        if (!task->has_failed)
            result = tz_source_wait(task->source, &task->request, &ctx);
        if ((task->has_failed || result != TZ_OK) && is_wanted && wave->salvage) {
            result = read_tiles_alone(r, &r->workers.list[0], fetch, &err);
            task->is_stored = true;
        }
        if (result != TZ_OK)
            fail_task(q, number, result, &err);
    }
    pthread_mutex_lock(&q->lock);
    q->ready++;
    pthread_cond_signal(&q->is_ready);
    pthread_mutex_unlock(&q->lock);
}

/* Takes the next task and runs it, if one is ready; wait: waits until one is, or none will be. */
static void run_ready_task(cpu_run *r, unsigned worker, bool wait)
{
    ahead_queue *q = &r->ahead;
    const tz_wave *wave = &r->plan->wave;
    tz_worker *w = &r->workers.list[worker];
    tz_error err = {.result = TZ_OK};
    tz_result result = TZ_OK;
    pthread_mutex_lock(&q->lock);
    while (wait && q->taken == q->ready && q->taken < q->count)
        pthread_cond_wait(&q->is_ready, &q->lock);
    if (q->taken == q->ready || q->taken >= q->count) {
        pthread_mutex_unlock(&q->lock);
        return;
    }
    const uint64_t number = q->taken++;
    ahead_task *task = &q->tasks[number % q->capacity];
    const bool is_fetched = task->source != NULL;
    const bool is_stored = task->is_stored;
    if (is_fetched) {
        uint8_t *bytes = task->input;
        task->input = w->input;
        w->input = bytes;
    }
    if (q->taken >= q->count)
        pthread_cond_broadcast(&q->is_ready); /* nobody needs to wait any more */
    pthread_mutex_unlock(&q->lock);
    if (!is_fetched)
        result = run_task(r, number, worker, &err);
    else if (!is_stored)
        result = store_input(r, w, &wave->fetches[number], &err);
    if (result != TZ_OK)
        fail_task(q, number, result, &err);
    pthread_mutex_lock(&q->lock);
    q->done++;
    pthread_mutex_unlock(&q->lock);
}

/* The part of the calling thread, until no task is left to be fetched or run. Every request that
 * was submitted is waited for, also after a failure. */
static void feed_workers(cpu_run *r)
{
    ahead_queue *q = &r->ahead;
    for (;;) {
        pthread_mutex_lock(&q->lock);
        const uint64_t done = q->done;
        const uint64_t end = tz_min(q->count, q->taken + q->capacity);
        const bool is_over = q->taken >= q->count && q->ready == q->submitted;
        pthread_mutex_unlock(&q->lock);
        if (is_over)
            return;
        if (q->cancelled == TZ_OK) {
            q->cancelled = tz_check_progress(&r->plan->ctx, &q->progress, done, q->total);
            if (q->cancelled != TZ_OK)
                drop_tasks(q);
        }
        if (q->cancelled == TZ_OK && q->submitted < end) {
            read_ahead(r, end - 1);
            while (q->submitted < end && submit_task(r, q->submitted++))
                continue;
        }
        if (q->ready < q->submitted)
            make_oldest_ready(r);
        else
            run_ready_task(r, 0, false);
    }
}

static tz_result run_ahead(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    cpu_run *r = user;
    (void)index, (void)err;
    if (worker == 0)
        feed_workers(r);
    else
        run_ready_task(r, worker, true);
    return TZ_OK;
}

/* Runs the tasks of a wave. A worker takes one task for each index of the pool's run. There are as
 * many more indices as threads, so that one is left for the calling thread: before it has one, no
 * task is ready, and no other thread ends its first. */
static tz_result run_wave_ahead(cpu_run *r, uint64_t tasks, const tz_progress *progress)
{
    ahead_queue *q = &r->ahead;
    const tz_context *ctx = &r->plan->ctx;
    q->progress = *progress;
    q->total = q->count = tasks;
    q->submitted = q->ready = q->taken = q->done = 0;
    TZ_TRY(tz_pool_run_shared(r->workers.count, tasks + r->workers.count, run_ahead, r, NULL, ctx));
    if (q->result != TZ_OK && ctx->err)
        *ctx->err = q->error;
    if (q->result != TZ_OK || q->cancelled != TZ_OK)
        return q->result != TZ_OK ? q->result : q->cancelled;
    return tz_check_progress(ctx, progress, tasks, tasks);
}

/* ---- waves ---- */

/* Pixels outside the level are filled first: no tile stores to them. Masks of failed tiles come
 * last, as another request may have stored its mask over them. */
static tz_result run_waves(cpu_run *r)
{
    tz_plan *plan = r->plan;
    const tz_wave *wave = &plan->wave;
    const tz_progress progress = {plan->options.progress.call ? report_cpu_progress : NULL, r};
    TZ_TRY(tz_workers_init(&r->workers, plan));
    TZ_TRY(open_ahead(r));
    for (size_t i = 0; plan->options.boundless && i < plan->request_count; i++)
        tz_planned_request_fill_outside(&plan->requests[i], &plan->options);
    for (uint64_t at = 0; at < wave->total; at = wave->end) {
        TZ_TRY(tz_plan_list_wave(plan, at));
        atomic_store_explicit(&r->expected, 0, memory_order_relaxed);
        const uint64_t tasks =
            wave->fetch_count + tz_ceil_div(wave->empty_count, EMPTY_TILES_PER_TASK);
        if (r->ahead.capacity > 0 && tasks > 0)
            TZ_TRY(run_wave_ahead(r, tasks, &progress));
        else
            TZ_TRY(tz_pool_run_shared(r->workers.count, tasks, run_task, r, &progress, &plan->ctx));
    }
    tz_plan_visit_failed_tiles(plan, tz_planned_request_mask_tile, NULL);
    TZ_TRY(tz_plan_check_unchanged(plan));
    tz_report_finish(plan, &r->workers, 0);
    return TZ_OK;
}

tz_result tz_cpu_read(tz_plan *plan)
{
    cpu_run r = {
        .plan = plan,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .ahead = {.lock = PTHREAD_MUTEX_INITIALIZER, .is_ready = PTHREAD_COND_INITIALIZER}};
    const tz_result result = run_waves(&r);
    if (result != TZ_OK)
        tz_report_collect_warnings(plan, &r.workers);
    close_ahead(&r.ahead);
    tz_workers_deinit(&r.workers);
    return result;
}
