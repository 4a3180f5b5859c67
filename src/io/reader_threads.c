/* SPDX-License-Identifier: Apache-2.0
 * Reader threads. A job is one request; it stays in the queue of the team while it has subranges to
 * hand out. The readers take subranges from the jobs of the queue in turn, a thread that waits for
 * a job takes them from that job. One lock guards all of it; it is not held during a read.
 *
 * Each subrange has a number, in the order of the ranges. The lowest number that failed decides the
 * result of the job, so the error does not depend on timing.
 *
 * A team and its lock belong to one process: after fork, the child makes a team of its own and
 * never touches that of its parent, whose lock may be held by a thread that the child does not
 * have. */
#include "io/reader_threads.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"

typedef struct reader_team reader_team;

struct tz_reader_job {
    reader_team *team;
    tz_read_range_fn read;
    const void *user;
    const tz_range *ranges;
    size_t count;
    size_t subrange_size;       /* bytes */
    size_t next;                /* range of the next subrange */
    size_t range_done;          /* bytes of that range that were handed out */
    uint64_t subranges_started; /* the number of the next one */
    uint64_t in_flight;         /* subranges that are being read */
    bool stopped;               /* hands out no more subranges */
    uint64_t failed;            /* the lowest number of a subrange that failed; TZ_NO_VALUE: none */
    tz_result result;           /* of subrange failed */
    tz_error error;             /* of subrange failed */
    tz_reader_job *queue_next;
};

struct reader_team {
    tz_process process;
    reader_team *inherited; /* of the parent process; kept so that it is not a leak */
    pthread_mutex_t lock;
    pthread_cond_t work_queued; /* a job entered the queue */
    pthread_cond_t job_ended;   /* the last subrange of a job has ended */
    tz_reader_job *queue;
    unsigned started; /* threads */
};

/* ---- subranges; the lock of the team is held ---- */

static bool has_subrange(const tz_reader_job *job)
{
    return !job->stopped && job->next < job->count;
}

/* Takes the next subrange, which ends at a multiple of the size of subranges or with its range,
 * reads it without the lock, and notes its result. */
static void read_next_subrange(tz_reader_job *job)
{
    reader_team *team = job->team;
    const tz_range *range = &job->ranges[job->next];
    const uint64_t offset = range->offset + job->range_done;
    const size_t up_to_boundary = job->subrange_size - (size_t)(offset % job->subrange_size);
    const tz_range subrange = {offset, tz_min_size(range->size - job->range_done, up_to_boundary),
                               (unsigned char *)range->dst + job->range_done};
    const uint64_t number = job->subranges_started++;
    job->range_done += subrange.size;
    if (job->range_done == range->size) {
        job->next++;
        job->range_done = 0;
    }
    job->in_flight++;
    tz_error error = {.result = TZ_OK};
    pthread_mutex_unlock(&team->lock);
    const tz_result result = job->read(job->user, &subrange, &error);
    pthread_mutex_lock(&team->lock);
    job->in_flight--;
    if (result != TZ_OK)
        job->stopped = true;
    if (result != TZ_OK && number < job->failed) {
        job->failed = number;
        job->result = result;
        job->error = error;
    }
    if (!has_subrange(job) && job->in_flight == 0)
        pthread_cond_broadcast(&team->job_ended);
}

/* ---- the queue; the lock of the team is held ---- */

static void enqueue_reader_job(reader_team *team, tz_reader_job *job)
{
    tz_reader_job **end = &team->queue;
    while (*end)
        end = &(*end)->queue_next;
    job->queue_next = NULL;
    *end = job;
}

/* Returns the first job that has a subrange, and moves it to the end of the queue, so that several
 * jobs get readers in turn; NULL if there is none. Jobs without a subrange leave the queue. */
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

/* ---- the team of the process ---- */

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

/* Returns NULL if a child of fork has no memory for a team of its own. */
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

/* ---- jobs ---- */

tz_reader_job *tz_reader_job_start(const tz_range *ranges, size_t count, tz_read_range_fn read,
                                   const void *user)
{
    reader_team *team = current_reader_team();
    tz_reader_job *job = team ? tz_alloc_zeroed(1, sizeof *job) : NULL;
    if (!job)
        return NULL;
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes = tz_add_capped(bytes, ranges[i].size);
    size_t subrange_size = TZ_READER_MAX_SUBRANGE;
    while (subrange_size > TZ_READER_MIN_SUBRANGE && subrange_size * TZ_READER_COUNT * 2 > bytes)
        subrange_size /= 2;
    *job = (tz_reader_job){.team = team,
                           .read = read,
                           .user = user,
                           .ranges = ranges,
                           .count = count,
                           .subrange_size = subrange_size,
                           .failed = TZ_NO_VALUE};
    const uint64_t subranges = tz_max(count, tz_ceil_div(bytes, subrange_size));
    pthread_mutex_lock(&team->lock);
    enqueue_reader_job(team, job);
    for (pthread_t thread; team->started < TZ_READER_COUNT; team->started++) {
        if (tz_start_thread(&thread, reader_main, team) != 0)
            break; /* go on with fewer; the next job tries again */
        (void)pthread_detach(thread);
    }
    for (uint64_t i = 0; i < subranges && i < team->started; i++)
        pthread_cond_signal(&team->work_queued);
    pthread_mutex_unlock(&team->lock);
    return job;
}

tz_result tz_reader_job_wait(tz_reader_job *job, tz_error *err)
{
    reader_team *team = job->team;
    pthread_mutex_lock(&team->lock);
    while (has_subrange(job))
        read_next_subrange(job);
    tz_reader_job **at = &team->queue;
    while (*at && *at != job)
        at = &(*at)->queue_next;
    if (*at)
        *at = job->queue_next;
    while (job->in_flight > 0)
        pthread_cond_wait(&team->job_ended, &team->lock);
    pthread_mutex_unlock(&team->lock);
    const tz_result result = job->failed == TZ_NO_VALUE ? TZ_OK : job->result;
    if (result != TZ_OK && err)
        *err = job->error;
    tz_free(job);
    return result;
}
