/* SPDX-License-Identifier: Apache-2.0
 * A picture as text: each character shows two pixels, one above the other. In colour the upper half
 * of a cell has the colour of one and the lower half that of the other; else it is a character as
 * dark as both. */
#ifndef CLI_HALF_BLOCKS_H
#define CLI_HALF_BLOCKS_H

#include "picture.h"

typedef struct half_blocks {
    bool color; /* else characters alone */
    bool deep;  /* 24-bit colours; else the cube of 216 */
    uint32_t width, left;
    unsigned channels;
    unsigned char *above; /* a row that waits for the one below it */
    bool waits;
} half_blocks;

/* Starts a picture on standard output, in the colours that it has. */
void half_blocks_start(half_blocks *h);
picture_sink half_blocks_sink(half_blocks *h);
void half_blocks_end(half_blocks *h);

#endif
