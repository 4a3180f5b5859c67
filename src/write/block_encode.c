/* SPDX-License-Identifier: Apache-2.0
 * The work of one process of a distributed COG: pixels of an overview from those of the level
 * before, and the blob of a block.
 *
 * Pixels come from the caller, are checked against the window that the plan gives the block, and go
 * through the same functions as in a writer, so that blocks have the same bytes as a file that one
 * process writes. A blob is a head (see block_head.h) with the sizes, hashes and statistics of the
 * block's tiles, then the tiles with leader and trailer in the order in which a writer makes them.
 *
 * The decision that is not obvious: every tile is hashed, whatever the plan's options say, because
 * the process that assembles the file chooses the tiles that are verified. */
#include <string.h>

#include "base/mem.h"
#include "tiff/tags.h"
#include "write/block_head.h"
#include "write/cog_layout.h"
#include "write/tile_encoder.h"

/* ---- the caller's pixels ---- */

static tz_result check_buffer(tz_buffer *out, const tz_buffer *given, const tz_window *window,
                              tz_dtype dtype, uint32_t bands, const char *what,
                              const tz_context *ctx)
{
    if (!given || !given->data)
        return TZ_FAIL_ARG(ctx, "%s has no data", what);
    if (given->dtype != dtype || given->bands != bands)
        return TZ_FAIL_ARG(ctx, "%s is %u bands of %s, and must be %u of %s", what, given->bands,
                           tz_dtype_name(given->dtype), bands, tz_dtype_name(dtype));
    if (given->width != window->width || given->height != window->height)
        return TZ_FAIL_ARG(ctx, "%s is %u x %u pixels, and must be %u x %u", what, given->width,
                           given->height, window->width, window->height);
    *out = *given;
    return tz_buffer_set_strides(out) ? TZ_OK
                                      : TZ_FAIL_ARG(ctx, "%s is larger than any memory", what);
}

/* Sets the buffers of *out, with strides; the mask has no data if the plan has none. what: the name
 * of the buffers in messages. */
static tz_result check_pixels(tz_tile_row *out, const tz_cog_plan *plan, const tz_window *window,
                              const tz_buffer *pixels, const tz_buffer *mask, const char *what,
                              const tz_context *ctx)
{
    const tz_cog_plan_info *info = &plan->info;
    out->mask = (tz_buffer){.data = NULL};
    TZ_TRY(check_buffer(&out->pixels, pixels, window, info->dtype, info->bands, what, ctx));
    if (!info->mask && !mask)
        return TZ_OK;
    if (!info->mask)
        return TZ_FAIL_ARG(ctx, "%s has a mask, but the plan has none", what);
    if (!mask)
        return TZ_FAIL_ARG(ctx, "%s has no mask, but the plan has one", what);
    return check_buffer(&out->mask, mask, window, TZ_DTYPE_UINT8, 1, what, ctx);
}

/* ---- overviews ---- */

/* An overview is made of the level before, so level 0 has no source. */
static tz_result check_window(const tz_cog_plan *plan, uint32_t level, const tz_window *window,
                              const tz_context *ctx)
{
    TZ_TRY(tz_cog_plan_check_level(plan, level, ctx));
    if (level == 0)
        return TZ_FAIL_ARG(ctx, "level 0 is the image, and is not made of another level");
    const tz_cog_level *l = &plan->levels[level];
    const bool inside = window && window->column >= 0 && window->row >= 0 && window->width > 0 &&
                        window->height > 0 && window->column <= (int64_t)l->width &&
                        window->row <= (int64_t)l->height &&
                        window->width <= l->width - (uint32_t)window->column &&
                        window->height <= l->height - (uint32_t)window->row;
    if (inside)
        return TZ_OK;
    return TZ_FAIL_ARG(ctx, "the window is empty, or reaches beyond the %u x %u pixels of level %u",
                       l->width, l->height, level);
}

/* The window of the level before that a checked window depends on. */
static tz_window source_window(const tz_overview_params *how, const tz_window *window)
{
    const uint32_t row = (uint32_t)window->row, column = (uint32_t)window->column;
    const tz_interval rows = tz_overview_source_rows(how, (tz_interval){row, row + window->height});
    const tz_interval columns =
        tz_overview_source_columns(how, (tz_interval){column, column + window->width});
    return (tz_window){.column = columns.first,
                       .row = rows.first,
                       .width = columns.end - columns.first,
                       .height = rows.end - rows.first};
}

tz_result tz_cog_source(tz_window *source, const tz_cog_plan *plan, uint32_t level,
                        const tz_window *window, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    TZ_TRY(check_window(plan, level, window, &ctx));
    *source = source_window(&plan->pyramid.levels[level].overview, window);
    return TZ_OK;
}

tz_result tz_overview_window(const tz_cog_plan *plan, uint32_t level, const tz_window *window,
                             const tz_buffer *source, const tz_buffer *source_mask,
                             const tz_buffer *pixels, const tz_buffer *mask, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_tile_row from, into;
    TZ_TRY(check_window(plan, level, window, &ctx));
    const tz_overview_params *how = &plan->pyramid.levels[level].overview;
    const tz_window whole = source_window(how, window);
    TZ_TRY(check_pixels(&from, plan, &whole, source, source_mask, "the source", &ctx));
    TZ_TRY(check_pixels(&into, plan, window, pixels, mask, "the buffer for pixels", &ctx));
    const tz_overview_source parts = {
        .row_ranges = {[1] = {(uint32_t)whole.row, from.pixels, from.mask}},
        .column = (uint32_t)whole.column};
    const size_t size = tz_overview_scratch_bytes(how, window->width);
    void *scratch = tz_alloc(size);
    if (!scratch)
        return tz_fail_nomem(&ctx, size);
    tz_overview_make(how, &parts, window, &into.pixels, &into.mask, scratch);
    tz_free(scratch);
    return TZ_OK;
}

tz_result tz_overview_block(const tz_cog_plan *plan, uint32_t level, uint64_t block,
                            const tz_buffer *source, const tz_buffer *source_mask,
                            const tz_buffer *pixels, const tz_buffer *mask, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_block_tiles tiles;
    TZ_TRY(tz_cog_plan_find_block(plan, level, block, &tiles, &ctx));
    const tz_window window = tz_cog_plan_block_window(plan, level, &tiles);
    return tz_overview_window(plan, level, &window, source, source_mask, pixels, mask, err);
}

/* ---- the blob ---- */

/* A blob that grows, and the encoder of its tiles. */
typedef struct blob {
    const tz_cog_plan *plan;
    tz_context ctx;
    tz_block_tiles tiles;
    tz_block_head head;
    tz_tile_row tile_row;
    tz_output_pyramid *pyramid; /* a copy with the options of the encoder; its pointers are the
                                   plan's */
    tz_budget budget;
    tz_tile_encoder encoder;
    uint8_t *data;
    size_t size; /* used */
    size_t capacity;
} blob;

/* Leaves space for another tile of the same size, so that not every tile reallocates. */
static tz_result grow_blob(blob *b, size_t more)
{
    if (b->capacity - b->size >= more)
        return TZ_OK;
    const size_t capacity = b->capacity / 2 + tz_max_size(b->capacity, b->size + more) / 2 + more;
    uint8_t *data = tz_realloc_array(b->data, capacity, 1);
    if (!data)
        return tz_fail_nomem(&b->ctx, capacity);
    b->data = data;
    b->capacity = capacity;
    return TZ_OK;
}

/* Appends one tile, and stores its size, hash and statistics in the head at the front of the
 * blob. */
static tz_result encode_tile_into_blob(blob *b, uint64_t index)
{
    tz_tile_slot *slot = &b->encoder.slots[0];
    TZ_TRY(tz_tile_make(&b->encoder, b->head.level, &b->tile_row, index, 0, slot, b->ctx.err));
    const size_t size = (size_t)tz_cog_tile_bytes((uint32_t)slot->size);
    tz_block_head_set_tile(b->data, &b->head, index, (uint32_t)slot->size,
                           slot->verified_index == TZ_NO_VALUE ? 0 : slot->hash);
    /* Statistics are stored by the position of their tile in the block, whatever the order of
     * tiles. */
    const tz_image *image = &b->pyramid->levels[slot->level].image;
    const uint64_t in_plane =
        slot->tile_index % ((uint64_t)image->tiles_across * image->tiles_down);
    const uint64_t row = in_plane / image->tiles_across - b->tiles.row;
    const uint64_t column = in_plane % image->tiles_across - b->tiles.column;
    for (uint32_t i = 0; i < slot->bands; i++)
        tz_block_head_set_statistics(b->data, &b->head, row * b->tiles.columns + column,
                                     slot->band + i, b->plan->info.bands, &slot->stats[i]);
    TZ_TRY(grow_blob(b, size));
    if (size > 0)
        memcpy(b->data + b->size, slot->bytes - TZ_LEADER, size);
    b->size += size;
    return TZ_OK;
}

/* The space of the head comes first; it is sealed when all tiles are encoded. One thread and one
 * slot: a process encodes one tile at a time, and blocks run in parallel. */
static tz_result fill_blob(blob *b)
{
    size_t head_size;
    b->pyramid = tz_alloc(sizeof *b->pyramid);
    if (!b->pyramid)
        return tz_fail_nomem(&b->ctx, sizeof *b->pyramid);
    *b->pyramid = b->plan->pyramid;
    tz_write_options *options = &b->pyramid->levels[0].image.options;
    b->ctx.limits = &b->pyramid->levels[0].image.limits;
    options->threads = 1;
    TZ_TRY(tz_budget_make(&b->budget, b->pyramid, NULL, NULL, 0, &b->ctx));
    b->budget.slots = 1;
    for (uint32_t i = 0; i < b->pyramid->count; i++)
        b->pyramid->levels[i].image.options.verify = TZ_VERIFY_ALL;
    b->encoder = (tz_tile_encoder){.pyramid = b->pyramid,
                                   .budget = &b->budget,
                                   .limits = b->ctx.limits,
                                   .wants_statistics = b->plan->info.statistics};
    TZ_TRY(tz_tile_encoder_open(&b->encoder, &b->ctx));
    if (!tz_to_size(b->head.size, &head_size))
        return tz_fail_nomem(&b->ctx, b->head.size);
    TZ_TRY(grow_blob(b, head_size));
    memset(b->data, 0, head_size);
    b->size = head_size;
    for (uint64_t i = 0; i < b->head.tiles; i++)
        TZ_TRY(encode_tile_into_blob(b, i));
    b->head.body = b->size - head_size;
    tz_block_head_seal(b->data, &b->head);
    return TZ_OK;
}

tz_result tz_encode_block(tz_memory *into, const tz_cog_plan *plan, uint32_t level, uint64_t block,
                          const tz_buffer *pixels, const tz_buffer *mask, tz_error *err)
{
    blob b = {.plan = plan, .ctx = {.err = err, .ifd = -1}};
    TZ_TRY(tz_cog_plan_find_block(plan, level, block, &b.tiles, &b.ctx));
    const tz_window window = tz_cog_plan_block_window(plan, level, &b.tiles);
    b.head = tz_block_head_init(plan, level, block, &b.tiles);
    b.tile_row = tz_cog_plan_block_tile_row(plan, level, &b.tiles);
    TZ_TRY(check_pixels(&b.tile_row, plan, &window, pixels, mask, "the block", &b.ctx));
    const tz_result result = fill_blob(&b);
    tz_tile_encoder_close(&b.encoder);
    tz_free(b.pyramid);
    if (result == TZ_OK)
        *into = (tz_memory){b.data, b.size};
    else
        tz_free(b.data);
    return result;
}
