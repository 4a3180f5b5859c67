/* SPDX-License-Identifier: Apache-2.0
 * Host memory that is pinned: allocated here, before guard pages, or the caller's that is
 * registered. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fakes/cuda/state.h"

enum { PAGE = 4096, ALIGNMENT = 256, KEPT = 256 };

typedef struct pin pin;
struct pin {
    pin *next;
    context *context;
    uintptr_t first;
    size_t size;
    void *mapped; /* NULL: registered */
    size_t mapped_size;
    bool freed; /* kept for a while, closed, to know who uses it yet */
};

static pin *pins; /* the last one first */
static size_t freed_count;

/* The pin that one of these bytes is in. */
static pin *find(uintptr_t first, uint64_t size)
{
    for (pin *one = pins; one; one = one->next) {
        if (first < one->first + one->size && one->first < first + size)
            return one;
    }
    return NULL;
}

bool host_pinned(const void *host, context **owner, uint64_t *first, uint64_t *size)
{
    const pin *found = find((uintptr_t)host, 1);
    if (!found || found->freed)
        return false;
    *owner = found->context;
    *first = found->first;
    *size = found->size;
    return true;
}

bool host_fits(const void *host, uint64_t size, const char **why)
{
    const uintptr_t first = (uintptr_t)host;
    const pin *found = find(first, size);
    *why = NULL;
    if (!host)
        *why = "NULL is no host memory";
    else if (piece_find(first))
        *why = "memory of the device is no host memory";
    else if (found && found->freed)
        *why = "the pinned host memory was freed";
    else if (found && (first < found->first || first + size > found->first + found->size))
        *why = "the host memory is pinned in part only";
    return !*why;
}

static pin *add(context *owner, uintptr_t first, size_t size)
{
    pin *made = calloc(1, sizeof *made);
    *made = (pin){.next = pins, .context = owner, .first = first, .size = size};
    pins = made;
    control.live++;
    return made;
}

static void drop(pin *which)
{
    pin **link = &pins;
    while (*link != which)
        link = &(*link)->next;
    *link = which->next;
    if (which->mapped)
        munmap(which->mapped, which->mapped_size);
    free(which);
}

static void drop_oldest_freed(void)
{
    pin *oldest = NULL;
    for (pin *one = pins; one; one = one->next)
        oldest = one->freed ? one : oldest;
    drop(oldest);
    freed_count--;
}

/* Closed, and its pages given back: but its addresses are kept. */
static void close_pin(pin *which)
{
    mmap(which->mapped, which->mapped_size, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    which->freed = true;
    if (++freed_count > KEPT)
        drop_oldest_freed();
}

void host_free_of(const context *which)
{
    for (pin *one = pins, *next; one; one = next) {
        next = one->next;
        if (one->context != which)
            continue;
        if (one->freed)
            freed_count--;
        drop(one);
    }
}

CUresult cuMemHostAlloc(void **out, size_t size, unsigned flags)
{
    call here;
    if (!call_begin(&here, "+cuMemHostAlloc", NEEDS_CONTEXT, size, NULL))
        return call_end(&here, here.code);
    if (size == 0 || flags > 7)
        return call_end(&here, refuse(&here, INVALID_VALUE, "%zu bytes, flags %#x", size, flags));
    const size_t pages = (size + ALIGNMENT + PAGE - 1) / PAGE + 1;
    unsigned char *mapped =
        mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        return call_end(&here, refuse(&here, OUT_OF_MEMORY, "%zu bytes", size));
    unsigned char *guard = mapped + (pages - 1) * PAGE;
    mprotect(guard, PAGE, PROT_NONE);
    unsigned char *first = guard - (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(first, 0xa5, size);
    pin *made = add(here.context, (uintptr_t)first, size);
    made->mapped = mapped;
    made->mapped_size = pages * PAGE;
    *out = first;
    return call_end(&here, SUCCESS);
}

/* The pin that begins there and is of that kind; NULL: refused with the code. */
static pin *exactly(const call *here, const void *host, bool registered, CUresult code)
{
    pin *found = find((uintptr_t)host, 1);
    if (found && !found->freed && found->first == (uintptr_t)host &&
        (found->mapped == NULL) == registered && found->context == here->context)
        return found;
    refuse(here, code, "%p is no such memory of this context", host);
    return NULL;
}

/* Worse than the real one: it waits for nobody. */
CUresult cuMemFreeHost(void *host)
{
    call here;
    if (!call_begin(&here, "+cuMemFreeHost", NEEDS_CONTEXT | IS_RELEASE, 0, NULL))
        return call_end(&here, here.code);
    pin *found = exactly(&here, host, false, INVALID_VALUE);
    if (!found)
        return call_end(&here, INVALID_VALUE);
    close_pin(found);
    control.live--;
    return call_end(&here, here.code);
}

CUresult cuMemHostRegister_v2(void *host, size_t size, unsigned flags)
{
    call here;
    if (!call_begin(&here, "+cuMemHostRegister_v2", NEEDS_CONTEXT, size, NULL))
        return call_end(&here, here.code);
    if (!host || size == 0 || flags > 15 || piece_find((uintptr_t)host))
        return call_end(&here, refuse(&here, INVALID_VALUE, "%zu bytes at %p", size, host));
    if (find((uintptr_t)host, size))
        return call_end(&here, refuse(&here, ALREADY_REGISTERED, "%p", host));
    add(here.context, (uintptr_t)host, size);
    return call_end(&here, SUCCESS);
}

CUresult cuMemHostUnregister(void *host)
{
    call here;
    if (!call_begin(&here, "+cuMemHostUnregister", NEEDS_CONTEXT | IS_RELEASE, 0, NULL))
        return call_end(&here, here.code);
    pin *found = exactly(&here, host, true, NOT_REGISTERED);
    if (!found)
        return call_end(&here, NOT_REGISTERED);
    drop(found);
    control.live--;
    return call_end(&here, here.code);
}
