/* SPDX-License-Identifier: Apache-2.0
 * Carrying a plan out on the CPU's cores. */
#ifndef TZ_READ_CPU_READ_H
#define TZ_READ_CPU_READ_H

#include "read/plan.h"

tz_result tz_cpu_read(tz_plan *plan);

#endif
