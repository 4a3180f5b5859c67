/* SPDX-License-Identifier: Apache-2.0
 * The elements of an open file's lists, and nothing past their ends; transforms and bounds of
 * levels; structs of callers that are of another size. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/sized.h"

/* ---- lists ---- */

static void past_the_end_of_every_list_is_nothing(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_gray(b, 64, 64);
        int half = tb_overview(b, image, 32, 32);
        tb_mask(b, half);
        tb_gray(b, 10, 10);
        tb_set_text(b, image, TZ_TAG_GDAL_NODATA, "no number");
        tb_finish(b);
        tz_file *file = check_opens_somehow(b, NULL);
        const tz_info *info = tz_file_get_info(file);
        assert_int_equal(info->level_count, 2);
        assert_int_equal(info->page_count, 2);
        assert_int_equal(info->warning_count, 1);
        assert_int_equal(tz_file_get_level(file, 1)->width, 32);
        assert_null(tz_file_get_mask(file, 0));
        assert_int_equal(tz_file_get_mask(file, 1)->width, 32);
        assert_int_equal(tz_file_get_page(file, 1)->width, 10);
        assert_int_equal(tz_file_get_warning(file, 0)->tag, TZ_TAG_GDAL_NODATA);
        assert_int_equal(tz_file_get_band(file, 0)->color, TZ_COLOR_GRAY);
        const uint32_t ends[] = {2, 3, INT32_MAX, UINT32_C(1) << 31, UINT32_MAX};
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
            assert_null(tz_file_get_level(file, ends[i]));
            assert_null(tz_file_get_mask(file, ends[i]));
            assert_null(tz_file_get_page(file, ends[i]));
            assert_null(tz_file_get_warning(file, ends[i] - 1));
            assert_null(tz_file_get_band(file, ends[i] - 1));
            assert_null(tz_file_get_sidecar(file, ends[i] - 2));
            assert_null(tz_file_get_metadata(file, ends[i] - 2));
        }
        check_done(file, b);
    }
}

/* Bands that no item describes are plain, whatever their number; those around them are not. */
static void only_some_bands_are_described(void **state)
{
    (void)state;
    if (!tz_build_feature("expat")) {
        print_message("skip: metadata needs expat\n");
        skip();
    }
    tb *b = tb_new(TB_CLASSIC);
    tb_image(b, &(tb_spec){.samples = 300});
    tb_set_text(b, 0, TZ_TAG_GDAL_METADATA,
                "<GDALMetadata><Item name=\"A\">1</Item>"
                "<Item name=\"B\" sample=\"3\">of a band, without a role</Item>"
                "<Item name=\"U\" sample=\"2\" role=\"unittype\">m</Item>"
                "<Item name=\"S\" sample=\"2\" role=\"scale\">4</Item>"
                "<Item name=\"D\" sample=\"299\" role=\"description\">last</Item></GDALMetadata>");
    tb_finish(b);
    tz_file *file = check_opens_somehow(b, NULL);
    for (uint32_t i = 0; i < 300; i++) {
        const tz_band *band = tz_file_get_band(file, i);
        assert_true(i == 2 || (band->scale == 1 && !band->unit && !band->has_scale));
        assert_true(i == 299 || !band->description);
        assert_true(band->offset == 0 && !band->has_offset && !band->color_text);
    }
    assert_true(tz_file_get_band(file, 2)->scale == 4);
    assert_string_equal(tz_file_get_band(file, 2)->unit, "m");
    assert_string_equal(tz_file_get_band(file, 299)->description, "last");
    assert_null(tz_file_get_band(file, 300));
    check_done(file, b);
}

/* ---- georeferencing of levels ---- */

static tz_file *open_placed(tb *b, uint32_t width, uint32_t height, const double *matrix)
{
    int image = tb_gray(b, width, height);
    tb_overview(b, image, (width + 1) / 2, (height + 1) / 2);
    tb_overview(b, image, 7, 1);
    if (matrix)
        tb_set_doubles(b, image, TZ_TAG_TRANSFORMATION, TZ_TYPE_DOUBLE, matrix, 16);
    tb_finish(b);
    return check_opens_somehow(b, NULL);
}

static void without_a_transform_levels_have_none(void **state)
{
    (void)state;
    tb *b = tb_new(TB_CLASSIC);
    tz_file *file = open_placed(b, 101, 50, NULL);
    double values[6] = {7, 7, 7, 7, 7, 7};
    assert_false(tz_level_get_transform(values, file, 0));
    assert_false(tz_level_get_bounds(values, file, 0));
    for (int i = 0; i < 6; i++)
        assert_true(values[i] == 7);
    check_done(file, b);
}

/* Every level covers the area of the image: its own corners are those of level 0. */
static void levels_cover_the_area_of_the_image(void **state)
{
    (void)state;
    static const double matrices[][16] = {
        {10, 0, 0, 500000, 0, -10, 0, 4100000, 0, 0, 0, 0, 0, 0, 0, 1},
        {0.25, 0.5, 0, -3, 0.75, -0.125, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1},
        {-2, 0, 0, 4, 0, 3, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1}, /* from right to left, upwards */
        {0, 3, 0, 1, 2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1},  /* on its side */
    };
    for (size_t m = 0; m < sizeof matrices / sizeof matrices[0]; m++) {
        tb *b = tb_new(TB_CLASSIC);
        tz_file *file = open_placed(b, 101, 50, matrices[m]);
        const tz_geo *geo = tz_file_get_info(file)->geo;
        double first[4];
        assert_int_equal(tz_file_get_info(file)->level_count, 3);
        assert_true(tz_level_get_bounds(first, file, 0));
        assert_true(first[0] < first[2] && first[1] < first[3]);
        for (uint32_t i = 0; i < 3; i++) {
            const tz_level *level = tz_file_get_level(file, i);
            double t[6], bounds[4];
            assert_true(tz_level_get_transform(t, file, i));
            assert_true(t[0] == geo->transform[0] && t[3] == geo->transform[3]);
            for (int corner = 0; corner < 4; corner++) {
                double x, y, column, row, x0, y0;
                tz_pixel_to_coordinate(&x, &y, t, corner & 1 ? level->width : 0,
                                       corner & 2 ? level->height : 0);
                tz_pixel_to_coordinate(&x0, &y0, geo->transform, corner & 1 ? 101 : 0,
                                       corner & 2 ? 50 : 0);
                assert_true(fabs(x - x0) < 1e-9 && fabs(y - y0) < 1e-9);
                assert_true(tz_coordinate_to_pixel(&column, &row, t, x, y));
                assert_true(fabs(column - (corner & 1 ? level->width : 0)) < 1e-9);
                assert_true(fabs(row - (corner & 2 ? level->height : 0)) < 1e-9);
                assert_true(x >= first[0] - 1e-9 && x <= first[2] + 1e-9);
                assert_true(y >= first[1] - 1e-9 && y <= first[3] + 1e-9);
            }
            assert_true(tz_level_get_bounds(bounds, file, i));
            for (int k = 0; k < 4; k++)
                assert_true(fabs(bounds[k] - first[k]) < 1e-9);
        }
        double t[6];
        assert_true(tz_level_get_transform(t, file, 0));
        assert_memory_equal(t, geo->transform, sizeof t); /* exactly */
        assert_true(tz_level_get_transform(t, file, 1));
        assert_true(t[1] == geo->transform[1] * (101.0 / 51) && t[5] == geo->transform[5] * 2);
        assert_false(tz_level_get_transform(t, file, 3));
        assert_false(tz_level_get_bounds(first, file, UINT32_MAX));
        check_done(file, b);
    }
}

static void bounds_respect_the_rotation(void **state)
{
    (void)state;
    static const double matrix[16] = {1, 1, 0, 0, 1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    tb *b = tb_new(TB_CLASSIC);
    tz_file *file = open_placed(b, 30, 20, matrix);
    double bounds[4];
    assert_true(tz_level_get_bounds(bounds, file, 0));
    assert_true(bounds[0] == 0 && bounds[1] == -20 && bounds[2] == 50 && bounds[3] == 30);
    check_done(file, b);
}

static void a_singular_transform_has_no_inverse(void **state)
{
    (void)state;
    static const double singular[][6] = {
        {0, 0, 0, 0, 0, 0},         {1, 2, 4, 1, 1, 2},   {1, 0, 0, 1, 0, 5},
        {1, 1e308, 1, 1, 1, 1e308}, {1, NAN, 1, 1, 1, 1},
    };
    double column = 7, row = 8;
    for (size_t i = 0; i < sizeof singular / sizeof singular[0]; i++)
        assert_false(tz_coordinate_to_pixel(&column, &row, singular[i], 1, 1));
    assert_true(column == 7 && row == 8);
    const double tiny[6] = {5, 1e-200, 0, 6, 0, -1e-200}; /* whose determinant underflows */
    assert_true(tz_coordinate_to_pixel(&column, &row, tiny, 5 + 3e-200, 6));
    assert_true(column == 0 && row == 0);
}

/* ---- structs of another size ---- */

typedef struct later_tag {
    tz_tag tag;
    uint64_t further[2];
} later_tag;

static void a_tag_of_another_size_is_filled_as_far_as_it_goes(void **state)
{
    (void)state;
    tb *b = tb_new(TB_CLASSIC);
    tb_gray(b, 64, 64);
    tz_file *file;
    check_info(b, &file);
    const uint64_t at = tz_file_get_level(file, 0)->ifd_offset;
    tz_error err;
    tz_tag tag;
    uint32_t value;
    tz_tag_init(&tag, sizeof tag);
    assert_int_equal(tz_file_get_tag(&tag, file, at, 1, &err), TZ_OK);
    assert_int_equal(tag.struct_size, sizeof tag);
    later_tag later = {.tag = {.struct_size = sizeof later}, .further = {1, 2}};
    assert_int_equal(tz_file_get_tag(&later.tag, file, at, 1, &err), TZ_OK);
    assert_int_equal(later.tag.struct_size, sizeof later);
    assert_int_equal(later.tag.offset, tag.offset);
    assert_int_equal(later.further[0] + later.further[1], 0);
    assert_int_equal(tz_tag_read(&value, sizeof value, file, &later.tag, &err), TZ_OK);
    later.further[1] = 1;
    assert_int_equal(tz_tag_read(&value, sizeof value, file, &later.tag, &err), TZ_ERR_ARG);
    tz_tag older = {.struct_size = offsetof(tz_tag, size), .size = 77, .offset = 78};
    assert_int_equal(tz_file_get_tag(&older, file, at, 1, &err), TZ_OK);
    assert_int_equal(older.count, tag.count);
    assert_true(older.size == 77 && older.offset == 78);
    older.struct_size = 0;
    assert_int_equal(tz_file_get_tag(&older, file, at, 1, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "TZ_TAG_INIT"));
    check_done(file, b);
}

typedef struct later_limits {
    tz_limits limits;
    uint64_t further;
} later_limits;

static void limits_of_another_size_are_taken(void **state)
{
    (void)state;
    tb *b = tb_new(TB_CLASSIC);
    tb_gray(b, 64, 64);
    tb_gray(b, 32, 32);
    tb_finish(b);
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    tz_file *file = NULL;
    tz_error err;
    /* an older caller knows the first members only */
    tz_limits older = {.struct_size = offsetof(tz_limits, max_subifd_depth), .max_ifds = 1};
    older.max_tile_bytes = 1; /* not part of it */
    options.limits = &older;
    assert_int_equal(tz_open_memory(&file, b->data, b->size, &options, &err), TZ_ERR_LIMIT);
    assert_string_equal(err.limit, "max_ifds");
    older.max_ifds = 2;
    assert_int_equal(tz_open_memory(&file, b->data, b->size, &options, &err), TZ_OK);
    assert_int_equal(tz_file_get_info(file)->warning_count, 0);
    tz_close(file);
    later_limits later = {.limits = {.struct_size = sizeof later, .max_ifds = 1}};
    options.limits = &later.limits;
    assert_int_equal(tz_open_memory(&file, b->data, b->size, &options, &err), TZ_ERR_LIMIT);
    later.further = 5;
    assert_int_equal(tz_open_memory(&file, b->data, b->size, &options, &err), TZ_ERR_ARG);
    options.limits = SIZED_LIMITS(.struct_size = 0);
    assert_int_equal(tz_open_memory(&file, b->data, b->size, &options, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "options->limits->struct_size is wrong"));
    tz_validate_options validating = TZ_VALIDATE_OPTIONS_INIT;
    tz_validation *validation = NULL;
    validating.limits = options.limits;
    assert_int_equal(tz_validate(&validation, "a.tif", &validating, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "options->limits->struct_size is wrong"));
    assert_null(validation);
    tb_free(b);
}

static void an_error_needs_no_initialisation(void **state)
{
    (void)state;
    tz_error err;
    tz_file *file = NULL;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(tz_open_memory(&file, "no TIFF", 7, NULL, &err), TZ_ERR_FORMAT);
    assert_int_equal(err.mask, 0);
    for (size_t i = 0; i < sizeof err.reserved; i++)
        assert_int_equal(err.reserved[i], 0);
}

static void inits_set_the_size_and_zero_the_rest(void **state)
{
    (void)state;
#define CHECK_INIT(type)                                                                           \
    do {                                                                                           \
        type value_;                                                                               \
        memset(&value_, 0xff, sizeof value_);                                                      \
        type##_init(&value_, sizeof value_);                                                       \
        assert_int_equal(value_.struct_size, sizeof value_);                                       \
        for (size_t i = sizeof(size_t); i < sizeof value_; i++)                                    \
            assert_int_equal(((const unsigned char *)&value_)[i], 0);                              \
    } while (0)
    CHECK_INIT(tz_limits);
    CHECK_INIT(tz_geo);
    CHECK_INIT(tz_metadata_item);
    CHECK_INIT(tz_tag);
    CHECK_INIT(tz_tag_value);
    CHECK_INIT(tz_image_spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(past_the_end_of_every_list_is_nothing),
        CASE(only_some_bands_are_described),
        CASE(without_a_transform_levels_have_none),
        CASE(levels_cover_the_area_of_the_image),
        CASE(bounds_respect_the_rotation),
        CASE(a_singular_transform_has_no_inverse),
        CASE(a_tag_of_another_size_is_filled_as_far_as_it_goes),
        CASE(limits_of_another_size_are_taken),
        CASE(an_error_needs_no_initialisation),
        CASE(inits_set_the_size_and_zero_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
