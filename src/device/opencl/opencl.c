/* SPDX-License-Identifier: Apache-2.0
 * The OpenCL driver: opening, closing and memory, and its table.
 *
 * A device has a context, two queues that execute in order, and its programs. The context is its
 * own or the caller's, which is retained; only with the latter can buffers of the caller be
 * wrapped, because OpenCL has no memory outside of a context. Pinned memory is a buffer that the
 * driver keeps in host memory, mapped for as long as it lives: OpenCL has no other name for it.
 *
 * OpenCL 1.2 does not report how much memory is free; the engine then counts for itself. */
#include "device/opencl/opencl_internal.h"

#include "base/mem.h"
#include "device/device_text.h"

static const char *opencl_library_name(const tz_device_options *options)
{
    return options->opencl_library ? options->opencl_library : TZ_CL_LIBRARY;
}

/* ---- finding ---- */

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
    tz_result result = TZ_OK;
    for (size_t i = 0; i < candidates.count && result == TZ_OK; i++) {
        tz_device_info *info = tz_found_devices_add(found);
        if (info)
            tz_cl_describe(&api, &candidates.list[i], i, info);
        else
            result = tz_fail_nomem(ctx, sizeof *info);
    }
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

/* Waits for both queues: their work may use the programs. */
static void close_opencl_device(void *state)
{
    tz_cl_state *s = state;
    for (uint32_t i = 0; i < TZ_QUEUES; i++)
        (void)s->api.Finish(s->queues[i]);
    release_opencl_objects(s);
    pthread_mutex_destroy(&s->launch_lock);
    tz_free(s);
}

/* Sets s->context to the caller's and retains it; TZ_ERR_ARG if the device is not in it. */
static tz_result adopt_context(tz_cl_state *s, tz_cl_device device, tz_cl_context context,
                               const tz_context *ctx)
{
    tz_cl_device devices[TZ_CL_MAX_DEVICES];
    size_t size = 0;
    int32_t code = s->api.GetContextInfo(context, (uint32_t)TZ_CL_CONTEXT_DEVICES, sizeof devices,
                                         devices, &size);
    if (code == TZ_CL_INVALID_CONTEXT)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "opencl_context is not a context of this loader");
    if (code != TZ_CL_SUCCESS)
        return tz_cl_fail(ctx, "clGetContextInfo", code);
    bool is_in = false;
    for (size_t i = 0; i < size / sizeof devices[0]; i++)
        is_in = is_in || devices[i] == device;
    if (!is_in)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the device is not in opencl_context");
    code = s->api.RetainContext(context);
    if (code != TZ_CL_SUCCESS)
        return tz_cl_fail(ctx, "clRetainContext", code);
    s->context = context;
    return TZ_OK;
}

/* Makes or adopts the context, and makes the queues and the first family of kernels. */
static tz_result make_context(tz_cl_state *s, tz_cl_device device, void *given,
                              const tz_context *ctx)
{
    int32_t code = TZ_CL_SUCCESS;
    if (given)
        TZ_TRY(adopt_context(s, device, given, ctx));
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
                       "no such device: OpenCL has %zu%s%s", candidates->count,
                       candidates->reason[0] ? "; " : "", candidates->reason);
    tz_cl_describe(&s->api, &candidates->list[index], index, info);
    if (!info->usable)
        return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                       "the device cannot be used: %s", info->reason);
    return make_context(s, candidates->list[index].device, options->opencl_context, ctx);
}

static tz_result open_opencl_device(void **state, const tz_device_options *options, uint32_t index,
                                    tz_device_info *info, const tz_context *ctx)
{
    tz_cl_candidates candidates = {.list = NULL};
    char reason[256];
    bool has_lock = false;
    tz_cl_state *s = tz_alloc_zeroed(1, sizeof *s);
    if (!s)
        return tz_fail_nomem(ctx, sizeof *s);
    tz_result result = TZ_OK;
    if (!tz_cl_load(&s->api, opencl_library_name(options), reason, sizeof reason))
        result = tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                         "OpenCL is not there: %s", reason);
    if (result == TZ_OK) {
        has_lock = pthread_mutex_init(&s->launch_lock, NULL) == 0;
        result = has_lock ? tz_cl_find_devices(&s->api, &candidates, ctx)
                          : tz_fail_nomem(ctx, sizeof s->launch_lock);
    }
    if (result == TZ_OK) {
        result = open_candidate(s, &candidates, index, options, info, ctx);
        tz_free(candidates.list);
    }
    if (result == TZ_OK) {
        *state = s;
        return TZ_OK;
    }
    release_opencl_objects(s);
    if (has_lock)
        pthread_mutex_destroy(&s->launch_lock);
    tz_free(s);
    return result;
}

static void *native_opencl_context(void *state)
{
    return ((tz_cl_state *)state)->context;
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

/* The mapping is blocking, so that the address is valid on return. */
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

/* Retains a buffer of the caller's, after a check that it is one of the device's context. */
static tz_result wrap_buffer(void *state, tz_device_memory *memory, const tz_context *ctx)
{
    const tz_cl_state *s = state;
    uint32_t type = 0;
    size_t size = 0;
    tz_cl_context context = NULL;
    const struct {
        int64_t what;
        size_t size;
        void *value;
    } questions[] = {{TZ_CL_MEM_TYPE, sizeof type, &type},
                     {TZ_CL_MEM_SIZE, sizeof size, &size},
                     {TZ_CL_MEM_CONTEXT, sizeof context, &context}};
    int32_t code = TZ_CL_SUCCESS;
    for (size_t i = 0; i < sizeof questions / sizeof questions[0] && code == TZ_CL_SUCCESS; i++)
        code = s->api.GetMemObjectInfo(memory->handle, (uint32_t)questions[i].what,
                                       questions[i].size, questions[i].value, NULL);
    if (code == TZ_CL_INVALID_MEM_OBJECT)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the handle is not OpenCL memory");
    if (code != TZ_CL_SUCCESS)
        return tz_cl_fail(ctx, "clGetMemObjectInfo", code);
    if (type != (uint32_t)TZ_CL_MEM_OBJECT_BUFFER)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the handle is an image, not a buffer");
    if (context != s->context)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the handle is of another context than the device's; open the device with "
                       "opencl_context");
    if (memory->size > size)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), size, memory->size),
                       "the handle has fewer bytes");
    code = s->api.RetainMemObject(memory->handle);
    if (code != TZ_CL_SUCCESS)
        return tz_cl_fail(ctx, "clRetainMemObject", code);
    if (memory->size == 0)
        memory->size = size;
    return TZ_OK;
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
    .wrap = wrap_buffer,
    .native_context = native_opencl_context,
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
