/* SPDX-License-Identifier: Apache-2.0
 * Errors and their text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/limits.h"

/* A context with an error and nothing else known. */
static tz_context context_for(tz_error *err)
{
    return (tz_context){.err = err, .ifd = -1};
}

static tz_location everywhere(void)
{
    tz_location place = tz_expecting(tz_at_tile(1, false, 17, 1234), 1, 4);
    place.tag = 256;
    place.tag_name = "ImageWidth";
    return place;
}

/* ---------------------------------------------------------------------------------------------
 * Names
 * ------------------------------------------------------------------------------------------ */

static void every_result_and_cause_has_its_name(void **state)
{
    (void)state;
    static const char *const results[] = {"ok",      "arg",         "nomem",   "io",
                                          "format",  "unsupported", "limit",   "device",
                                          "changed", "cancelled",   "internal"};
    static const char *const causes[] = {
        "NONE",      "ARG",   "NOT_TIFF",    "HEADER", "IFD",       "TAG",     "LIMIT",  "LAYOUT",
        "TRUNCATED", "CODEC", "UNSUPPORTED", "GEO",    "META",      "IO",      "REMOTE", "UNSAFE",
        "CHANGED",   "NOMEM", "DEVICE",      "BUSY",   "CANCELLED", "INTERNAL"};
    for (int i = TZ_OK; i <= TZ_ERR_INTERNAL; i++)
        assert_string_equal(tz_result_name((tz_result)i), results[i]);
    for (int i = TZ_CAUSE_NONE; i <= TZ_CAUSE_INTERNAL; i++)
        assert_string_equal(tz_cause_name((tz_cause)i), causes[i]);
}

static void numbers_without_a_name_are_unknown(void **state)
{
    (void)state;
    assert_string_equal(tz_result_name((tz_result)11), "unknown");
    assert_string_equal(tz_result_name((tz_result)-1), "unknown");
    assert_string_equal(tz_cause_name((tz_cause)22), "UNKNOWN");
    assert_string_equal(tz_cause_name((tz_cause)-1), "UNKNOWN");
}

/* ---------------------------------------------------------------------------------------------
 * Fields and text
 * ------------------------------------------------------------------------------------------ */

static void fail_fills_every_field(void **state)
{
    (void)state;
    tz_error err;
    memset(&err, 0xee, sizeof err);
    tz_context ctx = {.name = "a.tif", .err = &err, .ifd = 2};
    assert_int_equal(tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, everywhere(), "wrong"),
                     TZ_ERR_FORMAT);
    assert_int_equal(err.result, TZ_ERR_FORMAT);
    assert_int_equal(err.cause, TZ_CAUSE_TAG);
    assert_int_equal(err.ifd, 2);
    assert_int_equal(err.tag, 256);
    assert_int_equal(err.level, 1);
    assert_int_equal(err.tile, 17);
    assert_int_equal(err.offset, 1234);
    assert_int_equal(err.expected, 1);
    assert_int_equal(err.found, 4);
    assert_int_equal(err.count, 1);
    assert_int_equal(err.system_error, 0);
    assert_null(err.limit);
}

static void fields_that_are_not_known_are_none(void **state)
{
    (void)state;
    tz_error err;
    memset(&err, 0xee, sizeof err);
    tz_context ctx = context_for(&err);
    tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "wrong");
    assert_int_equal(err.ifd, -1);
    assert_int_equal(err.tag, -1);
    assert_int_equal(err.level, -1);
    assert_int_equal(err.tile, -1);
    assert_true(err.offset == TZ_NO_VALUE);
    assert_true(err.expected == TZ_NO_VALUE);
    assert_true(err.found == TZ_NO_VALUE);
    assert_string_equal(err.message, "wrong");
}

static void the_message_has_every_part_in_order(void **state)
{
    (void)state;
    tz_error err;
    tz_context ctx = {.name = "dir/a.tif", .err = &err, .ifd = 2};
    tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, everywhere(), "has %d values", 4);
    assert_string_equal(err.message, "dir/a.tif: IFD 2: tag 256 (ImageWidth): level 1: tile 17: "
                                     "has 4 values (expected 1, found 4) at byte 1234");
}

static void parts_that_are_not_known_are_left_out(void **state)
{
    (void)state;
    tz_location tag = tz_no_location(), tag_only = tz_no_location();
    tag.tag = tag_only.tag = 0;
    tag.tag_name = "Zero";
    const struct {
        const char *name;
        int32_t ifd;
        tz_location place;
        const char *message;
    } rows[] = {
        {"a", -1, tz_no_location(), "a: text"},
        {NULL, 0, tz_no_location(), "IFD 0: text"},
        {NULL, -1, tag, "tag 0 (Zero): text"},
        {NULL, -1, tag_only, "tag 0: text"},
        {NULL, -1, tz_at_offset(0), "text at byte 0"},
        {NULL, -1, tz_at_tile(0, false, 0, TZ_NO_VALUE), "level 0: tile 0: text"},
        {NULL, -1, tz_expecting(tz_no_location(), 0, TZ_NO_VALUE), "text (expected 0)"},
        {NULL, -1, tz_expecting(tz_no_location(), TZ_NO_VALUE, 0), "text (found 0)"},
        {NULL, -1, tz_expecting(tz_at_offset(7), 0, 1), "text (expected 0, found 1) at byte 7"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tz_error err;
        tz_context ctx = {.name = rows[i].name, .err = &err, .ifd = rows[i].ifd};
        tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, rows[i].place, "text");
        assert_string_equal(err.message, rows[i].message);
    }
}

static void a_mask_is_named_with_its_level(void **state)
{
    (void)state;
    tz_error err;
    tz_context ctx = context_for(&err);
    tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC, tz_at_tile(3, true, 5, TZ_NO_VALUE), "bad");
    assert_string_equal(err.message, "mask of level 3: tile 5: bad");
    assert_int_equal(err.level, 3);
    assert_int_equal(err.mask, 1);
}

static void a_tile_number_beyond_63_bits_is_cut_and_not_negative(void **state)
{
    (void)state;
    assert_true(tz_at_tile(0, false, UINT64_MAX, 0).tile == INT64_MAX);
    assert_true(tz_at_tile(0, false, INT64_MAX, 0).tile == INT64_MAX);
    assert_true(tz_at_tile(0, false, (uint64_t)INT64_MAX - 1, 0).tile == INT64_MAX - 1);
}

static void without_an_error_to_fill_the_result_is_the_same(void **state)
{
    (void)state;
    tz_limits limits;
    tz_limits_resolve(&limits, NULL);
    tz_context ctx = {.limits = &limits, .ifd = -1};
    tz_error failed = {.result = TZ_ERR_CHANGED};
    assert_int_equal(tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "x"), TZ_ERR_ARG);
    assert_int_equal(tz_fail_errno(&ctx, tz_no_location(), EIO, "x"), TZ_ERR_IO);
    assert_int_equal(tz_fail_nomem(&ctx, 1), TZ_ERR_NOMEM);
    assert_int_equal(tz_propagate_error(&ctx, &failed), TZ_ERR_CHANGED);
    assert_int_equal(
        tz_check_limit(&ctx, offsetof(tz_limits, max_levels), tz_no_location(), 65, "levels"),
        TZ_ERR_LIMIT);
    ctx.strict = true;
    assert_int_equal(tz_warn(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, tz_no_location(), "x"),
                     TZ_ERR_FORMAT);
    assert_int_equal(tz_warn_from_error(&ctx, &failed, "x"), TZ_ERR_CHANGED);
}

static void a_system_error_is_a_number_and_a_text(void **state)
{
    (void)state;
    tz_error err;
    tz_context ctx = {.name = "a", .err = &err, .ifd = -1};
    assert_int_equal(tz_fail_errno(&ctx, tz_at_offset(5), ENOENT, "cannot %s", "open"), TZ_ERR_IO);
    assert_int_equal(err.result, TZ_ERR_IO);
    assert_int_equal(err.cause, TZ_CAUSE_IO);
    assert_int_equal(err.system_error, ENOENT);
    char expected[256];
    snprintf(expected, sizeof expected, "a: cannot open: %s at byte 5", strerror(ENOENT));
    assert_string_equal(err.message, expected);
}

static void a_system_error_without_a_text_is_a_number(void **state)
{
    (void)state;
    tz_error err;
    tz_context ctx = context_for(&err);
    tz_fail_errno(&ctx, tz_no_location(), 99999, "cannot open");
    assert_int_equal(err.system_error, 99999);
    assert_string_equal(err.message, "cannot open: error 99999");
}

static void a_text_that_cannot_be_made_is_its_format(void **state)
{
    (void)state;
    tz_error err;
    tz_context ctx = context_for(&err);
    /* The C locale has no such character. */
    tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, tz_at_offset(1), "odd: %ls", L"\x20ac");
    assert_string_equal(err.message, "odd: %ls at byte 1");
}

static void no_memory_names_the_size(void **state)
{
    (void)state;
    tz_error err;
    tz_context ctx = context_for(&err);
    assert_int_equal(tz_fail_nomem(&ctx, 12345), TZ_ERR_NOMEM);
    assert_int_equal(err.cause, TZ_CAUSE_NOMEM);
    assert_non_null(strstr(err.message, "12345"));
}

static void a_text_may_come_from_the_error_it_replaces(void **state)
{
    (void)state;
    tz_error err;
    tz_context ctx = context_for(&err);
    tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, tz_no_location(), "inner");
    tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, tz_no_location(), "outer: %s", err.message);
    assert_string_equal(err.message, "outer: inner");
}

static void an_error_of_a_source_gets_name_and_directory(void **state)
{
    (void)state;
    tz_error inner, outer;
    tz_context within = context_for(&inner);
    tz_context ctx = {.name = "a.tif", .err = &outer, .ifd = 3};
    tz_fail_errno(&within, tz_at_offset(9), EIO, "cannot read");
    assert_int_equal(tz_propagate_error(&ctx, &inner), TZ_ERR_IO);
    assert_int_equal(outer.system_error, EIO);
    assert_int_equal(outer.offset, 9);
    assert_int_equal(outer.ifd, 3);
    char expected[512];
    snprintf(expected, sizeof expected, "a.tif: IFD 3: cannot read: %s at byte 9", strerror(EIO));
    assert_string_equal(outer.message, expected);

    ctx.err = &inner; /* the same error, in place */
    assert_int_equal(tz_propagate_error(&ctx, &inner), TZ_ERR_IO);
    assert_string_equal(inner.message, expected);
}

/* ---------------------------------------------------------------------------------------------
 * Hostile and long texts
 * ------------------------------------------------------------------------------------------ */

/* An independent reading of UTF-8: every byte is printable ASCII or part of a whole character. */
static void assert_clean(const tz_error *err)
{
    size_t size = strnlen(err->message, sizeof err->message);
    assert_true(size < sizeof err->message);
    const unsigned char *at = (const unsigned char *)err->message;
    while (*at) {
        size_t more = *at < 0x80 ? 0 : *at < 0xe0 ? 1 : *at < 0xf0 ? 2 : 3;
        assert_true(more > 0 ? *at >= 0xc2 && *at <= 0xf4 : *at >= 0x20 && *at != 0x7f);
        assert_false(at[0] == 0xc2 && at[1] < 0xa0); /* C1 controls */
        for (at++; more > 0; more--, at++)
            assert_int_equal(*at & 0xc0, 0x80);
    }
}

static bool ends_with(const char *text, const char *end)
{
    size_t text_size = strlen(text), end_size = strlen(end);
    return text_size >= end_size && strcmp(text + text_size - end_size, end) == 0;
}

static void a_long_text_is_cut_and_its_end_kept(void **state)
{
    (void)state;
    char text[4000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    tz_error err;
    tz_context ctx = {.name = "a.tif", .err = &err, .ifd = 2};
    tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, everywhere(), "%s", text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_true(ends_with(err.message, "x (expected 1, found 4) at byte 1234"));
    assert_memory_equal(err.message, "a.tif: IFD 2: ", 14);
}

static void assert_cut_well(const char *character, size_t shift, const char *end, tz_location place)
{
    char text[1200] = "xxxxxxxx";
    size_t used = shift;
    size_t size = strlen(character);
    for (; used + size < sizeof text; used += size)
        memcpy(text + used, character, size);
    text[used] = '\0';
    tz_error err;
    tz_context ctx = context_for(&err);
    tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, place, "%s", text);
    assert_clean(&err);
    assert_null(strchr(err.message, '?')); /* half a character would have become one */
    assert_true(ends_with(err.message, end));
    assert_true(strlen(err.message) > sizeof err.message - 1 - size);
}

static void a_long_text_is_cut_between_characters(void **state)
{
    (void)state;
    static const char *const characters[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x9a\x80"};
    for (size_t c = 0; c < 3; c++) {
        for (size_t shift = 0; shift < 8; shift++) {
            assert_cut_well(characters[c], shift, characters[c], tz_no_location());
            assert_cut_well(characters[c], shift, " at byte 1", tz_at_offset(1));
        }
    }
}

static void a_text_that_just_fits_is_whole(void **state)
{
    (void)state;
    for (size_t size = 505; size <= 515; size++) {
        char text[600];
        memset(text, 'y', size);
        text[size] = '\0';
        tz_error err;
        tz_context ctx = context_for(&err);
        tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, tz_no_location(), "%s", text);
        assert_int_equal(strlen(err.message), size < 511 ? size : 511);
    }
}

static void a_long_name_keeps_its_end_and_leaves_room(void **state)
{
    (void)state;
    char name[4097];
    memset(name, 'd', sizeof name - 1);
    name[200] = '\0'; /* the longest that is shown whole */
    tz_error whole;
    tz_context whole_ctx = {.name = name, .err = &whole, .ifd = -1};
    tz_fail(&whole_ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, tz_no_location(), "text");
    assert_int_equal(strlen(whole.message), 206);
    assert_memory_equal(whole.message, name, 200);
    name[200] = 'd';
    memcpy(name + sizeof name - 1 - 9, "/last.tif", 10);
    tz_error err;
    tz_context ctx = {.name = name, .err = &err, .ifd = 7};
    tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, everywhere(), "text");
    assert_memory_equal(err.message, "...ddd", 6);
    assert_non_null(strstr(err.message,
                           "d/last.tif: IFD 7: tag 256 (ImageWidth): level 1: tile 17: "
                           "text (expected 1, found 4) at byte 1234"));
}

static void the_largest_numbers_leave_room_for_the_advice(void **state)
{
    (void)state;
    char text[600];
    memset(text, 'n', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    tz_limits limits;
    memset(&limits, 0xff, sizeof limits);
    limits.max_metadata_items = UINT64_MAX - 1;
    tz_error err;
    tz_context ctx = {.name = text, .limits = &limits, .err = &err, .ifd = INT32_MAX};
    tz_location place = tz_at_tile(INT32_MAX, false, UINT64_MAX, UINT64_MAX - 1);
    place.tag = 65535;
    place.tag_name = text;
    tz_check_limit(&ctx, offsetof(tz_limits, max_metadata_items), place, UINT64_MAX, text);
    assert_true(ends_with(err.message, "; raise tz_limits.max_metadata_items "
                                       "(--limit max_metadata_items=N)"));
    assert_clean(&err);
}

static void control_characters_of_name_tag_and_text_become_question_marks(void **state)
{
    (void)state;
    tz_error err;
    tz_context ctx = {.name = "a\nb\x1b[2J", .err = &err, .ifd = -1};
    tz_location place = tz_no_location();
    place.tag = 1;
    place.tag_name = "T\tag";
    tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, place, "%s", "x\r\x7fy\x01");
    assert_string_equal(err.message, "a?b?[2J: tag 1 (T?ag): x??y?");
}

static void controls_beyond_ascii_and_broken_utf8_become_question_marks(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"a\xc2\x9b"
         "b",
         "a?b"},                              /* C1: control sequence introducer */
        {"a\xc2\x85z", "a?z"},                /* next line */
        {"\xe2\x80\xa8|\xe2\x80\xa9", "?|?"}, /* line and paragraph separator */
        {"\xe2\x80\xae|\xe2\x81\xa6", "?|?"}, /* right-to-left override, isolate */
        {"\x80|\xff|\xc0\x80", "?|?|??"},     /* no character, overlong NUL */
        {"\xe0\x80\xaf|\xf0\x80\x80\xaf", "???|????"},
        {"\xed\xa0\x80|\xed\xbf\xbf", "???|???"}, /* a surrogate */
        {"\xf4\x90\x80\x80", "????"},             /* beyond the last character */
        {"\xc3", "?"},                            /* ends too early */
        {"\xe2\x82z", "??z"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\x80"},
        {"\xc2\xa0\xef\xbf\xbf", "\xc2\xa0\xef\xbf\xbf"}, /* the first and a last allowed one */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tz_error err;
        tz_context ctx = context_for(&err);
        tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, tz_no_location(), "%s", rows[i].text);
        assert_string_equal(err.message, rows[i].message);
    }
}

static void the_first_and_last_characters_of_each_length_are_shown(void **state)
{
    (void)state;
    static const char *const shown[] = {
        " ",
        "~", /* U+0020, U+007E */
        "\xc2\xa0",
        "\xdf\xbf", /* U+00A0, U+07FF */
        "\xe0\xa0\x80",
        "\xed\x9f\xbf", /* U+0800, U+D7FF */
        "\xee\x80\x80",
        "\xef\xbf\xbf", /* U+E000, U+FFFF */
        "\xe2\x80\xa7",
        "\xe2\x80\xaf", /* U+2027, U+202F */
        "\xe2\x81\xa5",
        "\xe2\x81\xaa", /* U+2065, U+206A */
        "\xf0\x90\x80\x80",
        "\xf4\x8f\xbf\xbf", /* U+10000, U+10FFFF */
    };
    static const char *const hidden[] = {
        "\x1f", "\x7f", "\xc2\x80", "\xc2\x9f", "\xe2\x80\xa8", "\xe2\x81\xa9",
    };
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        tz_error err;
        tz_context ctx = context_for(&err);
        tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, tz_no_location(), "%s", shown[i]);
        assert_string_equal(err.message, shown[i]);
    }
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        tz_error err;
        tz_context ctx = context_for(&err);
        tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, tz_no_location(), "%s", hidden[i]);
        assert_string_equal(err.message, "?");
    }
}

static void an_empty_text_is_empty(void **state)
{
    (void)state;
    tz_error err;
    tz_context ctx = context_for(&err);
    tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, tz_no_location(), "%s", "");
    assert_string_equal(err.message, "");
}

static void random_bytes_never_make_a_dirty_message(void **state)
{
    (void)state;
    uint64_t seed = 0x5eed;
    for (int round = 0; round < 20000; round++) {
        char text[700];
        size_t size = 0;
        uint64_t length = (seed = seed * 6364136223846793005u + 1442695040888963407u) >> 33;
        for (length %= sizeof text - 1; size < length; size++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            text[size] = (char)(1 + (seed >> 33) % 255);
        }
        text[size] = '\0';
        tz_error err;
        tz_context ctx = {.name = round % 2 ? text : NULL, .err = &err, .ifd = round % 3 - 1};
        tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, everywhere(), "%s", text);
        assert_clean(&err);
        assert_true(ends_with(err.message, " at byte 1234"));
    }
}

/* ---------------------------------------------------------------------------------------------
 * Progress
 * ------------------------------------------------------------------------------------------ */

static bool go_on_below_5(void *user, uint64_t done, uint64_t total)
{
    *(uint64_t *)user = total;
    return done < 5;
}

static void progress_that_says_stop_is_cancelled(void **state)
{
    (void)state;
    uint64_t total = 0;
    tz_error err = {.result = TZ_OK};
    tz_context ctx = context_for(&err);
    tz_progress progress = {go_on_below_5, &total};
    assert_int_equal(tz_check_progress(&ctx, &progress, 4, 9), TZ_OK);
    assert_int_equal(total, 9);
    assert_int_equal(err.result, TZ_OK);
    assert_int_equal(tz_check_progress(&ctx, &progress, 5, 9), TZ_ERR_CANCELLED);
    assert_int_equal(err.cause, TZ_CAUSE_CANCELLED);
}

static void no_progress_never_cancels(void **state)
{
    (void)state;
    tz_context ctx = context_for(NULL);
    tz_progress none = {0};
    assert_int_equal(tz_check_progress(&ctx, NULL, 9, 9), TZ_OK);
    assert_int_equal(tz_check_progress(&ctx, &none, 9, 9), TZ_OK);
}

/* ---------------------------------------------------------------------------------------------
 * Structs of callers
 * ------------------------------------------------------------------------------------------ */

/* The struct of three versions of a library. */
typedef struct sized {
    size_t struct_size;
    uint32_t first;
    uint32_t second;
} sized;
typedef struct sized_before {
    size_t struct_size;
    uint32_t first;
    uint32_t padding;
} sized_before;
typedef struct sized_after {
    size_t struct_size;
    uint32_t first;
    uint32_t second;
    uint64_t third;
} sized_after;

static void a_struct_may_be_of_another_version(void **state)
{
    (void)state;
    tz_error err;
    const tz_context ctx = context_for(&err);
    sized out = {.struct_size = sizeof out, .first = 1, .second = 2};
    const sized_before older = {.struct_size = offsetof(sized_before, padding), .first = 7};
    assert_int_equal(tz_copy_struct(&out, sizeof out, &older, "x", "X_INIT", &ctx), TZ_OK);
    assert_int_equal(out.struct_size, sizeof out);
    assert_int_equal(out.first, 7);
    assert_int_equal(out.second, 2);
    sized_after newer = {.struct_size = sizeof newer, .first = 8, .second = 9};
    assert_int_equal(tz_copy_struct(&out, sizeof out, &newer, "x", "X_INIT", &ctx), TZ_OK);
    assert_int_equal(out.struct_size, sizeof out);
    assert_int_equal(out.second, 9);
    newer.third = (uint64_t)1 << 56;
    assert_int_equal(tz_copy_struct(&out, sizeof out, &newer, "x", "X_INIT", &ctx), TZ_ERR_ARG);
    assert_int_equal(err.expected, sizeof out);
    assert_int_equal(err.found, sizeof newer);
    assert_int_equal(tz_copy_struct(&out, sizeof out, NULL, "x", "X_INIT", &ctx), TZ_OK);
    assert_int_equal(out.second, 9);
}

static void elements_lie_as_far_apart_as_the_first_one_says(void **state)
{
    (void)state;
    tz_error err;
    const tz_context ctx = context_for(&err);
    sized out = TZ_INIT(sized);
    sized_after list[3] = {{.struct_size = sizeof list[0], .first = 1},
                           {.struct_size = sizeof list[0], .first = 2},
                           {.struct_size = sizeof(sized), .first = 3}};
    assert_int_equal(tz_copy_element(&out, sizeof out, list, 1, "x", "X_INIT", &ctx), TZ_OK);
    assert_int_equal(out.first, 2);
    assert_int_equal(tz_copy_element(&out, sizeof out, list, 2, "x", "X_INIT", &ctx), TZ_ERR_ARG);
    assert_int_equal(err.expected, sizeof list[0]);
    list[0].struct_size = 0;
    assert_int_equal(tz_copy_element(&out, sizeof out, list, 0, "x", "X_INIT", &ctx), TZ_ERR_ARG);
    list[0].struct_size = SIZE_MAX;
    assert_int_equal(tz_copy_element(&out, sizeof out, list, 1, "x", "X_INIT", &ctx), TZ_ERR_ARG);
}

static void a_struct_is_filled_as_far_as_it_reaches(void **state)
{
    (void)state;
    tz_error err;
    const tz_context ctx = context_for(&err);
    const sized ours = {.struct_size = sizeof ours, .first = 1, .second = 2};
    sized_before older = {.struct_size = offsetof(sized_before, padding), .padding = 9};
    assert_int_equal(tz_fill_struct(&older, &ours, sizeof ours, "x", "X_INIT", &ctx), TZ_OK);
    assert_int_equal(older.struct_size, offsetof(sized_before, padding));
    assert_int_equal(older.first, 1);
    assert_int_equal(older.padding, 9);
    sized_after newer = {.struct_size = sizeof newer, .third = 9};
    assert_int_equal(tz_fill_struct(&newer, &ours, sizeof ours, "x", "X_INIT", &ctx), TZ_OK);
    assert_int_equal(newer.struct_size, sizeof newer);
    assert_int_equal(newer.second, 2);
    assert_int_equal(newer.third, 0);
    newer.struct_size = 0;
    assert_int_equal(tz_fill_struct(&newer, &ours, sizeof ours, "x", "X_INIT", &ctx), TZ_ERR_ARG);
    newer.struct_size = SIZE_MAX;
    assert_int_equal(tz_fill_struct(&newer, &ours, sizeof ours, "x", "X_INIT", &ctx), TZ_ERR_ARG);
    assert_int_equal(newer.second, 2);
    assert_int_equal(tz_fill_struct(NULL, &ours, sizeof ours, "x", "X_INIT", &ctx), TZ_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_result_and_cause_has_its_name),
        cmocka_unit_test(numbers_without_a_name_are_unknown),
        cmocka_unit_test(fail_fills_every_field),
        cmocka_unit_test(fields_that_are_not_known_are_none),
        cmocka_unit_test(the_message_has_every_part_in_order),
        cmocka_unit_test(parts_that_are_not_known_are_left_out),
        cmocka_unit_test(a_mask_is_named_with_its_level),
        cmocka_unit_test(a_tile_number_beyond_63_bits_is_cut_and_not_negative),
        cmocka_unit_test(without_an_error_to_fill_the_result_is_the_same),
        cmocka_unit_test(a_system_error_is_a_number_and_a_text),
        cmocka_unit_test(a_system_error_without_a_text_is_a_number),
        cmocka_unit_test(a_text_that_cannot_be_made_is_its_format),
        cmocka_unit_test(no_memory_names_the_size),
        cmocka_unit_test(a_text_may_come_from_the_error_it_replaces),
        cmocka_unit_test(an_error_of_a_source_gets_name_and_directory),
        cmocka_unit_test(a_long_text_is_cut_and_its_end_kept),
        cmocka_unit_test(a_long_text_is_cut_between_characters),
        cmocka_unit_test(a_text_that_just_fits_is_whole),
        cmocka_unit_test(a_long_name_keeps_its_end_and_leaves_room),
        cmocka_unit_test(the_largest_numbers_leave_room_for_the_advice),
        cmocka_unit_test(control_characters_of_name_tag_and_text_become_question_marks),
        cmocka_unit_test(controls_beyond_ascii_and_broken_utf8_become_question_marks),
        cmocka_unit_test(the_first_and_last_characters_of_each_length_are_shown),
        cmocka_unit_test(an_empty_text_is_empty),
        cmocka_unit_test(random_bytes_never_make_a_dirty_message),
        cmocka_unit_test(progress_that_says_stop_is_cancelled),
        cmocka_unit_test(no_progress_never_cancels),
        cmocka_unit_test(a_struct_may_be_of_another_version),
        cmocka_unit_test(elements_lie_as_far_apart_as_the_first_one_says),
        cmocka_unit_test(a_struct_is_filled_as_far_as_it_reaches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
