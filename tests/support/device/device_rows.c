/* SPDX-License-Identifier: Apache-2.0 */
#include "support/device/device_rows.h"
#include "support/plain_read.h"

#include <stdlib.h>
#include <string.h>

/* The bytes of a buffer, from its lowest to its highest. */
typedef struct span {
    uint8_t *first;
    size_t size;
    uint64_t offset; /* of the first sample */
} span;

static span span_of(const tz_buffer *b)
{
    const int64_t ends[] = {(int64_t)(b->bands - 1) * b->band_stride,
                            (int64_t)(b->height - 1) * b->row_stride,
                            (int64_t)(b->width - 1) * b->column_stride};
    int64_t low = 0, high = (int64_t)tz_dtype_size(b->dtype);
    for (int i = 0; i < 3; i++)
        *(ends[i] < 0 ? &low : &high) += ends[i];
    return (span){(uint8_t *)b->data + low, (size_t)(high - low), (uint64_t)-low};
}

tz_buffer device_rows_copy(tz_device *device, const tz_buffer *host)
{
    const span s = span_of(host);
    tz_buffer copy = *host;
    tz_device_memory *memory = NULL;
    tz_error err;
    copy.offset = s.offset + 5; /* nowhere in particular */
    assert_int_equal(tz_device_memory_alloc(&memory, device, s.size + 9, &err), TZ_OK);
    assert_int_equal(tz_device_copy_in(memory, 5, s.first, s.size, &err), TZ_OK);
    plain_on_device(&copy, memory);
    return copy;
}

void device_rows_check(const tz_buffer *copy, const tz_buffer *host)
{
    const span s = span_of(host);
    uint8_t *now = malloc(s.size);
    tz_error err;
    assert_int_equal(tz_device_copy_out(now, copy->data, 5, s.size, &err), TZ_OK);
    assert_memory_equal(now, s.first, s.size);
    free(now);
}

static tz_result push(tz_writer *writer, const raster_variant *way, const tz_buffer *pixels,
                      const tz_buffer *mask, tz_error *err)
{
    const uint32_t batch = way && way->batch ? way->batch : pixels->height;
    tz_result result = TZ_OK;
    for (uint32_t row = 0; row < pixels->height && result == TZ_OK; row += batch) {
        const uint32_t left = pixels->height - row;
        tz_buffer rows = *pixels, valid = *mask;
        rows.height = valid.height = batch < left ? batch : left;
        rows.offset += (uint64_t)(row * pixels->row_stride);
        valid.offset += (uint64_t)(row * mask->row_stride);
        result = tz_write_rows(writer, &rows, mask->data ? &valid : NULL, err);
    }
    return result;
}

static tz_result write_rows(const raster *r, const tz_write_options *options,
                            const raster_variant *way, const tz_buffer *pixels,
                            const tz_buffer *mask, tz_memory *out, tz_write_report **report,
                            tz_error *err)
{
    tz_writer *writer = NULL;
    tz_result result = tz_create_memory(&writer, out, &r->spec, options, err);
    clear_write_report(report);
    if (result == TZ_OK)
        result = push(writer, way, pixels, mask, err);
    if (result == TZ_OK)
        result = tz_commit(writer, report, err);
    tz_writer_close(writer);
    return result;
}

tz_result device_rows_try(const raster *r, const tz_write_options *options,
                          const raster_variant *way, const tz_buffer *pixels, tz_memory *out,
                          tz_write_report **report, tz_error *err)
{
    const tz_buffer copy = device_rows_copy(options->device, pixels);
    tz_buffer mask = {0};
    if (r->mask.data)
        mask = device_rows_copy(options->device, &r->mask);
    const tz_result result = write_rows(r, options, way, &copy, &mask, out, report, err);
    if (result == TZ_OK) {
        device_rows_check(&copy, pixels);
        if (mask.data)
            device_rows_check(&mask, &r->mask);
    }
    tz_device_memory_free(copy.data);
    tz_device_memory_free(mask.data);
    return result;
}

tz_memory device_rows_write(const raster *r, const tz_write_options *options,
                            const raster_variant *way, const tz_buffer *pixels,
                            tz_write_report **report)
{
    tz_memory out = {0};
    tz_error err = {0};
    if (device_rows_try(r, options, way, pixels, &out, report, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return out;
}
