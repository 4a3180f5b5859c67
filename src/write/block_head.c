/* SPDX-License-Identifier: Apache-2.0
 * Heads of blobs: written field by field, read in place, and indexed.
 *
 * A head is 64 bytes of fixed fields, then a table of tile sizes (4 bytes each), a table of hashes
 * (8 bytes), and for the first level a table of statistics (48 bytes for each band and position).
 * All numbers are little-endian. The checksum covers everything but itself.
 *
 * Heads come from other processes, so nothing in them is trusted: numbers of tiles and statistics
 * must be those that follow from the plan before a table is read, and sizes must add up to the
 * body. The index needs memory only for the heads that were given, whatever the plan says. */
#include "write/block_head.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "codec/unaligned.h"
#include "tiff/byte_order.h"
#include "tiff/tags.h"
#include "write/cog_layout.h"
#include "write/cog_plan_bytes.h"

static const uint8_t magic[8] = {'T', 'Z', 'B', 'L', 'O', 'C', 'K', '\n'};

/* Offsets of the fixed fields, and bytes of the entries of the tables. */
enum {
    VERSION = 1,
    VERSION_AT = 8,
    LEVEL_AT = 12,
    PLAN_AT = 16,
    BLOCK_AT = 24,
    TILES_AT = 32,
    STATS_AT = 40,
    BODY_AT = 48,
    CHECKSUM_AT = 56,
    SIZE_BYTES = 4,
    HASH_BYTES = 8,
    STATS_VALUES = 6,
    STATS_BYTES = 8 * STATS_VALUES
};

static uint64_t head_size(uint64_t tiles, uint64_t stats_count)
{
    const uint64_t by_tile = tz_mul_capped(tiles, SIZE_BYTES + HASH_BYTES);
    return tz_add_capped(tz_add_capped(TZ_BLOB_HEADER, by_tile),
                         tz_mul_capped(stats_count, STATS_BYTES));
}

tz_block_head tz_block_head_init(const tz_cog_plan *plan, uint32_t level, uint64_t block,
                                 const tz_block_tiles *tiles)
{
    const uint64_t positions = (uint64_t)tiles->columns * tiles->rows;
    tz_block_head head = {.fingerprint = plan->info.fingerprint, .level = level, .block = block};
    head.tiles = positions * tz_tile_kinds(&plan->pyramid.levels[level].image);
    head.stats_count = level == 0 && plan->info.statistics ? positions * plan->info.bands : 0;
    head.size = head_size(head.tiles, head.stats_count);
    return head;
}

/* ---- entries ---- */

static size_t hash_at(const tz_block_head *head, uint64_t tile)
{
    return (size_t)(TZ_BLOB_HEADER + head->tiles * SIZE_BYTES + tile * HASH_BYTES);
}

static size_t statistics_at(const tz_block_head *head, uint64_t tile_index, uint32_t band,
                            uint32_t bands)
{
    return hash_at(head, head->tiles) + (size_t)(tile_index * bands + band) * STATS_BYTES;
}

uint32_t tz_block_head_tile_size(const tz_block_head *head, uint64_t tile)
{
    return tz_load_le32(head->at + TZ_BLOB_HEADER + tile * SIZE_BYTES);
}

uint64_t tz_block_head_tile_hash(const tz_block_head *head, uint64_t tile)
{
    return tz_load_le64(head->at + hash_at(head, tile));
}

/* The members of tz_stats are words of 8 bytes, and are stored in their order. */
_Static_assert(sizeof(tz_stats) == STATS_BYTES, "block_head.c: tz_stats");

tz_stats tz_block_head_statistics(const tz_block_head *head, uint64_t tile_index, uint32_t band,
                                  uint32_t bands)
{
    tz_stats stats;
    memcpy(&stats, head->at + statistics_at(head, tile_index, band, bands), sizeof stats);
    tz_to_host_order(&stats, STATS_VALUES, 8, false);
    return stats;
}

void tz_block_head_set_tile(uint8_t *at, const tz_block_head *head, uint64_t tile, uint32_t size,
                            uint64_t hash)
{
    tz_store_le32(at + TZ_BLOB_HEADER + tile * SIZE_BYTES, size);
    tz_store_le64(at + hash_at(head, tile), hash);
}

void tz_block_head_set_statistics(uint8_t *at, const tz_block_head *head, uint64_t tile_index,
                                  uint32_t band, uint32_t bands, const tz_stats *stats)
{
    uint8_t *to = at + statistics_at(head, tile_index, band, bands);
    memcpy(to, stats, sizeof *stats);
    tz_to_host_order(to, STATS_VALUES, 8, false); /* swapping is its own inverse */
}

/* ---- the whole ---- */

static uint64_t head_checksum(const uint8_t *at, uint64_t size)
{
    const uint64_t front = tz_fnv1a(TZ_FNV1A_INIT, at, CHECKSUM_AT);
    return tz_fnv1a(front, at + TZ_BLOB_HEADER, (size_t)(size - TZ_BLOB_HEADER));
}

void tz_block_head_seal(uint8_t *at, const tz_block_head *head)
{
    memcpy(at, magic, sizeof magic);
    tz_store_le32(at + VERSION_AT, VERSION);
    tz_store_le32(at + LEVEL_AT, head->level);
    tz_store_le64(at + PLAN_AT, head->fingerprint);
    tz_store_le64(at + BLOCK_AT, head->block);
    tz_store_le64(at + TILES_AT, head->tiles);
    tz_store_le64(at + STATS_AT, head->stats_count);
    tz_store_le64(at + BODY_AT, head->body);
    tz_store_le64(at + CHECKSUM_AT, head_checksum(at, head->size));
}

/* Two steps, because a caller may have read only the fixed fields to find out the size of the
 * rest. at stays NULL then. */
tz_result tz_block_head_read(tz_block_head *out, const uint8_t *data, size_t size,
                             const tz_context *ctx)
{
    *out = (tz_block_head){.at = NULL};
    if (size < TZ_BLOB_HEADER || memcmp(data, magic, sizeof magic) != 0)
        return tz_fail_plan_bytes(ctx, TZ_ERR_FORMAT, 0, TZ_NO_VALUE, TZ_NO_VALUE,
                                  "this is not a block of terrazzo");
    const uint32_t version = tz_load_le32(data + VERSION_AT);
    if (version != VERSION)
        return tz_fail_plan_bytes(ctx, TZ_ERR_UNSUPPORTED, VERSION_AT, VERSION, version,
                                  "a block of another version; encode it again with this one");
    *out = (tz_block_head){.fingerprint = tz_load_le64(data + PLAN_AT),
                           .level = tz_load_le32(data + LEVEL_AT),
                           .block = tz_load_le64(data + BLOCK_AT),
                           .tiles = tz_load_le64(data + TILES_AT),
                           .stats_count = tz_load_le64(data + STATS_AT),
                           .body = tz_load_le64(data + BODY_AT)};
    out->size = head_size(out->tiles, out->stats_count);
    if (out->size > size)
        return TZ_OK;
    if (tz_load_le64(data + CHECKSUM_AT) != head_checksum(data, out->size))
        return tz_fail_plan_bytes(ctx, TZ_ERR_FORMAT, CHECKSUM_AT, TZ_NO_VALUE, TZ_NO_VALUE,
                                  "the block is damaged: the checksum of its head is wrong");
    out->at = data;
    return TZ_OK;
}

/* The numbers of tiles and statistics must be those of the plan before any table is read. */
tz_result tz_block_head_check(const tz_block_head *head, const tz_cog_plan *plan,
                              const tz_context *ctx)
{
    tz_block_tiles tiles;
    if (head->fingerprint != plan->info.fingerprint)
        return tz_fail_plan_bytes(ctx, TZ_ERR_FORMAT, PLAN_AT, plan->info.fingerprint,
                                  head->fingerprint, "the block was made by another plan");
    if (head->level >= plan->info.level_count ||
        head->block >= plan->levels[head->level].block_count)
        return tz_fail_plan_bytes(ctx, TZ_ERR_FORMAT, LEVEL_AT, TZ_NO_VALUE, head->block,
                                  "the plan has no such block");
    TZ_TRY(tz_cog_plan_find_block(plan, head->level, head->block, &tiles, ctx));
    const tz_block_head expected = tz_block_head_init(plan, head->level, head->block, &tiles);
    if (head->tiles != expected.tiles || head->stats_count != expected.stats_count)
        return tz_fail_plan_bytes(ctx, TZ_ERR_FORMAT, TILES_AT, expected.tiles, head->tiles,
                                  "the block has another number of tiles, or of statistics");
    uint64_t sum = 0;
    for (uint64_t i = 0; head->at && i < head->tiles; i++)
        sum = tz_add_capped(sum, tz_cog_tile_bytes(tz_block_head_tile_size(head, i)));
    if (head->at && sum != head->body)
        return tz_fail_plan_bytes(ctx, TZ_ERR_FORMAT, BODY_AT, sum, head->body,
                                  "the sizes of a block's tiles do not add up");
    return TZ_OK;
}

/* ---- public calls ---- */

/* Needs only the fixed fields, so the size of a block can be found without its plan. */
tz_result tz_blob_read_info(tz_blob_info *out, const void *data, size_t size, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_block_head head;
    TZ_TRY(tz_block_head_read(&head, data, data ? size : 0, &ctx));
    if (head.size == TZ_NO_VALUE || head.body > TZ_NO_VALUE - 1 - head.size)
        return tz_fail_plan_bytes(&ctx, TZ_ERR_FORMAT, BODY_AT, TZ_NO_VALUE, head.body,
                                  "the block is damaged: its size is impossible");
    const tz_blob_info info = {.struct_size = sizeof info,
                               .fingerprint = head.fingerprint,
                               .level = head.level,
                               .block = head.block,
                               .tiles = head.tiles,
                               .head_size = head.size,
                               .size = head.size + head.body};
    return tz_fill_struct(out, &info, sizeof info, "out", "TZ_BLOB_INFO_INIT", &ctx);
}

/* Reads a head that must be complete and belong to the plan. */
static tz_result read_whole_head(tz_block_head *out, const tz_cog_plan *plan, const tz_bytes *head,
                                 const tz_context *ctx)
{
    if (!plan || !head || !head->data)
        return TZ_FAIL_ARG(ctx, "there is no plan, or no head of a block");
    TZ_TRY(tz_block_head_read(out, head->data, head->size, ctx));
    TZ_TRY(tz_block_head_check(out, plan, ctx));
    if (out->at)
        return TZ_OK;
    return tz_fail_plan_bytes(ctx, TZ_ERR_FORMAT, head->size, out->size, head->size,
                              "the head of a block is cut off");
}

tz_result tz_blob_read_sizes(uint32_t *sizes, const tz_cog_plan *plan, const tz_bytes *head,
                             tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_block_head h;
    TZ_TRY(read_whole_head(&h, plan, head, &ctx));
    for (uint64_t i = 0; i < h.tiles; i++)
        sizes[i] = tz_block_head_tile_size(&h, i);
    return TZ_OK;
}

/* Statistics of the block alone: tiles are merged in the order of their positions. */
tz_result tz_blob_read_statistics(tz_statistics *statistics, const tz_cog_plan *plan,
                                  const tz_bytes *head, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_block_head h;
    TZ_TRY(read_whole_head(&h, plan, head, &ctx));
    const uint32_t bands = plan->info.bands;
    if (!statistics)
        return TZ_FAIL_ARG(&ctx, "statistics is NULL");
    const size_t stride = statistics->struct_size;
    for (uint32_t band = 0; band < bands; band++) {
        tz_stats sum = {0};
        for (uint64_t tile_index = 0; tile_index < h.stats_count / bands; tile_index++) {
            const tz_stats part = tz_block_head_statistics(&h, tile_index, band, bands);
            tz_stats_merge(&sum, &part);
        }
        tz_statistics found;
        uint8_t *out = (uint8_t *)statistics + band * stride;
        memcpy(out, &stride, sizeof stride); /* the first element has the size of all */
        tz_stats_result(&sum, &found);
        TZ_TRY(tz_fill_struct(out, &found, sizeof found, "statistics", "TZ_STATISTICS_INIT", &ctx));
    }
    return TZ_OK;
}

/* ---- the index ---- */

/* number: counted through all levels. */
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

/* Heads must be complete. Blocks are numbered through all levels. base is assigned in the order of
 * the caller, before the entries are sorted by block. */
tz_result tz_block_index_make(tz_block_index *out, const tz_cog_plan *plan, const tz_bytes *heads,
                              size_t count, const tz_context *ctx)
{
    uint64_t base = 0;
    *out = (tz_block_index){.list = tz_alloc_zeroed(count, sizeof *out->list), .count = count};
    if (!out->list)
        return tz_fail_nomem(ctx, tz_mul_capped(count, sizeof *out->list));
    for (size_t i = 0; i < count; i++) {
        tz_block_index_entry *item = &out->list[i];
        const tz_block_head *head = &item->head;
        TZ_TRY(
            tz_block_head_read(&item->head, heads[i].data, heads[i].data ? heads[i].size : 0, ctx));
        TZ_TRY(tz_block_head_check(head, plan, ctx));
        if (!head->at)
            return tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED,
                           tz_expecting(tz_at_offset(heads[i].size), head->size, heads[i].size),
                           "the head of block %llu of level %u is cut off",
                           (unsigned long long)head->block, head->level);
        TZ_TRY(tz_cog_plan_find_block(plan, head->level, head->block, &item->tiles, ctx));
        item->number = head->block;
        for (uint32_t level = 0; level < head->level; level++)
            item->number += plan->levels[level].block_count;
        item->given = i;
        item->base = base;
        if (!tz_add(base, item->head.body, &base))
            return tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, tz_no_location(),
                           "the blocks are larger than any file");
    }
    qsort(out->list, count, sizeof *out->list, compare_block_numbers);
    /* Each block of the plan must be there once, so the i-th entry has the number i. */
    for (size_t i = 0; i < count; i++) {
        const uint64_t number = out->list[i].number;
        if (i > 0 && number == out->list[i - 1].number)
            return fail_block(plan, number, "is given twice", ctx);
        if (number != i)
            return fail_block(plan, i, "is missing", ctx);
    }
    return count < plan->info.block_count ? fail_block(plan, count, "is missing", ctx) : TZ_OK;
}
