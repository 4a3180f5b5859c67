/* SPDX-License-Identifier: Apache-2.0
 * Huffman codes of limited length, for zlib_writer.c. */
#ifndef CLI_HUFFMAN_H
#define CLI_HUFFMAN_H

#include <stddef.h>
#include <stdint.h>

#define HUFFMAN_SYMBOLS 288
#define HUFFMAN_BITS    15

/* A code's bits are in the order in which Deflate writes them: the first is the lowest. */
typedef struct huffman_code {
    uint8_t length[HUFFMAN_SYMBOLS]; /* 0: the symbol does not occur */
    uint16_t bits[HUFFMAN_SYMBOLS];
} huffman_code;

/* The code for symbols that occur so often; at most HUFFMAN_SYMBOLS of them, at least two. The code
 * is always complete: with fewer than two symbols, others get a code that is not used. */
void huffman_make(huffman_code *code, const uint32_t *counts, size_t symbols);

#endif
