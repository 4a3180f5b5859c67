/* SPDX-License-Identifier: Apache-2.0
 * Reads whose tiles are for the fakes of nvJPEG2000 and nvJPEG, on the fake of libcuda: files
 * to read, and the CPU's pixels to compare with. */
#ifndef TESTS_SUPPORT_DEVICE_CODESTREAM_CASE_H
#define TESTS_SUPPORT_DEVICE_CODESTREAM_CASE_H

#include "fakes/cuda/cuda_fake.h"
#include "fakes/nvidia/codestreams_fake.h"
#include "support/plain_read.h"
#include "support/raster_variants.h"
#include "support/tile_file.h"

extern cuda_fake_control *codestream_cuda;
extern codestreams_fake_control *codestream_library; /* of nvJPEG2000 */

/* Set-up and tear-down of a test: resets the fakes; checks for leaks and misuse. */
void codestream_load(void);
int codestream_begin(void **state);
int codestream_end(void **state);
#define CODESTREAM_TEST(test)                                                                      \
    cmocka_unit_test_setup_teardown(test, codestream_begin, codestream_end)

/* With this nvJPEG2000, and no other library. */
tz_device *codestream_open(const char *library);
/* Without the trial of the library, which its first user makes. */
tz_device *codestream_open_untried(const char *library);
void codestream_close(tz_device *device);

/* A file, and what the CPU reads of a window of it. */
typedef struct codestream_image {
    tz_memory memory; /* what it is in; or */
    tb *built;
    tz_file *file;
    plain_item item;
    size_t size; /* of either */
    uint8_t *expected, *found;
} codestream_image;

/* Writes a raster; a window of no width is all of it. */
codestream_image codestream_write(tz_dtype dtype, uint32_t bands, const tz_write_options *options,
                                  tz_window window);
/* Tiles of 16 x 16 in one of the known streams. */
codestream_image codestream_tiles(int stream, uint32_t across, uint32_t down);
/* The same of a file that is built already, and is this one's then. */
codestream_image codestream_take(tb *built);
void codestream_free(codestream_image *image);

/* Read several into memory of the host, or of the device. */
tz_result codestream_try(codestream_image *const *images, size_t count, const tz_read_options *how,
                         bool on_device, plain_report *report, tz_error *err);
/* And all pixels are the CPU's. */
plain_report codestream_read(codestream_image *image, const tz_read_options *how);
void codestream_check(const codestream_image *image);

/* Calls are kept from here on. */
void codestream_keep_steps(void);
/* Those so far of functions whose name begins so, not the work that streams do later. */
size_t codestream_calls(const char *begin);

#endif
