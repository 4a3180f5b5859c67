/* SPDX-License-Identifier: Apache-2.0
 * Rows of a TIFF, read when the writer asks for them.
 *
 * The writer wants pixels and mask; the mask comes from the file's own mask, from its alpha band,
 * or from nodata, and is then part of the same batch of reads. A tile that needs more memory than
 * planned raises the budget to what it needs, unless --memory forbids it. */
#include "file_rows.h"

#include "progress.h"

void file_rows_start(file_rows *f, const conversion *c, uint64_t memory)
{
    *f = (file_rows){.c = c, .how = TZ_READ_OPTIONS_INIT};
    f->how.threads = c->options.threads;
    f->how.max_host_bytes = memory > 0 ? memory : 1;
    f->how.progress = progress_watch();
    if (c->device == NULL) /* encode-block has no settings of devices */
        return;
    f->how.device = c->device;
    f->how.strict_device = c->settings->device.strict;
    f->how.allow_vendor_codecs = c->settings->device.lossy;
    f->how.allow_inexact = c->settings->device.lossy;
    f->how.max_device_bytes = conversion_device_bytes_to_read(c);
}

/* The items of a window, and the buffer of the first; they must not move. */
typedef struct row_items {
    tz_item items[2];
    size_t count;
    tz_buffer pixels;
} row_items;

/* Reads grey or RGB without the alpha band after it, which is read as the mask. */
static void read_alpha_as_mask(const conversion *c, tz_item items[2])
{
    static const uint32_t bands[] = {0, 1, 2, 3};
    items[0].bands = bands;
    items[0].band_count = c->spec.bands;
    items[1].bands = bands + c->spec.bands;
    items[1].band_count = 1;
}

/* Makes the items of a window: the pixels, and the file's own mask if the image has one. */
static void make_row_items(row_items *out, const file_rows *f, const tz_window *window,
                           const tz_buffer *pixels, const tz_buffer *mask)
{
    tz_item *items = out->items;
    out->count = 1;
    out->pixels = *pixels;
    out->pixels.dtype = f->c->read_as;
    items[0] = (tz_item){
        .struct_size = sizeof *items, .file = f->c->file, .window = *window, .into = &out->pixels};
    if (!f->c->spec.mask || (f->c->by_nodata.used && !conversion_masks_by_alpha(f->c)))
        return;
    out->count = 2;
    items[1] = items[0];
    items[1].into = mask;
    if (conversion_masks_by_alpha(f->c))
        read_alpha_as_mask(f->c, items);
    else
        items[1].mask = true;
}

/* The memory of a tile is not known before it is read: a budget that is too small is raised to the
 * minimum, as the writer does. */
static bool may_raise(file_rows *f, const tz_error *err)
{
    if (!memory_is_short(err) || err->found <= f->how.max_host_bytes ||
        (f->max_host_bytes > 0 && err->found > f->max_host_bytes))
        return false;
    f->how.max_host_bytes = err->found;
    return true;
}

/* Callback of the writer: reads a window of rows, again with more memory if a tile needs it. */
static tz_result read_rows(void *user, const tz_window *window, const tz_buffer *pixels,
                           const tz_buffer *mask, tz_error *err)
{
    file_rows *f = user;
    row_items made;
    tz_read_report *part = NULL;
    make_row_items(&made, f, window, pixels, mask);
    tz_result result;
    do {
        result = tz_read_batch(made.items, made.count, &f->how, &part, err);
    } while (result != TZ_OK && may_raise(f, err));
    if (result != TZ_OK && f->max_host_bytes > 0 && memory_is_short(err))
        return memory_refuse(&f->c->memory, f->c->memory.work - f->max_host_bytes + err->found,
                             err);
    if (result != TZ_OK)
        return result;
    if (f->c->by_nodata.used)
        nodata_mask_apply(&f->c->by_nodata, pixels, mask, conversion_masks_by_alpha(f->c));
    result = tz_read_report_add(&f->report, part, err);
    tz_read_report_free(part);
    return result;
}

tz_row_source file_rows_source(file_rows *f)
{
    return (tz_row_source){.struct_size = sizeof(tz_row_source),
                           .read = read_rows,
                           .user = f,
                           .chunk_rows = tz_file_get_level(f->c->file, 0)->tile_height,
                           .columns = true,
                           .on_device = f->c->on_device};
}

static tz_result plan_window(file_rows *f, uint32_t row, uint32_t rows, tz_read_report **report,
                             tz_error *err)
{
    static char nowhere; /* a plan needs a buffer, and stores nothing there */
    const tz_image_spec *spec = &f->c->spec;
    const tz_window window = {.row = row, .width = spec->width, .height = rows};
    const tz_buffer pixels = {.struct_size = sizeof pixels,
                              .data = &nowhere,
                              .dtype = spec->dtype,
                              .bands = spec->bands,
                              .height = rows,
                              .width = spec->width};
    tz_buffer mask = pixels;
    row_items made;
    mask.dtype = TZ_DTYPE_UINT8;
    mask.bands = 1;
    make_row_items(&made, f, &window, &pixels, &mask);
    tz_result result;
    do {
        result = tz_plan_read(report, made.items, made.count, &f->how, err);
    } while (result != TZ_OK && may_raise(f, err));
    return result;
}

/* Plans the first slab of rows, and one that touches as many rows of tiles as any. */
tz_result file_rows_plan(file_rows *f, uint32_t rows, tz_error *err)
{
    const uint32_t last = f->c->spec.height - rows;
    const uint32_t shift = tz_file_get_level(f->c->file, 0)->tile_height - 1;
    tz_result result = plan_window(f, 0, rows, &f->report, err);
    if (result == TZ_OK && last > 0)
        result = plan_window(f, shift < last ? shift : last, rows, NULL, err);
    return result;
}
