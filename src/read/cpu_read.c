/* SPDX-License-Identifier: Apache-2.0
 * Runs a plan on the CPU. Workers take the fetches of a wave one after the other: a worker reads
 * the bytes of some neighbouring tiles, decodes and stores each, and takes the next fetch. Tiles
 * without data are further tasks of the same wave. All memory is allocated before the first tile.
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

typedef struct cpu_run {
    tz_plan *plan;
    tz_workers workers;
    pthread_mutex_t lock;      /* of the outcomes */
    _Atomic uint64_t expected; /* fetches below this one have been asked for ahead */
} cpu_run;

/* Ends a tile with its result. One that failed is an error of the read, unless the outcomes of all
 * its requests have a list; its pixels are nodata then. */
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
    for (uint64_t i = tz_max(known, index + 1); i < end; i++) {
        const tz_span *fetch = &wave->fetches[i];
        const tz_tile_read *tile_read = tz_fetch_tile_read(wave, fetch, 0);
        tz_source_prefetch(tz_planned_request_source(tz_tile_read_request(wave, tile_read, 0)),
                           fetch->offset, fetch->size);
    }
}

/* Runs one fetch. Its bytes go to the buffer if they are its pixels, else to the worker's input,
 * and from there tile by tile, or several uncompressed ones together. If the fetch fails, each of
 * its tiles is read on its own, so that only those fail that must. */
static tz_result read_and_store(cpu_run *r, tz_worker *w, uint64_t index, tz_error *err)
{
    const tz_wave *wave = &r->plan->wave;
    const tz_span *fetch = &wave->fetches[index];
    const tz_indexed_range *ranges = &wave->ranges[fetch->first];
    uint8_t *destination = tz_fetch_destination(r->plan, w, fetch);
    const uint64_t start = now_nanoseconds();
    tz_result result =
        tz_tile_read_from_file(wave, tz_fetch_tile_read(wave, fetch, 0), fetch->offset, fetch->size,
                               destination ? destination : w->input, err);
    /* slower than memory: these bytes came from the disk, and so will the next */
    if (now_nanoseconds() - start > 50000 + fetch->size)
        read_ahead(r, index);
    if (result != TZ_OK && !tz_fetch_may_fail(wave, fetch))
        return result;
    if (result != TZ_OK) {
        for (size_t i = 0; i < fetch->count; i++) {
            const tz_tile_read *tile_read = tz_fetch_tile_read(wave, fetch, i);
            result = tz_tile_read_from_file(wave, tile_read, ranges[i].offset, ranges[i].size,
                                            w->input, err);
            if (result == TZ_OK)
                result = tz_tile_store(r->plan, w, tile_read, w->input, err);
            TZ_TRY(end_tile(r, w, tile_read, result, err));
        }
        return TZ_OK;
    }
    for (size_t i = 0; !destination && i < fetch->count;) {
        const tz_tile_read *tile_read = tz_fetch_tile_read(wave, fetch, i);
        uint8_t *bytes = w->input + (ranges[i].offset - fetch->offset);
        const size_t joined =
            tz_tile_store_joined(r->plan, w, ranges + i, fetch->count - i, fetch, err);
        if (joined == 0) {
            result = tz_tile_store(r->plan, w, tile_read, bytes, err);
            TZ_TRY(end_tile(r, w, tile_read, result, err));
        }
        i += joined ? joined : 1;
    }
    return TZ_OK;
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

/* Pixels outside the level are filled first: no tile stores to them. Masks of failed tiles come
 * last, as another request may have stored its mask over them. */
static tz_result run_waves(cpu_run *r)
{
    tz_plan *plan = r->plan;
    const tz_wave *wave = &plan->wave;
    const tz_progress progress = {plan->options.progress.call ? report_cpu_progress : NULL, r};
    TZ_TRY(tz_workers_init(&r->workers, plan));
    for (size_t i = 0; plan->options.boundless && i < plan->request_count; i++)
        tz_planned_request_fill_outside(&plan->requests[i], &plan->options);
    for (uint64_t at = 0; at < wave->total; at = wave->end) {
        TZ_TRY(tz_plan_list_wave(plan, at));
        atomic_store_explicit(&r->expected, 0, memory_order_relaxed);
        TZ_TRY(tz_pool_run_shared(r->workers.count,
                                  wave->fetch_count +
                                      tz_ceil_div(wave->empty_count, EMPTY_TILES_PER_TASK),
                                  run_task, r, &progress, &plan->ctx));
    }
    tz_plan_visit_failed_tiles(plan, tz_planned_request_mask_tile, NULL);
    TZ_TRY(tz_plan_check_unchanged(plan));
    tz_report_finish(plan, &r->workers, 0);
    return TZ_OK;
}

tz_result tz_cpu_read(tz_plan *plan)
{
    cpu_run r = {.plan = plan, .lock = PTHREAD_MUTEX_INITIALIZER};
    const tz_result result = run_waves(&r);
    tz_workers_deinit(&r.workers);
    return result;
}
