/* SPDX-License-Identifier: Apache-2.0
 * From rows to swaths. Rows that come in small numbers gather in a slab; many rows at once are
 * taken where they are. While one slab is encoded, the other one is filled. */
#include <string.h>

#include "base/mem.h"
#include "pixel/row_ops.h"
#include "write/writer.h"

/* So many rows of tiles in one call are worth waiting for at its end, rather than be copied. */
enum { WORTH_WAITING = 4 };

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* ---- swaths ---- */

static void start_swath(tz_writer *w, const tz_swath *swath)
{
    const tz_image *image = &w->image;
    const unsigned long long index = atomic_load(&w->swath_count);
    const uint64_t count =
        tz_ceil_div(swath->rows, image->tile_height) * swath->columns * tz_tile_kinds(image);
    tz_swath *place = &w->swaths[index % TZ_SWATHS];
    *place = *swath;
    place->first = w->on_belt;
    w->on_belt += count;
    w->report.swaths++;
    if (swath->rows > w->report.swath_rows)
        w->report.swath_rows = swath->rows;
    atomic_store(&w->swath_count, index + 1);
    tz_belt_add(w->belt, count);
}

static tz_result wait_for(tz_writer *w, uint64_t number)
{
    return tz_belt_wait(w->belt, number, w->ctx.err);
}

/* ---- slabs ---- */

/* Buffers over rows of a slab: samples lie in it as tiles will want them. */
static void slab_buffers(const tz_writer *w, const tz_slab *slab, uint32_t rows, uint32_t width,
                         tz_swath *swath)
{
    const tz_image_spec *spec = &w->image.spec;
    const int64_t size = (int64_t)tz_dtype_size(spec->dtype);
    const bool planar = w->image.planes > 1;
    tz_buffer *pixels = &swath->pixels;
    *pixels = (tz_buffer){.data = slab->memory,
                          .dtype = spec->dtype,
                          .bands = spec->bands,
                          .height = rows,
                          .width = width};
    pixels->column_stride = planar ? size : size * spec->bands;
    pixels->band_stride = planar ? size * width : size;
    pixels->row_stride = size * width * spec->bands;
    swath->mask = (tz_buffer){0};
    if (spec->mask)
        swath->mask = (tz_buffer){.data = slab->memory + (size_t)pixels->row_stride * rows,
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
    tz_slab *slab = &w->slabs[w->slab];
    TZ_TRY(wait_for(w, slab->busy_until));
    if (slab->memory)
        return TZ_OK;
    const uint64_t size = tz_slab_bytes(&w->budget, &w->image);
    slab->memory = tz_alloc((size_t)size);
    return slab->memory ? TZ_OK : tz_fail_nomem(&w->ctx, size);
}

/* The slab is full: its tiles go on the belt, and the next one is filled. */
static tz_result release_slab(tz_writer *w, const tz_swath *swath)
{
    start_swath(w, swath);
    w->slabs[w->slab].busy_until = w->on_belt;
    w->slab = (w->slab + 1) % w->budget.slabs;
    return w->budget.threads == 1 ? wait_for(w, w->on_belt) : TZ_OK;
}

/* ---- rows that are given ---- */

static const uint8_t *row_at(const tz_buffer *buffer, uint32_t band, uint64_t row)
{
    return (const uint8_t *)buffer->data + (int64_t)band * buffer->band_stride +
           (int64_t)row * buffer->row_stride;
}

static void copy_row(const tz_buffer *from, uint64_t from_row, const tz_buffer *to, uint64_t to_row)
{
    const size_t size = tz_dtype_size(to->dtype);
    uint8_t *out = (uint8_t *)to->data + (int64_t)to_row * to->row_stride;
    const bool same = from->column_stride == to->column_stride &&
                      (to->bands == 1 || from->band_stride == to->band_stride);
    if (same) {
        memcpy(out, row_at(from, 0, from_row), (size_t)to->row_stride);
        return;
    }
    for (uint32_t band = 0; band < to->bands; band++)
        tz_row_ops_get()->copy(size, row_at(from, band, from_row), (ptrdiff_t)from->column_stride,
                               out + (int64_t)band * to->band_stride, (ptrdiff_t)to->column_stride,
                               to->width);
}

static tz_swath whole_width(const tz_writer *w, uint32_t row, uint32_t rows)
{
    return (tz_swath){.row = row, .rows = rows, .columns = w->image.tiles_across};
}

/* Copy rows into the slab, up to its end. */
static tz_result fill_slab(tz_writer *w, const tz_buffer *rows, const tz_buffer *mask,
                           uint32_t *used)
{
    if (w->slab_row == w->slab_end) {
        TZ_TRY(take_slab(w));
        w->slab_row = w->next_row;
        w->slab_end = tz_swath_end(&w->budget, &w->image, w->next_row);
    }
    tz_swath swath = whole_width(w, w->slab_row, w->slab_end - w->slab_row);
    slab_buffers(w, &w->slabs[w->slab], swath.rows, w->image.spec.width, &swath);
    const uint32_t count = smaller(rows->height - *used, w->slab_end - w->next_row);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t to = w->next_row - w->slab_row + i;
        copy_row(rows, *used + i, &swath.pixels, to);
        if (mask)
            copy_row(mask, *used + i, &swath.mask, to);
    }
    *used += count;
    w->next_row += count;
    if (w->next_row < w->slab_end)
        return TZ_OK;
    w->slab_row = w->slab_end;
    return release_slab(w, &swath);
}

/* A part of the caller's buffer, without the rows before. */
static tz_buffer rows_from(const tz_buffer *buffer, uint32_t row)
{
    tz_buffer part = *buffer;
    part.data = (uint8_t *)buffer->data + (int64_t)row * buffer->row_stride;
    part.height -= row;
    return part;
}

/* Whole rows of tiles that the caller's buffer holds, from used on; 0: not worth it. */
static uint32_t direct_rows(const tz_writer *w, const tz_buffer *rows, uint32_t used)
{
    const uint32_t tile_height = w->image.tile_height;
    const uint32_t left = rows->height - used;
    if (w->slab_row != w->slab_end || w->next_row % tile_height != 0)
        return 0;
    const bool to_end = left == w->image.spec.height - w->next_row;
    const uint32_t whole = to_end ? left : left / tile_height * tile_height;
    const uint32_t least = w->budget.threads == 1 ? 1 : WORTH_WAITING;
    return to_end || whole / tile_height >= least ? whole : 0;
}

static tz_result take_directly(tz_writer *w, const tz_buffer *rows, const tz_buffer *mask,
                               uint32_t *used, uint32_t count)
{
    tz_swath swath = whole_width(w, w->next_row, count);
    swath.pixels = rows_from(rows, *used);
    if (mask)
        swath.mask = rows_from(mask, *used);
    start_swath(w, &swath);
    *used += count;
    w->next_row += count;
    return wait_for(w, w->on_belt);
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
    const tz_buffer pixels = rows_from(&swath->pixels, done);
    tz_buffer mask = {0};
    if (swath->mask.data)
        mask = rows_from(&swath->mask, done);
    const tz_window window = {.column = (int64_t)swath->column * w->image.tile_width,
                              .row = row,
                              .width = pixels.width,
                              .height = pixels.height};
    tz_error failed = {0};
    const tz_result result = source->read(source->user, &window, &pixels, &mask, &failed);
    if (result == TZ_OK)
        return TZ_OK;
    if (w->ctx.err)
        *w->ctx.err = failed;
    return result;
}

/* All columns of the rows from w->next_row to end, as many at a time as a slab is wide. */
static tz_result pull_rows(tz_writer *w, const tz_row_source *source, uint32_t first, uint32_t end)
{
    const tz_image *image = &w->image;
    for (uint32_t column = 0; column < image->tiles_across; column += w->budget.columns) {
        tz_swath swath = {.row = first,
                          .rows = end - first,
                          .column = column,
                          .columns = smaller(w->budget.columns, image->tiles_across - column)};
        const uint64_t x = (uint64_t)column * image->tile_width;
        const uint64_t across = (uint64_t)swath.columns * image->tile_width;
        const uint64_t left = image->spec.width - x;
        TZ_TRY(take_slab(w));
        slab_buffers(w, &w->slabs[w->slab], swath.rows, (uint32_t)(across < left ? across : left),
                     &swath);
        TZ_TRY(ask(w, source, &swath, w->next_row));
        TZ_TRY(release_slab(w, &swath));
    }
    w->next_row = end;
    return TZ_OK;
}

/* A slab that pushed rows began to fill is filled first: its end stands already. */
static tz_result finish_slab(tz_writer *w, const tz_row_source *source)
{
    tz_swath swath = whole_width(w, w->slab_row, w->slab_end - w->slab_row);
    slab_buffers(w, &w->slabs[w->slab], swath.rows, w->image.spec.width, &swath);
    TZ_TRY(ask(w, source, &swath, w->next_row));
    w->next_row = w->slab_row = w->slab_end;
    return release_slab(w, &swath);
}

tz_result tz_writer_pull(tz_writer *w, const tz_row_source *source)
{
    if (w->slab_row != w->slab_end)
        TZ_TRY(finish_slab(w, source));
    while (w->next_row < w->image.spec.height)
        TZ_TRY(pull_rows(w, source, w->next_row, tz_swath_end(&w->budget, &w->image, w->next_row)));
    return TZ_OK;
}
