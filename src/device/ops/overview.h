/* SPDX-License-Identifier: Apache-2.0
 * Rows of a smaller level made by a device of those of the larger one, by all methods, with the
 * samples that tz_overview_make makes, bit for bit. */
#ifndef TZ_DEVICE_OPS_OVERVIEW_H
#define TZ_DEVICE_OPS_OVERVIEW_H

#include "device/device.h"
#include "pixel/overview_pixels.h"

/* One level on its way. Weights are made by the host: across once, down for some rows at a time. */
typedef struct tz_overview_builder tz_overview_builder;

/* Whether a device can do it; else the cores do. Without double precision these are nearest, and
 * averages of two by two integers. */
bool tz_device_makes_overviews(const tz_device *device, const tz_overview_params *how);

/* Device memory that it takes, for runs of at most so many new rows. */
uint64_t tz_overview_builder_bytes(const tz_overview_params *how, uint32_t rows);
/* And memory of the host. */
uint64_t tz_overview_builder_host_bytes(const tz_overview_params *how, uint32_t rows);

/* memory: tz_overview_builder_bytes from offset (a multiple of 64) on are the reducer's until it is
 * freed. Waits until its tables are there. */
tz_result tz_overview_builder_make(tz_overview_builder **out, const tz_overview_params *how,
                                   uint32_t rows, tz_device_memory *memory, uint64_t offset,
                                   tz_error *err);
void tz_overview_builder_free(
    tz_overview_builder *builder); /* NULL is fine; nothing is under way */

/* New rows first to first + rows - 1, whole ones, of all bands, and of the mask where there is one
 * (mask NULL or without memory: none). All buffers have memory of the device and resolved strides;
 * old and new rows do not overlap. One upload and one launch. Runs of a reducer are put into one
 * queue, one after the other; nothing is waited for, but a run before the last one. */
tz_result tz_overview_builder_run(tz_overview_builder *builder, const tz_overview_source *from,
                                  uint32_t first, uint32_t rows, const tz_buffer *pixels,
                                  const tz_buffer *mask, uint32_t queue, tz_error *err);

#endif
