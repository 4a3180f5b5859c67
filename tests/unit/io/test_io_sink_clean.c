/* SPDX-License-Identifier: Apache-2.0
 * tz_clean: it removes temporary files of writes that are over, and nothing else. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/sink.h"
#include "support/alloc_hook.h"
#include "support/scratch.h"
#include "support/sink_fault.h"
#include "support/sink_job.h"

static tz_error err;

static void make_leftover(const char *name, time_t age)
{
    scratch_write(name, "left", 4);
    time_t then = time(NULL) - age;
    struct timespec times[2] = {{then, 0}, {then, 0}};
    assert_int_equal(utimensat(AT_FDCWD, scratch_path(name), times, 0), 0);
}

static uint64_t cleaned(uint64_t min_age)
{
    uint64_t removed = 99;
    size_t open_files = scratch_open_files();
    if (tz_clean(&removed, scratch_folder(), min_age, NULL, NULL, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    assert_int_equal(scratch_open_files(), open_files);
    return removed;
}

static void leftovers_of_any_destination_are_removed(void **state)
{
    (void)state;
    assert_int_equal(cleaned(0), 0);
    make_leftover(".a.tif.tz00.part", 0);
    make_leftover(".a.tif.tz07.part", 0);
    make_leftover(".b.tz00.part", 100);
    scratch_write("a.tif", "good", 4);
    assert_int_equal(cleaned(0), 3);
    assert_null(scratch_other_than("a.tif"));
    assert_true(scratch_holds("a.tif", "good", 4));
}

static void other_names_and_other_kinds_are_never_touched(void **state)
{
    (void)state;
    static const char *const names[] = {"a.tif", ".a.part", "a.tz00.part", ".a.tz0.part",
                                        ".tz00.part"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        make_leftover(names[i], 1000000);
    assert_int_equal(symlink("a.tif", scratch_path(".a.tz00.part")), 0);
    assert_int_equal(mkdir(scratch_path(".b.tz00.part"), 0700), 0);
    assert_int_equal(mkfifo(scratch_path(".c.tz00.part"), 0600), 0);
    assert_int_equal(cleaned(0), 0);
    assert_int_equal(scratch_count(), 8);
}

static void folders_below_are_not_entered(void **state)
{
    (void)state;
    assert_int_equal(mkdir(scratch_path("below"), 0700), 0);
    make_leftover("below/.a.tz00.part", 1000);
    assert_int_equal(cleaned(0), 0);
    assert_true(scratch_exists("below/.a.tz00.part"));
}

static void young_ones_are_kept(void **state)
{
    (void)state;
    make_leftover(".young.tz00.part", 3000);
    make_leftover(".old.tz00.part", 4000);
    make_leftover(".future.tz00.part", -4000);
    assert_int_equal(cleaned(3600), 1);
    assert_false(scratch_exists(".old.tz00.part"));
    assert_int_equal(cleaned(3600), 0);
    assert_int_equal(cleaned(UINT64_MAX), 0);
    assert_int_equal(cleaned(2900), 1);
    assert_int_equal(cleaned(0), 1);
    assert_int_equal(scratch_count(), 0);
}

static int opens;

/* Between the look at its age and its lock: the first open is that of the directory. */
static void write_once_more(const char *call)
{
    if (strcmp(call, "openat") == 0 && ++opens == 2)
        scratch_write(".a.tz00.part", "new", 3);
}

static void one_that_is_written_to_just_then_is_kept(void **state)
{
    (void)state;
    make_leftover(".a.tz00.part", 5000);
    opens = 0;
    fault.before = write_once_more;
    assert_int_equal(cleaned(3600), 0);
    assert_int_equal(opens, 2);
    make_leftover(".a.tz00.part", 5000);
    fault.before = NULL;
    assert_int_equal(cleaned(3600), 1);
}

static void writes_that_live_are_kept(void **state)
{
    (void)state;
    tz_context ctx = {.name = "n", .err = &err, .ifd = -1};
    tz_sink *sink = NULL;
    fault.no_unnamed = true;
    assert_int_equal(tz_sink_open_file(&sink, scratch_path("file"), false, true, &ctx), TZ_OK);
    make_leftover(".file.tz01.part", 1000);
    assert_int_equal(cleaned(0), 1);
    assert_string_equal(scratch_other_than(""), ".file.tz00.part");
    assert_int_equal(sink_job_fill(sink, &ctx), TZ_OK);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_OK);
    tz_sink_close(sink);
    assert_true(sink_job_is_new("file"));
}

typedef struct visit {
    int count;
    const char *keep;
} visit;

static bool on_found(void *user, const char *path)
{
    visit *seen = user;
    seen->count++;
    assert_memory_equal(path, scratch_folder(), strlen(scratch_folder()));
    assert_int_equal(access(path, F_OK), 0);
    return strcmp(strrchr(path, '/') + 1, seen->keep) != 0;
}

static void the_caller_is_asked_for_each_and_may_keep_it(void **state)
{
    (void)state;
    visit seen = {0, ".b.tz00.part"};
    uint64_t removed = 0;
    make_leftover(".a.tz00.part", 0);
    make_leftover(".b.tz00.part", 0);
    make_leftover(".c.tz00.part", 0);
    make_leftover("other", 0);
    assert_int_equal(tz_clean(&removed, scratch_folder(), 0, on_found, &seen, NULL, &err), TZ_OK);
    assert_int_equal(seen.count, 3);
    assert_int_equal(removed, 2);
    assert_true(scratch_exists(".b.tz00.part"));
    assert_true(scratch_exists("other"));
    assert_int_equal(tz_clean(NULL, scratch_folder(), 0, NULL, NULL, NULL, NULL), TZ_OK);
    assert_int_equal(scratch_count(), 1);
}

static void what_is_no_directory_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(tz_clean(NULL, NULL, 0, NULL, NULL, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_clean(NULL, "", 0, NULL, NULL, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_clean(NULL, scratch_path("x"), 0, NULL, NULL, NULL, &err), TZ_ERR_IO);
    assert_int_equal(err.system_error, ENOENT);
    scratch_write("x", "", 0);
    assert_int_equal(tz_clean(NULL, scratch_path("x"), 0, NULL, NULL, NULL, &err), TZ_ERR_IO);
    assert_int_equal(err.system_error, ENOTDIR);
}

/* A file that cannot be looked at is kept; a directory that cannot be listed, and a file that
 * cannot be removed, are errors, and the other files go all the same. */
static void every_call_that_fails_is_an_error_or_keeps_a_file(void **state)
{
    (void)state;
    for (int n = 1;; n++) {
        sink_fault_install();
        make_leftover(".a.tz00.part", 10);
        make_leftover(".b.tz00.part", 10);
        fault.fail_at = n;
        fault.error = EIO;
        uint64_t removed = 99;
        size_t open_files = scratch_open_files();
        tz_result result = tz_clean(&removed, scratch_folder(), 0, NULL, NULL, NULL, &err);
        assert_int_equal(scratch_open_files(), open_files);
        assert_int_equal(scratch_count(), 2 - removed);
        if (fault.failures == 0) {
            assert_int_equal(removed, 2);
            break;
        }
        bool listing = strncmp(fault.failed, "list_", 5) == 0;
        bool fatal = listing || n == 1 || strcmp(fault.failed, "unlinkat") == 0;
        assert_int_equal(result, fatal ? TZ_ERR_IO : TZ_OK);
        if (!listing && n > 1)
            assert_true(removed >= 1);
    }
}

static void every_allocation_that_fails_is_nomem(void **state)
{
    (void)state;
    visit seen = {0, ""};
    make_leftover(".a.tz00.part", 10);
    alloc_hook_install();
    alloc_hook_fail_at(1, false);
    uint64_t removed = 99;
    assert_int_equal(tz_clean(&removed, scratch_folder(), 0, on_found, &seen, NULL, &err),
                     TZ_ERR_NOMEM);
    assert_int_equal(alloc_hook_stats().live_bytes, 0);
    alloc_hook_remove();
    assert_int_equal(removed, 0);
    assert_int_equal(scratch_count(), 1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, sink_fault_begin, sink_fault_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(leftovers_of_any_destination_are_removed),
        CASE(other_names_and_other_kinds_are_never_touched),
        CASE(folders_below_are_not_entered),
        CASE(young_ones_are_kept),
        CASE(one_that_is_written_to_just_then_is_kept),
        CASE(writes_that_live_are_kept),
        CASE(the_caller_is_asked_for_each_and_may_keep_it),
        CASE(what_is_no_directory_is_an_error),
        CASE(every_call_that_fails_is_an_error_or_keeps_a_file),
        CASE(every_allocation_that_fails_is_nomem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
