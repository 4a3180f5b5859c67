/* SPDX-License-Identifier: Apache-2.0
 * What a device is made of, for the files that make up device.h. */
#ifndef TZ_DEVICE_DEVICE_STATE_H
#define TZ_DEVICE_DEVICE_STATE_H

#include <pthread.h>
#include <sys/types.h>

#include "device/device.h"
#include "device/device_cache.h"

struct tz_device {
    const tz_driver *driver; /* NULL: the cores */
    void *state;             /* the driver's */
    tz_device_info info;
    bool is_auto;          /* "auto" chose it */
    pid_t process;         /* that opened it */
    uint64_t memory_bytes; /* cap of the options; UINT64_MAX: none */
    pthread_mutex_t lock;  /* of all below; never held while the driver works */
    bool failed;
    tz_error first_failure;
    tz_device_memory *memory; /* all that lives */
    tz_device_cache cache;
    tz_device_event *events;
    tz_device_counts all, wave;
    bool records_timeline;
    tz_device_step *steps;
    size_t step_count, step_capacity;
    uint64_t steps_lost, next_sequence;
};

/* A call of the driver: begin it, run it with &call.ctx, end it with what it returned. */
typedef struct tz_call {
    tz_device *device;
    tz_error error;
    tz_context ctx;
} tz_call;

/* Not TZ_OK: the device has failed before, or it is the cores; do not call the driver. */
tz_result tz_call_begin(tz_call *call, tz_device *device, tz_device_call kind, uint32_t queue,
                        uint64_t bytes, tz_error *err);
/* Passes on what went wrong, and remembers it when the device failed. */
tz_result tz_call_end(tz_call *call, tz_result result, tz_error *err);
/* Reports a call that is refused before it begins. */
tz_result tz_call_fail(const tz_device *device, tz_error *err, tz_result result, tz_cause cause,
                       tz_location location, const char *text);
/* The same for a wrong argument: TZ_ERR_ARG. */
tz_result tz_call_fail_argument(const tz_device *device, tz_location location, const char *text,
                                tz_error *err);

/* Whether there is a driver, and this process may call it. */
bool tz_device_is_ours(const tz_device *device);

/* Its lock. A child after fork has one thread, and touches no lock of the parent. */
void tz_device_lock(tz_device *device);
void tz_device_unlock(tz_device *device);

/* With the lock held. */
void tz_count_memory(tz_device *device, uint64_t size, bool is_more);

#endif
