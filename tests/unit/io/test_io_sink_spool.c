/* SPDX-License-Identifier: Apache-2.0
 * Spools: where they are, that nobody sees them, and that nothing is left of them whatever fails
 * and whenever the process is killed. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/sink.h"
#include "io/sink_file.h"
#include "support/alloc_hook.h"
#include "support/scratch.h"
#include "support/sink_fault.h"
#include "support/sink_job.h"

static tz_error err;
static const tz_context ctx = {.name = "n", .err = &err, .ifd = -1};

static tz_sink *spool_of(tz_sink *sink, const char *directory)
{
    tz_sink *spool = NULL;
    if (tz_sink_open_spool(&spool, sink, directory, &ctx) != TZ_OK)
        fail_msg("%s", err.message);
    return spool;
}

static tz_result put(tz_sink *sink, uint64_t offset, const char *text)
{
    tz_bytes piece = {text, strlen(text)};
    return tz_sink_write(sink, offset, &piece, 1, &ctx);
}

/* Written and read in turn, as tiles are that wait; bytes that nobody wrote are zero. */
static tz_result use(tz_sink *spool)
{
    char back[8];
    TZ_TRY(put(spool, 0, "first"));
    TZ_TRY(tz_sink_read(spool, 1, back, 4, &ctx));
    assert_memory_equal(back, "irst", 4);
    TZ_TRY(put(spool, 7, "second"));
    TZ_TRY(tz_sink_read(spool, 4, back, 8, &ctx));
    assert_memory_equal(back, "t\0\0secon", 8);
    return TZ_OK;
}

static void check_spool(tz_sink *spool)
{
    char byte;
    assert_null(spool->insert);
    assert_null(spool->sync);
    assert_null(spool->commit);
    assert_int_equal(use(spool), TZ_OK);
    assert_int_equal(tz_sink_read(spool, 13, &byte, 1, &ctx), TZ_ERR_IO);
    assert_int_equal(err.cause, TZ_CAUSE_TRUNCATED);
    tz_sink_close(spool);
}

/* The file that descriptor fd of this process is: its folder. */
static bool is_in(int fd, const char *directory)
{
    char link[64];
    char target[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    long size = readlink(link, target, sizeof target - 1);
    assert_true(size > 0);
    target[size] = '\0';
    return strncmp(target, directory, strlen(directory)) == 0 && target[strlen(directory)] == '/';
}

static int descriptor(tz_sink *spool)
{
    return tz_file_sink_of(spool)->temporary.fd;
}

/* ---------------------------------------------------------------------------------------------
 * Where they are
 * ------------------------------------------------------------------------------------------ */

static void check_beside(void)
{
    tz_sink *sink = sink_job_open("file", false);
    size_t names = scratch_count(); /* the sink's own, where there are only such */
    tz_sink *spool = spool_of(sink, NULL);
    assert_true(is_in(descriptor(spool), scratch_folder()));
    tz_sink *second = spool_of(sink, NULL);
    assert_int_equal(scratch_count(), names);
    check_spool(spool);
    check_spool(second);
    sink_job_finish(sink);
    assert_true(sink_job_is_new("file"));
    assert_null(scratch_other_than("file"));
}

static void beside_a_file_it_has_no_name(void **state)
{
    (void)state;
    sink_fault_both_ways(check_beside);
}

static void check_public(void)
{
    tz_sink *spool = NULL;
    size_t names = scratch_count();
    assert_int_equal(tz_spool_sink_open(&spool, scratch_folder(), &err), TZ_OK);
    assert_true(is_in(descriptor(spool), scratch_folder()));
    assert_int_equal(scratch_count(), names);
    check_spool(spool);
    spool = NULL;
    assert_int_equal(tz_spool_sink_open(&spool, scratch_path("missing"), &err), TZ_ERR_IO);
    assert_int_equal(err.system_error, ENOENT);
    assert_int_equal(tz_spool_sink_open(&spool, scratch_path("missing"), NULL), TZ_ERR_IO);
    assert_null(spool);
}

static void of_the_callers_own_it_has_no_name(void **state)
{
    (void)state;
    sink_fault_both_ways(check_public);
}

static void check_directory(void)
{
    assert_int_equal(mkdir(scratch_path("wait"), 0700), 0);
    tz_sink *sink = sink_job_open("file", false);
    tz_memory memory = {0};
    tz_sink *into = NULL;
    assert_int_equal(tz_sink_open_memory(&into, &memory, &ctx), TZ_OK);
    tz_sink *const sinks[] = {sink, into, NULL};
    for (size_t i = 0; i < 3; i++) {
        tz_sink *spool = spool_of(sinks[i], scratch_path("wait"));
        assert_true(is_in(descriptor(spool), scratch_path("wait")));
        check_spool(spool);
    }
    tz_sink_close(into);
    tz_sink_close(sink);
    assert_int_equal(rmdir(scratch_path("wait")), 0); /* so it is empty */
}

static void a_directory_that_is_named_is_taken(void **state)
{
    (void)state;
    sink_fault_both_ways(check_directory);
}

static tz_result swallow(tz_sink *sink, uint64_t offset, const tz_bytes *pieces, size_t count,
                         tz_error *out)
{
    (void)sink, (void)offset, (void)pieces, (void)count, (void)out;
    return TZ_OK;
}

static void without_a_directory_the_environment_names_one(void **state)
{
    (void)state;
    const char *before = getenv("TMPDIR");
    char *kept = before ? strdup(before) : NULL;
    tz_sink callers = {.struct_size = sizeof callers, .write = swallow};
    assert_int_equal(setenv("TMPDIR", scratch_folder(), 1), 0);
    tz_sink *spool = spool_of(&callers, NULL);
    assert_true(is_in(descriptor(spool), scratch_folder()));
    check_spool(spool);
    assert_int_equal(setenv("TMPDIR", "", 1), 0);
    spool = spool_of(NULL, NULL);
    assert_true(is_in(descriptor(spool), "/tmp"));
    check_spool(spool);
    assert_int_equal(unsetenv("TMPDIR"), 0);
    spool = spool_of(&callers, NULL);
    assert_true(is_in(descriptor(spool), "/tmp"));
    check_spool(spool);
    if (kept)
        assert_int_equal(setenv("TMPDIR", kept, 1), 0);
    free(kept);
}

static void beside_memory_it_is_memory(void **state)
{
    (void)state;
    tz_memory memory = {0};
    tz_sink *sink = NULL;
    assert_int_equal(tz_sink_open_memory(&sink, &memory, &ctx), TZ_OK);
    size_t open_files = scratch_open_files();
    tz_sink *spool = spool_of(sink, NULL);
    assert_true(tz_sink_is_memory(spool));
    assert_int_equal(scratch_open_files(), open_files);
    check_spool(spool);
    tz_sink_close(sink);
    assert_null(memory.data);
}

static void nobody_else_may_read_it(void **state)
{
    (void)state;
    fault.no_unnamed = true;
    tz_sink *sink = sink_job_open("file", false);
    tz_sink *spool = spool_of(sink, NULL);
    struct stat status;
    assert_int_equal(fstat(descriptor(spool), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(status.st_nlink, 0);
    tz_sink_close(spool);
    tz_sink_close(sink);
}

/* ---------------------------------------------------------------------------------------------
 * Failures
 * ------------------------------------------------------------------------------------------ */

static void errors_name_the_directory(void **state)
{
    (void)state;
    tz_sink *spool = NULL;
    const char *missing = scratch_path("missing");
    assert_int_equal(tz_sink_open_spool(&spool, NULL, missing, &ctx), TZ_ERR_IO);
    assert_int_equal(err.system_error, ENOENT);
    assert_non_null(strstr(err.message, "n: the spool in /tmp/"));
    assert_non_null(strstr(err.message, "missing: cannot open the directory"));
    scratch_write("plain", "", 0);
    assert_int_equal(tz_sink_open_spool(&spool, NULL, scratch_path("plain"), &ctx), TZ_ERR_IO);
    assert_int_equal(err.system_error, ENOTDIR);
    assert_null(spool);
    fault.no_unnamed = true;
    sink_fault_fail("openat", 3, EROFS); /* the directory, a leftover, the file */
    assert_int_equal(tz_sink_open_spool(&spool, NULL, scratch_folder(), &ctx), TZ_ERR_IO);
    assert_int_equal(err.system_error, EROFS);
    assert_non_null(strstr(err.message, scratch_folder()));
    assert_non_null(strstr(err.message, "cannot create a temporary file"));
    fault.fail_at = 0;
    spool = spool_of(NULL, scratch_folder());
    sink_fault_fail("pwritev", 1, ENOSPC);
    assert_int_equal(put(spool, 5, "text"), TZ_ERR_IO);
    assert_int_equal(err.system_error, ENOSPC);
    assert_non_null(strstr(err.message, scratch_folder()));
    assert_non_null(strstr(err.message, "cannot write 4 bytes ("));
    sink_fault_fail("pread", 1, EIO);
    char byte;
    assert_int_equal(tz_sink_read(spool, 0, &byte, 1, &ctx), TZ_ERR_IO);
    assert_non_null(strstr(err.message, scratch_folder()));
    tz_sink_close(spool);
    tz_sink *sink = sink_job_open("file", false);
    spool = spool_of(sink, NULL);
    sink_fault_fail("pwritev", 1, EIO);
    assert_int_equal(put(spool, 0, "text"), TZ_ERR_IO);
    assert_non_null(strstr(err.message, "n: the spool beside it: cannot write 4 bytes ("));
    tz_sink_close(spool);
    tz_sink_close(sink);
}

static tz_result open_and_use(tz_sink *sink, const char *directory)
{
    tz_sink *spool = NULL;
    TZ_TRY(tz_sink_open_spool(&spool, sink, directory, &ctx));
    tz_result result = use(spool);
    tz_sink_close(spool);
    return result;
}

/* These have another way, or nothing depends on them; see test_io_sink_faults. Files are opened
 * also to see whether they are leftovers. */
static bool is_bearable(const char *call)
{
    static const char *const calls[] = {"open_unnamed", "fstat",    "fstatat of /proc", "lock",
                                        "close",        "unlinkat", "free_space",       "openat"};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(call, calls[i]) == 0)
            return true;
    return false;
}

static void each_call_fails_in_turn(bool beside, int error_number)
{
    bool no_unnamed = fault.no_unnamed;
    for (int n = 1, failures = 1; failures > 0; n++) {
        sink_fault_install();
        fault.no_unnamed = no_unnamed;
        fault.no_disk = true;
        tz_sink *sink = beside ? sink_job_open("file", false) : NULL;
        size_t open_files = scratch_open_files();
        size_t names = scratch_count();
        sink_fault_fail(NULL, n, error_number);
        tz_result result = open_and_use(sink, beside ? NULL : scratch_folder());
        failures = fault.failures;
        fault.fail_at = 0;
        if (failures > 0 && result == TZ_OK && error_number != EINTR && !is_bearable(fault.failed))
            fail_msg("call %d, %s: a failure went unnoticed", n, fault.failed);
        if (result != TZ_OK)
            assert_true(result == TZ_ERR_IO && err.system_error == error_number);
        assert_int_equal(scratch_open_files(), open_files);
        assert_int_equal(scratch_count(), names);
        if (beside)
            sink_job_finish(sink); /* a spool that failed is not the file's failure */
        (void)unlink(scratch_path("file"));
        assert_int_equal(scratch_count(), 0);
    }
}

static void check_faults(void)
{
    static const int errors[] = {EIO, ENOSPC, EINTR};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        each_call_fails_in_turn(true, errors[i]);
        each_call_fails_in_turn(false, errors[i]);
    }
}

static void every_call_that_fails_is_an_error_or_bearable(void **state)
{
    (void)state;
    sink_fault_both_ways(check_faults);
}

static void short_writes_and_reads_are_gone_on_with(void **state)
{
    (void)state;
    fault.most_written = fault.most_read = 2;
    check_spool(spool_of(NULL, scratch_folder()));
}

static void after_a_write_that_failed_none_succeeds(void **state)
{
    (void)state;
    tz_sink *spool = spool_of(NULL, scratch_folder());
    sink_fault_fail("pwritev", 1, EIO);
    assert_int_equal(put(spool, 0, "text"), TZ_ERR_IO);
    assert_int_equal(put(spool, 0, "text"), TZ_ERR_ARG);
    tz_sink_close(spool);
}

static void every_allocation_that_fails_is_nomem(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        uint64_t failures = 1;
        for (uint64_t n = 1; failures > 0; n++) {
            tz_memory memory = {0};
            tz_sink *sink = NULL;
            if (kind == 0)
                sink = sink_job_open("file", false);
            else if (kind == 1)
                assert_int_equal(tz_sink_open_memory(&sink, &memory, &ctx), TZ_OK);
            alloc_hook_install();
            alloc_hook_fail_at(n, false);
            tz_result result = open_and_use(sink, kind == 2 ? scratch_folder() : NULL);
            failures = alloc_hook_stats().failures;
            assert_int_equal(result, failures > 0 ? TZ_ERR_NOMEM : TZ_OK);
            assert_int_equal(alloc_hook_stats().live_bytes, 0);
            alloc_hook_remove();
            tz_sink_close(sink);
            assert_int_equal(scratch_count(), 0);
        }
    }
}

/* ---------------------------------------------------------------------------------------------
 * Killed
 * ------------------------------------------------------------------------------------------ */

/* A child makes a spool and is killed at one call; false when it came to its end. */
static bool spool_and_be_killed(bool beside, bool no_unnamed, int before, int after)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        sink_fault_install();
        fault.no_unnamed = no_unnamed;
        fault.kill_before = before;
        fault.kill_after = after;
        tz_sink *sink = NULL;
        tz_result result =
            beside ? tz_sink_open_file(&sink, scratch_path("file"), false, false, &ctx) : TZ_OK;
        if (result == TZ_OK)
            result = open_and_use(sink, beside ? NULL : scratch_folder());
        tz_sink_close(sink);
        _exit(result == TZ_OK ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        return true;
    assert_int_equal(WEXITSTATUS(status), 0);
    return false;
}

/* Whatever its own directory is, it bears the name of the file that it is for. */
static void check_leftover_elsewhere(void)
{
    assert_int_equal(mkdir(scratch_path("wait"), 0700), 0);
    scratch_write("wait/.file.tz00.part", "left", 4);
    scratch_write("wait/.file.tz01.part", "left", 4);
    tz_sink *sink = sink_job_open("file", false);
    tz_sink_close(spool_of(sink, scratch_path("wait")));
    tz_sink_close(sink);
    assert_int_equal(rmdir(scratch_path("wait")), 0); /* so it is empty */
}

static void the_next_spool_removes_what_one_left_in_another_directory(void **state)
{
    (void)state;
    sink_fault_both_ways(check_leftover_elsewhere);
}

static void clean(size_t left)
{
    uint64_t removed = 0;
    assert_int_equal(tz_clean(&removed, scratch_folder(), 0, NULL, NULL, NULL, &err), TZ_OK);
    assert_int_equal(removed, left);
}

static size_t kill_everywhere(bool beside, bool no_unnamed, bool after, bool cleaning)
{
    size_t most = 0;
    for (int n = 1; spool_and_be_killed(beside, no_unnamed, after ? 0 : n, after ? n : 0); n++) {
        size_t left = scratch_count();
        if (left > most)
            most = left;
        if (cleaning || !beside)
            clean(left);
        else
            sink_job_must_run("file");
        (void)unlink(scratch_path("file"));
        assert_int_equal(scratch_count(), 0);
    }
    assert_int_equal(scratch_count(), 0);
    return most;
}

/* Without files that have no name, the file and its spool may both be left. */
static void what_a_kill_leaves_is_removed_by_the_next_write_and_by_cleaning(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++) {
        for (int cleaning = 0; cleaning < 2; cleaning++) {
            assert_int_equal(kill_everywhere(true, false, after, cleaning), 0);
            assert_int_equal(kill_everywhere(true, true, after, cleaning), 2);
            assert_int_equal(kill_everywhere(false, false, after, cleaning), 0);
            assert_int_equal(kill_everywhere(false, true, after, cleaning), 1);
        }
    }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, sink_fault_begin, sink_fault_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(beside_a_file_it_has_no_name),
        CASE(of_the_callers_own_it_has_no_name),
        CASE(a_directory_that_is_named_is_taken),
        CASE(without_a_directory_the_environment_names_one),
        CASE(beside_memory_it_is_memory),
        CASE(nobody_else_may_read_it),
        CASE(errors_name_the_directory),
        CASE(every_call_that_fails_is_an_error_or_bearable),
        CASE(short_writes_and_reads_are_gone_on_with),
        CASE(after_a_write_that_failed_none_succeeds),
        CASE(every_allocation_that_fails_is_nomem),
        CASE(the_next_spool_removes_what_one_left_in_another_directory),
        CASE(what_a_kill_leaves_is_removed_by_the_next_write_and_by_cleaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
