/* SPDX-License-Identifier: Apache-2.0
 * From raster to model space: scale and tiepoint, matrix, control points, RPC. */
#include <math.h>

#include "support/alloc_hook.h"
#include "support/geo_fixture.h"

static void check_transform(const tz_geo *geo, const double t[6])
{
    assert_true(geo->has_transform);
    assert_int_equal(geo->gcp_count, 0);
    for (int i = 0; i < 6; i++)
        if (geo->transform[i] != t[i])
            fail_msg("transform[%d] is %.17g instead of %.17g", i, geo->transform[i], t[i]);
}

/* ---- transform ---- */

static void scale_and_tiepoint(void **state)
{
    fixture *f = *state;
    GEO_SCALE(&f->m, 10, 20, 0);
    GEO_TIEPOINTS(&f->m, 2, 3, 0, 500000, 4000000, 0);
    parse(f);
    bench_silent(&f->b);
    check_transform(&f->geo, (const double[]){499980, 10, 0, 4000060, 0, -20});
}

static void scale_and_tiepoint_of_points(void **state)
{
    fixture *f = *state;
    geo_short(&f->m, 1025, 2);
    GEO_SCALE(&f->m, 10, 20, 0);
    GEO_TIEPOINTS(&f->m, 0, 0, 0, 500000, 4000000, 0);
    parse(f);
    bench_silent(&f->b);
    check_transform(&f->geo, (const double[]){499995, 10, 0, 4000010, 0, -20});
}

static void first_tiepoint_counts_with_a_scale(void **state)
{
    fixture *f = *state;
    GEO_SCALE(&f->m, 1, 1, 0);
    GEO_TIEPOINTS(&f->m, 0, 0, 0, 5, 6, 0, 10, 10, 0, 7, 8, 0);
    parse(f);
    bench_silent(&f->b);
    check_transform(&f->geo, (const double[]){5, 1, 0, 6, 0, -1});
}

static void negative_y_scale_means_rows_go_up(void **state)
{
    fixture *f = *state;
    GEO_SCALE(&f->m, 10, -20, 0);
    GEO_TIEPOINTS(&f->m, 0, 1, 0, 5, 6, 0);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_PIXEL_SCALE, TZ_NO_VALUE, TZ_NO_VALUE, "y scale is negative");
    check_transform(&f->geo, (const double[]){5, 10, 0, -14, 0, 20});
    check_strict(f);
}

static void negative_x_scale(void **state)
{
    fixture *f = *state;
    GEO_SCALE(&f->m, -10, 20, 0);
    GEO_TIEPOINTS(&f->m, 0, 0, 0, 5, 6, 0);
    parse(f);
    bench_silent(&f->b);
    check_transform(&f->geo, (const double[]){5, -10, 0, 6, 0, -20});
}

static void check_bad_scale(void **state, double x, double y, const char *text)
{
    fixture *f = *state;
    GEO_SCALE(&f->m, x, y, 0);
    GEO_TIEPOINTS(&f->m, 0, 0, 0, 5, 6, 0);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_PIXEL_SCALE, TZ_NO_VALUE, TZ_NO_VALUE, text);
    assert_false(f->geo.has_transform);
    assert_int_equal(f->geo.gcp_count, 1); /* the tiepoint is still true */
    check_strict(f);
    end(state);
    begin(state);
}

static void scale_that_is_none(void **state)
{
    check_bad_scale(state, 0, 0, "scale is zero");
    check_bad_scale(state, 1, 0, "scale is zero");
    check_bad_scale(state, 0, 1, "scale is zero");
    check_bad_scale(state, NAN, 1, "not a number");
    check_bad_scale(state, 1, NAN, "not a number");
    check_bad_scale(state, INFINITY, 1, "not a number");
    check_bad_scale(state, 1, -INFINITY, "not a number");
}

static void scale_of_two_values_is_enough(void **state)
{
    fixture *f = *state;
    GEO_SCALE(&f->m, 10, 20);
    GEO_TIEPOINTS(&f->m, 0, 0, 0, 5, 6, 0);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_PIXEL_SCALE, 3, 2, "number of values");
    check_transform(&f->geo, (const double[]){5, 10, 0, 6, 0, -20});
    check_strict(f);
}

static void scale_of_one_value_is_not(void **state)
{
    fixture *f = *state;
    GEO_SCALE(&f->m, 10);
    GEO_TIEPOINTS(&f->m, 0, 0, 0, 5, 6, 0);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_PIXEL_SCALE, 3, 1, "number of values");
    assert_false(f->geo.has_transform);
}

static void scale_without_a_tiepoint(void **state)
{
    fixture *f = *state;
    GEO_SCALE(&f->m, 10, 10, 0);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_TIEPOINTS, 6, 0, "no tiepoint");
    assert_false(f->geo.has_transform);
    check_strict(f);
}

static void transform_that_overflows(void **state)
{
    fixture *f = *state;
    GEO_SCALE(&f->m, 1e308, 1, 0);
    GEO_TIEPOINTS(&f->m, 1e10, 0, 0, 5, 6, 0);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_TIEPOINTS, TZ_NO_VALUE, TZ_NO_VALUE, "infinite");
    assert_false(f->geo.has_transform);
}

static void tiny_pixels_are_not_singular(void **state)
{
    fixture *f = *state;
    GEO_SCALE(&f->m, 1e-200, 1e-200, 0);
    GEO_TIEPOINTS(&f->m, 0, 0, 0, 0, 0, 0);
    parse(f);
    bench_silent(&f->b);
    check_transform(&f->geo, (const double[]){0, 1e-200, 0, 0, 0, -1e-200});
}

static void tiepoints_of_a_wrong_number(void **state)
{
    static const struct {
        uint64_t count, expected;
        uint32_t gcps;
    } cases[] = {{0, 6, 0}, {1, 6, 0}, {5, 6, 0}, {7, 12, 1}, {13, 18, 2}};
    fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double numbers[13] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
        geo_array(&f->m, &f->m.tags.tiepoints, &f->m.tags.tiepoint_count, numbers,
                  (size_t)cases[i].count);
        parse(f);
        bench_warned(&f->b, GEO, TZ_TAG_TIEPOINTS, cases[i].expected, cases[i].count,
                     "number of values");
        assert_false(f->geo.has_transform);
        assert_int_equal(f->geo.gcp_count, cases[i].gcps);
        check_strict(f);
        end(state);
        begin(state);
    }
}

static void matrix(void **state)
{
    fixture *f = *state;
    GEO_MATRIX(&f->m, 1, 2, 0, 3, 4, 5, 0, 6, 0, 0, 0, 0, 0, 0, 0, 1);
    parse(f);
    bench_silent(&f->b);
    check_transform(&f->geo, (const double[]){3, 1, 2, 6, 4, 5});
}

static void matrix_of_points_is_shifted_once(void **state)
{
    fixture *f = *state;
    geo_short(&f->m, 1025, 2);
    GEO_MATRIX(&f->m, 1, 2, 0, 3, 4, 5, 0, 6, 0, 0, 0, 0, 0, 0, 0, 1);
    parse(f);
    check_transform(&f->geo, (const double[]){1.5, 1, 2, 1.5, 4, 5});
}

static void matrix_that_is_singular(void **state)
{
    fixture *f = *state;
    static const double matrices[][6] = {
        {0, 0, 3, 0, 0, 6}, {1, 2, 3, 2, 4, 6}, {0, 1, 3, 0, 1, 6}, {1, 0, 3, 0, 0, 6}};
    for (size_t i = 0; i < 4; i++) {
        const double *t = matrices[i];
        GEO_MATRIX(&f->m, t[0], t[1], 0, t[2], t[3], t[4], 0, t[5], 0, 0, 0, 0, 0, 0, 0, 1);
        parse(f);
        bench_warned(&f->b, GEO, TZ_TAG_TRANSFORMATION, TZ_NO_VALUE, TZ_NO_VALUE, "singular");
        assert_false(f->geo.has_transform);
        check_strict(f);
        end(state);
        begin(state);
    }
}

static void matrix_with_infinite_values(void **state)
{
    fixture *f = *state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 18; i++) {
        double t[6] = {1, 2, 3, 4, 5, 6};
        t[i % 6] = bad[i / 6];
        GEO_MATRIX(&f->m, t[0], t[1], 0, t[2], t[3], t[4], 0, t[5], 0, 0, 0, 0, 0, 0, 0, 1);
        parse(f);
        bench_warned(&f->b, GEO, TZ_TAG_TRANSFORMATION, TZ_NO_VALUE, TZ_NO_VALUE, "not a number");
        assert_false(f->geo.has_transform);
        end(state);
        begin(state);
    }
}

static void matrix_of_a_wrong_number(void **state)
{
    fixture *f = *state;
    GEO_MATRIX(&f->m, 1, 0, 0, 3, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_TRANSFORMATION, 16, 15, "number of values");
    assert_false(f->geo.has_transform);
    check_strict(f);
}

static void scale_and_matrix_scale_wins(void **state)
{
    fixture *f = *state;
    GEO_SCALE(&f->m, 10, 20, 0);
    GEO_TIEPOINTS(&f->m, 0, 0, 0, 5, 6, 0);
    GEO_MATRIX(&f->m, 1, 0, 0, 3, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 1);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_TRANSFORMATION, TZ_NO_VALUE, TZ_NO_VALUE, "the scale is used");
    check_transform(&f->geo, (const double[]){5, 10, 0, 6, 0, -20});
    check_strict(f);
}

static void scale_and_matrix_without_a_tiepoint(void **state)
{
    fixture *f = *state;
    GEO_SCALE(&f->m, 10, 20, 0);
    GEO_MATRIX(&f->m, 1, 0, 0, 3, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 1);
    parse(f);
    assert_int_equal(f->b.warnings.count, 2);
    assert_non_null(bench_find(&f->b, "the transformation is used"));
    check_transform(&f->geo, (const double[]){3, 1, 0, 6, 0, 1});
}

/* ---- control points ---- */

static void tiepoints_alone_are_control_points(void **state)
{
    fixture *f = *state;
    GEO_TIEPOINTS(&f->m, 0, 0, 1, 10, 20, 2, 99, 0, 0, 11, 20, 0, 0, 99, 0, 10, 19, 0, 99, 99, 0,
                  11, 19, 0);
    parse(f);
    bench_silent(&f->b);
    assert_false(f->geo.has_transform);
    assert_int_equal(f->geo.gcp_count, 4);
    const tz_gcp *first = &f->geo.gcps[0];
    assert_true(first->column == 0 && first->row == 0 && first->depth == 1);
    assert_true(first->x == 10 && first->y == 20 && first->z == 2);
    assert_true(f->geo.gcps[3].column == 99 && f->geo.gcps[3].y == 19);
}

static void control_points_of_points_are_shifted(void **state)
{
    fixture *f = *state;
    geo_short(&f->m, 1025, 2);
    GEO_TIEPOINTS(&f->m, 0, 1, 0, 10, 20, 2, 99, 0, 0, 11, 20, 0);
    parse(f);
    assert_int_equal(f->geo.gcp_count, 2);
    assert_true(f->geo.gcps[0].column == 0.5 && f->geo.gcps[0].row == 1.5);
    assert_true(f->geo.gcps[0].x == 10 && f->geo.gcps[0].depth == 0);
    assert_true(f->geo.gcps[1].column == 99.5 && f->geo.gcps[1].row == 0.5);
}

static void control_points_that_are_nowhere(void **state)
{
    fixture *f = *state;
    GEO_TIEPOINTS(&f->m, NAN, 1, 0, 10, 20, 2, 1, 2, 3, 4, 5, 6, 0, 1, 0, 10, INFINITY, 2);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_TIEPOINTS, TZ_NO_VALUE, TZ_NO_VALUE, "not a number");
    assert_int_equal(f->b.warnings.list[0].count, 2);
    assert_int_equal(f->geo.gcp_count, 1);
    assert_true(f->geo.gcps[0].column == 1 && f->geo.gcps[0].z == 6);
}

static void more_control_points_than_gdal_writes(void **state)
{
    fixture *f = *state;
    enum { COUNT = 50000 };
    double *numbers = malloc(COUNT * 6 * sizeof *numbers);
    for (int i = 0; i < COUNT * 6; i++)
        numbers[i] = i;
    geo_array(&f->m, &f->m.tags.tiepoints, &f->m.tags.tiepoint_count, numbers, COUNT * 6);
    free(numbers);
    alloc_hook_install();
    parse(f);
    alloc_stats stats = alloc_hook_stats();
    alloc_hook_remove();
    assert_int_equal(f->geo.gcp_count, COUNT);
    assert_true(f->geo.gcps[COUNT - 1].z == COUNT * 6 - 1);
    assert_int_equal(stats.allocations, 0);
    bench_silent(&f->b);
}

static void rpc(void **state)
{
    fixture *f = *state;
    double numbers[93] = {0};
    for (int i = 0; i < 93; i++)
        numbers[i] = i;
    geo_array(&f->m, &f->m.tags.rpc, &f->m.tags.rpc_count, numbers, 92);
    parse(f);
    bench_silent(&f->b);
    assert_true(f->geo.rpc[91] == 91);
    for (size_t count = 91; count <= 93; count += 2) {
        end(state);
        begin(state);
        geo_array(&f->m, &f->m.tags.rpc, &f->m.tags.rpc_count, numbers, count);
        parse(f);
        bench_warned(&f->b, GEO, TZ_TAG_RPC, 92, count, "number of values");
        assert_null(f->geo.rpc);
        check_strict(f);
    }
}

static void rpc_that_is_not_finite(void **state)
{
    fixture *f = *state;
    double numbers[92] = {0};
    numbers[91] = NAN;
    geo_array(&f->m, &f->m.tags.rpc, &f->m.tags.rpc_count, numbers, 92);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_RPC, TZ_NO_VALUE, TZ_NO_VALUE, "not a number");
    assert_null(f->geo.rpc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(scale_and_tiepoint),
        CASE(scale_and_tiepoint_of_points),
        CASE(first_tiepoint_counts_with_a_scale),
        CASE(negative_y_scale_means_rows_go_up),
        CASE(negative_x_scale),
        CASE(scale_that_is_none),
        CASE(scale_of_two_values_is_enough),
        CASE(scale_of_one_value_is_not),
        CASE(scale_without_a_tiepoint),
        CASE(transform_that_overflows),
        CASE(tiny_pixels_are_not_singular),
        CASE(tiepoints_of_a_wrong_number),
        CASE(matrix),
        CASE(matrix_of_points_is_shifted_once),
        CASE(matrix_that_is_singular),
        CASE(matrix_with_infinite_values),
        CASE(matrix_of_a_wrong_number),
        CASE(scale_and_matrix_scale_wins),
        CASE(scale_and_matrix_without_a_tiepoint),
        CASE(tiepoints_alone_are_control_points),
        CASE(control_points_of_points_are_shifted),
        CASE(control_points_that_are_nowhere),
        CASE(more_control_points_than_gdal_writes),
        CASE(rpc),
        CASE(rpc_that_is_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
