/* SPDX-License-Identifier: Apache-2.0
 * Every allocation and every call of a driver fails in turn while a device reads: a clear error, or
 * the cores do it and the report says so; nothing leaks, and the next read works. Kernels of the
 * double do nothing, so pixels are only looked at where the cores made them. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "double/opencl_double.h"
#include "support/alloc_hook.h"
#include "support/tile_file.h"

#define OUT_OF_RESOURCES   (-5)
#define ALLOCATION_FAILURE (-4)

enum { ACROSS = 3, DOWN = 2, PIXELS = ACROSS * DOWN * TILE * TILE };

static double_control *control;
static tz_file *file;
static tb *built;
static uint8_t pixels[PIXELS];
static const tz_device_options with_double = {.struct_size = sizeof with_double,
                                              .opencl_library = OPENCL_DOUBLE,
                                              .cuda_library = "libno-cuda.so.1"};

static int begin(void **state)
{
    (void)state;
    control = opencl_double_load();
    built = tf_new(TB_CLASSIC, &tile_streams[STREAM_DEFLATE], ACROSS, DOWN, NULL);
    file = tf_open(built);
    tf_warm_up();
    return 0;
}

static int end(void **state)
{
    (void)state;
    tz_close(file);
    tb_free(built);
    return control->live != 0;
}

static tz_device *open_double(void)
{
    tz_device *device = NULL;
    assert_int_equal(tz_device_open(&device, "opencl:0", &with_double, NULL), TZ_OK);
    return device;
}

/* How a read is tried. */
typedef struct way {
    bool to_device, strict;
    uint64_t device_bytes;
} way;

static const way ways[] = {{false, false, 0},
                           {false, false, 60000},
                           {true, false, 0},
                           {true, false, 60000},
                           {false, true, 0}};
#define WAYS (sizeof ways / sizeof ways[0])

static tz_result read_file(tz_device *device, const way *how, tz_device_memory *memory,
                           tz_report *report, tz_error *err)
{
    tz_read_options options = TZ_READ_OPTIONS_INIT;
    const tz_item item = {.file = file,
                          .into = {.data = how->to_device ? NULL : pixels,
                                   .memory = how->to_device ? memory : NULL,
                                   .dtype = TZ_DTYPE_UINT8,
                                   .bands = 1,
                                   .height = DOWN * TILE,
                                   .width = ACROSS * TILE}};
    options.device = device;
    options.strict_device = how->strict;
    options.device_bytes = how->device_bytes;
    options.threads = 1;
    *err = (tz_error){.result = TZ_OK};
    memset(pixels, 0xA5, sizeof pixels);
    return tz_read(&item, &options, report, err);
}

static void check_pixels(void)
{
    for (uint32_t i = 0; i < PIXELS; i++)
        assert_int_equal(pixels[i], tf_pixel(&tile_streams[STREAM_DEFLATE], 0,
                                             i / (ACROSS * TILE) % TILE, i % TILE));
}

static void check_outcome(const way *how, tz_result result, const tz_report *report,
                          const tz_error *err)
{
    if (result != TZ_OK) {
        assert_true(result == TZ_ERR_DEVICE || result == TZ_ERR_NOMEM);
        assert_true(err->message[0] != '\0');
        if (result == TZ_ERR_DEVICE)
            assert_true(how->to_device || how->strict);
        return;
    }
    /* who did it is said, one way or the other */
    assert_true((report->device.id[0] != '\0') != (report->device.reason[0] != '\0'));
    if (report->device.reason[0]) {
        assert_false(how->to_device || how->strict);
        check_pixels();
    }
}

/* Call number n of the driver fails, once or for good. */
static bool fails_at(const way *how, uint64_t n, int32_t code, bool lost)
{
    tz_device_memory *memory = NULL;
    tz_report report;
    tz_error err;
    tz_device *device = open_double();
    if (how->to_device)
        assert_int_equal(tz_device_alloc(device, PIXELS, &memory, &err), TZ_OK);
    control->calls = 0;
    control->fail_nth = n;
    control->fail_code = code;
    control->lost = lost;
    const tz_result result = read_file(device, how, memory, &report, &err);
    const bool has_failed = control->calls >= n;
    opencl_double_reset(control);
    if (!has_failed && !how->strict)
        assert_int_equal(result, TZ_OK);
    if (!has_failed && result == TZ_OK)
        assert_string_equal(report.device.id, "opencl:0");
    check_outcome(how, result, &report, &err);
    tz_device_free(memory);
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
    assert_int_equal(control->live, 0);
    return has_failed;
}

static void every_call_of_a_driver_fails_in_turn(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4 * WAYS; i++) {
        uint64_t n = 1;
        while (fails_at(&ways[i / 4], n, i % 2 ? OUT_OF_RESOURCES : ALLOCATION_FAILURE,
                        i % 4 / 2 != 0))
            n++;
        assert_true(n > 8);
    }
}

/* A device that failed before is not asked for tiles: the cores read, and the next device works. */
static void a_device_that_failed_before(void **state)
{
    (void)state;
    tz_device *device = open_double();
    tz_report report;
    tz_error err;
    control->fail_function = "clFinish";
    control->fail_nth = 1;
    control->fail_code = OUT_OF_RESOURCES;
    assert_int_equal(tz_device_sync(device, 0, &err), TZ_ERR_DEVICE);
    opencl_double_reset(control);
    assert_int_equal(read_file(device, &ways[0], NULL, &report, &err), TZ_OK);
    assert_non_null(strstr(report.device.reason, "failed before"));
    check_pixels();
    assert_int_equal(read_file(device, &(way){.strict = true}, NULL, &report, &err), TZ_ERR_DEVICE);
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
}

static void every_allocation_fails_in_turn(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        for (uint64_t n = 1;; n++) {
            tz_device_memory *memory = NULL;
            tz_report report;
            tz_error err;
            tz_device *device = open_double();
            if (ways[i].to_device)
                assert_int_equal(tz_device_alloc(device, PIXELS, &memory, &err), TZ_OK);
            /* what is compiled once is kept by the device */
            (void)read_file(device, &ways[i], memory, &report, &err);
            alloc_hook_install();
            alloc_hook_fail_at(n, false);
            const tz_result result = read_file(device, &ways[i], memory, &report, &err);
            const alloc_stats stats = alloc_hook_stats();
            alloc_hook_remove();
            assert_true(alloc_hook_kept_nothing(&stats));
            if (stats.failures > 0)
                assert_int_equal(result, TZ_ERR_NOMEM);
            tz_device_free(memory);
            assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
            if (stats.failures == 0)
                break;
        }
    }
}

/* What does not fit into the device is an error, and never done by the cores instead. */
static void limits_are_no_fallback(void **state)
{
    (void)state;
    tz_report report;
    tz_error err;
    control->memory = 1 << 9;
    tz_device *device = open_double();
    assert_int_equal(read_file(device, &ways[0], NULL, &report, &err), TZ_ERR_LIMIT);
    assert_null(err.limit);
    tz_device_close(device);
    opencl_double_reset(control);
    control->max_allocation = 1 << 8;
    device = open_double();
    assert_int_equal(read_file(device, &ways[0], NULL, &report, &err), TZ_ERR_LIMIT);
    assert_non_null(strstr(err.message, "in one piece"));
    tz_device_close(device);
    opencl_double_reset(control);
    tz_device_options how = with_double;
    how.memory_bytes = 500;
    assert_int_equal(tz_device_open(&device, "opencl:0", &how, NULL), TZ_OK);
    assert_int_equal(read_file(device, &ways[0], NULL, &report, &err), TZ_ERR_LIMIT);
    tz_device_close(device);
}

/* The double has no double precision: casts are the cores', also to memory of the device. */
static void casts_without_double_precision(void **state)
{
    (void)state;
    tz_device *device = open_double();
    tz_device_memory *memory = NULL;
    tz_read_options options = TZ_READ_OPTIONS_INIT;
    tz_report report;
    tz_error err;
    static float before[3 * PIXELS], after[3 * PIXELS];
    tz_item item = {.file = file,
                    .into = {.dtype = TZ_DTYPE_FLOAT32,
                             .bands = 1,
                             .height = DOWN * TILE,
                             .width = ACROSS * TILE,
                             .offset = 2 * sizeof(float),
                             .band_stride = sizeof after,
                             .row_stride = 3 * sizeof(float) * ACROSS * TILE,
                             .column_stride = 3 * sizeof(float)}};
    for (size_t i = 0; i < 3 * PIXELS; i++)
        before[i] = (float)i;
    assert_int_equal(tz_device_alloc(device, sizeof before, &memory, &err), TZ_OK);
    assert_int_equal(tz_device_copy_in(memory, 0, before, sizeof before, &err), TZ_OK);
    item.into.memory = memory;
    options.device = device;
    for (unsigned packed = 0; packed < 2; packed++) {
        const tz_result result = tz_read(&item, &options, &report, &err);
        assert_int_equal(result, TZ_OK);
        assert_string_equal(report.device.id, "");
        assert_non_null(strstr(report.device.reason, "double precision"));
        assert_int_equal(report.device.uploads, 1);
        assert_int_equal(report.device.downloads, packed ? 0 : 1);
        assert_int_equal(report.tiles, ACROSS * DOWN);
        assert_int_equal(tz_device_copy_out(after, memory, 0, sizeof after, &err), TZ_OK);
        for (uint32_t i = 0; i < 3 * PIXELS; i++) {
            const uint32_t pixel = packed ? i - 2 : i / 3;
            const bool is_pixel = packed ? i >= 2 && pixel < PIXELS : i % 3 == 2;
            const float wanted = tf_pixel(&tile_streams[STREAM_DEFLATE], 0,
                                          pixel / (ACROSS * TILE) % TILE, pixel % TILE);
            if (is_pixel)
                assert_true(after[i] == wanted);
            else if (!packed) /* what lies between is as it was */
                assert_true(after[i] == before[i]);
        }
        item.into.band_stride = item.into.row_stride = item.into.column_stride = 0;
    }
    assert_int_equal(tz_plan_read(&item, 1, &options, &report, &err), TZ_OK);
    assert_non_null(strstr(report.device.reason, "double precision"));
    options.strict_device = true;
    assert_int_equal(tz_read(&item, &options, &report, &err), TZ_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "opencl:0"));
    tz_device_free(memory);
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
}

/* ---- threads ---- */

typedef struct reader {
    tz_device *device;
    bool good;
} reader;

static void *read_often(void *argument)
{
    reader *r = argument;
    r->good = true;
    for (int i = 0; i < 20 && r->good; i++) {
        uint8_t own[PIXELS];
        tz_read_options options = TZ_READ_OPTIONS_INIT;
        tz_report report;
        const tz_item item = {.file = file,
                              .into = {.data = own,
                                       .dtype = TZ_DTYPE_UINT8,
                                       .bands = 1,
                                       .height = DOWN * TILE,
                                       .width = ACROSS * TILE}};
        options.device = r->device;
        options.device_bytes = i % 2 ? 60000 : 0;
        r->good = tz_read(&item, &options, &report, NULL) == TZ_OK &&
                  strcmp(report.device.id, "opencl:0") == 0 && report.device.uploads > 0;
    }
    return NULL;
}

/* Counts are each read's own. */
static void threads_share_a_device(void **state)
{
    (void)state;
    enum { THREADS = 6 };
    pthread_t threads[THREADS];
    reader readers[THREADS];
    control->memory = 1 << 24;
    tz_device *device = open_double();
    for (size_t i = 0; i < THREADS; i++) {
        readers[i] = (reader){.device = device};
        assert_int_equal(pthread_create(&threads[i], NULL, read_often, &readers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(readers[i].good);
    }
    assert_int_equal(tz_device_close_checked(device, NULL), TZ_OK);
    opencl_double_reset(control);
}

/* A device that was not named is used where it pays, and the report says when it does not. */
static void auto_takes_what_pays(void **state)
{
    (void)state;
    tz_device *device = NULL;
    tz_device_memory *memory = NULL;
    tz_report report;
    tz_error err;
    assert_int_equal(tz_device_open(&device, "auto", &with_double, &err), TZ_OK);
    assert_string_equal(tz_device_get_info(device)->id, "opencl:0");
    assert_int_equal(read_file(device, &ways[0], NULL, &report, &err), TZ_OK);
    assert_string_equal(report.device.id, "");
    assert_true(report.device.reason[0] != '\0');
    check_pixels();
    /* pixels that are wanted there are made there */
    assert_int_equal(tz_device_alloc(device, PIXELS, &memory, &err), TZ_OK);
    assert_int_equal(read_file(device, &ways[2], memory, &report, &err), TZ_OK);
    assert_string_equal(report.device.id, "opencl:0");
    tz_device_free(memory);
    tz_device_close(device);
    control->gpus = 0;
    assert_int_equal(tz_device_open(&device, "auto", &with_double, &err), TZ_OK);
    assert_int_equal(read_file(device, &ways[0], NULL, &report, &err), TZ_OK);
    assert_string_equal(report.device.id, "");
    assert_string_equal(report.device.reason, tz_device_get_info(device)->reason);
    check_pixels();
    tz_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_of_a_driver_fails_in_turn),
        cmocka_unit_test(a_device_that_failed_before),
        cmocka_unit_test(every_allocation_fails_in_turn),
        cmocka_unit_test(limits_are_no_fallback),
        cmocka_unit_test(casts_without_double_precision),
        cmocka_unit_test(threads_share_a_device),
        cmocka_unit_test(auto_takes_what_pays),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
