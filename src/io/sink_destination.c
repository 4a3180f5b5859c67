/* SPDX-License-Identifier: Apache-2.0
 * Where a file is to appear: the directory and the name in it that a path means. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "io/file_kind.h"
#include "io/sink_file.h"
#include "io/sink_syscalls.h"

#define PATH_SIZE 4096 /* with its end; Linux takes no longer ones */
#define MAX_LINKS 40   /* as many as Linux follows */

bool tz_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static tz_result fail_unsafe_destination(const tz_context *ctx, int error_number, const char *what)
{
    tz_result result = tz_fail(ctx, TZ_ERR_IO, TZ_CAUSE_UNSAFE, tz_no_location(),
                               "is %s; only regular files are written", what);
    if (ctx->err)
        ctx->err->system_error = error_number;
    return result;
}

tz_result tz_fail_exists(const tz_context *ctx)
{
    return tz_fail_errno(ctx, tz_no_location(), EEXIST,
                         "exists already, and is not to be replaced");
}

static tz_result check_regular(const struct stat *status, const tz_context *ctx)
{
    if (S_ISREG(status->st_mode))
        return TZ_OK;
    return fail_unsafe_destination(ctx, S_ISDIR(status->st_mode) ? EISDIR : 0,
                                   tz_file_kind_name(status->st_mode));
}

tz_result tz_destination_stat(tz_destination *destination, const tz_context *ctx)
{
    int failed;
    TZ_RETRY(failed, tz_sink_syscall->fstatat(destination->dir, destination->name,
                                              &destination->status, AT_SYMLINK_NOFOLLOW));
    if (failed && errno != ENOENT)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot find out what is there");
    destination->exists = !failed;
    return destination->exists ? check_regular(&destination->status, ctx) : TZ_OK;
}

/* Open the directory of a path that starts in at->dir, and take its last part as the name. */
static tz_result enter_directory_of(tz_destination *destination, const char *path,
                                    const tz_context *ctx)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t dir_size = (size_t)(name - path);
    char dir[PATH_SIZE] = ".";
    if (*name == '\0')
        return fail_unsafe_destination(ctx, EISDIR, "the path of a directory");
    if (strlen(name) > TZ_MAX_NAME_LENGTH || dir_size >= PATH_SIZE)
        return tz_fail_errno(ctx, tz_no_location(), ENAMETOOLONG, "cannot be created");
    if (dir_size > 0) {
        memcpy(dir, path, dir_size);
        dir[dir_size] = '\0';
    }
    int fd;
    TZ_RETRY(fd,
             tz_sink_syscall->openat(destination->dir, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    if (fd < 0)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot open its directory");
    tz_destination_close(destination);
    destination->dir = fd;
    memcpy(destination->name, name, strlen(name) + 1);
    return TZ_OK;
}

/* One link further; *out is "" when the name is none. */
static tz_result read_link(const tz_destination *destination, char out[PATH_SIZE],
                           const tz_context *ctx)
{
    long size = tz_sink_syscall->readlinkat(destination->dir, destination->name, out, PATH_SIZE);
    if (size < 0 && errno != EINVAL && errno != ENOENT)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot follow links");
    if (size == PATH_SIZE)
        return tz_fail_errno(ctx, tz_no_location(), ENAMETOOLONG, "cannot follow links");
    out[size > 0 ? size : 0] = '\0';
    return TZ_OK;
}

static tz_result follow_links(tz_destination *destination, const char *path, bool *is_link,
                              const tz_context *ctx)
{
    char target[PATH_SIZE];
    TZ_TRY(enter_directory_of(destination, path, ctx));
    for (int links = 0; links < MAX_LINKS; links++) {
        TZ_TRY(read_link(destination, target, ctx));
        *is_link = links > 0;
        if (*target == '\0')
            return TZ_OK;
        TZ_TRY(enter_directory_of(destination, target, ctx));
    }
    return tz_fail_errno(ctx, tz_no_location(), ELOOP, "cannot follow links");
}

/* The system itself follows the path first: it knows loops, and what is behind links of /proc whose
 * text is no path. A file that was deleted and is still open somewhere can be reached by such. */
static tz_result find_destination(tz_destination *destination, const char *path,
                                  const tz_context *ctx)
{
    struct stat found;
    bool is_link;
    int failed;
    TZ_RETRY(failed, tz_sink_syscall->fstatat(AT_FDCWD, path, &found, 0));
    if (failed && errno != ENOENT)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot find out what is there");
    if (!failed)
        TZ_TRY(check_regular(&found, ctx));
    TZ_TRY(follow_links(destination, path, &is_link, ctx));
    TZ_TRY(tz_destination_stat(destination, ctx));
    if (!failed && found.st_nlink == 0 && is_link && !destination->exists)
        return fail_unsafe_destination(ctx, 0, "a file that was deleted");
    return TZ_OK;
}

tz_result tz_destination_open(tz_destination *out, const char *path, const tz_context *ctx)
{
    if (!path || !*path)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "the path is empty");
    out->dir = AT_FDCWD;
    tz_result result = find_destination(out, path, ctx);
    if (result != TZ_OK)
        tz_destination_close(out);
    return result;
}

void tz_destination_close(tz_destination *destination)
{
    if (destination->dir >= 0)
        (void)tz_sink_syscall->close(destination->dir); /* nothing is written through it */
    destination->dir = AT_FDCWD;
}
