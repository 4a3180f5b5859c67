/* SPDX-License-Identifier: Apache-2.0
 * Where a file is to appear: the directory and the name in it that a path means. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "io/file_kind.h"
#include "io/sink_calls.h"
#include "io/sink_file.h"

#define PATH_SIZE  4096 /* with its end; Linux takes no longer ones */
#define MOST_LINKS 40   /* as many as Linux follows */

bool tz_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static tz_result fail_unsafe(const tz_context *ctx, int error_number, const char *what)
{
    tz_result result = tz_fail(ctx, TZ_ERR_IO, TZ_CAUSE_UNSAFE, tz_at_nowhere(),
                               "is %s; only regular files are written", what);
    if (ctx->err)
        ctx->err->system_error = error_number;
    return result;
}

tz_result tz_fail_exists(const tz_context *ctx)
{
    return tz_fail_errno(ctx, tz_at_nowhere(), EEXIST, "exists already, and is not to be replaced");
}

static tz_result check_regular(const struct stat *status, const tz_context *ctx)
{
    if (S_ISREG(status->st_mode))
        return TZ_OK;
    return fail_unsafe(ctx, S_ISDIR(status->st_mode) ? EISDIR : 0,
                       tz_file_kind_name(status->st_mode));
}

tz_result tz_destination_look(tz_destination *at, const tz_context *ctx)
{
    int failed;
    TZ_RETRY(failed, tz_sink_call->fstatat(at->dir, at->name, &at->status, AT_SYMLINK_NOFOLLOW));
    if (failed && errno != ENOENT)
        return tz_fail_errno(ctx, tz_at_nowhere(), errno, "cannot find out what is there");
    at->exists = !failed;
    return at->exists ? check_regular(&at->status, ctx) : TZ_OK;
}

/* Open the directory of a path that starts in at->dir, and take its last part as the name. */
static tz_result enter(tz_destination *at, const char *path, const tz_context *ctx)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t dir_size = (size_t)(name - path);
    char dir[PATH_SIZE] = ".";
    if (*name == '\0')
        return fail_unsafe(ctx, EISDIR, "the path of a directory");
    if (strlen(name) > TZ_LONGEST_NAME || dir_size >= PATH_SIZE)
        return tz_fail_errno(ctx, tz_at_nowhere(), ENAMETOOLONG, "cannot be created");
    if (dir_size > 0) {
        memcpy(dir, path, dir_size);
        dir[dir_size] = '\0';
    }
    int fd;
    TZ_RETRY(fd, tz_sink_call->openat(at->dir, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    if (fd < 0)
        return tz_fail_errno(ctx, tz_at_nowhere(), errno, "cannot open its directory");
    tz_destination_close(at);
    at->dir = fd;
    memcpy(at->name, name, strlen(name) + 1);
    return TZ_OK;
}

/* One link further; *out is "" when the name is none. */
static tz_result read_link(const tz_destination *at, char out[PATH_SIZE], const tz_context *ctx)
{
    long size = tz_sink_call->readlinkat(at->dir, at->name, out, PATH_SIZE);
    if (size < 0 && errno != EINVAL && errno != ENOENT)
        return tz_fail_errno(ctx, tz_at_nowhere(), errno, "cannot follow links");
    if (size == PATH_SIZE)
        return tz_fail_errno(ctx, tz_at_nowhere(), ENAMETOOLONG, "cannot follow links");
    out[size > 0 ? size : 0] = '\0';
    return TZ_OK;
}

static tz_result follow(tz_destination *at, const char *path, bool *is_link, const tz_context *ctx)
{
    char target[PATH_SIZE];
    TZ_TRY(enter(at, path, ctx));
    for (int links = 0; links < MOST_LINKS; links++) {
        TZ_TRY(read_link(at, target, ctx));
        *is_link = links > 0;
        if (*target == '\0')
            return TZ_OK;
        TZ_TRY(enter(at, target, ctx));
    }
    return tz_fail_errno(ctx, tz_at_nowhere(), ELOOP, "cannot follow links");
}

/* The system itself follows the path first: it knows loops, and what is behind links of /proc whose
 * text is no path. A file that was deleted and is still open somewhere can be reached by such. */
static tz_result find_destination(tz_destination *at, const char *path, const tz_context *ctx)
{
    struct stat found;
    bool is_link;
    int failed;
    TZ_RETRY(failed, tz_sink_call->fstatat(AT_FDCWD, path, &found, 0));
    if (failed && errno != ENOENT)
        return tz_fail_errno(ctx, tz_at_nowhere(), errno, "cannot find out what is there");
    if (!failed)
        TZ_TRY(check_regular(&found, ctx));
    TZ_TRY(follow(at, path, &is_link, ctx));
    TZ_TRY(tz_destination_look(at, ctx));
    if (!failed && found.st_nlink == 0 && is_link && !at->exists)
        return fail_unsafe(ctx, 0, "a file that was deleted");
    return TZ_OK;
}

tz_result tz_destination_open(tz_destination *out, const char *path, const tz_context *ctx)
{
    if (!path || !*path)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_at_nowhere(), "the path is empty");
    out->dir = AT_FDCWD;
    tz_result result = find_destination(out, path, ctx);
    if (result != TZ_OK)
        tz_destination_close(out);
    return result;
}

void tz_destination_close(tz_destination *at)
{
    if (at->dir >= 0)
        (void)tz_sink_call->close(at->dir); /* nothing is written through it */
    at->dir = AT_FDCWD;
}
