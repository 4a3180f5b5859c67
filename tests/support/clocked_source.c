/* SPDX-License-Identifier: Apache-2.0 */
#include "support/clocked_source.h"

#include <stdlib.h>
#include <string.h>

static bool counts(const clocked_source *s, const tz_request *request)
{
    const uint64_t at = request->ranges[0].offset;
    return at >= s->from && at < s->to;
}

static tz_result submit(tz_source *source, tz_request *request, tz_error *err)
{
    clocked_source *s = (clocked_source *)source;
    (void)err;
    for (size_t i = 0; i < request->count; i++)
        memset(request->ranges[i].dst, 0xEE, request->ranges[i].size);
    if (!counts(s, request))
        return TZ_OK;
    s->reads += request->count;
    s->late += s->waits > 0 ? request->count : 0;
    s->clock.now += s->clock.prices.call;
    vclock_submit(&s->clock, request->count);
    return TZ_OK;
}

static tz_result wait(tz_source *source, tz_request *request, tz_error *err)
{
    clocked_source *s = (clocked_source *)source;
    (void)err;
    for (size_t i = 0; i < request->count; i++)
        memcpy(request->ranges[i].dst, s->data + request->ranges[i].offset,
               request->ranges[i].size);
    if (!counts(s, request))
        return TZ_OK;
    s->waits++;
    s->clock.now += s->clock.prices.call;
    vclock_wait(&s->clock);
    return TZ_OK;
}

static void release(tz_source *source)
{
    free(source);
}

clocked_source *clocked_source_new(const void *data, size_t size, const vclock_prices *prices)
{
    clocked_source *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->base = (tz_source){size, submit, wait, NULL, release};
    s->data = data;
    s->to = size;
    s->clock = vclock_start(prices);
    return s;
}

void clocked_source_restart(clocked_source *source)
{
    source->clock = vclock_start(&source->clock.prices);
    source->reads = source->waits = source->late = 0;
}

void clocked_source_one_by_one(clocked_source *source, uint64_t reads)
{
    for (uint64_t i = 0; i < reads; i++) {
        uint8_t byte;
        tz_range range = {.offset = source->from + i, .size = 1, .dst = &byte};
        tz_request request = {.ranges = &range, .count = 1};
        if (source->base.submit(&source->base, &request, NULL) != TZ_OK ||
            source->base.wait(&source->base, &request, NULL) != TZ_OK)
            abort();
    }
}
