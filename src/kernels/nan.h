/* SPDX-License-Identifier: Apache-2.0
 * NaN by its bits, in samples of 2, 4 and 8 bytes. A comparison of floats would depend on the
 * machine for signalling NaN, and half precision has none. */
#ifndef TZ_KERNELS_NAN_H
#define TZ_KERNELS_NAN_H

#include "kernels/kernel.h"

/* Without its sign, the bits of a number are at most those of infinity.
 * replace: writes value over each NaN of a row. all: true if a row has nothing but NaN. */
#define TZ_NAN(name, type, magnitude, infinity)                                                    \
    TZ_FN tz_u32 tz_is_nan_##name(type bits)                                                       \
    {                                                                                              \
        return (type)(bits & (type)(magnitude)) > (type)(infinity);                                \
    }                                                                                              \
    TZ_FN void tz_replace_nan_##name(TZ_GLOBAL tz_u8 *row, tz_u64 count, type value)               \
    {                                                                                              \
        for (tz_u64 i = 0; i < count; i++) {                                                       \
            const type x = tz_load_##name(row + i * sizeof(type));                                 \
            tz_store_##name(row + i * sizeof(type), tz_is_nan_##name(x) ? value : x);              \
        }                                                                                          \
    }                                                                                              \
    TZ_FN tz_u32 tz_all_nan_##name(const TZ_GLOBAL tz_u8 *row, tz_u64 count)                       \
    {                                                                                              \
        tz_u32 all = 1;                                                                            \
        for (tz_u64 i = 0; i < count; i++)                                                         \
            all &= tz_is_nan_##name(tz_load_##name(row + i * sizeof(type)));                       \
        return all;                                                                                \
    }
TZ_NAN(u16, tz_u16, 0x7fffu, 0x7c00u)
TZ_NAN(u32, tz_u32, 0x7fffffffu, 0x7f800000u)
TZ_NAN(u64, tz_u64, 0x7fffffffffffffffULL, 0x7ff0000000000000ULL)

#endif
