/* SPDX-License-Identifier: Apache-2.0
 * Arena blocks. Small requests are cut from the newest regular block; one that would not fit a
 * block of the next size gets a block of its own, which is put behind the newest, so that the room
 * left there is still used. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

enum { ALIGNMENT = 16, FIRST_BLOCK = 1024, MAX_BLOCK = 32 * 1024 };

/* The address sanitizer sees a whole block as one piece. It is told which parts were handed out,
 * and a gap is left behind each, so that reading past a piece is found as with malloc. */
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
    size_t used;      /* of them */
    size_t next_size; /* of the regular block after this one, with its header */
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

static void push_block(tz_arena *arena, tz_arena_block *block)
{
    block->older = arena->blocks;
    arena->blocks = block;
}

static void insert_block_after_newest(tz_arena *arena, tz_arena_block *block)
{
    block->older = arena->blocks->older;
    arena->blocks->older = block;
}

/* A block with room for size bytes; NULL when there is no memory. */
static tz_arena_block *find_or_add_block(tz_arena *arena, size_t size)
{
    tz_arena_block *newest = arena->blocks;
    if (newest && size <= newest->capacity - newest->used)
        return newest;

    size_t regular = newest ? newest->next_size : FIRST_BLOCK;
    bool own = size > regular - sizeof(tz_arena_block);
    size_t next = own || regular == MAX_BLOCK ? regular : 2 * regular;
    tz_arena_block *block = make_block(arena, own ? sizeof *block + size : regular, next);
    if (block && own && newest)
        insert_block_after_newest(arena, block);
    else if (block)
        push_block(arena, block);
    return block;
}

void *tz_arena_alloc(tz_arena *arena, size_t size)
{
    if (size > PTRDIFF_MAX - sizeof(tz_arena_block) - 2 * ALIGNMENT)
        return NULL;
    /* A request for nothing still gets an address that no other has. */
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
