/* SPDX-License-Identifier: Apache-2.0 */
#include "read/gpu/gpu_batch.h"

#include "base/mem.h"
#include "read/gpu/gpu_codestreams.h"
#include "read/tile.h"

/* ---- units ---- */

static const tz_gpu_request *gpu_request_of(const tz_plan *plan, const tz_tile_read *tile_read,
                                            uint32_t index)
{
    return &plan->gpu->requests[plan->wave.wanted[tile_read->first + index].request];
}

tz_tile_route tz_gpu_fetch_route(const tz_plan *plan, const tz_span *fetch,
                                 const tz_gpu_cursor *cursor)
{
    return cursor->by_cpu ? TZ_ROUTE_CPU
                          : tz_tile_read_route(plan, tz_fetch_tile_read(&plan->wave, fetch, 0));
}

bool tz_route_stays_on_host(tz_tile_route route)
{
    return route == TZ_ROUTE_CODESTREAMS || route == TZ_ROUTE_CPU;
}

bool tz_tile_read_is_for_host(const tz_plan *plan, const tz_tile_read *tile_read)
{
    for (uint32_t i = 0; i < tile_read->count; i++) {
        if (gpu_request_of(plan, tile_read, i)->on_device)
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

bool tz_gpu_rect_make(const tz_plan *plan, const tz_tile_read *tile_read, uint32_t index,
                      tz_gpu_rect *out)
{
    const tz_planned_request *request =
        &plan->requests[plan->wave.wanted[tile_read->first + index].request];
    const tz_tile_origin tile = tz_tile_read_origin(&plan->wave, tile_read);
    const uint32_t x0 = later(tile.x, request->x0);
    const uint32_t x1 = sooner((uint64_t)tile.x + request->tile.width, request->x1);
    const uint32_t y0 = later(tile.y + tile_read->row0, request->y0);
    const uint32_t y1 = sooner((uint64_t)tile.y + tile_read->row1, request->y1);
    if (x0 >= x1 || y0 >= y1)
        return false;
    *out = (tz_gpu_rect){.request = request,
                         .how = gpu_request_of(plan, tile_read, index),
                         .x = x0 - tile.x,
                         .y = y0 - tile.y,
                         .columns = x1 - x0,
                         .rows = y1 - y0,
                         .column = (int64_t)x0 - request->column_shift,
                         .row = (int64_t)y0 - request->row_shift,
                         .plane = tile.plane};
    return true;
}

static bool wants_plane(const tz_planned_request *request, uint32_t band, uint32_t plane)
{
    return (request->bands ? request->bands[band] : band) == plane;
}

uint32_t tz_gpu_rect_bands(const tz_gpu_rect *rect)
{
    const tz_planned_request *request = rect->request;
    uint32_t count = 0;
    if (!request->to_mask && rect->how->copies_rows && !request->planes)
        return 1;
    if (request->to_mask || !request->planes)
        return request->band_count;
    for (uint32_t i = 0; i < request->band_count; i++)
        count += wants_plane(request, i, rect->plane);
    return count;
}

uint32_t tz_gpu_rect_band(const tz_gpu_rect *rect, uint32_t index)
{
    const tz_planned_request *request = rect->request;
    uint32_t band = 0;
    if (request->to_mask || !request->planes)
        return index;
    for (;; band++) {
        if (wants_plane(request, band, rect->plane) && index-- == 0)
            return band;
    }
}

uint32_t tz_gpu_rect_samples(const tz_gpu_rect *rect)
{
    const bool whole = !rect->request->to_mask && rect->how->copies_rows;
    return rect->columns * (whole ? rect->request->row.samples : 1u);
}

uint64_t tz_gpu_entry_count(uint32_t rows, uint32_t columns)
{
    const uint32_t across = tz_min_u32(columns, TZ_CONVERT_MAX_PIXELS);
    return tz_ceil_div(columns, across) * tz_ceil_div(rows, TZ_CONVERT_MAX_PIXELS / across);
}

static uint64_t align_to_64(uint64_t size)
{
    return tz_add_capped(size, 63) / 64 * 64;
}

uint64_t tz_gpu_rect_staged_pixels(const tz_gpu_rect *rect)
{
    const tz_planned_request *request = rect->request;
    if (request->to_mask || !request->into.data)
        return 0;
    return align_to_64((uint64_t)tz_gpu_rect_bands(rect) * rect->rows * tz_gpu_rect_samples(rect) *
                       tz_dtype_size(request->into.dtype));
}

uint64_t tz_gpu_rect_staged_mask(const tz_gpu_rect *rect)
{
    const tz_planned_request *request = rect->request;
    const uint64_t pixels = (uint64_t)tz_gpu_rect_bands(rect) * rect->rows * rect->columns;
    return request->mask.data ? align_to_64(pixels) : 0;
}

/* ---- what a wave needs ---- */

uint64_t tz_gpu_slab_bytes(uint64_t size)
{
    return align_to_64(tz_add_capped(size, TZ_CODEC_SLACK));
}

static void add_conversion_need(const tz_plan *plan, const tz_tile_read *tile_read,
                                tz_gpu_need *need)
{
    tz_gpu_rect rect;
    for (uint32_t i = 0; i < tile_read->count; i++) {
        if (!tz_gpu_rect_make(plan, tile_read, i, &rect))
            continue;
        need->conversions +=
            tz_gpu_rect_bands(&rect) * tz_gpu_entry_count(rect.rows, tz_gpu_rect_samples(&rect));
        need->staged += tz_gpu_rect_staged_pixels(&rect) + tz_gpu_rect_staged_mask(&rect);
    }
}

static void add_tile_need(const tz_plan *plan, const tz_tile_read *tile_read, tz_tile_route route,
                          tz_gpu_need *need)
{
    const tz_gpu_request *how = gpu_request_of(plan, tile_read, 0);
    need->tile_reads++;
    if (route == TZ_ROUTE_CPU && tz_tile_read_is_for_host(plan, tile_read))
        return;
    add_conversion_need(plan, tile_read, need);
    if (route == TZ_ROUTE_DEVICE) {
        const uint64_t decoded = tz_tile_read_decoded_bytes(plan, tile_read);
        tz_decode_need_add(&need->decodes[how->codec],
                           tz_tile_read_wanted(&plan->wave, tile_read, 0)->span.size, decoded);
        need->rows += tz_gpu_slab_bytes(decoded);
    } else if (route == TZ_ROUTE_CODESTREAMS) {
        tz_gpu_codestreams_add_need(plan, tile_read, need);
    } else if (route == TZ_ROUTE_CPU) {
        need->cpu_rows += tz_gpu_slab_bytes(tz_tile_read_rows_bytes(plan, tile_read));
    }
    if (how->has_unpredict && route != TZ_ROUTE_RAW)
        need->unpredicts += tz_ceil_div(tile_read->row1 - tile_read->row0, TZ_UNPREDICT_MAX_ROWS);
}

static void add_fetch_need(const tz_plan *plan, const tz_span *fetch, const tz_gpu_cursor *cursor,
                           tz_gpu_need *need)
{
    const tz_tile_route route = tz_gpu_fetch_route(plan, fetch, cursor);
    const uint64_t bytes = tz_gpu_slab_bytes(fetch->size);
    const tz_direct_file *file = tz_direct_file_of(plan, fetch, route);
    need->fetches++;
    need->bounced += tz_direct_bounced(plan, fetch, route);
    if (file)
        (void)tz_direct_space_add(&need->direct, file, fetch);
    else if (tz_route_stays_on_host(route))
        need->host_input += cursor->at ? 0 : bytes;
    else
        need->input += bytes;
    for (size_t i = 0; i < fetch->count; i++)
        add_tile_need(plan, tz_fetch_tile_read(&plan->wave, fetch, i), route, need);
}

static void add_empty_need(const tz_plan *plan, const tz_tile_read *tile_read, tz_gpu_need *need)
{
    need->tile_reads++;
    if (!tz_tile_read_is_for_host(plan, tile_read))
        add_conversion_need(plan, tile_read, need);
}

/* ---- where it lies ---- */

static uint64_t reserve_slab(uint64_t *at, uint64_t size)
{
    const uint64_t first = *at;
    *at = tz_add_capped(first, align_to_64(size));
    return first;
}

tz_gpu_layout tz_gpu_layout_make(const tz_gpu_plan *gpu, const tz_gpu_need *need)
{
    tz_gpu_layout l = {0};
    uint64_t at = 0;
    uint64_t decodes = 0;
    if (need->conversions > 0) {
        l.formats = reserve_slab(&at, tz_mul_capped(gpu->format_count, sizeof *gpu->formats));
        l.constants = reserve_slab(&at, tz_mul_capped(gpu->constant_count, sizeof *gpu->constants));
    }
    for (uint32_t i = 0; i < gpu->codec_count; i++) {
        l.decodes[i] =
            reserve_slab(&at, tz_mul_capped(need->decodes[i].count, sizeof(tz_decode_entry)));
        decodes += need->decodes[i].count;
    }
    l.unpredicts = reserve_slab(&at, tz_mul_capped(need->unpredicts, sizeof(tz_unpredict_entry)));
    l.conversions = reserve_slab(&at, tz_mul_capped(need->conversions, sizeof(tz_convert_entry)));
    l.input = reserve_slab(&at, need->input);
    l.cpu_rows = reserve_slab(&at, need->cpu_rows);
    l.spare_rows = reserve_slab(&at, need->spare_rows);
    l.upload = at;
    l.direct = at;
    if (need->direct.bytes > 0) {
        l.direct = tz_add_capped(at, TZ_DIRECT_PAGE - 1) / TZ_DIRECT_PAGE * TZ_DIRECT_PAGE;
        at = tz_add_capped(l.direct, tz_gpu_slab_bytes(need->direct.bytes));
    }
    l.mirrored = at;
    l.statuses = reserve_slab(&at, tz_mul_capped(decodes, sizeof(uint32_t)));
    l.staged = reserve_slab(&at, need->staged);
    l.download = at - l.statuses;
    l.rows = reserve_slab(&at, need->rows);
    for (uint32_t i = 0; i < gpu->codec_count; i++)
        l.scratch[i] = reserve_slab(
            &at, tz_decode_scratch_bytes(gpu->device, gpu->codecs[i], &need->decodes[i]));
    l.size.device = at;
    at = tz_add_capped(l.mirrored, l.download);
    l.host_input = reserve_slab(&at, need->host_input);
    l.streams = reserve_slab(&at, need->streams);
    l.size.pinned = at;
    return l;
}

/* ---- cutting ---- */

tz_gpu_cursor tz_gpu_cursor_of_wave(const tz_plan *plan)
{
    return (tz_gpu_cursor){.fetches = plan->wave.fetches,
                           .fetch_count = plan->wave.fetch_count,
                           .empty = plan->wave.empty,
                           .empty_count = plan->wave.empty_count};
}

/* One more, unless it is too much and not the first. */
static bool extend_batch(const tz_plan *plan, const tz_gpu_sizes *budget, const tz_gpu_need *more,
                         tz_gpu_batch *batch)
{
    const tz_gpu_layout layout = tz_gpu_layout_make(plan->gpu, more);
    const bool fits = layout.size.device <= budget->device && layout.size.pinned <= budget->pinned;
    if (!fits && batch->need.tile_reads > 0)
        return false;
    batch->need = *more;
    batch->layout = layout;
    return true;
}

bool tz_gpu_batch_next(const tz_plan *plan, tz_gpu_cursor *cursor, const tz_gpu_sizes *budget,
                       tz_gpu_batch *out)
{
    *out = (tz_gpu_batch){.fetch0 = cursor->fetch, .empty0 = cursor->empty_at};
    for (; cursor->fetch < cursor->fetch_count; cursor->fetch++) {
        tz_gpu_need more = out->need;
        add_fetch_need(plan, &cursor->fetches[cursor->fetch], cursor, &more);
        if (!extend_batch(plan, budget, &more, out))
            break;
    }
    for (; cursor->fetch == cursor->fetch_count && cursor->empty_at < cursor->empty_count;
         cursor->empty_at++) {
        tz_gpu_need more = out->need;
        add_empty_need(plan, &plan->wave.tile_reads[cursor->empty[cursor->empty_at]], &more);
        if (!extend_batch(plan, budget, &more, out))
            break;
    }
    out->fetch1 = cursor->fetch;
    out->empty1 = cursor->empty_at;
    return out->need.tile_reads > 0;
}
