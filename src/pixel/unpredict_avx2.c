/* SPDX-License-Identifier: Apache-2.0
 * Predictors of a file reverted, and byte order changed, with AVX2.
 *
 * Both predictors are running sums over the pixels of a row; words are added modulo their width.
 * The sums of a register are made in log2 steps of shift and add, first within each lane. The total
 * of the low lane then goes to the high lane, and the last pixel so far, the carry, to both. There
 * are three forms by the size of a pixel: several in a lane, one in a register, one in many
 * registers.
 *
 * Predictor 3 has a row as byte planes, and the sum runs on from one plane to the next. The planes
 * are joined to samples first, and the sums taken over those: fewer steps than sums over bytes. For
 * that, the carry before the first pixel holds the totals of the planes before each byte. */
#include "pixel/row_ops.h"

#if defined(__x86_64__)
#include "base/minmax.h"
#include "kernels/unpack.h"
#include "pixel/avx2.h"

TZ_AVX2_INLINE __m256i add_words(__m256i a, __m256i b, unsigned word)
{
    return word == 1   ? _mm256_add_epi8(a, b)
           : word == 2 ? _mm256_add_epi16(a, b)
           : word == 4 ? _mm256_add_epi32(a, b)
                       : _mm256_add_epi64(a, b);
}

/* ---- pixels of 1, 2, 3, 4, 6, 8 and 16 bytes: whole ones in a lane ---- */

/* Returns the bytes of a lane that whole pixels fill. */
TZ_AVX2_INLINE unsigned lane_bytes(unsigned pixel_bytes)
{
    return pixel_bytes == 3 ? 15 : pixel_bytes == 6 ? 12 : LANE;
}

/* Shuffles that repeat the last pixel of a lane all over it, by bytes of a pixel. */
static const uint8_t last_pixels[17][LANE] = {
    [1] = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15},
    [2] = {14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15},
    [3] = {12, 13, 14, 12, 13, 14, 12, 13, 14, 12, 13, 14, 12, 13, 14, 12},
    [4] = {12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15},
    [6] = {6, 7, 8, 9, 10, 11, 6, 7, 8, 9, 10, 11, 6, 7, 8, 9},
    [8] = {8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15},
    [16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
};

/* Makes running sums within each lane: each step doubles the number of pixels that are added up. */
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

/* Makes the sums of one block: adds the total of the low lane to the high lane, and the carry to
 * both. The carry is the last pixel so far, all over both lanes. The next block waits for one
 * addition only, since totals do not depend on the carry. */
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

/* Writes VECTOR bytes, of which the whole pixels of two lanes count. */
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

/* State of the sums of a row. */
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

/* Four blocks at a time, then single ones, the last through a buffer. Returns the carry. */
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
            memcpy(out + at, end, tz_min_size(size - at, block));
        }
    }
    return s.carry;
}

/* ---- other pixels of up to 32 bytes: one in a register ---- */

/* The register is the carry; bytes after the pixel are overwritten by the next one. */
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

/* ---- a function for each loop: in one function they would run out of registers ---- */

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

/* True if pixels of this size have sum_small, whose carry is repeated all over both lanes. */
static inline bool pixel_repeats(size_t pixel_bytes)
{
    return pixel_bytes <= 16 && sum_functions[1][pixel_bytes];
}

/* ---- predictor 2 ---- */

enum { MAX_CACHED_PIXEL = 1024 };

/* Pixels of more than 32 bytes, a register at a time. The pixel before is added; up to
 * MAX_CACHED_PIXEL bytes it is kept in a buffer, because loads at other alignments than the stores
 * before them have to wait until those reach the cache. */
TZ_AVX2_INLINE void sum_large(const uint8_t *row, uint8_t *out, size_t size, unsigned word,
                              size_t pixel_bytes, bool swap)
{
    const __m256i order = load_twice(swap_orders[swap ? word : 1]);
    const bool is_cached = pixel_bytes <= MAX_CACHED_PIXEL;
    uint8_t cached[MAX_CACHED_PIXEL + VECTOR] = {0};
    for (size_t pixel = 0; pixel < size; pixel += pixel_bytes) {
        for (size_t i = 0; i < pixel_bytes; i += VECTOR) {
            const size_t at = pixel + i;
            __m256i v = _mm256_shuffle_epi8(load_full(row + at), order);
            if (is_cached) {
                v = add_words(v, load_full(cached + i), word);
                store_full(cached + i, v);
            } else if (pixel > 0) {
                v = add_words(v, load_full(out + at - pixel_bytes), word);
            }
            if (size - at >= VECTOR) {
                store_full(out + at, v);
            } else {
                uint8_t end[VECTOR];
                store_full(end, v);
                memcpy(out + at, end, size - at);
            }
        }
    }
}

#define TZ_AVX2_UNPREDICT2(name, word)                                                             \
    TZ_AVX2 __attribute__((noinline)) static void unpredict2_others_##name(                        \
        const uint8_t *row, uint8_t *out, size_t size, size_t pixel_bytes, bool swap)              \
    {                                                                                              \
        if (pixel_bytes > VECTOR)                                                                  \
            sum_large(row, out, size, word, pixel_bytes, swap);                                    \
        else                                                                                       \
            sum_medium(row, out, size, _mm256_setzero_si256(), word, pixel_bytes, swap);           \
    }                                                                                              \
    TZ_AVX2 void tz_avx2_unpredict2_##name(const uint8_t *row, uint8_t *out, size_t count,         \
                                           uint32_t stride, bool swap)                             \
    {                                                                                              \
        const size_t pixel_bytes = (size_t)stride * (word);                                        \
        if (pixel_repeats(pixel_bytes))                                                            \
            sum_functions[word][pixel_bytes](row, out, count * (word), _mm256_setzero_si256(),     \
                                             swap);                                                \
        else                                                                                       \
            unpredict2_others_##name(row, out, (word)*count, pixel_bytes, swap);                   \
    }
TZ_AVX2_UNPREDICT2(u8, 1)
TZ_AVX2_UNPREDICT2(u16, 2)
TZ_AVX2_UNPREDICT2(u32, 4)
TZ_AVX2_UNPREDICT2(u64, 8)

/* ---- predictor 3 ---- */

/* Each join makes 32 samples of width bytes, in width registers, from planes that lie plane bytes
 * apart, the highest first. */
TZ_AVX2_INLINE void join_2(const uint8_t *row, size_t plane, __m256i *v)
{
    const __m256i high = _mm256_permute4x64_epi64(load_full(row), 0xD8);
    const __m256i low = _mm256_permute4x64_epi64(load_full(row + plane), 0xD8);
    v[0] = _mm256_unpacklo_epi8(low, high);
    v[1] = _mm256_unpackhi_epi8(low, high);
}

TZ_AVX2_INLINE void join_4(const uint8_t *row, size_t plane, __m256i *v)
{
    /* Moves units of four samples, so that unpacking, which works within lanes, finds neighbours.
     */
    const __m256i apart = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    const __m256i p0 = _mm256_permutevar8x32_epi32(load_full(row), apart);
    const __m256i p1 = _mm256_permutevar8x32_epi32(load_full(row + plane), apart);
    const __m256i p2 = _mm256_permutevar8x32_epi32(load_full(row + 2 * plane), apart);
    const __m256i p3 = _mm256_permutevar8x32_epi32(load_full(row + 3 * plane), apart);
    const __m256i low0 = _mm256_unpacklo_epi8(p3, p2);
    const __m256i low1 = _mm256_unpackhi_epi8(p3, p2);
    const __m256i high0 = _mm256_unpacklo_epi8(p1, p0);
    const __m256i high1 = _mm256_unpackhi_epi8(p1, p0);
    v[0] = _mm256_unpacklo_epi16(low0, high0);
    v[1] = _mm256_unpackhi_epi16(low0, high0);
    v[2] = _mm256_unpacklo_epi16(low1, high1);
    v[3] = _mm256_unpackhi_epi16(low1, high1);
}

TZ_AVX2_INLINE void join_8(const uint8_t *row, size_t plane, __m256i *v)
{
    __m256i words[8]; /* of two planes each, samples 0 to 7 and 8 to 15 of a lane */
    for (int i = 0; i < 4; i++) {
        const __m256i high = load_full(row + (size_t)(2 * i) * plane);
        const __m256i low = load_full(row + (size_t)(2 * i + 1) * plane);
        words[2 * i] = _mm256_unpacklo_epi8(low, high);
        words[2 * i + 1] = _mm256_unpackhi_epi8(low, high);
    }
    for (int half = 0; half < 2; half++) {
        const __m256i high0 = _mm256_unpacklo_epi16(words[2 + half], words[half]);
        const __m256i high1 = _mm256_unpackhi_epi16(words[2 + half], words[half]);
        const __m256i low0 = _mm256_unpacklo_epi16(words[6 + half], words[4 + half]);
        const __m256i low1 = _mm256_unpackhi_epi16(words[6 + half], words[4 + half]);
        const __m256i joined[4] = {
            _mm256_unpacklo_epi32(low0, high0), _mm256_unpackhi_epi32(low0, high0),
            _mm256_unpacklo_epi32(low1, high1), _mm256_unpackhi_epi32(low1, high1)};
        for (int i = 0; i < 2; i++) {
            const __m256i *pair = joined + 2 * i;
            v[2 * half + i] = _mm256_permute2x128_si256(pair[0], pair[1], 0x20);
            v[2 * half + i + 4] = _mm256_permute2x128_si256(pair[0], pair[1], 0x31);
        }
    }
}

TZ_AVX2_INLINE void join_planes(const uint8_t *row, size_t plane, __m256i *v, unsigned width)
{
    if (width == 2)
        join_2(row, plane, v);
    else if (width == 4)
        join_4(row, plane, v);
    else
        join_8(row, plane, v);
}

/* Adds up the bytes of a plane by sample of the pixel, modulo 256. */
TZ_AVX2_INLINE void add_plane(const uint8_t *plane, size_t size, uint32_t stride, uint8_t *totals)
{
    const size_t step = VECTOR / stride * stride; /* the rest of a register is not used */
    uint8_t columns[VECTOR];
    __m256i sum = _mm256_setzero_si256();
    size_t at = 0;
    for (; at + VECTOR <= size; at += step)
        sum = _mm256_add_epi8(sum, load_full(plane + at));
    store_full(columns, sum);
    for (uint32_t s = 0; s < stride; s++) {
        for (size_t i = s; i < step; i += stride)
            totals[s] = (uint8_t)(totals[s] + columns[i]);
        for (size_t i = at + s; i < size; i += stride)
            totals[s] = (uint8_t)(totals[s] + plane[i]);
    }
}

/* Returns the carry before the first pixel: in every byte of a sample, the total of the planes
 * before that byte. */
TZ_AVX2_INLINE __m256i first_carry(const uint8_t *row, size_t count, unsigned width,
                                   uint32_t stride)
{
    const size_t pixel_bytes = (size_t)width * stride;
    uint8_t totals[VECTOR] = {0};
    uint8_t carry[VECTOR] = {0};
    for (unsigned plane = 1; plane < width; plane++) {
        add_plane(row + (plane - 1) * count, count, stride, totals);
        for (uint32_t s = 0; s < stride; s++)
            carry[s * width + (width - 1 - plane)] = totals[s];
    }
    for (size_t i = pixel_bytes; pixel_repeats(pixel_bytes) && i < LANE; i++)
        carry[i] = carry[i - pixel_bytes];
    return pixel_repeats(pixel_bytes) ? load_twice(carry) : load_full(carry);
}

/* A load at VECTOR - n is a mask of the first n bytes. */
static const uint8_t first_bytes[2 * VECTOR] = {
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};

/* Folds the sums of a plane to the totals of stride (1, 2 or 4) samples, in the first bytes. */
TZ_AVX2_INLINE __m128i fold_sum(__m256i sum, uint32_t stride)
{
    __m128i v = _mm_add_epi8(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    v = _mm_add_epi8(v, _mm_srli_si128(v, 8));
    v = _mm_add_epi8(v, _mm_srli_si128(v, 4));
    if (stride <= 2)
        v = _mm_add_epi8(v, _mm_srli_si128(v, 2));
    if (stride <= 1)
        v = _mm_add_epi8(v, _mm_srli_si128(v, 1));
    return v;
}

/* Does the same as first_carry for a stride of 1, 2 or 4: adds up all planes but the last in one
 * pass, and joins their totals like samples. */
TZ_AVX2_INLINE __m256i first_carry_fused(const uint8_t *row, size_t count, unsigned width,
                                         unsigned pixel_bytes)
{
    __m256i sums[8];
    __m128i before[8];
    for (unsigned p = 0; p < width; p++)
        sums[p] = _mm256_setzero_si256();
    size_t at = 0;
    for (; at + VECTOR <= count; at += VECTOR) {
        for (unsigned p = 0; p + 1 < width; p++)
            sums[p] = _mm256_add_epi8(sums[p], load_full(row + p * count + at));
    }
    if (at < count) {
        const __m256i rest = load_full(first_bytes + VECTOR - (count - at));
        for (unsigned p = 0; p + 1 < width; p++)
            sums[p] =
                _mm256_add_epi8(sums[p], _mm256_and_si256(rest, load_full(row + p * count + at)));
    }
    before[0] = _mm_setzero_si128();
    for (unsigned p = 1; p < width; p++)
        before[p] = _mm_add_epi8(before[p - 1], fold_sum(sums[p - 1], pixel_bytes / width));
    /* Joins pairs of planes, then pairs of pairs: the lower byte first. */
    for (unsigned pairs = width / 2, bytes = 1; pairs > 0; pairs /= 2, bytes *= 2) {
        for (unsigned i = 0; i < pairs; i++)
            before[i] = bytes == 1   ? _mm_unpacklo_epi8(before[2 * i + 1], before[2 * i])
                        : bytes == 2 ? _mm_unpacklo_epi16(before[2 * i + 1], before[2 * i])
                                     : _mm_unpacklo_epi32(before[2 * i + 1], before[2 * i]);
    }
    const __m128i repeat = _mm_sub_epi8(load_half(last_pixels[pixel_bytes]),
                                        _mm_set1_epi8((int8_t)(LANE - pixel_bytes)));
    return _mm256_broadcastsi128_si256(_mm_shuffle_epi8(before[0], repeat));
}

/* Sums pixels of 2, 4, 8 or 16 bytes in the registers in which they were joined. */
TZ_AVX2_INLINE void unpredict3_step(const uint8_t *row, size_t count, uint8_t *out, __m256i *carry,
                                    __m256i last, unsigned width, unsigned pixel_bytes)
{
    __m256i v[8];
    join_planes(row, count, v, width);
    for (unsigned i = 0; i < width; i++)
        store_full(out + 32 * i, sum_block(v[i], carry, last, 1, pixel_bytes));
}

TZ_AVX2_INLINE void unpredict3_fused(const uint8_t *row, uint8_t *out, size_t count, size_t wanted,
                                     unsigned width, unsigned pixel_bytes)
{
    const __m256i last = load_twice(last_pixels[pixel_bytes]);
    __m256i carry = first_carry_fused(row, count, width, pixel_bytes);
    size_t at = 0;
    for (; at + 32 <= wanted; at += 32)
        unpredict3_step(row + at, count, out + at * width, &carry, last, width, pixel_bytes);
    if (at < wanted) {
        uint8_t end[32 * 8];
        unpredict3_step(row + at, count, end, &carry, last, width, pixel_bytes);
        memcpy(out + at * width, end, (wanted - at) * width);
    }
}

/* Bytes that are joined, then summed, while they are in the first-level cache. */
enum { JOINED = 2048 };

TZ_AVX2_INLINE void unpredict3_chunks(const uint8_t *row, uint8_t *out, size_t count, size_t wanted,
                                      unsigned width, uint32_t stride)
{
    const size_t pixel_bytes = (size_t)width * stride;
    const size_t chunk = JOINED / (32 * pixel_bytes) * (32 * stride);
    uint8_t joined[JOINED + VECTOR];
    __m256i carry = first_carry(row, count, width, stride);
    for (size_t at = 0; at < wanted; at += chunk) {
        const size_t some = tz_min_size(wanted - at, chunk);
        for (size_t i = 0; i < some; i += 32) {
            __m256i v[8];
            join_planes(row + at + i, count, v, width);
            for (unsigned k = 0; k < width; k++)
                store_full(joined + i * width + 32 * k, v[k]);
        }
        carry =
            pixel_repeats(pixel_bytes)
                ? sum_functions[1][pixel_bytes](joined, out + at * width, some * width, carry,
                                                false)
                : sum_medium(joined, out + at * width, some * width, carry, 1, pixel_bytes, false);
    }
}

/* Strides of 1 and 2, and 4 of samples of up to four bytes, fill lanes with whole pixels. */
#define TZ_AVX2_UNPREDICT3(width)                                                                  \
    TZ_AVX2 __attribute__((noinline)) static void unpredict3_##width##_one(                        \
        const uint8_t *row, uint8_t *out, size_t count, size_t wanted)                             \
    {                                                                                              \
        unpredict3_fused(row, out, count, wanted, width, width);                                   \
    }                                                                                              \
    TZ_AVX2 __attribute__((noinline)) static void unpredict3_##width##_two(                        \
        const uint8_t *row, uint8_t *out, size_t count, size_t wanted)                             \
    {                                                                                              \
        unpredict3_fused(row, out, count, wanted, width, 2 * (width));                             \
    }                                                                                              \
    TZ_AVX2 __attribute__((noinline)) static void unpredict3_##width##_any(                        \
        const uint8_t *row, uint8_t *out, size_t count, size_t wanted, uint32_t stride)            \
    {                                                                                              \
        if (stride == 4 && (width) < 8)                                                            \
            unpredict3_fused(row, out, count, wanted, width, (width) < 8 ? 4 * (width) : 8);       \
        else                                                                                       \
            unpredict3_chunks(row, out, count, wanted, width, stride);                             \
    }                                                                                              \
    static void unpredict3_##width(const uint8_t *row, uint8_t *out, size_t count, size_t wanted,  \
                                   uint32_t stride)                                                \
    {                                                                                              \
        if (stride == 1)                                                                           \
            unpredict3_##width##_one(row, out, count, wanted);                                     \
        else if (stride == 2)                                                                      \
            unpredict3_##width##_two(row, out, count, wanted);                                     \
        else                                                                                       \
            unpredict3_##width##_any(row, out, count, wanted, stride);                             \
    }
TZ_AVX2_UNPREDICT3(2)
TZ_AVX2_UNPREDICT3(4)
TZ_AVX2_UNPREDICT3(8)

void tz_avx2_unpredict3(uint8_t *row, uint8_t *out, size_t count, size_t wanted, unsigned width,
                        uint32_t stride)
{
    if ((size_t)width * stride > VECTOR)
        tz_scalar_unpredict3(row, out, count, wanted, width, stride);
    else if (width == 2)
        unpredict3_2(row, out, count, wanted, stride);
    else if (width == 4)
        unpredict3_4(row, out, count, wanted, stride);
    else
        unpredict3_8(row, out, count, wanted, stride);
}

/* ---- byte order ---- */

#define TZ_SWAP_WORDS(name, word)                                                                  \
    TZ_AVX2 void tz_avx2_swap_##name(const uint8_t *row, uint8_t *out, size_t count)               \
    {                                                                                              \
        const __m256i order = load_twice(swap_orders[word]);                                       \
        const size_t size = count * (word);                                                        \
        size_t at = 0;                                                                             \
        for (; at + VECTOR <= size; at += VECTOR)                                                  \
            store_full(out + at, _mm256_shuffle_epi8(load_full(row + at), order));                 \
        tz_swap_row_##name(row + at, out + at, (size - at) / (word));                              \
    }
TZ_SWAP_WORDS(u16, 2)
TZ_SWAP_WORDS(u32, 4)
TZ_SWAP_WORDS(u64, 8)

#endif
