/* SPDX-License-Identifier: Apache-2.0
 * Calls of streams, events and host functions. */
#include "fakes/cuda/state.h"

CUresult cuStreamCreate(CUstream *out, unsigned flags)
{
    call here;
    if (!call_begin(&here, "+cuStreamCreate", NEEDS_CONTEXT, 0, NULL))
        return call_end(&here, here.code);
    if (flags > 1)
        return call_end(&here, refuse(&here, INVALID_VALUE, "flags of %#x", flags));
    *out = HANDLE(CUstream, queue_make(here.context, flags));
    control.live++;
    return call_end(&here, SUCCESS);
}

CUresult cuStreamDestroy_v2(CUstream handle)
{
    call here;
    if (!call_begin(&here, "+cuStreamDestroy_v2", NEEDS_CONTEXT | IS_RELEASE, 0, handle))
        return call_end(&here, here.code);
    queue *which = queue_stream(&here, handle);
    if (!which || (uintptr_t)handle <= 2)
        return call_end(&here, INVALID_HANDLE);
    queue_close(which);
    control.live--;
    return call_end(&here, here.code);
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *out)
{
    call here;
    if (!call_begin(&here, "+cuStreamGetCtx", NEEDS_INIT, 0, handle))
        return call_end(&here, here.code);
    CUresult code = SUCCESS;
    const context *found = NULL;
    if ((uintptr_t)handle <= 2) {
        found = context_current(&code);
    } else {
        const queue *which = thing_find(STREAM_THING, handle);
        found = which && !which->closed ? which->self.context : NULL;
        code = found ? SUCCESS : refuse(&here, INVALID_HANDLE, "%p is no stream", (void *)handle);
    }
    if (found)
        *out = HANDLE(CUcontext, found);
    return call_end(&here, code);
}

static CUresult wait_for(const call *here, uint32_t slot, uint64_t position, order known)
{
    queue_until(slot, position);
    order_seen(&known);
    pools_shrink(here->context->device, false);
    return here->context->sticky;
}

/* Each question lets one task be done: who asks again and again, ends. */
static CUresult ask(const call *here, uint32_t slot, uint64_t position, const order *known)
{
    if (queue_done(slot, position)) {
        order_seen(known);
        return here->context->sticky;
    }
    queue_step(slot, position);
    return here->context->sticky ? here->context->sticky : NOT_READY;
}

CUresult cuStreamSynchronize(CUstream handle)
{
    call here;
    if (!call_begin(&here, "+cuStreamSynchronize", NEEDS_CONTEXT, 0, handle))
        return call_end(&here, here.code);
    queue *which = queue_stream(&here, handle);
    if (!which)
        return call_end(&here, here.code);
    return call_end(&here, wait_for(&here, which->slot, queue_position(which), which->known));
}

CUresult cuStreamQuery(CUstream handle)
{
    call here;
    if (!call_begin(&here, "+cuStreamQuery", NEEDS_CONTEXT, 0, handle))
        return call_end(&here, here.code);
    queue *which = queue_stream(&here, handle);
    if (!which)
        return call_end(&here, here.code);
    return call_end(&here, ask(&here, which->slot, queue_position(which), &which->known));
}

/* ---- events ---- */

/* An event of the context of this call; NULL: refused. */
static event *find_event(call *here, CUevent handle)
{
    event *found = thing_find(EVENT_THING, handle);
    if (found && found->self.context == here->context)
        return found;
    here->code = refuse(here, INVALID_HANDLE, "%p is no event of this context", (void *)handle);
    return NULL;
}

CUresult cuEventCreate(CUevent *out, unsigned flags)
{
    call here;
    if (!call_begin(&here, "+cuEventCreate", NEEDS_CONTEXT, 0, NULL))
        return call_end(&here, here.code);
    if (flags > 3)
        return call_end(&here, refuse(&here, INVALID_VALUE, "flags of %#x", flags));
    event *made = thing_make(EVENT_THING, sizeof *made, here.context);
    made->flags = flags;
    control.live++;
    *out = HANDLE(CUevent, made);
    return call_end(&here, SUCCESS);
}

CUresult cuEventDestroy_v2(CUevent handle)
{
    call here;
    if (!call_begin(&here, "+cuEventDestroy_v2", NEEDS_CONTEXT | IS_RELEASE, 0, NULL))
        return call_end(&here, here.code);
    event *which = find_event(&here, handle);
    if (!which)
        return call_end(&here, here.code);
    thing_free(&which->self);
    control.live--;
    return call_end(&here, here.code);
}

CUresult cuEventRecord(CUevent handle, CUstream stream_handle)
{
    call here;
    if (!call_begin(&here, "+cuEventRecord", NEEDS_CONTEXT, 0, stream_handle))
        return call_end(&here, here.code);
    event *which = find_event(&here, handle);
    queue *to = which ? queue_stream(&here, stream_handle) : NULL;
    if (!to)
        return call_end(&here, here.code);
    const work *made = queue_add(&here, to, 0, NULL);
    which->slot = made->slot;
    which->position = made->position;
    which->known = made->known;
    return call_end(&here, SUCCESS);
}

CUresult cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned flags)
{
    call here;
    if (!call_begin(&here, "+cuStreamWaitEvent", NEEDS_CONTEXT, 0, stream_handle))
        return call_end(&here, here.code);
    queue *who = queue_stream(&here, stream_handle);
    const event *which = thing_find(EVENT_THING, handle); /* of another context too */
    if (!who || !which)
        return call_end(&here, refuse(&here, INVALID_HANDLE, "stream %p, event %p",
                                      (void *)stream_handle, (void *)handle));
    if (flags != 0)
        return call_end(&here, refuse(&here, INVALID_VALUE, "flags of %#x", flags));
    if (which->position > 0)
        queue_wait(&here, who, which->slot, which->position, &which->known);
    return call_end(&here, SUCCESS);
}

CUresult cuEventSynchronize(CUevent handle)
{
    call here;
    if (!call_begin(&here, "+cuEventSynchronize", NEEDS_CONTEXT, 0, NULL))
        return call_end(&here, here.code);
    const event *which = find_event(&here, handle);
    if (!which)
        return call_end(&here, here.code);
    return call_end(&here, wait_for(&here, which->slot, which->position, which->known));
}

CUresult cuEventQuery(CUevent handle)
{
    call here;
    if (!call_begin(&here, "+cuEventQuery", NEEDS_CONTEXT, 0, NULL))
        return call_end(&here, here.code);
    const event *which = find_event(&here, handle);
    if (!which)
        return call_end(&here, here.code);
    return call_end(&here, ask(&here, which->slot, which->position, &which->known));
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    call here;
    if (!call_begin(&here, "+cuEventElapsedTime", NEEDS_CONTEXT, 0, NULL))
        return call_end(&here, here.code);
    const event *first = find_event(&here, start);
    const event *last = first ? find_event(&here, end) : NULL;
    if (!last)
        return call_end(&here, here.code);
    if (((first->flags | last->flags) & 2u) || first->position == 0 || last->position == 0)
        return call_end(&here, refuse(&here, INVALID_HANDLE, "they keep no times"));
    if (!queue_done(first->slot, first->position) || !queue_done(last->slot, last->position))
        return call_end(&here, NOT_READY);
    *milliseconds = 1;
    return call_end(&here, SUCCESS);
}

/* ---- host functions ---- */

static void run_host(work *which)
{
    control_in_callback(true);
    which->what.host.function(which->what.host.state);
    control_in_callback(false);
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *state)
{
    call here;
    if (!call_begin(&here, "+cuLaunchHostFunc", NEEDS_CONTEXT, 0, handle))
        return call_end(&here, here.code);
    queue *to = queue_stream(&here, handle);
    if (!to)
        return call_end(&here, here.code);
    if (!function)
        return call_end(&here, refuse(&here, INVALID_VALUE, "no function"));
    work *made = queue_add(&here, to, 0, run_host);
    made->what.host.function = function;
    made->what.host.state = state;
    return call_end(&here, SUCCESS);
}
