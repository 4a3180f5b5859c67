/* SPDX-License-Identifier: Apache-2.0
 * Pixels of a level from those of the level before, for any part of it: the same rows that a writer
 * makes of its swaths. */
#include "base/mem.h"
#include "write/block_pixels.h"

/* ---- what is looked at ---- */

static tz_result check_window(const tz_cog_plan *plan, uint32_t level, const tz_window *window,
                              const tz_context *ctx)
{
    TZ_TRY(tz_cog_plan_check_level(plan, level, ctx));
    if (level == 0)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "level 0 is the image, and is made of no other level");
    const tz_cog_level *l = &plan->levels[level];
    const bool inside = window && window->column >= 0 && window->row >= 0 && window->width > 0 &&
                        window->height > 0 && window->column <= (int64_t)l->width &&
                        window->row <= (int64_t)l->height &&
                        window->width <= l->width - (uint32_t)window->column &&
                        window->height <= l->height - (uint32_t)window->row;
    if (inside)
        return TZ_OK;
    return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                   "the window is empty, or reaches beyond the %u x %u pixels of level %u",
                   l->width, l->height, level);
}

static tz_interval extent_of(int64_t first, uint32_t size)
{
    return (tz_interval){(uint32_t)first, (uint32_t)first + size};
}

static tz_window source_window(const tz_overview_params *how, const tz_window *window)
{
    const tz_interval rows = tz_overview_source_rows(how, extent_of(window->row, window->height));
    const tz_interval columns =
        tz_overview_source_columns(how, extent_of(window->column, window->width));
    return (tz_window){.column = columns.first,
                       .row = rows.first,
                       .width = columns.end - columns.first,
                       .height = rows.end - rows.first};
}

tz_result tz_cog_source(const tz_cog_plan *plan, uint32_t level, const tz_window *window,
                        tz_window *source, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    TZ_TRY(check_window(plan, level, window, &ctx));
    *source = source_window(&plan->pyramid.levels[level].overview, window);
    return TZ_OK;
}

/* ---- pixels ---- */

static tz_result make_overview_pixels(const tz_overview_params *how, const tz_window *window,
                                      const tz_window *source, const tz_block_pixels *from,
                                      const tz_block_pixels *into, const tz_context *ctx)
{
    const size_t size = tz_overview_scratch_bytes(how, window->width);
    const tz_overview_source parts = {
        .parts = {[1] = {(uint32_t)source->row, from->pixels, from->mask}},
        .column = (uint32_t)source->column};
    void *scratch = tz_alloc(size);
    if (!scratch)
        return tz_fail_nomem(ctx, size);
    tz_overview_make(how, &parts, window, &into->pixels, &into->mask, scratch);
    tz_free(scratch);
    return TZ_OK;
}

tz_result tz_reduce_window(const tz_cog_plan *plan, uint32_t level, const tz_window *window,
                           const tz_buffer *source, const tz_buffer *source_mask,
                           const tz_buffer *pixels, const tz_buffer *mask, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_block_pixels from, into;
    TZ_TRY(check_window(plan, level, window, &ctx));
    const tz_overview_params *how = &plan->pyramid.levels[level].overview;
    const tz_window whole = source_window(how, window);
    TZ_TRY(tz_block_pixels_check(&from, plan, &whole, source, source_mask, "the source", &ctx));
    TZ_TRY(tz_block_pixels_check(&into, plan, window, pixels, mask, "the room for pixels", &ctx));
    return make_overview_pixels(how, window, &whole, &from, &into, &ctx);
}

tz_result tz_reduce_block(const tz_cog_plan *plan, uint32_t level, uint64_t block,
                          const tz_buffer *source, const tz_buffer *source_mask,
                          const tz_buffer *pixels, const tz_buffer *mask, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_block_tiles tiles;
    TZ_TRY(tz_cog_plan_find_block(plan, level, block, &tiles, &ctx));
    const tz_window window = tz_cog_plan_block_window(plan, level, &tiles);
    return tz_reduce_window(plan, level, &window, source, source_mask, pixels, mask, err);
}
