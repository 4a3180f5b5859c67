/* SPDX-License-Identifier: Apache-2.0
 * Rows in the memory of a device, given to a writer. */
#ifndef TESTS_SUPPORT_DEVICE_DEVICE_ROWS_H
#define TESTS_SUPPORT_DEVICE_DEVICE_ROWS_H

#include "support/raster.h"

/* A copy of a buffer of the host, with the same strides, in the memory of a device; released by
 * tz_device_memory_free(copy.data). */
tz_buffer device_rows_copy(tz_device *device, const tz_buffer *host);
/* Fails when it is not what the buffer of the host is. */
void device_rows_check(const tz_buffer *copy, const tz_buffer *host);

/* raster_try, but all rows are in the memory of options->device: those of pixels, in its layout.
 * Afterwards they must be there unchanged. */
tz_result device_rows_try(const raster *r, const tz_write_options *options,
                          const raster_variant *way, const tz_buffer *pixels, tz_memory *out,
                          tz_write_report **report, tz_error *err);
tz_memory device_rows_write(const raster *r, const tz_write_options *options,
                            const raster_variant *way, const tz_buffer *pixels,
                            tz_write_report **report);

#endif
