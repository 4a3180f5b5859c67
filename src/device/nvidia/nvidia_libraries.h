/* SPDX-License-Identifier: Apache-2.0
 * NVIDIA's libraries, as the list of devices tells of them. */
#ifndef TZ_DEVICE_NVIDIA_NVIDIA_LIBRARIES_H
#define TZ_DEVICE_NVIDIA_NVIDIA_LIBRARIES_H

#include <terrazzo/terrazzo.h>

#define TZ_NVIDIA_LIBRARY_COUNT 4u

/* Load each, or say why that cannot be done. */
void tz_nvidia_libraries_find(tz_library_info out[TZ_NVIDIA_LIBRARY_COUNT],
                              const tz_device_options *options);

#endif
