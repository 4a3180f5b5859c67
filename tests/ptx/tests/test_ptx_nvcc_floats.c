/* SPDX-License-Identifier: Apache-2.0
 * Floats in every direction of rounding and conversions as nvcc compiles them
 * (tests/ptx/kernels/floats.cu), against the machine's own. */
#include "ptx_nvcc.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#define ANSWERS 32
#define COUNT   768u

/* In the order of the kernels. */
static const int directions[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Four answers from at on. Operands and results are volatile, so that each is computed where it
 * stands, in the direction that is set. */
#define FOUR(row, at, type, bits, expression)                                                      \
    for (int direction = 0; direction < 4; direction++) {                                          \
        fesetround(directions[direction]);                                                         \
        volatile type result = (type)(expression);                                                 \
        fesetround(FE_TONEAREST);                                                                  \
        (row)[(at) + direction] = bits(result);                                                    \
    }

/* Doubles that may be anything, with many of about the same size, and of small whole numbers. */
static double operand(uint32_t number, uint32_t seed)
{
    static const double extremes[] = {0.0,
                                      -0.0,
                                      1.0,
                                      -1.0,
                                      INFINITY,
                                      -INFINITY,
                                      NAN,
                                      5e-324,
                                      2.2250738585072014e-308,
                                      1.7976931348623157e308,
                                      0.5,
                                      1.5,
                                      2147483647.5,
                                      -2147483648.5,
                                      4294967295.5,
                                      9.3e18};
    enum { EXTREMES = sizeof extremes / sizeof *extremes };
    if (number < EXTREMES * EXTREMES)
        return extremes[seed % 2 ? number % EXTREMES : number / EXTREMES];
    uint64_t bits = kernel_operand(3 * number + 1, seed + 2);
    if (number % 4 == 0)
        return double_of(bits);
    if (number % 4 == 1)
        return (double)(int64_t)bits / 18446744073709551616.0 * (double)(number % 100);
    return (double)((int64_t)bits >> (number % 64)) / 4;
}

static bool is_nan_of(uint64_t bits, bool is_double)
{
    return is_double ? isnan(double_of(bits)) : isnan(float_of((uint32_t)bits));
}

/* Bits are the same, or both are of no number: which one, is not said. */
static void check_row(const char *what, double x, double y, const uint64_t *found,
                      const uint64_t *expected, uint32_t float_answers, uint32_t fake_answers)
{
    for (uint32_t j = 0; j < ANSWERS; j++) {
        bool is_float = j < float_answers || j < fake_answers;
        if (is_float && is_nan_of(found[j], j < fake_answers) &&
            is_nan_of(expected[j], j < fake_answers))
            continue;
        if (found[j] != expected[j])
            fail_msg("%s: answer %u of %a and %a: expected %llx, found %llx", what, j, x, y,
                     (unsigned long long)expected[j], (unsigned long long)found[j]);
    }
}

/* -0 is below 0, and NaN gives way. */
static double least(double x, double y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) ? y : x;
    return x < y || (x == y && signbit(x)) ? x : y;
}

static double most(double x, double y)
{
    return -least(-x, -y);
}

/* ---------------------------------------------------------------------------------------------
 * Doubles
 * ------------------------------------------------------------------------------------------ */

static uint64_t compared(double x, double y)
{
    return (uint64_t)(x < y) | (uint64_t)(x <= y) << 1 | (uint64_t)(x == y) << 2 |
           (uint64_t)(x != y) << 3 | (uint64_t)(x > y) << 4 | (uint64_t)(x >= y) << 5 |
           (uint64_t) !(x < y) << 6 | (uint64_t)isnan(x) << 7;
}

static void doubles_in_c(double a, double b, uint64_t *row)
{
    volatile double x = a, y = b;
    FOUR(row, 0, double, bits_of, x + y)
    FOUR(row, 4, double, bits_of, x - y)
    FOUR(row, 8, double, bits_of, x *y)
    FOUR(row, 12, double, bits_of, x / y)
    FOUR(row, 16, double, bits_of, sqrt(x))
    FOUR(row, 20, double, bits_of, fma(x, y, x))
    row[24] = (bits_of(a) & INT64_MAX) + (bits_of(b) ^ (uint64_t)1 << 63);
    row[25] = bits_of(floor(a));
    row[26] = bits_of(ceil(a));
    row[27] = bits_of(trunc(a));
    row[28] = bits_of(rint(a));
    row[29] = compared(a, b);
    row[30] = bits_of(least(a, b));
    row[31] = bits_of(most(a, b));
}

static void doubles(void **state)
{
    (void)state;
    static double a[COUNT], b[COUNT];
    static uint64_t out[COUNT][ANSWERS];
    for (uint32_t i = 0; i < COUNT; i++) {
        a[i] = operand(i, 0);
        b[i] = operand(i, 1);
    }
    kernel_check_runs(&(kernel_run){.file = "floats",
                                    .kernel = "doubles",
                                    .grid = {COUNT / 64},
                                    .block = {64},
                                    .buffers = {{a, sizeof a}, {b, sizeof b}, {out, sizeof out}}});
    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t row[ANSWERS];
        doubles_in_c(a[i], b[i], row);
        if (isnan(a[i]) || isnan(b[i]))
            row[24] = out[i][24]; /* the sign of no number is not said */
        check_row("doubles", a[i], b[i], out[i], row, 0, ANSWERS);
    }
}

/* ---------------------------------------------------------------------------------------------
 * Floats
 * ------------------------------------------------------------------------------------------ */

/* Infinity as the number that would follow the largest one: for the search below. */
static double half_number(uint32_t half)
{
    uint32_t exponent = half >> 10 & 31, fraction = half & 1023;
    return exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, (int)exponent - 25);
}

static uint64_t half_of(float x)
{
    uint32_t low = 0, high = 0x7C00, sign = signbit(x) ? 0x8000 : 0;
    double number = fabs((double)x);
    if (isnan(x))
        return 0x7FFF;
    if (number >= half_number(high))
        return sign | high;
    while (high - low > 1) {
        uint32_t between = (low + high) / 2;
        if (half_number(between) <= number)
            low = between;
        else
            high = between;
    }
    double below = number - half_number(low), above = half_number(high) - number;
    return sign | (below < above || (below == above && low % 2 == 0) ? low : high);
}

static float of_half(uint32_t half)
{
    double number = half_number(half & 0x7FFF);
    if ((half & 0x7FFF) >= 0x7C00)
        number = (half & 1023) != 0 ? (double)NAN : (double)INFINITY;
    return (float)((half & 0x8000) != 0 ? -number : number);
}

static void floats_in_c(float a, float b, uint64_t *row)
{
    volatile float x = a, y = b;
    FOUR(row, 0, float, bits_of_float, x + y)
    FOUR(row, 4, float, bits_of_float, x - y)
    FOUR(row, 8, float, bits_of_float, x *y)
    FOUR(row, 12, float, bits_of_float, x / y)
    FOUR(row, 16, float, bits_of_float, sqrtf(x))
    FOUR(row, 20, float, bits_of_float, fmaf(x, y, x))
    row[24] = half_of(a);
    row[25] = bits_of_float(of_half(bits_of_float(a) & 0xFFFF));
    row[26] = bits_of_float(floorf(a));
    row[27] = bits_of_float(rintf(a));
    row[28] = bits_of_float(a > 0 ? (a < 1 ? a : 1.0F) : 0.0F);
    row[29] = (uint64_t)(a < b) | (uint64_t)(a >= b) << 1 | (uint64_t) !(a >= b) << 2;
    row[30] = bits_of_float((float)least((double)a, (double)b));
    row[31] = bits_of_float((float)most((double)a, (double)b));
}

static void floats(void **state)
{
    (void)state;
    static float a[COUNT], b[COUNT];
    static uint32_t out[COUNT][ANSWERS];
    for (uint32_t i = 0; i < COUNT; i++) {
        a[i] = i % 4 == 0 ? float_of((uint32_t)kernel_operand(i, 5)) : (float)operand(i, 0);
        b[i] = (float)operand(i, 1);
    }
    kernel_check_runs(&(kernel_run){.file = "floats",
                                    .kernel = "floats",
                                    .grid = {COUNT / 64},
                                    .block = {64},
                                    .buffers = {{a, sizeof a}, {b, sizeof b}, {out, sizeof out}}});
    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t row[ANSWERS], found[ANSWERS];
        floats_in_c(a[i], b[i], row);
        for (uint32_t j = 0; j < ANSWERS; j++)
            found[j] = out[i][j];
        check_row("floats", (double)a[i], (double)b[i], found, row, ANSWERS, 0);
    }
}

/* ---------------------------------------------------------------------------------------------
 * Conversions
 * ------------------------------------------------------------------------------------------ */

/* Values outside become the nearest; NaN becomes 0 from a float to 32 bits, and the highest bit
 * alone otherwise. */
static uint64_t whole(double rounded, bool is_signed, uint32_t bits, bool from_float)
{
    uint64_t top = (uint64_t)1 << (bits - 1);
    double size = ldexp(1, (int)bits - (is_signed ? 1 : 0));
    if (isnan(rounded))
        return from_float && bits == 32 ? 0 : is_signed ? 0 - top : top;
    if (rounded >= size)
        return is_signed ? top - 1 : top - 1 + top;
    if (is_signed)
        return rounded < -size ? 0 - top : (uint64_t)(int64_t)rounded;
    return rounded <= 0 ? 0 : (uint64_t)rounded;
}

static void to_integers_in_c(double a, uint64_t *row)
{
    for (uint32_t j = 0; j < ANSWERS; j++) {
        bool from_float = j >= 16;
        uint32_t form = j / 4 % 4;
        volatile double x = from_float ? (double)(float)a : a;
        fesetround(directions[j % 4]);
        volatile double rounded = rint(x);
        fesetround(FE_TONEAREST);
        row[j] = whole(rounded, form % 2 == 0, form < 2 ? 32 : 64, from_float);
    }
}

static void to_integers(void **state)
{
    (void)state;
    static double a[COUNT];
    static uint64_t out[COUNT][ANSWERS];
    for (uint32_t i = 0; i < COUNT; i++)
        a[i] = operand(i, 0);
    kernel_check_runs(&(kernel_run){.file = "floats",
                                    .kernel = "to_integers",
                                    .grid = {COUNT / 64},
                                    .block = {64},
                                    .buffers = {{a, sizeof a}, {out, sizeof out}}});
    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t row[ANSWERS];
        to_integers_in_c(a[i], row);
        check_row("to integers", a[i], 0, out[i], row, 0, 0);
    }
}

static void from_integers_in_c(uint64_t a, uint64_t *row)
{
    volatile uint64_t x = a;
    volatile double d = double_of(a);
    FOUR(row, 0, double, bits_of, (int64_t)x)
    FOUR(row, 4, double, bits_of, x)
    FOUR(row, 8, float, bits_of_float, (int64_t)x)
    FOUR(row, 12, float, bits_of_float, x)
    FOUR(row, 16, float, bits_of_float, (int32_t)x)
    FOUR(row, 20, float, bits_of_float, (uint32_t)x)
    FOUR(row, 24, float, bits_of_float, d)
    row[28] = bits_of((int32_t)a);
    row[29] = bits_of((uint32_t)a);
    row[30] = bits_of((int8_t)a);
    row[31] = bits_of((double)float_of((uint32_t)a));
}

static void from_integers(void **state)
{
    (void)state;
    static uint64_t a[COUNT], out[COUNT][ANSWERS];
    for (uint32_t i = 0; i < COUNT; i++)
        a[i] = i % 2 ? kernel_operand(i, 0) : bits_of(operand(i, 0));
    kernel_check_runs(&(kernel_run){.file = "floats",
                                    .kernel = "from_integers",
                                    .grid = {COUNT / 64},
                                    .block = {64},
                                    .buffers = {{a, sizeof a}, {out, sizeof out}}});
    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t row[ANSWERS];
        from_integers_in_c(a[i], row);
        /* of doubles at the ends, of floats between */
        if (is_nan_of(row[24], false))
            for (uint32_t j = 24; j < 28; j++)
                row[j] = is_nan_of(out[i][j], false) ? out[i][j] : row[j];
        if (is_nan_of(row[31], true) && is_nan_of(out[i][31], true))
            row[31] = out[i][31];
        check_row("from integers", double_of(a[i]), 0, out[i], row, 0, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles),
        cmocka_unit_test(floats),
        cmocka_unit_test(to_integers),
        cmocka_unit_test(from_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
