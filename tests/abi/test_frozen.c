/* SPDX-License-Identifier: Apache-2.0
 * A program that was compiled with the headers of 0.2: the frozen copy, and not those of the tree.
 * It writes, opens, reads and validates an image with each struct that it allocates itself, and
 * sets members near the end of them, so that one that moved or changed its meaning is noticed. It
 * must run with every later library of the same SONAME without a change here.
 *
 * To extend it: one function for each call, which takes its structs from the TZ_X_INIT macros of
 * the frozen copy, and a row in main. What all of them share is in make_rows and write_file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "abi/frozen_0_2.h"

#ifdef TERRAZZO_H
#error "the frozen copy is the only header of terrazzo here"
#endif

enum { WIDTH = 40, HEIGHT = 30, BANDS = 2 };

static uint16_t pixels[BANDS][HEIGHT][WIDTH];

/* ---- what the calls share ---- */

static tz_buffer make_rows(void *data)
{
    return (tz_buffer){
        .data = data, .dtype = TZ_DTYPE_UINT16, .bands = BANDS, .height = HEIGHT, .width = WIDTH};
}

static bool count_progress(void *user, uint64_t done, uint64_t total)
{
    (void)done, (void)total;
    ++*(unsigned *)user;
    return true;
}

static bool refuse_progress(void *user, uint64_t done, uint64_t total)
{
    (void)user, (void)done, (void)total;
    return false;
}

static tz_image_spec describe_image(void)
{
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    spec.width = WIDTH;
    spec.height = HEIGHT;
    spec.bands = BANDS;
    spec.dtype = TZ_DTYPE_UINT16;
    spec.nodata_text = "7";
    return spec;
}

static tz_memory write_file(const tz_write_options *options)
{
    tz_memory file = {NULL, 0};
    const tz_image_spec spec = describe_image();
    const tz_buffer rows = make_rows(pixels);
    tz_writer *writer = NULL;
    tz_error err;
    assert_int_equal(tz_create_memory(&writer, &file, &spec, options, &err), TZ_OK);
    assert_int_equal(tz_write_rows(writer, &rows, NULL, &err), TZ_OK);
    assert_int_equal(tz_commit(writer, NULL, &err), TZ_OK);
    tz_writer_close(writer);
    return file;
}

static tz_file *open_file(const tz_memory *file, const tz_open_options *options)
{
    tz_file *opened = NULL;
    tz_error err;
    assert_int_equal(tz_open_memory(&opened, file->data, file->size, options, &err), TZ_OK);
    return opened;
}

/* ---- calls ---- */

static void options_of_writing_are_understood(void **state)
{
    (void)state;
    unsigned calls = 0;
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.tile_width = options.tile_height = 16;
    options.interleave = TZ_INTERLEAVE_BAND;
    options.bigtiff = TZ_BIGTIFF_YES;
    options.verify = TZ_VERIFY_ALL;
    options.progress.call = count_progress;
    options.progress.user = &calls;
    tz_memory file = write_file(&options);
    assert_true(calls > 0);
    tz_file *opened = open_file(&file, NULL);
    const tz_info *info = tz_file_get_info(opened);
    assert_true(info->bigtiff);
    assert_int_equal(info->width, WIDTH);
    assert_int_equal(info->height, HEIGHT);
    assert_int_equal(info->bands, BANDS);
    assert_int_equal(info->dtype, TZ_DTYPE_UINT16);
    assert_int_equal(info->planar, 2);
    assert_string_equal(info->nodata_text, "7");
    tz_close(opened);
    tz_memory_free(&file);
}

static void options_of_opening_are_understood(void **state)
{
    (void)state;
    tz_memory file = write_file(NULL);
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    options.strict = true;
    tz_close(open_file(&file, &options));

    tz_error err;
    tz_file *opened = NULL;
    options.progress.call = refuse_progress;
    assert_int_equal(tz_open_memory(&opened, file.data, file.size, &options, &err),
                     TZ_ERR_CANCELLED);
    assert_int_equal(err.result, TZ_ERR_CANCELLED);
    assert_int_equal(err.cause, TZ_CAUSE_CANCELLED);
    assert_true(strlen(err.message) > 0 && strlen(err.message) < sizeof err.message);
    tz_memory_free(&file);
}

static void options_of_reading_are_understood(void **state)
{
    (void)state;
    static uint16_t back[BANDS][HEIGHT][WIDTH];
    unsigned calls = 0;
    tz_error err;
    tz_memory file = write_file(NULL);
    tz_file *opened = open_file(&file, NULL);
    tz_read_options options = TZ_READ_OPTIONS_INIT;
    options.threads = 1;
    options.progress.call = count_progress;
    options.progress.user = &calls;
    tz_item item = {.file = opened, .into = make_rows(back)};
    assert_int_equal(tz_read(&item, &options, NULL, &err), TZ_OK);
    assert_memory_equal(back, pixels, sizeof pixels);
    assert_true(calls > 0);

    item.window = (tz_window){-WIDTH, 0, WIDTH, HEIGHT}; /* beside the image */
    options.boundless = true;
    options.has_fill = true;
    options.fill = 11;
    assert_int_equal(tz_read(&item, &options, NULL, &err), TZ_OK);
    for (size_t i = 0; i < sizeof back / sizeof back[0][0][0]; i++)
        assert_int_equal((&back[0][0][0])[i], 11);
    tz_close(opened);
    tz_memory_free(&file);
}

static void options_of_validation_are_understood(void **state)
{
    (void)state;
    unsigned calls = 0;
    tz_error err;
    tz_memory file = write_file(NULL);
    tz_file *opened = open_file(&file, NULL);
    tz_validate_options options = TZ_VALIDATE_OPTIONS_INIT;
    options.full = true;
    options.progress.call = count_progress;
    options.progress.user = &calls;
    tz_validation *validation = NULL;
    assert_int_equal(tz_validate_file(&validation, opened, &options, &err), TZ_OK);
    assert_true(validation->full);
    assert_true(calls > 0);
    tz_validation_free(validation);
    tz_close(opened);
    tz_memory_free(&file);
}

static void options_of_devices_are_understood(void **state)
{
    (void)state;
    tz_error err;
    tz_device *device = NULL;
    tz_device_options options = TZ_DEVICE_OPTIONS_INIT;
    options.opencl_library = options.cuda_library = "";
    assert_int_equal(tz_device_open(&device, "auto", &options, &err), TZ_OK);
    assert_string_equal(tz_device_get_info(device)->id, "cpu");
    tz_device_close(device);
}

static void tensors_are_made_of_buffers(void **state)
{
    (void)state;
    tz_error err;
    tz_dl_managed *managed = NULL;
    tz_dlpack_options options = TZ_DLPACK_OPTIONS_INIT;
    options.axes = TZ_DL_BANDS_LAST;
    const tz_buffer rows = make_rows(pixels);
    assert_int_equal(tz_dlpack_from_buffer(&managed, &rows, &options, &err), TZ_OK);
    assert_int_equal(managed->tensor.ndim, 3);
    assert_int_equal(managed->tensor.shape[2], BANDS);
    managed->deleter(managed);
}

static void codecs_are_listed(void **state)
{
    (void)state;
    tz_compression compression;
    assert_string_equal(tz_codec_get(0)->name, "NONE");
    assert_true(tz_codec_get(0)->can_write);
    assert_true(tz_compression_from_name(&compression, "lzw"));
    assert_int_equal(compression, TZ_COMPRESSION_LZW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_writing_are_understood),
        cmocka_unit_test(options_of_opening_are_understood),
        cmocka_unit_test(options_of_reading_are_understood),
        cmocka_unit_test(options_of_validation_are_understood),
        cmocka_unit_test(options_of_devices_are_understood),
        cmocka_unit_test(tensors_are_made_of_buffers),
        cmocka_unit_test(codecs_are_listed),
    };
    for (int i = 0; i < BANDS * HEIGHT * WIDTH; i++)
        (&pixels[0][0][0])[i] = (uint16_t)(i * 37);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
