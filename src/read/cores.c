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

static const tz_target *target_of(const tz_plan *plan, const tz_unit *unit)
{
    return &plan->targets[plan->wave.wanted[unit->first].target];
}

/* A tile that failed: an error of the read, or noted by all who want it. */
static tz_result settle(run *r, tz_worker *w, const tz_unit *unit, tz_result result,
                        const tz_error *err)
{
    bool is_new;
    pthread_mutex_lock(&r->lock);
    const bool noted = tz_unit_note(r->plan, unit, result, err->cause, &is_new);
    r->plan->report.tiles_failed += is_new;
    pthread_mutex_unlock(&r->lock);
    if (!noted)
        return result;
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

static tz_result read_bytes(const run *r, const tz_unit *unit, uint64_t offset, uint64_t size,
                            uint8_t *dst, tz_error *err)
{
    const tz_target *target = target_of(r->plan, unit);
    tz_context ctx = tz_file_context(target->file, err);
    ctx.ifd = target->layer.shape.ifd;
    return tz_source_read(tz_target_source(target), offset, (size_t)size, dst, &ctx);
}

static tz_result run_piece(run *r, tz_worker *w, const tz_piece *piece, uint8_t *bytes,
                           tz_error *err)
{
    const tz_unit *unit = &r->plan->wave.units[piece->index];
    const tz_result result = tz_tile_place(r->plan, w, unit, bytes, err);
    return result == TZ_OK ? TZ_OK : settle(r, w, unit, result, err);
}

static bool notes_any(const tz_plan *plan, const tz_span *fetch)
{
    for (size_t i = 0; i < fetch->count; i++) {
        if (tz_unit_takes_failures(plan,
                                   &plan->wave.units[plan->wave.pieces[fetch->first + i].index]))
            return true;
    }
    return false;
}

/* The common read failed: each tile on its own, so that only those fail that must. */
static tz_result run_apart(run *r, tz_worker *w, const tz_span *fetch, tz_error *err)
{
    for (size_t i = 0; i < fetch->count; i++) {
        const tz_piece *piece = &r->plan->wave.pieces[fetch->first + i];
        const tz_unit *unit = &r->plan->wave.units[piece->index];
        const tz_result result = read_bytes(r, unit, piece->offset, piece->size, w->input, err);
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
        tz_source_expect(tz_target_source(target_of(r->plan, unit)), fetch->offset, fetch->size);
    }
}

static tz_result run_fetch(run *r, tz_worker *w, uint64_t index, tz_error *err)
{
    const tz_span *fetch = &r->plan->wave.fetches[index];
    const tz_piece *pieces = &r->plan->wave.pieces[fetch->first];
    const tz_unit *unit = &r->plan->wave.units[pieces[0].index];
    uint8_t *in_place = tz_tiles_in_place(r->plan, w, fetch);
    const uint64_t start = now();
    const tz_result result =
        read_bytes(r, unit, fetch->offset, fetch->size, in_place ? in_place : w->input, err);
    if (was_slow(now() - start, fetch->size))
        read_ahead(r, index);
    if (result != TZ_OK)
        return notes_any(r->plan, fetch) ? run_apart(r, w, fetch, err) : result;
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

/* Pixels that failed are masked, also where mask or alpha says that they are valid. A target of
 * pixels is followed by the one of its mask, if there is one. */
static void mask_failed_tiles(const tz_plan *plan)
{
    for (size_t i = 0; i + 1 < plan->target_count; i++) {
        const tz_target *target = &plan->targets[i];
        const tz_outcome *outcome = target->outcome;
        if (target->to_mask || !plan->targets[i + 1].to_mask || !outcome || !outcome->tiles)
            continue;
        const uint64_t count = outcome->tiles_failed > 0 ? tz_target_status_count(target) : 0;
        for (uint64_t k = 0; k < count; k++) {
            const tz_tile_status *status = &outcome->tiles[target->status_first + k];
            if (status->result != TZ_OK)
                tz_target_mask_tile(target, &plan->targets[i + 1], status->tile);
        }
    }
}

/* ---- report ---- */

static void take_warning(tz_report *report, const tz_error *warning, const char *format,
                         const char **formats)
{
    for (uint32_t i = 0; i < report->warning_count; i++) {
        tz_error *known = &report->warnings[i];
        if (formats[i] != format || known->cause != warning->cause)
            continue;
        const uint64_t count = known->count + warning->count;
        if (warning->level < known->level ||
            (warning->level == known->level && warning->tile < known->tile))
            *known = *warning; /* the same whichever thread was first */
        known->count = count;
        return;
    }
    if (report->warning_count == TZ_REPORT_WARNINGS) {
        report->warnings_dropped++;
        return;
    }
    formats[report->warning_count] = format;
    report->warnings[report->warning_count++] = *warning;
}

static void take_warnings(tz_report *report, const tz_warnings *warnings, const char **formats)
{
    report->warnings_dropped += warnings->dropped;
    for (uint32_t i = 0; i < warnings->count; i++)
        take_warning(report, &warnings->list[i], warnings->formats[i], formats);
}

static void finish_report(const run *r)
{
    tz_report *report = &r->plan->report;
    const char *formats[TZ_REPORT_WARNINGS];
    report->tiles_direct = 0; /* planned; now what happened */
    report->tiles_decoded = 0;
    take_warnings(report, &r->plan->warnings, formats);
    for (unsigned i = 0; i < r->worker_count; i++) {
        const tz_worker *w = &r->workers[i];
        report->tiles_direct += w->tiles_direct;
        report->tiles_decoded += w->tiles_decoded;
        take_warnings(report, &w->warnings, formats);
    }
    report->tiles_copied = report->tiles - report->tiles_sparse - report->tiles_direct -
                           report->tiles_decoded - report->tiles_failed;
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
        tz_target_fill_outside(&plan->targets[i], plan->options.fill);
    TZ_TRY(run_waves(r));
    mask_failed_tiles(plan);
    TZ_TRY(tz_plan_check_unchanged(plan));
    finish_report(r);
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
