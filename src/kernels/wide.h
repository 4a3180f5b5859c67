/* SPDX-License-Identifier: Apache-2.0
 * Numbers of any type as 64 bits and a kind: an i64, a u64 or the bits of an f64. Samples are
 * compared, scaled and cast in this form, which holds every value of its kind exactly. Without
 * TZ_HAS_F64 there are only the integer kinds. The end of the file has the same for a component in
 * memory, as a double. */
#ifndef TZ_KERNELS_WIDE_H
#define TZ_KERNELS_WIDE_H

#include "kernels/cast.h"
#include "kernels/component.h"
#include "kernels/nan.h"

#define TZ_WIDE_I64 0u
#define TZ_WIDE_U64 1u
#define TZ_WIDE_F64 2u

/* The kind that holds all values of a type. */
TZ_FN tz_u32 tz_component_kind(tz_u32 component)
{
    return component >= TZ_COMPONENT_F16 ? TZ_WIDE_F64 : component & 1u ? TZ_WIDE_U64 : TZ_WIDE_I64;
}

#ifdef TZ_HAS_F64

/* ---- floats ---- */

/* The number as a double: the nearest one for integers above 2^53. */
TZ_FN tz_f64 tz_wide_f64(tz_u64 value, tz_u32 kind)
{
    if (kind == TZ_WIDE_F64)
        return tz_f64_of_bits(value);
    return kind == TZ_WIDE_I64 ? (tz_f64)(tz_i64)value : (tz_f64)value;
}

/* Between f32 and f64, as bits. A NaN keeps its sign and the bits of its payload that fit, and
 * becomes a quiet one. Most CPUs convert so; some devices do not, so that NaN is handled here. */
TZ_FN tz_u64 tz_wide_of_f32(tz_u32 bits)
{
    if (tz_is_nan_u32(bits))
        return (tz_u64)(bits & 0x80000000u) << 32 | 0x7ff8000000000000ULL |
               (tz_u64)(bits & 0x7fffffu) << 29;
    return tz_bits_of_f64((tz_f64)tz_f32_of_bits(bits));
}

TZ_FN tz_u32 tz_f32_of_wide(tz_u64 value)
{
    if (tz_is_nan_u64(value))
        return ((tz_u32)(value >> 32) & 0x80000000u) | 0x7fc00000u |
               ((tz_u32)(value >> 29) & 0x7fffffu);
    return tz_bits_of_f32((tz_f32)tz_f64_of_bits(value));
}

TZ_FN tz_u16 tz_half_of_wide(tz_u64 value)
{
    if (tz_is_nan_u64(value))
        return tz_f32_to_half(tz_f32_of_bits(tz_f32_of_wide(value)));
    return tz_f64_to_half(tz_f64_of_bits(value));
}

#endif

/* ---- equality ---- */

/* Compares exactly: an i64 and a u64 with the same bits differ if the i64 is negative, and an f64
 * equals an integer only if it has no fraction. All NaN are equal. */
TZ_FN tz_u32 tz_wide_equals(tz_u64 value, tz_u32 kind, tz_u64 other, tz_u32 other_kind)
{
#ifdef TZ_HAS_F64
    if (kind == TZ_WIDE_F64 && other_kind == TZ_WIDE_F64 && tz_is_nan_u64(other))
        return tz_is_nan_u64(value);
    if (kind == TZ_WIDE_F64 || other_kind == TZ_WIDE_F64)
        return tz_wide_f64(value, kind) == tz_wide_f64(other, other_kind);
#endif
    return value == other && (kind == other_kind || (tz_i64)value >= 0);
}

/* ---- raw and wide ---- */

/* The number of a component, from its bits. */
TZ_FN tz_u64 tz_wide_of_raw(tz_u64 raw, tz_u32 component)
{
    switch (component) {
    case TZ_COMPONENT_U8:
        return (tz_u8)raw;
    case TZ_COMPONENT_I8:
        return (tz_u64)(tz_i64)(tz_i8)raw;
    case TZ_COMPONENT_U16:
        return (tz_u16)raw;
    case TZ_COMPONENT_I16:
        return (tz_u64)(tz_i64)(tz_i16)raw;
    case TZ_COMPONENT_U32:
        return (tz_u32)raw;
    case TZ_COMPONENT_I32:
        return (tz_u64)(tz_i64)(tz_i32)raw;
#ifdef TZ_HAS_F64
    case TZ_COMPONENT_F16:
        return tz_wide_of_f32(tz_bits_of_f32(tz_half_to_f32((tz_u16)raw)));
    case TZ_COMPONENT_F32:
        return tz_wide_of_f32((tz_u32)raw);
#endif
    default:
        return raw;
    }
}

/* tz_raw_u8 to tz_raw_i64: the number saturated to an integer type, as bits. */
#define TZ_RAW_OF(name, type)                                                                      \
    TZ_FN tz_u64 tz_raw_##name(tz_u64 value, tz_u32 kind)                                          \
    {                                                                                              \
        return (tz_u64)(kind == TZ_WIDE_I64   ? tz_##name##_of_i64((tz_i64)value)                  \
                        : kind == TZ_WIDE_U64 ? tz_##name##_of_u64(value)                          \
                                              : TZ_RAW_OF_F64(name, type, value));                 \
    }
#ifdef TZ_HAS_F64
#define TZ_RAW_OF_F64(name, type, value) tz_##name##_of_f64(tz_f64_of_bits(value))
#else
#define TZ_RAW_OF_F64(name, type, value) (type)0
#endif
TZ_RAW_OF(u8, tz_u8)
TZ_RAW_OF(i8, tz_i8)
TZ_RAW_OF(u16, tz_u16)
TZ_RAW_OF(i16, tz_i16)
TZ_RAW_OF(u32, tz_u32)
TZ_RAW_OF(i32, tz_i32)
TZ_RAW_OF(u64, tz_u64)
TZ_RAW_OF(i64, tz_i64)

#ifdef TZ_HAS_F64
/* The number as the bits of a float. An integer is rounded to f32 in one step, not through f64. */
TZ_FN tz_u64 tz_raw_real(tz_u64 value, tz_u32 kind, tz_u32 component)
{
    if (component == TZ_COMPONENT_F32 && kind != TZ_WIDE_F64)
        return tz_bits_of_f32(kind == TZ_WIDE_I64 ? tz_f32_of_i64((tz_i64)value)
                                                  : tz_f32_of_u64(value));
    if (kind != TZ_WIDE_F64)
        value = tz_bits_of_f64(tz_wide_f64(value, kind));
    if (component == TZ_COMPONENT_F64)
        return value;
    return component == TZ_COMPONENT_F32 ? tz_f32_of_wide(value) : tz_half_of_wide(value);
}
#endif

/* The number cast to the type of a component, as bits. Further bits may be set: they mean
 * nothing. */
TZ_FN tz_u64 tz_raw_of_wide(tz_u64 value, tz_u32 kind, tz_u32 component)
{
    switch (component) {
    case TZ_COMPONENT_U8:
        return tz_raw_u8(value, kind);
    case TZ_COMPONENT_I8:
        return tz_raw_i8(value, kind);
    case TZ_COMPONENT_U16:
        return tz_raw_u16(value, kind);
    case TZ_COMPONENT_I16:
        return tz_raw_i16(value, kind);
    case TZ_COMPONENT_U32:
        return tz_raw_u32(value, kind);
    case TZ_COMPONENT_I32:
        return tz_raw_i32(value, kind);
    case TZ_COMPONENT_U64:
        return tz_raw_u64(value, kind);
    case TZ_COMPONENT_I64:
        return tz_raw_i64(value, kind);
    default:
#ifdef TZ_HAS_F64
        return tz_raw_real(value, kind, component);
#else
        return 0;
#endif
    }
}

#ifdef TZ_HAS_F64

/* ---- values of components ---- */

/* The component at p. An integer of 64 bits becomes the nearest double. */
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

/* The value cast to the type; further bits are 0. */
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
