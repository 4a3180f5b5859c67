/* SPDX-License-Identifier: Apache-2.0
 * The file source when system calls fail, are interrupted or do less than asked. The calls are
 * stand-ins over an array, so that every failure can be had at will. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "io/source.h"

enum { SIZE = 1000, FD = 0 }; /* 0 is as good a descriptor as any */

/* The behaviour of the stand-ins, and the calls that they saw. */
static struct {
    unsigned char data[SIZE];
    uint64_t size;     /* as fstat says */
    uint64_t readable; /* as pread finds */
    mode_t mode;
    int open_error; /* 0: none */
    int fstat_error;
    int pread_error;
    int fail_call;     /* only the n-th call fails, from 1; 0: every one */
    int interruptions; /* EINTR so many times first */
    size_t most;       /* bytes of one pread; 0: all */
    int open_flags;
    int opens, fstats, preads, closes;
    size_t largest; /* size asked of a pread */
} fake;

static bool fails(int error_number, int call)
{
    if (error_number == 0 || (fake.fail_call != 0 && fake.fail_call != call))
        return false;
    errno = error_number;
    return true;
}

static bool interrupted(void)
{
    if (fake.interruptions == 0)
        return false;
    fake.interruptions--;
    errno = EINTR;
    return true;
}

static int fake_open(const char *path, int flags)
{
    (void)path;
    fake.opens++;
    fake.open_flags = flags;
    return interrupted() || fails(fake.open_error, fake.opens) ? -1 : FD;
}

static int fake_fstat(int fd, struct stat *out)
{
    assert_int_equal(fd, FD);
    fake.fstats++;
    memset(out, 0, sizeof *out);
    out->st_mode = fake.mode;
    out->st_size = (off_t)fake.size;
    return fails(fake.fstat_error, fake.fstats) ? -1 : 0;
}

static long fake_pread(int fd, void *dst, size_t size, int64_t offset)
{
    assert_int_equal(fd, FD);
    fake.preads++;
    if (interrupted() || fails(fake.pread_error, fake.preads))
        return -1;
    if (size > fake.largest)
        fake.largest = size;
    uint64_t left = (uint64_t)offset < fake.readable ? fake.readable - (uint64_t)offset : 0;
    if (size > left)
        size = (size_t)left;
    if (fake.most > 0 && size > fake.most)
        size = fake.most;
    if (size > 0 && (uint64_t)offset + size <= SIZE)
        memcpy(dst, fake.data + offset, size);
    errno = EINTR; /* means nothing after success */
    return (long)size;
}

static int fake_close(int fd)
{
    assert_int_equal(fd, FD);
    fake.closes++;
    errno = EIO;
    return -1; /* no reader of a file has reason to care */
}

static int fake_expect(int fd, int64_t offset, int64_t size)
{
    (void)fd;
    (void)offset;
    (void)size;
    return EINVAL;
}

static int use_fakes(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    for (size_t i = 0; i < SIZE; i++)
        fake.data[i] = (unsigned char)(i * 7);
    fake.size = fake.readable = SIZE;
    fake.mode = S_IFREG | 0644;
    static const tz_source_syscalls calls = {fake_open,  fake_fstat,  fake_pread,
                                             fake_close, fake_expect, NULL};
    tz_source_set_syscalls(&calls);
    return 0;
}

static int use_real_calls(void **state)
{
    (void)state;
    tz_source_set_syscalls(NULL);
    return 0;
}

static tz_result open_fake(tz_source **out, bool no_follow, tz_error *err)
{
    tz_context ctx = {.name = "fake", .err = err, .ifd = -1};
    return tz_source_open_file(out, "fake", no_follow, &ctx);
}

static tz_source *opened(void)
{
    tz_source *source = NULL;
    tz_error err;
    assert_int_equal(open_fake(&source, false, &err), TZ_OK);
    return source;
}

static tz_result read_all(tz_source *source, tz_error *err)
{
    unsigned char bytes[SIZE];
    memset(bytes, 0xee, sizeof bytes);
    tz_context ctx = {.name = "fake", .err = err, .ifd = -1};
    tz_result result = tz_source_read(source, 0, SIZE, bytes, &ctx);
    if (result == TZ_OK)
        assert_memory_equal(bytes, fake.data, SIZE);
    return result;
}

static const int hard_errors[] = {EIO,    EACCES, EPERM,  ENOMEM,    EAGAIN, ESTALE,
                                  ENFILE, EMFILE, EFAULT, EOVERFLOW, EBADF,  EISDIR};
enum { HARD_ERRORS = sizeof hard_errors / sizeof hard_errors[0] };

/* ---------------------------------------------------------------------------------------------
 * Failing calls
 * ------------------------------------------------------------------------------------------ */

static void every_failing_open_is_that_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < HARD_ERRORS; i++) {
        tz_source *source = NULL;
        tz_error err;
        use_fakes(NULL);
        fake.open_error = hard_errors[i];
        assert_int_equal(open_fake(&source, false, &err), TZ_ERR_IO);
        assert_int_equal(err.cause, TZ_CAUSE_IO);
        assert_int_equal(err.system_error, hard_errors[i]);
        assert_int_equal(fake.opens, 1); /* EAGAIN is not tried again and again */
        assert_int_equal(fake.closes, 0);
        assert_null(source);
    }
}

static void every_failing_fstat_is_that_error_and_the_file_closed(void **state)
{
    (void)state;
    for (size_t i = 0; i < HARD_ERRORS; i++) {
        tz_source *source = NULL;
        tz_error err;
        use_fakes(NULL);
        fake.fstat_error = hard_errors[i];
        assert_int_equal(open_fake(&source, false, &err), TZ_ERR_IO);
        assert_int_equal(err.cause, TZ_CAUSE_IO);
        assert_int_equal(err.system_error, hard_errors[i]);
        assert_int_equal(fake.closes, 1);
        assert_null(source);
    }
}

static void every_failing_pread_is_that_error_with_its_offset(void **state)
{
    (void)state;
    for (size_t i = 0; i < HARD_ERRORS; i++) {
        for (int call = 1; call <= 4; call++) {
            use_fakes(NULL);
            tz_source *source = opened();
            tz_error err;
            fake.most = 250;
            fake.pread_error = hard_errors[i];
            fake.fail_call = call;
            assert_int_equal(read_all(source, &err), TZ_ERR_IO);
            assert_int_equal(err.cause, TZ_CAUSE_IO);
            assert_int_equal(err.system_error, hard_errors[i]);
            assert_int_equal(err.offset, 250 * (call - 1));
            assert_int_equal(fake.preads, call);
            fake.pread_error = 0; /* the source is as good as before */
            assert_int_equal(read_all(source, &err), TZ_OK);
            tz_source_close(source);
            assert_int_equal(fake.closes, 1);
        }
    }
}

static void a_failing_fstat_in_check_is_that_error(void **state)
{
    (void)state;
    tz_source *source = opened();
    tz_error err;
    fake.fstat_error = EIO;
    assert_int_equal(source->check(source, &err), TZ_ERR_IO);
    assert_int_equal(err.system_error, EIO);
    assert_int_equal(err.ifd, -1);
    fake.fstat_error = 0;
    assert_int_equal(source->check(source, &err), TZ_OK);
    tz_source_close(source);
}

static void errors_may_go_unsaid(void **state)
{
    (void)state;
    tz_source *source = NULL;
    fake.open_error = ENXIO;
    assert_int_equal(open_fake(&source, false, NULL), TZ_ERR_IO);
    fake.open_error = 0;
    source = opened();
    fake.pread_error = fake.fstat_error = EIO;
    assert_int_equal(read_all(source, NULL), TZ_ERR_IO);
    assert_int_equal(source->check(source, NULL), TZ_ERR_IO);
    tz_source_close(source);
}

/* ---------------------------------------------------------------------------------------------
 * Interrupted and short calls
 * ------------------------------------------------------------------------------------------ */

static void interrupted_calls_are_made_again(void **state)
{
    (void)state;
    fake.interruptions = 5;
    tz_source *source = opened();
    assert_int_equal(fake.opens, 6);
    fake.interruptions = 5;
    tz_error err;
    assert_int_equal(read_all(source, &err), TZ_OK);
    assert_int_equal(fake.preads, 6);
    tz_source_close(source);
}

static void short_reads_are_continued(void **state)
{
    (void)state;
    static const size_t most[] = {1, 2, 7, SIZE / 2, SIZE - 1, SIZE};
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
        use_fakes(NULL);
        tz_source *source = opened();
        fake.most = most[i];
        tz_error err;
        assert_int_equal(read_all(source, &err), TZ_OK);
        assert_int_equal(fake.preads, (SIZE + most[i] - 1) / most[i]);
        tz_source_close(source);
    }
}

static void an_early_end_is_changed_or_truncated_as_fstat_says(void **state)
{
    (void)state;
    tz_source *source = opened();
    tz_error err;
    fake.readable = 600;
    assert_int_equal(read_all(source, &err), TZ_ERR_FORMAT);
    assert_int_equal(err.cause, TZ_CAUSE_TRUNCATED);
    assert_int_equal(err.offset, 600);
    assert_int_equal(err.expected, 400);
    assert_int_equal(err.found, 0);

    fake.size = 600;
    assert_int_equal(read_all(source, &err), TZ_ERR_CHANGED);
    assert_int_equal(err.cause, TZ_CAUSE_CHANGED);
    assert_int_equal(err.expected, SIZE);
    assert_int_equal(err.found, 600);

    fake.fstat_error = EIO;
    assert_int_equal(read_all(source, &err), TZ_ERR_IO);
    assert_int_equal(err.system_error, EIO);
    tz_source_close(source);
}

static void a_large_range_is_read_in_parts_of_a_gibibyte_at_most(void **state)
{
    (void)state;
    if (sizeof(size_t) < 8) {
        print_message("skip: sizes in memory have 32 bits here\n");
        skip();
    }
    fake.size = fake.readable = (uint64_t)5 << 30;
    tz_source *source = opened();
    unsigned char nowhere; /* the stand-in writes nothing beyond its array */
    tz_error err;
    tz_context ctx = {.name = "fake", .err = &err, .ifd = -1};
    fake.most = (size_t)3 << 29;
    assert_int_equal(tz_source_read(source, SIZE, ((size_t)5 << 30) - SIZE, &nowhere, &ctx), TZ_OK);
    assert_int_equal(fake.largest, (size_t)1 << 30);
    assert_int_equal(fake.preads, 5);
    tz_source_close(source);
}

/* ---------------------------------------------------------------------------------------------
 * Opening
 * ------------------------------------------------------------------------------------------ */

static void files_are_opened_with_care(void **state)
{
    (void)state;
    tz_source_close(opened());
    assert_int_equal(fake.open_flags, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    tz_source *source = NULL;
    tz_error err;
    assert_int_equal(open_fake(&source, true, &err), TZ_OK);
    assert_int_equal(fake.open_flags, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    tz_source_close(source);
}

static void a_range_past_the_end_asks_nothing_of_the_system(void **state)
{
    (void)state;
    tz_source *source = opened();
    unsigned char bytes[2];
    tz_range ranges[] = {{0, 1, bytes}, {SIZE, 1, bytes + 1}};
    tz_request request = {ranges, 2, NULL};
    tz_error err;
    assert_int_equal(source->submit(source, &request, &err), TZ_ERR_FORMAT);
    assert_int_equal(err.ifd, -1);
    assert_int_equal(fake.preads, 0);
    request.count = 1;
    fake.pread_error = EIO;
    assert_int_equal(source->submit(source, &request, &err), TZ_OK);
    assert_int_equal(source->wait(source, &request, &err), TZ_ERR_IO);
    assert_int_equal(err.ifd, -1);
    tz_source_close(source);
}

static void every_kind_of_file_but_a_regular_one_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        mode_t mode;
        const char *what;
    } rows[] = {
        {S_IFDIR, "is a directory"},    {S_IFIFO, "is a FIFO"},
        {S_IFSOCK, "is a socket"},      {S_IFCHR, "is a character device"},
        {S_IFBLK, "is a block device"}, {S_IFLNK, "is of an unknown kind"},
        {0, "is of an unknown kind"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tz_source *source = NULL;
        tz_error err;
        use_fakes(NULL);
        fake.mode = rows[i].mode | 0644;
        assert_int_equal(open_fake(&source, false, &err), TZ_ERR_IO);
        assert_int_equal(err.cause, TZ_CAUSE_UNSAFE);
        assert_int_equal(err.system_error, 0);
        assert_non_null(strstr(err.message, rows[i].what));
        assert_int_equal(fake.closes, 1);
        assert_null(source);
    }
}

static void errors_of_open_that_mean_an_unsafe_file_say_so(void **state)
{
    (void)state;
    tz_source *source = NULL;
    tz_error err;
    fake.open_error = ENXIO;
    assert_int_equal(open_fake(&source, false, &err), TZ_ERR_IO);
    assert_int_equal(err.cause, TZ_CAUSE_UNSAFE);
    assert_int_equal(err.system_error, ENXIO);
    fake.open_error = ELOOP;
    assert_int_equal(open_fake(&source, true, &err), TZ_ERR_IO);
    assert_int_equal(err.cause, TZ_CAUSE_UNSAFE);
    assert_int_equal(err.system_error, ELOOP);
    assert_int_equal(open_fake(&source, false, &err), TZ_ERR_IO);
    assert_int_equal(err.cause, TZ_CAUSE_IO); /* a loop, not a forbidden link */
}

#define WITH_FAKES(test) cmocka_unit_test_setup_teardown(test, use_fakes, use_real_calls)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FAKES(every_failing_open_is_that_error),
        WITH_FAKES(every_failing_fstat_is_that_error_and_the_file_closed),
        WITH_FAKES(every_failing_pread_is_that_error_with_its_offset),
        WITH_FAKES(a_failing_fstat_in_check_is_that_error),
        WITH_FAKES(errors_may_go_unsaid),
        WITH_FAKES(interrupted_calls_are_made_again),
        WITH_FAKES(short_reads_are_continued),
        WITH_FAKES(an_early_end_is_changed_or_truncated_as_fstat_says),
        WITH_FAKES(a_large_range_is_read_in_parts_of_a_gibibyte_at_most),
        WITH_FAKES(files_are_opened_with_care),
        WITH_FAKES(a_range_past_the_end_asks_nothing_of_the_system),
        WITH_FAKES(every_kind_of_file_but_a_regular_one_is_refused_by_name),
        WITH_FAKES(errors_of_open_that_mean_an_unsafe_file_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
