/* SPDX-License-Identifier: Apache-2.0
 * Reads a window of the first band and prints its range: window FILE COLUMN ROW WIDTH HEIGHT. Only
 * the tiles under the window are read. */
#include <stdio.h>
#include <stdlib.h>
#include <terrazzo/terrazzo.h>

/* Reads into packed rows, which the library converts to float. */
static tz_result read_window(float *pixels, const tz_file *file, const tz_window *window,
                             tz_error *err)
{
    static const uint32_t first = 0;
    tz_buffer into = TZ_BUFFER_INIT;
    into.data = pixels;
    into.dtype = TZ_DTYPE_FLOAT32;
    into.bands = 1;
    into.height = window->height;
    into.width = window->width;
    tz_item item = TZ_ITEM_INIT;
    item.file = file;
    item.window = *window;
    item.bands = &first;
    item.band_count = 1;
    item.into = &into;
    return tz_read(&item, NULL, NULL, err);
}

static void print_range(const float *pixels, size_t count)
{
    float least = pixels[0], greatest = pixels[0];
    for (size_t i = 1; i < count; i++) {
        least = pixels[i] < least ? pixels[i] : least;
        greatest = pixels[i] > greatest ? pixels[i] : greatest;
    }
    printf("%zu pixels from %g to %g\n", count, (double)least, (double)greatest);
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: %s FILE COLUMN ROW WIDTH HEIGHT\n", argv[0]);
        return 2;
    }
    const tz_window window = {atoi(argv[2]), atoi(argv[3]), (uint32_t)atoi(argv[4]),
                              (uint32_t)atoi(argv[5])};
    const size_t count = (size_t)window.width * window.height;
    float *pixels = malloc(count * sizeof *pixels);
    if (!pixels || count == 0)
        return 1;
    tz_file *file = NULL;
    tz_error err;
    tz_result result = tz_open(&file, argv[1], NULL, &err);
    if (result == TZ_OK)
        result = read_window(pixels, file, &window, &err);
    if (result == TZ_OK)
        print_range(pixels, count);
    else
        fprintf(stderr, "%s\n", err.message);
    tz_close(file);
    free(pixels);
    return result == TZ_OK ? 0 : 1;
}
