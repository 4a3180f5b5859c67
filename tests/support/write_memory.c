/* SPDX-License-Identifier: Apache-2.0 */
#include "support/write_memory.h"

#include <stdlib.h>
#include <string.h>

#include "support/alloc_hook.h"

/* A sink whose memory is not the library's, and is not counted. */
typedef struct store {
    tz_sink sink;
    uint8_t *bytes;
    uint64_t size;
} store;

static void make_room(store *s, uint64_t size)
{
    if (size > s->size) {
        s->size = 2 * size;
        s->bytes = realloc(s->bytes, s->size);
        assert_non_null(s->bytes);
    }
}

static tz_result keep(tz_sink *sink, uint64_t offset, const tz_bytes *pieces, size_t count,
                      tz_error *err)
{
    store *s = (store *)sink;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        make_room(s, offset + pieces[i].size);
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

static tz_result insert(tz_sink *sink, uint64_t size, tz_error *err)
{
    store *s = (store *)sink;
    const uint64_t old = s->size;
    (void)err;
    make_room(s, old + size);
    memmove(s->bytes + size, s->bytes, old);
    return TZ_OK;
}

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
    const tz_buffer rows = {.struct_size = sizeof(tz_buffer),
                            .data = memory,
                            .dtype = spec->dtype,
                            .bands = spec->bands,
                            .height = 1,
                            .width = spec->width};
    const tz_buffer mask = {.struct_size = sizeof(tz_buffer),
                            .data = valid,
                            .dtype = TZ_DTYPE_UINT8,
                            .bands = 1,
                            .height = 1,
                            .width = spec->width};
    tz_result result = TZ_OK;
    for (uint32_t row = 0; row < spec->height && result == TZ_OK; row++) {
        memset(memory, (int)(row % 7), (size_t)spec->bands * spec->width * (size_t)size);
        result = tz_write_rows(writer, &rows, spec->mask ? &mask : NULL, err);
    }
    free(memory);
    free(valid);
    return result;
}

void write_memory_describe(const write_memory *c, tz_image_spec *spec, tz_write_options *options)
{
    *spec = (tz_image_spec)TZ_IMAGE_SPEC_INIT;
    spec->width = c->width;
    spec->height = c->height;
    spec->bands = c->bands;
    spec->dtype = c->dtype;
    spec->mask = c->mask;
    *options = (tz_write_options)TZ_WRITE_OPTIONS_INIT;
    options->codec.compression = c->compression;
    options->threads = c->threads;
    options->max_host_bytes = c->buffer_bytes;
    options->strips = c->strips;
    options->cog = c->cog;
    options->overview_resampling = c->method;
    options->interleave = c->interleave;
    options->tile_width = options->tile_height = c->tile;
    options->device = c->device;
    options->max_device_bytes = c->device_bytes;
    options->verify = c->threads == 2 ? TZ_VERIFY_ALL : TZ_VERIFY_SAMPLE;
}

static tz_result write_it(const write_memory *c, tz_write_report **report, tz_error *err)
{
    tz_image_spec spec;
    tz_write_options options;
    write_memory_describe(c, &spec, &options);
    store kept = {.sink = {.struct_size = sizeof(tz_sink),
                           .write = keep,
                           .read = give_back,
                           .insert = c->inserts ? insert : NULL}};
    const tz_row_source source = {
        .struct_size = sizeof source, .read = give, .columns = c->columns};
    tz_writer *writer = NULL;
    tz_result result = tz_create_sink(&writer, &kept.sink, NULL, &spec, &options, err);
    if (result == TZ_OK)
        result = c->pull ? tz_write_from(writer, &source, err) : push_rows(writer, &spec, err);
    if (result == TZ_OK)
        result = tz_commit(writer, report, err);
    tz_writer_close(writer);
    free(kept.bytes);
    return result;
}

tz_write_report write_memory_run(const write_memory *c)
{
    static tz_device_use device;
    tz_write_report *own = NULL;
    tz_write_report report = {0};
    tz_error err = {0};
    alloc_hook_install();
    const tz_result result = write_it(c, &own, &err);
    if (result == TZ_OK) {
        report = *own;
        device = *own->device;
        report.device = &device;
    }
    tz_write_report_free(own);
    const alloc_stats stats = alloc_hook_stats();
    alloc_hook_remove();
    if (result != TZ_OK)
        fail_msg("%s", err.message);
    assert_int_equal(stats.live_bytes, 0);
    if ((uint64_t)stats.peak_bytes > report.peak_host_bytes)
        fail_msg("%u x %u: planned %llu, held %lld", c->width, c->height,
                 (unsigned long long)report.peak_host_bytes, (long long)stats.peak_bytes);
    assert_true(report.peak_host_bytes <= report.max_host_bytes);
    return report;
}
