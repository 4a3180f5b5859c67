/* SPDX-License-Identifier: Apache-2.0
 * Many threads that use one device at once, each reading random windows of files in all codecs that
 * it has, to its memory and to the host's, with much and with little of its memory, and writing
 * files; all is compared with what the CPU does. TERRAZZO_STRESS is how often each does something.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "support/check.h"
#include "support/device/test_device.h"
#include "support/plain_read.h"

enum { WIDTH = 190, HEIGHT = 130, THREADS = 8, SAMPLE = 4, FEW = 4, SIDE = 64 };
enum { MEMORY = 64 << 20 }; /* of the device, that all may hold together */

static const tz_compression codecs[] = {TZ_COMPRESSION_NONE,    TZ_COMPRESSION_PACKBITS,
                                        TZ_COMPRESSION_LZW,     TZ_COMPRESSION_LZ4,
                                        TZ_COMPRESSION_DEFLATE, TZ_COMPRESSION_ZSTD};
enum { CODECS = sizeof codecs / sizeof codecs[0] };

static tz_device *device;
static uint16_t pixels[HEIGHT][WIDTH];
static tz_memory memories[CODECS];
static tz_file *files[CODECS]; /* NULL: a codec that is not built in */

static tz_buffer rows_of(void *data, tz_window w)
{
    return (tz_buffer){.struct_size = sizeof(tz_buffer),
                       .data = data,
                       .dtype = TZ_DTYPE_UINT16,
                       .bands = 1,
                       .height = w.height,
                       .width = w.width};
}

static tz_write_options options_of(tz_compression compression)
{
    tz_write_options how = TZ_WRITE_OPTIONS_INIT;
    how.codec.compression = compression;
    how.tile_width = how.tile_height = SIDE;
    how.codec.effort = compression == TZ_COMPRESSION_DEFLATE ? TZ_EFFORT_FAST : 0;
    return how;
}

/* All rows, from the host or from the device. */
static tz_result write_file(tz_memory *into, const tz_write_options *how, const tz_buffer *rows,
                            tz_error *err)
{
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    tz_writer *writer = NULL;
    spec.width = WIDTH, spec.height = HEIGHT, spec.bands = 1, spec.dtype = TZ_DTYPE_UINT16;
    tz_result result = tz_create_memory(&writer, into, &spec, how, err);
    if (result == TZ_OK)
        result = tz_write_rows(writer, rows, NULL, err);
    if (result == TZ_OK)
        result = tz_commit(writer, NULL, err);
    tz_writer_close(writer);
    return result;
}

/* ---- what a thread does ---- */

typedef struct worker {
    uint32_t seed, rounds;
    unsigned reads, limited, writes;
    char wrong[600]; /* empty: all is well */
} worker;

static uint32_t next(worker *w, uint32_t below)
{
    w->seed = w->seed * 1664525u + 1013904223u;
    return (w->seed >> 8) % below;
}

static bool fails(worker *w, const char *what, const tz_error *err)
{
    snprintf(w->wrong, sizeof w->wrong, "%s: %s", what, err ? err->message : "other pixels");
    return false;
}

static bool is_same(const uint16_t *found, tz_window w)
{
    for (uint32_t row = 0; row < w.height; row++) {
        if (memcmp(found + (size_t)row * w.width, &pixels[w.row + row][w.column],
                   w.width * sizeof *found) != 0)
            return false;
    }
    return true;
}

/* With too little memory a read is refused, by that name; and is done when it has more. */
static bool read_within(worker *w, const plain_item *item, uint64_t bytes)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_error err;
    how.device = device;
    how.strict_device = true;
    how.max_device_bytes = bytes;
    tz_result result = plain_read(item, &how, NULL, &err);
    if (result == TZ_ERR_LIMIT && bytes > 0) {
        w->limited++;
        how.max_device_bytes = 0;
        result = plain_read(item, &how, NULL, &err);
    }
    return result == TZ_OK || fails(w, "read", &err);
}

static bool read_window(worker *w, const tz_file *file)
{
    static const uint64_t limits[] = {0, 4 << 20, 64 << 10, 1000};
    tz_window where = {.column = next(w, WIDTH), .row = next(w, HEIGHT)};
    where.width = 1 + next(w, WIDTH - (uint32_t)where.column);
    where.height = 1 + next(w, HEIGHT - (uint32_t)where.row);
    const size_t size = (size_t)where.width * where.height * sizeof **pixels;
    uint16_t *found = malloc(size);
    tz_device_memory *memory = NULL;
    tz_error err;
    plain_item item = {.file = file, .window = where, .into = rows_of(found, where)};
    bool good = true;
    if (next(w, 2) == 0) {
        good =
            tz_device_memory_alloc(&memory, device, size, &err) == TZ_OK || fails(w, "alloc", &err);
        plain_on_device(&item.into, memory);
    }
    good = good && read_within(w, &item, limits[next(w, sizeof limits / sizeof limits[0])]);
    if (good && memory)
        good = tz_device_copy_out(found, memory, 0, size, &err) == TZ_OK || fails(w, "copy", &err);
    good = good && (is_same(found, where) || fails(w, "read", NULL));
    tz_device_memory_free(memory);
    free(found);
    w->reads++;
    return good;
}

static bool write_whole(worker *w, size_t codec)
{
    tz_write_options how = options_of(codecs[codec]);
    const tz_buffer rows = rows_of(pixels, (tz_window){0, 0, WIDTH, HEIGHT});
    tz_memory made = {0};
    tz_error err;
    how.device = device;
    bool good = write_file(&made, &how, &rows, &err) == TZ_OK || fails(w, "write", &err);
    if (good && (made.size != memories[codec].size ||
                 memcmp(made.data, memories[codec].data, made.size) != 0))
        good = fails(w, "write", NULL);
    tz_memory_free(&made);
    w->writes++;
    return good;
}

static void *work(void *argument)
{
    worker *w = argument;
    bool good = true;
    for (uint32_t i = 0; i < w->rounds && good; i++) {
        const size_t codec = next(w, CODECS);
        if (!files[codec])
            continue;
        good = i % FEW == FEW - 1 ? write_whole(w, codec) : read_window(w, files[codec]);
    }
    return NULL;
}

/* ---- the test ---- */

static uint32_t rounds(void)
{
    enum { USUAL = 24 };
    const char *text = getenv("TERRAZZO_STRESS");
    return text ? (uint32_t)strtoul(text, NULL, 10) : test_device_is_slow() ? SAMPLE : USUAL;
}

static void all_threads_see_the_pixels_of_the_cpu(void **state)
{
    (void)state;
    worker workers[THREADS] = {0};
    pthread_t threads[THREADS];
    unsigned reads = 0, limited = 0, writes = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i].seed = 77 + i;
        workers[i].rounds = rounds();
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_string_equal(workers[i].wrong, "");
        reads += workers[i].reads;
        limited += workers[i].limited;
        writes += workers[i].writes;
    }
    print_message("%s: %u reads, %u of them refused for want of memory first, %u writes\n",
                  tz_device_get_info(device)->name, reads, limited, writes);
    assert_true(limited > 0 && limited < reads && writes > 0);
    tz_device_counts counts;
    tz_device_get_counts(device, &counts, NULL);
    assert_true(counts.bytes_peak <= MEMORY);
}

static int begin(void **state)
{
    (void)state;
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_error err;
    how.max_device_bytes = MEMORY;
    device = test_device_open(&how);
    for (uint32_t i = 0; i < HEIGHT * WIDTH; i++)
        pixels[i / WIDTH][i % WIDTH] = (uint16_t)(i / 7 + (i * 2654435761u >> 30));
    const tz_buffer rows = rows_of(pixels, (tz_window){0, 0, WIDTH, HEIGHT});
    for (size_t i = 0; i < CODECS; i++) {
        const tz_write_options by_cpu = options_of(codecs[i]);
        tz_result result = write_file(&memories[i], &by_cpu, &rows, &err);
        if (result == TZ_ERR_UNSUPPORTED)
            continue;
        if (result == TZ_OK)
            result = tz_open_memory(&files[i], memories[i].data, memories[i].size, NULL, &err);
        assert_int_equal(result, TZ_OK);
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    tz_error err;
    for (size_t i = 0; i < CODECS; i++) {
        tz_close(files[i]);
        tz_memory_free(&memories[i]);
    }
    return tz_device_close_checked(device, &err) != TZ_OK;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_threads_see_the_pixels_of_the_cpu)};
    return cmocka_run_group_tests(tests, begin, end);
}
