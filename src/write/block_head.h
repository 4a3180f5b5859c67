/* SPDX-License-Identifier: Apache-2.0
 * The head of a blob: sizes, hashes and statistics of the tiles of a block, without their bytes;
 * and the index of the heads of all blocks of a plan. The format is in doc/blocks.md. */
#ifndef TZ_WRITE_BLOCK_HEAD_H
#define TZ_WRITE_BLOCK_HEAD_H

#include "pixel/store.h"
#include "write/cog_plan.h"

/* The fixed fields of a head. The tables stay in its bytes. */
typedef struct tz_block_head {
    uint64_t fingerprint; /* of the plan */
    uint32_t level;
    uint64_t block;
    uint64_t tiles;
    uint64_t stats_count; /* one for each band and tile position of the first level, or 0 */
    uint64_t size;        /* of the head */
    uint64_t body;        /* bytes of tiles, with leaders and trailers */
    const uint8_t *at;    /* its first byte; NULL: some bytes of the head are missing */
} tz_block_head;

/* The head of a block, without body and at. */
tz_block_head tz_block_head_init(const tz_cog_plan *plan, uint32_t level, uint64_t block,
                                 const tz_block_tiles *tiles);

/* Entries of a head whose at is set. tile_index counts tile positions row by row in the block. */
uint32_t tz_block_head_tile_size(const tz_block_head *head, uint64_t tile);
uint64_t tz_block_head_tile_hash(const tz_block_head *head, uint64_t tile);
tz_stats tz_block_head_statistics(const tz_block_head *head, uint64_t tile_index, uint32_t band,
                                  uint32_t bands);

/* Write a head to head->size bytes at at: entries in any order, then the seal. */
void tz_block_head_set_tile(uint8_t *at, const tz_block_head *head, uint64_t tile, uint32_t size,
                            uint64_t hash);
void tz_block_head_set_statistics(uint8_t *at, const tz_block_head *head, uint64_t tile_index,
                                  uint32_t band, uint32_t bands, const tz_stats *stats);
void tz_block_head_seal(uint8_t *at, const tz_block_head *head);

/* Reads the fixed fields, which are the first TZ_BLOB_HEADER bytes. If data has all bytes of the
 * head, its checksum is checked and at is set. */
tz_result tz_block_head_read(tz_block_head *out, const uint8_t *data, size_t size,
                             const tz_context *ctx);

/* Fails unless the head belongs to the plan and the sizes of its tiles add up to its body. */
tz_result tz_block_head_check(const tz_block_head *head, const tz_cog_plan *plan,
                              const tz_context *ctx);

/* A blob in an index. */
typedef struct tz_block_index_entry {
    tz_block_head head;
    tz_block_tiles tiles;
    uint64_t number; /* of its block, counted through all levels */
    size_t given;    /* index in the caller's list */
    uint64_t base;   /* offset of its body if all bodies follow each other in the caller's order */
} tz_block_index_entry;

/* All blobs of a plan, in the order of its blocks. */
typedef struct tz_block_index {
    tz_block_index_entry *list;
    size_t count;
} tz_block_index;

/* The heads are read in place. A block that is missing, given twice, or of another plan is an error
 * that names it. The caller frees out->list, also after a
 * failure. */
tz_result tz_block_index_make(tz_block_index *out, const tz_cog_plan *plan, const tz_bytes *heads,
                              size_t count, const tz_context *ctx);

#endif
