/* SPDX-License-Identifier: Apache-2.0
 * See kept_memory.h. */
#include "codec/kept_memory.h"

#include "base/mem.h"

enum { MAX_KEPT = sizeof((tz_kept_memory *)0)->blocks / sizeof(tz_kept_block) };

/* A free block of just this size; NULL: there is none. */
static tz_kept_block *find_free(tz_kept_memory *kept, size_t size)
{
    for (size_t i = 0; i < MAX_KEPT; i++) {
        tz_kept_block *one = &kept->blocks[i];
        if (one->block && !one->used && one->size == size)
            return one;
    }
    return NULL;
}

/* Another size: streams are of another kind now, and what was kept for those before goes. Returns
 * an empty place; NULL: all are in use. */
static tz_kept_block *release_unused(tz_kept_memory *kept)
{
    tz_kept_block *place = NULL;
    for (size_t i = 0; i < MAX_KEPT; i++) {
        tz_kept_block *one = &kept->blocks[i];
        if (one->used)
            continue;
        tz_free(one->block);
        *one = (tz_kept_block){0};
        place = one;
    }
    return place;
}

void *tz_kept_alloc(void *kept, size_t count, size_t size)
{
    size_t bytes;
    if (!tz_size_mul(count, size, &bytes))
        return NULL;
    tz_kept_block *one = find_free(kept, bytes);
    if (!one) {
        one = release_unused(kept);
        void *block = tz_alloc(bytes);
        if (!one || !block)
            return block;
        *one = (tz_kept_block){.block = block, .size = bytes};
    }
    one->used = true;
    return one->block;
}

void tz_kept_free(void *opaque, void *block)
{
    tz_kept_memory *kept = opaque;
    if (!block)
        return;
    for (size_t i = 0; i < MAX_KEPT; i++) {
        if (kept->blocks[i].block == block) {
            kept->blocks[i].used = false;
            return;
        }
    }
    tz_free(block);
}

void tz_kept_deinit(tz_kept_memory *kept)
{
    for (size_t i = 0; i < MAX_KEPT; i++)
        tz_free(kept->blocks[i].block);
    *kept = (tz_kept_memory){0};
}
