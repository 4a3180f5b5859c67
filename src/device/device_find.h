/* SPDX-License-Identifier: Apache-2.0
 * The drivers, and what each of them finds. */
#ifndef TZ_DEVICE_DEVICE_FIND_H
#define TZ_DEVICE_DEVICE_FIND_H

#include "device/driver.h"

extern const tz_driver *const tz_drivers[]; /* ended by NULL */

/* The caller's options, or defaults for what it does not know. */
tz_result tz_device_copy_options(tz_device_options *out, const tz_device_options *given,
                                 const tz_context *ctx);

/* As tz_device_list_make, but no device is opened: usable ones may turn out not to be. */
tz_result tz_device_list_unprobed(tz_device_list **out, const tz_device_options *options,
                                  tz_error *err);

void tz_cpu_describe(tz_device_info *info);

/* What a device of the driver can do: bits of tz_device_info.work. */
uint32_t tz_device_caps(const tz_driver *driver, const tz_device_info *info);

#endif
