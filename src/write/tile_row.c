/* SPDX-License-Identifier: Apache-2.0
 * Rows of the image become tile rows.
 *
 * Rows arrive in two ways: the caller pushes them (tz_write_rows), or a source is asked for them
 * (tz_write_from). Few rows at a time are copied to a slab, which is submitted when it is full; a
 * source fills the slab itself. Many pushed rows are submitted in the caller's memory, without a
 * copy. While the tiles of one slab are encoded, the other slab is filled.
 *
 * The decision that is not obvious: rows in the caller's memory must not be touched after the call
 * has returned, so the call waits for their tiles. MIN_DIRECT_TILE_ROWS makes that wait rare. With
 * one thread, or on a device, which reads the rows in the order of its queue, it costs nothing. */
#include <string.h>

#include "base/mem.h"
#include "device/launch.h"
#include "pixel/row_ops.h"
#include "tiff/tags.h"
#include "write/writer.h"

/* Rows of tiles in one call from which on they are not copied. */
enum { MIN_DIRECT_TILE_ROWS = 4 };

/* ---- checks of the caller's rows ---- */

static tz_result fail_expected(const tz_writer *w, const char *what, uint64_t expected,
                               uint64_t found)
{
    return tz_fail(&w->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                   tz_expecting(tz_no_location(), expected, found), "%s", what);
}

/* A NULL device_rows means that options.device is not set, so no device memory is accepted. */
static tz_result check_memory(const tz_writer *w, const tz_pixel_buffer *rows)
{
    if (!rows->memory || rows->height == 0)
        return TZ_OK;
    if (!w->device_rows ||
        tz_device_memory_get_device(rows->memory) != tz_writer_image(w)->options.device)
        return TZ_FAIL_ARG(&w->ctx, "rows are in memory of another device than options->device");
    if (!tz_buffer_is_within(rows))
        return tz_fail(&w->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_at_offset(rows->offset),
                       "rows go past the end of their device memory");
    return TZ_OK;
}

/* The mask must be given if and only if the specification has one. */
tz_result tz_check_rows(const tz_writer *w, tz_pixel_buffer *rows, tz_pixel_buffer *mask)
{
    const tz_image_spec *spec = &tz_writer_image(w)->spec;
    const uint32_t rows_left = spec->height - w->levels[0].next_row;
    if (!tz_pixel_buffer_exists(rows) && rows->height > 0)
        return TZ_FAIL_ARG(&w->ctx, "rows has no data");
    if (rows->dtype != spec->dtype)
        return TZ_FAIL_ARG(&w->ctx, "rows are of type %s, but the image is of type %s",
                           tz_dtype_name(rows->dtype), tz_dtype_name(spec->dtype));
    if (rows->width != spec->width)
        return fail_expected(w, "rows have another width than the image", spec->width, rows->width);
    if (rows->bands != spec->bands)
        return fail_expected(w, "rows have another number of bands than the image", spec->bands,
                             rows->bands);
    if (rows->height > rows_left)
        return fail_expected(w, "more rows than the image has", rows_left, rows->height);
    if (mask && !spec->mask)
        return TZ_FAIL_ARG(&w->ctx, "a mask is given, but the specification has none");
    if (spec->mask && (!mask || (!tz_pixel_buffer_exists(mask) && mask->height > 0)))
        return TZ_FAIL_ARG(&w->ctx, "the mask of the rows is missing");
    if (mask && (mask->dtype != TZ_DTYPE_UINT8 || mask->bands != 1))
        return TZ_FAIL_ARG(&w->ctx, "a mask is one band of uint8, not %u of %s", mask->bands,
                           tz_dtype_name(mask->dtype));
    if (mask && mask->width != rows->width)
        return fail_expected(w, "the mask has another width than the rows", rows->width,
                             mask->width);
    if (mask && mask->height != rows->height)
        return fail_expected(w, "the mask has another height than the rows", rows->height,
                             mask->height);
    if (!tz_pixel_buffer_set_strides(rows) || (mask && !tz_pixel_buffer_set_strides(mask)))
        return TZ_FAIL_ARG(&w->ctx,
                           "the rows are larger than any memory; give the strides of the buffer");
    TZ_TRY(check_memory(w, rows));
    if (!mask)
        return TZ_OK;
    TZ_TRY(check_memory(w, mask));
    if ((rows->memory != NULL) != (mask->memory != NULL))
        return TZ_FAIL_ARG(
            &w->ctx, "rows and their mask must both be in device memory, or both on the host");
    return TZ_OK;
}

/* ---- slabs ---- */

/* Planar images have a row of each band after the other; others have the bands of a pixel
 * together. */
void tz_slab_buffers(const tz_image *image, const tz_slab *slab, uint32_t rows, uint32_t width,
                     tz_tile_row *tile_row)
{
    const tz_image_spec *spec = &image->spec;
    const int64_t size = (int64_t)tz_dtype_size(spec->dtype);
    const bool planar = image->planes > 1;
    tz_pixel_buffer *pixels = &tile_row->pixels;
    *pixels = (tz_pixel_buffer){.data = slab->memory,
                                .memory = slab->device,
                                .offset = slab->offset,
                                .dtype = spec->dtype,
                                .bands = spec->bands,
                                .height = rows,
                                .width = width};
    pixels->column_stride = planar ? size : size * spec->bands;
    pixels->band_stride = planar ? size * width : size;
    pixels->row_stride = size * width * spec->bands;
    tile_row->mask = (tz_pixel_buffer){0};
    const uint64_t mask_offset = (uint64_t)pixels->row_stride * rows;
    if (spec->mask)
        tile_row->mask = (tz_pixel_buffer){.data = slab->memory ? slab->memory + mask_offset : NULL,
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

tz_tile_row tz_slab_tile_row(const tz_image *image, const tz_slab *slab, uint32_t row,
                             uint32_t rows)
{
    tz_tile_row tile_row = {.row = row, .rows = rows, .columns = image->tiles_across};
    tz_slab_buffers(image, slab, rows, image->spec.width, &tile_row);
    return tile_row;
}

/* A row of the slab's own layout is one copy; otherwise each band is gathered with its
 * strides. */
void tz_copy_row(const tz_pixel_buffer *from, uint64_t from_row, const tz_pixel_buffer *to,
                 uint64_t to_row)
{
    const size_t size = tz_dtype_size(to->dtype);
    uint8_t *out = tz_pixel_at(to, 0, to_row, 0);
    const bool same_layout = from->column_stride == to->column_stride &&
                             (to->bands == 1 || from->band_stride == to->band_stride);
    if (same_layout) {
        memcpy(out, tz_pixel_at(from, 0, from_row, 0), (size_t)to->row_stride);
        return;
    }
    for (uint32_t band = 0; band < to->bands; band++)
        tz_row_ops_get()->copy(
            size, tz_pixel_at(from, band, from_row, 0), (ptrdiff_t)from->column_stride,
            out + (int64_t)band * to->band_stride, (ptrdiff_t)to->column_stride, to->width);
}

static tz_result submit_tile_row(tz_writer *w, const tz_tile_row *tile_row)
{
    w->report->tile_rows++;
    w->report->rows_per_tile_row = tz_max_u32(w->report->rows_per_tile_row, tile_row->rows);
    return tz_level_accept_rows(w, 0, tile_row);
}

/* The slab is full: its tiles are made, and the next slab is filled. */
static tz_result submit_slab(tz_writer *w, tz_tile_row *tile_row)
{
    tz_writer_level *first = &w->levels[0];
    if (w->device_rows)
        TZ_TRY(w->device_rows->fill_complete(w, tile_row));
    TZ_TRY(submit_tile_row(w, tile_row));
    first->slabs[first->slab].busy_until = w->tasks_added;
    first->slab = (first->slab + 1) % w->budget.slabs;
    return w->budget.threads == 1 ? tz_pipeline_wait(w->pipeline, w->tasks_added, w->ctx.err)
                                  : TZ_OK;
}

/* The slab that is being filled, in full width. */
static tz_tile_row current_slab(const tz_writer *w)
{
    const tz_writer_level *first = &w->levels[0];
    return tz_slab_tile_row(first->image, &first->slabs[first->slab], first->slab_row,
                            first->slab_end - first->slab_row);
}

/* *into becomes the copy of the slab on the side that rows come from. */
static tz_result begin_fill(tz_writer *w, const tz_tile_row *slab, bool on_device, uint32_t done,
                            tz_tile_row *into)
{
    *into = *slab;
    return w->device_rows ? w->device_rows->fill_begin(w, slab, on_device, done, into) : TZ_OK;
}

static void end_fill(tz_writer *w, bool on_device, uint32_t done)
{
    if (w->device_rows)
        w->device_rows->fill_end(w, on_device, done);
}

/* ---- rows that are pushed ---- */

/* Copies rows from *used on to the slab, up to its end. */
static tz_result fill_slab(tz_writer *w, const tz_pixel_buffer *rows, const tz_pixel_buffer *mask,
                           uint32_t *used)
{
    tz_writer_level *first = &w->levels[0];
    const bool on_device = rows->memory != NULL;
    tz_tile_row to;
    if (first->slab_row == first->slab_end) {
        TZ_TRY(w->maker->acquire_slab(w));
        first->slab_row = first->next_row;
        first->slab_end = tz_tile_row_end(&w->budget, first->image, first->next_row);
    }
    tz_tile_row slab = current_slab(w);
    const uint32_t count = tz_min_u32(rows->height - *used, first->slab_end - first->next_row);
    const uint32_t done = first->next_row - first->slab_row;
    TZ_TRY(begin_fill(w, &slab, on_device, done, &to));
    if (on_device) {
        const tz_tile_row from = {.pixels = *rows, .mask = mask ? *mask : (tz_pixel_buffer){0}};
        TZ_TRY(w->device_rows->copy(w, &from, *used, &to, done, count));
    }
    for (uint32_t i = 0; !on_device && i < count; i++) {
        tz_copy_row(rows, *used + i, &to.pixels, done + i);
        if (mask)
            tz_copy_row(mask, *used + i, &to.mask, done + i);
    }
    end_fill(w, on_device, done + count);
    *used += count;
    first->next_row += count;
    if (first->next_row < first->slab_end)
        return TZ_OK;
    first->slab_row = first->slab_end;
    return submit_slab(w, &slab);
}

/* Rows of the caller's buffer from used on that are submitted without a copy: whole rows of tiles;
 * 0: copy. */
static uint32_t count_direct_rows(const tz_writer *w, const tz_pixel_buffer *rows, uint32_t used)
{
    const tz_writer_level *first = &w->levels[0];
    const uint32_t tile_height = first->image->tile_height;
    const uint32_t left = rows->height - used;
    if ((rows->memory != NULL) != w->maker->on_device)
        return 0; /* the rows go to the other side first */
    if (first->slab_row != first->slab_end || first->next_row % tile_height != 0)
        return 0;
    const bool to_end = left == first->image->spec.height - first->next_row;
    const uint32_t whole = to_end ? left : left / tile_height * tile_height;
    const bool wait_is_free = w->budget.threads == 1 || w->maker->on_device;
    return to_end || whole / tile_height >= (wait_is_free ? 1 : MIN_DIRECT_TILE_ROWS) ? whole : 0;
}

/* The caller's rows become tile rows without a copy. */
static tz_result submit_directly(tz_writer *w, const tz_pixel_buffer *rows,
                                 const tz_pixel_buffer *mask, uint32_t *used, uint32_t count)
{
    tz_writer_level *first = &w->levels[0];
    for (const uint32_t end = *used + count; *used < end;) {
        uint32_t now = end - *used;
        /* Overviews take turns with the rows that they are made of, while these are in a cache. */
        if (w->pyramid.count > 1)
            now = tz_min_u32(now, tz_tile_row_end(&w->budget, first->image, first->next_row) -
                                      first->next_row);
        tz_tile_row tile_row = {.pixels = tz_buffer_rows(rows, *used, now),
                                .row = first->next_row,
                                .rows = now,
                                .columns = first->image->tiles_across};
        if (mask)
            tile_row.mask = tz_buffer_rows(mask, *used, now);
        TZ_TRY(submit_tile_row(w, &tile_row));
        *used += now;
        first->next_row += now;
    }
    return w->maker->on_device ? TZ_OK : tz_pipeline_wait(w->pipeline, w->tasks_added, w->ctx.err);
}

tz_result tz_writer_push(tz_writer *w, const tz_pixel_buffer *rows, const tz_pixel_buffer *mask)
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

/* ---- rows that are pulled ---- */

/* Asks the source for the rows of a slab from row on. */
static tz_result read_from_source(tz_writer *w, const tz_row_source *source,
                                  const tz_tile_row *slab, uint32_t row)
{
    tz_device *device = tz_writer_image(w)->options.device;
    const uint32_t done = row - slab->row;
    tz_error failed = {0};
    tz_tile_row to;
    TZ_TRY(begin_fill(w, slab, source->on_device, done, &to));
    if (source->on_device) /* earlier tiles may still be read from the slab */
        TZ_TRY(tz_device_sync(device, 0, w->ctx.err));
    const tz_pixel_buffer rows = tz_buffer_rows(&to.pixels, done, slab->rows - done);
    const tz_pixel_buffer valid = tz_buffer_rows(&to.mask, done, slab->rows - done);
    const tz_buffer pixels = tz_caller_buffer_show(&rows);
    const tz_buffer mask = tz_caller_buffer_show(&valid);
    const tz_window window = {.column = (int64_t)slab->column * tz_writer_image(w)->tile_width,
                              .row = row,
                              .width = pixels.width,
                              .height = pixels.height};
    if (w->device_rows)
        w->device_rows->count_end(w);
    const tz_result result = source->read(source->user, &window, &pixels, &mask, &failed);
    if (w->device_rows)
        w->device_rows->count_begin(w);
    end_fill(w, source->on_device, slab->rows);
    if (result == TZ_OK)
        return source->on_device ? tz_device_wait_for_native_stream(device, w->ctx.err) : TZ_OK;
    if (w->ctx.err)
        *w->ctx.err = failed;
    return result;
}

/* A slab may be narrower than the image if memory is short and the source can read columns:
 * then a row of tiles takes several slabs. */
tz_result tz_writer_pull(tz_writer *w, const tz_row_source *source)
{
    tz_writer_level *first = &w->levels[0];
    const tz_image *image = first->image;
    if (first->slab_row != first->slab_end) { /* pushed rows are in it, and fixed its end */
        tz_tile_row slab = current_slab(w);
        TZ_TRY(read_from_source(w, source, &slab, first->next_row));
        first->next_row = first->slab_row = first->slab_end;
        TZ_TRY(submit_slab(w, &slab));
    }
    while (first->next_row < image->spec.height) {
        const uint32_t row = first->next_row;
        const uint32_t end = tz_tile_row_end(&w->budget, image, row);
        for (uint32_t column = 0; column < image->tiles_across; column += w->budget.columns) {
            const uint32_t columns = tz_min_u32(w->budget.columns, image->tiles_across - column);
            const uint64_t across = (uint64_t)columns * image->tile_width;
            const uint64_t left = image->spec.width - (uint64_t)column * image->tile_width;
            tz_tile_row slab = {
                .row = row, .rows = end - row, .column = column, .columns = columns};
            TZ_TRY(w->maker->acquire_slab(w));
            tz_slab_buffers(image, &first->slabs[first->slab], slab.rows,
                            (uint32_t)tz_min(across, left), &slab);
            TZ_TRY(read_from_source(w, source, &slab, row));
            TZ_TRY(submit_slab(w, &slab));
        }
        first->next_row = end;
    }
    return TZ_OK;
}
