/* SPDX-License-Identifier: Apache-2.0
 * The device of test programs whose reads and writes are wrapped: see on_device_read.c and
 * on_device_write.c. */
#ifndef TESTS_SUPPORT_ON_DEVICE_H
#define TESTS_SUPPORT_ON_DEVICE_H

#include <stdbool.h>
#include <terrazzo/terrazzo.h>

extern tz_device *on_device;
extern _Atomic unsigned on_device_calls; /* reads and writes that were given to it */

/* Whether this one, of all reads or writes, is to be given to it: where that is slow, some are. */
bool on_device_takes(unsigned number);

#endif
