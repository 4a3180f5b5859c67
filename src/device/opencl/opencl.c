/* SPDX-License-Identifier: Apache-2.0
 * The OpenCL driver: opening, closing and memory. */
#include "device/opencl/opencl_internal.h"

#include "base/mem.h"
#include "device/device_text.h"

static const char *opencl_library_name(const tz_device_options *options)
{
    return options->opencl_library ? options->opencl_library : TZ_CL_LIBRARY;
}

/* ---- finding ---- */

static tz_result describe_all(const tz_cl_api *api, const tz_cl_candidates *candidates,
                              tz_found_devices *found, const tz_context *ctx)
{
    for (size_t i = 0; i < candidates->count; i++) {
        tz_device_info *info = tz_found_devices_add(found);
        if (!info)
            return tz_fail_nomem(ctx, sizeof *info);
        tz_cl_describe(api, &candidates->list[i], i, info);
    }
    return TZ_OK;
}

static tz_result find_opencl_devices(const tz_device_options *options, tz_found_devices *found,
                                     tz_driver_info *about, const tz_context *ctx)
{
    tz_cl_api api;
    tz_cl_candidates candidates;
    tz_device_text(about->library, sizeof about->library, opencl_library_name(options));
    about->loaded =
        tz_cl_load(&api, opencl_library_name(options), about->reason, sizeof about->reason);
    if (!about->loaded)
        return TZ_OK;
    TZ_TRY(tz_cl_find_devices(&api, &candidates, ctx));
    tz_device_text(about->reason, sizeof about->reason, candidates.reason);
    const tz_result result = describe_all(&api, &candidates, found, ctx);
    tz_free(candidates.list);
    return result;
}

/* ---- opening ---- */

static void release_opencl_objects(tz_cl_state *s)
{
    tz_cl_release_programs(&s->api, &s->programs);
    for (uint32_t i = 0; i < TZ_QUEUES; i++) {
        if (s->queues[i])
            (void)s->api.ReleaseCommandQueue(s->queues[i]);
    }
    if (s->context)
        (void)s->api.ReleaseContext(s->context);
}

static void close_opencl_device(void *state)
{
    tz_cl_state *s = state;
    for (uint32_t i = 0; i < TZ_QUEUES; i++)
        (void)s->api.Finish(s->queues[i]);
    release_opencl_objects(s);
    pthread_mutex_destroy(&s->launch_lock);
    tz_free(s);
}

static tz_result make_context(tz_cl_state *s, tz_cl_device device, void *given,
                              const tz_context *ctx)
{
    int32_t code = TZ_CL_SUCCESS;
    if (given)
        TZ_TRY(tz_cl_adopt_context(s, device, given, ctx));
    else
        s->context = s->api.CreateContext(NULL, 1, &device, NULL, NULL, &code);
    if (!s->context)
        return tz_cl_fail(ctx, "clCreateContext", code);
    for (uint32_t i = 0; i < TZ_QUEUES; i++) {
        s->queues[i] = s->api.CreateCommandQueue(s->context, device, 0, &code);
        if (!s->queues[i])
            return tz_cl_fail(ctx, "clCreateCommandQueue", code);
    }
    s->device = device;
    return tz_cl_build_family(&s->api, s->context, device, &s->programs, 0, ctx);
}

static tz_result open_candidate(tz_cl_state *s, const tz_cl_candidates *candidates, uint32_t index,
                                const tz_device_options *options, tz_device_info *info,
                                const tz_context *ctx)
{
    if (index >= candidates->count)
        return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                       "there is no such device: OpenCL has %zu%s%s", candidates->count,
                       candidates->reason[0] ? "; " : "", candidates->reason);
    tz_cl_describe(&s->api, &candidates->list[index], index, info);
    if (!info->usable)
        return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                       "the device cannot be used: %s", info->reason);
    return make_context(s, candidates->list[index].device, options->opencl_context, ctx);
}

static tz_result find_and_open(tz_cl_state *s, const tz_device_options *options, uint32_t index,
                               tz_device_info *info, const tz_context *ctx)
{
    tz_cl_candidates candidates;
    TZ_TRY(tz_cl_find_devices(&s->api, &candidates, ctx));
    const tz_result result = open_candidate(s, &candidates, index, options, info, ctx);
    tz_free(candidates.list);
    if (result != TZ_OK)
        release_opencl_objects(s);
    return result;
}

static tz_result load_icd_and_open(tz_cl_state *s, const tz_device_options *options, uint32_t index,
                                   tz_device_info *info, const tz_context *ctx)
{
    char reason[256];
    if (!tz_cl_load(&s->api, opencl_library_name(options), reason, sizeof reason))
        return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                       "OpenCL is not there: %s", reason);
    if (pthread_mutex_init(&s->launch_lock, NULL) != 0)
        return tz_fail_nomem(ctx, sizeof s->launch_lock);
    const tz_result result = find_and_open(s, options, index, info, ctx);
    if (result != TZ_OK)
        pthread_mutex_destroy(&s->launch_lock);
    return result;
}

static tz_result open_opencl_device(void **state, const tz_device_options *options, uint32_t index,
                                    tz_device_info *info, const tz_context *ctx)
{
    tz_cl_state *s = tz_alloc_zeroed(1, sizeof *s);
    if (!s)
        return tz_fail_nomem(ctx, sizeof *s);
    const tz_result result = load_icd_and_open(s, options, index, info, ctx);
    if (result == TZ_OK)
        *state = s;
    else
        tz_free(s);
    return result;
}

/* ---- memory ---- */

static tz_result create_buffer(tz_cl_state *s, uint64_t flags, tz_device_memory *memory,
                               const tz_context *ctx)
{
    int32_t code = TZ_CL_SUCCESS;
    memory->handle = s->api.CreateBuffer(s->context, flags, (size_t)memory->size, NULL, &code);
    return memory->handle ? TZ_OK : tz_cl_fail_memory(ctx, "clCreateBuffer", code, memory->size);
}

static tz_result alloc_buffer(void *state, tz_device_memory *memory, const tz_context *ctx)
{
    return create_buffer(state, (uint64_t)TZ_CL_MEM_READ_WRITE, memory, ctx);
}

/* A buffer that the driver keeps in memory of the host, mapped for as long as it lives. */
static tz_result alloc_pinned_buffer(void *state, tz_device_memory *memory, const tz_context *ctx)
{
    tz_cl_state *s = state;
    int32_t code = TZ_CL_SUCCESS;
    TZ_TRY(
        create_buffer(s, (uint64_t)(TZ_CL_MEM_READ_WRITE | TZ_CL_MEM_ALLOC_HOST_PTR), memory, ctx));
    memory->host = s->api.EnqueueMapBuffer(s->queues[0], memory->handle, 1,
                                           (uint64_t)(TZ_CL_MAP_READ | TZ_CL_MAP_WRITE), 0,
                                           (size_t)memory->size, 0, NULL, NULL, &code);
    if (memory->host)
        return TZ_OK;
    (void)s->api.ReleaseMemObject(memory->handle);
    return tz_cl_fail_memory(ctx, "clEnqueueMapBuffer", code, memory->size);
}

static void free_buffer(void *state, tz_device_memory *memory)
{
    tz_cl_state *s = state;
    if (memory->host) {
        (void)s->api.EnqueueUnmapMemObject(s->queues[0], memory->handle, memory->host, 0, NULL,
                                           NULL);
        (void)s->api.Finish(s->queues[0]);
    }
    (void)s->api.ReleaseMemObject(memory->handle);
}

/* OpenCL has no question for it. */
static tz_result query_free_memory(void *state, uint64_t *bytes, const tz_context *ctx)
{
    (void)state;
    (void)ctx;
    *bytes = UINT64_MAX;
    return TZ_OK;
}

const tz_driver tz_driver_opencl = {
    .name = "opencl",
    .find = find_opencl_devices,
    .open = open_opencl_device,
    .close = close_opencl_device,
    .alloc = alloc_buffer,
    .alloc_pinned = alloc_pinned_buffer,
    .free = free_buffer,
    .wrap = tz_cl_wrap,
    .native_context = tz_cl_native_context,
    .upload = tz_cl_upload,
    .download = tz_cl_download,
    .launch = tz_cl_launch,
    .record = tz_cl_record,
    .wait = tz_cl_wait,
    .query = tz_cl_query,
    .free_event = tz_cl_free_event,
    .sync = tz_cl_sync,
    .free_memory = query_free_memory,
};
