/* SPDX-License-Identifier: Apache-2.0
 * Low bits rounded away as GDAL's DISCARD_LSB does it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pixel/store.h"

enum { SAMPLES = 8 };

/* Samples by their bits, and what GDAL 3.10.3 (rasterio 1.4.4) made of them: a file of one row was
 * written with DISCARD_LSB=bits and this nodata, and read again. */
static const struct {
    tz_dtype dtype;
    uint8_t bits;
    tz_nodata nodata;
    uint64_t before[SAMPLES];
    uint64_t after[SAMPLES];
} gdal_rows[] = {
    {TZ_DTYPE_UINT8,
     1,
     {0},
     {0x0, 0x1, 0x2, 0x7f, 0x80, 0xfd, 0xfe, 0xff},
     {0x0, 0x0, 0x2, 0x7e, 0x80, 0xfc, 0xfe, 0xff}},
    {TZ_DTYPE_UINT8,
     3,
     {0},
     {0x3, 0x4, 0x7, 0xb, 0xc, 0xfb, 0xfc, 0xfe},
     {0x0, 0x8, 0x8, 0x8, 0x10, 0xf8, 0xff, 0xff}},
    {TZ_DTYPE_UINT8,
     7,
     {0},
     {0x3f, 0x40, 0x7f, 0x80, 0xbf, 0xc0, 0xfe, 0xff},
     {0x0, 0x80, 0x80, 0x80, 0x80, 0xff, 0xff, 0xff}},
    {TZ_DTYPE_UINT8,
     3,
     {TZ_NODATA_KIND_UINT, {.u = 8}},
     {0x3, 0x4, 0x8, 0x9, 0xb, 0xc, 0x10, 0x14},
     {0x0, 0x10, 0x8, 0x10, 0x10, 0x10, 0x10, 0x18}},
    {TZ_DTYPE_UINT8,
     3,
     {TZ_NODATA_KIND_UINT, {.u = 255}},
     {0xf7, 0xf8, 0xfb, 0xfc, 0xfd, 0xfe, 0xff, 0x4},
     {0xf8, 0xf8, 0xf8, 0xf7, 0xf7, 0xf7, 0xff, 0x8}},
    {TZ_DTYPE_UINT8,
     3,
     {TZ_NODATA_KIND_UINT, {.u = 248}},
     {0xf3, 0xf4, 0xf7, 0xf8, 0xf9, 0xfc, 0xff, 0x0},
     {0xf0, 0xf0, 0xf0, 0xf8, 0xf0, 0xff, 0xff, 0x0}},
    {TZ_DTYPE_UINT8,
     3,
     {TZ_NODATA_KIND_UINT, {.u = 0}},
     {0x0, 0x1, 0x2, 0x3, 0x4, 0x5, 0x8, 0xff},
     {0x0, 0x8, 0x8, 0x8, 0x8, 0x8, 0x8, 0xff}},
    {TZ_DTYPE_INT8,
     2,
     {0},
     {0x80, 0x81, 0x82, 0xff, 0x1, 0x2, 0x7d, 0x7f},
     {0x80, 0x80, 0x80, 0xfc, 0x0, 0x4, 0x7c, 0x7c}},
    {TZ_DTYPE_INT8,
     6,
     {0},
     {0x80, 0xdf, 0xe0, 0xff, 0x1f, 0x20, 0x60, 0x7f},
     {0x80, 0xc0, 0xc0, 0xc0, 0x0, 0x40, 0x40, 0x40}},
    {TZ_DTYPE_UINT16,
     4,
     {0},
     {0x7, 0x8, 0xffef, 0xfff0, 0xfff7, 0xfff8, 0xfffe, 0xffff},
     {0x0, 0x10, 0xfff0, 0xfff0, 0xfff0, 0xfff0, 0xfff0, 0xfff0}},
    {TZ_DTYPE_UINT16,
     4,
     {TZ_NODATA_KIND_UINT, {.u = 65520}},
     {0xffdf, 0xffe8, 0xffef, 0xfff0, 0xfff1, 0xfff7, 0xffff, 0x10},
     {0xffe0, 0xffe0, 0xffe0, 0xfff0, 0xffe0, 0xffe0, 0xffe0, 0x10}},
    {TZ_DTYPE_UINT16,
     4,
     {TZ_NODATA_KIND_UINT, {.u = 0}},
     {0x0, 0x1, 0x7, 0x8, 0x9, 0xffff, 0x7fff, 0x8008},
     {0x0, 0x10, 0x10, 0x10, 0x10, 0xfff0, 0x8000, 0x8010}},
    {TZ_DTYPE_UINT16,
     15,
     {0},
     {0x3fff, 0x4000, 0x7fff, 0x8000, 0xbfff, 0xc000, 0xffff, 0x0},
     {0x0, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x0}},
    {TZ_DTYPE_INT16,
     1,
     {0},
     {0xfffd, 0xfffe, 0xffff, 0x0, 0x1, 0x2, 0x3, 0x7fff},
     {0xfffc, 0xfffe, 0xfffe, 0x0, 0x0, 0x2, 0x2, 0x7ffe}},
    {TZ_DTYPE_INT16,
     5,
     {0},
     {0x8000, 0x800f, 0xffef, 0xfff0, 0xf, 0x10, 0x7fef, 0x7fff},
     {0x8000, 0x8000, 0xffe0, 0xffe0, 0x0, 0x20, 0x7fe0, 0x7fe0}},
    {TZ_DTYPE_INT16,
     5,
     {TZ_NODATA_KIND_INT, {.i = -32}},
     {0xffdf, 0xffe0, 0xffe1, 0xffff, 0xffef, 0x0, 0x10, 0xffc0},
     {0xffc0, 0xffe0, 0x0, 0x0, 0x0, 0x0, 0x20, 0xffc0}},
    {TZ_DTYPE_INT16,
     5,
     {TZ_NODATA_KIND_INT, {.i = 32736}},
     {0x7fcf, 0x7fd0, 0x7fdf, 0x7fe0, 0x7fe1, 0x7fff, 0xffff, 0x0},
     {0x7fc0, 0x7fc0, 0x7fc0, 0x7fe0, 0x7fc0, 0x7fc0, 0xffe0, 0x0}},
    {TZ_DTYPE_INT16,
     3,
     {TZ_NODATA_KIND_INT, {.i = -32768}},
     {0x8000, 0x8001, 0x8007, 0x8008, 0xffff, 0x0, 0x4, 0x7fff},
     {0x8000, 0x8008, 0x8008, 0x8008, 0xfff8, 0x0, 0x8, 0x7ff8}},
    {TZ_DTYPE_INT16,
     3,
     {TZ_NODATA_KIND_INT, {.i = -9999}},
     {0xd8f1, 0xd8f0, 0xd8f2, 0xd8f7, 0xd8f8, 0x3, 0x4, 0xc},
     {0xd8f1, 0xd8f0, 0xd8f0, 0xd8f0, 0xd8f8, 0x0, 0x8, 0x10}},
    {TZ_DTYPE_INT32,
     8,
     {0},
     {0x80000000, 0x8000007f, 0xffffff7f, 0xffffff80, 0x7f, 0x80, 0x7fffff7f, 0x7fffffff},
     {0x80000000, 0x80000000, 0xffffff00, 0xffffff00, 0x0, 0x100, 0x7fffff00, 0x7fffff00}},
    {TZ_DTYPE_INT32,
     8,
     {TZ_NODATA_KIND_INT, {.i = 256}},
     {0x7f, 0x80, 0xff, 0x100, 0x101, 0x17f, 0x180, 0x1ff},
     {0x0, 0x200, 0x200, 0x100, 0x200, 0x200, 0x200, 0x200}},
    {TZ_DTYPE_INT32,
     30,
     {0},
     {0x80000000, 0xffffffff, 0x0, 0x1fffffff, 0x20000000, 0x60000000, 0x7fffffff, 0x1},
     {0x80000000, 0xc0000000, 0x0, 0x0, 0x40000000, 0x40000000, 0x40000000, 0x0}},
    {TZ_DTYPE_UINT32,
     8,
     {0},
     {0x7f, 0x80, 0xff, 0xfffffeff, 0xffffff00, 0xffffff7f, 0xffffff80, 0xffffffff},
     {0x0, 0x100, 0x100, 0xffffff00, 0xffffff00, 0xffffff00, 0xffffff00, 0xffffff00}},
    {TZ_DTYPE_UINT32,
     8,
     {TZ_NODATA_KIND_UINT, {.u = 4294967040}},
     {0xfffffe7f, 0xfffffe80, 0xfffffeff, 0xffffff00, 0xffffff01, 0xffffffff, 0x0, 0x80},
     {0xfffffe00, 0xfffffe00, 0xfffffe00, 0xffffff00, 0xfffffe00, 0xfffffe00, 0x0, 0x100}},
    {TZ_DTYPE_UINT64,
     40,
     {0},
     {0x7fffffffff, 0x8000000000, 0x10000000000, 0x8000000000000000, 0xffffff0000000000,
      0xffffff8000000000, 0xffffffffffffffff, 0x5},
     {0x0, 0x10000000000, 0x10000000000, 0x8000000000000000, 0xffffff0000000000, 0xffffff0000000000,
      0xffffff0000000000, 0x0}},
    {TZ_DTYPE_INT64,
     40,
     {0},
     {0x8000000000000000, 0xffffff8000000000, 0xffffffffffffffff, 0x7fffffffff, 0x8000000000,
      0x7fffff8000000000, 0x7fffffffffffffff, 0x0},
     {0x8000000000000000, 0xffffff0000000000, 0xffffff0000000000, 0x0, 0x10000000000,
      0x7fffff0000000000, 0x7fffff0000000000, 0x0}},
    {TZ_DTYPE_INT64,
     4,
     {TZ_NODATA_KIND_INT, {.i = 16}},
     {0x7, 0x8, 0xf, 0x10, 0x11, 0x17, 0x18, 0xffffffffffffffff},
     {0x0, 0x20, 0x20, 0x10, 0x20, 0x20, 0x20, 0xfffffffffffffff0}},
    {TZ_DTYPE_FLOAT32,
     1,
     {0},
     {0x3f800001, 0xbf800001, 0x3dcccccd, 0xbdcccccd, 0x1, 0x80000001, 0x7f800000, 0x40490fdb},
     {0x3f800000, 0xbf800000, 0x3dcccccc, 0xbdcccccc, 0x0, 0x80000000, 0x7f800000, 0x40490fda}},
    {TZ_DTYPE_FLOAT32,
     12,
     {0},
     {0x3dcccccd, 0xbdcccccd, 0x40490fdb, 0xc02df854, 0x116c2, 0x800116c2, 0x477fe01f, 0x7e967699},
     {0x3dccd000, 0xbdccd000, 0x40491000, 0xc02e0000, 0x11000, 0x80011000, 0x477fe000, 0x7e967000}},
    {TZ_DTYPE_FLOAT32,
     22,
     {0},
     {0x3dcccccd, 0xbdcccccd, 0x40490fdb, 0xc02df854, 0x3fffffff, 0xff800000, 0x80000000,
      0x7e967699},
     {0x3dc00000, 0xbdc00000, 0x40400000, 0xc0400000, 0x40000000, 0xff800000, 0x80000000,
      0x7e800000}},
    {TZ_DTYPE_FLOAT32,
     12,
     {TZ_NODATA_KIND_FLOAT, {.f = -9999.0}},
     {0xc61c3c00, 0xc61c3c01, 0xc61c3b9a, 0xc61c1800, 0x3e99999a, 0x4640e6b6, 0x7f800000,
      0xff800000},
     {0xc61c3c00, 0xc61c4000, 0xc61c4000, 0xc61c2000, 0x3e99a000, 0x4640e000, 0x7f800000,
      0xff800000}},
    {TZ_DTYPE_FLOAT32,
     8,
     {TZ_NODATA_KIND_FLOAT, {.f = 0.10000000149011612}},
     {0x3dcccccd, 0x3dccccce, 0x3e4ccccd, 0x3e99999a, 0x7f800000, 0x3f333333, 0xbdcccccd,
      0x3f800000},
     {0x3dcccccd, 0x3dcccd00, 0x3e4ccd00, 0x3e999a00, 0x7f800000, 0x3f333300, 0xbdcccd00,
      0x3f800000}},
    {TZ_DTYPE_FLOAT32,
     12,
     {TZ_NODATA_KIND_FLOAT, {.f = 1.0}},
     {0x3f800000, 0x3f7fffff, 0x3f7ff972, 0xbf800000, 0xbf7fffff, 0x40000000, 0x3dcccccd,
      0x3e99999a},
     {0x3f800000, 0x3f800001, 0x3f800001, 0xbf800000, 0xbf800000, 0x40000000, 0x3dccd000,
      0x3e99a000}},
    {TZ_DTYPE_FLOAT64,
     30,
     {0},
     {0x3fb999999999999a, 0xbfb999999999999a, 0x400921fb54442d18, 0xc005bf0a8b145769,
      0x12688b70e62b, 0x800012688b70e62b, 0x40effc03ef9db22d, 0x7e37e43c8800759c},
     {0x3fb9999980000000, 0xbfb9999980000000, 0x400921fb40000000, 0xc005bf0a80000000,
      0x126880000000, 0x8000126880000000, 0x40effc0400000000, 0x7e37e43c80000000}},
    {TZ_DTYPE_FLOAT64,
     52,
     {0},
     {0x3fb999999999999a, 0xbfb999999999999a, 0x400921fb54442d18, 0x3ff8000000000000,
      0xbff8000000000000, 0x3ff7ff972474538f, 0x7ff0000000000000, 0x7e37e43c8800759c},
     {0x3fc0000000000000, 0xbfc0000000000000, 0x4010000000000000, 0x4000000000000000,
      0xc000000000000000, 0x3ff0000000000000, 0x7ff0000000000000, 0x7e30000000000000}},
    {TZ_DTYPE_FLOAT64,
     20,
     {TZ_NODATA_KIND_FLOAT, {.f = -9999.0}},
     {0xc0c3878000000000, 0xc0c387c000000000, 0xc0c3877ffffffdda, 0x3fb999999999999a,
      0x7ff0000000000000, 0xfff0000000000000, 0x3ff0000000000000, 0x4202a05f20000000},
     {0xc0c3878000000000, 0xc0c387c000000000, 0xc0c3877fffffffff, 0x3fb9999999a00000,
      0x7ff0000000000000, 0xfff0000000000000, 0x3ff0000000000000, 0x4202a05f20000000}},
    {TZ_DTYPE_FLOAT64,
     20,
     {TZ_NODATA_KIND_FLOAT, {.f = 1.0}},
     {0x3ff0000000000000, 0x3fefffffffffffff, 0x3fd3333333333333, 0xbff0000000000000,
      0xbfefffffffffffff, 0x4000000000000000, 0x3fb999999999999a, 0x401ecccccccccccd},
     {0x3ff0000000000000, 0x3ff0000000000001, 0x3fd3333333300000, 0xbff0000000000000,
      0xbff0000000000000, 0x4000000000000000, 0x3fb9999999a00000, 0x401eccccccd00000}},
};

static void put_bits(tz_dtype dtype, const uint64_t *bits, uint8_t *row)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        switch (tz_dtype_size(dtype)) {
        case 1:
            row[i] = (uint8_t)bits[i];
            break;
        case 2:
            memcpy(row + 2 * i, &(uint16_t){(uint16_t)bits[i]}, 2);
            break;
        case 4:
            memcpy(row + 4 * i, &(uint32_t){(uint32_t)bits[i]}, 4);
            break;
        default:
            memcpy(row + 8 * i, &bits[i], 8);
        }
    }
}

static void samples_are_those_of_gdal(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof gdal_rows / sizeof gdal_rows[0]; r++) {
        const tz_dtype dtype = gdal_rows[r].dtype;
        uint8_t row[SAMPLES * 8];
        uint8_t expected[SAMPLES * 8];
        put_bits(dtype, gdal_rows[r].before, row);
        put_bits(dtype, gdal_rows[r].after, expected);
        tz_store_discard_bits(dtype, row, SAMPLES, 1, &gdal_rows[r].bits, &gdal_rows[r].nodata);
        if (memcmp(row, expected, SAMPLES * tz_dtype_size(dtype)) != 0)
            fail_msg("row %zu differs", r);
    }
}

/* DISCARD_LSB=0,3,5 of the same GDAL, INTERLEAVE=PIXEL. */
static void every_band_has_its_own_bits(void **state)
{
    (void)state;
    const tz_nodata none = {0};
    uint8_t row[] = {3, 3, 3, 13, 13, 13, 100, 100, 100, 255, 255, 255};
    const uint8_t expected[] = {3, 0, 0, 13, 16, 0, 100, 104, 96, 255, 255, 255};
    tz_store_discard_bits(TZ_DTYPE_UINT8, row, 4, 3, (const uint8_t[]){0, 3, 5}, &none);
    assert_memory_equal(row, expected, sizeof row);
}

/* ---- where GDAL loses samples, and this does not ---- */

static void the_largest_floats_stay_finite(void **state)
{
    (void)state;
    const tz_nodata nodata = {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = -9999}};
    uint32_t floats[] = {0x7f7fffff, 0xff7fffff};
    uint64_t doubles[] = {0x7fefffffffffffff, 0xffefffffffffffff};
    uint16_t halves[] = {0x7bff, 0xfbff, 0x7bf8, 0x3c04};
    tz_store_discard_bits(TZ_DTYPE_FLOAT32, (uint8_t *)floats, 2, 1, &(uint8_t){8}, &nodata);
    assert_int_equal(floats[0], 0x7f7fff00);
    assert_int_equal(floats[1], 0xff7fff00);
    tz_store_discard_bits(TZ_DTYPE_FLOAT64, (uint8_t *)doubles, 2, 1, &(uint8_t){8}, &nodata);
    assert_true(doubles[0] == 0x7fefffffffffff00 && doubles[1] == 0xffefffffffffff00);
    tz_store_discard_bits(TZ_DTYPE_FLOAT16, (uint8_t *)halves, 4, 1, &(uint8_t){3}, &nodata);
    assert_int_equal(halves[0], 0x7bf8);
    assert_int_equal(halves[1], 0xfbf8);
    assert_int_equal(halves[2], 0x7bf8);
    assert_int_equal(halves[3], 0x3c08);
}

static void no_sample_becomes_nodata(void **state)
{
    (void)state;
    const tz_nodata one = {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = 1}};
    const tz_nodata zero = {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = 0}};
    const tz_nodata eight = {.kind = TZ_NODATA_KIND_INT, .value = {.i = 8}};
    float above[] = {1.0000001f, 1.0f, 0.99999994f};
    float tiny[] = {1e-45f, -1e-45f, 0.0f, -0.0f};
    uint8_t bytes[] = {7, 8, 9, 10};
    tz_store_discard_bits(TZ_DTYPE_FLOAT32, (uint8_t *)above, 3, 1, &(uint8_t){12}, &one);
    assert_true(above[0] == 1.0000001f && above[1] == 1.0f && above[2] == 1.0000001f);
    tz_store_discard_bits(TZ_DTYPE_FLOAT32, (uint8_t *)tiny, 4, 1, &(uint8_t){12}, &zero);
    assert_true(tiny[0] == 1e-45f && tiny[1] == 1e-45f && tiny[2] == 0.0f && tiny[3] == 0.0f);
    tz_store_discard_bits(TZ_DTYPE_UINT8, bytes, 4, 1, &(uint8_t){1}, &eight);
    assert_memory_equal(bytes, ((const uint8_t[]){6, 8, 10, 10}), 4);
}

/* ---- nodata that no sample can be ---- */

static void nodata_out_of_range_is_none(void **state)
{
    (void)state;
    const tz_nodata values[] = {{.kind = TZ_NODATA_KIND_INT, .value = {.i = -1}},
                                {.kind = TZ_NODATA_KIND_UINT, .value = {.u = 256}},
                                {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = 0.5}},
                                {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = (double)NAN}}};
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
        uint8_t bytes[] = {0, 1, 3, 4, 254};
        tz_store_discard_bits(TZ_DTYPE_UINT8, bytes, 5, 1, &(uint8_t){3}, &values[v]);
        assert_memory_equal(bytes, ((const uint8_t[]){0, 0, 0, 8, 255}), 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_those_of_gdal),
        cmocka_unit_test(every_band_has_its_own_bits),
        cmocka_unit_test(the_largest_floats_stay_finite),
        cmocka_unit_test(no_sample_becomes_nodata),
        cmocka_unit_test(nodata_out_of_range_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
