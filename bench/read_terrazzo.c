/* SPDX-License-Identifier: Apache-2.0
 * Times tz_read and tz_read_batch; see reader.h. */
#include "reader.h"
#include "terrazzo/terrazzo.h"

static void *open_file(const char *path, unsigned threads, shape *what)
{
    (void)threads;
    tz_file *file = NULL;
    tz_error err;
    if (tz_open(&file, path, NULL, &err) != TZ_OK) {
        failed("%s", err.message);
        return NULL;
    }
    const tz_info *info = tz_file_get_info(file);
    *what = (shape){info->width, info->height, info->bands, tz_dtype_size(info->dtype)};
    return file;
}

static tz_item item_of(const tz_file *file, const window *w, bool by_pixel, uint8_t *into,
                       tz_buffer *b)
{
    const tz_info *info = tz_file_get_info(file);
    *b = (tz_buffer){.struct_size = sizeof *b,
                     .data = into,
                     .dtype = info->dtype,
                     .bands = info->bands,
                     .height = w->height,
                     .width = w->width};
    if (by_pixel) {
        b->band_stride = (int64_t)tz_dtype_size(info->dtype);
        b->column_stride = b->band_stride * b->bands;
        b->row_stride = b->column_stride * b->width;
    }
    return (tz_item){.struct_size = sizeof(tz_item),
                     .file = file,
                     .window = {w->column, w->row, w->width, w->height},
                     .into = b};
}

static bool read_window(void *file, const window *w, bool by_pixel, unsigned threads, uint8_t *into)
{
    tz_buffer buffer;
    const tz_item item = item_of(file, w, by_pixel, into, &buffer);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_error err;
    how.threads = threads;
    return tz_read(&item, &how, NULL, &err) == TZ_OK || failed("%s", err.message);
}

static void close_file(void *file)
{
    tz_close(file);
}

static bool read_windows(const window_read *reads, size_t count, bool by_pixel, unsigned threads)
{
    tz_item *items = calloc(count, sizeof *items);
    tz_buffer *buffers = calloc(count, sizeof *buffers);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_error err;
    size_t made = 0;
    bool done = items != NULL && buffers != NULL;
    how.threads = threads;
    for (; done && made < count; made++) {
        const window_read *p = &reads[made];
        shape what;
        const bool same = made > 0 && strcmp(p->path, p[-1].path) == 0;
        const void *file = same ? items[made - 1].file : open_file(p->path, threads, &what);
        if (file == NULL)
            break;
        items[made] = item_of(file, &p->window, by_pixel, p->into, &buffers[made]);
    }
    done = made == count &&
           (tz_read_batch(items, count, &how, NULL, &err) == TZ_OK || failed("%s", err.message));
    for (size_t i = 0; i < made; i++) {
        if (i == 0 || items[i].file != items[i - 1].file)
            tz_close((tz_file *)(uintptr_t)items[i].file);
    }
    free(items);
    free(buffers);
    return done;
}

int main(void)
{
    const reader terrazzo = {open_file, read_window, close_file, read_windows};
    return reader_main(&terrazzo);
}
