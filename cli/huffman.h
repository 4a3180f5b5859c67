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

/* Makes the code for symbols with these counts; 2 to HUFFMAN_SYMBOLS of them. The code is always
 * complete: if fewer than two symbols occur, others get codes that are not used. */
void huffman_make(huffman_code *code, const uint32_t *counts, size_t symbols);

#endif
