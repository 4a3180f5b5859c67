/* SPDX-License-Identifier: Apache-2.0
 * Plans of distributed COGs: made, saved, loaded, and divided into blocks.
 *
 * A plan is its bytes (cog_plan_bytes.c) and everything that follows from them: the pyramid, and
 * the blocks of each level. A block is block_tiles x block_tiles tiles, fewer at the edges; blocks
 * are numbered row by row in each level.
 *
 * The decision that is not obvious: a plan that is made from a specification is serialized first
 * and then loaded from these bytes, so that the process that makes it and those that load it have
 * the same plan. */
#include "write/cog_plan.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "tiff/image/image_steps.h"
#include "tiff/tags.h"
#include "write/cog_plan_bytes.h"

enum { DEFAULT_BLOCK_TILES = 8, MAX_BLOCK_TILES = 65536 };

/* ---- blocks ---- */

static tz_result fail_out_of_range(const tz_context *ctx, const char *what, uint64_t count,
                                   uint64_t found)
{
    return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_expecting(tz_no_location(), count, found),
                   "there is no such %s; the numbers begin at 0", what);
}

tz_result tz_cog_plan_check_level(const tz_cog_plan *plan, uint32_t level, const tz_context *ctx)
{
    if (!plan)
        return TZ_FAIL_ARG(ctx, "the plan is NULL");
    if (level >= plan->info.level_count)
        return fail_out_of_range(ctx, "level", plan->info.level_count, level);
    return TZ_OK;
}

tz_result tz_cog_plan_find_block(const tz_cog_plan *plan, uint32_t level, uint64_t block,
                                 tz_block_tiles *out, const tz_context *ctx)
{
    *out = (tz_block_tiles){.column = 0};
    TZ_TRY(tz_cog_plan_check_level(plan, level, ctx));
    const tz_cog_level *l = &plan->levels[level];
    const uint32_t size = plan->info.block_tiles;
    if (block >= l->block_count)
        return fail_out_of_range(ctx, "block in this level", l->block_count, block);
    out->column = (uint32_t)(block % l->blocks_across * size);
    out->row = (uint32_t)(block / l->blocks_across * size);
    out->columns = tz_min_u32(size, l->tiles_across - out->column);
    out->rows = tz_min_u32(size, l->tiles_down - out->row);
    return TZ_OK;
}

/* The last blocks of a level end with the image, not with their tiles. */
tz_window tz_cog_plan_block_window(const tz_cog_plan *plan, uint32_t level,
                                   const tz_block_tiles *tiles)
{
    const tz_cog_level *l = &plan->levels[level];
    const uint64_t column = (uint64_t)tiles->column * l->tile_width;
    const uint64_t row = (uint64_t)tiles->row * l->tile_height;
    const uint64_t width = (uint64_t)tiles->columns * l->tile_width;
    const uint64_t height = (uint64_t)tiles->rows * l->tile_height;
    return (tz_window){.column = (int64_t)column,
                       .row = (int64_t)row,
                       .width = (uint32_t)tz_min(width, l->width - column),
                       .height = (uint32_t)tz_min(height, l->height - row)};
}

tz_tile_row tz_cog_plan_block_tile_row(const tz_cog_plan *plan, uint32_t level,
                                       const tz_block_tiles *tiles)
{
    const tz_window window = tz_cog_plan_block_window(plan, level, tiles);
    return (tz_tile_row){.row = (uint32_t)window.row,
                         .rows = window.height,
                         .column = tiles->column,
                         .columns = tiles->columns};
}

tz_result tz_cog_plan_get_block(tz_cog_block *out, const tz_cog_plan *plan, uint32_t level,
                                uint64_t block, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_block_tiles tiles;
    tz_cog_block found = TZ_COG_BLOCK_INIT;
    TZ_TRY(tz_cog_plan_find_block(plan, level, block, &tiles, &ctx));
    found.window = tz_cog_plan_block_window(plan, level, &tiles);
    found.tiles =
        (uint64_t)tiles.columns * tiles.rows * tz_tile_kinds(&plan->pyramid.levels[level].image);
    if (level > 0)
        TZ_TRY(tz_cog_plan_get_source(&found.source, plan, level, &found.window, err));
    return tz_fill_struct(out, &found, sizeof found, "out", "TZ_COG_BLOCK_INIT", &ctx);
}

const tz_cog_plan_info *tz_cog_plan_get_info(const tz_cog_plan *plan)
{
    return &plan->info;
}

const tz_cog_level *tz_cog_plan_get_level(const tz_cog_plan *plan, uint32_t level)
{
    return level < plan->info.level_count ? &plan->levels[level] : NULL;
}

/* ---- loading and saving ---- */

/* Fills in everything that follows from plan->bytes; the numbers of blocks follow from the tiles of
 * each level. */
static tz_result parse_plan(tz_cog_plan *plan, tz_cog_plan_parsed *parsed, const tz_limits *limits,
                            const tz_context *ctx)
{
    tz_cog_plan_params *params = &parsed->params;
    TZ_TRY(tz_cog_plan_from_bytes(parsed, plan->bytes.data, plan->bytes.size, ctx));
    if (params->block_tiles < 1 || params->block_tiles > MAX_BLOCK_TILES)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), MAX_BLOCK_TILES, params->block_tiles),
                       "a block has 1 to 65,536 tiles across and down");
    params->options.limits = limits;
    TZ_TRY(tz_output_pyramid_make(&plan->pyramid, &params->spec, &params->options, ctx));
    const tz_image_spec *spec = &plan->pyramid.levels[0].image.spec;
    plan->info = (tz_cog_plan_info){
        .fingerprint = tz_cog_plan_fingerprint(plan->bytes.data, plan->bytes.size),
        .level_count = plan->pyramid.count,
        .block_tiles = params->block_tiles,
        .bands = spec->bands,
        .dtype = spec->dtype,
        .mask = spec->mask,
        .statistics = params->wants_statistics,
        .nodata = spec->nodata,
    };
    for (uint32_t level = 0; level < plan->pyramid.count; level++) {
        const tz_image *image = &plan->pyramid.levels[level].image;
        tz_cog_level *l = &plan->levels[level];
        *l = (tz_cog_level){
            .width = image->spec.width,
            .height = image->spec.height,
            .tile_width = image->tile_width,
            .tile_height = image->tile_height,
            .tiles_across = image->tiles_across,
            .tiles_down = image->tiles_down,
            .blocks_across = (uint32_t)tz_ceil_div(image->tiles_across, params->block_tiles),
            .blocks_down = (uint32_t)tz_ceil_div(image->tiles_down, params->block_tiles)};
        l->block_count = (uint64_t)l->blocks_across * l->blocks_down;
        plan->info.block_count += l->block_count;
    }
    return TZ_OK;
}

/* Takes ownership of bytes, also when it fails. */
static tz_result plan_from_bytes(tz_cog_plan **out, tz_memory *bytes, const tz_limits *limits,
                                 const tz_context *ctx)
{
    tz_cog_plan_parsed parsed = {.arena = {0}};
    tz_cog_plan *plan = tz_alloc_zeroed(1, sizeof *plan);
    if (!plan) {
        tz_memory_free(bytes);
        return tz_fail_nomem(ctx, sizeof *plan);
    }
    plan->bytes = *bytes;
    const tz_result result = parse_plan(plan, &parsed, limits, ctx);
    tz_arena_deinit(&parsed.arena);
    if (result == TZ_OK)
        *out = plan;
    else
        tz_cog_plan_free(plan);
    return result;
}

static tz_result copy_bytes(tz_memory *out, const void *data, size_t size, const tz_context *ctx)
{
    void *copy = tz_alloc(size);
    if (!copy)
        return tz_fail_nomem(ctx, size);
    *out = (tz_memory){memcpy(copy, data, size), size};
    return TZ_OK;
}

tz_result tz_cog_plan_load(tz_cog_plan **out, const void *data, size_t size,
                           const tz_limits *limits, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_memory bytes;
    tz_limits copied;
    TZ_TRY(tz_limits_copy(&copied, limits, "limits", &ctx));
    TZ_TRY(copy_bytes(&bytes, data, data ? size : 0, &ctx));
    return plan_from_bytes(out, &bytes, &copied, &ctx);
}

tz_result tz_cog_plan_save(tz_memory *into, const tz_cog_plan *plan, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    if (!plan)
        return TZ_FAIL_ARG(&ctx, "the plan is NULL");
    return copy_bytes(into, plan->bytes.data, plan->bytes.size, &ctx);
}

void tz_cog_plan_free(tz_cog_plan *plan)
{
    if (!plan)
        return;
    tz_output_pyramid_deinit(&plan->pyramid);
    tz_memory_free(&plan->bytes);
    tz_free(plan);
}

/* ---- making ---- */

/* Copies the specification with its lists, in the order of the caller, whose structs may be of
 * another size. Texts and values are not copied. */
static tz_result copy_spec_lists(tz_image_spec *out, const tz_image_spec *given, tz_arena *arena,
                                 const tz_context *ctx)
{
    TZ_TRY(tz_copy_struct(out, sizeof *out, given, "spec", "TZ_IMAGE_SPEC_INIT", ctx));
    tz_metadata_item *items = tz_arena_array(arena, out->metadata_count, sizeof *items);
    tz_tag_value *tags = tz_arena_array(arena, out->tag_count, sizeof *tags);
    if (!items || !tags)
        return tz_fail_nomem(ctx, out->metadata_count * sizeof *items);
    TZ_TRY(tz_copy_elements(items, sizeof *items, out->metadata, out->metadata_count,
                            "spec->metadata", "TZ_METADATA_ITEM_INIT", ctx));
    TZ_TRY(tz_copy_elements(tags, sizeof *tags, out->tags, out->tag_count, "spec->tags",
                            "TZ_TAG_VALUE_INIT", ctx));
    out->metadata = items;
    out->tags = tags;
    return TZ_OK;
}

/* The pyramid is made first, to check the specification and the options; afterwards their counts
 * and pointers can be trusted. */
tz_result tz_cog_plan_create(tz_cog_plan **out, const tz_image_spec *spec,
                             const tz_write_options *options, uint32_t block_tiles, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_cog_plan_params params = {.spec = TZ_IMAGE_SPEC_INIT,
                                 .options = TZ_WRITE_OPTIONS_INIT,
                                 .block_tiles = block_tiles ? block_tiles : DEFAULT_BLOCK_TILES};
    TZ_TRY(
        tz_copy_struct(&params.spec, sizeof params.spec, spec, "spec", "TZ_IMAGE_SPEC_INIT", &ctx));
    TZ_TRY(tz_copy_struct(&params.options, sizeof params.options, options, "options",
                          "TZ_WRITE_OPTIONS_INIT", &ctx));
    params.options.cog = true;
    params.wants_statistics = params.options.statistics || params.options.statistics_items;
    tz_output_pyramid *pyramid = tz_alloc_zeroed(1, sizeof *pyramid);
    if (!pyramid)
        return tz_fail_nomem(&ctx, sizeof *pyramid);
    tz_arena arena = {0};
    tz_result result = tz_output_pyramid_make(pyramid, spec, &params.options, &ctx);
    if (result == TZ_OK)
        result = copy_spec_lists(&params.spec, spec, &arena, &ctx);
    if (result == TZ_OK) {
        tz_memory bytes;
        /* GeoKeys are made here: another process may know fewer EPSG codes. */
        params.spec.geo = pyramid->levels[0].image.spec.geo;
        result = tz_cog_plan_to_bytes(&bytes, &params, &ctx);
        if (result == TZ_OK)
            result = plan_from_bytes(out, &bytes, &pyramid->levels[0].image.limits, &ctx);
    }
    tz_arena_deinit(&arena);
    tz_output_pyramid_deinit(pyramid);
    tz_free(pyramid);
    return result;
}
