/* SPDX-License-Identifier: Apache-2.0
 * Bytes of one sink to another. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>

#include "base/mem.h"
#include "io/sink.h"
#include "io/sink_file.h"
#include "io/sink_syscalls.h"

/* Of one call: Linux would stop a little below 2 GiB anyway. */
#define MAX_COPY ((uint64_t)1 << 30)

/* EPERM is what some sandboxes answer to calls that they do not know; EXDEV where a file system
 * cannot do it for another. */
bool tz_errno_is_unsupported(int error_number)
{
    return error_number == EOPNOTSUPP || error_number == ENOTSUP || error_number == ENOSYS ||
           error_number == EINVAL || error_number == EPERM || error_number == EXDEV;
}

/* Some systems answer 0 where they should have said that they cannot. */
tz_result tz_file_sink_copy_range(const tz_file_sink *to, uint64_t to_offset,
                                  const tz_file_sink *from, uint64_t from_offset, uint64_t size,
                                  uint64_t *done, const tz_context *ctx)
{
    for (*done = 0; *done < size;) {
        uint64_t left = size - *done;
        long copied;
        TZ_RETRY(copied,
                 tz_sink_syscall->copy_range(from->temporary.fd, (int64_t)(from_offset + *done),
                                             to->temporary.fd, (int64_t)(to_offset + *done),
                                             (size_t)(left < MAX_COPY ? left : MAX_COPY)));
        if (copied == 0 || (copied < 0 && tz_errno_is_unsupported(errno)))
            break;
        if (copied < 0)
            return tz_fail_errno(ctx, tz_at_offset(to_offset + *done), errno,
                                 "cannot copy %llu bytes", (unsigned long long)left);
        *done += (uint64_t)copied;
    }
    return TZ_OK;
}

static bool is_file_range(uint64_t offset, uint64_t size)
{
    uint64_t end;
    return tz_add(offset, size, &end) && end <= INT64_MAX;
}

/* Where the offsets are none of a file, the ordinary way finds the words for it. */
static tz_result copy_files(tz_file_sink *to, uint64_t to_offset, const tz_file_sink *from,
                            uint64_t from_offset, uint64_t size, uint64_t *done,
                            const tz_context *ctx)
{
    *done = 0;
    if (!is_file_range(to_offset, size) || !is_file_range(from_offset, size))
        return TZ_OK;
    TZ_TRY(tz_file_sink_check(to, ctx));
    to->synced = false;
    TZ_TRY(tz_file_sink_record_failure(
        to, tz_file_sink_copy_range(to, to_offset, from, from_offset, size, done, ctx)));
    if (*done > 0)
        tz_file_sink_note_written(to, to_offset + *done);
    return TZ_OK;
}

static tz_result copy_through_buffer(tz_sink *to, uint64_t to_offset, tz_sink *from,
                                     uint64_t from_offset, uint64_t size, void *buffer,
                                     size_t buffer_size, const tz_context *ctx)
{
    for (uint64_t done = 0; done < size;) {
        tz_bytes step = {buffer, size - done < buffer_size ? (size_t)(size - done) : buffer_size};
        TZ_TRY(tz_sink_read(from, from_offset + done, buffer, step.size, ctx));
        TZ_TRY(tz_sink_write(to, to_offset + done, &step, 1, ctx));
        done += step.size;
    }
    return TZ_OK;
}

tz_result tz_sink_copy(tz_sink *to, uint64_t to_offset, tz_sink *from, uint64_t from_offset,
                       uint64_t size, void *buffer, size_t buffer_size, const tz_context *ctx)
{
    tz_file_sink *to_file = tz_file_sink_of(to);
    const tz_file_sink *from_file = tz_file_sink_of(from);
    uint64_t done = 0;
    if (buffer_size == 0)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "no room to copy through");
    if (to_file && from_file)
        TZ_TRY(copy_files(to_file, to_offset, from_file, from_offset, size, &done, ctx));
    return copy_through_buffer(to, to_offset + done, from, from_offset + done, size - done, buffer,
                               buffer_size, ctx);
}
