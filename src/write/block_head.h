/* SPDX-License-Identifier: Apache-2.0
 * The head of a blob: what is known of the tiles of a block, without their bytes. The format is in
 * doc/blocks.md. */
#ifndef TZ_WRITE_BLOCK_HEAD_H
#define TZ_WRITE_BLOCK_HEAD_H

#include "pixel/store.h"
#include "write/cog_plan.h"

/* A head by its parts, which are read where they are. */
typedef struct tz_block_head {
    uint64_t fingerprint; /* of the plan */
    uint32_t level;
    uint64_t block;
    uint64_t tiles;
    uint64_t stats_count; /* one for each band of each place of the first level, or none */
    uint64_t size;        /* of the head */
    uint64_t body;        /* bytes of tiles, with what stands around them */
    const uint8_t *at;    /* its first byte; NULL: not all of it is at hand */
} tz_block_head;

/* The head of a block of a plan, but for body and at. */
tz_block_head tz_block_head_init(const tz_cog_plan *plan, uint32_t level, uint64_t block,
                                 const tz_block_tiles *tiles);

/* Of a head at hand. Places are counted row by row within the block. */
uint32_t tz_block_head_tile_size(const tz_block_head *head, uint64_t tile);
uint64_t tz_block_head_tile_hash(const tz_block_head *head, uint64_t tile);
tz_stats tz_block_head_statistics(const tz_block_head *head, uint64_t tile_index, uint32_t band,
                                  uint32_t bands);

/* Write one, part by part, to memory of its size; sealed at the end. */
void tz_block_head_set_tile(uint8_t *at, const tz_block_head *head, uint64_t tile, uint32_t size,
                            uint64_t hash);
void tz_block_head_set_statistics(uint8_t *at, const tz_block_head *head, uint64_t tile_index,
                                  uint32_t band, uint32_t bands, const tz_stats *tally);
void tz_block_head_seal(uint8_t *at, const tz_block_head *head);

/* The first TZ_BLOB_HEADER bytes say how long it is; when all of that is there, it is checked and
 * at is set. */
tz_result tz_block_head_read(tz_block_head *out, const uint8_t *data, size_t size,
                             const tz_context *ctx);

/* Whether it is one of this plan's, with sizes of tiles that add up. */
tz_result tz_block_head_check(const tz_block_head *head, const tz_cog_plan *plan,
                              const tz_context *ctx);

#endif
