/* SPDX-License-Identifier: Apache-2.0
 * Hostile files, cases 60 to 65: GeoKeys, tie points, scale, matrix, EPSG codes. Whatever is wrong
 * with them, the pixels stay readable; with require_crs every GEO warning is an error. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static tb *located(unsigned format)
{
    tb *b = tb_new(format);
    tb_gray(b, 64, 64);
    tb_georeference(b, 0, 32633);
    return b;
}

/* With the keys given, header included. */
static tb *keyed(unsigned format, const uint64_t *keys, size_t count)
{
    tb *b = located(format);
    tb_set(b, 0, TZ_TAG_GEO_KEYS, TZ_TYPE_SHORT, keys, count);
    return b;
}
#define KEYED(format, ...)                                                                         \
    keyed(format, (const uint64_t[]){__VA_ARGS__},                                                 \
          sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* The first warning is a GEO warning with these fields; it is the error of require_crs; and the
 * tile is found. */
static tz_file *check_geo_open(tb *b, const check_defect *defect)
{
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    options.require_crs = true;
    tb_finish(b);
    tz_file *file = check_warns_also(b, NULL, defect);
    assert_int_equal(tz_file_get_warning(file, 0)->cause, TZ_CAUSE_GEO);
    assert_true(tz_file_get_level(file, 0)->readable);
    check_locates(file, 0, 0, tb_tile_at(b, 0, 0), 16);
    tz_error first = *tz_file_get_warning(file, 0);
    tz_file *required = NULL;
    tz_error err;
    assert_int_equal(tz_open_memory(&required, b->data, b->size, &options, &err), TZ_ERR_FORMAT);
    assert_int_equal(err.cause, TZ_CAUSE_GEO);
    assert_int_equal(err.tag, first.tag);
    assert_true(err.found == first.found && err.expected == first.expected);
    return file;
}

static void check_geo(tb *b, const check_defect *defect)
{
    check_close(check_geo_open(b, defect));
    tb_free(b);
}

static const tz_geo *geo_of(const tz_file *file)
{
    return tz_file_get_info(file)->geo;
}

/* ---- 60: the key directory ---- */

static void case_60_directory_shorter_than_its_header(void **state)
{
    (void)state;
    static const uint64_t header[] = {1, 1, 0, 1};
    FORMATS(f)
    for (size_t count = 1; count < 4; count++)
        check_geo(keyed(f, header, count),
                  DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_KEYS, .expected = 4, .found = count));
}

static void case_60_directory_shorter_than_its_keys(void **state)
{
    (void)state;
    static const uint64_t keys[] = {1, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, 32633};
    FORMATS(f)
    for (size_t count = 4; count < 12; count++)
        check_geo(keyed(f, keys, count),
                  DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_KEYS, .expected = 12, .found = count));
}

static void case_60_sixty_five_thousand_keys_are_claimed(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = KEYED(f, 1, 1, 0, 65535, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32633);
        tz_file *file = check_geo_open(
            b, DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_KEYS, .expected = 4 + 4 * 65535, .found = 16));
        assert_int_equal(geo_of(file)->key_count, 3); /* those that are there count */
        assert_int_equal(geo_of(file)->epsg, 32633);
        check_close(file);
        tb_free(b);
    }
}

static void case_60_more_keys_than_allowed(void **state)
{
    (void)state;
    size_t count = 4 + 4 * 1025;
    uint64_t *keys = calloc(count, sizeof *keys);
    for (size_t i = 0; i < 1025; i++) {
        uint64_t *key = keys + 4 + 4 * i;
        key[0] = 5000 + i, key[2] = 1;
    }
    keys[0] = keys[1] = 1, keys[3] = 1025;
    FORMATS(f)
    {
        tb *b = keyed(f, keys, count);
        tb_finish(b);
        tz_file *file =
            check_warns(b, NULL,
                        DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_GEO_KEYS, .limit = "max_geo_keys",
                               .expected = 1024, .found = 1025));
        assert_int_equal(geo_of(file)->key_count, 0);
        check_close(file);
        tb_free(b);
    }
    free(keys);
}

static void case_60_version_2(void **state)
{
    (void)state;
    static const uint64_t versions[] = {0, 2, 256, 65535};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(versions); i++) {
            tb *b = KEYED(f, versions[i], 1, 0, 1, 1024, 0, 1, 1);
            tz_file *file = check_geo_open(b, DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_KEYS,
                                                     .expected = 1, .found = versions[i]));
            assert_int_equal(geo_of(file)->key_count, 0);
            assert_true(geo_of(file)->has_transform);
            check_close(file);
            tb_free(b);
        }
    }
}

static void case_60_unsorted_keys(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = KEYED(f, 1, 1, 0, 3, 3072, 0, 1, 32633, 1024, 0, 1, 1, 1025, 0, 1, 2);
        tz_file *file =
            check_geo_open(b, DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_KEYS, .text = "ascending"));
        const tz_geo *geo = geo_of(file);
        assert_int_equal(geo->key_count, 3);
        assert_int_equal(geo->keys[0].id, 1024);
        assert_int_equal(geo->keys[1].id, 1025);
        assert_int_equal(geo->keys[2].id, 3072);
        assert_int_equal(geo->epsg, 32633);
        assert_int_equal(geo->raster_type, TZ_RASTER_TYPE_POINT);
        check_close(file);
        tb_free(b);
    }
}

static void case_60_duplicate_key(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = KEYED(f, 1, 1, 0, 3, 1024, 0, 1, 1, 3072, 0, 1, 32633, 3072, 0, 1, 4326);
        tz_file *file = check_geo_open(
            b, DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_KEYS, .text = "more than once"));
        assert_int_equal(geo_of(file)->epsg, 32633);
        assert_int_equal(geo_of(file)->key_count, 2);
        check_close(file);
        tb_free(b);
    }
}

/* ---- 61, 62: values elsewhere ---- */

static void case_61_location_in_a_tag_that_is_absent(void **state)
{
    (void)state;
    FORMATS(f)
    {
        check_geo(KEYED(f, 1, 1, 0, 2, 2057, 34736, 1, 0, 3072, 0, 1, 32633),
                  DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_DOUBLES, .expected = 0, .found = 1));
        check_geo(KEYED(f, 1, 1, 0, 2, 1026, 34737, 7, 0, 3072, 0, 1, 32633),
                  DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_ASCII, .expected = 0, .found = 7));
    }
}

static void case_61_values_past_the_end_of_the_array(void **state)
{
    (void)state;
    static const uint64_t bad[][2] = {{0, 4},     {3, 1},         {2, 2},
                                      {65535, 1}, {65535, 65535}, {0, 65535}};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(bad); i++) {
            uint64_t index = bad[i][0], count = bad[i][1];
            tb *b = KEYED(f, 1, 1, 0, 2, 2057, 34736, count, index, 3072, 0, 1, 32633);
            TB_DOUBLES(b, 0, TZ_TAG_GEO_DOUBLES, 1, 2, 3);
            check_geo(b, DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_DOUBLES, .expected = 3,
                                .found = index + count));
            b = KEYED(f, 1, 1, 0, 2, 1026, 34737, count, index, 3072, 0, 1, 32633);
            tb_set_bytes(b, 0, TZ_TAG_GEO_ASCII, TZ_TYPE_ASCII, 3, "ab|", 3);
            check_geo(b, DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_ASCII, .expected = 3,
                                .found = index + count));
        }
        check_geo(KEYED(f, 1, 1, 0, 2, 1024, 34735, 3, 10, 3072, 0, 1, 32633),
                  DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_KEYS, .expected = 12, .found = 13));
    }
}

static void case_61_location_that_is_no_geo_tag(void **state)
{
    (void)state;
    static const uint64_t locations[] = {1, 256, 33550, 42113, 65535};
    FORMATS(f)
    for (size_t i = 0; i < COUNT(locations); i++)
        check_geo(KEYED(f, 1, 1, 0, 2, 1024, locations[i], 1, 0, 3072, 0, 1, 32633),
                  DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_KEYS, .found = locations[i]));
}

static void case_61_nine_values_in_the_entry(void **state)
{
    (void)state;
    FORMATS(f)
    {
        check_geo(KEYED(f, 1, 1, 0, 2, 1024, 0, 9, 1, 3072, 0, 1, 32633),
                  DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_KEYS, .expected = 1, .found = 9));
        check_geo(KEYED(f, 1, 1, 0, 2, 1024, 0, 0, 1, 3072, 0, 1, 32633),
                  DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_KEYS, .expected = 1, .found = 0));
    }
}

static void case_61_key_of_a_wrong_type(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = KEYED(f, 1, 1, 0, 2, 1024, 0, 1, 1, 3072, 34736, 1, 0);
        TB_DOUBLES(b, 0, TZ_TAG_GEO_DOUBLES, 32633);
        tz_file *file =
            check_geo_open(b, DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_KEYS, .expected = TZ_TYPE_SHORT,
                                     .found = TZ_TYPE_DOUBLE));
        assert_int_equal(geo_of(file)->epsg, 0);
        check_close(file);
        tb_free(b);
    }
}

static void case_62_text_without_a_bar(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = KEYED(f, 1, 1, 0, 2, 1026, 34737, 6, 0, 3072, 0, 1, 32633);
        tb_set_bytes(b, 0, TZ_TAG_GEO_ASCII, TZ_TYPE_ASCII, 6, "no bar", 6);
        tz_file *file = check_geo_open(b, DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_ASCII));
        assert_string_equal(geo_of(file)->citation, "no bar");
        check_close(file);
        tb_free(b);
    }
}

static void case_62_text_with_a_nul_inside(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = KEYED(f, 1, 1, 0, 2, 1026, 34737, 8, 0, 3072, 0, 1, 32633);
        tb_set_bytes(b, 0, TZ_TAG_GEO_ASCII, TZ_TYPE_ASCII, 8, "one\0two|", 8);
        tz_file *file =
            check_geo_open(b, DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_ASCII, .text = "NUL"));
        assert_string_equal(geo_of(file)->citation, "one");
        check_close(file);
        tb_free(b);
    }
}

static void case_62_ten_megabytes_of_text(void **state)
{
    (void)state;
    size_t size = 10000000;
    char *text = malloc(size);
    memset(text, 'x', size);
    text[size - 1] = '|';
    FORMATS(f)
    {
        tb *b = KEYED(f, 1, 1, 0, 2, 1026, 34737, 65535, 1000, 3072, 0, 1, 32633);
        tb_set_bytes(b, 0, TZ_TAG_GEO_ASCII, TZ_TYPE_ASCII, size, text, size);
        tz_file *file = check_geo_open(b, DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_ASCII));
        assert_non_null(geo_of(file)->citation);
        assert_true(strlen(geo_of(file)->citation) <= 65535);
        check_close(file);
        tb_free(b);
    }
    free(text);
}

static void case_62_text_that_is_not_utf8(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = KEYED(f, 1, 1, 0, 2, 1026, 34737, 8, 0, 3072, 0, 1, 32633);
        tb_set_bytes(b, 0, TZ_TAG_GEO_ASCII, TZ_TYPE_ASCII, 8, "Z\xfcrich\xff|", 8);
        tb_finish(b);
        tz_file *file = check_opens_somehow(b, NULL);
        const tz_geo_key *key = &geo_of(file)->keys[0];
        assert_int_equal(key->id, 1026);
        assert_int_equal(key->count, 7); /* as it stands in the file */
        assert_memory_equal(key->value.text, "Z\xfcrich\xff", 7);
        check_close(file);
        tb_free(b);
    }
}

static void case_62_empty_text(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = KEYED(f, 1, 1, 0, 3, 1026, 34737, 1, 0, 2049, 34737, 0, 1, 3072, 0, 1, 32633);
        tb_set_bytes(b, 0, TZ_TAG_GEO_ASCII, TZ_TYPE_ASCII, 1, "|", 1);
        tb_finish(b);
        tz_file *file = check_opens_somehow(b, NULL);
        assert_null(geo_of(file)->citation);
        check_close(file);
        tb_free(b);
    }
}

/* ---- 63: tie points, scale, matrix ---- */

static void check_no_transform(tb *b, const check_defect *defect)
{
    tz_file *file = check_geo_open(b, defect);
    assert_false(geo_of(file)->has_transform);
    check_close(file);
    tb_free(b);
}

static void case_63_tie_points_in_part(void **state)
{
    (void)state;
    static const double numbers[] = {0, 0, 0, 500000, 4500000, 0, 1};
    FORMATS(f)
    {
        tb *b = located(f);
        tb_set_doubles(b, 0, TZ_TAG_TIEPOINTS, TZ_TYPE_DOUBLE, numbers, 5);
        check_no_transform(b,
                           DEFECT(FORMAT, GEO, .tag = TZ_TAG_TIEPOINTS, .expected = 6, .found = 5));
        b = located(f);
        tb_set_doubles(b, 0, TZ_TAG_TIEPOINTS, TZ_TYPE_DOUBLE, numbers, 7);
        tz_file *file = check_geo_open(
            b, DEFECT(FORMAT, GEO, .tag = TZ_TAG_TIEPOINTS, .expected = 12, .found = 7));
        assert_true(geo_of(file)->has_transform); /* the first is whole */
        check_close(file);
        tb_free(b);
    }
}

static void case_63_no_tie_points(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = located(f);
        tb_set_raw(b, 0, TZ_TAG_TIEPOINTS, TZ_TYPE_DOUBLE, 0, 0);
        tb_finish(b);
        tz_file *file = check_warns_also(b, NULL,
                                         DEFECT(FORMAT, TAG, .tag = TZ_TAG_TIEPOINTS,
                                                .offset = tb_entry_at(b, 0, TZ_TAG_TIEPOINTS),
                                                .expected = 1, .found = 0));
        assert_false(geo_of(file)->has_transform);
        check_close(file);
        tb_free(b);
        b = located(f);
        tb_remove(b, 0, TZ_TAG_TIEPOINTS);
        check_no_transform(b,
                           DEFECT(FORMAT, GEO, .tag = TZ_TAG_TIEPOINTS, .expected = 6, .found = 0));
    }
}

static void case_63_too_many_tie_points(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = located(f);
        tb_set_raw(b, 0, TZ_TAG_TIEPOINTS, TZ_TYPE_DOUBLE, 1u << 28, 100);
        tb_finish(b);
        tz_file *file = check_warns_also(
            b, NULL,
            DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_TIEPOINTS, .limit = "max_tag_bytes",
                   .offset = tb_entry_at(b, 0, TZ_TAG_TIEPOINTS), .found = 1ull << 31));
        assert_false(geo_of(file)->has_transform);
        check_close(file);
        tb_free(b);
    }
}

/* As many as GDAL writes at most: memory stays below the file's own size. */
static void case_63_many_tie_points_cost_no_more_than_the_file(void **state)
{
    (void)state;
    enum { POINTS = 10922 };
    double *numbers = malloc(POINTS * 6 * sizeof *numbers);
    for (int i = 0; i < POINTS * 6; i++)
        numbers[i] = i;
    FORMATS(f)
    {
        tb *b = located(f);
        tb_remove(b, 0, TZ_TAG_PIXEL_SCALE);
        tb_set_doubles(b, 0, TZ_TAG_TIEPOINTS, TZ_TYPE_DOUBLE, numbers, POINTS * 6);
        tb_finish(b);
        tz_file *file = check_opens(b, NULL);
        const tz_geo *geo = geo_of(file);
        assert_false(geo->has_transform);
        assert_int_equal(geo->gcp_count, POINTS);
        for (int i = 0; i < POINTS; i++) {
            assert_true(geo->gcps[i].column == 6 * i && geo->gcps[i].row == 6 * i + 1);
            assert_true(geo->gcps[i].depth == 6 * i + 2 && geo->gcps[i].x == 6 * i + 3);
            assert_true(geo->gcps[i].y == 6 * i + 4 && geo->gcps[i].z == 6 * i + 5);
        }
        check_close(file);
        tb_free(b);
    }
    free(numbers);
}

/* FLOAT is not the standard's type for them. A few are read; so many that widening them would cost
 * more than the file are not. */
static void case_63_many_tie_points_of_floats(void **state)
{
    (void)state;
    enum { POINTS = 10922 };
    double *numbers = calloc(POINTS * 6, sizeof *numbers);
    FORMATS(f)
    {
        tb *b = located(f);
        tb_remove(b, 0, TZ_TAG_PIXEL_SCALE);
        tb_set_doubles(b, 0, TZ_TAG_TIEPOINTS, TZ_TYPE_FLOAT, numbers, POINTS * 6);
        tb_finish(b);
        tz_file *file = check_warns(b, NULL,
                                    DEFECT(FORMAT, TAG, .tag = TZ_TAG_TIEPOINTS,
                                           .offset = tb_ifd_at(b, 0), .expected = b->size));
        assert_int_equal(geo_of(file)->gcp_count, 0);
        check_close(file);
        tb_free(b);
    }
    free(numbers);
}

static void case_63_scale_and_tie_point_of_floats(void **state)
{
    (void)state;
    FORMATS(f)
    {
        static const double scale[] = {0.5, 0.25, 0}, point[] = {0, 0, 0, 1000.5, 2000.25, 0};
        tb *b = located(f);
        tb_set_doubles(b, 0, TZ_TAG_PIXEL_SCALE, TZ_TYPE_FLOAT, scale, 3);
        tb_set_doubles(b, 0, TZ_TAG_TIEPOINTS, TZ_TYPE_FLOAT, point, 6);
        tb_finish(b);
        tz_file *file = check_opens(b, NULL);
        static const double expected[] = {1000.5, 0.5, 0, 2000.25, 0, -0.25};
        assert_memory_equal(geo_of(file)->transform, expected, sizeof expected);
        check_close(file);
        tb_free(b);
    }
}

static void case_63_pixel_scale_of_wrong_values(void **state)
{
    (void)state;
    static const double scales[][3] = {{0, 0, 0},         {10, 0, 0},   {0, 10, 0},
                                       {NAN, 10, 0},      {10, NAN, 0}, {INFINITY, 10, 0},
                                       {10, -INFINITY, 0}};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(scales); i++) {
            tb *b = located(f);
            tb_set_doubles(b, 0, TZ_TAG_PIXEL_SCALE, TZ_TYPE_DOUBLE, scales[i], 3);
            check_no_transform(b, DEFECT(FORMAT, GEO, .tag = TZ_TAG_PIXEL_SCALE));
        }
    }
}

static void case_63_pixel_scale_of_wrong_length(void **state)
{
    (void)state;
    static const double scale[] = {10, 10, 0, 0};
    FORMATS(f)
    {
        tb *b = located(f);
        tb_set_doubles(b, 0, TZ_TAG_PIXEL_SCALE, TZ_TYPE_DOUBLE, scale, 1);
        check_no_transform(
            b, DEFECT(FORMAT, GEO, .tag = TZ_TAG_PIXEL_SCALE, .expected = 3, .found = 1));
        for (size_t count = 2; count <= 4; count += 2) { /* enough to be used */
            b = located(f);
            tb_set_doubles(b, 0, TZ_TAG_PIXEL_SCALE, TZ_TYPE_DOUBLE, scale, count);
            tz_file *file = check_geo_open(
                b, DEFECT(FORMAT, GEO, .tag = TZ_TAG_PIXEL_SCALE, .expected = 3, .found = count));
            assert_true(geo_of(file)->has_transform);
            check_close(file);
            tb_free(b);
        }
    }
}

static void case_63_negative_y_scale_means_rows_go_up(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = located(f);
        TB_DOUBLES(b, 0, TZ_TAG_PIXEL_SCALE, 10, -10, 0);
        tz_file *file = check_geo_open(b, DEFECT(FORMAT, GEO, .tag = TZ_TAG_PIXEL_SCALE));
        assert_true(geo_of(file)->has_transform);
        assert_true(geo_of(file)->transform[5] == 10);
        check_close(file);
        tb_free(b);
    }
}

static tb *with_matrix(unsigned format, const double *matrix, size_t count)
{
    tb *b = located(format);
    tb_remove(b, 0, TZ_TAG_PIXEL_SCALE);
    tb_remove(b, 0, TZ_TAG_TIEPOINTS);
    tb_set_doubles(b, 0, TZ_TAG_TRANSFORMATION, TZ_TYPE_DOUBLE, matrix, count);
    return b;
}

static void case_63_singular_matrix(void **state)
{
    (void)state;
    static const double matrices[][16] = {
        {0},
        {10, 20, 0, 5, 5, 10, 0, 5},
        {10, 0, 0, 5, 0, 0, 0, 5},
        {NAN, 0, 0, 5, 0, -10, 0, 5},
        {10, 0, 0, INFINITY, 0, -10, 0, 5},
    };
    FORMATS(f)
    for (size_t i = 0; i < COUNT(matrices); i++)
        check_no_transform(with_matrix(f, matrices[i], 16),
                           DEFECT(FORMAT, GEO, .tag = TZ_TAG_TRANSFORMATION));
}

static void case_63_matrix_of_wrong_length(void **state)
{
    (void)state;
    static const double matrix[17] = {10, 0, 0, 5, 0, -10, 0, 5};
    static const size_t counts[] = {1, 6, 15, 17};
    FORMATS(f)
    for (size_t i = 0; i < COUNT(counts); i++)
        check_no_transform(
            with_matrix(f, matrix, counts[i]),
            DEFECT(FORMAT, GEO, .tag = TZ_TAG_TRANSFORMATION, .expected = 16, .found = counts[i]));
}

static void case_63_scale_and_matrix_together(void **state)
{
    (void)state;
    static const double matrix[16] = {7, 0, 0, 5, 0, -7, 0, 5};
    FORMATS(f)
    {
        tb *b = located(f);
        tb_set_doubles(b, 0, TZ_TAG_TRANSFORMATION, TZ_TYPE_DOUBLE, matrix, 16);
        tz_file *file =
            check_geo_open(b, DEFECT(FORMAT, GEO, .tag = TZ_TAG_TRANSFORMATION, .text = "exclude"));
        assert_true(geo_of(file)->has_transform);
        assert_true(geo_of(file)->transform[1] == 10);
        check_close(file);
        tb_free(b);
    }
}

static void case_63_rpc_of_wrong_length(void **state)
{
    (void)state;
    static const double numbers[93] = {0};
    FORMATS(f)
    {
        for (size_t count = 91; count <= 93; count += 2) {
            tb *b = located(f);
            tb_set_doubles(b, 0, TZ_TAG_RPC, TZ_TYPE_DOUBLE, numbers, count);
            tz_file *file = check_geo_open(
                b, DEFECT(FORMAT, GEO, .tag = TZ_TAG_RPC, .expected = 92, .found = count));
            assert_null(geo_of(file)->rpc);
            check_close(file);
            tb_free(b);
        }
    }
}

/* ---- 64: codes ---- */

static void case_64_private_and_reserved_codes(void **state)
{
    (void)state;
    static const uint64_t codes[] = {1, 1023, 32768, 40000, 65535};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(codes); i++) {
            tb *b = KEYED(f, 1, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, codes[i]);
            tz_file *file =
                check_geo_open(b, DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_KEYS, .found = codes[i]));
            assert_int_equal(geo_of(file)->epsg, 0);
            check_close(file);
            tb_free(b);
        }
    }
}

static void case_64_projected_without_a_projected_crs(void **state)
{
    (void)state;
    FORMATS(f)
    check_geo(KEYED(f, 1, 1, 0, 1, 1024, 0, 1, 1),
              DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_KEYS, .text = "3072"));
}

static void case_64_user_defined_without_a_citation(void **state)
{
    (void)state;
    FORMATS(f)
    {
        check_geo(KEYED(f, 1, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, 32767),
                  DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_KEYS, .text = "3073"));
        check_geo(KEYED(f, 1, 1, 0, 2, 1024, 0, 1, 2, 2048, 0, 1, 32767),
                  DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_KEYS, .text = "2049"));
        check_geo(KEYED(f, 1, 1, 0, 1, 1024, 0, 1, 32767),
                  DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_KEYS, .text = "1026"));
    }
}

static void case_64_reserved_model_and_raster_types(void **state)
{
    (void)state;
    FORMATS(f)
    {
        check_geo(KEYED(f, 1, 1, 0, 2, 1024, 0, 1, 4, 3072, 0, 1, 32633),
                  DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_KEYS, .found = 4));
        check_geo(KEYED(f, 1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 3, 3072, 0, 1, 32633),
                  DEFECT(FORMAT, GEO, .tag = TZ_TAG_GEO_KEYS, .found = 3));
    }
}

/* Which codes exist is PROJ's knowledge: the open keeps the code, tz_crs_from_file says what it is.
 */
static void case_64_unknown_and_deprecated_codes(void **state)
{
    (void)state;
    tb *b = KEYED(TB_CLASSIC, 1, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, 1999);
    tb_finish(b);
    tz_file *file = check_opens(b, NULL);
    assert_int_equal(geo_of(file)->epsg, 1999);
    tz_crs *crs = NULL;
    tz_error err;
    tz_result result = tz_crs_from_file(&crs, file, &err);
    if (tz_build_feature("proj")) {
        assert_int_equal(result, TZ_ERR_FORMAT);
        assert_int_equal(err.cause, TZ_CAUSE_GEO);
    } else {
        assert_int_equal(result, TZ_ERR_UNSUPPORTED);
    }
    check_close(file);
    tb_free(b);
    b = KEYED(TB_CLASSIC, 1, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, 2400); /* deprecated */
    tb_finish(b);
    file = check_opens(b, NULL);
    assert_int_equal(geo_of(file)->epsg, 2400);
    check_close(file);
    tb_free(b);
}

static void case_64_no_crs_at_all_is_an_error_only_when_required(void **state)
{
    (void)state;
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    options.require_crs = true;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_gray(b, 64, 64);
        tb_finish(b);
        check_close(check_opens(b, NULL));
        check_done_fails(b, &options, DEFECT(FORMAT, GEO, .tag = ANY_INT, .ifd = ANY_INT));
        b = located(f);
        tb_finish(b);
        check_done_opens(b, &options);
    }
}

/* ---- 65: rotation ---- */

static void case_65_rotated_matrix_is_a_full_affine(void **state)
{
    (void)state;
    static const double matrix[16] = {8, 6, 0, 1000, 6, -8, 0, 2000, 0, 0, 0, 0, 0, 0, 0, 1};
    static const double expected[] = {1000, 8, 6, 2000, 6, -8};
    FORMATS(f)
    {
        tb *b = with_matrix(f, matrix, 16);
        tb_finish(b);
        tz_file *file = check_opens(b, NULL);
        assert_true(geo_of(file)->has_transform);
        for (size_t i = 0; i < 6; i++)
            assert_true(geo_of(file)->transform[i] == expected[i]);
        check_close(file);
        tb_free(b);
    }
}

static void case_65_rotated_matrix_of_points_is_shifted_once(void **state)
{
    (void)state;
    static const double matrix[16] = {8, 6, 0, 1000, 6, -8, 0, 2000, 0, 0, 0, 0, 0, 0, 0, 1};
    static const double expected[] = {1000 - 4 - 3, 8, 6, 2000 - 3 + 4, 6, -8};
    FORMATS(f)
    {
        tb *b = with_matrix(f, matrix, 16);
        TB_SHORTS(b, 0, TZ_TAG_GEO_KEYS, 1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 2, 3072, 0, 1,
                  32633);
        tb_finish(b);
        tz_file *file = check_opens(b, NULL);
        for (size_t i = 0; i < 6; i++)
            assert_true(geo_of(file)->transform[i] == expected[i]);
        check_close(file);
        tb_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(case_60_directory_shorter_than_its_header),
        CASE(case_60_directory_shorter_than_its_keys),
        CASE(case_60_sixty_five_thousand_keys_are_claimed),
        CASE(case_60_more_keys_than_allowed),
        CASE(case_60_version_2),
        CASE(case_60_unsorted_keys),
        CASE(case_60_duplicate_key),
        CASE(case_61_location_in_a_tag_that_is_absent),
        CASE(case_61_values_past_the_end_of_the_array),
        CASE(case_61_location_that_is_no_geo_tag),
        CASE(case_61_nine_values_in_the_entry),
        CASE(case_61_key_of_a_wrong_type),
        CASE(case_62_text_without_a_bar),
        CASE(case_62_text_with_a_nul_inside),
        CASE(case_62_ten_megabytes_of_text),
        CASE(case_62_text_that_is_not_utf8),
        CASE(case_62_empty_text),
        CASE(case_63_tie_points_in_part),
        CASE(case_63_no_tie_points),
        CASE(case_63_too_many_tie_points),
        CASE(case_63_many_tie_points_cost_no_more_than_the_file),
        CASE(case_63_many_tie_points_of_floats),
        CASE(case_63_scale_and_tie_point_of_floats),
        CASE(case_63_pixel_scale_of_wrong_values),
        CASE(case_63_pixel_scale_of_wrong_length),
        CASE(case_63_negative_y_scale_means_rows_go_up),
        CASE(case_63_singular_matrix),
        CASE(case_63_matrix_of_wrong_length),
        CASE(case_63_scale_and_matrix_together),
        CASE(case_63_rpc_of_wrong_length),
        CASE(case_64_private_and_reserved_codes),
        CASE(case_64_projected_without_a_projected_crs),
        CASE(case_64_user_defined_without_a_citation),
        CASE(case_64_reserved_model_and_raster_types),
        CASE(case_64_unknown_and_deprecated_codes),
        CASE(case_64_no_crs_at_all_is_an_error_only_when_required),
        CASE(case_65_rotated_matrix_is_a_full_affine),
        CASE(case_65_rotated_matrix_of_points_is_shifted_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
