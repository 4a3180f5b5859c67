/* SPDX-License-Identifier: Apache-2.0
 * Tiles and overviews made by the CPU: each batch becomes tasks of the pipeline. */
#include "base/mem.h"
#include "write/writer.h"

/* New rows of one column of tiles that a task makes at most. */
enum { TASK_ROWS = 128 };

static tz_result acquire_host_slab(tz_writer *w)
{
    tz_writer_level *first = &w->levels[0];
    tz_slab *slab = &first->slabs[first->slab];
    TZ_TRY(tz_pipeline_wait(w->pipeline, slab->busy_until, w->ctx.err));
    return tz_slab_allocate(w, slab, tz_slab_bytes(&w->budget, first->image));
}

/* One task for the whole halo: it is a few rows. Rows are in the previous halo, or in the
 * tile row. */
static tz_result run_halo_task(tz_writer *w, const tz_task_batch *batch, uint64_t index,
                               unsigned worker, tz_tile_slot *slot, tz_error *err)
{
    const tz_tile_row *to = &batch->tile_row;
    (void)w, (void)index, (void)worker, (void)err;
    slot->tile = false;
    for (uint32_t i = 0; i < to->rows; i++) {
        const uint32_t row = to->row + i;
        const tz_row_range *part =
            &batch->source.row_ranges[row >= batch->source.row_ranges[1].row];
        tz_copy_row(&part->pixels, row - part->row, &to->pixels, i);
        if (to->mask.data)
            tz_copy_row(&part->mask, row - part->row, &to->mask, i);
    }
    return TZ_OK;
}

static tz_result add_halo_task(tz_writer *w, const tz_task_batch *batch)
{
    return tz_writer_add_tasks(w, run_halo_task, batch, 1);
}

/* A window of a buffer, which may be a mask that does not exist. */
static tz_pixel_buffer sub_buffer(const tz_pixel_buffer *buffer, uint32_t row, uint32_t column,
                                  uint32_t rows, uint32_t columns)
{
    tz_pixel_buffer part = *buffer;
    if (!buffer->data)
        return part;
    part.data = tz_pixel_at(buffer, 0, row, column);
    part.height = rows;
    part.width = columns;
    return part;
}

/* Makes TASK_ROWS rows of one column of tiles, so that tasks write to separate parts of the
 * slab. */
static tz_result run_overview_task(tz_writer *w, const tz_task_batch *batch, uint64_t index,
                                   unsigned worker, tz_tile_slot *slot, tz_error *err)
{
    const tz_output_level *level = &w->pyramid.levels[batch->level];
    const tz_tile_row *tile_row = &batch->tile_row;
    const uint32_t tile_width = level->image.tile_width;
    const uint32_t column = (uint32_t)(index % tile_row->columns) * tile_width;
    const uint32_t row = (uint32_t)(index / tile_row->columns) * TASK_ROWS;
    const tz_window window = {.column = column,
                              .row = (int64_t)tile_row->row + row,
                              .width = tz_min_u32(tile_width, level->image.spec.width - column),
                              .height = tz_min_u32(TASK_ROWS, tile_row->rows - row)};
    const tz_pixel_buffer pixels =
        sub_buffer(&tile_row->pixels, row, column, window.height, window.width);
    const tz_pixel_buffer mask =
        sub_buffer(&tile_row->mask, row, column, window.height, window.width);
    (void)err;
    slot->tile = false;
    tz_overview_make(&level->overview, &batch->source, &window, &pixels, &mask,
                     w->encoder.workers[worker].overview_scratch);
    return TZ_OK;
}

static tz_result add_overview_tasks(tz_writer *w, const tz_task_batch *batch)
{
    const uint64_t down = tz_ceil_div(batch->tile_row.rows, TASK_ROWS);
    return tz_writer_add_tasks(w, run_overview_task, batch, down * batch->tile_row.columns);
}

static tz_result run_encode_task(tz_writer *w, const tz_task_batch *batch, uint64_t index,
                                 unsigned worker, tz_tile_slot *slot, tz_error *err)
{
    return tz_tile_make(&w->encoder, batch->level, &batch->tile_row, index, worker, slot, err);
}

static tz_result add_encode_tasks(tz_writer *w, const tz_task_batch *batch, uint64_t tiles)
{
    return tz_writer_add_tasks(w, run_encode_task, batch, tiles);
}

const tz_tile_maker tz_cpu_maker = {.acquire_slab = acquire_host_slab,
                                    .copy_halo = add_halo_task,
                                    .make_overview = add_overview_tasks,
                                    .encode = add_encode_tasks};
