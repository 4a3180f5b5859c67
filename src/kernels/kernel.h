/* SPDX-License-Identifier: Apache-2.0
 * One source, three languages: code with these macros compiles as C, as OpenCL C 1.2 and as CUDA C.
 * The C form runs on the CPU, and is the reference for the others.
 *
 * Rules that keep it so: only the fixed-width types of this header; unsigned arithmetic, with casts
 * after promotion; TZ_GLOBAL before each pointer to device memory; no recursion, no library calls,
 * no includes but of this folder; a function works on one element, one row or one tile.
 *
 * TZ_FN            for all other functions: inlined
 * TZ_FN_HOT_LOOP   its loops need all registers: not inlined but on OpenCL
 * TZ_FN_LARGE      large and rarely called: with one copy for all calls, devices compile in half
 *                  the time */
#ifndef TZ_KERNELS_KERNEL_H
#define TZ_KERNELS_KERNEL_H

#if defined(__OPENCL_VERSION__)
#pragma OPENCL FP_CONTRACT OFF
/* always_inline: the inliner of LLVM 15, in PoCL, fails when it weighs a function with loops. */
#define TZ_FN          static inline __attribute__((always_inline))
#define TZ_FN_HOT_LOOP TZ_FN
#define TZ_FN_LARGE    static __attribute__((noinline))
#define TZ_GLOBAL      __global
typedef uchar tz_u8;
typedef ushort tz_u16;
typedef uint tz_u32;
typedef ulong tz_u64;
typedef char tz_i8;
typedef short tz_i16;
typedef int tz_i32;
typedef long tz_i64;
typedef float tz_f32;
#ifdef cl_khr_fp64 /* optional in OpenCL; code that needs it is under TZ_HAS_F64 */
typedef double tz_f64;
#define TZ_HAS_F64        1
#define tz_bits_of_f64(x) as_ulong(x)
#define tz_f64_of_bits(x) as_double((ulong)(x))
#endif
#define tz_bits_of_f32(x) as_uint(x)
#define tz_f32_of_bits(x) as_float(x)
#elif defined(__CUDACC__)
#define TZ_FN          static __device__ __forceinline__
#define TZ_FN_HOT_LOOP static __device__ __noinline__
#define TZ_FN_LARGE    static __device__ __noinline__
#define TZ_GLOBAL
typedef unsigned char tz_u8;
typedef unsigned short tz_u16;
typedef unsigned int tz_u32;
typedef unsigned long long tz_u64;
typedef signed char tz_i8;
typedef short tz_i16;
typedef int tz_i32;
typedef long long tz_i64;
typedef float tz_f32;
typedef double tz_f64;
#define TZ_HAS_F64        1
#define tz_bits_of_f64(x) ((tz_u64)__double_as_longlong(x))
#define tz_f64_of_bits(x) __longlong_as_double((tz_i64)(x))
#define tz_bits_of_f32(x) __float_as_uint(x)
#define tz_f32_of_bits(x) __uint_as_float(x)
#else
#include <stdint.h>
#include <string.h>
#define TZ_FN          static inline
#define TZ_FN_HOT_LOOP static __attribute__((noinline, unused))
#define TZ_FN_LARGE    static inline
#define TZ_GLOBAL
typedef uint8_t tz_u8;
typedef uint16_t tz_u16;
typedef uint32_t tz_u32;
typedef uint64_t tz_u64;
typedef int8_t tz_i8;
typedef int16_t tz_i16;
typedef int32_t tz_i32;
typedef int64_t tz_i64;
typedef float tz_f32;
typedef double tz_f64;
static inline tz_u32 tz_bits_of_f32(tz_f32 x)
{
    tz_u32 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline tz_f32 tz_f32_of_bits(tz_u32 bits)
{
    tz_f32 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
#ifndef TZ_NO_F64 /* defined by the test of devices without doubles */
#define TZ_HAS_F64 1
#endif
static inline tz_u64 tz_bits_of_f64(tz_f64 x)
{
    tz_u64 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline tz_f64 tz_f64_of_bits(tz_u64 bits)
{
    tz_f64 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
#endif

/* Words at any byte address. The samples of a tile and of a caller's raster need not be aligned,
 * but mostly are. PoCL and AMD load through packed structs. NVIDIA's devices load aligned words
 * only: there a test of the address comes first. The types may alias, since the words that one
 * function stores are loaded in another width by the next. */
#if defined(__OPENCL_VERSION__) && !defined(__NV_CL_C_VERSION)
#define TZ_LOAD_STORE(name, type)                                                                  \
    typedef type __attribute__((may_alias)) tz_any_##name; /* aligned */                           \
    typedef struct __attribute__((packed, may_alias)) tz_at_any_##name {                           \
        type x;                                                                                    \
    } tz_at_any_##name;                                                                            \
    TZ_FN type tz_load_##name(const TZ_GLOBAL tz_u8 *p)                                            \
    {                                                                                              \
        return ((const TZ_GLOBAL tz_at_any_##name *)p)->x;                                         \
    }                                                                                              \
    TZ_FN void tz_store_##name(TZ_GLOBAL tz_u8 *p, type x)                                         \
    {                                                                                              \
        ((TZ_GLOBAL tz_at_any_##name *)p)->x = x;                                                  \
    }
#elif defined(__OPENCL_VERSION__) || defined(__CUDACC__)
#define TZ_LOAD_STORE(name, type)                                                                  \
    typedef type __attribute__((may_alias)) tz_any_##name;                                         \
    TZ_FN type tz_load_##name(const TZ_GLOBAL tz_u8 *p)                                            \
    {                                                                                              \
        type x = 0;                                                                                \
        if (((size_t)p & (sizeof(type) - 1u)) == 0u)                                               \
            return *(const TZ_GLOBAL tz_any_##name *)p;                                            \
        for (tz_u32 i = 0; i < sizeof(type); i++)                                                  \
            x |= (type)((type)p[i] << 8 * i);                                                      \
        return x;                                                                                  \
    }                                                                                              \
    TZ_FN void tz_store_##name(TZ_GLOBAL tz_u8 *p, type x)                                         \
    {                                                                                              \
        if (((size_t)p & (sizeof(type) - 1u)) == 0u) {                                             \
            *(TZ_GLOBAL tz_any_##name *)p = x;                                                     \
            return;                                                                                \
        }                                                                                          \
        for (tz_u32 i = 0; i < sizeof(type); i++)                                                  \
            p[i] = (tz_u8)(x >> 8 * i);                                                            \
    }
#else
#define TZ_LOAD_STORE(name, type)                                                                  \
    TZ_FN type tz_load_##name(const tz_u8 *p)                                                      \
    {                                                                                              \
        type x;                                                                                    \
        memcpy(&x, p, sizeof x);                                                                   \
        return x;                                                                                  \
    }                                                                                              \
    TZ_FN void tz_store_##name(tz_u8 *p, type x)                                                   \
    {                                                                                              \
        memcpy(p, &x, sizeof x);                                                                   \
    }
#endif
TZ_LOAD_STORE(u8, tz_u8)
TZ_LOAD_STORE(u16, tz_u16)
TZ_LOAD_STORE(u32, tz_u32)
TZ_LOAD_STORE(u64, tz_u64)

/* ---- byte order ---- */

#define TZ_SWAP(name, type, expression)                                                            \
    TZ_FN type tz_swap_##name(type x)                                                              \
    {                                                                                              \
        return (type)(expression);                                                                 \
    }
TZ_SWAP(u8, tz_u8, x)
TZ_SWAP(u16, tz_u16, x >> 8 | x << 8)
TZ_SWAP(u32, tz_u32, x >> 24 | (x >> 8 & 0xff00u) | (x << 8 & 0xff0000u) | x << 24)
TZ_SWAP(u64, tz_u64, (tz_u64)tz_swap_u32((tz_u32)x) << 32 | tz_swap_u32((tz_u32)(x >> 32)))

/* A loaded word as the number whose lowest byte comes first, and back. All devices are little
 * endian. */
#if !defined(__OPENCL_VERSION__) && !defined(__CUDACC__) && defined(__BYTE_ORDER__) &&             \
    __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define tz_little_u32(x) tz_swap_u32(x)
#define tz_little_u64(x) tz_swap_u64(x)
#else
#define tz_little_u32(x) (x)
#define tz_little_u64(x) (x)
#endif

/* Numbers of a file, lowest byte first, at any address and in any byte order of the machine. */
TZ_FN tz_u32 tz_kernel_le16(const TZ_GLOBAL tz_u8 *at)
{
    return at[0] | (tz_u32)at[1] << 8;
}

TZ_FN tz_u32 tz_kernel_le32(const TZ_GLOBAL tz_u8 *at)
{
    return at[0] | (tz_u32)at[1] << 8 | (tz_u32)at[2] << 16 | (tz_u32)at[3] << 24;
}

TZ_FN tz_u64 tz_kernel_le64(const TZ_GLOBAL tz_u8 *at)
{
    return tz_kernel_le32(at) | (tz_u64)tz_kernel_le32(at + 4) << 32;
}

/* ---- bits and numbers ---- */

/* The zeros above the highest 1 of x and below the lowest; x is not 0. */
#if defined(__OPENCL_VERSION__)
#define tz_leading_zeros_u32(x)  ((tz_u32)clz((tz_u32)(x)))
#define tz_trailing_zeros_u64(x) (63u - (tz_u32)clz((tz_u64)((x) & (0u - (x)))))
#elif defined(__CUDACC__)
#define tz_leading_zeros_u32(x)  ((tz_u32)__clz((int)(x)))
#define tz_trailing_zeros_u64(x) ((tz_u32)__ffsll((tz_i64)(x)) - 1u)
#else
#define tz_leading_zeros_u32(x)  ((tz_u32)__builtin_clz(x))
#define tz_trailing_zeros_u64(x) ((tz_u32)__builtin_ctzll(x))
#endif

/* The whole part of log2(x); x is not 0. */
TZ_FN tz_u32 tz_kernel_log2(tz_u32 x)
{
    return 31u - tz_leading_zeros_u32(x);
}

TZ_FN tz_u32 tz_kernel_min(tz_u32 a, tz_u32 b)
{
    return a < b ? a : b;
}

#endif
