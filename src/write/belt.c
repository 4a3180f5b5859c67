/* SPDX-License-Identifier: Apache-2.0 */
#include "write/belt.h"

#include <pthread.h>

#include "base/mem.h"
#include "base/pool.h"

typedef struct hand {
    tz_belt *belt;
    unsigned worker;
    pthread_t thread;
} hand;

struct tz_belt {
    tz_belt_work work;
    pthread_mutex_t lock;
    pthread_cond_t moved; /* there is something to do, or to see, for those who wait */
    uint64_t added;
    uint64_t next;       /* to be made */
    uint64_t delivered;  /* all below it */
    uint64_t awaited;    /* by the thread that waits; 0: by nobody */
    bool full;           /* no slot is free; until half of them are, none is taken: waking a thread
                            for each would cost more than it gains */
    uint64_t held_until; /* the next piece waits until all below this are delivered */
    unsigned busy;       /* threads within make or deliver */
    bool delivering;
    bool closing;
    tz_result failed;
    uint64_t failed_number;
    tz_error error;
    size_t largest_delivery;
    uint32_t slots;
    bool *made; /* by slot */
    unsigned thread_count;
    unsigned started;
    hand hands[]; /* of the threads beside the caller's */
};

static void note_failure(tz_belt *belt, uint64_t number, tz_result result, const tz_error *err)
{
    if (belt->failed != TZ_OK && belt->failed_number <= number)
        return;
    belt->failed = result;
    belt->failed_number = number;
    belt->error = *err;
}

/* ---- one step; the lock is held before and after ---- */

/* Whoever makes the piece that is due delivers it, or somebody is just delivering and will find it
 * afterwards: so nobody needs to be woken for that. */
static void wake(tz_belt *belt)
{
    pthread_cond_broadcast(&belt->moved);
}

static bool can_deliver(const tz_belt *belt)
{
    return !belt->delivering && belt->failed == TZ_OK && belt->delivered < belt->next &&
           belt->made[belt->delivered % belt->slots];
}

static bool is_due(tz_belt *belt)
{
    belt->held_until = belt->work.needs ? belt->work.needs(belt->work.user, belt->next) : 0;
    return belt->held_until <= belt->delivered;
}

static bool can_make(tz_belt *belt)
{
    return belt->failed == TZ_OK && !belt->closing && belt->next < belt->added && !belt->full &&
           is_due(belt);
}

static size_t ready_count(const tz_belt *belt)
{
    uint64_t end = belt->delivered;
    while (end < belt->next && end - belt->delivered < belt->largest_delivery &&
           end - belt->delivered < belt->slots && belt->made[end % belt->slots])
        end++;
    return (size_t)(end - belt->delivered);
}

static void deliver(tz_belt *belt)
{
    const uint64_t first = belt->delivered;
    const size_t count = ready_count(belt);
    tz_error err = {0};
    belt->delivering = true;
    belt->busy++;
    pthread_mutex_unlock(&belt->lock);
    const tz_result result = belt->work.deliver(belt->work.user, first, count, &err);
    pthread_mutex_lock(&belt->lock);
    belt->busy--;
    belt->delivering = false;
    const bool was_full = belt->full;
    const bool was_held = belt->held_until > belt->delivered;
    if (result == TZ_OK) {
        for (size_t i = 0; i < count; i++)
            belt->made[(first + i) % belt->slots] = false;
        belt->delivered = first + count;
        if (belt->next - belt->delivered <= belt->slots / 2)
            belt->full = false;
    } else {
        note_failure(belt, first, result, &err);
    }
    const bool arrived = belt->awaited > 0 && belt->delivered >= belt->awaited;
    const bool released = was_held && belt->held_until <= belt->delivered;
    if (arrived || was_full != belt->full || released || belt->failed != TZ_OK)
        wake(belt);
}

static void make(tz_belt *belt, unsigned worker)
{
    const uint64_t number = belt->next++;
    tz_error err = {0};
    belt->busy++;
    belt->full = belt->next - belt->delivered >= belt->slots;
    pthread_mutex_unlock(&belt->lock);
    const tz_result result = belt->work.make(belt->work.user, number, worker, &err);
    pthread_mutex_lock(&belt->lock);
    belt->busy--;
    if (result == TZ_OK)
        belt->made[number % belt->slots] = true;
    else
        note_failure(belt, number, result, &err);
    if (belt->failed != TZ_OK)
        wake(belt);
}

/* false: there is nothing to do at present. What is made goes out first, for it frees memory. */
static bool step(tz_belt *belt, unsigned worker)
{
    if (can_deliver(belt))
        deliver(belt);
    else if (can_make(belt))
        make(belt, worker);
    else
        return false;
    return true;
}

/* ---- threads ---- */

static void *hand_main(void *argument)
{
    hand *h = argument;
    tz_belt *belt = h->belt;
    pthread_mutex_lock(&belt->lock);
    while (!belt->closing) {
        if (!step(belt, h->worker))
            pthread_cond_wait(&belt->moved, &belt->lock);
    }
    pthread_mutex_unlock(&belt->lock);
    return NULL;
}

/* One piece alone needs no help. */
static void start_hands(tz_belt *belt)
{
    if (belt->added - belt->delivered < 2)
        return;
    while (belt->started + 1 < belt->thread_count) {
        hand *h = &belt->hands[belt->started];
        *h = (hand){.belt = belt, .worker = belt->started + 1};
        if (tz_start_thread(&h->thread, hand_main, h) != 0)
            return;
        belt->started++;
    }
}

uint64_t tz_belt_bytes(unsigned threads, uint32_t slots)
{
    return sizeof(tz_belt) + (uint64_t)threads * sizeof(hand) + slots * sizeof(bool);
}

tz_result tz_belt_open(tz_belt **out, unsigned threads, uint32_t slots, size_t largest_delivery,
                       const tz_belt_work *work, const tz_context *ctx)
{
    tz_belt *belt = tz_alloc_zeroed(1, sizeof *belt + threads * sizeof belt->hands[0]);
    bool *made = tz_alloc_zeroed(slots, sizeof *made);
    if (!belt || !made) {
        tz_free(belt);
        tz_free(made);
        return tz_fail_nomem(ctx, tz_belt_bytes(threads, slots));
    }
    belt->work = *work;
    belt->thread_count = threads;
    belt->slots = slots;
    belt->made = made;
    belt->largest_delivery = largest_delivery;
    pthread_mutex_init(&belt->lock, NULL);
    pthread_cond_init(&belt->moved, NULL);
    *out = belt;
    return TZ_OK;
}

void tz_belt_add(tz_belt *belt, uint64_t count)
{
    pthread_mutex_lock(&belt->lock);
    belt->added += count;
    start_hands(belt);
    wake(belt);
    pthread_mutex_unlock(&belt->lock);
}

/* Returns the number of delivered pieces that tick was called with. Others may have delivered more
 * since then. */
static uint64_t tick(tz_belt *belt)
{
    const uint64_t delivered = belt->delivered;
    tz_error err = {0};
    if (!belt->work.tick || belt->failed != TZ_OK)
        return delivered;
    pthread_mutex_unlock(&belt->lock);
    const tz_result result = belt->work.tick(belt->work.user, delivered, &err);
    pthread_mutex_lock(&belt->lock);
    if (result != TZ_OK)
        note_failure(belt, delivered, result, &err);
    return delivered;
}

tz_result tz_belt_wait(tz_belt *belt, uint64_t number, tz_error *err)
{
    pthread_mutex_lock(&belt->lock);
    belt->awaited = number;
    uint64_t reported = tick(belt);
    while (belt->failed == TZ_OK && reported < number) {
        if (belt->delivered < number && !step(belt, 0))
            pthread_cond_wait(&belt->moved, &belt->lock);
        reported = tick(belt);
    }
    while (belt->failed != TZ_OK && belt->busy > 0)
        pthread_cond_wait(&belt->moved, &belt->lock);
    belt->awaited = 0;
    wake(belt); /* others take over what this thread would have done next */
    const tz_result result = belt->failed;
    if (result != TZ_OK && err)
        *err = belt->error;
    pthread_mutex_unlock(&belt->lock);
    return result;
}

void tz_belt_close(tz_belt *belt)
{
    if (!belt)
        return;
    pthread_mutex_lock(&belt->lock);
    belt->closing = true;
    wake(belt);
    pthread_mutex_unlock(&belt->lock);
    for (unsigned i = 0; i < belt->started; i++)
        pthread_join(belt->hands[i].thread, NULL);
    pthread_cond_destroy(&belt->moved);
    pthread_mutex_destroy(&belt->lock);
    tz_free(belt->made);
    tz_free(belt);
}
