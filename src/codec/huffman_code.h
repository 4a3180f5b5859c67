/* SPDX-License-Identifier: Apache-2.0
 * Huffman codes of limited length, as Deflate wants them. */
#ifndef TZ_CODEC_HUFFMAN_CODE_H
#define TZ_CODEC_HUFFMAN_CODE_H

#include <stddef.h>
#include <stdint.h>

enum { TZ_HUFFMAN_SYMBOLS = 288, TZ_HUFFMAN_MAX_LENGTH = 15 };

/* The lengths of a complete code for the symbols that occur, none longer than longest; 0 for those
 * that do not. At least two symbols must occur, at most 1 << longest, and all of them together less
 * than 1 << 23 times. Equal counts give the same lengths everywhere. */
void tz_huffman_lengths(const uint32_t *counts, size_t symbols, unsigned longest, uint8_t *lengths);

/* The codes of these lengths in Deflate's order, turned so that their first bit is the lowest. */
void tz_huffman_codes(const uint8_t *lengths, size_t symbols, uint16_t *codes);

#endif
