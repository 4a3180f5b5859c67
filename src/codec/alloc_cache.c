/* SPDX-License-Identifier: Apache-2.0
 * See alloc_cache.h. */
#include "codec/alloc_cache.h"

#include "base/mem.h"

enum { MAX_CACHED = sizeof((tz_alloc_cache *)0)->blocks / sizeof(tz_cached_block) };

/* A free block of just this size; NULL: there is none. */
static tz_cached_block *find_free(tz_alloc_cache *cache, size_t size)
{
    for (size_t i = 0; i < MAX_CACHED; i++) {
        tz_cached_block *cached = &cache->blocks[i];
        if (cached->block && !cached->used && cached->size == size)
            return cached;
    }
    return NULL;
}

/* Another size: streams are of another kind now, and what was kept for those before goes. Returns
 * an empty place; NULL: all are in use. */
static tz_cached_block *release_unused(tz_alloc_cache *cache)
{
    tz_cached_block *empty = NULL;
    for (size_t i = 0; i < MAX_CACHED; i++) {
        tz_cached_block *cached = &cache->blocks[i];
        if (cached->used)
            continue;
        tz_free(cached->block);
        *cached = (tz_cached_block){0};
        empty = cached;
    }
    return empty;
}

void *tz_alloc_cache_alloc(void *cache, size_t count, size_t size)
{
    size_t bytes;
    if (!tz_size_mul(count, size, &bytes))
        return NULL;
    tz_cached_block *cached = find_free(cache, bytes);
    if (!cached) {
        cached = release_unused(cache);
        void *block = tz_alloc(bytes);
        if (!cached || !block)
            return block;
        *cached = (tz_cached_block){.block = block, .size = bytes};
    }
    cached->used = true;
    return cached->block;
}

void tz_alloc_cache_free(void *opaque, void *block)
{
    tz_alloc_cache *cache = opaque;
    if (!block)
        return;
    for (size_t i = 0; i < MAX_CACHED; i++) {
        if (cache->blocks[i].block == block) {
            cache->blocks[i].used = false;
            return;
        }
    }
    tz_free(block);
}

void tz_alloc_cache_deinit(tz_alloc_cache *cache)
{
    for (size_t i = 0; i < MAX_CACHED; i++)
        tz_free(cache->blocks[i].block);
    *cache = (tz_alloc_cache){0};
}
