/* SPDX-License-Identifier: Apache-2.0
 * Georeferencing that is written is read again as it was, bit for bit. */
#include <math.h>

#include "support/check.h"
#include "support/spec_case.h"
#include "support/spec_equal.h"
#include "tiff/geo/geo.h"

static void set_transform(double t0, double t1, double t2, double t3, double t4, double t5)
{
    const double t[6] = {t0, t1, t2, t3, t4, t5};
    geo.has_transform = true;
    memcpy(geo.transform, t, sizeof t);
    spec.geo = &geo;
}

static bool has_tag(const tz_file *handle, uint16_t tag)
{
    const tz_level *level = tz_file_get_level(handle, 0);
    tz_error err;
    for (uint32_t i = 0; i < (uint32_t)level->tag_count; i++) {
        tz_tag found = TZ_TAG_INIT;
        assert_int_equal(tz_file_get_tag(&found, handle, level->ifd_offset, i, &err), TZ_OK);
        if (found.tag == tag)
            return true;
    }
    return false;
}

/* As a scale with a tiepoint, or as a matrix; and the same six numbers. */
static void check_transform(bool scale)
{
    double wanted[6];
    memcpy(wanted, geo.transform, sizeof wanted);
    made_file m = made(TB_BIG_ENDIAN);
    assert_true(m.info->geo->has_transform);
    assert_memory_equal(m.info->geo->transform, wanted, sizeof wanted);
    assert_int_equal(has_tag(m.handle, TZ_TAG_PIXEL_SCALE), scale);
    assert_int_equal(has_tag(m.handle, TZ_TAG_TIEPOINTS), scale);
    assert_int_equal(has_tag(m.handle, TZ_TAG_TRANSFORMATION), !scale);
    made_close(&m);
}

static void transforms_come_back(void **state)
{
    (void)state;
    start();
    set_transform(500000.1, 10.0 / 3, 0, 4100000.7, 0, -1.0 / 7);
    check_transform(true);
    set_transform(-0.0, 1, 0, 0, 0, -1);
    check_transform(true);
    set_transform(0.1, 1, 1e-17, 5, 0, -1); /* turned, if by little */
    check_transform(false);
    set_transform(0.1, 1, 0, 5, 0, 1); /* rows go up */
    check_transform(false);
    set_transform(0.1, -1, 0, 5, 0, -1);
    check_transform(false);
    set_transform(0.1, 1, -0.0, 5, 0, -1);
    check_transform(false);
    set_transform(0.1, 0, 3, 5, 2, 0);
    check_transform(false);
}

static uint64_t seed = 1;
static double random_number(double size)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return ((double)(seed >> 11) * 0x1p-53 - 0.5) * size;
}

/* Tags of pixel centres, as another writer might have chosen them, read, written and read. */
static void pixel_centres_come_back(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3000; i++) {
        const double step = fabs(random_number(i % 3 ? 100 : 1e-3)) + 1e-9;
        const double x = random_number(i % 2 ? 1e7 : step * 3);
        const double half = step * 0.5 + 0 * 0.5;
        start();
        set_transform(x - half, step, 0, random_number(1e6), 0, -step);
        geo.raster_type = TZ_RASTER_TYPE_POINT;
        geo.transform[3] = geo.transform[3] - (0 * 0.5 + -step * 0.5);
        check_transform(true);
    }
}

/* A corner that no number of the tags leads to is missed by its last bit at most. */
static void pixel_centres_are_as_near_as_can_be(void **state)
{
    (void)state;
    start();
    set_transform(0.1, 1, 0, 0.1, 0, -1);
    geo.raster_type = TZ_RASTER_TYPE_POINT;
    made_file m = made(0);
    assert_true(fabs(m.info->geo->transform[0] - 0.1) < 0x1p-52);
    assert_true(fabs(m.info->geo->transform[3] - 0.1) < 0x1p-52);
    made_close(&m);
}

/* ---- keys ---- */

static void check_key(const tz_geo *read, uint32_t index, uint16_t id, uint16_t value)
{
    assert_int_equal(read->keys[index].id, id);
    assert_int_equal(read->keys[index].type, TZ_TYPE_SHORT);
    assert_int_equal(read->keys[index].value.shorts[0], value);
}

static void codes_become_keys(void **state)
{
    (void)state;
    FORMATS(f)
    {
        start();
        spec.geo = &geo, geo.epsg = 32633;
        made_file utm = made(f);
        assert_int_equal(utm.info->geo->key_count, 3);
        check_key(utm.info->geo, 0, 1024, 1);
        check_key(utm.info->geo, 1, 1025, 1);
        check_key(utm.info->geo, 2, 3072, 32633);
        assert_int_equal(utm.info->geo->key_minor, 0);
        assert_true(isnan(utm.info->geo->coordinate_epoch));
        made_close(&utm);
        start();
        spec.geo = &geo, geo.epsg = 4326, geo.epsg_vertical = 5773, geo.coordinate_epoch = 2021.3;
        geo.citation = "a|b", geo.raster_type = TZ_RASTER_TYPE_POINT;
        made_file full = made(f);
        const tz_geo *read = full.info->geo;
        assert_int_equal(read->key_count, 6);
        assert_int_equal(read->model_type, 2);
        assert_int_equal(read->epsg, 4326);
        assert_int_equal(read->epsg_vertical, 5773);
        assert_int_equal(read->key_minor, 1);
        assert_int_equal(read->raster_type, TZ_RASTER_TYPE_POINT);
        assert_true(read->coordinate_epoch == 2021.3);
        assert_string_equal(read->citation, "a|b");
        made_close(&full);
        start();
        spec.geo = &geo, geo.epsg = 4978, geo.model_type = 3;
        made_file geocentric = made(f);
        check_key(geocentric.info->geo, 2, 2048, 4978);
        made_close(&geocentric);
        start();
        spec.geo = &geo, geo.raster_type = TZ_RASTER_TYPE_POINT;
        made_file point = made(f);
        assert_int_equal(point.info->geo->key_count, 1);
        assert_int_equal(point.info->geo->raster_type, TZ_RASTER_TYPE_POINT);
        made_close(&point);
    }
}

/* Without a database only few codes are known; with one, all. */
static void model_types_are_known(void **state)
{
    (void)state;
    static const struct {
        uint16_t code, type;
    } known[] = {{4326, 2}, {4258, 2}, {3857, 1}, {32601, 1}, {32760, 1}, {25832, 1}};
    static const struct {
        uint16_t code, type;
    } registered[] = {{2056, 1}, {4979, 2}, {4978, 3}, {4167, 2}, {5773, 0}, {7415, 0}, {1025, 0}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_int_equal(tz_epsg_model_type(known[i].code), known[i].type);
    const bool database = tz_build_feature("proj") != NULL;
    for (size_t i = 0; i < sizeof registered / sizeof registered[0]; i++)
        assert_int_equal(tz_epsg_model_type(registered[i].code), database ? registered[i].type : 0);
}

static void keys_of_every_kind_come_back(void **state)
{
    (void)state;
    static const uint16_t one[] = {1}, own[] = {32767}, three[] = {7, 8, 9};
    static const double doubles[] = {6378137, 298.25, -1};
    const tz_geo_key keys[] = {
        {1025, TZ_TYPE_SHORT, 1, {.shorts = one}},
        {1026, TZ_TYPE_ASCII, 3, {.text = "a|b"}},
        {2049, TZ_TYPE_ASCII, 4, {.text = "bar|"}},
        {2051, TZ_TYPE_SHORT, 1, {.shorts = own}},
        {2061, TZ_TYPE_DOUBLE, 1, {.doubles = doubles}},
        {2062, TZ_TYPE_DOUBLE, 3, {.doubles = doubles}},
        {3073, TZ_TYPE_ASCII, 0, {.text = NULL}},
        {60000, TZ_TYPE_SHORT, 3, {.shorts = three}},
        {60001, TZ_TYPE_SHORT, 2, {.shorts = three + 1}},
        {60002, TZ_TYPE_ASCII, 1, {.text = "|"}},
    };
    FORMATS(f)
    {
        start();
        spec.geo = &geo, geo.keys = keys, geo.key_count = sizeof keys / sizeof keys[0];
        geo.key_revision = 1, geo.key_minor = 1, geo.raster_type = TZ_RASTER_TYPE_AREA;
        geo.coordinate_epoch = NAN;
        made_file m = made(f);
        assert_null(geo_differs(&geo, m.info->geo));
        made_close(&m);
    }
}

static void control_points_come_back(void **state)
{
    (void)state;
    static const uint16_t point[] = {2};
    const tz_geo_key key = {1025, TZ_TYPE_SHORT, 1, {.shorts = point}};
    const tz_gcp gcps[] = {{0.5, 0.5, 0, 10.1, 20.2, 30.3}, {99.75, 1.25, 2, -10, -20, 1e-9}};
    FORMATS(f)
    {
        start();
        spec.geo = &geo, geo.gcps = gcps, geo.gcp_count = 2;
        made_file area = made(f);
        assert_null(geo_differs(&geo, area.info->geo));
        made_close(&area);
        geo.keys = &key, geo.key_count = 1, geo.key_revision = 1;
        geo.raster_type = TZ_RASTER_TYPE_POINT;
        made_file centre = made(f);
        assert_null(geo_differs(&geo, centre.info->geo));
        made_close(&centre);
    }
}

static void rpc_and_empty_directories_come_back(void **state)
{
    (void)state;
    double rpc[92];
    for (unsigned i = 0; i < 92; i++)
        rpc[i] = random_number(1e5);
    FORMATS(f)
    {
        start();
        spec.geo = &geo, geo.rpc = rpc;
        made_file coefficients = made(f);
        assert_memory_equal(coefficients.info->geo->rpc, rpc, sizeof rpc);
        assert_int_equal(coefficients.info->geo->key_revision, 0);
        assert_false(has_tag(coefficients.handle, TZ_TAG_GEO_KEYS));
        made_close(&coefficients);
        start();
        spec.geo = &geo, geo.key_revision = 1;
        made_file empty = made(f);
        assert_int_equal(empty.info->geo->key_revision, 1);
        assert_int_equal(empty.info->geo->key_count, 0);
        made_close(&empty);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(transforms_come_back),
        CASE(pixel_centres_come_back),
        CASE(pixel_centres_are_as_near_as_can_be),
        CASE(codes_become_keys),
        CASE(model_types_are_known),
        CASE(keys_of_every_kind_come_back),
        CASE(control_points_come_back),
        CASE(rpc_and_empty_directories_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
