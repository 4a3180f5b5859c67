/* SPDX-License-Identifier: Apache-2.0
 * Reads of one range from any source, with the error of the context, and memory as a source. */
#define _POSIX_C_SOURCE 200809L
#include "io/source.h"

#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

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

/* A file is read in the calling thread: see io/reader_threads.h. */
static tz_result read_one_range(tz_source *source, tz_range *range, tz_error *err)
{
    tz_request request = {range, 1, NULL};
    TZ_TRY(tz_source_check_ranges(source, &request, err));
    if (tz_source_is_file(source))
        return tz_source_read_file(source, range, err);
    TZ_TRY(source->submit(source, &request, err));
    return source->wait(source, &request, err);
}

tz_result tz_source_read(tz_source *source, uint64_t offset, size_t size, void *dst,
                         const tz_context *ctx)
{
    tz_range range = {offset, size, dst};
    tz_error failed = {.result = TZ_OK};
    const tz_result result = read_one_range(source, &range, &failed);
    return tz_propagate_failure(ctx, result, &failed, "the source failed");
}

tz_result tz_source_submit(tz_source *source, tz_request *request, const tz_context *ctx)
{
    tz_error failed = {.result = TZ_OK};
    tz_result result = tz_source_check_ranges(source, request, &failed);
    if (result == TZ_OK)
        result = source->submit(source, request, &failed);
    return tz_propagate_failure(ctx, result, &failed, "the source failed");
}

tz_result tz_source_wait(tz_source *source, tz_request *request, const tz_context *ctx)
{
    tz_error failed = {.result = TZ_OK};
    const tz_result result = source->wait(source, request, &failed);
    return tz_propagate_failure(ctx, result, &failed, "the source failed");
}

tz_result tz_source_check(tz_source *source, const tz_context *ctx)
{
    tz_error failed = {.result = TZ_OK};
    const tz_result result = source->check ? source->check(source, &failed) : TZ_OK;
    return tz_propagate_failure(ctx, result, &failed, "the source failed");
}

void tz_source_close(tz_source *source)
{
    if (source && source->close)
        source->close(source);
}

tz_result tz_error_set(tz_error *err, tz_result result, tz_cause cause, uint64_t offset,
                       const char *message)
{
    tz_context ctx = {.err = err, .ifd = -1};
    return tz_fail(&ctx, result, cause, tz_at_offset(offset), "%s",
                   message ? message : "a function of the caller failed");
}

/* ---- sources of the caller ---- */

tz_result tz_source_check_struct(const tz_source *source, bool *is_usable, const tz_context *ctx)
{
    tz_source members = {0};
    *is_usable = false;
    TZ_TRY(tz_copy_struct(&members, sizeof members, source, "source", "TZ_SOURCE_INIT", ctx));
    if (source->struct_size < TZ_SOURCE_MIN_SIZE)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), TZ_SOURCE_MIN_SIZE, source->struct_size),
                       "source->struct_size is wrong; use TZ_SOURCE_INIT");
    *is_usable = true;
    if (!members.submit || !members.wait)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the source has no function %s", members.submit ? "wait" : "submit");
    return TZ_OK;
}

tz_source tz_source_members(const tz_source *source)
{
    tz_source members = {0};
    memcpy(&members, source, tz_min_size(source->struct_size, sizeof members));
    return members;
}

tz_result tz_fail_not_regular(const tz_context *ctx, const char *verb, int error_number,
                              const char *kind)
{
    const tz_result result = tz_fail(ctx, TZ_ERR_IO, TZ_CAUSE_UNSAFE, tz_no_location(),
                                     "is %s; only regular files are %s", kind, verb);
    if (ctx->err)
        ctx->err->system_error = error_number;
    return result;
}

const char *tz_file_kind_name(unsigned mode)
{
    if (S_ISDIR(mode))
        return "a directory";
    if (S_ISFIFO(mode))
        return "a FIFO";
    if (S_ISSOCK(mode))
        return "a socket";
    if (S_ISCHR(mode))
        return "a character device";
    if (S_ISBLK(mode))
        return "a block device";
    return "of an unknown kind";
}

/* ---- memory ---- */

typedef struct memory_source {
    tz_source base; /* first, so that both have one address */
    const unsigned char *data;
} memory_source;

static tz_result submit_memory(tz_source *source, tz_request *request, tz_error *err)
{
    TZ_TRY(tz_source_check_ranges(source, request, err));
    const unsigned char *data = ((const memory_source *)source)->data;
    for (size_t i = 0; i < request->count; i++) {
        const tz_range *range = &request->ranges[i];
        if (range->size > 0)
            memcpy(range->dst, data + range->offset, range->size);
    }
    return TZ_OK;
}

static tz_result wait_memory(tz_source *source, tz_request *request, tz_error *err)
{
    (void)source, (void)request, (void)err;
    return TZ_OK; /* submit has copied the bytes */
}

static void close_memory_source(tz_source *source)
{
    tz_free(source);
}

tz_result tz_source_open_memory(tz_source **out, const void *data, size_t size,
                                const tz_context *ctx)
{
    if (!data && size > 0)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "data is NULL, but its size is %zu", size);
    memory_source *source = tz_alloc(sizeof *source);
    if (!source)
        return tz_fail_nomem(ctx, sizeof *source);
    /* No function to check: the caller has promised that the bytes do not change. */
    *source = (memory_source){.base = {.struct_size = sizeof source->base,
                                       .size = size,
                                       .submit = submit_memory,
                                       .wait = wait_memory,
                                       .close = close_memory_source},
                              .data = data};
    *out = &source->base;
    return TZ_OK;
}
