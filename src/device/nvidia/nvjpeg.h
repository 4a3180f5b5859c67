/* SPDX-License-Identifier: Apache-2.0
 * nvJPEG, found at run time. */
#ifndef TZ_DEVICE_NVIDIA_NVJPEG_H
#define TZ_DEVICE_NVIDIA_NVJPEG_H

#include <stdbool.h>

#include "device/nvidia/nvjpeg_api.h"

typedef struct tz_nvjpeg {
    char path[256]; /* where it is, or what was looked for */
    uint32_t major, minor, patch;
    tz_nvjpeg_api api;
} tz_nvjpeg;

/* Load it from the path or by the name that is given; NULL: look for it. False, with the reason,
 * when there is none, or none of a release that is known. */
bool tz_nvjpeg_load(tz_nvjpeg *nvjpeg, const char *library, char *reason, size_t reason_size);

const char *tz_nvjpeg_status_name(tz_nvjpeg_status status); /* never NULL */

#endif
