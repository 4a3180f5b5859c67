/* SPDX-License-Identifier: Apache-2.0
 * Carries out a request in blocks that fit in memory, or adds up the cost of doing so.
 *
 * Half of the memory holds a block of pixels and its mask, the other half is for the read. Blocks
 * follow the edges of tiles, so that no tile is decoded twice (blocks.c); each is read by one
 * tz_read and given to the sink. A picture, and a read that is resampled, is one block, however
 * large: if memory does not suffice the error says how much would. With --salvage, the statuses of
 * tiles are collected, too. */
#include "transfer.h"

#include <stdlib.h>
#include <string.h>

#include "array_file.h"
#include "problem.h"
#include "progress.h"
#include "text.h"

#define FIRST_STATUSES 256

/* One transfer under way. */
typedef struct transfer {
    const request *r;
    const transfer_sink *sink;
    bool dry;
    tz_read_options how;
    void *pixels;
    void *mask;               /* NULL: none */
    tz_tile_status *statuses; /* of a block's tiles, for --salvage */
    uint64_t status_capacity;
    progress progress;
    transfer_result *result;
} transfer;

/* Sizes ---------------------------------------------------------------------------------------- */

static uint64_t sample_bytes(const request *r)
{
    return tz_dtype_size(r->dtype) + (r->masked ? 1 : 0);
}

/* Returns the offset of the window in its first tile, from the side where rows or columns begin
 * after turning. */
static int64_t tile_phase(int64_t from, uint32_t side, uint32_t tile, bool mirrored)
{
    return mirrored ? from - side % tile : from;
}

static block_shape transfer_shape(const request *r, const transfer_sink *sink)
{
    const tz_level *level = request_level(r);
    unsigned turn = r->how.oriented ? r->info->orientation : 1;
    bool swapped = turn >= 5 && turn <= 8;
    bool from_right = turn == 2 || turn == 3 || turn == 6 || turn == 7;
    bool from_bottom = turn == 3 || turn == 4 || turn == 7 || turn == 8;
    uint32_t tile_width = swapped ? level->tile_height : level->tile_width;
    uint32_t tile_height = swapped ? level->tile_width : level->tile_height;
    uint32_t width = swapped ? level->height : level->width;
    uint32_t height = swapped ? level->width : level->height;
    return (block_shape){.bands = r->band_count,
                         .height = r->height,
                         .width = r->width,
                         .tile_height = tile_height,
                         .tile_width = tile_width,
                         .row_phase = tile_phase(r->window.row, height, tile_height, from_bottom),
                         .column_phase =
                             tile_phase(r->window.column, width, tile_width, from_right),
                         .sample_size = sample_bytes(r),
                         .by_band = r->info->planar == TZ_PLANAR_SEPARATE,
                         .all_bands = r->settings->order != ORDER_BAND,
                         .in_order = sink->in_order};
}

static tz_result refuse_block(const transfer *t, const blocks *b, tz_error *err);

/* Half of the memory is for blocks, half for reading. A block that must be whole may take more. */
static tz_result divide_window(transfer *t, blocks *b, tz_error *err)
{
    const request *r = t->r;
    const bool whole = t->sink->whole || request_is_resampled(r);
    const block_shape shape = transfer_shape(r, t->sink);
    blocks_start(b, &shape, whole ? UINT64_MAX : r->memory.work / 2);
    uint64_t plane = (uint64_t)b->row_step * b->column_step;
    bool fits = plane <= UINT64_MAX / b->band_step / shape.sample_size;
    t->result->buffer_bytes = fits ? blocks_largest(b) * shape.sample_size : UINT64_MAX;
    if (t->result->buffer_bytes >= r->memory.work)
        return refuse_block(t, b, err);
    t->how.max_memory = r->memory.work - t->result->buffer_bytes;
    return TZ_OK;
}

static tz_result allocate_block(transfer *t, const blocks *b, tz_error *err)
{
    uint64_t samples = blocks_largest(b);
    uint64_t size = samples * tz_dtype_size(t->r->dtype);
    if (size > SIZE_MAX)
        return problem_nomem(err, "the pixels");
    t->pixels = malloc((size_t)size);
    t->mask = t->r->masked ? malloc((size_t)samples) : NULL;
    if (t->pixels == NULL || (t->r->masked && t->mask == NULL))
        return problem_nomem(err, "the pixels");
    return TZ_OK;
}

/* Blocks --------------------------------------------------------------------------------------- */

/* Makes the item of a block. A resampled read is one block, and its window is the whole one. */
static tz_item item_of(const transfer *t, const block *where, tz_outcome *outcome)
{
    const request *r = t->r;
    tz_item item = {.file = r->file,
                    .level = r->level,
                    .window = r->window,
                    .bands = r->bands + where->band,
                    .band_count = where->bands,
                    .into = {.data = t->pixels,
                             .dtype = r->dtype,
                             .bands = where->bands,
                             .height = where->height,
                             .width = where->width},
                    .outcome = outcome};
    if (!request_is_resampled(r))
        item.window = (tz_window){r->window.column + where->column, r->window.row + where->row,
                                  where->width, where->height};
    item.mask = item.into;
    item.mask.dtype = TZ_DTYPE_UINT8;
    item.mask.data = t->mask;
    array_file_strides(&item.into, r->settings->order);
    array_file_strides(&item.mask, r->settings->order);
    return item;
}

/* Makes the error of too little memory: the advice depends on blocks, which may be smaller or not.
 */
static tz_result refuse_reading(const transfer *t, uint64_t reading, tz_error *err)
{
    const bool whole = t->sink->whole || request_is_resampled(t->r);
    const uint64_t bytes = t->result->buffer_bytes;
    const uint64_t sum = bytes < UINT64_MAX - reading ? bytes + reading : UINT64_MAX;
    if (!whole)
        return memory_refuse_blocks(&t->r->memory, bytes, reading, err);
    (void)memory_refuse(&t->r->memory, sum, err);
    const size_t used = strlen(err->message);
    snprintf(err->message + used, sizeof err->message - used,
             "; choose a smaller --size or window, or raise --memory");
    return TZ_ERR_LIMIT;
}

/* The block alone is too large. A plan says how much reading needs beside it. */
static tz_result refuse_block(const transfer *t, const blocks *b, tz_error *err)
{
    static char nowhere; /* a plan needs a buffer, and stores nothing there */
    blocks first = *b;
    block where;
    transfer planned = *t;
    tz_outcome outcome = {.level = t->r->level};
    uint64_t reading = 1;
    planned.pixels = &nowhere;
    planned.mask = t->r->masked ? (void *)&nowhere : NULL;
    if (blocks_next(&first, &where)) {
        const tz_item item = item_of(&planned, &where, &outcome);
        reading += memory_to_read(&item, 1, &t->how);
    }
    return refuse_reading(t, reading, err);
}

static tz_result read_once(const transfer *t, const tz_item *item, tz_read_report *part,
                           tz_error *err)
{
    return t->dry ? tz_plan_read(part, item, 1, &t->how, err) : tz_read(item, &t->how, part, err);
}

static bool grow_statuses(transfer *t, uint64_t capacity)
{
    if (capacity > SIZE_MAX / sizeof *t->statuses)
        return false;
    tz_tile_status *grown = realloc(t->statuses, (size_t)capacity * sizeof *grown);
    if (grown == NULL)
        return false;
    t->statuses = grown;
    t->status_capacity = capacity;
    return true;
}

static void note_damaged(transfer *t)
{
    transfer_result *to = t->result;
    for (uint64_t i = 0; i < to->outcome.tile_count; i++) {
        if (t->statuses[i].result != TZ_OK && to->damaged_count < TRANSFER_DAMAGED)
            to->damaged[to->damaged_count++] = t->statuses[i];
    }
}

/* Reads with a list of tile statuses. Its length is found by a first attempt that is too short: a
 * plan without a list would fail if the table of tiles is damaged. */
static tz_result salvage_block(transfer *t, const tz_item *item, tz_read_report *part,
                               tz_error *err)
{
    tz_outcome *outcome = item->outcome;
    uint64_t capacity = t->status_capacity > 0 ? t->status_capacity : FIRST_STATUSES;
    for (int attempt = 0; attempt < 2; attempt++) {
        if (capacity > t->status_capacity && !grow_statuses(t, capacity))
            return problem_nomem(err, "the list of tiles");
        outcome->tiles = t->statuses;
        outcome->tile_room = t->status_capacity;
        tz_result result = read_once(t, item, part, err);
        if (result == TZ_OK)
            note_damaged(t);
        if (result != TZ_ERR_ARG || outcome->tile_count <= t->status_capacity)
            return result;
        capacity = outcome->tile_count;
    }
    return TZ_ERR_ARG;
}

/* Reads or plans one block, adds to the report, and gives the pixels to the sink. */
static tz_result transfer_block(transfer *t, const block *where, tz_error *err)
{
    tz_read_report part = {0};
    tz_outcome *outcome = &t->result->outcome;
    *outcome = (tz_outcome){.level = t->r->level};
    const tz_item item = item_of(t, where, outcome);
    t->how.progress =
        progress_next(&t->progress, (uint64_t)where->bands * where->height * where->width);
    if (progress_is_cancelled())
        return progress_cancelled(err);
    tz_result result = t->r->settings->salvage ? salvage_block(t, &item, &part, err)
                                               : read_once(t, &item, &part, err);
    if (result == TZ_ERR_CANCELLED)
        return progress_cancelled(err);
    if (result != TZ_OK && memory_is_short(err))
        return refuse_reading(t, memory_needed(err, t->how.max_memory), err);
    if (result != TZ_OK) {
        (void)device_problem(err);
        return result;
    }
    t->result->block_count++;
    tz_report_add(&t->result->report, &part);
    return t->dry ? TZ_OK : t->sink->put(t->sink->user, where, &item.into, &item.mask, err);
}

tz_result transfer_run(const request *r, const transfer_sink *sink, bool dry, transfer_result *out,
                       tz_error *err)
{
    transfer t = {.r = r, .sink = sink, .dry = dry, .how = r->how, .result = out};
    blocks b;
    block where;
    *out = (transfer_result){0};
    tz_result result = divide_window(&t, &b, err);
    if (result == TZ_OK)
        result = allocate_block(&t, &b, err);
    uint64_t samples = (uint64_t)r->band_count * r->height * r->width;
    progress_start(&t.progress, samples, samples * tz_dtype_size(r->dtype));
    while (result == TZ_OK && blocks_next(&b, &where))
        result = transfer_block(&t, &where, err);
    progress_end(&t.progress);
    free(t.pixels);
    free(t.mask);
    free(t.statuses);
    return result;
}
