/* SPDX-License-Identifier: Apache-2.0
 * One level from the one before, against the rules in the plainest words: one new pixel at a time,
 * from whole levels of doubles. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pixel/overview_level.h"
#include "pixel/pixel.h"
#include "support/resample_rules.h"

/* ---- a level ---- */

enum { MOST_BANDS = 4 };

typedef struct level {
    uint32_t width, height, bands;
    double *values; /* band after band; complex: two planes a band */
    uint8_t *mask;  /* 0 or not; all pixels are there without one */
} level;

static uint32_t seed = 7;

static uint32_t random_below(uint32_t end)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)seed * end >> 32);
}

static bool is_float(tz_dtype dtype)
{
    return dtype >= TZ_DTYPE_FLOAT16 && dtype <= TZ_DTYPE_FLOAT64;
}

/* Small numbers that every type holds, with nodata (7) and NaN among them, and some areas full of
 * it. */
static level make_level(const tz_overview_params *how, bool masked)
{
    const size_t pixels = (size_t)how->from_width * how->from_height;
    level out = {how->from_width, how->from_height, how->bands, NULL, NULL};
    out.values = malloc(sizeof *out.values * pixels * how->bands);
    out.mask = malloc(pixels);
    for (size_t k = 0; k < pixels * how->bands; k++) {
        const uint32_t row = (uint32_t)(k % pixels / how->from_width);
        const uint32_t column = (uint32_t)(k % how->from_width);
        const bool empty = row / 4 % 3 == 1 && column / 4 % 3 == 1;
        out.values[k] = empty || random_below(4) == 0 ? 7 : random_below(120);
        if (is_float(how->dtype) && (random_below(6) == 0 || (empty && column % 2)))
            out.values[k] = (double)NAN;
        if (k / pixels + 1 == how->alpha)
            out.values[k] = empty ? 0 : random_below(3) * 50;
    }
    for (size_t k = 0; k < pixels; k++)
        out.mask[k] = masked && (random_below(3) == 0 || k / how->from_width % 5 == 2) ? 0 : 255;
    return out;
}

static void free_level(level *l)
{
    free(l->values);
    free(l->mask);
}

/* ---- the rules ---- */

static bool is_there(const tz_overview_params *how, const level *l, size_t k)
{
    const size_t pixels = (size_t)l->width * l->height;
    return l->mask[k] && (how->alpha == 0 || l->values[(how->alpha - 1) * pixels + k] != 0);
}

/* Valid samples of a band, or 1 for pixels that are there. */
static plane plane_of(const tz_overview_params *how, const level *l, uint32_t band, bool of_mask)
{
    const size_t pixels = (size_t)l->width * l->height;
    plane out = {l->width, l->height, malloc(pixels * sizeof(double))};
    for (size_t k = 0; k < pixels; k++) {
        const double value = l->values[band * pixels + k];
        const bool nodata =
            how->nodata.kind != TZ_NODATA_KIND_NONE && value == (double)how->nodata.value.i;
        const bool valid = how->method == TZ_RESAMPLING_NEAREST || band + 1 == how->alpha ||
                           (is_there(how, l, k) && !nodata);
        out.values[k] = valid ? value : (double)NAN;
        if (of_mask)
            out.values[k] = is_there(how, l, k) ? 1 : (double)NAN;
    }
    return out;
}

static double new_value(const tz_overview_params *how, const plane *p, uint32_t row,
                        uint32_t column)
{
    const ruler across = {0, (double)how->from_width / how->to_width};
    const ruler down = {0, (double)how->from_height / how->to_height};
    return rule_pixel(p, how->method, true, across, down, column, row);
}

/* Returns the lowest value of an integer type that filters can reach. */
static double lowest(tz_dtype dtype)
{
    const bool sign = dtype == TZ_DTYPE_INT8 || dtype == TZ_DTYPE_INT16 ||
                      dtype == TZ_DTYPE_INT32 || dtype == TZ_DTYPE_INT64;
    return dtype == TZ_DTYPE_INT8 ? -128 : sign ? -1e4 : 0;
}

static double highest(tz_dtype dtype)
{
    return dtype == TZ_DTYPE_INT8 ? 127 : dtype == TZ_DTYPE_UINT8 ? 255 : 1e4;
}

/* Returns the stored value. */
static double stored(const tz_overview_params *how, uint32_t band, double value, bool there)
{
    const bool has_nodata = how->nodata.kind != TZ_NODATA_KIND_NONE;
    if (how->method == TZ_RESAMPLING_NEAREST)
        return value;
    if (isnan(value))
        return has_nodata ? (double)how->nodata.value.i : is_float(how->dtype) && there ? value : 0;
    if (how->dtype == TZ_DTYPE_FLOAT32)
        value = (double)(float)value;
    else if (how->dtype != TZ_DTYPE_FLOAT64)
        value = fmin(fmax(round(value), lowest(how->dtype)), highest(how->dtype));
    if (has_nodata && band + 1 != how->alpha && value == (double)how->nodata.value.i) {
        const double more =
            how->dtype == TZ_DTYPE_FLOAT32 ? (double)nextafterf(7, 8) : nextafter(7, 8);
        value = is_float(how->dtype) ? more : 8;
    }
    return value;
}

/* ---- buffers ---- */

static tz_pixel_buffer make_buffer(tz_dtype dtype, uint32_t bands, uint32_t width, uint32_t height,
                                   bool interleaved)
{
    const int64_t size = (int64_t)tz_dtype_size(dtype);
    tz_pixel_buffer out = {.dtype = dtype, .bands = bands, .width = width, .height = height};
    out.data = calloc((size_t)bands * width * height + 1, (size_t)size);
    out.column_stride = interleaved ? size * bands : size;
    out.row_stride = out.column_stride * width;
    out.band_stride = interleaved ? size : out.row_stride * height;
    return out;
}

static void put(const tz_pixel_buffer *b, uint32_t band, int64_t row, int64_t column, double value)
{
    const tz_conversion how = {.from = TZ_DTYPE_FLOAT64, .to = b->dtype};
    tz_row_convert(&how, (const uint8_t *)&value, 8, tz_buffer_at(b, band, row, column), 0, 1, NULL,
                   0);
}

static double get(const tz_pixel_buffer *b, uint32_t band, int64_t row, int64_t column)
{
    const tz_conversion how = {.from = b->dtype, .to = TZ_DTYPE_FLOAT64};
    double value;
    tz_row_convert(&how, tz_buffer_at(b, band, row, column), 8, (uint8_t *)&value, 8, 1, NULL, 0);
    return value;
}

/* Rows `of` of the level, from a column on. */
static tz_row_range make_part(const tz_overview_params *how, const level *l, tz_interval of,
                              tz_interval columns, bool interleaved)
{
    const uint32_t height = of.end - of.first;
    const uint32_t width = columns.end - columns.first;
    tz_row_range out = {.row = of.first};
    out.pixels = make_buffer(how->dtype, how->bands, width, height, interleaved);
    if (how->mask)
        out.mask = make_buffer(TZ_DTYPE_UINT8, 1, width, height, false);
    for (uint32_t k = 0; k < width * height; k++) {
        const uint32_t y = k / width;
        const uint32_t x = k % width;
        const size_t at = (size_t)(of.first + y) * l->width + columns.first + x;
        for (uint32_t band = 0; band < how->bands; band++)
            put(&out.pixels, band, y, x, l->values[(size_t)band * l->width * l->height + at]);
        if (how->mask)
            put(&out.mask, 0, y, x, l->mask[at]);
    }
    return out;
}

static void free_part(tz_row_range *part)
{
    free(part->pixels.data);
    free(part->mask.data);
}

/* ---- comparing ---- */

/* Sums are not taken in the same way everywhere. */
static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= 1e-9 * (1 + fabs(a));
}

static void check_pixels(const tz_overview_params *how, const level *l, tz_window window,
                         const tz_pixel_buffer *pixels, const tz_pixel_buffer *mask)
{
    const plane there = plane_of(how, l, 0, true);
    for (uint32_t band = 0; band < how->bands; band++) {
        const plane p = plane_of(how, l, band, false);
        for (uint32_t k = 0; k < window.width * window.height; k++) {
            const uint32_t row = (uint32_t)window.row + k / window.width;
            const uint32_t column = (uint32_t)window.column + k % window.width;
            const bool is_here = !isnan(new_value(how, &there, row, column));
            const double expected = stored(how, band, new_value(how, &p, row, column), is_here);
            const double found = get(pixels, band, k / window.width, k % window.width);
            if (!same(expected, found))
                fail_msg("%s of %s, %ux%u to %ux%u, band %u, row %u, column %u: %.17g, not %.17g",
                         tz_resampling_name(how->method), tz_dtype_name(how->dtype),
                         how->from_width, how->from_height, how->to_width, how->to_height, band,
                         row, column, found, expected);
            assert_int_equal(((uint8_t *)mask->data)[k], is_here ? 255 : 0);
        }
        free(p.values);
    }
    free(there.values);
}

/* One window, from rows cut in two parts at `cut`. */
static void check_window(const tz_overview_params *how, const level *l, tz_window window,
                         uint32_t cut, bool interleaved)
{
    const uint32_t top = (uint32_t)window.row;
    const uint32_t left = (uint32_t)window.column;
    const tz_interval rows = tz_overview_source_rows(how, (tz_interval){top, top + window.height});
    const tz_interval columns =
        tz_overview_source_columns(how, (tz_interval){left, left + window.width});
    const uint32_t seam = rows.first + (cut < rows.end - rows.first ? cut : 0);
    tz_overview_source from = {.column = columns.first};
    from.row_ranges[0] = make_part(how, l, (tz_interval){rows.first, seam}, columns, interleaved);
    from.row_ranges[1] = make_part(how, l, (tz_interval){seam, rows.end}, columns, interleaved);
    tz_pixel_buffer pixels =
        make_buffer(how->dtype, how->bands, window.width, window.height, interleaved);
    tz_pixel_buffer mask = make_buffer(TZ_DTYPE_UINT8, 1, window.width, window.height, false);
    void *scratch = malloc(tz_overview_scratch_bytes(how, window.width));
    tz_overview_make(how, &from, &window, &pixels, &mask, scratch);
    check_pixels(how, l, window, &pixels, &mask);
    free(scratch);
    free(pixels.data);
    free(mask.data);
    free_part(&from.row_ranges[0]);
    free_part(&from.row_ranges[1]);
}

static void check_level(const tz_overview_params *how, bool masked)
{
    level l = make_level(how, masked);
    const tz_window all = {0, 0, how->to_width, how->to_height};
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        check_window(how, &l, all, 0, interleaved);
        check_window(how, &l, all, 5, interleaved);
    }
    for (uint32_t k = 0; k < 3; k++) {
        tz_window part = {random_below(how->to_width), random_below(how->to_height), 0, 0};
        part.width = 1 + random_below(how->to_width - (uint32_t)part.column);
        part.height = 1 + random_below(how->to_height - (uint32_t)part.row);
        check_window(how, &l, part, random_below(4), k % 2);
    }
    free_level(&l);
}

static tz_overview_params half_of(tz_resampling method, tz_dtype dtype, uint32_t width,
                                  uint32_t height)
{
    return (tz_overview_params){.method = method,
                                .dtype = dtype,
                                .bits = (uint16_t)(8 * tz_dtype_size(dtype)),
                                .bands = 1,
                                .from_width = width,
                                .from_height = height,
                                .to_width = (width + 1) / 2,
                                .to_height = (height + 1) / 2};
}

static const tz_nodata seven = {.kind = TZ_NODATA_KIND_INT, .value = {.i = 7}};

static void every_method_and_type(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1},   {2, 2},  {5, 5}, {40, 26},
                                        {67, 33}, {33, 1}, {1, 9}};
    for (int method = TZ_RESAMPLING_NEAREST; method <= TZ_RESAMPLING_MEDIAN; method++) {
        for (int dtype = TZ_DTYPE_UINT8; dtype <= TZ_DTYPE_FLOAT64; dtype++) {
            if (dtype == TZ_DTYPE_FLOAT16)
                continue; /* below */
            for (uint32_t k = 0; k < 7; k++) {
                const uint32_t *size = sizes[k];
                tz_overview_params how =
                    half_of((tz_resampling)method, (tz_dtype)dtype, size[0], size[1]);
                const uint32_t dress = (k + (uint32_t)method + (uint32_t)dtype) % 5;
                how.bands = dress + 1 > MOST_BANDS ? MOST_BANDS : dress + 1;
                how.nodata = dress == 1 || dress == 4 ? seven : (tz_nodata){0};
                how.mask = dress == 2 || dress == 4;
                how.alpha = dress == 3 ? 2 : dress == 4 ? 4 : 0;
                check_level(&how, how.mask);
            }
        }
    }
}

/* Not only halves. */
static void other_scales(void **state)
{
    (void)state;
    static const uint32_t widths[][2] = {{50, 17}, {31, 30}, {9, 9}, {100, 7}, {13, 1}};
    for (size_t k = 0; k < sizeof widths / sizeof widths[0]; k++) {
        for (int method = TZ_RESAMPLING_NEAREST; method <= TZ_RESAMPLING_MEDIAN; method++) {
            tz_overview_params how =
                half_of((tz_resampling)method, TZ_DTYPE_FLOAT64, widths[k][0], 21);
            how.to_width = widths[k][1];
            how.nodata = seven;
            check_level(&how, false);
        }
    }
}

/* ---- what a user would miss ---- */

static tz_pixel_buffer packed(void *data, tz_dtype dtype, uint32_t height, uint32_t width)
{
    const int64_t size = (int64_t)tz_dtype_size(dtype);
    return (tz_pixel_buffer){.data = data,
                             .dtype = dtype,
                             .bands = 1,
                             .height = height,
                             .width = width,
                             .row_stride = size * width,
                             .column_stride = size};
}

static void reduce_row(const tz_overview_params *how, const void *pixels, const uint8_t *mask,
                       void *into, uint8_t *new_mask)
{
    tz_overview_source from = {.row_ranges[0].row = 1000}; /* which has no rows */
    const tz_window window = {0, 0, how->to_width, how->to_height};
    from.row_ranges[1].pixels =
        packed((void *)pixels, how->dtype, how->from_height, how->from_width);
    if (mask)
        from.row_ranges[1].mask =
            packed((void *)mask, TZ_DTYPE_UINT8, how->from_height, how->from_width);
    const tz_pixel_buffer out = packed(into, how->dtype, how->to_height, how->to_width);
    const tz_pixel_buffer out_mask =
        packed(new_mask, TZ_DTYPE_UINT8, how->to_height, how->to_width);
    void *scratch = malloc(tz_overview_scratch_bytes(how, how->to_width));
    tz_overview_make(how, &from, &window, &out, &out_mask, scratch);
    free(scratch);
}

static void five_become_three(void **state)
{
    (void)state;
    const uint8_t pixels[5] = {0, 30, 60, 90, 120};
    uint8_t out[3];
    tz_overview_params how = half_of(TZ_RESAMPLING_AVERAGE, TZ_DTYPE_UINT8, 5, 1);
    reduce_row(&how, pixels, NULL, out, NULL);
    /* 0 and two thirds of 30; a third of it, 60, a third of 90; the rest */
    assert_int_equal(out[0], 12);
    assert_int_equal(out[1], 60);
    assert_int_equal(out[2], 108);
    how.method = TZ_RESAMPLING_NEAREST;
    reduce_row(&how, pixels, NULL, out, NULL);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 60);
    assert_int_equal(out[2], 90);
}

/* A mean that comes to equal nodata is still there. */
static void nodata_is_not_made_of_valid_pixels(void **state)
{
    (void)state;
    tz_overview_params how = half_of(TZ_RESAMPLING_AVERAGE, TZ_DTYPE_UINT8, 4, 1);
    const uint8_t bytes[4] = {254, 255, 255, 255};
    uint8_t out[2];
    how.nodata = (tz_nodata){.kind = TZ_NODATA_KIND_UINT, .value = {.u = 255}};
    reduce_row(&how, bytes, NULL, out, NULL);
    assert_int_equal(out[0], 254);
    assert_int_equal(out[1], 255);
    const uint8_t around[4] = {254, 253, 253, 254}; /* 253.5 is rounded up */
    how.nodata.value.u = 254;
    reduce_row(&how, around, NULL, out, NULL);
    assert_int_equal(out[0], 253);
    const int16_t words[4] = {-6, -8, -7, -7};
    int16_t out_words[2];
    how.dtype = TZ_DTYPE_INT16;
    how.bits = 16;
    how.nodata = (tz_nodata){.kind = TZ_NODATA_KIND_INT, .value = {.i = -7}};
    reduce_row(&how, words, NULL, out_words, NULL);
    assert_int_equal(out_words[0], -6);
    assert_int_equal(out_words[1], -7);
    const float floats[4] = {-1, 1, 0, 0};
    float out_floats[2];
    how.dtype = TZ_DTYPE_FLOAT32;
    how.nodata = (tz_nodata){.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = 0}};
    reduce_row(&how, floats, NULL, out_floats, NULL);
    assert_true(out_floats[0] == nextafterf(0, 1));
    assert_true(out_floats[1] == 0);
    const float large[4] = {-FLT_MAX, -FLT_MAX, FLT_MAX, FLT_MAX};
    how.nodata.value.f = -(double)FLT_MAX;
    reduce_row(&how, large, NULL, out_floats, NULL);
    assert_true(out_floats[0] == -FLT_MAX);
    assert_true(out_floats[1] == FLT_MAX);
}

static void integers_of_64_bits_keep_theirs(void **state)
{
    (void)state;
    tz_overview_params how = half_of(TZ_RESAMPLING_NEAREST, TZ_DTYPE_INT64, 2, 1);
    const int64_t pixels[2] = {INT64_MAX - 1, 5};
    int64_t out;
    reduce_row(&how, pixels, NULL, &out, NULL);
    assert_true(out == INT64_MAX - 1);
    how.method = TZ_RESAMPLING_AVERAGE;
    how.nodata = (tz_nodata){.kind = TZ_NODATA_KIND_INT, .value = {.i = INT64_MAX - 1}};
    reduce_row(&how, pixels, NULL, &out, NULL);
    assert_true(out == 5);
}

static void halves_and_complex_numbers(void **state)
{
    (void)state;
    tz_overview_params how = half_of(TZ_RESAMPLING_AVERAGE, TZ_DTYPE_FLOAT16, 4, 1);
    const uint16_t halves[4] = {0x3c00, 0x4000, 0x7e00, 0x4200}; /* 1, 2, NaN, 3 */
    uint16_t out[2];
    reduce_row(&how, halves, NULL, out, NULL);
    assert_int_equal(out[0], 0x3e00); /* 1.5 */
    assert_int_equal(out[1], 0x4200);
    how.dtype = TZ_DTYPE_COMPLEX_FLOAT32;
    const float pairs[8] = {1, 10, 3, 20, 5, NAN, 7, 30};
    float out_pairs[4];
    reduce_row(&how, pairs, NULL, out_pairs, NULL);
    assert_true(out_pairs[0] == 2 && out_pairs[1] == 15);
    assert_true(out_pairs[2] == 7 && out_pairs[3] == 30);
}

static void a_mask_says_whether_anything_is_left(void **state)
{
    (void)state;
    tz_overview_params how = half_of(TZ_RESAMPLING_AVERAGE, TZ_DTYPE_FLOAT32, 8, 1);
    const float pixels[8] = {1, 2, 3, 4, NAN, NAN, 5, NAN};
    const uint8_t mask[8] = {0, 0, 0, 1, 255, 0, 255, 255};
    float out[4];
    uint8_t new_mask[4];
    how.mask = true;
    reduce_row(&how, pixels, mask, out, new_mask);
    assert_true(out[0] == 0 && new_mask[0] == 0);
    assert_true(out[1] == 4 && new_mask[1] == 255);
    assert_true(isnan(out[2]) && new_mask[2] == 255);
    assert_true(out[3] == 5 && new_mask[3] == 255);
}

/* Cubic and lanczos go beyond the samples that they see. */
static void few_bits_are_not_exceeded(void **state)
{
    (void)state;
    enum { WIDTH = 40 };
    uint16_t pixels[WIDTH];
    int16_t signs[WIDTH];
    for (int i = 0; i < WIDTH; i++) {
        pixels[i] = i / 6 % 2 ? 4095 : 0;
        signs[i] = (int16_t)(i / 6 % 2 ? 511 : -512);
    }
    for (int method = TZ_RESAMPLING_CUBIC; method <= TZ_RESAMPLING_LANCZOS; method++) {
        uint16_t out[WIDTH / 2];
        int16_t out_signs[WIDTH / 2];
        bool over = false;
        tz_overview_params how = half_of((tz_resampling)method, TZ_DTYPE_UINT16, WIDTH, 1);
        reduce_row(&how, pixels, NULL, out, NULL);
        for (int i = 0; i < WIDTH / 2; i++)
            over |= out[i] > 4095;
        assert_true(over);
        how.bits = 12;
        reduce_row(&how, pixels, NULL, out, NULL);
        for (int i = 0; i < WIDTH / 2; i++)
            assert_true(out[i] <= 4095);
        how.dtype = TZ_DTYPE_INT16;
        how.bits = 10;
        reduce_row(&how, signs, NULL, out_signs, NULL);
        for (int i = 0; i < WIDTH / 2; i++)
            assert_true(out_signs[i] >= -512 && out_signs[i] <= 511);
    }
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    for (int method = TZ_RESAMPLING_NEAREST; method <= TZ_RESAMPLING_MEDIAN; method++) {
        const tz_resampling how = (tz_resampling)method;
        const bool picks = how == TZ_RESAMPLING_NEAREST || how == TZ_RESAMPLING_MODE;
        assert_null(tz_resampling_unsupported(how, TZ_DTYPE_FLOAT32, false));
        assert_int_equal(tz_resampling_unsupported(how, TZ_DTYPE_UINT8, true) == NULL, picks);
        assert_int_equal(tz_resampling_unsupported(how, TZ_DTYPE_COMPLEX_FLOAT32, false) == NULL,
                         how <= TZ_RESAMPLING_GAUSS);
    }
    assert_non_null(tz_resampling_unsupported(TZ_RESAMPLING_NONE, TZ_DTYPE_UINT8, false));
    assert_non_null(tz_resampling_unsupported((tz_resampling)12, TZ_DTYPE_UINT8, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_and_type),
        cmocka_unit_test(other_scales),
        cmocka_unit_test(five_become_three),
        cmocka_unit_test(nodata_is_not_made_of_valid_pixels),
        cmocka_unit_test(integers_of_64_bits_keep_theirs),
        cmocka_unit_test(halves_and_complex_numbers),
        cmocka_unit_test(a_mask_says_whether_anything_is_left),
        cmocka_unit_test(few_bits_are_not_exceeded),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
