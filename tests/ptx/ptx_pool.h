/* SPDX-License-Identifier: Apache-2.0
 * Memory that is released together. Where the system has none left the program aborts: this is a
 * tool of tests, and its own memory is not what they are about. */
#ifndef TESTS_PTX_PTX_POOL_H
#define TESTS_PTX_PTX_POOL_H

#include <stddef.h>
#include <stdint.h>

typedef struct ptx_pool_block ptx_pool_block;
typedef struct ptx_pool {
    ptx_pool_block *blocks; /* newest first */
} ptx_pool;

/* A zeroed pool is empty and ready. */
void *ptx_pool_array(ptx_pool *pool, size_t count, size_t size); /* zeroed, 16-byte aligned */
char *ptx_pool_text(ptx_pool *pool, const char *text, size_t size);
void *ptx_pool_copy(ptx_pool *pool, const void *items, size_t count, size_t size);
void ptx_pool_free(ptx_pool *pool);

/* items with room for one more than count; the old place stays in the pool. */
void *ptx_pool_grow(ptx_pool *pool, void *items, uint32_t count, uint32_t *capacity, size_t size);

#endif
