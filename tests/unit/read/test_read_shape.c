/* SPDX-License-Identifier: Apache-2.0
 * tz_read_resolve: the shape that a result will have, its transform, and the errors of a read. */
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

/* 200 x 120 pixels in tiles of 32 x 16, with overviews of 100 x 60 and 33 x 20. */
static image open_levels(uint16_t orientation, uint16_t bits, uint16_t samples)
{
    tb_spec spec = {.width = 200,
                    .height = 120,
                    .tile_width = 32,
                    .tile_height = 16,
                    .bits = bits,
                    .samples = samples};
    static const uint32_t sizes[2][2] = {{100, 60}, {33, 20}};
    tb *b = make_image(TB_CLASSIC, spec);
    for (uint32_t k = 0; k < 2; k++) {
        tb_spec reduced = b->ifds[0].spec;
        reduced.width = sizes[k][0];
        reduced.height = sizes[k][1];
        reduced.subfile = 1;
        b->ifds[tb_image(b, &reduced)].spec = reduced;
    }
    TB_SHORTS(b, 0, TZ_TAG_ORIENTATION, orientation);
    /* turned and sheared, so that no coefficient can be taken for another */
    TB_DOUBLES(b, 0, TZ_TAG_TRANSFORMATION, 10, 0.5, 0, 4e5, 0.25, -8, 0, 5e6, 0, 0, 0, 0, 0, 0, 0,
               1);
    return open_built(b);
}

static tz_read_shape resolve_ok(const tz_item *item, const tz_read_options *how)
{
    tz_read_shape shape = TZ_READ_SHAPE_INIT;
    tz_error err;
    if (tz_read_resolve(&shape, item, how, &err) != TZ_OK)
        fail_msg("%s", err.message);
    assert_int_equal(shape.struct_size, sizeof shape);
    return shape;
}

/* ---- sizes and levels ---- */

typedef struct shape_case {
    uint16_t orientation; /* 0: not oriented */
    uint32_t level;
    tz_window window;
    uint32_t width, height; /* asked for */
    uint32_t grid[4];
    uint32_t level_read;
    tz_window found;
    uint32_t found_width, found_height;
    bool resampled;
} shape_case;

static const shape_case shape_cases[] = {
    /* nothing is said: the level */
    {0, 0, {0}, 0, 0, {0}, 0, {0, 0, 200, 120}, 200, 120, false},
    {0, 1, {0}, 0, 0, {0}, 1, {0, 0, 100, 60}, 100, 60, false},
    {0, TZ_LEVEL_AUTO, {0}, 0, 0, {0}, 0, {0, 0, 200, 120}, 200, 120, false},
    {6, 0, {0}, 0, 0, {0}, 0, {0, 0, 120, 200}, 120, 200, false},
    {6, 2, {0}, 0, 0, {0}, 2, {0, 0, 20, 33}, 20, 33, false},
    /* a window */
    {0, 0, {-5, 7, 30, 11}, 0, 0, {0}, 0, {-5, 7, 30, 11}, 30, 11, false},
    {5, 1, {8, 9, 40, 80}, 0, 0, {0}, 1, {8, 9, 40, 80}, 40, 80, false},
    /* one side, or both */
    {0, 0, {0}, 100, 0, {0}, 0, {0, 0, 200, 120}, 100, 60, true},
    {0, 0, {0}, 0, 61, {0}, 0, {0, 0, 200, 120}, 102, 61, true},
    {0, TZ_LEVEL_AUTO, {0}, 100, 0, {0}, 1, {0, 0, 200, 120}, 100, 60, false},
    {0, TZ_LEVEL_AUTO, {0}, 0, 59, {0}, 1, {0, 0, 200, 120}, 98, 59, true},
    {0, TZ_LEVEL_AUTO, {0}, 33, 20, {0}, 2, {0, 0, 200, 120}, 33, 20, false},
    {0, TZ_LEVEL_AUTO, {20, 40, 100, 10}, 1, 0, {0}, 2, {20, 40, 100, 10}, 1, 1, true},
    {8, TZ_LEVEL_AUTO, {0}, 60, 0, {0}, 1, {0, 0, 120, 200}, 60, 100, false},
    {7, TZ_LEVEL_AUTO, {0}, 0, 50, {0}, 1, {0, 0, 120, 200}, 30, 50, true},
    /* parts of a grid: the rest of it, or what is asked for */
    {0, TZ_LEVEL_AUTO, {0}, 0, 0, {100, 60, 90, 10}, 1, {0, 0, 200, 120}, 10, 50, false},
    {0, TZ_LEVEL_AUTO, {0}, 3, 4, {100, 60, 90, 10}, 1, {0, 0, 200, 120}, 3, 4, false},
    {0, 0, {0}, 0, 0, {50, 0, 10, 0}, 0, {0, 0, 200, 120}, 40, 30, true},
    {6, TZ_LEVEL_AUTO, {0}, 0, 0, {60, 100, 50, 10}, 1, {0, 0, 120, 200}, 10, 90, false},
};

static void sizes_and_levels(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shape_cases / sizeof shape_cases[0]; k++) {
        const shape_case *c = &shape_cases[k];
        image i = open_levels(c->orientation ? c->orientation : 6, 16, 2);
        tz_buffer into = TZ_BUFFER_INIT;
        tz_item item = TZ_ITEM_INIT;
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        into.width = c->width;
        into.height = c->height;
        item.file = i.file;
        item.level = c->level;
        item.window = c->window;
        item.into = c->width || c->height ? &into : NULL;
        item.grid_width = c->grid[0];
        item.grid_height = c->grid[1];
        item.grid_column = c->grid[2];
        item.grid_row = c->grid[3];
        how.oriented = c->orientation != 0;
        how.boundless = true;
        how.resampling = TZ_RESAMPLING_BILINEAR;
        const tz_read_shape shape = resolve_ok(&item, &how);
        assert_int_equal(shape.level, c->level_read);
        assert_memory_equal(&shape.window, &c->found, sizeof c->found);
        assert_int_equal(shape.width, c->found_width);
        assert_int_equal(shape.height, c->found_height);
        assert_int_equal(shape.bands, 2);
        assert_int_equal(shape.dtype, TZ_DTYPE_UINT16);
        assert_int_equal(shape.resampled, c->resampled);
        close_image(&i);
    }
}

/* ---- types ---- */

static void types(void **state)
{
    (void)state;
    static const struct {
        uint16_t bits, format;
        tz_dtype stored, as_float;
    } cases[] = {{8, TZ_SAMPLE_FORMAT_UINT, TZ_DTYPE_UINT8, TZ_DTYPE_FLOAT32},
                 {16, TZ_SAMPLE_FORMAT_INT, TZ_DTYPE_INT16, TZ_DTYPE_FLOAT32},
                 {32, TZ_SAMPLE_FORMAT_UINT, TZ_DTYPE_UINT32, TZ_DTYPE_FLOAT64},
                 {64, TZ_SAMPLE_FORMAT_INT, TZ_DTYPE_INT64, TZ_DTYPE_FLOAT64},
                 {16, TZ_SAMPLE_FORMAT_FLOAT, TZ_DTYPE_FLOAT16, TZ_DTYPE_FLOAT16},
                 {64, TZ_SAMPLE_FORMAT_FLOAT, TZ_DTYPE_FLOAT64, TZ_DTYPE_FLOAT64},
                 {32, TZ_SAMPLE_FORMAT_COMPLEX_INT, TZ_DTYPE_COMPLEX_INT16, TZ_DTYPE_COMPLEX_INT16},
                 /* samples that have no type */
                 {40, TZ_SAMPLE_FORMAT_FLOAT, TZ_DTYPE_UINT8, TZ_DTYPE_FLOAT32}};
    static const double one = 1;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        image i = open_image(TB_CLASSIC, (tb_spec){.width = 16,
                                                   .height = 16,
                                                   .bits = cases[k].bits,
                                                   .sample_format = cases[k].format});
        tz_item item = TZ_ITEM_INIT;
        tz_buffer into = TZ_BUFFER_INIT;
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        item.file = i.file;
        assert_int_equal(resolve_ok(&item, NULL).dtype, cases[k].stored);
        how.scaled = true;
        assert_int_equal(resolve_ok(&item, &how).dtype, cases[k].as_float);
        how.scaled = false, how.nodata_to_nan = true;
        assert_int_equal(resolve_ok(&item, &how).dtype, cases[k].as_float);
        item.scales = &one;
        assert_int_equal(resolve_ok(&item, NULL).dtype, cases[k].as_float);
        item.scales = NULL, item.offsets = &one;
        assert_int_equal(resolve_ok(&item, NULL).dtype, cases[k].as_float);
        into.dtype = TZ_DTYPE_INT32;
        item.into = &into;
        assert_int_equal(resolve_ok(&item, &how).dtype, TZ_DTYPE_INT32);
        close_image(&i);
    }
}

static void masks_keep_their_type(void **state)
{
    (void)state;
    tb *b = tb_new(TB_CLASSIC);
    tz_item item = TZ_ITEM_INIT;
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_error err;
    image i = {.b = b};
    tb_mask(b, tb_image(b, &(tb_spec){.width = 16, .height = 8, .bits = 16, .samples = 3}));
    tb_finish(b);
    assert_int_equal(tz_open_memory(&i.file, b->data, b->size, NULL, &err), TZ_OK);
    item.file = i.file;
    item.mask = true;
    how.scaled = true;
    const tz_read_shape shape = resolve_ok(&item, &how);
    assert_int_equal(shape.dtype, TZ_DTYPE_UINT8);
    assert_int_equal(shape.bands, 1);
    assert_int_equal(shape.width, 16);
    assert_false(shape.has_transform);
    close_image(&i);
}

/* ---- transforms ---- */

/* The position in the upright image of the given size that a stored position has: TIFF 6's
 * table of orientations, stated here on its own. */
static void upright_position(uint16_t orientation, double width, double height, double *x,
                             double *y)
{
    const double c = *x, r = *y;
    switch (orientation) {
    case 2:
        *x = width - c;
        break;
    case 3:
        *x = width - c, *y = height - r;
        break;
    case 4:
        *y = height - r;
        break;
    case 5:
        *x = r, *y = c;
        break;
    case 6:
        *x = height - r, *y = c;
        break;
    case 7:
        *x = height - r, *y = width - c;
        break;
    case 8:
        *x = r, *y = width - c;
        break;
    default:
        break;
    }
}

/* Corners of pixels of the result lie where the file's transform has them. */
static void transforms(void **state)
{
    (void)state;
    static const struct {
        uint32_t level;
        tz_window window;
        uint32_t width, height;
        uint32_t grid[4];
    } cases[] = {{0, {0}, 0, 0, {0}},
                 {1, {0}, 0, 0, {0}},
                 {2, {3, 4, 10, 12}, 0, 0, {0}},
                 {0, {-7, 30, 60, 50}, 0, 0, {0}},
                 {TZ_LEVEL_AUTO, {10, 20, 64, 80}, 16, 40, {0}},
                 {TZ_LEVEL_AUTO, {0}, 7, 0, {0}},
                 {TZ_LEVEL_AUTO, {10, 20, 64, 80}, 5, 6, {16, 40, 11, 30}},
                 {1, {10, 20, 48, 32}, 20, 5, {48, 32, 3, 4}}};
    for (uint16_t orientation = 0; orientation <= 8; orientation++) {
        image i = open_levels(orientation ? orientation : 6, 8, 1);
        const double *file = i.info->geo->transform;
        for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
            const tz_level *level =
                tz_file_get_level(i.file, cases[k].level == TZ_LEVEL_AUTO ? 0 : cases[k].level);
            tz_buffer into = TZ_BUFFER_INIT;
            tz_item item = TZ_ITEM_INIT;
            tz_read_options how = TZ_READ_OPTIONS_INIT;
            into.width = cases[k].width;
            into.height = cases[k].height;
            item.file = i.file;
            item.level = cases[k].level;
            item.window = cases[k].window;
            item.into = &into;
            item.grid_width = cases[k].grid[0];
            item.grid_height = cases[k].grid[1];
            item.grid_column = cases[k].grid[2];
            item.grid_row = cases[k].grid[3];
            how.oriented = orientation > 0;
            how.boundless = true;
            how.resampling = TZ_RESAMPLING_NEAREST;
            const tz_read_shape shape = resolve_ok(&item, &how);
            const double grid_width = item.grid_width ? item.grid_width : shape.width;
            const double grid_height = item.grid_height ? item.grid_height : shape.height;
            assert_true(shape.has_transform);
            for (unsigned corner = 0; corner < 4; corner++) {
                const double column = corner & 1 ? level->width : 0;
                const double row = corner & 2 ? level->height : 0;
                double x, y, expected_x, expected_y, u = column, v = row;
                tz_pixel_to_coordinate(&expected_x, &expected_y, file,
                                       column * i.info->width / level->width,
                                       row * i.info->height / level->height);
                upright_position(orientation, level->width, level->height, &u, &v);
                u = (u - (double)shape.window.column) * grid_width / shape.window.width;
                v = (v - (double)shape.window.row) * grid_height / shape.window.height;
                tz_pixel_to_coordinate(&x, &y, shape.transform, u - item.grid_column,
                                       v - item.grid_row);
                assert_true(fabs(x - expected_x) < 1e-6);
                assert_true(fabs(y - expected_y) < 1e-6);
            }
        }
        close_image(&i);
    }
}

/* What needs no arithmetic is the file's own number, also if the window is one of many. */
static void transforms_are_exact(void **state)
{
    (void)state;
    image i = open_levels(1, 8, 1);
    tz_item item = TZ_ITEM_INIT;
    double expected[6];
    item.file = i.file;
    for (uint32_t level = 0; level < 3; level++) {
        item.level = level;
        item.window = (tz_window){0};
        tz_read_shape shape = resolve_ok(&item, NULL);
        assert_true(tz_level_get_transform(expected, i.file, level));
        assert_memory_equal(shape.transform, expected, sizeof expected);
        item.window = (tz_window){3, 5, 7, 9};
        shape = resolve_ok(&item, NULL);
        tz_pixel_to_coordinate(&expected[0], &expected[3], expected, 3, 5);
        assert_memory_equal(shape.transform, expected, sizeof expected);
    }
    close_image(&i);
    /* no negative zeros where there is no shear */
    tb *b = make_image(TB_CLASSIC, (tb_spec){.width = 16, .height = 16, .bits = 8});
    TB_SHORTS(b, 0, TZ_TAG_ORIENTATION, 3);
    TB_DOUBLES(b, 0, TZ_TAG_PIXEL_SCALE, 2, 2, 0);
    TB_DOUBLES(b, 0, TZ_TAG_TIEPOINTS, 0, 0, 0, 100, 200, 0);
    i = open_built(b);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.oriented = true;
    item = (tz_item){.struct_size = sizeof item, .file = i.file};
    const tz_read_shape shape = resolve_ok(&item, &how);
    const double turned[6] = {132, -2, 0, 168, 0, 2};
    assert_memory_equal(shape.transform, turned, sizeof turned);
    close_image(&i);
}

/* ---- errors ---- */

static void arguments_fail_as_those_of_reads(void **state)
{
    (void)state;
    static const uint32_t bands[] = {0, 2};
    image i = open_levels(1, 16, 2);
    static uint16_t pixels[200 * 120 * 2];
    for (unsigned k = 0; k < 12; k++) {
        tz_buffer into = TZ_BUFFER_INIT;
        tz_item item = TZ_ITEM_INIT;
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        tz_read_shape shape = TZ_READ_SHAPE_INIT;
        tz_error resolved = {0}, read = {0};
        into = (tz_buffer){.struct_size = sizeof into,
                           .data = pixels,
                           .dtype = TZ_DTYPE_UINT16,
                           .bands = 2,
                           .height = 120,
                           .width = 200};
        item.file = i.file;
        item.into = &into;
        item.level = k == 0 ? 3 : k == 1 ? UINT32_MAX : 0;
        item.mask = k == 2;
        if (k == 3)
            item.window = (tz_window){1, 0, 200, 120};
        if (k == 4)
            item.window = (tz_window){0, 0, 200, 0};
        if (k == 5)
            item.bands = bands, item.band_count = 2;
        if (k == 6)
            item.bands = bands, item.band_count = 0;
        if (k == 7)
            into.bands = 1;
        if (k == 8)
            into.width = 100; /* and no resampling */
        if (k == 9)
            item.grid_width = 199;
        if (k == 10)
            how.resampling = (tz_resampling)12;
        if (k == 11) {
            into.width = into.height = UINT32_MAX;
            how.resampling = TZ_RESAMPLING_NEAREST;
        }
        assert_int_equal(tz_read_resolve(&shape, &item, &how, &resolved), TZ_ERR_ARG);
        assert_int_equal(tz_read(&item, &how, NULL, &read), TZ_ERR_ARG);
        assert_memory_equal(&resolved, &read, sizeof read);
        assert_int_equal(shape.width, 0);
    }
    close_image(&i);
}

static void calls_of_other_versions(void **state)
{
    (void)state;
    image i = open_levels(1, 16, 2);
    tz_read_shape shape = TZ_READ_SHAPE_INIT;
    tz_item item = TZ_ITEM_INIT;
    tz_error err;
    item.file = i.file;
    shape.struct_size = offsetof(tz_read_shape, has_transform);
    shape.transform[5] = 77;
    assert_int_equal(tz_read_resolve(&shape, &item, NULL, NULL), TZ_OK);
    assert_int_equal(shape.width, 200);
    assert_true(shape.transform[5] == 77); /* beyond the caller's struct */
    shape.struct_size = 0;
    assert_int_equal(tz_read_resolve(&shape, &item, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_read_resolve(NULL, &item, NULL, &err), TZ_ERR_ARG);
    item.file = NULL;
    tz_read_shape_init(&shape, sizeof shape);
    assert_int_equal(tz_read_resolve(&shape, &item, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_read_resolve(&shape, NULL, NULL, &err), TZ_ERR_ARG);
    close_image(&i);
}

/* ---- reads of that shape ---- */

static uint32_t random_below(uint32_t *state, uint32_t limit)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % limit;
}

/* Makes no allocation; then a buffer of that shape can be read, from the level that it says. */
static void reads_of_that_shape_succeed(void **state)
{
    (void)state;
    uint32_t random = 11;
    for (unsigned k = 0; k < 400; k++) {
        image i = open_levels((uint16_t)(1 + random_below(&random, 8)), 16, 2);
        tz_buffer into = TZ_BUFFER_INIT;
        tz_item item = TZ_ITEM_INIT;
        tz_read_options how = TZ_READ_OPTIONS_INIT;
        tz_read_report *report = NULL;
        tz_read_shape shape = TZ_READ_SHAPE_INIT;
        tz_error err;
        const uint32_t band = random_below(&random, 2);
        how.boundless = true;
        how.oriented = random_below(&random, 2);
        how.scaled = random_below(&random, 2);
        how.nodata_to_nan = random_below(&random, 2);
        how.resampling = (tz_resampling)(1 + random_below(&random, TZ_RESAMPLING_MEDIAN));
        how.threads = 1;
        item.file = i.file;
        item.level = random_below(&random, 2) ? TZ_LEVEL_AUTO : random_below(&random, 3);
        if (random_below(&random, 2))
            item.window = (tz_window){(int64_t)random_below(&random, 60) - 30,
                                      (int64_t)random_below(&random, 60) - 30,
                                      1 + random_below(&random, 90), 1 + random_below(&random, 90)};
        if (random_below(&random, 2))
            item.bands = &band, item.band_count = 1;
        into.width = random_below(&random, 2) ? 1 + random_below(&random, 80) : 0;
        into.height = random_below(&random, 2) ? 1 + random_below(&random, 80) : 0;
        into.dtype = random_below(&random, 2) ? TZ_DTYPE_FLOAT64 : TZ_DTYPE_NONE;
        if (random_below(&random, 2)) {
            item.grid_width = into.width + 1 + random_below(&random, 50);
            item.grid_column = random_below(&random, item.grid_width - into.width);
        }
        item.into = random_below(&random, 5) ? &into : NULL;
        alloc_hook_install();
        alloc_hook_fail_at(1, true);
        const tz_result result = tz_read_resolve(&shape, &item, &how, &err);
        alloc_hook_remove();
        if (result != TZ_OK)
            fail_msg("%s", err.message);
        into.dtype = shape.dtype;
        into.bands = shape.bands;
        into.height = shape.height;
        into.width = shape.width;
        into.data =
            malloc((size_t)shape.bands * shape.height * shape.width * tz_dtype_size(shape.dtype));
        item.into = &into;
        if (tz_read(&item, &how, &report, &err) != TZ_OK)
            fail_msg("%s", err.message);
        assert_int_equal(tz_read_report_get_item(report, 0)->level, shape.level);
        assert_int_equal(tz_read_report_get_item(report, 0)->resampled, shape.resampled);
        tz_read_report_free(report);
        free(into.data);
        close_image(&i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_levels),
        cmocka_unit_test(types),
        cmocka_unit_test(masks_keep_their_type),
        cmocka_unit_test(transforms),
        cmocka_unit_test(transforms_are_exact),
        cmocka_unit_test(arguments_fail_as_those_of_reads),
        cmocka_unit_test(calls_of_other_versions),
        cmocka_unit_test(reads_of_that_shape_succeed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
