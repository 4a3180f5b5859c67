/* SPDX-License-Identifier: Apache-2.0 */
#include "support/raster.h"
#include "support/plain_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- pixels ---- */

static double value_at(tz_dtype dtype, uint32_t band, uint32_t row, uint32_t column)
{
    const double wave = (double)((row / 3 * 7 + column / 5 * 3 + band * 11) % 90);
    const double value = wave + (double)((row * 31 + column * 17) % 5);
    switch (dtype) {
    case TZ_DTYPE_FLOAT32:
    case TZ_DTYPE_FLOAT64:
        return value / 4 - 10;
    default:
        return value;
    }
}

static void store(tz_dtype dtype, double value, uint8_t *at)
{
#define STORE(type)                                                                                \
    do {                                                                                           \
        const type stored = (type)value;                                                           \
        memcpy(at, &stored, sizeof stored);                                                        \
    } while (0)
    switch (dtype) {
    case TZ_DTYPE_UINT8:
    case TZ_DTYPE_INT8:
        STORE(uint8_t);
        break;
    case TZ_DTYPE_UINT16:
    case TZ_DTYPE_INT16:
    case TZ_DTYPE_FLOAT16:
        STORE(uint16_t);
        break;
    case TZ_DTYPE_UINT32:
    case TZ_DTYPE_INT32:
    case TZ_DTYPE_COMPLEX_INT16:
    case TZ_DTYPE_COMPLEX_FLOAT16:
        STORE(uint32_t);
        break;
    case TZ_DTYPE_FLOAT32:
        STORE(float);
        break;
    case TZ_DTYPE_FLOAT64:
        STORE(double);
        break;
    default:
        STORE(uint64_t);
        break;
    }
#undef STORE
}

static uint8_t *sample_at(const tz_buffer *b, uint32_t band, uint32_t row, uint32_t column)
{
    return (uint8_t *)b->data + (int64_t)band * b->band_stride + (int64_t)row * b->row_stride +
           (int64_t)column * b->column_stride;
}

static tz_buffer packed(tz_dtype dtype, uint32_t bands, uint32_t height, uint32_t width)
{
    const int64_t size = (int64_t)tz_dtype_size(dtype);
    tz_buffer b = {.struct_size = sizeof(tz_buffer),
                   .dtype = dtype,
                   .bands = bands,
                   .height = height,
                   .width = width,
                   .band_stride = size * width * height,
                   .row_stride = size * width,
                   .column_stride = size};
    b.data = calloc((size_t)bands * height * width, (size_t)size);
    assert_non_null(b.data);
    return b;
}

raster raster_make(tz_dtype dtype, uint32_t bands, uint32_t width, uint32_t height, bool mask)
{
    raster r = {.spec = TZ_IMAGE_SPEC_INIT};
    r.spec.dtype = dtype;
    r.spec.bands = bands;
    r.spec.width = width;
    r.spec.height = height;
    r.spec.mask = mask;
    r.spec.photometric = TZ_PHOTOMETRIC_MIN_IS_BLACK;
    r.pixels = packed(dtype, bands, height, width);
    for (uint32_t band = 0; band < bands; band++)
        for (uint32_t row = 0; row < height; row++)
            for (uint32_t column = 0; column < width; column++)
                store(dtype, value_at(dtype, band, row, column),
                      sample_at(&r.pixels, band, row, column));
    if (mask) {
        r.mask = packed(TZ_DTYPE_UINT8, 1, height, width);
        for (uint32_t row = 0; row < height; row++)
            for (uint32_t column = 0; column < width; column++)
                *sample_at(&r.mask, 0, row, column) = (row + column) % 7 == 0 ? 0 : 255;
    }
    return r;
}

void raster_free(raster *r)
{
    free(r->pixels.data);
    free(r->mask.data);
}

/* ---- other layouts ---- */

static void copy_samples(const tz_buffer *from, const tz_buffer *to)
{
    const size_t size = tz_dtype_size(from->dtype);
    for (uint32_t band = 0; band < from->bands; band++)
        for (uint32_t row = 0; row < from->height; row++)
            for (uint32_t column = 0; column < from->width; column++)
                memcpy(sample_at(to, band, row, column), sample_at(from, band, row, column), size);
}

tz_buffer raster_interleaved(const raster *r, void **memory)
{
    tz_buffer b = packed(r->spec.dtype, r->spec.bands, r->spec.height, r->spec.width);
    const int64_t size = (int64_t)tz_dtype_size(b.dtype);
    *memory = b.data;
    b.band_stride = size;
    b.column_stride = size * b.bands;
    b.row_stride = b.column_stride * b.width;
    copy_samples(&r->pixels, &b);
    return b;
}

tz_buffer raster_scattered(const raster *r, void **memory)
{
    tz_buffer b = r->pixels;
    const int64_t size = (int64_t)tz_dtype_size(b.dtype);
    b.column_stride = size + 3;
    b.row_stride = -(b.column_stride * b.width + 5);
    b.band_stride = -b.row_stride * b.height + 7;
    *memory = calloc(1, (size_t)(b.band_stride * b.bands));
    b.data = (uint8_t *)*memory - b.row_stride * (b.height - 1);
    copy_samples(&r->pixels, &b);
    return b;
}

/* ---- writing ---- */

static tz_buffer some_rows(const tz_buffer *b, uint32_t row, uint32_t count)
{
    tz_buffer part = *b;
    part.data = (uint8_t *)b->data + (int64_t)row * b->row_stride;
    part.height = count;
    return part;
}

/* Rows of the n-th call. */
static uint32_t batch_of(const raster_variant *way, uint32_t height, unsigned n)
{
    static const uint32_t ragged[] = {1, 24, 3, 70, 16, 0};
    if (way && way->ragged)
        return ragged[n % (sizeof ragged / sizeof ragged[0])];
    return way && way->batch ? way->batch : height;
}

static tz_result push(tz_writer *writer, const raster *r, const tz_buffer *pixels,
                      const raster_variant *way, tz_error *err)
{
    const uint32_t height = r->spec.height;
    tz_result result = TZ_OK;
    unsigned calls = 0;
    for (uint32_t row = 0, count = 0; row < height && result == TZ_OK; row += count) {
        count = batch_of(way, height, calls++);
        count = count < height - row ? count : height - row;
        const tz_buffer rows = some_rows(pixels, row, count);
        tz_buffer mask = {0};
        if (r->mask.data)
            mask = some_rows(&r->mask, row, count);
        result = tz_write_rows(writer, &rows, r->mask.data ? &mask : NULL, err);
    }
    return result;
}

typedef struct pull_state {
    const raster *r;
    const tz_buffer *pixels;
    uint8_t *asked; /* by pixel */
} pull_state;

static void give_window(const tz_buffer *from, const tz_window *window, const tz_buffer *to)
{
    tz_buffer part = *from;
    part.data = sample_at(from, 0, (uint32_t)window->row, (uint32_t)window->column);
    part.width = window->width;
    part.height = window->height;
    assert_int_equal(to->width, window->width);
    assert_int_equal(to->height, window->height);
    copy_samples(&part, to);
}

static tz_result pull_read(void *user, const tz_window *window, const tz_buffer *pixels,
                           const tz_buffer *mask, tz_error *err)
{
    pull_state *s = user;
    (void)err;
    for (uint32_t y = 0; y < window->height; y++)
        for (uint32_t x = 0; x < window->width; x++)
            s->asked[((uint64_t)window->row + y) * s->r->spec.width + (uint64_t)window->column +
                     x]++;
    give_window(s->pixels, window, pixels);
    assert_true((mask->data != NULL) == (s->r->mask.data != NULL));
    if (mask->data)
        give_window(&s->r->mask, window, mask);
    return TZ_OK;
}

static tz_result pull(tz_writer *writer, const raster *r, const tz_buffer *pixels,
                      const raster_variant *way, tz_error *err)
{
    const size_t count = (size_t)r->spec.width * r->spec.height;
    pull_state state = {r, pixels, calloc(count, 1)};
    const tz_row_source source = {.struct_size = sizeof source,
                                  .read = pull_read,
                                  .user = &state,
                                  .chunk_rows = way->chunk_rows,
                                  .columns = way->columns};
    const tz_result result = tz_write_from(writer, &source, err);
    for (size_t i = 0; i < count && result == TZ_OK; i++)
        assert_int_equal(state.asked[i], 1);
    free(state.asked);
    return result;
}

tz_result raster_give(tz_writer *writer, const raster *r, const raster_variant *way, tz_error *err)
{
    const tz_buffer *pixels = way && way->pixels.data ? &way->pixels : &r->pixels;
    if (way && way->pull)
        return pull(writer, r, pixels, way, err);
    return push(writer, r, pixels, way, err);
}

tz_result raster_try(const raster *r, const tz_write_options *options, const raster_variant *way,
                     tz_memory *out, tz_write_report **report, tz_error *err)
{
    tz_writer *writer = NULL;
    tz_result result = tz_create_memory(&writer, out, &r->spec, options, err);
    clear_write_report(report);
    if (result == TZ_OK)
        result = raster_give(writer, r, way, err);
    if (result == TZ_OK)
        result = tz_commit(writer, report, err);
    tz_writer_close(writer);
    return result;
}

tz_memory raster_write(const raster *r, const tz_write_options *options, const raster_variant *way,
                       tz_write_report **report)
{
    tz_memory out = {0};
    tz_error err = {0};
    if (raster_try(r, options, way, &out, report, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return out;
}

/* ---- reading back ---- */

static bool is_nan(tz_dtype dtype, const uint8_t *at)
{
    float f;
    double d;
    memcpy(&f, at, sizeof f);
    if (dtype == TZ_DTYPE_FLOAT32)
        return isnan(f);
    if (dtype != TZ_DTYPE_FLOAT64)
        return false;
    memcpy(&d, at, sizeof d);
    return isnan(d);
}

static void check_samples(const tz_buffer *given, const tz_buffer *read, double nan)
{
    const size_t size = tz_dtype_size(given->dtype);
    uint8_t expected[16];
    for (uint32_t band = 0; band < given->bands; band++)
        for (uint32_t row = 0; row < given->height; row++)
            for (uint32_t column = 0; column < given->width; column++) {
                memcpy(expected, sample_at(given, band, row, column), size);
                if (is_nan(given->dtype, expected) && !isnan(nan))
                    store(given->dtype, nan, expected);
                if (memcmp(expected, sample_at(read, band, row, column), size) != 0)
                    fail_msg("band %u, row %u, column %u differs", band, row, column);
            }
}

static void check_layer(const tz_file *file, uint32_t level, const tz_buffer *given, double nan)
{
    tz_buffer read = packed(given->dtype, given->bands, given->height, given->width);
    const plain_item item = {.file = file, .level = level, .into = read};
    tz_error err;
    if (plain_read(&item, NULL, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    check_samples(given, &read, nan);
    free(read.data);
}

static void check_mask(const tz_file *file, const raster *r)
{
    tz_buffer pixels = packed(r->spec.dtype, r->spec.bands, r->spec.height, r->spec.width);
    tz_buffer mask = packed(TZ_DTYPE_UINT8, r->spec.bands, r->spec.height, r->spec.width);
    const plain_item item = {.file = file, .into = pixels, .mask = mask};
    tz_error err;
    if (plain_read(&item, NULL, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    check_samples(&r->mask, &mask, NAN);
    free(pixels.data);
    free(mask.data);
}

void raster_check(const raster *r, const tz_memory *memory, double nan)
{
    tz_file *file = NULL;
    tz_error err;
    if (tz_open_memory(&file, memory->data, memory->size, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    const tz_info *info = tz_file_get_info(file);
    if (info->warning_count > 0 && tz_build_feature("expat")) /* else metadata is not read */
        fail_msg("%s", tz_file_get_warning(file, 0)->message);
    check_layer(file, 0, &r->pixels, nan);
    if (r->mask.data)
        check_mask(file, r);
    tz_close(file);
}
