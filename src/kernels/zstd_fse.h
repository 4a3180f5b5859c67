/* SPDX-License-Identifier: Apache-2.0
 * The tables of Zstandard's codes for lengths and offsets, and for the widths of Huffman words
 * (finite state entropy). A symbol of such a code is what the present state stands for; bits of the
 * stream then choose among the states that may follow.
 *
 * A state is two words of a table: what its symbol comes to, and how it goes on:
 *
 *     the lowest value that the symbol stands for
 *     first of the next states | bits that choose one << 16 | bits to add to the value << 24 */
#ifndef TZ_KERNELS_ZSTD_FSE_H
#define TZ_KERNELS_ZSTD_FSE_H

#include "kernels/kernel.h"
#include "kernels/status.h"
#include "kernels/zstd_bits.h"

/* What a table is for. */
#define TZ_ZSTD_LITERALS 0u /* how many come before a match */
#define TZ_ZSTD_OFFSETS  1u
#define TZ_ZSTD_MATCHES  2u /* their lengths */
#define TZ_ZSTD_WEIGHTS  3u

#define TZ_ZSTD_MAX_SYMBOLS 53u
#define TZ_ZSTD_MIN_LOG     5u

TZ_FN tz_u32 tz_zstd_symbol_count(tz_u32 kind)
{
    return kind == TZ_ZSTD_LITERALS  ? 36u
           : kind == TZ_ZSTD_OFFSETS ? 32u
           : kind == TZ_ZSTD_MATCHES ? TZ_ZSTD_MAX_SYMBOLS
                                     : 13u;
}

/* A table of this kind has up to two to this power states. */
TZ_FN tz_u32 tz_zstd_max_log(tz_u32 kind)
{
    return kind == TZ_ZSTD_OFFSETS ? 8u : kind == TZ_ZSTD_WEIGHTS ? 6u : 9u;
}

/* Bits to add to the lowest value of a symbol; so the next symbol's is 1 << bits higher. */
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

/* How often symbols come; -1: as seldom as can be. */
typedef struct tz_zstd_counts {
    tz_i16 counts[TZ_ZSTD_MAX_SYMBOLS];
    tz_u32 symbols;
    tz_u32 log; /* they sum up to two to this power */
} tz_zstd_counts;

/* The next count plus 1, of which left are to come: up to left + 1, and the lower values take one
 * bit less where not all words of so many bits are needed. */
TZ_FN tz_u32 tz_zstd_read_count(const TZ_GLOBAL tz_u8 *in, tz_u32 size, tz_u32 *bit, tz_u32 left)
{
    const tz_u32 width = tz_zstd_highest_bit(left + 1u) + 1u;
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

/* How many symbols of count 0 follow one, at most so many. */
TZ_FN tz_u32 tz_zstd_read_zero_counts(const TZ_GLOBAL tz_u8 *in, tz_u32 size, tz_u32 *bit,
                                      tz_u32 max_zeros)
{
    tz_u32 zeros = 0u;
    tz_u32 more = 3u;
    while (more == 3u && zeros < max_zeros) {
        more = tz_zstd_peek_forward(in, size, *bit, 2u);
        *bit += 2u;
        zeros += more;
    }
    return zeros < max_zeros ? zeros : max_zeros;
}

/* The head of a table, of which *used bytes are read. */
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
        if (count == 1u) {
            tz_u32 zeros = tz_zstd_read_zero_counts(in, size, &bit, symbols - symbol);
            for (; zeros > 0u; zeros--)
                counts->counts[symbol++] = 0;
        }
    }
    counts->symbols = symbol;
    *used = (bit + 7u) / 8u;
    if (*used > size)
        return TZ_DECODE_UNSURE; /* libzstd looks at what it should not */
    return left > 0u ? TZ_DECODE_BAD_CODE : TZ_DECODE_OK;
}

/* The counts of tables that need not be stored. */
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

/* Gives every symbol its states, from the counts: the seldom ones the last states, the others in
 * steps through all that are left. A state's second word is its symbol, as yet. */
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
            do /* all states before end come once, and then the first again */
                state = (state + step) & (states - 1u);
            while (state >= end);
        }
        lowest += 1u << tz_zstd_extra_bits(kind, i);
    }
}

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
        const tz_u32 bits = counts->log - tz_zstd_highest_bit(number);
        table[2u * i + 1u] =
            ((number << bits) - states) | bits << 16 | tz_zstd_extra_bits(kind, symbol) << 24;
    }
}

/* A table of one state and no bits. */
TZ_FN void tz_zstd_make_rle_table(TZ_GLOBAL tz_u32 *table, tz_u32 kind, tz_u32 symbol)
{
    tz_u32 lowest = tz_zstd_base_value(kind);
    for (tz_u32 i = 0u; i < symbol; i++)
        lowest += 1u << tz_zstd_extra_bits(kind, i);
    table[0] = lowest;
    table[1] = tz_zstd_extra_bits(kind, symbol) << 24;
}

/* What the state stands for, with its further bits, which must be in hold. */
TZ_FN tz_u32 tz_zstd_read_value(tz_zstd_bits *bits, const TZ_GLOBAL tz_u32 *table, tz_u32 state)
{
    return table[2u * state] + tz_zstd_read_bits(bits, table[2u * state + 1u] >> 24);
}

TZ_FN tz_u32 tz_zstd_next_state(tz_zstd_bits *bits, const TZ_GLOBAL tz_u32 *table, tz_u32 state)
{
    const tz_u32 word = table[2u * state + 1u];
    return (word & 0xffffu) + tz_zstd_read_bits(bits, word >> 16 & 0xffu);
}

#endif
