/* SPDX-License-Identifier: Apache-2.0
 * Locations and errors. The line of text is made in message.c. */
#include "base/error.h"

#include <string.h>

#include "base/limits.h"
#include "base/message.h"

tz_location tz_no_location(void)
{
    return (tz_location){.tag = -1,
                         .level = -1,
                         .tile = -1,
                         .offset = TZ_NONE,
                         .expected = TZ_NONE,
                         .found = TZ_NONE};
}

tz_location tz_at_offset(uint64_t offset)
{
    tz_location location = tz_no_location();
    location.offset = offset;
    return location;
}

tz_location tz_at_tile(uint32_t level, uint64_t tile, uint64_t offset)
{
    tz_location location = tz_at_offset(offset);
    location.level = (int32_t)level; /* TZ_MASK_OF(level) is negative, and still not -1 */
    location.tile = tile <= INT64_MAX ? (int64_t)tile : INT64_MAX;
    return location;
}

tz_location tz_expecting(tz_location location, uint64_t expected, uint64_t found)
{
    location.expected = expected;
    location.found = found;
    return location;
}

tz_error tz_error_at(const tz_context *ctx, tz_result result, tz_cause cause, tz_location location)
{
    return (tz_error){.result = result,
                      .cause = cause,
                      .ifd = ctx->ifd,
                      .tag = location.tag,
                      .level = location.level,
                      .tile = location.tile,
                      .offset = location.offset,
                      .expected = location.expected,
                      .found = location.found,
                      .count = 1};
}

/* Every error comes by here. It is made aside, because an argument may point into the error that is
 * about to be replaced. */
static tz_result store_error(const tz_context *ctx, tz_error error, const char *tag_name,
                             const char *format, va_list args)
{
    if (ctx->err) {
        tz_message_make(&error, ctx->name, tag_name, format, args);
        *ctx->err = error;
    }
    return error.result;
}

tz_result tz_fail(const tz_context *ctx, tz_result result, tz_cause cause, tz_location location,
                  const char *format, ...)
{
    va_list args;
    va_start(args, format);
    store_error(ctx, tz_error_at(ctx, result, cause, location), location.tag_name, format, args);
    va_end(args);
    return result;
}

tz_result tz_fail_errno(const tz_context *ctx, tz_location location, int error_number,
                        const char *format, ...)
{
    tz_error error = tz_error_at(ctx, TZ_ERR_IO, TZ_CAUSE_IO, location);
    error.system_error = error_number;
    va_list args;
    va_start(args, format);
    store_error(ctx, error, location.tag_name, format, args);
    va_end(args);
    return TZ_ERR_IO;
}

tz_result tz_fail_nomem(const tz_context *ctx, uint64_t size)
{
    return tz_fail(ctx, TZ_ERR_NOMEM, TZ_CAUSE_NOMEM, tz_no_location(),
                   "out of memory: %llu bytes were asked for", (unsigned long long)size);
}

tz_result tz_propagate_error(const tz_context *ctx, const tz_error *failed)
{
    if (!ctx->err)
        return failed->result;
    tz_error error = *failed;
    error.ifd = ctx->ifd;
    tz_message_prefix(&error, ctx->name, failed->message);
    *ctx->err = error;
    return error.result;
}

static uint64_t limit_value(const tz_limits *limits, size_t member_offset)
{
    uint64_t value;
    memcpy(&value, (const unsigned char *)limits + member_offset, sizeof value);
    return value;
}

static tz_result fail_over_limit(const tz_context *ctx, const char *limit, tz_location location,
                                 const char *format, ...) TZ_PRINTF(4, 5);
static tz_result fail_over_limit(const tz_context *ctx, const char *limit, tz_location location,
                                 const char *format, ...)
{
    tz_error error = tz_error_at(ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT, location);
    error.limit = limit;
    va_list args;
    va_start(args, format);
    store_error(ctx, error, location.tag_name, format, args);
    va_end(args);
    return TZ_ERR_LIMIT;
}

tz_result tz_check_limit(const tz_context *ctx, size_t member_offset, tz_location location,
                         uint64_t value, const char *what)
{
    uint64_t limit = limit_value(ctx->limits, member_offset);
    if (value <= limit)
        return TZ_OK;
    return fail_over_limit(ctx, tz_limit_name(member_offset), tz_expecting(location, limit, value),
                           "too many %s", what);
}

tz_result tz_check_progress(const tz_context *ctx, const tz_progress *progress, uint64_t done,
                            uint64_t total)
{
    if (!progress || !progress->call || progress->call(progress->user, done, total))
        return TZ_OK;
    return tz_fail(ctx, TZ_ERR_CANCELLED, TZ_CAUSE_CANCELLED, tz_no_location(),
                   "cancelled by the caller");
}
