/* SPDX-License-Identifier: Apache-2.0
 * Coordinate reference systems by PROJ. User-defined ones are compared with the same CRS as EPSG or
 * PROJ define it: both must send a point to the same place. */
#include <math.h>

#include "support/geo_fixture.h"

#ifdef TZ_HAVE_PROJ

#include <proj.h>

static tz_crs *open_crs(fixture *f)
{
    tz_crs *crs = NULL;
    parse(f);
    if (tz_crs_open_geo(&crs, &f->geo, &f->b.ctx) != TZ_OK)
        fail_msg("%s", f->b.err.message);
    return crs;
}

static void name_wkt_and_code(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, 1}, {3072, 32633});
    tz_crs *crs = open_crs(f);
    assert_string_equal(tz_crs_get_name(crs), "WGS 84 / UTM zone 33N");
    assert_int_equal(tz_crs_get_epsg(crs), 32633);
    assert_memory_equal(tz_crs_get_wkt(crs), "PROJCRS[\"WGS 84 / UTM zone 33N\",\n", 33);
    double lon, lat;
    assert_int_equal(tz_crs_to_lonlat(&lon, &lat, crs, 500000, 0, &f->b.err), TZ_OK);
    assert_true(fabs(lon - 15) < 1e-12 && fabs(lat) < 1e-12);
    tz_crs_close(crs);
}

/* Longitude first, whatever comes first at EPSG. */
static void longitude_comes_first(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, 2}, {2048, 4326});
    tz_crs *crs = open_crs(f);
    double lon, lat;
    assert_int_equal(tz_crs_to_lonlat(&lon, &lat, crs, 10, 50, &f->b.err), TZ_OK);
    assert_true(lon == 10 && lat == 50);
    tz_crs_close(crs);
    again(state);
    KEYS(f, {1024, 1}, {3072, 3035}); /* northing first at EPSG */
    crs = open_crs(f);
    assert_int_equal(tz_crs_to_lonlat(&lon, &lat, crs, 4321000, 3210000, &f->b.err), TZ_OK);
    assert_true(fabs(lon - 10) < 1e-9 && fabs(lat - 52) < 1e-9);
    tz_crs_close(crs);
}

static void points_outside_the_domain(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, 1}, {2048, 4326}, {3072, UD}, {3075, 21}, {3080, 0}, {3081, 0}); /* a disc */
    tz_crs *crs = open_crs(f);
    static const double points[][2] = {
        {1e7, 0}, {1e30, 1e30}, {NAN, 0}, {0, INFINITY}, {-INFINITY, NAN}};
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        double lon = 77, lat = 77;
        assert_int_equal(tz_crs_to_lonlat(&lon, &lat, crs, points[i][0], points[i][1], &f->b.err),
                         TZ_ERR_FORMAT);
        assert_int_equal(f->b.err.cause, TZ_CAUSE_GEO);
        assert_non_null(strstr(f->b.err.message, "outside the domain"));
        assert_true(lon == 77 && lat == 77);
        assert_int_equal(tz_crs_to_lonlat(&lon, &lat, crs, points[i][0], points[i][1], NULL),
                         TZ_ERR_FORMAT);
    }
    double lon, lat;
    assert_int_equal(tz_crs_to_lonlat(&lon, &lat, crs, 0, 0, &f->b.err), TZ_OK);
    tz_crs_close(crs);
}

/* Another body than the earth has no place on WGS 84. */
static void the_moon(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, 2}, {2048, UD}, {2057, 1737400}, {2059, 0});
    geo_text(&f->m, 2049, "GCS Name = GCS_Moon_2000|Datum = D_Moon_2000|Ellipsoid = Moon||");
    tz_crs *crs = open_crs(f);
    double lon, lat;
    assert_string_equal(tz_crs_get_name(crs), "GCS_Moon_2000");
    assert_int_equal(tz_crs_get_epsg(crs), 0);
    assert_int_equal(tz_crs_to_lonlat(&lon, &lat, crs, 1, 2, &f->b.err), TZ_ERR_UNSUPPORTED);
    assert_non_null(strstr(f->b.err.message, "no transform from GCS_Moon_2000"));
    tz_crs_close(crs);
}

/* ---- the same place as by the reference ---- */

static PJ *reference_way(PJ_CONTEXT *proj, const char *reference)
{
    PJ *plain = proj_create_crs_to_crs(proj, reference, "EPSG:4326", NULL);
    if (!plain)
        fail_msg("PROJ does not know %s", reference);
    PJ *way = proj_normalize_for_visualization(proj, plain);
    proj_destroy(plain);
    return way;
}

/* Points around lon, lat: there by the reference, back by both. */
static void check_points(const tz_crs *crs, const char *reference, double lon, double lat)
{
    PJ_CONTEXT *proj = proj_context_create();
    proj_context_set_enable_network(proj, 0);
    PJ *way = reference_way(proj, reference);
    for (int i = 0; i < 9; i++) {
        PJ_COORD at = proj_coord(lon + 0.1 * (i % 3 - 1), lat + 0.1 * (i / 3 - 1), 0, HUGE_VAL);
        PJ_COORD xy = proj_trans(way, PJ_INV, at);
        PJ_COORD expected = proj_trans(way, PJ_FWD, xy);
        double got[2];
        tz_error err;
        if (tz_crs_to_lonlat(&got[0], &got[1], crs, xy.v[0], xy.v[1], &err) != TZ_OK)
            fail_msg("%s: %s", reference, err.message);
        if (!(fabs(got[0] - expected.v[0]) < 1e-9 && fabs(got[1] - expected.v[1]) < 1e-9))
            fail_msg("%s: %.12g, %.12g instead of %.12g, %.12g (x %.6f, y %.6f)", reference, got[0],
                     got[1], expected.v[0], expected.v[1], xy.v[0], xy.v[1]);
    }
    proj_destroy(way);
    proj_context_destroy(proj);
}

typedef struct equivalent {
    const char *reference;
    double lon, lat;
    int epsg; /* 0: PROJ need not recognise it; -1: it is not in EPSG at all */
    key_value keys[16];
} equivalent;

static void check_equivalent(void **state, const equivalent *e)
{
    fixture *f = *state;
    KEYS(f, {1024, 1});
    add_keys(f, e->keys);
    tz_crs *crs = open_crs(f);
    check_points(crs, e->reference, e->lon, e->lat);
    if (e->epsg != 0 && tz_crs_get_epsg(crs) != (e->epsg > 0 ? e->epsg : 0))
        fail_msg("%s is recognised as %d\n%s", e->reference, tz_crs_get_epsg(crs),
                 tz_crs_get_wkt(crs));
    tz_crs_close(crs);
    again(state);
}

#define OWN(method)                                                                                \
    {3072, UD}, {3074, UD},                                                                        \
    {                                                                                              \
        3075, method                                                                               \
    }

/* Every method, against EPSG where it has an example. */
/* clang-format off */
static const equivalent methods[] = {
    {"EPSG:32633", 15, 50, 32633,
     {{2048, 4326}, OWN(1), {3080, 15}, {3081, 0}, {3082, 500000}, {3083, 0}, {3092, 0.9996}}},
    {"EPSG:3078", -86, 45, 3078,
     {{2048, 4269}, OWN(3), {3082, 2546731.496}, {3083, -4354009.816}, {3088, -86},
      {3089, 45.30916666666666}, {3093, 0.9996}, {3094, 337.25556}, {3096, 337.25556}}},
    {"EPSG:8441", 47, -19, 8441,
     {{2048, 4297}, OWN(4), {3082, 400000}, {3083, 800000}, {3088, 46.4372291666667},
      {3089, -18.9}, {3093, 0.9995}, {3094, 18.9}}},
    {"EPSG:21781", 7.5, 47, 21781,
     {{2048, 4149}, OWN(5), {3082, 600000}, {3083, 200000}, {3088, 7.43958333333333},
      {3089, 46.9524055555556}}},
    {"EPSG:3832", 150, 10, 3832, {{2048, 4326}, OWN(7), {3080, 150}, {3081, 0}, {3092, 1}}},
    {"EPSG:3994", 100, -41, 3994, {{2048, 4326}, OWN(7), {3078, -41}, {3080, 100}}},
    {"EPSG:3347", -92, 60, 3347,
     {{2048, 4269}, OWN(8), {3078, 49}, {3079, 77}, {3084, -91.8666666666667}, {3085, 63.390675},
      {3086, 6200000}, {3087, 3000000}}},
    {"EPSG:24200", -77, 18, 24200,
     {{2048, 4242}, OWN(9), {3080, -77}, {3081, 18}, {3082, 250000}, {3083, 150000}, {3092, 1}}},
    {"EPSG:3035", 10, 52, 3035,
     {{2048, 4258}, OWN(10), {3082, 4321000}, {3083, 3210000}, {3088, 10}, {3089, 52}}},
    {"EPSG:5070", -96, 40, 5070,
     {{2048, 4269}, OWN(11), {3078, 29.5}, {3079, 45.5}, {3080, -96}, {3081, 23}}},
    {"+proj=aeqd +lat_0=10 +lon_0=20 +x_0=1 +y_0=2 +datum=WGS84 +type=crs", 21, 12, -1,
     {{2048, 4326}, OWN(12), {3082, 1}, {3083, 2}, {3088, 20}, {3089, 10}}},
    {"+proj=eqdc +lat_0=30 +lon_0=10 +lat_1=20 +lat_2=60 +datum=WGS84 +type=crs", 12, 40, -1,
     {{2048, 4326}, OWN(13), {3078, 20}, {3079, 60}, {3080, 10}, {3081, 30}}},
    {"+proj=stere +lat_0=30 +lon_0=10 +k=0.9 +datum=WGS84 +type=crs", 12, 32, -1,
     {{2048, 4326}, OWN(14), {3088, 10}, {3089, 30}, {3092, 0.9}}},
    {"EPSG:32661", 20, 80, 5041, /* the same with x first */
     {{2048, 4326}, OWN(15), {3081, 90}, {3082, 2000000}, {3083, 2000000}, {3092, 0.994},
      {3095, 0}}},
    {"EPSG:3031", 20, -80, 3031, {{2048, 4326}, OWN(15), {3081, -71}, {3092, 1}, {3095, 0}}},
    {"EPSG:3413", -40, 80, 3413, {{2048, 4326}, OWN(15), {3081, 70}, {3095, -45}}},
    {"EPSG:28992", 5.4, 52.1, 28992,
     {{2048, 4289}, OWN(16), {3080, 5.38763888888889}, {3081, 52.1561605555556}, {3082, 155000},
      {3083, 463000}, {3092, 0.9999079}}},
    {"EPSG:4087", 20, 40, 4087, {{2048, 4326}, OWN(17), {3078, 0}, {3080, 0}}},
    {"+proj=eqc +lat_ts=20 +lat_0=5 +lon_0=10 +datum=WGS84 +type=crs", 20, 40, -1,
     {{2048, 4326}, OWN(17), {3078, 20}, {3080, 10}, {3081, 5}}},
    {"EPSG:28191", 35.2, 31.7, 28191,
     {{2048, 4281}, OWN(18), {3080, 35.2120805555556}, {3081, 31.7340969444444},
      {3082, 170251.555}, {3083, 126867.909}}},
    {"+proj=gnom +lat_0=30 +lon_0=10 +R=6371000 +type=crs", 12, 32, -1,
     {{2048, UD}, {2057, 6371000}, {2059, 0}, OWN(19), {3080, 10}, {3081, 30}}},
    {"+proj=mill +lon_0=10 +datum=WGS84 +type=crs", 12, 32, -1,
     {{2048, 4326}, OWN(20), {3088, 10}}},
    {"+proj=ortho +lat_0=30 +lon_0=10 +datum=WGS84 +type=crs", 12, 32, -1,
     {{2048, 4326}, OWN(21), {3088, 10}, {3089, 30}}},
    {"EPSG:5880", -54, -10, 5880,
     {{2048, 4674}, OWN(22), {3080, -54}, {3081, 0}, {3082, 5000000}, {3083, 10000000}}},
    {"+proj=robin +lon_0=10 +datum=WGS84 +type=crs", 12, 32, -1,
     {{2048, 4326}, OWN(23), {3088, 10}}},
    {"+proj=sinu +lon_0=10 +datum=WGS84 +type=crs", 12, 32, -1,
     {{2048, 4326}, OWN(24), {3088, 10}}},
    {"+proj=vandg +lon_0=10 +R=6371000 +type=crs", 12, 32, -1,
     {{2048, UD}, {2057, 6371000}, {2059, 0}, OWN(25), {3088, 10}}},
    {"EPSG:27200", 173, -41, 27200,
     {{2048, 4272}, OWN(26), {3080, 173}, {3081, -41}, {3082, 2510000}, {3083, 6023150}}},
    {"EPSG:2053", 29, -26, 2053, {{2048, 4148}, OWN(27), {3080, 29}, {3081, 0}, {3092, 1}}},
    {"EPSG:6933", 29, -26, 6933, {{2048, 4326}, OWN(28), {3078, 30}, {3080, 0}}},
    {"EPSG:29873", 115, 4, 29873,
     {{2048, 4298}, OWN(9815), {3082, 590476.87}, {3083, 442857.65}, {3088, 115}, {3089, 4},
      {3093, 0.99984}, {3094, 53.3158204722222}, {3096, 53.1301023611111}}},
};
/* clang-format on */

static void every_method(void **state)
{
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        check_equivalent(state, &methods[i]);
}

/* The same parameters under the other names that files use for them. */
/* clang-format off */
static const equivalent synonyms[] = {
    {"EPSG:32633", 15, 50, 32633,
     {{2048, 4326}, OWN(1), {3084, 15}, {3085, 0}, {3086, 500000}, {3087, 0}, {3093, 0.9996}}},
    {"EPSG:3347", -92, 60, 3347,
     {{2048, 4269}, OWN(8), {3078, 49}, {3079, 77}, {3080, -91.8666666666667}, {3081, 63.390675},
      {3082, 6200000}, {3083, 3000000}}},
    {"EPSG:3035", 10, 52, 3035,
     {{2048, 4258}, OWN(10), {3080, 10}, {3081, 52}, {3090, 4321000}, {3091, 3210000}}},
    {"EPSG:3413", -40, 80, 3413, {{2048, 4326}, OWN(15), {3080, -45}, {3081, 70}, {3092, 1}}},
};
/* clang-format on */

static void synonyms_of_parameters(void **state)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++)
        check_equivalent(state, &synonyms[i]);
}

/* clang-format off */
static const equivalent other_units[] = {
    /* US survey feet */
    {"EPSG:2225", -122, 40, 2225,
     {{2048, 4269}, OWN(8), {3076, 9003}, {3078, 41.6666666666667}, {3079, 40}, {3084, -122},
      {3085, 39.3333333333333}, {3086, 6561666.667}, {3087, 1640416.667}}},
    /* a foot of one's own size */
    {"EPSG:2225", -122, 40, 0,
     {{2048, 4269}, OWN(8), {3076, UD}, {3077, 0.304800609601219}, {3078, 41.6666666666667},
      {3079, 40}, {3084, -122}, {3085, 39.3333333333333}, {3086, 6561666.667},
      {3087, 1640416.667}}},
    /* grads from Paris */
    {"EPSG:27561", 2, 49, 27561,
     {{2048, 4807}, {2054, 9105}, OWN(9), {3080, 0}, {3081, 55}, {3082, 600000}, {3083, 200000},
      {3092, 0.999877341}}},
    /* and without a word about the unit, which is that of 4807 */
    {"EPSG:27561", 2, 49, 27561,
     {{2048, 4807}, OWN(9), {3080, 0}, {3081, 55}, {3082, 600000}, {3083, 200000},
      {3092, 0.999877341}}},
    /* azimuths in a unit of their own */
    {"EPSG:3078", -86, 45, 0,
     {{2048, 4269}, {2060, 9105}, OWN(3), {3082, 2546731.496}, {3083, -4354009.816}, {3088, -86},
      {3089, 45.30916666666666}, {3093, 0.9996}, {3094, 337.25556 / 0.9},
      {3096, 337.25556 / 0.9}}},
};
/* clang-format on */

static void units_of_projections(void **state)
{
    for (size_t i = 0; i < sizeof other_units / sizeof other_units[0]; i++)
        check_equivalent(state, &other_units[i]);
}

/* Base and conversion by codes, datum and ellipsoid by codes or by numbers. */
/* clang-format off */
static const equivalent by_parts[] = {
    {"EPSG:25833", 15, 50, 25833, {{2048, 4258}, {3072, UD}, {3074, 16033}}},
    {"EPSG:32733", 15, -50, 32733, {{2048, 4326}, {3072, UD}, {3074, 16133}}},
    {"EPSG:26729", -86, 32, 26729, {{2048, 4267}, {3072, UD}, {3074, 10101}, {3076, 9003}}},
    {"EPSG:32633", 15, 50, 32633,
     {{2048, UD}, {2050, 6326}, {2054, 9102}, {3072, UD}, {3074, 16033}}},
    {"EPSG:27561", 2, 49, 27561,
     {{2048, UD}, {2050, 6807}, {2054, 9105}, OWN(9), {3080, 0}, {3081, 55}, {3082, 600000},
      {3083, 200000}, {3092, 0.999877341}}},
    {"+proj=utm +zone=33 +ellps=bessel +type=crs", 15, 50, -1,
     {{2048, UD}, {2050, UD}, {2056, 7004}, {3072, UD}, {3074, 16033}}},
    {"+proj=utm +zone=33 +a=6377397.155 +rf=299.1528128 +type=crs", 15, 50, -1,
     {{2048, UD}, {2050, UD}, {2056, UD}, {2057, 6377397.155}, {2059, 299.1528128}, {3072, UD},
      {3074, 16033}}},
    {"+proj=tmerc +lon_0=2 +pm=paris +ellps=bessel +type=crs", 4, 50, -1,
     {{2048, UD}, {2050, UD}, {2051, 8903}, {2056, 7004}, OWN(1), {3080, 2}}},
    {"+proj=tmerc +lon_0=2 +pm=3 +ellps=bessel +type=crs", 4, 50, -1,
     {{2048, UD}, {2050, UD}, {2051, UD}, {2056, 7004}, {2061, 3}, OWN(1), {3080, 2}}},
};
/* clang-format on */

static void crs_by_parts(void **state)
{
    for (size_t i = 0; i < sizeof by_parts / sizeof by_parts[0]; i++)
        check_equivalent(state, &by_parts[i]);
}

/* GDAL's key for the way to WGS 84: three numbers or seven. */
static void transform_to_wgs84(void **state)
{
    static const double numbers[] = {598.1, 73.7, 418.2, 0.202, 0.045, -2.455, 6.7};
    static const char *const references[] = {
        "+proj=tmerc +lon_0=9 +x_0=3500000 +ellps=bessel +towgs84=598.1,73.7,418.2 +type=crs",
        "+proj=tmerc +lon_0=9 +x_0=3500000 +ellps=bessel "
        "+towgs84=598.1,73.7,418.2,0.202,0.045,-2.455,6.7 +type=crs"};
    fixture *f = *state;
    for (size_t i = 0; i < 2; i++) {
        size_t count = i == 0 ? 3 : 7;
        KEYS(f, {1024, 1}, {2048, UD}, {2056, 7004});
        geo_entry(&f->m, 2062, TZ_TAG_GEO_DOUBLES, count, 0);
        memcpy(f->m.doubles, numbers, sizeof numbers);
        f->m.double_count = 7;
        KEYS(f, OWN(1), {3080, 9}, {3082, 3500000});
        geo_text(&f->m, 3073, "Own Gauss-Krueger|");
        tz_crs *crs = open_crs(f);
        check_points(crs, references[i], 9, 50);
        assert_string_equal(tz_crs_get_name(crs), "Own Gauss-Krueger");
        assert_memory_equal(tz_crs_get_wkt(crs), "BOUNDCRS[\n", 10);
        tz_crs_close(crs);
        again(state);
    }
}

static void no_transform_to_wgs84(void **state)
{
    fixture *f = *state;
    for (size_t count = 0; count < 3; count++) {
        KEYS(f, {1024, 2}, {2048, UD});
        KEYS(f, {2057, 6377397.155}, {2059, 299.1528128});
        geo_entry(&f->m, 2062, TZ_TAG_GEO_DOUBLES, count == 0 ? 1 : 3, 2);
        f->m.doubles[f->m.double_count++] = 1;
        f->m.doubles[f->m.double_count++] = count == 1 ? NAN : 2;
        f->m.doubles[f->m.double_count++] = count == 2 ? INFINITY : 3;
        tz_crs *crs = open_crs(f);
        assert_memory_equal(tz_crs_get_wkt(crs), "GEOGCRS[", 8);
        tz_crs_close(crs);
        again(state);
    }
}

/* EPSG has it in metres, the file in feet. */
static void code_in_another_unit(void **state)
{
    static const struct {
        unsigned code;
        double size, metres;
        int epsg;
    } units[] = {{9003, 0, 1200. / 3937, 0}, {9036, 0, 1000, 0}, {UD, 2.5, 2.5, 0},
                 {9001, 0, 1, 32633},        {0, 0, 1, 32633},   {9999, 0, 1, 32633}};
    fixture *f = *state;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        KEYS(f, {1024, 1}, {3072, 32633}, {3076, units[i].code});
        if (units[i].size > 0)
            geo_double(&f->m, 3077, units[i].size);
        tz_crs *crs = open_crs(f);
        double lon, lat, lon_m, lat_m;
        assert_int_equal(tz_crs_get_epsg(crs), units[i].epsg);
        assert_string_equal(tz_crs_get_name(crs), "WGS 84 / UTM zone 33N");
        assert_int_equal(tz_crs_to_lonlat(&lon, &lat, crs, 600000 / units[i].metres,
                                          5e6 / units[i].metres, &f->b.err),
                         TZ_OK);
        tz_crs_close(crs);
        again(state);
        KEYS(f, {1024, 1}, {3072, 32633});
        crs = open_crs(f);
        assert_int_equal(tz_crs_to_lonlat(&lon_m, &lat_m, crs, 600000, 5e6, &f->b.err), TZ_OK);
        assert_true(fabs(lon - lon_m) < 1e-9 && fabs(lat - lat_m) < 1e-9);
        tz_crs_close(crs);
        again(state);
    }
}

static void compound(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, 1}, {3072, 25832}, {4096, 5783});
    tz_crs *crs = open_crs(f);
    assert_string_equal(tz_crs_get_name(crs), "ETRS89 / UTM zone 32N + DHHN92 height");
    check_points(crs, "EPSG:25832", 9, 50);
    tz_crs_close(crs);
    again(state);
    KEYS(f, {1024, 1}, {3072, 25832}, {4096, UD}, {4099, 9001});
    geo_text(&f->m, 4097, "Own heights|");
    crs = open_crs(f);
    assert_string_equal(tz_crs_get_name(crs), "ETRS89 / UTM zone 32N + Own heights");
    assert_memory_equal(tz_crs_get_wkt(crs), "COMPOUNDCRS[", 12);
    check_points(crs, "EPSG:25832", 9, 50);
    tz_crs_close(crs);
    again(state);
    const unsigned codes[] = {4937, 30990}; /* geographic with heights, and none at all */
    for (int i = 0; i < 2; i++) {
        KEYS(f, {1024, 1}, {3072, 25832}, {4096, codes[i]});
        crs = open_crs(f);
        assert_string_equal(tz_crs_get_name(crs), "ETRS89 / UTM zone 32N");
        check_points(crs, "EPSG:25832", 9, 50);
        tz_crs_close(crs);
        again(state);
    }
}

static void deprecated_code(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, 1}, {3072, 2192}); /* ED50 / France EuroLambert (deprecated) */
    tz_crs *crs = open_crs(f);
    assert_int_equal(tz_crs_get_epsg(crs), 2192);
    tz_crs_close(crs);
}

static void web_mercator_by_its_pe_string(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, UD}, {2048, 4326});
    geo_text(&f->m, 3073,
             "ESRI PE String = PROJCS[\"WGS_1984_Web_Mercator_Auxiliary_Sphere\","
             "GEOGCS[\"GCS_WGS_1984\",DATUM[\"D_WGS_1984\",SPHEROID[\"WGS_1984\",6378137.0,"
             "298.257223563]],PRIMEM[\"Greenwich\",0.0],UNIT[\"Degree\",0.0174532925199433]],"
             "PROJECTION[\"Mercator_Auxiliary_Sphere\"],PARAMETER[\"False_Easting\",0.0],"
             "PARAMETER[\"False_Northing\",0.0],PARAMETER[\"Central_Meridian\",0.0],"
             "PARAMETER[\"Standard_Parallel_1\",0.0],PARAMETER[\"Auxiliary_Sphere_Type\",0.0],"
             "UNIT[\"Meter\",1.0]]|");
    tz_crs *crs = open_crs(f);
    assert_int_equal(tz_crs_get_epsg(crs), 3857);
    check_points(crs, "EPSG:3857", 9, 50);
    tz_crs_close(crs);
}

static void geocentric_opens(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, 3}, {2048, UD}, {2050, 6326}, {2052, 9001});
    tz_crs *crs = open_crs(f);
    assert_memory_equal(tz_crs_get_wkt(crs), "GEODCRS[", 8);
    tz_crs_close(crs);
}

/* A name of the file's own goes through PROJ and back. */
static void hostile_names_pass_through(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, 2}, {2048, UD}, {2057, 6378137}, {2059, 298});
    geo_text(&f->m, 2049, "a\"],ID[\"EPSG\",4326]]\n\xff|");
    tz_crs *crs = open_crs(f);
    assert_string_equal(tz_crs_get_name(crs), "a\"],ID[\"EPSG\",4326]] ?");
    assert_int_equal(tz_crs_get_epsg(crs), 0);
    tz_crs_close(crs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(name_wkt_and_code),
        CASE(longitude_comes_first),
        CASE(points_outside_the_domain),
        CASE(the_moon),
        CASE(every_method),
        CASE(synonyms_of_parameters),
        CASE(units_of_projections),
        CASE(crs_by_parts),
        CASE(transform_to_wgs84),
        CASE(no_transform_to_wgs84),
        CASE(code_in_another_unit),
        CASE(compound),
        CASE(deprecated_code),
        CASE(web_mercator_by_its_pe_string),
        CASE(geocentric_opens),
        CASE(hostile_names_pass_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void every_call_says_that_proj_is_missing(void **state)
{
    fixture *f = *state;
    tz_crs *crs = NULL;
    double lon = 77, lat = 77;
    KEYS(f, {1024, 1}, {3072, 32633});
    parse(f);
    assert_int_equal(tz_crs_open_geo(&crs, &f->geo, &f->b.ctx), TZ_ERR_UNSUPPORTED);
    assert_null(crs);
    assert_int_equal(f->b.err.cause, TZ_CAUSE_UNSUPPORTED);
    assert_non_null(strstr(f->b.err.message, "without PROJ"));
    assert_non_null(strstr(f->b.err.message, "TERRAZZO_WITH_PROJ=ON"));
    assert_int_equal(tz_crs_to_lonlat(&lon, &lat, crs, 1, 2, &f->b.err), TZ_ERR_UNSUPPORTED);
    assert_true(lon == 77 && lat == 77);
    assert_string_equal(tz_crs_get_name(crs), "");
    assert_string_equal(tz_crs_get_wkt(crs), "");
    tz_crs_close(crs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(every_call_says_that_proj_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
