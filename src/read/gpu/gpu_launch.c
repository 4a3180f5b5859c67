/* SPDX-License-Identifier: Apache-2.0
 * The tables that the kernels of a batch read, and the calls that run it: one upload, a launch for
 * each codec (or a call of a library and the launches that it takes), one for all predictors, one
 * for each pair of memories, one download. Their number does not grow with the number of tiles.
 *
 *   decodes      stored bytes -> rows        one entry for each tile, by codec
 *   unpredicts   rows -> rows                one entry for some rows of a tile
 *   conversions  rows or constants -> pixels and mask, in the caller's buffers or staged for the
 *                host; one entry for some pixels of one band of one request, by pair of memories
 *
 * The decision that is not obvious: tables have the capacity that was planned, but tiles that have
 * failed or that the CPU has stored meanwhile get no entries, so fewer may be launched. */
#include <string.h>

#include "base/mem.h"
#include "read/gpu/gpu_batch.h"

/* ---- destinations ---- */

/* The offset of a rectangle's first pixel in some memory, and the strides from there, in bytes. */
typedef struct point {
    int64_t at, band, row, column;
} point;

/* The point of a rectangle in a buffer in device memory. Without one, the pixels are staged for the
 * host at an offset of the slab: packed, pixel by pixel if samples is more than 1, else band by
 * band. */
static point point_of(const tz_pixel_buffer *buffer, const tz_gpu_rect *rect, uint64_t staged,
                      int64_t columns, int64_t samples)
{
    const int64_t size = (int64_t)tz_dtype_size(buffer->dtype);
    if (buffer->memory)
        return (point){.at = (int64_t)buffer->offset + rect->row * buffer->row_stride +
                             rect->column * buffer->column_stride,
                       .band = buffer->band_stride,
                       .row = buffer->row_stride,
                       .column = buffer->column_stride};
    return (point){.at = (int64_t)staged,
                   .band = samples > 1 ? size : rect->rows * columns * size,
                   .row = columns * samples * size,
                   .column = samples * size};
}

/* ---- conversions ---- */

/* Writes a rectangle as entries of at most TZ_CONVERT_MAX_PIXELS, each like first. Returns the
 * position after them. */
static tz_convert_entry *split_entry(tz_convert_entry *out, const tz_convert_entry *first,
                                     uint32_t rows, uint32_t columns)
{
    const uint32_t across = tz_min_u32(columns, TZ_CONVERT_MAX_PIXELS);
    const uint32_t down = TZ_CONVERT_MAX_PIXELS / across;
    for (uint32_t y = 0; y < rows; y += tz_min_u32(down, rows - y)) {
        for (uint32_t x = 0; x < columns; x += tz_min_u32(across, columns - x)) {
            *out = *first;
            out->from += y * first->from_row;
            out->first += x * first->step;
            out->rows = tz_min_u32(down, rows - y);
            out->columns = tz_min_u32(across, columns - x);
            out->into += y * first->into_row + x * first->into_column;
            out->mask += y * first->mask_row + x * first->mask_column;
            out++;
        }
    }
    return out;
}

/* Sets the source of a rectangle's samples: rows of the tile, or one sample again and again. */
static void set_entry_source(const tz_gpu_run *run, const tz_gpu_slot *slot,
                             const tz_gpu_tile_read *tile_read, const tz_gpu_rect *rect,
                             uint32_t band, tz_convert_entry *entry)
{
    const tz_planned_request *request = rect->request;
    const tz_gpu_request *how = rect->how;
    const tz_tile_read *planned = tz_gpu_planned_tile_read(run->plan, tile_read);
    const uint32_t by_band = request->scales ? band : 0;
    if (tile_read->state == TZ_GPU_TILE_MISSING) {
        const tz_gpu_constant *constants = run->gpu->constants.entries;
        const bool fills = tile_read->failed && run->plan->options.has_fill;
        const uint32_t constant = (fills ? how->fill : how->missing) + by_band;
        entry->from = slot->batch.layout.constants + (uint64_t)constant * sizeof(tz_gpu_constant);
        entry->format = how->copy;
        if (tile_read->failed || !constants[constant].valid)
            entry->flags |= TZ_CONVERT_INVALID;
        return;
    }
    const bool is_raw = tz_planned_request_is_raw(request);
    const bool is_narrow =
        is_raw && request->row_range_height == 1 &&
        tz_tile_read_range(&run->plan->wave, planned).size < tz_row_bytes(&request->row);
    const uint32_t samples = request->row.samples;
    const uint32_t sample = request->planes    ? 0
                            : request->to_mask ? request->mask_sample
                            : how->copies_rows ? 0
                            : request->bands   ? request->bands[band]
                                               : band;
    entry->from_row = tz_planned_request_row_bytes(request);
    entry->from = tile_read->rows + (rect->y - (is_raw ? planned->row0 : 0)) * entry->from_row;
    entry->first = (rect->x - (is_narrow ? planned->column0 : 0)) * samples + sample;
    entry->step = how->copies_rows && !request->to_mask ? 1 : samples;
    entry->format = how->format + by_band;
    entry->status = tile_read->status == TZ_GPU_NO_STATUS
                        ? TZ_NO_VALUE
                        : slot->batch.layout.statuses + tile_read->status * sizeof(uint32_t);
}

/* Writes all entries of one rectangle; staged is the offset of its pixels for the host, which lie
 * by pixel if those of the buffer do. Returns the position after them. */
static tz_convert_entry *add_rect_entries(const tz_gpu_run *run, const tz_gpu_slot *slot,
                                          const tz_gpu_tile_read *tile_read,
                                          const tz_gpu_rect *rect, uint64_t staged,
                                          tz_convert_entry *out)
{
    const tz_planned_request *request = rect->request;
    const uint32_t bands = rect->bands;
    const uint32_t columns = rect->samples;
    const bool by_pixel = rect->how->is_interleaved && !rect->how->copies_rows;
    const point pixels =
        point_of(&request->into, rect, staged, columns, by_pixel ? request->band_count : 1);
    const point mask =
        point_of(&request->mask, rect, staged + rect->staged_pixels, rect->columns, 1);
    for (uint32_t i = 0; i < bands; i++) {
        const uint32_t band = tz_gpu_rect_band(rect, i);
        tz_convert_entry entry = {.status = TZ_NO_VALUE};
        set_entry_source(run, slot, tile_read, rect, band, &entry);
        if (!request->to_mask) {
            entry.flags |= TZ_CONVERT_INTO;
            entry.into = pixels.at + (request->into.memory ? band : i) * pixels.band;
            entry.into_row = pixels.row;
            entry.into_column = rect->how->copies_rows ? (int64_t)tz_dtype_size(request->into.dtype)
                                                       : pixels.column;
        }
        if (tz_pixel_buffer_exists(&request->mask)) {
            entry.flags |= TZ_CONVERT_MASK;
            entry.mask = mask.at + (request->mask.memory ? band : i) * mask.band;
            entry.mask_row = mask.row;
            entry.mask_column = mask.column;
        }
        out = split_entry(out, &entry, rect->rows, columns);
    }
    return out;
}

/* ---- tables ---- */

static bool is_gpu_decoded(const tz_gpu_tile_read *tile_read)
{
    return tile_read->state == TZ_GPU_TILE_ROWS && tile_read->route == TZ_ROUTE_DEVICE;
}

/* Two passes over the tile reads. The first counts entries, so that those of one codec, and those
 * of one pair of memories, follow each other in the second. pair_ends has the position of the next
 * entry of each pair, and so its end when all are written. Statuses are numbered as decodes are. */
void tz_gpu_fill_tables(const tz_gpu_run *run, tz_gpu_slot *slot)
{
    const tz_plan *plan = run->plan;
    const tz_gpu_plan *gpu = run->gpu;
    const tz_gpu_layout *l = &slot->batch.layout;
    void *pinned = tz_gpu_slot_pinned(slot, l->unpredicts);
    tz_unpredict_entry *const unpredicts = pinned, *unpredict = pinned;
    pinned = tz_gpu_slot_pinned(slot, l->conversions);
    tz_convert_entry *const conversions = pinned;
    memcpy(tz_gpu_slot_pinned(slot, l->formats), gpu->formats.entries,
           gpu->formats.count * sizeof(tz_convert_format));
    memcpy(tz_gpu_slot_pinned(slot, l->constants), gpu->constants.entries,
           gpu->constants.count * sizeof(tz_gpu_constant));
    memset(slot->decode_counts, 0, sizeof slot->decode_counts);
    memset(slot->pair_ends, 0, gpu->pairs.count * sizeof *slot->pair_ends);
    tz_gpu_rect rect;
    for (size_t i = 0; i < slot->tile_read_count; i++) {
        const tz_tile_read *planned = tz_gpu_planned_tile_read(plan, &slot->tile_reads[i]);
        if (slot->tile_reads[i].state == TZ_GPU_TILE_DONE)
            continue;
        if (is_gpu_decoded(&slot->tile_reads[i]))
            slot->decode_counts[tz_gpu_request_of(plan, planned, 0)->codec]++;
        for (uint32_t k = 0; k < planned->count; k++) {
            if (tz_gpu_rect_make(plan, planned, k, &rect))
                slot->pair_ends[rect.how->pair] += tz_gpu_rect_entries(&rect);
        }
    }
    uint32_t statuses[TZ_GPU_MAX_CODECS]; /* the next of each codec */
    for (uint32_t first = 0, c = 0; c < TZ_GPU_MAX_CODECS; first += slot->decode_counts[c++])
        slot->first_status[c] = statuses[c] = first;
    for (uint64_t first = 0, i = 0; i < gpu->pairs.count; i++) {
        const uint64_t count = slot->pair_ends[i];
        slot->pair_ends[i] = first;
        first += count;
    }
    for (size_t i = 0; i < slot->tile_read_count; i++) {
        tz_gpu_tile_read *tile_read = &slot->tile_reads[i];
        const tz_tile_read *planned = tz_gpu_planned_tile_read(plan, tile_read);
        const tz_gpu_request *how = tz_gpu_request_of(plan, planned, 0);
        uint64_t staged = tile_read->staged;
        if (tile_read->state == TZ_GPU_TILE_DONE)
            continue;
        if (is_gpu_decoded(tile_read)) {
            tz_decode_entry *decodes = (void *)tz_gpu_slot_pinned(slot, l->decodes[how->codec]);
            tile_read->status = statuses[how->codec]++;
            decodes[tile_read->status - slot->first_status[how->codec]] = (tz_decode_entry){
                .from = tile_read->bytes,
                .to = tile_read->rows,
                .from_size = (uint32_t)tz_tile_read_wanted(&plan->wave, planned, 0)->span.size,
                .to_size = (uint32_t)tz_tile_read_decoded_bytes(plan, planned)};
        }
        const bool has_unpredict = how->has_unpredict && tile_read->state == TZ_GPU_TILE_ROWS &&
                                   tile_read->route != TZ_ROUTE_RAW;
        for (uint32_t row = planned->row0; has_unpredict && row < planned->row1;
             row += unpredict++->rows) {
            *unpredict = how->unpredict;
            unpredict->offset = tile_read->rows + (uint64_t)row * unpredict->row_bytes;
            unpredict->rows = tz_min_u32(TZ_UNPREDICT_MAX_ROWS, planned->row1 - row);
        }
        for (uint32_t k = 0; k < planned->count; k++) {
            if (!tz_gpu_rect_make(plan, planned, k, &rect))
                continue;
            uint64_t *at = &slot->pair_ends[rect.how->pair];
            *at = (uint64_t)(add_rect_entries(run, slot, tile_read, &rect, staged,
                                              conversions + *at) -
                             conversions);
            staged += rect.staged_pixels + rect.staged_mask;
        }
    }
    slot->unpredict_count = (uint64_t)(unpredict - unpredicts);
}

/* ---- launches ---- */

static tz_device_memory *staging_or_memory(const tz_gpu_slot *slot, tz_device_memory *memory)
{
    return memory == &tz_gpu_staging ? slot->slab : memory;
}

/* The queue runs in order, so each step finds the bytes of the one before. Codecs and pairs without
 * entries are not launched. */
tz_result tz_gpu_batch_launch(tz_gpu_run *run, tz_gpu_slot *slot)
{
    const tz_gpu_plan *gpu = run->gpu;
    const tz_gpu_memory_pair *pairs = gpu->pairs.entries;
    const tz_gpu_layout *l = &slot->batch.layout;
    tz_device_use *use = &run->use;
    tz_error *err = run->plan->ctx.err;
    slot->is_busy = true; /* also if the upload fails: then it may be in flight all the same */
    TZ_TRY(tz_device_upload(slot->queue, slot->slab, 0, slot->pinned->host, slot->upload, err));
    use->uploads++;
    use->upload_bytes += slot->upload;
    for (uint32_t i = 0; i < gpu->codec_count; i++) {
        const void *tiles = tz_gpu_slot_pinned(slot, l->decodes[i]);
        const tz_decode_batch batch = {
            .compression = gpu->codecs[i],
            .slab = slot->slab,
            .tiles = tiles,
            .count = slot->decode_counts[i],
            .table = l->decodes[i],
            .statuses = l->statuses + slot->first_status[i] * sizeof(uint32_t),
            .scratch = l->scratch[i],
            .stored = slot->read_count == 0 ? tz_gpu_slot_pinned(slot, 0) : NULL};
        if (batch.count == 0)
            continue;
        tz_decode_report done;
        TZ_TRY(tz_decode_launch(&batch, slot->queue, &done, err));
        use->launches += done.launches;
        use->library_calls += done.library[0] != '\0';
        if (!use->library[0])
            memcpy(use->library, done.library, sizeof use->library);
        if (!use->library_reason[0])
            memcpy(use->library_reason, done.reason, sizeof use->library_reason);
        _Static_assert(sizeof use->library == sizeof done.library &&
                           sizeof use->library_reason == sizeof done.reason,
                       "texts are copied");
    }
    if (slot->unpredict_count > 0) {
        const void *entries = tz_gpu_slot_pinned(slot, l->unpredicts);
        const tz_unpredict_batch batch = {.slab = slot->slab,
                                          .entries = entries,
                                          .table = l->unpredicts,
                                          .count = slot->unpredict_count};
        TZ_TRY(tz_unpredict_launch(&batch, slot->queue, err));
        use->launches++;
    }
    for (uint64_t first = 0, i = 0; i < gpu->pairs.count; first = slot->pair_ends[i++]) {
        const uint64_t table = l->conversions + first * sizeof(tz_convert_entry);
        const void *formats = tz_gpu_slot_pinned(slot, l->formats);
        const void *entries = tz_gpu_slot_pinned(slot, table);
        const tz_convert_batch batch = {.slab = slot->slab,
                                        .formats = l->formats,
                                        .format_count = gpu->formats.count,
                                        .format_table = formats,
                                        .entries = entries,
                                        .table = table,
                                        .count = slot->pair_ends[i] - first,
                                        .into = staging_or_memory(slot, pairs[i].into),
                                        .mask = staging_or_memory(slot, pairs[i].mask)};
        if (batch.count == 0)
            continue;
        TZ_TRY(tz_convert_launch(&batch, slot->queue, err));
        use->launches++;
    }
    if (l->download > 0) {
        TZ_TRY(tz_device_download(slot->queue, tz_gpu_slot_pinned(slot, l->mirrored), slot->slab,
                                  l->statuses, l->download, err));
        use->downloads++;
        use->download_bytes += l->download;
    }
    return TZ_OK;
}
