/* SPDX-License-Identifier: Apache-2.0
 * Who may do what with a file that was written: a new one is as any new file, and one that replaces
 * another is as that was, or narrower where that cannot be. */
#define _GNU_SOURCE /* xattr */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/scratch.h"
#include "support/sink_fault.h"
#include "support/sink_job.h"

#define ACL         "system.posix_acl_access"
#define DEFAULT_ACL "system.posix_acl_default"

static tz_error err;

static int begin(void **state)
{
    int failed = sink_fault_begin(state);
    fault.no_disk = true;
    return failed;
}

static struct stat look(const char *name)
{
    struct stat status;
    assert_int_equal(lstat(scratch_path(name), &status), 0);
    return status;
}

static unsigned mode_of(const char *name)
{
    return look(name).st_mode & 07777;
}

static void make_old(unsigned mode)
{
    (void)unlink(scratch_path("file"));
    sink_job_make_old("file");
    assert_int_equal(chmod(scratch_path("file"), mode), 0);
}

static void must_write(void)
{
    sink_job_must_run("file");
    assert_null(scratch_other_than("file"));
}

/* From the n-th call of this name on, all of them fail. */
static void fail_from(const char *call, int n, int error_number)
{
    sink_fault_fail(call, n, error_number);
    fault.persistent = true;
}

/* ---------------------------------------------------------------------------------------------
 * Permissions
 * ------------------------------------------------------------------------------------------ */

static void check_umask(void)
{
    static const unsigned masks[] = {022, 027, 077, 0, 0777};
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        (void)unlink(scratch_path("file"));
        mode_t before = umask((mode_t)masks[i]);
        tz_result result = sink_job_run("file", false, false, &err);
        umask(before);
        assert_int_equal(result, TZ_OK);
        assert_int_equal(mode_of("file"), 0666 & ~masks[i]);
    }
}

static void a_new_file_has_the_permissions_of_the_umask(void **state)
{
    (void)state;
    sink_fault_both_ways(check_umask);
}

static void check_modes(void)
{
    static const unsigned modes[] = {0600, 0640, 0644, 0664, 0666, 0444, 0755, 0400, 0};
    mode_t before = umask(027);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        make_old(modes[i]);
        tz_result result = sink_job_run("file", false, false, &err);
        if (result != TZ_OK)
            fail_msg("%03o: %s", modes[i], err.message);
        bool readable = geteuid() == 0 || (modes[i] & 0400);
        assert_int_equal(mode_of("file"), readable ? modes[i] : modes[i] & 0700);
    }
    make_old(06755); /* bits that make programs run as somebody else are not for images */
    must_write();
    assert_int_equal(mode_of("file"), 0755);
    umask(before);
}

static void a_replaced_file_keeps_its_permissions(void **state)
{
    (void)state;
    sink_fault_both_ways(check_modes);
}

static void while_it_is_written_nobody_else_may_read_it(void **state)
{
    (void)state;
    tz_context ctx = {.name = "n", .err = &err, .ifd = -1};
    tz_sink *sink = NULL;
    fault.no_unnamed = true;
    make_old(0600);
    assert_int_equal(tz_sink_open_file(&sink, scratch_path("file"), false, false, &ctx), TZ_OK);
    assert_int_equal(mode_of(".file.tz00.part"), 0600);
    tz_sink_close(sink);
}

static void check_late_change(void)
{
    tz_context ctx = {.name = "n", .err = &err, .ifd = -1};
    tz_sink *sink = NULL;
    make_old(0644);
    assert_int_equal(tz_sink_open_file(&sink, scratch_path("file"), false, false, &ctx), TZ_OK);
    assert_int_equal(sink_job_fill(sink, &ctx), TZ_OK);
    assert_int_equal(chmod(scratch_path("file"), 0600), 0);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_int_equal(mode_of("file"), 0600);

    (void)unlink(scratch_path("file"));
    assert_int_equal(tz_sink_open_file(&sink, scratch_path("file"), false, false, &ctx), TZ_OK);
    assert_int_equal(sink_job_fill(sink, &ctx), TZ_OK);
    make_old(0600); /* appears between sync and commit */
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_int_equal(mode_of("file"), 0600);
}

static void what_changes_between_sync_and_commit_counts(void **state)
{
    (void)state;
    sink_fault_both_ways(check_late_change);
}

static int opens;

/* The third open of a write is that of the old file: the first two are of its directory and of a
 * leftover. */
static void remove_before_third_open(const char *call)
{
    if (strcmp(call, "openat") == 0 && ++opens == 3)
        assert_int_equal(unlink(scratch_path("file")), 0);
}

static void an_old_file_that_goes_away_just_then_is_not_missed(void **state)
{
    (void)state;
    make_old(0600);
    opens = 0;
    fault.before = remove_before_third_open;
    mode_t before = umask(022);
    must_write();
    umask(before);
    assert_true(opens >= 3);
    assert_int_equal(mode_of("file"), 0644);
}

static void permissions_that_cannot_be_set_are_an_error_only_where_they_are_too_wide(void **state)
{
    (void)state;
    fault.no_unnamed = true; /* made as 0600 */
    make_old(0644);
    fail_from("fchmod", 1, EPERM);
    must_write();
    assert_int_equal(mode_of("file"), 0600);
    make_old(0400);
    fail_from("fchmod", 1, EPERM);
    assert_int_equal(sink_job_run("file", false, false, &err), TZ_ERR_IO);
    assert_int_equal(err.system_error, EPERM);
    assert_non_null(strstr(err.message, "cannot set permissions to 400"));
    assert_true(sink_job_is_old("file") || geteuid() != 0);
}

/* ---------------------------------------------------------------------------------------------
 * Owner and group
 * ------------------------------------------------------------------------------------------ */

static void need_root(void)
{
    if (geteuid() == 0)
        return;
    print_message("skip: only root can make files of other users\n");
    skip();
}

static void make_theirs(unsigned mode)
{
    make_old(mode);
    assert_int_equal(chown(scratch_path("file"), 1234, 2345), 0);
}

static void check_owner(void)
{
    make_theirs(0640);
    must_write();
    assert_int_equal(look("file").st_uid, 1234);
    assert_int_equal(look("file").st_gid, 2345);
    assert_int_equal(mode_of("file"), 0640);
}

static void root_keeps_owner_and_group(void **state)
{
    (void)state;
    need_root();
    sink_fault_both_ways(check_owner);
}

static void check_group_lost(void)
{
    static const struct {
        unsigned old, kept;
    } modes[] = {{0664, 0604}, {0640, 0600}, {0644, 0604},
                 {0604, 0600}, {0777, 0707}, {0600, 0600}};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        make_theirs(modes[i].old);
        fail_from("fchown", 1, EPERM);
        must_write();
        assert_int_equal(look("file").st_uid, geteuid());
        assert_int_equal(mode_of("file"), modes[i].kept);
    }
    make_theirs(0664);
    sink_fault_fail("fchown", 1, EPERM);
    fault.persistent = false; /* the group alone can be kept */
    must_write();
    assert_int_equal(look("file").st_uid, geteuid());
    assert_int_equal(look("file").st_gid, 2345);
    assert_int_equal(mode_of("file"), 0664);
}

static void a_group_that_cannot_be_kept_loses_its_permissions(void **state)
{
    (void)state;
    need_root();
    sink_fault_both_ways(check_group_lost);
}

/* In a child that is no longer root, in a folder where it may replace files. */
static int write_as_other(void)
{
    assert_int_equal(chmod(scratch_folder(), 0777), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (setegid(3456) != 0 || seteuid(3456) != 0)
            _exit(2);
        _exit(sink_job_run("file", false, false, &err) == TZ_OK ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_others_file(void)
{
    make_theirs(0644);
    assert_int_equal(write_as_other(), 0);
    assert_true(sink_job_is_new("file"));
    assert_int_equal(look("file").st_uid, 3456);
    assert_int_equal(mode_of("file"), 0604);
    make_theirs(0640); /* may not even be read */
    assert_int_equal(write_as_other(), 0);
    assert_int_equal(look("file").st_uid, 3456);
    assert_int_equal(mode_of("file"), 0600);
}

static void who_replaces_a_file_of_another_becomes_its_owner(void **state)
{
    (void)state;
    need_root();
    sink_fault_both_ways(check_others_file);
}

/* ---------------------------------------------------------------------------------------------
 * Attributes and access lists
 * ------------------------------------------------------------------------------------------ */

static bool has_attribute(const char *name, const void *value, size_t size)
{
    char found[1000];
    ssize_t got = getxattr(scratch_path("file"), name, found, sizeof found);
    return got == (ssize_t)size && memcmp(found, value, size) == 0;
}

static void check_attributes(void)
{
    make_old(0644);
    const char *path = scratch_path("file");
    if (setxattr(path, "user.one", "1", 1, 0) != 0 && errno == ENOTSUP) {
        print_message("skip: the file system has no user attributes\n");
        skip();
    }
    assert_int_equal(setxattr(path, "user.empty", "", 0, 0), 0);
    must_write();
    assert_true(has_attribute("user.one", "1", 1));
    assert_true(has_attribute("user.empty", "", 0));

    make_old(0644);
    assert_int_equal(setxattr(path, "user.one", "1", 1, 0), 0);
    fail_from("fsetxattr", 1, EPERM);
    must_write(); /* without it */
    assert_false(has_attribute("user.one", "1", 1));

    assert_int_equal(setxattr(path, "user.one", "1", 1, 0), 0);
    fail_from("fsetxattr", 1, ENOSPC);
    assert_int_equal(sink_job_run("file", false, false, &err), TZ_ERR_IO);
    assert_int_equal(err.system_error, ENOSPC);
    assert_non_null(strstr(err.message, "user.one"));
    assert_true(has_attribute("user.one", "1", 1));
    sink_fault_fail("fgetxattr", 1, ENODATA); /* it went away between list and look */
    fault.persistent = false;
    must_write();
    assert_false(has_attribute("user.one", "1", 1));
}

static void user_attributes_are_kept_where_that_can_be(void **state)
{
    (void)state;
    sink_fault_both_ways(check_attributes);
}

/* Linux' form of a list: version, then tag, permissions and id of each entry. This one lets user
 * 4567 read and write, and the owning group nothing; as a mode it looks like 0660. */
static const unsigned char acl[] = {
    2,    0, 0, 0,                                     /* version 2 */
    0x01, 0, 6, 0, 0xff,        0xff,      0xff, 0xff, /* owner rw- */
    0x02, 0, 6, 0, 4567 & 0xff, 4567 >> 8, 0,    0,    /* user 4567 rw- */
    0x04, 0, 0, 0, 0xff,        0xff,      0xff, 0xff, /* group --- */
    0x10, 0, 6, 0, 0xff,        0xff,      0xff, 0xff, /* mask rw- */
    0x20, 0, 0, 0, 0xff,        0xff,      0xff, 0xff, /* others --- */
};

static void make_old_with_acl(void)
{
    make_old(0600);
    if (setxattr(scratch_path("file"), ACL, acl, sizeof acl, 0) != 0) {
        assert_int_equal(errno, ENOTSUP);
        print_message("skip: the file system has no access lists\n");
        skip();
    }
    assert_int_equal(mode_of("file"), 0660);
}

static void check_acl(void)
{
    make_old_with_acl();
    must_write();
    assert_true(has_attribute(ACL, acl, sizeof acl));
    assert_int_equal(mode_of("file"), 0660);

    static const int errors[] = {EPERM, ENOTSUP};
    for (size_t i = 0; i < 2; i++) {
        make_old_with_acl();
        fail_from("fsetxattr", 1, errors[i]);
        must_write();
        assert_int_equal(mode_of("file"), 0600); /* and not the group's rw- */
    }
    make_old_with_acl();
    fail_from("fgetxattr", 1, ERANGE);
    must_write();
    assert_int_equal(mode_of("file"), 0600);
    make_old_with_acl();
    fail_from("fsetxattr", 1, EIO);
    assert_int_equal(sink_job_run("file", false, false, &err), TZ_ERR_IO);
    assert_int_equal(err.system_error, EIO);
    assert_true(sink_job_is_old("file"));
    make_old(0644); /* a list of the directory's that cannot be removed */
    fail_from("fremovexattr", 1, EPERM);
    must_write();
    assert_int_equal(mode_of("file"), 0600);
}

static void an_access_list_is_kept_or_nobody_else_gets_in(void **state)
{
    (void)state;
    sink_fault_both_ways(check_acl);
}

static void an_access_list_is_lost_with_the_group(void **state)
{
    (void)state;
    need_root();
    make_old_with_acl();
    assert_int_equal(chown(scratch_path("file"), 1234, 2345), 0);
    fail_from("fchown", 1, EPERM);
    must_write();
    assert_int_equal(mode_of("file"), 0600);
    assert_false(has_attribute(ACL, acl, sizeof acl));
}

static void check_default_acl(void)
{
    (void)unlink(scratch_path("file"));
    must_write();
    assert_true(has_attribute(ACL, acl, sizeof acl)); /* as any new file there gets it */
    make_old(0640);
    assert_int_equal(removexattr(scratch_path("file"), ACL), 0);
    assert_int_equal(chmod(scratch_path("file"), 0640), 0);
    must_write();
    assert_false(has_attribute(ACL, acl, sizeof acl));
    assert_int_equal(getxattr(scratch_path("file"), ACL, NULL, 0), -1);
    assert_int_equal(mode_of("file"), 0640);
}

static void the_list_of_the_directory_is_for_new_files_alone(void **state)
{
    (void)state;
    make_old_with_acl();
    assert_int_equal(setxattr(scratch_folder(), DEFAULT_ACL, acl, sizeof acl, 0), 0);
    sink_fault_both_ways(check_default_acl);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, sink_fault_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_new_file_has_the_permissions_of_the_umask),
        CASE(a_replaced_file_keeps_its_permissions),
        CASE(while_it_is_written_nobody_else_may_read_it),
        CASE(what_changes_between_sync_and_commit_counts),
        CASE(an_old_file_that_goes_away_just_then_is_not_missed),
        CASE(permissions_that_cannot_be_set_are_an_error_only_where_they_are_too_wide),
        CASE(root_keeps_owner_and_group),
        CASE(a_group_that_cannot_be_kept_loses_its_permissions),
        CASE(who_replaces_a_file_of_another_becomes_its_owner),
        CASE(user_attributes_are_kept_where_that_can_be),
        CASE(an_access_list_is_kept_or_nobody_else_gets_in),
        CASE(an_access_list_is_lost_with_the_group),
        CASE(the_list_of_the_directory_is_for_new_files_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
