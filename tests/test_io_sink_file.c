/* SPDX-License-Identifier: Apache-2.0
 * The file sink on real files: what it writes, what it replaces, what it refuses, and that nothing
 * is to be seen of it before commit. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "alloc_hook.h"
#include "scratch.h"
#include "sink_fault.h"
#include "sink_job.h"

static tz_error err;
static const tz_context ctx = {.name = "n", .err = &err, .ifd = -1};

static int begin(void **state)
{
    sink_fault_install();
    return scratch_begin(state);
}

static int end(void **state)
{
    sink_fault_remove();
    return scratch_end(state);
}

static tz_sink *opened(const char *name, bool exclusive)
{
    tz_sink *sink = NULL;
    if (tz_sink_open_file(&sink, scratch_path(name), exclusive, false, &ctx) != TZ_OK)
        fail_msg("%s", err.message);
    return sink;
}

static tz_result put(tz_sink *sink, uint64_t offset, const char *text)
{
    tz_bytes piece = {text, strlen(text)};
    return tz_sink_write(sink, offset, &piece, 1, &ctx);
}

static void must_write(const char *name)
{
    if (sink_job_run(name, false, false, &err) != TZ_OK)
        fail_msg("%s", err.message);
    assert_true(sink_job_is_new(name));
}

/* From now on calls of this name alone are counted. */
static void count_only(const char *call)
{
    fault.only = call;
    fault.calls = 0;
}

/* From now on the n-th call of this name fails. */
static void fail_call(const char *call, int n, int error_number)
{
    count_only(call);
    fault.fail_at = n;
    fault.error = error_number;
}

/* The error of an open that must fail, and that leaves *out alone and makes nothing. */
static tz_error refusal(const char *path)
{
    size_t entries = scratch_count();
    size_t open_files = scratch_open_files();
    tz_sink *sink = NULL;
    tz_context unnamed = {.err = &err, .ifd = -1};
    err.result = TZ_OK;
    tz_result result = tz_sink_open_file(&sink, path, false, false, &unnamed);
    assert_int_not_equal(result, TZ_OK);
    assert_int_equal(err.result, result);
    assert_null(sink);
    assert_int_equal(scratch_count(), entries);
    assert_int_equal(scratch_open_files(), open_files);
    return err;
}

/* Run a check with files without a name, and again where there are none. */
static void in_both_ways(void (*check)(void))
{
    check();
    fault.no_unnamed = true;
    check();
}

/* ---------------------------------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------------------------------ */

static void check_new_file(void)
{
    size_t open_files = scratch_open_files();
    must_write("new");
    assert_null(scratch_other_than("new"));
    assert_int_equal(unlink(scratch_path("new")), 0);
    assert_int_equal(scratch_open_files(), open_files);
}

static void a_new_file_holds_what_was_written(void **state)
{
    (void)state;
    in_both_ways(check_new_file);
}

static void check_replaced(void)
{
    sink_job_make_old("old");
    tz_sink *sink = opened("old", false);
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
    in_both_ways(check_replaced);
}

static void check_discarded(void)
{
    sink_job_make_old("old");
    tz_sink *sink = opened("old", false);
    assert_int_equal(sink_job_fill(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_true(sink_job_is_old("old"));
    assert_null(scratch_other_than("old"));
    tz_sink_close(opened("new", false));
    assert_null(scratch_other_than("old"));
}

static void without_commit_the_old_file_stays_and_nothing_else(void **state)
{
    (void)state;
    in_both_ways(check_discarded);
}

static void a_file_without_a_name_is_not_to_be_seen_before_commit(void **state)
{
    (void)state;
    tz_sink *sink = opened("new", false);
    assert_int_equal(put(sink, 0, "hidden"), TZ_OK);
    assert_int_equal(scratch_count(), 0);
    fault.no_unnamed = true;
    tz_sink *named = opened("new", false);
    assert_string_equal(scratch_other_than(""), ".new.tz00.part");
    tz_sink_close(named);
    tz_sink_close(sink);
    assert_int_equal(scratch_count(), 0);
}

static void the_size_is_that_of_sync(void **state)
{
    (void)state;
    tz_sink *sink = opened("short", false);
    assert_int_equal(put(sink, 0, "too much"), TZ_OK);
    assert_int_equal(tz_sink_sync(sink, 3, &ctx), TZ_OK);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_true(scratch_holds("short", "too", 3));
    sink = opened("empty", false);
    assert_int_equal(tz_sink_sync(sink, 0, &ctx), TZ_OK);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_true(scratch_holds("empty", "", 0));
}

static void commit_without_sync_is_as_safe(void **state)
{
    (void)state;
    tz_sink *sink = opened("file", false);
    assert_int_equal(put(sink, 2, "ab"), TZ_OK);
    count_only("fsync");
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    assert_int_equal(fault.calls, 1);
    tz_sink_close(sink);
    assert_true(scratch_holds("file", "\0\0ab", 4));
}

static void thousands_of_pieces_and_empty_ones_are_written_in_order(void **state)
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
    tz_sink *sink = opened("pieces", false);
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
        must_write("slow");
    }
}

static void offsets_beyond_32_bits_are_exact(void **state)
{
    (void)state;
    uint64_t offset = ((uint64_t)9 << 30) + 123;
    tz_sink *sink = opened("sparse", false);
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
        tz_sink *sink = opened("far", false);
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
    tz_sink *sink = opened("four", false);
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
        count_only("write_back");
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
    fail_call("fsync", 1, EIO);
    assert_int_equal(sink_job_run("file", false, true, &err), TZ_OK);
    fail_call("fsync of the directory", 1, EIO);
    assert_int_equal(sink_job_run("file", false, true, &err), TZ_OK);
    assert_true(sink_job_is_new("file"));
}

static void free_space_is_that_of_the_file_system(void **state)
{
    (void)state;
    tz_sink *sink = opened("file", false);
    uint64_t space = tz_sink_free_space(sink);
    assert_true(space > 0 && space != TZ_NONE);
    fail_call("free_space", 1, EIO);
    assert_int_equal(tz_sink_free_space(sink), TZ_NONE);
    assert_int_equal(tz_sink_free_space(NULL), TZ_NONE);
    tz_sink_close(sink);
}

/* ---------------------------------------------------------------------------------------------
 * Commit
 * ------------------------------------------------------------------------------------------ */

static void after_commit_nothing_more_can_be_done(void **state)
{
    (void)state;
    tz_sink *sink = opened("once", false);
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
    in_both_ways(check_exclusive);
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
    tz_sink *sink = opened("mine", true);
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
    in_both_ways(check_exclusive_race);
    fault.no_rename_new = true;
    check_exclusive_race();
}

static void check_two_writers(void)
{
    tz_sink *first = opened("shared", false);
    tz_sink *second = opened("shared", false);
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
    in_both_ways(check_two_writers);
}

static void a_destination_that_becomes_a_directory_is_left_alone(void **state)
{
    (void)state;
    tz_sink *sink = opened("place", false);
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
    tz_sink *sink = opened("before/file", false);
    assert_int_equal(rename(scratch_path("before"), scratch_path("after")), 0);
    assert_int_equal(sink_job_fill(sink, &ctx), TZ_OK);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_true(sink_job_is_new("after/file"));
}

/* ---------------------------------------------------------------------------------------------
 * Paths
 * ------------------------------------------------------------------------------------------ */

static void check_links(void)
{
    sink_job_make_old("target");
    must_write("link3");
    assert_true(sink_job_is_new("target"));
    struct stat status;
    assert_int_equal(lstat(scratch_path("link3"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(lstat(scratch_path("target"), &status), 0);
    assert_true(S_ISREG(status.st_mode));
}

static void the_target_of_links_is_replaced_and_the_links_stay(void **state)
{
    (void)state;
    assert_int_equal(mkdir(scratch_path("sub"), 0700), 0);
    assert_int_equal(symlink("../target", scratch_path("sub/link1")), 0);
    assert_int_equal(symlink(scratch_path("sub/link1"), scratch_path("link2")), 0);
    assert_int_equal(symlink("./link2", scratch_path("link3")), 0);
    in_both_ways(check_links);
}

static void a_dangling_link_gets_its_target(void **state)
{
    (void)state;
    assert_int_equal(symlink("not-yet", scratch_path("link")), 0);
    must_write("link");
    assert_true(sink_job_is_new("not-yet"));
    assert_int_equal(scratch_count(), 2);
    assert_int_equal(symlink("missing/x", scratch_path("nowhere")), 0);
    assert_int_equal(refusal(scratch_path("nowhere")).system_error, ENOENT);
}

static void a_loop_of_links_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(symlink("b", scratch_path("a")), 0);
    assert_int_equal(symlink("a", scratch_path("b")), 0);
    assert_int_equal(refusal(scratch_path("a")).system_error, ELOOP);
    /* A link that the system's own look at the path did not see yet. */
    fail_call("fstatat", 1, ENOENT);
    assert_int_equal(refusal(scratch_path("a")).system_error, ELOOP);
}

static void a_relative_path_needs_no_slash(void **state)
{
    (void)state;
    int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(chdir(scratch_folder()), 0);
    tz_sink *sink = NULL;
    assert_int_equal(tz_sink_open_file(&sink, "plain", false, false, &ctx), TZ_OK);
    assert_int_equal(fchdir(before), 0); /* the destination stays where it was */
    assert_int_equal(sink_job_fill(sink, &ctx), TZ_OK);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    close(before);
    assert_true(sink_job_is_new("plain"));
}

static void assert_unsafe(const char *path, const char *what)
{
    tz_error refused = refusal(path);
    assert_int_equal(refused.result, TZ_ERR_IO);
    assert_int_equal(refused.cause, TZ_CAUSE_UNSAFE);
    assert_non_null(strstr(refused.message, what));
}

static void only_regular_files_are_replaced(void **state)
{
    (void)state;
    assert_unsafe("/dev/full", "is a character device; only regular files are written");
    assert_unsafe("/dev/null", "is a character device");
    assert_unsafe(scratch_folder(), "is a directory");
    assert_unsafe(scratch_path("."), "is a directory");
    assert_unsafe(scratch_path(".."), "is a directory");
    assert_unsafe(scratch_path("new/"), "the path of a directory");
    assert_int_equal(mkfifo(scratch_path("fifo"), 0600), 0);
    assert_unsafe(scratch_path("fifo"), "is a FIFO");
    assert_int_equal(symlink("fifo", scratch_path("link")), 0);
    assert_unsafe(scratch_path("link"), "is a FIFO");
    assert_int_equal(symlink("there/", scratch_path("slash")), 0);
    assert_unsafe(scratch_path("slash"), "the path of a directory");
}

/* The text of such a link names no file, or another one. */
static void a_deleted_file_behind_proc_is_refused(void **state)
{
    (void)state;
    char path[64];
    int fd = open(scratch_path("gone"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(unlink(scratch_path("gone")), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_unsafe(path, "cannot be followed");
    close(fd);
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", pipes[1]);
    assert_unsafe(path, "is a FIFO");
    close(pipes[0]);
    close(pipes[1]);
}

static void paths_that_cannot_be_are_refused_before_anything_is_made(void **state)
{
    (void)state;
    assert_int_equal(refusal(NULL).result, TZ_ERR_ARG);
    assert_int_equal(refusal("").result, TZ_ERR_ARG);
    tz_error missing = refusal(scratch_path("missing/file"));
    assert_int_equal(missing.system_error, ENOENT);
    assert_non_null(strstr(missing.message, "missing/file: cannot open its directory"));
    scratch_write("data", "x", 1);
    assert_int_equal(refusal(scratch_path("data/below")).system_error, ENOTDIR);
    char path[6000];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_int_equal(refusal(path).system_error, ENAMETOOLONG);
    for (size_t i = 0; i + 1 < sizeof path; i += 2)
        memcpy(path + i, "./", 2);
    memcpy(path + sizeof path - 3, "/x", 3);
    assert_int_equal(refusal(path).system_error, ENAMETOOLONG);
    /* Directories that cannot be written to, whoever asks. */
    tz_error kernel = refusal("/proc/self/terrazzo.tif");
    assert_int_equal(kernel.result, TZ_ERR_IO);
    assert_int_not_equal(kernel.system_error, 0);
}

static void check_long_name(void)
{
    char name[258];
    memset(name, 'n', sizeof name);
    name[255] = '\0';
    tz_sink *sink = opened(name, false);
    assert_int_equal(sink_job_fill(sink, &ctx), TZ_OK);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_true(sink_job_is_new(name));
    must_write(name); /* and replaced */
    assert_null(scratch_other_than(name));
    assert_int_equal(unlink(scratch_path(name)), 0);
    name[255] = 'n';
    name[256] = '\0';
    assert_int_equal(refusal(scratch_path(name)).system_error, ENAMETOOLONG);
}

static void names_of_255_bytes_are_written_and_of_256_refused(void **state)
{
    (void)state;
    in_both_ways(check_long_name);
}

static void a_read_only_file_system_is_told_at_open(void **state)
{
    (void)state;
    fault.no_unnamed = true;
    static const int errors[] = {EROFS, EACCES, ENOSPC, EDQUOT, EMFILE};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        fail_call("openat", 2, errors[i]); /* the first opens the directory */
        tz_error refused = refusal(scratch_path("file"));
        assert_int_equal(refused.result, TZ_ERR_IO);
        assert_int_equal(refused.system_error, errors[i]);
        assert_non_null(strstr(refused.message, "cannot create a temporary file"));
    }
}

static void open_without_memory_makes_nothing(void **state)
{
    (void)state;
    alloc_hook_install();
    alloc_hook_fail_at(1, false);
    assert_int_equal(refusal(scratch_path("file")).result, TZ_ERR_NOMEM);
    assert_int_equal(alloc_hook_stats().live_bytes, 0);
    alloc_hook_remove();
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_new_file_holds_what_was_written),
        CASE(an_old_file_is_replaced_at_commit),
        CASE(without_commit_the_old_file_stays_and_nothing_else),
        CASE(a_file_without_a_name_is_not_to_be_seen_before_commit),
        CASE(the_size_is_that_of_sync),
        CASE(commit_without_sync_is_as_safe),
        CASE(thousands_of_pieces_and_empty_ones_are_written_in_order),
        CASE(writes_that_take_less_than_asked_are_continued),
        CASE(offsets_beyond_32_bits_are_exact),
        CASE(an_offset_beyond_what_files_have_is_efbig),
        CASE(reading_back_more_than_was_written_is_an_error),
        CASE(the_disk_is_asked_to_begin_early_unless_nobody_waits_for_it),
        CASE(no_sync_forces_nothing_to_the_disk),
        CASE(free_space_is_that_of_the_file_system),
        CASE(after_commit_nothing_more_can_be_done),
        CASE(exclusive_never_replaces),
        CASE(exclusive_sees_a_file_that_appears_before_commit),
        CASE(of_two_writers_the_last_commit_wins_whole),
        CASE(a_destination_that_becomes_a_directory_is_left_alone),
        CASE(the_directory_may_be_renamed_meanwhile),
        CASE(the_target_of_links_is_replaced_and_the_links_stay),
        CASE(a_dangling_link_gets_its_target),
        CASE(a_loop_of_links_is_an_error),
        CASE(a_relative_path_needs_no_slash),
        CASE(only_regular_files_are_replaced),
        CASE(a_deleted_file_behind_proc_is_refused),
        CASE(paths_that_cannot_be_are_refused_before_anything_is_made),
        CASE(names_of_255_bytes_are_written_and_of_256_refused),
        CASE(a_read_only_file_system_is_told_at_open),
        CASE(open_without_memory_makes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
