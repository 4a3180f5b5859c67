/* SPDX-License-Identifier: Apache-2.0
 * The bytes of a wave: one request for each source, all submitted before the first is waited for.
 */
#include <stdlib.h>

#include "io/source.h"
#include "read/device_lane.h"
#include "read/tile.h"

/* ---- requests ---- */

/* What goes straight to the device stands last. */
static bool stands_before(const tz_lane_fetch *a, const tz_lane_fetch *b)
{
    if (a->is_direct != b->is_direct)
        return b->is_direct;
    return (uintptr_t)a->source < (uintptr_t)b->source || (a->source == b->source && a->at < b->at);
}

static int by_source(const void *a, const void *b)
{
    const tz_lane_fetch *x = a;
    const tz_lane_fetch *y = b;
    return stands_before(x, y) ? -1 : stands_before(y, x);
}

/* Reads of one source follow each other nearly always. */
static bool is_sorted(const tz_lane *lane)
{
    for (size_t i = 1; i < lane->fetch_count; i++) {
        if (stands_before(&lane->fetches[i], &lane->fetches[i - 1]))
            return false;
    }
    return true;
}

static size_t make_requests(tz_lane *lane)
{
    size_t count = 0;
    if (!is_sorted(lane))
        qsort(lane->fetches, lane->fetch_count, sizeof *lane->fetches, by_source);
    for (size_t i = 0; i < lane->fetch_count && !lane->fetches[i].is_direct; i++) {
        const tz_lane_fetch *fetch = &lane->fetches[i];
        lane->ranges[i] = (tz_range){fetch->span.offset, (size_t)fetch->span.size,
                                     tz_lane_pinned(lane, fetch->at)};
        if (i == 0 || fetch->source != lane->fetches[i - 1].source)
            lane->requests[count++] = (tz_request){&lane->ranges[i], 0, NULL};
        lane->requests[count - 1].count++;
    }
    return count;
}

static tz_source *source_of(const tz_lane *lane, const tz_request *request)
{
    return lane->fetches[request->ranges - lane->ranges].source;
}

/* A request that fails tells nothing of its ranges: they are read once more, one by one. */
static bool submit(const tz_lane *lane, tz_request *request)
{
    tz_source *source = source_of(lane, request);
    return tz_source_check_ranges(source, request, NULL) == TZ_OK &&
           source->submit(source, request, NULL) == TZ_OK;
}

static bool wait_for(const tz_lane *lane, tz_request *request)
{
    tz_source *source = source_of(lane, request);
    return source->wait(source, request, NULL) == TZ_OK;
}

/* ---- what failed ---- */

static tz_result fetch_apart(tz_device_run *run, tz_lane *lane, const tz_lane_fetch *fetch,
                             tz_error *err)
{
    const tz_plan *plan = run->plan;
    for (size_t i = 0; i < fetch->span.count; i++) {
        const tz_indexed_range *piece = &plan->wave.pieces[fetch->span.first + i];
        tz_lane_unit *unit = &lane->units[fetch->first + i];
        const tz_result result = tz_unit_read(plan, &plan->wave.units[unit->unit], piece->offset,
                                              piece->size, tz_lane_pinned(lane, unit->bytes), err);
        if (result != TZ_OK)
            TZ_TRY(tz_lane_settle(run, &run->workers[0], unit, result, err));
    }
    return TZ_OK;
}

tz_result tz_lane_fetch_again(tz_device_run *run, tz_lane *lane, const tz_lane_fetch *fetch)
{
    const tz_plan *plan = run->plan;
    const tz_unit *unit = &plan->wave.units[lane->units[fetch->first].unit];
    tz_error err = {.result = TZ_OK};
    tz_result result = tz_unit_read(plan, unit, fetch->span.offset, fetch->span.size,
                                    tz_lane_pinned(lane, fetch->at), &err);
    if (result != TZ_OK && tz_fetch_takes_failures(plan, &fetch->span))
        result = fetch_apart(run, lane, fetch, &err);
    if (result != TZ_OK && plan->ctx.err)
        *plan->ctx.err = err;
    return result;
}

static tz_result fetch_again(tz_device_run *run, tz_lane *lane, const tz_request *request)
{
    const tz_lane_fetch *fetches = &lane->fetches[request->ranges - lane->ranges];
    for (size_t i = 0; i < request->count; i++)
        TZ_TRY(tz_lane_fetch_again(run, lane, &fetches[i]));
    return TZ_OK;
}

tz_result tz_lane_fetch_all(tz_device_run *run, tz_lane *lane)
{
    const size_t count = make_requests(lane);
    tz_result result = TZ_OK;
    for (size_t i = 0; i < count; i++)
        lane->is_read[i] = submit(lane, &lane->requests[i]);
    for (size_t i = 0; i < count; i++)
        lane->is_read[i] = lane->is_read[i] && wait_for(lane, &lane->requests[i]);
    for (size_t i = 0; result == TZ_OK && i < count; i++) {
        if (!lane->is_read[i])
            result = fetch_again(run, lane, &lane->requests[i]);
    }
    return result;
}
