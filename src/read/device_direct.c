/* SPDX-License-Identifier: Apache-2.0 */
#include "read/device_direct.h"

#include "base/mem.h"
#include "device/device.h"
#include "device/device_text.h"
#include "io/source.h"
#include "read/device_plan.h"

/* Smaller reads are not worth it: they bring more of their pages than of themselves, and all of
 * them together are one upload. With this, what is read in vain is less than twice what is wanted.
 */
#define LEAST ((uint64_t)TZ_DIRECT_PAGE)
/* Reads that share pages grow together to this size. */
#define MOST ((uint64_t)1 << 20)

void tz_direct_reason(tz_device_use *use, const char *reason)
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

static uint64_t brought(const tz_direct_room *room)
{
    const uint64_t size = room->file->source->size;
    return (room->end < size ? room->end : size) - room->offset;
}

static bool shares_pages(const tz_direct_room *room, const tz_direct_file *file, uint64_t offset,
                         uint64_t end)
{
    return room->reads > 0 && room->file == file && offset >= room->offset && offset < room->end &&
           (end <= room->end || end - room->offset <= MOST);
}

uint64_t tz_direct_add(tz_direct_room *room, const tz_direct_file *file, const tz_span *span)
{
    const uint64_t offset = page_before(span->offset);
    const uint64_t end = page_after(tz_add_capped(span->offset, span->size));
    if (shares_pages(room, file, offset, end)) {
        room->read_bytes -= brought(room);
        room->end = end > room->end ? end : room->end;
    } else {
        room->file = file;
        room->offset = offset;
        room->end = end;
        room->at = room->bytes;
        room->reads++;
    }
    room->read_bytes += brought(room);
    room->bytes = tz_add_capped(room->at, room->end - room->offset);
    return room->at + (span->offset - room->offset);
}

/* ---- files ---- */

static bool takes_bytes(tz_way way)
{
    return way == TZ_WAY_RAW || way == TZ_WAY_DEVICE;
}

static const tz_device_target *target_of(const tz_plan *plan, const tz_span *fetch)
{
    const tz_wave *wave = &plan->wave;
    const tz_unit *unit = &wave->units[wave->pieces[fetch->first].index];
    return &plan->device->targets[wave->wanted[unit->first].target];
}

const tz_direct_file *tz_direct_file_of(const tz_plan *plan, const tz_span *fetch, bool by_cores)
{
    const tz_device_plan *dp = plan->device;
    const tz_device_target *how = target_of(plan, fetch);
    const bool is_direct =
        !by_cores && takes_bytes(how->way) && how->file > 0 && fetch->size >= LEAST;
    return is_direct ? &dp->files[how->file - 1] : NULL;
}

uint64_t tz_direct_bounced(const tz_plan *plan, const tz_span *fetch, bool by_cores)
{
    const bool counts =
        plan->device->has_files && !by_cores && takes_bytes(target_of(plan, fetch)->way);
    return counts && !tz_direct_file_of(plan, fetch, by_cores) ? fetch->size : 0;
}

static uint32_t find_file(const tz_device_plan *dp, const tz_source *source)
{
    uint32_t number = dp->file_count; /* that of the same source was added last, mostly */
    while (number > 0 && dp->files[number - 1].source != source)
        number--;
    return number;
}

/* A sample of the target's tiles. */
static bool is_cached(const tz_target *target)
{
    enum { SAMPLES = 8 };
    const tz_level *level = &target->layer.shape;
    const uint64_t across = target->tile_x1 - target->tile_x0;
    const uint64_t count = across * (target->tile_y1 - target->tile_y0);
    const uint64_t plane = target->planes ? target->planes[0] : 0;
    const uint64_t step = count > SAMPLES ? (count - 1) / (SAMPLES - 1) : 1;
    bool any = false;
    for (uint64_t i = 0; i < SAMPLES && i * step < count; i++) {
        const uint64_t row = target->tile_y0 + i * step / across;
        const uint64_t column = target->tile_x0 + i * step % across;
        const uint64_t tile = (plane * level->tiles_down + row) * level->tiles_across + column;
        tz_tile_span span;
        if (tz_layer_spans(target->file, target->level, &target->layer, tile, 1, &span, NULL) !=
            TZ_OK)
            return false; /* the read will say why */
        if (span.size > 0 && !tz_source_is_cached(tz_target_source(target), span.offset, span.size))
            return false;
        any = any || span.size > 0;
    }
    return any;
}

static tz_result open_file(tz_plan *plan, const tz_target *target, void **handle)
{
    tz_error err = {.result = TZ_OK};
    tz_source *source = tz_target_source(target);
    if (is_cached(target)) {
        tz_direct_reason(&plan->report.device,
                         "the file is in the page cache: the host's reads are faster");
        return TZ_OK;
    }
    const tz_result result =
        tz_device_open_file(plan->device->device, tz_source_descriptor(source), handle, &err);
    if (result == TZ_ERR_NOMEM)
        return tz_propagate_error(&plan->ctx, &err);
    if (result != TZ_OK)
        tz_direct_reason(&plan->report.device, err.message);
    return TZ_OK;
}

static tz_result add_file(tz_plan *plan, const tz_target *target, uint32_t *number)
{
    tz_device_plan *dp = plan->device;
    void *handle = NULL;
    if (dp->file_count == dp->file_room) {
        const uint32_t room = dp->file_room ? dp->file_room * 2 : 4;
        tz_direct_file *files = tz_realloc_array(dp->files, room, sizeof *files);
        if (!files)
            return tz_fail_nomem(&plan->ctx, room * sizeof *files);
        dp->files = files;
        dp->file_room = room;
    }
    TZ_TRY(open_file(plan, target, &handle));
    dp->has_files = dp->has_files || handle;
    dp->files[dp->file_count++] = (tz_direct_file){tz_target_source(target), handle};
    *number = dp->file_count;
    return TZ_OK;
}

/* A file that could not be opened is not tried again: its number is then 0 as well. */
static tz_result open_target(tz_plan *plan, const tz_target *target, tz_device_target *how)
{
    tz_source *source = tz_target_source(target);
    uint32_t number = find_file(plan->device, source);
    if (number == 0)
        TZ_TRY(add_file(plan, target, &number));
    how->file = plan->device->files[number - 1].handle ? number : 0;
    return TZ_OK;
}

static bool is_local(const tz_plan *plan, size_t i)
{
    return tz_source_descriptor(tz_target_source(&plan->targets[i])) >= 0;
}

static bool wants_bytes(const tz_plan *plan, size_t i)
{
    return plan->targets[i].unit_count > 0 && takes_bytes(plan->device->targets[i].way);
}

static bool has_way(tz_plan *plan)
{
    char name[32];
    char reason[sizeof plan->report.device.direct_reason];
    bool any = false;
    for (size_t i = 0; !any && i < plan->target_count; i++)
        any = wants_bytes(plan, i) && is_local(plan, i);
    if (!any)
        tz_direct_reason(&plan->report.device, "no tile for the device is in a local file");
    else if (!tz_device_find_files(plan->device->device, name, sizeof name, reason, sizeof reason))
        tz_direct_reason(&plan->report.device, reason);
    else
        return true;
    return false;
}

tz_result tz_direct_open(tz_plan *plan)
{
    tz_device_plan *dp = plan->device;
    if (!has_way(plan))
        return TZ_OK;
    for (size_t i = 0; i < plan->target_count; i++) {
        if (!wants_bytes(plan, i))
            continue;
        if (is_local(plan, i))
            TZ_TRY(open_target(plan, &plan->targets[i], &dp->targets[i]));
        else
            tz_direct_reason(&plan->report.device, "not all files are local");
    }
    return TZ_OK;
}

void tz_direct_close(tz_device_plan *dp)
{
    for (uint32_t i = 0; i < dp->file_count; i++)
        tz_device_close_file(dp->device, dp->files[i].handle);
    tz_free(dp->files);
}
