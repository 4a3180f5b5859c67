/* SPDX-License-Identifier: Apache-2.0
 * Reads a file into CUDA memory of its own, a plain CUdeviceptr as arrays of CuPy and PyTorch have
 * it: cuda FILE [LIBRARY]. The driver, libcuda.so.1 or LIBRARY, is loaded at run time. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

static struct driver { /* a CUdeviceptr is a uintptr_t here */
    int (*set_context)(void *context);
    int (*allocate)(uintptr_t *out, size_t size);
    int (*copy_out)(void *to, uintptr_t from, size_t size);
    int (*release)(uintptr_t memory);
} cuda;

static bool load_driver(const char *path)
{
    static const char *const names[] = {"cuCtxSetCurrent", "cuMemAlloc_v2", "cuMemcpyDtoH_v2",
                                        "cuMemFree_v2"};
    void *library = dlopen(path, RTLD_NOW);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *function = library ? dlsym(library, names[i]) : NULL;
        if (!function)
            return false;
        memcpy((char *)&cuda + i * sizeof function, &function, sizeof function);
    }
    return true;
}

static tz_result read_image(const tz_file *file, tz_device *device, tz_error *err)
{
    const tz_info *info = tz_file_get_info(file);
    float last;
    const size_t size = (size_t)info->bands * info->height * info->width * sizeof last;
    uintptr_t memory;
    if (cuda.set_context(tz_device_get_context(device)) != 0 || cuda.allocate(&memory, size) != 0)
        return tz_error_set(err, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, TZ_NO_VALUE, "no memory");
    tz_buffer into = TZ_BUFFER_INIT;
    into.data = (void *)memory;
    into.memory = TZ_MEMORY_KIND_CUDA;
    into.dtype = TZ_DTYPE_FLOAT32;
    into.bands = info->bands;
    into.height = info->height;
    into.width = info->width;
    tz_item item = TZ_ITEM_INIT;
    item.file = file;
    item.into = &into;
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.device = device;
    const tz_result result = tz_read(&item, &how, NULL, err);
    if (result == TZ_OK && cuda.copy_out(&last, memory + size - sizeof last, sizeof last) == 0)
        printf("the last of %zu samples is %g\n", size / sizeof last, (double)last);
    cuda.release(memory);
    return result;
}

int main(int argc, char **argv)
{
    char libraries[4096];
    const char *library = argc > 2 ? argv[2] : "libcuda.so.1";
    tz_device_options options = TZ_DEVICE_OPTIONS_INIT;
    tz_device *device = NULL;
    tz_file *file = NULL;
    tz_error err;
    snprintf(libraries, sizeof libraries, "cuda=%s", library);
    options.libraries = libraries;
    if (!load_driver(library) || tz_device_open(&device, "cuda:0", &options, &err) != TZ_OK) {
        puts("There is no CUDA device here.");
        return 0;
    }
    const bool is_read = tz_open(&file, argc > 1 ? argv[1] : "", NULL, &err) == TZ_OK &&
                         read_image(file, device, &err) == TZ_OK;
    if (!is_read)
        fprintf(stderr, "%s\n", err.message);
    tz_close(file);
    tz_device_close(device);
    return is_read ? 0 : 1;
}
