/* SPDX-License-Identifier: Apache-2.0
 * Pixels of buffers in a device's memory that no tile fills: those outside of a level, and masks of
 * tiles that failed. */
#include "base/mem.h"
#include "read/gpu/gpu_slot.h"
#include "read/read_report.h"
#include "read/tile.h"

/* Entries are collected in the first lane's table, pair after pair, until it is full. */
typedef struct filler {
    tz_gpu_run *run;
    tz_gpu_slot *slot;
    tz_convert_entry *entries;
    uint32_t pair; /* whose entries are collected */
    uint64_t count;
    tz_result result;
} filler;

/* ---- the table ---- */

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

static void end_pairs(filler *f, uint32_t end)
{
    for (; f->pair < end; f->pair++)
        f->slot->pair_ends[f->pair] = f->count;
}

static void flush_entries(filler *f)
{
    tz_gpu_run *run = f->run;
    if (f->result != TZ_OK || f->count == 0)
        return;
    end_pairs(f, run->gpu->pair_count);
    f->result = tz_gpu_batch_launch(run, f->slot);
    run->use.waves++;
    if (f->result == TZ_OK)
        f->result = tz_gpu_batch_finish(run, f->slot);
    begin_table(f);
}

static void add_fill_entry(filler *f, uint32_t pair, const tz_convert_entry *entry)
{
    if (f->count == f->run->gpu->fill_capacity || pair < f->pair)
        flush_entries(f);
    if (f->result != TZ_OK)
        return;
    end_pairs(f, pair);
    f->entries[f->count++] = *entry;
}

/* ---- areas ---- */

/* An area of the buffers of a target that is not to be touched by a tile; with what, or only that
 * it is not valid. */
static void fill_area(filler *f, const tz_planned_request *request, const tz_window *area,
                      bool pixels)
{
    const tz_gpu_plan *gpu = f->run->gpu;
    const tz_gpu_request *how = &gpu->requests[request - f->run->plan->requests];
    const tz_buffer *into = &request->into;
    const tz_buffer *mask = &request->mask;
    const uint32_t across = tz_min_u32(area->width, TZ_CONVERT_MAX_PIXELS);
    const uint32_t down = TZ_CONVERT_MAX_PIXELS / across;
    tz_convert_entry entry = {.format = how->copy, .status = TZ_NONE};
    if (pixels && !request->to_mask && into->memory)
        entry.flags |= TZ_CONVERT_INTO;
    if (mask->memory)
        entry.flags |= TZ_CONVERT_MASK | TZ_CONVERT_INVALID;
    entry.into_row = into->row_stride;
    entry.into_column = into->column_stride;
    entry.mask_row = mask->row_stride;
    entry.mask_column = mask->column_stride;
    for (uint32_t band = 0; entry.flags && band < request->band_count; band++) {
        const uint64_t constant = (uint64_t)how->fill + (request->scales ? band : 0);
        entry.from = f->slot->batch.layout.constants + constant * sizeof *gpu->constants;
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
                add_fill_entry(f, how->pair, &entry);
            }
        }
    }
}

static void fill_if_any(filler *f, const tz_planned_request *request, int64_t column, int64_t row,
                        int64_t width, int64_t height)
{
    const tz_window area = {column, row, (uint32_t)width, (uint32_t)height};
    if (width > 0 && height > 0)
        fill_area(f, request, &area, true);
}

static void fill_outside_level(filler *f, const tz_planned_request *request)
{
    const int64_t width = request->into.width;
    const int64_t height = request->into.height;
    if (request->x0 == request->x1) {
        fill_if_any(f, request, 0, 0, width, height);
        return;
    }
    const int64_t left = (int64_t)request->x0 - request->column_shift;
    const int64_t right = (int64_t)request->x1 - request->column_shift;
    const int64_t top = (int64_t)request->y0 - request->row_shift;
    const int64_t bottom = (int64_t)request->y1 - request->row_shift;
    fill_if_any(f, request, 0, 0, width, top);
    fill_if_any(f, request, 0, bottom, width, height - bottom);
    fill_if_any(f, request, 0, top, left, bottom - top);
    fill_if_any(f, request, right, top, width - right, bottom - top);
}

static void mask_failed_on_gpu(void *user, const tz_planned_request *request,
                               const tz_planned_request *mask, uint64_t tile)
{
    filler *f = user;
    tz_window window;
    if (mask->mask.data) {
        tz_planned_request_mask_tile(request, mask, tile);
        return;
    }
    if (!tz_planned_request_tile_window(request, tile, &window))
        return;
    window.column -= request->column_shift;
    window.row -= request->row_shift;
    fill_area(f, mask, &window, false);
}

tz_result tz_gpu_fill_untiled(tz_gpu_run *run)
{
    const tz_plan *plan = run->plan;
    const tz_gpu_plan *gpu = run->gpu;
    filler f = {.run = run, .slot = &run->slots[0]};
    if (gpu->on_device)
        begin_table(&f);
    for (uint32_t pair = 0; gpu->fills && pair < gpu->pair_count; pair++) {
        for (size_t i = 0; i < plan->request_count; i++) {
            if (gpu->requests[i].pair == pair && gpu->requests[i].on_device)
                fill_outside_level(&f, &plan->requests[i]);
        }
    }
    tz_plan_visit_failed_tiles(plan, mask_failed_on_gpu, &f);
    flush_entries(&f);
    return f.result;
}
