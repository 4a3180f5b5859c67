/* SPDX-License-Identifier: Apache-2.0
 * Integers and bits as nvcc compiles them (tests/ptx/kernels/bits.cu), against C. */
#include "ptx_nvcc.h"

#include <string.h>

#define ANSWERS 32
#define COUNT   512u

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

static uint32_t permuted(uint32_t x, uint32_t y, uint32_t selector)
{
    uint64_t both = (uint64_t)y << 32 | x;
    uint32_t answer = 0;
    for (uint32_t i = 0; i < 4; i++)
        answer |= (uint32_t)(both >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
    return answer;
}

static uint64_t reversed(uint64_t x, uint32_t bits)
{
    uint64_t answer = 0;
    for (uint32_t i = 0; i < bits; i++)
        answer |= (x >> i & 1) << (bits - 1 - i);
    return answer;
}

static uint64_t ones(uint64_t x)
{
    uint64_t count = 0;
    for (; x != 0; x &= x - 1)
        count++;
    return count;
}

/* Zeros above the highest one. */
static uint64_t leading(uint64_t x, uint32_t bits)
{
    uint64_t count = 0;
    while (count < bits && (x >> (bits - 1 - count) & 1) == 0)
        count++;
    return count;
}

/* The place of the lowest one, from 1; 0: none. */
static uint64_t first_one(uint64_t x)
{
    uint64_t place = 1;
    while (place <= 64 && (x >> (place - 1) & 1) == 0)
        place++;
    return place <= 64 ? place : 0;
}

static uint32_t dotted(uint32_t x, uint32_t y, bool is_signed)
{
    uint32_t sum = x ^ y;
    for (uint32_t i = 0; i < 32; i += 8)
        sum += is_signed ? (uint32_t)((int8_t)(x >> i) * (int8_t)(y >> i))
                         : (x >> i & 255) * (y >> i & 255);
    return sum;
}

/* 9 bits from a place on; those beyond the word are its sign. */
static uint32_t field(uint32_t x, uint32_t place, bool is_signed)
{
    int64_t wide = is_signed ? (int32_t)x : (int64_t)x;
    uint32_t bits = (uint32_t)(wide >> place) & 511;
    return is_signed && (bits & 256) != 0 ? bits | ~(uint32_t)511 : bits;
}

static uint64_t inserted(uint64_t x, uint64_t y, uint32_t place, uint32_t count)
{
    uint64_t mask = (((uint64_t)1 << count) - 1) << place;
    return (y & ~mask) | (x << place & mask);
}

static uint32_t middle(uint32_t value, uint32_t shift)
{
    return shift < 32 ? value >> shift : 0;
}

static void words_in_c(uint32_t x, uint32_t y, uint32_t *row)
{
    uint32_t s = y & 63, c = s < 32 ? s : 32;
    uint64_t both = (uint64_t)y << 32 | x;
    uint32_t z = x ^ y << 1;
    int64_t a = (int32_t)x, b = (int32_t)y, d = (int32_t)(y >> 1 | 1);
    const uint32_t answers[ANSWERS] = {
        permuted(x, y, y >> 3),
        (uint32_t)ones(x),
        (uint32_t)reversed(x, 32),
        (uint32_t)first_one(x),
        (uint32_t)leading(x, 32),
        (uint32_t)(both << s % 32 >> 32),
        (uint32_t)(both >> s % 32),
        c == 32 ? x : (uint32_t)(both << c >> 32),
        (uint32_t)(both >> c),
        (x & y) ^ (~x | y >> 5) ^ (x & ~(y << 3)),
        (x & y) | (x & z) | (y & z),
        (uint32_t)((uint64_t)x * y >> 32),
        (uint32_t)(a * b >> 32),
        7 + (x > y ? x - y : y - x),
        7 + (uint32_t)(a > b ? a - b : b - a),
        dotted(x, y, true),
        dotted(x, y, false),
        field(x, y & 31, false),
        field(x, y & 31, true),
        (uint32_t)inserted(x, y, y & 31, 7),
        x / (y | 1),
        x % (y | 1),
        (uint32_t)(a / d),
        (uint32_t)(a % d),
        x << s % 32 | middle(x, (32 - s % 32) % 32),
        (uint32_t)(a >> s % 32),
        (uint32_t)(a < b ? a : b) + (x > y ? x : y),
        (uint32_t)((int32_t)(x | 1) < 0 ? 0 - (x | 1) : x | 1),
        x + (x + y) + (x + y < x),
        x < y ? 10 : 20,
        (uint32_t)(int8_t)x + (uint32_t)(int16_t)(y >> 3) + (uint8_t)(x >> 9),
        x * 0x9E3779B1u + y,
    };
    memcpy(row, answers, sizeof answers);
}

static void words(void **state)
{
    (void)state;
    static uint32_t a[COUNT], b[COUNT], out[COUNT][ANSWERS];
    for (uint32_t i = 0; i < COUNT; i++) {
        a[i] = (uint32_t)kernel_operand(i, 0);
        b[i] = (uint32_t)kernel_operand(i, 1);
    }
    kernel_check_runs(&(kernel_run){.file = "bits",
                                    .kernel = "words",
                                    .grid = {COUNT / 64},
                                    .block = {64},
                                    .buffers = {{a, sizeof a}, {b, sizeof b}, {out, sizeof out}}});
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t row[ANSWERS];
        words_in_c(a[i], b[i], row);
        for (uint32_t j = 0; j < ANSWERS; j++)
            if (out[i][j] != row[j])
                fail_msg("answer %u of %x and %x: expected %x, found %x", j, a[i], b[i], row[j],
                         out[i][j]);
    }
}

/* The lowest number of 64 bits cannot be divided by -1; the kernel never does. */
static void wide_words_in_c(uint64_t x, uint64_t y, uint64_t *row)
{
    uint64_t s = y & 63;
    int64_t a = (int64_t)x, b = (int64_t)y, d = (int64_t)(y >> s >> 1 | 1);
    const uint64_t answers[] = {
        ones(x),
        reversed(x, 64),
        first_one(x),
        leading(x, 64),
        (uint64_t)((u128)x * y >> 64),
        (uint64_t)((s128)a * b >> 64),
        x / (y >> s | 1),
        x % (y >> s | 1),
        (uint64_t)(a / d),
        (uint64_t)(a % d),
        x << s | x >> (64 - s) % 64,
        (uint64_t)(a >> s),
        (x & y) ^ (~x | y),
        (x < y ? x : y) - (uint64_t)(a > b ? a : b),
        x * y + 77,
        (uint64_t)(uint32_t)x * (uint32_t)y + (uint64_t)((int64_t)(int32_t)x * (int32_t)y),
        x >> 17 & (((uint64_t)1 << 40) - 1),
        inserted(x, y, 13, 29),
    };
    memset(row, 0, ANSWERS * sizeof *row);
    memcpy(row, answers, sizeof answers);
}

static void wide_words(void **state)
{
    (void)state;
    static uint64_t a[COUNT], b[COUNT], out[COUNT][ANSWERS];
    for (uint32_t i = 0; i < COUNT; i++) {
        a[i] = kernel_operand(i, 0);
        b[i] = kernel_operand(i, 1);
    }
    kernel_check_runs(&(kernel_run){.file = "bits",
                                    .kernel = "wide_words",
                                    .grid = {COUNT / 64},
                                    .block = {64},
                                    .buffers = {{a, sizeof a}, {b, sizeof b}, {out, sizeof out}}});
    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t row[ANSWERS];
        wide_words_in_c(a[i], b[i], row);
        for (uint32_t j = 0; j < ANSWERS; j++)
            if (out[i][j] != row[j])
                fail_msg("answer %u of %llx and %llx: expected %llx, found %llx", j,
                         (unsigned long long)a[i], (unsigned long long)b[i],
                         (unsigned long long)row[j], (unsigned long long)out[i][j]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(wide_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
