/* SPDX-License-Identifier: Apache-2.0
 * Transforms of points and bounds, and windows from bounds. Numbers are those of the definition of
 * UTM, of PROJ's own programs, or of simple geometry. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "support/alloc_hook.h"
#include "support/check.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static tz_crs *create_crs(const char *text)
{
    tz_crs *crs = NULL;
    tz_error err;
    if (tz_crs_create(&crs, text, &err) != TZ_OK)
        fail_msg("%s: %s", text, err.message);
    return crs;
}

/* ---- windows ---- */

enum { WIDTH = 60, HEIGHT = 40, LEVELS = 2 };

/* An image from 500000, 4500000 to the right and down, pixels of 10 metres, with an overview. */
static tz_file *open_image(tb **b, uint16_t epsg)
{
    tz_file *file = NULL;
    *b = tb_new(TB_CLASSIC);
    int image = tb_gray(*b, WIDTH, HEIGHT);
    tb_overview(*b, image, WIDTH / 2, HEIGHT / 2);
    tb_georeference(*b, image, epsg);
    tb_finish(*b);
    tz_error err;
    if (tz_open_memory(&file, (*b)->data, (*b)->size, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return file;
}

typedef struct window_case {
    double bounds[4]; /* pixels from the upper left corner: left, bottom, right, top */
    uint32_t level;
    bool boundless;
    tz_window window;
    bool clipped;
} window_case;

static void windows_grow_to_whole_pixels(void **state)
{
    (void)state;
    static const window_case cases[] = {
        {{0, 40, 60, 0}, 0, false, {0, 0, 60, 40}, false},
        {{0, 40, 60, 0}, 1, false, {0, 0, 30, 20}, false},
        {{0, 40, 60, 0}, TZ_LEVEL_AUTO, false, {0, 0, 60, 40}, false},
        {{3, 9, 5, 7}, 0, false, {3, 7, 2, 2}, false},
        {{3, 9, 5, 7}, 1, false, {1, 3, 2, 2}, false},
        {{2.5, 9.5, 5.5, 6.5}, 0, false, {2, 6, 4, 4}, false},
        {{2.9995, 9.0005, 5.0005, 6.9995}, 0, false, {3, 7, 2, 2}, false}, /* within a thousandth */
        {{3.1, 7.3, 3.2, 7.2}, 0, false, {3, 7, 1, 1}, false},
        {{-5, 45, 65, -5}, 0, false, {0, 0, 60, 40}, true},
        {{-5, 45, 65, -5}, 0, true, {-5, -5, 70, 50}, false},
        {{-9, -2, -4, -7}, 0, true, {-9, -7, 5, 5}, false},
        {{59.5, 1, 99, 0}, 0, false, {59, 0, 1, 1}, true},
    };
    tb *b;
    tz_file *file = open_image(&b, 32633);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const window_case *c = &cases[i];
        const double bounds[4] = {500000 + 10 * c->bounds[0], 4500000 - 10 * c->bounds[1],
                                  500000 + 10 * c->bounds[2], 4500000 - 10 * c->bounds[3]};
        tz_window w;
        bool clipped = !c->clipped;
        tz_error err;
        if (tz_window_from_bounds(&w, &clipped, file, c->level, bounds, NULL, c->boundless, &err) !=
            TZ_OK)
            fail_msg("%zu: %s", i, err.message);
        assert_true(w.column == c->window.column && w.row == c->window.row);
        assert_true(w.width == c->window.width && w.height == c->window.height);
        assert_int_equal(clipped, c->clipped);
        assert_int_equal(
            tz_window_from_bounds(&w, NULL, file, c->level, bounds, NULL, c->boundless, NULL),
            TZ_OK);
    }
    tz_close(file);
    tb_free(b);
}

static void check_no_window(const tz_file *file, uint32_t level, const double bounds[4],
                            const tz_crs *crs, bool boundless, tz_result result, tz_cause cause,
                            const char *part)
{
    tz_window w = {.width = 77};
    bool clipped = true;
    tz_error err = {.result = TZ_OK};
    const tz_result got =
        tz_window_from_bounds(&w, &clipped, file, level, bounds, crs, boundless, &err);
    if (got != result || err.cause != cause || !strstr(err.message, part))
        fail_msg("%s: %s, %s (%s)", part, tz_result_name(got), tz_cause_name(err.cause),
                 err.message);
    assert_true(w.width == 77 && clipped);
}

static void windows_that_there_are_not(void **state)
{
    (void)state;
    static const double inside[] = {500010, 4499700, 500050, 4499900}, left[] = {0, 0, 500000, 5e6},
                        degrees[] = {9, 40, 10, 41}, swapped[] = {5, 0, 4, 1},
                        flat[] = {0, 5, 1, 5}, infinite[] = {0, 0, INFINITY, 1},
                        far_away[] = {1e300, 0, 2e300, 1};
    tb *b;
    tz_file *file = open_image(&b, 32633);
    check_no_window(file, 0, left, NULL, false, TZ_ERR_ARG, TZ_CAUSE_ARG,
                    "which is 500000,4499600,500600,4500000");
    check_no_window(file, 0, degrees, NULL, false, TZ_ERR_ARG, TZ_CAUSE_ARG, "looks like degrees");
    check_no_window(file, LEVELS, inside, NULL, false, TZ_ERR_ARG, TZ_CAUSE_ARG, "no level 2");
    check_no_window(file, 0, swapped, NULL, false, TZ_ERR_ARG, TZ_CAUSE_ARG, "in order");
    check_no_window(file, 0, flat, NULL, true, TZ_ERR_ARG, TZ_CAUSE_ARG, "in order");
    check_no_window(file, 0, infinite, NULL, true, TZ_ERR_ARG, TZ_CAUSE_ARG, "finite");
    check_no_window(file, 0, far_away, NULL, true, TZ_ERR_ARG, TZ_CAUSE_ARG, "too far away");
    tz_crs *same = create_crs("EPSG:32633");
    tz_window w;
    assert_int_equal(tz_window_from_bounds(&w, NULL, file, 0, inside, same, false, NULL), TZ_OK);
    assert_true(w.column == 1 && w.row == 10 && w.width == 4 && w.height == 20);
    tz_crs_close(same);
#ifndef TZ_HAVE_PROJ
    tz_crs *other = create_crs("EPSG:4326");
    check_no_window(file, 0, degrees, other, false, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                    "without PROJ");
    tz_crs_close(other);
#endif
    tz_close(file);
    tb_free(b);

    b = tb_new(TB_CLASSIC);
    tb_gray(b, 5, 5);
    tb_finish(b);
    assert_int_equal(tz_open_memory(&file, b->data, b->size, NULL, NULL), TZ_OK);
    check_no_window(file, 0, inside, NULL, true, TZ_ERR_ARG, TZ_CAUSE_GEO, "geotransform");
    tz_close(file);
    tb_free(b);

    b = tb_new(TB_CLASSIC);
    int image = tb_gray(b, 5, 5);
    TB_DOUBLES(b, image, TZ_TAG_TRANSFORMATION, 1, 1, 0, 0, 1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
    tb_finish(b);
    assert_int_equal(tz_open_memory(&file, b->data, b->size, NULL, NULL), TZ_OK);
    check_no_window(file, 0, inside, NULL, true, TZ_ERR_UNSUPPORTED, TZ_CAUSE_GEO, "rotated");
    tz_close(file);
    tb_free(b);
}

#ifdef TZ_HAVE_PROJ

static void windows_of_bounds_in_another_crs(void **state)
{
    (void)state;
    static const double degrees[] = {15.001, 40.648, 15.004, 40.649},
                        elsewhere[] = {20, 40, 21, 41}, beyond[] = {0, 95, 1, 96};
    tb *b;
    tz_file *file = open_image(&b, 32633);
    tz_crs *lonlat = create_crs("EPSG:4326");
    tz_crs *own = NULL;
    tz_window w, by_hand;
    double bounds[4];
    bool clipped;
    assert_int_equal(tz_crs_from_file(&own, file, NULL), TZ_OK);
    assert_int_equal(tz_bounds_transform(bounds, degrees, lonlat, own, 0, NULL), TZ_OK);
    assert_int_equal(tz_window_from_bounds(&by_hand, NULL, file, 0, bounds, NULL, false, NULL),
                     TZ_OK);
    assert_int_equal(tz_window_from_bounds(&w, &clipped, file, 0, degrees, lonlat, false, NULL),
                     TZ_OK);
    assert_memory_equal(&w, &by_hand, sizeof w);
    assert_true(w.column == 8 && w.width == 26);
    check_no_window(file, 0, elsewhere, lonlat, false, TZ_ERR_ARG, TZ_CAUSE_ARG,
                    "in the CRS of the file does not meet");
    check_no_window(file, 0, beyond, lonlat, true, TZ_ERR_ARG, TZ_CAUSE_GEO, "no counterpart");
    tz_crs_close(own);
    tz_crs_close(lonlat);
    tz_close(file);
    tb_free(b);
}

/* ---- points ---- */

static void points_go_there_and_back(void **state)
{
    (void)state;
    tz_crs *lonlat = create_crs("EPSG:4326"), *utm = create_crs("EPSG:32633+5783");
    tz_transformer *there = NULL, *back = NULL;
    assert_int_equal(tz_transformer_create(&there, lonlat, utm, NULL), TZ_OK);
    assert_int_equal(tz_transformer_create(&back, utm, lonlat, NULL), TZ_OK);
    tz_crs_close(lonlat); /* a transformer does not need them */
    tz_crs_close(utm);
    double x[1000], y[1000];
    size_t failed = 99;
    for (size_t i = 0; i < COUNT(x); i++) {
        x[i] = 12 + 0.006 * (double)i;
        y[i] = (double)i * 0.08;
    }
    assert_int_equal(tz_transformer_apply(&failed, there, x, y, COUNT(x), NULL), TZ_OK);
    assert_int_equal(failed, 0);
    assert_true(fabs(x[500] - 500000) < 1e-6 && y[500] > 4.4e6 && y[500] < 4.5e6);
    assert_int_equal(tz_transformer_apply(NULL, back, x, y, COUNT(x), NULL), TZ_OK);
    for (size_t i = 0; i < COUNT(x); i++)
        assert_true(fabs(x[i] - 12 - 0.006 * (double)i) < 1e-9 &&
                    fabs(y[i] - (double)i * 0.08) < 1e-9);
    assert_int_equal(tz_transformer_apply(NULL, there, NULL, NULL, 0, NULL), TZ_OK);
    tz_transformer_close(there);
    tz_transformer_close(back);
    tz_transformer_close(NULL);
}

static void points_without_a_counterpart(void **state)
{
    (void)state;
    tz_crs *disc = create_crs("+proj=ortho +lat_0=0 +lon_0=0 +R=6371000");
    tz_crs *sphere = create_crs("+proj=longlat +R=6371000");
    tz_transformer *transformer = NULL;
    tz_error err;
    assert_int_equal(tz_transformer_create(&transformer, disc, sphere, &err), TZ_OK);
    for (int counted = 0; counted < 2; counted++) {
        double x[] = {0, 1e7, NAN, 0, 100}, y[] = {0, 0, 0, INFINITY, 100};
        size_t failed = 77;
        const tz_result result =
            tz_transformer_apply(counted ? &failed : NULL, transformer, x, y, COUNT(x), &err);
        assert_int_equal(result, counted ? TZ_OK : TZ_ERR_ARG);
        assert_int_equal(failed, counted ? 3 : 77);
        assert_true(x[0] == 0 && y[0] == 0 && isfinite(x[4]) && isfinite(y[4]));
        for (int i = 1; i < 4; i++)
            assert_true(isnan(x[i]) && isnan(y[i]));
    }
    assert_int_equal(err.cause, TZ_CAUSE_GEO);
    assert_non_null(strstr(err.message, "point 1 (1e+07, 0)"));
    assert_non_null(strstr(err.message, "3 of 5"));
    tz_transformer_close(transformer);
    tz_crs_close(disc);
    tz_crs_close(sphere);
}

static void transforms_that_there_are_not(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"EPSG:4326", "EPSG:4978"},
                                           {"EPSG:4978", "EPSG:4326"},
                                           {"EPSG:4326", "EPSG:5783"},
                                           {"EPSG:4326", "IAU_2015:49900"}};
    for (size_t i = 0; i < COUNT(pairs); i++) {
        tz_crs *from = create_crs(pairs[i][0]), *to = create_crs(pairs[i][1]);
        tz_transformer *transformer = NULL;
        tz_error err;
        if (tz_transformer_create(&transformer, from, to, &err) != TZ_ERR_UNSUPPORTED)
            fail_msg("%s to %s", pairs[i][0], pairs[i][1]);
        assert_int_equal(err.cause, TZ_CAUSE_GEO);
        assert_null(transformer);
        tz_crs_close(from);
        tz_crs_close(to);
    }
}

/* ---- bounds ---- */

static void bounds_are_enclosed(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
        double bounds[4], expected[4], error;
    } rows[] = {
        /* the edge between corners of the same latitude bulges: 61 points or 21 show it */
        {"EPSG:4326",
         "EPSG:32633",
         {12, 50, 18, 51},
         {285015.76, 5538630.70, 714984.24, 5654109.18},
         0.01},
        {"EPSG:32633", "EPSG:32633", {1, 2, 3, 4}, {1, 2, 3, 4}, 0},
        {"EPSG:4326", "OGC:CRS84", {1, 2, 3, 4}, {1, 2, 3, 4}, 0},
        /* a pole */
        {"EPSG:3031", "EPSG:4326", {-1e6, -1e6, 1e6, 1e6}, {-180, -90, 180, -76.89}, 0.2},
        /* the antimeridian, out and in */
        {"EPSG:32660", "EPSG:4326", {7e5, 4e6, 1e6, 4.1e6}, {179.2, 36, -177.4, 37.1}, 0.2},
        {"EPSG:4326", "EPSG:3832", {170, -10, -170, 10}, {2226390, -1111475, 4452780, 1111475}, 2},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        tz_crs *from = create_crs(rows[i].from), *to = create_crs(rows[i].to);
        double out[4];
        tz_error err;
        if (tz_bounds_transform(out, rows[i].bounds, from, to, 0, &err) != TZ_OK)
            fail_msg("%s: %s", rows[i].from, err.message);
        for (int k = 0; k < 4; k++)
            if (!(fabs(out[k] - rows[i].expected[k]) <= rows[i].error))
                fail_msg("%s to %s: %.3f %.3f %.3f %.3f", rows[i].from, rows[i].to, out[0], out[1],
                         out[2], out[3]);
        tz_crs_close(from);
        tz_crs_close(to);
    }
}

static void more_points_find_more(void **state)
{
    (void)state;
    static const double asked[4] = {0, 50, 31, 51};
    tz_crs *from = create_crs("EPSG:4326"), *to = create_crs("EPSG:32633");
    double few[4], many[4], in_place[4] = {0, 50, 31, 51};
    assert_int_equal(tz_bounds_transform(few, asked, from, to, 1, NULL), TZ_OK);
    assert_int_equal(tz_bounds_transform(many, asked, from, to, 1000, NULL), TZ_OK);
    assert_true(many[0] <= few[0] && many[1] <= few[1] && many[2] >= few[2] && many[3] >= few[3]);
    assert_int_equal(tz_bounds_transform(in_place, in_place, from, to, 1000, NULL), TZ_OK);
    assert_memory_equal(in_place, many, sizeof many);
    static const double wrong[][4] = {{0, 1, 1, 0}, {NAN, 0, 1, 1}, {0, 0, INFINITY, 1}};
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_int_equal(tz_bounds_transform(few, wrong[i], from, to, 0, NULL), TZ_ERR_ARG);
    static const double crossing[4] = {2, 0, 1, 1};
    assert_int_equal(tz_bounds_transform(few, crossing, to, from, 0, NULL), TZ_ERR_ARG);
    assert_int_equal(tz_bounds_transform(few, asked, from, to, 10001, NULL), TZ_ERR_ARG);
    tz_crs_close(from);
    tz_crs_close(to);
}

/* ---- threads and memory ---- */

/* A transformer and the handles that it was made of, each in a thread of its own. */
static void *use_crs(void *user)
{
    tz_geo *geo = NULL;
    for (int i = 0; i < 20; i++) {
        double lon, lat;
        const char *text = NULL;
        if (tz_crs_to_lonlat(&lon, &lat, user, 500000, 0, NULL) != TZ_OK ||
            tz_crs_export(&text, user, TZ_CRS_FORMAT_PROJJSON, NULL) != TZ_OK ||
            tz_crs_to_geo(&geo, user, TZ_RASTER_TYPE_AREA, NULL) != TZ_OK)
            return NULL;
        tz_geo_free(geo);
    }
    return user;
}

static void *use_transformer(void *user)
{
    for (int i = 0; i < 2000; i++) {
        double x = 500000, y = i;
        if (tz_transformer_apply(NULL, user, &x, &y, 1, NULL) != TZ_OK)
            return NULL;
    }
    return user;
}

static void handles_share_nothing(void **state)
{
    (void)state;
    enum { THREADS = 3 };
    tz_crs *from = create_crs("EPSG:32633"), *to = create_crs("EPSG:3035");
    tz_transformer *transformer = NULL;
    assert_int_equal(tz_transformer_create(&transformer, from, to, NULL), TZ_OK);
    pthread_t threads[THREADS];
    assert_int_equal(pthread_create(&threads[0], NULL, use_crs, from), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, use_crs, to), 0);
    assert_int_equal(pthread_create(&threads[2], NULL, use_transformer, transformer), 0);
    for (int i = 0; i < THREADS; i++) {
        void *done = NULL;
        pthread_join(threads[i], &done);
        assert_non_null(done);
    }
    tz_transformer_close(transformer);
    tz_crs_close(from);
    tz_crs_close(to);
}

static void every_allocation_fails(void **state)
{
    (void)state;
    static const double degrees[] = {15.001, 40.648, 15.004, 40.649};
    tb *b;
    tz_file *file = open_image(&b, 32633);
    tz_crs *lonlat = create_crs("EPSG:4326");
    uint64_t failures = 1;
    for (uint64_t n = 1; failures > 0; n++) {
        tz_window w;
        tz_error err = {.result = TZ_OK};
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        const tz_result result =
            tz_window_from_bounds(&w, NULL, file, 0, degrees, lonlat, false, &err);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        failures = stats.failures;
        assert_int_equal(result, failures > 0 ? TZ_ERR_NOMEM : TZ_OK);
        assert_int_equal(err.result, result);
        assert_int_equal(stats.live_bytes, 0);
    }
    tz_crs_close(lonlat);
    tz_close(file);
    tb_free(b);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_grow_to_whole_pixels),
        cmocka_unit_test(windows_that_there_are_not),
#ifdef TZ_HAVE_PROJ
        cmocka_unit_test(windows_of_bounds_in_another_crs),
        cmocka_unit_test(points_go_there_and_back),
        cmocka_unit_test(points_without_a_counterpart),
        cmocka_unit_test(transforms_that_there_are_not),
        cmocka_unit_test(bounds_are_enclosed),
        cmocka_unit_test(more_points_find_more),
        cmocka_unit_test(handles_share_nothing),
        cmocka_unit_test(every_allocation_fails),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
