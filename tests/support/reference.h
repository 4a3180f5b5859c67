/* SPDX-License-Identifier: Apache-2.0
 * doc/numerics.md again, in numbers that hold every sample exactly: what a value becomes in a
 * buffer of another type. Shares nothing with the library. */
#ifndef TESTS_SUPPORT_REFERENCE_H
#define TESTS_SUPPORT_REFERENCE_H

#include <math.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

static inline bool ref_is_float(tz_dtype dtype)
{
    return dtype == TZ_DTYPE_FLOAT16 || dtype == TZ_DTYPE_FLOAT32 || dtype == TZ_DTYPE_FLOAT64;
}

static inline bool ref_is_signed(tz_dtype dtype)
{
    return dtype == TZ_DTYPE_INT8 || dtype == TZ_DTYPE_INT16 || dtype == TZ_DTYPE_INT32 ||
           dtype == TZ_DTYPE_INT64;
}

/* The nearest float16, ties to even, as a number. */
static inline long double ref_to_half(long double value)
{
    if (isnan(value) || isinf(value) || value == 0)
        return value;
    const int exponent = ilogbl(value) < -14 ? -14 : ilogbl(value);
    const long double quantum = ldexpl(1, exponent - 10);
    const long double rounded = rintl(value / quantum) * quantum;
    return fabsl(rounded) >= 65536 ? copysignl(HUGE_VALL, value) : rounded;
}

static inline long double ref_from_half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31;
    const long double mantissa = bits & 1023;
    long double value = exponent == 31  ? (mantissa > 0 ? (long double)NAN : HUGE_VALL)
                        : exponent == 0 ? ldexpl(mantissa, -24)
                                        : ldexpl(mantissa + 1024, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

static inline long double ref_clamp(long double value, bool from_float, int bits, bool with_sign)
{
    if (isnan(value))
        return 0;
    const long double low = with_sign ? -ldexpl(1, bits - 1) : 0;
    const long double high = ldexpl(1, with_sign ? bits - 1 : bits) - 1;
    const long double whole = from_float ? roundl(value) : value;
    return whole < low ? low : whole > high ? high : whole;
}

/* Returns a value as a buffer of this type stores it. */
static inline long double ref_cast(long double value, bool from_float, tz_dtype to)
{
    switch (to) {
    case TZ_DTYPE_FLOAT16:
        return ref_to_half(value);
    case TZ_DTYPE_FLOAT32:
    case TZ_DTYPE_COMPLEX_FLOAT32:
        return (float)value;
    case TZ_DTYPE_FLOAT64:
        return (double)value;
    default:
        return ref_clamp(value, from_float, (int)tz_dtype_size(to) * 8, ref_is_signed(to));
    }
}

static inline long double ref_load(const uint8_t *p, tz_dtype dtype)
{
    union {
        uint8_t u8;
        int8_t i8;
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        uint64_t u64;
        int64_t i64;
        float f32;
        double f64;
    } v = {.u64 = 0};
    memcpy(&v, p, dtype == TZ_DTYPE_COMPLEX_FLOAT32 ? 4 : tz_dtype_size(dtype));
    switch (dtype) {
    case TZ_DTYPE_UINT8:
        return v.u8;
    case TZ_DTYPE_INT8:
        return v.i8;
    case TZ_DTYPE_UINT16:
        return v.u16;
    case TZ_DTYPE_INT16:
        return v.i16;
    case TZ_DTYPE_UINT32:
        return v.u32;
    case TZ_DTYPE_INT32:
        return v.i32;
    case TZ_DTYPE_UINT64:
        return v.u64;
    case TZ_DTYPE_INT64:
        return v.i64;
    case TZ_DTYPE_FLOAT16:
        return ref_from_half(v.u16);
    case TZ_DTYPE_FLOAT64:
        return v.f64;
    default:
        return v.f32;
    }
}

static inline bool ref_same(long double a, long double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

#endif
