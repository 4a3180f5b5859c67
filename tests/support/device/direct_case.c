/* SPDX-License-Identifier: Apache-2.0 */
#include "support/device/direct_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/nvidia/cufile.h"
#include "fakes/nvidia/nvidia_fake_load.h"
#include "support/device/cuda_steps.h"
#include "support/device/library_text.h"
#include "support/gated_file.h"
#include "support/plain_read.h"
#include "support/scratch.h"
#include "support/tile_file.h"

cuda_fake_control *direct_cuda;
cufile_fake_control *direct_control;
tz_device *direct_device;

/* ---- beginning and end ---- */

int direct_begin_all(void **state)
{
    direct_control = cufile_fake_load(CUFILE_FAKE);
    assert_non_null(direct_control);
    direct_cuda = cuda_fake_load();
    tf_warm_up();
    return scratch_begin(state);
}

int direct_end_all(void **state)
{
    return scratch_end(state);
}

int direct_begin(void **state)
{
    (void)state;
    cuda_fake_reset(direct_cuda);
    *direct_control = (cufile_fake_control){CUFILE_FAKE_DEFAULTS};
    direct_control->direct = true;
    gate_uncached();
    tz_cu_set_modules_path("/dev/null");
    direct_open(CUFILE_FAKE, "");
    return 0;
}

void direct_open(const char *cufile, const char *nvcomp)
{
    direct_open_keeping(cufile, nvcomp, 1);
}

void direct_open_keeping(const char *cufile, const char *nvcomp, uint64_t pinned_bytes)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_error err;
    direct_close();
    library_set(&how, "cuda", CUDA_FAKE);
    library_set(&how, "nvcomp", nvcomp);
    library_set(&how, "cufile", cufile);
    how.max_pinned_bytes = pinned_bytes;
    assert_int_equal(tz_device_open(&direct_device, "cuda:0", &how, &err), TZ_OK);
    steps_try_libraries(direct_device);
}

void direct_close(void)
{
    tz_error err;
    assert_int_equal(tz_device_close_checked(direct_device, &err), TZ_OK);
    direct_device = NULL;
}

/* Descriptors of files of the tests: fakes have others. */
static size_t open_files(void)
{
    size_t count = 0;
    for (int fd = 0; fd < 256; fd++) {
        char name[64], target[512] = "";
        (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        if (readlink(name, target, sizeof target - 1) > 0)
            count += strncmp(target, scratch_folder(), strlen(scratch_folder())) == 0;
    }
    return count;
}

int direct_end(void **state)
{
    (void)state;
    direct_close();
    (void)gate_end();
    tz_cu_set_modules_path(NULL);
    assert_string_equal(direct_cuda->fault, "");
    assert_string_equal(direct_control->misuse, "");
    assert_int_equal(direct_cuda->live, 0);
    assert_int_equal(direct_control->opens, 0);
    assert_int_equal(direct_control->files, 0);
    assert_int_equal(direct_control->buffers, 0);
    assert_int_equal(direct_control->batches, 0);
    assert_int_equal(direct_control->unaligned, 0);
    assert_int_equal(open_files(), 0);
    return 0;
}

/* ---- files ---- */

tz_write_options direct_tiles(tz_compression compression)
{
    tz_write_options how = TZ_WRITE_OPTIONS_INIT;
    how.codec.compression = compression;
    how.tile_width = 64;
    how.tile_height = 64;
    return how;
}

direct_image direct_make(const char *name, uint32_t across, uint32_t down,
                         const tz_write_options *how)
{
    direct_image i = {.width = across * 64, .height = down * 64, .tiles = (uint64_t)across * down};
    raster r = raster_make(TZ_DTYPE_UINT8, 1, i.width, i.height, false);
    uint8_t *pixels = r.pixels.data;
    uint32_t seed = 1;
    tz_error err;
    for (size_t k = 0; k < (size_t)i.width * i.height; k++) {
        seed = seed * 1664525u + 1013904223u;
        pixels[k] = (uint8_t)(seed >> 24);
    }
    tz_memory bytes = raster_write(&r, how, &(raster_variant){0}, NULL);
    i.size = bytes.size;
    scratch_write(name, bytes.data, bytes.size);
    tz_memory_free(&bytes);
    raster_free(&r);
    (void)snprintf(i.path, sizeof i.path, "%s", scratch_path(name));
    assert_int_equal(tz_open(&i.file, i.path, NULL, &err), TZ_OK);
    return i;
}

void direct_drop(direct_image *i)
{
    tz_close(i->file);
    remove(i->path);
}

/* ---- reading ---- */

static void size_of(const direct_image *i, const direct_read *how, uint32_t *width,
                    uint32_t *height)
{
    const tz_level *level = tz_file_get_level(i->file, how->level);
    *width = how->window.width ? how->window.width : level->width;
    *height = how->window.height ? how->window.height : level->height;
}

size_t direct_pixel_count(const direct_image *i, const direct_read *how)
{
    uint32_t width, height;
    size_of(i, how, &width, &height);
    return (size_t)width * height;
}

tz_result direct_pixels(const direct_image *i, const direct_read *how, tz_device *device,
                        uint8_t **pixels, plain_report *report, tz_error *err)
{
    tz_read_options options = TZ_READ_OPTIONS_INIT;
    tz_device_memory *memory = NULL;
    plain_item item = {.file = i->file,
                       .level = how->level,
                       .window = how->window,
                       .outcome = how->outcome,
                       .into = {.dtype = TZ_DTYPE_UINT8, .bands = 1}};
    const size_t size = direct_pixel_count(i, how);
    size_of(i, how, &item.into.width, &item.into.height);
    *pixels = malloc(size);
    memset(*pixels, 0x5A, size);
    options.device = device;
    options.strict_device = how->strict;
    options.max_device_bytes = how->device_bytes;
    options.threads = how->threads;
    item.into.data = *pixels;
    if (device && how->to_device) {
        assert_int_equal(tz_device_memory_alloc(&memory, device, size, err), TZ_OK);
        plain_on_device(&item.into, memory);
    }
    tz_result result = plain_read(&item, &options, report, err);
    if (memory && result == TZ_OK)
        result = tz_device_copy_out(*pixels, memory, 0, size, err);
    tz_device_memory_free(memory);
    return result;
}

plain_report direct_check(const direct_image *i, const direct_read *how)
{
    uint8_t *expected, *found;
    plain_report report;
    tz_error err;
    assert_int_equal(direct_pixels(i, how, NULL, &expected, NULL, &err), TZ_OK);
    const tz_result result = direct_pixels(i, how, direct_device, &found, &report, &err);
    if (result != TZ_OK)
        print_message("%s\n", err.message);
    assert_int_equal(result, TZ_OK);
    assert_memory_equal(found, expected, direct_pixel_count(i, how));
    free(expected);
    free(found);
    return report;
}

/* ---- steps ---- */

size_t direct_steps(const char *call)
{
    size_t count = 0;
    for (size_t i = 0; i < direct_cuda->step_count; i++)
        count += strcmp(direct_cuda->steps[i].call, call) == 0;
    return count;
}

size_t direct_first(const char *call)
{
    for (size_t i = 0; i < direct_cuda->step_count; i++) {
        if (strcmp(direct_cuda->steps[i].call, call) == 0)
            return i;
    }
    return SIZE_MAX;
}

size_t direct_last(const char *call)
{
    for (size_t i = direct_cuda->step_count; i > 0; i--) {
        if (strcmp(direct_cuda->steps[i - 1].call, call) == 0)
            return i - 1;
    }
    return SIZE_MAX;
}

void direct_fail(const char *function, uint64_t nth, int32_t code)
{
    direct_cuda->fail_function = function;
    direct_cuda->fail_nth = nth;
    direct_cuda->fail_code = code;
}
