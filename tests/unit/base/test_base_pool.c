/* SPDX-License-Identifier: Apache-2.0
 * The thread pool: what is run, in which order, and which error is returned. */
#define _GNU_SOURCE /* sched_setaffinity */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/pool.h"
#include "support/alloc_hook.h"

enum { COUNT = 5000, THREADS = 4 };

static void sleep_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0)
        continue;
}

static tz_context context_for(tz_error *err)
{
    return (tz_context){.err = err, .ifd = -1};
}

static tz_pool *open_pool(unsigned threads)
{
    tz_pool *pool = NULL;
    tz_context ctx = context_for(NULL);
    assert_int_equal(tz_pool_open(&pool, threads, &ctx), TZ_OK);
    assert_int_equal(tz_pool_threads(pool), threads);
    return pool;
}

static tz_result run(tz_pool *pool, uint64_t count, tz_pool_job job, void *user)
{
    tz_context ctx = context_for(NULL);
    return tz_pool_run(pool, count, job, user, NULL, &ctx);
}

static tz_result fail_index(uint64_t index, tz_error *err)
{
    tz_context ctx = context_for(err);
    return tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC, tz_at_tile(0, false, index, TZ_NO_VALUE),
                   "bad tile");
}

/* ---------------------------------------------------------------------------------------------
 * Every index, once, in order
 * ------------------------------------------------------------------------------------------ */

typedef struct tally {
    atomic_uint runs[COUNT];       /* per index */
    atomic_uint started;           /* in all */
    atomic_bool busy[THREADS];     /* per worker */
    int64_t last[THREADS];         /* index of this worker before */
    atomic_bool out_of_order;      /* a worker saw a lower index than before */
    atomic_bool started_too_early; /* an index started with more lower ones open than threads */
    atomic_bool shared;            /* two threads had one worker number at once */
    atomic_bool worker_out_of_bounds;
} tally;

static tally *make_tally(void)
{
    tally *t = calloc(1, sizeof *t);
    assert_non_null(t);
    for (int i = 0; i < THREADS; i++)
        t->last[i] = -1;
    return t;
}

static tz_result count_index(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    tally *t = user;
    (void)err;
    if (worker >= THREADS) {
        atomic_store(&t->worker_out_of_bounds, true);
        return TZ_OK;
    }
    if (atomic_exchange(&t->busy[worker], true))
        atomic_store(&t->shared, true);
    if ((int64_t)index <= t->last[worker])
        atomic_store(&t->out_of_order, true);
    t->last[worker] = (int64_t)index;
    /* All lower indices were handed out before; each other thread may be about to start one. */
    if (atomic_fetch_add(&t->started, 1) + THREADS <= index)
        atomic_store(&t->started_too_early, true);
    atomic_fetch_add(&t->runs[index], 1);
    atomic_store(&t->busy[worker], false);
    return TZ_OK;
}

static void assert_all_once(tally *t, uint64_t count)
{
    for (uint64_t i = 0; i < COUNT; i++)
        assert_int_equal(atomic_load(&t->runs[i]), i < count);
    assert_false(atomic_load(&t->out_of_order));
    assert_false(atomic_load(&t->started_too_early));
    assert_false(atomic_load(&t->shared));
    assert_false(atomic_load(&t->worker_out_of_bounds));
    free(t);
}

static void every_index_runs_once_and_in_order(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= THREADS; threads++) {
        tz_pool *pool = open_pool(threads);
        static const uint64_t counts[] = {0, 1, 2, 3, 7, 100, COUNT};
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            tally *t = make_tally();
            assert_int_equal(run(pool, counts[i], count_index, t), TZ_OK);
            assert_all_once(t, counts[i]);
        }
        tz_pool_close(pool);
    }
}

static void a_pool_can_be_closed_unused_and_null(void **state)
{
    (void)state;
    tz_pool_close(NULL);
    for (int i = 0; i < 50; i++)
        tz_pool_close(open_pool(8));
}

static void a_pool_can_be_opened_used_and_closed_again_and_again(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        tz_pool *pool = open_pool(THREADS);
        tally *t = make_tally();
        assert_int_equal(run(pool, 10, count_index, t), TZ_OK);
        assert_all_once(t, 10);
        tz_pool_close(pool);
    }
}

static void threads_0_is_the_number_of_cores(void **state)
{
    (void)state;
    tz_pool *pool = NULL;
    tz_context ctx = context_for(NULL);
    unsigned cores = tz_available_cpus();
    assert_true(cores >= 1);
    assert_int_equal(tz_pool_open(&pool, 0, &ctx), TZ_OK);
    assert_int_equal(tz_pool_threads(pool), cores < 1024 ? cores : 1024);
    tz_pool_close(pool);
    assert_int_equal(tz_pool_open(&pool, 1000000, &ctx), TZ_OK);
    assert_int_equal(tz_pool_threads(pool), 1024);
    tz_pool_close(pool);
}

static void cores_that_the_affinity_mask_forbids_do_not_count(void **state)
{
    (void)state;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    size_t allowed = 0;
    while (!CPU_ISSET(allowed, &before))
        allowed++;
    CPU_ZERO(&one);
    CPU_SET(allowed, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    unsigned cores = tz_available_cpus();
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(cores, 1);
    assert_true(tz_available_cpus() <= (unsigned)CPU_COUNT(&before));
}

/* All threads meet: only threads that run at the same time can. */
typedef struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    unsigned here;
} meeting;

static tz_result meet(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    meeting *m = user;
    (void)index, (void)worker, (void)err;
    pthread_mutex_lock(&m->lock);
    if (++m->here == THREADS)
        pthread_cond_broadcast(&m->all_here);
    while (m->here < THREADS)
        pthread_cond_wait(&m->all_here, &m->lock);
    pthread_mutex_unlock(&m->lock);
    return TZ_OK;
}

static void a_pool_of_n_runs_n_indices_at_once(void **state)
{
    (void)state;
    tz_pool *pool = open_pool(THREADS);
    meeting m = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    assert_int_equal(run(pool, THREADS, meet, &m), TZ_OK);
    assert_int_equal(m.here, THREADS);
    tz_pool_close(pool);
}

/* ---------------------------------------------------------------------------------------------
 * Errors
 * ------------------------------------------------------------------------------------------ */

typedef struct failing {
    bool fails[COUNT];
    atomic_uint started;
    uint64_t seed;
} failing;

static tz_result fail_some(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    failing *f = user;
    (void)worker;
    atomic_fetch_add(&f->started, 1);
    for (uint64_t i = (f->seed ^ index * 0x9e3779b97f4a7c15u) >> 60; i > 0; i--)
        sched_yield(); /* so that a later index often ends first */
    return f->fails[index] ? fail_index(index, err) : TZ_OK;
}

static void the_lowest_failing_index_is_returned_whatever_ends_first(void **state)
{
    (void)state;
    tz_pool *pool = open_pool(THREADS);
    uint64_t seed = 4711;
    for (int round = 0; round < 500; round++) {
        static failing f;
        memset(&f, 0, sizeof f);
        uint64_t lowest = TZ_NO_VALUE;
        for (uint64_t i = 0; i < 40; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            f.fails[i] = (seed >> 60) == 0;
            if (f.fails[i] && lowest == TZ_NO_VALUE)
                lowest = i;
        }
        f.seed = seed;
        tz_error err = {.result = TZ_OK};
        tz_context ctx = context_for(&err);
        tz_result result = tz_pool_run(pool, 40, fail_some, &f, NULL, &ctx);
        assert_int_equal(result, lowest == TZ_NO_VALUE ? TZ_OK : TZ_ERR_FORMAT);
        assert_int_equal(err.result, result);
        if (lowest != TZ_NO_VALUE)
            assert_int_equal(err.tile, lowest);
    }
    tz_pool_close(pool);
}

/* From index 2 on all fail, and index 2 after all others. */
static tz_result fail_late(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    (void)user, (void)worker;
    if (index < 2)
        return TZ_OK;
    if (index == 2)
        sleep_ms(60);
    return fail_index(index, err);
}

static void a_lower_index_that_fails_later_wins(void **state)
{
    (void)state;
    tz_pool *pool = open_pool(THREADS);
    tz_error err;
    tz_context ctx = context_for(&err);
    assert_int_equal(tz_pool_run(pool, 100, fail_late, NULL, NULL, &ctx), TZ_ERR_FORMAT);
    assert_int_equal(err.tile, 2);
    assert_int_equal(err.cause, TZ_CAUSE_CODEC);
    tz_pool_close(pool);
}

static void after_a_failure_no_new_index_starts(void **state)
{
    (void)state;
    tz_pool *pool = open_pool(1);
    static failing f;
    memset(&f, 0, sizeof f);
    f.fails[5] = true;
    assert_int_equal(run(pool, COUNT, fail_some, &f), TZ_ERR_FORMAT);
    assert_int_equal(atomic_load(&f.started), 6);
    tz_pool_close(pool);
}

static tz_result fail_in_turn(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    failing *f = user;
    (void)worker;
    unsigned before = atomic_fetch_add(&f->started, 1);
    while (before < THREADS && atomic_load(&f->started) < THREADS)
        sched_yield(); /* every thread has an index now */
    if (index == 1)
        return fail_index(index, err);
    sleep_ms(300);
    return TZ_OK;
}

static void after_a_failure_in_one_thread_the_others_stop(void **state)
{
    (void)state;
    tz_pool *pool = open_pool(THREADS);
    static failing f;
    memset(&f, 0, sizeof f);
    assert_int_equal(run(pool, COUNT, fail_in_turn, &f), TZ_ERR_FORMAT);
    /* None beyond the first ones; should the failing thread be kept waiting, one more of each. */
    assert_in_range(atomic_load(&f.started), THREADS, 2 * THREADS);
    tz_pool_close(pool);
}

static tz_result fail_silently(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    (void)user, (void)index, (void)worker, (void)err;
    return TZ_ERR_DEVICE;
}

static void a_failure_without_an_error_gets_one(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        tz_pool *pool = open_pool(threads);
        tz_error err;
        memset(&err, 0xee, sizeof err);
        tz_context ctx = context_for(&err);
        assert_int_equal(tz_pool_run(pool, 3, fail_silently, NULL, NULL, &ctx), TZ_ERR_DEVICE);
        assert_int_equal(err.result, TZ_ERR_DEVICE);
        assert_int_equal(err.ifd, -1);
        assert_int_equal(err.tile, -1);
        assert_string_equal(err.message, "device");
        tz_pool_close(pool);
    }
}

static void a_run_after_a_failure_is_whole(void **state)
{
    (void)state;
    tz_pool *pool = open_pool(THREADS);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(run(pool, 50, fail_silently, NULL), TZ_ERR_DEVICE);
        tally *t = make_tally();
        assert_int_equal(run(pool, 50, count_index, t), TZ_OK);
        assert_all_once(t, 50);
    }
    tz_pool_close(pool);
}

/* ---------------------------------------------------------------------------------------------
 * Progress
 * ------------------------------------------------------------------------------------------ */

typedef struct watcher {
    pthread_t caller;
    uint64_t last;
    uint64_t calls;
    uint64_t stop_at; /* calls; 0: never */
    uint64_t total;
    bool wrong;
} watcher;

static bool watch(void *user, uint64_t done, uint64_t total)
{
    watcher *w = user;
    w->wrong = w->wrong || !pthread_equal(pthread_self(), w->caller) || done < w->last ||
               done > total || total != w->total;
    w->last = done;
    w->calls++;
    return w->stop_at == 0 || w->calls < w->stop_at;
}

static void progress_comes_from_the_caller_and_only_grows(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= THREADS; threads++) {
        tz_pool *pool = open_pool(threads);
        tz_context ctx = context_for(NULL);
        watcher w = {.caller = pthread_self(), .total = 1000};
        tz_progress progress = {watch, &w};
        tally *t = make_tally();
        assert_int_equal(tz_pool_run(pool, 1000, count_index, t, &progress, &ctx), TZ_OK);
        assert_all_once(t, 1000);
        assert_false(w.wrong);
        assert_int_equal(w.last, 1000); /* the end is reported */
        assert_true(w.calls >= 2);
        tz_pool_close(pool);
    }
}

static void progress_that_says_stop_cancels(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= THREADS; threads++) {
        tz_pool *pool = open_pool(threads);
        for (uint64_t stop_at = 1; stop_at <= 3; stop_at++) {
            tz_error err = {.result = TZ_OK};
            tz_context ctx = context_for(&err);
            watcher w = {.caller = pthread_self(), .total = COUNT, .stop_at = stop_at};
            tz_progress progress = {watch, &w};
            static failing f;
            memset(&f, 0, sizeof f);
            tz_result result = tz_pool_run(pool, COUNT, fail_some, &f, &progress, &ctx);
            assert_int_equal(result, TZ_ERR_CANCELLED);
            assert_int_equal(err.cause, TZ_CAUSE_CANCELLED);
            assert_int_equal(w.calls, stop_at); /* it is not asked again */
            if (threads == 1)
                assert_int_equal(atomic_load(&f.started), stop_at - 1);
        }
        tz_pool_close(pool);
    }
}

static void stop_at_the_very_end_still_cancels(void **state)
{
    (void)state;
    tz_pool *pool = open_pool(1);
    tz_context ctx = context_for(NULL);
    watcher w = {.caller = pthread_self(), .total = 3, .stop_at = 4};
    tz_progress progress = {watch, &w};
    tally *t = make_tally();
    assert_int_equal(tz_pool_run(pool, 3, count_index, t, &progress, &ctx), TZ_ERR_CANCELLED);
    assert_all_once(t, 3);
    tz_pool_close(pool);
}

static void a_failure_is_returned_before_a_cancel(void **state)
{
    (void)state;
    tz_pool *pool = open_pool(1);
    tz_error err;
    tz_context ctx = context_for(&err);
    watcher w = {.caller = pthread_self(), .total = 10, .stop_at = 5};
    tz_progress progress = {watch, &w};
    static failing f;
    memset(&f, 0, sizeof f);
    f.fails[3] = true;
    assert_int_equal(tz_pool_run(pool, 10, fail_some, &f, &progress, &ctx), TZ_ERR_FORMAT);
    assert_int_equal(err.tile, 3);
    tz_pool_close(pool);
}

/* ---------------------------------------------------------------------------------------------
 * Several callers
 * ------------------------------------------------------------------------------------------ */

typedef struct caller {
    tz_pool *pool;
    pthread_t thread;
    uint64_t wrong;
} caller;

static void *call_often(void *argument)
{
    caller *c = argument;
    for (uint64_t round = 0; round < 30; round++) {
        tally *t = make_tally();
        uint64_t count = 1 + round * 7 % 200;
        tz_context ctx = context_for(NULL);
        c->wrong += tz_pool_run(c->pool, count, count_index, t, NULL, &ctx) != TZ_OK;
        for (uint64_t i = 0; i < COUNT; i++)
            c->wrong += atomic_load(&t->runs[i]) != (i < count);
        /* Worker numbers are distinguished within a run, however many callers there are. */
        c->wrong += atomic_load(&t->shared) || atomic_load(&t->worker_out_of_bounds);
        free(t);
        tz_error err;
        ctx.err = &err;
        failing *f = calloc(1, sizeof *f);
        f->fails[11] = f->fails[13] = true;
        c->wrong += tz_pool_run(c->pool, 40, fail_some, f, NULL, &ctx) != TZ_ERR_FORMAT;
        c->wrong += err.tile != 11;
        free(f);
    }
    return NULL;
}

static void several_threads_may_run_jobs_at_once(void **state)
{
    (void)state;
    tz_pool *pool = open_pool(THREADS);
    caller callers[8];
    for (int i = 0; i < 8; i++) {
        callers[i] = (caller){.pool = pool};
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(callers[i].thread, NULL);
        assert_int_equal(callers[i].wrong, 0);
    }
    tz_pool_close(pool);
}

/* ---------------------------------------------------------------------------------------------
 * Threads
 * ------------------------------------------------------------------------------------------ */

/* The states of this process' threads ("RSS"), as the system sees them; "" when it does not say. */
static void thread_states(char *states, size_t size)
{
    size_t used = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder && (entry = readdir(folder)) && used + 1 < size;) {
        char path[300], text[300];
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (file && fgets(text, sizeof text, file) && strrchr(text, ')'))
            states[used++] = strrchr(text, ')')[2];
        if (file)
            fclose(file);
    }
    if (folder)
        closedir(folder);
    states[used] = '\0';
}

static size_t thread_count(void)
{
    char states[300];
    thread_states(states, sizeof states);
    return strlen(states);
}

static void *do_nothing(void *argument)
{
    return argument;
}

static void threads_start_with_the_first_job_of_two(void **state)
{
    (void)state;
    pthread_t warm_up; /* sanitizers have a thread of their own, from the first on */
    assert_int_equal(pthread_create(&warm_up, NULL, do_nothing, NULL), 0);
    pthread_join(warm_up, NULL);
    size_t before = thread_count();
    if (before == 0) {
        print_message("skip: /proc/self/task does not list threads here\n");
        skip();
    }
    tz_pool *pool = open_pool(6);
    tally *t = make_tally();
    assert_int_equal(run(pool, 1, count_index, t), TZ_OK);
    assert_int_equal(thread_count(), before);
    assert_int_equal(run(pool, 2, fail_silently, NULL), TZ_ERR_DEVICE);
    assert_int_equal(thread_count(), before + 5);
    assert_int_equal(run(pool, 100, fail_silently, NULL), TZ_ERR_DEVICE);
    assert_int_equal(thread_count(), before + 5);
    tz_pool_close(pool);
    for (int i = 0; i < 1000 && thread_count() > before; i++)
        sleep_ms(1); /* a joined thread may be listed a moment longer */
    assert_int_equal(thread_count(), before);
    free(t);
}

static void idle_threads_sleep(void **state)
{
    (void)state;
    tz_pool *pool = open_pool(6);
    tally *t = make_tally();
    assert_int_equal(run(pool, 50, count_index, t), TZ_OK);
    size_t running = 99;
    for (int i = 0; i < 2000 && running > 1; i++) {
        char states[300];
        sleep_ms(1);
        running = 0;
        thread_states(states, sizeof states);
        for (const char *at = states; *at; at++)
            running += *at == 'R';
    }
    assert_true(running <= 1); /* this one */
    tz_pool_close(pool);
    free(t);
}

static atomic_uint thread_starts_left;

static int start_a_few(pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *),
                       void *argument)
{
    if (atomic_load(&thread_starts_left) == 0)
        return EAGAIN;
    atomic_fetch_sub(&thread_starts_left, 1);
    return pthread_create(thread, attributes, main, argument);
}

static int restore_thread_start(void **state)
{
    (void)state;
    tz_set_thread_create(NULL);
    return 0;
}

static void fewer_threads_than_asked_for_do_all_the_work(void **state)
{
    (void)state;
    for (unsigned granted = 0; granted < THREADS; granted++) {
        atomic_store(&thread_starts_left, granted);
        tz_set_thread_create(start_a_few);
        tz_pool *pool = open_pool(THREADS);
        tally *t = make_tally();
        assert_int_equal(run(pool, COUNT, count_index, t), TZ_OK);
        for (unsigned worker = granted + 1; worker < THREADS; worker++)
            assert_int_equal(t->last[worker], -1);
        assert_all_once(t, COUNT);

        tz_set_thread_create(NULL); /* and a later run gets the rest */
        meeting m = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
        assert_int_equal(run(pool, THREADS, meet, &m), TZ_OK);
        tz_pool_close(pool);
    }
}

typedef struct masks {
    meeting all;
    sigset_t of[THREADS];
} masks;

static tz_result note_mask(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    masks *m = user;
    pthread_sigmask(SIG_SETMASK, NULL, &m->of[worker]);
    return meet(&m->all, index, worker, err);
}

static void threads_block_signals_but_not_faults(void **state)
{
    (void)state;
    tz_pool *pool = open_pool(THREADS);
    masks m = {.all = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0}};
    assert_int_equal(run(pool, THREADS, note_mask, &m), TZ_OK);
    static const int blocked[] = {SIGINT, SIGTERM, SIGALRM, SIGCHLD, SIGUSR1, SIGPIPE, SIGHUP};
    static const int open[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (int worker = 0; worker < THREADS; worker++) {
        for (size_t i = 0; i < sizeof blocked / sizeof blocked[0]; i++)
            assert_int_equal(sigismember(&m.of[worker], blocked[i]), worker > 0);
        for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
            assert_int_equal(sigismember(&m.of[worker], open[i]), 0);
    }
    tz_pool_close(pool);
}

static void every_allocation_of_open_may_fail(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        tz_pool *pool = NULL;
        tz_error err = {.result = TZ_OK};
        tz_context ctx = context_for(&err);
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        tz_result result = tz_pool_open(&pool, THREADS, &ctx);
        bool failed = alloc_hook_stats().failures > 0;
        assert_int_equal(result, failed ? TZ_ERR_NOMEM : TZ_OK);
        assert_int_equal(err.result, result);
        assert_int_equal(pool == NULL, failed);
        tz_pool_close(pool);
        assert_int_equal(alloc_hook_stats().live_bytes, 0);
        alloc_hook_remove();
        if (!failed)
            break;
    }
}

static void cores_are_counted_without_memory_too(void **state)
{
    (void)state;
    alloc_hook_install();
    alloc_hook_fail_at(1, true);
    unsigned cores = tz_available_cpus();
    assert_int_equal(alloc_hook_stats().failures, 1);
    alloc_hook_remove();
    assert_true(cores >= tz_available_cpus()); /* all that are there, should the mask allow fewer */
}

static void a_run_allocates_nothing(void **state)
{
    (void)state;
    tz_pool *pool = open_pool(THREADS);
    alloc_hook_install();
    tally *t = make_tally();
    assert_int_equal(run(pool, COUNT, count_index, t), TZ_OK);
    assert_int_equal(alloc_hook_stats().allocations, 0);
    alloc_hook_remove();
    assert_all_once(t, COUNT);
    tz_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_runs_once_and_in_order),
        cmocka_unit_test(a_pool_can_be_closed_unused_and_null),
        cmocka_unit_test(a_pool_can_be_opened_used_and_closed_again_and_again),
        cmocka_unit_test(threads_0_is_the_number_of_cores),
        cmocka_unit_test(cores_that_the_affinity_mask_forbids_do_not_count),
        cmocka_unit_test(a_pool_of_n_runs_n_indices_at_once),
        cmocka_unit_test(the_lowest_failing_index_is_returned_whatever_ends_first),
        cmocka_unit_test(a_lower_index_that_fails_later_wins),
        cmocka_unit_test(after_a_failure_no_new_index_starts),
        cmocka_unit_test(after_a_failure_in_one_thread_the_others_stop),
        cmocka_unit_test(a_failure_without_an_error_gets_one),
        cmocka_unit_test(a_run_after_a_failure_is_whole),
        cmocka_unit_test(progress_comes_from_the_caller_and_only_grows),
        cmocka_unit_test(progress_that_says_stop_cancels),
        cmocka_unit_test(stop_at_the_very_end_still_cancels),
        cmocka_unit_test(a_failure_is_returned_before_a_cancel),
        cmocka_unit_test(several_threads_may_run_jobs_at_once),
        cmocka_unit_test(threads_start_with_the_first_job_of_two),
        cmocka_unit_test(idle_threads_sleep),
        cmocka_unit_test_teardown(fewer_threads_than_asked_for_do_all_the_work,
                                  restore_thread_start),
        cmocka_unit_test(threads_block_signals_but_not_faults),
        cmocka_unit_test(every_allocation_of_open_may_fail),
        cmocka_unit_test(cores_are_counted_without_memory_too),
        cmocka_unit_test(a_run_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
