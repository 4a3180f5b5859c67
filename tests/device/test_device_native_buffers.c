/* SPDX-License-Identifier: Apache-2.0
 * Buffers in memory that the caller made with CUDA or OpenCL: read to and written from as they are,
 * without a wrapper of the caller's. */
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "support/alloc_hook.h"
#include "support/check.h"
#include "support/device/caller_device.h"
#include "support/device/test_device.h"
#include "support/raster.h"
#include "support/raster_variants.h"

enum { WIDE = 70, HIGH = 50, BANDS = 3, SAMPLES = WIDE * HIGH * BANDS, FRONT = 6 };
enum { SIZE = SAMPLES * sizeof(uint16_t), ROOM = SIZE + 2 * FRONT };

static caller_device own;
static raster image;
static tz_memory bytes; /* of the image, as the CPU wrote it */
static tz_file *file;

static tz_write_options how_written(tz_device *device)
{
    tz_write_options how = raster_small_tiles(TZ_COMPRESSION_LZW);
    how.device = device;
    return how;
}

static int begin(void **state)
{
    tz_error err;
    (void)state;
    const tz_write_options how = how_written(NULL);
    caller_begin(&own);
    image = raster_make(TZ_DTYPE_UINT16, BANDS, WIDE, HIGH, false);
    bytes = raster_write(&image, &how, NULL, NULL);
    return tz_open_memory(&file, bytes.data, bytes.size, NULL, &err) != TZ_OK;
}

static int end(void **state)
{
    (void)state;
    tz_close(file);
    tz_memory_free(&bytes);
    raster_free(&image);
    caller_end(&own);
    return 0;
}

#define NATIVE(test) cmocka_unit_test_setup_teardown(test, begin, end)

static tz_memory_kind kind(void)
{
    return test_device_is_cuda() ? TZ_MEMORY_KIND_CUDA : TZ_MEMORY_KIND_OPENCL;
}

/* Height, width, bands; FRONT bytes from the start. */
static tz_buffer native_buffer(void *handle)
{
    tz_buffer b = TZ_BUFFER_INIT;
    b.data = handle;
    b.offset = FRONT;
    b.memory = kind();
    b.dtype = TZ_DTYPE_UINT16;
    b.bands = BANDS;
    b.height = HIGH;
    b.width = WIDE;
    b.band_stride = sizeof(uint16_t);
    b.column_stride = BANDS * sizeof(uint16_t);
    b.row_stride = WIDE * b.column_stride;
    return b;
}

/* The same from the last row up. */
static tz_buffer upside_down(tz_buffer b)
{
    b.offset += (uint64_t)((HIGH - 1) * b.row_stride);
    b.row_stride = -b.row_stride;
    return b;
}

static void *poisoned(size_t size)
{
    void *handle = caller_alloc(&own, size);
    uint8_t *poison = malloc(size);
    memset(poison, 0xBB, size);
    caller_copy_in(&own, handle, poison, size);
    free(poison);
    return handle;
}

static uint16_t expected(uint32_t band, uint32_t row, uint32_t column)
{
    return ((const uint16_t *)image.pixels.data)[(band * HIGH + row) * WIDE + column];
}

static void check_memory(void *handle, bool turned)
{
    static uint8_t got[ROOM];
    caller_copy_out(&own, got, handle, sizeof got);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const uint32_t row = i / BANDS / WIDE;
        uint16_t sample;
        memcpy(&sample, got + FRONT + i * sizeof sample, sizeof sample);
        assert_int_equal(sample,
                         expected(i % BANDS, turned ? HIGH - 1 - row : row, i / BANDS % WIDE));
    }
    for (uint32_t i = 0; i < FRONT; i++) /* nothing around it was touched */
        assert_true(got[i] == 0xBB && got[ROOM - 1 - i] == 0xBB);
}

static tz_item item_of(const tz_buffer *into)
{
    tz_item item = TZ_ITEM_INIT;
    item.file = file;
    item.into = into;
    return item;
}

static tz_read_options options_of(tz_device *device)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.device = device;
    return how;
}

/* ---- reads ---- */

static void pixels_are_read_to_memory_of_the_caller(void **state)
{
    (void)state;
    const tz_read_options how = options_of(own.opened);
    for (int turned = 0; turned < 2; turned++) {
        void *handle = poisoned(ROOM);
        const tz_buffer plain = native_buffer(handle);
        const tz_buffer into = turned ? upside_down(plain) : plain;
        const tz_item item = item_of(&into);
        tz_read_report *report = NULL;
        tz_error err;
        assert_int_equal(tz_plan_read(NULL, &item, 1, &how, &err), TZ_OK);
        if (tz_read(&item, &how, &report, &err) != TZ_OK)
            fail_msg("%s", err.message);
        assert_true(report->device->tiles > 0 && report->device->download_bytes < SAMPLES);
        tz_read_report_free(report);
        check_memory(handle, turned);
        caller_free(&own, handle); /* nobody has a hold of it */
    }
}

/* A pointer to the last row, as views of arrays have it: the bytes before it are the array's. */
static void addresses_may_be_inside_of_their_memory(void **state)
{
    (void)state;
    const tz_read_options how = options_of(own.opened);
    void *handle = poisoned(ROOM);
    tz_buffer into = upside_down(native_buffer(handle));
    const tz_item item = item_of(&into);
    tz_error err;
    if (!test_device_is_cuda()) { /* a cl_mem begins with its first byte */
        into.offset--;
        into.offset -= FRONT;
        assert_int_equal(tz_read(&item, &how, NULL, &err), TZ_ERR_ARG);
        assert_non_null(strstr(err.message, "before its memory"));
        caller_free(&own, handle);
        return;
    }
    into.data = (uint8_t *)handle + into.offset;
    into.offset = 0;
    if (tz_read(&item, &how, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    check_memory(handle, true);
    into.data = (uint8_t *)handle + SIZE - WIDE * BANDS * 2 - 1; /* a byte too early */
    assert_int_equal(tz_read(&item, &how, NULL, &err), TZ_ERR_ARG);
    into.data = (void *)16;
    assert_int_equal(tz_read(&item, &how, NULL, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "larger than memory"));
    caller_free(&own, handle);
}

/* All items of a batch are in one array: kernels see one memory, as with a wrapper. */
static void items_of_one_array_share_its_memory(void **state)
{
    (void)state;
    enum { ITEMS = 20 };
    const tz_read_options how = options_of(own.opened);
    void *handle = poisoned(ITEMS * ROOM);
    tz_device_memory *wrapper = NULL;
    tz_error err;
    uint64_t launches[2];
    assert_int_equal(tz_device_wrap(&wrapper, own.opened, handle, 0, &err), TZ_OK);
    for (int wrapped = 0; wrapped < 2; wrapped++) {
        tz_buffer buffers[ITEMS];
        tz_item items[ITEMS];
        tz_read_report *report = NULL;
        for (unsigned i = 0; i < ITEMS; i++) {
            buffers[i] = native_buffer(wrapped ? (void *)wrapper : handle);
            buffers[i].memory = wrapped ? TZ_MEMORY_KIND_DEVICE : kind();
            buffers[i].offset += i * ROOM;
            items[i] = item_of(&buffers[i]);
        }
        if (tz_read_batch(items, ITEMS, &how, &report, &err) != TZ_OK)
            fail_msg("%s", err.message);
        launches[wrapped] = report->device->launches;
        tz_read_report_free(report);
    }
    assert_int_equal(launches[0], launches[1]);
    tz_device_memory_free(wrapper);
    check_memory(handle, false);
    caller_free(&own, handle);
}

static void masks_are_read_there_too(void **state)
{
    (void)state;
    const tz_read_options how = options_of(own.opened);
    static uint8_t got[WIDE * HIGH * BANDS];
    void *handle = poisoned(ROOM), *mask_handle = poisoned(sizeof got);
    const tz_buffer into = native_buffer(handle);
    tz_buffer mask = into;
    tz_item item = item_of(&into);
    tz_error err;
    mask.data = mask_handle;
    mask.offset = 0;
    mask.dtype = TZ_DTYPE_UINT8;
    mask.band_stride = mask.row_stride = mask.column_stride = 0;
    item.into_mask = &mask;
    if (tz_read(&item, &how, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    check_memory(handle, false);
    caller_copy_out(&own, got, mask_handle, sizeof got);
    for (size_t i = 0; i < sizeof got; i++)
        assert_int_equal(got[i], 255);
    caller_free(&own, handle);
    caller_free(&own, mask_handle);
}

/* The CPU does what a device cannot, into the same memory. */
static void resampled_pixels_are_read_there_too(void **state)
{
    (void)state;
    enum { PART = WIDE / 2 * HIGH * BANDS };
    tz_read_options how = options_of(NULL);
    static uint16_t by_cpu[PART], got[PART];
    void *handle = poisoned(sizeof got);
    tz_buffer into = native_buffer(by_cpu);
    const tz_item item = item_of(&into);
    tz_error err;
    into.offset = 0;
    into.width = WIDE / 2;
    into.band_stride = into.row_stride = into.column_stride = 0;
    into.memory = TZ_MEMORY_KIND_HOST;
    how.resampling = TZ_RESAMPLING_CUBIC;
    assert_int_equal(tz_read(&item, &how, NULL, &err), TZ_OK);
    how.device = own.opened;
    into.data = handle;
    into.memory = kind();
    if (tz_read(&item, &how, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    caller_copy_out(&own, got, handle, sizeof got);
    assert_memory_equal(got, by_cpu, sizeof got);
    caller_free(&own, handle);
}

static void refused(const tz_buffer *into, tz_device *device, const char *text)
{
    const tz_item item = item_of(into);
    const tz_read_options how = options_of(device);
    tz_error err = {.result = TZ_OK};
    assert_int_equal(tz_read(&item, &how, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_plan_read(NULL, &item, 1, &how, NULL), TZ_ERR_ARG);
    if (!strstr(err.message, text))
        fail_msg("'%s' is not in '%s'", text, err.message);
}

static void wrong_memory_is_refused(void **state)
{
    (void)state;
    void *handle = poisoned(ROOM);
    const tz_buffer good = native_buffer(handle);
    tz_buffer b = good;
    tz_device *cpu = NULL;
    tz_error err;
    assert_int_equal(tz_device_open(&cpu, "cpu", NULL, &err), TZ_OK);
    refused(&b, NULL, "options->device does not say");
    refused(&b, cpu, "options->device is cpu");
    b.memory = kind() == TZ_MEMORY_KIND_CUDA ? TZ_MEMORY_KIND_OPENCL : TZ_MEMORY_KIND_CUDA;
    refused(&b, own.opened, "options->device is");
    b = good;
    b.offset = 2 * FRONT + 1;
    refused(&b, own.opened, "past the end");
    b.offset = UINT64_MAX;
    refused(&b, own.opened, "past the end");
    b = good;
    b.data = NULL;
    refused(&b, own.opened, "no memory");
    b = good;
    b.width = 0;
    refused(&b, own.opened, "empty");
    caller_foreign foreign = caller_foreign_begin(&own, ROOM);
    b = native_buffer(foreign.memory);
    refused(&b, own.opened, "another context");
    caller_foreign_end(&own, &foreign);
    tz_device_close(cpu);
    caller_free(&own, handle);
}

/* ---- writes ---- */

static tz_result write_rows(const tz_buffer *rows, tz_device *device, tz_memory *out, tz_error *err)
{
    const tz_write_options how = how_written(device);
    tz_writer *writer = NULL;
    tz_result result = tz_create_memory(&writer, out, &image.spec, &how, err);
    for (uint32_t row = 0; result == TZ_OK && row < HIGH; row += HIGH / 2) {
        tz_buffer part = *rows; /* in two calls */
        part.height = HIGH / 2;
        part.offset += (uint64_t)(row * part.row_stride);
        result = tz_write_rows(writer, &part, NULL, err);
    }
    if (result == TZ_OK)
        result = tz_commit(writer, NULL, err);
    tz_writer_close(writer);
    return result;
}

static void rows_are_written_from_memory_of_the_caller(void **state)
{
    (void)state;
    const tz_read_options how = options_of(own.opened);
    void *handle = poisoned(ROOM);
    const tz_buffer plain = native_buffer(handle);
    const tz_item item = item_of(&plain);
    tz_error err;
    assert_int_equal(tz_read(&item, &how, NULL, &err), TZ_OK);
    tz_memory out = {0};
    if (write_rows(&plain, own.opened, &out, &err) != TZ_OK)
        fail_msg("%s", err.message);
    assert_int_equal(out.size, bytes.size);
    assert_memory_equal(out.data, bytes.data, bytes.size);
    tz_memory_free(&out);
    assert_int_equal(write_rows(&plain, NULL, &out, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "options->device"));
    tz_buffer wrong = plain;
    wrong.offset = UINT64_MAX;
    assert_int_equal(write_rows(&wrong, own.opened, &out, &err), TZ_ERR_ARG);
    wrong = plain;
    wrong.memory = kind() == TZ_MEMORY_KIND_CUDA ? TZ_MEMORY_KIND_OPENCL : TZ_MEMORY_KIND_CUDA;
    assert_int_equal(write_rows(&wrong, own.opened, &out, &err), TZ_ERR_ARG);
    check_memory(handle, false);
    caller_free(&own, handle);
}

/* ---- memory ---- */

static void every_allocation_fails_in_turn(void **state)
{
    (void)state;
    const tz_read_options how = options_of(own.opened);
    void *handle = poisoned(ROOM), *second = poisoned(ROOM), *third = poisoned(ROOM);
    const tz_buffer buffers[] = {native_buffer(handle), native_buffer(second),
                                 native_buffer(third)};
    const tz_item items[] = {item_of(&buffers[0]), item_of(&buffers[1]), item_of(&buffers[2])};
    tz_error err;
    assert_int_equal(tz_read_batch(items, 3, &how, NULL, &err), TZ_OK); /* programs are kept */
    for (uint64_t n = 1;; n++) {
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        const tz_result result = tz_read_batch(items, 3, &how, NULL, &err);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        if (stats.failures == 0) {
            assert_int_equal(result, TZ_OK);
            break;
        }
        assert_true(result == TZ_ERR_NOMEM || result == TZ_OK);
    }
    check_memory(handle, false);
    check_memory(third, false);
    caller_free(&own, handle);
    caller_free(&own, second);
    caller_free(&own, third);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NATIVE(pixels_are_read_to_memory_of_the_caller),
        NATIVE(addresses_may_be_inside_of_their_memory),
        NATIVE(items_of_one_array_share_its_memory),
        NATIVE(masks_are_read_there_too),
        NATIVE(resampled_pixels_are_read_there_too),
        NATIVE(wrong_memory_is_refused),
        NATIVE(rows_are_written_from_memory_of_the_caller),
        NATIVE(every_allocation_fails_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
