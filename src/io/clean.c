/* SPDX-License-Identifier: Apache-2.0
 * Removal of what writes that were killed left in a directory. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "io/sink_file.h"
#include "io/sink_syscalls.h"

typedef struct clean_job {
    const char *directory;
    int dir;
    time_t now;
    uint64_t min_age;
    bool (*found)(void *user, const char *path);
    void *user;
    uint64_t removed;
} clean_job;

static bool is_old(const clean_job *job, const struct stat *status)
{
    uint64_t age = job->now > status->st_mtime ? (uint64_t)(job->now - status->st_mtime) : 0;
    return age >= job->min_age;
}

static tz_result ask_whether_to_remove(const clean_job *job, const char *name, bool *remove,
                                       const tz_context *ctx)
{
    *remove = true;
    if (!job->found)
        return TZ_OK;
    size_t size = strlen(job->directory) + 1 + strlen(name) + 1;
    char *path = tz_alloc(size);
    if (!path)
        return tz_fail_nomem(ctx, size);
    snprintf(path, size, "%s/%s", job->directory, name);
    *remove = job->found(job->user, path);
    tz_free(path);
    return TZ_OK;
}

/* The lock is held, so that the name stays that of this file. */
static tz_result remove_locked_leftover(clean_job *job, const char *name, const tz_context *ctx)
{
    bool remove;
    TZ_TRY(ask_whether_to_remove(job, name, &remove, ctx));
    if (!remove)
        return TZ_OK;
    if (tz_sink_syscall->unlinkat(job->dir, name) != 0)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot remove %s", name);
    job->removed++;
    return TZ_OK;
}

/* A file that is too young is not even locked: it may be one that is just being made. */
static tz_result clean_if_leftover(clean_job *job, const char *name, const tz_context *ctx)
{
    struct stat status;
    if (!tz_is_temporary_name(name) ||
        tz_sink_syscall->fstatat(job->dir, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !is_old(job, &status))
        return TZ_OK;
    int fd = tz_claim_leftover(job->dir, name, &status);
    if (fd < 0)
        return TZ_OK;
    tz_result result = is_old(job, &status) ? remove_locked_leftover(job, name, ctx) : TZ_OK;
    (void)tz_sink_syscall->close(fd);
    return result;
}

/* One that cannot be removed does not keep the others; the first error is the one to tell. */
static tz_result clean_all(clean_job *job, void *list, const tz_context *ctx)
{
    tz_context silent = {.name = ctx->name, .ifd = -1};
    tz_result first = TZ_OK;
    for (;;) {
        const char *name = tz_sink_syscall->list_next(list);
        if (!name)
            break;
        tz_result result = clean_if_leftover(job, name, first == TZ_OK ? ctx : &silent);
        if (first == TZ_OK)
            first = result;
    }
    if (errno != 0 && first == TZ_OK)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot list the directory");
    return first;
}

static tz_result clean_directory(clean_job *job, const tz_context *ctx)
{
    TZ_RETRY(job->dir, tz_sink_syscall->openat(AT_FDCWD, job->directory,
                                               O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    if (job->dir < 0)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot open the directory");
    void *list = tz_sink_syscall->list_open(job->dir);
    if (!list) {
        int error_number = errno;
        (void)tz_sink_syscall->close(job->dir);
        return tz_fail_errno(ctx, tz_no_location(), error_number, "cannot list the directory");
    }
    tz_result result = clean_all(job, list, ctx);
    (void)tz_sink_syscall->list_close(list);
    return result;
}

tz_result tz_clean(const char *directory, uint64_t min_age,
                   bool (*found)(void *user, const char *path), void *user, uint64_t *removed,
                   tz_error *err)
{
    tz_context ctx = {.name = directory, .err = err, .ifd = -1};
    if (!directory || !*directory)
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the directory's path is empty");
    clean_job job = {.directory = directory,
                     .now = time(NULL),
                     .min_age = min_age,
                     .found = found,
                     .user = user};
    tz_result result = clean_directory(&job, &ctx);
    if (removed)
        *removed = job.removed;
    return result;
}
