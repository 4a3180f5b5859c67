/* SPDX-License-Identifier: Apache-2.0
 * Every tile is read and decoded, many at a time and within bounds, and those that fail are named.
 */
#include <string.h>

#include "base/mem.h"
#include "validate/checker.h"

enum { TILES_AT_ONCE = 64, SHARING = 4 };
#define DEFAULT_MEMORY (UINT64_C(256) << 20)

/* Tiles that wait to be decoded together. */
typedef struct batch {
    uint32_t level;
    const tz_layer *layer;
    uint8_t *memory;
    uint64_t room;
    uint64_t used;
    size_t count;
    tz_item items[TILES_AT_ONCE];
    uint32_t bands[TILES_AT_ONCE];
    tz_outcome outcomes[TILES_AT_ONCE];
    tz_tile_status status[TILES_AT_ONCE];
    uint64_t input; /* bytes of all tiles so far */
} batch;

static tz_read_options reading(const tz_checker *checker)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.threads = checker->options->threads;
    return how;
}

/* The tile alone, for the words about what is wrong with it. */
static tz_result read_alone(tz_checker *checker, const tz_item *item)
{
    const tz_read_options how = reading(checker);
    tz_item alone = *item;
    tz_error err;
    alone.outcome = NULL;
    const tz_result result = tz_read(&alone, &how, NULL, &err);
    return tz_checker_take(checker, result, &err);
}

static tz_result name_failed(tz_checker *checker, const batch *some)
{
    for (size_t i = 0; i < some->count; i++)
        if (some->status[i].result != TZ_OK)
            TZ_TRY(read_alone(checker, &some->items[i]));
    return TZ_OK;
}

static tz_result each_alone(tz_checker *checker, const batch *some)
{
    for (size_t i = 0; i < some->count; i++)
        TZ_TRY(read_alone(checker, &some->items[i]));
    return TZ_OK;
}

static tz_result decode(tz_checker *checker, batch *some)
{
    const tz_read_options how = reading(checker);
    tz_report report;
    tz_error err;
    if (some->count == 0)
        return TZ_OK;
    memset(some->status, 0, sizeof some->status);
    const tz_result result = tz_read_batch(some->items, some->count, &how, &report, &err);
    if (result != TZ_OK && !tz_is_defect(result))
        return tz_checker_take(checker, result, &err);
    if (result != TZ_OK)
        TZ_TRY(each_alone(checker, some));
    else if (report.tiles_failed > 0)
        TZ_TRY(name_failed(checker, some));
    for (uint32_t i = 0; result == TZ_OK && i < report.warning_count; i++)
        tz_checker_found(checker, TZ_CHECK_WARNING, &report.warnings[i]);
    checker->tiles_decoded += some->count;
    some->count = 0;
    some->used = 0;
    return TZ_OK;
}

/* The part of the image that a tile covers. */
static tz_window window_of(const tz_level *shape, uint64_t tile)
{
    const uint64_t place = tile % ((uint64_t)shape->tiles_across * shape->tiles_down);
    const uint64_t column = place % shape->tiles_across * shape->tile_width;
    const uint64_t row = place / shape->tiles_across * shape->tile_height;
    const uint64_t across = shape->width - column;
    const uint64_t down = shape->height - row;
    return (tz_window){
        .column = (int64_t)column,
        .row = (int64_t)row,
        .width = across < shape->tile_width ? (uint32_t)across : shape->tile_width,
        .height = down < shape->tile_height ? (uint32_t)down : shape->tile_height,
    };
}

/* TZ_NONE when it does not fit 64 bits. */
static uint64_t bytes_of(const tz_window *window, uint32_t bands, tz_dtype dtype)
{
    return tz_mul_capped(tz_mul_capped((uint64_t)window->width * window->height, bands),
                         tz_dtype_size(dtype));
}

static void put(tz_checker *checker, batch *some, uint64_t tile, const tz_window *window,
                uint64_t bytes)
{
    const tz_layer *layer = some->layer;
    const size_t i = some->count++;
    const uint64_t places = (uint64_t)layer->shape.tiles_across * layer->shape.tiles_down;
    const bool apart = layer->tables.planar == 2;
    some->bands[i] = apart ? (uint32_t)(tile / places) : 0;
    some->outcomes[i] = (tz_outcome){.tiles = &some->status[i], .tile_room = 1};
    some->items[i] = (tz_item){.file = checker->file,
                               .level = some->level,
                               .window = *window,
                               .bands = apart ? &some->bands[i] : NULL,
                               .band_count = apart ? 1 : 0,
                               .into = {.data = some->memory + some->used,
                                        .dtype = layer->tables.dtype,
                                        .bands = apart ? 1 : layer->shape.samples,
                                        .height = window->height,
                                        .width = window->width},
                               .outcome = &some->outcomes[i]};
    some->used += bytes + (16 - bytes % 16) % 16;
}

/* Room for the largest tile, and for several where they are small. */
static tz_result make_room(tz_checker *checker, batch *some, uint64_t bytes)
{
    const uint64_t allowed =
        checker->options->max_memory ? checker->options->max_memory : DEFAULT_MEMORY;
    const uint64_t wanted = tz_mul_capped(bytes + 16, TILES_AT_ONCE);
    const uint64_t room = bytes + 16 > allowed ? bytes + 16 : wanted < allowed ? wanted : allowed;
    size_t size = 0;
    TZ_TRY(decode(checker, some));
    tz_free(some->memory);
    some->room = 0;
    some->memory = tz_to_size(room, &size) ? tz_alloc(size) : NULL;
    if (!some->memory)
        return tz_fail_nomem(&checker->ctx, room);
    some->room = room;
    return TZ_OK;
}

/* Tiles that share their data could make a small file cost any time. */
static bool is_too_much(tz_checker *checker, batch *some, const tz_tile_view *view)
{
    const uint64_t size = checker->info->file_size;
    const uint64_t most = tz_mul_capped(size, SHARING);
    const bool before = some->input > most;
    some->input = tz_add_capped(some->input, view->span.size);
    if (some->input <= most)
        return false;
    if (!before)
        TZ_FOUND(
            checker, TZ_CHECK_WARNING, TZ_CAUSE_LAYOUT,
            tz_expecting(tz_at_tile(view->level, view->tile, view->span.offset), size, some->input),
            "the tiles share their data and would be larger than the file; the rest was not "
            "decoded");
    return true;
}

static tz_result visit(tz_checker *checker, const tz_tile_view *view, void *user)
{
    batch *some = user;
    tz_error err;
    tz_tile_span span = view->span;
    const tz_layer *layer = some->layer;
    const tz_window window = window_of(&layer->shape, view->tile);
    const uint32_t bands = layer->tables.planar == 2 ? 1 : layer->shape.samples;
    const uint64_t bytes = bytes_of(&window, bands, layer->tables.dtype);
    if (tz_tile_check(checker->file, view->level, layer, view->tile, &span, NULL, &err) != TZ_OK)
        return tz_is_defect(err.result) ? TZ_OK : tz_checker_take(checker, err.result, &err);
    if (is_too_much(checker, some, view))
        return TZ_OK;
    if (bytes > checker->file->limits.max_image_bytes) {
        TZ_FOUND(checker, TZ_CHECK_WARNING, TZ_CAUSE_LIMIT,
                 tz_expecting(tz_at_tile(view->level, view->tile, view->span.offset),
                              checker->file->limits.max_image_bytes, bytes),
                 "the tile is too large to be decoded at once");
        return TZ_OK;
    }
    if (some->count == TILES_AT_ONCE || some->used + bytes > some->room)
        TZ_TRY(decode(checker, some));
    if (bytes > some->room)
        TZ_TRY(make_room(checker, some, bytes));
    put(checker, some, view->tile, &window, bytes);
    return TZ_OK;
}

static tz_result decode_layers(tz_checker *checker, batch *some)
{
    for (uint32_t i = 0; i < tz_checker_layers(checker); i++) {
        tz_layer layer;
        if (!tz_checker_layer(checker, i, &layer, &some->level) || !layer.shape.readable)
            continue;
        some->layer = &layer;
        TZ_TRY(tz_each_tile(checker, some->level, &layer, visit, some));
        TZ_TRY(decode(checker, some));
    }
    return TZ_OK;
}

tz_result tz_check_pixels(tz_checker *checker)
{
    if (!checker->options->full)
        return tz_checker_skip(checker, "asked for with full only");
    batch *some = tz_alloc_zeroed(1, sizeof *some);
    if (!some)
        return tz_fail_nomem(&checker->ctx, sizeof *some);
    const tz_result result = decode_layers(checker, some);
    tz_free(some->memory);
    tz_free(some);
    return result;
}
