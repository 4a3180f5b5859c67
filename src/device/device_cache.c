/* SPDX-License-Identifier: Apache-2.0
 * Memory that a device keeps between calls. Pinning host memory and registering device memory for
 * files take 0.2 to 0.35 ms for each MiB, more than many reads take. Pinned memory, and device
 * memory that is shared with files, therefore go to this cache when they are freed, and the next
 * call that needs no more takes them again. The cache holds up to
 * tz_device_options.max_pinned_bytes of each kind, and evicts the allocation that was unused for
 * longest. It keeps nothing of a device that failed, or in a child after fork. */
#include "device/device_state.h"

static tz_device_cache_kind kind_of(const tz_device_memory *memory)
{
    return memory->host ? TZ_DEVICE_CACHE_PINNED : TZ_DEVICE_CACHE_SHARED;
}

/* ---- with the lock held ---- */

static tz_device_memory remove_at(tz_device_cache *cache, unsigned index)
{
    const tz_device_memory taken = cache->allocations[index];
    cache->count--;
    for (unsigned i = index; i < cache->count; i++)
        cache->allocations[i] = cache->allocations[i + 1];
    return taken;
}

static uint64_t cached_bytes(const tz_device_cache *cache, tz_device_cache_kind kind)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < cache->count; i++)
        bytes += kind_of(&cache->allocations[i]) == kind ? cache->allocations[i].capacity : 0;
    return bytes;
}

/* Removes allocations until memory fits; returns their number. */
static unsigned evict_for(tz_device_cache *cache, const tz_device_memory *memory,
                          tz_device_memory *evicted)
{
    const tz_device_cache_kind kind = kind_of(memory);
    unsigned count = 0;
    while (cached_bytes(cache, kind) + memory->capacity > cache->limit) {
        unsigned oldest = 0;
        while (kind_of(&cache->allocations[oldest]) != kind)
            oldest++;
        evicted[count++] = remove_at(cache, oldest);
    }
    if (cache->count == TZ_DEVICE_CACHE_ALLOCATIONS)
        evicted[count++] = remove_at(cache, 0);
    return count;
}

/* ---- without the lock: these call the driver ---- */

static void release_allocations(tz_device *device, tz_device_memory *allocations, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (allocations[i].shared)
            device->driver->unshare_memory(device->state, &allocations[i]);
        device->driver->free(device->state, &allocations[i]);
    }
}

bool tz_device_cache_get(tz_device *device, tz_device_cache_kind kind, uint64_t size,
                         tz_device_memory *memory)
{
    tz_device_cache *cache = &device->cache;
    unsigned best = TZ_DEVICE_CACHE_ALLOCATIONS;
    if (!tz_device_is_ours(device))
        return false;
    tz_device_lock(device);
    for (unsigned i = 0; !device->failed && i < cache->count; i++) {
        const tz_device_memory *allocation = &cache->allocations[i];
        if (kind_of(allocation) == kind && allocation->capacity >= size &&
            (best == TZ_DEVICE_CACHE_ALLOCATIONS ||
             allocation->capacity < cache->allocations[best].capacity))
            best = i;
    }
    const bool found = best < TZ_DEVICE_CACHE_ALLOCATIONS;
    if (found) {
        *memory = remove_at(cache, best);
        memory->size = size;
        if (kind == TZ_DEVICE_CACHE_SHARED)
            tz_count_memory(device, memory->capacity, true);
    }
    tz_device_unlock(device);
    return found;
}

bool tz_device_cache_put(tz_device *device, const tz_device_memory *memory)
{
    tz_device_memory evicted[TZ_DEVICE_CACHE_ALLOCATIONS];
    tz_device_cache *cache = &device->cache;
    unsigned evicted_count = 0;
    if (!tz_device_is_ours(device) || memory->wrapped || !(memory->host || memory->shared) ||
        memory->capacity > cache->limit)
        return false;
    tz_device_lock(device);
    const bool caches = !device->failed;
    if (caches) {
        evicted_count = evict_for(cache, memory, evicted);
        cache->allocations[cache->count] = *memory;
        cache->allocations[cache->count].before = cache->allocations[cache->count].after = NULL;
        cache->count++;
    }
    tz_device_unlock(device);
    release_allocations(device, evicted, evicted_count);
    return caches;
}

bool tz_device_cache_release(tz_device *device)
{
    tz_device_cache evicted;
    tz_device_lock(device);
    evicted = device->cache;
    device->cache.count = 0;
    tz_device_unlock(device);
    if (tz_device_is_ours(device))
        release_allocations(device, evicted.allocations, evicted.count);
    return evicted.count > 0;
}

uint64_t tz_device_cache_device_bytes(tz_device *device)
{
    tz_device_lock(device);
    const uint64_t bytes = cached_bytes(&device->cache, TZ_DEVICE_CACHE_SHARED);
    tz_device_unlock(device);
    return bytes;
}
