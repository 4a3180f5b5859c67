/* SPDX-License-Identifier: Apache-2.0
 * An allocator for libraries that ask for the same few blocks of memory for every tile: they are
 * kept between tiles and handed out again. One thread at a time. */
#ifndef TZ_CODEC_KEPT_MEMORY_H
#define TZ_CODEC_KEPT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tz_kept_block {
    void *block;
    size_t size;
    bool used;
} tz_kept_block;

typedef struct tz_kept_memory {
    tz_kept_block blocks[16];
} tz_kept_memory;

/* As liblzma wants them; kept is a tz_kept_memory, zeroed before its first use. */
void *tz_kept_alloc(void *kept, size_t count, size_t size);
void tz_kept_free(void *kept, void *block);

void tz_kept_deinit(tz_kept_memory *kept); /* zeroed state is fine */

#endif
