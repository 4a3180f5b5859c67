/* SPDX-License-Identifier: Apache-2.0
 * A card that is short of memory or time: make test-gpu runs this among the first, and its
 * report has the lines that begin with "report: ". On the fakes it shows that the checks work. */
#include <stdlib.h>
#include <string.h>

#include "device/cost.h"
#include "device/cuda/cuda_internal.h"
#include "device/device_state.h"
#include "support/check.h"
#include "support/device/test_device.h"
#include "support/plain_read.h"
#include "support/raster_variants.h"

#define TOLD(...) print_message("report: " __VA_ARGS__)

enum { SIDE = 3072, TILE = 256 };

/* 9 MiB of one band, as one strip in Deflate or in tiles that are not encoded. */
static tz_memory file_of(const raster *r, bool one_strip)
{
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.codec.compression = one_strip ? TZ_COMPRESSION_DEFLATE : TZ_COMPRESSION_NONE;
    options.strips = one_strip;
    options.tile_width = one_strip ? 0 : TILE;
    options.tile_height = one_strip ? SIDE : TILE;
    options.verify = TZ_VERIFY_NONE;
    return raster_write(r, &options, NULL, NULL);
}

static plain_report read_by(tz_device *device, const raster *r, const tz_memory *bytes)
{
    uint8_t *pixels = malloc((size_t)SIDE * SIDE);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_file *file = NULL;
    plain_report report;
    tz_error err;
    assert_non_null(pixels);
    how.device = device;
    assert_int_equal(tz_open_memory(&file, bytes->data, bytes->size, NULL, &err), TZ_OK);
    const plain_item item = {
        .file = file,
        .into = {
            .data = pixels, .dtype = TZ_DTYPE_UINT8, .bands = 1, .height = SIDE, .width = SIDE}};
    if (plain_read(&item, &how, &report, &err) != TZ_OK)
        fail_msg("%s", err.message);
    for (uint32_t y = 0; y < SIDE; y++)
        assert_memory_equal(pixels + (size_t)y * SIDE,
                            (uint8_t *)r->pixels.data + y * r->pixels.row_stride, SIDE);
    tz_close(file);
    free(pixels);
    return report;
}

static raster make_raster(void)
{
    raster r = raster_make(TZ_DTYPE_UINT8, 1, SIDE, SIDE, false);
    assert_int_equal(r.pixels.column_stride, 1);
    return r;
}

static void huge_tiles_are_left_to_the_cpu(void **state)
{
    (void)state;
    raster r = make_raster();
    tz_memory bytes = file_of(&r, true);
    const uint64_t most = tz_device_max_tile(&test_device->info, TZ_COMPRESSION_DEFLATE);
    const bool fits = most >= (uint64_t)SIDE * SIDE;
    const plain_report report = read_by(test_device, &r, &bytes);
    TOLD("a strip of 9 MiB: decoded by the %s, where %llu bytes are the most of Deflate\n",
         report.device.tiles > 0 ? "device" : "CPU", (unsigned long long)most);
    assert_int_equal(report.device.tiles, fits ? 1 : 0);
    assert_int_equal(report.device.reason[0] == '\0', fits);
    tz_memory_free(&bytes);
    raster_free(&r);
}

static void a_full_card_is_left_to_the_cpu(void **state)
{
    (void)state;
    raster r = make_raster();
    tz_memory bytes = file_of(&r, false);
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    how.max_device_bytes = 4096;
    tz_device *full = test_device_open(&how);
    const plain_report report = read_by(full, &r, &bytes);
    TOLD("a card without memory: %s\n", report.device.reason);
    assert_string_equal(report.device.id, "");
    assert_true(report.device.reason[0] != '\0');
    tz_device_close(full);
    tz_memory_free(&bytes);
    raster_free(&r);
}

static void writes_have_a_floor(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 512, 512, false);
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    SCOPED_WRITE_REPORT report = NULL;
    options.codec.compression = TZ_COMPRESSION_NONE;
    options.tile_width = options.tile_height = 64;
    tz_memory by_cpu = raster_write(&r, &options, NULL, NULL);
    options.device = test_device;
    options.max_device_bytes = 1000;
    tz_memory by_device = raster_write(&r, &options, NULL, &report);
    TOLD("max_device_bytes of 1000: a write of rows of 512 bytes took %llu bytes\n",
         (unsigned long long)report->device->memory);
    assert_true(report->device->id[0] != '\0' && report->device->memory > 1000);
    raster_check_same(&by_cpu, &by_device, "at the floor");
    tz_memory_free(&by_cpu);
    raster_free(&r);
}

/* Other users of the process can have the memory afterwards. */
static void memory_is_given_back(void **state)
{
    (void)state;
    enum { KEPT = 1 << 20 };
    raster r = make_raster();
    tz_memory bytes = file_of(&r, false);
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    uint64_t free_bytes[2];
    how.max_pool_bytes = KEPT;
    how.max_pinned_bytes = 1;
    tz_device *device = test_device_open(&how);
    tz_cu_state *s = device->state;
    const tz_context ctx = {.ifd = -1};
    for (unsigned i = 0; i < 2; i++) {
        size_t left = 0, all = 0;
        (void)read_by(device, &r, &bytes); /* what is made once is made by the first */
        assert_int_equal(tz_cu_enter(s, &ctx), TZ_OK);
        assert_int_equal(s->api.MemGetInfo(&left, &all), TZ_CU_SUCCESS);
        assert_int_equal(tz_cu_leave(s, TZ_OK, &ctx), TZ_OK);
        free_bytes[i] = left;
    }
    TOLD("after a read %llu bytes of the card are free, and %llu after the next\n",
         (unsigned long long)free_bytes[0], (unsigned long long)free_bytes[1]);
    assert_true(free_bytes[1] + KEPT >= free_bytes[0]);
    tz_device_close(device);
    tz_memory_free(&bytes);
    raster_free(&r);
}

static void what_auto_expects(void **state)
{
    (void)state;
    const uint64_t pixels = (uint64_t)4 << 30;
    const tz_device_job job = {.bytes_compressed = pixels / 2,
                               .bytes_pixels = pixels,
                               .tiles = pixels / (512 << 10),
                               .compression = TZ_COMPRESSION_DEFLATE,
                               .threads = 8};
    const tz_device_times times = tz_device_estimate(&test_device->info, &job);
    TOLD(
        "auto: 4 GiB of Deflate are expected to take %.0f ms on %u units at %u MHz, and %.0f ms on "
        "8 threads\n",
        times.device * 1e3, test_device->info.compute_units, test_device->info.clock_mhz,
        times.cpu * 1e3);
    assert_true(test_device->info.compute_units > 0);
    assert_true(test_device->info.clock_mhz > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(huge_tiles_are_left_to_the_cpu),
        cmocka_unit_test(a_full_card_is_left_to_the_cpu),
        cmocka_unit_test(writes_have_a_floor),
        cmocka_unit_test(memory_is_given_back),
        cmocka_unit_test(what_auto_expects),
    };
    return cmocka_run_group_tests(tests, test_device_begin, test_device_end);
}
