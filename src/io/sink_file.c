/* SPDX-License-Identifier: Apache-2.0
 * A file as a sink, which appears whole or not at all: what is written goes to a temporary file,
 * which is brought to the disk, gets the permissions of the file it replaces, and takes its place
 * in one step. Whenever the process ends, the destination is absent, old or complete. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "io/sink_file.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/mem.h"
#include "io/sink.h"
#include "io/sink_calls.h"

/* Pieces of one call: Linux takes 1024, POSIX promises 16; beyond some dozens a call more costs
 * nothing. And bytes of one call: Linux would stop a little below 2 GiB anyway. */
#define MOST_PIECES   64
#define LARGEST_WRITE ((size_t)1 << 30)

/* The disk is asked to begin whenever this much is new, so that little is left for the end. */
#define WRITE_BACK_STEP ((uint64_t)8 << 20)

typedef struct file_sink {
    tz_sink base; /* first: the two share their address */
    tz_destination at;
    tz_temporary temporary;
    uint64_t end;          /* of what was written */
    uint64_t written_back; /* up to here the disk was asked to begin */
    bool exclusive;
    bool no_sync;
    bool failed; /* some call did: what is in the file is in doubt for good */
    bool synced;
    bool committed;
} file_sink;

/* After a failure nothing is published any more, whatever the caller does. In particular a second
 * fsync may succeed although what the first could not write is lost. */
static tz_result check_usable(const file_sink *file, const tz_context *ctx)
{
    if (file->committed)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_at_nowhere(), "was committed already");
    if (file->failed)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_at_nowhere(),
                       "can only be discarded: an earlier call failed");
    return TZ_OK;
}

static tz_result remember(file_sink *file, tz_result result)
{
    if (result != TZ_OK)
        file->failed = true;
    return result;
}

/* ---------------------------------------------------------------------------------------------
 * Bytes
 * ------------------------------------------------------------------------------------------ */

/* What is left to write: pieces, of the first of which done bytes are written. */
typedef struct progress {
    const tz_bytes *pieces;
    size_t count;
    size_t done;
    uint64_t offset;
} progress;

static uint64_t free_space(const file_sink *file)
{
    uint64_t space;
    int failed;
    TZ_RETRY(failed, tz_sink_call->free_space(file->temporary.fd, &space));
    return failed ? TZ_NONE : space;
}

static tz_result fail_write(const file_sink *file, uint64_t offset, size_t size, int error_number,
                            const tz_context *ctx)
{
    uint64_t space = free_space(file);
    if (space == TZ_NONE)
        return tz_fail_errno(ctx, tz_at_offset(offset), error_number, "cannot write %zu bytes",
                             size);
    return tz_fail_errno(ctx, tz_at_offset(offset), error_number,
                         "cannot write %zu bytes (%llu are free)", size, (unsigned long long)space);
}

/* The next pieces as the system takes them; *size is theirs in all. */
static int gather(const progress *left, struct iovec *out, size_t *size)
{
    int count = 0;
    size_t done = left->done;
    *size = 0;
    for (size_t i = 0; i < left->count && count < MOST_PIECES && *size < LARGEST_WRITE; i++) {
        size_t length = left->pieces[i].size - done;
        if (length > LARGEST_WRITE - *size)
            length = LARGEST_WRITE - *size;
        if (length > 0)
            out[count++] = (struct iovec){(char *)left->pieces[i].data + done, length};
        *size += length;
        done = 0;
    }
    return count;
}

static void advance(progress *left, size_t size)
{
    left->offset += size;
    while (left->count > 0 && size >= left->pieces->size - left->done) {
        size -= left->pieces->size - left->done;
        left->done = 0;
        left->pieces++;
        left->count--;
    }
    left->done += size;
}

static tz_result write_all(const file_sink *file, progress *left, const tz_context *ctx)
{
    struct iovec batch[MOST_PIECES];
    size_t size;
    for (;;) {
        int count = gather(left, batch, &size);
        if (count == 0)
            return TZ_OK;
        long written;
        TZ_RETRY(written,
                 tz_sink_call->pwritev(file->temporary.fd, batch, count, (int64_t)left->offset));
        if (written <= 0)
            return fail_write(file, left->offset, size, written < 0 ? errno : EIO, ctx);
        advance(left, (size_t)written);
    }
}

/* How often this is done and whether it succeeds changes nothing but the time of the last fsync. */
static void begin_write_back(file_sink *file)
{
    if (file->no_sync || file->end < file->written_back + WRITE_BACK_STEP)
        return;
    (void)tz_sink_call->write_back(file->temporary.fd, (int64_t)file->written_back,
                                   (int64_t)(file->end - file->written_back));
    file->written_back = file->end;
}

/* Where the pieces end; files end at the largest offset of the system. */
static tz_result find_end(uint64_t offset, const tz_bytes *pieces, size_t count, uint64_t *end,
                          const tz_context *ctx)
{
    *end = offset;
    for (size_t i = 0; i < count; i++)
        if (!tz_add(*end, pieces[i].size, end) || *end > INT64_MAX)
            return tz_fail_errno(ctx, tz_at_offset(offset), EFBIG, "cannot write %zu bytes",
                                 pieces[i].size);
    return TZ_OK;
}

static tz_result write_pieces(file_sink *file, uint64_t offset, const tz_bytes *pieces,
                              size_t count, const tz_context *ctx)
{
    uint64_t end;
    progress left = {pieces, count, 0, offset};
    TZ_TRY(find_end(offset, pieces, count, &end, ctx));
    TZ_TRY(write_all(file, &left, ctx));
    if (end > file->end && end > offset)
        file->end = end;
    begin_write_back(file);
    return TZ_OK;
}

static tz_result write_file(tz_sink *sink, uint64_t offset, const tz_bytes *pieces, size_t count,
                            tz_error *err)
{
    file_sink *file = (file_sink *)sink;
    tz_context ctx = {.err = err, .ifd = -1};
    TZ_TRY(check_usable(file, &ctx));
    file->synced = false;
    return remember(file, write_pieces(file, offset, pieces, count, &ctx));
}

static tz_result read_file(tz_sink *sink, uint64_t offset, void *dst, size_t size, tz_error *err)
{
    const file_sink *file = (const file_sink *)sink;
    tz_context ctx = {.err = err, .ifd = -1};
    unsigned char *to = dst;
    for (size_t left = size; left > 0;) {
        size_t wanted = left < LARGEST_WRITE ? left : LARGEST_WRITE;
        long got;
        TZ_RETRY(got, tz_sink_call->pread(file->temporary.fd, to, wanted, (int64_t)offset));
        if (got < 0)
            return tz_fail_errno(&ctx, tz_at_offset(offset), errno, "cannot read %zu bytes back",
                                 wanted);
        if (got == 0)
            return tz_fail(&ctx, TZ_ERR_IO, TZ_CAUSE_TRUNCATED,
                           tz_expecting(tz_at_offset(offset), left, 0),
                           "less was written than is read back");
        to += got;
        offset += (uint64_t)got;
        left -= (size_t)got;
    }
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Commit
 * ------------------------------------------------------------------------------------------ */

static tz_result set_size(file_sink *file, uint64_t size, const tz_context *ctx)
{
    if (size == file->end)
        return TZ_OK;
    int failed;
    TZ_RETRY(failed, tz_sink_call->ftruncate(file->temporary.fd, (int64_t)size));
    if (failed)
        return tz_fail_errno(ctx, tz_at_nowhere(), errno, "cannot set the size to %llu bytes",
                             (unsigned long long)size);
    file->end = size;
    return TZ_OK;
}

/* Permissions are set before fsync, so that they too are on the disk before the name is. A failure
 * of fsync is final, EINTR included: the pages it could not write may be forgotten by now. */
static tz_result make_lasting(file_sink *file, uint64_t size, const tz_context *ctx)
{
    TZ_TRY(set_size(file, size, ctx));
    TZ_TRY(tz_destination_look(&file->at, ctx));
    TZ_TRY(tz_keep_access(file->temporary.fd, &file->at, ctx));
    if (!file->no_sync && tz_sink_call->fsync(file->temporary.fd) != 0)
        return tz_fail_errno(ctx, tz_at_nowhere(), errno, "cannot bring %llu bytes to the disk",
                             (unsigned long long)size);
    file->synced = true;
    return TZ_OK;
}

static tz_result sync_file(tz_sink *sink, uint64_t size, tz_error *err)
{
    file_sink *file = (file_sink *)sink;
    tz_context ctx = {.err = err, .ifd = -1};
    TZ_TRY(check_usable(file, &ctx));
    return remember(file, make_lasting(file, size, &ctx));
}

/* Times of change are no finer than a tick, or a second: what matters most is compared itself. */
static bool differs(const struct stat *a, const struct stat *b)
{
    return !tz_same_file(a, b) || a->st_mode != b->st_mode || a->st_uid != b->st_uid ||
           a->st_gid != b->st_gid || a->st_ctim.tv_sec != b->st_ctim.tv_sec ||
           a->st_ctim.tv_nsec != b->st_ctim.tv_nsec;
}

/* Whether the destination is no longer the file whose permissions were taken over. */
static tz_result look_again(file_sink *file, bool *changed, const tz_context *ctx)
{
    bool existed = file->at.exists;
    struct stat before = file->at.status;
    TZ_TRY(tz_destination_look(&file->at, ctx));
    *changed = file->at.exists != existed || (existed && differs(&before, &file->at.status));
    return TZ_OK;
}

/* Some file systems tell only at close that the last bytes found no room. The lock has to be held
 * until the file has its name, so a second descriptor is closed for that. */
static tz_result close_once(const file_sink *file, const tz_context *ctx)
{
    int failed;
    do {
        int copy = tz_sink_call->dup(file->temporary.fd);
        if (copy < 0)
            return tz_fail_errno(ctx, tz_at_nowhere(), errno, "cannot get a second descriptor");
        failed = tz_sink_call->close(copy);
    } while (failed && errno == EINTR);
    if (failed)
        return tz_fail_errno(ctx, tz_at_nowhere(), errno, "cannot close the file");
    return TZ_OK;
}

static tz_result sync_directory(const file_sink *file, const tz_context *ctx)
{
    int failed;
    TZ_RETRY(failed, tz_sink_call->fsync(file->at.dir));
    /* Network file systems that know no such thing have no better way to offer. */
    if (failed == 0 || errno == EINVAL || errno == ENOTSUP)
        return TZ_OK;
    return tz_fail_errno(ctx, tz_at_nowhere(), errno,
                         "is complete, but may not survive a power failure: cannot bring its "
                         "directory to the disk");
}

static tz_result commit_steps(file_sink *file, const tz_context *ctx)
{
    bool changed;
    TZ_TRY(look_again(file, &changed, ctx));
    if (changed || !file->synced)
        TZ_TRY(make_lasting(file, file->end, ctx));
    TZ_TRY(close_once(file, ctx));
    TZ_TRY(tz_publish(&file->temporary, &file->at, file->exclusive, ctx));
    file->committed = true;
    return file->no_sync ? TZ_OK : sync_directory(file, ctx);
}

static tz_result commit_file(tz_sink *sink, tz_error *err)
{
    file_sink *file = (file_sink *)sink;
    tz_context ctx = {.err = err, .ifd = -1};
    TZ_TRY(check_usable(file, &ctx));
    return remember(file, commit_steps(file, &ctx));
}

static void close_file(tz_sink *sink)
{
    file_sink *file = (file_sink *)sink;
    tz_temporary_close(&file->temporary, file->at.dir);
    tz_destination_close(&file->at);
    tz_free(file);
}

/* ---------------------------------------------------------------------------------------------
 * Opening
 * ------------------------------------------------------------------------------------------ */

static tz_result open_temporary(file_sink *file, const tz_context *ctx)
{
    if (file->exclusive && file->at.exists)
        return tz_fail_exists(ctx);
    return tz_temporary_open(&file->temporary, &file->at, ctx);
}

static tz_result open_parts(file_sink *file, const char *path, const tz_context *ctx)
{
    TZ_TRY(tz_destination_open(&file->at, path, ctx));
    tz_result result = open_temporary(file, ctx);
    if (result != TZ_OK)
        tz_destination_close(&file->at);
    return result;
}

tz_result tz_sink_open_file(tz_sink **out, const char *path, bool exclusive, bool no_sync,
                            const tz_context *ctx)
{
    tz_context named = *ctx;
    if (!named.name)
        named.name = path;
    file_sink *file = tz_alloc(sizeof *file);
    if (!file)
        return tz_fail_nomem(&named, sizeof *file);
    *file = (file_sink){.base = {.write = write_file,
                                 .read = read_file,
                                 .sync = sync_file,
                                 .commit = commit_file,
                                 .close = close_file},
                        .exclusive = exclusive,
                        .no_sync = no_sync};
    tz_result result = open_parts(file, path, &named);
    if (result != TZ_OK) {
        tz_free(file);
        return result;
    }
    *out = &file->base;
    return TZ_OK;
}

uint64_t tz_sink_free_space(tz_sink *sink)
{
    return sink && sink->write == write_file ? free_space((const file_sink *)sink) : TZ_NONE;
}
