/* SPDX-License-Identifier: Apache-2.0
 * Writes whose tiles a fake of nvCOMP encodes, on the fake of libcuda. */
#ifndef TESTS_SUPPORT_DEVICE_NVCOMP_WRITE_H
#define TESTS_SUPPORT_DEVICE_NVCOMP_WRITE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "fakes/cuda/cuda_fake.h"
#include "support/device/cuda_steps.h"
#include "support/device/library_report.h"
#include "support/device/library_text.h"
#include "support/raster_variants.h"

static const char *const libraries[] = {NVCOMP_FAKE_4, NVCOMP_FAKE_5, NVCOMP_FAKE_6};
static const char *const names[] = {"nvCOMP 4.2.0", "nvCOMP 5.3.0", "nvCOMP 6.0.0"};
static const tz_compression codecs[] = {TZ_COMPRESSION_DEFLATE, TZ_COMPRESSION_ZSTD,
                                        TZ_COMPRESSION_LZ4};
enum { RELEASES = 3, CODECS = 3 };

static cuda_fake_control *control; /* set by main */

static inline int begin(void **state)
{
    (void)state;
    cuda_fake_reset(control);
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    if (control->fault[0])
        print_message("%s\n", control->fault);
    return control->live != 0 || control->fault[0] != '\0';
}

#define NVCOMP(test) cmocka_unit_test_setup_teardown(test, begin, end)

static inline tz_result open_with(tz_device **out, const char *library, tz_error *err)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    library_set(&how, "cuda", CUDA_FAKE);
    library_set(&how, "nvcomp", library);
    return tz_device_open(out, "cuda:0", &how, err);
}

static inline tz_device *open_device(const char *library)
{
    tz_device *device = NULL;
    tz_error err;
    assert_int_equal(open_with(&device, library, &err), TZ_OK);
    steps_try_libraries(device);
    return device;
}

static inline void close_it(tz_device *device)
{
    tz_error err;
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
}

static inline tz_write_options options_of(tz_compression compression, tz_device *device)
{
    tz_write_options options = raster_small_tiles(compression);
    options.tile_width = options.tile_height = 16;
    options.device = device;
    options.allow_vendor_codecs = true;
    options.verify = TZ_VERIFY_ALL;
    options.threads = 1;
    return options;
}

/* Writes it; the CPU reads the raster's pixels. The caller frees the report. */
static inline tz_write_report *write_right(const raster *r, const tz_write_options *options,
                                           const raster_variant *way)
{
    tz_write_report *report = NULL;
    tz_memory out = raster_write(r, options, way, &report);
    raster_check(r, &out, NAN);
    tz_memory_free(&out);
    return report;
}

#endif
