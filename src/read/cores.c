/* SPDX-License-Identifier: Apache-2.0
 * Workers take the reads of a wave one after the other: fetch the bytes of some neighbouring tiles,
 * decode and place each, and take the next. All memory is taken before the first tile; no tile
 * allocates. */
#include "read/cores.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/mem.h"
#include "base/pool.h"
#include "io/source.h"
#include "read/report.h"
#include "read/tile.h"

/* Tiles without data are quickly done: so many are one piece of work. */
enum { EMPTY_RUN = 64 };

/* Reads that are asked for ahead where the disk is the slowest part. */
enum { READ_AHEAD = 16 };

typedef struct run {
    tz_plan *plan;
    tz_worker *workers;
    unsigned worker_count;
    pthread_mutex_t lock;      /* of the outcomes */
    uint64_t at0, at1;         /* units of the wave at hand */
    _Atomic uint64_t expected; /* fetches below this one have been asked for ahead */
} run;

/* A tile that failed: an error of the read, or noted by all who want it. */
static tz_result settle(run *r, tz_worker *w, const tz_unit *unit, tz_result result,
                        const tz_error *err)
{
    TZ_TRY(tz_unit_settle(r->plan, &r->lock, unit, result, err));
    tz_tile_place_failed(r->plan, w, unit);
    return TZ_OK;
}

static tz_result run_empty(run *r, tz_worker *w, size_t first, tz_error *err)
{
    const tz_wave *wave = &r->plan->wave;
    for (size_t i = first; i < wave->empty_count && i < first + EMPTY_RUN; i++) {
        const tz_unit *unit = &wave->units[wave->empty[i]];
        const tz_result result = tz_tile_place_empty(r->plan, w, unit, err);
        if (result != TZ_OK)
            TZ_TRY(settle(r, w, unit, result, err));
    }
    return TZ_OK;
}

static tz_result run_piece(run *r, tz_worker *w, const tz_indexed_range *piece, uint8_t *bytes,
                           tz_error *err)
{
    const tz_unit *unit = &r->plan->wave.units[piece->index];
    const tz_result result = tz_tile_place(r->plan, w, unit, bytes, err);
    return result == TZ_OK ? TZ_OK : settle(r, w, unit, result, err);
}

/* The common read failed: each tile on its own, so that only those fail that must. */
static tz_result run_apart(run *r, tz_worker *w, const tz_span *fetch, tz_error *err)
{
    for (size_t i = 0; i < fetch->count; i++) {
        const tz_indexed_range *piece = &r->plan->wave.pieces[fetch->first + i];
        const tz_unit *unit = &r->plan->wave.units[piece->index];
        const tz_result result =
            tz_unit_read(r->plan, unit, piece->offset, piece->size, w->input, err);
        if (result != TZ_OK)
            TZ_TRY(settle(r, w, unit, result, err));
        else
            TZ_TRY(run_piece(r, w, piece, w->input, err));
    }
    return TZ_OK;
}

static uint64_t now(void)
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
static void read_ahead(run *r, uint64_t index)
{
    const tz_wave *wave = &r->plan->wave;
    const uint64_t end =
        index + READ_AHEAD < wave->fetch_count ? index + READ_AHEAD : wave->fetch_count;
    const uint64_t known = atomic_exchange_explicit(&r->expected, end, memory_order_relaxed);
    for (uint64_t i = known > index ? known : index + 1; i < end; i++) {
        const tz_span *fetch = &wave->fetches[i];
        const tz_unit *unit = &wave->units[wave->pieces[fetch->first].index];
        tz_source_prefetch(tz_target_source(tz_unit_target(r->plan, unit)), fetch->offset,
                           fetch->size);
    }
}

static tz_result run_fetch(run *r, tz_worker *w, uint64_t index, tz_error *err)
{
    const tz_span *fetch = &r->plan->wave.fetches[index];
    const tz_indexed_range *pieces = &r->plan->wave.pieces[fetch->first];
    const tz_unit *unit = &r->plan->wave.units[pieces[0].index];
    uint8_t *in_place = tz_tiles_in_place(r->plan, w, fetch);
    const uint64_t start = now();
    const tz_result result = tz_unit_read(r->plan, unit, fetch->offset, fetch->size,
                                          in_place ? in_place : w->input, err);
    if (was_slow(now() - start, fetch->size))
        read_ahead(r, index);
    if (result != TZ_OK)
        return tz_fetch_takes_failures(r->plan, fetch) ? run_apart(r, w, fetch, err) : result;
    if (in_place)
        return TZ_OK;
    for (size_t i = 0; i < fetch->count;) {
        const size_t joined =
            tz_tile_place_joined(r->plan, w, pieces + i, fetch->count - i, fetch, err);
        if (joined == 0)
            TZ_TRY(run_piece(r, w, &pieces[i], w->input + (pieces[i].offset - fetch->offset), err));
        i += joined ? joined : 1;
    }
    return TZ_OK;
}

static tz_result run_index(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    run *r = user;
    const tz_wave *wave = &r->plan->wave;
    tz_worker *w = &r->workers[worker];
    if (index < wave->fetch_count)
        return run_fetch(r, w, index, err);
    return run_empty(r, w, (size_t)(index - wave->fetch_count) * EMPTY_RUN, err);
}

/* ---- waves ---- */

/* Progress goes by the units of the whole plan, not by what a wave makes of them. */
static bool report_progress(void *user, uint64_t done, uint64_t total)
{
    const run *r = user;
    const double part = total > 0 ? (double)done / (double)total : 1;
    const tz_progress *progress = &r->plan->options.progress;
    return progress->call(progress->user, r->at0 + (uint64_t)(part * (double)(r->at1 - r->at0)),
                          r->plan->unit_count);
}

static tz_result run_wave(run *r)
{
    const tz_wave *wave = &r->plan->wave;
    const uint64_t count = wave->fetch_count + tz_ceil_div(wave->empty_count, EMPTY_RUN);
    atomic_store_explicit(&r->expected, 0, memory_order_relaxed);
    const tz_progress progress = {r->plan->options.progress.call ? report_progress : NULL, r};
    return tz_pool_run_shared(r->worker_count, count, run_index, r, &progress, &r->plan->ctx);
}

static tz_result run_waves(run *r)
{
    if (r->plan->one_wave) {
        r->at1 = r->plan->unit_count;
        return run_wave(r);
    }
    for (; r->at1 < r->plan->unit_count; r->at0 = r->at1) {
        TZ_TRY(tz_wave_next(r->plan, &r->at1));
        TZ_TRY(run_wave(r));
    }
    return TZ_OK;
}

static void mask_failed(void *user, const tz_target *target, const tz_target *mask, uint64_t tile)
{
    (void)user;
    tz_target_mask_tile(target, mask, tile);
}

static tz_result read_all(run *r)
{
    tz_plan *plan = r->plan;
    r->workers = tz_alloc_zeroed(plan->threads, sizeof *r->workers);
    if (!r->workers)
        return tz_fail_nomem(&plan->ctx, plan->threads * sizeof *r->workers);
    r->worker_count = plan->threads;
    for (unsigned i = 0; i < plan->threads; i++)
        TZ_TRY(tz_worker_init(&r->workers[i], plan));
    for (size_t i = 0; plan->options.boundless && i < plan->target_count; i++)
        tz_target_fill_outside(&plan->targets[i], &plan->options);
    TZ_TRY(run_waves(r));
    tz_plan_failed_tiles(plan, mask_failed, NULL);
    TZ_TRY(tz_plan_check_unchanged(plan));
    tz_report_finish(plan, r->workers, r->worker_count, 0);
    return TZ_OK;
}

tz_result tz_cores_read(tz_plan *plan)
{
    run r = {.plan = plan, .lock = PTHREAD_MUTEX_INITIALIZER};
    const tz_result result = read_all(&r);
    for (unsigned i = 0; i < r.worker_count; i++)
        tz_worker_deinit(&r.workers[i]);
    tz_free(r.workers);
    return result;
}
