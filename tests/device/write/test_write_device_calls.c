/* SPDX-License-Identifier: Apache-2.0
 * The calls of a write to a device: everything it holds is there from the start, within what it was
 * allowed, and a batch of tiles takes the same calls whatever the number of its tiles. */
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "support/device/device_rows.h"
#include "support/device/test_device.h"
#include "support/device/timeline.h"
#include "support/raster_variants.h"
#include "support/write_memory.h"

/* ---- calls ---- */

static tz_device_counts counts_of(const raster *r, const tz_write_options *options, bool on_device,
                                  tz_write_report **report)
{
    tz_device_counts wave;
    tz_memory out;
    if (on_device) {
        out = device_rows_write(r, options, NULL, &r->pixels, report);
        tz_device_get_counts(test_device, NULL, &wave);
    } else {
        tz_device_begin_wave(test_device);
        out = raster_write(r, options, NULL, report);
        tz_device_get_counts(test_device, NULL, &wave);
    }
    tz_memory_free(&out);
    return wave;
}

/* One batch of 1, 10 and 1000 tiles. */
static void compare_counts(tz_write_options options, bool mask)
{
    static const uint32_t widths[] = {16, 160, 800}, heights[] = {16, 16, 320};
    tz_device_counts first = {0};
    options.tile_width = options.tile_height = 16;
    options.device = test_device;
    options.overview_count = -1;
    for (size_t i = 0; i < 3; i++) {
        raster r = raster_make(TZ_DTYPE_FLOAT32, 1, widths[i], heights[i], mask);
        SCOPED_WRITE_REPORT report = NULL;
        const tz_device_counts now = counts_of(&r, &options, false, &report);
        if (i == 0)
            first = now;
        assert_int_equal(report->device->waves, 1);
        assert_int_equal(report->tiles, (uint64_t)widths[i] * heights[i] / 256 * (mask ? 2 : 1));
        assert_int_equal(now.allocations, first.allocations);
        assert_int_equal(now.pinned, first.pinned);
        assert_int_equal(now.launches, first.launches);
        assert_int_equal(now.syncs, 2);
        assert_int_equal(now.uploads, 2);   /* rows, and tables */
        assert_int_equal(now.downloads, 2); /* results, and tiles */
        raster_free(&r);
    }
}

static void calls_do_not_depend_on_tiles(void **state)
{
    (void)state;
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_NONE);
    compare_counts(options, false);
    options.sparse = true;
    options.statistics_items = true;
    compare_counts(options, true);
    options.cog = true;
    compare_counts(options, true);
    if (!raster_can_write(TZ_COMPRESSION_DEFLATE))
        return;
    options.codec.compression = TZ_COMPRESSION_DEFLATE;
    compare_counts(options, true);
}

/* Rows of the device never leave it, but as tiles. */
static void rows_of_the_device_stay_there(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_FLOAT32, 1, 320, 320, false);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_NONE);
    SCOPED_WRITE_REPORT report = NULL;
    options.device = test_device;
    (void)counts_of(&r, &options, true, &report);
    assert_int_equal(report->device->waves, 1);
    assert_int_equal(report->device->uploads, 1);
    assert_true(report->device->upload_bytes < 20000); /* tables */
    assert_int_equal(report->device->downloads, 2);
    raster_free(&r);
}

/* Within one batch after the other: two downloads each, the second one of the tiles. */
static void one_download_of_tiles_a_batch(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 2, 300, 400, true);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_NONE);
    const raster_variant way = {.batch = 50};
    SCOPED_WRITE_REPORT report = NULL;
    size_t downloads = 0, uploads = 0, allocations = 0, launches = 0;
    options.device = test_device;
    options.cog = true;
    options.max_device_bytes = 400 << 10;
    timeline_start(test_device);
    tz_memory out = raster_write(&r, &options, &way, &report);
    const timeline_step *steps = timeline.steps;
    const size_t count = timeline.count;
    for (size_t i = 0; i < count; i++) {
        downloads += steps[i].call == TZ_CALL_DOWNLOAD;
        uploads += steps[i].call == TZ_CALL_UPLOAD;
        launches += steps[i].call == TZ_CALL_LAUNCH;
        if (steps[i].call != TZ_CALL_ALLOC && steps[i].call != TZ_CALL_ALLOC_PINNED)
            continue;
        allocations++;
        assert_true(steps[i].call == TZ_CALL_ALLOC_PINNED || launches == 0);
    }
    assert_true(report->device->waves > 4);
    assert_int_equal(downloads, 2 * report->device->waves);
    assert_true(uploads > report->device->waves);
    assert_true(allocations <= 8); /* three allocations, two batches, tables, two slabs */
    timeline_stop(test_device);
    tz_memory_free(&out);
    raster_free(&r);
}

/* ---- memory ---- */

/* The eighth part, each way, of 8192 x 8192 float32 in batches of 512 rows with 128 MB. */
static void memory_is_what_was_planned(void **state)
{
    (void)state;
    for (int cog = 0; cog < 2; cog++)
        for (int codec = 0; codec < 2; codec++) {
            if (test_device_is_slow() && (cog || codec))
                continue;
            write_memory c = {.width = 1024,
                              .height = 1024,
                              .bands = 1,
                              .dtype = TZ_DTYPE_FLOAT32,
                              .compression = codec ? TZ_COMPRESSION_DEFAULT : TZ_COMPRESSION_NONE,
                              .threads = 1,
                              .buffer_bytes = 8 * MIB,
                              .cog = cog,
                              .pull = true,
                              .tile = cog ? 64 : 32,
                              .device = test_device,
                              .device_bytes = 2 * MIB};
            tz_device_counts wave;
            tz_device_begin_wave(test_device);
            const tz_write_report report = write_memory_run(&c);
            tz_device_get_counts(test_device, NULL, &wave);
            assert_string_equal(report.device->reason, "");
            assert_true(wave.bytes_peak <= 2 * MIB);
            assert_true(wave.bytes_peak * 10 >= report.device->memory * 9);
            assert_true(report.device->memory * 10 >= 2 * MIB * 8); /* what there is, is used */
            assert_true(report.max_host_bytes == 8 * MIB);
            assert_int_equal(wave.bytes_now, 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_do_not_depend_on_tiles),
        cmocka_unit_test(rows_of_the_device_stay_there),
        cmocka_unit_test(one_download_of_tiles_a_batch),
        cmocka_unit_test(memory_is_what_was_planned),
    };
    return cmocka_run_group_tests(tests, test_device_begin_keeping_nothing, test_device_end);
}
