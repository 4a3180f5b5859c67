/* SPDX-License-Identifier: Apache-2.0
 * The file sink when system calls fail: each of them in turn, in every way that a file is made.
 * Afterwards the destination is absent or old, or the call's failure was bearable and it is new;
 * and nothing else is left. */
#define _GNU_SOURCE /* xattr */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/alloc_hook.h"
#include "support/scratch.h"
#include "support/sink_fault.h"
#include "support/sink_job.h"

static tz_error err;

/* The ways in which a file is made. */
typedef struct way {
    const char *title;
    bool old; /* it replaces one, with owner and attributes of its own */
    bool leftover;
    bool exclusive;
    bool no_unnamed;
    bool no_rename_new;
} way;

static const way ways[] = {
    {.title = "new, without a name"},
    {.title = "new, with a name", .no_unnamed = true},
    {.title = "replaced, without a name", .old = true},
    {.title = "replaced, with a name", .old = true, .no_unnamed = true},
    {.title = "exclusive, without a name", .exclusive = true},
    {.title = "exclusive, with a name", .exclusive = true, .no_unnamed = true},
    {.title = "exclusive, by a link", .exclusive = true, .no_unnamed = true, .no_rename_new = true},
    {.title = "replaced beside a leftover, without a name", .old = true, .leftover = true},
    {.title = "new beside a leftover, with a name", .leftover = true, .no_unnamed = true},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static void prepare(const way *how)
{
    sink_fault_install();
    fault.no_disk = true;
    fault.no_unnamed = how->no_unnamed;
    fault.no_rename_new = how->no_rename_new;
    (void)unlink(scratch_path("file"));
    if (how->leftover)
        scratch_write(".file.tz00.part", "left", 4);
    if (!how->old)
        return;
    sink_job_make_old("file");
    const char *path = scratch_path("file");
    assert_int_equal(chmod(path, 0640), 0);
    (void)setxattr(path, "user.note", "kept", 4, 0); /* where there are such */
    if (geteuid() == 0)
        assert_int_equal(chown(path, 1234, 2345), 0);
}

static tz_result run(const way *how)
{
    size_t open_files = scratch_open_files();
    err = (tz_error){.result = TZ_OK};
    tz_result result = sink_job_run("file", how->exclusive, false, &err);
    assert_int_equal(scratch_open_files(), open_files);
    return result;
}

static bool is_among(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

static bool is_as_before(const way *how)
{
    return how->old ? sink_job_is_old("file") : !scratch_exists("file");
}

static void check_outcome(const way *how, tz_result result, int n)
{
    bool fresh = sink_job_is_new("file");
    if (result == TZ_OK ? !fresh : !fresh && !is_as_before(how))
        fail_msg("%s: call %d, %s: the destination is damaged", how->title, n, fault.failed);
    if (result != TZ_OK && fresh && !strstr(err.message, "is complete, but may not survive"))
        fail_msg("%s: call %d, %s: published and failed", how->title, n, fault.failed);
    if (result != TZ_OK &&
        (result != TZ_ERR_IO || err.result != TZ_ERR_IO || err.system_error != fault.error))
        fail_msg("%s: call %d, %s: %s", how->title, n, fault.failed, err.message);
}

/* The failure of any of these is bearable: there is another way, or nothing depends on it.
 *   open_unnamed, and lock, fstat and fstatat of /proc after it: the way with a name is taken;
 *   close: of what was only read, or is on the disk already;
 *   unlinkat: the second name of a file that was published by a link stays. */
static const char *const bearable[] = {"open_unnamed", "fstat", "fstatat of /proc", "lock", "close",
                                       "unlinkat",     NULL};
/* And those that look for a leftover, which then stays. */
static const char *const of_leftovers[] = {"openat", "fstatat", NULL};

static void each_call_fails_in_turn(const way *how, int error_number)
{
    for (int n = 1;; n++) {
        prepare(how);
        fault.fail_at = n;
        fault.error = error_number;
        tz_result result = run(how);
        if (fault.failures == 0) {
            assert_int_equal(result, TZ_OK);
            break;
        }
        check_outcome(how, result, n);
        bool borne = is_among(fault.failed, bearable) || is_among(fault.failed, of_leftovers);
        if (result == TZ_OK && !borne)
            fail_msg("%s: call %d, %s: a failure went unnoticed", how->title, n, fault.failed);
        const char *other = scratch_other_than("file");
        if (other && !how->leftover && strcmp(fault.failed, "unlinkat") != 0)
            fail_msg("%s: call %d, %s: %s is left", how->title, n, fault.failed, other);
        if (other)
            assert_int_equal(unlink(scratch_path(other)), 0);
        assert_null(scratch_other_than("file"));
    }
}

static void every_call_that_fails_is_an_error_or_bearable(void **state)
{
    (void)state;
    static const int errors[] = {EIO, ENOSPC, EDQUOT, ENOMEM, ESTALE};
    for (size_t i = 0; i < WAYS; i++)
        for (size_t k = 0; k < sizeof errors / sizeof errors[0]; k++)
            each_call_fails_in_turn(&ways[i], errors[k]);
}

/* Nothing works any more from some call on: nor does cleaning up. The next write does that. */
static void after_all_calls_failed_the_next_write_cleans_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        for (int n = 1, failures = 1; failures > 0; n++) {
            prepare(&ways[i]);
            fault.fail_at = n;
            fault.error = EIO;
            fault.persistent = true;
            tz_result result = run(&ways[i]);
            failures = fault.failures;
            if (failures > 0)
                check_outcome(&ways[i], result, n);
            sink_fault_install();
            fault.no_disk = true;
            fault.no_unnamed = ways[i].no_unnamed;
            assert_int_equal(sink_job_run("file", false, false, &err), TZ_OK);
            assert_true(sink_job_is_new("file"));
            const char *other = scratch_other_than("file");
            if (other)
                fail_msg("%s: call %d: %s is left", ways[i].title, n, other);
        }
    }
}

/* Calls that signals do not interrupt, or whose interruption is as bad as any failure. */
static const char *const uninterrupted[] = {"fsync",        "fstat",  "readlinkat", "flistxattr",
                                            "fgetxattr",    "dup",    "fsetxattr",  "linkat",
                                            "fremovexattr", "rename", "rename_new", NULL};

static void interrupted_calls_are_made_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        for (int n = 1, failures = 1; failures > 0; n++) {
            prepare(&ways[i]);
            fault.fail_at = n;
            fault.error = EINTR;
            tz_result result = run(&ways[i]);
            failures = fault.failures;
            if (result != TZ_OK && !is_among(fault.failed, uninterrupted))
                fail_msg("%s: call %d, %s: %s", ways[i].title, n, fault.failed, err.message);
            if (failures > 0)
                check_outcome(&ways[i], result, n);
        }
    }
}

static void every_allocation_that_fails_is_nomem(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        for (uint64_t n = 1, failures = 1; failures > 0; n++) {
            prepare(&ways[i]);
            alloc_hook_install();
            alloc_hook_fail_at(n, false);
            tz_result result = run(&ways[i]);
            failures = alloc_hook_stats().failures;
            assert_int_equal(result, failures > 0 ? TZ_ERR_NOMEM : TZ_OK);
            assert_int_equal(alloc_hook_stats().live_bytes, 0);
            alloc_hook_remove();
            assert_true(failures > 0 ? is_as_before(&ways[i]) : sink_job_is_new("file"));
            const char *other = scratch_other_than("file");
            assert_true(!other || (ways[i].leftover && failures > 0)); /* not even looked for */
        }
    }
}

/* ---------------------------------------------------------------------------------------------
 * What the messages say
 * ------------------------------------------------------------------------------------------ */

static void a_full_disk_is_reported_with_what_was_needed_and_what_is_free(void **state)
{
    (void)state;
    sink_fault_fail("pwritev", 2, ENOSPC);
    assert_int_equal(sink_job_run("file", false, false, &err), TZ_ERR_IO);
    assert_int_equal(err.system_error, ENOSPC);
    assert_int_equal(err.offset, 6000);
    assert_non_null(strstr(err.message, "file: cannot write 3000 bytes ("));
    assert_non_null(strstr(err.message, " are free)"));
    assert_int_equal(scratch_count(), 0);
}

/* The command ignores SIGXFSZ; the library leaves signals alone. */
static void a_limit_on_the_size_of_files_is_efbig(void **state)
{
    (void)state;
    sink_job_make_old("file");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit limit = {5000, 5000};
        if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &limit) != 0)
            _exit(2);
        tz_result result = sink_job_run("file", false, false, &err);
        _exit(result == TZ_ERR_IO && err.system_error == EFBIG ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(sink_job_is_old("file"));
    assert_null(scratch_other_than("file"));
}

static void an_error_of_close_counts_before_the_file_is_published(void **state)
{
    (void)state;
    sink_fault_fail("close of the copy", 1, EDQUOT);
    sink_job_make_old("file");
    assert_int_equal(sink_job_run("file", false, false, &err), TZ_ERR_IO);
    assert_int_equal(err.system_error, EDQUOT);
    assert_true(sink_job_is_old("file"));
}

static void fsync_is_never_tried_again(void **state)
{
    (void)state;
    tz_context ctx = {.name = "n", .err = &err, .ifd = -1};
    tz_sink *sink = NULL;
    sink_fault_fail("fsync", 1, EIO);
    assert_int_equal(tz_sink_open_file(&sink, scratch_path("file"), false, false, &ctx), TZ_OK);
    assert_int_equal(sink_job_fill(sink, &ctx), TZ_ERR_IO);
    assert_non_null(strstr(err.message, "cannot bring 10000 bytes to the disk"));
    assert_int_equal(tz_sink_sync(sink, SINK_JOB_SIZE, &ctx), TZ_ERR_ARG);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_ERR_ARG);
    assert_int_equal(fault.calls, 1);
    tz_sink_close(sink);
    assert_int_equal(scratch_count(), 0);
}

static void a_lock_that_fails_is_an_error_unless_there_are_none(void **state)
{
    (void)state;
    fault.no_unnamed = true;
    sink_fault_fail("lock", 1, EIO);
    assert_int_equal(sink_job_run("file", false, false, &err), TZ_ERR_IO);
    assert_int_equal(err.system_error, EIO);
    assert_int_equal(scratch_count(), 0);
    static const int errors[] = {ENOLCK, ENOTSUP, ENOSYS};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        sink_fault_fail("lock", 1, errors[i]);
        fault.persistent = true;
        fault.no_unnamed = i % 2 == 0;
        sink_job_must_run("file");
        assert_null(scratch_other_than("file"));
    }
}

static void a_directory_that_cannot_be_synced_is_reported_after_a_complete_file(void **state)
{
    (void)state;
    sink_fault_fail("fsync of the directory", 1, EIO);
    assert_int_equal(sink_job_run("file", false, false, &err), TZ_ERR_IO);
    assert_int_equal(err.system_error, EIO);
    assert_non_null(strstr(err.message, "is complete, but may not survive a power failure"));
    assert_true(sink_job_is_new("file"));
    sink_fault_fail("fsync of the directory", 1, EINVAL); /* the file system knows no such thing */
    assert_int_equal(sink_job_run("file", false, false, &err), TZ_OK);
}

static void errors_may_go_unsaid(void **state)
{
    (void)state;
    sink_fault_fail("pwritev", 1, EIO);
    assert_int_equal(sink_job_run("file", false, false, NULL), TZ_ERR_IO);
    sink_fault_fail("readlinkat", 1, EIO);
    assert_int_equal(sink_job_run("file", false, false, NULL), TZ_ERR_IO);
    sink_fault_remove();
    assert_int_equal(sink_job_run(".", false, false, NULL), TZ_ERR_IO);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, sink_fault_begin, sink_fault_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(every_call_that_fails_is_an_error_or_bearable),
        CASE(after_all_calls_failed_the_next_write_cleans_up),
        CASE(interrupted_calls_are_made_again),
        CASE(every_allocation_that_fails_is_nomem),
        CASE(a_full_disk_is_reported_with_what_was_needed_and_what_is_free),
        CASE(a_limit_on_the_size_of_files_is_efbig),
        CASE(an_error_of_close_counts_before_the_file_is_published),
        CASE(fsync_is_never_tried_again),
        CASE(a_lock_that_fails_is_an_error_unless_there_are_none),
        CASE(a_directory_that_cannot_be_synced_is_reported_after_a_complete_file),
        CASE(errors_may_go_unsaid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
