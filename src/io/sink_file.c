/* SPDX-License-Identifier: Apache-2.0
 * A file as a sink, which appears whole or not at all: what is written goes to a temporary file,
 * which is brought to the disk, gets the permissions of the file it replaces, and takes its place
 * in one step. Whenever the process ends, the destination is absent, old or complete. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "io/sink_file.h"

#include <errno.h>

#include "base/mem.h"
#include "io/sink.h"
#include "io/sink_syscalls.h"

/* ---------------------------------------------------------------------------------------------
 * Commit
 * ------------------------------------------------------------------------------------------ */

static tz_result set_size(tz_file_sink *file, uint64_t size, const tz_context *ctx)
{
    if (size == file->end)
        return TZ_OK;
    int failed;
    TZ_RETRY(failed, tz_sink_syscall->ftruncate(file->temporary.fd, (int64_t)size));
    if (failed)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot set the size to %llu bytes",
                             (unsigned long long)size);
    file->end = size;
    return TZ_OK;
}

/* Permissions are set before fsync, so that they too are on the disk before the name is. A failure
 * of fsync is final, EINTR included: the pages it could not write may be forgotten by now. */
static tz_result sync_with_access(tz_file_sink *file, uint64_t size, const tz_context *ctx)
{
    TZ_TRY(set_size(file, size, ctx));
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
    tz_context ctx = tz_file_sink_context(file, err);
    TZ_TRY(tz_file_sink_check(file, &ctx));
    return tz_file_sink_record_failure(file, sync_with_access(file, size, &ctx));
}

/* Times of change are no finer than a tick, or a second: what matters most is compared itself. */
static bool file_changed(const struct stat *a, const struct stat *b)
{
    return !tz_same_file(a, b) || a->st_mode != b->st_mode || a->st_uid != b->st_uid ||
           a->st_gid != b->st_gid || a->st_ctim.tv_sec != b->st_ctim.tv_sec ||
           a->st_ctim.tv_nsec != b->st_ctim.tv_nsec;
}

/* Whether the destination is no longer the file whose permissions were taken over. */
static tz_result stat_destination_again(tz_file_sink *file, bool *changed, const tz_context *ctx)
{
    bool existed = file->destination.exists;
    struct stat before = file->destination.status;
    TZ_TRY(tz_destination_stat(&file->destination, ctx));
    *changed = file->destination.exists != existed ||
               (existed && file_changed(&before, &file->destination.status));
    return TZ_OK;
}

/* Some file systems tell only at close that the last bytes found no room. The lock has to be held
 * until the file has its name, so a second descriptor is closed for that. */
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

static tz_result sync_directory(const tz_file_sink *file, const tz_context *ctx)
{
    int failed;
    TZ_RETRY(failed, tz_sink_syscall->fsync(file->destination.dir));
    /* Network file systems that know no such thing have no better way to offer. */
    if (failed == 0 || errno == EINVAL || errno == ENOTSUP)
        return TZ_OK;
    return tz_fail_errno(ctx, tz_no_location(), errno,
                         "is complete, but may not survive a power failure: cannot bring its "
                         "directory to the disk");
}

static tz_result commit_steps(tz_file_sink *file, const tz_context *ctx)
{
    bool changed;
    TZ_TRY(stat_destination_again(file, &changed, ctx));
    if (changed || !file->synced)
        TZ_TRY(sync_with_access(file, file->end, ctx));
    TZ_TRY(close_duplicate(file, ctx));
    TZ_TRY(tz_temporary_publish(&file->temporary, &file->destination, file->exclusive, ctx));
    file->committed = true;
    return file->no_sync ? TZ_OK : sync_directory(file, ctx);
}

static tz_result commit_file(tz_sink *sink, tz_error *err)
{
    tz_file_sink *file = (tz_file_sink *)sink;
    tz_context ctx = tz_file_sink_context(file, err);
    TZ_TRY(tz_file_sink_check(file, &ctx));
    return tz_file_sink_record_failure(file, commit_steps(file, &ctx));
}

void tz_file_sink_close(tz_sink *sink)
{
    tz_file_sink *file = (tz_file_sink *)sink;
    tz_temporary_close(&file->temporary, file->destination.dir);
    tz_destination_close(&file->destination);
    tz_free(file);
}

/* ---------------------------------------------------------------------------------------------
 * Opening
 * ------------------------------------------------------------------------------------------ */

static tz_result open_temporary(tz_file_sink *file, const tz_context *ctx)
{
    if (file->exclusive && file->destination.exists)
        return tz_fail_exists(ctx);
    return tz_temporary_open(&file->temporary, &file->destination, ctx);
}

static tz_result open_destination_and_temporary(tz_file_sink *file, const char *path,
                                                const tz_context *ctx)
{
    TZ_TRY(tz_destination_open(&file->destination, path, ctx));
    tz_result result = open_temporary(file, ctx);
    if (result != TZ_OK)
        tz_destination_close(&file->destination);
    return result;
}

tz_result tz_sink_open_file(tz_sink **out, const char *path, bool exclusive, bool no_sync,
                            const tz_context *ctx)
{
    tz_context named = *ctx;
    if (!named.name)
        named.name = path;
    tz_file_sink *file = tz_alloc(sizeof *file);
    if (!file)
        return tz_fail_nomem(&named, sizeof *file);
    *file = (tz_file_sink){.base = {.write = tz_file_sink_write,
                                    .read = tz_file_sink_read,
                                    .insert = tz_file_sink_insert,
                                    .sync = sync_file,
                                    .commit = commit_file,
                                    .close = tz_file_sink_close},
                           .exclusive = exclusive,
                           .no_sync = no_sync};
    tz_result result = open_destination_and_temporary(file, path, &named);
    if (result != TZ_OK) {
        tz_free(file);
        return result;
    }
    *out = &file->base;
    return TZ_OK;
}

tz_result tz_open_file_sink(tz_sink **out, const char *path, bool exclusive, bool no_sync,
                            tz_error *err)
{
    const tz_context ctx = {.name = path, .err = err, .ifd = -1};
    return tz_sink_open_file(out, path, exclusive, no_sync, &ctx);
}

tz_file_sink *tz_file_sink_of(tz_sink *sink)
{
    return sink && sink->write == tz_file_sink_write ? (tz_file_sink *)sink : NULL;
}

bool tz_sink_is_seekable(tz_sink *sink)
{
    return tz_file_sink_of(sink) || tz_sink_is_memory(sink);
}

uint64_t tz_sink_free_space(tz_sink *sink)
{
    const tz_file_sink *file = tz_file_sink_of(sink);
    return file ? tz_file_sink_free_space(file) : TZ_NONE;
}
