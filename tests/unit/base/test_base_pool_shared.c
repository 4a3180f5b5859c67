/* SPDX-License-Identifier: Apache-2.0
 * The pool that all reads of a process share. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/pool.h"

enum { MOST = 64 };

/* Counters of a job: workers that run at once, and runs of each index. */
typedef struct watch {
    atomic_uint busy[MOST]; /* by number of worker */
    atomic_uint at_once;
    atomic_uint most_at_once;
    atomic_uint ran[5000];
    atomic_bool wrong;
    unsigned threads;
} watch;

static tz_result look(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    watch *w = user;
    (void)err;
    if (worker >= w->threads || atomic_fetch_add(&w->busy[worker], 1) != 0)
        atomic_store(&w->wrong, true);
    const unsigned now = atomic_fetch_add(&w->at_once, 1) + 1;
    unsigned most = atomic_load(&w->most_at_once);
    while (now > most && !atomic_compare_exchange_weak(&w->most_at_once, &most, now))
        continue;
    for (volatile int i = 0; i < 2000; i++)
        continue;
    atomic_fetch_add(&w->ran[index], 1);
    atomic_fetch_sub(&w->at_once, 1);
    if (worker < MOST)
        atomic_fetch_sub(&w->busy[worker], 1);
    return TZ_OK;
}

static void run_and_check(unsigned threads, uint64_t count)
{
    const tz_context ctx = {.ifd = -1};
    watch *w = calloc(1, sizeof *w);
    w->threads = threads;
    assert_int_equal(tz_pool_run_shared(threads, count, look, w, NULL, &ctx), TZ_OK);
    assert_false(atomic_load(&w->wrong));
    assert_true(atomic_load(&w->most_at_once) <= threads);
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(atomic_load(&w->ran[i]), 1);
    free(w);
}

static void never_more_threads_than_asked_for(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= tz_pool_shared_threads() && threads < MOST; threads++)
        run_and_check(threads, 5000);
    run_and_check(2, 1);
    run_and_check(2, 0);
}

static void more_threads_than_cores_is_fine(void **state)
{
    (void)state;
    const unsigned cores = tz_pool_shared_threads();
    if (cores + 3 < MOST)
        run_and_check(cores + 3, 3000);
}

static void *run_many(void *argument)
{
    (void)argument;
    for (int i = 0; i < 20; i++)
        run_and_check(2, 200);
    return NULL;
}

static void several_callers_have_numbers_of_their_own(void **state)
{
    (void)state;
    pthread_t callers[8];
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, run_many, NULL), 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_join(callers[i], NULL), 0);
}

static tz_result fail_at_7(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    (void)user;
    (void)worker;
    if (index < 7)
        return TZ_OK;
    return tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC, tz_at_offset(index), "broken");
}

static void the_lowest_failure_is_returned(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        tz_error err;
        const tz_context ctx = {.err = &err, .ifd = -1};
        assert_int_equal(tz_pool_run_shared(2, 1000, fail_at_7, NULL, NULL, &ctx), TZ_ERR_FORMAT);
        assert_int_equal(err.offset, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_more_threads_than_asked_for),
        cmocka_unit_test(more_threads_than_cores_is_fine),
        cmocka_unit_test(several_callers_have_numbers_of_their_own),
        cmocka_unit_test(the_lowest_failure_is_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
