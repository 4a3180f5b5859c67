/* SPDX-License-Identifier: Apache-2.0
 * The tiles of a block, one after the other as a writer would make them, and their head. */
#include <string.h>

#include "base/mem.h"
#include "write/block_bytes.h"
#include "write/block_pixels.h"
#include "write/block_shell.h"
#include "write/cog_layout.h"

/* A blob that grows. */
typedef struct blob {
    const tz_cog_plan *plan;
    tz_writer *shell;
    tz_block_tiles tiles;
    tz_block_head head;
    tz_batch batch;
    uint8_t *data;
    size_t size; /* used */
    size_t room;
} blob;

static tz_result grow(blob *b, size_t more)
{
    if (b->room - b->size >= more)
        return TZ_OK;
    const size_t room = b->room / 2 + tz_max_size(b->room, b->size + more) / 2 + more;
    uint8_t *data = tz_realloc_array(b->data, room, 1);
    if (!data)
        return tz_fail_nomem(&b->shell->ctx, room);
    b->data = data;
    b->room = room;
    return TZ_OK;
}

/* Tallies are found by where their tile is in the block, whatever the order of tiles. */
static void add_tallies(blob *b, const tz_slot *slot)
{
    const tz_image *image = b->shell->levels[slot->level].image;
    const uint64_t in_plane = slot->place % ((uint64_t)image->tiles_across * image->tiles_down);
    const uint64_t row = in_plane / image->tiles_across - b->tiles.row;
    const uint64_t column = in_plane % image->tiles_across - b->tiles.column;
    for (uint32_t i = 0; i < slot->bands; i++)
        tz_block_head_set_tally(b->data, &b->head, row * b->tiles.columns + column, slot->band + i,
                                b->plan->info.bands, &slot->tallies[i]);
}

static tz_result add_tile(blob *b, uint64_t index)
{
    tz_slot *slot = &b->shell->slots[0];
    TZ_TRY(tz_tile_make(b->shell, &b->batch, index, 0, slot, b->shell->ctx.err));
    const size_t size = (size_t)tz_cog_tile_bytes((uint32_t)slot->size);
    tz_block_head_set_tile(b->data, &b->head, index, (uint32_t)slot->size,
                           slot->checked == TZ_NONE ? 0 : slot->hash);
    add_tallies(b, slot);
    TZ_TRY(grow(b, size));
    if (size > 0)
        memcpy(b->data + b->size, slot->bytes - TZ_LEADER, size);
    b->size += size;
    return TZ_OK;
}

static tz_result encode(blob *b)
{
    size_t head_size;
    if (!tz_to_size(b->head.size, &head_size))
        return tz_fail_nomem(&b->shell->ctx, b->head.size);
    TZ_TRY(tz_workers_open(b->shell));
    TZ_TRY(grow(b, head_size));
    memset(b->data, 0, head_size);
    b->size = head_size;
    for (uint64_t i = 0; i < b->head.tiles; i++)
        TZ_TRY(add_tile(b, i));
    b->head.body = b->size - head_size;
    tz_block_head_seal(b->data, &b->head);
    return TZ_OK;
}

/* The hash of every tile goes along, so that any may be verified. */
static void want_hashes(tz_writer *shell)
{
    for (uint32_t i = 0; i < shell->pyramid.count; i++)
        shell->pyramid.levels[i].image.options.verify = TZ_VERIFY_ALL;
}

tz_result tz_encode_block(const tz_cog_plan *plan, uint32_t level, uint64_t block,
                          const tz_buffer *pixels, const tz_buffer *mask, tz_memory *into,
                          tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    blob b = {.plan = plan};
    tz_block_pixels given;
    TZ_TRY(tz_plan_find_block(plan, level, block, &b.tiles, &ctx));
    const tz_window window = tz_block_window(plan, level, &b.tiles);
    TZ_TRY(tz_block_pixels_take(&given, plan, &window, pixels, mask, "the block", &ctx));
    TZ_TRY(tz_shell_open(&b.shell, plan, NULL, err));
    want_hashes(b.shell);
    b.head = tz_block_head_of(plan, level, block, &b.tiles);
    b.batch = (tz_batch){
        .work = TZ_WORK_ENCODE, .level = level, .swath = tz_shell_swath(plan, level, &b.tiles)};
    b.batch.swath.pixels = given.pixels;
    b.batch.swath.mask = given.mask;
    const tz_result result = encode(&b);
    tz_shell_close(b.shell);
    if (result == TZ_OK)
        *into = (tz_memory){b.data, b.size};
    else
        tz_free(b.data);
    return result;
}
