/* SPDX-License-Identifier: Apache-2.0
 * Temporary files: their names, their publication, and the distinction of files of living writes
 * from leftovers of killed ones, which the next write to the destination and tz_clean remove.
 *
 * A name is .NAME.tzNN.part, with NN from 00 and NAME that of the destination, shortened if it is
 * long. So the next write to a destination finds a leftover without a search of the directory.
 * Every temporary file is locked (flock) by the process that writes it; the system releases the
 * lock when the process ends, however it ends.
 *
 * Two rules make this safe among processes that know nothing of each other:
 *
 *   1. A process removes a name only if it holds the lock of the named file, and has seen under the
 *      lock that the name is still that of the file.
 *   2. A process writes a file only if it holds its lock, and has seen under the lock that the name
 * is still its own.
 *
 * Two processes find the same leftover: one gets the lock and removes the name. The other is
 * refused the lock and goes on to the next number; or gets it later, and sees that the name is gone
 * or names another file. No name changes between check and removal, since a process that could
 * change it needs the lock (1), or would have to create a name that exists (O_EXCL, linkat).
 *
 * A file that was created but is not locked yet looks like a leftover. A process that takes it for
 * one locks it: then its creator is refused the lock, or gets it after the name is gone, and starts
 * again (2). Once the creator has the lock and the name, nobody else may remove it (1). A file
 * without a name is locked before it gets one.
 *
 * On a file system without locks, nothing is ever taken for a leftover.
 *
 * Publication is one system call, before which the destination shows nothing of the new file, and
 * after which nothing of the old one. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/number.h"
#include "io/sink_file.h"
#include "io/sink_syscalls.h"

#define NUMBER_COUNT   100 /* temporary files of one destination: two digits */
#define MAX_TRIES      3 /* for one number, before it is left to the processes that compete for it */
#define PROC_NAME_SIZE 32

static const char before_number[] = ".tz";
static const char after_number[] = ".part";
enum { ENDING_LENGTH = sizeof before_number - 1 + 2 + sizeof after_number - 1 };

/* ---- names ---- */

/* A long name is cut between characters of UTF-8. Two names that become the same do no harm: they
 * share the numbers. */
static void format_name(char out[TZ_MAX_TEMPORARY_NAME_LENGTH + 1], const char *name,
                        unsigned number)
{
    enum { MAX_LENGTH = TZ_MAX_TEMPORARY_NAME_LENGTH - 1 - ENDING_LENGTH };
    size_t length = strlen(name);
    if (length > MAX_LENGTH) {
        length = MAX_LENGTH;
        while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80)
            length--;
        if (length == 0) /* not UTF-8 */
            length = MAX_LENGTH;
    }
    snprintf(out, TZ_MAX_TEMPORARY_NAME_LENGTH + 1, ".%.*s%s%02u%s", (int)length, name,
             before_number, number, after_number);
}

bool tz_is_temporary_name(const char *name)
{
    size_t size = strlen(name);
    if (name[0] != '.' || size < 1 + 1 + ENDING_LENGTH || size > TZ_MAX_TEMPORARY_NAME_LENGTH)
        return false;
    const char *ending = name + size - ENDING_LENGTH;
    const char *number = ending + strlen(before_number);
    return strncmp(ending, before_number, strlen(before_number)) == 0 && tz_is_digit(number[0]) &&
           tz_is_digit(number[1]) && strcmp(number + 2, after_number) == 0;
}

/* A file without a name can be linked by this one. */
static void format_proc_name(char name[PROC_NAME_SIZE], int fd)
{
    snprintf(name, PROC_NAME_SIZE, "/proc/self/fd/%d", fd);
}

/* ---- locks and leftovers ---- */

/* Returns 0 if the name is that of the open file, ENOENT if it is gone or names another file, else
 * errno. */
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

static int check_temporary(const tz_temporary *temporary, int dir)
{
    return check_name(dir, temporary->name, AT_SYMLINK_NOFOLLOW, temporary->fd);
}

static int try_lock(int fd)
{
    int failed;
    TZ_RETRY(failed, tz_sink_syscall->lock(fd));
    return failed ? errno : 0;
}

/* True if nobody can lock files here, and therefore nobody takes ours for a leftover. (ENOLCK may
 * also be a passing shortage: the check before publication covers it.) */
static bool locks_are_unsupported(int error_number)
{
    return error_number == ENOLCK || error_number == ENOTSUP || error_number == ENOSYS ||
           error_number == EINVAL;
}

/* Opens and locks the file that a killed write left, so that nobody else removes it or takes it for
 * a leftover. Returns its descriptor; -1 if it is in use, gone, not ours or unknown. */
static int claim_leftover(int dir, const char *name, struct stat *status)
{
    const int flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const uid_t user = geteuid();
    int fd;
    /* Some systems lock only files open for writing. But the killed write may just have made it
     * read-only, like the file that it was to replace. */
    TZ_RETRY(fd, tz_sink_syscall->openat(dir, name, O_RDWR | flags, 0));
    if (fd < 0 && errno == EACCES)
        TZ_RETRY(fd, tz_sink_syscall->openat(dir, name, O_RDONLY | flags, 0));
    if (fd < 0)
        return -1;
    /* A leftover of the administrator may have the owner of the file that it was to replace. */
    if (tz_sink_syscall->fstat(fd, status) == 0 && S_ISREG(status->st_mode) &&
        (status->st_uid == user || user == 0) && try_lock(fd) == 0 &&
        check_name(dir, name, AT_SYMLINK_NOFOLLOW, fd) == 0)
        return fd;
    (void)tz_sink_syscall->close(fd);
    return -1;
}

/* Returns true if it has removed the name. */
static bool remove_leftover(int dir, const char *name)
{
    struct stat status;
    int fd = claim_leftover(dir, name, &status);
    if (fd < 0)
        return false;
    bool removed = tz_sink_syscall->unlinkat(dir, name, 0) == 0;
    (void)tz_sink_syscall->close(fd);
    return removed;
}

/* ---- creation ---- */

/* Creates the file of temporary->name. Returns 0, or errno; EAGAIN if another process was faster.
 */
typedef int create_file_fn(tz_temporary *temporary, const tz_destination *destination);

/* Creates a file with the first free number. */
static tz_result create_with_free_name(tz_temporary *temporary, const tz_destination *destination,
                                       create_file_fn *create, const tz_context *ctx)
{
    tz_result result;
    for (unsigned number = 0; number < NUMBER_COUNT; number++) {
        format_name(temporary->name, destination->name, number);
        for (int tries = 0; tries < MAX_TRIES; tries++) {
            const int failed = create(temporary, destination);
            if (failed == 0)
                return TZ_OK;
            if (failed != EAGAIN && failed != EEXIST) {
                result = tz_fail_errno(ctx, tz_no_location(), failed,
                                       "cannot create a temporary file (%s)", temporary->name);
                goto out;
            }
            if (failed == EEXIST && !remove_leftover(destination->dir, temporary->name))
                break;
        }
    }
    result = tz_fail_errno(ctx, tz_no_location(), EEXIST,
                           "all %d names of temporary files for it are in use", NUMBER_COUNT);
out:
    temporary->name[0] = '\0';
    return result;
}

/* Nobody else may read a file that will replace another, until it has the permissions of that file.
 * A new file may be read from the start by its later readers: the system applies the umask, or the
 * default access list of the directory, as to any new file. */
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
        (void)tz_sink_syscall->close(fd); /* the holder of the lock removes its name */
        return EAGAIN;
    }
    if (failed == 0 || locks_are_unsupported(failed))
        failed = check_temporary(temporary, destination->dir);
    if (failed)
        tz_temporary_close(temporary, destination->dir);
    return failed == ENOENT ? EAGAIN : failed;
}

static int link_unnamed(tz_temporary *temporary, const tz_destination *destination)
{
    char from[PROC_NAME_SIZE];
    format_proc_name(from, temporary->fd);
    const int failed = tz_sink_syscall->linkat(AT_FDCWD, from, destination->dir, temporary->name,
                                               AT_SYMLINK_FOLLOW);
    return failed ? errno : 0;
}

/* Nobody can open a file without a name, so it has the permissions of a new file from the start. It
 * is useful only if /proc can give it a name later. After any failure a file with a name is tried,
 * and that reports the error. */
static bool open_unnamed(tz_temporary *out, const tz_destination *destination)
{
    char proc_name[PROC_NAME_SIZE];
    int fd;
    TZ_RETRY(fd, tz_sink_syscall->open_unnamed(destination->dir, 0666));
    if (fd < 0)
        return false;
    format_proc_name(proc_name, fd);
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

tz_result tz_temporary_open(tz_temporary *out, const tz_destination *destination,
                            const tz_context *ctx)
{
    /* Leftovers may fill the disk: they go first, even if no name is needed now. */
    char name[TZ_MAX_TEMPORARY_NAME_LENGTH + 1];
    unsigned number = 0;
    do {
        format_name(name, destination->name, number++);
    } while (number < NUMBER_COUNT && remove_leftover(destination->dir, name));
    return open_unnamed(out, destination)
               ? TZ_OK
               : create_with_free_name(out, destination, create_named, ctx);
}

void tz_temporary_close(tz_temporary *temporary, int dir)
{
    if (temporary->name[0] != '\0' && check_temporary(temporary, dir) == 0)
        (void)tz_sink_syscall->unlinkat(dir, temporary->name, 0);
    (void)tz_sink_syscall->close(temporary->fd);
}

/* ---- publication ---- */

static tz_result fail_publish(int error_number, bool exclusive, const tz_context *ctx)
{
    if (error_number == EEXIST && exclusive)
        return tz_fail_exists(ctx);
    return tz_fail_errno(ctx, tz_no_location(), error_number,
                         "cannot give the complete file its name");
}

/* linkat fails if the name exists. It leaves two names if we are killed before the second call:
 * both are of the complete file, and the next write removes the temporary one. */
static int rename_without_replacing(const char *from, const tz_destination *destination)
{
    const int dir = destination->dir;
    int failed = tz_sink_syscall->rename_new(dir, from, destination->name);
    if (failed && (errno == ENOSYS || errno == EINVAL || errno == ENOTSUP)) {
        failed = tz_sink_syscall->linkat(dir, from, dir, destination->name, 0);
        if (failed == 0) /* if the next call fails, it is published all the same */
            (void)tz_sink_syscall->unlinkat(dir, from, 0);
    }
    return failed;
}

/* A host that does not see the locks of another may have taken a living write for a dead one, so
 * the name may be that of another file now. */
static tz_result publish_named(tz_temporary *temporary, const tz_destination *destination,
                               bool exclusive, const tz_context *ctx)
{
    int failed = check_temporary(temporary, destination->dir);
    if (failed)
        return tz_fail_errno(ctx, tz_no_location(), failed, "the temporary file %s is lost",
                             temporary->name);
    failed = exclusive ? rename_without_replacing(temporary->name, destination)
                       : tz_sink_syscall->renameat(destination->dir, temporary->name,
                                                   destination->dir, destination->name);
    if (failed)
        return fail_publish(errno, exclusive, ctx);
    temporary->name[0] = '\0';
    return TZ_OK;
}

/* A link cannot replace a file: in that case the file gets a temporary name first, and is renamed.
 */
static tz_result publish_unnamed(tz_temporary *temporary, const tz_destination *destination,
                                 bool exclusive, const tz_context *ctx)
{
    char from[PROC_NAME_SIZE];
    format_proc_name(from, temporary->fd);
    if (tz_sink_syscall->linkat(AT_FDCWD, from, destination->dir, destination->name,
                                AT_SYMLINK_FOLLOW) == 0)
        return TZ_OK;
    if (errno != EEXIST || exclusive)
        return fail_publish(errno, exclusive, ctx);
    TZ_TRY(create_with_free_name(temporary, destination, link_unnamed, ctx));
    return publish_named(temporary, destination, exclusive, ctx);
}

tz_result tz_temporary_publish(tz_temporary *temporary, const tz_destination *destination,
                               bool exclusive, const tz_context *ctx)
{
    return temporary->name[0] == '\0' ? publish_unnamed(temporary, destination, exclusive, ctx)
                                      : publish_named(temporary, destination, exclusive, ctx);
}

/* ---- removal of leftovers in a directory ---- */

typedef struct clean_job {
    const char *directory;
    int dir;
    time_t now;
    uint64_t min_age; /* seconds */
    bool (*found)(void *user, const char *path);
    void *user;
    const tz_progress *progress;
    uint64_t removed;
} clean_job;

static bool is_old(const clean_job *job, const struct stat *status)
{
    uint64_t age = job->now > status->st_mtime ? (uint64_t)(job->now - status->st_mtime) : 0;
    return age >= job->min_age;
}

/* Removes a file if a killed write left it. A file that is too young is not even locked: it may be
 * one that is being created. Its age is checked again under the lock, with which the name stays
 * that of this file. */
static tz_result clean_if_leftover(clean_job *job, const char *name, const tz_context *ctx)
{
    struct stat status;
    if (!tz_is_temporary_name(name) ||
        tz_sink_syscall->fstatat(job->dir, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !is_old(job, &status))
        return TZ_OK;
    const int fd = claim_leftover(job->dir, name, &status);
    if (fd < 0)
        return TZ_OK;
    tz_result result = TZ_OK;
    bool remove = is_old(job, &status);
    if (remove && job->found) {
        const size_t size = strlen(job->directory) + 1 + strlen(name) + 1;
        char *path = tz_alloc(size);
        if (path)
            snprintf(path, size, "%s/%s", job->directory, name);
        else
            result = tz_fail_nomem(ctx, size);
        remove = path && job->found(job->user, path);
        tz_free(path);
    }
    if (remove && tz_sink_syscall->unlinkat(job->dir, name, 0) == 0)
        job->removed++;
    else if (remove)
        result = tz_fail_errno(ctx, tz_no_location(), errno, "cannot remove %s", name);
    (void)tz_sink_syscall->close(fd);
    return result;
}

/* Goes on after a file that cannot be removed, and returns the first error. */
static tz_result clean_directory(clean_job *job, const tz_context *ctx)
{
    const tz_context silent = {.name = ctx->name, .ifd = -1};
    tz_result first = TZ_OK;
    TZ_RETRY(job->dir, tz_sink_syscall->openat(AT_FDCWD, job->directory,
                                               O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    if (job->dir < 0)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot open the directory");
    DIR *list = tz_sink_syscall->fdopendir(job->dir);
    if (!list) {
        const int error_number = errno;
        (void)tz_sink_syscall->close(job->dir);
        return tz_fail_errno(ctx, tz_no_location(), error_number, "cannot list the directory");
    }
    for (uint64_t done = 0;; done++) {
        const tz_result cancelled =
            tz_check_progress(first == TZ_OK ? ctx : &silent, job->progress, done, 0);
        errno = 0; /* with it, NULL is the end of the list */
        const struct dirent *entry = cancelled == TZ_OK ? tz_sink_syscall->readdir(list) : NULL;
        if (first == TZ_OK)
            first = cancelled;
        if (!entry)
            break;
        const tz_result result =
            clean_if_leftover(job, entry->d_name, first == TZ_OK ? ctx : &silent);
        if (first == TZ_OK)
            first = result;
    }
    if (errno != 0 && first == TZ_OK)
        first = tz_fail_errno(ctx, tz_no_location(), errno, "cannot list the directory");
    (void)tz_sink_syscall->closedir(list);
    return first;
}

tz_result tz_clean(uint64_t *removed, const char *directory, uint64_t min_age,
                   bool (*found)(void *user, const char *path), void *user,
                   const tz_progress *progress, tz_error *err)
{
    tz_context ctx = {.name = directory, .err = err, .ifd = -1};
    if (!directory || !*directory)
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the path of the directory is empty");
    clean_job job = {.directory = directory,
                     .now = time(NULL),
                     .min_age = min_age,
                     .found = found,
                     .user = user,
                     .progress = progress};
    tz_result result = clean_directory(&job, &ctx);
    if (removed)
        *removed = job.removed;
    return result;
}
