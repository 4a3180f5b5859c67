/* SPDX-License-Identifier: Apache-2.0
 * The kernels as text, for drivers that compile them where they run; made by the build, one for
 * each family of kernel_list.h. */
#ifndef TZ_DEVICE_KERNEL_TEXT_H
#define TZ_DEVICE_KERNEL_TEXT_H

#include <stddef.h>

#include "device/kernel_list.h"

typedef struct tz_kernel_text {
    const char **lines; /* OpenCL takes no constant one */
    size_t count;
} tz_kernel_text;

#define TZ_FAMILY_TEXT(family, text) extern const tz_kernel_text tz_kernel_text_##text;
TZ_FAMILY_LIST(TZ_FAMILY_TEXT)
#undef TZ_FAMILY_TEXT

#endif
