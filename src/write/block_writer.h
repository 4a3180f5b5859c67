/* SPDX-License-Identifier: Apache-2.0
 * A writer without rows of its own, for what makes and places the tiles of blocks: the parts of the
 * writer that do so are the same, and so are the bytes. */
#ifndef TZ_WRITE_BLOCK_WRITER_H
#define TZ_WRITE_BLOCK_WRITER_H

#include "write/cog_plan.h"
#include "write/writer.h"

/* The plan must outlive it. name is shown in messages; it may be NULL. */
tz_result tz_block_writer_open(tz_writer **out, const tz_cog_plan *plan, const char *name,
                               tz_error *err);
void tz_block_writer_close(tz_writer *writer); /* NULL is fine */

/* The pixels of a block as a swath. */
tz_tile_row tz_block_tile_row(const tz_cog_plan *plan, uint32_t level, const tz_block_tiles *tiles);

#endif
