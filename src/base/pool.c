/* SPDX-License-Identifier: Apache-2.0
 * The thread pool. A run is one call of tz_pool_run. It lives on the stack of its caller and stays
 * in the queue of the team while it has indices to hand out. The caller takes indices of its own
 * run, the threads of the team take them from the runs of the queue in turn. One lock guards all of
 * it. It is taken twice per index, which is cheap enough: an index is a tile or more, never a
 * pixel.
 *
 * fork copies the memory but not the threads, and a lock that one of them held stays locked for
 * ever. Therefore all that threads share is in the team, and a process that finds itself with the
 * team of another one makes a new team and leaves the old one alone. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "base/pool.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/mem.h"

enum { MAX_THREADS = 1024 };

typedef struct pool_run pool_run;
struct pool_run {
    tz_pool_job job;
    void *user;
    uint64_t count;
    uint64_t next;    /* index to hand out next */
    uint64_t done;    /* indices that have ended */
    uint64_t failed;  /* the lowest index that failed; TZ_NO_VALUE: none */
    tz_result result; /* of index failed */
    tz_error error;   /* of index failed */
    bool stopped;     /* hands out no more indices */
    pool_run *queue_next;
    unsigned max_threads;                    /* that may work on it, the caller included */
    unsigned active;                         /* threads of the team at work on it */
    uint64_t busy_numbers[MAX_THREADS / 64]; /* bit n: a thread at work has number n */
};

typedef struct worker_team worker_team;

typedef struct pool_worker {
    worker_team *team;
    pthread_t thread;
} pool_worker;

struct worker_team {
    tz_process process;     /* owner of the threads */
    worker_team *inherited; /* team of the parent process; only tz_pool_close uses it */
    pthread_mutex_t lock;
    pthread_cond_t work_queued; /* a run entered the queue, or closing was set */
    pthread_cond_t run_ended;   /* the last index of a run has ended */
    pool_run *queue;            /* runs with indices to hand out */
    bool closing;
    unsigned started; /* threads in workers */
    pool_worker workers[];
};

struct tz_pool {
    unsigned threads;
    _Atomic(worker_team *) team;
};

/* ---- processes ---- */

static atomic_uint fork_generation;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void count_fork(void)
{
    atomic_fetch_add(&fork_generation, 1);
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, count_fork); /* if it fails, the process id has to do */
}

tz_process tz_process_current(void)
{
    pthread_once(&fork_once, watch_forks);
    return (tz_process){getpid(), atomic_load(&fork_generation)};
}

bool tz_process_is_current(const tz_process *recorded)
{
    return recorded->generation == atomic_load(&fork_generation) && recorded->id == getpid();
}

/* ---- CPUs ---- */

/* On a machine with more CPUs than cpu_set_t has bits the kernel returns EINVAL, and a larger mask
 * is tried. */
static unsigned cpus_by_affinity(void)
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
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : (unsigned)online;
}

unsigned tz_available_cpus(void)
{
    unsigned cpus = cpus_by_affinity();
    unsigned quota = tz_cpu_quota("");
    return quota > 0 ? tz_min_u32(quota, cpus) : cpus;
}

/* ---- indices; the lock of the team is held, except for runs without a team ---- */

static bool has_index(const pool_run *r)
{
    return !r->stopped && r->next < r->count;
}

/* Every index that was handed out has ended. */
static bool is_idle(const pool_run *r)
{
    return r->done == r->next;
}

static void call_job(pool_run *r, uint64_t index, unsigned number, tz_result *result,
                     tz_error *error)
{
    error->result = TZ_OK;
    *result = r->job(r->user, index, number, error);
    if (*result != TZ_OK && error->result == TZ_OK) {
        tz_context ctx = {.err = error, .ifd = -1};
        (void)tz_fail(&ctx, *result, TZ_CAUSE_NONE, tz_no_location(), "%s",
                      tz_result_name(*result));
    }
}

/* Indices are handed out in order and those handed out always run, so when all have ended, every
 * index below the lowest failed one has succeeded. */
static void note_end(pool_run *r, uint64_t index, tz_result result, const tz_error *error)
{
    r->done++;
    if (result == TZ_OK)
        return;
    r->stopped = true;
    if (r->failed == TZ_NO_VALUE || index < r->failed) {
        r->failed = index;
        r->result = result;
        r->error = *error;
    }
}

/* ---- the queue; the lock of the team is held ---- */

static void enqueue_run(worker_team *team, pool_run *r)
{
    pool_run **end = &team->queue;
    while (*end)
        end = &(*end)->queue_next;
    r->queue_next = NULL;
    *end = r;
}

static void remove_run(worker_team *team, const pool_run *r)
{
    pool_run **at = &team->queue;
    while (*at && *at != r)
        at = &(*at)->queue_next;
    if (*at)
        *at = r->queue_next;
}

/* Returns the first run of the queue that has an index and may use one more thread; NULL if there
 * is none. The run goes to the end of the queue, so that the team helps the runs of several callers
 * in turn. Runs without indices leave the queue. */
static pool_run *pick_run(worker_team *team)
{
    for (pool_run **at = &team->queue; *at;) {
        pool_run *r = *at;
        const bool has_work = has_index(r);
        if (has_work && r->active + 1 >= r->max_threads) {
            at = &r->queue_next;
            continue;
        }
        *at = r->queue_next;
        if (has_work) {
            enqueue_run(team, r);
            return r;
        }
    }
    return NULL;
}

/* Returns a number below max_threads that no other thread at work on the run has. */
static unsigned claim_number(pool_run *r)
{
    unsigned number = 1;
    while (r->busy_numbers[number / 64] >> number % 64 & 1)
        number++;
    r->busy_numbers[number / 64] |= UINT64_C(1) << number % 64;
    r->active++;
    return number;
}

static void free_number(pool_run *r, unsigned number)
{
    r->busy_numbers[number / 64] &= ~(UINT64_C(1) << number % 64);
    r->active--;
}

/* ---- threads ---- */

/* Takes one index of r, runs it without the lock, and notes its result. */
static void run_next_index(worker_team *team, pool_run *r, unsigned number)
{
    tz_error error;
    tz_result result;
    uint64_t index = r->next++;
    pthread_mutex_unlock(&team->lock);
    call_job(r, index, number, &result, &error);
    pthread_mutex_lock(&team->lock);
    /* Before note_end: when a run is idle and the lock free, its caller returns and the run is
     * gone. */
    if (number > 0)
        free_number(r, number);
    note_end(r, index, result, &error);
    if (!has_index(r) && is_idle(r))
        pthread_cond_broadcast(&team->run_ended);
}

static void *worker_main(void *argument)
{
    const pool_worker *self = argument;
    worker_team *team = self->team;
    pthread_mutex_lock(&team->lock);
    while (!team->closing) {
        pool_run *r = pick_run(team);
        if (r) {
            run_next_index(team, r, claim_number(r));
        } else {
            pthread_cond_wait(&team->work_queued, &team->lock);
        }
    }
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

static _Atomic(tz_thread_create_fn) thread_create = pthread_create;

void tz_set_thread_create(tz_thread_create_fn create)
{
    atomic_store(&thread_create, create ? create : pthread_create);
}

/* Signal handlers of the host shall run in threads of the host, so a thread of the library blocks
 * all signals, except those that a fault raises in the thread at fault: blocked, they would end the
 * process without the crash handler of the host. A new thread inherits the signal mask of its
 * creator, which is therefore changed for a moment. */
int tz_start_thread(pthread_t *thread, void *(*main)(void *), void *argument)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    const int error_number = atomic_load(&thread_create)(thread, NULL, main, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error_number;
}

static void start_workers(worker_team *team, unsigned count)
{
    while (team->started < count) {
        pool_worker *w = &team->workers[team->started];
        *w = (pool_worker){.team = team};
        if (tz_start_thread(&w->thread, worker_main, w) != 0)
            break; /* go on with fewer; the next run tries again */
        team->started++;
    }
}

/* ---- teams ---- */

static worker_team *make_team(unsigned threads)
{
    worker_team *team = tz_alloc_zeroed(1, sizeof *team + (threads - 1) * sizeof team->workers[0]);
    if (!team)
        return NULL;
    team->process = tz_process_current();
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->work_queued, NULL);
    pthread_cond_init(&team->run_ended, NULL);
    return team;
}

static void free_team(worker_team *team)
{
    pthread_cond_destroy(&team->run_ended);
    pthread_cond_destroy(&team->work_queued);
    pthread_mutex_destroy(&team->lock);
    tz_free(team);
}

static void stop_team(worker_team *team)
{
    pthread_mutex_lock(&team->lock);
    team->closing = true;
    pthread_cond_broadcast(&team->work_queued);
    pthread_mutex_unlock(&team->lock);
    for (unsigned i = 0; i < team->started; i++)
        pthread_join(team->workers[i].thread, NULL);
    free_team(team);
}

/* Returns the team of this process, made first if the pool came through a fork; NULL: no memory. */
static worker_team *current_team(tz_pool *pool)
{
    worker_team *found = atomic_load(&pool->team);
    if (tz_process_is_current(&found->process))
        return found;
    worker_team *made = make_team(pool->threads);
    if (!made)
        return NULL;
    made->inherited = found;
    if (atomic_compare_exchange_strong(&pool->team, &found, made))
        return made;
    free_team(made); /* another thread of this process was faster */
    return found;
}

tz_result tz_pool_open(tz_pool **out, unsigned threads, const tz_context *ctx)
{
    threads = tz_min_u32(threads > 0 ? threads : tz_available_cpus(), MAX_THREADS);
    tz_pool *pool = tz_alloc(sizeof *pool);
    if (!pool)
        return tz_fail_nomem(ctx, sizeof *pool);
    worker_team *team = make_team(threads);
    if (!team) {
        tz_free(pool);
        return tz_fail_nomem(ctx, sizeof *team + threads * sizeof(pool_worker));
    }
    pool->threads = threads;
    atomic_init(&pool->team, team);
    *out = pool;
    return TZ_OK;
}

void tz_pool_close(tz_pool *pool)
{
    if (!pool)
        return;
    worker_team *team = atomic_load(&pool->team);
    while (team) {
        worker_team *inherited = team->inherited;
        if (tz_process_is_current(&team->process))
            stop_team(team);
        else
            tz_free(team); /* its locks may be held by threads that do not exist here */
        team = inherited;
    }
    tz_free(pool);
}

unsigned tz_pool_threads(const tz_pool *pool)
{
    return pool->threads;
}

/* ---- runs ---- */

static tz_result run_with_team(worker_team *team, pool_run *r, unsigned threads,
                               const tz_progress *progress, const tz_context *ctx)
{
    tz_result result = TZ_OK;
    pthread_mutex_lock(&team->lock);
    enqueue_run(team, r);
    start_workers(team, threads - 1);
    /* Wake a thread for each index but the first, which the caller takes. */
    if (r->count - 1 >= team->started)
        pthread_cond_broadcast(&team->work_queued);
    else
        for (uint64_t i = 1; i < r->count; i++)
            pthread_cond_signal(&team->work_queued);
    while (has_index(r)) {
        if (progress && progress->call) {
            const uint64_t done = r->done;
            pthread_mutex_unlock(&team->lock);
            result = tz_check_progress(ctx, progress, done, r->count);
            pthread_mutex_lock(&team->lock);
        }
        if (result != TZ_OK)
            r->stopped = true;
        else if (has_index(r)) /* the team may have taken the last one meanwhile */
            run_next_index(team, r, 0);
    }
    remove_run(team, r);
    while (!is_idle(r))
        pthread_cond_wait(&team->run_ended, &team->lock);
    pthread_mutex_unlock(&team->lock);
    return result;
}

static tz_result run_on_caller(pool_run *r, const tz_progress *progress, const tz_context *ctx)
{
    while (has_index(r)) {
        tz_error error;
        tz_result result;
        TZ_TRY(tz_check_progress(ctx, progress, r->done, r->count));
        uint64_t index = r->next++;
        call_job(r, index, 0, &result, &error);
        note_end(r, index, result, &error);
    }
    return TZ_OK;
}

static tz_result run_indices(tz_pool *pool, unsigned threads, uint64_t count, tz_pool_job job,
                             void *user, const tz_progress *progress, const tz_context *ctx)
{
    pool_run r = {
        .job = job, .user = user, .count = count, .failed = TZ_NO_VALUE, .max_threads = threads};
    worker_team *team = threads > 1 && count > 1 ? current_team(pool) : NULL;
    tz_result result =
        team ? run_with_team(team, &r, threads, progress, ctx) : run_on_caller(&r, progress, ctx);
    if (r.failed != TZ_NO_VALUE) {
        if (ctx->err)
            *ctx->err = r.error;
        return r.result;
    }
    if (result != TZ_OK || count == 0)
        return result;
    return tz_check_progress(ctx, progress, r.done, count);
}

tz_result tz_pool_run(tz_pool *pool, uint64_t count, tz_pool_job job, void *user,
                      const tz_progress *progress, const tz_context *ctx)
{
    return run_indices(pool, pool->threads, count, job, user, progress, ctx);
}

/* ---- the shared pool ---- */

/* Made when it is first needed, never closed. Its threads sleep between runs and end with the
 * process. */
static _Atomic(tz_pool *) shared_pool;

static tz_pool *get_shared_pool(const tz_context *ctx)
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
    const tz_pool *pool = get_shared_pool(&quiet);
    return pool ? pool->threads : 1;
}

tz_result tz_pool_run_shared(unsigned threads, uint64_t count, tz_pool_job job, void *user,
                             const tz_progress *progress, const tz_context *ctx)
{
    tz_pool *pool = NULL;
    if (threads <= 1 || count <= 1)
        return run_indices(NULL, 1, count, job, user, progress, ctx);
    pool = get_shared_pool(ctx);
    if (!pool)
        return TZ_ERR_NOMEM;
    if (threads <= pool->threads)
        return run_indices(pool, threads, count, job, user, progress, ctx);
    TZ_TRY(tz_pool_open(&pool, threads, ctx)); /* more threads than CPUs */
    const tz_result result = run_indices(pool, pool->threads, count, job, user, progress, ctx);
    tz_pool_close(pool);
    return result;
}
