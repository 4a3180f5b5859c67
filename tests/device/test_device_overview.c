/* SPDX-License-Identifier: Apache-2.0
 * Overviews on a device: the bytes that tz_overview_make makes on the CPU, for all methods
 * and types, with nodata, masks and alpha, however rows lie and however the work is divided. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/device_state.h"
#include "device/ops/overview.h"
#include "pixel/pixel.h"
#include "support/check.h"
#include "support/device/test_device.h"

static uint32_t seed = 4711;

static uint32_t below(uint32_t count)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)seed * count >> 32);
}

/* ---- buffers ---- */

enum { LAYOUTS = 3, PADDING = 3 };

/* Rows by band, by row, or pixel by pixel; also from the bottom up; something lies between them. */
static tz_pixel_buffer lay_out(tz_dtype dtype, uint32_t bands, uint32_t width, uint32_t height,
                               uint64_t *size)
{
    const int64_t sample = (int64_t)tz_dtype_size(dtype);
    const uint32_t kind = below(LAYOUTS);
    const bool padded = below(2);
    tz_pixel_buffer out = {.dtype = dtype, .bands = bands, .width = width, .height = height};
    out.offset = padded ? below(9) : 0;
    out.column_stride = sample * (kind == 2 ? bands : 1) + (padded ? below(2) : 0);
    out.row_stride = out.column_stride * width + (padded ? below(PADDING) : 0);
    out.band_stride = kind == 2 ? sample : out.row_stride;
    if (kind == 1)
        out.row_stride *= bands;
    if (kind == 0)
        out.band_stride *= height;
    *size =
        out.offset + 16 + (uint64_t)(kind == 0 ? out.band_stride * bands : out.row_stride * height);
    if (below(3) == 0 && kind > 0) {
        out.offset += (uint64_t)(out.row_stride * (height - 1));
        out.row_stride = -out.row_stride;
    }
    return out;
}

/* An allocation on the host, and the same on the device. */
typedef struct twin {
    tz_pixel_buffer host;
    tz_pixel_buffer device;
    uint8_t *bytes;
    uint64_t size;
} twin;

static twin make_twin(tz_dtype dtype, uint32_t bands, uint32_t width, uint32_t height)
{
    tz_error err;
    twin out = {0};
    out.device = lay_out(dtype, bands, width, height, &out.size);
    out.bytes = malloc(out.size);
    memset(out.bytes, 0x5a, out.size);
    out.host = out.device;
    out.host.data = out.bytes + out.device.offset;
    assert_int_equal(tz_device_memory_alloc(&out.device.memory, test_device, out.size, &err),
                     TZ_OK);
    return out;
}

static void send(const twin *t)
{
    tz_error err;
    assert_int_equal(tz_device_copy_in(t->device.memory, 0, t->bytes, t->size, &err), TZ_OK);
}

static void free_twin(twin *t)
{
    free(t->bytes);
    tz_device_memory_free(t->device.memory);
}

/* Samples of one buffer, at the same offsets of another one. */
static void copy_samples(const tz_pixel_buffer *from, const tz_pixel_buffer *to)
{
    const size_t size = tz_dtype_size(from->dtype);
    for (uint32_t band = 0; band < from->bands; band++) {
        for (uint32_t k = 0; k < from->width * from->height; k++)
            memcpy(tz_buffer_at(to, band, k / from->width, k % from->width),
                   tz_buffer_at(from, band, k / from->width, k % from->width), size);
    }
}

/* ---- a random level ---- */

typedef struct scene {
    tz_overview_params how;
    uint32_t flavour; /* of samples */
} scene;

static void put_value(tz_dtype dtype, double value, uint8_t *to)
{
    const tz_conversion cast = {.from = TZ_DTYPE_FLOAT64, .to = dtype};
    tz_row_convert(&cast, (const uint8_t *)&value, 8, to, 16, 1, NULL, 0);
}

static bool is_integer(tz_dtype dtype)
{
    return dtype < TZ_DTYPE_FLOAT16 || dtype == TZ_DTYPE_COMPLEX_INT16 ||
           dtype == TZ_DTYPE_COMPLEX_INT32;
}

/* Integers of less than all bits stay within them. */
static void put_sample(const scene *s, uint8_t *to)
{
    static const double extremes[] = {0.0,
                                      -0.0,
                                      1e300,
                                      -1e300,
                                      (double)INFINITY,
                                      4e-324,
                                      -1e-310,
                                      1e-42,
                                      (double)NAN,
                                      DBL_MAX,
                                      -DBL_MAX,
                                      FLT_MAX,
                                      65504.0,
                                      6e-8,
                                      -1.0,
                                      2147483647.0,
                                      9223372036854775807.0,
                                      18446744073709551615.0,
                                      -(double)INFINITY};
    const tz_overview_params *how = &s->how;
    const size_t size = tz_dtype_size(how->dtype);
    const bool narrow = is_integer(how->dtype) && how->bits < 8 * size;
    const uint32_t what = below(8);
    put_value(how->dtype, below(narrow ? 2 : 9), to);
    if (narrow && what < 6)
        put_value(how->dtype, below(1u << (how->bits - 1)), to);
    if (narrow || what < 2)
        return;
    if (what == 2 && how->nodata.kind != TZ_NODATA_KIND_NONE)
        tz_row_fill(how->dtype, &how->nodata, to, 16, 1);
    else if (s->flavour == 1 || (s->flavour == 2 && what == 3))
        for (size_t i = 0; i < size; i++)
            to[i] = (uint8_t)below(256);
    else if (s->flavour == 3 || (s->flavour == 2 && what == 4))
        put_value(how->dtype, extremes[below(sizeof extremes / sizeof extremes[0])], to);
    else if (s->flavour == 4)
        put_value(how->dtype, (double)below(1u << 20) / 7.0 - 50000.0, to);
}

static void fill_level(const scene *s, const tz_pixel_buffer *pixels, const tz_pixel_buffer *mask)
{
    const tz_overview_params *how = &s->how;
    for (uint32_t k = 0; k < pixels->width * pixels->height; k++) {
        const uint32_t row = k / pixels->width;
        const uint32_t column = k % pixels->width;
        const bool hole = row / 5 % 3 == 1 && column / 5 % 3 == 1;
        for (uint32_t band = 0; band < how->bands; band++) {
            uint8_t *to = tz_buffer_at(pixels, band, row, column);
            put_sample(s, to);
            if (band + 1 == how->alpha && (hole || below(4) == 0))
                memset(to, 0, tz_dtype_size(how->dtype));
            else if (hole && how->nodata.kind != TZ_NODATA_KIND_NONE)
                tz_row_fill(how->dtype, &how->nodata, to, 16, 1);
            else if (hole && how->alpha == 0)
                put_value(how->dtype, (double)NAN, to);
        }
        if (mask->data)
            *tz_buffer_at(mask, 0, row, column) =
                (uint8_t)(below(4) == 0 || (hole && below(5)) ? 0 : 1 + below(255));
    }
}

static tz_nodata random_nodata(void)
{
    static const double reals[] = {3.0, 0.0, -1.0, 2.5, 1e300, 255.0, 65535.0, 9007199254740993.0};
    static const int64_t integers[] = {0, 3, 255, -1, 127, -128, 300, INT64_MAX, INT64_MIN, 65535};
    tz_nodata out = {.kind = TZ_NODATA_KIND_NONE};
    switch (below(6)) {
    case 0:
        out.kind = TZ_NODATA_KIND_INT;
        out.value.i = integers[below(10)];
        break;
    case 1:
        out.kind = TZ_NODATA_KIND_UINT;
        out.value.u = below(4) == 0 ? UINT64_MAX : (uint64_t)below(5);
        break;
    case 2:
        out.kind = TZ_NODATA_KIND_FLOAT;
        out.value.f = reals[below(8)];
        break;
    case 3:
        out.kind = TZ_NODATA_KIND_FLOAT;
        out.value.f = below(3) ? (double)NAN : -(double)INFINITY;
        break;
    default:
        break;
    }
    return out;
}

/* Less than all bits; nodata is among the values, or the largest of them. */
static void narrow(tz_overview_params *how, uint32_t bits)
{
    const bool sign = how->dtype == TZ_DTYPE_INT8 || how->dtype == TZ_DTYPE_INT16;
    const int64_t most = ((int64_t)1 << (bits - sign)) - 1;
    how->bits = (uint16_t)bits;
    if (how->nodata.kind != TZ_NODATA_KIND_NONE)
        how->nodata =
            (tz_nodata){.kind = TZ_NODATA_KIND_INT, .value = {.i = below(2) ? most : below(2)}};
}

static uint32_t smaller_size(uint32_t from)
{
    switch (below(6)) {
    case 0:
        return 1 + below(from);
    case 1:
        return from > 1 ? from / 2 : 1;
    default:
        return (from + 1) / 2;
    }
}

static scene random_scene(tz_resampling method, tz_dtype dtype)
{
    scene s = {.flavour = below(5)};
    const uint16_t all = (uint16_t)(8 * tz_dtype_size(dtype));
    s.how = (tz_overview_params){.method = method,
                                 .dtype = dtype,
                                 .bits = all,
                                 .bands = 1 + below(3),
                                 .nodata = random_nodata(),
                                 .mask = below(3) == 0,
                                 .from_width = 1 + below(below(8) ? 40 : 150),
                                 .from_height = 1 + below(40)};
    if (is_integer(dtype) && dtype < TZ_DTYPE_UINT32 && below(4) == 0)
        narrow(&s.how, 2 + below(all - 2u));
    if (below(3) == 0)
        s.how.alpha = 1 + below(s.how.bands);
    if (below(3) == 0) { /* two by two */
        s.how.from_width += s.how.from_width % 2;
        s.how.from_height += s.how.from_height % 2;
        s.how.to_width = s.how.from_width / 2;
        s.how.to_height = s.how.from_height / 2;
        return s;
    }
    s.how.to_width = smaller_size(s.how.from_width);
    s.how.to_height = smaller_size(s.how.from_height);
    return s;
}

/* ---- what both make of it ---- */

static void reduce_on_cpu(const tz_overview_params *how, const twin *pixels, const twin *mask,
                          const tz_pixel_buffer *to, const tz_pixel_buffer *to_mask)
{
    const tz_overview_source from = {
        .row_ranges[1] = {.pixels = pixels->host,
                          .mask = mask ? mask->host : (tz_pixel_buffer){0}}};
    const tz_window all = {.width = how->to_width, .height = how->to_height};
    void *scratch = malloc(tz_overview_scratch_bytes(how, how->to_width));
    tz_overview_make(how, &from, &all, to, to_mask, scratch);
    free(scratch);
}

static tz_pixel_buffer rows_of(const tz_pixel_buffer *buffer, uint32_t first, uint32_t rows)
{
    tz_pixel_buffer out = *buffer;
    out.offset += (uint64_t)(first * buffer->row_stride);
    out.height = rows;
    return out;
}

/* The rows that some new ones need, and perhaps more, in two parts. */
static tz_overview_source cut_rows(const tz_overview_params *how, tz_interval of,
                                   const twin pixels[2], const twin masks[2])
{
    tz_interval rows = tz_overview_source_rows(how, of);
    rows.first -= below(2) ? below(rows.first + 1) : 0;
    rows.end += below(2) ? below(how->from_height - rows.end + 1) : 0;
    const uint32_t seam = rows.first + (below(3) ? below(rows.end - rows.first + 1) : 0);
    tz_overview_source out = {0};
    out.row_ranges[0].row = rows.first;
    out.row_ranges[0].pixels = rows_of(&pixels[0].device, rows.first, seam - rows.first);
    out.row_ranges[1].row = seam;
    out.row_ranges[1].pixels = rows_of(&pixels[1].device, seam, rows.end - seam);
    if (how->mask) {
        out.row_ranges[0].mask = rows_of(&masks[0].device, rows.first, seam - rows.first);
        out.row_ranges[1].mask = rows_of(&masks[1].device, seam, rows.end - seam);
    }
    return out;
}

/* Runs of few rows, of many, and of all of them. */
static void reduce_on_device(const tz_overview_params *how, const twin pixels[2],
                             const twin masks[2], const twin *to, const twin *to_mask)
{
    tz_error err;
    tz_device_memory *memory = NULL;
    tz_overview_builder *reducer = NULL;
    const uint32_t most = below(2) ? how->to_height : 1 + below(how->to_height);
    const uint64_t offset = 64 * below(3);
    const uint64_t bytes = tz_overview_builder_bytes(how, most);
    assert_int_equal(tz_device_memory_alloc(&memory, test_device, offset + bytes, &err), TZ_OK);
    assert_int_equal(tz_overview_builder_make(&reducer, how, most, memory, offset, &err), TZ_OK);
    for (uint32_t row = 0, rows; row < how->to_height; row += rows) {
        rows = below(3) ? most : 1 + below(most);
        rows = rows < how->to_height - row ? rows : how->to_height - row;
        const tz_overview_source from =
            cut_rows(how, (tz_interval){row, row + rows}, pixels, masks);
        const tz_pixel_buffer new_pixels = rows_of(&to->device, row, rows);
        tz_pixel_buffer new_mask = {0};
        if (to_mask)
            new_mask = rows_of(&to_mask->device, row, rows);
        if (tz_overview_builder_run(reducer, &from, row, rows, &new_pixels, &new_mask, 0, &err) !=
            TZ_OK)
            fail_msg("%s", err.message);
    }
    assert_int_equal(tz_device_sync(test_device, 0, &err), TZ_OK);
    tz_overview_builder_free(reducer);
    tz_device_memory_free(memory);
}

static void tell(const scene *s, const twin *to, const uint8_t *found)
{
    const tz_overview_params *how = &s->how;
    uint64_t at = 0;
    while (to->bytes[at] == found[at])
        at++;
    fail_msg("%s of %s, %ux%u to %ux%u, %u bands, %u bits, nodata %d (%lld), mask %d, alpha %u, "
             "flavour %u, strides %lld %lld %lld: byte %llu is %02x, not %02x",
             tz_resampling_name(how->method), tz_dtype_name(how->dtype), how->from_width,
             how->from_height, how->to_width, how->to_height, how->bands, how->bits,
             (int)how->nodata.kind, (long long)how->nodata.value.i, how->mask, how->alpha,
             s->flavour, (long long)to->device.band_stride, (long long)to->device.row_stride,
             (long long)to->device.column_stride, (unsigned long long)at, found[at], to->bytes[at]);
}

static void compare_twin(const scene *s, const twin *to)
{
    tz_error err;
    uint8_t *found = malloc(to->size);
    assert_int_equal(tz_device_copy_out(found, to->device.memory, 0, to->size, &err), TZ_OK);
    if (memcmp(found, to->bytes, to->size) != 0)
        tell(s, to, found);
    free(found);
}

static void compare(const scene *s)
{
    const tz_overview_params *how = &s->how;
    twin pixels[2];
    twin masks[2] = {{.size = 0}, {.size = 0}};
    twin to = make_twin(how->dtype, how->bands, how->to_width, how->to_height);
    twin to_mask = make_twin(TZ_DTYPE_UINT8, 1, how->to_width, how->to_height);
    const bool wants_mask = how->mask || below(3) == 0;
    for (int i = 0; i < 2; i++) {
        pixels[i] = make_twin(how->dtype, how->bands, how->from_width, how->from_height);
        if (how->mask)
            masks[i] = make_twin(TZ_DTYPE_UINT8, 1, how->from_width, how->from_height);
    }
    fill_level(s, &pixels[0].host, &masks[0].host);
    copy_samples(&pixels[0].host, &pixels[1].host);
    if (how->mask)
        copy_samples(&masks[0].host, &masks[1].host);
    for (int i = 0; i < 2; i++) {
        send(&pixels[i]);
        if (how->mask)
            send(&masks[i]);
    }
    send(&to);
    send(&to_mask);
    reduce_on_device(how, pixels, masks, &to, wants_mask ? &to_mask : NULL);
    reduce_on_cpu(how, &pixels[0], how->mask ? &masks[0] : NULL, &to.host,
                  wants_mask ? &to_mask.host : NULL);
    compare_twin(s, &to);
    compare_twin(s, &to_mask);
    for (int i = 0; i < 2; i++) {
        free_twin(&pixels[i]);
        free_twin(&masks[i]);
    }
    free_twin(&to);
    free_twin(&to_mask);
}

/* Both as a CPU works, one item alone, and as a GPU does, all items of a group. */
static void compare_some(tz_resampling method, uint32_t rounds)
{
    const tz_device_type type = test_device->info.type;
    for (uint32_t i = 0; i < rounds; i++) {
        const tz_dtype dtype = (tz_dtype)(1 + i % TZ_DTYPE_COMPLEX_FLOAT64);
        if (tz_resampling_unsupported(method, dtype, false))
            continue;
        const scene s = random_scene(method, dtype);
        if (!tz_device_makes_overviews(test_device, &s.how))
            continue;
        test_device->info.type =
            i / TZ_DTYPE_COMPLEX_FLOAT64 % 2 ? TZ_DEVICE_TYPE_GPU : TZ_DEVICE_TYPE_CPU;
        compare(&s);
    }
    test_device->info.type = type;
}

enum { ROUNDS = 192 };

#define TEST(name, method)                                                                         \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        compare_some(method, test_device_sample(ROUNDS));                                          \
    }
TEST(nearest, TZ_RESAMPLING_NEAREST)
TEST(average, TZ_RESAMPLING_AVERAGE)
TEST(bilinear, TZ_RESAMPLING_BILINEAR)
TEST(cubic, TZ_RESAMPLING_CUBIC)
TEST(lanczos, TZ_RESAMPLING_LANCZOS)
TEST(gauss, TZ_RESAMPLING_GAUSS)
TEST(rms, TZ_RESAMPLING_RMS)
TEST(mode, TZ_RESAMPLING_MODE)
TEST(min, TZ_RESAMPLING_MIN)
TEST(max, TZ_RESAMPLING_MAX)
TEST(median, TZ_RESAMPLING_MEDIAN)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest),  cmocka_unit_test(test_average),
        cmocka_unit_test(test_bilinear), cmocka_unit_test(test_cubic),
        cmocka_unit_test(test_lanczos),  cmocka_unit_test(test_gauss),
        cmocka_unit_test(test_rms),      cmocka_unit_test(test_mode),
        cmocka_unit_test(test_min),      cmocka_unit_test(test_max),
        cmocka_unit_test(test_median),
    };
    return cmocka_run_group_tests(tests, test_device_begin, test_device_end);
}
