/* SPDX-License-Identifier: Apache-2.0
 * Reads whose tiles are for the doubles of nvJPEG2000 and nvJPEG, on the double of libcuda: files
 * to read, and the cores' pixels to compare with. */
#ifndef TESTS_SUPPORT_PICTURE_CASE_H
#define TESTS_SUPPORT_PICTURE_CASE_H

#include "double/cuda_double.h"
#include "double/nv/pictures_double.h"
#include "support/raster_ways.h"
#include "support/tile_file.h"

extern cuda_double_control *pc_cuda;
extern pictures_double_control *pc_library; /* of nvJPEG2000 */

/* Of a test: all is forgotten; and nothing must be left, and nothing done that must not be. */
void pc_load(void);
int pc_begin(void **state);
int pc_end(void **state);
#define PC_TEST(test) cmocka_unit_test_setup_teardown(test, pc_begin, pc_end)

/* With this nvJPEG2000, and no other library. */
tz_device *pc_open(const char *library);
/* Without the trial of the library, which its first user makes. */
tz_device *pc_open_untried(const char *library);
void pc_close(tz_device *device);

/* A file, and what the cores read of a window of it. */
typedef struct pc_image {
    tz_memory memory; /* what it is in; or */
    tb *built;
    tz_file *file;
    tz_item item;
    size_t size; /* of either */
    uint8_t *expected, *found;
} pc_image;

/* Of a raster; a window of no width is all of it. */
pc_image pc_write(tz_dtype dtype, uint32_t bands, const tz_write_options *options,
                  tz_window window);
/* Tiles of 16 x 16 in one of the known streams. */
pc_image pc_tiles(int stream, uint32_t across, uint32_t down);
/* The same of a file that is built already, and is this one's then. */
pc_image pc_take(tb *built);
void pc_free(pc_image *image);

/* Read several into memory of the host, or of the device. */
tz_result pc_try(pc_image *const *images, size_t count, const tz_read_options *how, bool on_device,
                 tz_report *report, tz_error *err);
/* And all pixels are the cores'. */
tz_report pc_read(pc_image *image, const tz_read_options *how);
void pc_check(const pc_image *image);

/* Calls are kept from here on. */
void pc_keep_steps(void);
/* Those so far of functions whose name begins so, not the work that streams do later. */
size_t pc_calls(const char *begin);

#endif
