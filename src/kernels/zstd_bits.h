/* SPDX-License-Identifier: Apache-2.0
 * Bits of Zstandard. Most of its streams are read from their last bit to their first; the highest
 * bit that is set in the last byte says where to begin. The head of a table is read forwards. */
#ifndef TZ_KERNELS_ZSTD_BITS_H
#define TZ_KERNELS_ZSTD_BITS_H

#include "kernels/kernel.h"

/* A stream read backwards. Before its start are zeros, which may be looked at but not used up. */
typedef struct tz_zstd_bits {
    const TZ_GLOBAL tz_u8 *in;
    tz_u32 left;   /* bytes that are not in hold yet, of which the last comes next */
    tz_u64 hold;   /* the next bits, from the highest one on */
    tz_u32 count;  /* bits in hold that count; any below them are as they will be read */
    tz_u32 beyond; /* zeros from before the start that were added to count */
} tz_zstd_bits;

/* At least 57 bits. */
TZ_FN void tz_zstd_refill(tz_zstd_bits *bits)
{
    if (bits->left >= 8u) {
        const tz_u32 bytes = (64u - bits->count) / 8u;
        if (bytes > 0u)
            bits->hold |= tz_load_u64(bits->in + (bits->left - 8u)) >> bits->count;
        bits->left -= bytes;
        bits->count += 8u * bytes;
        return;
    }
    for (; bits->count <= 56u; bits->count += 8u) {
        if (bits->left > 0u)
            bits->hold |= (tz_u64)bits->in[--bits->left] << (56u - bits->count);
        else
            bits->beyond += 8u;
    }
}

/* The next bits, which must be in hold; count: up to 31. */
TZ_FN tz_u32 tz_zstd_peek_bits(const tz_zstd_bits *bits, tz_u32 count)
{
    return (tz_u32)(bits->hold >> 1 >> (63u - count));
}

TZ_FN void tz_zstd_skip_bits(tz_zstd_bits *bits, tz_u32 count)
{
    bits->hold <<= count;
    bits->count -= count;
}

TZ_FN tz_u32 tz_zstd_read_bits(tz_zstd_bits *bits, tz_u32 count)
{
    const tz_u32 value = tz_zstd_peek_bits(bits, count);
    tz_zstd_skip_bits(bits, count);
    return value;
}

/* 0: nothing says where the stream begins. */
TZ_FN int tz_zstd_begin_bits(tz_zstd_bits *bits, const TZ_GLOBAL tz_u8 *in, tz_u32 size)
{
    bits->in = in;
    bits->left = size;
    bits->hold = 0u;
    bits->count = 0u;
    bits->beyond = 0u;
    if (size == 0u || in[size - 1u] == 0u)
        return 0;
    tz_zstd_refill(bits);
    while (tz_zstd_read_bits(bits, 1u) == 0u)
        ;
    return 1;
}

/* More was used up than there is. */
TZ_FN int tz_zstd_is_overread(const tz_zstd_bits *bits)
{
    return bits->count < bits->beyond;
}

/* All of it was, and no more. */
TZ_FN int tz_zstd_is_at_end(const tz_zstd_bits *bits)
{
    return bits->left == 0u && bits->count == bits->beyond;
}

/* Forwards: up to 16 bits from this one on, lowest first. Behind the end are zeros. */
TZ_FN tz_u32 tz_zstd_peek_forward(const TZ_GLOBAL tz_u8 *in, tz_u32 size, tz_u32 bit, tz_u32 count)
{
    tz_u32 word = 0u;
    for (tz_u32 i = 0u; i < 3u; i++) {
        if (bit / 8u + i < size)
            word |= (tz_u32)in[bit / 8u + i] << 8u * i;
    }
    return word >> bit % 8u & ((1u << count) - 1u);
}

/* The place of the highest bit of x, which is not 0. */
TZ_FN tz_u32 tz_zstd_highest_bit(tz_u32 x)
{
    tz_u32 position = 0u;
    for (; x > 1u; x >>= 1)
        position++;
    return position;
}

#endif
