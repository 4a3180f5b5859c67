/* SPDX-License-Identifier: Apache-2.0
 * Samples of odd widths with AVX2, from a file and to a file; and NaN.
 *
 * Both ways work on blocks of 32 samples, which are 4 * bits bytes and so begin at a byte. Widths
 * of 1, 2 and 4 bits have loops of their own. For any other width a table of byte positions and
 * shifts, made once for a row, serves all its blocks. The last block of a row goes through a buffer
 * on the stack, because nothing may be written past the row. */
#include "pixel/row_ops.h"

#if defined(__x86_64__)
#include "kernels/nan.h"
#include "pixel/avx2.h"

/* ---- from a file: 1, 2 and 4 bits to bytes, 32 samples at a time ---- */

/* Repeats each byte eight times and tests one bit in each copy; a bit that is 0 gives -1, plus 1.
 */
TZ_AVX2_INLINE __m256i unpack_1(const uint8_t *row)
{
    const __m256i repeat =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x(0x0102040810204080);
    int32_t word;
    memcpy(&word, row, sizeof word);
    const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(word), repeat);
    const __m256i zero = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), _mm256_setzero_si256());
    return _mm256_add_epi8(zero, _mm256_set1_epi8(1));
}

/* Widens each byte to four bytes, each shifted to its own two bits. */
TZ_AVX2_INLINE __m256i unpack_2(const uint8_t *row)
{
    const __m256i x = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)row));
    const __m256i even = _mm256_or_si256(_mm256_srli_epi32(x, 6), _mm256_slli_epi32(x, 14));
    const __m256i odd = _mm256_or_si256(_mm256_slli_epi32(x, 4), _mm256_slli_epi32(x, 24));
    return _mm256_and_si256(_mm256_or_si256(even, odd), _mm256_set1_epi8(3));
}

TZ_AVX2_INLINE __m256i unpack_4(const uint8_t *row)
{
    const __m256i x = _mm256_cvtepu8_epi16(load_half(row));
    const __m256i pair = _mm256_or_si256(_mm256_srli_epi16(x, 4), _mm256_slli_epi16(x, 8));
    return _mm256_and_si256(pair, _mm256_set1_epi8(15));
}

TZ_AVX2_INLINE void unpack_small(const uint8_t *row, uint8_t *out, size_t count, unsigned bits)
{
    for (size_t done = 0; done < count; done += 32, row += bits * 4, out += 32) {
        const __m256i v = bits == 1 ? unpack_1(row) : bits == 2 ? unpack_2(row) : unpack_4(row);
        if (count - done >= 32) {
            store_full(out, v);
        } else {
            uint8_t end[32];
            store_full(end, v);
            memcpy(out, end, count - done);
        }
    }
}

/* ---- from a file: any width up to 25 bits ---- */

/* Eight samples begin at a byte. Each is loaded as a word of four bytes, the highest first, and
 * shifted left until its own bits are at the top, then right. 25 bits and up to 7 before them fill
 * a word. */
typedef struct bit_offsets {
    uint32_t bytes[8];  /* four shuffle indices: positions in the lane */
    uint32_t before[8]; /* bits before the sample in its word */
    size_t high;        /* offset of the high lane */
} bit_offsets;

static bit_offsets find_bit_offsets(unsigned bits)
{
    bit_offsets offsets = {.high = bits / 2};
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t bit = i * bits;
        const uint32_t byte = bit / 8 - (i < 4 ? 0 : bits / 2);
        offsets.bytes[i] = byte * 0x01010101u + 0x00010203u;
        offsets.before[i] = bit % 8;
    }
    return offsets;
}

/* Narrows 32 words to 32 * size bytes; packing works within lanes, so that the order is restored.
 */
TZ_AVX2_INLINE void store_unpacked(uint8_t *out, const __m256i *v, size_t size, bool sign)
{
    const __m256i a = sign ? _mm256_packs_epi32(v[0], v[1]) : _mm256_packus_epi32(v[0], v[1]);
    const __m256i b = sign ? _mm256_packs_epi32(v[2], v[3]) : _mm256_packus_epi32(v[2], v[3]);
    if (size == 4) {
        for (int i = 0; i < 4; i++)
            store_full(out + 32 * i, v[i]);
    } else if (size == 2) {
        store_full(out, _mm256_permute4x64_epi64(a, 0xD8));
        store_full(out + 32, _mm256_permute4x64_epi64(b, 0xD8));
    } else {
        const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        const __m256i bytes = sign ? _mm256_packs_epi16(a, b) : _mm256_packus_epi16(a, b);
        store_full(out, _mm256_permutevar8x32_epi32(bytes, order));
    }
}

TZ_AVX2_INLINE void unpack_any(const uint8_t *row, uint8_t *out, size_t count, unsigned bits,
                               size_t size, bool sign)
{
    const bit_offsets offsets = find_bit_offsets(bits);
    const __m256i bytes = load_full((const uint8_t *)offsets.bytes);
    const __m256i before = load_full((const uint8_t *)offsets.before);
    const __m128i down = _mm_cvtsi32_si128((int)(32 - bits));
    for (size_t done = 0; done < count; done += 32, row += 4 * (size_t)bits, out += 32 * size) {
        uint8_t end[32 * 4];
        uint8_t *to = count - done >= 32 ? out : end;
        __m256i v[4];
        for (size_t i = 0; i < 4; i++) {
            const size_t first = done + 8 * i < count ? i * bits : 0; /* stay in the row's slack */
            const uint8_t *p = row + first;
            v[i] = _mm256_shuffle_epi8(load_lanes(p, p + offsets.high), bytes);
            v[i] = _mm256_sllv_epi32(v[i], before);
            v[i] = sign ? _mm256_sra_epi32(v[i], down) : _mm256_srl_epi32(v[i], down);
        }
        store_unpacked(to, v, size, sign);
        if (to == end)
            memcpy(out, end, (count - done) * size);
    }
}

/* Constants in the calls make a loop for each size. */
TZ_AVX2 void tz_avx2_unpack(const uint8_t *row, uint8_t *out, size_t count, unsigned bits,
                            size_t size, bool sign)
{
    if (bits > 25)
        tz_scalar_unpack(row, out, count, bits, size, sign);
    else if (size == 1 && bits == 1 && !sign)
        unpack_small(row, out, count, 1);
    else if (size == 1 && bits == 2 && !sign)
        unpack_small(row, out, count, 2);
    else if (size == 1 && bits == 4 && !sign)
        unpack_small(row, out, count, 4);
    else if (size == 1)
        unpack_any(row, out, count, bits, 1, sign);
    else if (size == 2)
        unpack_any(row, out, count, bits, 2, sign);
    else
        unpack_any(row, out, count, bits, 4, sign);
}

/* ---- to a file: one bit ---- */

/* Packs 32 samples by movemask, which has the first byte in the lowest bit: bytes are reversed
 * first, as TIFF has the first sample in the highest bit. */
TZ_AVX2_INLINE void pack_bits(const uint8_t *row, uint8_t *out)
{
    const __m256i bits =
        _mm256_slli_epi16(_mm256_shuffle_epi8(load_full(row), load_twice(swap_orders[8])), 7);
    const int mask = _mm256_movemask_epi8(bits);
    memcpy(out, &mask, sizeof mask);
}

/* ---- to a file: up to 14 bits ---- */

/* Eight samples are one lane and become `bits` bytes. Pairs of samples are joined by a
 * multiplication (x * 2^bits + y), pairs of pairs by a shift; then both fours are moved to the
 * front. */
typedef struct bit_moves {
    __m256i kept;     /* mask of the low bits of a word */
    __m256i weights;  /* factors of two words */
    __m128i pair;     /* bits of two samples */
    __m256i to_top;   /* bits above four samples in 64 */
    __m256i front[2]; /* shuffles of the first and of the second four samples */
} bit_moves;

TZ_AVX2_INLINE bit_moves find_moves(unsigned bits)
{
    const int64_t away = 64 - 4 * (int64_t)bits;
    const int64_t half = bits % 2 * 4; /* bits: the second four may begin in the middle of a byte */
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

/* Packs 16 samples to 2 * bits bytes. It writes more, but not past the 16 samples if out is row. */
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

/* The bytes that a block writes too many are overwritten by the next block. The last ones, less
 * than 64, may have no next block, and are packed in a buffer. */
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

/* The scalar loops: with this target the compiler vectorises them. */
#define TZ_REPLACE_NAN(name)                                                                       \
    TZ_AVX2 void tz_avx2_replace_nan_##name(uint8_t *row, size_t count, const uint8_t *value)      \
    {                                                                                              \
        tz_replace_nan_##name(row, count, tz_load_##name(value));                                  \
    }
TZ_REPLACE_NAN(u16)
TZ_REPLACE_NAN(u32)
TZ_REPLACE_NAN(u64)

#endif
