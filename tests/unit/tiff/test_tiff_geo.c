/* SPDX-License-Identifier: Apache-2.0
 * GeoKeys, function by function. Whole files with the same defects are in test_hostile_geo.c. */
#include <math.h>

#include "support/alloc_hook.h"
#include "support/geo_fixture.h"

/* ---- the directory ---- */

static void utm_33(fixture *f)
{
    geo_short(&f->m, 1024, 1);
    geo_short(&f->m, 1025, 1);
    geo_text(&f->m, 1026, "WGS 84 / UTM zone 33N|");
    geo_text(&f->m, 2049, "WGS 84|");
    geo_short(&f->m, 2054, 9102);
    geo_short(&f->m, 3072, 32633);
    geo_short(&f->m, 3076, 9001);
}

static void keys_of_a_good_file(void **state)
{
    fixture *f = *state;
    utm_33(f);
    parse(f);
    bench_silent(&f->b);
    assert_int_equal(f->geo.key_count, 7);
    assert_int_equal(f->geo.key_revision, 1);
    assert_int_equal(f->geo.key_minor, 0);
    assert_int_equal(f->geo.model_type, 1);
    assert_int_equal(f->geo.raster_type, TZ_RASTER_TYPE_AREA);
    assert_int_equal(f->geo.epsg, 32633);
    assert_int_equal(f->geo.epsg_vertical, 0);
    assert_true(f->geo.has_crs);
    assert_true(isnan(f->geo.coordinate_epoch));
    assert_string_equal(f->geo.citation, "WGS 84 / UTM zone 33N");
    assert_int_equal(tz_geo_short(&f->geo, 2054, 0), 9102);
    assert_int_equal(tz_geo_short(&f->geo, 2055, 7), 7);
    assert_true(tz_geo_double(&f->geo, 3080, 0.5) == 0.5);
    const tz_geo_key *key = tz_geo_find_key(&f->geo, 2049);
    assert_int_equal(key->type, TZ_TYPE_ASCII);
    assert_int_equal(key->count, 6);
    assert_memory_equal(key->value.text, "WGS 84", 6);
    assert_null(tz_geo_find_key(&f->geo, 2050));
    assert_ptr_equal(tz_geo_text(&f->geo, 2049), key);
    assert_null(tz_geo_text(&f->geo, 2054));
}

static void no_directory_is_no_defect(void **state)
{
    fixture *f = *state;
    parse(f);
    bench_silent(&f->b);
    assert_false(f->geo.has_crs);
    assert_int_equal(f->geo.key_count, 0);
    assert_null(f->geo.citation);
    assert_null(f->geo.rpc);
    f->b.ctx.require_crs = true;
    assert_int_equal(tz_geo_parse(&f->m.tags, &f->b.arena, &f->b.ctx, &f->geo), TZ_ERR_FORMAT);
    assert_int_equal(f->b.err.cause, GEO);
}

static void directory_shorter_than_its_header(void **state)
{
    fixture *f = *state;
    for (size_t count = 0; count < 4; count++) {
        geo_directory(&f->m, (const uint16_t[]){1, 1, 0, 1}, count);
        parse(f);
        bench_warned(&f->b, GEO, TZ_TAG_GEO_KEYS, 4, count, "shorter than its header");
        check_strict(f);
        end(state);
        begin(state);
    }
}

static void directory_of_another_version(void **state)
{
    fixture *f = *state;
    geo_directory(&f->m, (const uint16_t[]){2, 1, 0, 1, 3072, 0, 1, 32633}, 8);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_GEO_KEYS, 1, 2, "version of the key directory");
    assert_int_equal(f->geo.key_count, 0);
    assert_int_equal(f->geo.epsg, 0);
    check_strict(f);
}

static void directory_of_an_unknown_revision_is_read(void **state)
{
    fixture *f = *state;
    geo_directory(&f->m, (const uint16_t[]){1, 1, 2, 1, 3072, 0, 1, 32633}, 8);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_GEO_KEYS, TZ_NO_VALUE, TZ_NO_VALUE, "revision 1.2");
    assert_int_equal(f->geo.epsg, 32633);
    check_strict(f);
}

static void directory_shorter_than_its_keys(void **state)
{
    fixture *f = *state;
    geo_directory(&f->m, (const uint16_t[]){1, 1, 0, 65535, 1024, 0, 1, 2, 2048, 0, 1, 4326, 9, 0},
                  14);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_GEO_KEYS, 4 + 4 * 65535, 14, "too short for its 65535 keys");
    assert_int_equal(f->geo.key_count, 2);
    assert_int_equal(f->geo.epsg, 4326);
    check_strict(f);
}

static void more_values_than_keys_is_no_defect(void **state)
{
    fixture *f = *state;
    geo_directory(&f->m, (const uint16_t[]){1, 1, 0, 1, 2048, 0, 1, 4326, 9, 9, 9, 9, 9}, 13);
    parse(f);
    bench_silent(&f->b);
    assert_int_equal(f->geo.key_count, 1);
    assert_int_equal(f->geo.epsg, 4326);
}

static void too_many_keys_are_ignored(void **state)
{
    fixture *f = *state;
    f->b.limits.max_geo_keys = 6;
    utm_33(f);
    parse(f);
    assert_int_equal(f->b.warnings.count, 1);
    assert_int_equal(f->b.warnings.list[0].cause, TZ_CAUSE_LIMIT);
    assert_int_equal(f->b.warnings.list[0].result, TZ_ERR_LIMIT);
    assert_string_equal(f->b.warnings.list[0].limit, "max_geo_keys");
    assert_true(f->b.warnings.list[0].expected == 6 && f->b.warnings.list[0].found == 7);
    assert_int_equal(f->geo.key_count, 0);
    assert_false(f->geo.has_crs);
    f->b.ctx.strict = true;
    assert_int_equal(tz_geo_parse(&f->m.tags, &f->b.arena, &f->b.ctx, &f->geo), TZ_ERR_LIMIT);
}

static void keys_out_of_order_are_sorted(void **state)
{
    fixture *f = *state;
    geo_short(&f->m, 3072, 32633);
    geo_short(&f->m, 1025, 2);
    geo_short(&f->m, 60000, 1);
    geo_short(&f->m, 1024, 1);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_GEO_KEYS, TZ_NO_VALUE, TZ_NO_VALUE, "not in ascending order");
    const uint16_t order[] = {1024, 1025, 3072, 60000};
    for (int i = 0; i < 4; i++)
        assert_int_equal(f->geo.keys[i].id, order[i]);
    assert_int_equal(f->geo.epsg, 32633);
    assert_int_equal(f->geo.raster_type, TZ_RASTER_TYPE_POINT);
    check_strict(f);
}

/* In reverse, all ids there are: sorted in no time, and each is found. */
static void sixty_thousand_keys_in_reverse(void **state)
{
    fixture *f = *state;
    enum { COUNT = 65535 };
    uint16_t *values = malloc((4 + 4 * COUNT) * sizeof *values);
    memcpy(values, (const uint16_t[]){1, 1, 0, COUNT}, 8);
    for (size_t i = 0; i < COUNT; i++)
        memcpy(values + 4 + 4 * i, (const uint16_t[]){(uint16_t)(COUNT - i), 0, 1, 3}, 8);
    geo_directory(&f->m, values, 4 + 4 * COUNT);
    free(values);
    f->b.limits.max_geo_keys = TZ_UNLIMITED;
    parse(f);
    assert_int_equal(f->geo.key_count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(f->geo.keys[i].id, i + 1);
    assert_non_null(bench_find(&f->b, "not in ascending order"));
}

static void key_twice_first_one_counts(void **state)
{
    fixture *f = *state;
    geo_short(&f->m, 1024, 1);
    geo_short(&f->m, 3072, 32633);
    geo_short(&f->m, 3072, 32634);
    geo_short(&f->m, 3072, 32635);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_GEO_KEYS, TZ_NO_VALUE, TZ_NO_VALUE,
                 "ProjectedCRSGeoKey (3072) is there more than once");
    assert_int_equal(f->b.warnings.list[0].count, 2);
    assert_int_equal(f->geo.key_count, 2);
    assert_int_equal(f->geo.epsg, 32633);
    check_strict(f);
}

/* ---- where the values are ---- */

static void location_that_is_no_array(void **state)
{
    fixture *f = *state;
    geo_short(&f->m, 1024, 2);
    geo_short(&f->m, 2048, 4326);
    geo_entry(&f->m, 2057, 256, 1, 0);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_GEO_KEYS, TZ_NO_VALUE, 256, "neither 0 nor a tag with keys");
    assert_null(tz_geo_find_key(&f->geo, 2057));
    assert_int_equal(f->geo.epsg, 4326);
    check_strict(f);
}

static void location_0_with_many_values(void **state)
{
    fixture *f = *state;
    const uint16_t counts[] = {0, 2, 9, 65535};
    for (int i = 0; i < 4; i++) {
        geo_short(&f->m, 1024, 2);
        geo_short(&f->m, 2048, 4326);
        geo_entry(&f->m, 2054, 0, counts[i], 9102);
        parse(f);
        bench_warned(&f->b, GEO, TZ_TAG_GEO_KEYS, 1, counts[i], "GeogAngularUnitsGeoKey (2054)");
        assert_null(tz_geo_find_key(&f->geo, 2054));
        check_strict(f);
        end(state);
        begin(state);
    }
}

static void doubles_that_are_not_there(void **state)
{
    fixture *f = *state;
    geo_short(&f->m, 2048, 4326);
    geo_entry(&f->m, 2057, TZ_TAG_GEO_DOUBLES, 1, 0);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_GEO_DOUBLES, 0, 1,
                 "values of key EllipsoidSemiMajorAxisGeoKey (2057) end outside");
    assert_null(tz_geo_find_key(&f->geo, 2057));
    check_strict(f);
}

static void values_past_the_end_of_their_array(void **state)
{
    fixture *f = *state;
    static const struct {
        uint16_t tag, count, index;
        uint64_t size; /* of the array */
    } cases[] = {
        {TZ_TAG_GEO_DOUBLES, 1, 3, 3},         {TZ_TAG_GEO_DOUBLES, 2, 2, 3},
        {TZ_TAG_GEO_DOUBLES, 65535, 65535, 3}, {TZ_TAG_GEO_DOUBLES, 4, 0, 3},
        {TZ_TAG_GEO_KEYS, 1, 16, 16},          {TZ_TAG_GEO_KEYS, 65535, 1, 16},
        {TZ_TAG_GEO_ASCII, 5, 0, 4},           {TZ_TAG_GEO_ASCII, 1, 65535, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int k = 0; k < 3; k++)
            f->m.doubles[f->m.double_count++] = k;
        memcpy(f->m.ascii, "abc|", f->m.ascii_size = 4);
        geo_short(&f->m, 1024, 2);
        geo_short(&f->m, 2048, 4326);
        geo_entry(&f->m, 40000, cases[i].tag, cases[i].count, cases[i].index);
        parse(f);
        bench_warned(&f->b, GEO, cases[i].tag, cases[i].size,
                     (uint64_t)cases[i].count + cases[i].index, "unknown (40000)");
        assert_int_equal(f->geo.key_count, 2);
        check_strict(f);
        end(state);
        begin(state);
    }
}

static void values_that_just_fit(void **state)
{
    fixture *f = *state;
    geo_entry(&f->m, 40000, TZ_TAG_GEO_DOUBLES, 3, 0);
    geo_entry(&f->m, 40001, TZ_TAG_GEO_DOUBLES, 1, 2);
    geo_entry(&f->m, 40002, TZ_TAG_GEO_DOUBLES, 0, 3);
    geo_entry(&f->m, 40003, TZ_TAG_GEO_KEYS, 2, 4 + 4 * 4 - 2);
    for (int k = 0; k < 3; k++)
        f->m.doubles[f->m.double_count++] = k;
    parse(f);
    bench_silent(&f->b);
    const tz_geo_key *keys = f->geo.keys;
    assert_int_equal(keys[0].count, 3);
    assert_true(keys[0].value.doubles[2] == 2);
    assert_true(keys[1].value.doubles[0] == 2);
    assert_int_equal(keys[2].count, 0);
    assert_true(tz_geo_double(&f->geo, 40002, 5) == 5);
    assert_int_equal(keys[3].type, TZ_TYPE_SHORT);
    assert_int_equal(keys[3].value.shorts[1], 18);
}

static void key_of_the_wrong_type_is_kept_but_not_used(void **state)
{
    fixture *f = *state;
    geo_short(&f->m, 1024, 1);
    geo_short(&f->m, 2057, 6378);
    geo_double(&f->m, 3072, 32633);
    parse(f);
    assert_non_null(bench_find(&f->b, "EllipsoidSemiMajorAxisGeoKey (2057) has the wrong type"));
    const tz_error *warning = bench_find(&f->b, "wrong type");
    assert_int_equal(warning->count, 2);
    assert_true(warning->expected == TZ_TYPE_DOUBLE && warning->found == TZ_TYPE_SHORT);
    assert_int_equal(f->geo.epsg, 0);
    assert_int_equal(tz_geo_find_key(&f->geo, 3072)->type, TZ_TYPE_DOUBLE);
    assert_true(tz_geo_find_key(&f->geo, 3072)->value.doubles[0] == 32633);
    assert_true(isnan(tz_geo_double(&f->geo, 2057, NAN)));
    check_strict(f);
}

/* ---- text ---- */

static void check_text(void **state, const char *bytes, size_t size, const char *text,
                       const char *warning)
{
    fixture *f = *state;
    geo_short(&f->m, 2048, 4326);
    memcpy(f->m.ascii, bytes, size);
    f->m.ascii_size = size;
    geo_entry(&f->m, 2049, TZ_TAG_GEO_ASCII, size, 0);
    parse(f);
    const tz_geo_key *key = tz_geo_find_key(&f->geo, 2049);
    assert_int_equal(key->count, strlen(text));
    assert_memory_equal(key->value.text, text, key->count);
    if (warning)
        bench_warned(&f->b, GEO, TZ_TAG_GEO_ASCII, TZ_NO_VALUE, TZ_NO_VALUE, warning);
    else
        bench_silent(&f->b);
    end(state);
    begin(state);
}

static void text_ends_before_its_bar_and_nuls(void **state)
{
    check_text(state, "WGS 84|", 7, "WGS 84", NULL);
    check_text(state, "WGS 84|\0\0", 9, "WGS 84", NULL);
    check_text(state, "WGS 84\0|", 8, "WGS 84", NULL);
    check_text(state, "a|b||", 5, "a|b|", NULL);
    check_text(state, "|", 1, "", NULL);
    check_text(state, "WGS 84", 6, "WGS 84", "does not end in '|'");
    check_text(state, "WGS 84\0", 7, "WGS 84", "does not end in '|'");
    check_text(state, "\0\0", 2, "", "does not end in '|'");
}

static void text_with_a_nul_inside(void **state)
{
    fixture *f = *state;
    geo_short(&f->m, 2048, 4326);
    memcpy(f->m.ascii, "ab\0cd|", f->m.ascii_size = 6);
    geo_entry(&f->m, 2049, TZ_TAG_GEO_ASCII, 6, 0);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_GEO_ASCII, TZ_NO_VALUE, TZ_NO_VALUE, "has a NUL inside");
    assert_int_equal(tz_geo_find_key(&f->geo, 2049)->count, 5);
    assert_string_equal(f->geo.citation, "ab");
    check_strict(f);
}

static void text_of_any_bytes(void **state)
{
    fixture *f = *state;
    geo_short(&f->m, 2048, 4326);
    geo_text(&f->m, 2049, "\xff\xfe\x80 \x01\n\x7f|");
    parse(f);
    bench_silent(&f->b);
    assert_string_equal(f->geo.citation, "\xff\xfe\x80 \x01\n\x7f");
}

static void long_citation_is_cut(void **state)
{
    fixture *f = *state;
    geo_short(&f->m, 2048, 4326);
    memset(f->m.ascii, 'x', f->m.ascii_size = sizeof f->m.ascii);
    f->m.ascii[f->m.ascii_size - 1] = '|';
    geo_entry(&f->m, 2049, TZ_TAG_GEO_ASCII, f->m.ascii_size, 0);
    parse(f);
    bench_silent(&f->b);
    assert_int_equal(strlen(f->geo.citation), 4096);
    assert_int_equal(tz_geo_find_key(&f->geo, 2049)->count, f->m.ascii_size - 1);
}

static void check_citation(void **state, unsigned model, const char *const texts[4],
                           const char *expected)
{
    static const uint16_t ids[4] = {1026, 2049, 3073, 4097};
    fixture *f = *state;
    if (model != 0)
        geo_short(&f->m, 1024, model);
    for (int i = 0; i < 4; i++)
        if (texts[i])
            geo_text(&f->m, ids[i], texts[i]);
    parse(f);
    if (expected)
        assert_string_equal(f->geo.citation, expected);
    else
        assert_null(f->geo.citation);
    end(state);
    begin(state);
}

static void most_telling_citation_is_chosen(void **state)
{
#define TEXTS(...)                                                                                 \
    (const char *const[4])                                                                         \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
    const char *esri = "ESRI PE String = PROJCS[...]|";
    const char *imagine = "IMAGINE GeoTIFF Support\nCopyright|";
    check_citation(state, 1, TEXTS("gt|", "geog|", "pcs|", "vert|"), "pcs");
    check_citation(state, 1, TEXTS("gt|", "geog|", NULL, "vert|"), "gt");
    check_citation(state, 2, TEXTS("gt|", "geog|", "pcs|", "vert|"), "geog");
    check_citation(state, 3, TEXTS("gt|", "geog|", "pcs|", "vert|"), "gt");
    check_citation(state, 0, TEXTS("gt|", "geog|", "pcs|", "vert|"), "gt");
    check_citation(state, 0, TEXTS(NULL, NULL, NULL, "vert|"), "vert");
    check_citation(state, 32767, TEXTS("gt|", "geog|", NULL, NULL), "gt");
    check_citation(state, 1, TEXTS("gt|", "geog|", "|", NULL), "gt");
    check_citation(state, 1, TEXTS(NULL, NULL, NULL, NULL), NULL);
    check_citation(state, 1, TEXTS(imagine, "geog|", esri, NULL), "geog");
    check_citation(state, 1, TEXTS(imagine, NULL, esri, NULL), "ESRI PE String = PROJCS[...]");
    check_citation(state, 2, TEXTS(imagine, NULL, NULL, NULL),
                   "IMAGINE GeoTIFF Support\nCopyright");
#undef TEXTS
}

/* ---- codes ---- */

static void check_codes(void **state, const uint16_t keys[4], uint16_t epsg, bool has_crs)
{
    static const uint16_t ids[4] = {1024, 2048, 3072, 3075};
    fixture *f = *state;
    for (int i = 0; i < 4; i++)
        if (keys[i] != 0)
            geo_short(&f->m, ids[i], keys[i]);
    parse(f);
    assert_int_equal(f->geo.epsg, epsg);
    assert_int_equal(f->geo.has_crs, has_crs);
    end(state);
    begin(state);
}

static void horizontal_code(void **state)
{
#define CODES(model, geodetic, projected, method)                                                  \
    (const uint16_t[4]){model, geodetic, projected, method}
    check_codes(state, CODES(1, 4326, 32633, 0), 32633, true);
    check_codes(state, CODES(2, 4326, 0, 0), 4326, true);
    check_codes(state, CODES(2, 4326, 32633, 0), 4326, true);
    check_codes(state, CODES(2, 4979, 0, 0), 4979, true);
    check_codes(state, CODES(3, 4978, 0, 0), 4978, true);
    check_codes(state, CODES(0, 4326, 32633, 0), 32633, true);
    check_codes(state, CODES(0, 4326, 0, 0), 4326, true);
    check_codes(state, CODES(32767, 4326, 32633, 0), 32633, true);
    check_codes(state, CODES(1, 4326, 32767, 1), 32767, true);
    check_codes(state, CODES(1, 4326, 0, 1), 0, true);
    check_codes(state, CODES(2, 32767, 0, 0), 32767, true);
    check_codes(state, CODES(1, 0, 0, 0), 0, false);
    /* what it was projected from is not what it is */
    check_codes(state, CODES(32767, 4326, 0, 0), 32767, true);
#undef CODES
}

static void code_that_is_no_code(void **state)
{
    fixture *f = *state;
    static const struct {
        uint16_t value;
        const char *text;
    } cases[] = {{1, "reserved value"},
                 {1023, "reserved value"},
                 {32768, "private code"},
                 {40000, "private code"},
                 {65535, "private code"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        geo_short(&f->m, 1024, 1);
        geo_short(&f->m, 3072, cases[i].value);
        parse(f);
        bench_warned(&f->b, GEO, TZ_TAG_GEO_KEYS, TZ_NO_VALUE, cases[i].value, cases[i].text);
        assert_non_null(bench_find(&f->b, "ProjectedCRSGeoKey (3072)"));
        assert_int_equal(f->geo.epsg, 0);
        assert_int_equal(tz_geo_short(&f->geo, 3072, 0), cases[i].value);
        check_strict(f);
        end(state);
        begin(state);
    }
}

static void reserved_model_and_raster_types(void **state)
{
    fixture *f = *state;
    geo_short(&f->m, 1024, 4);
    geo_short(&f->m, 1025, 3);
    geo_short(&f->m, 2048, 4326);
    parse(f);
    assert_int_equal(f->b.warnings.count, 1); /* one kind, twice */
    assert_int_equal(f->b.warnings.list[0].count, 2);
    assert_non_null(bench_find(&f->b, "GTRasterTypeGeoKey (1025) has a reserved value"));
    assert_int_equal(f->geo.model_type, 0);
    assert_int_equal(f->geo.raster_type, TZ_RASTER_TYPE_UNDEFINED);
    assert_int_equal(f->geo.epsg, 4326);
    check_strict(f);
}

static void raster_types_that_say_nothing(void **state)
{
    fixture *f = *state;
    const uint16_t values[] = {0, 32767};
    for (int i = 0; i < 2; i++) {
        geo_short(&f->m, 1025, values[i]);
        parse(f);
        bench_silent(&f->b);
        assert_int_equal(f->geo.raster_type, TZ_RASTER_TYPE_UNDEFINED);
        end(state);
        begin(state);
    }
}

static void check_vertical(void **state, uint16_t minor, uint16_t code, uint16_t datum,
                           uint16_t expected)
{
    fixture *f = *state;
    f->m.minor = minor;
    geo_short(&f->m, 1024, 2);
    geo_short(&f->m, 2048, 4326);
    geo_short(&f->m, 4096, code);
    if (datum != 0)
        geo_short(&f->m, 4098, datum);
    parse(f);
    assert_int_equal(f->geo.epsg_vertical, expected);
    if (minor == 0)
        bench_warned(&f->b, GEO, TZ_TAG_GEO_KEYS, 1, 0, "needs minor revision 1");
    else
        bench_silent(&f->b);
    end(state);
    begin(state);
}

static void vertical_codes(void **state)
{
    check_vertical(state, 1, 5703, 0, 5703);
    check_vertical(state, 1, 4979, 0, 4979);
    check_vertical(state, 1, 5103, 0, 5103); /* 1.1 has no excuse, and 5103 is none of its CRSs */
    check_vertical(state, 0, 5703, 0, 5703);
    check_vertical(state, 0, 5101, 0, 5701);
    check_vertical(state, 0, 5103, 0, 5703);
    check_vertical(state, 0, 5112, 0, 5712);
    check_vertical(state, 0, 5113, 0, 5113);
    check_vertical(state, 0, 5103, 5103, 5103);
    check_vertical(state, 0, 5171, 0, 5773);
    check_vertical(state, 0, 5030, 0, 4979);
    check_vertical(state, 0, 5001, 0, 0);
    check_vertical(state, 0, 5033, 0, 0);
    check_vertical(state, 0, 5034, 0, 5034);
}

static void private_vertical_keys_are_ignored_together(void **state)
{
    fixture *f = *state;
    f->m.minor = 1;
    geo_short(&f->m, 1024, 2);
    geo_short(&f->m, 2048, 4326);
    geo_short(&f->m, 4096, 5703);
    geo_short(&f->m, 4099, 32771);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_GEO_KEYS, TZ_NO_VALUE, 32771, "VerticalUnitsGeoKey (4099)");
    assert_int_equal(f->geo.epsg_vertical, 0);
    assert_int_equal(f->geo.epsg, 4326);
}

static void own_vertical_unit_is_not_allowed(void **state)
{
    fixture *f = *state;
    f->m.minor = 1;
    geo_short(&f->m, 4096, 5703);
    geo_short(&f->m, 4099, 32767);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_GEO_KEYS, TZ_NO_VALUE, 32767, "VerticalUnitsGeoKey (4099)");
}

static void epoch(void **state)
{
    fixture *f = *state;
    geo_double(&f->m, 5120, 2021.3);
    parse(f);
    bench_silent(&f->b);
    assert_true(f->geo.coordinate_epoch == 2021.3);
}

static void epoch_that_is_no_number(void **state)
{
    fixture *f = *state;
    geo_double(&f->m, 5120, INFINITY);
    parse(f);
    bench_warned(&f->b, GEO, TZ_TAG_GEO_KEYS, TZ_NO_VALUE, TZ_NO_VALUE,
                 "CoordinateEpochGeoKey (5120)");
    assert_true(isnan(f->geo.coordinate_epoch));
    check_strict(f);
}

/* ---- what must be there together ---- */

/* Keys by pairs of id and value up to 0; NULL: nothing is missing. */
static void check_need(void **state, const uint16_t *keys, const char *text)
{
    fixture *f = *state;
    f->m.minor = 1;
    for (; keys[0] != 0; keys += 2) {
        if (tz_geo_key_type(keys[0]) == TZ_TYPE_DOUBLE)
            geo_double(&f->m, keys[0], keys[1]);
        else if (tz_geo_key_type(keys[0]) == TZ_TYPE_ASCII)
            geo_text(&f->m, keys[0], "text|");
        else
            geo_short(&f->m, keys[0], keys[1]);
    }
    parse(f);
    if (text) {
        bench_warned(&f->b, GEO, TZ_TAG_GEO_KEYS, TZ_NO_VALUE, TZ_NO_VALUE, text);
        check_strict(f);
    } else {
        bench_silent(&f->b);
    }
    end(state);
    begin(state);
}
#define NEED(text, ...) check_need(state, (const uint16_t[]){__VA_ARGS__, 0}, text)

static void keys_that_need_others(void **state)
{
    NEED("GTModelTypeGeoKey (1024) is 1, which needs key ProjectedCRSGeoKey (3072)", 1024, 1);
    NEED("GTModelTypeGeoKey (1024) is 2, which needs key GeodeticCRSGeoKey (2048)", 1024, 2);
    NEED("GTModelTypeGeoKey (1024) is 3, which needs key GeodeticCRSGeoKey (2048)", 1024, 3);
    NEED("GTModelTypeGeoKey (1024) is 32767, which needs key GTCitationGeoKey", 1024, 32767);
    NEED("needs key ProjectedCRSGeoKey", 1024, 1, 3072, 0);
    NEED("(2048) is 32767, which needs key GeodeticCitationGeoKey", 2048, 32767, 2050, 6326, 2054,
         9102);
    NEED("(2048) is 32767, which needs key GeodeticDatumGeoKey", 2048, 32767, 2049, 0, 2054, 9102);
    NEED("(2048) is 32767, which needs key GeogAngularUnitsGeoKey", 2048, 32767, 2049, 0, 2050,
         6326);
    NEED("(2050) is 32767, which needs key EllipsoidGeoKey", 2050, 32767);
    NEED("(2051) is 32767, which needs key PrimeMeridianLongitudeGeoKey", 2051, 32767);
    NEED("(2052) is 32767, which needs key GeogLinearUnitSizeGeoKey", 2052, 32767);
    NEED("(2054) is 32767, which needs key GeogAngularUnitSizeGeoKey", 2054, 32767);
    NEED("(2056) is 32767, which needs key EllipsoidSemiMajorAxisGeoKey", 2056, 32767, 2059, 0);
    NEED("(2056) is 32767, which needs key EllipsoidInvFlatteningGeoKey", 2056, 32767, 2057, 1);
    NEED("(3072) is 32767, which needs key ProjectedCitationGeoKey", 2048, 4326, 3072, 32767, 3075,
         1);
    NEED("(3072) is 32767, which needs key GeodeticCRSGeoKey", 3072, 32767, 3073, 0, 3075, 1);
    NEED("(3072) is 32767, which needs key ProjectionGeoKey", 2048, 4326, 3072, 32767, 3073, 0);
    NEED("(3074) is 32767, which needs key ProjMethodGeoKey", 3074, 32767);
    NEED("(3076) is 32767, which needs key ProjLinearUnitSizeGeoKey", 3076, 32767);
    NEED("(4096) is 32767, which needs key VerticalCitationGeoKey", 4096, 32767, 4099, 9001);
    NEED("(4096) is 32767, which needs key VerticalDatumGeoKey", 4096, 32767, 4097, 0);
}

static void keys_that_have_what_they_need(void **state)
{
    NEED(NULL, 1024, 1, 1026, 0, 2048, 4326, 3072, 32767, 3074, 32767, 3075, 1);
    NEED(NULL, 1024, 1, 2048, 4326, 3072, 32767, 3073, 0, 3074, 16033);
    NEED(NULL, 1024, 2, 2048, 32767, 2049, 0, 2054, 9102, 2056, 7030);
    NEED(NULL, 2048, 32767, 2049, 0, 2050, 32767, 2052, 9001, 2056, 32767, 2057, 1, 2058, 1);
    NEED(NULL, 1024, 32767, 3073, 0);
    NEED(NULL, 4096, 32767, 4097, 0, 4098, 5103);
}

/* ---- names ---- */

static void key_names(void **state)
{
    (void)state;
    assert_string_equal(tz_geo_key_name(1024), "GTModelTypeGeoKey");
    assert_string_equal(tz_geo_key_name(2048), "GeodeticCRSGeoKey");
    assert_string_equal(tz_geo_key_name(2063), "CelestialBodyGeoKey");
    assert_string_equal(tz_geo_key_name(3072), "ProjectedCRSGeoKey");
    assert_string_equal(tz_geo_key_name(4099), "VerticalUnitsGeoKey");
    assert_string_equal(tz_geo_key_name(5120), "CoordinateEpochGeoKey");
    assert_null(tz_geo_key_name(0));
    assert_null(tz_geo_key_name(1023));
    assert_null(tz_geo_key_name(65535));
    unsigned known = 0;
    for (unsigned id = 0; id <= 65535; id++) {
        known += tz_geo_key_name((uint16_t)id) != NULL;
        assert_int_equal(tz_geo_key_name((uint16_t)id) != NULL, tz_geo_key_type((uint16_t)id) != 0);
    }
    assert_int_equal(known, 50);
}

/* ---- memory ---- */

static void every_allocation_fails_in_turn(void **state)
{
    fixture *f = *state;
    utm_33(f);
    geo_entry(&f->m, 2057, 256, 1, 0);
    geo_short(&f->m, 1024, 1);
    geo_finish(&f->m);
    GEO_SCALE(&f->m, 10, -20);
    GEO_TIEPOINTS(&f->m, 0, 0, 0, 5, 6, 0);
    for (uint64_t n = 1;; n++) {
        bench b;
        tz_geo geo = {.struct_size = sizeof(tz_geo), .model_type = 77};
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        bench_init(&b);
        tz_result result = tz_geo_parse(&f->m.tags, &b.arena, &b.ctx, &geo);
        alloc_stats stats = alloc_hook_stats();
        bench_deinit(&b);
        assert_int_equal(alloc_hook_stats().live_bytes, 0);
        alloc_hook_remove();
        if (stats.failures == 0) {
            assert_int_equal(result, TZ_OK);
            assert_true(n > 2);
            break;
        }
        assert_int_equal(result, TZ_ERR_NOMEM);
        assert_int_equal(b.err.cause, TZ_CAUSE_NOMEM);
        assert_int_equal(geo.model_type, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(keys_of_a_good_file),
        CASE(no_directory_is_no_defect),
        CASE(directory_shorter_than_its_header),
        CASE(directory_of_another_version),
        CASE(directory_of_an_unknown_revision_is_read),
        CASE(directory_shorter_than_its_keys),
        CASE(more_values_than_keys_is_no_defect),
        CASE(too_many_keys_are_ignored),
        CASE(keys_out_of_order_are_sorted),
        CASE(sixty_thousand_keys_in_reverse),
        CASE(key_twice_first_one_counts),
        CASE(location_that_is_no_array),
        CASE(location_0_with_many_values),
        CASE(doubles_that_are_not_there),
        CASE(values_past_the_end_of_their_array),
        CASE(values_that_just_fit),
        CASE(key_of_the_wrong_type_is_kept_but_not_used),
        CASE(text_ends_before_its_bar_and_nuls),
        CASE(text_with_a_nul_inside),
        CASE(text_of_any_bytes),
        CASE(long_citation_is_cut),
        CASE(most_telling_citation_is_chosen),
        CASE(horizontal_code),
        CASE(code_that_is_no_code),
        CASE(reserved_model_and_raster_types),
        CASE(raster_types_that_say_nothing),
        CASE(vertical_codes),
        CASE(private_vertical_keys_are_ignored_together),
        CASE(own_vertical_unit_is_not_allowed),
        CASE(epoch),
        CASE(epoch_that_is_no_number),
        CASE(keys_that_need_others),
        CASE(keys_that_have_what_they_need),
        CASE(key_names),
        CASE(every_allocation_fails_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
