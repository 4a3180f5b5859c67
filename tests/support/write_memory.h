/* SPDX-License-Identifier: Apache-2.0
 * A write whose memory is counted at every allocation. Pixels are made up as they are given, so
 * that nothing but the writer holds any. */
#ifndef TESTS_SUPPORT_WRITE_MEMORY_H
#define TESTS_SUPPORT_WRITE_MEMORY_H

#include "support/raster.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

typedef struct write_memory {
    uint32_t width, height, bands;
    tz_dtype dtype;
    tz_compression compression;
    uint32_t threads;
    uint64_t buffer_bytes;
    bool mask, pull, columns, strips;
    bool cog, inserts; /* the sink can make room at its front */
    tz_resampling method;
    tz_interleave interleave;
    uint32_t tile; /* width and height; 0: the default */
    tz_device *device;
    uint64_t device_bytes;
} write_memory;

/* Sets the image and the options of the write. */
void write_memory_describe(const write_memory *c, tz_image_spec *spec, tz_write_options *options);

/* Writes it, and fails the test when more was held than planned, or more planned than allowed. What
 * the copy of the report points to is valid until the next run. */
tz_write_report write_memory_run(const write_memory *c);

#endif
