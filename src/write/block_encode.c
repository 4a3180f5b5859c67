/* SPDX-License-Identifier: Apache-2.0
 * The tiles of a block, one after the other as a writer would make them, and their head. */
#include <string.h>

#include "base/mem.h"
#include "write/block_head.h"
#include "write/block_pixels.h"
#include "write/block_writer.h"
#include "write/cog_layout.h"

/* A blob that grows. */
typedef struct blob {
    const tz_cog_plan *plan;
    tz_writer *writer;
    tz_block_tiles tiles;
    tz_block_head head;
    tz_task_batch batch;
    uint8_t *data;
    size_t size; /* used */
    size_t capacity;
} blob;

static tz_result grow_blob(blob *b, size_t more)
{
    if (b->capacity - b->size >= more)
        return TZ_OK;
    const size_t capacity = b->capacity / 2 + tz_max_size(b->capacity, b->size + more) / 2 + more;
    uint8_t *data = tz_realloc_array(b->data, capacity, 1);
    if (!data)
        return tz_fail_nomem(&b->writer->ctx, capacity);
    b->data = data;
    b->capacity = capacity;
    return TZ_OK;
}

/* Tallies are found by where their tile is in the block, whatever the order of tiles. */
static void add_tile_statistics(blob *b, const tz_tile_slot *slot)
{
    const tz_image *image = b->writer->levels[slot->level].image;
    const uint64_t in_plane =
        slot->tile_index % ((uint64_t)image->tiles_across * image->tiles_down);
    const uint64_t row = in_plane / image->tiles_across - b->tiles.row;
    const uint64_t column = in_plane % image->tiles_across - b->tiles.column;
    for (uint32_t i = 0; i < slot->bands; i++)
        tz_block_head_set_statistics(b->data, &b->head, row * b->tiles.columns + column,
                                     slot->band + i, b->plan->info.bands, &slot->stats[i]);
}

static tz_result encode_tile_into_blob(blob *b, uint64_t index)
{
    tz_tile_slot *slot = &b->writer->slots[0];
    TZ_TRY(tz_tile_make(b->writer, &b->batch, index, 0, slot, b->writer->ctx.err));
    const size_t size = (size_t)tz_cog_tile_bytes((uint32_t)slot->size);
    tz_block_head_set_tile(b->data, &b->head, index, (uint32_t)slot->size,
                           slot->verified_index == TZ_NONE ? 0 : slot->hash);
    add_tile_statistics(b, slot);
    TZ_TRY(grow_blob(b, size));
    if (size > 0)
        memcpy(b->data + b->size, slot->bytes - TZ_LEADER, size);
    b->size += size;
    return TZ_OK;
}

static tz_result encode_blob(blob *b)
{
    size_t head_size;
    if (!tz_to_size(b->head.size, &head_size))
        return tz_fail_nomem(&b->writer->ctx, b->head.size);
    TZ_TRY(tz_workers_open(b->writer));
    TZ_TRY(grow_blob(b, head_size));
    memset(b->data, 0, head_size);
    b->size = head_size;
    for (uint64_t i = 0; i < b->head.tiles; i++)
        TZ_TRY(encode_tile_into_blob(b, i));
    b->head.body = b->size - head_size;
    tz_block_head_seal(b->data, &b->head);
    return TZ_OK;
}

/* The hash of every tile goes along, so that any may be verified. */
static void hash_all_tiles(tz_writer *writer)
{
    for (uint32_t i = 0; i < writer->pyramid.count; i++)
        writer->pyramid.levels[i].image.options.verify = TZ_VERIFY_ALL;
}

tz_result tz_encode_block(const tz_cog_plan *plan, uint32_t level, uint64_t block,
                          const tz_buffer *pixels, const tz_buffer *mask, tz_memory *into,
                          tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    blob b = {.plan = plan};
    tz_block_pixels given;
    TZ_TRY(tz_cog_plan_find_block(plan, level, block, &b.tiles, &ctx));
    const tz_window window = tz_cog_plan_block_window(plan, level, &b.tiles);
    TZ_TRY(tz_block_pixels_check(&given, plan, &window, pixels, mask, "the block", &ctx));
    TZ_TRY(tz_block_writer_open(&b.writer, plan, NULL, err));
    hash_all_tiles(b.writer);
    b.head = tz_block_head_init(plan, level, block, &b.tiles);
    b.batch = (tz_task_batch){.kind = TZ_TASK_ENCODE,
                              .level = level,
                              .tile_row = tz_block_tile_row(plan, level, &b.tiles)};
    b.batch.tile_row.pixels = given.pixels;
    b.batch.tile_row.mask = given.mask;
    const tz_result result = encode_blob(&b);
    tz_block_writer_close(b.writer);
    if (result == TZ_OK)
        *into = (tz_memory){b.data, b.size};
    else
        tz_free(b.data);
    return result;
}
