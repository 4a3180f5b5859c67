/* SPDX-License-Identifier: Apache-2.0
 * Divides a large window into blocks that fit in memory, along the edges of tiles where possible,
 * so that no tile is decoded twice. */
#ifndef CLI_BLOCKS_H
#define CLI_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* A part of the result. Offsets count from 0 there. */
typedef struct block {
    uint32_t band, bands;
    uint32_t row, height;
    uint32_t column, width;
} block;

/* The window that is divided, and the grid of its tiles. */
typedef struct block_shape {
    uint32_t bands, height, width;
    uint32_t tile_height, tile_width;
    int64_t row_phase, column_phase; /* a tile begins where (offset + phase) % tile size is 0 */
    uint64_t sample_size;            /* bytes of memory for one sample, its mask included */
    bool by_band;                    /* bands are stored apart: reading some costs no more */
    bool all_bands;                  /* no block may have some of them only */
    bool in_order;                   /* blocks must follow each other as bytes of a stream do */
} block_shape;

typedef struct blocks {
    block_shape shape;
    uint32_t band_step, row_step, column_step;
    block now;
} blocks;

/* Starts blocks of at most budget bytes, or the smallest possible. */
void blocks_start(blocks *b, const block_shape *shape, uint64_t budget);
/* Returns the next block; false past the end. Columns vary fastest, then rows, then bands. */
bool blocks_next(blocks *b, block *out);
/* Returns the number of samples in the largest block. */
uint64_t blocks_largest(const blocks *b);

#endif
