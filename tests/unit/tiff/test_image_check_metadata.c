/* SPDX-License-Identifier: Apache-2.0
 * Images that cannot be written are refused before a file exists, with the reason: nodata,
 * georeferencing, metadata and other tags. And nothing is kept of what a specification points to.
 */
#include <float.h>
#include <math.h>

#include "support/alloc_hook.h"
#include "support/check.h"
#include "support/sized.h"
#include "support/spec_case.h"

/* ---- nodata ---- */

static tz_nodata of_int(int64_t value)
{
    return (tz_nodata){.kind = TZ_NODATA_KIND_INT, .value.i = value};
}

static tz_nodata of_uint(uint64_t value)
{
    return (tz_nodata){.kind = TZ_NODATA_KIND_UINT, .value.u = value};
}

static tz_nodata of_double(double value)
{
    return (tz_nodata){.kind = TZ_NODATA_KIND_FLOAT, .value.f = value};
}

static void nodata_that_does_not_fit(void **state)
{
    (void)state;
    REFUSED("nodata -1 is not a value of type uint8 with 8 bits", spec.nodata = of_int(-1));
    REFUSED("nodata 256 is not a value of type uint8", spec.nodata = of_uint(256));
    REFUSED("nodata nan is not a value of type uint8", spec.nodata = of_double(NAN));
    REFUSED("nodata inf is not a value of type uint8", spec.nodata = of_double(INFINITY));
    REFUSED("nodata 0.5 is not a value of type uint8", spec.nodata = of_double(0.5));
    REFUSED("nodata 16 is not a value of type uint8 with 4 bits", spec.nodata = of_uint(16),
            spec.bits_per_sample = 4);
    REFUSED("nodata -9 is not a value of type int8 with 4 bits", spec.nodata = of_int(-9),
            spec.dtype = TZ_DTYPE_INT8, spec.bits_per_sample = 4);
    REFUSED("nodata 1e+39 is not a value of type float32", spec.nodata = of_double(1e39),
            spec.dtype = TZ_DTYPE_FLOAT32);
    REFUSED("nodata 16777217 is not a value of type float32", spec.nodata = of_int(16777217),
            spec.dtype = TZ_DTYPE_FLOAT32);
    REFUSED("nodata 9223372036854775807 is not a value of type float64",
            spec.nodata = of_int(INT64_MAX), spec.dtype = TZ_DTYPE_FLOAT64);
    REFUSED("nodata 18446744073709551615 is not a value of type float64",
            spec.nodata = of_uint(UINT64_MAX), spec.dtype = TZ_DTYPE_FLOAT64);
    REFUSED("nodata 18446744073709551615 is not a value of type int64",
            spec.nodata = of_uint(UINT64_MAX), spec.dtype = TZ_DTYPE_INT64);
    REFUSED("spec->nodata.kind is 4", spec.nodata.kind = (tz_nodata_kind)4);
}

static void text_of_nodata(void **state)
{
    (void)state;
    char text[300] = {0};
    memset(text, '0', 255);
    REFUSED("'7', is another value than nodata itself", spec.nodata = of_uint(8),
            spec.nodata_text = "7");
    REFUSED("'nan', is another value than nodata itself", spec.dtype = TZ_DTYPE_FLOAT32,
            spec.nodata = of_uint(8), spec.nodata_text = "nan");
    REFUSED("nodata 'none' is not a value", spec.nodata_text = "none");
    REFUSED("nodata '7x' is not a value", spec.nodata = of_uint(7), spec.nodata_text = "7x");
    REFUSED("1 to 254 printable characters", spec.nodata_text = "7\n");
    REFUSED("1 to 254 printable characters", spec.nodata_text = "");
    REFUSED("1 to 254 printable characters", spec.nodata_text = text);
    ACCEPTED(alone, spec.nodata_text = "7.0");
    assert_int_equal(alone.spec.nodata.kind, TZ_NODATA_KIND_UINT);
    assert_int_equal(alone.spec.nodata.value.u, 7);
    assert_string_equal(alone.spec.nodata_text, "7.0");
    tz_image_deinit(&alone);
}

static void check_spelled(tz_dtype dtype, tz_nodata nodata, const char *text)
{
    ACCEPTED(image, spec.dtype = dtype, spec.nodata = nodata);
    assert_string_equal(image.spec.nodata_text, text);
    tz_image_deinit(&image);
}

static void nodata_is_spelled_exactly(void **state)
{
    (void)state;
    check_spelled(TZ_DTYPE_UINT8, of_double(255), "255");
    check_spelled(TZ_DTYPE_INT64, of_int(INT64_MIN), "-9223372036854775808");
    check_spelled(TZ_DTYPE_UINT64, of_uint(UINT64_MAX), "18446744073709551615");
    check_spelled(TZ_DTYPE_UINT64, of_double(1e16), "10000000000000000");
    check_spelled(TZ_DTYPE_FLOAT32, of_int(-9999), "-9999");
    check_spelled(TZ_DTYPE_FLOAT32, of_double(NAN), "nan");
    check_spelled(TZ_DTYPE_FLOAT32, of_double(-INFINITY), "-inf");
    check_spelled(TZ_DTYPE_FLOAT32, of_double(-FLT_MAX), "-3.4028234663852886e+38");
    check_spelled(TZ_DTYPE_FLOAT32, of_double(0.1), "0.10000000149011612");
    check_spelled(TZ_DTYPE_FLOAT64, of_double(0.1), "0.1");
    check_spelled(TZ_DTYPE_COMPLEX_INT16, of_int(-32768), "-32768");
}

static bool gate(tz_dtype dtype, tz_nodata nodata, bool asked)
{
    ACCEPTED(image, spec.dtype = dtype, spec.nodata = nodata, options.nan_to_nodata = asked);
    const bool open = image.nan_to_nodata;
    tz_image_deinit(&image);
    return open;
}

static void nan_becomes_nodata_where_it_can(void **state)
{
    (void)state;
    assert_true(gate(TZ_DTYPE_FLOAT32, of_int(-9999), true));
    assert_false(gate(TZ_DTYPE_FLOAT32, of_int(-9999), false));
    assert_false(gate(TZ_DTYPE_FLOAT32, of_double(NAN), true));
    assert_false(gate(TZ_DTYPE_FLOAT32, (tz_nodata){0}, true));
    assert_false(gate(TZ_DTYPE_INT16, of_int(-9999), true));
    assert_false(gate(TZ_DTYPE_COMPLEX_FLOAT32, of_int(-9999), true));
}

/* ---- georeferencing ---- */

static void set_transform(double t0, double t1, double t2, double t3, double t4, double t5)
{
    const double t[6] = {t0, t1, t2, t3, t4, t5};
    geo.has_transform = true;
    memcpy(geo.transform, t, sizeof t);
    spec.geo = &geo;
}

static void transforms(void **state)
{
    (void)state;
    static const tz_gcp gcps[1];
    static const double nans[92] = {[91] = NAN};
    REFUSED("spec->geo->transform: number 1 is infinite or not a number",
            set_transform(0, NAN, 0, 0, 0, -1));
    REFUSED("the transform maps the image to a line or a point", set_transform(0, 1, 2, 0, 2, 4));
    REFUSED("the transform maps the image to a line or a point", set_transform(0, 0, 0, 0, 0, 0));
    REFUSED("a transform and control points exclude each other", set_transform(0, 1, 0, 0, 0, -1),
            geo.gcps = gcps, geo.gcp_count = 1);
    REFUSED("spec->geo->gcps is NULL", spec.geo = &geo, geo.gcp_count = 3);
    REFUSED("spec->geo->rpc: number 91 is infinite or not a number", spec.geo = &geo,
            geo.rpc = nans);
    REFUSED("spec->geo->raster_type is 3", spec.geo = &geo, geo.raster_type = (tz_raster_type)3);
    ACCEPTED(tiny, set_transform(0, 1e-200, 0, 0, 0, -1e-200));
    tz_image_deinit(&tiny);
}

static void control_points(void **state)
{
    (void)state;
    tz_gcp *gcps = calloc(10923, sizeof *gcps);
    assert_non_null(gcps);
    REFUSED("10923 control points; there may be 10922 at most", spec.geo = &geo, geo.gcps = gcps,
            geo.gcp_count = 10923);
    ACCEPTED(image, spec.geo = &geo, geo.gcps = gcps, geo.gcp_count = 10922);
    tz_image_deinit(&image);
    gcps[1].x = INFINITY;
    REFUSED("spec->geo->gcps: number 9 is infinite", spec.geo = &geo, geo.gcps = gcps,
            geo.gcp_count = 2);
    free(gcps);
}

static void set_key(tz_geo_key *key, uint16_t id, uint16_t type, uint32_t count, const void *data)
{
    *key = (tz_geo_key){.id = id, .type = type, .count = count, .value.text = data};
    spec.geo = &geo;
    geo.keys = key;
    geo.key_count = 1;
}

static void geo_keys(void **state)
{
    (void)state;
    static const uint16_t code[] = {32633, 2};
    static char text[65536];
    tz_geo_key keys[2] = {{0}};
    memset(text, 'a', sizeof text);
    REFUSED("GeoKey 3072 has type 4; it must be 2, 3 or 12", set_key(keys, 3072, 4, 1, code));
    REFUSED("GeoKey 3072 has no value", set_key(keys, 3072, TZ_TYPE_SHORT, 0, code));
    REFUSED("the value of a GeoKey is NULL", set_key(keys, 3072, TZ_TYPE_SHORT, 1, NULL));
    REFUSED("the text of GeoKey 1026 has a NUL inside",
            set_key(keys, 1026, TZ_TYPE_ASCII, 3, "a\0b"));
    REFUSED("the GeoKeys are too long", set_key(keys, 1026, TZ_TYPE_ASCII, 65535, text));
    REFUSED("GeoKey 1026 comes after 1026; they must ascend",
            set_key(keys + 1, 1026, TZ_TYPE_ASCII, 1, text),
            set_key(keys, 1026, TZ_TYPE_ASCII, 1, text), geo.key_count = 2);
    REFUSED("spec->geo->keys is NULL", spec.geo = &geo, geo.key_count = 2);
    REFUSED_BY(TZ_ERR_LIMIT, "max_geo_keys", spec.geo = &geo, geo.key_count = 1025);
    REFUSED("spec->geo->epsg is 4326, and its keys say 32633; give one or the other",
            set_key(keys, 3072, TZ_TYPE_SHORT, 1, code), geo.epsg = 4326);
    REFUSED("spec->geo->raster_type is 2, and its keys say 0",
            set_key(keys, 3072, TZ_TYPE_SHORT, 1, code), geo.raster_type = TZ_RASTER_TYPE_POINT);
    REFUSED("spec->geo->coordinate_epoch is 2020, and its keys say nan",
            set_key(keys, 3072, TZ_TYPE_SHORT, 1, code), geo.coordinate_epoch = 2020);
    ACCEPTED(area, set_key(keys, 3072, TZ_TYPE_SHORT, 1, code),
             geo.raster_type = TZ_RASTER_TYPE_AREA);
    tz_image_deinit(&area);
    ACCEPTED(longest, set_key(keys, 1026, TZ_TYPE_ASCII, 65534, text));
    tz_image_deinit(&longest);
}

static void epsg_codes(void **state)
{
    (void)state;
    static char text[65536];
    memset(text, 'a', 65535);
    REFUSED("spec->geo->epsg is 32767; codes of EPSG are 1024 to 32766", spec.geo = &geo,
            geo.epsg = 32767);
    REFUSED("spec->geo->epsg is 12", spec.geo = &geo, geo.epsg = 12);
    REFUSED("spec->geo->epsg_vertical is 40000", spec.geo = &geo, geo.epsg = 4326,
            geo.epsg_vertical = 40000);
    REFUSED("neither epsg nor keys say which", spec.geo = &geo, geo.epsg_vertical = 5773);
    REFUSED("neither epsg nor keys say which", spec.geo = &geo, geo.model_type = 1);
    REFUSED("neither epsg nor keys say which", spec.geo = &geo, geo.coordinate_epoch = 2020);
    REFUSED("spec->geo->coordinate_epoch is infinite", spec.geo = &geo, geo.epsg = 4326,
            geo.coordinate_epoch = INFINITY);
    REFUSED("spec->geo->model_type is 4; it must be 1, 2 or 3", spec.geo = &geo, geo.epsg = 4326,
            geo.model_type = 4);
    REFUSED("EPSG:5773 is", spec.geo = &geo, geo.epsg = 5773);
    REFUSED("spec->geo->citation is longer than 65534 bytes", spec.geo = &geo, geo.epsg = 4326,
            geo.citation = text);
    ACCEPTED(asked, spec.geo = &geo, geo.epsg = 5773, geo.model_type = 1);
    tz_image_deinit(&asked);
}

/* ---- metadata ---- */

static tz_metadata_item item;

static void set_item(const char *name, const char *value, const char *role, int32_t band)
{
    item = (tz_metadata_item){.struct_size = sizeof(tz_metadata_item),
                              .name = name,
                              .value = value,
                              .role = role,
                              .band = band};
    spec.metadata = &item;
    spec.metadata_count = 1;
}

static void metadata(void **state)
{
    (void)state;
    REFUSED("spec->metadata is NULL", spec.metadata_count = 1);
    REFUSED("has no name, or no value", set_item(NULL, "x", NULL, -1));
    REFUSED("has no name, or no value", set_item("x", NULL, NULL, -1));
    REFUSED("metadata item 'a' has no value", set_item("a", "", NULL, -1));
    REFUSED("metadata item 'a': its value has control characters", set_item("a", "\x01", NULL, -1));
    REFUSED("metadata item 'a': its value has control characters, or is not UTF-8",
            set_item("a", "\xff", NULL, -1));
    REFUSED("metadata item 'a': its value has control", set_item("a", "\xed\xa0\x80", NULL, -1));
    REFUSED("metadata item 'a': its value has control", set_item("a", "\xef\xbf\xbf", NULL, -1));
    REFUSED("metadata item 'a?b': its name, domain or role has control characters",
            set_item("a\nb", "x", NULL, -1));
    REFUSED("metadata item 'a' is for band 1, and the image has 1", set_item("a", "x", NULL, 1));
    REFUSED("metadata item 'a' is for band -2", set_item("a", "x", NULL, -2));
    REFUSED("metadata item 'SCALE' has role scale, and 'x' is not a number",
            set_item("SCALE", "x", "scale", 0));
    REFUSED_BY(TZ_ERR_LIMIT, "max_metadata_items", set_item("a", "b", NULL, -1),
               spec.metadata_count = 65537);
    REFUSED_BY(TZ_ERR_LIMIT, "max_xml_bytes", set_item("a", "0123456789", NULL, -1),
               options.limits = SIZED_LIMITS(.max_xml_bytes = 32));
    /* Statistics are made when it is too late to refuse. */
    REFUSED_BY(TZ_ERR_LIMIT, "max_metadata_items", spec.bands = 14000,
               options.interleave = TZ_INTERLEAVE_BAND, options.statistics_items = true);
    REFUSED_BY(TZ_ERR_LIMIT, "max_xml_bytes", options.statistics_items = true,
               options.limits = SIZED_LIMITS(.max_xml_bytes = 300));
}

/* ---- tags ---- */

static tz_tag_value tags[2];

static void set_tag(uint16_t tag, uint16_t type, uint64_t count, const void *data)
{
    tags[0] = tags[1] = (tz_tag_value)SIZED_TAG(tag, type, count, data);
    spec.tags = tags;
    spec.tag_count = 1;
}

static void other_tags(void **state)
{
    (void)state;
    static const uint16_t made[] = {254,   256,   257,   258,   259,   262,   266,   274,
                                    277,   278,   284,   317,   320,   322,   323,   338,
                                    339,   347,   530,   532,   33550, 33922, 34264, 34735,
                                    34736, 34737, 42112, 42113, 50674, 50844};
    static const uint16_t pointers[] = {273, 279, 288,   324,   325,  330,
                                        400, 513, 34665, 34853, 40965};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        REFUSED("it follows from the specification or the options",
                set_tag(made[i], TZ_TYPE_SHORT, 1, "12"));
    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++)
        REFUSED("it points into a file, and cannot be given as a tag",
                set_tag(pointers[i], TZ_TYPE_LONG, 1, "1234"));
    REFUSED("tag 256 (ImageWidth)", set_tag(256, TZ_TYPE_SHORT, 1, "12"));
    REFUSED("type 13 is not one of values", set_tag(50000, TZ_TYPE_IFD, 1, "1234"));
    REFUSED("type 18 is not one of values", set_tag(50000, TZ_TYPE_IFD8, 1, "12345678"));
    REFUSED("type 0 is not one of values", set_tag(50000, 0, 1, "1234"));
    REFUSED("type 14 is not one of values", set_tag(50000, 14, 1, "1234"));
    REFUSED("it has no values", set_tag(305, TZ_TYPE_ASCII, 0, ""));
    REFUSED("it has no values", set_tag(305, TZ_TYPE_ASCII, 1, NULL));
    REFUSED("tag 305 (Software): its text must end in a NUL", set_tag(305, TZ_TYPE_ASCII, 2, "ab"));
    REFUSED("tag 305 (Software): it is given more than once", set_tag(305, TZ_TYPE_ASCII, 1, ""),
            spec.tag_count = 2);
    REFUSED("spec->tags is NULL", spec.tag_count = 1);
    REFUSED_BY(TZ_ERR_LIMIT, "max_tag_bytes", set_tag(700, TZ_TYPE_BYTE, (256 << 20) + 1, "x"));
    REFUSED_BY(TZ_ERR_LIMIT, "max_tag_bytes", set_tag(700, TZ_TYPE_DOUBLE, UINT64_MAX / 4, "x"));
    REFUSED("a tag of 4 GiB and more", set_tag(700, TZ_TYPE_BYTE, UINT64_C(1) << 32, "x"),
            options.limits = SIZED_LIMITS(.max_tag_bytes = TZ_UNLIMITED));
    REFUSED_BY(TZ_ERR_LIMIT, "max_ifd_entries", set_tag(700, TZ_TYPE_BYTE, 1, "x"),
               spec.tag_count = 4065);
}

/* ---- memory ---- */

/* A specification with everything in it, each part in memory that is gone after the call. */
static tz_result make_all(tz_image *image, const tz_context *ctx)
{
    uint16_t extra[] = {0, 2}, code[] = {32633}, kind[] = {1};
    tz_geo_key keys[] = {{1024, TZ_TYPE_SHORT, 1, {.shorts = kind}},
                         {1026, TZ_TYPE_ASCII, 4, {.text = "here"}},
                         {3072, TZ_TYPE_SHORT, 1, {.shorts = code}}};
    double rpc[92] = {1};
    tz_metadata_item items[] = {SIZED_ITEM("", "a", "b", "", 1),
                                SIZED_ITEM("xml:x", "a", "<b/>", "", -1)};
    tz_tag_value list[] = {SIZED_TAG(305, TZ_TYPE_ASCII, 3, "me"),
                           SIZED_TAG(270, TZ_TYPE_ASCII, 4, "you")};
    uint8_t bits[] = {1, 2, 3};
    start();
    set_transform(1, 2, 0, 3, 0, -4);
    spec.bands = 3;
    spec.photometric = TZ_PHOTOMETRIC_MIN_IS_BLACK;
    spec.extra_samples = extra, spec.extra_sample_count = 2;
    spec.mask = true;
    spec.nodata = of_uint(3);
    geo.keys = keys, geo.key_count = 3, geo.rpc = rpc;
    spec.metadata = items, spec.metadata_count = 2;
    spec.tags = list, spec.tag_count = 2;
    options.discard_bits = bits, options.discard_count = 3;
    options.codec.effort = 5; /* a warning, which needs memory too */
    const tz_result result = tz_image_init(image, &spec, &options, ctx);
    memset(extra, 0xEE, sizeof extra);
    memset(keys, 0xEE, sizeof keys);
    memset(rpc, 0xEE, sizeof rpc);
    memset(items, 0xEE, sizeof items);
    memset(list, 0xEE, sizeof list);
    memset(bits, 0xEE, sizeof bits);
    memset(code, 0xEE, sizeof code);
    memset(&geo, 0xEE, sizeof geo);
    return result;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    emitted whole = {0};
    for (uint64_t n = 0;; n++) {
        bench b;
        tz_image image;
        emitted file = {0};
        bench_init(&b);
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        tz_result result = make_all(&image, &b.ctx);
        if (result == TZ_OK)
            result = spec_file_emit(&file, &image, NULL, 0, &b.ctx);
        tz_image_deinit(&image);
        bench_deinit(&b);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_int_equal(stats.live_bytes, 0);
        if (n == 0)
            whole = file;
        /* An allocation that gives memory back may fail without harm. */
        if (result == TZ_OK)
            assert_memory_equal(file.data, whole.data, whole.size);
        else
            assert_true(result == TZ_ERR_NOMEM && b.err.cause == TZ_CAUSE_NOMEM);
        assert_true(result == TZ_OK || stats.failures > 0);
        if (n > 0)
            emitted_free(&file);
        if (n > 0 && stats.failures == 0) {
            assert_true(n > 5);
            break;
        }
    }
    emitted_free(&whole);
}

static void nothing_of_the_caller_is_kept(void **state)
{
    (void)state;
    bench b;
    tz_image image;
    emitted file;
    bench_init(&b);
    assert_int_equal(make_all(&image, &b.ctx), TZ_OK);
    assert_int_equal(spec_file_emit(&file, &image, NULL, 0, &b.ctx), TZ_OK);
    tz_image_deinit(&image);
    tz_file *handle = spec_file_open(&file);
    const tz_info *info = tz_file_get_info(handle);
    assert_int_equal(info->geo->epsg, 32633);
    assert_string_equal(info->geo->citation, "here");
    assert_true(info->geo->rpc[0] == 1);
    assert_int_equal(info->extra_samples[1], 2);
    assert_int_equal(info->metadata_count, tz_build_feature("expat") ? 2 : 0);
    assert_int_equal(check_find_tag(handle, 305).size, 3);
    tz_close(handle);
    emitted_free(&file);
    bench_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest list[] = {
        CASE(nodata_that_does_not_fit),
        CASE(text_of_nodata),
        CASE(nodata_is_spelled_exactly),
        CASE(nan_becomes_nodata_where_it_can),
        CASE(transforms),
        CASE(control_points),
        CASE(geo_keys),
        CASE(epsg_codes),
        CASE(metadata),
        CASE(other_tags),
        CASE(every_allocation_may_fail),
        CASE(nothing_of_the_caller_is_kept),
    };
    return cmocka_run_group_tests(list, NULL, NULL);
}
