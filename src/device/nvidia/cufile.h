/* SPDX-License-Identifier: Apache-2.0
 * cuFile, found at run time. */
#ifndef TZ_DEVICE_NVIDIA_CUFILE_H
#define TZ_DEVICE_NVIDIA_CUFILE_H

#include <stdbool.h>

#include "device/nvidia/cufile_api.h"

typedef struct tz_cufile {
    char path[256]; /* where it is, or what was looked for */
    uint32_t major, minor, patch;
    tz_cufile_api api;
} tz_cufile;

/* Load it from the path or by the name that is given; NULL: look for it. False, with the reason,
 * when there is none, or none of a release that is known. */
bool tz_cufile_load(tz_cufile *cufile, const char *library, char *reason, size_t reason_size);

const char *tz_cufile_error_name(int32_t err); /* never NULL */

#endif
