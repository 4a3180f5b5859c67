/* SPDX-License-Identifier: Apache-2.0
 * Reads of a wave that go straight into the lane's slab. They are in no order with its queue: they
 * begin when nothing of it is under way, and nothing is put into it before they have ended. */
#include "read/gpu/gpu_slot.h"
#include "read/tile.h"

uint64_t tz_gpu_slot_add_direct(tz_gpu_slot *slot, tz_direct_space *space,
                                const tz_direct_file *file, const tz_span *span)
{
    const uint64_t base = slot->batch.layout.direct;
    const uint64_t at = base + tz_direct_space_add(space, file, span);
    slot->read_count = (size_t)space->reads;
    slot->reads[slot->read_count - 1] = (tz_direct_read){.file = file->handle,
                                                         .offset = space->offset,
                                                         .to = base + space->at,
                                                         .size = space->end - space->offset};
    return at;
}

tz_result tz_direct_begin(tz_gpu_run *run, tz_gpu_slot *slot)
{
    if (slot->read_count == 0 || run->direct_is_off)
        return TZ_OK;
    TZ_TRY(tz_device_begin_reads(slot->slab, slot->reads, slot->read_count, &slot->reading,
                                 run->plan->ctx.err));
    run->use.direct_reads += slot->read_count;
    return TZ_OK;
}

/* ---- what did not come ---- */

/* A read that brought not all that is wanted of it counts as none: done becomes 0. */
static void discard_incomplete(tz_gpu_slot *slot)
{
    for (size_t i = 0; i < slot->fetch_count; i++) {
        const tz_gpu_fetch *fetch = &slot->fetches[i];
        if (!fetch->is_direct)
            continue;
        tz_direct_read *read = &slot->reads[fetch->read];
        if (fetch->span.offset + fetch->span.size > read->offset + read->done)
            read->done = 0;
    }
}

static tz_result upload_range(tz_gpu_run *run, tz_gpu_slot *slot, uint64_t first, uint64_t end)
{
    slot->is_busy = true;
    TZ_TRY(tz_device_upload(slot->queue, slot->slab, first, tz_gpu_slot_pinned(slot, first),
                            end - first, run->plan->ctx.err));
    run->use.uploads++;
    run->use.upload_bytes += end - first;
    return TZ_OK;
}

/* Reads lie one behind the other: neighbours go up together. */
static tz_result upload_missing(tz_gpu_run *run, tz_gpu_slot *slot)
{
    for (size_t i = 0, end; i < slot->read_count; i = end) {
        for (end = i + 1; end < slot->read_count && slot->reads[i].done == 0; end++) {
            if (slot->reads[end].done > 0)
                break;
        }
        const tz_direct_read *last = &slot->reads[end - 1];
        if (slot->reads[i].done == 0)
            TZ_TRY(upload_range(run, slot, slot->reads[i].to, last->to + last->size));
    }
    return TZ_OK;
}

static tz_result fetch_missing(tz_gpu_run *run, tz_gpu_slot *slot)
{
    bool any = false;
    for (size_t i = 0; i < slot->fetch_count; i++) {
        const tz_gpu_fetch *fetch = &slot->fetches[i];
        if (!fetch->is_direct || slot->reads[fetch->read].done > 0)
            continue;
        any = true;
        run->use.bounced_bytes += fetch->span.size;
        TZ_TRY(tz_gpu_fetch_retry(run, slot, fetch));
    }
    if (!any)
        return TZ_OK;
    tz_direct_note_reason(&run->use, "a file was not read to the end that was asked for");
    return upload_missing(run, slot);
}

/* ---- */

static tz_result wait_for_reads(tz_gpu_run *run, tz_gpu_slot *slot)
{
    tz_error err = {.result = TZ_OK};
    void *reading = slot->reading;
    uint64_t done = 0;
    slot->reading = NULL;
    const tz_result result = tz_device_end_reads(run->gpu->device, reading, &err);
    if (result != TZ_OK)
        tz_direct_note_reason(&run->use, err.message);
    if (result != TZ_OK && result != TZ_ERR_IO) {
        *run->plan->ctx.err = err;
        return result;
    }
    for (size_t i = 0; i < slot->read_count; i++)
        done += slot->reads[i].done;
    run->use.direct_bytes += done;
    run->direct_is_off = done == 0; /* it will not be otherwise with the next */
    return TZ_OK;
}

tz_result tz_direct_end(tz_gpu_run *run, tz_gpu_slot *slot)
{
    if (slot->reading)
        TZ_TRY(wait_for_reads(run, slot));
    discard_incomplete(slot);
    return fetch_missing(run, slot);
}

/* ---- memory ---- */

/* Memory that is not taken for reads is as good as any: all goes through the host then. */
tz_result tz_direct_alloc(tz_gpu_run *run, tz_gpu_slot *slot)
{
    const tz_gpu_plan *gpu = run->gpu;
    tz_error err = {.result = TZ_OK};
    TZ_TRY(tz_device_reuse_shared(gpu->device, gpu->slot_size.device, &slot->slab,
                                  run->plan->ctx.err));
    if (slot->slab)
        return TZ_OK;
    TZ_TRY(tz_device_alloc(gpu->device, gpu->slot_size.device, &slot->slab, run->plan->ctx.err));
    const tz_result result = tz_device_share(slot->slab, &err);
    if (result == TZ_ERR_IO) {
        tz_direct_note_reason(&run->use, err.message);
        run->direct_is_off = true;
        return TZ_OK;
    }
    if (result != TZ_OK)
        *run->plan->ctx.err = err;
    return result;
}

/* What the cores are to decode after the device could not is in its memory only: the part of the
 * slab that has all such tiles comes down at once. */
tz_result tz_direct_download(tz_gpu_run *run, tz_gpu_slot *slot, uint64_t first, uint64_t end)
{
    tz_error *err = run->plan->ctx.err;
    slot->is_busy = true;
    TZ_TRY(tz_device_download(slot->queue, tz_gpu_slot_pinned(slot, first), slot->slab, first,
                              end - first, err));
    run->use.downloads++;
    run->use.download_bytes += end - first;
    TZ_TRY(tz_device_sync(run->gpu->device, slot->queue, err));
    slot->is_busy = false;
    run->use.syncs++;
    return TZ_OK;
}
