/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: copies, kernels and events of the queues. Each call makes the device's context
 * current, puts one command into a queue, and gives the caller's thread its own context back. */
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

/* Its size is the number of arguments of the kernel that has most. */
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

/* CUDA copies the arguments before it returns: they may be on the stack. A kernel whose family is
 * not loaded yet is loaded now, which may take a compilation. */
tz_result tz_cu_launch(void *state, uint32_t queue, const tz_launch *launch, const tz_context *ctx)
{
    tz_cu_state *s = state;
    tz_cu_function function;
    argument_value values[MAX_ARGUMENTS];
    void *addresses[MAX_ARGUMENTS];
    for (uint32_t i = 0; i < launch->argument_count; i++) {
        const tz_argument *argument = &launch->arguments[i];
        if (argument->kind == TZ_ARGUMENT_U32)
            values[i].u32 = argument->value.u32;
        else if (argument->kind == TZ_ARGUMENT_U64)
            values[i].u64 = argument->value.u64;
        else
            values[i].address = tz_cu_address_of(argument->value.memory);
        addresses[i] = &values[i];
    }
    TZ_TRY(tz_cu_enter(s, ctx));
    tz_result result = tz_cu_find_function(&s->api, &s->modules, launch->kernel, &function, ctx);
    if (result == TZ_OK)
        result = tz_cu_check("cuLaunchKernel",
                             s->api.LaunchKernel(function, (unsigned)launch->work_groups, 1, 1,
                                                 TZ_WORK_GROUP_ITEMS, 1, 1, 0, s->queues[queue],
                                                 addresses, NULL),
                             ctx);
    return tz_cu_leave(s, result, ctx);
}

/* ---- events ---- */

/* The lock: between the record and the waits another thread could record the event again, and a
 * queue would wait for that. */
tz_cu_code tz_cu_queues_wait(tz_cu_state *s, tz_cu_stream stream)
{
    pthread_mutex_lock(&s->order_lock);
    tz_cu_code code = s->api.EventRecord(s->ready, stream);
    for (uint32_t i = 0; i < TZ_QUEUES && code == TZ_CU_SUCCESS; i++)
        code = s->api.StreamWaitEvent(s->queues[i], s->ready, 0);
    pthread_mutex_unlock(&s->order_lock);
    return code;
}

/* Timing is switched off, as for all events here: it would make them slower. */
tz_result tz_cu_record(void *state, uint32_t queue, tz_device_event *event, const tz_context *ctx)
{
    tz_cu_state *s = state;
    tz_cu_event made = NULL;
    TZ_TRY(tz_cu_enter(s, ctx));
    tz_result result =
        tz_cu_check("cuEventCreate", s->api.EventCreate(&made, TZ_CU_EVENT_DISABLE_TIMING), ctx);
    if (result == TZ_OK) {
        const tz_cu_code code = s->api.EventRecord(made, s->queues[queue]);
        if (code == TZ_CU_SUCCESS)
            event->handle = made;
        else
            (void)s->api.EventDestroy(made);
        result = tz_cu_check("cuEventRecord", code, ctx);
    }
    return tz_cu_leave(s, result, ctx);
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
    const bool is_answer = *happened || code == TZ_CU_ERROR_NOT_READY;
    return tz_cu_leave(s, is_answer ? TZ_OK : tz_cu_check("cuEventQuery", code, ctx), ctx);
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
