/* SPDX-License-Identifier: Apache-2.0
 * A device that makes the tiles: the choice, its memory, its work, and its report.
 *
 * tz_gpu_writer_choose decides before the first row, from the specification and the options alone,
 * so that the bytes of a file depend on nothing else. Only too little device memory can still
 * change the decision, also before the first row (plan_device_memory): the batches are made
 * smaller, and if even the smallest do not fit, the CPU makes the tiles.
 *
 * All device memory is allocated before the first tile, except host copies of slabs, which exist
 * only if rows arrive on the host. Work is queued in the order of calls, so nothing on the device
 * waits for anything else. Two tile batches take turns: while the device makes one, the pipeline
 * writes the other. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "device/cost.h"
#include "device/device_text.h"
#include "device/ops/encode.h"
#include "write/writer.h"

/* ---- the choice ---- */

#define SET_REASON(to, ...) tz_device_textf(to, sizeof((tz_device_use *)0)->reason, __VA_ARGS__)

/* Prefers a vendor library if the caller wants one, then the device's own kernels. A library is not
 * used if a single tile needs more than the write may hold: smaller batches would not help. */
static bool can_encode(const tz_device *device, tz_output_level *level, const char *of,
                       tz_device_use *use)
{
    const tz_image *image = &level->image;
    const bool wanted = image->options.allow_vendor_codecs;
    char missing[sizeof use->library_reason] = "";
    if (wanted && tz_gpu_codestreams_choose(device, level, missing, sizeof missing))
        return true;
    if (wanted && !missing[0] &&
        tz_vendor_encode_find(device, &image->format, &image->choice, &level->library, missing,
                              sizeof missing)) {
        const tz_vendor_encode_plan *library = &level->library;
        const uint64_t cap = tz_gpu_budget_limit(&image->options);
        /* Scratch, the tile, its encoded form, and its copy in the payload. */
        uint64_t least = tz_add_capped(tz_vendor_encode_scratch(library, 1), library->view);
        least = tz_add_capped(least, tz_mul_capped(tz_tile_bytes(&image->format), 2));
        if (least <= cap)
            return true;
        tz_device_textf(missing, sizeof missing,
                        "%s needs %llu bytes for a tile, with its scratch, and %llu are allowed",
                        library->encoder.name, (unsigned long long)least, (unsigned long long)cap);
        level->library = (tz_vendor_encode_plan){0};
    }
    if (tz_device_encodes(device, &image->format, &image->choice)) {
        memcpy(use->library_reason, missing, sizeof use->library_reason);
        return true;
    }
    const char *because = missing[0] ? ": " : "";
    const char *codec = tz_codec_find(image->format.compression)->name;
    if (image->encoder->resolve_options && image->choice.level != 0)
        SET_REASON(use->reason, "the device does not encode %s at level %d%s%s%s", codec,
                   (int)image->choice.level, of, because, missing);
    else
        SET_REASON(use->reason, "the device does not encode %s%s%s%s", codec, of, because, missing);
    return false;
}

/* Sets use->reason if it returns false. */
static bool can_make_level(const tz_device *device, tz_output_level *level, uint32_t number,
                           tz_device_use *use)
{
    const tz_image *image = &level->image;
    const char *of = number == 0 ? "" : " of overviews";
    char *reason = use->reason;
    if (!can_encode(device, level, of, use))
        return false;
    bool extracts = true;
    for (unsigned is_mask = 0; extracts && is_mask < (image->spec.mask ? 2u : 1u); is_mask++) {
        const tz_extract_batch batch = tz_gpu_extract_batch(image, number, is_mask);
        extracts = tz_device_extracts(device, &batch);
    }
    if (!extracts) {
        SET_REASON(reason, "the device does not make tiles of %s with these options%s",
                   tz_dtype_name(image->spec.dtype), of);
        return false;
    }
    if (number > 0 && !tz_device_makes_overviews(device, &level->overview)) {
        SET_REASON(reason, "the device does not make overviews of %s by %s",
                   tz_dtype_name(image->spec.dtype), tz_resampling_name(level->overview.method));
        return false;
    }
    return true;
}

/* A device that "auto" chose is used only if it is expected to be faster. */
static bool is_worthwhile(const tz_writer *w, const tz_device *device, char *reason)
{
    const tz_image *image = tz_writer_image(w);
    const uint64_t pixels = tz_mul_capped(tz_mul_capped(image->spec.width, image->spec.height),
                                          image->spec.bands * tz_dtype_size(image->spec.dtype));
    const bool copy = (image->encoder->flags & TZ_ENCODER_COPY) != 0;
    const uint64_t cap = tz_gpu_budget_limit(&image->options);
    const uint64_t pinned = tz_min(pixels, cap);
    const tz_output_level *level = &w->pyramid.levels[0];
    const tz_device_job job = {
        .bytes_pixels = pixels,
        .bytes_compressed = copy ? pixels : pixels / 2, /* a guess */
        .bytes_pinned = tz_device_caches_pinned(device, pinned) ? 0 : pinned,
        .by_library = level->library.encoder.name[0] != '\0' || level->codestreams.name[0] != '\0',
        .tiles = tz_all_tiles(image),
        .tiles_on_cpu = tz_all_tiles(image) - image->tile_count,
        .compression = image->format.compression,
        .encodes = true,
        .threads = image->options.threads > 0 ? image->options.threads : tz_available_cpus()};
    return !tz_device_is_auto(device) || tz_device_pays(tz_device_get_info(device), &job, reason,
                                                        sizeof((tz_device_use *)0)->reason);
}

static const tz_device_rows gpu_device_rows;

tz_result tz_gpu_writer_choose(tz_writer *w)
{
    const tz_write_options *options = &tz_writer_image(w)->options;
    tz_device_use *use = tz_write_report_device(w->report);
    bool able = true;
    w->device_rows = &gpu_device_rows;
    for (uint32_t i = 0; able && i < w->pyramid.count; i++)
        able = can_make_level(options->device, &w->pyramid.levels[i], i, use);
    if (!able && options->strict_device)
        return tz_fail(&w->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(), "%s",
                       use->reason);
    if (!able || !is_worthwhile(w, options->device, use->reason))
        return TZ_OK;
    w->maker = &tz_gpu_maker;
    w->gpu.device = options->device;
    /* Libraries do not write JPEG tables that tiles share, so their tiles bring their own. */
    for (uint32_t i = 0; i < w->pyramid.count; i++)
        if (w->pyramid.levels[i].codestreams.name[0] != '\0' &&
            w->pyramid.levels[i].image.format.compression == TZ_COMPRESSION_JPEG)
            w->pyramid.levels[i].image.choice.jpeg_tables = TZ_JPEG_TABLES_NONE;
    for (uint32_t i = 0; i < w->pyramid.count; i++) {
        const tz_vendor_encode_plan *library = &w->pyramid.levels[i].library;
        if (library->encoder.other_level) /* one warning, whatever the number of levels */
            return tz_warn(&w->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                           "%s has no level %d of %s: the nearest is used", library->encoder.name,
                           (int)library->level,
                           tz_compression_name(w->pyramid.levels[i].image.format.compression));
    }
    return TZ_OK;
}

/* ---- memory ---- */

/* exposed_to_source: the caller's source of rows is given the rows' memory. Such memory is
 * allocated in a way that all libraries accept. */
static tz_result open_resources(tz_writer *w, bool exposed_to_source)
{
    tz_gpu_resources *gpu = &w->gpu;
    const tz_gpu_budget *plan = &w->budget.device;
    TZ_TRY(tz_gpu_budget_admit(plan, w->ctx.err));
    for (int i = 0; i < TZ_ALLOCATIONS; i++) {
        const uint64_t size = plan->sizes[i];
        tz_device_memory **out = &gpu->allocations[i];
        if (size == 0)
            continue;
        TZ_TRY(exposed_to_source && i == TZ_ALLOCATION_ROWS
                   ? tz_device_memory_alloc(out, gpu->device, size, w->ctx.err)
                   : tz_device_alloc_own(gpu->device, size, out, w->ctx.err));
        gpu->held_bytes += size;
    }
    for (uint32_t i = 1; i < w->pyramid.count; i++) {
        const tz_gpu_level_offsets *at = &plan->levels[i];
        const tz_output_level *l = &w->pyramid.levels[i];
        tz_device_memory *memory = gpu->allocations[TZ_ALLOCATION_LEVELS];
        w->levels[i].slabs[0] = (tz_slab){.device = memory, .offset = at->slab};
        for (int k = 0; k < 2; k++)
            w->levels[i - 1].halo[k].slab = (tz_slab){.device = memory, .offset = at->halo[k]};
        TZ_TRY(tz_overview_builder_make(&gpu->reducers[i], &l->overview, l->image.tile_height,
                                        memory, at->reducer, w->ctx.err));
    }
    TZ_TRY(tz_device_alloc_pinned(gpu->device, plan->layout.tables_end, &gpu->tables, w->ctx.err));
    const uint64_t results = plan->layout.results_end - plan->layout.sizes;
    for (int i = 0; i < 2; i++) {
        tz_gpu_tile_batch *tiles = &gpu->tiles[i];
        TZ_TRY(tz_device_alloc_pinned(gpu->device, results + tz_gpu_budget_payload_bytes(plan),
                                      &tiles->memory, w->ctx.err));
        tiles->numbers = tz_alloc_array(plan->batch_tiles, sizeof *tiles->numbers);
        if (!tiles->numbers)
            return tz_fail_nomem(&w->ctx, plan->batch_tiles * sizeof *tiles->numbers);
    }
    return tz_gpu_codestreams_open(w);
}

/* Releases everything that open_resources made, also if it failed half way. Called again
 * later it does nothing. */
static void close_resources(tz_writer *w)
{
    tz_gpu_resources *gpu = &w->gpu;
    const bool busy =
        gpu->in_flight || gpu->uploading[0] || gpu->uploading[1] || w->state == TZ_WRITER_FAILED;
    /* Whatever went wrong: host memory must not be released while the device reads or writes it. */
    if (busy && gpu->allocations[TZ_ALLOCATION_ROWS])
        (void)tz_device_sync(gpu->allocations[TZ_ALLOCATION_ROWS]->device, 0, NULL);
    gpu->in_flight = false;
    for (int i = 0; i < TZ_MAX_OUTPUT_LEVELS; i++) {
        tz_overview_builder_free(gpu->reducers[i]);
        gpu->reducers[i] = NULL;
    }
    for (int i = 0; i < 2; i++) {
        if (gpu->pinned[i])
            w->levels[0].slabs[i].memory = NULL;
        tz_device_memory_free(gpu->pinned[i]);
        tz_device_memory_free(gpu->tiles[i].memory);
        tz_free(gpu->tiles[i].numbers);
        gpu->pinned[i] = gpu->tiles[i].memory = NULL;
        gpu->tiles[i].numbers = NULL;
    }
    tz_gpu_codestreams_close(w);
    tz_device_memory_free(gpu->tables);
    gpu->tables = NULL;
    for (int i = 0; i < TZ_ALLOCATIONS; i++) {
        tz_device_memory_free(gpu->allocations[i]);
        gpu->allocations[i] = NULL;
    }
}

/* If the plan does not fit, the device gets half as much memory and makes smaller batches. If the
 * smallest do not fit, the CPU makes the tiles. No row has arrived yet. */
static tz_result plan_device_memory(tz_writer *w, const tz_row_source *source, bool dry)
{
    tz_error failed, *err = w->ctx.err;
    uint64_t device_available = UINT64_MAX;
    for (;;) {
        failed = (tz_error){.result = TZ_OK};
        w->ctx.err = &failed;
        tz_result result = tz_budget_make(&w->budget, &w->pyramid, source, w->gpu.device,
                                          device_available, &w->ctx);
        const bool is_planned = result == TZ_OK;
        if (is_planned && !dry && w->gpu.device)
            result = open_resources(w, source && source->on_device);
        w->ctx.err = err;
        const bool is_full = tz_device_is_full(result, &failed) || result == TZ_ERR_LIMIT;
        if (!w->gpu.device || !is_full ||
            (!is_planned && tz_writer_image(w)->options.strict_device)) {
            if (result != TZ_OK && err)
                *err = failed;
            return result;
        }
        close_resources(w);
        w->gpu.held_bytes = 0;
        if (is_planned) {
            device_available = w->budget.device.planned / 2;
            continue;
        }
        for (uint32_t i = 1; w->levels && i < w->pyramid.count; i++) {
            w->levels[i].slabs[0] = (tz_slab){0};
            w->levels[i - 1].halo[0].slab = w->levels[i - 1].halo[1].slab = (tz_slab){0};
        }
        w->maker = &tz_cpu_maker;
        w->gpu.device = NULL;
        tz_device_use *use = tz_write_report_device(w->report);
        tz_device_text(use->reason, sizeof use->reason, failed.message);
    }
}

/* ---- work ---- */

/* A host slab is read by uploads until the next sync. */
static tz_result acquire_device_slab(tz_writer *w)
{
    return w->gpu.uploading[w->levels[0].slab] ? tz_gpu_writer_finish_batch(w) : TZ_OK;
}

/* The rows come from the previous halo, then from the tile row. */
static tz_result copy_halo_rows(tz_writer *w, const tz_task_batch *batch)
{
    const tz_tile_row *to = &batch->tile_row;
    const uint32_t end = to->row + to->rows;
    for (int i = 0; i < 2; i++) {
        const tz_row_range *part = &batch->source.row_ranges[i];
        const uint32_t from = i == 0 ? to->row : tz_max_u32(to->row, part->row);
        const uint32_t until = i == 0 ? tz_min_u32(end, batch->source.row_ranges[1].row) : end;
        const tz_tile_row rows = {.pixels = part->pixels, .mask = part->mask};
        if (from < until)
            TZ_TRY(tz_gpu_copy_rows(w, &rows, from - part->row, to, from - to->row, until - from));
    }
    return TZ_OK;
}

static tz_result make_overview_rows(tz_writer *w, const tz_task_batch *batch)
{
    const tz_tile_row *tile_row = &batch->tile_row;
    return tz_overview_builder_run(w->gpu.reducers[batch->level], &batch->source, tile_row->row,
                                   tile_row->rows, &tile_row->pixels, &tile_row->mask, 0,
                                   w->ctx.err);
}

/* Each batch begins when the one before is downloaded, and when the pipeline has delivered
 * the batch that used the same host memory. */
static tz_result encode_in_batches(tz_writer *w, const tz_task_batch *batch, uint64_t tile_count)
{
    tz_gpu_resources *gpu = &w->gpu;
    for (uint64_t first = 0, count; first < tile_count; first += count) {
        TZ_TRY(tz_gpu_writer_finish_batch(w));
        tz_gpu_tile_batch *tiles = &gpu->tiles[gpu->current_batch];
        TZ_TRY(tz_pipeline_wait(w->pipeline, tiles->busy_until, w->ctx.err));
        tiles->level = batch->level;
        tiles->tile_row = batch->tile_row;
        tiles->first = first;
        TZ_TRY(tz_gpu_tile_batch_launch(w, tiles, tile_count, &count));
        gpu->in_flight = true;
        gpu->batches++;
    }
    return TZ_OK;
}

/* The results of a batch arrive first, because they say how long the payload is. The batch keeps
 * its host memory until its tasks are delivered; the next one uses the other. */
tz_result tz_gpu_writer_finish_batch(tz_writer *w)
{
    tz_gpu_resources *gpu = &w->gpu;
    tz_gpu_tile_batch *tiles = &gpu->tiles[gpu->current_batch];
    const tz_gpu_tile_layout *at = &w->budget.device.layout;
    uint64_t bytes;
    if (!gpu->in_flight)
        return TZ_OK;
    gpu->in_flight = false;
    TZ_TRY(tz_device_sync(gpu->device, 0, w->ctx.err));
    gpu->uploading[0] = gpu->uploading[1] = false;
    TZ_TRY(tz_gpu_codestreams_encode(w, tiles));
    TZ_TRY(tz_gpu_tile_batch_bytes(w, tiles, &bytes));
    if (bytes > 0) {
        uint8_t *payload = (uint8_t *)tiles->memory->host + (at->results_end - at->sizes);
        TZ_TRY(tz_device_download(0, payload, gpu->allocations[TZ_ALLOCATION_TILES],
                                  at->payload - tiles->mask_bytes, bytes, w->ctx.err));
        TZ_TRY(tz_device_sync(gpu->device, 0, w->ctx.err));
    }
    const tz_task_batch batch = {
        .level = tiles->level, .tile_row = tiles->tile_row, .collected = tiles};
    TZ_TRY(tz_writer_add_tasks(w, tz_gpu_collect_tile, &batch,
                               (uint64_t)tiles->images + tiles->masks));
    tiles->busy_until = w->tasks_added;
    gpu->current_batch = 1 - gpu->current_batch;
    return TZ_OK;
}

const tz_tile_maker tz_gpu_maker = {.on_device = true,
                                    .acquire_slab = acquire_device_slab,
                                    .copy_halo = copy_halo_rows,
                                    .make_overview = make_overview_rows,
                                    .encode = encode_in_batches,
                                    .finish = tz_gpu_writer_finish_batch};

/* ---- the report ---- */

static void count_begin(tz_writer *w)
{
    tz_device_get_counts(tz_writer_image(w)->options.device, &w->gpu.before, NULL);
}

/* Only differences count: other users of the device have counts of their own. */
static void count_end(tz_writer *w)
{
    const tz_device_counts *before = &w->gpu.before;
    tz_device_use *use = &w->gpu.counted;
    tz_device_counts now;
    tz_device_get_counts(tz_writer_image(w)->options.device, &now, NULL);
    use->uploads += now.uploads - before->uploads;
    use->upload_bytes += now.upload_bytes - before->upload_bytes;
    use->downloads += now.downloads - before->downloads;
    use->download_bytes += now.download_bytes - before->download_bytes;
    use->launches += now.launches - before->launches;
    use->syncs += now.syncs - before->syncs;
}

/* Tiles of the mask are encoded by the CPU. */
static void add_tile_counts(const tz_image *image, tz_device_use *use)
{
    use->tiles += image->tile_count;
    use->tiles_on_cpu += tz_all_tiles(image) - image->tile_count;
}

/* The reasons were set when the writer was created, the counts during its calls. */
static void report_use(tz_writer *w)
{
    const tz_gpu_resources *gpu = &w->gpu;
    tz_device_use *use = tz_write_report_device(w->report);
    tz_device_use counted = gpu->counted;
    memcpy(counted.reason, use->reason, sizeof counted.reason);
    if (!counted.library_reason[0])
        memcpy(counted.library_reason, use->library_reason, sizeof counted.library_reason);
    *use = counted;
    use->peak = gpu->held_bytes;
    use->memory = w->gpu.device ? w->budget.device.planned : gpu->held_bytes;
    if (!w->gpu.device)
        return;
    (void)snprintf(use->id, sizeof use->id, "%s", tz_device_get_info(w->gpu.device)->id);
    use->waves = gpu->batches;
    use->tiles_redone = atomic_load(&gpu->tiles_redone);
    for (uint32_t i = 0; i < w->pyramid.count; i++)
        add_tile_counts(&w->pyramid.levels[i].image, use);
    use->tiles -= use->tiles_redone;
}

/* Rows are uploaded once and tables for each batch; results and tiles are downloaded. */
static void report_planned_use(tz_writer *w)
{
    const tz_gpu_budget *plan = &w->budget.device;
    const tz_image *image = tz_writer_image(w);
    tz_device_use *use = tz_write_report_device(w->report);
    if (!w->gpu.device)
        return;
    (void)snprintf(use->id, sizeof use->id, "%s", tz_device_get_info(w->gpu.device)->id);
    use->memory = plan->planned;
    for (uint32_t i = 0; i < w->pyramid.count; i++) {
        const tz_image *level = &w->pyramid.levels[i].image;
        use->waves += tz_ceil_div(tz_all_tiles(level), plan->batch_tiles);
        add_tile_counts(level, use);
    }
    use->uploads = w->report->tile_rows + use->waves;
    use->upload_bytes =
        tz_mul_capped(tz_mul_capped(image->spec.width, image->spec.height), w->budget.pixel);
    use->downloads = 2 * use->waves;
    use->syncs = 2 * use->waves;
}

static const tz_device_rows gpu_device_rows = {.count_begin = count_begin,
                                               .count_end = count_end,
                                               .plan = plan_device_memory,
                                               .fill_begin = tz_gpu_fill_begin,
                                               .fill_end = tz_gpu_fill_end,
                                               .fill_complete = tz_gpu_fill_complete,
                                               .copy = tz_gpu_copy_rows,
                                               .report = report_use,
                                               .report_plan = report_planned_use,
                                               .close = close_resources};
