/* SPDX-License-Identifier: Apache-2.0
 * A decoder of PNG that insists on every rule (ISO/IEC 15948, RFC 1950, RFC 1951) and shares
 * nothing with the library. It aborts where a rule is broken. */
#ifndef TESTS_SUPPORT_PNG_DECODE_H
#define TESTS_SUPPORT_PNG_DECODE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct png_image {
    uint32_t width, height, channels;
    size_t chunks;   /* of IDAT */
    uint8_t *pixels; /* rows of width times channels bytes; the caller frees them */
} png_image;

static inline void png_require(bool holds, const char *rule)
{
    if (holds)
        return;
    fprintf(stderr, "not a PNG: %s\n", rule);
    abort();
}

static inline uint32_t png_number(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static inline uint32_t png_crc(const uint8_t *bytes, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

/* ---- Deflate, bit by bit ---- */

typedef struct png_bits {
    const uint8_t *bytes;
    size_t size;
    size_t at; /* bit */
} png_bits;

static inline unsigned png_bit(png_bits *b)
{
    png_require(b->at / 8 < b->size, "the Deflate stream ends early");
    const unsigned bit = b->bytes[b->at / 8] >> b->at % 8 & 1;
    b->at++;
    return bit;
}

static inline unsigned png_take(png_bits *b, unsigned count)
{
    unsigned value = 0;
    for (unsigned i = 0; i < count; i++)
        value |= png_bit(b) << i;
    return value;
}

typedef struct png_code {
    uint16_t counts[16];
    uint16_t symbols[288];
} png_code;

/* A code must be complete; RFC 1951 allows one of a single distance, which no encoder here makes.
 */
static inline void png_make_code(png_code *code, const uint8_t *lengths, unsigned count)
{
    uint16_t starts[16] = {0};
    int left = 1;
    memset(code->counts, 0, sizeof code->counts);
    for (unsigned i = 0; i < count; i++)
        code->counts[lengths[i]]++;
    for (unsigned i = 1; i < 16; i++) {
        left = 2 * left - code->counts[i];
        png_require(left >= 0, "a Huffman code has too many codewords");
        if (i < 15)
            starts[i + 1] = (uint16_t)(starts[i] + code->counts[i]);
    }
    png_require(left == 0, "a Huffman code is not complete");
    for (unsigned i = 0; i < count; i++)
        if (lengths[i] > 0)
            code->symbols[starts[lengths[i]]++] = (uint16_t)i;
}

static inline unsigned png_symbol(png_bits *b, const png_code *code)
{
    int word = 0, first = 0, index = 0;
    for (unsigned length = 1; length < 16; length++) {
        const int count = code->counts[length];
        word |= (int)png_bit(b);
        if (word - count < first)
            return code->symbols[index + (word - first)];
        index += count;
        first = (first + count) << 1;
        word <<= 1;
    }
    png_require(false, "a codeword is not in the code");
    return 0;
}

static inline void png_read_codes(png_bits *b, png_code *literals, png_code *distances)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[320] = {0};
    png_code code;
    const unsigned literal_count = png_take(b, 5) + 257;
    const unsigned distance_count = png_take(b, 5) + 1;
    const unsigned used = png_take(b, 4) + 4;
    for (unsigned i = 0; i < used; i++)
        lengths[order[i]] = (uint8_t)png_take(b, 3);
    png_make_code(&code, lengths, 19);
    memset(lengths, 0, sizeof lengths);
    for (unsigned i = 0; i < literal_count + distance_count;) {
        const unsigned symbol = png_symbol(b, &code);
        unsigned repeat = 1;
        uint8_t value = (uint8_t)symbol;
        if (symbol == 16) {
            png_require(i > 0, "no length to repeat");
            value = lengths[i - 1];
            repeat = 3 + png_take(b, 2);
        } else if (symbol > 16) {
            value = 0;
            repeat = symbol == 17 ? 3 + png_take(b, 3) : 11 + png_take(b, 7);
        }
        png_require(i + repeat <= literal_count + distance_count, "too many code lengths");
        memset(lengths + i, value, repeat);
        i += repeat;
    }
    png_make_code(literals, lengths, literal_count);
    png_make_code(distances, lengths + literal_count, distance_count);
}

static inline void png_fixed_codes(png_code *literals, png_code *distances)
{
    uint8_t lengths[288];
    for (unsigned i = 0; i < 288; i++)
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    png_make_code(literals, lengths, 288);
    memset(lengths, 5, 32);
    png_make_code(distances, lengths, 32);
}

/* Inflates a zlib stream that must make exactly this many bytes. */
static inline void png_inflate(const uint8_t *in, size_t in_size, uint8_t *out, size_t size)
{
    static const uint16_t bases[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                     15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                     67, 83, 99, 115, 131, 163, 195, 227, 258};
    png_bits b = {in, in_size, 16};
    size_t made = 0;
    unsigned last = 0;
    png_require(in_size >= 6 && (in[0] << 8 | in[1]) % 31 == 0 && in[0] == 0x78 &&
                    (in[1] & 0x20) == 0,
                "no zlib header");
    while (!last) {
        png_code literals, distances;
        last = png_bit(&b);
        const unsigned kind = png_take(&b, 2);
        png_require(kind < 3, "a block of no kind");
        if (kind == 0) {
            b.at = (b.at + 7) / 8 * 8;
            const unsigned stored = png_take(&b, 16);
            png_require((png_take(&b, 16) ^ stored) == 0xffff, "a stored block of another size");
            png_require(stored <= size - made && stored <= in_size - b.at / 8, "too many bytes");
            memcpy(out + made, in + b.at / 8, stored);
            made += stored;
            b.at += 8 * (size_t)stored;
            continue;
        }
        if (kind == 1)
            png_fixed_codes(&literals, &distances);
        else
            png_read_codes(&b, &literals, &distances);
        for (unsigned symbol; (symbol = png_symbol(&b, &literals)) != 256;) {
            if (symbol < 256) {
                png_require(made < size, "too many bytes");
                out[made++] = (uint8_t)symbol;
                continue;
            }
            symbol -= 257;
            png_require(symbol < 29, "a length of no number");
            const size_t length =
                bases[symbol] + png_take(&b, symbol < 8 || symbol == 28 ? 0 : symbol / 4 - 1);
            const unsigned code = png_symbol(&b, &distances);
            png_require(code < 30, "a distance of no number");
            const unsigned extra = code < 4 ? 0 : code / 2 - 1;
            const size_t base = code < 4 ? code : (2u + code % 2) << extra;
            const size_t distance = 1 + base + png_take(&b, extra);
            png_require(distance <= made && distance <= 32768, "a match before the beginning");
            png_require(length <= size - made, "too many bytes");
            for (size_t i = 0; i < length; i++, made++)
                out[made] = out[made - distance];
        }
    }
    png_require(made == size, "too few bytes");
    uint32_t low = 1, high = 0;
    for (size_t i = 0; i < size; i++) {
        low = (low + out[i]) % 65521;
        high = (high + low) % 65521;
    }
    const size_t end = (b.at + 7) / 8;
    png_require(in_size - end == 4 && png_number(in + end) == (high << 16 | low),
                "a wrong checksum, or bytes after it");
}

/* ---- filters and chunks ---- */

static inline void png_unfilter(uint8_t *row, const uint8_t *above, size_t size, uint32_t channels,
                                unsigned filter)
{
    for (size_t i = 0; i < size; i++) {
        const int left = i < channels ? 0 : row[i - channels];
        const int up = above == NULL ? 0 : above[i];
        const int corner = above == NULL || i < channels ? 0 : above[i - channels];
        const int a = abs(up - corner), b = abs(left - corner), c = abs(left + up - 2 * corner);
        const int paeth = a <= b && a <= c ? left : b <= c ? up : corner;
        const int guesses[] = {0, left, up, (left + up) / 2, paeth};
        row[i] = (uint8_t)(row[i] + guesses[filter]);
    }
}

static inline png_image png_decode(const uint8_t *data, size_t size)
{
    static const uint32_t channels[] = {1, 0, 3, 0, 2, 0, 4};
    png_image image = {0};
    uint8_t *stream = malloc(size);
    size_t stream_size = 0;
    bool ended = false;
    png_require(stream != NULL && size > 8 && memcmp(data, "\x89PNG\r\n\x1a\n", 8) == 0,
                "no signature");
    for (size_t at = 8; at < size;) {
        png_require(!ended && size - at >= 12, "bytes after the end, or too few");
        const size_t length = png_number(data + at);
        const uint8_t *type = data + at + 4, *body = type + 4;
        png_require(length <= size - at - 12, "a chunk is cut off");
        png_require(png_crc(type, 4 + length) == png_number(body + length), "a wrong CRC");
        if (at == 8) {
            png_require(memcmp(type, "IHDR", 4) == 0 && length == 13 && body[8] == 8 &&
                            body[9] <= 6 && body[10] + body[11] + body[12] == 0,
                        "a header of another kind");
            image.width = png_number(body);
            image.height = png_number(body + 4);
            image.channels = channels[body[9]];
        } else if (memcmp(type, "IDAT", 4) == 0) {
            memcpy(stream + stream_size, body, length);
            stream_size += length;
            image.chunks++;
        } else {
            png_require(memcmp(type, "IEND", 4) == 0 && length == 0, "an unknown chunk");
            ended = true;
        }
        at += 12 + length;
    }
    png_require(ended && image.width > 0 && image.height > 0 && image.channels > 0, "no end");
    const size_t row = (size_t)image.width * image.channels;
    uint8_t *filtered = malloc((row + 1) * image.height);
    image.pixels = malloc(row * image.height);
    png_require(filtered != NULL && image.pixels != NULL, "no memory");
    png_inflate(stream, stream_size, filtered, (row + 1) * image.height);
    for (uint32_t y = 0; y < image.height; y++) {
        const unsigned filter = filtered[y * (row + 1)];
        uint8_t *to = image.pixels + y * row;
        png_require(filter < 5, "an unknown filter");
        memcpy(to, filtered + y * (row + 1) + 1, row);
        png_unfilter(to, y > 0 ? to - row : NULL, row, image.channels, filter);
    }
    free(filtered);
    free(stream);
    return image;
}

#endif
