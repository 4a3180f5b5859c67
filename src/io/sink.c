/* SPDX-License-Identifier: Apache-2.0
 * What all byte sinks share. */
#include "io/sink.h"

/* The error of a sink's function as the context's; a sink may have failed without a word. */
static tz_result propagate_sink_failure(tz_result result, tz_error *failed, const tz_context *ctx)
{
    if (result == TZ_OK)
        return TZ_OK;
    if (failed->result == TZ_OK)
        return tz_fail(ctx, result, TZ_CAUSE_IO, tz_no_location(), "the sink failed");
    failed->result = result;
    return tz_propagate_error(ctx, failed);
}

tz_result tz_sink_write(tz_sink *sink, uint64_t offset, const tz_bytes *buffers, size_t count,
                        const tz_context *ctx)
{
    tz_error failed = {.result = TZ_OK};
    if (!sink->write)
        return TZ_OK;
    return propagate_sink_failure(sink->write(sink, offset, buffers, count, &failed), &failed, ctx);
}

tz_result tz_sink_read(tz_sink *sink, uint64_t offset, void *dst, size_t size,
                       const tz_context *ctx)
{
    tz_error failed = {.result = TZ_OK};
    if (!sink->read)
        return TZ_OK;
    return propagate_sink_failure(sink->read(sink, offset, dst, size, &failed), &failed, ctx);
}

tz_result tz_sink_insert(tz_sink *sink, uint64_t size, const tz_context *ctx)
{
    tz_error failed = {.result = TZ_OK};
    return propagate_sink_failure(sink->insert(sink, size, &failed), &failed, ctx);
}

tz_result tz_sink_sync(tz_sink *sink, uint64_t size, const tz_context *ctx)
{
    tz_error failed = {.result = TZ_OK};
    return sink->sync ? propagate_sink_failure(sink->sync(sink, size, &failed), &failed, ctx)
                      : TZ_OK;
}

tz_result tz_sink_commit(tz_sink *sink, const tz_context *ctx)
{
    tz_error failed = {.result = TZ_OK};
    return sink->commit ? propagate_sink_failure(sink->commit(sink, &failed), &failed, ctx) : TZ_OK;
}

void tz_sink_close(tz_sink *sink)
{
    if (sink && sink->close)
        sink->close(sink);
}
