/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: finding, opening and closing. */
#include "base/mem.h"
#include "device/cuda/cuda_internal.h"
#include "device/device_text.h"
#include "device/nvidia/self_test.h"

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

/* ---- closing ---- */

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

/* Memory that is still to be freed in its stream waits for the queues. */
static void release_cuda_objects(tz_cu_state *s)
{
    tz_cu_jpeg_encode_close(s);
    tz_cu_j2k_encode_close(s);
    tz_cu_j2k_close(s);
    tz_cu_jpeg_close(s);
    for (uint32_t i = 0; i < TZ_QUEUES; i++)
        end_stream(s, s->queues[i]);
    end_stream(s, s->memory);
    if (s->owns_native_stream)
        end_stream(s, s->native_stream);
    for (uint32_t i = 0; i < TZ_QUEUES; i++)
        end_event(s, s->done[i]);
    end_event(s, s->ready);
    if (s->pool)
        (void)s->api.MemPoolDestroy(s->pool);
    tz_cu_unload_modules(&s->api, &s->modules);
}

/* All that there is, whatever fails: also of a device that failed, and of one half opened. */
static void release_cuda_state(tz_cu_state *s)
{
    const tz_context quiet = {.ifd = -1};
    tz_cu_files_deinit(&s->files);
    if (s->context && tz_cu_enter(s, &quiet) == TZ_OK) {
        release_cuda_objects(s);
        (void)tz_cu_leave(s, TZ_OK, &quiet);
    }
    if (s->is_retained)
        (void)s->api.DevicePrimaryCtxRelease(s->device);
    pthread_mutex_destroy(&s->order_lock);
    pthread_mutex_destroy(&s->modules.lock);
    tz_cu_codecs_deinit(&s->codecs);
    tz_cu_j2k_deinit(&s->j2k);
    tz_cu_jpeg_deinit(&s->jpeg);
    pthread_mutex_destroy(&s->jpeg_encoders.lock);
    pthread_mutex_destroy(&s->j2k_encoders.lock);
    tz_free(s);
}

static void close_cuda_device(void *state)
{
    release_cuda_state(state);
}

/* ---- opening ---- */

static tz_result make_streams(tz_cu_state *s, const tz_device_options *options,
                              const tz_context *ctx)
{
    tz_cu_stream *const streams[] = {&s->queues[0], &s->queues[1], &s->memory, &s->native_stream};
    s->owns_native_stream = !options->cuda_stream;
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        if (streams[i] == &s->native_stream && !s->owns_native_stream)
            continue;
        TZ_TRY(tz_cu_check("cuStreamCreate",
                           s->api.StreamCreate(streams[i], TZ_CU_STREAM_NON_BLOCKING), ctx));
    }
    return s->owns_native_stream ? TZ_OK : tz_cu_adopt_stream(s, options->cuda_stream, ctx);
}
_Static_assert(TZ_QUEUES == 2, "each has a stream");

static tz_result make_events(tz_cu_state *s, const tz_context *ctx)
{
    tz_cu_event *const events[] = {&s->ready, &s->done[0], &s->done[1]};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        TZ_TRY(tz_cu_check("cuEventCreate",
                           s->api.EventCreate(events[i], TZ_CU_EVENT_DISABLE_TIMING), ctx));
    return TZ_OK;
}

static tz_result set_up_context(tz_cu_state *s, const tz_device_options *options,
                                const tz_context *ctx)
{
    tz_cu_function first;
    TZ_TRY(make_streams(s, options, ctx));
    TZ_TRY(make_events(s, ctx));
    TZ_TRY(tz_cu_make_pool(s, options->pool_bytes, ctx));
    return tz_cu_find_function(&s->api, &s->modules, 0, &first, ctx);
}

/* After a kernel has broken it, the primary context stays broken as long as anybody in the process
 * holds it: NVIDIA's libraries do, and so do PyTorch and CuPy. */
static void explain_failure(tz_cu_state *s, const tz_error *failed, const tz_context *ctx)
{
    const bool is_lost = !tz_cu_context_works(s, NULL);
    (void)tz_fail(ctx, failed->result, failed->cause, tz_no_location(), "%s%s", failed->message,
                  is_lost
                      ? "; the CUDA context of this process is lost, and only a new process can "
                        "use the device"
                      : "");
}

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
    if (result != TZ_OK)
        explain_failure(s, &failed, ctx);
    return tz_cu_leave(s, result, ctx);
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
                       "there is no such device: CUDA has %u%s%s", count, reason[0] ? "; " : "",
                       reason);
    tz_cu_describe(&s->api, s->index, info);
    if (!info->usable)
        return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                       "the device cannot be used: %s", info->reason);
    TZ_TRY(tz_cu_copy_library_name(&s->codecs.library, options->nvcomp_library, ctx));
    TZ_TRY(tz_cu_copy_library_name(&s->j2k.library, options->nvjpeg2k_library, ctx));
    TZ_TRY(tz_cu_copy_library_name(&s->jpeg.library, options->nvjpeg_library, ctx));
    TZ_TRY(tz_cu_copy_library_name(&s->files.library, options->cufile_library, ctx));
    return open_context(s, options, ctx);
}

static tz_result make_locks(tz_cu_state *s, const tz_context *ctx)
{
    pthread_mutex_t *const locks[] = {
        &s->order_lock, &s->modules.lock,       &s->codecs.lock,       &s->j2k.lock,
        &s->jpeg.lock,  &s->jpeg_encoders.lock, &s->j2k_encoders.lock, &s->files.lock};
    for (size_t i = 0; i < sizeof locks / sizeof locks[0]; i++) {
        if (pthread_mutex_init(locks[i], NULL) == 0)
            continue;
        while (i > 0)
            pthread_mutex_destroy(locks[--i]);
        return tz_fail_nomem(ctx, sizeof s->order_lock);
    }
    return TZ_OK;
}

static tz_result make_state(tz_cu_state **out, uint32_t index, const tz_context *ctx)
{
    tz_cu_state *s = tz_alloc_zeroed(1, sizeof *s);
    if (!s)
        return tz_fail_nomem(ctx, sizeof *s);
    s->index = index;
    const tz_result result = make_locks(s, ctx);
    if (result == TZ_OK)
        *out = s;
    else
        tz_free(s);
    return result;
}

static tz_result open_cuda_device(void **state, const tz_device_options *options, uint32_t index,
                                  tz_device_info *info, const tz_context *ctx)
{
    tz_cu_state *s = NULL;
    TZ_TRY(make_state(&s, index, ctx));
    const tz_result result = load_and_open(s, options, info, ctx);
    if (result == TZ_OK)
        *state = s;
    else
        release_cuda_state(s);
    return result;
}

const tz_driver tz_driver_cuda = {
    .name = "cuda",
    .probes_when_listed = true, /* only the driver knows which kernels it takes */
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
    .find_codestream_codec = tz_cu_find_codestream_codec,
    .decode_codestreams = tz_cu_decode_codestreams,
    .find_files = tz_cu_find_files,
    .open_file = tz_cu_open_file,
    .close_file = tz_cu_close_file,
    .share_memory = tz_cu_share_memory,
    .unshare_memory = tz_cu_unshare_memory,
    .begin_reads = tz_cu_begin_reads,
    .end_reads = tz_cu_end_reads,
    .encode_codestreams = tz_cu_encode_codestreams,
    .find_encoder = tz_cu_find_encoder,
    .encode = tz_cu_encode,
    .record = tz_cu_record,
    .wait = tz_cu_wait,
    .query = tz_cu_query,
    .free_event = tz_cu_free_event,
    .sync = tz_cu_sync,
    .free_memory = tz_cu_free_memory,
};
