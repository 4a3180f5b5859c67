/* SPDX-License-Identifier: Apache-2.0
 * Contexts: one that is primary for each device, others that callers make. Which one is current,
 * each thread says for itself, by a stack. */
#include "fakes/cuda/state.h"

enum { DEPTH = 16, MAX_DEVICES = 8 };

static context *primary[MAX_DEVICES];
static _Thread_local CUcontext stack[DEPTH];
static _Thread_local unsigned depth;

context *context_current(CUresult *code)
{
    context *found = depth > 0 ? thing_find(CONTEXT_THING, stack[depth - 1]) : NULL;
    *code = found ? SUCCESS : depth > 0 ? CONTEXT_IS_DESTROYED : INVALID_CONTEXT;
    return found;
}

static context *make(int device, uint32_t references)
{
    context *made = thing_make(CONTEXT_THING, sizeof *made, NULL);
    made->self.context = made;
    made->device = device;
    made->references = references;
    made->legacy = queue_make(made, 0);
    made->per_thread = queue_make(made, 0);
    control.live++;
    return made;
}

static void close_stream(void *which, void *state)
{
    queue *one = which;
    if (one->self.context == state)
        queue_close(one);
}

static void free_event(void *which, void *state)
{
    event *one = which;
    if (one->self.context == state)
        thing_free(&one->self);
}

/* Work is done, handles end. What its owner did not release keeps counting as live. */
static void destroy(context *which)
{
    queue_all(which);
    thing_each(STREAM_THING, close_stream, which);
    thing_each(EVENT_THING, free_event, which);
    module_free_of(which);
    piece_free_of(which);
    host_free_of(which);
    thing_free(&which->self);
    control.live--;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device)
{
    call here;
    if (!call_begin(&here, "+cuDevicePrimaryCtxRetain", NEEDS_INIT, 0, NULL))
        return call_end(&here, here.code);
    if (!device_exists(device))
        return call_end(&here, refuse(&here, INVALID_DEVICE, "there is no device %d", device));
    if (!primary[device])
        primary[device] = make(device, 0);
    primary[device]->references++;
    *out = HANDLE(CUcontext, primary[device]);
    return call_end(&here, SUCCESS);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    call here;
    if (!call_begin(&here, "+cuDevicePrimaryCtxRelease_v2", NEEDS_INIT | IS_RELEASE, 0, NULL))
        return call_end(&here, here.code);
    if (!device_exists(device) || !primary[device])
        return call_end(&here, refuse(&here, INVALID_CONTEXT, "nobody holds it"));
    if (--primary[device]->references == 0) {
        destroy(primary[device]);
        primary[device] = NULL;
    }
    return call_end(&here, SUCCESS);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    call here;
    if (!call_begin(&here, "+cuDevicePrimaryCtxGetState", NEEDS_INIT, 0, NULL))
        return call_end(&here, here.code);
    if (!device_exists(device))
        return call_end(&here, refuse(&here, INVALID_DEVICE, "there is no device %d", device));
    *flags = 0;
    *active = primary[device] != NULL;
    return call_end(&here, SUCCESS);
}

static CUresult push(const call *here, CUcontext handle)
{
    if (!thing_find(CONTEXT_THING, handle))
        return refuse(here, INVALID_CONTEXT, "%p is no context", (void *)handle);
    if (depth == DEPTH)
        return refuse(here, INVALID_VALUE, "%d contexts are pushed already", DEPTH);
    stack[depth++] = handle;
    return SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice device)
{
    call here;
    (void)flags;
    if (!call_begin(&here, "+cuCtxCreate_v2", NEEDS_INIT, 0, NULL))
        return call_end(&here, here.code);
    if (!device_exists(device))
        return call_end(&here, refuse(&here, INVALID_DEVICE, "there is no device %d", device));
    *out = HANDLE(CUcontext, make(device, 0));
    return call_end(&here, push(&here, *out));
}

CUresult cuCtxDestroy_v2(CUcontext handle)
{
    call here;
    if (!call_begin(&here, "+cuCtxDestroy_v2", NEEDS_INIT | IS_RELEASE, 0, NULL))
        return call_end(&here, here.code);
    context *which = thing_find(CONTEXT_THING, handle);
    if (!which || which->references > 0)
        return call_end(
            &here, refuse(&here, INVALID_CONTEXT, "%p is none of cuCtxCreate's", (void *)handle));
    destroy(which);
    if (depth > 0 && stack[depth - 1] == handle)
        depth--;
    return call_end(&here, SUCCESS);
}

CUresult cuCtxPushCurrent_v2(CUcontext handle)
{
    call here;
    if (!call_begin(&here, "+cuCtxPushCurrent_v2", NEEDS_INIT | IS_RELEASE, 0, NULL))
        return call_end(&here, here.code);
    return call_end(&here, push(&here, handle));
}

CUresult cuCtxPopCurrent_v2(CUcontext *out)
{
    call here;
    if (!call_begin(&here, "+cuCtxPopCurrent_v2", NEEDS_INIT | IS_RELEASE, 0, NULL))
        return call_end(&here, here.code);
    if (depth == 0)
        return call_end(&here, refuse(&here, INVALID_CONTEXT, "no context is current"));
    depth--;
    if (out)
        *out = stack[depth];
    return call_end(&here, SUCCESS);
}

CUresult cuCtxGetCurrent(CUcontext *out)
{
    call here;
    if (!call_begin(&here, "+cuCtxGetCurrent", NEEDS_INIT, 0, NULL))
        return call_end(&here, here.code);
    *out = depth > 0 ? stack[depth - 1] : NULL;
    return call_end(&here, SUCCESS);
}

CUresult cuCtxSetCurrent(CUcontext handle)
{
    call here;
    if (!call_begin(&here, "+cuCtxSetCurrent", NEEDS_INIT, 0, NULL))
        return call_end(&here, here.code);
    if (handle && !thing_find(CONTEXT_THING, handle))
        return call_end(&here, refuse(&here, INVALID_CONTEXT, "%p is no context", (void *)handle));
    if (depth > 0)
        depth--;
    return call_end(&here, handle ? push(&here, handle) : SUCCESS);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    call here;
    if (!call_begin(&here, "+cuCtxGetDevice", NEEDS_CONTEXT, 0, NULL))
        return call_end(&here, here.code);
    *device = here.context->device;
    return call_end(&here, SUCCESS);
}

CUresult cuCtxSynchronize(void)
{
    call here;
    if (!call_begin(&here, "+cuCtxSynchronize", NEEDS_CONTEXT, 0, NULL))
        return call_end(&here, here.code);
    queue_all(here.context);
    return call_end(&here, here.context->sticky);
}
