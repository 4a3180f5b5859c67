/* SPDX-License-Identifier: Apache-2.0
 * See huffman_code.h. */
#include "codec/huffman_code.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

enum { SYMBOL_BITS = 9, DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* A symbol and how often it occurs, as one number that sorts by the latter. */
typedef uint32_t leaf;

static inline size_t symbol_of(leaf one)
{
    return one & ((1u << SYMBOL_BITS) - 1);
}

/* One pass of a radix sort. Returns false when all keys have the same digit, and to is not set. */
static bool sort_by_digit(const leaf *from, leaf *to, size_t count, unsigned shift)
{
    uint16_t starts[DIGITS] = {0};
    for (size_t i = 0; i < count; i++)
        starts[from[i] >> shift & (DIGITS - 1)]++;
    if (starts[from[0] >> shift & (DIGITS - 1)] == count)
        return false;
    uint16_t start = 0;
    for (size_t digit = 0; digit < DIGITS; digit++) {
        uint16_t size = starts[digit];
        starts[digit] = start;
        start = (uint16_t)(start + size);
    }
    for (size_t i = 0; i < count; i++)
        to[starts[from[i] >> shift & (DIGITS - 1)]++] = from[i];
    return true;
}

/* The symbols that occur, the rarest first, and of equals the lower number. */
static size_t sort_symbols(const uint32_t *counts, size_t symbols, leaf *leaves)
{
    leaf other[TZ_HUFFMAN_SYMBOLS];
    size_t used = 0;
    for (size_t symbol = 0; symbol < symbols; symbol++)
        if (counts[symbol] > 0)
            leaves[used++] = (leaf)(counts[symbol] << SYMBOL_BITS | symbol);
    assert(used >= 2);
    for (unsigned shift = SYMBOL_BITS; shift < 32; shift += DIGIT_BITS)
        if (sort_by_digit(leaves, other, used, shift))
            memcpy(leaves, other, used * sizeof leaves[0]);
    return used;
}

/* Joins the two rarest of what is left until one is left. Leaves are sorted, and what was joined
 * comes in rising order, so that the rarest is the first of either. parents are of the leaves, then
 * of what was joined. */
static void join_all(const leaf *leaves, size_t used, uint16_t *parents)
{
    uint32_t weights[TZ_HUFFMAN_SYMBOLS];
    size_t next_leaf = 0, next_joined = 0;
    for (size_t made = 0; made + 1 < used; made++) {
        uint32_t weight = 0;
        for (int child = 0; child < 2; child++) {
            bool take_leaf =
                next_leaf < used &&
                (next_joined == made || leaves[next_leaf] >> SYMBOL_BITS <= weights[next_joined]);
            size_t node = take_leaf ? next_leaf : used + next_joined;
            weight += take_leaf ? leaves[next_leaf] >> SYMBOL_BITS : weights[next_joined];
            next_leaf += take_leaf;
            next_joined += !take_leaf;
            parents[node] = (uint16_t)(used + made);
        }
        weights[made] = weight;
    }
}

/* How many codes have each length; those that are too long get the longest one, and the code is
 * made complete again. */
static void count_lengths(const uint16_t *parents, size_t used, unsigned longest,
                          uint16_t *of_length)
{
    uint16_t depths[2 * TZ_HUFFMAN_SYMBOLS];
    uint64_t taken = 0; /* of 1 << longest */
    size_t root = 2 * used - 2;
    depths[root] = 0;
    for (size_t node = root; node-- > 0;) {
        depths[node] = (uint16_t)(depths[parents[node]] + 1);
        if (node >= used)
            continue;
        unsigned length = depths[node] < longest ? depths[node] : longest;
        of_length[length]++;
        taken += UINT64_C(1) << (longest - length);
    }
    /* One of the longest goes beside a shorter one, below where that was: this frees its place. */
    for (; taken > UINT64_C(1) << longest; taken--) {
        unsigned length = longest - 1;
        while (of_length[length] == 0)
            length--;
        of_length[length]--;
        of_length[length + 1] = (uint16_t)(of_length[length + 1] + 2);
        of_length[longest]--;
    }
}

void tz_huffman_lengths(const uint32_t *counts, size_t symbols, unsigned longest, uint8_t *lengths)
{
    leaf leaves[TZ_HUFFMAN_SYMBOLS];
    uint16_t parents[2 * TZ_HUFFMAN_SYMBOLS];
    uint16_t of_length[TZ_HUFFMAN_MAX_LENGTH + 1] = {0};
    assert(symbols <= TZ_HUFFMAN_SYMBOLS && longest <= TZ_HUFFMAN_MAX_LENGTH);
    size_t used = sort_symbols(counts, symbols, leaves);
    join_all(leaves, used, parents);
    count_lengths(parents, used, longest, of_length);
    memset(lengths, 0, symbols);
    size_t next = 0;
    for (unsigned length = longest; length > 0; length--)
        for (unsigned i = 0; i < of_length[length]; i++)
            lengths[symbol_of(leaves[next++])] = (uint8_t)length;
}

static uint16_t turn_bits(uint32_t code, unsigned length)
{
    code = (code & 0x5555) << 1 | (code >> 1 & 0x5555);
    code = (code & 0x3333) << 2 | (code >> 2 & 0x3333);
    code = (code & 0x0f0f) << 4 | (code >> 4 & 0x0f0f);
    code = (code & 0x00ff) << 8 | (code >> 8 & 0x00ff);
    return (uint16_t)(code >> (16 - length));
}

void tz_huffman_codes(const uint8_t *lengths, size_t symbols, uint16_t *codes)
{
    uint16_t next[TZ_HUFFMAN_MAX_LENGTH + 2] = {0};
    for (size_t symbol = 0; symbol < symbols; symbol++)
        next[lengths[symbol] + 1]++;
    next[1] = 0; /* symbols without a code */
    for (unsigned length = 1; length <= TZ_HUFFMAN_MAX_LENGTH; length++)
        next[length + 1] = (uint16_t)(2 * (next[length] + next[length + 1]));
    for (size_t symbol = 0; symbol < symbols; symbol++)
        codes[symbol] = turn_bits(next[lengths[symbol]]++, lengths[symbol]);
}
