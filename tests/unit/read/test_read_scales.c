/* SPDX-License-Identifier: Apache-2.0
 * Scale and offset that the caller gives, in place of those of the file. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/known_image.h"
#include "support/plain_read.h"

enum { WIDTH = 50, HEIGHT = 41, PIXELS = WIDTH * HEIGHT };

/* Bands of 16 bits; the file scales its first band by 0.5 and adds -1. */
static image open_scaled(const char *nodata)
{
    tb *b = make_image(TB_CLASSIC, tiled);
    tb_set_text(b, 0, TZ_TAG_GDAL_METADATA,
                "<GDALMetadata><Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.5</Item>"
                "<Item name=\"OFFSET\" sample=\"0\" role=\"offset\">-1</Item></GDALMetadata>");
    if (nodata)
        tb_set_text(b, 0, TZ_TAG_GDAL_NODATA, nodata);
    return open_built(b);
}

static plain_item item_of(const image *i, const uint32_t *bands, uint32_t count, tz_dtype dtype,
                          void *data)
{
    return (plain_item){
        .file = i->file,
        .bands = bands,
        .band_count = count,
        .into = {.data = data, .dtype = dtype, .bands = count, .height = HEIGHT, .width = WIDTH}};
}

static void each_band_that_is_read_has_its_own(void **state)
{
    (void)state;
    static const uint32_t bands[] = {2, 0};
    static const double scales[] = {0.25, -3}, offsets[] = {1e6, 0.1};
    static double pixels[2][PIXELS];
    image i = open_scaled(NULL);
    const bool metadata = tz_build_feature("expat") != NULL;
    for (unsigned variant = 0; variant < 8; variant++) {
        plain_item item = item_of(&i, bands, 2, TZ_DTYPE_FLOAT64, pixels);
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        item.scales = variant & 1 ? scales : NULL;
        item.offsets = variant & 2 ? offsets : NULL;
        how.scaled = variant & 4;
        read_ok(&item, &how, NULL);
        const bool has_own = metadata && how.scaled;
        for (uint32_t k = 0; k < 2 * PIXELS; k++) {
            const uint32_t band = k / PIXELS, row = k % PIXELS / WIDTH, column = k % WIDTH;
            const double scale = item.scales ? scales[band] : has_own && band == 1 ? 0.5 : 1;
            const double offset = item.offsets ? offsets[band] : has_own && band == 1 ? -1 : 0;
            const volatile double product = (double)pixel(bands[band], row, column, 16) * scale;
            assert_true(pixels[band][k % PIXELS] == product + offset);
        }
    }
    close_image(&i);
}

/* Rounded to the nearest, and limited to the type. Items of one call have scales of their own. */
static void values_are_cast_after_scaling(void **state)
{
    (void)state;
    static const uint32_t band = 0;
    static const double scales[] = {0.01, 1}, offsets[] = {-2, 0.5};
    static uint8_t bytes[PIXELS];
    static uint16_t shorts[PIXELS];
    static int16_t plain[PIXELS];
    image i = open_scaled(NULL);
    plain_item items[] = {item_of(&i, &band, 1, TZ_DTYPE_UINT8, bytes),
                          item_of(&i, &band, 1, TZ_DTYPE_UINT16, shorts),
                          item_of(&i, &band, 1, TZ_DTYPE_INT16, plain)};
    tz_error err;
    items[0].scales = scales;
    items[0].offsets = offsets;
    items[1].offsets = offsets + 1;
    assert_int_equal(plain_read_batch(items, 3, NULL, NULL, &err), TZ_OK);
    for (uint32_t k = 0; k < PIXELS; k++) {
        const double value = (double)pixel(0, k / WIDTH, k % WIDTH, 16);
        const double small = round(value * 0.01 - 2);
        assert_int_equal(bytes[k], small < 0 ? 0 : (int)small);
        assert_int_equal(shorts[k], (int)value + 1); /* halves away from zero */
        assert_int_equal(plain[k], (int)value);
    }
    close_image(&i);
}

/* Resampling comes first. Outside of the level, and of nodata, pixels are what nodata becomes. */
static void resampled_values_are_scaled(void **state)
{
    (void)state;
    static const uint32_t bands[] = {1, 2};
    static const double scales[] = {-0.125, 7}, offsets[] = {3, 1e3};
    static double as_is[2 * 30 * 60], scaled[2 * 30 * 60];
    image i = open_scaled("2018");
    for (int method = TZ_RESAMPLING_NEAREST; method <= TZ_RESAMPLING_MEDIAN; method++) {
        for (int nan = 0; nan < 2; nan++) {
            plain_item item = item_of(&i, bands, 2, TZ_DTYPE_FLOAT64, as_is);
            tz_read_options how = TZ_READ_OPTIONS_INIT;
            item.window = (tz_window){-9, -3, 70, 55};
            item.into.width = 30;
            item.into.height = 60;
            how.resampling = (tz_resampling)method;
            how.boundless = true;
            how.nodata_to_nan = nan;
            read_ok(&item, &how, NULL);
            item.into.data = scaled;
            item.scales = scales;
            item.offsets = offsets;
            how.scaled = true;
            read_ok(&item, &how, NULL);
            assert_true(nan ? isnan(scaled[0]) : scaled[0] == 2018 * -0.125 + 3);
            for (uint32_t k = 0; k < 2 * 1800; k++) {
                const volatile double product = as_is[k] * scales[k / 1800];
                const double expected = product + offsets[k / 1800];
                assert_true(isnan(as_is[k]) ? isnan(scaled[k]) : scaled[k] == expected);
            }
            /* and in parts */
            static double part[2 * 11 * 13];
            item.into.data = part;
            item.into.width = 11;
            item.into.height = 13;
            item.grid_width = 30;
            item.grid_height = 60;
            item.grid_column = 17;
            item.grid_row = 40;
            read_ok(&item, &how, NULL);
            for (uint32_t k = 0; k < 2 * 143; k++) {
                const uint32_t at = k / 143 * 1800 + (40 + k % 143 / 11) * 30 + 17 + k % 11;
                assert_memory_equal(&part[k], &scaled[at], sizeof part[k]);
            }
        }
    }
    close_image(&i);
}

static void nodata_is_found_before_scaling(void **state)
{
    (void)state;
    static const uint32_t band = 0;
    static const double scale = 0, offset = 131; /* all become the nodata value */
    static float pixels[PIXELS];
    static uint8_t mask[PIXELS];
    image i = open_scaled("131");
    plain_item item = item_of(&i, &band, 1, TZ_DTYPE_FLOAT32, pixels);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    item.mask = item.into;
    item.mask.dtype = TZ_DTYPE_UINT8;
    item.mask.data = mask;
    item.scales = &scale;
    item.offsets = &offset;
    how.nodata_to_nan = true;
    read_ok(&item, &how, NULL);
    for (uint32_t k = 0; k < PIXELS; k++) {
        const bool none = pixel(0, k / WIDTH, k % WIDTH, 16) == 131;
        assert_true(none ? isnan(pixels[k]) : pixels[k] == 131);
        assert_int_equal(mask[k], none ? 0 : 255);
    }
    close_image(&i);
}

static void masks_have_no_scale(void **state)
{
    (void)state;
    tb *b = tb_new(TB_CLASSIC);
    const int main_image = tb_image(b, &(tb_spec){.width = 16, .height = 16});
    static const double one = 1;
    uint8_t pixels[256];
    tz_error err;
    tb_mask(b, main_image);
    tb_finish(b);
    image i = {.b = b};
    assert_int_equal(tz_open_memory(&i.file, b->data, b->size, NULL, &err), TZ_OK);
    plain_item item = {
        .file = i.file,
        .mask_itself = true,
        .into = {.data = pixels, .dtype = TZ_DTYPE_UINT8, .bands = 1, .height = 16, .width = 16},
        .scales = &one};
    read_fails(&item, NULL, TZ_ERR_ARG, TZ_CAUSE_ARG);
    item.scales = NULL;
    item.offsets = &one;
    read_fails(&item, NULL, TZ_ERR_ARG, TZ_CAUSE_ARG);
    close_image(&i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_band_that_is_read_has_its_own),
        cmocka_unit_test(values_are_cast_after_scaling),
        cmocka_unit_test(resampled_values_are_scaled),
        cmocka_unit_test(nodata_is_found_before_scaling),
        cmocka_unit_test(masks_have_no_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
