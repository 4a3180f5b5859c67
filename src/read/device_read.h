/* SPDX-License-Identifier: Apache-2.0
 * Carrying a plan out on a device. */
#ifndef TZ_READ_DEVICE_READ_H
#define TZ_READ_DEVICE_READ_H

#include "read/plan.h"

/* plan->device is set. Where the device fails on the way, and no buffer is in its memory, the cores
 * do it all, unless that is not allowed. */
tz_result tz_device_read(tz_plan *plan);

#endif
