/* SPDX-License-Identifier: Apache-2.0
 * A sample, or a component of a complex one, as its bits: the lowest first, in a tz_u64 whose
 * further bits are 0. The type is a number beside them, since the kernels have one body for all
 * types. Integers need no double precision here: wide.h has the values. */
#ifndef TZ_KERNELS_COMPONENT_H
#define TZ_KERNELS_COMPONENT_H

#include "kernels/kernel.h"

/* The numbers are those of tz_dtype. Integers alternate: odd ones are unsigned. */
#define TZ_COMPONENT_U8  1u
#define TZ_COMPONENT_I8  2u
#define TZ_COMPONENT_U16 3u
#define TZ_COMPONENT_I16 4u
#define TZ_COMPONENT_U32 5u
#define TZ_COMPONENT_I32 6u
#define TZ_COMPONENT_U64 7u
#define TZ_COMPONENT_I64 8u
#define TZ_COMPONENT_F16 9u
#define TZ_COMPONENT_F32 10u
#define TZ_COMPONENT_F64 11u

TZ_FN tz_u32 tz_component_bytes(tz_u32 component)
{
    return component >= TZ_COMPONENT_F16 ? 2u << (component - TZ_COMPONENT_F16)
                                         : 1u << (component - 1u) / 2u;
}

/* Loads and stores the bits of 1, 2, 4 or 8 bytes. */
TZ_FN tz_u64 tz_load_raw(const TZ_GLOBAL tz_u8 *p, tz_u32 bytes)
{
    switch (bytes) {
    case 1u:
        return p[0];
    case 2u:
        return tz_load_u16(p);
    case 4u:
        return tz_load_u32(p);
    default:
        return tz_load_u64(p);
    }
}

TZ_FN void tz_store_raw(TZ_GLOBAL tz_u8 *p, tz_u64 raw, tz_u32 bytes)
{
    switch (bytes) {
    case 1u:
        p[0] = (tz_u8)raw;
        break;
    case 2u:
        tz_store_u16(p, (tz_u16)raw);
        break;
    case 4u:
        tz_store_u32(p, (tz_u32)raw);
        break;
    default:
        tz_store_u64(p, raw);
        break;
    }
}

/* The bits in the other byte order. */
TZ_FN tz_u64 tz_swap_raw(tz_u64 raw, tz_u32 bytes)
{
    return tz_swap_u64(raw) >> (64u - 8u * bytes);
}

TZ_FN int tz_component_is_float(tz_u32 type)
{
    return type >= TZ_COMPONENT_F16;
}

TZ_FN int tz_component_is_signed(tz_u32 type)
{
    return type < TZ_COMPONENT_F16 && type % 2u == 0u;
}

/* True for zero, and for the minus zero of floats. */
TZ_FN int tz_component_is_zero(tz_u32 type, tz_u32 size, tz_u64 bits)
{
    const tz_u64 sign = (tz_u64)1 << (8u * size - 1u);
    return bits == 0u || (tz_component_is_float(type) && bits == sign);
}

/* The next value up, or the next one down at the top of the range; an overview stores it where the
 * mean happens to equal nodata. used: bits of an integer that count; 0: all. Floats are stepped by
 * their bits, which for a positive float count up like an integer. */
TZ_FN tz_u64 tz_component_neighbour(tz_u32 type, tz_u32 size, tz_u32 used, tz_u64 bits)
{
    const tz_u32 width = 8u * size;
    const tz_u64 sign = (tz_u64)1 << (width - 1u);
    if (!tz_component_is_float(type)) {
        const tz_u32 bits_used = used > 0u ? tz_kernel_min(used, width) : width;
        const tz_u64 top = ~(tz_u64)0 >> (64u - bits_used + (tz_u32)tz_component_is_signed(type));
        return bits == top ? bits - 1u : bits + 1u;
    }
    if (bits & sign) /* minus zero or below: up is towards zero */
        return bits == sign ? 1u : bits - 1u;
    const tz_u64 infinity = width == 16u   ? 0x7c00u
                            : width == 32u ? 0x7f800000u
                                           : 0x7ff0000000000000ULL;
    return bits + 1u >= infinity ? bits - 1u : bits + 1u;
}

#endif
