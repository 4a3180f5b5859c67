/* SPDX-License-Identifier: Apache-2.0
 * Workers take the reads of a wave one after the other: fetch the bytes of some neighbouring tiles,
 * decode and place each, and take the next. All memory is taken before the first tile; no tile
 * allocates. */
#include "read/cpu_read.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/mem.h"
#include "base/pool.h"
#include "io/source.h"
#include "read/read_report.h"
#include "read/tile.h"

/* Tiles without data are quickly done: so many are one piece of work. */
enum { EMPTY_TILES_PER_TASK = 64 };

/* Reads that are asked for ahead where the disk is the slowest part. */
enum { READ_AHEAD = 16 };

typedef struct cpu_run {
    tz_plan *plan;
    tz_worker *workers;
    unsigned worker_count;
    pthread_mutex_t lock;      /* of the outcomes */
    uint64_t at0, at1;         /* units of the wave at hand */
    _Atomic uint64_t expected; /* fetches below this one have been asked for ahead */
} cpu_run;

/* A tile that failed: an error of the read, or noted by all who want it. */
static tz_result record_failed_tile(cpu_run *r, tz_worker *w, const tz_tile_read *tile_read,
                                    tz_result result, const tz_error *err)
{
    TZ_TRY(tz_tile_read_record_failure(r->plan, &r->lock, tile_read, result, err));
    tz_tile_store_failed(r->plan, w, tile_read);
    return TZ_OK;
}

static tz_result store_empty_tiles(cpu_run *r, tz_worker *w, size_t first, tz_error *err)
{
    const tz_wave *wave = &r->plan->wave;
    for (size_t i = first; i < wave->empty_count && i < first + EMPTY_TILES_PER_TASK; i++) {
        const tz_tile_read *tile_read = &wave->tile_reads[wave->empty[i]];
        const tz_result result = tz_tile_store_empty(r->plan, w, tile_read, err);
        if (result != TZ_OK)
            TZ_TRY(record_failed_tile(r, w, tile_read, result, err));
    }
    return TZ_OK;
}

static tz_result decode_tile(cpu_run *r, tz_worker *w, const tz_indexed_range *range,
                             uint8_t *bytes, tz_error *err)
{
    const tz_tile_read *tile_read = &r->plan->wave.tile_reads[range->index];
    const tz_result result = tz_tile_store(r->plan, w, tile_read, bytes, err);
    return result == TZ_OK ? TZ_OK : record_failed_tile(r, w, tile_read, result, err);
}

/* The common read failed: each tile on its own, so that only those fail that must. */
static tz_result read_tiles_apart(cpu_run *r, tz_worker *w, const tz_span *fetch, tz_error *err)
{
    for (size_t i = 0; i < fetch->count; i++) {
        const tz_indexed_range *range = &r->plan->wave.ranges[fetch->first + i];
        const tz_tile_read *tile_read = &r->plan->wave.tile_reads[range->index];
        const tz_result result =
            tz_tile_read_from_file(r->plan, tile_read, range->offset, range->size, w->input, err);
        if (result != TZ_OK)
            TZ_TRY(record_failed_tile(r, w, tile_read, result, err));
        else
            TZ_TRY(decode_tile(r, w, range, w->input, err));
    }
    return TZ_OK;
}

static uint64_t now_nanoseconds(void)
{
    struct timespec time;
    if (clock_gettime(CLOCK_MONOTONIC, &time) != 0)
        return 0;
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* A read that was slower than memory is had its bytes from the disk, and so will the next. */
static bool was_slow(uint64_t nanoseconds, uint64_t bytes)
{
    return nanoseconds > 50000 + bytes;
}

/* Ask for what will be read next, each part once. */
static void read_ahead(cpu_run *r, uint64_t index)
{
    const tz_wave *wave = &r->plan->wave;
    const uint64_t end =
        index + READ_AHEAD < wave->fetch_count ? index + READ_AHEAD : wave->fetch_count;
    const uint64_t known = atomic_exchange_explicit(&r->expected, end, memory_order_relaxed);
    for (uint64_t i = known > index ? known : index + 1; i < end; i++) {
        const tz_span *fetch = &wave->fetches[i];
        const tz_tile_read *tile_read = &wave->tile_reads[wave->ranges[fetch->first].index];
        tz_source_prefetch(tz_planned_request_source(tz_tile_read_request(r->plan, tile_read)),
                           fetch->offset, fetch->size);
    }
}

static tz_result read_and_decode(cpu_run *r, tz_worker *w, uint64_t index, tz_error *err)
{
    const tz_span *fetch = &r->plan->wave.fetches[index];
    const tz_indexed_range *ranges = &r->plan->wave.ranges[fetch->first];
    const tz_tile_read *tile_read = &r->plan->wave.tile_reads[ranges[0].index];
    uint8_t *in_place = tz_fetch_destination(r->plan, w, fetch);
    const uint64_t start = now_nanoseconds();
    const tz_result result = tz_tile_read_from_file(r->plan, tile_read, fetch->offset, fetch->size,
                                                    in_place ? in_place : w->input, err);
    if (was_slow(now_nanoseconds() - start, fetch->size))
        read_ahead(r, index);
    if (result != TZ_OK)
        return tz_fetch_may_fail(r->plan, fetch) ? read_tiles_apart(r, w, fetch, err) : result;
    if (in_place)
        return TZ_OK;
    for (size_t i = 0; i < fetch->count;) {
        const size_t joined =
            tz_tile_store_joined(r->plan, w, ranges + i, fetch->count - i, fetch, err);
        if (joined == 0)
            TZ_TRY(
                decode_tile(r, w, &ranges[i], w->input + (ranges[i].offset - fetch->offset), err));
        i += joined ? joined : 1;
    }
    return TZ_OK;
}

static tz_result run_task(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    cpu_run *r = user;
    const tz_wave *wave = &r->plan->wave;
    tz_worker *w = &r->workers[worker];
    if (index < wave->fetch_count)
        return read_and_decode(r, w, index, err);
    return store_empty_tiles(r, w, (size_t)(index - wave->fetch_count) * EMPTY_TILES_PER_TASK, err);
}

/* ---- waves ---- */

/* Progress goes by the units of the whole plan, not by what a wave makes of them. */
static bool report_cpu_progress(void *user, uint64_t done, uint64_t total)
{
    const cpu_run *r = user;
    const double fraction = total > 0 ? (double)done / (double)total : 1;
    const tz_progress *progress = &r->plan->options.progress;
    return progress->call(progress->user, r->at0 + (uint64_t)(fraction * (double)(r->at1 - r->at0)),
                          r->plan->tile_read_count);
}

static tz_result run_cpu_wave(cpu_run *r)
{
    const tz_wave *wave = &r->plan->wave;
    const uint64_t count = wave->fetch_count + tz_ceil_div(wave->empty_count, EMPTY_TILES_PER_TASK);
    atomic_store_explicit(&r->expected, 0, memory_order_relaxed);
    const tz_progress progress = {r->plan->options.progress.call ? report_cpu_progress : NULL, r};
    return tz_pool_run_shared(r->worker_count, count, run_task, r, &progress, &r->plan->ctx);
}

static tz_result run_cpu_waves(cpu_run *r)
{
    if (r->plan->one_wave) {
        r->at1 = r->plan->tile_read_count;
        return run_cpu_wave(r);
    }
    for (; r->at1 < r->plan->tile_read_count; r->at0 = r->at1) {
        TZ_TRY(tz_wave_next(r->plan, &r->at1));
        TZ_TRY(run_cpu_wave(r));
    }
    return TZ_OK;
}

static void mask_failed_tile(void *user, const tz_planned_request *request,
                             const tz_planned_request *mask, uint64_t tile)
{
    (void)user;
    tz_planned_request_mask_tile(request, mask, tile);
}

static tz_result read_all_on_cpu(cpu_run *r)
{
    tz_plan *plan = r->plan;
    r->workers = tz_alloc_zeroed(plan->threads, sizeof *r->workers);
    if (!r->workers)
        return tz_fail_nomem(&plan->ctx, plan->threads * sizeof *r->workers);
    r->worker_count = plan->threads;
    for (unsigned i = 0; i < plan->threads; i++)
        TZ_TRY(tz_worker_init(&r->workers[i], plan));
    for (size_t i = 0; plan->options.boundless && i < plan->request_count; i++)
        tz_planned_request_fill_outside(&plan->requests[i], &plan->options);
    TZ_TRY(run_cpu_waves(r));
    tz_plan_visit_failed_tiles(plan, mask_failed_tile, NULL);
    TZ_TRY(tz_plan_check_unchanged(plan));
    tz_report_finish(plan, r->workers, r->worker_count, 0);
    return TZ_OK;
}

tz_result tz_cpu_read(tz_plan *plan)
{
    cpu_run r = {.plan = plan, .lock = PTHREAD_MUTEX_INITIALIZER};
    const tz_result result = read_all_on_cpu(&r);
    for (unsigned i = 0; i < r.worker_count; i++)
        tz_worker_deinit(&r.workers[i]);
    tz_free(r.workers);
    return result;
}
