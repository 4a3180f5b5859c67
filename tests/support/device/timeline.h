/* SPDX-License-Identifier: Apache-2.0
 * The calls of a device's driver in their order, for tests that look at them. One device is
 * recorded at a time. Steps stay until the next recording starts, also if the device is closed
 * before. */
#ifndef TESTS_SUPPORT_DEVICE_TIMELINE_H
#define TESTS_SUPPORT_DEVICE_TIMELINE_H

#include <pthread.h>
#include <stdlib.h>

#include "device/device.h"
#include "support/check.h"

typedef struct timeline_step {
    uint64_t thread; /* a number for each thread */
    tz_device_call call;
    uint32_t queue; /* TZ_NO_QUEUE: none */
    uint64_t bytes;
} timeline_step;

typedef struct timeline_steps {
    timeline_step *steps;
    size_t count, capacity;
} timeline_steps;

static timeline_steps timeline;

/* The device holds its lock. */
static void timeline_add(void *user, tz_device_call call, uint32_t queue, uint64_t bytes)
{
    timeline_steps *t = user;
    if (t->count == t->capacity) {
        t->capacity = t->capacity ? 2 * t->capacity : 64;
        t->steps = realloc(t->steps, t->capacity * sizeof *t->steps);
        assert_non_null(t->steps);
    }
    t->steps[t->count++] = (timeline_step){(uint64_t)pthread_self(), call, queue, bytes};
}

static inline void timeline_start(tz_device *device)
{
    timeline.count = 0;
    tz_device_observe(device, timeline_add, &timeline);
}

static inline void timeline_stop(tz_device *device)
{
    tz_device_observe(device, NULL, NULL);
}

#endif
