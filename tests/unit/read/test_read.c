/* SPDX-License-Identifier: Apache-2.0
 * Reading pixels: what comes out is what went in, however it is asked for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/alloc_hook.h"
#include "support/known_image.h"
#include "support/plain_read.h"

/* ---- layouts ---- */

static void check_all(const image *i)
{
    const tz_info *info = i->info;
    const size_t size = tz_dtype_size(info->dtype);
    const size_t count = (size_t)info->width * info->height * info->bands;
    uint8_t *pixels = malloc(count * size);
    const plain_item item = {.file = i->file,
                             .into = {.data = pixels,
                                      .dtype = info->dtype,
                                      .bands = info->bands,
                                      .height = info->height,
                                      .width = info->width}};
    memset(pixels, 0xA5, count * size);
    read_ok(&item, NULL, NULL);
    for (size_t at = 0; at < count; at++) {
        uint64_t found = 0;
        memcpy(&found, pixels + at * size, size); /* little-endian hosts only, as CI is */
        const uint32_t column = (uint32_t)(at % info->width);
        const uint32_t row = (uint32_t)(at / info->width % info->height);
        const uint32_t band = (uint32_t)(at / info->width / info->height);
        assert_int_equal(found, pixel(band, row, column, (unsigned)size * 8));
    }
    free(pixels);
}

static void every_layout_width_and_byte_order(void **state)
{
    (void)state;
    static const uint16_t bits[] = {8, 16, 32, 64};
    for (unsigned format = 0; format < TB_FORMATS; format++) {
        for (unsigned variant = 0; variant < 32; variant++) {
            tb_spec spec = {.width = 37, .height = 29, .bits = bits[variant & 3]};
            spec.samples = variant & 4 ? 3 : 1;
            spec.planar = variant & 8 ? 2 : 1;
            if (variant & 16)
                spec.tile_width = spec.tile_height = 16;
            else
                spec.rows_per_strip = 8;
            image i = open_image(format, spec);
            check_all(&i);
            close_image(&i);
        }
    }
}

/* ---- windows, bands, strides ---- */

static uint32_t next_random(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static void random_windows_and_bands_equal_slices(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (uint16_t planar = 1; planar <= 2; planar++) {
        tb_spec spec = tiled;
        spec.planar = planar;
        image i = open_image(TB_BIG_ENDIAN, spec);
        for (unsigned round = 0; round < 200; round++) {
            uint16_t pixels[4 * 50 * 41];
            uint32_t bands[4];
            const uint32_t band_count = 1 + next_random(&seed, 4);
            tz_window w = {.column = next_random(&seed, 50), .row = next_random(&seed, 41)};
            w.width = 1 + next_random(&seed, 50 - (uint32_t)w.column);
            w.height = 1 + next_random(&seed, 41 - (uint32_t)w.row);
            for (uint32_t k = 0; k < band_count; k++)
                bands[k] = next_random(&seed, 3);
            /* band after band, or pixel after pixel from the last row up */
            const bool flip = round & 1;
            tz_buffer into = {.struct_size = sizeof(tz_buffer),
                              .data = pixels,
                              .dtype = TZ_DTYPE_UINT16,
                              .bands = band_count,
                              .height = w.height,
                              .width = w.width};
            if (flip) {
                into.band_stride = 2;
                into.column_stride = 2 * (int64_t)band_count;
                into.row_stride = -into.column_stride * w.width;
                into.data = (uint8_t *)pixels - into.row_stride * (w.height - 1);
            }
            const plain_item item = {.file = i.file,
                                     .window = w,
                                     .bands = bands,
                                     .band_count = band_count,
                                     .into = into};
            read_ok(&item, NULL, NULL);
            for (uint32_t k = 0; k < band_count; k++) {
                for (uint32_t y = 0; y < w.height; y++) {
                    for (uint32_t x = 0; x < w.width; x++) {
                        const size_t at =
                            flip ? ((size_t)(w.height - 1 - y) * w.width + x) * band_count + k
                                 : ((size_t)k * w.height + y) * w.width + x;
                        assert_int_equal(pixels[at], pixel(bands[k], (uint32_t)w.row + y,
                                                           (uint32_t)w.column + x, 16));
                    }
                }
            }
        }
        close_image(&i);
    }
}

static void items_that_share_tiles_read_them_once(void **state)
{
    (void)state;
    image i = open_image(TB_CLASSIC, tiled);
    uint16_t a[3 * 10 * 10];
    uint16_t b[3 * 10 * 10];
    plain_item items[2] = {
        {.file = i.file,
         .window = {0, 0, 10, 10},
         .into = {.data = a, .dtype = TZ_DTYPE_UINT16, .bands = 3, .height = 10, .width = 10}}};
    items[1] = items[0];
    items[1].window.column = 4; /* the same tile */
    items[1].into.data = b;
    plain_report report;
    tz_error err;
    assert_int_equal(plain_read_batch(items, 2, NULL, &report, &err), TZ_OK);
    assert_int_equal(report.tiles, 1);
    assert_int_equal(report.tiles_shared, 1);
    assert_int_equal(report.tiles_copied, 1);
    for (uint32_t x = 0; x < 6; x++)
        assert_int_equal(a[4 + x], b[x]);
    assert_int_equal(b[9], pixel(0, 0, 13, 16));
    close_image(&i);
}

static void boundless_windows_are_filled(void **state)
{
    (void)state;
    image i = open_image(TB_CLASSIC, tiled);
    uint16_t pixels[3][60][70];
    uint8_t mask[3][60][70];
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.boundless = true;
    how.has_fill = true, how.fill = 7;
    const plain_item item = {
        .file = i.file,
        .window = {-9, -5, 70, 60},
        .into = {.data = pixels, .dtype = TZ_DTYPE_UINT16, .bands = 3, .height = 60, .width = 70},
        .mask = {.data = mask, .dtype = TZ_DTYPE_UINT8, .bands = 3, .height = 60, .width = 70}};
    memset(mask, 3, sizeof mask);
    read_ok(&item, &how, NULL);
    for (uint32_t k = 0; k < 3; k++) {
        for (int y = 0; y < 60; y++) {
            for (int x = 0; x < 70; x++) {
                const bool inside = x >= 9 && x < 59 && y >= 5 && y < 46;
                assert_int_equal(pixels[k][y][x],
                                 inside ? pixel(k, (uint32_t)(y - 5), (uint32_t)(x - 9), 16) : 7);
                assert_int_equal(mask[k][y][x], inside ? 255 : 0);
            }
        }
    }
    plain_item away = item;
    away.window.column = 1000;
    read_ok(&away, &how, NULL);
    assert_int_equal(pixels[2][59][69], 7);
    close_image(&i);
}

static const char scales_of_two_bands[] =
    "<GDALMetadata><Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.5</Item>"
    "<Item name=\"OFFSET\" sample=\"0\" role=\"offset\">-1</Item>"
    "<Item name=\"SCALE\" sample=\"1\" role=\"scale\">2</Item></GDALMetadata>";

/* The last pixel inside is nodata: the one outside, next to it, is the same. */
static void boundless_windows_are_nodata_outside(void **state)
{
    (void)state;
    enum { W = 20 };
    static const struct {
        bool scaled, nan, has_fill;
        double expected[2]; /* of each band */
        bool needs_scales;
    } cases[] = {
        {false, false, false, {323, 323}, false}, {true, false, false, {160.5, 646}, true},
        {false, true, false, {NAN, NAN}, false},  {true, true, false, {NAN, NAN}, false},
        {true, true, true, {0, 0}, false}, /* zero is a fill like any other */
    };
    tb *b = make_image(TB_CLASSIC, (tb_spec){.width = W, .height = 1, .bits = 16, .samples = 2});
    tb_set_text(b, 0, TZ_TAG_GDAL_NODATA, "323"); /* the first band's pixel of column 19 */
    tb_set_text(b, 0, TZ_TAG_GDAL_METADATA, scales_of_two_bands);
    image i = {.b = b, .file = open_filled(b)};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double pixels[2][W];
        uint8_t mask[2][W];
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        if (cases[k].needs_scales && !tz_build_feature("expat"))
            continue;
        how.boundless = true;
        how.scaled = cases[k].scaled;
        how.nodata_to_nan = cases[k].nan;
        how.has_fill = cases[k].has_fill;
        const plain_item item = {
            .file = i.file,
            .window = {1, 0, W, 1},
            .into =
                {.data = pixels, .dtype = TZ_DTYPE_FLOAT64, .bands = 2, .height = 1, .width = W},
            .mask = {.data = mask, .dtype = TZ_DTYPE_UINT8, .bands = 2, .height = 1, .width = W}};
        read_ok(&item, &how, NULL);
        for (int band = 0; band < 2; band++) {
            assert_memory_equal(&pixels[band][W - 1], &cases[k].expected[band], sizeof(double));
            assert_int_equal(mask[band][W - 1], 0);
        }
        assert_int_equal(mask[0][W - 2], 0);
        assert_int_equal(mask[1][W - 2], 255);
        if (!how.has_fill)
            assert_memory_equal(&pixels[0][W - 2], &pixels[0][W - 1], sizeof(double));
    }
    close_image(&i);
}

/* ---- values ---- */

static void values_are_cast_scaled_and_masked(void **state)
{
    (void)state;
    tb *b = make_image(TB_CLASSIC, (tb_spec){.width = 20, .height = 1, .bits = 16});
    tb_set_text(b, 0, TZ_TAG_GDAL_NODATA, "34"); /* the pixel of column 2 */
    tb_set_text(b, 0, TZ_TAG_GDAL_METADATA,
                "<GDALMetadata><Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.5</Item>"
                "<Item name=\"OFFSET\" sample=\"0\" role=\"offset\">-1</Item></GDALMetadata>");
    image i = {.b = b, .file = open_filled(b)};
    uint8_t bytes[20];
    float floats[20];
    uint8_t mask[20];
    plain_item item = {
        .file = i.file,
        .into = {.data = bytes, .dtype = TZ_DTYPE_UINT8, .bands = 1, .height = 1, .width = 20}};
    read_ok(&item, NULL, NULL);
    assert_int_equal(bytes[14], 238);
    assert_int_equal(bytes[19], 255); /* 323 */

    item.into.data = floats;
    item.into.dtype = TZ_DTYPE_FLOAT32;
    item.mask = (tz_buffer){.struct_size = sizeof(tz_buffer),
                            .data = mask,
                            .dtype = TZ_DTYPE_UINT8,
                            .bands = 1,
                            .height = 1,
                            .width = 20};
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.scaled = true;
    how.nodata_to_nan = true;
    read_ok(&item, &how, NULL);
    const bool metadata = tz_build_feature("expat") != NULL;
    assert_true(isnan(floats[2]));
    assert_true(floats[3] == (metadata ? 24.5f : 51.0f));
    assert_int_equal(mask[2], 0);
    assert_int_equal(mask[3], 255);
    close_image(&i);
}

static void sparse_tiles_are_nodata(void **state)
{
    (void)state;
    tb_spec spec = {
        .width = 40, .height = 40, .tile_width = 16, .tile_height = 16, .bits = 8, .sparse = true};
    tb *b = tb_new(TB_BIGTIFF);
    tb_image(b, &spec);
    tb_set_text(b, 0, TZ_TAG_GDAL_NODATA, "9");
    b->ifds[0].spec.sparse = true;
    image i = {.b = b, .file = open_filled(b)};
    uint8_t pixels[1600];
    plain_report report;
    const plain_item item = {
        .file = i.file,
        .into = {.data = pixels, .dtype = TZ_DTYPE_UINT8, .bands = 1, .height = 40, .width = 40}};
    read_ok(&item, NULL, &report);
    for (size_t k = 0; k < sizeof pixels; k++)
        assert_int_equal(pixels[k], 9);
    assert_int_equal(report.tiles_sparse, 9);
    assert_int_equal(report.bytes_read, 0);
    close_image(&i);
}

/* ---- errors ---- */

static void wrong_arguments_are_refused_before_any_pixel(void **state)
{
    (void)state;
    image i = open_image(TB_CLASSIC, tiled);
    uint16_t pixels[3 * 4 * 4];
    const uint32_t no_band = 3;
    const plain_item good = {
        .file = i.file,
        .window = {0, 0, 4, 4},
        .into = {.data = pixels, .dtype = TZ_DTYPE_UINT16, .bands = 3, .height = 4, .width = 4}};
    read_ok(&good, NULL, NULL);
    plain_item bad = good;
    bad.file = NULL;
    read_fails(&bad, NULL, TZ_ERR_ARG, TZ_CAUSE_ARG);
    bad = good, bad.level = 1;
    read_fails(&bad, NULL, TZ_ERR_ARG, TZ_CAUSE_ARG);
    bad = good, bad.window.column = 47;
    read_fails(&bad, NULL, TZ_ERR_ARG, TZ_CAUSE_ARG);
    bad = good, bad.window.row = -1;
    read_fails(&bad, NULL, TZ_ERR_ARG, TZ_CAUSE_ARG);
    bad = good, bad.window.row = INT64_MAX;
    read_fails(&bad, NULL, TZ_ERR_ARG, TZ_CAUSE_ARG);
    bad = good, bad.window.height = 0;
    read_fails(&bad, NULL, TZ_ERR_ARG, TZ_CAUSE_ARG);
    bad = good, bad.into.data = NULL;
    read_fails(&bad, NULL, TZ_ERR_ARG, TZ_CAUSE_ARG);
    bad = good, bad.into.bands = 2;
    read_fails(&bad, NULL, TZ_ERR_ARG, TZ_CAUSE_ARG);
    bad = good, bad.into.width = 5;
    read_fails(&bad, NULL, TZ_ERR_ARG, TZ_CAUSE_ARG);
    bad = good, bad.into.dtype = TZ_DTYPE_NONE;
    read_fails(&bad, NULL, TZ_ERR_ARG, TZ_CAUSE_ARG);
    bad = good, bad.bands = &no_band, bad.band_count = 1, bad.into.bands = 1;
    read_fails(&bad, NULL, TZ_ERR_ARG, TZ_CAUSE_ARG);
    bad = good, bad.mask = good.into;
    read_fails(&bad, NULL, TZ_ERR_ARG, TZ_CAUSE_ARG);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.max_host_bytes = 1;
    read_fails(&good, &how, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT);
    close_image(&i);
}

static void a_tile_that_is_not_all_there_is_an_error_with_its_number(void **state)
{
    (void)state;
    tb *b = make_image(TB_CLASSIC, tiled);
    tb_finish(b);
    for (uint64_t k = 0; k < b->ifds[0].tile_count; k++)
        fill_tile(b, 0, k);
    tz_file *file = NULL;
    tz_error err;
    /* the last tile in the file loses its end */
    assert_int_equal(tz_open_memory(&file, b->data, b->size - 10, NULL, &err), TZ_OK);
    uint16_t pixels[3 * 50 * 41];
    const plain_item item = {
        .file = file,
        .into = {.data = pixels, .dtype = TZ_DTYPE_UINT16, .bands = 3, .height = 41, .width = 50}};
    assert_int_equal(plain_read(&item, NULL, NULL, &err), TZ_ERR_FORMAT);
    assert_int_equal(err.cause, TZ_CAUSE_TRUNCATED);
    assert_int_equal(err.tile, b->ifds[0].tile_count - 1);
    tz_close(file);
    tb_free(b);
}

static bool stop_at(void *user, uint64_t done, uint64_t total)
{
    (void)total;
    return done < *(const uint64_t *)user;
}

static void progress_can_cancel(void **state)
{
    (void)state;
    image i = open_image(TB_CLASSIC, tiled);
    uint16_t pixels[3 * 50 * 41];
    uint64_t stop = 0;
    const plain_item item = {
        .file = i.file,
        .into = {.data = pixels, .dtype = TZ_DTYPE_UINT16, .bands = 3, .height = 41, .width = 50}};
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.progress = (tz_progress){stop_at, &stop};
    tz_error err;
    assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_ERR_CANCELLED);
    stop = UINT64_MAX;
    read_ok(&item, &how, NULL);
    close_image(&i);
}

static void every_allocation_fails_in_turn(void **state)
{
    (void)state;
    tb_spec spec = tiled;
    spec.planar = 2;
    image i = open_image(TB_CLASSIC, spec);
    uint16_t pixels[3 * 50 * 41];
    const plain_item item = {
        .file = i.file,
        .into = {.data = pixels, .dtype = TZ_DTYPE_UINT16, .bands = 3, .height = 41, .width = 50}};
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.scaled = true;
    how.threads = 2;
    for (uint64_t n = 1;; n++) {
        tz_error err;
        alloc_hook_install();
        alloc_hook_fail_at(n, true);
        const tz_result result = plain_read(&item, &how, NULL, &err);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_int_equal(stats.live_bytes, 0);
        if (result == TZ_OK) {
            assert_true(n > 3);
            break;
        }
        assert_int_equal(result, TZ_ERR_NOMEM);
    }
    close_image(&i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_width_and_byte_order),
        cmocka_unit_test(random_windows_and_bands_equal_slices),
        cmocka_unit_test(items_that_share_tiles_read_them_once),
        cmocka_unit_test(boundless_windows_are_filled),
        cmocka_unit_test(boundless_windows_are_nodata_outside),
        cmocka_unit_test(values_are_cast_scaled_and_masked),
        cmocka_unit_test(sparse_tiles_are_nodata),
        cmocka_unit_test(wrong_arguments_are_refused_before_any_pixel),
        cmocka_unit_test(a_tile_that_is_not_all_there_is_an_error_with_its_number),
        cmocka_unit_test(progress_can_cancel),
        cmocka_unit_test(every_allocation_fails_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
