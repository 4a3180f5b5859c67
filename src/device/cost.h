/* SPDX-License-Identifier: Apache-2.0
 * Estimates of the time that a job takes on a device and on the CPU. They decide if a device that
 * "auto" chose does the job, and which tiles are too large for it. A device that the caller named
 * is always used.
 *
 * The model is coarse and fixed, so that the same job always runs on the same side. A device
 * decodes at a rate for each codec, compute unit and GHz; a single tile has a rate of its own for
 * each GHz, since one work-group decodes it. The time to compile kernels is left out, because it is
 * paid only once. bench/README.md has the choices for some reads and cards. */
#ifndef TZ_DEVICE_COST_H
#define TZ_DEVICE_COST_H

#include "device/device.h"

typedef struct tz_device_job {
    uint64_t bytes_compressed; /* an estimate for a write */
    uint64_t bytes_pixels;
    uint64_t bytes_pinned; /* to be pinned for this job only: they do not stay in the cache */
    uint64_t tiles;
    uint64_t tiles_on_cpu; /* tiles that the CPU has to do in either case */
    uint16_t compression;  /* of most tiles */
    bool encodes;          /* a write; false: a read */
    bool from_device;      /* a write: pixels are in device memory already */
    bool to_device;        /* a read: pixels are wanted in device memory */
    bool by_library;       /* a vendor's library decodes or encodes */
    uint32_t threads;      /* of the CPU if it does the job; 0: one */
} tz_device_job;

/* True if the device was opened as "auto". */
bool tz_device_is_auto(const tz_device *device);

/* True if the device is expected to be faster; false with the reason in one line. A job without
 * tiles never pays. A pure function of its arguments. */
bool tz_device_pays(const tz_device_info *info, const tz_device_job *job, char *reason,
                    size_t reason_size);

/* Expected seconds on the device and on the CPU, for a job with tiles on a GPU. */
typedef struct tz_device_times {
    double device, cpu;
} tz_device_times;
tz_device_times tz_device_estimate(const tz_device_info *info, const tz_device_job *job);

/* Bytes of the largest decoded tile that the device may get; UINT64_MAX: any. A kernel that runs
 * for seconds freezes displays, and drivers end it together with the context. */
uint64_t tz_device_max_tile(const tz_device_info *info, uint16_t compression);

#endif
