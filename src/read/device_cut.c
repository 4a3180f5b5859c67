/* SPDX-License-Identifier: Apache-2.0 */
#include "read/device_cut.h"

#include "base/mem.h"
#include "read/device_pictures.h"
#include "read/tile.h"

/* ---- units ---- */

static const tz_device_target *how_of(const tz_plan *plan, const tz_unit *unit, uint32_t index)
{
    return &plan->device->targets[plan->wave.wanted[unit->first + index].target];
}

tz_way tz_unit_way(const tz_plan *plan, const tz_unit *unit, bool by_cores)
{
    return by_cores ? TZ_WAY_CORES : how_of(plan, unit, 0)->way;
}

bool tz_way_keeps(tz_way way)
{
    return way == TZ_WAY_PICTURES || way == TZ_WAY_CORES;
}

bool tz_unit_on_host(const tz_plan *plan, const tz_unit *unit)
{
    for (uint32_t i = 0; i < unit->count; i++) {
        if (how_of(plan, unit, i)->on_device)
            return false;
    }
    return true;
}

/* ---- rectangles ---- */

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t sooner(uint64_t a, uint32_t b)
{
    return a < b ? (uint32_t)a : b;
}

bool tz_rect_of(const tz_plan *plan, const tz_unit *unit, uint32_t index, tz_rect *out)
{
    const tz_target *target = &plan->targets[plan->wave.wanted[unit->first + index].target];
    const tz_tile_origin tile = tz_unit_origin(plan, unit);
    const uint32_t x0 = later(tile.x, target->x0);
    const uint32_t x1 = sooner((uint64_t)tile.x + target->tile.width, target->x1);
    const uint32_t y0 = later(tile.y + unit->row0, target->y0);
    const uint32_t y1 = sooner((uint64_t)tile.y + unit->row1, target->y1);
    if (x0 >= x1 || y0 >= y1)
        return false;
    *out = (tz_rect){.target = target,
                     .how = how_of(plan, unit, index),
                     .x = x0 - tile.x,
                     .y = y0 - tile.y,
                     .columns = x1 - x0,
                     .rows = y1 - y0,
                     .column = (int64_t)x0 - target->column_shift,
                     .row = (int64_t)y0 - target->row_shift,
                     .plane = tile.plane};
    return true;
}

static bool wants_plane(const tz_target *target, uint32_t band, uint32_t plane)
{
    return (target->bands ? target->bands[band] : band) == plane;
}

uint32_t tz_rect_bands(const tz_rect *rect)
{
    const tz_target *target = rect->target;
    uint32_t count = 0;
    if (!target->to_mask && rect->how->whole && !target->planes)
        return 1;
    if (target->to_mask || !target->planes)
        return target->band_count;
    for (uint32_t i = 0; i < target->band_count; i++)
        count += wants_plane(target, i, rect->plane);
    return count;
}

uint32_t tz_rect_band(const tz_rect *rect, uint32_t index)
{
    const tz_target *target = rect->target;
    uint32_t band = 0;
    if (target->to_mask || !target->planes)
        return index;
    for (;; band++) {
        if (wants_plane(target, band, rect->plane) && index-- == 0)
            return band;
    }
}

uint32_t tz_rect_samples(const tz_rect *rect)
{
    const bool whole = !rect->target->to_mask && rect->how->whole;
    return rect->columns * (whole ? rect->target->row.samples : 1u);
}

uint64_t tz_place_pieces(uint32_t rows, uint32_t columns)
{
    const uint32_t across = tz_min_u32(columns, TZ_CONVERT_MAX_PIXELS);
    return tz_ceil_div(columns, across) * tz_ceil_div(rows, TZ_CONVERT_MAX_PIXELS / across);
}

static uint64_t round_up(uint64_t size)
{
    return tz_add_capped(size, 63) / 64 * 64;
}

uint64_t tz_rect_staged_pixels(const tz_rect *rect)
{
    const tz_target *target = rect->target;
    if (target->to_mask || !target->into.data)
        return 0;
    return round_up((uint64_t)tz_rect_bands(rect) * rect->rows * tz_rect_samples(rect) *
                    tz_dtype_size(target->into.dtype));
}

uint64_t tz_rect_staged_mask(const tz_rect *rect)
{
    const tz_target *target = rect->target;
    const uint64_t pixels = (uint64_t)tz_rect_bands(rect) * rect->rows * rect->columns;
    return target->mask.data ? round_up(pixels) : 0;
}

/* ---- what a wave needs ---- */

uint64_t tz_slab_part(uint64_t size)
{
    return round_up(tz_add_capped(size, TZ_CODEC_SLACK));
}

static void add_places(const tz_plan *plan, const tz_unit *unit, tz_need *need)
{
    tz_rect rect;
    for (uint32_t i = 0; i < unit->count; i++) {
        if (!tz_rect_of(plan, unit, i, &rect))
            continue;
        need->places += tz_rect_bands(&rect) * tz_place_pieces(rect.rows, tz_rect_samples(&rect));
        need->staged += tz_rect_staged_pixels(&rect) + tz_rect_staged_mask(&rect);
    }
}

static void add_unit(const tz_plan *plan, const tz_unit *unit, bool by_cores, tz_need *need)
{
    const tz_way way = tz_unit_way(plan, unit, by_cores);
    const tz_device_target *how = how_of(plan, unit, 0);
    need->units++;
    if (way == TZ_WAY_CORES && tz_unit_on_host(plan, unit))
        return;
    add_places(plan, unit, need);
    if (way == TZ_WAY_DEVICE) {
        const uint64_t decoded = tz_unit_decoded_bytes(plan, unit);
        tz_decode_need_add(&need->decodes[how->codec], plan->wave.wanted[unit->first].span.size,
                           decoded);
        need->rows += tz_slab_part(decoded);
    } else if (way == TZ_WAY_PICTURES) {
        tz_pictures_need(plan, unit, need);
    } else if (way == TZ_WAY_CORES) {
        need->given += tz_slab_part(tz_unit_rows_bytes(plan, unit));
    }
    if (how->has_undo && way != TZ_WAY_RAW)
        need->undos += tz_ceil_div(unit->row1 - unit->row0, TZ_UNPREDICT_MAX_ROWS);
}

static void add_fetch(const tz_plan *plan, const tz_span *fetch, const tz_work *work, tz_need *need)
{
    const bool by_cores = work->by_cores;
    const tz_indexed_range *pieces = &plan->wave.pieces[fetch->first];
    const tz_unit *first = &plan->wave.units[pieces[0].index];
    const uint64_t bytes = tz_slab_part(fetch->size);
    const tz_direct_file *file = tz_direct_file_of(plan, fetch, by_cores);
    need->fetches++;
    need->bounced += tz_direct_bounced(plan, fetch, by_cores);
    if (file)
        (void)tz_direct_add(&need->direct, file, fetch);
    else if (tz_way_keeps(tz_unit_way(plan, first, by_cores)))
        need->kept += work->at ? 0 : bytes;
    else
        need->input += bytes;
    for (size_t i = 0; i < fetch->count; i++)
        add_unit(plan, &plan->wave.units[pieces[i].index], by_cores, need);
}

static void add_empty(const tz_plan *plan, const tz_unit *unit, tz_need *need)
{
    need->units++;
    if (!tz_unit_on_host(plan, unit))
        add_places(plan, unit, need);
}

/* ---- where it lies ---- */

static uint64_t take(uint64_t *at, uint64_t size)
{
    const uint64_t first = *at;
    *at = tz_add_capped(first, round_up(size));
    return first;
}

tz_layout tz_layout_of(const tz_device_plan *dp, const tz_need *need)
{
    tz_layout l = {0};
    uint64_t at = 0;
    uint64_t decodes = 0;
    if (need->places > 0) {
        l.formats = take(&at, tz_mul_capped(dp->format_count, sizeof *dp->formats));
        l.constants = take(&at, tz_mul_capped(dp->constant_count, sizeof *dp->constants));
    }
    for (uint32_t i = 0; i < dp->codec_count; i++) {
        l.decodes[i] = take(&at, tz_mul_capped(need->decodes[i].count, sizeof(tz_decode_entry)));
        decodes += need->decodes[i].count;
    }
    l.undos = take(&at, tz_mul_capped(need->undos, sizeof(tz_unpredict_entry)));
    l.places = take(&at, tz_mul_capped(need->places, sizeof(tz_convert_entry)));
    l.input = take(&at, need->input);
    l.given = take(&at, need->given);
    l.spare = take(&at, need->spare);
    l.upload = at;
    l.direct = at;
    if (need->direct.bytes > 0) {
        l.direct = tz_add_capped(at, TZ_DIRECT_PAGE - 1) / TZ_DIRECT_PAGE * TZ_DIRECT_PAGE;
        at = tz_add_capped(l.direct, tz_slab_part(need->direct.bytes));
    }
    l.mirrored = at;
    l.statuses = take(&at, tz_mul_capped(decodes, sizeof(uint32_t)));
    l.staged = take(&at, need->staged);
    l.download = at - l.statuses;
    l.rows = take(&at, need->rows);
    for (uint32_t i = 0; i < dp->codec_count; i++)
        l.scratch[i] =
            take(&at, tz_decode_scratch_bytes(dp->device, dp->codecs[i], &need->decodes[i]));
    l.size.device = at;
    at = tz_add_capped(l.mirrored, l.download);
    l.kept = take(&at, need->kept);
    l.streams = take(&at, need->streams);
    l.size.pinned = at;
    return l;
}

/* ---- cutting ---- */

tz_work tz_work_of(const tz_plan *plan)
{
    return (tz_work){.fetches = plan->wave.fetches,
                     .fetch_count = plan->wave.fetch_count,
                     .empty = plan->wave.empty,
                     .empty_count = plan->wave.empty_count};
}

/* One more, unless it is too much and not the first. */
static bool grow(const tz_plan *plan, const tz_rooms *rooms, const tz_need *more, tz_cut *cut)
{
    const tz_layout layout = tz_layout_of(plan->device, more);
    const bool fits = layout.size.device <= rooms->device && layout.size.pinned <= rooms->pinned;
    if (!fits && cut->need.units > 0)
        return false;
    cut->need = *more;
    cut->layout = layout;
    return true;
}

bool tz_cut_next(const tz_plan *plan, tz_work *work, const tz_rooms *rooms, tz_cut *out)
{
    *out = (tz_cut){.fetch0 = work->fetch, .empty0 = work->empty_at};
    for (; work->fetch < work->fetch_count; work->fetch++) {
        tz_need more = out->need;
        add_fetch(plan, &work->fetches[work->fetch], work, &more);
        if (!grow(plan, rooms, &more, out))
            break;
    }
    for (; work->fetch == work->fetch_count && work->empty_at < work->empty_count;
         work->empty_at++) {
        tz_need more = out->need;
        add_empty(plan, &plan->wave.units[work->empty[work->empty_at]], &more);
        if (!grow(plan, rooms, &more, out))
            break;
    }
    out->fetch1 = work->fetch;
    out->empty1 = work->empty_at;
    return out->need.units > 0;
}
