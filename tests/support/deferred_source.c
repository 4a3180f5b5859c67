/* SPDX-License-Identifier: Apache-2.0 */
#include "support/deferred_source.h"

#include <stdlib.h>
#include <string.h>

static bool counts(const deferred_source *s, const tz_request *request)
{
    const uint64_t at = request->ranges[0].offset;
    return at >= s->from && at < s->to;
}

static tz_result submit(tz_source *source, tz_request *request, tz_error *err)
{
    deferred_source *s = (deferred_source *)source;
    (void)err;
    for (size_t i = 0; i < request->count; i++)
        memset(request->ranges[i].dst, 0xEE, request->ranges[i].size);
    if (!counts(s, request))
        return TZ_OK;
    s->reads += request->count;
    s->late += s->waits > 0 ? request->count : 0;
    return TZ_OK;
}

static tz_result wait(tz_source *source, tz_request *request, tz_error *err)
{
    deferred_source *s = (deferred_source *)source;
    (void)err;
    for (size_t i = 0; i < request->count; i++)
        memcpy(request->ranges[i].dst, s->data + request->ranges[i].offset,
               request->ranges[i].size);
    if (!counts(s, request))
        return TZ_OK;
    s->waits++;
    return TZ_OK;
}

static void release(tz_source *source)
{
    free(source);
}

deferred_source *deferred_source_new(const void *data, size_t size)
{
    deferred_source *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->base = (tz_source){.struct_size = sizeof s->base,
                          .size = size,
                          .submit = submit,
                          .wait = wait,
                          .close = release};
    s->data = data;
    s->to = size;
    return s;
}

void deferred_source_restart(deferred_source *source)
{
    source->reads = source->waits = source->late = 0;
}
