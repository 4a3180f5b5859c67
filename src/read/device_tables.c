/* SPDX-License-Identifier: Apache-2.0
 * The tables that a wave's kernels read. */
#include <string.h>

#include "base/mem.h"
#include "device/ops/decode.h"
#include "read/device_lane.h"
#include "read/tile.h"

/* ---- where pixels go ---- */

/* The first pixel of a rectangle, and from one to the next, in bytes of some memory. */
typedef struct spot {
    int64_t at, band, row, column;
} spot;

static spot spot_in(const tz_buffer *buffer, const tz_rect *rect)
{
    return (spot){.at = (int64_t)buffer->offset + rect->row * buffer->row_stride +
                        rect->column * buffer->column_stride,
                  .band = buffer->band_stride,
                  .row = buffer->row_stride,
                  .column = buffer->column_stride};
}

static spot spot_of_mask(const tz_rect *rect, uint64_t staged)
{
    if (rect->target->mask.memory)
        return spot_in(&rect->target->mask, rect);
    return (spot){.at = (int64_t)staged,
                  .band = (int64_t)rect->rows * rect->columns,
                  .row = rect->columns,
                  .column = 1};
}

/* Pixels for the host lie packed: whole ones where the buffer has whole ones, else by band. */
static spot spot_of_pixels(const tz_rect *rect, uint64_t staged)
{
    const int64_t size = (int64_t)tz_dtype_size(rect->target->into.dtype);
    const int64_t samples = (int64_t)tz_rect_samples(rect);
    if (rect->target->into.memory)
        return spot_in(&rect->target->into, rect);
    if (rect->how->has_pixels && !rect->how->whole)
        return (spot){.at = (int64_t)staged,
                      .band = size,
                      .row = samples * size * rect->target->band_count,
                      .column = size * rect->target->band_count};
    return (spot){.at = (int64_t)staged,
                  .band = (int64_t)rect->rows * samples * size,
                  .row = samples * size,
                  .column = size};
}

/* ---- places ---- */

/* A rectangle in pieces, each an entry like first. */
static tz_convert_entry *cut_entry(tz_convert_entry *out, const tz_convert_entry *first,
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
static void set_from(const tz_device_run *run, const tz_lane *lane, const tz_lane_unit *unit,
                     const tz_rect *rect, uint32_t band, tz_convert_entry *entry)
{
    const tz_target *target = rect->target;
    const tz_device_target *how = rect->how;
    const tz_unit *planned = &run->plan->wave.units[unit->unit];
    const uint32_t by_band = target->scales ? band : 0;
    if (unit->state == TZ_LANE_MISSING) {
        entry->from = lane->cut.layout.constants +
                      (uint64_t)(how->missing + by_band) * sizeof *run->dp->constants;
        entry->format = how->copy;
        if (unit->failed || !run->dp->constants[how->missing + by_band].valid)
            entry->flags |= TZ_CONVERT_INVALID;
        return;
    }
    const bool is_raw = tz_target_is_raw(target);
    const bool is_narrow = is_raw && target->part_rows == 1 &&
                           tz_unit_piece(run->plan, planned).size < tz_row_bytes(&target->row);
    const uint32_t samples = target->row.samples;
    const uint32_t sample = target->planes    ? 0
                            : target->to_mask ? target->mask_sample
                            : how->whole      ? 0
                            : target->bands   ? target->bands[band]
                                              : band;
    entry->from_row = tz_target_row_bytes(target);
    entry->from = unit->rows + (rect->y - (is_raw ? planned->row0 : 0)) * entry->from_row;
    entry->first = (rect->x - (is_narrow ? planned->column0 : 0)) * samples + sample;
    entry->step = how->whole && !target->to_mask ? 1 : samples;
    entry->format = how->format + by_band;
    entry->status = unit->status == TZ_NO_STATUS
                        ? TZ_NONE
                        : lane->cut.layout.statuses + unit->status * sizeof(uint32_t);
}

/* All entries of one rectangle. */
static tz_convert_entry *place_rect(const tz_device_run *run, const tz_lane *lane,
                                    const tz_lane_unit *unit, const tz_rect *rect, uint64_t staged,
                                    tz_convert_entry *out)
{
    const tz_target *target = rect->target;
    const uint32_t bands = tz_rect_bands(rect);
    const spot pixels = target->to_mask ? (spot){0} : spot_of_pixels(rect, staged);
    const spot mask = spot_of_mask(rect, staged + tz_rect_staged_pixels(rect));
    for (uint32_t i = 0; i < bands; i++) {
        const uint32_t band = tz_rect_band(rect, i);
        tz_convert_entry entry = {.status = TZ_NONE};
        set_from(run, lane, unit, rect, band, &entry);
        if (!target->to_mask) {
            entry.flags |= TZ_CONVERT_INTO;
            entry.into = pixels.at + (target->into.memory ? band : i) * pixels.band;
            entry.into_row = pixels.row;
            entry.into_column =
                rect->how->whole ? (int64_t)tz_dtype_size(target->into.dtype) : pixels.column;
        }
        if (tz_buffer_exists(&target->mask)) {
            entry.flags |= TZ_CONVERT_MASK;
            entry.mask = mask.at + (target->mask.memory ? band : i) * mask.band;
            entry.mask_row = mask.row;
            entry.mask_column = mask.column;
        }
        out = cut_entry(out, &entry, rect->rows, tz_rect_samples(rect));
    }
    return out;
}

static bool is_placed(const tz_lane_unit *unit)
{
    return unit->state != TZ_LANE_DONE;
}

/* Entries of one pair of memories stand together: count them, then put each where it belongs. */
static void count_places(const tz_device_run *run, tz_lane *lane)
{
    const tz_plan *plan = run->plan;
    tz_rect rect;
    memset(lane->pair_ends, 0, run->dp->pair_count * sizeof *lane->pair_ends);
    for (size_t i = 0; i < lane->unit_count; i++) {
        const tz_unit *unit = &plan->wave.units[lane->units[i].unit];
        for (uint32_t k = 0; is_placed(&lane->units[i]) && k < unit->count; k++) {
            if (tz_rect_of(plan, unit, k, &rect))
                lane->pair_ends[rect.how->pair] +=
                    tz_rect_bands(&rect) * tz_place_pieces(rect.rows, tz_rect_samples(&rect));
        }
    }
    for (uint64_t at = 0, i = 0; i < run->dp->pair_count; i++) {
        const uint64_t count = lane->pair_ends[i];
        lane->pair_ends[i] = at; /* where the next one goes; at last, where they end */
        at += count;
    }
}

static void place_unit(const tz_device_run *run, tz_lane *lane, const tz_lane_unit *lane_unit,
                       tz_convert_entry *entries)
{
    const tz_plan *plan = run->plan;
    const tz_unit *unit = &plan->wave.units[lane_unit->unit];
    uint64_t staged = lane_unit->staged;
    tz_rect rect;
    for (uint32_t i = 0; i < unit->count; i++) {
        if (!tz_rect_of(plan, unit, i, &rect))
            continue;
        uint64_t *at = &lane->pair_ends[rect.how->pair];
        *at = (uint64_t)(place_rect(run, lane, lane_unit, &rect, staged, entries + *at) - entries);
        staged += tz_rect_staged_pixels(&rect) + tz_rect_staged_mask(&rect);
    }
}

/* ---- decoding and differences ---- */

static const tz_device_target *how_of(const tz_device_run *run, const tz_lane_unit *unit)
{
    const tz_wave *wave = &run->plan->wave;
    return &run->dp->targets[wave->wanted[wave->units[unit->unit].first].target];
}

static bool is_decoded(const tz_lane_unit *unit)
{
    return unit->state == TZ_LANE_ROWS && unit->way == TZ_WAY_DEVICE;
}

/* Tiles of one codec have statuses that follow each other. */
static void number_statuses(const tz_device_run *run, tz_lane *lane)
{
    uint32_t first = 0;
    uint32_t numbers[TZ_DEVICE_CODECS];
    memset(lane->decode_counts, 0, sizeof lane->decode_counts);
    for (size_t i = 0; i < lane->unit_count; i++) {
        if (is_decoded(&lane->units[i]))
            lane->decode_counts[how_of(run, &lane->units[i])->codec]++;
    }
    for (uint32_t c = 0; c < TZ_DEVICE_CODECS; c++) {
        lane->first_status[c] = numbers[c] = first;
        first += lane->decode_counts[c];
    }
    for (size_t i = 0; i < lane->unit_count; i++) {
        if (is_decoded(&lane->units[i]))
            lane->units[i].status = numbers[how_of(run, &lane->units[i])->codec]++;
    }
}

static void add_decode(const tz_device_run *run, const tz_lane *lane, const tz_lane_unit *unit)
{
    const tz_plan *plan = run->plan;
    const tz_unit *planned = &plan->wave.units[unit->unit];
    const uint32_t codec = how_of(run, unit)->codec;
    tz_decode_entry *entries =
        (tz_decode_entry *)(void *)tz_lane_pinned(lane, lane->cut.layout.decodes[codec]);
    entries[unit->status - lane->first_status[codec]] =
        (tz_decode_entry){.from = unit->bytes,
                          .to = unit->rows,
                          .from_size = (uint32_t)plan->wave.wanted[planned->first].span.size,
                          .to_size = (uint32_t)tz_unit_decoded_bytes(plan, planned)};
}

static tz_unpredict_entry *add_undo(const tz_device_run *run, const tz_lane_unit *unit,
                                    tz_unpredict_entry *out)
{
    const tz_unit *planned = &run->plan->wave.units[unit->unit];
    const tz_device_target *how = how_of(run, unit);
    for (uint32_t row = planned->row0; how->has_undo && row < planned->row1;) {
        *out = how->undo;
        out->offset = unit->rows + (uint64_t)row * out->row_bytes;
        out->rows = tz_min_u32(TZ_UNPREDICT_MAX_ROWS, planned->row1 - row);
        row += out->rows;
        out++;
    }
    return out;
}

/* Units that failed meanwhile have no entries: what is left of the tables is not launched. */
void tz_lane_tables(const tz_device_run *run, tz_lane *lane)
{
    const tz_layout *l = &lane->cut.layout;
    const tz_device_plan *dp = run->dp;
    tz_unpredict_entry *undos = (tz_unpredict_entry *)(void *)tz_lane_pinned(lane, l->undos);
    tz_convert_entry *places = (tz_convert_entry *)(void *)tz_lane_pinned(lane, l->places);
    tz_unpredict_entry *undo = undos;
    memcpy(tz_lane_pinned(lane, l->formats), dp->formats, dp->format_count * sizeof *dp->formats);
    memcpy(tz_lane_pinned(lane, l->constants), dp->constants,
           dp->constant_count * sizeof *dp->constants);
    number_statuses(run, lane);
    count_places(run, lane);
    for (size_t i = 0; i < lane->unit_count; i++) {
        const tz_lane_unit *unit = &lane->units[i];
        if (!is_placed(unit))
            continue;
        if (is_decoded(unit))
            add_decode(run, lane, unit);
        if (unit->state == TZ_LANE_ROWS && unit->way != TZ_WAY_RAW)
            undo = add_undo(run, unit, undo);
        place_unit(run, lane, unit, places);
    }
    lane->undo_count = (uint64_t)(undo - undos);
}
