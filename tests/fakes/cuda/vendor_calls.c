/* SPDX-License-Identifier: Apache-2.0
 * Calls and work of fakes of other libraries. */
#include <stdlib.h>

#include "fakes/cuda/cuda_vendor.h"
#include "fakes/cuda/state.h"

#define PROTOTYPE(result, name, arguments)                                                         \
    __attribute__((visibility("default"))) result cuda_vendor_##name arguments;
CUDA_VENDOR_FUNCTIONS(PROTOTYPE)
#undef PROTOTYPE
void *cuda_fake_reach(uint64_t address, uint64_t size); /* control.c */

struct cuda_vendor_work {
    work *work; /* that it is */
    cuda_vendor_run run;
    void *state;
    bool done;
};

static cuda_vendor_answer end(const call *here, CUresult code)
{
    const cuda_vendor_answer answer = {(int32_t)code, here->put_in};
    (void)call_end(here, code);
    return answer;
}

cuda_vendor_answer cuda_vendor_call(const char *name, uint64_t bytes, const void *stream,
                                    bool with_context)
{
    call here;
    if (!call_begin(&here, name, with_context ? NEEDS_CONTEXT : NEEDS_NOTHING, bytes, stream))
        return end(&here, here.code);
    return end(&here, SUCCESS);
}

static void run_vendor_work(work *which)
{
    cuda_vendor_work *vendor = which->what.host.state;
    vendor->work = which;
    vendor->done = true;
    control_in_callback(true);
    vendor->run(vendor, vendor->state);
    control_in_callback(false);
}

static void finish_vendor_work(work *which)
{
    cuda_vendor_work *vendor = which->what.host.state;
    if (!vendor->done)
        vendor->run(NULL, vendor->state);
    free(vendor->state);
    free(vendor);
}

cuda_vendor_answer cuda_vendor_enqueue(const char *name, uint64_t bytes, const void *stream,
                                       cuda_vendor_run run, void *state)
{
    call here;
    queue *to = NULL;
    if (call_begin(&here, name, NEEDS_CONTEXT, bytes, stream))
        to = queue_stream(&here, (CUstream)(uintptr_t)stream);
    if (!to) {
        free(state);
        return end(&here, here.code);
    }
    cuda_vendor_work *vendor = malloc(sizeof *vendor);
    *vendor = (cuda_vendor_work){.run = run, .state = state};
    work *made = queue_add(&here, to, bytes, run_vendor_work);
    made->what.host.state = vendor;
    made->finish = finish_vendor_work;
    return end(&here, SUCCESS);
}

void *cuda_vendor_reach(cuda_vendor_work *vendor, uint64_t address, uint64_t size)
{
    context *owner;
    uint64_t first, pinned;
    void *host = (void *)(uintptr_t)address;
    if (host_pinned(host, &owner, &first, &pinned) && size <= first + pinned - address)
        return host;
    return piece_reach(vendor->work, address, size);
}

void cuda_vendor_fault(cuda_vendor_work *vendor, const char *text)
{
    fault(vendor->work->context, vendor->work->name, "%s", text);
}

cuda_vendor_answer cuda_vendor_sync(const void *stream)
{
    return (cuda_vendor_answer){(int32_t)cuStreamSynchronize((CUstream)(uintptr_t)stream), false};
}

bool cuda_vendor_is_broken(void)
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

void *cuda_vendor_bytes(uint64_t address, uint64_t size)
{
    return cuda_fake_reach(address, size);
}

bool cuda_vendor_where(uint64_t address, cuda_vendor_memory *out)
{
    call here;
    context *owner;
    *out = (cuda_vendor_memory){0};
    /* a question of the fake's own: no failure is put in here */
    (void)call_begin(&here, "+cuPointerGetAttributes", NEEDS_NOTHING | IS_RELEASE, 0, NULL);
    const piece *found = piece_find(address);
    if (found)
        *out = (cuda_vendor_memory){found->first, found->size, true, found->pool != NULL};
    const bool pinned =
        !found && host_pinned((void *)(uintptr_t)address, &owner, &out->first, &out->size);
    (void)end(&here, SUCCESS);
    return found || pinned;
}
