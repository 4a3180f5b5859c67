/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: copies, kernels, events. */
#include "device/cuda/cuda_internal.h"

tz_result tz_cu_upload(void *state, uint32_t queue, const tz_device_memory *to, uint64_t offset,
                       const void *from, uint64_t size, const tz_context *ctx)
{
    tz_cu_state *s = state;
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_cu_code code =
        s->api.MemcpyHtoDAsync(tz_cu_address_of(to) + offset, from, (size_t)size, s->queues[queue]);
    return tz_cu_leave(s, tz_cu_check("cuMemcpyHtoDAsync", code, ctx), ctx);
}

tz_result tz_cu_download(void *state, uint32_t queue, void *to, const tz_device_memory *from,
                         uint64_t offset, uint64_t size, const tz_context *ctx)
{
    tz_cu_state *s = state;
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_cu_code code =
        s->api.MemcpyDtoHAsync(to, tz_cu_address_of(from) + offset, (size_t)size, s->queues[queue]);
    return tz_cu_leave(s, tz_cu_check("cuMemcpyDtoHAsync", code, ctx), ctx);
}

/* ---- kernels ---- */

/* As many as any kernel has. */
typedef union widest_kinds {
#define KINDS(number, family, function, kinds) char number[sizeof kinds - 1];
    TZ_KERNEL_LIST(KINDS)
#undef KINDS
} widest_kinds;
#define MAX_ARGUMENTS sizeof(widest_kinds)

typedef union argument_value {
    uint32_t u32;
    uint64_t u64;
    tz_cu_address address;
} argument_value;

static argument_value argument_value_of(const tz_argument *argument)
{
    switch (argument->kind) {
    case TZ_ARGUMENT_U32:
        return (argument_value){.u32 = argument->value.u32};
    case TZ_ARGUMENT_U64:
        return (argument_value){.u64 = argument->value.u64};
    default:
        return (argument_value){.address = tz_cu_address_of(argument->value.memory)};
    }
}

static tz_result launch_within(tz_cu_state *s, uint32_t queue, const tz_launch *launch,
                               const tz_context *ctx)
{
    tz_cu_function function;
    argument_value values[MAX_ARGUMENTS];
    void *addresses[MAX_ARGUMENTS];
    for (uint32_t i = 0; i < launch->argument_count; i++) {
        values[i] = argument_value_of(&launch->arguments[i]);
        addresses[i] = &values[i];
    }
    TZ_TRY(tz_cu_find_function(&s->api, &s->modules, launch->kernel, &function, ctx));
    const tz_cu_code code =
        s->api.LaunchKernel(function, (unsigned)launch->work_groups, 1, 1, TZ_WORK_GROUP_ITEMS, 1,
                            1, 0, s->queues[queue], addresses, NULL);
    return tz_cu_check("cuLaunchKernel", code, ctx);
}

tz_result tz_cu_launch(void *state, uint32_t queue, const tz_launch *launch, const tz_context *ctx)
{
    tz_cu_state *s = state;
    TZ_TRY(tz_cu_enter(s, ctx));
    return tz_cu_leave(s, launch_within(s, queue, launch, ctx), ctx);
}

/* ---- events ---- */

tz_cu_code tz_cu_queues_wait(tz_cu_state *s, tz_cu_stream stream)
{
    pthread_mutex_lock(&s->order_lock);
    tz_cu_code code = s->api.EventRecord(s->ready, stream);
    for (uint32_t i = 0; i < TZ_QUEUES && code == TZ_CU_SUCCESS; i++)
        code = s->api.StreamWaitEvent(s->queues[i], s->ready, 0);
    pthread_mutex_unlock(&s->order_lock);
    return code;
}

static tz_result record_within(const tz_cu_state *s, uint32_t queue, tz_device_event *event,
                               const tz_context *ctx)
{
    tz_cu_event made = NULL;
    TZ_TRY(
        tz_cu_check("cuEventCreate", s->api.EventCreate(&made, TZ_CU_EVENT_DISABLE_TIMING), ctx));
    const tz_cu_code code = s->api.EventRecord(made, s->queues[queue]);
    if (code == TZ_CU_SUCCESS)
        event->handle = made;
    else
        (void)s->api.EventDestroy(made);
    return tz_cu_check("cuEventRecord", code, ctx);
}

tz_result tz_cu_record(void *state, uint32_t queue, tz_device_event *event, const tz_context *ctx)
{
    tz_cu_state *s = state;
    TZ_TRY(tz_cu_enter(s, ctx));
    return tz_cu_leave(s, record_within(s, queue, event, ctx), ctx);
}

tz_result tz_cu_wait(void *state, uint32_t queue, const tz_device_event *event,
                     const tz_context *ctx)
{
    tz_cu_state *s = state;
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_cu_code code = s->api.StreamWaitEvent(s->queues[queue], event->handle, 0);
    return tz_cu_leave(s, tz_cu_check("cuStreamWaitEvent", code, ctx), ctx);
}

tz_result tz_cu_query(void *state, const tz_device_event *event, bool *happened,
                      const tz_context *ctx)
{
    tz_cu_state *s = state;
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_cu_code code = s->api.EventQuery(event->handle);
    *happened = code == TZ_CU_SUCCESS;
    if (code == TZ_CU_ERROR_NOT_READY)
        return tz_cu_leave(s, TZ_OK, ctx);
    return tz_cu_leave(s, tz_cu_check("cuEventQuery", code, ctx), ctx);
}

void tz_cu_free_event(void *state, tz_device_event *event)
{
    tz_cu_state *s = state;
    const tz_context quiet = {.ifd = -1};
    if (tz_cu_enter(s, &quiet) != TZ_OK)
        return;
    (void)s->api.EventDestroy(event->handle);
    (void)tz_cu_leave(s, TZ_OK, &quiet);
}

tz_result tz_cu_sync(void *state, uint32_t queue, const tz_context *ctx)
{
    tz_cu_state *s = state;
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_cu_code code = s->api.StreamSynchronize(s->queues[queue]);
    return tz_cu_leave(s, tz_cu_check("cuStreamSynchronize", code, ctx), ctx);
}
