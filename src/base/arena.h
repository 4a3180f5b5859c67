/* SPDX-License-Identifier: Apache-2.0
 * Memory that is released together: a parsed file's metadata lives in one arena freed by close. */
#ifndef TZ_BASE_ARENA_H
#define TZ_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct tz_arena_block tz_arena_block;
typedef struct tz_arena {
    tz_arena_block *blocks; /* newest first */
    uint64_t held;          /* bytes of all blocks, headers included */
} tz_arena;

/* A zeroed arena is empty and ready. Blocks are small (1 KiB first, doubling to 32 KiB); a larger
 * request gets a block of its own size, so that an arena holds little more than its allocations.
 * Allocations are aligned to 16 bytes; NULL if memory ran out or a size does not fit. */
void *tz_arena_alloc(tz_arena *arena, size_t size);
void *tz_arena_array(tz_arena *arena, size_t count, size_t size);    /* zeroed */
char *tz_arena_text(tz_arena *arena, const char *text, size_t size); /* copy with a closing NUL */
void tz_arena_deinit(tz_arena *arena);

#endif
