/* SPDX-License-Identifier: Apache-2.0
 * Memory that a device keeps between calls. Pinning host memory and registering device memory for
 * files take 0.2 to 0.35 ms a mebibyte, more than many reads take. So pinned memory, and device
 * memory that is shared with files, go back to the device when they are freed, and the next call
 * that needs no more takes them again. The device keeps up to tz_device_options.pinned_bytes of
 * each kind, and gives up what was not used for longest. Nothing is kept of a device that failed,
 * or in a child of fork. All functions take the device's lock themselves. */
#ifndef TZ_DEVICE_DEVICE_CACHE_H
#define TZ_DEVICE_DEVICE_CACHE_H

#include "device/driver.h"

#define TZ_DEVICE_CACHE_BYTES ((uint64_t)64 << 20) /* by default */
enum { TZ_DEVICE_CACHE_ALLOCATIONS = 16 };

typedef enum tz_device_cache_kind {
    TZ_DEVICE_CACHE_PINNED,
    TZ_DEVICE_CACHE_SHARED
} tz_device_cache_kind;

/* Pieces of both kinds, the longest unused first. */
typedef struct tz_device_cache {
    uint64_t limit;
    unsigned count;
    tz_device_memory allocations[TZ_DEVICE_CACHE_ALLOCATIONS];
} tz_device_cache;

/* Takes the smallest piece that has size bytes: *memory becomes it. Device memory counts as in use
 * from then on. */
bool tz_device_cache_get(tz_device *device, tz_device_cache_kind kind, uint64_t size,
                         tz_device_memory *memory);
/* Whether memory, which nobody uses any more, is kept: its handle is the device's then. */
bool tz_device_cache_put(tz_device *device, const tz_device_memory *memory);
/* Releases all that is kept; whether that was anything. */
bool tz_device_cache_release(tz_device *device);
/* Device memory that is kept, in bytes. */
uint64_t tz_device_cache_device_bytes(tz_device *device);

#endif
