/* SPDX-License-Identifier: Apache-2.0
 * Buffers of another size than the window: which level is read, which pixels make a new one. */
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
#include "support/resample_rules.h"

static plane level_plane(uint32_t band, uint32_t width, uint32_t height, double nodata)
{
    double *values = malloc(sizeof *values * width * height);
    for (uint32_t k = 0; k < width * height; k++) {
        values[k] = (double)pixel(band, k / width, k % width, 16);
        if (values[k] == nodata)
            values[k] = (double)NAN;
    }
    return (plane){width, height, values};
}

static void check_window(const image *i, uint32_t level, tz_window window, uint32_t width,
                         uint32_t height, tz_resampling method, double nodata)
{
    double *pixels = malloc(sizeof *pixels * width * height * 3);
    uint8_t *mask = malloc((size_t)width * height * 3);
    const plain_item item = {
        .file = i->file,
        .level = level,
        .window = window,
        .into = {.data = pixels,
                 .dtype = TZ_DTYPE_FLOAT64,
                 .bands = 3,
                 .height = height,
                 .width = width},
        .mask =
            {.data = mask, .dtype = TZ_DTYPE_UINT8, .bands = 3, .height = height, .width = width},
    };
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.resampling = method;
    how.nodata_to_nan = true;
    how.threads = 2;
    read_ok(&item, &how, NULL);
    const tz_level *shape = tz_file_get_level(i->file, level);
    for (uint32_t band = 0; band < 3; band++) {
        const plane p = level_plane(band, shape->width, shape->height, nodata);
        for (uint32_t k = 0; k < width * height; k++) {
            const ruler across = {(double)window.column, (double)window.width / width};
            const ruler down = {(double)window.row, (double)window.height / height};
            const double expected =
                rule_pixel(&p, method, false, across, down, k % width, k / width);
            const double found = pixels[band * (size_t)width * height + k];
            if (isnan(expected))
                assert_true(isnan(found));
            else
                assert_true(fabs(found - expected) <= 1e-9 * fabs(expected));
            assert_int_equal(mask[band * (size_t)width * height + k], isnan(expected) ? 0 : 255);
        }
        free(p.values);
    }
    free(pixels);
    free(mask);
}

static void every_method_at_every_scale(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{25, 41}, {7, 5},   {1, 1},    {50, 20},
                                        {49, 40}, {77, 90}, {100, 82}, {3, 82}};
    for (uint32_t variant = 0; variant < 4; variant++) {
        tb_spec spec = tiled;
        spec.planar = variant & 1 ? 2 : 1;
        tb *b = make_image(variant & 2 ? TB_BIG_ENDIAN : TB_CLASSIC, spec);
        tb_set_text(b, 0, 42113, "2018"); /* band 2, row 0, column 0, and others */
        image i = open_built(b);
        for (int method = TZ_RESAMPLING_NEAREST; method <= TZ_RESAMPLING_MEDIAN; method++) {
            for (size_t k = variant; k < sizeof sizes / sizeof sizes[0]; k += 4) {
                const tz_window all = {0, 0, 50, 41};
                const tz_window part = {13, 7, 29, 31};
                check_window(&i, 0, all, sizes[k][0], sizes[k][1], (tz_resampling)method, 2018);
                check_window(&i, 0, part, sizes[k][0], sizes[k][1], (tz_resampling)method, 2018);
            }
        }
        close_image(&i);
    }
}

/* ---- levels ---- */

/* 200 x 160 with overviews of 100 x 80 and 50 x 40; the pixels of each show where they are from. */
static image open_pyramid(void)
{
    tb_spec spec = {
        .width = 200, .height = 160, .tile_width = 32, .tile_height = 32, .bits = 16, .samples = 1};
    tb *b = make_image(TB_CLASSIC, spec);
    for (uint32_t k = 1; k < 3; k++) {
        tb_spec reduced = b->ifds[0].spec;
        reduced.width = 200 >> k;
        reduced.height = 160 >> k;
        reduced.subfile = 1;
        const int ifd = tb_image(b, &reduced);
        b->ifds[ifd].spec = reduced;
    }
    return open_built(b);
}

static plain_outcome read_auto(const image *i, tz_window window, uint32_t width, uint32_t height,
                               tz_resampling method, uint16_t *pixels)
{
    plain_outcome outcome = {0};
    const plain_item item = {.file = i->file,
                             .level = TZ_LEVEL_AUTO,
                             .window = window,
                             .into = {.data = pixels,
                                      .dtype = TZ_DTYPE_UINT16,
                                      .bands = 1,
                                      .height = height,
                                      .width = width},
                             .outcome = &outcome};
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.resampling = method;
    read_ok(&item, &how, NULL);
    return outcome;
}

static void the_coarsest_level_that_is_fine_enough_is_read(void **state)
{
    (void)state;
    static const struct {
        uint32_t width, height, level;
        bool resampled;
    } cases[] = {{200, 160, 0, false}, {300, 300, 0, true}, {199, 159, 0, true}, {101, 80, 0, true},
                 {100, 80, 1, false},  {99, 80, 1, true},   {51, 40, 1, true},   {50, 41, 1, true},
                 {50, 40, 2, false},   {49, 40, 2, true},   {1, 1, 2, true}};
    image i = open_pyramid();
    assert_int_equal(i.info->level_count, 3);
    uint16_t *pixels = malloc(sizeof *pixels * 300 * 300);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const tz_window all = {0, 0, 200, 160};
        const plain_outcome outcome =
            read_auto(&i, all, cases[k].width, cases[k].height, TZ_RESAMPLING_NEAREST, pixels);
        assert_int_equal(outcome.level, cases[k].level);
        assert_int_equal(outcome.resampled, cases[k].resampled);
    }
    /* a part of it that the overview has exactly */
    const tz_window part = {40, 80, 100, 40};
    const plain_outcome outcome = read_auto(&i, part, 25, 10, TZ_RESAMPLING_AVERAGE, pixels);
    assert_int_equal(outcome.level, 2);
    assert_false(outcome.resampled);
    assert_int_equal(outcome.window.column, 10);
    assert_int_equal(outcome.window.row, 20);
    for (uint32_t k = 0; k < 250; k++)
        assert_int_equal(pixels[k], pixel(0, 20 + k / 25, 10 + k % 25, 16));
    free(pixels);
    close_image(&i);
}

static void another_size_without_a_method_is_an_error(void **state)
{
    (void)state;
    image i = open_pyramid();
    uint16_t pixels[100];
    const plain_item item = {
        .file = i.file,
        .into = {.data = pixels, .dtype = TZ_DTYPE_UINT16, .bands = 1, .height = 10, .width = 10}};
    read_fails(&item, NULL, TZ_ERR_ARG, TZ_CAUSE_ARG);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.resampling = (tz_resampling)77;
    read_fails(&item, &how, TZ_ERR_ARG, TZ_CAUSE_ARG);
    close_image(&i);
}

/* ---- fill, memory, outcomes ---- */

static void outside_of_the_level_is_fill(void **state)
{
    (void)state;
    image i = open_pyramid();
    for (int method = TZ_RESAMPLING_NEAREST; method <= TZ_RESAMPLING_MEDIAN; method++) {
        uint16_t pixels[60 * 60];
        uint8_t mask[60 * 60];
        const plain_item item = {
            .file = i.file,
            .window = {-100, -100, 400, 400},
            .into =
                {.data = pixels, .dtype = TZ_DTYPE_UINT16, .bands = 1, .height = 60, .width = 60},
            .mask = {.data = mask, .dtype = TZ_DTYPE_UINT8, .bands = 1, .height = 60, .width = 60}};
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        how.resampling = (tz_resampling)method;
        how.boundless = true;
        how.has_fill = true, how.fill = 60000;
        read_ok(&item, &how, NULL);
        for (uint32_t k = 0; k < 3600; k++) {
            /* well inside or well outside: 15 to 44 across, 15 to 38 down */
            const uint32_t x = k % 60;
            const uint32_t y = k / 60;
            if (x < 13 || x > 46 || y < 13 || y > 40) {
                assert_int_equal(pixels[k], 60000);
                assert_int_equal(mask[k], 0);
            }
            if (x > 15 && x < 44 && y > 15 && y < 38) {
                assert_int_not_equal(pixels[k], 60000);
                assert_int_equal(mask[k], 255);
            }
        }
    }
    close_image(&i);
}

/* Above and beside the level, where it is resampled: as a nodata pixel that is just copied. */
static void outside_of_the_level_is_nodata(void **state)
{
    (void)state;
    tb *b = make_image(TB_CLASSIC, (tb_spec){.width = 40, .height = 30, .bits = 16});
    tb_set_text(b, 0, TZ_TAG_GDAL_NODATA, "65535");
    image i = {.b = b, .file = open_filled(b)};
    for (int method = TZ_RESAMPLING_NEAREST; method <= TZ_RESAMPLING_MEDIAN; method++) {
        for (int nan = 0; nan < 2; nan++) {
            float pixels[30 * 30];
            tz_read_options how = TZ_READ_OPTIONS_INIT;
            const plain_item item = {.file = i.file,
                                     .window = {-40, -30, 60, 60},
                                     .into = {.data = pixels,
                                              .dtype = TZ_DTYPE_FLOAT32,
                                              .bands = 1,
                                              .height = 30,
                                              .width = 30}};
            how.resampling = (tz_resampling)method;
            how.boundless = true;
            how.nodata_to_nan = nan;
            read_ok(&item, &how, NULL);
            assert_true(nan ? isnan(pixels[0]) : pixels[0] == 65535);
            assert_true(nan ? isnan(pixels[29 * 30]) : pixels[29 * 30] == 65535);
            assert_true(pixels[29 * 30 + 29] < 65535);
        }
    }
    close_image(&i);
}

static void little_memory_gives_the_same_pixels(void **state)
{
    (void)state;
    image i = open_pyramid();
    for (int method = TZ_RESAMPLING_NEAREST; method <= TZ_RESAMPLING_MEDIAN; method++) {
        uint16_t much[40 * 30];
        uint16_t little[40 * 30];
        plain_item item = {
            .file = i.file,
            .into = {
                .data = much, .dtype = TZ_DTYPE_UINT16, .bands = 1, .height = 30, .width = 40}};
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        plain_report report;
        how.resampling = (tz_resampling)method;
        read_ok(&item, &how, &report);
        item.into.data = little;
        how.max_host_bytes = 80000;
        how.threads = 1;
        alloc_hook_install();
        read_ok(&item, &how, &report);
        alloc_hook_remove();
        assert_memory_equal(much, little, sizeof much);
        how.max_host_bytes = 2000; /* less than a tile */
        read_fails(&item, &how, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT);
    }
    close_image(&i);
}

/* One makes many pixels of few, the other few of many: a thread's memory serves both. */
static void several_sizes_in_one_call(void **state)
{
    (void)state;
    image i = open_pyramid();
    enum { WIDE = 1500 };
    uint16_t *wide = malloc(sizeof *wide * WIDE * 3);
    uint16_t *wide_alone = malloc(sizeof *wide * WIDE * 3);
    for (int method = TZ_RESAMPLING_NEAREST; method <= TZ_RESAMPLING_MEDIAN; method++) {
        uint16_t small[2 * 2];
        uint16_t small_alone[2 * 2];
        plain_item items[2] = {
            {.file = i.file,
             .window = {0, 0, 2, 2},
             .into =
                 {.data = wide, .dtype = TZ_DTYPE_UINT16, .bands = 1, .height = 3, .width = WIDE}},
            {.file = i.file,
             .into = {
                 .data = small, .dtype = TZ_DTYPE_UINT16, .bands = 1, .height = 2, .width = 2}}};
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        tz_error err;
        how.resampling = (tz_resampling)method;
        assert_int_equal(plain_read_batch(items, 2, &how, NULL, &err), TZ_OK);
        items[0].into.data = wide_alone;
        items[1].into.data = small_alone;
        read_ok(&items[0], &how, NULL);
        read_ok(&items[1], &how, NULL);
        assert_memory_equal(wide, wide_alone, sizeof *wide * WIDE * 3);
        assert_memory_equal(small, small_alone, sizeof small);
    }
    free(wide);
    free(wide_alone);
    close_image(&i);
}

static void bad_tiles_are_not_averaged(void **state)
{
    (void)state;
    tb *b = make_image(TB_CLASSIC, tiled);
    tb_finish(b);
    tb_patch_tile(b, 0, 2, b->size - 1, 3072); /* columns 32 to 47 of the first 32 rows */
    image i = open_built(b);
    double pixels[3 * 25 * 20];
    uint8_t mask[3 * 25 * 20];
    tz_tile_status list[8];
    plain_outcome outcome = {.tiles = list, .tile_room = 8};
    const plain_item item = {
        .file = i.file,
        .window = {0, 0, 50, 40},
        .into = {.data = pixels, .dtype = TZ_DTYPE_FLOAT64, .bands = 3, .height = 20, .width = 25},
        .mask = {.data = mask, .dtype = TZ_DTYPE_UINT8, .bands = 3, .height = 20, .width = 25},
        .outcome = &outcome};
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.resampling = TZ_RESAMPLING_AVERAGE;
    read_ok(&item, &how, NULL);
    assert_int_equal(outcome.tile_count, 8);
    assert_int_equal(outcome.tiles_failed, 1);
    assert_int_equal(list[2].result, TZ_ERR_FORMAT);
    for (uint32_t k = 0; k < 3 * 500; k++) {
        const uint32_t x = k % 25;
        const uint32_t y = k % 500 / 25;
        const bool bad = x >= 16 && x < 24 && y < 16;
        const double first = (double)pixel(k / 500, 2 * y, 2 * x, 16);
        assert_int_equal(mask[k], bad ? 0 : 255);
        if (!bad)
            assert_true(pixels[k] == first + (131 + 17) / 2.0);
    }
    close_image(&i);
}

/* ---- parts ---- */

/* 100 x 80 with an overview of 50 x 40, of the given orientation, with nodata. */
static image open_turned(uint16_t orientation)
{
    tb_spec spec = {
        .width = 100, .height = 80, .tile_width = 32, .tile_height = 16, .bits = 16, .samples = 1};
    tb *b = make_image(TB_CLASSIC, spec);
    tb_spec reduced = b->ifds[0].spec;
    reduced.width = 50;
    reduced.height = 40;
    reduced.subfile = 1;
    b->ifds[tb_image(b, &reduced)].spec = reduced;
    TB_SHORTS(b, 0, TZ_TAG_ORIENTATION, orientation);
    tb_set_text(b, 0, TZ_TAG_GDAL_NODATA, "1444");
    return open_built(b);
}

enum { MAX_PART_SIDE = 160, PART_LINES = 4 };

/* The item, of one band of doubles with a mask, in parts of uneven size by one call, and at once.
 */
static void check_parts(plain_item item, const tz_read_options *how, bool with_mask)
{
    static double whole[MAX_PART_SIDE * MAX_PART_SIDE], parts[MAX_PART_SIDE * MAX_PART_SIDE];
    static uint8_t whole_mask[MAX_PART_SIDE * MAX_PART_SIDE];
    static uint8_t parts_mask[MAX_PART_SIDE * MAX_PART_SIDE];
    const uint32_t width = item.into.width, height = item.into.height;
    const uint32_t columns[PART_LINES + 1] = {0, 1, width / 3, width / 2 + 1, width};
    const uint32_t rows[PART_LINES + 1] = {0, height / 4, height / 2, height - 1, height};
    plain_item items[PART_LINES * PART_LINES];
    tz_error err;
    size_t count = 0, used = 0;
    assert_true(width <= MAX_PART_SIDE && height <= MAX_PART_SIDE);
    item.into.dtype = TZ_DTYPE_FLOAT64;
    item.into.bands = 1;
    item.into.data = whole;
    if (with_mask) {
        item.mask = item.into;
        item.mask.dtype = TZ_DTYPE_UINT8;
        item.mask.data = whole_mask;
    }
    memset(whole, 1, sizeof whole);
    memset(parts, 2, sizeof parts);
    memset(parts_mask, 3, sizeof parts_mask);
    read_ok(&item, how, NULL);
    for (size_t y = 0; y < PART_LINES; y++) {
        for (size_t x = 0; x < PART_LINES; x++) {
            plain_item *part = &items[count];
            *part = item;
            part->grid_width = width;
            part->grid_height = height;
            part->grid_column = columns[x];
            part->grid_row = rows[y];
            part->into.data = parts + used;
            part->into.width = part->mask.width = columns[x + 1] - columns[x];
            part->into.height = part->mask.height = rows[y + 1] - rows[y];
            if (with_mask)
                part->mask.data = parts_mask + used;
            used += (size_t)part->into.width * part->into.height;
            count += part->into.width > 0 && part->into.height > 0;
        }
    }
    if (plain_read_batch(items, count, how, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    assert_int_equal(used, width * height);
    for (size_t i = 0; i < count; i++) {
        const plain_item *part = &items[i];
        for (uint32_t y = 0; y < part->into.height; y++) {
            const size_t from = (size_t)(part->grid_row + y) * width + part->grid_column;
            const size_t at = (size_t)y * part->into.width;
            assert_memory_equal((double *)part->into.data + at, whole + from,
                                part->into.width * sizeof *whole);
            if (with_mask)
                assert_memory_equal((uint8_t *)part->mask.data + at, whole_mask + from,
                                    part->into.width);
        }
    }
}

static void parts_are_those_of_the_whole(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{31, 27}, {150, 19}, {50, 40}, {7, 130}, {37, 37}};
    static const tz_window windows[] = {{0}, {13, 7, 61, 55}, {-20, -11, 120, 140}};
    size_t turn = 0;
    for (uint16_t orientation = 1; orientation <= 8; orientation++) {
        image i = open_turned(orientation);
        for (int method = TZ_RESAMPLING_NEAREST; method <= TZ_RESAMPLING_MEDIAN; method++) {
            for (size_t w = 0; w < 3; w++, turn++) {
                plain_item item = {
                    .file = i.file,
                    .level = turn % 2 ? TZ_LEVEL_AUTO : 0,
                    .window = windows[w],
                    .into = {.width = sizes[turn % 5][0], .height = sizes[turn % 5][1]}};
                tz_read_options how = TZ_READ_OPTIONS_INIT;
                how.resampling = (tz_resampling)method;
                how.oriented = true;
                how.boundless = w == 2;
                how.nodata_to_nan = turn % 3 == 0;
                how.salvage = turn % 7 == 0;
                how.threads = 1 + turn % 2;
                check_parts(item, &how, turn % 4 < 3);
                if (turn % 3 == 1) { /* in blocks */
                    how.max_host_bytes = 100000;
                    how.threads = 1;
                    check_parts(item, &how, true);
                }
            }
        }
        close_image(&i);
    }
}

/* Parts of a result that has the level's own pixels, by level 0, 1 and the one that fits. */
static void parts_of_what_is_not_resampled(void **state)
{
    (void)state;
    for (uint16_t orientation = 1; orientation <= 8; orientation++) {
        image i = open_turned(orientation);
        const bool swaps = orientation >= 5;
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        how.oriented = true;
        how.boundless = true;
        plain_item item = {
            .file = i.file, .window = {-3, 5, 70, 90}, .into = {.width = 70, .height = 90}};
        check_parts(item, &how, true);
        item.level = 1;
        check_parts(item, &how, true);
        item.level = TZ_LEVEL_AUTO;
        item.window = (tz_window){0};
        item.into.width = swaps ? 40 : 50;
        item.into.height = swaps ? 50 : 40;
        check_parts(item, &how, true);
        close_image(&i);
    }
}

/* Only tiles under a part are read, and its statuses are those of these tiles. */
static void a_part_reads_its_own_tiles_only(void **state)
{
    (void)state;
    image i = open_pyramid();
    uint16_t pixels[5 * 4];
    tz_tile_status list[35];
    plain_outcome outcome = {.tiles = list, .tile_room = 35};
    plain_report report;
    const plain_item item = {
        .file = i.file,
        .into = {.data = pixels, .dtype = TZ_DTYPE_UINT16, .bands = 1, .height = 4, .width = 5},
        .outcome = &outcome,
        .grid_width = 20,
        .grid_height = 16,
        .grid_column = 15,
        .grid_row = 12};
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.resampling = TZ_RESAMPLING_AVERAGE;
    read_ok(&item, &how, &report);
    assert_int_equal(report.tiles, 6); /* columns 150 to 199, rows 120 to 159 */
    assert_int_equal(outcome.window.column, 150);
    assert_int_equal(outcome.window.row, 120);
    assert_int_equal(outcome.window.width, 50);
    assert_int_equal(outcome.window.height, 40);
    assert_int_equal(outcome.tile_count, 6);
    assert_int_equal(list[0].tile, 3 * 7 + 4);
    close_image(&i);
}

static void parts_beyond_the_grid_are_errors(void **state)
{
    (void)state;
    static const struct {
        uint32_t width, height, column, row;
    } grids[] = {{9, 0, 0, 0},
                 {0, 9, 0, 0},
                 {0, 0, 1, 0},
                 {0, 0, 0, 1},
                 {20, 20, 11, 0},
                 {20, 20, 0, 11},
                 {20, 20, UINT32_MAX, 0},
                 {20, 20, 0, UINT32_MAX},
                 {20, 5, 0, 0},
                 {UINT32_MAX, 20, UINT32_MAX - 9, 0}};
    for (uint16_t orientation = 1; orientation <= 8; orientation++) {
        image i = open_turned(orientation);
        uint16_t pixels[100];
        plain_item item = {
            .file = i.file,
            .into = {
                .data = pixels, .dtype = TZ_DTYPE_UINT16, .bands = 1, .height = 10, .width = 10}};
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        how.resampling = TZ_RESAMPLING_NEAREST;
        how.oriented = true;
        for (size_t k = 0; k < sizeof grids / sizeof grids[0]; k++) {
            item.grid_width = grids[k].width;
            item.grid_height = grids[k].height;
            item.grid_column = grids[k].column;
            item.grid_row = grids[k].row;
            read_fails(&item, &how, TZ_ERR_ARG, TZ_CAUSE_ARG);
        }
        item.grid_width = UINT32_MAX;
        item.grid_height = 10;
        item.grid_column = UINT32_MAX - 10;
        item.grid_row = 0;
        read_ok(&item, &how, NULL);
        how.resampling = TZ_RESAMPLING_NONE;
        read_fails(&item, &how, TZ_ERR_ARG, TZ_CAUSE_ARG);
        close_image(&i);
    }
}

static void bad_tiles_of_parts_are_those_of_the_whole(void **state)
{
    (void)state;
    for (int method = TZ_RESAMPLING_NEAREST; method <= TZ_RESAMPLING_MEDIAN; method++) {
        tb *b = make_image(TB_CLASSIC, tiled);
        tb_finish(b);
        tb_patch_tile(b, 0, 2, b->size - 1, 3072);
        image i = open_built(b);
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        const uint32_t first = 1;
        how.resampling = (tz_resampling)method;
        how.salvage = true;
        check_parts((plain_item){.file = i.file,
                                 .bands = &first,
                                 .band_count = 1,
                                 .into = {.width = 23, .height = 60}},
                    &how, true);
        close_image(&i);
    }
}

/* Validity by a mask of the file, and by alpha; some pixels of both are 0. */
static void masks_of_parts_are_those_of_the_whole(void **state)
{
    (void)state;
    static const uint32_t band = 1;
    for (int method = TZ_RESAMPLING_NEAREST; method <= TZ_RESAMPLING_MEDIAN; method++) {
        for (int alpha = 0; alpha < 2; alpha++) {
            tb_spec spec = tiled;
            spec.bits = 8;
            tb *b = make_image(TB_CLASSIC, spec);
            if (alpha) {
                TB_SHORTS(b, 0, TZ_TAG_EXTRA_SAMPLES, 0, TZ_EXTRA_SAMPLE_ALPHA);
            } else {
                tb_spec mask = b->ifds[0].spec;
                mask.samples = 1;
                mask.tile_bytes /= 3;
                mask.photometric = 4;
                mask.subfile = 4;
                b->ifds[tb_image(b, &mask)].spec = mask;
            }
            image i = open_built(b);
            assert_int_equal(tz_file_get_mask(i.file, 0) != NULL, !alpha);
            tz_read_options how = TZ_READ_OPTIONS_INIT;
            how.resampling = (tz_resampling)method;
            check_parts((plain_item){.file = i.file,
                                     .bands = &band,
                                     .band_count = 1,
                                     .into = {.width = 41, .height = 60}},
                        &how, true);
            check_parts((plain_item){.file = i.file,
                                     .bands = &band,
                                     .band_count = 1,
                                     .into = {.width = 50, .height = 41}},
                        &how, true);
            close_image(&i);
        }
    }
}

static void every_allocation_fails_in_turn(void **state)
{
    (void)state;
    image i = open_pyramid();
    uint16_t pixels[20 * 20];
    uint8_t mask[20 * 20];
    const plain_item item = {
        .file = i.file,
        .into = {.data = pixels, .dtype = TZ_DTYPE_UINT16, .bands = 1, .height = 20, .width = 20},
        .mask = {.data = mask, .dtype = TZ_DTYPE_UINT8, .bands = 1, .height = 20, .width = 20}};
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.resampling = TZ_RESAMPLING_AVERAGE;
    how.threads = 1;
    for (uint64_t n = 1;; n++) {
        tz_error err;
        alloc_hook_install();
        alloc_hook_fail_at(n, true);
        const tz_result result = plain_read(&item, &how, NULL, &err);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_int_equal(stats.live_bytes, 0);
        if (result == TZ_OK) {
            assert_true(n > 6);
            break;
        }
        assert_int_equal(result, TZ_ERR_NOMEM);
    }
    close_image(&i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_at_every_scale),
        cmocka_unit_test(the_coarsest_level_that_is_fine_enough_is_read),
        cmocka_unit_test(another_size_without_a_method_is_an_error),
        cmocka_unit_test(outside_of_the_level_is_fill),
        cmocka_unit_test(outside_of_the_level_is_nodata),
        cmocka_unit_test(little_memory_gives_the_same_pixels),
        cmocka_unit_test(several_sizes_in_one_call),
        cmocka_unit_test(bad_tiles_are_not_averaged),
        cmocka_unit_test(parts_are_those_of_the_whole),
        cmocka_unit_test(parts_of_what_is_not_resampled),
        cmocka_unit_test(a_part_reads_its_own_tiles_only),
        cmocka_unit_test(parts_beyond_the_grid_are_errors),
        cmocka_unit_test(masks_of_parts_are_those_of_the_whole),
        cmocka_unit_test(bad_tiles_of_parts_are_those_of_the_whole),
        cmocka_unit_test(every_allocation_fails_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
