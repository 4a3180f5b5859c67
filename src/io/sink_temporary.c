/* SPDX-License-Identifier: Apache-2.0
 * Temporary files: how they are named, and how those of living writes are told from those of dead
 * ones.
 *
 * A name is .NAME.tzNN.part, with NN from 00 and NAME that of the destination, shortened where it
 * is long. So the next write to a destination meets what a killed one left without looking through
 * the directory. Every temporary file is locked (flock) by the process that writes it; the system
 * takes the lock away when the process ends, however it ends.
 *
 * Two rules make this safe among processes that know nothing of each other:
 *
 *   1. A name is removed only by who holds the lock of the file that it names, and has seen under
 *      the lock that it does.
 *   2. A file is written only by who holds its lock, and has seen under the lock that the name is
 *      still its own.
 *
 * Two that find the same leftover: one gets the lock and removes the name. The other is refused the
 * lock and goes on to the next number; or gets it later, and sees that the name is gone or names
 * another file. No name changes between check and removal, since whoever could change it needs the
 * lock (1), or would have to create a name that exists (O_EXCL, linkat).
 *
 * A file that was created but is not locked yet looks like a leftover. Who takes it for one locks
 * it: then its creator is refused the lock, or gets it after the name is gone, and starts again
 * (2). Once the creator has the lock and the name, nobody else may remove it (1). A file without a
 * name is locked before it gets one.
 *
 * Where there are no locks, nothing is ever taken for a leftover. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/sink_file.h"
#include "io/sink_syscalls.h"

#define NUMBER_COUNT 100 /* of temporary files of one destination: two digits */
#define MAX_TRIES    3   /* for one number, before it is left to whoever fights for it */

static const char before_number[] = ".tz";
static const char after_number[] = ".part";
enum { ENDING_LENGTH = sizeof before_number - 1 + 2 + sizeof after_number - 1 };

/* ---------------------------------------------------------------------------------------------
 * Names
 * ------------------------------------------------------------------------------------------ */

/* Of UTF-8 no part of a character is kept. Names that become the same are no harm: they count on
 * with the same numbers. */
static size_t shortened_length(const char *name)
{
    size_t max_length = TZ_MAX_TEMPORARY_NAME_LENGTH - 1 - ENDING_LENGTH;
    size_t size = strlen(name);
    if (size <= max_length)
        return size;
    size_t length = max_length;
    while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80)
        length--;
    return length > 0 ? length : max_length;
}

static void format_name(char out[TZ_MAX_TEMPORARY_NAME_LENGTH + 1], const char *name,
                        unsigned number)
{
    snprintf(out, TZ_MAX_TEMPORARY_NAME_LENGTH + 1, ".%.*s%s%02u%s", (int)shortened_length(name),
             name, before_number, number, after_number);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool tz_is_temporary_name(const char *name)
{
    size_t size = strlen(name);
    if (name[0] != '.' || size < 1 + 1 + ENDING_LENGTH || size > TZ_MAX_TEMPORARY_NAME_LENGTH)
        return false;
    const char *ending = name + size - ENDING_LENGTH;
    const char *number = ending + strlen(before_number);
    return strncmp(ending, before_number, strlen(before_number)) == 0 && is_digit(number[0]) &&
           is_digit(number[1]) && strcmp(number + 2, after_number) == 0;
}

void tz_temporary_proc_name(char name[TZ_PROC_NAME_SIZE], int fd)
{
    snprintf(name, TZ_PROC_NAME_SIZE, "/proc/self/fd/%d", fd);
}

/* ---------------------------------------------------------------------------------------------
 * Locks and leftovers
 * ------------------------------------------------------------------------------------------ */

/* 0 when the name is that of the open file, ENOENT when it is gone or another's, else errno. */
static int check_name(int dir, const char *name, int flags, int fd)
{
    struct stat named;
    struct stat held;
    int failed;
    TZ_RETRY(failed, tz_sink_syscall->fstatat(dir, name, &named, flags));
    if (failed || tz_sink_syscall->fstat(fd, &held) != 0)
        return errno;
    return tz_same_file(&named, &held) ? 0 : ENOENT;
}

static int try_lock(int fd)
{
    int failed;
    TZ_RETRY(failed, tz_sink_syscall->lock(fd));
    return failed ? errno : 0;
}

/* Nobody can lock files here, so nobody takes ours for a leftover. (ENOLCK may also be a shortage
 * of the moment: the check before a file is published is for that.) */
static bool locks_are_unsupported(int error_number)
{
    return error_number == ENOLCK || error_number == ENOTSUP || error_number == ENOSYS ||
           error_number == EINVAL;
}

/* Some systems lock only what may be written to; and one that was killed may have been made
 * read-only just before, as the file that it was to replace is. */
static int open_leftover(int dir, const char *name)
{
    int flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    int fd;
    TZ_RETRY(fd, tz_sink_syscall->openat(dir, name, O_RDWR | flags, 0));
    if (fd < 0 && errno == EACCES)
        TZ_RETRY(fd, tz_sink_syscall->openat(dir, name, O_RDONLY | flags, 0));
    return fd;
}

/* The administrator's may have got the owner of the file that they were to replace. */
static bool is_ours(const struct stat *status)
{
    uid_t user = geteuid();
    return S_ISREG(status->st_mode) && (status->st_uid == user || user == 0);
}

int tz_claim_leftover(int dir, const char *name, struct stat *status)
{
    int fd = open_leftover(dir, name);
    if (fd < 0)
        return -1;
    if (tz_sink_syscall->fstat(fd, status) == 0 && is_ours(status) && try_lock(fd) == 0 &&
        check_name(dir, name, AT_SYMLINK_NOFOLLOW, fd) == 0)
        return fd;
    (void)tz_sink_syscall->close(fd);
    return -1;
}

/* Whether the name is free now. */
static bool remove_leftover(int dir, const char *name)
{
    struct stat status;
    int fd = tz_claim_leftover(dir, name, &status);
    if (fd < 0)
        return false;
    bool removed = tz_sink_syscall->unlinkat(dir, name) == 0;
    (void)tz_sink_syscall->close(fd);
    return removed;
}

/* ---------------------------------------------------------------------------------------------
 * Making them
 * ------------------------------------------------------------------------------------------ */

/* Makes the file of temporary->name: 0, or errno; EAGAIN when another process was faster. */
typedef int create_file_fn(tz_temporary *temporary, const tz_destination *destination);

static tz_result fail_to_create(tz_temporary *temporary, int error_number, const tz_context *ctx)
{
    tz_result result = tz_fail_errno(ctx, tz_no_location(), error_number,
                                     "cannot create a temporary file (%s)", temporary->name);
    temporary->name[0] = '\0';
    return result;
}

/* The first number that can be had. */
static tz_result create_with_free_name(tz_temporary *temporary, const tz_destination *destination,
                                       create_file_fn *create, const tz_context *ctx)
{
    for (unsigned number = 0; number < NUMBER_COUNT; number++) {
        format_name(temporary->name, destination->name, number);
        for (int tries = 0; tries < MAX_TRIES; tries++) {
            int failed = create(temporary, destination);
            if (failed == 0)
                return TZ_OK;
            if (failed != EAGAIN && failed != EEXIST)
                return fail_to_create(temporary, failed, ctx);
            if (failed == EEXIST && !remove_leftover(destination->dir, temporary->name))
                break;
        }
    }
    temporary->name[0] = '\0';
    return tz_fail_errno(ctx, tz_no_location(), EEXIST,
                         "all %d names of temporary files for it are taken", NUMBER_COUNT);
}

/* One that will replace a file is for nobody else to read until it has that file's permissions. A
 * new one may be read from the start by those who may read it in the end: the system applies the
 * umask, or the directory's default access list, as to any new file. */
static int create_named(tz_temporary *temporary, const tz_destination *destination)
{
    int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd;
    TZ_RETRY(fd, tz_sink_syscall->openat(destination->dir, temporary->name, flags,
                                         destination->exists ? 0600 : 0666));
    if (fd < 0)
        return errno;
    temporary->fd = fd;
    int failed = try_lock(fd);
    if (failed == EWOULDBLOCK) {
        (void)tz_sink_syscall->close(fd); /* its name is for who has the lock to remove */
        return EAGAIN;
    }
    if (failed == 0 || locks_are_unsupported(failed))
        failed = tz_temporary_check(temporary, destination->dir);
    if (failed)
        tz_temporary_close(temporary, destination->dir);
    return failed == ENOENT ? EAGAIN : failed;
}

static int link_unnamed(tz_temporary *temporary, const tz_destination *destination)
{
    char from[TZ_PROC_NAME_SIZE];
    tz_temporary_proc_name(from, temporary->fd);
    if (tz_sink_syscall->linkat(AT_FDCWD, from, destination->dir, temporary->name,
                                AT_SYMLINK_FOLLOW) == 0)
        return 0;
    return errno;
}

/* Nobody can open a file without a name, so that the permissions of a new file suit it from the
 * start. It is of use only where /proc can give it a name. Whatever is wrong with it, the way with
 * a name is tried next, and its error is the one to tell. */
static bool open_unnamed(tz_temporary *out, const tz_destination *destination)
{
    char proc_name[TZ_PROC_NAME_SIZE];
    int fd;
    TZ_RETRY(fd, tz_sink_syscall->open_unnamed(destination->dir, 0666));
    if (fd < 0)
        return false;
    tz_temporary_proc_name(proc_name, fd);
    int failed = try_lock(fd);
    if (failed == 0 || locks_are_unsupported(failed))
        failed = check_name(AT_FDCWD, proc_name, 0, fd);
    if (failed) {
        (void)tz_sink_syscall->close(fd);
        return false;
    }
    *out = (tz_temporary){.fd = fd};
    return true;
}

/* What an earlier write left may fill the disk: it goes first, also when no name is needed now. */
static void remove_leftovers(const tz_destination *destination)
{
    char name[TZ_MAX_TEMPORARY_NAME_LENGTH + 1];
    unsigned number = 0;
    do {
        format_name(name, destination->name, number++);
    } while (number < NUMBER_COUNT && remove_leftover(destination->dir, name));
}

tz_result tz_temporary_open(tz_temporary *out, const tz_destination *destination,
                            const tz_context *ctx)
{
    remove_leftovers(destination);
    return open_unnamed(out, destination)
               ? TZ_OK
               : create_with_free_name(out, destination, create_named, ctx);
}

tz_result tz_temporary_link(tz_temporary *temporary, const tz_destination *destination,
                            const tz_context *ctx)
{
    return create_with_free_name(temporary, destination, link_unnamed, ctx);
}

int tz_temporary_check(const tz_temporary *temporary, int dir)
{
    return check_name(dir, temporary->name, AT_SYMLINK_NOFOLLOW, temporary->fd);
}

void tz_temporary_close(tz_temporary *temporary, int dir)
{
    if (temporary->name[0] != '\0' && tz_temporary_check(temporary, dir) == 0)
        (void)tz_sink_syscall->unlinkat(dir, temporary->name);
    (void)tz_sink_syscall->close(temporary->fd);
}
