/* SPDX-License-Identifier: Apache-2.0
 * nvJPEG2000, found at run time. */
#ifndef TZ_DEVICE_NVIDIA_NVJPEG2K_H
#define TZ_DEVICE_NVIDIA_NVJPEG2K_H

#include <stdbool.h>

#include "device/nvidia/nvjpeg2k_api.h"

typedef struct tz_nvjpeg2k {
    char path[256]; /* where it is, or what was looked for */
    uint32_t major, minor, patch;
    tz_nvjpeg2k_api api;
} tz_nvjpeg2k;

/* Load it from the path or by the name that is given; NULL: look for it. False, with the reason,
 * when there is none, or none of a release that is known. */
bool tz_nvjpeg2k_load(tz_nvjpeg2k *nvjpeg2k, const char *library, char *reason, size_t reason_size);

const char *tz_nvjpeg2k_status_name(tz_nvjpeg2k_status status); /* never NULL */

#endif
