/* SPDX-License-Identifier: Apache-2.0
 * Pixels of whole files, for check_pixels.py and check_matrix.py: reads paths from stdin, one a
 * line, and prints for each "ok BYTES DTYPE BANDS HEIGHT WIDTH" and then that many bytes (band,
 * row, column), or "error MESSAGE". With the argument "native" complex integers stay what they are,
 * and every file is read in several ways, which must agree. */
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

static tz_result read_into(const tz_file *file, tz_window window, tz_buffer into, uint32_t threads,
                           tz_error *err)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.threads = threads;
    into.width = window.width;
    into.height = window.height;
    const tz_item item = {
        .struct_size = sizeof item, .file = file, .window = window, .into = &into};
    return tz_read(&item, &how, NULL, err);
}

/* Four windows that meet in the middle, which is not a border of tiles, pixel after pixel; into
 * memory that is not aligned. */
static tz_result read_in_parts(const tz_file *file, tz_dtype dtype, uint8_t *pixels, tz_error *err)
{
    const tz_info *info = tz_file_get_info(file);
    const int64_t size = (int64_t)tz_dtype_size(dtype);
    tz_buffer into = {.struct_size = sizeof(tz_buffer),
                      .dtype = dtype,
                      .bands = info->bands,
                      .band_stride = size};
    into.column_stride = size * info->bands;
    into.row_stride = into.column_stride * info->width;
    const uint32_t columns[] = {0, info->width / 2, info->width};
    const uint32_t rows[] = {0, info->height / 3, info->height};
    for (unsigned i = 0; i < 4; i++) {
        const tz_window part = {.column = columns[i & 1],
                                .row = rows[i >> 1],
                                .width = columns[(i & 1) + 1] - columns[i & 1],
                                .height = rows[(i >> 1) + 1] - rows[i >> 1]};
        into.data = pixels + part.row * into.row_stride + part.column * into.column_stride;
        if (part.width == 0 || part.height == 0)
            continue;
        const tz_result result = read_into(file, part, into, 1, err);
        if (result != TZ_OK)
            return result;
    }
    return TZ_OK;
}

static bool ways_agree(const tz_file *file, tz_dtype dtype, const uint8_t *pixels, tz_error *err)
{
    const tz_info *info = tz_file_get_info(file);
    const size_t sample = tz_dtype_size(dtype);
    const size_t plane = (size_t)info->width * info->height;
    uint8_t *memory = malloc(plane * info->bands * sample + 1);
    uint8_t *parts = memory + 1;
    if (!memory)
        abort();
    memset(memory, 0x5A, plane * info->bands * sample + 1);
    bool good = read_in_parts(file, dtype, parts, err) == TZ_OK;
    for (size_t i = 0; good && i < plane * info->bands; i++) {
        const uint8_t *other = parts + (i % plane * info->bands + i / plane) * sample;
        if (memcmp(pixels + i * sample, other, sample) != 0) {
            snprintf(err->message, sizeof err->message, "parts differ from the whole at sample %zu",
                     i);
            good = false;
        }
    }
    free(memory);
    return good;
}

static bool dump_pixels(const tz_file *file, bool native, tz_error *err)
{
    const tz_info *info = tz_file_get_info(file);
    const tz_dtype dtype = native ? info->dtype : shown_as(info->dtype);
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
    const tz_window all = {.width = info->width, .height = info->height};
    const tz_buffer into = {
        .struct_size = sizeof(tz_buffer), .data = pixels, .dtype = dtype, .bands = info->bands};
    const bool good = read_into(file, all, into, 0, err) == TZ_OK &&
                      (!native || ways_agree(file, dtype, pixels, err));
    if (good) {
        printf("ok %zu %s %u %u %u\n", size, tz_dtype_name(dtype), info->bands, info->height,
               info->width);
        fwrite(pixels, 1, size, stdout);
    }
    free(pixels);
    return good;
}

int main(int argc, char **argv)
{
    const bool native = argc > 1 && strcmp(argv[1], "native") == 0;
    char path[8192];
    while (fgets(path, sizeof path, stdin)) {
        tz_file *file = NULL;
        tz_error err = {.message = ""};
        path[strcspn(path, "\n")] = '\0';
        if (tz_open(&file, path, NULL, &err) != TZ_OK || !dump_pixels(file, native, &err))
            printf("error %s\n", err.message);
        tz_close(file);
        fflush(stdout);
    }
    return 0;
}
