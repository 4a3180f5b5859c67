/* SPDX-License-Identifier: Apache-2.0 */
#include "support/device/codestream_case.h"

#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "fakes/nvidia/nvidia_fake_load.h"
#include "support/device/cuda_steps.h"
#include "support/device/library_text.h"
#include "support/plain_read.h"

enum { WIDTH = 70, HEIGHT = 50, MOST_IMAGES = 8 };

cuda_fake_control *codestream_cuda;
codestreams_fake_control *codestream_library;

/* ---- fakes ---- */

void codestream_load(void)
{
    codestream_library = codestreams_fake_load(NVJPEG2K_FAKE);
    assert_non_null(codestream_library);
    codestream_cuda = cuda_fake_load();
}

int codestream_begin(void **state)
{
    (void)state;
    cuda_fake_reset(codestream_cuda);
    *codestream_library = (codestreams_fake_control){.live = codestream_library->live};
    return 0;
}

int codestream_end(void **state)
{
    (void)state;
    if (codestream_cuda->fault[0] || codestream_library->misuse[0])
        print_message("%s%s\n", codestream_cuda->fault, codestream_library->misuse);
    return codestream_cuda->live != 0 || codestream_cuda->fault[0] ||
           codestream_library->live != 0 || codestream_library->misuse[0];
}

tz_device *codestream_open_untried(const char *library)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_device *device = NULL;
    tz_error err;
    library_set(&how, "cuda", CUDA_FAKE);
    library_set(&how, "nvcomp", "");
    library_set(&how, "nvjpeg", "");
    library_set(&how, "cufile", "");
    library_set(&how, "nvjpeg2k", library);
    assert_int_equal(tz_device_open(&device, "cuda:0", &how, &err), TZ_OK);
    return device;
}

tz_device *codestream_open(const char *library)
{
    tz_device *device = codestream_open_untried(library);
    steps_try_libraries(device);
    codestream_library->decoded = 0;
    return device;
}

void codestream_close(tz_device *device)
{
    tz_error err;
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
}

void codestream_keep_steps(void)
{
    codestream_cuda->keep_steps = false;
    codestream_cuda->step_count = 0;
    codestream_cuda->keep_steps = true;
}

size_t codestream_calls(const char *begin)
{
    size_t count = 0;
    for (size_t i = 0; i < codestream_cuda->step_count; i++)
        count += strncmp(codestream_cuda->steps[i].call, begin, strlen(begin)) == 0;
    return count;
}

/* ---- files ---- */

/* Its buffers, packed band after band, and the CPU's pixels. */
static void set_buffers(codestream_image *i, tz_window window)
{
    const tz_info *info = tz_file_get_info(i->file);
    const bool whole = window.width == 0;
    tz_error err;
    i->item = (plain_item){.file = i->file,
                           .window = window,
                           .into = {.dtype = info->dtype,
                                    .bands = info->bands,
                                    .width = whole ? info->width : window.width,
                                    .height = whole ? info->height : window.height}};
    i->size =
        (size_t)i->item.into.width * i->item.into.height * info->bands * tz_dtype_size(info->dtype);
    i->expected = malloc(i->size);
    i->found = malloc(i->size);
    i->item.into.data = i->expected;
    const tz_result result = plain_read(&i->item, NULL, NULL, &err);
    assert_true(result == TZ_OK || result == TZ_ERR_FORMAT); /* of a broken file there are none */
    i->item.into.data = i->found;
}

codestream_image codestream_write(tz_dtype dtype, uint32_t bands, const tz_write_options *options,
                                  tz_window window)
{
    raster r = raster_make(dtype, bands, WIDTH, HEIGHT, false);
    codestream_image i = {.memory = raster_write(&r, options, NULL, NULL)};
    tz_error err;
    assert_int_equal(tz_open_memory(&i.file, i.memory.data, i.memory.size, NULL, &err), TZ_OK);
    raster_free(&r);
    set_buffers(&i, window);
    return i;
}

codestream_image codestream_take(tb *built)
{
    codestream_image i = {.built = built, .file = tf_open(built)};
    set_buffers(&i, (tz_window){0});
    return i;
}

codestream_image codestream_tiles(int stream, uint32_t across, uint32_t down)
{
    return codestream_take(tf_new(TB_CLASSIC, &tile_streams[stream], across, down, NULL));
}

void codestream_free(codestream_image *image)
{
    tz_close(image->file);
    if (image->built)
        tb_free(image->built);
    else
        tz_memory_free(&image->memory);
    free(image->expected);
    free(image->found);
}

/* ---- reads ---- */

void codestream_check(const codestream_image *image)
{
    assert_memory_equal(image->found, image->expected, image->size);
}

tz_result codestream_try(codestream_image *const *images, size_t count, const tz_read_options *how,
                         bool on_device, plain_report *report, tz_error *err)
{
    plain_item items[MOST_IMAGES];
    tz_device_memory *memory[MOST_IMAGES] = {NULL};
    for (size_t i = 0; i < count; i++) {
        memset(images[i]->found, 0xA5, images[i]->size);
        items[i] = images[i]->item;
        if (!on_device)
            continue;
        assert_int_equal(tz_device_memory_alloc(&memory[i], how->device, images[i]->size, err),
                         TZ_OK);
        plain_on_device(&items[i].into, memory[i]);
    }
    const tz_result result = plain_read_batch(items, count, how, report, err);
    for (size_t i = 0; i < count && on_device; i++) {
        if (result == TZ_OK)
            assert_int_equal(
                tz_device_copy_out(images[i]->found, memory[i], 0, images[i]->size, err), TZ_OK);
        tz_device_memory_free(memory[i]);
    }
    return result;
}

plain_report codestream_read(codestream_image *image, const tz_read_options *how)
{
    plain_report report;
    tz_error err;
    if (codestream_try(&image, 1, how, false, &report, &err) != TZ_OK)
        fail_msg("%s; %s", err.message, codestream_cuda->fault);
    codestream_check(image);
    return report;
}
