/* SPDX-License-Identifier: Apache-2.0 */
#include "read/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "read/target.h"

#define DEFAULT_MEMORY ((uint64_t)1 << 30)
#define RAW_PIECE      ((size_t)1 << 20) /* uncompressed tiles are read in pieces of about this size */

/* ---- options ---- */

static tz_result take_options(tz_read_options *out, const tz_read_options *given,
                              const tz_context *ctx)
{
    *out = (tz_read_options)TZ_READ_OPTIONS_INIT;
    if (given) {
        if (given->struct_size < sizeof given->struct_size || given->struct_size > sizeof *given)
            return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                           tz_expecting(tz_at_nowhere(), sizeof *given, given->struct_size),
                           "options->struct_size is wrong; use TZ_READ_OPTIONS_INIT");
        memcpy(out, given, given->struct_size);
    }
    if (out->max_memory == 0)
        out->max_memory = DEFAULT_MEMORY;
    return TZ_OK;
}

/* ---- targets ---- */

static bool needs_mask(const tz_item *item)
{
    const tz_info *info = tz_file_info(item->file);
    return item->mask.data && item->level < info->level_count && info->levels[item->level].has_mask;
}

static uint32_t find_group(const tz_plan *plan, size_t index)
{
    const tz_target *target = &plan->targets[index];
    for (size_t i = 0; i < index; i++) {
        if (plan->targets[i].file == target->file && plan->targets[i].level == target->level)
            return (uint32_t)i;
    }
    return (uint32_t)index;
}

static tz_result add_target(tz_plan *plan, const tz_item *item, uint32_t level)
{
    tz_context ctx = plan->ctx;
    ctx.name = item->file->info.name;
    ctx.limits = &item->file->limits;
    tz_target *target = &plan->targets[plan->target_count];
    TZ_TRY(tz_target_make(plan, item, level, target, &ctx));
    target->group = find_group(plan, plan->target_count);
    plan->target_count++;
    plan->tile_count += target->tile_count;
    return TZ_OK;
}

static tz_result make_targets(tz_plan *plan, const tz_item *items, size_t count)
{
    if (count > UINT32_MAX / 4)
        return tz_fail(&plan->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_at_nowhere(), UINT32_MAX / 4, count), "too many items");
    plan->targets = tz_arena_array(&plan->arena, count * 2, sizeof *plan->targets);
    if (!plan->targets)
        return tz_fail_nomem(&plan->ctx, count * 2 * sizeof *plan->targets);
    for (size_t i = 0; i < count; i++) {
        if (!items[i].file)
            return tz_fail(&plan->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_at_nowhere(),
                           "item %zu has no file", i);
        TZ_TRY(add_target(plan, &items[i], items[i].level));
        if (needs_mask(&items[i]))
            TZ_TRY(add_target(plan, &items[i], TZ_MASK_OF(items[i].level)));
    }
    return TZ_OK;
}

/* ---- tiles ---- */

/* Tile number of position index within the target: row by row of the window, plane by plane. */
static uint64_t tile_at(const tz_target *target, uint64_t index)
{
    const tz_level *level = &target->layer.shape;
    const uint64_t across = target->tile_x1 - target->tile_x0;
    const uint64_t per_plane = across * (target->tile_y1 - target->tile_y0);
    const uint64_t plane = target->planes ? target->planes[index / per_plane] : 0;
    const uint64_t within = index % per_plane;
    const uint64_t y = target->tile_y0 + within / across;
    const uint64_t x = target->tile_x0 + within % across;
    return (plane * level->tiles_down + y) * level->tiles_across + x;
}

static int by_group_and_tile(const void *a, const void *b)
{
    const tz_plan_tile *x = a;
    const tz_plan_tile *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->tile != y->tile)
        return x->tile < y->tile ? -1 : 1;
    return x->target < y->target ? -1 : x->target > y->target;
}

/* Spans of a run of neighbouring tiles, with one read of the table. */
static tz_result locate_run(const tz_target *target, tz_plan_tile *tiles, size_t count,
                            const tz_context *ctx)
{
    tz_tile_span spans[256];
    for (size_t done = 0; done < count;) {
        size_t run = 1;
        while (done + run < count && run < 256 &&
               tiles[done + run].tile == tiles[done + run - 1].tile + 1)
            run++;
        TZ_TRY(tz_tile_spans(target->file, target->level, tiles[done].tile, run, spans, ctx->err));
        for (size_t i = 0; i < run; i++) {
            tiles[done + i].span = spans[i];
            TZ_TRY(tz_tile_check(target->file, target->level, tiles[done + i].tile,
                                 &tiles[done + i].span, ctx->err));
        }
        done += run;
    }
    return TZ_OK;
}

tz_result tz_plan_wave(const tz_plan *plan, uint64_t *at, tz_plan_tile *tiles, size_t *count,
                       const tz_context *ctx)
{
    uint64_t before = 0;
    *count = 0;
    for (size_t t = 0; t < plan->target_count && *count < TZ_WAVE_TILES; t++) {
        const tz_target *target = &plan->targets[t];
        const uint64_t end = before + target->tile_count;
        const size_t first = *count;
        while (*at >= before && *at < end && *count < TZ_WAVE_TILES) {
            tiles[*count] = (tz_plan_tile){.tile = tile_at(target, *at - before),
                                           .group = target->group,
                                           .target = (uint32_t)t};
            (*count)++;
            (*at)++;
        }
        TZ_TRY(locate_run(target, tiles + first, *count - first, ctx));
        before = end;
    }
    qsort(tiles, *count, sizeof *tiles, by_group_and_tile);
    return TZ_OK;
}

/* ---- cost ---- */

static size_t raw_piece(const tz_target *target)
{
    const size_t row = tz_row_bytes(&target->row);
    const size_t tile = row * target->tile.height;
    return tile < RAW_PIECE ? tile : row > RAW_PIECE ? row : RAW_PIECE;
}

static void measure_target(tz_plan *plan, const tz_target *target)
{
    const size_t tile = tz_row_bytes(&target->row) * target->tile.height;
    const size_t scratch = tz_row_prepared_bytes(&target->row) + tz_row_scratch_bytes(&target->row);
    const size_t input = tz_target_is_raw(target) ? raw_piece(target) : 0;
    if (tile > plan->report.largest_tile)
        plan->report.largest_tile = tile;
    if (!tz_target_is_raw(target) && tile > plan->output_size)
        plan->output_size = tile;
    if (scratch > plan->scratch_size)
        plan->scratch_size = scratch;
    if (input > plan->input_size)
        plan->input_size = input;
}

/* A tile that claims more than any encoder would need is a lie, or a bomb. */
static tz_result check_compressed(const tz_target *target, const tz_plan_tile *tile,
                                  const tz_context *ctx)
{
    const uint64_t bound = tz_codec_max_input(&target->tile);
    if (tile->span.size <= bound || tz_target_is_raw(target))
        return TZ_OK;
    tz_place place = tz_at_tile(target->level & ~TZ_MASK_OF(0u), tile->tile, tile->span.offset);
    return tz_fail(ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT, tz_expecting(place, bound, tile->span.size),
                   "the tile claims far more compressed bytes than its pixels can need");
}

static tz_result measure_tile(tz_plan *plan, const tz_plan_tile *tile)
{
    const tz_target *target = &plan->targets[tile->target];
    tz_context ctx = plan->ctx;
    ctx.name = target->file->info.name;
    ctx.ifd = target->layer.shape.ifd;
    TZ_TRY(check_compressed(target, tile, &ctx));
    plan->report.tiles++;
    if (tile->span.size == 0) {
        plan->report.tiles_sparse++;
        return TZ_OK;
    }
    plan->report.bytes_decoded += tz_layer_tile_bytes(&target->layer, tile->tile);
    plan->report.bytes_read += tile->span.size;
    plan->report.requests++;
    plan->report.tiles_decoded++;
    if (!tz_target_is_raw(target) && tile->span.size > plan->input_size)
        plan->input_size = (size_t)tile->span.size;
    return TZ_OK;
}

static tz_result measure_tiles(tz_plan *plan, tz_plan_tile *tiles)
{
    uint64_t at = 0;
    for (;;) {
        size_t count = 0;
        TZ_TRY(tz_plan_wave(plan, &at, tiles, &count, &plan->ctx));
        if (count == 0)
            return TZ_OK;
        plan->report.waves++;
        for (size_t i = 0; i < count; i++) {
            if (tz_plan_tile_repeats(tiles, i))
                plan->report.tiles_shared++;
            else
                TZ_TRY(measure_tile(plan, &tiles[i]));
        }
    }
}

static uint64_t memory_of(const tz_plan *plan, uint64_t threads)
{
    const uint64_t wave = plan->tile_count < TZ_WAVE_TILES ? plan->tile_count : TZ_WAVE_TILES;
    const uint64_t worker = (uint64_t)plan->input_size + plan->output_size + plan->scratch_size +
                            plan->state_size + 3 * TZ_CODEC_SLACK;
    return plan->arena.held + wave * sizeof(tz_plan_tile) + threads * worker;
}

/* The one guard: fewer threads where memory is short, an error where even one has no room. */
static tz_result check_memory(tz_plan *plan)
{
    uint64_t threads = plan->options.threads ? plan->options.threads : tz_pool_cores();
    if (threads > plan->tile_count)
        threads = plan->tile_count > 0 ? plan->tile_count : 1;
    while (threads > 1 && memory_of(plan, threads) > plan->options.max_memory)
        threads--;
    plan->threads = (unsigned)threads;
    plan->report.threads = plan->threads;
    plan->report.peak_memory = memory_of(plan, threads);
    if (plan->report.peak_memory <= plan->options.max_memory)
        return TZ_OK;
    tz_result result =
        tz_fail(&plan->ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                tz_expecting(tz_at_nowhere(), plan->options.max_memory, plan->report.peak_memory),
                "the read needs more memory than tz_read_options.max_memory allows");
    if (plan->ctx.err)
        plan->ctx.err->limit = "max_memory";
    return result;
}

static void measure_codecs(tz_plan *plan)
{
    for (size_t c = 0; tz_codecs[c]; c++) {
        for (size_t t = 0; t < plan->target_count; t++) {
            if (plan->targets[t].codec == tz_codecs[c]) {
                plan->state_size += tz_codecs[c]->state_size;
                break;
            }
        }
    }
}

tz_result tz_plan_make(tz_plan *plan, const tz_item *items, size_t count,
                       const tz_read_options *how, tz_error *err)
{
    *plan = (tz_plan){.ctx = {.err = err, .ifd = -1}};
    TZ_TRY(take_options(&plan->options, how, &plan->ctx));
    if (!items && count > 0)
        return tz_fail(&plan->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_at_nowhere(), "items is NULL");
    TZ_TRY(make_targets(plan, items, count));
    for (size_t i = 0; i < plan->target_count; i++)
        measure_target(plan, &plan->targets[i]);
    measure_codecs(plan);
    /* Whatever else it takes, it takes this: a file that lies about its tiles ends here. */
    TZ_TRY(check_memory(plan));
    const uint64_t wave = plan->tile_count < TZ_WAVE_TILES ? plan->tile_count : TZ_WAVE_TILES;
    tz_plan_tile *tiles = tz_alloc_array((size_t)wave, sizeof *tiles);
    if (!tiles)
        return tz_fail_nomem(&plan->ctx, wave * sizeof *tiles);
    const tz_result result = measure_tiles(plan, tiles);
    tz_free(tiles);
    return result == TZ_OK ? check_memory(plan) : result;
}

void tz_plan_deinit(tz_plan *plan)
{
    tz_arena_deinit(&plan->arena);
}
