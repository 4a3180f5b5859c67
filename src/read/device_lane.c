/* SPDX-License-Identifier: Apache-2.0 */
#include "read/device_lane.h"

#include "base/mem.h"
#include "read/device_pictures.h"
#include "read/tile.h"

/* ---- memory ---- */

uint64_t tz_lane_host_bytes(const tz_device_plan *dp)
{
    const uint64_t unit = sizeof(tz_lane_unit) + sizeof(tz_span) + sizeof(uint64_t);
    const uint64_t fetch =
        sizeof(tz_lane_fetch) + sizeof(tz_range) + sizeof(tz_request) + sizeof(bool);
    return dp->units * unit + dp->fetches * fetch + dp->reads * sizeof(tz_direct_read) +
           dp->pair_count * sizeof(uint64_t) + tz_lane_pictures_bytes(dp);
}

static tz_result allocate_lists(const tz_device_run *run, tz_lane *lane)
{
    const tz_device_plan *dp = run->dp;
    lane->units = tz_alloc_array(dp->units, sizeof *lane->units);
    lane->again = tz_alloc_array(dp->units, sizeof *lane->again);
    lane->again_at = tz_alloc_array(dp->units, sizeof *lane->again_at);
    lane->fetches = tz_alloc_array(dp->fetches, sizeof *lane->fetches);
    lane->reads = tz_alloc_array(dp->reads, sizeof *lane->reads);
    lane->ranges = tz_alloc_array(dp->fetches, sizeof *lane->ranges);
    lane->requests = tz_alloc_array(dp->fetches, sizeof *lane->requests);
    lane->is_read = tz_alloc_array(dp->fetches, sizeof *lane->is_read);
    lane->pair_ends = tz_alloc_array(dp->pair_count, sizeof *lane->pair_ends);
    if (!lane->units || !lane->again || !lane->again_at || !lane->fetches || !lane->reads ||
        !lane->ranges || !lane->requests || !lane->is_read || !lane->pair_ends)
        return tz_fail_nomem(&run->plan->ctx, tz_lane_host_bytes(dp));
    return TZ_OK;
}

tz_result tz_lane_init(tz_device_run *run, tz_lane *lane, uint32_t queue)
{
    const tz_device_plan *dp = run->dp;
    tz_error *err = run->plan->ctx.err;
    lane->queue = queue;
    TZ_TRY(allocate_lists(run, lane));
    TZ_TRY(tz_lane_pictures_init(run, lane));
    if (dp->reads > 0)
        TZ_TRY(tz_direct_alloc(run, lane));
    else if (dp->lane.device > 0)
        TZ_TRY(tz_device_alloc_own(dp->device, dp->lane.device, &lane->slab, err));
    run->use.peak += dp->lane.device;
    if (dp->lane.pinned > 0)
        TZ_TRY(tz_device_alloc_pinned(dp->device, dp->lane.pinned, &lane->pinned, err));
    return TZ_OK;
}

void tz_lane_deinit(tz_device_run *run, tz_lane *lane)
{
    if (lane->reading)
        (void)tz_device_end_reads(run->dp->device, lane->reading, NULL);
    if (lane->is_busy)
        (void)tz_device_sync(run->dp->device, lane->queue, NULL);
    tz_device_free(lane->slab);
    tz_device_free(lane->pinned);
    tz_free(lane->pictures);
    tz_free(lane->units);
    tz_free(lane->again);
    tz_free(lane->again_at);
    tz_free(lane->fetches);
    tz_free(lane->reads);
    tz_free(lane->ranges);
    tz_free(lane->requests);
    tz_free(lane->is_read);
    tz_free(lane->pair_ends);
}

/* ---- what the cores do for a wave ---- */

tz_result tz_lane_each(tz_device_run *run, uint64_t count, tz_pool_job job, void *user)
{
    return tz_pool_run_shared(run->worker_count, count, job, user, NULL, &run->plan->ctx);
}

tz_result tz_lane_settle(tz_device_run *run, tz_worker *worker, tz_lane_unit *unit,
                         tz_result result, const tz_error *err)
{
    const tz_unit *planned = &run->plan->wave.units[unit->unit];
    TZ_TRY(tz_unit_settle(run->plan, &run->lock, planned, result, err));
    unit->failed = true;
    unit->state = unit->on_host ? TZ_LANE_DONE : TZ_LANE_MISSING;
    if (unit->on_host)
        tz_tile_place_failed(run->plan, worker, planned);
    return TZ_OK;
}

typedef struct lane_job {
    tz_device_run *run;
    tz_lane *lane;
} lane_job;

/* Decoded rows are for the device where it places them; else all is done here. */
static tz_result work_on(tz_device_run *run, const tz_lane *lane, tz_worker *worker,
                         tz_lane_unit *unit, tz_error *err)
{
    const tz_plan *plan = run->plan;
    const tz_unit *planned = &plan->wave.units[unit->unit];
    if (unit->way == TZ_WAY_RAW)
        return tz_tile_check_raw(plan, worker, planned, err);
    if (unit->left != TZ_LEFT_NOT && plan->options.strict_device)
        return tz_picture_refuse(run, lane, worker, unit, err);
    if (!unit->on_host)
        return tz_tile_decode(plan, worker, planned, tz_lane_pinned(lane, unit->bytes),
                              tz_lane_pinned(lane, unit->rows), err);
    TZ_TRY(tz_tile_place(plan, worker, planned, tz_lane_pinned(lane, unit->bytes), err));
    unit->state = TZ_LANE_DONE;
    return TZ_OK;
}

static bool is_for_cores(const tz_lane_unit *unit)
{
    return unit->way == TZ_WAY_RAW || unit->way == TZ_WAY_CORES;
}

/* Tiles of one read by one worker: they may share bytes. */
static tz_result run_fetch(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    const lane_job *job = user;
    tz_device_run *run = job->run;
    const tz_lane_fetch *fetch = &job->lane->fetches[index];
    tz_worker *w = &run->workers[worker];
    for (size_t i = 0; i < fetch->span.count; i++) {
        tz_lane_unit *unit = &job->lane->units[fetch->first + i];
        if (unit->state != TZ_LANE_ROWS || !is_for_cores(unit))
            continue;
        const tz_result result = work_on(run, job->lane, w, unit, err);
        if (result != TZ_OK)
            TZ_TRY(tz_lane_settle(run, w, unit, result, err));
    }
    return TZ_OK;
}

static tz_result run_empty(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    const lane_job *job = user;
    tz_device_run *run = job->run;
    tz_worker *w = &run->workers[worker];
    tz_lane_unit *unit = &job->lane->units[job->lane->first_empty + index];
    const tz_unit *planned = &run->plan->wave.units[unit->unit];
    const tz_result result = unit->on_host ? tz_tile_place_empty(run->plan, w, planned, err)
                                           : tz_tile_check_empty(run->plan, planned, err);
    if (result != TZ_OK)
        return tz_lane_settle(run, w, unit, result, err);
    unit->state = unit->on_host ? TZ_LANE_DONE : TZ_LANE_MISSING;
    return TZ_OK;
}

static tz_result work_by_cores(tz_device_run *run, tz_lane *lane)
{
    lane_job job = {run, lane};
    bool any = false;
    for (size_t i = 0; !any && i < lane->first_empty; i++)
        any = is_for_cores(&lane->units[i]);
    if (any)
        TZ_TRY(tz_lane_each(run, lane->fetch_count, run_fetch, &job));
    return tz_lane_each(run, lane->unit_count - lane->first_empty, run_empty, &job);
}

/* ---- laying a wave out ---- */

typedef struct cursors {
    uint64_t input, kept, given, rows, staged, streams;
    tz_direct_room direct;
} cursors;

static uint64_t staged_bytes(const tz_plan *plan, const tz_unit *unit)
{
    uint64_t bytes = 0;
    tz_rect rect;
    for (uint32_t i = 0; i < unit->count; i++) {
        if (tz_rect_of(plan, unit, i, &rect))
            bytes += tz_rect_staged_pixels(&rect) + tz_rect_staged_mask(&rect);
    }
    return bytes;
}

static uint64_t advance(uint64_t *at, uint64_t size)
{
    const uint64_t first = *at;
    *at += size;
    return first;
}

static tz_lane_unit make_unit(const tz_plan *plan, uint32_t number)
{
    const tz_unit *unit = &plan->wave.units[number];
    return (tz_lane_unit){.unit = number,
                          .state = TZ_LANE_ROWS,
                          .on_host = tz_unit_on_host(plan, unit),
                          .status = TZ_NO_STATUS};
}

static void add_unit(const tz_plan *plan, tz_lane *lane, const tz_lane_fetch *fetch, size_t piece,
                     cursors *at)
{
    const tz_indexed_range *stored = &plan->wave.pieces[piece];
    const tz_unit *unit = &plan->wave.units[stored->index];
    tz_lane_unit *out = &lane->units[lane->unit_count++];
    *out = make_unit(plan, (uint32_t)stored->index);
    out->piece = (uint32_t)piece;
    out->way = fetch->way;
    out->is_direct = fetch->is_direct;
    out->bytes = fetch->at + (stored->offset - fetch->span.offset);
    out->rows = out->bytes;
    if (fetch->way == TZ_WAY_DEVICE || fetch->way == TZ_WAY_PICTURES)
        out->rows = advance(&at->rows, tz_slab_part(tz_unit_decoded_bytes(plan, unit)));
    else if (fetch->way == TZ_WAY_CORES && !out->on_host)
        out->rows = advance(&at->given, tz_slab_part(tz_unit_rows_bytes(plan, unit)));
    if (fetch->way != TZ_WAY_CORES || !out->on_host)
        out->staged = advance(&at->staged, staged_bytes(plan, unit));
    if (fetch->way == TZ_WAY_PICTURES)
        out->stream = advance(&at->streams, tz_picture_stream_bytes(plan, unit));
}

static void add_fetch(const tz_plan *plan, tz_lane *lane, const tz_work *work, size_t index,
                      cursors *at)
{
    const tz_span *span = &work->fetches[index];
    const bool by_cores = work->by_cores;
    const tz_unit *first = &plan->wave.units[plan->wave.pieces[span->first].index];
    const tz_direct_file *file = tz_direct_file_of(plan, span, by_cores);
    tz_lane_fetch *fetch = &lane->fetches[lane->fetch_count++];
    *fetch = (tz_lane_fetch){.span = *span,
                             .source = tz_target_source(tz_unit_target(plan, first)),
                             .way = tz_unit_way(plan, first, by_cores),
                             .is_direct = file != NULL,
                             .first = lane->unit_count};
    if (work->at) {
        fetch->at = work->at[index];
    } else if (file) {
        fetch->at = tz_lane_add_direct(lane, &at->direct, file, span);
        fetch->read = lane->read_count - 1;
    } else {
        fetch->at =
            advance(tz_way_keeps(fetch->way) ? &at->kept : &at->input, tz_slab_part(span->size));
    }
    for (size_t i = 0; i < span->count; i++)
        add_unit(plan, lane, fetch, span->first + i, at);
}

static void lay_out(const tz_plan *plan, tz_lane *lane, const tz_work *work)
{
    const tz_cut *cut = &lane->cut;
    cursors at = {.input = cut->layout.input,
                  .kept = cut->layout.kept,
                  .given = cut->layout.given,
                  .rows = cut->layout.rows,
                  .staged = cut->layout.staged,
                  .streams = cut->layout.streams};
    lane->upload = cut->layout.spare;
    lane->unit_count = 0;
    lane->fetch_count = 0;
    lane->read_count = 0;
    for (size_t i = cut->fetch0; i < cut->fetch1; i++)
        add_fetch(plan, lane, work, i, &at);
    lane->first_empty = lane->unit_count;
    for (size_t i = cut->empty0; i < cut->empty1; i++) {
        tz_lane_unit *unit = &lane->units[lane->unit_count++];
        *unit = make_unit(plan, work->empty[i]);
        if (!unit->on_host)
            unit->staged = advance(&at.staged, staged_bytes(plan, &plan->wave.units[unit->unit]));
    }
}

tz_result tz_lane_begin(tz_device_run *run, tz_lane *lane, const tz_work *work, const tz_cut *cut)
{
    lane->cut = *cut;
    lay_out(run->plan, lane, work);
    TZ_TRY(tz_direct_begin(run, lane));
    if (!work->at)
        TZ_TRY(tz_lane_fetch_all(run, lane));
    TZ_TRY(tz_lane_pictures(run, lane));
    TZ_TRY(work_by_cores(run, lane));
    TZ_TRY(tz_direct_end(run, lane));
    run->use.waves++;
    run->use.bounced_bytes += cut->need.bounced;
    if (cut->need.places == 0)
        return TZ_OK;
    tz_lane_tables(run, lane);
    return tz_lane_launch(run, lane);
}
