/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx/ptx_pool.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)64 << 10)
#define ALIGNMENT   ((size_t)16)

struct ptx_pool_block {
    ptx_pool_block *older;
    size_t used, size;
    _Alignas(16) unsigned char bytes[];
};

static ptx_pool_block *new_block(ptx_pool *pool, size_t size)
{
    ptx_pool_block *block = calloc(1, sizeof *block + size);
    if (block == NULL)
        abort();
    block->size = size;
    block->older = pool->blocks;
    pool->blocks = block;
    return block;
}

void *ptx_pool_array(ptx_pool *pool, size_t count, size_t size)
{
    if (count > SIZE_MAX / 4 / size)
        abort();
    size_t bytes = (count * size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    ptx_pool_block *block = pool->blocks;
    if (block == NULL || block->size - block->used < bytes)
        block = new_block(pool, bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES);
    void *place = block->bytes + block->used;
    block->used += bytes;
    return place;
}

void *ptx_pool_copy(ptx_pool *pool, const void *items, size_t count, size_t size)
{
    void *copy = ptx_pool_array(pool, count, size);
    if (count > 0)
        memcpy(copy, items, count * size);
    return copy;
}

char *ptx_pool_text(ptx_pool *pool, const char *text, size_t size)
{
    char *copy = ptx_pool_array(pool, size + 1, 1);
    memcpy(copy, text, size);
    return copy;
}

void *ptx_pool_grow(ptx_pool *pool, void *items, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = count < 32 ? 64 : 2 * count;
    void *more = ptx_pool_array(pool, *capacity, size);
    if (count > 0)
        memcpy(more, items, count * size);
    return more;
}

void ptx_pool_free(ptx_pool *pool)
{
    while (pool->blocks != NULL) {
        ptx_pool_block *block = pool->blocks;
        pool->blocks = block->older;
        free(block);
    }
}
