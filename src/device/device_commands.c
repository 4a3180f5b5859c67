/* SPDX-License-Identifier: Apache-2.0
 * Work of a device: copies, kernels, events. Everything a driver would have to trust is checked. */
#include <string.h>

#include "base/mem.h"
#include "device/device_state.h"
#include "device/launch.h"

tz_result tz_device_wait_for_stream(tz_device *device, tz_error *err)
{
    tz_call call;
    if (device->driver && !device->driver->wait_for_stream)
        return TZ_OK;
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_WAIT_FOR_STREAM, TZ_NO_QUEUE, 0, err));
    return tz_call_end(&call, device->driver->wait_for_stream(device->state, &call.ctx), err);
}

/* ---- copies ---- */

static tz_result check_copy_range(const tz_device_memory *memory, uint64_t offset, uint64_t size,
                                  tz_error *err)
{
    if (tz_memory_holds(memory, offset, size))
        return TZ_OK;
    return tz_call_fail(
        memory->device, err, TZ_ERR_ARG, TZ_CAUSE_ARG,
        tz_expecting(tz_at_offset(offset), memory->size, tz_add_capped(offset, size)),
        "a copy goes past the end of device memory");
}

tz_result tz_device_upload(uint32_t queue, tz_device_memory *to, uint64_t offset, const void *from,
                           uint64_t size, tz_error *err)
{
    tz_call call;
    tz_device *device = to->device;
    TZ_TRY(check_copy_range(to, offset, size, err));
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
    TZ_TRY(check_copy_range(from, offset, size, err));
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
        return tz_call_fail(device, err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                            tz_expecting(tz_no_location(), TZ_KERNEL_COUNT, launch->kernel),
                            "no such kernel, or not its arguments");
    /* what the smallest grid of all drivers holds */
    if (launch->work_groups > INT32_MAX)
        return tz_call_fail(device, err, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                            tz_expecting(tz_no_location(), INT32_MAX, launch->work_groups),
                            "too many groups for one launch");
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
                                   uint64_t max_chunk, tz_vendor_encoder *out)
{
    return tz_device_is_ours(device) && device->driver->find_encoder &&
           device->driver->find_encoder(device->state, compression, level, max_chunk, out);
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

/* ---- events ---- */

static void link_event(tz_device *device, tz_device_event *event)
{
    tz_device_lock(device);
    event->after = device->events;
    if (device->events)
        device->events->before = event;
    device->events = event;
    tz_device_unlock(device);
}

static void unlink_event(tz_device *device, tz_device_event *event)
{
    tz_device_lock(device);
    if (event->before)
        event->before->after = event->after;
    else
        device->events = event->after;
    if (event->after)
        event->after->before = event->before;
    tz_device_unlock(device);
}

static tz_result call_record(tz_device *device, uint32_t queue, tz_device_event *event,
                             tz_error *err)
{
    tz_call call;
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_RECORD, queue, 0, err));
    return tz_call_end(&call, device->driver->record(device->state, queue, event, &call.ctx), err);
}

tz_result tz_device_record(tz_device *device, uint32_t queue, tz_device_event **out, tz_error *err)
{
    tz_device_event *event = tz_alloc_zeroed(1, sizeof *event);
    if (!event) {
        const tz_context ctx = {.name = device->info.id, .err = err, .ifd = -1};
        return tz_fail_nomem(&ctx, sizeof *event);
    }
    event->device = device;
    const tz_result result = call_record(device, queue, event, err);
    if (result != TZ_OK) {
        tz_free(event);
        return result;
    }
    link_event(device, event);
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
    unlink_event(device, event);
    if (tz_device_is_ours(device))
        device->driver->free_event(device->state, event);
    tz_free(event);
}

tz_result tz_device_sync(tz_device *device, uint32_t queue, tz_error *err)
{
    tz_call call;
    const tz_result begun = tz_call_begin(&call, device, TZ_CALL_SYNC, queue, 0, err);
    if (begun == TZ_ERR_DEVICE && tz_device_is_ours(device)) {
        /* of a device that failed: what is under way still uses memory that will be released */
        const tz_context quiet = {.ifd = -1};
        (void)device->driver->sync(device->state, queue, &quiet);
    }
    TZ_TRY(begun);
    return tz_call_end(&call, device->driver->sync(device->state, queue, &call.ctx), err);
}
