/* SPDX-License-Identifier: Apache-2.0 */
#include "write/block_heads.h"

#include <stdlib.h>

#include "base/mem.h"
#include "write/cog_layout.h"

/* ---- all that there are ---- */

static uint64_t number_of(const tz_cog_plan *plan, uint32_t level, uint64_t block)
{
    uint64_t number = block;
    for (uint32_t i = 0; i < level; i++)
        number += plan->levels[i].block_count;
    return number;
}

static tz_result fail_block(const tz_cog_plan *plan, uint64_t number, const char *what,
                            const tz_context *ctx)
{
    uint32_t level = 0;
    for (; number >= plan->levels[level].block_count; level++)
        number -= plan->levels[level].block_count;
    return tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, tz_no_location(), "block %llu of level %u %s",
                   (unsigned long long)number, level, what);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = ((const tz_heads_item *)a)->number;
    const uint64_t y = ((const tz_heads_item *)b)->number;
    return x < y ? -1 : x > y;
}

static tz_result take_head(tz_heads_item *out, const tz_cog_plan *plan, const tz_bytes *bytes,
                           size_t given, const tz_context *ctx)
{
    TZ_TRY(tz_block_head_read(&out->head, bytes->data, bytes->data ? bytes->size : 0, ctx));
    TZ_TRY(tz_block_head_check(&out->head, plan, ctx));
    out->number = number_of(plan, out->head.level, out->head.block);
    out->given = given;
    if (out->head.at)
        return TZ_OK;
    return tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED,
                   tz_expecting(tz_at_offset(bytes->size), out->head.size, bytes->size),
                   "the head of block %llu of level %u is cut off",
                   (unsigned long long)out->head.block, out->head.level);
}

/* Each block once: memory is needed for those that were given, however many there should be. */
static tz_result check_all(const tz_heads *heads, const tz_cog_plan *plan, const tz_context *ctx)
{
    for (size_t i = 0; i < heads->count; i++) {
        const uint64_t number = heads->list[i].number;
        if (i > 0 && number == heads->list[i - 1].number)
            return fail_block(plan, number, "is given twice", ctx);
        if (number != i)
            return fail_block(plan, i, "is missing", ctx);
    }
    if (heads->count < plan->info.block_count)
        return fail_block(plan, heads->count, "is missing", ctx);
    return TZ_OK;
}

tz_result tz_heads_make(tz_heads *out, const tz_cog_plan *plan, const tz_bytes *heads, size_t count,
                        const tz_context *ctx)
{
    uint64_t base = 0;
    *out = (tz_heads){.list = tz_alloc_zeroed(count, sizeof *out->list), .count = count};
    if (!out->list)
        return tz_fail_nomem(ctx, tz_mul_capped(count, sizeof *out->list));
    for (size_t i = 0; i < count; i++) {
        tz_heads_item *item = &out->list[i];
        TZ_TRY(take_head(item, plan, &heads[i], i, ctx));
        item->base = base;
        if (!tz_add(base, item->head.body, &base))
            return tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, tz_no_location(),
                           "the blocks are larger than any file");
    }
    qsort(out->list, count, sizeof *out->list, by_number);
    return check_all(out, plan, ctx);
}

void tz_heads_deinit(tz_heads *heads)
{
    tz_free(heads->list);
    *heads = (tz_heads){0};
}

/* ---- what they say ---- */

static tz_result make_tables(tz_writer *shell)
{
    for (uint32_t i = 0; i < shell->pyramid.count; i++) {
        tz_writer_level *level = &shell->levels[i];
        const size_t tiles = (size_t)tz_all_tiles(level->image);
        const size_t verified = (size_t)tz_verified_count(level->image);
        shell->report.tiles += tiles;
        level->places = tz_alloc_zeroed(tiles, sizeof *level->places);
        level->sizes = tz_alloc_zeroed(tiles, sizeof *level->sizes);
        level->hashes = tz_alloc_zeroed(verified, sizeof *level->hashes);
        if (!level->places || !level->sizes || !level->hashes)
            return tz_fail_nomem(&shell->ctx,
                                 tiles * (sizeof *level->places + sizeof *level->sizes));
    }
    return TZ_OK;
}

static void apply_tile(tz_writer *shell, const tz_block_head *head, uint64_t index, uint64_t place,
                       uint64_t *position)
{
    tz_writer_level *level = &shell->levels[head->level];
    const uint32_t size = tz_block_tile_size(head, index);
    level->sizes[place] = size;
    shell->report.bytes_tiles += size;
    if (size == 0)
        shell->report.tiles_sparse++;
    else
        level->places[place] = *position + TZ_LEADER;
    *position += tz_cog_tile_bytes(size);
    if (place >= level->image->tile_count)
        return; /* a mask's */
    const uint64_t checked = tz_verified_index(level->image, place);
    if (checked != TZ_NONE)
        level->hashes[checked] = tz_block_tile_hash(head, index);
}

static tz_result apply_block(tz_writer *shell, const tz_cog_plan *plan, const tz_heads_item *item)
{
    const tz_block_head *head = &item->head;
    const tz_image *image = shell->levels[head->level].image;
    tz_block_tiles tiles;
    uint64_t position = item->base;
    TZ_TRY(tz_plan_find_block(plan, head->level, head->block, &tiles, &shell->ctx));
    const tz_swath swath = tz_shell_swath(plan, head->level, &tiles);
    for (uint64_t i = 0; i < head->tiles; i++)
        apply_tile(shell, head, i, tz_tile_number(image, &swath, i), &position);
    return TZ_OK;
}

/* Row by row of the image's tiles, across blocks: the order in which a writer adds them up. */
static void apply_tallies(tz_writer *shell, const tz_cog_plan *plan, const tz_heads *heads)
{
    const tz_cog_level *l = &plan->levels[0];
    const uint32_t bands = plan->info.bands;
    const uint32_t size = plan->info.block_tiles;
    for (uint32_t row = 0; row < l->tiles_down; row++)
        for (uint32_t column = 0; column < l->tiles_across; column++) {
            const uint32_t first = column / size * size;
            const uint32_t columns =
                l->tiles_across - first < size ? l->tiles_across - first : size;
            const size_t block = (size_t)(row / size) * l->blocks_across + column / size;
            const uint64_t place = (uint64_t)(row % size) * columns + column % size;
            for (uint32_t band = 0; band < bands; band++) {
                const tz_stats part = tz_block_tally(&heads->list[block].head, place, band, bands);
                tz_stats_merge(&shell->tallies[band], &part);
            }
        }
}

tz_result tz_heads_apply(const tz_heads *heads, const tz_cog_plan *plan, tz_writer *shell)
{
    TZ_TRY(make_tables(shell));
    for (size_t i = 0; i < heads->count; i++)
        TZ_TRY(apply_block(shell, plan, &heads->list[i]));
    if (shell->tallies)
        apply_tallies(shell, plan, heads);
    return TZ_OK;
}
