/* SPDX-License-Identifier: Apache-2.0
 * The inside of a device, for the files that implement device.h and for those of ops/. */
#ifndef TZ_DEVICE_DEVICE_STATE_H
#define TZ_DEVICE_DEVICE_STATE_H

#include <pthread.h>
#include <sys/types.h>

#include "device/device.h"

/* ---- memory that a device keeps between calls: device_cache.c ---- */

#define TZ_DEVICE_CACHE_BYTES ((uint64_t)64 << 20) /* by default */
enum { TZ_DEVICE_CACHE_ALLOCATIONS = 16 };

typedef enum tz_device_cache_kind {
    TZ_DEVICE_CACHE_PINNED,
    TZ_DEVICE_CACHE_SHARED
} tz_device_cache_kind;

/* Allocations of both kinds, the one that was unused for longest first. */
typedef struct tz_device_cache {
    uint64_t limit; /* bytes of each kind */
    unsigned count;
    tz_device_memory allocations[TZ_DEVICE_CACHE_ALLOCATIONS];
} tz_device_cache;

/* ---- a device ---- */

struct tz_device {
    const tz_driver *driver; /* NULL: the CPU */
    void *state;             /* the driver's */
    tz_device_info info;     /* its texts are the next member */
    tz_device_texts texts;
    bool is_auto;       /* opened as "auto" */
    pid_t process;      /* the process that opened it */
    uint64_t max_bytes; /* limit of the options; UINT64_MAX: none */
    /* Guards all members below. Never held during a call of the driver. */
    pthread_mutex_t lock;
    bool failed;
    tz_error first_failure;   /* does not change any more once failed is set */
    tz_device_memory *memory; /* list of all allocations in use */
    tz_device_cache cache;
    tz_device_event *events; /* list of all events */
    tz_device_counts all, wave;
    tz_device_observer *observer; /* of tests; NULL: none */
    void *observer_user;
};

/* True if there is a driver and this process may call it. */
bool tz_device_is_ours(const tz_device *device);

/* A child after fork has one thread, and does not touch the lock of its parent. */
void tz_device_lock(tz_device *device);
void tz_device_unlock(tz_device *device);

/* ---- calls of the driver: device_calls.c ---- */

/* A call in progress: begin it, pass &call.ctx to the driver, end it with the driver's result. */
typedef struct tz_call {
    tz_device *device;
    tz_error error;
    tz_context ctx;
} tz_call;

/* Counts the call. Fails if the device has failed before or is the CPU; the driver must not be
 * called then. */
tz_result tz_call_begin(tz_call *call, tz_device *device, tz_device_call kind, uint32_t queue,
                        uint64_t bytes, tz_error *err);
/* Passes on the error of the driver, and remembers it if the device failed. */
tz_result tz_call_end(tz_call *call, tz_result result, tz_error *err);
/* Reports a call that is refused before it begins. */
tz_result tz_call_fail(const tz_device *device, tz_error *err, tz_result result, tz_cause cause,
                       tz_location location, const char *text);
/* The same for a wrong argument: TZ_ERR_ARG. */
tz_result tz_call_fail_argument(const tz_device *device, tz_location location, const char *text,
                                tz_error *err);

/* Adds size to the bytes in use, or subtracts it. The lock is held. */
void tz_count_memory(tz_device *device, uint64_t size, bool is_more);

/* ---- the cache: functions take the lock themselves ---- */

/* Takes the smallest allocation of at least size bytes out of the cache. Device memory counts as in
 * use from then on. False if there is none. */
bool tz_device_cache_get(tz_device *device, tz_device_cache_kind kind, uint64_t size,
                         tz_device_memory *memory);
/* Keeps memory that nobody uses any more: its handle is then the cache's. False if it is not kept.
 */
bool tz_device_cache_put(tz_device *device, const tz_device_memory *memory);
/* Releases all allocations of the cache; true if there were any. */
bool tz_device_cache_release(tz_device *device);
/* Bytes of device memory in the cache. */
uint64_t tz_device_cache_device_bytes(tz_device *device);

/* ---- options: device_setup.c ---- */

/* Copies the caller's options; members that the caller's version does not have get defaults. An
 * unknown library is TZ_ERR_ARG. After TZ_OK the caller deinitialises it. */
tz_result tz_device_setup_init(tz_device_setup *setup, const tz_device_options *given,
                               const tz_context *ctx);
void tz_device_setup_deinit(tz_device_setup *setup);

/* ---- drivers and devices: device_find.c, device_caps.c ---- */

extern const tz_driver *const tz_drivers[]; /* ended by NULL */

/* tz_device_list_create without opening any device: one that is listed as usable may turn out not
 * to be. */
tz_result tz_device_list_unprobed(tz_device_list **out, const tz_device_setup *setup,
                                  const tz_context *ctx);

void tz_cpu_describe(tz_device_info *info, tz_device_texts *texts);

/* The capabilities of a device of the driver: bits of tz_device_info.caps. */
uint32_t tz_device_caps(const tz_driver *driver, const tz_device_info *info);
/* All capabilities that have a name; the CPU has them all. */
uint32_t tz_device_all_caps(void);

#endif
