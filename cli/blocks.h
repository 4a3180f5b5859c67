/* SPDX-License-Identifier: Apache-2.0
 * A large window cut into blocks that fit in memory, along the edges of tiles where it can be so
 * that no tile is decoded twice. */
#ifndef CLI_BLOCKS_H
#define CLI_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* Part of what comes out; all counted from 0 there. */
typedef struct block {
    uint32_t band, bands;
    uint32_t row, height;
    uint32_t column, width;
} block;

/* The window that is divided, and the grid of its tiles. */
typedef struct block_shape {
    uint32_t bands, height, width;
    uint32_t tile_height, tile_width;
    int64_t row_phase, column_phase; /* a tile begins where (place + phase) % tile size is 0 */
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

/* Blocks of at most room bytes, or as small as they get. */
void blocks_start(blocks *b, const block_shape *shape, uint64_t room);
/* The next one; false past the end. Columns first, then rows, then bands. */
bool blocks_next(blocks *b, block *out);
/* Samples in the largest block. */
uint64_t blocks_largest(const blocks *b);

#endif
