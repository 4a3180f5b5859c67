/* SPDX-License-Identifier: Apache-2.0
 * Pixels of buffers in a device's memory that no tile fills: those outside of a level, and masks of
 * tiles that failed. */
#include "base/mem.h"
#include "read/device_lane.h"
#include "read/report.h"
#include "read/tile.h"

/* Entries are collected in the first lane's table, pair after pair, until it is full. */
typedef struct filler {
    tz_device_run *run;
    tz_lane *lane;
    tz_convert_entry *entries;
    uint32_t pair; /* whose entries are collected */
    uint64_t count;
    tz_result result;
} filler;

/* ---- the table ---- */

static void begin_table(filler *f)
{
    tz_lane *lane = f->lane;
    const tz_need need = {.places = f->run->dp->fill_places};
    lane->cut = (tz_cut){.need = need, .layout = tz_layout_of(f->run->dp, &need)};
    lane->upload = lane->cut.layout.spare;
    lane->unit_count = 0;
    tz_lane_tables(f->run, lane);
    f->entries = (tz_convert_entry *)(void *)tz_lane_pinned(lane, lane->cut.layout.places);
    f->pair = 0;
    f->count = 0;
}

static void end_pairs(filler *f, uint32_t end)
{
    for (; f->pair < end; f->pair++)
        f->lane->pair_ends[f->pair] = f->count;
}

static void flush(filler *f)
{
    tz_device_run *run = f->run;
    if (f->result != TZ_OK || f->count == 0)
        return;
    end_pairs(f, run->dp->pair_count);
    f->result = tz_lane_launch(run, f->lane);
    run->use.waves++;
    if (f->result == TZ_OK)
        f->result = tz_lane_finish(run, f->lane);
    begin_table(f);
}

static void add_entry(filler *f, uint32_t pair, const tz_convert_entry *entry)
{
    if (f->count == f->run->dp->fill_places || pair < f->pair)
        flush(f);
    if (f->result != TZ_OK)
        return;
    end_pairs(f, pair);
    f->entries[f->count++] = *entry;
}

/* ---- areas ---- */

/* An area of the buffers of a target that is not to be touched by a tile; with what, or only that
 * it is not valid. */
static void fill_area(filler *f, const tz_target *target, const tz_window *area, bool pixels)
{
    const tz_device_plan *dp = f->run->dp;
    const tz_device_target *how = &dp->targets[target - f->run->plan->targets];
    const tz_buffer *into = &target->into;
    const tz_buffer *mask = &target->mask;
    const uint32_t across = tz_min_u32(area->width, TZ_CONVERT_MAX_PIXELS);
    const uint32_t down = TZ_CONVERT_MAX_PIXELS / across;
    tz_convert_entry entry = {.format = how->copy, .status = TZ_NONE};
    if (pixels && !target->to_mask && into->memory)
        entry.flags |= TZ_CONVERT_INTO;
    if (mask->memory)
        entry.flags |= TZ_CONVERT_MASK | TZ_CONVERT_INVALID;
    entry.into_row = into->row_stride;
    entry.into_column = into->column_stride;
    entry.mask_row = mask->row_stride;
    entry.mask_column = mask->column_stride;
    for (uint32_t band = 0; entry.flags && band < target->band_count; band++) {
        const uint64_t constant = (uint64_t)how->fill + (target->scales ? band : 0);
        entry.from = f->lane->cut.layout.constants + constant * sizeof *dp->constants;
        for (uint32_t y = 0; y < area->height; y += entry.rows) {
            entry.rows = tz_min_u32(down, area->height - y);
            for (uint32_t x = 0; x < area->width; x += entry.columns) {
                const int64_t row = area->row + y;
                const int64_t column = area->column + x;
                entry.columns = tz_min_u32(across, area->width - x);
                entry.into = (int64_t)into->offset + band * into->band_stride +
                             row * into->row_stride + column * into->column_stride;
                entry.mask = (int64_t)mask->offset + band * mask->band_stride +
                             row * mask->row_stride + column * mask->column_stride;
                add_entry(f, how->pair, &entry);
            }
        }
    }
}

static void fill_if_any(filler *f, const tz_target *target, int64_t column, int64_t row,
                        int64_t width, int64_t height)
{
    const tz_window area = {column, row, (uint32_t)width, (uint32_t)height};
    if (width > 0 && height > 0)
        fill_area(f, target, &area, true);
}

static void fill_outside(filler *f, const tz_target *target)
{
    const int64_t width = target->into.width;
    const int64_t height = target->into.height;
    if (target->x0 == target->x1) {
        fill_if_any(f, target, 0, 0, width, height);
        return;
    }
    const int64_t left = (int64_t)target->x0 - target->column_shift;
    const int64_t right = (int64_t)target->x1 - target->column_shift;
    const int64_t top = (int64_t)target->y0 - target->row_shift;
    const int64_t bottom = (int64_t)target->y1 - target->row_shift;
    fill_if_any(f, target, 0, 0, width, top);
    fill_if_any(f, target, 0, bottom, width, height - bottom);
    fill_if_any(f, target, 0, top, left, bottom - top);
    fill_if_any(f, target, right, top, width - right, bottom - top);
}

static void mask_failed(void *user, const tz_target *target, const tz_target *mask, uint64_t tile)
{
    filler *f = user;
    tz_window part;
    if (mask->mask.data) {
        tz_target_mask_tile(target, mask, tile);
        return;
    }
    if (!tz_target_tile_part(target, tile, &part))
        return;
    part.column -= target->column_shift;
    part.row -= target->row_shift;
    fill_area(f, mask, &part, false);
}

tz_result tz_device_fill(tz_device_run *run)
{
    const tz_plan *plan = run->plan;
    const tz_device_plan *dp = run->dp;
    filler f = {.run = run, .lane = &run->lanes[0]};
    if (dp->on_device)
        begin_table(&f);
    for (uint32_t pair = 0; dp->fills && pair < dp->pair_count; pair++) {
        for (size_t i = 0; i < plan->target_count; i++) {
            if (dp->targets[i].pair == pair && dp->targets[i].on_device)
                fill_outside(&f, &plan->targets[i]);
        }
    }
    tz_plan_failed_tiles(plan, mask_failed, &f);
    flush(&f);
    return f.result;
}
