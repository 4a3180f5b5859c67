/* SPDX-License-Identifier: Apache-2.0 */
#include "tiff/table_cache.h"

#include <string.h>

#include "base/mem.h"
#include "io/source.h"

/* Longer pieces come from callers who want many tiles at once, and most handles are asked a few
 * times only: neither is worth the memory. */
enum { MAX_CACHED_BYTES = 64, UNCACHED_USES = 64 };

void tz_table_cache_init(tz_table_cache *cache)
{
    *cache = (tz_table_cache){.pages = NULL};
    pthread_mutex_init(&cache->lock, NULL);
}

void tz_table_cache_deinit(tz_table_cache *cache)
{
    tz_free(cache->pages);
    pthread_mutex_destroy(&cache->lock);
}

/* The page in the cache, read if it is not there yet; *out is NULL when there is no memory for it.
 */
static tz_result get_table_page(tz_table_cache *cache, tz_source *source, uint64_t source_size,
                                unsigned container, uint64_t page, const uint8_t **out,
                                const tz_context *ctx)
{
    const uint64_t start = page * TZ_TABLE_PAGE_SIZE;
    const uint64_t left = source_size - start;
    const uint64_t key = (page << 2 | container) + 1;
    const size_t slot = (size_t)((page ^ page / TZ_TABLE_PAGE_COUNT) % TZ_TABLE_PAGE_COUNT);
    *out = NULL;
    if (!cache->pages)
        cache->pages = tz_alloc((size_t)TZ_TABLE_PAGE_COUNT * TZ_TABLE_PAGE_SIZE);
    if (!cache->pages)
        return TZ_OK;
    uint8_t *bytes = cache->pages + slot * TZ_TABLE_PAGE_SIZE;
    if (cache->keys[slot] != key) {
        cache->keys[slot] = 0;
        TZ_TRY(tz_source_read(source, start,
                              left < TZ_TABLE_PAGE_SIZE ? (size_t)left : TZ_TABLE_PAGE_SIZE, bytes,
                              ctx));
        cache->keys[slot] = key;
    }
    *out = bytes;
    return TZ_OK;
}

static tz_result read_cached_pages(tz_table_cache *cache, tz_source *source, uint64_t source_size,
                                   unsigned container, uint64_t offset, size_t size, uint8_t *dst,
                                   bool *done, const tz_context *ctx)
{
    for (size_t got = 0; got < size;) {
        const size_t within = (size_t)((offset + got) % TZ_TABLE_PAGE_SIZE);
        const size_t fit = TZ_TABLE_PAGE_SIZE - within;
        const size_t some = size - got < fit ? size - got : fit;
        const uint8_t *page;
        TZ_TRY(get_table_page(cache, source, source_size, container,
                              (offset + got) / TZ_TABLE_PAGE_SIZE, &page, ctx));
        if (!page)
            return TZ_OK;
        memcpy(dst + got, page + within, some);
        got += some;
    }
    *done = true;
    return TZ_OK;
}

tz_result tz_table_cache_read(tz_table_cache *cache, tz_source *source, uint64_t source_size,
                              unsigned container, uint64_t offset, size_t size, uint8_t *dst,
                              const tz_context *ctx)
{
    bool done = false;
    tz_result result = TZ_OK;
    if (cache && size <= MAX_CACHED_BYTES &&
        atomic_fetch_add_explicit(&cache->uses, 1, memory_order_relaxed) >= UNCACHED_USES &&
        pthread_mutex_trylock(&cache->lock) == 0) {
        result =
            read_cached_pages(cache, source, source_size, container, offset, size, dst, &done, ctx);
        pthread_mutex_unlock(&cache->lock);
    }
    if (result != TZ_OK || done)
        return result;
    return tz_source_read(source, offset, size, dst, ctx);
}
