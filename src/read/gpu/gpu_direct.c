/* SPDX-License-Identifier: Apache-2.0 */
#include "read/gpu/gpu_direct.h"

#include "base/mem.h"
#include "device/device.h"
#include "device/device_text.h"
#include "io/source.h"
#include "read/gpu/gpu_plan.h"

/* Smaller reads are not worth it: they bring more of their pages than of themselves, and all of
 * them together are one upload. With this, what is read in vain is less than twice what is wanted.
 */
#define MIN_DIRECT_BYTES ((uint64_t)TZ_DIRECT_PAGE)
/* Reads that share pages grow together to this size. */
#define MAX_DIRECT_BYTES ((uint64_t)1 << 20)

void tz_direct_note_reason(tz_device_use *use, const char *reason)
{
    if (!use->direct_reason[0])
        tz_device_text(use->direct_reason, sizeof use->direct_reason, reason);
}

/* ---- places ---- */

static uint64_t page_before(uint64_t offset)
{
    return offset / TZ_DIRECT_PAGE * TZ_DIRECT_PAGE;
}

static uint64_t page_after(uint64_t offset)
{
    return tz_add_capped(offset, TZ_DIRECT_PAGE - 1) / TZ_DIRECT_PAGE * TZ_DIRECT_PAGE;
}

static uint64_t direct_read_bytes(const tz_direct_space *space)
{
    const uint64_t size = space->file->source->size;
    return (space->end < size ? space->end : size) - space->offset;
}

static bool shares_pages(const tz_direct_space *space, const tz_direct_file *file, uint64_t offset,
                         uint64_t end)
{
    return space->reads > 0 && space->file == file && offset >= space->offset &&
           offset < space->end && (end <= space->end || end - space->offset <= MAX_DIRECT_BYTES);
}

uint64_t tz_direct_space_add(tz_direct_space *space, const tz_direct_file *file,
                             const tz_span *span)
{
    const uint64_t offset = page_before(span->offset);
    const uint64_t end = page_after(tz_add_capped(span->offset, span->size));
    if (shares_pages(space, file, offset, end)) {
        space->read_bytes -= direct_read_bytes(space);
        space->end = end > space->end ? end : space->end;
    } else {
        space->file = file;
        space->offset = offset;
        space->end = end;
        space->at = space->bytes;
        space->reads++;
    }
    space->read_bytes += direct_read_bytes(space);
    space->bytes = tz_add_capped(space->at, space->end - space->offset);
    return space->at + (span->offset - space->offset);
}

/* ---- files ---- */

static bool sends_bytes(tz_tile_route route)
{
    return route == TZ_ROUTE_RAW || route == TZ_ROUTE_DEVICE;
}

static const tz_gpu_request *gpu_request_of_fetch(const tz_plan *plan, const tz_span *fetch)
{
    const tz_wave *wave = &plan->wave;
    const tz_tile_read *tile_read = &wave->tile_reads[wave->ranges[fetch->first].index];
    return &plan->gpu->requests[wave->wanted[tile_read->first].request];
}

const tz_direct_file *tz_direct_file_of(const tz_plan *plan, const tz_span *fetch,
                                        tz_tile_route route)
{
    const tz_gpu_plan *gpu = plan->gpu;
    const tz_gpu_request *how = gpu_request_of_fetch(plan, fetch);
    const bool is_direct = sends_bytes(route) && how->file > 0 && fetch->size >= MIN_DIRECT_BYTES;
    return is_direct ? &gpu->files[how->file - 1] : NULL;
}

uint64_t tz_direct_bounced(const tz_plan *plan, const tz_span *fetch, tz_tile_route route)
{
    const bool counts = plan->gpu->has_files && sends_bytes(route);
    return counts && !tz_direct_file_of(plan, fetch, route) ? fetch->size : 0;
}

static uint32_t find_direct_file(const tz_gpu_plan *gpu, const tz_source *source)
{
    uint32_t number = gpu->file_count; /* that of the same source was added last, mostly */
    while (number > 0 && gpu->files[number - 1].source != source)
        number--;
    return number;
}

/* A sample of the target's tiles. */
static bool is_request_cached(const tz_planned_request *request)
{
    enum { SAMPLES = 8 };
    const tz_level *level = &request->layer.shape;
    const uint64_t across = request->tile_x1 - request->tile_x0;
    const uint64_t count = across * (request->tile_y1 - request->tile_y0);
    const uint64_t plane = request->planes ? request->planes[0] : 0;
    const uint64_t step = count > SAMPLES ? (count - 1) / (SAMPLES - 1) : 1;
    bool any = false;
    for (uint64_t i = 0; i < SAMPLES && i * step < count; i++) {
        const uint64_t row = request->tile_y0 + i * step / across;
        const uint64_t column = request->tile_x0 + i * step % across;
        const uint64_t tile = (plane * level->tiles_down + row) * level->tiles_across + column;
        tz_tile_span span;
        if (tz_layer_spans(request->file, request->level, &request->layer, tile, 1, &span, NULL) !=
            TZ_OK)
            return false; /* the read will say why */
        if (span.size > 0 &&
            !tz_source_is_cached(tz_planned_request_source(request), span.offset, span.size))
            return false;
        any = any || span.size > 0;
    }
    return any;
}

static tz_result open_direct_file(tz_plan *plan, const tz_planned_request *request, void **handle)
{
    tz_error err = {.result = TZ_OK};
    tz_source *source = tz_planned_request_source(request);
    if (is_request_cached(request)) {
        tz_direct_note_reason(&plan->report.device,
                              "the file is in the page cache: the host's reads are faster");
        return TZ_OK;
    }
    const tz_result result =
        tz_device_open_file(plan->gpu->device, tz_source_descriptor(source), handle, &err);
    if (result == TZ_ERR_NOMEM)
        return tz_propagate_error(&plan->ctx, &err);
    if (result != TZ_OK)
        tz_direct_note_reason(&plan->report.device, err.message);
    return TZ_OK;
}

static tz_result add_direct_file(tz_plan *plan, const tz_planned_request *request, uint32_t *number)
{
    tz_gpu_plan *gpu = plan->gpu;
    void *handle = NULL;
    if (gpu->file_count == gpu->file_capacity) {
        const uint32_t space = gpu->file_capacity ? gpu->file_capacity * 2 : 4;
        tz_direct_file *files = tz_realloc_array(gpu->files, space, sizeof *files);
        if (!files)
            return tz_fail_nomem(&plan->ctx, space * sizeof *files);
        gpu->files = files;
        gpu->file_capacity = space;
    }
    TZ_TRY(open_direct_file(plan, request, &handle));
    gpu->has_files = gpu->has_files || handle;
    gpu->files[gpu->file_count++] = (tz_direct_file){tz_planned_request_source(request), handle};
    *number = gpu->file_count;
    return TZ_OK;
}

/* A file that could not be opened is not tried again: its number is then 0 as well. */
static tz_result open_request_file(tz_plan *plan, const tz_planned_request *request,
                                   tz_gpu_request *how)
{
    tz_source *source = tz_planned_request_source(request);
    uint32_t number = find_direct_file(plan->gpu, source);
    if (number == 0)
        TZ_TRY(add_direct_file(plan, request, &number));
    how->file = plan->gpu->files[number - 1].handle ? number : 0;
    return TZ_OK;
}

static bool is_local(const tz_plan *plan, size_t i)
{
    return tz_source_descriptor(tz_planned_request_source(&plan->requests[i])) >= 0;
}

static bool wants_bytes(const tz_plan *plan, size_t i)
{
    return plan->requests[i].tile_read_count > 0 && sends_bytes(plan->gpu->requests[i].route);
}

static bool can_read_directly(tz_plan *plan)
{
    char name[32];
    char reason[sizeof plan->report.device.direct_reason];
    bool any = false;
    for (size_t i = 0; !any && i < plan->request_count; i++)
        any = wants_bytes(plan, i) && is_local(plan, i);
    if (!any)
        tz_direct_note_reason(&plan->report.device, "no tile for the device is in a local file");
    else if (!tz_device_find_files(plan->gpu->device, name, sizeof name, reason, sizeof reason))
        tz_direct_note_reason(&plan->report.device, reason);
    else
        return true;
    return false;
}

tz_result tz_direct_open(tz_plan *plan)
{
    tz_gpu_plan *gpu = plan->gpu;
    if (!can_read_directly(plan))
        return TZ_OK;
    for (size_t i = 0; i < plan->request_count; i++) {
        if (!wants_bytes(plan, i))
            continue;
        if (is_local(plan, i))
            TZ_TRY(open_request_file(plan, &plan->requests[i], &gpu->requests[i]));
        else
            tz_direct_note_reason(&plan->report.device, "not all files are local");
    }
    return TZ_OK;
}

void tz_direct_close(tz_gpu_plan *gpu)
{
    for (uint32_t i = 0; i < gpu->file_count; i++)
        tz_device_close_file(gpu->device, gpu->files[i].handle);
    tz_free(gpu->files);
}
