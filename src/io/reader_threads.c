/* SPDX-License-Identifier: Apache-2.0
 * A reading stands in the crew's queue while it has pieces to hand out. The readers take pieces
 * from the readings of the queue in turn, the thread that waits for a reading takes them from that
 * one. One lock guards all of it; it is not held during a read. */
#include "io/reader_threads.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"

typedef struct reader_team reader_team;

struct tz_reader_job {
    reader_team *reader_team;
    tz_read_range_fn read;
    const void *user;
    const tz_range *ranges;
    size_t count;
    size_t subrange;    /* bytes of a piece */
    size_t next;        /* range of the next piece */
    size_t range_done;  /* bytes of that range that are handed out */
    uint64_t subranges; /* handed out */
    uint64_t in_flight; /* of them */
    bool stopped;       /* hands out no more */
    uint64_t failed;    /* the lowest number of a piece that failed; TZ_NONE: none */
    tz_result result;   /* of that piece */
    tz_error error;
    tz_reader_job *queue_next; /* in the queue */
};

struct reader_team {
    tz_process process;
    reader_team *inherited; /* of the process before fork; never used */
    pthread_mutex_t lock;
    pthread_cond_t work_queued; /* the queue got a reading */
    pthread_cond_t job_ended;   /* the last piece of some reading has ended */
    tz_reader_job *queue;
    unsigned started; /* threads */
};

/* ---- pieces; the crew's lock is held ---- */

static bool has_subrange(const tz_reader_job *job)
{
    return !job->stopped && job->next < job->count;
}

static tz_range next_subrange(tz_reader_job *job)
{
    const tz_range *range = &job->ranges[job->next];
    const uint64_t offset = range->offset + job->range_done;
    const size_t left = range->size - job->range_done;
    const size_t up_to_boundary = job->subrange - (size_t)(offset % job->subrange);
    const tz_range subrange = {offset, left < up_to_boundary ? left : up_to_boundary,
                               (unsigned char *)range->dst + job->range_done};
    job->range_done += subrange.size;
    if (job->range_done == range->size) {
        job->next++;
        job->range_done = 0;
    }
    job->subranges++;
    job->in_flight++;
    return subrange;
}

static void record_subrange_end(tz_reader_job *job, uint64_t number, tz_result result,
                                const tz_error *error)
{
    job->in_flight--;
    if (result != TZ_OK)
        job->stopped = true;
    if (result != TZ_OK && number < job->failed) {
        job->failed = number;
        job->result = result;
        job->error = *error;
    }
    if (!has_subrange(job) && job->in_flight == 0)
        pthread_cond_broadcast(&job->reader_team->job_ended);
}

/* Reads one piece of r without the lock. */
static void read_next_subrange(tz_reader_job *job)
{
    reader_team *team = job->reader_team;
    tz_error error = {.result = TZ_OK};
    const uint64_t number = job->subranges;
    const tz_range subrange = next_subrange(job);
    pthread_mutex_unlock(&team->lock);
    const tz_result result = job->read(job->user, &subrange, &error);
    pthread_mutex_lock(&team->lock);
    record_subrange_end(job, number, result, &error);
}

/* ---- the queue; the crew's lock is held ---- */

static void enqueue_reader_job(reader_team *team, tz_reader_job *job)
{
    tz_reader_job **end = &team->queue;
    while (*end)
        end = &(*end)->queue_next;
    job->queue_next = NULL;
    *end = job;
}

static void remove_reader_job(reader_team *team, const tz_reader_job *job)
{
    tz_reader_job **at = &team->queue;
    while (*at && *at != job)
        at = &(*at)->queue_next;
    if (*at)
        *at = job->queue_next;
}

/* The first reading that has a piece; it goes to the end, so that several get readers in turn.
 * Readings without a piece leave. */
static tz_reader_job *pick_reader_job(reader_team *team)
{
    while (team->queue) {
        tz_reader_job *job = team->queue;
        team->queue = job->queue_next;
        if (has_subrange(job)) {
            enqueue_reader_job(team, job);
            return job;
        }
    }
    return NULL;
}

/* ---- threads ---- */

static void *reader_main(void *argument)
{
    reader_team *team = argument;
    pthread_mutex_lock(&team->lock);
    for (;;) {
        tz_reader_job *job = pick_reader_job(team);
        if (job)
            read_next_subrange(job);
        else
            pthread_cond_wait(&team->work_queued, &team->lock);
    }
    return NULL;
}

static void start_readers(reader_team *team)
{
    pthread_t thread;
    while (team->started < TZ_READER_COUNT) {
        if (tz_start_thread(&thread, reader_main, team) != 0)
            break; /* fewer then; the next reading tries again */
        (void)pthread_detach(thread);
        team->started++;
    }
}

/* ---- the crew of the process ---- */

static reader_team first_team;
static _Atomic(reader_team *) newest_team;
static pthread_once_t first_team_once = PTHREAD_ONCE_INIT;

static void init_team(reader_team *team)
{
    team->process = tz_process_current();
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->work_queued, NULL);
    pthread_cond_init(&team->job_ended, NULL);
}

static void init_first_team(void)
{
    init_team(&first_team);
    atomic_store(&newest_team, &first_team);
}

/* NULL: a child of fork finds no memory for its own. */
static reader_team *current_reader_team(void)
{
    pthread_once(&first_team_once, init_first_team);
    reader_team *found = atomic_load(&newest_team);
    if (tz_process_is_current(&found->process))
        return found;
    reader_team *made = tz_alloc_zeroed(1, sizeof *made);
    if (!made)
        return NULL;
    init_team(made);
    made->inherited = found;
    if (atomic_compare_exchange_strong(&newest_team, &found, made))
        return made;
    tz_free(made); /* another thread of this process was faster */
    return found;
}

/* ---- readings ---- */

static size_t choose_subrange_size(uint64_t bytes)
{
    size_t subrange = TZ_READER_MAX_SUBRANGE;
    while (subrange > TZ_READER_MIN_SUBRANGE && subrange * TZ_READER_COUNT * 2 > bytes)
        subrange /= 2;
    return subrange;
}

tz_reader_job *tz_reader_job_start(const tz_range *ranges, size_t count, tz_read_range_fn read,
                                   const void *user)
{
    uint64_t bytes = 0;
    reader_team *team = current_reader_team();
    tz_reader_job *job = team ? tz_alloc_zeroed(1, sizeof *job) : NULL;
    if (!job)
        return NULL;
    for (size_t i = 0; i < count; i++)
        bytes = tz_add_capped(bytes, ranges[i].size);
    *job = (tz_reader_job){.reader_team = team,
                           .read = read,
                           .user = user,
                           .ranges = ranges,
                           .count = count,
                           .subrange = choose_subrange_size(bytes),
                           .failed = TZ_NONE};
    const uint64_t subranges = tz_max(count, tz_ceil_div(bytes, job->subrange));
    pthread_mutex_lock(&team->lock);
    enqueue_reader_job(team, job);
    start_readers(team);
    for (uint64_t i = 0; i < subranges && i < team->started; i++)
        pthread_cond_signal(&team->work_queued);
    pthread_mutex_unlock(&team->lock);
    return job;
}

tz_result tz_reader_job_wait(tz_reader_job *job, tz_error *err)
{
    reader_team *team = job->reader_team;
    pthread_mutex_lock(&team->lock);
    while (has_subrange(job))
        read_next_subrange(job);
    remove_reader_job(team, job);
    while (job->in_flight > 0)
        pthread_cond_wait(&team->job_ended, &team->lock);
    pthread_mutex_unlock(&team->lock);
    const tz_result result = job->failed == TZ_NONE ? TZ_OK : job->result;
    if (result != TZ_OK && err)
        *err = job->error;
    tz_free(job);
    return result;
}
