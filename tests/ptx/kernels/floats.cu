// SPDX-License-Identifier: Apache-2.0
// Floats with every direction of rounding, and conversions. See tests/ptx/tests/test_ptx_nvcc_floats.c.
#include <cuda_fp16.h>

typedef unsigned int u32;
typedef unsigned long long u64;

#define ANSWERS 32

// In the order to nearest, to zero, up, down.
#define FOUR(row, at, type, f, ...)                                                                \
    row[at] = type(f##_rn(__VA_ARGS__));                                                           \
    row[at + 1] = type(f##_rz(__VA_ARGS__));                                                       \
    row[at + 2] = type(f##_ru(__VA_ARGS__));                                                       \
    row[at + 3] = type(f##_rd(__VA_ARGS__))

extern "C" __global__ void doubles(const double *a, const double *b, u64 *out)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = a[i], y = b[i];
    u64 *row = out + (u64)i * ANSWERS;
    FOUR(row, 0, (u64)__double_as_longlong, __dadd, x, y);
    FOUR(row, 4, (u64)__double_as_longlong, __dsub, x, y);
    FOUR(row, 8, (u64)__double_as_longlong, __dmul, x, y);
    FOUR(row, 12, (u64)__double_as_longlong, __ddiv, x, y);
    FOUR(row, 16, (u64)__double_as_longlong, __dsqrt, x);
    FOUR(row, 20, (u64)__double_as_longlong, __fma, x, y, x);
    row[24] = (u64)__double_as_longlong(fabs(x)) + (u64)__double_as_longlong(-y);
    row[25] = (u64)__double_as_longlong(floor(x));
    row[26] = (u64)__double_as_longlong(ceil(x));
    row[27] = (u64)__double_as_longlong(trunc(x));
    row[28] = (u64)__double_as_longlong(rint(x));
    row[29] = (u64)(x < y) | (u64)(x <= y) << 1 | (u64)(x == y) << 2 | (u64)(x != y) << 3 |
              (u64)(x > y) << 4 | (u64)(x >= y) << 5 | (u64)!(x < y) << 6 | (u64)isnan(x) << 7;
    row[30] = (u64)__double_as_longlong(fmin(x, y));
    row[31] = (u64)__double_as_longlong(fmax(x, y));
}

extern "C" __global__ void floats(const float *a, const float *b, u32 *out)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i], y = b[i];
    u32 *row = out + (u64)i * ANSWERS;
    FOUR(row, 0, __float_as_uint, __fadd, x, y);
    FOUR(row, 4, __float_as_uint, __fsub, x, y);
    FOUR(row, 8, __float_as_uint, __fmul, x, y);
    FOUR(row, 12, __float_as_uint, __fdiv, x, y);
    FOUR(row, 16, __float_as_uint, __fsqrt, x);
    FOUR(row, 20, __float_as_uint, __fmaf, x, y, x);
    row[24] = __half_as_ushort(__float2half_rn(x));
    row[25] = __float_as_uint(__half2float(__ushort_as_half((unsigned short)__float_as_uint(x))));
    row[26] = __float_as_uint(floorf(x));
    row[27] = __float_as_uint(rintf(x));
    row[28] = __float_as_uint(__saturatef(x));
    row[29] = (u32)(x < y) | (u32)(x >= y) << 1 | (u32)!(x >= y) << 2;
    row[30] = __float_as_uint(fminf(x, y));
    row[31] = __float_as_uint(fmaxf(x, y));
}

extern "C" __global__ void to_integers(const double *a, u64 *out)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = a[i];
    float f = (float)x;
    u64 *row = out + (u64)i * ANSWERS;
    FOUR(row, 0, (u64), __double2int, x);
    FOUR(row, 4, (u64), __double2uint, x);
    FOUR(row, 8, (u64), __double2ll, x);
    FOUR(row, 12, (u64), __double2ull, x);
    FOUR(row, 16, (u64), __float2int, f);
    FOUR(row, 20, (u64), __float2uint, f);
    FOUR(row, 24, (u64), __float2ll, f);
    FOUR(row, 28, (u64), __float2ull, f);
}

extern "C" __global__ void from_integers(const u64 *a, u64 *out)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u64 x = a[i];
    double d = __longlong_as_double((long long)x);
    u64 *row = out + (u64)i * ANSWERS;
    FOUR(row, 0, (u64)__double_as_longlong, __ll2double, (long long)x);
    FOUR(row, 4, (u64)__double_as_longlong, __ull2double, x);
    FOUR(row, 8, __float_as_uint, __ll2float, (long long)x);
    FOUR(row, 12, __float_as_uint, __ull2float, x);
    FOUR(row, 16, __float_as_uint, __int2float, (int)x);
    FOUR(row, 20, __float_as_uint, __uint2float, (u32)x);
    FOUR(row, 24, __float_as_uint, __double2float, d);
    row[28] = (u64)__double_as_longlong((double)(int)x);
    row[29] = (u64)__double_as_longlong((double)(u32)x);
    row[30] = (u64)__double_as_longlong((double)(signed char)x);
    row[31] = (u64)__double_as_longlong((double)__uint_as_float((u32)x));
}
