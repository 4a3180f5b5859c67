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

/* ---- any width up to 25 bits, eight samples at a time ---- */

/* Eight samples begin at a byte; each is taken as four bytes, the highest first, and shifted left
 * until nothing stands before it, then right. */
typedef struct bit_places {
    uint32_t bytes[8];  /* where they are in the lane */
    uint32_t before[8]; /* bits that stand before the sample */
    size_t high;        /* where the high lane starts */
} bit_places;

static bit_places find_places(unsigned bits)
{
    bit_places places = {.high = bits / 2};
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t bit = i * bits;
        const uint32_t byte = bit / 8 - (i < 4 ? 0 : bits / 2);
        places.bytes[i] = byte * 0x01010101u + 0x00010203u;
        places.before[i] = bit % 8;
    }
    return places;
}

TZ_AVX2_INLINE void store_eight(uint8_t *out, __m256i v, size_t size, bool sign)
{
    const __m128i low = _mm256_castsi256_si128(v);
    const __m128i high = _mm256_extracti128_si256(v, 1);
    const __m128i words = sign ? _mm_packs_epi32(low, high) : _mm_packus_epi32(low, high);
    if (size == 4)
        store_full(out, v);
    else if (size == 2)
        store_half(out, words);
    else
        _mm_storel_epi64((__m128i *)(void *)out,
                         sign ? _mm_packs_epi16(words, words) : _mm_packus_epi16(words, words));
}

TZ_AVX2_INLINE void unpack_any(const uint8_t *row, uint8_t *out, size_t count, unsigned bits,
                               size_t size, bool sign)
{
    const bit_places places = find_places(bits);
    const __m256i bytes = load_full((const uint8_t *)places.bytes);
    const __m256i before = load_full((const uint8_t *)places.before);
    const __m128i behind = _mm_cvtsi32_si128((int)(32 - bits));
    for (size_t done = 0; done < count; done += 8, row += bits, out += 8 * size) {
        __m256i v = _mm256_shuffle_epi8(load_lanes(row, row + places.high), bytes);
        v = _mm256_sllv_epi32(v, before);
        v = sign ? _mm256_sra_epi32(v, behind) : _mm256_srl_epi32(v, behind);
        if (count - done >= 8) {
            store_eight(out, v, size, sign);
        } else {
            uint8_t end[32];
            store_eight(end, v, size, sign);
            memcpy(out, end, (count - done) * size);
        }
    }
}

TZ_AVX2 void tz_avx2_unpack(const uint8_t *row, uint8_t *out, size_t count, unsigned bits,
                            size_t size, bool sign)
{
    if (bits > 25)
        tz_plain_unpack(row, out, count, bits, size, sign);
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
