/* SPDX-License-Identifier: Apache-2.0
 * PoCL: a real OpenCL, on the cores. Tests that need it fail where it is not installed. */
#ifndef TESTS_DOUBLE_POCL_H
#define TESTS_DOUBLE_POCL_H

#include <terrazzo/terrazzo.h>

/* Open its device; ends the test when there is none. What it compiles is kept in the build tree. */
tz_device *pocl_open(const tz_device_options *options);

/* Setup and teardown of a group of tests: the device that they all use. Closing fails where
 * something was not released. */
extern tz_device *pocl_device;
int pocl_begin(void **state);
int pocl_end(void **state);

#endif
