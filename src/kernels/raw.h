/* SPDX-License-Identifier: Apache-2.0
 * Samples, or the parts of complex ones, as their bits: lowest first, in 64 of them, and their type
 * as a number apart from them. */
#ifndef TZ_KERNELS_RAW_H
#define TZ_KERNELS_RAW_H

#include "kernels/kernel.h"

/* As tz_dtype numbers them. */
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

/* Of 1, 2, 4 or 8 bytes. */
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

/* The other byte order. */
TZ_FN tz_u64 tz_swap_raw(tz_u64 raw, tz_u32 bytes)
{
    return tz_swap_u64(raw) >> (64u - 8u * bytes);
}

#endif
