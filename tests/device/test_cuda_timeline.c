/* SPDX-License-Identifier: Apache-2.0
 * The calls of libcuda by whole reads and writes: as many for a thousand tiles
 * as for one, never a wait for all of a device, the next wave on its way before the last is waited
 * for; and the same pixels in whatever order streams go on. */
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "fakes/cuda/cuda_fake.h"
#include "support/device/cuda_steps.h"
#include "support/device/test_device.h"
#include "support/plain_read.h"
#include "support/raster_variants.h"
#include "support/tile_file.h"

static cuda_fake_control *control;

static int begin(void **state)
{
    control = cuda_fake_load();
    return test_device_begin_keeping_nothing(state);
}

/* Objects that are alive when the device is closed were forgotten. */
static int end(void **state)
{
    return test_device_end(state) != 0 || control->live != 0;
}

/* Returns the step that waits for the stream of a step. */
static size_t wait_after(size_t step)
{
    size_t at = step;
    while (at < control->step_count && (strcmp(control->steps[at].call, STEP_SYNC) != 0 ||
                                        control->steps[at].stream != control->steps[step].stream))
        at++;
    return at;
}

/* ---- reads ---- */

static void read_tiles(const tile_stream *stream, uint32_t across, uint32_t down, bool reversed,
                       uint64_t device_bytes, plain_report *report)
{
    tb *b = tf_new(TB_CLASSIC, stream, across, down, NULL);
    tz_file *file = tf_open(b);
    const size_t size = (size_t)across * down * TILE * TILE;
    uint8_t *expected = malloc(size), *found = malloc(size);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_error err = {0};
    plain_item item = {.file = file,
                       .into = {.data = expected,
                                .dtype = TZ_DTYPE_UINT8,
                                .bands = 1,
                                .height = down * TILE,
                                .width = across * TILE}};
    assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_OK);
    item.into.data = found;
    how.device = test_device;
    how.max_device_bytes = device_bytes;
    how.strict_device = true;
    control->reversed = reversed;
    steps_keep(control);
    if (plain_read(&item, &how, report, &err) != TZ_OK)
        fail_msg("%s; %s", err.message, control->fault);
    control->keep_steps = false;
    assert_memory_equal(found, expected, size);
    free(expected);
    free(found);
    tz_close(file);
    tb_free(b);
}

static void calls_of_reads_do_not_grow(void **state)
{
    (void)state;
    static const int streams[] = {STREAM_NONE,     STREAM_LZW, STREAM_DEFLATE,
                                  STREAM_PACKBITS, STREAM_LZ4, STREAM_ZSTD};
    static const uint32_t sizes[][2] = {{1, 1}, {5, 2}, {40, 25}};
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        const tile_stream *stream = &tile_streams[streams[i]];
        size_t first = 0;
        plain_report report;
        if (!tf_available(stream))
            continue;
        read_tiles(stream, 1, 1, false, 0, &report); /* modules are loaded once */
        for (size_t k = 0; k < 3; k++) {
            read_tiles(stream, sizes[k][0], sizes[k][1], k % 2, 0, &report);
            first = k == 0 ? steps_asked(control) : first;
            assert_int_equal(steps_asked(control), first);
            assert_int_equal(steps_of(control, STEP_UPLOAD), 1);
            assert_int_equal(steps_of(control, STEP_DOWNLOAD), 1);
            assert_int_equal(steps_of(control, "cuModuleLoadDataEx"), 0);
            assert_int_equal(steps_of(control, "cuCtxSynchronize"), 0);
            assert_int_equal(steps_of(control, "cuMemAlloc_v2"), 0); /* it is a pool's */
        }
    }
}

/* Waves are of two streams: what the next takes is sent before the last is waited for. */
static void waves_of_reads_overlap(void **state)
{
    (void)state;
    for (unsigned reversed = 0; reversed < 2; reversed++) {
        plain_report report;
        read_tiles(&tile_streams[STREAM_LZW], 40, 20, reversed, 1 << 17, &report);
        const size_t waves = (size_t)report.device.waves;
        assert_true(waves >= 3);
        assert_int_equal(steps_of(control, STEP_UPLOAD), waves);
        assert_int_equal(steps_of(control, "cuCtxSynchronize"), 0);
        for (size_t wave = 0; wave + 1 < waves; wave++) {
            const size_t next = steps_find(control, STEP_UPLOAD, wave + 1);
            const size_t last = steps_find(control, STEP_DOWNLOAD, wave);
            const size_t sync = wait_after(last);
            assert_true(last < control->step_count && sync < control->step_count);
            assert_true(next < sync);
            assert_true(control->steps[next].stream != control->steps[last].stream);
        }
    }
}

/* ---- writes ---- */

static void write_tiles(uint32_t width, uint32_t height, bool reversed, tz_write_report **report)
{
    raster r = raster_make(TZ_DTYPE_UINT16, 1, width, height, false);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_DEFLATE);
    options.tile_width = options.tile_height = 16;
    options.codec.effort = TZ_EFFORT_FAST;
    options.verify = TZ_VERIFY_NONE;
    tz_memory cpu = raster_write(&r, &options, NULL, NULL);
    options.device = test_device;
    options.strict_device = true;
    control->reversed = reversed;
    steps_keep(control);
    tz_memory out = raster_write(&r, &options, NULL, report);
    control->keep_steps = false;
    raster_check_same(&cpu, &out, "by the device");
    tz_memory_free(&cpu);
    raster_free(&r);
}

/* One download of results and one of tiles, for a batch of any size. */
static void calls_of_writes_do_not_grow(void **state)
{
    (void)state;
    static const uint32_t widths[] = {16, 160, 640}, heights[] = {16, 16, 400};
    size_t first = 0;
    SCOPED_WRITE_REPORT report = NULL;
    write_tiles(16, 16, false, &report);
    for (size_t k = 0; k < 3; k++) {
        write_tiles(widths[k], heights[k], k % 2, &report);
        first = k == 0 ? steps_asked(control) : first;
        assert_int_equal(report->device->waves, 1);
        assert_int_equal(steps_asked(control), first);
        assert_int_equal(steps_of(control, STEP_DOWNLOAD), 2);
        assert_int_equal(steps_of(control, "cuCtxSynchronize"), 0);
        assert_int_equal(steps_of(control, "cuModuleLoadDataEx"), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_reads_do_not_grow),
        cmocka_unit_test(waves_of_reads_overlap),
        cmocka_unit_test(calls_of_writes_do_not_grow),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
