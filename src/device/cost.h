/* SPDX-License-Identifier: Apache-2.0
 * Whether it pays to give work to a device that "auto" chose. A device that was named is always
 * used.
 *
 * The model is coarse and fixed, so that the same work always goes the same way: bytes over the bus
 * at a rate, a batch at a fixed cost, pixels at a rate of their codec, on the device and on each
 * core, and a single tile at a rate of its own, since a device decodes a tile slower than a core
 * does. What the compiler of the kernels takes is not in it: that is paid once. */
#ifndef TZ_DEVICE_COST_H
#define TZ_DEVICE_COST_H

#include "device/device.h"

typedef struct tz_device_job {
    uint64_t bytes_compressed; /* in or out; of a write an estimate */
    uint64_t bytes_pixels;
    uint64_t tiles;
    uint64_t tiles_by_cores; /* of these: of codecs that the device lacks */
    uint16_t compression;    /* of most tiles */
    bool encodes;            /* a write, else a read */
    bool from_device;        /* a write: pixels are in its memory already */
    bool to_device;          /* a read: pixels are wanted there */
    uint32_t threads;        /* of the cores that would do it instead; 0: one */
} tz_device_job;

/* The device was opened as "auto". */
bool tz_device_is_auto(const tz_device *device);

/* False, with the reason in a line; a job without tiles never pays. A pure function of its
 * arguments. */
bool tz_device_pays(const tz_device_info *info, const tz_device_job *job, char *reason,
                    size_t reason_size);

#endif
