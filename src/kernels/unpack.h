/* SPDX-License-Identifier: Apache-2.0
 * Stored samples to words: packed samples of 1 to 32 bits, floats of 24 bits and the other byte
 * order, one row at a time. */
#ifndef TZ_KERNELS_UNPACK_H
#define TZ_KERNELS_UNPACK_H

#include "kernels/kernel.h"

/* Sample number index of a row of samples of `bits` bits, highest bit first; bits is 1 to 32. */
TZ_FN tz_u32 tz_unpack_sample(const TZ_GLOBAL tz_u8 *row, tz_u64 index, tz_u32 bits)
{
    const tz_u64 first = index * bits;
    const tz_u64 last = first + bits - 1;
    tz_u64 window = 0;
    for (tz_u64 byte = first >> 3; byte <= last >> 3; byte++)
        window = window << 8 | row[byte];
    window >>= 7u - (last & 7u);
    return (tz_u32)(window & (((tz_u64)1 << bits) - 1));
}

/* The sample with its highest bit taken as a sign. */
TZ_FN tz_i32 tz_sign_extend(tz_u32 sample, tz_u32 bits)
{
    const tz_u32 sign = (tz_u32)1 << (bits - 1);
    return (tz_i32)((sample ^ sign) - sign);
}

/* Unpacks count samples from number `first` on to words, and the same for samples with a sign. */
#define TZ_UNPACK(name, type)                                                                      \
    TZ_FN void tz_unpack_##name(const TZ_GLOBAL tz_u8 *row, TZ_GLOBAL tz_u8 *out, tz_u64 first,    \
                                tz_u64 count, tz_u32 bits)                                         \
    {                                                                                              \
        for (tz_u64 i = 0; i < count; i++)                                                         \
            tz_store_##name(out + i * sizeof(type), (type)tz_unpack_sample(row, first + i, bits)); \
    }                                                                                              \
    TZ_FN void tz_unpack_signed_##name(const TZ_GLOBAL tz_u8 *row, TZ_GLOBAL tz_u8 *out,           \
                                       tz_u64 first, tz_u64 count, tz_u32 bits)                    \
    {                                                                                              \
        for (tz_u64 i = 0; i < count; i++)                                                         \
            tz_store_##name(out + i * sizeof(type),                                                \
                            (type)tz_sign_extend(tz_unpack_sample(row, first + i, bits), bits));   \
    }
TZ_UNPACK(u8, tz_u8)
TZ_UNPACK(u16, tz_u16)
TZ_UNPACK(u32, tz_u32)

/* 24-bit floats (sign, 7 bits of exponent with bias 63, 16 of mantissa), as GDAL reads them. */
TZ_FN tz_u32 tz_f24_to_f32_bits(tz_u32 sample)
{
    const tz_u32 sign = (sample & 0x800000u) << 8;
    tz_u32 exponent = sample >> 16 & 0x7fu;
    tz_u32 mantissa = sample & 0xffffu;
    if (exponent == 127u)
        return sign | 0x7f800000u | mantissa << 7;
    if (exponent == 0u) {
        if (mantissa == 0u)
            return sign;
        exponent = 1u;
        while (!(mantissa & 0x10000u)) { /* a subnormal, which f32 can normalise */
            mantissa <<= 1;
            exponent--; /* may wrap below 0: the sum below brings it back */
        }
        mantissa &= 0xffffu;
    }
    return sign | (exponent + 64u) << 23 | mantissa << 7;
}

/* Swaps the bytes of count samples; out may be row. */
#define TZ_SWAP_ROW(name, type)                                                                    \
    TZ_FN void tz_swap_row_##name(const TZ_GLOBAL tz_u8 *row, TZ_GLOBAL tz_u8 *out, tz_u64 count)  \
    {                                                                                              \
        for (tz_u64 i = 0; i < count * sizeof(type); i += sizeof(type))                            \
            tz_store_##name(out + i, tz_swap_##name(tz_load_##name(row + i)));                     \
    }
TZ_SWAP_ROW(u16, tz_u16)
TZ_SWAP_ROW(u32, tz_u32)
TZ_SWAP_ROW(u64, tz_u64)

#endif
