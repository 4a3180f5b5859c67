/* SPDX-License-Identifier: Apache-2.0
 * The decisions of the fast Deflate encoder, which do not depend on who writes the bits: the
 * Huffman codes, the segments that are runs, the symbols of a run, the size of a block, and its
 * header.
 *
 * A block is divided into segments of 16 bytes. A segment that only repeats the byte before it is
 * part of a run; all other bytes are literals. A run is encoded as matches of distance 1. So no
 * hash table is needed, and a work-group can look at many segments at once.
 *
 * The codes depend on counts alone: equal counts give the same code on every device. Everything
 * here is done by one work-item. */
#ifndef TZ_KERNELS_DEFLATE_SYMBOLS_H
#define TZ_KERNELS_DEFLATE_SYMBOLS_H

#include "kernels/kernel.h"
#include "kernels/work_items.h"
#include "kernels/zlib_frame.h"

/* ---- Huffman codes of limited length ---- */

#define TZ_HUFFMAN_SYMBOLS    288u
#define TZ_HUFFMAN_MAX_LENGTH 15u

/* A leaf is count << TZ_HUFFMAN_LEAF_BITS | symbol, so that leaves sort by count. */
#define TZ_HUFFMAN_LEAF_BITS  9u
#define TZ_HUFFMAN_DIGIT_BITS 8u
#define TZ_HUFFMAN_DIGITS     (1u << TZ_HUFFMAN_DIGIT_BITS)

/* Memory for making a code. Nodes are the leaves, then the joined ones. */
typedef struct tz_huffman_scratch {
    tz_u32 leaves[TZ_HUFFMAN_SYMBOLS];
    tz_u32 other[TZ_HUFFMAN_SYMBOLS]; /* target of the sort, then weights of joined nodes */
    tz_u16 parents[2u * TZ_HUFFMAN_SYMBOLS];
    tz_u16 depths[2u * TZ_HUFFMAN_SYMBOLS];       /* starts of digits in the sort, then depths */
    tz_u16 of_length[TZ_HUFFMAN_MAX_LENGTH + 2u]; /* number of codes, then the next code */
} tz_huffman_scratch;

/* One pass of a radix sort. Returns 0 if all keys have the same digit; `to` is then not set. */
TZ_FN tz_u32 tz_huffman_sort_by_digit(const TZ_LOCAL tz_u32 *from, TZ_LOCAL tz_u32 *to,
                                      tz_u32 count, tz_u32 shift, TZ_LOCAL tz_u16 *starts)
{
    for (tz_u32 digit = 0u; digit < TZ_HUFFMAN_DIGITS; digit++)
        starts[digit] = 0u;
    for (tz_u32 i = 0u; i < count; i++)
        starts[from[i] >> shift & (TZ_HUFFMAN_DIGITS - 1u)]++;
    if (starts[from[0] >> shift & (TZ_HUFFMAN_DIGITS - 1u)] == count)
        return 0u;
    tz_u16 start = 0u;
    for (tz_u32 digit = 0u; digit < TZ_HUFFMAN_DIGITS; digit++) {
        const tz_u16 size = starts[digit];
        starts[digit] = start;
        start = (tz_u16)(start + size);
    }
    for (tz_u32 i = 0u; i < count; i++)
        to[starts[from[i] >> shift & (TZ_HUFFMAN_DIGITS - 1u)]++] = from[i];
    return 1u;
}

/* Sorts the symbols that occur, the rarest first, and equal ones by number. Returns their number.
 */
TZ_FN tz_u32 tz_huffman_sort(const TZ_LOCAL tz_u32 *counts, tz_u32 symbols,
                             TZ_LOCAL tz_huffman_scratch *scratch)
{
    tz_u32 used = 0u;
    for (tz_u32 symbol = 0u; symbol < symbols; symbol++) {
        if (counts[symbol] > 0u)
            scratch->leaves[used++] = counts[symbol] << TZ_HUFFMAN_LEAF_BITS | symbol;
    }
    for (tz_u32 shift = TZ_HUFFMAN_LEAF_BITS; shift < 32u; shift += TZ_HUFFMAN_DIGIT_BITS) {
        if (tz_huffman_sort_by_digit(scratch->leaves, scratch->other, used, shift,
                                     scratch->depths)) {
            for (tz_u32 i = 0u; i < used; i++)
                scratch->leaves[i] = scratch->other[i];
        }
    }
    return used;
}

/* Joins the two rarest nodes until one is left. Leaves are sorted, and joined nodes are made in
 * rising order, so that the rarest node is the first of either list. */
TZ_FN void tz_huffman_join(TZ_LOCAL tz_huffman_scratch *scratch, tz_u32 used)
{
    TZ_LOCAL tz_u32 *weights = scratch->other;
    tz_u32 next_leaf = 0u, next_joined = 0u;
    for (tz_u32 made = 0u; made + 1u < used; made++) {
        tz_u32 weight = 0u;
        for (tz_u32 child = 0u; child < 2u; child++) {
            const tz_u32 is_leaf =
                next_leaf < used &&
                (next_joined == made ||
                 scratch->leaves[next_leaf] >> TZ_HUFFMAN_LEAF_BITS <= weights[next_joined]);
            const tz_u32 node = is_leaf ? next_leaf : used + next_joined;
            weight +=
                is_leaf ? scratch->leaves[next_leaf] >> TZ_HUFFMAN_LEAF_BITS : weights[next_joined];
            next_leaf += is_leaf;
            next_joined += 1u - is_leaf;
            scratch->parents[node] = (tz_u16)(used + made);
        }
        weights[made] = weight;
    }
}

/* Counts the codes of each length. Codes that are too long get max_length, which uses up too many
 * codewords; shorter codes are then lengthened until the code is complete again. */
TZ_FN void tz_huffman_count_lengths(TZ_LOCAL tz_huffman_scratch *scratch, tz_u32 used,
                                    tz_u32 max_length)
{
    TZ_LOCAL tz_u16 *of_length = scratch->of_length;
    tz_u32 taken = 0u; /* codewords of max_length that are used, of 1 << max_length */
    const tz_u32 root = 2u * used - 2u;
    for (tz_u32 length = 0u; length <= TZ_HUFFMAN_MAX_LENGTH; length++)
        of_length[length] = 0u;
    scratch->depths[root] = 0u;
    for (tz_u32 node = root; node-- > 0u;) {
        const tz_u32 depth = scratch->depths[scratch->parents[node]] + 1u;
        scratch->depths[node] = (tz_u16)depth;
        if (node >= used)
            continue;
        const tz_u32 length = tz_kernel_min(depth, max_length);
        of_length[length]++;
        taken += 1u << (max_length - length);
    }
    /* A code of max_length and a shorter one become two codes, one bit longer than the shorter one:
     * this frees one codeword of max_length. */
    for (; taken > 1u << max_length; taken--) {
        tz_u32 length = max_length - 1u;
        while (of_length[length] == 0u)
            length--;
        of_length[length]--;
        of_length[length + 1u] = (tz_u16)(of_length[length + 1u] + 2u);
        of_length[max_length]--;
    }
}

/* Makes the lengths of a complete code for the symbols that occur, up to max_length; 0 for the
 * others. At least two symbols must occur, at most 1 << max_length, and all of them together less
 * than 1 << 23 times. */
TZ_FN void tz_huffman_make_lengths(const TZ_LOCAL tz_u32 *counts, tz_u32 symbols, tz_u32 max_length,
                                   TZ_LOCAL tz_u8 *lengths, TZ_LOCAL tz_huffman_scratch *scratch)
{
    const tz_u32 used = tz_huffman_sort(counts, symbols, scratch);
    tz_huffman_join(scratch, used);
    tz_huffman_count_lengths(scratch, used, max_length);
    for (tz_u32 symbol = 0u; symbol < symbols; symbol++)
        lengths[symbol] = 0u;
    tz_u32 next = 0u;
    for (tz_u32 length = max_length; length > 0u; length--) {
        for (tz_u32 i = 0u; i < scratch->of_length[length]; i++)
            lengths[scratch->leaves[next++] & ((1u << TZ_HUFFMAN_LEAF_BITS) - 1u)] = (tz_u8)length;
    }
}

TZ_FN tz_u32 tz_huffman_reverse(tz_u32 code, tz_u32 length)
{
    code = (code & 0x5555u) << 1 | (code >> 1 & 0x5555u);
    code = (code & 0x3333u) << 2 | (code >> 2 & 0x3333u);
    code = (code & 0x0f0fu) << 4 | (code >> 4 & 0x0f0fu);
    code = (code & 0x00ffu) << 8 | (code >> 8 & 0x00ffu);
    return code >> (16u - length);
}

/* Makes the codes of these lengths in the order of RFC 1951, section 3.2.2. Their bits are
 * reversed, so that the first one is the lowest. An element is code << 8 | length. */
TZ_FN void tz_huffman_make_codes(const TZ_LOCAL tz_u8 *lengths, tz_u32 symbols,
                                 TZ_LOCAL tz_u32 *codes, TZ_LOCAL tz_huffman_scratch *scratch)
{
    TZ_LOCAL tz_u16 *next = scratch->of_length;
    for (tz_u32 length = 0u; length < TZ_HUFFMAN_MAX_LENGTH + 2u; length++)
        next[length] = 0u;
    for (tz_u32 symbol = 0u; symbol < symbols; symbol++)
        next[lengths[symbol] + 1u]++;
    next[1] = 0u; /* symbols without a code */
    for (tz_u32 length = 1u; length <= TZ_HUFFMAN_MAX_LENGTH; length++)
        next[length + 1u] = (tz_u16)(2u * (next[length] + next[length + 1u]));
    for (tz_u32 symbol = 0u; symbol < symbols; symbol++) {
        const tz_u32 length = lengths[symbol];
        codes[symbol] = tz_huffman_reverse(next[length]++, length) << 8 | length;
    }
}

#define TZ_DEFLATE_SEGMENT         16u
#define TZ_DEFLATE_BLOCK           (1u << 20)
#define TZ_DEFLATE_MAX_MATCH       258u
#define TZ_DEFLATE_MAX_CODE_LENGTH 14u
#define TZ_DEFLATE_LITERALS        256u
#define TZ_DEFLATE_END             256u /* of a block */
#define TZ_DEFLATE_FULL_MATCH      285u /* of 258 bytes */
#define TZ_DEFLATE_SYMBOLS         286u
#define TZ_DEFLATE_DISTANCES       2u  /* the first is 1; the second only completes the code */
#define TZ_DEFLATE_DISTANCE_BITS   1u  /* the bit is 0 */
#define TZ_DEFLATE_PRECODE_SYMBOLS 19u /* of the code of code lengths */
#define TZ_DEFLATE_MAX_STORED      65535u
#define TZ_DEFLATE_STORED_HEADER   5u

/* Up to 31 bits of the stream, the first one lowest. */
typedef struct tz_deflate_bits {
    tz_u32 bits;
    tz_u32 count;
} tz_deflate_bits;

/* ---- runs ---- */

/* True if a segment, which is not the first of the tile, repeats the byte before it. */
TZ_FN tz_u32 tz_deflate_is_run(const TZ_GLOBAL tz_u8 *segment)
{
    const tz_u64 wanted = *(segment - 1) * (tz_u64)0x0101010101010101u;
    if (tz_load_u64(segment) != wanted)
        return 0u;
    return tz_load_u64(segment + 8) == wanted;
}

/* A run as matches of 258 bytes and one of the rest; a rest of 1 or 2 bytes is literals. */
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
        found.extra_count = 29u - tz_leading_zeros_u32(value); /* bits after the highest three */
        found.symbol = 261u + 4u * found.extra_count + (value >> found.extra_count & 3u);
        found.extra = value & ((1u << found.extra_count) - 1u);
    }
    return found;
}

/* The bits of a run without its full matches: a match and its distance, one or two literals, or
 * nothing. */
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

/* Bits that follow a symbol: the extra bits of a length, and the distance. */
TZ_FN tz_u32 tz_deflate_extra_bits(tz_u32 symbol)
{
    if (symbol <= TZ_DEFLATE_END)
        return 0u;
    return TZ_DEFLATE_DISTANCE_BITS +
           (symbol >= 265u && symbol < TZ_DEFLATE_FULL_MATCH ? (symbol - 261u) / 4u : 0u);
}

/* ---- the header of a block: the lengths of its codes ---- */

/* Code lengths as symbols of a code of their own: a length, or 16 to 18 for a run of equal ones. */
typedef struct tz_length_list {
    tz_u8 symbols[TZ_DEFLATE_SYMBOLS + TZ_DEFLATE_DISTANCES];
    tz_u8 extras[TZ_DEFLATE_SYMBOLS + TZ_DEFLATE_DISTANCES];
    tz_u8 lengths[TZ_DEFLATE_PRECODE_SYMBOLS];
    tz_u32 counts[TZ_DEFLATE_PRECODE_SYMBOLS];
    tz_u32 codes[TZ_DEFLATE_PRECODE_SYMBOLS];
    tz_u32 count;
    tz_u32 literals; /* lengths of literals and matches that are stored, without zeros at the end */
    tz_u32 used;     /* lengths of the code of code lengths that are stored */
} tz_length_list;

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

/* Adds count equal lengths. */
TZ_FN void tz_deflate_add_equal(TZ_LOCAL tz_length_list *list, tz_u32 length, tz_u32 count)
{
    if (length != 0u && count > 0u) {
        tz_deflate_add_length(list, length, 0u);
        count--;
    }
    while (count >= 3u) {
        const tz_u32 some = tz_kernel_min(count, length != 0u ? 6u : 138u);
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

/* An element of the list of lengths: those of symbols, then those of distances, which are 1. */
TZ_FN tz_u32 tz_deflate_code_length(const TZ_LOCAL tz_length_list *list,
                                    const TZ_LOCAL tz_u8 *lengths, tz_u32 at)
{
    return at < list->literals ? lengths[at] : 1u;
}

/* Makes the list of the lengths of both codes, which are one sequence in the header: a run of equal
 * lengths may continue from symbols to distances. */
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

/* The last-block bit, the kind of block, and the numbers of lengths of the three codes. */
#define TZ_DEFLATE_HEADER_BITS         (3u + 5u + 5u + 4u)
#define TZ_DEFLATE_PRECODE_LENGTH_BITS 3u /* of a length of the code of code lengths */

/* The number of fields of a header: the first bits, the lengths of the code of code lengths, and
 * the list. Fields are numbered, so that encoders with different bit writers share their contents.
 */
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

/* The bits of all fields of a header. */
TZ_FN tz_u64 tz_deflate_header_size(const TZ_LOCAL tz_length_list *list)
{
    tz_u64 bits = TZ_DEFLATE_HEADER_BITS + TZ_DEFLATE_PRECODE_LENGTH_BITS * list->used;
    for (tz_u32 i = 0u; i < TZ_DEFLATE_PRECODE_SYMBOLS; i++)
        bits += (tz_u64)list->counts[i] * (list->lengths[i] + tz_deflate_precode_extra_bits(i));
    return bits;
}

/* ---- blocks ---- */

/* The plan of a block, before it is written. */
typedef struct tz_deflate_block {
    tz_u32 counts[TZ_DEFLATE_SYMBOLS]; /* occurrences of each symbol */
    tz_u32 codes[TZ_DEFLATE_SYMBOLS];  /* as tz_huffman_make_codes */
    tz_u8 lengths[TZ_DEFLATE_SYMBOLS];
    tz_length_list list;
} tz_deflate_block;

/* Makes all of the plan from the counts. Returns 0 if stored blocks take no more than the size
 * bytes of the block would when encoded. */
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
    const tz_u32 stored_blocks = size / TZ_DEFLATE_MAX_STORED + (size % TZ_DEFLATE_MAX_STORED > 0u);
    if (bits / 8u >= size + (stored_blocks - 1u) * TZ_DEFLATE_STORED_HEADER)
        return 0u;
    tz_huffman_make_codes(block->lengths, TZ_DEFLATE_SYMBOLS, block->codes, scratch);
    tz_huffman_make_codes(block->list.lengths, TZ_DEFLATE_PRECODE_SYMBOLS, block->list.codes,
                          scratch);
    return 1u;
}

#endif
