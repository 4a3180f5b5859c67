/* SPDX-License-Identifier: Apache-2.0
 * Bytes in memory as a source. */
#include <string.h>

#include "base/mem.h"
#include "io/source.h"

typedef struct memory_source {
    tz_source base; /* first: the two share their address */
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
    return TZ_OK; /* submit has done it all */
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
    /* No check: the caller has promised that the bytes stay as they are. */
    *source = (memory_source){.base = {.size = size,
                                       .submit = submit_memory,
                                       .wait = wait_memory,
                                       .close = close_memory_source},
                              .data = data};
    *out = &source->base;
    return TZ_OK;
}
