/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problem.h"
#include "progress.h"

static tz_result fail_write(const output *o, tz_error *err, int reason)
{
    if (strcmp(o->path, "-") != 0)
        return problem_io(err, "write", o->path, reason);
    problem_make(err, TZ_ERR_IO, TZ_CAUSE_IO, "cannot write to standard output: %s",
                 strerror(reason));
    err->system_error = reason;
    return TZ_ERR_IO;
}

/* Opening -------------------------------------------------------------------------------------- */

static tz_result open_stream(output *o, tz_error *err)
{
    o->is_stream = true;
    if (strcmp(o->path, "-") == 0) {
        if (isatty(STDOUT_FILENO) == 1)
            return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                                "standard output is a terminal: pixels are not for reading there");
        o->fd = dup(STDOUT_FILENO);
    } else {
        o->fd = open(o->path, O_WRONLY | O_CLOEXEC);
    }
    if (o->fd >= 0)
        return TZ_OK;
    return progress_is_cancelled() ? progress_cancelled(err) : fail_write(o, err, errno);
}

static tz_result fail_exists(const char *path, tz_error *err)
{
    return problem_make(err, TZ_ERR_IO, TZ_CAUSE_IO, "'%.400s' exists; --overwrite replaces it",
                        path);
}

tz_result output_check_folder(const char *path, tz_error *err)
{
    struct stat found;
    size_t size = strlen(path);
    bool is_folder = stat(path, &found) == 0 && S_ISDIR(found.st_mode);
    if (is_folder || (size > 0 && path[size - 1] == '/'))
        return problem_io(err, "write", path, EISDIR);
    return TZ_OK;
}

tz_result output_check_new(const char *path, tz_error *err)
{
    struct stat found;
    return lstat(path, &found) == 0 ? fail_exists(path, err) : TZ_OK;
}

char *output_beside(const char *path, const char *ending)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(path, '.');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t stem = dot != NULL && dot > name ? (size_t)(dot - path) : strlen(path);
    size_t size = stem + strlen(ending) + 1;
    char *result = malloc(size);
    if (result != NULL)
        snprintf(result, size, "%.*s%s", (int)stem, path, ending);
    return result;
}

static tz_result check_existing(const output *o, const struct stat *found, const char *input,
                                tz_error *err)
{
    struct stat in;
    if (stat(input, &in) == 0 && in.st_dev == found->st_dev && in.st_ino == found->st_ino)
        return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG, "'%.400s' is the file that is read",
                            o->path);
    return o->overwrite ? TZ_OK : fail_exists(o->path, err);
}

/* A file of an unlikely name in the same folder, with the permissions of any new file. */
static tz_result open_temporary(output *o, tz_error *err)
{
    size_t size = strlen(o->target) + sizeof ".XXXXXX";
    o->temporary = malloc(size);
    if (o->temporary == NULL)
        return problem_nomem(err, "a name");
    snprintf(o->temporary, size, "%s.XXXXXX", o->target);
    o->fd = mkstemp(o->temporary);
    if (o->fd < 0) {
        tz_result result = fail_write(o, err, errno);
        free(o->temporary);
        o->temporary = NULL;
        return result;
    }
    mode_t mask = umask(0);
    umask(mask);
    (void)fchmod(o->fd, 0666 & ~mask); /* a file system without permissions is fine, too */
    (void)fcntl(o->fd, F_SETFD, FD_CLOEXEC);
    return TZ_OK;
}

static tz_result open_target(output *o, const char *input, tz_error *err)
{
    struct stat found;
    bool exists = stat(o->path, &found) == 0;
    tz_result result = output_check_folder(o->path, err);
    if (result == TZ_OK && exists && !S_ISREG(found.st_mode))
        return open_stream(o, err); /* a pipe or a device stays what it is */
    if (result == TZ_OK && exists)
        result = check_existing(o, &found, input, err);
    if (result != TZ_OK)
        return result;
    o->target = exists ? realpath(o->path, NULL) : strdup(o->path); /* links stay links */
    return o->target != NULL ? open_temporary(o, err) : problem_nomem(err, "a name");
}

tz_result output_open(output *o, const char *path, bool overwrite, const char *input, tz_error *err)
{
    *o = (output){.path = path, .fd = -1, .overwrite = overwrite};
    tz_result result = strcmp(path, "-") == 0 ? open_stream(o, err) : open_target(o, input, err);
    if (result != TZ_OK)
        output_close(o);
    return result;
}

/* Writing -------------------------------------------------------------------------------------- */

tz_result output_write(output *o, uint64_t offset, const void *bytes, size_t size, tz_error *err)
{
    const char *from = bytes;
    while (size > 0) {
        ssize_t done =
            o->is_stream ? write(o->fd, from, size) : pwrite(o->fd, from, size, (off_t)offset);
        if (progress_is_cancelled())
            return progress_cancelled(err);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail_write(o, err, errno);
        from += done;
        size -= (size_t)done;
        offset += (uint64_t)done;
    }
    return TZ_OK;
}

tz_result output_append(output *o, const void *bytes, size_t size, tz_error *err)
{
    tz_result result = output_write(o, o->size, bytes, size, err);
    o->size += size;
    return result;
}

/* The end -------------------------------------------------------------------------------------- */

/* A link fails where a file has appeared meanwhile; not every file system has links. */
static int move_into_place(const output *o)
{
    if (!o->overwrite) {
        if (link(o->temporary, o->target) == 0)
            return unlink(o->temporary);
        if (errno == EEXIST)
            return -1;
    }
    return rename(o->temporary, o->target);
}

tz_result output_commit(output *o, tz_error *err)
{
    int fd = o->fd;
    o->fd = -1;
    if (close(fd) != 0 && errno != EINTR)
        return fail_write(o, err, errno);
    if (o->temporary != NULL && move_into_place(o) != 0)
        return fail_write(o, err, errno);
    free(o->temporary);
    o->temporary = NULL;
    return TZ_OK;
}

void output_close(output *o)
{
    if (o->path != NULL && o->fd >= 0)
        close(o->fd);
    if (o->temporary != NULL)
        unlink(o->temporary);
    free(o->temporary);
    free(o->target);
    *o = (output){.fd = -1};
}
