/* SPDX-License-Identifier: Apache-2.0
 * Calls and work of doubles of other libraries. */
#include <stdlib.h>

#include "double/cuda/state.h"
#include "double/cuda_guest.h"

#define PROTOTYPE(result, name, arguments)                                                         \
    __attribute__((visibility("default"))) result cuda_guest_##name arguments;
CUDA_GUEST_FUNCTIONS(PROTOTYPE)
#undef PROTOTYPE
void *cuda_double_reach(uint64_t address, uint64_t size); /* control.c */

struct cuda_guest_work {
    work *work; /* that it is */
    cuda_guest_run run;
    void *state;
    bool done;
};

static cuda_guest_answer end(const call *here, CUresult code)
{
    const cuda_guest_answer answer = {(int32_t)code, here->put_in};
    (void)call_end(here, code);
    return answer;
}

cuda_guest_answer cuda_guest_call(const char *name, uint64_t bytes, const void *stream,
                                  bool with_context)
{
    call here;
    if (!call_begin(&here, name, with_context ? NEEDS_CONTEXT : NEEDS_NOTHING, bytes, stream))
        return end(&here, here.code);
    return end(&here, SUCCESS);
}

static void run_guest(work *which)
{
    cuda_guest_work *guest = which->what.host.state;
    guest->work = which;
    guest->done = true;
    control_in_callback(true);
    guest->run(guest, guest->state);
    control_in_callback(false);
}

static void finish_guest(work *which)
{
    cuda_guest_work *guest = which->what.host.state;
    if (!guest->done)
        guest->run(NULL, guest->state);
    free(guest->state);
    free(guest);
}

cuda_guest_answer cuda_guest_enqueue(const char *name, uint64_t bytes, const void *stream,
                                     cuda_guest_run run, void *state)
{
    call here;
    queue *to = NULL;
    if (call_begin(&here, name, NEEDS_CONTEXT, bytes, stream))
        to = queue_stream(&here, (CUstream)(uintptr_t)stream);
    if (!to) {
        free(state);
        return end(&here, here.code);
    }
    cuda_guest_work *guest = malloc(sizeof *guest);
    *guest = (cuda_guest_work){.run = run, .state = state};
    work *made = queue_add(&here, to, bytes, run_guest);
    made->what.host.state = guest;
    made->finish = finish_guest;
    return end(&here, SUCCESS);
}

void *cuda_guest_reach(cuda_guest_work *guest, uint64_t address, uint64_t size)
{
    context *owner;
    uint64_t first, pinned;
    void *host = (void *)(uintptr_t)address;
    if (host_pinned(host, &owner, &first, &pinned) && size <= first + pinned - address)
        return host;
    return piece_reach(guest->work, address, size);
}

void cuda_guest_fault(cuda_guest_work *guest, const char *text)
{
    fault(guest->work->context, guest->work->name, "%s", text);
}

cuda_guest_answer cuda_guest_sync(const void *stream)
{
    return (cuda_guest_answer){(int32_t)cuStreamSynchronize((CUstream)(uintptr_t)stream), false};
}

bool cuda_guest_is_broken(void)
{
    call here;
    const bool has_context =
        call_begin(&here, "+cuCtxGetCurrent", NEEDS_CONTEXT | IS_RELEASE, 0, NULL);
    const bool broken = has_context && here.code != SUCCESS;
    if (broken)
        queue_forget(here.context);
    (void)end(&here, here.code);
    return broken;
}

void *cuda_guest_bytes(uint64_t address, uint64_t size)
{
    return cuda_double_reach(address, size);
}

bool cuda_guest_where(uint64_t address, cuda_guest_memory *out)
{
    call here;
    context *owner;
    *out = (cuda_guest_memory){0};
    /* a question of the double's own: no failure is put in here */
    (void)call_begin(&here, "+cuPointerGetAttributes", NEEDS_NOTHING | IS_RELEASE, 0, NULL);
    const piece *found = piece_find(address);
    if (found)
        *out = (cuda_guest_memory){found->first, found->size, true, found->pool != NULL};
    const bool pinned =
        !found && host_pinned((void *)(uintptr_t)address, &owner, &out->first, &out->size);
    (void)end(&here, SUCCESS);
    return found || pinned;
}
