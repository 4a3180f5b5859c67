/* SPDX-License-Identifier: Apache-2.0
 * Calls of a sink with the error of the context, and copies from one sink to another. */
#include "io/sink.h"

#include "base/mem.h"
#include "io/sink_file.h"

/* Every sink has all members up to this one. */
#define MIN_SIZE (offsetof(tz_sink, close) + sizeof(((tz_sink *)0)->close))

tz_result tz_sink_check_struct(const tz_sink *sink, const tz_context *ctx)
{
    tz_sink members = {0};
    TZ_TRY(tz_copy_struct(&members, sizeof members, sink, "sink", "TZ_SINK_INIT", ctx));
    if (sink->struct_size < MIN_SIZE)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), MIN_SIZE, sink->struct_size),
                       "sink->struct_size is wrong; use TZ_SINK_INIT");
    return TZ_OK;
}

static tz_result propagate_failure(tz_result result, tz_error *failed, const tz_context *ctx)
{
    return tz_propagate_failure(ctx, result, failed, "the sink failed");
}

tz_result tz_sink_write(tz_sink *sink, uint64_t offset, const tz_bytes *buffers, size_t count,
                        const tz_context *ctx)
{
    tz_error failed = {.result = TZ_OK};
    if (!sink->write)
        return TZ_OK;
    return propagate_failure(sink->write(sink, offset, buffers, count, &failed), &failed, ctx);
}

tz_result tz_sink_read(tz_sink *sink, uint64_t offset, void *dst, size_t size,
                       const tz_context *ctx)
{
    tz_error failed = {.result = TZ_OK};
    if (!sink->read)
        return TZ_OK;
    return propagate_failure(sink->read(sink, offset, dst, size, &failed), &failed, ctx);
}

tz_result tz_sink_insert(tz_sink *sink, uint64_t size, const tz_context *ctx)
{
    tz_error failed = {.result = TZ_OK};
    return propagate_failure(sink->insert(sink, size, &failed), &failed, ctx);
}

void tz_sink_set_progress(tz_sink *sink, const tz_progress *progress)
{
    tz_file_sink *file = tz_file_sink_of(sink);
    if (file)
        file->progress = progress;
}

tz_result tz_sink_sync(tz_sink *sink, uint64_t size, const tz_context *ctx)
{
    tz_error failed = {.result = TZ_OK};
    return sink->sync ? propagate_failure(sink->sync(sink, size, &failed), &failed, ctx) : TZ_OK;
}

tz_result tz_sink_commit(tz_sink *sink, const tz_context *ctx)
{
    tz_error failed = {.result = TZ_OK};
    return sink->commit ? propagate_failure(sink->commit(sink, &failed), &failed, ctx) : TZ_OK;
}

void tz_sink_close(tz_sink *sink)
{
    if (sink && sink->close)
        sink->close(sink);
}

static bool is_file_range(uint64_t offset, uint64_t size)
{
    uint64_t end;
    return tz_add(offset, size, &end) && end <= INT64_MAX;
}

tz_result tz_sink_copy(tz_sink *to, uint64_t to_offset, tz_sink *from, uint64_t from_offset,
                       uint64_t size, void *buffer, size_t buffer_size, const tz_context *ctx)
{
    tz_file_sink *to_file = tz_file_sink_of(to);
    const tz_file_sink *from_file = tz_file_sink_of(from);
    uint64_t done = 0;
    if (buffer_size == 0)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the buffer to copy through is empty");
    /* Offsets that no file has are left to the copy through the buffer, whose calls report them. */
    if (to_file && from_file && is_file_range(to_offset, size) &&
        is_file_range(from_offset, size)) {
        TZ_TRY(tz_file_sink_check(to_file, ctx));
        to_file->synced = false;
        TZ_TRY(tz_file_sink_record_failure(
            to_file,
            tz_file_sink_copy_range(to_file, to_offset, from_file, from_offset, size, &done, ctx)));
        if (done > 0)
            tz_file_sink_note_written(to_file, to_offset + done);
    }
    while (done < size) {
        const tz_bytes step = {buffer, (size_t)tz_min(size - done, buffer_size)};
        TZ_TRY(tz_sink_read(from, from_offset + done, buffer, step.size, ctx));
        TZ_TRY(tz_sink_write(to, to_offset + done, &step, 1, ctx));
        done += step.size;
    }
    return TZ_OK;
}
