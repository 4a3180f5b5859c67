/* SPDX-License-Identifier: Apache-2.0
 * Rows copied within device memory: as a plain loop copies them, for all
 * sizes of samples and strides of either sign, and nothing beside them is written. */
#include <stdlib.h>
#include <string.h>

#include "device/device_state.h"
#include "device/ops/extract.h"
#include "pixel/pixel.h"
#include "support/check.h"
#include "support/device/test_device.h"

#define ROUNDS 150

static uint32_t seed = 99;

static uint32_t below(uint32_t count)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % count;
}

/* Strides of one order of bands and pixels, with gaps or without, and either sign; the bytes that
 * they span. */
static uint64_t choose_strides(tz_pixel_buffer *b)
{
    const int64_t size = (int64_t)tz_dtype_size(b->dtype);
    const bool by_band = below(2);
    const int64_t gap = below(2) ? 0 : (int64_t)below(9);
    b->column_stride = by_band ? size + gap : size * (int64_t)b->bands + gap;
    b->row_stride = b->column_stride * (int64_t)b->width + (int64_t)below(9);
    b->band_stride = by_band ? b->row_stride * (int64_t)b->height : size;
    const int64_t all = b->row_stride * (int64_t)b->height * (by_band ? (int64_t)b->bands : 1);
    b->offset = below(20);
    if (below(4) == 0) {
        b->offset += (uint64_t)(b->column_stride * (int64_t)(b->width - 1));
        b->column_stride = -b->column_stride;
    }
    if (below(4) == 0) {
        b->offset += (uint64_t)(b->row_stride * (int64_t)(b->height - 1));
        b->row_stride = -b->row_stride;
    }
    if (below(4) == 0) {
        b->offset += (uint64_t)(b->band_stride * (int64_t)(b->bands - 1));
        b->band_stride = -b->band_stride;
    }
    return (uint64_t)all + 40;
}

static void copy_plainly(const tz_pixel_buffer *from, const tz_pixel_buffer *to)
{
    for (uint32_t s = 0; s < from->bands; s++)
        for (uint32_t y = 0; y < from->height; y++)
            for (uint32_t x = 0; x < from->width; x++)
                memcpy(tz_buffer_at(to, s, y, x), tz_buffer_at(from, s, y, x),
                       tz_dtype_size(from->dtype));
}

static uint8_t *random_bytes(uint64_t size)
{
    uint8_t *bytes = malloc(size);
    for (uint64_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)below(256);
    return bytes;
}

/* Both in one allocation, one after the other. */
static void compare_random(void)
{
    static const tz_dtype types[] = {TZ_DTYPE_UINT8, TZ_DTYPE_INT16, TZ_DTYPE_FLOAT32,
                                     TZ_DTYPE_FLOAT64, TZ_DTYPE_COMPLEX_FLOAT64};
    tz_error err;
    tz_pixel_buffer from = {.dtype = types[below(5)],
                            .bands = 1 + below(5),
                            .height = 1 + below(67),
                            .width = 1 + below(67)};
    tz_pixel_buffer to = from;
    const uint64_t half = choose_strides(&from);
    const uint64_t size = half + choose_strides(&to);
    uint8_t *expected = random_bytes(size), *found = malloc(size);
    to.offset += half;
    assert_int_equal(tz_device_memory_alloc(&from.memory, test_device, size, &err), TZ_OK);
    to.memory = from.memory;
    assert_int_equal(tz_device_upload(0, from.memory, 0, expected, size, &err), TZ_OK);
    assert_int_equal(tz_copy_rows_launch(&from, &to, 0, &err), TZ_OK);
    assert_int_equal(tz_device_download(0, found, from.memory, 0, size, &err), TZ_OK);
    assert_int_equal(tz_device_sync(test_device, 0, &err), TZ_OK);
    from.data = expected + from.offset;
    to.data = expected + to.offset;
    copy_plainly(&from, &to);
    assert_memory_equal(found, expected, size);
    tz_device_memory_free(from.memory);
    free(expected);
    free(found);
}

static void test_random(void **state)
{
    (void)state;
    const tz_device_type own = test_device->info.type;
    for (unsigned i = 0; i < test_device_sample(ROUNDS); i++) {
        test_device->info.type = i % 2 ? TZ_DEVICE_TYPE_CPU : TZ_DEVICE_TYPE_GPU;
        compare_random();
    }
    test_device->info.type = own;
}

static void test_one_launch(void **state)
{
    (void)state;
    tz_error err;
    tz_device_counts wave;
    tz_pixel_buffer from = {.dtype = TZ_DTYPE_UINT16,
                            .bands = 3,
                            .height = 100,
                            .width = 50,
                            .band_stride = 2,
                            .row_stride = 300,
                            .column_stride = 6};
    assert_int_equal(tz_device_memory_alloc(&from.memory, test_device, 60000, &err), TZ_OK);
    tz_pixel_buffer to = from;
    to.offset = 30000;
    tz_device_begin_wave(test_device);
    assert_int_equal(tz_copy_rows_launch(&from, &to, 0, &err), TZ_OK);
    tz_device_get_counts(test_device, NULL, &wave);
    assert_int_equal(wave.launches, 1);
    from.height = to.height = 0; /* nothing to do is not an error */
    assert_int_equal(tz_copy_rows_launch(&from, &to, 0, &err), TZ_OK);
    assert_int_equal(tz_device_sync(test_device, 0, &err), TZ_OK);
    tz_device_memory_free(from.memory);
}

static void refuse(const tz_pixel_buffer *from, const tz_pixel_buffer *to, const char *text)
{
    tz_error err;
    assert_int_equal(tz_copy_rows_launch(from, to, 0, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, text));
}

static void test_wrong_places(void **state)
{
    (void)state;
    tz_error err;
    tz_pixel_buffer good = {.dtype = TZ_DTYPE_UINT16,
                            .bands = 2,
                            .height = 10,
                            .width = 5,
                            .band_stride = 100,
                            .row_stride = 10,
                            .column_stride = 2};
    assert_int_equal(tz_device_memory_alloc(&good.memory, test_device, 200, &err), TZ_OK);
    tz_pixel_buffer other = good;
    other.width = 4;
    refuse(&good, &other, "same shape");
    other = good;
    other.dtype = TZ_DTYPE_INT16;
    refuse(&good, &other, "same shape");
    other = good;
    other.offset = 1;
    refuse(&good, &other, "not within");
    refuse(&other, &good, "not within");
    other.offset = UINT64_MAX;
    refuse(&good, &other, "not within");
    other = good;
    other.row_stride = -10;
    refuse(&good, &other, "not within");
    other.offset = 89;
    refuse(&other, &good, "not within");
    other.row_stride = INT64_MIN;
    refuse(&other, &good, "not within");
    other.row_stride = INT64_MAX;
    refuse(&other, &good, "not within");
    tz_device_memory_free(good.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_one_launch),
        cmocka_unit_test(test_wrong_places),
    };
    return cmocka_run_group_tests(tests, test_device_begin, test_device_end);
}
