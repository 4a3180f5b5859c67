/* SPDX-License-Identifier: Apache-2.0
 * The bytes of a wave: one request for each source, all submitted before the first is waited for.
 */
#include <stdlib.h>

#include "io/source.h"
#include "read/gpu/gpu_slot.h"
#include "read/tile.h"

/* ---- requests ---- */

/* What goes straight to the device stands last. */
static bool is_before(const tz_gpu_fetch *a, const tz_gpu_fetch *b)
{
    if (a->is_direct != b->is_direct)
        return b->is_direct;
    return (uintptr_t)a->source < (uintptr_t)b->source || (a->source == b->source && a->at < b->at);
}

static int compare_fetches(const void *a, const void *b)
{
    const tz_gpu_fetch *x = a;
    const tz_gpu_fetch *y = b;
    return is_before(x, y) ? -1 : is_before(y, x);
}

/* Reads of one source follow each other nearly always. */
static bool are_fetches_sorted(const tz_gpu_slot *slot)
{
    for (size_t i = 1; i < slot->fetch_count; i++) {
        if (is_before(&slot->fetches[i], &slot->fetches[i - 1]))
            return false;
    }
    return true;
}

static size_t make_source_requests(tz_gpu_slot *slot)
{
    size_t count = 0;
    if (!are_fetches_sorted(slot))
        qsort(slot->fetches, slot->fetch_count, sizeof *slot->fetches, compare_fetches);
    for (size_t i = 0; i < slot->fetch_count && !slot->fetches[i].is_direct; i++) {
        const tz_gpu_fetch *fetch = &slot->fetches[i];
        slot->ranges[i] = (tz_range){fetch->span.offset, (size_t)fetch->span.size,
                                     tz_gpu_slot_pinned(slot, fetch->at)};
        if (i == 0 || fetch->source != slot->fetches[i - 1].source)
            slot->source_requests[count++] = (tz_request){&slot->ranges[i], 0, NULL};
        slot->source_requests[count - 1].count++;
    }
    return count;
}

static tz_source *source_of_request(const tz_gpu_slot *slot, const tz_request *request)
{
    return slot->fetches[request->ranges - slot->ranges].source;
}

/* A request that fails tells nothing of its ranges: they are read once more, one by one. */
static bool submit_request(const tz_gpu_slot *slot, tz_request *request)
{
    tz_source *source = source_of_request(slot, request);
    return tz_source_check_ranges(source, request, NULL) == TZ_OK &&
           source->submit(source, request, NULL) == TZ_OK;
}

static bool wait_for_request(const tz_gpu_slot *slot, tz_request *request)
{
    tz_source *source = source_of_request(slot, request);
    return source->wait(source, request, NULL) == TZ_OK;
}

/* ---- what failed ---- */

static tz_result fetch_tiles_apart(tz_gpu_run *run, tz_gpu_slot *slot, const tz_gpu_fetch *fetch,
                                   tz_error *err)
{
    const tz_plan *plan = run->plan;
    for (size_t i = 0; i < fetch->span.count; i++) {
        const tz_indexed_range *range = &plan->wave.ranges[fetch->span.first + i];
        tz_gpu_tile_read *tile_read = &slot->tile_reads[fetch->first + i];
        const tz_result result = tz_tile_read_from_file(
            &plan->wave, &plan->wave.tile_reads[tile_read->tile_read], range->offset, range->size,
            tz_gpu_slot_pinned(slot, tile_read->bytes), err);
        if (result != TZ_OK)
            TZ_TRY(tz_gpu_record_failure(run, &run->workers.list[0], tile_read, result, err));
    }
    return TZ_OK;
}

tz_result tz_gpu_fetch_retry(tz_gpu_run *run, tz_gpu_slot *slot, const tz_gpu_fetch *fetch)
{
    const tz_plan *plan = run->plan;
    const tz_tile_read *tile_read =
        &plan->wave.tile_reads[slot->tile_reads[fetch->first].tile_read];
    tz_error err = {.result = TZ_OK};
    tz_result result =
        tz_tile_read_from_file(&plan->wave, tile_read, fetch->span.offset, fetch->span.size,
                               tz_gpu_slot_pinned(slot, fetch->at), &err);
    if (result != TZ_OK && tz_fetch_may_fail(&plan->wave, &fetch->span))
        result = fetch_tiles_apart(run, slot, fetch, &err);
    if (result != TZ_OK && plan->ctx.err)
        *plan->ctx.err = err;
    return result;
}

static tz_result retry_request(tz_gpu_run *run, tz_gpu_slot *slot, const tz_request *request)
{
    const tz_gpu_fetch *fetches = &slot->fetches[request->ranges - slot->ranges];
    for (size_t i = 0; i < request->count; i++)
        TZ_TRY(tz_gpu_fetch_retry(run, slot, &fetches[i]));
    return TZ_OK;
}

tz_result tz_gpu_fetch_all(tz_gpu_run *run, tz_gpu_slot *slot)
{
    const size_t count = make_source_requests(slot);
    tz_result result = TZ_OK;
    for (size_t i = 0; i < count; i++)
        slot->is_read[i] = submit_request(slot, &slot->source_requests[i]);
    for (size_t i = 0; i < count; i++)
        slot->is_read[i] = slot->is_read[i] && wait_for_request(slot, &slot->source_requests[i]);
    for (size_t i = 0; result == TZ_OK && i < count; i++) {
        if (!slot->is_read[i])
            result = retry_request(run, slot, &slot->source_requests[i]);
    }
    return result;
}
