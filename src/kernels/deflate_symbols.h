/* SPDX-License-Identifier: Apache-2.0
 * What the fast Deflate encoder decides, whoever writes it down: which groups of bytes are runs,
 * the symbols of a run, what a block takes, and the head of a block.
 *
 * A block is taken in groups of 16 bytes. Groups of nothing but the byte before them make a run,
 * and all other bytes are literals. A run is matches of distance 1. */
#ifndef TZ_KERNELS_DEFLATE_SYMBOLS_H
#define TZ_KERNELS_DEFLATE_SYMBOLS_H

#include "kernels/huffman_code.h"
#include "kernels/kernel.h"
#include "kernels/work_items.h"

#define TZ_DEFLATE_SEGMENT         16u
#define TZ_DEFLATE_BLOCK           (1u << 20)
#define TZ_DEFLATE_MAX_MATCH       258u
#define TZ_DEFLATE_MAX_CODE_LENGTH 14u
#define TZ_DEFLATE_LITERALS        256u
#define TZ_DEFLATE_END             256u /* of a block */
#define TZ_DEFLATE_FULL_MATCH      285u /* of 258 bytes */
#define TZ_DEFLATE_SYMBOLS         286u
#define TZ_DEFLATE_DISTANCES       2u /* of which the first is 1; one alone were no complete code */
#define TZ_DEFLATE_DISTANCE_BITS   1u /* the bit is 0 */
#define TZ_DEFLATE_PRECODE_SYMBOLS 19u /* symbols of lengths */
#define TZ_DEFLATE_MAX_STORED      65535u
#define TZ_DEFLATE_STORED_HEADER   5u

/* Some bits of the stream, at most 31, the first one lowest. */
typedef struct tz_deflate_bits {
    tz_u32 bits;
    tz_u32 count;
} tz_deflate_bits;

/* ---- runs ---- */

/* Whether the group, which is not the first of all, is the byte before it again and again. */
TZ_FN tz_u32 tz_deflate_is_run(const TZ_GLOBAL tz_u8 *segment)
{
    const tz_u64 wanted = *(segment - 1) * (tz_u64)0x0101010101010101u;
    if (tz_load_u64(segment) != wanted)
        return 0u;
    return tz_load_u64(segment + 8) == wanted;
}

/* A run as matches: some of 258 bytes, one of the rest, and what is too short for that as literals
 * of the same byte. */
typedef struct tz_run_split {
    tz_u32 full;
    tz_u32 rest; /* 0, or 3 to 257 */
    tz_u32 literals;
} tz_run_split;

TZ_FN tz_run_split tz_deflate_split_run(tz_u32 size)
{
    const tz_u32 rest = size % TZ_DEFLATE_MAX_MATCH;
    const tz_u32 matches = rest >= 3u;
    tz_run_split split;
    split.full = size / TZ_DEFLATE_MAX_MATCH;
    split.rest = matches ? rest : 0u;
    split.literals = matches ? 0u : rest;
    return split;
}

/* The symbol of a match of 3 to 257 bytes, and the bits that follow it. */
typedef struct tz_length_symbol {
    tz_u32 symbol;
    tz_u32 extra_count;
    tz_u32 extra;
} tz_length_symbol;

TZ_FN tz_length_symbol tz_deflate_length_symbol(tz_u32 length)
{
    const tz_u32 value = length - 3u;
    tz_length_symbol found;
    found.symbol = 257u + value;
    found.extra_count = 0u;
    found.extra = 0u;
    if (value >= 8u) {
        found.extra_count = 29u - tz_leading_zeros_u32(value); /* of 3 bits, the first 1 is one */
        found.symbol =
            261u + 4u * found.extra_count + (value >> found.extra_count & 3u); /* by its quarter */
        found.extra = value & ((1u << found.extra_count) - 1u);
    }
    return found;
}

/* A run without its full matches: a match and its distance, or one or two literals, or nothing. */
TZ_FN tz_deflate_bits tz_deflate_run_tail(const TZ_LOCAL tz_u32 *codes, tz_u32 byte,
                                          tz_run_split split)
{
    tz_deflate_bits made;
    made.bits = 0u;
    made.count = 0u;
    if (split.rest > 0u) {
        const tz_length_symbol length = tz_deflate_length_symbol(split.rest);
        const tz_u32 code = codes[length.symbol];
        made.bits = code >> 8 | length.extra << (code & 255u);
        made.count = (code & 255u) + length.extra_count + TZ_DEFLATE_DISTANCE_BITS;
    } else if (split.literals > 0u) {
        const tz_u32 code = codes[byte];
        made.bits = code >> 8;
        made.count = code & 255u;
        if (split.literals > 1u) {
            made.bits |= code >> 8 << made.count;
            made.count *= 2u;
        }
    }
    return made;
}

/* What follows a symbol: the extra bits of a length, and a bit for the distance. */
TZ_FN tz_u32 tz_deflate_extra_bits(tz_u32 symbol)
{
    if (symbol <= TZ_DEFLATE_END)
        return 0u;
    return TZ_DEFLATE_DISTANCE_BITS +
           (symbol >= 265u && symbol < TZ_DEFLATE_FULL_MATCH ? (symbol - 261u) / 4u : 0u);
}

/* ---- the head of a block: how long its codes are ---- */

/* Lengths as symbols of their own code: a length, or 16 to 18 for a row of equal ones. */
typedef struct tz_length_list {
    tz_u8 symbols[TZ_DEFLATE_SYMBOLS + TZ_DEFLATE_DISTANCES];
    tz_u8 extras[TZ_DEFLATE_SYMBOLS + TZ_DEFLATE_DISTANCES];
    tz_u8 lengths[TZ_DEFLATE_PRECODE_SYMBOLS];
    tz_u32 counts[TZ_DEFLATE_PRECODE_SYMBOLS];
    tz_u32 codes[TZ_DEFLATE_PRECODE_SYMBOLS];
    tz_u32 count;
    tz_u32 literals; /* lengths of literals and matches: those at the end that are 0 are left out */
    tz_u32 used;     /* lengths of this code itself, in the order they are stored */
} tz_length_list;

/* The order in which these are stored: 16 to 18, then 0, then from the middle outwards. */
TZ_FN tz_u32 tz_deflate_precode_symbol(tz_u32 index)
{
    if (index < 3u)
        return 16u + index;
    if (index < 4u)
        return 0u;
    return index % 2u ? 8u - (index - 3u) / 2u : 8u + (index - 4u) / 2u;
}

TZ_FN tz_u32 tz_deflate_precode_extra_bits(tz_u32 symbol)
{
    if (symbol < 16u)
        return 0u;
    return symbol < 18u ? symbol - 14u : 7u;
}

TZ_FN void tz_deflate_add_length(TZ_LOCAL tz_length_list *list, tz_u32 symbol, tz_u32 extra)
{
    list->symbols[list->count] = (tz_u8)symbol;
    list->extras[list->count++] = (tz_u8)extra;
    list->counts[symbol]++;
}

/* count lengths that are all the same. */
TZ_FN void tz_deflate_add_equal(TZ_LOCAL tz_length_list *list, tz_u32 length, tz_u32 count)
{
    if (length != 0u && count > 0u) {
        tz_deflate_add_length(list, length, 0u);
        count--;
    }
    while (count >= 3u) {
        const tz_u32 max_repeat = length != 0u ? 6u : 138u;
        const tz_u32 some = count < max_repeat ? count : max_repeat;
        if (length != 0u)
            tz_deflate_add_length(list, 16u, some - 3u);
        else if (some <= 10u)
            tz_deflate_add_length(list, 17u, some - 3u);
        else
            tz_deflate_add_length(list, 18u, some - 11u);
        count -= some;
    }
    for (; count > 0u; count--)
        tz_deflate_add_length(list, length, 0u);
}

/* The lengths of symbols, and behind them those of distances, which are 1. */
TZ_FN tz_u32 tz_deflate_code_length(const TZ_LOCAL tz_length_list *list,
                                    const TZ_LOCAL tz_u8 *lengths, tz_u32 at)
{
    return at < list->literals ? lengths[at] : 1u;
}

TZ_FN void tz_deflate_make_length_list(TZ_LOCAL tz_length_list *list, const TZ_LOCAL tz_u8 *lengths,
                                       TZ_LOCAL tz_huffman_scratch *scratch)
{
    list->count = 0u;
    list->literals = TZ_DEFLATE_SYMBOLS;
    for (tz_u32 i = 0u; i < TZ_DEFLATE_PRECODE_SYMBOLS; i++)
        list->counts[i] = 0u;
    while (lengths[list->literals - 1u] == 0u)
        list->literals--;
    const tz_u32 count = list->literals + TZ_DEFLATE_DISTANCES;
    for (tz_u32 at = 0u, next = 0u; at < count; at = next) {
        const tz_u32 length = tz_deflate_code_length(list, lengths, at);
        for (next = at + 1u; next < count && tz_deflate_code_length(list, lengths, next) == length;)
            next++;
        tz_deflate_add_equal(list, length, next - at);
    }
    tz_huffman_make_lengths(list->counts, TZ_DEFLATE_PRECODE_SYMBOLS, 7u, list->lengths, scratch);
    list->used = TZ_DEFLATE_PRECODE_SYMBOLS;
    while (list->lengths[tz_deflate_precode_symbol(list->used - 1u)] == 0u)
        list->used--;
}

/* The last block of all, its kind, and how many lengths of which code follow. */
#define TZ_DEFLATE_HEADER_BITS         (3u + 5u + 5u + 4u)
#define TZ_DEFLATE_PRECODE_LENGTH_BITS 3u /* of a length of the code of lengths */

/* The head is so many parts: its first bits, the lengths of the code of lengths, and the list. */
TZ_FN tz_u32 tz_deflate_header_fields(const TZ_LOCAL tz_length_list *list)
{
    return 1u + list->used + list->count;
}

TZ_FN tz_deflate_bits tz_deflate_header_field(const TZ_LOCAL tz_length_list *list, tz_u32 last,
                                              tz_u32 field)
{
    tz_deflate_bits made;
    if (field == 0u) {
        made.bits = last | 2u << 1 | (list->literals - 257u) << 3 |
                    (TZ_DEFLATE_DISTANCES - 1u) << 8 | (list->used - 4u) << 13;
        made.count = TZ_DEFLATE_HEADER_BITS;
    } else if (field <= list->used) {
        made.bits = list->lengths[tz_deflate_precode_symbol(field - 1u)];
        made.count = TZ_DEFLATE_PRECODE_LENGTH_BITS;
    } else {
        const tz_u32 at = field - 1u - list->used;
        const tz_u32 code = list->codes[list->symbols[at]];
        made.bits = code >> 8 | (tz_u32)list->extras[at] << (code & 255u);
        made.count = (code & 255u) + tz_deflate_precode_extra_bits(list->symbols[at]);
    }
    return made;
}

TZ_FN tz_u64 tz_deflate_header_size(const TZ_LOCAL tz_length_list *list)
{
    tz_u64 bits = TZ_DEFLATE_HEADER_BITS + TZ_DEFLATE_PRECODE_LENGTH_BITS * list->used;
    for (tz_u32 i = 0u; i < TZ_DEFLATE_PRECODE_SYMBOLS; i++)
        bits += (tz_u64)list->counts[i] * (list->lengths[i] + tz_deflate_precode_extra_bits(i));
    return bits;
}

/* ---- blocks ---- */

/* All that is known of a block before it is written. */
typedef struct tz_deflate_block {
    tz_u32 counts[TZ_DEFLATE_SYMBOLS]; /* how often each symbol occurs */
    tz_u32 codes[TZ_DEFLATE_SYMBOLS];  /* as tz_huffman_make_codes */
    tz_u8 lengths[TZ_DEFLATE_SYMBOLS];
    tz_length_list list;
} tz_deflate_block;

TZ_FN tz_u32 tz_deflate_stored_blocks(tz_u32 size)
{
    return size / TZ_DEFLATE_MAX_STORED + (size % TZ_DEFLATE_MAX_STORED > 0u);
}

/* From the counts, all else. Returns 0 when the size bytes are better stored as they are. */
TZ_FN tz_u32 tz_deflate_plan_block(TZ_LOCAL tz_deflate_block *block, tz_u32 size,
                                   TZ_LOCAL tz_huffman_scratch *scratch)
{
    tz_huffman_make_lengths(block->counts, TZ_DEFLATE_SYMBOLS, TZ_DEFLATE_MAX_CODE_LENGTH,
                            block->lengths, scratch);
    tz_deflate_make_length_list(&block->list, block->lengths, scratch);
    tz_u64 bits = tz_deflate_header_size(&block->list);
    for (tz_u32 symbol = 0u; symbol < TZ_DEFLATE_SYMBOLS; symbol++)
        bits += (tz_u64)block->counts[symbol] *
                (block->lengths[symbol] + tz_deflate_extra_bits(symbol));
    if (bits / 8u >= size + (tz_deflate_stored_blocks(size) - 1u) * TZ_DEFLATE_STORED_HEADER)
        return 0u;
    tz_huffman_make_codes(block->lengths, TZ_DEFLATE_SYMBOLS, block->codes, scratch);
    tz_huffman_make_codes(block->list.lengths, TZ_DEFLATE_PRECODE_SYMBOLS, block->list.codes,
                          scratch);
    return 1u;
}

#endif
