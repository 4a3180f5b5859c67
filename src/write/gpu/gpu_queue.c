/* SPDX-License-Identifier: Apache-2.0
 * The work of the belt, done by a device: what was asked for first is done first, and so nothing
 * waits for anything else. */
#include "base/mem.h"
#include "write/writer.h"

/* Rows of the one part, then those of the other. */
static tz_result copy_halo_rows(tz_writer *w, const tz_task_batch *batch)
{
    const tz_tile_row *to = &batch->tile_row;
    const uint32_t end = to->row + to->rows;
    for (int i = 0; i < 2; i++) {
        const tz_row_range *part = &batch->source.parts[i];
        const uint32_t from = i == 0 ? to->row : (uint32_t)tz_max_size(to->row, part->row);
        const uint32_t until = i == 0 ? tz_min_u32(end, batch->source.parts[1].row) : end;
        const tz_tile_row rows = {.pixels = part->pixels, .mask = part->mask};
        if (from < until)
            TZ_TRY(tz_gpu_writer_copy_rows(w, &rows, from - part->row, to, from - to->row,
                                           until - from));
    }
    return TZ_OK;
}

static tz_result run_overview(tz_writer *w, const tz_task_batch *batch)
{
    const tz_tile_row *tile_row = &batch->tile_row;
    return tz_overview_builder_run(w->gpu.reducers[batch->level], &batch->source, tile_row->row,
                                   tile_row->rows, &tile_row->pixels, &tile_row->mask, 0,
                                   w->ctx.err);
}

/* Two batches take turns: while one is made, the other is written. */
static tz_result encode_in_batches(tz_writer *w, const tz_task_batch *batch, uint64_t task_count)
{
    tz_gpu_resources *gpu = &w->gpu;
    for (uint64_t first = 0, count; first < task_count; first += count) {
        TZ_TRY(tz_gpu_writer_finish_batch(w));
        tz_gpu_tile_batch *tiles = &gpu->tiles[gpu->current_batch];
        TZ_TRY(tz_pipeline_wait(w->pipeline, tiles->busy_until, w->ctx.err));
        tiles->level = batch->level;
        tiles->tile_row = batch->tile_row;
        tiles->first = first;
        TZ_TRY(tz_gpu_tile_batch_launch(w, tiles, task_count, &count));
        gpu->in_flight = true;
        gpu->batches++;
    }
    return TZ_OK;
}

tz_result tz_gpu_writer_run_tasks(tz_writer *w, const tz_task_batch *batch, uint64_t task_count)
{
    switch (batch->kind) {
    case TZ_TASK_HALO:
        return copy_halo_rows(w, batch);
    case TZ_TASK_OVERVIEW:
        return run_overview(w, batch);
    default:
        return encode_in_batches(w, batch, task_count);
    }
}

/* The payload is as long as the results say, which are there first. */
static tz_result download_batch(tz_writer *w, const tz_gpu_tile_batch *tiles)
{
    const tz_gpu_tile_layout *at = &w->budget.device.layout;
    uint8_t *payload = (uint8_t *)tiles->memory->host + (at->results_end - at->sizes);
    uint64_t bytes;
    TZ_TRY(tz_device_sync(w->device, 0, w->ctx.err));
    w->gpu.uploading[0] = w->gpu.uploading[1] = false;
    TZ_TRY(tz_gpu_codestreams_encode(w, tiles));
    TZ_TRY(tz_gpu_tile_batch_bytes(w, tiles, &bytes));
    if (bytes == 0)
        return TZ_OK;
    TZ_TRY(tz_device_download(0, payload, w->gpu.allocations[TZ_ALLOCATION_TILES],
                              at->payload - tiles->mask_bytes, bytes, w->ctx.err));
    return tz_device_sync(w->device, 0, w->ctx.err);
}

tz_result tz_gpu_writer_finish_batch(tz_writer *w)
{
    tz_gpu_resources *gpu = &w->gpu;
    tz_gpu_tile_batch *tiles = &gpu->tiles[gpu->current_batch];
    if (!gpu->in_flight)
        return TZ_OK;
    gpu->in_flight = false;
    TZ_TRY(download_batch(w, tiles));
    const tz_task_batch batch = {.kind = TZ_TASK_COLLECT,
                                 .level = tiles->level,
                                 .tile_row = tiles->tile_row,
                                 .collected = tiles};
    TZ_TRY(tz_writer_add_tasks(w, &batch, (uint64_t)tiles->images + tiles->masks));
    tiles->busy_until = w->tasks_added;
    gpu->current_batch = 1 - gpu->current_batch;
    return TZ_OK;
}
