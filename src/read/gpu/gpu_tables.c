/* SPDX-License-Identifier: Apache-2.0
 * The tables that a wave's kernels read. */
#include <string.h>

#include "base/mem.h"
#include "device/ops/decode.h"
#include "read/gpu/gpu_slot.h"
#include "read/tile.h"

/* ---- where pixels go ---- */

/* The first pixel of a rectangle, and from one to the next, in bytes of some memory. */
typedef struct point {
    int64_t at, band, row, column;
} point;

static point point_in_buffer(const tz_buffer *buffer, const tz_gpu_rect *rect)
{
    return (point){.at = (int64_t)buffer->offset + rect->row * buffer->row_stride +
                         rect->column * buffer->column_stride,
                   .band = buffer->band_stride,
                   .row = buffer->row_stride,
                   .column = buffer->column_stride};
}

static point mask_point(const tz_gpu_rect *rect, uint64_t staged)
{
    if (rect->request->mask.memory)
        return point_in_buffer(&rect->request->mask, rect);
    return (point){.at = (int64_t)staged,
                   .band = (int64_t)rect->rows * rect->columns,
                   .row = rect->columns,
                   .column = 1};
}

/* Pixels for the host lie packed: whole ones where the buffer has whole ones, else by band. */
static point pixels_point(const tz_gpu_rect *rect, uint64_t staged)
{
    const int64_t size = (int64_t)tz_dtype_size(rect->request->into.dtype);
    const int64_t samples = (int64_t)tz_gpu_rect_samples(rect);
    if (rect->request->into.memory)
        return point_in_buffer(&rect->request->into, rect);
    if (rect->how->is_interleaved && !rect->how->copies_rows)
        return (point){.at = (int64_t)staged,
                       .band = size,
                       .row = samples * size * rect->request->band_count,
                       .column = size * rect->request->band_count};
    return (point){.at = (int64_t)staged,
                   .band = (int64_t)rect->rows * samples * size,
                   .row = samples * size,
                   .column = size};
}

/* ---- places ---- */

/* A rectangle in pieces, each an entry like first. */
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

/* Where the samples of a rectangle are: rows of the unit, or one sample again and again. */
static void set_entry_source(const tz_gpu_run *run, const tz_gpu_slot *slot,
                             const tz_gpu_tile_read *tile_read, const tz_gpu_rect *rect,
                             uint32_t band, tz_convert_entry *entry)
{
    const tz_planned_request *request = rect->request;
    const tz_gpu_request *how = rect->how;
    const tz_tile_read *planned = &run->plan->wave.tile_reads[tile_read->tile_read];
    const uint32_t by_band = request->scales ? band : 0;
    if (tile_read->state == TZ_GPU_TILE_MISSING) {
        entry->from = slot->batch.layout.constants +
                      (uint64_t)(how->missing + by_band) * sizeof *run->gpu->constants;
        entry->format = how->copy;
        if (tile_read->failed || !run->gpu->constants[how->missing + by_band].valid)
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
                        ? TZ_NONE
                        : slot->batch.layout.statuses + tile_read->status * sizeof(uint32_t);
}

/* All entries of one rectangle. */
static tz_convert_entry *add_rect_entries(const tz_gpu_run *run, const tz_gpu_slot *slot,
                                          const tz_gpu_tile_read *tile_read,
                                          const tz_gpu_rect *rect, uint64_t staged,
                                          tz_convert_entry *out)
{
    const tz_planned_request *request = rect->request;
    const uint32_t bands = tz_gpu_rect_bands(rect);
    const point pixels = request->to_mask ? (point){0} : pixels_point(rect, staged);
    const point mask = mask_point(rect, staged + tz_gpu_rect_staged_pixels(rect));
    for (uint32_t i = 0; i < bands; i++) {
        const uint32_t band = tz_gpu_rect_band(rect, i);
        tz_convert_entry entry = {.status = TZ_NONE};
        set_entry_source(run, slot, tile_read, rect, band, &entry);
        if (!request->to_mask) {
            entry.flags |= TZ_CONVERT_INTO;
            entry.into = pixels.at + (request->into.memory ? band : i) * pixels.band;
            entry.into_row = pixels.row;
            entry.into_column = rect->how->copies_rows ? (int64_t)tz_dtype_size(request->into.dtype)
                                                       : pixels.column;
        }
        if (tz_buffer_exists(&request->mask)) {
            entry.flags |= TZ_CONVERT_MASK;
            entry.mask = mask.at + (request->mask.memory ? band : i) * mask.band;
            entry.mask_row = mask.row;
            entry.mask_column = mask.column;
        }
        out = split_entry(out, &entry, rect->rows, tz_gpu_rect_samples(rect));
    }
    return out;
}

static bool is_converted(const tz_gpu_tile_read *tile_read)
{
    return tile_read->state != TZ_GPU_TILE_DONE;
}

/* Entries of one pair of memories stand together: count them, then put each where it belongs. */
static void count_conversions(const tz_gpu_run *run, tz_gpu_slot *slot)
{
    const tz_plan *plan = run->plan;
    tz_gpu_rect rect;
    memset(slot->pair_ends, 0, run->gpu->pair_count * sizeof *slot->pair_ends);
    for (size_t i = 0; i < slot->tile_read_count; i++) {
        const tz_tile_read *tile_read = &plan->wave.tile_reads[slot->tile_reads[i].tile_read];
        for (uint32_t k = 0; is_converted(&slot->tile_reads[i]) && k < tile_read->count; k++) {
            if (tz_gpu_rect_make(plan, tile_read, k, &rect))
                slot->pair_ends[rect.how->pair] +=
                    tz_gpu_rect_bands(&rect) *
                    tz_gpu_entry_count(rect.rows, tz_gpu_rect_samples(&rect));
        }
    }
    for (uint64_t at = 0, i = 0; i < run->gpu->pair_count; i++) {
        const uint64_t count = slot->pair_ends[i];
        slot->pair_ends[i] = at; /* where the next one goes; at last, where they end */
        at += count;
    }
}

static void add_tile_entries(const tz_gpu_run *run, tz_gpu_slot *slot,
                             const tz_gpu_tile_read *gpu_tile_read, tz_convert_entry *entries)
{
    const tz_plan *plan = run->plan;
    const tz_tile_read *tile_read = &plan->wave.tile_reads[gpu_tile_read->tile_read];
    uint64_t staged = gpu_tile_read->staged;
    tz_gpu_rect rect;
    for (uint32_t i = 0; i < tile_read->count; i++) {
        if (!tz_gpu_rect_make(plan, tile_read, i, &rect))
            continue;
        uint64_t *at = &slot->pair_ends[rect.how->pair];
        *at = (uint64_t)(add_rect_entries(run, slot, gpu_tile_read, &rect, staged, entries + *at) -
                         entries);
        staged += tz_gpu_rect_staged_pixels(&rect) + tz_gpu_rect_staged_mask(&rect);
    }
}

/* ---- decoding and differences ---- */

static const tz_gpu_request *gpu_request_of_tile(const tz_gpu_run *run,
                                                 const tz_gpu_tile_read *tile_read)
{
    const tz_wave *wave = &run->plan->wave;
    return &run->gpu->requests[wave->wanted[wave->tile_reads[tile_read->tile_read].first].request];
}

static bool is_gpu_decoded(const tz_gpu_tile_read *tile_read)
{
    return tile_read->state == TZ_GPU_TILE_ROWS && tile_read->route == TZ_ROUTE_DEVICE;
}

/* Tiles of one codec have statuses that follow each other. */
static void assign_statuses(const tz_gpu_run *run, tz_gpu_slot *slot)
{
    uint32_t first = 0;
    uint32_t numbers[TZ_GPU_MAX_CODECS];
    memset(slot->decode_counts, 0, sizeof slot->decode_counts);
    for (size_t i = 0; i < slot->tile_read_count; i++) {
        if (is_gpu_decoded(&slot->tile_reads[i]))
            slot->decode_counts[gpu_request_of_tile(run, &slot->tile_reads[i])->codec]++;
    }
    for (uint32_t c = 0; c < TZ_GPU_MAX_CODECS; c++) {
        slot->first_status[c] = numbers[c] = first;
        first += slot->decode_counts[c];
    }
    for (size_t i = 0; i < slot->tile_read_count; i++) {
        if (is_gpu_decoded(&slot->tile_reads[i]))
            slot->tile_reads[i].status =
                numbers[gpu_request_of_tile(run, &slot->tile_reads[i])->codec]++;
    }
}

static void add_decode_entry(const tz_gpu_run *run, const tz_gpu_slot *slot,
                             const tz_gpu_tile_read *tile_read)
{
    const tz_plan *plan = run->plan;
    const tz_tile_read *planned = &plan->wave.tile_reads[tile_read->tile_read];
    const uint32_t codec = gpu_request_of_tile(run, tile_read)->codec;
    tz_decode_entry *entries =
        (tz_decode_entry *)(void *)tz_gpu_slot_pinned(slot, slot->batch.layout.decodes[codec]);
    entries[tile_read->status - slot->first_status[codec]] = (tz_decode_entry){
        .from = tile_read->bytes,
        .to = tile_read->rows,
        .from_size = (uint32_t)tz_tile_read_wanted(&plan->wave, planned, 0)->span.size,
        .to_size = (uint32_t)tz_tile_read_decoded_bytes(plan, planned)};
}

static tz_unpredict_entry *add_unpredict_entries(const tz_gpu_run *run,
                                                 const tz_gpu_tile_read *tile_read,
                                                 tz_unpredict_entry *out)
{
    const tz_tile_read *planned = &run->plan->wave.tile_reads[tile_read->tile_read];
    const tz_gpu_request *how = gpu_request_of_tile(run, tile_read);
    for (uint32_t row = planned->row0; how->has_unpredict && row < planned->row1;) {
        *out = how->unpredict;
        out->offset = tile_read->rows + (uint64_t)row * out->row_bytes;
        out->rows = tz_min_u32(TZ_UNPREDICT_MAX_ROWS, planned->row1 - row);
        row += out->rows;
        out++;
    }
    return out;
}

/* Units that failed meanwhile have no entries: what is left of the tables is not launched. */
void tz_gpu_fill_tables(const tz_gpu_run *run, tz_gpu_slot *slot)
{
    const tz_gpu_layout *l = &slot->batch.layout;
    const tz_gpu_plan *gpu = run->gpu;
    tz_unpredict_entry *unpredicts =
        (tz_unpredict_entry *)(void *)tz_gpu_slot_pinned(slot, l->unpredicts);
    tz_convert_entry *conversions =
        (tz_convert_entry *)(void *)tz_gpu_slot_pinned(slot, l->conversions);
    tz_unpredict_entry *unpredict = unpredicts;
    memcpy(tz_gpu_slot_pinned(slot, l->formats), gpu->formats,
           gpu->format_count * sizeof *gpu->formats);
    memcpy(tz_gpu_slot_pinned(slot, l->constants), gpu->constants,
           gpu->constant_count * sizeof *gpu->constants);
    assign_statuses(run, slot);
    count_conversions(run, slot);
    for (size_t i = 0; i < slot->tile_read_count; i++) {
        const tz_gpu_tile_read *tile_read = &slot->tile_reads[i];
        if (!is_converted(tile_read))
            continue;
        if (is_gpu_decoded(tile_read))
            add_decode_entry(run, slot, tile_read);
        if (tile_read->state == TZ_GPU_TILE_ROWS && tile_read->route != TZ_ROUTE_RAW)
            unpredict = add_unpredict_entries(run, tile_read, unpredict);
        add_tile_entries(run, slot, tile_read, conversions);
    }
    slot->unpredict_count = (uint64_t)(unpredict - unpredicts);
}
