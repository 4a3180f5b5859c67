/* SPDX-License-Identifier: Apache-2.0
 * A plan in memory: its bytes, the levels that follow from them, and their blocks. */
#ifndef TZ_WRITE_COG_PLAN_H
#define TZ_WRITE_COG_PLAN_H

#include "write/output_pyramid.h"
#include "write/tile_row.h"

struct tz_cog_plan {
    tz_memory bytes;
    tz_output_pyramid pyramid;
    tz_cog_plan_info info;
    tz_cog_level levels[TZ_MAX_OUTPUT_LEVELS];
};

/* The tiles of a block. */
typedef struct tz_block_tiles {
    uint32_t column; /* of its first tile */
    uint32_t row;
    uint32_t columns;
    uint32_t rows;
} tz_block_tiles;

/* TZ_ERR_ARG if the plan has no such level, or the level no such block. */
tz_result tz_cog_plan_check_level(const tz_cog_plan *plan, uint32_t level, const tz_context *ctx);
tz_result tz_cog_plan_find_block(const tz_cog_plan *plan, uint32_t level, uint64_t block,
                                 tz_block_tiles *out, const tz_context *ctx);
tz_window tz_cog_plan_block_window(const tz_cog_plan *plan, uint32_t level,
                                   const tz_block_tiles *tiles);
/* The rows of a block as a tile row, without buffers. */
tz_tile_row tz_cog_plan_block_tile_row(const tz_cog_plan *plan, uint32_t level,
                                       const tz_block_tiles *tiles);

#endif
