/* SPDX-License-Identifier: Apache-2.0
 * The memory source, and what tz_source_read makes of sources that others wrote. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/source.h"
#include "support/alloc_hook.h"

static const unsigned char data[] = "0123456789";
enum { SIZE = 10 };

static tz_source *open_memory(const void *bytes, size_t size)
{
    tz_source *source = NULL;
    tz_context ctx = {.ifd = -1};
    assert_int_equal(tz_source_open_memory(&source, bytes, size, &ctx), TZ_OK);
    return source;
}

/* ---------------------------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------------------------ */

static void every_range_is_read_or_refused(void **state)
{
    (void)state;
    tz_source *source = open_memory(data, SIZE);
    assert_int_equal(source->size, SIZE);
    for (uint64_t offset = 0; offset <= SIZE + 2; offset++) {
        for (size_t size = 0; size <= SIZE + 2; size++) {
            bool inside = offset <= SIZE && size <= SIZE - offset;
            char *bytes = malloc(size + 1); /* exactly as large as it needs to be */
            tz_error err = {.result = TZ_OK};
            tz_context ctx = {.err = &err, .ifd = -1};
            tz_result result = tz_source_read(source, offset, size, bytes, &ctx);
            assert_int_equal(result, inside ? TZ_OK : TZ_ERR_FORMAT);
            if (inside)
                assert_memory_equal(bytes, data + offset, size);
            else
                assert_int_equal(err.cause, TZ_CAUSE_TRUNCATED);
            free(bytes);
        }
    }
    tz_source_close(source);
}

static void ranges_that_wrap_are_refused(void **state)
{
    (void)state;
    tz_source *source = open_memory(data, SIZE);
    tz_context ctx = {.ifd = -1};
    char byte;
    assert_int_equal(tz_source_read(source, UINT64_MAX, 1, &byte, &ctx), TZ_ERR_FORMAT);
    assert_int_equal(tz_source_read(source, UINT64_MAX - 4, 8, &byte, &ctx), TZ_ERR_FORMAT);
    assert_int_equal(tz_source_read(source, 4, SIZE_MAX, &byte, &ctx), TZ_ERR_FORMAT);
    assert_int_equal(tz_source_read(source, 4, SIZE_MAX - 3, &byte, &ctx), TZ_ERR_FORMAT);
    tz_source_close(source);
}

static void no_bytes_at_all_are_fine(void **state)
{
    (void)state;
    tz_source *source = open_memory(NULL, 0);
    tz_context ctx = {.ifd = -1};
    assert_int_equal(tz_source_read(source, 0, 0, NULL, &ctx), TZ_OK);
    assert_int_equal(tz_source_read(source, 0, 1, &(char){0}, &ctx), TZ_ERR_FORMAT);
    tz_source_close(source);
}

static void null_with_a_size_is_a_mistake_of_the_caller(void **state)
{
    (void)state;
    tz_error err;
    tz_context ctx = {.err = &err, .ifd = -1};
    tz_source *source = NULL;
    assert_int_equal(tz_source_open_memory(&source, NULL, 1, &ctx), TZ_ERR_ARG);
    assert_int_equal(err.cause, TZ_CAUSE_ARG);
    assert_null(source);
}

static void open_memory_may_find_no_memory(void **state)
{
    (void)state;
    tz_error err;
    tz_context ctx = {.err = &err, .ifd = -1};
    tz_source *source = NULL;
    alloc_hook_install();
    alloc_hook_fail_at(1, false);
    assert_int_equal(tz_source_open_memory(&source, data, SIZE, &ctx), TZ_ERR_NOMEM);
    assert_null(source);
    assert_int_equal(tz_source_open_memory(&source, data, SIZE, &ctx), TZ_OK);
    tz_source_close(source);
    assert_int_equal(alloc_hook_stats().live_bytes, 0);
    alloc_hook_remove();
}

static void a_request_of_many_ranges_is_all_or_nothing(void **state)
{
    (void)state;
    tz_source *source = open_memory(data, SIZE);
    char bytes[4] = "....";
    tz_range ranges[] = {{9, 1, bytes}, {0, 1, bytes + 1}, {5, 2, bytes + 2}};
    tz_request request = {ranges, 3, NULL};
    tz_error err;
    assert_int_equal(source->submit(source, &request, &err), TZ_OK);
    assert_int_equal(source->wait(source, &request, &err), TZ_OK);
    assert_memory_equal(bytes, "9056", 4);
    memcpy(bytes, "....", 4);
    ranges[2].offset = 9;
    assert_int_equal(source->submit(source, &request, &err), TZ_ERR_FORMAT);
    assert_memory_equal(bytes, "....", 4);
    tz_source_close(source);
}

/* ---------------------------------------------------------------------------------------------
 * Sources of others
 * ------------------------------------------------------------------------------------------ */

typedef struct foreign {
    tz_source base;
    tz_result submit_result;
    tz_result wait_result;
    const tz_error *says; /* what it leaves in *err; NULL: nothing */
    int submits, waits, closes;
} foreign;

static tz_result foreign_submit(tz_source *source, tz_request *request, tz_error *err)
{
    foreign *f = (foreign *)source;
    f->submits++;
    request->state = f;
    if (f->says && f->submit_result != TZ_OK)
        *err = *f->says;
    return f->submit_result;
}

static tz_result foreign_wait(tz_source *source, tz_request *request, tz_error *err)
{
    foreign *f = (foreign *)source;
    f->waits++;
    assert_ptr_equal(request->state, f);
    if (f->says && f->wait_result != TZ_OK)
        *err = *f->says;
    memset(request->ranges[0].dst, 'f', request->ranges[0].size);
    return f->wait_result;
}

static void foreign_close(tz_source *source)
{
    ((foreign *)source)->closes++;
}

static foreign make_foreign(void)
{
    return (foreign){.base = {.struct_size = sizeof(tz_source),
                              .size = 100,
                              .submit = foreign_submit,
                              .wait = foreign_wait,
                              .close = foreign_close}};
}

static tz_result read_foreign(foreign *f, uint64_t offset, tz_error *err)
{
    char bytes[8];
    tz_context ctx = {.name = "url", .err = err, .ifd = 4};
    memset(err, 0xee, sizeof *err);
    return tz_source_read(&f->base, offset, sizeof bytes, bytes, &ctx);
}

static void a_read_submits_and_waits_once(void **state)
{
    (void)state;
    foreign f = make_foreign();
    tz_error err;
    assert_int_equal(read_foreign(&f, 92, &err), TZ_OK);
    assert_int_equal(f.submits, 1);
    assert_int_equal(f.waits, 1);
}

static void a_submit_that_fails_is_not_waited_for(void **state)
{
    (void)state;
    foreign f = make_foreign();
    tz_error err;
    f.submit_result = TZ_ERR_IO;
    assert_int_equal(read_foreign(&f, 0, &err), TZ_ERR_IO);
    assert_int_equal(f.waits, 0);
}

static void a_range_past_the_end_is_not_asked_for(void **state)
{
    (void)state;
    foreign f = make_foreign();
    tz_error err;
    assert_int_equal(read_foreign(&f, 93, &err), TZ_ERR_FORMAT);
    assert_int_equal(err.cause, TZ_CAUSE_TRUNCATED);
    assert_int_equal(f.submits, 0);
}

static void the_error_of_a_source_is_passed_on_with_name_and_directory(void **state)
{
    (void)state;
    tz_error says;
    assert_int_equal(tz_error_set(&says, TZ_ERR_IO, TZ_CAUSE_REMOTE, 17, "no route\nto host"),
                     TZ_ERR_IO);
    foreign f = make_foreign();
    tz_error err;
    f.says = &says;
    f.wait_result = TZ_ERR_IO;
    assert_int_equal(read_foreign(&f, 0, &err), TZ_ERR_IO);
    assert_int_equal(err.cause, TZ_CAUSE_REMOTE);
    assert_int_equal(err.offset, 17);
    assert_int_equal(err.ifd, 4);
    assert_string_equal(err.message, "url: IFD 4: no route?to host at byte 17");
}

static void a_source_that_fails_silently_still_gives_an_error(void **state)
{
    (void)state;
    foreign f = make_foreign();
    tz_error err;
    f.wait_result = TZ_ERR_CHANGED;
    assert_int_equal(read_foreign(&f, 0, &err), TZ_ERR_CHANGED);
    assert_int_equal(err.result, TZ_ERR_CHANGED);
    assert_int_equal(err.tag, -1);
    assert_int_equal(err.count, 1);
    assert_string_equal(err.message, "url: IFD 4: the source failed");
}

static void the_returned_result_is_the_one_that_counts(void **state)
{
    (void)state;
    tz_error says;
    tz_error_set(&says, TZ_ERR_FORMAT, TZ_CAUSE_IO, TZ_NO_VALUE, "text");
    foreign f = make_foreign();
    tz_error err;
    f.says = &says;
    f.submit_result = TZ_ERR_NOMEM;
    assert_int_equal(read_foreign(&f, 0, &err), TZ_ERR_NOMEM);
    assert_int_equal(err.result, TZ_ERR_NOMEM);
    assert_string_equal(err.message, "url: IFD 4: text");
}

static void a_message_without_an_end_is_cut(void **state)
{
    (void)state;
    tz_error says;
    memset(&says, 'z', sizeof says);
    says.result = TZ_ERR_IO;
    foreign f = make_foreign();
    tz_error err;
    f.says = &says;
    f.submit_result = TZ_ERR_IO;
    assert_int_equal(read_foreign(&f, 0, &err), TZ_ERR_IO);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_memory_equal(err.message, "url: IFD 4: zzz", 15);
}

static void source_fail_takes_null_and_nothing_known(void **state)
{
    (void)state;
    assert_int_equal(tz_error_set(NULL, TZ_ERR_IO, TZ_CAUSE_IO, 1, "x"), TZ_ERR_IO);
    tz_error err;
    memset(&err, 0xee, sizeof err);
    assert_int_equal(tz_error_set(&err, TZ_ERR_CHANGED, TZ_CAUSE_CHANGED, TZ_NO_VALUE, NULL),
                     TZ_ERR_CHANGED);
    assert_int_equal(err.result, TZ_ERR_CHANGED);
    assert_int_equal(err.cause, TZ_CAUSE_CHANGED);
    assert_true(err.offset == TZ_NO_VALUE);
    assert_int_equal(err.ifd, -1);
    assert_int_equal(err.system_error, 0);
    assert_true(strlen(err.message) > 0);
    tz_error_set(&err, TZ_ERR_IO, TZ_CAUSE_IO, TZ_NO_VALUE, "100%s %n"); /* not a format */
    assert_string_equal(err.message, "100%s %n");
}

static void close_takes_null_and_closes_once(void **state)
{
    (void)state;
    tz_source_close(NULL);
    foreign f = make_foreign();
    tz_source_close(&f.base);
    assert_int_equal(f.closes, 1);
    f.base.close = NULL;
    tz_source_close(&f.base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_range_is_read_or_refused),
        cmocka_unit_test(ranges_that_wrap_are_refused),
        cmocka_unit_test(no_bytes_at_all_are_fine),
        cmocka_unit_test(null_with_a_size_is_a_mistake_of_the_caller),
        cmocka_unit_test(open_memory_may_find_no_memory),
        cmocka_unit_test(a_request_of_many_ranges_is_all_or_nothing),
        cmocka_unit_test(a_read_submits_and_waits_once),
        cmocka_unit_test(a_submit_that_fails_is_not_waited_for),
        cmocka_unit_test(a_range_past_the_end_is_not_asked_for),
        cmocka_unit_test(the_error_of_a_source_is_passed_on_with_name_and_directory),
        cmocka_unit_test(a_source_that_fails_silently_still_gives_an_error),
        cmocka_unit_test(the_returned_result_is_the_one_that_counts),
        cmocka_unit_test(a_message_without_an_end_is_cut),
        cmocka_unit_test(source_fail_takes_null_and_nothing_known),
        cmocka_unit_test(close_takes_null_and_closes_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
