/* SPDX-License-Identifier: Apache-2.0
 * The file sink on real files: what it writes, when it can be seen, and what it replaces. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
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

static void check_new_file(void)
{
    size_t open_files = scratch_open_files();
    sink_job_must_run("new");
    assert_null(scratch_other_than("new"));
    assert_int_equal(unlink(scratch_path("new")), 0);
    assert_int_equal(scratch_open_files(), open_files);
}

static void a_new_file_holds_what_was_written(void **state)
{
    (void)state;
    sink_fault_both_ways(check_new_file);
}

static void check_replaced(void)
{
    sink_job_make_old("old");
    tz_sink *sink = sink_job_open("old", false);
    assert_int_equal(sink_job_fill(sink, &ctx), TZ_OK);
    assert_true(sink_job_is_old("old")); /* until commit */
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    assert_true(sink_job_is_new("old"));
    tz_sink_close(sink);
    assert_true(sink_job_is_new("old"));
    assert_null(scratch_other_than("old"));
}

static void an_old_file_is_replaced_at_commit(void **state)
{
    (void)state;
    sink_fault_both_ways(check_replaced);
}

static void check_discarded(void)
{
    sink_job_make_old("old");
    tz_sink *sink = sink_job_open("old", false);
    assert_int_equal(sink_job_fill(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_true(sink_job_is_old("old"));
    assert_null(scratch_other_than("old"));
    tz_sink_close(sink_job_open("new", false));
    assert_null(scratch_other_than("old"));
}

static void without_commit_the_old_file_stays_and_nothing_else(void **state)
{
    (void)state;
    sink_fault_both_ways(check_discarded);
}

static void check_public(void)
{
    const tz_bytes piece = {"bytes", 5};
    tz_sink *sink = NULL;
    sink_job_make_old("old");
    assert_int_equal(tz_file_sink_open(&sink, scratch_path("old"), true, true, &err), TZ_ERR_IO);
    assert_int_equal(err.system_error, EEXIST);
    assert_null(sink);
    assert_int_equal(tz_file_sink_open(&sink, scratch_path("new"), true, true, &err), TZ_OK);
    assert_int_equal(sink->write(sink, 0, &piece, 1, &err), TZ_OK);
    assert_int_equal(sink->commit(sink, &err), TZ_OK);
    sink->close(sink);
    assert_int_equal(access(scratch_path("new"), F_OK), 0);
    assert_int_equal(unlink(scratch_path("new")), 0);
    assert_int_equal(tz_file_sink_open(&sink, "", true, true, NULL), TZ_ERR_ARG);
    assert_true(sink_job_is_old("old"));
    assert_null(scratch_other_than("old"));
}

static void a_file_of_the_callers_own(void **state)
{
    (void)state;
    sink_fault_both_ways(check_public);
}

static void a_file_without_a_name_is_not_to_be_seen_before_commit(void **state)
{
    (void)state;
    tz_sink *sink = sink_job_open("new", false);
    assert_int_equal(put(sink, 0, "hidden"), TZ_OK);
    assert_int_equal(scratch_count(), 0);
    fault.no_unnamed = true;
    tz_sink *named = sink_job_open("new", false);
    assert_string_equal(scratch_other_than(""), ".new.tz00.part");
    tz_sink_close(named);
    tz_sink_close(sink);
    assert_int_equal(scratch_count(), 0);
}

static void the_size_is_that_of_sync(void **state)
{
    (void)state;
    tz_sink *sink = sink_job_open("short", false);
    assert_int_equal(put(sink, 0, "too much"), TZ_OK);
    assert_int_equal(tz_sink_sync(sink, 3, &ctx), TZ_OK);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_true(scratch_holds("short", "too", 3));
    sink = sink_job_open("empty", false);
    assert_int_equal(tz_sink_sync(sink, 0, &ctx), TZ_OK);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_true(scratch_holds("empty", "", 0));
}

static void commit_without_sync_is_as_safe(void **state)
{
    (void)state;
    tz_sink *sink = sink_job_open("file", false);
    assert_int_equal(put(sink, 2, "ab"), TZ_OK);
    sink_fault_fail("fsync", 0, 0);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    assert_int_equal(fault.calls, 1);
    tz_sink_close(sink);
    assert_true(scratch_holds("file", "\0\0ab", 4));
}

static void what_is_written_after_sync_is_synced_again(void **state)
{
    (void)state;
    tz_sink *sink = sink_job_open("file", false);
    sink_fault_fail("fsync", 0, 0);
    assert_int_equal(put(sink, 0, "ab"), TZ_OK);
    assert_int_equal(tz_sink_sync(sink, 2, &ctx), TZ_OK);
    assert_int_equal(put(sink, 1, "cd"), TZ_OK);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    assert_int_equal(fault.calls, 2);
    tz_sink_close(sink);
    assert_true(scratch_holds("file", "acd", 3));
}

static void thousands_of_buffers_and_empty_ones_are_written_in_order(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static unsigned char bytes[COUNT];
    static tz_bytes pieces[2 * COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        bytes[i] = (unsigned char)(i * 13);
        pieces[2 * i] = (tz_bytes){bytes + i, 1};
        pieces[2 * i + 1] = (tz_bytes){NULL, 0};
    }
    tz_sink *sink = sink_job_open("pieces", false);
    assert_int_equal(tz_sink_write(sink, 0, pieces, 2 * (size_t)COUNT, &ctx), TZ_OK);
    assert_int_equal(tz_sink_write(sink, 1u << 20, NULL, 0, &ctx), TZ_OK); /* makes no gap */
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_true(scratch_holds("pieces", bytes, COUNT));
    assert_true(fault.largest_count <= 1024); /* more in one call is an error of the system */
}

static void writes_that_take_less_than_asked_are_continued(void **state)
{
    (void)state;
    static const size_t most[] = {1, 2, 7, 983, 984, 985, 3983, 3984};
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
        fault.most_written = most[i];
        sink_job_must_run("slow");
    }
}

static void a_large_write_is_made_in_parts_of_a_gibibyte_at_most(void **state)
{
    (void)state;
    char nothing = 0; /* the stand-in does not look at the bytes */
    const tz_bytes pieces[] = {{&nothing, 10}, {&nothing, ((size_t)5 << 29) + 1}, {&nothing, 7}};
    tz_sink *sink = sink_job_open("large", false);
    fault.no_bytes = true;
    sink_fault_fail("pwritev", 0, 0);
    assert_int_equal(tz_sink_write(sink, 0, pieces, 3, &ctx), TZ_OK);
    assert_int_equal(fault.largest_size, (size_t)1 << 30);
    assert_int_equal(fault.calls, 3);
    tz_sink_close(sink);
}

static void offsets_beyond_32_bits_are_exact(void **state)
{
    (void)state;
    uint64_t offset = ((uint64_t)9 << 30) + 123;
    tz_sink *sink = sink_job_open("sparse", false);
    tz_result result = put(sink, offset, "far");
    if (result != TZ_OK && (err.system_error == EFBIG || err.system_error == ENOSPC)) {
        tz_sink_close(sink);
        print_message("skip: the file system has no room for a sparse file of 9 GiB\n");
        skip();
    }
    assert_int_equal(result, TZ_OK);
    char back[5];
    assert_int_equal(tz_sink_read(sink, offset - 2, back, 5, &ctx), TZ_OK);
    assert_memory_equal(back, "\0\0far", 5);
    tz_sink_close(sink);
}

static void an_offset_beyond_what_files_have_is_efbig(void **state)
{
    (void)state;
    static const uint64_t offsets[] = {UINT64_MAX, UINT64_MAX - 1, (uint64_t)INT64_MAX};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        tz_sink *sink = sink_job_open("far", false);
        assert_int_equal(put(sink, offsets[i], "x"), TZ_ERR_IO);
        assert_int_equal(err.system_error, EFBIG);
        assert_int_equal(tz_sink_commit(sink, &ctx), TZ_ERR_ARG);
        tz_sink_close(sink);
    }
    assert_int_equal(scratch_count(), 0);
}

static void reading_back_more_than_was_written_is_an_error(void **state)
{
    (void)state;
    tz_sink *sink = sink_job_open("four", false);
    char bytes[8];
    assert_int_equal(put(sink, 0, "four"), TZ_OK);
    assert_int_equal(tz_sink_read(sink, 2, bytes, 3, &ctx), TZ_ERR_IO);
    assert_int_equal(err.cause, TZ_CAUSE_TRUNCATED);
    assert_int_equal(err.offset, 4);
    tz_sink_close(sink);
}

static void the_disk_is_asked_to_begin_early_unless_nobody_waits_for_it(void **state)
{
    (void)state;
    enum { BLOCK = 1 << 20, BLOCKS = 33 };
    void *block = calloc(BLOCK, 1);
    tz_bytes piece = {block, BLOCK};
    for (int no_sync = 0; no_sync < 2; no_sync++) {
        tz_sink *sink = NULL;
        assert_int_equal(tz_sink_open_file(&sink, scratch_path("big"), false, no_sync != 0, &ctx),
                         TZ_OK);
        sink_fault_fail("write_back", 0, 0);
        for (uint64_t i = 0; i < BLOCKS; i++)
            assert_int_equal(tz_sink_write(sink, i * BLOCK, &piece, 1, &ctx), TZ_OK);
        if (no_sync)
            assert_int_equal(fault.calls, 0);
        else
            assert_in_range(fault.calls, 2, 4);
        tz_sink_close(sink);
    }
    free(block);
}

static void no_sync_forces_nothing_to_the_disk(void **state)
{
    (void)state;
    sink_fault_fail("fsync", 1, EIO);
    assert_int_equal(sink_job_run("file", false, true, &err), TZ_OK);
    sink_fault_fail("fsync of the directory", 1, EIO);
    assert_int_equal(sink_job_run("file", false, true, &err), TZ_OK);
    assert_true(sink_job_is_new("file"));
}

static void free_space_is_that_of_the_file_system(void **state)
{
    (void)state;
    tz_sink *sink = sink_job_open("file", false);
    uint64_t space = tz_sink_free_space(sink);
    assert_true(space > 0 && space != TZ_NO_VALUE);
    sink_fault_fail("free_space", 1, EIO);
    assert_int_equal(tz_sink_free_space(sink), TZ_NO_VALUE);
    assert_int_equal(tz_sink_free_space(NULL), TZ_NO_VALUE);
    tz_sink_close(sink);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, sink_fault_begin, sink_fault_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_new_file_holds_what_was_written),
        CASE(an_old_file_is_replaced_at_commit),
        CASE(without_commit_the_old_file_stays_and_nothing_else),
        CASE(a_file_of_the_callers_own),
        CASE(a_file_without_a_name_is_not_to_be_seen_before_commit),
        CASE(the_size_is_that_of_sync),
        CASE(commit_without_sync_is_as_safe),
        CASE(what_is_written_after_sync_is_synced_again),
        CASE(thousands_of_buffers_and_empty_ones_are_written_in_order),
        CASE(writes_that_take_less_than_asked_are_continued),
        CASE(a_large_write_is_made_in_parts_of_a_gibibyte_at_most),
        CASE(offsets_beyond_32_bits_are_exact),
        CASE(an_offset_beyond_what_files_have_is_efbig),
        CASE(reading_back_more_than_was_written_is_an_error),
        CASE(the_disk_is_asked_to_begin_early_unless_nobody_waits_for_it),
        CASE(no_sync_forces_nothing_to_the_disk),
        CASE(free_space_is_that_of_the_file_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
