/* SPDX-License-Identifier: Apache-2.0
 * Memory. The hook counts the bytes that the allocator holds for a block (malloc_usable_size), not
 * the bytes that were requested: blocks then need no header of our own, and a hook may be set and
 * removed while blocks live. */
#define _GNU_SOURCE /* malloc_usable_size */
#include "base/mem.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static tz_mem_hook hook; /* NULL functions: no hook */

void tz_mem_set_hook(const tz_mem_hook *new_hook)
{
    hook = new_hook ? *new_hook : (tz_mem_hook){0};
}

static bool is_allowed(size_t size)
{
    /* Above PTRDIFF_MAX the difference of two pointers is undefined. */
    return size <= PTRDIFF_MAX && (!hook.allow || hook.allow(hook.user, size));
}

static size_t live_size(void *block)
{
    return hook.resized && block ? malloc_usable_size(block) : 0;
}

static void report_resize(size_t released, size_t acquired)
{
    if (hook.resized)
        hook.resized(hook.user, released, acquired);
}

static void *report_allocation(void *block)
{
    if (block)
        report_resize(0, live_size(block));
    return block;
}

/* malloc and realloc may return NULL for a size of 0, which would look like a failure. */
static size_t nonzero_size(size_t size)
{
    return size ? size : 1;
}

void *tz_alloc(size_t size)
{
    return is_allowed(size) ? report_allocation(malloc(nonzero_size(size))) : NULL;
}

void *tz_alloc_slab(uint64_t size)
{
    enum { LARGE_PAGE = 2 << 20 };
    size_t bytes;
    void *block = tz_to_size(size, &bytes) ? tz_alloc(bytes) : NULL;
    if (!block || bytes <= LARGE_PAGE)
        return block;
    /* The whole large pages within the block; a hint, whose failure changes nothing. */
    const uintptr_t start = ((uintptr_t)block + (LARGE_PAGE - 1)) & ~(uintptr_t)(LARGE_PAGE - 1);
    const uintptr_t end = ((uintptr_t)block + bytes) & ~(uintptr_t)(LARGE_PAGE - 1);
    if (start < end)
        (void)madvise((uint8_t *)block + (start - (uintptr_t)block), end - start, MADV_HUGEPAGE);
    return block;
}

void *tz_alloc_array(size_t count, size_t size)
{
    size_t total;
    return tz_size_mul(count, size, &total) ? tz_alloc(total) : NULL;
}

void *tz_alloc_zeroed(size_t count, size_t size)
{
    size_t total;
    if (!tz_size_mul(count, size, &total) || !is_allowed(total))
        return NULL;
    return report_allocation(calloc(1, nonzero_size(total)));
}

void *tz_realloc_array(void *block, size_t count, size_t size)
{
    size_t total;
    if (!tz_size_mul(count, size, &total) || !is_allowed(total))
        return NULL;
    size_t released = live_size(block);
    void *resized = realloc(block, nonzero_size(total));
    if (resized)
        report_resize(released, live_size(resized));
    return resized;
}

void tz_free(void *block)
{
    if (!block)
        return;
    report_resize(live_size(block), 0);
    free(block);
}

char *tz_copy_string(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = tz_alloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}
