/* SPDX-License-Identifier: Apache-2.0
 * Temporary files: their names, what is taken for a leftover and what is not, and processes that
 * meet at one name at the worst moments. */
#define _DEFAULT_SOURCE /* flock */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/sink_file.h"
#include "support/scratch.h"
#include "support/sink_fault.h"
#include "support/sink_job.h"

#define FIRST  ".file.tz00.part"
#define SECOND ".file.tz01.part"

static tz_error err;
static const tz_context ctx = {.name = "n", .err = &err, .ifd = -1};

static int begin(void **state)
{
    int failed = sink_fault_begin(state);
    fault.no_unnamed = true;
    return failed;
}

/* ---------------------------------------------------------------------------------------------
 * Names
 * ------------------------------------------------------------------------------------------ */

static void only_names_of_the_exact_pattern_are_ours(void **state)
{
    (void)state;
    static const char *const ours[] = {".a.tz00.part", ".file.tif.tz99.part", "..tz00.tz01.part",
                                       ".a.tz00.part.tz00.part"};
    static const char *const others[] = {"",
                                         ".",
                                         "..",
                                         "a.tz00.part",
                                         ".tz00.part",
                                         ".a.tz0.part",
                                         ".a.tz000.part",
                                         ".a.tzab.part",
                                         ".a.tz0a.part",
                                         ".a.tz00.parT",
                                         ".a.tz00.part~",
                                         ".a.TZ00.part",
                                         ".atz00.part",
                                         ".a.tz00part",
                                         ".a.tz-1.part",
                                         ".a.part"};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        assert_true(tz_is_temporary_name(ours[i]));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(tz_is_temporary_name(others[i]));
    char longest[200];
    memset(longest, 'x', sizeof longest);
    longest[0] = '.';
    memcpy(longest + TZ_MAX_TEMPORARY_NAME_LENGTH - 10, ".tz00.part", 11);
    assert_true(tz_is_temporary_name(longest));
    memset(longest + TZ_MAX_TEMPORARY_NAME_LENGTH - 10, 'x', 11);
    memcpy(longest + TZ_MAX_TEMPORARY_NAME_LENGTH - 9, ".tz00.part", 11);
    assert_false(tz_is_temporary_name(longest)); /* we make none that long */
}

static void long_names_are_cut_between_characters(void **state)
{
    (void)state;
    char name[256];
    for (size_t lead = 0; lead < 3; lead++) {
        memset(name, 'x', lead);
        for (size_t i = 0; i < 80; i++)
            memcpy(name + lead + 3 * i, "\xe2\x82\xac", 3); /* the euro sign */
        name[lead + 240] = '\0';
        tz_sink *sink = sink_job_open(name, false);
        const char *made = scratch_other_than("");
        assert_true(tz_is_temporary_name(made));
        assert_in_range(strlen(made), TZ_MAX_TEMPORARY_NAME_LENGTH - 2,
                        TZ_MAX_TEMPORARY_NAME_LENGTH);
        assert_int_equal((strlen(made) - 11 - lead) % 3, 0);
        sink_job_finish(sink);
        assert_int_equal(unlink(scratch_path(name)), 0);
    }
    memset(name, 0x80, 255); /* no UTF-8 at all */
    name[255] = '\0';
    tz_sink *sink = sink_job_open(name, false);
    assert_int_equal(strlen(scratch_other_than("")), TZ_MAX_TEMPORARY_NAME_LENGTH);
    sink_job_finish(sink);
}

static void long_names_that_begin_alike_do_not_meet(void **state)
{
    (void)state;
    char name[2][256];
    tz_sink *sinks[2];
    for (size_t i = 0; i < 2; i++) {
        memset(name[i], 'x', 255);
        name[i][254] = (char)('a' + i);
        name[i][255] = '\0';
        sinks[i] = sink_job_open(name[i], false);
    }
    assert_int_equal(scratch_count(), 2);
    sink_job_finish(sinks[0]);
    sink_job_finish(sinks[1]);
    assert_true(sink_job_is_new(name[0]));
    assert_true(sink_job_is_new(name[1]));
    assert_int_equal(scratch_count(), 2);
}

/* ---------------------------------------------------------------------------------------------
 * Leftovers
 * ------------------------------------------------------------------------------------------ */

static void a_leftover_is_removed_when_the_next_write_begins(void **state)
{
    (void)state;
    for (int unnamed = 0; unnamed < 2; unnamed++) {
        fault.no_unnamed = unnamed == 0;
        scratch_write(FIRST, "left", 4);
        scratch_write(SECOND, "left", 4);
        tz_sink *sink = sink_job_open("file", false);
        assert_int_equal(scratch_count(), unnamed ? 0 : 1); /* room on the disk, from the start */
        sink_job_finish(sink);
        assert_null(scratch_other_than("file"));
        assert_int_equal(unlink(scratch_path("file")), 0);
    }
}

static void a_leftover_that_is_read_only_is_removed_too(void **state)
{
    (void)state;
    scratch_write(FIRST, "left", 4);
    sink_fault_fail("openat", 2, EACCES); /* after the directory; root would be let in */
    tz_sink *sink = sink_job_open("file", false);
    assert_int_equal(fault.failures, 1);
    assert_false(scratch_exists(SECOND));
    sink_job_finish(sink);
    assert_null(scratch_other_than("file"));
}

static void a_living_write_is_left_alone(void **state)
{
    (void)state;
    tz_sink *first = sink_job_open("file", false);
    tz_sink *second = sink_job_open("file", false);
    assert_true(scratch_exists(FIRST));
    assert_true(scratch_exists(SECOND));
    tz_sink_close(first);
    assert_false(scratch_exists(FIRST));
    tz_sink *third = sink_job_open("file", false); /* takes the number that is free again */
    assert_true(scratch_exists(FIRST));
    sink_job_finish(second);
    sink_job_finish(third);
    assert_null(scratch_other_than("file"));
}

static void without_locks_nothing_is_taken_for_a_leftover(void **state)
{
    (void)state;
    fault.no_locks = true;
    scratch_write(FIRST, "left", 4);
    tz_sink *sink = sink_job_open("file", false);
    assert_true(scratch_exists(SECOND));
    sink_job_finish(sink);
    assert_true(scratch_holds(FIRST, "left", 4));
    assert_false(scratch_exists(SECOND));
}

static void what_is_no_regular_file_is_left_alone(void **state)
{
    (void)state;
    scratch_write("precious", "data", 4);
    assert_int_equal(symlink("precious", scratch_path(FIRST)), 0);
    assert_int_equal(mkdir(scratch_path(SECOND), 0700), 0);
    assert_int_equal(mkfifo(scratch_path(".file.tz02.part"), 0600), 0);
    assert_int_equal(symlink("missing", scratch_path(".file.tz03.part")), 0);
    tz_sink *sink = sink_job_open("file", false);
    assert_true(scratch_exists(".file.tz04.part"));
    sink_job_finish(sink);
    assert_int_equal(scratch_count(), 6);
    assert_true(scratch_holds("precious", "data", 4));
    assert_false(scratch_exists("missing"));
}

/* Another user's: checked by a child that is no longer root. */
static void what_is_not_ours_is_left_alone(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("skip: only root can make files of other users\n");
        skip();
    }
    scratch_write(FIRST, "theirs", 6);
    assert_int_equal(chmod(scratch_path(FIRST), 0666), 0);
    assert_int_equal(chmod(scratch_folder(), 0777), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (setegid(1234) != 0 || seteuid(1234) != 0)
            _exit(2);
        _exit(sink_job_run("file", false, true, &err) == TZ_OK ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(scratch_holds(FIRST, "theirs", 6));
    assert_true(sink_job_is_new("file"));
    assert_int_equal(scratch_count(), 2);
}

static void when_all_numbers_are_taken_it_is_an_error(void **state)
{
    (void)state;
    tz_sink *sinks[100];
    for (size_t i = 0; i < 100; i++)
        sinks[i] = sink_job_open("file", false);
    tz_sink *sink = NULL;
    assert_int_equal(tz_sink_open_file(&sink, scratch_path("file"), false, true, &ctx), TZ_ERR_IO);
    assert_int_equal(err.system_error, EEXIST);
    assert_non_null(strstr(err.message, "all 100 names of temporary files"));
    for (size_t i = 0; i < 100; i++)
        tz_sink_close(sinks[i]);
    assert_int_equal(scratch_count(), 0);
}

/* ---------------------------------------------------------------------------------------------
 * Meetings
 * ------------------------------------------------------------------------------------------ */

static int other_lock = -1; /* what "another process" holds: its own open file */
static int meetings;

static void lock_as_other(const char *name)
{
    other_lock = open(scratch_path(name), O_RDWR | O_CLOEXEC);
    assert_true(other_lock >= 0);
    assert_int_equal(flock(other_lock, LOCK_EX | LOCK_NB), 0);
}

/* Another process takes the file that was just created for a leftover, and is not done with it. */
static void other_locks_first(const char *call)
{
    if (strcmp(call, "lock") == 0 && meetings++ == 0)
        lock_as_other(FIRST);
}

static void who_is_refused_the_lock_of_a_new_file_goes_on(void **state)
{
    (void)state;
    meetings = 0;
    fault.before = other_locks_first;
    tz_sink *sink = sink_job_open("file", false);
    fault.before = NULL;
    assert_true(scratch_exists(SECOND));
    assert_int_equal(unlink(scratch_path(FIRST)), 0); /* as the other one will */
    close(other_lock);
    sink_job_finish(sink);
    assert_null(scratch_other_than("file"));
}

/* The same, but the other one was quick: the name is gone, or is a third one's already. */
static void other_removes_first(const char *call)
{
    if (strcmp(call, "lock") == 0 && meetings++ == 0)
        assert_int_equal(unlink(scratch_path(FIRST)), 0);
}

static void other_replaces_first(const char *call)
{
    if (strcmp(call, "lock") != 0 || meetings++ > 0)
        return;
    assert_int_equal(unlink(scratch_path(FIRST)), 0);
    scratch_write(FIRST, "third", 5);
    lock_as_other(FIRST);
}

static void who_lost_its_new_name_makes_another(void **state)
{
    (void)state;
    meetings = 0;
    fault.before = other_removes_first;
    tz_sink *sink = sink_job_open("file", false);
    assert_true(scratch_exists(FIRST));
    sink_job_finish(sink);
    assert_null(scratch_other_than("file"));

    meetings = 0;
    fault.before = other_replaces_first;
    sink = sink_job_open("file", false);
    fault.before = NULL;
    assert_true(scratch_exists(SECOND));
    sink_job_finish(sink);
    assert_true(scratch_holds(FIRST, "third", 5));
    close(other_lock);
}

/* Two find one leftover: the other one has removed it, and made its own file of that name, between
 * our open and our lock. */
static void a_leftover_that_another_was_quicker_with_is_left_to_it(void **state)
{
    (void)state;
    scratch_write(FIRST, "left", 4);
    meetings = 0;
    fault.before = other_replaces_first; /* the first lock is that of the leftover */
    tz_sink *sink = sink_job_open("file", false);
    fault.before = NULL;
    assert_true(scratch_exists(SECOND));
    sink_job_finish(sink);
    assert_true(scratch_holds(FIRST, "third", 5));
    close(other_lock);
}

/* A host that does not see our locks has removed our file, and its own has the name now. */
static void a_file_that_took_our_name_is_neither_published_nor_removed(void **state)
{
    (void)state;
    sink_job_make_old("file");
    tz_sink *sink = sink_job_open("file", false);
    assert_int_equal(sink_job_fill(sink, &ctx), TZ_OK);
    assert_int_equal(unlink(scratch_path(FIRST)), 0);
    scratch_write(FIRST, "foreign", 7);
    assert_int_equal(tz_sink_commit(sink, &ctx), TZ_ERR_IO);
    assert_int_equal(err.system_error, ENOENT);
    assert_non_null(strstr(err.message, FIRST));
    tz_sink_close(sink);
    assert_true(scratch_holds(FIRST, "foreign", 7));
    assert_true(sink_job_is_old("file"));
}

enum { PROCESSES = 4, ROUNDS = 60, BLOCK = 5000 };

static bool write_block(unsigned char value)
{
    unsigned char block[BLOCK];
    tz_bytes piece = {block, BLOCK};
    tz_sink *sink = NULL;
    memset(block, value, BLOCK);
    if (tz_sink_open_file(&sink, scratch_path("file"), false, true, &ctx) != TZ_OK)
        return false;
    bool good =
        tz_sink_write(sink, 0, &piece, 1, &ctx) == TZ_OK && tz_sink_commit(sink, &ctx) == TZ_OK;
    tz_sink_close(sink);
    return good;
}

/* Now and then one leaves a file behind, as if it had been killed, or removes the destination. */
static bool write_often(unsigned char value, bool named)
{
    fault.no_unnamed = named;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 7 == value % 7 && !scratch_exists(FIRST)) {
            int fd = open(scratch_path(FIRST), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
            if (fd >= 0)
                close(fd);
        }
        if (i % 5 == value % 5)
            (void)unlink(scratch_path("file"));
        if (!write_block(value)) {
            fprintf(stderr, "%s\n", err.message);
            return false;
        }
    }
    return true;
}

static void processes_that_write_one_file_all_succeed_and_one_wins(void **state)
{
    (void)state;
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            _exit(write_often((unsigned char)(i + 1), i % 2 == 0) ? 0 : 1);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    unsigned char block[BLOCK];
    bool whole = false;
    for (int i = 0; i < PROCESSES; i++) {
        memset(block, i + 1, BLOCK);
        whole = whole || scratch_holds("file", block, BLOCK);
    }
    assert_true(whole);
    assert_true(write_block(9)); /* removes what was left last */
    assert_null(scratch_other_than("file"));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, sink_fault_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(only_names_of_the_exact_pattern_are_ours),
        CASE(long_names_are_cut_between_characters),
        CASE(long_names_that_begin_alike_do_not_meet),
        CASE(a_leftover_is_removed_when_the_next_write_begins),
        CASE(a_leftover_that_is_read_only_is_removed_too),
        CASE(a_living_write_is_left_alone),
        CASE(without_locks_nothing_is_taken_for_a_leftover),
        CASE(what_is_no_regular_file_is_left_alone),
        CASE(what_is_not_ours_is_left_alone),
        CASE(when_all_numbers_are_taken_it_is_an_error),
        CASE(who_is_refused_the_lock_of_a_new_file_goes_on),
        CASE(who_lost_its_new_name_makes_another),
        CASE(a_leftover_that_another_was_quicker_with_is_left_to_it),
        CASE(a_file_that_took_our_name_is_neither_published_nor_removed),
        CASE(processes_that_write_one_file_all_succeed_and_one_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
