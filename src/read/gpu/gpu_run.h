/* SPDX-License-Identifier: Apache-2.0
 * Carrying a plan out on a device. */
#ifndef TZ_READ_GPU_GPU_RUN_H
#define TZ_READ_GPU_GPU_RUN_H

#include "read/plan.h"

/* plan->device is set. Where the device has no memory for the smallest batch, or fails and no
 * buffer is in its memory, the CPU does it all, unless that is not allowed. plan->needs_bounce is
 * set where a buffer in device memory is left to do. */
tz_result tz_gpu_read(tz_plan *plan);

#endif
