/* SPDX-License-Identifier: Apache-2.0
 * The file source on real files: what it reads, what it refuses, and what it notices. */
#define _XOPEN_SOURCE 700 /* nftw */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/source.h"
#include "support/alloc_hook.h"

enum { SIZE = 10007 };

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/terrazzo-source-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

static int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static const char *in_folder(const char *name)
{
    static char path[4][128];
    static int turn;
    char *chosen = path[turn++ % 4];
    snprintf(chosen, sizeof path[0], "%s/%s", folder, name);
    return chosen;
}

static unsigned char byte_at(uint64_t offset)
{
    return (unsigned char)(offset * 31 + offset / 251);
}

static void append_bytes(const char *path, uint64_t offset, uint64_t size)
{
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    for (uint64_t i = 0; i < size; i++)
        fputc(byte_at(offset + i), file);
    assert_int_equal(fclose(file), 0);
}

static const char *make_file(uint64_t size)
{
    const char *path = in_folder("data");
    append_bytes(path, 0, size);
    return path;
}

static tz_source *open_source(const char *path)
{
    tz_error err;
    tz_context ctx = {.err = &err, .ifd = -1};
    tz_source *source = NULL;
    if (tz_source_open_file(&source, path, false, &ctx) != TZ_OK)
        fail_msg("%s", err.message);
    return source;
}

static bool reads_right(tz_source *source, uint64_t offset, size_t size)
{
    unsigned char *bytes = malloc(size + 1);
    tz_context ctx = {.ifd = -1};
    bool good = tz_source_read(source, offset, size, bytes, &ctx) == TZ_OK;
    for (size_t i = 0; good && i < size; i++)
        good = bytes[i] == byte_at(offset + i);
    free(bytes);
    return good;
}

/* The error of an open that must fail, and that leaves *out alone. */
static tz_error refusal(const char *path, bool no_follow)
{
    tz_error err = {.result = TZ_OK};
    tz_context ctx = {.err = &err, .ifd = -1};
    tz_source *source = NULL;
    tz_result result = tz_source_open_file(&source, path, no_follow, &ctx);
    assert_int_not_equal(result, TZ_OK);
    assert_int_equal(err.result, result);
    assert_null(source);
    return err;
}

/* ---------------------------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------------------------ */

static void any_range_within_the_file_is_read(void **state)
{
    (void)state;
    tz_source *source = open_source(make_file(SIZE));
    assert_int_equal(source->size, SIZE);
    static const struct {
        uint64_t offset;
        size_t size;
    } ranges[] = {{0, 0},    {0, 1},       {0, SIZE},     {1, SIZE - 1}, {SIZE - 1, 1},
                  {SIZE, 0}, {5000, 4096}, {0, SIZE - 1}, {4095, 2},     {SIZE / 2, 0}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        assert_true(reads_right(source, ranges[i].offset, ranges[i].size));
    assert_int_equal(source->check(source, NULL), TZ_OK);
    tz_source_close(source);
}

static void a_range_past_the_end_is_truncated_before_any_read(void **state)
{
    (void)state;
    tz_source *source = open_source(make_file(SIZE));
    static const struct {
        uint64_t offset;
        size_t size;
        uint64_t found;
    } ranges[] = {{SIZE, 1, 0},
                  {SIZE - 1, 2, 1},
                  {0, SIZE + 1, SIZE},
                  {SIZE + 1, 0, 0},
                  {SIZE + 1, 1, 0},
                  {UINT64_MAX, 1, 0},
                  {UINT64_MAX, 0, 0},
                  {UINT64_MAX - 1, 2, 0},
                  {1, SIZE_MAX, SIZE - 1},
                  {SIZE - 1, SIZE_MAX, 1},
                  {(uint64_t)INT64_MAX + 1, 1, 0}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        unsigned char untouched[2] = {0xab, 0xcd};
        tz_error err;
        tz_context ctx = {.name = "n", .err = &err, .ifd = 3};
        tz_result result =
            tz_source_read(source, ranges[i].offset, ranges[i].size, untouched, &ctx);
        assert_int_equal(result, TZ_ERR_FORMAT);
        assert_int_equal(err.cause, TZ_CAUSE_TRUNCATED);
        assert_int_equal(err.offset, ranges[i].offset);
        assert_int_equal(err.expected, ranges[i].size);
        assert_int_equal(err.found, ranges[i].found);
        assert_int_equal(err.ifd, 3);
        assert_int_equal(untouched[0], 0xab);
        assert_int_equal(untouched[1], 0xcd);
    }
    tz_source_close(source);
}

static void an_empty_file_has_nothing_to_read(void **state)
{
    (void)state;
    tz_source *source = open_source(make_file(0));
    assert_int_equal(source->size, 0);
    assert_true(reads_right(source, 0, 0));
    tz_context ctx = {.ifd = -1};
    char byte;
    assert_int_equal(tz_source_read(source, 0, 1, &byte, &ctx), TZ_ERR_FORMAT);
    tz_source_close(source);
}

static void a_request_has_many_ranges_in_any_order(void **state)
{
    (void)state;
    tz_source *source = open_source(make_file(SIZE));
    enum { COUNT = 100, LENGTH = 50 };
    unsigned char bytes[COUNT][LENGTH];
    tz_range ranges[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        ranges[i] = (tz_range){i * 7919 % (SIZE - LENGTH), LENGTH, bytes[i]};
    tz_request request = {ranges, COUNT, NULL};
    tz_error err;
    assert_int_equal(source->submit(source, &request, &err), TZ_OK);
    assert_int_equal(source->wait(source, &request, &err), TZ_OK);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < LENGTH; k++)
            assert_int_equal(bytes[i][k], byte_at(ranges[i].offset + k));

    memset(bytes, 0xee, sizeof bytes);
    ranges[COUNT - 1].offset = SIZE; /* one bad range, and none is read */
    assert_int_equal(source->submit(source, &request, &err), TZ_ERR_FORMAT);
    assert_int_equal(err.cause, TZ_CAUSE_TRUNCATED);
    assert_int_equal(bytes[0][0], 0xee);
    tz_source_close(source);
}

static void offsets_beyond_32_bits_are_exact(void **state)
{
    (void)state;
    const char *path = in_folder("sparse");
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    off_t offset = ((off_t)9 << 30) + 123;
    ssize_t written = pwrite(fd, "far", 3, offset);
    int write_error = errno;
    close(fd);
    if (written != 3 && (write_error == EFBIG || write_error == ENOSPC)) {
        print_message("skip: the file system has no room for a sparse file of 9 GiB\n");
        skip();
    }
    assert_int_equal(written, 3);
    tz_source *source = open_source(path);
    char bytes[5];
    tz_context ctx = {.ifd = -1};
    assert_int_equal(source->size, (uint64_t)offset + 3);
    assert_int_equal(tz_source_read(source, (uint64_t)offset - 2, 5, bytes, &ctx), TZ_OK);
    assert_memory_equal(bytes, "\0\0far", 5);
    tz_source_close(source);
}

static void the_descriptor_is_closed_with_the_source_and_on_exec(void **state)
{
    (void)state;
    const char *path = make_file(10);
    int expected = open(path, O_RDONLY | O_CLOEXEC);
    close(expected); /* the number that the next open gets */
    tz_source *source = open_source(path);
    int flags = fcntl(expected, F_GETFD);
    assert_true(flags >= 0 && (flags & FD_CLOEXEC));
    tz_source_close(source);
    assert_int_equal(fcntl(expected, F_GETFD), -1);
    assert_int_equal(refusal(folder, false).cause, TZ_CAUSE_UNSAFE);
    assert_int_equal(fcntl(expected, F_GETFD), -1); /* a refusal keeps none either */
}

/* ---------------------------------------------------------------------------------------------
 * Refusals
 * ------------------------------------------------------------------------------------------ */

static void no_path_is_a_mistake_of_the_caller(void **state)
{
    (void)state;
    assert_int_equal(refusal(NULL, false).result, TZ_ERR_ARG);
    assert_int_equal(refusal("", false).result, TZ_ERR_ARG);
}

static void a_missing_file_is_enoent(void **state)
{
    (void)state;
    tz_error err = refusal(in_folder("nothing"), false);
    assert_int_equal(err.result, TZ_ERR_IO);
    assert_int_equal(err.cause, TZ_CAUSE_IO);
    assert_int_equal(err.system_error, ENOENT);
    assert_non_null(strstr(err.message, "/nothing: cannot open: "));
    make_file(1);
    assert_int_equal(refusal(in_folder("data/below"), false).system_error, ENOTDIR);
}

static void assert_unsafe(const char *path, const char *what)
{
    tz_error err = refusal(path, false);
    assert_int_equal(err.result, TZ_ERR_IO);
    assert_int_equal(err.cause, TZ_CAUSE_UNSAFE);
    assert_non_null(strstr(err.message, what));
}

static void directories_fifos_and_devices_are_refused_at_once(void **state)
{
    (void)state;
    assert_unsafe(folder, "is a directory");
    const char *fifo = in_folder("fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_unsafe(fifo, "is a FIFO"); /* would wait for a writer for ever */
    assert_unsafe("/dev/zero", "is a character device");
    assert_unsafe("/dev/null", "is a character device");
}

static void a_socket_is_refused(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", folder);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_unsafe(address.sun_path, "is a socket");
    close(fd);
}

static void links_are_followed_unless_forbidden(void **state)
{
    (void)state;
    make_file(SIZE);
    const char *link = in_folder("link");
    assert_int_equal(symlink("data", link), 0);
    tz_source *source = open_source(link);
    assert_int_equal(source->size, SIZE);
    tz_source_close(source);
    tz_error err = refusal(link, true);
    assert_int_equal(err.result, TZ_ERR_IO);
    assert_int_equal(err.cause, TZ_CAUSE_UNSAFE);
    assert_int_equal(err.system_error, ELOOP);
    tz_context ctx = {.ifd = -1};
    assert_int_equal(tz_source_open_file(&source, in_folder("data"), true, &ctx), TZ_OK);
    tz_source_close(source);
}

static void a_loop_of_links_and_a_dangling_one_are_refused(void **state)
{
    (void)state;
    assert_int_equal(symlink("b", in_folder("a")), 0);
    assert_int_equal(symlink("a", in_folder("b")), 0);
    assert_int_equal(symlink("nothing", in_folder("dangling")), 0);
    assert_int_equal(refusal(in_folder("a"), false).system_error, ELOOP);
    assert_int_equal(refusal(in_folder("a"), false).cause, TZ_CAUSE_IO);
    assert_int_equal(refusal(in_folder("dangling"), false).system_error, ENOENT);
    assert_int_equal(refusal(in_folder("dangling"), true).system_error, ELOOP);
}

static void a_name_that_is_too_long_is_refused(void **state)
{
    (void)state;
    char path[6000];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_int_equal(refusal(path, false).system_error, ENAMETOOLONG);
}

static void the_name_of_the_context_is_shown_and_else_the_path(void **state)
{
    (void)state;
    tz_error err;
    tz_context ctx = {.name = "shown", .err = &err, .ifd = -1};
    tz_source *source = NULL;
    assert_int_equal(tz_source_open_file(&source, folder, false, &ctx), TZ_ERR_IO);
    assert_memory_equal(err.message, "shown: is a directory", 21);
    ctx.name = NULL;
    assert_int_equal(tz_source_open_file(&source, folder, false, &ctx), TZ_ERR_IO);
    assert_memory_equal(err.message, folder, strlen(folder));
}

static void open_without_memory_closes_the_file(void **state)
{
    (void)state;
    const char *path = make_file(1);
    int next = open(path, O_RDONLY | O_CLOEXEC);
    close(next);
    alloc_hook_install();
    alloc_hook_fail_at(1, false);
    tz_error err = refusal(path, false);
    alloc_hook_remove();
    assert_int_equal(err.result, TZ_ERR_NOMEM);
    assert_int_equal(fcntl(next, F_GETFD), -1);
}

/* ---------------------------------------------------------------------------------------------
 * Files that change
 * ------------------------------------------------------------------------------------------ */

static tz_result checked(tz_source *source)
{
    tz_error err = {.result = TZ_OK};
    tz_result result = source->check(source, &err);
    assert_int_equal(err.result, result);
    if (result != TZ_OK)
        assert_int_equal(err.cause, TZ_CAUSE_CHANGED);
    return result;
}

static void a_file_that_shrinks_is_changed(void **state)
{
    (void)state;
    const char *path = make_file(SIZE);
    tz_source *source = open_source(path);
    assert_int_equal(checked(source), TZ_OK);
    assert_int_equal(truncate(path, 5000), 0);
    assert_int_equal(checked(source), TZ_ERR_CHANGED);
    assert_true(reads_right(source, 0, 5000)); /* what is still there */
    unsigned char bytes[100];
    tz_error err;
    tz_context ctx = {.name = "n", .err = &err, .ifd = -1};
    assert_int_equal(tz_source_read(source, 4950, 100, bytes, &ctx), TZ_ERR_CHANGED);
    assert_int_equal(err.cause, TZ_CAUSE_CHANGED);
    assert_int_equal(err.offset, 5000);
    assert_int_equal(err.expected, SIZE);
    assert_int_equal(err.found, 5000);
    assert_int_equal(tz_source_read(source, 9000, 100, bytes, &ctx), TZ_ERR_CHANGED);
    tz_source_close(source);
}

static void a_file_that_grows_is_changed_and_keeps_its_size(void **state)
{
    (void)state;
    const char *path = make_file(SIZE);
    tz_source *source = open_source(path);
    append_bytes(path, SIZE, 100);
    assert_int_equal(checked(source), TZ_ERR_CHANGED);
    assert_int_equal(source->size, SIZE);
    char byte;
    tz_context ctx = {.ifd = -1};
    assert_int_equal(tz_source_read(source, SIZE, 1, &byte, &ctx), TZ_ERR_FORMAT);
    tz_source_close(source);
}

/* A file system may count time in steps of milliseconds: set the time to one that differs. */
static void set_modified(const char *path, time_t seconds, long nanoseconds)
{
    struct timespec times[2] = {{0, UTIME_OMIT}, {seconds, nanoseconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void a_file_written_to_in_place_is_changed(void **state)
{
    (void)state;
    const char *path = make_file(SIZE);
    set_modified(path, 1000000000, 5);
    tz_source *source = open_source(path);
    assert_int_equal(checked(source), TZ_OK);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "x", 1, 10), 1);
    close(fd);
    assert_int_equal(checked(source), TZ_ERR_CHANGED);
    set_modified(path, 1000000000, 6);
    assert_int_equal(checked(source), TZ_ERR_CHANGED); /* one nanosecond is enough */
    set_modified(path, 1000000001, 5);
    assert_int_equal(checked(source), TZ_ERR_CHANGED);
    tz_source_close(source);
}

static void what_leaves_the_bytes_alone_is_no_change(void **state)
{
    (void)state;
    const char *path = make_file(SIZE);
    tz_source *source = open_source(path);
    assert_int_equal(chmod(path, 0400), 0);
    assert_int_equal(checked(source), TZ_OK);
    assert_int_equal(link(path, in_folder("second")), 0);
    assert_int_equal(checked(source), TZ_OK);
    assert_int_equal(rename(path, in_folder("third")), 0);
    assert_int_equal(checked(source), TZ_OK);
    assert_true(reads_right(source, 0, SIZE));
    tz_source_close(source);
}

static void a_file_that_is_replaced_or_deleted_stays_readable(void **state)
{
    (void)state;
    const char *path = make_file(SIZE);
    tz_source *source = open_source(path);
    append_bytes(in_folder("new"), 1, 50);
    assert_int_equal(rename(in_folder("new"), path), 0);
    assert_int_equal(checked(source), TZ_OK);
    assert_true(reads_right(source, 0, SIZE));
    assert_int_equal(unlink(path), 0);
    assert_true(reads_right(source, 100, SIZE - 100));
    assert_int_equal(checked(source), TZ_OK);
    tz_source_close(source);
}

/* ---------------------------------------------------------------------------------------------
 * Threads
 * ------------------------------------------------------------------------------------------ */

static void *read_often(void *argument)
{
    tz_source *source = argument;
    uintptr_t wrong = 0;
    for (uint64_t i = 0; i < 500; i++) {
        uint64_t offset = i * 7919 % SIZE;
        wrong += !reads_right(source, offset, (size_t)(SIZE - offset) % 3000);
        wrong += source->check(source, NULL) != TZ_OK;
    }
    return (void *)wrong;
}

static void eight_threads_read_one_source_at_once(void **state)
{
    (void)state;
    tz_source *source = open_source(make_file(SIZE));
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_often, source), 0);
    for (int i = 0; i < 8; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    tz_source_close(source);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(any_range_within_the_file_is_read),
        IN_FOLDER(a_range_past_the_end_is_truncated_before_any_read),
        IN_FOLDER(an_empty_file_has_nothing_to_read),
        IN_FOLDER(a_request_has_many_ranges_in_any_order),
        IN_FOLDER(offsets_beyond_32_bits_are_exact),
        IN_FOLDER(the_descriptor_is_closed_with_the_source_and_on_exec),
        IN_FOLDER(no_path_is_a_mistake_of_the_caller),
        IN_FOLDER(a_missing_file_is_enoent),
        IN_FOLDER(directories_fifos_and_devices_are_refused_at_once),
        IN_FOLDER(a_socket_is_refused),
        IN_FOLDER(links_are_followed_unless_forbidden),
        IN_FOLDER(a_loop_of_links_and_a_dangling_one_are_refused),
        IN_FOLDER(a_name_that_is_too_long_is_refused),
        IN_FOLDER(the_name_of_the_context_is_shown_and_else_the_path),
        IN_FOLDER(open_without_memory_closes_the_file),
        IN_FOLDER(a_file_that_shrinks_is_changed),
        IN_FOLDER(a_file_that_grows_is_changed_and_keeps_its_size),
        IN_FOLDER(a_file_written_to_in_place_is_changed),
        IN_FOLDER(what_leaves_the_bytes_alone_is_no_change),
        IN_FOLDER(a_file_that_is_replaced_or_deleted_stays_readable),
        IN_FOLDER(eight_threads_read_one_source_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
