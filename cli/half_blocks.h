/* SPDX-License-Identifier: Apache-2.0
 * A picture as text: each character shows two pixels, one above the other. In colour the upper half
 * of a cell has the colour of one and the lower half that of the other; else it is a character as
 * dark as both. */
#ifndef CLI_HALF_BLOCKS_H
#define CLI_HALF_BLOCKS_H

#include <stdint.h>

/* Prints a picture on standard output, in the colours that it has. rgba: 4 bytes for each pixel,
 * row after row. */
void half_blocks_print(const unsigned char *rgba, uint32_t width, uint32_t height);

#endif
