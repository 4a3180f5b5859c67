/* SPDX-License-Identifier: Apache-2.0
 * Whether it pays to give work to a device that "auto" chose. A device that was named is always
 * used. */
#ifndef TZ_DEVICE_COST_H
#define TZ_DEVICE_COST_H

#include "device/device.h"

typedef struct tz_device_job {
    uint64_t bytes_compressed; /* in or out */
    uint64_t bytes_pixels;
    uint64_t tiles;
    uint64_t tiles_by_cores; /* of these: of codecs that the device lacks */
    uint16_t compression;    /* of most tiles */
    bool from_device;        /* pixels are in its memory already */
    bool to_device;          /* pixels are wanted there */
} tz_device_job;

/* The device was opened as "auto". */
bool tz_device_is_auto(const tz_device *device);

/* False, with the reason in a line. A pure function of its arguments. */
bool tz_device_pays(const tz_device_info *info, const tz_device_job *job, char *reason,
                    size_t reason_size);

#endif
