/* SPDX-License-Identifier: Apache-2.0 */
#include "write/block_index.h"

#include <stdlib.h>

#include "base/mem.h"
#include "write/cog_layout.h"

/* ---- all that there are ---- */

static uint64_t block_number(const tz_cog_plan *plan, uint32_t level, uint64_t block)
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

static int compare_block_numbers(const void *a, const void *b)
{
    const uint64_t x = ((const tz_block_index_entry *)a)->number;
    const uint64_t y = ((const tz_block_index_entry *)b)->number;
    return x < y ? -1 : x > y;
}

static tz_result read_index_entry(tz_block_index_entry *out, const tz_cog_plan *plan,
                                  const tz_bytes *bytes, size_t given, const tz_context *ctx)
{
    TZ_TRY(tz_block_head_read(&out->head, bytes->data, bytes->data ? bytes->size : 0, ctx));
    TZ_TRY(tz_block_head_check(&out->head, plan, ctx));
    out->number = block_number(plan, out->head.level, out->head.block);
    out->given = given;
    if (out->head.at)
        return TZ_OK;
    return tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED,
                   tz_expecting(tz_at_offset(bytes->size), out->head.size, bytes->size),
                   "the head of block %llu of level %u is cut off",
                   (unsigned long long)out->head.block, out->head.level);
}

/* Each block once: memory is needed for those that were given, however many there should be. */
static tz_result check_complete(const tz_block_index *heads, const tz_cog_plan *plan,
                                const tz_context *ctx)
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

tz_result tz_block_index_make(tz_block_index *out, const tz_cog_plan *plan, const tz_bytes *heads,
                              size_t count, const tz_context *ctx)
{
    uint64_t base = 0;
    *out = (tz_block_index){.list = tz_alloc_zeroed(count, sizeof *out->list), .count = count};
    if (!out->list)
        return tz_fail_nomem(ctx, tz_mul_capped(count, sizeof *out->list));
    for (size_t i = 0; i < count; i++) {
        tz_block_index_entry *item = &out->list[i];
        TZ_TRY(read_index_entry(item, plan, &heads[i], i, ctx));
        item->base = base;
        if (!tz_add(base, item->head.body, &base))
            return tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, tz_no_location(),
                           "the blocks are larger than any file");
    }
    qsort(out->list, count, sizeof *out->list, compare_block_numbers);
    return check_complete(out, plan, ctx);
}

void tz_block_index_deinit(tz_block_index *heads)
{
    tz_free(heads->list);
    *heads = (tz_block_index){0};
}

/* ---- what they say ---- */

static tz_result allocate_tile_tables(tz_writer *writer)
{
    for (uint32_t i = 0; i < writer->pyramid.count; i++) {
        tz_writer_level *level = &writer->levels[i];
        const size_t tiles = (size_t)tz_all_tiles(level->image);
        const size_t verified = (size_t)tz_verified_count(level->image);
        writer->report.tiles += tiles;
        level->offsets = tz_alloc_zeroed(tiles, sizeof *level->offsets);
        level->sizes = tz_alloc_zeroed(tiles, sizeof *level->sizes);
        level->hashes = tz_alloc_zeroed(verified, sizeof *level->hashes);
        if (!level->offsets || !level->sizes || !level->hashes)
            return tz_fail_nomem(&writer->ctx,
                                 tiles * (sizeof *level->offsets + sizeof *level->sizes));
    }
    return TZ_OK;
}

static void apply_tile(tz_writer *writer, const tz_block_head *head, uint64_t index,
                       uint64_t tile_index, uint64_t *position)
{
    tz_writer_level *level = &writer->levels[head->level];
    const uint32_t size = tz_block_head_tile_size(head, index);
    level->sizes[tile_index] = size;
    writer->report.bytes_tiles += size;
    if (size == 0)
        writer->report.tiles_sparse++;
    else
        level->offsets[tile_index] = *position + TZ_LEADER;
    *position += tz_cog_tile_bytes(size);
    if (tile_index >= level->image->tile_count)
        return; /* a mask's */
    const uint64_t verified_index = tz_verified_index(level->image, tile_index);
    if (verified_index != TZ_NONE)
        level->hashes[verified_index] = tz_block_head_tile_hash(head, index);
}

static tz_result apply_block(tz_writer *writer, const tz_cog_plan *plan,
                             const tz_block_index_entry *item)
{
    const tz_block_head *head = &item->head;
    const tz_image *image = writer->levels[head->level].image;
    tz_block_tiles tiles;
    uint64_t position = item->base;
    TZ_TRY(tz_cog_plan_find_block(plan, head->level, head->block, &tiles, &writer->ctx));
    const tz_tile_row tile_row = tz_block_tile_row(plan, head->level, &tiles);
    for (uint64_t i = 0; i < head->tiles; i++)
        apply_tile(writer, head, i, tz_tile_index_of(image, &tile_row, i), &position);
    return TZ_OK;
}

/* Row by row of the image's tiles, across blocks: the order in which a writer adds them up. */
static void apply_statistics(tz_writer *writer, const tz_cog_plan *plan,
                             const tz_block_index *heads)
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
            const uint64_t tile_index = (uint64_t)(row % size) * columns + column % size;
            for (uint32_t band = 0; band < bands; band++) {
                const tz_stats part =
                    tz_block_head_statistics(&heads->list[block].head, tile_index, band, bands);
                tz_stats_merge(&writer->stats[band], &part);
            }
        }
}

tz_result tz_block_index_apply(const tz_block_index *heads, const tz_cog_plan *plan,
                               tz_writer *writer)
{
    TZ_TRY(allocate_tile_tables(writer));
    for (size_t i = 0; i < heads->count; i++)
        TZ_TRY(apply_block(writer, plan, &heads->list[i]));
    if (writer->stats)
        apply_statistics(writer, plan, heads);
    return TZ_OK;
}
