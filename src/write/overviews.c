/* SPDX-License-Identifier: Apache-2.0
 * Rows of one level become tiles of that level and rows of the next smaller one.
 *
 * A tile row of level n comes in. As many rows of level n + 1 are made as the rows so far allow,
 * and are collected in a slab of that level; when the slab holds a row of tiles, it is a tile row
 * of level n + 1, and the same happens again. Rows at the end of a tile row which later rows of
 * level n + 1 depend on are copied aside (the halo), because the memory of the tile row is reused.
 * This file decides which rows can be made and where they go; w->maker makes them.
 *
 * The order of batches is halo, overview, tiles of the larger level, then the smaller level. The
 * tiles take longest, so what a later batch waits for is done long before its turn, and threads
 * rarely wait. */
#include <string.h>

#include "base/mem.h"
#include "write/writer.h"

tz_result tz_slab_allocate(const tz_writer *w, tz_slab *slab, uint64_t size)
{
    if (slab->memory || slab->device)
        return TZ_OK;
    slab->memory = tz_alloc_slab(size);
    return slab->memory ? TZ_OK : tz_fail_nomem(&w->ctx, size);
}

/* Returns the end of the new rows that depend on no row from rows_there on. next: the first new row
 * that is not made yet. */
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

/* Keeps the rows before end that the new row number next depends on. */
static tz_result keep_halo_rows(tz_writer *w, uint32_t level, const tz_overview_source *source,
                                uint32_t next, uint32_t end)
{
    tz_writer_level *l = &w->levels[level];
    const tz_overview_params *how = &w->pyramid.levels[level + 1].overview;
    tz_halo_rows *halo = &l->halo[1 - l->current_halo];
    tz_task_batch batch = {.level = level, .source = *source};
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
                       "an overview depends on more rows than planned");
    TZ_TRY(tz_slab_allocate(w, &halo->slab,
                            tz_rows_bytes(&w->budget, l->image, tz_halo_row_count(how))));
    batch.tile_row = tz_slab_tile_row(l->image, &halo->slab, halo->row, halo->rows);
    batch.after = tz_max(l->ready_after, halo->slab.busy_until);
    TZ_TRY(w->maker->copy_halo(w, &batch));
    halo->slab.busy_until = w->tasks_added;
    return TZ_OK;
}

/* Makes new rows of a level, as many as are computable and fit its slab. after: tasks below are
 * delivered before source is read. */
static tz_result make_overview_rows(tz_writer *w, uint32_t level, const tz_overview_source *source,
                                    uint32_t computable_end, uint64_t after)
{
    tz_writer_level *l = &w->levels[level];
    tz_slab *slab = &l->slabs[l->slab];
    if (l->next_row == computable_end)
        return TZ_OK;
    if (l->slab_row == l->slab_end) {
        l->slab_row = l->next_row;
        l->slab_end =
            l->next_row + tz_min_u32(l->image->tile_height, l->image->spec.height - l->next_row);
        TZ_TRY(
            tz_slab_allocate(w, slab, tz_rows_bytes(&w->budget, l->image, l->image->tile_height)));
    }
    const tz_tile_row all =
        tz_slab_tile_row(l->image, slab, l->slab_row, l->slab_end - l->slab_row);
    const uint32_t rows = tz_min_u32(computable_end, l->slab_end) - l->next_row;
    const uint32_t before = l->next_row - l->slab_row;
    const tz_task_batch batch = {.level = level,
                                 .after = tz_max(after, slab->busy_until),
                                 .tile_row = {.pixels = tz_buffer_rows(&all.pixels, before, rows),
                                              .mask = tz_buffer_rows(&all.mask, before, rows),
                                              .row = l->next_row,
                                              .rows = rows,
                                              .columns = l->image->tiles_across},
                                 .source = *source};
    l->next_row += rows;
    TZ_TRY(w->maker->make_overview(w, &batch));
    l->ready_after = w->tasks_added;
    return TZ_OK;
}

static tz_result encode_tiles(tz_writer *w, uint32_t level, const tz_tile_row *tile_row)
{
    const tz_writer_level *l = &w->levels[level];
    const uint64_t tiles = tz_ceil_div(tile_row->rows, l->image->tile_height) * tile_row->columns *
                           tz_tile_kinds(l->image);
    const tz_task_batch batch = {.level = level, .after = l->ready_after, .tile_row = *tile_row};
    return w->maker->encode(w, &batch, tiles);
}

/* The slab of an overview becomes a tile row when it is full. */
static tz_result submit_full_slab(tz_writer *w, uint32_t level)
{
    tz_writer_level *l = &w->levels[level];
    if (l->next_row < l->slab_end || l->slab_row == l->slab_end)
        return TZ_OK;
    tz_slab *slab = &l->slabs[l->slab];
    const tz_tile_row tile_row =
        tz_slab_tile_row(l->image, slab, l->slab_row, l->slab_end - l->slab_row);
    TZ_TRY(tz_level_accept_rows(w, level, &tile_row));
    slab->busy_until = w->tasks_added;
    l->slab = (l->slab + 1) % w->budget.level_slabs;
    l->slab_row = l->slab_end;
    return TZ_OK;
}

/* The halo that was kept last time and the tile row are the source of new rows. A tile row
 * may complete several slabs of the smaller level, so the last steps repeat. */
tz_result tz_level_accept_rows(tz_writer *w, uint32_t level, const tz_tile_row *tile_row)
{
    if (level + 1 == w->pyramid.count)
        return encode_tiles(w, level, tile_row);
    tz_writer_level *l = &w->levels[level];
    tz_writer_level *smaller = &w->levels[level + 1];
    tz_halo_rows *halo = &l->halo[l->current_halo];
    const uint32_t end = tile_row->row + tile_row->rows;
    const uint32_t computable_end =
        computable_rows_end(&w->pyramid.levels[level + 1].overview, smaller->next_row, end);
    const uint64_t after = tz_max(l->ready_after, halo->slab.busy_until);
    tz_tile_row before = {0};
    if (halo->rows > 0)
        before = tz_slab_tile_row(l->image, &halo->slab, halo->row, halo->rows);
    const tz_overview_source source = {
        .row_ranges = {{.row = halo->row, .pixels = before.pixels, .mask = before.mask},
                       {.row = tile_row->row,
                        .pixels = tz_buffer_rows(&tile_row->pixels, 0, tile_row->rows),
                        .mask = tz_buffer_rows(&tile_row->mask, 0, tile_row->rows)}}};
    TZ_TRY(keep_halo_rows(w, level, &source, computable_end, end));
    TZ_TRY(make_overview_rows(w, level + 1, &source, computable_end, after));
    TZ_TRY(encode_tiles(w, level, tile_row));
    TZ_TRY(submit_full_slab(w, level + 1));
    while (smaller->next_row < computable_end) {
        TZ_TRY(make_overview_rows(w, level + 1, &source, computable_end, after));
        TZ_TRY(submit_full_slab(w, level + 1));
    }
    halo->slab.busy_until = tz_max(smaller->ready_after, l->halo[l->current_halo].slab.busy_until);
    return TZ_OK;
}
