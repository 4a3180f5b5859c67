/* SPDX-License-Identifier: Apache-2.0
 * Reads 100 windows of ten files in one call into one buffer, as a program that trains a model
 * does: batch FILE... The windows of each file lie at random. Tiles that several of them touch are
 * read and decoded once. */
#include <stdio.h>
#include <stdlib.h>
#include <terrazzo/terrazzo.h>

enum { FILES = 10, WINDOWS = 100, SIDE = 64 };

static float pixels[WINDOWS][SIDE][SIDE];

/* A window of the first band that lies in the image. */
static tz_item make_item(const tz_file *file, const tz_buffer *into)
{
    static const uint32_t first = 0;
    const tz_info *info = tz_file_get_info(file);
    tz_item item = TZ_ITEM_INIT;
    item.file = file;
    item.window.column = info->width > SIDE ? rand() % (int)(info->width - SIDE) : 0;
    item.window.row = info->height > SIDE ? rand() % (int)(info->height - SIDE) : 0;
    item.window.width = item.window.height = SIDE;
    item.bands = &first;
    item.band_count = 1;
    item.into = into;
    return item;
}

static tz_result read_windows(tz_file *const *files, int count, tz_read_report **report,
                              tz_error *err)
{
    static tz_item items[WINDOWS];
    static tz_buffer buffers[WINDOWS];
    for (int i = 0; i < WINDOWS; i++) {
        buffers[i] = (tz_buffer)TZ_BUFFER_INIT;
        buffers[i].data = pixels;
        buffers[i].offset = (uint64_t)i * sizeof pixels[0];
        buffers[i].dtype = TZ_DTYPE_FLOAT32;
        buffers[i].bands = 1;
        buffers[i].height = buffers[i].width = SIDE;
        items[i] = make_item(files[i % count], &buffers[i]);
    }
    return tz_read_batch(items, WINDOWS, NULL, report, err);
}

int main(int argc, char **argv)
{
    tz_file *files[FILES] = {NULL};
    const int count = argc - 1;
    tz_read_report *report = NULL;
    tz_error err;
    tz_result result = TZ_OK;
    if (count < 1 || count > FILES) {
        fprintf(stderr, "usage: %s FILE... (up to %d, of at least %d x %d pixels)\n", argv[0],
                FILES, SIDE, SIDE);
        return 2;
    }
    for (int i = 0; i < count && result == TZ_OK; i++)
        result = tz_open(&files[i], argv[i + 1], NULL, &err);
    if (result == TZ_OK)
        result = read_windows(files, count, &report, &err);
    if (result == TZ_OK)
        printf("%d windows of %d files: %llu tiles, %llu reads; the last pixel is %g\n", WINDOWS,
               count, (unsigned long long)report->tiles, (unsigned long long)report->requests,
               (double)pixels[WINDOWS - 1][SIDE - 1][SIDE - 1]);
    else
        fprintf(stderr, "%s\n", err.message);
    tz_read_report_free(report);
    for (int i = 0; i < count; i++)
        tz_close(files[i]);
    return result == TZ_OK ? 0 : 1;
}
