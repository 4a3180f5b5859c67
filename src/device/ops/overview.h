/* SPDX-License-Identifier: Apache-2.0
 * Overviews made on a device: rows of a smaller level from rows of the larger one, by all methods.
 * The samples are those of tz_overview_make, bit for bit. */
#ifndef TZ_DEVICE_OPS_OVERVIEW_H
#define TZ_DEVICE_OPS_OVERVIEW_H

#include "device/device.h"
#include "pixel/overview_level.h"

/* The state of one level. The host makes the weights: across once, down for each run. */
typedef struct tz_overview_builder tz_overview_builder;

/* True if the device can make such overviews; if not, the CPU has to. A device without double
 * precision makes nearest, and averages of two by two integers. */
bool tz_device_makes_overviews(const tz_device *device, const tz_overview_params *how);

/* Device memory of a builder whose runs make at most `rows` new rows. */
uint64_t tz_overview_builder_bytes(const tz_overview_params *how, uint32_t rows);
/* Host memory of the same builder. */
uint64_t tz_overview_builder_host_bytes(const tz_overview_params *how, uint32_t rows);

/* The builder uses tz_overview_builder_bytes of memory from offset (a multiple of 64) on, until it
 * is freed. Returns when its tables are uploaded. */
tz_result tz_overview_builder_make(tz_overview_builder **out, const tz_overview_params *how,
                                   uint32_t rows, tz_device_memory *memory, uint64_t offset,
                                   tz_error *err);
/* All runs must be done. NULL is fine. */
void tz_overview_builder_free(tz_overview_builder *builder);

/* Makes new rows first to first + rows - 1, whole ones, of all bands, and of the mask if there is
 * one (mask NULL or without memory: none). All buffers are in device memory and have resolved
 * strides; old and new rows do not overlap. Takes one upload and one launch. The runs of a builder
 * are put into one queue, one after the other. The call waits for nothing but the run before the
 * last one. */
tz_result tz_overview_builder_run(tz_overview_builder *builder, const tz_overview_source *from,
                                  uint32_t first, uint32_t rows, const tz_pixel_buffer *pixels,
                                  const tz_pixel_buffer *mask, uint32_t queue, tz_error *err);

#endif
