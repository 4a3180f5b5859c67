/* SPDX-License-Identifier: Apache-2.0
 * Carries out a request in blocks that fit in memory, or adds up the cost of doing so.
 *
 * Half of the memory holds a block of pixels and its mask, the other half is for the read. Blocks
 * follow the edges of tiles, so that no tile is decoded twice (blocks.c); each is read by one
 * tz_read and given to the sink. A picture, and a read that is resampled, is one block, however
 * large: if memory does not suffice the error says how much would. With --salvage, tiles that
 * failed are collected, too. */
#include "transfer.h"

#include <stdlib.h>
#include <string.h>

#include "array_file.h"
#include "problem.h"
#include "progress.h"
#include "text.h"

/* One transfer under way. */
typedef struct transfer {
    const request *r;
    const transfer_sink *sink;
    bool dry;
    tz_read_options how;
    void *pixels;
    void *mask; /* NULL: none */
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
    t->how.max_host_bytes = r->memory.work - t->result->buffer_bytes;
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

/* The item of a block, and its buffers; it must not move. */
typedef struct block_item {
    tz_item item;
    tz_buffer pixels;
    tz_buffer mask; /* data NULL: none */
} block_item;

/* Makes the item of a block. A resampled read is one block, and its window is the whole one. */
static void make_block_item(block_item *out, const transfer *t, const block *where)
{
    const request *r = t->r;
    out->pixels = (tz_buffer){.struct_size = sizeof out->pixels,
                              .data = t->pixels,
                              .dtype = r->dtype,
                              .bands = where->bands,
                              .height = where->height,
                              .width = where->width};
    out->mask = out->pixels;
    out->mask.dtype = TZ_DTYPE_UINT8;
    out->mask.data = t->mask;
    array_file_strides(&out->pixels, r->settings->order);
    array_file_strides(&out->mask, r->settings->order);
    out->item = (tz_item){.struct_size = sizeof out->item,
                          .file = r->file,
                          .level = r->level,
                          .window = r->window,
                          .bands = r->bands + where->band,
                          .band_count = where->bands,
                          .into = &out->pixels,
                          .into_mask = t->mask != NULL ? &out->mask : NULL};
    if (!request_is_resampled(r))
        out->item.window = (tz_window){r->window.column + where->column, r->window.row + where->row,
                                       where->width, where->height};
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
    block_item made;
    uint64_t reading = 1;
    planned.pixels = &nowhere;
    planned.mask = t->r->masked ? (void *)&nowhere : NULL;
    if (blocks_next(&first, &where)) {
        make_block_item(&made, &planned, &where);
        reading += memory_to_read(&made.item, 1, &t->how);
    }
    return refuse_reading(t, reading, err);
}

/* Adds the report of a block. */
static tz_result add_block_report(const transfer *t, const tz_read_report *part, tz_error *err)
{
    transfer_result *to = t->result;
    to->item = *tz_read_report_get_item(part, 0);
    to->block_count++;
    tz_result result = damaged_add(&to->damaged, t->r->file, part, err);
    return result == TZ_OK ? tz_read_report_add(&to->report, part, err) : result;
}

/* Reads or plans one block, adds to the report, and gives the pixels to the sink. */
static tz_result transfer_block(transfer *t, const block *where, tz_error *err)
{
    tz_read_report *part = NULL;
    block_item made;
    make_block_item(&made, t, where);
    t->how.progress =
        progress_next(&t->progress, (uint64_t)where->bands * where->height * where->width);
    if (progress_is_cancelled())
        return progress_cancelled(err);
    tz_result result = t->dry ? tz_plan_read(&part, &made.item, 1, &t->how, err)
                              : tz_read(&made.item, &t->how, &part, err);
    if (result == TZ_ERR_CANCELLED)
        return progress_cancelled(err);
    if (result != TZ_OK && memory_is_short(err))
        return refuse_reading(t, memory_needed(err, t->how.max_host_bytes), err);
    if (result != TZ_OK) {
        (void)device_problem(err);
        return result;
    }
    result = add_block_report(t, part, err);
    tz_read_report_free(part);
    if (result != TZ_OK || t->dry)
        return result;
    return t->sink->put(t->sink->user, where, &made.pixels, &made.mask, err);
}

tz_result transfer_run(const request *r, const transfer_sink *sink, bool dry, transfer_result *out,
                       tz_error *err)
{
    transfer t = {.r = r, .sink = sink, .dry = dry, .how = r->how, .result = out};
    blocks b;
    block where;
    *out = (transfer_result){0};
    t.how.salvage = r->settings->salvage;
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
    return result;
}

void transfer_result_free(transfer_result *result)
{
    tz_read_report_free(result->report);
    damaged_free(&result->damaged);
    *result = (transfer_result){0};
}
