/* SPDX-License-Identifier: Apache-2.0
 * Pinned memory that a device keeps between calls: it is taken again, within a bound, by one at a
 * time, and all of it goes with the device. */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/device.h"
#include "support/alloc_hook.h"
#include "support/check.h"
#include "support/device/fault_device.h"

enum { KIB = 1024, CHILD_WENT_WELL = 42 };

static int begin(void **state)
{
    (void)state;
    fault_load();
    return 0;
}

static int end(void **state)
{
    (void)state;
    return fault_live() != 0;
}

#define KEPT(test) cmocka_unit_test_setup_teardown(test, begin, end)

static tz_device *open_keeping(uint64_t bytes)
{
    tz_device_options how = fault_options;
    tz_device *device = NULL;
    tz_error err;
    how.max_pinned_bytes = bytes;
    if (tz_device_open(&device, fault_device_id(), &how, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return device;
}

static void close_it(tz_device *device)
{
    tz_error err;
    if (tz_device_close_checked(device, &err) != TZ_OK)
        fail_msg("%s", err.message);
    assert_int_equal(fault_live(), 0);
}

static tz_device_memory *pin(tz_device *device, uint64_t size)
{
    tz_device_memory *memory = NULL;
    tz_error err;
    if (tz_device_alloc_pinned(device, size, &memory, &err) != TZ_OK)
        fail_msg("%s", err.message);
    assert_int_equal(tz_device_memory_get_size(memory), size);
    memset(memory->host, 0x5a, size);
    return memory;
}

static uint64_t pinned(tz_device *device)
{
    tz_device_counts counts;
    tz_device_get_counts(device, &counts, NULL);
    return counts.pinned;
}

/* Returns true if this much was kept: then the driver is not asked. */
static bool has_kept(tz_device *device, uint64_t size)
{
    const uint64_t before = pinned(device);
    tz_device_memory_free(pin(device, size));
    return pinned(device) == before;
}

static void pinned_memory_is_taken_again(void **state)
{
    (void)state;
    tz_device *device = open_keeping(0);
    tz_device_memory *memory = pin(device, 100 * KIB);
    void *const host = memory->host;
    tz_device_memory_free(memory);
    memory = pin(device, 60 * KIB);
    assert_ptr_equal(memory->host, host);
    assert_int_equal(pinned(device), 1);
    tz_device_memory *other = pin(device, 60 * KIB); /* at the same time */
    assert_true(other->host != host);
    tz_device_memory_free(memory);
    tz_device_memory_free(other);
    memory = pin(device, 50 * KIB); /* the smaller one is enough */
    assert_true(memory->host != host);
    other = pin(device, 100 * KIB); /* all of it is there again */
    assert_ptr_equal(other->host, host);
    assert_int_equal(pinned(device), 2);
    tz_device_memory_free(memory);
    tz_device_memory_free(other);
    assert_false(has_kept(device, 101 * KIB));
    close_it(device);
}

static void no_more_is_kept_than_the_bound(void **state)
{
    (void)state;
    tz_device *device = open_keeping(100 * KIB);
    const int64_t at_first = fault_live();
    tz_device_memory_free(pin(device, 101 * KIB));
    assert_int_equal(fault_live(), at_first);
    tz_device_memory *a = pin(device, 30 * KIB), *b = pin(device, 40 * KIB),
                     *c = pin(device, 50 * KIB);
    tz_device_memory_free(a);
    const int64_t one = fault_live();
    tz_device_memory_free(b);
    tz_device_memory_free(c); /* what was not used for longest goes */
    assert_int_equal(fault_live(), one - 1);
    assert_true(has_kept(device, 50 * KIB));
    assert_true(has_kept(device, 40 * KIB));
    tz_device_memory *both[] = {pin(device, 40 * KIB), pin(device, 40 * KIB)};
    assert_false(has_kept(device, 30 * KIB));
    tz_device_memory_free(both[0]);
    tz_device_memory_free(both[1]);
    close_it(device);
}

static void many_small_tasks_do_not_pile_up(void **state)
{
    (void)state;
    enum { MANY = 40 };
    tz_device *device = open_keeping(0);
    const int64_t at_first = fault_live();
    tz_device_memory *all[MANY];
    for (int i = 0; i < MANY; i++)
        all[i] = pin(device, KIB);
    for (int i = 0; i < MANY; i++)
        tz_device_memory_free(all[i]);
    assert_true(fault_live() - at_first < MANY);
    close_it(device);
}

static void a_device_may_keep_nothing(void **state)
{
    (void)state;
    tz_device *device = open_keeping(1);
    const int64_t at_first = fault_live();
    tz_device_memory_free(pin(device, 10 * KIB));
    assert_int_equal(fault_live(), at_first);
    assert_false(has_kept(device, 10 * KIB));
    close_it(device);
}

/* When memory runs out, kept memory is given up first. */
static void kept_memory_is_given_up_for_new(void **state)
{
    (void)state;
    tz_device *device = open_keeping(0);
    tz_device_memory *memory = NULL;
    tz_error err;
    tz_device_memory_free(pin(device, 10 * KIB));
    fault_set(FAULT_PINNED, 1, FAULT_NO_MEMORY);
    tz_device_memory_free(pin(device, 20 * KIB));
    fault_set(FAULT_ALLOC, 1, FAULT_NO_MEMORY);
    assert_int_equal(tz_device_memory_alloc(&memory, device, 10 * KIB, &err), TZ_OK);
    tz_device_memory_free(memory);
    assert_false(has_kept(device, 20 * KIB));
    fault_reset();
    tz_device_memory_free(pin(device, 20 * KIB)); /* takes it: nothing is left to give up */
    memory = pin(device, 20 * KIB);
    fault_set(FAULT_PINNED, 1, FAULT_NO_MEMORY);
    tz_device_memory *none = NULL;
    assert_int_equal(tz_device_alloc_pinned(device, 30 * KIB, &none, &err), TZ_ERR_NOMEM);
    assert_null(none);
    tz_device_memory_free(memory);
    close_it(device);
}

static void each_allocation_fails_in_turn(void **state)
{
    (void)state;
    tz_device *device = open_keeping(0);
    tz_device_memory_free(pin(device, 10 * KIB));
    for (uint64_t n = 1;; n++) {
        tz_device_memory *memory = NULL;
        tz_error err;
        alloc_hook_install();
        alloc_hook_fail_at(n, true);
        const tz_result result = tz_device_alloc_pinned(device, 10 * KIB, &memory, &err);
        tz_device_memory_free(memory);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_int_equal(stats.live_bytes, 0);
        assert_int_equal(result, stats.failures > 0 ? TZ_ERR_NOMEM : TZ_OK);
        if (stats.failures == 0)
            break;
    }
    assert_true(has_kept(device, 10 * KIB));
    close_it(device);
}

static void a_failed_device_keeps_and_gives_nothing(void **state)
{
    (void)state;
    tz_device *device = open_keeping(0);
    tz_device_memory *memory = pin(device, 10 * KIB), *none = NULL;
    tz_error err;
    tz_device_memory_free(pin(device, 20 * KIB));
    fault_set(FAULT_SYNC, 1, FAULT_LOST);
    assert_int_equal(tz_device_sync(device, 0, &err), TZ_ERR_DEVICE);
    assert_int_equal(tz_device_alloc_pinned(device, 20 * KIB, &none, &err), TZ_ERR_DEVICE);
    assert_null(none);
    tz_device_memory_free(memory);
    fault_reset();
    close_it(device);
}

static void a_child_leaves_it_alone(void **state)
{
    (void)state;
    tz_device *device = open_keeping(0);
    tz_device_memory *memory = pin(device, 10 * KIB);
    tz_device_memory_free(pin(device, 20 * KIB));
    const pid_t child = fork();
    if (child == 0) {
        tz_device_memory *none = NULL;
        tz_error err;
        const bool refused =
            tz_device_alloc_pinned(device, 20 * KIB, &none, &err) == TZ_ERR_DEVICE && !none;
        tz_device_memory_free(memory);
        tz_device_close(device);
        _exit(refused ? CHILD_WENT_WELL : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == CHILD_WENT_WELL);
    assert_true(has_kept(device, 20 * KIB));
    tz_device_memory_free(memory);
    close_it(device);
}

/* ---- threads ---- */

enum { THREADS = 4, TURNS = 50 };

typedef struct turn {
    tz_device *device;
    uint8_t mark;
} turn;

/* Each has what it takes for itself. */
static void *take_turns(void *argument)
{
    const turn *t = argument;
    uintptr_t bad = 0;
    for (unsigned i = 0; i < TURNS; i++) {
        const size_t size = (size_t)(1 + i % 7) * 10 * KIB;
        tz_device_memory *memory = NULL;
        if (tz_device_alloc_pinned(t->device, size, &memory, NULL) != TZ_OK)
            return (void *)(uintptr_t)1;
        memset(memory->host, t->mark, size);
        for (size_t k = 0; k < size; k += 100)
            bad += ((uint8_t *)memory->host)[k] != t->mark;
        tz_device_memory_free(memory);
    }
    return (void *)bad;
}

static void threads_share_what_is_kept(void **state)
{
    (void)state;
    tz_device *device = open_keeping(100 * KIB);
    pthread_t threads[THREADS];
    turn turns[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        turns[i] = (turn){device, (uint8_t)(i + 1)};
        assert_int_equal(pthread_create(&threads[i], NULL, take_turns, &turns[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        void *bad = NULL;
        assert_int_equal(pthread_join(threads[i], &bad), 0);
        assert_null(bad);
    }
    assert_true(pinned(device) < THREADS * TURNS);
    close_it(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KEPT(pinned_memory_is_taken_again),
        KEPT(no_more_is_kept_than_the_bound),
        KEPT(many_small_tasks_do_not_pile_up),
        KEPT(a_device_may_keep_nothing),
        KEPT(kept_memory_is_given_up_for_new),
        KEPT(each_allocation_fails_in_turn),
        KEPT(a_failed_device_keeps_and_gives_nothing),
        KEPT(a_child_leaves_it_alone),
        KEPT(threads_share_what_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
