/* SPDX-License-Identifier: Apache-2.0
 * Positions of tiles: the tables of offsets and sizes, which stay in the file, and the pages of
 * them that a handle keeps. */
#ifndef TZ_TIFF_TILE_TABLE_H
#define TZ_TIFF_TILE_TABLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "tiff/layer.h"

enum { TZ_TABLE_PAGE_SIZE = 4096, TZ_TABLE_PAGE_COUNT = 32 };

/* Pages of a file's tile tables, kept in its handle, for callers who ask for one tile after the
 * other. Any number of threads may use it; one that finds it busy reads the file instead, so that
 * nobody waits, not even a child of fork whose parent's threads were using it. */
typedef struct tz_table_cache {
    pthread_mutex_t lock;
    atomic_uint uses; /* the first reads go to the file: most handles are asked a few times only */
    uint8_t *pages;   /* TZ_TABLE_PAGE_COUNT of them; NULL: not allocated yet */
    uint64_t keys[TZ_TABLE_PAGE_COUNT]; /* page and container of each slot, plus 1; 0: empty */
} tz_table_cache;

void tz_table_cache_init(tz_table_cache *cache);
void tz_table_cache_deinit(tz_table_cache *cache);

/* Reads size bytes at offset of a source of source_size bytes, which lie within it. container
 * distinguishes the sources of one handle. cache may be NULL. */
tz_result tz_table_cache_read(tz_table_cache *cache, tz_source *source, uint64_t source_size,
                              unsigned container, uint64_t offset, size_t size, uint8_t *dst,
                              const tz_context *ctx);

/* In these functions level is a number, and the layer says if it is a mask. */

/* tz_file_get_tile_spans for a layer at hand, without a check that the file is unchanged. */
tz_result tz_layer_spans(const tz_file *file, uint32_t level, const tz_layer *layer, uint64_t first,
                         size_t count, tz_tile_span *out, tz_error *err);

/* Does the checks of tz_file_locate_tile on a span of the table. A size that cannot be right is
 * replaced by that of the leader, or, with a warning, by the one that the layout implies. warnings
 * may be NULL. */
tz_result tz_tile_check_span(const tz_file *file, uint32_t level, const tz_layer *layer,
                             uint64_t tile, tz_tile_span *span, tz_warnings *warnings,
                             tz_error *err);

#endif
