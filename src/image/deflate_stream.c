/* SPDX-License-Identifier: Apache-2.0
 * See deflate_stream.h.
 *
 * Bytes are collected into blocks of 64 KiB after a history of up to 32 KiB. A block is written in
 * one of three ways. If a sample of it says that matches gain nothing, as of filtered photographs,
 * the fast encoder of the codec writes it, which codes runs and literals alone. Otherwise it is
 * searched for matches, each at the last position with the same hash of four bytes; there are no
 * chains, which keeps it small and fast. A block that no code makes smaller is stored.
 *
 * Huffman codes and bits are those of the codec (kernels/). libdeflate, which serves its higher
 * levels, only makes whole streams, and is not in every build. */
#include "image/deflate_stream.h"

#include <string.h>

#include "base/mem.h"
#include "codec/deflate_fast.h"
#include "codec/unaligned.h"
#include "kernels/deflate_encode.h"

#define WINDOW    32768u
#define BLOCK     65536u /* bytes that are compressed together */
#define SLACK     8u     /* readable bytes after the block: matches are compared in wide steps */
#define HASH_BITS 15
#define MIN_MATCH 4u
#define DISTANCES 30u
#define HEADER    (5u + 5u + 4u + 3u) /* bits: the kind of block, and the numbers of lengths */
#define LENGTHS   (TZ_DEFLATE_SYMBOLS + DISTANCES)
/* Stored blocks take the most: see tz_deflate_raw_bound. Header and checksum of the frame too. */
#define OUT_SIZE (BLOCK + 4u * TZ_DEFLATE_STORED_HEADER + 32u)

/* A literal byte if distance is 0, else a match. */
typedef struct deflate_token {
    uint16_t value; /* the byte, or the length */
    uint16_t distance;
} deflate_token;

struct tz_deflate_stream {
    tz_deflate_put *put;
    void *user;
    bool fast;
    uint32_t adler_low, adler_high;
    size_t filled;                  /* bytes of the block under way */
    size_t history;                 /* bytes before it */
    uint32_t start;                 /* position of bytes[0] in the stream, modulo 2^32 */
    uint32_t last[1u << HASH_BITS]; /* position at which four bytes of a hash were seen last */
    uint8_t bytes[WINDOW + BLOCK + SLACK];
    deflate_token tokens[BLOCK];
    size_t token_count;
    uint32_t counts[TZ_DEFLATE_SYMBOLS]; /* of literals and lengths */
    uint32_t codes[TZ_DEFLATE_SYMBOLS];
    uint8_t lengths[TZ_DEFLATE_SYMBOLS];
    uint32_t distance_counts[DISTANCES];
    uint32_t distance_codes[DISTANCES];
    uint8_t distance_lengths[DISTANCES];
    tz_huffman_scratch huffman;
    tz_deflate_scratch scratch;
    tz_bit_writer bits;
    uint8_t out[OUT_SIZE];
};

/* ---------------------------------------------------------------------------------------------
 * Lengths and distances: a symbol for a range of numbers, and extra bits for the offset in it
 * ------------------------------------------------------------------------------------------ */

static tz_length_symbol length_symbol(uint32_t length)
{
    if (length == TZ_DEFLATE_MAX_MATCH)
        return (tz_length_symbol){.symbol = TZ_DEFLATE_FULL_MATCH};
    return tz_deflate_length_symbol(length);
}

static tz_length_symbol distance_symbol(uint32_t distance)
{
    const uint32_t value = distance - 1;
    if (value < 4)
        return (tz_length_symbol){.symbol = value};
    const uint32_t extra = 30u - tz_leading_zeros_u32(value); /* bits after the highest two */
    return (tz_length_symbol){.symbol = 2 * extra + (value >> extra),
                              .extra_count = extra,
                              .extra = value & ((1u << extra) - 1)};
}

/* ---------------------------------------------------------------------------------------------
 * Matches
 * ------------------------------------------------------------------------------------------ */

static uint32_t hash_four(const uint8_t *bytes)
{
    return tz_load_32(bytes) * 2654435761u >> (32 - HASH_BITS);
}

/* Up to SLACK bytes after the end are compared, and do not count. */
static uint32_t match_length(const uint8_t *a, const uint8_t *b, size_t max)
{
    size_t length = 0;
    while (length < max) {
        const uint64_t differ = tz_load_le64(a + length) ^ tz_load_le64(b + length);
        if (differ != 0) {
            length += tz_trailing_zeros_u64(differ) / 8;
            break;
        }
        length += 8;
    }
    return (uint32_t)tz_min_size(length, max);
}

/* Returns the length of the match at an index of bytes; 0: none. A position that was seen 4 GiB ago
 * looks like a recent one, which does no harm: the bytes there are compared. */
static uint32_t find_match(tz_deflate_stream *s, size_t at, size_t end, uint32_t *distance)
{
    if (end - at < MIN_MATCH)
        return 0;
    uint32_t *last = &s->last[hash_four(s->bytes + at)];
    const uint32_t position = s->start + (uint32_t)at;
    const uint32_t back = position - *last;
    *last = position;
    if (back == 0 || back > WINDOW || back > at)
        return 0;
    const size_t max = tz_min_size(end - at, TZ_DEFLATE_MAX_MATCH);
    const uint32_t length = match_length(s->bytes + at - back, s->bytes + at, max);
    *distance = back;
    return length >= MIN_MATCH ? length : 0;
}

/* Divides the block into tokens, and counts their symbols. */
static void find_tokens(tz_deflate_stream *s)
{
    size_t at = s->history;
    const size_t end = s->history + s->filled;
    deflate_token *next = s->tokens;
    memset(s->counts, 0, sizeof s->counts);
    memset(s->distance_counts, 0, sizeof s->distance_counts);
    while (at < end) {
        uint32_t distance = 0;
        const uint32_t length = find_match(s, at, end, &distance);
        if (length == 0) {
            *next++ = (deflate_token){s->bytes[at], 0};
            s->counts[s->bytes[at++]]++;
            continue;
        }
        *next++ = (deflate_token){(uint16_t)length, (uint16_t)distance};
        s->counts[length_symbol(length).symbol]++;
        s->distance_counts[distance_symbol(distance).symbol]++;
        at += length;
    }
    s->counts[TZ_DEFLATE_END] = 1;
    s->token_count = (size_t)(next - s->tokens);
}

/* ---------------------------------------------------------------------------------------------
 * Blocks
 * ------------------------------------------------------------------------------------------ */

/* A code has at least two symbols: more are given codes that are not used. */
static void make_code(tz_deflate_stream *s, uint32_t *counts, uint32_t symbols, uint8_t *lengths,
                      uint32_t *codes)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < symbols; i++)
        used += counts[i] > 0;
    for (uint32_t i = 0; used < 2; i++) {
        used += counts[i] == 0;
        counts[i] += counts[i] == 0;
    }
    tz_huffman_make_lengths(counts, symbols, TZ_DEFLATE_MAX_CODE_LENGTH, lengths, &s->huffman);
    tz_huffman_make_codes(lengths, symbols, codes, &s->huffman);
}

/* Returns the bits that the tokens take. */
static uint64_t token_bits(const tz_deflate_stream *s)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < TZ_DEFLATE_SYMBOLS; i++) {
        const uint32_t extra = i > TZ_DEFLATE_END ? tz_deflate_extra_bits(i) - 1 : 0;
        bits += (uint64_t)s->counts[i] * (s->lengths[i] + extra);
    }
    for (uint32_t i = 0; i < DISTANCES; i++)
        bits +=
            (uint64_t)s->distance_counts[i] * (s->distance_lengths[i] + (i < 4 ? 0 : i / 2 - 1));
    return bits;
}

/* Writes the lengths of all codes, each in four bits: the code of code lengths gives 4 bits to each
 * of 0 to 15, which wastes little and needs no further Huffman code. */
static void put_code_lengths(tz_deflate_stream *s, bool is_last)
{
    static const uint8_t order[TZ_DEFLATE_PRECODE_SYMBOLS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                              11, 4,  12, 3, 13, 2, 14, 1, 15};
    tz_put_bits(&s->bits,
                (is_last ? 1u : 0u) | 2u << 1 | (TZ_DEFLATE_SYMBOLS - 257) << 3 |
                    (DISTANCES - 1) << 8 | (TZ_DEFLATE_PRECODE_SYMBOLS - 4) << 13,
                HEADER);
    for (uint32_t i = 0; i < TZ_DEFLATE_PRECODE_SYMBOLS; i++)
        tz_put_bits(&s->bits, order[i] < 16 ? 4 : 0, TZ_DEFLATE_PRECODE_LENGTH_BITS);
    for (uint32_t i = 0; i < LENGTHS; i++) {
        const uint32_t length =
            i < TZ_DEFLATE_SYMBOLS ? s->lengths[i] : s->distance_lengths[i - TZ_DEFLATE_SYMBOLS];
        tz_put_bits(&s->bits, tz_huffman_reverse(length, 4), 4);
    }
}

/* Both codes of a match and their extra bits, 14 + 5 + 14 + 13 at most, are written together. */
static void put_tokens(tz_deflate_stream *s)
{
    tz_bit_writer bits = s->bits; /* a copy stays in registers */
    for (size_t i = 0; i < s->token_count; i++) {
        const deflate_token token = s->tokens[i];
        if (token.distance == 0) {
            tz_put_code(&bits, s->codes[token.value], 0);
            continue;
        }
        const tz_length_symbol length = length_symbol(token.value);
        const tz_length_symbol distance = distance_symbol(token.distance);
        const uint32_t codes[2] = {s->codes[length.symbol], s->distance_codes[distance.symbol]};
        uint64_t all = codes[0] >> 8;
        uint32_t count = codes[0] & 255u;
        all |= (uint64_t)length.extra << count;
        count += length.extra_count;
        all |= (uint64_t)(codes[1] >> 8) << count;
        count += codes[1] & 255u;
        all |= (uint64_t)distance.extra << count;
        tz_put_bits(&bits, all, count + distance.extra_count);
    }
    tz_put_code(&bits, s->codes[TZ_DEFLATE_END], 0);
    s->bits = bits;
}

static void put_matches(tz_deflate_stream *s, bool is_last)
{
    enum { PRECODE_BITS = TZ_DEFLATE_PRECODE_SYMBOLS * TZ_DEFLATE_PRECODE_LENGTH_BITS };
    const uint8_t *block = s->bytes + s->history;
    find_tokens(s);
    make_code(s, s->counts, TZ_DEFLATE_SYMBOLS, s->lengths, s->codes);
    make_code(s, s->distance_counts, DISTANCES, s->distance_lengths, s->distance_codes);
    if ((HEADER + PRECODE_BITS + 4 * LENGTHS + token_bits(s)) / 8 >= s->filled) {
        tz_deflate_put_stored(&s->bits, block, (uint32_t)s->filled, is_last);
        return;
    }
    put_code_lengths(s, is_last);
    put_tokens(s);
}

/* Adds the block to the checksum. */
static void add_adler(tz_deflate_stream *s)
{
    const uint32_t size = (uint32_t)s->filled;
    const tz_adler_partial added = tz_adler_partial_of(s->bytes + s->history, 0, size, size);
    s->adler_high = (uint32_t)((s->adler_high + added.weighted + (uint64_t)size * s->adler_low) %
                               TZ_ADLER_BASE);
    s->adler_low = (s->adler_low + added.sum) % TZ_ADLER_BASE;
}

static tz_result flush_out(tz_deflate_stream *s, const tz_context *ctx)
{
    const size_t size = (size_t)(s->bits.out - s->out);
    s->bits.out = s->out;
    return size > 0 ? s->put(s->user, s->out, size, ctx) : TZ_OK;
}

/* Writes the block, and keeps its end as the history of the next. */
static tz_result put_block(tz_deflate_stream *s, bool is_last, const tz_context *ctx)
{
    const uint8_t *block = s->bytes + s->history;
    const size_t size = s->filled;
    add_adler(s);
    if (size == 0)
        tz_put_bits(&s->bits, 3u, 3 + 7); /* a last block of fixed codes, and the code of its end */
    else if (s->fast || tz_deflate_matches_gain_nothing(block, size))
        tz_deflate_put_block(&s->bits, block, (uint32_t)size, s->history == 0, is_last,
                             &s->scratch);
    else
        put_matches(s, is_last);
    const size_t end = s->history + size;
    const size_t kept = tz_min_size(end, WINDOW);
    memmove(s->bytes, s->bytes + end - kept, kept);
    s->start += (uint32_t)(end - kept);
    s->history = kept;
    s->filled = 0;
    return flush_out(s, ctx);
}

/* ---------------------------------------------------------------------------------------------
 * The stream
 * ------------------------------------------------------------------------------------------ */

size_t tz_deflate_stream_bytes(void)
{
    return sizeof(tz_deflate_stream);
}

tz_result tz_deflate_stream_open(tz_deflate_stream **out, bool fast, tz_deflate_put *put,
                                 void *user, const tz_context *ctx)
{
    tz_deflate_stream *s = tz_alloc_zeroed(1, sizeof *s);
    if (!s)
        return tz_fail_nomem(ctx, sizeof *s);
    s->put = put;
    s->user = user;
    s->fast = fast;
    s->adler_low = 1;
    s->bits.out = s->out;
    tz_put_bits(&s->bits, TZ_ZLIB_HEADER, 16);
    *out = s;
    return TZ_OK;
}

tz_result tz_deflate_stream_write(tz_deflate_stream *s, const uint8_t *bytes, size_t size,
                                  const tz_context *ctx)
{
    while (size > 0) {
        const size_t some = tz_min_size(BLOCK - s->filled, size);
        memcpy(s->bytes + s->history + s->filled, bytes, some);
        s->filled += some;
        bytes += some;
        size -= some;
        if (s->filled == BLOCK)
            TZ_TRY(put_block(s, false, ctx));
    }
    return TZ_OK;
}

tz_result tz_deflate_stream_finish(tz_deflate_stream *s, const tz_context *ctx)
{
    TZ_TRY(put_block(s, true, ctx));
    tz_put_padding(&s->bits);
    tz_store_be32(s->bits.out, s->adler_high << 16 | s->adler_low);
    s->bits.out += 4;
    return flush_out(s, ctx);
}

void tz_deflate_stream_close(tz_deflate_stream *s)
{
    tz_free(s);
}
