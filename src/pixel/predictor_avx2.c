/* SPDX-License-Identifier: Apache-2.0
 * Predictors and byte order with AVX2. */
#include "pixel/row_ops.h"

#if defined(__x86_64__)
#include "kernels/unpack.h"
#include "pixel/sums_avx2.h"

/* ---- predictor 2 ---- */

enum { LARGEST_KEPT = 1024 };

/* Pixels of more than 32 bytes, a register at a time: what is added is behind by one pixel. It is
 * kept apart where it would have to be read from stores that are still on their way. */
TZ_AVX2_INLINE void sum_large(const uint8_t *row, uint8_t *out, size_t size, unsigned word,
                              size_t group, bool swap)
{
    const __m256i order = load_twice(swap_orders[swap ? word : 1]);
    const bool keep = group <= LARGEST_KEPT;
    uint8_t kept[LARGEST_KEPT + VECTOR] = {0};
    for (size_t pixel = 0; pixel < size; pixel += group) {
        for (size_t i = 0; i < group; i += VECTOR) {
            const size_t at = pixel + i;
            __m256i v = _mm256_shuffle_epi8(load_full(row + at), order);
            if (keep) {
                v = add_words(v, load_full(kept + i), word);
                store_full(kept + i, v);
            } else if (pixel > 0) {
                v = add_words(v, load_full(out + at - group), word);
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

#define TZ_UNDO2(name, word)                                                                       \
    TZ_AVX2 void tz_avx2_undo2_##name(const uint8_t *row, uint8_t *out, size_t count,              \
                                      uint32_t stride, bool swap)                                  \
    {                                                                                              \
        const size_t group = (size_t)stride * (word);                                              \
        if (group > VECTOR)                                                                        \
            sum_large(row, out, count *(word), word, group, swap && (word) > 1);                   \
        else                                                                                       \
            sum_groups(row, out, count *(word), _mm256_setzero_si256(), word, group,               \
                       swap && (word) > 1);                                                        \
    }
TZ_UNDO2(u8, 1)
TZ_UNDO2(u16, 2)
TZ_UNDO2(u32, 4)
TZ_UNDO2(u64, 8)

/* ---- predictor 3 ---- */

/* Byte planes are joined to samples first, and the sums taken over those: fewer steps than sums
 * over bytes. For that, each plane has to know what the planes before it add up to. */

/* 32 samples of width bytes, as width registers, from planes that lie plane bytes apart, the
 * highest first. */
TZ_AVX2_INLINE void join_2(const uint8_t *row, size_t plane, __m256i *v)
{
    const __m256i high = _mm256_permute4x64_epi64(load_full(row), 0xD8);
    const __m256i low = _mm256_permute4x64_epi64(load_full(row + plane), 0xD8);
    v[0] = _mm256_unpacklo_epi8(low, high);
    v[1] = _mm256_unpackhi_epi8(low, high);
}

TZ_AVX2_INLINE void join_4(const uint8_t *row, size_t plane, __m256i *v)
{
    /* In units of four samples, so that what the unpacking takes from both lanes are neighbours. */
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

TZ_AVX2_INLINE void join(const uint8_t *row, size_t plane, __m256i *v, unsigned width)
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
    const size_t step = VECTOR / stride * stride;
    uint8_t sums[VECTOR];
    __m256i sum = _mm256_setzero_si256();
    size_t at = 0;
    for (; at + VECTOR <= size; at += step)
        sum = _mm256_add_epi8(sum, load_full(plane + at));
    if (stride == 1) {
        const __m256i parts = _mm256_sad_epu8(sum, _mm256_setzero_si256());
        const __m128i pair =
            _mm_add_epi64(_mm256_castsi256_si128(parts), _mm256_extracti128_si256(parts, 1));
        totals[0] = (uint8_t)(totals[0] + _mm_cvtsi128_si32(pair) +
                              _mm_cvtsi128_si32(_mm_srli_si128(pair, 8)));
    } else {
        store_full(sums, sum);
        for (size_t i = 0; i < step; i += stride)
            for (uint32_t s = 0; s < stride; s++)
                totals[s] = (uint8_t)(totals[s] + sums[i + s]);
    }
    for (; at < size; at += stride)
        for (uint32_t s = 0; s < stride; s++)
            totals[s] = (uint8_t)(totals[s] + plane[at + s]);
}

/* What stands before the first pixel: in every byte of a sample, the total of the planes above. */
TZ_AVX2_INLINE __m256i first_carry(const uint8_t *row, size_t count, unsigned width,
                                   uint32_t stride)
{
    const size_t group = (size_t)width * stride;
    uint8_t totals[VECTOR] = {0};
    uint8_t carry[VECTOR] = {0};
    for (unsigned plane = 1; plane < width; plane++) {
        add_plane(row + (plane - 1) * count, count, stride, totals);
        for (uint32_t s = 0; s < stride; s++)
            carry[s * width + (width - 1 - plane)] = totals[s];
    }
    if (group_repeats(group)) {
        for (size_t i = group; i < LANE; i++)
            carry[i] = carry[i - group];
        return load_twice(carry);
    }
    return load_full(carry);
}

/* Pixels of 2, 4, 8 or 16 bytes are summed in the registers they were joined in. */
TZ_AVX2_INLINE void undo3_fused(const uint8_t *row, uint8_t *out, size_t count, size_t wanted,
                                unsigned width, unsigned group)
{
    const __m256i last = load_twice(last_groups[group]);
    __m256i carry = first_carry(row, count, width, group / width);
    for (size_t at = 0; at < wanted; at += 32) {
        uint8_t end[32 * 8];
        uint8_t *to = wanted - at >= 32 ? out + at * width : end;
        __m256i v[8];
        join(row + at, count, v, width);
        for (unsigned i = 0; i < width; i++)
            store_full(to + 32 * i, sum_block(v[i], &carry, last, 1, group));
        if (to == end)
            memcpy(out + at * width, end, (wanted - at) * width);
    }
}

enum { JOINED = 2048 }; /* bytes that are joined, then summed */

TZ_AVX2_INLINE void undo3_chunks(const uint8_t *row, uint8_t *out, size_t count, size_t wanted,
                                 unsigned width, uint32_t stride)
{
    const size_t group = (size_t)width * stride;
    const size_t chunk = JOINED / (32 * group) * (32 * stride);
    uint8_t joined[JOINED + VECTOR];
    __m256i carry = first_carry(row, count, width, stride);
    for (size_t at = 0; at < wanted; at += chunk) {
        const size_t some = wanted - at < chunk ? wanted - at : chunk;
        for (size_t i = 0; i < some; i += 32) {
            __m256i v[8];
            join(row + at + i, count, v, width);
            for (unsigned k = 0; k < width; k++)
                store_full(joined + i * width + 32 * k, v[k]);
        }
        carry = sum_groups(joined, out + at * width, some * width, carry, 1, group, false);
    }
}

TZ_AVX2_INLINE void undo3(const uint8_t *row, uint8_t *out, size_t count, size_t wanted,
                          unsigned width, uint32_t stride)
{
    if (stride == 1)
        undo3_fused(row, out, count, wanted, width, width);
    else if (stride == 2)
        undo3_fused(row, out, count, wanted, width, 2 * width);
    else if (stride == 4 && width < 8)
        undo3_fused(row, out, count, wanted, width, 4 * width);
    else
        undo3_chunks(row, out, count, wanted, width, stride);
}

TZ_AVX2 void tz_avx2_undo3(uint8_t *row, uint8_t *out, size_t count, size_t wanted, unsigned width,
                           uint32_t stride)
{
    if ((size_t)width * stride > VECTOR)
        tz_plain_undo3(row, out, count, wanted, width, stride);
    else if (width == 2)
        undo3(row, out, count, wanted, 2, stride);
    else if (width == 4)
        undo3(row, out, count, wanted, 4, stride);
    else
        undo3(row, out, count, wanted, 8, stride);
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
