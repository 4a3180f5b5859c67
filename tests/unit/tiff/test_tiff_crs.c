/* SPDX-License-Identifier: Apache-2.0
 * From GeoKeys to definitions of coordinate reference systems, and what stands in the way. A build
 * without PROJ makes the definitions that need no look-up, and names what is missing for the rest.
 */
#include <math.h>

#include "base/mem.h"
#include "support/alloc_hook.h"
#include "support/geo_fixture.h"

#ifdef TZ_HAVE_PROJ
enum { HAVE_PROJ = 1 };
#else
enum { HAVE_PROJ = 0 };
#endif

/* ---- definitions ---- */

/* Not inlined: gcc 12 then takes its local for the text that it points to. */
__attribute__((noinline)) static char *definition_of(fixture *f)
{
    char *text = NULL;
    parse(f);
    assert_int_equal(tz_geo_crs_definition(&f->geo, &f->b.ctx, &text), TZ_OK);
    return text;
}

static void check_definition(void **state, const char *expected)
{
    char *text = definition_of(*state);
    assert_string_equal(text, expected);
    tz_free(text);
    again(state);
}

/* The definition has all these parts, up to NULL. */
static void check_parts(void **state, const char *const *parts)
{
    char *text = definition_of(*state);
    for (; *parts; parts++)
        if (!strstr(text, *parts))
            fail_msg("%s\nis not in\n%s", *parts, text);
    tz_free(text);
    again(state);
}
#define PARTS(state, ...) check_parts(state, (const char *const[]){__VA_ARGS__, NULL})

static void check_fails(void **state, tz_result result, tz_cause cause, const char *text)
{
    fixture *f = *state;
    char *definition = NULL;
    parse(f);
    assert_int_equal(tz_geo_crs_definition(&f->geo, &f->b.ctx, &definition), result);
    assert_null(definition);
    assert_int_equal(f->b.err.cause, cause);
    if (!strstr(f->b.err.message, text))
        fail_msg("'%s' is not in '%s'", text, f->b.err.message);
    again(state);
}

/* A look-up in EPSG's tables fails in a build without PROJ, and says so. */
static bool fails_without_proj(void **state)
{
    if (HAVE_PROJ)
        return false;
    check_fails(state, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, "TERRAZZO_WITH_PROJ=ON");
    return true;
}

static void codes(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, 1}, {3072, 32633});
    check_definition(state, "EPSG:32633");
    KEYS(f, {1024, 2}, {2048, 4326});
    check_definition(state, "EPSG:4326");
    KEYS(f, {1024, 3}, {2048, 4978});
    check_definition(state, "EPSG:4978");
    KEYS(f, {3072, 32633});
    check_definition(state, "EPSG:32633");
    KEYS(f, {1024, 1}, {3072, 25832}, {4096, 5783});
    check_definition(state, "EPSG:25832+5783");
    KEYS(f, {1024, 1}, {3072, 32617}, {4096, 5103}); /* a datum's code, as 1.0 had it */
    check_definition(state, "EPSG:32617+5703");
    KEYS(f, {1024, 2}, {2048, 4326}, {4096, 4979});
    check_definition(state, "EPSG:4979");
    KEYS(f, {1024, 2}, {2048, 4326}, {4096, 5030}); /* heights above the ellipsoid, as 1.0 had it */
    check_definition(state, "EPSG:4979");
    KEYS(f, {1024, 1}, {3072, 32631}, {4096, 4979});
    check_definition(state, "EPSG:32631");
    KEYS(f, {1024, 1}, {3072, 26916}, {4096, UD}, {4099, 32771}); /* private: no heights */
    check_definition(state, "EPSG:26916");
    KEYS(f, {1024, 1}, {3072, 26916}, {4099, 9001}); /* a unit alone is not a vertical CRS */
    check_definition(state, "EPSG:26916");
}

/* Sphere or ellipsoid by its axes; none of it needs a look-up. */
static void geographic_by_its_axes(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, 2}, {2048, UD}, {2050, UD}, {2054, 9102}, {2056, UD}, {2057, 6378137},
         {2059, 298.257222101});
    geo_text(&f->m, 2049, "My \"own\" CRS|");
    check_definition(
        state, "GEOGCRS[\"My \"\"own\"\" CRS\",DATUM[\"My \"\"own\"\" CRS\",ELLIPSOID[\"unknown\","
               "6378137,298.257222101,LENGTHUNIT[\"metre\",1,ID[\"EPSG\",9001]]]],"
               "PRIMEM[\"Greenwich\",0,ANGLEUNIT[\"degree\",0.0174532925199433,ID[\"EPSG\",9122]]],"
               "CS[ellipsoidal,2],AXIS[\"latitude\",north],AXIS[\"longitude\",east],"
               "ANGLEUNIT[\"degree\",0.0174532925199433,ID[\"EPSG\",9102]]]");
    KEYS(f, {1024, 2}, {2048, UD}, {2057, 6371000}, {2058, 6371000});
    PARTS(state, ",6371000,0,");
    KEYS(f, {1024, 2}, {2048, UD}, {2057, 6371000}, {2059, INFINITY});
    PARTS(state, ",6371000,0,");
    KEYS(f, {1024, 2}, {2048, UD}, {2057, 6378388}, {2058, 6356911.9461279465});
    PARTS(state, ",6378388,297.0000000");
    KEYS(f, {2057, 6371000}, {2059, 0}); /* not a word about models */
    PARTS(state, "GEOGCRS[\"unknown\",DATUM[\"unknown\",ELLIPSOID[\"unknown\",6371000,0,");
}

static void units(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, 2}, {2048, UD}, {2052, 9002}, {2054, 9105}, {2057, 20925646}, {2059, 300},
         {2061, 2.5969213});
    PARTS(state, "LENGTHUNIT[\"foot\",0.3048,", "PRIMEM[\"unknown\",2.5969213,ANGLEUNIT[\"grad\"",
          "east],ANGLEUNIT[\"grad\"");
    KEYS(f, {1024, 2}, {2048, UD}, {2052, UD}, {2053, 0.5}, {2054, UD}, {2055, 0.25}, {2057, 2},
         {2059, 0});
    PARTS(state, "LENGTHUNIT[\"unknown\",0.5]", "ANGLEUNIT[\"unknown\",0.25]");
    KEYS(f, {1024, 2}, {2048, UD}, {2054, 9107}, {2057, 2}, {2059, 0});
    PARTS(state, "ANGLEUNIT[\"degree\",0.0174532925199433,ID[\"EPSG\",9122]]]");
}

static void units_of_no_size(void **state)
{
    fixture *f = *state;
    const double sizes[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        KEYS(f, {1024, 2}, {2048, UD}, {2054, UD}, {2055, sizes[i]}, {2057, 2}, {2059, 0});
        check_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "GeogAngularUnitSizeGeoKey (2055)");
    }
    KEYS(f, {1024, 2}, {2048, UD}, {2054, UD}, {2057, 2}, {2059, 0});
    check_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "GeogAngularUnitSizeGeoKey (2055)");
}

static void units_by_code(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, 2}, {2048, UD}, {2052, 9005}, {2054, 9104}, {2057, 2}, {2059, 0});
    if (!fails_without_proj(state))
        PARTS(state, "LENGTHUNIT[\"Clarke's foot\",0.3047972654", "ANGLEUNIT[\"arc-second\",");
    /* Degrees, minutes and seconds packed into one number are not a unit that WKT can express. */
    KEYS(f, {1024, 2}, {2048, UD}, {2054, 9110}, {2057, 2}, {2059, 0});
    if (!fails_without_proj(state))
        check_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "no unit under code 9110");
}

/* Names in the way of ArcGIS. */
static void names_in_fields(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, 2}, {2048, UD}, {2050, UD}, {2057, 6377397.155}, {2059, 299.1528128}, {2061, 5});
    geo_text(&f->m, 2049, "GCS Name = GCS_X|Datum = D_X|Ellipsoid = E_X|Primem = P_X||");
    PARTS(state, "GEOGCRS[\"GCS_X\",", "DATUM[\"D_X\",", "ELLIPSOID[\"E_X\",", "PRIMEM[\"P_X\",5,");
    KEYS(f, {1024, 2}, {2048, UD}, {2057, 6377397.155}, {2059, 299.1528128});
    geo_text(&f->m, 2049, "GCS Name = |Datum = |");
    PARTS(state, "GEOGCRS[\"unknown\",DATUM[\"unknown\",");
}

/* Whatever a file says, the text stays one well-formed piece of UTF-8 on one line. */
static void names_are_cleaned(void **state)
{
    static const struct {
        const char *text, *name;
    } cases[] = {
        {"a\"],b|", "\"a\"\"],b\""},
        {"\"\"|", "\"\"\"\"\"\""},
        {"a\nb\tc\x7f|", "\"a b c \""},
        {"\xff\xc0\xaf\xed\xa0\x80|", "\"??????\""},
        {"\xe2\x82\xac \xf0\x9f\x98\x80|", "\"\xe2\x82\xac \xf0\x9f\x98\x80\""},
        {"cut \xe2\x82|", "\"cut ??\""},
        {"\xe2(\xa1|", "\"?(?\""},
        {"\xf5\x80\x80\x80\xf4\x90\x80\x80|", "\"????????\""},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char part[64];
        KEYS(f, {1024, 2}, {2048, UD}, {2057, 2}, {2059, 0});
        geo_text(&f->m, 2049, cases[i].text);
        snprintf(part, sizeof part, "GEOGCRS[%s,DATUM[%s,", cases[i].name, cases[i].name);
        PARTS(state, part);
    }
}

static void long_names_are_cut_at_a_character(void **state)
{
    fixture *f = *state;
    char text[700] = "x"; /* and then characters of two bytes: one would be cut in two */
    for (size_t i = 1; i < 601; i += 2)
        memcpy(text + i, "\xc3\xa4", 2);
    memcpy(text + 601, "|", 2);
    KEYS(f, {1024, 2}, {2048, UD}, {2057, 2}, {2059, 0});
    geo_text(&f->m, 2049, text);
    char *definition = definition_of(f);
    const char *name = strchr(definition, '"') + 1;
    assert_int_equal(strchr(name, '"') - name, 255);
    assert_int_equal((unsigned char)name[254], 0xa4);
    tz_free(definition);
}

/* Numbers that are missing or no numbers: an error that names the key. */
static void numbers_that_are_none(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, 2}, {2048, UD}, {2054, 9102});
    check_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "EllipsoidSemiMajorAxisGeoKey (2057)");
    KEYS(f, {1024, 2}, {2048, UD}, {2057, 6378137});
    check_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "EllipsoidInvFlatteningGeoKey (2059)");
    const double bad[] = {NAN, INFINITY, -5, 0};
    for (int i = 0; i < 4; i++) {
        KEYS(f, {1024, 2}, {2048, UD}, {2057, bad[i]}, {2059, 300});
        check_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "EllipsoidSemiMajorAxisGeoKey (2057)");
    }
    KEYS(f, {1024, 2}, {2048, UD}, {2057, 2}, {2059, 0}, {2061, INFINITY});
    check_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "PrimeMeridianLongitudeGeoKey (2061)");
    KEYS(f, {1024, 1}, {2048, UD}, {2057, 2}, {2059, 0}, {3072, UD}, {3075, 1}, {3080, INFINITY});
    check_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "ProjNatOriginLongGeoKey (3080)");
}

static void methods_without_wkt(void **state)
{
    fixture *f = *state;
    const unsigned methods[] = {2, 6, 29, 1000};
    for (int i = 0; i < 4; i++) {
        KEYS(f, {1024, 1}, {2048, UD}, {2057, 2}, {2059, 0}, {3072, UD}, {3075, methods[i]});
        parse(f);
        char *text = NULL;
        assert_int_equal(tz_geo_crs_definition(&f->geo, &f->b.ctx, &text), TZ_ERR_UNSUPPORTED);
        assert_int_equal(f->b.err.cause, TZ_CAUSE_GEO);
        assert_int_equal(f->b.err.tag, TZ_TAG_GEO_KEYS);
        assert_true(f->b.err.found == methods[i]);
        again(state);
    }
}

static void keys_that_do_not_say_enough(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, 1}, {2048, UD}, {2057, 2}, {2059, 0}, {3072, UD});
    check_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "no key says how");
    KEYS(f, {1024, 1}, {2048, UD}, {2057, 2}, {2059, 0}, {3072, UD}, {3074, UD}, {3075, UD});
    check_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "no key says how");
    KEYS(f, {1024, UD}, {4096, UD});
    check_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "do not say enough");
    KEYS(f, {1024, UD}, {2048, 4326}); /* what it was projected from */
    check_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "do not say enough");
    geo_short(&f->m, 1025, 1);
    check_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "do not say enough");
    KEYS(f, {1024, 1}, {3072, 40000}); /* private */
    check_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "EllipsoidSemiMajorAxisGeoKey");
}

static void geocentric(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, 3}, {2048, UD}, {2052, 9001}, {2057, 6378137}, {2059, 298.257223563});
    PARTS(state, "GEODCRS[", "CS[Cartesian,3],AXIS[\"(X)\",geocentricX]",
          "LENGTHUNIT[\"metre\",1,");
}

static void citation_with_a_pe_string(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, UD}, {2048, 4326});
    geo_text(&f->m, 3073, "ESRI PE String = GEOGCS[\"X\"\n,DATUM[]]|");
    check_definition(state, "GEOGCS[\"X\" ,DATUM[]]");
    KEYS(f, {1024, 1});
    geo_text(&f->m, 1026, "ESRI PE String = PROJCS[\"X\"]|");
    check_definition(state, "PROJCS[\"X\"]");
    KEYS(f, {1024, 1}, {3072, 32633}); /* a code is better */
    geo_text(&f->m, 3073, "ESRI PE String = PROJCS[\"X\"]|");
    check_definition(state, "EPSG:32633");
    KEYS(f, {1024, UD});
    geo_text(&f->m, 3073, "ESRI PE String = |");
    check_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "do not say enough");
}

static void compound_with_own_parts(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, 2}, {2048, UD}, {2057, 2}, {2059, 0}, {4096, UD}, {4099, 9002});
    geo_text(&f->m, 4097, "My \"heights\"|");
    PARTS(state, "COMPOUNDCRS[\"unknown + My \"\"heights\"\"\",GEOGCRS[",
          "VERTCRS[\"My \"\"heights\"\"\",VDATUM[\"unknown\"],CS[vertical,1],"
          "AXIS[\"gravity-related height (H)\",up],LENGTHUNIT[\"foot\"");
    KEYS(f, {1024, 2}, {2048, UD}, {2057, 2}, {2059, 0}, {4096, UD});
    geo_text(&f->m, 1026, "All of it|");
    PARTS(state, "COMPOUNDCRS[\"All of it\",GEOGCRS[");
    KEYS(f, {1024, 1}, {3072, 32632}, {4098, 1027}, {4099, 9001});
    geo_text(&f->m, 4097, "VCS Name = EGM08_Geoid|Datum Name = EGM2008_Geoid||");
    if (!fails_without_proj(state))
        PARTS(state, "COMPOUNDCRS[\"WGS 84 / UTM zone 32N + EGM08_Geoid\",PROJCRS[",
              "VDATUM[\"EGM2008 geoid\"");
    KEYS(f, {1024, 2}, {2048, UD}, {2057, 2}, {2059, 0}, {4096, 5703});
    if (!fails_without_proj(state))
        PARTS(state, "COMPOUNDCRS[\"unknown + NAVD88 height\",GEOGCRS[",
              "VERTCRS[\"NAVD88 height\"");
    /* a geodetic datum in the place of a vertical one */
    KEYS(f, {1024, 2}, {2048, 4326}, {4096, UD}, {4098, 6326});
    if (!fails_without_proj(state))
        PARTS(state, "VDATUM[\"unknown\"]");
}

static void codes_that_epsg_does_not_have(void **state)
{
    static const key_value keys[][5] = {
        {{1024, 1}, {2048, 30990}, {3072, UD}, {3075, 1}, {0, 0}},
        {{1024, 2}, {2048, UD}, {2050, 30991}, {0, 0}, {0, 0}},
        {{1024, 2}, {2048, UD}, {2056, 30992}, {0, 0}, {0, 0}},
        {{1024, 2}, {2048, UD}, {2050, 6326}, {2054, 30993}, {0, 0}},
        {{1024, 1}, {2048, 4326}, {3072, UD}, {3074, 30994}, {0, 0}},
    };
    static const char *const texts[] = {"no geographic CRS under code 30990",
                                        "no datum under code 30991",
                                        "no ellipsoid under code 30992", "no unit under code 30993",
                                        "no conversion under code 30994"};
    fixture *f = *state;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        add_keys(f, keys[i]);
        if (!fails_without_proj(state))
            check_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, texts[i]);
    }
}

/* ---- opening ---- */

static void check_open_fails(void **state, tz_result result, tz_cause cause, const char *text)
{
    fixture *f = *state;
    tz_crs *crs = NULL;
    parse(f);
    tz_result got = tz_crs_open_geo(&crs, &f->geo, &f->b.ctx);
    assert_null(crs);
    assert_int_equal(got, HAVE_PROJ ? result : TZ_ERR_UNSUPPORTED);
    assert_int_equal(f->b.err.cause, HAVE_PROJ ? cause : TZ_CAUSE_UNSUPPORTED);
    if (!strstr(f->b.err.message, HAVE_PROJ ? text : "without PROJ"))
        fail_msg("'%s' is not in '%s'", text, f->b.err.message);
    again(state);
}

static void no_crs_to_open(void **state)
{
    fixture *f = *state;
    check_open_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "no coordinate reference system");
    KEYS(f, {1024, 1}, {3072, 1025});
    check_open_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "EPSG:1025");
    KEYS(f, {1024, 1}, {3072, 40000});
    check_open_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "EllipsoidSemiMajorAxisGeoKey");
    KEYS(f, {1024, UD}, {2048, 4326});
    geo_text(&f->m, 3073, "ESRI PE String = PROJCS[[[[|");
    check_open_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "PROJ does not understand");
    KEYS(f, {1024, UD}, {2048, 4326});
    geo_text(&f->m, 3073, "ESRI PE String = +proj=pipeline +step +proj=noop|");
    check_open_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "PROJ does not understand");
}

static void closing_nothing(void **state)
{
    (void)state;
    tz_crs_close(NULL);
}

/* ---- memory ---- */

static void add_for_memory(fixture *f)
{
    KEYS(f, {1024, 1}, {2048, UD}, {2050, UD}, {2056, UD}, {2057, 6377397.155}, {2059, 299.1528128},
         {3072, UD}, {3074, UD}, {3075, 1}, {3076, 9001}, {3080, 9}, {4096, UD}, {4099, 9001});
    geo_text(&f->m, 4097, "Own heights|");
}

static void every_allocation_of_a_definition_fails(void **state)
{
    fixture *f = *state;
    add_for_memory(f);
    parse(f);
    for (uint64_t n = 1;; n++) {
        char *text = NULL;
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        tz_result result = tz_geo_crs_definition(&f->geo, &f->b.ctx, &text);
        alloc_stats stats = alloc_hook_stats();
        tz_free(text);
        assert_int_equal(alloc_hook_stats().live_bytes, 0);
        alloc_hook_remove();
        if (stats.failures == 0) {
            assert_int_equal(result, TZ_OK);
            assert_true(n > 2);
            break;
        }
        assert_int_equal(result, TZ_ERR_NOMEM);
        assert_null(text);
    }
}

static void every_allocation_of_an_open_fails(void **state)
{
    fixture *f = *state;
    KEYS(f, {1024, 1}, {2048, 4326}, {3072, UD}, {3074, 16033}, {3076, 9003});
    parse(f);
    for (uint64_t n = 1;; n++) {
        tz_crs *crs = NULL;
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        tz_result result = tz_crs_open_geo(&crs, &f->geo, &f->b.ctx);
        alloc_stats stats = alloc_hook_stats();
        tz_crs_close(crs);
        assert_int_equal(alloc_hook_stats().live_bytes, 0);
        alloc_hook_remove();
        if (stats.failures == 0) {
            assert_int_equal(result, HAVE_PROJ ? TZ_OK : TZ_ERR_UNSUPPORTED);
            break;
        }
        assert_int_equal(result, TZ_ERR_NOMEM);
        assert_null(crs);
    }
}

/* A definition can have only so much text. */
static void definitions_are_bounded(void **state)
{
    fixture *f = *state;
    char text[4200];
    memset(text, 'x', sizeof text);
    memcpy(text, "ESRI PE String = ", 17);
    memcpy(text + 4095, "|", 2);
    KEYS(f, {1024, UD});
    geo_text(&f->m, 3073, text);
    char *definition = definition_of(f);
    assert_int_equal(strlen(definition), 4095 - 17);
    tz_free(definition);
    again(state);
    memcpy(text, "ESRI PE String = ", 17);
    memset(text + 4095, 'x', sizeof text - 4095);
    memcpy(text + sizeof text - 2, "|", 2);
    KEYS(f, {1024, UD});
    geo_text(&f->m, 3073, text);
    check_fails(state, TZ_ERR_FORMAT, TZ_CAUSE_GEO, "do not say enough");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(codes),
        CASE(geographic_by_its_axes),
        CASE(units),
        CASE(units_of_no_size),
        CASE(units_by_code),
        CASE(names_in_fields),
        CASE(names_are_cleaned),
        CASE(long_names_are_cut_at_a_character),
        CASE(numbers_that_are_none),
        CASE(methods_without_wkt),
        CASE(keys_that_do_not_say_enough),
        CASE(geocentric),
        CASE(citation_with_a_pe_string),
        CASE(compound_with_own_parts),
        CASE(codes_that_epsg_does_not_have),
        CASE(no_crs_to_open),
        CASE(closing_nothing),
        CASE(every_allocation_of_a_definition_fails),
        CASE(every_allocation_of_an_open_fails),
        CASE(definitions_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
