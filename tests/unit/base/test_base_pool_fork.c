/* SPDX-License-Identifier: Apache-2.0
 * The thread pool across fork. Apart from the other tests of the pool, because the thread sanitizer
 * does not support threads in a child of a process that had some. */
#include <dirent.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/pool.h"
#include "support/alloc_hook.h"

enum { THREADS = 4, COUNT = 200, CHILD_WENT_WELL = 42 };

static tz_pool *open_pool(void)
{
    tz_pool *pool = NULL;
    tz_context ctx = {.ifd = -1};
    assert_int_equal(tz_pool_open(&pool, THREADS, &ctx), TZ_OK);
    return pool;
}

typedef struct tally {
    atomic_uint runs[COUNT];
    atomic_bool seen[THREADS];
} tally;

static tz_result count_index(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    tally *t = user;
    (void)err;
    atomic_fetch_add(&t->runs[index], 1);
    atomic_store(&t->seen[worker], true);
    return TZ_OK;
}

/* Without asserts, which would end the child in the parent's test. */
static bool runs_all(tz_pool *pool)
{
    tally t = {0};
    tz_context ctx = {.ifd = -1};
    bool good = tz_pool_run(pool, COUNT, count_index, &t, NULL, &ctx) == TZ_OK;
    for (int i = 0; i < COUNT; i++)
        good = good && atomic_load(&t.runs[i]) == 1;
    return good;
}

/* All four threads at once, so they must exist. */
static tz_result meet(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    atomic_uint *here = user;
    (void)index, (void)worker, (void)err;
    atomic_fetch_add(here, 1);
    while (atomic_load(here) < THREADS)
        sched_yield();
    return TZ_OK;
}

static bool all_threads_meet(tz_pool *pool)
{
    atomic_uint here = 0;
    tz_context ctx = {.ifd = -1};
    return tz_pool_run(pool, THREADS, meet, &here, NULL, &ctx) == TZ_OK;
}

/* As the system sees them; 0 when it does not say. */
static unsigned thread_count(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks && (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return count;
}

/* Used, with all its threads past their start. The pool does not need the latter, but the address
 * sanitizer does: its allocator, which starting threads use, does not survive a fork. */
static tz_pool *open_used_pool(void)
{
    tz_pool *pool = open_pool();
    assert_true(all_threads_meet(pool));
    return pool;
}

/* A child that hangs is ended: the test fails instead of waiting for ever. */
static int exit_code_of(pid_t child)
{
    for (int i = 0; i < 60000; i++) {
        int status;
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return -1;
}

static void child_exits(bool well)
{
    _exit(well ? CHILD_WENT_WELL : 1);
}

static void a_child_may_use_a_pool_opened_before(void **state)
{
    (void)state;
    tz_pool *pool = open_pool();
    pid_t child = fork();
    if (child == 0) {
        bool good = runs_all(pool) && all_threads_meet(pool);
        tz_pool_close(pool);
        child_exits(good);
    }
    assert_int_equal(exit_code_of(child), CHILD_WENT_WELL);
    assert_true(runs_all(pool));
    tz_pool_close(pool);
}

static void a_child_may_use_a_pool_used_before(void **state)
{
    (void)state;
    tz_pool *pool = open_used_pool();
    pid_t child = fork();
    if (child == 0) {
        bool good = true;
        for (int i = 0; i < 20; i++)
            good = good && runs_all(pool) && all_threads_meet(pool);
        unsigned threads = thread_count(); /* started once, not with every run */
        good = good && (threads == 0 || threads == THREADS);
        tz_pool_close(pool);
        child_exits(good);
    }
    assert_int_equal(exit_code_of(child), CHILD_WENT_WELL);
    assert_true(runs_all(pool)); /* the parent's threads are still there */
    assert_true(all_threads_meet(pool));
    tz_pool_close(pool);
}

static void a_child_may_close_a_pool_unused(void **state)
{
    (void)state;
    tz_pool *pool = open_used_pool();
    pid_t child = fork();
    if (child == 0) {
        tz_pool_close(pool);
        child_exits(true);
    }
    assert_int_equal(exit_code_of(child), CHILD_WENT_WELL);
    tz_pool_close(pool);
}

static void a_grandchild_may_use_the_pool_too(void **state)
{
    (void)state;
    for (int used_between = 0; used_between < 2; used_between++) {
        tz_pool *pool = open_used_pool();
        pid_t child = fork();
        if (child == 0) {
            bool good = !used_between || all_threads_meet(pool);
            pid_t grandchild = fork();
            if (grandchild == 0) {
                good = runs_all(pool) && all_threads_meet(pool);
                tz_pool_close(pool);
                child_exits(good);
            }
            good = good && exit_code_of(grandchild) == CHILD_WENT_WELL && runs_all(pool);
            tz_pool_close(pool);
            child_exits(good);
        }
        assert_int_equal(exit_code_of(child), CHILD_WENT_WELL);
        tz_pool_close(pool);
    }
}

/* ---------------------------------------------------------------------------------------------
 * Forks while other threads run jobs
 * ------------------------------------------------------------------------------------------ */

typedef struct runner {
    tz_pool *pool;
    atomic_bool stop;
    atomic_uint running;
    atomic_bool failed;
} runner;

static void *run_until_stopped(void *argument)
{
    runner *r = argument;
    for (bool first = true; !atomic_load(&r->stop); first = false) {
        if (!runs_all(r->pool))
            atomic_store(&r->failed, true);
        if (first)
            atomic_fetch_add(&r->running, 1);
    }
    return NULL;
}

static void a_fork_in_the_middle_of_other_threads_runs_hangs_nobody(void **state)
{
    (void)state;
    runner r = {.pool = open_used_pool()};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_until_stopped, &r), 0);
    while (atomic_load(&r.running) < 3)
        sched_yield();
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();
        if (child == 0) {
            bool good = runs_all(r.pool);
            tz_pool_close(r.pool);
            child_exits(good);
        }
        assert_int_equal(exit_code_of(child), CHILD_WENT_WELL);
    }
    atomic_store(&r.stop, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_false(atomic_load(&r.failed));
    tz_pool_close(r.pool);
}

static void *run_once(void *argument)
{
    return (void *)(uintptr_t)runs_all(argument);
}

static void many_threads_of_a_child_may_be_the_first_to_use_the_pool(void **state)
{
    (void)state;
    tz_pool *pool = open_used_pool();
    for (int round = 0; round < 20; round++) {
        pid_t child = fork();
        if (child == 0) {
            pthread_t threads[6];
            uintptr_t good = 1;
            for (int i = 0; i < 6; i++)
                good = good && pthread_create(&threads[i], NULL, run_once, pool) == 0;
            for (int i = 0; i < 6 && good; i++) {
                void *result = NULL;
                pthread_join(threads[i], &result);
                good = good && (uintptr_t)result == 1;
            }
            tz_pool_close(pool);
            child_exits(good);
        }
        assert_int_equal(exit_code_of(child), CHILD_WENT_WELL);
    }
    tz_pool_close(pool);
}

static void a_child_without_memory_runs_jobs_alone(void **state)
{
    (void)state;
    tz_pool *pool = open_used_pool();
    pid_t child = fork();
    if (child == 0) {
        alloc_hook_install();
        alloc_hook_fail_at(1, true);
        tally t = {0};
        tz_context ctx = {.ifd = -1};
        bool good = tz_pool_run(pool, COUNT, count_index, &t, NULL, &ctx) == TZ_OK;
        for (int i = 0; i < COUNT; i++)
            good = good && atomic_load(&t.runs[i]) == 1;
        for (int worker = 1; worker < THREADS; worker++)
            good = good && !atomic_load(&t.seen[worker]);
        good = good && alloc_hook_stats().failures > 0;
        alloc_hook_remove();
        good = good && all_threads_meet(pool); /* memory is back, and so are the threads */
        tz_pool_close(pool);
        child_exits(good);
    }
    assert_int_equal(exit_code_of(child), CHILD_WENT_WELL);
    tz_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_may_use_a_pool_opened_before),
        cmocka_unit_test(a_child_may_use_a_pool_used_before),
        cmocka_unit_test(a_child_may_close_a_pool_unused),
        cmocka_unit_test(a_grandchild_may_use_the_pool_too),
        cmocka_unit_test(a_fork_in_the_middle_of_other_threads_runs_hangs_nobody),
        cmocka_unit_test(many_threads_of_a_child_may_be_the_first_to_use_the_pool),
        cmocka_unit_test(a_child_without_memory_runs_jobs_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
