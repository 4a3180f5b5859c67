/* SPDX-License-Identifier: Apache-2.0
 * Tag GDAL_NODATA: from text to a value of the image's type. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "support/alloc_hook.h"
#include "support/context.h"
#include "tiff/gdal/nodata.h"
#include "tiff/tags.h"

static const tz_dtype integer_types[] = {
    TZ_DTYPE_UINT8,         TZ_DTYPE_INT8,         TZ_DTYPE_UINT16, TZ_DTYPE_INT16,
    TZ_DTYPE_UINT32,        TZ_DTYPE_INT32,        TZ_DTYPE_UINT64, TZ_DTYPE_INT64,
    TZ_DTYPE_COMPLEX_INT16, TZ_DTYPE_COMPLEX_INT32};
static const tz_dtype float_types[] = {TZ_DTYPE_FLOAT16,         TZ_DTYPE_FLOAT32,
                                       TZ_DTYPE_FLOAT64,         TZ_DTYPE_COMPLEX_FLOAT16,
                                       TZ_DTYPE_COMPLEX_FLOAT32, TZ_DTYPE_COMPLEX_FLOAT64};

/* Parse with this warning (a part of it; NULL: none), which strict mode makes an error. */
static tz_nodata parse(const char *text, tz_dtype dtype, const char *warning)
{
    bench b;
    tz_nodata nodata = {.kind = 99};
    bench_init(&b);
    assert_int_equal(tz_nodata_parse(text, dtype, &b.ctx, &nodata), TZ_OK);
    if (warning)
        bench_warned(&b, TZ_CAUSE_META, TZ_TAG_GDAL_NODATA, TZ_NO_VALUE, TZ_NO_VALUE, warning);
    else
        bench_silent(&b);
    tz_nodata strict = {.kind = 99};
    b.ctx.strict = true;
    tz_result result = tz_nodata_parse(text, dtype, &b.ctx, &strict);
    assert_int_equal(result, warning ? TZ_ERR_FORMAT : TZ_OK);
    if (warning) {
        assert_int_equal(strict.kind, 99);
        assert_int_equal(b.err.cause, TZ_CAUSE_META);
        assert_int_equal(b.err.tag, TZ_TAG_GDAL_NODATA);
        assert_string_equal(b.err.message, b.warnings.list[0].message);
    }
    bench_deinit(&b);
    return nodata;
}

static void check_int(const char *text, tz_dtype dtype, int64_t value)
{
    tz_nodata nodata = parse(text, dtype, NULL);
    assert_int_equal(nodata.kind, TZ_NODATA_KIND_INT);
    assert_true(nodata.value.i == value);
}

static void check_uint(const char *text, tz_dtype dtype, uint64_t value)
{
    tz_nodata nodata = parse(text, dtype, NULL);
    assert_int_equal(nodata.kind, TZ_NODATA_KIND_UINT);
    assert_true(nodata.value.u == value);
}

static void check_float(const char *text, tz_dtype dtype, double value, const char *warning)
{
    tz_nodata nodata = parse(text, dtype, warning);
    assert_int_equal(nodata.kind, TZ_NODATA_KIND_FLOAT);
    if (isnan(value) ? !isnan(nodata.value.f) : nodata.value.f != value)
        fail_msg("'%s' is %.17g instead of %.17g", text, nodata.value.f, value);
}

#define OUTSIDE "is not a value of type"

static void empty_is_none(void **state)
{
    (void)state;
    for (int dtype = 0; dtype <= TZ_DTYPE_COMPLEX_FLOAT64; dtype++) {
        assert_int_equal(parse("", (tz_dtype)dtype, NULL).kind, TZ_NODATA_KIND_NONE);
        assert_int_equal(parse(" \t\n", (tz_dtype)dtype, NULL).kind, TZ_NODATA_KIND_NONE);
    }
}

static void integers_are_exact(void **state)
{
    (void)state;
    check_uint("255", TZ_DTYPE_UINT8, 255);
    check_uint("0", TZ_DTYPE_UINT8, 0);
    check_int("-128", TZ_DTYPE_INT8, -128);
    check_uint("65535", TZ_DTYPE_UINT16, 65535);
    check_int("-32768", TZ_DTYPE_INT16, -32768);
    check_int("-32768", TZ_DTYPE_COMPLEX_INT16, -32768);
    check_uint("4294967295", TZ_DTYPE_UINT32, 4294967295u);
    check_int("-2147483648", TZ_DTYPE_INT32, INT32_MIN);
    check_int("-2147483648", TZ_DTYPE_COMPLEX_INT32, INT32_MIN);
    check_int("9007199254740993", TZ_DTYPE_INT64, 9007199254740993);
    check_int("-9007199254740993", TZ_DTYPE_INT64, -9007199254740993);
    check_int("9223372036854775807", TZ_DTYPE_INT64, INT64_MAX);
    check_int("-9223372036854775808", TZ_DTYPE_INT64, INT64_MIN);
    check_uint("18446744073709551615", TZ_DTYPE_UINT64, UINT64_MAX);
    check_uint("9007199254740993", TZ_DTYPE_UINT64, 9007199254740993);
    check_int(" -9999 ", TZ_DTYPE_INT16, -9999);
    check_int("+7", TZ_DTYPE_INT16, 7);
}

/* GDAL writes "-9999.0" for integers now and then. */
static void whole_numbers_are_integers(void **state)
{
    (void)state;
    check_int("-9999.0", TZ_DTYPE_INT16, -9999);
    check_uint("255.000", TZ_DTYPE_UINT8, 255);
    check_uint("1e3", TZ_DTYPE_UINT16, 1000);
    check_int("-2.147483648e9", TZ_DTYPE_INT32, INT32_MIN);
    check_uint("-0", TZ_DTYPE_UINT8, 0);
    check_uint("9007199254740992.0", TZ_DTYPE_UINT64, 9007199254740992);
}

static void integers_outside_the_type(void **state)
{
    (void)state;
    check_float("256", TZ_DTYPE_UINT8, 256, OUTSIDE " uint8");
    check_float("-1", TZ_DTYPE_UINT8, -1, OUTSIDE " uint8");
    check_float("128", TZ_DTYPE_INT8, 128, OUTSIDE " int8");
    check_float("-32769", TZ_DTYPE_INT16, -32769, OUTSIDE " int16");
    check_float("65536", TZ_DTYPE_UINT16, 65536, OUTSIDE " uint16");
    check_float("32768", TZ_DTYPE_COMPLEX_INT16, 32768, OUTSIDE " complex_int16");
    check_float("18446744073709551616", TZ_DTYPE_UINT64, 0x1p64, OUTSIDE " uint64");
    check_float("9223372036854775808", TZ_DTYPE_INT64, 0x1p63, OUTSIDE " int64");
    check_float("-9223372036854775809", TZ_DTYPE_INT64, -0x1p63, OUTSIDE " int64");
    check_float("1e300", TZ_DTYPE_INT64, 1e300, OUTSIDE " int64");
}

static void fractions_on_integers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof integer_types / sizeof integer_types[0]; i++) {
        check_float("0.5", integer_types[i], 0.5, OUTSIDE);
        check_float("nan", integer_types[i], NAN, OUTSIDE);
        check_float("inf", integer_types[i], INFINITY, OUTSIDE);
        check_float("-INF", integer_types[i], -INFINITY, OUTSIDE);
    }
}

static void floats(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof float_types / sizeof float_types[0]; i++) {
        check_float("-9999", float_types[i], i % 3 == 0 ? -10000 : -9999, NULL); /* float16 */
        check_float("0.25", float_types[i], 0.25, NULL);
        check_float("nan", float_types[i], NAN, NULL);
        check_float("-nan", float_types[i], NAN, NULL);
        check_float("NaN", float_types[i], NAN, NULL);
        check_float("inf", float_types[i], INFINITY, NULL);
        check_float("-inf", float_types[i], -INFINITY, NULL);
        check_float("-Infinity", float_types[i], -INFINITY, NULL);
        check_float("1.#INF", float_types[i], INFINITY, NULL); /* as Microsoft wrote them */
        check_float("-1.#INF", float_types[i], -INFINITY, NULL);
        check_float("-1.#IND", float_types[i], NAN, NULL);
        check_float("1.#QNAN", float_types[i], NAN, NULL);
    }
    check_float("1e300", TZ_DTYPE_FLOAT64, 1e300, NULL);
    check_float("0.1", TZ_DTYPE_FLOAT64, 0.1, NULL);
    check_float("0.1", TZ_DTYPE_NONE, 0.1, NULL);
    check_float("4.9e-324", TZ_DTYPE_FLOAT64, 4.9e-324, NULL);
}

static void float32_is_rounded(void **state)
{
    (void)state;
    check_float("0.1", TZ_DTYPE_FLOAT32, (double)0.1f, NULL);
    check_float("-3.4028234663852886e+38", TZ_DTYPE_FLOAT32, -FLT_MAX, NULL);
    check_float("-3.4028235e+38", TZ_DTYPE_FLOAT32, -FLT_MAX, NULL);
    check_float("3.40282346638529e+38", TZ_DTYPE_FLOAT32, FLT_MAX, NULL);
    check_float("-3.40282306074e+38", TZ_DTYPE_FLOAT32, (double)-3.40282306074e+38f, NULL);
    check_float("3.40282347e+38", TZ_DTYPE_COMPLEX_FLOAT32, FLT_MAX, NULL);
    check_float("3.40282356e+38", TZ_DTYPE_FLOAT32, FLT_MAX, NULL);
    check_float("3.40282357e+38", TZ_DTYPE_FLOAT32, 3.40282357e+38, OUTSIDE " float32");
    check_float("1e39", TZ_DTYPE_FLOAT32, 1e39, OUTSIDE " float32");
    check_float("-1e39", TZ_DTYPE_FLOAT32, -1e39, OUTSIDE " float32");
    check_float("1e-60", TZ_DTYPE_FLOAT32, 0, NULL);
}

static void float16_is_rounded(void **state)
{
    (void)state;
    check_float("0.1", TZ_DTYPE_FLOAT16, 0.0999755859375, NULL);
    check_float("65504", TZ_DTYPE_FLOAT16, 65504, NULL);
    check_float("65519", TZ_DTYPE_FLOAT16, 65504, NULL);
    check_float("65520", TZ_DTYPE_FLOAT16, 65520, OUTSIDE " float16");
    check_float("-1e5", TZ_DTYPE_COMPLEX_FLOAT16, -1e5, OUTSIDE " complex_float16");
    check_float("2049", TZ_DTYPE_FLOAT16, 2048, NULL); /* halves to even */
    check_float("2051", TZ_DTYPE_FLOAT16, 2052, NULL);
    check_float("6e-8", TZ_DTYPE_FLOAT16, 0x1p-24, NULL); /* the smallest subnormal */
    check_float("6.1e-5", TZ_DTYPE_FLOAT16, 0x3ffp-24, NULL);
    check_float("1e-9", TZ_DTYPE_FLOAT16, 0, NULL);
    check_float("-0.0", TZ_DTYPE_FLOAT16, 0, NULL);
}

static void too_large_is_infinite(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof float_types / sizeof float_types[0]; i++) {
        check_float("1e999", float_types[i], INFINITY, "too large for a number");
        check_float("-1e999", float_types[i], -INFINITY, "too large for a number");
    }
}

static void text_that_is_no_number(void **state)
{
    (void)state;
    static const char *const texts[] = {"abc", "-", "+", ".", "e5", "m 5", "none", "#", "--5"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(parse(texts[i], TZ_DTYPE_UINT8, "is not a number").kind,
                         TZ_NODATA_KIND_NONE);
        assert_int_equal(parse(texts[i], TZ_DTYPE_FLOAT32, "is not a number").kind,
                         TZ_NODATA_KIND_NONE);
    }
}

static void number_with_something_after_it(void **state)
{
    (void)state;
    check_float("-9999 m", TZ_DTYPE_FLOAT32, -9999, "only at its start");
    check_float("3,5", TZ_DTYPE_FLOAT64, 3.5, "only at its start");
    check_float("1e5x", TZ_DTYPE_FLOAT64, 1e5, "only at its start");
    check_float("1e", TZ_DTYPE_FLOAT64, 1, "only at its start");
    check_float("0x10", TZ_DTYPE_FLOAT64, 0, "only at its start");
    tz_nodata nodata = parse("-9999m", TZ_DTYPE_INT16, "only at its start");
    assert_int_equal(nodata.kind, TZ_NODATA_KIND_INT);
    assert_true(nodata.value.i == -9999);
}

static void very_long_text(void **state)
{
    (void)state;
    enum { SIZE = 100000 };
    char *text = malloc(SIZE + 1);
    memset(text, '1', SIZE);
    text[SIZE] = '\0';
    check_float(text, TZ_DTYPE_FLOAT64, INFINITY, "too large for a number");
    memset(text, '0', SIZE);
    check_uint(text, TZ_DTYPE_UINT8, 0);
    text[SIZE - 1] = 'x';
    check_float(text, TZ_DTYPE_FLOAT64, 0, "only at its start");
    memset(text, 'x', SIZE);
    assert_int_equal(parse(text, TZ_DTYPE_UINT8, "is not a number").kind, TZ_NODATA_KIND_NONE);
    free(text);
}

/* A type that is none of ours is taken for a float. */
static void unknown_type(void **state)
{
    (void)state;
    check_float("1", (tz_dtype)99, 1, NULL);
    check_float("1", (tz_dtype)-1, 1, NULL);
}

static void memory_runs_out(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        bench b;
        tz_nodata nodata = {.kind = 99};
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        bench_init(&b);
        tz_result result = tz_nodata_parse("256 m", TZ_DTYPE_UINT8, &b.ctx, &nodata);
        alloc_stats stats = alloc_hook_stats();
        bench_deinit(&b);
        assert_int_equal(alloc_hook_stats().live_bytes, 0);
        alloc_hook_remove();
        if (stats.failures == 0) {
            assert_int_equal(result, TZ_OK);
            assert_true(n > 1);
            break;
        }
        assert_int_equal(result, TZ_ERR_NOMEM);
        assert_int_equal(nodata.kind, 99);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_is_none),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(whole_numbers_are_integers),
        cmocka_unit_test(integers_outside_the_type),
        cmocka_unit_test(fractions_on_integers),
        cmocka_unit_test(floats),
        cmocka_unit_test(float32_is_rounded),
        cmocka_unit_test(float16_is_rounded),
        cmocka_unit_test(too_large_is_infinite),
        cmocka_unit_test(text_that_is_no_number),
        cmocka_unit_test(number_with_something_after_it),
        cmocka_unit_test(very_long_text),
        cmocka_unit_test(unknown_type),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
