/* SPDX-License-Identifier: Apache-2.0
 * Bytes of file sinks that the system moves: copies between files, and an insertion at the front of
 * a file, which moves all written bytes up. There are three ways to insert, and the first that the
 * system supports is used; the moved bytes are the same after each of them:
 *
 *   1. The file system renumbers the blocks (ext4, XFS, F2FS), without touching a byte.
 *   2. The system copies in large steps from the end backwards, each of them no longer than the
 *      distance, so that nothing overlaps; if blocks can be shared (Btrfs), that copies nothing
 *      either. A small distance would make too many steps.
 *   3. The same through a buffer.
 *
 * None of them takes more of the disk than the file will have in the end. Gaps may become zeros
 * that take disk space. Copies take long for a large file, and can be cancelled between steps. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>

#include "base/mem.h"
#include "io/sink_file.h"
#include "io/sink_syscalls.h"

#define MAX_COPY ((uint64_t)1 << 30)   /* bytes of one call; Linux stops a little below 2 GiB */
#define MAX_STEP ((uint64_t)256 << 10) /* bytes of the buffer */

/* True if a call failed because the system or the file system lacks it. Some sandboxes answer EPERM
 * to calls that they do not know; EXDEV means that one file system cannot do it for another. */
static bool is_unsupported(int error_number)
{
    return error_number == EOPNOTSUPP || error_number == ENOTSUP || error_number == ENOSYS ||
           error_number == EINVAL || error_number == EPERM || error_number == EXDEV;
}

/* Some systems return 0 instead of an error if they cannot copy. */
tz_result tz_file_sink_copy_range(const tz_file_sink *to, uint64_t to_offset,
                                  const tz_file_sink *from, uint64_t from_offset, uint64_t size,
                                  uint64_t *done, const tz_context *ctx)
{
    for (*done = 0; *done < size;) {
        uint64_t left = size - *done;
        ssize_t copied;
        TZ_RETRY(copied, tz_sink_syscall->copy_range(
                             from->temporary.fd, (int64_t)(from_offset + *done), to->temporary.fd,
                             (int64_t)(to_offset + *done), (size_t)tz_min(left, MAX_COPY)));
        if (copied == 0 || (copied < 0 && is_unsupported(errno)))
            break;
        if (copied < 0)
            return tz_fail_errno(ctx, tz_at_offset(to_offset + *done), errno,
                                 "cannot copy %llu bytes", (unsigned long long)left);
        *done += (uint64_t)copied;
    }
    return TZ_OK;
}

/* ---- insertion by the file system ---- */

/* File systems make the file longer before they move its blocks, so a file of the old length is
 * untouched. */
static bool is_untouched(const tz_file_sink *file)
{
    struct stat status;
    return tz_sink_syscall->fstat(file->temporary.fd, &status) == 0 && status.st_size >= 0 &&
           (uint64_t)status.st_size == file->end;
}

/* Sets *done if the bytes were moved. */
static tz_result insert_range(const tz_file_sink *file, uint64_t size, bool *done,
                              const tz_context *ctx)
{
    int error_number;
    do {
        int failed = tz_sink_syscall->insert_range(file->temporary.fd, 0, (int64_t)size);
        error_number = failed ? errno : 0;
    } while (error_number == EINTR && is_untouched(file));
    *done = error_number == 0;
    if (error_number == 0 || is_unsupported(error_number))
        return TZ_OK;
    return tz_fail_errno(ctx, tz_no_location(), error_number,
                         "cannot insert %llu bytes at the front", (unsigned long long)size);
}

/* ---- insertion by copies ---- */

/* Moves bytes up by size, from the end of the file backwards; the first `left` bytes are still to
 * be moved. The steps of the system begin at multiples of the distance, because file systems share
 * whole blocks only. A step that stops halfway has overwritten only bytes that were moved before,
 * and the buffer goes on from its end. */
static tz_result move_up(const tz_file_sink *file, uint64_t size, const tz_context *ctx)
{
    uint64_t left = file->end;
    while (size >= MAX_STEP && left > 0) {
        const uint64_t from = (left - 1) / size * size;
        uint64_t done;
        TZ_TRY(tz_check_progress(ctx, file->progress, file->end - left, file->end));
        TZ_TRY(tz_file_sink_copy_range(file, from + size, file, from, left - from, &done, ctx));
        if (done < left - from)
            break;
        left = from;
    }
    if (left == 0)
        return TZ_OK;
    const size_t buffer_size = (size_t)tz_min(left, MAX_STEP);
    void *buffer = tz_alloc(buffer_size);
    if (!buffer)
        return tz_fail_nomem(ctx, buffer_size);
    tz_result result = TZ_OK;
    while (left > 0 && result == TZ_OK) {
        const tz_bytes step = {buffer, (size_t)tz_min(left, buffer_size)};
        uint64_t end;
        result = tz_check_progress(ctx, file->progress, file->end - left, file->end);
        left -= step.size;
        if (result == TZ_OK)
            result = tz_file_sink_pread(file, left, buffer, step.size, ctx);
        if (result == TZ_OK)
            result = tz_file_sink_pwrite(file, left + size, &step, 1, &end, ctx);
    }
    tz_free(buffer);
    return result;
}

/* ---- insertion by one of them ---- */

static tz_result insert_at_front(tz_file_sink *file, uint64_t size, const tz_context *ctx)
{
    uint64_t end;
    bool done;
    if (size == 0 || file->end == 0)
        return TZ_OK; /* nothing to move */
    if (!tz_add(file->end, size, &end) || end > INT64_MAX)
        return tz_fail_errno(ctx, tz_no_location(), EFBIG, "cannot insert %llu bytes at the front",
                             (unsigned long long)size);
    TZ_TRY(insert_range(file, size, &done, ctx));
    if (!done)
        TZ_TRY(move_up(file, size, ctx));
    file->end = end;
    /* The moved bytes go to disk again, all at once. The front is written next, and goes there in
     * steps, as the first bytes of any file. */
    if (!file->no_sync)
        (void)tz_sink_syscall->write_back(file->temporary.fd, (int64_t)size,
                                          (int64_t)(file->end - size));
    file->written_back = 0;
    return TZ_OK;
}

tz_result tz_file_sink_insert(tz_sink *sink, uint64_t size, tz_error *err)
{
    tz_file_sink *file = (tz_file_sink *)sink;
    tz_context ctx = tz_file_sink_context(file, err);
    TZ_TRY(tz_file_sink_check(file, &ctx));
    file->synced = false;
    return tz_file_sink_record_failure(file, insert_at_front(file, size, &ctx));
}
