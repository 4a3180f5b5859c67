/* SPDX-License-Identifier: Apache-2.0
 * Runs a plan on a GPU. The batches of a wave go to slots in turn, so that the bytes of one are
 * read and uploaded while the device works on the one before:
 *
 *   begin A, begin B, finish A, begin A, finish B, ...
 *
 *   begin   reads the batch's bytes, gives codestreams to libraries, lets the CPU decode its share,
 *           and queues upload, kernels and download; waits for nothing but the files
 *   finish  waits for the queue, copies downloaded pixels to buffers in host memory, and lists the
 *           tiles that the device could not decode; the CPU decodes these, and the device stores
 *           them in a further batch of the same slot
 *
 * At the end, pixels of buffers in device memory that no tile fills are filled.
 *
 * The decision that is not obvious: a device that turns out to be full or lost is not an error. The
 * plan is halved and tried again; after that the CPU runs the whole plan from its beginning, and
 * nothing that the device did counts. */
#include <string.h>

#include "base/mem.h"
#include "read/gpu/gpu_batch.h"

/* ---- tiles that the CPU decodes ---- */

/* In device memory, the tile's constant pixels are stored with the batch; in host memory, here. */
tz_result tz_gpu_record_failure(tz_gpu_run *run, tz_worker *worker, tz_gpu_tile_read *tile_read,
                                tz_result result, const tz_error *err)
{
    const tz_tile_read *planned = tz_gpu_planned_tile_read(run->plan, tile_read);
    TZ_TRY(tz_tile_read_record_failure(run->plan, &run->lock, planned, result, err));
    tile_read->failed = true;
    tile_read->state = tile_read->on_host ? TZ_GPU_TILE_DONE : TZ_GPU_TILE_MISSING;
    if (tile_read->on_host)
        tz_tile_store_failed(run->plan, worker, planned);
    return TZ_OK;
}

/* A job of all workers on one slot. */
typedef struct slot_job {
    tz_gpu_run *run;
    tz_gpu_slot *slot;
} slot_job;

static tz_result run_parallel(tz_gpu_run *run, tz_gpu_slot *slot, uint64_t count, tz_pool_job job)
{
    slot_job user = {run, slot};
    return tz_pool_run_shared(run->workers.count, count, job, &user, NULL, &run->plan->ctx);
}

/* Fails a tile that the CPU may not decode, because of strict_device. If the CPU cannot decode it
 * either, the tile is at fault and not the device: the error is the codec's. */
static tz_result fail_strict_tile(const tz_gpu_run *run, const tz_gpu_slot *slot, tz_worker *worker,
                                  const tz_gpu_tile_read *tile_read, uint32_t status, tz_error *err)
{
    static const char *const reasons[] = {
        [TZ_GPU_FALLBACK_LOSSY] = "the tile is lossy, and the device decodes it with "
                                  "allow_vendor_codecs and allow_inexact only",
        [TZ_GPU_FALLBACK_STREAM] = "a library would decode the tile's codestream differently",
        [TZ_GPU_FALLBACK_FAILED] =
            "the device could not decode the tile, and the CPU may not (strict_device)"};
    const tz_plan *plan = run->plan;
    const tz_tile_read *planned = tz_gpu_planned_tile_read(plan, tile_read);
    const tz_planned_request *request = tz_tile_read_request(&plan->wave, planned, 0);
    const tz_wanted_tile *wanted = tz_tile_read_wanted(&plan->wave, planned, 0);
    const tz_location location = tz_at_tile(tz_level_index(request->level), request->layer.is_mask,
                                            wanted->tile, wanted->span.offset);
    tz_context ctx = tz_file_context(request->file, err);
    ctx.ifd = request->layer.shape.ifd;
    TZ_TRY(tz_tile_decode(plan, worker, planned, tz_gpu_slot_pinned(slot, tile_read->bytes),
                          worker->output, err));
    if (tile_read->fallback == TZ_GPU_FALLBACK_NONE)
        return tz_fail(&ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, location,
                       "the device could not decode the tile (status %u), and the CPU may not "
                       "(strict_device)",
                       (unsigned)status);
    const bool is_device = tile_read->fallback == TZ_GPU_FALLBACK_FAILED;
    return tz_fail(&ctx, is_device ? TZ_ERR_DEVICE : TZ_ERR_UNSUPPORTED,
                   is_device ? TZ_CAUSE_DEVICE : TZ_CAUSE_UNSUPPORTED, location, "%s",
                   reasons[tile_read->fallback]);
}

/* Rows are decoded for the device if it stores the pixels; else all is done here. */
static tz_result decode_on_cpu(tz_gpu_run *run, const tz_gpu_slot *slot, tz_worker *worker,
                               tz_gpu_tile_read *tile_read, tz_error *err)
{
    const tz_plan *plan = run->plan;
    const tz_tile_read *planned = tz_gpu_planned_tile_read(plan, tile_read);
    uint8_t *bytes = tz_gpu_slot_pinned(slot, tile_read->bytes);
    if (tile_read->route == TZ_ROUTE_RAW)
        return tz_tile_check_raw(plan, worker, planned, err);
    if (tile_read->fallback != TZ_GPU_FALLBACK_NONE && plan->options.strict_device)
        return fail_strict_tile(run, slot, worker, tile_read, 0, err);
    if (!tile_read->on_host)
        return tz_tile_decode(plan, worker, planned, bytes,
                              tz_gpu_slot_pinned(slot, tile_read->rows), err);
    TZ_TRY(tz_tile_store(plan, worker, planned, bytes, err));
    tile_read->state = TZ_GPU_TILE_DONE;
    return TZ_OK;
}

static bool is_for_cpu(const tz_gpu_tile_read *tile_read)
{
    return tile_read->route == TZ_ROUTE_RAW || tile_read->route == TZ_ROUTE_CPU;
}

/* One worker does all tiles of a fetch: they may share bytes. */
static tz_result run_cpu_fetch(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    const slot_job *job = user;
    const tz_gpu_fetch *fetch = &job->slot->fetches[index];
    tz_worker *w = &job->run->workers.list[worker];
    for (size_t i = 0; i < fetch->span.count; i++) {
        tz_gpu_tile_read *tile_read = &job->slot->tile_reads[fetch->first + i];
        if (tile_read->state != TZ_GPU_TILE_ROWS || !is_for_cpu(tile_read))
            continue;
        const tz_result result = decode_on_cpu(job->run, job->slot, w, tile_read, err);
        if (result != TZ_OK)
            TZ_TRY(tz_gpu_record_failure(job->run, w, tile_read, result, err));
    }
    return TZ_OK;
}

static tz_result check_empty_tile(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    const slot_job *job = user;
    const tz_plan *plan = job->run->plan;
    tz_worker *w = &job->run->workers.list[worker];
    tz_gpu_tile_read *tile_read = &job->slot->tile_reads[job->slot->first_empty + index];
    const tz_tile_read *planned = tz_gpu_planned_tile_read(plan, tile_read);
    const tz_result result = tile_read->on_host ? tz_tile_store_empty(plan, w, planned, err)
                                                : tz_tile_check_empty(plan, planned, err);
    if (result != TZ_OK)
        return tz_gpu_record_failure(job->run, w, tile_read, result, err);
    tile_read->state = tile_read->on_host ? TZ_GPU_TILE_DONE : TZ_GPU_TILE_MISSING;
    return TZ_OK;
}

/* ---- beginning a batch ---- */

/* Begins a batch; waits for files, but for no kernel. Direct reads run while the host
 * fetches and the CPU decodes; kernels are queued after all bytes have come. With cursor->at the
 * bytes are in pinned memory already. */
static tz_result begin_batch(tz_gpu_run *run, tz_gpu_slot *slot, const tz_gpu_cursor *cursor,
                             const tz_gpu_batch *batch)
{
    bool any_for_cpu = false;
    slot->batch = *batch;
    tz_gpu_batch_lay_out(run->plan, slot, cursor);
    TZ_TRY(tz_direct_begin(run, slot));
    if (!cursor->at)
        TZ_TRY(tz_gpu_fetch_all(run, slot));
    TZ_TRY(tz_gpu_decode_codestreams(run, slot));
    for (size_t i = 0; !any_for_cpu && i < slot->first_empty; i++)
        any_for_cpu = is_for_cpu(&slot->tile_reads[i]);
    if (any_for_cpu)
        TZ_TRY(run_parallel(run, slot, slot->fetch_count, run_cpu_fetch));
    TZ_TRY(run_parallel(run, slot, slot->tile_read_count - slot->first_empty, check_empty_tile));
    TZ_TRY(tz_direct_end(run, slot));
    run->use.waves++;
    run->use.bounced_bytes += batch->need.bounced;
    if (batch->need.conversions == 0)
        return TZ_OK;
    tz_gpu_fill_tables(run, slot);
    return tz_gpu_batch_launch(run, slot);
}

/* ---- downloaded pixels ---- */

/* The downloaded byte that has this offset in the slab. */
static const uint8_t *downloaded(const tz_gpu_slot *slot, uint64_t offset)
{
    const tz_gpu_layout *l = &slot->batch.layout;
    return tz_gpu_slot_pinned(slot, l->mirrored + (offset - l->statuses));
}

/* Copies packed rows of samples to a band of the buffer. */
static void copy_staged_rows(const uint8_t *from, const tz_gpu_rect *rect,
                             const tz_pixel_buffer *to, uint32_t band, uint32_t count, size_t size,
                             int64_t step)
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

/* Copies the downloaded pixels and masks of a tile to the buffers of all requests that have them in
 * host memory, in the order in which they were staged. */
static void copy_staged_tile(const tz_plan *plan, const tz_gpu_slot *slot,
                             const tz_gpu_tile_read *tile_read)
{
    const tz_tile_read *planned = tz_gpu_planned_tile_read(plan, tile_read);
    uint64_t staged = tile_read->staged;
    tz_gpu_rect rect;
    for (uint32_t i = 0; i < planned->count; i++) {
        if (!tz_gpu_rect_make(plan, planned, i, &rect))
            continue;
        const tz_pixel_buffer *into = &rect.request->into;
        const tz_pixel_buffer *mask = &rect.request->mask;
        const size_t size = tz_dtype_size(into->dtype);
        const uint32_t bands = rect.bands;
        const uint32_t samples = rect.samples;
        const bool by_pixel = rect.how->is_interleaved && !rect.how->copies_rows;
        const int64_t step = rect.how->copies_rows ? (int64_t)size : into->column_stride;
        const uint8_t *from = downloaded(slot, staged);
        staged += rect.staged_pixels;
        const uint8_t *mask_from = downloaded(slot, staged);
        staged += rect.staged_mask;
        const bool has_pixels = !rect.request->to_mask && into->data;
        if (has_pixels && by_pixel)
            copy_staged_rows(from, &rect, into, 0, samples * bands, size, (int64_t)size);
        for (uint32_t k = 0; k < bands; k++) {
            const uint32_t band = tz_gpu_rect_band(&rect, k);
            if (has_pixels && !by_pixel)
                copy_staged_rows(from + (size_t)k * rect.rows * samples * size, &rect, into, band,
                                 samples, size, step);
            if (mask->data)
                copy_staged_rows(mask_from + (size_t)k * rect.rows * rect.columns, &rect, mask,
                                 band, rect.columns, 1, mask->column_stride);
        }
    }
}

/* ---- finishing a batch ---- */

/* The device's status of a tile; 0: it was decoded, or the device was not to. */
static uint32_t decode_status(const tz_gpu_slot *slot, const tz_gpu_tile_read *tile_read)
{
    uint32_t status = 0;
    if (tile_read->status != TZ_GPU_NO_STATUS)
        memcpy(&status,
               downloaded(slot, slot->batch.layout.statuses + tile_read->status * sizeof status),
               sizeof status);
    return status;
}

/* Finishes the tiles of one fetch, which may share bytes; after all fetches, the tile reads without
 * bytes, whose pixels were downloaded if other requests have the same tile in device memory. The
 * CPU decodes tiles that the device could not: it finds the error, or stores the pixels in host
 * memory. For device memory the tile is listed, and decoded in the next batch. */
static tz_result finish_fetch(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    const slot_job *job = user;
    tz_gpu_run *run = job->run;
    tz_gpu_slot *slot = job->slot;
    tz_worker *w = &run->workers.list[worker];
    const bool has_bytes = index < slot->fetch_count;
    const size_t first = has_bytes ? slot->fetches[index].first : slot->first_empty;
    const size_t count =
        has_bytes ? slot->fetches[index].span.count : slot->tile_read_count - slot->first_empty;
    for (size_t i = first; i < first + count; i++) {
        tz_gpu_tile_read *tile_read = &slot->tile_reads[i];
        const tz_tile_read *planned = tz_gpu_planned_tile_read(run->plan, tile_read);
        const uint32_t status = decode_status(slot, tile_read);
        tz_result result = TZ_OK;
        if (tile_read->state == TZ_GPU_TILE_DONE)
            continue;
        if (status == 0) {
            copy_staged_tile(run->plan, slot, tile_read);
            continue;
        }
        atomic_fetch_add_explicit(&run->redone, 1, memory_order_relaxed);
        if (run->plan->options.strict_device)
            result = fail_strict_tile(run, slot, w, tile_read, status, err);
        else if (tile_read->on_host)
            result = tz_tile_store(run->plan, w, planned,
                                   tz_gpu_slot_pinned(slot, tile_read->bytes), err);
        else
            tile_read->state = TZ_GPU_TILE_REDO;
        if (result == TZ_OK)
            continue;
        TZ_TRY(tz_gpu_record_failure(run, w, tile_read, result, err));
        if (tile_read->state == TZ_GPU_TILE_MISSING)
            tile_read->state = TZ_GPU_TILE_REDO; /* the next batch stores its constant pixels */
    }
    return TZ_OK;
}

/* Downloads the stored bytes of tiles that the device has read and could not decode: all at once,
 * from the first such byte to the last. Waits. */
static tz_result download_failed_bytes(tz_gpu_run *run, tz_gpu_slot *slot)
{
    tz_error *err = run->plan->ctx.err;
    uint64_t first = UINT64_MAX;
    uint64_t end = 0;
    for (size_t i = 0; i < slot->tile_read_count; i++) {
        const tz_gpu_tile_read *tile_read = &slot->tile_reads[i];
        if (!tile_read->is_direct || tile_read->state == TZ_GPU_TILE_DONE ||
            decode_status(slot, tile_read) == 0)
            continue;
        first = tz_min(first, tile_read->bytes);
        end = tz_max(end, tile_read->bytes + run->plan->wave.ranges[tile_read->range].size);
    }
    if (end == 0)
        return TZ_OK;
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

/* Lists the tiles that the CPU has to decode for device memory. Their bytes are in pinned memory at
 * offsets that the next layout uses: they move to its end, all at once and in their order. */
static void list_redo(const tz_gpu_run *run, tz_gpu_slot *slot)
{
    uint64_t first = UINT64_MAX;
    uint64_t end = 0;
    for (size_t i = 0; i < slot->tile_read_count; i++) {
        const tz_gpu_tile_read *tile_read = &slot->tile_reads[i];
        const tz_indexed_range *range = &run->plan->wave.ranges[tile_read->range];
        if (tile_read->state != TZ_GPU_TILE_REDO)
            continue;
        slot->redo_offsets[slot->redo_count] = tile_read->bytes;
        slot->redo[slot->redo_count++] = (tz_span){range->offset, range->size, tile_read->range, 1};
        first = tz_min(first, tile_read->bytes);
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

/* Tiles that the device could not decode and that it has to store are listed in slot->redo. */
static tz_result finish_batch(tz_gpu_run *run, tz_gpu_slot *slot)
{
    bool any_failed = false;
    slot->redo_count = 0;
    if (!slot->is_busy)
        return TZ_OK;
    TZ_TRY(tz_device_sync(run->gpu->device, slot->queue, run->plan->ctx.err));
    slot->is_busy = false;
    run->use.syncs++;
    for (size_t i = 0; i < slot->tile_read_count; i++) {
        const tz_gpu_tile_read *tile_read = &slot->tile_reads[i];
        const bool failed = decode_status(slot, tile_read) != 0;
        run->use.tiles +=
            (tile_read->route == TZ_ROUTE_CODESTREAMS && tile_read->state == TZ_GPU_TILE_ROWS) ||
            (tile_read->status != TZ_GPU_NO_STATUS && !failed);
        any_failed = any_failed || (failed && tile_read->state != TZ_GPU_TILE_DONE);
    }
    if (slot->batch.need.staged == 0 && !any_failed)
        return TZ_OK;
    TZ_TRY(download_failed_bytes(run, slot));
    TZ_TRY(run_parallel(run, slot, slot->fetch_count + 1, finish_fetch));
    list_redo(run, slot);
    return TZ_OK;
}

/* Finishes the batch of a slot, if it has one, and those that follow from it. *done counts tile
 * reads of the wave; progress is reported in positions of the plan. */
static tz_result finish_slot(tz_gpu_run *run, tz_gpu_slot *slot, uint64_t *done)
{
    const tz_plan *plan = run->plan;
    const tz_wave *wave = &plan->wave;
    if (!slot->is_taken)
        return TZ_OK;
    slot->is_taken = false;
    *done += slot->tile_read_count;
    TZ_TRY(finish_batch(run, slot));
    if (slot->redo_count > 0) { /* the CPU decodes these tiles, and the device stores them */
        const tz_gpu_sizes budget = {run->gpu->slot_size.device, slot->redo_first};
        tz_gpu_cursor cursor = {.fetches = slot->redo,
                                .fetch_count = slot->redo_count,
                                .by_cpu = true,
                                .at = slot->redo_offsets};
        tz_gpu_batch batch;
        while (tz_gpu_batch_next(plan, &cursor, &budget, &batch)) {
            TZ_TRY(begin_batch(run, slot, &cursor, &batch));
            TZ_TRY(finish_batch(run, slot));
        }
    }
    const double fraction =
        wave->tile_read_count > 0 ? (double)*done / (double)wave->tile_read_count : 1;
    return tz_check_progress(&plan->ctx, &plan->options.progress,
                             wave->begin + (uint64_t)(fraction * (double)(wave->end - wave->begin)),
                             wave->total);
}

/* ---- pixels that no tile fills ---- */

/* Pixels outside a level, and masks of tiles that failed, in buffers in device memory. Entries are
 * collected in the table of the first slot, pair after pair, until it is full. */
typedef struct filler {
    tz_gpu_run *run;
    tz_gpu_slot *slot;
    tz_convert_entry *entries;
    uint32_t pair; /* whose entries are collected */
    uint64_t count;
    tz_result result;
} filler;

/* Makes the slot an empty batch that has a table of conversions and nothing else. */
static void begin_table(filler *f)
{
    tz_gpu_slot *slot = f->slot;
    const tz_gpu_need need = {.conversions = f->run->gpu->fill_capacity};
    slot->batch = (tz_gpu_batch){.need = need, .layout = tz_gpu_layout_make(f->run->gpu, &need)};
    slot->upload = slot->batch.layout.spare_rows;
    slot->tile_read_count = 0;
    tz_gpu_fill_tables(f->run, slot);
    f->entries =
        (tz_convert_entry *)(void *)tz_gpu_slot_pinned(slot, slot->batch.layout.conversions);
    f->pair = 0;
    f->count = 0;
}

/* Entries of a pair end before those of the next begin. */
static void end_pairs(filler *f, uint32_t end)
{
    for (; f->pair < end; f->pair++)
        f->slot->pair_ends[f->pair] = f->count;
}

/* Launches the entries that were collected and waits, as the table is used again. */
static void flush_entries(filler *f)
{
    tz_gpu_run *run = f->run;
    if (f->result != TZ_OK || f->count == 0)
        return;
    end_pairs(f, run->gpu->pairs.count);
    f->result = tz_gpu_batch_launch(run, f->slot);
    run->use.waves++;
    if (f->result == TZ_OK)
        f->result = finish_batch(run, f->slot);
    begin_table(f);
}

/* Fills an area of a request's buffers that no tile stores to: with pixels and mask, or the mask
 * only. The table is launched when it is full, and when a pair comes again. */
static void fill_area(filler *f, const tz_planned_request *request, int64_t column, int64_t row,
                      int64_t width, int64_t height, bool pixels)
{
    const tz_gpu_plan *gpu = f->run->gpu;
    const tz_gpu_request *how = &gpu->requests[request - f->run->plan->requests];
    const tz_pixel_buffer *into = &request->into;
    const tz_pixel_buffer *mask = &request->mask;
    const uint32_t across = (uint32_t)tz_min((uint64_t)width, TZ_CONVERT_MAX_PIXELS);
    if (width <= 0 || height <= 0)
        return;
    tz_convert_entry entry = {.format = how->copy,
                              .status = TZ_NO_VALUE,
                              .into_row = into->row_stride,
                              .into_column = into->column_stride,
                              .mask_row = mask->row_stride,
                              .mask_column = mask->column_stride};
    if (pixels && !request->to_mask && into->memory)
        entry.flags |= TZ_CONVERT_INTO;
    if (mask->memory)
        entry.flags |= TZ_CONVERT_MASK | TZ_CONVERT_INVALID;
    for (uint32_t band = 0; entry.flags && band < request->band_count; band++) {
        const uint64_t constant = (uint64_t)how->fill + (request->scales ? band : 0);
        entry.from = f->slot->batch.layout.constants + constant * sizeof(tz_gpu_constant);
        for (int64_t y = row; y < row + height; y += entry.rows) {
            entry.rows =
                (uint32_t)tz_min(TZ_CONVERT_MAX_PIXELS / across, (uint64_t)(row + height - y));
            for (int64_t x = column; x < column + width; x += entry.columns) {
                entry.columns = (uint32_t)tz_min(across, (uint64_t)(column + width - x));
                entry.into = (int64_t)into->offset + band * into->band_stride +
                             y * into->row_stride + x * into->column_stride;
                entry.mask = (int64_t)mask->offset + band * mask->band_stride +
                             y * mask->row_stride + x * mask->column_stride;
                if (f->count == gpu->fill_capacity || how->pair < f->pair)
                    flush_entries(f);
                if (f->result != TZ_OK)
                    return;
                end_pairs(f, how->pair);
                f->entries[f->count++] = entry;
            }
        }
    }
}

/* A tz_failed_tile_fn: masks the tile's pixels in the mask of another request. */
static void mask_failed_on_gpu(void *user, const tz_planned_request *request,
                               const tz_planned_request *mask, uint64_t tile)
{
    filler *f = user;
    tz_window window;
    if (mask->mask.data) {
        tz_planned_request_mask_tile(NULL, request, mask, tile);
        return;
    }
    if (!tz_planned_request_tile_window(request, tile, &window))
        return;
    fill_area(f, mask, window.column - request->column_shift, window.row - request->row_shift,
              window.width, window.height, false);
}

/* Fills the pixels that no tile has stored, after all waves: the rows above and below the level and
 * the columns beside it, pair after pair, then the masks of tiles that failed. */
static tz_result fill_untiled(tz_gpu_run *run)
{
    const tz_plan *plan = run->plan;
    const tz_gpu_plan *gpu = run->gpu;
    filler f = {.run = run, .slot = &run->slots[0]};
    if (gpu->on_device)
        begin_table(&f);
    for (uint32_t pair = 0; gpu->fills && pair < gpu->pairs.count; pair++) {
        for (size_t i = 0; i < plan->request_count; i++) {
            const tz_planned_request *request = &plan->requests[i];
            if (gpu->requests[i].pair != pair || !gpu->requests[i].on_device)
                continue;
            const int64_t width = request->into.width;
            const int64_t height = request->into.height;
            const bool is_inside = request->x0 < request->x1;
            const int64_t left = is_inside ? (int64_t)request->x0 - request->column_shift : width;
            const int64_t right = is_inside ? (int64_t)request->x1 - request->column_shift : width;
            const int64_t top = is_inside ? (int64_t)request->y0 - request->row_shift : height;
            const int64_t bottom = is_inside ? (int64_t)request->y1 - request->row_shift : height;
            fill_area(&f, request, 0, 0, width, top, true);
            fill_area(&f, request, 0, bottom, width, height - bottom, true);
            fill_area(&f, request, 0, top, left, bottom - top, true);
            fill_area(&f, request, right, top, width - right, bottom - top, true);
        }
    }
    tz_plan_visit_failed_tiles(plan, mask_failed_on_gpu, &f);
    flush_entries(&f);
    return f.result;
}

/* ---- the whole plan ---- */

/* Runs all waves. Batches go to the slots in turn; a slot's batch is finished before the next one
 * begins in it, and all of them before the lists of the wave change. The report has the counts of
 * the run; device, reason and memory are those of the plan. */
static tz_result run_on_gpu(tz_gpu_run *run)
{
    tz_plan *plan = run->plan;
    tz_gpu_plan *gpu = run->gpu;
    tz_read_summary *report = &plan->report;
    TZ_TRY(tz_workers_init(&run->workers, plan));
    if (gpu->on_device)
        TZ_TRY(tz_device_wait_for_native_stream(gpu->device, plan->ctx.err));
    for (uint32_t i = 0; i < gpu->slots; i++)
        TZ_TRY(tz_gpu_slot_init(run, &run->slots[i], i));
    run->has_memory = true;
    for (size_t i = 0; plan->options.boundless && i < plan->request_count; i++)
        tz_planned_request_fill_outside(&plan->requests[i], &plan->options);
    for (uint64_t at = 0; at < plan->wave.total; at = plan->wave.end) {
        TZ_TRY(tz_plan_list_wave(plan, at));
        tz_gpu_cursor cursor = tz_gpu_cursor_of_wave(plan);
        tz_gpu_batch batch;
        uint64_t done = 0;
        unsigned next = 0;
        for (; tz_gpu_batch_next(plan, &cursor, &gpu->batch_budget, &batch);
             next = (next + 1) % gpu->slots) {
            TZ_TRY(finish_slot(run, &run->slots[next], &done));
            run->slots[next].is_taken = true;
            TZ_TRY(begin_batch(run, &run->slots[next], &cursor, &batch));
        }
        for (unsigned i = 0; i < gpu->slots; i++)
            TZ_TRY(finish_slot(run, &run->slots[(next + i) % gpu->slots], &done));
    }
    TZ_TRY(fill_untiled(run));
    TZ_TRY(tz_plan_check_unchanged(plan));
    const tz_device_use planned = report->device;
    tz_report_finish(plan, &run->workers, run->use.tiles);
    report->device = run->use;
    memcpy(report->device.id, planned.id, sizeof planned.id);
    memcpy(report->device.reason, planned.reason, sizeof planned.reason);
    report->device.memory = planned.memory;
    report->device.tiles_on_cpu = planned.tiles_on_cpu + run->fallback_count;
    report->device.tiles_redone = run->redone;
    tz_note_reason(report->device.direct_reason, planned.direct_reason);
    return TZ_OK;
}

/* Runs the plan with smaller batches if the planned ones find no memory after all: others use the
 * device, too. *is_full: even the smallest find none, and the plan is one for the CPU. A plan whose
 * waves could not be counted again is nobody's: it has no sizes, and the read fails. */
static tz_result run_in_smaller_batches(tz_plan *plan, bool *is_full)
{
    tz_error *err = plan->ctx.err;
    for (;;) {
        tz_error again = {.result = TZ_OK};
        tz_gpu_run run = {.plan = plan, .gpu = plan->gpu, .lock = PTHREAD_MUTEX_INITIALIZER};
        const tz_result result = run_on_gpu(&run);
        if (result != TZ_OK)
            tz_report_collect_warnings(plan, &run.workers);
        for (uint32_t i = 0; i < TZ_QUEUES; i++)
            tz_gpu_slot_deinit(&run, &run.slots[i]);
        tz_workers_deinit(&run.workers);
        *is_full = tz_device_is_full(result, err) || (!run.has_memory && result == TZ_ERR_LIMIT);
        if (run.has_memory || !*is_full)
            return result;
        const uint64_t held = plan->gpu->slots * plan->gpu->slot_size.device;
        plan->ctx.err = &again;
        tz_gpu_plan_halve(plan);
        const tz_result measured = tz_plan_measure(plan);
        const bool is_less = measured == TZ_OK && plan->gpu &&
                             plan->gpu->slots * plan->gpu->slot_size.device < held &&
                             tz_plan_check_memory(plan) == TZ_OK;
        plan->ctx.err = err;
        if (measured != TZ_OK && plan->wave.end < plan->wave.total) {
            *err = again;
            *is_full = false;
            return measured;
        }
        if (!is_less)
            return result;
    }
}

/* Errors of the device go to an error of its own first: if the CPU reads instead, the caller's
 * stays untouched, and the message becomes the reason in the report. */
tz_result tz_gpu_read(tz_plan *plan)
{
    const bool on_device = plan->gpu->on_device;
    tz_error failed = {.result = TZ_OK}, *err = plan->ctx.err;
    bool is_full;
    plan->ctx.err = &failed;
    const tz_result result = run_in_smaller_batches(plan, &is_full);
    plan->ctx.err = err;
    const bool is_lost = result == TZ_ERR_DEVICE && !on_device;
    if ((!is_full && !is_lost) || plan->options.strict_device) {
        if (result != TZ_OK && err)
            *err = failed;
        return result;
    }
    tz_gpu_plan_drop(plan, on_device ? TZ_RUN_BOUNCED : TZ_RUN_CPU, failed.message);
    if (on_device)
        return TZ_OK;
    plan->report.numbers.tiles_failed = 0;
    tz_plan_reset_outcomes(plan);
    TZ_TRY(tz_plan_check_memory(plan));
    return tz_cpu_read(plan);
}
