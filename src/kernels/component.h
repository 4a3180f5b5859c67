/* SPDX-License-Identifier: Apache-2.0
 * What reductions ask of the bits of a sample, or of a part of a complex one. */
#ifndef TZ_KERNELS_COMPONENT_H
#define TZ_KERNELS_COMPONENT_H

#include "kernels/raw.h"

TZ_FN int tz_component_is_float(tz_u32 type)
{
    return type >= TZ_COMPONENT_F16;
}

TZ_FN int tz_component_is_signed(tz_u32 type)
{
    return type < TZ_COMPONENT_F16 && type % 2u == 0u;
}

/* Also minus zero. */
TZ_FN int tz_component_is_zero(tz_u32 type, tz_u32 size, tz_u64 bits)
{
    const tz_u64 sign = (tz_u64)1 << (8u * size - 1u);
    return bits == 0u || (tz_component_is_float(type) && bits == sign);
}

/* The one beside: one more, or one less at the top; integers are of `used` bits. */
TZ_FN tz_u64 tz_component_neighbour(tz_u32 type, tz_u32 size, tz_u32 used, tz_u64 bits)
{
    const tz_u32 width = 8u * size;
    const tz_u64 sign = (tz_u64)1 << (width - 1u);
    if (!tz_component_is_float(type)) {
        const tz_u32 some = used > 0u && used < width ? used : width;
        const tz_u64 top = ~(tz_u64)0 >> (64u - some + (tz_u32)tz_component_is_signed(type));
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
