/* SPDX-License-Identifier: Apache-2.0
 * The OpenCL driver: copies, kernels and events of the queues. */
#include "device/opencl/opencl_internal.h"

tz_result tz_cl_upload(void *state, uint32_t queue, const tz_device_memory *to, uint64_t offset,
                       const void *from, uint64_t size, const tz_context *ctx)
{
    tz_cl_state *s = state;
    const int32_t code = s->api.EnqueueWriteBuffer(s->queues[queue], to->handle, 0, (size_t)offset,
                                                   (size_t)size, from, 0, NULL, NULL);
    return code == TZ_CL_SUCCESS ? TZ_OK : tz_cl_fail(ctx, "clEnqueueWriteBuffer", code);
}

tz_result tz_cl_download(void *state, uint32_t queue, void *to, const tz_device_memory *from,
                         uint64_t offset, uint64_t size, const tz_context *ctx)
{
    tz_cl_state *s = state;
    const int32_t code = s->api.EnqueueReadBuffer(s->queues[queue], from->handle, 0, (size_t)offset,
                                                  (size_t)size, to, 0, NULL, NULL);
    return code == TZ_CL_SUCCESS ? TZ_OK : tz_cl_fail(ctx, "clEnqueueReadBuffer", code);
}

/* ---- kernels ---- */

static int32_t set_argument(const tz_cl_state *s, tz_cl_kernel kernel, uint32_t index,
                            const tz_argument *argument)
{
    switch (argument->kind) {
    case TZ_ARGUMENT_U32:
        return s->api.SetKernelArg(kernel, index, sizeof argument->value.u32, &argument->value.u32);
    case TZ_ARGUMENT_U64:
        return s->api.SetKernelArg(kernel, index, sizeof argument->value.u64, &argument->value.u64);
    default: {
        const tz_cl_mem memory = argument->value.memory->handle;
        return s->api.SetKernelArg(kernel, index, sizeof memory, &memory);
    }
    }
}

/* Call with the lock held: arguments belong to the kernel and stay until the next launch. */
static tz_result launch_locked(tz_cl_state *s, uint32_t queue, const tz_launch *launch,
                               const tz_context *ctx)
{
    TZ_TRY(tz_cl_build_family(&s->api, s->context, s->device, &s->programs,
                              tz_kernel_families[launch->kernel], ctx));
    const tz_cl_kernel kernel = s->programs.kernels[launch->kernel];
    const size_t local = TZ_WORK_GROUP_ITEMS;
    const size_t global = (size_t)launch->work_groups * TZ_WORK_GROUP_ITEMS;
    int32_t code = TZ_CL_SUCCESS;
    for (uint32_t i = 0; i < launch->argument_count && code == TZ_CL_SUCCESS; i++)
        code = set_argument(s, kernel, i, &launch->arguments[i]);
    if (code != TZ_CL_SUCCESS)
        return tz_cl_fail(ctx, "clSetKernelArg", code);
    code = s->api.EnqueueNDRangeKernel(s->queues[queue], kernel, 1, NULL, &global, &local, 0, NULL,
                                       NULL);
    return code == TZ_CL_SUCCESS ? TZ_OK : tz_cl_fail(ctx, "clEnqueueNDRangeKernel", code);
}

tz_result tz_cl_launch(void *state, uint32_t queue, const tz_launch *launch, const tz_context *ctx)
{
    tz_cl_state *s = state;
    pthread_mutex_lock(&s->launch_lock);
    const tz_result result = launch_locked(s, queue, launch, ctx);
    pthread_mutex_unlock(&s->launch_lock);
    return result;
}

/* ---- events ---- */

/* Flushes the queue: another one that waits for the event would otherwise wait for work that is
 * never begun. */
tz_result tz_cl_record(void *state, uint32_t queue, tz_device_event *event, const tz_context *ctx)
{
    tz_cl_state *s = state;
    tz_cl_event made = NULL;
    int32_t code = s->api.EnqueueMarkerWithWaitList(s->queues[queue], 0, NULL, &made);
    if (code != TZ_CL_SUCCESS)
        return tz_cl_fail(ctx, "clEnqueueMarkerWithWaitList", code);
    code = s->api.Flush(s->queues[queue]);
    if (code != TZ_CL_SUCCESS) {
        (void)s->api.ReleaseEvent(made);
        return tz_cl_fail(ctx, "clFlush", code);
    }
    event->handle = made;
    return TZ_OK;
}

tz_result tz_cl_wait(void *state, uint32_t queue, const tz_device_event *event,
                     const tz_context *ctx)
{
    tz_cl_state *s = state;
    const tz_cl_event waited = event->handle;
    const int32_t code = s->api.EnqueueBarrierWithWaitList(s->queues[queue], 1, &waited, NULL);
    return code == TZ_CL_SUCCESS ? TZ_OK : tz_cl_fail(ctx, "clEnqueueBarrierWithWaitList", code);
}

tz_result tz_cl_query(void *state, const tz_device_event *event, bool *happened,
                      const tz_context *ctx)
{
    tz_cl_state *s = state;
    int32_t status = 0;
    const int32_t code =
        s->api.GetEventInfo(event->handle, (uint32_t)TZ_CL_EVENT_COMMAND_EXECUTION_STATUS,
                            sizeof status, &status, NULL);
    if (code != TZ_CL_SUCCESS)
        return tz_cl_fail(ctx, "clGetEventInfo", code);
    if (status < 0) /* an error of the work before it */
        return tz_cl_fail(ctx, "work on the device", status);
    *happened = status == TZ_CL_COMPLETE;
    return TZ_OK;
}

/* The driver keeps an event that work still waits for. */
void tz_cl_free_event(void *state, tz_device_event *event)
{
    tz_cl_state *s = state;
    (void)s->api.ReleaseEvent(event->handle);
}

tz_result tz_cl_sync(void *state, uint32_t queue, const tz_context *ctx)
{
    tz_cl_state *s = state;
    const int32_t code = s->api.Finish(s->queues[queue]);
    return code == TZ_CL_SUCCESS ? TZ_OK : tz_cl_fail(ctx, "clFinish", code);
}
