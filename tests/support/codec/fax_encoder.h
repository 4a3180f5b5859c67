/* SPDX-License-Identifier: Apache-2.0
 * Fax codes of T.4 and T.6, written pixel by pixel from the words of the recommendations. */
#ifndef TESTS_SUPPORT_CODEC_FAX_ENCODER_H
#define TESTS_SUPPORT_CODEC_FAX_ENCODER_H

#include "codec/ccitt_tables.h"
#include "support/codec/bit_writer.h"

/* A picture of one byte a pixel: 0 white, 1 black. */
typedef struct fax_picture {
    uint8_t *pixels;
    unsigned width, height;
} fax_picture;

/* Options of a file, and choices of encoders. */
typedef struct fax_options {
    unsigned compression; /* 2, 3 or 4 */
    bool two_dimensions;  /* of group 3: every fourth row is one-dimensional */
    bool align_eol;       /* fill bits so that an EOL ends on a byte */
    bool no_eol;          /* rows of group 3 without EOL */
    bool no_end;          /* neither RTC nor EOFB */
} fax_options;

static inline void put_run(bit_writer *out, int color, unsigned length)
{
    const fax_code *codes = color ? fax_black_codes : fax_white_codes;
    for (; length >= 2560 + 64; length -= 2560)
        put_bits(out, codes[FAX_RUN_CODES - 1].bits, codes[FAX_RUN_CODES - 1].size);
    if (length >= 64) {
        put_bits(out, codes[63 + length / 64].bits, codes[63 + length / 64].size);
        length %= 64;
    }
    put_bits(out, codes[length].bits, codes[length].size);
}

/* The first pixel right of x (which may be -1) that differs from the one before it. */
static inline int next_change(const uint8_t *row, int width, int x)
{
    for (x++; x < width; x++)
        if (row[x] != (x > 0 ? row[x - 1] : 0))
            return x;
    return width;
}

static inline void put_row_1d(bit_writer *out, const uint8_t *row, int width)
{
    int color = 0;
    for (int x = 0; x < width; color = !color) {
        int start = x;
        while (x < width && row[x] == color)
            x++;
        put_run(out, color, (unsigned)(x - start));
    }
}

/* b1: the first change right of a0 to the colour that a0 has not. */
static inline int find_b1(const uint8_t *above, int width, int a0, int color)
{
    int x = next_change(above, width, a0);
    while (x < width && above[x] == color)
        x = next_change(above, width, x);
    return x;
}

static inline void put_vertical(bit_writer *out, int distance)
{
    static const struct {
        unsigned bits, size;
    } codes[] = {{2, 7}, {2, 6}, {2, 3}, {1, 1}, {3, 3}, {3, 6}, {3, 7}};
    put_bits(out, codes[distance + 3].bits, codes[distance + 3].size);
}

static inline void put_row_2d(bit_writer *out, const uint8_t *row, const uint8_t *above, int width)
{
    int a0 = -1, color = 0;
    while (a0 < width) {
        int a1 = a0 < 0 ? 0 : a0;
        while (a1 < width && row[a1] == color)
            a1++;
        int b1 = find_b1(above, width, a0, color);
        int b2 = next_change(above, width, b1);
        if (b2 < a1) {
            put_bits(out, 1, 4); /* pass */
            a0 = b2;
        } else if (a1 - b1 >= -3 && a1 - b1 <= 3) {
            put_vertical(out, a1 - b1);
            a0 = a1;
            color = !color;
        } else {
            int a2 = a1;
            while (a2 < width && row[a2] != color)
                a2++;
            put_bits(out, 1, 3); /* horizontal */
            put_run(out, color, (unsigned)(a1 - (a0 < 0 ? 0 : a0)));
            put_run(out, !color, (unsigned)(a2 - a1));
            a0 = a2;
        }
    }
}

static inline void put_eol(bit_writer *out, const fax_options *options)
{
    while (options->align_eol && out->bits % 8 != 4)
        put_bit(out, 0);
    put_bits(out, 1, 12);
}

static inline void put_fax_row(bit_writer *out, const fax_picture *picture, unsigned y,
                               const fax_options *options, const uint8_t *white)
{
    const uint8_t *row = picture->pixels + (size_t)y * picture->width;
    const uint8_t *above = y > 0 ? row - picture->width : white;
    int width = (int)picture->width;
    bool one = options->compression == 2 ||
               (options->compression == 3 && (!options->two_dimensions || y % 4 == 0));
    if (options->compression == 3 && !options->no_eol)
        put_eol(out, options);
    if (options->compression == 3 && options->two_dimensions)
        put_bit(out, one);
    if (one)
        put_row_1d(out, row, width);
    else
        put_row_2d(out, row, above, width);
    if (options->compression == 2)
        put_align(out);
}

static inline bit_writer fax_encode(const fax_picture *picture, const fax_options *options,
                                    bool low_first)
{
    /* codes are written highest bit first, and all bytes turned for the other order */
    bit_writer out = {0};
    uint8_t *white = calloc(picture->width + 1u, 1);
    if (!white)
        abort();
    for (unsigned y = 0; y < picture->height; y++)
        put_fax_row(&out, picture, y, options, white);
    unsigned ends = options->no_end || options->compression == 2 ? 0
                    : options->compression == 3                  ? 6
                                                                 : 2;
    for (unsigned i = 0; i < ends; i++) {
        put_bits(&out, 1, 12);
        if (options->compression == 3 && options->two_dimensions)
            put_bit(&out, 1);
    }
    for (size_t i = 0; low_first && i < out.size; i++) {
        unsigned turned = 0;
        for (unsigned bit = 0; bit < 8; bit++)
            turned |= (out.data[i] >> bit & 1u) << (7 - bit);
        out.data[i] = (uint8_t)turned;
    }
    free(white);
    return out;
}

#endif
