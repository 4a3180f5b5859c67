/* SPDX-License-Identifier: Apache-2.0
 * The device of test programs whose reads and writes are wrapped: see on_device_read.c and
 * on_device_write.c. */
#ifndef TESTS_SUPPORT_DEVICE_ON_DEVICE_H
#define TESTS_SUPPORT_DEVICE_ON_DEVICE_H

#include <stdbool.h>
#include <terrazzo/terrazzo.h>

extern tz_device *on_device;
extern _Atomic unsigned on_device_calls; /* reads and writes that were given to it */

/* Returns true if this one of all reads or writes goes to the device: a slow device gets some. */
bool on_device_takes(unsigned number);

/* TERRAZZO_TEST_NEEDED has words for what fakes of NVIDIA's libraries must have done by the end:
 * TIFF's number of a codec, tiles that one of them decoded or encoded; "cufile", bytes that it
 * read. Whether there are such words; and what one read or write did. */
bool on_device_needs_libraries(void);
void on_device_count(uint16_t compression, const tz_device_use *use);

#endif
