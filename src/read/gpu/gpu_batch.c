/* SPDX-License-Identifier: Apache-2.0
 * Forms batches of a wave and assigns the offsets of their data.
 *
 * tz_gpu_batch_next adds fetch after fetch, then tile reads without data, and lays the sum out
 * after each, until the layout exceeds the budget. tz_gpu_batch_lay_out gives each fetch and tile
 * read of the batch its offsets in that layout.
 *
 * The first is used for planning and for running, with the same answers: the plan knows every batch
 * before one is begun. The decision that is not obvious: both walk the batch in the same order and
 * add the same sizes, so that the second needs no list of offsets from the first. Sizes therefore
 * come from the functions of this file only. */
#include "read/gpu/gpu_batch.h"

#include "base/mem.h"

static uint64_t align_to_64(uint64_t size)
{
    return tz_add_capped(size, 63) / 64 * 64;
}

uint64_t tz_gpu_slab_bytes(uint64_t size)
{
    return align_to_64(tz_add_capped(size, TZ_CODEC_SLACK));
}

/* ---- the part of a tile read that one request wants ---- */

bool tz_tile_read_is_for_host(const tz_plan *plan, const tz_tile_read *tile_read)
{
    for (uint32_t i = 0; i < tile_read->count; i++) {
        if (tz_gpu_request_of(plan, tile_read, i)->on_device)
            return false;
    }
    return true;
}

static bool wants_plane(const tz_planned_request *request, uint32_t band, uint32_t plane)
{
    return (request->bands ? request->bands[band] : band) == plane;
}

bool tz_gpu_rect_make(const tz_plan *plan, const tz_tile_read *tile_read, uint32_t index,
                      tz_gpu_rect *out)
{
    const tz_planned_request *request = tz_tile_read_request(&plan->wave, tile_read, index);
    const tz_gpu_request *how = tz_gpu_request_of(plan, tile_read, index);
    const tz_tile_origin tile = tz_tile_read_origin(&plan->wave, tile_read);
    const uint32_t x0 = tz_max_u32(tile.x, request->x0);
    const uint32_t x1 = (uint32_t)tz_min((uint64_t)tile.x + request->tile.width, request->x1);
    const uint32_t y0 = tz_max_u32(tile.y + tile_read->row0, request->y0);
    const uint32_t y1 = (uint32_t)tz_min((uint64_t)tile.y + tile_read->row1, request->y1);
    const bool copies_rows = !request->to_mask && how->copies_rows;
    if (x0 >= x1 || y0 >= y1)
        return false;
    *out = (tz_gpu_rect){.request = request,
                         .how = how,
                         .x = x0 - tile.x,
                         .y = y0 - tile.y,
                         .columns = x1 - x0,
                         .rows = y1 - y0,
                         .column = (int64_t)x0 - request->column_shift,
                         .row = (int64_t)y0 - request->row_shift,
                         .plane = tile.plane,
                         .samples = (x1 - x0) * (copies_rows ? request->row.samples : 1u)};
    if (request->to_mask || !request->planes)
        out->bands = copies_rows ? 1 : request->band_count;
    for (uint32_t i = 0; !request->to_mask && request->planes && i < request->band_count; i++)
        out->bands += wants_plane(request, i, tile.plane);
    if (!request->to_mask && request->into.data)
        out->staged_pixels = align_to_64((uint64_t)out->bands * out->rows * out->samples *
                                         tz_dtype_size(request->into.dtype));
    if (request->mask.data)
        out->staged_mask = align_to_64((uint64_t)out->bands * out->rows * out->columns);
    return true;
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

uint64_t tz_gpu_rect_entries(const tz_gpu_rect *rect)
{
    const uint32_t across = tz_min_u32(rect->samples, TZ_CONVERT_MAX_PIXELS);
    return rect->bands * (tz_ceil_div(rect->samples, across) *
                          tz_ceil_div(rect->rows, TZ_CONVERT_MAX_PIXELS / across));
}

/* ---- needs ---- */

static void add_conversion_need(const tz_plan *plan, const tz_tile_read *tile_read,
                                tz_gpu_need *need)
{
    tz_gpu_rect rect;
    for (uint32_t i = 0; i < tile_read->count; i++) {
        if (!tz_gpu_rect_make(plan, tile_read, i, &rect))
            continue;
        need->conversions += tz_gpu_rect_entries(&rect);
        need->staged += rect.staged_pixels + rect.staged_mask;
    }
}

/* The route of all tiles of a fetch, which are of one layer. */
static tz_tile_route fetch_route(const tz_plan *plan, const tz_gpu_cursor *cursor,
                                 const tz_span *fetch)
{
    return cursor->by_cpu ? TZ_ROUTE_CPU
                          : tz_tile_read_route(plan, tz_fetch_tile_read(&plan->wave, fetch, 0));
}

/* Adds one fetch and its tile reads. A tile that the CPU decodes for the host needs no memory of
 * the device. One for a library may turn out to be the CPU's: it needs memory for both routes. */
static void add_fetch_need(const tz_plan *plan, const tz_gpu_cursor *cursor, const tz_span *fetch,
                           tz_gpu_need *need)
{
    const tz_tile_route route = fetch_route(plan, cursor, fetch);
    const tz_direct_file *file = tz_direct_file_of(plan, fetch, route);
    const uint64_t bytes = tz_gpu_slab_bytes(fetch->size);
    need->fetches++;
    need->tile_reads += fetch->count;
    if (file)
        (void)tz_direct_space_add(&need->direct, file, fetch);
    else if (tz_route_stays_on_host(route))
        need->host_input += cursor->at ? 0 : bytes;
    else
        need->input += bytes;
    if (!file && !tz_route_stays_on_host(route) && plan->gpu->has_files)
        need->bounced += fetch->size; /* the device could read it from another file, or if larger */
    for (size_t i = 0; i < fetch->count; i++) {
        const tz_tile_read *tile_read = tz_fetch_tile_read(&plan->wave, fetch, i);
        const tz_gpu_request *how = tz_gpu_request_of(plan, tile_read, 0);
        const bool is_for_host = tz_tile_read_is_for_host(plan, tile_read);
        if (route == TZ_ROUTE_CPU && is_for_host)
            continue;
        add_conversion_need(plan, tile_read, need);
        if (route == TZ_ROUTE_DEVICE || route == TZ_ROUTE_CODESTREAMS) {
            const uint64_t decoded = tz_tile_read_decoded_bytes(plan, tile_read);
            need->rows += tz_gpu_slab_bytes(decoded);
            if (route == TZ_ROUTE_DEVICE)
                tz_decode_need_add(&need->decodes[how->codec],
                                   tz_tile_read_wanted(&plan->wave, tile_read, 0)->span.size,
                                   decoded);
        }
        const uint64_t rows = tz_gpu_slab_bytes(tz_tile_read_rows_bytes(plan, tile_read));
        if (route == TZ_ROUTE_CODESTREAMS) {
            need->codestreams++;
            need->streams += tz_gpu_codestream_bytes(plan, tile_read);
            need->spare_rows += is_for_host ? 0 : rows;
        }
        need->cpu_rows += route == TZ_ROUTE_CPU ? rows : 0;
        if (how->has_unpredict && route != TZ_ROUTE_RAW)
            need->unpredicts +=
                tz_ceil_div(tile_read->row1 - tile_read->row0, TZ_UNPREDICT_MAX_ROWS);
    }
}

/* ---- layouts ---- */

static uint64_t reserve_slab(uint64_t *at, uint64_t size)
{
    const uint64_t first = *at;
    *at = tz_add_capped(first, align_to_64(size));
    return first;
}

/* The order of the parts matters. All that is uploaded comes first and is one run of bytes, with
 * the spare rows at its end, of which only the used ones are sent. Direct reads follow, at a page.
 * All that is downloaded is one run, too. Rows and scratch exist in the slab only, so pinned memory
 * goes on with other data there. Sizes are capped, not checked: a sum that overflows exceeds any
 * budget. */
tz_gpu_layout tz_gpu_layout_make(const tz_gpu_plan *gpu, const tz_gpu_need *need)
{
    tz_gpu_layout l = {0};
    uint64_t at = 0;
    uint64_t decodes = 0;
    if (need->conversions > 0) {
        l.formats = reserve_slab(&at, tz_mul_capped(gpu->formats.count, sizeof(tz_convert_format)));
        l.constants =
            reserve_slab(&at, tz_mul_capped(gpu->constants.count, sizeof(tz_gpu_constant)));
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

/* ---- forming batches ---- */

tz_gpu_cursor tz_gpu_cursor_of_wave(const tz_plan *plan)
{
    return (tz_gpu_cursor){.fetches = plan->wave.fetches,
                           .fetch_count = plan->wave.fetch_count,
                           .empty = plan->wave.empty,
                           .empty_count = plan->wave.empty_count};
}

/* Makes the need that of the batch. Fails if it exceeds the budget, unless the batch is empty. */
static bool extend_batch(const tz_plan *plan, const tz_gpu_sizes *budget, const tz_gpu_need *need,
                         tz_gpu_batch *batch)
{
    const tz_gpu_layout layout = tz_gpu_layout_make(plan->gpu, need);
    const bool fits = layout.size.device <= budget->device && layout.size.pinned <= budget->pinned;
    if (!fits && batch->need.tile_reads > 0)
        return false;
    batch->need = *need;
    batch->layout = layout;
    return true;
}

bool tz_gpu_batch_next(const tz_plan *plan, tz_gpu_cursor *cursor, const tz_gpu_sizes *budget,
                       tz_gpu_batch *out)
{
    *out = (tz_gpu_batch){.fetch0 = cursor->fetch, .empty0 = cursor->empty_at};
    for (; cursor->fetch < cursor->fetch_count; cursor->fetch++) {
        tz_gpu_need need = out->need;
        add_fetch_need(plan, cursor, &cursor->fetches[cursor->fetch], &need);
        if (!extend_batch(plan, budget, &need, out))
            break;
    }
    for (; cursor->fetch == cursor->fetch_count && cursor->empty_at < cursor->empty_count;
         cursor->empty_at++) {
        const tz_tile_read *tile_read = &plan->wave.tile_reads[cursor->empty[cursor->empty_at]];
        tz_gpu_need need = out->need;
        need.tile_reads++;
        if (!tz_tile_read_is_for_host(plan, tile_read))
            add_conversion_need(plan, tile_read, &need);
        if (!extend_batch(plan, budget, &need, out))
            break;
    }
    out->fetch1 = cursor->fetch;
    out->empty1 = cursor->empty_at;
    return out->need.tile_reads > 0;
}

/* ---- offsets of a batch ---- */

/* The next free offset of each kind of data. */
typedef struct slab_offsets {
    uint64_t input, host_input, cpu_rows, rows, staged, streams;
    tz_direct_space direct;
} slab_offsets;

/* Sizes were checked when the batch was formed: this cannot overflow. */
static uint64_t advance_offset(uint64_t *at, uint64_t size)
{
    const uint64_t first = *at;
    *at += size;
    return first;
}

/* Bytes of a tile read that are downloaded for buffers in host memory. */
static uint64_t staged_bytes(const tz_plan *plan, const tz_tile_read *tile_read)
{
    uint64_t bytes = 0;
    tz_gpu_rect rect;
    for (uint32_t i = 0; i < tile_read->count; i++) {
        if (tz_gpu_rect_make(plan, tile_read, i, &rect))
            bytes += rect.staged_pixels + rect.staged_mask;
    }
    return bytes;
}

/* States and offsets of the batch before are gone: slots are used again and again. */
static tz_gpu_tile_read *add_tile_read(const tz_plan *plan, tz_gpu_slot *slot, size_t number)
{
    tz_gpu_tile_read *out = &slot->tile_reads[slot->tile_read_count++];
    *out = (tz_gpu_tile_read){.tile_read = (uint32_t)number,
                              .state = TZ_GPU_TILE_ROWS,
                              .on_host =
                                  tz_tile_read_is_for_host(plan, &plan->wave.tile_reads[number]),
                              .status = TZ_GPU_NO_STATUS};
    return out;
}

/* The bytes of a fetch are in pinned memory already, or the device reads them into the slab, or the
 * host reads them: to the part of pinned memory that is uploaded, unless the CPU or a library
 * decodes them. Rows of a tile that nobody decodes are its bytes. */
static void lay_out_fetch(const tz_plan *plan, tz_gpu_slot *slot, const tz_gpu_cursor *cursor,
                          size_t index, slab_offsets *at)
{
    const tz_span *span = &cursor->fetches[index];
    const tz_tile_route route = fetch_route(plan, cursor, span);
    const tz_tile_read *first = tz_fetch_tile_read(&plan->wave, span, 0);
    const tz_planned_request *request = tz_tile_read_request(&plan->wave, first, 0);
    const tz_direct_file *file = tz_direct_file_of(plan, span, route);
    tz_gpu_fetch *fetch = &slot->fetches[slot->fetch_count++];
    *fetch = (tz_gpu_fetch){.span = *span,
                            .source = tz_planned_request_source(request),
                            .route = route,
                            .is_direct = file != NULL,
                            .first = slot->tile_read_count};
    if (cursor->at) {
        fetch->at = cursor->at[index];
    } else if (file) {
        const uint64_t base = slot->batch.layout.direct;
        fetch->at = base + tz_direct_space_add(&at->direct, file, span);
        slot->read_count = (size_t)at->direct.reads;
        fetch->read = slot->read_count - 1;
        slot->reads[fetch->read] = (tz_direct_read){.file = file->handle,
                                                    .offset = at->direct.offset,
                                                    .to = base + at->direct.at,
                                                    .size = at->direct.end - at->direct.offset};
    } else {
        fetch->at = advance_offset(tz_route_stays_on_host(route) ? &at->host_input : &at->input,
                                   tz_gpu_slab_bytes(span->size));
    }
    for (size_t range = span->first; range < span->first + span->count; range++) {
        const tz_indexed_range *stored = &plan->wave.ranges[range];
        const tz_tile_read *tile_read = &plan->wave.tile_reads[stored->index];
        tz_gpu_tile_read *out = add_tile_read(plan, slot, stored->index);
        out->range = (uint32_t)range;
        out->route = route;
        out->is_direct = fetch->is_direct;
        out->bytes = fetch->at + (stored->offset - span->offset);
        out->rows = out->bytes;
        if (route == TZ_ROUTE_CPU && out->on_host)
            continue;
        if (route == TZ_ROUTE_DEVICE || route == TZ_ROUTE_CODESTREAMS)
            out->rows = advance_offset(
                &at->rows, tz_gpu_slab_bytes(tz_tile_read_decoded_bytes(plan, tile_read)));
        else if (route == TZ_ROUTE_CPU)
            out->rows = advance_offset(&at->cpu_rows,
                                       tz_gpu_slab_bytes(tz_tile_read_rows_bytes(plan, tile_read)));
        out->staged = advance_offset(&at->staged, staged_bytes(plan, tile_read));
        if (route == TZ_ROUTE_CODESTREAMS)
            out->stream = advance_offset(&at->streams, tz_gpu_codestream_bytes(plan, tile_read));
    }
}

void tz_gpu_batch_lay_out(const tz_plan *plan, tz_gpu_slot *slot, const tz_gpu_cursor *cursor)
{
    const tz_gpu_batch *batch = &slot->batch;
    slab_offsets at = {.input = batch->layout.input,
                       .host_input = batch->layout.host_input,
                       .cpu_rows = batch->layout.cpu_rows,
                       .rows = batch->layout.rows,
                       .staged = batch->layout.staged,
                       .streams = batch->layout.streams};
    slot->upload = batch->layout.spare_rows;
    slot->tile_read_count = 0;
    slot->fetch_count = 0;
    slot->read_count = 0;
    for (size_t i = batch->fetch0; i < batch->fetch1; i++)
        lay_out_fetch(plan, slot, cursor, i, &at);
    slot->first_empty = slot->tile_read_count;
    for (size_t i = batch->empty0; i < batch->empty1; i++) {
        tz_gpu_tile_read *tile_read = add_tile_read(plan, slot, cursor->empty[i]);
        if (!tile_read->on_host)
            tile_read->staged = advance_offset(
                &at.staged, staged_bytes(plan, tz_gpu_planned_tile_read(plan, tile_read)));
    }
}

/* ---- memory of a slot ---- */

/* Tile reads of a batch that its list of codestreams has to hold. */
static size_t max_codestreams(const tz_gpu_plan *gpu)
{
    return gpu->library_count > 0 ? gpu->max_tile_reads : 0;
}

uint64_t tz_gpu_slot_host_bytes(const tz_gpu_plan *gpu)
{
    const uint64_t tile_read = sizeof(tz_gpu_tile_read) + sizeof(tz_span) + sizeof(uint64_t);
    const uint64_t fetch =
        sizeof(tz_gpu_fetch) + sizeof(tz_range) + sizeof(tz_request) + sizeof(bool);
    return gpu->max_tile_reads * tile_read + gpu->max_fetches * fetch +
           gpu->max_reads * sizeof(tz_direct_read) + gpu->pairs.count * sizeof(uint64_t) +
           tz_mul_capped(max_codestreams(gpu), sizeof(tz_codestream));
}

/* Allocates the largest batch that was planned, before the first runs. The lists are the
 * host's own: kernels see the tables in the slab only. */
tz_result tz_gpu_slot_init(tz_gpu_run *run, tz_gpu_slot *slot, uint32_t queue)
{
    const tz_gpu_plan *gpu = run->gpu;
    const size_t codestreams = max_codestreams(gpu);
    tz_error *err = run->plan->ctx.err;
    slot->queue = queue;
    slot->tile_reads = tz_alloc_array(gpu->max_tile_reads, sizeof *slot->tile_reads);
    slot->redo = tz_alloc_array(gpu->max_tile_reads, sizeof *slot->redo);
    slot->redo_offsets = tz_alloc_array(gpu->max_tile_reads, sizeof *slot->redo_offsets);
    slot->fetches = tz_alloc_array(gpu->max_fetches, sizeof *slot->fetches);
    slot->reads = tz_alloc_array(gpu->max_reads, sizeof *slot->reads);
    slot->ranges = tz_alloc_array(gpu->max_fetches, sizeof *slot->ranges);
    slot->source_requests = tz_alloc_array(gpu->max_fetches, sizeof *slot->source_requests);
    slot->is_read = tz_alloc_array(gpu->max_fetches, sizeof *slot->is_read);
    slot->pair_ends = tz_alloc_array(gpu->pairs.count, sizeof *slot->pair_ends);
    if (codestreams > 0)
        slot->codestreams = tz_alloc_array(codestreams, sizeof *slot->codestreams);
    if (!slot->tile_reads || !slot->redo || !slot->redo_offsets || !slot->fetches || !slot->reads ||
        !slot->ranges || !slot->source_requests || !slot->is_read || !slot->pair_ends ||
        (codestreams > 0 && !slot->codestreams))
        return tz_fail_nomem(&run->plan->ctx, tz_gpu_slot_host_bytes(gpu));
    if (gpu->max_reads > 0)
        TZ_TRY(tz_direct_alloc(run, slot));
    else if (gpu->slot_size.device > 0)
        TZ_TRY(tz_device_alloc_own(gpu->device, gpu->slot_size.device, &slot->slab, err));
    run->use.peak += gpu->slot_size.device;
    if (gpu->slot_size.pinned > 0)
        TZ_TRY(tz_device_alloc_pinned(gpu->device, gpu->slot_size.pinned, &slot->pinned, err));
    return TZ_OK;
}

void tz_gpu_slot_deinit(tz_gpu_run *run, tz_gpu_slot *slot)
{
    if (slot->reading)
        (void)tz_device_end_reads(run->gpu->device, slot->reading, NULL);
    if (slot->is_busy)
        (void)tz_device_sync(run->gpu->device, slot->queue, NULL);
    tz_device_memory_free(slot->slab);
    tz_device_memory_free(slot->pinned);
    tz_free(slot->codestreams);
    tz_free(slot->tile_reads);
    tz_free(slot->redo);
    tz_free(slot->redo_offsets);
    tz_free(slot->fetches);
    tz_free(slot->reads);
    tz_free(slot->ranges);
    tz_free(slot->source_requests);
    tz_free(slot->is_read);
    tz_free(slot->pair_ends);
}
