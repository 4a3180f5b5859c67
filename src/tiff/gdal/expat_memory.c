/* SPDX-License-Identifier: Apache-2.0
 * Memory for expat. A block carries its size in front, since expat does not tell it again. */
#ifdef TZ_HAVE_EXPAT

#include "tiff/gdal/expat_memory.h"

#include "base/mem.h"

/* expat's memory functions are not told for whom they work; the thread knows while it is in expat.
 */
static _Thread_local tz_expat_memory *current;

void tz_expat_memory_use(tz_expat_memory *memory)
{
    current = memory;
}

typedef union block_header {
    size_t size;
    max_align_t align;
} block_header;

/* Whether a block of old bytes may become one of size bytes. */
static bool is_within_budget(size_t old, size_t size)
{
    if (size <= TZ_MAX_EXPAT_BYTES && current->held - old + size <= TZ_MAX_EXPAT_BYTES)
        return true;
    current->capped = true;
    return false;
}

static void *resize_expat_block(block_header *head, size_t old, size_t size)
{
    if (!is_within_budget(old, size))
        return NULL;
    block_header *block = tz_realloc_array(head, 1, sizeof *head + size);
    if (!block) {
        current->starved = true;
        return NULL;
    }
    block->size = size;
    current->held = current->held - old + size;
    return block + 1;
}

static void *expat_alloc(size_t size)
{
    return resize_expat_block(NULL, 0, size);
}

static void *expat_realloc(void *memory, size_t size)
{
    block_header *head = memory ? (block_header *)memory - 1 : NULL;
    return resize_expat_block(head, head ? head->size : 0, size);
}

static void expat_free(void *memory)
{
    if (!memory)
        return;
    block_header *head = (block_header *)memory - 1;
    current->held -= head->size;
    tz_free(head);
}

const XML_Memory_Handling_Suite tz_expat_memory_suite = {expat_alloc, expat_realloc, expat_free};

#else

/* A source of nothing is not allowed. */
typedef int tz_expat_memory_unused;

#endif
