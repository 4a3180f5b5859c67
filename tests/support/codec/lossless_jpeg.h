/* SPDX-License-Identifier: Apache-2.0
 * Encodes lossless JPEG (SOF3) in every form that the standard has, for the tests of the decoder.
 * Needs no library. */
#ifndef TESTS_SUPPORT_CODEC_LOSSLESS_JPEG_H
#define TESTS_SUPPORT_CODEC_LOSSLESS_JPEG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct lossless_recipe {
    unsigned width, height, components;
    unsigned precision;
    unsigned predictor;
    unsigned shift;        /* point transform */
    unsigned restart_rows; /* between restart markers; 0: none */
    bool scans_apart;      /* one scan for each component */
    bool long_codes;       /* one code of each length; precision below 16 */
    bool tables_apart;     /* the Huffman table is not in the stream */
} lossless_recipe;

typedef struct lossless_stream {
    uint8_t *data;
    size_t size;
    size_t room;
    uint8_t tables[64]; /* a stream of the Huffman table alone */
    size_t tables_size;
    uint64_t held;
    unsigned bits; /* held */
} lossless_stream;

static inline void lossless_byte(lossless_stream *s, unsigned byte)
{
    if (s->size == s->room) {
        s->room = 2 * s->room + 256;
        s->data = realloc(s->data, s->room);
        if (!s->data)
            abort();
    }
    s->data[s->size++] = (uint8_t)byte;
}

static inline void lossless_bytes(lossless_stream *s, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        lossless_byte(s, bytes[i]);
}

static inline void lossless_word(lossless_stream *s, unsigned word)
{
    lossless_byte(s, word >> 8);
    lossless_byte(s, word & 255);
}

/* With the zero that the standard puts after FF. */
static inline void lossless_code(lossless_stream *s, unsigned value, unsigned count)
{
    s->held = s->held << count | value;
    s->bits += count;
    while (s->bits >= 8) {
        const unsigned byte = (unsigned)(s->held >> (s->bits - 8)) & 255;
        lossless_byte(s, byte);
        if (byte == 255)
            lossless_byte(s, 0);
        s->bits -= 8;
    }
}

/* Ones up to a whole byte. */
static inline void lossless_align(lossless_stream *s)
{
    if (s->bits > 0)
        lossless_code(s, (1u << (8 - s->bits)) - 1, 8 - s->bits);
}

/* Symbols are in ascending order. Long: one code of each length. Else 14 of 4 bits and 3 of 5. */
static inline void lossless_symbol(lossless_stream *s, unsigned symbol, bool is_long)
{
    if (is_long)
        lossless_code(s, (1u << (symbol + 1)) - 2, symbol + 1);
    else if (symbol < 14)
        lossless_code(s, symbol, 4);
    else
        lossless_code(s, 28 + (symbol - 14), 5);
}

static inline size_t lossless_table(uint8_t *out, bool is_long)
{
    const unsigned count = is_long ? 16 : 17;
    uint8_t *at = out;
    *at++ = 0xFF, *at++ = 0xC4, *at++ = 0, *at++ = (uint8_t)(2 + 1 + 16 + count), *at++ = 0;
    for (unsigned i = 1; i <= 16; i++)
        *at++ = is_long ? 1 : i == 4 ? 14 : i == 5 ? 3 : 0;
    for (unsigned i = 0; i < count; i++)
        *at++ = (uint8_t)i;
    return (size_t)(at - out);
}

static inline int lossless_predict(unsigned predictor, int a, int b, int c)
{
    const int predicted[] = {
        0, a, b, c, a + b - c, a + ((b - c) >> 1), b + ((a - c) >> 1), (a + b) >> 1};
    return predicted[predictor];
}

static inline void lossless_sample(lossless_stream *s, const lossless_recipe *r,
                                   const uint16_t *samples, unsigned x, unsigned y, unsigned c)
{
#define AT(column, row) (samples[((row)*r->width + (column)) * r->components + c] >> r->shift)
    const bool is_first = y == 0 || (r->restart_rows > 0 && y % r->restart_rows == 0);
    int predicted;
    if (x == 0)
        predicted = is_first ? 1 << (r->precision - r->shift - 1) : AT(0, y - 1);
    else if (is_first)
        predicted = AT(x - 1, y);
    else
        predicted = lossless_predict(r->predictor, AT(x - 1, y), AT(x, y - 1), AT(x - 1, y - 1));
    int difference = (AT(x, y) - predicted) & 0xFFFF;
    difference = difference > 32768 ? difference - 65536 : difference;
#undef AT
    const unsigned magnitude = (unsigned)abs(difference);
    unsigned size = 0;
    while (magnitude >> size)
        size++;
    lossless_symbol(s, size, r->long_codes);
    if (size > 0 && size < 16)
        lossless_code(
            s, (unsigned)(difference < 0 ? difference - 1 : difference) & ((1u << size) - 1), size);
}

static inline void lossless_scan(lossless_stream *s, const lossless_recipe *r,
                                 const uint16_t *samples, unsigned first, unsigned count)
{
    lossless_word(s, 0xFFDA);
    lossless_word(s, 6 + 2 * count);
    lossless_byte(s, count);
    for (unsigned i = 0; i < count; i++)
        lossless_byte(s, first + i + 1), lossless_byte(s, 0);
    lossless_byte(s, r->predictor), lossless_byte(s, 0), lossless_byte(s, r->shift);
    unsigned restarts = 0;
    for (unsigned y = 0; y < r->height; y++) {
        if (r->restart_rows > 0 && y > 0 && y % r->restart_rows == 0) {
            lossless_align(s);
            lossless_word(s, 0xFFD0 + restarts++ % 8);
        }
        for (unsigned x = 0; x < r->width; x++)
            for (unsigned i = 0; i < count; i++)
                lossless_sample(s, r, samples, x, y, first + i);
    }
    lossless_align(s);
}

/* samples: in the order of rows, components interleaved, each below 2^precision. */
static inline lossless_stream lossless_encode(const lossless_recipe *r, const uint16_t *samples)
{
    lossless_stream s = {0};
    uint8_t table[64];
    const size_t table_size = lossless_table(table, r->long_codes);
    lossless_word(&s, 0xFFD8);
    if (!r->tables_apart)
        lossless_bytes(&s, table, table_size);
    memcpy(s.tables, (const uint8_t[]){0xFF, 0xD8}, 2);
    memcpy(s.tables + 2, table, table_size);
    memcpy(s.tables + 2 + table_size, (const uint8_t[]){0xFF, 0xD9}, 2);
    s.tables_size = table_size + 4;
    lossless_word(&s, 0xFFC3);
    lossless_word(&s, 8 + 3 * r->components);
    lossless_byte(&s, r->precision);
    lossless_word(&s, r->height);
    lossless_word(&s, r->width);
    lossless_byte(&s, r->components);
    for (unsigned i = 0; i < r->components; i++)
        lossless_byte(&s, i + 1), lossless_byte(&s, 0x11), lossless_byte(&s, 0);
    if (r->restart_rows > 0) {
        lossless_word(&s, 0xFFDD), lossless_word(&s, 4);
        lossless_word(&s, r->restart_rows * r->width);
    }
    for (unsigned i = 0; i < (r->scans_apart ? r->components : 1); i++)
        lossless_scan(&s, r, samples, i, r->scans_apart ? 1 : r->components);
    lossless_word(&s, 0xFFD9);
    return s;
}

#endif
