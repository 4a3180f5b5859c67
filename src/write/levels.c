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
enum { PIECE_ROWS = 128 };

/* ---- pieces ---- */

uint64_t tz_reduce_pieces(const tz_batch *batch)
{
    return tz_ceil_div(batch->swath.rows, PIECE_ROWS) * batch->swath.columns;
}

static tz_buffer part_of(const tz_buffer *buffer, uint32_t row, uint32_t column, uint32_t rows,
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

void tz_reduce_piece(tz_writer *w, const tz_batch *batch, uint64_t index, unsigned worker)
{
    const tz_pyramid_level *level = &w->pyramid.levels[batch->level];
    const tz_swath *swath = &batch->swath;
    const uint32_t tile_width = level->image.tile_width;
    const uint32_t column = (uint32_t)(index % swath->columns) * tile_width;
    const uint32_t row = (uint32_t)(index / swath->columns) * PIECE_ROWS;
    const tz_window window = {.column = column,
                              .row = (int64_t)swath->row + row,
                              .width = tz_min_u32(tile_width, level->image.spec.width - column),
                              .height = tz_min_u32(PIECE_ROWS, swath->rows - row)};
    const tz_buffer pixels = part_of(&swath->pixels, row, column, window.height, window.width);
    const tz_buffer mask = part_of(&swath->mask, row, column, window.height, window.width);
    tz_overview_make(&level->reduction, &batch->source, &window, &pixels, &mask,
                     w->workers[worker].reduce);
}

void tz_keep_piece(const tz_batch *batch)
{
    const tz_swath *to = &batch->swath;
    for (uint32_t i = 0; i < to->rows; i++) {
        const uint32_t row = to->row + i;
        const tz_row_range *part = &batch->source.parts[row >= batch->source.parts[1].row];
        tz_copy_row(&part->pixels, row - part->row, &to->pixels, i);
        if (to->mask.data)
            tz_copy_row(&part->mask, row - part->row, &to->mask, i);
    }
}

/* ---- memory ---- */

static tz_result allocate(const tz_writer *w, tz_slab *slab, uint64_t size)
{
    if (slab->memory || slab->device)
        return TZ_OK;
    slab->memory = tz_alloc_slab(size);
    return slab->memory ? TZ_OK : tz_fail_nomem(&w->ctx, size);
}

/* The slab of an overview that new rows go to. */
static tz_result begin_slab(tz_writer *w, uint32_t level)
{
    tz_writer_level *l = &w->levels[level];
    if (l->slab_row != l->slab_end)
        return TZ_OK;
    l->slab_row = l->next_row;
    l->slab_end =
        l->next_row + tz_min_u32(l->image->tile_height, l->image->spec.height - l->next_row);
    return allocate(w, &l->slabs[l->slab], tz_overview_slab_bytes(&w->budget, l->image));
}

/* ---- batches ---- */

/* The rows before the swath that were kept, and the swath. */
static tz_overview_source source_of(const tz_writer *w, uint32_t level, const tz_swath *swath)
{
    const tz_writer_level *l = &w->levels[level];
    const tz_kept *kept = &l->kept[l->keeping];
    tz_overview_source source = {
        .parts[1] = {.row = swath->row,
                     .pixels = tz_rows_from(&swath->pixels, 0, swath->rows),
                     .mask = tz_rows_from(&swath->mask, 0, swath->rows)}};
    tz_swath before = {0};
    if (kept->rows > 0)
        tz_slab_buffers(l->image, &kept->slab, kept->rows, l->image->spec.width, &before);
    source.parts[0] =
        (tz_row_range){.row = kept->row, .pixels = before.pixels, .mask = before.mask};
    return source;
}

/* New rows of which everything that they look at is there: those below the result. */
static uint32_t rows_possible(const tz_overview_params *how, uint32_t next, uint32_t rows_there)
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
static tz_result keep_rows(tz_writer *w, uint32_t level, const tz_overview_source *source,
                           uint32_t next, uint32_t end)
{
    tz_writer_level *l = &w->levels[level];
    const tz_overview_params *how = &w->pyramid.levels[level + 1].reduction;
    tz_kept *kept = &l->kept[1 - l->keeping];
    tz_batch batch = {.work = TZ_WORK_KEEP, .level = level, .source = *source};
    l->keeping = 1 - l->keeping;
    kept->rows = 0;
    if (next == how->to_height)
        return TZ_OK;
    kept->row = tz_min_u32(tz_overview_source_rows(how, (tz_interval){next, next + 1}).first, end);
    kept->rows = end - kept->row;
    if (kept->rows == 0)
        return TZ_OK;
    if (kept->rows > tz_kept_rows(how))
        return tz_fail(&w->ctx, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL,
                       tz_expecting(tz_no_location(), tz_kept_rows(how), kept->rows),
                       "a reduction looks at more rows than planned");
    TZ_TRY(allocate(w, &kept->slab, tz_kept_bytes(&w->budget, l->image, how)));
    tz_slab_buffers(l->image, &kept->slab, kept->rows, l->image->spec.width, &batch.swath);
    batch.swath.row = kept->row;
    batch.swath.rows = kept->rows;
    batch.after = tz_max(l->made_until, kept->slab.busy_until);
    TZ_TRY(tz_work_add(w, &batch, 1));
    kept->slab.busy_until = w->on_belt;
    return TZ_OK;
}

/* New rows of a level, as many as are possible and fit its slab. after: what the source waits for.
 */
static tz_result reduce_rows(tz_writer *w, uint32_t level, const tz_overview_source *source,
                             uint32_t possible, uint64_t after)
{
    tz_writer_level *l = &w->levels[level];
    if (l->next_row == possible)
        return TZ_OK;
    TZ_TRY(begin_slab(w, level));
    tz_slab *slab = &l->slabs[l->slab];
    tz_swath all;
    tz_slab_buffers(l->image, slab, l->slab_end - l->slab_row, l->image->spec.width, &all);
    const uint32_t rows = tz_min_u32(possible, l->slab_end) - l->next_row;
    const uint32_t before = l->next_row - l->slab_row;
    tz_batch batch = {.work = TZ_WORK_REDUCE,
                      .level = level,
                      .after = tz_max(after, slab->busy_until),
                      .swath = {.pixels = tz_rows_from(&all.pixels, before, rows),
                                .mask = tz_rows_from(&all.mask, before, rows),
                                .row = l->next_row,
                                .rows = rows,
                                .columns = l->image->tiles_across},
                      .source = *source};
    l->next_row += rows;
    TZ_TRY(tz_work_add(w, &batch, tz_reduce_pieces(&batch)));
    l->made_until = w->on_belt;
    return TZ_OK;
}

static tz_result encode_swath(tz_writer *w, uint32_t level, const tz_swath *swath)
{
    const tz_writer_level *l = &w->levels[level];
    const uint64_t tiles =
        tz_ceil_div(swath->rows, l->image->tile_height) * swath->columns * tz_tile_kinds(l->image);
    const tz_batch batch = {
        .work = TZ_WORK_ENCODE, .level = level, .after = l->made_until, .swath = *swath};
    return tz_work_add(w, &batch, tiles);
}

/* A slab of an overview that is full is a swath. */
static tz_result take_full_slab(tz_writer *w, uint32_t level)
{
    tz_writer_level *l = &w->levels[level];
    if (l->next_row < l->slab_end || l->slab_row == l->slab_end)
        return TZ_OK;
    tz_swath swath = {
        .row = l->slab_row, .rows = l->slab_end - l->slab_row, .columns = l->image->tiles_across};
    tz_slab *slab = &l->slabs[l->slab];
    tz_slab_buffers(l->image, slab, swath.rows, l->image->spec.width, &swath);
    TZ_TRY(tz_level_take(w, level, &swath));
    slab->busy_until = w->on_belt;
    l->slab = (l->slab + 1) % w->budget.level_slabs;
    l->slab_row = l->slab_end;
    return TZ_OK;
}

tz_result tz_level_take(tz_writer *w, uint32_t level, const tz_swath *swath)
{
    if (level + 1 == w->pyramid.count)
        return encode_swath(w, level, swath);
    const tz_writer_level *l = &w->levels[level];
    const uint32_t end = swath->row + swath->rows;
    const uint32_t possible =
        rows_possible(&w->pyramid.levels[level + 1].reduction, w->levels[level + 1].next_row, end);
    const tz_overview_source source = source_of(w, level, swath);
    tz_kept *used = &w->levels[level].kept[l->keeping];
    const uint64_t after = tz_max(l->made_until, used->slab.busy_until);
    TZ_TRY(keep_rows(w, level, &source, possible, end));
    TZ_TRY(reduce_rows(w, level + 1, &source, possible, after));
    TZ_TRY(encode_swath(w, level, swath));
    TZ_TRY(take_full_slab(w, level + 1));
    while (w->levels[level + 1].next_row < possible) {
        TZ_TRY(reduce_rows(w, level + 1, &source, possible, after));
        TZ_TRY(take_full_slab(w, level + 1));
    }
    used->slab.busy_until =
        tz_max(w->levels[level + 1].made_until, w->levels[level].kept[l->keeping].slab.busy_until);
    return TZ_OK;
}
