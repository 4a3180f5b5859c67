/* SPDX-License-Identifier: Apache-2.0
 * Estimates of what work takes on a device and on the CPU: whether it pays to give work to a device
 * that "auto" chose, and which tiles are too large for it. A device that was named is always used.
 *
 * The model is coarse and fixed, so that the same work always goes the same way. A device decodes
 * at a rate of its codec for each compute unit and GHz, and a single tile at a rate of its own for
 * each GHz, since one work-item decodes it; what kernels take to compile is not in it, since that
 * is paid once. bench/README.md has the choices for some reads and cards. */
#ifndef TZ_DEVICE_COST_H
#define TZ_DEVICE_COST_H

#include "device/device.h"

typedef struct tz_device_job {
    uint64_t bytes_compressed; /* in or out; of a write an estimate */
    uint64_t bytes_pixels;
    uint64_t bytes_pinned; /* that have to be pinned for it, and do not stay with the device */
    uint64_t tiles;
    uint64_t tiles_by_cores; /* of these: of codecs that the device lacks */
    uint16_t compression;    /* of most tiles */
    bool encodes;            /* a write, else a read */
    bool from_device;        /* a write: pixels are in its memory already */
    bool to_device;          /* a read: pixels are wanted there */
    bool by_library;         /* a vendor's library decodes or encodes */
    uint32_t threads;        /* of the CPU that would do it instead; 0: one */
} tz_device_job;

/* The device was opened as "auto". */
bool tz_device_is_auto(const tz_device *device);

/* False, with the reason in a line; a job without tiles never pays. A pure function of its
 * arguments. */
bool tz_device_pays(const tz_device_info *info, const tz_device_job *job, char *reason,
                    size_t reason_size);

/* Seconds that the device and the CPU are expected to take, of a job with tiles on a GPU. */
typedef struct tz_device_times {
    double device, cpu;
} tz_device_times;
tz_device_times tz_device_estimate(const tz_device_info *info, const tz_device_job *job);

/* The largest decoded tile that the device is given: a kernel may not run for seconds, or displays
 * freeze and drivers end it together with the context. UINT64_MAX: any. */
uint64_t tz_device_max_tile(const tz_device_info *info, uint16_t compression);

#endif
