/* SPDX-License-Identifier: Apache-2.0
 * Pixels of whole files, for check_pixels.py: reads paths from stdin, one a line, and prints for
 * each "ok BYTES" and then that many bytes (band, row, column), or "error MESSAGE". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

enum { MOST_BYTES = 1 << 30 };

/* Complex integers as the oracle has them. */
static tz_dtype shown_as(tz_dtype dtype)
{
    const bool complex_int = dtype == TZ_DTYPE_COMPLEX_INT16 || dtype == TZ_DTYPE_COMPLEX_INT32;
    return complex_int ? TZ_DTYPE_COMPLEX_FLOAT32 : dtype;
}

static bool dump_pixels(const tz_file *file, tz_error *err)
{
    const tz_info *info = tz_file_info(file);
    const tz_dtype dtype = shown_as(info->dtype);
    const double count = (double)info->width * info->height * info->bands;
    if (dtype == TZ_DTYPE_NONE || count * (double)tz_dtype_size(dtype) > MOST_BYTES) {
        snprintf(err->message, sizeof err->message, "too large, or without a type");
        return false;
    }
    const size_t size = (size_t)count * tz_dtype_size(dtype);
    void *pixels = malloc(size);
    if (!pixels)
        abort();
    memset(pixels, 0xA5, size);
    const tz_item item = {.file = file,
                          .into = {.data = pixels,
                                   .dtype = dtype,
                                   .bands = info->bands,
                                   .height = info->height,
                                   .width = info->width}};
    const bool good = tz_read(&item, NULL, NULL, err) == TZ_OK;
    if (good) {
        printf("ok %zu\n", size);
        fwrite(pixels, 1, size, stdout);
    }
    free(pixels);
    return good;
}

int main(void)
{
    char path[8192];
    while (fgets(path, sizeof path, stdin)) {
        tz_file *file = NULL;
        tz_error err = {.message = ""};
        path[strcspn(path, "\n")] = '\0';
        if (tz_open(&file, path, NULL, &err) != TZ_OK || !dump_pixels(file, &err))
            printf("error %s\n", err.message);
        tz_close(file);
    }
    return 0;
}
