/* SPDX-License-Identifier: Apache-2.0
 * Rounding low bits away (DISCARD_LSB): the rules of doc/numerics.md, which are those of GDAL.
 * Samples are unsigned words that hold the bits of their type. */
#ifndef TZ_KERNELS_DISCARD_H
#define TZ_KERNELS_DISCARD_H

#include "kernels/kernel.h"

/* Rounds a number to the nearest multiple of 2^bits that is not above highest, ties up. A single
 * bit is truncated instead. */
#define TZ_ROUND_BITS(name, type)                                                                  \
    TZ_FN type tz_round_bits_##name(type x, tz_u32 bits, type highest)                             \
    {                                                                                              \
        const type unit = (type)((type)1 << bits);                                                 \
        const type kept = (type)(x & ~(type)(unit - 1));                                           \
        const type tie = (type)(bits > 1 ? unit >> 1 : 0);                                         \
        return (x & tie) && kept <= (type)(highest - unit) ? (type)(kept + unit) : kept;           \
    }
TZ_ROUND_BITS(u8, tz_u8)
TZ_ROUND_BITS(u16, tz_u16)
TZ_ROUND_BITS(u32, tz_u32)
TZ_ROUND_BITS(u64, tz_u64)

/* The largest byte is the opaque of alpha: it does not change, and larger results become it. */
TZ_FN tz_u8 tz_discard_u8(tz_u8 x, tz_u32 bits)
{
    const tz_u8 tie = (tz_u8)(bits > 1 ? 1u << (bits - 1) : 0);
    const tz_u8 top = (tz_u8)(255u << bits);
    return x == 255u || (x >= top && (x & tie)) ? (tz_u8)255u : tz_round_bits_u8(x, bits, 255u);
}

#define TZ_DISCARD_UNSIGNED(name, type)                                                            \
    TZ_FN type tz_discard_##name(type x, tz_u32 bits)                                              \
    {                                                                                              \
        return tz_round_bits_##name(x, bits, (type) ~(type)0);                                     \
    }
TZ_DISCARD_UNSIGNED(u16, tz_u16)
TZ_DISCARD_UNSIGNED(u32, tz_u32)
TZ_DISCARD_UNSIGNED(u64, tz_u64)

/* Negative numbers, whose bits are above all others, are truncated. */
#define TZ_DISCARD_SIGNED(name, width, type, highest)                                              \
    TZ_FN type tz_discard_##name(type x, tz_u32 bits)                                              \
    {                                                                                              \
        return x > (type)(highest) ? (type)(x & (type)((type) ~(type)0 << bits))                   \
                                   : tz_round_bits_##width(x, bits, (type)(highest));              \
    }
TZ_DISCARD_SIGNED(i8, u8, tz_u8, 0x7f)
TZ_DISCARD_SIGNED(i16, u16, tz_u16, 0x7fff)
TZ_DISCARD_SIGNED(i32, u32, tz_u32, 0x7fffffff)
TZ_DISCARD_SIGNED(i64, u64, tz_u64, 0x7fffffffffffffffLL)

/* The bits of a float without its sign count up like a number. Infinity and NaN do not change. */
#define TZ_DISCARD_FLOAT(name, width, type, sign, infinity)                                        \
    TZ_FN type tz_discard_##name(type x, tz_u32 bits)                                              \
    {                                                                                              \
        const type magnitude = (type)(x & ~(type)(sign));                                          \
        return magnitude >= (type)(infinity)                                                       \
                   ? x                                                                             \
                   : (type)((x & (type)(sign)) |                                                   \
                            tz_round_bits_##width(magnitude, bits, (type)((infinity)-1)));         \
    }
TZ_DISCARD_FLOAT(f16, u16, tz_u16, 0x8000u, 0x7c00u)
TZ_DISCARD_FLOAT(f32, u32, tz_u32, 0x80000000u, 0x7f800000u)
TZ_DISCARD_FLOAT(f64, u64, tz_u64, 0x8000000000000000ULL, 0x7ff0000000000000ULL)

/* The value that replaces a result that equals nodata: for integers nodata plus 2^bits, or minus it
 * at the top of the range; for floats the next one up. */
#define TZ_NEIGHBOUR_INTEGER(name, type, highest)                                                  \
    TZ_FN type tz_neighbour_##name(type nodata, tz_u32 bits)                                       \
    {                                                                                              \
        const type unit = (type)((type)1 << bits);                                                 \
        const type headroom = (type)((type)(highest)-nodata);                                      \
        return (type)(headroom >= unit ? nodata + unit : nodata - unit);                           \
    }
TZ_NEIGHBOUR_INTEGER(u8, tz_u8, 0xff)
TZ_NEIGHBOUR_INTEGER(i8, tz_u8, 0x7f)
TZ_NEIGHBOUR_INTEGER(u16, tz_u16, 0xffff)
TZ_NEIGHBOUR_INTEGER(i16, tz_u16, 0x7fff)
TZ_NEIGHBOUR_INTEGER(u32, tz_u32, 0xffffffffu)
TZ_NEIGHBOUR_INTEGER(i32, tz_u32, 0x7fffffff)
TZ_NEIGHBOUR_INTEGER(u64, tz_u64, 0xffffffffffffffffULL)
TZ_NEIGHBOUR_INTEGER(i64, tz_u64, 0x7fffffffffffffffLL)

#define TZ_NEIGHBOUR_FLOAT(name, type, sign)                                                       \
    TZ_FN type tz_neighbour_##name(type nodata, tz_u32 bits)                                       \
    {                                                                                              \
        (void)bits;                                                                                \
        return (type)(nodata > (type)(sign)    ? nodata - 1                                        \
                      : nodata == (type)(sign) ? 1                                                 \
                                               : nodata + 1);                                      \
    }
TZ_NEIGHBOUR_FLOAT(f16, tz_u16, 0x8000u)
TZ_NEIGHBOUR_FLOAT(f32, tz_u32, 0x80000000u)
TZ_NEIGHBOUR_FLOAT(f64, tz_u64, 0x8000000000000000ULL)

/* Discards bits near nodata: a sample that is nodata does not change, and a result that equals
 * nodata becomes neighbour. minus_zero: the bits of minus zero, which equals 0; 0 for integers. A
 * row is one sample of every pixel. */
#define TZ_DISCARD_ROW(name, width, type, minus_zero)                                              \
    TZ_FN tz_u32 tz_equal_##name(type a, type b)                                                   \
    {                                                                                              \
        return a == b || (type)(a | b) == (type)(minus_zero);                                      \
    }                                                                                              \
    TZ_FN type tz_discard_near_nodata_##name(type x, tz_u32 bits, tz_u32 has_nodata, type nodata,  \
                                             type neighbour)                                       \
    {                                                                                              \
        const type y = tz_discard_##name(x, bits);                                                 \
        const type z = has_nodata && tz_equal_##name(y, nodata) ? neighbour : y;                   \
        return has_nodata && tz_equal_##name(x, nodata) ? x : z;                                   \
    }                                                                                              \
    TZ_FN void tz_discard_row_##name(TZ_GLOBAL tz_u8 *row, tz_u64 pixels, tz_u32 samples,          \
                                     tz_u32 bits, tz_u32 has_nodata, type nodata, type neighbour)  \
    {                                                                                              \
        for (tz_u64 i = 0; i < pixels; i++) {                                                      \
            TZ_GLOBAL tz_u8 *p = row + i * samples * sizeof(type);                                 \
            const type x = tz_load_##width(p);                                                     \
            tz_store_##width(                                                                      \
                p, tz_discard_near_nodata_##name(x, bits, has_nodata, nodata, neighbour));         \
        }                                                                                          \
    }
TZ_DISCARD_ROW(u8, u8, tz_u8, 0)
TZ_DISCARD_ROW(i8, u8, tz_u8, 0)
TZ_DISCARD_ROW(u16, u16, tz_u16, 0)
TZ_DISCARD_ROW(i16, u16, tz_u16, 0)
TZ_DISCARD_ROW(u32, u32, tz_u32, 0)
TZ_DISCARD_ROW(i32, u32, tz_u32, 0)
TZ_DISCARD_ROW(u64, u64, tz_u64, 0)
TZ_DISCARD_ROW(i64, u64, tz_u64, 0)
TZ_DISCARD_ROW(f16, u16, tz_u16, 0x8000u)
TZ_DISCARD_ROW(f32, u32, tz_u32, 0x80000000u)
TZ_DISCARD_ROW(f64, u64, tz_u64, 0x8000000000000000ULL)

#endif
