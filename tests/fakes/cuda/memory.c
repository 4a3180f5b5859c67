/* SPDX-License-Identifier: Apache-2.0
 * Calls that allocate plain memory and that ask about memory. */
#include <string.h>

#include "fakes/cuda/state.h"

CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t size)
{
    call here;
    if (!call_begin(&here, "+cuMemAlloc_v2", NEEDS_CONTEXT, size, NULL))
        return call_end(&here, here.code);
    if (size == 0)
        return call_end(&here, refuse(&here, INVALID_VALUE, "0 bytes"));
    const piece *made = piece_make(here.context, NULL, here.context->device, size);
    if (!made)
        return call_end(&here, refuse(&here, OUT_OF_MEMORY, "%zu bytes", size));
    *out = made->first;
    return call_end(&here, SUCCESS);
}

/* Worse than the real one: it waits for nobody. */
CUresult cuMemFree_v2(CUdeviceptr address)
{
    call here;
    if (!call_begin(&here, "+cuMemFree_v2", NEEDS_CONTEXT | IS_RELEASE, 0, NULL))
        return call_end(&here, here.code);
    if (address == 0)
        return call_end(&here, here.code);
    piece *found = piece_range(&here, address, 1);
    if (!found)
        return call_end(&here, INVALID_VALUE);
    if (found->first != address)
        return call_end(&here, refuse(&here, INVALID_VALUE, "%#llx is within a piece", address));
    piece_free(found);
    return call_end(&here, here.code);
}

CUresult cuMemGetInfo_v2(size_t *unused, size_t *total)
{
    call here;
    if (!call_begin(&here, "+cuMemGetInfo_v2", NEEDS_CONTEXT, 0, NULL))
        return call_end(&here, here.code);
    const uint64_t memory = device_memory(here.context->device);
    const uint64_t used = device_used(here.context->device);
    *total = memory;
    *unused = used < memory ? memory - used : 0;
    return call_end(&here, SUCCESS);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *first, size_t *size, CUdeviceptr address)
{
    call here;
    if (!call_begin(&here, "+cuMemGetAddressRange_v2", NEEDS_CONTEXT, 0, NULL))
        return call_end(&here, here.code);
    const piece *found = piece_find(address);
    if (!found)
        return call_end(&here, refuse(&here, NOT_FOUND, "%#llx is in no piece", address));
    if (first)
        *first = found->first;
    if (size)
        *size = found->size;
    return call_end(&here, SUCCESS);
}

/* ---- attributes of pointers ---- */

/* The attributes of a pointer. */
typedef struct told {
    bool known;
    const context *context;
    const pool *pool;
    unsigned type; /* 1: host, 2: device */
    int device;
    uint64_t first, size, number;
} told;

static told look(CUdeviceptr address)
{
    told found = {0};
    const piece *at = piece_find(address);
    context *owner = NULL;
    if (at) {
        found = (told){.known = true, .context = at->context, .pool = at->pool, .type = 2};
        found.device = at->device;
        found.first = at->first;
        found.size = at->size;
        found.number = at->number;
    } else if (host_pinned((const void *)(uintptr_t)address, &owner, &found.first, &found.size)) {
        found.known = true;
        found.context = owner;
        found.type = 1;
        found.device = owner->device;
    }
    return found;
}

#define TELL(type, value)                                                                          \
    do {                                                                                           \
        const type told_value = (value);                                                           \
        memcpy(out, &told_value, sizeof told_value);                                               \
        return SUCCESS;                                                                            \
    } while (0)

/* One attribute. Of what is not known, cuPointerGetAttributes reports zeros. */
static CUresult tell(void *out, unsigned attribute, const told *found, CUdeviceptr address)
{
    switch (attribute) {
    case 1:
        TELL(CUcontext, found->context ? HANDLE(CUcontext, found->context) : NULL);
    case 2:
        TELL(unsigned, found->type);
    case 3:
        TELL(CUdeviceptr, found->type == 2 ? address : 0);
    case 4:
        TELL(CUdeviceptr, found->type == 1 ? address : 0);
    case 7:
        TELL(unsigned long long, found->number);
    case 8:
        TELL(unsigned, 0);
    case 9:
        TELL(int, found->known ? found->device : -2);
    case 11:
        TELL(CUdeviceptr, found->first);
    case 12:
        TELL(size_t, found->size);
    case 13:
        TELL(unsigned, found->known);
    case 17:
        TELL(CUmemoryPool, found->pool ? HANDLE(CUmemoryPool, found->pool) : NULL);
    default:
        return INVALID_VALUE;
    }
}

CUresult cuPointerGetAttribute(void *out, unsigned attribute, CUdeviceptr address)
{
    call here;
    if (!call_begin(&here, "+cuPointerGetAttribute", NEEDS_INIT, 0, NULL))
        return call_end(&here, here.code);
    const told found = look(address);
    if (!found.known)
        return call_end(&here, refuse(&here, INVALID_VALUE, "%#llx is not known", address));
    return call_end(&here, tell(out, attribute, &found, address));
}

CUresult cuPointerGetAttributes(unsigned count, unsigned *attributes, void **out,
                                CUdeviceptr address)
{
    call here;
    if (!call_begin(&here, "+cuPointerGetAttributes", NEEDS_INIT, 0, NULL))
        return call_end(&here, here.code);
    const told found = look(address);
    CUresult code = SUCCESS;
    for (unsigned i = 0; i < count && code == SUCCESS; i++)
        code = tell(out[i], attributes[i], &found, address);
    return call_end(&here, code);
}
