/* SPDX-License-Identifier: Apache-2.0
 * The rules of doc/numerics.md, and rows of every kind. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/cast.h"
#include "pixel/pixel.h"

/* ---- half precision ---- */

/* By the definition, not by bits. */
static double half_value(uint16_t half)
{
    const int exponent = half >> 10 & 31;
    const int mantissa = half & 1023;
    const double magnitude = exponent == 31  ? (mantissa ? (double)NAN : (double)INFINITY)
                             : exponent == 0 ? ldexp(mantissa, -24)
                                             : ldexp(1024 + mantissa, exponent - 25);
    return half & 0x8000 ? -magnitude : magnitude;
}

static void every_half_is_exact_and_comes_back(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits <= 0xffff; bits++) {
        const double value = half_value((uint16_t)bits);
        const double found = (double)tz_half_to_f32((uint16_t)bits);
        if (isnan(value)) {
            assert_true(isnan(found));
            assert_true(isnan(half_value(tz_f64_to_half(found))));
            continue;
        }
        assert_true(found == value && signbit(found) == signbit(value));
        assert_int_equal(tz_f64_to_half(value), bits);
        assert_int_equal(tz_f32_to_half((float)value), bits);
    }
}

/* Between two neighbours: the nearer one, the even one in the middle, also just off the middle by
 * less than a float can resolve. */
static void halves_round_once_and_to_even(void **state)
{
    (void)state;
    for (uint16_t low = 0; low < 0x7bff; low++) {
        const double a = half_value(low);
        const double b = half_value((uint16_t)(low + 1));
        const double middle = (a + b) / 2;
        assert_int_equal(tz_f64_to_half(middle), low % 2 ? low + 1 : low);
        assert_int_equal(tz_f64_to_half(nextafter(middle, a)), low);
        assert_int_equal(tz_f64_to_half(nextafter(middle, b)), low + 1);
        assert_int_equal(tz_f64_to_half(-nextafter(middle, b)), (low + 1) | 0x8000);
    }
    assert_int_equal(tz_f64_to_half(65519.9), 0x7bff);
    assert_int_equal(tz_f64_to_half(65520.0), 0x7c00);
    assert_int_equal(tz_f64_to_half(1e300), 0x7c00);
}

/* ---- casts ---- */

static double cast_f64(double value, tz_dtype to)
{
    uint8_t out[16] = {0};
    double back = 0;
    const tz_conversion there = {.from = TZ_DTYPE_FLOAT64, .to = to};
    const tz_conversion home = {.from = to, .to = TZ_DTYPE_FLOAT64};
    tz_row_convert(&there, (const uint8_t *)&value, 8, out, 16, 1, NULL, 0);
    tz_row_convert(&home, out, 16, (uint8_t *)&back, 8, 1, NULL, 0);
    return back;
}

static void floats_become_integers_by_the_rules(void **state)
{
    (void)state;
    static const struct {
        tz_dtype to;
        double value, expected;
    } rows[] = {
        {TZ_DTYPE_UINT8, 2.5, 3},
        {TZ_DTYPE_UINT8, 2.4999999, 2},
        {TZ_DTYPE_UINT8, -0.6, 0},
        {TZ_DTYPE_UINT8, 300, 255},
        {TZ_DTYPE_INT8, -2.5, -3},
        {TZ_DTYPE_INT8, -200, -128},
        {TZ_DTYPE_INT16, -32768.5, -32768},
        {TZ_DTYPE_UINT16, 65534.5, 65535},
        {TZ_DTYPE_INT32, 2147483647.5, 2147483647},
        {TZ_DTYPE_UINT32, 4294967295.9, 4294967295.0},
        {TZ_DTYPE_INT32, 0.49999999999999994, 0},
        {TZ_DTYPE_FLOAT32, 0.1, 0.1f},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_true(cast_f64(rows[i].value, rows[i].to) == rows[i].expected);
    for (tz_dtype to = TZ_DTYPE_UINT8; to <= TZ_DTYPE_INT64; to++)
        assert_true(cast_f64((double)NAN, to) == 0);
    assert_true(isinf(cast_f64(1e300, TZ_DTYPE_FLOAT32)));
    assert_true(isnan(cast_f64((double)NAN, TZ_DTYPE_FLOAT16)));
}

static void integers_of_64_bits_saturate_exactly(void **state)
{
    (void)state;
    const uint64_t large = UINT64_MAX - 1;
    const int64_t negative = -5;
    const int64_t odd = INT64_C(9007199254740993);
    int64_t i = 0;
    uint64_t u = 1;
    tz_conversion how = {.from = TZ_DTYPE_UINT64, .to = TZ_DTYPE_INT64};
    tz_row_convert(&how, (const uint8_t *)&large, 8, (uint8_t *)&i, 8, 1, NULL, 0);
    assert_true(i == INT64_MAX);
    how = (tz_conversion){.from = TZ_DTYPE_INT64, .to = TZ_DTYPE_UINT64};
    tz_row_convert(&how, (const uint8_t *)&negative, 8, (uint8_t *)&u, 8, 1, NULL, 0);
    assert_true(u == 0);
    tz_row_convert(&how, (const uint8_t *)&odd, 8, (uint8_t *)&u, 8, 1, NULL, 0);
    assert_true(u == (uint64_t)odd);
}

static void nodata_of_64_bits_is_compared_exactly(void **state)
{
    (void)state;
    const int64_t values[2] = {INT64_C(9007199254740993), INT64_C(9007199254740992)};
    uint8_t mask[2];
    int64_t out[2];
    const tz_conversion how = {
        .from = TZ_DTYPE_INT64,
        .to = TZ_DTYPE_INT64,
        .nodata = {.kind = TZ_NODATA_KIND_INT, .value = {.i = INT64_C(9007199254740993)}}};
    tz_row_convert(&how, (const uint8_t *)values, 8, (uint8_t *)out, 8, 2, mask, 1);
    assert_int_equal(mask[0], 0);
    assert_int_equal(mask[1], 255);
    assert_true(out[0] == values[0] && out[1] == values[1]);
}

/* Samples of each type are random bits, so that floats are NaN of all kinds, too; every fifth is
 * nodata. The other ones keep their bits, and both parts of complex nodata are replaced. */
static void replacing_nodata_keeps_the_bits_of_all_else(void **state)
{
    (void)state;
    enum { COUNT = 600, STEP = 16 };
    const tz_nodata nodata = {.kind = TZ_NODATA_KIND_INT, .value = {.i = 7}};
    const tz_nodata replacement = {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = 100.4}};
    uint32_t seed = 5;
    for (tz_dtype dtype = TZ_DTYPE_UINT8; dtype <= TZ_DTYPE_COMPLEX_FLOAT64; dtype++) {
        const tz_conversion how = {
            .from = dtype, .to = dtype, .nodata = nodata, .replacement = replacement};
        const size_t size = tz_dtype_size(dtype);
        uint8_t in[COUNT * STEP], out[COUNT * STEP], mask[COUNT], expected[16], old[16];
        tz_row_fill(dtype, &nodata, old, 16, 1);
        tz_row_fill(dtype, &replacement, expected, 16, 1);
        for (size_t i = 0; i < COUNT * size; i++)
            in[i] = (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24);
        for (size_t i = 0; i < COUNT; i += 5)
            memcpy(in + i * size, old, size);
        tz_row_convert(&how, in, (ptrdiff_t)size, out, (ptrdiff_t)size, COUNT, mask, 1);
        for (size_t i = 0; i < COUNT; i++) {
            assert_true(i % 5 > 0 || mask[i] == 0);
            assert_memory_equal(out + i * size, mask[i] ? in + i * size : expected, size);
        }
        /* the same without a mask, and for one sample again and again */
        uint8_t plain[COUNT * STEP];
        tz_row_convert(&how, in, (ptrdiff_t)size, plain, (ptrdiff_t)size, COUNT, NULL, 0);
        assert_memory_equal(plain, out, COUNT * size);
        tz_row_convert(&how, in, 0, plain, (ptrdiff_t)size, 3, NULL, 0);
        assert_memory_equal(plain + 2 * size, expected, size);
    }
}

static void replacements_of_64_bits_are_exact(void **state)
{
    (void)state;
    const int64_t odd = INT64_C(9007199254740993);
    const int64_t values[] = {odd, odd - 1, -odd, 12};
    uint64_t u[4];
    int64_t i[4];
    tz_conversion how = {
        .from = TZ_DTYPE_INT64,
        .to = TZ_DTYPE_UINT64,
        .nodata = {.kind = TZ_NODATA_KIND_INT, .value = {.i = odd - 1}},
        .replacement = {.kind = TZ_NODATA_KIND_UINT, .value = {.u = UINT64_MAX - 1}}};
    tz_row_convert(&how, (const uint8_t *)values, 8, (uint8_t *)u, 8, 4, NULL, 0);
    assert_true(u[0] == (uint64_t)odd && u[1] == UINT64_MAX - 1 && u[2] == 0 && u[3] == 12);
    how.to = TZ_DTYPE_INT64;
    tz_row_convert(&how, (const uint8_t *)values, 8, (uint8_t *)i, 8, 4, NULL, 0);
    assert_true(i[0] == odd && i[1] == INT64_MAX && i[2] == -odd && i[3] == 12);
    how.replacement = (tz_nodata){.kind = TZ_NODATA_KIND_INT, .value = {.i = -odd}};
    how.scaled = true, how.scale = 2;
    tz_row_convert(&how, (const uint8_t *)values, 8, (uint8_t *)i, 8, 4, NULL, 0);
    assert_true(i[1] == -odd && i[3] == 24);
}

/* Just above a tie of float32, which a double cannot tell from the tie. */
static void replacing_nodata_rounds_the_others_once(void **state)
{
    (void)state;
    const int64_t values[] = {(INT64_C(1) << 60) + (INT64_C(1) << 36) + 1, 5};
    float out[2];
    const tz_conversion how = {
        .from = TZ_DTYPE_INT64,
        .to = TZ_DTYPE_FLOAT32,
        .nodata = {.kind = TZ_NODATA_KIND_INT, .value = {.i = 5}},
        .replacement = {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = (double)NAN}}};
    tz_row_convert(&how, (const uint8_t *)values, 8, (uint8_t *)out, 4, 2, NULL, 0);
    assert_true(out[0] == 0x1.000002p60f);
    assert_true(isnan(out[1]));
}

static void a_mask_alone(void **state)
{
    (void)state;
    int16_t values[600];
    uint8_t mask[600];
    const tz_conversion how = {.from = TZ_DTYPE_INT16,
                               .to = TZ_DTYPE_COMPLEX_FLOAT32,
                               .nodata = {.kind = TZ_NODATA_KIND_INT, .value = {.i = -3}}};
    for (int i = 0; i < 600; i++)
        values[i] = (int16_t)(i % 7 == 0 ? -3 : i);
    tz_row_convert(&how, (const uint8_t *)values, 2, NULL, 0, 600, mask, 1);
    for (int i = 0; i < 600; i++)
        assert_int_equal(mask[i], i % 7 == 0 ? 0 : 255);
    tz_row_convert(&how, (const uint8_t *)values, 2, NULL, 0, 600, NULL, 0);
}

static void complex_and_real(void **state)
{
    (void)state;
    const int16_t pair[2] = {-7, 9};
    float parts[2] = {1, 1};
    double real = 0;
    tz_conversion how = {.from = TZ_DTYPE_COMPLEX_INT16, .to = TZ_DTYPE_COMPLEX_FLOAT32};
    tz_row_convert(&how, (const uint8_t *)pair, 4, (uint8_t *)parts, 8, 1, NULL, 0);
    assert_true(parts[0] == -7 && parts[1] == 9);
    how.to = TZ_DTYPE_FLOAT64;
    tz_row_convert(&how, (const uint8_t *)pair, 4, (uint8_t *)&real, 8, 1, NULL, 0);
    assert_true(real == -7);
    how = (tz_conversion){.from = TZ_DTYPE_FLOAT64, .to = TZ_DTYPE_COMPLEX_FLOAT32};
    tz_row_convert(&how, (const uint8_t *)&real, 8, (uint8_t *)parts, 8, 1, NULL, 0);
    assert_true(parts[0] == -7 && parts[1] == 0);
}

/* Both parts of a complex sample keep the bits of a signalling NaN, with a mask as without. */
static void complex_samples_keep_their_bits_beside_a_mask(void **state)
{
    (void)state;
    const uint32_t pair[2] = {0x7f800001u, 0xff812345u};
    uint32_t out[2] = {0, 0};
    uint8_t flag = 1;
    const tz_conversion how = {.from = TZ_DTYPE_COMPLEX_FLOAT32, .to = TZ_DTYPE_COMPLEX_FLOAT32};
    tz_row_convert(&how, (const uint8_t *)pair, 8, (uint8_t *)out, 8, 1, &flag, 1);
    assert_int_equal(flag, 255);
    assert_memory_equal(out, pair, sizeof pair);
}

/* ---- rows ---- */

/* Samples of every odd width, packed by hand, come back. */
static void bits_of_every_width(void **state)
{
    (void)state;
    for (uint16_t bits = 1; bits <= 32; bits++) {
        const uint32_t count = 67;
        uint32_t values[67];
        uint8_t row[67 * 4 + TZ_ROW_SLACK] = {0};
        uint8_t scratch[67 * 4];
        for (uint32_t i = 0; i < count; i++) {
            values[i] = (i * 2654435761u) & (bits == 32 ? UINT32_MAX : (1u << bits) - 1);
            for (uint32_t k = 0; k < bits; k++) {
                const uint32_t at = i * bits + k;
                if (values[i] >> (bits - 1 - k) & 1)
                    row[at / 8] = (uint8_t)(row[at / 8] | 0x80 >> at % 8);
            }
        }
        const tz_dtype dtype = bits <= 8    ? TZ_DTYPE_UINT8
                               : bits <= 16 ? TZ_DTYPE_UINT16
                                            : TZ_DTYPE_UINT32;
        const tz_row_format format = {.dtype = dtype,
                                      .bits = bits,
                                      .sample_format = 1,
                                      .samples = 1,
                                      .predictor = 1,
                                      .swap = bits == 16 || bits == 32,
                                      .width = count};
        const uint8_t *out = tz_row_prepare(&format, row, count, scratch, NULL);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t found = 0;
            memcpy(&found, out + i * tz_dtype_size(dtype), tz_dtype_size(dtype));
            assert_int_equal(found, values[i]);
        }
    }
}

static void predictor_2_is_undone_in_both_orders(void **state)
{
    (void)state;
    for (unsigned bytes = 1; bytes <= 8; bytes *= 2) {
        for (int swap = 0; swap < 2; swap++) {
            enum { SAMPLES = 3, WIDTH = 21, COUNT = SAMPLES * WIDTH };
            uint64_t values[COUNT];
            uint8_t row[COUNT * 8 + TZ_ROW_SLACK];
            uint64_t limit = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;
            for (int i = 0; i < COUNT; i++)
                values[i] = ((uint64_t)i * UINT64_C(0x9E3779B97F4A7C15)) & limit;
            for (int i = 0; i < COUNT; i++) {
                const uint64_t left = i >= SAMPLES ? values[i - SAMPLES] : 0;
                const uint64_t difference = values[i] - left;
                for (unsigned k = 0; k < bytes; k++)
                    row[(unsigned)i * bytes + (swap ? bytes - 1 - k : k)] =
                        (uint8_t)(difference >> 8 * k);
            }
            static const tz_dtype dtypes[] = {[1] = TZ_DTYPE_UINT8,
                                              [2] = TZ_DTYPE_UINT16,
                                              [4] = TZ_DTYPE_UINT32,
                                              [8] = TZ_DTYPE_UINT64};
            const tz_row_format format = {.dtype = dtypes[bytes],
                                          .bits = (uint16_t)(bytes * 8),
                                          .sample_format = 1,
                                          .samples = SAMPLES,
                                          .predictor = 2,
                                          .swap = swap,
                                          .width = WIDTH};
            uint8_t prepared[COUNT * 8];
            const uint8_t *out = tz_row_prepare(&format, row, WIDTH, prepared, NULL);
            for (int i = 0; i < COUNT; i++) {
                uint64_t found = 0;
                memcpy(&found, out + (unsigned)i * bytes, bytes);
                assert_int_equal(found, values[i]);
            }
        }
    }
}

/* libtiff, and so GDAL, takes the differences of whole samples: a pair of 16-bit parts is one
 * number of 32 bits, and what the lower part carries goes to the upper one. */
static void predictor_2_takes_complex_samples_as_one_number(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        const int16_t expected[3][2] = {{-1, 5}, {1, 5}, {300, -7}};
        uint32_t numbers[3];
        uint8_t row[12 + TZ_ROW_SLACK] = {0};
        uint8_t out[12];
        memcpy(numbers, expected, sizeof numbers);
        for (int i = 0; i < 3; i++) {
            const uint32_t difference = numbers[i] - (i > 0 ? numbers[i - 1] : 0);
            for (int k = 0; k < 4; k++)
                row[4 * i + (swap ? 3 - k : k)] = (uint8_t)(difference >> 8 * k);
        }
        const tz_row_format format = {.dtype = TZ_DTYPE_COMPLEX_INT16,
                                      .bits = 32,
                                      .sample_format = 5,
                                      .samples = 1,
                                      .predictor = 2,
                                      .swap = swap,
                                      .width = 3};
        assert_null(tz_row_unsupported(&format));
        assert_ptr_equal(tz_row_prepare(&format, row, 3, out, NULL), out);
        assert_memory_equal(out, expected, sizeof expected);
    }
    const tz_row_format pair_of_doubles = {.dtype = TZ_DTYPE_COMPLEX_FLOAT64,
                                           .bits = 128,
                                           .sample_format = 6,
                                           .samples = 1,
                                           .predictor = 2,
                                           .width = 3};
    assert_non_null(tz_row_unsupported(&pair_of_doubles));
}

/* Without a predictor, each part has its own byte order. */
static void complex_samples_are_swapped_part_by_part(void **state)
{
    (void)state;
    uint8_t row[8 + TZ_ROW_SLACK] = {1, 2, 3, 4, 5, 6, 7, 8};
    const uint8_t expected[8] = {2, 1, 4, 3, 6, 5, 8, 7};
    uint8_t out[8];
    const tz_row_format format = {.dtype = TZ_DTYPE_COMPLEX_INT16,
                                  .bits = 32,
                                  .sample_format = 5,
                                  .samples = 1,
                                  .predictor = 1,
                                  .swap = true,
                                  .width = 2};
    assert_ptr_equal(tz_row_prepare(&format, row, 2, out, NULL), out);
    assert_memory_equal(out, expected, sizeof expected);
}

static void predictor_3_is_undone(void **state)
{
    (void)state;
    enum { SAMPLES = 2, WIDTH = 9, COUNT = SAMPLES * WIDTH };
    float values[COUNT];
    uint8_t row[COUNT * 4 + TZ_ROW_SLACK] = {0};
    float out[COUNT];
    for (int i = 0; i < COUNT; i++)
        values[i] = sinf((float)i) * 1e6f;
    for (int i = 0; i < COUNT; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], 4);
        for (int k = 0; k < 4; k++)
            row[k * COUNT + i] = (uint8_t)(bits >> (24 - 8 * k));
    }
    for (int i = COUNT * 4 - 1; i >= SAMPLES; i--)
        row[i] = (uint8_t)(row[i] - row[i - SAMPLES]);
    const tz_row_format format = {.dtype = TZ_DTYPE_FLOAT32,
                                  .bits = 32,
                                  .sample_format = 3,
                                  .samples = SAMPLES,
                                  .predictor = 3,
                                  .width = WIDTH};
    for (uint32_t wanted = 0; wanted <= WIDTH; wanted++) {
        uint8_t copy[sizeof row];
        memcpy(copy, row, sizeof copy);
        memset(out, 0xA5, sizeof out);
        const size_t size = wanted * SAMPLES * sizeof out[0];
        tz_row_prepare(&format, copy, wanted, (uint8_t *)out, NULL);
        assert_memory_equal(out, values, size);
        for (size_t i = size; i < sizeof out; i++)
            assert_int_equal(((const uint8_t *)out)[i], 0xA5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_is_exact_and_comes_back),
        cmocka_unit_test(halves_round_once_and_to_even),
        cmocka_unit_test(floats_become_integers_by_the_rules),
        cmocka_unit_test(integers_of_64_bits_saturate_exactly),
        cmocka_unit_test(nodata_of_64_bits_is_compared_exactly),
        cmocka_unit_test(replacing_nodata_keeps_the_bits_of_all_else),
        cmocka_unit_test(replacements_of_64_bits_are_exact),
        cmocka_unit_test(replacing_nodata_rounds_the_others_once),
        cmocka_unit_test(a_mask_alone),
        cmocka_unit_test(complex_and_real),
        cmocka_unit_test(complex_samples_keep_their_bits_beside_a_mask),
        cmocka_unit_test(bits_of_every_width),
        cmocka_unit_test(predictor_2_is_undone_in_both_orders),
        cmocka_unit_test(predictor_2_takes_complex_samples_as_one_number),
        cmocka_unit_test(complex_samples_are_swapped_part_by_part),
        cmocka_unit_test(predictor_3_is_undone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
