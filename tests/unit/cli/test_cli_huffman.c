/* SPDX-License-Identifier: Apache-2.0
 * Codes of the command's PNG writer: complete, prefix-free, never longer than Deflate allows, and
 * as short as Huffman's where they may be. */
#include "cli/huffman.h"

#include "support/check.h"

static uint64_t kraft_sum(const huffman_code *code)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < HUFFMAN_SYMBOLS; i++) {
        if (code->length[i] > 0)
            sum += (uint64_t)1 << (HUFFMAN_BITS - code->length[i]);
    }
    return sum;
}

/* No code is the beginning of another: bits are compared in the order they are written. */
static void check_prefix_free(const huffman_code *code)
{
    for (size_t a = 0; a < HUFFMAN_SYMBOLS; a++) {
        for (size_t b = 0; b < HUFFMAN_SYMBOLS; b++) {
            if (a == b || code->length[a] == 0 || code->length[b] < code->length[a])
                continue;
            uint32_t mask = (1u << code->length[a]) - 1;
            assert_int_not_equal(code->bits[a], code->bits[b] & mask);
        }
    }
}

static uint64_t check_code(const huffman_code *code, const uint32_t *counts, size_t symbols)
{
    uint64_t cost = 0;
    for (size_t i = 0; i < symbols; i++) {
        assert_true(code->length[i] <= HUFFMAN_BITS);
        if (counts[i] > 0)
            assert_true(code->length[i] > 0);
        cost += (uint64_t)counts[i] * code->length[i];
    }
    assert_int_equal(kraft_sum(code), 1u << HUFFMAN_BITS);
    check_prefix_free(code);
    return cost;
}

/* Huffman's cost, the slow way: the two lightest become one until one is left. */
static uint64_t least_cost(const uint32_t *counts, size_t symbols)
{
    uint64_t weights[HUFFMAN_SYMBOLS];
    size_t left = 0;
    uint64_t cost = 0;
    for (size_t i = 0; i < symbols; i++) {
        if (counts[i] > 0)
            weights[left++] = counts[i];
    }
    while (left > 1) {
        for (size_t k = 0; k < 2; k++) { /* the lightest to the end, then the next */
            for (size_t i = 0; i + k + 1 < left; i++) {
                if (weights[i] < weights[left - 1 - k]) {
                    uint64_t swapped = weights[i];
                    weights[i] = weights[left - 1 - k];
                    weights[left - 1 - k] = swapped;
                }
            }
        }
        weights[left - 2] += weights[left - 1];
        cost += weights[left - 2];
        left--;
    }
    return cost;
}

static void test_codes_are_as_short_as_huffmans(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (int round = 0; round < 200; round++) {
        uint32_t counts[286] = {0};
        for (size_t i = 0; i < 286; i++) {
            seed = seed * 1664525u + 1013904223u;
            counts[i] = seed >> 24 < 100 ? seed >> 8 & 255 : 0;
        }
        counts[256] = 1;
        huffman_code code;
        huffman_make(&code, counts, 286);
        uint64_t cost = check_code(&code, counts, 286);
        assert_int_equal(cost,
                         least_cost(counts, 286)); /* these counts need no more than 15 bits */
    }
}

static void test_counts_that_want_longer_codes(void **state)
{
    (void)state;
    for (size_t symbols = 16; symbols <= 40; symbols++) {
        uint32_t counts[40] = {1, 1};
        for (size_t i = 2; i < symbols; i++)
            counts[i] = counts[i - 1] + counts[i - 2];
        huffman_code code;
        huffman_make(&code, counts, symbols);
        uint64_t cost = check_code(&code, counts, symbols);
        uint64_t least = least_cost(counts, symbols);
        assert_true(cost >= least && cost < least + least / 100);
    }
}

static void test_fewer_than_two_symbols(void **state)
{
    (void)state;
    for (size_t used = 0; used < 30; used++) {
        uint32_t counts[30] = {0};
        if (used > 0)
            counts[used] = 7;
        huffman_code code;
        huffman_make(&code, counts, 30);
        check_code(&code, counts, 30);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes_are_as_short_as_huffmans),
        cmocka_unit_test(test_counts_that_want_longer_codes),
        cmocka_unit_test(test_fewer_than_two_symbols),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
