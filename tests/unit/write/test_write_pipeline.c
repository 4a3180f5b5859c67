/* SPDX-License-Identifier: Apache-2.0
 * The pipeline: tasks are done by any thread and delivered in order, never more of them at a time
 * than there are slots; the error of the lowest task is the one that is reported. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/pool.h"
#include "support/alloc_hook.h"
#include "support/context.h"
#include "write/pipeline.h"

enum { SLOTS = 5, ALL_PIECES = 100 };

typedef struct log {
    atomic_ullong made;
    uint64_t next; /* to be delivered */
    uint64_t deliveries;
    uint64_t slots[SLOTS];
    uint64_t fail_make;    /* numbers from this one on fail; TZ_NO_VALUE: none */
    uint64_t fail_deliver; /* the same */
    uint64_t cancel_at;
    uint64_t every; /* see needs; 0: nothing is needed */
    atomic_ullong delivered;
} log;

static tz_result make(void *user, uint64_t number, unsigned worker, tz_error *err)
{
    log *l = user;
    const tz_context ctx = {.err = err, .ifd = -1};
    assert_true(worker < 8);
    l->slots[number % SLOTS] = number;
    atomic_fetch_add(&l->made, 1);
    if (l->every > 0)
        assert_true(atomic_load(&l->delivered) >= number / l->every * l->every);
    if (number >= l->fail_make)
        return tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC,
                       tz_at_tile(0, false, number, TZ_NO_VALUE), "bad");
    return TZ_OK;
}

static tz_result deliver(void *user, uint64_t first, size_t count, tz_error *err)
{
    log *l = user;
    const tz_context ctx = {.err = err, .ifd = -1};
    assert_true(count >= 1 && count <= 3);
    assert_int_equal(first, l->next);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(l->slots[(first + i) % SLOTS], first + i);
    if (first + count > l->fail_deliver)
        return tz_fail(&ctx, TZ_ERR_IO, TZ_CAUSE_IO, tz_at_offset(first), "full");
    l->next += count;
    atomic_store(&l->delivered, l->next);
    l->deliveries++;
    return TZ_OK;
}

static tz_result tick(void *user, uint64_t delivered, tz_error *err)
{
    const log *l = user;
    const tz_context ctx = {.err = err, .ifd = -1};
    if (delivered < l->cancel_at)
        return TZ_OK;
    return tz_fail(&ctx, TZ_ERR_CANCELLED, TZ_CAUSE_CANCELLED, tz_no_location(), "stopped");
}

/* Pieces wait for all that came before the last multiple of every. */
static uint64_t needs(void *user, uint64_t number)
{
    const log *l = user;
    return l->every > 0 ? number / l->every * l->every : 0;
}

static log new_log(void)
{
    return (log){.fail_make = TZ_NO_VALUE, .fail_deliver = TZ_NO_VALUE, .cancel_at = TZ_NO_VALUE};
}

static tz_pipeline *open_pipeline(log *l, unsigned threads)
{
    const tz_pipeline_ops ops = {
        .run = make, .deliver = deliver, .needs = needs, .tick = tick, .user = l};
    tz_pipeline *pipeline = NULL;
    assert_int_equal(tz_pipeline_open(&pipeline, threads, SLOTS, 3, &ops, &(tz_context){.ifd = -1}),
                     TZ_OK);
    return pipeline;
}

static void tasks_arrive_in_order(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads++) {
        log l = new_log();
        tz_pipeline *pipeline = open_pipeline(&l, threads);
        uint64_t added = 0;
        for (uint64_t more = 1; more < 60; more++) {
            tz_pipeline_add(pipeline, more);
            added += more;
            if (more % 3 == 0)
                assert_int_equal(tz_pipeline_wait(pipeline, added - more / 2, NULL), TZ_OK);
        }
        assert_int_equal(tz_pipeline_wait(pipeline, added, NULL), TZ_OK);
        assert_int_equal(l.next, added);
        assert_int_equal(atomic_load(&l.made), added);
        tz_pipeline_close(pipeline);
    }
}

static void tasks_wait_for_what_they_need(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads++) {
        for (uint64_t every = 1; every < 12; every++) {
            log l = new_log();
            l.every = every;
            tz_pipeline *pipeline = open_pipeline(&l, threads);
            tz_pipeline_add(pipeline, 70);
            tz_pipeline_add(pipeline, 30);
            assert_int_equal(tz_pipeline_wait(pipeline, 100, NULL), TZ_OK);
            assert_int_equal(l.next, 100);
            tz_pipeline_close(pipeline);
        }
    }
}

static void the_lowest_failure_is_reported(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads++) {
        for (uint64_t bad = 0; bad < 20; bad++) {
            log l = new_log();
            l.fail_make = bad;
            tz_pipeline *pipeline = open_pipeline(&l, threads);
            tz_error err = {0};
            tz_pipeline_add(pipeline, 40);
            assert_int_equal(tz_pipeline_wait(pipeline, 40, &err), TZ_ERR_FORMAT);
            assert_int_equal(err.tile, bad);
            assert_true(l.next <= bad);
            tz_pipeline_close(pipeline);
        }
    }
}

static void a_failed_delivery_ends_it(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        log l = new_log();
        l.fail_deliver = 7;
        tz_pipeline *pipeline = open_pipeline(&l, threads);
        tz_error err = {0};
        tz_pipeline_add(pipeline, 40);
        assert_int_equal(tz_pipeline_wait(pipeline, 40, &err), TZ_ERR_IO);
        assert_true(l.next <= 7);
        tz_pipeline_close(pipeline);
    }
}

static void it_can_be_cancelled(void **state)
{
    (void)state;
    log l = new_log();
    l.cancel_at = 10;
    tz_pipeline *pipeline = open_pipeline(&l, 3);
    tz_error err = {0};
    tz_pipeline_add(pipeline, 1000);
    assert_int_equal(tz_pipeline_wait(pipeline, 1000, &err), TZ_ERR_CANCELLED);
    assert_true(l.next >= 10);
    tz_pipeline_close(pipeline);
}

/* Others deliver everything while the first call of tick is under way: it is called again. */
static tz_result tick_until_delivered(void *user, uint64_t delivered, tz_error *err)
{
    log *l = user;
    while (atomic_load(&l->delivered) < ALL_PIECES)
        sched_yield();
    return tick(user, delivered, err);
}

static void the_last_tick_sees_all_tasks(void **state)
{
    (void)state;
    log l = new_log();
    const tz_pipeline_ops ops = {
        .run = make, .deliver = deliver, .tick = tick_until_delivered, .user = &l};
    tz_pipeline *pipeline = NULL;
    tz_error err = {0};
    l.cancel_at = ALL_PIECES;
    assert_int_equal(tz_pipeline_open(&pipeline, 2, SLOTS, 3, &ops, &(tz_context){.ifd = -1}),
                     TZ_OK);
    tz_pipeline_add(pipeline, ALL_PIECES);
    assert_int_equal(tz_pipeline_wait(pipeline, ALL_PIECES, &err), TZ_ERR_CANCELLED);
    tz_pipeline_close(pipeline);
}

static void it_can_be_closed_at_any_time(void **state)
{
    (void)state;
    for (uint64_t count = 0; count < 50; count++) {
        log l = new_log();
        tz_pipeline *pipeline = open_pipeline(&l, 4);
        tz_pipeline_add(pipeline, count);
        tz_pipeline_close(pipeline);
    }
    tz_pipeline_close(NULL);
}

static int no_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                     void *argument)
{
    (void)thread, (void)attributes, (void)run, (void)argument;
    return EAGAIN;
}

static void it_works_without_threads(void **state)
{
    (void)state;
    log l = new_log();
    tz_set_thread_create(no_thread);
    tz_pipeline *pipeline = open_pipeline(&l, 4);
    tz_pipeline_add(pipeline, 30);
    assert_int_equal(tz_pipeline_wait(pipeline, 30, NULL), TZ_OK);
    tz_pipeline_close(pipeline);
    tz_set_thread_create(NULL);
    assert_int_equal(l.next, 30);
}

static void no_memory_is_an_error(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        log l = new_log();
        const tz_pipeline_ops ops = {.run = make, .deliver = deliver, .user = &l};
        tz_pipeline *pipeline = NULL;
        tz_error err = {0};
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        const tz_result result =
            tz_pipeline_open(&pipeline, 2, SLOTS, 3, &ops, &(tz_context){.err = &err, .ifd = -1});
        tz_pipeline_close(pipeline);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_int_equal(stats.live_bytes, 0);
        assert_int_equal(result, stats.failures ? TZ_ERR_NOMEM : TZ_OK);
        if (stats.failures == 0)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_arrive_in_order),
        cmocka_unit_test(tasks_wait_for_what_they_need),
        cmocka_unit_test(the_lowest_failure_is_reported),
        cmocka_unit_test(a_failed_delivery_ends_it),
        cmocka_unit_test(it_can_be_cancelled),
        cmocka_unit_test(the_last_tick_sees_all_tasks),
        cmocka_unit_test(it_can_be_closed_at_any_time),
        cmocka_unit_test(it_works_without_threads),
        cmocka_unit_test(no_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
