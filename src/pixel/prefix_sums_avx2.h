/* SPDX-License-Identifier: Apache-2.0
 * Running sums over the pixels of a row: what both predictors are undone with. A group is one
 * pixel, of any number of bytes; words in it are added modulo their width. */
#ifndef TZ_PIXEL_PREFIX_SUMS_AVX2_H
#define TZ_PIXEL_PREFIX_SUMS_AVX2_H

#include "pixel/avx2.h"

#if defined(__x86_64__)

TZ_AVX2_INLINE __m256i add_words(__m256i a, __m256i b, unsigned word)
{
    return word == 1   ? _mm256_add_epi8(a, b)
           : word == 2 ? _mm256_add_epi16(a, b)
           : word == 4 ? _mm256_add_epi32(a, b)
                       : _mm256_add_epi64(a, b);
}

/* ---- groups of 1, 2, 3, 4, 6, 8 and 16 bytes: whole ones in a lane ---- */

/* How much of a lane whole groups fill. */
TZ_AVX2_INLINE unsigned lane_bytes(unsigned pixel_bytes)
{
    return pixel_bytes == 3 ? 15 : pixel_bytes == 6 ? 12 : LANE;
}

/* The last group of a lane, all over the lane. */
static const uint8_t last_pixels[17][LANE] = {
    [1] = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15},
    [2] = {14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15},
    [3] = {12, 13, 14, 12, 13, 14, 12, 13, 14, 12, 13, 14, 12, 13, 14, 12},
    [4] = {12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15},
    [6] = {6, 7, 8, 9, 10, 11, 6, 7, 8, 9, 10, 11, 6, 7, 8, 9},
    [8] = {8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15},
    [16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
};

/* Sums within each lane, in as many steps as the number of groups has bits. */
TZ_AVX2_INLINE __m256i sum_lanes(__m256i v, unsigned word, unsigned pixel_bytes)
{
    if (pixel_bytes == 3) {
        v = add_words(v, _mm256_slli_si256(v, 3), word);
        v = add_words(v, _mm256_slli_si256(v, 6), word);
        return add_words(v, _mm256_slli_si256(v, 12), word);
    }
    if (pixel_bytes == 6)
        return add_words(v, _mm256_slli_si256(v, 6), word);
    if (pixel_bytes <= 1)
        v = add_words(v, _mm256_slli_si256(v, 1), word);
    if (pixel_bytes <= 2)
        v = add_words(v, _mm256_slli_si256(v, 2), word);
    if (pixel_bytes <= 4)
        v = add_words(v, _mm256_slli_si256(v, 4), word);
    if (pixel_bytes <= 8)
        v = add_words(v, _mm256_slli_si256(v, 8), word);
    return v;
}

/* One block: the low lane's total goes to the high lane, and the carry to both. carry is the last
 * group so far, all over both lanes; the chain from block to block is one addition. */
TZ_AVX2_INLINE __m256i sum_block(__m256i v, __m256i *carry, __m256i last, unsigned word,
                                 unsigned pixel_bytes)
{
    v = sum_lanes(v, word, pixel_bytes);
    const __m256i totals = _mm256_shuffle_epi8(v, last);
    const __m256i crossed = _mm256_permute2x128_si256(totals, totals, 1);
    v = add_words(v, _mm256_blend_epi32(_mm256_setzero_si256(), crossed, 0xF0), word);
    v = add_words(v, *carry, word);
    *carry = add_words(*carry, add_words(totals, crossed, word), word);
    return v;
}

TZ_AVX2_INLINE __m256i load_block(const uint8_t *p, unsigned pixel_bytes)
{
    const unsigned lane = lane_bytes(pixel_bytes);
    return lane == LANE ? load_full(p) : load_lanes(p, p + lane);
}

/* Writes VECTOR bytes, of which two lanes of whole groups count. */
TZ_AVX2_INLINE void store_block(uint8_t *p, __m256i v, unsigned pixel_bytes)
{
    const unsigned lane = lane_bytes(pixel_bytes);
    if (lane == LANE) {
        store_full(p, v);
    } else {
        store_half(p, _mm256_castsi256_si128(v));
        store_half(p + lane, _mm256_extracti128_si256(v, 1));
    }
}

/* What the sums of a row need beside the row. */
typedef struct sum_state {
    __m256i carry;
    __m256i last;
    __m256i order;
    bool swap;
} sum_state;

TZ_AVX2_INLINE void sum_step(const uint8_t *row, uint8_t *out, sum_state *s, unsigned word,
                             unsigned pixel_bytes)
{
    __m256i v = load_block(row, pixel_bytes);
    if (s->swap)
        v = _mm256_shuffle_epi8(v, s->order);
    store_block(out, sum_block(v, &s->carry, s->last, word, pixel_bytes), pixel_bytes);
}

TZ_AVX2_INLINE __m256i sum_small(const uint8_t *row, uint8_t *out, size_t size, __m256i carry,
                                 unsigned word, unsigned pixel_bytes, bool swap)
{
    const size_t block = 2 * (size_t)lane_bytes(pixel_bytes);
    sum_state s = {carry, load_twice(last_pixels[pixel_bytes]), load_twice(swap_orders[word]),
                   swap};
    size_t at = 0;
    while (at + 3 * block + VECTOR <= size) {
        for (int i = 0; i < 4; i++, at += block)
            sum_step(row + at, out + at, &s, word, pixel_bytes);
    }
    for (; at < size; at += block) {
        uint8_t end[VECTOR];
        if (at + VECTOR <= size) {
            sum_step(row + at, out + at, &s, word, pixel_bytes);
        } else {
            sum_step(row + at, end, &s, word, pixel_bytes);
            memcpy(out + at, end, size - at < block ? size - at : block);
        }
    }
    return s.carry;
}

/* ---- other groups of up to 32 bytes: one in a register ---- */

TZ_AVX2_INLINE __m256i sum_medium(const uint8_t *row, uint8_t *out, size_t size, __m256i carry,
                                  unsigned word, size_t pixel_bytes, bool swap)
{
    const __m256i order = load_twice(swap_orders[swap ? word : 1]);
    for (size_t at = 0; at < size; at += pixel_bytes) {
        carry = add_words(carry, _mm256_shuffle_epi8(load_full(row + at), order), word);
        if (size - at >= VECTOR) {
            store_full(out + at, carry);
        } else {
            uint8_t end[VECTOR];
            store_full(end, carry);
            memcpy(out + at, end, pixel_bytes);
        }
    }
    return carry;
}

/* ---- a function for each loop, so that none lacks registers ---- */

#define TZ_SUM(word, pixel_bytes)                                                                  \
    TZ_AVX2 __attribute__((noinline)) static __m256i sum_##word##_##pixel_bytes(                   \
        const uint8_t *row, uint8_t *out, size_t size, __m256i carry, bool swap)                   \
    {                                                                                              \
        return swap && (word) > 1 ? sum_small(row, out, size, carry, word, pixel_bytes, true)      \
                                  : sum_small(row, out, size, carry, word, pixel_bytes, false);    \
    }
TZ_SUM(1, 1)
TZ_SUM(1, 2)
TZ_SUM(1, 3)
TZ_SUM(1, 4)
TZ_SUM(1, 6)
TZ_SUM(1, 8)
TZ_SUM(1, 16)
TZ_SUM(2, 2)
TZ_SUM(2, 4)
TZ_SUM(2, 6)
TZ_SUM(2, 8)
TZ_SUM(2, 16)
TZ_SUM(4, 4)
TZ_SUM(4, 8)
TZ_SUM(4, 16)
TZ_SUM(8, 8)
TZ_SUM(8, 16)

typedef __m256i (*sum_function)(const uint8_t *row, uint8_t *out, size_t size, __m256i carry,
                                bool swap);

static const sum_function sum_functions[9][17] = {
    [1] = {[1] = sum_1_1,
           [2] = sum_1_2,
           [3] = sum_1_3,
           [4] = sum_1_4,
           [6] = sum_1_6,
           [8] = sum_1_8,
           [16] = sum_1_16},
    [2] = {[2] = sum_2_2, [4] = sum_2_4, [6] = sum_2_6, [8] = sum_2_8, [16] = sum_2_16},
    [4] = {[4] = sum_4_4, [8] = sum_4_8, [16] = sum_4_16},
    [8] = {[8] = sum_8_8, [16] = sum_8_16},
};

/* Whether the carry of such groups is the group again and again, in both lanes. */
static inline bool pixel_repeats(size_t pixel_bytes)
{
    return pixel_bytes <= 16 && sum_functions[1][pixel_bytes];
}

#endif

#endif
