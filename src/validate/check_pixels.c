/* SPDX-License-Identifier: Apache-2.0
 * Reads and decodes every tile, many at a time and within a bound of memory.
 *
 * Tiles collect in a batch until it has 64 or its memory is full. A batch with failures is read
 * again tile by tile, because the result of a batch has no text about each tile. Tiles that share
 * their data could make a small file cost any time: the check stops after four times the size of
 * the file. */
#include <string.h>

#include "base/mem.h"
#include "base/minmax.h"
#include "tiff/tags.h"
#include "validate/checker.h"

enum { TILES_AT_ONCE = 64, MAX_SHARING = 4 };
#define DEFAULT_MEMORY (UINT64_C(256) << 20)

/* Tiles that wait to be decoded together. The arrays are by tile of the batch; items point into the
 * others, so that a batch must not move. */
typedef struct checked_tile_batch {
    const tz_checked_layer *at;
    uint8_t *memory;   /* for the pixels of all tiles */
    uint64_t capacity; /* bytes */
    uint64_t used;     /* bytes, each tile from a multiple of 16 on */
    size_t count;
    tz_item items[TILES_AT_ONCE];
    tz_buffer buffers[TILES_AT_ONCE];
    uint32_t bands[TILES_AT_ONCE];
    uint64_t input; /* bytes of all tiles so far */
} checked_tile_batch;

/* Reads the tiles of the batch. Those that fail are read again alone, for an error that describes
 * them. */
static tz_result decode_tile_batch(tz_checker *checker, checked_tile_batch *batch)
{
    tz_read_options options = TZ_READ_OPTIONS_INIT;
    tz_read_report *report = NULL;
    tz_error err;
    if (batch->count == 0)
        return TZ_OK;
    options.threads = checker->options->threads;
    options.salvage = true;
    const tz_result read = tz_read_batch(batch->items, batch->count, &options, &report, &err);
    if (read != TZ_OK && !tz_is_file_defect(read))
        return tz_checker_add_result(checker, read, &err);
    tz_result result = TZ_OK;
    options.salvage = false;
    for (size_t i = 0; result == TZ_OK && i < batch->count; i++) {
        if (read == TZ_OK && tz_read_report_get_item(report, i)->tiles_failed == 0)
            continue;
        const tz_result again = tz_read(&batch->items[i], &options, NULL, &err);
        result = tz_checker_add_result(checker, again, &err);
    }
    for (uint32_t i = 0; result == TZ_OK && read == TZ_OK && i < report->warning_count; i++)
        tz_checker_add_finding(checker, TZ_CHECK_OUTCOME_WARNING,
                               tz_read_report_get_warning(report, i));
    tz_read_report_free(report);
    TZ_TRY(result);
    checker->tiles_decoded += batch->count;
    batch->count = 0;
    batch->used = 0;
    return TZ_OK;
}

/* Returns the window of the image that a tile covers: tiles at the right and lower edges are cut.
 */
static tz_window checked_tile_window(const tz_level *shape, uint64_t tile)
{
    const uint64_t tile_index = tile % ((uint64_t)shape->tiles_across * shape->tiles_down);
    const uint64_t column = tile_index % shape->tiles_across * shape->tile_width;
    const uint64_t row = tile_index / shape->tiles_across * shape->tile_height;
    return (tz_window){
        .column = (int64_t)column,
        .row = (int64_t)row,
        .width = (uint32_t)tz_min(shape->width - column, shape->tile_width),
        .height = (uint32_t)tz_min(shape->height - row, shape->tile_height),
    };
}

/* Adds a tile whose pixels need `bytes`. With separate planes a tile belongs to one band. */
static void add_tile_to_batch(tz_checker *checker, checked_tile_batch *batch, uint64_t tile,
                              const tz_window *window, uint64_t bytes)
{
    const tz_layer *layer = &batch->at->layer;
    const size_t i = batch->count++;
    const uint64_t tiles_per_band = (uint64_t)layer->shape.tiles_across * layer->shape.tiles_down;
    const bool separate = layer->tables.planar == TZ_PLANAR_SEPARATE;
    batch->bands[i] = separate ? (uint32_t)(tile / tiles_per_band) : 0;
    batch->buffers[i] = (tz_buffer){.struct_size = sizeof batch->buffers[i],
                                    .data = batch->memory + batch->used,
                                    .dtype = layer->tables.dtype,
                                    .bands = separate ? 1 : layer->shape.samples,
                                    .height = window->height,
                                    .width = window->width};
    batch->items[i] = (tz_item){.struct_size = sizeof batch->items[i],
                                .file = checker->file,
                                .level = batch->at->level,
                                .mask = layer->is_mask,
                                .window = *window,
                                .bands = separate ? &batch->bands[i] : NULL,
                                .band_count = separate ? 1 : 0,
                                .into = &batch->buffers[i]};
    batch->used += bytes + (16 - bytes % 16) % 16;
}

/* Decodes the tiles that wait, then allocates memory for one large tile or for many small ones. */
static tz_result grow_batch_memory(tz_checker *checker, checked_tile_batch *batch, uint64_t bytes)
{
    const uint64_t allowed =
        checker->options->max_host_bytes ? checker->options->max_host_bytes : DEFAULT_MEMORY;
    const uint64_t wanted = tz_mul_capped(bytes + 16, TILES_AT_ONCE);
    const uint64_t capacity = tz_max(bytes + 16, tz_min(wanted, allowed));
    size_t size = 0;
    TZ_TRY(decode_tile_batch(checker, batch));
    tz_free(batch->memory);
    batch->capacity = 0;
    batch->memory = tz_to_size(capacity, &size) ? tz_alloc(size) : NULL;
    if (!batch->memory)
        return tz_fail_nomem(&checker->ctx, capacity);
    batch->capacity = capacity;
    return TZ_OK;
}

/* Adds the bytes of a tile. Returns true once all tiles exceed the limit; the first tile that does
 * is the finding. */
static bool exceeds_shared_data_limit(tz_checker *checker, checked_tile_batch *batch,
                                      const tz_checked_tile *view)
{
    const uint64_t size = checker->info->file_size;
    const uint64_t max_input = tz_mul_capped(size, MAX_SHARING);
    const bool before = batch->input > max_input;
    batch->input = tz_add_capped(batch->input, view->span.size);
    if (batch->input <= max_input)
        return false;
    if (!before)
        TZ_ADD_FINDING(
            checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_LAYOUT,
            tz_expecting(tz_at_layer_tile(view->at, view->tile, view->span.offset), size,
                         batch->input),
            "the tiles share their data and would be larger than the file; the rest was not "
            "decoded");
    return true;
}

/* Adds a tile to the batch, and decodes the batch first if it is full. Tiles that cannot be read at
 * all are left out: tiff.tile-spans reports them. */
static tz_result visit_tile_to_decode(tz_checker *checker, const tz_checked_tile *view, void *user)
{
    checked_tile_batch *batch = user;
    tz_error err;
    tz_tile_span span = view->span;
    const tz_layer *layer = &batch->at->layer;
    const tz_window window = checked_tile_window(&layer->shape, view->tile);
    const uint32_t bands = layer->tables.planar == TZ_PLANAR_SEPARATE ? 1 : layer->shape.samples;
    const uint64_t bytes =
        tz_mul_capped(tz_mul_capped((uint64_t)window.width * window.height, bands),
                      tz_dtype_size(layer->tables.dtype));
    if (tz_tile_check_span(checker->file, view->at->level, layer, view->tile, &span, NULL, &err) !=
        TZ_OK)
        return tz_is_file_defect(err.result) ? TZ_OK
                                             : tz_checker_add_result(checker, err.result, &err);
    if (exceeds_shared_data_limit(checker, batch, view))
        return TZ_OK;
    if (bytes > checker->file->limits.max_image_bytes) {
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_LIMIT,
                       tz_expecting(tz_at_layer_tile(view->at, view->tile, view->span.offset),
                                    checker->file->limits.max_image_bytes, bytes),
                       "the tile is too large to be decoded at once");
        return TZ_OK;
    }
    if (batch->count == TILES_AT_ONCE || batch->used + bytes > batch->capacity)
        TZ_TRY(decode_tile_batch(checker, batch));
    if (bytes > batch->capacity)
        TZ_TRY(grow_batch_memory(checker, batch, bytes));
    add_tile_to_batch(checker, batch, view->tile, &window, bytes);
    return TZ_OK;
}

/* A batch has tiles of one level only, so that it is decoded before the next level begins. */
tz_result tz_check_pixels(tz_checker *checker)
{
    if (!checker->options->full)
        return tz_checker_skip(checker, "asked for with full only");
    checked_tile_batch *batch = tz_alloc_zeroed(1, sizeof *batch);
    if (!batch)
        return tz_fail_nomem(&checker->ctx, sizeof *batch);
    tz_result result = TZ_OK;
    tz_checked_layer at = {0};
    batch->at = &at;
    while (result == TZ_OK && tz_checker_next(checker, TZ_LAYER_ALL, &at)) {
        if (!at.layer.shape.readable)
            continue;
        result = tz_checker_visit_tiles(checker, &at, visit_tile_to_decode, batch);
        if (result == TZ_OK)
            result = decode_tile_batch(checker, batch);
    }
    tz_free(batch->memory);
    tz_free(batch);
    return result;
}
