/* SPDX-License-Identifier: Apache-2.0
 * An allocator for libraries that ask for the same few blocks of memory for every tile: they are
 * kept between tiles and handed out again. One thread at a time. */
#ifndef TZ_CODEC_ALLOC_CACHE_H
#define TZ_CODEC_ALLOC_CACHE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tz_cached_block {
    void *block;
    size_t size;
    bool used;
} tz_cached_block;

typedef struct tz_alloc_cache {
    tz_cached_block blocks[16];
} tz_alloc_cache;

/* As liblzma wants them; kept is a tz_alloc_cache, zeroed before its first use. */
void *tz_alloc_cache_alloc(void *cache, size_t count, size_t size);
void tz_alloc_cache_free(void *cache, void *block);

void tz_alloc_cache_deinit(tz_alloc_cache *cache); /* zeroed state is fine */

#endif
