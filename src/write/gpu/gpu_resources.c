/* SPDX-License-Identifier: Apache-2.0
 * What a write on a device holds: all of it is taken before the first tile, but for slabs of rows
 * that may never come. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "device/device_text.h"
#include "write/writer.h"

/* ---- opening ---- */

/* What the caller's source of rows is shown is memory that all libraries take. */
static tz_result open_allocation(tz_writer *w, int which, bool exposed_to_source)
{
    const uint64_t size = w->budget.device.sizes[which];
    tz_device_memory **out = &w->gpu.allocations[which];
    return exposed_to_source ? tz_device_alloc(w->device, size, out, w->ctx.err)
                             : tz_device_alloc_own(w->device, size, out, w->ctx.err);
}

static tz_result open_allocations(tz_writer *w, bool exposed_to_source)
{
    const tz_gpu_budget *plan = &w->budget.device;
    tz_gpu_resources *gpu = &w->gpu;
    TZ_TRY(tz_gpu_budget_admit(plan, w->ctx.err));
    for (int i = 0; i < TZ_ALLOCATIONS; i++) {
        if (plan->sizes[i] == 0)
            continue;
        TZ_TRY(open_allocation(w, i, exposed_to_source && i == TZ_ALLOCATION_ROWS));
        gpu->held_bytes += plan->sizes[i];
    }
    return TZ_OK;
}

static tz_result open_overview_memory(tz_writer *w, uint32_t level)
{
    const tz_gpu_level_offsets *at = &w->budget.device.levels[level];
    const tz_output_level *l = &w->pyramid.levels[level];
    tz_device_memory *memory = w->gpu.allocations[TZ_ALLOCATION_LEVELS];
    w->levels[level].slabs[0] = (tz_slab){.device = memory, .offset = at->slab};
    for (int i = 0; i < 2; i++)
        w->levels[level - 1].halo[i].slab = (tz_slab){.device = memory, .offset = at->halo[i]};
    return tz_overview_builder_make(&w->gpu.reducers[level], &l->overview, l->image.tile_height,
                                    memory, at->reducer, w->ctx.err);
}

static tz_result open_tile_batch(tz_writer *w, tz_gpu_tile_batch *tiles)
{
    const tz_gpu_budget *plan = &w->budget.device;
    const uint64_t results = plan->layout.results_end - plan->layout.sizes;
    TZ_TRY(tz_device_alloc_pinned(w->device, results + tz_gpu_budget_payload_bytes(plan),
                                  &tiles->memory, w->ctx.err));
    tiles->numbers = tz_alloc_array(plan->batch_tiles, sizeof *tiles->numbers);
    return tiles->numbers ? TZ_OK
                          : tz_fail_nomem(&w->ctx, plan->batch_tiles * sizeof *tiles->numbers);
}

tz_result tz_gpu_resources_open(tz_writer *w, bool exposed_to_source)
{
    tz_gpu_resources *gpu = &w->gpu;
    TZ_TRY(open_allocations(w, exposed_to_source));
    for (uint32_t i = 1; i < w->pyramid.count; i++)
        TZ_TRY(open_overview_memory(w, i));
    TZ_TRY(tz_device_alloc_pinned(w->device, w->budget.device.layout.tables_end, &gpu->tables,
                                  w->ctx.err));
    for (int i = 0; i < 2; i++)
        TZ_TRY(open_tile_batch(w, &gpu->tiles[i]));
    return tz_gpu_codestreams_open(w);
}

/* ---- closing ---- */

/* Whatever went wrong: nothing of the host's may be released while it is still read or written. */
static void wait_for_device(tz_writer *w)
{
    const tz_gpu_resources *gpu = &w->gpu;
    const bool busy =
        gpu->in_flight || gpu->uploading[0] || gpu->uploading[1] || w->state == TZ_WRITER_FAILED;
    if (busy && gpu->allocations[TZ_ALLOCATION_ROWS])
        (void)tz_device_sync(gpu->allocations[TZ_ALLOCATION_ROWS]->device, 0, NULL);
}

void tz_gpu_resources_close(tz_writer *w)
{
    tz_gpu_resources *gpu = &w->gpu;
    wait_for_device(w);
    gpu->in_flight = false;
    for (int i = 0; i < TZ_MAX_OUTPUT_LEVELS; i++) {
        tz_overview_builder_free(gpu->reducers[i]);
        gpu->reducers[i] = NULL;
    }
    for (int i = 0; i < 2; i++) {
        if (gpu->pinned[i])
            w->levels[0].slabs[i].memory = NULL;
        tz_device_free(gpu->pinned[i]);
        tz_device_free(gpu->tiles[i].memory);
        tz_free(gpu->tiles[i].numbers);
        gpu->pinned[i] = gpu->tiles[i].memory = NULL;
        gpu->tiles[i].numbers = NULL;
    }
    tz_gpu_codestreams_close(w);
    tz_device_free(gpu->tables);
    gpu->tables = NULL;
    for (int i = 0; i < TZ_ALLOCATIONS; i++) {
        tz_device_free(gpu->allocations[i]);
        gpu->allocations[i] = NULL;
    }
}

void tz_gpu_writer_abandon(tz_writer *w, const char *reason)
{
    tz_gpu_resources_close(w);
    w->gpu.held_bytes = 0;
    for (uint32_t i = 1; w->levels && i < w->pyramid.count; i++) {
        w->levels[i].slabs[0] = (tz_slab){0};
        w->levels[i - 1].halo[0].slab = w->levels[i - 1].halo[1].slab = (tz_slab){0};
    }
    w->device = NULL;
    tz_device_text(w->report.device.reason, sizeof w->report.device.reason, reason);
}

/* ---- what it cost ---- */

void tz_gpu_writer_count_begin(tz_writer *w)
{
    tz_device *device = w->pyramid.count > 0 ? tz_writer_image(w)->options.device : NULL;
    if (device)
        tz_device_get_counts(device, &w->gpu.before, NULL);
}

void tz_gpu_writer_count_end(tz_writer *w)
{
    tz_device *device = tz_writer_image(w)->options.device;
    const tz_device_counts *before = &w->gpu.before;
    tz_device_use *use = &w->gpu.counted;
    tz_device_counts now;
    if (!device)
        return;
    tz_device_get_counts(device, &now, NULL);
    use->uploads += now.uploads - before->uploads;
    use->upload_bytes += now.upload_bytes - before->upload_bytes;
    use->downloads += now.downloads - before->downloads;
    use->download_bytes += now.download_bytes - before->download_bytes;
    use->launches += now.launches - before->launches;
    use->syncs += now.syncs - before->syncs;
}

/* Those of the mask are encoded by the cores. */
static void add_tile_counts(const tz_image *image, tz_device_use *use)
{
    use->tiles += image->tile_count;
    use->tiles_by_cores += tz_all_tiles(image) - image->tile_count;
}

void tz_gpu_writer_report(tz_writer *w)
{
    const tz_gpu_resources *gpu = &w->gpu;
    tz_device_use *use = &w->report.device;
    tz_device_use counted = gpu->counted;
    memcpy(counted.reason, use->reason, sizeof counted.reason);
    if (!counted.library_reason[0])
        memcpy(counted.library_reason, use->library_reason, sizeof counted.library_reason);
    *use = counted;
    use->peak = gpu->held_bytes;
    use->memory = w->device ? w->budget.device.planned : gpu->held_bytes;
    if (!w->device)
        return;
    (void)snprintf(use->id, sizeof use->id, "%s", tz_device_get_info(w->device)->id);
    use->waves = gpu->batches;
    use->tiles_redone = atomic_load(&gpu->tiles_redone);
    for (uint32_t i = 0; i < w->pyramid.count; i++)
        add_tile_counts(&w->pyramid.levels[i].image, use);
    use->tiles -= use->tiles_redone;
}

/* Rows of the host go up once, tables once a batch; results and tiles come down. */
void tz_gpu_writer_report_plan(tz_writer *w)
{
    const tz_gpu_budget *plan = &w->budget.device;
    const tz_image *image = tz_writer_image(w);
    tz_device_use *use = &w->report.device;
    if (!w->device)
        return;
    (void)snprintf(use->id, sizeof use->id, "%s", tz_device_get_info(w->device)->id);
    use->memory = plan->planned;
    for (uint32_t i = 0; i < w->pyramid.count; i++) {
        const tz_image *level = &w->pyramid.levels[i].image;
        use->waves += tz_ceil_div(tz_all_tiles(level), plan->batch_tiles);
        add_tile_counts(level, use);
    }
    use->uploads = w->report.swaths + use->waves;
    use->upload_bytes =
        tz_mul_capped(tz_mul_capped(image->spec.width, image->spec.height), w->budget.pixel);
    use->downloads = 2 * use->waves;
    use->syncs = 2 * use->waves;
}
