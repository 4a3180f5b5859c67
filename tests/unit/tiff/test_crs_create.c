/* SPDX-License-Identifier: Apache-2.0
 * Coordinate reference systems from text, and their way into GeoKeys and out again. A build without
 * PROJ knows codes, and names PROJ for everything else. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/alloc_hook.h"
#include "support/check.h"
#include "tiff/geo/geo.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#ifdef TZ_HAVE_PROJ
enum { HAVE_PROJ = 1 };
#else
enum { HAVE_PROJ = 0 };
#endif

static tz_crs *create_crs(const char *text)
{
    tz_crs *crs = NULL;
    tz_error err;
    if (tz_crs_create(&crs, text, &err) != TZ_OK)
        fail_msg("%s: %s", text, err.message);
    return crs;
}

static void check_refused(const char *text, tz_result result, tz_cause cause, const char *part)
{
    tz_crs *crs = NULL;
    tz_error err;
    const tz_result got = tz_crs_create(&crs, text, &err);
    if (got != result || err.result != result || err.cause != cause || !strstr(err.message, part))
        fail_msg("%s: %s (%s, %s)", text ? text : "NULL", err.message, tz_result_name(got),
                 tz_cause_name(err.cause));
    assert_null(crs);
    assert_int_equal(tz_crs_create(&crs, text, NULL), result);
}

/* ---- in every build ---- */

static void codes_need_no_proj(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int epsg, horizontal, vertical;
        bool geographic;
    } rows[] = {{"EPSG:32633", 32633, 32633, 0, false},
                {"epsg:4326", 4326, 4326, 0, true},
                {" \n EPSG:3857", 3857, 3857, 0, false},
                {"EPSG:25832+5783", HAVE_PROJ ? 5555 : 0, 25832, 5783, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        tz_crs *crs = create_crs(rows[i].text);
        assert_int_equal(tz_crs_get_epsg(crs), rows[i].epsg);
        assert_int_equal(tz_crs_get_epsg_horizontal(crs), rows[i].horizontal);
        assert_int_equal(tz_crs_get_epsg_vertical(crs), rows[i].vertical);
        assert_int_equal(tz_crs_is_geographic(crs), rows[i].geographic);
        assert_int_equal(tz_crs_get_name(crs)[0] != '\0', HAVE_PROJ);
        for (size_t k = 0; k < COUNT(rows); k++) {
            tz_crs *other = create_crs(rows[k].text);
            assert_int_equal(tz_crs_is_same(crs, other), i == k);
            tz_crs_close(other);
        }
        tz_crs_close(crs);
    }
    tz_crs_close(NULL);
}

static void text_that_is_refused(void **state)
{
    (void)state;
    char *longest = malloc(70000);
    assert_non_null(longest);
    memset(longest, 'A', 69999);
    longest[69999] = '\0';
    check_refused(NULL, TZ_ERR_ARG, TZ_CAUSE_ARG, "definition is NULL");
    check_refused(longest, TZ_ERR_ARG, TZ_CAUSE_ARG, "longer than 65536");
    free(longest);
    check_refused("", TZ_ERR_ARG, TZ_CAUSE_GEO, "'' is neither a code");
    check_refused("32633", TZ_ERR_ARG, TZ_CAUSE_GEO, "write EPSG:32633");
    check_refused("WGS 84", TZ_ERR_ARG, TZ_CAUSE_GEO, "'WGS 84' is neither");
    check_refused("/etc/passwd", TZ_ERR_ARG, TZ_CAUSE_GEO, "neither");
    check_refused("EPSG:/tmp/a", TZ_ERR_ARG, TZ_CAUSE_GEO, "neither");
    check_refused("+init=epsg:4326", TZ_ERR_ARG, TZ_CAUSE_GEO, "+init");
    check_refused("+proj=utm +zone=33 +init=/etc/passwd:a", TZ_ERR_ARG, TZ_CAUSE_GEO, "+init");
}

#ifndef TZ_HAVE_PROJ

static void a_build_without_proj_names_it(void **state)
{
    (void)state;
    static const char *const texts[] = {"OGC:CRS84",
                                        "EPSG:99999",
                                        "+proj=longlat",
                                        "PROJCS[\"a\"]",
                                        "{}",
                                        "EPSG:32633+",
                                        "EPSG:32633+1+2",
                                        "EPSG:32633+a",
                                        "EPSG:326330",
                                        "urn:ogc:def:crs:EPSG::4326"};
    for (size_t i = 0; i < COUNT(texts); i++)
        check_refused(texts[i], TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, "TERRAZZO_WITH_PROJ=ON");
    tz_crs *a = create_crs("EPSG:32633");
    tz_crs *rare = create_crs("EPSG:2056");
    tz_geo *geo = NULL;
    const char *text = NULL;
    tz_transformer *transformer = NULL;
    double bounds[4] = {0, 0, 1, 1};
    assert_int_equal(tz_crs_export(&text, a, TZ_CRS_FORMAT_WKT2, NULL), TZ_ERR_UNSUPPORTED);
    assert_int_equal(tz_transformer_create(&transformer, a, rare, NULL), TZ_ERR_UNSUPPORTED);
    assert_int_equal(tz_bounds_transform(bounds, bounds, a, rare, 0, NULL), TZ_ERR_UNSUPPORTED);
    assert_int_equal(tz_crs_to_geo(&geo, rare, TZ_RASTER_TYPE_AREA, NULL), TZ_ERR_UNSUPPORTED);
    assert_true(!geo && !text && !transformer && bounds[2] == 1);
    tz_transformer_close(NULL);
    tz_crs_close(a);
    tz_crs_close(rare);
}

#endif

/* ---- keys ---- */

static tz_geo *keys_of(const char *text, tz_raster_type type)
{
    tz_crs *crs = create_crs(text);
    tz_geo *geo = NULL;
    tz_error err;
    if (tz_crs_to_geo(&geo, crs, type, &err) != TZ_OK)
        fail_msg("%s: %s", text, err.message);
    tz_crs_close(crs);
    return geo;
}

static void check_citation(const tz_geo *geo, uint16_t key, const char *expected)
{
    const tz_geo_key *found = tz_geo_text(geo, key);
    assert_non_null(found);
    assert_int_equal(found->count, strlen(expected));
    assert_memory_equal(found->value.text, expected, found->count);
}

static void keys_of_codes(void **state)
{
    (void)state;
    tz_geo *geo = keys_of("EPSG:32633", TZ_RASTER_TYPE_UNDEFINED);
    assert_int_equal(geo->model_type, TZ_MODEL_PROJECTED);
    assert_int_equal(geo->raster_type, TZ_RASTER_TYPE_AREA);
    assert_int_equal(geo->epsg, 32633);
    assert_true(geo->has_crs && geo->citation && !geo->has_transform);
    assert_int_equal(geo->key_revision * 10 + geo->key_minor, 10);
    check_citation(geo, TZ_KEY_CITATION, HAVE_PROJ ? "WGS 84 / UTM zone 33N" : "EPSG:32633");
    tz_geo_free(geo);
    geo = keys_of("EPSG:25832+5783", TZ_RASTER_TYPE_POINT);
    assert_int_equal(geo->raster_type, TZ_RASTER_TYPE_POINT);
    assert_int_equal(geo->epsg, 25832);
    assert_int_equal(geo->epsg_vertical, 5783);
    assert_int_equal(geo->key_minor, 1);
    for (uint32_t i = 1; i < geo->key_count; i++)
        assert_true(geo->keys[i].id > geo->keys[i - 1].id);
    tz_geo_free(geo);
    geo = keys_of("EPSG:4326", TZ_RASTER_TYPE_AREA);
    assert_int_equal(geo->model_type, TZ_MODEL_GEOGRAPHIC);
    assert_int_equal(tz_geo_short(geo, TZ_KEY_GEODETIC_CRS, 0), 4326);
    tz_geo_free(geo);
    tz_geo_free(NULL);
    tz_crs *crs = create_crs("EPSG:4326");
    assert_int_equal(tz_crs_to_geo(&geo, crs, (tz_raster_type)3, NULL), TZ_ERR_ARG);
    tz_crs_close(crs);
}

static void a_transform_is_set_and_control_points_go(void **state)
{
    (void)state;
    static const double transform[6] = {1, 2, 3, 4, 5, 6};
    static const tz_gcp gcp;
    tz_geo *geo = keys_of("EPSG:4326", TZ_RASTER_TYPE_AREA);
    geo->gcps = &gcp;
    geo->gcp_count = 1;
    tz_geo_set_transform(geo, transform);
    assert_true(geo->has_transform && geo->gcp_count == 0 && !geo->gcps);
    assert_memory_equal(geo->transform, transform, sizeof transform);
    tz_geo_free(geo);
}

#ifdef TZ_HAVE_PROJ

static void every_kind_of_text(void **state)
{
    (void)state;
    static const char *const utm[] = {"EPSG:32633",
                                      "urn:ogc:def:crs:EPSG::32633",
                                      "http://www.opengis.net/def/crs/EPSG/0/32633",
                                      "+proj=utm +zone=33 +datum=WGS84",
                                      "+proj=utm +zone=33 +datum=WGS84 +type=crs",
                                      "proj=utm zone=33 datum=WGS84"};
    tz_crs *first = create_crs(utm[0]);
    for (size_t i = 0; i < COUNT(utm); i++) {
        tz_crs *crs = create_crs(utm[i]);
        assert_int_equal(tz_crs_get_epsg(crs), 32633);
        assert_true(tz_crs_is_same(crs, first));
        tz_crs_close(crs);
    }
    for (int format = 0; format <= TZ_CRS_FORMAT_PROJ_STRING; format++) {
        const char *text = NULL, *again = NULL;
        tz_error err;
        assert_int_equal(tz_crs_export(&text, first, (tz_crs_format)format, &err), TZ_OK);
        assert_int_equal(tz_crs_export(&again, first, (tz_crs_format)format, &err), TZ_OK);
        assert_ptr_equal(text, again);
        tz_crs *crs = create_crs(text);
        assert_true(tz_crs_is_same(crs, first));
        tz_crs_close(crs);
    }
    const char *text = NULL;
    assert_int_equal(tz_crs_export(&text, first, (tz_crs_format)5, NULL), TZ_ERR_ARG);
    assert_int_equal(tz_crs_export(&text, first, (tz_crs_format)-1, NULL), TZ_ERR_ARG);
    assert_null(text);
    tz_crs_close(first);
}

static void formats_have_limits(void **state)
{
    (void)state;
    tz_crs *crs = create_crs("EPSG:27700+5701");
    const char *text = NULL;
    assert_int_equal(tz_crs_export(&text, crs, TZ_CRS_FORMAT_WKT1_ESRI, NULL), TZ_OK);
    tz_crs_close(crs);
    crs = create_crs("ENGCRS[\"site\",EDATUM[\"here\"],CS[Cartesian,2],AXIS[\"x\",east],"
                     "AXIS[\"y\",north],LENGTHUNIT[\"metre\",1]]");
    tz_error err;
    assert_int_equal(tz_crs_export(&text, crs, TZ_CRS_FORMAT_PROJ_STRING, &err),
                     TZ_ERR_UNSUPPORTED);
    assert_int_equal(err.cause, TZ_CAUSE_GEO);
    assert_non_null(strstr(err.message, "site cannot be expressed as a PROJ string"));
    assert_int_equal(tz_crs_export(&text, crs, TZ_CRS_FORMAT_WKT2, &err), TZ_OK);
    tz_crs_close(crs);
}

static void reasons_are_those_of_proj(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } rows[] = {{"EPSG:99999", "'EPSG:99999': crs not found"},
                {"FOO:1", "not found"},
                {"EPSG:7001", "not found"},
                {"EPSG:25832+4326", "'vertical'"},
                {"PROJCS[\"a\"", "missing , or ]"},
                {"GEOGCS[\"x\",DATUM[\"y\"]]", "ELLIPSOID"},
                {"{}", "type"},
                {"{\"a", "parse error"},
                {"+proj=foo", "Unknown projection"},
                {"+proj=longlat +datum=foo", "datum"},
                {"ELLIPSOID[\"a\",1,2]", "is not a coordinate reference system"}};
    for (size_t i = 0; i < COUNT(rows); i++)
        check_refused(rows[i].text, TZ_ERR_ARG, TZ_CAUSE_GEO, rows[i].part);
}

static void the_same_and_not_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"EPSG:4326", "OGC:CRS84", true}, /* the order of axes does not matter */
        {"EPSG:4326", "+proj=longlat +datum=WGS84", true},
        {"EPSG:4326", "EPSG:4258", false},
        {"EPSG:4326", "EPSG:4979", false},
        {"EPSG:32661", "EPSG:5041", true},
        {"EPSG:32633", "EPSG:32634", false},
        {"EPSG:32633", "+proj=utm +zone=33 +datum=WGS84 +units=km", false},
        {"EPSG:25832+5783", "EPSG:25832", false},
        {"EPSG:25832+5783", "EPSG:25832+5709", false},
        {"EPSG:28992+5709", "EPSG:7415", true},
        {"+proj=longlat +ellps=bessel +towgs84=1,2,3", "+proj=longlat +ellps=bessel", false},
        {"+proj=longlat +ellps=bessel +towgs84=1,2,3", "+proj=longlat +ellps=bessel +towgs84=1,2,4",
         false},
        {"EPSG:5513", "EPSG:5514", false},
        {"EPSG:4326", "EPSG:32633", false},
        {"EPSG:4326", "EPSG:4978", false},
        {"EPSG:5783", "EPSG:5709", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        tz_crs *a = create_crs(rows[i].a), *b = create_crs(rows[i].b);
        if (tz_crs_is_same(a, b) != rows[i].same || tz_crs_is_same(b, a) != rows[i].same)
            fail_msg("%s and %s", rows[i].a, rows[i].b);
        assert_true(tz_crs_is_same(a, a));
        tz_crs_close(a);
        tz_crs_close(b);
    }
}

static void check_without_warnings(const tz_geo *geo)
{
    tz_arena arena = {0};
    tz_error err;
    const tz_context strict = {.err = &err, .strict = true, .ifd = -1};
    tz_geo read = {.keys = geo->keys,
                   .key_count = geo->key_count,
                   .key_revision = geo->key_revision,
                   .key_minor = geo->key_minor};
    if (tz_geo_interpret_keys(&arena, &strict, &read) != TZ_OK)
        fail_msg("%s", err.message);
    assert_int_equal(read.epsg, geo->epsg);
    tz_arena_deinit(&arena);
}

/* Keys that are read give the CRS that was written. Those of GDAL are compared by check_crs.py. */
static void keys_come_back(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "EPSG:32633",
        "EPSG:4979",
        "EPSG:4978",
        "EPSG:32633+4979", /* by the text of ArcGIS */
        "EPSG:2053",
        "EPSG:27561",
        "OGC:CRS84",
        "EPSG:25832+5783",
        "ESRI:54030",
        "ESRI:54009",
        "IAU_2015:49900",
        "+proj=tmerc +lat_0=1 +lon_0=9 +k=0.9996 +x_0=500000 +y_0=10 +datum=WGS84",
        "+proj=aea +lat_1=30 +lat_2=60 +lat_0=40 +lon_0=10 +x_0=1 +y_0=2 +datum=WGS84 +units=us-ft",
        "+proj=utm +zone=33 +datum=WGS84 +to_meter=2.5",
        "+proj=utm +zone=33 +datum=WGS84 +units=km",
        "+proj=stere +lat_0=90 +lat_ts=70 +lon_0=-45 +datum=WGS84",
        "+proj=stere +lat_0=-90 +k=0.994 +lon_0=10 +ellps=GRS80",
        "+proj=somerc +lat_0=47 +lon_0=7 +ellps=bessel",
        "+proj=labrd +lat_0=-18.9 +lon_0=46.4 +azi=18.9 +k=0.9995 +ellps=intl",
        "+proj=lcc +lat_1=49.5 +lat_0=49.5 +lon_0=0 +k_0=0.999 +ellps=clrk80ign +pm=paris",
        "+proj=longlat +a=6377397 +rf=299 +pm=3",
        "+proj=longlat +ellps=bessel +towgs84=598.1,73.7,418.2,0.202,0.045,-2.455,6.7",
        "+proj=tmerc +lon_0=9 +x_0=3500000 +ellps=bessel +towgs84=1,2,3",
        "+proj=geocent +a=6377397 +rf=299",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        tz_crs *crs = create_crs(texts[i]), *read = NULL;
        tz_geo *geo = keys_of(texts[i], TZ_RASTER_TYPE_AREA);
        tz_error err;
        const tz_context ctx = {.err = &err, .ifd = -1};
        if (tz_crs_open_geo(&read, geo, &ctx) != TZ_OK)
            fail_msg("%s: %s", texts[i], err.message);
        if (!tz_crs_is_same(crs, read) && strstr(texts[i], "ESRI:54009") == NULL)
            fail_msg("%s is read as\n%s", texts[i], tz_crs_get_wkt(read));
        assert_non_null(tz_geo_text(geo, TZ_KEY_CITATION));
        check_without_warnings(geo);
        tz_crs_close(read);
        tz_crs_close(crs);
        tz_geo_free(geo);
    }
}

/* A code beside parameters to WGS 84 wins. */
static void a_code_wins_over_towgs84(void **state)
{
    (void)state;
    static const char wkt[] =
        "GEOGCS[\"DHDN\",DATUM[\"Deutsches_Hauptdreiecksnetz\",SPHEROID[\"Bessel 1841\","
        "6377397.155,299.1528128],TOWGS84[598.1,73.7,418.2,0.202,0.045,-2.455,6.7]],"
        "PRIMEM[\"Greenwich\",0],UNIT[\"degree\",0.0174532925199433],AUTHORITY[\"EPSG\",\"4314\"]]";
    tz_geo *geo = keys_of(wkt, TZ_RASTER_TYPE_AREA);
    assert_int_equal(geo->epsg, 4314);
    assert_null(tz_geo_find_key(geo, TZ_KEY_TO_WGS84));
    tz_geo_free(geo);
}

static void keys_that_there_are_not(void **state)
{
    (void)state;
    static const char vertical[] =
        "COMPOUNDCRS[\"c\",GEOGCRS[\"WGS 84\",DATUM[\"World Geodetic System 1984\",ELLIPSOID["
        "\"WGS 84\",6378137,298.257223563]],CS[ellipsoidal,2],AXIS[\"latitude\",north],"
        "AXIS[\"longitude\",east],ANGLEUNIT[\"degree\",0.0174532925199433],ID[\"EPSG\",4326]],"
        "VERTCRS[\"own\",VDATUM[\"own level\"],CS[vertical,1],AXIS[\"up\",up],"
        "LENGTHUNIT[\"metre\",1]]]";
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"EPSG:5783", "a vertical CRS without a horizontal one"},
        {"+proj=ob_tran +o_proj=longlat +o_lon_p=0 +o_lat_p=40 +lon_0=10 +datum=WGS84",
         "derivation"},
        {"+proj=longlat +a=6377397 +rf=299 +vunits=m +geoidgrids=@none", "GeoTIFF cannot express"},
        {vertical, "the vertical datum 'own level'"},
        {"+proj=imoll +R=6371000", "the projection method"},
        {"+proj=utm +zone=33 +ellps=bessel +nadgrids=@a.gsb", "the transform"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        tz_crs *crs = create_crs(rows[i].text);
        tz_geo *geo = NULL;
        tz_error err;
        const tz_result result = tz_crs_to_geo(&geo, crs, TZ_RASTER_TYPE_AREA, &err);
        if (result != TZ_ERR_UNSUPPORTED || err.cause != TZ_CAUSE_GEO ||
            !strstr(err.message, rows[i].part))
            fail_msg("%s: %s", rows[i].text, result == TZ_OK ? "has keys" : err.message);
        assert_null(geo);
        tz_crs_close(crs);
    }
}

#endif

/* ---- memory ---- */

static void every_allocation_fails(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "EPSG:25832+5783",
#ifdef TZ_HAVE_PROJ
        "ESRI:54009",
        "+proj=tmerc +lat_0=1 +lon_0=9 +pm=paris +ellps=bessel +towgs84=1,2,3",
#endif
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        uint64_t failures = 1;
        for (uint64_t n = 1; failures > 0; n++) {
            tz_crs *crs = NULL;
            tz_geo *geo = NULL;
            const char *text = NULL;
            tz_error err = {.result = TZ_OK};
            alloc_hook_install();
            alloc_hook_fail_at(n, false);
            tz_result result = tz_crs_create(&crs, texts[i], &err);
            if (result == TZ_OK)
                result = tz_crs_to_geo(&geo, crs, TZ_RASTER_TYPE_AREA, &err);
            if (result == TZ_OK && HAVE_PROJ)
                result = tz_crs_export(&text, crs, TZ_CRS_FORMAT_PROJJSON, &err);
            failures = alloc_hook_stats().failures;
            assert_int_equal(result, failures > 0 ? TZ_ERR_NOMEM : TZ_OK);
            assert_int_equal(err.result, result);
            tz_geo_free(geo);
            tz_crs_close(crs);
            const alloc_stats stats = alloc_hook_stats();
            alloc_hook_remove();
            assert_int_equal(stats.live_bytes, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_need_no_proj),
        cmocka_unit_test(text_that_is_refused),
        cmocka_unit_test(keys_of_codes),
        cmocka_unit_test(a_transform_is_set_and_control_points_go),
#ifndef TZ_HAVE_PROJ
        cmocka_unit_test(a_build_without_proj_names_it),
#else
        cmocka_unit_test(every_kind_of_text),
        cmocka_unit_test(formats_have_limits),
        cmocka_unit_test(reasons_are_those_of_proj),
        cmocka_unit_test(the_same_and_not_the_same),
        cmocka_unit_test(keys_come_back),
        cmocka_unit_test(a_code_wins_over_towgs84),
        cmocka_unit_test(keys_that_there_are_not),
#endif
        cmocka_unit_test(every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
