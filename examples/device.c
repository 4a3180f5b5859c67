/* SPDX-License-Identifier: Apache-2.0
 * Reads the first band of a file into the memory of a device, hands it on as a DLPack tensor, and
 * reports who did the work: device FILE [opencl:0]. */
#include <stdio.h>
#include <terrazzo/dlpack.h>
#include <terrazzo/terrazzo.h>

static tz_result read_band(const tz_file *file, tz_device *device, tz_buffer *into,
                           tz_read_report **report, tz_error *err)
{
    static const uint32_t first = 0;
    const tz_info *info = tz_file_get_info(file);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_device_memory *memory = NULL;
    tz_result result = tz_device_memory_alloc(
        &memory, device, (uint64_t)info->width * info->height * sizeof(float), err);
    if (result != TZ_OK)
        return result;
    into->data = memory;
    into->memory = TZ_MEMORY_KIND_DEVICE;
    into->dtype = TZ_DTYPE_FLOAT32;
    into->bands = 1;
    into->height = info->height;
    into->width = info->width;
    tz_item item = TZ_ITEM_INIT;
    item.file = file;
    item.bands = &first;
    item.band_count = 1;
    item.into = into;
    how.device = device;
    result = tz_read(&item, &how, report, err);
    if (result != TZ_OK)
        tz_device_memory_free(memory);
    return result;
}

/* Uses the tensor as another library would: looks at it, and deletes it in the end. */
static void use_tensor(tz_dl_managed *tensor)
{
    const tz_dl_tensor *t = &tensor->tensor;
    printf("a tensor of %lld x %lld on device type %d, number %d\n", (long long)t->shape[0],
           (long long)t->shape[1], (int)t->device.type, (int)t->device.id);
    tensor->deleter(tensor); /* frees the device's memory */
}

static tz_result show(const tz_file *file, tz_device *device, tz_error *err)
{
    tz_read_report *report = NULL;
    tz_buffer pixels = TZ_BUFFER_INIT;
    tz_dl_managed *tensor = NULL;
    tz_dlpack_options how = TZ_DLPACK_OPTIONS_INIT;
    how.axes = TZ_DL_AXES_ONE_BAND;
    tz_result result = read_band(file, device, &pixels, &report, err);
    if (result != TZ_OK)
        return result;
    result = tz_dlpack_from_buffer(&tensor, &pixels, &how, err);
    if (result == TZ_OK) {
        const tz_device_use *use = report->device;
        printf("%llu tiles, %llu of them decoded by the device; %llu uploads, %llu launches\n",
               (unsigned long long)report->tiles, (unsigned long long)use->tiles,
               (unsigned long long)use->uploads, (unsigned long long)use->launches);
        use_tensor(tensor);
    } else {
        tz_device_memory_free(pixels.data);
    }
    tz_read_report_free(report);
    return result;
}

int main(int argc, char **argv)
{
    tz_error err;
    tz_file *file = NULL;
    tz_device *device = NULL;
    if (argc < 2) {
        fprintf(stderr, "usage: %s FILE [DEVICE]\n", argv[0]);
        return 2;
    }
    tz_result result = tz_open(&file, argv[1], NULL, &err);
    if (result == TZ_OK)
        result = tz_device_open(&device, argc > 2 ? argv[2] : "opencl:0", NULL, &err);
    if (result == TZ_OK)
        result = show(file, device, &err);
    if (result != TZ_OK)
        fprintf(stderr, "%s\n", err.message);
    tz_device_close(device);
    tz_close(file);
    return result == TZ_OK ? 0 : 1;
}
