/* SPDX-License-Identifier: Apache-2.0
 * The frame around every call of a driver. tz_call_begin refuses the call if the device has failed
 * before, and counts it; tz_call_end records the first failure.
 *
 * A child after fork has the parent's device, but neither its threads nor a usable lock: every call
 * there fails, and no lock is touched. */
#include <unistd.h>

#include "base/mem.h"
#include "device/device_state.h"

static tz_context context_of(const tz_device *device, tz_error *err)
{
    return (tz_context){.name = device->info.id, .err = err, .ifd = -1};
}

void tz_device_lock(tz_device *device)
{
    if (device->process == getpid())
        pthread_mutex_lock(&device->lock);
}

void tz_device_unlock(tz_device *device)
{
    if (device->process == getpid())
        pthread_mutex_unlock(&device->lock);
}

/* ---- counts ---- */

static void count_into(tz_device_counts *counts, tz_device_call kind, uint64_t bytes)
{
    counts->allocations += kind == TZ_CALL_ALLOC;
    counts->pinned += kind == TZ_CALL_ALLOC_PINNED;
    counts->uploads += kind == TZ_CALL_UPLOAD;
    counts->upload_bytes += kind == TZ_CALL_UPLOAD ? bytes : 0;
    counts->downloads += kind == TZ_CALL_DOWNLOAD;
    counts->download_bytes += kind == TZ_CALL_DOWNLOAD ? bytes : 0;
    counts->launches += kind == TZ_CALL_LAUNCH;
    counts->library_calls += kind == TZ_CALL_DECODE || kind == TZ_CALL_ENCODE;
    counts->files += kind == TZ_CALL_OPEN_FILE;
    counts->shares += kind == TZ_CALL_SHARE;
    counts->read_calls += kind == TZ_CALL_BEGIN_READS;
    counts->read_bytes += kind == TZ_CALL_BEGIN_READS ? bytes : 0;
    counts->events += kind == TZ_CALL_RECORD;
    counts->syncs += kind == TZ_CALL_SYNC;
}

/* The peak of a wave begins at the bytes that are in use when it begins. */
static void count_bytes(tz_device_counts *counts, uint64_t now)
{
    counts->bytes_now = now;
    counts->bytes_peak = tz_max(counts->bytes_peak, now);
}

void tz_count_memory(tz_device *device, uint64_t size, bool is_more)
{
    const uint64_t before = device->all.bytes_now;
    const uint64_t now = is_more ? before + size : before - size;
    count_bytes(&device->all, now);
    count_bytes(&device->wave, now);
}

void tz_device_begin_wave(tz_device *device)
{
    tz_device_lock(device);
    device->wave = (tz_device_counts){0};
    count_bytes(&device->wave, device->all.bytes_now);
    tz_device_unlock(device);
}

void tz_device_get_counts(tz_device *device, tz_device_counts *all, tz_device_counts *wave)
{
    tz_device_lock(device);
    if (all)
        *all = device->all;
    if (wave)
        *wave = device->wave;
    tz_device_unlock(device);
}

/* ---- calls ---- */

void tz_device_observe(tz_device *device, tz_device_observer *observer, void *user)
{
    tz_device_lock(device);
    device->observer = observer;
    device->observer_user = user;
    tz_device_unlock(device);
}

tz_result tz_call_fail(const tz_device *device, tz_error *err, tz_result result, tz_cause cause,
                       tz_location location, const char *text)
{
    const tz_context ctx = context_of(device, err);
    return tz_fail(&ctx, result, cause, location, "%s", text);
}

tz_result tz_call_fail_argument(const tz_device *device, tz_location location, const char *text,
                                tz_error *err)
{
    return tz_call_fail(device, err, TZ_ERR_ARG, TZ_CAUSE_ARG, location, text);
}

bool tz_device_is_ours(const tz_device *device)
{
    return device->driver && device->process == getpid();
}

/* A failed device is remembered with its first failure, which does not change any more: it is read
 * without the lock. */
tz_result tz_call_begin(tz_call *call, tz_device *device, tz_device_call kind, uint32_t queue,
                        uint64_t bytes, tz_error *err)
{
    if (!device->driver)
        return tz_call_fail_argument(device, tz_no_location(),
                                     "the CPU has no memory, queues or kernels of its own", err);
    if (!tz_device_is_ours(device))
        return tz_call_fail(device, err, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                            "the device was opened before a fork, and only the parent can use it");
    if (queue != TZ_NO_QUEUE && queue >= TZ_QUEUES)
        return tz_call_fail_argument(device, tz_expecting(tz_no_location(), TZ_QUEUES - 1, queue),
                                     "there is no such queue", err);
    call->device = device;
    call->ctx = context_of(device, &call->error);
    tz_device_lock(device);
    const bool failed = device->failed;
    if (!failed) {
        count_into(&device->all, kind, bytes);
        count_into(&device->wave, kind, bytes);
        if (device->observer)
            device->observer(device->observer_user, kind, queue, bytes);
    }
    tz_device_unlock(device);
    if (!failed)
        return TZ_OK;
    const tz_context ctx = context_of(device, err);
    return tz_fail(&ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                   "the device failed before and must be closed; the first failure: %s",
                   device->first_failure.message);
}

tz_result tz_call_end(tz_call *call, tz_result result, tz_error *err)
{
    tz_device *device = call->device;
    if (result == TZ_OK)
        return TZ_OK;
    if (result == TZ_ERR_DEVICE) {
        tz_device_lock(device);
        if (!device->failed)
            device->first_failure = call->error;
        device->failed = true;
        tz_device_unlock(device);
    }
    if (err)
        *err = call->error;
    return result;
}
