/* SPDX-License-Identifier: Apache-2.0
 * Reads of a wave that go straight into the lane's slab. They are in no order with its queue: they
 * begin when nothing of it is under way, and nothing is put into it before they have ended. */
#include "read/device_lane.h"
#include "read/tile.h"

uint64_t tz_lane_add_direct(tz_lane *lane, tz_direct_room *room, const tz_direct_file *file,
                            const tz_span *span)
{
    const uint64_t part = lane->cut.layout.direct;
    const uint64_t at = part + tz_direct_add(room, file, span);
    lane->read_count = (size_t)room->reads;
    lane->reads[lane->read_count - 1] = (tz_direct_read){.file = file->handle,
                                                         .offset = room->offset,
                                                         .to = part + room->at,
                                                         .size = room->end - room->offset};
    return at;
}

tz_result tz_direct_begin(tz_device_run *run, tz_lane *lane)
{
    if (lane->read_count == 0 || run->direct_is_off)
        return TZ_OK;
    TZ_TRY(tz_device_begin_reads(lane->slab, lane->reads, lane->read_count, &lane->reading,
                                 run->plan->ctx.err));
    run->use.direct_reads += lane->read_count;
    return TZ_OK;
}

/* ---- what did not come ---- */

/* A read that brought not all that is wanted of it counts as none: done becomes 0. */
static void judge(tz_lane *lane)
{
    for (size_t i = 0; i < lane->fetch_count; i++) {
        const tz_lane_fetch *fetch = &lane->fetches[i];
        if (!fetch->is_direct)
            continue;
        tz_direct_read *read = &lane->reads[fetch->read];
        if (fetch->span.offset + fetch->span.size > read->offset + read->done)
            read->done = 0;
    }
}

static tz_result upload(tz_device_run *run, tz_lane *lane, uint64_t first, uint64_t end)
{
    lane->is_busy = true;
    TZ_TRY(tz_device_upload(lane->queue, lane->slab, first, tz_lane_pinned(lane, first),
                            end - first, run->plan->ctx.err));
    run->use.uploads++;
    run->use.upload_bytes += end - first;
    return TZ_OK;
}

/* Reads lie one behind the other: neighbours go up together. */
static tz_result upload_missing(tz_device_run *run, tz_lane *lane)
{
    for (size_t i = 0, end; i < lane->read_count; i = end) {
        for (end = i + 1; end < lane->read_count && lane->reads[i].done == 0; end++) {
            if (lane->reads[end].done > 0)
                break;
        }
        const tz_direct_read *last = &lane->reads[end - 1];
        if (lane->reads[i].done == 0)
            TZ_TRY(upload(run, lane, lane->reads[i].to, last->to + last->size));
    }
    return TZ_OK;
}

static tz_result fetch_missing(tz_device_run *run, tz_lane *lane)
{
    bool any = false;
    for (size_t i = 0; i < lane->fetch_count; i++) {
        const tz_lane_fetch *fetch = &lane->fetches[i];
        if (!fetch->is_direct || lane->reads[fetch->read].done > 0)
            continue;
        any = true;
        run->use.bounced_bytes += fetch->span.size;
        TZ_TRY(tz_lane_fetch_again(run, lane, fetch));
    }
    if (!any)
        return TZ_OK;
    tz_direct_reason(&run->use, "a file was not read to the end that was asked for");
    return upload_missing(run, lane);
}

/* ---- */

static tz_result end_reads(tz_device_run *run, tz_lane *lane)
{
    tz_error err = {.result = TZ_OK};
    void *reading = lane->reading;
    uint64_t done = 0;
    lane->reading = NULL;
    const tz_result result = tz_device_end_reads(run->dp->device, reading, &err);
    if (result != TZ_OK)
        tz_direct_reason(&run->use, err.message);
    if (result != TZ_OK && result != TZ_ERR_IO) {
        *run->plan->ctx.err = err;
        return result;
    }
    for (size_t i = 0; i < lane->read_count; i++)
        done += lane->reads[i].done;
    run->use.direct_bytes += done;
    run->direct_is_off = done == 0; /* it will not be otherwise with the next */
    return TZ_OK;
}

tz_result tz_direct_end(tz_device_run *run, tz_lane *lane)
{
    if (lane->reading)
        TZ_TRY(end_reads(run, lane));
    judge(lane);
    return fetch_missing(run, lane);
}

/* ---- memory ---- */

/* Memory that is not taken for reads is as good as any: all goes through the host then. */
tz_result tz_direct_alloc(tz_device_run *run, tz_lane *lane)
{
    const tz_device_plan *dp = run->dp;
    tz_error err = {.result = TZ_OK};
    TZ_TRY(tz_device_reuse_shared(dp->device, dp->lane.device, &lane->slab, run->plan->ctx.err));
    if (lane->slab)
        return TZ_OK;
    TZ_TRY(tz_device_alloc(dp->device, dp->lane.device, &lane->slab, run->plan->ctx.err));
    const tz_result result = tz_device_share(lane->slab, &err);
    if (result == TZ_ERR_IO) {
        tz_direct_reason(&run->use, err.message);
        run->direct_is_off = true;
        return TZ_OK;
    }
    if (result != TZ_OK)
        *run->plan->ctx.err = err;
    return result;
}

/* What the cores are to decode after the device could not is in its memory only: the part of the
 * slab that has all such tiles comes down at once. */
tz_result tz_direct_bring_back(tz_device_run *run, tz_lane *lane, uint64_t first, uint64_t end)
{
    tz_error *err = run->plan->ctx.err;
    lane->is_busy = true;
    TZ_TRY(tz_device_download(lane->queue, tz_lane_pinned(lane, first), lane->slab, first,
                              end - first, err));
    run->use.downloads++;
    run->use.download_bytes += end - first;
    TZ_TRY(tz_device_sync(run->dp->device, lane->queue, err));
    lane->is_busy = false;
    run->use.syncs++;
    return TZ_OK;
}
