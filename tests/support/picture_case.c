/* SPDX-License-Identifier: Apache-2.0 */
#include "support/picture_case.h"

#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "double/nv_double_load.h"
#include "support/cuda_steps.h"

enum { WIDTH = 70, HEIGHT = 50, MOST_IMAGES = 8 };

cuda_double_control *pc_cuda;
pictures_double_control *pc_library;

/* ---- doubles ---- */

void pc_load(void)
{
    pc_library = pictures_double_load(NVJPEG2K_DOUBLE);
    assert_non_null(pc_library);
    pc_cuda = cuda_double_load();
}

int pc_begin(void **state)
{
    (void)state;
    cuda_double_reset(pc_cuda);
    *pc_library = (pictures_double_control){.live = pc_library->live};
    return 0;
}

int pc_end(void **state)
{
    (void)state;
    if (pc_cuda->fault[0] || pc_library->misuse[0])
        print_message("%s%s\n", pc_cuda->fault, pc_library->misuse);
    return pc_cuda->live != 0 || pc_cuda->fault[0] || pc_library->live != 0 ||
           pc_library->misuse[0];
}

tz_device *pc_open_untried(const char *library)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_device *device = NULL;
    tz_error err;
    how.cuda_library = CUDA_DOUBLE;
    how.nvcomp_library = how.nvjpeg_library = how.cufile_library = "";
    how.nvjpeg2k_library = library;
    assert_int_equal(tz_device_open(&device, "cuda:0", &how, &err), TZ_OK);
    return device;
}

tz_device *pc_open(const char *library)
{
    tz_device *device = pc_open_untried(library);
    steps_try_libraries(device);
    pc_library->decoded = 0;
    return device;
}

void pc_close(tz_device *device)
{
    tz_error err;
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
}

void pc_keep_steps(void)
{
    pc_cuda->keep_steps = false;
    pc_cuda->step_count = 0;
    pc_cuda->keep_steps = true;
}

size_t pc_calls(const char *begin)
{
    size_t count = 0;
    for (size_t i = 0; i < pc_cuda->step_count; i++)
        count += strncmp(pc_cuda->steps[i].call, begin, strlen(begin)) == 0;
    return count;
}

/* ---- files ---- */

/* Its buffers, packed band after band, and the cores' pixels. */
static void set_buffers(pc_image *i, tz_window window)
{
    const tz_info *info = tz_file_info(i->file);
    const bool whole = window.width == 0;
    tz_error err;
    i->item = (tz_item){.file = i->file,
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
    const tz_result result = tz_read(&i->item, NULL, NULL, &err);
    assert_true(result == TZ_OK || result == TZ_ERR_FORMAT); /* of a broken file there are none */
    i->item.into.data = i->found;
}

pc_image pc_write(tz_dtype dtype, uint32_t bands, const tz_write_options *options, tz_window window)
{
    raster r = raster_make(dtype, bands, WIDTH, HEIGHT, false);
    pc_image i = {.memory = raster_write(&r, options, NULL, NULL)};
    tz_error err;
    assert_int_equal(tz_open_memory(&i.file, i.memory.data, i.memory.size, NULL, &err), TZ_OK);
    raster_free(&r);
    set_buffers(&i, window);
    return i;
}

pc_image pc_take(tb *built)
{
    pc_image i = {.built = built, .file = tf_open(built)};
    set_buffers(&i, (tz_window){0});
    return i;
}

pc_image pc_tiles(int stream, uint32_t across, uint32_t down)
{
    return pc_take(tf_new(TB_CLASSIC, &tile_streams[stream], across, down, NULL));
}

void pc_free(pc_image *image)
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

void pc_check(const pc_image *image)
{
    assert_memory_equal(image->found, image->expected, image->size);
}

tz_result pc_try(pc_image *const *images, size_t count, const tz_read_options *how, bool on_device,
                 tz_report *report, tz_error *err)
{
    tz_item items[MOST_IMAGES];
    tz_device_memory *memory[MOST_IMAGES] = {NULL};
    for (size_t i = 0; i < count; i++) {
        memset(images[i]->found, 0xA5, images[i]->size);
        items[i] = images[i]->item;
        if (!on_device)
            continue;
        assert_int_equal(tz_device_alloc(how->device, images[i]->size, &memory[i], err), TZ_OK);
        items[i].into.data = NULL;
        items[i].into.memory = memory[i];
    }
    const tz_result result = tz_read_batch(items, count, how, report, err);
    for (size_t i = 0; i < count && on_device; i++) {
        if (result == TZ_OK)
            assert_int_equal(
                tz_device_copy_out(images[i]->found, memory[i], 0, images[i]->size, err), TZ_OK);
        tz_device_free(memory[i]);
    }
    return result;
}

tz_report pc_read(pc_image *image, const tz_read_options *how)
{
    tz_report report;
    tz_error err;
    if (pc_try(&image, 1, how, false, &report, &err) != TZ_OK)
        fail_msg("%s; %s", err.message, pc_cuda->fault);
    pc_check(image);
    return report;
}
