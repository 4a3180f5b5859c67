/* SPDX-License-Identifier: Apache-2.0
 * The OpenCL driver: opening, closing, memory, kernels and commands, and its table.
 *
 * A device has a context, two queues that execute in order, and its programs. The context is its
 * own or the caller's, which is retained; only with the latter can buffers of the caller be
 * wrapped, because OpenCL has no memory outside of a context. Pinned memory is a buffer that the
 * driver keeps in host memory, mapped for as long as it lives: OpenCL has no other name for it.
 *
 * Each family of kernels is a program, compiled from its text when one of its kernels is first
 * wanted, and kept. Compiling takes seconds with some drivers, so opening compiles one family only,
 * which proves that the driver can. A family that fails to build leaves nothing, and is tried again
 * the next time.
 *
 * Arguments belong to a kernel, not to a launch: they stay set until somebody sets them again. All
 * launches of a device are therefore made under one lock, which also guards the programs. */
#include "device/opencl/opencl_internal.h"

#include <pthread.h>

#include "base/mem.h"
#include "device/device_text.h"
#include "device/kernel_programs.h"

/* Zeroed when opening begins; release_opencl_device releases the objects that are not NULL. */
typedef struct cl_state {
    tz_cl_api api;
    tz_cl_context context;
    tz_cl_device device;
    tz_cl_queue queues[TZ_QUEUES];
    pthread_mutex_t launch_lock;             /* of the programs, and of the arguments of kernels */
    tz_cl_program programs[TZ_FAMILY_COUNT]; /* NULL: not built yet */
    tz_cl_kernel kernels[TZ_KERNEL_COUNT];
} cl_state;

/* ---- finding ---- */

/* A loader that is missing, or knows no platform, is not an error: about->reason says so. */
static tz_result find_opencl_devices(const tz_device_setup *setup, tz_found_devices *found,
                                     tz_found_driver *about, const tz_context *ctx)
{
    tz_cl_api api;
    tz_cl_candidates candidates;
    const char *library = setup->libraries[TZ_LIBRARY_OPENCL];
    tz_device_text(about->library, sizeof about->library, library ? library : TZ_CL_LIBRARY);
    about->info.loaded = tz_cl_load(&api, library, about->reason, sizeof about->reason);
    if (!about->info.loaded)
        return TZ_OK;
    TZ_TRY(tz_cl_find_devices(&api, &candidates, ctx));
    tz_device_text(about->reason, sizeof about->reason, candidates.reason);
    tz_result result = TZ_OK;
    for (size_t i = 0; i < candidates.count && result == TZ_OK; i++) {
        tz_found_device *device = tz_found_devices_add(found);
        if (device)
            tz_cl_describe(&api, &candidates.list[i], i, &device->info, &device->texts);
        else
            result = tz_fail_nomem(ctx, sizeof *device);
    }
    tz_free(candidates.list);
    return result;
}

/* ---- programs ---- */

static const tz_kernel_text *const kernel_texts[TZ_FAMILY_COUNT] = {
#define TEXT(family, text) &tz_kernel_text_##text,
    TZ_FAMILY_LIST(TEXT)
#undef TEXT
};

/* Shows the beginning of the build log, which has the first error; its end is mostly a count. */
static tz_result fail_build(cl_state *s, tz_cl_program program, int32_t code, const tz_context *ctx)
{
    char shown[300] = "no log";
    size_t size = 0;
    (void)s->api.GetProgramBuildInfo(program, s->device, TZ_CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = size > 0 && size < SIZE_MAX ? tz_alloc_zeroed(size + 1, 1) : NULL;
    if (log && s->api.GetProgramBuildInfo(program, s->device, TZ_CL_PROGRAM_BUILD_LOG, size, log,
                                          NULL) == TZ_CL_SUCCESS)
        tz_device_text(shown, sizeof shown, log);
    tz_free(log);
    return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                   "the kernels do not compile: clBuildProgram: %s (%d): %s",
                   tz_cl_error_text(code), (int)code, shown);
}

/* Also for a family of which only some kernels exist. */
static void release_family(cl_state *s, uint32_t family)
{
    for (uint32_t i = 0; i < TZ_KERNEL_COUNT; i++) {
        if (tz_kernel_families[i] != family || !s->kernels[i])
            continue;
        (void)s->api.ReleaseKernel(s->kernels[i]);
        s->kernels[i] = NULL;
    }
    if (s->programs[family])
        (void)s->api.ReleaseProgram(s->programs[family]);
    s->programs[family] = NULL;
}

/* Compiles a family and makes its kernels; a failure may leave some of them. The version of the
 * language is always named: some compilers otherwise use the newest they have. Contraction of
 * products and sums is switched off in the source, by kernels/kernel.h. */
static tz_result build_family(cl_state *s, uint32_t family, const tz_context *ctx)
{
    int32_t code = TZ_CL_SUCCESS;
    const tz_cl_program program =
        s->api.CreateProgramWithSource(s->context, (uint32_t)kernel_texts[family]->count,
                                       kernel_texts[family]->lines, NULL, &code);
    s->programs[family] = program;
    if (!program)
        return tz_cl_fail("clCreateProgramWithSource", code, ctx);
    code = s->api.BuildProgram(program, 1, &s->device, "-cl-std=CL1.2", NULL, NULL);
    if (code != TZ_CL_SUCCESS)
        return fail_build(s, program, code, ctx);
    for (uint32_t i = 0; i < TZ_KERNEL_COUNT; i++) {
        if (tz_kernel_families[i] != family)
            continue;
        s->kernels[i] = s->api.CreateKernel(program, tz_kernel_names[i], &code);
        if (!s->kernels[i])
            return tz_cl_fail("clCreateKernel", code, ctx);
    }
    return TZ_OK;
}

/* Compiles a family, unless that is done. The lock is held, or the device is being opened. */
static tz_result ensure_family(cl_state *s, uint32_t family, const tz_context *ctx)
{
    if (s->programs[family])
        return TZ_OK;
    const tz_result result = build_family(s, family, ctx);
    if (result != TZ_OK)
        release_family(s, family);
    return result;
}

/* ---- opening and closing ---- */

/* Releases all that exists: the device may be half opened. */
static void release_opencl_device(cl_state *s)
{
    for (uint32_t family = 0; family < TZ_FAMILY_COUNT; family++)
        release_family(s, family);
    for (uint32_t i = 0; i < TZ_QUEUES; i++) {
        if (s->queues[i])
            (void)s->api.ReleaseCommandQueue(s->queues[i]);
    }
    if (s->context)
        (void)s->api.ReleaseContext(s->context);
    pthread_mutex_destroy(&s->launch_lock);
    tz_free(s);
}

/* Waits for both queues: their work may use the programs. */
static void close_opencl_device(void *state)
{
    cl_state *s = state;
    for (uint32_t i = 0; i < TZ_QUEUES; i++)
        (void)s->api.Finish(s->queues[i]);
    release_opencl_device(s);
}

/* Sets s->context to the caller's and retains it; TZ_ERR_ARG if the device is not in it. */
static tz_result adopt_context(cl_state *s, tz_cl_context context, const tz_context *ctx)
{
    tz_cl_device devices[TZ_CL_MAX_DEVICES];
    size_t size = 0;
    const int32_t code =
        s->api.GetContextInfo(context, TZ_CL_CONTEXT_DEVICES, sizeof devices, devices, &size);
    if (code == TZ_CL_INVALID_CONTEXT)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "opencl_context is not a context of this loader");
    TZ_TRY(tz_cl_check("clGetContextInfo", code, ctx));
    bool is_in = false;
    for (size_t i = 0; i < size / sizeof devices[0]; i++)
        is_in = is_in || devices[i] == s->device;
    if (!is_in)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the device is not in opencl_context");
    TZ_TRY(tz_cl_check("clRetainContext", s->api.RetainContext(context), ctx));
    s->context = context;
    return TZ_OK;
}

/* Opens a device of the list: makes or adopts its context, and makes the queues and the first
 * family of kernels. */
static tz_result open_candidate(cl_state *s, const tz_cl_candidates *candidates, uint32_t index,
                                const tz_device_options *options, tz_device_info *info,
                                tz_device_texts *texts, const tz_context *ctx)
{
    int32_t code = TZ_CL_SUCCESS;
    if (index >= candidates->count)
        return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                       "no such device: OpenCL has %zu%s%s", candidates->count,
                       candidates->reason[0] ? "; " : "", candidates->reason);
    tz_cl_describe(&s->api, &candidates->list[index], index, info, texts);
    if (!info->usable)
        return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                       "the device cannot be used: %s", info->reason);
    s->device = candidates->list[index].device;
    if (options->opencl_context)
        TZ_TRY(adopt_context(s, options->opencl_context, ctx));
    else
        s->context = s->api.CreateContext(NULL, 1, &s->device, NULL, NULL, &code);
    if (!s->context)
        return tz_cl_fail("clCreateContext", code, ctx);
    for (uint32_t i = 0; i < TZ_QUEUES; i++) {
        s->queues[i] = s->api.CreateCommandQueue(s->context, s->device, 0, &code);
        if (!s->queues[i])
            return tz_cl_fail("clCreateCommandQueue", code, ctx);
    }
    return ensure_family(s, 0, ctx);
}

static tz_result open_opencl_device(void **state, const tz_device_setup *setup, uint32_t index,
                                    tz_device_info *info, tz_device_texts *texts,
                                    const tz_context *ctx)
{
    tz_cl_candidates candidates = {.list = NULL};
    char reason[256];
    cl_state *s = tz_alloc_zeroed(1, sizeof *s);
    if (!s)
        return tz_fail_nomem(ctx, sizeof *s);
    if (pthread_mutex_init(&s->launch_lock, NULL) != 0) {
        tz_free(s);
        return tz_fail_nomem(ctx, sizeof s->launch_lock);
    }
    tz_result result = TZ_OK;
    if (!tz_cl_load(&s->api, setup->libraries[TZ_LIBRARY_OPENCL], reason, sizeof reason))
        result = tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                         "OpenCL is not there: %s", reason);
    if (result == TZ_OK)
        result = tz_cl_find_devices(&s->api, &candidates, ctx);
    if (result == TZ_OK) {
        result = open_candidate(s, &candidates, index, &setup->options, info, texts, ctx);
        tz_free(candidates.list);
    }
    if (result == TZ_OK)
        *state = s;
    else
        release_opencl_device(s);
    return result;
}

static void *native_opencl_context(void *state)
{
    return ((cl_state *)state)->context;
}

/* ---- memory ---- */

/* Drivers may reserve the memory later, with the first command that uses it. An allocation that
 * succeeds here is therefore no promise, and CL_MEM_OBJECT_ALLOCATION_FAILURE of a command is
 * TZ_ERR_NOMEM as well. */
static tz_result create_buffer(cl_state *s, uint64_t flags, tz_device_memory *memory,
                               const tz_context *ctx)
{
    int32_t code = TZ_CL_SUCCESS;
    memory->handle = s->api.CreateBuffer(s->context, flags, (size_t)memory->size, NULL, &code);
    return memory->handle ? TZ_OK : tz_cl_fail_memory("clCreateBuffer", code, memory->size, ctx);
}

static tz_result alloc_buffer(void *state, tz_device_memory *memory, const tz_context *ctx)
{
    return create_buffer(state, TZ_CL_MEM_READ_WRITE, memory, ctx);
}

/* The mapping is blocking, so that the address is valid on return. */
static tz_result alloc_pinned_buffer(void *state, tz_device_memory *memory, const tz_context *ctx)
{
    cl_state *s = state;
    int32_t code = TZ_CL_SUCCESS;
    TZ_TRY(create_buffer(s, TZ_CL_MEM_READ_WRITE | TZ_CL_MEM_ALLOC_HOST_PTR, memory, ctx));
    memory->host =
        s->api.EnqueueMapBuffer(s->queues[0], memory->handle, 1, TZ_CL_MAP_READ | TZ_CL_MAP_WRITE,
                                0, (size_t)memory->size, 0, NULL, NULL, &code);
    if (memory->host)
        return TZ_OK;
    (void)s->api.ReleaseMemObject(memory->handle);
    return tz_cl_fail_memory("clEnqueueMapBuffer", code, memory->size, ctx);
}

/* Retains a buffer of the caller's, after a check that it is one of the device's context. Only
 * some drivers notice a handle that is not an object of theirs. */
static tz_result wrap_buffer(void *state, tz_device_memory *memory, const tz_context *ctx)
{
    const cl_state *s = state;
    uint32_t type = 0;
    size_t size = 0;
    tz_cl_context context = NULL;
    const struct {
        uint32_t what;
        size_t size;
        void *value;
    } questions[] = {{TZ_CL_MEM_TYPE, sizeof type, &type},
                     {TZ_CL_MEM_SIZE, sizeof size, &size},
                     {TZ_CL_MEM_CONTEXT, sizeof context, &context}};
    int32_t code = TZ_CL_SUCCESS;
    for (size_t i = 0; i < sizeof questions / sizeof questions[0] && code == TZ_CL_SUCCESS; i++)
        code = s->api.GetMemObjectInfo(memory->handle, questions[i].what, questions[i].size,
                                       questions[i].value, NULL);
    if (code == TZ_CL_INVALID_MEM_OBJECT)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the handle is not OpenCL memory");
    TZ_TRY(tz_cl_check("clGetMemObjectInfo", code, ctx));
    if (type != TZ_CL_MEM_OBJECT_BUFFER)
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
    TZ_TRY(tz_cl_check("clRetainMemObject", s->api.RetainMemObject(memory->handle), ctx));
    if (memory->size == 0)
        memory->size = size;
    return TZ_OK;
}

/* OpenCL keeps a buffer until the commands that use it are done. Only the mapping of a pinned one
 * has to be ended and waited for: its address must not be used afterwards. */
static void free_buffer(void *state, tz_device_memory *memory)
{
    cl_state *s = state;
    if (memory->host) {
        (void)s->api.EnqueueUnmapMemObject(s->queues[0], memory->handle, memory->host, 0, NULL,
                                           NULL);
        (void)s->api.Finish(s->queues[0]);
    }
    (void)s->api.ReleaseMemObject(memory->handle);
}

/* OpenCL 1.2 does not report how much memory is free; the engine then counts for itself. */
static tz_result query_free_memory(void *state, uint64_t *bytes, const tz_context *ctx)
{
    (void)state;
    (void)ctx;
    *bytes = UINT64_MAX;
    return TZ_OK;
}

/* ---- commands ---- */

/* Copies do not block: OpenCL reads and writes host memory when the command runs, so that it
 * belongs to the command until a sync. A copy from or to pinned memory is fast because the driver
 * knows the address from its mapping. */
static tz_result upload_to_buffer(void *state, uint32_t queue, const tz_device_memory *to,
                                  uint64_t offset, const void *from, uint64_t size,
                                  const tz_context *ctx)
{
    cl_state *s = state;
    const int32_t code = s->api.EnqueueWriteBuffer(s->queues[queue], to->handle, 0, (size_t)offset,
                                                   (size_t)size, from, 0, NULL, NULL);
    return tz_cl_check("clEnqueueWriteBuffer", code, ctx);
}

static tz_result download_from_buffer(void *state, uint32_t queue, void *to,
                                      const tz_device_memory *from, uint64_t offset, uint64_t size,
                                      const tz_context *ctx)
{
    cl_state *s = state;
    const int32_t code = s->api.EnqueueReadBuffer(s->queues[queue], from->handle, 0, (size_t)offset,
                                                  (size_t)size, to, 0, NULL, NULL);
    return tz_cl_check("clEnqueueReadBuffer", code, ctx);
}

/* Call with the lock held. A memory argument is the address of its cl_mem, which OpenCL reads
 * before it returns. */
static tz_result launch_locked(cl_state *s, uint32_t queue, const tz_launch *launch,
                               const tz_context *ctx)
{
    TZ_TRY(ensure_family(s, tz_kernel_families[launch->kernel], ctx));
    const tz_cl_kernel kernel = s->kernels[launch->kernel];
    const size_t local = TZ_WORK_GROUP_ITEMS;
    const size_t global = (size_t)launch->work_groups * TZ_WORK_GROUP_ITEMS;
    for (uint32_t i = 0; i < launch->argument_count; i++) {
        const tz_argument *argument = &launch->arguments[i];
        const void *value = &argument->value;
        size_t size = sizeof argument->value.u64;
        if (argument->kind == TZ_ARGUMENT_U32) {
            size = sizeof argument->value.u32;
        } else if (argument->kind == TZ_ARGUMENT_MEMORY) {
            value = &argument->value.memory->handle;
            size = sizeof argument->value.memory->handle;
        }
        TZ_TRY(tz_cl_check("clSetKernelArg", s->api.SetKernelArg(kernel, i, size, value), ctx));
    }
    const int32_t code = s->api.EnqueueNDRangeKernel(s->queues[queue], kernel, 1, NULL, &global,
                                                     &local, 0, NULL, NULL);
    return tz_cl_check("clEnqueueNDRangeKernel", code, ctx);
}

static tz_result launch_kernel(void *state, uint32_t queue, const tz_launch *launch,
                               const tz_context *ctx)
{
    cl_state *s = state;
    pthread_mutex_lock(&s->launch_lock);
    const tz_result result = launch_locked(s, queue, launch, ctx);
    pthread_mutex_unlock(&s->launch_lock);
    return result;
}

/* A marker without a wait list completes after all earlier commands of its queue. The queue is
 * flushed: another one that waits for the event would otherwise wait for work that is never begun.
 */
static tz_result record_event(void *state, uint32_t queue, tz_device_event *event,
                              const tz_context *ctx)
{
    cl_state *s = state;
    tz_cl_event made = NULL;
    TZ_TRY(tz_cl_check("clEnqueueMarkerWithWaitList",
                       s->api.EnqueueMarkerWithWaitList(s->queues[queue], 0, NULL, &made), ctx));
    const int32_t code = s->api.Flush(s->queues[queue]);
    if (code == TZ_CL_SUCCESS)
        event->handle = made;
    else
        (void)s->api.ReleaseEvent(made);
    return tz_cl_check("clFlush", code, ctx);
}

/* A queue of the caller's is asked for its context first: events of another one cannot be waited
 * for. Only some drivers notice a handle that is not an object of theirs. */
static tz_result wait_for_caller_queue(void *state, void *stream, const tz_context *ctx)
{
    cl_state *s = state;
    tz_cl_context context = NULL;
    tz_cl_event reached = NULL;
    int32_t code = TZ_CL_INVALID_COMMAND_QUEUE;
    if (stream)
        code =
            s->api.GetCommandQueueInfo(stream, TZ_CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    if (code == TZ_CL_INVALID_COMMAND_QUEUE)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "stream is not a command queue of OpenCL");
    TZ_TRY(tz_cl_check("clGetCommandQueueInfo", code, ctx));
    if (context != s->context)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "stream is of another context than the device's; open the "
                       "device with opencl_context");
    TZ_TRY(tz_cl_check("clEnqueueMarkerWithWaitList",
                       s->api.EnqueueMarkerWithWaitList(stream, 0, NULL, &reached), ctx));
    const char *function = "clFlush";
    code = s->api.Flush(stream);
    for (uint32_t i = 0; i < TZ_QUEUES && code == TZ_CL_SUCCESS; i++) {
        function = "clEnqueueBarrierWithWaitList";
        code = s->api.EnqueueBarrierWithWaitList(s->queues[i], 1, &reached, NULL);
    }
    (void)s->api.ReleaseEvent(reached);
    return tz_cl_check(function, code, ctx);
}

/* The queue waits, not the host: the barrier holds back all later commands of this queue. */
static tz_result wait_for_event(void *state, uint32_t queue, const tz_device_event *event,
                                const tz_context *ctx)
{
    cl_state *s = state;
    const tz_cl_event waited = event->handle;
    const int32_t code = s->api.EnqueueBarrierWithWaitList(s->queues[queue], 1, &waited, NULL);
    return tz_cl_check("clEnqueueBarrierWithWaitList", code, ctx);
}

static tz_result query_event(void *state, const tz_device_event *event, bool *happened,
                             const tz_context *ctx)
{
    cl_state *s = state;
    int32_t status = 0;
    TZ_TRY(tz_cl_check("clGetEventInfo",
                       s->api.GetEventInfo(event->handle, TZ_CL_EVENT_COMMAND_EXECUTION_STATUS,
                                           sizeof status, &status, NULL),
                       ctx));
    if (status < 0) /* an error of the work before it */
        return tz_cl_fail("work on the device", status, ctx);
    *happened = status == TZ_CL_COMPLETE;
    return TZ_OK;
}

/* OpenCL keeps an event that work still waits for. */
static void free_opencl_event(void *state, tz_device_event *event)
{
    cl_state *s = state;
    (void)s->api.ReleaseEvent(event->handle);
}

/* clFinish also begins commands that nobody has flushed. */
static tz_result sync_queue(void *state, uint32_t queue, const tz_context *ctx)
{
    cl_state *s = state;
    return tz_cl_check("clFinish", s->api.Finish(s->queues[queue]), ctx);
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
    .wait_for_stream = wait_for_caller_queue,
    .upload = upload_to_buffer,
    .download = download_from_buffer,
    .launch = launch_kernel,
    .record = record_event,
    .wait = wait_for_event,
    .query = query_event,
    .free_event = free_opencl_event,
    .sync = sync_queue,
    .free_memory = query_free_memory,
};
