/* SPDX-License-Identifier: Apache-2.0
 * What all byte sources share. */
#include "io/source.h"

/* The text of a source that failed without giving one. */
static void ensure_error_text(tz_error *failed, tz_result result)
{
    if (failed->result == result)
        return;
    bool has_no_text = failed->result == TZ_OK;
    failed->result = result;
    if (has_no_text)
        (void)tz_source_fail(failed, result, TZ_CAUSE_IO, TZ_NONE, "the source failed");
}

tz_result tz_source_check_ranges(const tz_source *source, const tz_request *request, tz_error *err)
{
    for (size_t i = 0; i < request->count; i++) {
        const tz_range *range = &request->ranges[i];
        uint64_t left = range->offset < source->size ? source->size - range->offset : 0;
        if (range->size > left || range->offset > source->size) {
            tz_context ctx = {.err = err, .ifd = -1};
            tz_location location = tz_expecting(tz_at_offset(range->offset), range->size, left);
            return tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED, location,
                           "the file ends too early");
        }
    }
    return TZ_OK;
}

static tz_result read_checked(tz_source *source, tz_request *request, tz_error *err)
{
    TZ_TRY(tz_source_check_ranges(source, request, err));
    if (tz_source_is_file(source))
        return tz_source_read_file(source, request->ranges, err);
    TZ_TRY(source->submit(source, request, err));
    return source->wait(source, request, err);
}

tz_result tz_source_read(tz_source *source, uint64_t offset, size_t size, void *dst,
                         const tz_context *ctx)
{
    tz_range range = {offset, size, dst};
    tz_request request = {&range, 1, NULL};
    tz_error failed = {.result = TZ_OK};
    const tz_result result = read_checked(source, &request, &failed);
    if (result == TZ_OK)
        return TZ_OK;
    ensure_error_text(&failed, result);
    return tz_propagate_error(ctx, &failed);
}

tz_result tz_source_check(tz_source *source, const tz_context *ctx)
{
    tz_error failed = {.result = TZ_OK};
    tz_result result = source->check ? source->check(source, &failed) : TZ_OK;
    if (result == TZ_OK)
        return TZ_OK;
    ensure_error_text(&failed, result);
    return tz_propagate_error(ctx, &failed);
}

void tz_source_close(tz_source *source)
{
    if (source && source->close)
        source->close(source);
}

tz_result tz_source_fail(tz_error *err, tz_result result, tz_cause cause, uint64_t offset,
                         const char *message)
{
    tz_context ctx = {.err = err, .ifd = -1};
    return tz_fail(&ctx, result, cause, tz_at_offset(offset), "%s",
                   message ? message : "the source failed");
}
