/* SPDX-License-Identifier: Apache-2.0
 * Checked sizes, allocation and the hook that tests see it through. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "support/alloc_hook.h"

/* ---------------------------------------------------------------------------------------------
 * Checked sizes
 * ------------------------------------------------------------------------------------------ */

static const uint64_t edges[] = {
    0,
    1,
    2,
    3,
    255,
    256,
    65535,
    65536,
    INT32_MAX,
    UINT32_MAX,
    4294967296u,
    INT64_MAX,
    1ull << 63,
    UINT64_MAX / 3,
    UINT64_MAX - 1,
    UINT64_MAX,
};
enum { EDGE_COUNT = sizeof edges / sizeof edges[0] };

/* By division, which cannot overflow. */
static bool product_fits(uint64_t a, uint64_t b)
{
    return a == 0 || b <= UINT64_MAX / a;
}

static void products_and_sums_are_exact_or_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < EDGE_COUNT; i++) {
        for (size_t k = 0; k < EDGE_COUNT; k++) {
            uint64_t a = edges[i], b = edges[k];
            uint64_t product = 77, sum = 77;
            assert_int_equal(tz_mul(a, b, &product), product_fits(a, b));
            assert_true(product == (product_fits(a, b) ? a * b : 77));
            assert_int_equal(tz_add(a, b, &sum), b <= UINT64_MAX - a);
            assert_true(sum == (b <= UINT64_MAX - a ? a + b : 77));
            size_t size = 77;
            bool fits = a == 0 || b <= SIZE_MAX / a;
            assert_int_equal(tz_size_mul((size_t)a, (size_t)b, &size), fits);
            assert_true(size == (fits ? (size_t)(a * b) : 77));
        }
    }
}

static void products_break_exactly_at_the_boundary(void **state)
{
    (void)state;
    uint64_t out = 5;
    assert_true(tz_mul(UINT32_MAX, 4294967297u, &out)); /* (2^32 - 1)(2^32 + 1) = 2^64 - 1 */
    assert_true(out == UINT64_MAX);
    out = 5;
    assert_false(tz_mul(4294967296u, 4294967296u, &out));
    assert_int_equal(out, 5);
    assert_true(tz_add(UINT64_MAX - 7, 7, &out));
    assert_true(out == UINT64_MAX);
    out = 5;
    assert_false(tz_add(UINT64_MAX - 7, 8, &out));
    assert_int_equal(out, 5);
}

static void an_out_parameter_may_be_an_operand(void **state)
{
    (void)state;
    uint64_t value = 6;
    assert_true(tz_mul(value, 7, &value));
    assert_int_equal(value, 42);
    assert_true(tz_add(value, value, &value));
    assert_int_equal(value, 84);
}

static void sizes_in_memory_are_exact_or_refused(void **state)
{
    (void)state;
    size_t size = 77;
    assert_true(tz_to_size(12345, &size));
    assert_int_equal(size, 12345);
    assert_true(tz_to_size(SIZE_MAX, &size));
    assert_true(size == SIZE_MAX);
#if SIZE_MAX < UINT64_MAX
    size = 77;
    assert_false(tz_to_size((uint64_t)SIZE_MAX + 1, &size));
    assert_int_equal(size, 77);
#endif
}

static void ceil_div_rounds_up_without_overflow(void **state)
{
    (void)state;
    assert_int_equal(tz_ceil_div(0, 5), 0);
    assert_int_equal(tz_ceil_div(1, 5), 1);
    assert_int_equal(tz_ceil_div(4, 5), 1);
    assert_int_equal(tz_ceil_div(5, 5), 1);
    assert_int_equal(tz_ceil_div(6, 5), 2);
    assert_true(tz_ceil_div(UINT64_MAX, 1) == UINT64_MAX);
    assert_true(tz_ceil_div(UINT64_MAX, 2) == 1ull << 63);
    assert_true(tz_ceil_div(UINT64_MAX, UINT64_MAX) == 1);
    assert_true(tz_ceil_div(UINT64_MAX - 1, UINT64_MAX) == 1);
}

/* ---------------------------------------------------------------------------------------------
 * Allocation
 * ------------------------------------------------------------------------------------------ */

static void size_0_is_a_pointer_that_can_be_released(void **state)
{
    (void)state;
    void *blocks[] = {tz_alloc(0), tz_alloc_array(0, 8), tz_alloc_zeroed(8, 0),
                      tz_realloc_array(NULL, 0, 0)};
    for (size_t i = 0; i < 4; i++) {
        assert_non_null(blocks[i]);
        tz_free(blocks[i]);
    }
    void *block = tz_realloc_array(tz_alloc(100), 0, 8); /* realloc(p, 0) would release it */
    assert_non_null(block);
    tz_free(block);
    tz_free(NULL);
}

static void a_product_that_wraps_is_refused(void **state)
{
    (void)state;
    size_t half = SIZE_MAX / 2 + 1;
    assert_null(tz_alloc_array(half, 2));
    assert_null(tz_alloc_array(2, half));
    assert_null(tz_alloc_zeroed(half, 2));
    assert_null(tz_alloc_zeroed(SIZE_MAX, SIZE_MAX));
    assert_null(tz_realloc_array(NULL, half, 2));
    assert_null(tz_alloc(SIZE_MAX));
    assert_null(tz_alloc((size_t)PTRDIFF_MAX + 1));
}

static void realloc_keeps_what_was_there_and_the_old_block_on_failure(void **state)
{
    (void)state;
    unsigned char *block = tz_alloc_array(100, 1);
    assert_non_null(block);
    memset(block, 7, 100);
    assert_null(tz_realloc_array(block, SIZE_MAX, 2));
    unsigned char *larger = tz_realloc_array(block, 100000, 1);
    assert_non_null(larger);
    for (int i = 0; i < 100; i++)
        assert_int_equal(larger[i], 7);
    tz_free(larger);
}

static void zeroed_memory_is_zero(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        unsigned char *dirty = tz_alloc(777);
        assert_non_null(dirty);
        memset(dirty, 0xaa, 777);
        tz_free(dirty);
        unsigned char *clean = tz_alloc_zeroed(111, 7);
        assert_non_null(clean);
        for (int i = 0; i < 777; i++)
            assert_int_equal(clean[i], 0);
        tz_free(clean);
    }
}

static void a_string_is_copied_with_its_end(void **state)
{
    (void)state;
    char *copy = tz_copy_string("terrazzo");
    assert_string_equal(copy, "terrazzo");
    tz_free(copy);
    copy = tz_copy_string("");
    assert_string_equal(copy, "");
    tz_free(copy);
}

/* ---------------------------------------------------------------------------------------------
 * The hook
 * ------------------------------------------------------------------------------------------ */

static void the_hook_counts_live_and_peak_bytes(void **state)
{
    (void)state;
    alloc_hook_install();
    void *a = tz_alloc(1000);
    void *b = tz_alloc_zeroed(10, 200);
    alloc_stats both = alloc_hook_stats();
    assert_int_equal(both.allocations, 2);
    assert_true(both.live_bytes >= 3000 && both.live_bytes < 3200);
    tz_free(a);
    a = tz_realloc_array(NULL, 5, 10);
    a = tz_realloc_array(a, 500, 10);
    alloc_stats grown = alloc_hook_stats();
    assert_int_equal(grown.allocations, 4);
    assert_true(grown.live_bytes >= 7000 && grown.live_bytes < 7200);
    tz_free(a);
    tz_free(b);
    alloc_stats end = alloc_hook_stats();
    alloc_hook_remove();
    assert_int_equal(end.live_bytes, 0);
    assert_int_equal(end.peak_bytes, grown.live_bytes);
    assert_true(end.total_bytes >= 1000 + 2000 + 50 + 5000);
}

static void a_transient_failure_is_the_nth_allocation_alone(void **state)
{
    (void)state;
    alloc_hook_install();
    alloc_hook_fail_at(3, false);
    void *blocks[5];
    for (int i = 0; i < 5; i++)
        blocks[i] = tz_alloc(8);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(blocks[i] == NULL, i == 2);
        tz_free(blocks[i]);
    }
    assert_int_equal(alloc_hook_stats().failures, 1);
    assert_int_equal(alloc_hook_stats().allocations, 5);
    assert_int_equal(alloc_hook_stats().live_bytes, 0);
    alloc_hook_remove();
}

static void a_persistent_failure_is_the_nth_allocation_and_all_after(void **state)
{
    (void)state;
    alloc_hook_install();
    tz_free(tz_alloc(1));
    alloc_hook_fail_at(2, true); /* counted from here */
    for (int i = 0; i < 5; i++) {
        void *block = tz_alloc(8);
        assert_int_equal(block == NULL, i >= 1);
        tz_free(block);
    }
    assert_int_equal(alloc_hook_stats().failures, 4);
    alloc_hook_fail_at(0, false);
    void *block = tz_alloc(8);
    assert_non_null(block);
    tz_free(block);
    alloc_hook_remove();
}

static void every_kind_of_allocation_can_be_made_to_fail(void **state)
{
    (void)state;
    void *block = tz_alloc(8);
    alloc_hook_install();
    alloc_hook_fail_at(1, true);
    assert_null(tz_alloc(1));
    assert_null(tz_alloc_array(1, 1));
    assert_null(tz_alloc_zeroed(1, 1));
    assert_null(tz_realloc_array(block, 2, 8));
    assert_null(tz_copy_string("x"));
    assert_int_equal(alloc_hook_stats().failures, 5);
    assert_int_equal(alloc_hook_stats().live_bytes, 0);
    alloc_hook_remove();
    tz_free(block);
}

static void a_hook_may_come_and_go_while_blocks_live(void **state)
{
    (void)state;
    unsigned char *before = tz_alloc(100);
    alloc_hook_install();
    unsigned char *during = tz_alloc(100);
    int64_t one = alloc_hook_stats().live_bytes;
    before = tz_realloc_array(before, 200, 1);
    tz_free(before); /* was not counted in */
    assert_true(alloc_hook_stats().live_bytes < one);
    alloc_hook_remove();
    during = tz_realloc_array(during, 300, 1);
    assert_non_null(during);
    memset(during, 1, 300);
    tz_free(during);
}

static void *allocate_and_release(void *argument)
{
    (void)argument;
    for (size_t i = 0; i < 2000; i++) {
        void *block = tz_alloc(1 + i % 500);
        tz_free(tz_realloc_array(block, 1 + i % 700, 2));
    }
    return NULL;
}

static void the_hook_counts_right_with_many_threads(void **state)
{
    (void)state;
    pthread_t threads[8];
    alloc_hook_install();
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, allocate_and_release, NULL), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    alloc_stats stats = alloc_hook_stats();
    alloc_hook_remove();
    assert_int_equal(stats.allocations, 8 * 2 * 2000);
    assert_int_equal(stats.live_bytes, 0);
    assert_true(stats.peak_bytes >= 1400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_and_sums_are_exact_or_refused),
        cmocka_unit_test(products_break_exactly_at_the_boundary),
        cmocka_unit_test(an_out_parameter_may_be_an_operand),
        cmocka_unit_test(sizes_in_memory_are_exact_or_refused),
        cmocka_unit_test(ceil_div_rounds_up_without_overflow),
        cmocka_unit_test(size_0_is_a_pointer_that_can_be_released),
        cmocka_unit_test(a_product_that_wraps_is_refused),
        cmocka_unit_test(realloc_keeps_what_was_there_and_the_old_block_on_failure),
        cmocka_unit_test(zeroed_memory_is_zero),
        cmocka_unit_test(a_string_is_copied_with_its_end),
        cmocka_unit_test(the_hook_counts_live_and_peak_bytes),
        cmocka_unit_test(a_transient_failure_is_the_nth_allocation_alone),
        cmocka_unit_test(a_persistent_failure_is_the_nth_allocation_and_all_after),
        cmocka_unit_test(every_kind_of_allocation_can_be_made_to_fail),
        cmocka_unit_test(a_hook_may_come_and_go_while_blocks_live),
        cmocka_unit_test(the_hook_counts_right_with_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
