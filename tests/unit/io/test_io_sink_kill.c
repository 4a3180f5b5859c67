/* SPDX-License-Identifier: Apache-2.0
 * A write that is killed before or after any of its system calls: the destination is absent, old or
 * complete, what is left bears a name of ours, and the next write or tz_clean removes it. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/sink_file.h"
#include "support/scratch.h"
#include "support/sink_fault.h"
#include "support/sink_job.h"

typedef struct way {
    bool old;
    bool read_only; /* the old one may not be written to */
    bool exclusive;
    bool no_unnamed;
    bool no_rename_new;
} way;

static const way ways[] = {
    {.old = false},
    {.no_unnamed = true},
    {.old = true},
    {.old = true, .no_unnamed = true},
    {.old = true, .read_only = true},
    {.old = true, .read_only = true, .no_unnamed = true},
    {.exclusive = true},
    {.exclusive = true, .no_unnamed = true},
    {.exclusive = true, .no_unnamed = true, .no_rename_new = true},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static void set_up(const way *how)
{
    sink_fault_install();
    fault.no_disk = true; /* what is killed is the process, not the machine */
    fault.no_unnamed = how->no_unnamed;
    fault.no_rename_new = how->no_rename_new;
}

/* A child writes and is killed at one call; false when it came to its end. */
static bool write_and_be_killed(const way *how, int before, int after)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        set_up(how);
        fault.kill_before = before;
        fault.kill_after = after;
        tz_error err;
        _exit(sink_job_run("file", how->exclusive, false, &err) == TZ_OK ? 0 : 1);
    }
    int status;
    pid_t ended;
    do {
        ended = waitpid(child, &status, 0);
    } while (ended < 0 && errno == EINTR);
    assert_int_equal(ended, child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return true;
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    return false;
}

static void make_destination(const way *how)
{
    (void)unlink(scratch_path("file"));
    if (!how->old)
        return;
    sink_job_make_old("file");
    assert_int_equal(chmod(scratch_path("file"), how->read_only ? 0400 : 0600), 0);
}

/* Returns how many files are left beside the destination. */
static size_t check_what_is_left(const way *how)
{
    const char *other = scratch_other_than("file");
    bool exists = scratch_exists("file");
    if (!sink_job_is_new("file"))
        assert_true(how->old ? sink_job_is_old("file") : !exists);
    if (other)
        assert_true(tz_is_temporary_name(other));
    size_t left = scratch_count() - (exists ? 1 : 0);
    assert_in_range(left, 0, 1);
    return left;
}

static void next_write_removes(const way *how)
{
    tz_error err;
    set_up(how);
    if (sink_job_run("file", false, false, &err) != TZ_OK)
        fail_msg("%s", err.message);
    sink_fault_remove();
    assert_true(sink_job_is_new("file"));
    assert_null(scratch_other_than("file"));
}

static void cleaning_removes(size_t left)
{
    tz_error err;
    uint64_t removed = 0;
    assert_int_equal(tz_clean(&removed, scratch_folder(), 0, NULL, NULL, NULL, &err), TZ_OK);
    assert_int_equal(removed, left);
    assert_null(scratch_other_than("file"));
}

typedef enum remedy_kind { NEXT_WRITE, CLEANING, REMEDIES } remedy_kind;

/* Returns how often something was left. */
static size_t kill_everywhere(const way *how, remedy_kind remedy, bool after)
{
    size_t leftovers = 0;
    for (int n = 1;; n += SINK_DEATH_STEP) {
        make_destination(how);
        if (!write_and_be_killed(how, after ? 0 : n, after ? n : 0))
            break;
        size_t left = check_what_is_left(how);
        leftovers += left;
        if (remedy == NEXT_WRITE)
            next_write_removes(how);
        else
            cleaning_removes(left);
    }
    assert_true(sink_job_is_new("file"));
    assert_null(scratch_other_than("file"));
    return leftovers;
}

static void a_killed_write_leaves_no_damage_and_its_rest_is_removed(void **state)
{
    (void)state;
    size_t leftovers = 0;
    for (size_t i = 0; i < WAYS; i++)
        for (int remedy = 0; remedy < REMEDIES; remedy++)
            for (int after = 0; after < 2; after++)
                leftovers += kill_everywhere(&ways[i], (remedy_kind)remedy, after != 0);
    assert_true(leftovers > 0); /* or nothing was tested */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_killed_write_leaves_no_damage_and_its_rest_is_removed,
                                        scratch_begin, scratch_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
