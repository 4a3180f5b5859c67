/* SPDX-License-Identifier: Apache-2.0
 * Samples to odd widths, and NaN, with AVX2. */
#include "pixel/row_ops.h"

#if defined(__x86_64__)
#include "kernels/nan.h"
#include "pixel/avx2.h"

/* ---- one bit ---- */

/* 32 samples. A mask of bytes has its first bit lowest, so bytes are turned round first. */
TZ_AVX2_INLINE void pack_bits(const uint8_t *row, uint8_t *out)
{
    const __m256i bits =
        _mm256_slli_epi16(_mm256_shuffle_epi8(load_full(row), load_twice(swap_orders[8])), 7);
    const int mask = _mm256_movemask_epi8(bits);
    memcpy(out, &mask, sizeof mask);
}

/* ---- up to 14 bits ---- */

/* Eight samples are one lane, and become bits bytes: two, then four of them are put together, and
 * both fours moved to the front. */
typedef struct bit_moves {
    __m256i kept;     /* low bits of a word */
    __m256i weights;  /* of two words */
    __m128i pair;     /* bits of two words */
    __m256i to_top;   /* how far four words are from the top of their half */
    __m256i front[2]; /* where the bytes of the first and the second four go */
} bit_moves;

TZ_AVX2_INLINE bit_moves find_moves(unsigned bits)
{
    const int64_t away = 64 - 4 * (int64_t)bits;
    const int64_t half = bits % 2 * 4; /* the second four may begin in the middle of a byte */
    uint8_t front[2][LANE];
    for (unsigned i = 0; i < LANE; i++) {
        const unsigned second = i - bits / 2;
        front[0][i] = (uint8_t)(i < 8 ? 7 - i : 0x80);
        front[1][i] = (uint8_t)(i >= bits / 2 && second < 8 ? 15 - second : 0x80);
    }
    return (bit_moves){.kept = _mm256_set1_epi16((int16_t)((1 << bits) - 1)),
                       .weights = _mm256_set1_epi32(1 << bits | 1 << 16),
                       .pair = _mm_cvtsi32_si128((int)(2 * bits)),
                       .to_top = _mm256_setr_epi64x(away, away - half, away, away - half),
                       .front = {load_twice(front[0]), load_twice(front[1])}};
}

/* 16 samples to 2 * bits bytes; writes more, but less than a sample's size times 16 in all. */
TZ_AVX2_INLINE void pack_block(const uint8_t *row, uint8_t *out, const bit_moves *m, unsigned bits,
                               size_t size)
{
    const __m256i low = _mm256_set1_epi64x(0xffffffff);
    const __m256i words = size == 1 ? _mm256_cvtepu8_epi16(load_half(row)) : load_full(row);
    const __m256i pairs = _mm256_madd_epi16(_mm256_and_si256(words, m->kept), m->weights);
    const __m256i fours = _mm256_or_si256(_mm256_sll_epi64(_mm256_and_si256(pairs, low), m->pair),
                                          _mm256_srli_epi64(pairs, 32));
    const __m256i top = _mm256_sllv_epi64(fours, m->to_top);
    const __m256i v = _mm256_or_si256(_mm256_shuffle_epi8(top, m->front[0]),
                                      _mm256_shuffle_epi8(top, m->front[1]));
    if (size == 1) {
        _mm_storel_epi64((__m128i *)(void *)out, _mm256_castsi256_si128(v));
        _mm_storel_epi64((__m128i *)(void *)(out + bits), _mm256_extracti128_si256(v, 1));
    } else {
        store_half(out, _mm256_castsi256_si128(v));
        store_half(out + bits, _mm256_extracti128_si256(v, 1));
    }
}

/* ---- rows ---- */

TZ_AVX2_INLINE void pack_32(const uint8_t *row, uint8_t *out, const bit_moves *m, unsigned bits,
                            size_t size)
{
    if (bits == 1 && size == 1) {
        pack_bits(row, out);
    } else {
        pack_block(row, out, m, bits, size);
        pack_block(row + 16 * size, out + 2 * (size_t)bits, m, bits, size);
    }
}

/* What a block writes too much is overwritten by the next one. Where there may be no next one,
 * samples are packed aside. */
TZ_AVX2_INLINE void pack_row(const uint8_t *row, uint8_t *out, size_t count, unsigned bits,
                             size_t size)
{
    enum { MAX_SIZE = 2 };
    const bit_moves moves = find_moves(bits);
    uint8_t in[64 * MAX_SIZE] = {0};
    uint8_t end[64 * MAX_SIZE + LANE];
    for (; count >= 64; count -= 32, row += 32 * size, out += 4 * (size_t)bits)
        pack_32(row, out, &moves, bits, size);
    memcpy(in, row, count * size);
    pack_32(in, end, &moves, bits, size);
    pack_32(in + 32 * size, end + 4 * (size_t)bits, &moves, bits, size);
    memcpy(out, end, (count * bits + 7) / 8);
}

TZ_AVX2 void tz_avx2_pack(const uint8_t *row, uint8_t *out, size_t count, unsigned bits,
                          size_t size)
{
    if (bits > 14 || size > 2)
        tz_scalar_pack(row, out, count, bits, size);
    else if (bits == 1 && size == 1)
        pack_row(row, out, count, 1, 1);
    else if (size == 1)
        pack_row(row, out, count, bits, 1);
    else
        pack_row(row, out, count, bits, 2);
}

/* ---- NaN ---- */

/* The plain loops, which compilers turn into these instructions by themselves. */
#define TZ_REPLACE_NAN(name)                                                                       \
    TZ_AVX2 void tz_avx2_replace_nan_##name(uint8_t *row, size_t count, const uint8_t *value)      \
    {                                                                                              \
        tz_replace_nan_##name(row, count, tz_load_##name(value));                                  \
    }
TZ_REPLACE_NAN(u16)
TZ_REPLACE_NAN(u32)
TZ_REPLACE_NAN(u64)

#endif
