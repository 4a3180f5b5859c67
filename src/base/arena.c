/* SPDX-License-Identifier: Apache-2.0
 * Arena blocks. Small requests are served from the newest regular block. A request that would not
 * fit a block of the next size gets a block of its own, which is linked after the newest, so that
 * the space left in the newest is still used. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

enum { ALIGNMENT = 16, FIRST_BLOCK = 1024, MAX_BLOCK = 32 * 1024 };

/* The address sanitizer sees a block as one allocation of malloc. Therefore the arena marks the
 * bytes that were handed out and leaves a gap after each of its allocations, so that a read past
 * one is found as with malloc. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TZ_ARENA_POISON 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TZ_ARENA_POISON 1
#endif
#ifdef TZ_ARENA_POISON
#include <sanitizer/asan_interface.h>
enum { GAP = ALIGNMENT };
#else
#define ASAN_POISON_MEMORY_REGION(start, size)   ((void)(start), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
enum { GAP = 0 };
#endif

struct tz_arena_block {
    alignas(ALIGNMENT) tz_arena_block *older;
    size_t capacity;  /* bytes of data */
    size_t used;      /* bytes of data */
    size_t next_size; /* bytes of the next regular block, with its header */
};

static unsigned char *block_data(tz_arena_block *block)
{
    return (unsigned char *)(block + 1);
}

static tz_arena_block *make_block(tz_arena *arena, size_t size, size_t next_size)
{
    tz_arena_block *block = tz_alloc(size);
    if (!block)
        return NULL;
    *block = (tz_arena_block){.capacity = size - sizeof *block, .next_size = next_size};
    ASAN_POISON_MEMORY_REGION(block_data(block), block->capacity);
    arena->held += size;
    return block;
}

/* Returns a block with size free bytes; NULL if memory ran out. */
static tz_arena_block *find_or_add_block(tz_arena *arena, size_t size)
{
    tz_arena_block *newest = arena->blocks;
    if (newest && size <= newest->capacity - newest->used)
        return newest;

    size_t regular = newest ? newest->next_size : FIRST_BLOCK;
    bool own = size > regular - sizeof(tz_arena_block);
    size_t next = own || regular == MAX_BLOCK ? regular : 2 * regular;
    tz_arena_block *block = make_block(arena, own ? sizeof *block + size : regular, next);
    if (!block)
        return NULL;
    tz_arena_block **link = own && newest ? &newest->older : &arena->blocks;
    block->older = *link;
    *link = block;
    return block;
}

void *tz_arena_alloc(tz_arena *arena, size_t size)
{
    if (size > PTRDIFF_MAX - sizeof(tz_arena_block) - 2 * ALIGNMENT)
        return NULL;
    /* A request of 0 bytes still gets an address of its own. */
    size_t reserved = (size + !size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + GAP;
    tz_arena_block *block = find_or_add_block(arena, reserved);
    if (!block)
        return NULL;
    unsigned char *allocation = block_data(block) + block->used;
    block->used += reserved;
    ASAN_UNPOISON_MEMORY_REGION(allocation, size);
    return allocation;
}

void *tz_arena_array(tz_arena *arena, size_t count, size_t size)
{
    size_t total;
    if (!tz_size_mul(count, size, &total))
        return NULL;
    void *array = tz_arena_alloc(arena, total);
    return array ? memset(array, 0, total) : NULL;
}

char *tz_arena_text(tz_arena *arena, const char *text, size_t size)
{
    if (size == SIZE_MAX)
        return NULL;
    char *copy = tz_arena_alloc(arena, size + 1);
    if (!copy)
        return NULL;
    if (size > 0)
        memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

void tz_arena_deinit(tz_arena *arena)
{
    while (arena->blocks) {
        tz_arena_block *block = arena->blocks;
        arena->blocks = block->older;
        ASAN_UNPOISON_MEMORY_REGION(block_data(block), block->capacity);
        tz_free(block);
    }
    arena->held = 0;
}
