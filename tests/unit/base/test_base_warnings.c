/* SPDX-License-Identifier: Apache-2.0
 * Warnings: each kind once, with a count; errors in strict mode. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "support/alloc_hook.h"

static tz_location everywhere(void)
{
    tz_location place = tz_expecting(tz_at_tile(1, false, 17, 1234), 1, 4);
    place.tag = 256;
    place.tag_name = "ImageWidth";
    return place;
}

typedef struct lenient {
    tz_error err;
    tz_warnings warnings;
    tz_context ctx;
} lenient;

static int open_lenient(void **state)
{
    static lenient instance;
    instance = (lenient){.err = {.cause = TZ_CAUSE_BUSY}};
    instance.ctx =
        (tz_context){.name = "a", .err = &instance.err, .warnings = &instance.warnings, .ifd = -1};
    *state = &instance;
    return 0;
}

static int close_lenient(void **state)
{
    tz_warnings_deinit(&((lenient *)*state)->warnings);
    return 0;
}

static void a_warning_is_kept_and_the_error_left_alone(void **state)
{
    lenient *l = *state;
    l->ctx.ifd = 4;
    assert_int_equal(tz_warn(&l->ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, everywhere(), "odd: %d", 3),
                     TZ_OK);
    assert_int_equal(l->warnings.count, 1);
    const tz_error *warning = &l->warnings.list[0];
    assert_int_equal(warning->result, TZ_ERR_FORMAT);
    assert_int_equal(warning->cause, TZ_CAUSE_TAG);
    assert_int_equal(warning->ifd, 4);
    assert_int_equal(warning->tag, 256);
    assert_int_equal(warning->count, 1);
    assert_string_equal(warning->message,
                        "a: IFD 4: tag 256 (ImageWidth): level 1: tile 17: odd: 3 "
                        "(expected 1, found 4) at byte 1234");
    assert_int_equal(l->err.cause, TZ_CAUSE_BUSY);
}

static void a_repeated_warning_is_counted_and_keeps_the_first_location(void **state)
{
    lenient *l = *state;
    static const char format[] = "again %d";
    for (int i = 0; i < 1000; i++)
        assert_int_equal(
            tz_warn(&l->ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, tz_at_offset((uint64_t)i), format, i),
            TZ_OK);
    assert_int_equal(l->warnings.count, 1);
    assert_int_equal(l->warnings.dropped, 0);
    assert_int_equal(l->warnings.list[0].count, 1000);
    assert_int_equal(l->warnings.list[0].offset, 0);
    assert_string_equal(l->warnings.list[0].message, "a: again 0 at byte 0");
}

/* In whatever order tiles come, the same one is reported. */
static void a_repeated_warning_of_tiles_keeps_the_lowest(void **state)
{
    lenient *l = *state;
    static const uint64_t tiles[] = {40, 12, 30, 7, 12, 50};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(tz_warn(&l->ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC,
                                 tz_at_tile(1, false, tiles[i], 100 + i), "odd"),
                         TZ_OK);
    assert_int_equal(l->warnings.count, 1);
    assert_int_equal(l->warnings.list[0].count, 6);
    assert_int_equal(l->warnings.list[0].tile, 7);
    assert_int_equal(l->warnings.list[0].offset, 103);
}

/* Masks come before images, whatever their level. */
static void a_repeated_warning_of_masks_and_images_keeps_a_mask(void **state)
{
    lenient *l = *state;
    static const struct {
        uint32_t level;
        bool mask;
        uint64_t tile;
    } tiles[] = {{1, false, 2}, {2, true, 9}, {0, false, 0}, {2, true, 8}, {3, true, 1}};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(tz_warn(&l->ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC,
                                 tz_at_tile(tiles[i].level, tiles[i].mask, tiles[i].tile, i),
                                 "odd"),
                         TZ_OK);
    assert_int_equal(l->warnings.count, 1);
    assert_int_equal(l->warnings.list[0].count, 5);
    assert_int_equal(l->warnings.list[0].level, 2);
    assert_int_equal(l->warnings.list[0].mask, 1);
    assert_int_equal(l->warnings.list[0].tile, 8);
}

static void cause_tag_and_format_each_make_another_warning(void **state)
{
    lenient *l = *state;
    static const char one[] = "text", two[] = "text";
    tz_location tag = tz_no_location();
    tag.tag = 1;
    for (int i = 0; i < 2; i++) {
        (void)tz_warn(&l->ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, tz_no_location(), one);
        (void)tz_warn(&l->ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, tz_no_location(), one);
        (void)tz_warn(&l->ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, tag, one);
        (void)tz_warn(&l->ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, tz_no_location(), two);
    }
    assert_int_equal(l->warnings.count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(l->warnings.list[i].count, 2);
}

static void warn_with_tag(lenient *l, int32_t tag)
{
    tz_location place = tz_no_location();
    place.tag = tag;
    assert_int_equal(tz_warn(&l->ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, place, "text"), TZ_OK);
}

static void room_for_warnings_doubles_from_4_to_32_and_the_rest_is_dropped(void **state)
{
    lenient *l = *state;
    for (int32_t tag = 0; tag < 40; tag++) {
        warn_with_tag(l, tag);
        uint32_t capacity = tag < 4 ? 4 : tag < 8 ? 8 : tag < 16 ? 16 : 32;
        assert_int_equal(l->warnings.capacity, capacity);
    }
    assert_int_equal(l->warnings.count, TZ_MAX_WARNINGS);
    assert_int_equal(l->warnings.dropped, 8);
    warn_with_tag(l, 31); /* a known one still counts */
    assert_int_equal(l->warnings.list[31].count, 2);
    assert_int_equal(l->warnings.dropped, 8);
    for (int32_t tag = 0; tag < TZ_MAX_WARNINGS; tag++)
        assert_int_equal(l->warnings.list[tag].tag, tag);
}

static void strict_turns_a_warning_into_the_error(void **state)
{
    lenient *l = *state;
    l->ctx.strict = true;
    assert_int_equal(tz_warn(&l->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_META, everywhere(), "odd"),
                     TZ_ERR_UNSUPPORTED);
    assert_int_equal(l->warnings.count, 0);
    assert_int_equal(l->err.result, TZ_ERR_UNSUPPORTED);
    assert_int_equal(l->err.cause, TZ_CAUSE_META);
    assert_int_equal(l->err.tag, 256);
}

static void require_crs_turns_geo_warnings_alone_into_errors(void **state)
{
    lenient *l = *state;
    l->ctx.require_crs = true;
    assert_int_equal(tz_warn(&l->ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, tz_no_location(), "m"), TZ_OK);
    assert_int_equal(tz_warn(&l->ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO, tz_no_location(), "g"),
                     TZ_ERR_FORMAT);
    assert_int_equal(l->warnings.count, 1);
    assert_int_equal(l->err.cause, TZ_CAUSE_GEO);
}

static void warnings_without_a_list_are_forgotten(void **state)
{
    lenient *l = *state;
    tz_error failed = {.result = TZ_ERR_FORMAT, .cause = TZ_CAUSE_TAG};
    l->ctx.warnings = NULL;
    assert_int_equal(tz_warn(&l->ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, tz_no_location(), "x"), TZ_OK);
    assert_int_equal(tz_warn_from_error(&l->ctx, &failed, "x"), TZ_OK);
    assert_int_equal(l->err.cause, TZ_CAUSE_BUSY);
}

static void a_warning_without_memory_is_an_error_and_loses_no_other(void **state)
{
    lenient *l = *state;
    for (uint64_t n = 1; n <= 8; n++) { /* two allocations for each of 4, 8, 16 and 32 */
        tz_warnings_deinit(&l->warnings);
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        int32_t made = 0;
        tz_location place = tz_no_location();
        for (;; made++) {
            place.tag = made;
            if (tz_warn(&l->ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, place, "text") != TZ_OK)
                break;
        }
        assert_int_equal(l->err.result, TZ_ERR_NOMEM);
        static const int32_t full[] = {0, 4, 8, 16};
        assert_int_equal(made, full[(n - 1) / 2]);
        assert_int_equal(l->warnings.count, made);
        warn_with_tag(l, made); /* memory is back */
        assert_int_equal(l->warnings.count, made + 1);
        assert_int_equal(l->warnings.list[made].tag, made);
        tz_warnings_deinit(&l->warnings);
        assert_int_equal(alloc_hook_stats().live_bytes, 0);
        alloc_hook_remove();
    }
}

/* ---------------------------------------------------------------------------------------------
 * Repairs
 * ------------------------------------------------------------------------------------------ */

static tz_error failed_with(tz_result result, tz_cause cause)
{
    tz_error failed;
    tz_context ctx = {.name = "b", .err = &failed, .ifd = 1};
    tz_fail(&ctx, result, cause, everywhere(), "broken");
    return failed;
}

static void a_repaired_error_becomes_a_warning_with_its_fields(void **state)
{
    lenient *l = *state;
    tz_error failed = failed_with(TZ_ERR_LIMIT, TZ_CAUSE_LIMIT);
    failed.limit = "max_ifds";
    assert_int_equal(tz_warn_from_error(&l->ctx, &failed, "kind"), TZ_OK);
    assert_int_equal(l->warnings.count, 1);
    assert_memory_equal(&l->warnings.list[0], &failed, sizeof failed);
    assert_int_equal(l->err.cause, TZ_CAUSE_BUSY);
}

static void repairs_of_one_kind_are_counted(void **state)
{
    lenient *l = *state;
    static const char kind[] = "kind", other[] = "kind";
    tz_error failed = failed_with(TZ_ERR_FORMAT, TZ_CAUSE_IFD);
    for (int i = 0; i < 5; i++)
        assert_int_equal(tz_warn_from_error(&l->ctx, &failed, kind), TZ_OK);
    assert_int_equal(tz_warn_from_error(&l->ctx, &failed, other), TZ_OK);
    assert_int_equal(l->warnings.count, 2);
    assert_int_equal(l->warnings.list[0].count, 5);
    assert_int_equal(l->warnings.list[1].count, 1);
}

static void strict_and_require_crs_pass_a_repair_on_as_the_error(void **state)
{
    lenient *l = *state;
    tz_error tag = failed_with(TZ_ERR_FORMAT, TZ_CAUSE_TAG);
    tz_error geo = failed_with(TZ_ERR_FORMAT, TZ_CAUSE_GEO);
    l->ctx.require_crs = true;
    assert_int_equal(tz_warn_from_error(&l->ctx, &tag, "kind"), TZ_OK);
    assert_int_equal(tz_warn_from_error(&l->ctx, &geo, "kind"), TZ_ERR_FORMAT);
    assert_memory_equal(&l->err, &geo, sizeof geo);
    l->ctx.require_crs = false;
    l->ctx.strict = true;
    assert_int_equal(tz_warn_from_error(&l->ctx, &tag, "kind"), TZ_ERR_FORMAT);
    assert_memory_equal(&l->err, &tag, sizeof tag);
    assert_int_equal(l->warnings.count, 1);
}

static void failures_that_are_not_the_files_never_become_warnings(void **state)
{
    lenient *l = *state;
    for (int i = TZ_ERR_ARG; i <= TZ_ERR_INTERNAL; i++) {
        tz_result result = (tz_result)i;
        bool hard = result == TZ_ERR_NOMEM || result == TZ_ERR_IO || result == TZ_ERR_CHANGED ||
                    result == TZ_ERR_CANCELLED || result == TZ_ERR_INTERNAL;
        tz_error failed = failed_with(result, TZ_CAUSE_META);
        memset(&l->err, 0, sizeof l->err);
        uint32_t before = l->warnings.count;
        static const char kinds[TZ_ERR_INTERNAL + 1];
        assert_int_equal(tz_warn_from_error(&l->ctx, &failed, &kinds[i]), hard ? result : TZ_OK);
        assert_int_equal(l->warnings.count, before + !hard);
        assert_int_equal(l->err.result, hard ? result : TZ_OK);
    }
}

static void a_repair_may_be_of_the_contexts_own_error(void **state)
{
    lenient *l = *state;
    l->err = failed_with(TZ_ERR_FORMAT, TZ_CAUSE_TAG);
    l->ctx.strict = true;
    assert_int_equal(tz_warn_from_error(&l->ctx, &l->err, "kind"), TZ_ERR_FORMAT);
    assert_int_equal(l->err.tag, 256);
}

#define WITH_WARNINGS(test) cmocka_unit_test_setup_teardown(test, open_lenient, close_lenient)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WARNINGS(a_warning_is_kept_and_the_error_left_alone),
        WITH_WARNINGS(a_repeated_warning_is_counted_and_keeps_the_first_location),
        WITH_WARNINGS(a_repeated_warning_of_tiles_keeps_the_lowest),
        WITH_WARNINGS(a_repeated_warning_of_masks_and_images_keeps_a_mask),
        WITH_WARNINGS(cause_tag_and_format_each_make_another_warning),
        WITH_WARNINGS(room_for_warnings_doubles_from_4_to_32_and_the_rest_is_dropped),
        WITH_WARNINGS(strict_turns_a_warning_into_the_error),
        WITH_WARNINGS(require_crs_turns_geo_warnings_alone_into_errors),
        WITH_WARNINGS(warnings_without_a_list_are_forgotten),
        WITH_WARNINGS(a_warning_without_memory_is_an_error_and_loses_no_other),
        WITH_WARNINGS(a_repaired_error_becomes_a_warning_with_its_fields),
        WITH_WARNINGS(repairs_of_one_kind_are_counted),
        WITH_WARNINGS(strict_and_require_crs_pass_a_repair_on_as_the_error),
        WITH_WARNINGS(failures_that_are_not_the_files_never_become_warnings),
        WITH_WARNINGS(a_repair_may_be_of_the_contexts_own_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
