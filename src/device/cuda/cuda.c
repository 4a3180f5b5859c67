/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: finding, opening and closing, and its table.
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

static const char *cuda_library_name(const tz_device_options *options)
{
    return options->cuda_library ? options->cuda_library : TZ_CU_LIBRARY;
}

/* ---- finding ---- */

static tz_result find_cuda_devices(const tz_device_options *options, tz_found_devices *found,
                                   tz_driver_info *about, const tz_context *ctx)
{
    tz_cu_api api;
    uint32_t count;
    tz_device_text(about->library, sizeof about->library, cuda_library_name(options));
    about->loaded =
        tz_cu_load(&api, cuda_library_name(options), about->reason, sizeof about->reason);
    if (!about->loaded || !tz_cu_init(&api, &count, about->reason, sizeof about->reason))
        return TZ_OK;
    for (uint32_t i = 0; i < count; i++) {
        tz_device_info *info = tz_found_devices_add(found);
        if (!info)
            return tz_fail_nomem(ctx, sizeof *info);
        tz_cu_describe(&api, i, info);
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

/* ---- closing ---- */

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
    tz_cu_files_deinit(&s->files);
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
    pthread_mutex_destroy(&s->order_lock);
    pthread_mutex_destroy(&s->modules.lock);
    tz_cu_codecs_deinit(&s->codecs);
    tz_cu_j2k_deinit(&s->j2k);
    tz_cu_jpeg_deinit(&s->jpeg);
    for (size_t i = 0; i < TZ_CU_CODESTREAM_LIBRARIES; i++)
        pthread_mutex_destroy(&s->encoders[i].lock);
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
        TZ_TRY(tz_cu_adopt_stream(s, options->cuda_stream, ctx));
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        TZ_TRY(tz_cu_check("cuEventCreate",
                           s->api.EventCreate(events[i], TZ_CU_EVENT_DISABLE_TIMING), ctx));
    TZ_TRY(tz_cu_make_pool(s, options->pool_bytes, ctx));
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
        TZ_TRY(tz_cu_adopt_context(s, options->cuda_context, ctx));
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

/* Copies the caller's name of a library; NULL stays NULL. */
static tz_result copy_library_name(char **to, const char *library, const tz_context *ctx)
{
    if (!library)
        return TZ_OK;
    const size_t size = strlen(library) + 1;
    *to = tz_alloc(size);
    if (!*to)
        return tz_fail_nomem(ctx, size);
    memcpy(*to, library, size);
    return TZ_OK;
}

static tz_result load_and_open(tz_cu_state *s, const tz_device_options *options,
                               tz_device_info *info, const tz_context *ctx)
{
    uint32_t count;
    char reason[256] = "";
    if (!tz_cu_load(&s->api, cuda_library_name(options), reason, sizeof reason))
        return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                       "CUDA is not there: %s", reason);
    (void)tz_cu_init(&s->api, &count, reason, sizeof reason);
    if (s->index >= count)
        return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                       "no such device: CUDA has %u%s%s", count, reason[0] ? "; " : "", reason);
    tz_cu_describe(&s->api, s->index, info);
    if (!info->usable)
        return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                       "the device cannot be used: %s", info->reason);
    TZ_TRY(copy_library_name(&s->codecs.library, options->nvcomp_library, ctx));
    TZ_TRY(copy_library_name(&s->j2k.library, options->nvjpeg2k_library, ctx));
    TZ_TRY(copy_library_name(&s->jpeg.library, options->nvjpeg_library, ctx));
    TZ_TRY(copy_library_name(&s->files.library, options->cufile_library, ctx));
    return open_context(s, options, ctx);
}

/* Makes all locks or none, so that closing can destroy all of them. */
static tz_result make_locks(tz_cu_state *s, const tz_context *ctx)
{
    pthread_mutex_t *const locks[] = {&s->order_lock,       &s->modules.lock, &s->codecs.lock,
                                      &s->j2k.lock,         &s->jpeg.lock,    &s->encoders[0].lock,
                                      &s->encoders[1].lock, &s->files.lock};
    for (size_t i = 0; i < sizeof locks / sizeof locks[0]; i++) {
        if (pthread_mutex_init(locks[i], NULL) == 0)
            continue;
        while (i > 0)
            pthread_mutex_destroy(locks[--i]);
        return tz_fail_nomem(ctx, sizeof s->order_lock);
    }
    return TZ_OK;
}

static tz_result open_cuda_device(void **state, const tz_device_options *options, uint32_t index,
                                  tz_device_info *info, const tz_context *ctx)
{
    tz_cu_state *s = tz_alloc_zeroed(1, sizeof *s);
    if (!s)
        return tz_fail_nomem(ctx, sizeof *s);
    s->index = index;
    tz_result result = make_locks(s, ctx);
    if (result != TZ_OK) {
        tz_free(s);
        return result;
    }
    result = load_and_open(s, options, info, ctx);
    if (result == TZ_OK)
        *state = s;
    else
        close_cuda_device(s);
    return result;
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
    .wrap = tz_cu_wrap,
    .native_context = tz_cu_native_context,
    .native_stream = tz_cu_native_stream,
    .wait_for_stream = tz_cu_wait_for_stream,
    .upload = tz_cu_upload,
    .download = tz_cu_download,
    .launch = tz_cu_launch,
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
    .record = tz_cu_record,
    .wait = tz_cu_wait,
    .query = tz_cu_query,
    .free_event = tz_cu_free_event,
    .sync = tz_cu_sync,
    .free_memory = tz_cu_free_memory,
};
