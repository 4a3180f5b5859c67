/* SPDX-License-Identifier: Apache-2.0
 * Files that are read straight into memory of a device. */
#include "base/mem.h"
#include "device/device_state.h"
#include "device/device_text.h"
#include "device/launch.h"

static bool has_files(const tz_device *device)
{
    return tz_device_is_ours(device) && device->driver->find_files;
}

bool tz_device_find_files(const tz_device *device, char *name, size_t name_size, char *reason,
                          size_t reason_size)
{
    tz_device_text(name, name_size, "");
    tz_device_text(reason, reason_size, "the device's driver reads no files");
    return has_files(device) &&
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

static tz_result check_reads(const tz_device_memory *to, const tz_direct_read *reads,
                             uint64_t count, uint64_t *bytes, tz_error *err)
{
    *bytes = 0;
    for (uint64_t i = 0; i < count; i++) {
        const tz_direct_read *read = &reads[i];
        if (!to->shared || read->size == 0 || !tz_memory_holds(to, read->to, read->size))
            return tz_call_fail(
                to->device, err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                tz_expecting(tz_at_offset(read->to), to->size, tz_add_capped(read->to, read->size)),
                "a read of a file goes past the end of memory that is shared");
        *bytes = tz_add_capped(*bytes, read->size);
    }
    return TZ_OK;
}

tz_result tz_device_begin_reads(tz_device_memory *to, tz_direct_read *reads, uint64_t count,
                                void **reading, tz_error *err)
{
    tz_call call;
    tz_device *device = to->device;
    uint64_t bytes;
    TZ_TRY(check_reads(to, reads, count, &bytes, err));
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
        /* of a device that failed: what is under way still uses memory that will be released */
        const tz_context quiet = {.ifd = -1};
        (void)device->driver->end_reads(device->state, reading, &quiet);
    }
    TZ_TRY(begun);
    return tz_call_end(&call, device->driver->end_reads(device->state, reading, &call.ctx), err);
}
