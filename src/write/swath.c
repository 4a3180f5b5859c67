/* SPDX-License-Identifier: Apache-2.0
 * From rows to swaths. Rows that come in small numbers gather in a slab; many rows at once are
 * taken where they are. While one slab is encoded, the other one is filled. */
#include <string.h>

#include "base/mem.h"
#include "pixel/row_ops.h"
#include "write/writer.h"

/* So many rows of tiles in one call are worth waiting for at its end, rather than be copied. */
enum { WORTH_WAITING = 4 };

static tz_result start_swath(tz_writer *w, const tz_swath *swath)
{
    w->report.swaths++;
    if (swath->rows > w->report.swath_rows)
        w->report.swath_rows = swath->rows;
    return tz_level_take(w, 0, swath);
}

static tz_result wait_for(tz_writer *w, uint64_t number)
{
    return tz_belt_wait(w->belt, number, w->ctx.err);
}

/* ---- slabs ---- */

/* Buffers over rows of a slab: samples lie in it as tiles will want them. */
void tz_slab_buffers(const tz_image *image, const tz_slab *slab, uint32_t rows, uint32_t width,
                     tz_swath *swath)
{
    const tz_image_spec *spec = &image->spec;
    const int64_t size = (int64_t)tz_dtype_size(spec->dtype);
    const bool planar = image->planes > 1;
    tz_buffer *pixels = &swath->pixels;
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
    swath->mask = (tz_buffer){0};
    const uint64_t behind = (uint64_t)pixels->row_stride * rows;
    if (spec->mask)
        swath->mask = (tz_buffer){.data = slab->memory ? slab->memory + behind : NULL,
                                  .memory = slab->device,
                                  .offset = slab->offset + behind,
                                  .dtype = TZ_DTYPE_UINT8,
                                  .bands = 1,
                                  .height = rows,
                                  .width = width,
                                  .band_stride = (int64_t)width * rows,
                                  .row_stride = width,
                                  .column_stride = 1};
}

static tz_result take_slab(tz_writer *w)
{
    tz_writer_level *first = &w->levels[0];
    tz_slab *slab = &first->slabs[first->slab];
    if (w->device)
        return tz_device_take_slab(w);
    TZ_TRY(wait_for(w, slab->busy_until));
    if (slab->memory)
        return TZ_OK;
    const uint64_t size = tz_slab_bytes(&w->budget, first->image);
    slab->memory = tz_alloc_slab(size);
    return slab->memory ? TZ_OK : tz_fail_nomem(&w->ctx, size);
}

/* The slab is full: its tiles go on the belt, and the next one is filled. */
static tz_result release_slab(tz_writer *w, tz_swath *swath)
{
    tz_writer_level *first = &w->levels[0];
    TZ_TRY(tz_gather_release(w, swath));
    TZ_TRY(start_swath(w, swath));
    first->slabs[first->slab].busy_until = w->on_belt;
    first->slab = (first->slab + 1) % w->budget.slabs;
    return w->budget.threads == 1 ? wait_for(w, w->on_belt) : TZ_OK;
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

static tz_swath whole_width(const tz_writer *w, uint32_t row, uint32_t rows)
{
    return (tz_swath){.row = row, .rows = rows, .columns = tz_writer_image(w)->tiles_across};
}

/* Rows behind the first done ones of a slab, on the side that they are on. */
static tz_result copy_rows(tz_writer *w, const tz_swath *slab, uint32_t done, const tz_buffer *rows,
                           const tz_buffer *mask, uint32_t used, uint32_t count)
{
    const bool on_device = rows->memory != NULL;
    tz_swath to;
    TZ_TRY(tz_gather_begin(w, slab, on_device, done, &to));
    if (on_device) {
        const tz_swath from = {.pixels = *rows, .mask = mask ? *mask : (tz_buffer){0}};
        TZ_TRY(tz_device_copy_rows(w, &from, used, &to, done, count));
    }
    for (uint32_t i = 0; !on_device && i < count; i++) {
        tz_copy_row(rows, used + i, &to.pixels, done + i);
        if (mask)
            tz_copy_row(mask, used + i, &to.mask, done + i);
    }
    tz_gather_end(w, on_device, done + count);
    return TZ_OK;
}

/* Copy rows into the slab, up to its end. */
static tz_result fill_slab(tz_writer *w, const tz_buffer *rows, const tz_buffer *mask,
                           uint32_t *used)
{
    tz_writer_level *first = &w->levels[0];
    if (first->slab_row == first->slab_end) {
        TZ_TRY(take_slab(w));
        first->slab_row = first->next_row;
        first->slab_end = tz_swath_end(&w->budget, first->image, first->next_row);
    }
    tz_swath swath = whole_width(w, first->slab_row, first->slab_end - first->slab_row);
    tz_slab_buffers(first->image, &first->slabs[first->slab], swath.rows, first->image->spec.width,
                    &swath);
    const uint32_t count = tz_min_u32(rows->height - *used, first->slab_end - first->next_row);
    TZ_TRY(copy_rows(w, &swath, first->next_row - first->slab_row, rows, mask, *used, count));
    *used += count;
    first->next_row += count;
    if (first->next_row < first->slab_end)
        return TZ_OK;
    first->slab_row = first->slab_end;
    return release_slab(w, &swath);
}

/* Whole rows of tiles that the caller's buffer holds, from used on; 0: not worth it. */
static uint32_t direct_rows(const tz_writer *w, const tz_buffer *rows, uint32_t used)
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
    const uint32_t least = w->budget.threads == 1 || w->device ? 1 : WORTH_WAITING;
    return to_end || whole / tile_height >= least ? whole : 0;
}

/* Overviews take turns with the rows they are made of, so that these are still in a cache. */
static uint32_t rows_at_once(const tz_writer *w, uint32_t left)
{
    const uint32_t row = w->levels[0].next_row;
    if (w->pyramid.count == 1)
        return left;
    return tz_min_u32(left, tz_swath_end(&w->budget, tz_writer_image(w), row) - row);
}

static tz_result take_directly(tz_writer *w, const tz_buffer *rows, const tz_buffer *mask,
                               uint32_t *used, uint32_t count)
{
    for (const uint32_t end = *used + count; *used < end;) {
        const uint32_t now = rows_at_once(w, end - *used);
        tz_swath swath = whole_width(w, w->levels[0].next_row, now);
        swath.pixels = tz_rows_from(rows, *used, now);
        if (mask)
            swath.mask = tz_rows_from(mask, *used, now);
        TZ_TRY(start_swath(w, &swath));
        *used += now;
        w->levels[0].next_row += now;
    }
    return w->device ? TZ_OK : wait_for(w, w->on_belt);
}

tz_result tz_writer_push(tz_writer *w, const tz_buffer *rows, const tz_buffer *mask)
{
    uint32_t used = 0;
    while (used < rows->height) {
        const uint32_t direct = direct_rows(w, rows, used);
        if (direct > 0)
            TZ_TRY(take_directly(w, rows, mask, &used, direct));
        else
            TZ_TRY(fill_slab(w, rows, mask, &used));
    }
    return TZ_OK;
}

/* ---- rows that are asked for ---- */

static tz_result ask(tz_writer *w, const tz_row_source *source, const tz_swath *swath, uint32_t row)
{
    const uint32_t done = row - swath->row;
    tz_swath to;
    TZ_TRY(tz_gather_begin(w, swath, source->on_device, done, &to));
    if (source->on_device) /* which may still be read */
        TZ_TRY(tz_device_sync(tz_writer_image(w)->options.device, 0, w->ctx.err));
    const tz_buffer pixels = tz_rows_from(&to.pixels, done, swath->rows - done);
    const tz_buffer mask = tz_rows_from(&to.mask, done, swath->rows - done);
    const tz_window window = {.column = (int64_t)swath->column * tz_writer_image(w)->tile_width,
                              .row = row,
                              .width = pixels.width,
                              .height = pixels.height};
    tz_error failed = {0};
    tz_device_count_end(w);
    const tz_result result = source->read(source->user, &window, &pixels, &mask, &failed);
    tz_device_count_begin(w);
    tz_gather_end(w, source->on_device, swath->rows);
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
        tz_swath swath = {.row = row,
                          .rows = end - row,
                          .column = column,
                          .columns = tz_min_u32(w->budget.columns, image->tiles_across - column)};
        const uint64_t x = (uint64_t)column * image->tile_width;
        const uint64_t across = (uint64_t)swath.columns * image->tile_width;
        const uint64_t left = image->spec.width - x;
        TZ_TRY(take_slab(w));
        tz_slab_buffers(image, &first->slabs[first->slab], swath.rows,
                        (uint32_t)(across < left ? across : left), &swath);
        TZ_TRY(ask(w, source, &swath, row));
        TZ_TRY(release_slab(w, &swath));
    }
    first->next_row = end;
    return TZ_OK;
}

/* A slab that pushed rows began to fill is filled first: its end stands already. */
static tz_result finish_slab(tz_writer *w, const tz_row_source *source)
{
    tz_writer_level *first = &w->levels[0];
    tz_swath swath = whole_width(w, first->slab_row, first->slab_end - first->slab_row);
    tz_slab_buffers(first->image, &first->slabs[first->slab], swath.rows, first->image->spec.width,
                    &swath);
    TZ_TRY(ask(w, source, &swath, first->next_row));
    first->next_row = first->slab_row = first->slab_end;
    return release_slab(w, &swath);
}

tz_result tz_writer_pull(tz_writer *w, const tz_row_source *source)
{
    tz_writer_level *first = &w->levels[0];
    if (first->slab_row != first->slab_end)
        TZ_TRY(finish_slab(w, source));
    while (first->next_row < first->image->spec.height)
        TZ_TRY(pull_rows(w, source, first->next_row,
                         tz_swath_end(&w->budget, first->image, first->next_row)));
    return TZ_OK;
}
