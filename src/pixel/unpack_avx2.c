/* SPDX-License-Identifier: Apache-2.0
 * Samples of odd widths with AVX2. */
#include "pixel/row_ops.h"

#if defined(__x86_64__)
#include "pixel/avx2.h"

/* ---- 1, 2 and 4 bits to bytes, 32 samples at a time ---- */

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

/* A byte in four bytes, each shifted to its own two bits. */
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

/* ---- any width up to 25 bits ---- */

/* Eight samples begin at a byte; each is taken as four bytes, the highest first, and shifted left
 * until nothing stands before it, then right. */
typedef struct bit_offsets {
    uint32_t bytes[8];  /* where they are in the lane */
    uint32_t before[8]; /* bits that stand before the sample */
    size_t high;        /* where the high lane starts */
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

/* 32 samples, from bits * 4 bytes, to 32 * size bytes. */
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
    const __m128i behind = _mm_cvtsi32_si128((int)(32 - bits));
    for (size_t done = 0; done < count; done += 32, row += 4 * (size_t)bits, out += 32 * size) {
        uint8_t end[32 * 4];
        uint8_t *to = count - done >= 32 ? out : end;
        __m256i v[4];
        for (size_t i = 0; i < 4; i++) {
            const size_t first = done + 8 * i < count ? i * bits : 0;
            const uint8_t *p = row + first;
            v[i] = _mm256_shuffle_epi8(load_lanes(p, p + offsets.high), bytes);
            v[i] = _mm256_sllv_epi32(v[i], before);
            v[i] = sign ? _mm256_sra_epi32(v[i], behind) : _mm256_srl_epi32(v[i], behind);
        }
        store_unpacked(to, v, size, sign);
        if (to == end)
            memcpy(out, end, (count - done) * size);
    }
}

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

#endif
