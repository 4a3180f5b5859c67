/* SPDX-License-Identifier: Apache-2.0
 * An image that is larger than the memory of the device that writes it: 8192 x 8192 float32 in
 * batches of 512 rows, of the host and of the device, with and without overviews, while the device
 * holds 128 MB and the host what it may; where nvCOMP is there, it encodes the tiles. Where that is
 * slow, all is a sixteenth as wide and as high. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "support/alloc_hook.h"
#include "support/device/test_device.h"
#include "support/plain_read.h"
#include "support/raster.h"
#include "support/scratch.h"

#define MIB ((uint64_t)1 << 20)

typedef struct extent {
    uint32_t size, batch, tile; /* in pixels, rows; 0: the library's choice */
    uint64_t device_bytes;
} extent;

static const extent whole = {8192, 512, 0, 128000000};
static const extent sixteenth = {512, 32, 32, 128000000 / 256};
static const extent *extents = &whole;
#define SIZE  (extents->size)
#define BATCH (extents->batch)

static float value_at(uint32_t row, uint32_t column)
{
    const uint32_t noise = (row * 40503u + column * 9973u) % 61;
    return (float)(1000 + (row * 3 + column) % 4096) + (float)noise / 16;
}

static void fill(float *rows, uint32_t row)
{
    for (uint32_t y = 0; y < BATCH; y++)
        for (uint32_t x = 0; x < SIZE; x++)
            rows[(size_t)y * SIZE + x] = value_at(row + y, x);
}

/* Every second batch is on the device. */
static tz_result write_batch(tz_writer *writer, const float *rows, tz_device_memory *there,
                             uint32_t row, tz_error *err)
{
    tz_buffer buffer = {.struct_size = sizeof(tz_buffer),
                        .dtype = TZ_DTYPE_FLOAT32,
                        .bands = 1,
                        .height = BATCH,
                        .width = SIZE};
    if (row / BATCH % 2 == 0) {
        buffer.data = (void *)(uintptr_t)rows;
        return tz_write_rows(writer, &buffer, NULL, err);
    }
    plain_on_device(&buffer, there);
    const tz_result result =
        tz_device_copy_in(there, 0, rows, (uint64_t)BATCH * SIZE * sizeof *rows, err);
    return result == TZ_OK ? tz_write_rows(writer, &buffer, NULL, err) : result;
}

static void check_pixels(const char *path)
{
    tz_file *file = NULL;
    tz_error err;
    float *rows = malloc((size_t)BATCH * SIZE * sizeof *rows);
    assert_int_equal(tz_open(&file, path, NULL, &err), TZ_OK);
    for (uint32_t row = 0; row < SIZE; row += BATCH) {
        const plain_item item = {.file = file,
                                 .window = {.row = row, .width = SIZE, .height = BATCH},
                                 .into = {.data = rows,
                                          .dtype = TZ_DTYPE_FLOAT32,
                                          .bands = 1,
                                          .height = BATCH,
                                          .width = SIZE}};
        assert_int_equal(plain_read(&item, NULL, NULL, &err), TZ_OK);
        for (uint32_t y = 0; y < BATCH; y++)
            for (uint32_t x = 0; x < SIZE; x++)
                if (rows[(size_t)y * SIZE + x] != value_at(row + y, x))
                    fail_msg("row %u, column %u differs", row + y, x);
    }
    tz_close(file);
    free(rows);
}

static void check_library(const tz_write_report *report)
{
    const tz_device_use *use = report->device;
    assert_int_equal(use->library[0] != '\0', test_device_has_nvcomp());
    if (!test_device_has_nvcomp())
        return;
    assert_string_equal(use->library_reason, "");
    assert_int_equal(use->library_calls, use->waves);
    assert_int_equal(use->tiles, report->tiles);
    assert_true(use->waves > report->levels); /* there is no room for all at once */
}

static void write_large(bool cog)
{
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    const uint64_t there_bytes = (uint64_t)BATCH * SIZE * sizeof(float);
    float *rows = malloc(there_bytes);
    tz_device_memory *there = NULL;
    tz_writer *writer = NULL;
    SCOPED_WRITE_REPORT report = NULL;
    tz_device_counts wave;
    tz_error err = {0};
    spec.width = spec.height = SIZE;
    spec.bands = 1;
    spec.dtype = TZ_DTYPE_FLOAT32;
    options.device = test_device;
    options.max_device_bytes = extents->device_bytes;
    options.tile_width = options.tile_height = extents->tile;
    options.allow_vendor_codecs = test_device_has_nvcomp();
    options.cog = cog;
    options.no_sync = true;
    assert_int_equal(tz_device_memory_alloc(&there, test_device, there_bytes, &err), TZ_OK);
    tz_device_begin_wave(test_device);
    alloc_hook_install();
    assert_int_equal(tz_create(&writer, scratch_path("a.tif"), &spec, &options, &err), TZ_OK);
    for (uint32_t row = 0; row < SIZE; row += BATCH) {
        fill(rows, row);
        if (write_batch(writer, rows, there, row, &err) != TZ_OK)
            fail_msg("%s", err.message);
    }
    if (tz_commit(writer, &report, &err) != TZ_OK)
        fail_msg("%s", err.message);
    tz_writer_close(writer);
    const alloc_stats stats = alloc_hook_stats();
    alloc_hook_remove();
    tz_device_get_counts(test_device, NULL, &wave);
    assert_string_equal(report->device->reason, "");
    check_library(report);
    assert_true(wave.bytes_peak - there_bytes <= options.max_device_bytes);
    assert_true((wave.bytes_peak - there_bytes) * 10 >= report->device->memory * 9);
    assert_true(report->peak_host_bytes <= 256 * MIB);
    assert_true((uint64_t)stats.peak_bytes <= report->peak_host_bytes);
    tz_device_memory_free(there);
    free(rows);
    check_pixels(scratch_path("a.tif"));
}

static void a_plain_file(void **state)
{
    (void)state;
    write_large(false);
}

static void with_overviews(void **state)
{
    (void)state;
    write_large(true);
}

int main(void)
{
    if (test_device_is_slow())
        extents = &sixteenth;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_plain_file, scratch_begin, scratch_end),
        cmocka_unit_test_setup_teardown(with_overviews, scratch_begin, scratch_end),
    };
    return cmocka_run_group_tests(tests, test_device_begin, test_device_end);
}
