/* SPDX-License-Identifier: Apache-2.0
 * Work in streams, and the order that it is done in. Nothing is done before somebody waits for it;
 * then as little as will do, or, reversed, all else first that may go on. */
#include <stdio.h>
#include <stdlib.h>

#include "fakes/cuda/state.h"

typedef struct lane {
    queue *owner; /* NULL: free */
    uint64_t last, done;
} lane;

static lane slots[SLOTS];
static uint32_t next_slot;
static order host; /* what the host has seen to be done */

static void order_add(order *to, const order *what)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (to->at[i] < what->at[i])
            to->at[i] = what->at[i];
    }
}

void order_seen(const order *what)
{
    order_add(&host, what);
}

bool queue_done(uint32_t slot, uint64_t position)
{
    return slots[slot].done >= position;
}

uint64_t queue_position(const queue *which)
{
    return slots[which->slot].last;
}

/* ---- streams ---- */

queue *queue_make(context *which, unsigned flags)
{
    for (uint32_t tried = 0; tried < SLOTS; tried++) {
        const uint32_t at = (next_slot + tried) % SLOTS;
        if (slots[at].owner)
            continue;
        queue *made = thing_make(STREAM_THING, sizeof *made, which);
        made->slot = at;
        made->flags = flags;
        made->known.at[at] = slots[at].last;
        slots[at].owner = made;
        next_slot = at + 1; /* those that were used last are used again last */
        return made;
    }
    fprintf(stderr, "the fake of CUDA has no more than %d streams\n", SLOTS);
    abort();
}

static void free_if_done(queue *which)
{
    if (!which->closed || which->first)
        return;
    slots[which->slot].owner = NULL;
    thing_free(&which->self);
}

void queue_close(queue *which)
{
    which->closed = true;
    free_if_done(which);
}

queue *queue_stream(call *here, CUstream handle)
{
    if ((uintptr_t)handle <= 1)
        return here->context->legacy;
    if ((uintptr_t)handle == 2)
        return here->context->per_thread;
    queue *found = thing_find(STREAM_THING, handle);
    if (found && !found->closed && found->self.context == here->context)
        return found;
    here->code = refuse(here, INVALID_HANDLE, "%p is no stream of this context", (void *)handle);
    return NULL;
}

/* ---- putting work in ---- */

static work *add(const call *here, queue *to, void (*run)(work *))
{
    work *made = calloc(1, sizeof *made);
    order_add(&to->known, &host);
    to->known.at[to->slot] = ++slots[to->slot].last;
    made->context = to->self.context;
    made->name = here->name;
    made->stream = to->self.handle;
    made->slot = to->slot;
    made->position = slots[to->slot].last;
    made->known = to->known;
    made->run = run;
    if (to->last)
        to->last->next = made;
    else
        to->first = made;
    to->last = made;
    return made;
}

/* All that is in other is before what comes to stream who from now on. */
static void follow(const call *here, queue *who, const queue *other)
{
    if (!other->first)
        return;
    order_add(&who->known, &other->known);
    work *made = add(here, who, NULL);
    made->name = NULL; /* nobody called it */
    made->wait_slot = other->slot;
    made->wait_position = slots[other->slot].last;
}

/* The legacy stream and those that are not NON_BLOCKING wait for each other. */
static void join_legacy(const call *here, queue *to)
{
    queue *legacy = to->self.context->legacy;
    if (to != legacy) {
        if (to->flags == 0)
            follow(here, to, legacy);
        return;
    }
    for (uint32_t i = 0; i < SLOTS; i++) {
        const queue *other = slots[i].owner;
        if (other && other != to && other->self.context == to->self.context && other->flags == 0)
            follow(here, to, other);
    }
}

work *queue_add(const call *here, queue *to, uint64_t bytes, void (*run)(work *))
{
    join_legacy(here, to);
    work *made = add(here, to, run);
    made->bytes = bytes;
    return made;
}

void queue_wait(const call *here, queue *who, uint32_t slot, uint64_t position, const order *known)
{
    order_add(&who->known, known);
    work *made = queue_add(here, who, 0, NULL);
    made->wait_slot = slot;
    made->wait_position = position;
}

/* ---- doing it ---- */

static bool may_go(const queue *which)
{
    const work *first = which->first;
    return first &&
           (first->wait_position == 0 || queue_done(first->wait_slot, first->wait_position));
}

static void do_first(queue *which, bool really)
{
    work *first = which->first;
    if (really && first->name)
        note_step(first->name, first->bytes, first->stream);
    if (really && first->run && first->context->sticky == SUCCESS)
        first->run(first);
    if (first->finish)
        first->finish(first);
    which->first = first->next;
    if (!which->first)
        which->last = NULL;
    slots[which->slot].done = first->position;
    free(first);
    free_if_done(which);
}

/* The youngest stream that may go on; NULL: none but this one. */
static queue *youngest_but(uint32_t slot)
{
    queue *found = NULL;
    for (uint32_t i = 0; i < SLOTS; i++) {
        queue *other = slots[i].owner;
        if (other && i != slot && may_go(other) &&
            (!found || other->self.handle > found->self.handle))
            found = other;
    }
    return found;
}

void queue_step(uint32_t slot, uint64_t position)
{
    if (queue_done(slot, position))
        return;
    queue *next = control.reversed ? youngest_but(slot) : NULL;
    if (!next) {
        next = slots[slot].owner;
        while (!may_go(next))
            next = slots[next->first->wait_slot].owner;
    }
    do_first(next, true);
}

void queue_until(uint32_t slot, uint64_t position)
{
    while (!queue_done(slot, position))
        queue_step(slot, position);
}

void queue_all(const context *which)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        const queue *owner = slots[i].owner;
        if (!owner || (which && owner->self.context != which))
            continue;
        const order known = owner->known;
        queue_until(i, slots[i].last);
        order_seen(&known);
    }
}

void queue_forget(const context *which)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (which && slots[i].owner && slots[i].owner->self.context != which)
            continue;
        while (slots[i].owner && slots[i].owner->first)
            do_first(slots[i].owner, false);
        host.at[i] = slots[i].last;
    }
}
