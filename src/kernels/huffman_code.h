/* SPDX-License-Identifier: Apache-2.0
 * Huffman codes of limited length, as Deflate wants them, by one item. What is decided here is
 * decided by counts alone: equal counts give the same code everywhere. */
#ifndef TZ_KERNELS_HUFFMAN_CODE_H
#define TZ_KERNELS_HUFFMAN_CODE_H

#include "kernels/kernel.h"
#include "kernels/work_items.h"

#define TZ_HUFFMAN_SYMBOLS    288u
#define TZ_HUFFMAN_MAX_LENGTH 15u

/* A leaf is a symbol and how often it occurs, as one number that sorts by the latter. */
#define TZ_HUFFMAN_LEAF_BITS  9u
#define TZ_HUFFMAN_DIGIT_BITS 8u
#define TZ_HUFFMAN_DIGITS     (1u << TZ_HUFFMAN_DIGIT_BITS)

/* Memory that is used while a code is made. */
typedef struct tz_huffman_scratch {
    tz_u32 leaves[TZ_HUFFMAN_SYMBOLS];
    tz_u32 other[TZ_HUFFMAN_SYMBOLS]; /* leaves being sorted, then weights of what was joined */
    tz_u16 parents[2u * TZ_HUFFMAN_SYMBOLS];
    tz_u16 depths[2u * TZ_HUFFMAN_SYMBOLS];       /* digits of leaves being sorted, before that */
    tz_u16 of_length[TZ_HUFFMAN_MAX_LENGTH + 2u]; /* how many codes, then the next one */
} tz_huffman_scratch;

/* One pass of a radix sort. Returns 0 when all keys have the same digit, and to is not set. */
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

/* The symbols that occur, the rarest first, and of equals the lower number. */
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

/* Joins the two rarest of what is left until one is left. Leaves are sorted, and what was joined
 * comes in rising order, so that the rarest is the first of either. parents are of the leaves, then
 * of what was joined. */
TZ_FN void tz_huffman_join(TZ_LOCAL tz_huffman_scratch *scratch, tz_u32 used)
{
    TZ_LOCAL tz_u32 *weights = scratch->other;
    tz_u32 next_leaf = 0u, next_joined = 0u;
    for (tz_u32 made = 0u; made + 1u < used; made++) {
        tz_u32 weight = 0u;
        for (tz_u32 child = 0u; child < 2u; child++) {
            const tz_u32 take_leaf =
                next_leaf < used &&
                (next_joined == made ||
                 scratch->leaves[next_leaf] >> TZ_HUFFMAN_LEAF_BITS <= weights[next_joined]);
            const tz_u32 node = take_leaf ? next_leaf : used + next_joined;
            weight += take_leaf ? scratch->leaves[next_leaf] >> TZ_HUFFMAN_LEAF_BITS
                                : weights[next_joined];
            next_leaf += take_leaf;
            next_joined += 1u - take_leaf;
            scratch->parents[node] = (tz_u16)(used + made);
        }
        weights[made] = weight;
    }
}

/* How many codes have each length; those that are too long get the longest one, and the code is
 * made complete again. */
TZ_FN void tz_huffman_count_lengths(TZ_LOCAL tz_huffman_scratch *scratch, tz_u32 used,
                                    tz_u32 max_length)
{
    TZ_LOCAL tz_u16 *of_length = scratch->of_length;
    tz_u32 taken = 0u; /* of 1 << longest */
    const tz_u32 root = 2u * used - 2u;
    for (tz_u32 length = 0u; length <= TZ_HUFFMAN_MAX_LENGTH; length++)
        of_length[length] = 0u;
    scratch->depths[root] = 0u;
    for (tz_u32 node = root; node-- > 0u;) {
        const tz_u32 depth = scratch->depths[scratch->parents[node]] + 1u;
        scratch->depths[node] = (tz_u16)depth;
        if (node >= used)
            continue;
        const tz_u32 length = depth < max_length ? depth : max_length;
        of_length[length]++;
        taken += 1u << (max_length - length);
    }
    /* One of the longest goes beside a shorter one, below where that was: this frees its place. */
    for (; taken > 1u << max_length; taken--) {
        tz_u32 length = max_length - 1u;
        while (of_length[length] == 0u)
            length--;
        of_length[length]--;
        of_length[length + 1u] = (tz_u16)(of_length[length + 1u] + 2u);
        of_length[max_length]--;
    }
}

/* The lengths of a complete code for the symbols that occur, none longer than longest; 0 for those
 * that do not. At least two symbols must occur, at most 1 << longest, and all of them together less
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

/* The codes of these lengths in Deflate's order, turned so that their first bit is the lowest, and
 * each with its length: code << 8 | length. */
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

#endif
