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
#include "base/pool.h"
#include "tiff/tags.h"
#include "write/block_head.h"
#include "write/cog_layout.h"
#include "write/tile_encoder.h"

/* ---- options ---- */

enum { MAX_THREADS = 1024 };

/* Copies the caller's options. One thread is the default: blocks run in parallel. */
static tz_result copy_options(tz_block_options *out, const tz_block_options *given,
                              const tz_context *ctx)
{
    *out = (tz_block_options)TZ_BLOCK_OPTIONS_INIT;
    TZ_TRY(tz_copy_struct(out, sizeof *out, given, "options", "TZ_BLOCK_OPTIONS_INIT", ctx));
    out->threads = tz_min_u32(tz_max_u32(out->threads, 1), MAX_THREADS);
    return TZ_OK;
}

/* ---- the caller's pixels ---- */

/* Blocks are encoded by the CPU: their pixels are in host memory. */
static tz_result check_buffer(tz_pixel_buffer *out, const tz_buffer *given, const tz_window *window,
                              tz_dtype dtype, uint32_t bands, const char *what,
                              const tz_context *ctx)
{
    tz_wrapped_list none = {0};
    TZ_TRY(tz_caller_buffer_enter(out, given, what, NULL, &none, ctx));
    if (out->memory)
        return TZ_FAIL_ARG(ctx, "%s is in device memory", what);
    if (!out->data)
        return TZ_FAIL_ARG(ctx, "%s has no data", what);
    if (out->dtype != dtype || out->bands != bands)
        return TZ_FAIL_ARG(ctx, "%s is %u bands of %s, and must be %u of %s", what, out->bands,
                           tz_dtype_name(out->dtype), bands, tz_dtype_name(dtype));
    if (out->width != window->width || out->height != window->height)
        return TZ_FAIL_ARG(ctx, "%s is %u x %u pixels, and must be %u x %u", what, out->width,
                           out->height, window->width, window->height);
    return tz_pixel_buffer_set_strides(out)
               ? TZ_OK
               : TZ_FAIL_ARG(ctx, "%s is larger than any memory", what);
}

/* Sets the buffers of *out, with strides; the mask has no data if the plan has none. what: the name
 * of the buffers in messages. */
static tz_result check_pixels(tz_tile_row *out, const tz_cog_plan *plan, const tz_window *window,
                              const tz_buffer *pixels, const tz_buffer *mask, const char *what,
                              const tz_context *ctx)
{
    const tz_cog_plan_info *info = &plan->info;
    out->mask = (tz_pixel_buffer){.data = NULL};
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

tz_result tz_cog_plan_get_source(tz_window *source, const tz_cog_plan *plan, uint32_t level,
                                 const tz_window *window, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    TZ_TRY(check_window(plan, level, window, &ctx));
    *source = source_window(&plan->pyramid.levels[level].overview, window);
    return TZ_OK;
}

/* Rows of an overview that are made at a time: progress is checked between them. */
enum { ROWS_AT_A_TIME = 128 };

typedef struct overview_job {
    const tz_overview_params *how;
    tz_overview_source source;
    tz_window window;
    tz_tile_row into;
    uint8_t *scratch; /* scratch_size bytes for each thread */
    size_t scratch_size;
} overview_job;

/* Makes one group of rows: a job of a thread pool. */
static tz_result make_overview_group(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    const overview_job *job = user;
    const uint32_t first = (uint32_t)index * ROWS_AT_A_TIME;
    tz_window part = job->window;
    (void)err;
    part.row += first;
    part.height = tz_min_u32(ROWS_AT_A_TIME, part.height - first);
    const tz_pixel_buffer pixels = tz_buffer_rows(&job->into.pixels, first, part.height);
    tz_pixel_buffer mask = job->into.mask;
    if (mask.data)
        mask = tz_buffer_rows(&mask, first, part.height);
    tz_overview_make(job->how, &job->source, &part, &pixels, &mask,
                     job->scratch + worker * job->scratch_size);
    return TZ_OK;
}

/* Runs all groups. Progress is reported in rows, so the groups run in rounds of one for each
 * thread. */
static tz_result make_overview_window(overview_job *job, const tz_block_options *options,
                                      const tz_context *ctx)
{
    const uint32_t height = job->window.height;
    const uint32_t round = options->threads * ROWS_AT_A_TIME;
    const tz_window window = job->window;
    const tz_tile_row into = job->into;
    for (uint32_t row = 0; row < height; row += tz_min_u32(round, height - row)) {
        const uint32_t rows = tz_min_u32(round, height - row);
        TZ_TRY(tz_check_progress(ctx, &options->progress, row, height));
        job->window.row = window.row + row;
        job->window.height = rows;
        job->into.pixels = tz_buffer_rows(&into.pixels, row, rows);
        if (into.mask.data)
            job->into.mask = tz_buffer_rows(&into.mask, row, rows);
        TZ_TRY(tz_pool_run_shared(options->threads, tz_ceil_div(rows, ROWS_AT_A_TIME),
                                  make_overview_group, job, NULL, ctx));
    }
    return tz_check_progress(ctx, &options->progress, height, height);
}

tz_result tz_overview_window(const tz_cog_plan *plan, uint32_t level, const tz_window *window,
                             const tz_buffer *source, const tz_buffer *source_mask,
                             const tz_buffer *pixels, const tz_buffer *mask,
                             const tz_block_options *options, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_block_options how;
    tz_tile_row from;
    overview_job job = {.how = NULL};
    TZ_TRY(copy_options(&how, options, &ctx));
    TZ_TRY(check_window(plan, level, window, &ctx));
    job.how = &plan->pyramid.levels[level].overview;
    job.window = *window;
    const tz_window whole = source_window(job.how, window);
    TZ_TRY(check_pixels(&from, plan, &whole, source, source_mask, "the source", &ctx));
    TZ_TRY(check_pixels(&job.into, plan, window, pixels, mask, "the buffer for pixels", &ctx));
    job.source =
        (tz_overview_source){.row_ranges = {[1] = {(uint32_t)whole.row, from.pixels, from.mask}},
                             .column = (uint32_t)whole.column};
    how.threads = (uint32_t)tz_min(how.threads, tz_ceil_div(window->height, ROWS_AT_A_TIME));
    job.scratch_size = (tz_overview_scratch_bytes(job.how, window->width) + 63) / 64 * 64;
    job.scratch = tz_alloc_array(how.threads, job.scratch_size);
    if (!job.scratch)
        return tz_fail_nomem(&ctx, tz_mul_capped(how.threads, job.scratch_size));
    const tz_result result = make_overview_window(&job, &how, &ctx);
    tz_free(job.scratch);
    return result;
}

tz_result tz_overview_block(const tz_cog_plan *plan, uint32_t level, uint64_t block,
                            const tz_buffer *source, const tz_buffer *source_mask,
                            const tz_buffer *pixels, const tz_buffer *mask,
                            const tz_block_options *options, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_block_tiles tiles;
    TZ_TRY(tz_cog_plan_find_block(plan, level, block, &tiles, &ctx));
    const tz_window window = tz_cog_plan_block_window(plan, level, &tiles);
    return tz_overview_window(plan, level, &window, source, source_mask, pixels, mask, options,
                              err);
}

/* ---- the blob ---- */

/* A blob that grows, and the encoder of its tiles. */
typedef struct blob {
    const tz_cog_plan *plan;
    tz_context ctx;
    tz_block_options options;
    tz_block_tiles tiles;
    tz_block_head head;
    tz_tile_row tile_row;
    tz_output_pyramid *pyramid; /* a copy with the options of the encoder; its pointers are the
                                   plan's */
    tz_budget budget;
    tz_tile_encoder encoder;
    uint64_t first; /* tile of the round that is being encoded */
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

/* Encodes one tile of a round into its slot: a job of a thread pool. */
static tz_result encode_block_tile(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    const blob *b = user;
    return tz_tile_make(&b->encoder, b->head.level, &b->tile_row, b->first + index, worker,
                        &b->encoder.slots[index], err);
}

/* Appends one tile, and stores its size, hash and statistics in the head at the front of the
 * blob. */
static tz_result append_tile(blob *b, uint64_t index, const tz_tile_slot *slot)
{
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

/* Tiles are encoded in rounds, as many at a time as there are slots, and appended in order. */
static tz_result encode_tiles(blob *b)
{
    const tz_progress *progress = &b->options.progress;
    const uint64_t tiles = b->head.tiles;
    for (uint64_t count; b->first < tiles; b->first += count) {
        count = tz_min(b->budget.slots, tiles - b->first);
        TZ_TRY(tz_check_progress(&b->ctx, progress, b->first, tiles));
        TZ_TRY(tz_pool_run_shared(b->budget.threads, count, encode_block_tile, b, NULL, &b->ctx));
        for (uint64_t i = 0; i < count; i++)
            TZ_TRY(append_tile(b, b->first + i, &b->encoder.slots[i]));
    }
    return tz_check_progress(&b->ctx, progress, tiles, tiles);
}

/* The space of the head comes first; it is sealed when all tiles are encoded. One thread has one
 * slot; several have more, so that few of them wait at the end of a round. */
static tz_result fill_blob(blob *b)
{
    size_t head_size;
    b->pyramid = tz_alloc(sizeof *b->pyramid);
    if (!b->pyramid)
        return tz_fail_nomem(&b->ctx, sizeof *b->pyramid);
    *b->pyramid = b->plan->pyramid;
    tz_write_options *options = &b->pyramid->levels[0].image.options;
    b->ctx.limits = &b->pyramid->levels[0].image.limits;
    options->threads = b->options.threads;
    TZ_TRY(tz_budget_make(&b->budget, b->pyramid, NULL, NULL, 0, &b->ctx));
    if (b->budget.threads == 1)
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
    TZ_TRY(encode_tiles(b));
    b->head.body = b->size - head_size;
    tz_block_head_seal(b->data, &b->head);
    return TZ_OK;
}

tz_result tz_encode_block(tz_memory *into, const tz_cog_plan *plan, uint32_t level, uint64_t block,
                          const tz_buffer *pixels, const tz_buffer *mask,
                          const tz_block_options *options, tz_error *err)
{
    blob b = {.plan = plan, .ctx = {.err = err, .ifd = -1}};
    TZ_TRY(copy_options(&b.options, options, &b.ctx));
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
