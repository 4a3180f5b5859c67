/* SPDX-License-Identifier: Apache-2.0
 * A sample, or a part of a complex one, as bits, with its type as a number: what reductions ask of
 * it. */
#ifndef TZ_KERNELS_PART_H
#define TZ_KERNELS_PART_H

#include "kernels/kernel.h"

/* As tz_dtype numbers them. */
enum {
    TZ_PART_U8 = 1,
    TZ_PART_I8 = 2,
    TZ_PART_U16 = 3,
    TZ_PART_I16 = 4,
    TZ_PART_U32 = 5,
    TZ_PART_I32 = 6,
    TZ_PART_U64 = 7,
    TZ_PART_I64 = 8,
    TZ_PART_F16 = 9,
    TZ_PART_F32 = 10,
    TZ_PART_F64 = 11
};

TZ_FN int tz_part_is_float(tz_u32 type)
{
    return type >= TZ_PART_F16;
}

TZ_FN int tz_part_is_signed(tz_u32 type)
{
    return type < TZ_PART_F16 && type % 2u == 0u;
}

/* Bits of size bytes (1, 2, 4 or 8) at any address. */
TZ_FN tz_u64 tz_part_load(const TZ_GLOBAL tz_u8 *p, tz_u32 size)
{
    switch (size) {
    case 1:
        return p[0];
    case 2:
        return tz_load_u16(p);
    case 4:
        return tz_load_u32(p);
    default:
        return tz_load_u64(p);
    }
}

TZ_FN void tz_part_store(TZ_GLOBAL tz_u8 *p, tz_u32 size, tz_u64 bits)
{
    switch (size) {
    case 1:
        p[0] = (tz_u8)bits;
        break;
    case 2:
        tz_store_u16(p, (tz_u16)bits);
        break;
    case 4:
        tz_store_u32(p, (tz_u32)bits);
        break;
    default:
        tz_store_u64(p, bits);
        break;
    }
}

/* Also minus zero. */
TZ_FN int tz_part_is_zero(tz_u32 type, tz_u32 size, tz_u64 bits)
{
    const tz_u64 sign = (tz_u64)1 << (8u * size - 1u);
    return bits == 0u || (tz_part_is_float(type) && bits == sign);
}

/* The one beside: one more, or one less at the top; integers are of `used` bits. */
TZ_FN tz_u64 tz_part_beside(tz_u32 type, tz_u32 size, tz_u32 used, tz_u64 bits)
{
    const tz_u32 width = 8u * size;
    const tz_u64 sign = (tz_u64)1 << (width - 1u);
    if (!tz_part_is_float(type)) {
        const tz_u32 some = used > 0u && used < width ? used : width;
        const tz_u64 top = ~(tz_u64)0 >> (64u - some + (tz_u32)tz_part_is_signed(type));
        return bits == top ? bits - 1u : bits + 1u;
    }
    if (bits & sign) /* minus zero, or below: up is towards zero */
        return bits == sign ? 1u : bits - 1u;
    const tz_u64 infinity = width == 16u   ? 0x7c00u
                            : width == 32u ? 0x7f800000u
                                           : 0x7ff0000000000000ULL;
    return bits + 1u >= infinity ? bits - 1u : bits + 1u;
}

#endif
