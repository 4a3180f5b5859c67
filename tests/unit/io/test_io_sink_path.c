/* SPDX-License-Identifier: Apache-2.0
 * Which file a path means to the file sink, and which paths it refuses. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/alloc_hook.h"
#include "support/scratch.h"
#include "support/sink_fault.h"
#include "support/sink_job.h"

static tz_error err;
static const tz_context ctx = {.name = "n", .err = &err, .ifd = -1};

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

static void check_links(void)
{
    sink_job_make_old("target");
    sink_job_must_run("link3");
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
    sink_fault_both_ways(check_links);
}

static void a_dangling_link_gets_its_target(void **state)
{
    (void)state;
    assert_int_equal(symlink("not-yet", scratch_path("link")), 0);
    sink_job_must_run("link");
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
    sink_fault_fail("fstatat", 1, ENOENT);
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

/* The text of such a link is not a path. */
static void what_has_no_path_behind_proc_is_refused(void **state)
{
    (void)state;
    char path[64];
    int fd = open(scratch_path("gone"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(unlink(scratch_path("gone")), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_unsafe(path, "was deleted");
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
    tz_sink *sink = sink_job_open(name, false);
    assert_int_equal(sink_job_fill(sink, &ctx), TZ_OK);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_true(sink_job_is_new(name));
    sink_job_must_run(name); /* and replaced */
    assert_null(scratch_other_than(name));
    assert_int_equal(unlink(scratch_path(name)), 0);
    name[255] = 'n';
    name[256] = '\0';
    assert_int_equal(refusal(scratch_path(name)).system_error, ENAMETOOLONG);
}

static void names_of_255_bytes_are_written_and_of_256_refused(void **state)
{
    (void)state;
    sink_fault_both_ways(check_long_name);
}

static void a_read_only_file_system_is_reported_at_open(void **state)
{
    (void)state;
    fault.no_unnamed = true;
    static const int errors[] = {EROFS, EACCES, ENOSPC, EDQUOT, EMFILE};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        sink_fault_fail("openat", 3, errors[i]); /* after the directory and a leftover */
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

#define CASE(test) cmocka_unit_test_setup_teardown(test, sink_fault_begin, sink_fault_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_target_of_links_is_replaced_and_the_links_stay),
        CASE(a_dangling_link_gets_its_target),
        CASE(a_loop_of_links_is_an_error),
        CASE(a_relative_path_needs_no_slash),
        CASE(only_regular_files_are_replaced),
        CASE(what_has_no_path_behind_proc_is_refused),
        CASE(paths_that_cannot_be_are_refused_before_anything_is_made),
        CASE(names_of_255_bytes_are_written_and_of_256_refused),
        CASE(a_read_only_file_system_is_reported_at_open),
        CASE(open_without_memory_makes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
