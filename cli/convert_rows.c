/* SPDX-License-Identifier: Apache-2.0
 * Rows of a TIFF, read when the writer asks for them: a part of the window of the conversion, or of
 * the result of its resampling.
 *
 * The writer wants pixels and perhaps a mask. The samples that the mask is made of, the file's own
 * mask or a band, are part of the same batch of reads; nodata is found in the pixels afterwards,
 * or, if values change while they are read, by masks of all bands that the library makes. An alpha
 * band that is added is made in the same way, in the last band of the pixels. A tile that needs
 * more memory than planned raises the budget to what it needs, unless --memory forbids it.
 *
 * If the window does not start with a row of tiles, neither does what the writer asks for, and most
 * rows of tiles would be decoded twice. Where memory allows it, the last row of tiles of a call is
 * read as a whole, and its further rows are kept for the next call. */
#include "convert_rows.h"

#include <stdlib.h>
#include <string.h>

#include "problem.h"
#include "progress.h"
#include "valid_pixels.h"

/* Divisor of the memory for reading, for the share of the masks of bands; and the rows that they
 * have at least, as a tile is decoded again for each part of its rows. */
#define MASKS_PART      2
#define LEAST_MASK_ROWS 64

static uint64_t least_mask_bytes(const conversion *c)
{
    const uint32_t rows = c->spec.height < LEAST_MASK_ROWS ? c->spec.height : LEAST_MASK_ROWS;
    return c->by_source ? (uint64_t)c->from.band_count * c->spec.width * rows : 0;
}

uint64_t convert_rows_memory(const convert_rows *f)
{
    const uint64_t least = f->how.max_host_bytes + least_mask_bytes(f->c);
    return f->c->by_source && f->memory > least ? f->memory : least;
}

void convert_rows_bound(convert_rows *f, uint64_t memory)
{
    f->max_host_bytes = memory - least_mask_bytes(f->c);
}

void convert_rows_start(convert_rows *f, const conversion *c, uint64_t memory)
{
    *f = (convert_rows){.c = c, .how = TZ_READ_OPTIONS_INIT, .memory = memory > 0 ? memory : 1};
    f->how.threads = c->options.threads;
    f->how.max_host_bytes = c->by_source ? f->memory - f->memory / MASKS_PART : f->memory;
    f->how.progress = progress_watch();
    f->how.resampling = c->from.resampling;
    f->how.salvage = c->from.salvage;
    f->how.nodata_as = c->from.nodata_as;
    f->how.has_fill = c->from.fill.kind != TZ_NODATA_KIND_NONE;
    if (f->how.has_fill)
        f->how.fill = nodata_number(&c->from.fill);
    if (c->device == NULL) /* encode-block has no settings of devices */
        return;
    f->how.device = c->device;
    f->how.strict_device = c->settings->device.strict;
    f->how.allow_vendor_codecs = c->settings->device.lossy;
    f->how.allow_inexact = c->settings->device.lossy;
    f->how.max_device_bytes = conversion_device_bytes_to_read(c);
}

/* Items ---------------------------------------------------------------------------------------- */

/* The items of a window, and their buffers; they must not move. */
typedef struct row_items {
    tz_item items[2];
    size_t count;
    tz_buffer pixels;
    tz_buffer first_pixels; /* the first band of pixels, and the others, if they are read apart */
    tz_buffer others;
    tz_buffer valid;    /* samples that say which pixels are valid: of the mask, or of alpha */
    bool valid_is_read; /* by these items */
} row_items;

/* Returns the last band of pixels as bytes: of uint16 the first byte of each sample, for now. */
static tz_buffer alpha_bytes(const tz_buffer *pixels)
{
    tz_buffer alpha = *pixels;
    alpha.bands = 1;
    alpha.dtype = TZ_DTYPE_UINT8;
    alpha.data = (uint8_t *)pixels->data + (int64_t)(pixels->bands - 1) * pixels->band_stride;
    return alpha;
}

/* Makes the item that both start from: the part of the source under a window of the image. */
static tz_item item_of_window(const conversion *c, const tz_window *window)
{
    tz_item item = TZ_ITEM_INIT;
    item.file = c->file;
    item.window = *window;
    item.window.column += c->from.window.column;
    item.window.row += c->from.window.row;
    if (c->from.resampling != TZ_RESAMPLING_NONE) {
        item.level = TZ_LEVEL_AUTO;
        item.window = c->from.window;
        item.grid_width = c->spec.width;
        item.grid_height = c->spec.height;
        item.grid_column = (uint32_t)window->column;
        item.grid_row = (uint32_t)window->row;
    }
    return item;
}

/* Makes the item of all bands that are read, from one on. */
static void set_bands(tz_item *item, const source_pixels *from, uint32_t first)
{
    if (!from->all_bands || first > 0) {
        item->bands = from->bands + first;
        item->band_count = from->band_count - first;
    }
    if (from->scales != NULL) {
        item->scales = from->scales + first;
        item->offsets = from->offsets + first;
    }
}

/* Divides the item of pixels: the mask that a resampled read makes is that of each band, and one is
 * enough. */
static void mask_first_band(row_items *out, const source_pixels *from)
{
    tz_item *items = out->items;
    items[0].into_mask = &out->valid;
    out->valid_is_read = true;
    if (from->band_count == 1)
        return;
    out->others = out->pixels;
    out->others.bands--;
    out->others.data = (uint8_t *)out->pixels.data + out->pixels.band_stride;
    items[1] = items[0];
    items[1].into = &out->others;
    items[1].into_mask = NULL;
    set_bands(&items[1], from, 1);
    out->first_pixels = out->pixels;
    out->first_pixels.bands = 1;
    items[0].into = &out->first_pixels;
    items[0].bands = from->bands;
    items[0].band_count = 1;
    out->count = 2;
}

/* Makes the items of a window: the pixels, and the samples that the mask is made of. */
static void make_row_items(row_items *out, const convert_rows *f, const tz_window *window,
                           const tz_buffer *pixels, const tz_buffer *mask)
{
    const conversion *c = f->c;
    tz_item *items = out->items;
    *out = (row_items){.count = 1, .pixels = *pixels};
    out->pixels.dtype = c->from.dtype;
    out->valid = c->adds_alpha ? alpha_bytes(pixels) : mask != NULL ? *mask : (tz_buffer){0};
    out->pixels.bands -= c->adds_alpha;
    items[0] = items[1] = item_of_window(c, window);
    items[0].into = &out->pixels;
    if (c->by_source)
        items[0].into_mask = &f->band_masks;
    set_bands(&items[0], &c->from, 0);
    if (c->mask_of == MASK_OF_NOTHING || !(c->spec.mask || c->adds_alpha))
        return;
    if (c->mask_of == MASK_OF_FILE && c->from.resampling != TZ_RESAMPLING_NONE) {
        mask_first_band(out, &c->from);
        return;
    }
    out->count = 2;
    out->valid_is_read = true;
    items[1].into = &out->valid;
    items[1].mask = c->mask_of == MASK_OF_FILE;
    if (c->mask_of == MASK_OF_BAND) {
        items[1].bands = &c->mask_band;
        items[1].band_count = 1;
    }
}

/* Valid pixels --------------------------------------------------------------------------------- */

bool convert_rows_are_changed(const conversion *c)
{
    const bool has_mask = c->spec.mask || c->adds_alpha;
    return c->by_nodata.used || c->by_source || c->adds_alpha ||
           (has_mask && c->mask_of == MASK_OF_NOTHING) || (has_mask && c->from.salvage);
}

/* Makes the mask, or alpha, of what was read. */
static void make_valid(const convert_rows *f, const row_items *made, const tz_window *window,
                       const tz_read_report *report)
{
    const conversion *c = f->c;
    const bool is_read = made->valid_is_read;
    if (!convert_rows_are_changed(c))
        return;
    if (c->by_source)
        valid_merge_bands(&f->band_masks, c->by_nodata.alpha, &made->valid, is_read);
    else if (c->by_nodata.used)
        nodata_mask_apply(&c->by_nodata, &made->pixels, &made->valid, is_read);
    else if (!is_read)
        valid_fill(&made->valid, 255);
    if (c->from.salvage)
        valid_drop_damaged(c, report, window, &made->valid);
    if (c->adds_alpha)
        valid_spread_alpha(&made->valid, tz_dtype_size(c->spec.dtype));
}

/* Reading -------------------------------------------------------------------------------------- */

/* The memory of a tile is not known before it is read: a budget that is too small is raised to the
 * minimum, as the writer does. */
static bool may_raise(convert_rows *f, const tz_error *err)
{
    if (!memory_is_short(err))
        return false;
    const uint64_t needed = memory_needed(err, f->how.max_host_bytes);
    if (needed <= f->how.max_host_bytes || (f->max_host_bytes > 0 && needed > f->max_host_bytes))
        return false;
    f->how.max_host_bytes = needed;
    return true;
}

/* Reads items, again with more memory if a tile needs it, and adds to the report. *part is of these
 * items. */
static tz_result read_items(convert_rows *f, const tz_item *items, size_t count,
                            tz_read_report **part, tz_error *err)
{
    tz_result result;
    do {
        result = tz_read_batch(items, count, &f->how, part, err);
    } while (result != TZ_OK && may_raise(f, err));
    if (result != TZ_OK && f->max_host_bytes > 0 && memory_is_short(err))
        return memory_refuse(
            &f->c->memory,
            f->c->memory.work - f->max_host_bytes + memory_needed(err, f->how.max_host_bytes), err);
    if (result == TZ_OK)
        result = damaged_add(&f->damaged, f->c->file, *part, err);
    return result == TZ_OK ? tz_read_report_add(&f->report, *part, err) : result;
}

/* Returns true if the samples that the mask is made of need other options than the pixels: nodata
 * is not replaced in them, and they are 0 in tiles that cannot be read. */
static bool mask_is_apart(const convert_rows *f, const row_items *made)
{
    if (made->count == 1 || made->items[1].into != &made->valid)
        return false;
    return f->how.salvage ||
           (f->c->mask_of == MASK_OF_BAND && f->how.nodata_as.kind != TZ_NODATA_KIND_NONE);
}

static tz_result read_mask_apart(convert_rows *f, const tz_item *item, tz_error *err)
{
    const tz_read_options how = f->how;
    tz_read_report *part = NULL;
    f->how.nodata_as.kind = TZ_NODATA_KIND_NONE;
    f->how.has_fill = true;
    f->how.fill = 0;
    tz_result result = read_items(f, item, 1, &part, err);
    f->how.nodata_as = how.nodata_as;
    f->how.has_fill = how.has_fill;
    f->how.fill = how.fill;
    tz_read_report_free(part);
    return result;
}

static tz_result read_part(convert_rows *f, const tz_window *window, const tz_buffer *pixels,
                           const tz_buffer *mask, tz_error *err)
{
    row_items made;
    tz_read_report *part = NULL;
    make_row_items(&made, f, window, pixels, mask);
    const bool apart = mask_is_apart(f, &made);
    tz_result result = read_items(f, made.items, apart ? 1 : made.count, &part, err);
    if (result == TZ_OK && apart)
        result = read_mask_apart(f, &made.items[1], err);
    if (result == TZ_OK)
        make_valid(f, &made, window, part);
    tz_read_report_free(part);
    return result;
}

/* Returns the rows of a buffer from one on. */
static tz_buffer buffer_from_row(const tz_buffer *b, uint32_t row, uint32_t height)
{
    tz_buffer part = *b;
    if (b->data != NULL)
        part.data = (uint8_t *)b->data + row * b->row_stride;
    part.height = height;
    return part;
}

static void set_band_masks(convert_rows *f, const tz_window *window, void *data)
{
    const int64_t row = window->width;
    f->band_masks = (tz_buffer){.struct_size = sizeof(tz_buffer),
                                .data = data,
                                .dtype = TZ_DTYPE_UINT8,
                                .bands = f->c->from.band_count,
                                .height = window->height,
                                .width = window->width,
                                .band_stride = row * window->height,
                                .row_stride = row,
                                .column_stride = 1};
}

/* Reads as many rows at once as the masks of their bands have memory for. */
static tz_result read_with_masks(convert_rows *f, const tz_window *window, const tz_buffer *pixels,
                                 const tz_buffer *mask, tz_error *err)
{
    const uint64_t row_size = (uint64_t)f->c->from.band_count * window->width;
    const uint64_t memory = convert_rows_memory(f) - f->how.max_host_bytes;
    const uint64_t most = memory / row_size; /* one at least */
    const uint32_t rows = most < window->height ? (uint32_t)most : window->height;
    uint8_t *masks = malloc((size_t)(rows * row_size));
    tz_result result = masks != NULL ? TZ_OK : problem_nomem(err, "masks");
    for (uint64_t done = 0; result == TZ_OK && done < window->height; done += rows) {
        const uint32_t first = (uint32_t)done;
        tz_window part = *window;
        part.row += first;
        part.height = rows < window->height - first ? rows : window->height - first;
        const tz_buffer to = buffer_from_row(pixels, first, part.height);
        const tz_buffer mask_to = buffer_from_row(mask, first, part.height);
        set_band_masks(f, &part, masks);
        result = read_part(f, &part, &to, &mask_to, err);
    }
    free(masks);
    return result;
}

/* Reads a window of the image. */
static tz_result read_window(convert_rows *f, const tz_window *window, const tz_buffer *pixels,
                             const tz_buffer *mask, tz_error *err)
{
    static const tz_buffer none = {0};
    return f->c->by_source ? read_with_masks(f, window, pixels, mask != NULL ? mask : &none, err)
                           : read_part(f, window, pixels, mask, err);
}

/* Rows that are kept ---------------------------------------------------------------------------
 */

/* Divisor of the memory for the share of rows that are kept. */
#define KEEPING_PART 8

static uint32_t tile_rows(const conversion *c)
{
    return tz_file_get_level(c->file, 0)->tile_height;
}

static uint64_t row_bytes(const conversion *c)
{
    return c->spec.width * (c->spec.bands * (uint64_t)tz_dtype_size(c->spec.dtype) + c->spec.mask);
}

void convert_rows_reserve(conversion *c)
{
    const uint64_t bytes = row_bytes(c) * tile_rows(c);
    if (c->from.resampling != TZ_RESAMPLING_NONE || device_has_memory(c->device) ||
        c->from.window.row % tile_rows(c) == 0 || bytes > c->memory.work / KEEPING_PART)
        return;
    c->kept_bytes = bytes;
    c->memory.work -= bytes;
}

void convert_rows_release(conversion *c)
{
    c->memory.work += c->kept_bytes;
    c->kept_bytes = 0;
}

tz_result convert_rows_allocate(convert_rows *f, tz_error *err)
{
    const tz_image_spec *spec = &f->c->spec;
    const size_t size = tz_dtype_size(spec->dtype);
    if (f->c->kept_bytes == 0)
        return TZ_OK;
    uint8_t *memory = malloc((size_t)f->c->kept_bytes);
    if (memory == NULL)
        return problem_nomem(err, "rows");
    f->kept_pixels = (tz_buffer){.struct_size = sizeof(tz_buffer),
                                 .data = memory,
                                 .dtype = spec->dtype,
                                 .bands = spec->bands,
                                 .width = spec->width,
                                 .band_stride = (int64_t)size,
                                 .column_stride = (int64_t)(size * spec->bands),
                                 .row_stride = (int64_t)(size * spec->bands * spec->width)};
    f->kept_mask = (tz_buffer){.struct_size = sizeof(tz_buffer),
                               .data = memory + f->kept_pixels.row_stride * tile_rows(f->c),
                               .dtype = TZ_DTYPE_UINT8,
                               .bands = 1,
                               .width = spec->width,
                               .band_stride = 1,
                               .column_stride = 1,
                               .row_stride = spec->width};
    return TZ_OK;
}

void convert_rows_end(convert_rows *f)
{
    free(f->kept_pixels.data);
    f->kept_pixels.data = NULL;
}

static void copy_samples(const tz_buffer *to, const tz_buffer *from)
{
    const size_t size = tz_dtype_size(to->dtype);
    const bool together = to->column_stride == from->column_stride &&
                          to->band_stride == from->band_stride &&
                          to->column_stride == (int64_t)(size * to->bands);
    for (uint32_t y = 0; y < to->height; y++) {
        uint8_t *dst = (uint8_t *)to->data + y * to->row_stride;
        const uint8_t *src = (const uint8_t *)from->data + y * from->row_stride;
        if (together) {
            memcpy(dst, src, (size_t)to->column_stride * to->width);
            continue;
        }
        for (uint32_t band = 0; band < to->bands; band++)
            for (uint32_t x = 0; x < to->width; x++)
                memcpy(dst + band * to->band_stride + x * to->column_stride,
                       src + band * from->band_stride + x * from->column_stride, size);
    }
}

/* Copies kept rows to the start of a window. Returns how many there were. */
static uint32_t take_kept(const convert_rows *f, const tz_window *window, const tz_buffer *pixels,
                          const tz_buffer *mask)
{
    const int64_t end = f->kept_row + f->kept_pixels.height;
    if (window->row < f->kept_row || window->row >= end)
        return 0;
    const int64_t left = end - window->row;
    const uint32_t count = left < window->height ? (uint32_t)left : window->height;
    const uint32_t first = (uint32_t)(window->row - f->kept_row);
    const tz_buffer from = buffer_from_row(&f->kept_pixels, first, count);
    const tz_buffer to = buffer_from_row(pixels, 0, count);
    copy_samples(&to, &from);
    if (f->c->spec.mask) {
        const tz_buffer mask_from = buffer_from_row(&f->kept_mask, first, count);
        const tz_buffer mask_to = buffer_from_row(mask, 0, count);
        copy_samples(&mask_to, &mask_from);
    }
    return count;
}

/* Reads rows from a row of the window on: the last row of tiles into the rows that are kept. */
static tz_result read_and_keep(convert_rows *f, const tz_window *window, uint32_t done,
                               const tz_buffer *pixels, const tz_buffer *mask, tz_error *err)
{
    const uint32_t rows = tile_rows(f->c);
    const int64_t start = window->row + done;
    const int64_t end = window->row + window->height;
    const int64_t into_tiles = (f->c->from.window.row + end) % rows;
    const int64_t last = into_tiles == 0 ? end : end - into_tiles; /* where a row of tiles starts */
    const int64_t cut = last > start ? last : start;
    const tz_buffer none = {0};
    tz_window part = *window;
    tz_result result = TZ_OK;
    if (cut > start) {
        part.row = start;
        part.height = (uint32_t)(cut - start);
        const tz_buffer to = buffer_from_row(pixels, done, part.height);
        const tz_buffer mask_to = f->c->spec.mask ? buffer_from_row(mask, done, part.height) : none;
        result = read_window(f, &part, &to, &mask_to, err);
    }
    if (result != TZ_OK || cut == end)
        return result;
    const int64_t left = f->c->spec.height - cut;
    const int64_t whole = last + rows - cut;
    part.row = cut;
    part.height = (uint32_t)(left < whole ? left : whole);
    f->kept_row = cut;
    f->kept_pixels.height = f->kept_mask.height = part.height;
    result = read_window(f, &part, &f->kept_pixels, &f->kept_mask, err);
    const uint32_t skip = (uint32_t)(cut - window->row);
    const tz_window rest = {.row = cut, .width = window->width, .height = window->height - skip};
    const tz_buffer to = buffer_from_row(pixels, skip, rest.height);
    const tz_buffer mask_to = f->c->spec.mask ? buffer_from_row(mask, skip, rest.height) : none;
    if (result == TZ_OK)
        (void)take_kept(f, &rest, &to, &mask_to);
    else
        f->kept_pixels.height = 0;
    return result;
}

/* Callback of the writer: reads a window of rows. */
static tz_result read_rows(void *user, const tz_window *window, const tz_buffer *pixels,
                           const tz_buffer *mask, tz_error *err)
{
    convert_rows *f = user;
    if (f->kept_pixels.data == NULL || window->width != f->c->spec.width)
        return read_window(f, window, pixels, mask, err);
    const uint32_t done = take_kept(f, window, pixels, mask);
    return done < window->height ? read_and_keep(f, window, done, pixels, mask, err) : TZ_OK;
}

/* The writer's view ----------------------------------------------------------------------------
 */

/* Returns the rows of the image that a row of tiles of the source makes, or fewer. */
static uint32_t rows_of_tile_row(const conversion *c)
{
    const uint32_t rows = tile_rows(c);
    const uint64_t scaled = (uint64_t)rows * c->spec.height / c->from.window.height;
    return scaled < 1 ? 1 : scaled < rows ? (uint32_t)scaled : rows;
}

tz_row_source convert_rows_source(convert_rows *f)
{
    return (tz_row_source){.struct_size = sizeof(tz_row_source),
                           .read = read_rows,
                           .user = f,
                           .chunk_rows = rows_of_tile_row(f->c),
                           .columns = true,
                           .on_device = f->c->on_device};
}

static tz_result plan_window(convert_rows *f, uint32_t row, uint32_t rows, tz_read_report **report,
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
    set_band_masks(f, &window, &nowhere);
    make_row_items(&made, f, &window, &pixels, &mask);
    tz_result result;
    do {
        result = tz_plan_read(report, made.items, made.count, &f->how, err);
    } while (result != TZ_OK && may_raise(f, err));
    return result;
}

/* Plans the first slab of rows, and one that touches as many rows of tiles as any. Which one that
 * is depends on the kernel if pixels are resampled: then all are planned. */
tz_result convert_rows_plan(convert_rows *f, uint32_t rows, tz_error *err)
{
    const uint32_t last = f->c->spec.height - rows;
    const uint32_t height = tile_rows(f->c);
    const uint32_t shift = height - 1 - (uint32_t)(f->c->from.window.row % height);
    tz_result result = plan_window(f, 0, rows, &f->report, err);
    if (f->c->from.resampling == TZ_RESAMPLING_NONE) {
        if (result == TZ_OK && last > 0)
            result = plan_window(f, shift < last ? shift : last, rows, NULL, err);
        return result;
    }
    for (uint64_t row = rows; result == TZ_OK && row < f->c->spec.height; row += rows)
        result = plan_window(f, (uint32_t)row,
                             row < last ? rows : f->c->spec.height - (uint32_t)row, NULL, err);
    return result;
}
