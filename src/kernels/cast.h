/* SPDX-License-Identifier: Apache-2.0
 * From any type to any other: the rules of doc/numerics.md, one element at a time. A value goes
 * through one of three wide forms, i64, u64 or f64, each of which holds every value of its kind
 * exactly. tz_NAME_of_FORM casts a wide form to a type. Devices without double precision have no
 * casts from f64. */
#ifndef TZ_KERNELS_CAST_H
#define TZ_KERNELS_CAST_H

#include "kernels/kernel.h"

/* ---- half precision, by integer arithmetic: the same bits on every machine ---- */

TZ_FN tz_f32 tz_half_to_f32(tz_u16 bits)
{
    const tz_u32 sign = (tz_u32)(bits & 0x8000u) << 16;
    const tz_u32 magnitude = (tz_u32)bits & 0x7fffu;
    if (magnitude >= 0x7c00u) /* infinity and NaN */
        return tz_f32_of_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    if (magnitude >= 0x400u) /* normal: the exponent's bias grows by 112 */
        return tz_f32_of_bits(sign | ((magnitude << 13) + 0x38000000u));
    /* subnormal: a multiple of 2^-24, exact in f32 */
    const tz_f32 value = (tz_f32)magnitude * 5.9604644775390625e-8f;
    return sign ? -value : value;
}

/* Rounds to nearest, ties to even. */
TZ_FN tz_u16 tz_f32_to_half(tz_f32 value)
{
    const tz_u32 bits = tz_bits_of_f32(value);
    const tz_u32 sign = bits >> 16 & 0x8000u;
    const tz_u32 magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) /* NaN stays NaN, also if all bits of its payload are lost */
        return (tz_u16)(sign | 0x7e00u | (magnitude >> 13 & 0x1ffu));
    if (magnitude >= 0x477ff000u) /* rounds to 65536 or more */
        return (tz_u16)(sign | 0x7c00u);
    if (magnitude >= 0x38800000u) { /* normal */
        const tz_u32 rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u;
        return (tz_u16)(sign | rounded >> 13);
    }
    if (magnitude < 0x33000000u) /* at most half of the smallest subnormal, ties to 0 */
        return (tz_u16)sign;
    const tz_u32 shift = 126u - (magnitude >> 23); /* 14 to 24 */
    const tz_u32 mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    const tz_u32 half_unit = 1u << (shift - 1u);
    const tz_u32 rounded = mantissa + half_unit - 1u + (mantissa >> shift & 1u);
    return (tz_u16)(sign | rounded >> shift);
}

#ifdef TZ_HAS_F64
/* Rounds twice, first to f32, but with the result of one rounding: a value that f32 cannot hold is
 * made odd there (round to odd), so that the second rounding sees no tie that was none. */
TZ_FN tz_u16 tz_f64_to_half(tz_f64 value)
{
    tz_f32 narrow = (tz_f32)value;
    const tz_u32 bits = tz_bits_of_f32(narrow);
    if ((bits & 0x7f800000u) != 0x7f800000u && (tz_f64)narrow != value && (bits & 1u) == 0u) {
        const int away = value < 0.0 ? (tz_f64)narrow > value : (tz_f64)narrow < value;
        /* a rounded-to-zero magnitude grows to odd; a rounded-up one shrinks to odd */
        narrow = tz_f32_of_bits(away ? bits + 1u : bits - 1u);
    }
    return tz_f32_to_half(narrow);
}
#endif

/* ---- stores: saturate, round half away from zero, NaN becomes 0 in integers ---- */

#define TZ_CAST_TO_INTEGER(name, type, lowest, highest)                                            \
    TZ_FN type tz_##name##_of_i64(tz_i64 value)                                                    \
    {                                                                                              \
        return value < (tz_i64)(lowest)    ? (type)(lowest)                                        \
               : value > (tz_i64)(highest) ? (type)(highest)                                       \
                                           : (type)value;                                          \
    }                                                                                              \
    TZ_FN type tz_##name##_of_u64(tz_u64 value)                                                    \
    {                                                                                              \
        return value > (tz_u64)(highest) ? (type)(highest) : (type)value;                          \
    }                                                                                              \
    TZ_CAST_TO_INTEGER_F64(name, type, lowest, highest)

#ifdef TZ_HAS_F64
#define TZ_CAST_TO_INTEGER_F64(name, type, lowest, highest)                                        \
    TZ_FN type tz_##name##_of_f64(tz_f64 value)                                                    \
    {                                                                                              \
        if (!(value > (tz_f64)(lowest))) /* also NaN */                                            \
            return value <= (tz_f64)(lowest) ? (type)(lowest) : (type)0;                           \
        if (value >= (tz_f64)(highest))                                                            \
            return (type)(highest);                                                                \
        /* in range: truncation is exact, and so is the fraction */                                \
        const tz_i64 whole = (tz_i64)value;                                                        \
        const tz_f64 fraction = value - (tz_f64)whole;                                             \
        return (type)(whole + (fraction >= 0.5) - (fraction <= -0.5));                             \
    }
#else
#define TZ_CAST_TO_INTEGER_F64(name, type, lowest, highest)
#endif

TZ_CAST_TO_INTEGER(u8, tz_u8, 0, 255)
TZ_CAST_TO_INTEGER(i8, tz_i8, -128, 127)
TZ_CAST_TO_INTEGER(u16, tz_u16, 0, 65535)
TZ_CAST_TO_INTEGER(i16, tz_i16, -32768, 32767)
TZ_CAST_TO_INTEGER(u32, tz_u32, 0, 4294967295u)
TZ_CAST_TO_INTEGER(i32, tz_i32, (-2147483647 - 1), 2147483647)

#define TZ_I64_MAX 0x7fffffffffffffffLL
#define TZ_I64_MIN (-TZ_I64_MAX - 1)

TZ_FN tz_i64 tz_i64_of_i64(tz_i64 value)
{
    return value;
}
TZ_FN tz_i64 tz_i64_of_u64(tz_u64 value)
{
    return value > (tz_u64)TZ_I64_MAX ? (tz_i64)TZ_I64_MAX : (tz_i64)value;
}
TZ_CAST_TO_INTEGER_F64(i64, tz_i64, TZ_I64_MIN, TZ_I64_MAX) /* (tz_f64)TZ_I64_MAX is 2^63 */
TZ_FN tz_u64 tz_u64_of_i64(tz_i64 value)
{
    return value < 0 ? 0 : (tz_u64)value;
}
TZ_FN tz_u64 tz_u64_of_u64(tz_u64 value)
{
    return value;
}
#ifdef TZ_HAS_F64
TZ_FN tz_u64 tz_u64_of_f64(tz_f64 value)
{
    if (!(value > 0.0))
        return 0;
    if (value >= 18446744073709551616.0)
        return ~(tz_u64)0;
    const tz_u64 whole = (tz_u64)value;
    return whole + (value - (tz_f64)whole >= 0.5);
}
#endif

/* Floats are rounded once, to nearest and ties to even; infinity is where integers saturate. */
#define TZ_CAST_TO_FLOAT(name, type, from, expression)                                             \
    TZ_FN type tz_##name##_of_##from(tz_##from value)                                              \
    {                                                                                              \
        return expression;                                                                         \
    }
TZ_CAST_TO_FLOAT(f32, tz_f32, i64, (tz_f32)value)
TZ_CAST_TO_FLOAT(f32, tz_f32, u64, (tz_f32)value)
#ifdef TZ_HAS_F64
TZ_CAST_TO_FLOAT(f32, tz_f32, f64, (tz_f32)value)
TZ_CAST_TO_FLOAT(f64, tz_f64, i64, (tz_f64)value)
TZ_CAST_TO_FLOAT(f64, tz_f64, u64, (tz_f64)value)
TZ_CAST_TO_FLOAT(f64, tz_f64, f64, value)
TZ_CAST_TO_FLOAT(f16, tz_u16, i64, tz_f64_to_half((tz_f64)value))
TZ_CAST_TO_FLOAT(f16, tz_u16, u64, tz_f64_to_half((tz_f64)value))
TZ_CAST_TO_FLOAT(f16, tz_u16, f64, tz_f64_to_half(value))
#endif

#endif
