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
static tz_result open_piece(tz_writer *w, int piece, bool is_shown)
{
    const uint64_t size = w->budget.device.sizes[piece];
    tz_device_memory **out = &w->means.pieces[piece];
    return is_shown ? tz_device_alloc(w->device, size, out, w->ctx.err)
                    : tz_device_alloc_own(w->device, size, out, w->ctx.err);
}

static tz_result open_pieces(tz_writer *w, bool shows_rows)
{
    const tz_device_budget *plan = &w->budget.device;
    tz_device_means *means = &w->means;
    TZ_TRY(tz_device_budget_admit(plan, w->ctx.err));
    for (int i = 0; i < TZ_PIECES; i++) {
        if (plan->sizes[i] == 0)
            continue;
        TZ_TRY(open_piece(w, i, shows_rows && i == TZ_PIECE_ROWS));
        means->held += plan->sizes[i];
    }
    return TZ_OK;
}

static tz_result open_level(tz_writer *w, uint32_t level)
{
    const tz_device_level *at = &w->budget.device.levels[level];
    const tz_pyramid_level *l = &w->pyramid.levels[level];
    tz_device_memory *memory = w->means.pieces[TZ_PIECE_LEVELS];
    w->levels[level].slabs[0] = (tz_slab){.device = memory, .offset = at->slab};
    for (int i = 0; i < 2; i++)
        w->levels[level - 1].kept[i].slab = (tz_slab){.device = memory, .offset = at->kept[i]};
    return tz_overview_builder_make(&w->means.reducers[level], &l->reduction, l->image.tile_height,
                                    memory, at->reducer, w->ctx.err);
}

static tz_result open_tiles(tz_writer *w, tz_device_tiles *tiles)
{
    const tz_device_budget *plan = &w->budget.device;
    const uint64_t results = plan->at.results_end - plan->at.sizes;
    TZ_TRY(tz_device_alloc_pinned(w->device, results + tz_device_payload_bytes(plan),
                                  &tiles->memory, w->ctx.err));
    tiles->numbers = tz_alloc_array(plan->batch_tiles, sizeof *tiles->numbers);
    return tiles->numbers ? TZ_OK
                          : tz_fail_nomem(&w->ctx, plan->batch_tiles * sizeof *tiles->numbers);
}

tz_result tz_device_means_open(tz_writer *w, bool shows_rows)
{
    tz_device_means *means = &w->means;
    TZ_TRY(open_pieces(w, shows_rows));
    for (uint32_t i = 1; i < w->pyramid.count; i++)
        TZ_TRY(open_level(w, i));
    TZ_TRY(tz_device_alloc_pinned(w->device, w->budget.device.at.tables_end, &means->tables,
                                  w->ctx.err));
    for (int i = 0; i < 2; i++)
        TZ_TRY(open_tiles(w, &means->tiles[i]));
    return tz_pictures_open(w);
}

/* ---- closing ---- */

/* Whatever went wrong: nothing of the host's may be released while it is still read or written. */
static void wait_for_all(tz_writer *w)
{
    const tz_device_means *means = &w->means;
    const bool busy = means->under_way || means->uploading[0] || means->uploading[1] ||
                      w->state == TZ_WRITER_FAILED;
    if (busy && means->pieces[TZ_PIECE_ROWS])
        (void)tz_device_sync(means->pieces[TZ_PIECE_ROWS]->device, 0, NULL);
}

void tz_device_means_close(tz_writer *w)
{
    tz_device_means *means = &w->means;
    wait_for_all(w);
    means->under_way = false;
    for (int i = 0; i < TZ_MOST_LEVELS; i++) {
        tz_overview_builder_free(means->reducers[i]);
        means->reducers[i] = NULL;
    }
    for (int i = 0; i < 2; i++) {
        if (means->pinned[i])
            w->levels[0].slabs[i].memory = NULL;
        tz_device_free(means->pinned[i]);
        tz_device_free(means->tiles[i].memory);
        tz_free(means->tiles[i].numbers);
        means->pinned[i] = means->tiles[i].memory = NULL;
        means->tiles[i].numbers = NULL;
    }
    tz_pictures_close(w);
    tz_device_free(means->tables);
    means->tables = NULL;
    for (int i = 0; i < TZ_PIECES; i++) {
        tz_device_free(means->pieces[i]);
        means->pieces[i] = NULL;
    }
}

void tz_device_leave(tz_writer *w, const char *reason)
{
    tz_device_means_close(w);
    w->means.held = 0;
    for (uint32_t i = 1; w->levels && i < w->pyramid.count; i++) {
        w->levels[i].slabs[0] = (tz_slab){0};
        w->levels[i - 1].kept[0].slab = w->levels[i - 1].kept[1].slab = (tz_slab){0};
    }
    w->device = NULL;
    tz_device_text(w->report.device.reason, sizeof w->report.device.reason, reason);
}

/* ---- what it cost ---- */

void tz_device_count_begin(tz_writer *w)
{
    tz_device *device = w->pyramid.count > 0 ? tz_writer_image(w)->options.device : NULL;
    if (device)
        tz_device_get_counts(device, &w->means.before, NULL);
}

void tz_device_count_end(tz_writer *w)
{
    tz_device *device = tz_writer_image(w)->options.device;
    const tz_device_counts *before = &w->means.before;
    tz_device_use *use = &w->means.counted;
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
static void count_tiles(const tz_image *image, tz_device_use *use)
{
    use->tiles += image->tile_count;
    use->tiles_by_cores += tz_all_tiles(image) - image->tile_count;
}

void tz_device_report(tz_writer *w)
{
    const tz_device_means *means = &w->means;
    tz_device_use *use = &w->report.device;
    tz_device_use counted = means->counted;
    memcpy(counted.reason, use->reason, sizeof counted.reason);
    if (!counted.library_reason[0])
        memcpy(counted.library_reason, use->library_reason, sizeof counted.library_reason);
    *use = counted;
    use->peak = means->held;
    use->memory = w->device ? w->budget.device.planned : means->held;
    if (!w->device)
        return;
    (void)snprintf(use->id, sizeof use->id, "%s", tz_device_get_info(w->device)->id);
    use->waves = means->batches;
    use->tiles_redone = atomic_load(&means->tiles_redone);
    for (uint32_t i = 0; i < w->pyramid.count; i++)
        count_tiles(&w->pyramid.levels[i].image, use);
    use->tiles -= use->tiles_redone;
}

/* Rows of the host go up once, tables once a batch; results and tiles come down. */
void tz_device_report_plan(tz_writer *w)
{
    const tz_device_budget *plan = &w->budget.device;
    const tz_image *image = tz_writer_image(w);
    tz_device_use *use = &w->report.device;
    if (!w->device)
        return;
    (void)snprintf(use->id, sizeof use->id, "%s", tz_device_get_info(w->device)->id);
    use->memory = plan->planned;
    for (uint32_t i = 0; i < w->pyramid.count; i++) {
        const tz_image *level = &w->pyramid.levels[i].image;
        use->waves += tz_ceil_div(tz_all_tiles(level), plan->batch_tiles);
        count_tiles(level, use);
    }
    use->uploads = w->report.swaths + use->waves;
    use->upload_bytes =
        tz_mul_capped(tz_mul_capped(image->spec.width, image->spec.height), w->budget.pixel);
    use->downloads = 2 * use->waves;
    use->syncs = 2 * use->waves;
}
