/* SPDX-License-Identifier: Apache-2.0
 * Output files. A regular file is a sink of the library: a temporary file beside the target,
 * renamed when it is complete. Standard output, pipes and devices are written directly, in order.
 * */
#define _XOPEN_SOURCE 700 /* lstat */
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

/* Rewords the library's error about the file for the command. */
static tz_result fail_sink(const output *o, tz_error *err)
{
    if (err->system_error == EEXIST)
        return fail_exists(o->path, err);
    return err->system_error != 0 ? fail_write(o, err, err->system_error) : err->result;
}

/* The library makes the temporary file, so that tz_clean finds it. */
static tz_result open_target(output *o, const char *input, tz_error *err)
{
    struct stat found;
    bool exists = stat(o->path, &found) == 0;
    tz_result result = output_check_folder(o->path, err);
    if (result == TZ_OK && exists && !S_ISREG(found.st_mode))
        return open_stream(o, err); /* a pipe or a device is not replaced */
    if (result == TZ_OK && exists)
        result = check_existing(o, &found, input, err);
    else if (result == TZ_OK && !o->overwrite)
        result = output_check_new(o->path, err); /* a dangling symbolic link */
    if (result != TZ_OK)
        return result;
    result = tz_file_sink_open(&o->file, o->path, !o->overwrite, true, err);
    return result == TZ_OK ? TZ_OK : fail_sink(o, err);
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

static tz_result write_stream(const output *o, const char *from, size_t size, tz_error *err)
{
    while (size > 0) {
        ssize_t done = write(o->fd, from, size);
        if (progress_is_cancelled())
            return progress_cancelled(err);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail_write(o, err, errno);
        from += done;
        size -= (size_t)done;
    }
    return TZ_OK;
}

tz_result output_write(output *o, uint64_t offset, const void *bytes, size_t size, tz_error *err)
{
    const tz_bytes piece = {bytes, size};
    if (o->file == NULL)
        return write_stream(o, bytes, size, err);
    if (o->file->write(o->file, offset, &piece, 1, err) != TZ_OK)
        return fail_sink(o, err);
    return progress_is_cancelled() ? progress_cancelled(err) : TZ_OK;
}

tz_result output_append(output *o, const void *bytes, size_t size, tz_error *err)
{
    tz_result result = output_write(o, o->size, bytes, size, err);
    o->size += size;
    return result;
}

/* The end -------------------------------------------------------------------------------------- */

tz_result output_commit(output *o, tz_error *err)
{
    if (o->file != NULL)
        return o->file->commit(o->file, err) == TZ_OK ? TZ_OK : fail_sink(o, err);
    int fd = o->fd;
    o->fd = -1;
    return close(fd) == 0 || errno == EINTR ? TZ_OK : fail_write(o, err, errno);
}

void output_close(output *o)
{
    if (o->path != NULL && o->fd >= 0)
        close(o->fd);
    if (o->file != NULL)
        o->file->close(o->file);
    *o = (output){.fd = -1};
}
