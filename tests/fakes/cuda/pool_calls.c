/* SPDX-License-Identifier: Apache-2.0
 * Calls of pools, and of memory in the order of streams. The old fake is without this file. */
#include "fakes/cuda/state.h"

enum { MAX_DEVICES = 8 };
static pool *defaults[MAX_DEVICES];

static pool *make(int device)
{
    pool *made = thing_make(POOL_THING, sizeof *made, NULL);
    made->device = device;
    return made;
}

static pool *default_of(int device)
{
    if (!defaults[device])
        defaults[device] = make(device);
    return defaults[device];
}

static bool begin(call *here, const char *name, unsigned needs, uint64_t bytes, const void *stream)
{
    if (!call_begin(here, name, needs, bytes, stream))
        return false;
    if (control.no_pools) {
        here->code = refuse(here, NOT_SUPPORTED, "there are no pools");
        return false;
    }
    return true;
}

static pool *find(call *here, CUmemoryPool handle)
{
    pool *found = thing_find(POOL_THING, handle);
    if (found && !found->destroyed)
        return found;
    here->code = refuse(here, INVALID_HANDLE, "%p is no pool", (void *)handle);
    return NULL;
}

static CUresult allocate(call *here, CUdeviceptr *out, size_t size, pool *from, CUstream handle)
{
    queue *to = queue_stream(here, handle);
    if (!to)
        return here->code;
    if (size == 0 || from->device != here->context->device)
        return refuse(here, INVALID_VALUE, "%zu bytes of device %d", size, from->device);
    piece *made = piece_make(here->context, from, from->device, size);
    if (!made)
        return refuse(here, OUT_OF_MEMORY, "%zu bytes", size);
    const work *at = queue_add(here, to, size, NULL);
    made->made_slot = at->slot;
    made->made_position = at->position;
    *out = made->first;
    return SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr *out, size_t size, CUstream handle)
{
    call here;
    if (!begin(&here, "+cuMemAllocAsync", NEEDS_CONTEXT, size, handle))
        return call_end(&here, here.code);
    pool *from = default_of(here.context->device);
    return call_end(&here, allocate(&here, out, size, from, handle));
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t size, CUmemoryPool handle,
                                 CUstream stream_handle)
{
    call here;
    if (!begin(&here, "+cuMemAllocFromPoolAsync", NEEDS_CONTEXT, size, stream_handle))
        return call_end(&here, here.code);
    pool *from = find(&here, handle);
    if (!from)
        return call_end(&here, here.code);
    return call_end(&here, allocate(&here, out, size, from, stream_handle));
}

static void release(work *which)
{
    piece *found = piece_find(which->what.released);
    if (found && found->freed_position == which->position && found->freed_slot == which->slot)
        piece_free(found);
}

/* All that was done with it so far must be known to be before the work that frees it. */
static void check_uses(const work *free_work, const piece *which)
{
    bool late = free_work->known.at[which->made_slot] < which->made_position;
    for (uint32_t i = 0; i < SLOTS; i++)
        late = late || free_work->known.at[i] < which->used.at[i];
    if (late)
        fault(free_work->context, free_work->name,
              "%llu bytes at %#llx: it is not ordered after all uses on other streams",
              (unsigned long long)which->size, (unsigned long long)which->first);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle)
{
    call here;
    if (!begin(&here, "+cuMemFreeAsync", NEEDS_CONTEXT | IS_RELEASE, 0, handle))
        return call_end(&here, here.code);
    queue *to = queue_stream(&here, handle);
    if (!to)
        return call_end(&here, INVALID_HANDLE);
    piece *found = piece_range(&here, address, 1);
    if (!found)
        return call_end(&here, INVALID_VALUE);
    if (found->first != address || !found->pool)
        return call_end(&here,
                        refuse(&here, INVALID_VALUE, "%#llx is no memory of a pool", address));
    work *made = queue_add(&here, to, found->size, NULL);
    made->what.released = address;
    made->finish = release;
    found->freed_slot = made->slot;
    found->freed_position = made->position;
    found->freed_known = made->known;
    if (here.code == SUCCESS)
        check_uses(made, found);
    return call_end(&here, here.code);
}

CUresult cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props)
{
    call here;
    if (!begin(&here, "+cuMemPoolCreate", NEEDS_INIT, 0, NULL))
        return call_end(&here, here.code);
    for (size_t i = 0; i < sizeof props->reserved; i++) {
        if (props->reserved[i] != 0)
            return call_end(&here, refuse(&here, INVALID_VALUE, "reserved bytes are not 0"));
    }
    if (props->allocType != 1 || props->location.type != 1 || props->win32SecurityAttributes)
        return call_end(&here, refuse(&here, INVALID_VALUE, "not pinned memory of a device"));
    if (!device_exists(props->location.id))
        return call_end(&here, refuse(&here, INVALID_DEVICE, "no device %d", props->location.id));
    *out = HANDLE(CUmemoryPool, make(props->location.id));
    control.live++;
    return call_end(&here, SUCCESS);
}

CUresult cuMemPoolDestroy(CUmemoryPool handle)
{
    call here;
    if (!begin(&here, "+cuMemPoolDestroy", NEEDS_INIT | IS_RELEASE, 0, NULL))
        return call_end(&here, here.code);
    pool *found = find(&here, handle);
    if (!found || found == defaults[found->device])
        return call_end(&here, INVALID_HANDLE);
    found->destroyed = true;
    control.live--;
    pool_gave(found, 0);
    return call_end(&here, SUCCESS);
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, unsigned attribute, void *value)
{
    call here;
    if (!begin(&here, "+cuMemPoolSetAttribute", NEEDS_INIT, 0, NULL))
        return call_end(&here, here.code);
    pool *found = find(&here, handle);
    if (!found)
        return call_end(&here, here.code);
    if (attribute == 4)
        found->threshold = *(const uint64_t *)value;
    else if (attribute == 6 && *(const uint64_t *)value == 0)
        found->reserved_high = found->reserved;
    else if (attribute == 8 && *(const uint64_t *)value == 0)
        found->used_high = found->used;
    else if (attribute < 1 || attribute > 3)
        return call_end(&here, refuse(&here, INVALID_VALUE, "attribute %u", attribute));
    return call_end(&here, SUCCESS);
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, unsigned attribute, void *value)
{
    call here;
    if (!begin(&here, "+cuMemPoolGetAttribute", NEEDS_INIT, 0, NULL))
        return call_end(&here, here.code);
    const pool *found = find(&here, handle);
    if (!found)
        return call_end(&here, here.code);
    const uint64_t numbers[] = {found->threshold, found->reserved, found->reserved_high,
                                found->used, found->used_high};
    if (attribute >= 1 && attribute <= 3)
        *(int *)value = 1;
    else if (attribute >= 4 && attribute <= 8)
        *(uint64_t *)value = numbers[attribute - 4];
    else
        return call_end(&here, refuse(&here, INVALID_VALUE, "attribute %u", attribute));
    return call_end(&here, SUCCESS);
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t bytes)
{
    call here;
    if (!begin(&here, "+cuMemPoolTrimTo", NEEDS_INIT, 0, NULL))
        return call_end(&here, here.code);
    pool *found = find(&here, handle);
    if (!found)
        return call_end(&here, here.code);
    pool_keep(found, bytes);
    return call_end(&here, SUCCESS);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice device)
{
    call here;
    if (!begin(&here, "+cuDeviceGetDefaultMemPool", NEEDS_INIT, 0, NULL))
        return call_end(&here, here.code);
    if (!device_exists(device))
        return call_end(&here, refuse(&here, INVALID_DEVICE, "no device %d", device));
    *out = HANDLE(CUmemoryPool, default_of(device));
    return call_end(&here, SUCCESS);
}
