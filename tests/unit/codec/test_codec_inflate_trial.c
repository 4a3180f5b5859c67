/* SPDX-License-Identifier: Apache-2.0
 * The choice of the faster of two inflaters, with made-up times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codec/inflate_isal.h"

/* Tiles that take so long each: how many of them each inflater decodes. */
typedef struct outcome {
    unsigned tiles[2];
    unsigned timed;
    unsigned last;
} outcome;

static outcome decode(tz_inflate_trial *trial, unsigned count, uint64_t cost0, uint64_t cost1)
{
    outcome out = {{0, 0}, 0, 0};
    for (unsigned i = 0; i < count; i++) {
        bool timed;
        unsigned which = tz_inflate_trial_choose(trial, &timed);
        assert_in_range(which, 0, 1);
        out.tiles[which]++;
        out.last = which;
        uint64_t bytes = 1000 + i % 7 * 500; /* tiles differ in size: time per byte counts */
        out.timed += timed;
        if (timed)
            tz_inflate_trial_report(trial, which, (which ? cost1 : cost0) * bytes, bytes);
    }
    return out;
}

static void the_first_tile_is_libdeflates(void **state)
{
    (void)state;
    tz_inflate_trial trial = {0};
    assert_int_equal(decode(&trial, 1, 10, 5).tiles[0], 1);
}

static void what_is_clearly_slower_decodes_few_tiles(void **state)
{
    (void)state;
    tz_inflate_trial trial = {0};
    outcome out = decode(&trial, 2000, 10, 30);
    assert_int_equal(out.last, 0);
    assert_true(out.tiles[1] <= 7);
    trial = (tz_inflate_trial){0};
    out = decode(&trial, 2000, 30, 10);
    assert_int_equal(out.last, 1);
    assert_true(out.tiles[0] <= 7);
}

/* The first is used when they are alike, and few tiles are timed. */
static void a_small_gain_does_not_count(void **state)
{
    (void)state;
    tz_inflate_trial trial = {0};
    outcome out = decode(&trial, 20000, 100, 98);
    assert_true(out.tiles[1] < 200);
    assert_true(out.timed < 400);
    trial = (tz_inflate_trial){0};
    out = decode(&trial, 20000, 100, 95);
    assert_true(out.tiles[0] < 200);
}

static void another_file_changes_the_favourite(void **state)
{
    (void)state;
    tz_inflate_trial trial = {0};
    assert_int_equal(decode(&trial, 300, 10, 30).last, 0);
    outcome out = decode(&trial, 1000, 30, 10);
    assert_int_equal(out.last, 1);
    assert_true(out.tiles[1] > 500);
}

static void failure_ends_the_comparison(void **state)
{
    (void)state;
    tz_inflate_trial trial = {0};
    decode(&trial, 300, 30, 10);
    tz_inflate_trial_give_up(&trial);
    outcome out = decode(&trial, 1000, 30, 10);
    assert_int_equal(out.tiles[1], 0);
    assert_int_equal(decode(&trial, 1000, 30, 10).last, 1); /* but not for ever */
}

static void times_of_zero_are_no_harm(void **state)
{
    (void)state;
    tz_inflate_trial trial = {0};
    assert_int_equal(decode(&trial, 5000, 0, 0).last, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_tile_is_libdeflates),
        cmocka_unit_test(what_is_clearly_slower_decodes_few_tiles),
        cmocka_unit_test(a_small_gain_does_not_count),
        cmocka_unit_test(another_file_changes_the_favourite),
        cmocka_unit_test(failure_ends_the_comparison),
        cmocka_unit_test(times_of_zero_are_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
