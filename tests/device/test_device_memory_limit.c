/* SPDX-License-Identifier: Apache-2.0
 * A device with little memory: what does not fit is refused before anything is allocated, and what
 * is freed can be used again. */
#include <stdlib.h>

#include "device/device.h"
#include "support/check.h"
#include "support/device/test_device.h"
#include "support/plain_read.h"

#define GIGABYTE ((uint64_t)1 << 30)

static bool is_small;

static void what_does_not_fit_is_refused_and_what_is_freed_is_free(void **state)
{
    tz_device_memory *held[64];
    const uint64_t all = tz_device_get_info(test_device)->memory_bytes, piece = all / 8;
    size_t count = 0;
    tz_error err = {0};
    tz_result result = TZ_OK;
    (void)state;
    if (!is_small) {
        print_message("skip: a GPU has the memory that it has\n");
        skip();
    }
    assert_true(all <= GIGABYTE);
    while (count < 64 && result == TZ_OK) {
        result = tz_device_admit(test_device, &piece, 1, &err);
        if (result == TZ_OK)
            result = tz_device_memory_alloc(&held[count], test_device, piece, &err);
        count += result == TZ_OK;
    }
    assert_int_equal(result, TZ_ERR_LIMIT);
    assert_true(count >= 4 && count < 9);
    while (count > 0)
        tz_device_memory_free(held[--count]);
    assert_int_equal(tz_device_admit(test_device, &piece, 1, &err), TZ_OK);
}

/* A read that is not given room for a tile is refused; after that, and beside memory that is held,
 * reads work. */
static void reads_go_on_beside_memory_that_is_held(void **state)
{
    tz_device_memory *held = NULL;
    tz_memory file = {0};
    tz_error err = {0};
    const uint64_t much = tz_device_get_info(test_device)->memory_bytes / 4;
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    tz_writer *writer = NULL;
    tz_file *opened = NULL;
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    (void)state;
    spec.width = spec.height = 1024, spec.bands = 1, spec.dtype = TZ_DTYPE_UINT16;
    uint16_t *pixels = calloc((size_t)spec.width * spec.height, sizeof *pixels);
    uint16_t *back = calloc((size_t)spec.width * spec.height, sizeof *back);
    assert_non_null(pixels);
    assert_non_null(back);
    for (uint32_t i = 0; i < spec.width * spec.height; i++)
        pixels[i] = (uint16_t)(i * 2654435761u >> 16);
    const tz_buffer rows = {.struct_size = sizeof(tz_buffer),
                            .data = pixels,
                            .dtype = TZ_DTYPE_UINT16,
                            .bands = 1,
                            .height = 1024,
                            .width = 1024};
    const tz_write_options lzw = {.struct_size = sizeof lzw,
                                  .codec.compression = TZ_COMPRESSION_LZW};
    assert_int_equal(tz_create_memory(&writer, &file, &spec, &lzw, &err), TZ_OK);
    assert_int_equal(tz_write_rows(writer, &rows, NULL, &err), TZ_OK);
    assert_int_equal(tz_commit(writer, NULL, &err), TZ_OK);
    tz_writer_close(writer);
    assert_int_equal(tz_open_memory(&opened, file.data, file.size, NULL, &err), TZ_OK);
    plain_item item = {.file = opened, .into = rows};
    item.into.data = back;
    how.device = test_device;
    how.max_device_bytes = 1000; /* not even a tile */
    assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_ERR_LIMIT);
    how.max_device_bytes = 0;
    assert_int_equal(tz_device_memory_alloc(&held, test_device, much, &err), TZ_OK);
    assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_OK);
    assert_memory_equal(back, pixels, (size_t)spec.width * spec.height * sizeof *back);
    tz_device_memory_free(held);
    tz_close(opened);
    tz_memory_free(&file);
    free(pixels);
    free(back);
}

/* A strip of 9 MiB: no kernel runs for seconds on one tile. */
static void huge_tiles_are_left_to_the_cpu(void **state)
{
    enum { SIDE = 3072 };
    static uint8_t pixels[SIDE * SIDE], back[SIDE * SIDE];
    const bool is_gpu = tz_device_get_info(test_device)->type == TZ_DEVICE_TYPE_GPU;
    const tz_buffer rows = {.struct_size = sizeof(tz_buffer),
                            .data = pixels,
                            .dtype = TZ_DTYPE_UINT8,
                            .bands = 1,
                            .height = SIDE,
                            .width = SIDE};
    tz_write_options strip = TZ_WRITE_OPTIONS_INIT;
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    tz_memory bytes = {0};
    tz_writer *writer = NULL;
    tz_file *file = NULL;
    plain_report report;
    tz_error err = {0};
    (void)state;
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        pixels[i] = (uint8_t)(i / SIDE / 40 + i % SIDE / 100);
    spec.width = spec.height = SIDE, spec.bands = 1, spec.dtype = TZ_DTYPE_UINT8;
    strip.codec.compression = TZ_COMPRESSION_DEFLATE, strip.strips = true, strip.tile_height = SIDE;
    assert_int_equal(tz_create_memory(&writer, &bytes, &spec, &strip, &err), TZ_OK);
    assert_int_equal(tz_write_rows(writer, &rows, NULL, &err), TZ_OK);
    assert_int_equal(tz_commit(writer, NULL, &err), TZ_OK);
    tz_writer_close(writer);
    assert_int_equal(tz_open_memory(&file, bytes.data, bytes.size, NULL, &err), TZ_OK);
    plain_item item = {.file = file, .into = rows};
    item.into.data = back;
    how.device = test_device;
    assert_int_equal(plain_read(&item, &how, &report, &err), TZ_OK);
    assert_memory_equal(back, pixels, sizeof pixels);
    assert_int_equal(report.device.tiles, is_gpu ? 0 : 1);
    assert_int_equal(report.device.reason[0] != '\0', is_gpu);
    how.strict_device = true;
    assert_int_equal(plain_read(&item, &how, &report, &err), is_gpu ? TZ_ERR_UNSUPPORTED : TZ_OK);
    tz_close(file);
    tz_memory_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_fit_is_refused_and_what_is_freed_is_free),
        cmocka_unit_test(reads_go_on_beside_memory_that_is_held),
        cmocka_unit_test(huge_tiles_are_left_to_the_cpu),
    };
    is_small = test_device_shrink();
    return cmocka_run_group_tests(tests, test_device_begin, test_device_end);
}
