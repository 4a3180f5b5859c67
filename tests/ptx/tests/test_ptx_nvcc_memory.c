/* SPDX-License-Identifier: Apache-2.0
 * Tables, blocks, shared memory, vectors, jump tables, calls and atomics as nvcc compiles them
 * (tests/ptx/kernels/memory.cu), against C. */
#include "ptx_nvcc.h"

#include <string.h>

#define THREADS 64u

static void tables(void **state)
{
    (void)state;
    static const int32_t primes[] = {2, 3, 5, 7, 11, 13, 17, 19};
    static const int32_t tenths[2][3] = {{5, 15, 25}, {-5, -15, 0}};
    static const int16_t table[] = {-1, 300, -3, 4, -5};
    uint32_t out[THREADS];
    kernel_check_runs(&(kernel_run){
        .file = "memory", .kernel = "tables", .block = {THREADS}, .buffers = {{out, sizeof out}}});
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal((int32_t)out[i],
                         primes[i % 8] * 1000 + tenths[i % 2][i % 3] + table[i % 5] + 1);
}

static void places(void **state)
{
    (void)state;
    enum { WIDE = 3 * 4, HIGH = 2 * 5, DEEP = 2 * 2 };
    uint32_t out[DEEP][HIGH][WIDE];
    const struct {
        uint64_t out;
        uint32_t width;
    } params = {KERNEL_BUFFER(0), WIDE};
    memset(out, 0xFF, sizeof out);
    kernel_check_runs(&(kernel_run){.file = "memory",
                                    .kernel = "places",
                                    .grid = {3, 2, 2},
                                    .block = {4, 5, 2},
                                    .params = &params,
                                    .buffers = {{out, sizeof out}}});
    for (uint32_t z = 0; z < DEEP; z++)
        for (uint32_t y = 0; y < HIGH; y++)
            for (uint32_t x = 0; x < WIDE; x++)
                assert_int_equal(out[z][y][x], x << 20 | y << 10 | z << 5 | 6);
}

static void sums(void **state)
{
    (void)state;
    uint32_t in[3 * THREADS], out[3], expected[3] = {0};
    for (uint32_t i = 0; i < 3 * THREADS; i++) {
        in[i] = (uint32_t)kernel_operand(i + 1000, 0) >> 8;
        expected[i / THREADS] += in[i];
    }
    kernel_check_runs(&(kernel_run){.file = "memory",
                                    .kernel = "sums",
                                    .grid = {3},
                                    .block = {THREADS},
                                    .dynamic_shared = THREADS * 4,
                                    .buffers = {{in, sizeof in}, {out, sizeof out}}});
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(out[i], expected[i] + 0x80000000);
}

static void vectors(void **state)
{
    (void)state;
    uint32_t in[THREADS][4], out[THREADS][4];
    uint8_t bytes[THREADS][4];
    double pairs[THREADS][2];
    for (uint32_t i = 0; i < THREADS * 4; i++) {
        in[i / 4][i % 4] = (uint32_t)kernel_operand(i + 1000, 0);
        bytes[i / 4][i % 4] = (uint8_t)kernel_operand(i + 1000, 1);
        pairs[i / 4][i / 2 % 2] = i;
    }
    kernel_check_runs(&(kernel_run){
        .file = "memory",
        .kernel = "vectors",
        .block = {THREADS},
        .buffers = {
            {in, sizeof in}, {out, sizeof out}, {bytes, sizeof bytes}, {pairs, sizeof pairs}}});
    for (uint32_t i = 0; i < THREADS; i++) {
        const uint8_t *b = bytes[i];
        assert_int_equal(out[i][0], in[i][3]);
        assert_int_equal(out[i][1], in[i][0] + b[0]);
        assert_int_equal(out[i][2], in[i][1] ^ b[3]);
        assert_int_equal(out[i][3], in[i][2] * (uint32_t)(b[2] | b[3] << 8));
        assert_true(pairs[i][0] == 4 * i + 3);
        assert_true(pairs[i][1] == 4 * i + 1 + b[1]);
    }
}

/* Returns the answer of a thread from the old value of its element; some write the second element.
 */
static uint32_t chosen(uint32_t i, uint32_t x, uint32_t old, uint32_t *second)
{
    uint32_t turned = 0, count = 0;
    for (uint32_t bit = 0; bit < 32; bit++) {
        turned |= (x >> bit & 1) << (31 - bit);
        count += x >> bit & 1;
    }
    *second = x % 16 == 2 ? x : x % 16 == 5 ? 1 : x % 16 == 10 ? 2 : *second;
    const uint32_t answers[] = {x * 3 + i, x ^ old, 5,           x / 7, count, ~x,
                                x << 5,    x * x,   x + 2 * old, 0 - x, turned};
    return x % 16 < 11 ? answers[x % 16] : 1000 + x % 16;
}

static void choices(void **state)
{
    (void)state;
    uint32_t in[THREADS], out[2 * THREADS], expected[2 * THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        in[i] = (uint32_t)kernel_operand(i + 1000, 0) / 16 * 16 + i % 16;
        out[i] = i * 1000;
        out[i + THREADS] = expected[i + THREADS] = 77;
        expected[i] = chosen(i, in[i], out[i], &expected[i + THREADS]);
    }
    kernel_check_runs(&(kernel_run){.file = "memory",
                                    .kernel = "choices",
                                    .block = {THREADS},
                                    .buffers = {{in, sizeof in}, {out, sizeof out}}});
    assert_memory_equal(out, expected, sizeof out);
}

/* ---------------------------------------------------------------------------------------------
 * Calls
 * ------------------------------------------------------------------------------------------ */

typedef struct thing {
    uint32_t a;
    double b;
    uint8_t c[5];
} thing;

static thing turned(thing t, uint32_t k)
{
    uint32_t local[16];
    for (uint32_t i = 0; i < 16; i++)
        local[i] = t.a * i + k;
    for (uint32_t i = 0; i < 16; i++)
        local[(i * 7 + k) % 16] ^= local[i];
    t.a = local[k % 16];
    t.b = t.b * k + t.c[k % 5];
    t.c[(k + 1) % 5] = (uint8_t)(t.c[k % 5] + 1);
    return t;
}

static uint64_t power(uint64_t base, uint32_t exponent)
{
    uint64_t answer = 1;
    for (uint32_t i = 0; i < exponent; i++)
        answer *= base;
    return answer;
}

static void calls(void **state)
{
    (void)state;
    thing things[THREADS], expected[THREADS];
    uint64_t out[THREADS];
    const struct {
        uint64_t things, out;
        thing by_value;
        uint8_t odd;
    } params = {KERNEL_BUFFER(0), KERNEL_BUFFER(1), {7, 0.5, {1, 2, 3, 4, 5}}, 3};
    for (uint32_t i = 0; i < THREADS; i++) {
        things[i] = (thing){i * 77777, i / 8.0, {(uint8_t)i, 250, 3, 4, 255}};
        out[i] = i * 1000000;
        expected[i] = turned(turned(things[i], i), i + params.odd);
        expected[i].a += turned(params.by_value, i).a;
    }
    kernel_check_runs(&(kernel_run){.file = "memory",
                                    .kernel = "calls",
                                    .block = {THREADS},
                                    .params = &params,
                                    .buffers = {{things, sizeof things}, {out, sizeof out}}});
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(things[i].a, expected[i].a);
        assert_true(things[i].b == expected[i].b);
        assert_memory_equal(things[i].c, expected[i].c, 5);
        assert_true(out[i] == i * 1000000 + i + power(3, i));
    }
}

/* ---------------------------------------------------------------------------------------------
 * Atomics
 * ------------------------------------------------------------------------------------------ */

#define ALL_THREADS (2 * THREADS)

/* One thread after the other: the end does not depend on who is first. */
static void atomics_in_c(uint32_t *words, uint64_t *wides, float *sum)
{
    for (uint32_t i = 0; i < ALL_THREADS; i++) {
        uint32_t low = i * 7 % 100 + 3;
        int32_t high = (int32_t)(i * 7 % 100) - 50;
        words[0] += i;
        words[1] -= 2;
        words[2] = low < words[2] ? low : words[2];
        words[3] = high > (int32_t)words[3] ? (uint32_t)high : words[3];
        words[4] &= ~((uint32_t)1 << i % 32);
        words[5] |= (uint32_t)1 << i % 32;
        words[6] ^= i * 77;
        words[7] = words[7] >= 9 ? 0 : words[7] + 1;
        words[8] = words[8] == 0 || words[8] > 9 ? 9 : words[8] - 1;
        wides[0] += (uint64_t)i << 33;
        wides[1] = (uint64_t)i << 40;
        *sum += (float)i;
    }
    words[9] = ALL_THREADS;
    for (uint32_t i = 0; i < 4; i++)
        words[11 + i] += 2 * i + ALL_THREADS / 4 * 10;
    wides[2] = ALL_THREADS;
}

static void atomics(void **state)
{
    (void)state;
    uint32_t words[16 + ALL_THREADS], expected[16];
    for (uint32_t i = 0; i < 16; i++)
        words[i] = i == 2 || i == 4 ? UINT32_MAX : i == 9 ? 0 : 20 + i;
    words[3] = (uint32_t)-70;
    uint64_t wides[3] = {5, 6, 0}, expected_wides[3] = {5, 6, 0};
    float sum = 1, expected_sum = 1;
    memcpy(expected, words, sizeof expected);
    atomics_in_c(expected, expected_wides, &expected_sum);
    uint32_t before = words[10];
    kernel_check_runs(&(kernel_run){
        .file = "memory",
        .kernel = "atomics",
        .grid = {2},
        .block = {THREADS},
        .buffers = {{words, sizeof words}, {wides, sizeof wides}, {&sum, sizeof sum}}});
    /* Each took what another one left; all that was there is what they took and what is left. */
    uint32_t taken = words[10], left = before;
    for (uint32_t i = 0; i < ALL_THREADS; i++) {
        taken += words[16 + i];
        left += i;
    }
    assert_int_equal(taken, left);
    expected[10] = words[10];
    assert_memory_equal(words, expected, sizeof expected);
    assert_memory_equal(wides, expected_wides, sizeof wides);
    assert_true(sum == expected_sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),  cmocka_unit_test(places),  cmocka_unit_test(sums),
        cmocka_unit_test(vectors), cmocka_unit_test(choices), cmocka_unit_test(calls),
        cmocka_unit_test(atomics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
