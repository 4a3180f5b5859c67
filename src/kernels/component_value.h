/* SPDX-License-Identifier: Apache-2.0
 * A sample, or a part of a complex one, as a double and back, with its type as a number. */
#ifndef TZ_KERNELS_COMPONENT_VALUE_H
#define TZ_KERNELS_COMPONENT_VALUE_H

#include "kernels/component.h"
#include "kernels/wide.h"

#ifdef TZ_HAS_F64

/* Exact but for integers of 64 bits, which become the nearest double. */
TZ_FN tz_f64 tz_component_value(tz_u32 type, const TZ_GLOBAL tz_u8 *p)
{
    switch (type) {
    case TZ_COMPONENT_U8:
        return (tz_f64)p[0];
    case TZ_COMPONENT_I8:
        return (tz_f64)(tz_i8)p[0];
    case TZ_COMPONENT_U16:
        return (tz_f64)tz_load_u16(p);
    case TZ_COMPONENT_I16:
        return (tz_f64)(tz_i16)tz_load_u16(p);
    case TZ_COMPONENT_U32:
        return (tz_f64)tz_load_u32(p);
    case TZ_COMPONENT_I32:
        return (tz_f64)(tz_i32)tz_load_u32(p);
    case TZ_COMPONENT_U64:
        return (tz_f64)tz_load_u64(p);
    case TZ_COMPONENT_I64:
        return (tz_f64)(tz_i64)tz_load_u64(p);
    case TZ_COMPONENT_F16:
        return (tz_f64)tz_half_to_f32(tz_load_u16(p));
    case TZ_COMPONENT_F32:
        return (tz_f64)tz_f32_of_bits(tz_load_u32(p));
    default:
        return tz_f64_of_bits(tz_load_u64(p));
    }
}

/* Cast as any other; the bits of the type, all above them 0. */
TZ_FN tz_u64 tz_component_of_f64(tz_u32 type, tz_f64 value)
{
    return tz_raw_of_wide(tz_bits_of_f64(value), TZ_WIDE_F64, type) &
           ~(tz_u64)0 >> (64u - 8u * tz_component_bytes(type));
}

TZ_FN tz_f64 tz_clamp_f64(tz_f64 value, tz_f64 low, tz_f64 high)
{
    return value < low ? low : value > high ? high : value;
}

#endif

#endif
