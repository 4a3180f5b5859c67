/* SPDX-License-Identifier: Apache-2.0
 * Commands of a device: copies, kernels, libraries, files and events. Drivers trust their
 * arguments, so that each function here checks offsets, sizes and kinds, counts the call
 * (tz_call_begin), calls the driver, and records a failure of the device (tz_call_end).
 *
 * A device that failed refuses new commands. Commands in flight still use memory that the caller is
 * about to release: the two calls that wait, tz_device_sync and tz_device_end_reads, therefore wait
 * also on a failed device, and only then return its first failure. */
#include <string.h>

#include "base/mem.h"
#include "device/device_state.h"
#include "device/device_text.h"
#include "device/launch.h"

/* ---- bounds ---- */

/* Negative strides lead to words before the first one, positive strides to words after it. The sum
 * of all steps of one sign is the farthest distance on that side. */
void tz_strided_extent(const tz_strided *words, uint64_t *before, uint64_t *after)
{
    *before = 0;
    *after = words->size;
    for (unsigned axis = 0; axis < 3; axis++) {
        const int64_t stride = words->strides[axis];
        const uint64_t step = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
        uint64_t *side = stride < 0 ? before : after;
        *side = tz_add_capped(*side, tz_mul_capped(words->counts[axis] - 1, step));
    }
}

bool tz_memory_holds_words(const tz_device_memory *memory, const tz_strided *words)
{
    uint64_t before, after;
    tz_strided_extent(words, &before, &after);
    return words->first >= 0 && before <= (uint64_t)words->first &&
           tz_memory_holds(memory, (uint64_t)words->first, after);
}

tz_result tz_refuse(const tz_device_memory *memory, tz_location location, const char *text,
                    tz_error *err)
{
    return tz_call_fail_argument(memory->device, location, text, err);
}

tz_result tz_check_range(const tz_device_memory *memory, tz_location location, uint64_t offset,
                         uint64_t size, const char *text, tz_error *err)
{
    if (tz_memory_holds(memory, offset, size))
        return TZ_OK;
    return tz_refuse(memory, tz_expecting(location, memory->size, tz_add_capped(offset, size)),
                     text, err);
}

tz_result tz_check_array(const tz_device_memory *memory, uint64_t offset, uint64_t count,
                         uint64_t size, uint64_t alignment, const char *text, tz_error *err)
{
    if (offset % alignment != 0)
        return tz_refuse(memory, tz_at_offset(offset), text, err);
    return tz_check_range(memory, tz_at_offset(offset), offset, tz_mul_capped(count, size), text,
                          err);
}

bool tz_buffer_is_within(const tz_pixel_buffer *buffer)
{
    const tz_strided words = {
        .first = (int64_t)buffer->offset,
        .counts = {buffer->bands, buffer->height, buffer->width},
        .strides = {buffer->band_stride, buffer->row_stride, buffer->column_stride},
        .size = tz_dtype_size(buffer->dtype)};
    if (buffer->bands == 0 || buffer->height == 0 || buffer->width == 0)
        return true;
    return buffer->offset <= INT64_MAX && tz_memory_holds_words(buffer->memory, &words);
}

/* ---- copies ---- */

tz_result tz_device_wait_for_native_stream(tz_device *device, tz_error *err)
{
    tz_call call;
    if (device->driver && !device->driver->wait_for_native_stream)
        return TZ_OK;
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_WAIT_FOR_STREAM, TZ_NO_QUEUE, 0, err));
    return tz_call_end(&call, device->driver->wait_for_native_stream(device->state, &call.ctx),
                       err);
}

tz_result tz_device_wait_for_stream(tz_device *device, void *stream, tz_error *err)
{
    tz_call call;
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_WAIT_FOR_STREAM, TZ_NO_QUEUE, 0, err));
    return tz_call_end(&call, device->driver->wait_for_stream(device->state, stream, &call.ctx),
                       err);
}

static const char copy_past_end[] = "a copy goes past the end of device memory";

/* A copy of no bytes is not a call. */
tz_result tz_device_upload(uint32_t queue, tz_device_memory *to, uint64_t offset, const void *from,
                           uint64_t size, tz_error *err)
{
    tz_call call;
    tz_device *device = to->device;
    TZ_TRY(tz_check_range(to, tz_at_offset(offset), offset, size, copy_past_end, err));
    if (size == 0)
        return TZ_OK;
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_UPLOAD, queue, size, err));
    return tz_call_end(
        &call, device->driver->upload(device->state, queue, to, offset, from, size, &call.ctx),
        err);
}

tz_result tz_device_download(uint32_t queue, void *to, const tz_device_memory *from,
                             uint64_t offset, uint64_t size, tz_error *err)
{
    tz_call call;
    tz_device *device = from->device;
    TZ_TRY(tz_check_range(from, tz_at_offset(offset), offset, size, copy_past_end, err));
    if (size == 0)
        return TZ_OK;
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_DOWNLOAD, queue, size, err));
    return tz_call_end(
        &call, device->driver->download(device->state, queue, to, from, offset, size, &call.ctx),
        err);
}

/* ---- kernels ---- */

static const char *const argument_kinds[TZ_KERNEL_COUNT] = {
#define KINDS(number, family, function, kinds) kinds,
    TZ_KERNEL_LIST(KINDS)
#undef KINDS
};

/* True if the launch has the arguments of kernel_list.h, all in memory of this device. */
static bool arguments_fit(const tz_device *device, const tz_launch *launch)
{
    if (launch->kernel >= TZ_KERNEL_COUNT)
        return false;
    const char *kinds = argument_kinds[launch->kernel];
    if (launch->argument_count != strlen(kinds))
        return false;
    for (uint32_t i = 0; i < launch->argument_count; i++) {
        const tz_argument *argument = &launch->arguments[i];
        if ((char)argument->kind != kinds[i])
            return false;
        if (argument->kind == TZ_ARGUMENT_MEMORY && argument->value.memory->device != device)
            return false;
    }
    return true;
}

tz_result tz_device_launch(tz_device *device, uint32_t queue, const tz_launch *launch,
                           tz_error *err)
{
    tz_call call;
    if (!arguments_fit(device, launch))
        return tz_call_fail_argument(
            device, tz_expecting(tz_no_location(), TZ_KERNEL_COUNT, launch->kernel),
            "there is no such kernel, or it has other arguments", err);
    /* the smallest limit of all drivers */
    if (launch->work_groups > INT32_MAX)
        return tz_call_fail(device, err, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                            tz_expecting(tz_no_location(), INT32_MAX, launch->work_groups),
                            "too many work-groups for one launch");
    if (launch->work_groups == 0)
        return TZ_OK;
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_LAUNCH, queue, 0, err));
    return tz_call_end(&call, device->driver->launch(device->state, queue, launch, &call.ctx), err);
}

/* ---- libraries ---- */

bool tz_device_find_vendor_decoder(const tz_device *device, uint16_t compression,
                                   tz_vendor_decoder *out)
{
    return tz_device_is_ours(device) && device->driver->find_decoder &&
           device->driver->find_decoder(device->state, compression, out);
}

tz_result tz_device_vendor_decode(uint32_t queue, const tz_vendor_batch *batch, tz_error *err)
{
    tz_call call;
    tz_device *device = batch->slab->device;
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_DECODE, queue, batch->total, err));
    return tz_call_end(&call, device->driver->decode(device->state, queue, batch, &call.ctx), err);
}

bool tz_device_find_vendor_encoder(const tz_device *device, uint16_t compression, int32_t level,
                                   uint64_t max_tile, tz_vendor_encoder *out)
{
    return tz_device_is_ours(device) && device->driver->find_encoder &&
           device->driver->find_encoder(device->state, compression, level, max_tile, out);
}

tz_result tz_device_vendor_encode(uint32_t queue, int32_t level, const tz_vendor_batch *batch,
                                  tz_error *err)
{
    tz_call call;
    tz_device *device = batch->slab->device;
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_ENCODE, queue, batch->total, err));
    return tz_call_end(&call, device->driver->encode(device->state, queue, level, batch, &call.ctx),
                       err);
}

/* ---- files that are read straight into device memory ---- */

bool tz_device_find_files(const tz_device *device, char *name, size_t name_size, char *reason,
                          size_t reason_size)
{
    tz_device_text(name, name_size, "");
    tz_device_text(reason, reason_size, "the device's driver cannot read files");
    return tz_device_is_ours(device) && device->driver->find_files &&
           device->driver->find_files(device->state, name, name_size, reason, reason_size);
}

tz_result tz_device_open_file(tz_device *device, int fd, void **file, tz_error *err)
{
    tz_call call;
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_OPEN_FILE, TZ_NO_QUEUE, 0, err));
    return tz_call_end(&call, device->driver->open_file(device->state, fd, file, &call.ctx), err);
}

void tz_device_close_file(tz_device *device, void *file)
{
    if (file && tz_device_is_ours(device))
        device->driver->close_file(device->state, file);
}

tz_result tz_device_share(tz_device_memory *memory, tz_error *err)
{
    tz_call call;
    tz_device *device = memory->device;
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_SHARE, TZ_NO_QUEUE, memory->size, err));
    const tz_result result = device->driver->share_memory(device->state, memory, &call.ctx);
    memory->shared = result == TZ_OK;
    return tz_call_end(&call, result, err);
}

/* The reads stay the caller's; the driver writes their `done` until tz_device_end_reads. */
tz_result tz_device_begin_reads(tz_device_memory *to, tz_direct_read *reads, uint64_t count,
                                void **reading, tz_error *err)
{
    tz_call call;
    tz_device *device = to->device;
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < count; i++) {
        const tz_direct_read *read = &reads[i];
        if (!to->shared || read->size == 0 || !tz_memory_holds(to, read->to, read->size))
            return tz_call_fail_argument(
                device,
                tz_expecting(tz_at_offset(read->to), to->size, tz_add_capped(read->to, read->size)),
                "a read of a file goes past the end of shared memory", err);
        bytes = tz_add_capped(bytes, read->size);
    }
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_BEGIN_READS, TZ_NO_QUEUE, bytes, err));
    return tz_call_end(
        &call, device->driver->begin_reads(device->state, to, reads, count, reading, &call.ctx),
        err);
}

tz_result tz_device_end_reads(tz_device *device, void *reading, tz_error *err)
{
    tz_call call;
    const tz_result begun = tz_call_begin(&call, device, TZ_CALL_END_READS, TZ_NO_QUEUE, 0, err);
    if (begun == TZ_ERR_DEVICE && tz_device_is_ours(device)) {
        const tz_context quiet = {.ifd = -1};
        (void)device->driver->end_reads(device->state, reading, &quiet);
    }
    TZ_TRY(begun);
    return tz_call_end(&call, device->driver->end_reads(device->state, reading, &call.ctx), err);
}

/* ---- events ---- */

/* The event is in the device's list only after the driver has made it, so that closing the device
 * never meets one without a handle. */
tz_result tz_device_record(tz_device *device, uint32_t queue, tz_device_event **out, tz_error *err)
{
    tz_call call;
    tz_device_event *event = tz_alloc_zeroed(1, sizeof *event);
    if (!event) {
        const tz_context ctx = {.name = device->info.id, .err = err, .ifd = -1};
        return tz_fail_nomem(&ctx, sizeof *event);
    }
    event->device = device;
    tz_result result = tz_call_begin(&call, device, TZ_CALL_RECORD, queue, 0, err);
    if (result == TZ_OK)
        result =
            tz_call_end(&call, device->driver->record(device->state, queue, event, &call.ctx), err);
    if (result != TZ_OK) {
        tz_free(event);
        return result;
    }
    tz_device_lock(device);
    event->after = device->events;
    if (device->events)
        device->events->before = event;
    device->events = event;
    tz_device_unlock(device);
    *out = event;
    return TZ_OK;
}

tz_result tz_device_wait(uint32_t queue, const tz_device_event *event, tz_error *err)
{
    tz_call call;
    tz_device *device = event->device;
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_WAIT, queue, 0, err));
    return tz_call_end(&call, device->driver->wait(device->state, queue, event, &call.ctx), err);
}

tz_result tz_device_query(const tz_device_event *event, bool *happened, tz_error *err)
{
    tz_call call;
    tz_device *device = event->device;
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_QUERY, TZ_NO_QUEUE, 0, err));
    return tz_call_end(&call, device->driver->query(device->state, event, happened, &call.ctx),
                       err);
}

void tz_device_free_event(tz_device_event *event)
{
    if (!event)
        return;
    tz_device *device = event->device;
    tz_device_lock(device);
    if (event->before)
        event->before->after = event->after;
    else
        device->events = event->after;
    if (event->after)
        event->after->before = event->before;
    tz_device_unlock(device);
    if (tz_device_is_ours(device))
        device->driver->free_event(device->state, event);
    tz_free(event);
}

tz_result tz_device_sync(tz_device *device, uint32_t queue, tz_error *err)
{
    tz_call call;
    const tz_result begun = tz_call_begin(&call, device, TZ_CALL_SYNC, queue, 0, err);
    if (begun == TZ_ERR_DEVICE && tz_device_is_ours(device)) {
        const tz_context quiet = {.ifd = -1};
        (void)device->driver->sync(device->state, queue, &quiet);
    }
    TZ_TRY(begun);
    return tz_call_end(&call, device->driver->sync(device->state, queue, &call.ctx), err);
}
