/* SPDX-License-Identifier: Apache-2.0
 * A file as a sink, which appears whole or not at all, and a spool, which never appears.
 *
 * Written bytes go to a temporary file. sync sets its size, gives it the permissions of the file it
 * replaces, and forces it to disk; commit does so again if anything has changed since, and then
 * renames it in one step. Whenever the process ends, the destination is absent, old or complete.
 *
 * A spool is a temporary file that loses its name at once: the system removes it when the process
 * ends, however it ends. If the file system makes files with a name only, it has one for a moment,
 * of the kind that the next write and tz_clean remove.
 *
 * A failed call makes the sink useless for good. In particular a second fsync may succeed although
 * the pages that the first could not write are lost. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "io/sink_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/mem.h"
#include "io/sink.h"
#include "io/sink_syscalls.h"

/* Buffers of one system call: Linux accepts 1024, POSIX promises 16; beyond some dozens another
 * call costs nothing. Bytes of one call: Linux stops a little below 2 GiB. */
#define MAX_BUFFERS 64
#define MAX_WRITE   ((size_t)1 << 30)

/* The system is asked to start writing to disk whenever this many bytes are new, so that fsync has
 * little left to do. */
#define WRITE_BACK_STEP ((uint64_t)8 << 20)

tz_context tz_file_sink_context(const tz_file_sink *file, tz_error *err)
{
    return (tz_context){.name = file->display_name, .err = err, .ifd = -1};
}

tz_result tz_file_sink_check(const tz_file_sink *file, const tz_context *ctx)
{
    if (file->committed)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "was committed already");
    if (file->failed)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "can only be discarded: an earlier call failed");
    return TZ_OK;
}

tz_result tz_file_sink_record_failure(tz_file_sink *file, tz_result result)
{
    if (result != TZ_OK)
        file->failed = true;
    return result;
}

static uint64_t free_space(const tz_file_sink *file)
{
    uint64_t space;
    int failed;
    TZ_RETRY(failed, tz_sink_syscall->free_space(file->temporary.fd, &space));
    return failed ? TZ_NO_VALUE : space;
}

/* ---- writing ---- */

/* Writes in steps of up to MAX_BUFFERS buffers. After a short write the next step begins with the
 * rest of a buffer: `done` bytes of the first one are written. */
tz_result tz_file_sink_pwrite(const tz_file_sink *file, uint64_t offset, const tz_bytes *buffers,
                              size_t count, uint64_t *end, const tz_context *ctx)
{
    *end = offset;
    for (size_t i = 0; i < count; i++)
        if (!tz_add(*end, buffers[i].size, end) || *end > INT64_MAX)
            return tz_fail_errno(ctx, tz_at_offset(offset), EFBIG, "cannot write %zu bytes",
                                 buffers[i].size);
    for (size_t done = 0;;) {
        struct iovec vectors[MAX_BUFFERS];
        int vector_count = 0;
        size_t size = 0, skip = done;
        for (size_t i = 0; i < count && vector_count < MAX_BUFFERS && size < MAX_WRITE; i++) {
            const size_t length = tz_min_size(buffers[i].size - skip, MAX_WRITE - size);
            if (length > 0)
                vectors[vector_count++] = (struct iovec){(char *)buffers[i].data + skip, length};
            size += length;
            skip = 0;
        }
        if (vector_count == 0)
            return TZ_OK;
        ssize_t written;
        TZ_RETRY(written, tz_sink_syscall->pwritev(file->temporary.fd, vectors, vector_count,
                                                   (int64_t)offset));
        if (written <= 0) {
            const int error_number = written < 0 ? errno : EIO;
            const uint64_t space = free_space(file);
            if (space == TZ_NO_VALUE)
                return tz_fail_errno(ctx, tz_at_offset(offset), error_number,
                                     "cannot write %zu bytes", size);
            return tz_fail_errno(ctx, tz_at_offset(offset), error_number,
                                 "cannot write %zu bytes (%llu are free)", size,
                                 (unsigned long long)space);
        }
        offset += (uint64_t)written;
        done += (size_t)written;
        for (; count > 0 && done >= buffers->size; buffers++, count--)
            done -= buffers->size;
    }
}

/* The system may refuse to write back: that only makes the last fsync longer. */
void tz_file_sink_note_written(tz_file_sink *file, uint64_t end)
{
    file->end = tz_max(file->end, end);
    if (file->no_sync || end < file->written_back || end - file->written_back < WRITE_BACK_STEP)
        return;
    (void)tz_sink_syscall->write_back(file->temporary.fd, (int64_t)file->written_back,
                                      (int64_t)(end - file->written_back));
    file->written_back = end;
}

static tz_result write_file(tz_sink *sink, uint64_t offset, const tz_bytes *buffers, size_t count,
                            tz_error *err)
{
    tz_file_sink *file = (tz_file_sink *)sink;
    const tz_context ctx = tz_file_sink_context(file, err);
    uint64_t end;
    TZ_TRY(tz_file_sink_check(file, &ctx));
    file->synced = false;
    TZ_TRY(tz_file_sink_record_failure(
        file, tz_file_sink_pwrite(file, offset, buffers, count, &end, &ctx)));
    if (end > offset)
        tz_file_sink_note_written(file, end);
    return TZ_OK;
}

/* ---- reading back ---- */

tz_result tz_file_sink_pread(const tz_file_sink *file, uint64_t offset, void *dst, size_t size,
                             const tz_context *ctx)
{
    unsigned char *to = dst;
    for (size_t left = size; left > 0;) {
        const size_t wanted = tz_min_size(left, MAX_WRITE);
        ssize_t got;
        TZ_RETRY(got, tz_sink_syscall->pread(file->temporary.fd, to, wanted, (int64_t)offset));
        if (got < 0)
            return tz_fail_errno(ctx, tz_at_offset(offset), errno, "cannot read %zu bytes back",
                                 wanted);
        if (got == 0)
            return tz_fail(ctx, TZ_ERR_IO, TZ_CAUSE_TRUNCATED,
                           tz_expecting(tz_at_offset(offset), left, 0),
                           "less was written than is read back");
        to += got;
        offset += (uint64_t)got;
        left -= (size_t)got;
    }
    return TZ_OK;
}

static tz_result read_file(tz_sink *sink, uint64_t offset, void *dst, size_t size, tz_error *err)
{
    const tz_file_sink *file = (const tz_file_sink *)sink;
    const tz_context ctx = tz_file_sink_context(file, err);
    return tz_file_sink_pread(file, offset, dst, size, &ctx);
}

/* ---- sync and commit ---- */

/* Permissions are set before fsync, so that they too are on the disk before the name is. A failure
 * of fsync is final, EINTR included: the system may already have dropped the pages. */
static tz_result sync_with_access(tz_file_sink *file, uint64_t size, const tz_context *ctx)
{
    if (size != file->end) {
        int failed;
        TZ_RETRY(failed, tz_sink_syscall->ftruncate(file->temporary.fd, (int64_t)size));
        if (failed)
            return tz_fail_errno(ctx, tz_no_location(), errno, "cannot set the size to %llu bytes",
                                 (unsigned long long)size);
        file->end = size;
    }
    TZ_TRY(tz_destination_stat(&file->destination, ctx));
    TZ_TRY(tz_preserve_access(file->temporary.fd, &file->destination, ctx));
    if (!file->no_sync && tz_sink_syscall->fsync(file->temporary.fd) != 0)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot bring %llu bytes to the disk",
                             (unsigned long long)size);
    file->synced = true;
    return TZ_OK;
}

static tz_result sync_file(tz_sink *sink, uint64_t size, tz_error *err)
{
    tz_file_sink *file = (tz_file_sink *)sink;
    const tz_context ctx = tz_file_sink_context(file, err);
    TZ_TRY(tz_file_sink_check(file, &ctx));
    return tz_file_sink_record_failure(file, sync_with_access(file, size, &ctx));
}

/* The time of change has the resolution of a tick or a second, so the fields that matter are
 * compared themselves. */
static bool access_changed(const struct stat *a, const struct stat *b)
{
    return !tz_same_file(a, b) || a->st_mode != b->st_mode || a->st_uid != b->st_uid ||
           a->st_gid != b->st_gid || a->st_ctim.tv_sec != b->st_ctim.tv_sec ||
           a->st_ctim.tv_nsec != b->st_ctim.tv_nsec;
}

/* Some file systems report only at close that the disk was full. The lock has to be held until the
 * file has its name, so a second descriptor is closed instead. */
static tz_result close_duplicate(const tz_file_sink *file, const tz_context *ctx)
{
    int failed;
    do {
        int copy = tz_sink_syscall->dup(file->temporary.fd);
        if (copy < 0)
            return tz_fail_errno(ctx, tz_no_location(), errno, "cannot get a second descriptor");
        failed = tz_sink_syscall->close(copy);
    } while (failed && errno == EINTR);
    if (failed)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot close the file");
    return TZ_OK;
}

static tz_result commit_steps(tz_file_sink *file, const tz_context *ctx)
{
    /* Another program may have exchanged the file whose permissions sync has copied. */
    tz_destination *destination = &file->destination;
    const bool existed = destination->exists;
    const struct stat before = destination->status;
    TZ_TRY(tz_destination_stat(destination, ctx));
    const bool changed = destination->exists != existed ||
                         (existed && access_changed(&before, &destination->status));
    if (changed || !file->synced)
        TZ_TRY(sync_with_access(file, file->end, ctx));

    TZ_TRY(close_duplicate(file, ctx));
    TZ_TRY(tz_temporary_publish(&file->temporary, destination, file->exclusive, ctx));
    file->committed = true;
    if (file->no_sync)
        return TZ_OK;

    int failed;
    TZ_RETRY(failed, tz_sink_syscall->fsync(destination->dir));
    /* Network file systems that cannot sync a directory offer nothing better. */
    if (failed == 0 || errno == EINVAL || errno == ENOTSUP)
        return TZ_OK;
    return tz_fail_errno(ctx, tz_no_location(), errno,
                         "is complete, but may not survive a power failure: cannot bring its "
                         "directory to the disk");
}

static tz_result commit_file(tz_sink *sink, tz_error *err)
{
    tz_file_sink *file = (tz_file_sink *)sink;
    const tz_context ctx = tz_file_sink_context(file, err);
    TZ_TRY(tz_file_sink_check(file, &ctx));
    return tz_file_sink_record_failure(file, commit_steps(file, &ctx));
}

static void close_file(tz_sink *sink)
{
    tz_file_sink *file = (tz_file_sink *)sink;
    tz_temporary_close(&file->temporary, file->destination.dir);
    tz_destination_close(&file->destination);
    tz_free(file);
}

/* ---- opening ---- */

tz_result tz_sink_open_file(tz_sink **out, const char *path, bool exclusive, bool no_sync,
                            const tz_context *ctx)
{
    tz_context named = *ctx;
    if (!named.name)
        named.name = path;
    tz_file_sink *file = tz_alloc(sizeof *file);
    if (!file)
        return tz_fail_nomem(&named, sizeof *file);
    *file = (tz_file_sink){.base = {.struct_size = sizeof file->base,
                                    .write = write_file,
                                    .read = read_file,
                                    .insert = tz_file_sink_insert,
                                    .sync = sync_file,
                                    .commit = commit_file,
                                    .close = close_file},
                           .exclusive = exclusive,
                           .no_sync = no_sync};
    tz_result result = tz_destination_open(&file->destination, path, &named);
    if (result == TZ_OK) {
        result = exclusive && file->destination.exists
                     ? tz_fail_exists(&named)
                     : tz_temporary_open(&file->temporary, &file->destination, &named);
        if (result != TZ_OK)
            tz_destination_close(&file->destination);
    }
    if (result != TZ_OK) {
        tz_free(file);
        return result;
    }
    *out = &file->base;
    return TZ_OK;
}

tz_result tz_file_sink_open(tz_sink **out, const char *path, bool exclusive, bool no_sync,
                            tz_error *err)
{
    const tz_context ctx = {.name = path, .err = err, .ifd = -1};
    return tz_sink_open_file(out, path, exclusive, no_sync, &ctx);
}

tz_file_sink *tz_file_sink_of(tz_sink *sink)
{
    return sink && sink->write == write_file ? (tz_file_sink *)sink : NULL;
}

bool tz_sink_is_seekable(tz_sink *sink)
{
    return tz_file_sink_of(sink) || tz_sink_is_memory(sink);
}

uint64_t tz_sink_free_space(tz_sink *sink)
{
    const tz_file_sink *file = tz_file_sink_of(sink);
    return file ? free_space(file) : TZ_NO_VALUE;
}

/* ---- spools ---- */

typedef struct spool {
    tz_file_sink file; /* first, so that both have one address */
    char display_name[];
} spool;

/* Opens the file in directory, or beside another sink if directory is NULL. */
static tz_result open_spool_file(tz_file_sink *file, const tz_file_sink *beside,
                                 const char *directory, const tz_context *ctx)
{
    tz_destination *destination = &file->destination;
    if (directory)
        TZ_RETRY(destination->dir, tz_sink_syscall->openat(AT_FDCWD, directory,
                                                           O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    else
        destination->dir = tz_sink_syscall->dup(beside->destination.dir);
    if (destination->dir < 0)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot open the directory");
    snprintf(destination->name, sizeof destination->name, "%s",
             beside ? beside->destination.name : "terrazzo");
    /* As if it replaced a file: nobody else may read a temporary file that does. */
    destination->exists = true;

    tz_temporary *temporary = &file->temporary;
    const tz_result result = tz_temporary_open(temporary, destination, ctx);
    if (result != TZ_OK) {
        tz_destination_close(destination);
        return result;
    }
    /* If its name cannot be removed now, close removes it, or later tz_clean. */
    if (temporary->name[0] != '\0' &&
        tz_sink_syscall->unlinkat(destination->dir, temporary->name, 0) == 0)
        temporary->name[0] = '\0';
    return TZ_OK;
}

tz_result tz_sink_open_spool(tz_sink **out, tz_sink *sink, const char *directory,
                             const tz_context *ctx)
{
    const tz_file_sink *beside = tz_file_sink_of(sink);
    if (!directory && tz_sink_is_memory(sink))
        return tz_sink_open_memory_spool(out, ctx);
    if (!directory && !beside) {
        const char *default_directory = getenv("TMPDIR");
        directory = default_directory && *default_directory ? default_directory : "/tmp";
    }
    const char *before = directory ? "the spool in " : "the spool beside it";
    const char *after = directory ? directory : "";
    const size_t name_size = strlen(before) + strlen(after) + 1;
    spool *made = tz_alloc(sizeof *made + name_size);
    if (!made)
        return tz_fail_nomem(ctx, sizeof *made + name_size);
    snprintf(made->display_name, name_size, "%s%s", before, after);
    made->file = (tz_file_sink){.base = {.struct_size = sizeof made->file.base,
                                         .write = write_file,
                                         .read = read_file,
                                         .close = close_file},
                                .display_name = made->display_name,
                                .no_sync = true};
    tz_error failed = {.result = TZ_OK};
    const tz_context within = tz_file_sink_context(&made->file, &failed);
    if (open_spool_file(&made->file, beside, directory, &within) != TZ_OK) {
        tz_free(made);
        return tz_propagate_error(ctx, &failed);
    }
    *out = &made->file.base;
    return TZ_OK;
}

tz_result tz_spool_sink_open(tz_sink **out, const char *directory, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    return tz_sink_open_spool(out, NULL, directory, &ctx);
}
