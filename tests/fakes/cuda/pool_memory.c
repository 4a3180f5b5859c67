/* SPDX-License-Identifier: Apache-2.0
 * Memory of pools. A pool keeps freed memory until somebody waits, and then up to its threshold.
 */
#include "fakes/cuda/state.h"

static void reserve(pool *which, uint64_t bytes)
{
    device_added(which->device, (int64_t)bytes - (int64_t)which->reserved);
    which->reserved = bytes;
    if (which->reserved_high < bytes)
        which->reserved_high = bytes;
}

void pool_took(pool *which, uint64_t size)
{
    which->used += size;
    if (which->used_high < which->used)
        which->used_high = which->used;
    if (which->reserved < which->used)
        reserve(which, which->used);
}

void pool_gave(pool *which, uint64_t size)
{
    which->used -= size;
    if (which->destroyed && which->used == 0) {
        reserve(which, 0);
        thing_free(&which->self);
    }
}

void pool_keep(pool *which, uint64_t bytes)
{
    if (bytes < which->used)
        bytes = which->used;
    if (bytes < which->reserved)
        reserve(which, bytes);
}

typedef struct shrinking {
    int device;
    bool all;
} shrinking;

static void shrink(void *which, void *state)
{
    pool *one = which;
    const shrinking *how = state;
    if (one->device == how->device)
        pool_keep(one, how->all ? 0 : one->threshold);
}

void pools_shrink(int device, bool all)
{
    shrinking how = {device, all};
    thing_each(POOL_THING, shrink, &how);
}
