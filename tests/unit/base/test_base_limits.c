/* SPDX-License-Identifier: Apache-2.0
 * Limits: their defaults, their table and the check against them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/limits.h"

static uint64_t member(const tz_limits *limits, size_t offset)
{
    uint64_t value;
    memcpy(&value, (const char *)limits + offset, sizeof value);
    return value;
}

static void set_member(tz_limits *limits, size_t offset, uint64_t value)
{
    memcpy((char *)limits + offset, &value, sizeof value);
}

/* ---------------------------------------------------------------------------------------------
 * Defaults
 * ------------------------------------------------------------------------------------------ */

static void defaults_are_the_agreed_numbers(void **state)
{
    (void)state;
    tz_limits limits;
    tz_limits_resolve(&limits, NULL);
    assert_int_equal(limits.max_ifds, 65536);
    assert_int_equal(limits.max_ifd_entries, 4096);
    assert_int_equal(limits.max_subifd_depth, 4);
    assert_int_equal(limits.max_levels, 64);
    assert_int_equal(limits.max_tag_bytes, 268435456);
    assert_int_equal(limits.max_tile_bytes, 536870912);
    assert_int_equal(limits.max_image_bytes, 4294967296);
    assert_int_equal(limits.max_handle_bytes, 1073741824);
    assert_int_equal(limits.max_jpeg_scans, 100);
    assert_int_equal(limits.max_codec_bytes, 134217728);
    assert_int_equal(limits.max_xml_bytes, 8388608);
    assert_int_equal(limits.max_xml_depth, 64);
    assert_int_equal(limits.max_metadata_items, 65536);
    assert_int_equal(limits.max_geo_keys, 1024);
}

static char *read_public_header(void)
{
    static char text[200000];
    FILE *file = fopen(TERRAZZO_SOURCE_DIR "/include/terrazzo/terrazzo.h", "r");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_true(size > 0 && size < sizeof text - 1);
    text[size] = '\0';
    return text;
}

/* "65,536" or "256 MiB" as a number of bytes or things. */
static uint64_t number_in_words(const char *text)
{
    uint64_t value = 0;
    for (; (*text >= '0' && *text <= '9') || *text == ','; text++)
        if (*text != ',')
            value = value * 10 + (uint64_t)(*text - '0');
    if (strncmp(text, " KiB", 4) == 0)
        return value << 10;
    if (strncmp(text, " MiB", 4) == 0)
        return value << 20;
    if (strncmp(text, " GiB", 4) == 0)
        return value << 30;
    return value;
}

/* Reads the default in a member's comment: "directories in all: 65,536" or just "1,024". */
static uint64_t documented_default(const char *header, const char *name)
{
    char declaration[64];
    snprintf(declaration, sizeof declaration, "uint64_t %s;", name);
    const char *line = strstr(header, declaration);
    assert_non_null(line);
    const char *comment = strstr(line, "/* ");
    const char *end = strstr(line, "*/");
    assert_true(comment && end && comment < end);
    const char *colon = strchr(comment, ':');
    return number_in_words(colon && colon < end ? colon + 2 : comment + 3);
}

static void the_public_header_documents_the_defaults(void **state)
{
    (void)state;
    const char *header = read_public_header();
    for (size_t i = 0; i < tz_limit_count(); i++) {
        const tz_limit_info *limit = tz_limit_get(i);
        assert_int_equal(documented_default(header, limit->name), limit->default_value);
    }
}

static void zero_means_the_default_and_any_other_number_stays(void **state)
{
    (void)state;
    for (size_t i = 0; i < tz_limit_count(); i++) {
        static const uint64_t values[] = {1, 12345, UINT64_MAX - 1, TZ_UNLIMITED};
        const tz_limit_info *limit = tz_limit_get(i);
        for (size_t v = 0; v < 4; v++) {
            tz_limits given = {0}, resolved;
            set_member(&given, limit->member_offset, values[v]);
            tz_limits_resolve(&resolved, &given);
            for (size_t k = 0; k < tz_limit_count(); k++)
                assert_int_equal(member(&resolved, tz_limit_get(k)->member_offset),
                                 k == i ? values[v] : tz_limit_get(k)->default_value);
        }
    }
}

static void resolving_in_place_works(void **state)
{
    (void)state;
    tz_limits limits = {.max_levels = 7};
    tz_limits_resolve(&limits, &limits);
    assert_int_equal(limits.max_levels, 7);
    assert_int_equal(limits.max_ifds, 65536);
}

/* ---------------------------------------------------------------------------------------------
 * The table
 * ------------------------------------------------------------------------------------------ */

static void the_table_has_each_member_once(void **state)
{
    (void)state;
    const size_t first = offsetof(tz_limits, max_ifds);
    assert_int_equal(first + tz_limit_count() * sizeof(uint64_t), sizeof(tz_limits));
    for (size_t i = 0; i < tz_limit_count(); i++) {
        const tz_limit_info *limit = tz_limit_get(i);
        assert_int_equal(limit->member_offset, first + i * sizeof(uint64_t)); /* in order */
        assert_ptr_equal(tz_limit_name(limit->member_offset), limit->name);
        assert_true(strlen(limit->text) > 0);
        assert_true(limit->default_value > 0);
    }
}

static void past_the_table_is_nothing(void **state)
{
    (void)state;
    assert_null(tz_limit_get(tz_limit_count()));
    assert_null(tz_limit_get(SIZE_MAX));
    assert_null(tz_limit_name(sizeof(tz_limits)));
    assert_null(tz_limit_name(1));
}

/* ---------------------------------------------------------------------------------------------
 * The check
 * ------------------------------------------------------------------------------------------ */

static void every_limit_holds_at_its_number_and_breaks_one_above(void **state)
{
    (void)state;
    tz_limits limits;
    tz_limits_resolve(&limits, NULL);
    for (size_t i = 0; i < tz_limit_count(); i++) {
        const tz_limit_info *limit = tz_limit_get(i);
        uint64_t bound = limit->default_value;
        tz_error err = {.result = TZ_OK};
        tz_context ctx = {.limits = &limits, .err = &err, .ifd = -1};
        size_t offset = limit->member_offset;
        tz_location place = tz_at_offset(99);
        assert_int_equal(tz_check_limit(&ctx, offset, place, 0, "things"), TZ_OK);
        assert_int_equal(tz_check_limit(&ctx, offset, place, bound - 1, "things"), TZ_OK);
        assert_int_equal(tz_check_limit(&ctx, offset, place, bound, "things"), TZ_OK);
        assert_int_equal(err.result, TZ_OK);
        assert_int_equal(tz_check_limit(&ctx, offset, place, bound + 1, "things"), TZ_ERR_LIMIT);
        assert_int_equal(err.result, TZ_ERR_LIMIT);
        assert_int_equal(err.cause, TZ_CAUSE_LIMIT);
        assert_string_equal(err.limit, limit->name);
        assert_int_equal(err.expected, bound);
        assert_int_equal(err.found, bound + 1);
        assert_int_equal(err.offset, 99);
        assert_int_equal(tz_check_limit(&ctx, offset, place, UINT64_MAX, "things"), TZ_ERR_LIMIT);
    }
}

static void a_limit_taken_away_never_breaks(void **state)
{
    (void)state;
    tz_limits given = {.max_tag_bytes = TZ_UNLIMITED}, limits;
    tz_limits_resolve(&limits, &given);
    tz_context ctx = {.limits = &limits, .ifd = -1};
    size_t offset = offsetof(tz_limits, max_tag_bytes);
    assert_int_equal(tz_check_limit(&ctx, offset, tz_no_location(), UINT64_MAX, "bytes"), TZ_OK);
}

static void the_message_says_how_to_raise_the_limit(void **state)
{
    (void)state;
    tz_limits limits;
    tz_limits_resolve(&limits, &(tz_limits){.max_ifds = 2});
    tz_error err;
    tz_context ctx = {.name = "a.tif", .limits = &limits, .err = &err, .ifd = 2};
    tz_check_limit(&ctx, offsetof(tz_limits, max_ifds), tz_at_offset(8), 3, "directories");
    assert_string_equal(err.message, "a.tif: IFD 2: too many directories (limit 2, found 3) at "
                                     "byte 8; raise tz_limits.max_ifds (--limit max_ifds=N)");
}

/* A caller's struct may be older or newer than the library's. */
static void limits_of_the_caller_may_have_another_size(void **state)
{
    (void)state;
    struct {
        tz_limits limits;
        uint64_t further;
    } given = {.limits = {.struct_size = sizeof given, .max_ifds = 3, .max_geo_keys = 4}};
    tz_limits out;
    tz_error err;
    const tz_context ctx = {.err = &err, .ifd = -1};
    assert_int_equal(tz_limits_copy(&out, &given.limits, "limits", &ctx), TZ_OK);
    assert_int_equal(out.struct_size, sizeof out);
    assert_true(out.max_ifds == 3 && out.max_geo_keys == 4 && out.max_levels == 64);
    given.limits.struct_size = offsetof(tz_limits, max_geo_keys);
    assert_int_equal(tz_limits_copy(&out, &given.limits, "limits", &ctx), TZ_OK);
    assert_true(out.max_ifds == 3 && out.max_geo_keys == 1024);
    assert_int_equal(tz_limits_copy(&out, NULL, "limits", &ctx), TZ_OK);
    assert_int_equal(out.max_ifds, 65536);
    given.limits.struct_size = sizeof given;
    given.further = 1;
    assert_int_equal(tz_limits_copy(&out, &given.limits, "limits", &ctx), TZ_ERR_ARG);
    given.limits.struct_size = 0;
    assert_int_equal(tz_limits_copy(&out, &given.limits, "limits", &ctx), TZ_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_agreed_numbers),
        cmocka_unit_test(the_public_header_documents_the_defaults),
        cmocka_unit_test(zero_means_the_default_and_any_other_number_stays),
        cmocka_unit_test(resolving_in_place_works),
        cmocka_unit_test(limits_of_the_caller_may_have_another_size),
        cmocka_unit_test(the_table_has_each_member_once),
        cmocka_unit_test(past_the_table_is_nothing),
        cmocka_unit_test(every_limit_holds_at_its_number_and_breaks_one_above),
        cmocka_unit_test(a_limit_taken_away_never_breaks),
        cmocka_unit_test(the_message_says_how_to_raise_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
