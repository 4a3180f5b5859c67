/* SPDX-License-Identifier: Apache-2.0
 * Values that the caller gives for nodata, and for pixels that the file does not have. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pixel/pixel.h"
#include "support/known_image.h"
#include "support/plain_read.h"

enum {
    WIDTH = 50,
    HEIGHT = 41,
    PIXELS = WIDTH * HEIGHT,
    TILES = 8,
    BAD_TILE = 5,  /* columns 16 to 31, rows 32 to 40 */
    NODATA = 2018, /* band 0: row 14, column 11 and others; band 2: row 0, column 0 */
    AS = -5
};

static const tz_nodata minus_five = {TZ_NODATA_KIND_INT, {.i = AS}};

/* Bands of 16 bits; a bad tile is that of the first band if bands are apart. */
static image open_known(const char *nodata, uint16_t planar, bool has_bad_tile)
{
    tb_spec spec = tiled;
    spec.planar = planar;
    tb *b = make_image(TB_CLASSIC, spec);
    if (nodata)
        tb_set_text(b, 0, TZ_TAG_GDAL_NODATA, nodata);
    tb_finish(b);
    if (has_bad_tile)
        tb_patch_tile(b, 0, BAD_TILE, b->ifds[0].tile_offsets[BAD_TILE], 17);
    return open_built(b);
}

static plain_item item_of(const image *i, tz_dtype dtype, void *data)
{
    return (plain_item){
        .file = i->file,
        .into = {.data = data, .dtype = dtype, .bands = 3, .height = HEIGHT, .width = WIDTH}};
}

static uint32_t stored(uint32_t k)
{
    return (uint32_t)pixel(k / PIXELS, k % PIXELS / WIDTH, k % WIDTH, 16);
}

static bool is_bad(uint32_t k)
{
    return k % PIXELS / WIDTH >= 32 && k % WIDTH / 16 == 1;
}

/* ---- tiles that are there ---- */

/* All the ways that bytes are copied without a look at samples: whole strips, neighbouring tiles,
 * tiles in the buffer. Values are beyond 2^53, so that a double would show. */
static void samples_of_64_bits_are_replaced_exactly(void **state)
{
    (void)state;
    static uint64_t pixels[PIXELS];
    static const uint64_t high = UINT64_C(1) << 63;
    const uint64_t nodata = pixel(0, 14, 11, 64) | high;
    for (unsigned variant = 0; variant < 8; variant++) {
        tb_spec spec = {.width = WIDTH, .height = HEIGHT, .bits = 64};
        const bool is_signed = variant & 4;
        char text[32];
        spec.sample_format = is_signed ? 2 : 1;
        spec.tile_width = spec.tile_height = variant & 1 ? 16 : 0;
        spec.rows_per_strip = variant & 1 ? 0 : variant & 2 ? HEIGHT : 8;
        tb *b = make_image(TB_CLASSIC, spec);
        if (is_signed)
            snprintf(text, sizeof text, "%" PRId64, (int64_t)nodata);
        else
            snprintf(text, sizeof text, "%" PRIu64, nodata);
        tb_set_text(b, 0, TZ_TAG_GDAL_NODATA, text);
        image i = open_built(b);
        for (uint64_t t = 0; t < b->ifds[0].tile_count; t++) {
            for (uint64_t k = 7; k < b->ifds[0].tile_sizes[t]; k += 8)
                b->data[b->ifds[0].tile_offsets[t] + k] |= 0x80;
        }
        plain_item item = item_of(&i, is_signed ? TZ_DTYPE_INT64 : TZ_DTYPE_UINT64, pixels);
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        item.into.bands = 1;
        how.nodata_as = is_signed ? (tz_nodata){TZ_NODATA_KIND_INT, {.i = INT64_MIN + 1}}
                                  : (tz_nodata){TZ_NODATA_KIND_UINT, {.u = UINT64_MAX - 1}};
        uint32_t replaced = 0;
        read_ok(&item, &how, NULL);
        for (uint32_t k = 0; k < PIXELS; k++) {
            const uint64_t value = pixel(0, k / WIDTH, k % WIDTH, 64) | high;
            replaced += value == nodata;
            assert_true(pixels[k] == (value == nodata ? how.nodata_as.value.u : value));
        }
        assert_true(replaced > 0 && replaced < PIXELS);
        close_image(&i);
    }
}

/* Found before the scale, stored after it, and cast to the type of the buffer; the mask is as
 * without. */
static void the_value_is_cast_and_not_scaled(void **state)
{
    (void)state;
    static const double scales[] = {0.5, 2, -3};
    static const struct {
        tz_nodata as;
        tz_dtype dtype;
        double expected;
    } cases[] = {
        {{TZ_NODATA_KIND_INT, {.i = -5}}, TZ_DTYPE_FLOAT64, -5},
        {{TZ_NODATA_KIND_INT, {.i = -5}}, TZ_DTYPE_UINT8, 0},
        {{TZ_NODATA_KIND_UINT, {.u = 300}}, TZ_DTYPE_UINT8, 255},
        {{TZ_NODATA_KIND_FLOAT, {.f = 2.5}}, TZ_DTYPE_INT32, 3},
        {{TZ_NODATA_KIND_FLOAT, {.f = 2.5}}, TZ_DTYPE_FLOAT16, 2.5},
        {{TZ_NODATA_KIND_FLOAT, {.f = (double)INFINITY}}, TZ_DTYPE_INT64, 0x1p63},
        {{TZ_NODATA_KIND_FLOAT, {.f = (double)NAN}}, TZ_DTYPE_UINT16, 0},
        {{TZ_NODATA_KIND_FLOAT, {.f = -(double)NAN}}, TZ_DTYPE_FLOAT32, (double)NAN},
    };
    image i = open_known("2018", 1, false);
    for (size_t c = 0; c < 2 * sizeof cases / sizeof cases[0]; c++) {
        static uint8_t pixels[2][3 * PIXELS * 8], masks[2][3 * PIXELS];
        const size_t size = tz_dtype_size(cases[c / 2].dtype);
        plain_item item = item_of(&i, cases[c / 2].dtype, pixels[0]);
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        uint8_t sample[8];
        item.mask = item.into;
        item.mask.dtype = TZ_DTYPE_UINT8;
        item.mask.data = masks[0];
        item.scales = c % 2 ? scales : NULL;
        read_ok(&item, &how, NULL);
        item.into.data = pixels[1];
        item.mask.data = masks[1];
        how.nodata_as = cases[c / 2].as;
        read_ok(&item, &how, NULL);
        assert_memory_equal(masks[0], masks[1], sizeof masks[0]);
        tz_row_fill(cases[c / 2].dtype,
                    &(tz_nodata){TZ_NODATA_KIND_FLOAT, {.f = cases[c / 2].expected}}, sample, 8, 1);
        for (uint32_t k = 0; k < 3 * PIXELS; k++) {
            assert_int_equal(masks[1][k], stored(k) == NODATA ? 0 : 255);
            assert_memory_equal(pixels[1] + k * size,
                                stored(k) == NODATA ? sample : pixels[0] + k * size, size);
        }
    }
    close_image(&i);
}

/* Nothing is nodata in a file that declares none, and a mask's own samples never are. */
static void other_samples_are_not_replaced(void **state)
{
    (void)state;
    static uint16_t pixels[3 * PIXELS];
    static uint8_t samples[PIXELS];
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.nodata_as = (tz_nodata){TZ_NODATA_KIND_UINT, {.u = 77}};
    how.boundless = true;
    image i = open_known(NULL, 1, false);
    plain_item item = item_of(&i, TZ_DTYPE_UINT16, pixels);
    read_ok(&item, &how, NULL);
    for (uint32_t k = 0; k < 3 * PIXELS; k++)
        assert_int_equal(pixels[k], stored(k));
    item.window = (tz_window){1000, 0, WIDTH, HEIGHT};
    read_ok(&item, &how, NULL);
    assert_int_equal(pixels[0], 0);
    close_image(&i);

    tb_spec spec = {.width = WIDTH, .height = HEIGHT, .bits = 8};
    tb *b = make_image(TB_CLASSIC, spec);
    tb_set_text(b, 0, TZ_TAG_GDAL_NODATA, "0");
    spec = b->ifds[0].spec;
    spec.photometric = 4;
    spec.subfile = 4;
    b->ifds[tb_image(b, &spec)].spec = spec;
    i = open_built(b);
    item = item_of(&i, TZ_DTYPE_UINT8, samples);
    item.into.bands = 1;
    item.mask_itself = true;
    read_ok(&item, &how, NULL);
    for (uint32_t k = 0; k < PIXELS; k++)
        assert_int_equal(samples[k], pixel(0, k / WIDTH, k % WIDTH, 8));
    close_image(&i);
}

/* ---- tiles that are not ---- */

static void sparse_tiles_are_replaced(void **state)
{
    (void)state;
    static uint8_t pixels[PIXELS], mask[PIXELS];
    const double scale = 3;
    tb_spec spec = tiled;
    spec.samples = 1;
    spec.sparse = true;
    tb *b = make_image(TB_CLASSIC, spec);
    tb_set_text(b, 0, TZ_TAG_GDAL_NODATA, "9");
    image i = open_built(b);
    plain_item item = item_of(&i, TZ_DTYPE_UINT8, pixels);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    plain_report report;
    item.into.bands = 1;
    item.mask = item.into;
    item.mask.data = mask;
    item.scales = &scale;
    how.has_fill = true, how.fill = 99; /* these pixels are in the file, as nodata */
    how.salvage = true;
    how.nodata_as = (tz_nodata){TZ_NODATA_KIND_UINT, {.u = 200}};
    read_ok(&item, &how, &report);
    assert_int_equal(report.tiles_sparse, TILES);
    for (uint32_t k = 0; k < PIXELS; k++)
        assert_true(pixels[k] == 200 && mask[k] == 0);
    close_image(&i);
}

/* Two items share the tile. Of bands that lie apart, only the one of the bad tile has it. */
static void tiles_that_cannot_be_read_have_the_value_or_the_fill(void **state)
{
    (void)state;
    static const double scales[] = {0.5, 0.5, 0.5};
    static double pixels[3 * PIXELS];
    static uint8_t mask[3 * PIXELS];
    static int16_t part[3 * 20 * 9];
    for (unsigned variant = 0; variant < 16; variant++) {
        const bool has_nodata = variant & 1, by_band = variant & 2;
        image i = open_known(has_nodata ? "2018" : NULL, by_band ? 2 : 1, true);
        plain_item items[2] = {item_of(&i, TZ_DTYPE_FLOAT64, pixels),
                               item_of(&i, TZ_DTYPE_INT16, part)};
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        tz_error err;
        items[0].mask = items[0].into;
        items[0].mask.dtype = TZ_DTYPE_UINT8;
        items[0].mask.data = mask;
        items[0].scales = scales;
        items[1].window = (tz_window){14, 32, 20, 9};
        items[1].into.width = 20;
        items[1].into.height = 9;
        how.salvage = true;
        how.has_fill = variant & 4, how.fill = -40000.25;
        if (variant & 8)
            how.nodata_as = minus_five;
        if (plain_read_batch(items, 2, &how, NULL, &err) != TZ_OK)
            fail_msg("%s", err.message);
        const double scaled = !has_nodata ? 0 : variant & 8 ? AS : NODATA * 0.5;
        const int16_t plain = !has_nodata ? 0 : variant & 8 ? AS : NODATA;
        for (uint32_t k = 0; k < 3 * PIXELS; k++) {
            const bool bad = is_bad(k) && (!by_band || k < PIXELS);
            const bool nodata = has_nodata && stored(k) == NODATA;
            const double expected = bad && how.has_fill ? how.fill
                                    : bad || nodata     ? scaled
                                                        : stored(k) * 0.5;
            assert_true(pixels[k] == expected);
            assert_int_equal(mask[k], bad || nodata ? 0 : 255);
        }
        assert_int_equal(part[0], stored(32 * WIDTH + 14));
        const int16_t missing = how.has_fill ? INT16_MIN : plain;
        const int16_t third = (int16_t)stored(2 * PIXELS + 32 * WIDTH + 16);
        assert_int_equal(part[2], missing);
        assert_int_equal(part[2 * 180 + 2], by_band ? third : missing);
        close_image(&i);
    }
}

static void outside_is_the_value_unless_there_is_a_fill(void **state)
{
    (void)state;
    static const double scales[] = {0.5, 0.5, 0.5};
    for (int has_fill = 0; has_fill < 2; has_fill++) {
        float pixels[3];
        image i = open_known("-1", 1, false); /* no sample is */
        plain_item item = item_of(&i, TZ_DTYPE_FLOAT32, pixels);
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        item.window = (tz_window){-1, -1, 1, 1};
        item.into.width = item.into.height = 1;
        item.scales = scales;
        how.boundless = true;
        how.nodata_as = minus_five;
        how.has_fill = has_fill, how.fill = 44;
        read_ok(&item, &how, NULL);
        assert_true(pixels[0] == (has_fill ? 44 : AS) && pixels[2] == pixels[0]);
        close_image(&i);
    }
}

/* ---- resampled ---- */

/* Twice as large, a pixel has one sample under it by any of these methods, so that each pixel is
 * that of a plain read: also outside, in a tile that could not be read, and of nodata. */
static void larger_pixels_are_those_of_a_plain_read(void **state)
{
    (void)state;
    enum { W = 60, H = 50, COUNT = 3 * W * H };
    static const tz_resampling methods[] = {TZ_RESAMPLING_NEAREST, TZ_RESAMPLING_AVERAGE,
                                            TZ_RESAMPLING_MODE, TZ_RESAMPLING_MAX};
    static const double scales[] = {0.5, 2, -3};
    static double plain[COUNT], larger[4 * COUNT];
    static uint8_t mask[COUNT], larger_mask[4 * COUNT];
    for (unsigned variant = 0; variant < 64; variant++) {
        image i = open_known("2018", variant & 1 ? 2 : 1, true);
        plain_item item = item_of(&i, TZ_DTYPE_FLOAT64, plain);
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        item.window = (tz_window){-4, -3, W, H};
        item.into.width = W;
        item.into.height = H;
        if (variant & 2) {
            item.mask = item.into;
            item.mask.dtype = TZ_DTYPE_UINT8;
            item.mask.data = mask;
        }
        item.scales = variant & 4 ? scales : NULL;
        how.boundless = true;
        how.salvage = true;
        how.has_fill = variant & 8, how.fill = 0.25;
        if (variant & 16)
            how.nodata_as = minus_five;
        else
            how.nodata_to_nan = variant & 32;
        read_ok(&item, &how, NULL);
        item.into.data = larger;
        item.mask.data = variant & 2 ? larger_mask : NULL;
        item.into.width = item.mask.width = 2 * W;
        item.into.height = item.mask.height = 2 * H;
        for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
            how.resampling = methods[m];
            read_ok(&item, &how, NULL);
            for (uint32_t k = 0; k < 4 * COUNT; k++) {
                const uint32_t band = k / (4 * W * H), row = k / (2 * W) % (2 * H);
                const uint32_t at = (band * H + row / 2) * W + k % (2 * W) / 2;
                if (memcmp(&larger[k], &plain[at], sizeof larger[0]) != 0)
                    fail_msg("variant %u, method %d, band %u, row %u, column %u: %g, not %g",
                             variant, (int)methods[m], band, row, k % (2 * W), larger[k],
                             plain[at]);
                if (variant & 2)
                    assert_int_equal(larger_mask[k], mask[at]);
            }
        }
        close_image(&i);
    }
}

/* A pixel with some valid sample under it is their average; one without has the value. */
static void smaller_pixels_without_a_valid_sample_have_the_value(void **state)
{
    (void)state;
    static uint8_t pixels[4 * 2];
    const double scale = 10;
    tb *b = make_image(TB_CLASSIC, (tb_spec){.width = 8, .height = 4, .bits = 8});
    tb_set_text(b, 0, TZ_TAG_GDAL_NODATA, "9");
    image i = open_built(b);
    uint8_t *samples = b->data + b->ifds[0].tile_offsets[0];
    memset(samples, 9, 32);
    samples[2] = 6;
    samples[3] = 4;
    plain_item item = item_of(&i, TZ_DTYPE_UINT8, pixels);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    item.into =
        (tz_buffer){.data = pixels, .dtype = TZ_DTYPE_UINT8, .bands = 1, .height = 2, .width = 4};
    item.scales = &scale;
    how.resampling = TZ_RESAMPLING_AVERAGE;
    how.nodata_as = (tz_nodata){TZ_NODATA_KIND_UINT, {.u = 201}};
    read_ok(&item, &how, NULL);
    for (int k = 0; k < 8; k++)
        assert_int_equal(pixels[k], k == 1 ? 50 : 201);
    close_image(&i);
}

/* ---- arguments ---- */

static void the_value_does_not_go_with_nan(void **state)
{
    (void)state;
    static uint16_t pixels[3 * PIXELS];
    image i = open_known("2018", 1, false);
    plain_item item = item_of(&i, TZ_DTYPE_UINT16, pixels);
    tz_item asked = TZ_ITEM_INIT;
    tz_read_shape shape = TZ_READ_SHAPE_INIT;
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_error err;
    asked.file = i.file;
    how.nodata_as = minus_five;
    assert_int_equal(tz_read_resolve(&shape, &asked, &how, &err), TZ_OK);
    assert_int_equal(shape.dtype, TZ_DTYPE_UINT16);
    how.nodata_to_nan = true;
    read_fails(&item, &how, TZ_ERR_ARG, TZ_CAUSE_ARG);
    assert_int_equal(tz_read_resolve(&shape, &asked, &how, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "nodata_as"));
    how.nodata_to_nan = false;
    how.nodata_as.kind = (tz_nodata_kind)4;
    read_fails(&item, &how, TZ_ERR_ARG, TZ_CAUSE_ARG);
    close_image(&i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_of_64_bits_are_replaced_exactly),
        cmocka_unit_test(the_value_is_cast_and_not_scaled),
        cmocka_unit_test(other_samples_are_not_replaced),
        cmocka_unit_test(sparse_tiles_are_replaced),
        cmocka_unit_test(tiles_that_cannot_be_read_have_the_value_or_the_fill),
        cmocka_unit_test(outside_is_the_value_unless_there_is_a_fill),
        cmocka_unit_test(larger_pixels_are_those_of_a_plain_read),
        cmocka_unit_test(smaller_pixels_without_a_valid_sample_have_the_value),
        cmocka_unit_test(the_value_does_not_go_with_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
