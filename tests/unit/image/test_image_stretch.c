/* SPDX-License-Identifier: Apache-2.0
 * The range of a picture: exactly the values of two ranks, of every type, and the rules that choose
 * whether it is stretched at all. */
#include <math.h>
#include <stdlib.h>

#include "image/stretch.h"
#include "support/alloc_hook.h"
#include "support/context.h"

enum { MAX = 4000 };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The range by its definition. */
static tz_image_range expected_range(const double *values, size_t count)
{
    static double sorted[MAX];
    if (count == 0)
        return (tz_image_range){0, 0};
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    const double last = (double)(count - 1);
    const double low = sorted[(size_t)floor(last * 0.02)], high = sorted[(size_t)ceil(last * 0.98)];
    return low < high ? (tz_image_range){low, high}
                      : (tz_image_range){sorted[0], sorted[count - 1]};
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

#define MAKE(name, type, expression)                                                               \
    static double make_##name(void *to, size_t i, uint32_t random)                                 \
    {                                                                                              \
        const type value = (type)(expression);                                                     \
        ((type *)to)[i] = value;                                                                   \
        return (double)value;                                                                      \
    }
MAKE(u8, uint8_t, random)
MAKE(i8, int8_t, random)
MAKE(u16, uint16_t, random)
MAKE(i16, int16_t, random)
MAKE(u32, uint32_t, random * 250u)
MAKE(i32, int32_t, random * 250u)
MAKE(u64, uint64_t, (uint64_t)random << 40)
MAKE(i64, int64_t, (int64_t)((uint64_t)random << 41))
MAKE(f32, float, ((double)random - 8e6) * 1e-3)
MAKE(f64, double, ((double)random - 8e6) * pow(10, (double)(random % 600) - 300))

static const struct {
    tz_dtype dtype;
    double (*make)(void *to, size_t i, uint32_t random);
} types[] = {
    {TZ_DTYPE_UINT8, make_u8},    {TZ_DTYPE_INT8, make_i8},    {TZ_DTYPE_UINT16, make_u16},
    {TZ_DTYPE_INT16, make_i16},   {TZ_DTYPE_UINT32, make_u32}, {TZ_DTYPE_INT32, make_i32},
    {TZ_DTYPE_UINT64, make_u64},  {TZ_DTYPE_INT64, make_i64},  {TZ_DTYPE_FLOAT32, make_f32},
    {TZ_DTYPE_FLOAT64, make_f64},
};

static tz_image_range measure(const tz_buffer *pixels, const tz_buffer *mask)
{
    tz_image_options options = TZ_IMAGE_OPTIONS_INIT;
    tz_image_range ranges[TZ_IMAGE_MAX_COLORS];
    uint32_t count = 9;
    options.stretch = TZ_CHOICE_YES;
    assert_int_equal(tz_image_measure(ranges, &count, pixels, mask, &options, NULL), TZ_OK);
    assert_int_equal(count, 1);
    return ranges[0];
}

static void assert_range(tz_image_range found, double low, double high)
{
    assert_true(found.low == low && found.high == high);
}

static void ranks_are_exact_for_every_type_and_count(void **state)
{
    (void)state;
    static uint8_t samples[MAX * 8], flags[MAX];
    static double valid[MAX];
    static const uint32_t counts[] = {1, 2, 3, 49, 50, 51, 52, 99, 101, 255, 256, 257, 1000, MAX};
    uint32_t random = 1;
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
            for (uint32_t masked = 0; masked < 2; masked++) {
                size_t kept = 0;
                for (size_t i = 0; i < counts[c]; i++) {
                    const double value = types[t].make(samples, i, next_random(&random));
                    flags[i] = !masked || next_random(&random) % 3 != 0 ? 9 : 0;
                    if (flags[i] != 0)
                        valid[kept++] = value;
                }
                const tz_buffer pixels = {.struct_size = sizeof pixels,
                                          .data = samples,
                                          .dtype = types[t].dtype,
                                          .bands = 1,
                                          .height = 1,
                                          .width = counts[c]};
                tz_buffer mask = pixels;
                mask.data = flags;
                mask.dtype = TZ_DTYPE_UINT8;
                const tz_image_range expected = expected_range(valid, kept);
                assert_range(measure(&pixels, masked ? &mask : NULL), expected.low, expected.high);
            }
}

static void half_floats_too(void **state)
{
    (void)state;
    uint16_t halves[] = {0x3C00, 0xC000, 0x7C00, 0x7E00, 0x0001}; /* 1, -2, infinity, NaN, 2^-24 */
    const tz_buffer pixels = {.struct_size = sizeof pixels,
                              .data = halves,
                              .dtype = TZ_DTYPE_FLOAT16,
                              .bands = 1,
                              .height = 5,
                              .width = 1};
    assert_range(measure(&pixels, NULL), -2, 1);
}

static void infinities_and_nan_do_not_count(void **state)
{
    (void)state;
    double values[] = {NAN, 5, INFINITY, 7, -INFINITY, -0.0};
    const tz_buffer pixels = {.struct_size = sizeof pixels,
                              .data = values,
                              .dtype = TZ_DTYPE_FLOAT64,
                              .bands = 1,
                              .height = 2,
                              .width = 3};
    assert_range(measure(&pixels, NULL), 0, 7);
    values[1] = values[3] = values[5] = NAN;
    assert_range(measure(&pixels, NULL), 0, 0);
}

static void rare_values_count_if_most_are_the_same(void **state)
{
    (void)state;
    static uint16_t values[1000];
    for (size_t i = 0; i < 1000; i++)
        values[i] = i == 500 ? 9 : 7;
    const tz_buffer pixels = {.struct_size = sizeof pixels,
                              .data = values,
                              .dtype = TZ_DTYPE_UINT16,
                              .bands = 1,
                              .height = 10,
                              .width = 100};
    assert_range(measure(&pixels, NULL), 7, 9);
}

/* 1000 x 900 pixels: 4 would do for 512 x 512, but 7 is the first number from there on that has no
 * divisor in common with 1000. */
static void of_a_large_picture_every_nth_pixel_counts(void **state)
{
    (void)state;
    uint8_t *values = calloc(1000, 900);
    assert_non_null(values);
    const tz_buffer pixels = {.struct_size = sizeof pixels,
                              .data = values,
                              .dtype = TZ_DTYPE_UINT8,
                              .bands = 1,
                              .height = 900,
                              .width = 1000};
    for (size_t i = 0; i < 900000; i += 7)
        values[i] = i % 2 == 0 ? 100 : 200;
    alloc_hook_install();
    assert_range(measure(&pixels, NULL), 100, 200);
    const alloc_stats stats = alloc_hook_stats();
    alloc_hook_remove();
    assert_true(stats.peak_bytes <= (int64_t)tz_stretch_max_bytes() + 64);
    assert_int_equal(stats.live_bytes, 0);
    free(values);
}

static uint32_t stretched_bands(const tz_buffer *pixels, const tz_image_options *options)
{
    tz_image_range ranges[TZ_IMAGE_MAX_COLORS];
    uint32_t count = 9;
    assert_int_equal(tz_image_measure(ranges, &count, pixels, NULL, options, NULL), TZ_OK);
    return count;
}

static void types_and_the_extent_choose_if_there_is_a_stretch(void **state)
{
    (void)state;
    static const uint16_t map[3 * 256] = {0};
    uint8_t bytes[12] = {50, 113};
    tz_image_options options = TZ_IMAGE_OPTIONS_INIT;
    tz_buffer pixels = {.struct_size = sizeof pixels,
                        .data = bytes,
                        .dtype = TZ_DTYPE_UINT8,
                        .bands = 1,
                        .height = 1,
                        .width = 2};
    assert_int_equal(stretched_bands(&pixels, NULL), 1); /* 63 of 256 */
    bytes[1] = 114;
    assert_int_equal(stretched_bands(&pixels, NULL), 0);
    bytes[1] = 50; /* a single value */
    assert_int_equal(stretched_bands(&pixels, NULL), 0);
    options.stretch = TZ_CHOICE_YES;
    assert_int_equal(stretched_bands(&pixels, &options), 1);
    bytes[1] = 60;
    options.stretch = TZ_CHOICE_NO;
    assert_int_equal(stretched_bands(&pixels, &options), 0);
    options.stretch = TZ_CHOICE_AUTO;
    options.color_map = map;
    options.color_map_size = 256;
    assert_int_equal(stretched_bands(&pixels, &options), 0);
    options.color_map = NULL;
    options.bits = 4; /* 10 of 16 */
    bytes[0] = 2;
    bytes[1] = 12;
    assert_int_equal(stretched_bands(&pixels, &options), 0);
    bytes[0] = 10;
    assert_int_equal(stretched_bands(&pixels, &options), 1);
    options.bits = 0;
    pixels.bands = 3;
    pixels.width = 4;
    assert_int_equal(stretched_bands(&pixels, &options), 0);
    pixels.dtype = TZ_DTYPE_UINT16;
    pixels.width = 2;
    assert_int_equal(stretched_bands(&pixels, &options), 3);
    pixels.bands = 4; /* alpha is not stretched */
    pixels.width = 1;
    assert_int_equal(stretched_bands(&pixels, &options), 3);
}

static void values_become_the_nearest_byte(void **state)
{
    (void)state;
    const tz_image_range range = {10, 520};
    for (int value = -5; value < 600; value++) {
        const double scaled = (value - 10) / 510.0 * 255;
        const long expected = value <= 10 ? 0 : value >= 520 ? 255 : lround(scaled);
        assert_int_equal(tz_stretch_apply(range, value), expected);
    }
    assert_int_equal(tz_stretch_apply(range, NAN), 0);
    assert_int_equal(tz_stretch_apply(range, -INFINITY), 0);
    assert_int_equal(tz_stretch_apply(range, INFINITY), 255);
    const tz_image_range wide = {-1.7e308, 1.7e308}; /* its width is not a number */
    assert_int_equal(tz_stretch_apply(wide, 0), 128);
    assert_int_equal(tz_stretch_apply(wide, 1.5e308), 240);
    const tz_image_range constant = {7, 7};
    assert_int_equal(tz_stretch_apply(constant, 7), 0);
    assert_int_equal(tz_stretch_apply(constant, 8), 255);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_exact_for_every_type_and_count),
        cmocka_unit_test(half_floats_too),
        cmocka_unit_test(infinities_and_nan_do_not_count),
        cmocka_unit_test(rare_values_count_if_most_are_the_same),
        cmocka_unit_test(of_a_large_picture_every_nth_pixel_counts),
        cmocka_unit_test(types_and_the_extent_choose_if_there_is_a_stretch),
        cmocka_unit_test(values_become_the_nearest_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
