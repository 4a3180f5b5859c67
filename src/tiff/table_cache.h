/* SPDX-License-Identifier: Apache-2.0
 * Pages of a file's tile tables, kept in its handle, for callers who ask for one tile after the
 * other. Any number of threads may use it; one that finds it busy reads the file instead, so that
 * nobody waits, also not a child of fork whose parent's threads were using it. */
#ifndef TZ_TIFF_TABLE_CACHE_H
#define TZ_TIFF_TABLE_CACHE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { TZ_TABLE_PAGE_SIZE = 4096, TZ_TABLE_PAGE_COUNT = 32 };

typedef struct tz_table_cache {
    pthread_mutex_t lock;
    atomic_uint uses; /* the first ones go to the file: most handles are asked once */
    uint8_t *pages;   /* TZ_TABLE_PAGE_COUNT of them; NULL: not yet */
    uint64_t keys[TZ_TABLE_PAGE_COUNT]; /* which page of which source, plus 1; 0: none */
} tz_table_cache;

void tz_table_cache_init(tz_table_cache *cache);
void tz_table_cache_deinit(tz_table_cache *cache);

/* size bytes at offset of a source of source_size bytes, which lie within it. container tells the
 * sources of one handle apart. cache may be NULL. */
tz_result tz_table_cache_read(tz_table_cache *cache, tz_source *source, uint64_t source_size,
                              unsigned container, uint64_t offset, size_t size, uint8_t *dst,
                              const tz_context *ctx);

#endif
