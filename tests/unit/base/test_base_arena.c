/* SPDX-License-Identifier: Apache-2.0
 * The arena. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "support/alloc_hook.h"

static void an_empty_arena_holds_nothing(void **state)
{
    (void)state;
    alloc_hook_install();
    tz_arena arena = {0};
    tz_arena_deinit(&arena);
    tz_arena_deinit(&arena);
    assert_int_equal(alloc_hook_stats().allocations, 0);
    alloc_hook_remove();
    assert_int_equal(arena.held, 0);
}

static void every_allocation_is_aligned_and_no_two_overlap(void **state)
{
    (void)state;
    enum { COUNT = 1500 };
    static unsigned char *pieces[COUNT];
    tz_arena arena = {0};
    for (size_t size = 0; size < COUNT; size++) {
        pieces[size] = tz_arena_alloc(&arena, size);
        assert_non_null(pieces[size]);
        assert_int_equal((uintptr_t)pieces[size] % 16, 0);
        memset(pieces[size], (int)(size % 251), size);
    }
    for (size_t size = 0; size < COUNT; size++)
        for (size_t i = 0; i < size; i++)
            assert_int_equal(pieces[size][i], size % 251);
    tz_arena_deinit(&arena);
}

static void pieces_of_size_0_have_addresses_of_their_own(void **state)
{
    (void)state;
    tz_arena arena = {0};
    void *one = tz_arena_alloc(&arena, 0);
    void *two = tz_arena_alloc(&arena, 0);
    assert_non_null(one);
    assert_non_null(two);
    assert_ptr_not_equal(one, two);
    tz_arena_deinit(&arena);
}

static void blocks_double_from_1_to_32_kib(void **state)
{
    (void)state;
    static const uint64_t held[] = {1024, 3072, 7168, 15360, 31744, 64512, 97280, 130048};
    tz_arena arena = {0};
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++) {
        uint64_t before = arena.held;
        while (arena.held == before)
            assert_non_null(tz_arena_alloc(&arena, 100));
        assert_int_equal(arena.held, held[i]);
    }
    tz_arena_deinit(&arena);
    assert_int_equal(arena.held, 0);
}

static void a_large_allocation_costs_its_own_size(void **state)
{
    (void)state;
    tz_arena arena = {0};
    unsigned char *large = tz_arena_alloc(&arena, 1000000);
    assert_non_null(large);
    memset(large, 1, 1000000);
    assert_true(arena.held >= 1000000 && arena.held < 1000000 + 128);
    uint64_t before = arena.held;
    assert_non_null(tz_arena_alloc(&arena, 10));
    assert_int_equal(arena.held, before + 1024); /* the first block is still a small one */
    tz_arena_deinit(&arena);
}

static void a_large_allocation_leaves_the_space_of_the_small_ones(void **state)
{
    (void)state;
    tz_arena arena = {0};
    unsigned char *first = tz_arena_alloc(&arena, 16);
    assert_non_null(tz_arena_alloc(&arena, 5000));
    uint64_t held = arena.held;
    unsigned char *second = tz_arena_alloc(&arena, 16);
    assert_int_equal(arena.held, held);
    assert_true(second > first && second < first + 1024);
    tz_arena_deinit(&arena);
}

static void an_allocation_may_fill_a_block_to_its_last_byte(void **state)
{
    (void)state;
    for (size_t size = 900; size <= 1100; size++) {
        tz_arena arena = {0};
        unsigned char *piece = tz_arena_alloc(&arena, size);
        assert_non_null(piece);
        memset(piece, 5, size);
        unsigned char *next = tz_arena_alloc(&arena, 1);
        assert_non_null(next);
        *next = 6;
        for (size_t i = 0; i < size; i++)
            assert_int_equal(piece[i], 5);
        tz_arena_deinit(&arena);
    }
}

static void small_allocations_fill_a_block_before_the_next(void **state)
{
    (void)state;
    tz_arena arena = {0};
    unsigned char *first = tz_arena_alloc(&arena, 16);
    unsigned char *second = tz_arena_alloc(&arena, 16);
    unsigned char *last = second;
    for (unsigned char *next = second; arena.held == 1024; next = tz_arena_alloc(&arena, 16))
        last = next;
    /* All but the block's header, which is smaller than three allocations. */
    assert_true((last - first) + (second - first) > 1024 - 48);
    tz_arena_deinit(&arena);
}

static void held_is_what_was_asked_of_the_system(void **state)
{
    (void)state;
    alloc_hook_install();
    tz_arena arena = {0};
    for (size_t i = 0; i < 300; i++)
        assert_non_null(tz_arena_alloc(&arena, i * 37 % 9000));
    alloc_stats stats = alloc_hook_stats();
    /* The allocator rounds each block up a little. */
    assert_true((uint64_t)stats.live_bytes >= arena.held);
    assert_true((uint64_t)stats.live_bytes <= arena.held + stats.allocations * 32);
    tz_arena_deinit(&arena);
    assert_int_equal(alloc_hook_stats().live_bytes, 0);
    alloc_hook_remove();
}

static void arrays_are_zero_also_in_used_memory(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        tz_arena arena = {0};
        void *dirty = tz_arena_alloc(&arena, 800);
        assert_non_null(dirty);
        memset(dirty, 0xaa, 800);
        tz_arena_deinit(&arena);
        unsigned char *array = tz_arena_array(&arena, 100, 8);
        assert_non_null(array);
        for (int i = 0; i < 800; i++)
            assert_int_equal(array[i], 0);
        tz_arena_deinit(&arena);
    }
}

static void sizes_that_wrap_are_refused_and_change_nothing(void **state)
{
    (void)state;
    tz_arena arena = {0};
    assert_null(tz_arena_alloc(&arena, SIZE_MAX));
    assert_null(tz_arena_alloc(&arena, SIZE_MAX - 15));
    assert_null(tz_arena_alloc(&arena, PTRDIFF_MAX));
    assert_null(tz_arena_array(&arena, SIZE_MAX / 2 + 1, 2));
    assert_null(tz_arena_array(&arena, SIZE_MAX, SIZE_MAX));
    assert_null(tz_arena_text(&arena, "x", SIZE_MAX));
    assert_null(arena.blocks);
    assert_int_equal(arena.held, 0);
}

static void text_is_copied_whole_and_closed(void **state)
{
    (void)state;
    static const char bytes[5] = {'a', '\0', 'b', '\xff', 'c'}; /* with no NUL after it */
    tz_arena arena = {0};
    char *copy = tz_arena_text(&arena, bytes, sizeof bytes);
    assert_memory_equal(copy, bytes, sizeof bytes);
    assert_int_equal(copy[5], 0);
    assert_string_equal(tz_arena_text(&arena, "xyz", 1), "x");
    assert_string_equal(tz_arena_text(&arena, NULL, 0), "");
    tz_arena_deinit(&arena);
}

/* Small, large and array allocations in turn; false when one of them was refused. */
static bool fill(tz_arena *arena)
{
    bool all = true;
    for (size_t i = 0; i < 60; i++) {
        size_t size = i % 7 == 3 ? 40000 : 200;
        unsigned char *piece = i % 2 ? tz_arena_alloc(arena, size) : tz_arena_array(arena, 1, size);
        if (piece)
            memset(piece, 0x55, size);
        all = all && piece && tz_arena_text(arena, "text", 4);
    }
    return all;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int persistent = 0; persistent < 2; persistent++) {
        for (uint64_t n = 1;; n++) {
            tz_arena arena = {0};
            alloc_hook_install();
            alloc_hook_fail_at(n, persistent);
            bool all = fill(&arena);
            assert_int_equal(all, alloc_hook_stats().failures == 0);
            alloc_hook_fail_at(0, false);
            void *after = tz_arena_alloc(&arena, 50000); /* it is as usable as before */
            assert_non_null(after);
            memset(after, 1, 50000);
            tz_arena_deinit(&arena);
            assert_int_equal(alloc_hook_stats().live_bytes, 0);
            alloc_hook_remove();
            if (all)
                break;
            assert_true(n < 100);
        }
    }
}

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>

static void the_sanitizer_sees_the_end_of_every_allocation(void **state)
{
    (void)state;
    tz_arena arena = {0};
    for (size_t size = 1; size < 200; size++) {
        unsigned char *piece = tz_arena_alloc(&arena, size);
        assert_non_null(piece);
        assert_false(__asan_address_is_poisoned(piece));
        assert_false(__asan_address_is_poisoned(piece + size - 1));
        assert_true(__asan_address_is_poisoned(piece + size));
    }
    tz_arena_deinit(&arena);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_arena_holds_nothing),
        cmocka_unit_test(every_allocation_is_aligned_and_no_two_overlap),
        cmocka_unit_test(pieces_of_size_0_have_addresses_of_their_own),
        cmocka_unit_test(blocks_double_from_1_to_32_kib),
        cmocka_unit_test(a_large_allocation_costs_its_own_size),
        cmocka_unit_test(a_large_allocation_leaves_the_space_of_the_small_ones),
        cmocka_unit_test(an_allocation_may_fill_a_block_to_its_last_byte),
        cmocka_unit_test(small_allocations_fill_a_block_before_the_next),
        cmocka_unit_test(held_is_what_was_asked_of_the_system),
        cmocka_unit_test(arrays_are_zero_also_in_used_memory),
        cmocka_unit_test(sizes_that_wrap_are_refused_and_change_nothing),
        cmocka_unit_test(text_is_copied_whole_and_closed),
        cmocka_unit_test(every_allocation_may_fail),
#ifdef __SANITIZE_ADDRESS__
        cmocka_unit_test(the_sanitizer_sees_the_end_of_every_allocation),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
