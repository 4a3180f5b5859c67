/* SPDX-License-Identifier: Apache-2.0
 * The mean of two by two samples: the average of doc/numerics.md with all weights 1, in integers
 * for integer samples. a and b are of the upper row, c and d of the lower. */
#ifndef TZ_KERNELS_AVERAGE_2X2_H
#define TZ_KERNELS_AVERAGE_2X2_H

#include "kernels/kernel.h"

/* All four samples are valid. */
#define TZ_AVERAGE_2X2_ALL 15u

/* valid: bits 0 to 3 for a to d. has_nodata: samples that equal nodata do not count either, and a
 * mean that happens to equal nodata becomes neighbour. Returns nodata if no sample counts. The mean
 * is rounded half away from zero, like all stores of integers. */
#define TZ_AVERAGE_2X2_INTEGER(name, type)                                                         \
    TZ_FN type tz_average_2x2_##name(type a, type b, type c, type d, tz_u32 valid, int has_nodata, \
                                     type nodata, type neighbour)                                  \
    {                                                                                              \
        tz_i32 sum = (tz_i32)a + (tz_i32)b + (tz_i32)c + (tz_i32)d;                                \
        tz_i32 count = 4;                                                                          \
        if (has_nodata || valid != TZ_AVERAGE_2X2_ALL) {                                           \
            const tz_i32 has_a = (valid & 1u) != 0u && !(has_nodata && a == nodata);               \
            const tz_i32 has_b = (valid & 2u) != 0u && !(has_nodata && b == nodata);               \
            const tz_i32 has_c = (valid & 4u) != 0u && !(has_nodata && c == nodata);               \
            const tz_i32 has_d = (valid & 8u) != 0u && !(has_nodata && d == nodata);               \
            count = has_a + has_b + has_c + has_d;                                                 \
            sum = has_a * (tz_i32)a + has_b * (tz_i32)b + has_c * (tz_i32)c + has_d * (tz_i32)d;   \
            if (count == 0)                                                                        \
                return nodata;                                                                     \
        }                                                                                          \
        const tz_i32 away = sum < 0 ? -count : count;                                              \
        const type mean = (type)((2 * sum + away) / (2 * count));                                  \
        return has_nodata && mean == nodata ? neighbour : mean;                                    \
    }
TZ_AVERAGE_2X2_INTEGER(u8, tz_u8)
TZ_AVERAGE_2X2_INTEGER(u16, tz_u16)
TZ_AVERAGE_2X2_INTEGER(i16, tz_i16)

#ifdef TZ_HAS_F64
/* The same for floats. NaN does not count; returns none if no sample counts. The sums are those of
 * the generic average, row by row from 0.0, so that the bits are the same. */
TZ_FN tz_f32 tz_average_2x2_f32(tz_f32 a, tz_f32 b, tz_f32 c, tz_f32 d, tz_u32 valid,
                                int has_nodata, tz_f32 nodata, tz_f32 neighbour, tz_f32 none)
{
    const int has_a = (valid & 1u) != 0u && a == a && !(has_nodata && a == nodata);
    const int has_b = (valid & 2u) != 0u && b == b && !(has_nodata && b == nodata);
    const int has_c = (valid & 4u) != 0u && c == c && !(has_nodata && c == nodata);
    const int has_d = (valid & 8u) != 0u && d == d && !(has_nodata && d == nodata);
    const tz_f64 above = 0.0 + (has_a ? (tz_f64)a : 0.0) + (has_b ? (tz_f64)b : 0.0);
    const tz_f64 below = 0.0 + (has_c ? (tz_f64)c : 0.0) + (has_d ? (tz_f64)d : 0.0);
    const tz_f64 count = (tz_f64)(has_a + has_b + has_c + has_d);
    const tz_f64 mean = (0.0 + above + below) / count;
    if (count == 0.0 || mean != mean) /* infinity minus infinity */
        return none;
    const tz_f32 narrow = (tz_f32)mean;
    return has_nodata && narrow == nodata ? neighbour : narrow;
}
#endif

#endif
