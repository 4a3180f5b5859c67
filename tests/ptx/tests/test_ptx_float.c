/* SPDX-License-Identifier: Apache-2.0
 * PTX on the CPU: floating point and conversions, each form against C; directed rounding against
 * numbers of more precision. */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_case.h"

static float f32(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float x;
    memcpy(&x, &low, 4);
    return x;
}

static double f64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

static uint64_t bits32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return isnan(x) ? 0x7fffffff : bits;
}

static uint64_t bits64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return bits;
}

/* All tests of f64 use one NaN: PTX does not say which one results. */
#define NUMBER_64(text) text " setp.nan.f64 %pq, %gd, %gd; @%pq mov.f64 %gd, 0d7ff8000000000000;"
static uint64_t number64(double x)
{
    return isnan(x) ? 0x7ff8000000000000 : bits64(x);
}

static uint64_t ftz(uint64_t bits)
{
    return (bits & 0x7fffffff) < 0x800000 ? bits & 0x80000000 : bits & 0xffffffff;
}

#define ZF(x) f32(ftz(x))
static uint64_t sat(float x)
{
    return bits32(x > 0 ? (x < 1 ? x : 1) : 0);
}

/* The exact result as a long double rounds to f32 as directed: sums and products of f32 fit into
 * one unless exponents are far apart, where the lowest bit is sticky. */
static float directed(long double x, int way)
{
    float near = (float)x;
    if (isnan(near) || (long double)near == x || isinf(x))
        return near;
    bool above = (long double)near > x;
    if (way == FE_TOWARDZERO)
        way = x < 0 ? FE_UPWARD : FE_DOWNWARD;
    if (way == FE_DOWNWARD && above)
        return nextafterf(near, -INFINITY);
    return way == FE_UPWARD && !above ? nextafterf(near, INFINITY) : near;
}

static float smaller(float a, float b)
{
    return isnan(a) ? b : isnan(b) ? a : a < b || (a == b && signbit(a)) ? a : b;
}

static double larger64(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a > b || (a == b && signbit(b)) ? a : b;
}

/* 64 bits of fraction hold products of f32; a sum of them may lose what only the direction needs.
 */
#define EXACT_PRODUCT(a, b) ((long double)f32(a) * (long double)f32(b))

#define SUMS(X)                                                                                    \
    X(add_f32, "add.f32 %fd, %fa, %fb;", f, d, bits32(f32(a) + f32(b)))                            \
    X(add_rn, "add.rn.f32 %fd, %fa, %fb;", f, d, bits32(f32(a) + f32(b)))                          \
    X(add_ftz, "add.ftz.f32 %fd, %fa, %fb;", f, d, ftz(bits32(ZF(a) + ZF(b))))                     \
    X(add_sat, "add.sat.f32 %fd, %fa, %fb;", f, d, sat(f32(a) + f32(b)))                           \
    X(add_f64, NUMBER_64("add.rn.f64 %gd, %ga, %gb;"), g, d, number64(f64(a) + f64(b)))            \
    X(sub_f32, "sub.rn.f32 %fd, %fa, %fb;", f, d, bits32(f32(a) - f32(b)))                         \
    X(sub_f64, NUMBER_64("sub.f64 %gd, %ga, %gb;"), g, d, number64(f64(a) - f64(b)))               \
    X(mul_f32, "mul.rn.f32 %fd, %fa, %fb;", f, d, bits32(f32(a) * f32(b)))                         \
    X(mul_rz, "mul.rz.f32 %fd, %fa, %fb;", f, d,                                                   \
      bits32(directed(EXACT_PRODUCT(a, b), FE_TOWARDZERO)))                                        \
    X(mul_rm, "mul.rm.f32 %fd, %fa, %fb;", f, d,                                                   \
      bits32(directed(EXACT_PRODUCT(a, b), FE_DOWNWARD)))                                          \
    X(mul_rp, "mul.rp.f32 %fd, %fa, %fb;", f, d, bits32(directed(EXACT_PRODUCT(a, b), FE_UPWARD))) \
    X(mul_f64, NUMBER_64("mul.rn.f64 %gd, %ga, %gb;"), g, d, number64(f64(a) * f64(b)))            \
    X(fma_f32, "fma.rn.f32 %fd, %fa, %fb, %fc;", f, d, bits32(fmaf(f32(a), f32(b), f32(c))))       \
    X(mad_f32, "mad.rn.f32 %fd, %fa, %fb, %fc;", f, d, bits32(fmaf(f32(a), f32(b), f32(c))))       \
    X(fma_f64, NUMBER_64("fma.rn.f64 %gd, %ga, %gb, %gc;"), g, d,                                  \
      number64(fma(f64(a), f64(b), f64(c))))                                                       \
    X(div_f32, "div.rn.f32 %fd, %fa, %fb;", f, d, bits32(f32(a) / f32(b)))                         \
    X(div_approx, "div.approx.f32 %fd, %fa, %fb;", f, d, bits32(f32(a) / f32(b)))                  \
    X(div_full, "div.full.ftz.f32 %fd, %fa, %fb;", f, d, ftz(bits32(ZF(a) / ZF(b))))               \
    X(div_f64, NUMBER_64("div.rn.f64 %gd, %ga, %gb;"), g, d, number64(f64(a) / f64(b)))            \
    X(rcp_f32, "rcp.rn.f32 %fd, %fa;", f, d, bits32(1 / f32(a)))                                   \
    X(rcp_f64, NUMBER_64("rcp.rn.f64 %gd, %ga;"), g, d, number64(1 / f64(a)))                      \
    X(sqrt_f32, "sqrt.rn.f32 %fd, %fa;", f, d, bits32(sqrtf(f32(a))))                              \
    X(sqrt_rm, "sqrt.rm.f32 %fd, %fa;", f, d,                                                      \
      bits32(directed(sqrtl((long double)f32(a)), FE_DOWNWARD)))                                   \
    X(sqrt_f64, NUMBER_64("sqrt.rn.f64 %gd, %ga;"), g, d, number64(sqrt(f64(a))))                  \
    X(min_f32, "min.f32 %fd, %fa, %fb;", f, d, bits32(smaller(f32(a), f32(b))))                    \
    X(min_ftz, "min.ftz.f32 %fd, %fa, %fb;", f, d, bits32(smaller(ZF(a), ZF(b))))                  \
    X(max_f64, NUMBER_64("max.f64 %gd, %ga, %gb;"), g, d, number64(larger64(f64(a), f64(b))))      \
    X(neg_f32, "neg.f32 %fd, %fa;", f, d, a ^ 0x80000000)                                          \
    X(neg_f64, "neg.f64 %gd, %ga;", g, d, a ^ 0x8000000000000000)                                  \
    X(abs_f32, "abs.f32 %fd, %fa;", f, d, a & 0x7fffffff)                                          \
    X(abs_ftz, "abs.ftz.f32 %fd, %fa;", f, d, ftz(a) & 0x7fffffff)                                 \
    X(copysign_f32, "copysign.f32 %fd, %fa, %fb;", f, d, (a & 0x80000000) | (b & 0x7fffffff))      \
    X(copysign_f64, "copysign.f64 %gd, %ga, %gb;", g, d,                                           \
      (a & 0x8000000000000000) | (b & 0x7fffffffffffffff))

/* Signs of zero in smaller and larger are as PTX has them: -0 is below 0. */
#define TESTS(X)                                                                                   \
    X(eq_f32, "setp.eq.f32 %pd, %fa, %fb;", p, d, f32(a) == f32(b))                                \
    X(eq_ftz, "setp.eq.ftz.f32 %pd, %fa, %fb;", p, d, ZF(a) == ZF(b))                              \
    X(ne_f64, "setp.ne.f64 %pd, %ga, %gb;", p, d, islessgreater(f64(a), f64(b)))                   \
    X(lt_f64, "setp.lt.f64 %pd, %ga, %gb;", p, d, isless(f64(a), f64(b)))                          \
    X(le_f32, "setp.le.f32 %pd, %fa, %fb;", p, d, islessequal(f32(a), f32(b)))                     \
    X(gt_f32, "setp.gt.f32 %pd, %fa, %fb;", p, d, isgreater(f32(a), f32(b)))                       \
    X(ge_f64, "setp.ge.f64 %pd, %ga, %gb;", p, d, isgreaterequal(f64(a), f64(b)))                  \
    X(equ_f32, "setp.equ.f32 %pd, %fa, %fb;", p, d, !islessgreater(f32(a), f32(b)))                \
    X(neu_f64, "setp.neu.f64 %pd, %ga, %gb;", p, d, f64(a) != f64(b))                              \
    X(ltu_f64, "setp.ltu.f64 %pd, %ga, %gb;", p, d,                                                \
      isunordered(f64(a), f64(b)) || f64(a) < f64(b))                                              \
    X(leu_f64, "setp.leu.f64 %pd, %ga, %gb;", p, d,                                                \
      isunordered(f64(a), f64(b)) || f64(a) <= f64(b))                                             \
    X(gtu_f32, "setp.gtu.f32 %pd, %fa, %fb;", p, d,                                                \
      isunordered(f32(a), f32(b)) || f32(a) > f32(b))                                              \
    X(geu_f32, "setp.geu.f32 %pd, %fa, %fb;", p, d,                                                \
      isunordered(f32(a), f32(b)) || f32(a) >= f32(b))                                             \
    X(num_f32, "setp.num.f32 %pd, %fa, %fb;", p, d, !isunordered(f32(a), f32(b)))                  \
    X(nan_f64, "setp.nan.f64 %pd, %ga, %gb;", p, d, isunordered(f64(a), f64(b)))                   \
    X(nan_and, "setp.nan.and.f32 %pd, %fa, %fb, %pc;", p, d, isunordered(f32(a), f32(b)) && c & 1) \
    X(finite_f32, "testp.finite.f32 %pd, %fa;", p, d, isfinite(f32(a)) != 0)                       \
    X(infinite_f64, "testp.infinite.f64 %pd, %ga;", p, d, isinf(f64(a)) != 0)                      \
    X(number_f32, "testp.number.f32 %pd, %fa;", p, d, !isnan(f32(a)))                              \
    X(notanumber, "testp.notanumber.f64 %pd, %ga;", p, d, isnan(f64(a)) != 0)                      \
    X(normal_f64, "testp.normal.f64 %pd, %ga;", p, d, isnormal(f64(a)) != 0)                       \
    X(subnormal, "testp.subnormal.f32 %pd, %fa;", p, d, fpclassify(f32(a)) == FP_SUBNORMAL)

/* ---------------------------------------------------------------------------------------------
 * Conversions
 * ------------------------------------------------------------------------------------------ */

/* bits: of the integer, below 0 when signed */
static uint64_t whole(double x, int bits, bool from_f64)
{
    int size = abs(bits);
    double high = ldexp(1, bits < 0 ? size - 1 : size), low = bits < 0 ? -high : 0;
    if (isnan(x))
        return !from_f64 && size < 64 ? 0 : (uint64_t)1 << (size - 1);
    if (x >= high)
        return bits < 0     ? ((uint64_t)1 << (size - 1)) - 1
               : size == 64 ? UINT64_MAX
                            : ((uint64_t)1 << size) - 1;
    if (x <= low)
        return bits < 0 ? (uint64_t)INT64_MIN >> (64 - size) : 0;
    return x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
}

static uint64_t clamped(__int128_t x, __int128_t low, __int128_t high)
{
    return (uint64_t)(x < low ? low : x > high ? high : x);
}

/* Halves by search: the one of all that is nearest. */
static double half_value(unsigned half)
{
    int exponent = half >> 10 & 31;
    double x = exponent ? ldexp(1024 + (half & 1023), exponent - 25) : ldexp(half & 1023, -24);
    return exponent == 31 ? (half & 1023 ? (double)NAN : (double)INFINITY) : x;
}

static uint64_t half_near(double x)
{
    unsigned low = 0, high = 0x7c00, sign = signbit(x) ? 0x8000 : 0;
    x = fabs(x);
    if (isnan(x))
        return 0x7fff;
    if (x >= 65520)
        return sign | 0x7c00;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        *(half_value(middle) <= x ? &low : &high) = middle;
    }
    double below = x - half_value(low), above = (high == 0x7c00 ? 65536 : half_value(high)) - x;
    return sign | (below < above || (below == above && low % 2 == 0) ? low : high);
}

#define F(x) ((double)f32(x))
#define CONVERSIONS(X)                                                                             \
    X(u16_u32, "cvt.u16.u32 %hd, %ra;", h, d, a)                                                   \
    X(u64_u32, "cvt.u64.u32 %dd, %ra;", d, d, (uint32_t)a)                                         \
    X(s64_s32, "cvt.s64.s32 %dd, %ra;", d, d, (int32_t)a)                                          \
    X(u64_s16, "cvt.u64.s16 %dd, %ha;", d, d, (int16_t)a)                                          \
    X(s64_s8, "cvt.s64.s8 %dd, %ra;", d, d, (int8_t)a)                                             \
    X(u32_u8, "cvt.u32.u8 %rd, %ra;", r, d, (uint8_t)a)                                            \
    X(s32_s8, "cvt.s32.s8 %rd, %ha;", r, d, (int8_t)a)                                             \
    X(s8_s32, "cvt.s8.s32 %rd, %ra;", r, d, (int8_t)a)                                             \
    X(u8_s32, "cvt.u8.s32 %rd, %ra;", r, d, (uint8_t)a)                                            \
    X(u16_s8, "cvt.u16.s8 %rd, %ra;", r, d, (uint16_t)(int8_t)a)                                   \
    X(sat_u8, "cvt.sat.u8.s32 %rd, %ra;", r, d, clamped((int32_t)a, 0, 255))                       \
    X(sat_s16, "cvt.sat.s16.s64 %hd, %da;", h, d, clamped((int64_t)a, -32768, 32767))              \
    X(sat_s32, "cvt.sat.s32.u64 %rd, %da;", r, d, clamped(a, 0, INT32_MAX))                        \
    X(sat_u64, "cvt.sat.u64.s64 %dd, %da;", d, d, clamped((int64_t)a, 0, UINT64_MAX))              \
    X(f32_s32, "cvt.rn.f32.s32 %fd, %ra;", f, d, bits32((float)(int32_t)a))                        \
    X(f32_u64, "cvt.rn.f32.u64 %fd, %da;", f, d, bits32((float)a))                                 \
    X(f32_u64_rz, "cvt.rz.f32.u64 %fd, %da;", f, d, bits32(directed(a, FE_TOWARDZERO)))            \
    X(f32_s64_rm, "cvt.rm.f32.s64 %fd, %da;", f, d, bits32(directed((int64_t)a, FE_DOWNWARD)))     \
    X(f32_s64_rp, "cvt.rp.f32.s64 %fd, %da;", f, d, bits32(directed((int64_t)a, FE_UPWARD)))       \
    X(f32_u16, "cvt.rn.f32.u16 %fd, %ha;", f, d, bits32((uint16_t)a))                              \
    X(f32_s8, "cvt.rn.f32.s8 %fd, %ra;", f, d, bits32((int8_t)a))                                  \
    X(f64_s64, "cvt.rn.f64.s64 %gd, %da;", g, d, bits64((double)(int64_t)a))                       \
    X(f64_u64, "cvt.rn.f64.u64 %gd, %da;", g, d, bits64((double)a))                                \
    X(f64_f32, NUMBER_64("cvt.f64.f32 %gd, %fa;"), g, d, number64((double)f32(a)))                 \
    X(f32_f64, "cvt.rn.f32.f64 %fd, %ga;", f, d, bits32((float)f64(a)))                            \
    X(f32_f64_rz, "cvt.rz.f32.f64 %fd, %ga;", f, d, bits32(directed(f64(a), FE_TOWARDZERO)))       \
    X(f32_f64_rp, "cvt.rp.f32.f64 %fd, %ga;", f, d, bits32(directed(f64(a), FE_UPWARD)))           \
    X(f32_f64_ftz, "cvt.rn.ftz.f32.f64 %fd, %ga;", f, d, ftz(bits32((float)f64(a))))               \
    X(f32_f64_sat, "cvt.rn.sat.f32.f64 %fd, %ga;", f, d, sat((float)f64(a)))                       \
    X(f64_f32_sat, "cvt.sat.f64.f32 %gd, %fa;", g, d,                                              \
      bits64(f32(a) > 0 ? (f32(a) < 1 ? (double)f32(a) : 1) : 0))                                  \
    X(f32_rni, "cvt.rni.f32.f32 %fd, %fa;", f, d, bits32(rintf(f32(a))))                           \
    X(f64_rmi, NUMBER_64("cvt.rmi.f64.f64 %gd, %ga;"), g, d, number64(floor(f64(a))))              \
    X(s32_f32_rni, "cvt.rni.s32.f32 %rd, %fa;", r, d, whole(rint(F(a)), -32, false))               \
    X(s32_f32_rzi, "cvt.rzi.s32.f32 %rd, %fa;", r, d, whole(trunc(F(a)), -32, false))              \
    X(u32_f32_rmi, "cvt.rmi.u32.f32 %rd, %fa;", r, d, whole(floor(F(a)), 32, false))               \
    X(u8_f32_rpi, "cvt.rpi.u8.f32 %rd, %fa;", r, d, whole(ceil(F(a)), 8, false))                   \
    X(s16_f64_rni, "cvt.rni.s16.f64 %hd, %ga;", h, d, whole(rint(f64(a)), -16, true))              \
    X(s64_f64_rzi, "cvt.rzi.s64.f64 %dd, %ga;", d, d, whole(trunc(f64(a)), -64, true))             \
    X(u64_f64_rzi, "cvt.rzi.u64.f64 %dd, %ga;", d, d, whole(trunc(f64(a)), 64, true))              \
    X(u64_f32_rpi, "cvt.rpi.u64.f32 %dd, %fa;", d, d, whole(ceil(F(a)), 64, false))                \
    X(s32_f64_rmi, "cvt.rmi.s32.f64 %rd, %ga;", r, d, whole(floor(f64(a)), -32, true))             \
    X(f16_f32, "cvt.rn.f16.f32 %hd, %fa;", h, d, half_near(F(a)))                                  \
    X(f16_f64, "cvt.rn.f16.f64 %hd, %ga;", h, d, half_near(f64(a)))                                \
    X(f32_f16, "cvt.f32.f16 %fd, %ha;", f, d,                                                      \
      bits32((float)(a & 0x8000 ? -half_value(a & 0x7fff) : half_value(a & 0x7fff))))

SUMS(PTX_REFERENCE)
TESTS(PTX_REFERENCE)
CONVERSIONS(PTX_REFERENCE)

static void test_sums(void **state)
{
    static const ptx_row rows[] = {SUMS(PTX_ROW)};
    (void)state;
    ptx_check_rows(rows, sizeof(rows) / sizeof(*rows));
}

static void test_compares(void **state)
{
    static const ptx_row rows[] = {TESTS(PTX_ROW)};
    (void)state;
    ptx_check_rows(rows, sizeof(rows) / sizeof(*rows));
}

static void test_conversions(void **state)
{
    static const ptx_row rows[] = {CONVERSIONS(PTX_ROW)};
    (void)state;
    ptx_check_rows(rows, sizeof(rows) / sizeof(*rows));
}

/* Directed results are around the nearest one: what they say by themselves, of every operation. */
static void test_directions(void **state)
{
    static const struct {
        const char *text;
        uint64_t rz, rm, rp;
    } rows[] = {
        /* 1 + 2^-60, -1 - 2^-60, 1 / 3, -2 / 3, the root of 2 */
        {"mov.f64 %%g1, 0d3ff0000000000000; mov.f64 %%g2, 0d3c30000000000000;"
         "add.%s.f64 %%g3, %%g1, %%g2;",
         0x3ff0000000000000, 0x3ff0000000000000, 0x3ff0000000000001},
        {"mov.f64 %%g1, 0dbff0000000000000; mov.f64 %%g2, 0d3c30000000000000;"
         "sub.%s.f64 %%g3, %%g1, %%g2;",
         0xbff0000000000000, 0xbff0000000000001, 0xbff0000000000000},
        {"mov.f64 %%g1, 0d3ff0000000000000; mov.f64 %%g2, 0d4008000000000000;"
         "div.%s.f64 %%g3, %%g1, %%g2;",
         0x3fd5555555555555, 0x3fd5555555555555, 0x3fd5555555555556},
        {"mov.f64 %%g1, 0d4008000000000000; rcp.%s.f64 %%g3, %%g1;", 0x3fd5555555555555,
         0x3fd5555555555555, 0x3fd5555555555556},
        {"mov.f64 %%g1, 0dc000000000000000; mov.f64 %%g2, 0d4008000000000000;"
         "div.%s.f64 %%g3, %%g1, %%g2;",
         0xbfe5555555555555, 0xbfe5555555555556, 0xbfe5555555555555},
        {"mov.f64 %%g1, 0d4000000000000000; sqrt.%s.f64 %%g3, %%g1;", 0x3ff6a09e667f3bcc,
         0x3ff6a09e667f3bcc, 0x3ff6a09e667f3bcd},
        {"mov.f64 %%g1, 0d3ff0000000000001; mov.f64 %%g2, 0dbff0000000000001;"
         "mul.%s.f64 %%g3, %%g1, %%g2;",
         0xbff0000000000002, 0xbff0000000000003, 0xbff0000000000002},
        {"mov.f64 %%g1, 0d3ff0000000000001; mov.f64 %%g2, 0d3ff0000000000000;"
         "fma.%s.f64 %%g3, %%g1, %%g1, %%g2;",
         0x4000000000000001, 0x4000000000000001, 0x4000000000000002},
        {"mov.u64 %%d2, 9007199254740993; cvt.%s.f64.u64 %%g3, %%d2;", 0x4340000000000000,
         0x4340000000000000, 0x4340000000000001},
        {"mov.u64 %%d2, 9007199254740993; cvt.%s.f64.s64 %%g3, %%d2;", 0x4340000000000000,
         0x4340000000000000, 0x4340000000000001},
    };
    static const char *const ways[] = {"rz", "rm", "rp"};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) * 3; i++) {
        char body[512];
        uint64_t result = 0, wanted[] = {rows[i / 3].rz, rows[i / 3].rm, rows[i / 3].rp};
        int used = snprintf(body, sizeof(body), rows[i / 3].text, ways[i % 3]);
        (void)snprintf(body + used, sizeof(body) - (size_t)used, " st.global.f64 [%%d0], %%g3;");
        ptx_check_runs(&(ptx_kernel){.body = body, .bytes = &result, .size = 8});
        if (result != wanted[i % 3])
            fail_msg("%s: %llx", body, (unsigned long long)result);
        assert_int_equal(fegetround(), FE_TONEAREST);
    }
}

static void test_unknown(void **state)
{
    (void)state;
    ptx_check_unknown("add.ftz.f64 %g1, %g2, %g3;");
    ptx_check_unknown("add.f16 %h1, %h2, %h3;");
    ptx_check_unknown("fma.f32 %f1, %f2, %f3, %f4;");
    ptx_check_unknown("div.f64 %g1, %g2, %g3;");
    ptx_check_unknown("div.approx.f64 %g1, %g2, %g3;");
    ptx_check_unknown("min.nan.f32 %f1, %f2, %f3;");
    ptx_check_unknown("testp.f32 %p1, %f1;");
    ptx_check_unknown("cvt.f32.s32 %f1, %r1;");
    ptx_check_unknown("cvt.s32.f32 %r1, %f1;");
    ptx_check_unknown("cvt.rn.s32.f32 %r1, %f1;");
    ptx_check_unknown("cvt.f32.f64 %f1, %g1;");
    ptx_check_unknown("cvt.rn.f64.f32 %g1, %f1;");
    ptx_check_unknown("cvt.b32.u16 %r1, %h1;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),        cmocka_unit_test(test_compares),
        cmocka_unit_test(test_conversions), cmocka_unit_test(test_directions),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
