/* SPDX-License-Identifier: Apache-2.0
 * Compresses to the zlib format (RFC 1950, 1951), for PNG.
 *
 * Bytes are collected into blocks of 64 KiB after a history of up to 32 KiB. A block is searched
 * for matches, each at the last position with the same hash of four bytes; there are no chains,
 * which keeps it small and fast. Huffman codes are then made for the block and written before its
 * tokens. All states have a fixed size and lie in one allocation. */
#include "zlib_writer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "huffman.h"

#define WINDOW    32768u
#define BLOCK     65536u /* bytes that are compressed together */
#define HASH_BITS 15
#define MIN_MATCH 4u
#define MAX_MATCH 258u
#define OUT_SIZE  65536u
#define LITERALS  286 /* bytes, lengths, and the end of the block */
#define DISTANCES 30
#define END       256

/* A literal byte when distance is 0, else a match. */
typedef struct token {
    uint16_t value; /* the byte, or the length */
    uint16_t distance;
} token;

struct zlib_writer {
    zlib_put put;
    void *user;
    uint32_t adler_a, adler_b;
    size_t filled;                  /* bytes of the block under way */
    size_t history;                 /* bytes before it */
    uint64_t start;                 /* position of bytes[0] in the stream */
    uint64_t last[1u << HASH_BITS]; /* position + 1 where four bytes of a hash were seen last */
    unsigned char bytes[WINDOW + BLOCK];
    token tokens[BLOCK];
    size_t token_count;
    uint32_t literal_counts[LITERALS];
    uint32_t distance_counts[DISTANCES];
    huffman_code literals;
    huffman_code distances;
    uint64_t bits;
    unsigned bit_count;
    size_t out_size;
    unsigned char out[OUT_SIZE];
};

/* Bits ----------------------------------------------------------------------------------------- */

static tz_result flush_out(zlib_writer *z, tz_error *err)
{
    size_t size = z->out_size;
    z->out_size = 0;
    return size > 0 ? z->put(z->user, z->out, size, err) : TZ_OK;
}

static tz_result put_byte(zlib_writer *z, unsigned char byte, tz_error *err)
{
    z->out[z->out_size++] = byte;
    return z->out_size == OUT_SIZE ? flush_out(z, err) : TZ_OK;
}

/* At most 32 bits. */
static tz_result put_bits(zlib_writer *z, uint32_t value, unsigned count, tz_error *err)
{
    tz_result result = TZ_OK;
    z->bits |= (uint64_t)value << z->bit_count;
    z->bit_count += count;
    while (z->bit_count >= 8 && result == TZ_OK) {
        result = put_byte(z, (unsigned char)z->bits, err);
        z->bits >>= 8;
        z->bit_count -= 8;
    }
    return result;
}

static tz_result put_symbol(zlib_writer *z, const huffman_code *code, size_t symbol, tz_error *err)
{
    return put_bits(z, code->bits[symbol], code->length[symbol], err);
}

/* Lengths and distances ------------------------------------------------------------------------ */

/* Deflate codes a number as a symbol for its range and extra bits for its offset there. Ranges
 * double in size every per symbols, from first on. */
static unsigned range_of(uint32_t number, unsigned per, unsigned *extra, uint32_t *rest)
{
    unsigned bits = 0;
    unsigned shift = per == 4 ? 2 : 1;
    while (number >> (bits + shift) > 1)
        bits++;
    *extra = bits;
    *rest = number & ((1u << bits) - 1);
    return bits * per + (number >> bits);
}

static unsigned length_symbol(unsigned length, unsigned *extra, uint32_t *rest)
{
    if (length == MAX_MATCH) {
        *extra = 0;
        *rest = 0;
        return 285;
    }
    return 257 + range_of(length - 3, 4, extra, rest);
}

static unsigned distance_symbol(unsigned distance, unsigned *extra, uint32_t *rest)
{
    return range_of(distance - 1, 2, extra, rest);
}

/* Matches -------------------------------------------------------------------------------------- */

static uint32_t hash_at(const unsigned char *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value * 2654435761u >> (32 - HASH_BITS);
}

static unsigned match_length(const unsigned char *a, const unsigned char *b, size_t max)
{
    unsigned length = 0;
    while (length < max && a[length] == b[length])
        length++;
    return length;
}

/* Returns the length of the match at an index of bytes; 0: none. */
static unsigned find_match(zlib_writer *z, size_t at, size_t end, unsigned *distance)
{
    if (end - at < MIN_MATCH)
        return 0;
    uint64_t *last = &z->last[hash_at(z->bytes + at)];
    uint64_t place = z->start + at;
    uint64_t seen = *last;
    *last = place + 1;
    if (seen == 0 || seen - 1 < z->start || place - (seen - 1) > WINDOW)
        return 0;
    size_t max = end - at < MAX_MATCH ? end - at : MAX_MATCH;
    unsigned length = match_length(z->bytes + (seen - 1 - z->start), z->bytes + at, max);
    *distance = (unsigned)(place - (seen - 1));
    return length >= MIN_MATCH ? length : 0;
}

static void add_token(zlib_writer *z, unsigned value, unsigned distance)
{
    unsigned extra;
    uint32_t rest;
    z->tokens[z->token_count++] = (token){(uint16_t)value, (uint16_t)distance};
    if (distance == 0) {
        z->literal_counts[value]++;
        return;
    }
    z->literal_counts[length_symbol(value, &extra, &rest)]++;
    z->distance_counts[distance_symbol(distance, &extra, &rest)]++;
}

static void find_tokens(zlib_writer *z)
{
    size_t at = z->history;
    size_t end = z->history + z->filled;
    z->token_count = 0;
    memset(z->literal_counts, 0, sizeof z->literal_counts);
    memset(z->distance_counts, 0, sizeof z->distance_counts);
    while (at < end) {
        unsigned distance = 0;
        unsigned length = find_match(z, at, end, &distance);
        add_token(z, length > 0 ? length : z->bytes[at], length > 0 ? distance : 0);
        at += length > 0 ? length : 1;
    }
    z->literal_counts[END] = 1;
}

/* Blocks --------------------------------------------------------------------------------------- */

/* Writes the lengths of all codes, each in four bits: the code of code lengths gives 4 bits to each
 * of 0 to 15, which wastes little and needs no second Huffman code. */
static tz_result put_codes(zlib_writer *z, tz_error *err)
{
    static const unsigned char order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                            11, 4,  12, 3, 13, 2, 14, 1, 15};
    tz_result result = put_bits(z, LITERALS - 257, 5, err);
    if (result == TZ_OK)
        result = put_bits(z, (DISTANCES - 1) | (19 - 4) << 5, 9, err);
    for (int i = 0; i < 19 && result == TZ_OK; i++)
        result = put_bits(z, order[i] < 16 ? 4 : 0, 3, err);
    for (int i = 0; i < LITERALS + DISTANCES && result == TZ_OK; i++) {
        uint32_t length = i < LITERALS ? z->literals.length[i] : z->distances.length[i - LITERALS];
        uint32_t reversed =
            (length & 1) << 3 | (length & 2) << 1 | (length & 4) >> 1 | (length & 8) >> 3;
        result = put_bits(z, reversed, 4, err);
    }
    return result;
}

static tz_result put_token(zlib_writer *z, const token *t, tz_error *err)
{
    unsigned extra;
    uint32_t rest;
    if (t->distance == 0)
        return put_symbol(z, &z->literals, t->value, err);
    tz_result result = put_symbol(z, &z->literals, length_symbol(t->value, &extra, &rest), err);
    if (result == TZ_OK)
        result = put_bits(z, rest, extra, err);
    if (result == TZ_OK)
        result = put_symbol(z, &z->distances, distance_symbol(t->distance, &extra, &rest), err);
    return result == TZ_OK ? put_bits(z, rest, extra, err) : result;
}

/* Keeps the end of the block as the history of the next. */
static void slide_window(zlib_writer *z)
{
    size_t end = z->history + z->filled;
    size_t keep = end < WINDOW ? end : WINDOW;
    memmove(z->bytes, z->bytes + end - keep, keep);
    z->start += end - keep;
    z->history = keep;
    z->filled = 0;
}

/* Writes a block of dynamic Huffman codes (BTYPE 2). */
static tz_result put_block(zlib_writer *z, bool is_last, tz_error *err)
{
    find_tokens(z);
    huffman_make(&z->literals, z->literal_counts, LITERALS);
    huffman_make(&z->distances, z->distance_counts, DISTANCES);
    tz_result result = put_bits(z, (is_last ? 1 : 0) | 2u << 1, 3, err);
    if (result == TZ_OK)
        result = put_codes(z, err);
    for (size_t i = 0; i < z->token_count && result == TZ_OK; i++)
        result = put_token(z, &z->tokens[i], err);
    if (result == TZ_OK)
        result = put_symbol(z, &z->literals, END, err);
    slide_window(z);
    return result;
}

/* The stream ----------------------------------------------------------------------------------- */

/* Adds bytes to the Adler-32 checksum (RFC 1950, section 8.2). */
static void add_adler(zlib_writer *z, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        size_t part = size < 5552 ? size : 5552; /* the most that cannot overflow 32 bits */
        for (size_t i = 0; i < part; i++) {
            z->adler_a += bytes[i];
            z->adler_b += z->adler_a;
        }
        z->adler_a %= 65521;
        z->adler_b %= 65521;
        bytes += part;
        size -= part;
    }
}

zlib_writer *zlib_open(zlib_put put, void *user)
{
    zlib_writer *z = calloc(1, sizeof *z);
    if (z == NULL)
        return NULL;
    z->put = put;
    z->user = user;
    z->adler_a = 1;
    z->out[z->out_size++] = 0x78; /* Deflate, a window of 32 KiB */
    z->out[z->out_size++] = 0x9C; /* makes the two bytes a multiple of 31, as FCHECK must */
    return z;
}

tz_result zlib_write(zlib_writer *z, const void *bytes, size_t size, tz_error *err)
{
    const unsigned char *from = bytes;
    add_adler(z, from, size);
    while (size > 0) {
        size_t part = BLOCK - z->filled < size ? BLOCK - z->filled : size;
        memcpy(z->bytes + z->history + z->filled, from, part);
        z->filled += part;
        from += part;
        size -= part;
        tz_result result = z->filled == BLOCK ? put_block(z, false, err) : TZ_OK;
        if (result != TZ_OK)
            return result;
    }
    return TZ_OK;
}

tz_result zlib_finish(zlib_writer *z, tz_error *err)
{
    uint32_t adler = z->adler_b << 16 | z->adler_a;
    tz_result result = put_block(z, true, err);
    if (result == TZ_OK && z->bit_count > 0)
        result = put_bits(z, 0, 8 - z->bit_count, err);
    for (int shift = 24; shift >= 0 && result == TZ_OK; shift -= 8)
        result = put_byte(z, (unsigned char)(adler >> shift), err);
    return result == TZ_OK ? flush_out(z, err) : result;
}

void zlib_close(zlib_writer *z)
{
    free(z);
}
