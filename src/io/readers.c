/* SPDX-License-Identifier: Apache-2.0
 * A reading stands in the crew's queue while it has pieces to hand out. The readers take pieces
 * from the readings of the queue in turn, the thread that waits for a reading takes them from that
 * one. One lock guards all of it; it is not held during a read. */
#include "io/readers.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/process.h"

typedef struct crew crew;

struct tz_reading {
    crew *crew;
    tz_read_piece read;
    const void *user;
    const tz_range *ranges;
    size_t count;
    size_t piece;       /* bytes of a piece */
    size_t next;        /* range of the next piece */
    size_t given;       /* bytes of that range that are handed out */
    uint64_t pieces;    /* handed out */
    uint64_t under_way; /* of them */
    bool stopped;       /* hands out no more */
    uint64_t failed;    /* the lowest number of a piece that failed; TZ_NONE: none */
    tz_result result;   /* of that piece */
    tz_error error;
    tz_reading *later; /* in the queue */
};

struct crew {
    tz_process process;
    crew *inherited; /* of the process before fork; never used */
    pthread_mutex_t lock;
    pthread_cond_t work;  /* the queue got a reading */
    pthread_cond_t ended; /* the last piece of some reading has ended */
    tz_reading *queue;
    unsigned started; /* threads */
};

/* ---- pieces; the crew's lock is held ---- */

static bool has_piece(const tz_reading *r)
{
    return !r->stopped && r->next < r->count;
}

static tz_range take_piece(tz_reading *r)
{
    const tz_range *range = &r->ranges[r->next];
    const uint64_t offset = range->offset + r->given;
    const size_t left = range->size - r->given;
    const size_t up_to_cut = r->piece - (size_t)(offset % r->piece);
    const tz_range piece = {offset, left < up_to_cut ? left : up_to_cut,
                            (unsigned char *)range->dst + r->given};
    r->given += piece.size;
    if (r->given == range->size) {
        r->next++;
        r->given = 0;
    }
    r->pieces++;
    r->under_way++;
    return piece;
}

static void note_end(tz_reading *r, uint64_t number, tz_result result, const tz_error *error)
{
    r->under_way--;
    if (result != TZ_OK)
        r->stopped = true;
    if (result != TZ_OK && number < r->failed) {
        r->failed = number;
        r->result = result;
        r->error = *error;
    }
    if (!has_piece(r) && r->under_way == 0)
        pthread_cond_broadcast(&r->crew->ended);
}

/* Reads one piece of r without the lock. */
static void read_one(tz_reading *r)
{
    crew *c = r->crew;
    tz_error error = {.result = TZ_OK};
    const uint64_t number = r->pieces;
    const tz_range piece = take_piece(r);
    pthread_mutex_unlock(&c->lock);
    const tz_result result = r->read(r->user, &piece, &error);
    pthread_mutex_lock(&c->lock);
    note_end(r, number, result, &error);
}

/* ---- the queue; the crew's lock is held ---- */

static void append(crew *c, tz_reading *r)
{
    tz_reading **end = &c->queue;
    while (*end)
        end = &(*end)->later;
    r->later = NULL;
    *end = r;
}

static void drop(crew *c, const tz_reading *r)
{
    tz_reading **at = &c->queue;
    while (*at && *at != r)
        at = &(*at)->later;
    if (*at)
        *at = r->later;
}

/* The first reading that has a piece; it goes to the end, so that several get readers in turn.
 * Readings without a piece leave. */
static tz_reading *next_reading(crew *c)
{
    while (c->queue) {
        tz_reading *r = c->queue;
        c->queue = r->later;
        if (has_piece(r)) {
            append(c, r);
            return r;
        }
    }
    return NULL;
}

/* ---- threads ---- */

static void *reader_main(void *argument)
{
    crew *c = argument;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        tz_reading *r = next_reading(c);
        if (r)
            read_one(r);
        else
            pthread_cond_wait(&c->work, &c->lock);
    }
    return NULL;
}

static void start_readers(crew *c)
{
    pthread_t thread;
    while (c->started < TZ_READERS) {
        if (tz_thread_begin(&thread, reader_main, c) != 0)
            break; /* fewer then; the next reading tries again */
        (void)pthread_detach(thread);
        c->started++;
    }
}

/* ---- the crew of the process ---- */

static crew first_crew;
static _Atomic(crew *) current;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init_crew(crew *c)
{
    c->process = tz_process_now();
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->work, NULL);
    pthread_cond_init(&c->ended, NULL);
}

static void make_first(void)
{
    init_crew(&first_crew);
    atomic_store(&current, &first_crew);
}

/* NULL: a child of fork finds no memory for its own. */
static crew *our_crew(void)
{
    pthread_once(&once, make_first);
    crew *found = atomic_load(&current);
    if (tz_process_is_now(&found->process))
        return found;
    crew *made = tz_alloc_zeroed(1, sizeof *made);
    if (!made)
        return NULL;
    init_crew(made);
    made->inherited = found;
    if (atomic_compare_exchange_strong(&current, &found, made))
        return made;
    tz_free(made); /* another thread of this process was faster */
    return found;
}

/* ---- readings ---- */

static size_t piece_of(uint64_t bytes)
{
    size_t piece = TZ_READER_PIECE_MAX;
    while (piece > TZ_READER_PIECE_MIN && piece * TZ_READERS * 2 > bytes)
        piece /= 2;
    return piece;
}

tz_reading *tz_readers_begin(const tz_range *ranges, size_t count, tz_read_piece read,
                             const void *user)
{
    uint64_t bytes = 0;
    crew *c = our_crew();
    tz_reading *r = c ? tz_alloc_zeroed(1, sizeof *r) : NULL;
    if (!r)
        return NULL;
    for (size_t i = 0; i < count; i++)
        bytes = tz_add_capped(bytes, ranges[i].size);
    *r = (tz_reading){.crew = c,
                      .read = read,
                      .user = user,
                      .ranges = ranges,
                      .count = count,
                      .piece = piece_of(bytes),
                      .failed = TZ_NONE};
    const uint64_t pieces = tz_larger_u64(count, tz_ceil_div(bytes, r->piece));
    pthread_mutex_lock(&c->lock);
    append(c, r);
    start_readers(c);
    for (uint64_t i = 0; i < pieces && i < c->started; i++)
        pthread_cond_signal(&c->work);
    pthread_mutex_unlock(&c->lock);
    return r;
}

tz_result tz_readers_end(tz_reading *r, tz_error *err)
{
    crew *c = r->crew;
    pthread_mutex_lock(&c->lock);
    while (has_piece(r))
        read_one(r);
    drop(c, r);
    while (r->under_way > 0)
        pthread_cond_wait(&c->ended, &c->lock);
    pthread_mutex_unlock(&c->lock);
    const tz_result result = r->failed == TZ_NONE ? TZ_OK : r->result;
    if (result != TZ_OK && err)
        *err = r->error;
    tz_free(r);
    return result;
}
