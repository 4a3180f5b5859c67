/* SPDX-License-Identifier: Apache-2.0
 * From rows to swaths. Rows that come in small numbers gather in a slab; many rows at once are
 * taken where they are. While one slab is encoded, the other one is filled. */
#include <string.h>

#include "base/mem.h"
#include "pixel/row_ops.h"
#include "write/writer.h"

/* So many rows of tiles in one call are worth waiting for at its end, rather than be copied. */
enum { MIN_DIRECT_TILE_ROWS = 4 };

static tz_result start_tile_row(tz_writer *w, const tz_tile_row *tile_row)
{
    w->report.swaths++;
    if (tile_row->rows > w->report.swath_rows)
        w->report.swath_rows = tile_row->rows;
    return tz_level_accept_rows(w, 0, tile_row);
}

static tz_result wait_for_task(tz_writer *w, uint64_t number)
{
    return tz_pipeline_wait(w->pipeline, number, w->ctx.err);
}

/* ---- slabs ---- */

/* Buffers over rows of a slab: samples lie in it as tiles will want them. */
void tz_slab_buffers(const tz_image *image, const tz_slab *slab, uint32_t rows, uint32_t width,
                     tz_tile_row *tile_row)
{
    const tz_image_spec *spec = &image->spec;
    const int64_t size = (int64_t)tz_dtype_size(spec->dtype);
    const bool planar = image->planes > 1;
    tz_buffer *pixels = &tile_row->pixels;
    *pixels = (tz_buffer){.data = slab->memory,
                          .memory = slab->device,
                          .offset = slab->offset,
                          .dtype = spec->dtype,
                          .bands = spec->bands,
                          .height = rows,
                          .width = width};
    pixels->column_stride = planar ? size : size * spec->bands;
    pixels->band_stride = planar ? size * width : size;
    pixels->row_stride = size * width * spec->bands;
    tile_row->mask = (tz_buffer){0};
    const uint64_t mask_offset = (uint64_t)pixels->row_stride * rows;
    if (spec->mask)
        tile_row->mask = (tz_buffer){.data = slab->memory ? slab->memory + mask_offset : NULL,
                                     .memory = slab->device,
                                     .offset = slab->offset + mask_offset,
                                     .dtype = TZ_DTYPE_UINT8,
                                     .bands = 1,
                                     .height = rows,
                                     .width = width,
                                     .band_stride = (int64_t)width * rows,
                                     .row_stride = width,
                                     .column_stride = 1};
}

static tz_result acquire_slab(tz_writer *w)
{
    tz_writer_level *first = &w->levels[0];
    tz_slab *slab = &first->slabs[first->slab];
    if (w->device)
        return tz_gpu_writer_acquire_slab(w);
    TZ_TRY(wait_for_task(w, slab->busy_until));
    if (slab->memory)
        return TZ_OK;
    const uint64_t size = tz_slab_bytes(&w->budget, first->image);
    slab->memory = tz_alloc_slab(size);
    return slab->memory ? TZ_OK : tz_fail_nomem(&w->ctx, size);
}

/* The slab is full: its tiles go on the belt, and the next one is filled. */
static tz_result submit_slab(tz_writer *w, tz_tile_row *tile_row)
{
    tz_writer_level *first = &w->levels[0];
    TZ_TRY(tz_slab_fill_complete(w, tile_row));
    TZ_TRY(start_tile_row(w, tile_row));
    first->slabs[first->slab].busy_until = w->tasks_added;
    first->slab = (first->slab + 1) % w->budget.slabs;
    return w->budget.threads == 1 ? wait_for_task(w, w->tasks_added) : TZ_OK;
}

/* ---- rows that are given ---- */

void tz_copy_row(const tz_buffer *from, uint64_t from_row, const tz_buffer *to, uint64_t to_row)
{
    const size_t size = tz_dtype_size(to->dtype);
    uint8_t *out = tz_pixel_at(to, 0, to_row, 0);
    const bool same = from->column_stride == to->column_stride &&
                      (to->bands == 1 || from->band_stride == to->band_stride);
    if (same) {
        memcpy(out, tz_pixel_at(from, 0, from_row, 0), (size_t)to->row_stride);
        return;
    }
    for (uint32_t band = 0; band < to->bands; band++)
        tz_row_ops_get()->copy(
            size, tz_pixel_at(from, band, from_row, 0), (ptrdiff_t)from->column_stride,
            out + (int64_t)band * to->band_stride, (ptrdiff_t)to->column_stride, to->width);
}

static tz_tile_row full_width_tile_row(const tz_writer *w, uint32_t row, uint32_t rows)
{
    return (tz_tile_row){.row = row, .rows = rows, .columns = tz_writer_image(w)->tiles_across};
}

/* Rows behind the first done ones of a slab, on the side that they are on. */
static tz_result copy_rows_to_slab(tz_writer *w, const tz_tile_row *slab, uint32_t done,
                                   const tz_buffer *rows, const tz_buffer *mask, uint32_t used,
                                   uint32_t count)
{
    const bool on_device = rows->memory != NULL;
    tz_tile_row to;
    TZ_TRY(tz_slab_fill_begin(w, slab, on_device, done, &to));
    if (on_device) {
        const tz_tile_row from = {.pixels = *rows, .mask = mask ? *mask : (tz_buffer){0}};
        TZ_TRY(tz_gpu_writer_copy_rows(w, &from, used, &to, done, count));
    }
    for (uint32_t i = 0; !on_device && i < count; i++) {
        tz_copy_row(rows, used + i, &to.pixels, done + i);
        if (mask)
            tz_copy_row(mask, used + i, &to.mask, done + i);
    }
    tz_slab_fill_end(w, on_device, done + count);
    return TZ_OK;
}

/* Copy rows into the slab, up to its end. */
static tz_result fill_slab(tz_writer *w, const tz_buffer *rows, const tz_buffer *mask,
                           uint32_t *used)
{
    tz_writer_level *first = &w->levels[0];
    if (first->slab_row == first->slab_end) {
        TZ_TRY(acquire_slab(w));
        first->slab_row = first->next_row;
        first->slab_end = tz_tile_row_end(&w->budget, first->image, first->next_row);
    }
    tz_tile_row tile_row =
        full_width_tile_row(w, first->slab_row, first->slab_end - first->slab_row);
    tz_slab_buffers(first->image, &first->slabs[first->slab], tile_row.rows,
                    first->image->spec.width, &tile_row);
    const uint32_t count = tz_min_u32(rows->height - *used, first->slab_end - first->next_row);
    TZ_TRY(copy_rows_to_slab(w, &tile_row, first->next_row - first->slab_row, rows, mask, *used,
                             count));
    *used += count;
    first->next_row += count;
    if (first->next_row < first->slab_end)
        return TZ_OK;
    first->slab_row = first->slab_end;
    return submit_slab(w, &tile_row);
}

/* Whole rows of tiles that the caller's buffer holds, from used on; 0: not worth it. */
static uint32_t count_direct_rows(const tz_writer *w, const tz_buffer *rows, uint32_t used)
{
    const tz_writer_level *first = &w->levels[0];
    const uint32_t tile_height = first->image->tile_height;
    const uint32_t left = rows->height - used;
    if ((rows->memory != NULL) != (w->device != NULL)) /* tiles are made of them elsewhere */
        return 0;
    if (first->slab_row != first->slab_end || first->next_row % tile_height != 0)
        return 0;
    const bool to_end = left == first->image->spec.height - first->next_row;
    const uint32_t whole = to_end ? left : left / tile_height * tile_height;
    const uint32_t least = w->budget.threads == 1 || w->device ? 1 : MIN_DIRECT_TILE_ROWS;
    return to_end || whole / tile_height >= least ? whole : 0;
}

/* Overviews take turns with the rows they are made of, so that these are still in a cache. */
static uint32_t rows_at_once(const tz_writer *w, uint32_t left)
{
    const uint32_t row = w->levels[0].next_row;
    if (w->pyramid.count == 1)
        return left;
    return tz_min_u32(left, tz_tile_row_end(&w->budget, tz_writer_image(w), row) - row);
}

static tz_result submit_directly(tz_writer *w, const tz_buffer *rows, const tz_buffer *mask,
                                 uint32_t *used, uint32_t count)
{
    for (const uint32_t end = *used + count; *used < end;) {
        const uint32_t now = rows_at_once(w, end - *used);
        tz_tile_row tile_row = full_width_tile_row(w, w->levels[0].next_row, now);
        tile_row.pixels = tz_buffer_rows(rows, *used, now);
        if (mask)
            tile_row.mask = tz_buffer_rows(mask, *used, now);
        TZ_TRY(start_tile_row(w, &tile_row));
        *used += now;
        w->levels[0].next_row += now;
    }
    return w->device ? TZ_OK : wait_for_task(w, w->tasks_added);
}

tz_result tz_writer_push(tz_writer *w, const tz_buffer *rows, const tz_buffer *mask)
{
    uint32_t used = 0;
    while (used < rows->height) {
        const uint32_t direct = count_direct_rows(w, rows, used);
        if (direct > 0)
            TZ_TRY(submit_directly(w, rows, mask, &used, direct));
        else
            TZ_TRY(fill_slab(w, rows, mask, &used));
    }
    return TZ_OK;
}

/* ---- rows that are asked for ---- */

static tz_result read_from_source(tz_writer *w, const tz_row_source *source,
                                  const tz_tile_row *tile_row, uint32_t row)
{
    const uint32_t done = row - tile_row->row;
    tz_tile_row to;
    TZ_TRY(tz_slab_fill_begin(w, tile_row, source->on_device, done, &to));
    if (source->on_device) /* which may still be read */
        TZ_TRY(tz_device_sync(tz_writer_image(w)->options.device, 0, w->ctx.err));
    const tz_buffer pixels = tz_buffer_rows(&to.pixels, done, tile_row->rows - done);
    const tz_buffer mask = tz_buffer_rows(&to.mask, done, tile_row->rows - done);
    const tz_window window = {.column = (int64_t)tile_row->column * tz_writer_image(w)->tile_width,
                              .row = row,
                              .width = pixels.width,
                              .height = pixels.height};
    tz_error failed = {0};
    tz_gpu_writer_count_end(w);
    const tz_result result = source->read(source->user, &window, &pixels, &mask, &failed);
    tz_gpu_writer_count_begin(w);
    tz_slab_fill_end(w, source->on_device, tile_row->rows);
    if (result == TZ_OK)
        return source->on_device
                   ? tz_device_wait_for_stream(tz_writer_image(w)->options.device, w->ctx.err)
                   : TZ_OK;
    if (w->ctx.err)
        *w->ctx.err = failed;
    return result;
}

/* All columns of the rows from row to end, as many at a time as a slab is wide. */
static tz_result pull_rows(tz_writer *w, const tz_row_source *source, uint32_t row, uint32_t end)
{
    tz_writer_level *first = &w->levels[0];
    const tz_image *image = first->image;
    for (uint32_t column = 0; column < image->tiles_across; column += w->budget.columns) {
        tz_tile_row tile_row = {.row = row,
                                .rows = end - row,
                                .column = column,
                                .columns =
                                    tz_min_u32(w->budget.columns, image->tiles_across - column)};
        const uint64_t x = (uint64_t)column * image->tile_width;
        const uint64_t across = (uint64_t)tile_row.columns * image->tile_width;
        const uint64_t left = image->spec.width - x;
        TZ_TRY(acquire_slab(w));
        tz_slab_buffers(image, &first->slabs[first->slab], tile_row.rows,
                        (uint32_t)(across < left ? across : left), &tile_row);
        TZ_TRY(read_from_source(w, source, &tile_row, row));
        TZ_TRY(submit_slab(w, &tile_row));
    }
    first->next_row = end;
    return TZ_OK;
}

/* A slab that pushed rows began to fill is filled first: its end stands already. */
static tz_result fill_slab_from_source(tz_writer *w, const tz_row_source *source)
{
    tz_writer_level *first = &w->levels[0];
    tz_tile_row tile_row =
        full_width_tile_row(w, first->slab_row, first->slab_end - first->slab_row);
    tz_slab_buffers(first->image, &first->slabs[first->slab], tile_row.rows,
                    first->image->spec.width, &tile_row);
    TZ_TRY(read_from_source(w, source, &tile_row, first->next_row));
    first->next_row = first->slab_row = first->slab_end;
    return submit_slab(w, &tile_row);
}

tz_result tz_writer_pull(tz_writer *w, const tz_row_source *source)
{
    tz_writer_level *first = &w->levels[0];
    if (first->slab_row != first->slab_end)
        TZ_TRY(fill_slab_from_source(w, source));
    while (first->next_row < first->image->spec.height)
        TZ_TRY(pull_rows(w, source, first->next_row,
                         tz_tile_row_end(&w->budget, first->image, first->next_row)));
    return TZ_OK;
}
