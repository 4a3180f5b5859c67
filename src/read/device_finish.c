/* SPDX-License-Identifier: Apache-2.0
 * The end of a wave: what the device says of its tiles, and pixels for buffers of the host. */
#include <string.h>

#include "base/mem.h"
#include "read/device_lane.h"
#include "read/tile.h"

/* ---- pixels ---- */

static const uint8_t *came_down(const tz_lane *lane, uint64_t offset)
{
    const tz_layout *l = &lane->cut.layout;
    return tz_lane_pinned(lane, l->mirrored + (offset - l->statuses));
}

/* Rows of samples that lie packed, to where the buffer has them. */
static void copy_rows(const uint8_t *from, const tz_rect *rect, const tz_buffer *to, uint32_t band,
                      uint32_t count, size_t size, int64_t step)
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

static void copy_pixels(const tz_rect *rect, const uint8_t *from)
{
    const tz_target *target = rect->target;
    const tz_buffer *to = &target->into;
    const size_t size = tz_dtype_size(to->dtype);
    const uint32_t bands = tz_rect_bands(rect);
    const uint32_t samples = tz_rect_samples(rect);
    if (rect->how->has_pixels && !rect->how->whole) {
        copy_rows(from, rect, to, 0, samples * bands, size, (int64_t)size);
        return;
    }
    for (uint32_t i = 0; i < bands; i++, from += (size_t)rect->rows * samples * size)
        copy_rows(from, rect, to, tz_rect_band(rect, i), samples, size,
                  rect->how->whole ? (int64_t)size : to->column_stride);
}

static void copy_mask(const tz_rect *rect, const uint8_t *from)
{
    const tz_buffer *to = &rect->target->mask;
    const uint32_t bands = tz_rect_bands(rect);
    for (uint32_t i = 0; i < bands; i++, from += (size_t)rect->rows * rect->columns)
        copy_rows(from, rect, to, tz_rect_band(rect, i), rect->columns, 1, to->column_stride);
}

static void copy_unit(const tz_plan *plan, const tz_lane *lane, const tz_lane_unit *unit)
{
    const tz_unit *planned = &plan->wave.units[unit->unit];
    uint64_t at = unit->staged;
    tz_rect rect;
    for (uint32_t i = 0; i < planned->count; i++) {
        if (!tz_rect_of(plan, planned, i, &rect))
            continue;
        if (!rect.target->to_mask && rect.target->into.data)
            copy_pixels(&rect, came_down(lane, at));
        at += tz_rect_staged_pixels(&rect);
        if (rect.target->mask.data)
            copy_mask(&rect, came_down(lane, at));
        at += tz_rect_staged_mask(&rect);
    }
}

/* ---- tiles that the device could not decode ---- */

static uint32_t status_of(const tz_lane *lane, const tz_lane_unit *unit)
{
    uint32_t status = 0;
    if (unit->status != TZ_NO_STATUS)
        memcpy(&status, came_down(lane, lane->cut.layout.statuses + unit->status * sizeof status),
               sizeof status);
    return status;
}

static tz_result refuse(const tz_device_run *run, const tz_unit *unit, uint32_t status,
                        tz_error *err)
{
    const tz_target *target = tz_unit_target(run->plan, unit);
    const tz_wanted *wanted = &run->plan->wave.wanted[unit->first];
    tz_context ctx = tz_file_context(target->file, err);
    ctx.ifd = target->layer.shape.ifd;
    return tz_fail(&ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE,
                   tz_at_tile(target->level, wanted->tile, wanted->span.offset),
                   "the device could not decode the tile (status %u), and the cores are not to",
                   (unsigned)status);
}

/* The cores say what is wrong with it, and have its pixels where there are any. */
static tz_result do_again(tz_device_run *run, const tz_lane *lane, tz_worker *w, tz_lane_unit *unit,
                          tz_error *err)
{
    const tz_unit *planned = &run->plan->wave.units[unit->unit];
    uint8_t *bytes = tz_lane_pinned(lane, unit->bytes);
    if (run->plan->options.strict_device) {
        TZ_TRY(tz_tile_decode(run->plan, w, planned, bytes, w->output, err));
        return refuse(run, planned, status_of(lane, unit), err);
    }
    if (unit->on_host)
        return tz_tile_place(run->plan, w, planned, bytes, err);
    unit->state = TZ_LANE_AGAIN;
    return TZ_OK;
}

typedef struct lane_job {
    tz_device_run *run;
    tz_lane *lane;
} lane_job;

static tz_result finish_unit(tz_device_run *run, tz_lane *lane, tz_worker *w, tz_lane_unit *unit,
                             tz_error *err)
{
    if (unit->state == TZ_LANE_DONE)
        return TZ_OK;
    if (status_of(lane, unit) == 0) {
        copy_unit(run->plan, lane, unit);
        return TZ_OK;
    }
    atomic_fetch_add_explicit(&run->redone, 1, memory_order_relaxed);
    const tz_result result = do_again(run, lane, w, unit, err);
    if (result == TZ_OK)
        return TZ_OK;
    TZ_TRY(tz_lane_settle(run, w, unit, result, err));
    if (unit->state == TZ_LANE_MISSING)
        unit->state = TZ_LANE_AGAIN; /* its pixels are placed in the next round */
    return TZ_OK;
}

/* By read, as tiles that the cores decode may share bytes; and units without any, which have pixels
 * of the host only where others have them on the device. */
static tz_result finish_fetch(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    const lane_job *job = user;
    tz_lane *lane = job->lane;
    size_t first = lane->first_empty;
    size_t count = lane->unit_count - lane->first_empty;
    if (index < lane->fetch_count) {
        first = lane->fetches[index].first;
        count = lane->fetches[index].span.count;
    }
    for (size_t i = first; i < first + count; i++)
        TZ_TRY(finish_unit(job->run, lane, &job->run->workers[worker], &lane->units[i], err));
    return TZ_OK;
}

static bool is_all_well(const tz_lane *lane)
{
    for (size_t i = 0; i < lane->unit_count; i++) {
        if (lane->units[i].state != TZ_LANE_DONE && status_of(lane, &lane->units[i]) != 0)
            return false;
    }
    return true;
}

/* Brings down the bytes of tiles that the device could not decode and that went straight to it. */
static tz_result bring_back(tz_device_run *run, tz_lane *lane)
{
    const tz_wave *wave = &run->plan->wave;
    uint64_t first = UINT64_MAX;
    uint64_t end = 0;
    for (size_t i = 0; i < lane->unit_count; i++) {
        const tz_lane_unit *unit = &lane->units[i];
        if (!unit->is_direct || unit->state == TZ_LANE_DONE || status_of(lane, unit) == 0)
            continue;
        const uint64_t after = unit->bytes + wave->pieces[unit->piece].size;
        first = unit->bytes < first ? unit->bytes : first;
        end = after > end ? after : end;
    }
    return end > 0 ? tz_direct_bring_back(run, lane, first, end) : TZ_OK;
}

/* Lists the units that the CPU has to decode for device memory. Their bytes are in pinned memory,
 * where the next layout begins: they move to its end, all at once and as they lie. */
static void list_again(const tz_device_run *run, tz_lane *lane)
{
    const tz_wave *wave = &run->plan->wave;
    uint64_t first = UINT64_MAX;
    uint64_t end = 0;
    for (size_t i = 0; i < lane->unit_count; i++) {
        const tz_lane_unit *unit = &lane->units[i];
        const tz_indexed_range *piece = &wave->pieces[unit->piece];
        if (unit->state != TZ_LANE_AGAIN)
            continue;
        lane->again_at[lane->again_count] = unit->bytes;
        lane->again[lane->again_count++] = (tz_span){piece->offset, piece->size, unit->piece, 1};
        first = unit->bytes < first ? unit->bytes : first;
        end = tz_max(end, unit->bytes + piece->size);
    }
    if (lane->again_count == 0)
        return;
    const uint64_t shift = run->dp->lane.pinned - TZ_CODEC_SLACK - end;
    memmove(tz_lane_pinned(lane, first + shift), tz_lane_pinned(lane, first), end - first);
    lane->again_first = first + shift;
    for (size_t i = 0; i < lane->again_count; i++)
        lane->again_at[i] += shift;
}

static void count_decoded(tz_device_run *run, const tz_lane *lane)
{
    for (size_t i = 0; i < lane->unit_count; i++) {
        const tz_lane_unit *unit = &lane->units[i];
        const bool is_picture = unit->way == TZ_WAY_PICTURES && unit->state == TZ_LANE_ROWS;
        if (is_picture || (unit->status != TZ_NO_STATUS && status_of(lane, unit) == 0))
            run->use.tiles++;
    }
}

tz_result tz_lane_finish(tz_device_run *run, tz_lane *lane)
{
    lane_job job = {run, lane};
    lane->again_count = 0;
    if (!lane->is_busy)
        return TZ_OK;
    TZ_TRY(tz_device_sync(run->dp->device, lane->queue, run->plan->ctx.err));
    lane->is_busy = false;
    run->use.syncs++;
    count_decoded(run, lane);
    if (lane->cut.need.staged == 0 && is_all_well(lane))
        return TZ_OK;
    TZ_TRY(bring_back(run, lane));
    TZ_TRY(tz_lane_each(run, lane->fetch_count + 1, finish_fetch, &job));
    list_again(run, lane);
    return TZ_OK;
}
