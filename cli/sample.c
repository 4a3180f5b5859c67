/* SPDX-License-Identifier: Apache-2.0
 * Samples of any type as double. Half floats are converted by hand: C11 has no type for them. */
#include "sample.h"

#include <math.h>
#include <string.h>

bool sample_is_complex(tz_dtype dtype)
{
    return dtype >= TZ_DTYPE_COMPLEX_INT16;
}

tz_dtype sample_part(tz_dtype dtype)
{
    switch (dtype) {
    case TZ_DTYPE_COMPLEX_INT16:
        return TZ_DTYPE_INT16;
    case TZ_DTYPE_COMPLEX_INT32:
        return TZ_DTYPE_INT32;
    case TZ_DTYPE_COMPLEX_FLOAT16:
        return TZ_DTYPE_FLOAT16;
    case TZ_DTYPE_COMPLEX_FLOAT32:
        return TZ_DTYPE_FLOAT32;
    case TZ_DTYPE_COMPLEX_FLOAT64:
        return TZ_DTYPE_FLOAT64;
    default:
        return dtype;
    }
}

static double half_to_double(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double mantissa = bits & 1023;
    double size = exponent == 31  ? (mantissa > 0 ? NAN : INFINITY)
                  : exponent == 0 ? ldexp(mantissa, -24)
                                  : ldexp(mantissa + 1024, exponent - 25);
    return bits & 0x8000 ? -size : size;
}

double sample_real(tz_dtype dtype, const void *samples, size_t index)
{
    switch (dtype) {
    case TZ_DTYPE_UINT8:
        return ((const uint8_t *)samples)[index];
    case TZ_DTYPE_INT8:
        return ((const int8_t *)samples)[index];
    case TZ_DTYPE_UINT16:
        return ((const uint16_t *)samples)[index];
    case TZ_DTYPE_INT16:
        return ((const int16_t *)samples)[index];
    case TZ_DTYPE_UINT32:
        return ((const uint32_t *)samples)[index];
    case TZ_DTYPE_INT32:
        return ((const int32_t *)samples)[index];
    case TZ_DTYPE_UINT64:
        return (double)((const uint64_t *)samples)[index];
    case TZ_DTYPE_INT64:
        return (double)((const int64_t *)samples)[index];
    case TZ_DTYPE_FLOAT16:
        return half_to_double(((const uint16_t *)samples)[index]);
    case TZ_DTYPE_FLOAT32:
        return (double)((const float *)samples)[index];
    case TZ_DTYPE_FLOAT64:
        return ((const double *)samples)[index];
    default:
        return NAN;
    }
}
