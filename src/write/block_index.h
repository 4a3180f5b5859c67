/* SPDX-License-Identifier: Apache-2.0
 * The heads of all blobs of a plan, in the order of its blocks. */
#ifndef TZ_WRITE_BLOCK_INDEX_H
#define TZ_WRITE_BLOCK_INDEX_H

#include "write/block_head.h"
#include "write/block_writer.h"

/* A blob by its head, and where it is among those that were given. */
typedef struct tz_block_index_entry {
    tz_block_head head;
    uint64_t number; /* of its block, all levels counted through */
    size_t given;    /* as which one */
    uint64_t base;   /* of its body, when all bodies are laid end to end in the order given */
} tz_block_index_entry;

typedef struct tz_block_index {
    tz_block_index_entry *list;
    size_t count;
} tz_block_index;

/* Heads are read where they are. A block that is missing or doubled, or that is none of the plan's,
 * is an error that names it. Released by tz_block_index_deinit, also after a failure. */
tz_result tz_block_index_make(tz_block_index *out, const tz_cog_plan *plan, const tz_bytes *heads,
                              size_t count, const tz_context *ctx);
void tz_block_index_deinit(tz_block_index *heads); /* zeroed state is fine */

/* Sizes, hashes and statistics of all tiles, as if the writer had made them; their places are those
 * among all bodies. */
tz_result tz_block_index_apply(const tz_block_index *heads, const tz_cog_plan *plan,
                               tz_writer *writer);

#endif
