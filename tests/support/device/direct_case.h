/* SPDX-License-Identifier: Apache-2.0
 * Files on disk, read by the CPU and by the fake of libcuda with that of cuFile: pixels must be
 * the same, and nothing may be left of the reads. */
#ifndef TESTS_SUPPORT_DEVICE_DIRECT_CASE_H
#define TESTS_SUPPORT_DEVICE_DIRECT_CASE_H

#include "device/device.h"
#include "fakes/cuda/cuda_fake.h"
#include "fakes/nvidia/cufile_fake.h"
#include "support/check.h"
#include "support/plain_read.h"
#include "support/raster.h"

extern cuda_fake_control *direct_cuda;
extern cufile_fake_control *direct_control;
extern tz_device *direct_device; /* NULL: not open */

/* Setup and teardown of a group, and of a test: cuFile reads directly, and in batches. The teardown
 * closes the device, and fails where something lives or was misused. */
int direct_begin_all(void **state);
int direct_end_all(void **state);
int direct_begin(void **state);
int direct_end(void **state);
#define DIRECT(test) cmocka_unit_test_setup_teardown(test, direct_begin, direct_end)

/* Open the device with these fakes; nvCOMP's too where it is given. It keeps no memory between
 * reads, or as much as is said, so that each read shows all that it asks for. */
void direct_open(const char *cufile, const char *nvcomp);
void direct_open_keeping(const char *cufile, const char *nvcomp, uint64_t pinned_bytes);
void direct_close(void);

/* An image of bytes that do not compress. */
typedef struct direct_image {
    char path[256];
    tz_file *file;
    uint32_t width, height;
    uint64_t tiles;
    uint64_t size; /* of the file */
} direct_image;

/* So many tiles, or strips, of 64 x 64. */
direct_image direct_make(const char *name, uint32_t across, uint32_t down,
                         const tz_write_options *how);
tz_write_options direct_tiles(tz_compression compression);
void direct_drop(direct_image *i);

/* One read. */
typedef struct direct_read {
    bool to_device, strict;
    tz_window window;
    uint32_t level;
    uint64_t device_bytes;
    uint32_t threads;
    plain_outcome *outcome;
} direct_read;

/* Bytes of pixels: fresh, of malloc. */
tz_result direct_pixels(const direct_image *i, const direct_read *how, tz_device *device,
                        uint8_t **pixels, plain_report *report, tz_error *err);
size_t direct_pixel_count(const direct_image *i, const direct_read *how);

/* The device's pixels are those of the CPU. */
plain_report direct_check(const direct_image *i, const direct_read *how);

/* Calls of this function of the fakes, done or not. */
size_t direct_steps(const char *call);
/* Returns the index of a call among the steps; SIZE_MAX: there is none. */
size_t direct_first(const char *call);
size_t direct_last(const char *call);

/* The nth call of a function fails. */
void direct_fail(const char *function, uint64_t nth, int32_t code);

#endif
