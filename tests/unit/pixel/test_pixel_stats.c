/* SPDX-License-Identifier: Apache-2.0
 * Statistics against two passes in long double, and what does not count. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pixel/store.h"

static const tz_nodata none = {.kind = TZ_NODATA_KIND_NONE};

/* ---- numbers ---- */

static uint64_t seed = 42;

static double uniform(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ldexp((double)(seed >> 11), -53);
}

/* About normal: mean 0, deviation 1. */
static double normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform();
    return sum;
}

/* ---- the definition ---- */

static tz_statistics reference(const double *values, size_t count)
{
    tz_statistics out = {.valid_count = count, .minimum = values[0], .maximum = values[0]};
    long double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (long double)values[i];
        out.minimum = fmin(out.minimum, values[i]);
        out.maximum = fmax(out.maximum, values[i]);
    }
    const long double mean = sum / (long double)count;
    long double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += ((long double)values[i] - mean) * ((long double)values[i] - mean);
    out.mean = (double)mean;
    out.stddev = (double)sqrtl(squares / (long double)count);
    return out;
}

static void assert_close(double found, double expected, double tolerance)
{
    if (fabs(found - expected) > tolerance * fabs(expected))
        fail_msg("%.17g, expected %.17g", found, expected);
}

static void compare(const tz_statistics *found, const tz_statistics *expected, double tolerance)
{
    assert_int_equal(found->valid_count, expected->valid_count);
    assert_true(found->minimum == expected->minimum && found->maximum == expected->maximum);
    assert_close(found->mean, expected->mean, 1e-12);
    assert_close(found->stddev, expected->stddev, tolerance);
}

/* ---- an image of tiles ---- */

enum { TILE = 64, TILES = 12, PIXELS = TILE * TILE * TILES };

static tz_statistics tally_image(tz_dtype dtype, const uint8_t *samples, const tz_nodata *nodata)
{
    const size_t size = tz_dtype_size(dtype);
    tz_stats image = {0};
    for (size_t t = 0; t < TILES; t++) {
        tz_stats tile = {0};
        for (size_t y = 0; y < TILE; y++)
            tz_stats_row(&tile, dtype, samples + (t * TILE + y) * TILE * size, (ptrdiff_t)size,
                         TILE, nodata, NULL);
        tz_stats_merge(&image, &tile);
    }
    tz_statistics out;
    tz_stats_result(&image, &out);
    return out;
}

/* Values as dtype has them, and the same as doubles again. */
static uint8_t *cast_values(tz_dtype dtype, double *values, size_t count)
{
    const ptrdiff_t size = (ptrdiff_t)tz_dtype_size(dtype);
    const tz_conversion there = {.from = TZ_DTYPE_FLOAT64, .to = dtype};
    const tz_conversion back = {.from = dtype, .to = TZ_DTYPE_FLOAT64};
    uint8_t *samples = malloc(count * (size_t)size);
    assert_non_null(samples);
    tz_row_convert(&there, (const uint8_t *)values, 8, samples, size, count, NULL, 0);
    tz_row_convert(&back, samples, size, (uint8_t *)values, 8, count, NULL, 0);
    return samples;
}

static void check_image(tz_dtype dtype, double *values, double tolerance)
{
    uint8_t *samples = cast_values(dtype, values, PIXELS);
    const tz_statistics expected = reference(values, PIXELS);
    const tz_statistics found = tally_image(dtype, samples, &none);
    compare(&found, &expected, tolerance);
    free(samples);
}

static double *new_values(void)
{
    double *values = malloc(PIXELS * sizeof *values);
    assert_non_null(values);
    return values;
}

static void ordinary_data_of_every_type(void **state)
{
    (void)state;
    static const struct {
        tz_dtype dtype;
        double middle, width;
    } kinds[] = {
        {TZ_DTYPE_UINT8, 120, 40},      {TZ_DTYPE_INT8, -5, 30},
        {TZ_DTYPE_UINT16, 1800, 700},   {TZ_DTYPE_INT16, 450, 600},
        {TZ_DTYPE_UINT32, 1e9, 1e8},    {TZ_DTYPE_INT32, -3e6, 1e7},
        {TZ_DTYPE_UINT64, 1e12, 1e11},  {TZ_DTYPE_INT64, -1e12, 1e12},
        {TZ_DTYPE_FLOAT16, 10, 3},      {TZ_DTYPE_FLOAT32, 812.5, 300},
        {TZ_DTYPE_FLOAT64, 273.15, 15},
    };
    double *values = new_values();
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (size_t i = 0; i < PIXELS; i++)
            values[i] = kinds[k].middle + kinds[k].width * normal();
        check_image(kinds[k].dtype, values, 1e-12);
    }
    free(values);
}

/* A large offset, a tiny variance; one sample far from all others, the first and the last. */
static void hard_data(void **state)
{
    (void)state;
    double *values = new_values();
    for (size_t i = 0; i < PIXELS; i++)
        values[i] = 1e9 + 1e-3 * normal();
    check_image(TZ_DTYPE_FLOAT64, values, 1e-9);
    for (size_t i = 0; i < PIXELS; i++)
        values[i] = 65535 - (i % 1000 == 7);
    check_image(TZ_DTYPE_UINT16, values, 1e-12);
    for (size_t place = 0; place < PIXELS; place += PIXELS - 1) {
        for (size_t i = 0; i < PIXELS; i++)
            values[i] = i == place ? -1e30 : 3000 + 0.1 * normal();
        check_image(TZ_DTYPE_FLOAT32, values, 1e-11);
    }
    for (size_t i = 0; i < PIXELS; i++)
        values[i] = 0.1;
    check_image(TZ_DTYPE_FLOAT32, values, 0);
    free(values);
}

/* ---- what counts ---- */

static void nodata_nan_and_mask_do_not_count(void **state)
{
    (void)state;
    const float row[] = {1, -9999, NAN, 5, 100, 9};
    const uint8_t mask[] = {255, 255, 255, 1, 0, 7};
    const tz_nodata nodata = {.kind = TZ_NODATA_KIND_INT, .value = {.i = -9999}};
    tz_stats tally = {0};
    tz_statistics found;
    tz_stats_row(&tally, TZ_DTYPE_FLOAT32, (const uint8_t *)row, 4, 6, &nodata, mask);
    tz_stats_result(&tally, &found);
    compare(&found, &(tz_statistics){0, 3, 1, 9, 5, sqrt(32.0 / 3)}, 1e-15);
    tz_stats_row(&tally, TZ_DTYPE_FLOAT32, (const uint8_t *)row, 4, 6, &none, mask);
    tz_stats_result(&tally, &found);
    assert_int_equal(found.valid_count, 7);
    assert_true(found.minimum == -9999);
}

static void one_band_of_pixels_alone(void **state)
{
    (void)state;
    uint16_t pixels[3000 * 3];
    double values[3000];
    for (size_t i = 0; i < 3000; i++) {
        for (size_t s = 0; s < 3; s++)
            pixels[i * 3 + s] = (uint16_t)(20000 * s + 17 * i % 1001);
        values[i] = pixels[i * 3 + 2];
    }
    const tz_statistics expected = reference(values, 3000);
    tz_stats tally = {0};
    tz_statistics found;
    tz_stats_row(&tally, TZ_DTYPE_UINT16, (const uint8_t *)(pixels + 2), 6, 3000, &none, NULL);
    tz_stats_result(&tally, &found);
    compare(&found, &expected, 1e-13);
}

static void nothing_has_no_statistics(void **state)
{
    (void)state;
    const float nans[] = {NAN, NAN};
    const tz_statistics nothing = TZ_STATISTICS_INIT;
    tz_stats tally = {0};
    tz_stats other = {0};
    tz_statistics found;
    tz_stats_row(&tally, TZ_DTYPE_FLOAT32, (const uint8_t *)nans, 4, 2, &none, NULL);
    tz_stats_row(&tally, TZ_DTYPE_COMPLEX_FLOAT32, (const uint8_t *)nans, 8, 1, &none, NULL);
    tz_stats_merge(&tally, &other);
    tz_stats_result(&tally, &found);
    assert_memory_equal(&found, &nothing, sizeof nothing);
    tz_stats_row(&other, TZ_DTYPE_UINT8, (const uint8_t *)"\3", 1, 1, &none, NULL);
    tz_stats_merge(&tally, &other);
    tz_stats_merge(&tally, &(tz_stats){0});
    tz_stats_result(&tally, &found);
    compare(&found, &(tz_statistics){0, 1, 3, 3, 3, 0}, 0);
}

/* NumPy says the same of them: mean infinite, deviation NaN. */
static void infinities_count(void **state)
{
    (void)state;
    const double first[] = {1, (double)INFINITY, 2, 3};
    const double second[] = {(double)INFINITY, 4};
    tz_stats tally = {0};
    tz_stats other = {0};
    tz_statistics found;
    tz_stats_row(&tally, TZ_DTYPE_FLOAT64, (const uint8_t *)first, 8, 4, &none, NULL);
    tz_stats_row(&other, TZ_DTYPE_FLOAT64, (const uint8_t *)second, 8, 2, &none, NULL);
    for (int i = 0; i < 2; i++) {
        tz_stats_result(&tally, &found);
        assert_int_equal(found.valid_count, i ? 6 : 4);
        assert_true(found.minimum == 1 && isinf(found.maximum) && isinf(found.mean));
        assert_true(isnan(found.stddev));
        tz_stats_merge(&tally, &other);
    }
}

static void zero_has_no_sign(void **state)
{
    (void)state;
    const float zeros[] = {-0.0f, 0.0f, -0.0f};
    for (size_t i = 0; i < 2; i++) {
        tz_stats tally = {0};
        tz_statistics found;
        tz_stats_row(&tally, TZ_DTYPE_FLOAT32, (const uint8_t *)(zeros + i), 4, 2, &none, NULL);
        tz_stats_result(&tally, &found);
        assert_false(signbit(found.minimum) || signbit(found.maximum));
    }
}

/* Integers of 64 bits as the nearest double, nodata among them exactly. */
static void integers_of_64_bits(void **state)
{
    (void)state;
    const uint64_t row[] = {UINT64_MAX, UINT64_C(9007199254740993), UINT64_C(9007199254740992)};
    const tz_nodata nodata = {.kind = TZ_NODATA_KIND_UINT,
                              .value = {.u = UINT64_C(9007199254740992)}};
    tz_stats tally = {0};
    tz_statistics found;
    tz_stats_row(&tally, TZ_DTYPE_UINT64, (const uint8_t *)row, 8, 3, &nodata, NULL);
    tz_stats_result(&tally, &found);
    assert_int_equal(found.valid_count, 2);
    assert_true(found.minimum == 9007199254740992.0 && found.maximum == 18446744073709551616.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_data_of_every_type),
        cmocka_unit_test(hard_data),
        cmocka_unit_test(nodata_nan_and_mask_do_not_count),
        cmocka_unit_test(one_band_of_pixels_alone),
        cmocka_unit_test(nothing_has_no_statistics),
        cmocka_unit_test(infinities_count),
        cmocka_unit_test(zero_has_no_sign),
        cmocka_unit_test(integers_of_64_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
