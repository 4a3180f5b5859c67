/* SPDX-License-Identifier: Apache-2.0
 * What a write holds, counted at every allocation: not more than buffer_bytes, or than the least it
 * takes where that is more; and not more than its own plan says. Pixels are made up as they are
 * given, so that nothing but the writer holds any. */
#include <stdlib.h>
#include <string.h>

#include "support/alloc_hook.h"
#include "support/raster.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

/* A sink whose memory is not the library's, and is not counted. */
typedef struct store {
    tz_sink sink;
    uint8_t *bytes;
    uint64_t size;
} store;

static tz_result keep(tz_sink *sink, uint64_t offset, const tz_bytes *pieces, size_t count,
                      tz_error *err)
{
    store *s = (store *)sink;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        if (offset + pieces[i].size > s->size) {
            s->size = 2 * (offset + pieces[i].size);
            s->bytes = realloc(s->bytes, s->size);
        }
        memcpy(s->bytes + offset, pieces[i].data, pieces[i].size);
        offset += pieces[i].size;
    }
    return TZ_OK;
}

static tz_result give_back(tz_sink *sink, uint64_t offset, void *dst, size_t size, tz_error *err)
{
    (void)err;
    memcpy(dst, ((store *)sink)->bytes + offset, size);
    return TZ_OK;
}

typedef struct memory_case {
    uint32_t width, height, bands;
    tz_dtype dtype;
    tz_compression compression;
    uint32_t threads;
    uint64_t buffer_bytes;
    bool mask, pull, columns, strips;
} memory_case;

static tz_result give(void *user, const tz_window *window, const tz_buffer *pixels,
                      const tz_buffer *mask, tz_error *err)
{
    (void)user, (void)err;
    const size_t row = pixels->bands * pixels->width * tz_dtype_size(pixels->dtype);
    for (uint32_t y = 0; y < pixels->height; y++)
        for (size_t i = 0; i < row; i++)
            ((uint8_t *)pixels->data)[(int64_t)y * pixels->row_stride + (int64_t)i] =
                (uint8_t)((i * 7 + y + (uint64_t)window->row) % 61);
    if (mask->data)
        memset(mask->data, 255, (size_t)mask->width * mask->height);
    return TZ_OK;
}

/* Rows that hold less than the writer's own memory: one at a time. */
static tz_result push_rows(tz_writer *writer, const tz_image_spec *spec, tz_error *err)
{
    const int64_t size = (int64_t)tz_dtype_size(spec->dtype);
    uint8_t *memory = calloc((size_t)spec->bands * spec->width, (size_t)size);
    uint8_t *valid = calloc(spec->width, 1);
    const tz_buffer rows = {memory, spec->dtype, spec->bands, 1, spec->width, 0, 0, 0};
    const tz_buffer mask = {valid, TZ_DTYPE_UINT8, 1, 1, spec->width, 0, 0, 0};
    tz_result result = TZ_OK;
    for (uint32_t row = 0; row < spec->height && result == TZ_OK; row++) {
        memset(memory, (int)(row % 7), (size_t)spec->bands * spec->width * (size_t)size);
        result = tz_write_rows(writer, &rows, spec->mask ? &mask : NULL, err);
    }
    free(memory);
    free(valid);
    return result;
}

static tz_result write_case(const memory_case *c, tz_write_report *report, tz_error *err)
{
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    spec.width = c->width;
    spec.height = c->height;
    spec.bands = c->bands;
    spec.dtype = c->dtype;
    spec.mask = c->mask;
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.compression = c->compression;
    options.threads = c->threads;
    options.buffer_bytes = c->buffer_bytes;
    options.strips = c->strips;
    options.verify = c->threads == 2 ? TZ_VERIFY_ALL : TZ_VERIFY_SAMPLE;
    store kept = {.sink = {.write = keep, .read = give_back}};
    const tz_row_source source = {give, NULL, 0, c->columns};
    tz_writer *writer = NULL;
    tz_result result = tz_create_sink(&writer, &kept.sink, NULL, &spec, &options, err);
    if (result == TZ_OK)
        result = c->pull ? tz_write_from(writer, &source, err) : push_rows(writer, &spec, err);
    if (result == TZ_OK)
        result = tz_commit(writer, report, err);
    tz_discard(writer);
    free(kept.bytes);
    return result;
}

static tz_write_report run(const memory_case *c)
{
    tz_write_report report = {0};
    tz_error err = {0};
    alloc_hook_install();
    const tz_result result = write_case(c, &report, &err);
    const alloc_stats stats = alloc_hook_stats();
    alloc_hook_remove();
    if (result != TZ_OK)
        fail_msg("%s", err.message);
    assert_int_equal(stats.live_bytes, 0);
    if ((uint64_t)stats.peak_bytes > report.peak_memory)
        fail_msg("%u x %u: planned %llu, held %lld", c->width, c->height,
                 (unsigned long long)report.peak_memory, (long long)stats.peak_bytes);
    assert_true(report.peak_memory <= report.buffer_bytes);
    return report;
}

static void the_cap_holds(void **state)
{
    (void)state;
    static const uint32_t widths[] = {1, 100, 1000, 5000, 20000};
    static const uint64_t caps[] = {4 * MIB, 16 * MIB, 64 * MIB};
    static const tz_compression codecs[] = {TZ_COMPRESSION_NONE, TZ_COMPRESSION_LZW};
    for (size_t w = 0; w < 5; w++)
        for (size_t cap = 0; cap < 3; cap++)
            for (size_t codec = 0; codec < 2; codec++)
                for (unsigned kind = 0; kind < 8; kind++) {
                    const memory_case c = {.width = widths[w],
                                           .height = 600,
                                           .bands = 1 + kind % 2,
                                           .dtype = TZ_DTYPE_UINT8,
                                           .compression = codecs[codec],
                                           .threads = 1 + kind % 3,
                                           .buffer_bytes = caps[cap],
                                           .mask = (kind & 1) != 0,
                                           .pull = (kind & 2) != 0,
                                           .strips = (kind & 4) != 0};
                    const tz_write_report report = run(&c);
                    const uint64_t least = 600 * KIB + (uint64_t)widths[w] * 256 * 3;
                    assert_true(report.buffer_bytes == caps[cap] || least > caps[cap] / 4);
                }
}

static void one_byte_means_the_least(void **state)
{
    (void)state;
    memory_case c = {.width = 20000,
                     .height = 600,
                     .bands = 1,
                     .dtype = TZ_DTYPE_UINT8,
                     .compression = TZ_COMPRESSION_LZW,
                     .threads = 4,
                     .buffer_bytes = 1};
    const tz_write_report pushed = run(&c);
    const uint64_t tile_row = (uint64_t)20000 * 256;
    assert_true(pushed.buffer_bytes >= tile_row);
    assert_true(pushed.buffer_bytes < tile_row + 1 * MIB);
    assert_int_equal(pushed.threads, 1);
    assert_int_equal(pushed.swath_rows, 256);

    c.pull = true;
    const tz_write_report pulled = run(&c);
    assert_int_equal(pulled.buffer_bytes, pushed.buffer_bytes);

    c.columns = true; /* one column of tiles is enough then */
    const tz_write_report narrow = run(&c);
    assert_true(narrow.buffer_bytes < 1 * MIB);
    assert_int_equal(narrow.swaths, 79 * 3);
}

static void memory_does_not_grow_with_the_height(void **state)
{
    (void)state;
    memory_case c = {.width = 300,
                     .bands = 1,
                     .dtype = TZ_DTYPE_UINT16,
                     .height = 1000,
                     .compression = TZ_COMPRESSION_NONE,
                     .threads = 2,
                     .buffer_bytes = 8 * MIB};
    const uint64_t low = run(&c).peak_memory;
    c.height = 50000;
    const uint64_t high = run(&c).peak_memory;
    assert_true(high <= 8 * MIB && high < low + 8 * MIB);
}

static void a_plan_says_the_same(void **state)
{
    (void)state;
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    spec.width = 3000;
    spec.height = 700;
    spec.bands = 1;
    spec.dtype = TZ_DTYPE_UINT8;
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.compression = TZ_COMPRESSION_LZW;
    options.threads = 2;
    options.buffer_bytes = 4 * MIB;
    tz_write_report planned = {0};
    assert_int_equal(tz_plan_write(&spec, &options, NULL, &planned, NULL), TZ_OK);
    const memory_case c = {.width = 3000,
                           .height = 700,
                           .bands = 1,
                           .dtype = TZ_DTYPE_UINT8,
                           .compression = TZ_COMPRESSION_LZW,
                           .threads = 2,
                           .buffer_bytes = 4 * MIB};
    const tz_write_report done = run(&c);
    assert_int_equal(planned.tiles, done.tiles);
    assert_int_equal(planned.threads, done.threads);
    assert_int_equal(planned.swaths, done.swaths);
    assert_int_equal(planned.swath_rows, done.swath_rows);
    assert_int_equal(planned.bytes_pixels, done.bytes_pixels);
    assert_true(planned.file_size >= done.file_size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cap_holds),
        cmocka_unit_test(one_byte_means_the_least),
        cmocka_unit_test(memory_does_not_grow_with_the_height),
        cmocka_unit_test(a_plan_says_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
