/* SPDX-License-Identifier: Apache-2.0
 * The thread pool. A run is one call of tz_pool_run; it lives on the caller's stack and stands in
 * the crew's queue while it has indices to hand out. The caller takes indices of its own run, the
 * crew's threads take them from the runs of the queue in turn. All of it is guarded by one lock,
 * which is taken twice per index: an index is a tile or more, never a pixel.
 *
 * fork copies the memory but not the threads, and a lock that one of them held stays locked for
 * ever. Therefore all that threads share is in the crew, and a process that finds itself with the
 * crew of another one makes a new crew and leaves the old one alone. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "base/pool.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/cpu_quota.h"
#include "base/mem.h"
#include "base/process.h"

enum { MAX_THREADS = 1024 };

typedef struct run run;
struct run {
    tz_job job;
    void *user;
    uint64_t count;
    uint64_t next;    /* index to hand out */
    uint64_t done;    /* ended */
    uint64_t failed;  /* the lowest index that failed; TZ_NONE: none */
    tz_result result; /* of that index */
    tz_error error;
    bool stopped;                      /* hands out no more */
    run *later;                        /* in the queue */
    unsigned limit;                    /* threads that may work on it, the caller among them */
    unsigned active;                   /* of the crew's threads: those that do */
    uint64_t places[MAX_THREADS / 64]; /* numbers of those at work; 0 is the caller's */
};

typedef struct crew crew;

typedef struct worker {
    crew *crew;
    pthread_t thread;
} worker;

struct crew {
    tz_process process; /* whose crew it is */
    crew *inherited;    /* of the process before fork: released by close, not used */
    pthread_mutex_t lock;
    pthread_cond_t work;  /* the queue got a run, or closing was set */
    pthread_cond_t ended; /* the last index of some run has ended */
    run *queue;           /* runs with indices to hand out */
    bool closing;
    unsigned started; /* of workers */
    worker workers[];
};

struct tz_pool {
    unsigned threads;
    _Atomic(crew *) crew;
};

/* ---------------------------------------------------------------------------------------------
 * Cores
 * ------------------------------------------------------------------------------------------ */

static unsigned cores_online(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (unsigned)count;
}

/* The mask of a machine with very many cores does not fit cpu_set_t: the kernel says EINVAL. */
static unsigned cores_by_affinity(void)
{
    for (size_t bits = CPU_SETSIZE; bits <= 1 << 20; bits *= 2) {
        size_t size = CPU_ALLOC_SIZE(bits);
        cpu_set_t *set = tz_alloc_zeroed(1, size);
        if (!set)
            break;
        int status = sched_getaffinity(0, size, set);
        bool too_small = status != 0 && errno == EINVAL;
        int count = status == 0 ? CPU_COUNT_S(size, set) : 0;
        tz_free(set);
        if (count > 0)
            return (unsigned)count;
        if (!too_small)
            break;
    }
    return cores_online();
}

unsigned tz_pool_cores(void)
{
    unsigned cores = cores_by_affinity();
    unsigned quota = tz_cpu_quota("");
    return quota > 0 && quota < cores ? quota : cores;
}

/* ---------------------------------------------------------------------------------------------
 * Indices. The crew's lock is held, but for runs that no crew knows.
 * ------------------------------------------------------------------------------------------ */

static bool has_index(const run *r)
{
    return !r->stopped && r->next < r->count;
}

/* All that was handed out has ended. */
static bool is_idle(const run *r)
{
    return r->done == r->next;
}

static void run_index(run *r, uint64_t index, unsigned number, tz_result *result, tz_error *error)
{
    error->result = TZ_OK;
    *result = r->job(r->user, index, number, error);
    if (*result != TZ_OK && error->result == TZ_OK) {
        tz_context ctx = {.err = error, .ifd = -1};
        (void)tz_fail(&ctx, *result, TZ_CAUSE_NONE, tz_at_nowhere(), "%s", tz_result_name(*result));
    }
}

/* Indices are handed out in order and those handed out always run, so when all have ended, every
 * index below the lowest failed one has succeeded. */
static void note_end(run *r, uint64_t index, tz_result result, const tz_error *error)
{
    r->done++;
    if (result == TZ_OK)
        return;
    r->stopped = true;
    if (r->failed == TZ_NONE || index < r->failed) {
        r->failed = index;
        r->result = result;
        r->error = *error;
    }
}

/* ---------------------------------------------------------------------------------------------
 * The queue. The crew's lock is held.
 * ------------------------------------------------------------------------------------------ */

static void append(crew *c, run *r)
{
    run **end = &c->queue;
    while (*end)
        end = &(*end)->later;
    r->later = NULL;
    *end = r;
}

static void drop(crew *c, const run *r)
{
    run **at = &c->queue;
    while (*at && *at != r)
        at = &(*at)->later;
    if (*at)
        *at = r->later;
}

/* The first run of the queue that has an index and may have one more thread. It goes to the end, so
 * that the runs of several callers get the crew's help in turn; runs without indices leave. */
static run *next_run(crew *c)
{
    for (run **at = &c->queue; *at;) {
        run *r = *at;
        const bool has_work = has_index(r);
        if (has_work && r->active + 1 >= r->limit) {
            at = &r->later;
            continue;
        }
        *at = r->later;
        if (has_work) {
            append(c, r);
            return r;
        }
    }
    return NULL;
}

/* A number below the run's limit that no other thread at work on it has. */
static unsigned take_place(run *r)
{
    unsigned number = 1;
    while (r->places[number / 64] >> number % 64 & 1)
        number++;
    r->places[number / 64] |= UINT64_C(1) << number % 64;
    r->active++;
    return number;
}

static void leave_place(run *r, unsigned number)
{
    r->places[number / 64] &= ~(UINT64_C(1) << number % 64);
    r->active--;
}

/* ---------------------------------------------------------------------------------------------
 * Threads
 * ------------------------------------------------------------------------------------------ */

/* Take one index of r, run it without the lock, and note how it ended. */
static void work_on(crew *c, run *r, unsigned number)
{
    tz_error error;
    tz_result result;
    uint64_t index = r->next++;
    pthread_mutex_unlock(&c->lock);
    run_index(r, index, number, &result, &error);
    pthread_mutex_lock(&c->lock);
    if (number > 0)
        leave_place(r, number); /* before note_end: an idle run may be gone when the lock is free */
    note_end(r, index, result, &error);
    if (!has_index(r) && is_idle(r))
        pthread_cond_broadcast(&c->ended);
}

static void *worker_main(void *argument)
{
    const worker *self = argument;
    crew *c = self->crew;
    pthread_mutex_lock(&c->lock);
    while (!c->closing) {
        run *r = next_run(c);
        if (r) {
            work_on(c, r, take_place(r));
        } else {
            pthread_cond_wait(&c->work, &c->lock);
        }
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static _Atomic(tz_thread_start) thread_start = pthread_create;

void tz_pool_set_thread_start(tz_thread_start start)
{
    atomic_store(&thread_start, start ? start : pthread_create);
}

/* The host's signal handlers run in the host's threads, so the crew's block all signals, except
 * those that a fault raises in the very thread at fault: blocked, they would end the process
 * without the host's crash handler. */
static void block_signals(sigset_t *before)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

/* A new thread has the signal mask of the one that starts it. */
int tz_thread_begin(pthread_t *thread, void *(*main)(void *), void *argument)
{
    sigset_t before;
    block_signals(&before);
    const int error_number = atomic_load(&thread_start)(thread, NULL, main, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error_number;
}

static void start_workers(crew *c, unsigned count)
{
    while (c->started < count) {
        worker *w = &c->workers[c->started];
        *w = (worker){.crew = c};
        if (tz_thread_begin(&w->thread, worker_main, w) != 0)
            break; /* fewer then; the next run tries again */
        c->started++;
    }
}

/* ---------------------------------------------------------------------------------------------
 * Crews
 * ------------------------------------------------------------------------------------------ */

static crew *make_crew(unsigned threads)
{
    crew *c = tz_alloc_zeroed(1, sizeof *c + (threads - 1) * sizeof c->workers[0]);
    if (!c)
        return NULL;
    c->process = tz_process_now();
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->work, NULL);
    pthread_cond_init(&c->ended, NULL);
    return c;
}

static void release_crew(crew *c)
{
    pthread_cond_destroy(&c->ended);
    pthread_cond_destroy(&c->work);
    pthread_mutex_destroy(&c->lock);
    tz_free(c);
}

static void dismiss(crew *c)
{
    pthread_mutex_lock(&c->lock);
    c->closing = true;
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
    for (unsigned i = 0; i < c->started; i++)
        pthread_join(c->workers[i].thread, NULL);
    release_crew(c);
}

/* This process' crew; NULL when it would have to be made and there is no memory. */
static crew *our_crew(tz_pool *pool)
{
    crew *found = atomic_load(&pool->crew);
    if (tz_process_is_now(&found->process))
        return found;
    crew *made = make_crew(pool->threads);
    if (!made)
        return NULL;
    made->inherited = found;
    if (atomic_compare_exchange_strong(&pool->crew, &found, made))
        return made;
    release_crew(made); /* another thread of this process was faster */
    return found;
}

tz_result tz_pool_open(tz_pool **out, unsigned threads, const tz_context *ctx)
{
    if (threads == 0)
        threads = tz_pool_cores();
    if (threads > MAX_THREADS)
        threads = MAX_THREADS;
    tz_pool *pool = tz_alloc(sizeof *pool);
    if (!pool)
        return tz_fail_nomem(ctx, sizeof *pool);
    crew *c = make_crew(threads);
    if (!c) {
        tz_free(pool);
        return tz_fail_nomem(ctx, sizeof *c + threads * sizeof(worker));
    }
    pool->threads = threads;
    atomic_init(&pool->crew, c);
    *out = pool;
    return TZ_OK;
}

void tz_pool_close(tz_pool *pool)
{
    if (!pool)
        return;
    crew *c = atomic_load(&pool->crew);
    while (c) {
        crew *inherited = c->inherited;
        if (tz_process_is_now(&c->process))
            dismiss(c);
        else
            tz_free(c); /* its locks may be held by threads that do not exist here */
        c = inherited;
    }
    tz_free(pool);
}

unsigned tz_pool_threads(const tz_pool *pool)
{
    return pool->threads;
}

/* ---------------------------------------------------------------------------------------------
 * Runs
 * ------------------------------------------------------------------------------------------ */

static void enlist(crew *c, run *r, unsigned threads)
{
    append(c, r);
    start_workers(c, threads - 1);
    if (r->count - 1 >= c->started)
        pthread_cond_broadcast(&c->work);
    else
        for (uint64_t i = 1; i < r->count; i++)
            pthread_cond_signal(&c->work);
}

/* Ask the progress callback without holding the lock. */
static tz_result ask(crew *c, run *r, const tz_progress *progress, const tz_context *ctx)
{
    if (!progress || !progress->call)
        return TZ_OK;
    uint64_t done = r->done;
    pthread_mutex_unlock(&c->lock);
    tz_result result = tz_check_progress(ctx, progress, done, r->count);
    pthread_mutex_lock(&c->lock);
    return result;
}

static tz_result run_with_crew(crew *c, run *r, unsigned threads, const tz_progress *progress,
                               const tz_context *ctx)
{
    tz_result result = TZ_OK;
    pthread_mutex_lock(&c->lock);
    enlist(c, r, threads);
    while (has_index(r)) {
        result = ask(c, r, progress, ctx);
        if (result != TZ_OK)
            r->stopped = true;
        else if (has_index(r))
            work_on(c, r, 0);
    }
    drop(c, r);
    while (!is_idle(r))
        pthread_cond_wait(&c->ended, &c->lock);
    pthread_mutex_unlock(&c->lock);
    return result;
}

static tz_result run_alone(run *r, const tz_progress *progress, const tz_context *ctx)
{
    while (has_index(r)) {
        tz_error error;
        tz_result result;
        TZ_TRY(tz_check_progress(ctx, progress, r->done, r->count));
        uint64_t index = r->next++;
        run_index(r, index, 0, &result, &error);
        note_end(r, index, result, &error);
    }
    return TZ_OK;
}

static tz_result run_with(tz_pool *pool, unsigned threads, uint64_t count, tz_job job, void *user,
                          const tz_progress *progress, const tz_context *ctx)
{
    run r = {.job = job, .user = user, .count = count, .failed = TZ_NONE, .limit = threads};
    crew *c = threads > 1 && count > 1 ? our_crew(pool) : NULL;
    tz_result result =
        c ? run_with_crew(c, &r, threads, progress, ctx) : run_alone(&r, progress, ctx);
    if (r.failed != TZ_NONE) {
        if (ctx->err)
            *ctx->err = r.error;
        return r.result;
    }
    if (result != TZ_OK || count == 0)
        return result;
    return tz_check_progress(ctx, progress, r.done, count);
}

tz_result tz_pool_run(tz_pool *pool, uint64_t count, tz_job job, void *user,
                      const tz_progress *progress, const tz_context *ctx)
{
    return run_with(pool, pool->threads, count, job, user, progress, ctx);
}

/* ---------------------------------------------------------------------------------------------
 * The shared pool: made when it is first needed, never closed. Its threads sleep between runs, and
 * a process that ends, ends them.
 * ------------------------------------------------------------------------------------------ */

static _Atomic(tz_pool *) shared_pool;

static tz_pool *get_shared(const tz_context *ctx)
{
    tz_pool *pool = atomic_load(&shared_pool);
    tz_pool *made = NULL;
    if (pool || tz_pool_open(&made, 0, ctx) != TZ_OK)
        return pool;
    if (atomic_compare_exchange_strong(&shared_pool, &pool, made))
        return made;
    tz_pool_close(made); /* another thread was faster */
    return pool;
}

unsigned tz_pool_shared_threads(void)
{
    const tz_context quiet = {.ifd = -1};
    const tz_pool *pool = get_shared(&quiet);
    return pool ? pool->threads : 1;
}

tz_result tz_pool_run_shared(unsigned threads, uint64_t count, tz_job job, void *user,
                             const tz_progress *progress, const tz_context *ctx)
{
    tz_pool *pool = NULL;
    if (threads <= 1 || count <= 1)
        return run_with(NULL, 1, count, job, user, progress, ctx);
    pool = get_shared(ctx);
    if (!pool)
        return TZ_ERR_NOMEM;
    if (threads <= pool->threads)
        return run_with(pool, threads, count, job, user, progress, ctx);
    TZ_TRY(tz_pool_open(&pool, threads, ctx)); /* more than there are cores for */
    const tz_result result = run_with(pool, pool->threads, count, job, user, progress, ctx);
    tz_pool_close(pool);
    return result;
}
