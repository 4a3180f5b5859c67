/* SPDX-License-Identifier: Apache-2.0
 * The bytes of a batch, by one of two routes:
 *
 *   host    one request for each source, all submitted before the first is waited for, to pinned
 *           memory, from which the batch is uploaded
 *   direct  the device reads files itself, straight into the slab; small reads, files in the page
 *           cache and files that are not local go through the host
 *
 * A read that fails is repeated: a request of several fetches fetch by fetch, a fetch tile by tile,
 * a direct read through the host. So only those tiles fail that must.
 *
 * The decision that is not obvious: direct reads are in no order with the slot's queue. They begin
 * when nothing of it is in flight, and nothing is queued before they have ended. */
#include <stdlib.h>

#include "base/mem.h"
#include "device/device.h"
#include "device/device_text.h"
#include "io/source.h"
#include "read/gpu/gpu_batch.h"

/* Smaller direct reads do not pay: they bring more of their pages than of themselves, and all of
 * them together are one upload. With this minimum, less than twice the wanted bytes are read. */
#define MIN_DIRECT_BYTES ((uint64_t)TZ_DIRECT_PAGE)
/* Direct reads that share pages grow together to this size. */
#define MAX_DIRECT_BYTES ((uint64_t)1 << 20)

/* ---- fetches by the host ---- */

/* By source, then by offset; fetches that the device reads itself stand last. */
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

/* Reads a fetch through pinned memory, after it failed; then each of its tiles on its own, if they
 * may fail. */
static tz_result retry_fetch(tz_gpu_run *run, tz_gpu_slot *slot, const tz_gpu_fetch *fetch)
{
    const tz_wave *wave = &run->plan->wave;
    tz_gpu_tile_read *tile_reads = &slot->tile_reads[fetch->first];
    tz_error err = {.result = TZ_OK};
    tz_result result = tz_tile_read_from_file(wave, tz_gpu_planned_tile_read(run->plan, tile_reads),
                                              fetch->span.offset, fetch->span.size,
                                              tz_gpu_slot_pinned(slot, fetch->at), &err);
    if (result != TZ_OK && wave->salvage) {
        result = TZ_OK;
        for (size_t i = 0; result == TZ_OK && i < fetch->span.count; i++) {
            const tz_indexed_range *range = &wave->ranges[fetch->span.first + i];
            result = tz_tile_read_from_file(
                wave, tz_gpu_planned_tile_read(run->plan, &tile_reads[i]), range->offset,
                range->size, tz_gpu_slot_pinned(slot, tile_reads[i].bytes), &err);
            if (result != TZ_OK)
                result =
                    tz_gpu_record_failure(run, &run->workers.list[0], &tile_reads[i], result, &err);
        }
    }
    if (result != TZ_OK && run->plan->ctx.err)
        *run->plan->ctx.err = err;
    return result;
}

/* Fetches are sorted, and those of a source are one request. A request that fails says nothing
 * about its ranges: each is read again. */
tz_result tz_gpu_fetch_all(tz_gpu_run *run, tz_gpu_slot *slot)
{
    size_t count = 0;
    for (size_t i = 1; i < slot->fetch_count; i++) { /* nearly always they are sorted */
        if (is_before(&slot->fetches[i], &slot->fetches[i - 1])) {
            qsort(slot->fetches, slot->fetch_count, sizeof *slot->fetches, compare_fetches);
            break;
        }
    }
    for (size_t i = 0; i < slot->fetch_count && !slot->fetches[i].is_direct; i++) {
        const tz_gpu_fetch *fetch = &slot->fetches[i];
        slot->ranges[i] = (tz_range){fetch->span.offset, (size_t)fetch->span.size,
                                     tz_gpu_slot_pinned(slot, fetch->at)};
        if (i == 0 || fetch->source != slot->fetches[i - 1].source)
            slot->source_requests[count++] = (tz_request){&slot->ranges[i], 0, NULL};
        slot->source_requests[count - 1].count++;
    }
    for (size_t i = 0; i < count; i++) {
        tz_request *request = &slot->source_requests[i];
        tz_source *source = slot->fetches[request->ranges - slot->ranges].source;
        slot->is_read[i] = tz_source_check_ranges(source, request, NULL) == TZ_OK &&
                           source->submit(source, request, NULL) == TZ_OK;
    }
    for (size_t i = 0; i < count; i++) {
        tz_request *request = &slot->source_requests[i];
        tz_source *source = slot->fetches[request->ranges - slot->ranges].source;
        slot->is_read[i] = slot->is_read[i] && source->wait(source, request, NULL) == TZ_OK;
    }
    for (size_t i = 0; i < count; i++) {
        const tz_request *request = &slot->source_requests[i];
        const tz_gpu_fetch *fetches = &slot->fetches[request->ranges - slot->ranges];
        for (size_t k = 0; !slot->is_read[i] && k < request->count; k++)
            TZ_TRY(retry_fetch(run, slot, &fetches[k]));
    }
    return TZ_OK;
}

/* ---- direct reads: memory ---- */

/* Bytes of the last read that the file has. */
static uint64_t direct_read_bytes(const tz_direct_space *space)
{
    return tz_min(space->end, space->file->source->size) - space->offset;
}

/* A span starts a read of its own, in whole pages, unless its first page is the last read's. Spans
 * of a layer come in the order of the file, so only the last read is looked at. */
uint64_t tz_direct_space_add(tz_direct_space *space, const tz_direct_file *file,
                             const tz_span *span)
{
    const uint64_t offset = span->offset / TZ_DIRECT_PAGE * TZ_DIRECT_PAGE;
    const uint64_t end =
        tz_add_capped(tz_add_capped(span->offset, span->size), TZ_DIRECT_PAGE - 1) /
        TZ_DIRECT_PAGE * TZ_DIRECT_PAGE;
    const bool shares_pages = space->reads > 0 && space->file == file && offset >= space->offset &&
                              offset < space->end &&
                              (end <= space->end || end - space->offset <= MAX_DIRECT_BYTES);
    if (shares_pages) {
        space->read_bytes -= direct_read_bytes(space);
        space->end = tz_max(space->end, end);
    } else {
        space->file = file;
        space->offset = offset;
        space->end = end;
        space->at = space->bytes;
        space->reads++;
    }
    space->read_bytes += direct_read_bytes(space);
    space->bytes = tz_add_capped(space->at, space->end - space->offset);
    return space->at + (span->offset - space->offset);
}

/* Memory that cannot be registered for direct reads still serves: all goes through the host then.
 */
tz_result tz_direct_alloc(tz_gpu_run *run, tz_gpu_slot *slot)
{
    const tz_gpu_plan *gpu = run->gpu;
    tz_error err = {.result = TZ_OK};
    TZ_TRY(tz_device_reuse_shared(gpu->device, gpu->slot_size.device, &slot->slab,
                                  run->plan->ctx.err));
    if (slot->slab)
        return TZ_OK;
    TZ_TRY(tz_device_memory_alloc(&slot->slab, gpu->device, gpu->slot_size.device,
                                  run->plan->ctx.err));
    const tz_result result = tz_device_share(slot->slab, &err);
    if (result == TZ_ERR_IO) {
        tz_note_reason(run->use.direct_reason, err.message);
        run->direct_is_off = true;
        return TZ_OK;
    }
    if (result != TZ_OK)
        *run->plan->ctx.err = err;
    return result;
}

/* ---- direct reads: files ---- */

const tz_direct_file *tz_direct_file_of(const tz_plan *plan, const tz_span *fetch,
                                        tz_tile_route route)
{
    const tz_gpu_plan *gpu = plan->gpu;
    const tz_gpu_request *how =
        tz_gpu_request_of(plan, tz_fetch_tile_read(&plan->wave, fetch, 0), 0);
    const bool is_direct =
        !tz_route_stays_on_host(route) && how->file > 0 && fetch->size >= MIN_DIRECT_BYTES;
    return is_direct ? &gpu->files[how->file - 1] : NULL;
}

/* True if a sample of the request's tiles is in the page cache. */
static bool is_request_cached(const tz_planned_request *request)
{
    enum { SAMPLES = 8 };
    const tz_level *level = &request->layer.shape;
    const uint64_t across = request->tile_x1 - request->tile_x0;
    const uint64_t count = across * (request->tile_y1 - request->tile_y0);
    const uint64_t plane = request->planes ? request->planes[0] : 0;
    const uint64_t step = count > SAMPLES ? (count - 1) / (SAMPLES - 1) : 1;
    bool any = false;
    for (uint64_t i = 0; i < SAMPLES && i * step < count; i++) {
        const uint64_t row = request->tile_y0 + i * step / across;
        const uint64_t column = request->tile_x0 + i * step % across;
        const uint64_t tile = (plane * level->tiles_down + row) * level->tiles_across + column;
        tz_tile_span span;
        if (tz_layer_spans(request->file, tz_level_index(request->level), &request->layer, tile, 1,
                           &span, NULL) != TZ_OK)
            return false; /* the read will say why */
        if (span.size > 0 &&
            !tz_source_is_cached(tz_planned_request_source(request), span.offset, span.size))
            return false;
        any = any || span.size > 0;
    }
    return any;
}

/* Opens the request's file for the device, unless that was tried before; its number is 0 if the
 * host has to read it. */
static tz_result open_request_file(tz_plan *plan, const tz_planned_request *request,
                                   uint32_t *number)
{
    tz_gpu_plan *gpu = plan->gpu;
    tz_source *source = tz_planned_request_source(request);
    uint32_t i = gpu->file_count; /* the same source was added last, mostly */
    while (i > 0 && gpu->files[i - 1].source != source)
        i--;
    if (i == 0) {
        tz_error err = {.result = TZ_OK};
        void *handle = NULL;
        if (gpu->file_count == gpu->file_capacity) {
            const uint32_t capacity = gpu->file_capacity ? gpu->file_capacity * 2 : 4;
            tz_direct_file *files = tz_realloc_array(gpu->files, capacity, sizeof *files);
            if (!files)
                return tz_fail_nomem(&plan->ctx, capacity * sizeof *files);
            gpu->files = files;
            gpu->file_capacity = capacity;
        }
        if (is_request_cached(request)) {
            tz_note_reason(plan->report.device.direct_reason,
                           "the file is in the page cache: the host's reads are faster");
        } else {
            const tz_result result =
                tz_device_open_file(gpu->device, tz_source_descriptor(source), &handle, &err);
            if (result == TZ_ERR_NOMEM)
                return tz_propagate_error(&plan->ctx, &err);
            if (result != TZ_OK)
                tz_note_reason(plan->report.device.direct_reason, err.message);
        }
        gpu->has_files = gpu->has_files || handle;
        gpu->files[gpu->file_count++] = (tz_direct_file){source, handle};
        i = gpu->file_count;
    }
    *number = gpu->files[i - 1].handle ? i : 0;
    return TZ_OK;
}

/* True if the device needs stored bytes of the request's tiles. */
static bool wants_bytes(const tz_plan *plan, size_t i)
{
    return plan->requests[i].tile_read_count > 0 &&
           !tz_route_stays_on_host(plan->gpu->requests[i].route);
}

/* The device opens a file by its descriptor; sources that are not local have none. */
static bool is_local(const tz_plan *plan, size_t i)
{
    return tz_source_descriptor(tz_planned_request_source(&plan->requests[i])) >= 0;
}

/* The driver is asked only if there is something to read: it may have to load a library. */
tz_result tz_direct_open(tz_plan *plan)
{
    tz_gpu_plan *gpu = plan->gpu;
    tz_device_use *use = &plan->report.device;
    char name[32];
    char reason[sizeof use->direct_reason];
    bool any = false;
    for (size_t i = 0; !any && i < plan->request_count; i++)
        any = wants_bytes(plan, i) && is_local(plan, i);
    if (!any) {
        tz_note_reason(use->direct_reason, "no tile for the device is in a local file");
        return TZ_OK;
    }
    if (!tz_device_find_files(gpu->device, name, sizeof name, reason, sizeof reason)) {
        tz_note_reason(use->direct_reason, reason);
        return TZ_OK;
    }
    for (size_t i = 0; i < plan->request_count; i++) {
        if (!wants_bytes(plan, i))
            continue;
        if (is_local(plan, i))
            TZ_TRY(open_request_file(plan, &plan->requests[i], &gpu->requests[i].file));
        else
            tz_note_reason(use->direct_reason, "not all files are local");
    }
    return TZ_OK;
}

/* Handles that are NULL were never open. */
void tz_direct_close(tz_gpu_plan *gpu)
{
    for (uint32_t i = 0; i < gpu->file_count; i++)
        tz_device_close_file(gpu->device, gpu->files[i].handle);
    tz_free(gpu->files);
}

/* ---- direct reads: running ---- */

tz_result tz_direct_begin(tz_gpu_run *run, tz_gpu_slot *slot)
{
    if (slot->read_count == 0 || run->direct_is_off)
        return TZ_OK;
    TZ_TRY(tz_device_begin_reads(slot->slab, slot->reads, slot->read_count, &slot->reading,
                                 run->plan->ctx.err));
    run->use.direct_reads += slot->read_count;
    return TZ_OK;
}

/* A read that did not bring all the bytes that are wanted of it counts as failed: its done becomes
 * 0, its fetches go through the host, and the pages that they lie in are uploaded. Reads lie one
 * after the other in the slab, so neighbours that failed are one upload. */
tz_result tz_direct_end(tz_gpu_run *run, tz_gpu_slot *slot)
{
    tz_direct_read *reads = slot->reads;
    bool any_failed = false;
    if (slot->reading) {
        tz_error err = {.result = TZ_OK};
        void *reading = slot->reading;
        uint64_t done = 0;
        slot->reading = NULL;
        const tz_result result = tz_device_end_reads(run->gpu->device, reading, &err);
        if (result != TZ_OK)
            tz_note_reason(run->use.direct_reason, err.message);
        if (result != TZ_OK && result != TZ_ERR_IO) { /* else some reads failed, not the device */
            *run->plan->ctx.err = err;
            return result;
        }
        for (size_t i = 0; i < slot->read_count; i++)
            done += reads[i].done;
        run->use.direct_bytes += done;
        run->direct_is_off = done == 0; /* nor will the next reads bring anything */
    }
    for (size_t i = 0; i < slot->fetch_count; i++) {
        const tz_gpu_fetch *fetch = &slot->fetches[i];
        tz_direct_read *read = fetch->is_direct ? &reads[fetch->read] : NULL;
        if (read && fetch->span.offset + fetch->span.size > read->offset + read->done)
            read->done = 0;
    }
    for (size_t i = 0; i < slot->fetch_count; i++) {
        const tz_gpu_fetch *fetch = &slot->fetches[i];
        if (!fetch->is_direct || reads[fetch->read].done > 0)
            continue;
        any_failed = true;
        run->use.bounced_bytes += fetch->span.size;
        TZ_TRY(retry_fetch(run, slot, fetch));
    }
    if (!any_failed)
        return TZ_OK;
    tz_note_reason(run->use.direct_reason, "a file was not read to the end that was asked for");
    for (size_t i = 0, end; i < slot->read_count; i = end) {
        for (end = i + 1; end < slot->read_count && reads[i].done == 0; end++) {
            if (reads[end].done > 0)
                break;
        }
        if (reads[i].done > 0)
            continue;
        const uint64_t first = reads[i].to;
        const uint64_t size = reads[end - 1].to + reads[end - 1].size - first;
        slot->is_busy = true;
        TZ_TRY(tz_device_upload(slot->queue, slot->slab, first, tz_gpu_slot_pinned(slot, first),
                                size, run->plan->ctx.err));
        run->use.uploads++;
        run->use.upload_bytes += size;
    }
    return TZ_OK;
}
