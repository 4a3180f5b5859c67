/* SPDX-License-Identifier: Apache-2.0
 * The end of a wave: what the device says of its tiles, and pixels for buffers of the host. */
#include <string.h>

#include "base/mem.h"
#include "read/gpu/gpu_slot.h"
#include "read/tile.h"

/* ---- pixels ---- */

static const uint8_t *downloaded(const tz_gpu_slot *slot, uint64_t offset)
{
    const tz_gpu_layout *l = &slot->batch.layout;
    return tz_gpu_slot_pinned(slot, l->mirrored + (offset - l->statuses));
}

/* Rows of samples that lie packed, to where the buffer has them. */
static void copy_staged_rows(const uint8_t *from, const tz_gpu_rect *rect, const tz_buffer *to,
                             uint32_t band, uint32_t count, size_t size, int64_t step)
{
    const tz_conversion as_is = {.from = to->dtype, .to = to->dtype};
    for (uint32_t row = 0; row < rect->rows; row++, from += count * size) {
        uint8_t *dst = tz_buffer_at(to, band, rect->row + row, rect->column);
        if (step == (int64_t)size)
            tz_row_copy(dst, from, count * size, false);
        else
            tz_row_convert(&as_is, from, (ptrdiff_t)size, dst, (ptrdiff_t)step, count, NULL, 0);
    }
}

static void copy_staged_pixels(const tz_gpu_rect *rect, const uint8_t *from)
{
    const tz_planned_request *request = rect->request;
    const tz_buffer *to = &request->into;
    const size_t size = tz_dtype_size(to->dtype);
    const uint32_t bands = tz_gpu_rect_bands(rect);
    const uint32_t samples = tz_gpu_rect_samples(rect);
    if (rect->how->is_interleaved && !rect->how->copies_rows) {
        copy_staged_rows(from, rect, to, 0, samples * bands, size, (int64_t)size);
        return;
    }
    for (uint32_t i = 0; i < bands; i++, from += (size_t)rect->rows * samples * size)
        copy_staged_rows(from, rect, to, tz_gpu_rect_band(rect, i), samples, size,
                         rect->how->copies_rows ? (int64_t)size : to->column_stride);
}

static void copy_staged_mask(const tz_gpu_rect *rect, const uint8_t *from)
{
    const tz_buffer *to = &rect->request->mask;
    const uint32_t bands = tz_gpu_rect_bands(rect);
    for (uint32_t i = 0; i < bands; i++, from += (size_t)rect->rows * rect->columns)
        copy_staged_rows(from, rect, to, tz_gpu_rect_band(rect, i), rect->columns, 1,
                         to->column_stride);
}

static void copy_staged_tile(const tz_plan *plan, const tz_gpu_slot *slot,
                             const tz_gpu_tile_read *tile_read)
{
    const tz_tile_read *planned = &plan->wave.tile_reads[tile_read->tile_read];
    uint64_t at = tile_read->staged;
    tz_gpu_rect rect;
    for (uint32_t i = 0; i < planned->count; i++) {
        if (!tz_gpu_rect_make(plan, planned, i, &rect))
            continue;
        if (!rect.request->to_mask && rect.request->into.data)
            copy_staged_pixels(&rect, downloaded(slot, at));
        at += tz_gpu_rect_staged_pixels(&rect);
        if (rect.request->mask.data)
            copy_staged_mask(&rect, downloaded(slot, at));
        at += tz_gpu_rect_staged_mask(&rect);
    }
}

/* ---- tiles that the device could not decode ---- */

static uint32_t decode_status(const tz_gpu_slot *slot, const tz_gpu_tile_read *tile_read)
{
    uint32_t status = 0;
    if (tile_read->status != TZ_GPU_NO_STATUS)
        memcpy(&status,
               downloaded(slot, slot->batch.layout.statuses + tile_read->status * sizeof status),
               sizeof status);
    return status;
}

static tz_result fail_strict_decode(const tz_gpu_run *run, const tz_tile_read *tile_read,
                                    uint32_t status, tz_error *err)
{
    const tz_planned_request *request = tz_tile_read_request(&run->plan->wave, tile_read, 0);
    const tz_wanted_tile *wanted = tz_tile_read_wanted(&run->plan->wave, tile_read, 0);
    tz_context ctx = tz_file_context(request->file, err);
    ctx.ifd = request->layer.shape.ifd;
    return tz_fail(
        &ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE,
        tz_at_tile(request->level, wanted->tile, wanted->span.offset),
        "the device could not decode the tile (status %u), and the CPU may not (strict_device)",
        (unsigned)status);
}

/* The cores say what is wrong with it, and have its pixels where there are any. */
static tz_result redo_tile_read(tz_gpu_run *run, const tz_gpu_slot *slot, tz_worker *w,
                                tz_gpu_tile_read *tile_read, tz_error *err)
{
    const tz_tile_read *planned = &run->plan->wave.tile_reads[tile_read->tile_read];
    uint8_t *bytes = tz_gpu_slot_pinned(slot, tile_read->bytes);
    if (run->plan->options.strict_device) {
        TZ_TRY(tz_tile_decode(run->plan, w, planned, bytes, w->output, err));
        return fail_strict_decode(run, planned, decode_status(slot, tile_read), err);
    }
    if (tile_read->on_host)
        return tz_tile_store(run->plan, w, planned, bytes, err);
    tile_read->state = TZ_GPU_TILE_REDO;
    return TZ_OK;
}

typedef struct finish_job {
    tz_gpu_run *run;
    tz_gpu_slot *slot;
} finish_job;

static tz_result finish_tile_read(tz_gpu_run *run, tz_gpu_slot *slot, tz_worker *w,
                                  tz_gpu_tile_read *tile_read, tz_error *err)
{
    if (tile_read->state == TZ_GPU_TILE_DONE)
        return TZ_OK;
    if (decode_status(slot, tile_read) == 0) {
        copy_staged_tile(run->plan, slot, tile_read);
        return TZ_OK;
    }
    atomic_fetch_add_explicit(&run->redone, 1, memory_order_relaxed);
    const tz_result result = redo_tile_read(run, slot, w, tile_read, err);
    if (result == TZ_OK)
        return TZ_OK;
    TZ_TRY(tz_gpu_record_failure(run, w, tile_read, result, err));
    if (tile_read->state == TZ_GPU_TILE_MISSING)
        tile_read->state = TZ_GPU_TILE_REDO; /* its pixels are placed in the next round */
    return TZ_OK;
}

/* By read, as tiles that the cores decode may share bytes; and units without any, which have pixels
 * of the host only where others have them on the device. */
static tz_result finish_fetch(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    const finish_job *job = user;
    tz_gpu_slot *slot = job->slot;
    size_t first = slot->first_empty;
    size_t count = slot->tile_read_count - slot->first_empty;
    if (index < slot->fetch_count) {
        first = slot->fetches[index].first;
        count = slot->fetches[index].span.count;
    }
    for (size_t i = first; i < first + count; i++)
        TZ_TRY(finish_tile_read(job->run, slot, &job->run->workers.list[worker],
                                &slot->tile_reads[i], err));
    return TZ_OK;
}

static bool are_all_decoded(const tz_gpu_slot *slot)
{
    for (size_t i = 0; i < slot->tile_read_count; i++) {
        if (slot->tile_reads[i].state != TZ_GPU_TILE_DONE &&
            decode_status(slot, &slot->tile_reads[i]) != 0)
            return false;
    }
    return true;
}

/* Brings down the bytes of tiles that the device could not decode and that went straight to it. */
static tz_result download_failed_bytes(tz_gpu_run *run, tz_gpu_slot *slot)
{
    const tz_wave *wave = &run->plan->wave;
    uint64_t first = UINT64_MAX;
    uint64_t end = 0;
    for (size_t i = 0; i < slot->tile_read_count; i++) {
        const tz_gpu_tile_read *tile_read = &slot->tile_reads[i];
        if (!tile_read->is_direct || tile_read->state == TZ_GPU_TILE_DONE ||
            decode_status(slot, tile_read) == 0)
            continue;
        const uint64_t after = tile_read->bytes + wave->ranges[tile_read->range].size;
        first = tile_read->bytes < first ? tile_read->bytes : first;
        end = after > end ? after : end;
    }
    return end > 0 ? tz_direct_download(run, slot, first, end) : TZ_OK;
}

/* Lists the units that the CPU has to decode for device memory. Their bytes are in pinned memory,
 * where the next layout begins: they move to its end, all at once and as they lie. */
static void list_redo(const tz_gpu_run *run, tz_gpu_slot *slot)
{
    const tz_wave *wave = &run->plan->wave;
    uint64_t first = UINT64_MAX;
    uint64_t end = 0;
    for (size_t i = 0; i < slot->tile_read_count; i++) {
        const tz_gpu_tile_read *tile_read = &slot->tile_reads[i];
        const tz_indexed_range *range = &wave->ranges[tile_read->range];
        if (tile_read->state != TZ_GPU_TILE_REDO)
            continue;
        slot->redo_offsets[slot->redo_count] = tile_read->bytes;
        slot->redo[slot->redo_count++] = (tz_span){range->offset, range->size, tile_read->range, 1};
        first = tile_read->bytes < first ? tile_read->bytes : first;
        end = tz_max(end, tile_read->bytes + range->size);
    }
    if (slot->redo_count == 0)
        return;
    const uint64_t shift = run->gpu->slot_size.pinned - TZ_CODEC_SLACK - end;
    memmove(tz_gpu_slot_pinned(slot, first + shift), tz_gpu_slot_pinned(slot, first), end - first);
    slot->redo_first = first + shift;
    for (size_t i = 0; i < slot->redo_count; i++)
        slot->redo_offsets[i] += shift;
}

static void count_decoded(tz_gpu_run *run, const tz_gpu_slot *slot)
{
    for (size_t i = 0; i < slot->tile_read_count; i++) {
        const tz_gpu_tile_read *tile_read = &slot->tile_reads[i];
        const bool is_picture =
            tile_read->route == TZ_ROUTE_CODESTREAMS && tile_read->state == TZ_GPU_TILE_ROWS;
        if (is_picture ||
            (tile_read->status != TZ_GPU_NO_STATUS && decode_status(slot, tile_read) == 0))
            run->use.tiles++;
    }
}

tz_result tz_gpu_batch_finish(tz_gpu_run *run, tz_gpu_slot *slot)
{
    finish_job job = {run, slot};
    slot->redo_count = 0;
    if (!slot->is_busy)
        return TZ_OK;
    TZ_TRY(tz_device_sync(run->gpu->device, slot->queue, run->plan->ctx.err));
    slot->is_busy = false;
    run->use.syncs++;
    count_decoded(run, slot);
    if (slot->batch.need.staged == 0 && are_all_decoded(slot))
        return TZ_OK;
    TZ_TRY(download_failed_bytes(run, slot));
    TZ_TRY(tz_gpu_run_parallel(run, slot->fetch_count + 1, finish_fetch, &job));
    list_redo(run, slot);
    return TZ_OK;
}
