/* SPDX-License-Identifier: Apache-2.0
 * Memory of a device: the guard of a plan, allocations, and the list of allocations in use.
 *
 * A plan asks once, before its first allocation, if all of it fits (tz_device_admit). The limit of
 * the options (max_device_bytes) holds at any time, also when several threads allocate: bytes are
 * reserved under the lock before the driver is called, and given back if the driver fails.
 *
 * Freed memory may stay in the cache (device_cache.c). Cached bytes count as free, because they are
 * released when an allocation does not fit or the driver has no more memory. */
#include "base/mem.h"
#include "device/device_state.h"

/* Eighths of the free memory that plans may use: drivers need some for programs, queues and staging
 * areas. */
#define USABLE_EIGHTHS 7u

static uint64_t bytes_now(tz_device *device)
{
    tz_device_counts all;
    tz_device_get_counts(device, &all, NULL);
    return all.bytes_now;
}

static uint64_t left_of(uint64_t whole, uint64_t used)
{
    return whole > used ? whole - used : 0;
}

tz_result tz_device_free_memory(tz_device *device, uint64_t *bytes, tz_error *err)
{
    tz_call call;
    uint64_t free_bytes = UINT64_MAX;
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_FREE_MEMORY, TZ_NO_QUEUE, 0, err));
    const tz_result result = device->driver->free_memory(device->state, &free_bytes, &call.ctx);
    TZ_TRY(tz_call_end(&call, result, err));
    const uint64_t used = bytes_now(device);
    if (free_bytes != UINT64_MAX)
        free_bytes = tz_add_capped(free_bytes, tz_device_cache_device_bytes(device));
    else if (device->info.memory_bytes > 0)
        free_bytes = left_of(device->info.memory_bytes, used);
    const uint64_t allowed = left_of(device->max_bytes, used);
    *bytes = tz_min(free_bytes, allowed);
    return TZ_OK;
}

bool tz_device_is_full(tz_result result, const tz_error *err)
{
    return result == TZ_ERR_NOMEM && err->cause == TZ_CAUSE_DEVICE;
}

static tz_result check_allocation(const tz_device *device, uint64_t size, tz_error *err)
{
    const uint64_t max_bytes = device->info.max_allocation_bytes;
    if (size == 0)
        return tz_call_fail_argument(device, tz_no_location(), "an allocation of 0 bytes", err);
    if (max_bytes == 0 || size <= max_bytes)
        return TZ_OK;
    return tz_call_fail(device, err, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                        tz_expecting(tz_no_location(), max_bytes, size),
                        "more bytes in one piece than the device allows");
}

uint64_t tz_device_usable(uint64_t free_bytes)
{
    return free_bytes / 8 * USABLE_EIGHTHS;
}

tz_result tz_device_admit(tz_device *device, const uint64_t *sizes, size_t count, tz_error *err)
{
    uint64_t sum = 0;
    uint64_t available;
    TZ_TRY(tz_device_free_memory(device, &available, err));
    for (size_t i = 0; i < count; i++) {
        TZ_TRY(check_allocation(device, sizes[i], err));
        sum = tz_add_capped(sum, sizes[i]);
    }
    available = tz_device_usable(available);
    if (sum <= available)
        return TZ_OK;
    return tz_call_fail(device, err, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                        tz_expecting(tz_no_location(), available, sum),
                        "the plan needs more device memory than is free");
}

/* ---- allocating ---- */

static void link_memory(tz_device *device, tz_device_memory *memory)
{
    tz_device_lock(device);
    memory->after = device->memory;
    if (device->memory)
        device->memory->before = memory;
    device->memory = memory;
    tz_device_unlock(device);
}

/* Counts size bytes as used if the limit allows it. */
static tz_result reserve_budget(tz_device *device, uint64_t size, tz_error *err)
{
    const uint64_t cached = tz_device_cache_device_bytes(device);
    if (cached > 0 && tz_add_capped(bytes_now(device), size) > left_of(device->max_bytes, cached))
        (void)tz_device_cache_release(device);
    tz_device_lock(device);
    const uint64_t available = left_of(device->max_bytes, device->all.bytes_now);
    if (size <= available)
        tz_count_memory(device, size, true);
    tz_device_unlock(device);
    if (size <= available)
        return TZ_OK;
    return tz_call_fail(device, err, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                        tz_expecting(tz_no_location(), available, size),
                        "more device memory than max_device_bytes allows");
}

static tz_result make_memory(const tz_device_memory *wanted, tz_device_memory **out, tz_error *err)
{
    tz_device_memory *memory = tz_alloc_zeroed(1, sizeof *memory);
    if (!memory) {
        const tz_context ctx = {.name = wanted->device->info.id, .err = err, .ifd = -1};
        return tz_fail_nomem(&ctx, sizeof *memory);
    }
    *memory = *wanted;
    memory->capacity = memory->size;
    *out = memory;
    return TZ_OK;
}

static tz_result call_alloc(tz_device *device, tz_device_memory *memory, tz_device_call kind,
                            tz_error *err)
{
    tz_call call;
    TZ_TRY(tz_call_begin(&call, device, kind, TZ_NO_QUEUE, memory->size, err));
    const tz_driver *driver = device->driver;
    tz_result (*function)(void *, tz_device_memory *, const tz_context *) =
        kind == TZ_CALL_WRAP           ? driver->wrap
        : kind == TZ_CALL_ALLOC_PINNED ? driver->alloc_pinned
                                       : driver->alloc;
    return tz_call_end(&call, function(device->state, memory, &call.ctx), err);
}

/* Takes pinned memory from the cache, or allocates. If the driver has no more memory, the cache is
 * released and the driver gets a second chance. */
static tz_result allocate(const tz_device_memory *wanted, tz_device_call kind,
                          tz_device_memory **out, tz_error *err)
{
    tz_device *device = wanted->device;
    tz_device_memory *memory = NULL;
    TZ_TRY(make_memory(wanted, &memory, err));
    tz_result result = TZ_OK;
    if (kind != TZ_CALL_ALLOC_PINNED ||
        !tz_device_cache_get(device, TZ_DEVICE_CACHE_PINNED, wanted->size, memory)) {
        result = call_alloc(device, memory, kind, err);
        if (result == TZ_ERR_NOMEM && tz_device_cache_release(device))
            result = call_alloc(device, memory, kind, err);
    }
    if (result != TZ_OK) {
        tz_free(memory);
        return result;
    }
    link_memory(device, memory);
    *out = memory;
    return TZ_OK;
}

/* Allocates device memory within the limit. An error because of full memory also says how many
 * bytes are free. */
static tz_result allocate_counted(const tz_device_memory *wanted, tz_device_memory **out,
                                  tz_error *err)
{
    tz_device *device = wanted->device;
    tz_error failed = {.result = TZ_OK};
    TZ_TRY(check_allocation(device, wanted->size, err));
    TZ_TRY(reserve_budget(device, wanted->size, err));
    const tz_result result = allocate(wanted, TZ_CALL_ALLOC, out, &failed);
    if (result == TZ_OK)
        return TZ_OK;
    tz_device_lock(device);
    tz_count_memory(device, wanted->size, false);
    tz_device_unlock(device);
    if (tz_device_is_full(result, &failed)) {
        const tz_context ctx = {.err = err, .ifd = -1};
        uint64_t bytes = TZ_NO_VALUE;
        (void)tz_device_free_memory(device, &bytes, NULL);
        return tz_fail(&ctx, TZ_ERR_NOMEM, TZ_CAUSE_DEVICE,
                       tz_expecting(tz_no_location(), bytes, wanted->size), "%s", failed.message);
    }
    if (err)
        *err = failed;
    return result;
}

tz_result tz_device_memory_alloc(tz_device_memory **out, tz_device *device, uint64_t size,
                                 tz_error *err)
{
    const tz_device_memory wanted = {.device = device, .size = size, .plain = true};
    return allocate_counted(&wanted, out, err);
}

tz_result tz_device_alloc_own(tz_device *device, uint64_t size, tz_device_memory **out,
                              tz_error *err)
{
    const tz_device_memory wanted = {.device = device, .size = size};
    return allocate_counted(&wanted, out, err);
}

bool tz_device_caches_pinned(const tz_device *device, uint64_t size)
{
    return size <= device->cache.limit;
}

tz_result tz_device_alloc_pinned(tz_device *device, uint64_t size, tz_device_memory **out,
                                 tz_error *err)
{
    const tz_device_memory wanted = {.device = device, .size = size};
    TZ_TRY(check_allocation(device, size, err));
    return allocate(&wanted, TZ_CALL_ALLOC_PINNED, out, err);
}

tz_result tz_device_reuse_shared(tz_device *device, uint64_t size, tz_device_memory **out,
                                 tz_error *err)
{
    const tz_device_memory wanted = {.device = device, .size = size};
    tz_device_memory *memory = NULL;
    TZ_TRY(make_memory(&wanted, &memory, err));
    if (tz_device_cache_get(device, TZ_DEVICE_CACHE_SHARED, size, memory)) {
        link_memory(device, memory);
    } else {
        tz_free(memory);
        memory = NULL;
    }
    *out = memory;
    return TZ_OK;
}

tz_result tz_device_wrap(tz_device_memory **out, tz_device *device, void *handle, uint64_t size,
                         tz_error *err)
{
    if (!handle)
        return tz_call_fail_argument(device, tz_no_location(), "handle is NULL", err);
    const tz_device_memory wanted = {
        .device = device, .size = size, .handle = handle, .wrapped = true};
    return allocate(&wanted, TZ_CALL_WRAP, out, err);
}

void tz_device_memory_free(tz_device_memory *memory)
{
    tz_call call;
    if (!memory)
        return;
    tz_device *device = memory->device;
    /* Cached before its bytes are subtracted: the limit of max_device_bytes holds at any time. */
    const bool is_cached = tz_device_cache_put(device, memory);
    tz_device_lock(device);
    if (memory->before)
        memory->before->after = memory->after;
    else
        device->memory = memory->after;
    if (memory->after)
        memory->after->before = memory->before;
    if (!memory->host && !memory->wrapped)
        tz_count_memory(device, memory->capacity, false);
    tz_device_unlock(device);
    if (is_cached) {
        tz_free(memory);
        return;
    }
    /* A device that failed releases its memory all the same. */
    (void)tz_call_begin(&call, device, TZ_CALL_FREE, TZ_NO_QUEUE, memory->size, NULL);
    if (tz_device_is_ours(device)) {
        if (memory->shared)
            device->driver->unshare_memory(device->state, memory);
        device->driver->free(device->state, memory);
    }
    tz_free(memory);
}

/* ---- for users ---- */

uint64_t tz_device_memory_get_size(const tz_device_memory *memory)
{
    return memory->size;
}

void *tz_device_memory_get_handle(const tz_device_memory *memory)
{
    return memory->handle;
}

tz_device *tz_device_memory_get_device(const tz_device_memory *memory)
{
    return memory->device;
}

/* Waits also for a copy that failed: a part of it may be in flight. */
static tz_result end_copy(tz_device *device, tz_result result, tz_error *err)
{
    const tz_result ended = tz_device_sync(device, 0, result == TZ_OK ? err : NULL);
    return result == TZ_OK ? ended : result;
}

tz_result tz_device_copy_in(tz_device_memory *to, uint64_t offset, const void *from, uint64_t size,
                            tz_error *err)
{
    TZ_TRY(tz_device_wait_for_native_stream(to->device, err));
    return end_copy(to->device, tz_device_upload(0, to, offset, from, size, err), err);
}

tz_result tz_device_copy_out(void *to, const tz_device_memory *from, uint64_t offset, uint64_t size,
                             tz_error *err)
{
    TZ_TRY(tz_device_wait_for_native_stream(from->device, err));
    return end_copy(from->device, tz_device_download(0, to, from, offset, size, err), err);
}
