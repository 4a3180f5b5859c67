/* SPDX-License-Identifier: Apache-2.0
 * From a swath of one level to rows of the next smaller one. As many new rows are made as the rows
 * so far allow; old rows at the end of the swath that further new ones will look at are kept. New
 * rows gather in their level's slab, and when that holds a row of tiles they are a swath
 * themselves.
 *
 * The order on the belt is: keep, reduce, then the tiles of the larger level, which take long, then
 * those of the smaller one. So that what a piece waits for is done long before its turn. */
#include <string.h>

#include "base/mem.h"
#include "write/writer.h"

/* A piece of a reduction is so many new rows of one column of tiles. */
enum { TASK_ROWS = 128 };

/* ---- pieces ---- */

uint64_t tz_overview_task_count(const tz_task_batch *batch)
{
    return tz_ceil_div(batch->tile_row.rows, TASK_ROWS) * batch->tile_row.columns;
}

static tz_buffer sub_buffer(const tz_buffer *buffer, uint32_t row, uint32_t column, uint32_t rows,
                            uint32_t columns)
{
    tz_buffer part = *buffer;
    if (!buffer->data)
        return part;
    part.data = tz_pixel_at(buffer, 0, row, column);
    part.height = rows;
    part.width = columns;
    return part;
}

void tz_run_overview_task(tz_writer *w, const tz_task_batch *batch, uint64_t index, unsigned worker)
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
    const tz_buffer pixels =
        sub_buffer(&tile_row->pixels, row, column, window.height, window.width);
    const tz_buffer mask = sub_buffer(&tile_row->mask, row, column, window.height, window.width);
    tz_overview_make(&level->overview, &batch->source, &window, &pixels, &mask,
                     w->workers[worker].overview_scratch);
}

void tz_run_halo_task(const tz_task_batch *batch)
{
    const tz_tile_row *to = &batch->tile_row;
    for (uint32_t i = 0; i < to->rows; i++) {
        const uint32_t row = to->row + i;
        const tz_row_range *part = &batch->source.parts[row >= batch->source.parts[1].row];
        tz_copy_row(&part->pixels, row - part->row, &to->pixels, i);
        if (to->mask.data)
            tz_copy_row(&part->mask, row - part->row, &to->mask, i);
    }
}

/* ---- memory ---- */

static tz_result allocate_slab_memory(const tz_writer *w, tz_slab *slab, uint64_t size)
{
    if (slab->memory || slab->device)
        return TZ_OK;
    slab->memory = tz_alloc_slab(size);
    return slab->memory ? TZ_OK : tz_fail_nomem(&w->ctx, size);
}

/* The slab of an overview that new rows go to. */
static tz_result begin_overview_slab(tz_writer *w, uint32_t level)
{
    tz_writer_level *l = &w->levels[level];
    if (l->slab_row != l->slab_end)
        return TZ_OK;
    l->slab_row = l->next_row;
    l->slab_end =
        l->next_row + tz_min_u32(l->image->tile_height, l->image->spec.height - l->next_row);
    return allocate_slab_memory(w, &l->slabs[l->slab],
                                tz_overview_slab_bytes(&w->budget, l->image));
}

/* ---- batches ---- */

/* The rows before the swath that were kept, and the swath. */
static tz_overview_source overview_source(const tz_writer *w, uint32_t level,
                                          const tz_tile_row *tile_row)
{
    const tz_writer_level *l = &w->levels[level];
    const tz_halo_rows *halo = &l->halo[l->current_halo];
    tz_overview_source source = {
        .parts[1] = {.row = tile_row->row,
                     .pixels = tz_buffer_rows(&tile_row->pixels, 0, tile_row->rows),
                     .mask = tz_buffer_rows(&tile_row->mask, 0, tile_row->rows)}};
    tz_tile_row before = {0};
    if (halo->rows > 0)
        tz_slab_buffers(l->image, &halo->slab, halo->rows, l->image->spec.width, &before);
    source.parts[0] =
        (tz_row_range){.row = halo->row, .pixels = before.pixels, .mask = before.mask};
    return source;
}

/* New rows of which everything that they look at is there: those below the result. */
static uint32_t computable_rows_end(const tz_overview_params *how, uint32_t next,
                                    uint32_t rows_there)
{
    uint32_t low = next, high = how->to_height; /* all below low are possible */
    if (rows_there == how->from_height)
        return how->to_height;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (tz_overview_source_rows(how, (tz_interval){middle, middle + 1}).end <= rows_there)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What the first new row behind next looks at must not be lost. */
static tz_result add_halo_task(tz_writer *w, uint32_t level, const tz_overview_source *source,
                               uint32_t next, uint32_t end)
{
    tz_writer_level *l = &w->levels[level];
    const tz_overview_params *how = &w->pyramid.levels[level + 1].overview;
    tz_halo_rows *halo = &l->halo[1 - l->current_halo];
    tz_task_batch batch = {.kind = TZ_TASK_HALO, .level = level, .source = *source};
    l->current_halo = 1 - l->current_halo;
    halo->rows = 0;
    if (next == how->to_height)
        return TZ_OK;
    halo->row = tz_min_u32(tz_overview_source_rows(how, (tz_interval){next, next + 1}).first, end);
    halo->rows = end - halo->row;
    if (halo->rows == 0)
        return TZ_OK;
    if (halo->rows > tz_halo_row_count(how))
        return tz_fail(&w->ctx, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL,
                       tz_expecting(tz_no_location(), tz_halo_row_count(how), halo->rows),
                       "a reduction looks at more rows than planned");
    TZ_TRY(allocate_slab_memory(w, &halo->slab, tz_halo_bytes(&w->budget, l->image, how)));
    tz_slab_buffers(l->image, &halo->slab, halo->rows, l->image->spec.width, &batch.tile_row);
    batch.tile_row.row = halo->row;
    batch.tile_row.rows = halo->rows;
    batch.after = tz_max(l->ready_after, halo->slab.busy_until);
    TZ_TRY(tz_writer_add_tasks(w, &batch, 1));
    halo->slab.busy_until = w->tasks_added;
    return TZ_OK;
}

/* New rows of a level, as many as are possible and fit its slab. after: what the source waits for.
 */
static tz_result add_overview_tasks(tz_writer *w, uint32_t level, const tz_overview_source *source,
                                    uint32_t computable_end, uint64_t after)
{
    tz_writer_level *l = &w->levels[level];
    if (l->next_row == computable_end)
        return TZ_OK;
    TZ_TRY(begin_overview_slab(w, level));
    tz_slab *slab = &l->slabs[l->slab];
    tz_tile_row all;
    tz_slab_buffers(l->image, slab, l->slab_end - l->slab_row, l->image->spec.width, &all);
    const uint32_t rows = tz_min_u32(computable_end, l->slab_end) - l->next_row;
    const uint32_t before = l->next_row - l->slab_row;
    tz_task_batch batch = {.kind = TZ_TASK_OVERVIEW,
                           .level = level,
                           .after = tz_max(after, slab->busy_until),
                           .tile_row = {.pixels = tz_buffer_rows(&all.pixels, before, rows),
                                        .mask = tz_buffer_rows(&all.mask, before, rows),
                                        .row = l->next_row,
                                        .rows = rows,
                                        .columns = l->image->tiles_across},
                           .source = *source};
    l->next_row += rows;
    TZ_TRY(tz_writer_add_tasks(w, &batch, tz_overview_task_count(&batch)));
    l->ready_after = w->tasks_added;
    return TZ_OK;
}

static tz_result add_encode_tasks(tz_writer *w, uint32_t level, const tz_tile_row *tile_row)
{
    const tz_writer_level *l = &w->levels[level];
    const uint64_t tiles = tz_ceil_div(tile_row->rows, l->image->tile_height) * tile_row->columns *
                           tz_tile_kinds(l->image);
    const tz_task_batch batch = {
        .kind = TZ_TASK_ENCODE, .level = level, .after = l->ready_after, .tile_row = *tile_row};
    return tz_writer_add_tasks(w, &batch, tiles);
}

/* A slab of an overview that is full is a swath. */
static tz_result submit_full_slab(tz_writer *w, uint32_t level)
{
    tz_writer_level *l = &w->levels[level];
    if (l->next_row < l->slab_end || l->slab_row == l->slab_end)
        return TZ_OK;
    tz_tile_row tile_row = {
        .row = l->slab_row, .rows = l->slab_end - l->slab_row, .columns = l->image->tiles_across};
    tz_slab *slab = &l->slabs[l->slab];
    tz_slab_buffers(l->image, slab, tile_row.rows, l->image->spec.width, &tile_row);
    TZ_TRY(tz_level_accept_rows(w, level, &tile_row));
    slab->busy_until = w->tasks_added;
    l->slab = (l->slab + 1) % w->budget.level_slabs;
    l->slab_row = l->slab_end;
    return TZ_OK;
}

tz_result tz_level_accept_rows(tz_writer *w, uint32_t level, const tz_tile_row *tile_row)
{
    if (level + 1 == w->pyramid.count)
        return add_encode_tasks(w, level, tile_row);
    const tz_writer_level *l = &w->levels[level];
    const uint32_t end = tile_row->row + tile_row->rows;
    const uint32_t computable_end = computable_rows_end(&w->pyramid.levels[level + 1].overview,
                                                        w->levels[level + 1].next_row, end);
    const tz_overview_source source = overview_source(w, level, tile_row);
    tz_halo_rows *used = &w->levels[level].halo[l->current_halo];
    const uint64_t after = tz_max(l->ready_after, used->slab.busy_until);
    TZ_TRY(add_halo_task(w, level, &source, computable_end, end));
    TZ_TRY(add_overview_tasks(w, level + 1, &source, computable_end, after));
    TZ_TRY(add_encode_tasks(w, level, tile_row));
    TZ_TRY(submit_full_slab(w, level + 1));
    while (w->levels[level + 1].next_row < computable_end) {
        TZ_TRY(add_overview_tasks(w, level + 1, &source, computable_end, after));
        TZ_TRY(submit_full_slab(w, level + 1));
    }
    used->slab.busy_until = tz_max(w->levels[level + 1].ready_after,
                                   w->levels[level].halo[l->current_halo].slab.busy_until);
    return TZ_OK;
}
