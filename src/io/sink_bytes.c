/* SPDX-License-Identifier: Apache-2.0
 * The bytes of a file sink: written in as few calls as the system allows, and read back. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <sys/uio.h>

#include "base/mem.h"
#include "io/sink_file.h"
#include "io/sink_syscalls.h"

/* Pieces of one call: Linux takes 1024, POSIX promises 16; beyond some dozens a call more costs
 * nothing. And bytes of one call: Linux would stop a little below 2 GiB anyway. */
#define MAX_BUFFERS 64
#define MAX_WRITE   ((size_t)1 << 30)

/* The disk is asked to begin whenever this much is new, so that little is left for the end. */
#define WRITE_BACK_STEP ((uint64_t)8 << 20)

tz_context tz_file_sink_context(const tz_file_sink *file, tz_error *err)
{
    return (tz_context){.name = file->display_name, .err = err, .ifd = -1};
}

/* In particular a second fsync may succeed although what the first could not write is lost. */
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

/* ---------------------------------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------------------------------ */

/* What is left to write: pieces, of the first of which done bytes are written. */
typedef struct write_cursor {
    const tz_bytes *buffers;
    size_t count;
    size_t done;
    uint64_t offset;
} write_cursor;

uint64_t tz_file_sink_free_space(const tz_file_sink *file)
{
    uint64_t space;
    int failed;
    TZ_RETRY(failed, tz_sink_syscall->free_space(file->temporary.fd, &space));
    return failed ? TZ_NONE : space;
}

static tz_result fail_write(const tz_file_sink *file, uint64_t offset, size_t size,
                            int error_number, const tz_context *ctx)
{
    uint64_t space = tz_file_sink_free_space(file);
    if (space == TZ_NONE)
        return tz_fail_errno(ctx, tz_at_offset(offset), error_number, "cannot write %zu bytes",
                             size);
    return tz_fail_errno(ctx, tz_at_offset(offset), error_number,
                         "cannot write %zu bytes (%llu are free)", size, (unsigned long long)space);
}

/* The next pieces as the system takes them; *size is theirs in all. */
static int gather_vectors(const write_cursor *left, struct iovec *out, size_t *size)
{
    int count = 0;
    size_t done = left->done;
    *size = 0;
    for (size_t i = 0; i < left->count && count < MAX_BUFFERS && *size < MAX_WRITE; i++) {
        size_t length = left->buffers[i].size - done;
        if (length > MAX_WRITE - *size)
            length = MAX_WRITE - *size;
        if (length > 0)
            out[count++] = (struct iovec){(char *)left->buffers[i].data + done, length};
        *size += length;
        done = 0;
    }
    return count;
}

static void advance_cursor(write_cursor *left, size_t size)
{
    left->offset += size;
    while (left->count > 0 && size >= left->buffers->size - left->done) {
        size -= left->buffers->size - left->done;
        left->done = 0;
        left->buffers++;
        left->count--;
    }
    left->done += size;
}

static tz_result write_remaining(const tz_file_sink *file, write_cursor *left,
                                 const tz_context *ctx)
{
    struct iovec vectors[MAX_BUFFERS];
    size_t size;
    for (;;) {
        int count = gather_vectors(left, vectors, &size);
        if (count == 0)
            return TZ_OK;
        long written;
        TZ_RETRY(written, tz_sink_syscall->pwritev(file->temporary.fd, vectors, count,
                                                   (int64_t)left->offset));
        if (written <= 0)
            return fail_write(file, left->offset, size, written < 0 ? errno : EIO, ctx);
        advance_cursor(left, (size_t)written);
    }
}

/* How often this is done and whether it succeeds changes nothing but the time of the last fsync. */
static void begin_write_back(tz_file_sink *file, uint64_t end)
{
    if (file->no_sync || end < file->written_back || end - file->written_back < WRITE_BACK_STEP)
        return;
    (void)tz_sink_syscall->write_back(file->temporary.fd, (int64_t)file->written_back,
                                      (int64_t)(end - file->written_back));
    file->written_back = end;
}

void tz_file_sink_note_written(tz_file_sink *file, uint64_t end)
{
    if (end > file->end)
        file->end = end;
    begin_write_back(file, end);
}

/* Where the pieces end; files end at the largest offset of the system. */
static tz_result find_write_end(uint64_t offset, const tz_bytes *buffers, size_t count,
                                uint64_t *end, const tz_context *ctx)
{
    *end = offset;
    for (size_t i = 0; i < count; i++)
        if (!tz_add(*end, buffers[i].size, end) || *end > INT64_MAX)
            return tz_fail_errno(ctx, tz_at_offset(offset), EFBIG, "cannot write %zu bytes",
                                 buffers[i].size);
    return TZ_OK;
}

tz_result tz_file_sink_pwrite(const tz_file_sink *file, uint64_t offset, const tz_bytes *buffers,
                              size_t count, uint64_t *end, const tz_context *ctx)
{
    write_cursor left = {buffers, count, 0, offset};
    TZ_TRY(find_write_end(offset, buffers, count, end, ctx));
    return write_remaining(file, &left, ctx);
}

static tz_result write_buffers(tz_file_sink *file, uint64_t offset, const tz_bytes *buffers,
                               size_t count, const tz_context *ctx)
{
    uint64_t end;
    TZ_TRY(tz_file_sink_pwrite(file, offset, buffers, count, &end, ctx));
    if (end > offset)
        tz_file_sink_note_written(file, end);
    return TZ_OK;
}

tz_result tz_file_sink_write(tz_sink *sink, uint64_t offset, const tz_bytes *buffers, size_t count,
                             tz_error *err)
{
    tz_file_sink *file = (tz_file_sink *)sink;
    tz_context ctx = tz_file_sink_context(file, err);
    TZ_TRY(tz_file_sink_check(file, &ctx));
    file->synced = false;
    return tz_file_sink_record_failure(file, write_buffers(file, offset, buffers, count, &ctx));
}

/* ---------------------------------------------------------------------------------------------
 * Reading back
 * ------------------------------------------------------------------------------------------ */

tz_result tz_file_sink_pread(const tz_file_sink *file, uint64_t offset, void *dst, size_t size,
                             const tz_context *ctx)
{
    unsigned char *to = dst;
    for (size_t left = size; left > 0;) {
        size_t wanted = left < MAX_WRITE ? left : MAX_WRITE;
        long got;
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

tz_result tz_file_sink_read(tz_sink *sink, uint64_t offset, void *dst, size_t size, tz_error *err)
{
    const tz_file_sink *file = (const tz_file_sink *)sink;
    tz_context ctx = tz_file_sink_context(file, err);
    return tz_file_sink_pread(file, offset, dst, size, &ctx);
}
