/* SPDX-License-Identifier: Apache-2.0
 * Running sums over the pixels of a row: what both predictors are undone with. A group is one
 * pixel, of any number of bytes; words in it are added modulo their width. */
#ifndef TZ_PIXEL_SUMS_AVX2_H
#define TZ_PIXEL_SUMS_AVX2_H

#include "pixel/avx2.h"

#if defined(__x86_64__)

enum { VECTOR = 32, LANE = 16 };

TZ_AVX2_INLINE __m256i add_words(__m256i a, __m256i b, unsigned word)
{
    return word == 1   ? _mm256_add_epi8(a, b)
           : word == 2 ? _mm256_add_epi16(a, b)
           : word == 4 ? _mm256_add_epi32(a, b)
                       : _mm256_add_epi64(a, b);
}

/* Bytes of a lane in the other order, by size of word. */
static const uint8_t swap_orders[9][LANE] = {
    [1] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    [2] = {1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14},
    [4] = {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12},
    [8] = {7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8},
};

/* ---- groups of 1, 2, 3, 4, 6, 8 and 16 bytes: whole ones in a lane ---- */

/* How much of a lane whole groups fill. */
TZ_AVX2_INLINE unsigned lane_bytes(unsigned group)
{
    return group == 3 ? 15 : group == 6 ? 12 : LANE;
}

/* The last group of a lane, all over the lane. */
static const uint8_t last_groups[17][LANE] = {
    [1] = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15},
    [2] = {14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15},
    [3] = {12, 13, 14, 12, 13, 14, 12, 13, 14, 12, 13, 14, 12, 13, 14, 12},
    [4] = {12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15},
    [6] = {6, 7, 8, 9, 10, 11, 6, 7, 8, 9, 10, 11, 6, 7, 8, 9},
    [8] = {8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15},
    [16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
};

/* Sums within each lane, in as many steps as the number of groups has bits. */
TZ_AVX2_INLINE __m256i sum_lanes(__m256i v, unsigned word, unsigned group)
{
    if (group == 3) {
        v = add_words(v, _mm256_slli_si256(v, 3), word);
        v = add_words(v, _mm256_slli_si256(v, 6), word);
        return add_words(v, _mm256_slli_si256(v, 12), word);
    }
    if (group == 6)
        return add_words(v, _mm256_slli_si256(v, 6), word);
    if (group <= 1)
        v = add_words(v, _mm256_slli_si256(v, 1), word);
    if (group <= 2)
        v = add_words(v, _mm256_slli_si256(v, 2), word);
    if (group <= 4)
        v = add_words(v, _mm256_slli_si256(v, 4), word);
    if (group <= 8)
        v = add_words(v, _mm256_slli_si256(v, 8), word);
    return v;
}

/* One block: the low lane's total goes to the high lane, and the carry to both. carry is the last
 * group so far, all over both lanes; the chain from block to block is one addition. */
TZ_AVX2_INLINE __m256i sum_block(__m256i v, __m256i *carry, __m256i last, unsigned word,
                                 unsigned group)
{
    v = sum_lanes(v, word, group);
    const __m256i totals = _mm256_shuffle_epi8(v, last);
    const __m256i crossed = _mm256_permute2x128_si256(totals, totals, 1);
    v = add_words(v, _mm256_blend_epi32(_mm256_setzero_si256(), crossed, 0xF0), word);
    v = add_words(v, *carry, word);
    *carry = add_words(*carry, add_words(totals, crossed, word), word);
    return v;
}

TZ_AVX2_INLINE __m256i load_block(const uint8_t *p, unsigned group)
{
    const unsigned lane = lane_bytes(group);
    return lane == LANE ? load_full(p) : load_lanes(p, p + lane);
}

/* Writes VECTOR bytes, of which two lanes of whole groups count. */
TZ_AVX2_INLINE void store_block(uint8_t *p, __m256i v, unsigned group)
{
    const unsigned lane = lane_bytes(group);
    if (lane == LANE) {
        store_full(p, v);
    } else {
        store_half(p, _mm256_castsi256_si128(v));
        store_half(p + lane, _mm256_extracti128_si256(v, 1));
    }
}

TZ_AVX2_INLINE __m256i sum_small(const uint8_t *row, uint8_t *out, size_t size, __m256i carry,
                                 unsigned word, unsigned group, bool swap)
{
    const size_t block = 2 * (size_t)lane_bytes(group);
    const __m256i last = load_twice(last_groups[group]);
    const __m256i order = load_twice(swap_orders[word]);
    size_t at = 0;
    for (; at + VECTOR <= size; at += block) {
        __m256i v = load_block(row + at, group);
        if (swap)
            v = _mm256_shuffle_epi8(v, order);
        store_block(out + at, sum_block(v, &carry, last, word, group), group);
    }
    for (; at < size; at += block) {
        uint8_t end[VECTOR];
        __m256i v = load_block(row + at, group);
        if (swap)
            v = _mm256_shuffle_epi8(v, order);
        store_block(end, sum_block(v, &carry, last, word, group), group);
        memcpy(out + at, end, size - at < block ? size - at : block);
    }
    return carry;
}

/* ---- other groups of up to 32 bytes: one in a register ---- */

TZ_AVX2_INLINE __m256i sum_medium(const uint8_t *row, uint8_t *out, size_t size, __m256i carry,
                                  unsigned word, size_t group, bool swap)
{
    const __m256i order = load_twice(swap_orders[word]);
    size_t at = 0;
    for (; at + VECTOR <= size; at += group) {
        __m256i v = load_full(row + at);
        if (swap)
            v = _mm256_shuffle_epi8(v, order);
        carry = add_words(carry, v, word);
        store_full(out + at, carry);
    }
    for (; at < size; at += group) {
        uint8_t end[VECTOR];
        __m256i v = load_full(row + at);
        if (swap)
            v = _mm256_shuffle_epi8(v, order);
        carry = add_words(carry, v, word);
        store_full(end, carry);
        memcpy(out + at, end, group);
    }
    return carry;
}

/* Sums from the group in carry on, which repeats in both lanes where group_repeats; group is at
 * most
 * 32. Returns the carry for what follows. */
static inline bool group_repeats(size_t group)
{
    return (group <= 8 && group != 5 && group != 7) || group == 16;
}

TZ_AVX2_INLINE __m256i sum_groups(const uint8_t *row, uint8_t *out, size_t size, __m256i carry,
                                  unsigned word, size_t group, bool swap)
{
#define TZ_SMALL(bytes)                                                                            \
    case bytes:                                                                                    \
        if (bytes % word == 0)                                                                     \
            return sum_small(row, out, size, carry, word, bytes, swap);                            \
        break;
    switch (group) {
        TZ_SMALL(1)
        TZ_SMALL(2)
        TZ_SMALL(3)
        TZ_SMALL(4)
        TZ_SMALL(6)
        TZ_SMALL(8)
        TZ_SMALL(16)
    default:
        break;
    }
#undef TZ_SMALL
    return sum_medium(row, out, size, carry, word, group, swap);
}

#endif

#endif
