/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: finding, opening and closing, copies, kernels and events, and its table.
 *
 * A device has a context, two queues, a stream for memory, and one for work of the caller's that
 * the queues wait for; none of them is CUDA's default stream, which would make every other stream
 * wait. The context is the device's primary one, so that memory and kernels can be shared with the
 * libraries and programs of the same process (NVIDIA's libraries, PyTorch and CuPy use it too); a
 * caller with a context of its own passes that. Vendor libraries are not loaded here but when they
 * are first wanted: opening costs one family of kernels, which proves that the driver accepts them.
 *
 * Opening fails half-way in many places. There is one way out: releasing works on any state that
 * was zeroed and has its locks, and releases as much of it as exists. */
#include <string.h>

#include "base/mem.h"
#include "device/cuda/cuda_internal.h"
#include "device/device_text.h"

/* ---- finding ---- */

static tz_result find_cuda_devices(const tz_device_setup *setup, tz_found_devices *found,
                                   tz_found_driver *about, const tz_context *ctx)
{
    tz_cu_api api;
    uint32_t count;
    const char *library = setup->libraries[TZ_LIBRARY_CUDA];
    tz_device_text(about->library, sizeof about->library, library ? library : TZ_CU_LIBRARY);
    about->info.loaded = tz_cu_load(&api, library, about->reason, sizeof about->reason);
    if (!about->info.loaded || !tz_cu_init(&api, &count, about->reason, sizeof about->reason))
        return TZ_OK;
    for (uint32_t i = 0; i < count; i++) {
        tz_found_device *device = tz_found_devices_add(found);
        if (!device)
            return tz_fail_nomem(ctx, sizeof *device);
        tz_cu_describe(&api, i, &device->info, &device->texts);
    }
    return TZ_OK;
}

/* ---- contexts ---- */

/* Contexts are a stack of the calling thread. A push and a pop leave the caller's own context as it
 * was, on any thread; no thread keeps the device's. */
tz_result tz_cu_enter(const tz_cu_state *s, const tz_context *ctx)
{
    return tz_cu_check("cuCtxPushCurrent", s->api.CtxPushCurrent(s->context), ctx);
}

tz_result tz_cu_leave(const tz_cu_state *s, tz_result result, const tz_context *ctx)
{
    tz_cu_context left;
    const tz_cu_code code = s->api.CtxPopCurrent(&left);
    return result == TZ_OK ? tz_cu_check("cuCtxPopCurrent", code, ctx) : result;
}

bool tz_cu_context_works(const tz_cu_state *s, tz_cu_stream stream)
{
    const tz_cu_code code = s->api.StreamQuery(stream);
    return code == TZ_CU_SUCCESS || code == TZ_CU_ERROR_NOT_READY;
}

/* ---- contexts, streams and memory of the caller ----
 * All are checked before use, because CUDA itself reports a wrong handle late, or not at all. */

static tz_result fail_argument(const char *text, const tz_context *ctx)
{
    return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "%s", text);
}

/* Asks the context for its device: CUDA has no other way to check a handle. */
static tz_result adopt_context(tz_cu_state *s, void *given, const tz_context *ctx)
{
    tz_cu_device device = 0;
    tz_cu_context left;
    const tz_cu_context context = given;
    tz_cu_code code = s->api.CtxPushCurrent(context);
    if (code == TZ_CU_ERROR_INVALID_CONTEXT || code == TZ_CU_ERROR_CONTEXT_IS_DESTROYED)
        return fail_argument("cuda_context is not a CUDA context", ctx);
    TZ_TRY(tz_cu_check("cuCtxPushCurrent", code, ctx));
    code = s->api.CtxGetDevice(&device);
    (void)s->api.CtxPopCurrent(&left);
    TZ_TRY(tz_cu_check("cuCtxGetDevice", code, ctx));
    if (device != s->device)
        return fail_argument("cuda_context is of another device", ctx);
    s->context = context;
    return TZ_OK;
}

static void *native_cuda_context(void *state)
{
    return ((tz_cu_state *)state)->context;
}

/* CUDA's built-in streams, whose handles are 0, 1 and 2, belong to any context. */
static tz_result check_stream(const tz_cu_state *s, tz_cu_stream stream, const char *name,
                              const tz_context *ctx)
{
    tz_cu_context context = NULL;
    const tz_cu_code code = s->api.StreamGetCtx(stream, &context);
    if (code == TZ_CU_ERROR_INVALID_HANDLE || code == TZ_CU_ERROR_INVALID_CONTEXT)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "%s is not a CUDA stream",
                       name);
    TZ_TRY(tz_cu_check("cuStreamGetCtx", code, ctx));
    if (context != s->context)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "%s is of another context than the device's; open the device with "
                       "cuda_context",
                       name);
    return TZ_OK;
}

static tz_result adopt_stream(tz_cu_state *s, void *given, const tz_context *ctx)
{
    TZ_TRY(check_stream(s, given, "cuda_stream", ctx));
    s->native_stream = given;
    atomic_store(&s->native_stream_known, true);
    return TZ_OK;
}

/* From now on the caller may put work into the stream, and the queues have to wait for it. */
static void *native_cuda_stream(void *state)
{
    tz_cu_state *s = state;
    atomic_store(&s->native_stream_known, true);
    return s->native_stream;
}

static tz_result wait_for_native_stream(void *state, const tz_context *ctx)
{
    tz_cu_state *s = state;
    if (!atomic_load(&s->native_stream_known))
        return TZ_OK;
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_cu_code code = tz_cu_queues_wait(s, s->native_stream);
    return tz_cu_leave(s, tz_cu_check("cuStreamWaitEvent", code, ctx), ctx);
}

static tz_result wait_for_caller_stream(void *state, void *stream, const tz_context *ctx)
{
    tz_cu_state *s = state;
    TZ_TRY(tz_cu_enter(s, ctx));
    tz_result result = check_stream(s, stream, "stream", ctx);
    if (result == TZ_OK)
        result = tz_cu_check("cuStreamWaitEvent", tz_cu_queues_wait(s, stream), ctx);
    return tz_cu_leave(s, result, ctx);
}

/* Attributes of an address, by one call. */
typedef struct pointer_facts {
    unsigned type; /* 0: the address is not CUDA's */
    unsigned is_managed;
    int device;
    tz_cu_context context; /* NULL for memory of a pool, which all contexts of a device share */
    tz_cu_address start;
    size_t size;
} pointer_facts;

/* The address may be inside of an allocation, of which the rest belongs to the handle. A size of 0
 * becomes that rest. */
static tz_result wrap_address(void *state, tz_device_memory *memory, const tz_context *ctx)
{
    tz_cu_state *s = state;
    pointer_facts f = {0};
    unsigned names[] = {
        TZ_CU_POINTER_ATTRIBUTE_MEMORY_TYPE,      TZ_CU_POINTER_ATTRIBUTE_IS_MANAGED,
        TZ_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,   TZ_CU_POINTER_ATTRIBUTE_CONTEXT,
        TZ_CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, TZ_CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *values[] = {&f.type, &f.is_managed, &f.device, &f.context, &f.start, &f.size};
    const tz_cu_address address = tz_cu_address_of(memory);
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_cu_code code =
        s->api.PointerGetAttributes(sizeof names / sizeof names[0], names, values, address);
    TZ_TRY(tz_cu_leave(s, TZ_OK, ctx));
    if (code == TZ_CU_ERROR_INVALID_VALUE)
        return fail_argument("the handle is not CUDA memory", ctx);
    TZ_TRY(tz_cu_check("cuPointerGetAttributes", code, ctx));
    const uint64_t before = address - f.start;
    if (f.type == 0 || before >= f.size)
        return fail_argument("the handle is not CUDA memory", ctx);
    if (!f.is_managed) { /* managed memory belongs to all devices */
        if (f.type != TZ_CU_MEMORYTYPE_DEVICE)
            return fail_argument("the handle is not device memory", ctx);
        if (f.device != (int)s->index)
            return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                           tz_expecting(tz_no_location(), s->index, (uint64_t)f.device),
                           "the handle is memory of another device");
        if (f.context && f.context != s->context)
            return fail_argument(
                "the handle is of another context than the device's; open the device with "
                "cuda_context",
                ctx);
    }
    const uint64_t there = f.size - before;
    if (memory->size > there)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), there, memory->size),
                       "there are fewer bytes from the handle to the end of its memory");
    if (memory->size == 0)
        memory->size = there;
    return TZ_OK;
}

/* ---- closing ---- */

/* All locks of a state: opening makes and closing destroys all of them, or none. */
enum { LOCKS = 8 };
static pthread_mutex_t *lock_of(tz_cu_state *s, unsigned index)
{
    pthread_mutex_t *const locks[LOCKS] = {
        &s->order_lock, &s->modules.lock,     &s->codecs.lock,      &s->j2k.lock,
        &s->jpeg.lock,  &s->encoders[0].lock, &s->encoders[1].lock, &s->files.lock};
    return locks[index];
}

/* Waits first: a stream that is destroyed goes on with its work, which may use freed memory. */
static void end_stream(const tz_cu_state *s, tz_cu_stream stream)
{
    if (!stream)
        return;
    (void)s->api.StreamSynchronize(stream);
    (void)s->api.StreamDestroy(stream);
}

static void end_event(const tz_cu_state *s, tz_cu_event event)
{
    if (event)
        (void)s->api.EventDestroy(event);
}

/* Releases all that exists, and goes on after failures: the device may have failed, or be half
 * opened. */
static void close_cuda_device(void *state)
{
    const tz_context quiet = {.ifd = -1};
    tz_cu_state *s = state;
    tz_cu_files_close(&s->files);
    if (s->context && tz_cu_enter(s, &quiet) == TZ_OK) {
        tz_cu_close_encoders(s);
        tz_cu_j2k_close(s);
        tz_cu_jpeg_close(s);
        for (uint32_t i = 0; i < TZ_QUEUES; i++)
            end_stream(s, s->queues[i]);
        end_stream(s, s->memory); /* after the queues: the frees in it wait for them */
        if (s->owns_native_stream)
            end_stream(s, s->native_stream);
        for (uint32_t i = 0; i < TZ_QUEUES; i++)
            end_event(s, s->done[i]);
        end_event(s, s->ready);
        if (s->pool)
            (void)s->api.MemPoolDestroy(s->pool);
        tz_cu_unload_modules(&s->api, &s->modules);
        (void)tz_cu_leave(s, TZ_OK, &quiet);
    }
    if (s->is_retained)
        (void)s->api.DevicePrimaryCtxRelease(s->device);
    for (unsigned i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(lock_of(s, i));
    for (size_t i = 0; i < TZ_NVIDIA_LIBRARY_COUNT; i++)
        tz_free(s->library_names[i]);
    tz_free(s);
}

/* ---- opening ---- */

/* Makes the streams, the events, the pool and the first family of kernels. */
static tz_result set_up_context(tz_cu_state *s, const tz_device_options *options,
                                const tz_context *ctx)
{
    tz_cu_stream *const streams[] = {&s->queues[0], &s->queues[1], &s->memory, &s->native_stream};
    tz_cu_event *const events[] = {&s->ready, &s->done[0], &s->done[1]};
    tz_cu_function first;
    s->owns_native_stream = !options->cuda_stream;
    const size_t stream_count = s->owns_native_stream ? 4 : 3;
    for (size_t i = 0; i < stream_count; i++)
        TZ_TRY(tz_cu_check("cuStreamCreate",
                           s->api.StreamCreate(streams[i], TZ_CU_STREAM_NON_BLOCKING), ctx));
    if (!s->owns_native_stream)
        TZ_TRY(adopt_stream(s, options->cuda_stream, ctx));
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        TZ_TRY(tz_cu_check("cuEventCreate",
                           s->api.EventCreate(events[i], TZ_CU_EVENT_DISABLE_TIMING), ctx));
    TZ_TRY(tz_cu_make_pool(s, options->max_pool_bytes, ctx));
    return tz_cu_find_function(&s->api, &s->modules, 0, &first, ctx);
}
_Static_assert(TZ_QUEUES == 2, "each has a stream and an event");

/* Takes the caller's context or retains the primary one, and sets it up. An error of the setup is
 * kept aside until it is known if the context itself is lost, which is the better message. */
static tz_result open_context(tz_cu_state *s, const tz_device_options *options,
                              const tz_context *ctx)
{
    TZ_TRY(tz_cu_check("cuDeviceGet", s->api.DeviceGet(&s->device, (int)s->index), ctx));
    if (options->cuda_context) {
        TZ_TRY(adopt_context(s, options->cuda_context, ctx));
    } else {
        TZ_TRY(tz_cu_check("cuDevicePrimaryCtxRetain",
                           s->api.DevicePrimaryCtxRetain(&s->context, s->device), ctx));
        s->is_retained = true;
    }
    tz_error failed = {.result = TZ_OK};
    tz_context quiet = *ctx;
    quiet.err = &failed;
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_result result = set_up_context(s, options, &quiet);
    if (result != TZ_OK) {
        /* a primary context that a kernel has broken stays broken while anybody in the process
         * holds it, and NVIDIA's libraries, PyTorch and CuPy do */
        const char *advice = tz_cu_context_works(s, NULL)
                                 ? ""
                                 : "; the CUDA context of this process is lost, and only a new "
                                   "process can use the device";
        (void)tz_fail(ctx, failed.result, failed.cause, tz_no_location(), "%s%s", failed.message,
                      advice);
    }
    return tz_cu_leave(s, result, ctx);
}

static tz_result load_and_open(tz_cu_state *s, const tz_device_setup *setup, tz_device_info *info,
                               tz_device_texts *texts, const tz_context *ctx)
{
    uint32_t count;
    char reason[256] = "";
    if (!tz_cu_load(&s->api, setup->libraries[TZ_LIBRARY_CUDA], reason, sizeof reason))
        return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                       "CUDA is not there: %s", reason);
    (void)tz_cu_init(&s->api, &count, reason, sizeof reason);
    if (s->index >= count)
        return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                       "no such device: CUDA has %u%s%s", count, reason[0] ? "; " : "", reason);
    tz_cu_describe(&s->api, s->index, info, texts);
    if (!info->usable)
        return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                       "the device cannot be used: %s", info->reason);
    for (size_t i = 0; i < TZ_NVIDIA_LIBRARY_COUNT; i++) {
        const char *name = tz_nvidia_library_given(setup, i);
        if (!name)
            continue;
        const size_t size = strlen(name) + 1;
        s->library_names[i] = tz_alloc(size);
        if (!s->library_names[i])
            return tz_fail_nomem(ctx, size);
        memcpy(s->library_names[i], name, size);
    }
    return open_context(s, &setup->options, ctx);
}

static tz_result open_cuda_device(void **state, const tz_device_setup *setup, uint32_t index,
                                  tz_device_info *info, tz_device_texts *texts,
                                  const tz_context *ctx)
{
    tz_cu_state *s = tz_alloc_zeroed(1, sizeof *s);
    if (!s)
        return tz_fail_nomem(ctx, sizeof *s);
    for (unsigned i = 0; i < LOCKS; i++) {
        if (pthread_mutex_init(lock_of(s, i), NULL) == 0)
            continue;
        while (i > 0)
            pthread_mutex_destroy(lock_of(s, --i));
        tz_free(s);
        return tz_fail_nomem(ctx, sizeof s->order_lock);
    }
    s->index = index;
    const tz_result result = load_and_open(s, setup, info, texts, ctx);
    if (result == TZ_OK)
        *state = s;
    else
        close_cuda_device(s);
    return result;
}

/* ---- commands: each is put into a queue with the context current ---- */

static tz_result upload_to_device(void *state, uint32_t queue, const tz_device_memory *to,
                                  uint64_t offset, const void *from, uint64_t size,
                                  const tz_context *ctx)
{
    tz_cu_state *s = state;
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_cu_code code =
        s->api.MemcpyHtoDAsync(tz_cu_address_of(to) + offset, from, (size_t)size, s->queues[queue]);
    return tz_cu_leave(s, tz_cu_check("cuMemcpyHtoDAsync", code, ctx), ctx);
}

static tz_result download_from_device(void *state, uint32_t queue, void *to,
                                      const tz_device_memory *from, uint64_t offset, uint64_t size,
                                      const tz_context *ctx)
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
static tz_result launch_kernel(void *state, uint32_t queue, const tz_launch *launch,
                               const tz_context *ctx)
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

/* Timing is switched off, as for all events here: it would make them slower. */
static tz_result record_event(void *state, uint32_t queue, tz_device_event *event,
                              const tz_context *ctx)
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

static tz_result wait_for_event(void *state, uint32_t queue, const tz_device_event *event,
                                const tz_context *ctx)
{
    tz_cu_state *s = state;
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_cu_code code = s->api.StreamWaitEvent(s->queues[queue], event->handle, 0);
    return tz_cu_leave(s, tz_cu_check("cuStreamWaitEvent", code, ctx), ctx);
}

static tz_result query_event(void *state, const tz_device_event *event, bool *happened,
                             const tz_context *ctx)
{
    tz_cu_state *s = state;
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_cu_code code = s->api.EventQuery(event->handle);
    *happened = code == TZ_CU_SUCCESS;
    const bool is_answer = *happened || code == TZ_CU_ERROR_NOT_READY;
    return tz_cu_leave(s, is_answer ? TZ_OK : tz_cu_check("cuEventQuery", code, ctx), ctx);
}

static void free_cuda_event(void *state, tz_device_event *event)
{
    tz_cu_state *s = state;
    const tz_context quiet = {.ifd = -1};
    if (tz_cu_enter(s, &quiet) != TZ_OK)
        return;
    (void)s->api.EventDestroy(event->handle);
    (void)tz_cu_leave(s, TZ_OK, &quiet);
}

static tz_result sync_queue(void *state, uint32_t queue, const tz_context *ctx)
{
    tz_cu_state *s = state;
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_cu_code code = s->api.StreamSynchronize(s->queues[queue]);
    return tz_cu_leave(s, tz_cu_check("cuStreamSynchronize", code, ctx), ctx);
}

const tz_driver tz_driver_cuda = {
    .name = "cuda",
    .probes_when_listed = true, /* only the driver knows if it accepts the kernels */
    .find = find_cuda_devices,
    .open = open_cuda_device,
    .close = close_cuda_device,
    .alloc = tz_cu_alloc,
    .alloc_pinned = tz_cu_alloc_pinned,
    .free = tz_cu_free,
    .wrap = wrap_address,
    .native_context = native_cuda_context,
    .native_stream = native_cuda_stream,
    .wait_for_native_stream = wait_for_native_stream,
    .wait_for_stream = wait_for_caller_stream,
    .upload = upload_to_device,
    .download = download_from_device,
    .launch = launch_kernel,
    .find_decoder = tz_cu_find_decoder,
    .decode = tz_cu_decode,
    .find_encoder = tz_cu_find_encoder,
    .encode = tz_cu_encode,
    .find_codestream_codec = tz_cu_find_codestream_codec,
    .decode_codestreams = tz_cu_decode_codestreams,
    .encode_codestreams = tz_cu_encode_codestreams,
    .find_files = tz_cu_find_files,
    .open_file = tz_cu_open_file,
    .close_file = tz_cu_close_file,
    .share_memory = tz_cu_share_memory,
    .unshare_memory = tz_cu_unshare_memory,
    .begin_reads = tz_cu_begin_reads,
    .end_reads = tz_cu_end_reads,
    .record = record_event,
    .wait = wait_for_event,
    .query = query_event,
    .free_event = free_cuda_event,
    .sync = sync_queue,
    .free_memory = tz_cu_free_memory,
};
