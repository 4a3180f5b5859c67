/* SPDX-License-Identifier: Apache-2.0
 * Room at the front of a file sink: all that was written moves up. Three ways, of which the first
 * that the system knows is taken; what is behind the room is the same after each of them:
 *
 *   1. The file system exchanges the blocks' numbers (ext4, XFS, F2FS), without touching a byte.
 *   2. The system copies in large steps from the end backwards, each of them no longer than the
 *      distance, so that nothing overlaps; where blocks can be shared (Btrfs), that copies nothing
 *      either. A distance that is small makes too many steps of it.
 *   3. The same through a buffer.
 *
 * None of them takes more of the disk than the file will have in the end. Gaps may become zeros
 * that take room. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>

#include "base/mem.h"
#include "io/sink_file.h"
#include "io/sink_syscalls.h"

#define MAX_STEP ((uint64_t)256 << 10) /* through a buffer of this size */

/* ---------------------------------------------------------------------------------------------
 * By the file system
 * ------------------------------------------------------------------------------------------ */

/* File systems make the file longer before they move its blocks, so that a file of the old length
 * was not touched. */
static bool is_untouched(const tz_file_sink *file)
{
    struct stat status;
    return tz_sink_syscall->fstat(file->temporary.fd, &status) == 0 && status.st_size >= 0 &&
           (uint64_t)status.st_size == file->end;
}

/* *done: all is moved. */
static tz_result insert_range(const tz_file_sink *file, uint64_t size, bool *done,
                              const tz_context *ctx)
{
    int error_number;
    do {
        int failed = tz_sink_syscall->insert_range(file->temporary.fd, 0, (int64_t)size);
        error_number = failed ? errno : 0;
    } while (error_number == EINTR && is_untouched(file));
    *done = error_number == 0;
    if (error_number == 0 || tz_errno_is_unsupported(error_number))
        return TZ_OK;
    return tz_fail_errno(ctx, tz_no_location(), error_number,
                         "cannot make room for %llu bytes at the front", (unsigned long long)size);
}

/* ---------------------------------------------------------------------------------------------
 * By moving
 * ------------------------------------------------------------------------------------------ */

/* *left bytes, from the front, are still to be moved. Steps begin at multiples of the distance:
 * file systems share whole blocks only. One that stops halfway has changed nothing that is still
 * needed.
 */
static tz_result move_by_system(const tz_file_sink *file, uint64_t size, uint64_t *left,
                                const tz_context *ctx)
{
    while (*left > 0) {
        uint64_t from = (*left - 1) / size * size;
        uint64_t done;
        TZ_TRY(tz_file_sink_copy_range(file, from + size, file, from, *left - from, &done, ctx));
        if (done < *left - from)
            break;
        *left = from;
    }
    return TZ_OK;
}

static tz_result move_through_buffer(const tz_file_sink *file, uint64_t size, uint64_t left,
                                     void *buffer, size_t buffer_size, const tz_context *ctx)
{
    uint64_t end;
    while (left > 0) {
        tz_bytes step = {buffer, left < buffer_size ? (size_t)left : buffer_size};
        left -= step.size;
        TZ_TRY(tz_file_sink_pread(file, left, buffer, step.size, ctx));
        TZ_TRY(tz_file_sink_pwrite(file, left + size, &step, 1, &end, ctx));
    }
    return TZ_OK;
}

static tz_result move_up(const tz_file_sink *file, uint64_t size, const tz_context *ctx)
{
    uint64_t left = file->end;
    if (size >= MAX_STEP)
        TZ_TRY(move_by_system(file, size, &left, ctx));
    if (left == 0)
        return TZ_OK;
    size_t buffer_size = (size_t)(left < MAX_STEP ? left : MAX_STEP);
    void *buffer = tz_alloc(buffer_size);
    if (!buffer)
        return tz_fail_nomem(ctx, buffer_size);
    tz_result result = move_through_buffer(file, size, left, buffer, buffer_size, ctx);
    tz_free(buffer);
    return result;
}

/* ---------------------------------------------------------------------------------------------
 * Either
 * ------------------------------------------------------------------------------------------ */

/* The front is written next, and brought to the disk in steps as all was that came before; whatever
 * moved is asked for once more, at once. */
static void restart_write_back(tz_file_sink *file, uint64_t size)
{
    if (!file->no_sync)
        (void)tz_sink_syscall->write_back(file->temporary.fd, (int64_t)size,
                                          (int64_t)(file->end - size));
    file->written_back = 0;
}

/* Of a file that is still empty nothing moves. */
static tz_result insert_at_front(tz_file_sink *file, uint64_t size, const tz_context *ctx)
{
    uint64_t end;
    bool done;
    if (size == 0 || file->end == 0)
        return TZ_OK;
    if (!tz_add(file->end, size, &end) || end > INT64_MAX)
        return tz_fail_errno(ctx, tz_no_location(), EFBIG,
                             "cannot make room for %llu bytes at the front",
                             (unsigned long long)size);
    TZ_TRY(insert_range(file, size, &done, ctx));
    if (!done)
        TZ_TRY(move_up(file, size, ctx));
    file->end = end;
    restart_write_back(file, size);
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
