/* SPDX-License-Identifier: Apache-2.0
 * Huffman codes of JPEG that are made for a tile. libjpeg can do so too, but keeps all coefficients
 * for it and goes through them twice; it is faster to let it take its quickest way, with the
 * standard codes, and to replace the codes in what came out. */
#ifndef TZ_CODEC_JPEG_RECODE_H
#define TZ_CODEC_JPEG_RECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TZ_JPEG_HUFFMAN_CODES = 4,    /* DC and AC of the first set, then of the second */
    TZ_JPEG_MAX_CODE_LENGTH = 16, /* bits */
    TZ_JPEG_QUICK_BITS = 10
};

/* A Huffman code as JPEG stores it: symbols in the order of their codes, by length. */
typedef struct tz_jpeg_huffman {
    uint8_t counts[TZ_JPEG_MAX_CODE_LENGTH + 1]; /* codes of each length; 0 has none */
    uint8_t symbols[256];
    unsigned symbol_count;
} tz_jpeg_huffman;

/* The best code for symbols that occur so often, at least one of them, as T.81 wants it: up to 16
 * bits, and none of all ones. Symbols that do not occur have no code. */
void tz_jpeg_huffman_build(tz_jpeg_huffman *out, const uint64_t occurrences[256]);

/* What it takes to read one code. What is found is the symbol, << 8 the length of its code, and
 * << 16 that length with the bits of the value that follow. */
typedef struct tz_jpeg_huffman_reader {
    uint32_t quick[1 << TZ_JPEG_QUICK_BITS]; /* 0: a longer code */
    uint32_t
        limits[TZ_JPEG_MAX_CODE_LENGTH + 1]; /* the first code that is longer than so many bits */
    uint32_t offsets[TZ_JPEG_MAX_CODE_LENGTH + 1]; /* of symbols, added to a code of so many bits */
    uint8_t symbols[256];
} tz_jpeg_huffman_reader;

void tz_jpeg_huffman_reader_init(tz_jpeg_huffman_reader *reader, const tz_jpeg_huffman *code);

/* The blocks of a scan: units times so many with the first set of codes, then so many with the
 * second. */
typedef struct tz_jpeg_mcu_layout {
    uint64_t mcu_count;
    unsigned blocks[2];
} tz_jpeg_mcu_layout;

/* Behind the stream there are so many readable bytes; for each block, room for so many tokens. */
enum { TZ_JPEG_RECODE_SLACK = 512, TZ_JPEG_BLOCK_TOKENS = 64 };

/* A baseline stream of one scan that was coded with the codes of the readers, but does not contain
 * them, to one with codes of its own. in is used up. false when it is no such stream or out has too
 * little room. */
bool tz_jpeg_recode(const tz_jpeg_huffman_reader readers[TZ_JPEG_HUFFMAN_CODES],
                    const tz_jpeg_mcu_layout *layout, uint8_t *in, size_t in_size, uint32_t *tokens,
                    uint8_t *out, size_t capacity, size_t *out_size);

#endif
