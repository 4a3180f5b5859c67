/* SPDX-License-Identifier: Apache-2.0
 * Every allocation and every call of a driver fails in turn while a device reads: a clear error, or
 * the CPU does it and the report says so; nothing leaks, and the next read works. Where kernels of
 * the fake do nothing, pixels are only looked at where the CPU made them. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "support/alloc_hook.h"
#include "support/device/fault_device.h"
#include "support/device/test_device.h"
#include "support/plain_read.h"
#include "support/tile_file.h"

enum { ACROSS = 3, DOWN = 2, PIXELS = ACROSS * DOWN * TILE * TILE };

static tz_file *file;
static tb *built;
static uint8_t pixels[PIXELS];

static int begin(void **state)
{
    (void)state;
    fault_load();
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
    return fault_live() != 0;
}

/* A variant of a read. */
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
                           plain_report *report, tz_error *err)
{
    tz_read_options options = TZ_READ_OPTIONS_INIT;
    plain_item item = {.file = file,
                       .into = {.data = pixels,
                                .dtype = TZ_DTYPE_UINT8,
                                .bands = 1,
                                .height = DOWN * TILE,
                                .width = ACROSS * TILE}};
    if (how->to_device)
        plain_on_device(&item.into, memory);
    options.device = device;
    options.strict_device = how->strict;
    options.max_device_bytes = how->device_bytes;
    options.threads = 1;
    *err = (tz_error){.result = TZ_OK};
    memset(pixels, 0xA5, sizeof pixels);
    return plain_read(&item, &options, report, err);
}

static void check_pixels(void)
{
    for (uint32_t i = 0; i < PIXELS; i++)
        assert_int_equal(pixels[i], tf_pixel(&tile_streams[STREAM_DEFLATE], 0,
                                             i / (ACROSS * TILE) % TILE, i % TILE));
}

static void check_outcome(const way *how, fault_kind kind, tz_result result,
                          const plain_report *report, const tz_error *err)
{
    /* smaller batches, or the CPU: which still has to copy to buffers of the device */
    if (kind == FAULT_NO_MEMORY && !how->strict && !how->to_device && result == TZ_ERR_NOMEM)
        fail_msg("%s", err->message);
    if (result != TZ_OK) {
        assert_true(result == TZ_ERR_DEVICE || result == TZ_ERR_NOMEM);
        assert_true(err->message[0] != '\0');
        if (result == TZ_ERR_DEVICE && !how->to_device && !how->strict)
            fail_msg("%s", err->message);
        return;
    }
    /* who did it is said, one way or the other */
    assert_true((report->device.id[0] != '\0') != (report->device.reason[0] != '\0'));
    if (report->device.reason[0])
        assert_false(how->strict);
    if (!how->to_device && (report->device.reason[0] || fault_kernels_work()))
        check_pixels();
}

/* Call number n of the driver fails, once or for good. */
static bool fails_at(const way *how, uint64_t n, fault_kind kind)
{
    tz_device_memory *memory = NULL;
    plain_report report;
    tz_error err;
    tz_device *device = fault_open();
    if (how->to_device)
        assert_int_equal(tz_device_memory_alloc(&memory, device, PIXELS, &err), TZ_OK);
    fault_count_anew();
    fault_set(FAULT_ANY, n, kind);
    const tz_result result = read_file(device, how, memory, &report, &err);
    const bool has_failed = fault_calls() >= n;
    fault_reset();
    if (!has_failed && !how->strict)
        assert_int_equal(result, TZ_OK);
    if (!has_failed && result == TZ_OK)
        assert_string_equal(report.device.id, fault_device_id());
    check_outcome(how, kind, result, &report, &err);
    tz_device_memory_free(memory);
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
    assert_int_equal(fault_live(), 0);
    return has_failed;
}

static void every_call_of_a_driver_fails_in_turn(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3 * WAYS; i++) {
        uint64_t n = 1;
        while (fails_at(&ways[i / 3], n, (fault_kind)(i % 3)))
            n++;
        assert_true(n > 8);
    }
}

/* ---- a batch ---- */

enum { ITEMS = 3 };

typedef struct batch {
    uint8_t pixels[ITEMS][PIXELS];
    tz_tile_status tiles[ITEMS][ACROSS * DOWN];
    plain_outcome outcomes[ITEMS];
    plain_item items[ITEMS];
} batch;

/* Each item has a file of its own, so that some are done when the device is lost. */
static void begin_batch(batch *b, tz_file *const files[ITEMS])
{
    *b = (batch){0};
    for (size_t i = 0; i < ITEMS; i++) {
        b->outcomes[i] = (plain_outcome){.tiles = b->tiles[i], .tile_room = ACROSS * DOWN};
        b->items[i] = (plain_item){.file = files[i],
                                   .into = {.data = b->pixels[i],
                                            .dtype = TZ_DTYPE_UINT8,
                                            .bands = 1,
                                            .height = DOWN * TILE,
                                            .width = ACROSS * TILE},
                                   .outcome = &b->outcomes[i]};
    }
}

/* Every item is reported, and has its pixels, whoever made them. */
static void check_batch(const batch *b)
{
    for (size_t i = 0; i < ITEMS; i++) {
        assert_int_equal(b->outcomes[i].tile_count, ACROSS * DOWN);
        assert_int_equal(b->outcomes[i].tiles_failed, 0);
        for (size_t k = 0; k < ACROSS * DOWN; k++)
            assert_int_equal(b->tiles[i][k].result, TZ_OK);
        memcpy(pixels, b->pixels[i], sizeof pixels);
        check_pixels();
    }
}

/* Lost at the nth wait; false: there are not so many. */
static bool is_lost_at(uint64_t nth, tz_file *const files[ITEMS], bool strict)
{
    static batch b;
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    plain_report report;
    tz_error err = {.result = TZ_OK};
    tz_device *device = fault_open();
    begin_batch(&b, files);
    how.device = device;
    how.strict_device = strict;
    how.max_device_bytes = 12000;
    how.threads = 1;
    fault_set(FAULT_SYNC, nth, FAULT_LOST);
    const tz_result result = plain_read_batch(b.items, ITEMS, &how, &report, &err);
    const bool is_lost = result != TZ_OK || report.device.reason[0];
    if (is_lost && strict) {
        assert_int_equal(result, TZ_ERR_DEVICE);
        assert_non_null(strstr(err.message, fault_text(FAULT_SYNC, FAULT_LOST)));
    } else if (is_lost || fault_kernels_work()) {
        assert_int_equal(result, TZ_OK);
        check_batch(&b);
    }
    if (is_lost && !strict)
        assert_non_null(strstr(report.device.reason, fault_text(FAULT_SYNC, FAULT_LOST)));
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
    fault_reset();
    assert_int_equal(fault_live(), 0);
    return is_lost;
}

/* The items that were on the way are done by the CPU, or the read says that they are not; and a
 * device that is opened again works. */
static void a_device_is_lost_in_the_middle_of_a_batch(void **state)
{
    (void)state;
    tz_file *files[ITEMS];
    for (size_t i = 0; i < ITEMS; i++)
        files[i] = tf_open(built);
    /* of kernels that do nothing, a strict read says so first */
    for (unsigned strict = 0; strict < (fault_kernels_work() ? 2 : 1); strict++) {
        uint64_t nth = 1;
        while (is_lost_at(nth, files, strict))
            nth++;
        assert_true(nth > 2); /* there were several waves */
    }
    for (size_t i = 0; i < ITEMS; i++)
        tz_close(files[i]);
}

/* A device that failed before is not asked for tiles: the CPU reads, and the next device works. */
static void a_device_that_failed_before(void **state)
{
    (void)state;
    tz_device *device = fault_open();
    plain_report report;
    tz_error err;
    fault_set(FAULT_SYNC, 1, FAULT_ONCE);
    assert_int_equal(tz_device_sync(device, 0, &err), TZ_ERR_DEVICE);
    fault_reset();
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
            plain_report report;
            tz_error err;
            tz_device *device = fault_open();
            if (ways[i].to_device)
                assert_int_equal(tz_device_memory_alloc(&memory, device, PIXELS, &err), TZ_OK);
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
            tz_device_memory_free(memory);
            assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
            if (stats.failures == 0)
                break;
        }
    }
}

/* Reads with every buffer while the device has no memory beside it; strict is an error. */
static void read_full_device(tz_device *device, tz_device_memory *memory)
{
    const way how = {.to_device = memory != NULL};
    const way strict = {.to_device = memory != NULL, .strict = true};
    plain_report report;
    tz_error err;
    if (read_file(device, &how, memory, &report, &err) != TZ_OK)
        fail_msg("%s", err.message);
    assert_string_equal(report.device.id, "");
    assert_true(report.device.reason[0] != '\0');
    if (memory)
        assert_int_equal(tz_device_copy_out(pixels, memory, 0, PIXELS, &err), TZ_OK);
    check_pixels();
    assert_int_equal(read_file(device, &strict, memory, &report, &err), TZ_ERR_LIMIT);
    assert_null(err.limit);
    assert_true(err.found > err.expected);
}

static void a_full_device_leaves_it_to_the_cpu(void **state)
{
    (void)state;
    tz_device_memory *memory = NULL;
    tz_device_options how = fault_options;
    fault_set_memory(1 << 9);
    tz_device *device = fault_open();
    read_full_device(device, NULL);
    tz_device_close(device);
    fault_reset();
    how.max_device_bytes = PIXELS + 500;
    assert_int_equal(tz_device_open(&device, fault_device_id(), &how, NULL), TZ_OK);
    assert_int_equal(tz_device_memory_alloc(&memory, device, PIXELS, NULL), TZ_OK);
    read_full_device(device, NULL);
    read_full_device(device, memory);
    tz_device_memory_free(memory);
    tz_device_close(device);
}

/* A buffer that does not fit is the caller's error, with both numbers. */
static void a_buffer_that_does_not_fit(void **state)
{
    (void)state;
    tz_device_memory *memory = NULL;
    tz_error err = {.result = TZ_OK};
    tz_device *device = fault_open();
    fault_set(FAULT_ALLOC, 1, FAULT_NO_MEMORY);
    assert_int_equal(tz_device_memory_alloc(&memory, device, 5000, &err), TZ_ERR_NOMEM);
    assert_int_equal(err.cause, TZ_CAUSE_DEVICE);
    assert_int_equal(err.found, 5000);
    assert_true(err.expected != TZ_NO_VALUE);
    fault_reset();
    tz_device_close(device);
}

/* Others may take memory between the plan and its allocations: batches get smaller. */
static void memory_that_is_gone_makes_batches_smaller(void **state)
{
    (void)state;
    const way how = {.device_bytes = 60000};
    tz_device_options keeps_nothing = fault_options;
    plain_report whole, report;
    tz_device *device = NULL;
    tz_error err;
    keeps_nothing.max_pinned_bytes = 1;
    assert_int_equal(tz_device_open(&device, fault_device_id(), &keeps_nothing, &err), TZ_OK);
    assert_int_equal(read_file(device, &how, NULL, &whole, &err), TZ_OK);
    fault_set(FAULT_PINNED, 1, FAULT_NO_MEMORY);
    assert_int_equal(read_file(device, &how, NULL, &report, &err), TZ_OK);
    fault_reset();
    assert_string_equal(report.device.id, fault_device_id());
    assert_true(report.device.waves > whole.device.waves);
    assert_true(report.device.memory <= whole.device.memory / 2);
    tz_device_close(device);
}

/* The device has no memory, and then the host has none while the plan is measured again: warnings
 * about the strips' sizes are listed again. Nothing may run a plan that was not measured to its
 * end, whose workers would have no buffers. */
static void no_memory_while_a_plan_is_measured_again(void **state)
{
    (void)state;
    enum { WIDTH = 1024, STRIPS = 64 };
    static uint8_t rows[WIDTH * STRIPS];
    tz_device_options keeps_nothing = fault_options;
    tz_read_options options = TZ_READ_OPTIONS_INIT;
    tb *b = tb_new(TB_CLASSIC);
    tb_image(
        b, &(tb_spec){.width = WIDTH, .height = STRIPS, .rows_per_strip = 1, .tile_bytes = WIDTH});
    tb_finish(b);
    for (uint64_t i = 1; i < STRIPS; i++)
        tb_patch_item(b, 0, TZ_TAG_STRIP_BYTE_COUNTS, i, 0);
    tz_file *strips = tf_open(b);
    const plain_item item = {
        .file = strips,
        .into = {
            .data = rows, .dtype = TZ_DTYPE_UINT8, .bands = 1, .height = STRIPS, .width = WIDTH}};
    keeps_nothing.max_pinned_bytes = 1;
    options.threads = 1;
    for (uint64_t n = 1, failures = 1; failures > 0; n++) {
        plain_report report;
        tz_error err = {.result = TZ_OK};
        assert_int_equal(tz_device_open(&options.device, fault_device_id(), &keeps_nothing, &err),
                         TZ_OK);
        assert_int_equal(plain_read(&item, &options, &report, &err), TZ_OK);
        fault_set(FAULT_PINNED, 1, FAULT_NO_MEMORY);
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        const tz_result result = plain_read(&item, &options, &report, &err);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        fault_reset();
        failures = stats.failures;
        assert_true(alloc_hook_kept_nothing(&stats));
        assert_int_equal(result, failures > 0 ? TZ_ERR_NOMEM : TZ_OK);
        if (result == TZ_OK)
            assert_int_equal(report.tiles, STRIPS);
        assert_int_equal(tz_device_close_checked(options.device, &err), TZ_OK);
    }
    tz_close(strips);
    tb_free(b);
}

/* OpenCL's fake has no double precision: casts are the CPU's, also to memory of the device. */
static void casts_without_double_precision(void **state)
{
    (void)state;
    tz_device *device = fault_open();
    tz_device_memory *memory = NULL;
    tz_read_options options = TZ_READ_OPTIONS_INIT;
    plain_report report;
    tz_error err;
    static float before[3 * PIXELS], after[3 * PIXELS];
    plain_item item = {.file = file,
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
    assert_int_equal(tz_device_memory_alloc(&memory, device, sizeof before, &err), TZ_OK);
    assert_int_equal(tz_device_copy_in(memory, 0, before, sizeof before, &err), TZ_OK);
    plain_on_device(&item.into, memory);
    options.device = device;
    for (unsigned packed = 0; packed < 2; packed++) {
        const tz_result result = plain_read(&item, &options, &report, &err);
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
    assert_int_equal(plain_plan_read(&report, &item, 1, &options, &err), TZ_OK);
    assert_non_null(strstr(report.device.reason, "double precision"));
    options.strict_device = true;
    assert_int_equal(plain_read(&item, &options, &report, &err), TZ_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, fault_device_id()));
    tz_device_memory_free(memory);
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
        plain_report report;
        const plain_item item = {.file = file,
                                 .into = {.data = own,
                                          .dtype = TZ_DTYPE_UINT8,
                                          .bands = 1,
                                          .height = DOWN * TILE,
                                          .width = ACROSS * TILE}};
        options.device = r->device;
        options.max_device_bytes = i % 2 ? 60000 : 0;
        r->good = plain_read(&item, &options, &report, NULL) == TZ_OK &&
                  strcmp(report.device.id, fault_device_id()) == 0 && report.device.uploads > 0;
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
    fault_set_memory(1 << 24);
    tz_device *device = fault_open();
    for (size_t i = 0; i < THREADS; i++) {
        readers[i] = (reader){.device = device};
        assert_int_equal(pthread_create(&threads[i], NULL, read_often, &readers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(readers[i].good);
    }
    assert_int_equal(tz_device_close_checked(device, NULL), TZ_OK);
    fault_reset();
}

/* A device that was not named is used where it pays, and the report says when it does not. */
static void auto_takes_what_pays(void **state)
{
    (void)state;
    tz_device *device = NULL;
    tz_device_memory *memory = NULL;
    plain_report report;
    tz_error err;
    assert_int_equal(tz_device_open(&device, "auto", &fault_options, &err), TZ_OK);
    assert_string_equal(tz_device_get_info(device)->id, fault_device_id());
    assert_int_equal(read_file(device, &ways[0], NULL, &report, &err), TZ_OK);
    assert_string_equal(report.device.id, "");
    assert_true(report.device.reason[0] != '\0');
    check_pixels();
    /* pixels that are wanted there are made there */
    assert_int_equal(tz_device_memory_alloc(&memory, device, PIXELS, &err), TZ_OK);
    assert_int_equal(read_file(device, &ways[2], memory, &report, &err), TZ_OK);
    assert_string_equal(report.device.id, fault_device_id());
    tz_device_memory_free(memory);
    tz_device_close(device);
    fault_set_gpus(0);
    assert_int_equal(tz_device_open(&device, "auto", &fault_options, &err), TZ_OK);
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
        cmocka_unit_test(a_device_is_lost_in_the_middle_of_a_batch),
        cmocka_unit_test(a_device_that_failed_before),
        cmocka_unit_test(every_allocation_fails_in_turn),
        cmocka_unit_test(a_full_device_leaves_it_to_the_cpu),
        cmocka_unit_test(a_buffer_that_does_not_fit),
        cmocka_unit_test(memory_that_is_gone_makes_batches_smaller),
        cmocka_unit_test(no_memory_while_a_plan_is_measured_again),
        cmocka_unit_test(threads_share_a_device),
        cmocka_unit_test(auto_takes_what_pays),
    };
    /* every device of CUDA has it */
    const struct CMUnitTest of_opencl[] = {cmocka_unit_test(casts_without_double_precision)};
    const int failed = cmocka_run_group_tests(tests, begin, end);
    return test_device_is_cuda() ? failed : failed + cmocka_run_group_tests(of_opencl, begin, end);
}
