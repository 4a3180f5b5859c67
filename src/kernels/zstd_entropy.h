/* SPDX-License-Identifier: Apache-2.0
 * Entropy codes of Zstandard (RFC 8878, section 4): the streams of bits, the tables of finite state
 * entropy (FSE) for lengths and offsets, and the Huffman codes of literals.
 *
 * Most streams are read from their last bit to their first; the highest bit that is set in the last
 * byte marks the beginning. Only the description of a table is read forwards.
 *
 * A symbol of an FSE code is a property of the present state; bits of the stream then choose among
 * the states that may follow. A state is two words of a table:
 *
 *     the lowest value that the symbol stands for
 *     first of the next states | bits that choose one << 16 | bits to add to the value << 24
 *
 * A symbol of a Huffman code has a weight: its codeword is one bit shorter for each step of weight,
 * and weight 0 means that it does not occur. The weight of the last symbol is not stored, because
 * it completes the code. The table is indexed by all codewords of the greatest length; an entry is
 * symbol << 4 | bits. */
#ifndef TZ_KERNELS_ZSTD_ENTROPY_H
#define TZ_KERNELS_ZSTD_ENTROPY_H

#include "kernels/kernel.h"
#include "kernels/status.h"

/* ---- bits ---- */

/* A stream that is read backwards. Zeros precede its first bit; they may be looked at but not
 * used. */
typedef struct tz_zstd_bits {
    const TZ_GLOBAL tz_u8 *in;
    tz_u32 left;   /* bytes that are not in hold yet; the last one comes next */
    tz_u64 hold;   /* the next bits, from the highest one on */
    tz_u32 count;  /* valid bits in hold; bits below them are those that will follow */
    tz_u32 beyond; /* zeros before the start that count includes */
} tz_zstd_bits;

/* Loads bits until there are at least 57. */
TZ_FN void tz_zstd_refill(tz_zstd_bits *bits)
{
    if (bits->left >= 8u) {
        const tz_u32 bytes = (64u - bits->count) / 8u;
        if (bytes > 0u)
            bits->hold |= tz_load_u64(bits->in + (bits->left - 8u)) >> bits->count;
        bits->left -= bytes;
        bits->count += 8u * bytes;
        return;
    }
    for (; bits->count <= 56u; bits->count += 8u) {
        if (bits->left > 0u)
            bits->hold |= (tz_u64)bits->in[--bits->left] << (56u - bits->count);
        else
            bits->beyond += 8u;
    }
}

/* The next count bits, up to 31, which must be in hold. */
TZ_FN tz_u32 tz_zstd_peek_bits(const tz_zstd_bits *bits, tz_u32 count)
{
    return (tz_u32)(bits->hold >> 1 >> (63u - count));
}

TZ_FN void tz_zstd_skip_bits(tz_zstd_bits *bits, tz_u32 count)
{
    bits->hold <<= count;
    bits->count -= count;
}

TZ_FN tz_u32 tz_zstd_read_bits(tz_zstd_bits *bits, tz_u32 count)
{
    const tz_u32 value = tz_zstd_peek_bits(bits, count);
    tz_zstd_skip_bits(bits, count);
    return value;
}

/* Begins a stream. Returns 0 if no bit of its last byte marks the beginning. */
TZ_FN int tz_zstd_begin_bits(tz_zstd_bits *bits, const TZ_GLOBAL tz_u8 *in, tz_u32 size)
{
    bits->in = in;
    bits->left = size;
    bits->hold = 0u;
    bits->count = 0u;
    bits->beyond = 0u;
    if (size == 0u || in[size - 1u] == 0u)
        return 0;
    tz_zstd_refill(bits);
    while (tz_zstd_read_bits(bits, 1u) == 0u)
        ;
    return 1;
}

/* True if more bits were used than the stream has. */
TZ_FN int tz_zstd_is_overread(const tz_zstd_bits *bits)
{
    return bits->count < bits->beyond;
}

/* True if all bits were used, and no more. */
TZ_FN int tz_zstd_is_at_end(const tz_zstd_bits *bits)
{
    return bits->left == 0u && bits->count == bits->beyond;
}

/* Forwards: up to 16 bits from offset `bit` on, lowest first. Zeros follow the end. */
TZ_FN tz_u32 tz_zstd_peek_forward(const TZ_GLOBAL tz_u8 *in, tz_u32 size, tz_u32 bit, tz_u32 count)
{
    tz_u32 word = 0u;
    for (tz_u32 i = 0u; i < 3u; i++) {
        if (bit / 8u + i < size)
            word |= (tz_u32)in[bit / 8u + i] << 8u * i;
    }
    return word >> bit % 8u & ((1u << count) - 1u);
}

/* ---- finite state entropy ---- */

/* Kinds of tables, by their symbols. */
#define TZ_ZSTD_LITERALS 0u /* numbers of literals before a match */
#define TZ_ZSTD_OFFSETS  1u
#define TZ_ZSTD_MATCHES  2u /* lengths of matches */
#define TZ_ZSTD_WEIGHTS  3u /* of a Huffman code */

#define TZ_ZSTD_MAX_SYMBOLS 53u
#define TZ_ZSTD_MIN_LOG     5u

/* The number of symbols of a kind. */
TZ_FN tz_u32 tz_zstd_symbol_count(tz_u32 kind)
{
    return kind == TZ_ZSTD_LITERALS  ? 36u
           : kind == TZ_ZSTD_OFFSETS ? 32u
           : kind == TZ_ZSTD_MATCHES ? TZ_ZSTD_MAX_SYMBOLS
                                     : 13u;
}

/* The binary logarithm of the greatest number of states in a table. */
TZ_FN tz_u32 tz_zstd_max_log(tz_u32 kind)
{
    return kind == TZ_ZSTD_OFFSETS ? 8u : kind == TZ_ZSTD_WEIGHTS ? 6u : 9u;
}

/* Bits that are added to the lowest value of a symbol (RFC 8878, section 3.1.1.3.2.1). The lowest
 * value of the next symbol is 1 << bits higher. */
TZ_FN tz_u32 tz_zstd_extra_bits(tz_u32 kind, tz_u32 symbol)
{
    if (kind == TZ_ZSTD_OFFSETS)
        return symbol;
    if (kind == TZ_ZSTD_LITERALS) {
        if (symbol >= 25u)
            return symbol - 19u;
        return symbol < 16u ? 0u : symbol < 20u ? 1u : symbol < 24u ? symbol / 2u - 8u : 4u;
    }
    if (kind == TZ_ZSTD_MATCHES) {
        if (symbol >= 43u)
            return symbol - 36u;
        return symbol < 32u ? 0u : symbol < 36u ? 1u : symbol < 42u ? symbol / 2u - 16u : 5u;
    }
    return 0u;
}

/* The value of symbol 0. */
TZ_FN tz_u32 tz_zstd_base_value(tz_u32 kind)
{
    return kind == TZ_ZSTD_OFFSETS ? 1u : kind == TZ_ZSTD_MATCHES ? 3u : 0u;
}

/* Normalized counts of symbols; -1: less than one. */
typedef struct tz_zstd_counts {
    tz_i16 counts[TZ_ZSTD_MAX_SYMBOLS];
    tz_u32 symbols;
    tz_u32 log; /* the counts sum up to 1 << log */
} tz_zstd_counts;

/* Reads a count plus 1, if the counts to come sum up to left. It is at most left + 1; low values
 * take one bit less, as far as the unused values of the full width allow. */
TZ_FN tz_u32 tz_zstd_read_count(const TZ_GLOBAL tz_u8 *in, tz_u32 size, tz_u32 *bit, tz_u32 left)
{
    const tz_u32 width = tz_kernel_log2(left + 1u) + 1u;
    const tz_u32 low = (1u << (width - 1u)) - 1u;
    const tz_u32 shorter = (1u << width) - 1u - (left + 1u);
    const tz_u32 word = tz_zstd_peek_forward(in, size, *bit, width);
    if ((word & low) < shorter) {
        *bit += width - 1u;
        return word & low;
    }
    *bit += width;
    return word > low ? word - shorter : word;
}

/* Reads the description of a table, which has *used bytes. After a count of 0, groups of two bits
 * add up to the number of further zeros; a group of 3 is followed by another. */
TZ_FN tz_u32 tz_zstd_read_counts(const TZ_GLOBAL tz_u8 *in, tz_u32 size, tz_u32 kind,
                                 tz_zstd_counts *counts, tz_u32 *used)
{
    const tz_u32 symbols = tz_zstd_symbol_count(kind);
    tz_u32 symbol = 0u;
    tz_u32 bit = 4u;
    counts->log = TZ_ZSTD_MIN_LOG + tz_zstd_peek_forward(in, size, 0u, 4u);
    if (counts->log > tz_zstd_max_log(kind))
        return TZ_DECODE_BAD_CODE;
    tz_u32 left = 1u << counts->log;
    while (left > 0u && symbol < symbols) {
        const tz_u32 count = tz_zstd_read_count(in, size, &bit, left);
        counts->counts[symbol++] = (tz_i16)((tz_i32)count - 1);
        left -= count == 0u ? 1u : count - 1u;
        for (tz_u32 more = count == 1u ? 3u : 0u; more == 3u && symbol < symbols; bit += 2u) {
            more = tz_zstd_peek_forward(in, size, bit, 2u);
            for (tz_u32 i = 0u; i < more && symbol < symbols; i++)
                counts->counts[symbol++] = 0;
        }
    }
    counts->symbols = symbol;
    *used = (bit + 7u) / 8u;
    if (*used > size)
        return TZ_DECODE_UNSURE; /* libzstd reads bytes after the description */
    return left > 0u ? TZ_DECODE_BAD_CODE : TZ_DECODE_OK;
}

/* The counts of the predefined tables (RFC 8878, section 3.1.1.3.2.2). */
TZ_FN void tz_zstd_predefined_counts(tz_u32 kind, tz_zstd_counts *counts)
{
    counts->log = kind == TZ_ZSTD_OFFSETS ? 5u : 6u;
    counts->symbols = kind == TZ_ZSTD_OFFSETS ? 29u : tz_zstd_symbol_count(kind);
    for (tz_u32 i = 0u; i < counts->symbols; i++) {
        tz_i32 count;
        if (kind == TZ_ZSTD_LITERALS)
            count = i == 0u               ? 4
                    : i == 1u || i == 25u ? 3
                    : i >= 32u            ? -1
                    : i > 26u             ? 1
                    : i > 12u && i < 16u  ? 1
                                          : 2;
        else if (kind == TZ_ZSTD_OFFSETS)
            count = i >= 24u ? -1 : i >= 6u && i < 9u ? 2 : 1;
        else
            count = i >= 46u ? -1 : i == 1u ? 4 : i == 2u ? 3 : i > 2u && i < 9u ? 2 : 1;
        counts->counts[i] = (tz_i16)count;
    }
}

/* Gives every symbol its states: symbols of count -1 get the last states, the others are spread in
 * steps over all that are left. The second word of a state is its symbol for now. */
TZ_FN void tz_zstd_spread_symbols(TZ_GLOBAL tz_u32 *table, tz_u32 kind,
                                  const tz_zstd_counts *counts)
{
    const tz_u32 states = 1u << counts->log;
    const tz_u32 step = states / 2u + states / 8u + 3u;
    tz_u32 end = states;
    tz_u32 lowest = tz_zstd_base_value(kind);
    for (tz_u32 i = 0u; i < counts->symbols; i++) {
        if (counts->counts[i] < 0) {
            end--;
            table[2u * end] = lowest;
            table[2u * end + 1u] = i;
        }
        lowest += 1u << tz_zstd_extra_bits(kind, i);
    }
    tz_u32 state = 0u;
    lowest = tz_zstd_base_value(kind);
    for (tz_u32 i = 0u; i < counts->symbols; i++) {
        for (tz_i32 count = counts->counts[i]; count > 0; count--) {
            table[2u * state] = lowest;
            table[2u * state + 1u] = i;
            do /* the step visits every state before end once, and then the first again */
                state = (state + step) & (states - 1u);
            while (state >= end);
        }
        lowest += 1u << tz_zstd_extra_bits(kind, i);
    }
}

/* Makes a table: the n-th state of a symbol has the n-th part of all states as its next ones. */
TZ_FN void tz_zstd_make_table(TZ_GLOBAL tz_u32 *table, tz_u32 kind, const tz_zstd_counts *counts)
{
    tz_u16 next[TZ_ZSTD_MAX_SYMBOLS];
    const tz_u32 states = 1u << counts->log;
    tz_zstd_spread_symbols(table, kind, counts);
    for (tz_u32 i = 0u; i < counts->symbols; i++)
        next[i] = (tz_u16)(counts->counts[i] < 0 ? 1 : counts->counts[i]);
    for (tz_u32 i = 0u; i < states; i++) {
        const tz_u32 symbol = table[2u * i + 1u];
        const tz_u32 number = next[symbol]++;
        const tz_u32 bits = counts->log - tz_kernel_log2(number);
        table[2u * i + 1u] =
            ((number << bits) - states) | bits << 16 | tz_zstd_extra_bits(kind, symbol) << 24;
    }
}

/* Makes a table of one state, which reads no bits. */
TZ_FN void tz_zstd_make_rle_table(TZ_GLOBAL tz_u32 *table, tz_u32 kind, tz_u32 symbol)
{
    tz_u32 lowest = tz_zstd_base_value(kind);
    for (tz_u32 i = 0u; i < symbol; i++)
        lowest += 1u << tz_zstd_extra_bits(kind, i);
    table[0] = lowest;
    table[1] = tz_zstd_extra_bits(kind, symbol) << 24;
}

/* The value of a state, with its extra bits, which must be in hold. */
TZ_FN tz_u32 tz_zstd_read_value(tz_zstd_bits *bits, const TZ_GLOBAL tz_u32 *table, tz_u32 state)
{
    return table[2u * state] + tz_zstd_read_bits(bits, table[2u * state + 1u] >> 24);
}

/* The state that follows, chosen by bits that must be in hold. */
TZ_FN tz_u32 tz_zstd_next_state(tz_zstd_bits *bits, const TZ_GLOBAL tz_u32 *table, tz_u32 state)
{
    const tz_u32 word = table[2u * state + 1u];
    return (word & 0xffffu) + tz_zstd_read_bits(bits, word >> 16 & 0xffu);
}

/* ---- Huffman codes ---- */

#define TZ_ZSTD_HUFFMAN_LOG      11u
#define TZ_ZSTD_HUFFMAN_SIZE     (1u << TZ_ZSTD_HUFFMAN_LOG)
#define TZ_ZSTD_MAX_WEIGHT       12u /* libzstd accepts it; no encoder makes it */
#define TZ_ZSTD_MAX_WEIGHT_COUNT 255u

/* Scratch memory for weights, in bytes: a table of 64 states, and then a byte for each weight. */
#define TZ_ZSTD_WEIGHTS_AT      512u
#define TZ_ZSTD_WEIGHTS_SCRATCH (TZ_ZSTD_WEIGHTS_AT + 256u)

/* Decodes weights that are FSE symbols. Two states take turns until the stream has no bits for the
 * next state; the symbol of the other state is then the last. */
TZ_FN tz_u32 tz_zstd_unpack_weights(const TZ_GLOBAL tz_u8 *in, tz_u32 size, TZ_GLOBAL tz_u32 *table,
                                    TZ_GLOBAL tz_u8 *weights, tz_u32 *count)
{
    tz_zstd_counts counts;
    tz_zstd_bits bits;
    tz_u32 used;
    if (tz_zstd_read_counts(in, size, TZ_ZSTD_WEIGHTS, &counts, &used) != TZ_DECODE_OK)
        return TZ_DECODE_UNSURE; /* valid if it describes symbols above 12 but does not use them */
    if (!tz_zstd_begin_bits(&bits, in + used, size - used))
        return TZ_DECODE_BAD_CODE;
    tz_zstd_make_table(table, TZ_ZSTD_WEIGHTS, &counts);
    tz_u32 state = tz_zstd_read_bits(&bits, counts.log); /* enough bits are in hold */
    tz_u32 other = tz_zstd_read_bits(&bits, counts.log);
    if (tz_zstd_is_overread(&bits))
        return TZ_DECODE_UNSURE;
    *count = 0u;
    while (!tz_zstd_is_overread(&bits)) {
        if (*count > TZ_ZSTD_MAX_WEIGHT_COUNT - 2u)
            return TZ_DECODE_BAD_CODE;
        weights[(*count)++] = (tz_u8)table[2u * state];
        tz_zstd_refill(&bits);
        const tz_u32 next = tz_zstd_next_state(&bits, table, state);
        state = other;
        other = next;
    }
    weights[(*count)++] = (tz_u8)table[2u * state];
    return TZ_DECODE_OK;
}

/* Reads all weights but the last, in *used bytes: FSE symbols, or 4 bits each. */
TZ_FN tz_u32 tz_zstd_read_weights(const TZ_GLOBAL tz_u8 *in, tz_u32 size, TZ_GLOBAL tz_u32 *table,
                                  TZ_GLOBAL tz_u8 *weights, tz_u32 *count, tz_u32 *used)
{
    if (size == 0u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 head = in[0];
    const tz_u32 packed = head < 128u;
    *used = 1u + (packed ? head : (head - 126u) / 2u);
    if (*used > size)
        return TZ_DECODE_TRUNCATED;
    if (packed)
        return tz_zstd_unpack_weights(in + 1, head, table, weights, count);
    *count = head - 127u;
    for (tz_u32 i = 0u; i < *count; i++)
        weights[i] = (tz_u8)(in[1u + i / 2u] >> (i & 1u ? 0u : 4u) & 15u);
    return TZ_DECODE_OK;
}

/* Adds the last weight. starts: the first table index of each weight. log: bits of the longest
 * codeword. */
TZ_FN tz_u32 tz_zstd_complete_weights(TZ_GLOBAL tz_u8 *weights, tz_u32 *count, tz_u32 *starts,
                                      tz_u32 *log)
{
    tz_u32 ranks[TZ_ZSTD_MAX_WEIGHT + 1u];
    tz_u32 total = 0u;
    for (tz_u32 i = 0u; i <= TZ_ZSTD_MAX_WEIGHT; i++)
        ranks[i] = 0u;
    for (tz_u32 i = 0u; i < *count; i++) {
        if (weights[i] > TZ_ZSTD_MAX_WEIGHT)
            return TZ_DECODE_BAD_CODE;
        ranks[weights[i]]++;
        total += 1u << weights[i] >> 1;
    }
    if (total == 0u)
        return TZ_DECODE_BAD_CODE;
    *log = tz_kernel_log2(total) + 1u;
    if (*log > TZ_ZSTD_HUFFMAN_LOG) /* the format forbids 12 bits, but libzstd accepts them */
        return TZ_DECODE_UNSURE;
    const tz_u32 rest = (1u << *log) - total;
    if ((rest & (rest - 1u)) != 0u)
        return TZ_DECODE_BAD_CODE;
    const tz_u32 last = tz_kernel_log2(rest) + 1u;
    weights[(*count)++] = (tz_u8)last;
    ranks[last]++;
    if (ranks[1] < 2u || (ranks[1] & 1u) != 0u)
        return TZ_DECODE_BAD_CODE;
    tz_u32 start = 0u;
    for (tz_u32 i = 1u; i <= TZ_ZSTD_MAX_WEIGHT; i++) {
        starts[i] = start;
        start += ranks[i] << (i - 1u);
    }
    return TZ_DECODE_OK;
}

/* Reads a Huffman code of *used bytes and makes its table. scratch: TZ_ZSTD_WEIGHTS_SCRATCH bytes.
 */
TZ_FN_LARGE tz_u32 tz_zstd_read_huffman_table(const TZ_GLOBAL tz_u8 *in, tz_u32 size,
                                              TZ_GLOBAL tz_u32 *scratch, TZ_GLOBAL tz_u16 *table,
                                              tz_u32 *log, tz_u32 *used)
{
    TZ_GLOBAL tz_u8 *weights = (TZ_GLOBAL tz_u8 *)scratch + TZ_ZSTD_WEIGHTS_AT;
    tz_u32 starts[TZ_ZSTD_MAX_WEIGHT + 1u];
    tz_u32 count = 0u;
    tz_u32 status = tz_zstd_read_weights(in, size, scratch, weights, &count, used);
    if (status == TZ_DECODE_OK)
        status = tz_zstd_complete_weights(weights, &count, starts, log);
    if (status != TZ_DECODE_OK)
        return status;
    for (tz_u32 symbol = 0u; symbol < count; symbol++) {
        const tz_u32 weight = weights[symbol];
        if (weight > 0u) {
            const tz_u32 end = starts[weight] + (1u << (weight - 1u));
            for (tz_u32 i = starts[weight]; i < end; i++)
                table[i] = (tz_u16)(symbol << 4 | (*log + 1u - weight));
            starts[weight] = end;
        }
    }
    return TZ_DECODE_OK;
}

/* Decodes one stream of codewords to count bytes. Too many or too few bits are UNSURE: on some
 * processors libzstd accepts them. */
TZ_FN_LARGE tz_u32 tz_zstd_decode_stream(const TZ_GLOBAL tz_u8 *in, tz_u32 size,
                                         const TZ_GLOBAL tz_u16 *table, tz_u32 log,
                                         TZ_GLOBAL tz_u8 *out, tz_u32 count)
{
    tz_zstd_bits bits;
    if (!tz_zstd_begin_bits(&bits, in, size))
        return TZ_DECODE_UNSURE;
    for (tz_u32 i = 0u; i < count; i++) {
        if (bits.count < TZ_ZSTD_HUFFMAN_LOG)
            tz_zstd_refill(&bits);
        const tz_u32 entry = table[tz_zstd_peek_bits(&bits, log)];
        tz_zstd_skip_bits(&bits, entry & 15u);
        out[i] = (tz_u8)(entry >> 4);
    }
    return tz_zstd_is_at_end(&bits) ? TZ_DECODE_OK : TZ_DECODE_UNSURE;
}

#endif
