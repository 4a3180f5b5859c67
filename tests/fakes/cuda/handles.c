/* SPDX-License-Identifier: Apache-2.0
 * The table of what handles stand for. Numbers of handles only grow, so the table is in order. */
#include <stdlib.h>
#include <string.h>

#include "fakes/cuda/state.h"

/* Not an address that any processor of ours takes: who follows a handle, dies. */
#define HANDLE_MARK ((uint64_t)0xc0da << 48)

static thing **things;
static size_t count, room;
static uint64_t last_number;

void *thing_make(thing_kind kind, size_t size, struct context *owner)
{
    if (count == room) {
        room = room ? 2 * room : 64;
        things = realloc(things, room * sizeof(thing *));
    }
    thing *made = calloc(1, size);
    *made = (thing){HANDLE_MARK | ++last_number << 4 | (uint64_t)kind, kind, owner};
    things[count++] = made;
    return made;
}

/* Returns the index where a handle is, or would be. */
static size_t place_of(uint64_t handle)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (things[middle]->handle >> 4 < handle >> 4)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void *thing_find(thing_kind kind, const void *handle)
{
    const uint64_t number = (uintptr_t)handle;
    const size_t place = place_of(number);
    if (place == count || things[place]->handle != number || things[place]->kind != kind)
        return NULL;
    return things[place];
}

void thing_free(thing *which)
{
    const size_t place = place_of(which->handle);
    memmove(things + place, things + place + 1, (count - place - 1) * sizeof(thing *));
    count--;
    free(which);
}

void thing_each(thing_kind kind, void (*visit)(void *which, void *state), void *state)
{
    uint64_t handle = 0;
    for (size_t i = 0; i < count; i = place_of(handle)) {
        thing *which = things[i];
        handle = which->handle + 16; /* the next one, even if this one is freed */
        if (which->kind == kind)
            visit(which, state);
    }
}
