/* SPDX-License-Identifier: Apache-2.0
 * How many cores control groups leave to this process. */
#ifndef TZ_BASE_CPU_QUOTA_H
#define TZ_BASE_CPU_QUOTA_H

/* The smallest CPU quota of the process' control group and all those around it, v1 and v2, rounded
 * up to whole cores; 0 when there is none. root stands in front of /proc and /sys: "" but in tests.
 */
unsigned tz_cpu_quota(const char *root);

#endif
