/* SPDX-License-Identifier: Apache-2.0 */
#include "read/gpu/gpu_slot.h"

#include "base/mem.h"
#include "read/gpu/gpu_codestreams.h"
#include "read/tile.h"

/* ---- memory ---- */

uint64_t tz_gpu_slot_host_bytes(const tz_gpu_plan *gpu)
{
    const uint64_t tile_read = sizeof(tz_gpu_tile_read) + sizeof(tz_span) + sizeof(uint64_t);
    const uint64_t fetch =
        sizeof(tz_gpu_fetch) + sizeof(tz_range) + sizeof(tz_request) + sizeof(bool);
    return gpu->max_tile_reads * tile_read + gpu->max_fetches * fetch +
           gpu->max_reads * sizeof(tz_direct_read) + gpu->pair_count * sizeof(uint64_t) +
           tz_gpu_codestream_list_bytes(gpu);
}

static tz_result allocate_slot_lists(const tz_gpu_run *run, tz_gpu_slot *slot)
{
    const tz_gpu_plan *gpu = run->gpu;
    slot->tile_reads = tz_alloc_array(gpu->max_tile_reads, sizeof *slot->tile_reads);
    slot->redo = tz_alloc_array(gpu->max_tile_reads, sizeof *slot->redo);
    slot->redo_offsets = tz_alloc_array(gpu->max_tile_reads, sizeof *slot->redo_offsets);
    slot->fetches = tz_alloc_array(gpu->max_fetches, sizeof *slot->fetches);
    slot->reads = tz_alloc_array(gpu->max_reads, sizeof *slot->reads);
    slot->ranges = tz_alloc_array(gpu->max_fetches, sizeof *slot->ranges);
    slot->source_requests = tz_alloc_array(gpu->max_fetches, sizeof *slot->source_requests);
    slot->is_read = tz_alloc_array(gpu->max_fetches, sizeof *slot->is_read);
    slot->pair_ends = tz_alloc_array(gpu->pair_count, sizeof *slot->pair_ends);
    if (!slot->tile_reads || !slot->redo || !slot->redo_offsets || !slot->fetches || !slot->reads ||
        !slot->ranges || !slot->source_requests || !slot->is_read || !slot->pair_ends)
        return tz_fail_nomem(&run->plan->ctx, tz_gpu_slot_host_bytes(gpu));
    return TZ_OK;
}

tz_result tz_gpu_slot_init(tz_gpu_run *run, tz_gpu_slot *slot, uint32_t queue)
{
    const tz_gpu_plan *gpu = run->gpu;
    tz_error *err = run->plan->ctx.err;
    slot->queue = queue;
    TZ_TRY(allocate_slot_lists(run, slot));
    TZ_TRY(tz_gpu_codestream_list_init(run, slot));
    if (gpu->max_reads > 0)
        TZ_TRY(tz_direct_alloc(run, slot));
    else if (gpu->slot_size.device > 0)
        TZ_TRY(tz_device_alloc_own(gpu->device, gpu->slot_size.device, &slot->slab, err));
    run->use.peak += gpu->slot_size.device;
    if (gpu->slot_size.pinned > 0)
        TZ_TRY(tz_device_alloc_pinned(gpu->device, gpu->slot_size.pinned, &slot->pinned, err));
    return TZ_OK;
}

void tz_gpu_slot_deinit(tz_gpu_run *run, tz_gpu_slot *slot)
{
    if (slot->reading)
        (void)tz_device_end_reads(run->gpu->device, slot->reading, NULL);
    if (slot->is_busy)
        (void)tz_device_sync(run->gpu->device, slot->queue, NULL);
    tz_device_free(slot->slab);
    tz_device_free(slot->pinned);
    tz_free(slot->codestreams);
    tz_free(slot->tile_reads);
    tz_free(slot->redo);
    tz_free(slot->redo_offsets);
    tz_free(slot->fetches);
    tz_free(slot->reads);
    tz_free(slot->ranges);
    tz_free(slot->source_requests);
    tz_free(slot->is_read);
    tz_free(slot->pair_ends);
}

/* ---- what the cores do for a wave ---- */

tz_result tz_gpu_run_parallel(tz_gpu_run *run, uint64_t count, tz_pool_job job, void *user)
{
    return tz_pool_run_shared(run->workers.count, count, job, user, NULL, &run->plan->ctx);
}

tz_result tz_gpu_record_failure(tz_gpu_run *run, tz_worker *worker, tz_gpu_tile_read *tile_read,
                                tz_result result, const tz_error *err)
{
    const tz_tile_read *planned = &run->plan->wave.tile_reads[tile_read->tile_read];
    TZ_TRY(tz_tile_read_record_failure(run->plan, &run->lock, planned, result, err));
    tile_read->failed = true;
    tile_read->state = tile_read->on_host ? TZ_GPU_TILE_DONE : TZ_GPU_TILE_MISSING;
    if (tile_read->on_host)
        tz_tile_store_failed(run->plan, worker, planned);
    return TZ_OK;
}

typedef struct slot_job {
    tz_gpu_run *run;
    tz_gpu_slot *slot;
} slot_job;

/* Decoded rows are for the device where it places them; else all is done here. */
static tz_result decode_on_cpu(tz_gpu_run *run, const tz_gpu_slot *slot, tz_worker *worker,
                               tz_gpu_tile_read *tile_read, tz_error *err)
{
    const tz_plan *plan = run->plan;
    const tz_tile_read *planned = &plan->wave.tile_reads[tile_read->tile_read];
    if (tile_read->route == TZ_ROUTE_RAW)
        return tz_tile_check_raw(plan, worker, planned, err);
    if (tile_read->fallback != TZ_GPU_FALLBACK_NONE && plan->options.strict_device)
        return tz_gpu_fail_strict_codestream(run, slot, worker, tile_read, err);
    if (!tile_read->on_host)
        return tz_tile_decode(plan, worker, planned, tz_gpu_slot_pinned(slot, tile_read->bytes),
                              tz_gpu_slot_pinned(slot, tile_read->rows), err);
    TZ_TRY(tz_tile_store(plan, worker, planned, tz_gpu_slot_pinned(slot, tile_read->bytes), err));
    tile_read->state = TZ_GPU_TILE_DONE;
    return TZ_OK;
}

static bool is_for_cpu(const tz_gpu_tile_read *tile_read)
{
    return tile_read->route == TZ_ROUTE_RAW || tile_read->route == TZ_ROUTE_CPU;
}

/* Tiles of one read by one worker: they may share bytes. */
static tz_result run_cpu_fetch(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    const slot_job *job = user;
    tz_gpu_run *run = job->run;
    const tz_gpu_fetch *fetch = &job->slot->fetches[index];
    tz_worker *w = &run->workers.list[worker];
    for (size_t i = 0; i < fetch->span.count; i++) {
        tz_gpu_tile_read *tile_read = &job->slot->tile_reads[fetch->first + i];
        if (tile_read->state != TZ_GPU_TILE_ROWS || !is_for_cpu(tile_read))
            continue;
        const tz_result result = decode_on_cpu(run, job->slot, w, tile_read, err);
        if (result != TZ_OK)
            TZ_TRY(tz_gpu_record_failure(run, w, tile_read, result, err));
    }
    return TZ_OK;
}

static tz_result check_empty_tile(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    const slot_job *job = user;
    tz_gpu_run *run = job->run;
    tz_worker *w = &run->workers.list[worker];
    tz_gpu_tile_read *tile_read = &job->slot->tile_reads[job->slot->first_empty + index];
    const tz_tile_read *planned = &run->plan->wave.tile_reads[tile_read->tile_read];
    const tz_result result = tile_read->on_host ? tz_tile_store_empty(run->plan, w, planned, err)
                                                : tz_tile_check_empty(run->plan, planned, err);
    if (result != TZ_OK)
        return tz_gpu_record_failure(run, w, tile_read, result, err);
    tile_read->state = tile_read->on_host ? TZ_GPU_TILE_DONE : TZ_GPU_TILE_MISSING;
    return TZ_OK;
}

static tz_result run_cpu_share(tz_gpu_run *run, tz_gpu_slot *slot)
{
    slot_job job = {run, slot};
    bool any = false;
    for (size_t i = 0; !any && i < slot->first_empty; i++)
        any = is_for_cpu(&slot->tile_reads[i]);
    if (any)
        TZ_TRY(tz_gpu_run_parallel(run, slot->fetch_count, run_cpu_fetch, &job));
    return tz_gpu_run_parallel(run, slot->tile_read_count - slot->first_empty, check_empty_tile,
                               &job);
}

/* ---- laying a wave out ---- */

typedef struct slab_offsets {
    uint64_t input, host_input, cpu_rows, rows, staged, streams;
    tz_direct_space direct;
} slab_offsets;

static uint64_t staged_bytes(const tz_plan *plan, const tz_tile_read *tile_read)
{
    uint64_t bytes = 0;
    tz_gpu_rect rect;
    for (uint32_t i = 0; i < tile_read->count; i++) {
        if (tz_gpu_rect_make(plan, tile_read, i, &rect))
            bytes += tz_gpu_rect_staged_pixels(&rect) + tz_gpu_rect_staged_mask(&rect);
    }
    return bytes;
}

static uint64_t advance_offset(uint64_t *at, uint64_t size)
{
    const uint64_t first = *at;
    *at += size;
    return first;
}

static tz_gpu_tile_read make_gpu_tile_read(const tz_plan *plan, uint32_t number)
{
    const tz_tile_read *tile_read = &plan->wave.tile_reads[number];
    return (tz_gpu_tile_read){.tile_read = number,
                              .state = TZ_GPU_TILE_ROWS,
                              .on_host = tz_tile_read_is_for_host(plan, tile_read),
                              .status = TZ_GPU_NO_STATUS};
}

static void lay_out_tile_read(const tz_plan *plan, tz_gpu_slot *slot, const tz_gpu_fetch *fetch,
                              size_t range, slab_offsets *at)
{
    const tz_indexed_range *stored = &plan->wave.ranges[range];
    const tz_tile_read *tile_read = &plan->wave.tile_reads[stored->index];
    tz_gpu_tile_read *out = &slot->tile_reads[slot->tile_read_count++];
    *out = make_gpu_tile_read(plan, (uint32_t)stored->index);
    out->range = (uint32_t)range;
    out->route = fetch->route;
    out->is_direct = fetch->is_direct;
    out->bytes = fetch->at + (stored->offset - fetch->span.offset);
    out->rows = out->bytes;
    if (fetch->route == TZ_ROUTE_DEVICE || fetch->route == TZ_ROUTE_CODESTREAMS)
        out->rows = advance_offset(&at->rows,
                                   tz_gpu_slab_bytes(tz_tile_read_decoded_bytes(plan, tile_read)));
    else if (fetch->route == TZ_ROUTE_CPU && !out->on_host)
        out->rows = advance_offset(&at->cpu_rows,
                                   tz_gpu_slab_bytes(tz_tile_read_rows_bytes(plan, tile_read)));
    if (fetch->route != TZ_ROUTE_CPU || !out->on_host)
        out->staged = advance_offset(&at->staged, staged_bytes(plan, tile_read));
    if (fetch->route == TZ_ROUTE_CODESTREAMS)
        out->stream = advance_offset(&at->streams, tz_gpu_codestream_bytes(plan, tile_read));
}

static void lay_out_fetch(const tz_plan *plan, tz_gpu_slot *slot, const tz_gpu_cursor *cursor,
                          size_t index, slab_offsets *at)
{
    const tz_span *span = &cursor->fetches[index];
    const tz_tile_route route = tz_gpu_fetch_route(plan, span, cursor);
    const tz_tile_read *first = tz_fetch_tile_read(&plan->wave, span, 0);
    const tz_direct_file *file = tz_direct_file_of(plan, span, route);
    tz_gpu_fetch *fetch = &slot->fetches[slot->fetch_count++];
    *fetch = (tz_gpu_fetch){
        .span = *span,
        .source = tz_planned_request_source(tz_tile_read_request(&plan->wave, first, 0)),
        .route = route,
        .is_direct = file != NULL,
        .first = slot->tile_read_count};
    if (cursor->at) {
        fetch->at = cursor->at[index];
    } else if (file) {
        fetch->at = tz_gpu_slot_add_direct(slot, &at->direct, file, span);
        fetch->read = slot->read_count - 1;
    } else {
        fetch->at =
            advance_offset(tz_route_stays_on_host(fetch->route) ? &at->host_input : &at->input,
                           tz_gpu_slab_bytes(span->size));
    }
    for (size_t i = 0; i < span->count; i++)
        lay_out_tile_read(plan, slot, fetch, span->first + i, at);
}

static void lay_out_batch(const tz_plan *plan, tz_gpu_slot *slot, const tz_gpu_cursor *cursor)
{
    const tz_gpu_batch *batch = &slot->batch;
    slab_offsets at = {.input = batch->layout.input,
                       .host_input = batch->layout.host_input,
                       .cpu_rows = batch->layout.cpu_rows,
                       .rows = batch->layout.rows,
                       .staged = batch->layout.staged,
                       .streams = batch->layout.streams};
    slot->upload = batch->layout.spare_rows;
    slot->tile_read_count = 0;
    slot->fetch_count = 0;
    slot->read_count = 0;
    for (size_t i = batch->fetch0; i < batch->fetch1; i++)
        lay_out_fetch(plan, slot, cursor, i, &at);
    slot->first_empty = slot->tile_read_count;
    for (size_t i = batch->empty0; i < batch->empty1; i++) {
        tz_gpu_tile_read *tile_read = &slot->tile_reads[slot->tile_read_count++];
        *tile_read = make_gpu_tile_read(plan, cursor->empty[i]);
        if (!tile_read->on_host)
            tile_read->staged = advance_offset(
                &at.staged, staged_bytes(plan, &plan->wave.tile_reads[tile_read->tile_read]));
    }
}

tz_result tz_gpu_batch_begin(tz_gpu_run *run, tz_gpu_slot *slot, const tz_gpu_cursor *cursor,
                             const tz_gpu_batch *batch)
{
    slot->batch = *batch;
    lay_out_batch(run->plan, slot, cursor);
    TZ_TRY(tz_direct_begin(run, slot));
    if (!cursor->at)
        TZ_TRY(tz_gpu_fetch_all(run, slot));
    TZ_TRY(tz_gpu_decode_codestreams(run, slot));
    TZ_TRY(run_cpu_share(run, slot));
    TZ_TRY(tz_direct_end(run, slot));
    run->use.waves++;
    run->use.bounced_bytes += batch->need.bounced;
    if (batch->need.conversions == 0)
        return TZ_OK;
    tz_gpu_fill_tables(run, slot);
    return tz_gpu_batch_launch(run, slot);
}
