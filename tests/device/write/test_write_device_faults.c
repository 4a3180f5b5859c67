/* SPDX-License-Identifier: Apache-2.0
 * A device that fails while it writes, at any of its calls, and memory that runs out at any
 * allocation: the write is an error, nothing is published, nothing is left, and the process goes
 * on. A device's report about its tiles is not believed. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/device.h"
#include "support/alloc_hook.h"
#include "support/check.h"
#include "support/device/fault_device.h"
#include "support/device/test_device.h"
#include "support/plain_read.h"
#include "support/raster_variants.h"
#include "support/scratch.h"

static int begin(void **state)
{
    fault_load();
    return scratch_begin(state);
}

static int end(void **state)
{
    return scratch_end(state) != 0 || fault_live() != 0;
}

#define FAULT(test) cmocka_unit_test_setup_teardown(test, begin, end)

/* ---- one write ---- */

/* Kernels of OpenCL's fake do nothing, so that tiles are anything: they are not verified. */
static tz_write_options options_of(tz_device *device)
{
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_NONE);
    options.tile_width = options.tile_height = 16;
    options.verify = TZ_VERIFY_NONE;
    options.cog = true;
    options.overview_resampling = TZ_RESAMPLING_NEAREST;
    options.device = device;
    options.threads = 1;
    options.no_sync = true;
    return options;
}

/* Some rows of the host, then some of the device. */
static tz_result give_rows(tz_writer *writer, const raster *r, const tz_buffer *there,
                           tz_error *err)
{
    tz_buffer first = r->pixels, rest = *there, mask = r->mask, rest_mask = *there;
    first.height = mask.height = 21;
    rest.height = rest_mask.height = r->spec.height - 21;
    rest_mask.dtype = TZ_DTYPE_UINT8;
    TZ_TRY(tz_write_rows(writer, &first, &mask, err));
    return tz_write_rows(writer, &rest, &rest_mask, err);
}

static tz_result write_file(tz_device *device, const raster *r, tz_error *err)
{
    const tz_write_options options = options_of(device);
    tz_buffer there = r->pixels;
    tz_writer *writer = NULL;
    tz_device_memory *memory = NULL;
    there.band_stride = there.row_stride = there.column_stride = 0;
    TZ_TRY(tz_device_memory_alloc(&memory, device, 64 * 64, err));
    plain_on_device(&there, memory);
    tz_result result = tz_create(&writer, scratch_path("a.tif"), &r->spec, &options, err);
    if (result == TZ_OK)
        result = give_rows(writer, r, &there, err);
    if (result == TZ_OK)
        result = tz_commit(writer, NULL, err);
    tz_writer_close(writer);
    tz_device_memory_free(memory);
    return result;
}

static tz_result whole_life(const raster *r, tz_error *err)
{
    tz_device *device = NULL;
    tz_error forgotten;
    TZ_TRY(tz_device_open(&device, fault_device_id(), &fault_options, err));
    const tz_result result = write_file(device, r, err);
    assert_int_equal(tz_device_close_checked(device, &forgotten), TZ_OK);
    return result;
}

/* It is there when it was written, and nothing else is; it is removed. */
static void check_published(tz_result result)
{
    assert_int_equal(scratch_count(), result == TZ_OK ? 1 : 0);
    if (result == TZ_OK)
        assert_int_equal(unlink(scratch_path("a.tif")), 0);
}

static void each_call_fails_in_turn(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 64, 64, true);
    tz_error err = {0};
    uint64_t failures = 0;
    if (whole_life(&r, &err) != TZ_OK)
        fail_msg("%s", err.message);
    const uint64_t calls = fault_calls();
    check_published(TZ_OK);
    for (uint64_t n = 1; n <= calls; n++) {
        fault_reset();
        fault_set(FAULT_ANY, n, n % 2 == 0 ? FAULT_LOST : FAULT_ONCE);
        err.message[0] = '\0';
        const tz_result result = whole_life(&r, &err);
        assert_int_equal(fault_live(), 0);
        check_published(result);
        if (result == TZ_OK)
            continue; /* a fact of the device that is not needed */
        failures++;
        assert_true(result == TZ_ERR_DEVICE || result == TZ_ERR_NOMEM);
        assert_true(err.message[0] != '\0');
    }
    assert_true(failures > 100);
    fault_reset();
    assert_int_equal(whole_life(&r, &err), TZ_OK);
    raster_free(&r);
}

static void each_allocation_fails_in_turn(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 64, 64, true);
    tz_error err = {0};
    uint64_t refused = 0;
    for (uint64_t n = 1;; n++) {
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        const tz_result result = whole_life(&r, &err);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_int_equal(stats.live_bytes, 0);
        assert_int_equal(fault_live(), 0);
        check_published(result);
        if (stats.failures == 0) {
            assert_int_equal(result, TZ_OK);
            break;
        }
        refused += result == TZ_ERR_NOMEM;
        assert_true(result == TZ_ERR_NOMEM || result == TZ_OK);
    }
    assert_true(refused > 30);
    raster_free(&r);
}

/* ---- a device that reports nonsense ---- */

/* The memory of OpenCL's fake is full of it: sizes and offsets of tiles, too. */
static void nonsense_is_not_believed(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 64, 64, false);
    tz_device *device = NULL;
    tz_error err = {0};
    tz_memory out = {0};
    assert_int_equal(tz_device_open(&device, fault_device_id(), &fault_options, &err), TZ_OK);
    tz_write_options options = options_of(device);
    options.codec.compression = TZ_COMPRESSION_PACKBITS;
    assert_int_equal(raster_try(&r, &options, NULL, &out, NULL, &err), TZ_ERR_DEVICE);
    assert_non_null(strstr(err.message, "tiles outside of its results"));
    assert_null(out.data);
    options.codec.compression = TZ_COMPRESSION_NONE;
    options.verify = TZ_VERIFY_ALL; /* what is verified is found to be wrong */
    options.cog = false;
    assert_int_equal(raster_try(&r, &options, NULL, &out, NULL, &err), TZ_ERR_IO);
    assert_null(out.data);
    tz_device_close(device);
    raster_free(&r);
}

/* ---- memory of the device ---- */

static void little_free_memory_is_enough(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 256, 256, false);
    tz_device *device = NULL;
    tz_error err = {0};
    SCOPED_WRITE_REPORT report = NULL;
    fault_set_memory(40 << 10); /* far less than the write would like to have */
    assert_int_equal(tz_device_open(&device, fault_device_id(), &fault_options, &err), TZ_OK);
    tz_write_options options = options_of(device);
    options.cog = false;
    tz_memory out = raster_write(&r, &options, NULL, &report);
    assert_true(report->device->memory <= 35 << 10);
    assert_true(report->device->waves > 1);
    tz_memory_free(&out);
    tz_device_close(device);
    fault_set_memory(1 << 10); /* and this is too little: the CPU writes the same bytes */
    assert_int_equal(tz_device_open(&device, fault_device_id(), &fault_options, &err), TZ_OK);
    options.device = NULL;
    tz_memory by_cpu = raster_write(&r, &options, NULL, NULL);
    options.device = device;
    out = raster_write(&r, &options, NULL, &report);
    raster_check_same(&by_cpu, &out, "on a full device");
    assert_string_equal(report->device->id, "");
    assert_true(report->device->reason[0] != '\0');
    tz_memory_free(&by_cpu);
    tz_memory_free(&out);
    options.strict_device = true;
    assert_int_equal(raster_try(&r, &options, NULL, &out, NULL, &err), TZ_ERR_LIMIT);
    assert_non_null(strstr(err.message, test_device_is_cuda() ? "in one piece" : "than is free"));
    tz_device_close(device);
    raster_free(&r);
}

/* Others may take memory between the plan and its allocations. */
static void memory_that_is_gone(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 256, 256, false);
    for (uint64_t n = 1; n <= 6; n++) {
        tz_device *device = NULL;
        tz_memory out = {0};
        tz_error err = {0};
        SCOPED_WRITE_REPORT report = NULL;
        assert_int_equal(tz_device_open(&device, fault_device_id(), &fault_options, &err), TZ_OK);
        const tz_write_options options = options_of(device);
        fault_set(FAULT_PINNED, n, FAULT_NO_MEMORY);
        if (raster_try(&r, &options, NULL, &out, &report, &err) != TZ_OK)
            fail_msg("pinned memory %d: %s", (int)n, err.message);
        fault_reset();
        assert_true((report->device->id[0] != '\0') != (report->device->reason[0] != '\0'));
        tz_memory_free(&out);
        assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
        assert_int_equal(fault_live(), 0);
    }
    raster_free(&r);
}

/* ---- a device that nobody named ---- */

/* A file so small is sooner written by the CPU, whose bytes are those of any device. */
static void auto_is_left_where_it_does_not_pay(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 1, 64, 64, false);
    tz_device *device = NULL;
    tz_error err = {0};
    SCOPED_WRITE_REPORT report = NULL;
    assert_int_equal(tz_device_open(&device, "auto", &fault_options, &err), TZ_OK);
    assert_string_equal(tz_device_get_info(device)->id, fault_device_id());
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_DEFAULT);
    options.codec.effort = TZ_EFFORT_FAST;
    tz_memory cpu = raster_write(&r, &options, NULL, NULL);
    options.codec.effort = 0; /* which is the same with a device */
    options.device = device;
    tz_memory other = raster_write(&r, &options, NULL, &report);
    raster_check_same(&cpu, &other, "a small file");
    assert_string_equal(report->device->id, "");
    assert_true(report->device->reason[0] != '\0');
    assert_int_equal(report->device->uploads + report->device->launches, 0);
    tz_memory_free(&cpu);
    tz_device_close(device);
    raster_free(&r);
}

/* ---- threads ---- */

/* Batches are taken apart by some while the next one is made. */
static void several_threads_take_tiles(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 2, 256, 256, true);
    tz_device *device = NULL;
    tz_error err = {0};
    SCOPED_WRITE_REPORT report = NULL;
    const raster_variant way = {.batch = 9};
    assert_int_equal(tz_device_open(&device, fault_device_id(), &fault_options, &err), TZ_OK);
    tz_write_options options = options_of(device);
    options.threads = 4;
    options.max_device_bytes = 100 << 10;
    tz_memory out = raster_write(&r, &options, &way, &report);
    assert_true(report->device->waves > 8);
    assert_int_equal(report->device->tiles, report->tiles - report->device->tiles_on_cpu);
    tz_memory_free(&out);
    tz_device_close(device);
    raster_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAULT(each_call_fails_in_turn),      FAULT(each_allocation_fails_in_turn),
        FAULT(little_free_memory_is_enough), FAULT(auto_is_left_where_it_does_not_pay),
        FAULT(several_threads_take_tiles),   FAULT(memory_that_is_gone),
    };
    const struct CMUnitTest of_opencl[] = {FAULT(nonsense_is_not_believed)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return test_device_is_cuda() ? failed : failed + cmocka_run_group_tests(of_opencl, NULL, NULL);
}
