/* SPDX-License-Identifier: Apache-2.0
 * Predictors applied on the way to a file, with AVX2.
 *
 * Predictor 2 is the difference to the pixel before, in words, and predictor 3 the difference in
 * bytes after the samples of a row were split into byte planes. Differences need no carry: all
 * pixels of a register are subtracted at once, from loads one pixel apart. */
#include "pixel/row_ops.h"

#if defined(__x86_64__)
#include "base/minmax.h"
#include "kernels/predictor.h"
#include "pixel/avx2.h"

TZ_AVX2_INLINE __m256i subtract_words(__m256i a, __m256i b, unsigned word)
{
    return word == 1   ? _mm256_sub_epi8(a, b)
           : word == 2 ? _mm256_sub_epi16(a, b)
           : word == 4 ? _mm256_sub_epi32(a, b)
                       : _mm256_sub_epi64(a, b);
}

/* ---- predictor 2 ---- */

/* For pixels of up to a register. The subtrahend of a register lies one pixel before it; that of
 * the next register is loaded before this one is stored, so that out may be row. */
TZ_AVX2_INLINE void differences_small(const uint8_t *row, uint8_t *out, size_t size, unsigned word,
                                      size_t pixel_bytes, bool swap)
{
    const __m256i order = load_twice(swap_orders[word]);
    uint8_t front[2 * VECTOR] = {0}; /* nothing stands before the first pixel */
    uint8_t end[VECTOR];
    store_full(front + VECTOR, load_full(row));
    __m256i before = load_full(front + VECTOR - pixel_bytes);
    const uint8_t *next = row + VECTOR - pixel_bytes;
    size_t at = 0;
    _Pragma("GCC unroll 4") for (; at + VECTOR <= size; at += VECTOR)
    {
        const __m256i v = subtract_words(load_full(row + at), before, word);
        before = load_full(next + at);
        store_full(out + at, swap ? _mm256_shuffle_epi8(v, order) : v);
    }
    const __m256i last = subtract_words(load_full(row + at), before, word);
    store_full(end, swap ? _mm256_shuffle_epi8(last, order) : last);
    memcpy(out + at, end, size - at);
}

/* For larger pixels, from the end to the front, so that out may be row. Returns the bytes left. */
TZ_AVX2_INLINE size_t differences_large(const uint8_t *row, uint8_t *out, size_t size,
                                        unsigned word, size_t pixel_bytes, bool swap)
{
    const __m256i order = load_twice(swap_orders[swap ? word : 1]);
    while (size >= pixel_bytes + VECTOR) {
        size -= VECTOR;
        const __m256i v =
            subtract_words(load_full(row + size), load_full(row + size - pixel_bytes), word);
        store_full(out + size, _mm256_shuffle_epi8(v, order));
    }
    return size;
}

#define TZ_AVX2_PREDICT2(name, word)                                                               \
    TZ_AVX2 void tz_avx2_predict2_##name(const uint8_t *row, uint8_t *out, size_t count,           \
                                         uint32_t stride, bool swap)                               \
    {                                                                                              \
        const size_t pixel_bytes = (size_t)stride * (word);                                        \
        if (pixel_bytes > VECTOR)                                                                  \
            tz_predict2_##name(                                                                    \
                row, out,                                                                          \
                differences_large(row, out, count *(word), word, pixel_bytes, swap) / (word),      \
                stride, swap);                                                                     \
        else if (swap && (word) > 1)                                                               \
            differences_small(row, out, count *(word), word, pixel_bytes, true);                   \
        else                                                                                       \
            differences_small(row, out, count *(word), word, pixel_bytes, false);                  \
    }
TZ_AVX2_PREDICT2(u8, 1)
TZ_AVX2_PREDICT2(u16, 2)
TZ_AVX2_PREDICT2(u32, 4)
TZ_AVX2_PREDICT2(u64, 8)

/* ---- predictor 3 ---- */

enum { BLOCK = 32, WIDEST = 8 };

/* Splits the words of two registers into a plane of high bytes and one of low bytes. */
TZ_AVX2_INLINE void split_words(__m256i a, __m256i b, uint8_t *out, size_t plane)
{
    const __m256i low = _mm256_set1_epi16(0xff);
    store_full(out, _mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8)));
    store_full(out + plane,
               _mm256_packus_epi16(_mm256_and_si256(a, low), _mm256_and_si256(b, low)));
}

TZ_AVX2_INLINE void split_longs(const __m256i *v, uint8_t *out, size_t plane)
{
    const __m256i low = _mm256_set1_epi32(0xffff);
    __m256i words[4]; /* high halves, then low halves */
    for (int i = 0; i < 2; i++) {
        const __m256i a = v[2 * i];
        const __m256i b = v[2 * i + 1];
        words[i] = _mm256_packus_epi32(_mm256_srli_epi32(a, 16), _mm256_srli_epi32(b, 16));
        words[2 + i] = _mm256_packus_epi32(_mm256_and_si256(a, low), _mm256_and_si256(b, low));
    }
    split_words(words[0], words[1], out, plane);
    split_words(words[2], words[3], out + 2 * plane, plane);
}

TZ_AVX2_INLINE __m256i pick_longs(__m256i a, __m256i b, bool high)
{
    const __m256 x = _mm256_castsi256_ps(a);
    const __m256 y = _mm256_castsi256_ps(b);
    return _mm256_castps_si256(high ? _mm256_shuffle_ps(x, y, 0xDD)
                                    : _mm256_shuffle_ps(x, y, 0x88));
}

TZ_AVX2_INLINE void split_doubles(const __m256i *v, uint8_t *out, size_t plane)
{
    __m256i longs[4];
    for (int i = 0; i < 4; i++)
        longs[i] = pick_longs(v[2 * i], v[2 * i + 1], true);
    split_longs(longs, out, plane);
    for (int i = 0; i < 4; i++)
        longs[i] = pick_longs(v[2 * i], v[2 * i + 1], false);
    split_longs(longs, out + 4 * plane, plane);
}

/* Splits 32 samples into planes. Those of the pixel before are subtracted byte by byte before the
 * bytes are sorted, which gives the same as after it. The first half of the samples is in the low
 * lanes, so that packing leaves them in order. */
TZ_AVX2_INLINE void split_planes_block(const uint8_t *p, size_t pixel_bytes, uint8_t *out,
                                       size_t plane, unsigned width)
{
    __m256i v[WIDEST];
    for (size_t i = 0; i < width; i++) {
        const uint8_t *q = p + LANE * i;
        const size_t half = (size_t)LANE * width;
        v[i] = _mm256_sub_epi8(load_lanes(q, q + half),
                               load_lanes(q - pixel_bytes, q + half - pixel_bytes));
    }
    if (width == 2)
        split_words(v[0], v[1], out, plane);
    else if (width == 4)
        split_longs(v, out, plane);
    else
        split_doubles(v, out, plane);
}

/* Splits the first or the last block of a row, samples at to at + some, through buffers: the pixel
 * before the first one is 0, and the last block may be short. */
TZ_AVX2_INLINE void split_edge(const uint8_t *row, size_t at, size_t some, size_t pixel_bytes,
                               uint8_t *out, size_t plane, unsigned width)
{
    uint8_t in[2 * BLOCK * WIDEST];
    uint8_t planes[BLOCK * WIDEST];
    const size_t before = at > 0 ? pixel_bytes : 0;
    memset(in, 0, 2 * BLOCK * (size_t)width);
    memcpy(in + pixel_bytes - before, row + at * width - before, before + some * width);
    split_planes_block(in + pixel_bytes, pixel_bytes, planes, BLOCK, width);
    for (size_t p = 0; p < width; p++)
        memcpy(out + p * plane + at, planes + p * BLOCK, some);
}

/* Corrects the first pixel of each plane: the pixel before it is the last of the plane before. */
static void join_differences(const uint8_t *row, uint8_t *out, size_t count, unsigned width,
                             uint32_t stride)
{
    const uint8_t *last = row + (count - stride) * width;
    for (size_t p = 1; p < width; p++) {
        for (size_t s = 0; s < stride; s++) {
            uint8_t *byte = out + p * count + s;
            *byte = (uint8_t)(*byte - last[s * width + width - p]);
        }
    }
}

TZ_AVX2_INLINE void split_row(const uint8_t *row, uint8_t *out, size_t count, unsigned width,
                              uint32_t stride)
{
    const size_t pixel_bytes = (size_t)width * stride;
    split_edge(row, 0, tz_min_size(count, BLOCK), pixel_bytes, out, count, width);
    size_t at = BLOCK;
    for (; at + BLOCK <= count; at += BLOCK)
        split_planes_block(row + at * width, pixel_bytes, out + at, count, width);
    if (at < count)
        split_edge(row, at, count - at, pixel_bytes, out, count, width);
    join_differences(row, out, count, width, stride);
}

TZ_AVX2 void tz_avx2_predict3(const uint8_t *row, uint8_t *out, size_t count, unsigned width,
                              uint32_t stride)
{
    if (stride > BLOCK || count == 0)
        tz_scalar_predict3(row, out, count, width, stride);
    else if (width == 2)
        split_row(row, out, count, 2, stride);
    else if (width == 4)
        split_row(row, out, count, 4, stride);
    else
        split_row(row, out, count, 8, stride);
}

#endif
