/* SPDX-License-Identifier: Apache-2.0
 * The heads of all blobs of a plan, in the order of its blocks. */
#ifndef TZ_WRITE_BLOCK_HEADS_H
#define TZ_WRITE_BLOCK_HEADS_H

#include "write/block_bytes.h"
#include "write/block_shell.h"

/* A blob by its head, and where it is among those that were given. */
typedef struct tz_heads_item {
    tz_block_head head;
    uint64_t number; /* of its block, all levels counted through */
    size_t given;    /* as which one */
    uint64_t base;   /* of its body, when all bodies are laid end to end in the order given */
} tz_heads_item;

typedef struct tz_heads {
    tz_heads_item *list;
    size_t count;
} tz_heads;

/* Heads are read where they are. A block that is missing or doubled, or that is none of the plan's,
 * is an error that names it. Released by tz_heads_deinit, also after a failure. */
tz_result tz_heads_make(tz_heads *out, const tz_cog_plan *plan, const tz_bytes *heads, size_t count,
                        const tz_context *ctx);
void tz_heads_deinit(tz_heads *heads); /* zeroed state is fine */

/* Sizes, hashes and statistics of all tiles, as if the writer had made them; their places are those
 * among all bodies. */
tz_result tz_heads_apply(const tz_heads *heads, const tz_cog_plan *plan, tz_writer *shell);

#endif
