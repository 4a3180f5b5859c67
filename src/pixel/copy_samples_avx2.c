/* SPDX-License-Identifier: Apache-2.0
 * One band copied out of pixels of two, three or four, with AVX2. The other direction stays a
 * scalar loop: the bytes between belong to other bands, which other threads may be writing. */
#include "pixel/row_ops.h"

#if defined(__x86_64__)
#include "pixel/avx2.h"

/* Sixteen bytes of a band come from `step` loads of sixteen bytes, each shuffled by PICKS. Byte j
 * of the band is at SOURCE, counted from the band's first; load k begins at BEGIN, the last one as
 * early as it can, so that nothing is read after the last byte of the band. */
#define SOURCE(j, size, step) ((j) / (size) * (size) * (step) + (j) % (size))
#define BEGIN(k, size, step)  ((k) < (step)-1 ? 16 * (k) : (16 - (size)) * ((step)-1))
#define PICK(j, k, size, step)                                                                     \
    (uint8_t)(SOURCE(j, size, step) / 16 == (k) ? SOURCE(j, size, step) - BEGIN(k, size, step)     \
                                                : 0x80)
#define PICKS(k, size, step)                                                                       \
    {                                                                                              \
        PICK(0, k, size, step), PICK(1, k, size, step), PICK(2, k, size, step),                    \
            PICK(3, k, size, step), PICK(4, k, size, step), PICK(5, k, size, step),                \
            PICK(6, k, size, step), PICK(7, k, size, step), PICK(8, k, size, step),                \
            PICK(9, k, size, step), PICK(10, k, size, step), PICK(11, k, size, step),              \
            PICK(12, k, size, step), PICK(13, k, size, step), PICK(14, k, size, step),             \
            PICK(15, k, size, step)                                                                \
    }
#define PICKS_OF(size)                                                                             \
    {                                                                                              \
        [2] = {PICKS(0, size, 2), PICKS(1, size, 2)},                                              \
        [3] = {PICKS(0, size, 3), PICKS(1, size, 3), PICKS(2, size, 3)},                           \
        [4] = {PICKS(0, size, 4), PICKS(1, size, 4), PICKS(2, size, 4), PICKS(3, size, 4)},        \
    }
static const uint8_t picks[5][5][4][16] = {[1] = PICKS_OF(1), [2] = PICKS_OF(2), [4] = PICKS_OF(4)};

/* Returns 32 bytes of the band, from 32 * step bytes. */
TZ_AVX2_INLINE __m256i pick_block(const uint8_t *src, size_t size, size_t step, const __m256i *pick)
{
    __m256i v = _mm256_setzero_si256();
    for (size_t k = 0; k < step; k++) {
        const uint8_t *from = src + BEGIN(k, size, step);
        v = _mm256_or_si256(v, _mm256_shuffle_epi8(load_lanes(from, from + 16 * step), pick[k]));
    }
    return v;
}

/* Copies at least one block; the last one may overlap the one before it. */
TZ_AVX2_INLINE void pick_band(const uint8_t *src, uint8_t *dst, size_t bytes, size_t size,
                              size_t step)
{
    __m256i pick[4];
    for (size_t k = 0; k < step; k++)
        pick[k] = load_twice(picks[size][step][k]);
    for (size_t at = 0; at + 32 <= bytes; at += 32)
        store_full(dst + at, pick_block(src + at * step, size, step, pick));
    if (bytes % 32 != 0)
        store_full(dst + bytes - 32, pick_block(src + (bytes - 32) * step, size, step, pick));
}

#define TZ_PICK_BAND(size)                                                                         \
    TZ_AVX2 static void pick_band_##size(const uint8_t *src, uint8_t *dst, size_t bytes,           \
                                         size_t step)                                              \
    {                                                                                              \
        if (step == 2)                                                                             \
            pick_band(src, dst, bytes, size, 2);                                                   \
        else if (step == 3)                                                                        \
            pick_band(src, dst, bytes, size, 3);                                                   \
        else                                                                                       \
            pick_band(src, dst, bytes, size, 4);                                                   \
    }
TZ_PICK_BAND(1)
TZ_PICK_BAND(2)
TZ_PICK_BAND(4)

void tz_avx2_copy(size_t size, const uint8_t *src, ptrdiff_t src_step, uint8_t *dst,
                  ptrdiff_t dst_step, size_t count)
{
    const ptrdiff_t step = src_step / (ptrdiff_t)size;
    if (dst_step != (ptrdiff_t)size || src_step != step * (ptrdiff_t)size || step < 2 || step > 4 ||
        size > 4 || count * size < 32)
        tz_scalar_copy(size, src, src_step, dst, dst_step, count);
    else if (size == 1)
        pick_band_1(src, dst, count, (size_t)step);
    else if (size == 2)
        pick_band_2(src, dst, count * 2, (size_t)step);
    else
        pick_band_4(src, dst, count * 4, (size_t)step);
}

#endif
