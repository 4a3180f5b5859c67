/* SPDX-License-Identifier: Apache-2.0
 * Commit of the file sink: in what order the disk gets things, what is never replaced, and what
 * happens when others are at the same destination. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/scratch.h"
#include "support/sink_fault.h"
#include "support/sink_job.h"

static tz_error err;
static const tz_context ctx = {.name = "n", .err = &err, .ifd = -1};

static tz_result put(tz_sink *sink, uint64_t offset, const char *text)
{
    tz_bytes piece = {text, strlen(text)};
    return tz_sink_write(sink, offset, &piece, 1, &ctx);
}

static void after_commit_nothing_more_can_be_done(void **state)
{
    (void)state;
    tz_sink *sink = sink_job_open("once", false);
    char byte;
    assert_int_equal(put(sink, 0, "once"), TZ_OK);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_ERR_ARG);
    assert_int_equal(put(sink, 0, "more"), TZ_ERR_ARG);
    assert_int_equal(tz_sink_sync(sink, 1, &ctx), TZ_ERR_ARG);
    assert_int_equal(tz_sink_read(sink, 0, &byte, 1, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_true(scratch_holds("once", "once", 4));
}

static char order[64]; /* a letter for each call that matters, in the order they were made */

static void note_order(const char *call)
{
    static const struct {
        const char *call;
        char letter;
    } calls[] = {{"pwritev", 'w'},
                 {"ftruncate", 't'},
                 {"fchmod", 'a'},
                 {"fsync", 's'},
                 {"linkat", 'p'},
                 {"rename", 'p'},
                 {"rename_new", 'p'},
                 {"close of the copy", 'c'},
                 {"fsync of the directory", 'd'}};
    size_t length = strlen(order);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(calls[i].call, call) == 0 && length + 1 < sizeof order)
            order[length] = calls[i].letter;
}

static void assert_order(bool exclusive, const char *expected)
{
    memset(order, 0, sizeof order);
    fault.before = note_order;
    assert_int_equal(sink_job_run("file", exclusive, false, &err), TZ_OK);
    fault.before = NULL;
    assert_string_equal(order, expected);
}

/* Bytes, size and permissions are on the disk before the name is given, and the name before commit
 * returns: what else a power failure would leave cannot be seen by any test of a running system. */
static void the_disk_gets_bytes_before_the_name_and_the_name_before_the_end(void **state)
{
    (void)state;
    mode_t before = umask(022);
    assert_order(false, "wwwtscpd");
    assert_int_equal(chmod(scratch_path("file"), 0640), 0);
    assert_order(false, "wwwtascpppd"); /* a link is refused, one gets a name, rename */
    fault.no_unnamed = true;
    assert_order(false, "wwwtascpd");
    assert_int_equal(unlink(scratch_path("file")), 0);
    assert_order(true, "wwwtscpd");
    umask(before);
}

static void check_exclusive(void)
{
    assert_int_equal(sink_job_run("mine", true, false, &err), TZ_OK);
    assert_true(sink_job_is_new("mine"));
    assert_null(scratch_other_than("mine"));
    sink_job_make_old("mine");
    assert_int_equal(sink_job_run("mine", true, false, &err), TZ_ERR_IO);
    assert_int_equal(err.system_error, EEXIST);
    assert_true(sink_job_is_old("mine"));
    assert_null(scratch_other_than("mine"));
    assert_int_equal(unlink(scratch_path("mine")), 0);
}

static void exclusive_never_replaces(void **state)
{
    (void)state;
    sink_fault_both_ways(check_exclusive);
    fault.no_rename_new = true;
    check_exclusive();
}

/* The destination appears at the last moment, where only the call that publishes can see it. */
static void appear(const char *call)
{
    if (strcmp(call, "linkat") == 0 || strcmp(call, "rename_new") == 0)
        sink_job_make_old("mine");
}

static void check_exclusive_race(void)
{
    tz_sink *sink = sink_job_open("mine", true);
    assert_int_equal(sink_job_fill(sink, &ctx), TZ_OK);
    sink_job_make_old("mine");
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_ERR_IO);
    assert_int_equal(err.system_error, EEXIST);
    tz_sink_close(sink);
    assert_true(sink_job_is_old("mine"));
    assert_int_equal(unlink(scratch_path("mine")), 0);

    fault.before = appear;
    assert_int_equal(sink_job_run("mine", true, false, &err), TZ_ERR_IO);
    fault.before = NULL;
    assert_int_equal(err.system_error, EEXIST);
    assert_non_null(strstr(err.message, "exists already"));
    assert_true(sink_job_is_old("mine"));
    assert_null(scratch_other_than("mine"));
    assert_int_equal(unlink(scratch_path("mine")), 0);
}

static void exclusive_sees_a_file_that_appears_before_commit(void **state)
{
    (void)state;
    sink_fault_both_ways(check_exclusive_race);
    fault.no_rename_new = true;
    check_exclusive_race();
}

static void check_two_writers(void)
{
    tz_sink *first = sink_job_open("shared", false);
    tz_sink *second = sink_job_open("shared", false);
    assert_int_equal(sink_job_fill(first, &ctx), TZ_OK);
    assert_int_equal(put(second, 0, "second"), TZ_OK);
    assert_int_equal(tz_sink_commit(second, &ctx), TZ_OK);
    assert_true(scratch_holds("shared", "second", 6));
    assert_int_equal(tz_sink_commit(first, &ctx), TZ_OK);
    assert_true(sink_job_is_new("shared"));
    tz_sink_close(first);
    tz_sink_close(second);
    assert_true(sink_job_is_new("shared"));
    assert_null(scratch_other_than("shared"));
}

static void of_two_writers_the_last_commit_wins_whole(void **state)
{
    (void)state;
    sink_fault_both_ways(check_two_writers);
}

static void a_destination_that_becomes_a_directory_is_left_alone(void **state)
{
    (void)state;
    tz_sink *sink = sink_job_open("place", false);
    assert_int_equal(sink_job_fill(sink, &ctx), TZ_OK);
    assert_int_equal(mkdir(scratch_path("place"), 0700), 0);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_ERR_IO);
    assert_int_equal(err.cause, TZ_CAUSE_UNSAFE);
    tz_sink_close(sink);
    assert_null(scratch_other_than("place"));
}

static void the_directory_may_be_renamed_meanwhile(void **state)
{
    (void)state;
    assert_int_equal(mkdir(scratch_path("before"), 0700), 0);
    tz_sink *sink = sink_job_open("before/file", false);
    assert_int_equal(rename(scratch_path("before"), scratch_path("after")), 0);
    assert_int_equal(sink_job_fill(sink, &ctx), TZ_OK);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_true(sink_job_is_new("after/file"));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, sink_fault_begin, sink_fault_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(after_commit_nothing_more_can_be_done),
        CASE(the_disk_gets_bytes_before_the_name_and_the_name_before_the_end),
        CASE(exclusive_never_replaces),
        CASE(exclusive_sees_a_file_that_appears_before_commit),
        CASE(of_two_writers_the_last_commit_wins_whole),
        CASE(a_destination_that_becomes_a_directory_is_left_alone),
        CASE(the_directory_may_be_renamed_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
